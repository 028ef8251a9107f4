"""The nodes of the table of contents as they are shown, and their history.

Versions are added by ``versions``; here they are read.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from operator import or_
from typing import Any

from peewee import JOIN, fn

from memtui.errors import AmbiguousError
from memtui.model import calendar, citations
from memtui.model.calendar import DayRange, TocLevel
from memtui.model.events import from_ms, to_ms
from memtui.model.filters import ALL, Filters, Scope, SummarizerKind
from memtui.model.nodes import (
    Bullet,
    NodeCounts,
    NodeStatus,
    TocEntry,
    TocNode,
    TocVersion,
)
from memtui.model.summaries import (
    NO_STATS,
    BulletKind,
    GenerationStats,
    Keyword,
    KeywordOrigin,
    ProjectTotals,
)
from memtui.store import scopes, versions
from memtui.store.database import IN_JSON, fetch, fetch_value, prefix_range
from memtui.store.schema import GenerationRow, NodeRow, VersionRow

MAX_CANDIDATES = 5
"""The number of candidates named for an ambiguous citation."""

NodeWords = tuple[list[str], list[str]]
"""The keywords and the bullets of a node."""

_FIELDS = [
    NodeRow.is_dirty,
    NodeRow.is_live,
    NodeRow.is_pinned,
    NodeRow.is_outdated,
    NodeRow.needs_model,
    *(
        field
        for field in VersionRow._meta.sorted_fields
        if field.name not in {"id", "node_id", "level", "start_ms"}
    ),
]

_UNESCAPED = re.compile(r"[!#-\[\]-~]+")
"""Text that LIKE finds in a JSON list, in either case: ASCII that JSON does not escape.
Its ``_`` and ``%`` match more than themselves."""


def get(node_id: str) -> TocNode | None:
    found = get_many([node_id])
    return found[0] if found else None


def get_many(node_ids: Sequence[str]) -> list[TocNode]:
    """Return nodes as they are shown, in the order of the ids; skip unknown ones."""
    found = _select_shown().where(NodeRow.node_id.in_(list(node_ids)))
    rows = {row["node_id"]: row for row in found.dicts()}
    return _to_nodes([rows[name] for name in node_ids if name in rows])


def get_entries(node_ids: Sequence[str]) -> list[TocEntry]:
    rows = _select_shown().where(NodeRow.node_id.in_(list(node_ids))).dicts()
    found = {row["node_id"]: _to_entry(row) for row in rows}
    return [found[name] for name in node_ids if name in found]


def get_version(node_id: str, version: int) -> TocNode | None:
    found = _select_versions(node_id).where(VersionRow.version == version)
    rows = [{**row, "is_pinned": _is_pinned(row)} for row in found.dicts()]
    return next(iter(_to_nodes(rows)), None)


def list_versions(node_id: str) -> list[TocVersion]:
    rows = list(_select_versions(node_id).order_by(VersionRow.version.desc()).dicts())
    stats = _read_stats(rows)
    return [
        TocVersion(
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
            is_pinned=_is_pinned(row),
            generation=stats.get(row["latest"], NO_STATS),
        )
        for row in rows
    ]


def _select_shown() -> Any:
    columns = NodeRow.node_id, NodeRow.level, NodeRow.start_ms, NodeRow.latest
    return NodeRow.select(*columns, *_FIELDS).join(VersionRow, JOIN.LEFT_OUTER)


def _select_versions(node_id: str) -> Any:
    """Select all versions of a node, each as though it were shown."""
    columns = NodeRow.node_id, NodeRow.level, NodeRow.start_ms
    latest, shown = VersionRow.id.alias("latest"), NodeRow.latest.alias("shown")
    rows = VersionRow.select(*columns, latest, shown, *_FIELDS)
    is_same = NodeRow.node_id == VersionRow.node_id
    return rows.join(NodeRow, on=is_same).where(VersionRow.node_id == node_id)


def _is_pinned(row: dict[str, Any]) -> bool:
    return row["latest"] == row["shown"] and bool(row["is_pinned"])


def _to_entry(row: dict[str, Any]) -> TocEntry:
    return TocEntry(
        node_id=row["node_id"],
        level=TocLevel(row["level"]),
        title=row["title"] or calendar.title(row["node_id"]),
        headline=row["headline"] or "",
        start_time=from_ms(row["start_ms"]),
        end_time=from_ms(row["end_ms"] or row["start_ms"]),
        status=_status(row),
        is_live=bool(row["is_live"]),
        counts=NodeCounts(
            segments=row["segments"] or 0,
            events=row["events"] or 0,
            messages=row["messages"] or 0,
            subagent_events=row["subagent_events"] or 0,
        ),
        supported=row["supported"] or 0,
        weak=row["weak"] or 0,
        bullets=row["bullets"] or 0,
        is_by_model=bool(row["is_by_model"]),
        is_pinned=bool(row["is_pinned"]),
        agents=tuple(json.loads(row["agents"] or "[]")),
        projects=tuple(json.loads(row["projects"] or "[]")),
    )


def _status(row: dict[str, Any]) -> NodeStatus:
    if row["latest"] is None:
        return NodeStatus.PENDING
    # A pinned version does not wait for a model.
    is_waiting = row["is_by_model"] and row["needs_model"] and not row["is_pinned"]
    if row["is_dirty"] or row["is_outdated"] or is_waiting:
        return NodeStatus.STALE
    return NodeStatus(row["status"])


def _to_nodes(rows: Sequence[dict[str, Any]]) -> list[TocNode]:
    bullets, stats = _read_bullets(rows), _read_stats(rows)
    nodes = []
    for row in rows:
        entry = _to_entry(row)
        shown, withheld = bullets.get(row["latest"], ((), ()))
        node = TocNode(
            node_id=entry.node_id,
            level=entry.level,
            title=entry.title,
            start_time=entry.start_time,
            end_time=entry.end_time,
            bullets=tuple(shown),
            withheld=tuple(withheld),
            keywords=parse_keywords(row["keywords"] or "[]"),
            child_node_ids=tuple(json.loads(row["child_ids"] or "[]")),
            version=row["version"] or 0,
            created_at=from_ms(row["created_ms"]) if row["created_ms"] else None,
            headline=entry.headline,
            status=entry.status,
            summarizer=row["summarizer"] or "",
            input_hash=row["input_hash"] or "",
            counts=entry.counts,
            agents=entry.agents,
            projects=entry.projects,
            generation=stats.get(row["latest"], NO_STATS),
            rejection=row["rejection"] or "",
            is_pinned=entry.is_pinned,
        )
        nodes.append(node)
    return nodes


def parse_keywords(stored: str) -> tuple[Keyword, ...]:
    """Return the keywords in a stored list, highest weight first."""
    return tuple(
        Keyword(word, KeywordOrigin(origin), weight)
        for word, origin, weight in json.loads(stored)
    )


def _read_stats(rows: Iterable[dict[str, Any]]) -> dict[int, GenerationStats]:
    by_models = [row["latest"] for row in rows if row["is_by_model"]]
    found = GenerationRow.select().where(GenerationRow.version.in_(by_models))
    return {
        version: GenerationStats(*columns)
        for version, *columns in (found.tuples() if by_models else ())
    }


def _read_bullets(
    rows: Iterable[dict[str, Any]],
) -> Mapping[int, tuple[Sequence[Bullet], Sequence[Bullet]]]:
    """Return the bullets that are shown and those withheld, by version."""
    found: dict[int, tuple[list[Bullet], list[Bullet]]] = {}
    for version, is_withheld, text, support, verdict, kind, *work, grips in fetch(
        "SELECT b.version_id, b.is_withheld, b.text, b.support, b.verdict, b.kind,"
        " b.project, b.session_id, b.effort, (SELECT group_concat(grip_id) FROM"
        " (SELECT grip_id FROM bullet_grips WHERE bullet_id = b.id ORDER BY position))"
        f" FROM bullets b WHERE b.version_id {IN_JSON}"
        " ORDER BY b.version_id, b.position",
        json.dumps([row["latest"] for row in rows if row["latest"]]),
    ):
        bullet = Bullet(
            text,
            tuple(grips.split(",")) if grips else (),
            versions.verdict_from_json(support, verdict),
            BulletKind(kind),
            *work,
        )
        found.setdefault(version, ([], []))[is_withheld].append(bullet)
    return found


def read_plain_bullets(version_ids: Sequence[int]) -> dict[int, tuple[Bullet, ...]]:
    """Return the shown bullets of versions without grips and verdicts, by version.

    Reading all of them takes several times as long.
    """
    found: dict[int, list[Bullet]] = {}
    for version, text, kind, project, session_id, effort in fetch(
        "SELECT version_id, text, kind, project, session_id, effort FROM bullets"
        f" WHERE version_id {IN_JSON} AND NOT is_withheld"
        " ORDER BY version_id, position",
        json.dumps(list(version_ids)),
    ):
        bullet = Bullet(
            text,
            kind=BulletKind(kind),
            project=project,
            session_id=session_id,
            effort=effort,
        )
        found.setdefault(version, []).append(bullet)
    return {version: tuple(bullets) for version, bullets in found.items()}


def project_totals(start_ms: int, end_ms: int) -> dict[str, ProjectTotals]:
    """Return the work on each project in a time range.

    Each segment has one bullet with the state of its work, and one for each commit.
    """
    rows = fetch(_PROJECT_TOTALS, start_ms, end_ms)
    return {project: ProjectTotals(*counts) for project, *counts in rows}


_PROJECT_TOTALS = """
SELECT bullets.project,
       COUNT(DISTINCT CASE bullets.kind WHEN 'state' THEN bullets.session_id END),
       COUNT(DISTINCT nodes.parent_id),
       SUM(bullets.kind = 'commit')
  FROM nodes JOIN bullets ON bullets.version_id = nodes.latest_id
 WHERE nodes.level = 'segment' AND nodes.start_ms >= ? AND nodes.start_ms < ?
   AND bullets.kind IN ('state', 'commit')
 GROUP BY bullets.project
"""


def list_part_ids(node_id: str) -> list[str]:
    """Return the ids of the nodes that a node is summarized from, oldest first.

    Those of a month are its days, since its weeks may have days of other months.
    """
    is_part = NodeRow.parent_id == node_id
    if calendar.period(node_id).level is TocLevel.MONTH:
        is_part = _is_day_within(calendar.day_range(node_id))
    rows = NodeRow.select(NodeRow.node_id).where(is_part)
    in_order = rows.order_by(NodeRow.start_ms, NodeRow.node_id)
    return [name for (name,) in in_order.tuples()]


def _level_of(node_id: str) -> TocLevel | None:
    try:
        return calendar.period(node_id).level
    except ValueError:
        return None


def _is_day_within(days: DayRange) -> Any:
    # No id of another level sorts between those of days.
    return (NodeRow.node_id >= days[0]) & (NodeRow.node_id < days[1])


def _is_child_of(node_ids: Sequence[str]) -> Any:
    """Return the condition that a node is listed under one of some others."""
    months = [one for one in node_ids if _level_of(one) is TocLevel.MONTH]
    others = {*node_ids}.difference(months)
    conditions = [NodeRow.parent_id.in_([*others])] if others or not months else []
    if months:
        ranges = (_is_day_within(calendar.day_range(one)) for one in months)
        weeks = NodeRow.select(NodeRow.parent_id).where(reduce(or_, ranges))
        conditions.append(NodeRow.node_id.in_(weeks))
    return reduce(or_, conditions)


def _newest_first(rows: Any) -> Any:
    return rows.order_by(NodeRow.start_ms.desc(), NodeRow.node_id.desc())


def list_children(
    parent_id: str | None,
    offset: int,
    limit: int,
    scope: Scope = ALL,
    *,
    days: DayRange | None = None,
) -> list[TocEntry]:
    """Return the entries of a node's children, newest first; the years for None.

    Args:
        parent_id: The node.
        offset: The number of children to skip.
        limit: The maximum number of children.
        scope: The agent, project or keyword to include.
        days: The days to include of a week; all by default.
    """
    where = [*scopes.conditions(scope, under=parent_id)]
    where.append(
        _is_child_of([parent_id]) if parent_id else NodeRow.parent_id.is_null()
    )
    if days:
        where.append(_is_day_within(days))
    rows = _select_shown().where(*where)
    page = _newest_first(rows).limit(limit).offset(offset)
    return [_to_entry(row) for row in page.dicts()]


def _list_shown(*where: Any, limit: int | None = None) -> list[str]:
    rows = NodeRow.select(NodeRow.node_id).join(VersionRow)
    found = _newest_first(rows.where(*where) if where else rows)
    return [name for (name,) in found.limit(limit).tuples()]


def list_ids_under(
    parent_ids: Sequence[str] | None, scope: Scope = ALL, within: str = ""
) -> list[str]:
    """Return the ids of the children of some nodes, newest first; the years for None.

    Pending nodes are left out: there is nothing to show of them.

    Args:
        parent_ids: The nodes above.
        scope: The agent, project or keyword to include.
        within: A node whose days alone are included; "" for all days.
    """
    is_year = NodeRow.parent_id.is_null()
    where = [is_year if parent_ids is None else _is_child_of(parent_ids)]
    if _level_of(within):
        is_day = NodeRow.level == TocLevel.DAY.value
        where.append(~is_day | _is_day_within(calendar.day_range(within)))
    return _list_shown(*where, *scopes.conditions(scope))


def list_newest(limit: int) -> list[str]:
    return _list_shown(limit=limit)


def list_recent(filters: Filters, limit: int) -> list[str]:
    """Return the ids of the latest nodes, newest first; segments unless levels are set.

    Filters by verdict are ignored.
    """
    levels = filters.levels or {TocLevel.SEGMENT}
    where = [*scopes.conditions(filters.scope)]
    where.append(NodeRow.level.in_([level.value for level in levels]))
    if filters.since is not None:
        where.append(VersionRow.end_ms > to_ms(filters.since))
    if filters.until is not None:
        where.append(NodeRow.start_ms < to_ms(filters.until))
    if filters.summarizer_kind is not None:
        is_by_model = filters.summarizer_kind is SummarizerKind.MODEL
        where.append(VersionRow.is_by_model == is_by_model)
    if filters.session:
        segments = scopes.list_session_segments(filters.session, limit)
        where.append(NodeRow.node_id.in_(segments))
    return _list_shown(*where, limit=limit)


def list_ids() -> list[str]:
    rows = NodeRow.select(NodeRow.node_id).where(NodeRow.latest.is_null(False))
    return [name for (name,) in rows.order_by(NodeRow.node_id).tuples()]


def filter_live(node_ids: Sequence[str]) -> set[str]:
    is_named = NodeRow.node_id.in_(list(node_ids))
    rows = NodeRow.select(NodeRow.node_id).where(is_named, NodeRow.is_live)
    return {name for (name,) in rows.tuples()}


def count() -> tuple[int, int, int]:
    bullets, supported = fn.SUM(VersionRow.bullets), fn.SUM(VersionRow.supported)
    rows = NodeRow.select(fn.COUNT(NodeRow.node_id), bullets, supported)
    nodes, *sums = rows.join(VersionRow).tuples().get()
    return int(nodes), int(sums[0] or 0), int(sums[1] or 0)


def delete(node_ids: Iterable[str]) -> None:
    """Delete nodes from the table of contents; their versions stay."""
    NodeRow.delete().where(NodeRow.node_id.in_(list(node_ids))).execute()


def get_words(node_ids: Sequence[str]) -> dict[str, NodeWords]:
    """Return keywords and bullets of nodes; reading whole nodes takes thrice as long.

    Unknown nodes are skipped.
    """
    ids = json.dumps(list(node_ids))
    found: dict[str, NodeWords] = {
        name: ([word for word, *_ in json.loads(keywords)], [])
        for name, keywords in fetch(
            "SELECT n.node_id, v.keywords FROM nodes n"
            f" JOIN node_versions v ON v.id = n.latest_id WHERE n.node_id {IN_JSON}",
            ids,
        )
    }
    for name, text in fetch(
        "SELECT n.node_id, b.text FROM nodes n"
        " JOIN bullets b ON b.version_id = n.latest_id"
        f" WHERE n.node_id {IN_JSON} AND NOT b.is_withheld"
        " ORDER BY b.version_id, b.position",
        ids,
    ):
        found[name][1].append(text)
    return found


def read_keywords(
    under: str | None, scope: Scope = ALL, *, prefixes: Iterable[Collection[str]] = ()
) -> Iterator[tuple[str, list[str]]]:
    """Yield segments with their keywords, newest first.

    ``under`` is the node that contains the segments, or the segment itself. For each
    group of prefixes, the keywords contain a word with one of them; this is a fast
    filter: words that are not ASCII pass it.
    """
    keywords = VersionRow.keywords
    where = [NodeRow.level == "segment", *scopes.conditions(scope, under=under)]
    if under is not None:
        where.append(_is_segment_below(under))
    has_non_ascii = fn.LENGTH(keywords) != fn.LENGTH(keywords.cast("BLOB"))
    for group in prefixes:
        if group and all(map(_UNESCAPED.fullmatch, group)):
            matches = [keywords ** f"%{prefix}%" for prefix in group]
            where.append(reduce(or_, matches, has_non_ascii))
    rows = NodeRow.select(NodeRow.node_id, keywords).join(VersionRow).where(*where)
    for name, stored in _newest_first(rows).tuples().iterator():
        yield name, [word for word, *_ in json.loads(stored or "[]")]


def _is_segment_below(node_id: str) -> Any:
    if _level_of(node_id) in (None, TocLevel.SEGMENT):
        return NodeRow.node_id == node_id
    first, end = calendar.day_range(node_id)
    return (NodeRow.parent_id >= first) & (NodeRow.parent_id < end)


def find_grip(prefix: str) -> str:
    """Return the id of the grip with a prefix; "" if there is none.

    Raises:
        AmbiguousError: There are several, and it is shorter than a citation.
    """
    return _find("grips", prefix, "quotes", citations.cite_grip)


def find_event(prefix: str) -> str:
    """Return the id of the event with a prefix; "" if there is none.

    Raises:
        AmbiguousError: There are several, and it is shorter than a citation.
    """
    return _find("events", prefix, "events", citations.cite_event, label="evt:")


def resolve_id(cited: str) -> str:
    """Return the full id of a cited node; any other text is returned unchanged.

    Raises:
        AmbiguousError: It fits several nodes, and is shorter than a citation.
    """
    name = citations.strip(cited)
    with suppress(ValueError):
        name = calendar.canonical(name)
    if not name.startswith(citations.SEGMENT_PREFIX):
        return name
    return _find("nodes", name, "segments", citations.cite_node, "node_id") or name


def _find(
    table: str,
    prefix: str,
    what: str,
    cite: Callable[[str], str],
    key: str = "id",
    label: str = "",
) -> str:
    """Return the first id with a prefix, among several with the same citation."""
    condition = f"FROM {table} WHERE {key} >= ? AND {key} < ?"
    bounds = prefix_range(prefix)
    sql = f"SELECT {key} {condition} ORDER BY {key} LIMIT {MAX_CANDIDATES}"
    found = [str(name) for (name,) in fetch(sql, *bounds)]
    if len(found) > 1 and len(label + prefix) < len(cite(found[0])):
        count = fetch_value(f"SELECT COUNT(*) {condition}", *bounds)
        raise AmbiguousError(label + prefix, what, [*map(cite, found)], count)
    return found[0] if found else ""
