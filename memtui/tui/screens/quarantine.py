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
from memtui.paths import with_tilde
from memtui.services.quarantine import (
    DropResult,
    QuarantineContent,
    QuarantineEntry,
    QuarantinePage,
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

    def show(self, entries: Sequence[QuarantineEntry]) -> None:
        """List entries; the cursor stays on its entry, or at its index."""
        items = {entry.name: entry for entry in entries}
        if items == self.items:
            return
        cursor = self.current.name if self.current else ""
        if entries and cursor not in items:
            cursor = entries[min(self.highlighted or 0, len(entries) - 1)].name
        rows = [Option(_draw_entry(entry), id=entry.name) for entry in entries]
        self.show_items(items, rows, cursor)


def _describe_place(entry: QuarantineEntry) -> str:
    """Return the transcript or the name of the hook file, and the line."""
    if entry.is_hook:
        return entry.place.rpartition("/")[2]
    return with_tilde(entry.place)


def _draw_entry(entry: QuarantineEntry) -> Content:
    place = entry.place.rpartition("/")[2]
    count = f" ({plural(entry.count, 'record')})" if entry.count > 1 else ""
    return Content.assemble((place, "bold"), (f"\n  {entry.reason}{count}", "$context"))


def describe_entry(content: QuarantineContent, zone: tzinfo, now: datetime) -> Content:
    entry = content.entry
    when = f"{date_format.moment(entry.at, zone)} ({date_format.age(entry.at, now)})"
    head = f"{when} · {plural(entry.count, 'record')}\n{_describe_place(entry)}"
    note = Content.styled(content.note, "$context")
    more = f"\n\nThere is more: memtui quarantine show {entry.name}"
    return Content.assemble(
        (head, "$context"),
        (f"\n{entry.reason}", "$error"),
        "\n\n",
        Content(content.text) if content.text else note,
        more if content.is_cut else "",
    )


THIS, ALL = "this", "all"


class DismissScreen(Dialog[str]):
    """Asks whether to dismiss an entry; returns `THIS`, `ALL` or an empty string."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,y", f"answer('{THIS}')", "dismiss it", key_display="enter"),
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
        question, effect = "Delete this hook file for good?", "There is no other copy."
        if not entry.is_hook:
            question = f"Dismiss this entry ({plural(entry.count, 'record')})?"
            effect = "The transcript is not changed."
        if self._total > 1:
            effect += f" Press a to dismiss all {self._total:,} entries."
        return Content.assemble(
            (f"{question}\n\n", "bold"),
            _describe_place(entry),
            (f"\n\n{effect}", "$context"),
        )

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
        self._total = 0  # The number of entries, also of those that are not listed.

    def compose_head(self) -> ComposeResult:
        yield Static(id="failures", markup=False)

    def compose_list(self) -> ComposeResult:
        yield PaneTitle("Skipped input")
        yield QuarantineList(id="entries")
        yield Static(EMPTY, id="nothing", markup=False)

    def on_mount(self) -> None:
        self._list.loading = True

    def reload(self) -> None:
        page = partial(self.workspace.quarantine.page, limit=LISTED)
        self.load(page, self._show, "list")

    def _show(self, page: QuarantinePage) -> None:
        self._total = page.total
        self._list.loading = False
        self._list.show(page.entries)
        if self.has_class("-empty") is bool(page.total):
            self.toggle_class("-empty").refresh_bindings()
        measure = plural(page.total, "entry", "entries")
        if page.total > LISTED:
            measure = f"the latest {LISTED} of {measure}"
        self._list_title.info = measure if page.total else ""
        if not page.total:
            self.show_details("Why", Content(""))
        elif self._detail_title.title == "Why":
            self.load_entry()

    @on(OptionList.OptionHighlighted)
    def load_entry(self) -> None:
        if entry := self._list.current:
            show = partial(self.workspace.quarantine.show, entry.name, SHOWN_BYTES)
            self.load(show, self._show_entry, "show")

    def _show_entry(self, content: QuarantineContent) -> None:
        entry = self._list.current
        if entry is not None and entry.name == content.entry.name:
            details = describe_entry(content, self.zone, self.now())
            self.show_details(entry.name, details)

    def show_progress(self, message: ProgressReported) -> None:
        failures = describe_failures(message.progress)
        line = self.query_one("#failures", Static)
        line.update(failures)
        line.display = bool(failures)
        self.request_reload()

    def action_retry(self) -> None:
        if entry := self._list.current:
            self.workspace.start_retry([entry.name], self._report_retry)

    def action_retry_all(self) -> None:
        self.workspace.start_retry(None, self._report_retry)

    def _report_retry(self, result: RetryResult) -> None:
        # Called on the thread of the retry.
        self.call_later(self._show_retried, result)

    def _show_retried(self, result: RetryResult) -> None:
        count = plural(len(result.names), "entry", "entries")
        self.notify(f"{count} retried: what is skipped again is listed again.")
        self._show_problems(result.problems)
        self.reload()

    def action_dismiss_entry(self) -> None:
        entry = self._list.current
        if entry is None:
            return

        def drop(answer: str) -> None:
            names = [entry.name] if answer == THIS else None
            drop = partial(self.workspace.quarantine.drop, names)
            self.execute(drop, self._show_dropped, CHANGE)

        self.memtui.ask(DismissScreen(entry, self._total), drop)

    def _show_dropped(self, dropped: DropResult) -> None:
        self.notify(f"{plural(dropped.count, 'entry', 'entries')} dismissed.")
        self._show_problems(dropped.problems)
        self.reload()

    def _show_problems(self, problems: Sequence[str]) -> None:
        if problems:
            more = f"\nand {len(problems) - 1:,} more" if len(problems) > 1 else ""
            self.notify(f"{problems[0]}{more}", severity="error")
