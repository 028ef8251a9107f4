"""Context packs: sessions as Markdown within a budget of tokens, for another agent."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtui.errors import UsageError
from memtui.model.filters import ALL, Scope
from memtui.model.nodes import Bullet
from memtui.model.verdicts import SUPPORTED
from memtui.services import browse, conversation, report
from memtui.services.report import cite, escape_markdown
from memtui.text.plain import shorten
from memtui.tools import replies
from memtui.tools.replies import Fitted, Item, Reply

if TYPE_CHECKING:
    from memtui.workspace import Workspace

TOKENS = 4_000
"""The budget unless another is given."""

SESSION_TOKENS = 100
"""The least that a session takes; more sessions have no room."""

QUOTE_CHARS = 1_200
"""The most that is quoted of a message."""


def make_pack(
    workspace: "Workspace",
    names: Sequence[str],
    budget: int = TOKENS,
    scope: Scope = ALL,
) -> Fitted:
    """Return a context pack of sessions, those of periods, and sources.

    As many lines as fit come first, then the messages that they cite.

    Args:
        names: The ids of sessions, of nodes, or of grips and events.
        budget: The most tokens of the pack.
        scope: Of periods only its sessions are taken.

    Raises:
        MemtuiError: There is no such id.
    """
    chosen: dict[str, list[Bullet]] = {}
    for name in names:
        if name.startswith("toc:"):
            for key in browse.list_session_names(name, scope):
                chosen.setdefault(key, [])
        elif name.startswith(("grip:", "evt:")):
            source = conversation.expand(name, before=0, after=0)
            if source.session is None or source.grip is None:
                raise UsageError(f"there is no source {name!r}")
            source_id = source.grip.grip_id or source.grip.event_id_start
            bullet = Bullet("chosen", (source_id,), SUPPORTED)
            chosen.setdefault(source.session.full_name, []).append(bullet)
        else:
            chosen.setdefault(name, [])
    items: list[Item] = []
    places: list[int] = []
    for name in list(chosen)[: budget // SESSION_TOKENS + 1]:
        page = report.read_page(name)
        about = report.describe_page(page, workspace.zone)
        items.append({"title": page.title, "about": about})
        bullets = [*chosen[name], *page.bullets]
        items += map(_describe, bullets)
        places += range(1 + len(bullets))
    reply = Reply(
        {"lines": items},
        _write_item,
        head_lines=["# Context pack"],
        # The first lines of each session come before the others of any.
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
    ids = list(map(cite, bullet.grip_ids))
    return {"text": bullet.labelled, "ids": ids, "quotes": quotes}


def _write_item(item: Item) -> str:
    if "title" in item:
        title, about = escape_markdown(item["title"]), escape_markdown(item["about"])
        return f"\n## {title}\n\n- {about}"
    ids = (f"[{name}]" for name in item["ids"])
    lines = [" ".join(["-", escape_markdown(item["text"]), *ids])]
    for quote in item.get("quotes", ()):
        # As a block of code of this item.
        lines += ["", *(f"      {line}" for line in quote["quote"].splitlines()), ""]
    return "\n".join(lines)
