"""The schema of a store: the tables in ``schema.sql``, and the triggers."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from memtui.errors import StoreVersionError
from memtui.store.database import execute, fetch_value, insert, path, transaction

TABLES = Path(__file__).with_name("schema.sql")

VERSION = 4
"""Schemas 1 to 3 are those of drafts before the first release."""

VERSION_KEY = "schema_version"
"""The key of a store's schema version in ``meta``."""

IS_MESSAGE = (
    "type IN ('user_message', 'assistant_message') AND role IN ('user', 'assistant')"
)
"""The condition of events that are messages of the user and the assistant."""

_UNCHANGING = {
    "events": ("events", ["rowid", "id"]),
    "grips": ("grips", ["rowid", "id"]),
    "node_versions": ("versions", ["id", "node_id, version"]),
    "bullets": ("versions", ["id", "version_id, position"]),
    "bullet_grips": ("versions", ["bullet_id, position"]),
    "judgements": ("judgements", ["id"]),
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
                for statement in (*TABLES.read_text().split(";\n"), *TRIGGERS):
                    execute(statement)
                rows = ("time_zone", time_zone), (VERSION_KEY, str(VERSION))
                insert("meta", rows)
                return True
    check_version(version, path())
    return False


def read_version() -> int:
    """Return the schema version of the open store; 0 for a file without one."""
    if not fetch_value("SELECT 1 FROM sqlite_master WHERE name = 'meta'"):
        return 0
    return int(fetch_value("SELECT value FROM meta WHERE name = ?", VERSION_KEY) or 0)


def check_version(version: int, file: Path) -> None:
    """Raise StoreVersionError unless this memtui can read a schema version."""
    if version != VERSION:
        raise StoreVersionError(
            f"{file} was made by another version of memtui (schema {version}, this one"
            f" reads schema {VERSION}); use the memtui that made it"
        )


@contextmanager
def unlocked() -> Iterator[None]:
    """Write in a transaction in which events, versions and grips can be deleted."""
    with transaction():
        execute("INSERT INTO events_unlocked VALUES (1)")
        yield
        execute("DELETE FROM events_unlocked")
