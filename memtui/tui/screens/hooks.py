"""The hooks: which agents are captured live, and changes to their settings.

A change is always shown first; a second key writes it.
"""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from memtui.integrations import agents, config_files
from memtui.integrations.agents import HookStatus
from memtui.integrations.config_files import ConfigChange, Machine
from memtui.paths import with_tilde
from memtui.tui import commands, format
from memtui.tui.screens.base import ListDetailScreen
from memtui.tui.widgets.panes import ItemList, PaneTitle

HINT = "Press enter to see the change for the agent above."
DIFF_HEAD = 2  # The lines of a diff that only name the file, which the title does too.


class AgentList(ItemList[HookStatus], inherit_bindings=False):
    """The agents, one per line."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "first",
        "last",
        "cursor_up",
        "cursor_down",
        open="Show the change for this agent.",
    )
    HELP_TITLE = "In the list of agents"


class HooksScreen(ListDetailScreen[None]):
    """Lists the agents, shows a change, and writes it when asked to."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *commands.bindings("write_change", in_footer=True, back="Leave the hooks."),
        *commands.bindings("page_up", "page_down", "half_page_up", "half_page_down"),
    ]

    DETAIL_TITLE = "Change"

    _list = getters.query_one(AgentList)

    def __init__(self, machine: Machine) -> None:
        super().__init__()
        self._machine = machine
        self._change: ConfigChange | None = None
        self._agent = ""  # The agent whose change is shown or being planned.

    def compose_list(self) -> ComposeResult:
        yield PaneTitle("Hooks: live capture")
        yield AgentList()

    def on_mount(self) -> None:
        self._list.loading = True

    def reload(self) -> None:
        self.load(partial(agents.hook_statuses, self._machine), self._show, "hooks")

    def _show(self, statuses: Sequence[HookStatus]) -> None:
        self._list.loading = False
        rows = [Option(_row(status), id=status.agent) for status in statuses]
        self._list.show_items({status.agent: status for status in statuses}, rows)

    @on(OptionList.OptionHighlighted)
    def forget_change(self, event: OptionList.OptionHighlighted) -> None:
        if event.option.id != self._agent:
            self._agent = ""
            self._show_text(HINT)

    def open_option(self) -> None:
        """Plan the change for the selected agent, and show it."""
        status = self._list.current
        if status is None:
            return
        self._agent = status.agent
        is_removal = status.is_installed and status.is_current
        plan = (
            config_files.plan_removal if is_removal else config_files.plan_installation
        )
        hooks = agents.find_agent(status.agent).hooks
        self.load(partial(plan, hooks, self._machine), self._show_change, "hooks")

    def _show_change(self, change: ConfigChange) -> None:
        if change.agent != self._agent:
            return
        self._change = change
        verb = "remove the hooks from" if change.is_removal else "add the hooks to"
        title = f"ctrl+s: {verb} {with_tilde(change.file)}"
        lines = change.diff()[DIFF_HEAD:]
        diff = Content("\n").join(_diff_line(line) for line in lines)
        self.show_details(title, diff, f"{len(lines)} lines")

    def action_write_change(self) -> None:
        if self._change is None:
            self.notify("There is no change to write.")
            return
        change, self._change = self._change, None
        write = partial(_write, self._machine, change)
        self.load(write, partial(self._show_written, change.agent), "hooks")

    def _show_written(self, agent: str, statuses: Sequence[HookStatus]) -> None:
        self._show(statuses)
        status = self._list.items[agent]
        done = "installed" if status.is_installed else "removed"
        note = f" {status.note}" if status.is_installed and status.note else ""
        self._show_text(f"{status.title}: hooks {done}.{note}")

    def show_error(self, error: BaseException, group: str) -> None:
        self._list.loading = False
        self._show_text(f"✗ {format.error_text(error)}")

    def _show_text(self, text: str) -> None:
        """Show a text instead of a change."""
        self._change = None
        self.show_details(self.DETAIL_TITLE, Content(text))

    def action_page_down(self) -> None:
        self._details.scroll_page_down(animate=False)

    def action_page_up(self) -> None:
        self._details.scroll_page_up(animate=False)

    def action_half_page_down(self) -> None:
        self._details.action_half_page_down()

    def action_half_page_up(self) -> None:
        self._details.action_half_page_up()

    def action_back(self) -> None:
        if self._change is not None:
            self._show_text(HINT)
        else:
            super().action_back()


def _write(machine: Machine, change: ConfigChange) -> Sequence[HookStatus]:
    config_files.write(change)
    return agents.hook_statuses(machine)


def _row(status: HookStatus) -> Content:
    mark = "✗" if status.problem else "✓" if status.is_installed else " "
    state = "installed" if status.is_installed else "not installed"
    if not status.is_installed and not status.is_found:
        state = "not found on this machine"
    problem = f"\n    {status.problem}" if status.problem else ""
    return Content.assemble(
        (f"{mark} ", "$error" if status.problem else ""),
        (f"{status.title:<13}", "bold" if status.is_found else "$context"),
        (f"{state:<27}", "" if status.is_found else "$context"),
        (with_tilde(status.file), "$context"),
        (problem, "$error"),
    )


def _diff_line(line: str) -> Content:
    style = {"+": "$success", "-": "$error", "@": "$context"}.get(line[:1], "")
    return Content.styled(line, style)
