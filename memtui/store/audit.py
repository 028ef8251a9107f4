"""The claims that can be judged: lines of segments and periods, states, open ends.

A claim comes from the version of its node that is shown, or from a model's later
version that was rejected. Lines that only repeat others are none.
"""

from collections.abc import Sequence

from memtui.model.audit import AuditQuery, ClaimCount, ClaimGroup, ClaimRow
from memtui.model.events import from_ms
from memtui.model.judgements import Ruling
from memtui.store import json_columns, judgements, scopes
from memtui.store.database import fetch

_VERDICT = json_columns.valid("b.verdict")
_IS_BY_MODEL = f"json_extract({_VERDICT}, '$.model')"

_GROUP = (
    "CASE WHEN v.rejection <> '' THEN 2"
    f" WHEN json_extract({_VERDICT}, '$.objection') <> '' THEN 0"
    f" WHEN b.support = 'weak' THEN 1 WHEN {_IS_BY_MODEL} THEN 3"
    " ELSE 4 END"
)

_PERIOD = (
    "CASE n.level WHEN 'week' THEN strftime('%Y-%m', n.start_ms / 1000, 'unixepoch')"
    " ELSE substr(n.node_id, length(n.level) + 6, 7) END"
)

_LINES = (
    "SELECT n.node_id AS node_id, {subject} AS subject, b.kind AS kind, b.text AS text,"
    f" n.start_ms AS at_ms, {_GROUP} AS claim_group, v.version AS version,"
    f" coalesce(json_extract({json_columns.valid('v.generation')}, '$.model'), '')"
    " AS model,"
    " b.position AS position, '' AS session_name, n.level AS level,"
    f" b.project AS project, {_PERIOD} AS period, '' AS event_id FROM nodes n"
    " JOIN node_versions v ON v.node_id = n.node_id AND (v.id = n.latest_id"
    " OR v.id = (SELECT max(l.id) FROM node_versions l WHERE l.node_id = n.node_id"
    " AND l.is_by_model AND l.rejection <> '' AND l.id > n.latest_id))"
    " JOIN bullets b ON b.version_id = v.id WHERE b.kind NOT IN ('more', 'title')"
    f" AND (b.kind NOT IN ('work', 'project') OR {_IS_BY_MODEL})"
    f" AND (v.id = n.latest_id OR {_IS_BY_MODEL})"
    " AND typeof(b.text) = 'text'"
)

_SESSION_FACTS = (
    "SELECT s.agent || ':' || s.name AS node_id, s.agent || ':' || s.name AS subject,"
    " {kind} AS kind, {text} AS text, s.updated_ms AS at_ms, 4 AS claim_group,"
    " 0 AS version, '' AS model, {position} AS position,"
    " coalesce(nullif(s.own_name, ''), s.work_name) AS session_name,"
    " 'session', s.project, strftime('%Y-%m', s.updated_ms / 1000, 'unixepoch'),"
    " coalesce({event_id}, '')"
    " FROM sessions s {join}"
    " WHERE {condition}"
)

_STATES = _SESSION_FACTS.format(
    kind="'state'",
    text="s.state",
    position="98",
    event_id=f"json_extract({json_columns.valid('s.work')}, '$.state_event_id')",
    join="",
    condition="s.state <> ''",
)

_OPEN_ENDS = _SESSION_FACTS.format(
    kind="'left open'",
    text="json_extract(l.value, '$.text')",
    position="99",
    event_id="json_extract(l.value, '$.event_id')",
    join=f"JOIN json_each({json_columns.valid('s.work')}, '$.left_open') l",
    condition="l.type = 'object'",
)


_JUDGED = (
    "SELECT CASE WHEN j.kind IN ('state', 'left open') THEN j.subject ELSE j.node_id"
    " END, j.subject, j.kind, j.text, n.start_ms,"
    " CASE WHEN j.is_by_model THEN 3 ELSE 4 END, 0, '', 0,"
    " CASE WHEN j.kind IN ('state', 'left open')"
    " THEN coalesce(nullif(s.own_name, ''), s.work_name, '') ELSE '' END, n.level,"
    f" coalesce(json_extract({json_columns.valid('v.projects')}, '$[0]'), ''),"
    f" {_PERIOD},"
    " CASE WHEN j.kind IN ('state', 'left open')"
    f" THEN coalesce(json_extract({json_columns.valid('j.event_ids')}, '$[0]'), '')"
    " ELSE '' END"
    " FROM current_judgements j"
    " JOIN nodes n ON n.node_id = j.node_id"
    " LEFT JOIN node_versions v ON v.id = n.latest_id"
    " LEFT JOIN segments g ON g.id = j.node_id"
    " LEFT JOIN sessions s ON s.id = g.session_id WHERE 1"
)
"""Judged claims, of which some are in no version any more."""


def _claims(query: AuditQuery) -> tuple[str, list[object]]:
    """Return the statement of claims, each with the judgement that counts."""
    of_node, node_values = scopes.node_condition(query.scope)
    of_session, session_values = scopes.session_condition(query.scope)
    times = [query.start_ms, query.end_ms]
    lines = _LINES.format(subject=judgements.subject_of_node("n.node_id"))
    parts, values = [], []
    for part in (lines, _JUDGED):
        parts.append(f"{part} AND {of_node} AND n.start_ms >= ? AND n.start_ms < ?")
        values += [*node_values, *times]
    for part in (_STATES, _OPEN_ENDS):
        parts.append(
            f"{part} AND s.id IN (SELECT id FROM sessions WHERE {of_session})"
            " AND EXISTS (SELECT 1 FROM segments g WHERE g.session_id = s.id"
            " AND g.start_ms >= ? AND g.start_ms < ?)"
        )
        values += [*session_values, *times]
    conditions = [f"claim_group IN ({', '.join(str(int(g)) for g in query.groups)})"]
    for column, value in (
        ("subject", query.session),
        ("kind", query.kind),
        ("model", query.model),
    ):
        if value:
            conditions.append(f"c.{column} = ?")
            values.append(value)
    # SQLite takes the other columns from the row with the minimum.
    return (
        "SELECT c.node_id, c.subject, c.kind, coalesce(j.text, c.text) AS claim_text,"
        " c.at_ms, min(c.claim_group) AS claim_group, c.version, c.model, c.position,"
        " c.session_name, c.level, c.project, c.period, c.event_id,"
        " j.ruling, coalesce(j.words, '') AS words"
        f" FROM ({' UNION ALL '.join(parts)}) c"
        " LEFT JOIN current_judgements j ON j.subject = c.subject AND j.kind = c.kind"
        " AND (j.text = c.text OR (j.words <> '' AND j.words = c.text))"
        f" WHERE {' AND '.join(conditions)} GROUP BY c.subject, c.kind, claim_text",
        values,
    )


def list_claims(query: AuditQuery, limit: int) -> list[ClaimRow]:
    """Return claims, those without a judgement first, then the worst, then the
    latest."""
    claims, values = _claims(query)
    rows = fetch(
        "SELECT node_id, subject, kind, claim_text, at_ms, claim_group, version,"
        f" ruling, words, session_name, event_id FROM ({claims})"
        " ORDER BY ruling IS NOT NULL, claim_group, at_ms DESC, node_id, position"
        " LIMIT ?",
        *values,
        limit,
    )
    return [
        ClaimRow(
            node_id,
            subject,
            kind,
            text,
            from_ms(at_ms),
            ClaimGroup(group),
            version,
            Ruling(ruling) if ruling else None,
            *about,
        )
        for node_id, subject, kind, text, at_ms, group, version, ruling, *about in rows
    ]


def count_claims(query: AuditQuery) -> Sequence[ClaimCount]:
    """Count the claims by all that ``ClaimCount`` has."""
    claims, values = _claims(query)
    rows = fetch(
        "SELECT claim_group, kind, model, ruling, level, project, period, count(*)"
        f" FROM ({claims}) GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1, 2, 3, 4, 7, 5, 6",
        *values,
    )
    return [
        ClaimCount(ClaimGroup(group), kind, model, ruling and Ruling(ruling), *counted)
        for group, kind, model, ruling, *counted in rows
    ]
