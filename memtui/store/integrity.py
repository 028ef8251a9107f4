"""The checks of ``memtui audit``: whether summaries still lead to their sources.

``select`` chooses the nodes and sessions. The checks are queries in ``integrity.sql``,
and that of versions; they read one row after the other.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from memtui.model.audit import AuditQuery, Damage
from memtui.model.judgements import HIDING, Judgement
from memtui.model.verdicts import hash_quote
from memtui.store import judgements, scopes, versions
from memtui.store.database import IN_JSON, db, execute, fetch, fetch_column
from memtui.store.digests import digest
from memtui.store.events import ARE_MESSAGES

_STATEMENTS = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")

_VIEW = re.compile(r"^CREATE TEMP VIEW (\w+).*?;$", re.DOTALL | re.MULTILINE)

_CHECK = re.compile(
    r"^-- (?P<subject>\w+): (?P<message>[^→]+) → (?P<remedy>\w+)\n(?P<sql>.+?;)$",
    re.DOTALL | re.MULTILINE,
)

REMEDIES = {
    "restore": "restore a backup: memtui restore FILE",
    "work": "memtui work --until-idle; if it stays, memtui restore FILE",
}


def select(query: AuditQuery) -> None:
    """Select what the checks read, in place of an earlier selection."""
    for view in _VIEW.finditer(_STATEMENTS):
        execute(f"DROP VIEW IF EXISTS temp.{view[1]}")
        execute(view[0])
    for table in ("audited_nodes", "audited_sessions"):
        execute(f"CREATE TEMP TABLE IF NOT EXISTS {table} (id PRIMARY KEY)")
        execute(f"DELETE FROM temp.{table}")
    times = query.start_ms, query.end_ms
    of_session, values = scopes.session_condition(query.scope)
    execute(
        "INSERT INTO temp.audited_sessions SELECT id FROM sessions"
        f" WHERE {of_session} AND ? IN ('', agent || ':' || name) AND (? OR EXISTS"
        " (SELECT 1 FROM segments g WHERE g.session_id = sessions.id"
        " AND g.start_ms >= ? AND g.start_ms < ?))",
        *(*values, query.session, not query.has_times, *times),
    )
    of_node, values = scopes.node_condition(query.scope)
    execute(
        "INSERT INTO temp.audited_nodes SELECT n.node_id FROM nodes n"
        " LEFT JOIN node_versions v ON v.id = n.latest_id"
        f" WHERE (v.id IS NULL OR {of_node}) AND n.start_ms >= ? AND n.start_ms < ?"
        " AND (? OR n.node_id IN (SELECT id FROM segments"
        " WHERE session_id IN (SELECT id FROM audited_sessions)))",
        *(*values, *times, not query.session),
    )


def check(subjects: Collection[str] = ()) -> Iterator[Damage]:
    """Yield the damages that queries find: all, or those of some subjects."""
    db.connection().create_function("squeezed", 1, _squeeze)
    db.connection().create_function("quote_hash", 1, _hash_quote)
    for match in _CHECK.finditer(_STATEMENTS):
        subject, message, remedy, sql = match.groups()
        if subjects and subject not in subjects:
            continue
        # Columns of a table are stated as "e.*".
        count = sql.partition(".*")[0].count(",") if ".*" in sql else None
        for row in db.execute_sql(sql):
            if count is None or digest(row[count:-1]) != row[-1]:
                ids = tuple(map(str, row[:count]))
                yield Damage(subject, ids, message, REMEDIES[remedy])


def _squeeze(raw: bytes) -> str:
    return "".join(raw.decode("utf-8", "replace").split()).removesuffix("…")


def _hash_quote(raw: bytes | None) -> str:
    return hash_quote((raw or b"").decode("utf-8", "replace"))


def check_versions() -> Iterator[Damage]:
    """Compare versions, with their lines and the sources of these, with digests."""
    keys = fetch_column(
        "SELECT v.id FROM audited_nodes a JOIN node_versions v ON v.node_id = a.id"
        " ORDER BY v.id"
    )
    for start in range(0, len(keys), versions.PAGE_ROWS):
        page = json.dumps(keys[start : start + versions.PAGE_ROWS])
        rows = fetch(f"SELECT * FROM node_versions WHERE id {IN_JSON}", page)
        of_page = f"FROM bullets b WHERE b.version_id {IN_JSON}"
        bullets = fetch(f"SELECT b.* {of_page} ORDER BY b.id", page)
        links = f"SELECT * FROM bullet_grips WHERE bullet_id IN (SELECT b.id {of_page})"
        digests = versions.digest_versions(
            [row[:-1] for row in rows],
            bullets,
            fetch(f"{links} ORDER BY bullet_id, position", page),
        )
        for key, node_id, number, *_, stored in rows:
            if digests[key] != stored:
                message = "it, a line of it or the source of a line was changed"
                ids = node_id, f"version {number}"
                yield Damage("version", ids, message, REMEDIES["restore"])


def count_lines(broken: Iterable[str]) -> tuple[int, int]:
    """Count the lines that are shown, and those with sources of which none is broken.

    Args:
        broken: The damaged grips.
    """
    of_line = "FROM bullet_grips l WHERE l.bullet_id = b.id"
    ((total, resolved),) = fetch(
        f"SELECT count(*), coalesce(sum(EXISTS (SELECT 1 {of_line}) AND NOT EXISTS"
        f" (SELECT 1 {of_line} AND l.grip_id {IN_JSON})), 0) FROM shown_bullets b"
        " WHERE json_extract(verdict, '$.objection') IS NULL",
        json.dumps([*broken]),
    )
    return total, resolved


def list_described() -> list[int]:
    """Return the sessions of which all segments are summarized."""
    return fetch_column("SELECT id FROM shown_sessions ORDER BY id")


def list_hidden() -> list[Judgement]:
    """Return the judgements by which claims are not to be shown."""
    in_query = "node_id IN (SELECT id FROM audited_nodes)"
    current = judgements.list_current(in_query)
    return [judgement for judgement in current if judgement.ruling in HIDING]


def list_messages(after: str, last: str) -> dict[str, int]:
    """Return the messages after one, by their ids up to another one, and their rows."""
    sql = f"SELECT id, rowid FROM events WHERE id > ? AND id <= ? AND {ARE_MESSAGES}"
    return dict(fetch(sql, after, last))
