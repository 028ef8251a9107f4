"""The first start: what can be imported, what the demo is, how hooks are installed."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from memtui.tui import commands, format
from memtui.tui.messages import HistoriesFound, WorkReported
from memtui.tui.widgets.key_line import KeyLine
from memtui.tui.widgets.status_line import IMPORT_THERE, StatusLine

if TYPE_CHECKING:
    from memtui.model.sessions import History


DEMO = "demo"
"""What the screen answers with when the demo is to be opened."""


AGENT_NAMES = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "gemini-cli": "Gemini CLI",
    "opencode": "OpenCode",
    "copilot-cli": "Copilot CLI",
    "aider": "Aider",
}
"""How agents call themselves."""


NOTHING_FOUND = (
    "Nothing was found to import here. In a shell, memtui import PATH… reads what lies"
    " elsewhere."
)


_HOOKS = "H", "has your agents tell memtui of new conversations as they happen"


_DEMO = "d", "opens a small made-up memory to look around in (memtui demo)"


_LEAVE = "esc", "goes to the contents as they are"


WAYS = (_HOOKS, ("I", "imports them once, as they are now"), _DEMO, _LEAVE)
"""What else can be done where something was found."""


OTHER_WAYS = (_HOOKS, _DEMO, (",", "names folders to watch: capture.folders"), _LEAVE)
"""What can be done where nothing was."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person chose to import."""

    histories: "Sequence[History]"
    is_watched: bool
    """Whether they are to be read on as they grow."""


class WelcomeScreen(Screen["Wanted | str | None"]):
    """Looks for histories; answers with those to import, or ``DEMO``."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "import_once",
        "open_demo",
        in_footer=True,
        import_histories="Import what was found, and read it on as it grows.",
        back="Go to the contents as they are.",
    )

    def __init__(
        self,
        find: "Callable[[], Sequence[History]]",
        looked_in: Callable[[], Mapping[str, Sequence[Path]]],
        *,
        is_first: bool,
        is_demo: bool = False,
    ) -> None:
        """Make the screen.

        Args:
            find: Looks for histories; may take a while, and runs on a thread.
            looked_in: Tells where it looks, by the agent's name.
            is_first: Whether nothing is kept yet.
            is_demo: Whether this is the demo already.
        """
        super().__init__()
        self._find, self._looked_in = find, looked_in
        self._is_first, self._is_demo = is_first, is_demo
        self._found: Sequence[History] | None = None
        self._is_ours = True

    def compose(self) -> ComposeResult:
        """A few lines in the middle of the screen."""
        yield StatusLine(is_demo=self._is_demo)
        with VerticalScroll(id="welcome"), Vertical(id="letter"):
            yield Static(
                self._offer("Looking for histories on this machine…"), id="offer"
            )
            yield Static(id="histories")
            yield Static(_further(WAYS), id="further")
        yield KeyLine()

    def on_mount(self) -> None:
        """Look for histories."""
        self.run_worker(self._look, group="look", thread=True, exit_on_error=False)

    def _look(self) -> None:
        self.post_message(HistoriesFound(self._find()))

    def _offer(self, *words: str | tuple[str, str]) -> Content:
        start = "Nothing kept yet. " if self._is_first else ""
        return Content.assemble((start, "bold"), *words)

    @on(HistoriesFound)
    def show(self, message: HistoriesFound) -> None:
        """Say what was found, and what to press."""
        self._found = [one for one in message.histories if one.sessions]
        self.refresh_bindings()
        if not self._found:
            words = "No agent's conversations were found here."
            self.query_one("#offer", Static).update(self._offer(words))
            places = self._looked_in().items()
            self.query_one("#histories", Static).update(_nowhere(places))
            self.query_one("#further", Static).update(_further(OTHER_WAYS))
            return
        self.query_one("#histories", Static).update(
            Content("\n").join(_history(one) for one in self._found)
        )
        self._say_found()

    def _say_found(self) -> None:
        """Say who can import what was found, and how."""
        if not self._found:
            return
        what = f" to import {_all_of(self._found)} and read on as they grow."
        words = ("Press ", ("i", "bold $accent"), what)
        offer = self._offer(*(words if self._is_ours else (IMPORT_THERE,)))
        ways = [one for one in WAYS if self._is_ours or one[0] != "I"]
        self.query_one("#offer", Static).update(offer)
        self.query_one("#further", Static).update(_further(ways))

    @on(WorkReported)
    def follow_work(self, message: WorkReported) -> None:
        """Say what the workers do; make way for the first thing that is kept."""
        self.query_one(StatusLine).say(message.progress)
        if message.progress.is_ours != self._is_ours:
            self._is_ours = message.progress.is_ours
            self.refresh_bindings()
            self._say_found()
        if self._is_first and message.progress.changed:
            self.dismiss(None)

    @on(Worker.StateChanged)
    def say_why(self, event: Worker.StateChanged) -> None:
        """Say why nothing could be looked for."""
        if event.state is WorkerState.ERROR:
            self._found = []
            words = (
                "The histories on this machine could not be looked for:"
                f" {format.why(event.worker.error)}"
            )
            self.query_one("#offer", Static).update(self._offer(words))

    def action_import_histories(self) -> None:
        """Import all that was found, and read it on as it grows."""
        self._import(is_watched=True)

    def action_import_once(self) -> None:
        """Import all that was found as it is now."""
        self._import(is_watched=False)

    @property
    def refused(self) -> Collection[str]:
        """What another works is imported there; and nothing where nothing is."""
        can_import = self._is_ours and self._found != []
        return () if can_import else ("import_histories", "import_once")

    def _import(self, *, is_watched: bool) -> None:
        if not self._is_ours:
            self.notify(IMPORT_THERE, markup=False)
        elif self._found is None:
            self.notify("Still looking: one moment.", markup=False)
        elif not self._found:
            self.notify(NOTHING_FOUND, markup=False)
        else:
            self.dismiss(Wanted(self._found, is_watched))

    def action_open_demo(self) -> None:
        """Open the demo instead."""
        if self._is_demo:
            self.notify("This is the demo.", markup=False)
        else:
            self.dismiss(DEMO)

    def action_back(self) -> None:
        """Leave without importing."""
        self.dismiss(None)


def _all_of(found: "Sequence[History]") -> str:
    agents = sorted({_agent(one) for one in found})
    total = sum(one.sessions for one in found)
    whose = f"{agents[0]} " if len(agents) == 1 else ""
    noun = "session" if total == 1 else "sessions"
    return f"the {format.count(total)} {whose}{noun} found on this machine"


def _history(one: "History") -> Content:
    return Content.assemble(
        f"  {_agent(one):<12} ",
        (f"{format.counted(one.sessions, 'session'):>16}", ""),
        (f"   {_short(one.folder)}", "$context"),
    )


def _agent(one: "History") -> str:
    return AGENT_NAMES.get(one.agent, one.agent)


def _short(folder: Path) -> str:
    home = Path.home()
    return (
        f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) else f"{folder}"
    )


def _nowhere(places: Iterable[tuple[str, Sequence[Path]]]) -> Content:
    """Where nothing was found, and how to name another place."""
    lines = [Content("Looked in:")]
    for agent, some in places:
        name = f"  {AGENT_NAMES.get(agent, agent):<12} "
        for at, place in enumerate(some):
            first = name if not at else " " * len(name)
            lines.append(Content.assemble(first, (_short(place), "$context")))
    lines.append(Content(""))
    command = ("memtui import PATH…", "bold $accent")
    lines.append(Content.assemble("If they lie elsewhere, in a shell: ", command))
    return Content("\n").join(lines)


def _further(ways: Sequence[tuple[str, str]]) -> Content:
    return Content("\n").join(
        Content.assemble((f"{key:<3}", "bold $accent"), f"  {says}")
        for key, says in ways
    )
