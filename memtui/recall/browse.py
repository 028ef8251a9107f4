"""Walking the table of contents, newest first at every level."""

from collections.abc import Sequence

from memtui.memory.toc import TocLine, TocNode

PAGE = 500
"""How many lines are read at once."""


def years(*, offset: int = 0, limit: int = PAGE) -> list[TocLine]:
    """The roots of the table of contents, newest first."""
    raise NotImplementedError


def children(
    node_id: str, *, offset: int = 0, limit: int = PAGE
) -> list[TocLine]:
    """The lines under a node, newest first; empty for a segment or an unknown id."""
    raise NotImplementedError


def lines(node_ids: Sequence[str]) -> list[TocLine]:
    """These nodes as lines, in the order asked; the unknown ones are left out."""
    raise NotImplementedError


def node(node_id: str) -> TocNode | None:
    """The latest version of a node with its bullets."""
    raise NotImplementedError


def path(node_id: str) -> list[str]:
    """The ids from the year down to this node, itself included; empty if unknown."""
    raise NotImplementedError
