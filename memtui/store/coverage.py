"""The prompts, failed calls, commits and messages that lines of summaries cite.

An event is cited if it lies in the events of a grip, from the first to the last one, of
a line that is shown on the page of its segment, or that a person added. A commit, a
failed command and what was left open are cited, too, where the page of the session
names them. Lines that are withheld or were rejected cite nothing, nor does "and 3
more".

What counts are the events of summarized segments: those of the main conversation, or of
subagents if a session has no other. A call that makes several commits is one.
"""

from memtui.model.audit import AuditQuery
from memtui.model.judgements import HIDING
from memtui.store import json_columns, scopes
from memtui.store.conversations import IS_FAILED, IS_PROMPT
from memtui.store.database import fetch, fetch_column
from memtui.store.schema import IS_MESSAGE

KINDS = ("prompt", "error", "commit", "message")
"""An error is a call that failed; a prompt is a message, too."""

Counts = dict[str, tuple[int, int]]
"""The number of cited events of each kind, and of all."""

_GRIP_IDS = json_columns.valid("j.grip_ids")
_EVENT_IDS = json_columns.valid("j.event_ids")

_CITED = f"""
    WITH own AS MATERIALIZED (
        SELECT g.session_id, CAST(s.agent || ':' || s.name AS TEXT) AS subject,
        v.id AS version_id, f.subagent <> '' AS has_no_main,
        f.at_ms AS first_ms, f.ordinal AS first_ordinal, f.id AS first_id,
        l.at_ms AS last_ms, l.ordinal AS last_ordinal, l.id AS last_id
        FROM nodes n JOIN node_versions v ON v.id = n.latest_id
        JOIN segments g ON g.id = n.node_id JOIN sessions s ON s.id = g.session_id
        JOIN events f ON f.id = g.first_event_id
        JOIN events l ON l.id = g.last_event_id
        WHERE n.level = 'segment' AND n.start_ms >= ? AND n.start_ms < ?
        AND {{condition}}
    ), judged AS MATERIALIZED (
        SELECT *, ruling IN {tuple(map(str, sorted(HIDING)))} AS is_hidden
        FROM current_judgements WHERE subject IN (SELECT subject FROM own)
    ), lines AS (
        SELECT o.subject, b.id, b.kind, b.text, json_valid(b.verdict)
        AND b.support <> 'unsupported' AND instr(b.verdict, '"objection":') = 0
        AS is_shown FROM own o JOIN bullets b ON b.version_id = o.version_id
        WHERE b.kind NOT IN ('more', 'title')
    ), grip_ids AS (
        SELECT k.grip_id AS id FROM lines b JOIN bullet_grips k ON k.bullet_id = b.id
        LEFT JOIN judged j ON j.subject = b.subject AND j.kind = b.kind
        AND b.text IN (j.text, j.words)
        WHERE CASE WHEN j.id THEN j.ruling = 'accepted' ELSE b.is_shown END
        UNION SELECT k.value FROM judged j, json_each({_GRIP_IDS}) k
        WHERE NOT is_hidden AND (is_by_model OR kind = 'added' OR EXISTS (SELECT 1
        FROM lines b WHERE b.subject = j.subject AND b.kind = j.kind
        AND b.text IN (j.text, j.words)))
    ), facts AS MATERIALIZED (
        SELECT o.session_id, o.subject, e.at_ms, e.ordinal, f.key AS place, t.kind,
        json_extract(f.value, t.text) AS text,
        json_extract(f.value, '$.event_id') AS id
        FROM (SELECT DISTINCT session_id, subject FROM own) o
        JOIN segments g ON g.session_id = o.session_id
        JOIN events e ON e.id = g.first_event_id
        JOIN (SELECT 'commit' AS kind, '$.commits' AS path, '$.subject' AS text
        UNION SELECT 'failed', '$.failed_commands', '$.text') t
        JOIN json_each(CASE WHEN json_valid(g.facts) THEN g.facts END, t.path) f
        ON f.type = 'object'
        UNION SELECT s.id, o.subject, 0, 0, f.key, 'left open',
        json_extract(f.value, '$.text'), json_extract(f.value, '$.event_id') FROM own o
        JOIN sessions s ON s.id = o.session_id
        JOIN json_each(CASE WHEN json_valid(s.work) THEN s.work END, '$.left_open') f
        ON f.type = 'object'
    ), named AS (
        SELECT id, kind, row_number() OVER
        (PARTITION BY session_id, kind ORDER BY at_ms, ordinal, place) AS number
        FROM facts f
        WHERE NOT EXISTS (SELECT 1 FROM judged j, json_each({_EVENT_IDS}) k
        WHERE is_hidden AND j.subject = f.subject AND j.kind = f.kind
        AND k.value = f.id AND instr(j.text, substr(f.text, 1, 40)))
    ), cited AS MATERIALIZED (
        SELECT id FROM named WHERE number <= CASE kind WHEN 'commit' THEN 6 ELSE 5 END
        UNION SELECT start_event_id FROM grips WHERE id IN grip_ids
        UNION SELECT end_event_id FROM grips WHERE id IN grip_ids
        UNION SELECT e.id FROM grips g JOIN events a ON a.id = g.start_event_id
        JOIN events b ON b.id = g.end_event_id JOIN events e
        ON e.session_id = a.session_id AND e.subagent = a.subagent
        AND (e.at_ms, e.ordinal, e.id) > (a.at_ms, a.ordinal, a.id)
        AND (e.at_ms, e.ordinal, e.id) < (b.at_ms, b.ordinal, b.id)
        WHERE g.id IN grip_ids AND g.start_event_id <> g.end_event_id
    )
"""
"""The events that are cited. The page of a session names as many as
``summarize.card`` lists."""

_COUNT = f"""
    {_CITED}, parts AS (
        SELECT {IS_PROMPT} AS prompt, {IS_MESSAGE} AS message,
        CASE WHEN type = 'tool_result' THEN {IS_FAILED} ELSE 0 END AS error,
        e.id IN (SELECT id FROM facts WHERE kind = 'commit') AS "commit",
        e.id IN cited AS is_cited
        FROM own JOIN events e ON e.session_id = own.session_id
        AND (e.at_ms, e.ordinal, e.id) >= (first_ms, first_ordinal, first_id)
        AND (e.at_ms, e.ordinal, e.id) <= (last_ms, last_ordinal, last_id)
        WHERE e.subagent = '' OR has_no_main
    ) SELECT {", ".join(f'sum("{kind}" AND is_cited), sum("{kind}")' for kind in KINDS)}
    FROM parts
"""


def _prepare(sql: str, query: AuditQuery) -> tuple[str, list[object]]:
    condition, values = scopes.segment_condition(query.scope)
    if query.session:
        number = "SELECT id FROM sessions WHERE agent = ? AND name = ?"
        own = f"SELECT id FROM segments WHERE session_id = ({number})"
        condition += f" AND n.node_id IN ({own})"
        agent, _, name = query.session.partition(":")
        values += [agent, name]
    return sql.format(condition=condition), [query.start_ms, query.end_ms, *values]


def list_cited(query: AuditQuery) -> list[str]:
    """Return the events that are cited in segments of a query."""
    sql, values = _prepare(f"{_CITED} SELECT id FROM cited", query)
    return fetch_column(sql, *values)


def count(query: AuditQuery) -> Counts:
    """Count the events of segments of a query, and those cited: 5 µs for each."""
    sql, values = _prepare(_COUNT, query)
    ((*sums,),) = fetch(sql, *values)
    numbers = [number or 0 for number in sums]
    return dict(zip(KINDS, zip(numbers[::2], numbers[1::2], strict=True), strict=True))
