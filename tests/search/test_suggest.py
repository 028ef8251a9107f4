"""Suggestions for misspelt words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from whoosh.support.levenshtein import distance

from memtui.search import node_index
from memtui.search.node_index import NodeIndex
from tests.search.documents import document
from tests.search.documents import suggest as suggest_query


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("refersh tokens ", "refresh tokens "),
        ("the refrsh ", "the refresh "),
        ("ivoice ", "invoice "),
        ("invioces ", "invoices "),
        ("timteabel ", "timetable "),
        ("tmietable ", "timetable "),
        ("tymetaple ", ""),
        ("refresh ", ""),
        ("refr", ""),
        ("zzzzzzz ", ""),
        ("xyz ", ""),
        ("get_usr_name ", "get_user_name "),
        ("agent:codx refersh ", "agent:codx refresh "),
        ("12345678 ", ""),
        ("評審 ", ""),
    ],
)
def test_a_misspelt_word_is_put_right(index: NodeIndex, query: str, meant: str) -> None:
    text = "refresh the token, tokens of invoices in the timetable; get_user_name"
    index.update([document("a", text), document("b", "an invoice")], [])
    assert suggest_query(index, query) == meant


def test_the_commoner_of_two_near_words_is_meant(index: NodeIndex) -> None:
    often = [document(f"n{i}", "a harbour") for i in range(5)]
    index.update([*often, document("x", "a hardour")], [])
    assert suggest_query(index, "haxbour ") == "harbour "


def test_words_of_any_question_are_not_misspelt(index: NodeIndex) -> None:
    index.update([document("walrus", "a walrus in the shop, in use")], [])
    assert suggest_query(index, "show the walrus ", has_few=True) == ""
    assert suggest_query(index, "is wallrus used ") == "is walrus used "


def test_a_rare_word_is_only_doubted_where_little_is_found(index: NodeIndex) -> None:
    often = [document(f"n{i}", "a harbour") for i in range(20)]
    index.update([*often, document("x", "a hardour")], [])
    assert suggest_query(index, "hardour ") == ""
    assert suggest_query(index, "hardour ", has_few=True) == "harbour "


WORDS = st.text("abc", max_size=7)


@given(WORDS, WORDS)
def test_neighbours_are_all_words_one_edit_away(one: str, other: str) -> None:
    is_near = other in set(node_index.neighbours(one, len(one))) - {one}
    assert is_near == (distance(one, other) == 1)


def test_only_the_beginning_of_a_word_is_edited_if_so_wished() -> None:
    near = set(node_index.neighbours("harbour", 2))
    assert {"aharbour", "arbour", "hxrbour", "haxrbour", "haxbour"} <= near
    assert not {"harbuor", "harbou", "harboux"} & near
