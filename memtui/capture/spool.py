"""The spool: the folder where hooks leave events, laid out like a maildir.

Hooks write into ``tmp/`` and rename into ``new/``; invalid files go to ``bad/``, with
the reasons beside them. The folder is the truth: whatever is in ``new/`` will be
stored, however it came there.

A file's bytes are what the agent sent. Whoever installed the hook may have added the
agent and the event to the file's name, ``<time>.<pid>.<random>.<agent>.<event>.json``.
"""

import json
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memtui import hook
from memtui.capture.formats import jsonl
from memtui.capture.formats.base import Record
from memtui.errors import SpoolError
from memtui.model.events import from_ms

PRIVATE = 0o700

DRAFTS_FOLDER = "tmp"
"""The folder of files that hooks are still writing."""

FOLDERS = (DRAFTS_FOLDER, "new", "bad")

REASON = ".reason"
"""The suffix of the file with the reasons beside an invalid file."""

SESSION_INFO = "SessionInfo"
"""The event with a session's title and summary."""

SESSION_START = "SessionStart"

PROBE_BYTES = 4096
"""The bytes written to test for free space: as many as a small event has."""

UNFINISHED_AFTER = timedelta(minutes=10)
"""A draft that was last written before this time counts as unfinished."""

_NAME = re.compile(
    r"\d{1,20}\.\d{1,10}\.[0-9A-Za-z]{1,40}"
    r"\.(?P<agent>[0-9A-Za-z_-]{0,40})\.(?P<event>[0-9A-Za-z_-]{0,40})\.json",
    re.ASCII,
)
"""A name with an agent and an event; either may be empty."""

_LINE_NUMBER = re.compile(r"^line \d+: ")


@dataclass(frozen=True, slots=True)
class SpoolFile:
    """One file that a hook left."""

    name: str
    raw: bytes
    received_at: datetime

    @property
    def agent(self) -> str:
        """The agent in the file's name, or ""."""
        return self._name_part("agent")

    @property
    def event(self) -> str:
        """The event in the file's name, or ""."""
        return self._name_part("event")

    def _name_part(self, part: str) -> str:
        match = _NAME.fullmatch(self.name)
        return match[part] if match else ""


@contextmanager
def _spool_errors(folder: Path) -> Iterator[None]:
    """Turn OSError into SpoolError; a file that has gone is not an error."""
    try:
        yield
    except FileNotFoundError:
        return
    except OSError as error:
        raise SpoolError(f"{folder}: {error.strerror}") from error


class Spool:
    """A spool folder."""

    def __init__(self, folder: Path) -> None:
        """Take a folder that may not exist yet."""
        self.folder = folder
        self._new, self._bad = folder / "new", folder / "bad"

    def create(self) -> None:
        """Create the missing folders.

        Raises:
            SpoolError: They cannot be created.
        """
        try:
            for name in FOLDERS:
                folder = self.folder / name
                folder.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        except OSError as error:
            raise SpoolError(f"{self.folder}: {error.strerror}") from error

    def names(self) -> list[str]:
        """Return the files to store, sorted; hidden files are left alone."""
        try:
            return sorted(
                entry.name for entry in self._new.iterdir() if entry.name[0] != "."
            )
        except FileNotFoundError:
            return []
        except OSError as error:
            raise SpoolError(f"{self._new}: {error.strerror}") from error

    def read(self, name: str) -> SpoolFile | None:
        """Read a file; None if it has gone.

        Raises:
            SpoolError: It cannot be read.
        """
        file = self._new / name
        try:
            status = file.stat()
            if not stat.S_ISREG(status.st_mode):
                raise SpoolError("not a regular file")
            return SpoolFile(name, file.read_bytes(), _modified_at(status))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SpoolError(error.strerror or "not readable") from error

    def delete(self, name: str) -> None:
        """Delete a file whose events are stored.

        Raises:
            SpoolError: It cannot be deleted.
        """
        with _spool_errors(self._new):
            (self._new / name).unlink(missing_ok=True)

    def quarantine(
        self, name: str, reasons: Sequence[str], raw: bytes | None = None
    ) -> None:
        """Move a file to ``bad/``, with the reasons beside it, one per line.

        Args:
            name: The file.
            reasons: Why it is invalid.
            raw: The content to keep; None keeps the file as it is.

        Raises:
            SpoolError: It cannot be moved.
        """
        with _spool_errors(self._bad):
            self._bad.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
            beside = self._bad / f"{name}{REASON}"
            beside.touch(mode=0o600)
            _write_reasons(beside, reasons)
            file = self._new / name
            if raw is None:
                file.rename(self._bad / name)
            else:
                draft = _write_draft(self.folder / "tmp" / name, raw, file.stat())
                draft.replace(self._bad / name)
                file.unlink()

    def recover_drafts(self, before: datetime) -> None:
        """Move drafts last written before a time to ``new/``: their hooks were killed.

        They are stored like all others, or quarantined if they are incomplete.

        Raises:
            SpoolError: They cannot be moved.
        """
        with _spool_errors(self.folder / DRAFTS_FOLDER):
            for draft in (self.folder / DRAFTS_FOLDER).iterdir():
                status = draft.lstat()
                if not stat.S_ISREG(status.st_mode) or draft.name[0] == ".":
                    continue
                if status.st_mtime >= before.timestamp():
                    continue
                # A draft with the name of a file in new/ was being quarantined.
                if status.st_size and not (self._new / draft.name).exists():
                    draft.rename(self._new / draft.name)
                else:
                    draft.unlink()

    def all_files(self) -> Iterator[tuple[str, SpoolFile]]:
        """Yield every file with its folder: drafts, new files and invalid ones.

        Raises:
            SpoolError: One of them cannot be read.
        """
        for name in FOLDERS:
            folder = self.folder / name
            try:
                for file in sorted(folder.iterdir()) if folder.is_dir() else []:
                    is_reason = name == "bad" and file.suffix == REASON
                    if is_reason or not stat.S_ISREG(file.lstat().st_mode):
                        continue
                    at = _modified_at(file.stat())
                    yield name, SpoolFile(file.name, file.read_bytes(), at)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise SpoolError(f"{folder}: {error.strerror}") from error

    def reasons(self, folder: str, name: str) -> list[str]:
        """Return why a file is invalid: one reason per record, without line numbers."""
        lines = self.reason_lines(folder, name)
        return [without_line_number(line) for line in lines]

    def reason_lines(self, folder: str, name: str) -> list[str]:
        """Return the reasons beside a file, with line numbers."""
        file = self.folder / folder / f"{name}{REASON}"
        try:
            return file.read_text("utf-8", "replace").splitlines()
        except OSError:
            return []

    def remove(self, folder: str, name: str) -> None:
        """Delete a file and the reasons beside it."""
        file = self.folder / folder / name
        file.unlink(missing_ok=True)
        file.with_name(f"{name}{REASON}").unlink(missing_ok=True)

    def rewrite(
        self, folder: str, file: SpoolFile, raw: bytes, reasons: Sequence[str]
    ) -> None:
        """Replace a file's content and keep the time it was received.

        Args:
            folder: Its folder.
            file: The file.
            raw: The new content.
            reasons: Why it is invalid, if it is.
        """
        path = self.folder / folder / file.name
        draft = _write_draft(path.with_name(f".{file.name}"), raw, path.stat())
        draft.replace(path)
        beside = path.with_name(f"{file.name}{REASON}")
        if beside.exists():
            _write_reasons(beside, reasons)

    def count_quarantined(self) -> int:
        """Return the number of files in ``bad/``."""
        try:
            return sum(entry.suffix != REASON for entry in self._bad.iterdir())
        except OSError:
            return 0


def without_line_number(reason: str) -> str:
    """Return a reason without the number of the line."""
    return _LINE_NUMBER.sub("", reason)


def _modified_at(status: os.stat_result) -> datetime:
    return from_ms(status.st_mtime_ns // 1_000_000)


def _write_reasons(file: Path, reasons: Sequence[str]) -> None:
    file.write_text("".join(f"{one}\n" for one in reasons), encoding="utf-8")


def _write_draft(file: Path, raw: bytes, like: os.stat_result) -> Path:
    """Write a private file with the times of another."""
    file.touch(mode=0o600)
    file.write_bytes(raw)
    os.utime(file, ns=(like.st_atime_ns, like.st_mtime_ns))
    return file


@dataclass(frozen=True, slots=True)
class SpoolRecord:
    """A part of a file that can be kept or deleted by itself."""

    raw: bytes
    fields: dict[str, object] | None
    """The record; None for what is not a record."""


def split_records(raw: bytes) -> list[SpoolRecord]:
    """Split a file into records; together they are all of it."""
    values = jsonl.payload_values(raw)
    if values:
        whole = raw if len(values) == 1 else None
        return [_record(value, whole) for value in values]
    lines = [list(_line_records(line)) for line in raw.splitlines() if line.strip()]
    if any(record.fields for records in lines for record in records):
        return [record for records in lines for record in records]
    return [SpoolRecord(raw, None)]


def _record(value: object, raw: bytes | None) -> SpoolRecord:
    if raw is None:
        raw = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    return SpoolRecord(raw, value if isinstance(value, dict) else None)


def _line_records(line: bytes) -> Iterator[SpoolRecord]:
    parsed = list(jsonl.parse_line(line, 1))
    records = [one for one in parsed if isinstance(one, Record)]
    if len(records) < len(parsed) or not records:
        yield SpoolRecord(line, None)
    elif len(records) == 1:
        yield SpoolRecord(line, records[0].fields)
    else:
        yield from (_record(record.fields, None) for record in records)


def join_records(records: Sequence[SpoolRecord]) -> bytes:
    """Return the content of a file with these records."""
    return b"\n".join(record.raw.strip(b"\n") for record in records) + b"\n"


@dataclass(frozen=True, slots=True)
class SpoolStatus:
    """The state of a spool, for doctor."""

    waiting: int
    oldest_at: datetime | None
    """When the file arrived that has waited longest."""
    newest_at: datetime | None
    unfinished: int
    """The number of files that are in ``tmp`` for longer than a hook takes."""
    quarantined: int
    """The number of files in ``bad``."""
    reasons: tuple[tuple[str, int], ...]
    """The reasons, each with its number of records, most frequent first."""
    write_problem: str
    """The reason that hooks cannot write; "" if they can."""


def spool_status(folder: Path) -> SpoolStatus:
    """Look at a spool."""
    spool, closed = Spool(folder), _write_problem(folder)
    try:
        names = spool.names()
    except SpoolError as error:
        names, closed = [], closed or str(error)
    times = [at for name in names if (at := _file_time(folder / "new" / name))]
    invalid = [
        name
        for name in _file_names(folder / "bad")
        if not name.endswith(REASON) and name[0] != "."
    ]
    counts = Counter(r for name in invalid for r in spool.reasons("bad", name))
    drafts = (_file_time(folder / "tmp" / name) for name in _file_names(folder / "tmp"))
    before = datetime.now(UTC) - UNFINISHED_AFTER
    return SpoolStatus(
        waiting=len(names),
        oldest_at=min(times, default=None),
        newest_at=max(times, default=None),
        unfinished=sum(at is not None and at < before for at in drafts),
        quarantined=len(invalid),
        reasons=tuple(sorted(counts.items(), key=lambda row: (-row[1], row[0]))),
        write_problem=closed,
    )


def _file_time(file: Path) -> datetime | None:
    try:
        return _modified_at(file.stat())
    except OSError:
        return None


def _file_names(folder: Path) -> list[str]:
    try:
        return sorted(file.name for file in folder.iterdir())
    except OSError:
        return []


def _write_problem(folder: Path) -> str:
    """Return why nothing can be written to a spool; "" if something can."""
    for name in (folder / "tmp", folder / "new"):
        existing = next(path for path in (name, *name.parents) if path.exists())
        if not existing.is_dir():
            return f"{existing} is not a folder"
        if not os.access(existing, os.W_OK | os.X_OK):
            return f"{existing} cannot be written"
    draft = folder / "tmp" / f".doctor.{os.getpid()}"
    if not draft.parent.is_dir():
        return ""
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            if os.write(descriptor, bytes(PROBE_BYTES)) < PROBE_BYTES:
                return f"no room is left on the disk of {folder}"
        finally:
            os.close(descriptor)
    except OSError as error:
        return f"{folder}: {(error.strerror or str(error)).lower()}"
    finally:
        with suppress(OSError):
            draft.unlink()
    return ""


def write_event(
    spool: Path,
    event: str,
    agent: str,
    session_id: str,
    at: datetime,
    fields: Mapping[str, object],
) -> None:
    """Write one event to a spool, as a hook does.

    The same event written twice with the same time is stored once; so is one with a
    ``source_key``, whenever it is written again.

    Args:
        spool: The spool's folder.
        event: The event type, or the name of a hook's event.
        agent: The agent.
        session_id: The session.
        at: When it happened, aware.
        fields: Further fields; empty ones are left out.

    Raises:
        SpoolError: It cannot be written.
    """
    payload = {
        "hook_event_name": event,
        "agent": agent,
        "session_id": session_id,
        "timestamp": at.isoformat(),
        **{name: value for name, value in fields.items() if value},
    }
    content = json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace")
    mask = os.umask(0o077)
    try:
        hook.write_event([content], str(spool), "")
    except OSError as error:
        raise SpoolError(f"{spool}: {error.strerror or error}") from error
    finally:
        os.umask(mask)
