"""The one table of commands: bindings, footer, palette and help all come from it.

A command is called ``name``; whoever can do it has a method ``action_<name>``. The
same key means the same thing everywhere, so a widget says only which rows it obeys.
"""

from textual.binding import Binding, BindingType

from memtui.commands.command import Command, Group
from memtui.commands.finding import FINDING
from memtui.commands.keeping import KEEPING
from memtui.commands.moving import MOVING
from memtui.commands.reading import READING

__all__ = ["COMMANDS", "Command", "Group", "bindings", "named", "why_not"]

COMMANDS = (*FINDING, *READING, *MOVING, *KEEPING)
"""Every command, in the order of footer, palette and help."""

_BY_NAME = {command.name: command for command in COMMANDS}


def named(name: str) -> Command:
    """The row of a command.

    Raises:
        KeyError: There is no such command.
    """
    return _BY_NAME[name]


def bindings(*names: str, in_footer: bool = False, **says: str) -> list[BindingType]:
    """The bindings of these commands, in the order of the table.

    Args:
        names: Which commands.
        in_footer: Whether all of them are shown in the footer, not only those that
            are wherever they can be done.
        says: More of them, each with what it does here, in a whole sentence.

    Raises:
        KeyError: There is no such command.
        ValueError: What one of them does here is said nowhere.
    """
    rows = sorted({named(name) for name in (*names, *says)}, key=COMMANDS.index)
    if silent := [one.name for one in rows if not (says.get(one.name) or one.help)]:
        raise ValueError(f"nobody says what {', '.join(silent)} does here")
    return [
        Binding(
            ",".join(row.keys),
            row.name,
            row.label,
            show=in_footer or row.in_footer,
            key_display=row.shown.split()[0],
            tooltip=says.get(row.name) or row.help,
            id=row.name,
        )
        for row in rows
        if row.keys
    ]


def why_not(key: str) -> str:
    """What to say where a key does nothing; "" if no command has it.

    Args:
        key: Textual's name of it.
    """
    rows = [row for row in COMMANDS if key in row.keys]
    if not rows:
        return ""
    shown = _shown(rows[0], key)
    labels = " or ".join(dict.fromkeys(row.label for row in rows))
    where = next((row.where for row in rows if row.where), "")
    return f"{shown} ({labels}) does nothing here. {where}".rstrip()


def _shown(row: Command, key: str) -> str:
    """One key of several as a person reads it."""
    shown = row.shown.split()
    place = row.keys.index(key)
    return shown[place] if place < len(shown) else shown[0]
