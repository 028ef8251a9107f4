"""Tools for the table of contents: from the years down, by time and by keyword.

Any id, token or text is legal: what is not there gives an empty reply with a note.
"""

import heapq
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from memtui.errors import UsageError
from memtui.model import calendar, citations
from memtui.model.calendar import TocLevel
from memtui.model.filters import ALL, Scope
from memtui.model.nodes import DaySession, TocEntry, TocNode
from memtui.search.query import (
    NOTHING_STORED,
    STARTS_BEFORE,
    note_earlier_starts,
)
from memtui.services import browse, keywords, memories
from memtui.text import date_format, dates
from memtui.text.dates import DatePeriod
from memtui.tools import formatting, replies
from memtui.tools.formatting import LineWriter
from memtui.tools.replies import Item, Reply, shorten_texts
from memtui.tools.search import nothing_found

if TYPE_CHECKING:
    from memtui.workspace import Workspace

LIMIT = 10

MAX_CHILDREN = 400
"""The number of children of a node that are listed with it, the newest first."""

NODE_CHARS = 80
"""Bullets are cut to this before some are left out, children to a quarter of it."""

NODE_TOKENS = {
    TocLevel.YEAR: 200,
    TocLevel.MONTH: 250,
    TocLevel.WEEK: 300,
    TocLevel.DAY: 200,
    TocLevel.SEGMENT: 300,
}
"""The size of the answer for a node unless the caller gives one: an agent opens one of
each level in a row, for at most 1,500 tokens with the years."""

NAMED_CHILDREN, BULLET_TOKENS = 40, 60
"""The answer for a node with many children is larger, so that this many are named
beside its headline and the first bullet."""

ROOT_TOKENS = 100
"""The size of the list of years unless the caller gives one."""

MIN_YEAR_TOKENS, MIN_YEAR_CHARS = 25, 40
"""The least size of a year in that list, and of its headline."""

TITLE_KEYWORDS = 5
"""The number of keywords in text; JSON has all."""

NO_NODE = "There is no such node; get_node without an id lists the years."
IS_GRIP = "That is a citation, not a node: expand_grip opens it."
SHARE = "These are the sessions of {} alone."
CUT_KEYWORDS = (
    f"Of the segments that may have it the newest {keywords.MAX_SEGMENTS:,} were"
    " searched: a longer word, or a node_id, finds older ones."
)
_OFFSET = re.compile("[0-9]{1,9}")


def get_toc_root(workspace: "Workspace", scope: Scope = ALL) -> Reply:
    """List the years, newest first."""
    reply = browse_toc(workspace, limit=MAX_CHILDREN, scope=scope)
    tokens = max(ROOT_TOKENS, MIN_YEAR_TOKENS * len(reply.items))
    return replace(reply, item_chars=MIN_YEAR_CHARS, tokens=tokens)


def browse_toc(
    workspace: "Workspace",
    node_id: str = "",
    *,
    when: str = "",
    keyword: str = "",
    limit: int = LIMIT,
    token: str = "",
    scope: Scope = ALL,
) -> Reply:
    """List a page of nodes, newest first.

    These are the children of a node, or the years; the widest nodes that cover a time
    in words; or the segments with a keyword, below a node or of a time.
    """
    if when.strip() and node_id.strip():
        raise UsageError("give node_id or when, not both")
    scope, unknown_names = browse.resolve_scope(scope)
    is_offset = bool(_OFFSET.fullmatch(token.strip()))
    offset = int(token) if is_offset else 0
    notes = [replies.NO_TOKEN] if token and not is_offset else []
    head, periods = Item(), list[DatePeriod]()
    if when.strip():
        periods = dates.read_exact(when, workspace.now(), workspace.zone)
        head["understood"] = list(map(_describe_period, periods))
        notes += [period.label for period in periods] or [replies.NO_TIME]
    if when.strip() and not periods:
        items, remarks = list[Item](), list[str]()
    elif keyword.strip():
        items, remarks = _list_by_keyword(
            keyword, node_id, periods, offset, limit + 1, scope
        )
    elif periods:
        entries = _list_covering(workspace, periods, scope)
        starts = [entry.start_time for entry in entries]
        remarks = [*note_earlier_starts(periods, starts)]
        remarks += [] if entries else [NOTHING_STORED]
        page = entries[offset : offset + limit + 1]
        items = formatting.nodes(page, workspace.zone, scope)
    else:
        page = browse.list_children(
            node_id, offset=offset, limit=limit + 1, scope=scope
        )
        items = formatting.nodes(page, workspace.zone, scope)
        of = f" of {scope}" if scope.is_narrow else ""
        remarks = [] if items else [f"Nothing{of} is here."]
    notes += unknown_names if unknown_names and not items else remarks
    has_more = len(items) > limit
    del items[limit:]

    def next_page(count: int) -> Item:
        is_last = count >= len(items) and not has_more
        place = None if is_last else str(offset + count)
        return {"continuation_token": place, "has_more": not is_last}

    return Reply(
        {"children": items},
        LineWriter(workspace.zone).node,
        head,
        notes=notes,
        next_page=next_page,
        has_more=has_more,
    )


def _list_by_keyword(
    keyword: str,
    node_id: str,
    periods: Sequence[DatePeriod],
    offset: int,
    limit: int,
    scope: Scope,
) -> tuple[list[Item], list[str]]:
    """Describe the segments with a keyword; and say if not all were searched."""
    page = keywords.list_segments(
        keyword, node_id, periods=periods, offset=offset, limit=limit, scope=scope
    )
    items = [
        formatting.node(entry) | {"keywords": list(words)}
        for entry, words in page.segments
    ]
    if page.is_cut:
        return items, [CUT_KEYWORDS]
    return items, [] if items else [nothing_found(scope)]


def _describe_period(period: DatePeriod) -> Item:
    return {
        "text": period.label,
        "start": date_format.iso_utc(period.start) if period.start else None,
        "end": date_format.iso_utc(period.end) if period.end else None,
    }


def _list_covering(
    workspace: "Workspace", periods: Sequence[DatePeriod], scope: Scope
) -> list[TocEntry]:
    """Return the widest nodes that cover some periods."""
    covering: dict[str, TocEntry] = {}
    for period in periods:
        entries = browse.list_covering(period.start, period.end, workspace.zone, scope)
        covering |= {entry.node_id: entry for entry in entries}
    return list(covering.values())


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
    children = formatting.nodes(earlier, workspace.zone, scope)
    return Reply(
        {"bullets": (), "children": children},
        LineWriter(workspace.zone).bullet_or_node,
        notes=(STARTS_BEFORE if earlier else note,),
    )


def node_reply(workspace: "Workspace", node: TocNode, scope: Scope = ALL) -> Reply:
    """Describe a node in any of its versions."""
    children = browse.list_children(node.node_id, limit=MAX_CHILDREN + 1, scope=scope)
    has_more = len(children) > MAX_CHILDREN
    del children[MAX_CHILDREN:]
    head: Item = {
        "node_id": node.node_id,
        "title": node.title,
        "headline": node.headline,
        "level": node.level.value,
        "status": node.status.value,
        "version": node.version,
        "start_time": date_format.iso_utc(node.start_time),
        "end_time": date_format.iso_utc(node.last_time),
        "keywords": list(node.keyword_texts),
        "child_node_ids": [citations.cite_node(child.node_id) for child in children],
    }
    if node.level is TocLevel.SEGMENT:
        head["surprise"] = memories.get_surprise(node.node_id)
    state = formatting.node_state(node)
    title = f"{node.title} ({state})" if state else node.title
    words = ", ".join(node.keyword_texts[:TITLE_KEYWORDS])
    title += f": {words}" if words else ""
    head_lines = [f"[{citations.cite_node(node.node_id)}] {title}"]
    if node.headline not in ("", node.title):
        head_lines.append(node.headline)
    bullets, count = len(node.bullets), len(node.bullets) + len(children)
    lines = LineWriter(workspace.zone)
    rows = formatting.nodes(children, workspace.zone, scope)
    short = (_shorten_row(row, NODE_CHARS) for row in rows[:NAMED_CHILDREN])
    text = "\n".join([*head_lines, *map(lines.node, short)])
    tokens = BULLET_TOKENS + replies.cost(text, workspace.counter)
    return Reply(
        {"bullets": list(map(formatting.bullet, node.bullets)), "children": rows},
        lines.bullet_or_node,
        head,
        head_lines,
        has_more=has_more,
        more_hint="get_node lists those of a child",
        # Without its child's id an agent cannot go on.
        order=[*range(bullets, count), *range(bullets)],
        item_chars=NODE_CHARS,
        shorten=_shorten_row,
        tokens=max(NODE_TOKENS[node.level], tokens),
    )


def _shorten_row(item: Item, chars: int) -> Item:
    """Cut a child, or a bullet, without its reason and its further grips."""
    if "level" in item:
        return dict(shorten_texts(item, chars // 4))
    item = {key: value for key, value in item.items() if key != "why"}
    if "grip_ids" in item:
        item["grip_ids"] = item["grip_ids"][:1]
    return dict(shorten_texts(item, chars))


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
    scope, unknown_names = browse.resolve_scope(scope)
    queue: list[tuple[float, tuple[int, ...], TocEntry | DaySession]] = []
    newest: datetime | None = None

    def add(rows: Sequence[TocEntry | DaySession], parent: tuple[int, ...]) -> None:
        nonlocal newest
        for number, row in enumerate(rows):
            newest = newest or row.end_time
            days = (newest - row.end_time) / timedelta(days=1)
            # Parents rank before children, so that each is listed below its parent.
            rank = len(parent) + days / HALF_LEVEL_DAYS
            heapq.heappush(queue, (rank, (*parent, number), row))

    chosen: list[tuple[tuple[int, ...], TocEntry | DaySession]] = []

    def add_nodes(nodes: Sequence[TocEntry], parent: tuple[int, ...]) -> None:
        add(browse.add_session_counts(nodes, workspace.zone, scope), parent)

    add_nodes(browse.list_children(limit=MAX_CHILDREN, scope=scope), ())
    while queue and (limit is None or len(chosen) * ENTRY_TOKENS < limit):
        _, place, row = heapq.heappop(queue)
        chosen.append((place, row))
        if isinstance(row, DaySession):
            add(row.rows, place)
        elif row.level is TocLevel.DAY:
            add(browse.list_day_sessions(row.node_id, scope), place)
        elif row.level is not TocLevel.SEGMENT:
            children = browse.list_children(
                row.node_id, limit=MAX_CHILDREN, scope=scope, month_id=row.month_id
            )
            add_nodes(children, place)
    listed = sorted(enumerate(chosen), key=lambda pair: pair[1][0])
    nothing = f"of {scope}" if scope.is_narrow else "yet"
    nothing = " ".join(unknown_names) or f"Nothing is stored {nothing}."
    items = [_describe(row) | {"depth": len(place) - 1} for _, (place, row) in listed]
    return Reply(
        {"lines": items},
        lambda item: "  " * int(item["depth"]) + lines.node(item),
        notes=() if chosen else (nothing,),
        more_hint="get_node NODE_ID, or a larger budget, opens more",
        has_more=bool(queue),
        order=sorted(range(len(listed)), key=lambda place: listed[place][0]),
    )


def _describe(row: TocEntry | DaySession) -> Item:
    if isinstance(row, TocEntry):
        return formatting.node(row)
    states = [row.session.work.state]
    if row.only_segment:
        item = formatting.node(row.only_segment)
        states.append(item.get("state", ""))
    else:
        item = {
            "session": row.session.full_name,
            "level": "session",
            "start_time": date_format.iso_utc(row.start_time),
            "segments": len(row.segments),
        }
    state = ", ".join(filter(None, states))
    return item | {"title": row.session.work.name} | ({"state": state} if state else {})
