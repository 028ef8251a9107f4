"""What was said: sessions, events, what they were told as, and what was thought."""

from typing import ClassVar

import peewee

from memtui.store.tables.table import Table


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
