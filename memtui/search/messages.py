"""Searching sessions: messages that answer, each with what was said around it (seed 2).

What a person said weighs more than what an assistant said, a turn that used tools more
than one that did not, and a session's title and summary most (decisions §8). Bounds
hold whatever is asked for: 20 hits, 16 messages a window, 1,024 bytes of each.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo

from memtui.errors import SearchError
from memtui.model import hits as model_hits
from memtui.model.events import Event, EventRole, EventType, to_ms
from memtui.model.filters import EVERYTHING, Filters
from memtui.model.hits import (
    MAX_HITS,
    SNIPPET_BYTES,
    WINDOW_MESSAGES,
    MessageHit,
    MessageResult,
    Snippet,
    WindowMessage,
)
from memtui.model.sessions import Session
from memtui.search import (
    message_index,
    message_scoring,
    query_dates,
    recent,
    resolve_filters,
)
from memtui.search import query as search_query
from memtui.search.message_index import (
    CAP,
    ENDLESS,
    Bounds,
    Kind,
    MatchQuery,
    MessageIndex,
    Place,
    Spoken,
    View,
    filling_of,
    number_at,
)
from memtui.search.message_scoring import Corpus, Spot, Weighed
from memtui.search.query import Query
from memtui.search.query_dates import DatedQuery
from memtui.search.snippets import best_line, find_marks, matching_terms
from memtui.store import conversations, database, events, outbox, scopes
from memtui.store import sessions as store_sessions
from memtui.text import analyzer

FEW = 5
"""With fewer messages that hold a word, tools that are called so are found too."""

LATE = 1 << 62
"""Numbers from here on are those of messages that are not indexed yet."""

LATE_CHARS = 100_000
"""How much of such a message is read, in characters."""

Weights = Mapping[int, float]
"""What a word is worth, by who said it (``said.Kind``)."""


class Looked:
    """What was looked up: the messages that hold some of the words."""

    def __init__(self, asked: Sequence[MatchQuery], *, with_tools: bool) -> None:
        self.asked, self._with_tools = list(asked), with_tools
        self.held: dict[int, int] = {}
        self.places: dict[int, Place] = {}
        self.common: list[str] = []
        self._counts = [0] * len(asked)
        self._messages = self._size = self._threads = 0

    def take(self, db: View, bounds: Bounds, quoted: Sequence[str]) -> None:
        """Take what the index finds.

        Args:
            db: The index.
            bounds: Which messages may be found.
            quoted: Terms of which each must be there.
        """
        found = message_index.find(db, self.asked, bounds)
        if quoted:
            among = message_index.all_of(db, quoted, bounds)
            mine = self._mask(frozenset(quoted))
            found.held = {number: found.held.get(number, 0) | mine for number in among}
        self._counts = found.counts
        self._messages, self._size = found.messages, found.size
        self._threads = found.threads
        self.common = [self.asked[at].term for at in found.common]
        likely = message_scoring.likeliest(found.held, self.corpus().rarities())
        self.held = {number: found.held[number] for number in likely}
        if self._with_tools or len(likely) < FEW:
            everything = (1 << len(self.asked)) - 1
            self.held |= dict.fromkeys(
                message_index.calls(db, self.asked, bounds), everything
            )
        places = message_index.places(db, self.held)
        self.places = {place.number: place for place in places}

    def take_late(self, late: Sequence[Spoken], query: Query) -> None:
        """Take of messages that are not indexed those that answer.

        Args:
            late: The messages, in the order of time.
            query: What is asked.
        """
        known = {place.event for place in self.places.values()}
        everything = (1 << len(self.asked)) - 1
        for at, one in enumerate(late, 1):
            event = message_index.to_bytes(one.event_id)
            if one.kind is None or event in known:
                continue
            is_call = one.kind is Kind.TOOL and not self._with_tools
            text = one.tool if is_call else one.text[:LATE_CHARS]
            # Without a word to look up no message is weighed against the others.
            if not self.asked and not query.matches(text):
                continue
            terms = analyzer.terms(text)
            held = self._mask(frozenset(terms))
            if one.kind is not Kind.TOOL:
                self._messages += 1
                self._size += len(terms)
            is_held = held == everything if is_call else held or not self.asked
            if not is_held:
                continue
            number = LATE + at
            self.held[number] = held
            for word in range(len(self.asked)):
                self._counts[word] += held >> word & 1
            # A conversation of its own: it stands behind all that is indexed.
            self.places[number] = Place(
                number,
                event,
                -one.session,
                at,
                one.kind,
                len(terms),
                one.session,
                len(terms),
            )

    def _mask(self, terms: frozenset[str]) -> int:
        held = 0
        for at, word in enumerate(self.asked):
            is_held = word.term in terms or (
                bool(word.begun) and any(term.startswith(word.begun) for term in terms)
            )
            held |= is_held << at
        return held

    def corpus(self) -> Corpus:
        """What the messages are weighed against."""
        return Corpus(self._counts, self._messages, self._size, max(self._threads, 1))

    def spots(self, weights: Weights) -> list[Spot]:
        """The messages as they are weighed."""
        return [
            Spot(
                place.number,
                place.thread,
                place.place,
                place.size,
                self.held[place.number],
                weights[place.kind],
            )
            for place in self.places.values()
        ]


TERMS = 60
"""How many terms of a query are looked up: its first ones."""

READ = 40
"""How many of the likeliest messages are read."""

READ_MORE = 2_000
"""How many are read at most where some of them fall away."""

TAIL = 300
"""How many of the latest messages are read while they are not indexed."""

SPILT = 16 * 3_600
"""So far behind its time, in numbers, a message can stand that shares its moment."""

SCANNED = 5_000
"""How many of the newest messages are read for a phrase that holds no word."""

UNINDEXED = 2_000
"""How many of the newest messages are read while there is no index."""

MISSING = "There is no index of messages yet: the newest of them are read meanwhile."

BROKEN = (
    "The index of messages is broken: until it is made anew, the newest of them are"
    " read."
)

FILLING = "The index of messages is being made, the newest first: {:,} events so far."
BEHIND = "{:,} events are still to be indexed; the latest of them are read."
NO_WORD = 'Type a word to look for. Signs alone are found in quotes: "=>".'
STOP_WORDS = "These words are too common to look up; in quotes they are found."

TOOLS_ASIDE = (
    "What tools answered is not searched (search.with_tools): only their names are."
)

UNLOOKED = "No word to look up: the newest {:,} messages were read."
TOO_COMMON = "Of words that very many messages hold, the newest {:,} were weighed: {}."
log = logging.getLogger(__name__)

KINDS = {
    EventRole.USER: Kind.USER,
    EventRole.ASSISTANT: Kind.ASSISTANT,
    EventRole.SYSTEM: Kind.SYSTEM,
    EventRole.TOOL: Kind.TOOL,
}

ALIKE: Weights = dict.fromkeys(Kind, 1.0)


@dataclass(slots=True)
class RankedMessage:
    """A message that answers."""

    place: Place
    event: Event
    message: float
    """Its own relevance, the nearness of its words included."""
    window: float
    """That of what stands around it."""
    thread: float
    """That of its whole conversation."""
    score: float
    """0 to 1 (decisions §8)."""


@dataclass(slots=True)
class Hearing:
    """What was heard for one query."""

    heard: list[RankedMessage] = field(default_factory=list)
    titles: dict[int, float] = field(default_factory=dict)
    """That of sessions by what they are called and summed up by."""
    unknown: list[str] = field(default_factory=list)
    """The terms that no message holds."""
    notes: list[str] = field(default_factory=list)


class MessageSearcher:
    """Hears messages, through their index or, without one, in the store."""

    def __init__(self, index: MessageIndex, *, with_tools: bool = False) -> None:
        """Remember the index.

        Args:
            index: Of messages.
            with_tools: Whether it holds what tools were told and answered.
        """
        self._index, self._with_tools = index, with_tools

    def hear(
        self,
        query: Query,
        weights: Weights = ALIKE,
        *,
        within: frozenset[int] | None = None,
    ) -> Hearing:
        """The messages that answer a query, in no order; inside ``connected()``.

        Args:
            query: What is asked.
            weights: What a word is worth, by who said it.
            within: The numbers of the sessions that are heard of; None for all that
                the query's filters leave.
        """
        hearing = Hearing()
        begun = {word.terms[-1]: word.prefix for word in query.words}
        looked_up = () if query.has_only_stop_words else query.terms[:TERMS]
        asked = [MatchQuery(term, begun.get(term, "")) for term in looked_up]
        if not asked and not query.phrases:
            hearing.notes.append(STOP_WORDS)
            return hearing
        if query.filters.role is EventRole.TOOL and not self._with_tools:
            hearing.notes.append(TOOLS_ASIDE)
        sessions = scopes.get_sessions(query.filters) if within is None else within
        bounds = _bounds(query, sessions)
        looked = Looked(asked, with_tools=self._with_tools)
        if asked:
            late = self._look_up(looked, query, bounds, hearing)
        else:
            late = message_index.newest(SCANNED)
            hearing.notes.append(UNLOOKED.format(len(late)))
        mine = [one for one in late if _is_within(one, query.filters, bounds)]
        looked.take_late(mine, query)
        self._weigh(looked, query, weights, hearing)
        return hearing

    def _look_up(
        self, looked: Looked, query: Query, bounds: Bounds, hearing: Hearing
    ) -> list[Spoken]:
        """Ask the index; what it does not know is given."""
        if not self._index.exists():
            hearing.notes.append(MISSING)
            return message_index.newest(UNINDEXED)
        # First what is not indexed: it may be while the index is asked.
        runs, waiting = outbox.list_latest_events(TAIL)
        late = message_index.of_runs(runs)[-TAIL:]
        try:
            with self._index.reading() as db:
                looked.take(db, bounds, query.phrase_terms)
                if not (bounds.is_of_moments or query.needs_text):
                    hearing.titles = message_index.titles(
                        db, looked.asked, bounds.sessions
                    )
                filling = filling_of(db)
        except SearchError:
            log.exception("the index of messages could not be asked")
            hearing.notes.append(BROKEN)
            return message_index.newest(UNINDEXED)
        if not filling.is_done:
            hearing.notes.append(FILLING.format(filling.done))
        elif waiting > TAIL:
            hearing.notes.append(BEHIND.format(waiting))
        if looked.common:
            hearing.notes.append(TOO_COMMON.format(CAP, ", ".join(looked.common)))
        return late

    def _weigh(
        self, looked: Looked, query: Query, weights: Weights, hearing: Hearing
    ) -> None:
        spots = looked.spots(weights)
        corpus = looked.corpus()
        sizes = {place.thread: place.thread_size for place in looked.places.values()}
        weighed = message_scoring.weigh(spots, corpus, sizes)
        rarities = dict(
            zip((one.term for one in looked.asked), corpus.rarities(), strict=True)
        )
        counted = zip(looked.asked, corpus.counts, strict=True)
        hearing.unknown = [one.term for one, count in counted if not count]
        whole = sum(rarities.values()) * message_scoring.MOST or 1.0
        bonus = message_scoring.bonuses(query, rarities)
        for place, event in self._read(looked, weighed, query):
            message = weighed.messages.get(place.number, 0.0)
            more = bonus(event.text)
            held = looked.held.get(place.number, 0).bit_count()
            share = held / len(looked.asked) if looked.asked else 1.0
            hearing.heard.append(
                RankedMessage(
                    place,
                    event,
                    message + more,
                    weighed.windows.get(place.number, 0.0) + more,
                    weighed.threads.get(place.thread, 0.0),
                    _score(message / whole, share, query),
                )
            )

    def _read(
        self, looked: Looked, weighed: Weighed, query: Query
    ) -> Iterator[tuple[Place, Event]]:
        """The likeliest messages with their text, those that fall away left out."""
        best = [
            max(d.values(), default=0) or 1 for d in (weighed.messages, weighed.windows)
        ]

        def likely(number: int) -> float:
            own = messages.get(number, 0.0) / best[0]
            return own + windows.get(number, 0.0) / best[1]

        messages, windows = weighed.messages, weighed.windows
        numbers = sorted(looked.places, key=lambda n: (likely(n), n), reverse=True)
        ordered = [looked.places[number] for number in numbers[:READ_MORE]]
        given = 0
        for start in range(0, len(ordered), READ):
            some = ordered[start : start + READ]
            told = events.get(message_index.to_id(place.event) for place in some)
            for place in some:
                event = told.get(message_index.to_id(place.event))
                if event and self._answers(event, query):
                    given += 1
                    yield place, event
            if given >= READ:
                return

    def _answers(self, event: Event, query: Query) -> bool:
        """Whether what of an event may be found answers, as far as its text tells."""
        since, until = query.filters.since, query.filters.until
        if (since and event.timestamp < since) or (until and event.timestamp >= until):
            return False
        if event.event_type is not EventType.TOOL_RESULT or self._with_tools:
            return query.matches(event.text)
        tool = event.metadata.get("tool_name", "")
        return query.matches(tool) and set(analyzer.terms(tool)).issuperset(query.terms)


def _score(of_bound: float, share: float, query: Query) -> float:
    """A message's score (decisions §8); one that holds a phrase is a good one."""
    if not query.words or query.has_only_stop_words:
        return 1.0
    score = min(1.0, of_bound) * share
    return max(score, model_hits.MIN_GOOD) if query.phrases else score


def _bounds(query: Query, sessions: frozenset[int] | None) -> Bounds:
    """What the index is asked within; its times are wider than what was asked."""
    filters = query.filters
    since, until = filters.since, filters.until
    return Bounds(
        sessions=sessions,
        kinds=frozenset([KINDS[filters.role]] if filters.role else []),
        first=number_at(to_ms(since)) if since else 0,
        last=number_at(to_ms(until)) + SPILT if until else ENDLESS,
        with_subagents=filters.with_subagents,
        without=tuple(
            tuple(
                MatchQuery(t, word.prefix if t == word.terms[-1] else "")
                for t in word.terms
            )
            for word in query.excluded
            if analyzer.is_indexed(word.text)
        ),
    )


def _is_within(one: Spoken, filters: Filters, bounds: Bounds) -> bool:
    since, until = filters.since, filters.until
    return (
        (bounds.sessions is None or one.session in bounds.sessions)
        and (not bounds.kinds or one.kind in bounds.kinds)
        and (not since or one.at_ms >= to_ms(since))
        and (not until or one.at_ms < to_ms(until))
        and (bounds.with_subagents or not one.subagent)
    )


def shares(numbers: Iterable[int], query: Query) -> dict[int, float]:
    """How much of a query the title and summary of each session hold, 0 to 1.

    Args:
        numbers: The sessions', in the store.
        query: What is asked.
    """
    known = store_sessions.get_many(numbers)
    return {number: share(one, query) for number, one in known.items()}


def share(session: Session, query: Query) -> float:
    """How much of a query the title and summary of a session hold, 0 to 1."""
    held = matching_terms(f"{session.title}\n{session.summary}", query)
    begun = {word.terms[-1]: word.prefix for word in query.words if word.is_prefix}
    answered = [
        term in held
        or (term in begun and any(one.startswith(begun[term]) for one in held))
        for term in query.terms
    ]
    return sum(answered) / len(answered) if answered else 0.0


def snippet(session: Session, query: Query) -> Snippet:
    """What of its title and summary answers best, a line of it."""
    told = [session.title, *session.summary.splitlines()]
    line = best_line([line for line in told if line.strip()] or [""], query)
    return Snippet(line, tuple(find_marks(line, query)))


BEFORE, AFTER = 4, 4
"""How many messages a window has before the one that answers, and after it."""

WEIGHTS: Weights = {
    Kind.USER: 1.5,
    Kind.ASSISTANT: 1.0,
    Kind.SYSTEM: 1.0,
    Kind.TOOL: 1.0,
}
"""What a word is worth by who said it (decisions §8)."""

USED_TOOLS = 1.3
"""What a turn that used tools is worth, against one that did not."""

TITLED = 0.5
"""What a session's title and summary add to its messages, against their own."""

READ_CHARS = 20_000
"""How much of a long message is looked through for what answers, in characters."""

LEAD_CHARS = 200
"""How much of a long message is shown before what answers, in characters."""

LISTED = 200
"""How many of the newest messages are gone through where no word is looked for."""

OF_NODES = "level:, has: and by: are of summaries, and this looks through messages."


class SessionSearch:
    """Finds messages in all sessions."""

    def __init__(
        self, ears: MessageSearcher, zone: tzinfo, clock: Callable[[], datetime]
    ) -> None:
        """Remember whom to ask.

        Args:
            ears: Of messages.
            zone: The calendar's.
            clock: Tells the time, by which "last week" is meant.
        """
        self._ears, self._zone, self._clock = ears, zone, clock

    def find(
        self,
        text: str,
        *,
        limit: int = MAX_HITS,
        before: int = BEFORE,
        after: int = AFTER,
        is_one_each: bool = False,
        filters: Filters = EVERYTHING,
    ) -> MessageResult:
        """The messages that answer best; any string is legal.

        Blocks for some milliseconds: not for the thread that draws the screen.

        Args:
            text: What was typed, filters included.
            limit: The most hits; never more than 20.
            before: How many messages a window has before the one that answers.
            after: How many after it; a window never has more than 16 in all.
            is_one_each: Whether only the best message of each session is given.
            filters: What is looked through besides.
        """
        began_s = time.perf_counter()
        dated = query_dates.parse(text, self._clock(), self._zone)
        query = search_query.parse(dated.words, self._zone, filters)
        found = MessageResult(text, notes=query.hints)
        wanted = recent.recent_query(query, dated)
        if wanted is None and query.is_empty:
            found = replace(found, notes=(*query.hints, NO_WORD))
        elif query.filters.needs_nodes:
            found = replace(found, notes=(*query.hints, OF_NODES))
        else:
            before = max(0, min(before, WINDOW_MESSAGES - 1))
            after = max(0, min(after, WINDOW_MESSAGES - 1 - before))
            with database.connection():
                query, unknown = resolve_filters.resolve(wanted or query)
                if wanted is not None:
                    ranked, heard = _latest(query), recent.notes(dated)
                    dated = replace(dated, periods=())
                else:
                    hearing = self._ears.hear(query, WEIGHTS)
                    ranked, heard = _ranked(hearing, dated), tuple(hearing.notes)
                if is_one_each:
                    ranked = _one_each(ranked)
                some = ranked[: max(0, min(limit, MAX_HITS))]
                hits = _scored(list(_hits(some, query, before, after)))
            notes = (*query.hints, *unknown, *heard)
            is_listed = wanted is not None
            found = replace(found, hits=hits, notes=notes, is_recent=is_listed)
        times_at = [hit.match.at for hit in found.hits if hit.match]
        found = replace(found, times=dated.describe(times_at))
        return replace(found, took_ms=(time.perf_counter() - began_s) * 1000)


@dataclass(frozen=True, slots=True)
class _Answer:
    """A message that answers, or a session that is only called so."""

    session: int
    worth: float
    event: Event | None
    score: float = 0.0
    """0 to 1, of a message."""


def _scored(hits: Sequence[tuple[float, MessageHit]]) -> tuple[MessageHit, ...]:
    """Hits with a score that falls as what they are worth does."""
    best = max((hit.score for _, hit in hits), default=0.0)
    most = max((worth for worth, _ in hits), default=0.0) or 1.0
    return tuple(replace(hit, score=best * worth / most) for worth, hit in hits)


def _latest(query: Query) -> list[_Answer]:
    """The latest messages, newest first."""
    found = conversations.list_recent_messages(query.filters, LISTED)
    return [_Answer(number, 1.0, event, 1.0) for number, event in found]


def _one_each(answers: Sequence[_Answer]) -> list[_Answer]:
    first: dict[int, _Answer] = {}
    for answer in answers:
        first.setdefault(answer.session, answer)
    return list(first.values())


def _ranked(hearing: Hearing, dated: DatedQuery) -> list[_Answer]:
    """What answers, the best first: messages, and sessions by their titles alone."""
    titled = max(hearing.titles.values(), default=0.0) or 1.0
    named = {
        session: TITLED * score / titled for session, score in hearing.titles.items()
    }
    worth = _worth(hearing, dated)
    answers = [
        _Answer(
            session,
            worth(heard) + named.get(session, 0.0),
            heard.event,
            heard.score,
        )
        for heard in hearing.heard
        for session in [heard.place.session]
    ]
    told = {answer.session for answer in answers}
    answers += [
        _Answer(session, score, None)
        for session, score in named.items()
        if session not in told
    ]
    return sorted(answers, key=lambda one: -one.worth)


def _worth(hearing: Hearing, dated: DatedQuery) -> Callable[[RankedMessage], float]:
    """What a message is worth: itself, what stands around it, and its conversation."""
    heard = hearing.heard
    most = max((one.message for one in heard), default=0.0) or 1.0
    most_around = max((one.window for one in heard), default=0.0) or 1.0
    most_whole = max((one.thread for one in heard), default=0.0) or 1.0

    def worth(one: RankedMessage) -> float:
        own = one.message / most
        if conversations.next_tool(one.place.session, one.event):
            own *= USED_TOOLS
        total = own + one.window / most_around + one.thread / most_whole
        return total * query_dates.BOOST if dated.covers(one.event.timestamp) else total

    return worth


def _hits(
    answers: Sequence[_Answer], query: Query, before: int, after: int
) -> Iterator[tuple[float, MessageHit]]:
    """What is shown of each, with what it is worth."""
    known = store_sessions.get_many(one.session for one in answers)
    heard = [(one.session, one.event) for one in answers if one.event]
    counts = conversations.count_messages_before(heard)
    for one in answers:
        session = known.get(one.session)
        if session is None:
            continue
        if one.event is None:
            yield one.worth, _named(one.session, session, query)
            continue
        event = one.event
        at = counts[event.event_id]
        window = tuple(_window(one.session, event, at, query, before, after))
        of = event.subagent, event.event_id
        yield one.worth, MessageHit(session, *of, at, one.score, window)


def _named(number: int, session: Session, query: Query) -> MessageHit:
    """A session that is only called so, or summed up so: its first message."""
    first = conversations.first_message(number)
    return MessageHit(
        session,
        first.subagent if first else "",
        first.event_id if first else "",
        -1,
        share(session, query),
        (),
        snippet(session, query),
    )


def _window(
    session: int, event: Event, at: int, query: Query, before: int, after: int
) -> Iterator[WindowMessage]:
    """A message and those around it."""
    earlier, later = conversations.messages_around(session, event, before, after)
    place = at - len(earlier)
    for one in (*earlier, event, *later):
        yield _said(session, one, place, query, is_match=one is event)
        # What is no message has the number of the next one.
        place += one.is_message


def _said(
    session: int, event: Event, place: int, query: Query, *, is_match: bool
) -> WindowMessage:
    text = _cut(event.text, query, is_match=is_match)
    tool = event.metadata.get("tool_name", "")
    if event.role is EventRole.ASSISTANT:
        tool = conversations.next_tool(session, event)
    return WindowMessage(
        event_id=event.event_id,
        msg_idx=place,
        role=event.role,
        at=event.timestamp,
        snippet=Snippet(text, _marks(text, query) if is_match else ()),
        is_truncated=text != event.text,
        tool_name=tool,
        is_match=is_match,
    )


def _marks(text: str, query: Query) -> tuple[tuple[int, int], ...]:
    return tuple(find_marks(text, query))


def _cut(text: str, query: Query, *, is_match: bool) -> str:
    """As much of a message as a window shows; of a match from what answers on."""
    if len(text) <= SNIPPET_BYTES and len(text.encode()) <= SNIPPET_BYTES:
        return text
    if not is_match:
        return text[:SNIPPET_BYTES].encode()[:SNIPPET_BYTES].decode(errors="ignore")
    read = text[:READ_CHARS]
    marks = find_marks(read, query)
    start = max(0, marks[0][0] - LEAD_CHARS) if marks else 0
    blank = read.find(" ", start, start + LEAD_CHARS // 2) if start else -1
    start = max(start, blank + 1)
    return (
        text[start : start + SNIPPET_BYTES]
        .encode()[:SNIPPET_BYTES]
        .decode(errors="ignore")
    )
