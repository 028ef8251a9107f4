"""Snippets and quotes: the lines of a text that match."""

from datetime import UTC

import pytest

from memtui.search import query as search_query
from memtui.search import snippets
from memtui.search.query import Query
from memtui.search.snippets import Sentences

PLAN = "\n".join(
    [
        *(f"Part {at}: we look at the shelves of aisle {at}." for at in range(40)),
        "Now let me look at how the basket gets lost.",
        *(f"Part {at}: we count what stands in cupboard {at}." for at in range(40)),
        "The basket gets lost because the cookie ends with the tab.",
        *(f"Part {at}: we sweep the floor of room {at}." for at in range(40)),
    ]
)


def asked(text: str) -> Query:
    return search_query.parse(text, UTC)


def told(text: str, question: str) -> list[str]:
    query = asked(question)
    sentences = Sentences(text, query)
    worth = snippets.term_weights(
        [sentences, Sentences("something else", query)], query
    )
    return [sentences.text(piece) for piece in sentences.passages(worth)]


def test_a_short_message_is_quoted_whole() -> None:
    said = "The basket was lost.\nSo we keep it on the server."
    assert told(said, "basket") == [said]


def test_the_passages_of_a_long_message_with_most_weight_come_first() -> None:
    first, second, *_ = told(PLAN, "basket cookie")
    assert "because the cookie ends with the tab" in first
    for one in (first, second):
        assert len(one) <= snippets.QUOTE_CHARS + 2
        assert one.startswith("…") and one.endswith("…"), "it goes on before and after"


def test_one_long_line_is_cut_around_the_word() -> None:
    log = "tick " * 300 + "zeppelin landed " + "tock " * 300
    (one,) = told(log, "zeppelin")
    assert "zeppelin landed" in one
    assert len(one) <= snippets.QUOTE_CHARS + 2


def test_a_message_without_the_words_gives_how_it_begins() -> None:
    (one,) = told(PLAN, "zeppelin")
    assert one.startswith("Part 0") and one.endswith("…")


def test_any_text_is_quoted_verbatim() -> None:
    for text in ("", " ", "\n" * 500, "x" * 30_000, "basket " * 5_000, "a\n\n" * 900):
        for one in told(text, "basket x"):
            assert one.strip("…") in text


@pytest.mark.parametrize(
    "text",
    [
        "x " * 300 + "the zebra " + "a" * 900,
        "漢字" * 300 + " zebra " + "漢字" * 300,
        "zebra " + "b" * 900,
        "a" * 900 + " zebra in it, and more words" * 9,
    ],
)
def test_a_long_run_does_not_push_out_what_answers(text: str) -> None:
    told = snippets.best_line([text], search_query.parse("zebra", UTC))
    assert "zebra" in told
    assert len(told) <= snippets.MAX_CHARS + 2
    assert told.strip("…") in text
