"""Context packs: pages as Markdown within a budget of tokens, for another agent."""

from collections.abc import Sequence
from itertools import chain, islice
from textwrap import indent
from typing import TYPE_CHECKING

from memtui.model import citations
from memtui.model.filters import ALL, Scope
from memtui.model.nodes import Bullet
from memtui.services import conversation, report
from memtui.text import markdown
from memtui.text.plain import shorten
from memtui.tools import replies
from memtui.tools.replies import Fitted, Item, Reply

if TYPE_CHECKING:
    from memtui.workspace import Workspace

TOKENS = 4_000
"""The budget unless another is given."""

PAGE_TOKENS = 100
"""The least that a page takes; more pages have no room."""

QUOTE_CHARS = 1_200
"""The most that is quoted of a message."""


def make_pack(
    workspace: "Workspace",
    names: Sequence[str],
    budget: int = TOKENS,
    scope: Scope = ALL,
) -> Fitted:
    """Return a context pack of sessions, periods and sources.

    As many lines as fit come first, then the messages that they cite.

    Args:
        names: The ids of sessions, of nodes, or of grips and events.
        budget: The most tokens of the pack.
        scope: Of periods only its sessions are taken.

    Raises:
        MemtuiError: There is no such id.
    """
    pages = chain.from_iterable(
        report.read_pages(name, workspace.zone, scope) for name in dict.fromkeys(names)
    )
    items, places = list[Item](), list[int]()
    for page in islice(pages, budget // PAGE_TOKENS + 1):
        items.append({"heading": page.heading, "text": page.text})
        items += map(_describe, page.bullets)
        places += range(1 + len(page.bullets))
    reply = Reply(
        {"lines": items},
        _write_item,
        head_lines=["# Context pack"],
        # The first lines of each page come before the others of any.
        order=sorted(range(len(items)), key=lambda number: places[number]),
        details="quotes",
        multiline="quote",
    )
    return replies.fit_text(reply, budget, workspace.counter)


def _describe(bullet: Bullet) -> Item:
    quotes = []
    for name in bullet.grip_ids:
        source = conversation.expand(name, before=0, after=0)
        for event in source.excerpt_events[:1]:
            text, excerpt = event.text, source.grip.excerpt if source.grip else ""
            start = text.find(excerpt) if len(text) > QUOTE_CHARS else 0
            quote = shorten(text[max(start, 0) :].strip(), QUOTE_CHARS)
            # A line that is the whole message needs no quote.
            quotes += [{"quote": quote}] if quote not in bullet.text else []
    ids = list(map(citations.cite, bullet.grip_ids))
    return {"text": report.describe(bullet), "ids": ids, "quotes": quotes}


def _write_item(item: Item) -> str:
    if "heading" in item:
        head = markdown.heading(item["heading"], 2)
        return "\n".join(["", head, "", markdown.escape(item["text"]), ""])
    lines = [markdown.list_item(item["text"], item["ids"])]
    for quote in item.get("quotes", ()):
        # As a block of code of this item.
        lines += ["", indent(quote["quote"], " " * 6), ""]
    return "\n".join(lines)
