"""The tables, indexes and triggers of a store; ``open_schema`` makes them at once."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import peewee
from playhouse.sqlite_ext import AutoIncrementField

from memtui.errors import StoreVersionError
from memtui.store.database import db, path, transaction

VERSION = 1

VERSION_KEY = "schema_version"
"""The key of a store's schema version in ``meta``."""


class Table(peewee.Model):
    class Meta:
        database = db
        legacy_table_names = False


class SessionRow(Table):
    """A session: ``name`` is its id as its agent gives it.

    ``first_prompt`` is shown until its work has a name, ``first_prompt_ms`` is the time
    of the message it was taken from, ``project_ms`` that of the earliest record that
    names its folder and project, ``fact_times`` those of the latest that name other
    facts, as JSON. ``routes`` are the ways its events came: ``hook``, ``transcript``,
    ``jsonl``. ``work_name``, ``state``, ``outcome`` and the details in
    ``work`` say what came of it (see ``store.work``); ``own_name`` is the name that the
    user gave it, which is shown instead of ``work_name``.
    """

    id = peewee.AutoField()
    agent = peewee.TextField()
    name = peewee.TextField()
    project = peewee.TextField(default="")
    cwd = peewee.TextField(default="")
    project_ms = peewee.BigIntegerField(null=True)
    fact_times = peewee.TextField(default="")
    branch = peewee.TextField(default="")
    model = peewee.TextField(default="")
    title = peewee.TextField(default="")
    first_prompt = peewee.TextField(default="")
    first_prompt_ms = peewee.BigIntegerField(null=True)
    created_ms = peewee.BigIntegerField()
    updated_ms = peewee.BigIntegerField()
    message_count = peewee.IntegerField(default=0)
    event_count = peewee.IntegerField(default=0)
    routes = peewee.TextField(default="")
    root = peewee.TextField(default="")
    created_by = peewee.TextField(default="")
    forked_from = peewee.TextField(default="")
    summary = peewee.TextField(default="")
    work_name = peewee.TextField(default="")
    state = peewee.TextField(default="")
    outcome = peewee.TextField(default="")
    work = peewee.TextField(default="")
    own_name = peewee.TextField(default="")

    class Meta:
        table_name = "sessions"
        indexes: ClassVar = (
            (("agent", "name"), True),
            (("updated_ms",), False),
            (("created_ms",), False),
        )


class EventRow(Table):
    """An event.

    ``fingerprint`` is a hash of its content, by which copies that came by another route
    are recognized; ``source_hash`` one of its id in the source, by which copies in
    other sessions are recognized.
    """

    id = peewee.FixedCharField(max_length=26, primary_key=True)
    session = peewee.ForeignKeyField(SessionRow, index=False)
    at_ms = peewee.BigIntegerField()
    ordinal = peewee.IntegerField()
    type = peewee.TextField()
    role = peewee.TextField()
    subagent = peewee.TextField()
    text = peewee.TextField()
    metadata = peewee.TextField()
    tokens = peewee.IntegerField()
    token_counter = peewee.TextField()
    route = peewee.TextField()
    fingerprint = peewee.BlobField()
    source_hash = peewee.BlobField(null=True)

    class Meta:
        table_name = "events"
        indexes: ClassVar = (
            (("session", "at_ms", "ordinal", "id"), False),
            (("fingerprint",), False),
        )


IS_MESSAGE = (
    "type IN ('user_message', 'assistant_message') AND role IN ('user', 'assistant')"
)
"""The condition of events that are messages of the user and the assistant."""


class SourceCopyRow(Table):
    """A further copy of an event in the sources, by the id it would have had.

    ``session`` is set if the copy is part of another session.
    """

    copy_id = peewee.FixedCharField(max_length=26, primary_key=True)
    event = peewee.ForeignKeyField(EventRow)
    route = peewee.TextField()
    session = peewee.ForeignKeyField(SessionRow, null=True)

    class Meta:
        table_name = "source_copies"


class ThoughtRow(Table):
    id = peewee.FixedCharField(max_length=26, primary_key=True)
    session = peewee.ForeignKeyField(SessionRow, index=False)
    at_ms = peewee.BigIntegerField()
    subagent = peewee.TextField()
    text = peewee.TextField()

    class Meta:
        table_name = "thoughts"
        indexes: ClassVar = ((("session", "at_ms"), False),)


class SubagentRow(Table):
    agent = peewee.TextField()
    session_name = peewee.TextField()
    subagent = peewee.TextField()
    kind = peewee.TextField()
    tool_use_id = peewee.TextField()
    task = peewee.TextField()

    class Meta:
        table_name = "subagents"
        primary_key = peewee.CompositeKey("agent", "session_name", "subagent")
        without_rowid = True


class SegmentRow(Table):
    """A segment.

    ``facts`` are what its events show, as JSON, and ``commits`` their number of commits
    (see ``store.work``); ``terms`` are the start of its session and its terms, packed
    (see ``store.segments``).
    """

    id = peewee.TextField(primary_key=True)
    session = peewee.ForeignKeyField(SessionRow, index=False)
    first_event_id = peewee.FixedCharField(max_length=26)
    last_event_id = peewee.FixedCharField(max_length=26)
    start_ms = peewee.BigIntegerField()
    end_ms = peewee.BigIntegerField()
    tokens = peewee.IntegerField()
    events = peewee.IntegerField()
    messages = peewee.IntegerField()
    subagent_events = peewee.IntegerField()
    is_open = peewee.BooleanField()
    needs_summary = peewee.BooleanField()
    attempts = peewee.IntegerField(default=0)
    retry_ms = peewee.BigIntegerField(default=0)
    terms = peewee.BlobField(null=True)
    facts = peewee.TextField(default="")
    commits = peewee.IntegerField(default=0)

    class Meta:
        table_name = "segments"
        indexes: ClassVar = (
            (("session", "start_ms"), False),
            (("is_open", "end_ms"), False),
            (("needs_summary", "start_ms"), False),
        )


class TermRow(Table):
    """A term of a session, and how many of its segments have it."""

    term = peewee.IntegerField()
    start_s = peewee.IntegerField()
    session = peewee.IntegerField()
    segments = peewee.IntegerField()

    class Meta:
        table_name = "terms"
        primary_key = peewee.CompositeKey("term", "start_s", "session")
        without_rowid = True


class VersionRow(Table):
    """One version of a node; never changed.

    ``bullets`` and ``withheld`` count its bullets that are shown and those that are
    not; ``rejection`` is the reason why a model's version is not shown.
    """

    id = AutoIncrementField()
    node_id = peewee.TextField()
    version = peewee.IntegerField()
    level = peewee.TextField()
    title = peewee.TextField()
    headline = peewee.TextField()
    start_ms = peewee.BigIntegerField()
    end_ms = peewee.BigIntegerField()
    keywords = peewee.TextField()
    child_ids = peewee.TextField()
    status = peewee.TextField()
    summarizer = peewee.TextField()
    input_hash = peewee.TextField()
    created_ms = peewee.BigIntegerField()
    segments = peewee.IntegerField()
    events = peewee.IntegerField()
    messages = peewee.IntegerField()
    subagent_events = peewee.IntegerField()
    bullets = peewee.IntegerField()
    supported = peewee.IntegerField()
    agents = peewee.TextField()
    projects = peewee.TextField()
    is_by_model = peewee.BooleanField()
    weak = peewee.IntegerField()
    withheld = peewee.IntegerField()
    rejection = peewee.TextField()
    session_title = peewee.TextField(default="")

    class Meta:
        table_name = "node_versions"
        indexes: ClassVar = ((("node_id", "version"), True),)


class GenerationRow(Table):
    """Measurements of how a model generated a version."""

    version = peewee.ForeignKeyField(VersionRow, primary_key=True)
    model = peewee.TextField()
    digest = peewee.TextField()
    server = peewee.TextField()
    first_prompt = peewee.TextField()
    options = peewee.TextField()
    requests = peewee.IntegerField()
    parts = peewee.IntegerField()
    prompt_tokens = peewee.IntegerField()
    reply_tokens = peewee.IntegerField()
    load_ms = peewee.IntegerField()
    prompt_ms = peewee.IntegerField()
    reply_ms = peewee.IntegerField()
    total_ms = peewee.IntegerField()
    was_truncated = peewee.BooleanField()

    class Meta:
        table_name = "generations"


class NodeRow(Table):
    """A node of the table of contents.

    ``latest`` is the version that is shown: none while the node is pending, the newest
    one unless a version is pinned. ``is_outdated`` says that a pinned version is older
    than its content, ``requested_ms`` when a user requested a new one.
    """

    node_id = peewee.TextField(primary_key=True)
    level = peewee.TextField()
    parent_id = peewee.TextField(null=True)
    start_ms = peewee.BigIntegerField()
    latest = peewee.ForeignKeyField(VersionRow, null=True)
    is_dirty = peewee.BooleanField()
    is_live = peewee.BooleanField(default=False)
    attempts = peewee.IntegerField(default=0)
    retry_ms = peewee.BigIntegerField(default=0)
    is_pinned = peewee.BooleanField(default=False)
    is_outdated = peewee.BooleanField(default=False)
    needs_model = peewee.BooleanField(default=False)
    model_attempts = peewee.IntegerField(default=0)
    model_retry_ms = peewee.BigIntegerField(default=0)
    requested_ms = peewee.BigIntegerField(default=0)

    class Meta:
        table_name = "nodes"
        indexes: ClassVar = (
            (("parent_id", "start_ms"), False),
            (("level", "start_ms"), False),
            (("is_dirty", "level"), False),
            (("needs_model", "level", "start_ms"), False),
        )


class BulletRow(Table):
    """A bullet of a version; ``verdict`` is its verdict as JSON.

    ``is_withheld`` is set for those that are withheld or did not fit.
    """

    id = peewee.AutoField()
    version = peewee.ForeignKeyField(VersionRow, index=False)
    position = peewee.IntegerField()
    text = peewee.TextField()
    support = peewee.TextField()
    is_withheld = peewee.BooleanField()
    verdict = peewee.TextField()
    kind = peewee.TextField()
    project = peewee.TextField()
    session_id = peewee.TextField()

    class Meta:
        table_name = "bullets"
        indexes: ClassVar = ((("version", "position"), True),)


class GripRow(Table):
    id = peewee.TextField(primary_key=True)
    excerpt = peewee.TextField()
    start_event_id = peewee.FixedCharField(max_length=26, index=True)
    end_event_id = peewee.FixedCharField(max_length=26)
    at_ms = peewee.BigIntegerField()
    source = peewee.TextField()
    node_id = peewee.TextField(index=True)

    class Meta:
        table_name = "grips"


class BulletGripRow(Table):
    """The grips of a bullet, its own or inherited."""

    bullet = peewee.ForeignKeyField(BulletRow, index=False)
    position = peewee.IntegerField()
    grip = peewee.ForeignKeyField(GripRow)

    class Meta:
        table_name = "bullet_grips"
        primary_key = peewee.CompositeKey("bullet", "position")
        without_rowid = True


class MetaRow(Table):
    """A property of the whole store: its schema, its time zone."""

    name = peewee.TextField(primary_key=True)
    value = peewee.TextField()

    class Meta:
        table_name = "meta"
        without_rowid = True


class RedactionRow(Table):
    """The number of secrets of a kind that were removed."""

    kind = peewee.TextField(primary_key=True)
    count = peewee.IntegerField()
    last_ms = peewee.BigIntegerField()

    class Meta:
        table_name = "redactions"
        without_rowid = True


class TombstoneRow(Table):
    """Something forgotten that must not be stored again; see ``tombstones``."""

    kind = peewee.TextField()
    agent = peewee.TextField(default="")
    subject = peewee.TextField(default="")
    at_ms = peewee.BigIntegerField(default=0)
    created_ms = peewee.BigIntegerField()

    class Meta:
        table_name = "tombstones"
        primary_key = peewee.CompositeKey("kind", "agent", "subject", "at_ms")
        without_rowid = True


class UnlockRow(Table):
    """Events, versions and grips can be deleted only while this table has a row."""

    id = peewee.IntegerField(primary_key=True)

    class Meta:
        table_name = "events_unlocked"


class OutboxRow(Table):
    """Pending work; ids are never reused, even after the table was empty."""

    id = AutoIncrementField()
    action = peewee.TextField()
    subject_id = peewee.TextField()
    at_ms = peewee.BigIntegerField()
    session = peewee.IntegerField(null=True)

    class Meta:
        table_name = "outbox"
        indexes: ClassVar = ((("action", "session"), False),)


class CheckpointRow(Table):
    job_name = peewee.TextField(primary_key=True)
    level = peewee.TextField()
    last_processed_ms = peewee.BigIntegerField()
    processed_count = peewee.IntegerField()
    created_ms = peewee.BigIntegerField()

    class Meta:
        table_name = "checkpoints"


class CursorRow(Table):
    """The position up to which a file has been read, and its size and time of change
    then; at ``due_ms`` it is read again from its start."""

    path = peewee.TextField(primary_key=True)
    source = peewee.TextField()
    size = peewee.BigIntegerField()
    mtime_ns = peewee.BigIntegerField()
    offset = peewee.BigIntegerField()
    line = peewee.BigIntegerField()
    fingerprint = peewee.TextField()
    state = peewee.TextField()
    has_pending = peewee.BooleanField()
    read_ms = peewee.BigIntegerField()
    due_ms = peewee.BigIntegerField(null=True)

    class Meta:
        table_name = "cursors"


class SourceActivityRow(Table):
    """The events received from a source so far."""

    source = peewee.TextField()
    agent = peewee.TextField()
    last_event_ms = peewee.BigIntegerField()
    received_ms = peewee.BigIntegerField()
    events = peewee.IntegerField()

    class Meta:
        table_name = "source_activity"
        primary_key = peewee.CompositeKey("source", "agent")
        without_rowid = True


class ProblemRow(Table):
    """Records of one source that were not stored, for one reason."""

    source = peewee.TextField()
    reason = peewee.TextField()
    kind = peewee.TextField()
    line = peewee.IntegerField()
    count = peewee.IntegerField()
    last_ms = peewee.BigIntegerField()
    words = peewee.IntegerField(default=0)

    class Meta:
        table_name = "problems"
        primary_key = peewee.CompositeKey("source", "reason")


class JobRow(Table):
    """The state of a job; ``requested_ms`` is when a user requested a run."""

    name = peewee.TextField(primary_key=True)
    is_paused = peewee.BooleanField(default=False)
    requested_ms = peewee.BigIntegerField(null=True)
    active_since_ms = peewee.BigIntegerField(null=True)

    class Meta:
        table_name = "jobs"
        without_rowid = True


class JobRunRow(Table):
    """One run of a job; ``ended_ms`` and ``result`` are null while it runs."""

    id = AutoIncrementField()
    job = peewee.TextField()
    reason = peewee.TextField()
    started_ms = peewee.BigIntegerField()
    heartbeat_ms = peewee.BigIntegerField()
    ended_ms = peewee.BigIntegerField(null=True)
    result = peewee.TextField(null=True)
    error = peewee.TextField(default="")
    created = peewee.IntegerField(default=0)
    rejected = peewee.IntegerField(default=0)
    failed = peewee.IntegerField(default=0)
    waiting = peewee.IntegerField(default=0)
    skipped = peewee.IntegerField(default=0)
    withheld = peewee.TextField(default="")

    class Meta:
        table_name = "job_runs"
        indexes: ClassVar = ((("job", "id"), False),)


TABLES = Table.__subclasses__()

INDEXES = (
    "CREATE INDEX events_source_hash ON events (source_hash)"
    " WHERE source_hash IS NOT NULL",
    "CREATE INDEX cursors_pending ON cursors (read_ms) WHERE has_pending",
    "CREATE INDEX cursors_due ON cursors (due_ms) WHERE due_ms IS NOT NULL",
    "CREATE INDEX nodes_requested ON nodes (requested_ms) WHERE requested_ms > 0",
    "CREATE INDEX events_tool_results ON events (id) WHERE type = 'tool_result'",
)
"""The partial indexes, which Peewee does not make."""

_UNCHANGING = {
    "events": ("events", ["rowid", "id"]),
    "grips": ("grips", ["rowid", "id"]),
    "node_versions": ("versions", ["id", "node_id, version"]),
    "bullets": ("versions", ["id", "version_id, position"]),
    "bullet_grips": ("versions", ["bullet_id, position"]),
}
"""The tables whose rows never change: what they store, and their unique keys."""


def _triggers(table: str, stored: str, keys: Iterable[str]) -> Iterator[str]:
    """Yield the triggers by which SQLite refuses to change the rows of a table.

    ``INSERT OR REPLACE`` deletes rows without the trigger of a deletion.
    """
    present = " OR ".join(
        f"EXISTS (SELECT 1 FROM {table}"
        f" WHERE ({key}) = (NEW.{key.replace(', ', ', NEW.')}))"
        for key in keys
    )
    is_locked = "NOT EXISTS (SELECT 1 FROM events_unlocked)"
    for event, condition, message in (
        ("UPDATE", is_locked, "never changed"),
        ("INSERT", present, "never replaced"),
        ("DELETE", is_locked, "only deleted by forgetting"),
    ):
        action = "replace" if event == "INSERT" else event.lower()
        yield (
            f"CREATE TRIGGER {table}_no_{action} BEFORE {event} ON {table}"
            f" WHEN {condition} BEGIN SELECT RAISE(ABORT, '{stored} are {message}');"
            " END"
        )


TRIGGERS = [
    trigger
    for table, (stored, keys) in _UNCHANGING.items()
    for trigger in _triggers(table, stored, keys)
]


def open_schema(time_zone: str) -> bool:
    """Make the schema of a new store, or check it; return whether the store is new.

    Raises:
        StoreVersionError: The store has another schema.
    """
    version = read_version()
    if not version:
        with transaction():
            version = read_version()  # Another process may have been faster.
            if not version:
                db.create_tables(TABLES)
                for statement in (*INDEXES, *TRIGGERS):
                    db.execute_sql(statement)
                MetaRow.create(name="time_zone", value=time_zone)
                MetaRow.create(name=VERSION_KEY, value=str(VERSION))
                return True
    check_version(version, path())
    return False


def read_version() -> int:
    """Return the schema version of the open store; 0 for a file without one."""
    if not db.table_exists("meta"):
        return 0
    row = MetaRow.get_or_none(MetaRow.name == VERSION_KEY)
    return int(row.value) if row else 0


def check_version(version: int, file: Path) -> None:
    """Raise StoreVersionError unless this memtui can read a schema version."""
    if version != VERSION:
        raise StoreVersionError(
            f"{file} was made by another version of memtui (schema {version}; this one"
            f" reads schema {VERSION}): use that version to read it"
        )


@contextmanager
def unlocked() -> Iterator[None]:
    """Write in a transaction in which events, versions and grips can be deleted."""
    with transaction():
        UnlockRow.create(id=1)
        yield
        UnlockRow.delete().execute()
