"""A store with some versions by a model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from memtui.model.events import to_ms
from memtui.model.nodes import DraftBullet, GenerationStats, Summary, TocNode
from memtui.pipeline import summarization
from memtui.services import browse
from memtui.store import database, segments, sessions, versions
from memtui.store.schema import NodeRow
from memtui.summarize.segmenter import SegmentRules
from memtui.workspace import Workspace
from tests.conftest import NOW

MODEL = "qwen3:4b-instruct"
DAY = "toc:day:2024-01-15"
CLAIMS = (
    "The timeout was 600 seconds, counted from the login: SESSION_TTL in"
    " shop/settings.py.",
    "The session now slides: every request renews it for 2 hours.",
    "The session does not slide: no request renews it for an hour.",
    "All shopping baskets were moved to a Redis cluster in Frankfurt last night.",
)
"""What a model writes of that day: true, a changed number, a "not", made up."""


@dataclass(frozen=True)
class Author:
    """Puts a model's versions into the store."""

    workspace: Workspace

    def writes(self, node_id: str, title: str, claims: Sequence[str]) -> TocNode:
        """Put a version of a segment, and show it; what became of it."""
        facts = GenerationStats(model=MODEL, digest="359d7dd4bcda", server="0.13.5")
        draft = Summary(title, tuple(DraftBullet(text) for text in claims), (), facts)
        with database.transaction():
            (stretch,) = (
                one
                for number in range(1, 20)
                for one in segments.list_since(number, 0)
                if one.segment_id == node_id
            )
            work = summarization.read_segment_work(
                stretch, sessions.get_many({stretch.session_number}), SegmentRules()
            )
            assert work is not None
            identity = f"ollama {MODEL}"
            made = work.make_version(draft, identity, work.input_hash(identity))
            versions.add_grips(made.grips)
            named = replace(made.node, title=title, headline=title)
            versions.add_from_model(named, to_ms(NOW))
            written = NodeRow.update(needs_model=False)
            written.where(NodeRow.node_id == node_id).execute()
        node = browse.get_node(node_id)
        assert node is not None
        return node


@pytest.fixture
def model(full_workspace: Workspace) -> Author:
    """A model that writes into the full workspace."""
    return Author(full_workspace)


@pytest.fixture
def judged(model: Author) -> TocNode:
    """The segment of a day in January, of which a model claims more than was said."""
    (line,) = browse.list_children(DAY)
    return model.writes(line.node_id, "Sliding sessions of one hour", CLAIMS)
