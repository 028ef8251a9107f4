"""The table of contents: versions that are only ever added, and which is shown."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from peewee import JOIN, fn

from memtui.memory import activity
from memtui.memory.events import to_ms
from memtui.memory.scopes import ALL, Scope
from memtui.memory.summaries import Facts
from memtui.memory.toc import (
    Bullet,
    TocEdition,
    TocLevel,
    TocLine,
    TocNode,
)
from memtui.store import scopes, toc_rows, verdicts
from memtui.store.tables.contents import (
    BulletGripRow,
    BulletRow,
    MakingRow,
    NodeRow,
    VersionRow,
)


def retire(node_ids: Iterable[str]) -> None:
    """Take nodes out of the tree; their versions stay."""
    NodeRow.delete().where(NodeRow.node_id.in_(list(node_ids))).execute()


def node(node_id: str) -> TocNode | None:
    """A node as it is shown, with its bullets; None if it is not in the tree."""
    found = nodes([node_id])
    return found[0] if found else None


def nodes(node_ids: Sequence[str]) -> list[TocNode]:
    """Nodes as they are shown, in the order asked; unknown ones are left out."""
    found = _latest().where(NodeRow.node_id.in_(list(node_ids)))
    rows = {row["node_id"]: row for row in found.dicts()}
    return _nodes([rows[name] for name in node_ids if name in rows])


def edition(node_id: str, version: int) -> TocNode | None:
    """Any version of a node that is in the tree, with its bullets; None for no such."""
    found = _editions(node_id).where(VersionRow.version == version)
    rows = [{**row, "is_pinned": toc_rows.is_pinned(row)} for row in found.dicts()]
    return next(iter(_nodes(rows)), None)


def editions(node_id: str) -> list[TocEdition]:
    """All versions of a node that is in the tree, the latest first."""
    rows = list(_editions(node_id).order_by(VersionRow.version.desc()).dicts())
    facts = _facts([row["latest"] for row in rows if row["is_models"]])
    return [toc_rows.edition(row, facts) for row in rows]


def child_ids(node_id: str) -> list[str]:
    """The ids of a node's children, oldest first."""
    rows = (
        NodeRow.select(NodeRow.node_id)
        .where(NodeRow.parent_id == node_id)
        .order_by(NodeRow.start_ms, NodeRow.node_id)
        .tuples()
    )
    return [row[0] for row in rows]


def lines_under(
    parent_id: str | None, offset: int, limit: int, of: Scope = ALL
) -> list[TocLine]:
    """A node's children as lines, newest first; the years for None."""
    above = NodeRow.parent_id
    under = above.is_null() if parent_id is None else above == parent_id
    rows = (
        _latest()
        .where(under, *scopes.within(of, under=parent_id))
        .order_by(NodeRow.start_ms.desc(), NodeRow.node_id.desc())
        .limit(limit)
        .offset(offset)
    )
    return [toc_rows.line(row) for row in rows.dicts()]


def lines(node_ids: Sequence[str]) -> list[TocLine]:
    """Nodes as lines, in the order asked; the unknown ones are left out."""
    rows = _latest().where(NodeRow.node_id.in_(list(node_ids))).dicts()
    found = {row["node_id"]: toc_rows.line(row) for row in rows}
    return [found[name] for name in node_ids if name in found]


def with_activity(found: Sequence[TocLine]) -> list[TocLine]:
    """Lines with what was said in each part of them, from the tallies under them."""
    names = [line.node_id for line in found if line.level is not TocLevel.SEGMENT]
    rows = (
        NodeRow.select(
            NodeRow.parent_id, NodeRow.node_id, NodeRow.start_ms, VersionRow.messages
        )
        .join(VersionRow)
        .where(NodeRow.parent_id.in_(names))
        .tuples()
    )
    under: dict[str, list[tuple[str, int, int]]] = {name: [] for name in names}
    for parent_id, *told in rows if names else ():
        under[parent_id].append((told[0], told[1], told[2]))
    return [
        replace(line, activity=activity.of(line.node_id, to_ms(line.start_time), mine))
        if (mine := under.get(line.node_id))
        else line
        for line in found
    ]


def newest(limit: int, of: Scope = ALL) -> list[str]:
    """The ids of the latest nodes of all levels, newest first."""
    rows = (
        NodeRow.select(NodeRow.node_id)
        .join(VersionRow)
        .where(*scopes.within(of))
        .order_by(NodeRow.start_ms.desc(), NodeRow.node_id.desc())
        .limit(limit)
        .tuples()
    )
    return [row[0] for row in rows]


def all_ids() -> list[str]:
    """The ids of all nodes that have a version."""
    rows = NodeRow.select(NodeRow.node_id).where(NodeRow.latest.is_null(False))
    return [row[0] for row in rows.order_by(NodeRow.node_id).tuples()]


def live_among(node_ids: Sequence[str]) -> set[str]:
    """Those of these nodes in which something is still going on."""
    rows = NodeRow.select(NodeRow.node_id).where(
        NodeRow.node_id.in_(list(node_ids)), NodeRow.is_live
    )
    return {row[0] for row in rows.tuples()}


def count() -> tuple[int, int, int]:
    """How many nodes, bullets and bullets with a grip the latest versions hold."""
    row = (
        NodeRow.select(
            fn.COUNT(NodeRow.node_id),
            fn.SUM(VersionRow.bullets),
            fn.SUM(VersionRow.supported),
        )
        .join(VersionRow)
        .tuples()
        .first()
    )
    return int(row[0]), int(row[1] or 0), int(row[2] or 0)


_OF_POINTER = (
    NodeRow.is_dirty,
    NodeRow.is_live,
    NodeRow.is_pinned,
    NodeRow.is_behind,
    NodeRow.wants_model,
)
_OF_NODE = {"id", "node_id", "level", "start_ms"}
_OF_VERSION = [
    field for field in VersionRow._meta.sorted_fields if field.name not in _OF_NODE
]


def _latest() -> Any:
    """Nodes with their latest version; of a pending one only the place is known."""
    return NodeRow.select(
        NodeRow.node_id,
        NodeRow.level,
        NodeRow.start_ms,
        NodeRow.latest,
        *_OF_POINTER,
        *_OF_VERSION,
    ).join(VersionRow, JOIN.LEFT_OUTER)


def _editions(node_id: str) -> Any:
    """The versions of a node, each as though it were the one that is shown."""
    shown = NodeRow.latest.alias("shown")
    columns = (VersionRow.id.alias("latest"), shown, *_OF_POINTER, *_OF_VERSION)
    return (
        VersionRow.select(NodeRow.node_id, NodeRow.level, NodeRow.start_ms, *columns)
        .join(NodeRow, on=(NodeRow.node_id == VersionRow.node_id))
        .where(VersionRow.node_id == node_id)
    )


def _nodes(rows: Sequence[dict[str, Any]]) -> list[TocNode]:
    versions = [row["latest"] for row in rows if row["latest"]]
    bullets = _bullets(versions)
    facts = _facts([row["latest"] for row in rows if row["is_models"]])
    return [toc_rows.node(row, bullets.get(row["latest"], ()), facts) for row in rows]


def _facts(versions: Sequence[int]) -> dict[int, Facts]:
    """What was measured while models wrote these versions."""
    rows = MakingRow.select().where(MakingRow.version.in_(versions)).tuples()
    return {row: Facts(*told) for row, *told in rows} if versions else {}


def _bullets(versions: Sequence[int]) -> dict[int, Sequence[tuple[Bullet, bool]]]:
    """The bullets of versions, each with whether it is withheld."""
    rows = (
        BulletRow.select(
            BulletRow.version,
            BulletRow.id,
            BulletRow.text,
            BulletRow.support,
            BulletRow.verdict,
            BulletRow.is_withheld,
            BulletGripRow.grip,
        )
        .join(BulletGripRow, JOIN.LEFT_OUTER)
        .where(BulletRow.version.in_(list(versions)))
        .order_by(BulletRow.version, BulletRow.position, BulletGripRow.position)
        .tuples()
    )
    told: dict[int, dict[int, tuple[Any, list[str]]]] = {}
    for version, number, *about, grip in rows:
        _, grips = told.setdefault(version, {}).setdefault(number, (about, []))
        if grip:
            grips.append(grip)
    return {
        version: [
            (Bullet(text, tuple(grips), verdicts.read(support, kept)), is_withheld)
            for (text, support, kept, is_withheld), grips in found.values()
        ]
        for version, found in told.items()
    }
