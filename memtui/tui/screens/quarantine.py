"""Skipped input: hook files and transcript records that could not be parsed.

Entries can be retried, or dismissed after a confirmation. Transcripts belong to their
agents and are never changed.
"""

from collections.abc import Sequence
from datetime import datetime, tzinfo
from functools import partial
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from memtui.model.quantities import plural
from memtui.services.quarantine import (
    UNKNOWN_AGENT,
    DropResult,
    QuarantineContent,
    QuarantineEntry,
    QuarantinePage,
    RetryOutcome,
    RetryResult,
)
from memtui.text import date_format
from memtui.tui import commands
from memtui.tui.messages import ProgressReported
from memtui.tui.screens.base import CHANGE, Dialog, ListDetailScreen
from memtui.tui.widgets.panes import ItemList, PaneTitle
from memtui.tui.widgets.status_line import describe_failures


class QuarantineList(ItemList[QuarantineEntry]):
    """Moves through the entries."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        open="Go to the details of this entry."
    )
    HELP_TITLE = "In the list of skipped input"

    def __init__(self, zone: tzinfo) -> None:
        super().__init__(id="entries")
        self._zone = zone
        self.total = 0

    def show(
        self, entries: Sequence[QuarantineEntry], total: int, returning: str = ""
    ) -> None:
        """List entries; the cursor stays on its entry, or at its index.

        It goes to the entry with the name `returning` if that is listed. The total
        includes the entries that are not.
        """
        self.total = total
        items = {entry.name: entry for entry in entries}
        if items == self.items:
            return
        if returning not in items:
            returning = self.current.name if self.current else ""
        if entries and returning not in items:
            returning = entries[min(self.highlighted or 0, len(entries) - 1)].name
        rows = [Option(_draw_entry(one, self._zone), id=one.name) for one in entries]
        self.show_items(items, rows, returning)


def _draw_entry(entry: QuarantineEntry, zone: tzinfo) -> Content:
    origin, reason = entry.event, "; ".join(entry.reasons)
    if entry.file:
        origin = entry.file.rpartition("/")[2]
        reason = f"line {entry.line}: {reason}" if entry.line else reason
        if entry.count > 1:
            reason += f" (last of {plural(entry.count, 'record')})"
    return Content.assemble(
        f"{date_format.moment(entry.at, zone)}  ",
        (" · ".join(filter(None, (entry.agent or UNKNOWN_AGENT, origin))), "bold"),
        (f"\n  {reason}", "$context"),
    )


def describe_entry(shown: QuarantineContent, zone: tzinfo, now: datetime) -> Content:
    entry = shown.entry
    when = f"{date_format.moment(entry.at, zone)} ({date_format.age(entry.at, now)})"
    lines = [entry.describe(when), *([entry.place] if entry.file else [])]
    text = Content(shown.text) if shown.text else Content.styled(shown.note, "$context")
    more = f"\n\nThere is more: memtui quarantine show {entry.name}"
    return Content.assemble(
        ("\n".join(lines), "$context"),
        ("\n" + "\n".join(entry.reasons), "$error"),
        "\n\n",
        text,
        more if shown.is_cut else "",
    )


ONE, ALL = "one", "all"


class DismissScreen(Dialog[str]):
    """Asks whether to dismiss an entry; returns `ONE`, `ALL` or an empty string."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", f"answer('{ONE}')", "dismiss it"),
        Binding("a", f"answer('{ALL}')", "dismiss all"),
        Binding("escape,n", "answer('')", "keep it", key_display="esc"),
        Binding("q", "app.quit", "quit"),
    ]

    def __init__(self, entry: QuarantineEntry, total: int) -> None:
        super().__init__()
        self._entry, self._total = entry, total

    def compose_dialog(self) -> ComposeResult:
        with Vertical(id="dismiss"):
            yield Static(self._question(), id="question")

    def _question(self) -> Content:
        entry = self._entry
        if entry.file:
            question = f"Dismiss this entry ({entry.amount})?\n\n"
            effect = f"\n\n{entry.place} is not changed."
        else:
            question = f"Delete this hook file for good ({entry.amount})?\n\n"
            effect = "\n\nThere is no other copy of it."
        if self._total > 1:
            effect += f" Press a to dismiss all {self._total:,} entries."
        return Content.assemble((question, "bold"), entry.name, (effect, "$context"))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        return parameters != (ALL,) or self._total > 1

    def action_answer(self, answer: str) -> None:
        self.dismiss(answer)


LISTED = 200
"""The most entries that are listed: the latest. The others follow as these go."""

SHOWN_BYTES = 64 * 1024

EMPTY = "No skipped input: everything was imported."


class QuarantineScreen(ListDetailScreen[None]):
    """Lists the entries, and shows why the selected one was skipped."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "retry",
        "retry_all",
        "dismiss_entry",
        in_footer=True,
        back="Go back to the list, or leave it.",
    )

    DETAIL_TITLE = "Why"

    _list = getters.query_one(QuarantineList)

    def __init__(self) -> None:
        super().__init__()
        # The entries whose retry has no outcome yet.
        self._retried: tuple[str, ...] = ()
        self._returning = ""

    def compose_head(self) -> ComposeResult:
        yield Static(id="failures", markup=False)

    def compose_list(self) -> ComposeResult:
        yield PaneTitle("Skipped input")
        yield QuarantineList(self.zone)
        yield Static(EMPTY, id="nothing", markup=False)

    def on_mount(self) -> None:
        self._list.loading = True

    # Loading

    def reload(self) -> None:
        quarantine, retried = self.workspace.quarantine, self._retried

        def read() -> tuple[QuarantinePage, Sequence[RetryOutcome]]:
            page = quarantine.page(limit=LISTED)
            return page, quarantine.outcomes(retried) if retried else ()

        self.load(read, self._show, "list")

    def _show(self, loaded: tuple[QuarantinePage, Sequence[RetryOutcome]]) -> None:
        page, outcomes = loaded
        self._list.loading = False
        self._list.show(page.entries, page.total, self._returning)
        self.set_class(not page.total, "-empty")
        measure = plural(page.total, "entry", "entries")
        if page.total > LISTED:
            measure = f"the latest {LISTED} of {measure}"
        if page.records > page.total:
            measure += f" · {plural(page.records, 'record')}"
        self._list_title.info = measure if page.total else ""
        if not page.total:
            self.show_details("Why", Content(""))
        elif self._detail_title.title == "Why":
            self.load_entry()
        if self._retried and {*self._retried} == {one.name for one in outcomes}:
            self._show_outcomes(outcomes)

    @on(OptionList.OptionHighlighted)
    def load_entry(self) -> None:
        if entry := self._list.current:
            show = self.workspace.quarantine.show
            self.load(partial(show, entry.name, SHOWN_BYTES), self._show_entry, "show")

    def _show_entry(self, shown: QuarantineContent) -> None:
        entry = self._list.current
        if entry is not None and entry.name == shown.entry.name:
            content = describe_entry(shown, self.zone, self.now())
            self.show_details(entry.name, content)

    def show_progress(self, message: ProgressReported) -> None:
        failures = describe_failures(message.progress)
        line = self.query_one("#failures", Static)
        line.update(failures)
        line.display = bool(failures)
        self.request_reload()

    # Retrying and dismissing

    def action_retry(self) -> None:
        self._retry(is_all=False)

    def action_retry_all(self) -> None:
        self._retry(is_all=True)

    def _retry(self, *, is_all: bool) -> None:
        entry = self._list.current
        if entry is None:
            self.notify("There is nothing to retry.")
            return
        self._returning = entry.name

        def report(retried: RetryResult) -> None:
            # Called on the thread of the retry.
            self.call_later(self._await, retried)

        self.workspace.start_retry(None if is_all else [entry.name], report)

    def _await(self, retried: RetryResult) -> None:
        self._retried += retried.names
        self._show_problems(retried.problems)
        self.reload()

    def _show_outcomes(self, outcomes: Sequence[RetryOutcome]) -> None:
        became = [one.state.value for one in outcomes]
        if "waiting" in became:
            return
        self._retried, self._returning = (), ""
        counts = [f"{became.count(what):,} {what}" for what in dict.fromkeys(became)]
        self.notify(", ".join(counts) + ".", title="Retried")

    def action_dismiss_entry(self) -> None:
        entry = self._list.current
        if entry is None:
            self.notify("There is nothing to dismiss.")
            return

        def drop(chosen: str) -> None:
            names = [entry.name] if chosen == ONE else None
            drop = partial(self.workspace.quarantine.drop, names)
            self.execute(drop, self._show_dropped, CHANGE)

        self.memtui.ask(DismissScreen(entry, self._list.total), drop)

    def _show_dropped(self, dropped: DropResult) -> None:
        count = plural(dropped.files + dropped.notes, "entry", "entries")
        self.notify(f"{count} dismissed.")
        self._show_problems(dropped.problems)
        self.reload()

    def _show_problems(self, problems: Sequence[str]) -> None:
        if problems:
            more = f"\nand {len(problems) - 1:,} more" if len(problems) > 1 else ""
            self.notify(f"{problems[0]}{more}", severity="error")
