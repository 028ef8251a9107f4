"""What agents hand to their hooks: one normaliser for all the dialects (decisions §2).

An event with a name we do not know is refused, never taken for a message.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

from memtui.memory import events
from memtui.memory.events import EventRefused
from memtui.sources.hooks import kinds, payloads
from memtui.sources.hooks.payloads import Told
from memtui.sources.lines import TOO_DEEP, of_payload
from memtui.sources.records import Left, Reading, Record, Refused


def read(
    raw: bytes,
    *,
    received_at: datetime,
    now: datetime,
    agent: str = "",
    event: str = "",
) -> Iterator[Reading]:
    """Read one spool file; every record in it gives at least one reading.

    Args:
        raw: What the hook was given.
        received_at: When it was given it: the time of payloads that name none.
        now: The time, to refuse what claims to come from the future.
        agent: The agent of payloads that name none.
        event: The event of payloads that name none.
    """
    if not raw.strip():
        yield Refused("an empty file")
        return
    told = Told(received_at, agent, event)
    for record in of_payload(raw):
        if isinstance(record, Refused):
            yield record
            continue
        try:
            yield from _take(record, told, now)
        except RecursionError:
            yield Refused(TOO_DEEP, record.line)
        except OverflowError:
            yield Refused("a timestamp out of the calendar", record.line)


def sender(raw: bytes, *, agent: str = "", event: str = "") -> tuple[str, str]:
    """Whose hook left a spool file and for which event, as far as anything says.

    Args:
        raw: What the hook was given.
        agent: The agent of payloads that name none.
        event: The event of payloads that name none.
    """
    told = Told(datetime.fromtimestamp(0, UTC), agent, event)
    for record in of_payload(raw):
        if isinstance(record, Record):
            try:
                payload = payloads.of(record, told)
            except (OverflowError, RecursionError):
                continue
            return events.clean(payload.agent), payload.name
    return agent, event


def _take(record: Record, told: Told, now: datetime) -> Iterator[Reading]:
    payload = payloads.of(record, told)
    kind = payload.name.replace("_", "").lower()
    if kind in kinds.NOT_KEPT:
        yield Left(f"hook {payload.name}", record.line)
    elif kind not in kinds.KEPT:
        said = f"unknown hook event {payload.name!r}" if kind else "no event name"
        yield Refused(said, record.line)
    elif reason := events.unfit(payload.session_id, payload.agent):
        yield Refused(reason, record.line)
    elif events.is_too_late(payload.at, now):
        yield Refused("a timestamp in the future", record.line)
    else:
        try:
            yield from kinds.KEPT[kind](payload)
            yield payloads.facts(payload)
        except EventRefused as refusal:
            yield Refused(str(refusal), record.line)
