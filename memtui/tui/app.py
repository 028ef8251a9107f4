"""The app: screens and themes. It starts and stops the workers, and decides nothing.

Its first frame needs neither the house nor a screen of ours: both are brought in on a
thread while the reader already sees that memtui is there. That is why imports of
screens stand inside functions here (100 ms with what they need).
"""

import asyncio
import signal
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from time import time
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import textual
from rich.segment import Segments
from textual import events, on
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import BindingType
from textual.content import Content
from textual.driver import Driver
from textual.events import Key
from textual.filter import LineFilter
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from memtui import workspace
from memtui.errors import MemtuiError
from memtui.model.scope import ALL, Scope
from memtui.tui import commands, keys, palette, rendering, themes
from memtui.tui.messages import (
    HouseOpened,
    LookedInside,
    Narrowed,
    NodeWanted,
    SessionWanted,
    SettingWritten,
    WorkReported,
)
from memtui.tui.themes import DARK, THEMES, stylesheets
from memtui.tui.widgets.status_line import Failures
from memtui.workspace import WorkspaceProtocol

if TYPE_CHECKING:
    from memtui.model.model_state import Promise
    from memtui.pipeline.progress import Progress
    from memtui.tui.screens.contents import ContentsScreen
    from memtui.tui.screens.hooks import HooksEditorProtocol
    from memtui.tui.screens.settings import SettingsEditorProtocol
    from memtui.tui.screens.welcome import Wanted


DoorsT = TypeVar("DoorsT")


DoorsAnswer = Callable[[DoorsT | None], None]


class Doors(App[str | MemtuiError]):
    """An app that shows the rooms of a house, once it is open."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "see_sessions",
        "go_back",
        "narrow",
        "import_histories",
        "see_hooks",
        "see_quarantine",
        "see_days",
        "see_settings",
        "see_jobs",
        "help",
    )

    def __init__(
        self,
        now: Callable[[], datetime],
        hooks: "Callable[[], HooksEditorProtocol] | None",
        settings: "SettingsEditorProtocol | None",
    ) -> None:
        """Take what the rooms need besides the house.

        Args:
            now: The clock, for the words that are relative to it.
            hooks: Whom to ask about the agents' hooks; the demo has none.
            settings: Whom to ask about the settings, and to have them changed.
        """
        super().__init__()
        self.now, self._hooks, self._settings = now, hooks, settings
        self._house: WorkspaceProtocol | None = None
        self._last: Progress | None = None
        self.failures = Failures()
        """What stages could not do since memtui was started."""
        self.scope = ALL
        """The part of the memory that every screen shows; ``narrow`` changes it."""

    @property
    def house(self) -> WorkspaceProtocol:
        """The house; there is none before it was opened."""
        assert self._house is not None
        return self._house

    def _report(self, progress: "Progress") -> None:
        self.post_message(WorkReported(progress))

    def _may_show(self, kind: type[Screen[DoorsT]]) -> bool:
        """Whether such a screen can be shown; says so if not."""
        if isinstance(self.screen, kind):
            self.notify("That is what you see; esc leads back.", markup=False)
        elif self._house is None:
            self.notify("One moment: the memory is being opened.", markup=False)
        else:
            return True
        return False

    def _show(
        self, screen: Screen[DoorsT], answer: DoorsAnswer[DoorsT] | None = None
    ) -> None:
        """Show a screen, which hears at once what the workers do."""
        self.push_screen(screen, answer)
        if self._last is not None:
            screen.post_message(WorkReported(self._last))

    # What part of the memory is shown

    def narrow(self, scope: Scope) -> None:
        """Show another part of the memory, on every screen."""
        self.scope = scope
        for screen in self.screen_stack:
            screen.post_message(Narrowed(scope))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """A part is chosen where the screen obeys it; jumps are taken back there."""
        asked_of = {"narrow": "OBEYS_SCOPE", "go_back": "LEADS_BACK"}.get(action)
        # The palette offers what can be done on the screen it lies over.
        below = [s for s in self.screen_stack if not isinstance(s, palette.Palette)]
        return asked_of is None or bool(getattr(below[-1], asked_of, False))

    def action_narrow(self) -> None:
        """Ask which part of the memory is to be shown."""
        from memtui.tui.screens.filter import FilterScreen

        def answer(scope: Scope | None) -> None:
            if scope is not None:
                self.narrow(scope)

        if self._house is not None:
            self.push_screen(FilterScreen(self.scope), answer)

    def action_see_hooks(self) -> None:
        """Show which agents tell memtui what happens."""
        from memtui.tui.screens.hooks import HooksScreen

        if self._hooks is None:
            self.notify("The demo leaves your agents alone.", markup=False)
        elif self._may_show(HooksScreen):
            self._show(HooksScreen(self._hooks()))

    def action_see_quarantine(self) -> None:
        """Show what could not be taken."""
        from memtui.tui.screens.quarantine import QuarantineScreen

        if not self._may_show(QuarantineScreen):
            return
        house = self.house
        rooms = house.quarantine, house.retry, house.zone, self.now
        self._show(QuarantineScreen(*rooms, self.failures))

    def action_see_jobs(self) -> None:
        """Show the work behind."""
        from memtui.tui.screens.jobs import JobsScreen

        if self._may_show(JobsScreen):
            house = self.house
            rooms = house.workdesk, house.zone, self.now
            self._show(JobsScreen(*rooms, is_demo=house.is_demo))

    def action_see_sessions(self) -> None:
        """List the sessions."""
        from memtui.tui.screens.sessions import SessionsScreen

        if not self._may_show(SessionsScreen):
            return
        house = self.house
        screen = SessionsScreen(
            house.zone, self.now, of=self.scope, is_demo=house.is_demo
        )
        self._show(screen)

    def action_see_settings(self) -> None:
        """Show every setting."""
        from memtui.tui.screens.settings import SettingsScreen

        if not self._may_show(SettingsScreen):
            return
        if self._settings is None:
            self.notify("There are no settings here.", markup=False)
            return
        screen = SettingsScreen(self._settings, is_demo=self.house.is_demo)
        self._show(screen)

    def action_see_days(self) -> None:
        """Show the days at a glance, and go to the one that is chosen."""
        from memtui.tui.screens.calendar import CalendarScreen
        from memtui.tui.screens.contents import ContentsScreen

        pass

        if not self._may_show(CalendarScreen):
            return

        def arrive(node_id: str | None) -> None:
            if node_id:
                self._contents().go_to(node_id)

        house = self.house
        day = self.screen.day if isinstance(self.screen, ContentsScreen) else None
        rooms = house.zone, self.now, day
        screen = CalendarScreen(*rooms, of=self.scope, is_demo=house.is_demo)
        self._show(screen, arrive)

    @on(SessionWanted)
    def read_session(self, message: SessionWanted) -> None:
        """Read a session."""
        from memtui.services.conversation import Whose
        from memtui.tui.screens.reader import ReaderScreen

        pass

        house = self.house
        whose = Whose(message.agent, message.session_id, message.subagent)
        at = message.event_id
        screen = ReaderScreen(
            whose, house.zone, self.now, event_id=at, is_demo=house.is_demo
        )
        self._show(screen)

    @on(NodeWanted)
    def see_node(self, message: NodeWanted) -> None:
        """Go back to the contents, and to a node there."""
        from memtui.tui.screens.reader import ReaderScreen

        screen = self.screen
        here = screen.here if isinstance(screen, ReaderScreen) else None
        self._contents().go_to(message.node_id, here)

    def _contents(self) -> "ContentsScreen":
        """The contents, with nothing over them."""
        from memtui.tui.screens.contents import ContentsScreen

        while not isinstance(self.screen, ContentsScreen):
            self.pop_screen()
        return self.screen

    def action_go_back(self) -> None:
        """Go back to where the reader was before the last jump."""
        from memtui.tui.screens.contents import ContentsScreen

        stack = self.screen_stack
        below = (one for one in stack if isinstance(one, ContentsScreen))
        spot = next((one.jumps.back() for one in below), None)
        if spot is None:
            words = "You have not jumped anywhere that this could lead back from."
            self.notify(words, markup=False)
            return
        self._contents().return_to(spot)
        if spot.session is not None:
            self.read_session(spot.session)

    def action_import_histories(self) -> None:
        """Offer the histories found on this machine, unless they are read elsewhere."""
        from memtui.tui.widgets.status_line import IMPORT_THERE

        if self._last is not None and not self._last.is_ours:
            self.notify(IMPORT_THERE, markup=False)
        else:
            self._offer_import(is_first=False)

    def _offer_import(self, *, is_first: bool) -> None:
        from memtui.tui.screens.welcome import (
            DEMO,
            Wanted,
            WelcomeScreen,
        )

        def answer(chosen: Wanted | str | None) -> None:
            if chosen == DEMO:
                self.exit(DEMO)
            elif isinstance(chosen, Wanted):
                self._import(chosen)

        house = self.house
        screen = WelcomeScreen(
            house.histories, house.looked_in, is_first=is_first, is_demo=house.is_demo
        )
        self._show(screen, answer)

    def _import(self, wanted: "Wanted") -> None:
        self.house.start_import(
            wanted.histories, self._report, is_watched=wanted.is_watched
        )

    def action_help(self) -> None:
        """Show the keys that work here."""
        from memtui.tui.screens.help import HelpScreen

        marks = getattr(self.screen, "SHOWS_MARKS", False)
        able = palette.able(self.screen)
        self.push_screen(HelpScreen(able, _pane(self.screen), with_marks=marks))


def _pane(screen: Screen[object]) -> str:
    """What the part that has the focus is called, where it has a name."""
    if screen.focused is None:
        return ""
    nodes = screen.focused.ancestors_with_self
    return next((node.CALLED for node in nodes if hasattr(node, "CALLED")), "")


PATIENCE_S = 0.5
"""How long a key is waited for, in seconds: one that hangs keeps no other away."""


class Turns:
    """The keys that were pressed while another one was at work."""

    def __init__(self, app: App[Any], give: Callable[[Key], Awaitable[None]]) -> None:
        """Take what gives a key to who has the focus."""
        self._app, self._give = app, give
        self._ahead: deque[Key] = deque()
        self._number = 0
        self._limit: asyncio.TimerHandle | None = None

    async def take(self, key: Key) -> None:
        """Give a key, now or when it is its turn."""
        if self._limit is not None:
            self._ahead.append(key)
        else:
            await self._begin(key)

    async def _begin(self, key: Key) -> None:
        self._number += 1
        number, app = self._number, self._app
        loop = asyncio.get_running_loop()
        self._limit = loop.call_later(PATIENCE_S, app.call_later, self._end, number)
        given_to: MessagePump = app.focused or app.screen
        await self._give(key)
        self._follow(given_to, number)

    def _follow(self, pump: MessagePump | None, number: int) -> None:
        """Go behind the key, on its way from who has the focus out to the app."""
        if pump is not None and pump is not self._app:
            pump.call_later(self._follow, pump._parent, number)
        else:
            self._app.call_later(self._settle, number)

    def _settle(self, number: int) -> None:
        """Wait for the screen that it opened, and for where that has its focus."""
        self._app.screen.call_later(self._app.call_later, self._end, number)

    async def _end(self, number: int) -> None:
        if number != self._number or self._limit is None:
            return  # It has been waited for long enough before.
        self._limit.cancel()
        self._limit = None
        if self._ahead:
            await self._begin(self._ahead.popleft())


LASTING_S = 60.0
"""What is said for longer than this, in seconds, holds on every screen."""


class Answering(Doors):
    """An app that answers every key of the table."""

    def __init__(
        self,
        now: Callable[[], datetime],
        hooks: "Callable[[], HooksEditorProtocol] | None",
        settings: "SettingsEditorProtocol | None",
    ) -> None:
        """Take what the rooms need besides the house."""
        super().__init__(now, hooks, settings)
        self._turns = Turns(self, super().on_event)
        self._pressed_at = 0.0

    def on_mount(self) -> None:
        """Notice when another screen is shown."""
        forget = self._forget_said
        self.screen_change_signal.subscribe(self, forget, immediate=True)

    def _forget_said(self, _: Screen[object]) -> None:
        """Let go of what was said before the key that leads to another screen."""
        for said in list(self._notifications):
            if said.raised_at < self._pressed_at and said.timeout < LASTING_S:
                self._unnotify(said, refresh=False)

    def on_key(self, event: events.Key) -> None:
        """Say why a key of the table does nothing here: none of them is silent."""
        bound = self.screen.active_bindings.get(event.key)
        if bound is None or not bound.enabled:
            self._say_why_not(event.key)

    def _say_why_not(self, key: str) -> None:
        if why := commands.why_not(key):
            self.clear_notifications()
            self.notify(why, markup=False)

    def action_focus_next(self) -> None:
        """Go to the next pane, or say that this is the only one."""
        before = self.focused
        super().action_focus_next()
        if before is not None and self.focused is before:
            self._say_why_not("tab")

    def action_focus_previous(self) -> None:
        """Go to the pane before, or say that this is the only one."""
        before = self.focused
        super().action_focus_previous()
        if before is not None and self.focused is before:
            self._say_why_not("shift+tab")

    async def on_event(self, event: events.Event) -> None:
        """Give keys in their turn, and paste several lines as one."""
        if isinstance(event, events.Paste) and not event.is_forwarded:
            # There is no room for more anywhere.
            lines = (line.strip() for line in event.text.splitlines())
            event.text = " ".join(line for line in lines if line)
        if isinstance(event, events.Key | events.MouseDown) and not event.is_forwarded:
            self._pressed_at = time()
        if isinstance(event, events.Key) and not event.is_forwarded:
            await self._turns.take(event)
        else:
            await super().on_event(event)


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
        open_house: Callable[[], WorkspaceProtocol],
        now: Callable[[], datetime] = _utc_now,
        theme: str = DARK.name,
        opening: str = "opening…",
        hooks: "Callable[[], HooksEditorProtocol] | None" = None,
        settings: "SettingsEditorProtocol | None" = None,
        ascii: str = rendering.AUTO,
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
        self._drawing = rendering.Drawing(ascii)
        super().__init__(now, hooks, settings)
        self.no_color = self._drawing.is_colourless
        self._open_house, self._opening = open_house, opening
        for known in THEMES:
            self.register_theme(known)
        self.theme = theme

    def get_driver_class(self) -> type[Driver]:
        """Who reads the terminal: keys, and not what it answers by itself."""
        return keys.unheard(super().get_driver_class())

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
        pass

        self.post_message(HouseOpened(house))

    @on(HouseOpened)
    def enter(self, message: HouseOpened) -> None:
        """Show the contents, start the workers, and look whether anything is kept."""
        from memtui.model.filters import Filters
        from memtui.tui.screens.contents import ContentsScreen
        from memtui.tui.screens.search import SearchHistory
        from memtui.tui.widgets.results import (
            Finder,
            View,
        )

        pass
        pass
        pass

        house, asked = message.house, SearchHistory()
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
        self.call_after_refresh(workspace.settle)
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
        from memtui import workspace

        house = self.house
        return workspace.of_running(house.settings, self._last, is_demo=house.is_demo)

    def _look(self) -> None:
        from memtui.services import status

        self.post_message(LookedInside(status.is_empty()))

    @on(LookedInside)
    def welcome(self, message: LookedInside) -> None:
        """Greet who starts with nothing kept."""
        if message.is_empty:
            self._offer_import(is_first=True)

    @on(WorkReported)
    def pass_on(self, message: WorkReported) -> None:
        """Tell every screen that shows what the workers do."""
        if self._last is None:
            workspace.settle()  # the first one tells that they are put together
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
        from memtui.tui import format

        if event.state is not WorkerState.ERROR:
            return
        error = event.worker.error
        if event.worker.group == "keep":
            words = f"The theme is not remembered: {format.why(error)}."
            self.notify(words, markup=False)
        elif event.worker.group != "open":
            words = f"The store could not be read: {format.why(error)}"
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
        from rich.traceback import Traceback

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
