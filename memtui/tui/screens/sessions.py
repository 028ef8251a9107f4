"""The sessions: what was talked about, with whom, when and how long.

The list is read where it is looked at; what is typed into it narrows it by words of
title, project and agent.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static
from textual.worker import Worker, WorkerState

from memtui.model.scope import ALL, Scope
from memtui.model.sessions import Session
from memtui.services import sessions
from memtui.services.sessions import Listing
from memtui.tui import commands, format, workers
from memtui.tui.messages import Narrowed, StretchRead, StretchWanted, WorkReported
from memtui.tui.screens.base import AGAIN, LAYOUTS, Following
from memtui.tui.widgets import session_list
from memtui.tui.widgets.find_line import WordsInput
from memtui.tui.widgets.key_line import KeyLine
from memtui.tui.widgets.pane_title import PaneTitle
from memtui.tui.widgets.session_list import PAGE, SessionList
from memtui.tui.widgets.status_line import StatusLine

STRETCH = "stretch"
"""What the reading of a page is called; its place stands behind that."""


NOTHING_KEPT = (
    "No session is kept yet.\n\nPress i to import what agents keep on this machine."
)


NOT_FOUND = "No session holds {words}.\n\nPress esc to see all of them again."


class SessionsScreen(Following[None]):
    """Lists the sessions; they are read on threads, since there may be many."""

    AUTO_FOCUS = ""
    HORIZONTAL_BREAKPOINTS = LAYOUTS
    OBEYS_SCOPE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        *commands.bindings(
            "sort",
            in_footer=True,
            find_here="List the sessions that hold the words you type.",
            back="List all of them again, or leave the list.",
        ),
        *commands.bindings("next_pane", "previous_pane"),
    ]

    def __init__(
        self,
        zone: tzinfo,
        now: Callable[[], datetime],
        *,
        of: Scope = ALL,
        is_demo: bool = False,
    ) -> None:
        """Make the screen.

        Args:
            zone: The store's time zone.
            now: The time, aware.
            of: Whose sessions are listed.
            is_demo: Whether this is the made-up memory.
        """
        super().__init__()
        self._zone, self._now, self._is_demo = zone, now, is_demo
        self.listing = Listing(of=of)
        self._awaited: Listing | None = None

    def compose(self) -> ComposeResult:
        """The line to type in, the names of the columns, and the list."""
        yield StatusLine(is_demo=self._is_demo)
        yield PaneTitle("Sessions")
        with Horizontal(id="finding"):
            yield Static("/", id="slash", markup=False)
            yield WordsInput("words of the title, the project or the agent")
        yield Static(id="columns", markup=False)
        yield SessionList(self._zone, self._now)
        yield Static(id="nothing", markup=False)
        yield KeyLine()

    @property
    def _list(self) -> SessionList:
        return self.query_one(SessionList)

    @property
    def _words(self) -> WordsInput:
        return self.query_one(WordsInput)

    def on_mount(self) -> None:
        """Read the first page."""
        self.query_one(StatusLine).scope = self.listing.of
        self._list.focus()
        self.read_anew()
        self._await()

    def on_resize(self) -> None:
        """Name the columns that there is room for."""
        width = self.size.width
        self.query_one("#columns", Static).update(
            session_list.head(session_list.session_columns(width - 1))
        )

    # Reading

    def _await(self) -> None:
        """Say that what is to be listed is being read, if that takes its time."""
        self._awaited = listing = self.listing

        def say() -> None:
            if self._awaited is listing:
                self.query_one(PaneTitle).measure = workers.READING

        self.set_timer(workers.SLOW_S, say)

    def read_anew(self) -> None:
        """Read the list anew, around the session the cursor is on."""
        shown = self._list
        args = self.listing, shown.pointed_at, shown.cursor
        self.ask(partial(self._load, *args), "list")

    def _load(self, listing: Listing, session: Session | None, place: int) -> None:
        found = sessions.around(listing, session, place, 2 * PAGE)
        shift = 0 if found.place is None else found.place - place
        self.tell(StretchRead(found, is_anew=True, shift=shift))

    @on(StretchWanted)
    def read_on(self, message: StretchWanted) -> None:
        """Read what is in sight and is not known."""
        wanted = self.listing, message.offset, message.limit
        # Pages of one list do not give way to each other.
        group = f"{STRETCH} {message.offset}"
        self.ask(partial(self._load_stretch, *wanted), group)

    def _load_stretch(self, listing: Listing, offset: int, limit: int) -> None:
        found = sessions.stretch(listing, offset, limit)
        self.tell(StretchRead(found, is_anew=False))

    @on(StretchRead)
    def show(self, message: StretchRead) -> None:
        """Show what was read, unless something else is listed meanwhile."""
        stretch = message.stretch
        if stretch.listing != self.listing:
            return
        self._awaited = None
        if not message.is_anew and stretch.total != self._list.total:
            # The lines have other places since: these may be wrong.
            self._list.ask_again(stretch.offset)
            return
        self._list.show(stretch, is_anew=message.is_anew, shift=message.shift)
        measure = format.count(stretch.total)
        if stretch.total != stretch.kept:
            measure = f"{measure} of {format.count(stretch.kept)}"
        self.query_one(PaneTitle).say(f"Sessions, {stretch.listing.order}", measure)
        if not stretch.total:
            is_found = bool(stretch.kept)
            named = f"“{' '.join(self.listing.words)}”" if self.listing.words else ""
            of = f"{named} of {self.listing.of}" if self.listing.of.is_narrow else named
            words = NOT_FOUND.format(words=of) if is_found else NOTHING_KEPT
            self._say(Content(words))
        self.set_class(not stretch.total, "-empty")

    def _say(self, words: Content) -> None:
        self.query_one("#nothing", Static).update(words)
        self.set_class(True, "-empty")

    @on(Worker.StateChanged)
    def say_why(self, event: Worker.StateChanged) -> None:
        """Say why the sessions could not be read."""
        if event.state is not WorkerState.ERROR:
            return
        reason = format.why(event.worker.error)
        if event.worker.group.startswith(STRETCH):
            self._list.fail(int(event.worker.group.removeprefix(STRETCH)), reason)
            self.set_timer(self.REST_S, self._list.try_again)
            return
        self._awaited = None
        self._list.stay()
        self.look_soon()
        if self._list.known:
            self.query_one(PaneTitle).measure = f"✗ not read: {reason}"
        else:
            why = f"✗ The sessions could not be read: {reason}"
            self._say(Content.styled(why, "$error") + f"\n\n{AGAIN}")

    # What is listed

    def action_sort(self) -> None:
        """List them in the next order, from the top."""
        self._list_as(replace(self.listing, order=self.listing.order.next))

    def action_find_here(self) -> None:
        """Type words that narrow the list."""
        self.set_class(True, "-finding")
        self._words.focus()

    @on(Input.Changed)
    def narrow(self, event: Input.Changed) -> None:
        """List what holds the words typed so far."""
        event.stop()
        self._list_typed()

    def _list_typed(self) -> None:
        words = tuple(self._words.value.split())
        if words != self.listing.words:
            self._list_as(replace(self.listing, words=words))

    def action_keep_words(self) -> None:
        """Go to what is found, or is going to be."""
        self._list_typed()
        self.set_focus(self._list)

    @on(Narrowed)
    def narrow_to(self, message: Narrowed) -> None:
        """List those of another part of the memory."""
        self.query_one(StatusLine).scope = message.scope
        self._list_as(replace(self.listing, of=message.scope))

    def _list_as(self, listing: Listing) -> None:
        self.listing = listing
        self._list.to_top()
        self.ask(partial(self._load, listing, None, 0), "list")
        self._await()

    # What changes by itself

    @on(WorkReported)
    def follow_work(self, message: WorkReported) -> None:
        """Say what the workers do, and look for what they have taken."""
        self.query_one(StatusLine).say(message.progress)
        self.look_again()

    # From pane to pane

    def action_next_pane(self) -> None:
        """Go from the list to the line to type in, and back."""
        if self._list.has_focus:
            self.action_find_here()
        else:
            self._list.focus()

    def action_previous_pane(self) -> None:
        """Go the other way round, which is the same."""
        self.action_next_pane()

    def action_back(self) -> None:
        """List all of them again, or leave."""
        if self.has_class("-finding"):
            self.set_class(False, "-finding")
            self._words.value = ""
            self.action_keep_words()
        else:
            self.dismiss(None)
