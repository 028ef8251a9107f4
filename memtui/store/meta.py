"""What holds for the whole store."""

import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from peewee import fn

from memtui.model.events import from_ms, to_ms
from memtui.model.model_state import ModelCondition
from memtui.model.nodes import TocLevel
from memtui.store.database import IDENTITY_KEY, db
from memtui.store.schema import CheckpointRow, EventRow, MetaRow, SegmentRow, SessionRow

_INDEX, _ZONE, _WATCHED, _BLIND = "index_name", "time_zone", "watched", "blind"


_TAKEN, _UNSETTLED = "taken", "unsettled"


_CLEANING, _REDACTING = "cleaning", "redacting"


_MESSAGES = "messages_name"


_RULES, _CAPABILITIES, _SPENT = "rules", "capabilities", "spent"


_MODEL = "model"


REDACTED = "redacted_by"
"""The name under which the version of the rules stands."""


CAPABILITIES = 50
"""Of how many models on how many servers it is remembered how they are asked."""


@dataclass(frozen=True, slots=True)
class Found:
    """How the memtui that works last found its model."""

    condition: ModelCondition
    says: str
    """What there is to tell of it; "" when all is well."""
    until: datetime | None
    """Until when it rests; None if it does not."""
    at: datetime


def time_zone() -> str:
    """The IANA name of the calendar's zone, fixed when the store was made."""
    return str(MetaRow.get_by_id(_ZONE).value)


def identity() -> str:
    """The word by which this store is told from all others; given to it once."""
    row = MetaRow.get_or_none(MetaRow.name == IDENTITY_KEY)
    if row is None:
        word = secrets.token_hex(8)
        MetaRow.insert(name=IDENTITY_KEY, value=word).on_conflict_ignore().execute()
        row = MetaRow.get_by_id(IDENTITY_KEY)
    return str(row.value)


def index_name() -> str:
    """The name of the index this store has fed; "" if there is none yet."""
    row = MetaRow.get_or_none(MetaRow.name == _INDEX)
    return str(row.value) if row else ""


def set_index_name(name: str) -> None:
    """Remember which index this store feeds."""
    MetaRow.insert(name=_INDEX, value=name).on_conflict_replace().execute()


def messages_name() -> str:
    """The name of the index of messages this store has fed; "" if there is none."""
    row = MetaRow.get_or_none(MetaRow.name == _MESSAGES)
    return str(row.value) if row else ""


def set_messages_name(name: str) -> None:
    """Remember which index of messages this store feeds."""
    MetaRow.insert(name=_MESSAGES, value=name).on_conflict_replace().execute()


def forget_indexes() -> None:
    """Have both indexes made anew: what they were fed is not what is kept any more."""
    set_index_name("")
    set_messages_name("")


def watched() -> tuple[str, ...] | None:
    """The sources a person agreed to have watched; None if nobody was asked yet."""
    row = MetaRow.get_or_none(MetaRow.name == _WATCHED)
    return tuple(str(row.value).split()) if row else None


def set_watched(names: Iterable[str]) -> None:
    """Remember which sources a person agreed to have watched."""
    said = " ".join(sorted(set(names)))
    MetaRow.insert(name=_WATCHED, value=said).on_conflict_replace().execute()


def blind() -> str:
    """Why changes are found by looking alone, as the last work found; "" if told."""
    row = MetaRow.get_or_none(MetaRow.name == _BLIND)
    return str(row.value) if row else ""


def set_blind(reason: str) -> None:
    """Remember why changes are found by looking alone."""
    MetaRow.insert(name=_BLIND, value=reason).on_conflict_replace().execute()


def is_to_be_cleaned() -> bool:
    """Whether something was deleted and its traces are not all removed yet."""
    return MetaRow.get_or_none(MetaRow.name == _CLEANING) is not None


def set_to_be_cleaned(is_due: bool) -> None:
    """Remember whether traces of what was deleted are still to be removed."""
    if is_due:
        MetaRow.insert(name=_CLEANING, value="1").on_conflict_replace().execute()
    else:
        MetaRow.delete().where(MetaRow.name == _CLEANING).execute()


def taken() -> frozenset[str]:
    """The hooks' files whose events were last kept: some may still lie in the spool."""
    row = MetaRow.get_or_none(MetaRow.name == _TAKEN)
    return frozenset(json.loads(row.value)) if row else frozenset()


def set_taken(names: Iterable[str]) -> None:
    """Remember which hooks' files have just been kept."""
    said = json.dumps(list(names))
    MetaRow.insert(name=_TAKEN, value=said).on_conflict_replace().execute()


def unsettled() -> frozenset[int]:
    """The sessions of which it may be another's now what they tell."""
    row = MetaRow.get_or_none(MetaRow.name == _UNSETTLED)
    return frozenset(json.loads(row.value)) if row else frozenset()


def set_unsettled(numbers: Iterable[int]) -> None:
    """Remember of which sessions that is to be found out."""
    said = json.dumps(sorted(numbers))
    MetaRow.insert(name=_UNSETTLED, value=said).on_conflict_replace().execute()


def redacted_by() -> int:
    """The version of the rules by which all that is kept is free of secrets; 0: none.

    What comes in is always redacted by the latest; what was there before may not be.
    """
    row = MetaRow.get_or_none(MetaRow.name == REDACTED)
    return int(row.value) if row else 0


def set_redacted_by(version: int) -> None:
    """Remember by which rules all that is kept is free of secrets."""
    MetaRow.insert(name=REDACTED, value=str(version)).on_conflict_replace().execute()
    MetaRow.delete().where(MetaRow.name == _REDACTING).execute()


def redacting() -> str:
    """How far the redaction of what is kept has come; "" if none is under way."""
    row = MetaRow.get_or_none(MetaRow.name == _REDACTING)
    return str(row.value) if row else ""


def set_redacting(place: str) -> None:
    """Remember how far the redaction of what is kept has come."""
    MetaRow.insert(name=_REDACTING, value=place).on_conflict_replace().execute()


def rules() -> str:
    """By which rules the summaries were made that are made at once; "" if unknown."""
    row = MetaRow.get_or_none(MetaRow.name == _RULES)
    return str(row.value) if row else ""


def set_rules(rules: str) -> None:
    """Remember by which rules the summaries are made."""
    MetaRow.insert(name=_RULES, value=rules).on_conflict_replace().execute()


def capabilities() -> list[tuple[str, ...]]:
    """What was found out about models, as (server's version, digest, mode)."""
    row = MetaRow.get_or_none(MetaRow.name == _CAPABILITIES)
    return [tuple(told) for told in json.loads(row.value)] if row else []


def add_capability(server: str, digest: str, mode: str) -> None:
    """Remember what was found out about a model, the latest few of them."""
    others = [one for one in capabilities() if one[:2] != (server, digest)]
    said = json.dumps([*others, (server, digest, mode)][-CAPABILITIES:])
    MetaRow.insert(name=_CAPABILITIES, value=said).on_conflict_replace().execute()


def spent() -> list[tuple[int, float]]:
    """When a model worked without a graphics card, and for how many seconds."""
    row = MetaRow.get_or_none(MetaRow.name == _SPENT)
    return [(int(at), float(took)) for at, took in json.loads(row.value)] if row else []


def set_spent(spent: Iterable[tuple[int, float]]) -> None:
    """Remember when a model worked without a graphics card, in ms UTC, and how long."""
    said = json.dumps(list(spent))
    MetaRow.insert(name=_SPENT, value=said).on_conflict_replace().execute()


def model() -> Found | None:
    """How the model was last found that summarises; None if nobody has looked yet."""
    row = MetaRow.get_or_none(MetaRow.name == _MODEL)
    if row is None:
        return None
    condition, says, until, at = json.loads(row.value)
    rests_until = datetime.fromisoformat(until) if until else None
    return Found(
        ModelCondition(condition), says, rests_until, datetime.fromisoformat(at)
    )


def set_model(found: Found) -> None:
    """Remember how the model was found."""
    until = found.until.isoformat() if found.until else ""
    told = [found.condition.value, found.says, until, found.at.isoformat()]
    said = json.dumps(told)
    MetaRow.insert(name=_MODEL, value=said).on_conflict_replace().execute()


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Where a job stands (seed 0)."""

    job_name: str
    level: TocLevel
    last_processed_time: datetime
    processed_count: int
    created_at: datetime


def put_checkpoint(checkpoint: Checkpoint) -> None:
    """Keep where a job stands."""
    CheckpointRow.insert(
        job_name=checkpoint.job_name,
        level=checkpoint.level.value,
        last_processed_ms=to_ms(checkpoint.last_processed_time),
        processed_count=checkpoint.processed_count,
        created_ms=to_ms(checkpoint.created_at),
    ).on_conflict_replace().execute()


def get_checkpoint(job_name: str) -> Checkpoint | None:
    """Where a job stands; None if it never ran."""
    row = CheckpointRow.get_or_none(CheckpointRow.job_name == job_name)
    if row is None:
        return None
    return Checkpoint(
        row.job_name,
        TocLevel(row.level),
        from_ms(row.last_processed_ms),
        row.processed_count,
        from_ms(row.created_ms),
    )


def count_sessions() -> int:
    """How many sessions there are."""
    return int(SessionRow.select().count())


def count_events() -> tuple[int, int]:
    """How many events there are, and how many of them are subagents'."""
    total = int(SessionRow.select(fn.SUM(SessionRow.event_count)).scalar() or 0)
    helpers = SegmentRow.select(fn.SUM(SegmentRow.subagent_events)).scalar()
    return total, int(helpers or 0)


def messages_by(column: str) -> list[tuple[str, int]]:
    """Messages by ``agent`` or ``project``, most first."""
    field = {"agent": SessionRow.agent, "project": SessionRow.project}[column]
    total = fn.SUM(SessionRow.message_count)
    rows = SessionRow.select(field, total).group_by(field).order_by(total.desc(), field)
    return [(name, int(count or 0)) for name, count in rows.tuples()]


def span() -> tuple[datetime, datetime] | None:
    """The times of the first and of the last event; None when nothing is kept."""
    first, last = (
        SessionRow.select(fn.MIN(SessionRow.created_ms), fn.MAX(SessionRow.updated_ms))
        .tuples()
        .first()
    )
    return (from_ms(first), from_ms(last)) if first is not None else None


def is_empty() -> bool:
    """Whether no event is kept."""
    return EventRow.select(EventRow.id).limit(1).first() is None


_ALONE = (
    "SELECT 1 FROM events e WHERE e.session_id = ? AND e.at_ms < ? AND NOT EXISTS"
    " (SELECT 1 FROM source_copies t WHERE t.event_id = e.id"
    " AND t.session_id != e.session_id) ORDER BY e.at_ms DESC LIMIT 1"
)


_SHARED = (
    "SELECT DISTINCT e.session_id FROM events e JOIN source_copies t ON t.event_id = e.id"
    " WHERE t.session_id IS NOT NULL AND e.id IN (SELECT value FROM json_each(?))"
)


def any_copies() -> bool:
    """Whether any session tells what another one tells."""
    asked = "SELECT 1 FROM source_copies WHERE session_id IS NOT NULL LIMIT 1"
    return db.execute_sql(asked).fetchone() is not None


def note_unsettled(numbers: Iterable[int]) -> None:
    """Note sessions, if there are copies at all."""
    news = set(numbers)
    if news and any_copies() and not news <= (noted := unsettled()):
        set_unsettled(noted | news)


def note_begun(times: Mapping[int, int]) -> None:
    """Note those sessions whose own events may begin otherwise now.

    Args:
        times: The earliest of the events that came or went, in milliseconds, by the
            numbers of their sessions.
    """
    if times and any_copies():
        note_unsettled(
            number
            for number, at_ms in times.items()
            if not db.execute_sql(_ALONE, (number, at_ms)).fetchone()
        )


def note_shared(event_ids: Iterable[str]) -> None:
    """Note the sessions of those events that others tell too."""
    rows = db.execute_sql(_SHARED, (json.dumps([*event_ids]),)).fetchall()
    note_unsettled(number for (number,) in rows)


def take_unsettled() -> frozenset[int]:
    """The sessions that are noted; they are no more."""
    if noted := unsettled():
        set_unsettled(())
    return noted
