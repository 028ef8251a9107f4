"""What could not be taken: the list, and what the chosen one says, without secrets.

It can be tried again, or dropped once a second question is answered. The transcripts
that are named here are their agents' own: nothing here changes them.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, tzinfo
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Protocol

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.worker import Worker, WorkerState

from memtui.tui import commands, format
from memtui.tui.messages import (
    DropMade,
    MoreWanted,
    QuarantineRead,
    RefusalRead,
    RetryMade,
    WorkReported,
)
from memtui.tui.screens.base import AGAIN, Choosing, Dialog
from memtui.tui.widgets import quarantine_list
from memtui.tui.widgets.detail_pane import Reader
from memtui.tui.widgets.key_line import KeyLine
from memtui.tui.widgets.pane_title import PaneTitle
from memtui.tui.widgets.quarantine_list import QuarantineList, how_much, place
from memtui.tui.widgets.status_line import Failures, StatusLine

if TYPE_CHECKING:
    from memtui.services.quarantine import Dropped, Entry, Outcome, Page, Retried, Shown


ONE, ALL = "one", "all"
"""What may be dropped."""


class DropScreen(Dialog[str]):
    """Says what would be deleted; answers with what may be, or nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", f"answer('{ONE}')", "drop it"),
        Binding("a", f"answer('{ALL}')", "drop all"),
        Binding("escape,n", "answer('')", "keep it", key_display="esc"),
        Binding("q", "app.quit", "quit"),
    ]

    def __init__(self, entry: "Entry", total: int) -> None:
        """Make the question.

        Args:
            entry: What would be dropped.
            total: How much there is in all.
        """
        super().__init__()
        self._entry, self._total = entry, total

    def ask(self) -> ComposeResult:
        """What would happen."""
        with Vertical(id="drop"):
            yield Static(self._question(), id="question")

    def _question(self) -> Content:
        entry = self._entry
        if entry.file:
            what = f"Note no more that {how_much(entry)} could not be taken?\n\n"
            then = f"\n\n{place(entry)} stays as it is."
        else:
            what = f"Delete this hook's file for good, {how_much(entry)}?\n\n"
            then = "\n\nWhat it says is kept nowhere else."
        if self._total > 1:
            then += f" a drops all {format.count(self._total)} entries."
        return Content.assemble((what, "bold"), entry.name, (then, "$context"))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """One entry is not dropped as all."""
        return parameters != (ALL,) or self._total > 1

    def action_answer(self, answer: str) -> None:
        """Answer."""
        self.dismiss(answer)


PAGE = 200
"""How many entries are read at once."""


SHOWN_BYTES = 64 * 1024
"""How much of one is shown."""


NOTHING = "Nothing lies here: all that came could be taken."


Retry = Callable[["Sequence[str] | None", Callable[["Retried"], None]], None]


class QuarantineProtocol(Protocol):
    """What the screen needs: ``memtui.curate.quarantine.Quarantine``."""

    def page(self, offset: int, limit: int) -> "Page":
        """Some of what could not be taken, the newest first."""

    def show(self, name: str, limit: int) -> "Shown":
        """One of them with what it says."""

    def outcomes(self, names: "Sequence[str]") -> "Sequence[Outcome]":
        """What became of what was tried again."""

    def drop(self, names: "Sequence[str] | None") -> "Dropped":
        """Delete hook files, and note faults of transcripts no more."""


class QuarantineScreen(Choosing[None]):
    """Lists what could not be taken; asked on threads, since there may be much."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *commands.bindings(
            "retry",
            "retry_all",
            "drop",
            in_footer=True,
            back="Go back to the list, or leave it.",
        ),
        *commands.bindings("next_pane", "previous_pane"),
    ]

    def __init__(
        self,
        desk: QuarantineProtocol,
        retry: Retry,
        zone: tzinfo,
        now: Callable[[], datetime],
        failures: Failures,
    ) -> None:
        """Make the screen.

        Args:
            desk: Whom to ask; it may take a while.
            retry: Tries again on a thread of its own, then tells.
            zone: The store's time zone.
            now: The time, aware.
            failures: What stages could not do, which is told above the list.
        """
        super().__init__()
        self._failures = failures
        self._desk, self._retry, self._zone, self._now = desk, retry, zone, now
        self._tried: tuple[str, ...] = ()
        self._returning = ""
        self._said = "", ""

    def compose(self) -> ComposeResult:
        """The list, and beside or below it what the chosen one says."""
        yield StatusLine(is_demo=False)
        yield Static(id="failures", markup=False)
        with Horizontal(id="quarantine"):
            with Vertical(id="listed"):
                yield PaneTitle("What could not be taken")
                yield QuarantineList(self._zone)
                yield Static(NOTHING, id="nothing", markup=False)
            with Vertical(id="chosen"):
                yield PaneTitle("Why")
                with Reader():
                    yield Static(id="refusal", markup=False)
        yield KeyLine()

    @property
    def refused(self) -> Collection[str]:
        """Where nothing lies, nothing is tried or dropped."""
        is_empty = self.has_class("-empty")
        return ("retry", "retry_all", "drop", "open") if is_empty else ()

    @property
    def _list(self) -> QuarantineList:
        return self.query_one(QuarantineList)

    def on_mount(self) -> None:
        """Read the first page."""
        self._list.loading = True
        self._list.focus()
        self._say_failures()
        self.read_anew()

    def _say_failures(self) -> None:
        """Say which stages failed, and what happens now."""
        told = self._failures.told(self._zone)
        line = self.query_one("#failures", Static)
        line.update(told)
        line.display = bool(told)

    # Reading

    def read_anew(self) -> None:
        """Read again what is listed, and what became of what was tried."""
        limit = max(PAGE, len(self._list.entries))
        self.ask(partial(self._load, 0, limit, self._tried), "list")

    def _load(self, offset: int, limit: int, tried: Sequence[str]) -> None:
        page = self._desk.page(offset, limit)
        outcomes = self._desk.outcomes(tried) if tried else ()
        self.tell(QuarantineRead(page, outcomes))

    @on(MoreWanted)
    def read_more(self) -> None:
        """Read the next page."""
        self.ask(partial(self._load, len(self._list.entries), PAGE, ()), "list")

    @on(QuarantineRead)
    def show(self, message: QuarantineRead) -> None:
        """List what was read."""
        page = message.page
        self._list.loading = False
        if page.offset:
            self._list.add(page.entries, page.total)
        else:
            self._list.show(page.entries, page.total, self._returning)
        if self.has_class("-empty") is bool(page.total):
            self.toggle_class("-empty").refresh_bindings()
        measure = format.counted(page.total, "entry", "entries")
        if page.records > page.total:
            measure += f" · {format.counted(page.records, 'record')}"
        self.query_one("#listed PaneTitle", PaneTitle).measure = (
            measure if page.total else ""
        )
        if not page.total:
            self._say("Why", Content(""))
        elif self._said[0] == "Why":
            self.point()
        if self._tried and {*self._tried} == {one.name for one in message.outcomes}:
            self._judge(message.outcomes)

    @on(OptionList.OptionHighlighted)
    def point(self) -> None:
        """Show what the cursor is on."""
        if entry := self._list.pointed_at:
            self.ask(partial(self._open, entry.name), "show")

    def _open(self, name: str) -> None:
        self.tell(RefusalRead(self._desk.show(name, SHOWN_BYTES)))

    @on(RefusalRead)
    def show_refusal(self, message: RefusalRead) -> None:
        """Show what one of them says, and why it could not be taken."""
        shown = message.shown
        entry = self._list.pointed_at
        if entry is not None and entry.name == shown.entry.name:
            self._say(entry.name, quarantine_list.told(shown, self._zone, self._now()))

    def _say(self, title: str, said: Content) -> None:
        if (title, said.plain) == self._said:
            return
        self._said = title, said.plain
        self.query_one("#chosen PaneTitle", PaneTitle).what = title
        self.query_one("#refusal", Static).update(said)
        self._reader.scroll_home(animate=False)

    @on(Worker.StateChanged)
    def say_why(self, event: Worker.StateChanged) -> None:
        """Say why something could not be read or dropped."""
        if event.state is not WorkerState.ERROR:
            return
        why = f"✗ {format.why(event.worker.error)}"
        if event.worker.group == "drop":
            self.notify(why, severity="error", markup=False)
        else:
            self._list.loading = False
            self._say("Why", Content.styled(why, "$error") + f"\n\n{AGAIN}")
            self.look_soon()

    # What changes by itself

    @on(WorkReported)
    def follow_work(self, message: WorkReported) -> None:
        """Say what the workers do, and look again: they may have taken or refused."""
        self.query_one(StatusLine).say(message.progress)
        self._say_failures()
        self.look_again()

    # Trying again and dropping

    def action_retry(self) -> None:
        """Try again what the cursor is on."""
        self._try_again(is_all=False)

    def action_retry_all(self) -> None:
        """Try all again."""
        self._try_again(is_all=True)

    def _try_again(self, *, is_all: bool) -> None:
        entry = self._list.pointed_at
        if entry is None:
            self.notify("There is nothing here to try again.", markup=False)
            return
        self._returning = entry.name
        self._retry(None if is_all else [entry.name], self._tell)

    def _tell(self, retried: "Retried") -> None:
        self.post_message(RetryMade(retried))

    @on(RetryMade)
    def await_outcome(self, message: RetryMade) -> None:
        """Look what becomes of it, and say what could not even be tried."""
        self._tried += message.retried.names
        self._complain(message.retried.problems)
        self.read_anew()

    def _judge(self, outcomes: "Sequence[Outcome]") -> None:
        """Say what became of what was tried, once it is known of all."""
        became = [one.became.value for one in outcomes]
        if "waiting" in became:
            return
        self._tried, self._returning = (), ""
        said = [
            f"{format.count(became.count(what))} {what}"
            for what in dict.fromkeys(became)
        ]
        self.notify(", ".join(said) + ".", title="Tried again", markup=False)

    def action_drop(self) -> None:
        """Ask whether to drop what the cursor is on, or all."""
        entry = self._list.pointed_at
        if entry is None:
            self.notify("There is nothing here to drop.", markup=False)
            return

        def answer(chosen: str | None) -> None:
            if chosen:
                names = [entry.name] if chosen == ONE else None
                self.do(partial(self._drop, names), "drop")

        self.app.push_screen(DropScreen(entry, self._list.total), answer)

    def _drop(self, names: Sequence[str] | None) -> None:
        self.post_message(DropMade(self._desk.drop(names)))

    @on(DropMade)
    def say_dropped(self, message: DropMade) -> None:
        """Say what was dropped."""
        dropped = message.dropped
        said = format.counted(dropped.files + dropped.notes, "entry", "entries")
        self.notify(f"{said} dropped.", markup=False)
        self._complain(dropped.problems)
        self.read_anew()

    def _complain(self, problems: Sequence[str]) -> None:
        if problems:
            more = f"\nand {len(problems) - 1:,} more" if len(problems) > 1 else ""
            self.notify(f"{problems[0]}{more}", severity="error", markup=False)
