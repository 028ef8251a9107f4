"""The parts of hook files that cannot be stored, without the secrets in them."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from memtui.capture.formats.base import InvalidRecord, SkippedRecord
from memtui.capture.spool import SpoolFile, SpoolRecord, join_records, split_records
from memtui.model.events import clean
from memtui.text import secrets

_UTF8 = "utf-8"


@dataclass(frozen=True, slots=True)
class InvalidPart:
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
        return tuple(f"line {one.line}: {one.reason}" for one in self.invalid)


def extract_invalid(
    file: SpoolFile,
    now: datetime,
    skip_reason: Callable[[dict[str, object]], str] = lambda _: "",
) -> InvalidPart:
    """Return the part of a file to quarantine, without secrets.

    Records for which ``skip_reason`` returns a reason are not even quarantined.
    """
    records = split_records(file.raw)
    invalid = [one for one in records if _invalid(file, one.raw, now)] or records
    accepted, skipped = [], []
    for record in invalid:
        reason = skip_reason(record.fields) if record.fields else ""
        if reason:
            skipped.append(SkippedRecord(reason))
        else:
            accepted.append(record)
    if not accepted:
        return InvalidPart(b"", is_changed=True, invalid=(), skipped=tuple(skipped))
    is_whole = len(accepted) == len(records)
    raw, kinds = _redact_records(file.raw, accepted, is_whole=is_whole)
    found = _invalid(file, raw, now)
    reasons = tuple(replace(one, reason=redacted_reason(one)) for one in found)
    return InvalidPart(raw, raw != file.raw, reasons, tuple(skipped), kinds)


def _invalid(file: SpoolFile, raw: bytes, now: datetime) -> list[InvalidRecord]:
    return [one for one in file.parse(now, raw) if isinstance(one, InvalidRecord)]


def redacted_reason(record: InvalidRecord) -> str:
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


def _redact_bytes(
    raw: bytes, kinds: list[str], redact: Callable[[str], secrets.RedactedText]
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
