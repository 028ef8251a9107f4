"""Answers: what the searches find, as replies that fit any budget."""

from collections.abc import Sequence

from memtui.agents import formatting, memories
from memtui.agents.navigation import NOTHING
from memtui.agents.replies import Plain, Reply
from memtui.agents.retrieval import Retrieval, Retrieved
from memtui.agents.routing import Router
from memtui.model.filters import EVERYTHING, Filters
from memtui.model.hits import ReadDate
from memtui.model.scope import ALL, Scope
from memtui.search.engines import Finders
from memtui.text.fencing import line as neutral

AROUND_CHARS = 160
"""How much of each message around one that answers is told, in characters."""


class Answers:
    """Answers what is asked in words."""

    def __init__(self, by: Finders) -> None:
        """Remember whom to ask."""
        self._teleport, self._talk = by.teleport, by.talk
        self._zone, self.quoting = by.zone, by.quoting
        self.router = Router(by.teleport, by.quoting, by.zone, by.clock)
        self.retrieval = Retrieval(by.quoting, by.zone, by.clock)

    def ask_route(self, question: str, *, limit: int = 8, of: Scope = ALL) -> Reply:
        """A question answered by the way that fits it, and which that is."""
        found = self.router.ask(question, limit=limit, of=of)
        band = found.sureness.band
        way: Plain = {
            "way": found.choice.way.value,
            "why": neutral(found.choice.why),
            "score": round(found.sureness.score, 2),
            "band": band.value,
            "advice": band.advice,
            "understood": [
                {"said": neutral(one.text), "is_met": one.has_hits}
                for one in found.times
            ],
        }
        sure = f"{way['band']} ({way['score']:.2f}): {way['advice']}"
        lead = f"{way['way']}: {way['why']} {sure}"
        told = [formatting.hit(one, self._zone) for one in found.hits]
        # The best summary, then what was said, then what else there is.
        told[1:1] = formatting.quoted(found.quotes, self._zone)
        told += [formatting.node(one, self._zone) for one in found.nodes]
        return Reply(
            "answers",
            told,
            _routed_line,
            way,
            (lead,),
            is_headed=True,
            notes=[neutral(one) for one in found.notes] or ([] if told else [NOTHING]),
        )

    def teleport(
        self,
        query: str,
        *,
        limit: int = 10,
        of: Scope = ALL,
        is_recent_first: bool = False,
    ) -> Reply:
        """Nodes and grips by words, each with its score, band and snippet."""
        found = self._teleport.find(
            query, limit=limit, of=of, is_recent_first=is_recent_first
        )
        meant = (
            [f"Did you mean: {neutral(found.suggestion)}"] if found.suggestion else []
        )
        notes = [*map(neutral, filter(None, (found.note, *found.hints))), *meant]
        is_listed = found.is_recent
        told = [
            formatting.hit(one, self._zone, is_listed=is_listed) for one in found.hits
        ]
        return Reply(
            "hits",
            told,
            formatting.hit_line,
            notes=notes or ([] if told else [NOTHING]),
        )

    def search_memory(
        self, query: str, *, limit: int = 10, filters: Filters = EVERYTHING
    ) -> Reply:
        """What answers of everything that is kept, quoted: several of one session."""
        quoted = self.quoting.find(query, limit=limit, filters=filters)
        found = quoted.findings
        notes = _notes(found.notes, found.times)
        if found.suggestion:
            notes.append(f"Did you mean: {neutral(found.suggestion)}")
        told = formatting.quoted(quoted.quotes, self._zone, is_listed=found.is_recent)
        return Reply(
            "hits",
            told,
            formatting.quote_line,
            notes=notes or ([] if told else [NOTHING]),
        )

    def search_sessions(
        self,
        query: str,
        *,
        limit: int = 20,
        before: int = 1,
        after: int = 1,
        is_one_each: bool = False,
        filters: Filters = EVERYTHING,
    ) -> Reply:
        """Messages that answer, each with what was said around it (decisions §8)."""
        found = self._talk.find(
            query,
            limit=limit,
            before=before,
            after=after,
            is_one_each=is_one_each,
            filters=filters,
        )
        # Of a list, what stands around a message is listed itself.
        around = 0 if found.is_recent else AROUND_CHARS
        told = formatting.message_hits(
            found.hits, self._zone, around=around, is_listed=found.is_recent
        )
        notes = _notes(found.notes, found.times)
        return Reply(
            "hits",
            told,
            formatting.message_hit_line,
            {"query": neutral(query)},
            notes=notes or ([] if told else [NOTHING]),
        )

    def retrieve_memory(
        self,
        query: str,
        *,
        limit: int = memories.LIMIT,
        detail_limit: int | None = None,
        filters: Filters = EVERYTHING,
    ) -> Reply:
        """The memories that answer, as seed 4 writes them."""
        found = self.retrieval.retrieve_memory(
            query, limit=limit, detail_limit=detail_limit, filters=filters
        )
        return memories_reply(found)


def memories_reply(found: Retrieved) -> Reply:
    """Memories as a reply."""
    notes = _notes(found.notes, found.times)
    told = [memories.plain(one) for one in found.memories]
    return Reply(
        "memories",
        told,
        memories.markdown,
        notes=notes or ([] if told else [NOTHING]),
        how="ask for more tokens, or less at once",
        gap="\n\n",
        spare="details",
    )


def _routed_line(told: Plain) -> str:
    if "score" not in told:
        return formatting.node_line(told)
    is_quote = told["id"].startswith("evt:")
    return formatting.quote_line(told) if is_quote else formatting.hit_line(told)


def _notes(notes: Sequence[str], times: Sequence[ReadDate]) -> list[str]:
    return [neutral(note) for note in (*notes, *map(str, times))]
