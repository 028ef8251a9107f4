"""Numbers as text: counts and sizes that are shown, numbers that are typed."""

from contextlib import suppress

MAX_NUMBER = 2**53
"""Up to this number a float represents every whole number exactly."""


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


def check_number(
    value: object,
    *,
    is_whole: bool = True,
    minimum: float | None = None,
    maximum: float | None = None,
) -> int | float:
    """Return a number that is given as such or as text.

    Raises:
        ValueError: It is not a number, or not within the bounds; the message says what
            is expected: "a whole number from 1 to 50".
    """
    number = value
    if isinstance(value, str):
        with suppress(ValueError):
            number = float(value)
    if isinstance(number, int | float) and not isinstance(number, bool):
        is_high_enough = minimum is None or number >= minimum
        is_low_enough = maximum is None or number <= maximum
        is_exact = -MAX_NUMBER <= number <= MAX_NUMBER  # not so for nan and inf
        if is_exact and is_high_enough and is_low_enough:
            if not is_whole:
                return float(number)
            if number == int(number):
                return int(number)
    expected = "a whole number" if is_whole else "a number"
    if minimum is not None:
        expected += f" from {minimum:,}"
    if maximum is not None:
        expected += f" to {maximum:,}"
    raise ValueError(expected)
