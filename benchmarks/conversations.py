"""Make a store with conversations of any number of messages, always the same ones.

Users and assistants take turns in sessions of several agents on several projects over
two years; a few sessions have subagents. A store is made once and reused.
"""

import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks import zipf
from memtui import store
from memtui.model import events
from memtui.model.events import Event, EventType
from memtui.model.sessions import SessionMetadata
from memtui.paths import Paths, in_home
from memtui.store import database, queues, sessions
from memtui.store import events as store_events

SEED = 20240115
"""What makes two stores equal."""

VERSION = 1
"""Goes up when the same number of messages would give another store."""

BEGIN = datetime(2024, 1, 8, 8, tzinfo=UTC)
"""When the first session may start."""

DAYS = 730
"""Over how many days the sessions are spread."""

LENGTH, SPREAD, LONGEST = 40, 0.9, 600
"""How many messages a session has: the median, the sigma of the log-normal, the most.
They are 58 on average."""

USUAL = 58
"""So many messages a session has on average."""

WORDS = {EventType.USER_MESSAGE: 40, EventType.ASSISTANT_MESSAGE: 86}
"""How long messages are in words, as medians; together they are 90 on average."""

ANSWERS = 0.67
"""The share of messages that the assistant says."""

MOST_S = {EventType.USER_MESSAGE: 300, EventType.ASSISTANT_MESSAGE: 40}
"""After how many seconds at most the next is said."""

HELPED = 0.1
"""The share of sessions that send a helper out."""

AGENTS = {"claude-code": 60, "codex": 25, "gemini-cli": 10, "opencode": 5}
"""How often people work with which agent."""

PROJECTS = (
    "harbour", "lantern", "orchard", "quarry", "thicket", "meadow",
    "foundry", "gazette", "almanac", "ferry", "granary", "beacon",
)  # fmt: skip

AT_ONCE = 2_000
"""About how many messages are kept in one transaction."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One session in the making."""

    agent: str
    project: str
    name: str
    at: datetime
    length: int
    is_helped: bool

    @property
    def facts(self) -> SessionMetadata:
        """What its agent says of it."""
        folder = f"/home/robin/{self.project}"
        return SessionMetadata(
            agent=self.agent,
            session_id=self.name,
            at=self.at,
            cwd=folder,
            root=folder,
            project=self.project,
        )

    def said(self, dice: random.Random) -> Iterator[Event]:
        """Its messages in their order."""
        at = self.at
        for place in range(self.length):
            is_answer = place > 0 and dice.random() < ANSWERS
            kind = EventType.ASSISTANT_MESSAGE if is_answer else EventType.USER_MESSAGE
            at += timedelta(seconds=dice.uniform(1, MOST_S[kind]))
            is_helpers = self.is_helped and place % 20 > 10
            yield events.make(
                agent=self.agent,
                session_id=self.name,
                timestamp=at,
                event_type=kind,
                text=zipf.text(dice, WORDS[kind]),
                source_key=f"{self.name}-{place}",
                subagent="explorer" if is_helpers else "",
            )


def all_of(messages: int) -> Iterator[tuple[Conversation, list[Event]]]:
    """So many messages in all, session by session, the oldest session first."""
    dice = random.Random(SEED)
    left, number = messages, 0
    agents, weights = list(AGENTS), list(AGENTS.values())
    while left:
        drawn = round(LENGTH * dice.lognormvariate(0, SPREAD))
        length = min(left, max(2, min(drawn, LONGEST)))
        share = (messages - left) / messages
        conversation = Conversation(
            agent=dice.choices(agents, weights)[0],
            project=dice.choice(PROJECTS),
            name=f"{number:08x}-{dice.getrandbits(48):012x}",
            at=BEGIN + timedelta(days=DAYS * share, minutes=dice.randint(0, 600)),
            length=length,
            is_helped=dice.random() < HELPED,
        )
        yield conversation, list(conversation.said(dice))
        left, number = left - length, number + 1


def home(folder: Path, messages: int) -> Paths:
    """The places of a store that holds so many messages; it is made where missing.

    Args:
        folder: Where stores stay.
        messages: How many.
    """
    place = folder / f"conversations-{VERSION}-{messages}"
    if not place.exists():
        draft = place.with_suffix(".part")
        shutil.rmtree(draft, ignore_errors=True)
        _write(in_home(draft), messages)
        draft.rename(place)
    return in_home(place)


def _write(paths: Paths, messages: int) -> None:
    """Keep them as an import does, and let all but the index of messages follow."""
    paths.make_folders()
    store.open_at(paths.store)
    batch: list[Event] = []
    metadata: list[SessionMetadata] = []
    for conversation, said in all_of(messages):
        batch += said
        metadata.append(conversation.facts)
        if len(batch) >= AT_ONCE:
            _keep(batch, metadata)
            batch, metadata = [], []
    _keep(batch, metadata)
    with database.transaction():
        queues.clear_rows(queues.UPDATE_TOC)
    database.close()


def _keep(batch: list[Event], metadata: list[SessionMetadata]) -> None:
    with database.transaction():
        store_events.add(batch, route="transcript")
        for facts in metadata:
            sessions.update_metadata(facts)
