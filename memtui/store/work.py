"""The work of sessions: the facts of their segments, and what follows from them.

The facts of a segment are stored with it as JSON. Name, state and outcome of a session
are columns of the session, so that lists read them at once.
"""

import json
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import tzinfo
from itertools import chain
from typing import Any

from memtui.model import calendar
from memtui.model.calendar import DayRange
from memtui.model.filters import ALL, Scope
from memtui.model.nodes import Bullet, BulletKind, DraftBullet
from memtui.model.sessions import PeriodWork, SessionWork, WorkState
from memtui.model.verdicts import Support, Verdict, VerdictFeatures
from memtui.model.work import (
    Commit,
    EndKind,
    Facts,
    FileChange,
    Line,
    OpenEnd,
    PullRequest,
    Request,
    Task,
    TestRun,
    UserAnswer,
    join_facts,
)
from memtui.store import json_columns, judgements, queues, scopes
from memtui.store.database import IN_JSON, execute, fetch, fetch_column, fetch_value
from memtui.text import analyzer

log = logging.getLogger(__name__)


def facts_to_json(facts: Facts) -> str:
    """Return the parts of some facts that are not empty."""
    fields = {name: value for name, value in asdict(facts).items() if value}
    if facts.open_tasks is not None:
        fields["open_tasks"] = [asdict(task) for task in facts.open_tasks]
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def facts_from_json(stored: str) -> Facts:
    """Return the facts of a segment; none if they are damaged, which the audit finds
    since the work of the session follows from them."""
    try:
        return _make_facts(json_columns.read(stored, {}))
    except (ValueError, TypeError) as error:
        log.warning("the facts of a segment cannot be read: %s", error)
        return Facts()


def _make_facts(fields: dict[str, Any]) -> Facts:
    def read(name: str, kind: Any) -> tuple[Any, ...]:
        return tuple(kind(**values) for values in fields.get(name, ()))

    reply = fields.get("reply")
    return Facts(
        requests=read("requests", Request),
        events_before=fields.get("events_before", 0),
        reply=Line(**reply) if reply else None,
        answers=read("answers", UserAnswer),
        commits=read("commits", Commit),
        pull_requests=read("pull_requests", PullRequest),
        pushes=read("pushes", Line),
        merges=read("merges", Line),
        test_runs=read("test_runs", TestRun),
        files=read("files", FileChange),
        failed_commands=read("failed_commands", Line),
        open_tasks=read("open_tasks", Task) if "open_tasks" in fields else None,
        done_tasks=read("done_tasks", Task),
        end=EndKind(fields.get("end", EndKind.NOTHING)),
        end_event_id=fields.get("end_event_id", ""),
        end_text=fields.get("end_text", ""),
    )


def save_facts(facts: Mapping[str, Facts]) -> None:
    """Store the facts of segments, by their ids."""
    for segment_id, of_segment in facts.items():
        execute(
            "UPDATE segments SET facts = ?, commits = ? WHERE id = ?",
            facts_to_json(of_segment),
            len(of_segment.commits),
            segment_id,
        )


def has_facts(session_number: int) -> bool:
    """Return whether a segment of a session is summarized."""
    sql = "SELECT 1 FROM segments WHERE session_id = ? AND facts <> '' LIMIT 1"
    return bool(fetch(sql, session_number))


def read_facts(
    session_number: int, segment_ids: Collection[str] | None = None
) -> Facts:
    """Return the facts of a session, or of some of its segments, as far as these are
    summarized.

    Those that were rejected are left out.
    """
    rows = fetch(
        "SELECT g.id, g.facts FROM segments g"
        " LEFT JOIN events e ON e.id = g.first_event_id"
        " WHERE g.session_id = ? AND g.facts <> '' ORDER BY g.start_ms, e.ordinal",
        session_number,
    )
    stored = (
        facts for name, facts in rows if segment_ids is None or name in segment_ids
    )
    facts = join_facts(map(facts_from_json, stored))
    return judgements.judge_facts(facts, read_judgements(session_number))


def read_judgements(session_number: int) -> judgements.ByText:
    """Return the judgements about the lines of a session."""
    sql = "SELECT agent || ':' || name FROM sessions WHERE id = ?"
    subject = fetch_value(sql, session_number) or ""
    return judgements.read([subject]).get(subject, {})


def find_model_title(session_number: int) -> str:
    """Return the title that a model gave a session; "" if no such version is shown."""
    title = fetch_value(
        "SELECT v.session_title FROM segments g JOIN nodes n ON n.node_id = g.id"
        " JOIN node_versions v ON v.id = n.latest_id"
        " WHERE g.session_id = ? AND v.session_title <> '' ORDER BY v.id DESC LIMIT 1",
        session_number,
    )
    return str(title or "")


def _work_to_json(work: SessionWork) -> str:
    fields = {
        "left_open": [asdict(line) for line in work.left_open],
        "name_event_id": work.name_event_id,
        "outcome_event_id": work.outcome_event_id,
        "state_event_id": work.state_event_id,
    }
    details = {name: value for name, value in fields.items() if value}
    return json.dumps(details) if details else ""


def work_from_row(
    name: str, state: str, outcome: str, details: str, own_name: str
) -> SessionWork:
    """Return the work in the columns of a session; details that are damaged are left
    out."""
    fields: dict[str, Any] = json_columns.read(details, {})
    work = SessionWork(
        name=own_name or name,
        state=WorkState(state) if state in list(WorkState) else None,
        outcome=outcome,
    )
    try:
        left_open = tuple(OpenEnd(**values) for values in fields.pop("left_open", ()))
        work = replace(work, left_open=left_open, **fields)
    except TypeError as error:
        log.warning("the work of a session cannot be read: %s", error)
    return replace(work, name_event_id="") if own_name else work


_WORK = "work_name, state, outcome, work"


def _work_to_row(work: SessionWork) -> tuple[str, ...]:
    return work.name, work.state or "", work.outcome, _work_to_json(work)


def is_saved(session_number: int, work: SessionWork) -> bool:
    """Return whether this is the work that is stored of a session."""
    rows = fetch(f"SELECT {_WORK} FROM sessions WHERE id = ?", session_number)
    return rows == [_work_to_row(work)]


def save_work(session_number: int, work: SessionWork, zone: tzinfo) -> bool:
    """Store the work of a session; return whether it has changed.

    Then all days of the session are rolled up, and its name is indexed.
    """
    if is_saved(session_number, work):
        return False
    execute(
        "UPDATE sessions SET work_name = ?, state = ?, outcome = ?, work = ?"
        " WHERE id = ?",
        *_work_to_row(work),
        session_number,
    )
    _request_updates(session_number, zone)
    return True


NAMED_HERE = "named_here"
"""Among the times of facts: the user gave or took back the session's name here."""


def save_own_name(session_number: int, name: str, zone: tzinfo) -> None:
    """Store the name that the user gave a session; "" for none."""
    execute(
        "UPDATE sessions SET own_name = ?, fact_times = json_set("
        "iif(json_valid(fact_times), fact_times, '{}'), '$.' || ?, 0) WHERE id = ?",
        name,
        NAMED_HERE,
        session_number,
    )
    _request_updates(session_number, zone)


def _request_updates(session_number: int, zone: tzinfo) -> None:
    """Have all days of a session rolled up, and its name indexed."""
    days = fetch_column(
        "SELECT DISTINCT n.parent_id FROM segments g JOIN nodes n ON n.node_id = g.id"
        " WHERE g.session_id = ?",
        session_number,
    )
    queues.add_rollups(days, zone)
    queues.add_sessions([session_number])


def list_period_works(days: DayRange, scope: Scope = ALL) -> list[PeriodWork]:
    """Return the work of each session on some days, the oldest first.

    A session belongs to a day with those of its segments that start on it.
    """
    condition, values = scopes.segment_condition(scope)
    rows = fetch(
        f"SELECT s.agent, s.name, s.project, {_WORK}, own_name,"
        " sum(g.messages), sum(g.commits),"
        " min(g.first_event_id), group_concat(DISTINCT n.parent_id),"
        " min(g.start_ms) AS first_ms"
        " FROM segments g JOIN sessions s ON s.id = g.session_id"
        " JOIN nodes n ON n.node_id = g.id JOIN node_versions v ON v.id = n.latest_id"
        f" WHERE n.parent_id >= ? AND n.parent_id < ? AND {condition}"
        " GROUP BY s.id ORDER BY first_ms, s.agent, s.name",
        *days,
        *values,
    )
    is_one_day = calendar.day_range(days[0]) == days
    replies = _read_replies(days[0]) if is_one_day else {}
    works = []
    for agent, session_id, project, *row in rows:
        *described, messages, commits, first_id, names, first_ms = row
        work, own_days = work_from_row(*described), tuple(sorted(names.split(",")))
        counts = messages, commits, own_days, first_ms
        own_replies = tuple(replies.get((agent, session_id), ()))
        counted = PeriodWork(agent, session_id, project, work, *counts, own_replies)
        works.append(replace(counted, first_event_id=first_id or ""))
    return works


def _read_replies(day_id: str) -> dict[tuple[str, str], list[Line]]:
    """Return the replies that the segments of a day end with, by agent and session."""
    rows = fetch(
        "SELECT s.agent, s.name, json_extract(g.facts, '$.reply.text'),"
        " json_extract(g.facts, '$.reply.event_id')"
        " FROM segments g JOIN sessions s ON s.id = g.session_id"
        " JOIN nodes n ON n.node_id = g.id WHERE n.parent_id = ?"
        " AND CASE WHEN json_valid(g.facts)"
        " THEN json_extract(g.facts, '$.end') = ? END ORDER BY g.start_ms",
        day_id,
        EndKind.REPLY,
    )
    replies: dict[tuple[str, str], list[Line]] = {}
    for agent, session_id, text, event_id in rows:
        if text:
            replies.setdefault((agent, session_id), []).append(Line(text, event_id))
    return replies


_IS_SHOWN = (
    "EXISTS (SELECT 1 FROM bullet_grips l JOIN bullets b ON b.id = l.bullet_id"
    " JOIN nodes n ON n.latest_id = b.version_id AND n.node_id = g.node_id"
    " WHERE l.grip_id = g.id)"
)
"""The condition of a grip of the version of a segment that is shown."""


def find_grips(event_ids: Iterable[str]) -> dict[str, str]:
    """Return a grip for each of some events that a segment was linked to.

    Grips to one event alone and of shown versions are preferred: which others there
    are depends on the order in which events came.
    """
    rows = fetch(
        f"SELECT start_event_id, id FROM grips g WHERE start_event_id {IN_JSON}"
        f" ORDER BY start_event_id = end_event_id, {_IS_SHOWN}, id",
        json.dumps(list(event_ids)),
    )
    return dict(rows)


_JOINED = frozenset((BulletKind.WORK, BulletKind.PROJECT, BulletKind.MORE))
"""Kinds of lines about sessions, which may lead to any part of these."""


def _find_near_grips(event_ids: Iterable[str]) -> dict[str, str]:
    """Return a grip of the segment of each of some events."""
    rows = fetch(
        "SELECT e.id, (SELECT g.id FROM grips g WHERE g.node_id = (SELECT s.id"
        " FROM segments s WHERE s.session_id = e.session_id AND s.start_ms <= e.at_ms"
        f" ORDER BY s.start_ms DESC LIMIT 1) ORDER BY {_IS_SHOWN} DESC, g.id LIMIT 1)"
        f" FROM events e WHERE e.id {IN_JSON}",
        json.dumps(list(event_ids)),
    )
    return {event_id: grip_id for event_id, grip_id in rows if grip_id}


def link_lines(
    lines: Sequence[DraftBullet], *, or_events: bool = False
) -> list[Bullet]:
    """Return lines as bullets, with the grips that segments have to their events, or
    else with these if asked for."""
    event_ids = {event_id for line in lines for event_id in line.event_ids}
    grips = {event_id: event_id for event_id in event_ids} if or_events else {}
    grips |= find_grips(event_ids)
    # What a line about a session was based on may have been rejected.
    joined = [line.event_ids for line in lines if line.kind in _JOINED]
    unlinked = [names for names in joined if grips.keys().isdisjoint(names)]
    grips |= _find_near_grips(chain.from_iterable(unlinked))
    bullets = []
    for line in lines:
        grip_ids = (grips[name] for name in line.event_ids if name in grips)
        terms = tuple(sorted(set(analyzer.query_terms(line.text))))
        verdict = Verdict(Support.SUPPORTED, VerdictFeatures(1.0), terms)
        bullets.append(
            Bullet(
                line.text,
                tuple(dict.fromkeys(grip_ids)),
                verdict,
                line.kind,
                line.project,
                line.session_id,
            )
        )
    return bullets
