"""The tables. Everything about their meaning is said by their twins in ``memory``."""

from typing import ClassVar

import peewee
from playhouse.sqlite_ext import AutoIncrementField

from memtui.store.database import db


class Table(peewee.Model):
    """What all tables share."""

    class Meta:
        database = db
        legacy_table_names = False


class SessionRow(Table):
    """A session.

    ``prompt`` is the line that stands for it where it has no title (see
    ``memory.extracts.openings``), ``prompt_ms`` the time of what it was taken from,
    ``place_ms`` that of the earliest word on its folder and project.
    """

    id = peewee.AutoField()
    agent = peewee.TextField()
    name = peewee.TextField()
    project = peewee.TextField(default="")
    cwd = peewee.TextField(default="")
    place_ms = peewee.BigIntegerField(null=True)
    branch = peewee.TextField(default="")
    model = peewee.TextField(default="")
    title = peewee.TextField(default="")
    prompt = peewee.TextField(default="")
    prompt_ms = peewee.BigIntegerField(null=True)
    created_ms = peewee.BigIntegerField()
    updated_ms = peewee.BigIntegerField()
    message_count = peewee.IntegerField(default=0)
    event_count = peewee.IntegerField(default=0)
    routes = peewee.TextField(default="")
    root = peewee.TextField(default="")
    created_by = peewee.TextField(default="")
    forked_from = peewee.TextField(default="")
    summary = peewee.TextField(default="")

    class Meta:
        table_name = "sessions"
        indexes: ClassVar = (
            (("agent", "name"), True),
            (("updated_ms",), False),
            (("created_ms",), False),
        )


class EventRow(Table):
    """An event.

    ``twin`` is a hash of what it says, by which two tellings of it meet; ``origin`` one
    of its source's own name for it, by which copies in other sessions are known.
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
    counter = peewee.TextField()
    route = peewee.TextField()
    twin = peewee.BlobField()
    origin = peewee.BlobField(null=True)

    class Meta:
        table_name = "events"
        indexes: ClassVar = (
            (("session", "at_ms", "ordinal", "id"), False),
            (("twin",), False),
        )


class TellingRow(Table):
    """An event told again: the id it would have had, and which one it is.

    ``session`` is set when it was told as part of another session: a copy.
    """

    told_id = peewee.FixedCharField(max_length=26, primary_key=True)
    event = peewee.ForeignKeyField(EventRow)
    route = peewee.TextField()
    session = peewee.ForeignKeyField(SessionRow, null=True)

    class Meta:
        table_name = "tellings"


class ThoughtRow(Table):
    """What a model thought before it spoke."""

    id = peewee.FixedCharField(max_length=26, primary_key=True)
    session = peewee.ForeignKeyField(SessionRow, index=False)
    at_ms = peewee.BigIntegerField()
    subagent = peewee.TextField()
    text = peewee.TextField()

    class Meta:
        table_name = "thoughts"
        indexes: ClassVar = ((("session", "at_ms"), False),)


class HelperRow(Table):
    """A subagent of a session."""

    agent = peewee.TextField()
    session_name = peewee.TextField()
    subagent = peewee.TextField()
    kind = peewee.TextField()
    started_by = peewee.TextField()
    task = peewee.TextField()

    class Meta:
        table_name = "helpers"
        primary_key = peewee.CompositeKey("agent", "session_name", "subagent")
        without_rowid = True


class SegmentRow(Table):
    """A segment.

    ``summarised`` is how many events its last summary had seen, ``terms`` what it is
    compared by: the second its session began, then the terms' numbers.
    """

    id = peewee.TextField(primary_key=True)
    session = peewee.ForeignKeyField(SessionRow, index=False)
    first_id = peewee.FixedCharField(max_length=26)
    last_id = peewee.FixedCharField(max_length=26)
    start_ms = peewee.BigIntegerField()
    end_ms = peewee.BigIntegerField()
    tokens = peewee.IntegerField()
    events = peewee.IntegerField()
    messages = peewee.IntegerField()
    subagent_events = peewee.IntegerField()
    is_open = peewee.BooleanField()
    needs_summary = peewee.BooleanField()
    summarised = peewee.IntegerField(default=0)
    attempts = peewee.IntegerField(default=0)
    retry_ms = peewee.BigIntegerField(default=0)
    surprise = peewee.FloatField(null=True)
    terms = peewee.BlobField(null=True)

    class Meta:
        table_name = "segments"
        indexes: ClassVar = (
            (("session", "start_ms"), False),
            (("is_open", "end_ms"), False),
            (("needs_summary", "start_ms"), False),
        )


class TermRow(Table):
    """A session that has a term, by the second it began, and in how many segments."""

    term = peewee.IntegerField()
    began_s = peewee.IntegerField()
    session = peewee.IntegerField()
    segments = peewee.IntegerField()

    class Meta:
        table_name = "terms"
        primary_key = peewee.CompositeKey("term", "began_s", "session")
        without_rowid = True


class VersionRow(Table):
    """One version of a node: written once.

    Of its bullets ``bullets`` are shown and ``withheld`` are not; ``rule`` is the
    audit's, ``rejected`` why a model's version is not shown.
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
    children = peewee.TextField()
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
    is_models = peewee.BooleanField()
    weak = peewee.IntegerField()
    withheld = peewee.IntegerField()
    repaired = peewee.IntegerField()
    rule = peewee.TextField()
    rejected = peewee.TextField()

    class Meta:
        table_name = "toc_versions"
        indexes: ClassVar = ((("node_id", "version"), True),)


class MakingRow(Table):
    """What was measured while a model wrote a version."""

    version = peewee.ForeignKeyField(VersionRow, primary_key=True)
    model = peewee.TextField()
    digest = peewee.TextField()
    server = peewee.TextField()
    prompt = peewee.TextField()
    mode = peewee.TextField()
    options = peewee.TextField()
    requests = peewee.IntegerField()
    parts = peewee.IntegerField()
    prompt_tokens = peewee.IntegerField()
    reply_tokens = peewee.IntegerField()
    load_ms = peewee.IntegerField()
    prompt_ms = peewee.IntegerField()
    reply_ms = peewee.IntegerField()
    total_ms = peewee.IntegerField()
    left_out = peewee.IntegerField()
    was_cut = peewee.BooleanField()
    surprise = peewee.FloatField(null=True)

    class Meta:
        table_name = "makings"


class NodeRow(Table):
    """The pointer to the version of a node that is shown; none while it is pending.

    It is the latest, unless a person has pinned one; ``is_behind`` when something has
    changed since that was made. ``asked_ms`` is when a person asked for a new one.
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
    is_behind = peewee.BooleanField(default=False)
    wants_model = peewee.BooleanField(default=False)
    model_attempts = peewee.IntegerField(default=0)
    model_retry_ms = peewee.BigIntegerField(default=0)
    asked_ms = peewee.BigIntegerField(default=0)

    class Meta:
        table_name = "toc_latest"
        indexes: ClassVar = (
            (("parent_id", "start_ms"), False),
            (("level", "start_ms"), False),
            (("is_dirty", "level"), False),
            (("wants_model", "level", "start_ms"), False),
        )


class BulletRow(Table):
    """A bullet of a version; ``verdict`` is what its audit found, as JSON."""

    id = peewee.AutoField()
    version = peewee.ForeignKeyField(VersionRow, index=False)
    position = peewee.IntegerField()
    text = peewee.TextField()
    support = peewee.TextField()
    is_withheld = peewee.BooleanField()
    verdict = peewee.TextField()

    class Meta:
        table_name = "bullets"
        indexes: ClassVar = ((("version", "position"), True),)


class GripRow(Table):
    """A grip; the index by node is how a node's own grips are found."""

    id = peewee.TextField(primary_key=True)
    excerpt = peewee.TextField()
    start_id = peewee.FixedCharField(max_length=26, index=True)
    end_id = peewee.FixedCharField(max_length=26)
    at_ms = peewee.BigIntegerField()
    source = peewee.TextField()
    node_id = peewee.TextField(index=True)

    class Meta:
        table_name = "grips"


class BulletGripRow(Table):
    """Which grips a bullet rests on, its own or inherited."""

    bullet = peewee.ForeignKeyField(BulletRow, index=False)
    position = peewee.IntegerField()
    grip = peewee.ForeignKeyField(GripRow)

    class Meta:
        table_name = "bullet_grips"
        primary_key = peewee.CompositeKey("bullet", "position")
        without_rowid = True


class MetaRow(Table):
    """What holds for the whole store: its schema, its time zone."""

    name = peewee.TextField(primary_key=True)
    value = peewee.TextField()

    class Meta:
        table_name = "meta"
        without_rowid = True


class RedactionRow(Table):
    """How many secrets of a kind were taken out before they were stored."""

    kind = peewee.TextField(primary_key=True)
    count = peewee.IntegerField()
    last_ms = peewee.BigIntegerField()

    class Meta:
        table_name = "redactions"
        without_rowid = True


class TombstoneRow(Table):
    """What was forgotten, and must not come back.

    An event, a session, a project, or all before a time (``at_ms``).
    """

    kind = peewee.TextField()
    agent = peewee.TextField(default="")
    subject = peewee.TextField(default="")
    at_ms = peewee.BigIntegerField(default=0)
    created_ms = peewee.BigIntegerField()

    class Meta:
        table_name = "tombstones"
        primary_key = peewee.CompositeKey("kind", "agent", "subject", "at_ms")
        without_rowid = True


class ForgettingRow(Table):
    """The door for forgetting: events can be deleted only while a row stands here."""

    id = peewee.IntegerField(primary_key=True)

    class Meta:
        table_name = "forgetting"


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


ALL = (
    MetaRow,
    SessionRow,
    EventRow,
    TellingRow,
    ThoughtRow,
    HelperRow,
    SegmentRow,
    TermRow,
    VersionRow,
    MakingRow,
    NodeRow,
    BulletRow,
    GripRow,
    BulletGripRow,
    OutboxRow,
    CheckpointRow,
    CursorRow,
    SeenRow,
    RedactionRow,
    TombstoneRow,
    ProblemRow,
    JobRow,
    JobRunRow,
    ForgettingRow,
)
"""Every table, in the order they can be made."""
