"""Tools for the table of contents: from the years down, by time, keyword or words.

Any id, token or text is legal: what is not there gives an empty reply with a note.
"""

import heapq
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice, zip_longest
from typing import TYPE_CHECKING

from memtui.model import calendar, citations
from memtui.model.calendar import TocLevel
from memtui.model.filters import ALL, Scope
from memtui.model.nodes import DaySession, TocEntry, TocNode
from memtui.search import query as search_query
from memtui.search.query import (
    NOTHING_STORED,
    STARTS_BEFORE,
    Query,
    note_earlier_starts,
)
from memtui.search.scoring import NodeField, node_texts
from memtui.search.snippets import matching_terms
from memtui.services import browse
from memtui.store import database, scopes
from memtui.store import nodes as store_nodes
from memtui.text import analyzer, date_format, dates
from memtui.tools import formatting, replies
from memtui.tools.formatting import LineWriter
from memtui.tools.replies import Item, Reply, shorten_texts
from memtui.tools.search import nothing_found

if TYPE_CHECKING:
    from memtui.workspace import Workspace

LIMIT = 10

MAX_CHILDREN = 400
"""The number of children of a node that are listed with it, the newest first."""

MAX_SEARCHED = 2_000
"""The number of nodes below a node that are searched, the widest and newest first."""

MAX_SEGMENTS = 10_000
"""The number of segments searched for a keyword, the newest that may have it."""

NODE_CHARS = 120
"""Bullets and children are cut no shorter than this before some are left out: longer
than titles are."""

NODE_TOKENS = {
    TocLevel.YEAR: 200,
    TocLevel.MONTH: 250,
    TocLevel.WEEK: 300,
    TocLevel.DAY: 200,
    TocLevel.SEGMENT: 300,
}
"""The size of the answer for a node unless the caller gives one: an agent opens several
in a row."""

KEYWORDS_SHOWN = 5
"""The number of keywords in text; JSON has all."""

GROUPS = {"bullets": "", "children": ""}
"""The lists that describe a node; they have no headings."""

NO_NODE = "There is no such node; get_node without an id lists the years."
IS_GRIP = "That is a citation, not a node: expand_grip opens it."
CUT_SEARCH = f"Only {MAX_SEARCHED:,} nodes were searched: search_memory searches all."
SHARE = "These are the sessions of {} alone."
_OFFSET = re.compile("[0-9]{1,9}")


def get_toc_root(workspace: "Workspace", scope: Scope = ALL) -> Reply:
    """List the years, newest first."""
    return browse_toc(workspace, limit=MAX_CHILDREN, scope=scope)


def browse_toc(
    workspace: "Workspace",
    node_id: str = "",
    *,
    limit: int = LIMIT,
    token: str = "",
    scope: Scope = ALL,
) -> Reply:
    """List a page of a node's children, or of the years, newest first."""
    with database.connection():
        scope, unknown = scopes.resolve_names(scope)
    digits = token.strip()
    is_known = bool(_OFFSET.fullmatch(digits))
    offset = int(digits) if is_known else 0
    found = browse.list_children(node_id, offset=offset, limit=limit + 1, scope=scope)
    page = found[:limit]
    notes = [replies.NO_TOKEN] if token and not is_known else []
    if not page:
        nothing = f"Nothing of {scope} is here." if scope.is_narrow else ""
        notes += unknown or [nothing or "Nothing is here."]

    def next_page(count: int) -> Item:
        has_more = count < len(found)
        place = str(offset + count) if has_more else None
        return {"continuation_token": place, "has_more": has_more}

    return Reply(
        "children",
        formatting.nodes(page, workspace.zone, scope),
        LineWriter(workspace.zone).node,
        notes=notes,
        next_page=next_page,
        has_more=len(found) > limit,
    )


def get_node(workspace: "Workspace", node_id: str = "", scope: Scope = ALL) -> Reply:
    """Describe a node: its bullets with their grips, and its children; or the years."""
    if not node_id.strip():
        return get_toc_root(workspace, scope)
    node = browse.get_node(node_id, scope)
    if node is None:
        return _no_node(workspace, node_id.strip(), scope)
    reply = node_reply(workspace, node, scope)
    if not node.all_segments:
        return reply
    return replace(reply, notes=(SHARE.format(scope),))


def _no_node(workspace: "Workspace", node_id: str, scope: Scope) -> Reply:
    """Say that there is no such node; list work from before that goes on on this day.

    Work is listed under the day it starts in.
    """
    earlier: list[TocEntry] = []
    if node_id.startswith("toc:day:"):
        with suppress(ValueError):
            start, end = calendar.bounds(node_id, workspace.zone)
            earlier = browse.list_covering(start, end, workspace.zone, scope)
    note = IS_GRIP if node_id.startswith(("grip:", "evt:")) else NO_NODE
    return Reply(
        "bullets",
        formatting.nodes(earlier, workspace.zone, scope),
        LineWriter(workspace.zone).bullet_or_node,
        notes=(STARTS_BEFORE if earlier else note,),
        groups=GROUPS,
        group=lambda _: "children",
    )


def node_reply(workspace: "Workspace", node: TocNode, scope: Scope = ALL) -> Reply:
    """Describe a node in any of its versions."""
    found = browse.list_children(node.node_id, limit=MAX_CHILDREN + 1, scope=scope)
    children = found[:MAX_CHILDREN]
    head: Item = {
        "node_id": node.node_id,
        "level": node.level.value,
        "title": node.title,
        "headline": node.headline,
        "status": node.status.value,
        "version": node.version,
        "start_time": date_format.iso_utc(node.start_time),
        "end_time": date_format.iso_utc(node.last_time),
        "keywords": list(node.keyword_texts),
        "child_node_ids": [citations.cite_node(one.node_id) for one in children],
    }
    if node.level is TocLevel.SEGMENT:
        head["surprise"] = browse.get_surprise(node.node_id)
    state = formatting.node_state(node)
    title = f"{node.title} ({state})" if state else node.title
    keywords = ", ".join(node.keyword_texts[:KEYWORDS_SHOWN])
    head_lines = [f"[{citations.cite_node(node.node_id)}] {title}: {keywords}"]
    if node.headline not in ("", node.title):
        head_lines.append(node.headline)
    bullets, count = len(node.bullets), len(node.bullets) + len(children)
    # Where there is little room both are shown; each child has a headline, too.
    in_turn = zip_longest(
        range(bullets), range(bullets, count, 2), range(bullets + 1, count, 2)
    )
    return Reply(
        "bullets",
        [
            *map(formatting.bullet, node.bullets),
            *formatting.nodes(children, workspace.zone, scope),
        ],
        LineWriter(workspace.zone).bullet_or_node,
        head,
        head_lines,
        has_more=len(found) > len(children),
        more_hint="browse_toc lists children",
        priority=[place for some in in_turn for place in some if place is not None],
        groups=GROUPS,
        group=lambda item: "bullets" if "verdict" in item else "children",
        min_chars=NODE_CHARS,
        shorten=_shorten_bullet,
        tokens=NODE_TOKENS[node.level],
        is_headed=True,
        brief_head=("node_id", "title", "headline"),
    )


def _shorten_bullet(item: Item, chars: int) -> Item:
    """Cut a bullet, and leave out why it is not fully supported and further grips."""
    shown = {key: value for key, value in item.items() if key != "why"}
    if "grip_ids" in shown:
        shown["grip_ids"] = shown["grip_ids"][:1]
    return dict(shorten_texts(shown, chars))


def browse_time(workspace: "Workspace", when: str, scope: Scope = ALL) -> Reply:
    """List the widest nodes that cover a time in words, newest first."""
    periods = dates.read_exact(when, workspace.now(), workspace.zone)
    found = dict[str, TocEntry]()
    for period in periods:
        entries = browse.list_covering(period.start, period.end, workspace.zone, scope)
        found |= {entry.node_id: entry for entry in entries}
    notes = [period.label for period in periods] or [replies.NO_TIME]
    if periods and not found:
        notes.append(NOTHING_STORED)
    starts = [entry.start_time for entry in found.values()]
    notes += note_earlier_starts(periods, starts)
    understood = [
        {
            "text": period.label,
            "start": date_format.iso_utc(period.start) if period.start else None,
            "end": date_format.iso_utc(period.end) if period.end else None,
        }
        for period in periods
    ]
    return Reply(
        "nodes",
        formatting.nodes([*found.values()], workspace.zone, scope),
        LineWriter(workspace.zone).node,
        {"understood": understood},
        notes=notes,
    )


def browse_keyword(
    workspace: "Workspace",
    keyword: str,
    *,
    node_id: str = "",
    limit: int = LIMIT,
    scope: Scope = ALL,
) -> Reply:
    """List the segments whose keywords hold all of some words, newest first.

    The segments themselves are read: a node above them keeps only the most important
    of their keywords.
    """
    terms = {*analyzer.query_terms(keyword[: search_query.MAX_CHARS])}
    if not terms:
        return _match_reply("nodes", (), limit, scope)
    with database.connection():
        starts = [analyzer.word_prefixes(term) for term in terms]
        parent = store_nodes.resolve_id(node_id) if node_id else None
        segments = store_nodes.read_keywords(parent, scope, prefixes=starts)
        matching = _filter_by_terms(islice(segments, MAX_SEGMENTS), terms)
        found = dict(islice(matching, limit + 1))
        is_cut = len(found) <= limit and next(segments, None) is not None
        entries = {entry.node_id: entry for entry in store_nodes.get_entries([*found])}
    items = [
        formatting.node(entries[name])
        | {
            "score": None,  # all match alike
            "field": NodeField.KEYWORDS.value,
            "text": " · ".join(keywords),
            "grip_ids": [],
        }
        for name, keywords in found.items()
        if name in entries
    ]
    note = (
        f"Of the segments that may have it the newest {MAX_SEGMENTS:,} were searched:"
        " a longer word, or a node_id, finds older ones."
    )
    return _match_reply("nodes", items, limit, scope, note if is_cut else "")


def _filter_by_terms(
    segments: Iterable[tuple[str, list[str]]], terms: set[str]
) -> Iterator[tuple[str, list[str]]]:
    """Yield the segments whose keywords hold all terms between them."""
    known: dict[str, set[str]] = {}
    for name, keywords in segments:
        for word in keywords:
            if word not in known:
                known[word] = terms.intersection(analyzer.terms(word))
        if len(set[str]().union(*(known[word] for word in keywords))) == len(terms):
            yield name, keywords


def search_node(
    workspace: "Workspace", node_id: str, query: str, *, limit: int = LIMIT
) -> Reply:
    """List what matches in a node and in all below it, best first; needs no index."""
    parsed = search_query.parse(query, workspace.zone)
    with database.connection():
        whole = store_nodes.resolve_id(node_id)
        found = store_nodes.get_entries([whole])
        names, is_cut = _list_below([whole], ALL, whole) if found else ([], False)
        nodes = _get_within(whole, [whole, *names]) if found else []
    items: dict[str, Item] = {}
    for node in [] if parsed.is_empty else nodes:
        for item in _matches(node, parsed):
            # A wide node repeats texts of its descendants: the narrowest one is named.
            items[item["text"]] = item
    best = sorted(items.values(), key=lambda item: -item["score"])
    return _match_reply("finds", best, limit, ALL, CUT_SEARCH if is_cut else "")


def search_children(
    workspace: "Workspace",
    query: str,
    node_id: str = "",
    *,
    limit: int = LIMIT,
    scope: Scope = ALL,
) -> Reply:
    """List the children of a node, or the years, that match, best first.

    Matches below a child count for it. Needs no index.
    """
    parsed = search_query.parse(query, workspace.zone)
    if parsed.is_empty:
        return _match_reply("nodes", (), limit, scope)
    with database.connection():
        parent = store_nodes.resolve_id(node_id) if node_id else ""
        above = [parent] if parent else None
        children = store_nodes.list_ids_under(above, scope)[:MAX_CHILDREN]
        names, is_cut = _list_below(children, scope, parent)
        names = [*children, *names]
        if scope.is_narrow:  # A wider node has words of other work.
            names = [one for one in names if one.startswith(citations.SEGMENT_PREFIX)]
        nodes = _get_within(parent, names) if children else []
        listed = browse.get_entries(children, scope)
        listed = browse.add_session_counts(listed, workspace.zone, scope)
        entries = {one.node_id: one for one in listed}
    found: dict[str, Item] = {}
    for node in nodes:
        child = next((one for one in calendar.path(node.node_id) if one in entries), "")
        if child and (matches := _matches(node, parsed)):
            score = _score_node(node, parsed)
            if child not in found or score > found[child]["score"]:
                best = matches[0] | {"score": score, "found_in": matches[0]["node_id"]}
                found[child] = best | formatting.node(entries[child])
    items = sorted(found.values(), key=lambda one: one["start_time"], reverse=True)
    items.sort(key=lambda one: -one["score"])
    return _match_reply("nodes", items, limit, scope, CUT_SEARCH if is_cut else "")


def _list_below(
    node_ids: Sequence[str], scope: Scope, within: str
) -> tuple[list[str], bool]:
    """Return the ids of all nodes below some, and True if there were too many.

    Only days of the node ``within`` are included, as a week may have days of two
    months; "" for all days.
    """
    found: list[str] = []
    level = list(node_ids)
    while level and len(found) < MAX_SEARCHED:
        level = store_nodes.list_ids_under(level, scope, within)
        found += level
    return found[:MAX_SEARCHED], len(found) > MAX_SEARCHED or bool(level)


def _get_within(node_id: str, names: Sequence[str]) -> list[TocNode]:
    """Return those of some nodes whose days are all days of a node, or all for ""."""
    if node_id:
        first, end = calendar.day_range(node_id)
        ranges = {name: calendar.day_range(name) for name in names}
        names = [
            one for one in names if first <= ranges[one][0] <= ranges[one][1] <= end
        ]
    return store_nodes.get_many(names)


SEARCH_WEIGHTS = {
    NodeField.TITLE: 1.0,
    NodeField.HEADLINE: 1.0,
    NodeField.KEYWORDS: 0.9,
    NodeField.BULLETS: 0.8,
}
"""The weight of a term in each field, if nodes are searched without the index."""


def _matches(node: TocNode, parsed: Query) -> list[Item]:
    """Describe the texts of a node that match, best first.

    The score of a text is the share of the query's terms that it has, times the weight
    of the field.
    """
    found: list[Item] = []
    for field, text, grip_ids in node_texts(node):
        if not parsed.matches(text):
            continue
        share = 1.0 if parsed.phrases else 0.0
        if parsed.terms:
            share = len(_matching_terms(text, parsed)) / len(parsed.terms)
        if share:
            item = {
                "score": round(share * SEARCH_WEIGHTS[field], 3),
                "field": field.value,
                "text": text,
                "grip_ids": [citations.cite_grip(grip_id) for grip_id in grip_ids],
                "node_id": citations.cite_node(node.node_id),
            }
            found.append(item)
    return sorted(found, key=lambda item: -item["score"])


def _score_node(node: TocNode, parsed: Query) -> float:
    """Return the share of a query that all texts of a node have together: 0 to 1."""
    if not parsed.terms:
        return 1.0 if parsed.phrases else 0.0
    best: dict[str, float] = {}
    for field, text, _ in node_texts(node):
        for term in _matching_terms(text, parsed):
            best[term] = max(best.get(term, 0.0), SEARCH_WEIGHTS[field])
    return round(sum(best.values()) / len(parsed.terms), 3)


def _matching_terms(text: str, parsed: Query) -> set[str]:
    """Return the terms of a query that a text has; a completed one counts as typed."""
    matching = matching_terms(text, parsed).intersection(parsed.terms)
    if parsed.prefixes:
        terms = {*analyzer.terms(text)}
        matching |= {
            word.terms[-1]
            for word in parsed.words
            if word.is_prefix and any(t.startswith(word.prefix) for t in terms)
        }
    return matching


def _match_reply(
    name: str, items: Sequence[Item], limit: int, scope: Scope, note: str = ""
) -> Reply:
    nothing = "" if items or note else nothing_found(scope)
    return Reply(
        name,
        items[:limit],
        _match_line,
        notes=tuple(filter(None, [nothing, note])),
        more_hint="a larger limit gives more",
        has_more=len(items) > limit,
    )


def _match_line(item: Item) -> str:
    source = f" [{item['grip_ids'][0]}]" if item["grip_ids"] else ""
    score = formatting.score_text(item)
    below = item.get("found_in", item["node_id"])
    where = f" in {below}" if below != item["node_id"] else ""
    is_keywords = item["field"] == NodeField.KEYWORDS.value
    title = f" {item['title']}," if is_keywords and "title" in item else ""
    start = f"{score}{item['node_id']}{title}{where}"
    return f"{start} {item['field']}: {item['text']}{source}"


HALF_LEVEL_DAYS = 60.0
"""An entry so much older than the newest year is opened as late as one level below."""

ENTRY_TOKENS = 10
"""An entry of the table of contents costs at least so much."""


def outline(workspace: "Workspace", limit: int | None, scope: Scope = ALL) -> Reply:
    """Return the table of contents, all of it or what is wide and recent first.

    A day has its sessions, and a session of several segments has these. The limit is a
    budget in tokens; None for all of it.
    """
    lines = LineWriter(workspace.zone)
    with database.connection():
        scope, unknown = scopes.resolve_names(scope)
    queue: list[tuple[float, tuple[int, ...], TocEntry | DaySession]] = []
    newest: datetime | None = None

    def add(entries: Sequence[TocEntry | DaySession], parent: tuple[int, ...]) -> None:
        nonlocal newest
        for number, one in enumerate(entries):
            newest = newest or one.end_time
            days = (newest - one.end_time) / timedelta(days=1)
            # Parents rank before children, so that each is shown below its parent.
            rank = len(parent) + days / HALF_LEVEL_DAYS
            heapq.heappush(queue, (rank, (*parent, number), one))

    chosen: list[tuple[tuple[int, ...], TocEntry | DaySession]] = []

    def add_nodes(nodes: Sequence[TocEntry], parent: tuple[int, ...]) -> None:
        add(browse.add_session_counts(nodes, workspace.zone, scope), parent)

    add_nodes(browse.list_children(limit=MAX_CHILDREN, scope=scope), ())
    while queue and (limit is None or len(chosen) * ENTRY_TOKENS < limit):
        _, place, one = heapq.heappop(queue)
        chosen.append((place, one))
        if isinstance(one, DaySession):
            add(one.rows, place)
        elif one.level is TocLevel.DAY:
            add(browse.list_day_sessions(one.node_id, scope), place)
        elif one.level is not TocLevel.SEGMENT:
            children = browse.list_children(
                one.node_id, limit=MAX_CHILDREN, scope=scope, month_id=one.month_id
            )
            add_nodes(children, place)
    listed = sorted(enumerate(chosen), key=lambda pair: pair[1][0])
    nothing = f"of {scope}" if scope.is_narrow else "yet"
    nothing = " ".join(unknown) or f"Nothing is stored {nothing}."
    return Reply(
        "lines",
        [_describe(one) | {"depth": len(place) - 1} for _, (place, one) in listed],
        lambda item: "  " * int(item["depth"]) + lines.node(item),
        notes=() if chosen else (nothing,),
        hint="get_node NODE_ID, or a larger budget, opens more",
        has_more=bool(queue),
        priority=sorted(range(len(listed)), key=lambda place: listed[place][0]),
    )


def _describe(one: TocEntry | DaySession) -> Item:
    if isinstance(one, TocEntry):
        return formatting.node(one)
    states = [one.work.state]
    if one.only_segment:
        item = formatting.node(one.only_segment)
        states.append(item.get("state", ""))
    else:
        item = {
            "session": f"{one.agent}:{one.session_id}",
            "level": "session",
            "start_time": date_format.iso_utc(one.start_time),
            "segments": len(one.segments),
        }
    state = ", ".join(filter(None, states))
    return item | {"title": one.work.name} | ({"state": state} if state else {})
