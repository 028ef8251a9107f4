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


def parse(text: str) -> Query:
    return search_query.parse(text, UTC)


def quote(text: str, question: str) -> list[str]:
    """Return the passages of a text that match a question; all terms weigh alike."""
    query = parse(question)
    sentences = Sentences(text, query)
    weights = dict.fromkeys(query.terms, 1.0)
    return [sentences.text(passage) for passage in sentences.passages(weights)]


def test_short_message_is_quoted_whole() -> None:
    text = "The basket was lost.\nSo we keep it on the server."
    assert quote(text, "basket") == [text]


def test_best_passages_of_a_long_message_come_first() -> None:
    first, second, *_ = quote(PLAN, "basket cookie")
    assert "because the cookie ends with the tab" in first
    for passage in (first, second):
        assert len(passage) <= snippets.QUOTE_CHARS + 2
        assert passage.startswith("…") and passage.endswith("…")


def test_long_line_is_cut_around_the_word() -> None:
    log = "tick " * 300 + "zeppelin landed " + "tock " * 300
    (passage,) = quote(log, "zeppelin")
    assert "zeppelin landed" in passage
    assert len(passage) <= snippets.QUOTE_CHARS + 2


def test_message_without_the_words_gives_its_beginning() -> None:
    (passage,) = quote(PLAN, "zeppelin")
    assert passage.startswith("Part 0") and passage.endswith("…")


def test_any_text_is_quoted_verbatim() -> None:
    for text in ("", " ", "\n" * 500, "x" * 30_000, "basket " * 5_000, "a\n\n" * 900):
        for passage in quote(text, "basket x"):
            assert passage.strip("…") in text


@pytest.mark.parametrize(
    "text",
    [
        "x " * 300 + "the zebra " + "a" * 900,
        "漢字" * 300 + " zebra " + "漢字" * 300,
        "zebra " + "b" * 900,
        "a" * 900 + " zebra in it, and more words" * 9,
    ],
)
def test_long_run_of_letters_does_not_hide_the_match(text: str) -> None:
    line = snippets.best_line([text], parse("zebra"))
    assert "zebra" in line
    assert len(line) <= snippets.MAX_CHARS + 2
    assert line.strip("…") in text
