"""Walks: the contents and the events as replies that fit any budget."""

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import partial

from memtui.memory import replies, times
from memtui.memory.queries.finds import Field
from memtui.memory.replies import Plain, Reply, citations
from memtui.memory.replies.fencing import line as neutral
from memtui.memory.scopes import ALL, Scope
from memtui.memory.times import Period
from memtui.memory.toc import TocLevel, TocLine, TocNode
from memtui.recall import browse, itemising, navigation, seeking
from memtui.recall.accounts import nobody
from memtui.recall.expand import AFTER, BEFORE
from memtui.recall.expand import expand as expanded
from memtui.recall.sessions import NotOne

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
        self._node = partial(itemising.node, zone=zone)

    def get_toc_root(self, *, of: Scope = ALL) -> Reply:
        """The years, newest first."""
        return self.browse_toc(None, limit=navigation.WIDE, of=of)

    def browse_toc(
        self,
        parent_id: str | None,
        *,
        limit: int = navigation.LIMIT,
        token: str | None = None,
        of: Scope = ALL,
    ) -> Reply:
        """A page of a node's children, newest first."""
        page = navigation.browse_toc(parent_id, limit=limit, token=token, of=of)
        place = navigation.place(token)
        begin, lost = place or 0, _lost(token, is_known=place is not None)

        def after(kept: int) -> Plain:
            has_more = page.has_more or kept < len(page.nodes)
            on = str(begin + kept) if has_more else None
            return {"continuation_token": on, "has_more": has_more}

        return Reply(
            "children",
            [self._node(one) for one in page.nodes],
            itemising.node_line,
            notes=lost if page.nodes else (*lost, "Nothing is here."),
            after=after,
            ahead=page.has_more,
        )

    def get_node(self, node_id: str, *, of: Scope = ALL) -> Reply:
        """A node: what it says, each bullet with its grips, then its children."""
        kept = navigation.part(node_id, of)
        if kept is None:
            note = A_GRIP if node_id.startswith(("grip:", "evt:")) else NO_NODE
            return Reply("parts", (), itemising.part_line, notes=(note,))
        notes = (LEFT_OUT.format(of, kept.hidden),) if kept.hidden else ()
        return replace(self.told_of(kept.node, of=of), notes=notes)

    def told_of(self, node: TocNode, *, of: Scope = ALL) -> Reply:
        """The same of a node that was found, in whichever version."""
        page = navigation.browse_toc(node.node_id, limit=navigation.WIDE, of=of)
        is_leaf = node.level is TocLevel.SEGMENT
        about: Plain = {
            "node_id": node.node_id,
            "level": node.level.value,
            "title": neutral(node.title),
            "headline": neutral(node.headline),
            "status": node.status.value,
            "version": node.version,
            "start": itemising.clock(node.start_time, self._zone),
            "end": itemising.clock(node.end_time, self._zone),
            "keywords": [neutral(word) for word in node.words],
            **({"surprise": browse.surprise(node.node_id)} if is_leaf else {}),
            "bullets": len(node.bullets),
            "children": len(page.nodes),
        }
        lead = f"{about['title']} ({about['status']}): {', '.join(about['keywords'])}"
        parts = [itemising.bullet(one) for one in node.bullets]
        parts += [self._node(one) for one in page.nodes]
        how = replies.MORE
        if page.nodes:
            how += f"; browse_toc {node.node_id} pages through its children"
        return Reply("parts", parts, itemising.part_line, about, (lead,), how=how)

    def get_events(
        self,
        start: datetime | None = None,
        end: datetime | None = None,
        *,
        limit: int = navigation.EVENTS,
        token: str | None = None,
        of: Scope = ALL,
        session: str = "",
    ) -> Reply:
        """A page of events of a stretch of time, oldest first."""
        try:
            page = navigation.get_events(
                start, end, limit=limit, token=token, of=of, session=session
            )
        except NotOne as error:
            return nobody("events", error)
        lost = _lost(token, is_known=not token or navigation.is_seen(token))

        def after(kept: int) -> Plain:
            has_more = page.has_more or kept < len(page.events)
            last = page.events[kept - 1].event_id if kept else token
            return {
                "continuation_token": last if has_more else None,
                "has_more": has_more,
            }

        return Reply(
            "events",
            [itemising.event(one, self._zone) for one in page.events],
            itemising.dated_event_line,
            notes=lost if page.events else (*lost, "Nothing was said then."),
            after=after,
            ahead=page.has_more,
        )

    def events_when(
        self,
        when: str = "",
        *,
        limit: int = navigation.EVENTS,
        token: str | None = None,
        of: Scope = ALL,
        session: str = "",
    ) -> Reply:
        """A page of events of a time in words, oldest first; of all without one.

        Of several times the first one counts; where none is understood, the reply is
        empty and says so.
        """
        read = times.meant(when, self._clock(), self._zone)
        if when.strip() and not read:
            return Reply("events", (), itemising.dated_event_line, notes=(NO_TIME,))
        start, end = (read[0].start, read[0].end) if read else (None, None)
        found = self.get_events(
            start, end, limit=limit, token=token, of=of, session=session
        )
        said, why = [neutral(one.said) for one in read[:1]], found.notes
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
            return Reply("events", (), itemising.event_line, notes=(note,))
        told = [
            itemising.event(e, self._zone, about=found.grip.excerpt, most=EXCERPT_CHARS)
            | {"is_excerpt": True}
            for e in found.excerpt_events
        ]
        ahead, behind = found.events_before[::-1], found.events_after
        for place in range(max(len(ahead), len(behind))):
            told += [
                itemising.event(side[place], self._zone) | {"place": way * (place + 1)}
                for side, way in ((ahead, -1), (behind, 1))
                if place < len(side)
            ]
        about: Plain = {"grip": itemising.grip(found.grip, self._zone)}
        if found.session:
            about["session"] = itemising.session(found.session, self._zone)
        lead = itemising.session_line(about["session"]) if found.session else ""
        how = f"{replies.MORE}, or for fewer before and after"
        return Reply("events", told, _placed_line, about, (lead,), how=how)

    def search_node(
        self,
        node_id: str,
        query: str,
        *,
        limit: int = navigation.LIMIT,
        fields: Collection[Field] = seeking.ALL_FIELDS,
    ) -> Reply:
        """The parts of one node that answer, the best first."""
        found = seeking.search_node(
            node_id, query, self._zone, limit=limit, fields=fields
        )
        told = [
            {
                "score": one.score,
                "field": one.field.value,
                "text": neutral(one.text),
                "grip_ids": [citations.of_grip(g) for g in one.grip_ids],
                "node_id": citations.of_node(node_id),
            }
            for one in found
        ]
        notes = () if found else (NOTHING,)
        return Reply("finds", told, itemising.held_line, notes=notes)

    def search_children(
        self,
        parent_id: str | None,
        query: str,
        *,
        limit: int = navigation.LIMIT,
        fields: Collection[Field] = seeking.ALL_FIELDS,
        of: Scope = ALL,
    ) -> Reply:
        """The children of a node that answer, the best first."""
        page = seeking.search_children(
            parent_id, query, self._zone, limit=limit, fields=fields, of=of
        )
        return self._held(page)

    def by_keyword(
        self,
        keyword: str,
        *,
        under: str | None = None,
        limit: int = navigation.LIMIT,
        of: Scope = ALL,
    ) -> Reply:
        """The segments whose keywords hold a word, newest first."""
        page = seeking.by_keyword(keyword, under=under, limit=limit, of=of)
        held = self._held(page)
        # All hold it: the newest come first, and no score says a thing.
        return replace(held, items=[one | {"score": None} for one in held.items])

    def _held(self, page: seeking.HeldPage) -> Reply:
        return Reply(
            "nodes",
            [itemising.held(one, self._zone) for one in page.nodes],
            itemising.held_line,
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
        read = times.meant(when, self._clock(), self._zone)
        found: dict[str, TocLine] = {}
        for one in read:
            lines = navigation.in_range(one.start, one.end, self._zone, of=of)
            found |= {line.node_id: line for line in lines}
        notes = [neutral(one.said) for one in read] or [NO_TIME]
        if read and not found:
            notes.append("Nothing is kept of it.")
        told = [self._node(one) for one in found.values()]
        about = {"understood": [_understood(one) for one in read]}
        return Reply("nodes", told, itemising.node_line, about, notes=notes)


def _lost(token: str | None, *, is_known: bool) -> tuple[str, ...]:
    """What is said where a page was to go on with what is no token."""
    return (NO_TOKEN,) if token and not is_known else ()


def _placed_line(told: Plain) -> str:
    way = f"{told['place']:+d} " if "place" in told else ""
    return f"{way}{itemising.event_line(told)}"


def _understood(one: Period) -> Plain:
    start, end = (at.isoformat() if at else None for at in (one.start, one.end))
    return {"said": neutral(one.said), "start": start, "end": end}
