"""The nodes of the table of contents as they are shown, and their history.

Versions are added by ``versions``; here they are read.
"""

import json
import logging
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from memtui.errors import AmbiguousError
from memtui.model import calendar, citations
from memtui.model.calendar import DayRange, TocLevel
from memtui.model.events import from_ms, to_ms
from memtui.model.filters import ALL, Filters, Scope, SummarizerKind
from memtui.model.nodes import (
    Bullet,
    BulletKind,
    GenerationStats,
    Keyword,
    NodeCounts,
    NodeStatus,
    TocEntry,
    TocNode,
    TocVersion,
)
from memtui.model.verdicts import Support
from memtui.store import json_columns, judgements, scopes, versions
from memtui.store.database import (
    IN_JSON,
    db,
    execute,
    existing_keys,
    fetch,
    fetch_column,
    fetch_dicts,
    fetch_value,
    prefix_range,
)
from memtui.store.scopes import Condition

log = logging.getLogger(__name__)

MAX_CANDIDATES = 5

NodeWords = tuple[list[str], list[str]]

_COLUMNS = (
    "n.node_id, n.level, n.start_ms, is_dirty, is_live, is_pinned, is_outdated,"
    " needs_model, version, title, headline, end_ms, keywords, child_ids, status,"
    " summarizer, input_hash, created_ms, segments, events, messages, subagent_events,"
    " bullets, supported, agents, projects, is_by_model, weak, withheld, rejection,"
    " session_title, generation"
)

_SELECT_SHOWN = (
    f"SELECT {_COLUMNS}, n.latest_id AS latest FROM nodes n"
    " LEFT JOIN node_versions v ON v.id = n.latest_id"
)
"""Selects nodes with the version that is shown; a pending one has none."""

_SELECT_VERSIONS = (
    f"SELECT {_COLUMNS}, v.id AS latest, n.latest_id AS shown FROM node_versions v"
    " JOIN nodes n ON n.node_id = v.node_id WHERE v.node_id = ?"
)
"""Selects the versions of a node, each as though it were shown."""

_IS_READABLE = f"typeof(text) = 'text' AND kind IN {tuple(map(str, BulletKind))}"
"""The condition of bullets that are not damaged."""

_NEWEST_FIRST = "ORDER BY n.start_ms DESC, n.node_id DESC"

_UNESCAPED = re.compile(r"[!#-\[\]-~]+")
"""Text that LIKE finds in a JSON list, in either case: ASCII that JSON does not escape.
Its ``_`` and ``%`` match more than themselves."""


def get(node_id: str) -> TocNode | None:
    nodes = get_many([node_id])
    return nodes[0] if nodes else None


def get_many(node_ids: Sequence[str]) -> list[TocNode]:
    """Return nodes as they are shown, in the order of the ids; skip unknown ones."""
    return judgements.judge_nodes(_to_nodes(_read_shown(node_ids)), with_kept=True)


def get_entries(node_ids: Sequence[str]) -> list[TocEntry]:
    """Return the entries of nodes, in the order of the ids; skip unknown ones."""
    return list(map(_to_entry, _read_shown(node_ids)))


def _read_shown(node_ids: Sequence[str]) -> list[dict[str, Any]]:
    sql = f"{_SELECT_SHOWN} WHERE n.node_id {IN_JSON}"
    rows = {row["node_id"]: row for row in fetch_dicts(sql, json.dumps(list(node_ids)))}
    return [rows[name] for name in node_ids if name in rows]


def get_extracts(node_ids: Sequence[str]) -> list[TocNode]:
    """Return the latest extract of each of some nodes, whatever version is shown.

    Its lines are as they were made, whatever was said of them.
    """
    newest = (
        "SELECT max(id) FROM node_versions"
        f" WHERE node_id {IN_JSON} AND NOT is_by_model GROUP BY node_id"
    )
    rows = fetch_dicts(
        f"SELECT {_COLUMNS}, v.id AS latest FROM node_versions v"
        f" JOIN nodes n ON n.node_id = v.node_id WHERE v.id IN ({newest})",
        json.dumps(list(node_ids)),
    )
    return _to_nodes(rows)


def get_version(node_id: str, version: int) -> TocNode | None:
    rows = fetch_dicts(f"{_SELECT_VERSIONS} AND v.version = ?", node_id, version)
    rows = [{**row, "is_pinned": _is_pinned(row)} for row in rows]
    return next(iter(judgements.judge_nodes(_to_nodes(rows), with_kept=False)), None)


def list_versions(node_id: str) -> list[TocVersion]:
    """Return all versions of a node, the latest first."""
    rows = fetch_dicts(f"{_SELECT_VERSIONS} ORDER BY v.version DESC", node_id)
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
            generation=_parse_generation(row),
        )
        for row in rows
    ]


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
        supported_count=row["supported"] or 0,
        weak_count=row["weak"] or 0,
        bullet_count=row["bullets"] or 0,
        is_by_model=bool(row["is_by_model"]),
        is_pinned=bool(row["is_pinned"]),
        agents=json_columns.read_names(row["agents"]),
        projects=json_columns.read_names(row["projects"]),
    )


def _status(row: dict[str, Any]) -> NodeStatus:
    if row["version"] is None:
        return NodeStatus.PENDING
    # A pinned version does not wait for a model.
    is_waiting = row["is_by_model"] and row["needs_model"] and not row["is_pinned"]
    if row["is_dirty"] or row["is_outdated"] or is_waiting:
        return NodeStatus.STALE
    return NodeStatus(row["status"])


def _to_nodes(rows: Sequence[dict[str, Any]]) -> list[TocNode]:
    bullets = _read_bullets(rows)
    nodes = []
    for row in rows:
        entry = _to_entry(row)
        listed, hidden = bullets.get(row["latest"], ((), ()))
        node = TocNode(
            node_id=entry.node_id,
            level=entry.level,
            title=entry.title,
            start_time=entry.start_time,
            end_time=entry.end_time,
            bullets=tuple(listed),
            further=tuple(bullet for bullet in hidden if not bullet.is_withheld),
            withheld=tuple(bullet for bullet in hidden if bullet.is_withheld),
            keywords=tuple(
                Keyword(*columns)
                for columns in json_columns.read_keywords(row["keywords"])
            ),
            child_node_ids=json_columns.read_names(row["child_ids"]),
            version=row["version"] or 0,
            created_at=from_ms(row["created_ms"]) if row["created_ms"] else None,
            headline=entry.headline,
            session_title=row["session_title"] or "",
            status=entry.status,
            summarizer=row["summarizer"] or "",
            input_hash=row["input_hash"] or "",
            counts=entry.counts,
            agents=entry.agents,
            projects=entry.projects,
            generation=_parse_generation(row),
            rejection=row["rejection"] or "",
            is_pinned=entry.is_pinned,
        )
        nodes.append(node)
    return nodes


def _parse_generation(row: dict[str, Any]) -> GenerationStats:
    fields: dict[str, Any] = json_columns.read(row["generation"], {})
    with suppress(TypeError):
        return GenerationStats(**fields)
    return GenerationStats()


def _read_bullets(
    rows: Iterable[dict[str, Any]],
) -> Mapping[int, tuple[Sequence[Bullet], Sequence[Bullet]]]:
    """Return the bullets that are listed and those that are not, by version."""
    bullets: dict[int, tuple[list[Bullet], list[Bullet]]] = {}
    for version, is_hidden, text, support, verdict, kind, *work, grips in fetch(
        "SELECT b.version_id, b.is_withheld, b.text, b.support, b.verdict, b.kind,"
        " b.project, b.session_id, (SELECT group_concat(grip_id) FROM"
        " (SELECT grip_id FROM bullet_grips WHERE bullet_id = b.id ORDER BY position))"
        f" FROM bullets b WHERE b.version_id {IN_JSON} AND {_IS_READABLE}"
        " ORDER BY b.version_id, b.position",
        json.dumps([row["latest"] for row in rows if row["latest"]]),
    ):
        try:
            bullet = Bullet(
                text,
                tuple(grips.split(",")) if grips else (),
                versions.verdict_from_json(support, verdict),
                BulletKind(kind),
                *work,
            )
        except (ValueError, TypeError, AttributeError) as error:
            log.warning("a bullet of version %d cannot be read: %s", version, error)
        else:
            bullets.setdefault(version, ([], []))[bool(is_hidden)].append(bullet)
    return bullets


def list_part_ids(node_id: str) -> list[str]:
    """Return the ids of the nodes that a node is summarized from, oldest first.

    Those of a month are its days, since its weeks may have days of other months.
    """
    condition, values = "parent_id = ?", [node_id]
    if calendar.period(node_id).level is TocLevel.MONTH:
        condition, values = _IS_BETWEEN, [*calendar.day_range(node_id)]
    return fetch_column(
        f"SELECT node_id FROM nodes n WHERE {condition} ORDER BY start_ms, node_id",
        *values,
    )


def _level_of(node_id: str) -> TocLevel | None:
    try:
        return calendar.period(node_id).level
    except ValueError:
        return None


_IS_BETWEEN = "n.node_id >= ? AND n.node_id < ?"
"""The condition of a day in a range: no id of another level sorts between those."""


def _child_condition(parent_ids: Sequence[str] | None) -> Condition:
    """Return the condition of what is listed under some nodes; the years for None.

    Weeks are listed under the months of their days.
    """
    if parent_ids is None:
        return "n.parent_id IS NULL", []
    months = [node_id for node_id in parent_ids if _level_of(node_id) is TocLevel.MONTH]
    values: list[object] = [node_id for node_id in parent_ids if node_id not in months]
    parts = [f"n.parent_id IN ({', '.join('?' * len(values))})"] if values else []
    for month in months:
        weeks = f"SELECT n.parent_id FROM nodes n WHERE {_IS_BETWEEN}"
        parts.append(f"n.node_id IN ({weeks})")
        values += calendar.day_range(month)
    return f"({' OR '.join(parts) or '0'})", values


def list_children(
    parent_id: str | None,
    offset: int,
    limit: int,
    scope: Scope = ALL,
    *,
    days: DayRange | None = None,
) -> list[TocEntry]:
    """Return the entries of a node's children, newest first; the years for None.

    Only segments are narrowed to the scope, and only days to the range of days.
    """
    condition, values = _child_condition(parent_id and [parent_id])
    is_in_scope, of_scope = scopes.segment_condition(scope)
    if days:
        condition += f" AND {_IS_BETWEEN}"
        values += days
    rows = fetch_dicts(
        f"{_SELECT_SHOWN} WHERE {condition} AND {is_in_scope}"
        f" {_NEWEST_FIRST} LIMIT ? OFFSET ?",
        *values,
        *of_scope,
        limit,
        offset,
    )
    return list(map(_to_entry, rows))


def _list_shown(condition: str, *values: object, limit: int = -1) -> list[str]:
    """Return the ids of nodes that have a version and fulfil a condition."""
    return fetch_column(
        "SELECT n.node_id FROM nodes n JOIN node_versions v ON v.id = n.latest_id"
        f" WHERE {condition} {_NEWEST_FIRST} LIMIT ?",
        *values,
        limit,
    )


def list_ids_under(parent_ids: Sequence[str] | None, scope: Scope = ALL) -> list[str]:
    """Return the ids of the children of some nodes, newest first; the years for None.

    Pending nodes are left out: they have nothing to show.
    """
    condition, values = _child_condition(parent_ids)
    is_in_scope, of_scope = scopes.node_condition(scope)
    return _list_shown(f"{condition} AND {is_in_scope}", *values, *of_scope)


def list_newest(limit: int) -> list[str]:
    """Return the ids of the latest nodes of all levels, newest first."""
    return _list_shown("1", limit=limit)


_COUNTS = {
    Support.SUPPORTED: "supported",
    Support.WEAK: "weak",
    Support.UNSUPPORTED: "withheld",
}
"""The column that counts the bullets with a verdict."""


def list_recent(filters: Filters, limit: int) -> list[str]:
    """Return the ids of the latest nodes, newest first; segments unless levels are set.

    If verdicts are filtered by, the nodes have a bullet with one of them.
    """
    condition, values = scopes.node_condition(filters.scope)
    if filters.support:
        counts = " OR ".join(f"v.{_COUNTS[support]} > 0" for support in filters.support)
        condition += f" AND ({counts})"
    condition += f" AND n.level {IN_JSON}"
    values.append(json.dumps(sorted(filters.levels or {TocLevel.SEGMENT})))
    if filters.since is not None:
        condition += " AND v.end_ms > ?"
        values.append(to_ms(filters.since))
    if filters.until is not None:
        condition += " AND n.start_ms < ?"
        values.append(to_ms(filters.until))
    if filters.summarizer_kind is not None:
        condition += " AND v.is_by_model = ?"
        values.append(filters.summarizer_kind is SummarizerKind.MODEL)
    if filters.session:
        condition += f" AND n.node_id {IN_JSON}"
        segments = scopes.list_session_segments(filters.session, limit)
        values.append(json.dumps(segments))
    return _list_shown(condition, *values, limit=limit)


def list_ids() -> list[str]:
    """Return the ids of all nodes that have a version."""
    sql = "SELECT node_id FROM nodes WHERE latest_id IS NOT NULL ORDER BY node_id"
    return fetch_column(sql)


def is_stored(node_id: str) -> bool:
    """Return whether there is a node or a version of it."""
    tables = ("nodes", "node_versions")
    return any(existing_keys(table, [node_id], "node_id") for table in tables)


def filter_live(node_ids: Sequence[str]) -> set[str]:
    """Return those of these nodes that contain an open segment."""
    sql = f"SELECT node_id FROM nodes WHERE node_id {IN_JSON} AND is_live"
    return set(fetch_column(sql, json.dumps(list(node_ids))))


def count() -> tuple[int, int, int]:
    """Count the nodes, their bullets, and the supported bullets among them."""
    ((nodes, bullets, supported),) = fetch(
        "SELECT count(*), coalesce(sum(bullets), 0), coalesce(sum(supported), 0)"
        " FROM nodes n JOIN node_versions v ON v.id = n.latest_id"
    )
    return nodes, bullets, supported


def delete(node_ids: Iterable[str]) -> None:
    """Delete nodes from the table of contents; their versions stay."""
    sql = f"DELETE FROM nodes WHERE node_id {IN_JSON}"
    execute(sql, json.dumps(list(node_ids)))


def get_words(node_ids: Sequence[str]) -> dict[str, NodeWords]:
    """Return keywords and lines of nodes; unknown ones are skipped."""
    lines = list_lines(node_ids)
    rows = fetch(
        "SELECT n.node_id, v.keywords FROM nodes n"
        f" JOIN node_versions v ON v.id = n.latest_id WHERE n.node_id {IN_JSON}",
        json.dumps(list(node_ids)),
    )
    return {
        name: ([word for word, _ in json_columns.read_keywords(keywords)], lines[name])
        for name, keywords in rows
    }


def list_lines(
    node_ids: Sequence[str], without: Collection[BulletKind] = ()
) -> dict[str, list[str]]:
    """Return the lines of nodes that are shown, except those of some kinds.

    Reading whole nodes takes thrice as long; only those that may be judged are read.
    """
    lines: dict[str, list[str]] = {name: [] for name in node_ids}
    ids = json.dumps(list(node_ids))
    for name, text in fetch(
        "SELECT n.node_id, b.text FROM nodes n"
        " JOIN bullets b ON b.version_id = n.latest_id AND typeof(b.text) = 'text'"
        f" WHERE n.node_id {IN_JSON} AND NOT b.is_withheld"
        f" AND b.kind NOT {IN_JSON} ORDER BY b.version_id, b.position",
        ids,
        json.dumps(list(without)),
    ):
        lines[name].append(text)
    if not judgements.is_empty():
        judged = fetch_column(
            f"SELECT n.node_id FROM nodes n WHERE n.node_id {IN_JSON} AND (is_pinned OR"
            " EXISTS (SELECT 1 FROM current_judgements j"
            f" WHERE j.subject = {judgements.subject_of_node('n.node_id')}))",
            ids,
        )
        for node in get_many(judged):
            bullets = (b.text for b in node.bullets if b.kind not in without)
            lines[node.node_id] = list(bullets)
    return lines


def read_keywords(
    under: str | None, scope: Scope = ALL, *, prefixes: Iterable[Collection[str]] = ()
) -> Iterator[tuple[str, list[str]]]:
    """Yield segments with their keywords, newest first.

    ``under`` is the node that contains the segments, or the segment itself. For each
    group of prefixes, the keywords contain a word with one of them; this is a fast
    filter: words that are not ASCII pass it.
    """
    condition, values = scopes.segment_condition(scope)
    if under and _level_of(under) in (None, TocLevel.SEGMENT):
        condition += " AND n.node_id = ?"
        values.append(under)
    elif under:
        condition += " AND n.parent_id >= ? AND n.parent_id < ?"
        values += calendar.day_range(under)
    for group in prefixes:
        if group and all(map(_UNESCAPED.fullmatch, group)):
            # "tokenstore" is a term of the keyword "token_store", too.
            joined = "replace(replace(keywords, '_', ''), '-', '')"
            likely = f"keywords LIKE ? OR {joined} LIKE ?"
            matches = " OR ".join([likely] * len(group))
            has_non_ascii = "length(keywords) <> length(CAST(keywords AS BLOB))"
            condition += f" AND ({has_non_ascii} OR {matches})"
            values += [f"%{prefix}%" for prefix in group for _ in range(2)]
    for name, stored in db.execute_sql(
        "SELECT n.node_id, v.keywords FROM nodes n"
        " JOIN node_versions v ON v.id = n.latest_id"
        f" WHERE n.level = 'segment' AND {condition} {_NEWEST_FIRST}",
        values,
    ):
        yield name, [word for word, _ in json_columns.read_keywords(stored)]


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
    ids = fetch_column(sql, *bounds)
    if len(ids) > 1 and len(label + prefix) < len(cite(ids[0])):
        count = fetch_value(f"SELECT COUNT(*) {condition}", *bounds)
        raise AmbiguousError(label + prefix, what, [*map(cite, ids)], count)
    return ids[0] if ids else ""
