"""The contents: the tree, the page of the selected node, and the source of a bullet.

From 100 columns on all three panes are visible; on a narrower screen one at a time.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events, getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Static

from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.filters import Scope
from memtui.model.nodes import BulletKind, DaySession, TocEntry
from memtui.model.quantities import plural
from memtui.services import versions
from memtui.services.conversation import ConversationKey
from memtui.tui import commands, format, messages
from memtui.tui.screens.base import HEIGHTS, LAYOUTS, NO_CONVERSATIONS, BaseScreen
from memtui.tui.screens.session_actions import ACTIONS, SessionActions
from memtui.tui.widgets.node_page import NodePage
from memtui.tui.widgets.panes import Breadcrumbs, DetailPane, PaneTitle
from memtui.tui.widgets.source_pane import JumpTarget, SourcePane
from memtui.tui.widgets.status_line import StatusLine
from memtui.tui.widgets.toc_tree import TocTree

if TYPE_CHECKING:
    from memtui.pipeline.progress import PipelineProgress
    from memtui.tui.screens.search import SearchHistory

HISTORY_SIZE = 50

PANES = ("tree", "page", "source")
"""The ids of the panes; the one with the focus sets the class ``-at-…``."""

IMPORTING = "The first conversations will appear in a moment."

NO_MATCH = (
    "Nothing here matches the filter: {}.\n\nPress F to change it, F F to show all."
)


NO_VERSIONS = (
    "This session has {} segments here, each with versions of its own:"
    " expand it (→) and select one."
)


class ContentsScreen(SessionActions[None], BaseScreen[None]):
    """Connects the three panes, each of which loads what it shows."""

    STYLES = ("contents", "node_page", "source_pane", "toc_tree")
    HORIZONTAL_BREAKPOINTS = LAYOUTS
    VERTICAL_BREAKPOINTS = HEIGHTS
    FILTERS_BY_SCOPE = SHOWS_MARKS = HAS_JUMP_BACK = True
    RELOAD_INTERVAL_S = 0.5
    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "search", "go_to_date", "next_pane", "previous_pane",
        "next_source", "previous_source", "more_context", "less_context",
        "show_withheld", "show_versions", "regenerate", "zoom", *ACTIONS,
        back="Go back a pane: from a source to its page, from a page to the contents.",
        older_sibling="Go to the older sibling of this node.",
        newer_sibling="Go to the newer sibling of this node.",
        copy="Copy the quote and its source, or the name of the session.",
    )  # fmt: skip

    _tree = getters.query_one(TocTree)
    _page = getters.query_one(NodePage)
    _source = getters.query_one(SourcePane)

    def __init__(self, scope: Scope, size: Size) -> None:
        # With the classes of its size from the start, it is laid out but once.
        layout = max(layout for layout in LAYOUTS if layout[0] <= size.width)[1]
        height = max(height for height in HEIGHTS if height[0] <= size.height)[1]
        super().__init__(classes=f"-at-tree {layout} {height}")
        self._scope = scope
        self._pane = "tree"
        # The locations that were left by a jump, the latest last.
        self.jumps = deque[JumpTarget](maxlen=HISTORY_SIZE)
        self._search_history: SearchHistory | None = None
        # The message to show once the page of its node is loaded.
        self._found: JumpTarget | None = None
        self._progress: PipelineProgress | None = None
        self._changed: set[str] = set()

    def compose_body(self) -> ComposeResult:
        yield Breadcrumbs()
        with Container(id="panes"):
            with Vertical(id="contents"):
                yield PaneTitle("Contents")
                yield TocTree(id="tree")
                yield Static(NO_CONVERSATIONS, id="nothing", markup=False)
            with Container(id="reading"):
                yield NodePage(self._leave_source, id="page")
                yield SourcePane(id="source")

    def on_mount(self) -> None:
        self.show_scope(self._scope)
        self._tree.focus()

    # Panes

    def _focus_pane(self, pane: str) -> None:
        self._mark_pane(pane)
        target: Widget = self._tree
        if pane == "page":
            target = self._page.bullets
        elif pane == "source":
            target = self.query_one(DetailPane)
        target.focus()

    def _mark_pane(self, pane: str) -> None:
        self._pane = pane
        if pane != "source":
            self._source.release_target()
        if pane != "tree":
            self._tree.stop_following()
        for name in PANES:
            self.set_class(name == pane, f"-at-{name}")
        self._update_crumbs()

    def _update_crumbs(self) -> None:
        further = ("Source",) if self._pane == "source" else ()
        self.query_one(Breadcrumbs).show(self._tree.current, self.zone, *further)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Follow the focus, whether a click or a key has moved it."""
        if event.widget is not self.focused:
            return  # The focus has moved on since.
        for pane in PANES:
            if any(above.id == pane for above in event.widget.ancestors_with_self):
                self._mark_pane(pane)

    @on(messages.NodeSelected)
    def focus_page(self) -> None:
        self._focus_pane("page")

    @on(messages.SourceSelected)
    def focus_source(self) -> None:
        self._focus_pane("source")

    @on(messages.LeavePane)
    def action_back(self) -> None:
        place = PANES.index(self._pane)
        if place:
            self._focus_pane(PANES[place - 1])

    def action_next_pane(self) -> None:
        self._focus_pane(PANES[(PANES.index(self._pane) + 1) % len(PANES)])

    def action_previous_pane(self) -> None:
        self._focus_pane(PANES[PANES.index(self._pane) - 1])

    def action_zoom(self) -> None:
        if self.has_class("-narrow"):
            self.notify("This pane fills the screen already.")
        else:
            self.toggle_class("-zoomed")

    # From node to source

    @on(messages.NodeHighlighted)
    def show_node(self) -> None:
        self._mark_pane(self._pane)
        self.call_after_refresh(self._open_current)

    def _open_current(self) -> None:
        """Open the page of the current line, once the tree is drawn."""
        if line := self._tree.current:
            self._page.open(line)

    def _leave_source(self) -> None:
        self._source.show_nothing()

    @on(messages.NodeLoaded)
    def show_found_or_nothing(self) -> None:
        """Show the message that was jumped to, or no source without bullets."""
        node, target = self._page.node, self._found
        if target is not None and (node is None or node.node_id == target.node_id):
            self._found = None
            self._source.show_target(target)
        elif node is None or not node.bullets:
            self._source.clear()

    @on(messages.SourceRequested)
    def show_source(self, message: messages.SourceRequested) -> None:
        if message.node_id in ("", self._page.bullets.node_id):
            self._source.request(message)

    def action_next_source(self) -> None:
        """Show the next source; if the source pane was hidden, only show that."""
        if self._show_hidden_source():
            return
        if self._source.release_target() and self._page.bullets.request_source():
            return
        if not self._page.bullets.step_grip(1):
            self.notify("This is the last source of this page.")

    def action_previous_source(self) -> None:
        if self._show_hidden_source():
            return
        self._source.release_target()
        if not self._page.bullets.step_grip(-1):
            self.notify("This is the first source of this page.")

    def _show_hidden_source(self) -> bool:
        """Show the source pane; return whether it was hidden."""
        is_hidden = bool(self._page.bullets.bullets) and not self._source.region
        if is_hidden:
            self._focus_pane("source")
        return is_hidden

    def action_more_context(self) -> None:
        self._show_hidden_source()
        self._source.change_context(more=True)

    def action_less_context(self) -> None:
        self._show_hidden_source()
        self._source.change_context(more=False)

    def action_show_withheld(self) -> None:
        if self._page.bullets.toggle_withheld() and not self._page.region:
            self._focus_pane("page")

    def action_copy(self) -> None:
        if (session := self._tree.session) is not None and self._pane == "tree":
            self.copy_session(session.session)
        elif citation := self._source.citation():
            self.copy(citation)
        else:
            self.notify("There is no source to copy.")

    # The selected session

    @property
    def selected_session(self) -> ConversationKey | None:
        row = self._tree.session
        if row is None:
            return None
        return ConversationKey(row.session.agent, row.session.session_id)

    @property
    def page_id(self) -> str:
        row = self._tree.current
        return row.node_id if isinstance(row, TocEntry) else super().page_id

    @property
    def source_id(self) -> str:
        target = self._source.shown_target
        if self._pane == "source" and target and target.event_id:
            return f"evt:{target.event_id}"
        return "" if self._pane == "tree" else self._page.bullets.grip_id

    @property
    def report_scope(self) -> Scope:
        """The scope; only the project if a line about one is selected on the page."""
        bullet = self._page.bullets.bullet if self._pane == "page" else None
        if bullet is None or bullet.kind is not BulletKind.PROJECT:
            return self._scope
        return replace(self._scope, project=bullet.project)

    def show_renamed(self) -> None:
        self._show_change()

    def _show_change(self) -> None:
        """Read the selected row again, and those above it."""
        if (session := self._tree.session) is not None:
            ids = [segment.node_id for segment in session.segments]
        else:
            ids = [self._tree.current.node_id] if self._tree.current else []
        self._changed |= {name for node_id in ids for name in calendar.path(node_id)}
        self.request_reload()

    # Jumps

    def go_to(
        self, node_id: str, session: messages.SessionRequested | None = None
    ) -> None:
        """Jump to a node, from a session that was open until now if one is given."""
        self._jump(JumpTarget(node_id), session)

    def return_to(self, location: JumpTarget) -> None:
        self._reveal(location, partial(self._arrive, location))

    def _reveal(self, target: JumpTarget, then: Callable[[], object]) -> None:
        # A source is on the page of the whole week.
        self._tree.reveal(target.node_id, then, is_whole=bool(target.grip_id))

    @property
    def location(self) -> JumpTarget | None:
        """The current location; None if the contents are empty."""
        line = self._tree.current
        if line is None:
            return None
        target = JumpTarget(line.node_id, self._page.bullets.grip_id)
        target = self._source.shown_target or target
        return replace(target, node_id=line.node_id, pane=self._pane)

    @property
    def day(self) -> date | None:
        """The day of the selected node, if it is a day or a segment."""
        line = self._tree.current
        if isinstance(line, DaySession):
            return calendar.period(line.day_id).first
        if line is None or line.level not in (TocLevel.DAY, TocLevel.SEGMENT):
            return None
        return calendar.period(line.node_id).first

    def _jump(
        self, destination: JumpTarget, session: messages.SessionRequested | None = None
    ) -> None:
        here = self.location
        origin = replace(here, session=session) if here else None
        self._reveal(destination, partial(self._arrive, destination, origin))

    def _arrive(self, target: JumpTarget, origin: JumpTarget | None = None) -> None:
        """Show the target of a jump, and remember where the jump began."""
        if origin is not None:
            self.jumps.append(origin)
        self._source.release_target()
        if (line := self._tree.current) is not None:
            self._page.open(line, target.grip_id, target.bullet)
        self._found = target if target.event_id else None
        if target.event_id:
            self._focus_pane("source")
            if self._page.is_shown:
                self.show_found_or_nothing()
        elif target.grip_id:
            self._focus_pane("source")
        elif self._pane == "source":
            self._focus_pane("page")
        if target.pane:
            self._focus_pane(target.pane)

    def action_older_sibling(self) -> None:
        self._tree.seek_sibling(1, self._arrive_at_sibling)

    def action_newer_sibling(self) -> None:
        self._tree.seek_sibling(-1, self._arrive_at_sibling)

    def _arrive_at_sibling(self) -> None:
        self._arrive(JumpTarget(""))

    def action_search(self) -> None:
        from memtui.tui.screens.search import SearchHistory, SearchScreen, make_finders

        if self._search_history is None:
            self._search_history = SearchHistory()
        history = self._search_history
        finders = make_finders(self.workspace, history, self._scope)
        screen = SearchScreen(finders, self.zone, self.now, history)
        screen.set_class(self.has_class("-zoomed"), "-over-one")
        self.memtui.ask(screen, self._jump)

    def action_go_to_date(self) -> None:
        from memtui.tui.screens.dialogs import DateScreen

        self.memtui.ask(DateScreen(), self.go_to)

    def action_show_versions(self) -> None:
        from memtui.tui.screens.versions import VersionsScreen

        line = self._tree.current
        if line is None:
            self.notify("Select a line of the contents first.")
            return
        if isinstance(line, DaySession):
            self.notify(NO_VERSIONS.format(len(line.segments)))
            return

        self.memtui.show_screen(VersionsScreen(line), lambda _: self._show_change())

    def action_regenerate(self) -> None:
        """Request a new version of the selected node, or of each part of a session."""
        row, session = self._tree.current, self._tree.session
        if row is None:
            self.notify("Select a line of the contents first.")
            return
        ids = [row.node_id]
        if isinstance(row, DaySession) and session is not None:
            ids = [segment.node_id for segment in session.segments]
        forecast = self.memtui.rewrite_forecast().message

        def request() -> str:
            for node_id in ids:
                versions.request(node_id, self.now())
            return f"A new version is requested. {forecast}"

        self.execute(request, self.notify, "regenerate")

    # The scope

    def show_scope(self, scope: Scope) -> None:
        self._scope = scope
        self._tree.set_scope(scope)
        self._page.set_scope(scope)
        self._update_empty_text()

    # Live changes

    def show_progress(self, message: messages.ProgressReported) -> None:
        self._progress = message.progress
        self._update_empty_text()
        self._changed |= message.progress.changed
        if self._changed:
            self.request_reload()

    def reload(self) -> None:
        changed, self._changed = self._changed, set()
        self._tree.refresh_nodes(changed)
        self._page.refresh_nodes(changed)

    def _update_empty_text(self) -> None:
        progress, text = self._progress, NO_CONVERSATIONS
        if self._scope.is_narrow:
            text = NO_MATCH.format(format.scope_text(self._scope))
        elif progress and (progress.queued or progress.done < progress.total):
            text = IMPORTING
        self.query_one("#nothing", Static).update(Content(text))

    @on(messages.LoadFailed)
    def show_unreadable(self) -> None:
        self.query_one(StatusLine).can_read = False

    @on(messages.TocLoaded)
    @on(messages.NodeLoaded)
    def show_readable(self) -> None:
        self.query_one(StatusLine).can_read = True

    @on(messages.TocLoaded)
    def show_size(self) -> None:
        """Show how many sessions there are, or that the contents are empty."""
        total = self._tree.session_count
        is_empty = not self._tree.root.children
        pane = self.query_one("#contents", Vertical)
        was_empty = pane.has_class("-empty")
        pane.set_class(is_empty, "-empty")
        if is_empty:
            self._page.close()
            self._source.clear()
        elif was_empty:
            self._focus_pane("tree")
        # A filter may have put another line under the cursor.
        self.call_after_refresh(self._open_current)
        self._update_crumbs()
        self.query_one("#contents PaneTitle", PaneTitle).info = (
            plural(total, "session") if total else ""
        )
