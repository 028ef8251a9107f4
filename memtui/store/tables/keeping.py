"""How all of it is kept: the store's own facts, and what must not come back."""

import peewee

from memtui.store.tables.table import Table


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
