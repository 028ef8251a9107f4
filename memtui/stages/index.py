"""table of contents → index: what the outbox announces is indexed, then struck off.

Indexing again is harmless, so a row is deleted after its effect is on the disk. The
store remembers the name of the index it has fed; an index of another name, or none,
is made anew and every node announced again.
"""

import secrets
from collections.abc import Callable
from datetime import datetime

from memtui.errors import SearchError
from memtui.memory.events import to_ms
from memtui.search.documents import of_node
from memtui.search.index import Index
from memtui.stages.changes import Changes
from memtui.store import database, facts, grips, outbox, segments, toc

NODES_AT_ONCE = 500
"""How many announcements one commit of the index follows."""


class Follow:
    """Keeps the index in step with the table of contents."""

    def __init__(self, index: Index, clock: Callable[[], datetime]) -> None:
        """Remember the index."""
        self._index, self._clock = index, clock
        self._is_checked = False
        self.changed = Changes()

    def step(self) -> int:
        """Index a batch of nodes; how many announcements were followed."""
        if not self._is_checked or not self._index.exists() or self._index.is_suspect:
            self.check()
        with database.connected():
            rows = outbox.to_index(NODES_AT_ONCE)
            if not rows:
                return 0
            names = list(dict.fromkeys(name for _, name in rows))
            documents = [
                document
                for node in toc.nodes(names)
                for document in of_node(node, grips.of_node(node.node_id))
            ]
        try:
            self._index.put(documents, names)
        except SearchError:
            self._is_checked = False
            raise
        with database.writing():
            outbox.delete([row for row, _ in rows])
            outbox.say_renamed(set(segments.sessions_of(names).values()))
        self.changed.update(names)
        return len(rows)

    def check(self) -> None:
        """Make the index anew unless it is the one this store has fed."""
        with database.connected():
            fed = facts.index_name()
        if not fed or self._index.name() != fed or not self._index.is_sound():
            self.rebuild()
        self._index.trust()
        self._is_checked = True

    def rebuild(self) -> None:
        """Make an empty index and announce every node."""
        name = secrets.token_hex(8)
        self._index.make(name)
        with database.writing():
            outbox.clear(outbox.INDEX_NODE)
            outbox.announce(toc.all_ids(), to_ms(self._clock()))
            facts.set_index_name(name)
        self._is_checked = True
