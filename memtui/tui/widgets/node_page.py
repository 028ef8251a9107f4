"""The page of a node: its headline, its scope, who wrote it, and its bullets."""

from collections.abc import Callable, Collection, Iterable
from datetime import datetime, tzinfo
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from memtui.model import nodes
from memtui.model.activity import ScopedNode
from memtui.model.nodes import NodeStatus, TocLevel, TocNode
from memtui.model.scope import ALL, Scope
from memtui.services import browse, versions
from memtui.text import date_format
from memtui.tui import format, workers
from memtui.tui.messages import LoadFailed, NodeLoaded, SourceRequested
from memtui.tui.widgets.bullet_list import BulletList
from memtui.tui.widgets.pane_title import SEPARATOR, PaneTitle

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
NONE_IN_SCOPE = "No bullet here is in this scope. Expand the row (→) to see more."


class NodePage(Vertical):
    """Reads a node on a worker thread and shows it."""

    def __init__(
        self,
        zone: tzinfo,
        now: Callable[[], datetime],
        count: Callable[[str], int],
        *,
        id: str,
    ) -> None:
        """Create the page.

        Args:
            zone: The time zone of the store.
            now: The clock.
            count: Counts the tokens of a text; called on a worker thread.
            id: The id of the widget.
        """
        super().__init__(id=id)
        self.zone, self.now, self._count = zone, now, count
        self.node: TocNode | None = None
        self.scope = ALL
        self._shown: tuple[ScopedNode, bool] | None = None
        """The shown node; True if a version of it by a model was rejected."""
        self._node_id = self._loading = ""
        self._grip_to_open = ""

    def compose(self) -> ComposeResult:
        yield PaneTitle("Page")
        yield Static(Content.styled(PLACEHOLDER, "$context"), id="head")
        yield BulletList()

    @property
    def bullets(self) -> BulletList:
        return self.query_one(BulletList)

    def open(self, node_id: str, grip_id: str = "") -> None:
        """Show a node, with the cursor on the bullet of a grip if one is given."""
        if node_id != self._node_id:
            self._node_id = self._loading = node_id
            self._grip_to_open = grip_id
            self.set_timer(workers.SLOW_S, partial(self._show_loading, node_id))
            self._load()
        elif grip_id:
            self._grip_to_open = grip_id
            if self.node is not None and self.node.node_id == node_id:
                self._go_to_grip()

    def close(self) -> None:
        self.node, self._shown, self._node_id, self._loading = None, None, "", ""
        self._show_text(Content.styled(PLACEHOLDER, "$context"))

    def set_scope(self, scope: Scope) -> None:
        """Show what another scope has of the node."""
        if scope != self.scope:
            self.scope = scope
            if self._node_id:
                self._load()

    def refresh_nodes(self, changed: Collection[str]) -> None:
        """Read the node again if it is among those that have changed."""
        if self._node_id in changed:
            self._load()

    # Reading

    def _load(self) -> None:
        node_id, scope = self._node_id, self.scope
        read = partial(_read, node_id, scope)
        workers.load(self, read, partial(self._show, node_id, scope), "node")

    def _show(
        self, node_id: str, scope: Scope, found: tuple[ScopedNode, bool] | None
    ) -> None:
        """Show what was read, unless another node was opened meanwhile."""
        if (node_id, scope) != (self._node_id, self.scope):
            return
        self._loading = ""
        if found is None:
            self.node, self._shown = None, None
            self._show_text(Content(NOT_FOUND))
        elif found != self._shown:
            self._shown = found
            part, is_rejected = found
            self._show_node(part, is_rejected=is_rejected)
        if self.node is not None:
            count = partial(_count_tokens, self._count, self.node)
            workers.load(self, count, self._show_cost, "cost")
        self.post_message(NodeLoaded())

    def _show_node(self, part: ScopedNode, *, is_rejected: bool) -> None:
        node = self.node = part.node
        is_segment = node.level is TocLevel.SEGMENT
        title = format.segment_time(node, self.zone) if is_segment else node.title
        self.query_one(PaneTitle).show(title, _size(node))
        head = self.query_one("#head", Static)
        head.update(self._head(part, is_rejected=is_rejected))
        head.set_class(not node.bullets, "-alone")
        self.bullets.show(node)
        self._go_to_grip()

    def _show_cost(self, counted: tuple[TocNode, int]) -> None:
        """Show what the page costs an agent, in tokens."""
        node, tokens = counted
        if node == self.node:
            first, separator, rest = _size(node).partition(SEPARATOR)
            cost = f"~{format.quantity(tokens, 'token')}"
            info = f"{first}{SEPARATOR}{cost}{separator}{rest}" if first else ""
            self.query_one(PaneTitle).info = info

    def _go_to_grip(self) -> None:
        if self._grip_to_open:
            self.bullets.go_to_grip(self._grip_to_open)
            self._grip_to_open = ""

    def _show_loading(self, node_id: str) -> None:
        if self._loading == node_id:
            self._show_nothing("Reading…")

    @on(Worker.StateChanged)
    def show_error(self, event: Worker.StateChanged) -> None:
        """Show why the node could not be read, and try again."""
        if event.state is WorkerState.ERROR:
            event.stop()
            self.post_message(LoadFailed())
            self._loading, why = "", format.error_text(event.worker.error)
            self._show_nothing(
                f"This page could not be read: {why}\n{workers.WILL_RETRY}"
            )
            again = partial(self.refresh_nodes, {self._node_id})
            self.set_timer(workers.RETRY_S, again)

    def _show_nothing(self, text: str) -> None:
        """Show a text in place of the node, and no source."""
        self.node, self._shown = None, None
        self._show_text(Content(text))
        self.post_message(SourceRequested("", 0, 0, ""))

    def _show_text(self, text: Content) -> None:
        self.query_one(PaneTitle).show("Page")
        self.query_one("#head", Static).update(text)
        self.bullets.clear()

    # The head

    def _head(self, part: ScopedNode, *, is_rejected: bool) -> Content:
        node = part.node
        lines: list[Content | None] = []
        is_segment = node.level is TocLevel.SEGMENT
        if headline := node.headline or (node.title if is_segment else ""):
            lines.append(Content.styled(headline, "bold"))
        names = [format.name_list(some) for some in (node.agents, node.projects)]
        status = format.status_text(node.status, is_pinned=node.is_pinned)
        origin = [
            format.author(node, is_rejected=is_rejected),
            format.support_counts(node.bullets),
            status if node.bullets or node.is_pinned else "",
            f"rejected: {node.rejection}" if node.rejection else "",
        ]
        lines += [_quiet([self._age(node), *names]), _quiet(origin)]
        if node.keywords:
            lines.append(Content.styled(" · ".join(node.keyword_texts), "$accent"))
        if not part.is_all:
            lines.append(Content.styled(_share(part, self.scope), "$evidence"))
        if not node.bullets:
            text = ALL_WITHHELD if node.withheld else NO_BULLETS[node.status]
            text = NONE_IN_SCOPE if part.hidden_bullets else text
            lines += [Content(""), Content(text)]
        return Content("\n").join(line for line in lines if line is not None)

    def _age(self, node: TocNode) -> str:
        if node.level in (TocLevel.MONTH, TocLevel.YEAR):
            return ""
        if node.level is TocLevel.DAY:
            today = self.now().astimezone(self.zone).date()
            day = node.start_time.astimezone(self.zone).date()
            return date_format.day_age(day, today)
        return date_format.age(node.start_time, self.now())


def _read(node_id: str, scope: Scope) -> tuple[ScopedNode, bool] | None:
    part = browse.get_scoped_node(node_id, scope)
    return None if part is None else (part, versions.has_rejected(node_id))


def _count_tokens(count: Callable[[str], int], node: TocNode) -> tuple[TocNode, int]:
    return node, count(nodes.node_text(node))


def _size(node: TocNode) -> str:
    """Return how much the node covers, "" while that is not known."""
    is_known = node.counts.events or node.status is not NodeStatus.PENDING
    return format.node_size(node.counts, node.level) if is_known else ""


def _share(part: ScopedNode, scope: Scope) -> str:
    """Return how much of the node is in the scope."""
    mine = format.number(part.node.counts.segments)
    share = f"{scope} only: {mine} of {format.quantity(part.total.segments, 'segment')}"
    if part.hidden_bullets:
        share += f", {format.quantity(part.hidden_bullets, 'bullet')} hidden"
    return f"{share[0].upper()}{share[1:]} (F F: all)"


def _quiet(parts: Iterable[str]) -> Content | None:
    known = list(filter(None, parts))
    return Content.styled(" · ".join(known), "$context") if known else None
