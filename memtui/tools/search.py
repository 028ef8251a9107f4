"""Tools that find by words: in summaries, in messages, in everything; and the few
memories that match, as Markdown."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memtui.model import citations
from memtui.model.events import from_ms
from memtui.model.filters import ALL, EVERYTHING, Filters, Scope
from memtui.model.hits import CombinedHit, Hit, Hits
from memtui.model.nodes import BulletKind, TocNode
from memtui.search import query as search_query
from memtui.search import snippets
from memtui.search.query import NEWEST_LISTED, NOTHING_STORED, Query
from memtui.services import session_work
from memtui.store import database, events, segments
from memtui.store import nodes as store_nodes
from memtui.store.segments import SegmentRange
from memtui.text import analyzer, date_format
from memtui.tools import formatting
from memtui.tools.formatting import LineWriter, one_line
from memtui.tools.replies import Item, Reply

if TYPE_CHECKING:
    from datetime import datetime

    from memtui.workspace import Workspace


def teleport(
    workspace: "Workspace", query: str, *, limit: int = 10, scope: Scope = ALL
) -> Reply:
    """List nodes and grips by words, each with its score and a snippet."""
    found = workspace.teleport.find(query, limit=limit, scope=scope)
    items = [formatting.hit(hit, is_recent=found.is_recent) for hit in found.hits]
    return Reply(
        "hits",
        add_verdicts(items, found.hits),
        LineWriter(workspace.zone).hit,
        notes=search_notes(found, "" if found.hits else nothing_found(scope)),
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
    found = quoted.found
    return Reply(
        "hits",
        describe_quotes(quoted.quotes, is_recent=found.is_recent),
        LineWriter(workspace.zone).hit,
        notes=search_notes(
            found, "" if quoted.quotes else nothing_found(filters.scope)
        ),
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
    found = workspace.message_search.find(
        query, limit=limit, before=before, after=after, filters=filters
    )
    return Reply(
        "hits",
        formatting.message_hits(found.hits, is_recent=found.is_recent),
        LineWriter(workspace.zone).message_hit,
        {"query": query},
        notes=search_notes(found, "" if found.hits else nothing_found(filters.scope)),
        details="window",
        shorten=formatting.shorten_message_hit,
    )


def describe_quotes(
    found: Sequence[CombinedHit], *, is_recent: bool = False
) -> list[Item]:
    """Describe quotes, with the verdicts of bullets."""
    found = session_work.add_work(found)
    items = formatting.quotes(found, is_recent=is_recent)
    by_cite = {formatting.cite(one): one for one in reversed(found)}
    add_verdicts(items, [by_cite.get(item["id"]) for item in items])
    return items


def add_verdicts(
    items: Sequence[Item], found: Sequence[Hit | CombinedHit | None]
) -> Sequence[Item]:
    """Add the verdict to each item whose snippet is a bullet of a node."""
    pairs = [
        (item, one.node_id)
        for item, one in zip(items, found, strict=True)
        if one and item["id"].startswith("toc:")
    ]
    with database.connection():
        known = {
            node.node_id: node
            for node in store_nodes.get_many(list({node_id for _, node_id in pairs}))
        }
    for item, node_id in pairs:
        node, text = known.get(node_id), item["snippet"].strip("… ")
        for bullet in node.bullets if node and text else ():
            if text in one_line(bullet.labelled):
                item |= formatting.verdict(bullet)
                break
    return items


def nothing_found(scope: Scope = ALL) -> str:
    """Return the note of an empty result."""
    where = f"Nothing of {scope}" if scope.is_narrow else "Nothing"
    return f"{where} matches. Fewer or other words find more; so does browsing."


def search_notes(found: Hits[Any], none: str = "") -> list[str]:
    """Return the notes of a search, or this one if there are none."""
    notes = [*found.notes, *map(str, found.times)]
    if found.is_recent and not found.hits:
        notes = [note for note in notes if note != NEWEST_LISTED]
        notes.append(NOTHING_STORED)
    if found.suggestion:
        notes.append(f"Did you mean: {found.suggestion}")
    return notes or list(filter(None, [none]))


# The tool retrieve_memory. A memory is a summary, and for key moments the messages
# behind it. Messages are quoted with their line breaks escaped, so that none can pass
# for a heading.

MAX_MEMORIES = 20

KEY_SURPRISE = 0.7
"""A segment at least as surprising is a key moment."""

DETAILED_RANKS = 2
"""By default, key moments up to this rank have details."""

SUMMARY_CHARS = 400
"""Matching bullets lengthen a summary to at most this many characters."""

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
    """Return the memories that match best, some with messages (``has_details``)."""
    quoted = workspace.quotes.find(query, filters=filters)
    found = quoted.found
    if found.is_recent and detail_limit is None:
        # Without a word to look for these are the newest ones: none is relevant.
        detail_limit = 0
    parsed = search_query.parse(query, workspace.zone)
    hits = found.hits[: min(limit, MAX_MEMORIES)]
    # Sessions are ranked by their score, but described by their best quotes.
    matches = []
    for hit in hits:
        own = [one for one in quoted.quotes if one.session_id == hit.session_id]
        matches.append([one for one in own if one.event_id] or [hit])
    items = []
    with database.connection():
        names = [first.node_id for first, *_ in matches if first.node_id]
        surprises = segments.get_surprise(names)
        nodes = {node.node_id: node for node in store_nodes.get_many(names)}
        for rank, (hit, quotes) in enumerate(zip(hits, matches, strict=True), 1):
            node = nodes.get(quotes[0].node_id)
            unexpected = surprises.get(quotes[0].node_id)
            segment = segments.get(quotes[0].node_id)
            ended = _end_time(segment, quotes[0], node)
            item: Item = {
                "rank": rank,
                "score": None if found.is_recent else round(hit.score, 2),
                "is_key_moment": is_key_moment(unexpected),
                "when": date_format.calendar_age(
                    ended, workspace.now(), workspace.zone
                ),
                "summary": formatting.one_line(_summary(quotes[0], node, parsed)),
                "cite": _cite(quotes[0], node),
            }
            if segment and has_details(rank, unexpected, detail_limit, len(hits)):
                item["details"] = _details(segment, quotes)
            items.append(item)
    return Reply(
        "memories",
        items,
        markdown,
        notes=search_notes(found, "" if items else nothing_found(filters.scope)),
        hint="ask for more tokens, or less at once",
        separator="\n\n",
        details="details",
        multiline="details",
    )


def has_details(
    rank: int, surprise: float | None, detail_limit: int | None, count: int
) -> bool:
    """Decide whether a memory is given with its messages.

    The limit says how many may have details; by default the key moments among the first
    two ranks. As many as there are memories or more gives all of them details, fewer
    the key moments up to that rank.
    """
    if detail_limit is not None and detail_limit >= count:
        return detail_limit > 0
    most = DETAILED_RANKS if detail_limit is None else detail_limit
    return rank <= most and is_key_moment(surprise)


def is_key_moment(surprise: float | None) -> bool:
    """Return whether a segment differs much from the sessions before it."""
    return (surprise or 0.0) >= KEY_SURPRISE


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


def _end_time(
    segment: SegmentRange | None, hit: CombinedHit, node: TocNode | None
) -> "datetime":
    """Return the time of the last message: a session may end days later."""
    if segment is None:
        return node.end_time if node else hit.at
    times = segment.session_number, segment.start_ms, segment.end_ms
    last_ms = events.last_message_ms(*times)
    return from_ms(last_ms) if last_ms is not None else hit.at


def _summary(hit: CombinedHit, node: TocNode | None, parsed: Query) -> str:
    """Return the title and, of the bullets, those that match, with their verdicts."""
    summary = hit.title
    quote = hit.snippet.text
    quotes = [] if hit.role or hit.grip_id else [(quote, quote)]
    found, requests = [], set()
    for bullet in node.bullets if node else ():
        if bullet.kind is BulletKind.ASKED:
            requests.add(bullet.text)
        count = len(snippets.matching_terms(bullet.text, parsed))
        if bullet.has_support and (count or bullet.text == quote):
            mark = formatting.mark(formatting.verdict(bullet))
            found.append((count, bullet.text, f"{mark}{bullet.labelled}"))
    found.sort(key=lambda one: -one[0])
    bullets = [(text, labelled) for _, text, labelled in found]
    title_terms = set(analyzer.terms(hit.title))
    for text, labelled in [*bullets, *quotes]:
        labelled = formatting.one_line(labelled)
        added, known = _normalize(text), _normalize(summary)
        is_title = text in requests and title_terms.issuperset(
            analyzer.query_terms(text)
        )
        if added in known or is_title:
            continue
        if summary == hit.title and added.startswith(known):
            summary = labelled  # It says the title and more.
        elif len(summary) + len(labelled) <= SUMMARY_CHARS:
            end = "" if summary.endswith(ENDS) or not summary else "."
            summary = f"{summary.rstrip('…')}{end} {labelled}".strip()
    return summary


def _normalize(text: str) -> str:
    """Return a text as it is compared with others: without case and marks."""
    return " ".join(analyzer.fold(text).replace("…", " ").split()).rstrip(".!?:;")


def _cite(hit: CombinedHit, node: TocNode | None) -> str:
    if hit.event_id or hit.grip_id:
        return formatting.cite(hit)
    bullets = node.bullets if node else ()
    grip_ids = (grip_id for bullet in bullets for grip_id in bullet.grip_ids)
    return citations.cite_grip(next(grip_ids, ""))


def _details(segment: SegmentRange, quotes: Sequence[CombinedHit]) -> list[Item]:
    """Return the messages of a segment, those that match marked."""
    found = events.between(segment.session_number, segment.start_ms, segment.end_ms)
    messages = [event for event in found if event.is_message and event.text]
    is_long = sum(len(event.text) for event in messages) > WHOLE_CHARS
    details = []
    for event in messages:
        parts = [
            quote.snippet.text
            for quote in quotes
            if quote.role and quote.event_id == event.event_id
        ]
        in_part = parts and is_long and len(event.text) > SHORT_CHARS
        text = " … ".join(parts) if in_part else event.text
        item: Item = {"role": event.role.value, "text": text}
        details.append(item | ({"is_match": True} if parts else {}))
    return details
