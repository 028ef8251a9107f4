"""The transcript of a session, with a cursor that moves from turn to turn.

Only a part of a session is loaded at a time; the view asks for more when the end of
what is loaded comes near, and guesses the height of the rest for the scrollbar. A turn
that is higher than the screen is scrolled line by line before the cursor moves on.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
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
from memtui.services import conversation
from memtui.services.conversation import (
    ConversationKey,
    ConversationLength,
    Turn,
    TurnRange,
)
from memtui.tui import commands, messages
from memtui.tui.widgets.turn_rendering import RenderedTurn

MAX_TURNS = 600
"""The most turns that stay loaded; the ones furthest from the last read are dropped."""

GUESSED_HEIGHT = 3.0  # The assumed height of a turn while none is loaded, in lines.
CURSOR_MARK, MATCH_MARK = "▌ ", "┃ "

PREFETCH_LINES = 40
"""The distance from the end of the loaded turns at which more are requested."""

Anchor = tuple[EventPosition, int, int]
"""A visible turn, which of its lines, and on which line of the screen that is."""


class TurnsPosition(Enum):
    """The turns of a conversation that should be loaded."""

    BEGINNING = auto()
    END = auto()
    AROUND = auto()
    """Around a place, or around a rank."""
    BEFORE = auto()
    """Before a place, to be added at the top."""
    AFTER = auto()
    """After a place, to be added at the end."""


@dataclass(eq=False, repr=False)
class TurnsRequested(Message):
    """Turns of the conversation should be loaded."""

    where: TurnsPosition
    place: EventPosition | None = None
    """The place that `where` refers to."""
    rank: int = 0
    """The number of turns before it, if the place is not known."""
    number: int = 0
    """The number of the jump; only the last one is carried out."""
    followed_from: EventPosition | None = None
    """The position at which the cursor must still be when the turns are shown."""

    @property
    def is_jump(self) -> bool:
        return self.where not in (TurnsPosition.BEFORE, TurnsPosition.AFTER)


class TurnBuffer:
    """The loaded turns with their lines, and estimates of what is before and after."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.rendered: list[RenderedTurn] = []
        # True if the session begins, or ends, with the loaded turns.
        self.is_first = self.is_last = True
        # The numbers of turns that are not loaded.
        self.turns_before = self.turns_after = 0
        self.version = 0  # Changes with every change of the buffer.
        self._tops: list[int] = [0]

    @property
    def lines_before(self) -> int:
        return 0 if self.is_first else max(1, round(self.turns_before * self._mean))

    @property
    def lines_after(self) -> int:
        return 0 if self.is_last else max(1, round(self.turns_after * self._mean))

    @property
    def range(self) -> TurnRange:
        return TurnRange((*self.turns,), self.is_first, self.is_last)

    @property
    def _mean(self) -> float:
        return self.height / len(self.turns) if self.turns else GUESSED_HEIGHT

    @property
    def height(self) -> int:
        return self._tops[-1]

    @property
    def total(self) -> int:
        return self.lines_before + self.height + self.lines_after

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
        index = bisect_left(self.turns, place, key=lambda turn: turn.position)
        is_found = index < len(self.turns) and self.turns[index].position == place
        return index if is_found else None

    def rank(self, y: int) -> int:
        """Estimate how many turns begin before a line."""
        if y < self.lines_before:
            return round(self.turns_before * y / self.lines_before)
        if (inside := y - self.lines_before) < self.height:
            return self.turns_before + bisect_left(self._tops, inside)
        beyond = inside - self.height
        share = beyond / max(1, self.lines_after)
        turns_until_here = self.turns_before + len(self.turns)
        return turns_until_here + round(self.turns_after * min(1.0, max(0.0, share)))

    def replace(
        self,
        loaded: TurnRange,
        rendered: Sequence[RenderedTurn],
        length: ConversationLength,
    ) -> None:
        self.turns, self.rendered = [*loaded.turns], [*rendered]
        self.is_first, self.is_last = loaded.at_start, loaded.at_end
        self.turns_before = 0 if self.is_first else max(1, length.before)
        turns_left = length.total - self.turns_before - len(self.turns)
        self.turns_after = 0 if self.is_last else max(1, turns_left)
        self._update_tops()

    def update(self, rendered: Mapping[str, RenderedTurn]) -> None:
        self.rendered = [
            rendered.get(turn.event.event_id, before)
            for turn, before in zip(self.turns, self.rendered, strict=True)
        ]
        self._update_tops()

    def _update_tops(self) -> None:
        self.version += 1
        self._tops = [0, *accumulate(len(turn.lines) for turn in self.rendered)]


class TranscriptView(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows the loaded turns and moves a cursor through them.

    It posts ``TurnsRequested`` for turns that are not loaded; the screen reads and
    renders them and hands them over with ``show`` or ``refresh_turns``.
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
        # The number of jumps; only the answer to the last one counts.
        self.jump_count = 0
        # The ranks of turns, in their order, by the mark and style that they get beside
        # the scrollbar.
        self.marks: dict[tuple[str, str], Sequence[int]] = {}
        self._is_waiting = False

    @property
    def cursor_index(self) -> int | None:
        return None if self.cursor is None else self.buffer.find(self.cursor)

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

    def show(
        self,
        loaded: TurnRange,
        rendered: Sequence[RenderedTurn],
        length: ConversationLength,
        place: EventPosition | None,
    ) -> None:
        """Show only these turns.

        Args:
            length: The number of all turns, and of those before these.
            place: The position of the cursor; None for the nearer end of the session.
        """
        self._is_waiting = False
        buffer = self.buffer
        buffer.replace(loaded, rendered, length)
        self._update_size()
        if not buffer.turns:
            self.refresh()
            return
        found_at = place and buffer.find(place)
        index = found_at if found_at is not None else 0
        if place is None and loaded.at_end and not loaded.at_start:
            index = len(buffer.turns) - 1
        self._put_cursor(index)
        if place is None and index:
            self._scroll(buffer.total)
        elif place is None:
            self._scroll(buffer.top(0))
        else:
            self._scroll(buffer.body(index) - self._height // 3)
        self._request_turns()

    def refresh_turns(
        self,
        loaded: TurnRange,
        rendered: Sequence[RenderedTurn],
        length: ConversationLength,
    ) -> None:
        """Show the same part of the session again, changed or with more around it.

        What is visible stays where it is; a cursor at the end follows new turns.
        """
        follows, last, anchor = self.is_at_end, self.cursor, self._anchor()
        self.buffer.replace(loaded, rendered, length)
        self._hold(anchor)
        turns = self.buffer.turns
        if follows and turns and turns[-1].position != last:
            self._follow()

    def update_turns(self, rendered: Mapping[str, RenderedTurn]) -> None:
        anchor = self._anchor()
        self.buffer.update(rendered)
        self._hold(anchor)

    def _follow(self) -> None:
        """Go to the end, which may be further than the loaded turns."""
        if self.buffer.is_last:
            self._go_to_end()
        else:
            number, here = self.jump_count, self.cursor
            end = TurnsPosition.END
            self.post_message(TurnsRequested(end, number=number, followed_from=here))

    def start_jump(self) -> int:
        """Return the number of a new jump; answers to earlier ones are ignored."""
        self.jump_count += 1
        return self.jump_count

    def end_request(self, *, retry: bool = False) -> None:
        """Note that a request gave no turns; ask again at once if it was outdated."""
        self._is_waiting = False
        if retry:
            self._request_turns()

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
        bottom = top + self._height
        is_before, is_after = bottom < first, top > last
        request: TurnsRequested | None = None
        if (is_before and not buffer.is_first) or (is_after and not buffer.is_last):
            rank = buffer.rank(top)
            request = TurnsRequested(
                TurnsPosition.AROUND, rank=rank, number=self.start_jump()
            )
        elif not buffer.is_first and top < first + PREFETCH_LINES:
            request = TurnsRequested(TurnsPosition.BEFORE, buffer.turns[0].position)
        elif not buffer.is_last and bottom > last - PREFETCH_LINES:
            request = TurnsRequested(TurnsPosition.AFTER, buffer.turns[-1].position)
        if request is not None:
            self._is_waiting = True
            self.post_message(request)

    # The scroll position

    @property
    def anchor_place(self) -> EventPosition | None:
        """The place of the turn that keeps its line of the screen on changes."""
        anchor = self._anchor()
        return anchor and anchor[0]

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
        self._is_waiting = False
        self._update_size()
        index = anchor and self.buffer.find(anchor[0])
        if anchor is not None and index is not None:
            _, inside, line = anchor
            rendered = self.buffer.rendered[index]
            if inside >= len(rendered.lines) - rendered.body:
                inside = 0  # The line is gone: the turn was collapsed.
            self._scroll(self.buffer.body(index) + inside - line)
        self.refresh()
        self._request_turns()

    def _update_size(self) -> None:
        self.virtual_size = Size(self.width, self.buffer.total)

    def _scroll(self, y: int) -> None:
        self.scroll_to(y=max(0, y), animate=False)

    # Moving the cursor

    def go_to(self, place: EventPosition, *, line: int | None = None) -> bool:
        """Go to a turn, or to a line of it; False if it is not loaded."""
        index = self.buffer.find(place)
        if index is None:
            return False
        self._put_cursor(index)
        self._bring_into_view(index, line)
        return True

    def _put_cursor(self, index: int) -> None:
        self.cursor = self.buffer.turns[index].position
        self.refresh()
        self.post_message(messages.TurnHighlighted())

    def _go_to_end(self) -> None:
        self._put_cursor(len(self.buffer.turns) - 1)
        self._scroll(self.buffer.total)

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
        number = self.start_jump()
        if not self.buffer.is_first:
            self.post_message(TurnsRequested(TurnsPosition.BEGINNING, number=number))
        elif self.buffer.turns:
            self._put_cursor(0)
            self._scroll(0)

    def action_last(self) -> None:
        number = self.start_jump()
        if not self.buffer.is_last:
            self.post_message(TurnsRequested(TurnsPosition.END, number=number))
        elif self.buffer.turns:
            self._go_to_end()

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
        first = self.buffer.rank(y * total // self._height)
        end = self.buffer.rank((y + 1) * total // self._height)
        mark = Content(" ")
        for (sign, color), ranks in self.marks.items():
            if bisect_left(ranks, first) < bisect_left(ranks, end):
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
        self.post_message(messages.TranscriptResized())


def read_turns(whose: ConversationKey, request: TurnsRequested) -> TurnRange:
    place = request.place
    match request.where:
        case TurnsPosition.BEGINNING | TurnsPosition.AFTER:
            return conversation.read_after(whose, place)
        case TurnsPosition.END | TurnsPosition.BEFORE:
            return conversation.read_before(whose, place)
        case _:
            here = place or conversation.find_by_rank(whose, request.rank)
            if here is None:
                return conversation.read_before(whose, None)
            return conversation.read_around(whose, here)


def join_turns(earlier: TurnRange, later: TurnRange, *, keeps_end: bool) -> TurnRange:
    """Join two parts of a session, up to the most turns that stay loaded."""
    turns = (*earlier.turns, *later.turns)
    is_all = len(turns) <= MAX_TURNS
    turns = turns[-MAX_TURNS:] if keeps_end else turns[:MAX_TURNS]
    at_start = earlier.at_start and (is_all or not keeps_end)
    return TurnRange(turns, at_start, later.at_end and (is_all or keeps_end))
