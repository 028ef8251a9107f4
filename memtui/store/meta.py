"""Properties of the whole store, as rows of key and value."""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from memtui.model.jobs import ModelCondition
from memtui.store.database import IDENTITY_KEY, execute, fetch_value

# The keys of texts that are read and written as they are; "" where there is none.
NODE_INDEX = "index_name"
MESSAGE_INDEX = "messages_name"
POLLING_REASON = "polling_reason"
"""The reason why files are polled instead of watched."""
SPOOL_FAILURE = "spool_failure"
"""The reason why the files of the spool could not be stored at the last attempt."""
REDACTION_POSITION = "redaction_position"
SUMMARY_RULES = "summary_rules"
OWNER_UPDATES = "owner_updates"
"""The sessions whose events may belong to another one now."""


def read(key: str) -> str:
    """Return the value of a key; "" if it is not set."""
    return str(fetch_value("SELECT value FROM meta WHERE name = ?", key) or "")


def write(key: str, value: str) -> None:
    execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", key, value)


def delete(key: str) -> None:
    execute("DELETE FROM meta WHERE name = ?", key)


def time_zone() -> str:
    """Return the IANA name of the calendar's zone, fixed when the store was made."""
    return read("time_zone")


def identity() -> str:
    """Return the random word that identifies this store; it is given on first use."""
    if not read(IDENTITY_KEY):
        word = os.urandom(8).hex()
        execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", IDENTITY_KEY, word)
    return read(IDENTITY_KEY)


def watched_sources() -> tuple[str, ...] | None:
    names = fetch_value("SELECT value FROM meta WHERE name = 'watched'")
    return None if names is None else tuple(names.split())


def set_watched_sources(names: Iterable[str]) -> None:
    write("watched", " ".join(sorted(set(names))))


_IN_LOG = "log"


def needs_cleanup() -> bool:
    return bool(read("needs_cleanup"))


def request_cleanup() -> None:
    """Have traces of deleted content removed, and both indexes built again."""
    write("needs_cleanup", "1")
    write(NODE_INDEX, "")
    write(MESSAGE_INDEX, "")


def wait_for_readers() -> None:
    """Note that all is removed but what is in the log until its readers end."""
    write("needs_cleanup", _IN_LOG)


def is_in_log() -> bool:
    """Return whether what remains is in the log, and gone when that is emptied."""
    return read("needs_cleanup") == _IN_LOG


def set_cleaned_up() -> None:
    delete("needs_cleanup")


def stored_hook_files() -> frozenset[str]:
    """Return the hook files stored last; some may not be deleted from the spool yet."""
    return frozenset(json.loads(read("stored_hook_files") or "[]"))


def set_stored_hook_files(names: Iterable[str]) -> None:
    write("stored_hook_files", json.dumps(list(names)))


def redaction_version() -> int:
    """Return the version of the rules by which all content is redacted; 0 for none.

    New content is always redacted by the latest rules, older content may not be.
    """
    return int(read("redacted_by") or 0)


def set_redaction_version(version: int) -> None:
    """Set by which rules all content is redacted; that ends a redaction under way."""
    write("redacted_by", str(version))
    delete(REDACTION_POSITION)


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """The state of the model as the working process found it last."""

    condition: ModelCondition
    message: str
    """A message for the user; "" if there is no problem."""
    paused_until: datetime | None
    checked_at: datetime


def model_record() -> ModelRecord | None:
    value = read("model")
    if not value:
        return None
    condition, message, until, at = json.loads(value)
    return ModelRecord(
        ModelCondition(condition),
        message,
        datetime.fromisoformat(until) if until else None,
        datetime.fromisoformat(at),
    )


def set_model_record(record: ModelRecord) -> None:
    until = record.paused_until.isoformat() if record.paused_until else ""
    at = record.checked_at.isoformat()
    write("model", json.dumps([record.condition.value, record.message, until, at]))
