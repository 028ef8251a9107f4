"""Sessions: which there are, what is known of one, and what was said, page by page."""

from collections.abc import Sequence
from dataclasses import dataclass

from memtui.errors import MemtuiError, Several
from memtui.memory.events import Event, clean, to_ms
from memtui.memory.sessions import Helper, Session
from memtui.memory.thoughts import Thought
from memtui.store import database, pages, sessions, subagents, thoughts

LIMIT = 50
"""How many messages, or sessions, are a page unless fewer or more are asked for."""

SUMMARY_LINES = 4
"""How many headlines sum a session up."""

THOUGHTS = 500
"""How many thoughts stand beside a page at most: the first ones."""

CANDIDATES = 5
"""How many sessions are named when an id could be any of them."""


class NotOne(MemtuiError):
    """A name is that of no session, or of more than one."""


class Unknown(NotOne):
    """No session is called so."""


class Ambiguous(NotOne, Several):
    """Several sessions are called so."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A page of the sessions there are, the latest first."""

    total: int
    """How many there are of the agent and project asked for."""
    offset: int
    sessions: tuple[Session, ...]


@dataclass(frozen=True, slots=True)
class Subagent:
    """A helper of a session, and how much it did."""

    name: str
    kind: str
    task: str
    started_by: str
    """The ``tool_use_id`` of the call that started it; "" where that is not told."""
    events: int
    messages: int


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of one session."""

    session: Session
    events: int
    """Of the main conversation."""
    shared_messages: int
    """How many messages it shares with the session it goes on from: they are kept
    there."""
    subagents: tuple[Subagent, ...]
    segments: int
    summary: tuple[str, ...]
    """What its longest segments are about, in the order of time."""


@dataclass(frozen=True, slots=True)
class Page:
    """A stretch of a conversation."""

    subagent: str
    """Whose; empty for the main conversation."""
    offset: int
    total: int
    """How long the whole conversation is, counted as the page counts."""
    events: tuple[Event, ...]
    thoughts: tuple[Thought, ...] = ()
    """What was thought before each of them; empty unless asked for."""


def listed(
    *, agent: str = "", project: str = "", offset: int = 0, limit: int = LIMIT
) -> Listed:
    """A page of sessions, of one agent or project or of all."""
    with database.connected():
        found = pages.latest(agent, project, offset, limit)
        return Listed(pages.count(agent, project), offset, tuple(found))


def find(asked: str) -> tuple[str, str]:
    """The agent and the id of a session that is named by ``[agent:]id``.

    As much of the id is enough as no other session begins with.

    Raises:
        Unknown: There is no such session.
        Ambiguous: There is more than one.
    """
    with database.connected():
        agent, name = parted(asked)
        found = pages.named(name, agent, is_whole=True) if name else []
        if not found and name:
            found = pages.named(name, agent, is_whole=False)
    if not found:
        raise Unknown(f"there is no session {asked!r}; see them: memtui sessions")
    if len(found) > 1:
        named = [f"{agent}:{name}" for agent, name in found[:CANDIDATES]]
        raise Ambiguous(asked, "sessions", named, len(found))
    return found[0]


def parted(asked: str) -> tuple[str, str]:
    """The agent and what an id begins with in ``[agent:]id``; inside ``connected()``.

    Where no agent is named that is known, there is none, and all of it is of the id.
    """
    asked = clean(asked).strip()
    agent, colon, name = asked.partition(":")
    return (agent, name) if colon and agent in pages.agents() else ("", asked)


def facts(agent: str, session_id: str) -> Facts:
    """What is known of a session that ``find`` has found."""
    with database.connected():
        number, session = _known(agent, session_id)
        counts = pages.by_subagent(number)
        told = {one.subagent: one for one in subagents.of(agent, session_id)}
        names = sorted({*told, *counts} - {""})
        helpers = [told.get(name) or Helper(agent, session_id, name) for name in names]
        return Facts(
            session=session,
            events=counts.get("", (0, 0))[0],
            shared_messages=pages.shared(number),
            subagents=tuple(
                Subagent(
                    one.subagent,
                    one.kind,
                    one.task,
                    one.started_by,
                    *counts.get(one.subagent, (0, 0)),
                )
                for one in helpers
            ),
            segments=pages.segments(number),
            summary=tuple(pages.headlines(number, SUMMARY_LINES)),
        )


def page(
    known: Facts,
    *,
    offset: int = 0,
    limit: int = LIMIT,
    subagent: str = "",
    is_all: bool = False,
    with_thoughts: bool = False,
) -> Page:
    """A stretch of a session's main conversation, or of a subagent's.

    Args:
        known: The session.
        offset: How many events to leave out.
        limit: The most that are given.
        subagent: Whose conversation.
        is_all: Whether tool results and boundaries are given too, not messages alone.
        with_thoughts: Whether what was thought before them is given beside them.

    Raises:
        MemtuiError: The session has no such subagent.
    """
    total = _total(known, subagent, is_all=is_all)
    session = known.session
    with database.connected():
        number, _ = _known(session.agent, session.session_id)
        # What was thought before the first one came after the one before it.
        ahead = 1 if with_thoughts and offset else 0
        found = pages.said(
            number, subagent, offset - ahead, limit + ahead, is_all=is_all
        )
        kept = found[ahead:]
        beside = _thoughts(number, found, kept, subagent) if with_thoughts else []
    return Page(subagent, offset, total, tuple(kept), tuple(beside))


def _thoughts(
    number: int, found: Sequence[Event], kept: Sequence[Event], subagent: str
) -> list[Thought]:
    if not kept:
        return []
    from_ms = to_ms(found[0].timestamp) + 1 if len(found) > len(kept) else 0
    until_ms = to_ms(kept[-1].timestamp)
    return thoughts.between(
        number, from_ms, until_ms, subagent=subagent, limit=THOUGHTS
    )


def _total(known: Facts, subagent: str, *, is_all: bool) -> int:
    if not subagent:
        return known.events if is_all else known.session.message_count
    for one in known.subagents:
        if one.name == subagent:
            return one.events if is_all else one.messages
    names = ", ".join(one.name for one in known.subagents) or "it has none"
    raise MemtuiError(f"the session has no subagent {subagent!r}: {names}")


def _known(agent: str, session_id: str) -> tuple[int, Session]:
    number, session = (
        sessions.number(agent, session_id),
        sessions.get(agent, session_id),
    )
    if number is None or session is None:
        raise MemtuiError(f"the session {agent}:{session_id} is no longer kept")
    return number, session
