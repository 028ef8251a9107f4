"""Scores from 0 to 1, in four bands."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.model.calendar import TocLevel
from memtui.model.hits import (
    MIN_EXCELLENT,
    MIN_GOOD,
    MIN_PARTIAL,
    ScoreBand,
    score_band,
)
from memtui.search import scoring
from memtui.search.scoring import FieldText, NodeField, TermForm, WeightedTerm
from memtui.text import analyzer
from memtui.text.analyzer import inverse_document_frequency
from tests.search.documents import score_document

SIZE = 10_000
RARE, COMMON = 5, 4000
"""How many of SIZE documents hold a word."""

LEVELS = list(TocLevel)
SAYABLE = ["ferry", "harbour", "quay", "tide", "anchor", "mast", "rope", "sail"]
ASKED = st.lists(st.sampled_from(SAYABLE[:-2]), min_size=1, max_size=6, unique=True)
TOLD = st.lists(st.sampled_from(SAYABLE), max_size=60)


def units(query: str, common: str = "") -> list[WeightedTerm]:
    return [
        WeightedTerm(
            term,
            (TermForm(term, 1.0),),
            inverse_document_frequency(
                SIZE, COMMON if term in common.split() else RARE
            ),
            RARE,
        )
        for term in analyzer.query_terms(query)
    ]


def score(
    asked: Sequence[WeightedTerm], *said: FieldText, level: TocLevel = TocLevel.SEGMENT
) -> float:
    return score_document(asked, scoring.term_weights(said, level))


@pytest.mark.parametrize(
    ("limit", "below", "above"),
    [
        (MIN_EXCELLENT, ScoreBand.GOOD, ScoreBand.EXCELLENT),
        (MIN_GOOD, ScoreBand.PARTIAL, ScoreBand.GOOD),
        (MIN_PARTIAL, ScoreBand.WEAK, ScoreBand.PARTIAL),
    ],
)
def test_a_limit_belongs_to_the_band_above_it(
    limit: float, below: ScoreBand, above: ScoreBand
) -> None:
    assert score_band(limit) is above
    assert score_band(limit - 1e-9) is below


def test_each_band_advises_something_else() -> None:
    assert len({band.advice for band in ScoreBand}) == len(ScoreBand)
    assert (score_band(0.0), score_band(1.0)) == (
        ScoreBand.WEAK,
        ScoreBand.EXCELLENT,
    )


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("part", [NodeField.TITLE, NodeField.HEADLINE])
def test_a_query_within_one_title_is_an_excellent_match(
    part: NodeField, level: TocLevel
) -> None:
    said = part, "The token refresh of the sliding window, and what else was decided"
    found = score(units("sliding window token refresh"), said, level=level)
    assert score_band(found) is ScoreBand.EXCELLENT


def test_a_short_quote_of_all_words_is_an_excellent_match() -> None:
    said = NodeField.EXCERPT, "sliding window approach for token refresh"
    found = score(units("sliding window token refresh"), said)
    assert score_band(found) is ScoreBand.EXCELLENT


def test_a_query_within_one_bullet_is_a_good_match() -> None:
    said = (
        NodeField.BULLETS,
        "Chose a sliding window for the refresh of the token at last",
    )
    found = score(units("sliding window token refresh"), said)
    assert score_band(found) is ScoreBand.GOOD


def test_most_of_the_words_are_a_partial_match() -> None:
    found = score(
        units("sliding window token refresh"), (NodeField.TITLE, "sliding window token")
    )
    assert score_band(found) is ScoreBand.PARTIAL


@pytest.mark.parametrize("part", list(NodeField))
def test_one_common_word_of_four_is_a_weak_match(part: NodeField) -> None:
    asked = units("file window token refresh", common="file")
    found = score(asked, (part, "The file, the file and the file"))
    assert 0 < found < 0.1
    assert score_band(found) is ScoreBand.WEAK


@given(TOLD, ASKED)
def test_no_score_reaches_one(shown: list[str], asked: list[str]) -> None:
    """Nor is a lone hit as good as can be."""
    text = " ".join(shown)
    said = [(part, text) for part in NodeField]
    found = score(units(" ".join(asked)), *said, *said)
    assert 0 <= found < 1
    assert (found > 0) == (not set(asked).isdisjoint(shown))


@given(TOLD, ASKED, st.data())
def test_one_more_of_the_words_never_lowers_a_score(
    shown: list[str], asked: list[str], data: st.DataObject
) -> None:
    missing = sorted(set(asked).difference(shown))
    wanted = units(" ".join(asked), common="mast tide")
    said = NodeField.BULLETS, " ".join(shown)
    before = score(wanted, said)
    for word in missing:
        part = data.draw(st.sampled_from(list(NodeField)))
        if part is NodeField.BULLETS:
            after = score(wanted, (part, f"{said[1]} {word}"))
        else:
            after = score(wanted, said, (part, word))
        assert after > before


@given(TOLD, ASKED, ASKED)
def test_another_matching_word_does_not_lower_the_score(
    shown: list[str], asked: list[str], more: list[str]
) -> None:
    """Where all that stands there does so equally well."""
    stands = list(dict.fromkeys(shown))
    others = [word for word in more if word in stands and word not in asked]
    said = NodeField.TITLE, " ".join(stands)
    before = score(units(" ".join(asked)), said)
    for word in others:
        assert score(units(" ".join([*asked, word])), said) >= before - 1e-12


def test_among_equals_the_narrower_node_comes_first() -> None:
    found = [
        score(units("ferry"), (NodeField.TITLE, "ferry"), level=one) for one in LEVELS
    ]
    assert found == sorted(set(found))
    assert found[-1] - found[0] < 0.05


def test_a_word_is_worth_more_the_more_its_part_says_what_it_is_about() -> None:
    parts = [NodeField.BULLETS, NodeField.KEYWORDS, NodeField.TITLE]
    found = [score(units("ferry"), (part, "ferry")) for part in parts]
    assert found == sorted(set(found))


def test_a_long_text_makes_less_of_a_word_than_a_short_one() -> None:
    short = score(units("ferry"), (NodeField.BULLETS, "ferry timetable"))
    long = score(
        units("ferry"), (NodeField.BULLETS, "ferry timetable " + "rope sail " * 40)
    )
    assert short > long > 0
