"""A command: one thing a person can ask for, and the keys that ask for it."""

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


FINDING = (
    Command(
        "teleport",
        ("slash",),
        "/",
        "find",
        "Find any moment by a few words, and jump there.",
        Group.FIND,
        called="Find anything",
        in_footer=True,
        rank=1,
        where="It works in the contents: esc leads there.",
    ),
    Command(
        "go_to_date",
        ("g",),
        "g",
        "date",
        "Go to a year, a month, a week or a day.",
        Group.FIND,
        called="Go to a date",
        in_footer=True,
        where="It works in the contents: esc leads there.",
    ),
    Command(
        "see_sessions",
        ("s",),
        "s",
        "sessions",
        "See the sessions: with whom, of what, when and how long; and read one.",
        Group.FIND,
        called="Sessions",
    ),
    Command(
        "find_here",
        ("slash",),
        "/",
        "find",
        "",
        Group.FIND,
        called="Find here",
        rank=1,
    ),
    Command(
        "sort",
        ("S",),
        "S",
        "sort",
        "List the newest first, the oldest, the longest, those of most messages, or all"
        " by title.",
        Group.FIND,
        called="Sort the list",
        where="Sessions are sorted in their list: s.",
    ),
    Command(
        "see_days",
        ("c",),
        "c",
        "calendar",
        "See how much was said on each day, year by year, and go to one of them.",
        Group.FIND,
        called="Calendar",
        rank=3,
    ),
    Command(
        "go_back",
        ("backspace",),
        "backspace",
        "back to before",
        "Go back to where you were before a jump: by /, g, c, or b from a message.",
        Group.FIND,
        where="It works in the contents and in a session.",
    ),
    Command(
        "narrow",
        ("F",),
        "F",
        "filter",
        "Show one agent, one project or one keyword alone, everywhere; F F shows all.",
        Group.FIND,
        called="Filter by agent, project or keyword",
        in_footer=True,
        rank=5,
        where="It works in the contents, the sessions and the calendar.",
    ),
)


KEEPING = (
    Command(
        "import_histories",
        ("i",),
        "i",
        "import",
        "Look for the histories agents keep here; import them, and watch them grow.",
        Group.APP,
        called="Import conversations",
    ),
    Command(
        "see_hooks",
        ("H",),
        "H",
        "hooks",
        "See which agents tell memtui what happens, and have others tell it.",
        Group.APP,
        called="Hooks of your agents",
    ),
    Command(
        "see_quarantine",
        ("Q",),
        "Q",
        "what could not be taken",
        "See what failed and what could not be taken, and why; try that again, or drop"
        " it.",
        Group.APP,
        called="Problems: what could not be taken",
    ),
    Command(
        "see_settings",
        ("comma",),
        ",",
        "settings",
        "See every setting, what it means and who set it; and change it.",
        Group.APP,
    ),
    Command(
        "see_jobs",
        ("w",),
        "w",
        "jobs",
        "See what the workers do and what waits, the model's jobs, and how Ollama is.",
        Group.APP,
        called="Jobs: what is done behind",
        rank=4,
    ),
    Command(
        "pause_job",
        ("space",),
        "space",
        "pause",
        "Let the job the cursor is on rest, also over restarts; or resume it.",
        Group.APP,
        called="Pause or resume this job",
    ),
    Command(
        "run_now",
        ("x",),
        "x",
        "run now",
        "Ask for a run of the job the cursor is on, before all that has its time.",
        Group.APP,
        called="Run this job now",
    ),
    Command(
        "retry",
        ("t",),
        "t",
        "try again",
        "Try again to take what the cursor is on: the file, or all of its transcript.",
        Group.APP,
        called="Try this again",
        where="What can be tried again is listed by Q.",
    ),
    Command(
        "retry_all",
        ("T",),
        "T",
        "try all again",
        "Try again to take all that could not be taken.",
        Group.APP,
        rank=5,
        where="What can be tried again is listed by Q.",
    ),
    Command(
        "drop",
        ("D", "delete"),
        "D del",
        "drop",
        "Drop what the cursor is on, or all there is; you are asked first.",
        Group.APP,
        called="Drop this",
        where="What can be dropped is listed by Q.",
    ),
    Command(
        "write_change",
        ("ctrl+s",),
        "ctrl+s",
        "write",
        "Write the change that is shown into the agent's settings.",
        Group.APP,
        called="Write this change",
        where="Changes to agents' settings are shown by H.",
    ),
    Command(
        "import_once",
        ("I",),
        "I",
        "import once",
        "Import the histories as they are now, and do not watch them grow.",
        Group.APP,
        called="Import once, do not watch",
        where="i shows what can be imported.",
    ),
    Command(
        "open_demo",
        ("d",),
        "d",
        "demo",
        "Open a small made-up memory to look around in; yours is not touched.",
        Group.APP,
        called="Open the demo",
        where="The demo is offered by i, while nothing is kept.",
    ),
    Command(
        "switch_theme",
        (),
        "",
        "next theme",
        "Change the colours of the whole screen: dark, light, contrast, dusk or paper.",
        Group.APP,
    ),
    Command(
        "suspend",
        ("ctrl+z",),
        "ctrl+z",
        "put aside",
        "Put memtui aside and go to the shell; fg there brings it back as it was.",
        Group.APP,
        called="Put memtui aside",
        where="Leave what is open with esc first.",
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
        called="All keys that work here",
        in_footer=True,
        rank=0,
    ),
    Command(
        "quit",
        ("q",),
        "q ctrl+q",
        "quit",
        "Leave memtui, ctrl+q even while you type. What is under way is taken up again"
        " at the next start.",
        Group.APP,
        called="Quit memtui",
        in_footer=True,
        rank=0,
    ),
)


def _move(name: str, keys: str, shown: str, label: str, help: str) -> Command:
    keyed = tuple(keys.split())
    return Command(name, keyed, shown, label, help, Group.MOVE, in_palette=False)


MOVING = (
    _move("cursor_down", "j down", "j ↓", "down", "Move down a line."),
    _move("cursor_up", "k up", "k ↑", "up", "Move up a line."),
    _move(
        "deeper",
        "l right",
        "l →",
        "deeper",
        "",
    ),
    _move(
        "outward",
        "h left",
        "h ←",
        "outward",
        "",
    ),
    _move("page_down", "pagedown", "pgdn", "page down", "Move down a page."),
    _move("page_up", "pageup", "pgup", "page up", "Move up a page."),
    _move("first", "home", "home", "first", "Go to the first line."),
    _move("last", "end", "end", "last", "Go to the last line."),
    _move("next_pane", "tab", "tab", "next pane", "Go to the pane after this one."),
    _move("previous_pane", "shift+tab", "shift+tab", "pane before", "Go back a pane."),
)


READING = (
    Command(
        "open",
        ("enter",),
        "enter",
        "open",
        "",
        Group.READ,
        in_footer=True,
        rank=1,
        in_palette=False,
        where="There is no line here that leads further.",
    ),
    Command(
        "back",
        ("escape",),
        "esc",
        "back",
        "",
        Group.READ,
        in_palette=False,
        rank=1,
    ),
    Command(
        "fold",
        ("space",),
        "space",
        "fold",
        "",
        Group.READ,
        called="Fold or unfold",
        in_footer=True,
        rank=6,
        where="Branches and quotes are folded in the contents.",
    ),
    Command(
        "unfold_all",
        ("asterisk",),
        "*",
        "unfold all",
        "Unfold all that is below this line, up to 500 lines.",
        Group.READ,
    ),
    Command(
        "full_screen",
        ("z",),
        "z",
        "full screen",
        "Give the whole screen to the pane you are in, or put it back.",
        Group.READ,
        called="Full screen for this pane",
    ),
    Command(
        "next_peer",
        ("right_square_bracket",),
        "]",
        "next",
        "",
        Group.READ,
        called="Next of this level",
        in_footer=True,
        rank=6,
        where="Nodes follow each other in the contents.",
    ),
    Command(
        "previous_peer",
        ("left_square_bracket",),
        "[",
        "previous",
        "",
        Group.READ,
        called="Previous of this level",
        rank=7,
        where="Nodes follow each other in the contents.",
    ),
    Command(
        "next_grip",
        ("n",),
        "n",
        "next source",
        "Show the next source: of this bullet, then of the bullets after it.",
        Group.READ,
        where="Sources belong to the bullets of the contents.",
    ),
    Command(
        "previous_grip",
        ("p",),
        "p",
        "previous source",
        "Show the source before this one.",
        Group.READ,
        where="Sources belong to the bullets of the contents.",
    ),
    Command(
        "more_context",
        ("plus", "equals_sign"),
        "+",
        "more context",
        "Show more of the conversation around the source.",
        Group.READ,
        where="Only a source has more around it: it is in the contents.",
    ),
    Command(
        "less_context",
        ("minus",),
        "-",
        "less context",
        "Show less of the conversation around the source.",
        Group.READ,
        where="Only a source has more around it: it is in the contents.",
    ),
    Command(
        "show_withheld",
        ("u",),
        "u",
        "more",
        "Show what a model claimed and no source says, or hide it again.",
        Group.READ,
        called="Show or hide what was withheld",
        where="Claims are withheld on the pages of the contents.",
    ),
    Command(
        "copy_citation",
        ("y",),
        "y",
        "copy citation",
        "",
        Group.READ,
        where="Sources, which can be cited, are in the contents.",
    ),
    Command(
        "see_versions",
        ("v",),
        "v",
        "versions",
        "See every version of this node, and choose which of them is shown.",
        Group.READ,
        called="Versions of this node",
        where="Versions belong to the nodes of the contents.",
    ),
    Command(
        "pin",
        ("P",),
        "P",
        "pin",
        "Show this version, whatever comes after it; or let it go if it is pinned.",
        Group.READ,
        called="Pin this version",
        where="Versions are pinned in their list: v, on a node of the contents.",
    ),
    Command(
        "ask_anew",
        ("R",),
        "R",
        "ask anew",
        "Ask for a new version by a model, before all that nobody asked for.",
        Group.READ,
        called="Ask a model for a new version",
        where="A model is asked anew from the versions: v, on a node of the contents.",
    ),
    Command(
        "next_question",
        ("right_square_bracket",),
        "]",
        "next of yours",
        "Go to the next thing you said in this session.",
        Group.READ,
        called="Next thing you said",
        in_footer=True,
        rank=5,
    ),
    Command(
        "previous_question",
        ("left_square_bracket",),
        "[",
        "yours before",
        "Go to what you said before in this session.",
        Group.READ,
        called="Previous thing you said",
    ),
    Command(
        "next_match",
        ("n",),
        "n",
        "next match",
        "Go to the next of the words that were found in this session.",
        Group.READ,
    ),
    Command(
        "previous_match",
        ("p", "N"),
        "p N",
        "match before",
        "Go to the match before in this session.",
        Group.READ,
        called="Match before",
    ),
    Command(
        "show_thinking",
        ("t",),
        "t",
        "thinking",
        "Show what the model thought before it spoke, or hide it again.",
        Group.READ,
        called="Show or hide thinking",
    ),
    Command(
        "see_place",
        ("b",),
        "b",
        "in the contents",
        "Go to the stretch of the contents that this message belongs to.",
        Group.READ,
        called="Show this in the contents",
    ),
    Command(
        "resume",
        ("r",),
        "r",
        "resume",
        "Take this session up again in its agent; the command is shown first.",
        Group.READ,
        called="Resume this session in its agent",
        in_footer=True,
    ),
    Command(
        "export",
        ("e",),
        "e",
        "export",
        "Write this session into a file, as Markdown.",
        Group.READ,
        called="Export this session as Markdown",
        in_footer=True,
    ),
    Command(
        "edit",
        ("o",),
        "o",
        "open in your editor",
        "Open this session as Markdown in $VISUAL or $EDITOR.",
        Group.READ,
        called="Open this session in your editor",
    ),
)


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
