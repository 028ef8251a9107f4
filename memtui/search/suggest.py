"""Spelling suggestions: which word of the index a misspelt word was meant to be."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memtui.search.query import Query, Word
from memtui.text.analyzer import fold
from memtui.text.stemmer import stem

if TYPE_CHECKING:
    from memtui.search.node_index import NodeReader

ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789_"
"""The letters that may have been typed by mistake."""

SHORTEST, LONGEST = 4, 40
"""Shorter words resemble too many others; longer ones are no words."""

TWO_EDITS = 6
"""Words of at least this length may be two edits off, shorter ones one."""

BEGINNING = 3
"""A word that is two edits off must have these first letters right."""

RARE = 10
"""A word that is found is only replaced by one this many times more frequent."""


def correct_query(reader: "NodeReader", query: Query, *, has_few: bool) -> str:
    """Return a query with its misspelt words corrected; "" if none is.

    Args:
        reader: The index.
        query: The query.
        has_few: Whether it finds little: then rare words may be misspelt too.
    """
    text = query.text
    for word in query.words:
        if correct := _correction(reader, word, has_few=has_few):
            text = text.replace(word.text, correct, 1)
    return "" if text == query.text else text


def _correction(reader: "NodeReader", word: Word, *, has_few: bool) -> str:
    written = fold(word.text)
    if not (SHORTEST <= len(written) <= LONGEST and written.isidentifier()):
        return ""
    counts = reader.frequencies([written, *word.terms])
    known = max(counts[written], min(counts[term] for term in word.terms))
    if known and not has_few:
        return ""
    if not known and word.is_prefix and reader.beginning(word.prefix, 1):
        return ""
    same = {written, stem(written), *word.terms}
    near = sorted(
        (edits, -count, other) for (edits, other), count in _similar(reader, written)
    )
    for _, count, other in near:
        if -count > known * RARE and stem(other) not in same:
            return _as_written(reader, other)
    return ""


def _similar(reader: "NodeReader", word: str) -> Iterator[tuple[tuple[int, str], int]]:
    """Yield (edits, term) and the frequency of the term.

    The terms are one edit off, or two after a right beginning.
    """
    near = reader.frequencies(set(neighbours(word, BEGINNING)) - {word})
    yield from (((1, other), count) for other, count in near.items())
    most = 2 if len(word) >= TWO_EDITS else 1
    for other, count in reader.beginning(word[:BEGINNING]).items():
        edits = distance(word, other, most)
        if other not in near and 0 < edits <= most:
            yield (edits, other), count


def _as_written(reader: "NodeReader", term: str) -> str:
    """Return a word that was written for a term that is only the stem of others."""
    start = term[:-1] if len(term) > SHORTEST else term
    counts = reader.beginning(start)
    forms = [form for form in counts if form != term and stem(form) == term]
    if stem(term) != term or counts[term] > sum(counts[form] for form in forms):
        return term
    return max(forms, key=counts.__getitem__)


def distance(one: str, other: str, most: int) -> int:
    """Return the Damerau-Levenshtein distance of two words, at most ``most`` + 1.

    It counts letters inserted, deleted, replaced or exchanged with the next one
    (F. J. Damerau, "A technique for computer detection and correction of spelling
    errors", 1964; no part is edited twice).
    """
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        above, row = row, [i] + [0] * len(other)
        for j, wanted in enumerate(other, 1):
            cost = above[j - 1] + (letter != wanted)
            best = min(cost, above[j] + 1, row[j - 1] + 1)
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                best = min(best, before[j - 2] + 1)
            row[j] = best
        if min(row) > most:
            return most + 1
        before = above
    return row[-1]


def neighbours(word: str, within: int) -> Iterator[str]:
    """Yield what is one edit away from a word, some of it twice.

    Args:
        word: The word.
        within: Only the first letters are edited, up to this one.
    """
    cuts = [(word[:at], word[at:]) for at in range(min(within, len(word)) + 1)]
    for start, end in cuts:
        for letter in ALPHABET:
            yield start + letter + end
        if end:
            yield start + end[1:]
            for letter in ALPHABET:
                yield start + letter + end[1:]
        if len(end) > 1:
            yield start + end[1] + end[0] + end[2:]
