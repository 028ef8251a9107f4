"""Functions on text take time in proportion to its length, whatever it consists of."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count

import pytest

from memtui.model.calendar import TocLevel
from memtui.search import node_scoring
from memtui.search import query as search_query
from memtui.search.message_index import Matches
from memtui.search.node_scoring import NodeField
from memtui.search.ranking import query_terms, wording_bonus
from memtui.search.snippets import Sentences, best_snippet, find_marks
from memtui.text import analyzer

NOW = datetime(2026, 1, 1, tzinfo=UTC)
QUERY = search_query.parse('token getUserName "sliding window" ab a', UTC)
BONUS = wording_bonus(QUERY, Matches(query_terms(QUERY)))

FUNCTIONS: dict[str, Callable[[str], object]] = {
    "terms": analyzer.terms,
    "term_text": analyzer.term_text,
    "query_terms": analyzer.query_terms,
    "split_word": analyzer.split_word,
    "last_part": analyzer.last_part,
    "fold": analyzer.fold,
    "matching_terms": lambda text: analyzer.matching_terms(text, {"ab"}, {"a"}),
    "find_spans": lambda text: analyzer.find_spans(text, {"ab"}, {"a"}),
    "find_marks": lambda text: find_marks(text, QUERY),
    "best_snippet": lambda text: best_snippet(text.splitlines(), QUERY),
    "passages": lambda text: Sentences(text, QUERY).passages({"ab": 1.0}),
    "matches": QUERY.matches,
    "wording": BONUS,
    "parse": lambda text: search_query.parse_with_dates(text, NOW, UTC),
    "weights": lambda text: node_scoring.term_weights(
        [(NodeField.BULLETS, text)], TocLevel.DAY
    ),
}

PIECES = [
    *("a", "aB", "A", "a.", "a/", "a_", "a-", "a'", "::a", "1a", "#", "é", "e\u0301"),
    *("評", "ไ", "가", "İ", "…", " ", "\n", "a ", "ab. ", "ab? ", '"', '"a ', "-ab "),
    *("[redacted: ", "after:", 'agent:"', "x:", "last ", "12:", "ab* ", "http://a/"),
]

SHORT, TIMES_LONGER = 5_000, 4
LEAST_S = 0.003
"""Shorter times say nothing about growth."""


def took_s(function: Callable[[str], object], text: str) -> float:
    begun_s = time.thread_time()
    function(text)
    return time.thread_time() - begun_s


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_time_grows_with_the_length(name: str, piece: str) -> None:
    number = count()

    def best_s(size: int) -> float:
        # Each time another first word: results for words are cached.
        texts = (f"q{next(number)}x{piece * (size // len(piece))}" for _ in range(3))
        return min(took_s(FUNCTIONS[name], text) for text in texts)

    short_s = max(best_s(SHORT), LEAST_S)
    assert best_s(SHORT * TIMES_LONGER) < short_s * TIMES_LONGER * 2
