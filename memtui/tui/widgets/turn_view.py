"""A transcript one moves through: a cursor goes from turn to turn.

A turn that is higher than the screen is gone through line by line before the next one.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from memtui.model.events import Place
from memtui.services import conversation
from memtui.services.conversation import Measure, Turn, TurnRange, Whose
from memtui.tui import commands
from memtui.tui.messages import CursorMoved, TurnOpened, TurnsWanted, ViewResized, Where
from memtui.tui.widgets import turn_lines
from memtui.tui.widgets.turn_lines import Laid, Look

MOST = 600
"""How many turns are kept laid out; those furthest from the place read give way."""


FIRST_GUESS = 3.0
"""How high a turn is as long as none is known, in lines."""


class TurnWindow:
    """Turns in their order, each laid out, and what is guessed around them."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.laid: list[Laid] = []
        self.is_first = self.is_last = True
        self.turns_ahead = self.turns_behind = 0
        self.edition = 0
        """Another one after each change."""
        self._tops: list[int] = [0]

    # What stands where

    @property
    def ahead(self) -> int:
        """The guessed height of what stands before it, in lines."""
        return 0 if self.is_first else max(1, round(self.turns_ahead * self._mean))

    @property
    def behind(self) -> int:
        """The guessed height of what stands behind it, in lines."""
        return 0 if self.is_last else max(1, round(self.turns_behind * self._mean))

    @property
    def height(self) -> int:
        """How high what has been read is, in lines."""
        return self._tops[-1]

    @property
    def total(self) -> int:
        """The height of all, in lines."""
        return self.ahead + self.height + self.behind

    @property
    def _mean(self) -> float:
        return self.height / len(self.turns) if self.turns else FIRST_GUESS

    def top(self, at: int) -> int:
        """The first line of a turn, in the whole."""
        return self.ahead + self._tops[at]

    def body(self, at: int) -> int:
        """The first line of a turn itself, after its day and its thoughts."""
        return self.top(at) + self.laid[at].body

    def bottom(self, at: int) -> int:
        """The line after a turn's last."""
        return self.ahead + self._tops[at + 1]

    def at_line(self, y: int) -> int | None:
        """The turn a line belongs to; None where nothing has been read."""
        inside = y - self.ahead
        if not 0 <= inside < self.height:
            return None
        return bisect_right(self._tops, inside) - 1

    def nearest(self, y: int) -> int:
        """The turn of a line, or the nearest to it; -1 where there is none."""
        inside = min(max(y - self.ahead, 0), self.height - 1)
        found = self.at_line(self.ahead + inside)
        return -1 if found is None else found

    def find(self, place: Place) -> int | None:
        """Where the turn of a place stands here, if it has been read."""
        low, high = 0, len(self.turns)
        while low < high:
            middle = (low + high) // 2
            if self.turns[middle].place < place:
                low = middle + 1
            else:
                high = middle
        is_here = low < len(self.turns) and self.turns[low].place == place
        return low if is_here else None

    def rank(self, y: int) -> int:
        """About how many turns stand before a line."""
        if y < self.ahead:
            return round(self.turns_ahead * y / self.ahead)
        beyond = y - self.ahead - self.height
        share = beyond / max(1, self.behind)
        known = self.turns_ahead + len(self.turns)
        return known + round(self.turns_behind * min(1.0, max(0.0, share)))

    # What changes

    def replace(
        self, stretch: TurnRange, laid: Sequence[Laid], ahead: int, total: int
    ) -> None:
        """Keep nothing but a stretch.

        Args:
            stretch: What was read.
            laid: Its turns laid out.
            ahead: About how many turns stand before it.
            total: About how many there are in all.
        """
        self.turns, self.laid = [*stretch.turns], [*laid]
        self.is_first, self.is_last = stretch.is_first, stretch.is_last
        self._reckon()
        self.measure(ahead, total)

    def measure(self, ahead: int, total: int) -> None:
        """Take it that so many turns stand before the first, of so many in all."""
        self.turns_ahead = 0 if self.is_first else max(1, ahead)
        rest = total - self.turns_ahead - len(self.turns)
        self.turns_behind = 0 if self.is_last else max(1, rest)

    def put_anew(self, stretch: TurnRange, laid: Sequence[Laid]) -> None:
        """Keep nothing but a stretch of the same place, of which more is known now."""
        total = self.turns_ahead + len(self.turns) + self.turns_behind
        at = self.find(stretch.turns[0].place) if stretch.turns else None
        self.replace(stretch, laid, self.turns_ahead + (at or 0), total)

    def put_before(self, stretch: TurnRange, laid: Sequence[Laid]) -> None:
        """Put a stretch before these."""
        self.turns[:0], self.laid[:0] = stretch.turns, laid
        self.is_first = stretch.is_first
        self.turns_ahead = max(1, self.turns_ahead - len(laid))
        if (more := len(self.turns) - MOST) > 0:
            del self.turns[-more:], self.laid[-more:]
            self.turns_behind = more + (0 if self.is_last else self.turns_behind)
            self.is_last = False
        self._reckon()

    def put_behind(self, stretch: TurnRange, laid: Sequence[Laid]) -> None:
        """Put a stretch behind these."""
        self.turns += stretch.turns
        self.laid += laid
        self.is_last = stretch.is_last
        self.turns_behind = max(1, self.turns_behind - len(laid))
        if (more := len(self.turns) - MOST) > 0:
            self.turns_ahead = more + (0 if self.is_first else self.turns_ahead)
            self.is_first = False
            del self.turns[:more], self.laid[:more]
        self._reckon()

    def lay(self, laid: Mapping[str, Laid]) -> None:
        """Take other lines for some of the turns, by their events' ids."""
        self.laid = [
            laid.get(turn.event.event_id, before)
            for turn, before in zip(self.turns, self.laid, strict=True)
        ]
        self._reckon()

    def _reckon(self) -> None:
        self.edition += 1
        self._tops = [0, *accumulate(len(one.lines) for one in self.laid)]


CURSOR, FOUND_MARK = "▌ ", "┃ "
"""What stands before the lines of the turn the cursor is on, and of those found."""


DRAWN = 2000
"""How many drawn lines are kept."""


NEAR = 40
"""How near its end, in lines, more of what is unread is asked for."""


class TurnScroll(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows what has been read of a conversation, and scrolls through it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"turns--cursor"}

    def __init__(self) -> None:
        super().__init__(id="turns")
        self.window = TurnWindow()
        self.cursor: Place | None = None
        self.jumps = 0
        """How often it was gone elsewhere: of these the last one counts."""
        self._waits = False
        self._drawn: dict[tuple[Laid, int, bool], Strip] = {}

    # What is shown

    @property
    def at(self) -> int | None:
        """Where the cursor's turn stands in the window."""
        return None if self.cursor is None else self.window.find(self.cursor)

    @property
    def pointed_at(self) -> Turn | None:
        """The turn the cursor is on, if it has been read."""
        at = self.at
        return None if at is None else self.window.turns[at]

    @property
    def is_at_end(self) -> bool:
        """Whether the cursor is on the last turn there is, and its end in sight."""
        window = self.window
        is_seen = self._top + self._height >= window.total
        is_last = not window.turns or self.at == len(window.turns) - 1
        return window.is_last and is_last and is_seen

    @property
    def width(self) -> int:
        """How much room a line has beside the scrollbar, in cells."""
        return max(1, self.scrollable_content_region.width)

    @property
    def _height(self) -> int:
        return max(1, self.size.height)

    @property
    def _top(self) -> int:
        return self.scroll_offset.y

    def show(
        self,
        stretch: TurnRange,
        laid: Sequence[Laid],
        measure: Measure,
        place: Place | None,
    ) -> None:
        """Show nothing but a stretch.

        Args:
            stretch: What was read.
            laid: Its turns laid out.
            measure: How many turns there are, and about how many before these.
            place: Where the cursor goes; to the nearer end when None.
        """
        self._waits = False
        window = self.window
        window.replace(stretch, laid, measure.before, measure.total)
        self._resize()
        if not window.turns:
            self.refresh()
            return
        known = place and window.find(place)
        at = known if known is not None else 0
        if place is None and stretch.is_last and not stretch.is_first:
            at = len(window.turns) - 1
        self._put_cursor(at)
        third = window.body(at) - self._height // 3
        end = window.top(at) if place is None and at == 0 else third
        self._scroll(window.total if place is None and at else end)
        self._look_around()

    def put_before(self, stretch: TurnRange, laid: Sequence[Laid]) -> None:
        """Put a stretch before what is shown."""
        anchor = self._anchor()
        self.window.put_before(stretch, laid)
        self._hold(anchor)

    def put_behind(self, stretch: TurnRange, laid: Sequence[Laid]) -> None:
        """Put a stretch behind what is shown; the end is followed by who is there."""
        is_followed = self.is_at_end and bool(stretch.turns)
        anchor = self._anchor()
        self.window.put_behind(stretch, laid)
        self._hold(anchor)
        if is_followed:
            self._follow()

    def put_anew(self, stretch: TurnRange, laid: Sequence[Laid]) -> None:
        """Put a stretch in place of what is shown, in which something has changed."""
        is_followed, last = self.is_at_end, self.cursor
        anchor = self._anchor()
        self.window.put_anew(stretch, laid)
        self._hold(anchor)
        turns = self.window.turns
        if is_followed and turns and turns[-1].place != last:
            self._follow()

    def _follow(self) -> None:
        """Go on to the end, which may be further on than what was read."""
        if self.window.is_last:
            self._to_end()
        else:
            here, number = self.cursor, self.jumps
            wanted = TurnsWanted(Where.END, number=number, followed_from=here)
            self.post_message(wanted)

    def set_out(self) -> int:
        """Go elsewhere, whatever is on its way; the number of this jump."""
        self.jumps += 1
        return self.jumps

    def measure(self, measure: Measure, place: Place | None) -> None:
        """Take it that so many turns stand before the one of a place."""
        at = self.window.find(place) if place else 0
        if at is not None:
            anchor = self._anchor()
            self.window.measure(measure.before - at, measure.total)
            self._hold(anchor)

    def lay(self, laid: Mapping[str, Laid]) -> None:
        """Show other lines for some of the turns."""
        anchor = self._anchor()
        self.window.lay(laid)
        self._hold(anchor)

    def missed(self, *, is_sought: bool = False) -> None:
        """Nothing was read: what is lacking may be asked for again.

        Args:
            is_sought: Whether that is done now.
        """
        self._waits = False
        if is_sought:
            self._look_around()

    # What stays where it is

    @property
    def here(self) -> Place | None:
        """The place of the turn that stays where it is."""
        anchor = self._anchor()
        return anchor and anchor[0]

    def _anchor(self) -> tuple[Place, int, int] | None:
        """A turn in sight, which of its lines, and on which line of the screen."""
        window = self.window
        if not window.turns:
            return None
        at = self.at
        if at is None or not self._top <= window.body(at) < self._top + self._height:
            at = window.nearest(self._top)
        inside = max(0, self._top - window.body(at))
        line = window.body(at) + inside - self._top
        return window.turns[at].place, inside, line

    def _hold(self, anchor: tuple[Place, int, int] | None) -> None:
        """Keep a turn on its line of the screen."""
        self._waits = False
        self._resize()
        at = anchor and self.window.find(anchor[0])
        if anchor is not None and at is not None:
            _, inside, line = anchor
            lines = len(self.window.laid[at].lines) - self.window.laid[at].body
            inside = min(inside, max(0, lines - 1))
            self._scroll(self.window.body(at) + inside - line)
        self.refresh()
        self._look_around()

    def _resize(self) -> None:
        self.virtual_size = Size(self.width, self.window.total)

    def _scroll(self, y: int) -> None:
        self.scroll_to(y=max(0, y), animate=False)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Ask for what comes into sight."""
        super().watch_scroll_y(old_value, new_value)
        self._look_around()

    def _look_around(self) -> None:
        """Ask for more where what has been read ends near what is in sight."""
        window, top = self.window, self._top
        if self._waits or not window.turns or not self.size.height:
            return
        first, last = window.ahead, window.ahead + window.height
        bottom = top + self._height
        wanted: TurnsWanted | None = None
        if (not window.is_first and bottom < first) or (
            not window.is_last and top > last
        ):
            rank = window.rank(top)
            wanted = TurnsWanted(Where.AROUND, rank=rank, number=self.set_out())
        elif not window.is_first and top < first + NEAR:
            wanted = TurnsWanted(Where.BEFORE, window.turns[0].place)
        elif not window.is_last and bottom > last - NEAR:
            wanted = TurnsWanted(Where.AFTER, window.turns[-1].place)
        if wanted is not None:
            self._waits = True
            self.post_message(wanted)

    # Drawing

    def render_line(self, y: int) -> Strip:
        """Draw a line of the screen."""
        line = y + self._top
        at = self.window.at_line(line)
        if at is None:
            return Strip.blank(self.width, self.visual_style.rich_style)
        laid = self.window.laid[at]
        number = line - self.window.top(at)
        is_here = self.window.turns[at].place == self.cursor and number >= laid.body
        key = laid, number, is_here
        if key not in self._drawn:
            if len(self._drawn) >= DRAWN:
                self._drawn.clear()
            self._drawn[key] = self._draw(laid, number, is_here=is_here)
        return self._drawn[key]

    def _draw(self, laid: Laid, number: int, *, is_here: bool) -> Strip:
        width, style = self.width, self.visual_style
        if is_here:
            style += self.get_visual_style("turns--cursor")
        margin = Content("  ")
        if is_here:
            margin = Content.styled(CURSOR, "$accent")
        elif number in laid.found or (laid.is_found and number == laid.body):
            margin = Content.styled(FOUND_MARK, "$evidence")
        said = margin + laid.lines[number]
        (strip,) = Visual.to_strips(
            self, said.truncate(width), width, 1, style, pad=True, apply_selection=False
        )
        return strip

    def notify_style_update(self) -> None:
        """Draw all anew: another theme, or the focus is elsewhere."""
        super().notify_style_update()
        self._drawn.clear()

    def on_resize(self) -> None:
        """Draw all anew, at another width."""
        self._drawn.clear()
        self.post_message(ViewResized())

    def _put_cursor(self, at: int) -> None:
        self.cursor = self.window.turns[at].place
        self.refresh()
        self.post_message(CursorMoved())

    def action_last(self) -> None:
        """Go to where the conversation ends."""
        number = self.set_out()
        if not self.window.is_last:
            self.post_message(TurnsWanted(Where.END, number=number))
        elif self.window.turns:
            self._to_end()

    def _to_end(self) -> None:
        self._put_cursor(len(self.window.turns) - 1)
        self._scroll(self.window.total)


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


Known = Mapping[str, tuple[Turn, Laid]]
"""Turns that are laid out, by their events' ids."""


def stretch(whose: Whose, wanted: TurnsWanted) -> TurnRange:
    """What is wanted of a conversation."""
    place = wanted.place
    match wanted.where:
        case Where.BEGINNING:
            return conversation.beginning(whose)
        case Where.END:
            return conversation.end(whose)
        case Where.BEFORE if place:
            return conversation.before(whose, place)
        case Where.AFTER if place:
            return conversation.after(whose, place)
        case _:
            here = place or conversation.nth(whose, wanted.rank)
            if here is None:
                return conversation.end(whose)
            return conversation.around(whose, here)


def lay(
    turns: Sequence[Turn],
    look: Look,
    unfolded: frozenset[str],
    known: Known | None = None,
) -> list[Laid]:
    """Turns laid out.

    Args:
        turns: The turns.
        look: How they look.
        unfolded: The events that are to be unfolded.
        known: Those that are laid out so already.
    """
    laid = []
    for turn in turns:
        name = turn.event.event_id
        before, is_laid = (known or {}).get(name, (None, None))
        if is_laid is None or before != turn:
            is_laid = turn_lines.lay(turn, look, is_unfolded=name in unfolded)
        laid.append(is_laid)
    return laid
