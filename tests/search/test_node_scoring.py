"""Scores from 0 to 1, in four bands."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.model.calendar import TocLevel
from memtui.model.hit import (
    MIN_EXCELLENT,
    MIN_GOOD,
    MIN_PARTIAL,
    ScoreBand,
    score_band,
)
from memtui.search import node_scoring
from memtui.search.node_scoring import FieldText, NodeField
from memtui.text import analyzer
from memtui.text.analyzer import inverse_document_frequency

SIZE = 10_000
RARE, COMMON = 5, 4000
"""How many of SIZE documents contain a word."""

LEVELS = list(TocLevel)
VOCABULARY = ["ferry", "harbour", "quay", "tide", "anchor", "mast", "rope", "sail"]
QUERIES = st.lists(
    st.sampled_from(VOCABULARY[:-2]), min_size=1, max_size=6, unique=True
)
TEXTS = st.lists(st.sampled_from(VOCABULARY), max_size=60)


def score(
    query: str,
    *texts: FieldText,
    level: TocLevel = TocLevel.SEGMENT,
    common: str = "",
) -> float:
    """Return the score that the formula gives a document."""
    idfs = {
        term: inverse_document_frequency(
            SIZE, COMMON if term in common.split() else RARE
        )
        for term in analyzer.query_terms(query)
    }
    weights = node_scoring.term_weights(texts, level)
    total = sum(idf * weights.get(term, 0.0) for term, idf in idfs.items())
    matched = idfs.keys() & weights.keys()
    return total / sum(idfs.values()) * len(matched) / len(idfs)


@pytest.mark.parametrize(
    ("limit", "below", "above"),
    [
        (MIN_EXCELLENT, ScoreBand.GOOD, ScoreBand.EXCELLENT),
        (MIN_GOOD, ScoreBand.PARTIAL, ScoreBand.GOOD),
        (MIN_PARTIAL, ScoreBand.WEAK, ScoreBand.PARTIAL),
    ],
)
def test_limit_belongs_to_the_band_above_it(
    limit: float, below: ScoreBand, above: ScoreBand
) -> None:
    assert score_band(limit) is above
    assert score_band(limit - 1e-9) is below


def test_each_band_has_its_own_advice() -> None:
    assert len({band.advice for band in ScoreBand}) == len(ScoreBand)
    assert (score_band(0.0), score_band(1.0)) == (
        ScoreBand.WEAK,
        ScoreBand.EXCELLENT,
    )


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("part", [NodeField.TITLE, NodeField.HEADLINE])
def test_query_within_a_title_is_an_excellent_match(
    part: NodeField, level: TocLevel
) -> None:
    text = part, "The token refresh of the sliding window, and what else was decided"
    value = score("sliding window token refresh", text, level=level)
    assert score_band(value) is ScoreBand.EXCELLENT


def test_short_excerpt_with_all_words_is_an_excellent_match() -> None:
    text = NodeField.EXCERPT, "sliding window approach for token refresh"
    value = score("sliding window token refresh", text)
    assert score_band(value) is ScoreBand.EXCELLENT


def test_query_within_a_bullet_is_a_good_match() -> None:
    text = (
        NodeField.BULLETS,
        "Chose a sliding window for the refresh of the token at last",
    )
    value = score("sliding window token refresh", text)
    assert score_band(value) is ScoreBand.GOOD


def test_most_words_are_a_partial_match() -> None:
    value = score(
        "sliding window token refresh",
        (NodeField.TITLE, "sliding window token"),
    )
    assert score_band(value) is ScoreBand.PARTIAL


@pytest.mark.parametrize("part", list(NodeField))
def test_common_word_of_four_is_a_weak_match(part: NodeField) -> None:
    text = part, "The file, the file and the file"
    value = score("file window token refresh", text, common="file")
    assert 0 < value < 0.1
    assert score_band(value) is ScoreBand.WEAK


@given(TEXTS, QUERIES)
def test_no_score_reaches_one(words: list[str], query: list[str]) -> None:
    text = " ".join(words)
    texts = [(part, text) for part in NodeField]
    value = score(" ".join(query), *texts, *texts)
    assert 0 <= value < 1
    assert (value > 0) == (not set(query).isdisjoint(words))


@given(TEXTS, QUERIES, st.data())
def test_another_word_of_the_query_raises_the_score(
    words: list[str], query: list[str], data: st.DataObject
) -> None:
    missing = sorted(set(query).difference(words))
    score_of = partial(score, " ".join(query), common="mast tide")
    bullet = NodeField.BULLETS, " ".join(words)
    before = score_of(bullet)
    for word in missing:
        part = data.draw(st.sampled_from(list(NodeField)))
        if part is NodeField.BULLETS:
            after = score_of((part, f"{bullet[1]} {word}"))
        else:
            after = score_of(bullet, (part, word))
        assert after > before


@given(TEXTS, QUERIES, QUERIES)
def test_another_matching_word_in_the_query_does_not_lower_the_score(
    words: list[str], query: list[str], more: list[str]
) -> None:
    distinct = list(dict.fromkeys(words))
    others = [word for word in more if word in distinct and word not in query]
    title = NodeField.TITLE, " ".join(distinct)
    before = score(" ".join(query), title)
    for word in others:
        assert score(" ".join([*query, word]), title) >= before - 1e-12


def test_narrower_node_comes_first_among_equals() -> None:
    title = NodeField.TITLE, "ferry"
    scores = [score("ferry", title, level=level) for level in LEVELS]
    assert scores == sorted(set(scores))
    assert scores[-1] - scores[0] < 0.05


def test_title_outweighs_keywords_and_bullets() -> None:
    parts = [NodeField.BULLETS, NodeField.KEYWORDS, NodeField.TITLE]
    scores = [score("ferry", (part, "ferry")) for part in parts]
    assert scores == sorted(set(scores))


def test_word_in_short_text_outweighs_word_in_long_text() -> None:
    short = score("ferry", (NodeField.BULLETS, "ferry timetable"))
    long = score("ferry", (NodeField.BULLETS, "ferry timetable " + "rope sail " * 40))
    assert short > long > 0
