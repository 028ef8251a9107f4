"""Words: the one analyser, for what is indexed, what is asked and what is marked.

A text is cut into chunks: a word, a compound (``token_refresh``, ``src/auth.rs``,
``std::vec``, ``#123``, ``v1.2.3``) or a run of a script written without blanks. Each
chunk gives terms: itself as it stands, its parts, and the stem of each; a run of
Chinese, Japanese, Korean or Thai gives its pairs of characters. The same chunk gives
the same terms wherever it is met, so that text and query always meet.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache
from itertools import chain

from memtui.memory.words import chunks
from memtui.memory.words.chunks import Piece
from memtui.memory.words.stems import heads
from memtui.memory.words.vocabulary import STOP_WORDS

CACHED = 65_536
"""How many chunks' terms are remembered: words come back far more often than not."""

PHRASE_CHARS = 600
"""Up to this length, in characters, a text is a phrase: a title, a sentence."""

PHRASES = 4_096
"""How many phrases' needed terms are remembered: each is weighed several times."""

LIKELY = 512
"""Of how many questions it is remembered how the words begin that may answer them."""

ASKED, LOOKED_AT = 16, 8_192
"""Of how many questions it is remembered which words may answer them, and of how many
words each."""

MARKED = 1_024
"""How many chunks that hold what was asked for are remembered with their pieces."""


def terms(text: str) -> list[str]:
    """The terms of a text in their order, for an index and for a query alike.

    Stop words are left out; of a text of stop words alone they are all there is.

    Args:
        text: Any string; only its first ``chunks.CAP_CHARS`` characters are read.
    """
    found = chunks.of(text)
    kept = list(chain.from_iterable(map(_TERMS.__getitem__, found)))
    return kept or [chunks.fold(chunk) for chunk in found]


def needed(text: str) -> list[str]:
    """The terms a text must hold to answer a query: for each word its loosest form.

    ``running`` asks for ``run``, which every text with a form of it has among its
    ``terms``; ``getUserName`` asks for ``get``, ``user`` and ``name``. Unlike
    ``terms`` this holds nothing twice.

    Args:
        text: What a person typed.
    """
    of = _needed_by_phrase if len(text) <= PHRASE_CHARS else _needed_by
    return list(of(text))


def answering(text: str, whole: Collection[str], begun: Collection[str]) -> set[str]:
    """The terms of a text that are among some, or that begin as one of others does.

    The words that cannot have such a term are not looked at more closely: that is most
    of them, and a text is read twenty times as fast.

    Args:
        text: Any string.
        whole: Terms.
        begun: How terms begin.
    """
    likely = may_give([*whole, *begun])
    found = [chunk for chunk in chunks.of(text) if likely(chunk)]
    held = set(chain.from_iterable(map(_TERMS.__getitem__, found)))
    if found and not held:
        held = set(terms(text))
    told = held.intersection(whole)
    if starts := tuple(begun):
        told.update(term for term in held if term.startswith(starts))
    return told


def may_give(wanted: Iterable[str]) -> Callable[[str], object]:
    """Tells of a chunk whether it may give terms that begin so, at little cost.

    Args:
        wanted: Terms, or how they begin.
    """
    return _may_give(frozenset(wanted)).__getitem__


class _Likely(dict[str, bool]):
    """Which chunks may answer a question: each is looked at once."""

    def __init__(self, wanted: frozenset[str]) -> None:
        self._search = _heads_of(wanted)

    def __missing__(self, chunk: str) -> bool:
        if len(self) >= LOOKED_AT:
            self.clear()
        found = self[chunk] = bool(self._search(chunk))
        return found


_may_give = lru_cache(maxsize=ASKED)(_Likely)


@lru_cache(maxsize=LIKELY)
def _heads_of(wanted: frozenset[str]) -> Callable[[str], object]:
    starts = sorted({head for start in wanted for head in heads(start)})
    said = "|".join(map(re.escape, starts)) or r"(?!)"
    return re.compile(rf"[^\x00-\x7f]|{said}", re.IGNORECASE).search


def spans(
    text: str, wanted: Collection[str], begun: Collection[str] = ()
) -> list[tuple[int, int]]:
    """Where a text holds one of the wanted terms, to mark it in a snippet.

    Args:
        text: What is shown.
        wanted: Terms, as ``terms`` gives them for the query.
        begun: How terms begin that are wanted too.

    Returns:
        Offsets (start, end) in their order, touching ones joined.
    """
    sought = frozenset(wanted)
    if not (sought or begun):
        return []
    joined: list[tuple[int, int]] = []
    for start, end in sorted(_matching(text, sought, tuple(begun))):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _needed_by(text: str) -> tuple[str, ...]:
    found = chunks.of(text)
    kept = dict.fromkeys(chain.from_iterable(map(_NEEDED.__getitem__, found)))
    return tuple(kept or dict.fromkeys(chunks.fold(chunk) for chunk in found))


_needed_by_phrase = lru_cache(maxsize=PHRASES)(_needed_by)


def _matching(
    text: str, sought: frozenset[str], starts: tuple[str, ...]
) -> Iterator[tuple[int, int]]:
    read = chunks.without_marks(text[: chunks.CAP_CHARS])
    # What is looked up tells at once which chunks are worth cutting apart.
    is_telling = sought.isdisjoint(STOP_WORDS)
    likely = may_give([*sought, *starts])
    for match in chunks.pattern(read).finditer(read):
        chunk, start = match.group(), match.start()
        if is_telling and not (likely(chunk) and _has(_TERMS[chunk], sought, starts)):
            continue
        whole = chunks.fold(chunk)
        if whole in sought or (whole.startswith(starts) and whole in _TERMS[chunk]):
            yield start, match.end()
            continue
        for piece in _cut_apart(chunk[: chunks.CHUNK_CHARS]):
            if _has(piece.terms, sought, starts):
                yield start + piece.start, start + piece.end


def _has(
    terms: tuple[str, ...], sought: frozenset[str], starts: tuple[str, ...]
) -> bool:
    """Whether there are terms that are sought, or that begin so and are looked up."""
    return not sought.isdisjoint(terms) or (
        bool(starts)
        and any(term.startswith(starts) and term not in STOP_WORDS for term in terms)
    )


def terms_of(chunk: str) -> tuple[str, ...]:
    """The terms of one chunk; none of a stop word."""
    return _TERMS[chunk]


def is_telling(chunk: str) -> bool:
    """Whether a chunk is looked up: it is no stop word."""
    return bool(_TERMS[chunk])


class _Remembered(dict[str, tuple[str, ...]]):
    """What chunks give, worked out once; when there are too many, all are forgotten.

    It is asked for every word of every text, half as long as an ``lru_cache`` would be.
    """

    def __init__(self, work_out: Callable[[str], tuple[str, ...]]) -> None:
        self._work_out = work_out

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        if len(self) >= CACHED:
            self.clear()
        found = self[chunk] = self._work_out(chunk)
        return found


def _terms(chunk: str) -> tuple[str, ...]:
    """The terms of a chunk; none for a stop word."""
    chunk = chunk[: chunks.CHUNK_CHARS]
    pieces = chunks.pieces(chunk)
    if len(pieces) == 1 and pieces[0].terms[0] in STOP_WORDS:
        return ()
    return tuple(
        dict.fromkeys(
            term
            for piece in pieces
            for term in piece.terms
            if piece.terms[0] not in STOP_WORDS
        )
    )


def _needed(chunk: str) -> tuple[str, ...]:
    chunk = chunk[: chunks.CHUNK_CHARS]
    if chunks.is_unspaced(chunk):
        return tuple(piece.terms[-1] for piece in chunks.pairs(chunk))
    leaves = chunks.parts(chunk)
    inner = [leaf for leaf in leaves if not leaf.is_joined]
    words = [leaf.terms[0] for leaf in inner]
    if chunk[0] == "#" or chunk[-1] in "+#" or all(word.isdigit() for word in words):
        return _terms(chunk)[:1]
    alone = len(inner) == 1 and inner[0].end - inner[0].start == len(chunk)
    if not alone and min(map(len, words)) == 1:
        return _terms(chunk)[:1]
    return _loosest(inner) or _terms(chunk)[:1]


_TERMS, _NEEDED = _Remembered(_terms), _Remembered(_needed)


def _loosest(pieces: Collection[Piece]) -> tuple[str, ...]:
    return tuple(
        piece.terms[-1] for piece in pieces if piece.terms[0] not in STOP_WORDS
    )


_cut_apart = lru_cache(maxsize=MARKED)(chunks.pieces)
