"""Columns of JSON: one that is damaged counts as empty, and the audit names its row."""

import json
from typing import TypeVar

T = TypeVar("T", list[object], dict[str, object])


def read(stored: object, empty: T) -> T:
    """Return a stored value, or the empty one if it is missing, damaged or of another
    type than that."""
    try:
        value = json.loads(str(stored)) if stored else empty
    except (ValueError, RecursionError):
        return empty
    return value if isinstance(value, type(empty)) else empty


def read_names(stored: object) -> tuple[str, ...]:
    """Return the texts of a stored list."""
    return as_names(read(stored, []))


def as_names(values: object) -> tuple[str, ...]:
    """Return the texts of a value if it is a list."""
    listed = values if isinstance(values, list) else []
    return tuple(value for value in listed if isinstance(value, str))


def read_keywords(stored: object) -> list[tuple[str, float]]:
    """Return the keywords of a version with their weights."""
    keywords = []
    for entry in read(stored, []):
        match entry:
            case [str(word), int() | float() as weight]:
                keywords.append((word, weight))
    return keywords


def valid(column: str) -> str:
    """Return the SQL expression of a column of JSON, which is NULL if it is damaged."""
    return f"CASE WHEN json_valid({column}) THEN {column} END"
