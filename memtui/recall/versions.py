"""The versions of a node: its history, and each of them whole."""

from memtui.memory.toc import TocHistory, TocNode
from memtui.store import database, pins, spans, toc
from memtui.store import versions as kept


def history(node_id: str) -> TocHistory | None:
    """All versions of a node, the latest first; None for an unknown node."""
    with database.connected():
        name = spans.cited_node(node_id)
        found = toc.lines([name])
        if not found:
            return None
        return TocHistory(found[0], pins.asked_at(name), tuple(toc.editions(name)))


def edition(node_id: str, version: int) -> TocNode | None:
    """Any version of a node with its bullets; None if there is no such version."""
    with database.connected():
        return toc.edition(spans.cited_node(node_id), version)


def is_refused(node_id: str) -> bool:
    """Whether a model's version of a node was rejected."""
    with database.connected():
        return kept.is_refused(spans.cited_node(node_id))
