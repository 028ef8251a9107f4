"""The quarantine: hook files in ``bad/`` that could not be stored.

A file is moved by one rename, so that it is always in exactly one folder. Secrets are
taken out before a file is quarantined.
"""

import json
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from pathlib import Path

from memtui.capture.formats import hooks
from memtui.capture.formats.base import InvalidRecord, SkippedRecord
from memtui.capture.spool import (
    REASON,
    SpoolFile,
    SpoolRecord,
    join_records,
    split_records,
    without_line_number,
)
from memtui.errors import SpoolError
from memtui.model.events import clean, from_ms
from memtui.text import secrets

UNKNOWN = "no reason is known"
"""The reason of a file that has none beside it."""

_NS_PER_MS = 1_000_000

_UTF8 = "utf-8"

_Fields = dict[str, object]

_Redact = Callable[[str], secrets.RedactedText]


@dataclass(frozen=True, slots=True)
class QuarantinedFile:
    """One file in ``bad/``."""

    file_name: str
    size: int
    mtime_ns: int
    is_regular: bool

    @property
    def name(self) -> str:
        """The name as it can be printed and typed."""
        return clean(self.file_name)

    @property
    def received_at(self) -> datetime:
        """When a hook left it."""
        return from_ms(self.mtime_ns // _NS_PER_MS)

    @property
    def spool_file(self) -> SpoolFile:
        """The file's name and time, without its bytes."""
        return SpoolFile(self.file_name, b"", self.received_at)


class Quarantine:
    """The ``bad/`` folder of a spool."""

    def __init__(self, folder: Path) -> None:
        self._new, self._bad = folder / "new", folder / "bad"

    def files(self) -> list[QuarantinedFile]:
        """Return all files, the newest first.

        Raises:
            SpoolError: The folder cannot be read.
        """
        try:
            files = list(self._scan())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise SpoolError(f"{self._bad}: {error.strerror}") from error
        return sorted(
            files, key=lambda file: (file.mtime_ns, file.file_name), reverse=True
        )

    def _scan(self) -> Iterator[QuarantinedFile]:
        with os.scandir(self._bad) as entries:
            for entry in entries:
                if entry.name[0] == "." or entry.name.endswith(REASON):
                    continue
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                yield QuarantinedFile(
                    entry.name,
                    status.st_size,
                    status.st_mtime_ns,
                    stat.S_ISREG(status.st_mode),
                )

    def read(self, file: QuarantinedFile, limit: int | None = None) -> bytes:
        """Return the bytes of a file, or the first of them.

        Raises:
            SpoolError: It cannot be read.
        """
        if not file.is_regular:
            raise SpoolError("not a regular file")
        try:
            with (self._bad / file.file_name).open("rb") as opened:
                return opened.read(-1 if limit is None else limit)
        except OSError as error:
            raise SpoolError(error.strerror or "not readable") from error

    def reasons(self, file: QuarantinedFile) -> list[str]:
        """Return why a file is invalid: one reason per record, with its line."""
        beside = self._bad / f"{file.file_name}{REASON}"
        try:
            return clean(beside.read_text("utf-8", "replace")).splitlines()
        except OSError:
            return []

    def counted_reasons(self, file: QuarantinedFile) -> list[str]:
        """Return the reasons a file is counted by: without lines, and at least one."""
        return [without_line_number(one) for one in self.reasons(file)] or [UNKNOWN]

    def delete_stray_reasons(self) -> None:
        """Delete reasons without a file; not while files are being quarantined."""
        try:
            names = {entry.name for entry in os.scandir(self._bad)}
        except OSError:
            return
        for name in names:
            if name.endswith(REASON) and name.removesuffix(REASON) not in names:
                (self._bad / name).unlink(missing_ok=True)

    def retry(self, file: QuarantinedFile) -> None:
        """Move a file back to ``new/``.

        Raises:
            SpoolError: It has gone, or another file of its name is there.
        """
        target = self._new / file.file_name
        if target.is_symlink() or target.exists():
            raise SpoolError(f"{file.name}: another file of this name is waiting")
        try:
            self._new.mkdir(mode=0o700, parents=True, exist_ok=True)
            # First: once it is back it may be quarantined again, with other reasons.
            self._delete_reasons(file)
            (self._bad / file.file_name).rename(target)
        except OSError as error:
            raise SpoolError(f"{file.name}: {error.strerror}") from error

    def delete(self, file: QuarantinedFile) -> None:
        """Delete a file and the reasons beside it.

        Raises:
            SpoolError: It cannot be deleted.
        """
        path = self._bad / file.file_name
        if path.is_dir() and not path.is_symlink():
            raise SpoolError(f"{path}: a folder, which memtui does not delete")
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise SpoolError(f"{file.name}: {error.strerror}") from error
        self._delete_reasons(file)

    def _delete_reasons(self, file: QuarantinedFile) -> None:
        (self._bad / f"{file.file_name}{REASON}").unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class InvalidPart:
    """The part of a file that is quarantined."""

    raw: bytes
    is_changed: bool
    """The bytes differ from the file's own."""
    invalid: tuple[InvalidRecord, ...]
    """The invalid records, with their lines in ``raw``."""
    skipped: tuple[SkippedRecord, ...] = ()
    """Invalid records that are not even quarantined, and the reason."""
    redacted_kinds: tuple[str, ...] = ()
    """The kinds of the secrets that were taken out."""

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons as text, each with its line."""
        return tuple(f"line {one.line}: {one.reason}" for one in self.invalid)


def _keep_all(_: _Fields) -> str:
    return ""


def extract_invalid(
    file: SpoolFile,
    now: datetime,
    skip_reason: Callable[[_Fields], str] = _keep_all,
) -> InvalidPart:
    """Return the part of a file to quarantine, without secrets.

    Args:
        file: A file with invalid records.
        now: The time.
        skip_reason: Returns why a record must not be kept at all, or "".
    """
    records = split_records(file.raw)
    invalid = [one for one in records if any(_invalid(one.raw, file, now))] or records
    kept, skipped = [], []
    for record in invalid:
        reason = skip_reason(record.fields) if record.fields else ""
        if reason:
            skipped.append(SkippedRecord(reason))
        else:
            kept.append(record)
    if not kept:
        return InvalidPart(b"", is_changed=True, invalid=(), skipped=tuple(skipped))
    is_whole = len(kept) == len(records)
    raw, kinds = _redact_records(file.raw, kept, is_whole=is_whole)
    return InvalidPart(
        raw,
        raw != file.raw,
        tuple(
            replace(one, reason=redacted_reason(one))
            for one in _invalid(raw, file, now)
        ),
        tuple(skipped),
        kinds,
    )


def _invalid(raw: bytes, file: SpoolFile, now: datetime) -> Iterator[InvalidRecord]:
    items = hooks.read(
        raw,
        received_at=file.received_at,
        now=now,
        agent=file.agent,
        event=file.event,
    )
    return (item for item in items if isinstance(item, InvalidRecord))


def redacted_reason(record: InvalidRecord) -> str:
    """Return why a record is invalid, without secrets."""
    return secrets.redact(clean(record.reason)).text


def redact_file(raw: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Return a file's content without secrets, and their kinds."""
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
    for is_damaged, group in groupby(records, lambda one: one.fields is None):
        if is_damaged:
            # A secret may continue in the next damaged line.
            joined = join_records(list(group))
            joined = _redact_bytes(joined, kinds, secrets.redact_fragment)
            redacted.append(SpoolRecord(joined, None))
        else:
            redacted += [_redact_record(record, kinds) for record in group]
    if is_whole and not kinds:
        return raw, ()
    return join_records(redacted), tuple(kinds)


def _redact_record(record: SpoolRecord, kinds: list[str]) -> SpoolRecord:
    raw = record.raw
    try:
        fields, found = secrets.redact_json(record.fields)
        if found:
            raw = json.dumps(fields, ensure_ascii=False).encode(_UTF8, "replace")
            kinds += found
    except RecursionError:
        pass
    # The bytes, too: of a key that occurs twice, only the last value is in the fields.
    return SpoolRecord(_redact_bytes(raw, kinds, secrets.redact), record.fields)


def _redact_bytes(raw: bytes, kinds: list[str], redact: _Redact) -> bytes:
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
