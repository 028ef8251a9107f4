"""The schema: made whole for a new store, brought up to date by steps for an old one.

A step is never changed after a release; a later need is a later step.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from memtui.errors import StoreTooNew
from memtui.store import meta
from memtui.store.database import db, path, writing
from memtui.store.schema import (
    ALL,
    CursorRow,
    HelperRow,
    JobRow,
    JobRunRow,
    MakingRow,
    MetaRow,
    RedactionRow,
    SeenRow,
    TermRow,
    ThoughtRow,
    TombstoneRow,
)

SCHEMA = "schema_version"


ZONE = "time_zone"


_GUARDS = {
    "events_keep": "BEFORE UPDATE ON events WHEN NOT EXISTS (SELECT 1 FROM forgetting)"
    " BEGIN SELECT RAISE(ABORT, 'events are never changed'); END",
    "events_once": "BEFORE INSERT ON events"
    " WHEN EXISTS (SELECT 1 FROM events WHERE id = NEW.id)"
    " BEGIN SELECT RAISE(ABORT, 'events are never replaced'); END",
    "events_stay": "BEFORE DELETE ON events"
    " WHEN NOT EXISTS (SELECT 1 FROM forgetting)"
    " BEGIN SELECT RAISE(ABORT, 'events are only deleted by forgetting'); END",
    "toc_versions_keep": "BEFORE UPDATE ON toc_versions"
    " BEGIN SELECT RAISE(ABORT, 'versions are only ever added'); END",
    "bullets_keep": "BEFORE UPDATE ON bullets"
    " BEGIN SELECT RAISE(ABORT, 'versions are only ever added'); END",
}
"""What the database itself refuses to do."""


_ORIGINS = "CREATE INDEX events_origin ON events (origin) WHERE origin IS NOT NULL"


_HELD = "CREATE INDEX cursors_held ON cursors (read_ms) WHERE is_held"


_ASKED = "CREATE INDEX toc_latest_asked ON toc_latest (asked_ms) WHERE asked_ms > 0"


def _make(time_zone: str) -> None:
    db.create_tables(ALL)
    from memtui.text.secrets import RULES_VERSION

    MetaRow.create(name=ZONE, value=time_zone)
    meta.set_redacted_by(RULES_VERSION)
    db.execute_sql(_ORIGINS)
    db.execute_sql(_HELD)
    db.execute_sql(_ASKED)
    _guard()


def _guard() -> None:
    for name, says in _GUARDS.items():
        db.execute_sql(f"DROP TRIGGER IF EXISTS {name}")
        db.execute_sql(f"CREATE TRIGGER {name} {says}")


def _to_2() -> None:
    """Cursors within files, copies of conversations, thoughts, what was forgotten."""
    for column in ("root", "created_by", "forked_from"):
        db.execute_sql(
            f"ALTER TABLE sessions ADD COLUMN {column} TEXT NOT NULL DEFAULT ''"
        )
    db.execute_sql("ALTER TABLE events ADD COLUMN origin BLOB")
    db.execute_sql(_ORIGINS)
    db.execute_sql(
        "ALTER TABLE tellings ADD COLUMN session_id INTEGER REFERENCES sessions (id)"
    )
    db.execute_sql("CREATE INDEX tellings_session_id ON tellings (session_id)")
    kind = "ALTER TABLE problems ADD COLUMN kind TEXT NOT NULL DEFAULT 'fault'"
    db.execute_sql(kind)
    db.execute_sql("UPDATE problems SET kind = 'left' WHERE NOT is_fault")
    db.execute_sql("ALTER TABLE problems DROP COLUMN is_fault")
    # Files are read again from their start: that changes nothing that is kept.
    db.execute_sql("DROP TABLE cursors")
    db.create_tables(
        (CursorRow, HelperRow, RedactionRow, SeenRow, ThoughtRow, TombstoneRow)
    )
    db.execute_sql(_HELD)
    _guard()


def _to_3() -> None:
    """Verdicts, versions by models and pinned ones, jobs, origins, surprise."""
    numbers = ("weak", "withheld", "repaired")
    of_versions = {"is_models": "INTEGER", **dict.fromkeys(numbers, "INTEGER")}
    of_versions |= {"rule": "TEXT", "rejected": "TEXT"}
    of_nodes = dict.fromkeys(("is_pinned", "is_behind", "wants_model"), "INTEGER")
    of_nodes |= {"model_attempts": "INTEGER", "model_retry_ms": "INTEGER"}
    of_bullets = {"support": "TEXT", "is_withheld": "INTEGER", "verdict": "TEXT"}
    _add_columns("toc_versions", of_versions)
    _add_columns("toc_latest", of_nodes | {"asked_ms": "INTEGER"})
    _add_columns("bullets", of_bullets)
    db.execute_sql(
        "CREATE INDEX toc_latest_wants_model_level_start_ms"
        " ON toc_latest (wants_model, level, start_ms)"
    )
    db.execute_sql(_ASKED)
    db.create_tables((MakingRow, JobRow, JobRunRow, TermRow))
    _tell_origins()
    for column in ("surprise REAL", "terms BLOB"):
        db.execute_sql(f"ALTER TABLE segments ADD COLUMN {column}")
    db.execute_sql("CREATE INDEX sessions_created_ms ON sessions (created_ms)")
    # That weighs them, and makes no version anew that would say the same.
    db.execute_sql("UPDATE segments SET needs_summary = 1")
    # Only what has a source was called supported; it is made anew with its verdicts.
    db.execute_sql("DROP TRIGGER bullets_keep")
    db.execute_sql(
        "UPDATE bullets SET verdict = '{}', support = CASE WHEN id IN"
        " (SELECT bullet_id FROM bullet_grips) THEN 'supported' ELSE 'unsupported' END"
    )
    _guard()


def _tell_origins() -> None:
    """Give the keywords of every version the origins that their shapes tell."""
    from memtui.store import versions
    from memtui.summarize import keywords

    pass

    db.execute_sql("DROP TRIGGER IF EXISTS toc_versions_keep")
    asked = "SELECT id, keywords FROM toc_versions WHERE keywords != '[]'"
    rows = [
        (versions.stored(keywords.of_words(json.loads(stored))), number)
        for number, stored in db.execute_sql(asked).fetchall()
    ]
    told = "UPDATE toc_versions SET keywords = ? WHERE id = ?"
    db.connection().executemany(told, rows)


def _add_columns(table: str, columns: Mapping[str, str]) -> None:
    for name, kind in columns.items():
        empty = "''" if kind == "TEXT" else "0"
        db.execute_sql(
            f"ALTER TABLE {table} ADD COLUMN {name} {kind} NOT NULL DEFAULT {empty}"
        )


def _to_4() -> None:
    """What sessions were about, as their clients sum them up."""
    _add_columns("sessions", {"summary": "TEXT"})


def _to_5() -> None:
    """What stands for a title says what was asked, not how that was led in to."""
    from memtui.store import (
        outbox,
        sessions,
    )

    numbers = [row[0] for row in db.execute_sql("SELECT id FROM sessions").fetchall()]
    outbox.say_renamed(sessions.entitle(numbers))


STEPS: tuple[Callable[[], None], ...] = (_to_2, _to_3, _to_4, _to_5)
"""What brings a store from schema n to n + 1, for n = 1, 2, …"""


LATEST = len(STEPS) + 1
"""The schema of this memtui."""


def bring_up_to_date(time_zone: str) -> None:
    """Take the steps this store has not taken yet, all in one transaction.

    Raises:
        StoreTooNew: It has taken steps this memtui does not know.
    """
    taken = schema()
    refuse_newer(taken)
    if taken == LATEST:
        return
    with writing():
        taken = schema()
        if taken:
            for step in STEPS[taken - 1 :]:
                step()
        else:
            _make(time_zone)
        MetaRow.insert(name=SCHEMA, value=str(LATEST)).on_conflict_replace().execute()
    for suffix in ("-wal", "-shm"):
        beside = Path(f"{path()}{suffix}")
        if beside.exists():
            beside.chmod(0o600)


def refuse_newer(taken: int) -> None:
    """Make sure that this memtui knows a schema.

    Raises:
        StoreTooNew: It does not.
    """
    if taken > LATEST:
        raise StoreTooNew(
            f"{path()} was made by a newer memtui (schema {taken}; this one"
            f" knows {LATEST}): upgrade memtui to read it"
        )


def schema() -> int:
    """The schema of the store that is open; 0 for a file without one."""
    if not db.table_exists("meta"):
        return 0
    row = MetaRow.get_or_none(MetaRow.name == SCHEMA)
    return int(row.value) if row else 0
