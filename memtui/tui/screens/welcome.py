"""The welcome screen: import agents' conversations found on this machine."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from memtui.model.quantities import plural
from memtui.model.sessions import AgentHistory
from memtui.paths import transcript_folders, with_tilde
from memtui.services.capture_sources import agent_title
from memtui.tui import commands, format
from memtui.tui.messages import ProgressReported
from memtui.tui.screens.base import BaseScreen
from memtui.tui.widgets.status_line import IMPORT_ELSEWHERE

TITLE_CELLS = 18

EMPTY = Content.assemble(
    ("No conversations yet.", "bold"),
    " memtui keeps your conversations with AI coding agents, summarizes them and makes"
    " them searchable.\n\n",
)

NOTHING_FOUND = (
    "No conversations were found. To import from elsewhere, run memtui import PATH…"
)

IMPORT_ONCE = "I", "import once, without watching for new messages"
SET_FOLDERS = ",", "set folders to watch: capture.folders"
CHOICES = (
    ("H", "install hooks: capture new conversations live"),
    ("d", "open the demo: three months of sample data (memtui demo)"),
    ("esc", "go to the contents"),
)
"""The choices that are always offered."""


class WelcomeScreen(BaseScreen[bool]):
    """Returns whether to open the demo."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "import_once",
        "open_demo",
        in_footer=True,
        import_histories="Import what was found, and watch for new messages.",
        back="Go to the contents.",
    )

    def __init__(self, *, is_first: bool) -> None:
        """Make the screen, the first one if the store is empty."""
        super().__init__()
        self._is_first = is_first
        # The conversations found; None during the search.
        self._found: Sequence[AgentHistory] | None = None
        self._is_ours = True

    def compose_body(self) -> ComposeResult:
        with VerticalScroll(id="welcome"), Vertical(id="letter"):
            yield Static(id="offer")
            yield Static(id="histories")
            yield Static(id="choices")

    def on_mount(self) -> None:
        self._show("Searching this machine for conversations…", "", IMPORT_ONCE)
        self.load(self.workspace.histories, self._show_found, "histories")

    def _show(
        self, offer: str | Content, histories: str | Content, *choices: tuple[str, str]
    ) -> None:
        text = Content.assemble(EMPTY if self._is_first else "", offer)
        self.query_one("#offer", Static).update(text)
        self.query_one("#histories", Static).update(histories)
        rows = (
            Content.assemble((f"{key:<3}", "bold $accent"), f"  {text}")
            for key, text in (*choices, *CHOICES)
        )
        self.query_one("#choices", Static).update(Content("\n").join(rows))

    def _show_found(self, histories: Sequence[AgentHistory]) -> None:
        histories = self._found = [each for each in histories if each.sessions]
        if not histories:
            text = "No agent's conversations were found on this machine."
            places = transcript_folders().items()
            self._show(text, _searched(places), SET_FOLDERS)
            return
        rows = Content("\n").join(_history(history) for history in histories)
        if not self._is_ours:
            self._show(IMPORT_ELSEWHERE, rows)
            return
        names = sorted({agent_title(history.agent) for history in histories})
        count = sum(history.sessions for history in histories)
        sessions = plural(count, "session")
        number, noun = sessions.split()
        what = f"{number} {names[0]} {noun}" if len(names) == 1 else sessions
        effect = (
            f" to import the {what} found on this machine and watch for new messages."
        )
        offer = Content.assemble("Press ", ("i", "bold $accent"), effect)
        self._show(offer, rows, IMPORT_ONCE)

    def show_progress(self, message: ProgressReported) -> None:
        progress = message.progress
        if progress.is_active != self._is_ours:
            self._is_ours = progress.is_active
            if self._found:
                self._show_found(self._found)
        # Leave as soon as the first conversations are there.
        if self._is_first and progress.changed:
            self.dismiss(False)

    def show_error(self, error: BaseException, group: str) -> None:
        self._found = []
        self._show(f"The search failed: {format.error_text(error)}", "", SET_FOLDERS)

    def action_import_histories(self) -> None:
        self._import(is_watched=True)

    def action_import_once(self) -> None:
        self._import(is_watched=False)

    def _import(self, *, is_watched: bool) -> None:
        if not self._is_ours:
            self.notify(IMPORT_ELSEWHERE)
        elif self._found is None:
            self.notify("Still searching.")
        elif not self._found:
            self.notify(NOTHING_FOUND)
        else:
            self.memtui.start_import(self._found, is_watched=is_watched)
            self.dismiss(False)

    def action_open_demo(self) -> None:
        if self.workspace.is_demo:
            self.notify("This is the demo.")
        else:
            self.dismiss(True)

    def action_back(self) -> None:
        self.dismiss(False)


def _history(history: AgentHistory) -> Content:
    return Content.assemble(
        f"  {agent_title(history.agent):<{TITLE_CELLS}} ",
        f"{plural(history.sessions, 'session'):>16}",
        (f"   {with_tilde(history.folder)}", "$context"),
        (f"\n    nothing is kept of {history.ignored}", "$context")
        if history.ignored
        else "",
    )


def _searched(places: Iterable[tuple[str, Sequence[Path]]]) -> Content:
    lines = [Content("Searched:")]
    for agent, folders in places:
        for folder in folders:
            name = agent_title(agent) if folder is folders[0] else ""
            path = (with_tilde(folder), "$context")
            lines.append(Content.assemble(f"  {name:<{TITLE_CELLS}} ", path))
    command = ("memtui import PATH…", "bold $accent")
    lines += [Content(""), Content.assemble("Elsewhere? Run: ", command)]
    return Content("\n").join(lines)
