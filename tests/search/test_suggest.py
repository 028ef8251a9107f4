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
    ("query", "suggestion"),
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
        ("timetables ", ""),
        ("timetablo ", ""),
        ("welche ", ""),
    ],
)
def test_misspelt_word_is_corrected(
    index: NodeIndex, query: str, suggestion: str
) -> None:
    text = (
        "refresh the token, tokens of invoices in the timetable; get_user_name; welcome"
    )
    index.update([document("a", text), document("b", "an invoice")], [])
    assert suggest_query(index, query) == suggestion


def test_more_frequent_word_is_suggested(index: NodeIndex) -> None:
    often = [document(f"n{i}", "a harbour") for i in range(5)]
    index.update([*often, document("x", "a hardour")], [])
    assert suggest_query(index, "haxbour ") == "harbour "


def test_vague_words_are_not_corrected(index: NodeIndex) -> None:
    index.update([document("walrus", "a walrus in the shop, in use")], [])
    assert suggest_query(index, "show the walrus ", has_few=True) == ""
    assert suggest_query(index, "is wallrus used ") == "is walrus used "


def test_rare_word_is_corrected_only_if_there_are_few_hits(index: NodeIndex) -> None:
    often = [document(f"n{i}", "a harbour") for i in range(20)]
    index.update([*often, document("x", "a hardour")], [])
    assert suggest_query(index, "hardour ") == ""
    assert suggest_query(index, "hardour ", has_few=True) == "harbour "


WORDS = st.text("abc", max_size=7)


@given(WORDS, WORDS)
def test_neighbours_are_all_words_one_edit_away(word: str, other: str) -> None:
    is_near = other in set(node_index.neighbours(word, len(word))) - {word}
    assert is_near == (distance(word, other) == 1)


def test_neighbours_differ_within_the_first_letters() -> None:
    near = set(node_index.neighbours("harbour", 2))
    assert {"aharbour", "arbour", "hxrbour", "haxrbour", "haxbour"} <= near
    assert not {"harbuor", "harbou", "harboux"} & near
