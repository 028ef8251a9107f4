"""Format nodes, hits, events and sessions for a reply, as JSON objects and as text.

Ids are cut as short as they can be and still be opened (``model.citations``). Times are
exact and in UTC in JSON, and in the store's zone, to the minute, in text.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, tzinfo

from memtui.model import citations
from memtui.model.calendar import TocLevel
from memtui.model.citations import Grip
from memtui.model.events import Event
from memtui.model.filters import ALL, Scope
from memtui.model.hit import Hit, HitKind, score_band
from memtui.model.nodes import (
    Bullet,
    NodeStatus,
    TocEntry,
    TocNode,
)
from memtui.model.sessions import Session
from memtui.model.verdicts import Support
from memtui.search import snippets
from memtui.services import browse, versions
from memtui.text import date_format
from memtui.tools.replies import Item, cut, shorten_texts

CONTEXT_CHARS = 160
"""The maximum length of each message around a hit."""

TITLE_CHARS = 120

SEGMENT_KEYS = ("session", "title", "node_id")
"""The fields given only with the first hit of a segment."""

SESSION_KEYS = ("session_name", "state", "outcome", "more_in_session")
"""The fields given only with the first hit of a session."""

MARKS = {
    Support.SUPPORTED.value: "✓ ",
    Support.WEAK.value: "~ ",
    Support.UNSUPPORTED.value: "✗ ",
}
"""The mark before a bullet whose wording was checked, by its verdict."""

QUOTE_MARK = "“ "
"""The mark before a sentence of the source."""


def one_line(text: str) -> str:
    """Return a text with every run of blanks as one space."""
    return " ".join(text.split())


# Items


def nodes(entries: Sequence[TocEntry], zone: tzinfo, scope: Scope = ALL) -> list[Item]:
    """Describe nodes of a list, and count their sessions in a scope."""
    return [*map(node, browse.add_session_counts(entries, zone, scope))]


def node(entry: TocEntry) -> Item:
    """Describe a node of a list whose sessions are counted, or a segment."""
    item: Item = {
        "node_id": citations.cite_node(entry.node_id),
        "level": entry.level.value,
        "start_time": date_format.iso_utc(entry.start_time),
        "title": entry.title,
        "headline": entry.headline,
        "sessions": entry.sessions,
        "segments": entry.counts.segments,
    }
    if entry.level is TocLevel.SEGMENT:
        item["title"] = entry.headline
        del item["headline"], item["sessions"], item["segments"]
    if entry.is_live:
        item["is_live"] = True
    state = node_state(entry)
    return item | ({"state": state} if state else {})


def node_state(node: TocEntry | TocNode) -> str:
    """Return whether a node is pinned, and whether it will change."""
    will_change = node.status in (NodeStatus.PENDING, NodeStatus.STALE)
    states = ["pinned"] * node.is_pinned + [node.status.value] * will_change
    return ", ".join(states)


def bullet(bullet: Bullet) -> Item:
    """Describe a bullet, its sources, and why these do not fully support it."""
    why = versions.explain_verdict(bullet)
    return {
        "text": bullet.labelled,
        "grip_ids": [citations.cite_grip(grip_id) for grip_id in bullet.grip_ids],
        **verdict(bullet),
    } | ({"why": why} if why else {})


def verdict(bullet: Bullet) -> Item:
    """Describe the verdict of a bullet, and what part of a card it is."""
    kind = {"kind": bullet.kind.value} if bullet.kind else {}
    return {
        "verdict": bullet.support.value,
        **kind,
        "is_quote": bullet.is_quote,
        "is_by_model": bullet.is_checked,
    }


def mark(item: Item) -> str:
    """Return the mark before a bullet: a quotation mark before a sentence of the
    source, a dash before what calls show, else the verdict on a model's wording."""
    if "verdict" not in item:
        return ""
    if item["is_by_model"] or item["verdict"] != Support.SUPPORTED.value:
        return MARKS[item["verdict"]]
    return QUOTE_MARK if item["is_quote"] else "- "


def score(value: float, *, is_recent: bool) -> Item:
    """Describe a score: null where no word was looked for and the newest are listed."""
    if is_recent:
        return {"score": None, "band": None}
    return {"score": round(value, 2), "band": score_band(value).value}


def hit(result: Hit, *, is_recent: bool = False) -> Item:
    """Describe a node or a grip that was found."""
    item = _hit_fields(result, is_recent=is_recent)
    if result.grip_id or result.opens != result.node_id:
        item["leads_to"] = citations.cite_node(result.opens)
    return item | ({"also": [*result.also]} if result.also else {})


def _hit_fields(result: Hit, *, is_recent: bool) -> Item:
    return {
        "id": cite(result),
        **score(result.score, is_recent=is_recent),
        "at": date_format.iso_utc(result.at),
        "title": one_line(result.title),
        "snippet": one_line(result.snippet.text),
    }


def quotes(hits: Sequence[Hit], *, is_recent: bool = False) -> list[Item]:
    """Describe hits, segments and sessions with their first hits.

    Short quotes of one message are joined, with long ones further quotes of it follow
    at their own places. The name of a session is given again after
    a hit of another session.
    """
    items: list[Item] = []
    segments: set[tuple[str, ...]] = set()
    sessions: set[tuple[str, str]] = set()
    messages: dict[str, Item] = {}
    last = ("", "")
    for quote in hits:
        item = _quote(quote, is_recent=is_recent)
        if quote.event_id:
            first = messages.setdefault(item["id"], item)
            if first is not item:
                start = first["snippet"].rstrip("… ")
                if len(start) < snippets.QUOTE_CHARS:
                    first["snippet"] = f"{start} … {item['snippet'].lstrip('… ')}"
                    continue
                messages[item["id"]] = item
        session = quote.session_key
        segment = (*session, quote.node_id)
        for key in SEGMENT_KEYS if segment in segments else ():
            item.pop(key, None)
        if session in sessions:
            for key in SESSION_KEYS if session == last else SESSION_KEYS[1:]:
                item.pop(key, None)
            item |= {"is_same_session": True} if session == last else {}
        last = session
        items.append(item)
        segments.add(segment)
        sessions.add(session)
    return items


def cite(result: Hit) -> str:
    """Return the citation of a hit: of its message, else of its grip or its node."""
    return citations.cite(result.event_id or result.target_id)


def _quote(quote: Hit, *, is_recent: bool) -> Item:
    item = _hit_fields(quote, is_recent=is_recent)
    if quote.session:
        item["session"] = quote.session.full_name
        work = quote.session.work
        about = (one_line(work.name), work.state, one_line(work.outcome), quote.more)
        item |= {
            key: value for key, value in zip(SESSION_KEYS, about, strict=True) if value
        }
    if quote.kind is HitKind.MESSAGE and quote.event:
        item["role"] = quote.event.role.value
    if quote.node_id and item["id"] != quote.node_id:
        item["node_id"] = citations.cite_node(quote.node_id)
    return item


def event(event: Event) -> Item:
    item: Item = {
        "id": citations.cite_event(event.event_id),
        "at": date_format.iso_utc(event.timestamp),
        "role": event.role.value,
        "text": event.text or f"({event.event_type.value.replace('_', ' ')})",
    }
    if tool := event.metadata.get("tool_name", ""):
        item["tool_name"] = tool
    if event.ending:
        item["ending"] = event.ending
    return item


def shorten_event(item: Item, chars: int, quote: str = "") -> Item:
    """Cut the text of an event; an excerpt is cut around a quote from it."""
    text: str = item["text"]
    if "thoughts" in item:
        item = item | {"thoughts": shorten_texts(item["thoughts"], chars)}
    if len(text) <= chars:
        return item
    # A sentence may go on in the next line.
    match = re.search(r"\s+".join(map(re.escape, quote.split())), text)
    place = match.start() if match else 0
    start = max(0, place - TITLE_CHARS) if place + len(quote) > chars else 0
    start = text.find(" ", start) + 1 if start else 0
    excerpt = cut(
        text[start:], max(chars, len(quote) + TITLE_CHARS) if start else chars
    )
    end = start + len(excerpt.removesuffix("…"))
    return item | {
        "text": f"…{excerpt}" if start else excerpt,
        "truncated": True,
        "left_chars": start + len(text) - end,
        "next_text_offset": item.get("text_offset", 0) + end,
    }


def session(session: Session) -> Item:
    return {
        "id": session.full_name,
        "agent": session.agent,
        "project": session.project,
        "title": one_line(session.title),
        "state": session.work.state or "",
        "outcome": one_line(session.work.outcome),
        "created_at": date_format.iso_utc(session.created_at),
        "updated_at": date_format.iso_utc(session.updated_at),
        "message_count": session.message_count,
        "created_by": session.created_by,
    }


def grip(grip: Grip) -> Item:
    return {
        "id": citations.cite(grip.grip_id),
        "excerpt": grip.excerpt,
        "event_id_start": grip.event_id_start,
        "event_id_end": grip.event_id_end,
        "at": date_format.iso_utc(grip.timestamp),
        "source": grip.source,
        "node_id": citations.cite_node(grip.toc_node_id or ""),
    }


def message_hits(hits: Sequence[Hit], *, is_recent: bool = False) -> list[Item]:
    """Describe messages that were found, the best first; each message once.

    A message in the window of an earlier hit is marked there, with its id. The newest
    messages have no windows, so each is listed.
    """
    items: list[Item] = []
    described: dict[str, Item] = {}
    for result in hits:
        match, before = result.match, described.get(result.event_id)
        if match and before and before["snippet"] == one_line(match.snippet.text):
            before |= {"is_match": True, "id": citations.cite_event(result.event_id)}
            continue
        window = tuple(
            message
            for message in result.window
            if message.is_match
            or not (is_recent or message.event.event_id in described)
        )
        item = _message_hit(replace(result, window=window), is_recent=is_recent)
        texts = zip(window, item["window"], strict=True)
        described |= {message.event.event_id: text for message, text in texts}
        items.append(item)
    return items


def _message_hit(result: Hit, *, is_recent: bool) -> Item:
    session, match = result.session, result.match
    assert session is not None
    item: Item = {
        "id": citations.cite_event(result.event_id) if result.event_id else "",
        "score": None if is_recent else round(result.score, 2),
        "session": session.full_name,
        "msg_idx": result.msg_idx,
        "at": date_format.iso_utc(result.at),
        "meta": {
            "title": one_line(session.work.name or session.title),
            "created_at": date_format.iso_utc(session.created_at),
            "updated_at": date_format.iso_utc(session.updated_at),
            "message_count": session.message_count,
        },
        "window": [
            {
                "msg_idx": message.msg_idx,
                "role": message.event.role.value,
                "snippet": one_line(message.snippet.text),
                "truncated": message.is_truncated,
            }
            | ({"tool_name": message.tool_name} if message.tool_name else {})
            | ({"is_match": True} if message.is_match else {})
            for message in result.window
        ],
    }
    if match is None:
        item["snippet"] = one_line(result.snippet.text)
    return item


def shorten_message_hit(item: Item, chars: int) -> Item:
    """Cut the title and the messages of a hit, those around the match shorter."""
    window = [
        message
        | {
            "snippet": (text := cut(message["snippet"], most)),
            "truncated": message["truncated"] or text != message["snippet"],
        }
        for message in item.get("window", ())
        for most in [chars if "is_match" in message else min(chars, CONTEXT_CHARS)]
    ]
    item = shorten_texts(item, chars)
    return item | ({"window": window} if window else {})


# Lines


class LineWriter:
    """Writes items as text, with times in a zone."""

    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone

    def minute(self, iso: str) -> str:
        """Return the day and time of a field: "2026-08-01 09:30"."""
        return date_format.iso_minute(datetime.fromisoformat(iso), self._zone)

    def node(self, item: Item) -> str:
        """Write a node of a list, or a session of a day."""
        state = f" ({item['state']})" if "state" in item else ""
        if "headline" not in item:
            at = self.minute(item["start_time"])[11:]
            cite = item.get("node_id") or f"{item['session']} ({item['segments']})"
            words = f" keywords: {' · '.join(item.get('keywords', ()))}"
            words = words if "keywords" in item else ""
            return f"{cite} {at} {item['title']}{state}{words}"
        title = item["headline"] or item["title"]
        return f"{item['node_id']} ({item['sessions']}) {title}{state}"

    def bullet(self, item: Item) -> str:
        """Write a bullet behind the mark of its verdict."""
        source = f"[{item['grip_ids'][0]}]" if item["grip_ids"] else "[no source]"
        withheld = " (withheld)" if "is_withheld" in item else ""
        why = f"\n    {item['why']}" if "why" in item else ""
        return f"{mark(item)}{item['text']} {source}{withheld}{why}"

    def bullet_or_node(self, item: Item) -> str:
        return self.bullet(item) if "verdict" in item else self.node(item)

    def hit(self, item: Item) -> str:
        title, snippet = item.get("title", ""), item["snippet"]
        role = f"{item['role']}: " if "role" in item else ""
        name = item.get("session_name", "")
        # The title of a later segment may repeat the name of its session.
        if (not role and title in snippet) or (name and title.startswith(name)):
            title = ""
        state = f" ({item['state']})" if "state" in item else ""
        about = ": ".join(filter(None, [f"{name}{state}", title]))
        about = f"{about} | " if about else ""
        start = f"{score_text(item)}{item['id']} {self.minute(item['at'])}"
        if "is_same_session" in item:
            start = f"  {start}"
        more = item.get("more_in_session", 0)
        end = f" (+{more} in this session)" if more else ""
        return f"{start} {about}{mark(item)}{role}{snippet}{end}"

    def event(self, item: Item) -> str:
        """Write an event; further lines of its text are indented.

        One in short form has its id, which opens it, in place of the time and the tool.
        """
        if "is_short" in item:
            return f"{item['id']} {item['role']}: {item['text']}"
        call = ", ".join(item[key] for key in ("tool_name", "ending") if key in item)
        tool = f" ({call})" if call else ""
        text = "\n    ".join(item["text"].splitlines())
        left = ""
        if "left_chars" in item:
            place = item["next_text_offset"]
            left = f" […+{item['left_chars']} text_offset={place}]"
        return f"{self.minute(item['at'])[11:]} {item['role']}{tool}: {text}{left}"

    def dated_event(self, item: Item) -> str:
        """Write an event with its date and its id, behind the thoughts before it."""
        line = f"{item['id']} {self.minute(item['at'])[:10]} {self.event(item)}"
        return "\n".join([*(f"~ {text}" for text in item.get("thoughts", ())), line])

    def session(self, item: Item) -> str:
        about = f"{item['project']} ({item['message_count']}) {item['title']}"
        state = f" ({item['state']})" if item["state"] else ""
        outcome = f" → {item['outcome']}" if item["outcome"] else ""
        return f"{item['id']} {self.minute(item['updated_at'])} {about}{state}{outcome}"

    def message_hit(self, item: Item) -> str:
        """Write a message that was found, with those around it, as lines."""
        at = self.minute(item["at"])
        head = f"{score_text(item)}{item['id']} {at} {item['session']}"
        lines = []
        for message in item.get("window", ()):
            tool = f" ({message['tool_name']})" if "tool_name" in message else ""
            author = f"{message.get('id', '')} {message['role']}{tool}".strip()
            lines.append(f"  {author}: {message['snippet']}")
        title, about = item["meta"]["title"], item.get("snippet", "")
        named = title if about in title else f"{title} | {about}"
        return "\n".join([head, *(lines or [f"  {named}"])])

    def work(self, item: Item) -> str:
        """Write the changes made for a request, or the occurrences of an error."""
        at = self.minute(item["at"])
        lines = [f"{item['id']} {at} {item['session']} | {item['title']}"]
        if "error" in item:
            times = f" ({item['count']} times)" if item["count"] > 1 else ""
            call = f" in {item['call']}" if item["call"] else ""
            lines.append(f"error{times}{call}: {item['error']}")
        if item.get("request"):
            lines.append(f"asked [{item['request_id']}]: {item['request']}")
        lines += item.get("changes", ())
        if item.get("result"):
            cite = f" [{item['result_id']}]" if item.get("result_id") else ""
            lines.append(f"then{cite} {item['result']}")
        if item.get("outcome"):
            lines.append(f"then [{item['outcome_id']}]: {item['outcome']}")
        return "\n  ".join(lines)


def score_text(item: Item) -> str:
    return "" if item["score"] is None else f"{item['score']:.2f} "
