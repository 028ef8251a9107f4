"""Tools that find by words: in summaries, in messages, in everything; and the few
memories that match, as Markdown."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtui.model import citations
from memtui.model.filters import ALL, EVERYTHING, Filters, Scope
from memtui.model.hit import Hit, HitKind, Hits
from memtui.model.nodes import TocNode
from memtui.model.quantities import plural
from memtui.search import query as search_query
from memtui.search import snippets
from memtui.search.query import NEWEST_LISTED, NOTHING_STORED, Query
from memtui.services import browse, memories
from memtui.services.memories import Memory
from memtui.text import analyzer, date_format
from memtui.tools import formatting
from memtui.tools.formatting import LineWriter, one_line
from memtui.tools.replies import Item, Reply

if TYPE_CHECKING:
    from memtui.workspace import Workspace


def teleport(
    workspace: "Workspace", query: str, *, limit: int = 10, scope: Scope = ALL
) -> Reply:
    """List nodes and grips by words, each with its score and a snippet."""
    filters = Filters(scope=scope)
    result = workspace.teleport.find(query, limit=limit, filters=filters)
    unknown = workspace.quotes.list_unknown(query, filters)
    in_tools, _ = find_in_tools(workspace, query, result.hits, limit, filters, unknown)
    items = [formatting.hit(hit, is_recent=result.is_recent) for hit in result.hits]
    return Reply(
        {"hits": add_verdicts(items, result.hits)},
        LineWriter(workspace.zone).hit,
        notes=[
            *_note_in_tools(in_tools),
            *list_unknown(unknown),
            *search_notes(result, "" if result.hits else nothing_found(scope)),
        ],
    )


def search_memory(
    workspace: "Workspace",
    query: str,
    *,
    limit: int = 10,
    filters: Filters = EVERYTHING,
) -> Reply:
    """List short quotes that match, from everything; several of one session."""
    quoted = workspace.quotes.find(query, limit=limit, filters=filters)
    in_tools, note = find_in_tools(
        workspace, query, quoted.quotes, limit, filters, quoted.unknown
    )
    nothing = "" if quoted.quotes or in_tools else nothing_found(filters.scope)
    hits = describe_quotes(quoted.quotes, is_recent=quoted.sessions.is_recent)
    tool_items = formatting.quotes(in_tools)
    return Reply(
        {"hits": hits, "tool_output": tool_items},
        LineWriter(workspace.zone).hit,
        order=order_items(hits, tool_items),
        notes=[
            *note,
            *list_unknown(quoted.unknown),
            *search_notes(quoted.sessions, nothing),
        ],
    )


def search_sessions(
    workspace: "Workspace",
    query: str,
    *,
    limit: int = 20,
    before: int = 4,
    after: int = 4,
    filters: Filters = EVERYTHING,
) -> Reply:
    """List messages that match, each with those around it."""
    result = workspace.message_search.find(
        query, limit=limit, before=before, after=after, filters=filters
    )
    unknown = workspace.quotes.list_unknown(query, filters)
    in_tools, note = find_in_tools(
        workspace, query, result.hits, limit, filters, unknown
    )
    nothing = "" if result.hits or in_tools else nothing_found(filters.scope)
    hits = formatting.message_hits(result.hits, is_recent=result.is_recent)
    tool_items = formatting.message_hits(in_tools)
    return Reply(
        {"hits": hits, "tool_output": tool_items},
        LineWriter(workspace.zone).message_hit,
        {"query": query},
        order=order_items(hits, tool_items),
        notes=[
            *note,
            *list_unknown(unknown),
            *search_notes(result, nothing),
        ],
        details="window",
        shorten=formatting.shorten_message_hit,
    )


def find_in_tools(
    workspace: "Workspace",
    query: str,
    hits: Sequence[Hit],
    limit: int,
    filters: Filters,
    unknown: Sequence[str],
) -> tuple[Sequence[Hit], list[str]]:
    """Return what only the output of tools has, and a note on it, if it is needed."""
    from memtui.services import tool_output

    filters = search_query.parse(query, workspace.zone, filters).filters
    if workspace.settings.search_include_tools or not tool_output.is_needed(
        hits, filters
    ):
        return (), []
    result = tool_output.find(
        query,
        workspace.now(),
        workspace.zone,
        limit=limit,
        filters=filters,
        unknown=unknown,
    )
    listed = {hit.event_id for hit in hits}
    new = [hit for hit in result.hits if hit.event_id not in listed]
    note = f"The last {plural(len(new), 'hit')}: in the output of tools."
    return new, [note] if new and hits else []


def order_items(hits: Sequence[Item], in_tools: Sequence[Item]) -> Sequence[int]:
    """Return the places of the items, the most important first.

    Tools are searched if no hit is good: the first of theirs is shown whatever the
    budget.
    """
    first, *others = range(len(hits), len(hits) + len(in_tools)) or [0]
    return [first, *range(len(hits)), *others] if in_tools else ()


def _note_in_tools(in_tools: Sequence[Hit]) -> list[str]:
    """Return the note of an answer that cannot have hits in the output of tools."""
    count = plural(len(in_tools), "session")
    note = f"The output of tools has it in {count}: search_memory lists them."
    return [note] if in_tools else []


def describe_quotes(hits: Sequence[Hit], *, is_recent: bool = False) -> list[Item]:
    """Describe quotes, with the verdicts of bullets."""
    items = formatting.quotes(hits, is_recent=is_recent)
    by_cite = {formatting.cite(hit): hit for hit in reversed(hits)}
    add_verdicts(items, [by_cite.get(item["id"]) for item in items])
    return items


def add_verdicts(items: Sequence[Item], hits: Sequence[Hit | None]) -> Sequence[Item]:
    """Add the verdict to each item whose snippet is a bullet of a node."""
    pairs = [
        (item, hit.node_id)
        for item, hit in zip(items, hits, strict=True)
        if hit and item["id"].startswith("toc:")
    ]
    nodes = browse.get_nodes(list({node_id for _, node_id in pairs}))
    for item, node_id in pairs:
        node, text = nodes.get(node_id), item["snippet"].strip("… ")
        for bullet in node.bullets if node and text else ():
            if text in one_line(bullet.labelled):
                item |= formatting.verdict(bullet)
                break
    return items


def nothing_found(scope: Scope = ALL) -> str:
    """Return the note of an empty result."""
    where = f"Nothing of {scope}" if scope.is_narrow else "Nothing"
    return f"{where} matches. Fewer or other words find more; so does browsing."


def list_unknown(words: Sequence[str]) -> list[str]:
    """Return the note on words of the question that no message contains."""
    return [f"In no message: {', '.join(words)}."] if words else []


def search_notes(result: Hits, nothing: str = "") -> list[str]:
    """Return the notes of a search, or this one if there are none."""
    notes = [*result.notes, *result.dates]
    if result.is_recent and not result.hits:
        notes = [note for note in notes if note != NEWEST_LISTED]
        notes.append(NOTHING_STORED)
    if result.suggestion:
        notes.append(f"Did you mean: {result.suggestion}")
    return notes or list(filter(None, [nothing]))


# The tool retrieve_memory. A memory is a summary, and for key moments the messages
# behind it. Messages are quoted with their line breaks escaped, so that none can pass
# for a heading.

SUMMARY_CHARS = 800
"""Passages and bullets that match lengthen a summary to this many characters."""

SUMMARY_QUOTES = 3
"""The number of best passages of messages that a summary may have."""

ENDS = (".", "!", "?", ":", ";")

WHOLE_CHARS = 2_000
"""If details are longer than this, long matching messages are quoted in part."""

SHORT_CHARS = 400
"""A message no longer than this is never quoted in part."""


def retrieve_memory(
    workspace: "Workspace",
    query: str,
    *,
    limit: int = 5,
    detail_limit: int | None = None,
    filters: Filters = EVERYTHING,
) -> Reply:
    """Return the memories that match best, some with messages."""
    query = search_query.read_question(query)
    quoted = workspace.quotes.find(query, filters=filters)
    in_tools, _ = find_in_tools(
        workspace, query, quoted.quotes, limit, filters, quoted.unknown
    )
    result, now = quoted.sessions, workspace.now()
    parsed = search_query.parse(query, workspace.zone)
    items: list[Item] = []
    for rank, memory in enumerate(memories.choose(quoted, limit, detail_limit), 1):
        summary = _summary(memory, parsed)
        item: Item = {
            "rank": rank,
            "score": None if result.is_recent else round(memory.score, 2),
            "is_key_moment": memories.is_key_moment(memory.surprise),
            "when": date_format.calendar_age(memory.ended_at, now, workspace.zone),
            "summary": one_line(summary),
            "cite": _cite(memory.quotes[0], memory.node),
        }
        if memory.messages:
            item["details"] = _details(memory)
        items.append(item)
    nothing = "" if items else nothing_found(filters.scope)
    return Reply(
        {"memories": items},
        markdown,
        notes=[
            *_note_in_tools(in_tools),
            *list_unknown(quoted.unknown),
            *search_notes(result, nothing),
        ],
        separator="\n\n",
        details="details",
        multiline="details",
    )


def markdown(item: Item) -> str:
    """Write a memory as Markdown, its citation at the end."""
    rank, key = item["rank"], ", key moment" if item["is_key_moment"] else ""
    score = "" if item["score"] is None else f", score: {item['score']:.2f}"
    lines = [
        f"## Memory {rank} [rank: {rank}{score}{key}]",
        f"**When:** {item['when']}",
        f"**Summary:** {item['summary']}",
    ]
    if details := item.get("details"):
        lines += ["", "**Details:**"]
        for message in details:
            quote = json.dumps(message["text"], ensure_ascii=False)
            lines.append(f"- {message['role']}: {quote}")
    if item["cite"]:
        lines.append(f"[{item['cite']}]")
    return "\n".join(lines)


def _summary(memory: Memory, parsed: Query) -> str:
    """Return the name of the session, what matches in its messages, and the bullets
    that match, with their verdicts."""
    hit, node = memory.quotes[0], memory.node
    name = one_line(hit.session.work.name) if hit.session else ""
    name = name or hit.title
    quotes = [quote.snippet.text for quote in memory.quotes[:SUMMARY_QUOTES]]
    is_summary = hit.kind in (HitKind.NODE, HitKind.SESSION)
    mark = "" if is_summary else formatting.QUOTE_MARK
    texts = [(quote, f"{mark}{quote}") for quote in quotes]
    matches = []
    for bullet in node.bullets if node else ():
        count = len(snippets.matching_terms(bullet.text, parsed))
        if bullet.has_support and (count or bullet.text in quotes):
            mark = formatting.mark(formatting.verdict(bullet))
            matches.append((count, bullet.text, f"{mark}{bullet.labelled}"))
    matches.sort(key=lambda match: -match[0])
    bullets = [(text, labelled) for _, text, labelled in matches]
    said = _normalize(" ".join(text for text, _ in bullets))
    texts = [text for text in texts if _normalize(text[0]) not in said] + bullets
    begin = _normalize(name)
    longer = (
        labelled
        for text, labelled in texts
        if _normalize(text).startswith(begin) and _normalize(text) != begin
    )
    summary = one_line(next(longer, name))
    for text, labelled in texts:
        labelled = one_line(labelled)
        is_said = _normalize(text) in _normalize(summary)
        if not is_said and len(summary) + len(labelled) <= SUMMARY_CHARS:
            end = "" if summary.endswith(ENDS) or not summary else "."
            summary = f"{summary.rstrip('…')}{end} {labelled}".strip()
    return summary


def _normalize(text: str) -> str:
    """Return a text as it is compared with others: without case and marks."""
    return " ".join(analyzer.fold(text).replace("…", " ").split()).rstrip(".!?:;")


def _cite(hit: Hit, node: TocNode | None) -> str:
    if hit.event_id or hit.grip_id:
        return formatting.cite(hit)
    bullets = node.bullets if node else ()
    grip_ids = (grip_id for bullet in bullets for grip_id in bullet.grip_ids)
    return citations.cite_grip(next(grip_ids, ""))


def _details(memory: Memory) -> list[Item]:
    """Return the messages of a memory, those that match marked."""
    is_long = sum(len(event.text) for event in memory.messages) > WHOLE_CHARS
    details = []
    for event in memory.messages:
        parts = [
            quote.snippet.text
            for quote in memory.quotes
            if quote.kind is HitKind.MESSAGE and quote.event_id == event.event_id
        ]
        in_part = parts and is_long and len(event.text) > SHORT_CHARS
        text = " … ".join(parts) if in_part else event.text
        item: Item = {"role": event.role.value, "text": text}
        details.append(item | ({"is_match": True} if parts else {}))
    return details
