"""The table of contents: versions that are only ever added, and which is shown."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import Any

from peewee import JOIN, SQL, fn

from memtui.errors import AmbiguousError
from memtui.model import activity, calendar, citations
from memtui.model.events import MESSAGES, SPEAKERS, Event, from_ms, lowest_id, to_ms
from memtui.model.filters import Filters, SummaryMaker
from memtui.model.nodes import (
    Bullet,
    NodeCounts,
    NodeStatus,
    TocEntry,
    TocLevel,
    TocNode,
    TocVersion,
)
from memtui.model.scope import ALL, Scope
from memtui.model.summaries import NO_STATS, GenerationStats, Keyword, KeywordOrigin
from memtui.store import events, scopes
from memtui.store import versions as store_versions
from memtui.store.database import db
from memtui.store.schema import (
    BulletGripRow,
    BulletRow,
    EventRow,
    GenerationRow,
    GripRow,
    NodeRow,
    SessionRow,
    VersionRow,
)


def to_entry(row: dict[str, Any]) -> TocEntry:
    """A node as a line, whether it has a version or not."""
    return TocEntry(
        node_id=row["node_id"],
        level=TocLevel(row["level"]),
        title=row["title"] or calendar.title(row["node_id"]),
        headline=row["headline"] or "",
        start_time=from_ms(row["start_ms"]),
        end_time=from_ms(row["end_ms"] or row["start_ms"]),
        status=_status(row),
        is_live=bool(row["is_live"]),
        counts=_tally(row),
        supported=row["supported"] or 0,
        weak=row["weak"] or 0,
        bullets=row["bullets"] or 0,
        is_by_model=bool(row["is_by_model"]),
        is_pinned=bool(row["is_pinned"]),
        agents=_strings(row["agents"]),
        projects=_strings(row["projects"]),
    )


def is_pinned(row: dict[str, Any]) -> bool:
    """Whether a version is the one that a person wants to see."""
    return row["latest"] == row["shown"] and bool(row["is_pinned"])


def to_version(row: dict[str, Any], facts: Mapping[int, GenerationStats]) -> TocVersion:
    """A version as an entry of the node's history."""
    return TocVersion(
        version=row["version"],
        headline=row["headline"],
        summarizer=row["summarizer"],
        created_at=from_ms(row["created_ms"]),
        supported=row["supported"],
        weak=row["weak"],
        bullets=row["bullets"],
        withheld=row["withheld"],
        rejection=row["rejection"],
        is_by_model=bool(row["is_by_model"]),
        is_shown=row["latest"] == row["shown"],
        is_pinned=is_pinned(row),
        generation=facts.get(row["latest"], NO_STATS),
    )


def to_node(
    row: dict[str, Any],
    bullets: Sequence[tuple[Bullet, bool]],
    facts: Mapping[int, GenerationStats],
) -> TocNode:
    """A node with its bullets, and what was measured while its version was made."""
    told = to_entry(row)
    return TocNode(
        node_id=told.node_id,
        level=told.level,
        title=told.title,
        start_time=told.start_time,
        end_time=told.end_time,
        bullets=tuple(one for one, is_withheld in bullets if not is_withheld),
        withheld=tuple(one for one, is_withheld in bullets if is_withheld),
        keywords=_keywords(row["keywords"]),
        child_node_ids=_strings(row["child_ids"]),
        version=row["version"] or 0,
        created_at=from_ms(row["created_ms"]) if row["created_ms"] else None,
        headline=told.headline,
        status=told.status,
        summarizer=row["summarizer"] or "",
        input_hash=row["input_hash"] or "",
        counts=told.counts,
        agents=told.agents,
        projects=told.projects,
        generation=facts.get(row["latest"], NO_STATS),
        rejection=row["rejection"] or "",
        is_pinned=told.is_pinned,
    )


def _status(row: dict[str, Any]) -> NodeStatus:
    if row["latest"] is None:
        return NodeStatus.PENDING
    # What a person pinned is not waiting for a model.
    is_waiting = row["is_by_model"] and row["needs_model"] and not row["is_pinned"]
    if row["is_dirty"] or row["is_outdated"] or is_waiting:
        return NodeStatus.STALE
    return NodeStatus(row["status"])


def _tally(row: dict[str, Any]) -> NodeCounts:
    return NodeCounts(
        segments=row["segments"] or 0,
        events=row["events"] or 0,
        messages=row["messages"] or 0,
        subagent_events=row["subagent_events"] or 0,
    )


def _strings(stored: str | None) -> tuple[str, ...]:
    return tuple(json.loads(stored)) if stored else ()


def _keywords(stored: str | None) -> tuple[Keyword, ...]:
    rows = json.loads(stored) if stored else ()
    return tuple(
        Keyword(word, KeywordOrigin(origin), weight) for word, origin, weight in rows
    )


def delete(node_ids: Iterable[str]) -> None:
    """Take nodes out of the tree; their versions stay."""
    NodeRow.delete().where(NodeRow.node_id.in_(list(node_ids))).execute()


def get(node_id: str) -> TocNode | None:
    """A node as it is shown, with its bullets; None if it is not in the tree."""
    found = get_many([node_id])
    return found[0] if found else None


def get_many(node_ids: Sequence[str]) -> list[TocNode]:
    """Nodes as they are shown, in the order asked; unknown ones are left out."""
    found = _latest().where(NodeRow.node_id.in_(list(node_ids)))
    rows = {row["node_id"]: row for row in found.dicts()}
    return _nodes([rows[name] for name in node_ids if name in rows])


def get_version(node_id: str, version: int) -> TocNode | None:
    """Any version of a node that is in the tree, with its bullets; None for no such."""
    found = _editions(node_id).where(VersionRow.version == version)
    rows = [{**row, "is_pinned": is_pinned(row)} for row in found.dicts()]
    return next(iter(_nodes(rows)), None)


def list_versions(node_id: str) -> list[TocVersion]:
    """All versions of a node that is in the tree, the latest first."""
    rows = list(_editions(node_id).order_by(VersionRow.version.desc()).dicts())
    facts = _facts([row["latest"] for row in rows if row["is_by_model"]])
    return [to_version(row, facts) for row in rows]


def list_child_ids(node_id: str) -> list[str]:
    """The ids of a node's children, oldest first."""
    rows = (
        NodeRow.select(NodeRow.node_id)
        .where(NodeRow.parent_id == node_id)
        .order_by(NodeRow.start_ms, NodeRow.node_id)
        .tuples()
    )
    return [row[0] for row in rows]


def list_children(
    parent_id: str | None, offset: int, limit: int, of: Scope = ALL
) -> list[TocEntry]:
    """A node's children as lines, newest first; the years for None."""
    above = NodeRow.parent_id
    under = above.is_null() if parent_id is None else above == parent_id
    rows = (
        _latest()
        .where(under, *scopes.conditions(of, under=parent_id))
        .order_by(NodeRow.start_ms.desc(), NodeRow.node_id.desc())
        .limit(limit)
        .offset(offset)
    )
    return [to_entry(row) for row in rows.dicts()]


def get_entries(node_ids: Sequence[str]) -> list[TocEntry]:
    """Nodes as lines, in the order asked; the unknown ones are left out."""
    rows = _latest().where(NodeRow.node_id.in_(list(node_ids))).dicts()
    found = {row["node_id"]: to_entry(row) for row in rows}
    return [found[name] for name in node_ids if name in found]


def add_activity(found: Sequence[TocEntry]) -> list[TocEntry]:
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
        replace(
            line,
            activity=activity.count_by_part(line.node_id, to_ms(line.start_time), mine),
        )
        if (mine := under.get(line.node_id))
        else line
        for line in found
    ]


def list_newest(limit: int, of: Scope = ALL) -> list[str]:
    """The ids of the latest nodes of all levels, newest first."""
    rows = (
        NodeRow.select(NodeRow.node_id)
        .join(VersionRow)
        .where(*scopes.conditions(of))
        .order_by(NodeRow.start_ms.desc(), NodeRow.node_id.desc())
        .limit(limit)
        .tuples()
    )
    return [row[0] for row in rows]


def list_ids() -> list[str]:
    """The ids of all nodes that have a version."""
    rows = NodeRow.select(NodeRow.node_id).where(NodeRow.latest.is_null(False))
    return [row[0] for row in rows.order_by(NodeRow.node_id).tuples()]


def filter_live(node_ids: Sequence[str]) -> set[str]:
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
    NodeRow.is_outdated,
    NodeRow.needs_model,
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
    facts = _facts([row["latest"] for row in rows if row["is_by_model"]])
    return [to_node(row, bullets.get(row["latest"], ()), facts) for row in rows]


def _facts(versions: Sequence[int]) -> dict[int, GenerationStats]:
    """What was measured while models wrote these versions."""
    rows = GenerationRow.select().where(GenerationRow.version.in_(versions)).tuples()
    return {row: GenerationStats(*told) for row, *told in rows} if versions else {}


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
            (
                Bullet(
                    text, tuple(grips), store_versions.verdict_from_json(support, kept)
                ),
                is_withheld,
            )
            for (text, support, kept, is_withheld), grips in found.values()
        ]
        for version, found in told.items()
    }


_KEYWORDS = (
    "SELECT n.node_id, v.keywords FROM nodes n"
    " JOIN node_versions v ON v.id = n.latest_id WHERE n.node_id IN ({})"
)

_BULLETS = (
    "SELECT n.node_id, b.text FROM nodes n"
    " JOIN bullets b ON b.version_id = n.latest_id"
    " WHERE n.node_id IN ({}) AND NOT b.is_withheld ORDER BY b.version_id, b.position"
)

_WHOLE = (
    "SELECT n.node_id, v.title, v.headline, v.keywords, ("
    "SELECT group_concat(text, char(10)) FROM ("
    "SELECT b.text FROM bullets b WHERE b.version_id = n.latest_id"
    " AND NOT b.is_withheld ORDER BY b.position))"
    " FROM nodes n LEFT JOIN node_versions v ON v.id = n.latest_id"
    " WHERE n.node_id IN (SELECT value FROM json_each(?))"
)

Worded = tuple[list[str], list[str]]
"""A node's keywords and its bullets."""


def get_words(node_ids: Sequence[str]) -> dict[str, Worded]:
    """What the nodes with a version say; reading them whole takes three times as long.

    Args:
        node_ids: Of nodes; the unknown ones are left out.
    """
    marks = ", ".join("?" * len(node_ids))
    rows = db.execute_sql(_KEYWORDS.format(marks), node_ids).fetchall()
    found: dict[str, Worded] = {
        name: ([word for word, *_ in json.loads(kept)], []) for name, kept in rows
    }
    for name, text in db.execute_sql(_BULLETS.format(marks), node_ids).fetchall():
        found[name][1].append(text)
    return found


def get_texts(node_ids: Sequence[str]) -> dict[str, str]:
    """All that nodes say, as one text each; the unknown ones are left out."""
    rows = db.execute_sql(_WHOLE, (json.dumps(node_ids),)).fetchall()
    return {name: _joined(name, *said) for name, *said in rows}


def _joined(
    name: str, title: str, headline: str, keywords: str, bullets: str | None
) -> str:
    words = " ".join(word for word, *_ in json.loads(keywords or "[]"))
    told = [title or calendar.title(name), headline or "", words]
    return "\n".join([*told, bullets] if bullets is not None else told)


AFTER_ALL = "\U0010ffff"
"""Sorts behind whatever a name may go on with."""

NAMED = 5
"""How many are named of those that a name could be any of."""


def list_ids_under(parent_ids: Sequence[str] | None, of: Scope = ALL) -> list[str]:
    """The ids of the nodes right under some, newest first; the years for None.

    Only those that have a version: of the others there is nothing to tell.
    """
    parent = NodeRow.parent_id
    where = parent.is_null() if parent_ids is None else parent.in_(list(parent_ids))
    rows = (
        NodeRow.select(NodeRow.node_id)
        .join(VersionRow)
        .where(where, *scopes.conditions(of))
        .order_by(NodeRow.start_ms.desc(), NodeRow.node_id.desc())
        .tuples()
    )
    return [name for (name,) in rows]


_WITHIN = """(
    WITH RECURSIVE below(node_id) AS (
        SELECT ?
        UNION
        SELECT near.node_id FROM nodes AS near
        JOIN below ON near.parent_id = below.node_id
    )
    SELECT node_id FROM below
)"""
"""A node and all that is under it."""

_PLAIN = re.compile(r"[!#-\[\]-~]+")
"""What LIKE looks for as it stands in a list, in either case: ASCII that JSON does not
escape. Its ``_`` and ``%`` find what is meant, and more."""


def read_keywords(
    under: str | None, of: Scope = ALL, *, begun: Iterable[Collection[str]] = ()
) -> Iterator[tuple[str, list[str]]]:
    """Segments with their keywords, newest first, read one by one.

    Args:
        under: The node they stand under, or which they are; all of them for None.
        of: Whose work.
        begun: Of each of these, how some words begin, the keywords hold one: to look
            for letters is far quicker than to read a list. What is not ASCII can stand
            for any letter.
    """
    where = [
        NodeRow.level == TocLevel.SEGMENT.value,
        *scopes.conditions(of, under=under),
    ]
    if under is not None:
        where.append(NodeRow.node_id.in_(SQL(_WITHIN, (under,))))
    is_foreign = fn.LENGTH(VersionRow.keywords) != fn.LENGTH(
        VersionRow.keywords.cast("BLOB")
    )
    for starts in begun:
        if starts and all(map(_PLAIN.fullmatch, starts)):
            held = [VersionRow.keywords ** f"%{start}%" for start in starts]
            where.append(reduce(or_, held, is_foreign))
    rows = (
        NodeRow.select(NodeRow.node_id, VersionRow.keywords)
        .join(VersionRow)
        .where(*where)
        .order_by(NodeRow.start_ms.desc(), NodeRow.node_id.desc())
        .tuples()
    )
    for name, said in rows.iterator():
        yield name, [word for word, *_ in json.loads(said or "[]")]


def last_said_ms(number: int, start_ms: int, end_ms: int) -> int | None:
    """When the last message of a session between two times was said, if any was."""
    at_ms = (
        EventRow.select(fn.MAX(EventRow.at_ms))
        .where(
            EventRow.session == number,
            EventRow.at_ms.between(start_ms, end_ms),
            EventRow.type.in_([one.value for one in MESSAGES]),
            EventRow.role.in_([one.value for one in SPEAKERS]),
        )
        .scalar()
    )
    return None if at_ms is None else int(at_ms)


def events_in(
    start_ms: int | None,
    end_ms: int | None,
    *,
    after: str,
    limit: int,
    of: Scope = ALL,
    session: str = "",
) -> list[Event]:
    """Events of a stretch of time in the order of their ids, which is that of time.

    Args:
        start_ms: From when, in milliseconds; None from the first one on.
        end_ms: Until before when; None until the last one.
        after: Only those behind this id; "" for all.
        limit: The most.
        of: Whose work.
        session: Only of the sessions of this id.
    """
    key = EventRow.id
    rows = EventRow.select(key).join(SessionRow).order_by(key).limit(limit)
    if start_ms is not None:
        rows = rows.where(key >= lowest_id(start_ms))
    if end_ms is not None:
        rows = rows.where(key < lowest_id(end_ms))
    if after:
        rows = rows.where(key > after)
    if of.agent:
        rows = rows.where(SessionRow.agent == of.agent)
    if of.project:
        rows = rows.where(SessionRow.project == of.project)
    if session:
        rows = rows.where(SessionRow.name == session)
    names = [name for (name,) in rows.tuples()]
    found = events.get(names)
    return [found[name] for name in names if name in found]


def find_grip(start: str) -> str:
    """The id of the grip whose id begins so; "" for none.

    Raises:
        AmbiguousError: It is shorter than a citation, and several do.
    """
    table = GripRow._meta.table_name
    return _beginning(table, start, "quotes", citations.cite_grip)


def find_event(start: str) -> str:
    """The id of the event whose id begins so; "" for none.

    Raises:
        AmbiguousError: It is shorter than a citation, and several do.
    """
    table = EventRow._meta.table_name
    return _beginning(table, start, "events", citations.cite_event, lead="evt:")


def resolve_id(cited: str) -> str:
    """The id of the node that is cited, whole; what cites none stays as it is.

    Raises:
        AmbiguousError: It is shorter than a citation, and fits several.
    """
    name = citations.strip(cited)
    with suppress(ValueError):
        name = calendar.canonical(name)
    if not name.startswith(citations.SEGMENT_PREFIX):
        return name
    table = NodeRow._meta.table_name
    return _beginning(table, name, "segments", citations.cite_node, "node_id") or name


def _beginning(
    table: str,
    start: str,
    what: str,
    cited: Callable[[str], str],
    key: str = "id",
    lead: str = "",
) -> str:
    """The first id that begins so: of several that are cited alike, the first."""
    within = f"FROM {table} WHERE {key} >= ? AND {key} < ?"
    ends = start, start + AFTER_ALL
    asked = f"SELECT {key} {within} ORDER BY {key} LIMIT {NAMED}"
    found = [str(name) for (name,) in db.execute_sql(asked, ends).fetchall()]
    if len(found) > 1 and len(lead + start) < len(cited(found[0])):
        count = db.execute_sql(f"SELECT COUNT(*) {within}", ends).fetchone()[0]
        raise AmbiguousError(lead + start, what, [*map(cited, found)], count)
    return found[0] if found else ""


def list_recent(filters: Filters, limit: int) -> list[str]:
    """Return the ids of the latest nodes, newest first; segments unless levels are set.

    Args:
        filters: The filters; verdicts are ignored.
        limit: The maximum number of ids.
    """
    levels = filters.levels or {TocLevel.SEGMENT}
    where = [*scopes.conditions(filters.scope)]
    where.append(NodeRow.level.in_([level.value for level in levels]))
    if filters.since is not None:
        where.append(VersionRow.end_ms > to_ms(filters.since))
    if filters.until is not None:
        where.append(NodeRow.start_ms < to_ms(filters.until))
    if filters.maker is not None:
        is_by_model = filters.maker is SummaryMaker.MODEL
        where.append(VersionRow.is_by_model == is_by_model)
    if filters.session:
        segments = scopes.list_session_segments(filters.session, limit)
        where.append(NodeRow.node_id.in_(segments))
    rows = NodeRow.select(NodeRow.node_id).join(VersionRow).where(*where)
    rows = rows.order_by(NodeRow.start_ms.desc(), NodeRow.node_id.desc()).limit(limit)
    return [name for (name,) in rows.tuples()]
