"""The versions of a node: read them, pin one, or request a new one.

No version is ever deleted here.
"""

from collections.abc import Iterator
from datetime import datetime, tzinfo
from functools import partial
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.visual import VisualType
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from memtui.model import calendar
from memtui.model.jobs import RewriteForecast
from memtui.model.nodes import (
    Bullet,
    NodeStatus,
    TocEntry,
    TocHistory,
    TocNode,
    TocVersion,
)
from memtui.model.quantities import plural
from memtui.model.verdicts import Support
from memtui.services import versions
from memtui.text import date_format
from memtui.tui import commands, format
from memtui.tui.messages import ProgressReported
from memtui.tui.screens.base import CHANGE, RETRY_HINT, ListDetailScreen
from memtui.tui.widgets import node_page
from memtui.tui.widgets.panes import ItemList, PaneTitle
from memtui.tui.widgets.text_block import Paragraph, Stack

NOT_SUMMARIZED = "Not summarized yet. memtui will do this in the background."
WITHHELD = "Withheld, because it was not accepted:"
BLANK = Content("")


class VersionList(ItemList[TocVersion]):
    """Moves through the versions, the latest first."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(open="Read this version.")
    HELP_TITLE = "In the list of versions"

    def __init__(self, zone: tzinfo) -> None:
        super().__init__(id="versions")
        self._zone = zone

    def show(self, history: TocHistory) -> None:
        status = history.entry.status
        items = {str(version.version): version for version in history.versions}
        rows = [
            Option(_draw_version(version, status, self._zone), id=name)
            for name, version in items.items()
        ]
        current = self.current or history.displayed
        self.show_items(items, rows, str(current.version) if current else "")


def _draw_version(version: TocVersion, status: NodeStatus, zone: tzinfo) -> Paragraph:
    mark = Content.styled(f"{version.version:>3}  ", "bold")
    state = Content.styled(versions.describe_states(version, status), "$accent")
    created = date_format.moment(version.created_at, zone)
    under = [Content.styled(f"{created} · {_support_counts(version)}", "$context")]
    if version.rejection:
        under.append(Content.styled(f"rejected: {version.rejection}", "$error"))
    return Paragraph(mark, Content(versions.describe_author(version)), state, under)


def _support_counts(version: TocVersion) -> str:
    counts = [
        (version.supported, Support.SUPPORTED),
        (version.weak, Support.WEAK),
        (version.unsupported, Support.UNSUPPORTED),
    ]
    texts = [
        f"{format.support_mark(support)} {count} {support.value}"
        for count, support in counts
        if count
    ]
    return " · ".join(texts) or "no bullets"


def describe_choice(
    history: TocHistory, now: datetime, outlook: RewriteForecast, *, is_written: bool
) -> str:
    """Describe which version is shown, and how to get another one.

    Args:
        outlook: Whether and when a new version can be written.
        is_written: True if a model is writing one at the moment.
    """
    version = history.displayed
    if version is None:
        return NOT_SUMMARIZED
    texts = []
    if version.is_pinned:
        texts.append(f"You pinned version {version.version} (P: unpin).")
        if history.entry.status is NodeStatus.STALE:
            texts.append("The conversation has changed since.")
    elif len(history.versions) == 1:
        texts.append("This is the only version.")
    if is_written:
        texts.append("A model is writing a new one.")
    elif history.requested_at:
        age = date_format.age(history.requested_at, now)
        texts.append(f"You requested a new one {age}. {outlook.message}")
    elif not any(version.is_by_model for version in history.versions):
        hint = "Press R to request one." if outlook.is_possible else outlook.message
        texts.append(f"No model has written one yet. {hint}")
    return " ".join(texts)


def describe_version(
    node: TocNode, version: TocVersion, zone: tzinfo, now: datetime
) -> Stack:
    parts = [*_describe_head(node, version, zone, now), BLANK]
    parts += [_draw_bullet(bullet) for bullet in (*node.bullets, *node.further)]
    if node.withheld:
        parts += [BLANK, Content.styled(WITHHELD, "$context")]
    return Stack(*parts, *(_draw_bullet(bullet) for bullet in node.withheld))


def _describe_head(
    node: TocNode, version: TocVersion, zone: tzinfo, now: datetime
) -> Iterator[Content | Paragraph]:
    if node.headline:
        yield Content.styled(node.headline, "bold")
    created = date_format.moment(version.created_at, zone)
    age = date_format.age(version.created_at, now)
    yield Content.styled(
        f"{versions.describe_author(version)} · {created} ({age})", "$context"
    )
    if cost := versions.describe_cost(version.generation):
        server = f"Ollama {version.generation.server}"
        yield Content.styled(f"{cost} · {server}", "$context")
    if version.rejection:
        yield Content.styled(f"Rejected: {version.rejection}", "$error")
    if not (node.bullets or node.withheld):
        yield Content("There was nothing worth a bullet here.")


def _draw_bullet(bullet: Bullet) -> Paragraph:
    reason = versions.explain_verdict(bullet)
    under = [Content.styled(reason, "$context")] if reason else []
    mark = node_page.draw_mark(bullet)
    return Paragraph(mark, node_page.draw_text(bullet), under=under)


ALL_SHOWN = "All claims are shown here, the unsupported ones at the end."
GONE = "This is no longer in the contents."


class VersionsScreen(ListDetailScreen[bool]):
    """Returns whether another version of the node may be shown since."""

    SHOWS_MARKS = True
    BINDINGS: ClassVar[list[BindingType]] = [
        *commands.bindings(
            "pin",
            "regenerate",
            in_footer=True,
            back="Go back to the list, or leave it.",
        ),
        *commands.bindings("show_withheld"),
    ]

    DETAIL_TITLE = "Version"

    _list = getters.query_one(VersionList)

    def __init__(self, line: TocEntry) -> None:
        super().__init__()
        self._line = line
        self._history: TocHistory | None = None
        self._confirming = 0  # The rejected version that a second P pins.
        self._is_changed = self._is_being_written = False

    def compose_list(self) -> ComposeResult:
        yield PaneTitle("Versions")
        yield Static(id="about", markup=False)
        yield VersionList(self.zone)

    def on_mount(self) -> None:
        self._list.loading = True

    # Loading

    def reload(self) -> None:
        self.load(partial(versions.get_history, self._line.node_id), self._show, "list")

    def _show(self, history: TocHistory | None) -> None:
        self._list.loading = False
        self._history = history
        self._show_note()
        if history is None:
            self._list.clear_options()
            self.add_class("-empty")
            return
        self._line = history.entry
        self._list_title.info = plural(len(history.versions), "version")
        self.set_class(not history.versions, "-empty")
        self._list.show(history)

    def _show_note(self) -> None:
        note = GONE
        if self._history is not None:
            note = describe_choice(
                self._history,
                self.now(),
                self.memtui.rewrite_forecast(),
                is_written=self._is_being_written,
            )
        self._show_about(note)

    def _show_about(self, note: str) -> None:
        line = self._line
        name = calendar.title(line.node_id)
        name = name or date_format.moment(line.start_time, self.zone)
        title = Content.styled(name, "bold")
        parts = [("\n" + note, "$context")] if note else []
        self.query_one("#about", Static).update(Content.assemble(title, *parts))

    @on(OptionList.OptionHighlighted)
    def load_version(self) -> None:
        self._confirming = 0
        if version := self._list.current:
            read = partial(versions.get_version, self._line.node_id, version.version)
            self.load(read, partial(self._show_version, version.version), "version")

    def _show_version(self, version: int, node: TocNode | None) -> None:
        selected = self._list.current
        if selected is None or selected.version != version:
            return
        content: VisualType = GONE
        if node is not None:
            content = describe_version(node, selected, self.zone, self.now())
        state = versions.describe_states(selected, self._line.status)
        self.show_details(f"Version {selected.version}", content, state)

    def show_error(self, error: BaseException, group: str) -> None:
        self._list.loading = False
        if self._history is None:
            self._show_about(f"✗ Not loaded: {format.error_text(error)}. {RETRY_HINT}")
            self.retry_reload()
        else:
            super().show_error(error, group)

    def show_progress(self, message: ProgressReported) -> None:
        progress, node_id = message.progress, self._line.node_id
        self._is_being_written = progress.model.node_id == node_id
        if self._history is not None:
            self._show_note()
        if node_id in progress.changed:
            self.reload()

    # Changing

    def action_pin(self) -> None:
        """Pin the selected version, or unpin it; confirm a rejected one first."""
        version = self._list.current
        if version is None:
            self.notify(NOT_SUMMARIZED)
        elif version.is_pinned:
            self.execute(self._unpin, self._confirm, CHANGE)
        elif version.rejection and self._confirming != version.version:
            self._confirming = version.version
            text = (
                f"Version {version.version} was rejected: {version.rejection}."
                "\nPress P again to pin it anyway."
            )
            self.notify(text, severity="warning")
        else:
            self.execute(partial(self._pin, version), self._confirm, CHANGE)

    def _pin(self, version: TocVersion) -> str:
        versions.pin(
            self._line.node_id,
            version.version,
            self.zone,
            self.now(),
            even_rejected=bool(version.rejection),
        )
        return f"Version {version.version} is pinned: newer versions do not replace it."

    def _unpin(self) -> str:
        newest = versions.unpin(self._line.node_id, self.zone, self.now())
        return f"Unpinned. Version {newest.version}, the newest, is shown."

    def action_regenerate(self) -> None:
        if self._list.current is None:
            self.notify(NOT_SUMMARIZED)
        else:
            self.execute(self._request_version, self._confirm, CHANGE)

    def _request_version(self) -> str:
        version = versions.request(self._line.node_id, self.now())
        text = f"A new version is requested. {self.memtui.rewrite_forecast().message}"
        if version.is_pinned:
            text += f"\nVersion {version.version} is pinned and stays shown."
        return text

    def _confirm(self, text: str) -> None:
        self._is_changed, self._confirming = True, 0
        self.app.clear_notifications()
        self.notify(text)
        self.reload()

    def action_show_withheld(self) -> None:
        self.notify(ALL_SHOWN)

    def action_leave(self) -> None:
        self.app.clear_notifications()
        self.dismiss(self._is_changed)
