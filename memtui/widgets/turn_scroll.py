"""A transcript of any length: draws the lines in sight, and asks for what it lacks.

Nothing moves under the reader's eyes: whatever is read, folded or laid out anew, the
turn that is in sight stays on its line of the screen.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from memtui.memory.events import Place
from memtui.messages.reader import (
    CursorMoved,
    TurnsWanted,
    ViewResized,
    Where,
)
from memtui.recall.conversation import Measure, Stretch, Turn
from memtui.widgets.turn_lines import Laid
from memtui.widgets.turn_window import TurnWindow

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
        stretch: Stretch,
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

    def put_before(self, stretch: Stretch, laid: Sequence[Laid]) -> None:
        """Put a stretch before what is shown."""
        anchor = self._anchor()
        self.window.put_before(stretch, laid)
        self._hold(anchor)

    def put_behind(self, stretch: Stretch, laid: Sequence[Laid]) -> None:
        """Put a stretch behind what is shown; the end is followed by who is there."""
        is_followed = self.is_at_end and bool(stretch.turns)
        anchor = self._anchor()
        self.window.put_behind(stretch, laid)
        self._hold(anchor)
        if is_followed:
            self._follow()

    def put_anew(self, stretch: Stretch, laid: Sequence[Laid]) -> None:
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
