"""Counts and sizes as text."""


def plural(count: int, noun: str, plural_noun: str = "") -> str:
    """Return a count with its noun: ``1 session``, ``1,204 sessions``."""
    return f"{count:,} {noun if count == 1 else plural_noun or noun + 's'}"


def byte_size(count: float) -> str:
    """Return a number of bytes: ``1 byte``, ``1.2 kB``, ``232 MB``."""
    if count < 1000:
        return plural(int(count), "byte")
    for unit in ("kB", "MB", "GB"):
        count /= 1000
        if count < 1000:
            return f"{count:.1f} {unit}" if count < 10 else f"{count:.0f} {unit}"
    return f"{count / 1000:.1f} TB"
