"""Particulars: the names and numbers of a bullet, which its source must say as well.

A path, an identifier, a flag or a figure means one thing only, so it is compared as it
stands; and it must be said of the same thing, not merely somewhere near.
"""

import re
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from itertools import groupby

from memtui.summarize.grounding import numbers as grounding_numbers
from memtui.text import analyzer
from memtui.text.stopwords import NARRATION_STEMS, STOP_WORDS

_TICKED = re.compile(r"`([^`\n]{1,80})`")
_FLAG = re.compile(r"(?<![\w-])--([A-Za-z][\w\-]*)")
_JOINED = re.compile(r"\w(?:/|::|_|\.)\w|[@#]\w|^[./~]*/\w")
_HUMP = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_APOSTROPHE_S = re.compile("['’]s$")

Path = tuple[str, ...]
"""The parts of a path, folded."""


@lru_cache(maxsize=analyzer.PHRASE_CACHE_SIZE)
def find_details(text: str) -> tuple[str, ...]:
    """The names and numbers of a text, each once, in their order.

    Args:
        text: A bullet. The number of a list entry before it is none of its own.
    """
    code = {chunk for span in _TICKED.findall(text) for chunk in analyzer.words(span)}
    code.update(_FLAG.findall(text))
    return tuple(
        dict.fromkeys(
            number or chunk
            for chunk in analyzer.words(grounding_numbers.separate_numbers(text))
            if (number := grounding_numbers.to_digits(chunk))
            or _is_name(chunk)
            or (chunk in code and _tells(chunk))
        )
    )


def missing_details(
    bullet: str,
    tokens: Sequence[str],
    sentences: Sequence[str],
    shared: Collection[str],
    paths: Callable[[str], Collection[str]],
) -> tuple[str, ...]:
    """The names and numbers of a bullet that its source does not say of the same thing.

    Args:
        bullet: The bullet.
        tokens: Its names and numbers, as ``of`` gives them.
        sentences: Those of the source that it rests on.
        shared: The bullet's terms that these hold. A name counts in a sentence that
            holds another of them: elsewhere it is said of something else.
        paths: The whole source's paths that end in a name. A path of which the
            sentences say only the end is held as long as none of these contradicts it.
    """
    if not tokens:
        return ()
    numbers = {one.digits for one in grounding_numbers.find_numbers(bullet)}
    unsaid = grounding_numbers.unsupported_numbers(bullet, sentences, shared)
    named = [(set(analyzer.terms(one)), _paths(one)) for one in sentences]
    return tuple(
        token
        for token in tokens
        if (
            token in unsaid
            if token in numbers
            else not _is_named(token, named, shared, paths)
        )
    )


def _is_named(
    name: str,
    named: Sequence[tuple[set[str], list[Path]]],
    shared: Collection[str],
    paths: Callable[[str], Collection[str]],
) -> bool:
    own = analyzer.terms(name)
    others, whole = set(shared).difference(own), _path(name)
    beside = [
        (terms, held)
        for terms, held in named
        if not others or not others.isdisjoint(terms) or terms.issubset(own)
    ]
    if len(whole) < 2:
        return not own or any(own[0] in terms for terms, _ in beside)
    if any(
        _agree(whole, one) and len(one) >= len(whole) for _, h in beside for one in h
    ):
        return True
    last = whole[-1]
    is_short = any(_agree(whole, one) for _, held in beside for one in held) or (
        "." in last and any(last in terms for terms, _ in beside)
    )
    return is_short and all(_agree(whole, _path(one)) for one in paths(last))


def _path(name: str) -> Path:
    bare = _APOSTROPHE_S.sub("", analyzer.fold(name))
    return tuple(part for part in bare.split("/") if part not in ("", ".", ".."))


def _paths(text: str) -> list[Path]:
    return [_path(chunk) for chunk in analyzer.words(text) if "/" in chunk]


def _agree(one: Path, other: Path) -> bool:
    """Whether two paths are the same from the end, as far as both go."""
    both = min(len(one), len(other))
    return one[-both:] == other[-both:]


def _tells(chunk: str) -> bool:
    return len(chunk) > 1 and _tells_any(chunk)


@lru_cache(maxsize=analyzer.WORD_CACHE_SIZE)
def _tells_any(chunk: str) -> bool:
    return analyzer.fold(chunk) not in STOP_WORDS


@lru_cache(maxsize=analyzer.WORD_CACHE_SIZE)
def _is_name(chunk: str) -> bool:
    chunk = _APOSTROPHE_S.sub("", chunk)
    if _JOINED.search(chunk) or _HUMP.search(chunk):
        return True
    return any(map(str.isdigit, chunk))


RUN = 3
"""So many telling words in a row that the source lacks are a claim of their own."""

CLAUSE = 2
"""So many are one in a clause of which the source holds none."""

LEAST_TOLD = 2
"""A bullet of fewer telling words, none of them a name, says nothing to look for."""

_CLAUSES = re.compile(
    r"[;:,，；—–(]\s*|\s(?:and|but|because|since|so that|in order to|due to|thanks to"
    r"|after|before|while|although|though|which|und|aber|weil|damit|denn|nachdem)\s"
    r"|因为|所以|但是|而且|以便"
)


def unsupported_words(text: str, held: Collection[str]) -> tuple[str, ...]:
    """The words of the largest stretch of a text that its source does not say.

    Args:
        text: A bullet, or a clause of one.
        held: Its terms that the source holds.

    Returns:
        The stretch's telling words as they are written; none if it is too short to be
        a claim of its own.
    """
    if sum(term not in held for term in analyzer.query_terms(text)) < CLAUSE:
        return ()
    found: list[tuple[str, ...]] = []
    whole: list[tuple[str, bool]] = []
    for clause in _CLAUSES.split(text):
        told = [(one, _is_held(one, held)) for one in analyzer.words(clause)]
        told = [one for one in told if _terms(one[0])]
        whole += told
        if told and not any(is_held for _, is_held in told):
            found.append(tuple(word for word, _ in told))
    found = [one for one in found if _size(one) >= CLAUSE]
    for is_held, run in groupby(whole, key=lambda one: one[1]):
        stretch = tuple(word for word, _ in run)
        if not is_held and _size(stretch) >= RUN:
            found.append(stretch)
    return max(found, key=len, default=())


def says_too_little(text: str) -> bool:
    """Whether a text says too little for a source to say it or not."""
    told = sum(len(_terms(one)) > 0 for one in analyzer.words(text))
    if told >= LEAST_TOLD or find_details(text):
        return False
    return not any(
        analyzer.is_unspaced(one) and len(one) > 3 for one in analyzer.words(text)
    )


def _size(stretch: Collection[str]) -> float:
    """How many words a stretch has; of a script without blanks every second sign."""
    return sum(len(one) / 2 if analyzer.is_unspaced(one) else 1 for one in stretch)


def _is_held(word: str, held: Collection[str]) -> bool:
    own = _terms(word)
    return 2 * sum(term in held for term in own) >= len(own)


@lru_cache(maxsize=analyzer.WORD_CACHE_SIZE)
def _terms(word: str) -> tuple[str, ...]:
    """The loosest forms of a word; none of one that tells nothing."""
    if analyzer.fold(word) in STOP_WORDS:
        return ()
    found = analyzer.query_terms(word)
    return () if NARRATION_STEMS.issuperset(found) else tuple(found)
