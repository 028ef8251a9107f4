"""How nodes, hits, events and sessions stand in a reply: as a JSON object and as text.

Ids are cut as short as they can be and still be opened (``model.citations``).
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import tzinfo

from memtui.agents.replies import Item, cut
from memtui.model import citations, hits
from memtui.model.events import Event
from memtui.model.grips import Grip
from memtui.model.hits import CombinedHit, Hit, HitKind, MessageHit
from memtui.model.nodes import Bullet, NodeStatus, TocEntry, TocLevel
from memtui.model.sessions import Session
from memtui.model.verdicts import Support
from memtui.search import snippets
from memtui.services import explain
from memtui.text import date_format

CONTEXT_CHARS = 160
"""The maximum length, for agents, of each message around a hit."""

TITLE_CHARS = 120

QUOTED_CHARS = 900
"""The minimum length to which an event quoted by a grip is shortened."""

SEGMENT_KEYS = ("session", "title", "node_id")
"""The fields given with the first hit of a segment alone."""

UNFINISHED = (NodeStatus.PENDING, NodeStatus.STALE)


MARKS = {
    Support.SUPPORTED.value: "✓",
    Support.WEAK.value: "~",
    Support.UNSUPPORTED.value: "✗",
}


def one_line(text: str) -> str:
    """Return a text with every run of blanks as one space."""
    return " ".join(text.split())


def node(entry: TocEntry, zone: tzinfo) -> Item:
    """Describe a node of a list."""
    item: Item = {
        "node_id": citations.cite_node(entry.node_id),
        "level": entry.level.value,
    }
    if entry.level is TocLevel.SEGMENT:
        item["title"] = entry.headline
        item["at"] = date_format.iso_minute(entry.start_time, zone)
    else:
        item |= {"title": entry.title, "headline": entry.headline}
        item["segments"] = entry.counts.segments
    if entry.is_live:
        item["is_live"] = True
    state = ["pinned"] if entry.is_pinned else []
    state += [entry.status.value] if entry.status in UNFINISHED else []
    return item | ({"state": ", ".join(state)} if state else {})


def node_line(item: Item) -> str:
    """Write a node of a list as text."""
    state = f" ({item['state']})" if "state" in item else ""
    if "at" in item:
        return f"{item['node_id']} {item['at'][11:]} {item['title']}{state}"
    title = item["headline"] or item["title"]
    return f"{item['node_id']} ({item['segments']}) {title}{state}"


def bullet(one: Bullet) -> Item:
    """Describe a bullet, its sources, and why these do not fully support it."""
    why = explain.explain_verdict(one)
    return {
        "text": one.text,
        "support": one.support.value,
        "grip_ids": [citations.cite_grip(grip_id) for grip_id in one.grip_ids],
    } | ({"why": why} if why else {})


def bullet_line(item: Item) -> str:
    """Write a bullet as text, behind the mark of its support."""
    source = f"[{item['grip_ids'][0]}]" if item["grip_ids"] else "[no source]"
    withheld = " (withheld)" if "is_withheld" in item else ""
    why = f"\n    {item['why']}" if "why" in item else ""
    return f"{MARKS[item['support']]} {item['text']} {source}{withheld}{why}"


def bullet_or_node_line(item: Item) -> str:
    """Write a bullet, or a child of a node, as text."""
    return bullet_line(item) if "support" in item else node_line(item)


def shorten_bullet(item: Item, _: int) -> Item:
    """Leave out why a bullet is not fully supported."""
    return {key: value for key, value in item.items() if key != "why"}


def score(value: float, *, is_recent: bool) -> Item:
    """Describe a score: null where no word was looked for and the newest are listed."""
    if is_recent:
        return {"score": None, "band": None}
    return {"score": round(value, 2), "band": hits.score_band(value).value}


def score_text(item: Item) -> str:
    """Write the score at the beginning of a line."""
    return "" if item["score"] is None else f"{item['score']:.2f} "


def hit(one: Hit, zone: tzinfo, *, is_recent: bool = False) -> Item:
    """Describe a node or grip that was found."""
    is_grip = one.kind is HitKind.GRIP
    cite = citations.cite_grip if is_grip else citations.cite_node
    item: Item = {
        "id": cite(one.target_id),
        **score(one.score, is_recent=is_recent),
        "at": date_format.iso_minute(one.at, zone),
        "title": one_line(one.title),
        "snippet": one_line(one.snippet.text),
    }
    if one.landing_id != one.target_id:
        item["leads_to"] = citations.cite_node(one.landing_id)
    return item


def hit_line(item: Item) -> str:
    """Write a node or grip that was found as text."""
    title, snippet = item["title"], item["snippet"]
    text = snippet if title in snippet else f"{title}: {snippet}"
    return f"{score_text(item)}{item['id']} {item['at'][:10]} {text}"


def quote(one: CombinedHit, zone: tzinfo, *, is_recent: bool = False) -> Item:
    """Describe a hit of the search over everything."""
    if one.event_id:
        cite = citations.cite_event(one.event_id)
    elif one.grip_id:
        cite = citations.cite_grip(one.grip_id)
    else:
        cite = citations.cite_node(one.node_id)
    item: Item = {
        "id": cite,
        **score(one.score, is_recent=is_recent),
        "at": date_format.iso_minute(one.at, zone),
        "session": f"{one.agent}:{one.session_id}",
        "title": one_line(one.title),
        "snippet": one_line(one.snippet.text),
    }
    if not one.session_id:
        del item["session"]
    if one.role:
        item["role"] = one.role.value
    if one.node_id and cite != one.node_id:
        item["node_id"] = citations.cite_node(one.node_id)
    return item


def quotes(
    found: Sequence[CombinedHit], zone: tzinfo, *, is_recent: bool = False
) -> list[Item]:
    """Describe hits, each message once and each segment with its first hit alone.

    Short quotes of one message are joined.
    """
    items: list[Item] = []
    segments: set[tuple[str, str]] = set()
    messages: dict[str, Item] = {}
    for one in found:
        item = quote(one, zone, is_recent=is_recent)
        if one.event_id:
            first = messages.setdefault(item["id"], item)
            if first is not item:
                start = first["snippet"].rstrip("… ")
                if len(start) < snippets.QUOTE_CHARS:
                    first["snippet"] = f"{start} … {item['snippet'].lstrip('… ')}"
                continue
        segment = one.session_id, one.node_id
        if segment in segments:
            for key in SEGMENT_KEYS:
                item.pop(key, None)
        items.append(item)
        segments.add(segment)
    return items


def quote_line(item: Item) -> str:
    """Write a hit of the search over everything as text."""
    title, snippet = item.get("title", ""), item["snippet"]
    role = f"{item['role']}: " if "role" in item else ""
    is_told = not role and title in snippet
    about = f"{title} | " if title and not is_told else ""
    return f"{score_text(item)}{item['id']} {item['at']} {about}{role}{snippet}"


def event(one: Event, zone: tzinfo) -> Item:
    """Describe an event."""
    item: Item = {
        "id": citations.cite_event(one.event_id),
        "at": date_format.iso_minute(one.timestamp, zone),
        "role": one.role.value,
        "text": one.text or f"({one.event_type.value.replace('_', ' ')})",
    }
    if tool := one.metadata.get("tool_name", ""):
        item["tool"] = tool
    return item


def shorten_event(item: Item, chars: int) -> Item:
    """Shorten an event to its beginning, in one line."""
    return item | {"text": cut(one_line(item["text"]), chars)}


def shorten_quoted_event(item: Item, chars: int, quote: str) -> Item:
    """Shorten an event to what stands around a quote, if the quote stands in it."""
    if not item.get("is_excerpt"):
        return shorten_event(item, chars)
    chars = max(QUOTED_CHARS, chars)
    text, quote = one_line(item["text"]), one_line(quote)
    place = text.find(quote) if quote else 0
    start = max(0, place - TITLE_CHARS) if place + len(quote) > chars else 0
    start = text.find(" ", start) + 1 if start else 0
    text = cut(text[start:], max(chars, TITLE_CHARS + len(quote)))
    return item | {"text": f"…{text}" if start else text}


def event_line(item: Item) -> str:
    """Write an event as text: a quoted one is marked, further lines are indented."""
    mark = "> " if item.get("is_excerpt") else ""
    tool = f" ({item['tool']})" if "tool" in item else ""
    text = item["text"].replace("\n", "\n    ")
    return f"{mark}{item['at'][11:]} {item['role']}{tool}: {text}"


def dated_event_line(item: Item) -> str:
    """Write an event as text with its date and its id."""
    return f"{item['id']} {item['at'][:10]} {event_line(item)}"


def session(one: Session, zone: tzinfo) -> Item:
    """Describe a session of a list."""
    return {
        "id": f"{one.agent}:{one.session_id}",
        "at": date_format.iso_minute(one.updated_at, zone),
        "project": one.project,
        "title": one_line(one.title),
        "messages": one.message_count,
    }


def session_line(item: Item) -> str:
    """Write a session of a list as text."""
    about = f"{item['project']} ({item['messages']}) {item['title']}"
    return f"{item['id']} {item['at']} {about}"


def shorten_title(item: Item, _: int) -> Item:
    """Shorten the title of an item."""
    return item | {"title": cut(item["title"], TITLE_CHARS)}


def grip(one: Grip, zone: tzinfo) -> Item:
    """Describe a grip."""
    return {
        "id": citations.cite_grip(one.grip_id) if one.grip_id else "",
        "excerpt": one.excerpt,
        "at": date_format.iso_minute(one.timestamp, zone),
        "source": one.source,
        "node_id": citations.cite_node(one.toc_node_id or ""),
    }


def message_hit(one: MessageHit, zone: tzinfo, *, is_recent: bool = False) -> Item:
    """Describe a message that was found, with those around it."""
    match = one.match
    at = match.at if match else one.session.created_at
    item: Item = {
        "id": citations.cite_event(one.event_id) if one.event_id else "",
        "score": None if is_recent else round(one.score, 2),
        "session": f"{one.session.agent}:{one.session.session_id}",
        "at": date_format.iso_minute(at, zone),
        "title": one_line(one.session.title),
        "window": [
            {
                "msg_idx": message.msg_idx,
                "role": message.role.value,
                "text": one_line(message.snippet.text),
            }
            | ({"tool": message.tool_name} if message.tool_name else {})
            | ({"is_match": True} if message.is_match else {})
            for message in one.window
        ],
    }
    if match is None:
        item["snippet"] = one_line(one.about.text)
    return item


def message_hits(
    found: Sequence[MessageHit], zone: tzinfo, *, is_recent: bool = False
) -> list[Item]:
    """Describe messages that were found, the best first; each message once.

    One that stands beside an earlier hit is marked there, with its id. Where the newest
    are listed nothing stands around them: it is listed itself.
    """
    items: list[Item] = []
    shown: dict[str, Item] = {}
    for one in found:
        match, before = one.match, shown.get(one.event_id)
        if match and before and before["text"] == one_line(match.snippet.text):
            before |= {"is_match": True, "id": citations.cite_event(one.event_id)}
            continue
        window = tuple(
            message
            for message in one.window
            if message.is_match or not (is_recent or message.event_id in shown)
        )
        item = message_hit(replace(one, window=window), zone, is_recent=is_recent)
        texts = zip(window, item["window"], strict=True)
        shown |= {message.event_id: text for message, text in texts}
        items.append(item)
    return items


def shorten_message_hit(item: Item, chars: int) -> Item:
    """Shorten the title and the messages of a hit."""
    window = [
        message
        | {
            "text": cut(
                message["text"], chars if "is_match" in message else CONTEXT_CHARS
            )
        }
        for message in item["window"]
    ]
    return shorten_title(item, chars) | {"window": window}


def message_hit_line(item: Item) -> str:
    """Write a message that was found, with those around it, as lines."""
    head = f"{score_text(item)}{item['id']} {item['at']} {item['session']}"
    lines = [f"  {_author(message)}: {message['text']}" for message in item["window"]]
    title, about = item["title"], item.get("snippet", "")
    named = title if about in title else f"{title} | {about}"
    return "\n".join([head, *(lines or [f"  {named}"])])


def _author(message: Item) -> str:
    """Return who wrote a message, behind its id where it is a hit as well."""
    tool = f" ({message['tool']})" if "tool" in message else ""
    return f"{message.get('id', '')} {message['role']}{tool}".strip()
