"""The table of commands: the source of bindings, key line, palette and help."""

from dataclasses import dataclass

from textual.binding import Binding, BindingType
from textual.keys import format_key


@dataclass(frozen=True, slots=True)
class Command:
    """One thing the user can do."""

    name: str
    """The action: ``action_<name>`` runs it."""
    keys: str
    """Textual's names of the keys; none for commands of the palette alone."""
    label: str
    """The label in the footer."""
    help: str = ""
    """A whole sentence; empty where each binding has its own."""
    in_footer: bool = False
    in_palette: bool = True
    rank: int = 2
    """The highest leaves a narrow footer first; 0 stays."""

    @property
    def shown(self) -> str:
        """The keys as they are shown."""
        return " ".join(_shown(key) for key in self.keys.split() if key not in HIDDEN)


NAMED = ("enter", "backspace")
"""Keys that are shown by their names, for which Textual has symbols."""

HIDDEN = ("equals_sign",)
"""Keys that are not shown: "=" is "+" without shift."""

FINDING = (
    Command(
        "search",
        "slash",
        "find",
        "Search everything and jump to a hit.",
        in_footer=True,
        rank=1,
    ),
    Command(
        "go_to_date", "g", "date", "Go to a year, month, week or day.", in_footer=True
    ),
    Command("show_sessions", "s", "sessions", "List all sessions, and read one."),
    Command("find_here", "slash", "find", rank=1),
    Command(
        "sort",
        "S",
        "sort",
        "Change the order: newest, oldest, longest, most messages, or title.",
    ),
    Command(
        "show_calendar",
        "c",
        "calendar",
        "Show the activity of each day, year by year, and go to a day.",
        rank=3,
    ),
    Command(
        "jump_back",
        "backspace",
        "jump back",
        "Go back to where you were before the last jump.",
    ),
    Command(
        "filter",
        "F",
        "filter",
        "Show only one agent, project or keyword on all screens; F F shows all.",
        in_footer=True,
        rank=5,
    ),
)

READING = (
    Command("open", "enter", "open", in_footer=True, in_palette=False, rank=1),
    Command("back", "escape", "back", in_palette=False, rank=1),
    Command("toggle_expanded", "space", "expand", in_footer=True, rank=6),
    Command(
        "expand_all",
        "asterisk",
        "expand all",
        "Expand everything below this line, up to 500 lines.",
    ),
    Command(
        "zoom",
        "z",
        "zoom",
        "Zoom this pane to the whole screen, or show all panes again.",
    ),
    Command("older_sibling", "right_square_bracket", "older", in_footer=True, rank=6),
    Command("newer_sibling", "left_square_bracket", "newer", rank=7),
    Command(
        "next_source",
        "n",
        "next source",
        "Show the next source of this bullet, then those of the following bullets.",
    ),
    Command("previous_source", "p", "previous source", "Show the previous source."),
    Command(
        "more_context",
        "plus equals_sign",
        "more context",
        "Show more of the conversation around the source.",
    ),
    Command(
        "less_context",
        "minus",
        "less context",
        "Show less of the conversation around the source.",
    ),
    Command(
        "show_withheld",
        "u",
        "unsupported",
        "Show or hide the claims of a model that no source supports.",
    ),
    Command("copy_citation", "y", "copy citation"),
    Command(
        "show_versions",
        "v",
        "versions",
        "Show all versions of this node, and choose which one is shown.",
    ),
    Command(
        "pin",
        "P",
        "pin",
        "Pin this version, so that no newer one replaces it; or unpin it.",
    ),
    Command(
        "regenerate",
        "R",
        "regenerate",
        "Ask a model for a new version, before its scheduled work.",
    ),
    Command(
        "next_prompt",
        "right_square_bracket",
        "next prompt",
        "Go to your next prompt in this session.",
        in_footer=True,
        rank=5,
    ),
    Command(
        "previous_prompt",
        "left_square_bracket",
        "previous prompt",
        "Go to your previous prompt in this session.",
    ),
    Command("next_match", "n", "next match", "Go to the next match in this session."),
    Command(
        "previous_match",
        "p N",
        "previous match",
        "Go to the previous match in this session.",
    ),
    Command("toggle_thinking", "t", "thinking", "Show or hide the model's thinking."),
    Command(
        "show_in_contents",
        "b",
        "in the contents",
        "Show this message's segment in the contents.",
    ),
    Command(
        "resume",
        "r",
        "resume",
        "Resume this session in its agent; the command is shown first.",
        in_footer=True,
    ),
    Command(
        "export",
        "e",
        "export",
        "Export this session to a file, as Markdown.",
        in_footer=True,
    ),
    Command(
        "edit",
        "o",
        "open in editor",
        "Open this session as Markdown in $VISUAL or $EDITOR.",
    ),
)

MOVING = (
    Command("cursor_down", "j down", "down", "Move down a line."),
    Command("cursor_up", "k up", "up", "Move up a line."),
    Command("deeper", "l right", "deeper"),
    Command("outward", "h left", "outward"),
    Command("page_down", "pagedown", "page down", "Move down a page."),
    Command("page_up", "pageup", "page up", "Move up a page."),
    Command("first", "home", "first", "Go to the first line."),
    Command("last", "end", "last", "Go to the last line."),
    Command("next_pane", "tab", "next pane", "Go to the next pane."),
    Command("previous_pane", "shift+tab", "previous pane", "Go to the previous pane."),
)

MANAGING = (
    Command(
        "import_histories",
        "i",
        "import",
        "Find agents' conversations on this machine, and import them.",
    ),
    Command(
        "show_hooks",
        "H",
        "hooks",
        "Show which agents are captured live, and install or remove hooks.",
    ),
    Command(
        "show_skipped",
        "Q",
        "skipped input",
        "Show failures and skipped input, and retry or dismiss it.",
    ),
    Command(
        "show_settings",
        "comma",
        "settings",
        "Show all settings and their meaning, and change them.",
    ),
    Command(
        "show_jobs",
        "w",
        "jobs",
        "Show the queues, the model's jobs, and the state of the model.",
        rank=4,
    ),
    Command(
        "pause_job",
        "space",
        "pause",
        "Pause or resume this job; a restart does not change that.",
    ),
    Command("run_now", "x", "run now", "Run this job next."),
    Command(
        "retry",
        "t",
        "retry",
        "Retry this entry: the hook file, or the whole transcript.",
    ),
    Command("retry_all", "T", "retry all", "Retry all entries.", rank=5),
    Command(
        "dismiss_entry",
        "D delete",
        "dismiss",
        "Dismiss this entry or all entries, after a confirmation.",
    ),
    Command(
        "write_change", "ctrl+s", "write", "Write the change to the agent's settings."
    ),
    Command(
        "import_once",
        "I",
        "import once",
        "Import what was found, without watching for new messages.",
    ),
    Command("open_demo", "d", "demo", "Open the demo, which has its own sample data."),
    Command(
        "switch_theme",
        "",
        "next theme",
        "Switch to the next theme: dark, light, contrast, dusk or paper.",
    ),
    Command(
        "suspend",
        "ctrl+z",
        "suspend",
        "Suspend memtui and return to the shell; fg brings it back.",
    ),
    Command(
        "palette",
        "ctrl+p",
        "all commands",
        "Find a command by its name.",
        in_palette=False,
    ),
    Command(
        "help",
        "question_mark",
        "all keys",
        "Show all keys and what they do here.",
        in_footer=True,
        rank=0,
    ),
    Command(
        "quit",
        "q",
        "quit",
        "Quit memtui; ctrl+q works while you type, too.",
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
        in_footer: Show all of them in the footer, not only those always shown.
        help: More commands, each with its help text for this binding.

    Raises:
        ValueError: A command has no help text, neither here nor in the table.
    """
    rows = sorted({get_command(name) for name in (*names, *help)}, key=COMMANDS.index)
    if missing := [one.name for one in rows if not (help.get(one.name) or one.help)]:
        raise ValueError(f"no help text for {', '.join(missing)}")
    return [
        Binding(
            ",".join(row.keys.split()),
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
    """Return what to show when a key does nothing; empty for an unknown key."""
    labels = dict.fromkeys(row.label for row in COMMANDS if key in row.keys.split())
    if not labels:
        return ""
    return f"{_shown(key)} ({' or '.join(labels)}) does nothing here."


def _shown(key: str) -> str:
    return key if key in NAMED else format_key(key)
