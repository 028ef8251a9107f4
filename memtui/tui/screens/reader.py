"""The reader: the conversation of one session, loaded in parts around the cursor."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import ClassVar, NamedTuple

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.events import DescendantFocus
from textual.widgets import Input, OptionList, Static

from memtui.model.events import EventPosition
from memtui.model.judgements import Judgement
from memtui.model.quantities import plural
from memtui.services import browse, conversation, coverage
from memtui.services.conversation import (
    ConversationGoneError,
    ConversationInfo,
    ConversationKey,
    Turn,
)
from memtui.services.outline import Outline, read_outline
from memtui.text.markdown import quotation
from memtui.text.plain import shorten
from memtui.tui import commands, format, messages, workers
from memtui.tui.messages import SourceMarks
from memtui.tui.screens.base import (
    HEIGHTS,
    LAYOUTS,
    BaseScreen,
    FindInput,
    describe_failure,
)
from memtui.tui.screens.dialogs import LineScreen, TypedLine
from memtui.tui.screens.session_actions import (
    ACTIONS,
    ALL_CITED,
    SESSION,
    SessionActions,
)
from memtui.tui.widgets import markdown, turn_rendering
from memtui.tui.widgets.panes import PaneTitle
from memtui.tui.widgets.session_outline import OutlineList, draw_card
from memtui.tui.widgets.transcript_view import (
    END,
    START,
    TranscriptView,
    TurnsRequested,
)
from memtui.tui.widgets.turn_rendering import RenderedTurn, TurnLayout

CITED_CHARS = 300  # The maximum length of the message text in a copied citation.

LIVE = timedelta(minutes=30)
"""A session whose last message is within this time opens at its end: it may still be
running."""

PLACE = "place"  # A group of threads whose errors are shown as notices, as SESSION.
TURNS, NEWS = "turns", "news"

CITED, MATCHING = ("┃", "$context"), ("━", "$evidence")
"""The marks beside the scrollbar, and their styles."""

NO_QUOTES: Mapping[str, SourceMarks] = {}
EMPTY = "This session has no messages."
LINE_HINT = "A bullet that cites this message. Enter saves it; it is marked as yours."
GONE = "This session has been deleted.\n\nPress esc to go back."


class Rendering(NamedTuple):
    """The conversation, the layout and the expanded events of rendered turns."""

    about: ConversationInfo
    layout: TurnLayout
    expanded: frozenset[str]


class FindLine(Horizontal, workers.AppNode):
    """Finds words in the whole conversation as they are typed.

    One search runs at a time; its result counts if the input still has the same words,
    else these are searched next.
    """

    _input = getters.query_one("#words", Input)

    def __init__(self, key: ConversationKey) -> None:
        super().__init__(id="finding")
        self._key = key
        self.words = ""  # The words that ``matches`` belong to.
        self.matches: Sequence[EventPosition] = ()
        self.is_searching = False

    def compose(self) -> ComposeResult:
        yield Static("/", id="slash", markup=False)
        yield FindInput("words in this session")
        yield Static(id="matches", markup=False)

    @property
    def text(self) -> str:
        return self._input.value.strip()

    @property
    def has_input_focus(self) -> bool:
        return self._input.has_focus

    def focus_input(self) -> None:
        self._input.focus()

    @on(Input.Changed)
    def search(self) -> None:
        words = self.text
        if self.is_searching or self.words == words:
            return
        self.is_searching = True

        def find() -> Sequence[EventPosition]:
            return conversation.find_text(self._key, words) if words else ()

        slow = partial(self._show_text, "searching…")
        self.load(find, partial(self._accept, words), "find", slow)

    def _accept(self, words: str, matches: Sequence[EventPosition]) -> None:
        self.is_searching = False
        if words != self.text:
            self.search()
            return
        self.words, self.matches = words, matches
        self.post_message(messages.WordsFound())

    def show_error(self, error: BaseException, group: str) -> None:
        """Show that the search failed; enter repeats it."""
        self.is_searching, self.words, self.matches = False, "", ()
        self._show_text("search failed")
        self.notify(f"✗ Not searched: {format.error_text(error)}.", severity="error")

    def reset(self) -> None:
        self.words, self.matches = "", ()
        self._input.value = ""
        self._show_text("")

    def first_match(self, here: EventPosition | None) -> EventPosition:
        """Return the first match from a position on, or else the first of all."""
        index = bisect_left(self.matches, here) if here else 0
        return self.matches[index % len(self.matches)]

    def show_position(self, here: EventPosition | None) -> None:
        if self.is_searching:
            return
        if not self.matches:
            self._show_text("no match" if self.words else "")
            return
        total = f"{len(self.matches):,}"
        index = bisect_left(self.matches, here) if here else len(self.matches)
        is_match = index < len(self.matches) and self.matches[index] == here
        which = f"{index + 1:,} of {total}" if is_match else total
        keys = (
            "enter keep · esc back" if self.has_input_focus else "n next · p previous"
        )
        self._show_text(f"{which} · {keys}")

    def _show_text(self, text: str) -> None:
        self.query_one("#matches", Static).update(Content(text))


def find_next(
    places: Sequence[EventPosition], here: EventPosition, step: int
) -> EventPosition | None:
    """Return the next (1) or previous (-1) of some places; None at either end."""
    at = bisect_right(places, here) if step > 0 else bisect_left(places, here) - 1
    return places[at] if 0 <= at < len(places) else None


class ReaderScreen(SessionActions[None], BaseScreen[None]):
    """Loads what its `TranscriptView` requests, and follows a running session."""

    AUTO_FOCUS = ""
    HAS_JUMP_BACK = True
    HORIZONTAL_BREAKPOINTS = LAYOUTS
    VERTICAL_BREAKPOINTS = HEIGHTS
    BINDINGS: ClassVar[list[BindingType]] = [
        *commands.bindings(
            in_footer=True,
            find_here="Find words in this session.",
            back="Close the search, or leave the session.",
        ),
        *commands.bindings(
            "next_match", "previous_match", "next_prompt", "previous_prompt",
            "next_part", "add_line",
            "toggle_thinking", "toggle_raw", "toggle_card", "show_outline",
            "show_in_contents", *ACTIONS,
            copy="Copy this message as it is; again: its next block of code.",
            copy_page="Copy this message and its source to the clipboard.",
            toggle_expanded="Expand or collapse this tool call, note or long message.",
        ),
    ]  # fmt: skip

    view = getters.query_one(TranscriptView)
    _find_line = getters.query_one(FindLine)
    _outline_list = getters.query_one(OutlineList)

    def __init__(
        self,
        key: ConversationKey,
        event_id: str = "",
        quotes: Mapping[str, SourceMarks] = NO_QUOTES,
    ) -> None:
        """Open an event; by default the beginning, or the end of a running session.

        Args:
            quotes: What to mark in events, by their ids.
        """
        super().__init__()
        self.key = key
        self.about: ConversationInfo | None = None
        self._outline: Outline | None = None  # None until it is read.
        self.set_class(bool(key.subagent), "-no-card")
        self._event_id = event_id
        self._quotes = quotes
        # The event whose text was copied last, and the number of its block of code.
        self._copied = ("", 0)
        # The uncited part gone to last, and the numbers of all of them.
        self._part: tuple[bool, EventPosition] | None = None
        self._uncited: Mapping[EventPosition, int] = {}
        self._seeks_match = True  # Until the match or quote jumped to is shown.
        self._with_thinking = self._is_raw = False
        self._expanded: set[str] = set()
        self._rendering: Rendering | None = None  # That of what is shown.
        # The place of the cursor and the expanded events when the search began.
        self._before_search: tuple[EventPosition | None, frozenset[str]] = (
            None,
            frozenset(),
        )

    def compose_body(self) -> ComposeResult:
        yield PaneTitle("Session")
        yield Static(id="card", markup=False)
        yield Horizontal(OutlineList(id="outline"), TranscriptView())
        yield Static(id="nothing", markup=False)
        yield FindLine(self.key)

    @property
    def here(self) -> messages.SessionRequested:
        key, turn = self.key, self.view.current
        event_id = turn.event.event_id if turn else ""
        return messages.SessionRequested(
            key.agent,
            key.session_id,
            event_id,
            subagent=key.subagent,
            quotes=self._quotes,
        )

    def on_mount(self) -> None:
        self.view.focus()
        # The width of the lines is known after the first refresh.
        self.call_after_refresh(self.reload)

    def _show_loading(self) -> None:
        if self.about is None and not self.has_class("-empty"):
            self.query_one(PaneTitle).info = workers.LOADING

    # Loading turns

    def reload(self) -> None:
        """Load what is new."""
        before, event_id = self.about, self._event_id

        def read() -> tuple[ConversationInfo, EventPosition | None]:
            about = conversation.get_info(self.key)
            if before is not None:
                return about, None
            is_live = self.now() - about.session.updated_at < LIVE
            place = conversation.find_position(event_id) if event_id else None
            if place not in about.positions:
                place = END if is_live else START
            return about, place

        def show(news: tuple[ConversationInfo, EventPosition | None]) -> None:
            about, place = news
            if self._rendering and self._rendering.about == about:
                return
            self.about = about
            self._update_title(about)
            if place is not None:
                self.view.open(about.positions, place)
            else:
                self.load_turns()

        self.load(read, show, NEWS, self._show_loading)

    @on(TurnsRequested)
    def load_turns(self) -> None:
        """Read and render the part to show, except what is rendered like that."""
        view, buffer, before = self.view, self.view.buffer, self._rendering
        if (about := self.about) is None:
            return
        layout, expanded = self._turn_layout(), frozenset(self._expanded)
        rendering, span = Rendering(about, layout, expanded), view.span
        positions = about.positions
        start, end = view.find_part(positions)
        is_read = before is not None and before.about is about
        turns = {turn.position: turn for turn in buffer.turns} if is_read else {}
        rendered: turn_rendering.RenderedTurns = {}
        if before is not None and before.layout == layout:
            rendered = {
                turn.event.event_id: (turn, lines)
                for turn, lines in zip(buffer.turns, buffer.rendered, strict=True)
                if turn.event.event_id not in before.expanded ^ expanded
            }

        def read() -> tuple[list[Turn], list[RenderedTurn]]:
            missing = [at for at in range(start, end) if positions[at] not in turns]
            if missing:
                first, last = missing[0], missing[-1]
                page = conversation.read_turns(self.key, positions, first, last + 1)
                turns.update((turn.position, turn) for turn in page)
            part = [turns[at] for at in positions[start:end] if at in turns]
            return part, turn_rendering.render_turns(part, layout, expanded, rendered)

        def show(loaded: tuple[list[Turn], list[RenderedTurn]]) -> None:
            if span == view.span:  # Otherwise another part is requested already.
                self._rendering = rendering
                self.set_class(not loaded[0], "-empty")
                if not loaded[0]:
                    self.show_instead(EMPTY)
                view.show(positions, start, end, *loaded)
                self._show_match()
                if not (before and before.about is about):
                    self._read_outline()

        self.load(read, show, TURNS)

    def _read_outline(self) -> None:
        self.load(partial(read_outline, self.key), self._show_outline, "outline")

    def _show_outline(self, outline: Outline) -> None:
        self._outline = outline
        self._uncited = {place: n for n, (_, place) in enumerate(outline.uncited, 1)}
        self.query_one("#card", Static).update(draw_card(outline, self.zone))
        if self.has_class("-outline"):
            self._outline_list.show(outline, self.view.cursor)
        self.show_place()
        self._show_marks()

    def _show_marks(self) -> None:
        """Show beside the scrollbar what is cited, and what was found."""
        cited = self._outline.cited if self._outline else ()
        self.view.marks = {CITED: cited, MATCHING: self._find_line.matches}
        self.view.refresh()

    def _update_title(self, about: ConversationInfo) -> None:
        session = about.session
        subagent = f"subagent {self.key.subagent}" if self.key.subagent else ""
        count = plural(session.message_count, "message")
        thinking = ""
        if about.thoughts:
            verb = "hide" if self._with_thinking else "show"
            thinking = f"t: {verb} thinking ({about.thoughts:,})"
        parts = [session.agent, session.project, "" if subagent else count, thinking]
        prompts = self._outline.prompts if self._outline else ()
        if self.view.cursor and (number := bisect_right(prompts, self.view.cursor)):
            parts.insert(0, f"prompt {number:,} of {len(prompts):,}")
        if self._part and self._part[1] == self.view.cursor in self._uncited:
            number = self._uncited[self.view.cursor]
            parts.insert(0, f"not cited {number:,} of {len(self._uncited):,}")
        what = f"{subagent} of {session.title}" if subagent else session.title
        self.query_one(PaneTitle).show(what, " · ".join(filter(None, parts)))

    def show_error(self, error: BaseException, group: str) -> None:
        if group == TURNS:
            self.view.end_request()
        if group in (PLACE, SESSION):
            self.notify(format.error_text(error), severity="error")
        elif isinstance(error, ConversationGoneError):
            self.show_instead(GONE)
        elif not self.view.buffer.turns:
            lead = "✗ This session could not be read:"
            self.show_instead(describe_failure(lead, error))
            self.retry_reload()
        elif group != NEWS:
            text = f"✗ Not loaded: {format.error_text(error)}."
            self.notify(text, severity="error")

    # Live changes

    def show_progress(self, message: messages.ProgressReported) -> None:
        self.request_reload()

    # Rendering

    def _turn_layout(self) -> TurnLayout:
        width, words = self.view.width, self._find_line.words
        return TurnLayout(
            width,
            self.zone,
            self.now(),
            self._with_thinking,
            self._is_raw,
            words,
            self._quotes,
        )

    def action_toggle_expanded(self) -> None:
        turn = self.view.current
        if turn is None or not turn_rendering.can_expand(turn.event):
            self.notify("This message is shown whole.")
            return
        self._expanded ^= {turn.event.event_id}
        self.load_turns()

    @on(messages.TurnSelected)
    def open_turn(self) -> None:
        turn = self.view.current
        if turn is not None and turn.subagent:
            self.post_message(
                messages.SessionRequested(
                    self.key.agent, self.key.session_id, subagent=turn.subagent
                )
            )
        else:
            self.action_toggle_expanded()

    def action_toggle_thinking(self) -> None:
        if self.about is None or not self.about.thoughts:
            self.notify("This session has no thinking.")
            return
        self._with_thinking = not self._with_thinking
        self._update_title(self.about)
        self.load_turns()

    def action_toggle_raw(self) -> None:
        self._is_raw = not self._is_raw
        self.load_turns()
        drawn = "as it is written" if self._is_raw else "rendered"
        self.notify(f"Markdown is shown {drawn}.")

    def action_toggle_card(self) -> None:
        self.toggle_class("-no-card")
        if self.view.cursor is not None:
            self.call_after_refresh(self.view.go_to, self.view.cursor)

    # The outline

    def action_show_outline(self) -> None:
        if self.has_class("-outline"):
            self._close_outline()
        elif self._outline is None or not self._outline.entries:
            self.notify("This session has no outline.")
        else:
            self.add_class("-outline")
            self._outline_list.show(self._outline, self.view.cursor)
            self._outline_list.focus()

    @on(OptionList.OptionSelected)
    def open_entry(self) -> None:
        if (entry := self._outline_list.current) is not None:
            self._go_to(entry.position)
            if self.has_class("-narrow"):
                self._close_outline()
            self.view.focus()

    def _close_outline(self) -> None:
        self.remove_class("-outline")
        self.view.focus()

    # Moving between prompts

    def action_next_prompt(self) -> None:
        self._seek_prompt(1)

    def action_previous_prompt(self) -> None:
        self._seek_prompt(-1)

    def _seek_prompt(self, step: int) -> None:
        here, outline = self.view.place, self._outline
        if here is None or outline is None:
            return
        if place := find_next(outline.prompts, here, step):
            self._go_to(place)
        else:
            which = "last" if step > 0 else "first"
            self.notify(f"This is your {which} prompt.")

    # Parts that no bullet cites

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """While words are searched for, the key of this is that of a match."""
        return action != "next_part" or not self.has_class("-finding")

    def action_next_part(self) -> None:
        """Go to the next part; from elsewhere, to the next prompt, failed call or
        commit, or to the first part of all."""
        here, outline = self.view.cursor, self._outline
        if here is None or outline is None:
            return
        parts, part = outline.uncited, self._part
        if part is not None and part[1] == here:
            at = bisect_right(parts, part)
        else:
            at = bisect_right(parts, (False, here))
            at = 0 if all(is_other for is_other, _ in parts[at : at + 1]) else at
        if at < len(parts):
            self._part = parts[at]
            self._go_to(self._part[1])
        elif parts:
            self.notify("This is the last message that no bullet cites.")
        else:
            self.notify(ALL_CITED)

    def action_add_line(self) -> None:
        if (turn := self._selected_turn()) is None:
            return
        event_id = turn.event.event_id

        def add(line: TypedLine) -> None:
            make = partial(coverage.add_line, event_id, line.text, self.now())
            self.execute(make, self._show_line, SESSION)

        proposed = coverage.propose_line(format.event_text(turn.event))
        self.memtui.ask(LineScreen(proposed, LINE_HINT), add)

    def _show_line(self, line: Judgement) -> None:
        self.notify(line.text, title="Added as a bullet")
        self._read_outline()

    def _go_to(self, place: EventPosition) -> None:
        self.view.go_to(place)
        self._seeks_match = True
        self._show_match()

    # Search

    def action_find_here(self) -> None:
        self._before_search = self.view.cursor, frozenset(self._expanded)
        self.app.clear_notifications()  # They would cover the input.
        self.set_class(True, "-finding")
        self._find_line.focus_input()

    @on(messages.WordsFound)
    def show_found(self) -> None:
        """Mark the matches, and go to the first from where the search began."""
        line, (start, expanded) = self._find_line, self._before_search
        self._expanded = {*expanded}
        self.load_turns()
        if place := line.first_match(start) if line.matches else start:
            self._go_to(place)
        self.show_place()
        self._show_marks()

    def _show_match(self) -> None:
        """Scroll to the match or quote jumped to, expanding its turn if needed."""
        at, rendering = self.view.cursor_index, self._rendering
        is_due = self._seeks_match and self.view.goal is None
        if at is None or rendering is None or not is_due:
            return
        if rendering.layout != self._turn_layout():
            return  # It is rendered again.
        turn, rendered = self.view.buffer.turns[at], self.view.buffer.rendered[at]
        name = turn.event.event_id
        if rendered.found_lines:
            self.view.show_line(min(rendered.found_lines))
        elif (
            rendered.has_match
            and turn_rendering.is_collapsible(turn.event)
            and name not in rendering.expanded
        ):
            self._expanded.add(name)
            self.load_turns()
            return
        self._seeks_match = False

    def action_keep_words(self) -> None:
        """Go from the input to the matches; without words, close the search."""
        self._find_line.search()
        if self._find_line.text:
            self.set_focus(self.view)
        else:
            self._close_search()

    def action_next_match(self) -> None:
        self._step_match(1)

    def action_previous_match(self) -> None:
        self._step_match(-1)

    def _step_match(self, by: int) -> None:
        here, line = self.view.place, self._find_line
        if line.is_searching:
            self.notify("Searching…")
        elif line.words and not line.matches:
            self.notify("No match in this session.")
        elif not line.matches or here is None:
            self.notify("Press / to find words first.")
        elif place := find_next(line.matches, here, by):
            self._go_to(place)
        else:
            which = "last" if by > 0 else "first"
            self.notify(f"This is the {which} match.")

    @on(messages.TurnHighlighted)
    @on(DescendantFocus)
    def show_place(self) -> None:
        """Show the numbers of the match and of the prompt."""
        self._find_line.show_position(self.view.cursor)
        if self.about is not None:
            self._update_title(self.about)

    def _close_search(self) -> None:
        self.set_class(False, "-finding")
        self._find_line.reset()
        self._show_marks()
        self.load_turns()
        self.set_focus(self.view)

    def action_back(self) -> None:
        """Close outline or search, or leave; from the input, go back to where it
        began."""
        if self._outline_list.has_focus:
            self._close_outline()
        elif self.has_class("-finding"):
            if self._find_line.has_input_focus:
                start, expanded = self._before_search
                self._expanded = {*expanded}
                if start is not None:
                    self._go_to(start)
            self._close_search()
        else:
            self.dismiss(None)

    # Commands on the session

    def _selected_turn(self) -> Turn | None:
        turn = self.view.current
        if turn is None:
            self.notify("Select a message first.")
        return turn

    def action_copy(self) -> None:
        """Copy the text of the message; pressed again, its blocks of code in turn."""
        if (turn := self._selected_turn()) is None:
            return
        text = turn.event.text
        parts = [text, *markdown.list_code(text)]
        event_id, number = self._copied
        number = (number + 1) % len(parts) if event_id == turn.event.event_id else 0
        self._copied = turn.event.event_id, number
        blocks = len(parts) - 1
        more = f"{plural(blocks, 'block')} of code: y again" if blocks else ""
        if number:
            more = f"block {number} of {blocks}"
        self.copy(parts[number], more)

    def action_copy_page(self) -> None:
        if (turn := self._selected_turn()) is None or self.about is None:
            return
        event, session = turn.event, self.about.session
        quote = shorten(" ".join(format.event_text(event).split()), CITED_CHARS)
        self.copy(quotation(quote, session, event.timestamp, event.event_id, self.zone))

    def action_show_in_contents(self) -> None:
        if (turn := self._selected_turn()) is None:
            return
        event = turn.event
        read = partial(
            browse.find_session_node, event.agent, event.session_id, event.timestamp
        )
        self.load(read, self._go_to_node, PLACE)

    def _go_to_node(self, node_id: str) -> None:
        if node_id:
            self.post_message(messages.NodeRequested(node_id))
        else:
            self.notify("This is not in the contents yet.")

    @property
    def selected_session(self) -> ConversationKey:
        return self.key

    @property
    def source_id(self) -> str:
        turn = self.view.current
        return f"evt:{turn.event.event_id}" if turn else ""

    def show_renamed(self) -> None:
        self.request_reload()
