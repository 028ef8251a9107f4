"""What was made of it: segments, the versions of nodes, their bullets and grips."""

from typing import ClassVar

import peewee
from playhouse.sqlite_ext import AutoIncrementField

from memtui.store.tables.conversations import SessionRow
from memtui.store.tables.table import Table


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
