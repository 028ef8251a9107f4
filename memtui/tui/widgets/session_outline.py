"""The card of a session, and its outline as a list."""

from datetime import tzinfo
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widgets.option_list import Option

from memtui.model.events import EventPosition
from memtui.model.nodes import BulletKind
from memtui.model.quantities import plural
from memtui.model.sessions import WorkState
from memtui.services.outline import EntryKind, Outline, OutlineEntry
from memtui.text import date_format
from memtui.tui import commands, format
from memtui.tui.widgets.node_page import draw_text
from memtui.tui.widgets.panes import SEPARATOR, ItemList

MARKS = {
    EntryKind.COMMIT: (format.SUPPORTED, "$success"),
    EntryKind.FAILED: (format.UNSUPPORTED, "$error"),
    EntryKind.SUBAGENT: ("▸", "$accent"),
}


def draw_card(outline: Outline, zone: tzinfo) -> Content:
    """Draw the facts on a session, and what came of it."""
    if (session := outline.card.session) is None:
        return Content("")
    start, end = session.created_at, session.updated_at
    state, times = session.work.state or "", date_format.hours_in(zone, start, end)
    parts = [state, session.branch, session.model, times]
    head = Content(SEPARATOR.join(map(format.to_line, filter(None, parts))))
    color = "$error" if state is WorkState.FAILED else "$success"
    kinds = [entry.kind for entry in outline.entries]
    counts = [plural(kinds.count(kind), kind) for kind in EntryKind if kind in kinds]
    counts.append(date_format.duration(end - start))
    lines = [
        head.stylize(f"bold {color}", 0, len(state)),
        Content.styled(SEPARATOR.join(counts), "$context"),
    ]
    bullets = (b for b in outline.card.bullets if b.kind is not BulletKind.ASKED)
    return Content("\n").join([*lines, *map(draw_text, bullets)])


class OutlineList(ItemList[OutlineEntry]):
    """Leads to the prompts, commits, failed calls and subagents of a session."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        open="Go to this place in the session."
    )
    HELP_TITLE = "In the outline"

    def show(self, outline: Outline, here: EventPosition | None) -> None:
        """List the entries, with the cursor on the one that a position belongs to."""
        items, options, cursor, prompts = {}, [], "", 0
        for number, entry in enumerate(outline.entries):
            prompts += entry.kind is EntryKind.PROMPT
            mark, color = MARKS.get(entry.kind, (f"{prompts:,}", "bold"))
            kind = f"{entry.kind}: " if entry.kind in MARKS else ""
            head = Content.styled(f"{mark:>4} ", color) + Content.styled(
                kind, "$context"
            )
            name = str(number)
            items[name] = entry
            options.append(Option(head + format.to_line(entry.text), id=name))
            cursor = name if here and entry.position <= here else cursor
        self.show_items(items, options, cursor)
