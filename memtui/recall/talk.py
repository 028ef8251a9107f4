"""Searching sessions: messages that answer, each with what was said around it (seed 2).

What a person said weighs more than what an assistant said, a turn that used tools more
than one that did not, and a session's title and summary most (decisions §8). Bounds
hold whatever is asked for: 20 hits, 16 messages a window, 1,024 bytes of each.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from memtui.memory import queries
from memtui.memory.events import Event, EventRole
from memtui.memory.filters import EVERYTHING, Filters
from memtui.memory.found import (
    HITS,
    SNIPPET_BYTES,
    WINDOW,
    MessageHit,
    Messages,
    Said,
)
from memtui.memory.hits import Snippet
from memtui.memory.queries import Query
from memtui.memory.queries import timely as timing
from memtui.memory.queries.snippets import marks_in
from memtui.memory.queries.timely import Timely
from memtui.memory.sessions import Session
from memtui.recall import listed, meaning, naming
from memtui.recall.hearing import NO_WORD, Ears, Heard, Hearing
from memtui.recall.looked import Weights
from memtui.store import database, latest, neighbours, sessions
from memtui.store.said import Kind

BEFORE, AFTER = 4, 4
"""How many messages a window has before the one that answers, and after it."""

WEIGHTS: Weights = {
    Kind.USER: 1.5,
    Kind.ASSISTANT: 1.0,
    Kind.SYSTEM: 1.0,
    Kind.TOOL: 1.0,
}
"""What a word is worth by who said it (decisions §8)."""

USED_TOOLS = 1.3
"""What a turn that used tools is worth, against one that did not."""

TITLED = 0.5
"""What a session's title and summary add to its messages, against their own."""

READ_CHARS = 20_000
"""How much of a long message is looked through for what answers, in characters."""

LEAD_CHARS = 200
"""How much of a long message is shown before what answers, in characters."""

LISTED = 200
"""How many of the newest messages are gone through where no word is looked for."""

OF_NODES = "level:, has: and by: are of summaries, and this looks through messages."


class Talk:
    """Finds messages in all sessions."""

    def __init__(self, ears: Ears, zone: tzinfo, clock: Callable[[], datetime]) -> None:
        """Remember whom to ask.

        Args:
            ears: Of messages.
            zone: The calendar's.
            clock: Tells the time, by which "last week" is meant.
        """
        self._ears, self._zone, self._clock = ears, zone, clock

    def find(
        self,
        text: str,
        *,
        limit: int = HITS,
        before: int = BEFORE,
        after: int = AFTER,
        is_one_each: bool = False,
        filters: Filters = EVERYTHING,
    ) -> Messages:
        """The messages that answer best; any string is legal.

        Blocks for some milliseconds: not for the thread that draws the screen.

        Args:
            text: What was typed, filters included.
            limit: The most hits; never more than 20.
            before: How many messages a window has before the one that answers.
            after: How many after it; a window never has more than 16 in all.
            is_one_each: Whether only the best message of each session is given.
            filters: What is looked through besides.
        """
        began_s = time.perf_counter()
        timely = timing.read(text, self._clock(), self._zone)
        query = queries.read(timely.rest, self._zone, filters)
        found = Messages(text, notes=query.hints)
        wanted = listed.wanted(query, timely)
        if wanted is None and query.is_empty:
            found = replace(found, notes=(*query.hints, NO_WORD))
        elif query.filters.is_of_nodes:
            found = replace(found, notes=(*query.hints, OF_NODES))
        else:
            before = max(0, min(before, WINDOW - 1))
            after = max(0, min(after, WINDOW - 1 - before))
            with database.connected():
                query, unknown = meaning.meant(wanted or query)
                if wanted is not None:
                    ranked, heard = _latest(query), listed.notes(timely)
                    timely = replace(timely, periods=())
                else:
                    hearing = self._ears.hear(query, WEIGHTS)
                    ranked, heard = _ranked(hearing, timely), tuple(hearing.notes)
                if is_one_each:
                    ranked = _one_each(ranked)
                some = ranked[: max(0, min(limit, HITS))]
                hits = _scored(list(_hits(some, query, before, after)))
            notes = (*query.hints, *unknown, *heard)
            is_listed = wanted is not None
            found = replace(found, hits=hits, notes=notes, is_listed=is_listed)
        times_at = [hit.match.at for hit in found.hits if hit.match]
        found = replace(found, times=timely.understood(times_at))
        return replace(found, took_ms=(time.perf_counter() - began_s) * 1000)


@dataclass(frozen=True, slots=True)
class _Answer:
    """A message that answers, or a session that is only called so."""

    session: int
    worth: float
    event: Event | None
    score: float = 0.0
    """0 to 1, of a message."""


def _scored(hits: Sequence[tuple[float, MessageHit]]) -> tuple[MessageHit, ...]:
    """Hits with a score that falls as what they are worth does."""
    best = max((hit.score for _, hit in hits), default=0.0)
    most = max((worth for worth, _ in hits), default=0.0) or 1.0
    return tuple(replace(hit, score=best * worth / most) for worth, hit in hits)


def _latest(query: Query) -> list[_Answer]:
    """The latest messages, newest first."""
    found = latest.messages(query.filters, LISTED)
    return [_Answer(number, 1.0, event, 1.0) for number, event in found]


def _one_each(answers: Sequence[_Answer]) -> list[_Answer]:
    first: dict[int, _Answer] = {}
    for answer in answers:
        first.setdefault(answer.session, answer)
    return list(first.values())


def _ranked(hearing: Hearing, timely: Timely) -> list[_Answer]:
    """What answers, the best first: messages, and sessions by their titles alone."""
    titled = max(hearing.titles.values(), default=0.0) or 1.0
    named = {
        session: TITLED * score / titled for session, score in hearing.titles.items()
    }
    worth = _worth(hearing, timely)
    answers = [
        _Answer(
            session,
            worth(heard) + named.get(session, 0.0),
            heard.event,
            heard.score,
        )
        for heard in hearing.heard
        for session in [heard.place.session]
    ]
    told = {answer.session for answer in answers}
    answers += [
        _Answer(session, score, None)
        for session, score in named.items()
        if session not in told
    ]
    return sorted(answers, key=lambda one: -one.worth)


def _worth(hearing: Hearing, timely: Timely) -> Callable[[Heard], float]:
    """What a message is worth: itself, what stands around it, and its conversation."""
    heard = hearing.heard
    most = max((one.message for one in heard), default=0.0) or 1.0
    most_around = max((one.window for one in heard), default=0.0) or 1.0
    most_whole = max((one.thread for one in heard), default=0.0) or 1.0

    def worth(one: Heard) -> float:
        own = one.message / most
        if neighbours.tool_after(one.place.session, one.event):
            own *= USED_TOOLS
        total = own + one.window / most_around + one.thread / most_whole
        return total * timing.GAIN if timely.covers(one.event.timestamp) else total

    return worth


def _hits(
    answers: Sequence[_Answer], query: Query, before: int, after: int
) -> Iterator[tuple[float, MessageHit]]:
    """What is shown of each, with what it is worth."""
    known = sessions.of_numbers(one.session for one in answers)
    heard = [(one.session, one.event) for one in answers if one.event]
    counts = neighbours.counts_before(heard)
    for one in answers:
        session = known.get(one.session)
        if session is None:
            continue
        if one.event is None:
            yield one.worth, _named(one.session, session, query)
            continue
        event = one.event
        at = counts[event.event_id]
        window = tuple(_window(one.session, event, at, query, before, after))
        of = event.subagent, event.event_id
        yield one.worth, MessageHit(session, *of, at, one.score, window)


def _named(number: int, session: Session, query: Query) -> MessageHit:
    """A session that is only called so, or summed up so: its first message."""
    first = neighbours.first(number)
    return MessageHit(
        session,
        first.subagent if first else "",
        first.event_id if first else "",
        -1,
        naming.share(session, query),
        (),
        naming.snippet(session, query),
    )


def _window(
    session: int, event: Event, at: int, query: Query, before: int, after: int
) -> Iterator[Said]:
    """A message and those around it."""
    earlier, later = neighbours.messages(session, event, before, after)
    place = at - len(earlier)
    for one in (*earlier, event, *later):
        yield _said(session, one, place, query, is_match=one is event)
        # What is no message has the number of the next one.
        place += one.is_message


def _said(
    session: int, event: Event, place: int, query: Query, *, is_match: bool
) -> Said:
    text = _cut(event.text, query, is_match=is_match)
    tool = event.metadata.get("tool_name", "")
    if event.role is EventRole.ASSISTANT:
        tool = neighbours.tool_after(session, event)
    return Said(
        event_id=event.event_id,
        msg_idx=place,
        role=event.role,
        at=event.timestamp,
        snippet=Snippet(text, _marks(text, query) if is_match else ()),
        is_truncated=text != event.text,
        tool_name=tool,
        is_match=is_match,
    )


def _marks(text: str, query: Query) -> tuple[tuple[int, int], ...]:
    return tuple(marks_in(text, query))


def _cut(text: str, query: Query, *, is_match: bool) -> str:
    """As much of a message as a window shows; of a match from what answers on."""
    if len(text) <= SNIPPET_BYTES and len(text.encode()) <= SNIPPET_BYTES:
        return text
    if not is_match:
        return text[:SNIPPET_BYTES].encode()[:SNIPPET_BYTES].decode(errors="ignore")
    read = text[:READ_CHARS]
    marks = marks_in(read, query)
    start = max(0, marks[0][0] - LEAD_CHARS) if marks else 0
    blank = read.find(" ", start, start + LEAD_CHARS // 2) if start else -1
    start = max(start, blank + 1)
    return (
        text[start : start + SNIPPET_BYTES]
        .encode()[:SNIPPET_BYTES]
        .decode(errors="ignore")
    )
