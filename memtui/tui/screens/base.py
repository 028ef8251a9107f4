"""Base classes of the screens: reloading, two panes, and dialogs."""

from collections.abc import Callable
from typing import ClassVar, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.screen import ModalScreen, Screen, ScreenResultType
from textual.widgets import Input, OptionList

from memtui.tui import workers
from memtui.tui.messages import PaneLeft, ProgressReported
from memtui.tui.widgets.detail_pane import DetailPane
from memtui.tui.widgets.key_line import KeyLine
from memtui.tui.widgets.status_line import StatusLine

T = TypeVar("T")

LAYOUTS = [(0, "-narrow"), (100, "-normal"), (160, "-wide")]
"""The class of a screen from this width on, in columns."""

HEIGHTS = [(0, "-low"), (30, "-tall")]
"""The class of a screen from this height on, in lines."""

AGAIN = f"{workers.WILL_RETRY} Press esc to go back."
"""Shown with an error when loading failed."""


class BaseScreen(Screen[ScreenResultType]):
    """A screen with a status line that loads on threads and reloads what changes."""

    RELOAD_INTERVAL_S: ClassVar[float] = workers.RETRY_S
    """The least time between two reloads."""

    _needs_reload = False
    _has_reloaded = False

    def load(
        self, read: Callable[[], T], show: Callable[[T], object], group: str
    ) -> None:
        """Read on a thread, then show; replaces an earlier load of this group."""
        workers.load(self, read, show, group)

    def run_thread(
        self, action: Callable[[], T], done: Callable[[T], object], group: str
    ) -> None:
        """Do something on a thread, then call `done` with its result."""
        workers.run(self, action, done, group)

    @on(ProgressReported)
    def _show_progress(self, message: ProgressReported) -> None:
        self.query_one(StatusLine).show(message.progress)

    def reload(self) -> None:
        """Load again what is shown; by default there is nothing to load."""

    def request_reload(self) -> None:
        """Reload now, or as soon as the reload interval has passed."""
        self._needs_reload = True
        self._reload_if_due()

    def retry_reload(self) -> None:
        """Reload after the interval, because this load failed."""
        self.set_timer(self.RELOAD_INTERVAL_S, self.request_reload)

    def _reload_if_due(self) -> None:
        if self._needs_reload and not self._has_reloaded:
            self._needs_reload, self._has_reloaded = False, True
            self.reload()
            self.set_timer(self.RELOAD_INTERVAL_S, self._end_interval)

    def _end_interval(self) -> None:
        self._has_reloaded = False
        self._reload_if_due()


class ListDetailScreen(BaseScreen[ScreenResultType]):
    """A list, and beside or below it a `DetailPane` with the details of its entry."""

    HORIZONTAL_BREAKPOINTS = LAYOUTS

    @property
    def _list(self) -> OptionList:
        return self.query_one(OptionList)

    @property
    def _details(self) -> DetailPane:
        return self.query_one(DetailPane)

    def action_next_pane(self) -> None:
        (self._details if self._list.has_focus else self._list).focus()

    def action_previous_pane(self) -> None:
        self.action_next_pane()

    @on(OptionList.OptionSelected)
    def _open_selected(self) -> None:
        self.open_option()

    def open_option(self) -> None:
        """Open the selected option: by default, go to its details."""
        self.action_next_pane()

    @on(PaneLeft)
    def _go_back(self) -> None:
        self.action_back()

    def action_back(self) -> None:
        """Go from the details to the list, and from the list leave the screen."""
        if self._details.has_focus:
            self._list.focus()
        else:
            self._leave()

    def _leave(self) -> None:
        self.dismiss(None)


class Dialog(ModalScreen[ScreenResultType]):
    """A question over the screen below, with a footer of its own."""

    def compose(self) -> ComposeResult:
        yield from self.compose_dialog()
        yield KeyLine()

    def compose_dialog(self) -> ComposeResult:
        """Yield the question."""
        raise NotImplementedError

    async def action_submit(self) -> None:
        """Submit the input as Enter does; bound with priority to show in the footer."""
        await self.query_one(Input).action_submit()
