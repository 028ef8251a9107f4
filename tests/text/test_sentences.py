"""Sentences of a text, and excerpts."""

from hypothesis import given
from hypothesis import strategies as st

from memtui.text.sentences import (
    EXCERPT_CHARS,
    best_excerpt,
    sentence_spans,
    truncate,
)


def test_text_is_split_into_sentences_and_lines() -> None:
    text = "See a.py. Is it so? Yes!\n\nThe end。完了。Berth 2.5 is free"
    assert [text[start:end] for start, end in sentence_spans(text)] == [
        "See a.py.",
        "Is it so?",
        "Yes!",
        "The end。",
        "完了。",
        "Berth 2.5 is free",
    ]


@given(st.text(alphabet="ab .!?。\n\"')*", max_size=80))
def test_sentences_are_in_order_and_lose_no_letter(text: str) -> None:
    spans = list(sentence_spans(text))
    ends = [0, *(end for _, end in spans)]
    assert all(
        before <= start < end for before, (start, end) in zip(ends, spans, strict=False)
    )
    letters = [char for char in text if char.isalpha()]
    kept = "".join(text[start:end] for start, end in spans)
    assert [char for char in kept if char.isalpha()] == letters


def test_texts_are_truncated_at_words() -> None:
    assert truncate("The ferry waits for the tide", 14) == "The ferry"
    assert truncate("The ferry", 9) == "The ferry"
    assert truncate("Ferryharbour", 5) == "Ferry"


def test_excerpt_is_the_sentence_with_most_weight() -> None:
    text = "The cranes rest. * The ferry waits for the tide. Grain is cheap."
    assert best_excerpt(text, {"ferri": 2.0, "grain": 1.0}) == (
        "The ferry waits for the tide."
    )


def test_excerpt_has_no_markup_around_it() -> None:
    assert best_excerpt("## **Moor the ferry**\n- [x] Rest", {"ferri": 1.0}) == (
        "Moor the ferry"
    )


def test_excerpt_of_a_long_sentence_is_the_part_with_most_weight() -> None:
    text = f"{'crane ' * 60}ferry {'grain ' * 60}"
    excerpt = best_excerpt(text, {"ferri": 1.0})
    assert "ferry" in excerpt
    assert len(excerpt) <= EXCERPT_CHARS
