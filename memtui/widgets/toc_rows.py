"""What a row of the contents can be, and how rows read anew are merged with the old."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text
from textual.widgets.tree import TreeNode

from memtui.memory.toc import TocLevel, TocLine
from memtui.recall.browse import PAGE


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
