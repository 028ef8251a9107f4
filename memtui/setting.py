"""What a setting is."""

from collections.abc import Callable
from dataclasses import dataclass

Value = str | int | float | bool | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting."""

    name: str
    """``section.key``."""
    default: Value
    says: str
    """What it means, in whole sentences."""
    unit: str = ""
    choices: tuple[str, ...] = ()
    """What the text, or each text of a list, may be; anything if empty."""
    least: float | None = None
    """The least a number may be."""
    check: Callable[[str], str] | None = None
    """Says what is wrong with a text; "" if nothing is."""
