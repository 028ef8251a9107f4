"""The tables of the store as Peewee models: tests read and change rows by them."""

import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import peewee
from playhouse.reflection import Introspector

from memtui.store import database, schema


def _make_models() -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "empty.db"
        with closing(sqlite3.connect(file)) as opened:
            opened.executescript(schema.TABLES.read_text())
        empty = peewee.SqliteDatabase(file)
        models: dict[str, Any] = Introspector.from_database(empty).generate_models()
        empty.close()
    for model in models.values():
        model.bind(database.db)
    return models


_MODELS = _make_models()

BulletGripRow = _MODELS["bullet_grips"]
BulletRow = _MODELS["bullets"]
CheckpointRow = _MODELS["checkpoints"]
CursorRow = _MODELS["cursors"]
EventRow = _MODELS["events"]
GripRow = _MODELS["grips"]
JobRow = _MODELS["jobs"]
JobRunRow = _MODELS["job_runs"]
MetaRow = _MODELS["meta"]
NodeRow = _MODELS["nodes"]
OutboxRow = _MODELS["outbox"]
ProblemRow = _MODELS["problems"]
RedactionRow = _MODELS["redactions"]
SegmentRow = _MODELS["segments"]
SessionRow = _MODELS["sessions"]
SourceCopyRow = _MODELS["source_copies"]
SubagentRow = _MODELS["subagents"]
ThoughtRow = _MODELS["thoughts"]
TombstoneRow = _MODELS["tombstones"]
UsageRow = _MODELS["usage"]
VersionRow = _MODELS["node_versions"]
