"""The app: screens and themes. It starts and stops the workers, and decides nothing.

Its first frame needs neither the house nor a screen of ours: both are brought in on a
thread while the reader already sees that memtui is there. That is why imports of
screens stand inside functions here (100 ms with what they need).
"""

import asyncio
import signal
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, ClassVar, TypeVar

import textual
from rich.segment import Segments
from textual import on
from textual.app import ComposeResult, SystemCommand
from textual.binding import BindingType
from textual.content import Content
from textual.driver import Driver
from textual.filter import LineFilter
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from memtui import commands, palette
from memtui.errors import MemtuiError
from memtui.house import garbage
from memtui.house.household import House
from memtui.keys import replies
from memtui.keys.answering import Answering
from memtui.looks import drawing, themes
from memtui.looks.stylesheets import stylesheets
from memtui.looks.themes import DARK, THEMES
from memtui.messages.house import HouseOpened, LookedInside, WorkReported
from memtui.messages.settings import SettingWritten

if TYPE_CHECKING:
    from memtui.memory.summarizers import Promise
    from memtui.screens.hooks import Desk
    from memtui.screens.settings import Desk as SettingsDesk
    from memtui.stages.progress import Progress


GONE_S = 3600.0
"""How long it is told that the memory is gone, in seconds: until it is back."""

WARM_UP_S = 1.5
"""How long after the contents are shown the search is made ready, in seconds."""

T = TypeVar("T")
Answer = Callable[[T | None], None]


def _utc_now() -> datetime:
    return datetime.now(UTC)


class MemtuiApp(Answering):
    """Reads one house; ends with ``"demo"``, or with what kept the house shut."""

    TITLE = "memtui"
    CSS_PATH = stylesheets()
    COMMANDS: ClassVar = {palette.Offers}
    COMMAND_PALETTE_BINDING = commands.named("palette").keys[0]
    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "switch_theme",
        "suspend",
        "quit",
    )

    def __init__(
        self,
        open_house: Callable[[], House],
        now: Callable[[], datetime] = _utc_now,
        theme: str = DARK.name,
        opening: str = "opening…",
        hooks: "Callable[[], Desk] | None" = None,
        settings: "SettingsDesk | None" = None,
        ascii: str = drawing.AUTO,
    ) -> None:
        """Take a way to open the house.

        Args:
            open_house: Opens it; called once, on a thread.
            now: The clock, for the words that are relative to it.
            theme: The name of one of the themes.
            opening: What to say until the house is open.
            hooks: Whom to ask about the agents' hooks; the demo has none.
            settings: Whom to ask about the settings, and to have them changed.
            ascii: When marks are drawn with plain letters.
        """
        self._drawing = drawing.Drawing(ascii)
        super().__init__(now, hooks, settings)
        self.no_color = self._drawing.is_colourless
        self._open_house, self._opening = open_house, opening
        for known in THEMES:
            self.register_theme(known)
        self.theme = theme

    def get_driver_class(self) -> type[Driver]:
        """Who reads the terminal: keys, and not what it answers by itself."""
        return replies.unheard(super().get_driver_class())

    def compose(self) -> ComposeResult:
        """The first frame: seen until the house is open."""
        words = Content.assemble((self.TITLE, "bold $accent"), "   ", self._opening)
        yield Static(words, id="opening")

    def on_load(self) -> None:
        """Leave as ``q`` does when told to end, or when the terminal is gone."""
        # Not on a thread, nor on a system that has no such signals.
        with suppress(RuntimeError, ValueError, NotImplementedError):
            for told in (signal.SIGTERM, signal.SIGHUP):
                asyncio.get_running_loop().add_signal_handler(told, self.exit)

    def on_mount(self) -> None:
        """Open the house as soon as the first frame is there."""
        self.call_after_refresh(
            self.run_worker, self._open, group="open", thread=True, exit_on_error=False
        )

    def _open(self) -> None:
        """Open the house and load its first screen. Runs on a thread."""
        house = self._open_house()
        from memtui.screens import contents  # noqa: F401, PLC0415

        self.post_message(HouseOpened(house))

    @on(HouseOpened)
    def enter(self, message: HouseOpened) -> None:
        """Show the contents, start the workers, and look whether anything is kept."""
        from memtui.memory.filters import Filters  # noqa: PLC0415
        from memtui.screens.asked import Asked  # noqa: PLC0415
        from memtui.screens.contents import ContentsScreen  # noqa: PLC0415
        from memtui.widgets.found_lines import Finder, View  # noqa: PLC0415

        house, asked = message.house, Asked()
        self._house = house

        def only() -> Filters:
            return Filters(of=self.scope)

        # Each is brought in by the first question that is asked of it.
        finders: dict[View, Finder] = {
            View.ALL: lambda text: house.search.find(text, filters=only()),
            View.SUMMARIES: lambda text: house.teleport.find(text, of=self.scope),
            View.MESSAGES: lambda text: house.talk.find(
                text, is_one_each=asked.is_one_each, filters=only()
            ),
        }
        rooms = finders, house.zone, self.now, self._promise
        contents = ContentsScreen(
            *rooms,
            asked=asked,
            of=self.scope,
            count=house.count_tokens,
            is_demo=house.is_demo,
        )
        self.push_screen(contents)
        self.call_after_refresh(garbage.settle)
        # Not before there is something to see.
        self.call_after_refresh(house.start, self._report)
        self.set_timer(WARM_UP_S, self._warm_up)
        self.run_worker(self._look, group="look", thread=True, exit_on_error=False)

    def _warm_up(self) -> None:
        """Have the index opened before it is asked: that may take a second."""
        house = self.house

        def ask() -> None:
            # Why it cannot be asked is said where somebody asks it.
            with suppress(Exception):
                house.search.find(f"{self.TITLE} ")

        # Leaving does not wait for it.
        threading.Thread(target=ask, name="warm-up", daemon=True).start()

    def on_unmount(self) -> None:
        """Let the workers end by themselves."""
        if self._house is not None:
            self._house.stop()

    def _promise(self) -> "Promise":
        """Who makes what is asked of a model, and when; or why nobody does."""
        from memtui.house import promises  # noqa: PLC0415 - seldom asked

        house = self.house
        return promises.of_running(house.settings, self._last, is_demo=house.is_demo)

    def _look(self) -> None:
        from memtui.recall import health  # noqa: PLC0415

        self.post_message(LookedInside(health.is_empty()))

    @on(LookedInside)
    def welcome(self, message: LookedInside) -> None:
        """Greet who starts with nothing kept."""
        if message.is_empty:
            self._offer_import(is_first=True)

    @on(WorkReported)
    def pass_on(self, message: WorkReported) -> None:
        """Tell every screen that shows what the workers do."""
        if self._last is None:
            garbage.settle()  # the first one tells that they are put together
        self._tell_if_gone(self._last, message.progress)
        self._last = message.progress
        self.failures.note(message.progress, self.now())
        for screen in self.screen_stack:
            screen.post_message(WorkReported(message.progress))

    def _tell_if_gone(self, before: "Progress | None", now: "Progress") -> None:
        """Say that the memory was taken away, or that it is back."""
        was_gone = before is not None and before.is_gone
        is_told = was_gone and before is not None and before.error == now.error
        if now.is_gone and not is_told:
            self.clear_notifications()
            words = f"{now.error[:1].upper()}{now.error[1:]}."
            self.notify(words, severity="error", timeout=GONE_S, markup=False)
        elif was_gone and not now.is_gone:
            self.clear_notifications()
            self.notify("The memory is back: memtui goes on.", markup=False)

    @on(Worker.StateChanged)
    def say_why(self, event: Worker.StateChanged) -> None:
        """Say why the house could not be opened, or not be looked into."""
        from memtui.widgets import wording  # noqa: PLC0415

        if event.state is not WorkerState.ERROR:
            return
        error = event.worker.error
        if event.worker.group == "keep":
            words = f"The theme is not remembered: {wording.why(error)}."
            self.notify(words, markup=False)
        elif event.worker.group != "open":
            words = f"The store could not be read: {wording.why(error)}"
            self.notify(words, severity="error", markup=False)
        elif isinstance(error, MemtuiError):
            self.exit(error)
        else:
            raise error or RuntimeError("the house could not be opened")

    @on(SettingWritten)
    def take_setting(self, message: SettingWritten) -> None:
        """Take at once what a person has just set, where that can be."""
        name, value = message.entry.setting.name, message.entry.text
        if name == "screen.theme":
            self.theme = value
        elif name == "screen.ascii":
            self._drawing.take(value)
            self.refresh_css(animate=False)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What is done to each line on its way to the terminal."""
        given, theme = super().get_line_filters(), self.current_theme
        return self._drawing.filters(given, theme.name, theme.variables)

    def action_switch_theme(self, name: str = "") -> None:
        """Take the theme of this name, or else the one after this one."""
        self.theme = name or themes.after(self.theme).name
        if self._settings is not None:
            keep = partial(self._settings.change, "screen.theme", self.theme)
            self.run_worker(keep, group="keep", thread=True, exit_on_error=False)

    def action_suspend(self) -> None:
        """Go to the shell; the workers rest meanwhile, with the whole process."""
        if self._driver is not None and self._driver.can_suspend:
            self.action_suspend_process()
        else:
            self.notify("There is no shell here to go to.", markup=False)

    def _fatal_error(self) -> None:
        """Show where memtui failed, and not what it held: that may be private."""
        from rich.traceback import Traceback  # noqa: PLC0415 - never, it is hoped

        self.bell()
        told = Traceback(show_locals=False, width=None, suppress=[textual])
        lines = self.console.render(told, self.console.options)
        self._exit_renderables.append(Segments(lines))
        self._close_messages_no_wait()

    def action_command_palette(self) -> None:
        """Find a command by its name."""
        if not isinstance(self.screen, palette.Palette):
            self.push_screen(palette.Palette(id="--command-palette"))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """What can be done now."""
        return palette.offers(self, screen)
