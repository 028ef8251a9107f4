"""The search bar: shows hits while you type, over the screen below.

One search runs at a time, on a thread; text typed during it is searched next. A
result is shown only if its query and view are still current.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.suggester import Suggester
from textual.timer import Timer
from textual.widgets import Input, OptionList, Static

from memtui.model.filters import EVERYTHING, FILTER_FIELDS, Filters, Scope
from memtui.model.hit import Hit, HitKind, Hits
from memtui.model.quantities import plural
from memtui.search import query as search_query
from memtui.search.query import NEWEST_LISTED, NO_WORD
from memtui.services import browse
from memtui.services.browse import ScopeChoices
from memtui.services.conversation import ConversationKey
from memtui.text.markdown import quotation
from memtui.tui import format
from memtui.tui.screens.base import HEIGHTS, LAYOUTS, Dialog
from memtui.tui.screens.session_actions import SESSION, SessionActions
from memtui.tui.widgets import preview
from memtui.tui.widgets.preview import Preview, Previewed
from memtui.tui.widgets.result_list import (
    ResultList,
    SearchFunction,
    SearchView,
    jump_target,
)
from memtui.tui.widgets.source_pane import JumpTarget
from memtui.tui.widgets.text_block import Paragraph, Stack

if TYPE_CHECKING:
    from memtui.workspace import Workspace

SYNTAX = (
    ("token refresh", "either word, in any form; the last one may be incomplete"),
    ('"exact words"', "these words exactly, with punctuation"),
    ("refr*", "words with this beginning"),
    ("-draft", "exclude results with this word"),
    ("retries last week", "a time: its results come first"),
)

EXAMPLES = {
    "agent": "codex",
    "project": "shop",
    "keyword": "retries",
    "session": "4f2a",
    "after": "yesterday",
    "before": "2025-03",
}
"""Values of the filters that have no fixed list of values."""

EXAMPLE_CELLS = 19
MAX_QUERY = 40  # The length of a query in a note, in cells.
ONLY_IN_TOOLS = "No message has it, only the output of tools (enter)."
ONLY_IN_MESSAGES = "ctrl+o works in the messages view (tab)."

NOT_IN_CONTENTS_YET = (
    "This is too new: the contents do not have it yet. Press enter again in a moment."
)

ONLY_A_TIME = (
    "“{}” is only a date: add a word to search for, or go to a day with esc and g."
)

NOTHING_TO_LOOK_UP = "“{}” contains no word to search for."

MIN_COMPLETED = 3
"""From this length on, in characters, a word may be the beginning of a filter."""


class FilterSuggester(Suggester):
    """Completes the last word of a query to the name or value of a filter."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._values: dict[str, tuple[str, ...]] = {}

    def set_parts(self, parts: ScopeChoices) -> None:
        values = {"agent": parts.agents, "project": parts.projects}
        values["keyword"] = parts.keywords
        self._values = {
            name: tuple(value for value, _ in counted)
            for name, counted in values.items()
        }

    async def get_suggestion(self, value: str) -> str | None:
        """Return the query with its last word completed, None if there is no way."""
        word = value.rpartition(" ")[2]
        name, colon, typed_value = word.partition(":")
        field = name.lower()
        if colon and field in FILTER_FIELDS:
            # Values are separated by commas; the last one may be incomplete.
            begun = typed_value.rpartition(",")[2]
            values = FILTER_FIELDS[field].values or self._values.get(field, ())
            # A value with a space would need quotes.
            return _complete(value, begun, (v for v in values if " " not in v))
        if len(word) < MIN_COMPLETED:
            return None
        return _complete(value, word, (f"{field}:" for field in FILTER_FIELDS))


def _complete(query: str, begun: str, values: Iterable[str]) -> str | None:
    for value in values:
        if value.lower().startswith(begun.lower()) and len(value) > len(begun):
            return query + value[len(begun) :]
    return None


# Notes


def compose_notes(hits: Hits, query: str, view: SearchView, zone: tzinfo) -> list[str]:
    """Return the notes to show below the results, each a sentence."""
    notes = [note for note in hits.notes if note != NO_WORD]
    has_no_word = len(notes) < len(hits.notes)
    if not (has_no_word and hits.dates):
        notes += hits.dates
    if hits.suggestion:
        notes.insert(0, f"Did you mean “{hits.suggestion}”? (ctrl+s)")
    if has_no_word:
        reason = ONLY_A_TIME if hits.dates else NOTHING_TO_LOOK_UP
        notes.insert(0, reason.format(format.shorten(query, MAX_QUERY)))
    elif not hits.hits and hits.is_recent:
        notes.remove(NEWEST_LISTED)
        notes.insert(0, f"There is nothing for “{format.shorten(query, MAX_QUERY)}”.")
    elif not hits.hits:
        notes.insert(0, _advise(query, view, zone))
    if hits.total > len(hits.hits):
        more = "more than " if hits.has_more else ""
        total = f"{more}{plural(hits.total, 'hit')}"
        notes.append(f"The best hit of each session, of {total} (tab: all).")
    return notes


def _advise(text: str, view: SearchView, zone: tzinfo) -> str:
    quoted = format.shorten(text, MAX_QUERY)
    query = search_query.parse(text, zone)
    if query.is_empty:
        return NOTHING_TO_LOOK_UP.format(quoted)
    advice = []
    if query.filters != EVERYTHING:
        advice.append("without the filter")
    if query.phrases:
        advice.append("without the quotes")
    if query.excluded or query.excluded_phrases:
        advice.append("without the excluded words (-)")
    if len(query.words) > 1:
        advice.append("fewer words")
    if not text.rstrip().endswith("*"):
        advice.append("the beginning of a word (refr*)")
    if view is not SearchView.ALL:
        advice.append("another view (tab)")
    hint = f" Try {', or '.join(advice)}." if advice else ""
    return f"Nothing found for “{quoted}”.{hint}"


def describe_syntax() -> Stack:
    rows = [*SYNTAX]
    for name, field in FILTER_FIELDS.items():
        example = EXAMPLES.get(name) or (field.values or ("2025",))[-1]
        rows.append((f"{name}:{example}", field.description))
    rows.append(
        ("alt+r e o y t x", "resume, export, open, copy, rename, hand over a hit")
    )
    return Stack(
        *(
            Paragraph(
                Content.styled(f"{example:<{EXAMPLE_CELLS}}", "bold"),
                Content.styled(description, "$context"),
            )
            for example, description in rows
        )
    )


HISTORY_SIZE = 100


class SearchHistory:
    """The queries typed so far, and the view used last."""

    def __init__(self) -> None:
        self.view = SearchView.ALL
        # True if only the best message of each session is shown.
        self.one_per_session = False
        self._queries: list[str] = []
        self._at = 0
        self._draft = ""

    @property
    def last(self) -> str:
        return self._queries[-1] if self._queries else ""

    def add(self, query: str) -> None:
        if query.strip():
            others = [earlier for earlier in self._queries if earlier != query]
            self._queries = [*others[1 - HISTORY_SIZE :], query]
        self._at = len(self._queries)

    def step(self, by: int, typed: str) -> str:
        """Return the previous (-1) or next query; after the last, what was typed."""
        if not 0 <= self._at < len(self._queries) or self._queries[self._at] != typed:
            is_listed = typed in self._queries
            self._at = self._queries.index(typed) if is_listed else len(self._queries)
            self._draft = "" if is_listed else typed
        self._at = min(max(self._at + by, 0), len(self._queries))
        return [*self._queries, self._draft][self._at]


def make_finders(
    workspace: "Workspace", history: SearchHistory, scope: Scope
) -> dict[SearchView, SearchFunction]:
    """Return the search function of each view; each is imported on first use."""
    filters = Filters(scope=scope)

    def find_in_tools(text: str) -> Hits:
        from memtui.services import tool_output

        return tool_output.find(text, workspace.now(), workspace.zone, filters=filters)

    def find_messages(text: str) -> Hits:
        return workspace.message_search.find(
            text, one_per_session=history.one_per_session, filters=filters
        )

    finders: dict[SearchView, SearchFunction] = {
        SearchView.ALL: lambda text: workspace.search.find(text, filters=filters),
        SearchView.SUMMARIES: lambda text: workspace.teleport.find(
            text, filters=filters
        ),
        SearchView.MESSAGES: find_messages,
    }
    if not workspace.settings.search_include_tools:  # Else the index has it.
        finders[SearchView.TOOLS] = find_in_tools
    return finders


PAUSE_S = 0.03  # The pause in typing before a search starts.

TOOLS_PAUSE_S = 0.3
"""The pause before the output of tools is searched beside the messages."""

RETRY_S = 2.0
"""The delay before searching again after an error, or while an index is being built."""

EMPTY = (
    "No conversations yet.\n\n"
    "Press esc and then i to import those found on this machine."
)

SEARCH, OPEN, TOOLS = "search", "open", "tools"


class SearchScreen(SessionActions[JumpTarget], Dialog[JumpTarget]):
    """Returns where the chosen hit leads, or None; the screen below stays as it was."""

    HORIZONTAL_BREAKPOINTS, VERTICAL_BREAKPOINTS = LAYOUTS, HEIGHTS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "go", key_display="enter", priority=True),
        Binding("escape", "leave", "back"),
        Binding("down", "choose(1)", "move", key_display="↑ ↓", priority=True),
        Binding("up", "choose(-1)", "previous hit", show=False),
        Binding("pagedown", "page(1)", "page down", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
        Binding("tab", "switch_view(1)", "view"),
        Binding("shift+tab", "switch_view(-1)", "previous view", show=False),
        Binding("ctrl+o", "toggle_one_each", "per session", key_display="ctrl+o"),
        Binding("alt+up,ctrl+up", "recall(-1)", "history", key_display="alt+↑"),
        Binding("alt+down,ctrl+down", "recall(1)", "next query", show=False),
        Binding("ctrl+s", "use_suggestion", "use the suggestion", show=False),
        # Letters alone are typed.
        Binding("alt+r", "resume", "resume"),
        Binding("alt+e", "export", "export"),
        Binding("alt+o", "edit", "open in editor"),
        Binding("alt+y", "copy", "copy"),
        Binding("alt+t", "rename", "rename"),
        Binding("alt+Y,alt+shift+y", "copy_page", "copy as Markdown", show=False),
        Binding("alt+x", "hand_over", "hand over"),
    ]

    _list = getters.query_one(ResultList)

    def __init__(
        self,
        finders: Mapping[SearchView, SearchFunction],
        zone: tzinfo,
        now: Callable[[], datetime],
        history: SearchHistory,
    ) -> None:
        """Make the search bar.

        Args:
            finders: The search function of each view, at least one.
            history: Receives the query when the bar is closed.
        """
        super().__init__()
        self._finders, self._zone, self._now = finders, zone, now
        self._history = history
        self._views = [view for view in SearchView if view in finders]
        self.view = history.view if history.view in self._views else self._views[0]
        # The query that this view is for; it is not for the next one. None if the user
        # has chosen the view here.
        self._query_of_view: str | None = history.last
        self.hits = Hits()
        self._linked: Hit | None = None  # The first of the hits that a link leads to.
        self._suggester = FilterSuggester()
        self._pause: Timer | None = None
        self._searching: tuple[SearchView, str] | None = None
        self._opens_first = False  # True if Enter was pressed before the result came.

    @property
    def is_waiting(self) -> bool:
        return self._pause is not None or self._searching is not None

    def compose_dialog(self) -> ComposeResult:
        with Vertical(id="search", classes="" if self._history.last else "-unasked"):
            with Vertical(id="head"):
                with Horizontal(id="query-line"):
                    yield Static("/", id="slash")
                    yield Input(
                        self._history.last,
                        placeholder="search everything",
                        compact=True,
                        select_on_focus=True,
                        suggester=self._suggester,
                        id="query",
                    )
                with Horizontal(id="count-line"):
                    yield Static(id="count")
                    yield Static(id="views")
            with Horizontal(id="found"):
                yield ResultList(self._zone)
                yield Preview()
            yield Static(describe_syntax(), id="how")
            yield Static("", id="note", markup=False)

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self._show_view()
        # Opens the index while the first letters are typed.
        warm_up = partial(self._finders[self.view], "memtui ")
        self.execute(warm_up, lambda _: None, "warm-up")
        self.execute(browse.list_scopes, self._complete_with, "known")

    def on_resize(self) -> None:
        self.set_class(self.size.width >= preview.LEAST_WIDTH, "-with-preview")

    @on(OptionList.OptionHighlighted)
    def show_preview(self) -> None:
        read: Callable[[], Previewed] = Previewed
        if (hit := self._selected or self._linked) is not None:
            read = partial(preview.read_hit, hit, self._zone, self._now())
        self.query_one(Preview).request(read)

    def _complete_with(self, parts: ScopeChoices) -> None:
        """Complete known names in filters; say so if the store is empty."""
        self._suggester.set_parts(parts)
        if not parts.agents:
            self.query_one("#how", Static).update(EMPTY)

    def _show_view(self) -> None:
        names = [
            Content.styled(f"[{view}]", "bold $accent")
            if view is self.view
            else Content.styled(view, "$context")
            for view in self._views
        ]
        text = Content("  ").join(names) if len(names) > 1 else Content("")
        self.query_one("#views", Static).update(text)
        self.refresh_bindings()

    def _show_count(self, text: str) -> None:
        self.query_one("#count", Static).update(Content(text))

    @property
    def _text(self) -> str:
        return self.query_one(Input).value

    def _set_text(self, text: str) -> None:
        line = self.query_one(Input)
        line.value = text
        line.cursor_position = len(text)

    # Searching

    @on(Input.Changed)
    def wait(self) -> None:
        self._opens_first = False
        if self._query_of_view not in (None, self._text):
            self._query_of_view = None
            self._history.view = self.view = self._views[0]
            self._show_view()
        self._stop_pause()
        self._pause = self.set_timer(PAUSE_S, self._search)

    def _stop_pause(self) -> None:
        if self._pause is not None:
            self._pause.stop()
            self._pause = None

    def _search(self) -> None:
        """Search what is typed; a running search does so when it ends."""
        self._stop_pause()
        if not self._text.strip():
            self._show(Hits(), [])
        elif self._searching is None:
            view, query = searching = self._searching = self.view, self._text
            find, show = self._finders[view], partial(self.show_result, view, query)
            slow = partial(self._show_slow, searching)
            self.load(lambda: find(query), show, SEARCH, slow, exclusive=False)

    def _show_slow(self, searching: tuple[SearchView, str]) -> None:
        if self._searching is searching:
            self._show_count("searching…")

    def show_result(self, view: SearchView, query: str, hits: Hits) -> None:
        if self._is_current(view, query):
            notes = compose_notes(hits, query, view, self._zone)
            self._show(hits, notes)
            if view in (SearchView.ALL, SearchView.MESSAGES) and not hits.is_recent:
                search_tools = partial(self._search_tools, hits, notes)
                self.set_timer(TOOLS_PAUSE_S, search_tools)

    def _search_tools(self, hits: Hits, notes: list[str]) -> None:
        """Count what the output of tools has, unless other hits are shown by now."""
        if self.hits is hits and (find := self._finders.get(SearchView.TOOLS)):
            show = partial(self._show_link, hits, notes)
            self.load(partial(find, hits.query), show, TOOLS)

    def _show_link(self, hits: Hits, notes: list[str], in_tools: Hits) -> None:
        listed = {hit.event_id for hit in hits.hits}
        others = [hit for hit in in_tools.hits if hit.event_id not in listed]
        count = in_tools.total - len(in_tools.hits) + len(others)
        if self.hits is hits and count > 0:
            self._linked = next(iter(others), None)
            more = "more " if hits.hits else ""
            text = f"{count} {more}in tool output"
            if hits.hits:
                self._show_notes([*notes, f"{text} (↑ enter)."])
            else:  # The first note says that nothing was found.
                self._show_notes([ONLY_IN_TOOLS, *notes[1:]])
            self._list.add_link(text)
            self.query_one("#search").add_class("-found")

    def _is_current(self, view: SearchView, query: str) -> bool:
        """Return True if a result belongs to the input; if not, search the input."""
        if (view, query) == self._searching:
            self._searching = None
        if (view, query) == (self.view, self._text):
            return True
        if self._searching is None and self._pause is None:
            self._search()
        return False

    def _show(self, hits: Hits, notes: list[str]) -> None:
        self.hits, self._linked = hits, None
        self._list.show(hits, self._now())
        is_unasked = not self._text.strip()
        bar = self.query_one("#search")
        bar.set_class(bool(hits.hits), "-found").set_class(is_unasked, "-unasked")
        count = f"{plural(len(hits.hits), 'hit')} · {hits.took_ms:.0f} ms"
        self._show_count("" if is_unasked else count)
        self._show_notes(notes)
        if hits.is_incomplete:
            self.set_timer(RETRY_S, partial(self._search_again, hits))
        if self._opens_first:
            self._opens_first = False
            self._open(0)

    def _search_again(self, hits: Hits) -> None:
        """Search once more, unless the hits have been used or replaced since."""
        if self.hits is hits and not self.is_waiting and not self._list.highlighted:
            self._search()

    def _show_notes(self, sentences: list[str]) -> None:
        note = self.query_one("#note", Static)
        note.update(Content("\n".join(map(format.to_line, sentences))))
        note.display = bool(sentences)

    def show_error(self, error: BaseException, group: str) -> None:
        reason = format.error_text(error)
        if group == SEARCH and self._searching is not None:
            if self._is_current(*self._searching):
                text = f"The search failed: {reason}. Press esc for the contents."
                self._show(Hits(), [text])
                self._show_count("")
                self.set_timer(RETRY_S, partial(self._search_again, self.hits))
        elif group == OPEN:
            self._show_notes([f"This could not be opened: {reason}"])
        elif group == SESSION:
            super().show_error(error, group)

    # Views, history and suggestions

    def action_switch_view(self, step: int) -> None:
        place = self._views.index(self.view) + step
        self._query_of_view = None
        self._history.view = self._views[place % len(self._views)]
        self._switch_to(self._history.view)

    def _switch_to(self, view: SearchView) -> None:
        self.view = view
        self._opens_first = False
        self._show_view()
        self._search()

    def action_toggle_one_each(self) -> None:
        if self.view is not SearchView.MESSAGES:
            self._show_notes([ONLY_IN_MESSAGES])
            return
        self._history.one_per_session = not self._history.one_per_session
        self._searching = None  # The result of a running search would be the old one.
        self._show_view()
        self._search()

    def action_recall(self, step: int) -> None:
        self._set_text(self._history.step(step, self._text))

    def action_use_suggestion(self) -> None:
        if self.hits.suggestion:
            self._set_text(self.hits.suggestion)

    # Opening a hit

    def action_choose(self, step: int) -> None:
        self._list.move(step)

    def action_page(self, step: int) -> None:
        self._list.move_page(step)

    @on(Input.Submitted)
    def open_highlighted(self, event: Input.Submitted) -> None:
        """Open the highlighted hit, or the first one as soon as it is found."""
        event.stop()
        if self.is_waiting:
            self._opens_first = True
        else:
            self._open(self._list.highlighted or 0)

    @on(OptionList.OptionSelected)
    def open_clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._open(event.option_index)

    def _open(self, place: int) -> None:
        if place >= len(self.hits.hits):
            if self._list.option_count:
                self._query_of_view = self._text
                self._switch_to(SearchView.TOOLS)
            return
        hit = self.hits.hits[place]
        target = jump_target(hit)
        if target.node_id:
            self.action_leave(target)
            return
        find = partial(
            browse.find_session_node, target.agent, target.session_id, hit.at
        )
        self.load(find, partial(self._leave_to, target), OPEN)

    @property
    def _selected(self) -> Hit | None:
        place = self._list.highlighted or 0
        return self.hits.hits[place] if place < len(self.hits.hits) else None

    @property
    def selected_session(self) -> ConversationKey | None:
        hit = self._selected
        return ConversationKey(*hit.session_key) if hit and hit.session else None

    @property
    def page_id(self) -> str:
        hit = self._selected
        return super().page_id or (hit.node_id if hit else "")

    @property
    def source_id(self) -> str:
        hit = self._selected
        if hit is None or hit.kind is HitKind.NODE:
            return ""
        return f"evt:{hit.event_id}" if hit.event_id else hit.grip_id

    def show_renamed(self) -> None:
        self._search()

    def action_copy(self) -> None:
        """Copy what was found, with its source."""
        if (hit := self._selected) is None:
            return
        quote = hit.event.text if hit.kind is HitKind.MESSAGE and hit.event else ""
        source_id = hit.event_id if quote else hit.target_id
        quote = quote or hit.snippet.text
        self.copy(quotation(quote, hit.session, hit.at, source_id, self.zone))

    def _leave_to(self, target: JumpTarget, node_id: str) -> None:
        """Go to the node of a hit, or say that the contents do not have it yet."""
        if node_id:
            self.action_leave(replace(target, node_id=node_id))
        else:
            self._show_notes([NOT_IN_CONTENTS_YET])

    def action_leave(self, target: JumpTarget | None = None) -> None:
        self._history.add(self._text)
        self.dismiss(target)
