"""The schema's history: an ordered list, each step taken once.

A step is never changed after a release; a later need is a later step.
"""

from collections.abc import Callable
from pathlib import Path

from memtui.errors import StoreTooNew
from memtui.store.database import db, writing
from memtui.store.tables import ALL, MetaRow

SCHEMA = "schema_version"
ZONE = "time_zone"


def _first(time_zone: str) -> None:
    db.create_tables(ALL)
    MetaRow.create(name=ZONE, value=time_zone)
    db.execute_sql(
        "CREATE TRIGGER events_keep BEFORE UPDATE ON events BEGIN"
        " SELECT RAISE(ABORT, 'events are never changed'); END"
    )
    db.execute_sql(
        "CREATE TRIGGER events_once BEFORE INSERT ON events"
        " WHEN EXISTS (SELECT 1 FROM events WHERE id = NEW.id) BEGIN"
        " SELECT RAISE(ABORT, 'events are never replaced'); END"
    )
    for table in ("toc_versions", "bullets"):
        db.execute_sql(
            f"CREATE TRIGGER {table}_keep BEFORE UPDATE ON {table} BEGIN"
            " SELECT RAISE(ABORT, 'versions are only ever added'); END"
        )
    db.execute_sql(
        "CREATE TRIGGER events_stay BEFORE DELETE ON events"
        " WHEN NOT EXISTS (SELECT 1 FROM forgetting) BEGIN"
        " SELECT RAISE(ABORT, 'events are only deleted by forgetting'); END"
    )


STEPS: tuple[Callable[[str], None], ...] = (_first,)
"""What brings a store from schema n to n + 1, for n = 0, 1, …"""


def bring_up_to_date(time_zone: str) -> None:
    """Take the steps this store has not taken yet, all in one transaction.

    Raises:
        StoreTooNew: It has taken steps this memtui does not know.
    """
    taken = _taken()
    if taken > len(STEPS):
        raise StoreTooNew(
            f"{db.database} was made by a newer memtui (schema {taken}; this one"
            f" knows {len(STEPS)}): upgrade memtui to read it"
        )
    if taken == len(STEPS):
        return
    with writing():
        for step in STEPS[_taken() :]:
            step(time_zone)
        MetaRow.insert(
            name=SCHEMA, value=str(len(STEPS))
        ).on_conflict_replace().execute()
    for suffix in ("-wal", "-shm"):
        beside = Path(f"{db.database}{suffix}")
        if beside.exists():
            beside.chmod(0o600)


def _taken() -> int:
    if not db.table_exists("meta"):
        return 0
    row = MetaRow.get_or_none(MetaRow.name == SCHEMA)
    return int(row.value) if row else 0
