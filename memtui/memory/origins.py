"""A keyword and its origin: what sort of word it is, or else who thought of it."""

from dataclasses import dataclass
from enum import StrEnum


class Origin(StrEnum):
    """Why a word is a keyword, the most telling first."""

    ERROR = "error"
    PACKAGE = "package"
    FUNCTION = "function"
    FILE = "file"
    NAME = "name"
    MODEL = "model"
    FREQUENCY = "frequency"


RANK = {origin: rank for rank, origin in enumerate(Origin)}
"""Of two origins of one word the one of lower rank counts."""


@dataclass(frozen=True, slots=True)
class Keyword:
    """A word to find a node by."""

    word: str
    origin: Origin = Origin.FREQUENCY
    weight: float = 0.0
    """How much it tells beside the node's other keywords."""
