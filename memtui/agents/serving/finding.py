"""Tools that find: nodes and grips by words, messages in sessions, moments in all."""

from collections.abc import Iterator

from memtui.agents.serving.answers import Answer, Item, line
from memtui.agents.serving.memory import Memory
from memtui.agents.serving.parameters import Given, Parameter
from memtui.agents.serving.tools import Tool, limit
from memtui.memory.found import MessageHit, Moment, Said
from memtui.memory.hits import Hit

SNIPPET_CHARS = 240
"""How much of a hit's line is told, in characters."""

AROUND_CHARS = 200
"""How much of a message around the one that answers is told, in characters."""

MATCH_CHARS = 700
"""How much of the message that answers is told, in characters."""

NOTHING = "Nothing answers; try fewer or other words."

QUERY = Parameter(
    "query",
    says='words, "a phrase", agent:codex, project:name, after:2025-03, last week',
    is_required=True,
)


def teleport(memory: Memory, given: Given) -> Answer:
    """Nodes and grips by words."""
    found = memory.teleport.find(given["query"], limit=given["limit"])
    notes = [found.note, *found.hints]
    if found.suggestion:
        notes.append(f"Did you mean: {line(found.suggestion, 200)}")
    items = tuple(_hit(hit, memory) for hit in found.hits)
    return Answer(_head(len(items), notes), items)


def _hit(hit: Hit, memory: Memory) -> Item:
    said = line(hit.snippet.text, SNIPPET_CHARS)
    leads = f" in {hit.leads_to}" if hit.leads_to != hit.target_id else ""
    day = f"{hit.at.astimezone(memory.zone):%Y-%m-%d}"
    told = {
        "id": hit.target_id,
        "kind": hit.kind.value,
        "leads_to": hit.leads_to,
        "score": round(hit.score, 2),
        "band": hit.band.value,
        "title": line(hit.title, SNIPPET_CHARS),
        "snippet": said,
    }
    text = f"- {hit.score:.2f} {hit.band} {day} {hit.target_id}{leads}: {said}"
    return Item(text, told)


def memories(memory: Memory, given: Given) -> Answer:
    """Moments, by everything there is."""
    found = memory.search.find(given["query"], limit=given["limit"])
    notes = [*found.notes, *map(str, found.times)]
    if found.suggestion:
        notes.append(f"Did you mean: {line(found.suggestion, 200)}")
    items = tuple(_moment(hit, memory) for hit in found.hits)
    return Answer(_head(len(items), notes), items)


def _moment(hit: Moment, memory: Memory) -> Item:
    said, title = line(hit.snippet.text, SNIPPET_CHARS), line(hit.title, 120)
    day = f"{hit.at.astimezone(memory.zone):%Y-%m-%d}"
    cite = hit.grip_id or hit.node_id or f"{hit.agent}:{hit.session_id}"
    told = {
        "score": round(hit.score, 2),
        "band": hit.band.value,
        "at": hit.at.isoformat(),
        "title": title,
        "snippet": said,
        "grip_id": hit.grip_id,
        "node_id": hit.node_id,
        "session": f"{hit.agent}:{hit.session_id}",
    }
    return Item(f"- {hit.score:.2f} {hit.band} {day} {title}: {said} [{cite}]", told)


def sessions(memory: Memory, given: Given) -> Answer:
    """Messages, each with what was said around it."""
    found = memory.talk.find(
        given["query"],
        limit=given["limit"],
        before=given["before"],
        after=given["after"],
        is_one_each=True,
    )
    items = tuple(_message(hit, memory) for hit in found.hits)
    notes = [*found.notes, *map(str, found.times)]
    return Answer(_head(len(items), notes), items)


def _message(hit: MessageHit, memory: Memory) -> Item:
    session = hit.session
    name = f"{session.agent}:{session.session_id}"
    day = f"{(hit.match.at if hit.match else session.created_at):%Y-%m-%d}"
    place = f" message {hit.msg_idx}" if hit.match else ""
    top = f"- {hit.score:.2f} {day} {line(session.title, 100)} [{name}]{place}"
    told = {
        "session": name,
        "msg_idx": hit.msg_idx,
        "score": round(hit.score, 2),
        "title": line(session.title, 200),
        "messages": session.message_count,
        "window": [
            {"msg_idx": said.msg_idx, "role": said.role.value, "text": _said(said)}
            for said in hit.window
        ],
    }
    return Item("\n".join([top, *_window(hit)]), told)


def _window(hit: MessageHit) -> Iterator[str]:
    for said in hit.window:
        mark = ">" if said.is_match else " "
        tool = f" ({line(said.tool_name, 40)})" if said.tool_name else ""
        yield f"  {mark} {said.msg_idx} {said.role.value}{tool}: {_said(said)}"


def _said(said: Said) -> str:
    return line(said.snippet.text, MATCH_CHARS if said.is_match else AROUND_CHARS)


def _head(count: int, notes: list[str]) -> str:
    told = f"{count} found, best first" if count else NOTHING
    return " ".join([f"{told}." if count else told, *filter(None, notes)])


TOOLS = (
    Tool(
        "teleport",
        "Jump by specific words to summaries and citations, each with a score and what"
        " to do with it.",
        teleport,
        (QUERY, limit(5, 50)),
    ),
    Tool(
        "search_memory",
        "Find moments in everything kept, summaries and messages, when you do not know"
        " where it was said.",
        memories,
        (QUERY, limit(5, 50)),
    ),
    Tool(
        "search_sessions",
        "Find messages in past conversations, each with a few around it: exact words,"
        " commands, errors.",
        sessions,
        (
            QUERY,
            limit(3, 20),
            Parameter("before", "integer", default=1, least=0, most=15),
            Parameter("after", "integer", default=1, least=0, most=15),
        ),
    ),
)
"""What finds."""
