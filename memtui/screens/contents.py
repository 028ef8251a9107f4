"""The contents: the tree, the page of the node pointed at, and the source of a bullet.

From 100 columns on all three are in sight; on less, one at a time.
"""

from collections.abc import Callable, Mapping
from datetime import date, datetime, tzinfo
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import Static

from memtui import commands
from memtui.memory import calendar
from memtui.memory.scopes import ALL, Scope
from memtui.memory.summarizers import Promise
from memtui.memory.toc import TocLevel
from memtui.memory.tokens import estimate
from memtui.messages.contents import (
    BranchesRead,
    NodePointedAt,
    PageRead,
)
from memtui.messages.house import WorkReported
from memtui.messages.narrowing import Narrowed
from memtui.messages.page import NodeRead, SourceWanted
from memtui.screens.asked import Asked
from memtui.screens.jumping import JumpingScreen
from memtui.screens.jumps import Spot
from memtui.screens.layouts import HEIGHTS, LAYOUTS
from memtui.screens.teleport import TeleportScreen
from memtui.widgets import wording
from memtui.widgets.crumbs import Crumbs
from memtui.widgets.found_lines import Finder, Landing, View
from memtui.widgets.key_line import KeyLine
from memtui.widgets.node_page import NodePage
from memtui.widgets.pane_title import PaneTitle
from memtui.widgets.source_pane import SourcePane
from memtui.widgets.status_line import StatusLine
from memtui.widgets.toc_tree import TocTree

NOTHING_KEPT = (
    "Nothing kept yet.\n\nPress i to import what agents keep on this machine."
)

COMING = "The first lines come in a moment."

NOTHING_OF = (
    "Nothing here is of {}.\n\nPress F to choose something else, F F to show all."
)
"""What stands in the place of the tree where the filter leaves nothing."""


class ContentsScreen(JumpingScreen):
    """Ties the three panes together; each of them reads for itself."""

    HORIZONTAL_BREAKPOINTS = LAYOUTS
    OBEYS_SCOPE = SHOWS_MARKS = LEADS_BACK = True
    REST_S = 0.5
    VERTICAL_BREAKPOINTS = HEIGHTS
    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "teleport", "go_to_date", "next_pane", "previous_pane",
        "next_grip", "previous_grip", "more_context", "less_context",
        "show_withheld", "see_versions", "full_screen",
        back="Go back a pane: from a source to its page, from a page to the contents.",
        next_peer="Go to the next node of this level, further back in time.",
        previous_peer="Go to the node of this level before, nearer to today.",
        copy_citation="Copy the quote, and where it stands, to the clipboard.",
    )  # fmt: skip

    def __init__(
        self,
        finders: Mapping[View, Finder],
        zone: tzinfo,
        now: Callable[[], datetime],
        promise: Callable[[], Promise],
        *,
        asked: Asked | None = None,
        of: Scope = ALL,
        count: Callable[[str], int] = estimate,
        is_demo: bool = False,
    ) -> None:
        super().__init__(zone, now)
        self._of, self._count = of, count
        self._finders = finders
        self._promise, self._is_demo = promise, is_demo
        self._last: WorkReported | None = None
        self._asked = asked or Asked()
        self._changed: set[str] = set()

    def compose(self) -> ComposeResult:
        """Lay the panes out; they fill themselves."""
        yield StatusLine(is_demo=self._is_demo)
        yield Crumbs()
        with Container(id="panes"):
            with Vertical(id="contents"):
                yield PaneTitle("Contents")
                yield TocTree(self._zone, id="tree")
                yield Static(NOTHING_KEPT, id="nothing", markup=False)
            with Container(id="reading"):
                yield NodePage(self._zone, self._now, self._count, id="page")
                yield SourcePane(self._zone, self._now, id="source")
        yield KeyLine("see_sessions", "see_days", "see_jobs")

    def on_mount(self) -> None:
        """Start in the tree."""
        self._narrow(self._of)
        self._tree.focus()

    # From node to source

    @on(NodePointedAt)
    def read_node(self, message: NodePointedAt) -> None:
        """Show the page of the node pointed at."""
        self._page.open(message.line.node_id)
        self._be_at(self._at)

    @on(NodeRead)
    def clear_source(self) -> None:
        """Show no source beside a page that has no bullets."""
        if self._page.node is None or not self._page.node.bullets:
            self._source.clear()

    @on(SourceWanted)
    def read_source(self, message: SourceWanted) -> None:
        """Show the source of the bullet pointed at."""
        self._source.want(message)

    def action_next_grip(self) -> None:
        """Show the next source; first the one there is, where that was out of sight."""
        if self._was_hidden():
            return
        if self._source.let_go() and self._page.bullets.show_again():
            return
        if not self._page.bullets.step(1):
            self.notify("This is the last source of this page.", markup=False)

    def action_previous_grip(self) -> None:
        """Show the source before; first the one there is, likewise."""
        if self._was_hidden():
            return
        self._source.let_go()
        if not self._page.bullets.step(-1):
            self.notify("This is the first source of this page.", markup=False)

    def _was_hidden(self) -> bool:
        """Whether the source was out of sight, where it is in sight now."""
        is_hidden = bool(self._page.bullets.bullets) and not self._source.region
        if is_hidden:
            self._enter("source")
        return is_hidden

    def action_more_context(self) -> None:
        """Show more around the source."""
        self._was_hidden()
        self._source.change_context(more=True)

    def action_less_context(self) -> None:
        """Show less around the source."""
        self._was_hidden()
        self._source.change_context(more=False)

    def action_show_withheld(self) -> None:
        """Show what a model claimed and no source says, or hide it."""
        if self._page.bullets.turn_withheld() and not self._page.region:
            self._enter("page")

    def action_copy_citation(self) -> None:
        """Copy the source shown, as a citation."""
        citation = self._source.citation()
        if not citation:
            self.notify("There is no source here to cite.", markup=False)
            return
        self.app.copy_to_clipboard(citation)
        self.notify(wording.glimpse(citation), title="Copied", markup=False)

    # To other nodes

    def action_next_peer(self) -> None:
        """Go down the list to the next node of this level."""
        self._tree.seek_peer(1)

    def action_previous_peer(self) -> None:
        """Go up the list to the node of this level before."""
        self._tree.seek_peer(-1)

    def action_teleport(self) -> None:
        """Find a moment by words; escape leaves everything as it is."""

        def arrive(landing: Landing | None) -> None:
            if landing is not None:
                self._jump(Spot(landing))

        screen = TeleportScreen(self._finders, self._zone, self._now, self._asked)
        screen.set_class(self.has_class("-zoomed"), "-over-one")
        self.app.push_screen(screen, arrive)

    @property
    def day(self) -> date | None:
        """The day the cursor is on or in, if it is in one."""
        line = self._tree.pointed_at
        if line is None or line.level not in (TocLevel.DAY, TocLevel.SEGMENT):
            return None
        return calendar.period(line.node_id).first

    def action_go_to_date(self) -> None:
        """Ask for a date and go there."""
        from memtui.screens.date import DateScreen  # noqa: PLC0415 - 15 ms

        def arrive(node_id: str | None) -> None:
            if node_id:
                self.go_to(node_id)

        self.app.push_screen(DateScreen(self._now().astimezone(self._zone)), arrive)

    def action_see_versions(self) -> None:
        """Show the versions of the node pointed at; one may be chosen there."""
        from memtui.screens.versions import VersionsScreen  # noqa: PLC0415 - 8 ms

        line = self._tree.pointed_at
        if line is None:
            self.notify("Choose a line of the contents first.", markup=False)
            return

        def arrive(is_changed: bool | None) -> None:
            if is_changed:
                self._changed |= {*calendar.path(line.node_id)}
                self.look_again()

        wish = {"is_demo": self._is_demo}
        screen = VersionsScreen(line, self._zone, self._now, self._promise, **wish)
        self.app.push_screen(screen, arrive)
        if self._last is not None:
            screen.post_message(WorkReported(self._last.progress))

    # What part of the memory is shown

    @on(Narrowed)
    def narrow(self, message: Narrowed) -> None:
        """Show another part of the memory."""
        self._narrow(message.scope)

    def _narrow(self, scope: Scope) -> None:
        self._of = scope
        self._tree.narrow(scope)
        self._page.narrow(scope)
        self.query_one(StatusLine).scope = scope
        self._say_why_empty()

    # What changes by itself

    @on(WorkReported)
    def follow_work(self, message: WorkReported) -> None:
        """Say what the workers do, and show what they have changed."""
        self._last, progress = message, message.progress
        self.query_one(StatusLine).say(progress)
        self._say_why_empty()
        self._changed |= progress.changed
        if self._changed:
            self.look_again()

    def _say_why_empty(self) -> None:
        """Say what would have to be, where the contents hold nothing."""
        progress = self._last.progress if self._last is not None else None
        words = NOTHING_KEPT
        if self._of.is_narrow:
            words = NOTHING_OF.format(self._of)
        elif progress and (progress.queued or progress.done < progress.total):
            words = COMING
        self.query_one("#nothing", Static).update(Content(words))

    def read_anew(self) -> None:
        """Show again what has changed."""
        changed, self._changed = self._changed, set()
        self._tree.look_again(changed)
        self._page.look_again(changed)

    @on(PageRead)
    @on(BranchesRead)
    def measure(self) -> None:
        """Say how much the contents hold, or that they hold nothing yet."""
        total = self._tree.segments
        is_empty = not self._tree.root.children
        was_empty = self.query_one("#contents", Vertical).has_class("-empty")
        self.query_one("#contents", Vertical).set_class(is_empty, "-empty")
        if is_empty:
            self._page.close()
            self._source.clear()
        elif was_empty:
            self._enter("tree")
        if line := self._tree.pointed_at:
            # A filter may have put another line where the cursor is.
            self._page.open(line.node_id)
        self._say_where()
        self.query_one("#contents PaneTitle", PaneTitle).measure = (
            wording.counted(total, "segment") if total else ""
        )
