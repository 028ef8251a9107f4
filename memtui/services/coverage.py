"""The share of conversations that lines of summaries cite.

When an event is cited is defined in ``store.coverage``. A period has the sums of its
segments: its own lines only repeat others.
"""

from dataclasses import replace
from datetime import datetime, tzinfo

from memtui.errors import MemtuiError, UsageError
from memtui.model import calendar
from memtui.model.audit import AuditQuery
from memtui.model.calendar import TocLevel
from memtui.model.events import to_ms
from memtui.model.filters import ALL, Scope
from memtui.model.judgements import HIDING, Judgement, Ruling
from memtui.model.nodes import BULLET_CHARS, Bullet, BulletKind, DaySession, TocEntry
from memtui.model.quantities import plural
from memtui.services import judging
from memtui.store import (
    coverage,
    database,
    events,
    segments,
    sessions,
    work,
)
from memtui.store.coverage import Counts
from memtui.text.plain import plain_lines, shorten


def count(query: AuditQuery) -> Counts:
    with database.connection():
        return coverage.count(query)


def describe(counts: Counts) -> str:
    """Say what is cited: "cited: 5 of 9 prompts, 61 % of messages"."""
    parts = []
    for kind, (cited, total) in counts.items():
        if total and kind == "message":
            # 0 only if none is cited.
            percent = max(100 * cited // total, min(cited, 1))
            parts.append(f"{percent} % of messages")
        elif total:
            parts.append(f"{cited:,} of {plural(total, kind)}")
    return f"cited: {', '.join(parts)}" if parts else ""


def describe_page(row: TocEntry | DaySession, scope: Scope, zone: tzinfo) -> str:
    """Count what is cited of a period, a session or a segment."""
    if isinstance(row, DaySession):
        return describe(count(AuditQuery(session=row.session.full_name)))
    if row.level is not TocLevel.SEGMENT:
        start, end = (calendar.bounds(day, zone)[0] for day in row.days)
        return describe(count(AuditQuery(scope, to_ms(start), to_ms(end))))
    with database.connection():
        subject = judging.find_subject(row.node_id)
    start_ms = to_ms(row.start_time)
    return describe(count(AuditQuery(ALL, start_ms, start_ms + 1, subject)))


def propose_line(text: str) -> str:
    """Return the first line of a message, as the wording of a line."""
    first = next(plain_lines(text), "") or text.strip().partition("\n")[0]
    return shorten(" ".join(first.split()), BULLET_CHARS)


def add_line(event_id: str, words: str, now: datetime) -> Judgement:
    """Make a line of a message, or of a call, on the page of its segment.

    If its session has the same line already, that gets a further source.

    Raises:
        MemtuiError: There are no words, or the message is not stored any more.
    """
    text = judging.clean_line(words, BULLET_CHARS)
    if not text:
        raise UsageError("a line needs words")
    with database.transaction():
        event = events.get([event_id]).get(event_id)
        if event is None:
            raise MemtuiError(f"the message {event_id} is not stored any more")
        number = sessions.get_number(event.agent, event.session_id) or 0
        node_id = segments.find_nearest(number, event.timestamp_ms)
        if node_id is None:
            raise MemtuiError("its session is not summarized yet")
        bullet = Bullet(text, kind=BulletKind.ADDED)
        before = work.read_judgements(number).get((BulletKind.ADDED, text))
        if before and before.ruling not in HIDING:
            bullet = replace(bullet, grip_ids=before.grip_ids, judgement=before)
            if before.node_id in segments.list_ids(number):
                node_id = before.node_id
        return judging.judge(node_id, bullet, Ruling.ADDED, now, event_id=event_id)
