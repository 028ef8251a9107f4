"""The page of a node: what it says of its stretch of time, and on which grounds."""

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
from memtui.text.tokens import estimate
from memtui.tui import format, workers
from memtui.tui.messages import NodeCosted, NodeRead, NotRead, SourceWanted
from memtui.tui.widgets import day_grid
from memtui.tui.widgets.bullet_list import BulletList
from memtui.tui.widgets.pane_title import PaneTitle

NOTHING_CHOSEN = "Choose a line of the contents to read it here."


NO_BULLETS = {
    NodeStatus.PENDING: "Not summarised yet: that happens by itself, in a while.",
    NodeStatus.PROVISIONAL: "Nothing worth a bullet was said here.",
    NodeStatus.CURRENT: "Nothing worth a bullet was said here.",
    NodeStatus.STALE: "Being brought up to date: the bullets come by themselves.",
}
"""What stands in the place of the bullets when there are none."""


ALL_WITHHELD = "No source says anything of what the model claimed here."
"""The same where all there are are hidden."""


OF_OTHERS = "No bullet here is of it: unfold the line (→) for what was said."
"""The same where all there are rest on other work than what is shown."""


class NodePage(Vertical):
    """Reads a node off the thread that draws, and shows it."""

    def __init__(
        self,
        zone: tzinfo,
        now: Callable[[], datetime],
        count: Callable[[str], int] = estimate,
        *,
        id: str,
    ) -> None:
        """Make the page.

        Args:
            zone: The store's time zone.
            now: The clock.
            count: Counts the tokens of a text; it may take a while.
            id: What the page is called.
        """
        super().__init__(id=id)
        self.zone, self.now, self._count = zone, now, count
        self.node: TocNode | None = None
        self.scope = ALL
        """What part of the memory is shown; ``narrow`` changes it."""
        self._part: ScopedNode | None = None
        self._is_refused = False
        self._wanted = self._awaited = ""
        self._grip_to_open = ""

    def compose(self) -> ComposeResult:
        """A title, what the node says of itself, and its bullets."""
        yield PaneTitle("Page")
        yield Static(Content.styled(NOTHING_CHOSEN, "$context"), id="head")
        yield BulletList()

    @property
    def bullets(self) -> BulletList:
        """The bullets."""
        return self.query_one(BulletList)

    def open(self, node_id: str, grip_id: str = "") -> None:
        """Read a node and show it, with the cursor on the bullet of a grip if given."""
        if node_id != self._wanted:
            self._wanted = self._awaited = node_id
            self._grip_to_open = grip_id
            self.set_timer(workers.SLOW_S, partial(self._say_slow, node_id))
            self._load()
        elif grip_id:
            self._grip_to_open = grip_id
            if self.node is not None and self.node.node_id == node_id:
                self._go_to_grip()

    def _say_slow(self, node_id: str) -> None:
        """Show no longer what was pointed at before, if this is still to come."""
        if self._awaited == node_id:
            self._show_none("Reading…")

    def _show_none(self, why: str) -> None:
        self.node, self._part = None, None
        self._say(why)
        self.post_message(SourceWanted("", 0, 0, ""))

    def close(self) -> None:
        """Show no node: there is none to point at."""
        self.node, self._part, self._wanted, self._awaited = None, None, "", ""
        self.query_one(PaneTitle).show("Page")
        self.query_one("#head", Static).update(
            Content.styled(NOTHING_CHOSEN, "$context")
        )
        self.bullets.clear()

    def set_scope(self, of: Scope) -> None:
        """Show no more of a node than what a part of the memory has of it."""
        if of != self.scope:
            self.scope = of
            if self._wanted:
                self._load()

    def refresh_nodes(self, changed: Collection[str]) -> None:
        """Read the node again if it may have changed."""
        if self._wanted in changed:
            self._load()

    def _load(self) -> None:
        workers.ask(self, partial(self._read, self._wanted, self.scope), "node")

    def _read(self, node_id: str, of: Scope) -> None:
        part = browse.part(node_id, of)
        is_refused = part is not None and versions.is_refused(node_id)
        workers.tell(self, NodeRead(node_id, of, part, is_refused=is_refused))
        if part is not None:
            tokens = self._count(nodes.node_text(part.node))
            workers.tell(self, NodeCosted(part.node, tokens))

    @on(NodeRead)
    def show(self, message: NodeRead) -> None:
        """Show the node, unless another one has been asked for since."""
        if (message.node_id, message.of) != (self._wanted, self.scope):
            return
        self._awaited = ""
        read, known = (message.part, message.is_refused), (self._part, self._is_refused)
        if message.part and read == known:
            return
        self._part, self._is_refused = read
        self.node = message.part.node if message.part else None
        if message.part is None or self.node is None:
            self._say("This is no longer in the contents. Choose another line.")
            return
        self.query_one(PaneTitle).show(
            _title(self.node, self.zone),
            _size(self.node),
        )
        head = self.query_one("#head", Static)
        head.update(self._head(message.part))
        head.set_class(not self.node.bullets, "-alone")
        self.bullets.show(self.node)
        self._go_to_grip()

    @on(NodeCosted)
    def say_cost(self, message: NodeCosted) -> None:
        """Say what an agent would pay for what is shown."""
        if message.node == self.node:
            first, dot, others = _size(message.node).partition(" · ")
            cost = f"~{format.counted(message.tokens, 'token')}"
            told = f"{first} · {cost}{dot}{others}" if first else ""
            self.query_one(PaneTitle).info = told

    def _go_to_grip(self) -> None:
        if self._grip_to_open:
            self.bullets.go_to_grip(self._grip_to_open)
            self._grip_to_open = ""

    def _head(self, part: ScopedNode) -> Content:
        node = part.node
        lines: list[Content | None] = []
        headline = node.headline or (
            node.title if node.level is TocLevel.SEGMENT else ""
        )
        if headline:
            lines.append(Content.styled(headline, "bold"))
        about = [
            self._ago(node),
            format.names(node.agents),
            format.names(node.projects),
        ]
        grounds = _grounds(node, is_refused=self._is_refused)
        lines += [_quiet(about), _quiet(grounds)]
        if node.keywords:
            lines.append(Content.styled(" · ".join(node.words), "$accent"))
        if not part.is_all:
            lines.append(Content.styled(_share(part, self.scope), "$evidence"))
        if not node.bullets:
            told = ALL_WITHHELD if node.withheld else NO_BULLETS[node.status]
            told = OF_OTHERS if part.hidden else told
            lines += [Content(""), Content(told)]
        return Content("\n").join(line for line in lines if line is not None)

    def _ago(self, node: TocNode) -> str:
        """How long ago it was; of a month or a year, nothing."""
        if node.level in (TocLevel.MONTH, TocLevel.YEAR):
            return ""
        if node.level is TocLevel.DAY:
            days = (node.start_time, self.now())
            return day_grid.relative_day(
                *(at.astimezone(self.zone).date() for at in days)
            )
        return format.ago(node.start_time, self.now())

    def _say(self, words: str) -> None:
        self.query_one(PaneTitle).show("Page")
        self.query_one("#head", Static).update(Content(words))
        self.bullets.clear()

    @on(Worker.StateChanged)
    def say_why(self, event: Worker.StateChanged) -> None:
        """Say why the node could not be read."""
        if event.state is WorkerState.ERROR:
            event.stop()
            self.post_message(NotRead())
            self._awaited, why = "", format.why(event.worker.error)
            told = f"This page could not be read: {why}\n{workers.TRIED_AGAIN}"
            self._show_none(told)
            again = partial(self.refresh_nodes, {self._wanted})
            self.set_timer(workers.AGAIN_S, again)


def _size(node: TocNode) -> str:
    """How much it covers; nothing while none of that is known."""
    is_known = node.tally.events or node.status is not NodeStatus.PENDING
    return format.tally(node.tally, node.level) if is_known else ""


def _grounds(node: TocNode, *, is_refused: bool) -> list[str]:
    """Who says it, and how far it can be relied on."""
    standing = format.standing(node.status, is_pinned=node.is_pinned)
    return [
        format.author(node, is_refused=is_refused),
        format.held(node.bullets),
        standing if node.bullets or node.is_pinned else "",
        f"rejected: {node.rejected}" if node.rejected else "",
    ]


def _share(part: ScopedNode, of: Scope) -> str:
    """How much of a node is shown, where that is not all of it."""
    mine, whole = part.node.tally.segments, part.whole.segments
    count = f"{format.count(mine)} of {format.counted(whole, 'segment')}"
    lead = f"{'Of ' if of.agent or of.project else ''}{of} alone: {count}"
    lead = f"{lead[0].upper()}{lead[1:]}; the line on top is of the longest."
    if not part.hidden:
        return lead
    are = "is" if part.hidden == 1 else "are"
    bullets = format.counted(part.hidden, "bullet")
    return f"{lead} {bullets} of other work {are} hidden (F F shows all)."


def _quiet(parts: Iterable[str]) -> Content | None:
    """A line of what is known; None where nothing is."""
    known = list(filter(None, parts))
    return Content.styled(" · ".join(known), "$context") if known else None


def _title(node: TocNode, zone: tzinfo) -> str:
    return format.span(node, zone) if node.level is TocLevel.SEGMENT else node.title
