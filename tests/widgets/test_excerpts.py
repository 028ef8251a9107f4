from memtui.tui.widgets.source_pane import find_excerpt
from memtui.tui.widgets.turn_rendering import (
    EXCERPT_CHARS,
    TextExcerpt,
    cut_excerpt,
)


def test_an_excerpt_is_found_where_it_stands_word_for_word() -> None:
    text = "First this. Then a mutex was added. Then that."
    start, end = find_excerpt(text, "Then a mutex was added.") or (0, 0)
    assert text[start:end] == "Then a mutex was added."


def test_an_excerpt_is_found_across_other_line_breaks() -> None:
    text = "Then a\n  mutex was\tadded."
    assert find_excerpt(text, "a mutex was added") == (5, len(text) - 1)


def test_an_excerpt_that_is_not_there_marks_nothing() -> None:
    assert find_excerpt("Something else", "a mutex") is None
    assert find_excerpt("Something else", " … ") is None


def test_a_text_at_the_limit_is_whole_and_one_over_it_is_cut() -> None:
    assert cut_excerpt("x" * 10, None, 10) == TextExcerpt("x" * 10)
    cut = cut_excerpt("x" * 11, None, 10)
    assert (len(cut.text), cut.left_before, cut.left_after) == (10, 0, 1)


def test_a_mark_deep_in_a_monstrous_text_is_shown_with_what_is_around() -> None:
    text = "a" * 3_000_000 + "HERE" + "b" * 3_000_000
    piece = cut_excerpt(text, (3_000_000, 3_000_004))
    assert len(piece.text) == EXCERPT_CHARS
    start = 3_000_000 - piece.left_before
    assert piece.text[start : start + 4] == "HERE"
    assert piece.left_before + len(piece.text) + piece.left_after == len(text)
