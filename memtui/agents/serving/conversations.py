"""Tools for sessions: which there are, what is known of one, what was said in it."""

from memtui.agents.serving.answers import Answer, Item, line
from memtui.agents.serving.contents import NOTHING_KEPT, event_item, paged
from memtui.agents.serving.memory import Memory
from memtui.agents.serving.parameters import Given, Parameter
from memtui.agents.serving.tools import FIRST_TOKEN, Tool, limit, offset
from memtui.memory.sessions import Session
from memtui.recall import sessions
from memtui.recall.sessions import Facts

MESSAGE_CHARS = 1_500
"""How much of one message is told, in characters."""

SESSION = Parameter(
    "session", says="agent:id, or as much of the id as is clear", is_required=True
)


def listed(memory: Memory, given: Given) -> Answer:
    """Sessions, the latest first."""
    start, most = offset(given), given["limit"]
    found = sessions.listed(
        agent=given["agent"], project=given["project"], offset=start, limit=most + 1
    )
    if not found.total and not (given["agent"] or given["project"]):
        return Answer(NOTHING_KEPT)
    items = [_line(one, memory) for one in found.sessions]
    return paged(items, start, most, "list_sessions(", f"of {found.total} sessions")


def _line(one: Session, memory: Memory) -> Item:
    day = f"{one.updated_at.astimezone(memory.zone):%Y-%m-%d}"
    name = f"{one.agent}:{one.session_id}"
    title = line(one.title, 120) or "(untitled)"
    project = f" {line(one.project, 60)}" if one.project else ""
    told = {
        "session": name,
        "title": title,
        "project": line(one.project),
        "updated_at": one.updated_at.isoformat(),
        "messages": one.message_count,
    }
    text = f"- {day}{project} {title} ({one.message_count} messages) [{name}]"
    return Item(text, told)


def meta(memory: Memory, given: Given) -> Answer:
    """What is known of a session."""
    known = _facts(given)
    one, zone = known.session, memory.zone
    rows = {
        "session": f"{one.agent}:{one.session_id}",
        "title": line(one.title, 200),
        "project": line(one.project),
        "folder": line(one.cwd),
        "branch": line(one.branch),
        "model": line(one.model),
        "began": f"{one.created_at.astimezone(zone):%Y-%m-%d %H:%M}",
        "last": f"{one.updated_at.astimezone(zone):%Y-%m-%d %H:%M}",
        "messages": str(one.message_count),
        "subagents": str(len(known.subagents) or ""),
    }
    items = [
        Item(f"{name}: {said}", {name: said}) for name, said in rows.items() if said
    ]
    items += [
        Item(f"about: {line(said)}", {"about": line(said)}) for said in known.summary
    ]
    return Answer("What is known of the session", tuple(items))


def messages(memory: Memory, given: Given) -> Answer:
    """A page of what was said."""
    known = _facts(given)
    start, most = given["offset"], given["limit"]
    page = sessions.page(known, offset=start, limit=most, subagent=given["subagent"])
    one = known.session
    name = line(f"{one.agent}:{one.session_id}", 120)
    items = [
        event_item(event, f"{start + place}", MESSAGE_CHARS, memory.zone, place)
        for place, event in enumerate(page.events)
    ]
    head = f"{name}: {len(items)} of {page.total} messages, from {start}"
    has_more = start + len(items) < page.total
    return Answer(
        head if items else f"{name} has {page.total} messages, no more",
        tuple(items),
        {"session": name, "total": page.total, "offset": start},
        lambda done: f"list_messages(session={name}, offset={start + done})",
        has_more,
    )


def _facts(given: Given) -> Facts:
    return sessions.facts(*sessions.find(given["session"]))


TOOLS = (
    Tool(
        "list_sessions",
        "Past conversations, the latest first.",
        listed,
        (Parameter("agent"), Parameter("project"), limit(10, 100), FIRST_TOKEN),
    ),
    Tool(
        "get_session_meta",
        "What is known of one conversation: project, branch, model, times, what it was"
        " about.",
        meta,
        (SESSION,),
    ),
    Tool(
        "list_messages",
        "Read one conversation, a page at a time.",
        messages,
        (
            SESSION,
            Parameter("offset", "integer", default=0, least=0, most=10_000_000),
            limit(10, 100),
            Parameter("subagent", says="a helper's conversation in it"),
        ),
    ),
)
"""What reads conversations."""
