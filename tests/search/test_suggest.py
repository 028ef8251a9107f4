"""What a misspelt word was probably meant to be."""

from datetime import UTC

import pytest

from memtui.search import query as search_query
from memtui.search.node_index import NodeIndex
from tests.search.documents import document


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("refersh tokens ", "refresh tokens "),
        ("the refrsh ", "the refresh "),
        ("ivoice ", "invoice "),
        ("invioces ", "invoices "),
        ("timteabel ", "timetable "),
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
    asked = search_query.parse(query, UTC)
    assert index.suggestion(asked, has_few=False) == meant


def test_the_commoner_of_two_near_words_is_meant(index: NodeIndex) -> None:
    often = [document(f"n{i}", "a harbour") for i in range(5)]
    index.update([*often, document("x", "a hardour")], [])
    asked = search_query.parse("haxbour ", UTC)
    assert index.suggestion(asked, has_few=False) == "harbour "


def test_a_rare_word_is_only_doubted_where_little_is_found(index: NodeIndex) -> None:
    often = [document(f"n{i}", "a harbour") for i in range(20)]
    index.update([*often, document("x", "a hardour")], [])
    asked = search_query.parse("hardour ", UTC)
    assert index.suggestion(asked, has_few=False) == ""
    assert index.suggestion(asked, has_few=True) == "harbour "
