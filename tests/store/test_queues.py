"""Nodes that need a version by a model are found without reading all nodes."""

from pathlib import Path

import pytest

from memtui import store
from memtui.store import database, queues
from memtui.store.database import db


def test_only_what_was_asked_for_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.open_at(tmp_path / "a.db", time_zone="UTC")
    plans: list[str] = []
    run = db.execute_sql

    def planned(asked: str, values: object = None) -> object:
        rows = run(f"EXPLAIN QUERY PLAN {asked}", values).fetchall()
        plans.extend(str(row[-1]) for row in rows)
        return run(asked, values)

    with database.connection():
        monkeypatch.setattr(db, "execute_sql", planned)
        assert queues.list_requested_rewrites(1, 1) == []
        assert queues.last_request_ms() == 0
    scans = [plan for plan in plans if "nodes" in plan or "t1" in plan]
    assert len(scans) == 2
    assert all("nodes_requested" in plan for plan in scans)
