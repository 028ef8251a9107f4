"""A hash of what something was made from: equal input needs no second making."""

import hashlib


def content_hash(*parts: str) -> str:
    """A short hash of a row of texts; where one ends and the next begins counts."""
    told = hashlib.blake2b(digest_size=12)
    for part in parts:
        raw = part.encode("utf-8", "replace")
        told.update(len(raw).to_bytes(8, "big"))
        told.update(raw)
    return told.hexdigest()
