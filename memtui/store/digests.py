"""Digests of rows that never change, by which ``memtui audit`` finds changed ones."""

import hashlib
import json
from collections.abc import Iterable

DIGEST_BYTES = 16


def digest(values: Iterable[object]) -> bytes:
    """Return the digest of some values as SQLite stores them."""
    stored = [int(value) if isinstance(value, bool) else value for value in values]
    raw = json.dumps(stored, ensure_ascii=False).encode("utf-8", "replace")
    return hashlib.blake2b(raw, digest_size=DIGEST_BYTES).digest()
