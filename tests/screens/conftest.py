"""A store with some versions by a model."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from memtui.model.events import to_ms
from memtui.model.nodes import (
    BulletKind,
    DraftBullet,
    GenerationStats,
    Summary,
    TocNode,
)
from memtui.pipeline import summarization
from memtui.pipeline import versions as pipeline_versions
from memtui.services import browse
from memtui.store import database, queues, versions
from memtui.workspace import Workspace
from tests.conftest import NOW

MODEL = "qwen3:4b-instruct"
DAY = "toc:day:2024-01-15"
CLAIMS = (
    "The timeout was 600 seconds, counted from the login: SESSION_TTL in"
    " shop/settings.py.",
    "The session now slides: every request renews it for 600 seconds.",
    "The session does not slide: no request renews it for an hour.",
    "All shopping baskets were moved to a Redis cluster in Frankfurt last night.",
)
"""What a model writes of that day: true, another number, a "not", made up."""


@dataclass(frozen=True)
class Author:
    """Puts a model's versions into the store."""

    workspace: Workspace

    def writes(self, node_id: str, title: str, claims: Sequence[str]) -> TocNode:
        """Put a version of a segment, and show it; what became of it."""
        stats = GenerationStats(model=MODEL, digest="359d7dd4bcda", server="0.13.5")
        bullets = (DraftBullet(text, kind=BulletKind.OUTCOME) for text in claims)
        draft = Summary(title, tuple(bullets), (), stats)
        identity = f"ollama {MODEL}"
        with database.transaction():
            given = pipeline_versions.read_session_input(node_id)
            assert given is not None
            digest = given.input_hash(identity)
            for made in given.make_versions(draft, identity, digest):
                versions.add_grips(made.grips)
                versions.add_from_model(made.node, to_ms(NOW))
                queues.remove_rewrite(made.node.node_id)
            summarization.update_sessions([given.number], self.workspace.zone)
        assert self.workspace.pipeline.run_until_idle(lambda _: None) == []
        node = browse.get_node(node_id)
        assert node is not None
        return node


@pytest.fixture
def model(full_workspace: Workspace) -> Author:
    """A model that writes into the full workspace."""
    return Author(full_workspace)


@pytest.fixture
def checked_segment(model: Author) -> TocNode:
    """The segment of a day in January, of which a model claims more than was said."""
    (line,) = browse.list_children(DAY)
    return model.writes(line.node_id, "Sliding sessions of one hour", CLAIMS)
