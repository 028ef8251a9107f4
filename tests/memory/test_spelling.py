import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.search import spelling

WORDS = st.text("abc", max_size=7)


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ("refresh", "refresh", 0),
        ("refersh", "refresh", 1),
        ("refrsh", "refresh", 1),
        ("reffresh", "refresh", 1),
        ("rafresh", "refresh", 1),
        ("rafrseh", "refresh", 2),
        ("ca", "abc", 3),
    ],
)
def test_an_exchange_of_neighbours_is_one_edit(
    one: str, other: str, apart: int
) -> None:
    assert spelling.distance(one, other, 3) == apart


def test_no_more_is_counted_than_is_asked_for() -> None:
    assert spelling.distance("anchor", "timetable", 2) == 3
    assert spelling.distance("abcdef", "ghijkl", 2) == 3


@given(WORDS, WORDS)
def test_a_word_is_as_far_from_another_as_that_one_from_it(
    one: str, other: str
) -> None:
    assert spelling.distance(one, other, 9) == spelling.distance(other, one, 9)
    assert (spelling.distance(one, other, 9) == 0) == (one == other)


@given(WORDS, WORDS)
def test_neighbours_are_all_words_one_edit_away(one: str, other: str) -> None:
    is_near = other in set(spelling.neighbours(one, len(one))) - {one}
    assert is_near == (spelling.distance(one, other, 1) == 1)


def test_only_the_beginning_of_a_word_is_edited_if_so_wished() -> None:
    near = set(spelling.neighbours("harbour", 2))
    assert {"aharbour", "arbour", "hxrbour", "haxrbour", "haxbour"} <= near
    assert not {"harbuor", "harbou", "harboux"} & near
