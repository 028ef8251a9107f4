"""Tools that walk the table of contents, down to the words a bullet rests on."""

from collections.abc import Sequence
from datetime import tzinfo

from memtui.agents.serving.answers import Answer, Item, line
from memtui.agents.serving.memory import Memory
from memtui.agents.serving.parameters import Given, Parameter
from memtui.agents.serving.tools import (
    FIRST_TOKEN,
    Tool,
    Unknown,
    limit,
    line_of,
    offset,
)
from memtui.memory.events import Event
from memtui.memory.grips import Expansion
from memtui.memory.toc import Bullet, TocLevel, TocLine, TocNode
from memtui.recall import browse
from memtui.recall.expand import AFTER, BEFORE
from memtui.recall.expand import expand as expanded

EVENT_CHARS = 700
"""How much of an event around a grip is told, in characters."""

OWN_CHARS = 2_000
"""How much of an event a grip is in is told, in characters."""

LEAD_CHARS = 200
"""How much of a long event is told before what it is cited for, in characters."""

NOTHING_KEPT = "Nothing is kept yet. A person brings past sessions in: memtui import"

_NODE = Parameter("node_id", says="as in toc:day:2025-03-14", is_required=True)


def node_line(one: TocLine, zone: tzinfo) -> Item:
    """A node as one line of a list."""
    said = line(one.headline or one.title, 160)
    when = ""
    if one.level is TocLevel.SEGMENT:
        when = f" {one.start_time.astimezone(zone):%H:%M}"
    count = f" ({one.tally.segments} segments)" if one.tally.segments > 1 else ""
    live = " (going on)" if one.is_live else ""
    told = {
        "node_id": one.node_id,
        "level": one.level.value,
        "title": line(one.title),
        "headline": said,
        "segments": one.tally.segments,
    }
    return Item(f"- {one.node_id}{when} {said}{count}{live}", told)


def bullet_line(bullet: Bullet) -> Item:
    """A bullet with its citation."""
    grip = f" [{bullet.grip_ids[0]}]" if bullet.grip_ids else ""
    doubt = "" if bullet.stands else " (no source says it)"
    said = line(bullet.text)
    told = {
        "text": said,
        "grip_ids": list(bullet.grip_ids),
        "support": bullet.support.value,
    }
    return Item(f"* {said}{doubt}{grip}", told)


def node_items(node: TocNode, zone: tzinfo) -> list[Item]:
    """A node's own words: what it is about, its bullets."""
    about = line(node.headline) if node.headline != node.title else ""
    words = ", ".join(map(line, node.words))
    projects = ", ".join(map(line, node.projects))
    head = [f"# {line(node.title)}", about, words and f"keywords: {words}"]
    head += [projects and f"projects: {projects}"]
    told = {"title": line(node.title), "headline": about, "keywords": [*node.words]}
    top = Item("\n".join(filter(None, head)), told)
    return [top, *map(bullet_line, node.bullets)]


def root(memory: Memory, given: Given) -> Answer:
    """The years, newest first."""
    years = browse.years()
    if not years:
        return Answer(NOTHING_KEPT)
    items = [node_line(one, memory.zone) for one in years]
    return Answer(f"{len(years)} years, newest first", tuple(items))


def get(memory: Memory, given: Given) -> Answer:
    """A node with its bullets and what is under it."""
    node = _known(given["node_id"])
    children = browse.children(node.node_id)
    items = node_items(node, memory.zone)
    items += [node_line(one, memory.zone) for one in children]
    under = f", {len(children)} under it" if children else ""
    head = f"{node.node_id} version {node.version}, {node.status.value}{under}"
    if node.level is TocLevel.SEGMENT:
        head = f"{head}, {_span(node, memory.zone)}"
    about = {"node_id": node.node_id, "version": node.version}

    def go_on(shown: int) -> str:
        done = max(0, shown - 1 - len(node.bullets))
        return f"browse_toc(node_id={node.node_id}, token={done})"

    return Answer(head, tuple(items), about, go_on if children else None)


def page(memory: Memory, given: Given) -> Answer:
    """A page of what is under a node, newest first."""
    name, start, most = given["node_id"], offset(given), given["limit"]
    if name:
        found = browse.children(_known(name).node_id, offset=start, limit=most + 1)
    else:
        found = browse.years(offset=start, limit=most + 1)
    return paged(
        [node_line(one, memory.zone) for one in found],
        start,
        most,
        f"browse_toc(node_id={name}, " if name else "browse_toc(",
        f"under {browse.ours(name)}" if name else "years",
    )


def paged(items: Sequence[Item], start: int, most: int, call: str, of: str) -> Answer:
    """A page of a list of which one more was read than is told.

    Args:
        items: What was read.
        start: Where the page begins.
        most: How long it is.
        call: The call that goes on, up to its token.
        of: What they are.
    """
    shown = items[:most]
    has_more = len(items) > most
    told = {"next_token": str(start + most)} if has_more else {}
    head = f"{len(shown)} {of}, from {start}" if shown else f"No more {of}"
    return Answer(
        head,
        tuple(shown),
        told,
        lambda done: f"{call}token={start + done})",
        has_more,
    )


def expand(memory: Memory, given: Given) -> Answer:
    """A grip's events, and those around them."""
    found = expanded(
        named(given["grip_id"]), before=given["before"], after=given["after"]
    )
    if found.grip is None:
        told = {"grip_id": None}
        return Answer("No such grip: copy its id whole, as in grip:…:…", about=told)
    items = _events(found, memory.zone)
    session = found.session
    where = f" in session {line_of(session.session_id)}" if session else ""
    day = f"{found.grip.timestamp.astimezone(memory.zone):%Y-%m-%d}"
    head = f"{found.grip.grip_id}, {day}{where}; > marks the words cited"
    about = {"grip_id": found.grip.grip_id, "node_id": found.grip.toc_node_id}
    return Answer(head, tuple(items), about)


def _events(found: Expansion, zone: tzinfo) -> list[Item]:
    """The events of a grip: its own first, then the nearest; told in their order."""
    quote = found.grip.excerpt if found.grip else ""
    own = [
        event_item(one, ">", OWN_CHARS, zone, place, quote)
        for place, one in enumerate(found.excerpt_events)
    ]
    before = [
        event_item(one, " ", EVENT_CHARS, zone, -place)
        for place, one in enumerate(reversed(found.events_before), 1)
    ]
    after = [
        event_item(one, " ", EVENT_CHARS, zone, len(own) + place)
        for place, one in enumerate(found.events_after)
    ]
    near = [one for pair in zip(before, after, strict=False) for one in pair]
    rest = before[len(near) // 2 :] + after[len(near) // 2 :]
    if not own:
        own = [Item(f"“{line(quote)}”", {"excerpt": line(quote)})]
    return [*own, *near, *rest]


def event_item(
    event: Event, mark: str, most: int, zone: tzinfo, place: int = 0, quote: str = ""
) -> Item:
    """An event on one line; of a long one what it is cited for, or its beginning.

    Args:
        event: The event.
        mark: What it begins with.
        most: How much of it is told, in characters.
        zone: The store's time zone.
        place: Where it stands among others.
        quote: What it is cited for.
    """
    at = event.timestamp.astimezone(zone)
    whole = event.text or event.event_type.value
    start = max(0, whole.find(quote) - LEAD_CHARS) if quote else 0
    is_later = start and len(whole) > most
    said = line(whole[start:] if is_later else whole, most)
    told = {
        "event_id": event.event_id,
        "at": event.timestamp.isoformat(),
        "role": event.role.value,
        "text": said,
    }
    lead = "…" if is_later else ""
    return Item(f"{mark} {at:%H:%M:%S} {event.role.value}: {lead}{said}", told, place)


def named(name: str) -> str:
    """An id without what stood around it where it was copied."""
    return name.strip(" \t\n[]()<>\"'`.,;:")


def _span(node: TocNode, zone: tzinfo) -> str:
    start, end = node.start_time.astimezone(zone), node.end_time.astimezone(zone)
    return f"{start:%Y-%m-%d %H:%M} to {end:%H:%M}"


def _known(node_id: str) -> TocNode:
    node = browse.node(named(node_id))
    if node is None:
        raise Unknown(
            f"there is no node {line_of(node_id)}; get_toc_root lists the years"
        )
    return node


TOOLS = (
    Tool(
        "get_toc_root",
        "The years that are kept, newest first: start here when nothing else fits.",
        root,
    ),
    Tool(
        "get_node",
        "A year, month, week, day or segment: bullets with citations, and what is under"
        " it.",
        get,
        (_NODE,),
    ),
    Tool(
        "browse_toc",
        "Page through the children of a node, newest first; the years without one.",
        page,
        (Parameter("node_id"), limit(10, 100), FIRST_TOKEN),
    ),
    Tool(
        "expand_grip",
        "The very words behind a citation, with what was said before and after.",
        expand,
        (
            Parameter("grip_id", is_required=True),
            Parameter("before", "integer", default=BEFORE, least=0, most=20),
            Parameter("after", "integer", default=AFTER, least=0, most=20),
        ),
    ),
)
"""What walks the contents."""
