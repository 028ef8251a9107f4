"""A hash of the input of a computation, to skip it when the input is the same."""

import hashlib


def content_hash(*parts: str) -> str:
    """Return a short hash of several texts; the limits between them count."""
    digest = hashlib.blake2b(digest_size=12)
    for part in parts:
        raw = part.encode("utf-8", "replace")
        digest.update(len(raw).to_bytes(8, "big"))
        digest.update(raw)
    return digest.hexdigest()
