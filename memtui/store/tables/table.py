"""What all tables share: their database, and that they are named by themselves."""

import peewee

from memtui.store.database import db


class Table(peewee.Model):
    """What all tables share."""

    class Meta:
        database = db
        legacy_table_names = False
