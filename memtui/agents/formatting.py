"""Itemising: nodes, hits, events and sessions as an agent reads them, short and cited.

Each is a JSON object of neutral texts and a line of the same; ids are as short as they
can be and still be opened (``memory.replies.citations``).
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import tzinfo

from memtui.agents.replies import Plain
from memtui.model import citations, hits
from memtui.model.events import Event, EventType
from memtui.model.grips import Grip
from memtui.model.hits import CombinedHit, Hit, HitKind, MessageHit, WindowMessage
from memtui.model.nodes import Bullet, TocEntry, TocLevel
from memtui.model.sessions import Session
from memtui.search import snippets
from memtui.search.title_match import Held
from memtui.text import date_format
from memtui.text.fencing import line as neutral

TEXT_CHARS = 400
"""How much of one message is told among others, in characters."""


OF_SEGMENT = ("session", "title", "node_id")
"""What of a moment is told with the first one of its segment."""


LEAD_CHARS = 120
"""How much of a message is told before what it is quoted for."""


def named(agent: str, session_id: str) -> str:
    """What a session is asked for by: ``agent:id``."""
    return neutral(f"{agent}:{session_id}")


def node(one: TocEntry, zone: tzinfo) -> Plain:
    """A node of a list."""
    told: Plain = {
        "node_id": citations.cite_node(one.node_id),
        "level": one.level.value,
    }
    if one.level is TocLevel.SEGMENT:
        told |= {
            "title": neutral(one.headline),
            "at": date_format.iso_minute(one.start_time, zone),
        }
    else:
        told |= {"title": neutral(one.title), "headline": neutral(one.headline)}
        told["segments"] = one.counts.segments
    if one.is_live:
        told["is_live"] = True
    return told


def node_line(told: Plain) -> str:
    """The same as a line."""
    if "at" in told:
        return f"{told['node_id']} {told['at'][11:]} {told['title']}"
    return f"{told['node_id']} ({told['segments']}) {told['headline'] or told['title']}"


def bullet(one: Bullet) -> Plain:
    """A bullet with what it rests on."""
    return {
        "text": neutral(one.text),
        "support": one.support.value,
        "grip_ids": [citations.cite_grip(name) for name in one.grip_ids],
    }


def bullet_line(told: Plain) -> str:
    """The same as a line; what no source says is marked."""
    cited = f" [{told['grip_ids'][0]}]" if told["grip_ids"] else " [no source]"
    return f"- {told['text']}{cited}"


def part_line(told: Plain) -> str:
    """A bullet or a child, whichever it is."""
    return bullet_line(told) if "text" in told else node_line(told)


def scored(score: float, *, is_listed: bool) -> Plain:
    """How well something answers; nothing of what no word was looked for in."""
    if is_listed:
        return {"score": None, "band": None}
    return {"score": round(score, 2), "band": hits.score_band(score).value}


def score(told: Plain) -> str:
    """The same at the beginning of a line."""
    return "" if told["score"] is None else f"{told['score']:.2f} "


def hit(one: Hit, zone: tzinfo, *, is_listed: bool = False) -> Plain:
    """A hit of the teleport, or a node of a list."""
    is_grip = one.kind is HitKind.GRIP
    cite = citations.cite_grip if is_grip else citations.cite_node
    told: Plain = {
        "id": cite(one.target_id),
        **scored(one.score, is_listed=is_listed),
        "at": date_format.iso_minute(one.at, zone),
        "title": neutral(one.title),
        "snippet": neutral(one.snippet.text),
    }
    if one.landing_id != one.target_id:
        told["leads_to"] = citations.cite_node(one.landing_id)
    return told


def hit_line(told: Plain) -> str:
    """The same as a line."""
    title, snippet = told["title"], told["snippet"]
    said = snippet if title in snippet else f"{title}: {snippet}"
    return f"{score(told)}{told['id']} {told['at'][:10]} {said}"


def moment(one: CombinedHit, zone: tzinfo, *, is_listed: bool = False) -> Plain:
    """A moment of the search over everything."""
    if one.event_id:
        cite = citations.cite_event(one.event_id)
    elif one.grip_id:
        cite = citations.cite_grip(one.grip_id)
    else:
        cite = citations.cite_node(one.node_id)
    told: Plain = {
        "id": cite,
        **scored(one.score, is_listed=is_listed),
        "at": date_format.iso_minute(one.at, zone),
        "session": named(one.agent, one.session_id),
        "title": neutral(one.title),
        "snippet": neutral(one.snippet.text),
    }
    if not one.session_id:
        del told["session"]
    if one.role:
        told["role"] = one.role.value
    if one.node_id and cite != one.node_id:
        told["node_id"] = citations.cite_node(one.node_id)
    return told


def quoted(
    several: Sequence[CombinedHit], zone: tzinfo, *, is_listed: bool = False
) -> list[Plain]:
    """Quotes, each message once; what a segment is about is told with the first of it.

    Where little is quoted of a message, its next quote stands behind.
    """
    told: list[Plain] = []
    known: set[tuple[str, str]] = set()
    said: dict[str, Plain] = {}
    for one in several:
        item = moment(one, zone, is_listed=is_listed)
        if one.event_id and said.setdefault(item["id"], item) is not item:
            ahead = said[item["id"]]["snippet"].rstrip("… ")
            if len(ahead) < snippets.QUOTES_CHARS:
                behind = item["snippet"].lstrip("… ")
                said[item["id"]]["snippet"] = f"{ahead} … {behind}"
            continue
        of = one.session_id, one.node_id
        again = OF_SEGMENT if of in known else ()
        for key in again:
            item.pop(key, None)
        told.append(item)
        known.add(of)
    return told


def quote_line(told: Plain) -> str:
    """The same as a line."""
    by = f"{told['role']}: " if "role" in told else ""
    about = f"{told['title']} | " if told.get("title", "") else ""
    about = "" if by == "" and told.get("title", "") in told["snippet"] else about
    return f"{score(told)}{told['id']} {told['at']} {about}{by}{told['snippet']}"


def event(
    one: Event, zone: tzinfo, *, about: str = "", most: int = TEXT_CHARS
) -> Plain:
    """An event, of a long one what is around a quote.

    Args:
        one: The event.
        zone: The calendar's.
        about: The quote; "" for the beginning.
        most: How much of the event is told, in characters.
    """
    text, quote = neutral(one.text), neutral(about)
    place = text.find(quote) if quote else 0
    start = max(0, place - LEAD_CHARS) if place + len(quote) > most else 0
    start = text.find(" ", start) + 1 if start else 0
    said = short(text[start:], max(most, LEAD_CHARS + len(quote)))
    told: Plain = {
        "id": citations.cite_event(one.event_id),
        "at": date_format.iso_minute(one.timestamp, zone),
        "role": one.role.value,
        "text": f"…{said}" if start else said or f"({_plain(one.event_type)})",
    }
    if tool := one.metadata.get("tool_name", ""):
        told["tool"] = neutral(tool)
    return told


def _plain(kind: EventType) -> str:
    """What stands for an event that says nothing: ``session start``."""
    return kind.value.replace("_", " ")


def event_line(told: Plain) -> str:
    """The same as a line; what a quote stands in is marked."""
    mark = "> " if told.get("is_excerpt") else ""
    tool = f" ({told['tool']})" if "tool" in told else ""
    return f"{mark}{told['at'][11:]} {told['role']}{tool}: {told['text']}"


def dated_event_line(told: Plain) -> str:
    """The same as a line with its date and its citation."""
    return f"{told['id']} {told['at'][:10]} {event_line(told)}"


def session(one: Session, zone: tzinfo) -> Plain:
    """A session of a list."""
    return {
        "id": named(one.agent, one.session_id),
        "at": date_format.iso_minute(one.updated_at, zone),
        "project": neutral(one.project),
        "title": neutral(one.title)[:LEAD_CHARS],
        "messages": one.message_count,
    }


def session_line(told: Plain) -> str:
    """The same as a line."""
    about = f"{told['project']} ({told['messages']}) {told['title']}"
    return f"{told['id']} {told['at']} {about}"


def held(one: Held, zone: tzinfo) -> Plain:
    """A node that answers, with its best part."""
    best = one.finds[0]
    return node(one.line, zone) | {
        "score": one.score,
        "field": best.field.value,
        "text": neutral(best.text),
        "grip_ids": [citations.cite_grip(name) for name in best.grip_ids],
    }


def held_line(told: Plain) -> str:
    """The same as a line."""
    cited = f" [{told['grip_ids'][0]}]" if told["grip_ids"] else ""
    return f"{score(told)}{told['node_id']} {told['field']}: {told['text']}{cited}"


def grip(one: Grip, zone: tzinfo) -> Plain:
    """What a grip is."""
    return {
        "id": citations.cite_grip(one.grip_id) if one.grip_id else "",
        "excerpt": neutral(one.excerpt),
        "at": date_format.iso_minute(one.timestamp, zone),
        "source": one.source,
        "node_id": citations.cite_node(one.toc_node_id or ""),
    }


def short(text: str, most: int = TEXT_CHARS) -> str:
    """A text cut between two words, to so many characters."""
    return text if len(text) <= most else f"{text[:most].rsplit(' ', 1)[0]}…"


def message_hit(
    one: MessageHit, zone: tzinfo, *, around: int, is_listed: bool = False
) -> Plain:
    """A message that answers, with so many characters of each one beside it."""
    match = one.match
    told: Plain = {
        "id": citations.cite_event(one.event_id) if one.event_id else "",
        "score": None if is_listed else round(one.score, 2),
        "session": named(one.session.agent, one.session.session_id),
        "at": date_format.iso_minute(
            match.at if match else one.session.created_at, zone
        ),
        "title": neutral(one.session.title)[:LEAD_CHARS],
        "window": [
            _said(said, TEXT_CHARS if said.is_match else around)
            for said in one.window
            if said.is_match or around
        ],
    }
    if match is None:
        told["snippet"] = neutral(one.about.text)
    return told


def message_hits(
    several: Sequence[MessageHit],
    zone: tzinfo,
    *,
    around: int,
    is_listed: bool = False,
) -> list[Plain]:
    """Messages that answer; what stands around several of them is told once.

    A message that was told whole beside an earlier one is marked there, with its id.

    Args:
        several: The best first.
        zone: The calendar's.
        around: How much of each message beside one is told, in characters.
        is_listed: Whether no word was looked for: then none has a score.
    """
    told: list[Plain] = []
    known: dict[str, Plain] = {}
    for one in several:
        match, before = one.match, known.get(one.event_id)
        if match and before and before["text"] == short(neutral(match.snippet.text)):
            before |= {"is_match": True, "id": citations.cite_event(one.event_id)}
            continue
        new = [it for it in one.window if it.is_match or it.event_id not in known]
        item = message_hit(
            replace(one, window=tuple(new)), zone, around=around, is_listed=is_listed
        )
        given = [said for said in new if said.is_match or around]
        known |= {
            it.event_id: said for it, said in zip(given, item["window"], strict=True)
        }
        told.append(item)
    return told


def _said(one: WindowMessage, most: int) -> Plain:
    told: Plain = {"msg_idx": one.msg_idx, "role": one.role.value}
    told["text"] = short(neutral(one.snippet.text), most)
    return told | ({"is_match": True} if one.is_match else {})


def message_hit_line(told: Plain) -> str:
    """The same as lines."""
    head = f"{score(told)}{told['id']} {told['at']} {told['session']}"
    said = [f"  {_by(one)}: {one['text']}" for one in told["window"]]
    title, about = told["title"], told.get("snippet", "")
    named = title if about in title else f"{title} | {about}"
    return "\n".join([head, *(said or [f"  {named}"])])


def _by(said: Plain) -> str:
    """Who said it; of a further message that answers also what opens it."""
    return f"{said['id']} {said['role']}" if "id" in said else str(said["role"])
