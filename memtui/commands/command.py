"""A command: one thing a person can ask for, and the keys that ask for it."""

from dataclasses import dataclass
from enum import StrEnum


class Group(StrEnum):
    """Under which heading a command stands in the help."""

    FIND = "Find"
    READ = "Read"
    MOVE = "Move"
    APP = "memtui"


@dataclass(frozen=True, slots=True)
class Command:
    """One thing a person can ask for."""

    name: str
    """The action: ``action_<name>`` does it."""
    keys: tuple[str, ...]
    """Textual's names of the keys; none for a command of the palette alone."""
    shown: str
    """The keys as a person reads them."""
    label: str
    """The word in the footer."""
    help: str
    """A whole sentence; "" where it depends on who obeys, who says it then."""
    group: Group
    in_footer: bool = False
    in_palette: bool = True
    called: str = ""
    """What the palette calls it; the word in the footer if empty."""
    rank: int = 2
    """Where a footer is narrow, what has the highest goes first; 0 stays."""
    where: str = ""
    """Where it can be done, in a whole sentence; "" where that goes without saying."""
