"""The agents' hooks: who tells memtui what happens, and the change that would alter it.

Nothing is written by looking: a change is shown first, and a second key writes it.
"""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import Worker, WorkerState

from memtui.tui import commands, format
from memtui.tui.messages import ChangePlanned, ChangeWritten, HooksFound, WorkReported
from memtui.tui.widgets.item_list import Options
from memtui.tui.widgets.key_line import KeyLine
from memtui.tui.widgets.pane_title import PaneTitle
from memtui.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from memtui.integrations.hooks import Change, Installation


NOTHING_SHOWN = "Press enter to see what would be changed for the agent above."


_HUNK_HEAD = 2
"""How many lines of a diff only name the file, which stands in the title."""


class HooksEditorProtocol(Protocol):
    """What the screen needs: ``memtui.agents.desk.Desk``."""

    def look(self) -> "Sequence[Installation]":
        """How it stands with each agent; may take a while."""

    def plan(self, agent: str, *, is_removal: bool) -> "Change":
        """What would become of an agent's settings."""

    def write(self, change: "Change") -> None:
        """Write a change that was planned."""


class AgentList(Options, inherit_bindings=False):
    """The agents, a line each."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "first", "last", "cursor_up", "cursor_down",
        open="Show what would be changed for this agent.",
    )  # fmt: skip
    CALLED = "In the list of agents"

    def action_open(self) -> None:
        """Show what would be changed."""
        self.action_select()


class HooksScreen(Screen[None]):
    """Lists the agents, shows a change, and writes it when told to."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *commands.bindings("write_change", in_footer=True, back="Leave the hooks."),
        *commands.bindings("page_up", "page_down"),
    ]

    def __init__(self, desk: HooksEditorProtocol) -> None:
        """Make the screen.

        Args:
            desk: Whom to ask; it may take a while, and is asked on threads.
        """
        super().__init__()
        self._desk = desk
        self._found: Sequence[Installation] = ()
        self._change: Change | None = None
        self._about = ""
        self._title = PaneTitle("Change")

    def compose(self) -> ComposeResult:
        """The agents above, the change below."""
        yield StatusLine(is_demo=False)
        yield PaneTitle("Hooks: who tells memtui what happens")
        yield AgentList(id="agents")
        yield self._title
        with VerticalScroll(id="change-pane"):
            yield Static(NOTHING_SHOWN, id="change", markup=False)
        yield KeyLine()

    @property
    def refused(self) -> Collection[str]:
        """Nothing is written before it is shown."""
        return () if self._change is not None else ("write_change",)

    @on(WorkReported)
    def follow_work(self, message: WorkReported) -> None:
        """Say what the workers do."""
        self.query_one(StatusLine).say(message.progress)

    def on_mount(self) -> None:
        """Look how it stands."""
        self.query_one(AgentList).loading = True
        self._ask(self._look)

    def _ask(self, ask: Callable[[], None]) -> None:
        self.run_worker(
            ask, group="ask", thread=True, exclusive=True, exit_on_error=False
        )

    def _look(self) -> None:
        self.post_message(HooksFound(self._desk.look()))

    def _plan(self, agent: str, is_removal: bool) -> None:
        change = self._desk.plan(agent, is_removal=is_removal)
        self.post_message(ChangePlanned(change))

    def _write(self, change: "Change") -> None:
        self._desk.write(change)
        self.post_message(ChangeWritten(change.agent, self._desk.look()))

    @on(HooksFound)
    def show(self, message: HooksFound) -> None:
        """List the agents."""
        self._found = message.installations
        agents = self.query_one(AgentList)
        agents.loading = False
        at = agents.highlighted or 0
        agents.clear_options()
        agents.add_options(Option(_row(one), id=one.agent) for one in self._found)
        agents.highlighted = at
        agents.focus()

    @on(OptionList.OptionHighlighted)
    def change_mind(self, event: OptionList.OptionHighlighted) -> None:
        """Another agent: what was shown is no longer what would be written."""
        if event.option.id != self._about:
            self._about = ""
            self._clear(NOTHING_SHOWN)

    @on(OptionList.OptionSelected)
    def plan(self, event: OptionList.OptionSelected) -> None:
        """Work out what would be changed."""
        one = self._found[event.option_index]
        self._about = one.agent
        is_removal = one.is_installed and one.is_current
        self._ask(partial(self._plan, one.agent, is_removal))

    @on(ChangePlanned)
    def show_change(self, message: ChangePlanned) -> None:
        """Show the change, and which key writes it."""
        if message.change.agent != self._about:
            return
        change = self._change = message.change
        what = "take the hooks out of" if change.is_removal else "put the hooks into"
        lines = change.diff()[_HUNK_HEAD:]
        self._title.say(
            f"ctrl+s will {what} {_short(change.file)}", f"{len(lines)} lines"
        )
        self.query_one("#change", Static).update(
            Content("\n").join(_diff_line(line) for line in lines)
        )
        self.query_one("#change-pane").scroll_home(animate=False)
        self.refresh_bindings()

    @on(ChangeWritten)
    def say_written(self, message: ChangeWritten) -> None:
        """Say that it is done, and what else is needed."""
        self.show(HooksFound(message.installations))
        (one,) = (one for one in self._found if one.agent == message.agent)
        said = "are in" if one.is_installed else "are out"
        note = f" {one.note}" if one.is_installed and one.note else ""
        self._clear(f"{one.title}: memtui's hooks {said}.{note}")

    @on(Worker.StateChanged)
    def say_why(self, event: Worker.StateChanged) -> None:
        """Say why something could not be looked at, planned or written."""
        if event.state is WorkerState.ERROR:
            self.query_one(AgentList).loading = False
            self._clear(f"✗ {format.why(event.worker.error)}")

    def _clear(self, said: str) -> None:
        self._change = None
        self.refresh_bindings()
        self._title.say("Change")
        self.query_one("#change", Static).update(Content(said))

    def action_write_change(self) -> None:
        """Write the change that is shown."""
        if self._change is None:
            self.notify("Nothing is shown that could be written.", markup=False)
            return
        change, self._change = self._change, None
        self.refresh_bindings()
        self._ask(partial(self._write, change))

    def action_page_down(self) -> None:
        """Read on in the change."""
        self.query_one("#change-pane").scroll_page_down(animate=False)

    def action_page_up(self) -> None:
        """Read back in the change."""
        self.query_one("#change-pane").scroll_page_up(animate=False)

    def action_back(self) -> None:
        """Put the change away, or leave."""
        if self._change is not None:
            self._clear(NOTHING_SHOWN)
        else:
            self.dismiss(None)


def _row(one: "Installation") -> Content:
    mark = "✗" if one.problem else "✓" if one.is_installed else " "
    said = "tells memtui" if one.is_installed else "does not tell memtui"
    if not one.is_installed and not one.is_found:
        said = "not found on this machine"
    problem = f"\n    {one.problem}" if one.problem else ""
    return Content.assemble(
        (f"{mark} ", "$error" if one.problem else ""),
        (f"{one.title:<13}", "bold" if one.is_found else "$context"),
        (f"{said:<27}", "" if one.is_found else "$context"),
        (_short(one.file), "$context"),
        (problem, "$error"),
    )


def _diff_line(line: str) -> Content:
    style = {"+": "$success", "-": "$error", "@": "$context"}.get(line[:1], "")
    return Content.styled(line, style)


def _short(file: Path) -> str:
    home = Path.home()
    return f"~/{file.relative_to(home)}" if file.is_relative_to(home) else f"{file}"
