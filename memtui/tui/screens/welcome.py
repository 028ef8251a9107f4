"""The welcome screen: import agents' conversations found on this machine."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from memtui.model.sessions import AgentHistory
from memtui.tui import commands, format
from memtui.tui.messages import ProgressReported
from memtui.tui.screens.base import BaseScreen
from memtui.tui.widgets.status_line import IMPORT_ELSEWHERE

DEMO = "demo"
"""What the screen returns to open the demo."""

AGENT_NAMES = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "gemini-cli": "Gemini CLI",
    "opencode": "OpenCode",
    "copilot-cli": "Copilot CLI",
    "aider": "Aider",
}

EMPTY = Content.assemble(
    ("No conversations yet.", "bold"),
    " memtui keeps your conversations with AI coding agents, summarizes them and makes"
    " them searchable.\n\n",
)

NOTHING_FOUND = (
    "No conversations were found. To import from elsewhere, run memtui import PATH…"
)

_HOOKS = "H", "install hooks: capture new conversations live"
_DEMO = "d", "open the demo: three months of sample data (memtui demo)"
_LEAVE = "esc", "go to the contents"

CHOICES = (
    _HOOKS,
    ("I", "import once, without watching for new messages"),
    _DEMO,
    _LEAVE,
)
"""What else can be done if something was found."""

OTHER_CHOICES = (
    _HOOKS,
    _DEMO,
    (",", "set folders to watch: capture.folders"),
    _LEAVE,
)
"""What can be done if nothing was found."""


@dataclass(frozen=True, slots=True)
class ImportChoice:
    """What the user chose to import."""

    histories: Sequence[AgentHistory]
    is_watched: bool
    """Whether to import what is added later, too."""


class WelcomeScreen(BaseScreen["ImportChoice | str | None"]):
    """Returns an `ImportChoice`, `DEMO`, or None."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "import_once",
        "open_demo",
        in_footer=True,
        import_histories="Import what was found, and watch for new messages.",
        back="Go to the contents.",
    )

    def __init__(self, *, is_first: bool) -> None:
        """Make the screen.

        Args:
            is_first: Whether the store is empty.
        """
        super().__init__()
        self._is_first = is_first
        self._found: Sequence[AgentHistory] | None = None
        self._is_ours = True

    def compose_body(self) -> ComposeResult:
        with VerticalScroll(id="welcome"), Vertical(id="letter"):
            yield Static(
                self._offer("Searching this machine for conversations…"), id="offer"
            )
            yield Static(id="histories")
            yield Static(_key_list(CHOICES), id="choices")

    def on_mount(self) -> None:
        self.load(self.workspace.histories, self._show, "histories")

    def _offer(self, *parts: str | tuple[str, str]) -> Content:
        return Content.assemble(EMPTY if self._is_first else "", *parts)

    def _show(self, histories: Sequence[AgentHistory]) -> None:
        self._found = [one for one in histories if one.sessions]
        self.refresh_bindings()
        if not self._found:
            text = "No agent's conversations were found on this machine."
            self.query_one("#offer", Static).update(self._offer(text))
            places = self.workspace.transcript_folders().items()
            self.query_one("#histories", Static).update(_searched(places))
            self.query_one("#choices", Static).update(_key_list(OTHER_CHOICES))
            return
        self.query_one("#histories", Static).update(
            Content("\n").join(_history(one) for one in self._found)
        )
        self._show_offer()

    def _show_offer(self) -> None:
        """Offer the import, or say that another memtui has to do it."""
        if not self._found:
            return
        what = f" to import {_describe(self._found)} and watch for new messages."
        parts = ("Press ", ("i", "bold $accent"), what)
        offer = self._offer(*(parts if self._is_ours else (IMPORT_ELSEWHERE,)))
        choices = [one for one in CHOICES if self._is_ours or one[0] != "I"]
        self.query_one("#offer", Static).update(offer)
        self.query_one("#choices", Static).update(_key_list(choices))

    @on(ProgressReported)
    def follow_progress(self, message: ProgressReported) -> None:
        """Leave as soon as the first conversations are there."""
        if message.progress.is_active != self._is_ours:
            self._is_ours = message.progress.is_active
            self.refresh_bindings()
            self._show_offer()
        if self._is_first and message.progress.changed:
            self.dismiss(None)

    def show_error(self, error: BaseException, group: str) -> None:
        self._found = []
        text = f"The search failed: {format.error_text(error)}"
        self.query_one("#offer", Static).update(self._offer(text))

    def action_import_histories(self) -> None:
        self._import(is_watched=True)

    def action_import_once(self) -> None:
        self._import(is_watched=False)

    @property
    def refused(self) -> Collection[str]:
        """Nothing is offered for import if nothing is there, or another memtui runs."""
        can_import = self._is_ours and self._found != []
        return () if can_import else ("import_histories", "import_once")

    def _import(self, *, is_watched: bool) -> None:
        if not self._is_ours:
            self.notify(IMPORT_ELSEWHERE, markup=False)
        elif self._found is None:
            self.notify("Still searching.", markup=False)
        elif not self._found:
            self.notify(NOTHING_FOUND, markup=False)
        else:
            self.dismiss(ImportChoice(self._found, is_watched))

    def action_open_demo(self) -> None:
        if self.workspace.is_demo:
            self.notify("This is the demo.", markup=False)
        else:
            self.dismiss(DEMO)

    def action_back(self) -> None:
        self.dismiss(None)


def _describe(found: Sequence[AgentHistory]) -> str:
    agents = sorted({_agent(one) for one in found})
    total = sum(one.sessions for one in found)
    agent = f"{agents[0]} " if len(agents) == 1 else ""
    noun = "session" if total == 1 else "sessions"
    return f"the {format.number(total)} {agent}{noun} found on this machine"


def _history(one: AgentHistory) -> Content:
    return Content.assemble(
        f"  {_agent(one):<12} ",
        f"{format.quantity(one.sessions, 'session'):>16}",
        (f"   {format.short_path(one.folder)}", "$context"),
    )


def _agent(one: AgentHistory) -> str:
    return AGENT_NAMES.get(one.agent, one.agent)


def _searched(places: Iterable[tuple[str, Sequence[Path]]]) -> Content:
    """List the searched folders, and how to import from another one."""
    lines = [Content("Searched:")]
    for agent, folders in places:
        name = f"  {AGENT_NAMES.get(agent, agent):<12} "
        for at, folder in enumerate(folders):
            start = name if not at else " " * len(name)
            path = (format.short_path(folder), "$context")
            lines.append(Content.assemble(start, path))
    lines.append(Content(""))
    command = ("memtui import PATH…", "bold $accent")
    lines.append(Content.assemble("Elsewhere? Run: ", command))
    return Content("\n").join(lines)


def _key_list(choices: Sequence[tuple[str, str]]) -> Content:
    return Content("\n").join(
        Content.assemble((f"{key:<3}", "bold $accent"), f"  {text}")
        for key, text in choices
    )
