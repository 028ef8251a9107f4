"""What lies in ``bad/``: hook files that could not be taken, and what becomes of them.

A name is a file's name and never a path. Where a file goes is one rename: whoever looks
meanwhile finds it in one place or in the other.
"""

import json
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from pathlib import Path

from memtui.capture import spool
from memtui.capture.formats import hooks
from memtui.capture.formats.base import InvalidRecord, SkippedRecord
from memtui.capture.spool import REASON, SpoolFile, SpoolRecord, without_line_number
from memtui.errors import SpoolError
from memtui.model.events import clean, from_ms
from memtui.text import secrets

UNKNOWN = "no reason is known"
"""Why a file lies there that has no reasons beside it."""

_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class QuarantinedFile:
    """One file in ``bad/``."""

    file_name: str
    size: int
    mtime_ns: int
    is_regular: bool

    @property
    def name(self) -> str:
        """What it is called, as it can be shown and asked for."""
        return clean(self.file_name)

    @property
    def received_at(self) -> datetime:
        """When a hook left it."""
        return from_ms(self.mtime_ns // _NS_PER_MS)

    @property
    def letter(self) -> SpoolFile:
        """What its name and time say, without its bytes."""
        return SpoolFile(self.file_name, b"", self.received_at)


class Quarantine:
    """The ``bad/`` of a hooks directory."""

    def __init__(self, folder: Path) -> None:
        """Remember the hooks directory."""
        self._new, self._bad = folder / "new", folder / "bad"

    def files(self) -> list[QuarantinedFile]:
        """All files that lie there, the newest first.

        Raises:
            SpoolError: The folder cannot be read.
        """
        try:
            return sorted(self._files(), key=_age, reverse=True)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise SpoolError(f"{self._bad}: {error.strerror}") from error

    def _files(self) -> Iterator[QuarantinedFile]:
        with os.scandir(self._bad) as entries:
            for entry in entries:
                if _is_name(entry.name):
                    try:
                        yield _found(entry.name, entry.stat(follow_symlinks=False))
                    except FileNotFoundError:
                        continue

    def read(self, file: QuarantinedFile, limit: int | None = None) -> bytes:
        """The bytes of a file, or the first of them.

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
        """Why a file lies there, a reason for each record, with its line."""
        beside = self._bad / f"{file.file_name}{REASON}"
        try:
            return clean(beside.read_text("utf-8", "replace")).splitlines()
        except OSError:
            return []

    def counted_reasons(self, file: QuarantinedFile) -> list[str]:
        """The reasons by which a file is counted: without lines, and at least one."""
        return [without_line_number(reason) for reason in self.reasons(file)] or [
            UNKNOWN
        ]

    def delete_stray_reasons(self) -> None:
        """Delete reasons that were left behind; only while nobody takes hook files."""
        try:
            there = {entry.name for entry in os.scandir(self._bad)}
        except OSError:
            return
        for name in there:
            if name.endswith(REASON) and name.removesuffix(REASON) not in there:
                (self._bad / name).unlink(missing_ok=True)

    def retry(self, file: QuarantinedFile) -> None:
        """Put a file where it will be taken again.

        Raises:
            SpoolError: It is gone, or another one of its name waits there.
        """
        target = self._new / file.file_name
        if target.is_symlink() or target.exists():
            raise SpoolError(f"{file.name}: another file of this name waits already")
        try:
            self._new.mkdir(mode=0o700, parents=True, exist_ok=True)
            # First: once it is back it may be refused again, for other reasons.
            self._forget_reasons(file)
            (self._bad / file.file_name).rename(target)
        except OSError as error:
            raise SpoolError(f"{file.name}: {error.strerror}") from error

    def delete(self, file: QuarantinedFile) -> None:
        """Delete a file, and the reasons beside it.

        Raises:
            SpoolError: It cannot be deleted.
        """
        path = self._bad / file.file_name
        if path.is_dir() and not path.is_symlink():
            raise SpoolError(f"{path}: a folder, which memtui leaves alone")
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise SpoolError(f"{file.name}: {error.strerror}") from error
        self._forget_reasons(file)

    def _forget_reasons(self, file: QuarantinedFile) -> None:
        (self._bad / f"{file.file_name}{REASON}").unlink(missing_ok=True)


def _is_name(name: str) -> bool:
    return name[0] != "." and not name.endswith(REASON)


def _found(name: str, status: os.stat_result) -> QuarantinedFile:
    is_regular = stat.S_ISREG(status.st_mode)
    return QuarantinedFile(name, status.st_size, status.st_mtime_ns, is_regular)


def _age(file: QuarantinedFile) -> tuple[int, str]:
    return file.mtime_ns, file.file_name


_UTF8 = "utf-8"
Kinds = list[str]
Fields = dict[str, object]
WhyNot = Callable[[Fields], str]
Redact = Callable[[str], secrets.RedactedText]


@dataclass(frozen=True, slots=True)
class InvalidPart:
    """What is put aside of one file."""

    raw: bytes
    is_changed: bool
    """Whether these are other bytes than the file's own."""
    refused: tuple[InvalidRecord, ...]
    """Why, for each record, with the line it stands on here; none if none is left."""
    left: tuple[SkippedRecord, ...] = ()
    """Why other records that were refused are not put aside either."""
    kinds: tuple[str, ...] = ()
    """The kinds of the secrets that were taken out."""

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons in words, each with its line."""
        return tuple(f"line {one.line}: {one.reason}" for one in self.refused)


def _nobody(_: Fields) -> str:
    return ""


def extract_invalid(
    letter: SpoolFile, now: datetime, why_not: WhyNot = _nobody
) -> InvalidPart:
    """What was refused of a file.

    Args:
        letter: The file; some of it is refused.
        now: The time by which it is.
        why_not: Says of a record why nothing of it may be kept; "" if it may.
    """
    held = spool.split_records(letter.raw)
    refused = [piece for piece in held if _is_refused(piece, letter, now)] or held
    left = {id(p): why for p in refused if p.fields and (why := why_not(p.fields))}
    kept = [piece for piece in refused if id(piece) not in left]
    told = tuple(map(SkippedRecord, left.values()))
    if not kept:
        return InvalidPart(b"", is_changed=True, refused=(), left=told)
    raw, kinds = _clean(letter.raw, kept, is_whole=len(kept) == len(held))
    reasons = tuple(map(_plain, _refusals(raw, letter, now)))
    return InvalidPart(raw, raw != letter.raw, reasons, told, kinds)


def _is_refused(piece: SpoolRecord, letter: SpoolFile, now: datetime) -> bool:
    return any(True for _ in _refusals(piece.raw, letter, now))


def _plain(refused: InvalidRecord) -> InvalidRecord:
    return replace(refused, reason=reason(refused))


def redact_file(raw: bytes) -> tuple[bytes, tuple[str, ...]]:
    """All of a file but its secrets, and their kinds."""
    return _clean(raw, spool.split_records(raw), is_whole=True)


def decode(raw: bytes) -> str:
    """The text that bytes are, or would be."""
    return raw.decode(_encoding(raw), "replace")


def reason(refused: InvalidRecord) -> str:
    """Why something was refused, in words that can be kept."""
    return secrets.redact(clean(refused.reason)).text


def _refusals(raw: bytes, letter: SpoolFile, now: datetime) -> Iterator[InvalidRecord]:
    readings = hooks.read(
        raw,
        received_at=letter.received_at,
        now=now,
        agent=letter.agent,
        event=letter.event,
    )
    return (reading for reading in readings if isinstance(reading, InvalidRecord))


def _clean(
    raw: bytes, held: list[SpoolRecord], *, is_whole: bool
) -> tuple[bytes, tuple[str, ...]]:
    """The bytes of some pieces without secrets; the file's own where it has none."""
    kinds: Kinds = []
    cleaned = list(_cleaned(held, kinds))
    if is_whole and not kinds:
        return raw, ()
    return spool.join_records(cleaned), tuple(kinds)


def _cleaned(held: list[SpoolRecord], kinds: Kinds) -> Iterator[SpoolRecord]:
    """The pieces without secrets; what is damaged may share one with its neighbour."""
    for is_damaged, some in groupby(held, lambda piece: piece.fields is None):
        if is_damaged:
            raw = spool.join_records(list(some))
            yield SpoolRecord(_in_bytes(raw, kinds, secrets.redact_fragment), None)
        else:
            yield from (_in_record(piece, kinds) for piece in some)


def _in_record(piece: SpoolRecord, kinds: Kinds) -> SpoolRecord:
    raw = piece.raw
    try:
        fields, found = secrets.redact_json(piece.fields)
        if found:
            raw = json.dumps(fields, ensure_ascii=False).encode(_UTF8, "replace")
            kinds += found
    except RecursionError:
        pass
    # A name that stands in it twice hides what it said first.
    return SpoolRecord(_in_bytes(raw, kinds, secrets.redact), piece.fields)


def _in_bytes(raw: bytes, kinds: Kinds, redact: Redact) -> bytes:
    """Bytes without the secrets of the text they are, or would be."""
    encoding = _encoding(raw)
    errors = "surrogateescape" if encoding == _UTF8 else "surrogatepass"
    end = len(raw) if encoding == _UTF8 else len(raw) // 2 * 2
    redacted = redact(raw[:end].decode(encoding, errors))
    if not redacted.kinds:
        return raw
    kinds += redacted.kinds
    return redacted.text.encode(encoding, errors) + raw[end:]


def _encoding(raw: bytes) -> str:
    """How to read bytes: as UTF-16 where every other one is zero, else as UTF-8."""
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if raw[first::2].count(0) > len(raw) // 4:
            return encoding
    return _UTF8
