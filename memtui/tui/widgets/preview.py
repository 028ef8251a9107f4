"""A pane beside a list that shows what is selected, on a screen that is wide enough."""

from collections.abc import Callable, Sequence
from datetime import datetime, tzinfo
from typing import NamedTuple

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.visual import VisualType
from textual.widgets import Static

from memtui.model.hit import Hit, HitKind
from memtui.model.nodes import Bullet
from memtui.services import browse, sessions
from memtui.tui import format, workers
from memtui.tui.widgets.node_page import draw_mark, draw_text
from memtui.tui.widgets.panes import PaneTitle
from memtui.tui.widgets.result_list import hit_title, jump_target
from memtui.tui.widgets.source_pane import (
    SourceExcerpt,
    read_source,
    scroll_to_evidence,
)
from memtui.tui.widgets.text_block import Paragraph, Stack

LEAST_WIDTH = 120  # The narrowest screen that has the pane.


class Previewed(NamedTuple):
    """The part of an item that the pane shows."""

    title: str = ""
    info: str = ""
    content: VisualType = ""


class Preview(Vertical, workers.AppNode):
    """Reads one item at a time; of those requested meanwhile only the latest."""

    def __init__(self) -> None:
        super().__init__(id="preview")
        self._next: Callable[[], Previewed] | None = None
        self._is_reading = False

    def compose(self) -> ComposeResult:
        yield PaneTitle()
        # The keys stay with the list.
        with VerticalScroll(can_focus=False):
            yield Static(markup=False)

    def request(self, read: Callable[[], Previewed]) -> None:
        """Show what is read on a thread, once the pane is visible."""
        self._next = read
        self._read()

    def on_show(self) -> None:
        self._read()

    def _read(self) -> None:
        if self.display and self._next is not None and not self._is_reading:
            read, self._next, self._is_reading = self._next, None, True
            self.load(read, self._show, "preview")

    def _show(self, previewed: Previewed) -> None:
        self._is_reading = False
        if self._next is None:
            self.query_one(PaneTitle).show(previewed.title, previewed.info)
            self.query_one(Static).update(previewed.content)
            pane = self.query_one(VerticalScroll)
            pane.scroll_home(animate=False)
            self.call_after_refresh(scroll_to_evidence, pane)
        self._read()

    def show_error(self, error: BaseException, group: str) -> None:
        text = f"✗ not read: {format.error_text(error)}"
        self._show(Previewed(content=Content.styled(text, "$error")))


def read_session(agent: str, session_id: str) -> Previewed:
    """Return the card of a session."""
    card = sessions.read_card(agent, session_id)
    if card.session is None:
        return Previewed()
    content = _draw_bullets(card.bullets)
    return Previewed(card.session.title, card.session.project, content)


def read_hit(hit: Hit, zone: tzinfo, now: datetime) -> Previewed:
    """Return a message or source with what is around it, or a card or page."""
    if hit.kind in (HitKind.MESSAGE, HitKind.GRIP):
        source = jump_target(hit).source
        expansion = read_source(source)
        project = expansion.session.project if expansion.session else ""
        excerpt = SourceExcerpt(expansion, zone, now, source.verdict)
        return Previewed(hit_title(hit), project, excerpt)
    if hit.session is not None:
        return read_session(*hit.session_key)
    node = browse.get_node(hit.node_id)
    bullets = node.bullets if node is not None else ()
    return Previewed(hit_title(hit), "", _draw_bullets(bullets))


def _draw_bullets(bullets: Sequence[Bullet]) -> Stack:
    return Stack(*(Paragraph(draw_mark(line), draw_text(line)) for line in bullets))
