"""The table of contents: versions that are only ever added, and which is shown."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from peewee import JOIN, fn

from memtui.memory import activity, calendar
from memtui.memory.events import from_ms, to_ms
from memtui.memory.origins import Keyword, Origin
from memtui.memory.scopes import ALL, Scope
from memtui.memory.summaries import UNMEASURED, Facts
from memtui.memory.toc import (
    Bullet,
    Status,
    Tally,
    TocEdition,
    TocLevel,
    TocLine,
    TocNode,
)
from memtui.store import scopes, verdicts
from memtui.store.tables import (
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
    rows = [{**row, "is_pinned": _is_pinned(row)} for row in found.dicts()]
    return next(iter(_nodes(rows)), None)


def editions(node_id: str) -> list[TocEdition]:
    """All versions of a node that is in the tree, the latest first."""
    rows = list(_editions(node_id).order_by(VersionRow.version.desc()).dicts())
    facts = _facts([row["latest"] for row in rows if row["is_models"]])
    return [_edition(row, facts) for row in rows]


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
    return [_line(row) for row in rows.dicts()]


def lines(node_ids: Sequence[str]) -> list[TocLine]:
    """Nodes as lines, in the order asked; the unknown ones are left out."""
    rows = _latest().where(NodeRow.node_id.in_(list(node_ids))).dicts()
    found = {row["node_id"]: _line(row) for row in rows}
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
    return [_node(row, bullets.get(row["latest"], ()), facts) for row in rows]


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


def _status(row: dict[str, Any]) -> Status:
    if row["latest"] is None:
        return Status.PENDING
    # What a person pinned is not waiting for a model.
    is_waiting = row["is_models"] and row["wants_model"] and not row["is_pinned"]
    if row["is_dirty"] or row["is_behind"] or is_waiting:
        return Status.STALE
    return Status(row["status"])


def _tally(row: dict[str, Any]) -> Tally:
    return Tally(
        segments=row["segments"] or 0,
        events=row["events"] or 0,
        messages=row["messages"] or 0,
        subagent_events=row["subagent_events"] or 0,
    )


def _line(row: dict[str, Any]) -> TocLine:
    return TocLine(
        node_id=row["node_id"],
        level=TocLevel(row["level"]),
        title=row["title"] or calendar.title(row["node_id"]),
        headline=row["headline"] or "",
        start_time=from_ms(row["start_ms"]),
        end_time=from_ms(row["end_ms"] or row["start_ms"]),
        status=_status(row),
        is_live=bool(row["is_live"]),
        tally=_tally(row),
        supported=row["supported"] or 0,
        weak=row["weak"] or 0,
        bullets=row["bullets"] or 0,
        is_models=bool(row["is_models"]),
        is_pinned=bool(row["is_pinned"]),
        agents=_strings(row["agents"]),
        projects=_strings(row["projects"]),
    )


def _is_pinned(row: dict[str, Any]) -> bool:
    """Whether a version is the one that a person wants to see."""
    return row["latest"] == row["shown"] and bool(row["is_pinned"])


def _edition(row: dict[str, Any], facts: Mapping[int, Facts]) -> TocEdition:
    return TocEdition(
        version=row["version"],
        headline=row["headline"],
        summarizer=row["summarizer"],
        created_at=from_ms(row["created_ms"]),
        supported=row["supported"],
        weak=row["weak"],
        bullets=row["bullets"],
        withheld=row["withheld"],
        rejected=row["rejected"],
        is_models=bool(row["is_models"]),
        is_shown=row["latest"] == row["shown"],
        is_pinned=_is_pinned(row),
        facts=facts.get(row["latest"], UNMEASURED),
    )


def _node(
    row: dict[str, Any],
    bullets: Sequence[tuple[Bullet, bool]],
    facts: Mapping[int, Facts],
) -> TocNode:
    line = _line(row)
    return TocNode(
        node_id=line.node_id,
        level=line.level,
        title=line.title,
        start_time=line.start_time,
        end_time=line.end_time,
        bullets=tuple(one for one, is_withheld in bullets if not is_withheld),
        withheld=tuple(one for one, is_withheld in bullets if is_withheld),
        keywords=_keywords(row["keywords"]),
        child_node_ids=_strings(row["children"]),
        version=row["version"] or 0,
        created_at=from_ms(row["created_ms"]) if row["created_ms"] else None,
        headline=line.headline,
        status=line.status,
        summarizer=row["summarizer"] or "",
        input_hash=row["input_hash"] or "",
        tally=line.tally,
        agents=line.agents,
        projects=line.projects,
        facts=facts.get(row["latest"], UNMEASURED),
        rejected=row["rejected"] or "",
        is_pinned=line.is_pinned,
    )


def _strings(stored: str | None) -> tuple[str, ...]:
    return tuple(json.loads(stored)) if stored else ()


def _keywords(stored: str | None) -> tuple[Keyword, ...]:
    rows = json.loads(stored) if stored else ()
    return tuple(Keyword(word, Origin(origin), weight) for word, origin, weight in rows)
