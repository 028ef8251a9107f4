"""How far the work has come: what waits, what was read, what could not be taken."""

from typing import ClassVar

import peewee
from playhouse.sqlite_ext import AutoIncrementField

from memtui.store.tables.table import Table


class OutboxRow(Table):
    """Work that waits; its ids never start again, even when the table was empty."""

    id = AutoIncrementField()
    action = peewee.TextField()
    subject_id = peewee.TextField()
    at_ms = peewee.BigIntegerField()
    session = peewee.IntegerField(null=True)

    class Meta:
        table_name = "outbox"
        indexes: ClassVar = ((("action", "session"), False),)


class CheckpointRow(Table):
    """How far a job has come."""

    job_name = peewee.TextField(primary_key=True)
    level = peewee.TextField()
    last_processed_ms = peewee.BigIntegerField()
    processed_count = peewee.IntegerField()
    created_ms = peewee.BigIntegerField()

    class Meta:
        table_name = "checkpoints"


class CursorRow(Table):
    """How far a file has been read, and how it looked then."""

    path = peewee.TextField(primary_key=True)
    source = peewee.TextField()
    size = peewee.BigIntegerField()
    mtime_ns = peewee.BigIntegerField()
    offset = peewee.BigIntegerField()
    line = peewee.BigIntegerField()
    fingerprint = peewee.TextField()
    state = peewee.TextField()
    is_held = peewee.BooleanField()
    read_ms = peewee.BigIntegerField()

    class Meta:
        table_name = "cursors"


class SeenRow(Table):
    """What has come from a source so far."""

    source = peewee.TextField()
    agent = peewee.TextField()
    last_event_ms = peewee.BigIntegerField()
    received_ms = peewee.BigIntegerField()
    events = peewee.IntegerField()

    class Meta:
        table_name = "seen"
        primary_key = peewee.CompositeKey("source", "agent")
        without_rowid = True


class ProblemRow(Table):
    """Records of one source that were not taken, for one reason.

    ``kind`` tells a damaged record (``fault``) from one that is not kept (``left``) and
    one that is not whole yet (``awaited``).
    """

    source = peewee.TextField()
    reason = peewee.TextField()
    kind = peewee.TextField()
    line = peewee.IntegerField()
    count = peewee.IntegerField()
    last_ms = peewee.BigIntegerField()

    class Meta:
        table_name = "problems"
        primary_key = peewee.CompositeKey("source", "reason")


class JobRow(Table):
    """What a person wants of a job: ``asked_ms`` is when they asked for a run now."""

    name = peewee.TextField(primary_key=True)
    is_paused = peewee.BooleanField(default=False)
    asked_ms = peewee.BigIntegerField(null=True)
    since_ms = peewee.BigIntegerField(null=True)

    class Meta:
        table_name = "jobs"
        without_rowid = True


class JobRunRow(Table):
    """One run of a job; it has no ``ended_ms`` and no ``result`` while it runs."""

    id = AutoIncrementField()
    job = peewee.TextField()
    reason = peewee.TextField()
    began_ms = peewee.BigIntegerField()
    seen_ms = peewee.BigIntegerField()
    ended_ms = peewee.BigIntegerField(null=True)
    result = peewee.TextField(null=True)
    error = peewee.TextField(default="")
    made = peewee.IntegerField(default=0)
    rejected = peewee.IntegerField(default=0)
    failed = peewee.IntegerField(default=0)
    waiting = peewee.IntegerField(default=0)
    skipped = peewee.IntegerField(default=0)

    class Meta:
        table_name = "job_runs"
        indexes: ClassVar = ((("job", "id"), False),)
