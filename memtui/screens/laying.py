"""How the turns of a session are laid out: anew whenever they are to look otherwise.

It is done on a thread; what was laid out as things no longer are is not shown.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, tzinfo
from functools import partial

from textual import on

from memtui.messages.reader import TurnsLaid, ViewResized
from memtui.recall.conversation import Turn, Whose
from memtui.screens.deeds import Deeds
from memtui.widgets import turn_lines, turn_reading
from memtui.widgets.find_line import FindLine
from memtui.widgets.turn_lines import Look


class Laying(Deeds):
    """A screen that lays a session out."""

    def __init__(
        self,
        whose: Whose,
        zone: tzinfo,
        now: Callable[[], datetime],
        *,
        is_demo: bool,
    ) -> None:
        super().__init__(whose, zone, now, is_demo=is_demo)
        self._with_thoughts = False
        self._unfolded: set[str] = set()
        self._to_lay: set[str] = set()
        self._lays_all = False

    @property
    def _finding(self) -> FindLine:
        return self.query_one(FindLine)

    def _look(self) -> Look:
        calls = tuple(
            (one.started_by, one.subagent)
            for one in (self.about.helpers if self.about else ())
            if one.started_by
        )
        width = self.view.width
        words = self._finding.words
        return Look(width, self.zone, self.now(), self._with_thoughts, words, calls)

    @on(ViewResized)
    def lay_out(self) -> None:
        """Lay out anew what is shown, at the new width."""
        if self.view.window.turns:
            self._lay_anew()

    def _catch_up(self, look: Look, unfolded: frozenset[str]) -> None:
        """Lay out anew what was read before it was to look as it is now."""
        if look != self._look():
            self._lay_anew()
        elif changed := unfolded ^ self._unfolded:
            self._lay_anew(changed)

    def _lay_anew(self, event_ids: Collection[str] = ()) -> None:
        """Lay out anew what is shown, or some of it, and what was not laid out yet."""
        self._lays_all |= not event_ids
        self._to_lay.update(event_ids)
        turns = [
            turn
            for turn in self.view.window.turns
            if self._lays_all or turn.event.event_id in self._to_lay
        ]
        args = turns, self._look(), frozenset(self._unfolded)
        self.ask(partial(self._lay, *args), "lay")

    def _lay(self, turns: Sequence[Turn], look: Look, unfolded: frozenset[str]) -> None:
        names = [turn.event.event_id for turn in turns]
        laid = dict(zip(names, turn_reading.lay(turns, look, unfolded), strict=True))
        self.tell(TurnsLaid(laid, look))

    @on(TurnsLaid)
    def show_laid(self, message: TurnsLaid) -> None:
        """Show it, unless it is to look otherwise by now."""
        if message.look == self._look():
            self._to_lay, self._lays_all = set(), False
            self.view.lay(message.laid)
            self._show_match()

    def _show_match(self) -> None:
        """Bring the words that were found on the cursor's turn into sight."""
        at = self.view.at
        if at is None:
            return
        turn, laid = self.view.window.turns[at], self.view.window.laid[at]
        if laid.found:
            self.view.go_to(turn.place, line=min(laid.found))
            return
        name = turn.event.event_id
        can_open = turn_lines.is_foldable(turn.event) and name not in self._unfolded
        if laid.is_found and can_open:
            self._unfolded.add(name)
            self._lay_anew([name])
