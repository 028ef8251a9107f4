"""The page of a node: its headline, its scope, who wrote it, and its bullets.

Each bullet has its verdict, its number of sources, and its quotes, which are collapsed
until asked for. The list posts which source belongs to the cursor.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from memtui.model import calendar, nodes
from memtui.model.calendar import TocLevel
from memtui.model.filters import ALL, Scope
from memtui.model.nodes import (
    Bullet,
    BulletKind,
    DaySession,
    NodeStatus,
    TocEntry,
    TocNode,
)
from memtui.model.quantities import plural
from memtui.services import browse, coverage, usage, versions
from memtui.text import date_format
from memtui.tui import commands, format, messages, workers
from memtui.tui.widgets.panes import SEPARATOR, ItemList, PaneTitle
from memtui.tui.widgets.text_block import Paragraph

WHY_NO_SOURCE = (
    "Nothing was found in the conversation that supports this bullet.\n"
    "Treat it with caution."
)

BulletPosition = tuple[int, int]
"""A bullet and one of its grips or quotes, both from 0; -1 for the bullet itself."""


class BulletList(ItemList[BulletPosition], workers.Loader):
    """Moves through bullets and quotes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *commands.bindings(
            open="Open the source of this bullet.",
            toggle_expanded="Show or hide the quotes of this bullet.",
            deeper="Show the quotes of this bullet, or open its source.",
            outward="Hide the quotes, or go back to the contents.",
        ),
        *commands.bindings("show_withheld", in_footer=True),
    ]
    HELP_TITLE = "On the page"

    def __init__(self) -> None:
        super().__init__()
        self.node_id = ""
        # The listed bullets: those of the node, then further and withheld ones if
        # shown.
        self.bullets: tuple[Bullet, ...] = ()
        self._hidden: tuple[Bullet, ...] = ()
        self._shows_withheld = False
        self._explained = -1
        # The quotes of the expanded bullets; empty while they are being read.
        self._quotes: dict[int, Sequence[str]] = {}
        self._grip: BulletPosition = (0, 0)

    def show(self, node: TocNode) -> None:
        """Show the bullets of a node; for the same node, keep cursor and quotes."""
        expanded = {self.bullets[index].text for index in self._quotes}
        if node.node_id != self.node_id:
            expanded, self._grip = set(), (0, 0)
            self._shows_withheld = False
        self.node_id, self._hidden = node.node_id, (*node.further, *node.withheld)
        self.bullets = node.bullets
        if self._shows_withheld:
            self.bullets += self._hidden
        if self._grip[0] >= len(self.bullets):
            self._grip = (0, 0)
        self.refresh_bindings()
        self._quotes.clear()
        for index, bullet in enumerate(self.bullets):
            if bullet.text in expanded:
                self._expand(index)
        self._update_options((self._grip[0], -1))

    def clear(self) -> None:
        self.node_id, self.bullets, self._hidden = "", (), ()
        self._quotes.clear()
        self.refresh_bindings()
        self._update_options((0, -1))

    # Withheld bullets

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        return action != "show_withheld" or bool(self._hidden)

    def action_show_withheld(self) -> None:
        self.toggle_withheld()

    def toggle_withheld(self) -> bool:
        """Show or hide the bullets no source supports; False if there are none."""
        if not self._hidden:
            self.notify("Nothing is hidden on this page.")
            return False
        first = self._first_hidden
        self._shows_withheld = not self._shows_withheld
        if self._shows_withheld:
            self.bullets += self._hidden
            self._update_options((first, -1))
            return True
        self.bullets = self.bullets[:first]
        self._quotes = {at: quotes for at, quotes in self._quotes.items() if at < first}
        position = self.current or (0, -1)
        hidden = position[0] >= first
        self._update_options((max(first - 1, 0), -1) if hidden else position)
        return True

    @property
    def _first_hidden(self) -> int:
        """The index of the first bullet that is not listed, shown or not."""
        return len(self.bullets) - len(self._hidden) * self._shows_withheld

    # Options

    def _update_options(self, cursor: BulletPosition) -> None:
        key = f"u: {'hide' if self._shows_withheld else 'show'}"
        text = f"{_describe_hidden(self._hidden)} ({key})"
        line = Paragraph(Content("  "), Content.styled(text, "italic $context"))
        hidden = [Option(line, disabled=True)] if self._hidden else []
        items: dict[str, BulletPosition] = {}
        options: list[Option] = []
        self._explained = cursor[0]
        for index in range(len(self.bullets)):
            if index == self._first_hidden:
                options += hidden
            rows = [
                self._draw_bullet(index),
                *map(_draw_quote, self._quotes.get(index, ())),
            ]
            for number, row in enumerate(rows, -1):
                name = _name((index, number))
                items[name] = (index, number)
                options.append(Option(row, id=name))
        if not self._shows_withheld:
            options += hidden
        is_listed = _name(cursor) in items
        self.show_items(items, options, _name(cursor if is_listed else (cursor[0], -1)))

    def _draw_bullet(self, index: int) -> Paragraph:
        bullet, is_expanded = self.bullets[index], index in self._quotes
        is_explained = is_expanded or index == self._explained
        is_dim = index >= self._first_hidden and not is_explained
        reason = versions.explain_verdict(bullet) if is_explained else ""
        end = Content.styled("no source", "$error")
        if bullet.grip_ids:
            count = f"{len(bullet.grip_ids)} {'▾' if is_expanded else '▸'}"
            words = "" if bullet.has_support else "closest words "
            end = Content.styled(words + count, "$context")
        return Paragraph(
            draw_mark(bullet),
            draw_text(bullet, "$context" if is_dim else ""),
            end,
            [Content.styled(reason, "not bold")] if reason else [],
        )

    def _explain(self, bullet: int) -> None:
        """Explain the verdict on a bullet, and no longer that on the previous one."""
        before, self._explained = self._explained, bullet
        for index in {before, bullet} if before != bullet else ():
            if (name := _name((index, -1))) in self.items:
                self.replace_option_prompt(name, self._draw_bullet(index))
        self.scroll_to_highlight()

    # Cursor and sources

    @property
    def bullet(self) -> Bullet | None:
        """The bullet whose source is shown."""
        return self.bullets[self._grip[0]] if self.bullets else None

    @property
    def grip_id(self) -> str:
        """The grip whose source is shown, "" for none."""
        grips = self.bullet.grip_ids if self.bullet else ()
        return grips[min(self._grip[1], len(grips) - 1)] if grips else ""

    @on(OptionList.OptionHighlighted)
    def follow_cursor(self, event: OptionList.OptionHighlighted) -> None:
        """Request the source of the bullet or quote under the cursor."""
        event.stop()
        position = self.current
        if event.option_index != self.highlighted or position is None:
            return  # The cursor has moved on since.
        bullet, quote = position
        self._explain(bullet)
        if quote >= 0:
            self._grip = bullet, quote
        elif bullet != self._grip[0]:
            self._grip = bullet, 0
        self.request_source()

    def request_source(self) -> bool:
        """Request the source that belongs to the cursor; False without bullets."""
        if not self.bullets:
            return False
        index, grip = self._grip
        bullet = self.bullets[index]
        total = len(bullet.grip_ids)
        request = messages.SourceRequested(
            why_none="" if total else WHY_NO_SOURCE,
            grip_id=self.grip_id,
            number=min(grip + 1, total),
            total=total,
            verdict=bullet.verdict if total else None,
            node_id=self.node_id,
            bullet=index + 1,
        )
        self.post_message(request)
        return True

    def step_grip(self, by: int) -> bool:
        """Go to the next (1) or previous (-1) grip; False if there is none."""
        grips = [
            (index, grip)
            for index, bullet in enumerate(self.bullets)
            for grip in range(len(bullet.grip_ids))
        ]
        here = self._grip
        ahead = [grip for grip in grips if (grip > here if by > 0 else grip < here)]
        if ahead:
            self._go_to(ahead[0] if by > 0 else ahead[-1])
        return bool(ahead)

    def go_to_source(self, grip_id: str, text: str = "") -> None:
        """Go to a source, of the bullet with a text if there is one; show it if it is
        hidden."""
        hidden = () if self._shows_withheld else self._hidden
        cited = [
            (bullet.text != text, index)
            for index, bullet in enumerate((*self.bullets, *hidden))
            if grip_id in bullet.grip_ids or (text and bullet.text == text)
        ]
        if not cited:
            return
        _, index = min(cited)
        if index >= len(self.bullets):
            self.toggle_withheld()
        grips = self.bullets[index].grip_ids
        self._go_to((index, grips.index(grip_id) if grip_id in grips else 0))

    def _go_to(self, grip: BulletPosition) -> None:
        self._grip = grip
        name = _name(grip)
        is_listed = name in self.items
        name = name if is_listed else _name((grip[0], -1))
        self.highlighted = self.get_option_index(name)
        self.request_source()

    # Quotes

    def _expand(self, bullet: int) -> None:
        self._quotes[bullet] = ()
        read = partial(_read_quotes, self.bullets[bullet].grip_ids)
        show = partial(self._show_quotes, self.node_id, bullet)
        self.execute(read, show, "quotes")

    def _show_quotes(self, node_id: str, bullet: int, quotes: Sequence[str]) -> None:
        if node_id == self.node_id and bullet in self._quotes:
            self._quotes[bullet] = quotes
            self._update_options(self.current or (0, -1))

    def show_error(self, error: BaseException, group: str) -> None:
        reason = format.error_text(error)
        text = f"The quotes could not be read: {reason}. Expand again to retry."
        self.notify(text, severity="error")

    # Keys

    def action_toggle_expanded(self) -> None:
        if self.current is None:
            return
        bullet = self.current[0]
        if not self.bullets[bullet].grip_ids:
            self.notify("This bullet has no source to quote.")
            return
        if bullet in self._quotes:
            del self._quotes[bullet]
        else:
            self._expand(bullet)
        self._update_options((bullet, -1))

    def action_deeper(self) -> None:
        """Show the quotes; where they are shown, open the source."""
        bullet, quote = self.current or (0, 0)
        if quote < 0 and bullet not in self._quotes and self.bullets[bullet].grip_ids:
            self.action_toggle_expanded()
        else:
            self.action_open()

    def action_outward(self) -> None:
        """Go from a quote to its bullet, hide the quotes, or leave the list."""
        bullet, quote = self.current or (-1, -1)
        if quote >= 0:
            self.highlighted = self.get_option_index(_name((bullet, -1)))
        elif bullet in self._quotes:
            self.action_toggle_expanded()
        else:
            self.post_message(messages.LeavePane())

    def action_open(self) -> None:
        if self.current is None:
            self.notify("There are no bullets here yet.")
        elif not self.bullets[self.current[0]].grip_ids:
            self.notify("This bullet has no source to open.")
        else:
            self.post_message(messages.SourceSelected())

    @on(OptionList.OptionSelected)
    def open_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_open()


def _describe_hidden(bullets: Sequence[Bullet]) -> str:
    """Return how many lines are not listed: "2 more lines, 1 line withheld"."""
    withheld = sum(bullet.is_withheld for bullet in bullets)
    further = len(bullets) - withheld
    parts = [plural(further, "more line")] if further else []
    parts += [f"{plural(withheld, 'line')} of the model withheld"] if withheld else []
    return ", ".join(parts)


def _name(position: BulletPosition) -> str:
    return f"{position[0]}/{position[1]}"


def _read_quotes(grip_ids: Sequence[str]) -> Sequence[str]:
    from memtui.services import conversation  # not needed at the start

    sources = conversation.read_sources(grip_ids)
    return [sources[name].excerpt if name in sources else "" for name in grip_ids]


def draw_text(bullet: Bullet, style: str = "") -> Content:
    """Draw a bullet on one line, its label dimmed; the project is a line above."""
    is_work = bullet.kind is BulletKind.WORK
    label = "" if is_work else bullet.labelled.removesuffix(bullet.text)
    text = Content.styled(" ".join(bullet.text.split()), style)
    return Content.styled(label, "$context") + text


def draw_mark(bullet: Bullet) -> Content:
    mark = format.bullet_mark(bullet)
    is_dim = mark in (format.SUPPORTED, format.QUOTED)
    style = "$context" if is_dim else ""
    has_source = bullet.has_support or bullet.kind is BulletKind.MORE
    return Content.styled(f"{mark} ", style if has_source else "$error")


def _draw_quote(text: str) -> Paragraph:
    quote = f"“{' '.join(text.split())}”" if text else "source no longer available"
    return Paragraph(Content("    "), Content.styled(quote, "italic $evidence"))


PLACEHOLDER = "Choose a row of the contents to read it here."
NOT_FOUND = "This node is no longer in the contents. Choose another row."
NOTHING_TO_SAY = "There was nothing worth a bullet here."

NO_BULLETS = {
    NodeStatus.PENDING: "Not summarized yet. memtui will do this in the background.",
    NodeStatus.PROVISIONAL: NOTHING_TO_SAY,
    NodeStatus.CURRENT: NOTHING_TO_SAY,
    NodeStatus.STALE: "This summary is being updated.",
}

ALL_WITHHELD = "No source supports any claim of the model here."


class NodePage(Vertical, workers.AppNode):
    """Reads a node on a worker thread and shows it."""

    bullets = getters.query_one(BulletList)

    def __init__(self, leave: Callable[[], object], *, id: str) -> None:
        super().__init__(id=id)
        self._leave = leave  # Called before another node is shown.
        self.node: TocNode | None = None
        self.scope = ALL
        # The shown node; True if a version of it by a model was rejected.
        self._shown: tuple[TocNode, bool] | None = None
        self._notes: dict[str, str] = {}  # The usage and the coverage.
        # The row of the contents that is or will be shown.
        self._row: TocEntry | DaySession | None = None
        self._source_to_open = ("", "")  # A grip, and the text of its bullet.

    def compose(self) -> ComposeResult:
        yield PaneTitle("Page")
        yield Static(Content.styled(PLACEHOLDER, "$context"), id="head")
        yield BulletList()

    @property
    def is_shown(self) -> bool:
        return self.node is not None and self.node.node_id == self._node_id

    @property
    def _node_id(self) -> str:
        return self._row.node_id if self._row is not None else ""

    def open(
        self, row: TocEntry | DaySession, grip_id: str = "", bullet: str = ""
    ) -> None:
        """Show the node of a row, with the cursor on a source or bullet if given."""
        before, self._row = self._row, row
        if before is None or _page_key(row) != _page_key(before):
            self._source_to_open = grip_id, bullet
            self._load()
            return
        if isinstance(row, DaySession) and row != before:
            self._load()
        if grip_id or bullet:
            self._source_to_open = grip_id, bullet
            if self.is_shown:
                self._go_to_source()

    def close(self) -> None:
        self.node, self._shown, self._row = None, None, None
        self._show_text(Content.styled(PLACEHOLDER, "$context"))

    def set_scope(self, scope: Scope) -> None:
        if scope != self.scope:
            self.scope = scope
            if self._row is not None:
                self._load()

    def refresh_nodes(self, changed: Collection[str]) -> None:
        # A day changes with the names of its sessions.
        row, names = self._row, {self._node_id}
        if isinstance(row, DaySession):
            names = {row.day_id, *(segment.node_id for segment in row.segments)}
            names.update(self.node.child_node_ids if self.node else ())
        elif row is not None and row.level is TocLevel.SEGMENT:
            names.update(calendar.parent_ids(row.node_id))
        if not names.isdisjoint(changed):
            self._load()

    # Reading

    def _load(self) -> None:
        if self._row is not None:
            read = partial(_read, self._row, self.scope)
            show = partial(self._show, self._row, self.scope)
            slow = None if self.is_shown else self._show_loading
            self.load(read, show, "node", slow)

    def _show(
        self,
        row: TocEntry | DaySession,
        scope: Scope,
        page: tuple[TocNode, bool] | None,
    ) -> None:
        """Show what was read, unless another node was opened meanwhile."""
        is_current = self._row is not None and _page_key(row) == _page_key(self._row)
        if not is_current or scope != self.scope:
            return
        if self.node is None or self.node.node_id != row.node_id:
            self._leave()
            self._notes = {}
        if page is None:
            self.node, self._shown = None, None
            self._show_text(Content(NOT_FOUND))
        elif page != self._shown:
            self._shown = page
            node, is_rejected = page
            self._show_node(node, is_rejected=is_rejected)
        shown_node = self.node
        if shown_node is not None and isinstance(row, TocEntry):
            show = partial(self._show_cost, shown_node)
            count = self.workspace.count_tokens
            self.load(lambda: count(nodes.node_text(shown_node)), show, "cost")
        if shown_node is not None:
            settings = self.workspace.settings
            notes = {
                "usage": partial(usage.describe_page, row, scope, settings, self.zone),
                "coverage": partial(coverage.describe_page, row, scope, self.zone),
            }
            for name, read in notes.items():
                self.load(read, partial(self._show_note, shown_node, name), name)
        self.post_message(messages.NodeLoaded())

    def _show_node(self, node: TocNode, *, is_rejected: bool) -> None:
        self.node = node
        title = node.title
        if node.level is TocLevel.SEGMENT:
            title = date_format.hours_in(self.zone, node.start_time, node.end_time)
        self.query_one(PaneTitle).show(title, _size(node))
        head = self.query_one("#head", Static)
        head.update(self._head(node, is_rejected=is_rejected))
        head.set_class(not node.bullets, "-alone")
        self.bullets.show(node)
        self._go_to_source()

    def _show_cost(self, node: TocNode, tokens: int) -> None:
        """Show what the page costs an agent, in tokens."""
        if node == self.node:
            first, separator, others = _size(node).partition(SEPARATOR)
            cost = f"~{plural(tokens, 'token')}"
            info = f"{first}{SEPARATOR}{cost}{separator}{others}" if first else ""
            self.query_one(PaneTitle).info = info

    def _show_note(self, node: TocNode, name: str, note: str) -> None:
        """Show what the replies took, or how much bullets cite."""
        if node == self.node and self._shown and note != self._notes.get(name, ""):
            self._notes[name] = note
            head = self._head(node, is_rejected=self._shown[1])
            self.query_one("#head", Static).update(head)
            # The list has fewer lines now.
            self.call_after_refresh(self.bullets.scroll_to_highlight)

    def _go_to_source(self) -> None:
        if any(self._source_to_open):
            self.bullets.go_to_source(*self._source_to_open)
            self._source_to_open = "", ""

    def _show_loading(self) -> None:
        self._show_nothing("Reading…")

    def show_error(self, error: BaseException, group: str) -> None:
        self.post_message(messages.LoadFailed())
        why = format.error_text(error)
        self._show_nothing(f"This page could not be read: {why}\n{workers.WILL_RETRY}")
        self.set_timer(workers.RETRY_S, self._load)

    def _show_nothing(self, text: str) -> None:
        """Show a text in place of the node, and no source."""
        self.node, self._shown = None, None
        self._leave()
        self._show_text(Content(text))

    def _show_text(self, text: Content) -> None:
        self.query_one(PaneTitle).show("Page")
        self.query_one("#head", Static).update(text)
        self.bullets.clear()

    # The head

    def _head(self, node: TocNode, *, is_rejected: bool) -> Content:
        lines: list[Content | None] = []
        is_segment = node.level is TocLevel.SEGMENT
        if headline := node.headline or (node.title if is_segment else ""):
            lines.append(Content.styled(headline, "bold"))
        names = [format.name_list(node.agents), format.name_list(node.projects)]
        status = format.status_text(node.status, is_pinned=node.is_pinned)
        origin = [
            format.author(node, is_rejected=is_rejected),
            format.support_counts(node.bullets),
            status if node.bullets or node.is_pinned else "",
            f"rejected: {node.rejection}" if node.rejection else "",
            self._notes.get("coverage", ""),
        ]
        lines += [_quiet([node.work_state, self._age(node), *names]), _quiet(origin)]
        lines.append(_quiet([self._notes.get("usage", "")]))
        if node.keywords:
            lines.append(Content.styled(" · ".join(node.keyword_texts), "$accent"))
        if node.all_segments:
            lines.append(Content.styled(_share(node, self.scope), "$evidence"))
        if not node.bullets:
            text = ALL_WITHHELD if node.withheld else NO_BULLETS[node.status]
            lines += [Content(""), Content(text)]
        return Content("\n").join(line for line in lines if line is not None)

    def _age(self, node: TocNode) -> str:
        if node.level in (TocLevel.MONTH, TocLevel.YEAR):
            return ""
        if node.level is TocLevel.DAY:
            today = calendar.local_day(self.now(), self.zone)
            day = calendar.local_day(node.start_time, self.zone)
            return date_format.day_age(day, today)
        return date_format.near_age(node.start_time, self.now(), self.zone)


def _read(row: TocEntry | DaySession, scope: Scope) -> tuple[TocNode, bool] | None:
    node = browse.read_page(row, scope)
    if node is None:
        return None
    return node, isinstance(row, TocEntry) and versions.has_rejected(row.node_id)


def _page_key(row: TocEntry | DaySession) -> tuple[str, str]:
    """Return what names a page: a week across two months has one for each."""
    return row.node_id, "" if isinstance(row, DaySession) else row.month_id


def _size(node: TocNode) -> str:
    is_known = node.counts.events or node.status is not NodeStatus.PENDING
    return format.node_size(node.counts, node.level) if is_known else ""


def _share(node: TocNode, scope: Scope) -> str:
    total = plural(node.all_segments, "segment")
    share = f"{scope} only: {node.counts.segments:,} of {total}"
    return f"{share[0].upper()}{share[1:]} (F F: all)"


def _quiet(parts: Iterable[str]) -> Content | None:
    present = list(filter(None, parts))
    return Content.styled(" · ".join(present), "$context") if present else None
