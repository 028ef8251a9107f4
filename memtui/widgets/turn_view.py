"""A transcript one moves through: a cursor goes from turn to turn.

A turn that is higher than the screen is gone through line by line before the next one.
"""

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import BindingType

from memtui import commands
from memtui.memory.events import Place
from memtui.messages.reader import CursorMoved, TurnOpened, TurnsWanted, Where
from memtui.widgets.turn_scroll import TurnScroll

WHEEL = 3
"""How far a turn of the wheel scrolls, in lines."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where one is: the cursor, and what stands where on the screen."""

    cursor: Place | None
    anchor: tuple[Place, int, int]
    """A turn in sight, which of its lines, and on which line of the screen."""


class TurnView(TurnScroll, inherit_bindings=False):
    """Moves through the turns of a conversation."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "first", "last", "cursor_up", "cursor_down", "page_up", "page_down",
        open="Unfold or fold this, or go to the subagent that was started here.",
    )  # fmt: skip
    CALLED = "In the conversation"

    def go_to(self, place: Place, *, line: int | None = None) -> bool:
        """Go to the turn of a place, and to one of its lines; False if it is unread."""
        at = self.window.find(place)
        if at is None:
            return False
        self._put_cursor(at)
        self._bring_into_sight(at, line)
        return True

    @property
    def spot(self) -> Spot | None:
        """Where one is; None where nothing has been read."""
        anchor = self._anchor()
        return anchor and Spot(self.cursor, anchor)

    def return_to(self, spot: Spot) -> bool:
        """See all as it was; False if that is unread."""
        if self.window.find(spot.anchor[0]) is None:
            return False
        self.cursor = spot.cursor
        self._hold(spot.anchor)
        self.post_message(CursorMoved())
        return True

    def _bring_into_sight(self, at: int, line: int | None = None) -> None:
        window, top, height = self.window, self._top, self._height
        first, last = window.body(at), window.bottom(at)
        if line is not None:
            first = window.top(at) + line
            last = first + 1
        if first < top or first >= top + height:
            far = first < top - height or first >= top + 2 * height
            ahead = height // 3 if far or line is not None else 0
            least = first - height + min(last - first, height)
            self._scroll(first - ahead if far or first < top else least)
        elif last > top + height:
            self._scroll(max(top, min(first, last - height)))

    def _step(self, by: int) -> None:
        """Move the cursor by a turn; through a turn that is higher than the screen."""
        at, window = self.at, self.window
        if not window.turns:
            return
        top, height = self._top, self._height
        is_seen = at is not None and (
            window.bottom(at) > top and window.body(at) < top + height
        )
        if at is None or not is_seen:
            self._put_cursor(window.nearest(top + height // 3))
            return
        if by > 0 and window.bottom(at) > top + height:
            self._scroll(top + 1)
        elif by < 0 and window.body(at) < top:
            self._scroll(top - 1)
        elif 0 <= at + by < len(window.turns):
            self._put_cursor(at + by)
            self._show_edge(at + by, by)
        elif by < 0:
            self._scroll(window.top(at))

    def _show_edge(self, at: int, by: int) -> None:
        """Bring a turn into sight from the side it is reached from."""
        window, top, height = self.window, self._top, self._height
        first, last = window.top(at), window.bottom(at)
        if by > 0 and last > top + height:
            shown = min(last - first, max(1, height // 2))
            self._scroll(max(top, first + shown - height))
        elif by < 0 and first < top:
            self._scroll(max(first, last - max(1, height // 2)))

    def _turn_page(self, by: int) -> None:
        if not self.window.turns:
            return
        step = max(1, self._height - 2)
        before = self._top
        self._scroll(before + by * step)
        at = self.window.nearest(self._top)
        if self._top == before:
            at = 0 if by < 0 else len(self.window.turns) - 1
        elif self.window.body(at) < self._top < self.window.bottom(at) - step:
            pass
        elif self.window.body(at) < self._top:
            at = min(at + 1, len(self.window.turns) - 1)
        self._put_cursor(at)

    def action_cursor_down(self) -> None:
        """Move to the turn after this one."""
        self._step(1)

    def action_cursor_up(self) -> None:
        """Move to the turn before this one."""
        self._step(-1)

    def action_page_down(self) -> None:
        """Move down a page."""
        self._turn_page(1)

    def action_page_up(self) -> None:
        """Move up a page."""
        self._turn_page(-1)

    def action_first(self) -> None:
        """Go to where the conversation begins."""
        number = self.set_out()
        if not self.window.is_first:
            self.post_message(TurnsWanted(Where.BEGINNING, number=number))
        elif self.window.turns:
            self._put_cursor(0)
            self._scroll(0)

    def action_open(self) -> None:
        """Open what the cursor is on."""
        self.post_message(TurnOpened())

    # The mouse

    def _on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        event.prevent_default()
        self._scroll(self._top + WHEEL)

    def _on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        event.prevent_default()
        self._scroll(self._top - WHEEL)

    async def _on_click(self, event: events.Click) -> None:
        """Put the cursor there; on the turn it is on, open it."""
        at = self.window.at_line(event.y + self._top)
        if at is None:
            return
        if self.window.turns[at].place == self.cursor:
            self.action_open()
        else:
            self._put_cursor(at)
