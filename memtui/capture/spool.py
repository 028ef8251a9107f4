"""The spool: the folder where hooks leave events, laid out like a maildir.

Hooks write into ``tmp/`` and rename into ``new/``. Invalid files go to the quarantine:
``bad/NAME``, with the reasons in ``bad/NAME.reason``. A rename moves them, so that each
is always in exactly one folder. The folder decides: whatever is in ``new/`` will be
stored, however it came there.

A file's bytes are what the agent sent. Whoever installed the hook may have added the
agent and the event to the file's name, ``<time>.<pid>.<random>.<agent>.<event>.json``.
"""

import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from pathlib import Path

from memtui import hook, redaction
from memtui.capture.formats import hooks
from memtui.capture.formats.base import InvalidRecord, ParsedItem, Record, SkippedRecord
from memtui.capture.formats.jsonl import parse_object
from memtui.errors import SpoolError
from memtui.files import replacement, require_regular_file
from memtui.model.events import EARLIEST, IN_THE_FUTURE, clean, from_ms
from memtui.paths import PRIVATE_FOLDER

DRAFTS_FOLDER = "tmp"

FOLDERS = (DRAFTS_FOLDER, "new", "bad")

REASON = ".reason"
"""The suffix of the file with the reasons beside an invalid file, one per line."""

SESSION_INFO = "SessionInfo"

SESSION_START = "SessionStart"

PROBE_BYTES = 4096
"""The bytes written to test for free space: as many as a small event has."""

_NAME = re.compile(
    r"\d{1,20}\.\d{1,10}\.[0-9A-Za-z]{1,40}"
    r"\.(?P<agent>[0-9A-Za-z_-]{0,40})\.(?P<event>[0-9A-Za-z_-]{0,40})\.json",
    re.ASCII,
)
"""A name with an agent and an event; either may be empty."""


@dataclass(frozen=True, slots=True)
class SpoolFile:
    name: str
    raw: bytes
    received_at: datetime

    @property
    def agent(self) -> str:
        return self._name_part("agent")

    @property
    def event(self) -> str:
        return self._name_part("event")

    def _name_part(self, part: str) -> str:
        match = _NAME.fullmatch(self.name)
        return match[part] if match else ""

    def parse(self, now: datetime, raw: bytes | None = None) -> Iterator[ParsedItem]:
        return hooks.read(
            self.raw if raw is None else raw,
            received_at=self.received_at,
            now=now,
            agent=self.agent,
            event=self.event,
        )


@dataclass(frozen=True, slots=True)
class QuarantinedFile:
    """One file in ``bad/``, which may be a folder or a link."""

    path: Path
    received_at: datetime

    @property
    def name(self) -> str:
        """The name as it can be printed and typed."""
        return clean(self.path.name)


@contextmanager
def _spool_errors(where: object) -> Iterator[None]:
    """Turn OSError into SpoolError; a file that has gone is not an error."""
    try:
        yield
    except FileNotFoundError:
        return
    except OSError as error:
        raise SpoolError(f"{where}: {error.strerror or error}") from error


class Spool:
    """A spool folder, which may not exist yet.

    All methods raise SpoolError if something cannot be read or written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._new, self._bad = folder / "new", folder / "bad"

    def create(self) -> None:
        with _spool_errors(self.folder):
            for name in FOLDERS:
                folder = self.folder / name
                folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)

    def names(self) -> list[str]:
        names: list[str] = []
        with _spool_errors(self._new):
            names = [file.name for file in self._new.iterdir() if file.name[0] != "."]
        return sorted(names)

    def read(self, name: str) -> SpoolFile | None:
        try:
            return _read(self._new / name)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SpoolError(error.strerror or "not readable") from error

    def delete(self, name: str) -> None:
        with _spool_errors(self._new):
            (self._new / name).unlink()

    def recover_drafts(self, before: datetime) -> None:
        """Move drafts last written before a time to ``new/``: their hooks were killed.

        They are stored like all others, or quarantined if they are incomplete.
        """
        with _spool_errors(self.folder / DRAFTS_FOLDER):
            for draft in (self.folder / DRAFTS_FOLDER).iterdir():
                status = draft.lstat()
                if not stat.S_ISREG(status.st_mode) or draft.name[0] == ".":
                    continue
                if status.st_mtime >= before.timestamp():
                    continue
                if status.st_size:
                    draft.rename(self._new / draft.name)
                else:
                    draft.unlink()

    def all_files(self) -> Iterator[tuple[str, SpoolFile]]:
        """Yield every file with its folder: drafts, new files and invalid ones."""
        for name in FOLDERS:
            folder = self.folder / name
            with _spool_errors(folder):
                for file in sorted(folder.iterdir()):
                    if name == "bad" and file.suffix == REASON:
                        continue
                    with suppress(FileNotFoundError):
                        if stat.S_ISREG(file.lstat().st_mode):
                            yield name, _read(file)

    def rewrite(
        self, folder: str, file: SpoolFile, raw: bytes, reasons: Sequence[str]
    ) -> None:
        """Replace a file's content and reasons, and keep the time it was received."""
        path = self.folder / folder / file.name
        with _spool_errors(path.parent):
            _write(path, raw, path.stat())
            if (beside := _reason_file(path)).exists():
                _write_reasons(beside, reasons)

    def remove(self, folder: str, name: str) -> None:
        path = self.folder / folder / name
        with _spool_errors(path):
            path.unlink(missing_ok=True)
            _reason_file(path).unlink(missing_ok=True)

    def reason_lines(self, folder: str, name: str) -> list[str]:
        """Return why a file is invalid: one reason per record, with its line."""
        try:
            text = _reason_file(self.folder / folder / name).read_text(
                "utf-8", "replace"
            )
        except OSError:
            return []
        return clean(text).splitlines()

    # The quarantine

    def quarantined(self) -> list[QuarantinedFile]:
        """Return the files in the quarantine, the latest first."""
        files = []
        with _spool_errors(self._bad):
            for name in self._quarantined_names():
                with suppress(FileNotFoundError):
                    status = (self._bad / name).lstat()
                    at = from_ms(status.st_mtime_ns // 1_000_000)
                    files.append(QuarantinedFile(self._bad / name, at))
        return sorted(files, key=lambda f: (f.received_at, f.path.name), reverse=True)

    def count_quarantined(self) -> int:
        with _spool_errors(self._bad):
            return len(self._quarantined_names())
        return 0

    def last_quarantine_change(self) -> int:
        """Return when a file was last put into or taken out of it; 0 if never."""
        with _spool_errors(self._bad):
            return self._bad.stat().st_mtime_ns
        return 0

    def _quarantined_names(self) -> list[str]:
        names = [file.name for file in self._bad.iterdir()]
        return [name for name in names if name[0] != "." and not name.endswith(REASON)]

    def quarantine(
        self, name: str, reasons: Sequence[str], raw: bytes | None = None
    ) -> None:
        """Move a file to ``bad/`` with the reasons, with its own content or another."""
        file, target = self._new / name, self._bad / name
        with _spool_errors(self._bad):
            self._bad.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
            _write_reasons(_reason_file(target), reasons)
            if raw is None:
                file.rename(target)
            else:
                _write(target, raw, file.stat())
                file.unlink()

    def retry(self, file: QuarantinedFile) -> None:
        """Move a file back to ``new/``."""
        target = self._new / file.path.name
        if target.is_symlink() or target.exists():
            raise SpoolError(f"{file.name}: another file of this name is waiting")
        try:
            self._new.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
            # First: once it is back it may be quarantined again, with other reasons.
            _reason_file(file.path).unlink(missing_ok=True)
            file.path.rename(target)
        except OSError as error:
            raise SpoolError(f"{file.name}: {error.strerror}") from error

    def due_at(self, file: QuarantinedFile) -> datetime | None:
        """Return when a record of a file that was in the future is valid, or None."""
        reasons = self.reason_lines("bad", file.path.name)
        if not any(IN_THE_FUTURE in reason for reason in reasons):
            return None
        try:
            # At the earliest time, all others are in the future.
            invalid = _list_invalid(_read(file.path), None, EARLIEST)
        except OSError:
            return None
        return min((item.due_at for item in invalid if item.due_at), default=None)

    def drop(self, file: QuarantinedFile) -> None:
        if file.path.is_dir() and not file.path.is_symlink():
            raise SpoolError(f"{file.path}: a folder, which memtui does not delete")
        self.remove("bad", file.path.name)

    def delete_stray_reasons(self) -> None:
        """Delete reasons without a file; not while files are being quarantined."""
        with suppress(OSError):
            names = {file.name for file in self._bad.iterdir()}
            for name in names:
                if name.endswith(REASON) and name.removesuffix(REASON) not in names:
                    (self._bad / name).unlink(missing_ok=True)

    def write_problem(self) -> str:
        """Return why nothing can be written to the spool; "" if something can."""
        drafts = self.folder / DRAFTS_FOLDER
        for folder in (drafts, self._new):
            existing = next(p for p in (folder, *folder.parents) if p.exists())
            if not existing.is_dir():
                return f"{existing} is not a folder"
            if not os.access(existing, os.W_OK | os.X_OK):
                return f"{existing} cannot be written"
        probe = drafts / f".doctor.{os.getpid()}"
        if not drafts.is_dir():
            return ""
        try:
            with probe.open("xb", buffering=0) as file:
                if file.write(bytes(PROBE_BYTES)) < PROBE_BYTES:
                    return f"no room is left on the disk of {self.folder}"
        except OSError as error:
            return f"{self.folder}: {(error.strerror or str(error)).lower()}"
        finally:
            with suppress(OSError):
                probe.unlink()
        return ""


def _read(file: Path) -> SpoolFile:
    at = from_ms(file.stat().st_mtime_ns // 1_000_000)
    return SpoolFile(file.name, require_regular_file(file).read_bytes(), at)


def _write(file: Path, raw: bytes, like: os.stat_result) -> None:
    with replacement(file) as draft:
        draft.write_bytes(raw)
        os.utime(draft, ns=(like.st_atime_ns, like.st_mtime_ns))


def _reason_file(file: Path) -> Path:
    return file.with_name(f"{file.name}{REASON}")


def _write_reasons(file: Path, reasons: Sequence[str]) -> None:
    file.touch(mode=0o600)
    file.write_text("".join(f"{reason}\n" for reason in reasons), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class SpoolRecord:
    """A part of a file that can be quarantined or deleted by itself."""

    raw: bytes
    fields: dict[str, object] | None
    """The record; None for what is not a record."""


def split_records(raw: bytes) -> list[SpoolRecord]:
    records = []
    for part, parsed in hooks.split_payload(raw):
        only = parsed[0] if len(parsed) == 1 else None
        fields = only.fields if isinstance(only, Record) else None
        records.append(SpoolRecord(part, fields))
    return records


def join_records(records: Sequence[SpoolRecord]) -> bytes:
    return b"\n".join(record.raw.strip(b"\n") for record in records) + b"\n"


# The parts of files that cannot be stored, without the secrets in them.

_UTF8 = "utf-8"


@dataclass(frozen=True, slots=True)
class InvalidPart:
    raw: bytes
    is_changed: bool
    invalid: tuple[InvalidRecord, ...]
    """The invalid records, with their lines in ``raw``."""
    skipped: tuple[SkippedRecord, ...] = ()
    """Invalid records that are not even quarantined, and the reason."""
    redacted_kinds: tuple[str, ...] = ()


def extract_invalid(
    file: SpoolFile,
    now: datetime,
    skip_reason: Callable[[dict[str, object]], str] = lambda _: "",
) -> InvalidPart:
    """Return the part of a file to quarantine, without secrets.

    Records for which ``skip_reason`` returns a reason are not even quarantined.
    """
    records = split_records(file.raw)
    invalid = [r for r in records if _list_invalid(file, r.raw, now)] or records
    accepted, skipped = [], []
    for record in invalid:
        reason = skip_reason(record.fields or _read_torn(record.raw))
        if reason:
            skipped.append(SkippedRecord(reason))
        else:
            accepted.append(record)
    if not accepted:
        return InvalidPart(b"", is_changed=True, invalid=(), skipped=tuple(skipped))
    is_whole = len(accepted) == len(records)
    raw, kinds = _redact_records(file.raw, accepted, is_whole=is_whole)
    redacted = tuple(
        replace(record, reason=_redacted_reason(record))
        for record in _list_invalid(file, raw, now)
    )
    return InvalidPart(raw, raw != file.raw, redacted, tuple(skipped), kinds)


_SESSION_FIELD = re.compile(
    r'"(cwd|session_?id)"\s*:\s*("(?:[^"\\]|\\.)*")', re.IGNORECASE
)


def _read_torn(raw: bytes) -> dict[str, object]:
    """Return which session a damaged record names, and its folder."""
    fields = _SESSION_FIELD.findall(decode(raw))
    members = (f'"{name}":{value}' for name, value in reversed(fields))  # first counts
    return parse_object(f"{{{','.join(members)}}}") or {}


def _list_invalid(
    file: SpoolFile, raw: bytes | None, now: datetime
) -> list[InvalidRecord]:
    return [item for item in file.parse(now, raw) if isinstance(item, InvalidRecord)]


MAX_REASON_CHARS = 200


def shorten_reason(reason: str) -> str:
    """Return a reason, which may contain text of a file, in one short line."""
    return " ".join(clean(reason).split())[:MAX_REASON_CHARS]


def _redacted_reason(record: InvalidRecord) -> str:
    return shorten_reason(redaction.redact(clean(record.reason)).text)


def reason_line(record: InvalidRecord) -> str:
    return f"line {record.line}: {_redacted_reason(record)}"


def redact_file(raw: bytes) -> tuple[bytes, tuple[str, ...]]:
    return _redact_records(raw, split_records(raw), is_whole=True)


def decode(raw: bytes) -> str:
    """Return bytes as text, in the encoding they most likely have."""
    return raw.decode(_encoding(raw), "replace")


def _redact_records(
    raw: bytes, records: Sequence[SpoolRecord], *, is_whole: bool
) -> tuple[bytes, tuple[str, ...]]:
    """Return the content of records without secrets; unchanged if there are none."""
    kinds: list[str] = []
    redacted: list[SpoolRecord] = []
    for is_damaged, group in groupby(records, lambda record: record.fields is None):
        if is_damaged:
            # A secret may continue in the next damaged line.
            joined = join_records(list(group))
            joined = _redact_bytes(joined, kinds, redaction.redact_fragment)
            redacted.append(SpoolRecord(joined, None))
        else:
            redacted += [_redact_record(record, kinds) for record in group]
    if is_whole and not kinds:
        return raw, ()
    return join_records(redacted), tuple(kinds)


def _redact_record(record: SpoolRecord, kinds: list[str]) -> SpoolRecord:
    raw = record.raw
    try:
        fields, redacted = redaction.redact_json(record.fields)
        if redacted:
            raw = json.dumps(fields, ensure_ascii=False).encode(_UTF8, "replace")
            kinds += redacted
    except RecursionError:
        pass
    # The bytes, too: of a key that occurs twice, only the last value is in the fields.
    return SpoolRecord(_redact_bytes(raw, kinds, redaction.redact), record.fields)


def _redact_bytes(
    raw: bytes, kinds: list[str], redact: Callable[[str], redaction.RedactedText]
) -> bytes:
    encoding = _encoding(raw)
    errors = "surrogateescape" if encoding == _UTF8 else "surrogatepass"
    end = len(raw) if encoding == _UTF8 else len(raw) // 2 * 2
    redacted = redact(raw[:end].decode(encoding, errors))
    if not redacted.kinds:
        return raw
    kinds += redacted.kinds
    return redacted.text.encode(encoding, errors) + raw[end:]


def _encoding(raw: bytes) -> str:
    """Return UTF-16 where many of every second byte are zero, else UTF-8."""
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if raw[first::2].count(0) > len(raw) // 4:
            return encoding
    return _UTF8


# Events that memtui itself sends.


def write_event(
    spool: Path,
    event: str,
    agent: str,
    session_id: str,
    at: datetime,
    fields: Mapping[str, object],
) -> None:
    """Write one event to a spool, as a hook does; it is on the disk afterwards.

    The same event written twice with the same time is stored once; so is one with a
    ``source_key``, whenever it is written again. ``event`` is the event type, or the
    name of a hook's event. Empty fields are left out.

    Raises:
        SpoolError: It cannot be written.
    """
    content = make_payload(event, agent, session_id, at, fields)
    mask = os.umask(0o077)
    try:
        hook.write_event([content], str(spool), "", is_synced=True)
    except OSError as error:
        raise SpoolError(f"{spool}: {error.strerror or error}") from error
    finally:
        os.umask(mask)


def make_payload(
    event: str,
    agent: str,
    session_id: str,
    at: datetime,
    fields: Mapping[str, object],
) -> bytes:
    payload = {
        "hook_event_name": event,
        "agent": agent,
        "session_id": session_id,
        "timestamp": at.isoformat(),
        **{name: value for name, value in fields.items() if value},
    }
    return json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace")
