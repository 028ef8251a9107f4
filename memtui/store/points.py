"""Things that sessions left open, and that later ones finished."""

import json
from collections.abc import Collection
from typing import Any

from memtui.model.audit import ClaimGroup, ClaimRow
from memtui.model.events import from_ms
from memtui.model.judgements import HIDING
from memtui.model.nodes import BulletKind
from memtui.model.work import OpenEnd
from memtui.store import json_columns, judgements
from memtui.store.database import IN_JSON, fetch

_NAMES = (
    "s.agent || ':' || s.name,"
    " coalesce(nullif(s.own_name, ''), nullif(s.work_name, ''), s.title)"
)


def list_open() -> list[tuple[int, OpenEnd, ClaimRow]]:
    """Return what sessions left open, the latest first, but not what is to be hidden.

    Each comes with the number of its session, and with what would settle it. A session
    that is still going on has left nothing open yet.
    """
    rows = fetch(
        f"SELECT s.id, l.value, s.updated_ms, {_NAMES}, s.project FROM sessions s,"
        f" json_each({json_columns.valid('s.work')},"
        " '$.left_open') l WHERE l.type = 'object' AND NOT EXISTS"
        " (SELECT 1 FROM segments g WHERE g.session_id = s.id AND g.is_open)"
        " ORDER BY s.updated_ms DESC, s.agent, s.name, l.key"
    )
    current = judgements.list_current("kind = ?", BulletKind.LEFT_OPEN)
    judged = {(row.claim.subject, row.claim.text): row for row in current}
    # The session has it as it was corrected, but not at once.
    worded = {(row.claim.subject, row.words): row for row in current if row.words}
    open_ends = []
    for number, stored, updated_ms, session, name, project in rows:
        end = OpenEnd(**json.loads(stored))
        key = session, end.text
        judgement = judged.get(key) or worded.get(key)
        if judgement and judgement.ruling in HIDING:
            continue
        row = ClaimRow(
            node_id=session,
            subject=session,
            kind=BulletKind.LEFT_OPEN,
            text=judgement.claim.text if judgement else end.text,
            at=from_ms(updated_ms),
            group=ClaimGroup.FACT,
            version=0,
            ruling=judgement.ruling if judgement else None,
            words=judgement.words if judgement else "",
            session_name=name,
            event_id=end.event_id,
            project=project,
        )
        open_ends.append((number, end, row))
    return open_ends


_FACTS = json_columns.valid("h.facts")

_FINISHED = {
    # Of a task that an earlier segment has, only the number is stored.
    "done_tasks": (
        "coalesce(nullif(json_extract(v.value, '$.text'), ''), (SELECT"
        " json_extract(o.value, '$.text') FROM segments h,"
        f" json_each({_FACTS}, '$.open_tasks') o WHERE h.session_id = s.id AND"
        " o.type = 'object' AND"
        " json_extract(o.value, '$.number') = json_extract(v.value, '$.number')))",
        "1",
    ),
    "test_runs": (
        "json_extract(v.value, '$.command')",
        "json_extract(v.value, '$.failed') = 0",
    ),
    "requests": (
        "json_extract(v.value, '$.text')",
        "json_extract(v.value, '$.event_id') < (SELECT"
        f" max(json_extract({_FACTS}, '$.reply.event_id')) FROM segments h"
        " WHERE h.session_id = s.id) AND s.state <> 'abandoned'",
    ),
}
"""Of each list of facts that settles open ends the expression of the subject, and the
condition that it is finished."""


def list_finished(
    projects: Collection[str], subjects: Collection[str]
) -> list[tuple[Any, ...]]:
    """Return what sessions of some projects finished, in the order of time.

    Returns:
        The number of the session, its project, the list of facts and the subject, the
        session, its name, and the event.
    """
    parts = [
        f"SELECT s.id, s.project, '{field}', {subject} AS subject, {_NAMES},"
        " json_extract(v.value, '$.event_id') AS event_id FROM sessions s"
        " JOIN segments g ON g.session_id = s.id,"
        f" json_each({json_columns.valid('g.facts')}, '$.{field}') v"
        f" WHERE v.type = 'object' AND s.project {IN_JSON}"
        f" AND subject {IN_JSON} AND {condition}"
        for field, (subject, condition) in _FINISHED.items()
    ]
    names = [json.dumps(sorted(projects)), json.dumps(sorted(subjects))]
    return fetch(" UNION ALL ".join(parts) + " ORDER BY event_id", *names * len(parts))
