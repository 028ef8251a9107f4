"""The scores of messages, sessions and wording."""

from datetime import UTC

import pytest

from memtui.model.events import EventRole
from memtui.search import query as search_query
from memtui.search.message_index import Candidate, Matches, QueryTerm
from memtui.search.ranking import Scorer, query_terms, wording_bonus
from memtui.text.analyzer import inverse_document_frequency

RARE, COMMON = 0b01, 0b10
"""The masks of the two terms of the query."""

QUERY = search_query.parse("rare common ", UTC)


def candidate(
    number: int,
    mask: int = RARE,
    *,
    session: int = 1,
    role: EventRole = EventRole.ASSISTANT,
    length: int = 30,
) -> Candidate:
    return Candidate(number, "", role, length, session, 600, mask)


def scorer(
    *candidates: Candidate, sessions: dict[int, tuple[str, str, str]] | None = None
) -> Scorer:
    matches = Matches(
        [QueryTerm("rare"), QueryTerm("common")],
        list(candidates),
        sessions or {},
        frequencies=[1, 100],
        message_count=1_000,
        length=30_000,
        session_count=50,
    )
    return Scorer(matches, QUERY)


def score(message: Candidate, factor: float = 1.0) -> float:
    return scorer(message).score(message, factor)


def test_rare_term_outweighs_common_term() -> None:
    assert score(candidate(1, RARE)) > score(candidate(1, COMMON)) > 0


def test_another_term_raises_the_score() -> None:
    assert score(candidate(1, RARE | COMMON)) > score(candidate(1, RARE))


def test_short_message_outweighs_long_message() -> None:
    assert score(candidate(1, length=5)) > score(candidate(1, length=500))


def test_message_of_average_length_adds_the_idf_of_its_term() -> None:
    idf = inverse_document_frequency(1_000, 1)
    assert score(candidate(1, length=30)) == pytest.approx(idf)


def test_user_outweighs_assistant_and_turn_with_tools() -> None:
    assistant = candidate(1)
    user = candidate(1, role=EventRole.USER)
    assert score(user) > score(assistant, 1.3) > score(assistant)


def test_summary_outweighs_title_and_bullets() -> None:
    texts = {1: ("", "rare", ""), 2: ("rare", "", ""), 3: ("", "", "rare")}
    scores = [scorer(sessions=texts).score_texts(number, "") for number in texts]
    assert scores == sorted(set(scores), reverse=True)


def test_title_outweighs_a_message_of_the_user() -> None:
    user = candidate(1, role=EventRole.USER)
    title = scorer(sessions={1: ("rare", "", "")}).score_texts(1, "")
    assert title > score(user)


def test_session_with_more_matches_scores_higher() -> None:
    sessions = scorer(
        candidate(1),
        candidate(2),
        candidate(3, session=2),
    ).sessions
    assert sessions[1] == 1.0
    assert 1 > sessions[2] > 0


def test_texts_count_for_their_session() -> None:
    texts = {2: ("rare", "", "")}
    pair = scorer(candidate(1), candidate(2, session=2), sessions=texts)
    assert pair.sessions[2] > pair.sessions[1]
    assert pair.coverage_of_texts(2) == 0.5


def test_term_in_every_message_has_a_score() -> None:
    message = candidate(1)
    matches = Matches(
        [QueryTerm("word")],
        [message],
        frequencies=[10],
        message_count=10,
        length=300,
        session_count=1,
    )
    word_scorer = Scorer(matches, search_query.parse("word ", UTC))
    assert word_scorer.score(message) > 0
    assert word_scorer.sessions[1] == 1.0


def test_coverage_is_the_share_of_the_query() -> None:
    whole, part = candidate(1, RARE | COMMON, length=1), candidate(2, RARE, length=1)
    pair = scorer(whole, part)
    assert pair.coverage(whole.mask, pair.score(whole, 5)) == 1.0
    assert 0 < pair.coverage(part.mask, pair.score(part)) < 0.5


@pytest.mark.parametrize(
    ("frequencies", "least", "most"),
    [([300, 200], 0.3, 0.5), ([30, 20], 0.9, 1.0), ([1, 300], 1.0, 1.0)],
)
def test_message_with_common_words_covers_less(
    frequencies: list[int], least: float, most: float
) -> None:
    query = search_query.parse("tests failed ", UTC)
    message = candidate(1, 0b11, length=1)
    matches = Matches(
        query_terms(query),
        [message],
        sessions={1: ("test fail", "", "")},
        frequencies=frequencies,
        message_count=1_000,
    )
    common = Scorer(matches, query)
    coverage = common.coverage(message.mask, common.score(message, 9))
    assert least <= coverage <= most
    assert common.coverage_of_texts(1) == pytest.approx(coverage)


def bonus(text: str, query: str) -> float:
    parsed = search_query.parse(query, UTC)
    terms = [QueryTerm(term) for term in parsed.terms]
    matches = Matches(terms, frequencies=[10] * len(terms), message_count=100)
    return wording_bonus(parsed, matches)(text)


WORD = inverse_document_frequency(100, 10)
"""The idf of a word of these queries."""


def test_message_without_the_complete_identifier_is_covered() -> None:
    query = search_query.parse("some_flag ", UTC)
    terms = query_terms(query)
    assert [(term.term, term.is_whole) for term in terms][-1] == ("someflag", True)
    whole, parts = candidate(1, 0b11, length=1), candidate(2, 0b01, length=1)
    matches = Matches(terms, [whole, parts], frequencies=[1, 1], message_count=99)
    flag_scorer = Scorer(matches, query)
    assert flag_scorer.score(whole) > flag_scorer.score(parts)
    assert flag_scorer.coverage(parts.mask, flag_scorer.score(parts, 9)) == 1.0


def test_words_near_one_another_add_to_the_score() -> None:
    assert bonus("a video game tournament", "video tournament ") == WORD
    assert bonus(f"a video {'and so on ' * 9} tournament", "video tournament ") == 0.0


def test_query_as_typed_adds_to_the_score() -> None:
    verbatim = bonus("a video tournament", "video tournament ")
    near = bonus("a video of a tournament", "video tournament ")
    assert verbatim - near == pytest.approx(2 * WORD)
