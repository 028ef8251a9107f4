"""The Textual app: opens a workspace, shows its screens, and reports on its pipeline.

The first frame needs neither the workspace nor a screen. Both are loaded on a thread
while it is shown, which is why screens are imported inside methods.
"""

import asyncio
import gc
import signal
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import textual
from textual import events, on
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import BindingType
from textual.content import Content
from textual.filter import LineFilter
from textual.notifications import SeverityLevel
from textual.screen import Screen
from textual.widgets import Static

from memtui.errors import MemtuiError
from memtui.model.events import remove_tag_characters
from memtui.model.filters import ALL, Scope
from memtui.tui import commands, messages, themes, workers
from memtui.tui.commands import FIRST_LINE
from memtui.tui.themes import DARK, THEMES, THEMES_256, stylesheets

if TYPE_CHECKING:
    from memtui.integrations.config_files import Machine
    from memtui.model.jobs import RewriteForecast
    from memtui.model.sessions import AgentHistory
    from memtui.pipeline.progress import PipelineProgress
    from memtui.settings_file import SettingsEditor
    from memtui.tui.screens.contents import ContentsScreen
    from memtui.workspace import Workspace

T = TypeVar("T")

GONE_S = 3600.0
"""The time for which the notice that the store is gone stays, unless it comes back."""

SEQUENCE_S = 1.0  # The longest time between two keys of a sequence.

COLLECTION_THRESHOLDS = 5_000, 5, 100
"""The arguments of ``gc.set_threshold`` for a process that shows the app.

A collection of everything takes longer than a frame.
"""


def _utc_now() -> datetime:
    return datetime.now(UTC)


class MemtuiApp(App[str | MemtuiError], workers.Loader):
    """Shows one workspace; returns "demo" to open the demo, or why opening failed."""

    TITLE = "memtui"
    CSS_PATH = stylesheets("00-base")  # The others are read later.
    COMMAND_PALETTE_BINDING = commands.get_command("palette").keys
    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "show_sessions",
        "jump_back",
        "filter",
        "import_histories",
        "show_hooks",
        "show_skipped",
        "show_audit",
        "show_points",
        "show_calendar",
        "show_settings",
        "show_jobs",
        "switch_theme",
        "suspend",
    )

    def __init__(
        self,
        open_workspace: "Callable[[], Workspace]",
        now: Callable[[], datetime] = _utc_now,
        theme: str = DARK.name,
        opening: str = "opening…",
        hooks_machine: "Callable[[], Machine] | None" = None,
        settings: "SettingsEditor | None" = None,
        ascii: str = themes.AUTO,
    ) -> None:
        """Make the app.

        Args:
            open_workspace: Called once, on a thread.
            opening: Shown until the workspace is open.
            hooks_machine: Returns the machine whose hooks are shown and changed; the
                demo has none.
        """
        self._line_filters = themes.LineFilters(ascii)
        super().__init__()
        self.no_color = self._line_filters.is_colorless
        self._open_workspace, self._opening = open_workspace, opening
        self.now, self._hooks_machine, self._settings = now, hooks_machine, settings
        self._workspace: Workspace | None = None
        self._is_started = False
        self._progress: PipelineProgress | None = None
        self._seen_problems = 0
        self._import_error = ""
        self._warning = ""
        self._unused_key: events.Key | None = None  # The last one without a binding.
        self.scope = ALL  # The part of the store that all screens show.
        # Terminals name what they can show in COLORTERM; without it, they have 256.
        has_all_colors = self.console.color_system in (None, "truecolor")
        for available_theme in THEMES if has_all_colors else THEMES_256:
            self.register_theme(available_theme)
        self.theme = theme

    # Starting and stopping

    def compose(self) -> ComposeResult:
        title = Content.assemble((self.TITLE, "bold $accent"), "   ", self._opening)
        yield Static(title, id="opening")

    def on_load(self) -> None:
        """Quit properly on SIGTERM, and when the terminal is closed."""
        # Neither on a thread nor on Windows can signal handlers be added.
        with suppress(RuntimeError, ValueError, NotImplementedError):
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGTERM, self.exit)
            hang_up = partial(self.exit, return_code=128 + signal.SIGHUP)
            loop.add_signal_handler(signal.SIGHUP, hang_up)

    def on_mount(self) -> None:
        """Open the workspace as soon as the first frame is drawn."""
        self.call_after_refresh(self.load, self._open, self._enter, "open")

    def _open(self) -> "Workspace":
        """Open the workspace and import the first screen, on a thread."""
        workspace = self._open_workspace()
        import memtui.tui.screens.contents  # noqa: F401

        return workspace

    def _enter(self, workspace: "Workspace") -> None:
        from memtui.tui.screens.contents import ContentsScreen

        self._workspace = workspace
        # Otherwise the screen reads them, and Textual parses all others again.
        self._read_styles(*ContentsScreen.STYLES)
        self.push_screen(ContentsScreen(self.scope, self.size))

    def _read_styles(self, *names: str) -> None:
        """Read stylesheets, by default all."""
        for path in stylesheets(*names):
            self.stylesheet.read(path)

    @on(messages.TocLoaded)
    @on(messages.LoadFailed)
    def start_pipeline(self) -> None:
        """Start the pipeline once the contents are shown, which it would delay."""
        if not self._is_started:
            self._is_started = True
            self.call_after_refresh(self._start)

    def _start(self) -> None:
        from memtui.services import status
        from memtui.tui.screens.contents import ContentsScreen

        self._read_styles()
        if not isinstance(self.screen, ContentsScreen):
            self.refresh_css(animate=False)  # It was opened before its style was read.
        freeze()
        self.workspace.start(self._report)
        self.load(status.is_empty, self._welcome_if_empty, "empty")

    def on_unmount(self) -> None:
        if self._workspace is not None:
            self._workspace.stop()

    @property
    def workspace(self) -> "Workspace":
        """The open workspace; available once the contents are shown."""
        assert self._workspace is not None
        return self._workspace

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Show a notice; what is in brackets in it is never markup."""
        super().notify(
            message, title=title, severity=severity, timeout=timeout, markup=False
        )

    def show_error(self, error: BaseException, group: str) -> None:
        """Exit if the workspace could not be opened; show other errors."""
        from memtui.tui import format

        if group == "theme":
            self.notify(f"Theme not saved: {format.error_text(error)}.")
        elif group != "open":
            text = f"The store could not be read: {format.error_text(error)}"
            self.notify(text, severity="error")
        elif isinstance(error, MemtuiError):
            self.exit(error)
        else:
            raise error

    def _fatal_error(self) -> None:
        """Print a traceback without local variables: they may be private."""
        from rich.segment import Segments
        from rich.traceback import Traceback

        self.bell()
        traceback = Traceback(show_locals=False, width=None, suppress=[textual])
        lines = self.console.render(traceback, self.console.options)
        self._exit_renderables.append(Segments(lines))
        self._close_messages_no_wait()

    # Progress of the pipeline

    def _report(self, progress: "PipelineProgress") -> None:
        # Called on a thread of the pipeline.
        self.post_message(messages.ProgressReported(progress))

    @on(messages.ProgressReported)
    def pass_on(self, message: messages.ProgressReported) -> None:
        if self._progress is None:
            freeze()  # With the first report the pipeline is set up.
        was_gone = self._progress is not None and self._progress.is_store_gone
        if message.progress.is_store_gone is not was_gone:
            self.clear_notifications()
            if not was_gone:
                error = message.progress.error
                text = f"{error[:1].upper()}{error[1:]}."
                self.notify(text, severity="error", timeout=GONE_S)
        self._progress = message.progress
        if message.progress.stage == "import":
            # In a notice too: the next report hides it from the status line.
            error = message.progress.error
            if error and error != self._import_error:
                self.notify(f"importing: {error}", severity="error")
            self._import_error = error
        health = message.progress.model.health
        if health and health.is_ready and health.message not in ("", self._warning):
            self._warning = health.message
            self.notify(f"{self._warning}.", severity="warning")
        self._seen_problems = min(self._seen_problems, message.progress.skipped)
        self._report_to(*self.screen_stack)

    def _report_to(self, *screens: Screen[Any]) -> None:
        """Pass the last report on, less the skipped lines that the user has seen."""
        if self._progress is not None:
            unseen = self._progress.skipped - self._seen_problems
            for screen in screens:
                progress = replace(self._progress, skipped=unseen)
                screen.post_message(messages.ProgressReported(progress))

    def rewrite_forecast(self) -> "RewriteForecast":
        """Return which model writes new versions and when, or why none does."""
        return self.workspace.rewrite_forecast(self._progress)

    # Screens

    def _can_show(self, kind: type[Screen[T]]) -> bool:
        """Return True if a screen of this kind can be shown; notify if not."""
        if isinstance(self.screen, kind):
            self.notify("This screen is already open. Esc goes back.")
        elif self._workspace is None:
            self.notify("Still opening.")
        else:
            return True
        return False

    def show_screen(
        self, screen: Screen[T], then: Callable[[T], object] = lambda _: None
    ) -> None:
        """Show a screen in place of notices, and give it the last report."""
        self.clear_notifications()
        self.ask(screen, then)
        self._report_to(screen)

    def ask(self, screen: Screen[T], then: Callable[[T], object]) -> None:
        """Show a screen, and call `then` with its answer unless that is empty."""

        def answer(result: T | None) -> None:
            if result:
                then(result)

        self.push_screen(screen, answer)

    def action_show_hooks(self) -> None:
        from memtui.tui.screens.hooks import HooksScreen

        if self._hooks_machine is None:
            self.notify("Hooks are not available in the demo.")
        elif self._can_show(HooksScreen):
            self.show_screen(HooksScreen(self._hooks_machine()))

    def action_show_skipped(self) -> None:
        from memtui.tui.screens.quarantine import QuarantineScreen

        if self._can_show(QuarantineScreen):
            self.show_screen(QuarantineScreen())
            self._seen_problems = self._progress.skipped if self._progress else 0
            self._report_to(*self.screen_stack)

    def action_show_jobs(self) -> None:
        from memtui.tui.screens.jobs import JobsScreen

        if self._can_show(JobsScreen):
            self.show_screen(JobsScreen())

    def action_show_sessions(self) -> None:
        from memtui.tui.screens.sessions import SessionsScreen

        if self._can_show(SessionsScreen):
            self.show_screen(SessionsScreen(self.scope))

    def action_show_audit(self) -> None:
        """Audit what is selected on this screen, or else all."""
        from memtui.tui.screens.audit import AuditScreen
        from memtui.tui.screens.session_actions import SessionActions

        if self._can_show(AuditScreen):
            screen = self.screen
            name = screen.page_id if isinstance(screen, SessionActions) else ""
            self.show_screen(AuditScreen(name, self.scope))

    def action_show_points(self) -> None:
        from memtui.tui.screens.points import PointsScreen

        if self._can_show(PointsScreen):
            self.show_screen(PointsScreen(self.scope))

    def action_show_settings(self) -> None:
        from memtui.tui.screens.settings import SettingsScreen

        if self._settings is None:
            self.notify("Settings are not available here.")
        elif self._can_show(SettingsScreen):
            self.show_screen(SettingsScreen(self._settings))

    def action_show_calendar(self) -> None:
        from memtui.tui.screens.calendar import CalendarScreen
        from memtui.tui.screens.contents import ContentsScreen

        if self._can_show(CalendarScreen):
            day = self.screen.day if isinstance(self.screen, ContentsScreen) else None
            self.show_screen(
                CalendarScreen(self.scope, day),
                lambda node_id: self._show_contents().go_to(node_id),
            )

    @on(messages.SessionRequested)
    def show_session(self, message: messages.SessionRequested) -> None:
        from memtui.services.conversation import ConversationKey
        from memtui.tui.screens.reader import ReaderScreen

        key = ConversationKey(message.agent, message.session_id, message.subagent)
        self.show_screen(ReaderScreen(key, message.event_id, message.quotes))

    @on(messages.NodeRequested)
    def show_node(self, message: messages.NodeRequested) -> None:
        from memtui.tui.screens.reader import ReaderScreen

        screen = self.screen
        session = screen.here if isinstance(screen, ReaderScreen) else None
        self._show_contents().go_to(message.node_id, session)

    def _show_contents(self) -> "ContentsScreen":
        """Close all screens over the contents."""
        from memtui.tui.screens.contents import ContentsScreen

        while not isinstance(self.screen, ContentsScreen):
            self.pop_screen()
        return self.screen

    def action_jump_back(self) -> None:
        """Leave a session; take back the last jump in the contents."""
        from memtui.tui.screens.contents import ContentsScreen
        from memtui.tui.screens.reader import ReaderScreen

        if isinstance(self.screen, ReaderScreen):
            self.screen.dismiss(None)
            return
        screens = [s for s in self.screen_stack if isinstance(s, ContentsScreen)]
        if not screens or not screens[0].jumps:
            self.notify("There is no jump to take back.")
            return
        location = screens[0].jumps.pop()
        self._show_contents().return_to(location)
        if location.session is not None:
            self.show_session(location.session)

    def action_help(self) -> None:
        from memtui.tui.screens.help import HelpScreen

        self.push_screen(HelpScreen(self.screen))

    # Importing

    def _welcome_if_empty(self, is_empty: bool) -> None:
        if is_empty:
            self._offer_import(is_first=True)

    def action_import_histories(self) -> None:
        """Offer to import conversations, unless another memtui runs the pipeline."""
        from memtui.tui.widgets.status_line import IMPORT_ELSEWHERE

        if self._progress is not None and not self._progress.is_active:
            self.notify(IMPORT_ELSEWHERE)
        else:
            self._offer_import(is_first=False)

    def _offer_import(self, *, is_first: bool) -> None:
        from memtui.tui.screens.welcome import WelcomeScreen

        self.show_screen(WelcomeScreen(is_first=is_first), lambda _: self.exit("demo"))

    def start_import(
        self, histories: "Sequence[AgentHistory]", *, is_watched: bool
    ) -> None:
        self.workspace.start_import(histories, self._report, is_watched=is_watched)

    # The scope

    def set_scope(self, scope: Scope) -> None:
        self.scope = scope
        for screen in self.screen_stack:
            screen.post_message(messages.ScopeChanged(scope))

    def action_filter(self) -> None:
        from memtui.tui.screens.filter import FilterScreen

        if self._workspace is not None:
            self.ask(FilterScreen(self.scope), self.set_scope)

    # Settings

    @on(messages.SettingChanged)
    def apply_setting(self, message: messages.SettingChanged) -> None:
        """Apply a changed setting at once if it concerns the screen."""
        name, value = message.entry.setting.name, message.entry.text
        if name == "screen.theme":
            self.theme = value
        elif name == "screen.ascii":
            self._line_filters.set_ascii(value)
            self.refresh_css(animate=False)

    def action_switch_theme(self, name: str = "") -> None:
        """Switch to a theme by name, or to the next one, and save it."""
        self.theme = name or themes.next_theme(self.theme).name
        if self._settings is not None:
            save = partial(self._settings.change, "screen.theme", self.theme)
            self.execute(save, lambda _: None, "theme")

    def get_line_filters(self) -> Sequence[LineFilter]:
        theme = self.current_theme
        return self._line_filters.apply(
            super().get_line_filters(), theme.name, theme.variables
        )

    def copy_to_clipboard(self, text: str) -> None:
        super().copy_to_clipboard(remove_tag_characters(text))

    def action_suspend(self) -> None:
        self.action_suspend_process()

    # Keys and commands

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """Filter and jump back only where the screen below the palette supports it."""
        needs = {"filter": "FILTERS_BY_SCOPE", "jump_back": "HAS_JUMP_BACK"}.get(action)
        below = [s for s in self.screen_stack if not isinstance(s, commands.Palette)]
        return needs is None or bool(getattr(below[-1], needs, False))

    async def on_event(self, event: events.Event) -> None:
        """Join pasted lines, since inputs have one line, and keep alt from typing."""
        if isinstance(event, events.Key) and event.key.startswith("alt+"):
            # Most terminals send alt+r as escape and r, which Textual would type.
            event.character = None
        if isinstance(event, events.Paste) and not event.is_forwarded:
            lines = (line.strip() for line in event.text.splitlines())
            event.text = " ".join(line for line in lines if line)
        await super().on_event(event)

    async def on_key(self, event: events.Key) -> None:
        """Read the sequence of keys, and show why a known key does nothing here."""
        before, self._unused_key = self._unused_key, event
        keys = f"{before.key}{event.key}" if before else ""
        if before and keys == FIRST_LINE and event.time - before.time < SEQUENCE_S:
            await self.action_go_to_first()
            return
        bound = self.screen.active_bindings.get(event.key)
        text = commands.explain_idle_key(event.key)
        if text and (bound is None or not bound.enabled):
            self.clear_notifications()
            self.notify(text)

    async def action_go_to_first(self) -> None:
        """Go to the first line of what has the focus."""
        self._unused_key = None
        self.clear_notifications()
        active = self.screen.active_bindings.get(commands.get_command("first").keys)
        if active is not None:
            await self.run_action(active.binding.action, active.node)

    def action_command_palette(self) -> None:
        if not isinstance(self.screen, commands.Palette):
            self.push_screen(commands.Palette(id="--command-palette"))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        return commands.system_commands(self, screen)


def freeze() -> None:
    """Exclude all present objects from collections, if they were off at the start.

    The first call turns them on.
    """
    if not gc.isenabled():
        gc.set_threshold(*COLLECTION_THRESHOLDS)
        gc.enable()
    if gc.get_threshold() == COLLECTION_THRESHOLDS:
        gc.freeze()
