"""Base classes of the screens: loading, two panes, dialogs, and the footer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from rich.cells import cell_len
from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.screen import ModalScreen, Screen, ScreenResultType
from textual.visual import VisualType
from textual.widgets import Footer, Input, OptionList, Static
from textual.widgets._footer import FooterKey

from memtui.tui import commands, format, workers
from memtui.tui.messages import LeavePane, ProgressReported, ScopeChanged
from memtui.tui.widgets.panes import DetailPane, PaneTitle
from memtui.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from memtui.model.filters import Scope


LAYOUTS = [(0, "-narrow"), (100, "-normal"), (160, "-wide")]
"""The class of a screen from this width on, in columns."""

HEIGHTS = [(0, "-low"), (30, "-tall")]
"""The class of a screen from this height on, in lines."""

RETRY_HINT = f"{workers.WILL_RETRY} Press esc to go back."
"""Shown with an error when loading failed."""

NOTICE_CELLS = 72  # The most of a copied text that is shown in a notice.

CHANGE = "change"  # The group of threads that change what is listed.
NO_CONVERSATIONS = (
    "No conversations yet.\n\nPress i to import those found on this machine."
)


def describe_failure(lead: str, error: BaseException) -> Content:
    """Say that a load failed, and will be repeated."""
    text = Content.styled(f"{lead} {format.error_text(error)}", "$error")
    return text + f"\n\n{RETRY_HINT}"


class LoadingScreen(Screen[ScreenResultType], workers.AppNode):
    """A screen that reads and writes on threads."""

    def show_error(self, error: BaseException, group: str) -> None:
        self.notify(f"✗ {format.error_text(error)}", severity="error")

    def copy(self, text: str, about: str = "") -> None:
        """Copy a text to the clipboard, and say so."""
        self.app.copy_to_clipboard(text)
        title = f"Copied · {about}" if about else "Copied"
        self.notify(format.shorten(text, NOTICE_CELLS), title=title)

    def action_leave(self) -> None:
        self.dismiss(None)


FOOTER_GAP = 2  # The space between two keys, in cells.


class KeyFooter(Footer):
    """Textual's footer, without the key that opened this screen, and without the keys
    that it has no room for."""

    def __init__(self) -> None:
        super().__init__(compact=True)
        self._keys: list[tuple[Binding, bool]] = []

    def bindings_changed(self, screen: Screen[Any]) -> None:
        """Compose the footer again if its keys change, which takes about 15 ms."""
        active = screen.active_bindings.values()
        keys = [(each.binding, each.enabled) for each in active if each.binding.show]
        if self.app.app_focus and keys != self._keys:
            self._keys = keys
            super().bindings_changed(screen)

    def compose(self) -> ComposeResult:
        """Yield the key of the palette, which is always shown, then those that fit."""
        keys = [key for key in super().compose() if isinstance(key, FooterKey)]
        # The command that opened this screen is named after it.
        name = type(self.screen).__name__.removesuffix("Screen").lower()
        keys = [key for key in keys if key.action != f"show_{name}"]
        keys.sort(key=lambda key: not key.has_class("-command-palette"))
        room = self.content_size.width
        for key in keys:
            room -= cell_len(f"{key.key_display} {key.description}")
            if room >= 0:
                yield key
            room -= FOOTER_GAP

    async def on_resize(self) -> None:
        await self.recompose()


class BaseScreen(LoadingScreen[ScreenResultType]):
    """A screen with a status line and a footer, which reloads what changes."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(*commands.GLOBAL)

    FILTERS_BY_SCOPE = False
    """True if the scope applies, and can be changed here."""

    RELOAD_INTERVAL_S: ClassVar[float] = workers.RETRY_S
    """The least time between two reloads."""

    _needs_reload = False
    _has_reloaded_recently = False
    """True if it was reloaded less than the reload interval ago."""

    def compose(self) -> ComposeResult:
        scope = self.memtui.scope if self.FILTERS_BY_SCOPE else None
        yield StatusLine(scope, is_demo=self.workspace.is_demo)
        yield from self.compose_body()
        yield KeyFooter()

    def compose_body(self) -> ComposeResult:
        raise NotImplementedError

    @on(ProgressReported)
    def _show_progress(self, message: ProgressReported) -> None:
        self.query_one(StatusLine).show(message.progress)
        self.show_progress(message)

    @on(ScopeChanged)
    def _change_scope(self, message: ScopeChanged) -> None:
        if self.FILTERS_BY_SCOPE:
            self.query_one(StatusLine).scope = message.scope
            self.show_scope(message.scope)

    def show_progress(self, message: ProgressReported) -> None:
        """Show what the pipeline has changed."""

    def show_scope(self, scope: "Scope") -> None:
        """Show another scope."""

    def show_instead(self, text: VisualType) -> None:
        """Show a text instead of a list that is empty or could not be read."""
        self.query_one("#nothing", Static).update(text)
        self.add_class("-empty")

    def reload(self) -> None:
        """Load again what is shown."""

    def request_reload(self) -> None:
        """Reload now, or as soon as the reload interval has passed."""
        self._needs_reload = True
        self._reload_if_due()

    def retry_reload(self) -> None:
        """Reload after the interval, because this load failed."""
        self.set_timer(self.RELOAD_INTERVAL_S, self.request_reload)

    async def action_help(self) -> None:
        await self.app.run_action("app.help")

    def action_quit(self) -> None:
        self.app.exit()

    def _reload_if_due(self) -> None:
        if self._needs_reload and not self._has_reloaded_recently:
            self._needs_reload, self._has_reloaded_recently = False, True
            self.reload()
            self.set_timer(self.RELOAD_INTERVAL_S, self._end_interval)

    def _end_interval(self) -> None:
        self._has_reloaded_recently = False
        self._reload_if_due()


class ListDetailScreen(BaseScreen[ScreenResultType]):
    """A list, and beside or below it the details of its highlighted entry."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "next_pane", "previous_pane"
    )
    HORIZONTAL_BREAKPOINTS = LAYOUTS
    DETAIL_TITLE: ClassVar[str]
    """The title of the details while no entry is shown."""

    _list = getters.query_one(OptionList)
    _list_title = getters.query_one("#list-pane PaneTitle", PaneTitle)
    _detail_title = getters.query_one("#detail-pane PaneTitle", PaneTitle)
    _details = getters.query_one(DetailPane)

    def compose_body(self) -> ComposeResult:
        yield from self.compose_head()
        with Container(id="panes"):
            with Vertical(id="list-pane"):
                yield from self.compose_list()
            with Vertical(id="detail-pane"):
                yield PaneTitle(self.DETAIL_TITLE)
                yield from self.compose_details()

    def on_mount(self) -> None:
        self._list.focus()
        self.reload()

    def compose_head(self) -> ComposeResult:
        """Yield the widgets above both panes."""
        yield from ()

    def compose_list(self) -> ComposeResult:
        raise NotImplementedError

    def compose_details(self) -> ComposeResult:
        with DetailPane():
            yield Static(id="details", markup=False)

    def show_details(self, title: str, content: VisualType, info: str = "") -> None:
        """Show details, from their beginning if they have another title."""
        if title != self._detail_title.title:
            self._details.scroll_home(animate=False)
        self._detail_title.show(title, info)
        self.query_one("#details", Static).update(content)

    def show_error(self, error: BaseException, group: str) -> None:
        """Show a failed change in a notice, a failed load in the details."""
        if group == CHANGE:
            super().show_error(error, group)
            return
        self._list.loading = False
        self.show_details(self.DETAIL_TITLE, describe_failure("✗", error))
        self.retry_reload()

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

    @on(LeavePane)
    def action_back(self) -> None:
        """Go to the list, and from the list leave the screen."""
        if self.focused in (None, self._list):
            self.action_leave()
        else:
            self._list.focus()


class Dialog(LoadingScreen[ScreenResultType], ModalScreen[ScreenResultType]):
    """A question over the screen below, with a footer of its own."""

    choices: Sequence[str] = ()
    """The texts that ``step`` types into the input."""

    def compose(self) -> ComposeResult:
        yield from self.compose_dialog()
        yield KeyFooter()

    def compose_dialog(self) -> ComposeResult:
        raise NotImplementedError

    def action_submit(self) -> None:
        """Submit the input as Enter does; bound with priority to show in the footer.

        The keys typed before, which the input may not have read yet, come first.
        """
        line = self.query_one(Input)
        line.call_later(line.action_submit)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        return action != "step" or len(self.choices) > 1

    def action_step(self, by: int) -> None:
        line = self.query_one(Input)
        is_choice = line.value in self.choices
        at = self.choices.index(line.value) + by if is_choice else 0
        line.value = self.choices[at % len(self.choices)]
        line.cursor_position = len(line.value)


class FindInput(Input):
    """An input that leaves enter and escape to the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "screen.keep_words", "keep", key_display="enter"),
        Binding("escape", "screen.back", "go back", key_display="esc"),
    ]

    def __init__(self, placeholder: str) -> None:
        super().__init__(placeholder=placeholder, compact=True, id="words")

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Return whether a key is typed; Textual has no character for "slash"."""
        return key == "slash" or super().check_consume_key(key, character)
