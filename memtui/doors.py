"""Doors: the commands that lead from any screen to another one.

A screen is brought in when it is first asked for: imports of screens stand inside
functions here (100 ms with what they need).
"""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual import on
from textual.app import App
from textual.binding import BindingType
from textual.screen import Screen

from memtui import commands, palette
from memtui.errors import MemtuiError
from memtui.house.household import House
from memtui.memory.scopes import ALL, Scope
from memtui.messages.house import WorkReported
from memtui.messages.narrowing import Narrowed
from memtui.messages.sessions import NodeWanted, SessionWanted
from memtui.widgets.failures import Failures

if TYPE_CHECKING:
    from memtui.screens.contents import ContentsScreen
    from memtui.screens.hooks import Desk
    from memtui.screens.settings import Desk as SettingsDesk
    from memtui.screens.welcome import Wanted
    from memtui.stages.progress import Progress

T = TypeVar("T")
Answer = Callable[[T | None], None]


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
        hooks: "Callable[[], Desk] | None",
        settings: "SettingsDesk | None",
    ) -> None:
        """Take what the rooms need besides the house.

        Args:
            now: The clock, for the words that are relative to it.
            hooks: Whom to ask about the agents' hooks; the demo has none.
            settings: Whom to ask about the settings, and to have them changed.
        """
        super().__init__()
        self.now, self._hooks, self._settings = now, hooks, settings
        self._house: House | None = None
        self._last: Progress | None = None
        self.failures = Failures()
        """What stages could not do since memtui was started."""
        self.scope = ALL
        """The part of the memory that every screen shows; ``narrow`` changes it."""

    @property
    def house(self) -> House:
        """The house; there is none before it was opened."""
        assert self._house is not None
        return self._house

    def _report(self, progress: "Progress") -> None:
        self.post_message(WorkReported(progress))

    def _may_show(self, kind: type[Screen[T]]) -> bool:
        """Whether such a screen can be shown; says so if not."""
        if isinstance(self.screen, kind):
            self.notify("That is what you see; esc leads back.", markup=False)
        elif self._house is None:
            self.notify("One moment: the memory is being opened.", markup=False)
        else:
            return True
        return False

    def _show(self, screen: Screen[T], answer: Answer[T] | None = None) -> None:
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
        from memtui.screens.filter import FilterScreen  # noqa: PLC0415

        def answer(scope: Scope | None) -> None:
            if scope is not None:
                self.narrow(scope)

        if self._house is not None:
            self.push_screen(FilterScreen(self.scope), answer)

    def action_see_hooks(self) -> None:
        """Show which agents tell memtui what happens."""
        from memtui.screens.hooks import HooksScreen  # noqa: PLC0415

        if self._hooks is None:
            self.notify("The demo leaves your agents alone.", markup=False)
        elif self._may_show(HooksScreen):
            self._show(HooksScreen(self._hooks()))

    def action_see_quarantine(self) -> None:
        """Show what could not be taken."""
        from memtui.screens.quarantine import QuarantineScreen  # noqa: PLC0415

        if not self._may_show(QuarantineScreen):
            return
        house = self.house
        rooms = house.quarantine, house.retry, house.zone, self.now
        self._show(QuarantineScreen(*rooms, self.failures))

    def action_see_jobs(self) -> None:
        """Show the work behind."""
        from memtui.screens.jobs import JobsScreen  # noqa: PLC0415

        if self._may_show(JobsScreen):
            house = self.house
            rooms = house.workdesk, house.zone, self.now
            self._show(JobsScreen(*rooms, is_demo=house.is_demo))

    def action_see_sessions(self) -> None:
        """List the sessions."""
        from memtui.screens.sessions import SessionsScreen  # noqa: PLC0415

        if not self._may_show(SessionsScreen):
            return
        house = self.house
        screen = SessionsScreen(
            house.zone, self.now, of=self.scope, is_demo=house.is_demo
        )
        self._show(screen)

    def action_see_settings(self) -> None:
        """Show every setting."""
        from memtui.screens.settings import SettingsScreen  # noqa: PLC0415

        if not self._may_show(SettingsScreen):
            return
        if self._settings is None:
            self.notify("There are no settings here.", markup=False)
            return
        screen = SettingsScreen(self._settings, is_demo=self.house.is_demo)
        self._show(screen)

    def action_see_days(self) -> None:
        """Show the days at a glance, and go to the one that is chosen."""
        from memtui.screens.calendar import CalendarScreen  # noqa: PLC0415
        from memtui.screens.contents import ContentsScreen  # noqa: PLC0415

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
        from memtui.recall.conversation import Whose  # noqa: PLC0415
        from memtui.screens.reader import ReaderScreen  # noqa: PLC0415

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
        from memtui.screens.reader import ReaderScreen  # noqa: PLC0415

        screen = self.screen
        here = screen.here if isinstance(screen, ReaderScreen) else None
        self._contents().go_to(message.node_id, here)

    def _contents(self) -> "ContentsScreen":
        """The contents, with nothing over them."""
        from memtui.screens.contents import ContentsScreen  # noqa: PLC0415

        while not isinstance(self.screen, ContentsScreen):
            self.pop_screen()
        return self.screen

    def action_go_back(self) -> None:
        """Go back to where the reader was before the last jump."""
        from memtui.screens.contents import ContentsScreen  # noqa: PLC0415

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
        from memtui.widgets.status_line import IMPORT_THERE  # noqa: PLC0415

        if self._last is not None and not self._last.is_ours:
            self.notify(IMPORT_THERE, markup=False)
        else:
            self._offer_import(is_first=False)

    def _offer_import(self, *, is_first: bool) -> None:
        from memtui.screens.welcome import DEMO, Wanted, WelcomeScreen  # noqa: PLC0415

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
        from memtui.screens.help import HelpScreen  # noqa: PLC0415

        marks = getattr(self.screen, "SHOWS_MARKS", False)
        able = palette.able(self.screen)
        self.push_screen(HelpScreen(able, _pane(self.screen), with_marks=marks))


def _pane(screen: Screen[object]) -> str:
    """What the part that has the focus is called, where it has a name."""
    if screen.focused is None:
        return ""
    nodes = screen.focused.ancestors_with_self
    return next((node.CALLED for node in nodes if hasattr(node, "CALLED")), "")
