"""Suggesting: what a word that is nowhere was probably meant to be."""

from collections.abc import Iterator
from heapq import nlargest

from memtui.search import spelling
from memtui.search.query import Query, Word
from memtui.search.snapshots import Snapshot
from memtui.text.analyzer import fold
from memtui.text.stemmer import stem

SHORTEST = 4
"""A word of fewer letters is next to too many others."""


LONGEST = 40
"""A word of more letters is no misspelt one."""


FOR_TWO = 6
"""From so many letters on a word may be two edits off."""


SURE = 3
"""So many letters at its beginning are right in a word that is two edits off."""


RARE = 10
"""A word is only taken for another where that one is so many times more frequent."""


ODD = 4
"""In how many letters, at the most, a word and one that is two edits off differ."""


LOOKED_AT = 20
"""How many of the nearest words are looked at closely."""


Near = tuple[int, int, str]
"""How far a word is off, how often the other is found (negated), and the other."""


def suggestion(snapshot: Snapshot, query: Query, *, has_few: bool) -> str:
    """A query with its misspelt words as the index has them; "" where none is.

    Args:
        snapshot: The index.
        query: What was asked.
        has_few: Whether it finds little, so that rare words are in doubt too.
    """
    text = query.text
    for word in query.words:
        other = _meant(snapshot, word, has_few=has_few)
        if other:
            text = text.replace(word.text, other, 1)
    return "" if text == query.text else text


def _meant(snapshot: Snapshot, word: Word, *, has_few: bool) -> str:
    written = fold(word.text)
    if not (SHORTEST <= len(written) <= LONGEST and written.isidentifier()):
        return ""
    parts = min(map(snapshot.frequency, word.terms))
    known = max(snapshot.frequency(written), parts)
    if known and not has_few:
        return ""
    if not known and word.is_begun and snapshot.completions(word.begun):
        return ""
    found = sorted(nearest(snapshot, written))[:LOOKED_AT]
    forms = {written, stem(written), *word.terms}
    for _, count, other in found:
        if -count > known * RARE and stem(other) not in forms:
            return _spelt(snapshot, other)
    return ""


def nearest(snapshot: Snapshot, word: str) -> Iterator[Near]:
    """The words of the index one edit off, or two after a right beginning."""
    for other in {*spelling.neighbours(word, SURE)} - {word}:
        if count := _count(snapshot, other):
            yield 1, -count, other
    start = word[:SURE].encode("utf-8", "replace")
    letters = set(word.encode("utf-8", "replace"))
    most = 2 if len(word) >= FOR_TWO else 1
    lengths = range(len(word) - most, len(word) + most + 1)
    for piece in snapshot.pieces:
        begun = piece.contents.vocabulary.beginning(start)
        near = {term for term in begun if len(term) in lengths}
        for term in near:
            if len(letters ^ {*term}) <= ODD:
                other = term.decode()
                apart = spelling.distance(word, other, most)
                if 0 < apart <= most:
                    yield apart, -_count(snapshot, other), other


def _count(snapshot: Snapshot, word: str) -> int:
    term = word.encode("utf-8", "replace")
    return sum(piece.contents.vocabulary.count(term) for piece in snapshot.pieces)


def _spelt(snapshot: Snapshot, term: str) -> str:
    """A term as somebody wrote it: a stem that stands nowhere gives a word it is of."""
    if stem(term) != term:
        return term
    start = term[:-1] if len(term) > SHORTEST else term
    forms = {
        other
        for piece in snapshot.pieces
        for begun in piece.contents.vocabulary.beginning(start.encode())
        for other in (begun.decode(),)
        if other != term and stem(other) == term
    }
    for piece in snapshot.pieces:
        others = (piece.listed(form)[0] for form in forms)
        if set(piece.listed(term)[0]).difference(*others):
            return term
    best = nlargest(1, sorted(forms), key=lambda form: _count(snapshot, form))
    return best[0] if best else term
