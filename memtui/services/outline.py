"""Reads the outline of a conversation: prompts, commits, failures, subagents."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from memtui.model.audit import AuditQuery
from memtui.model.events import EventPosition
from memtui.services import conversation, sessions
from memtui.services.conversation import ConversationKey
from memtui.services.sessions import SessionCard
from memtui.store import conversations, coverage, database, work
from memtui.summarize.card import name_request

MAX_CALLS = 20
"""The most events on each side of a time among which a call is looked for."""


class EntryKind(StrEnum):
    PROMPT = "prompt"
    COMMIT = "commit"
    FAILED = "failed call"
    SUBAGENT = "subagent"


@dataclass(frozen=True, slots=True, order=True)
class OutlineEntry:
    position: EventPosition
    kind: EntryKind
    text: str


@dataclass(frozen=True, slots=True)
class Outline:
    """The outline of a conversation, with the card of its session."""

    card: SessionCard
    entries: tuple[OutlineEntry, ...]
    """In the order of the conversation."""
    cited: Sequence[EventPosition]
    """The events that the lines of the summary cite."""
    uncited: Sequence[tuple[bool, EventPosition]]
    """Prompts, errors and commits that no line cites; other messages with True."""

    @property
    def prompts(self) -> list[EventPosition]:
        return [e.position for e in self.entries if e.kind is EntryKind.PROMPT]


def read_outline(key: ConversationKey) -> Outline:
    """Read the outline of a conversation, without the texts of all events.

    Raises:
        ConversationGoneError: It is not stored any more.
    """
    with database.connection():
        number = conversation.find_number(key)
        card = sessions.read_card(key.agent, key.session_id)
        query = AuditQuery(session=f"{key.agent}:{key.session_id}")
        entries = sorted(_list_entries(number, key))
        cited = sorted(_locate(number, key, coverage.list_cited(query)).values())
        parts = {e.position for e in entries if e.kind is not EntryKind.SUBAGENT}
        messages = {*conversations.list_messages(number, key.subagent)} - parts
        uncited = [(at in messages, at) for at in (parts | messages).difference(cited)]
        return Outline(card, tuple(entries), cited, sorted(uncited))


def _list_entries(number: int, key: ConversationKey) -> Iterator[OutlineEntry]:
    for position, is_call, text in conversations.list_landmarks(number, key.subagent):
        kind = EntryKind.FAILED if is_call else EntryKind.PROMPT
        name = text.partition("\n")[0] if is_call else name_request(text)
        yield OutlineEntry(position, kind, name)
    subjects = {c.event_id: c.subject for c in work.read_facts(number).commits}
    for event_id, position in _locate(number, key, subjects).items():
        yield OutlineEntry(position, EntryKind.COMMIT, subjects[event_id])
    if not key.subagent:
        positions = conversations.list_positions(number, "")
        for name, *times_ms in conversations.list_subagent_times(number):
            yield from _find_start(key, positions, name, times_ms)


def _find_start(
    key: ConversationKey,
    positions: Sequence[EventPosition],
    name: str,
    times_ms: Iterable[int],
) -> Iterator[OutlineEntry]:
    """Yield the call of a subagent, near its first or its last event; or else the last
    event before it."""
    ranks = [bisect_left(positions, (at_ms, 0, "")) for at_ms in times_ms]
    for rank in ranks:
        start, end = max(0, rank - MAX_CALLS), rank + MAX_CALLS
        for turn in conversation.read_turns(key, positions, start, end):
            if turn.subagent == name:
                text = turn.event.text.partition("\n")[0]
                yield OutlineEntry(turn.position, EntryKind.SUBAGENT, text)
                return
    if ranks[0]:
        yield OutlineEntry(positions[ranks[0] - 1], EntryKind.SUBAGENT, name)


def _locate(
    number: int, key: ConversationKey, event_ids: Iterable[str]
) -> dict[str, EventPosition]:
    """Return the positions of those of some events that are in the conversation."""
    return {
        event_id: at.position
        for event_id, at in conversations.locate(event_ids).items()
        if (at.number, at.subagent) == (number, key.subagent)
    }
