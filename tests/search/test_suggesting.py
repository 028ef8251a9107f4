"""What a misspelt word was probably meant to be."""

from datetime import UTC

import pytest

from memtui.memory import queries
from memtui.search.index import Index
from tests.search.told import document


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
def test_a_misspelt_word_is_put_right(index: Index, query: str, meant: str) -> None:
    text = "refresh the token, tokens of invoices in the timetable; get_user_name"
    index.put([document("a", text), document("b", "an invoice")], [])
    asked = queries.read(query, UTC)
    assert index.suggestion(asked, has_few=False) == meant


def test_the_commoner_of_two_near_words_is_meant(index: Index) -> None:
    often = [document(f"n{i}", "a harbour") for i in range(5)]
    index.put([*often, document("x", "a hardour")], [])
    asked = queries.read("haxbour ", UTC)
    assert index.suggestion(asked, has_few=False) == "harbour "


def test_a_rare_word_is_only_doubted_where_little_is_found(index: Index) -> None:
    often = [document(f"n{i}", "a harbour") for i in range(20)]
    index.put([*often, document("x", "a hardour")], [])
    asked = queries.read("hardour ", UTC)
    assert index.suggestion(asked, has_few=False) == ""
    assert index.suggestion(asked, has_few=True) == "harbour "
