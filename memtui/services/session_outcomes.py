"""Describes sessions by name, state and outcome, from the summaries of their segments.

``summarize.extractive`` chooses the outcome of a segment.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TypeVar

from memtui.model.hits import CombinedHit, MessageHit
from memtui.model.sessions import NO_WORK, SessionWork, WorkState
from memtui.store import database
from memtui.store import sessions as store_sessions
from memtui.store.sessions import SegmentOutcome, SessionKey
from memtui.summarize import session_work

REPEATED_SHARE = 0.8
"""An outcome that has this share of its words in the name of the work is left out."""

_CLOSED = frozenset(WorkState) - {WorkState.OPEN}

HitT = TypeVar("HitT", CombinedHit, MessageHit)


def read_work(keys: Collection[SessionKey]) -> dict[SessionKey, SessionWork]:
    """Return the work of sessions that have a summary, by agent and id."""
    with database.connection():
        found = store_sessions.list_work(set(keys))
    groups: dict[SessionKey, list[SegmentOutcome]] = {}
    for segment in found:
        groups.setdefault((segment.agent, segment.session_id), []).append(segment)
    return {key: _describe(segments) for key, segments in groups.items()}


def read_one(agent: str, session_id: str) -> SessionWork:
    """Return the work of a session; empty if it has no summary."""
    return read_work([(agent, session_id)]).get((agent, session_id), NO_WORK)


def _describe(segments: Sequence[SegmentOutcome]) -> SessionWork:
    """Describe a session by its segments, oldest first."""
    name = segments[0].title or session_work.choose_name(
        [one.headline for one in segments], [one.messages for one in segments]
    )
    states = [one.state for one in segments if one.state]
    ended = [one for one in segments if one.outcome]
    efforts = [
        session_work.sum_effort(one.messages, one.commits, changes_files=one.has_files)
        for one in ended
    ]
    last = session_work.find_last_large([one.state for one in ended], efforts)
    found = [one.outcome for one in ended[last : last + 1]]
    found += [one.outcome for one in reversed(ended) if one.state in _CLOSED]
    outcome = next((one for one in found if not _repeats(one, name)), "")
    return SessionWork(
        name,
        states[session_work.find_last_state(states)] if states else "",
        session_work.strip_commit_type(outcome),
    )


def _repeats(outcome: str, name: str) -> bool:
    words = set(session_work.strip_commit_type(outcome).casefold().split())
    return len(words & set(name.casefold().split())) >= REPEATED_SHARE * len(words)


def add_work(hits: Sequence[HitT]) -> tuple[HitT, ...]:
    work = read_work({_key(one) for one in hits})
    return tuple(replace(one, work=work.get(_key(one), NO_WORK)) for one in hits)


def _key(hit: CombinedHit | MessageHit) -> SessionKey:
    session = hit.session if isinstance(hit, MessageHit) else hit
    return session.agent, session.session_id
