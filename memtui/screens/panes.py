"""Three panes, of which one has the focus: the tree, the page and the source.

Where all are in sight, one of them can have the screen to itself.
"""

from datetime import tzinfo

from textual import events, on
from textual.widget import Widget

from memtui.messages.contents import BranchesRead, NodeOpened, NotRead, PageRead
from memtui.messages.page import NodeRead, SourceOpened, WentBack
from memtui.screens.following import Following
from memtui.widgets.crumbs import Crumbs
from memtui.widgets.node_page import NodePage
from memtui.widgets.source_pane import Reader, SourcePane
from memtui.widgets.status_line import StatusLine
from memtui.widgets.toc_tree import TocTree

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
