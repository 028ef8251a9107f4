"""Queries: what was typed, parsed into words, phrases, exclusions and filters.

Any text is a query. Text that is not syntax is searched for as it is: ``std::vec``,
``http://…``, ``--force`` and an unbalanced quote.

====================  =========================================================
``token refresh``     either word, in any form; the last may be unfinished
``"exact words"``     these words in this order, punctuation included
``refr*``             words that begin so
``-term``             nothing that contains it; ``-rf`` and ``--force`` are text
``agent:codex``       a filter; see ``FILTER_FIELDS``
====================  =========================================================

Dates outside quotes and filters are separated from the words to look up. Names of
sessions, agents and projects are resolved as far as the store has them.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time, tzinfo
from typing import TYPE_CHECKING

from memtui.errors import AmbiguousError, MemtuiError
from memtui.model.events import clean
from memtui.model.filters import EVERYTHING, FILTER_FIELDS, Filters, Scope
from memtui.search.weights import VAGUE_WEIGHT
from memtui.store import database, scopes, sessions
from memtui.text import analyzer
from memtui.text.fencing import neutralize_line
from memtui.text.stems import form_prefix
from memtui.text.stopwords import (
    ASKING_WORDS,
    VAGUE_WORDS,
    is_function_word,
    word_set,
)

if TYPE_CHECKING:
    from memtui.text.dates import DatePeriod


NO_WORD = 'Type a word to search for; symbols alone need quotes: "=>".'

MAX_CHARS = 10_000
"""The number of characters of a query that are read."""

MAX_WORDS = 64
"""The number of different words of a query that are searched for: its first ones."""

FLAG_CHARS = 2
"""Up to this many letters after a hyphen are a flag (``-rf``), more an exclusion."""

PART_CHARS = 3
"""An unfinished identifier is completed from its last part if that is so long."""

_TOKEN = re.compile(
    r'(?P<name>[A-Za-z]+):(?P<value>"[^"]*"|\S+)|(?P<not>-)?"(?P<quoted>[^"]+)"|\S+'
)
_EXCLUDED = re.compile(rf"-(\w[\w.@/-]{{{FLAG_CHARS},}}\*?)$")
_EXCLUDED_FILTER = re.compile(r"-([^:]+):")
_HASH = re.compile(r"(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,64}")


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    """The word as it was typed."""
    terms: tuple[str, ...]
    """A text matches if it has all of these; see ``analyzer.query_terms``."""
    exact: str = ""
    """The term of the word exactly as typed, if it is another one: texts that have it
    match better."""
    prefix: str = ""
    """Terms that begin so match as well as the last of ``terms``; "" for none. It is as
    typed: "retries" does not match "retrieve"."""

    @property
    def is_prefix(self) -> bool:
        return bool(self.prefix)

    @property
    def is_specific(self) -> bool:
        """True if it can be the topic of a question."""
        folded = analyzer.fold(self.text)
        return analyzer.is_indexed(self.text) and not (
            folded in VAGUE_WORDS or is_function_word(folded)
        )

    @property
    def whole(self) -> str:
        """The term of a complete identifier, such as ``some_flag``; "" for a word."""
        is_plain = len(self.terms) == 1 and self.text.replace("'", "").isalpha()
        return "" if is_plain else self.exact

    @property
    def with_forms(self) -> "Word":
        """The word with the prefix of its other forms, if its stem is not that."""
        is_stemmed = self.text.isascii() or len(self.terms) > 1
        return (
            self
            if is_stemmed or analyzer.is_unspaced(self.text)
            else replace(self, prefix=form_prefix(self.terms[0]))
        )

    def matches(self, terms: set[str]) -> bool:
        *first, last = self.terms
        return terms.issuperset(first) and (
            last in terms
            or (self.is_prefix and any(term.startswith(self.prefix) for term in terms))
        )


@dataclass(frozen=True, slots=True)
class Query:
    text: str
    """The query as it was typed, without the dates that were read."""
    words: tuple[Word, ...] = ()
    """The words to search for, those of phrases included, each once."""
    phrases: tuple[str, ...] = ()
    """Texts that must occur as they are, folded."""
    phrase_terms: tuple[str, ...] = ()
    excluded: tuple[Word, ...] = ()
    excluded_phrases: tuple[str, ...] = ()
    """Texts that must not occur, folded."""
    filters: Filters = EVERYTHING
    hints: tuple[str, ...] = ()
    """Sentences about what could not be understood."""
    stop_words: int = 0
    """The number of typed words that no index contains."""
    periods: "tuple[DatePeriod, ...]" = ()
    """The dates that were read; see ``parse_with_dates``."""

    def covers(self, at: datetime) -> bool:
        """Return True if a time lies in one of the periods."""
        return any(_is_in(at, period) for period in self.periods)

    def describe_periods(self, times: Collection[datetime]) -> tuple[str, ...]:
        """Return a sentence about each period: whether the time of a hit lies in it."""
        return tuple(
            f"{period.label} comes first."
            if any(_is_in(at, period) for at in times)
            else f"{period.label} has nothing that answers."
            for period in self.periods
        )

    @property
    def has_topic(self) -> bool:
        """True if a word or phrase names a topic."""
        return bool(self.phrases) or any(word.is_specific for word in self.words)

    def weight(self, word: Word) -> float:
        """Return how much a word counts: less if only others name the topic."""
        return 1.0 if word.is_specific or not self.has_topic else VAGUE_WEIGHT

    @property
    def terms(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(t for word in self.words for t in word.terms))

    @property
    def prefixes(self) -> frozenset[str]:
        return frozenset(word.prefix for word in self.words if word.is_prefix)

    @property
    def is_empty(self) -> bool:
        return not (self.words or self.phrases)

    @property
    def has_only_stop_words(self) -> bool:
        """True if no index contains any of its words."""
        return not any(analyzer.is_indexed(word.text) for word in self.words)

    @property
    def needs_text(self) -> bool:
        """True if the terms of a text cannot decide whether it matches."""
        return bool(self.phrases or self.excluded or self.excluded_phrases)

    def matches(self, text: str) -> bool:
        """Return True if a text has all phrases and nothing excluded."""
        if not self.needs_text:
            return True
        folded = analyzer.fold(text)
        if not all(phrase in folded for phrase in self.phrases):
            return False
        if any(phrase in folded for phrase in self.excluded_phrases):
            return False
        return not (self.excluded and self._has_excluded(text))

    def _has_excluded(self, text: str) -> bool:
        # Stop words are no terms, but can be excluded.
        terms = {*analyzer.terms(text), *map(analyzer.fold, analyzer.words(text))}
        return any(word.matches(terms) for word in self.excluded)


def _is_in(at: datetime, period: "DatePeriod") -> bool:
    return (period.start is None or period.start <= at) and (
        period.end is None or at < period.end
    )


def parse(text: str, zone: tzinfo, filters: Filters = EVERYTHING) -> Query:
    """Parse any text without reading dates; filters in it replace the others."""
    tokens: list[tuple[str, bool]] = []  # and whether it is the end of the query
    phrases: list[str] = []
    excluded: list[tuple[str, bool]] = []
    excluded_phrases: list[str] = []
    hints: list[str] = []
    # A shell may pass bytes that are no text.
    text = text.encode("utf-8", "replace").decode()
    if len(text) > MAX_CHARS:
        hints.append(f"Only the first {MAX_CHARS:,} characters were read.")
    for match in _TOKEN.finditer(text[:MAX_CHARS]):
        token, name = match.group(), (match["name"] or "").lower()
        quoted = (match["quoted"] or "").strip()
        excluded_filter = _EXCLUDED_FILTER.match(token)
        if filter_field := FILTER_FIELDS.get(name):
            value = match["value"].strip('"')
            try:
                filters = filter_field.read(filters, value, zone)
            except ValueError:
                hints.append(
                    f"{name}: takes {filter_field.description}, not “{value}”."
                )
        elif excluded_filter and excluded_filter[1].lower() in FILTER_FIELDS:
            hints.append(f"{token}: a filter says what to keep, not what to drop.")
        elif quoted and match["not"]:
            excluded_phrases.append(quoted)
        elif quoted:
            phrases.append(quoted)
            tokens.append((quoted, False))
        elif exclusion := _EXCLUDED.match(token):
            excluded.append((exclusion[1], False))
        else:
            tokens.append((token, match.end() == len(text)))
    words = _words(tokens)
    if len(words) > MAX_WORDS:
        hints.append(f"Only the first {MAX_WORDS} words were searched for.")
    return Query(
        text=text,
        words=tuple(words[:MAX_WORDS]),
        phrases=tuple(dict.fromkeys(map(analyzer.fold, phrases))),
        phrase_terms=_phrase_terms(phrases),
        excluded=tuple(_words(excluded)),
        excluded_phrases=tuple(map(analyzer.fold, excluded_phrases)),
        filters=filters,
        hints=tuple(dict.fromkeys(hints)),
        stop_words=sum(
            not analyzer.is_indexed(word)
            for token, _ in tokens
            for word in analyzer.words(token)
        ),
    )


def read_question(text: str) -> str:
    """Return a question as a query in which nothing is excluded.

    An error that is pasted into a question has flags: "ld: cannot find -lzanzibar".
    """
    return _TOKEN.sub(
        lambda match: (
            match.group().removeprefix("-")
            if match["not"] or _EXCLUDED.match(match.group())
            else match.group()
        ),
        text,
    )


def correct(typed: str, searched: str, corrected: str) -> str:
    """Correct the misspelt words in all that was typed, dates included.

    The part that was searched for has been corrected already, or is "".
    """
    for word, right in zip(searched.split(), corrected.split(), strict=False):
        if word != right:
            typed = typed.replace(word, right, 1)
    return typed if corrected else ""


def _words(tokens: list[tuple[str, bool]]) -> list[Word]:
    """Return the words of tokens; stop words only if there are no others.

    Words that only ask for what was said are left out where others name a topic.
    """
    words = [word for token in tokens for word in _token_words(*token)]
    indexed = [word for word in words if analyzer.is_indexed(word.text)]
    if any(word.is_specific for word in indexed):
        indexed = [
            word for word in indexed if analyzer.fold(word.text) not in ASKING_WORDS
        ]
    return list({word.terms: word for word in indexed or words}.values())


def _token_words(token: str, is_last: bool) -> list[Word]:
    is_unfinished = token.endswith("*") or (is_last and token[-1].isalnum())
    words = [_word(text) for text in analyzer.words(token)]
    words = [word for word in words if word.terms]
    if is_unfinished and words:
        words[-1] = replace(words[-1], prefix=_prefix(words[-1].text))
    return words


def _prefix(text: str) -> str:
    part = analyzer.last_part(text)
    return part if len(part) >= PART_CHARS else analyzer.terms(text)[0]


def _word(text: str) -> Word:
    folded = analyzer.fold(text)
    if _HASH.fullmatch(folded):
        return Word(text, (folded,), prefix=folded)
    terms = tuple(analyzer.query_terms(text))
    exact = analyzer.terms(text)[0]
    return Word(text, terms, "" if exact in terms else exact)


def _phrase_terms(phrases: list[str]) -> tuple[str, ...]:
    words = [word for phrase in phrases for word in analyzer.words(phrase)]
    indexed = filter(analyzer.is_indexed, words)
    return tuple(
        dict.fromkeys(term for word in indexed for term in analyzer.query_terms(word))
    )


# Dates

NEWEST_LISTED = "Without a word to search for, the newest are listed."

NOTHING_STORED = "Nothing is stored of it."
"""Follows the time that a query names."""

STARTS_BEFORE = (
    "Nothing starts then. This starts before and continues into it: work is listed"
    " under the day it starts in."
)

PERIOD_WORDS = word_set(
    "activity conversations done history overview progress recap session sessions"
    " status summary updates work"
)
"""Words that ask for all of a period: "summary of february"."""

MIN_STOP_WORDS = 2
"""A text with so many stop words is a sentence."""

MAX_PERIODS = 12
"""The number of periods of a query that are used: its first ones."""

FILTER_CHARS = 60
"""The number of characters read for a date after ``after:`` or ``before:``."""

_DATE_FILTER = re.compile(
    r'\b(?P<name>after|before):(?:"(?P<quoted>[^"]*)"|(?=[^\W\d]|\d+[^\W\d]|\d+ ))',
    re.I,
)

_NOT_READ = re.compile(
    rf'"[^"]*"|\b(?:{"|".join(FILTER_FIELDS)}):(?:"[^"]*"|\S+)', re.I
)


def restrict_to_periods(within: Filters, periods: Sequence["DatePeriod"]) -> Filters:
    """Restrict filters to the time from the first period's start to the last end.

    A side on which a period is open is not restricted.
    """
    starts, ends = (
        [period.start for period in periods],
        [period.end for period in periods],
    )
    first = min((at for at in starts if at), default=None) if all(starts) else None
    last = max((at for at in ends if at), default=None) if all(ends) else None
    return replace(
        within,
        since=max((at for at in (within.since, first) if at), default=None),
        until=min((at for at in (within.until, last) if at), default=None),
    )


def parse_with_dates(
    text: str, now: datetime, zone: tzinfo, filters: Filters = EVERYTHING
) -> Query:
    """Parse any text with dates; filters in it replace the others."""
    words, periods = _read_dates(text, now, zone)
    return replace(parse(words, zone, filters), periods=periods)


def _read_dates(
    text: str, now: datetime, zone: tzinfo
) -> tuple[str, tuple["DatePeriod", ...]]:
    from memtui.text import dates  # slow to import, and not needed by the indexes

    query = _with_filter_dates(text[:MAX_CHARS], now, zone)
    readable = _NOT_READ.sub(lambda match: "\0" * len(match.group()), query)
    if periods := dates.read(readable, now, zone):
        words = dates.remove(query, periods)
        return words, tuple(dates.distinct(periods)[:MAX_PERIODS])
    # "feb 11" and "july" alone are dates, unlike within a text; "2000" is a number.
    if not query.strip().isdigit() and (whole := dates.read_whole(query, now, zone)):
        return "", (whole,)
    return query, ()


def _with_filter_dates(query: str, now: datetime, zone: tzinfo) -> str:
    """Replace words after ``after:`` and ``before:`` by an ISO date."""
    from memtui.text import dates

    place, replaced = 0, ""
    for match in _DATE_FILTER.finditer(query):
        if match.start() < place or query.count('"', 0, match.start()) % 2:
            continue
        quoted = match["quoted"]
        words = quoted if quoted is not None else query[match.end() :][:FILTER_CHARS]
        period = next(iter(dates.read(words, now, zone)), None)
        if period is None or period.span[0]:
            continue
        if quoted and period.span[1] < len(quoted):
            continue
        at = (period.start or period.end or now).astimezone(zone)
        form = "%Y-%m-%d" if at.time() == time() else "%Y-%m-%dT%H:%M"
        replaced += f"{query[place : match.start()]}{match['name']}:{at.strftime(form)}"
        place = match.end() + (0 if quoted is not None else period.span[1])
    return replaced + query[place:]


# Queries without a topic, for which the newest are listed


def query_for_newest(query: Query) -> Query | None:
    """Return the query to list the newest for; None if it names a topic, or no filters.

    "What was I doing" names none. Several periods are taken as one, from the first to
    the last.
    """
    query = _read_scope(query) if query.periods else query
    has_filters = any(f"{name}:" in query.text.lower() for name in FILTER_FIELDS)
    is_restricted = bool(query.periods) or (has_filters and not query.hints)
    names_period = all(word.text.lower() in PERIOD_WORDS for word in query.words)
    is_question = (query.stop_words > 0 or names_period) and not query.has_topic
    is_without_words = query.is_empty or (bool(query.periods) and is_question)
    if not (is_without_words and is_restricted) or query.needs_text:
        return None
    filters = restrict_to_periods(query.filters, query.periods)
    return replace(query, words=(), filters=filters)


def _read_scope(query: Query) -> Query:
    """Return a query about a time whose words name only an agent or a project, with
    these as its scope: "what did codex do on 26 June"."""
    words = {word.text for word in query.words if word.is_specific}
    if not words or query.needs_text:
        return query
    scope, names = read_names(words, query.filters.scope)
    if words - names.keys():
        return query
    return replace(query, words=(), filters=replace(query.filters, scope=scope))


def read_names(words: Collection[str], scope: Scope) -> tuple[Scope, dict[str, str]]:
    """Return a scope narrowed to the agent and project that words name, and what these
    words name: ``{"shop": "project"}``. The first word of an agent's name names it."""
    names: dict[str, str] = {}
    with database.connection():
        for agent, _ in scopes.list_names("agent"):
            first, *others = agent.lower().split("-")
            parts = {agent.lower(), first, *others}
            named = [word for word in words if word.lower() in parts]
            if not scope.agent and any(word.lower() not in others for word in named):
                scope = replace(scope, agent=agent)
                names |= dict.fromkeys(named, "agent")
        for project, _ in scopes.list_names("project"):
            named = [word for word in words if word.lower() == project.lower()]
            named = [word for word in named if word not in names]
            if not scope.project and named:
                scope = replace(scope, project=project)
                names |= dict.fromkeys(named, "project")
    return scope, names


def is_small_talk(query: Query) -> bool:
    """Return True for "how are you" and "remind me what we discussed"."""
    indexed = len(query.words) if not query.has_only_stop_words else 0
    is_sentence = query.stop_words >= MIN_STOP_WORDS or not indexed
    return (
        query.stop_words > 0
        and is_sentence
        and not (query.has_topic or query.needs_text)
    )


def describe_newest(query: Query) -> tuple[str, ...]:
    """Return the periods of the query, and a note that this is no ranking."""
    scope = query.filters.scope
    only = f", only {scope}" if scope.is_narrow else ""
    return (*(f"{period.label}{only}." for period in query.periods), NEWEST_LISTED)


def note_earlier_starts(
    periods: Collection["DatePeriod"], starts: Collection[datetime]
) -> tuple[str, ...]:
    """Return a note if all work that was found starts before the periods."""
    bounds = [period.start for period in periods if period.start]
    is_earlier = bounds and starts and max(starts) < min(bounds)
    return (STARTS_BEFORE,) if is_earlier else ()


def list_pages(query: Query, zone: tzinfo) -> list[str]:
    """Return the nodes of exactly the periods of a query without other filters."""
    from memtui.text import dates

    filters = replace(query.filters, since=None, until=None)
    if filters != replace(EVERYTHING, scope=filters.scope):
        return []
    return [
        node_id
        for period in query.periods
        if (node_id := dates.whole_node(period, zone))
    ]


# Names of sessions, agents and projects

MAX_NAMED = 5


class SessionNameError(MemtuiError):
    """A name is not that of exactly one session."""


class UnknownSessionError(SessionNameError):
    """No session has this name."""


class AmbiguousSessionError(SessionNameError, AmbiguousError):
    """Several sessions have this name."""


def find_session(name: str) -> tuple[str, str]:
    """Return the agent and the id of the session ``[agent:]id``.

    The beginning is enough that no other session has.

    Raises:
        UnknownSessionError: There is no such session.
        AmbiguousSessionError: There are several.
    """
    with database.connection():
        agent, start = _split_session_name(name)
        matches = sessions.find_by_name(start, agent, is_prefix=False) if start else []
        if not matches and start:
            matches = sessions.find_by_name(start, agent, is_prefix=True)
    if not matches:
        raise UnknownSessionError(
            f"there is no session {name!r}; see them: memtui sessions"
        )
    if len(matches) > 1:
        names = [f"{agent}:{session}" for agent, session in matches[:MAX_NAMED]]
        raise AmbiguousSessionError(name, "sessions", names, len(matches))
    return matches[0]


def _split_session_name(name: str) -> tuple[str, str]:
    """Split ``[agent:]id``; without a known agent, all of it is the id."""
    name = clean(name).strip()
    agent, colon, start = name.partition(":")
    is_known = bool(agent and colon) and sessions.count((), Scope(agent)) > 0
    return (agent, start) if is_known else ("", name)


def resolve_names(query: Query) -> tuple[Query, list[str]]:
    """Return a query whose filters have the names in the store, and notes.

    A session may be given as ``[agent:]id``, or by its beginning: then all sessions
    that begin so are searched. The notes name what is unknown or ambiguous.
    """
    scope, notes = scopes.resolve_names(query.filters.scope)
    query = replace(query, filters=replace(query.filters, scope=scope))
    name = query.filters.session
    if not name:
        return query, notes
    agent, session = _split_session_name(name)
    is_without_agent = bool(scope.agent) and not agent
    try:
        agent, session = find_session(
            f"{scope.agent}:{name}" if is_without_agent else name
        )
    except SessionNameError as error:
        notes += map(neutralize_line, str(error).splitlines())
    scope = replace(scope, agent=scope.agent or agent)
    filters = replace(query.filters, scope=scope, session=session)
    return replace(query, filters=filters), notes
