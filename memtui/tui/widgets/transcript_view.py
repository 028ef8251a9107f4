"""The transcript of a session, with a cursor that moves from turn to turn.

Only a part of a session is loaded at a time; the view asks for more when the end of
what is loaded comes near, and guesses the height of the rest for the scrollbar. A turn
that is higher than the screen is scrolled line by line before the cursor moves on.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from memtui.model.events import EventPosition
from memtui.services.conversation import Turn
from memtui.tui import commands, messages
from memtui.tui.widgets.panes import ScrollbarInStep
from memtui.tui.widgets.turn_rendering import RenderedTurn

PAGE_SIZE = 60  # The turns that are requested at once, on each side of a position.

MAX_TURNS = 600
"""The most turns that stay loaded; those furthest from the last request are dropped."""

GUESSED_HEIGHT = 3.0  # The assumed height of a turn while none is loaded, in lines.
CURSOR_MARK, MATCH_MARK = "▌ ", "┃ "

PREFETCH_LINES = 40
"""The distance from the end of the loaded turns at which more are requested."""

START: EventPosition = (0, 0, "")
END: EventPosition = (2**62, 0, "")
"""Places before and after all turns, also those that will be added."""

Anchor = tuple[EventPosition, int, int]
"""A visible turn, which of its lines, and on which line of the screen that is."""


class TurnsRequested(Message):
    """The turns of the view's span should be loaded, or fitted to its width."""


class TurnBuffer:
    """The loaded turns with their lines, and estimates of what is before and after."""

    def __init__(self) -> None:
        self.positions: Sequence[EventPosition] = ()  # Those of the whole session.
        # The indexes of the first position that is loaded, and of the one after the
        # last. Turns that cannot be read are not among the loaded ones.
        self.start = self.end = 0
        self.turns: Sequence[Turn] = ()
        self.rendered: Sequence[RenderedTurn] = ()
        self._tops: list[int] = [0]

    @property
    def is_last(self) -> bool:
        """True if the session ends with the loaded turns."""
        return self.end == len(self.positions)

    @property
    def lines_before(self) -> int:
        return round(self.start * self._mean)

    @property
    def _mean(self) -> float:
        return self.height / len(self.turns) if self.turns else GUESSED_HEIGHT

    @property
    def height(self) -> int:
        return self._tops[-1]

    @property
    def total(self) -> int:
        lines_after = round((len(self.positions) - self.end) * self._mean)
        return self.lines_before + self.height + lines_after

    def top(self, index: int) -> int:
        """Return the first line of a turn, counted from the start of the transcript."""
        return self.lines_before + self._tops[index]

    def body(self, index: int) -> int:
        """Return the first line of a turn itself, after its day and its thinking."""
        return self.top(index) + self.rendered[index].body

    def bottom(self, index: int) -> int:
        return self.lines_before + self._tops[index + 1]

    def at_line(self, y: int) -> int | None:
        """Return the index of the turn at a line, None outside the loaded turns."""
        inside = y - self.lines_before
        if not 0 <= inside < self.height:
            return None
        return bisect_right(self._tops, inside) - 1

    def nearest(self, y: int) -> int:
        inside = min(max(y - self.lines_before, 0), self.height - 1)
        return bisect_right(self._tops, inside) - 1

    def find(self, place: EventPosition) -> int | None:
        """Return the index of the turn at a place, None if it is not loaded."""
        index = self.find_nearest(place)
        is_found = bool(self.turns) and self.turns[index].position == place
        return index if is_found else None

    def find_nearest(self, place: EventPosition) -> int:
        """Return the index of the first turn from a place on, or of the last one."""
        index = bisect_left(self.turns, place, key=lambda turn: turn.position)
        return min(index, len(self.turns) - 1)

    def rank(self, place: EventPosition) -> int:
        """Return how many turns of the session are before a place; not all of them."""
        return max(0, min(bisect_left(self.positions, place), len(self.positions) - 1))

    def place(self, y: int) -> EventPosition:
        """Estimate the place of the first turn that begins at a line or after it."""
        inside = y - self.lines_before
        if inside < 0:
            rank = round(y / self._mean)
        elif inside < self.height:
            rank = self.start + bisect_left(self._tops, inside)
        else:
            rank = self.end + round((inside - self.height) / self._mean)
        return self.positions[rank] if rank < len(self.positions) else END

    def replace(
        self,
        positions: Sequence[EventPosition],
        start: int,
        end: int,
        turns: Sequence[Turn],
        rendered: Sequence[RenderedTurn],
    ) -> None:
        self.positions, self.start, self.end = positions, start, end
        self.turns, self.rendered = turns, rendered
        self._tops = [0, *accumulate(len(turn.lines) for turn in rendered)]


class TranscriptView(
    ScrollView, ScrollbarInStep, can_focus=True, inherit_bindings=False
):
    """Shows the loaded turns and moves a cursor through them.

    It posts ``TurnsRequested`` for turns that are not loaded; the screen reads and
    renders them and hands them over with ``show``.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"transcript--cursor"}
    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        *commands.LINES,
        open="Expand or collapse this, or go to the subagent that was started here.",
    )
    HELP_TITLE = "In the transcript"

    def __init__(self) -> None:
        super().__init__(id="transcript")
        self.buffer = TurnBuffer()
        self.cursor: EventPosition | None = None
        # The first and the last place of the part that is shown or requested.
        self.span = START, START
        # The place that the cursor moves to when it is loaded.
        self.goal: EventPosition | None = None
        # Places, in their order, by the mark and style that they get beside the
        # scrollbar.
        self.marks: dict[tuple[str, str], Sequence[EventPosition]] = {}
        self._is_waiting = False
        self._height_before = 0  # That at the last resize.

    @property
    def cursor_index(self) -> int | None:
        return None if self.cursor is None else self.buffer.find(self.cursor)

    @property
    def place(self) -> EventPosition | None:
        """Return the position of the cursor, now or as soon as that is loaded."""
        return self.goal or self.cursor

    @property
    def current(self) -> Turn | None:
        index = self.cursor_index
        return None if index is None else self.buffer.turns[index]

    @property
    def is_at_end(self) -> bool:
        """True if the cursor is on the last turn, and the end of it is visible."""
        buffer = self.buffer
        is_visible = self._top + self._height >= buffer.total
        is_last = not buffer.turns or self.cursor_index == len(buffer.turns) - 1
        return buffer.is_last and is_last and is_visible

    @property
    def width(self) -> int:
        """The width of the turns, without the column of marks."""
        return max(1, self.scrollable_content_region.width - 1)

    @property
    def _height(self) -> int:
        return max(1, self.size.height)

    @property
    def _top(self) -> int:
        return self.scroll_offset.y

    # What is loaded

    def open(self, positions: Sequence[EventPosition], place: EventPosition) -> None:
        """Show a session with these positions, at a place."""
        self.buffer.positions = positions
        self.go_to(place)

    def find_part(self, positions: Sequence[EventPosition]) -> tuple[int, int]:
        """Return the part to show of the positions that the session has now.

        It is given by the indexes of its first turn and of the one after its last.
        """
        first, last = self.span
        start, end = bisect_left(positions, first), bisect_right(positions, last)
        if end - start > MAX_TURNS:
            anchor = self._anchor()
            here = self.goal or (anchor[0] if anchor else first)
            start = max(start, bisect_left(positions, here) - MAX_TURNS // 2)
            end = min(end, start + MAX_TURNS)
        return start, end

    def show(
        self,
        positions: Sequence[EventPosition],
        start: int,
        end: int,
        turns: Sequence[Turn],
        rendered: Sequence[RenderedTurn],
    ) -> None:
        """Show a part of the session, as ``find_part`` returns it.

        What is visible stays where it is; a cursor at the end follows new turns.
        """
        buffer, anchor = self.buffer, self._anchor()
        follows = self.is_at_end and buffer.positions[-1:] != positions[-1:]
        buffer.replace(positions, start, end, turns, rendered)
        self._is_waiting = False
        self.virtual_size = Size(self.width, buffer.total)
        if not turns:
            self.goal = None
        elif self.goal is not None:
            self._arrive(self.goal)
        else:
            self._hold(anchor)
            if follows:
                self.go_to(END)
        self.refresh()
        self._request_turns()

    def end_request(self) -> None:
        """Note that a request gave no turns."""
        self._is_waiting = False

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Ask for the turns that come into view."""
        super().watch_scroll_y(old_value, new_value)
        self._request_turns()

    def _request_turns(self) -> None:
        """Ask for more turns where the end of the loaded ones is near."""
        buffer, top = self.buffer, self._top
        if self._is_waiting or not buffer.turns or not self.size.height:
            return
        first, last = buffer.lines_before, buffer.lines_before + buffer.height
        bottom, start, end = top + self._height, buffer.start, buffer.end
        if (bottom < first and start) or (top > last and not buffer.is_last):
            self.go_to(buffer.place(top))
        elif start and top < first + PREFETCH_LINES:
            start -= PAGE_SIZE
            self._request(start, min(end, start + MAX_TURNS))
        elif not buffer.is_last and bottom > last - PREFETCH_LINES:
            end += PAGE_SIZE
            self._request(max(start, end - MAX_TURNS), end)

    def _request(self, start: int, end: int) -> None:
        positions = self.buffer.positions
        first = positions[start] if start > 0 else START
        self.span = first, positions[end - 1] if end < len(positions) else END
        self._is_waiting = True
        self.post_message(TurnsRequested())

    # The scroll position

    def _anchor(self) -> Anchor | None:
        buffer = self.buffer
        if not buffer.turns:
            return None
        index = self.cursor_index
        bottom = self._top + self._height
        if index is None or not self._top <= buffer.body(index) < bottom:
            index = buffer.nearest(self._top)
        inside = max(0, self._top - buffer.body(index))
        line = buffer.body(index) + inside - self._top
        return buffer.turns[index].position, inside, line

    def _hold(self, anchor: Anchor | None) -> None:
        """Scroll so that the anchor is on its line of the screen."""
        index = anchor and self.buffer.find(anchor[0])
        if anchor is not None and index is not None:
            _, inside, line = anchor
            rendered = self.buffer.rendered[index]
            if inside >= len(rendered.lines) - rendered.body:
                inside = 0  # The line is gone: the turn was collapsed.
            self._scroll(self.buffer.body(index) + inside - line)

    def _scroll(self, y: int) -> None:
        self.scroll_to(y=max(0, y), animate=False)

    # Moving the cursor

    def go_to(self, place: EventPosition) -> None:
        """Go to the turn at a place, as soon as it is loaded."""
        buffer = self.buffer
        rank = buffer.rank(place)
        if buffer.turns and buffer.start <= rank < buffer.end:
            self._arrive(place)
        else:
            self.goal = place
            self._request(rank - PAGE_SIZE, rank + PAGE_SIZE)

    def show_line(self, line: int) -> None:
        """Scroll to a line of the turn at the cursor."""
        if (index := self.cursor_index) is not None:
            self._bring_into_view(index, line)

    def _arrive(self, place: EventPosition) -> None:
        self.goal = None
        index = self.buffer.find_nearest(place)
        self._put_cursor(index)
        if place == START:
            self._scroll(0)
        elif place == END:
            self._scroll(self.buffer.total)
        else:
            self._bring_into_view(index)

    def _put_cursor(self, index: int) -> None:
        self.cursor = self.buffer.turns[index].position
        self.refresh()
        self.post_message(messages.TurnHighlighted())

    def _bring_into_view(self, index: int, line: int | None = None) -> None:
        buffer, top, height = self.buffer, self._top, self._height
        first, last = buffer.body(index), buffer.bottom(index)
        if line is not None:
            first = buffer.top(index) + line
            last = first + 1
        if first < top or first >= top + height:
            is_far = first < top - height or first >= top + 2 * height
            context = height // 3 if is_far or line is not None else 0
            lowest = first - height + min(last - first, height)
            self._scroll(first - context if is_far or first < top else lowest)
        elif last > top + height:
            self._scroll(max(top, min(first, last - height)))

    def _step(self, by: int) -> None:
        """Move by a turn, or by a line within a turn that is higher than the screen."""
        index, buffer = self.cursor_index, self.buffer
        if not buffer.turns:
            return
        top, height = self._top, self._height
        if index is None or not (
            buffer.bottom(index) > top and buffer.body(index) < top + height
        ):
            self._put_cursor(buffer.nearest(top + height // 3))
        elif by > 0 and buffer.bottom(index) > top + height:
            self._scroll(top + 1)
        elif by < 0 and buffer.body(index) < top:
            self._scroll(top - 1)
        elif 0 <= index + by < len(buffer.turns):
            index += by
            self._put_cursor(index)
            first, last, half = buffer.top(index), buffer.bottom(index), height // 2
            if by > 0 and last > top + height:
                self._scroll(max(top, min(last, first + max(1, half)) - height))
            elif by < 0 and first < top:
                self._scroll(max(first, last - max(1, half)))
        elif by < 0:
            self._scroll(buffer.top(index))

    def _move_page(self, by: int, lines: int) -> None:
        """Scroll down (1) or up (-1), with the cursor on the turn at the top."""
        buffer = self.buffer
        if not buffer.turns:
            return
        step = max(1, lines)
        before = self._top
        self._scroll(before + by * step)
        index = buffer.nearest(self._top)
        if self._top == before:
            index = 0 if by < 0 else len(buffer.turns) - 1
        elif buffer.body(index) < self._top and (
            self._top >= buffer.bottom(index) - step
        ):
            index = min(index + 1, len(buffer.turns) - 1)
        self._put_cursor(index)

    def action_cursor_down(self) -> None:
        self._step(1)

    def action_cursor_up(self) -> None:
        self._step(-1)

    def action_page_down(self) -> None:
        self._move_page(1, self._height - 2)

    def action_page_up(self) -> None:
        self._move_page(-1, self._height - 2)

    def action_half_page_down(self) -> None:
        self._move_page(1, self._height // 2)

    def action_half_page_up(self) -> None:
        self._move_page(-1, self._height // 2)

    def action_first(self) -> None:
        self.go_to(START)

    def action_last(self) -> None:
        self.go_to(END)

    def action_open(self) -> None:
        self.post_message(messages.TurnSelected())

    def on_click(self, event: events.Click) -> None:
        index = self.buffer.at_line(event.y + self._top)
        if index is None:
            return
        if self.buffer.turns[index].position == self.cursor:
            self.action_open()
        else:
            self._put_cursor(index)

    # Drawing

    def render_line(self, y: int) -> Strip:
        """Draw a line of the turns, and the marks of that part of the session."""
        total = max(self.buffer.total, self._height)
        first = self.buffer.place(y * total // self._height)
        end = self.buffer.place((y + 1) * total // self._height)
        mark = Content(" ")
        for (sign, color), places in self.marks.items():
            if bisect_left(places, first) < bisect_left(places, end):
                mark = Content.styled(sign, color)
        (strip,) = Visual.to_strips(self, mark, 1, 1, self.visual_style)
        return Strip.join([self._render_turn_line(y), strip])

    def _render_turn_line(self, y: int) -> Strip:
        width, style, line = self.width, self.visual_style, y + self._top
        index = self.buffer.at_line(line)
        if index is None:
            return Strip.blank(width, style.rich_style)
        turn = self.buffer.rendered[index]
        number = line - self.buffer.top(index)
        margin = Content("  ")
        is_current = self.buffer.turns[index].position == self.cursor
        if is_current and number >= turn.body:
            style += self.get_visual_style("transcript--cursor")
            margin = Content.styled(CURSOR_MARK, "$accent")
        elif number in turn.found_lines or (turn.has_match and number == turn.body):
            margin = Content.styled(MATCH_MARK, "$evidence")
        content = (margin + turn.lines[number]).truncate(width)
        (strip,) = Visual.to_strips(
            self, content, width, 1, style, pad=True, apply_selection=False
        )
        return strip

    def on_resize(self) -> None:
        """Draw the turns again, with the cursor in view if it was."""
        bottom, self._height_before = self._top + self._height_before, self._height
        index = self.cursor_index
        if index is not None and self._top <= self.buffer.body(index) < bottom:
            self._bring_into_view(index)
        self.post_message(TurnsRequested())
