"""The table of commands: the source of bindings, footer, palette and help."""

from dataclasses import dataclass
from enum import StrEnum

from textual.binding import Binding, BindingType


class Group(StrEnum):
    """The section of the table a command belongs to."""

    FIND = "Find"
    READ = "Read"
    MOVE = "Move"
    APP = "memtui"


@dataclass(frozen=True, slots=True)
class Command:
    """One thing the user can do."""

    name: str
    """The action: ``action_<name>`` runs it."""
    keys: tuple[str, ...]
    """Textual's names of the keys; none for commands of the palette alone."""
    shown: str
    """The keys as they are shown."""
    label: str
    """The label in the footer."""
    help: str
    """A whole sentence; empty where each binding has its own."""
    group: Group
    in_footer: bool = False
    in_palette: bool = True
    title: str = ""
    """The title in the palette; the label if empty."""
    rank: int = 2
    """The highest leaves a narrow footer first; 0 stays."""
    where: str = ""
    """Where it works, if its key is pressed elsewhere."""


FINDING = (
    Command(
        "teleport",
        ("slash",),
        "/",
        "find",
        "Search everything and jump to a hit.",
        Group.FIND,
        title="Search everything",
        in_footer=True,
        rank=1,
    ),
    Command(
        "go_to_date",
        ("g",),
        "g",
        "date",
        "Go to a year, month, week or day.",
        Group.FIND,
        title="Go to a date",
        in_footer=True,
        where="in the contents and the calendar",
    ),
    Command(
        "show_sessions",
        ("s",),
        "s",
        "sessions",
        "List all sessions, and read one.",
        Group.FIND,
        title="Sessions",
    ),
    Command(
        "find_here",
        ("slash",),
        "/",
        "find",
        "",
        Group.FIND,
        title="Find here",
        rank=1,
    ),
    Command(
        "sort",
        ("S",),
        "S",
        "sort",
        "Change the order: newest, oldest, longest, most messages, or title.",
        Group.FIND,
        title="Sort the list",
        where="in the list of sessions (s)",
    ),
    Command(
        "show_calendar",
        ("c",),
        "c",
        "calendar",
        "Show the activity of each day, year by year, and go to a day.",
        Group.FIND,
        title="Calendar",
        rank=3,
    ),
    Command(
        "jump_back",
        ("backspace",),
        "backspace",
        "jump back",
        "Go back to where you were before the last jump.",
        Group.FIND,
        where="in the contents and in a session",
    ),
    Command(
        "filter",
        ("F",),
        "F",
        "filter",
        "Show only one agent, project or keyword on all screens; F F shows all.",
        Group.FIND,
        title="Filter by agent, project or keyword",
        in_footer=True,
        rank=5,
        where="in the contents, the sessions and the calendar",
    ),
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
        "toggle_expanded",
        ("space",),
        "space",
        "expand",
        "",
        Group.READ,
        title="Expand or collapse",
        in_footer=True,
        rank=6,
    ),
    Command(
        "expand_all",
        ("asterisk",),
        "*",
        "expand all",
        "Expand everything below this line, up to 500 lines.",
        Group.READ,
    ),
    Command(
        "zoom",
        ("z",),
        "z",
        "zoom",
        "Zoom this pane to the whole screen, or show all panes again.",
        Group.READ,
        title="Zoom this pane",
    ),
    Command(
        "older_sibling",
        ("right_square_bracket",),
        "]",
        "older",
        "",
        Group.READ,
        title="Older sibling",
        in_footer=True,
        rank=6,
        where="in the contents, the calendar and a session",
    ),
    Command(
        "newer_sibling",
        ("left_square_bracket",),
        "[",
        "newer",
        "",
        Group.READ,
        title="Newer sibling",
        rank=7,
        where="in the contents, the calendar and a session",
    ),
    Command(
        "next_source",
        ("n",),
        "n",
        "next source",
        "Show the next source of this bullet, then those of the following bullets.",
        Group.READ,
        where="in the contents and in a session",
    ),
    Command(
        "previous_source",
        ("p",),
        "p",
        "previous source",
        "Show the previous source.",
        Group.READ,
        where="in the contents and in a session",
    ),
    Command(
        "more_context",
        ("plus", "equals_sign"),
        "+",
        "more context",
        "Show more of the conversation around the source.",
        Group.READ,
        where="in the contents",
    ),
    Command(
        "less_context",
        ("minus",),
        "-",
        "less context",
        "Show less of the conversation around the source.",
        Group.READ,
        where="in the contents",
    ),
    Command(
        "show_withheld",
        ("u",),
        "u",
        "unsupported",
        "Show or hide the claims of a model that no source supports.",
        Group.READ,
        title="Show or hide unsupported claims",
        where="in the contents",
    ),
    Command(
        "copy_citation",
        ("y",),
        "y",
        "copy citation",
        "",
        Group.READ,
        where="in the contents and in a session",
    ),
    Command(
        "show_versions",
        ("v",),
        "v",
        "versions",
        "Show all versions of this node, and choose which one is shown.",
        Group.READ,
        title="Versions of this node",
        where="in the contents",
    ),
    Command(
        "pin",
        ("P",),
        "P",
        "pin",
        "Pin this version, so that no newer one replaces it; or unpin it.",
        Group.READ,
        title="Pin this version",
        where="in the versions of a node (v)",
    ),
    Command(
        "regenerate",
        ("R",),
        "R",
        "regenerate",
        "Ask a model for a new version, before its scheduled work.",
        Group.READ,
        title="Regenerate with a model",
        where="in the versions of a node (v)",
    ),
    Command(
        "next_prompt",
        ("right_square_bracket",),
        "]",
        "next prompt",
        "Go to your next prompt in this session.",
        Group.READ,
        title="Next prompt",
        in_footer=True,
        rank=5,
    ),
    Command(
        "previous_prompt",
        ("left_square_bracket",),
        "[",
        "previous prompt",
        "Go to your previous prompt in this session.",
        Group.READ,
        title="Previous prompt",
    ),
    Command(
        "next_match",
        ("n",),
        "n",
        "next match",
        "Go to the next match in this session.",
        Group.READ,
    ),
    Command(
        "previous_match",
        ("p", "N"),
        "p N",
        "previous match",
        "Go to the previous match in this session.",
        Group.READ,
    ),
    Command(
        "toggle_thinking",
        ("t",),
        "t",
        "thinking",
        "Show or hide the model's thinking.",
        Group.READ,
        title="Show or hide thinking",
        where="in a session, and as retry on skipped input (Q)",
    ),
    Command(
        "show_in_contents",
        ("b",),
        "b",
        "in the contents",
        "Show this message's segment in the contents.",
        Group.READ,
        title="Show this in the contents",
        where="in a session",
    ),
    Command(
        "resume",
        ("r",),
        "r",
        "resume",
        "Resume this session in its agent; the command is shown first.",
        Group.READ,
        title="Resume this session in its agent",
        in_footer=True,
        where="in a session",
    ),
    Command(
        "export",
        ("e",),
        "e",
        "export",
        "Export this session to a file, as Markdown.",
        Group.READ,
        title="Export this session as Markdown",
        in_footer=True,
        where="in a session",
    ),
    Command(
        "edit",
        ("o",),
        "o",
        "open in editor",
        "Open this session as Markdown in $VISUAL or $EDITOR.",
        Group.READ,
        title="Open this session in your editor",
        where="in a session",
    ),
)


def _move(name: str, keys: str, shown: str, label: str, help: str) -> Command:
    key_names = tuple(keys.split())
    return Command(name, key_names, shown, label, help, Group.MOVE, in_palette=False)


MOVING = (
    _move("cursor_down", "j down", "j ↓", "down", "Move down a line."),
    _move("cursor_up", "k up", "k ↑", "up", "Move up a line."),
    _move("deeper", "l right", "l →", "deeper", ""),
    _move("outward", "h left", "h ←", "outward", ""),
    _move("page_down", "pagedown", "pgdn", "page down", "Move down a page."),
    _move("page_up", "pageup", "pgup", "page up", "Move up a page."),
    _move("first", "home", "home", "first", "Go to the first line."),
    _move("last", "end", "end", "last", "Go to the last line."),
    _move("next_pane", "tab", "tab", "next pane", "Go to the next pane."),
    _move(
        "previous_pane",
        "shift+tab",
        "shift+tab",
        "previous pane",
        "Go to the previous pane.",
    ),
)

MANAGING = (
    Command(
        "import_histories",
        ("i",),
        "i",
        "import",
        "Find agents' conversations on this machine, and import them.",
        Group.APP,
        title="Import conversations",
    ),
    Command(
        "show_hooks",
        ("H",),
        "H",
        "hooks",
        "Show which agents are captured live, and install or remove hooks.",
        Group.APP,
        title="Hooks: live capture",
    ),
    Command(
        "show_skipped",
        ("Q",),
        "Q",
        "skipped input",
        "Show failures and skipped input, and retry or dismiss it.",
        Group.APP,
        title="Problems and skipped input",
    ),
    Command(
        "show_settings",
        ("comma",),
        ",",
        "settings",
        "Show all settings and their meaning, and change them.",
        Group.APP,
    ),
    Command(
        "show_jobs",
        ("w",),
        "w",
        "jobs",
        "Show the queues, the model's jobs, and the state of the model.",
        Group.APP,
        title="Jobs",
        rank=4,
    ),
    Command(
        "pause_job",
        ("space",),
        "space",
        "pause",
        "Pause or resume this job; a restart does not change that.",
        Group.APP,
        title="Pause or resume this job",
    ),
    Command(
        "run_now",
        ("x",),
        "x",
        "run now",
        "Run this job next.",
        Group.APP,
        title="Run this job now",
        where="in the jobs (w)",
    ),
    Command(
        "retry",
        ("t",),
        "t",
        "retry",
        "Retry this entry: the hook file, or the whole transcript.",
        Group.APP,
        title="Retry this entry",
    ),
    Command(
        "retry_all",
        ("T",),
        "T",
        "retry all",
        "Retry all entries.",
        Group.APP,
        rank=5,
        where="on skipped input (Q)",
    ),
    Command(
        "dismiss_entry",
        ("D", "delete"),
        "D del",
        "dismiss",
        "Dismiss this entry or all entries, after a confirmation.",
        Group.APP,
        title="Dismiss this entry",
        where="on skipped input (Q)",
    ),
    Command(
        "write_change",
        ("ctrl+s",),
        "ctrl+s",
        "write",
        "Write the change to the agent's settings.",
        Group.APP,
        title="Write this change",
        where="in the hooks (H), where a change is shown",
    ),
    Command(
        "import_once",
        ("I",),
        "I",
        "import once",
        "Import what was found, without watching for new messages.",
        Group.APP,
        title="Import once, without watching",
        where="on the import screen (i)",
    ),
    Command(
        "open_demo",
        ("d",),
        "d",
        "demo",
        "Open the demo, which has its own sample data.",
        Group.APP,
        title="Open the demo",
        where="on the import screen (i)",
    ),
    Command(
        "switch_theme",
        (),
        "",
        "next theme",
        "Switch to the next theme: dark, light, contrast, dusk or paper.",
        Group.APP,
    ),
    Command(
        "suspend",
        ("ctrl+z",),
        "ctrl+z",
        "suspend",
        "Suspend memtui and return to the shell; fg brings it back.",
        Group.APP,
        where="outside dialogs",
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
        "Show all keys and what they do here.",
        Group.APP,
        title="All keys",
        in_footer=True,
        rank=0,
    ),
    Command(
        "quit",
        ("q",),
        "q ctrl+q",
        "quit",
        "Quit memtui; ctrl+q works while you type, too. Interrupted work continues at"
        " the next start.",
        Group.APP,
        title="Quit memtui",
        in_footer=True,
        rank=0,
    ),
)

COMMANDS = (*FINDING, *READING, *MOVING, *MANAGING)
"""All commands, in the order of footer, palette and help."""

_BY_NAME = {command.name: command for command in COMMANDS}


def get_command(name: str) -> Command:
    """Return a command by its name; raise KeyError if there is none."""
    return _BY_NAME[name]


def bindings(*names: str, in_footer: bool = False, **help: str) -> list[BindingType]:
    """Return the bindings of commands, in the order of the table.

    Args:
        names: The commands.
        in_footer: Show all of them in the footer, not only those always shown.
        help: More commands, each with its help text for this binding.

    Raises:
        KeyError: There is no such command.
        ValueError: A command has no help text, neither here nor in the table.
    """
    rows = sorted({get_command(name) for name in (*names, *help)}, key=COMMANDS.index)
    if missing := [one.name for one in rows if not (help.get(one.name) or one.help)]:
        raise ValueError(f"no help text for {', '.join(missing)}")
    return [
        Binding(
            ",".join(row.keys),
            row.name,
            row.label,
            show=in_footer or row.in_footer,
            key_display=row.shown.split()[0],
            tooltip=help.get(row.name) or row.help,
            id=row.name,
        )
        for row in rows
        if row.keys
    ]


def explain_idle_key(key: str) -> str:
    """Return what to show when a key does nothing; empty for an unknown key.

    Args:
        key: Textual's name of the key.
    """
    rows = [row for row in COMMANDS if key in row.keys]
    if not rows:
        return ""
    shown = _shown(rows[0], key)
    labels = " or ".join(dict.fromkeys(row.label for row in rows))
    where = next((row.where for row in rows if row.where), "")
    what = f"works only {where}" if where else "does nothing here"
    return f"{shown} ({labels}) {what}."


def _shown(row: Command, key: str) -> str:
    shown = row.shown.split()
    place = row.keys.index(key)
    return shown[place] if place < len(shown) else shown[0]
