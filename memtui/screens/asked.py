"""What was asked of the search bar, kept for as long as the app runs."""

from memtui.widgets.found_lines import View

KEPT = 100
"""How many questions are remembered."""


class Asked:
    """The questions in their order, and which of the views was looked at last."""

    def __init__(self) -> None:
        self.view = View.ALL
        self.is_one_each = False
        """Whether of each session the best message alone is shown."""
        self._texts: list[str] = []
        self._at = 0
        self._draft = ""

    @property
    def last(self) -> str:
        """What was asked last; "" when nothing was."""
        return self._texts[-1] if self._texts else ""

    def keep(self, text: str) -> None:
        """Remember a question; one that is asked again moves to the end."""
        if text.strip():
            self._texts = [one for one in self._texts if one != text][1 - KEPT :]
            self._texts.append(text)
        self._at = len(self._texts)

    def step(self, by: int, typed: str) -> str:
        """The question before what is typed, or after it; what is typed at the ends.

        Args:
            by: -1 for the one before, 1 for the one after.
            typed: What stands there; it is there again after the last question.
        """
        if not 0 <= self._at < len(self._texts) or self._texts[self._at] != typed:
            known = typed in self._texts
            self._at = self._texts.index(typed) if known else len(self._texts)
            self._draft = "" if known else typed
        self._at = min(max(self._at + by, 0), len(self._texts))
        ahead = [*self._texts, self._draft]
        return ahead[self._at]
