"""The table of commands: the source of bindings, footer, palette and help."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.command import CommandList, CommandPalette, SearchIcon
from textual.dom import DOMNode
from textual.keys import format_key
from textual.screen import Screen

from memtui.tui import themes


@dataclass(frozen=True, slots=True)
class Command:
    """One thing the user can do."""

    name: str
    """The action: ``action_<name>`` runs it."""
    keys: str
    """Textual's names of the keys; none for commands that are only in the palette."""
    help: str = ""
    """A whole sentence; empty where each binding has its own."""
    label: str = ""
    """The label in the footer, by default the name."""
    in_footer: bool = False
    in_palette: bool = True
    where: str = ""
    """The screens it works on, if not all: "in a session"."""
    sequence: str = ""
    """Further keys for it, pressed one after the other: "gg"."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or self.name.replace("_", " "))

    @property
    def key_names(self) -> str:
        """The keys as the user sees them: "j ↓"."""
        keys = (key for key in self.keys.split() if key not in HIDDEN_KEYS)
        return " ".join((*map(key_name, keys), *filter(None, [self.sequence])))


NAMED_KEYS = ("enter", "backspace")
"""Keys that are shown by their names, for which Textual has symbols."""

HIDDEN_KEYS = ("equals_sign",)  # Keys that are not shown: "=" is "+" without shift.


def key_name(key: str) -> str:
    return key if key in NAMED_KEYS else format_key(key)


CONTENTS, VERSIONS, SESSION = "in the contents", "in the versions (v)", "in a session"
NODES, SESSIONS = "in the contents and versions", "on any session"
PERIODS = "in the contents and the calendar (c)"
PAGES = "on any session, in the contents and the calendar (c)"
LISTS = "in the sessions (s), a session or the settings (,)"
LIST, JOBS, SKIPPED = "in the sessions (s)", "in the jobs (w)", "in skipped input (Q)"
AUDIT, POINTS = "in the audit (A)", "in what is left open (L)"
JUDGING = f"{AUDIT} and {POINTS}"
HOOKS, IMPORT = "in the hooks (H)", "in the import (i)"

FINDING = (
    Command(
        "search",
        "slash",
        "Search everything and jump to a hit.",
        label="find",
        in_footer=True,
        where=CONTENTS,
    ),
    Command(
        "go_to_date",
        "g",
        "Go to a year, month, week or day.",
        label="date",
        in_footer=True,
        where=PERIODS,
    ),
    Command(
        "show_sessions",
        "s",
        "List all sessions, and read one.",
        label="sessions",
        in_footer=True,
    ),
    Command(
        "show_audit",
        "A",
        "Judge the claims of this page and of all below it, the worst first.",
        label="audit",
        in_footer=True,
    ),
    Command(
        "show_points",
        "L",
        "List what sessions left open; L again lists what was decided.",
        label="left open",
    ),
    Command(
        "switch_points",
        "L",
        "Show what was decided, or what was left open.",
        label="open or decided",
        where=POINTS,
    ),
    Command("find_here", "slash", label="find", where=LISTS),
    Command(
        "sort",
        "S",
        "Change the order: newest, oldest, longest, most messages, or title.",
        where=LIST,
    ),
    Command(
        "show_calendar",
        "c",
        "Show the activity of each day, year by year, and go to a day.",
        label="calendar",
        in_footer=True,
    ),
    Command(
        "jump_back", "backspace", "Go back to where you were before the last jump."
    ),
    Command(
        "filter",
        "F",
        "Show one agent, project, state or keyword on all screens; F F shows all.",
        in_footer=True,
    ),
)

READING = (
    Command("open", "enter", in_footer=True, in_palette=False),
    Command("back", "escape", in_palette=False),
    Command("toggle_expanded", "space", label="expand", in_footer=True),
    Command(
        "expand_all",
        "asterisk",
        "Expand everything below this line, up to 500 lines.",
        where=CONTENTS,
    ),
    Command(
        "zoom",
        "z",
        "Zoom this pane to the whole screen, or show all panes again.",
        where=CONTENTS,
    ),
    Command(
        "older_sibling",
        "right_square_bracket",
        label="older",
        in_footer=True,
        where=PERIODS,
    ),
    Command("newer_sibling", "left_square_bracket", label="newer", where=PERIODS),
    Command(
        "next_source",
        "n",
        "Show the next source of this bullet, then those of the following bullets.",
        where=CONTENTS,
    ),
    Command("previous_source", "p", "Show the previous source.", where=CONTENTS),
    Command(
        "more_context",
        "plus equals_sign",
        "Show more of the conversation around the source.",
        where=CONTENTS,
    ),
    Command(
        "less_context",
        "minus",
        "Show less of the conversation around the source.",
        where=CONTENTS,
    ),
    Command(
        "show_withheld",
        "u",
        "Show or hide lines that are withheld or did not fit.",
        label="hidden lines",
        where=NODES,
    ),
    Command("copy", "y", where=SESSIONS),
    Command(
        "copy_page",
        "Y",
        "Copy this page to the clipboard, as Markdown with its sources.",
        label="copy as Markdown",
        where=PAGES,
    ),
    Command(
        "show_versions",
        "v",
        "Show all versions of this node, and choose which one is shown.",
        label="versions",
        where=CONTENTS,
    ),
    Command(
        "pin",
        "P",
        "Pin this version, so that no newer one replaces it; or unpin it.",
        where=VERSIONS,
    ),
    Command(
        "regenerate",
        "R",
        "Ask a model for a new version, before its scheduled work.",
        where=NODES,
    ),
    Command(
        "mark_done",
        "d",
        "Say that this is done; it is listed nowhere any more.",
        label="done",
        where=POINTS,
    ),
    Command("accept", "a", "Say that this claim is right.", where=JUDGING),
    Command(
        "reject",
        "x",
        "Reject this claim: it is shown nowhere any more. On a rejected one: give the"
        " reason.",
        where=JUDGING,
    ),
    Command(
        "correct",
        "E",
        "Write what this claim should say; it is marked as yours.",
        where=JUDGING,
    ),
    Command(
        "move_source",
        "m",
        "Choose another message as the source of this claim.",
        label="other source",
        where=JUDGING,
    ),
    Command(
        "undo_judgement",
        "u",
        "Take back what was said of this claim, or the last judgement.",
        label="undo",
        where=JUDGING,
    ),
    Command(
        "filter_claims",
        "K",
        "Choose which claims are listed: weak ones, facts, those of a model.",
        label="which claims",
        where=AUDIT,
    ),
    Command("ask_model", "c", "Ask the model if the source says it.", where=AUDIT),
    Command("ask_weak", "C", "Ask that of all weak claims, or stop.", where=AUDIT),
    Command(
        "next_prompt",
        "right_square_bracket",
        "Go to your next prompt in this session.",
        in_footer=True,
        where=SESSION,
    ),
    Command(
        "previous_prompt",
        "left_square_bracket",
        "Go to your previous prompt in this session.",
        where=SESSION,
    ),
    Command(
        "next_part",
        "p",
        "Go to the next prompt, error, commit or else message that no bullet cites.",
        label="not cited",
        where=f"{SESSION} and {AUDIT}",
    ),
    Command(
        "add_line",
        "B",
        "Make a bullet of this message, in your words.",
        label="make a bullet",
        where=SESSION,
    ),
    Command("next_match", "n", "Go to the next match in this session.", where=SESSION),
    Command(
        "previous_match",
        "p N",
        "Go to the previous match in this session.",
        where=SESSION,
    ),
    Command(
        "toggle_thinking",
        "t",
        "Show or hide the model's thinking.",
        label="thinking",
        where=SESSION,
    ),
    Command(
        "toggle_raw",
        "f",
        "Show the Markdown of messages as it is written, or rendered.",
        label="raw Markdown",
        where=SESSION,
    ),
    Command(
        "show_outline",
        "O",
        "List prompts, commits, failed calls and subagents, and go to one.",
        label="outline",
        in_footer=True,
        where=SESSION,
    ),
    Command(
        "toggle_card",
        "d",
        "Show or hide the facts on this session.",
        label="details",
        where=SESSION,
    ),
    Command(
        "show_in_contents",
        "b",
        "Show this message's segment in the contents.",
        label="in the contents",
        where=SESSION,
    ),
    Command(
        "resume",
        "r",
        "Resume this session in its agent; the command is shown first.",
        in_footer=True,
        where=SESSIONS,
    ),
    Command(
        "export",
        "e",
        "Export this session, or a report of this period, to a file.",
        in_footer=True,
        where=PAGES,
    ),
    Command(
        "edit",
        "o",
        "Open this session in $VISUAL or $EDITOR, as Markdown, at a selected message.",
        label="open in editor",
        where=SESSIONS,
    ),
    Command(
        "hand_over",
        "X",
        "Hand this over to another agent: its lines and sources, as a context pack.",
        where=PAGES,
    ),
    Command(
        "rename",
        "T",
        "Give this session another name, or take yours back.",
        where=SESSIONS,
    ),
)

FIRST_LINE = "gg"
"""The app reads this sequence: its first key alone is that of "go_to_date"."""

MOVING = (
    Command("cursor_down", "j down", "Move down a line.", label="down"),
    Command("cursor_up", "k up", "Move up a line.", label="up"),
    Command("deeper", "l right"),
    Command("outward", "h left"),
    Command("page_down", "pagedown", "Move down a page."),
    Command("page_up", "pageup", "Move up a page."),
    Command("half_page_down", "ctrl+d", "Move down half a page."),
    Command("half_page_up", "ctrl+u", "Move up half a page."),
    Command("first", "home", "Go to the first line.", sequence=FIRST_LINE),
    Command("last", "end G", "Go to the last line."),
    Command("next_pane", "tab", "Go to the next pane."),
    Command("previous_pane", "shift+tab", "Go to the previous pane."),
)

MANAGING = (
    Command(
        "import_histories",
        "i",
        "Find agents' conversations on this machine, and import them.",
        label="import",
    ),
    Command(
        "show_hooks",
        "H",
        "Show which agents are captured live, and install or remove hooks.",
        label="hooks",
    ),
    Command(
        "show_skipped",
        "Q",
        "Show failures and skipped input, and retry or dismiss it.",
        label="skipped input",
    ),
    Command(
        "show_settings",
        "comma",
        "Show all settings and their meaning, and change them.",
        label="settings",
    ),
    Command(
        "show_jobs",
        "w",
        "Show the queues, the model's jobs, and the state of the model.",
        label="jobs",
        in_footer=True,
    ),
    Command(
        "pause_job",
        "space",
        "Pause or resume this job; a restart does not change that.",
        label="pause",
        where=JOBS,
    ),
    Command("run_now", "x", "Run this job next.", where=JOBS),
    Command(
        "retry",
        "t",
        "Retry this entry: the hook file, or the whole transcript.",
        where=SKIPPED,
    ),
    Command("retry_all", "a", "Retry all entries.", where=SKIPPED),
    Command(
        "dismiss_entry",
        "D delete",
        "Dismiss this entry or all entries, after a confirmation.",
        label="dismiss",
        where=SKIPPED,
    ),
    Command(
        "write_change",
        "ctrl+s",
        "Write the change to the agent's settings.",
        label="write",
        where=HOOKS,
    ),
    Command(
        "import_once",
        "I",
        "Import what was found, without watching for new messages.",
        where=IMPORT,
    ),
    Command(
        "open_demo",
        "d",
        "Open the demo, which has its own sample data.",
        label="demo",
        where=IMPORT,
    ),
    Command(
        "switch_theme",
        "",
        "Switch to the next theme: dark, light, contrast, dusk or paper.",
        label="next theme",
    ),
    Command(
        "suspend",
        "ctrl+z",
        "Suspend memtui and return to the shell; fg brings it back.",
    ),
    Command(
        "palette",
        "ctrl+p",
        "Find a command by its name.",
        label="all commands",
        in_palette=False,
    ),
    Command(
        "help",
        "question_mark",
        "Show all keys and what they do here.",
        label="all keys",
        in_footer=True,
    ),
    Command(
        "quit",
        "q",
        "Quit memtui; ctrl+q works while you type, too.",
        in_footer=True,
    ),
)

LINES = (
    "cursor_down",
    "cursor_up",
    "page_down",
    "page_up",
    "half_page_down",
    "half_page_up",
    "first",
    "last",
)
"""The commands of all that has lines: lists, the tree, pages and transcripts."""

COMMANDS = (*FINDING, *READING, *MOVING, *MANAGING)
"""All commands, in the order of footer, palette and help."""

GLOBAL = ("help", "quit")
"""Commands that every screen binds, so that the footer shows them first."""

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
    if missing := [row.name for row in rows if not (help.get(row.name) or row.help)]:
        raise ValueError(f"no help text for {', '.join(missing)}")
    return [
        Binding(
            ",".join(row.keys.split()),
            row.name,
            row.label,
            show=in_footer or row.in_footer,
            key_display=row.key_names.split()[0],
            tooltip=help.get(row.name) or row.help,
            id=row.name,
        )
        for row in rows
        if row.keys
    ]


def explain_idle_key(key: str) -> str:
    """Return what to show when a key does nothing; empty for an unknown key."""
    rows = [row for row in COMMANDS if key in row.keys.split()]
    if not rows:
        return ""
    labels = dict.fromkeys(row.label for row in rows)
    places = dict.fromkeys(row.where for row in rows if row.where)
    text = f"{key_name(key)} ({' or '.join(labels)}) does nothing here."
    return f"{text} It works {' or '.join(places)}." if places else text


# Palette and help


@dataclass(frozen=True, slots=True)
class AvailableCommand:
    """A command that can be used now."""

    command: Command
    help: str
    """Its effect here, in a whole sentence."""
    node: DOMNode
    """The node whose action it is."""
    level: int
    """0 in the focused pane, 1 on the screen, 2 in the app."""


def available_commands(screen: Screen[Any]) -> Sequence[AvailableCommand]:
    """Return the commands bound to a key where the focus is, the nearest first."""
    palette = get_command("palette")
    # Textual binds this one itself.
    available = {palette: AvailableCommand(palette, palette.help, screen.app, 2)}
    for active in screen.active_bindings.values():
        node, binding = active.node, active.binding
        if active.enabled and binding.id:
            row = get_command(binding.id)
            is_global = isinstance(node, App) or binding.id in GLOBAL
            level = 2 if is_global else int(isinstance(node, Screen))
            available.setdefault(
                row, AvailableCommand(row, active.tooltip, node, level)
            )
    order = COMMANDS.index
    return sorted(available.values(), key=lambda a: (a.level, order(a.command)))


def system_commands(app: App[Any], screen: Screen[Any]) -> Iterator[SystemCommand]:
    """Yield the entries of the palette: the available commands, then the themes."""
    available = {each.command: each for each in available_commands(screen)}
    for row in COMMANDS:
        if not row.keys:
            yield _palette_entry(row, row.help, app)
        elif row.in_palette and row not in MOVING and row in available:
            yield _palette_entry(row, available[row].help, available[row].node)
    for theme in themes.THEMES:
        if theme.name != app.theme:
            run = partial(app.run_action, f"switch_theme({theme.name!r})", app)
            title = f"Theme: {themes.short_name(theme.name)}"
            yield SystemCommand(title, "Switch to this theme.", run)


def _palette_entry(row: Command, help: str, node: DOMNode) -> SystemCommand:
    title = row.label.capitalize()
    title = f"{title}  ({row.key_names})" if row.keys else title
    return SystemCommand(title, help, partial(node.app.run_action, row.name, node))


class Palette(CommandPalette):
    """Textual's palette, safe for keys that arrive before it is drawn."""

    def on_mount(self) -> None:
        """Use an icon that all terminals can show."""
        self.query_one(SearchIcon).icon = ">"

    def _action_command_list(self, action: str) -> None:
        # Without a size, page keys would end the app.
        if self.query_one(CommandList).scrollable_content_region:
            super()._action_command_list(action)
