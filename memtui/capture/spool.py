"""The hooks directory: a spool like a mail folder's.

Hooks write into ``tmp/`` and rename into ``new/``; what cannot be taken goes to
``bad/``, with its reason beside it. The directory is the truth: whatever lies in
``new/`` is still to be taken, however it came there.

A file's bytes are what an agent said. Whoever installed the hook may have said beside
them which agent and which event it is for, where the bytes do not: that stands in the
name, ``<time>.<pid>.<random>.<agent>.<event>.json``. A name of any other form says
nothing.
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
"""The box of what hooks are still writing."""

FOLDERS = (DRAFTS_FOLDER, "new", "bad")
REASON = ".reason"

_NAME = re.compile(
    r"\d{1,20}\.\d{1,10}\.[0-9A-Za-z]{1,40}"
    r"\.(?P<agent>[0-9A-Za-z_-]{0,40})\.(?P<event>[0-9A-Za-z_-]{0,40})\.json",
    re.ASCII,
)
"""A name that says who told it; either word may be missing."""

_LINE = re.compile(r"^line \d+: ")


@dataclass(frozen=True, slots=True)
class SpoolFile:
    """One file that a hook left."""

    name: str
    raw: bytes
    received_at: datetime

    @property
    def agent(self) -> str:
        """Whose hook it was, where whoever installed it said so."""
        return self._named("agent")

    @property
    def event(self) -> str:
        """The event the hook was installed for, where that was said."""
        return self._named("event")

    def _named(self, which: str) -> str:
        said = _NAME.fullmatch(self.name)
        return said[which] if said else ""


@contextmanager
def _said_plainly(folder: Path) -> Iterator[None]:
    """Say of a folder's files what went wrong; that one is gone is no fault."""
    try:
        yield
    except FileNotFoundError:
        return
    except OSError as error:
        raise SpoolError(f"{folder}: {error.strerror}") from error


class Spool:
    """A hooks directory."""

    def __init__(self, folder: Path) -> None:
        """Remember the folder; ``make`` makes it."""
        self.folder = folder
        self._new, self._bad = folder / "new", folder / "bad"

    def create(self) -> None:
        """Make what is missing of the directory.

        Raises:
            SpoolError: It cannot be made.
        """
        try:
            for folder in (self.folder / DRAFTS_FOLDER, self._new, self._bad):
                folder.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        except OSError as error:
            raise SpoolError(f"{self.folder}: {error.strerror}") from error

    def names(self) -> list[str]:
        """The files to take, in the order of their names; hidden ones are not ours."""
        try:
            return sorted(
                entry.name for entry in self._new.iterdir() if entry.name[0] != "."
            )
        except FileNotFoundError:
            return []
        except OSError as error:
            raise SpoolError(f"{self._new}: {error.strerror}") from error

    def read(self, name: str) -> SpoolFile | None:
        """Read a file; None if it is gone meanwhile.

        Raises:
            SpoolError: It is there and cannot be read.
        """
        file = self._new / name
        try:
            if not stat.S_ISREG(file.stat().st_mode):
                raise SpoolError("not a regular file")
            mtime_ms = file.stat().st_mtime_ns // 1_000_000
            return SpoolFile(name, file.read_bytes(), from_ms(mtime_ms))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SpoolError(error.strerror or "not readable") from error

    def delete(self, name: str) -> None:
        """Delete a file whose events are kept.

        Raises:
            SpoolError: It cannot be deleted.
        """
        with _said_plainly(self._new):
            (self._new / name).unlink(missing_ok=True)

    def quarantine(
        self, name: str, reasons: Sequence[str], raw: bytes | None = None
    ) -> None:
        """Move a file to ``bad/``, with the reasons beside it, a line each.

        Args:
            name: The file.
            reasons: Why.
            raw: What is to lie there; the file as it is when None.

        Raises:
            SpoolError: It cannot be moved.
        """
        with _said_plainly(self._bad):
            self._put_aside(name, reasons, raw)

    def _put_aside(self, name: str, reasons: Sequence[str], raw: bytes | None) -> None:
        self._bad.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        said = "".join(f"{reason}\n" for reason in reasons)
        beside = self._bad / f"{name}{REASON}"
        beside.touch(mode=0o600)
        beside.write_text(said, encoding="utf-8")
        file = self._new / name
        if raw is None:
            file.rename(self._bad / name)
        else:
            draft = _draft(self.folder / "tmp" / name, raw, file.stat())
            draft.replace(self._bad / name)
            file.unlink()

    def recover_drafts(self, before: datetime) -> None:
        """Take up drafts that were last written to before a time.

        A hook that is killed while it writes cannot say so: what it wrote is taken as
        all others are, or refused if it is not whole.

        Raises:
            SpoolError: They cannot be moved.
        """
        with _said_plainly(self.folder / DRAFTS_FOLDER):
            for draft in (self.folder / DRAFTS_FOLDER).iterdir():
                status = draft.lstat()
                if not stat.S_ISREG(status.st_mode) or draft.name[0] == ".":
                    continue
                if status.st_mtime >= before.timestamp():
                    continue
                # One that has a namesake was ours, on its way to be quarantined.
                if status.st_size and not (self._new / draft.name).exists():
                    draft.rename(self._new / draft.name)
                else:
                    draft.unlink()

    def all_files(self) -> Iterator[tuple[str, SpoolFile]]:
        """Every file of every box, with its box: drafts, news and the quarantined.

        Raises:
            SpoolError: One of them cannot be read.
        """
        for box in FOLDERS:
            folder = self.folder / box
            try:
                files = sorted(folder.iterdir()) if folder.is_dir() else []
                for file in files:
                    is_reason = box == "bad" and file.suffix == REASON
                    if is_reason or not stat.S_ISREG(file.lstat().st_mode):
                        continue
                    mtime_ms = file.stat().st_mtime_ns // 1_000_000
                    at = from_ms(mtime_ms)
                    yield box, SpoolFile(file.name, file.read_bytes(), at)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise SpoolError(f"{folder}: {error.strerror}") from error

    def reasons(self, box: str, name: str) -> list[str]:
        """Why a file was quarantined, a reason for each record."""
        return [without_line_number(line) for line in self.reason_lines(box, name)]

    def reason_lines(self, box: str, name: str) -> list[str]:
        """The lines that stand beside a quarantined file: its reasons, with places."""
        file = self.folder / box / f"{name}{REASON}"
        try:
            return file.read_text("utf-8", "replace").splitlines()
        except OSError:
            return []

    def remove(self, box: str, name: str) -> None:
        """Delete a file, and the reasons that stand beside it."""
        file = self.folder / box / name
        file.unlink(missing_ok=True)
        file.with_name(f"{name}{REASON}").unlink(missing_ok=True)

    def rewrite(
        self, box: str, letter: SpoolFile, raw: bytes, reasons: Sequence[str]
    ) -> None:
        """Put other bytes in a file's place; it keeps the time it was received.

        Args:
            box: Where it lies.
            letter: The file as it is.
            raw: What it is to hold.
            reasons: Why it was quarantined, for one that was.
        """
        file = self.folder / box / letter.name
        draft = _draft(file.with_name(f".{letter.name}"), raw, file.stat())
        draft.replace(file)
        beside = file.with_name(f"{letter.name}{REASON}")
        if beside.exists():
            said = "".join(f"{reason}\n" for reason in reasons)
            beside.write_text(said, encoding="utf-8")

    def count_quarantined(self) -> int:
        """How many files lie in ``bad/``."""
        try:
            return sum(entry.suffix != REASON for entry in self._bad.iterdir())
        except OSError:
            return 0


def without_line_number(reason: str) -> str:
    """A reason without the line it names."""
    return _LINE.sub("", reason)


def _draft(file: Path, raw: bytes, like: os.stat_result) -> Path:
    """A file with other bytes, for its owner alone, as old as another one."""
    file.touch(mode=0o600)
    file.write_bytes(raw)
    os.utime(file, ns=(like.st_atime_ns, like.st_mtime_ns))
    return file


PROBE_BYTES = 4096
"""How much is written to see whether there is room: as much as a small event."""

FINISHED = timedelta(minutes=10)
"""A file that a hook still wrote to before this was never finished."""


@dataclass(frozen=True, slots=True)
class SpoolStatus:
    """How a spool stands."""

    waiting: int
    oldest_at: datetime | None
    """When the file came that waits longest."""
    newest_at: datetime | None
    unfinished: int
    """How many files lie in ``tmp`` for longer than a hook takes."""
    refused: int
    """How many files lie in ``bad``."""
    reasons: tuple[tuple[str, int], ...]
    """Why, each with the number of records, most first."""
    closed: str
    """Why hooks cannot leave anything; "" if they can."""


def spool_status(folder: Path) -> SpoolStatus:
    """Look at a spool."""
    spool, closed = Spool(folder), _why_closed(folder)
    try:
        names = spool.names()
    except SpoolError as error:
        names, closed = [], closed or str(error)
    times = [at for at in map(_time, (folder / "new" / name for name in names)) if at]
    refused = _refused(folder / "bad")
    counts = Counter(
        reason for name in refused for reason in spool.reasons("bad", name)
    )
    return SpoolStatus(
        waiting=len(names),
        oldest_at=min(times, default=None),
        newest_at=max(times, default=None),
        unfinished=_unfinished(folder / "tmp"),
        refused=len(refused),
        reasons=tuple(sorted(counts.items(), key=lambda row: (-row[1], row[0]))),
        closed=closed,
    )


def _time(file: Path) -> datetime | None:
    try:
        return from_ms(file.stat().st_mtime_ns // 1_000_000)
    except OSError:
        return None


def _unfinished(folder: Path) -> int:
    try:
        times = [_time(file) for file in folder.iterdir()]
    except OSError:
        return 0
    before = datetime.now(UTC) - FINISHED
    return sum(at is not None and at < before for at in times)


def _refused(folder: Path) -> list[str]:
    try:
        names = sorted(file.name for file in folder.iterdir())
    except OSError:
        return []
    return [name for name in names if not name.endswith(".reason") and name[0] != "."]


def _why_closed(folder: Path) -> str:
    """Why nothing can be left in a spool; "" if something can."""
    for box in (folder / "tmp", folder / "new"):
        there = next(place for place in (box, *box.parents) if place.exists())
        if not there.is_dir():
            return f"{there} is not a folder"
        if not os.access(there, os.W_OK | os.X_OK):
            return f"{there} cannot be written"
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


Fields = dict[str, object]


@dataclass(frozen=True, slots=True)
class SpoolRecord:
    """A part of a file that can be kept or deleted by itself."""

    raw: bytes
    fields: Fields | None
    """The record; None for what is none."""


def split_records(raw: bytes) -> list[SpoolRecord]:
    """The pieces of a file; together they are all of it."""
    values = jsonl.payload_values(raw)
    if values:
        alone = raw if len(values) == 1 else None
        return [_of_value(value, alone) for value in values]
    by_line = [list(_of_line(line)) for line in raw.splitlines() if line.strip()]
    if any(piece.fields for pieces in by_line for piece in pieces):
        return [piece for pieces in by_line for piece in pieces]
    return [SpoolRecord(raw, None)]


def _of_value(value: object, raw: bytes | None) -> SpoolRecord:
    return SpoolRecord(
        _dumped(value) if raw is None else raw,
        value if isinstance(value, dict) else None,
    )


def _of_line(line: bytes) -> Iterator[SpoolRecord]:
    found = list(jsonl.parse_line(line, 1))
    if len(found) == 1 and isinstance(found[0], Record):
        yield SpoolRecord(line, found[0].fields)
    elif found and all(isinstance(record, Record) for record in found):
        for record in found:
            if isinstance(record, Record):
                yield _of_value(record.fields, None)
    else:
        yield SpoolRecord(line, None)


def _dumped(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def join_records(pieces: list[SpoolRecord]) -> bytes:
    """The bytes of a file with these pieces."""
    return b"\n".join(piece.raw.strip(b"\n") for piece in pieces) + b"\n"


SESSION_INFO = "SessionInfo"
"""The event that says what a session is called, and what it was about."""

SESSION_START = "SessionStart"


def write_event(
    spool: Path,
    event: str,
    agent: str,
    session_id: str,
    at: datetime,
    said: Mapping[str, object],
) -> None:
    """Leave one event.

    The same event left twice with the same time is kept once; so is one that has a
    ``source_key``, whenever it is left again under it.

    Args:
        spool: Where.
        event: What happened: an event type, or the name of a hook's event.
        agent: Whose session it is of.
        session_id: Which session.
        at: When, aware.
        said: What it says besides.

    Raises:
        SpoolError: It cannot be written.
    """
    told = {
        "hook_event_name": event,
        "agent": agent,
        "session_id": session_id,
        "timestamp": at.isoformat(),
        **{name: value for name, value in said.items() if value},
    }
    content = json.dumps(told, ensure_ascii=False).encode("utf-8", "replace")
    mask = os.umask(0o077)
    try:
        hook.keep([content], str(spool), "")
    except OSError as error:
        raise SpoolError(f"{spool}: {error.strerror or error}") from error
    finally:
        os.umask(mask)
