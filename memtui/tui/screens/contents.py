"""The contents: the tree, the page of the node pointed at, and the source of a bullet.

From 100 columns on all three are in sight; on less, one at a time.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, tzinfo
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from memtui.model import calendar
from memtui.model.model_state import Promise
from memtui.model.nodes import TocLevel
from memtui.model.scope import ALL, Scope
from memtui.text.tokens import estimate
from memtui.tui import commands, format
from memtui.tui.messages import (
    BranchesRead,
    Narrowed,
    NodeOpened,
    NodePointedAt,
    NodeRead,
    NotRead,
    PageRead,
    Revealed,
    SessionWanted,
    SourceOpened,
    SourceWanted,
    WentBack,
    WorkReported,
)
from memtui.tui.screens.base import HEIGHTS, LAYOUTS, Following
from memtui.tui.screens.search import SearchHistory, TeleportScreen
from memtui.tui.widgets.breadcrumbs import Crumbs
from memtui.tui.widgets.detail_pane import Reader
from memtui.tui.widgets.key_line import KeyLine
from memtui.tui.widgets.node_page import NodePage
from memtui.tui.widgets.pane_title import PaneTitle
from memtui.tui.widgets.results import Finder, Landing, View
from memtui.tui.widgets.source_pane import SourcePane
from memtui.tui.widgets.status_line import StatusLine
from memtui.tui.widgets.toc_tree import TocTree

MOST = 50
"""How many jumps are remembered."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in the contents, and in a session that lies over them."""

    landing: Landing
    """The node, and the source or the message that is shown of it."""
    pane: str = ""
    """Which pane has the focus; "" for the one that what is shown stands in."""
    session: SessionWanted | None = None
    """The session that is read, at the message the cursor is on."""


class Jumps:
    """The places the reader has jumped away from, the latest last."""

    def __init__(self) -> None:
        self._left: list[Spot] = []

    def note(self, spot: Spot) -> None:
        """Remember a place that was left."""
        self._left = [*self._left, spot][-MOST:]

    def back(self) -> Spot | None:
        """The place that was left last, which is forgotten; None if there is none."""
        return self._left.pop() if self._left else None


PANES = ("tree", "page", "source")
"""The panes from the outermost inward; one has the focus, and the class ``-at-…``."""


OUTERMOST = "This is the outermost pane; q quits, backspace takes a jump back."


class PanedScreen(Following[None]):
    """Goes from pane to pane, and says where that is."""

    def __init__(self, zone: tzinfo) -> None:
        super().__init__(classes="-at-tree")
        self._zone = zone
        self._at = "tree"

    @property
    def _tree(self) -> TocTree:
        return self.query_one(TocTree)

    @property
    def _page(self) -> NodePage:
        return self.query_one(NodePage)

    @property
    def _source(self) -> SourcePane:
        return self.query_one(SourcePane)

    # Whether the memory can be read

    @on(NotRead)
    def say_not_read(self) -> None:
        """Say at the top that it cannot."""
        self.query_one(StatusLine).is_read = False

    @on(PageRead)
    @on(BranchesRead)
    @on(NodeRead)
    def say_read(self) -> None:
        """Say what is done behind, again."""
        self.query_one(StatusLine).is_read = True

    # From pane to pane

    def _enter(self, pane: str) -> None:
        self._be_at(pane)
        target: Widget = self._tree
        if pane == "page":
            target = self._page.bullets
        elif pane == "source":
            target = self.query_one(Reader)
        target.focus()

    def _be_at(self, pane: str) -> None:
        self._at = pane
        if pane != "source":
            self._source.let_go()
        for name in PANES:
            self.set_class(name == pane, f"-at-{name}")
        self._say_where()

    def _say_where(self) -> None:
        further = {"source": ("Source",)}.get(self._at, ())
        self.query_one(Crumbs).show(self._tree.pointed_at, self._zone, *further)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Follow the focus, wherever a click or a key has put it."""
        if event.widget is not self.focused:
            return  # The focus has moved on since this was said.
        for pane in PANES:
            if any(above.id == pane for above in event.widget.ancestors_with_self):
                self._be_at(pane)

    @on(NodeOpened)
    def enter_page(self) -> None:
        """Go to the page of the node."""
        self._enter("page")

    @on(SourceOpened)
    def enter_source(self) -> None:
        """Go to the source."""
        self._enter("source")

    @on(WentBack)
    def action_back(self) -> None:
        """Go one pane outward."""
        place = PANES.index(self._at)
        if place:
            self._enter(PANES[place - 1])
        else:
            self.notify(OUTERMOST, markup=False)

    def action_next_pane(self) -> None:
        """Go one pane inward, and from the last to the first."""
        self._enter(PANES[(PANES.index(self._at) + 1) % len(PANES)])

    def action_previous_pane(self) -> None:
        """Go one pane outward, and from the first to the last."""
        self._enter(PANES[PANES.index(self._at) - 1])

    def action_full_screen(self) -> None:
        """Give the screen to the pane that has the focus, or put all panes back."""
        if self.has_class("-narrow"):
            self.notify("This pane has the whole screen already.", markup=False)
        else:
            self.toggle_class("-zoomed")


class JumpingScreen(PanedScreen):
    """Goes to a node wherever it is, and remembers where the reader was."""

    def __init__(self, zone: tzinfo, now: Callable[[], datetime]) -> None:
        super().__init__(zone)
        self._now = now
        self.jumps = Jumps()
        self._ahead: Spot | None = None
        self._left: Spot | None = None

    def go_to(self, node_id: str, session: SessionWanted | None = None) -> None:
        """Go to a node, from wherever the cursor is.

        Args:
            node_id: Which.
            session: The session that was read until now, at its message.
        """
        self._jump(Spot(Landing(node_id, self._now())), session)

    @property
    def spot(self) -> Spot | None:
        """Where the reader is; None where nothing is kept."""
        line = self._tree.pointed_at
        if line is None:
            return None
        grip_id = self._page.bullets.grip_id
        shown = self._source.found or Landing(line.node_id, self._now(), grip_id)
        return Spot(replace(shown, node_id=line.node_id), self._at)

    def _jump(self, spot: Spot, session: SessionWanted | None = None) -> None:
        """Go somewhere; once there, where the reader was is remembered."""
        here = self.spot
        self._left = replace(here, session=session) if here else None
        self._ahead = spot
        self._tree.reveal(spot.landing.node_id)

    def return_to(self, spot: Spot) -> None:
        """Go back to where the reader was."""
        self._ahead, self._left = spot, None
        self._tree.reveal(spot.landing.node_id)

    @on(Revealed)
    def arrive(self, message: Revealed) -> None:
        """Show what was gone to: the node in the tree, a source, or a message."""
        spot, self._ahead = self._ahead, None
        if spot is None or spot.landing.node_id != message.node_id:
            spot, self._left = Spot(Landing(message.node_id, self._now())), None
        if self._left is not None:
            self.jumps.note(self._left)
        landing, self._left = spot.landing, None
        self._source.let_go()
        self._page.open(message.node_id, landing.grip_id)
        if landing.event_id:
            self._enter("source")
            self._source.want_message(landing)
        elif landing.grip_id:
            self._enter("source")
        elif self._at == "source":
            self._enter("page")
        if spot.pane:
            self._enter(spot.pane)


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
        asked: SearchHistory | None = None,
        of: Scope = ALL,
        count: Callable[[str], int] = estimate,
        is_demo: bool = False,
    ) -> None:
        super().__init__(zone, now)
        self._of, self._count = of, count
        self._finders = finders
        self._promise, self._is_demo = promise, is_demo
        self._last: WorkReported | None = None
        self._asked = asked or SearchHistory()
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
        self.notify(format.glimpse(citation), title="Copied", markup=False)

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
        from memtui.tui.screens.date import DateScreen

        def arrive(node_id: str | None) -> None:
            if node_id:
                self.go_to(node_id)

        self.app.push_screen(DateScreen(self._now().astimezone(self._zone)), arrive)

    def action_see_versions(self) -> None:
        """Show the versions of the node pointed at; one may be chosen there."""
        from memtui.tui.screens.versions import VersionsScreen

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
            format.counted(total, "segment") if total else ""
        )
