"""Navigation: the table of contents and what it rests on, as an agent walks through it.

``get_toc_root`` → ``get_node`` / ``browse_toc`` → ``expand_grip``; ``in_range`` and
``get_events`` by time. Ids and tokens are legal whatever they say; what is not there
gives an empty answer.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from functools import partial
from itertools import islice

from memtui.agents import formatting, replies
from memtui.agents.replies import Plain, Reply
from memtui.agents.sessions import nobody
from memtui.errors import MemtuiError
from memtui.model import calendar, citations
from memtui.model.activity import ScopedNode
from memtui.model.events import Event, is_event_id, to_ms
from memtui.model.nodes import TocEntry, TocLevel, TocNode, TocVersion
from memtui.model.scope import ALL, Scope
from memtui.search import query as search_query
from memtui.search import resolve_filters, title_match
from memtui.search.query import Query
from memtui.search.resolve_filters import NotOne
from memtui.search.title_match import Field, Find, Held
from memtui.services import browse, versions
from memtui.services.sources import AFTER, BEFORE
from memtui.services.sources import expand as expanded
from memtui.store import database, scoped_nodes
from memtui.store import events as store_events
from memtui.store import nodes as store_nodes
from memtui.text import analyzer, date_format, dates, stemmer
from memtui.text.dates import Period
from memtui.text.fencing import line as neutral

LIMIT = 10
"""How many nodes or parts are a page unless fewer or more are asked for."""


EVENTS = 50
"""How many events are a page."""


WIDE = 400
"""How many nodes of a level are followed down at most, the newest first."""


_PLACE = re.compile("[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class NodePage:
    """A page of nodes (seed 1)."""

    nodes: tuple[TocEntry, ...] = ()
    continuation_token: str | None = None
    """Where the next page begins; None on the last."""
    has_more: bool = False


@dataclass(frozen=True, slots=True)
class EventPage:
    """A page of events in the order of time."""

    events: tuple[Event, ...] = ()
    continuation_token: str | None = None
    has_more: bool = False


def get_toc_root(*, of: Scope = ALL) -> list[TocEntry]:
    """The years, newest first."""
    return list(browse_toc(None, limit=WIDE, of=of).nodes)


def get_node(node_id: str) -> TocNode | None:
    """The latest version of a node with bullets, grips and children's ids."""
    with database.connection():
        return store_nodes.get(store_nodes.resolve_id(node_id))


def part(node_id: str, of: Scope = ALL) -> ScopedNode | None:
    """A node with no more than what a scope has of it."""
    with database.connection():
        found = store_nodes.get(store_nodes.resolve_id(node_id))
        return scoped_nodes.narrow_node(found, of) if found else None


def browse_toc(
    parent_id: str | None,
    *,
    limit: int = LIMIT,
    token: str | None = None,
    of: Scope = ALL,
) -> NodePage:
    """A page of a node's children, newest first; the years where it is None.

    Args:
        parent_id: Of which node.
        limit: The most nodes.
        token: Where the page begins, as the page before said; what is no token is
            taken for the beginning.
        of: Whose work.
    """
    offset, limit = locate(token) or 0, max(1, limit)
    with database.connection():
        parent = store_nodes.resolve_id(parent_id) if parent_id else None
        found = scoped_nodes.list_children(parent, offset, limit + 1, of)
    has_more = len(found) > limit
    after = str(offset + limit) if has_more else None
    return NodePage(tuple(found[:limit]), after, has_more)


def locate(token: str | None) -> int | None:
    """Where a page of nodes begins by a token; None if it is none."""
    digits = (token or "").strip()
    return int(digits) if _PLACE.fullmatch(digits) else None


def is_seen(token: str | None) -> bool:
    """Whether a token names an event, a page of events having ended with it."""
    with database.connection():
        return bool(_last_seen(token or ""))


def _last_seen(token: str) -> str:
    """The id of the event a token names; also one that is cited, and one forgotten."""
    token = citations.strip(token)
    if is_event_id(token):
        return token
    start = citations.parse_event(token)
    return store_nodes.find_event(start) if start else ""


def get_events(
    start: datetime | None = None,
    end: datetime | None = None,
    *,
    limit: int = EVENTS,
    token: str | None = None,
    of: Scope = ALL,
    session: str = "",
) -> EventPage:
    """A page of events of a stretch of time, oldest first.

    Args:
        start: From when, aware; None from the first one on.
        end: Until before when; None until now.
        limit: The most events.
        token: The id of the last event of the page before, or as it is cited; what
            is no token is taken for the beginning.
        of: Whose work.
        session: Only of the session named by ``[agent:]id`` or how that begins.

    Raises:
        NotOne: There is no such session, or more than one.
    """
    limit = max(1, limit)
    if session:
        agent, session = resolve_filters.find(session)
        of = replace(of, agent=agent)
    with database.connection():
        after = _last_seen(token or "")
        found = store_events.list_in_time(
            to_ms(start) if start else None,
            to_ms(end) if end else None,
            after=after,
            limit=limit + 1,
            scope=of,
            session=session,
        )
    has_more = len(found) > limit
    kept = tuple(found[:limit])
    return EventPage(kept, kept[-1].event_id if has_more else None, has_more)


def in_range(
    start: datetime | None, end: datetime | None, zone: tzinfo, *, of: Scope = ALL
) -> list[TocEntry]:
    """The coarsest nodes that cover a stretch of time and no day besides, newest first.

    A month holds whole weeks, so that days decide (decisions §5): of March the weeks
    that lie in it whole, and the days at its ends. Hours are covered by segments.

    Args:
        start: From when, aware; None from the first one on.
        end: Until before when; None until now.
        zone: The calendar's.
        of: Whose work.
    """
    kept: list[str] = []
    with database.connection():
        partly: Sequence[str] | None = None
        while partly is None or partly:
            names, partly = store_nodes.list_ids_under(partly, of), []
            for name in names:
                first, last = calendar.bounds(name, zone)
                is_segment = calendar.period(name).level is TocLevel.SEGMENT
                if (end and first >= end) or (start and last <= start):
                    continue
                is_within = (not start or first >= start) and (not end or last <= end)
                if is_segment or is_within:
                    kept.append(name)
                else:
                    partly.append(name)
        found = store_nodes.get_entries(kept)
    within = [one for one in found if _overlaps(one, start, end)]
    return sorted(within, key=lambda one: one.start_time, reverse=True)


def _overlaps(line: TocEntry, start: datetime | None, end: datetime | None) -> bool:
    if line.level is not TocLevel.SEGMENT:
        return True
    return (not start or line.end_time >= start) and (not end or line.start_time < end)


READ = 10_000
"""How many segments' keywords are read for a word at most: the newest that may do."""


CUT = (
    "Of the segments that may have it the newest {:,} were looked through: a longer"
    " word, or a node to look under, finds older ones."
)


ALL_FIELDS: frozenset[Field] = frozenset()


@dataclass(frozen=True, slots=True)
class HeldPage:
    """Nodes that answer, the best first."""

    nodes: tuple[Held, ...] = ()
    has_more: bool = False
    note: str = ""
    """What the reader should know of how they were looked for."""


def search_node(
    node_id: str,
    query: str,
    zone: tzinfo,
    *,
    limit: int = LIMIT,
    fields: Collection[Field] = ALL_FIELDS,
) -> list[Find]:
    """The parts of one node that answer, the best first; with their grips.

    Args:
        node_id: Of which node; an unknown one has none.
        query: Any string.
        zone: The calendar's.
        limit: The most parts.
        fields: Which parts are looked through; all of them where empty.
    """
    asked = search_query.read(query, zone)
    node = get_node(node_id)
    if node is None or asked.is_empty:
        return []
    return title_match.of(node, asked, frozenset(fields))[: max(1, limit)]


def search_children(
    parent_id: str | None,
    query: str,
    zone: tzinfo,
    *,
    limit: int = LIMIT,
    fields: Collection[Field] = ALL_FIELDS,
    of: Scope = ALL,
) -> HeldPage:
    """The children of a node that answer, the best first, each with what does.

    Args:
        parent_id: Of which node; the years where it is None.
        query: Any string.
        zone: The calendar's.
        limit: The most children.
        fields: Which parts are looked through; all of them where empty.
        of: Whose work.
    """
    asked = search_query.read(query, zone)
    if asked.is_empty:
        return HeldPage()
    with database.connection():
        above = [store_nodes.resolve_id(parent_id)] if parent_id else None
        names = store_nodes.list_ids_under(above, of)[:WIDE]
        held = _held(store_nodes.get_many(names), asked, frozenset(fields))
    return HeldPage(tuple(held[: max(1, limit)]), len(held) > limit)


def by_keyword(
    keyword: str,
    *,
    under: str | None = None,
    limit: int = LIMIT,
    of: Scope = ALL,
) -> HeldPage:
    """The segments whose keywords hold a word, newest first.

    The segments themselves are asked: a node above them keeps but the weightiest of
    their keywords (decisions §5).

    Args:
        keyword: One word or more; in any form.
        under: Under which node; under all of them where it is None.
        limit: The most segments.
        of: Whose work.
    """
    wanted = {*analyzer.needed(keyword[: search_query.CAP_CHARS])}
    if not wanted:
        return HeldPage()
    with database.connection():
        begun = [stemmer.heads(term) for term in wanted]
        above = store_nodes.resolve_id(under) if under else None
        said = store_nodes.read_keywords(above, of, begun=begun)
        found = dict(islice(_about(islice(said, READ), wanted), max(1, limit) + 1))
        is_cut = len(found) <= max(1, limit) and next(said, None) is not None
        lines = {one.node_id: one for one in store_nodes.get_entries([*found])}
    held = [
        Held(lines[name], (Find(Field.KEYWORDS, " · ".join(carried), 1.0),), 1.0)
        for name, carried in found.items()
        if name in lines
    ]
    note = CUT.format(READ) if is_cut else ""
    return HeldPage(tuple(held[: max(1, limit)]), len(held) > limit, note)


def _about(
    said: Iterable[tuple[str, list[str]]], wanted: set[str]
) -> Iterator[tuple[str, list[str]]]:
    """Those whose keywords hold all of the terms between them."""
    terms: dict[str, set[str]] = {}
    for name, keywords in said:
        for word in keywords:
            if word not in terms:
                terms[word] = wanted.intersection(analyzer.terms(word))
        if len(set[str]().union(*(terms[word] for word in keywords))) == len(wanted):
            yield name, keywords


def _held(
    nodes: Sequence[TocNode], asked: Query, fields: frozenset[Field]
) -> list[Held]:
    lines = {
        one.node_id: one for one in store_nodes.get_entries([n.node_id for n in nodes])
    }
    held = [
        Held(lines[node.node_id], tuple(found), title_match.score(node, asked, fields))
        for node in nodes
        if (found := title_match.of(node, asked, fields))
    ]
    return sorted(held, key=lambda one: (-one.score, -one.line.start_time.timestamp()))


EXCERPT_CHARS = 900
"""How much of an event that a grip quotes is told, in characters."""


NO_NODE = "There is no such node. Start from the top: get_toc_root."


NO_GRIP = "There is no such grip or event. Search again: ids come from answers."


A_GRIP = "That is no node but a citation: expand_grip opens it."


A_NODE = "That is no citation but a node: get_node opens it."


NOTHING = "Nothing answers. Fewer or other words find more; so does browsing."


NO_TOKEN = "There is no such token: this is the beginning."


LEFT_OUT = "Bullets that rest on other work than {} are left out: {}."


NO_TIME = 'No time was understood. Try "last week", "in March", "2025-03-14".'


class Walks:
    """Answers what is asked of the table of contents and of events."""

    def __init__(self, zone: tzinfo, clock: Callable[[], datetime]) -> None:
        """Remember the calendar.

        Args:
            zone: The calendar's.
            clock: Tells the time, by which "last week" is meant.
        """
        self._zone, self._clock = zone, clock
        self._node = partial(formatting.node, zone=zone)

    def get_toc_root(self, *, of: Scope = ALL) -> Reply:
        """The years, newest first."""
        return self.browse_toc(None, limit=WIDE, of=of)

    def browse_toc(
        self,
        parent_id: str | None,
        *,
        limit: int = LIMIT,
        token: str | None = None,
        of: Scope = ALL,
    ) -> Reply:
        """A page of a node's children, newest first."""
        page = browse_toc(parent_id, limit=limit, token=token, of=of)
        place = locate(token)
        begin, lost = place or 0, _lost(token, is_known=place is not None)

        def after(kept: int) -> Plain:
            has_more = page.has_more or kept < len(page.nodes)
            on = str(begin + kept) if has_more else None
            return {"continuation_token": on, "has_more": has_more}

        return Reply(
            "children",
            [self._node(one) for one in page.nodes],
            formatting.node_line,
            notes=lost if page.nodes else (*lost, "Nothing is here."),
            after=after,
            ahead=page.has_more,
        )

    def get_node(self, node_id: str, *, of: Scope = ALL) -> Reply:
        """A node: what it says, each bullet with its grips, then its children."""
        kept = part(node_id, of)
        if kept is None:
            note = A_GRIP if node_id.startswith(("grip:", "evt:")) else NO_NODE
            return Reply("parts", (), formatting.part_line, notes=(note,))
        notes = (
            (LEFT_OUT.format(of, kept.hidden_bullets),) if kept.hidden_bullets else ()
        )
        return replace(self.told_of(kept.node, of=of), notes=notes)

    def told_of(self, node: TocNode, *, of: Scope = ALL) -> Reply:
        """The same of a node that was found, in whichever version."""
        page = browse_toc(node.node_id, limit=WIDE, of=of)
        is_leaf = node.level is TocLevel.SEGMENT
        about: Plain = {
            "node_id": node.node_id,
            "level": node.level.value,
            "title": neutral(node.title),
            "headline": neutral(node.headline),
            "status": node.status.value,
            "version": node.version,
            "start": date_format.iso_minute(node.start_time, self._zone),
            "end": date_format.iso_minute(node.end_time, self._zone),
            "keywords": [neutral(word) for word in node.words],
            **({"surprise": browse.surprise(node.node_id)} if is_leaf else {}),
            "bullets": len(node.bullets),
            "children": len(page.nodes),
        }
        lead = f"{about['title']} ({about['status']}): {', '.join(about['keywords'])}"
        parts = [formatting.bullet(one) for one in node.bullets]
        parts += [self._node(one) for one in page.nodes]
        how = replies.MORE
        if page.nodes:
            how += f"; browse_toc {node.node_id} pages through its children"
        return Reply("parts", parts, formatting.part_line, about, (lead,), how=how)

    def get_events(
        self,
        start: datetime | None = None,
        end: datetime | None = None,
        *,
        limit: int = EVENTS,
        token: str | None = None,
        of: Scope = ALL,
        session: str = "",
    ) -> Reply:
        """A page of events of a stretch of time, oldest first."""
        try:
            page = get_events(
                start, end, limit=limit, token=token, of=of, session=session
            )
        except NotOne as error:
            return nobody("events", error)
        lost = _lost(token, is_known=not token or is_seen(token))

        def after(kept: int) -> Plain:
            has_more = page.has_more or kept < len(page.events)
            last = page.events[kept - 1].event_id if kept else token
            return {
                "continuation_token": last if has_more else None,
                "has_more": has_more,
            }

        return Reply(
            "events",
            [formatting.event(one, self._zone) for one in page.events],
            formatting.dated_event_line,
            notes=lost if page.events else (*lost, "Nothing was said then."),
            after=after,
            ahead=page.has_more,
        )

    def events_when(
        self,
        when: str = "",
        *,
        limit: int = EVENTS,
        token: str | None = None,
        of: Scope = ALL,
        session: str = "",
    ) -> Reply:
        """A page of events of a time in words, oldest first; of all without one.

        Of several times the first one counts; where none is understood, the reply is
        empty and says so.
        """
        read = dates.read_exact(when, self._clock(), self._zone)
        if when.strip() and not read:
            return Reply("events", (), formatting.dated_event_line, notes=(NO_TIME,))
        start, end = (read[0].start, read[0].end) if read else (None, None)
        found = self.get_events(
            start, end, limit=limit, token=token, of=of, session=session
        )
        said, why = [neutral(one.label) for one in read[:1]], found.notes
        # Why there is nothing comes before how the time was understood.
        return replace(found, notes=[*said, *why] if found.items else [*why, *said])

    def expand_grip(
        self, grip_id: str, *, before: int = BEFORE, after: int = AFTER
    ) -> Reply:
        """The events a citation stands for, then those around them, the nearest first.

        An unknown one gives an empty reply (decisions §6).
        """
        found = expanded(grip_id, before=before, after=after)
        if found.grip is None:
            note = A_NODE if grip_id.startswith("toc:") else NO_GRIP
            return Reply("events", (), formatting.event_line, notes=(note,))
        told = [
            formatting.event(
                e, self._zone, about=found.grip.excerpt, most=EXCERPT_CHARS
            )
            | {"is_excerpt": True}
            for e in found.excerpt_events
        ]
        ahead, behind = found.events_before[::-1], found.events_after
        for place in range(max(len(ahead), len(behind))):
            told += [
                formatting.event(side[place], self._zone) | {"place": way * (place + 1)}
                for side, way in ((ahead, -1), (behind, 1))
                if place < len(side)
            ]
        about: Plain = {"grip": formatting.grip(found.grip, self._zone)}
        if found.session:
            about["session"] = formatting.session(found.session, self._zone)
        lead = formatting.session_line(about["session"]) if found.session else ""
        how = f"{replies.MORE}, or for fewer before and after"
        return Reply("events", told, _placed_line, about, (lead,), how=how)

    def search_node(
        self,
        node_id: str,
        query: str,
        *,
        limit: int = LIMIT,
        fields: Collection[Field] = ALL_FIELDS,
    ) -> Reply:
        """The parts of one node that answer, the best first."""
        found = search_node(node_id, query, self._zone, limit=limit, fields=fields)
        told = [
            {
                "score": one.score,
                "field": one.field.value,
                "text": neutral(one.text),
                "grip_ids": [citations.cite_grip(g) for g in one.grip_ids],
                "node_id": citations.cite_node(node_id),
            }
            for one in found
        ]
        notes = () if found else (NOTHING,)
        return Reply("finds", told, formatting.held_line, notes=notes)

    def search_children(
        self,
        parent_id: str | None,
        query: str,
        *,
        limit: int = LIMIT,
        fields: Collection[Field] = ALL_FIELDS,
        of: Scope = ALL,
    ) -> Reply:
        """The children of a node that answer, the best first."""
        page = search_children(
            parent_id, query, self._zone, limit=limit, fields=fields, of=of
        )
        return self._held(page)

    def by_keyword(
        self,
        keyword: str,
        *,
        under: str | None = None,
        limit: int = LIMIT,
        of: Scope = ALL,
    ) -> Reply:
        """The segments whose keywords hold a word, newest first."""
        page = by_keyword(keyword, under=under, limit=limit, of=of)
        held = self._held(page)
        # All hold it: the newest come first, and no score says a thing.
        return replace(held, items=[one | {"score": None} for one in held.items])

    def _held(self, page: HeldPage) -> Reply:
        return Reply(
            "nodes",
            [formatting.held(one, self._zone) for one in page.nodes],
            formatting.held_line,
            notes=[page.note] if page.note else () if page.nodes else (NOTHING,),
            more="a larger limit gives more",
            ahead=page.has_more,
        )

    def in_time(self, when: str, *, of: Scope = ALL) -> Reply:
        """The coarsest nodes that cover a time in words, newest first.

        Args:
            when: "last week", "in March", "Q1 2025", "2025-03-14", "since Monday" ….
            of: Whose work.
        """
        read = dates.read_exact(when, self._clock(), self._zone)
        found: dict[str, TocEntry] = {}
        for one in read:
            lines = in_range(one.start, one.end, self._zone, of=of)
            found |= {line.node_id: line for line in lines}
        notes = [neutral(one.label) for one in read] or [NO_TIME]
        if read and not found:
            notes.append("Nothing is kept of it.")
        told = [self._node(one) for one in found.values()]
        about = {"understood": [_understood(one) for one in read]}
        return Reply("nodes", told, formatting.node_line, about, notes=notes)


def _lost(token: str | None, *, is_known: bool) -> tuple[str, ...]:
    """What is said where a page was to go on with what is no token."""
    return (NO_TOKEN,) if token and not is_known else ()


def _placed_line(told: Plain) -> str:
    way = f"{told['place']:+d} " if "place" in told else ""
    return f"{way}{formatting.event_line(told)}"


def _understood(one: Period) -> Plain:
    start, end = (at.isoformat() if at else None for at in (one.start, one.end))
    return {"said": neutral(one.label), "start": start, "end": end}


NO_VERSION = "Not summarised yet: that happens by itself, as soon as a memtui works."


class Editions(Walks):
    """Answers what is asked of a node's versions, beside what is shown of it."""

    def list_versions(self, node_id: str) -> Reply:
        """The versions of a node, the latest first."""
        found = versions.history(node_id)
        if found is None:
            return Reply("versions", (), edition_line, notes=(NO_NODE,))
        notes = [] if found.versions else [NO_VERSION]
        if found.requested_at:
            at = date_format.iso_minute(found.requested_at, self._zone)
            notes.append(f"A new one was asked for at {at} and is not made yet.")
        told = [edition(one, self._zone) for one in found.versions]
        node = self._node(found.entry)
        lead = (formatting.node_line(node),)
        return Reply("versions", told, edition_line, {"node": node}, lead, notes)

    def get_version(self, node_id: str, version: int) -> Reply:
        """A version of a node, whole, whether it is shown or not.

        Raises:
            MemtuiError: There is no such node or version.
        """
        found = versions.edition(node_id, version)
        if found is None:
            raise MemtuiError(
                f"{node_id} has no version {version}; see those there are: memtui"
                f" versions {node_id}"
            )
        why = f", rejected: {neutral(found.rejection)}" if found.rejection else ""
        return replace(self.told_of(found), notes=(f"Version {version}{why}.",))


def edition(one: TocVersion, zone: tzinfo) -> Plain:
    """A version of a list."""
    told: Plain = {
        "version": one.version,
        "at": date_format.iso_minute(one.created_at, zone),
        "by": neutral(one.generation.model or one.summarizer),
        "headline": neutral(one.headline),
        "supported": one.supported,
        "weak": one.weak,
        "unsupported": one.unsupported,
    }
    told |= {"is_shown": True} if one.is_shown else {}
    told |= {"is_pinned": True} if one.is_pinned else {}
    return told | ({"rejected": neutral(one.rejection)} if one.rejection else {})


def edition_line(told: Plain) -> str:
    """The same as a line."""
    stands = ["pinned" if "is_pinned" in told else "shown"] * ("is_shown" in told)
    stands += [f"rejected: {told['rejected']}"] if "rejected" in told else []
    stands += [f"{told[name]} {name}" for name in ("supported", "weak", "unsupported")]
    said = f"version {told['version']} {told['at']} {told['by']}"
    return f"{said} ({'; '.join(stands)}): {told['headline']}"
