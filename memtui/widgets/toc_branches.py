"""The branches of the contents: read a page at a time, when they are unfolded."""

from collections.abc import Collection, Iterable, Mapping
from functools import partial

from textual import on
from textual.widgets import Tree
from textual.widgets.tree import TreeNode
from textual.worker import Worker, WorkerState

from memtui.memory import calendar
from memtui.memory.scopes import ALL, Scope
from memtui.memory.toc import TocLine
from memtui.messages.contents import (
    AllRead,
    BranchesRead,
    NotRead,
    PageRead,
    PathRead,
    Revealed,
)
from memtui.recall import browse
from memtui.widgets import threads, toc_rows, wording
from memtui.widgets.toc_rows import More, Row

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
        self._rows: toc_rows.Rows = {}
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
        self.set_timer(threads.SLOW_S, partial(self._say_slow, node_id))
        reading = partial(self._read_page, self.of, node_id, offset)
        self.run_worker(
            reading, name=node_id, group=READ, thread=True, exit_on_error=False
        )

    def _say_slow(self, node_id: str) -> None:
        """Say of a branch without rows that they are to come, if they are."""
        branch = self._branch(node_id)
        if node_id in self._asking and branch is not None and not branch.children:
            toc_rows.add_more(branch, More(0, threads.READING))

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
        read_on = toc_rows.more_of(branch)
        at_read_on = read_on is not None and self.cursor_node is read_on
        if read_on is not None:
            read_on.remove()
        if message.offset == 0:
            toc_rows.merge(branch, message.lines, self._rows)
        else:
            for line in message.lines:
                toc_rows.add(branch, line, self._rows)
            if len(message.lines) == browse.PAGE:
                toc_rows.add_more(branch, More(message.offset + browse.PAGE))
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
        reason = wording.why(event.worker.error)
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
            before = toc_rows.more_of(branch)
            is_here = self.cursor_node in (None, before)
            if before is not None:
                before.remove()
            toc_rows.add_more(branch, More(offset, words))
            if is_here:
                self.point_at(branch.children[-1])

    def _branch(self, node_id: str) -> TreeNode[Row] | None:
        return self._rows.get(node_id) if node_id else self.root

    # All there is below

    def unfold_all(self, node_id: str) -> None:
        """Unfold all that is below a node, or as much of it as is reasonable."""
        reading = partial(self._read_all, self.of, node_id)
        threads.ask(self, reading, UNFOLD)

    def _read_all(self, of: Scope, node_id: str) -> None:
        found = browse.under(node_id, limit=MOST_UNFOLDED, of=of)
        threads.tell(self, AllRead(node_id, found, of))

    @on(AllRead)
    def unfold(self, message: AllRead) -> None:
        """Unfold what was read, and say where that stopped."""
        if message.of != self.of:
            return
        for node_id, lines in message.branches.lines.items():
            branch = self._rows.get(node_id)
            if branch is not None and node_id not in self._asking:
                self._read.add(node_id)
                toc_rows.merge(branch, lines, self._rows)
                branch.expand()
        if not message.branches.is_all:
            self.notify(NOT_ALL, markup=False)

    # Going to a node

    def reveal(self, node_id: str) -> None:
        """Unfold the way to a node and put the cursor on it."""
        threads.ask(self, partial(self._find_path, node_id), SEEK)

    def _find_path(self, node_id: str) -> None:
        threads.tell(self, PathRead(node_id, browse.path(node_id)))

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
        more = toc_rows.more_of(branch)
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
                unfolded[name] = toc_rows.wanted(row)
            elif name in self._read:
                toc_rows.empty(row, self._rows)
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
                branches[node_id] = toc_rows.wanted(branch)
            else:
                self._read.discard(node_id)
        self._renew(known, branches)

    def _renew(self, known: Iterable[str], branches: Mapping[str, int]) -> None:
        """Read rows and branches again, and those for which that is not done yet."""
        self._branches_due |= branches
        self._rows_due |= dict.fromkeys(known)
        rows = [*self._rows_due][: browse.PAGE]
        reading = partial(self._read_again, self.of, rows, {**self._branches_due})
        threads.ask(self, reading, RENEW)

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
        threads.tell(self, BranchesRead(mine, {**told}, of))

    @on(BranchesRead)
    def renew(self, message: BranchesRead) -> None:
        """Show what is new; the cursor stays on its row, and the row in its place."""
        if message.of != self.of:
            return
        self._branches_due, self._rows_due = {}, {}
        cursor = self.cursor_node
        height = cursor.line - self.scroll_offset.y if cursor is not None else 0
        for line in message.lines:
            toc_rows.renew(line, self._rows)
        for node_id, lines in message.branches.items():
            branch = self._branch(node_id)
            if branch is not None and node_id not in self._asking:
                toc_rows.merge(branch, lines, self._rows)
        self._read &= {"", *self._rows}
        if self.cursor_node is None and self.root.children:
            self.point_at(self.root.children[0])
        elif cursor is not None and cursor is self.cursor_node:
            _ = self.last_line
            self.scroll_to(y=cursor.line - height, animate=False, force=True)


def id_of(row: TreeNode[Row]) -> str:
    """The id of the node a row stands for; empty for the root."""
    return row.data.node_id if isinstance(row.data, TocLine) else ""
