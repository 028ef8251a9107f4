"""What a word is worth where it stands, and how much more it is near others."""

from datetime import UTC

import pytest

from memtui.search import message_scoring
from memtui.search import query as search_query
from memtui.search.message_scoring import Corpus, Spot

CORPUS = Corpus(counts=[1, 100], messages=1_000, size=30_000, threads=50)


def spot(number: int, held: int, *, thread: int = 1, size: int = 30) -> Spot:
    return Spot(number, thread, number, size, held)


def weighed(*spots: Spot) -> message_scoring.Weighed:
    return message_scoring.weigh(spots, CORPUS, dict.fromkeys(range(1, 9), 600))


def test_a_rare_word_is_worth_more_than_a_common_one() -> None:
    found = weighed(spot(1, 0b01), spot(20, 0b10)).messages
    assert found[1] > found[20] > 0


def test_more_of_the_words_are_worth_more() -> None:
    found = weighed(spot(1, 0b11), spot(20, 0b01)).messages
    assert found[1] > found[20]


def test_a_short_message_that_says_it_is_worth_more_than_a_long_one() -> None:
    found = weighed(spot(1, 1, size=5), spot(20, 1, size=500)).messages
    assert found[1] > found[20]


def test_words_of_neighbours_are_worth_together_in_a_window() -> None:
    near = weighed(spot(1, 0b01), spot(2, 0b10))
    far = weighed(spot(1, 0b01), spot(20, 0b10))
    assert near.messages == {1: far.messages[1], 2: far.messages[20]}
    assert near.windows[1] > far.windows[1]
    apart = weighed(spot(1, 0b01), spot(2, 0b10, thread=2))
    assert apart.windows[1] == far.windows[1]


def test_a_window_has_one_before_and_two_after() -> None:
    alone = weighed(spot(10, 0b01)).windows[10]
    for place, is_in in ((8, False), (9, True), (12, True), (13, False)):
        found = weighed(spot(10, 0b01), spot(place, 0b10)).windows[10]
        assert (found > alone) is is_in


def test_a_conversation_that_says_it_again_is_worth_more() -> None:
    found = weighed(spot(1, 1), spot(50, 1), spot(99, 1, thread=2)).threads
    assert found[1] > found[2]


def test_no_word_is_worth_less_than_nothing() -> None:
    everywhere = Corpus(counts=[10], messages=10, size=300, threads=1)
    found = message_scoring.weigh([spot(1, 1)], everywhere, {1: 300})
    assert found.messages[1] > 0


def test_of_very_many_those_with_the_rarest_words_are_weighed() -> None:
    held = dict.fromkeys(range(message_scoring.WEIGHED + 500), 0b10) | {7: 0b01}
    found = message_scoring.likeliest(held, CORPUS.rarities())
    assert len(found) == message_scoring.WEIGHED
    assert found[0] == 7
    assert found[1] == max(held), "the newest among equals"


def bonus(text: str, query: str) -> float:
    asked = search_query.parse(query, UTC)
    return message_scoring.bonus(text, asked, dict.fromkeys(asked.terms, 1.0))


def test_words_near_one_another_add_to_it() -> None:
    near = bonus("a video game tournament", "video tournament ")
    far = bonus(f"a video {'and so on ' * 9} tournament", "video tournament ")
    assert near - far == 1.0


def test_a_query_that_stands_there_as_typed_adds_to_it() -> None:
    verbatim = bonus("a video tournament", "video tournament ")
    near = bonus("a video of a tournament", "video tournament ")
    assert verbatim - near == pytest.approx(2 * message_scoring.VERBATIM)


def test_the_form_that_was_asked_for_adds_to_it() -> None:
    assert bonus("running", "running ") == message_scoring.EXACT
    assert bonus("run", "running ") == 0.0
    assert bonus("call getUserById", "getUserById ") > bonus(
        "the user, by its id", "getUserById "
    )
