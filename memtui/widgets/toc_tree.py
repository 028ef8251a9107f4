"""The table of contents: years down to segments, newest first."""

from datetime import tzinfo
from functools import partial
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual import events, on
from textual.binding import BindingType
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from memtui import commands
from memtui.memory.scopes import Scope
from memtui.memory.toc import TocLine
from memtui.messages.contents import NodeOpened, NodePointedAt, PeerFound
from memtui.widgets import peers, threads
from memtui.widgets.toc_branches import TocBranches, id_of
from memtui.widgets.toc_labels import Inks, label
from memtui.widgets.toc_rows import More, Row

FOLD_CELLS = 2
"""How wide the fold mark is, and each step of the indentation."""


class TocTree(TocBranches):
    """The contents as they are drawn and moved through."""

    ICON_NODE = "▸ "
    ICON_NODE_EXPANDED = "▾ "
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "toc--name",
        "toc--quiet",
        "toc--wrong",
        "toc--live",
    }
    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "unfold_all", "first", "last",
        "cursor_up", "cursor_down", "page_up", "page_down",
        open="Open the page of this line.",
        fold="Fold or unfold what is below this line.",
        deeper="Unfold this line, go into it, or open its page.",
        outward="Fold this line, or go to the one it belongs to.",
    )  # fmt: skip
    CALLED = "In the contents"

    def __init__(self, zone: tzinfo, *, id: str) -> None:
        super().__init__(id=id)
        self.zone = zone
        self.show_root = False
        self.show_guides = False
        self.guide_depth = FOLD_CELLS
        self.auto_expand = False

    def on_mount(self) -> None:
        """Open the years."""
        self.root.expand()

    @property
    def pointed_at(self) -> TocLine | None:
        """The line the cursor is on, if it stands for a node."""
        row = self.cursor_node
        return row.data if row is not None and isinstance(row.data, TocLine) else None

    @property
    def segments(self) -> int:
        """How many segments the years that are here hold."""
        years = (row.data for row in self.root.children)
        return sum(y.tally.segments for y in years if isinstance(y, TocLine))

    # To the node beside

    def seek_peer(self, step: int) -> None:
        """Go to the node beside the one pointed at, down the list or up."""
        line = self.pointed_at
        if line is None:
            self.notify("Choose a line of the contents first.", markup=False)
            return
        seeking = partial(self._find_peer, line.node_id, step, self.of)
        threads.ask(self, seeking, "peer")

    def _find_peer(self, node_id: str, step: int, of: Scope) -> None:
        threads.tell(self, PeerFound(peers.peer(node_id, step, of), step))

    @on(PeerFound)
    def go_to_peer(self, message: PeerFound) -> None:
        """Go to the node beside this one, or say that there is none."""
        if message.node_id:
            self.reveal(message.node_id)
        else:
            end = "earliest" if message.step > 0 else "latest"
            self.notify(f"This is the {end} of its level.", markup=False)

    # Keys and mouse

    def action_open(self) -> None:
        """Open the page of the node, or read on."""
        row = self.cursor_node
        if row is not None and isinstance(row.data, More) and row.parent is not None:
            self.ask(id_of(row.parent), row.data.offset)
        elif row is not None:
            self.post_message(NodeOpened())

    def action_deeper(self) -> None:
        """Unfold, go to the first row inside, or open what has no inside."""
        row = self.cursor_node
        if row is None or not row.allow_expand:
            self.action_open()
        elif not row.is_expanded:
            row.expand()
        elif row.children:
            self.point_at(row.children[0])

    def action_outward(self) -> None:
        """Fold, or go to the row this one belongs to."""
        row = self.cursor_node
        if row is None:
            return
        if row.is_expanded and row.allow_expand:
            row.collapse()
        elif row.parent is not None and row.parent is not self.root:
            self.point_at(row.parent)
        else:
            self.notify("A year is the outermost there is.", markup=False)

    def action_fold(self) -> None:
        """Fold or unfold the branch."""
        row = self.cursor_node
        if row is None:
            return
        if row.allow_expand:
            row.toggle()
        else:
            self.notify("Nothing to fold here: enter opens it.", markup=False)

    def action_unfold_all(self) -> None:
        """Unfold all that is below the row."""
        row = self.cursor_node
        if row is not None and row.allow_expand:
            self.unfold_all(id_of(row))
        else:
            self.notify("Nothing to unfold here: enter opens it.", markup=False)

    def action_first(self) -> None:
        """Go to the first row."""
        if self.root.children:
            self.point_at(self.root.children[0])

    def action_last(self) -> None:
        """Go to the last row that is shown."""
        self.cursor_line = self.last_line
        self.scroll_to_line(self.last_line, animate=False)

    @on(Tree.NodeSelected)
    def choose(self, event: Tree.NodeSelected[Row]) -> None:
        """A click on the row that reads on reads on."""
        if isinstance(event.node.data, More):
            self.action_open()

    def on_click(self, event: events.Click) -> None:
        """A double click opens the page."""
        if event.chain == 2:
            self.action_open()

    @on(Tree.NodeHighlighted)
    def point(self, event: Tree.NodeHighlighted[Row]) -> None:
        """Say which node the cursor is on."""
        if isinstance(event.node.data, TocLine):
            self.post_message(NodePointedAt(event.node.data))

    # Drawing

    def get_label_width(self, node: TreeNode[Row]) -> int:
        """Nothing, so that lines are as wide as the tree and never scroll sideways."""
        return 0

    def render_label(
        self, node: TreeNode[Row], base_style: Style, style: Style
    ) -> Text:
        """Draw a row in columns that end where the tree ends."""
        text, fold = Text(end=""), ""
        if node.allow_expand:
            fold = self.ICON_NODE_EXPANDED if node.is_expanded else self.ICON_NODE
            text.append(fold, base_style + Style(meta={"toggle": True}))
        if isinstance(node.data, TocLine):
            room = self.scrollable_content_region.width - _indent(node) - len(fold)
            text.append_text(
                label(
                    node.data,
                    width=room - 1,
                    zone=self.zone,
                    is_open=node.is_expanded,
                    inks=self._inks(),
                )
            )
        elif isinstance(node.data, More):
            text.append(f"  {node.data.text}", self._inks().quiet)
        text.stylize_before(style, len(fold))
        return text

    def _inks(self) -> Inks:
        ink = partial(self.get_component_rich_style, partial=True)
        return Inks(
            ink("toc--name"), ink("toc--quiet"), ink("toc--wrong"), ink("toc--live")
        )


def _indent(row: TreeNode[Row]) -> int:
    depth = -1
    above = row.parent
    while above is not None:
        depth += 1
        above = above.parent
    return depth * FOLD_CELLS
