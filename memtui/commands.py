"""The one table of commands: bindings, footer, palette and help all come from it.

A command is called ``name``; whoever can do it has a method ``action_<name>``. The
same key means the same thing everywhere, so a widget says only which rows it obeys.
"""

from dataclasses import dataclass
from enum import StrEnum

from textual.binding import Binding, BindingType


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
    """The word in the footer and the palette."""
    help: str
    """A whole sentence."""
    group: Group
    in_footer: bool = False
    in_palette: bool = True


def _move(name: str, keys: str, shown: str, label: str, help: str) -> Command:
    keyed = tuple(keys.split())
    return Command(name, keyed, shown, label, help, Group.MOVE, in_palette=False)


COMMANDS = (
    Command(
        "teleport",
        ("slash",),
        "/",
        "teleport",
        "Find any moment by a few words, and jump there.",
        Group.FIND,
        in_footer=True,
    ),
    Command(
        "go_to_date",
        ("g",),
        "g",
        "date",
        "Go to a year, a month, a week or a day.",
        Group.FIND,
        in_footer=True,
    ),
    Command(
        "open",
        ("enter",),
        "enter",
        "open",
        "Open what the cursor is on: the page of a node, the source of a bullet.",
        Group.READ,
        in_footer=True,
        in_palette=False,
    ),
    Command(
        "back",
        ("escape",),
        "esc",
        "back",
        "Go back outward: from a source to its node, from a node to the contents.",
        Group.READ,
        in_palette=False,
    ),
    Command(
        "fold",
        ("space",),
        "space",
        "fold",
        "Fold or unfold a branch of the contents, or the quotes of a bullet.",
        Group.READ,
        in_footer=True,
    ),
    Command(
        "next_peer",
        ("right_square_bracket",),
        "]",
        "next",
        "Go to the next node of this level, down the list and so further back in time.",
        Group.READ,
        in_footer=True,
    ),
    Command(
        "previous_peer",
        ("left_square_bracket",),
        "[",
        "previous",
        "Go to the node of this level before, up the list and so nearer to today.",
        Group.READ,
    ),
    Command(
        "next_grip",
        ("n",),
        "n",
        "next source",
        "Show the next source: of this bullet, then of the bullets after it.",
        Group.READ,
    ),
    Command(
        "previous_grip",
        ("p",),
        "p",
        "previous source",
        "Show the source before this one.",
        Group.READ,
    ),
    Command(
        "more_context",
        ("plus", "equals_sign"),
        "+",
        "more context",
        "Show more of the conversation around the source.",
        Group.READ,
    ),
    Command(
        "less_context",
        ("minus",),
        "-",
        "less context",
        "Show less of the conversation around the source.",
        Group.READ,
    ),
    Command(
        "show_withheld",
        ("u",),
        "u",
        "more",
        "Show what a model claimed and no source says, or hide it again.",
        Group.READ,
    ),
    Command(
        "copy_citation",
        ("y",),
        "y",
        "copy citation",
        "Copy the quote, and where it stands, to the clipboard.",
        Group.READ,
    ),
    Command(
        "see_versions",
        ("v",),
        "v",
        "versions",
        "See every version of this node, and choose which of them is shown.",
        Group.READ,
    ),
    Command(
        "pin",
        ("P",),
        "P",
        "pin",
        "Show this version, whatever comes after it; or let it go if it is pinned.",
        Group.READ,
        in_palette=False,
    ),
    Command(
        "ask_anew",
        ("A",),
        "A",
        "ask anew",
        "Ask for a new version by a model, before all that nobody asked for.",
        Group.READ,
        in_palette=False,
    ),
    _move("cursor_down", "j down", "j ↓", "down", "Move down a line."),
    _move("cursor_up", "k up", "k ↑", "up", "Move up a line."),
    _move("deeper", "right", "→", "deeper", "Unfold, or go into what is unfolded."),
    _move("outward", "left", "←", "outward", "Fold, or go to what this belongs to."),
    _move("page_down", "pagedown", "pgdn", "page down", "Move down a page."),
    _move("page_up", "pageup", "pgup", "page up", "Move up a page."),
    _move("first", "home", "home", "first", "Go to the first line."),
    _move("last", "end", "end", "last", "Go to the last line."),
    _move("next_pane", "tab", "tab", "next pane", "Go to the pane after this one."),
    _move("previous_pane", "shift+tab", "shift+tab", "pane before", "Go back a pane."),
    Command(
        "import_histories",
        ("i",),
        "i",
        "import",
        "Look for the histories agents keep here; import them, and watch them grow.",
        Group.APP,
    ),
    Command(
        "see_hooks",
        ("H",),
        "H",
        "hooks",
        "See which agents tell memtui what happens, and have others tell it.",
        Group.APP,
    ),
    Command(
        "see_quarantine",
        ("Q",),
        "Q",
        "what could not be taken",
        "See what could not be taken, and why; try it again, or drop it.",
        Group.APP,
    ),
    Command(
        "retry",
        ("t",),
        "t",
        "try again",
        "Try again to take what the cursor is on: the file, or all of its transcript.",
        Group.APP,
        in_palette=False,
    ),
    Command(
        "retry_all",
        ("T",),
        "T",
        "try all again",
        "Try again to take all that could not be taken.",
        Group.APP,
        in_palette=False,
    ),
    Command(
        "drop",
        ("D", "delete"),
        "D del",
        "drop",
        "Drop what the cursor is on, or all there is; you are asked first.",
        Group.APP,
        in_palette=False,
    ),
    Command(
        "write_change",
        ("ctrl+s",),
        "ctrl+s",
        "write",
        "Write the change that is shown into the agent's settings.",
        Group.APP,
        in_palette=False,
    ),
    Command(
        "import_once",
        ("o",),
        "o",
        "import once",
        "Import the histories as they are now, and do not watch them grow.",
        Group.APP,
        in_palette=False,
    ),
    Command(
        "open_demo",
        ("d",),
        "d",
        "demo",
        "Open a small made-up memory to look around in; yours is not touched.",
        Group.APP,
        in_palette=False,
    ),
    Command(
        "switch_theme",
        (),
        "",
        "Switch between dark and light",
        "Change the colours of the whole screen.",
        Group.APP,
    ),
    Command(
        "palette",
        ("ctrl+p",),
        "ctrl+p",
        "all commands",
        "Find a command by its name.",
        Group.APP,
        in_palette=False,
    ),
    Command(
        "help",
        ("question_mark",),
        "?",
        "all keys",
        "Show every key and what it does here.",
        Group.APP,
        in_footer=True,
    ),
    Command(
        "quit",
        ("q",),
        "q ctrl+q",
        "quit",
        "Leave memtui, ctrl+q even while you type. What is under way is taken up again"
        " at the next start.",
        Group.APP,
        in_footer=True,
    ),
)
"""Every command, in the order of footer, palette and help."""

_BY_NAME = {command.name: command for command in COMMANDS}


def named(name: str) -> Command:
    """The row of a command.

    Raises:
        KeyError: There is no such command.
    """
    return _BY_NAME[name]


def bindings(*names: str, in_footer: bool = False) -> list[BindingType]:
    """The bindings of these commands, in the order of the table.

    Args:
        names: Which commands.
        in_footer: Whether all of them are shown in the footer, not only those that
            are wherever they can be done.
    """
    rows = [command for command in COMMANDS if command.name in names and command.keys]
    return [
        Binding(
            ",".join(row.keys),
            row.name,
            row.label,
            show=in_footer or row.in_footer,
            key_display=row.shown.split()[0],
            tooltip=row.help,
            id=row.name,
        )
        for row in rows
    ]
