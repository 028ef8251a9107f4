"""table of contents → index: what the outbox announces is indexed, then struck off.

Indexing again is harmless, so a row is deleted after its effect is on the disk. The
store remembers the name of the index it has fed; an index of another name, or none,
is made anew and every node announced again.
"""

import secrets
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from memtui.errors import SearchError
from memtui.model.events import to_ms
from memtui.pipeline.worker import ChangedNodes
from memtui.search import message_index
from memtui.search.message_index import (
    Filling,
    Kind,
    MessageIndex,
    Said,
    Spoken,
    Title,
    full_name,
)
from memtui.search.node_documents import node_documents
from memtui.search.node_index import NodeIndex
from memtui.store import database, grips, meta, nodes, outbox, segments
from memtui.text import analyzer

NODES_AT_ONCE = 500
"""How many announcements one commit of the index follows."""


class NodeIndexer:
    """Keeps the index in step with the table of contents."""

    def __init__(self, index: NodeIndex, clock: Callable[[], datetime]) -> None:
        """Remember the index."""
        self._index, self._clock = index, clock
        self._is_checked = False
        self.changed = ChangedNodes()

    def step(self) -> int:
        """Index a batch of nodes; how many announcements were followed."""
        if not self._is_checked or not self._index.exists() or self._index.is_suspect:
            self.check()
        with database.connection():
            rows = outbox.list_nodes(NODES_AT_ONCE)
            if not rows:
                return 0
            names = list(dict.fromkeys(name for _, name in rows))
            documents = [
                document
                for node in nodes.get_many(names)
                for document in node_documents(node, grips.list_of_node(node.node_id))
            ]
        try:
            self._index.update(documents, names)
        except SearchError:
            self._is_checked = False
            raise
        with database.transaction():
            outbox.delete([row for row, _ in rows])
            outbox.add_sessions(set(segments.get_sessions(names).values()))
        self.changed.update(names)
        return len(rows)

    def check(self) -> None:
        """Make the index anew unless it is the one this store has fed."""
        with database.connection():
            fed = meta.node_index_name()
        if not fed or self._index.name() != fed or not self._index.is_sound():
            self.rebuild()
        self._index.clear_suspicion()
        self._is_checked = True

    def rebuild(self) -> None:
        """Make an empty index and announce every node."""
        name = secrets.token_hex(8)
        self._index.create(name)
        with database.transaction():
            outbox.clear(outbox.INDEX_NODE)
            outbox.add_nodes(nodes.list_ids(), to_ms(self._clock()))
            meta.set_node_index_name(name)
        self._is_checked = True


EVENTS_AT_ONCE = 1_000
"""About how many events one step looks at."""

SESSIONS_AT_ONCE = 200
"""How many sessions one step indexes by their titles."""

RUNS_AT_ONCE = 200
"""How many announcements one step follows at most."""


class MessageIndexer:
    """Keeps the index of messages in step with what was said."""

    def __init__(self, index: MessageIndex, *, with_tools: bool = False) -> None:
        """Remember the index.

        Args:
            index: Where what is said is found again.
            with_tools: Whether the arguments and answers of tools are found too.
        """
        self._index, self._with_tools = index, with_tools
        self._is_checked = False
        self._filling: Filling | None = None

    def step(self) -> int:
        """Index a batch of events; how many were looked at."""
        if not (self._is_checked and self._index.exists()) or self._index.is_suspect:
            self.check()
        try:
            return self._follow() or self._fill() or self._name()
        except SearchError:
            self._is_checked = False
            raise

    def check(self) -> None:
        """Make the index anew unless it is the one this store has fed."""
        with database.connection():
            fed = meta.message_index_name()
        is_ours = bool(fed) and self._index.name() == self._named(fed)
        if not is_ours or self._index.is_suspect:
            self.rebuild()
        self._filling = self._index.filling()
        self._is_checked = True

    def rebuild(self) -> None:
        """Make an empty index, to be filled from the store."""
        name = secrets.token_hex(8)
        self._index.create(self._named(name))
        with database.transaction():
            outbox.clear(outbox.INDEX_EVENT)
            outbox.clear(outbox.INDEX_SESSION)
            outbox.add_sessions(message_index.sessions())
            meta.set_message_index_name(name)
        self._is_checked = False

    def _named(self, name: str) -> str:
        return full_name(name, with_tools=self._with_tools)

    def _follow(self) -> int:
        with database.connection():
            runs = _some(outbox.list_events(RUNS_AT_ONCE))
            if not runs:
                return 0
            spoken = message_index.of_runs(runs)
        message_index.put(self._index, self._said(spoken), ())
        with database.transaction():
            outbox.delete([run.row for run in runs])
        return sum(run.count for run in runs)

    def _fill(self) -> int:
        """Index older events than those that are indexed, if there are any."""
        if self._filling is None or self._filling.is_done:
            return 0
        before = self._filling
        with database.connection():
            spoken = message_index.before(before.oldest, EVENTS_AT_ONCE)
        oldest = spoken[-1].event_id if spoken else before.oldest
        filling = Filling(not spoken, oldest, before.done + len(spoken))
        message_index.put(self._index, self._said(spoken), filling.facts)
        self._filling = filling
        return len(spoken)

    def _name(self) -> int:
        """Index sessions by what they are called and summed up by now."""
        with database.connection():
            rows = outbox.list_sessions(SESSIONS_AT_ONCE)
            if not rows:
                return 0
            named = message_index.session_titles({session for _, session in rows})
        message_index.put_titles(
            self._index,
            [
                Title(number, analyzer.terms(title), analyzer.terms(summary))
                for number, title, summary in named
            ],
        )
        with database.transaction():
            outbox.delete([row for row, _ in rows])
        return len(rows)

    def _said(self, spoken: Iterable[Spoken]) -> list[Said]:
        return [one for event in spoken if (one := of(event, self._with_tools))]


def of(event: Spoken, with_tools: bool = False) -> Said | None:
    """What of an event is indexed; None of one that says nothing."""
    kind = event.kind
    if kind is None:
        return None
    text = event.text
    if kind is Kind.TOOL and not with_tools:
        text = event.tool
    terms = analyzer.terms(text)
    if kind is Kind.TOOL and not terms:
        return None
    return Said(
        event_id=message_index.to_bytes(event.event_id),
        session=event.session,
        subagent=event.subagent,
        at_ms=event.at_ms,
        kind=kind,
        terms=terms,
        tool=event.tool,
        is_once=not with_tools,
        ordinal=event.ordinal,
        told_ids=tuple(map(message_index.to_bytes, event.told_ids)),
    )


def _some(runs: Sequence[outbox.EventRange]) -> list[outbox.EventRange]:
    """The first of them that are a step's worth together; at least one."""
    some: list[outbox.EventRange] = []
    count = 0
    for run in runs:
        if some and count + run.count > EVENTS_AT_ONCE:
            break
        some.append(run)
        count += run.count
    return some
