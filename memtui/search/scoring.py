"""Score nodes and messages for a query; all weights are here.

Nodes and grips: BM25F (S. Robertson, H. Zaragoza and M. Taylor, "Simple BM25 extension
to multiple weighted fields", 2004). A term's occurrences are weighted by field and by
the length of the text, and then saturated. The resulting weight of a term in a document
depends on that document alone, so the node index stores it. A score is the sum of the
weights times the terms' idf, divided by the most it could be, times the share of the
query's terms that the document has: 0 to less than 1.

Messages: BM25 of a message, of the window around it (one message before, two after) and
of its whole conversation. A term counts once a message, however often it occurs there:
on labelled conversations that is as good, and the index need not store how often.
"""

from collections import Counter, defaultdict
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from memtui.model.calendar import TocLevel
from memtui.model.events import EventRole
from memtui.model.nodes import TocNode
from memtui.search.query import Query
from memtui.store.events import IndexableEvent
from memtui.text import analyzer
from memtui.text.analyzer import BM25_K1 as K1
from memtui.text.analyzer import inverse_document_frequency

# Weights of nodes and grips


class NodeField(StrEnum):
    """A searchable part of a node or a grip."""

    TITLE = "title"
    HEADLINE = "headline"
    KEYWORDS = "keywords"
    BULLETS = "bullets"
    EXCERPT = "excerpt"


FieldText = tuple[NodeField, str]
"""A field and a text in it; a field may have several."""

FIELD_WEIGHTS = {
    NodeField.TITLE: 4.0,
    NodeField.HEADLINE: 4.0,
    NodeField.KEYWORDS: 2.0,
    NodeField.BULLETS: 1.0,
    NodeField.EXCERPT: 2.0,
}
"""The node index stores weights of terms: raise ``node_index.VERSION`` after a change
of these or of the other weights of nodes."""


def node_texts(node: TocNode) -> Iterator[tuple[NodeField, str, tuple[str, ...]]]:
    """Yield the searchable texts of a node, each with the ids of its grips."""
    yield NodeField.TITLE, node.title, ()
    if node.headline and node.headline != node.title:
        yield NodeField.HEADLINE, node.headline, ()
    yield NodeField.KEYWORDS, " · ".join(node.keyword_texts), ()
    for bullet in node.searched_bullets:
        yield NodeField.BULLETS, bullet.text, bullet.grip_ids


TYPICAL_LENGTH = {NodeField.BULLETS: 20, NodeField.EXCERPT: 25}
"""The usual number of terms of a text; in other fields the length does not matter."""

NODE_B = 0.5
"""BM25's b: how much the length of a text matters, from 0 to 1."""

NODE_K1 = 0.6
"""BM25's saturation. It is small: one occurrence in a title is worth 0.87, one in a
bullet 0.62."""

LEVEL_WEIGHTS = {
    TocLevel.SEGMENT: 1.0,
    TocLevel.DAY: 0.99,
    TocLevel.WEEK: 0.98,
    TocLevel.MONTH: 0.97,
    TocLevel.YEAR: 0.96,
}
"""Among equals the narrower node comes first."""

STEMMED = 0.95
"""The weight of another form of a word, or of its parts, against the word as typed."""

COMPLETED = 0.8
"""The weight of a word that begins with the unfinished one."""

MAX_COMPLETIONS = 8
"""The number of completions of the unfinished word that are looked up."""

WHOLE_WEIGHT = 0.3
"""The weight of a complete identifier, besides its parts."""

# Weights of messages and sessions

# Titles count differently in each search:
# - teleport, over nodes and grips: a node's title by the weight of ``NodeField.TITLE``;
# - search of messages: the title and summary of the session count as a message of their
#   own (``score_texts``, up to SESSION_TEXTS), and with the headlines add up to
#   TITLE_SHARE to the others;
# - search over everything: they add up to the weight of ``Layer.TITLES``.
# The last two score titles with the column weights SESSION_TITLE and SESSION_SUMMARY.

SESSION_TITLE, SESSION_SUMMARY = 2.0, 3.0
"""The weights of a term in a session's title and in its summary."""

SESSION_TEXTS = 3.0
"""The best rank that the title and summary of a session give to its best message: as
much as a message, its window and its conversation can have together."""

TITLE_SHARE = 0.5
"""The most that the title and summary of its session add to a message in a search of
messages; the best message's own score is 1."""

ROLE_WEIGHTS = {
    EventRole.USER: 1.5,
    EventRole.ASSISTANT: 1.0,
    EventRole.SYSTEM: 1.0,
    EventRole.TOOL: 1.0,
}

EQUAL_ROLES = dict.fromkeys(EventRole, 1.0)
"""The weights where each role counts alike, as in a search for quotes."""

TOOL_TURN = 1.3
"""The factor on the score of a message that calls of tools follow."""

B = 0.6
"""BM25's b: how much the length of a message matters, from 0 to 1."""

MAX_TERM_SCORE = (K1 + 1) / (1 + K1 * (1 - B))
"""The most that a term adds to a message's score, as a multiple of its idf."""

WINDOW_BEFORE, WINDOW_AFTER = 1, 2
"""The numbers of messages before and after one that matches, which are scored with
it."""

NEAR_WORDS = 8
"""Two terms at most this many words apart are near each other, which adds to scores."""

EXACT_FORM = 0.3
"""The weight of the word exactly as typed, relative to its stem."""

VERBATIM = 0.5
"""The weight of the whole query exactly as typed, relative to its terms."""

BONUS_CHARS = 4_000
"""The number of characters of a message that are read for these."""

MAX_SCORED = 600
"""The number of messages scored: those that contain the rarest terms."""

# Weights of the search over everything


class Layer(StrEnum):
    """A kind of text in which a session is found, with a score of its own."""

    MESSAGES = "messages"
    WINDOWS = "windows"
    CONVERSATIONS = "conversations"
    NODES = "nodes"
    GRIPS = "grips"
    TITLES = "titles"
    """The titles and summaries of sessions."""


LAYER_WEIGHTS = {
    Layer.MESSAGES: 1.0,
    Layer.WINDOWS: 1.0,
    Layer.CONVERSATIONS: 1.5,
    Layer.NODES: 0.3,
    Layer.GRIPS: 0.2,
    Layer.TITLES: 0.1,
}
"""The weight of a session's best score of each layer in its rank."""

DATE_BOOST = 1.5
"""The factor on the score of what lies in a period of the query."""


# Nodes and grips


MAX_TERMS = 64
"""The number of terms of a query that are looked up in the node index: its first
ones."""


@dataclass(frozen=True, slots=True)
class TermForm:
    """A form in which a term may occur."""

    term: str
    factor: float
    """Its weight against the best form."""


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """A term of a query with all its forms: the best one in a document counts."""

    term: str
    forms: tuple[TermForm, ...]
    idf: float
    postings: int
    """The number of documents that contain its forms."""


def weighted_terms(
    query: Query,
    size: int,
    frequencies: Callable[[Iterable[str]], Counter[str]],
    complete: Callable[[str], Sequence[str]],
) -> list[WeightedTerm]:
    """Return the terms of a query with those of their forms that occur.

    Two functions read the index: one returns how many of its documents contain each of
    some terms, the other the most frequent terms that begin so.
    """

    def completions(start: str) -> dict[str, float]:
        return dict.fromkeys(complete(start), COMPLETED)

    forms: dict[str, dict[str, float]] = {}
    weights: dict[str, float] = {}
    wholes: dict[str, dict[str, float]] = {}
    for word in query.words:
        shared = {word.exact: 1.0} if word.exact else {}
        if word.is_prefix and word.exact:
            shared = completions(word.exact) | shared
        for place, term in enumerate(word.terms, 1):
            own = {term: STEMMED if word.exact else 1.0}
            if word.is_prefix and place == len(word.terms):
                own = completions(word.prefix) | own
            known = forms.setdefault(term, {})
            for form, factor in (own | shared).items():
                known[form] = max(factor, known.get(form, 0.0))
            weights[term] = query.weight(word)
        if word.whole:
            # A text with the complete identifier comes before those with its parts.
            wholes[word.whole] = shared
    terms = [(term, forms[term], weights[term]) for term in [*forms][:MAX_TERMS]]
    terms += [(term, own, WHOLE_WEIGHT) for term, own in wholes.items()]
    counts = frequencies(form for _, own, _ in terms for form in own)
    found = []
    for term, own, weight in terms:
        total = sum(counts[form] for form in own)
        # An unknown term is as frequent as all of its completions.
        frequency = counts[term] or min(total, size)
        ranked = sorted(own.items(), key=lambda form: (-form[1], -counts[form[0]]))
        occurring = tuple(TermForm(*form) for form in ranked if counts[form[0]])
        if occurring or term not in wholes:
            found.append(
                WeightedTerm(
                    term,
                    occurring,
                    weight * inverse_document_frequency(size, frequency),
                    total,
                )
            )
    return found


def term_weights(texts: Iterable[FieldText], level: TocLevel) -> dict[str, float]:
    """Return the weight of each term of a document: 0 to less than 1."""
    weights: dict[str, float] = {}
    for name, text in texts:
        counts = Counter(analyzer.terms(text))
        weight = FIELD_WEIGHTS[name]
        if typical := TYPICAL_LENGTH.get(name):
            weight /= 1 - NODE_B + NODE_B * counts.total() / typical
        for term, count in counts.items():
            weights[term] = weights.get(term, 0.0) + weight * count
    factor = LEVEL_WEIGHTS[level]
    return {term: factor * w / (w + NODE_K1) for term, w in weights.items()}


# Messages


UNINDEXED_ID = 1 << 62
"""The ids of messages that are not indexed begin here."""

UNINDEXED_CHARS = 100_000
"""The number of characters of such a message that are read."""


@dataclass(frozen=True, slots=True)
class QueryTerm:
    term: str
    prefix: str = ""
    """Terms that begin so match too; "" if only the term itself does."""
    weight: float = 1.0
    """The factor on its idf."""
    is_whole: bool = False
    """True if it is a complete identifier whose parts are terms, too: it adds to the
    score, and a message without it may match fully."""

    def matches(self, terms: frozenset[str]) -> bool:
        return self.term in terms or (
            bool(self.prefix) and any(term.startswith(self.prefix) for term in terms)
        )


@dataclass(frozen=True, slots=True)
class MessageFilter:
    """A filter of the messages that a search may return."""

    sessions: frozenset[int] | None = None
    agent: str = ""
    project: str = ""
    """The agent and the project that all of the sessions belong to, if there is one."""
    role: EventRole | None = None
    since: datetime | None = None
    until: datetime | None = None
    """Times are aware; an index may also return messages a little after this one."""
    with_subagents: bool = True
    excluded: tuple[tuple[QueryTerm, ...], ...] = ()
    """Groups of terms; a message that contains all terms of one is not returned."""

    @property
    def selects_messages(self) -> bool:
        """True if it can select some of a session's messages."""
        return bool(self.role or self.since or self.until)


class Candidate(NamedTuple):
    """A message that contains some of the terms."""

    id: int
    """Its rowid in the index: later messages have higher ones."""
    event_id: str
    conversation: int
    """A session's main conversation, or that of a subagent."""
    position: int
    """Its place in the conversation: neighbours have consecutive numbers."""
    role: EventRole
    length: int
    """Its number of terms."""
    session: int
    """The number of its session in the store."""
    conversation_length: int
    """The number of terms of the whole conversation."""
    mask: int
    """The query's terms that it contains, one bit for each."""


@dataclass(slots=True)
class Candidates:
    """All candidates for a query, and the statistics that BM25 needs."""

    terms: Sequence[QueryTerm]
    by_id: dict[int, Candidate] = field(default_factory=dict)
    frequencies: list[int] = field(default_factory=list)
    common: list[str] = field(default_factory=list)
    """Terms for which only the newest messages were looked up."""
    message_count: int = 0
    """The number of messages that pass the filter."""
    length: int = 0
    """The number of their terms."""
    conversation_count: int = 0
    """The number of their conversations."""
    title_scores: dict[int, float] = field(default_factory=dict)
    """The scores of sessions for their titles and summaries, by session number."""

    @property
    def required(self) -> int:
        """The bits of all terms but complete identifiers."""
        return sum((not one.is_whole) << bit for bit, one in enumerate(self.terms))

    def specific_terms(self, mask: int) -> tuple[QueryTerm, ...]:
        """Return the terms in a mask that belong to specific words."""
        return tuple(
            one
            for bit, one in enumerate(self.terms)
            if mask >> bit & 1 and one.weight == 1 and not one.is_whole
        )

    def __post_init__(self) -> None:
        """Count nothing for each term, unless frequencies are given."""
        self.frequencies = self.frequencies or [0] * len(self.terms)

    def mask(self, terms: frozenset[str]) -> int:
        """Return which of the query's terms these terms match, one bit for each."""
        return sum(one.matches(terms) << bit for bit, one in enumerate(self.terms))

    def add_unindexed(
        self, events: Sequence[IndexableEvent], query: Query, *, with_tools: bool
    ) -> None:
        """Add messages that match and are not indexed; they are in the order of time.

        The text of tool calls is searched only ``with_tools``, otherwise the name.
        """
        known = {candidate.event_id for candidate in self.by_id.values()}
        required = self.required
        for position, one in enumerate(events, 1):
            role = one.indexed_role
            if role is None or one.event_id in known:
                continue
            is_only_name = role is EventRole.TOOL and not with_tools
            text = one.tool if is_only_name else one.text[:UNINDEXED_CHARS]
            # Without terms, messages are not compared with each other.
            if not self.terms and not query.matches(text):
                continue
            terms = analyzer.terms(text)
            mask = self.mask(frozenset(terms))
            if role is not EventRole.TOOL:
                self.message_count += 1
                self.length += len(terms)
            matches = mask & required == required if is_only_name else mask
            if not (matches or not self.terms):
                continue
            for bit in range(len(self.terms)):
                self.frequencies[bit] += mask >> bit & 1
            # They are a conversation of their own: the indexed ones are not read.
            self.by_id[UNINDEXED_ID + position] = Candidate(
                id=UNINDEXED_ID + position,
                event_id=one.event_id,
                conversation=-one.session,
                position=position,
                role=role,
                length=len(terms),
                session=one.session,
                conversation_length=len(terms),
                mask=mask,
            )


RoleWeights = Mapping[EventRole, float]


@dataclass(slots=True)
class MessageScores:
    """BM25 of messages, windows and conversations."""

    messages: dict[int, float] = field(default_factory=dict)
    """By the ids of candidates."""
    windows: dict[int, float] = field(default_factory=dict)
    """The window around each candidate, by its id."""
    conversations: dict[int, float] = field(default_factory=dict)
    """By their numbers in the index."""


def mask_idfs(idfs: Sequence[float]) -> Callable[[int], float]:
    """Return a function that adds up the idf of the terms in a mask."""

    @cache
    def total(mask: int) -> float:
        return sum(idfs[bit] for bit in _bits(mask))

    return total


@lru_cache(maxsize=4096)
def _bits(mask: int) -> tuple[int, ...]:
    return tuple(bit for bit in range(mask.bit_length()) if mask >> bit & 1)


def select_ids(masks: Mapping[int, int], idfs: Sequence[float]) -> list[int]:
    """Return the ids to score: those with the rarest terms, the newest among equals.

    The masks say which terms each message contains.
    """
    if len(masks) <= MAX_SCORED:
        return list(masks)
    total, by_total = mask_idfs(idfs), dict[float, list[int]]()
    counts = Counter(masks.values())
    for mask in counts:
        by_total.setdefault(total(mask), []).append(mask)
    better, last, room = set[int](), set[int](), MAX_SCORED
    for value in sorted(by_total, reverse=True):
        last = set(by_total[value])
        if (count := sum(counts[mask] for mask in last)) >= room:
            break
        better |= last
        room -= count
    best = [number for number, mask in masks.items() if mask in better]
    some = [number for number, mask in masks.items() if mask in last]
    return best + sorted(some, reverse=True)[:room]


def has_enough(masks: Mapping[int, int], idfs: Sequence[float], least: float) -> bool:
    """Return True if MAX_SCORED messages have terms that are worth more than that."""
    total = mask_idfs(idfs)
    counts = Counter(masks.values())
    return sum(n for mask, n in counts.items() if total(mask) > least) >= MAX_SCORED


def score_messages(found: Candidates, role_weights: RoleWeights) -> MessageScores:
    idfs = message_idfs(found)
    total = mask_idfs(idfs)
    average = found.length / max(found.message_count, 1) or 1.0
    scores = MessageScores()
    by_conversation: dict[int, list[Candidate]] = defaultdict(list)
    for one in found.by_id.values():
        weight = role_weights[one.role]
        length = K1 * (1 - B + B * one.length / average)
        scores.messages[one.id] = (
            total(one.mask) * weight * (K1 + 1) / (weight + length)
        )
        by_conversation[one.conversation].append(one)
    for some in by_conversation.values():
        some.sort(key=lambda one: one.position)
        scores.windows |= _score_windows(some, idfs, total, average, role_weights)
    scores.conversations = _score_conversations(by_conversation, found, role_weights)
    return scores


def message_idfs(found: Candidates) -> list[float]:
    """Return the idf of each term among the messages, times the term's weight."""
    counts = zip(found.terms, found.frequencies, strict=True)
    return [
        one.weight * inverse_document_frequency(found.message_count, count)
        for one, count in counts
    ]


def _score_windows(
    some: Sequence[Candidate],
    idfs: Sequence[float],
    total: Callable[[int], float],
    average: float,
    role_weights: RoleWeights,
) -> dict[int, float]:
    """Score the windows around the candidates of one conversation, in their order.

    A message in a window that is no candidate is taken to have the average length.
    """
    scores = {}
    whole = average * (1 + WINDOW_BEFORE + WINDOW_AFTER)
    positions = [one.position for one in some]
    extra = list(accumulate((one.length - average for one in some), initial=0.0))
    first = end = 0
    for one in some:
        while positions[first] < one.position - WINDOW_BEFORE:
            first += 1
        while end < len(some) and positions[end] <= one.position + WINDOW_AFTER:
            end += 1
        length = K1 * (1 - B + B * (whole + extra[end] - extra[first]) / whole)
        if end - first == 1:  # most windows
            weight = role_weights[one.role]
            scores[one.id] = total(one.mask) * weight * (K1 + 1) / (weight + length)
        else:
            counts = _count_terms(some[first:end], role_weights)
            scores[one.id] = _bm25(counts, idfs, length)
    return scores


def _count_terms(
    some: Iterable[Candidate], role_weights: RoleWeights
) -> dict[int, float]:
    """Return how many of these messages contain each term, weighted by role."""
    counts: dict[int, float] = {}
    for one in some:
        weight = role_weights[one.role]
        for bit in _bits(one.mask):
            counts[bit] = counts.get(bit, 0.0) + weight
    return counts


def _score_conversations(
    by_conversation: Mapping[int, Sequence[Candidate]],
    found: Candidates,
    role_weights: RoleWeights,
) -> dict[int, float]:
    counts = {
        number: _count_terms(some, role_weights)
        for number, some in by_conversation.items()
    }
    frequencies = [0.0] * len(found.frequencies)
    for own in counts.values():
        for bit in own:
            frequencies[bit] += 1
    total = max(found.conversation_count, 1)
    idfs = [
        0.0
        if one.is_whole
        else one.weight * inverse_document_frequency(total, frequency)
        for one, frequency in zip(found.terms, frequencies, strict=True)
    ]
    average = found.length / total or 1.0
    return {
        number: _bm25(
            own,
            idfs,
            K1 * (1 - B + B * by_conversation[number][0].conversation_length / average),
        )
        for number, own in counts.items()
    }


def _bm25(counts: Mapping[int, float], idfs: Sequence[float], length: float) -> float:
    total = 0.0
    for bit, count in counts.items():
        total += idfs[bit] * count * (K1 + 1) / (count + length)
    return total


def score_texts(
    title: tuple[Collection[str], int],
    summary: tuple[Collection[str], int],
    idfs: Mapping[str, float],
    average: float,
) -> float:
    """Return the BM25F of the title and the summary of a session, as of a message.

    Of each the terms of the query that it has and its length are given. Only what they
    are longer than an average message makes a difference.
    """
    total = 0.0
    weights = [
        (terms, weight / (1 - B + B * max(0.0, length / average - 1)))
        for weight, (terms, length) in (
            (SESSION_TITLE, title),
            (SESSION_SUMMARY, summary),
        )
    ]
    for term, idf in idfs.items():
        weight = sum(own for terms, own in weights if term in terms)
        total += idf * weight * (K1 + 1) / (weight + K1)
    return total


def text_bonus(query: Query, idfs: Mapping[str, float]) -> Callable[[str], float]:
    """Return a function that scores the wording of a text, besides its terms."""
    typed_text = query.text.strip().casefold()
    # The same as for marks: each word is tested once.
    may_match = analyzer.term_prefilter([*query.terms, *query.prefixes])

    def bonus(text: str) -> float:
        positions: dict[str, list[int]] = {}
        for at, word in enumerate(analyzer.words(text[:BONUS_CHARS])):
            for term in analyzer.word_terms(word) if may_match(word) else ():
                positions.setdefault(term, []).append(at)
        total = 0.0
        for one, other in pairwise(query.terms):
            if one in positions and other in positions:
                # Not all terms of a long query have an idf.
                least = min(idfs.get(one, 0.0), idfs.get(other, 0.0))
                distances = (a - b for a in positions[one] for b in positions[other])
                if least and any(abs(words) <= NEAR_WORDS for words in distances):
                    total += least
        for typed in query.words:
            if typed.exact in positions:
                total += EXACT_FORM * max(idfs.get(term, 0.0) for term in typed.terms)
        folded = text.casefold()
        for typed in query.words:
            if len(typed.terms) > 1 and typed.text.casefold() in folded:
                total += sum(idfs.get(term, 0.0) for term in typed.terms)
        if not typed_text.isalnum() and typed_text in folded:
            total += VERBATIM * sum(idfs.values())
        return total

    return bonus
