"""Walking the table of contents, newest first at every level."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memtui.memory import calendar
from memtui.memory.scopes import ALL, Scope
from memtui.memory.shares import Part
from memtui.memory.toc import TocLevel, TocLine, TocNode
from memtui.store import database, shares, surprises, toc

PAGE = 500
"""How many lines are read at once."""


def years(*, offset: int = 0, limit: int = PAGE, of: Scope = ALL) -> list[TocLine]:
    """The roots of the table of contents, newest first."""
    with database.connected():
        return shares.lines_under(None, offset, limit, of)


def children(
    node_id: str, *, offset: int = 0, limit: int = PAGE, of: Scope = ALL
) -> list[TocLine]:
    """The lines under a node, newest first; empty for a segment or an unknown id."""
    with database.connected():
        return shares.lines_under(ours(node_id), offset, limit, of)


def lines(node_ids: Sequence[str], of: Scope = ALL) -> list[TocLine]:
    """These nodes as lines, in the order asked; those not of the scope are left out."""
    with database.connected():
        return shares.lines(node_ids, of)


def at_a_glance(found: Sequence[TocLine], of: Scope = ALL) -> list[TocLine]:
    """Lines with how much was said in each part of them."""
    with database.connected():
        return _active(found, of)


def _active(found: Sequence[TocLine], of: Scope) -> list[TocLine]:
    # Lines that tell of a part of the memory have its activity already.
    return list(found) if of.is_narrow else toc.with_activity(found)


@dataclass(frozen=True, slots=True)
class Branches:
    """A node's branches, the widest first: what is under each of them."""

    lines: Mapping[str, Sequence[TocLine]]
    """By the id of the branch."""
    is_all: bool
    """Whether nothing was left out."""


def under(node_id: str, *, limit: int = PAGE, of: Scope = ALL) -> Branches:
    """All that is under a node, level by level.

    Args:
        node_id: Whose.
        limit: The most lines; no branch is told in part.
        of: Whose work.
    """
    found: dict[str, Sequence[TocLine]] = {}
    waiting, total = deque([ours(node_id)]), 0
    with database.connected():
        while waiting:
            page = shares.lines_under(waiting[0], 0, limit - total + 1, of)
            if total + len(page) > limit:
                return Branches(found, is_all=False)
            found[waiting.popleft()] = _active(page, of)
            total += len(page)
            waiting += [x.node_id for x in page if x.level is not TocLevel.SEGMENT]
    return Branches(found, is_all=True)


def node(node_id: str) -> TocNode | None:
    """The latest version of a node with its bullets."""
    with database.connected():
        return toc.node(ours(node_id))


def part(node_id: str, of: Scope = ALL) -> Part | None:
    """The latest version of a node, with no more than what a scope has of it."""
    with database.connected():
        found = toc.node(ours(node_id))
        return shares.part(found, of) if found else None


def surprise(segment_id: str) -> float | None:
    """How surprising a segment is, 0 to 1; None before it was weighed."""
    with database.connected():
        return surprises.of([segment_id]).get(segment_id)


def path(node_id: str) -> list[str]:
    """The ids from the year down to this node, itself included; empty if unknown."""
    with database.connected():
        known = toc.lines([ours(node_id)])
    return calendar.path(node_id) if known else []


def ours(node_id: str) -> str:
    """An id in the form we keep; what is no id stays as it is and is not found."""
    try:
        return calendar.canonical(node_id)
    except ValueError:
        return node_id
