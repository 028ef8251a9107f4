"""A dump of everything that is stored, for tests of deleting and copying."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtui import redaction
from memtui.cli.output import to_plain
from memtui.services import browse, status
from memtui.store import database
from memtui.workspace import Workspace
from tests.tables import EventRow, GripRow, SessionRow, ThoughtRow

Tree = dict[str, Any]

QUERIES = ("timeout", "migration fails", "parquet", "basket")


def tree_of(workspace: Workspace) -> Tree:
    """Sessions, events, every node with all it says, its grips, and what is found."""
    with database.connection():
        rows = EventRow.select().order_by(EventRow.id).dicts()
        # The digest covers the number of the session.
        left_out = ("session", "digest")
        events = [{k: v for k, v in r.items() if k not in left_out} for r in rows]
        sessions = list(
            SessionRow.select().order_by(SessionRow.agent, SessionRow.name).dicts()
        )
        thoughts = list(ThoughtRow.select().order_by(ThoughtRow.id).dicts())
        grips = list(GripRow.select().order_by(GripRow.id).dicts())
    for row in sessions:
        # When its project was first told is how its project is found, not what it is.
        del row["id"], row["project_ms"]
    for row in thoughts:
        del row["session"]
    nodes: Tree = {}
    waiting = [line.node_id for line in browse.list_children()]
    while waiting:
        name = waiting.pop()
        said = to_plain(browse.get_node(name))
        nodes[name] = {k: v for k, v in said.items() if k != "created_at"}
        waiting += [line.node_id for line in browse.list_children(name)]
    hits = {
        query: sorted(
            h.target_id for h in workspace.teleport.find(query, limit=999).hits
        )
        for query in QUERIES
    }
    return {
        "sessions": sessions,
        "events": events,
        "thoughts": thoughts,
        "grips": grips,
        "nodes": nodes,
        "hits": hits,
        "stats": to_plain(status.read_stats()),
    }


def import_and_summarize(workspace: Workspace, *paths: Path) -> Workspace:
    for _ in workspace.pipeline.importer().run(paths):
        pass
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    return workspace


@pytest.fixture
def tree() -> Callable[[Workspace], Tree]:
    return tree_of


@pytest.fixture
def import_files() -> Callable[..., Workspace]:
    return import_and_summarize


@pytest.fixture
def import_unredacted(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Workspace]:
    """Imports as it was done before there were rules."""

    def imported(workspace: Workspace, *paths: Path) -> Workspace:
        with monkeypatch.context() as before:
            before.setattr(
                redaction, "redact", lambda text: redaction.RedactedText(text, ())
            )
            before.setattr(redaction, "redact_json", lambda value: (value, ()))
            return import_and_summarize(workspace, *paths)

    return imported
