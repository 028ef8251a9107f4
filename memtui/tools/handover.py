"""Context packs: pages as Markdown within a budget of tokens, for another agent."""

from collections.abc import Mapping, Sequence
from textwrap import indent
from typing import TYPE_CHECKING

from memtui.model import citations
from memtui.model.events import plain_line
from memtui.model.filters import ALL, Scope
from memtui.model.nodes import Bullet
from memtui.services import conversation, documents, report
from memtui.services.conversation import CitedMessage
from memtui.text import markdown
from memtui.text.plain import shorten
from memtui.tools import replies
from memtui.tools.replies import Fitted, Item, Reply

if TYPE_CHECKING:
    from memtui.workspace import Workspace

TOKENS = 4_000
"""The budget unless another is given."""

MIN_TOKENS = 200
"""The smallest budget: a page with its first line needs about this many tokens."""

PAGE_TOKENS = 100
"""The least that a page takes; more pages have no room."""

QUOTE_CHARS = 1_200
"""The most that is quoted of a message."""

HINT = "The ids are those of messages: memtui expand ID prints more of them."


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
    most = budget // PAGE_TOKENS + 1
    pages, total = report.read_pages(names, workspace.zone, scope, most)
    cited = (name for page in pages for line in page.bullets for name in line.grip_ids)
    sources = conversation.read_sources(set(cited))
    items, places, quoted = list[Item](), list[int](), set[str]()
    for page in pages:
        head = {"heading": page.heading, "about": page.text}
        lines = [_describe(bullet, sources, quoted) for bullet in page.bullets]
        lines[:1] = [head | first for first in lines[:1] or [{}]]
        items += lines
        places += range(len(lines))
    more = f"--budget {min(2 * budget, replies.MAX_TOKENS)}"
    head_lines = ["# Context pack", "", HINT]
    if len(pages) < total:
        head_lines.append(f"The first {len(pages)} of {total:,} pages; more: {more}.")
    reply = Reply(
        {"lines": items},
        _write_item,
        head_lines=head_lines,
        # The first lines of each page come before the others of any.
        order=sorted(range(len(items)), key=lambda number: places[number]),
        more_tokens=more,
        details="quotes",
        multiline="quote",
    )
    return replies.fit_text(reply, budget, workspace.counter)


def _describe(
    bullet: Bullet, sources: Mapping[str, CitedMessage], quoted: set[str]
) -> Item:
    """Describe a bullet, and quote those of its messages that were not quoted yet."""
    quotes, text = [], documents.describe(bullet)
    for source in filter(None, map(sources.get, bullet.grip_ids)):
        message = source.text
        start = message.find(source.excerpt) if len(message) > QUOTE_CHARS else 0
        quote = shorten(message[max(start, 0) :].strip(), QUOTE_CHARS)
        # A line that is the whole message needs no quote.
        if plain_line(quote) not in text and quote not in quoted:
            quotes.append({"quote": quote})
            quoted.add(quote)
    return {
        "text": text,
        "ids": list(map(citations.cite, bullet.grip_ids)),
        "quotes": quotes,
    }


def _write_item(item: Item) -> str:
    lines = []
    if "heading" in item:
        heading, about = map(markdown.literal, (item["heading"], item["about"]))
        lines += ["", f"## {heading}", "", about, ""]
    if "text" in item:
        ids = (f"[{source}]" for source in item["ids"])
        lines.append(" ".join(["-", markdown.literal(item["text"]), *ids]))
    for quote in item.get("quotes", ()):
        # As a block of code of this item.
        lines += ["", indent(quote["quote"], " " * 6), ""]
    return "\n".join(lines)
