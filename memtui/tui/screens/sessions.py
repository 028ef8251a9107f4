"""The list of sessions, which can be sorted and filtered by words."""

from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from memtui.model.scope import Scope
from memtui.services import sessions
from memtui.services.sessions import SessionQuery, SessionRange
from memtui.tui import commands, format, workers
from memtui.tui.messages import ProgressReported, ScopeChanged, SessionsRequested
from memtui.tui.screens.base import AGAIN, EMPTY, LAYOUTS, BaseScreen
from memtui.tui.widgets import session_list
from memtui.tui.widgets.find_line import FindInput
from memtui.tui.widgets.pane_title import PaneTitle
from memtui.tui.widgets.session_list import SESSIONS_PAGE, SessionList
from memtui.tui.widgets.status_line import StatusLine

PAGE_GROUP = "page "
"""The group of a load of one page; its offset follows."""

NO_MATCH = "No session matches {filter}.\n\nPress esc to show all sessions."


class SessionsScreen(BaseScreen[None]):
    """Loads the list page by page, as it is scrolled."""

    AUTO_FOCUS = ""
    HORIZONTAL_BREAKPOINTS = LAYOUTS
    FILTERS_BY_SCOPE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        *commands.bindings(
            "sort",
            in_footer=True,
            find_here="Filter the list by words.",
            back="Clear the filter, or leave the list.",
        ),
        *commands.bindings("next_pane", "previous_pane"),
    ]

    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self.listing = SessionQuery(of=scope)
        self._loading: SessionQuery | None = None

    def compose_body(self) -> ComposeResult:
        yield PaneTitle("Sessions")
        with Horizontal(id="finding"):
            yield Static("/", id="slash", markup=False)
            yield FindInput("title, project or agent")
        yield Static(id="columns", markup=False)
        yield SessionList(self.zone, self.now)
        yield Static(id="nothing", markup=False)

    @property
    def _list(self) -> SessionList:
        return self.query_one(SessionList)

    @property
    def _input(self) -> FindInput:
        return self.query_one(FindInput)

    def on_mount(self) -> None:
        self.query_one(StatusLine).scope = self.listing.of
        self._list.focus()
        self.reload()
        self._show_slow_load()

    def on_resize(self) -> None:
        """Show the headings of the columns that fit."""
        headings = session_list.column_headings(self.size.width - 1)
        self.query_one("#columns", Static).update(headings)

    # Loading

    def _show_slow_load(self) -> None:
        self._loading = listing = self.listing

        def show() -> None:
            if self._loading is listing:
                self.query_one(PaneTitle).info = workers.LOADING

        self.set_timer(workers.SLOW_S, show)

    def reload(self) -> None:
        """Load the list again, around the selected session."""
        session, place = self._list.current, self._list.cursor
        read = partial(
            sessions.list_around, self.listing, session, place, 2 * SESSIONS_PAGE
        )
        self.load(read, partial(self._show_reloaded, place), "list")

    def _show_reloaded(self, place: int, loaded: SessionRange) -> None:
        shift = 0 if loaded.selected is None else loaded.selected - place
        self._show(loaded, is_reload=True, shift=shift)

    @on(SessionsRequested)
    def load_page(self, message: SessionsRequested) -> None:
        offset, limit = message.offset, message.limit
        read = partial(sessions.list_range, self.listing, offset, limit)
        # A group of its own: pages do not supersede each other.
        self.load(read, self._show_page, f"{PAGE_GROUP}{offset}")

    def _show_page(self, loaded: SessionRange) -> None:
        if loaded.query == self.listing and loaded.total != self._list.total:
            # The list has changed since: these may be the wrong rows.
            self._list.request_again(loaded.offset)
            return
        self._show(loaded, is_reload=False)

    def _show(self, loaded: SessionRange, *, is_reload: bool, shift: int = 0) -> None:
        if loaded.query != self.listing:
            return
        self._loading = None
        self._list.show(loaded, is_reload=is_reload, shift=shift)
        measure = format.number(loaded.total)
        if loaded.total != loaded.stored:
            measure = f"{measure} of {format.number(loaded.stored)}"
        self.query_one(PaneTitle).show(f"Sessions, {loaded.query.order}", measure)
        if not loaded.total:
            self._show_text(Content(self._why_empty() if loaded.stored else EMPTY))
        self.set_class(not loaded.total, "-empty")

    def _why_empty(self) -> str:
        words, scope = self.listing.words, self.listing.of
        parts = [f"“{' '.join(words)}”"] if words else []
        parts += [format.scope_text(scope)] if scope.is_narrow else []
        return NO_MATCH.format(filter=" · ".join(parts))

    def _show_text(self, content: Content) -> None:
        self.query_one("#nothing", Static).update(content)
        self.set_class(True, "-empty")

    def show_error(self, error: BaseException, group: str) -> None:
        reason = format.error_text(error)
        if group.startswith(PAGE_GROUP):
            self._list.show_error(int(group.removeprefix(PAGE_GROUP)), reason)
            self.set_timer(self.RELOAD_INTERVAL_S, self._list.retry_failed)
            return
        self._loading = None
        self._list.mark_current()
        self.retry_reload()
        if self._list.sessions:
            self.query_one(PaneTitle).info = f"✗ not loaded: {reason}"
        else:
            text = f"✗ The sessions could not be read: {reason}"
            self._show_text(Content.styled(text, "$error") + f"\n\n{AGAIN}")

    # Sorting and filtering

    def action_sort(self) -> None:
        self._change_listing(replace(self.listing, order=self.listing.order.next))

    def action_find_here(self) -> None:
        self.set_class(True, "-finding")
        self._input.focus()

    @on(Input.Changed)
    def filter(self, event: Input.Changed) -> None:
        event.stop()
        self._filter_by_typed()

    def _filter_by_typed(self) -> None:
        words = tuple(self._input.value.split())
        if words != self.listing.words:
            self._change_listing(replace(self.listing, words=words))

    def action_keep_words(self) -> None:
        """Go from the input to the filtered list."""
        self._filter_by_typed()
        self.set_focus(self._list)

    @on(ScopeChanged)
    def change_scope(self, message: ScopeChanged) -> None:
        self.query_one(StatusLine).scope = message.scope
        self._change_listing(replace(self.listing, of=message.scope))

    def _change_listing(self, listing: SessionQuery) -> None:
        self.listing = listing
        self._list.reset()
        read = partial(sessions.list_around, listing, None, 0, 2 * SESSIONS_PAGE)
        self.load(read, partial(self._show_reloaded, 0), "list")
        self._show_slow_load()

    @on(ProgressReported)
    def follow_progress(self) -> None:
        self.request_reload()

    # Panes

    def action_next_pane(self) -> None:
        """Switch between the list and the input."""
        if self._list.has_focus:
            self.action_find_here()
        else:
            self._list.focus()

    def action_previous_pane(self) -> None:
        self.action_next_pane()

    def action_back(self) -> None:
        """Clear the filter, or leave."""
        if self.has_class("-finding"):
            self.set_class(False, "-finding")
            self._input.value = ""
            self.action_keep_words()
        else:
            self.dismiss(None)
