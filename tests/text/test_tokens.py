"""Estimated token counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.text import tokens


def test_only_empty_text_has_no_tokens() -> None:
    assert tokens.estimate("") == 0
    assert tokens.estimate(" ") == 1


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("the cat sat on the mat", 6, 6),
        ("getUserById", 3, 5),
        ("评审会议的纪要", 7, 7),
        ("2024", 2, 3),
        ("a\n\n\nb", 3, 4),
        ("a\n \t \n  b", 3, 4),
        ("1234567", 4, 4),
        ("x = {'a': [1]}", 7, 9),
    ],
)
def test_words_camel_case_punctuation_and_lines_count(
    text: str, least: int, most: int
) -> None:
    assert least <= tokens.estimate(text) <= most


def test_very_long_text_is_counted_by_its_beginning() -> None:
    line = "some words of a log\n"
    whole = tokens.estimate(line * 1000) * 1000
    assert tokens.estimate(line * 1_000_000) == pytest.approx(whole, rel=0.01)


@given(st.text())
def test_any_text_can_be_counted(text: str) -> None:
    assert tokens.estimate(text) >= (1 if text else 0)
