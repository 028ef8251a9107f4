"""Quoting: what answers, in the words it was said in, many short quotes at once.

First the search over everything tells which sessions answer; then these few are looked
through once more, for all the places in them that do. A question that somebody asked
there is followed by what was answered.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from itertools import islice

from memtui.model.events import Event, to_ms
from memtui.model.filters import EVERYTHING, Filters
from memtui.model.hits import CombinedHit, CombinedResult, Snippet
from memtui.search import query as search_query
from memtui.search import query_dates, resolve_filters, snippets
from memtui.search.combined import CombinedSearch
from memtui.search.messages import MessageSearcher, RankedMessage
from memtui.search.query_dates import DatedQuery
from memtui.search.snippets import Sentences
from memtui.store import conversations, database, nodes, segments, sessions
from memtui.text import analyzer

SESSIONS = 4
"""How many of the sessions that answer best are looked through once more."""

LIMIT = 20
"""How many quotes an answer has unless fewer or more are asked for."""

AGAIN = 0.6
"""What a further quote of a message is worth, against its best."""

HELD = 0.5
"""What a quote counts that holds none of the words, against one that holds all."""

ANSWERED = 0.95
"""What the answer to a question is worth, against the question."""

BESIDE = 0.3
"""What a session is worth that was not looked through, against the one above it."""

ASKS = ("?", "？")
"""What a question ends in."""


@dataclass(frozen=True, slots=True)
class QuoteResult:
    """What answers a question, the best first."""

    found: CombinedResult
    """The sessions that answer, as the search over everything tells them."""
    quotes: tuple[CombinedHit, ...] = ()
    """Messages of these, each with the few lines of it that answer; of one session, and
    of one message, there may be several. What summaries alone lead to is among them."""


class QuoteSearch:
    """Finds quotes."""

    def __init__(
        self,
        search: CombinedSearch,
        ears: MessageSearcher,
        zone: tzinfo,
        clock: Callable[[], datetime],
    ) -> None:
        """Remember whom to ask.

        Args:
            search: Over everything.
            ears: Of messages.
            zone: The calendar's.
            clock: Tells the time, by which "last week" is meant.
        """
        self._search, self._ears = search, ears
        self._zone, self._clock = zone, clock

    def find(
        self, text: str, *, limit: int = LIMIT, filters: Filters = EVERYTHING
    ) -> QuoteResult:
        """The quotes that answer best; any string is legal.

        Args:
            text: What was asked, filters included.
            limit: The most quotes.
            filters: What is looked through besides.
        """
        findings = self._search.find(text, limit=max(1, limit), filters=filters)
        read = query_dates.parse(text, self._clock(), self._zone)
        query = search_query.parse(read.words, self._zone, filters)
        if not findings.hits or query.filters.needs_nodes:
            return QuoteResult(findings, findings.hits)
        with database.connection():
            query, _ = resolve_filters.resolve(query)
            mine = {
                sessions.get_number(one.agent, one.session_id): one
                for one in findings.hits[:SESSIONS]
            }
            within = frozenset(number for number in mine if number is not None)
            heard = self._ears.hear(query, within=within).heard
            found = _weighed(heard, mine, query, read)
            said = {_of(one) for _, one in found}
            # What summaries alone lead to, and sessions that were not looked through.
            top = findings.hits[0].score or 1.0
            found += [
                (BESIDE * one.score / top, one)
                for one in findings.hits
                if _of(one) not in said
            ]
            ranked = islice(_ranked(found, findings.hits[0].score), max(1, limit))
            return QuoteResult(findings, tuple(_placed(list(ranked), mine)))


Weighed = tuple[float, CombinedHit]


def _weighed(
    heard: Sequence[RankedMessage],
    mine: Mapping[int | None, CombinedHit],
    query: search_query.Query,
    read: DatedQuery,
) -> list[Weighed]:
    """All quotes of what was heard, with what each is worth."""
    most = max((one.message for one in heard), default=0.0) or 1.0
    around = max((one.window for one in heard), default=0.0) or 1.0
    top = max((one.score for one in mine.values()), default=0.0) or 1.0
    said = [Sentences(one.event.text, query) for one in heard]
    worth = snippets.term_weights(said, query)
    whole = sum(worth.values()) or 1.0
    found: list[Weighed] = []
    for one, sentences in zip(heard, said, strict=True):
        moment = mine[one.place.session]
        own = (one.message / most + one.window / around) / 2
        own *= moment.score / top
        own *= query_dates.BOOST if read.covers(one.event.timestamp) else 1.0
        pieces = sentences.passages(worth)
        best = pieces[0].score or 1.0
        for place, piece in enumerate(pieces):
            value = own * (piece.score / best if place else 1.0)
            value *= (AGAIN if place else 1.0) * (HELD + piece.score / whole)
            text = sentences.text(piece)
            found.append((value, _quote(moment, one.event, text)))
            if text.endswith(ASKS):
                found += _answered(one, moment, value)
    return found


def _answered(
    one: RankedMessage, moment: CombinedHit, value: float
) -> Iterator[Weighed]:
    """What was said to a question by whoever was asked."""
    _, later = conversations.messages_around(one.place.session, one.event, 0, 1)
    for event in later:
        if event.role is not one.event.role:
            text = " ".join(event.text[: snippets.QUOTE_CHARS + 1].split())
            is_cut = len(event.text) > snippets.QUOTE_CHARS
            text = f"{text.rpartition(' ')[0]}…" if is_cut else text
            yield ANSWERED * value, _quote(moment, event, text)


def _of(moment: CombinedHit) -> tuple[str, str]:
    return moment.agent, moment.session_id


def _quote(moment: CombinedHit, event: Event, text: str) -> CombinedHit:
    return replace(
        moment,
        at=event.timestamp,
        event_id=event.event_id,
        subagent=event.subagent,
        role=event.role,
        snippet=Snippet(text),
    )


def _ranked(found: list[Weighed], score: float) -> Iterator[CombinedHit]:
    """The quotes by their worth, none of what another one says already.

    Args:
        found: All there are.
        score: The best one's.
    """
    told: list[str] = []
    found.sort(key=lambda one: -one[0])
    for value, one in found:
        said = " ".join(analyzer.fold(one.snippet.text).split()).strip("…")
        if not any(said in other or other in said for other in told):
            told.append(said)
            yield replace(one, score=score * value / (found[0][0] or 1.0))


def _placed(
    several: Sequence[CombinedHit], mine: Mapping[int | None, CombinedHit]
) -> Iterator[CombinedHit]:
    """Moments with the segments their messages lie in, and what these are about."""
    numbers = {_of(one): number for number, one in mine.items() if number}
    at = [
        (numbers.get(_of(one), 0), to_ms(one.at)) if one.event_id else None
        for one in several
    ]
    lies_in = segments.find_at([one for one in at if one])
    places = [lies_in.get(one, "") if one else "" for one in at]
    lines = {line.node_id: line for line in nodes.get_entries(list(set(places)))}
    for one, place in zip(several, places, strict=True):
        line = lines.get(place)
        title = (line.headline or line.title) if line else one.title
        yield replace(one, node_id=place or one.node_id, title=title)
