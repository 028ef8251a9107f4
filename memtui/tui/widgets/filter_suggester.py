"""Completing filters as they are typed: their names, and what can stand behind them."""

from collections.abc import Iterable

from textual.suggester import Suggester

from memtui.model.filters import FILTER_FIELDS
from memtui.services.browse import Parts

LEAST_CHARS = 3
"""From so many letters on a word may be the beginning of a filter's name."""


class FilterSuggester(Suggester):
    """Goes on with the last word, if it is a filter or begins like one."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._known: dict[str, tuple[str, ...]] = {}

    def set_parts(self, parts: Parts) -> None:
        """Know what the memory holds, which no table lists."""
        there = {"agent": parts.agents, "project": parts.projects}
        there["keyword"] = parts.keywords
        self._known = {
            name: tuple(one for one, _ in found) for name, found in there.items()
        }

    async def get_suggestion(self, value: str) -> str | None:
        """What is typed with its last filter whole; None if it is no filter's."""
        word = value.rpartition(" ")[2]
        name, colon, begun = word.partition(":")
        if colon and name.lower() in FILTER_FIELDS:
            # Of several with commas between them the last is unfinished.
            last = begun.rpartition(",")[2]
            values = FILTER_FIELDS[name.lower()].values or self._known.get(
                name.lower(), ()
            )
            # What has a blank in it stands in quotes.
            simple = (one for one in values if " " not in one)
            return _completed(value, last, simple)
        if len(word) < LEAST_CHARS:
            return None
        return _completed(value, word, (f"{known}:" for known in FILTER_FIELDS))


def _completed(typed: str, begun: str, values: Iterable[str]) -> str | None:
    folded = begun.lower()
    for one in values:
        if one.lower().startswith(folded) and len(one) > len(begun):
            return typed + one[len(begun) :]
    return None
