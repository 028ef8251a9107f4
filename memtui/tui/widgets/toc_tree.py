"""The table of contents: a tree from years down to segments, the newest first.

Branches are read on a worker thread when they are first expanded and when they change.
The tree also goes to any node by its id, and draws its rows in columns.
"""

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from functools import partial
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text
from textual import events, on
from textual.binding import BindingType
from textual.widgets import Tree
from textual.widgets.tree import TreeNode
from textual.worker import Worker, WorkerState

from memtui.model import calendar
from memtui.model.nodes import NodeStatus, TocEntry, TocLevel
from memtui.model.scope import ALL, Scope
from memtui.services import browse
from memtui.services.browse import NodeBranches
from memtui.tui import commands, format, workers
from memtui.tui.messages import (
    LoadFailed,
    NodeHighlighted,
    NodeRevealed,
    NodeSelected,
    TocLoaded,
)

NOT_FOUND = "This node is not in the contents."
OUT_OF_SCOPE = "This node is outside {}. Press F F to show everything."

MAX_EXPANDED = 500
"""The most rows that are expanded at once."""

PARTLY_EXPANDED = (
    f"Only the first {MAX_EXPANDED} rows were expanded. Press * on a row to continue."
)

LOAD_GROUP = "toc-load"
"""The group of the worker that reads branches."""

NO_BRANCH = "Nothing to expand here. Press enter to open."

INDENT = 2
"""The width of the expand mark and of one step of indentation, in cells."""


@dataclass(frozen=True, slots=True)
class NoteRow:
    """The row of a branch that is being read or could not be read."""

    text: str


TocRow = TocEntry | NoteRow


class TocTree(Tree[TocRow], inherit_bindings=False):
    """The tree of the contents."""

    ICON_NODE = "▸ "
    ICON_NODE_EXPANDED = "▾ "
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "toc--name",
        "toc--quiet",
        "toc--wrong",
        "toc--live",
    }
    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "expand_all", "first", "last",
        "cursor_up", "cursor_down", "page_up", "page_down",
        open="Open the page of this row.",
        toggle_expanded="Expand or collapse this row.",
        deeper="Expand this row, go into it, or open its page.",
        outward="Collapse this row, or go to its parent.",
    )  # fmt: skip
    HELP_TITLE = "In the contents"

    def __init__(self, zone: tzinfo, *, id: str) -> None:
        super().__init__("", None, id=id)
        self.zone = zone
        self.scope = ALL
        self.show_root = False
        self.show_guides = False
        self.guide_depth = INDENT
        self.auto_expand = False
        self._rows: dict[str, TreeNode[TocRow]] = {}
        """The rows of the nodes, by node id."""
        self._loaded: set[str] = set()
        """The branches that are or will be up to date; "" for the years."""
        self._wanted: set[str] = set()
        """The branches to read next."""
        self._reading: set[str] = set()
        self._path: list[str] = []
        """The rest of the way to a node that is being revealed."""

    def on_mount(self) -> None:
        self.root.expand()

    @property
    def current(self) -> TocEntry | None:
        row = self.cursor_node
        return row.data if row is not None and isinstance(row.data, TocEntry) else None

    @property
    def segment_count(self) -> int:
        """The number of segments in the loaded years."""
        years = (row.data for row in self.root.children)
        return sum(y.counts.segments for y in years if isinstance(y, TocEntry))

    # Reading branches

    def _read(self, branches: Iterable[str]) -> None:
        """Read branches, after those that are being read."""
        self._wanted |= {*branches}
        self._loaded |= self._wanted
        if self._wanted and not self._reading:
            self._reading, self._wanted = self._wanted, set()
            read = partial(_read_branches, self.scope, frozenset(self._reading))
            workers.load(self, read, partial(self._show, self.scope), LOAD_GROUP)

    @on(Tree.NodeExpanded)
    def load_branch(self, event: Tree.NodeExpanded[TocRow]) -> None:
        """Read a branch when it is first expanded."""
        node_id = _id_of(event.node)
        if node_id not in self._loaded:
            self.set_timer(workers.SLOW_S, partial(self._show_loading, node_id))
            self._read({node_id})

    def _show_loading(self, node_id: str) -> None:
        branch = self._branch(node_id)
        if node_id in self._reading | self._wanted and branch and not branch.children:
            _add_note(branch, workers.LOADING)

    def _show(self, scope: Scope, branches: Mapping[str, Sequence[TocEntry]]) -> None:
        """Show what was read; cursor and scroll position stay on their row."""
        self._reading = set()
        if scope == self.scope:
            cursor, entered = self.cursor_node, None
            height = cursor.line - self.scroll_offset.y if cursor is not None else 0
            for node_id, lines in branches.items():
                if (branch := self._branch(node_id)) is not None:
                    if cursor is not None and cursor is _note(branch) and lines:
                        entered = lines[0].node_id
                    self._update_branch(branch, lines)
            self._loaded &= {"", *self._rows}
            if entered:
                self._move_to(self._rows[entered])
            elif self.cursor_node is None and self.root.children and not self._path:
                self._move_to(self.root.children[0])
            elif cursor is not None and cursor is self.cursor_node:
                _ = self.last_line
                self.scroll_to(y=cursor.line - height, animate=False, force=True)
            self._advance()
            self.post_message(TocLoaded())
        self._read(())

    @on(Worker.StateChanged)
    def show_error(self, event: Worker.StateChanged) -> None:
        """Show in empty branches, or in a notice, why they could not be read."""
        if event.state is not WorkerState.ERROR:
            return
        self.post_message(LoadFailed())
        reason = format.error_text(event.worker.error)
        failed: set[str] = set()
        if event.worker.group == LOAD_GROUP:
            failed, self._reading = self._reading, set()
        empty = [
            branch
            for node_id in failed
            if (branch := self._branch(node_id)) is not None
            and all(isinstance(row.data, NoteRow) for row in branch.children)
        ]
        for branch in empty:
            has_cursor = self.cursor_node in (None, _note(branch))
            branch.remove_children()
            _add_note(branch, f"Not read (enter: retry): {reason}")
            if has_cursor:
                self._move_to(branch.children[-1])
        if not empty:
            text = f"The contents could not be read: {reason}"
            self.notify(text, severity="error", markup=False)
        has_more = bool(self._wanted)
        self._wanted |= failed - {_id_of(branch) for branch in empty}
        if has_more:
            self._read(())

    # Rows

    def _branch(self, node_id: str) -> TreeNode[TocRow] | None:
        return self._rows.get(node_id) if node_id else self.root

    def _update_branch(
        self, branch: TreeNode[TocRow], lines: Sequence[TocEntry]
    ) -> None:
        """Show these lines in a branch; remaining rows stay expanded."""
        if (note := _note(branch)) is not None:
            note.remove()
        shown = {line.node_id for line in lines}
        for child in list(branch.children):
            if _id_of(child) not in shown:
                self._remove(child)
        for index, line in enumerate(lines):
            row = self._rows.get(line.node_id)
            if row is None:
                self._rows[line.node_id] = branch.add(
                    _label(line),
                    line,
                    before=index,
                    allow_expand=line.level is not TocLevel.SEGMENT,
                )
            elif row.data != line:
                row.data = line
                row.set_label(_label(line))

    def _remove(self, row: TreeNode[TocRow]) -> None:
        """Remove a row and all below it; the cursor goes to its parent."""
        above = self.cursor_node
        while above is not None and above is not row:
            above = above.parent
        if above is row and row.parent is not None:
            self.move_cursor(row.parent if row.parent.parent is not None else None)
        self._forget(row)
        row.remove()

    def _forget(self, row: TreeNode[TocRow]) -> None:
        for child in row.children:
            self._forget(child)
        if isinstance(row.data, TocEntry):
            self._rows.pop(row.data.node_id, None)

    def _move_to(self, row: TreeNode[TocRow]) -> None:
        """Put the cursor on a row that may have just been added."""
        _ = self.last_line  # Computes the lines: the row does not know its own yet.
        self.move_cursor(row)

    # Expanding all below a row

    def _expand_all(self, scope: Scope, branches: NodeBranches) -> None:
        """Expand what was read, and notify if that is not everything."""
        if scope != self.scope:
            return
        for (node_id, _), lines in branches.lines.items():
            if (branch := self._rows.get(node_id)) is not None:
                self._loaded.add(node_id)
                self._update_branch(branch, lines)
                branch.expand()
        if not branches.is_all:
            self.notify(PARTLY_EXPANDED, markup=False)

    # Going to a node

    def reveal(self, node_id: str) -> None:
        """Expand the path to a node, select it, and post ``NodeRevealed``."""
        read = partial(browse.get_path, node_id)
        workers.load(self, read, self._follow, "toc-seek")

    def _follow(self, path: Sequence[str]) -> None:
        self._path = list(path)
        if not self._path:
            self.notify(NOT_FOUND, markup=False)
        self._advance()

    def _advance(self) -> None:
        """Go as far down the path as is loaded; load the next branch, or arrive."""
        if not self._path:
            return
        row = self.root
        for node_id in self._path:
            if node_id not in self._rows:
                self._read_towards(row)
                return
            row = self._rows[node_id]
        for node_id in self._path[:-1]:
            self._rows[node_id].expand()
        self._path = []
        self._move_to(row)
        if isinstance(row.data, TocEntry):
            self.post_message(NodeRevealed(row.data.node_id))

    def _read_towards(self, branch: TreeNode[TocRow]) -> None:
        """Read a branch that lacks a node of the path."""
        node_id = _id_of(branch)
        if node_id not in self._loaded:
            self._read({node_id})
        elif node_id not in self._reading | self._wanted:
            self._path = []
            is_all = not self.scope.is_narrow
            text = NOT_FOUND if is_all else OUT_OF_SCOPE.format(self.scope)
            self.notify(text, markup=False)

    def seek_sibling(self, step: int) -> None:
        """Go to the next older (1) or newer (-1) node of the level of the current."""
        line = self.current
        if line is None:
            self.notify("Choose a row of the contents first.", markup=False)
            return
        find = partial(_sibling, line.node_id, step, self.scope)
        workers.load(self, find, partial(self._go_to_sibling, step), "toc-sibling")

    def _go_to_sibling(self, step: int, node_id: str) -> None:
        if node_id:
            self.reveal(node_id)
        else:
            end = "oldest" if step > 0 else "newest"
            self.notify(f"This is the {end} of its level.", markup=False)

    # Changes of the scope and of the store

    def set_scope(self, scope: Scope) -> None:
        """Show another scope; branches stay expanded, and the cursor where it can."""
        if scope == self.scope:
            return
        self.scope = scope
        self._path = []
        expanded = {""}
        for node_id, row in list(self._rows.items()):
            if node_id in self._loaded and row.is_expanded:
                expanded.add(node_id)
            elif node_id in self._loaded:
                for child in row.children:
                    self._forget(child)
                row.remove_children()
                self._loaded.discard(node_id)
        self._reading = set()
        self._read(expanded)

    def refresh_nodes(self, changed: Collection[str]) -> None:
        """Read again the expanded branches with changed nodes."""
        parents = {
            parent
            for node_id in changed
            for parent in calendar.parent_ids(node_id) or [""]
        }
        expanded = set()
        for node_id in parents & self._loaded:
            branch = self._branch(node_id)
            if branch is not None and branch.is_expanded:
                expanded.add(node_id)
            else:
                self._loaded.discard(node_id)
        self._read(expanded)

    # Keys and mouse

    def action_open(self) -> None:
        """Open the page of the node, or read the branch of a note again."""
        row = self.cursor_node
        if row is not None and isinstance(row.data, NoteRow) and row.parent is not None:
            self._read({_id_of(row.parent)})
        elif row is not None:
            self.post_message(NodeSelected())

    def action_deeper(self) -> None:
        """Expand the row, go to its first child, or open a segment."""
        row = self.cursor_node
        if row is None or not row.allow_expand:
            self.action_open()
        elif not row.is_expanded:
            row.expand()
        elif row.children:
            self._move_to(row.children[0])

    def action_outward(self) -> None:
        """Collapse the row, or go to its parent."""
        row = self.cursor_node
        if row is None:
            return
        if row.is_expanded and row.allow_expand:
            row.collapse()
        elif row.parent is not None and row.parent is not self.root:
            self._move_to(row.parent)

    def action_toggle_expanded(self) -> None:
        row = self.cursor_node
        if row is not None and row.allow_expand:
            row.toggle()
        elif row is not None:
            self.notify(NO_BRANCH, markup=False)

    def action_expand_all(self) -> None:
        row = self.cursor_node
        if row is not None and row.allow_expand:
            find = partial(
                browse.list_branches, _id_of(row), limit=MAX_EXPANDED, scope=self.scope
            )
            show = partial(self._expand_all, self.scope)
            workers.load(self, find, show, "toc-expand")
        else:
            self.notify(NO_BRANCH, markup=False)

    def action_first(self) -> None:
        if self.root.children:
            self._move_to(self.root.children[0])

    def action_last(self) -> None:
        self.cursor_line = self.last_line
        self.scroll_to_line(self.last_line, animate=False)

    @on(Tree.NodeSelected)
    def retry(self, event: Tree.NodeSelected[TocRow]) -> None:
        """Read a branch again on a click on its note."""
        if isinstance(event.node.data, NoteRow):
            self.action_open()

    def on_click(self, event: events.Click) -> None:
        if event.chain == 2:
            self.action_open()

    @on(Tree.NodeHighlighted)
    def announce(self, event: Tree.NodeHighlighted[TocRow]) -> None:
        if isinstance(event.node.data, TocEntry):
            self.post_message(NodeHighlighted(event.node.data))

    # Drawing

    def get_label_width(self, node: TreeNode[TocRow]) -> int:
        """Return 0: rows are as wide as the tree, which never scrolls sideways."""
        return 0

    def render_label(
        self, node: TreeNode[TocRow], base_style: Style, style: Style
    ) -> Text:
        """Draw a row in columns that end at the right edge of the tree."""
        text, mark = Text(end=""), ""
        color = partial(self.get_component_rich_style, partial=True)
        if node.allow_expand:
            mark = self.ICON_NODE_EXPANDED if node.is_expanded else self.ICON_NODE
            text.append(mark, base_style + Style(meta={"toggle": True}))
        if isinstance(node.data, TocEntry):
            indent = [*TocLevel].index(node.data.level) * INDENT
            line = draw_line(
                node.data,
                width=self.scrollable_content_region.width - indent - len(mark) - 1,
                zone=self.zone,
                is_expanded=node.is_expanded,
                color=color,
            )
            text.append_text(line)
        elif isinstance(node.data, NoteRow):
            text.append(f"  {node.data.text}", color("toc--quiet"))
        text.stylize_before(style, len(mark))
        return text


def _id_of(row: TreeNode[TocRow]) -> str:
    """Return the node id of a row, "" for the root."""
    return row.data.node_id if isinstance(row.data, TocEntry) else ""


def _label(row: TocRow) -> Text:
    """Return a label as ``Text``: a plain string would be read as markup."""
    return Text(row.text if isinstance(row, NoteRow) else row.headline or row.title)


def _add_note(branch: TreeNode[TocRow], text: str) -> None:
    note = NoteRow(text)
    branch.add_leaf(_label(note), note)


def _note(branch: TreeNode[TocRow]) -> TreeNode[TocRow] | None:
    row = branch.children[0] if branch.children else None
    return row if row is not None and isinstance(row.data, NoteRow) else None


# Reading


def _read_branches(
    scope: Scope, node_ids: Collection[str]
) -> Mapping[str, Sequence[TocEntry]]:
    found = {}
    for node_id in node_ids:
        lines = browse.list_children(node_id, limit=sys.maxsize, scope=scope)
        found[node_id] = browse.add_activity(lines, scope)
    return found


def _sibling(node_id: str, step: int, scope: Scope) -> str:
    """Return the next older (1) or newer (-1) node of the same level, "" for none.

    The node may be under another parent: the day before a Monday is in another week.
    """
    path = browse.get_path(node_id)
    for depth in range(len(path) - 1, -1, -1):
        siblings = _child_ids(path[depth - 1] if depth else "", scope)
        index = siblings.index(path[depth]) + step if path[depth] in siblings else -1
        if 0 <= index < len(siblings):
            found = siblings[index]
            for _ in range(len(path) - 1 - depth):
                children = _child_ids(found, scope)
                if not children:
                    break
                found = children[0] if step > 0 else children[-1]
            return found
    return ""


def _child_ids(node_id: str, scope: Scope) -> list[str]:
    children = browse.list_children(node_id, limit=sys.maxsize, scope=scope)
    return [child.node_id for child in children]


# Drawing a row

COUNT_WIDTH = 5
"""The width of the column of counts with a space: "9,999"."""

MIN_HEADLINE = 28
"""The cells that a headline keeps before a sparkline gets any."""

BARS, EMPTY_BAR = "▁▂▃▄▅▆▇█", "·"


def draw_line(
    line: TocEntry,
    *,
    width: int,
    zone: tzinfo,
    is_expanded: bool,
    color: Callable[[str], Style],
) -> Text:
    """Draw a node in a number of cells, the expand mark not included.

    Args:
        line: The node.
        width: The number of cells; all are filled.
        zone: The time zone of the store.
        is_expanded: True if the rows below it are shown.
        color: Returns the style of a component class of the tree; each style only
            repeats what a mark or a place says.
    """
    is_segment = line.level is TocLevel.SEGMENT
    name = format.tree_label(line, zone)
    headline, count, mark = line.headline, "", " "
    if is_segment:
        name = f"{format.LIVE if line.is_live else ' '} {name}"
        headline = headline or line.title
        mark = format.node_mark(line)
    else:
        is_known = line.counts.segments or line.status is not NodeStatus.PENDING
        number = format.number(line.counts.segments) if is_known else ""
        count = f"{number:>{COUNT_WIDTH}}"
        mark = format.LIVE if line.is_live and not is_expanded else " "
    if not headline and line.status is NodeStatus.PENDING:
        headline = format.status_text(line.status)
    room = width - cell_len(name) - 2 - len(count) - 3
    bars = sparkline(line.activity)
    if bars and room - len(bars) - 2 >= min(MIN_HEADLINE, cell_len(headline)):
        count = f" {bars} {count}"
        room -= len(bars) + 2
    state = format.BY_MODEL if line.is_by_model else " "
    if line.status is NodeStatus.STALE and not line.is_pinned:
        state = format.STALE
    elif line.status is NodeStatus.PROVISIONAL:
        state = format.PROVISIONAL
    quiet, live = color("toc--quiet"), color("toc--live")
    text = Text(no_wrap=True, end="")
    text.append(name, live if is_segment and line.is_live else color("toc--name"))
    text.append("  ")
    has_own_text = line.level in (TocLevel.DAY, TocLevel.SEGMENT)
    text.append(_fit(headline, room), None if has_own_text else quiet)
    text.append(f"{count} {state}", quiet)
    marks = {format.UNSUPPORTED: color("toc--wrong"), format.LIVE: live}
    text.append(mark, marks.get(mark, quiet))
    return text


def sparkline(counts: Sequence[int]) -> str:
    """Return a bar for each count, the highest for the largest, a dot for zero."""
    most, last = max(counts, default=0), len(BARS) - 1
    return "".join(
        BARS[min(last, count * len(BARS) // most)] if count else EMPTY_BAR
        for count in counts
    )


def _fit(text: str, room: int) -> str:
    """Pad or truncate a text to exactly ``room`` cells."""
    text = " ".join(text.split())
    if room < 1:
        return ""
    if cell_len(text) > room:
        head = set_cell_size(text, room - 1).rstrip("…")
        return set_cell_size(f"{head}…", room)
    return set_cell_size(text, room)
