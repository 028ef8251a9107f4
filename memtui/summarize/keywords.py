"""Choose keywords, the words by which a reader would look for a node; and score how
surprising a segment is.

A word weighs more, the more often it is mentioned, by whom, and if it is a name (a
file, an identifier). Keywords proposed by a model count if they occur in the source. A
parent's keywords are chosen from its children's only. They follow from the segment
alone, whatever else is stored.

The keywords of a segment that the most similar earlier session does not have are
surprising; those that no earlier session has are more so. 0 is expected, 0.3 a small
step, 0.7 a new subject, 1.0 unlike anything before.
"""

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from memtui.model.calendar import TocLevel
from memtui.model.events import Event, EventRole, clean, counted_text
from memtui.model.nodes import MAX_KEYWORDS, Keyword
from memtui.text import analyzer, stopwords
from memtui.text.analyzer import inverse_document_frequency

# Words that may be keywords

MIN_CHARS = 3
"""The minimum length of a keyword."""

FIRST_SYLLABIC = "\u1100"
"""From this character on, a letter of most scripts is a syllable or a word."""

MAX_CHARS = 40
"""A longer word is a path, an address or a blob."""

MAX_RUN_CHARS = 8
"""The same for scripts without spaces, where a longer run is a clause."""

_PARAMETER = re.compile(r"(?<!\S)--?[\w\-]+|\"\w+\"\s*:")
"""An option, or a key of JSON, in a call."""

_ADDRESS = re.compile(r"://|\w@|^www\.|\.(?:com|org|io|net|dev)$")

_NUMBER_OR_BLOB = re.compile(
    r"[\W\d_]*|v?\d[\w.\-]*|(?=[a-f]*\d)[0-9a-f]{7,}(?:-.*)?"
    r"|(?=.{16,})(?=(?:\D*\d){4})[\w\-]+",
    re.IGNORECASE,
)
"""A number, a measure, a version, a hash or another blob."""


def keyword_source(event: Event) -> str:
    """Return the part of an event that may give keywords: of a tool only its call.

    The names of tools and of their parameters are left out.
    """
    text = counted_text(event)
    if event.role is not EventRole.TOOL:
        return text
    _, _, arguments = text.partition("\n")[0].partition(": ")
    return _PARAMETER.sub("", arguments)


def candidate_words(text: str) -> Iterator[str]:
    """Yield words that may be keywords; a path gives its last part."""
    for word in analyzer.words(text):
        if name := _candidate_name(word):
            yield name
        elif not word.isascii():
            yield from _split_run(word)


@lru_cache(maxsize=analyzer.WORD_CACHE_SIZE)
def _candidate_name(word: str) -> str:
    """Return the name a word or path gives; "" for none."""
    if len(word) > analyzer.MAX_WORD_CHARS or _ADDRESS.search(word):
        return ""
    is_scoped_package = word[0] == "@" and word.count("/") == 1 and "." not in word
    name = normalize(word if is_scoped_package else word.rpartition("/")[2])
    name = name.removesuffix("'s").removesuffix("’s")
    name = name.strip("_-.'’#" if is_scoped_package else "_-.'’#@")
    name = name.removeprefix("this.").removeprefix("self.")
    return "" if _is_excluded(name) else name


def _is_excluded(name: str) -> bool:
    folded = analyzer.fold(name)
    return (
        len(name) > MAX_CHARS
        or _NUMBER_OR_BLOB.fullmatch(name) is not None
        or (len(name) < MIN_CHARS and name[0] < FIRST_SYLLABIC)
        or folded in stopwords.STOP_WORDS
        or folded in stopwords.GENERIC_WORDS
        or folded in stopwords.FUNCTION_WORDS
        or analyzer.is_unspaced(name)
    )


@lru_cache(maxsize=analyzer.WORD_CACHE_SIZE)
def _split_run(run: str) -> tuple[str, ...]:
    """Return the content words of a Chinese, Japanese or Korean run."""
    if not analyzer.is_unspaced(run):
        return ()
    run = unicodedata.normalize("NFC", run)
    if stopwords.KOREAN_FUNCTION_WORD.fullmatch(run):
        return ()
    run = stopwords.KOREAN_PARTICLE.sub("", run)
    parts = stopwords.HAN_FUNCTION_WORDS.split(run)
    return tuple(part for part in parts if 2 <= len(part) <= MAX_RUN_CHARS)


def normalize(word: str) -> str:
    """Return a word in the form in which it is stored."""
    if word.isascii():
        return word
    return unicodedata.normalize("NFC", word).replace("’", "'")


def is_name(word: str) -> bool:
    """Return whether a word is a file name or an identifier by its spelling."""
    return word.isascii() and not (word.isalpha() and word[1:].islower())


# Weights of words

ROLE_WEIGHT = {
    EventRole.USER: 3.0,
    EventRole.ASSISTANT: 2.0,
    EventRole.TOOL: 0.6,
    EventRole.SYSTEM: 0.0,
}
"""The weight of a mention by role."""

PLAIN_CALL_WORD_WEIGHT = 0.25
"""The factor on the weight of a mention in a tool call of a plain word ("log")."""

SATURATION = 6.0
"""The number of weighted mentions that gives half of the maximum weight."""

NAME_WEIGHT = 1.6
"""The factor on the weight of a name."""


@dataclass(frozen=True, slots=True)
class WordWeights:
    """Possible keywords of a segment, by stem."""

    weights: Mapping[str, float]
    forms: Mapping[str, str]
    """The most frequent spelling of each, of several the one in lower case."""


def weigh_words(events: Sequence[Event]) -> WordWeights:
    """Return the weight and display form of each possible keyword."""
    mentions: dict[str, float] = defaultdict(float)
    spread: Counter[str] = Counter()
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    tools = {analyzer.fold(event.metadata.get("tool_name", "")) for event in events}
    for event in events:
        counts: dict[str, float] = defaultdict(float)
        is_call = event.role is EventRole.TOOL
        for word, count in Counter(candidate_words(keyword_source(event))).items():
            if analyzer.fold(word) not in tools:
                root = _root_of(word)
                spellings[root][word] += count
                is_plain = is_call and not is_name(word)
                counts[root] += count * (PLAIN_CALL_WORD_WEIGHT if is_plain else 1.0)
        for root, mentioned in counts.items():
            mentions[root] += ROLE_WEIGHT[event.role] * min(mentioned, 3)
        spread.update(counts.keys())
    forms = {
        root: max(counts, key=lambda word: (counts[word], word))
        for root, counts in spellings.items()
    }
    weights = {
        root: _weight(forms[root], weight, spread[root])
        for root, weight in mentions.items()
    }
    return WordWeights(weights, forms)


@lru_cache(maxsize=analyzer.WORD_CACHE_SIZE)
def _root_of(name: str) -> str:
    """Return the stem of a word; a compound and a run of Chinese are their own."""
    query_terms = analyzer.query_terms(name)
    return query_terms[0] if len(query_terms) == 1 else analyzer.fold(name)


def _weight(word: str, mentions: float, spread: int) -> float:
    """Return the weight of a word from its weighted mentions and number of events."""
    saturated = mentions / (mentions + SATURATION) * (1 + 0.15 * min(spread, 5))
    return saturated * (NAME_WEIGHT if is_name(word) else 1.0)


# Keywords of nodes

PROPOSAL_GAIN = 1.5
"""The gain of a model's first keyword; later ones gain less."""

DAMPING = 4
"""The keyword of this rank, counted from 0, gains half as much as the first one."""


def segment_keywords(
    events: Sequence[Event],
    proposed: Sequence[str] = (),
) -> tuple[Keyword, ...]:
    """Return the keywords of a segment, highest weight first.

    Args:
        events: The events of the segment.
        proposed: Keywords proposed by a model, best first; those that do not occur in
            the segment are left out.
    """
    words = weigh_words(events)
    keywords = {
        root: Keyword(words.forms[root], weight)
        for root, weight in words.weights.items()
        if weight > 0
    }
    for place, phrase in enumerate(_proposals_in(events, proposed)):
        root = _root_of(phrase)
        parts = [words.weights.get(term, 0.0) for term in analyzer.query_terms(phrase)]
        keyword = keywords.get(root, Keyword(phrase, max(parts, default=0.0) / 2))
        weight = keyword.weight + PROPOSAL_GAIN / (1 + place / DAMPING)
        keywords[root] = replace(keyword, weight=weight)
    return _select_best(keywords, MAX_KEYWORDS[TocLevel.SEGMENT])


def parent_keywords(
    level: TocLevel, children: Iterable[Sequence[Keyword]]
) -> tuple[Keyword, ...]:
    """Return the keywords of a parent, chosen from its children's.

    Weights are normalized so that a busy child counts more than a quiet one, but only
    by the square root. A word that many children have says less about each of them: in
    a longer period than a day, one that all have weighs about as much as in one.

    Args:
        level: The parent's level, which determines the number of keywords.
        children: The keywords of each child, highest weight first.
    """
    rows = [row for row in children if row]
    by_word: dict[str, list[Keyword]] = defaultdict(list)
    for row in rows:
        norm = math.sqrt(max(keyword.weight for keyword in row)) or 1.0
        for keyword in row:
            normalized = replace(keyword, weight=keyword.weight / norm)
            by_word[analyzer.fold(keyword.word)].append(normalized)
    power = 1 if level is TocLevel.DAY else 2
    keywords: dict[str, Keyword] = {}
    for folded, same in by_word.items():
        rarity = math.log(1 + len(rows) / len(same)) / math.log(1 + len(rows))
        weight = sum(keyword.weight for keyword in same) * rarity**power
        heaviest = max(same, key=lambda keyword: (keyword.weight, keyword.word))
        keywords[folded] = replace(heaviest, weight=weight)
    return _select_best(keywords, MAX_KEYWORDS[level])


def _proposals_in(events: Sequence[Event], proposed: Sequence[str]) -> Iterator[str]:
    """Yield the proposed keywords that are short and occur in one event."""
    found_terms = [
        set(analyzer.terms(counted_text(event)))
        for event in (events if proposed else ())
        if ROLE_WEIGHT[event.role]
    ]
    for phrase in proposed:
        line = " ".join(normalize(clean(phrase)).split())
        line_terms = set(analyzer.query_terms(line))
        is_found = any(line_terms <= event_terms for event_terms in found_terms)
        if is_found and len(line) <= MAX_CHARS and any(candidate_words(line)):
            yield line


def _select_best(keywords: Mapping[str, Keyword], limit: int) -> tuple[Keyword, ...]:
    """Return the keywords of highest weight that do not repeat better ones."""
    selected: list[Keyword] = []
    covered: set[str] = set()
    ranked = sorted(keywords, key=lambda root: (-keywords[root].weight, root))
    for keyword in (keywords[root] for root in ranked):
        terms = set(analyzer.query_terms(keyword.word))
        folded = analyzer.fold(keyword.word)
        is_repetition = terms and terms <= covered and "." not in keyword.word
        if folded not in covered and not is_repetition:
            selected.append(replace(keyword, weight=round(keyword.weight, 3)))
            covered |= terms | {folded}
        if len(selected) == limit:
            break
    return tuple(selected)


# Surprise

FEW_TERMS = 10
"""A segment of fewer terms has a lower score."""

NEW_TERMS_WEIGHT = 0.3
"""The weight of terms that are new, against terms the most similar session lacks."""

SHARPNESS = 1.6
"""The exponent that gives work like the day before 0.3, and a new subject in a known
project 0.7."""


def surprise_terms(keywords: Iterable[Keyword]) -> dict[str, float]:
    """Return the terms by which a segment is compared, with their weights."""
    weights: dict[str, float] = defaultdict(float)
    for keyword in keywords:
        terms = analyzer.query_terms(keyword.word)
        for term in terms:
            weights[term] += keyword.weight / len(terms)
    return weights


def surprise_score(
    term_weights: Mapping[str, float],
    holders: Mapping[str, Collection[int]],
    sessions: int,
) -> float:
    """Return how surprising a segment is: 0 to 1.

    Args:
        term_weights: The segment's terms, from ``surprise_terms``.
        holders: For each term the numbers of the earlier sessions that contain it; a
            term without any may be left out.
        sessions: Number of earlier sessions.
    """
    earlier = max(sessions, 1)
    weights = {
        term: weight
        * inverse_document_frequency(
            earlier, min(len(holders.get(term, ())) or 1, earlier)
        )
        for term, weight in term_weights.items()
    }
    total = sum(weights.values())
    if not total:
        return 0.0
    shared: dict[int, float] = defaultdict(float)
    for term, weight in weights.items():
        for session in holders.get(term, ()):
            shared[session] += weight
    difference = 1.0 - max(shared.values(), default=0.0) / total
    new = sum(w for term, w in weights.items() if not holders.get(term)) / total
    novelty = (1.0 - NEW_TERMS_WEIGHT) * difference + NEW_TERMS_WEIGHT * new
    completeness = min(1.0, len(term_weights) / FEW_TERMS)
    return round(math.pow(max(novelty, 0.0) * completeness, SHARPNESS), 3)
