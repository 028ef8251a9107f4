"""The versions of a node: the list, and what the chosen one says.

One can be pinned, let go, or asked for anew; none is ever deleted here.
"""

from collections.abc import Callable
from datetime import datetime, tzinfo
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.worker import Worker, WorkerState

from memtui.model import calendar
from memtui.model.model_state import Promise
from memtui.model.nodes import TocEdition, TocHistory, TocLine
from memtui.services import versions
from memtui.tui import commands, format
from memtui.tui.messages import EditionRead, HistoryRead, VersionChosen, WorkReported
from memtui.tui.screens.base import AGAIN, Choosing
from memtui.tui.widgets import version_list
from memtui.tui.widgets.detail_pane import Reader
from memtui.tui.widgets.key_line import KeyLine
from memtui.tui.widgets.pane_title import PaneTitle
from memtui.tui.widgets.status_line import StatusLine
from memtui.tui.widgets.version_list import VersionList

ALL_SHOWN = "All claims are shown here, at the end those that no source says."


GONE = "This is no longer in the contents."


class VersionsScreen(Choosing[bool]):
    """Lists a node's versions; answers whether another one may be shown since."""

    SHOWS_MARKS = True
    BINDINGS: ClassVar[list[BindingType]] = [
        *commands.bindings(
            "pin",
            "ask_anew",
            in_footer=True,
            back="Go back to the list, or leave it.",
        ),
        *commands.bindings("next_pane", "previous_pane", "show_withheld"),
    ]

    def __init__(
        self,
        line: TocLine,
        zone: tzinfo,
        now: Callable[[], datetime],
        promise: Callable[[], Promise],
        *,
        is_demo: bool = False,
    ) -> None:
        """Make the screen.

        Args:
            line: The node.
            zone: The store's time zone.
            now: The time, aware.
            promise: Tells who makes new versions and when, or why nobody does.
            is_demo: Whether this is the made-up memory.
        """
        super().__init__()
        self._line, self._zone, self._now = line, zone, now
        self._promise, self._is_demo = promise, is_demo
        self._history: TocHistory | None = None
        self._warned_of = 0
        self._is_changed = self._is_written = False

    def compose(self) -> ComposeResult:
        """The list, and beside or below it what the chosen one says."""
        yield StatusLine(is_demo=self._is_demo)
        with Horizontal(id="versions"):
            with Vertical(id="listed"):
                yield PaneTitle("Versions")
                yield Static(id="about", markup=False)
                yield VersionList(self._zone)
            with Vertical(id="chosen"):
                yield PaneTitle("Version")
                with Reader():
                    yield Static(id="edition", markup=False)
        yield KeyLine()

    @property
    def _list(self) -> VersionList:
        return self.query_one(VersionList)

    def on_mount(self) -> None:
        """Read the list."""
        self._list.loading = True
        self._list.focus()
        self.read_anew()

    # Reading

    def read_anew(self) -> None:
        """Read the list anew."""
        self.ask(self._load, "list")

    def _load(self) -> None:
        self.tell(HistoryRead(versions.history(self._line.node_id)))

    @on(HistoryRead)
    def show(self, message: HistoryRead) -> None:
        """List the versions, and say what there is to know of them."""
        self._list.loading = False
        self._history = history = message.history
        self._say_note()
        if history is None:
            self._list.clear_options()
            self._list.editions = ()
            self.add_class("-empty")
            return
        self._line = history.line
        count = format.counted(len(history.editions), "version")
        self.query_one("#listed PaneTitle", PaneTitle).measure = count
        self.set_class(not history.editions, "-empty")
        self._list.show(history)

    def _say_note(self) -> None:
        told = GONE
        if self._history is not None:
            promise, is_written = self._promise(), self._is_written
            told = version_list.note(
                self._history, self._now(), promise, is_written=is_written
            )
        self._say(told)

    def _say(self, told: str) -> None:
        title = Content.styled(_title(self._line, self._zone), "bold")
        said = Content.assemble(title, *([("\n" + told, "$context")] if told else []))
        self.query_one("#about", Static).update(said)

    @on(OptionList.OptionHighlighted)
    def point(self) -> None:
        """Read what the cursor is on."""
        self._warned_of = 0
        if one := self._list.pointed_at:
            self.ask(partial(self._open, one.version), "show")

    def _open(self, version: int) -> None:
        found = versions.edition(self._line.node_id, version)
        self.tell(EditionRead(version, found))

    @on(EditionRead)
    def show_edition(self, message: EditionRead) -> None:
        """Show a version, unless another one is pointed at since."""
        one = self._list.pointed_at
        if one is None or one.version != message.version:
            return
        shown = self.query_one("#edition", Static)
        if message.node is None:
            shown.update(Content(GONE))
        else:
            shown.update(version_list.Whole(message.node, one, self._zone, self._now()))
        title = self.query_one("#chosen PaneTitle", PaneTitle)
        status = self._line.status
        title.say(
            f"Version {one.version}", ", ".join(version_list.standing(one, status))
        )
        self._reader.scroll_home(animate=False)

    @on(Worker.StateChanged)
    def say_why(self, event: Worker.StateChanged) -> None:
        """Say why something could not be read or noted."""
        if event.state is WorkerState.ERROR:
            self._list.loading = False
            why = format.why(event.worker.error)
            if self._history is None:
                self._say(f"✗ Not read: {why}. {AGAIN}")
                self.look_soon()
            else:
                self.notify(f"✗ {why}", severity="error", markup=False)

    @on(WorkReported)
    def follow_work(self, message: WorkReported) -> None:
        """Say what the workers do, and look again at what they have changed."""
        progress, name = message.progress, self._line.node_id
        self.query_one(StatusLine).say(progress)
        self._is_written = progress.model.node_id == name
        if self._history is not None:
            self._say_note()
        if name in progress.changed:
            self.read_anew()

    # Choosing

    def action_pin(self) -> None:
        """Pin the version the cursor is on, or let it go if it is."""
        one = self._list.pointed_at
        if one is None:
            self.notify(version_list.PENDING, markup=False)
        elif one.is_pinned:
            self.do(self._unpin, "choose")
        elif one.rejected and self._warned_of != one.version:
            self._warned_of = one.version
            told = f"Version {one.version} was rejected: {one.rejected}."
            self.notify(
                f"{told}\nPress P again to show it all the same.",
                severity="warning",
                markup=False,
            )
        else:
            self.do(partial(self._pin, one), "choose")

    def _pin(self, one: TocEdition) -> None:
        versions.pin(
            self._line.node_id,
            one.version,
            self._zone,
            self._now(),
            even_rejected=bool(one.rejected),
        )
        told = f"Version {one.version} is pinned: it is shown, whatever comes after it."
        self.post_message(VersionChosen(told))

    def _unpin(self) -> None:
        shown = versions.unpin(self._line.node_id, self._zone, self._now())
        told = (
            f"Version {shown.version}, the newest, is shown, and what comes after it."
        )
        self.post_message(VersionChosen(told))

    def action_ask_anew(self) -> None:
        """Ask for a new version."""
        if self._list.pointed_at is None:
            self.notify(version_list.PENDING, markup=False)
        else:
            self.do(self._ask_anew, "choose")

    def _ask_anew(self) -> None:
        shown = versions.ask(self._line.node_id, self._now())
        told = f"A new version is asked for. {self._promise().says}"
        if shown.is_pinned:
            told += (
                f"\nVersion {shown.version} is pinned, so it is shown none the less."
            )
        self.post_message(VersionChosen(told))

    @on(VersionChosen)
    def say_chosen(self, message: VersionChosen) -> None:
        """Say what was noted, and list the versions as they stand now."""
        self._is_changed, self._warned_of = True, 0
        self.app.clear_notifications()
        self.notify(message.said, markup=False)
        self.read_anew()

    def action_show_withheld(self) -> None:
        """Say that there is nothing more to show."""
        self.notify(ALL_SHOWN, markup=False)

    def _leave(self) -> None:
        self.app.clear_notifications()
        self.dismiss(self._is_changed)


def _title(line: TocLine, zone: tzinfo) -> str:
    """What a node is called, wherever it is met."""
    if said := calendar.title(line.node_id):
        return said
    start = line.start_time.astimezone(zone)
    return f"{format.day(start.date())}, {start:%H:%M}"
