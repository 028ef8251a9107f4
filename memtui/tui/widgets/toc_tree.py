"""The table of contents: years down to segments, newest first."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
from memtui.model.nodes import Status, TocLevel, TocLine
from memtui.model.scope import ALL, Scope
from memtui.services import browse
from memtui.services.browse import PAGE
from memtui.tui import commands, format, workers
from memtui.tui.messages import (
    AllRead,
    BranchesRead,
    NodeOpened,
    NodePointedAt,
    NotRead,
    PageRead,
    PathRead,
    PeerFound,
    Revealed,
)
from memtui.tui.widgets import sparks


def peer(node_id: str, step: int, of: Scope = ALL) -> str:
    """The id of the next node of a level, or of the one before.

    Args:
        node_id: Where to start.
        step: 1 for down the list, back in time; -1 for up the list.
        of: The part of the memory that is shown.

    Returns:
        The id, or an empty string at either end of the list.
    """
    path = browse.path(node_id)
    for depth in range(len(path) - 1, -1, -1):
        siblings = [*_under(path[depth - 1] if depth else "", of)]
        place = siblings.index(path[depth]) + step if path[depth] in siblings else -1
        if 0 <= place < len(siblings):
            return _down(siblings[place], len(path) - 1 - depth, step, of)
    return ""


def _down(node_id: str, levels: int, step: int, of: Scope) -> str:
    for _ in range(levels):
        under = [*_under(node_id, of)]
        if not under:
            break
        node_id = under[0] if step > 0 else under[-1]
    return node_id


def _under(node_id: str, of: Scope) -> Iterator[str]:
    offset = 0
    while True:
        lines = (
            browse.children(node_id, offset=offset, of=of)
            if node_id
            else browse.years(offset=offset, of=of)
        )
        yield from (line.node_id for line in lines)
        if len(lines) < browse.PAGE:
            return
        offset += browse.PAGE


@dataclass(frozen=True, slots=True)
class More:
    """The last row of a branch that is not all here: choosing it reads on."""

    offset: int
    text: str = "more…"


Row = TocLine | More
"""What a row of the contents stands for."""


Rows = dict[str, TreeNode[Row]]
"""The rows that stand for nodes, by the node's id."""


def plain(row: Row) -> Text:
    """A row's label: outside text is never read as markup."""
    return Text(row.text if isinstance(row, More) else row.headline or row.title)


def add(
    branch: TreeNode[Row], line: TocLine, rows: Rows, place: int | None = None
) -> None:
    """Add a line to a branch, at the end unless a place is given."""
    rows[line.node_id] = branch.add(
        plain(line),
        line,
        before=place,
        allow_expand=line.level is not TocLevel.SEGMENT,
    )


def add_more(branch: TreeNode[Row], row: More) -> None:
    """Add the row that reads on."""
    branch.add_leaf(plain(row), row)


def more_of(branch: TreeNode[Row]) -> TreeNode[Row] | None:
    """The row that reads on, if the branch is not all here."""
    last = branch.children[-1] if branch.children else None
    return last if last is not None and isinstance(last.data, More) else None


def renew(line: TocLine, rows: Rows) -> None:
    """Put a line in the place of its older version."""
    row = rows.get(line.node_id)
    if row is not None and row.data != line:
        row.data = line
        row.set_label(plain(line))


def wanted(branch: TreeNode[Row]) -> int:
    """How many lines must be read to have again what a branch shows."""
    pages = -(-len(branch.children) // PAGE)
    return PAGE * max(1, pages)


def merge(branch: TreeNode[Row], lines: Sequence[TocLine], rows: Rows) -> None:
    """Make a branch show these lines, keeping the rows that stay and what is unfolded.

    Args:
        branch: A branch whose rows were read before.
        lines: Its lines as they are now, from the first, ``wanted`` of them.
        rows: All rows; those that come and go are entered and struck.
    """
    read_on = more_of(branch)
    if read_on is not None:
        read_on.remove()
    kept = {line.node_id for line in lines}
    for child in list(branch.children):
        if isinstance(child.data, TocLine) and child.data.node_id not in kept:
            forget(child, rows)
    for place, line in enumerate(lines):
        row = rows.get(line.node_id)
        if row is None:
            add(branch, line, rows, place)
        else:
            renew(line, rows)
    if len(lines) and len(lines) % PAGE == 0:
        add_more(branch, More(len(lines)))


def forget(row: TreeNode[Row], rows: Rows) -> None:
    """Take a row away with everything under it; the cursor goes to its branch."""
    cursor = row.tree.cursor_node
    above = cursor
    while above is not None and above is not row:
        above = above.parent
    if above is row and row.parent is not None:
        row.tree.move_cursor(row.parent if row.parent.parent is not None else None)
    strike(row, rows)
    row.remove()


def empty(row: TreeNode[Row], rows: Rows) -> None:
    """Take away everything under a row that is folded: it is read anew."""
    for child in row.children:
        strike(child, rows)
    row.remove_children()


def strike(row: TreeNode[Row], rows: Rows) -> None:
    """Strike a row and all under it from the rows."""
    for child in row.children:
        strike(child, rows)
    if isinstance(row.data, TocLine):
        rows.pop(row.data.node_id, None)


NOT_THERE = "That is not in the contents."


OUTSIDE = "That is not of {}: F shows everything again."
"""What is said where a node cannot be gone to."""


READ, SEEK, RENEW, UNFOLD = "toc-read", "toc-seek", "toc-renew", "toc-unfold"
"""The groups of workers: a page of a branch, the way to a node, what has changed, all
that is below a node."""


MOST_UNFOLDED = 500
"""How many lines are unfolded at once."""


NOT_ALL = (
    f"There is more than {MOST_UNFOLDED} lines below: what would not fit is still"
    " folded. Press * on it to go on."
)


class TocBranches(Tree[Row], inherit_bindings=False):
    """A tree that reads its branches itself, goes to a node, and follows changes."""

    def __init__(self, *, id: str) -> None:
        super().__init__("", None, id=id)
        self.of = ALL
        """What part of the memory is shown; ``narrow`` changes it."""
        self._rows: Rows = {}
        self._read: set[str] = set()
        self._asking: dict[str, int] = {}
        self._path: list[str] = []
        # What is to be read again, and has not been yet.
        self._branches_due: dict[str, int] = {}
        self._rows_due: dict[str, None] = {}

    def ask(self, node_id: str, offset: int = 0) -> None:
        """Ask for a page of a branch, unless one is on its way."""
        if node_id in self._asking:
            return
        self._asking[node_id] = offset
        self._read.add(node_id)
        self.set_timer(workers.SLOW_S, partial(self._say_slow, node_id))
        reading = partial(self._read_page, self.of, node_id, offset)
        self.run_worker(
            reading, name=node_id, group=READ, thread=True, exit_on_error=False
        )

    def _say_slow(self, node_id: str) -> None:
        """Say of a branch without rows that they are to come, if they are."""
        branch = self._branch(node_id)
        if node_id in self._asking and branch is not None and not branch.children:
            add_more(branch, More(0, workers.READING))

    def _read_page(self, of: Scope, node_id: str, offset: int) -> None:
        lines = (
            browse.children(node_id, offset=offset, of=of)
            if node_id
            else browse.years(offset=offset, of=of)
        )
        told = browse.at_a_glance(lines, of)
        self.post_message(PageRead(node_id, offset, told, of))

    @on(Tree.NodeExpanded)
    def read_branch(self, event: Tree.NodeExpanded[Row]) -> None:
        """Read a branch the first time it is unfolded."""
        node_id = id_of(event.node)
        if node_id not in self._read:
            self.ask(node_id)

    @on(PageRead)
    def fill(self, message: PageRead) -> None:
        """Add the page in one go: Textual lays the tree out again after each change."""
        if message.of != self.of:
            return
        self._asking.pop(message.node_id, None)
        branch = self._branch(message.node_id)
        if branch is None:
            return
        read_on = more_of(branch)
        at_read_on = read_on is not None and self.cursor_node is read_on
        if read_on is not None:
            read_on.remove()
        if message.offset == 0:
            merge(branch, message.lines, self._rows)
        else:
            for line in message.lines:
                add(branch, line, self._rows)
            if len(message.lines) == browse.PAGE:
                add_more(branch, More(message.offset + browse.PAGE))
        if at_read_on and message.lines:
            self.point_at(self._rows[message.lines[0].node_id])
        elif self.cursor_node is None and self.root.children and not self._path:
            self.point_at(self.root.children[0])
        self._advance()

    @on(Worker.StateChanged)
    def say_why(self, event: Worker.StateChanged) -> None:
        """Say in the tree itself what could not be read, and how to try again."""
        if event.state is not WorkerState.ERROR:
            return
        self.post_message(NotRead())
        reason = format.why(event.worker.error)
        if event.worker.group != READ:
            self.notify(
                f"The contents could not be read: {reason}",
                severity="error",
                markup=False,
            )
            return
        offset = self._asking.pop(event.worker.name, 0)
        branch = self._branch(event.worker.name)
        if branch is not None:
            words = f"Not read (enter tries again): {reason}"
            before = more_of(branch)
            is_here = self.cursor_node in (None, before)
            if before is not None:
                before.remove()
            add_more(branch, More(offset, words))
            if is_here:
                self.point_at(branch.children[-1])

    def _branch(self, node_id: str) -> TreeNode[Row] | None:
        return self._rows.get(node_id) if node_id else self.root

    # All there is below

    def unfold_all(self, node_id: str) -> None:
        """Unfold all that is below a node, or as much of it as is reasonable."""
        reading = partial(self._read_all, self.of, node_id)
        workers.ask(self, reading, UNFOLD)

    def _read_all(self, of: Scope, node_id: str) -> None:
        found = browse.under(node_id, limit=MOST_UNFOLDED, of=of)
        workers.tell(self, AllRead(node_id, found, of))

    @on(AllRead)
    def unfold(self, message: AllRead) -> None:
        """Unfold what was read, and say where that stopped."""
        if message.of != self.of:
            return
        for node_id, lines in message.branches.lines.items():
            branch = self._rows.get(node_id)
            if branch is not None and node_id not in self._asking:
                self._read.add(node_id)
                merge(branch, lines, self._rows)
                branch.expand()
        if not message.branches.is_all:
            self.notify(NOT_ALL, markup=False)

    # Going to a node

    def reveal(self, node_id: str) -> None:
        """Unfold the way to a node and put the cursor on it."""
        workers.ask(self, partial(self._find_path, node_id), SEEK)

    def _find_path(self, node_id: str) -> None:
        workers.tell(self, PathRead(node_id, browse.path(node_id)))

    @on(PathRead)
    def follow(self, message: PathRead) -> None:
        """Start down the path."""
        self._path = list(message.path)
        if not self._path:
            self.notify(NOT_THERE, markup=False)
        self._advance()

    def _advance(self) -> None:
        """Go as far down the path as is read; ask for the next branch, or arrive."""
        if not self._path:
            return
        branch = self.root
        for node_id in self._path:
            row = self._rows.get(node_id)
            if row is None:
                self._read_on(branch)
                return
            branch = row
        for node_id in self._path[:-1]:
            self._rows[node_id].expand()
        self._path = []
        self.point_at(branch)
        if isinstance(branch.data, TocLine):
            self.post_message(Revealed(branch.data.node_id))

    def _read_on(self, branch: TreeNode[Row]) -> None:
        node_id = id_of(branch)
        more = more_of(branch)
        if node_id in self._asking:
            return
        if node_id not in self._read:
            self.ask(node_id)
        elif more is not None and isinstance(more.data, More):
            self.ask(node_id, more.data.offset)
        else:
            self._path = []
            told = OUTSIDE.format(self.of) if self.of.is_narrow else NOT_THERE
            self.notify(told, markup=False)

    def point_at(self, row: TreeNode[Row]) -> None:
        """Put the cursor on a row."""
        _ = self.last_line  # Lays out the lines, so that the row knows its own.
        self.move_cursor(row)

    # Another part of the memory

    def narrow(self, of: Scope) -> None:
        """Show another part of the memory, with the cursor where it was if it can be.

        A branch that has that part of the memory in it stays as it was unfolded.
        """
        if of == self.of:
            return
        self.of = of
        self._path = []
        self._asking.clear()
        unfolded = {}
        for name, row in list(self._rows.items()):
            if name in self._read and row.is_expanded:
                unfolded[name] = wanted(row)
            elif name in self._read:
                empty(row, self._rows)
                self._read.discard(name)
        self._branches_due, self._rows_due = {}, {}
        self._renew((), {"": browse.PAGE, **unfolded})

    # What has changed

    def look_again(self, changed: Collection[str]) -> None:
        """Read the rows that may have changed again, and the open branches above."""
        known = [node_id for node_id in self._rows if node_id in changed]
        above = {calendar.parent_id(node_id) or "" for node_id in changed}
        branches: dict[str, int] = {}
        for node_id in above & self._read - self._asking.keys():
            branch = self._branch(node_id)
            if branch is not None and branch.is_expanded:
                branches[node_id] = wanted(branch)
            else:
                self._read.discard(node_id)
        self._renew(known, branches)

    def _renew(self, known: Iterable[str], branches: Mapping[str, int]) -> None:
        """Read rows and branches again, and those for which that is not done yet."""
        self._branches_due |= branches
        self._rows_due |= dict.fromkeys(known)
        rows = [*self._rows_due][: browse.PAGE]
        reading = partial(self._read_again, self.of, rows, {**self._branches_due})
        workers.ask(self, reading, RENEW)

    def _read_again(
        self, of: Scope, known: list[str], branches: dict[str, int]
    ) -> None:
        read = {
            node_id: browse.children(node_id, limit=limit, of=of)
            if node_id
            else browse.years(limit=limit, of=of)
            for node_id, limit in branches.items()
        }
        told = {name: browse.at_a_glance(found, of) for name, found in read.items()}
        mine = browse.at_a_glance(browse.lines(known, of), of)
        workers.tell(self, BranchesRead(mine, {**told}, of))

    @on(BranchesRead)
    def renew(self, message: BranchesRead) -> None:
        """Show what is new; the cursor stays on its row, and the row in its place."""
        if message.of != self.of:
            return
        self._branches_due, self._rows_due = {}, {}
        cursor = self.cursor_node
        height = cursor.line - self.scroll_offset.y if cursor is not None else 0
        for line in message.lines:
            renew(line, self._rows)
        for node_id, lines in message.branches.items():
            branch = self._branch(node_id)
            if branch is not None and node_id not in self._asking:
                merge(branch, lines, self._rows)
        self._read &= {"", *self._rows}
        if self.cursor_node is None and self.root.children:
            self.point_at(self.root.children[0])
        elif cursor is not None and cursor is self.cursor_node:
            _ = self.last_line
            self.scroll_to(y=cursor.line - height, animate=False, force=True)


def id_of(row: TreeNode[Row]) -> str:
    """The id of the node a row stands for; empty for the root."""
    return row.data.node_id if isinstance(row.data, TocLine) else ""


COUNT_CELLS = 5
"""How wide the column of counts is, with a space: "9,999"; a segment has none."""


LEAST_CELLS = 28
"""What a headline must have left of its own, so that there is room for a spark."""


@dataclass(frozen=True, slots=True)
class Inks:
    """The colours a line is drawn in; each only repeats what a mark or place says."""

    name: Style
    quiet: Style
    wrong: Style
    live: Style


def label(
    line: TocLine, *, width: int, zone: tzinfo, is_open: bool, inks: Inks
) -> Text:
    """Draw a line of exactly this width.

    Args:
        line: What to draw.
        width: How many cells there are, the fold mark not counted.
        zone: The store's time zone.
        is_open: Whether its branch is unfolded, so that a live child speaks for itself.
        inks: The colours.
    """
    is_leaf = line.level is TocLevel.SEGMENT
    name = format.name_of(line, zone)
    if is_leaf:
        name = f"{format.LIVE if line.is_live else ' '} {name}"
    count = "" if is_leaf else f"{_count(line):>{COUNT_CELLS}}"
    standing, mark = _standing(line), _mark(line, is_open)
    room = width - cell_len(name) - 2 - len(count) - 3
    headline = _headline(line)
    bars = sparks.spark(line.activity)
    if bars and room - len(bars) - 2 >= min(LEAST_CELLS, cell_len(headline)):
        count = f" {bars} {count}"
        room -= len(bars) + 2
    text = Text(no_wrap=True, end="")
    text.append(name, inks.live if is_leaf and line.is_live else inks.name)
    text.append("  ")
    quiet = not is_leaf and line.level is not TocLevel.DAY
    text.append(_cut(headline, room), inks.quiet if quiet else None)
    text.append(f"{count} {standing}", inks.quiet)
    text.append(mark, _ink_of(mark, inks))
    return text


def _headline(line: TocLine) -> str:
    said = line.headline or (line.title if line.level is TocLevel.SEGMENT else "")
    if not said and line.status is Status.PENDING:
        return format.standing(line.status)
    return said


def _count(line: TocLine) -> str:
    """How many segments there are; nothing where none is known of yet."""
    is_known = line.tally.segments or line.status is not Status.PENDING
    return format.count(line.tally.segments) if is_known else ""


def _standing(line: TocLine) -> str:
    """Whether it is still to change, or else whether a model wrote it."""
    if line.status is Status.STALE and not line.is_pinned:
        return format.BEHIND
    if line.status is Status.PROVISIONAL:
        return format.PASSING
    return format.MODELS if line.is_models else " "


def _mark(line: TocLine, is_open: bool) -> str:
    is_leaf = line.level is TocLevel.SEGMENT
    if line.is_live and not is_leaf and not is_open:
        return format.LIVE
    return format.verdict(line.supported, line.weak, line.bullets) if is_leaf else " "


def _ink_of(mark: str, inks: Inks) -> Style:
    if mark == format.UNSUPPORTED:
        return inks.wrong
    return inks.live if mark == format.LIVE else inks.quiet


def _cut(text: str, room: int) -> str:
    text = " ".join(text.split())
    if room < 1:
        return ""
    if cell_len(text) > room:
        head = set_cell_size(text, room - 1).rstrip("…")
        return set_cell_size(f"{head}…", room)
    return set_cell_size(text, room)


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
        workers.ask(self, seeking, "peer")

    def _find_peer(self, node_id: str, step: int, of: Scope) -> None:
        workers.tell(self, PeerFound(peer(node_id, step, of), step))

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
