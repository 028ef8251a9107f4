"""Tools that find by words: in summaries, in messages, in everything."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from memtui.agents import formatting
from memtui.agents.formatting import LineWriter, one_line
from memtui.agents.replies import Item, Reply, cut
from memtui.model import citations
from memtui.model.events import Event
from memtui.model.filters import ALL, EVERYTHING, Filters, Scope
from memtui.model.hits import CombinedHit, Hit, Hits
from memtui.search import snippets
from memtui.search.query import NEWEST_LISTED, NOTHING_STORED
from memtui.services import session_outcomes
from memtui.store import conversations, database, events, nodes, sessions
from memtui.text import analyzer, cues, date_format, prose
from memtui.text.orders import BASE_VERBS

if TYPE_CHECKING:
    from memtui.workspace import Workspace

CHECKED_QUOTES, MAX_RETRACTIONS = 6, 2
"""The numbers of best quotes checked for a later retraction, and of retractions
shown."""

NEXT_MESSAGES, LATER_MESSAGES, SHARED_TERMS = 4, 12, 2
"""A message may retract a quote if it has some words of the quote, or if it is the
user's and one of the next few, and has one that is no common verb."""

RETRACTION_CHARS = 240


def teleport(
    workspace: "Workspace", query: str, *, limit: int = 10, scope: Scope = ALL
) -> Reply:
    """List nodes and grips by words, each with its score and a snippet."""
    found = workspace.teleport.find(query, limit=limit, scope=scope)
    items = [formatting.hit(hit, is_recent=found.is_recent) for hit in found.hits]
    return Reply(
        "hits",
        add_verdicts(items, found.hits),
        LineWriter(workspace.zone).hit,
        notes=search_notes(found, "" if found.hits else nothing_found(scope)),
    )


def search_memory(
    workspace: "Workspace",
    query: str,
    *,
    limit: int = 10,
    filters: Filters = EVERYTHING,
) -> Reply:
    """List short quotes that match, from everything; several of one session."""
    quoted = workspace.quotes.find(query, limit=limit, filters=filters)
    found = quoted.found
    return Reply(
        "hits",
        describe_quotes(quoted.quotes, is_recent=found.is_recent),
        LineWriter(workspace.zone).hit,
        notes=search_notes(
            found, "" if quoted.quotes else nothing_found(filters.scope)
        ),
    )


def search_sessions(
    workspace: "Workspace",
    query: str,
    *,
    limit: int = 20,
    before: int = 4,
    after: int = 4,
    filters: Filters = EVERYTHING,
) -> Reply:
    """List messages that match, each with those around it."""
    found = workspace.message_search.find(
        query, limit=limit, before=before, after=after, filters=filters
    )
    return Reply(
        "hits",
        formatting.message_hits(found.hits, is_recent=found.is_recent),
        LineWriter(workspace.zone).message_hit,
        {"query": query},
        notes=search_notes(found, "" if found.hits else nothing_found(filters.scope)),
        details="window",
        shorten=formatting.shorten_message_hit,
    )


def describe_quotes(
    found: Sequence[CombinedHit], *, is_recent: bool = False
) -> list[Item]:
    """Describe quotes, with the verdicts of bullets and what took a quote back."""
    found = session_outcomes.add_work(found)
    items = formatting.quotes(found, is_recent=is_recent)
    by_cite = {formatting.cite(one): one for one in reversed(found)}
    hits = [by_cite.get(item["id"]) for item in items]
    add_verdicts(items, hits)
    return items if is_recent else _insert_retractions(items, hits)


def add_verdicts(
    items: Sequence[Item], found: Sequence[Hit | CombinedHit | None]
) -> Sequence[Item]:
    """Add the verdict to each item whose snippet is a bullet of a node."""
    pairs = [
        (item, one.node_id)
        for item, one in zip(items, found, strict=True)
        if one and item["id"].startswith("toc:")
    ]
    with database.connection():
        known = {
            node.node_id: node
            for node in nodes.get_many(list({node_id for _, node_id in pairs}))
        }
    for item, node_id in pairs:
        node, text = known.get(node_id), item["snippet"].strip("… ")
        for bullet in node.bullets if node and text else ():
            if text in one_line(bullet.labelled):
                item |= formatting.verdict(bullet)
                break
    return items


def _insert_retractions(
    items: list[Item], hits: Sequence[CombinedHit | None]
) -> list[Item]:
    """Insert after each quote the later statements of its session that retract it."""
    result: dict[str, Item] = {}
    left = MAX_RETRACTIONS
    with database.connection():
        for place, (item, hit) in enumerate(zip(items, hits, strict=True)):
            result.setdefault(item["id"], item)
            is_checked = left and place < CHECKED_QUOTES and hit and hit.event_id
            later = _find_retraction(hit) if hit and is_checked else None
            cite = citations.cite_event(later[0].event_id) if later else ""
            if later and "retracts" not in result.get(cite, {}):
                left -= 1
                # It may be a hit itself.
                own = result.pop(cite, None) or {
                    "id": cite,
                    "score": item["score"],
                    "band": item["band"],
                    "at": date_format.iso_utc(later[0].timestamp),
                    "role": later[0].role.value,
                    "snippet": later[1],
                }
                result[cite] = own | {"retracts": item["id"]}
    return list(result.values())


def _find_retraction(hit: CombinedHit) -> tuple[Event, str] | None:
    """Return the message that takes a quote back, and its sentence that says so."""
    number = sessions.get_number(hit.agent, hit.session_id)
    statement = events.get([hit.event_id]).get(hit.event_id)
    if number is None or statement is None:
        return None
    quote = hit.snippet.text
    terms = _without_numbers(quote)
    later = conversations.list_messages_after(number, statement, LATER_MESSAGES)
    for distance, event in enumerate(later):
        text = event.text[: snippets.READ_CHARS]
        for start, end in prose.sentence_spans(text):
            sentence = one_line(text[start:end]).lstrip("-*#> ")
            if cues.is_announcement(sentence) or not cues.takes_back(sentence):
                continue
            is_near = event.role.value == "user" and distance < NEXT_MESSAGES
            shared = terms & _without_numbers(sentence)
            is_same = len(shared) >= SHARED_TERMS or (
                is_near and cues.is_retraction(sentence) and shared - _verb_terms()
            )
            if is_same and cues.revokes(sentence, quote):
                return event, cut(sentence, RETRACTION_CHARS)
    return None


def _without_numbers(text: str) -> set[str]:
    return {term for term in analyzer.query_terms(text) if not term.isdigit()}


@cache
def _verb_terms() -> frozenset[str]:
    return frozenset(analyzer.query_terms(" ".join(BASE_VERBS)))


def nothing_found(scope: Scope = ALL) -> str:
    """Return the note of an empty result."""
    where = f"Nothing of {scope}" if scope.is_narrow else "Nothing"
    return f"{where} matches. Fewer or other words find more; so does browsing."


def search_notes(found: Hits[Any], none: str = "") -> list[str]:
    """Return the notes of a search, or this one if there are none."""
    notes = [*found.notes, *map(str, found.times)]
    if found.is_recent and not found.hits:
        notes = [note for note in notes if note != NEWEST_LISTED]
        notes.append(NOTHING_STORED)
    if found.suggestion:
        notes.append(f"Did you mean: {found.suggestion}")
    return notes or list(filter(None, [none]))
