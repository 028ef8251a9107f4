"""table of contents → index: what the outbox announces is indexed, then struck off.

Indexing again is harmless, so a row is deleted after its effect is on the disk. The
store remembers the name of the index it has fed; an index of another name, or none,
is made anew and every node announced again.
"""

import secrets
from collections.abc import Callable, Sequence
from datetime import datetime

from memtui.errors import SearchError
from memtui.model.events import to_ms
from memtui.pipeline.worker import ChangedNodes
from memtui.search.message_index import MessageIndex
from memtui.search.node_documents import node_documents
from memtui.search.node_index import NodeIndex
from memtui.store import database, grips, index_input, meta, nodes, outbox, segments

NODES_AT_ONCE = 500
"""The number of announcements followed by one commit of the index."""


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
            fed = meta.read(meta.NODE_INDEX)
        if not fed or self._index.name() != fed or not self._index.is_sound():
            self.rebuild()
        self._is_checked = True

    def rebuild(self) -> None:
        """Make an empty index and announce every node."""
        name = secrets.token_hex(8)
        self._index.create(name)
        with database.transaction():
            outbox.clear(outbox.INDEX_NODE)
            outbox.add_nodes(nodes.list_ids(), to_ms(self._clock()))
            meta.write(meta.NODE_INDEX, name)
        self._is_checked = True


EVENTS_AT_ONCE = 1_000
"""About how many events one step indexes."""

SESSIONS_AT_ONCE = 200
"""The number of session titles that one step indexes."""

RANGES_AT_ONCE = 200
"""The number of outbox rows that one step reads."""


class MessageIndexer:
    """Keeps the message index up to date."""

    def __init__(self, index: MessageIndex) -> None:
        """Take the index."""
        self._index = index
        self._is_checked = self._is_complete = False

    def step(self) -> int:
        """Index a batch of events or titles; return how many were read."""
        if not (self._is_checked and self._index.exists()) or self._index.is_suspect:
            self.check()
        try:
            return self._add_new() or self._add_older() or self._add_titles()
        except SearchError:
            self._is_checked = False
            raise

    def check(self) -> None:
        """Rebuild the index unless it is the one made for this store."""
        with database.connection():
            name = meta.read(meta.MESSAGE_INDEX)
        if not name or self._index.name() != name or self._index.is_suspect:
            self.rebuild()
        self._is_complete = self._index.status().is_complete
        self._is_checked = True

    def rebuild(self) -> None:
        """Create an empty index, which the next steps fill from the store."""
        name = secrets.token_hex(8)
        self._index.create(name)
        with database.transaction():
            outbox.clear(outbox.INDEX_EVENT)
            outbox.clear(outbox.INDEX_SESSION)
            outbox.add_sessions(index_input.list_sessions())
            meta.write(meta.MESSAGE_INDEX, name)
        self._is_checked = False

    def _add_new(self) -> int:
        with database.connection():
            ranges = _first_batch(outbox.list_events(RANGES_AT_ONCE))
            if not ranges:
                return 0
            events = index_input.read_ranges(ranges)
        self._index.add(events)
        with database.transaction():
            outbox.delete([one.row for one in ranges])
        return sum(one.count for one in ranges)

    def _add_older(self) -> int:
        """Index the next events that were stored before the index was made."""
        if self._is_complete:
            return 0
        oldest_id = self._index.status().oldest_id
        with database.connection():
            events = index_input.read_before(oldest_id, EVENTS_AT_ONCE)
        self._index.add_older(events)
        self._is_complete = not events
        return len(events)

    def _add_titles(self) -> int:
        with database.connection():
            rows = outbox.list_sessions(SESSIONS_AT_ONCE)
            if not rows:
                return 0
            texts = index_input.read_session_texts({session for _, session in rows})
        self._index.set_session_texts(texts)
        with database.transaction():
            outbox.delete([row for row, _ in rows])
        return len(rows)


def _first_batch(ranges: Sequence[outbox.EventRange]) -> list[outbox.EventRange]:
    """Return the first ranges that make about EVENTS_AT_ONCE together; at least one."""
    batch: list[outbox.EventRange] = []
    count = 0
    for one in ranges:
        if batch and count + one.count > EVENTS_AT_ONCE:
            break
        batch.append(one)
        count += one.count
    return batch
