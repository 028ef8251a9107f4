"""Digests of rows that never change, by which ``memtui audit`` finds changed ones."""

import hashlib
import json
from collections.abc import Iterable, Mapping

DIGEST_BYTES = 16


def digest(values: Iterable[object]) -> bytes:
    """Return the digest of some values as SQLite stores them."""
    stored = [int(value) if isinstance(value, bool) else value for value in values]
    text = json.dumps(stored, ensure_ascii=False, default=bytes.hex)
    raw = text.encode("utf-8", "replace")
    return hashlib.blake2b(raw, digest_size=DIGEST_BYTES).digest()


def with_digest(row: Mapping[str, object]) -> dict[str, object]:
    """Return a row with the digest of its other columns."""
    columns = {name: value for name, value in row.items() if name != "digest"}
    return {**columns, "digest": digest(columns.values())}
