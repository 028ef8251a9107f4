"""The scores of messages, windows and conversations, and of wording."""

from dataclasses import replace
from datetime import UTC

import pytest

from memtui.model.events import EventRole
from memtui.search import query as search_query
from memtui.search import scoring
from memtui.search.scoring import (
    EQUAL_ROLES,
    Candidate,
    Candidates,
    MessageScores,
    QueryTerm,
)

FOUND = Candidates(
    [QueryTerm("rare"), QueryTerm("common")],
    frequencies=[1, 100],
    message_count=1_000,
    length=30_000,
    conversation_count=50,
)


def candidate(
    number: int, mask: int, *, conversation: int = 1, length: int = 30
) -> Candidate:
    return Candidate(
        number, "", conversation, number, EventRole.USER, length, 1, 600, mask
    )


def scores(*candidates: Candidate, found: Candidates = FOUND) -> MessageScores:
    by_id = {one.id: one for one in candidates}
    return scoring.score_messages(replace(found, by_id=by_id), EQUAL_ROLES)


def test_a_rare_word_is_worth_more_than_a_common_one() -> None:
    found = scores(candidate(1, 0b01), candidate(20, 0b10)).messages
    assert found[1] > found[20] > 0


def test_more_of_the_words_are_worth_more() -> None:
    found = scores(candidate(1, 0b11), candidate(20, 0b01)).messages
    assert found[1] > found[20]


def test_a_short_message_that_says_it_is_worth_more_than_a_long_one() -> None:
    found = scores(candidate(1, 1, length=5), candidate(20, 1, length=500)).messages
    assert found[1] > found[20]


def test_words_of_neighbours_are_worth_together_in_a_window() -> None:
    near = scores(candidate(1, 0b01), candidate(2, 0b10))
    far = scores(candidate(1, 0b01), candidate(20, 0b10))
    assert near.messages == {1: far.messages[1], 2: far.messages[20]}
    assert near.windows[1] > far.windows[1]
    apart = scores(candidate(1, 0b01), candidate(2, 0b10, conversation=2))
    assert apart.windows[1] == far.windows[1]


def test_a_window_has_one_before_and_two_after() -> None:
    alone = scores(candidate(10, 0b01)).windows[10]
    for place, is_in in ((8, False), (9, True), (12, True), (13, False)):
        found = scores(candidate(10, 0b01), candidate(place, 0b10)).windows[10]
        assert (found > alone) is is_in


def test_a_conversation_that_says_it_again_is_worth_more() -> None:
    found = scores(
        candidate(1, 1), candidate(50, 1), candidate(99, 1, conversation=2)
    ).conversations
    assert found[1] > found[2]


def test_no_word_is_worth_less_than_nothing() -> None:
    everywhere = Candidates(
        [QueryTerm("word")],
        frequencies=[10],
        message_count=10,
        length=300,
        conversation_count=1,
    )
    found = scores(candidate(1, 1), found=everywhere)
    assert found.messages[1] > 0


def test_messages_with_the_rarest_words_are_scored() -> None:
    masks = dict.fromkeys(range(scoring.MAX_SCORED + 500), 0b10) | {7: 0b01}
    found = scoring.select_ids(masks, scoring.message_idfs(FOUND))
    assert len(found) == scoring.MAX_SCORED
    assert found[0] == 7
    assert found[1] == max(masks), "the newest among equals"


def bonus(text: str, query: str) -> float:
    asked = search_query.parse(query, UTC)
    return scoring.text_bonus(asked, dict.fromkeys(asked.terms, 1.0))(text)


def test_words_near_one_another_add_to_it() -> None:
    near = bonus("a video game tournament", "video tournament ")
    far = bonus(f"a video {'and so on ' * 9} tournament", "video tournament ")
    assert near - far == 1.0


def test_a_verbatim_match_raises_the_score() -> None:
    verbatim = bonus("a video tournament", "video tournament ")
    near = bonus("a video of a tournament", "video tournament ")
    assert verbatim - near == pytest.approx(2 * scoring.VERBATIM)


def test_the_form_that_was_asked_for_adds_to_it() -> None:
    assert bonus("running", "running ") == scoring.EXACT_FORM
    assert bonus("run", "running ") == 0.0
    assert bonus("call getUserById", "getUserById ") > bonus(
        "the user, by its id", "getUserById "
    )
