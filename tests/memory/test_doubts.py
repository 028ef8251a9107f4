"""What speaks against a bullet is said in words."""

import pytest

from memtui.memory import doubts
from memtui.memory.verdicts import Features, Support, Verdict


@pytest.mark.parametrize(
    ("features", "said"),
    [
        (Features(0.9, 9, missing=("auth.py",)), ["not in the source: auth.py"]),
        (
            Features(0.9, 9, missing=tuple("abcdefg")),
            ["not in the source: a, b, c, d, e and 2 more"],
        ),
        (
            Features(0.9, 9, opposites=(("added", "removed"),)),
            ["the source says “removed”, not “added”"],
        ),
        (
            Features(0.9, 9, is_negated_otherwise=True),
            ["the source says “not” where this does not, or the other way round"],
        ),
        (Features(0.4, 9), ["40% of its wording is in the source"]),
        (
            Features(0.5, 9, missing=("42",), opposites=(("up", "down"),)),
            [
                "not in the source: 42",
                "the source says “down”, not “up”",
                "50% of its wording is in the source",
            ],
        ),
    ],
)
def test_all_that_makes_a_bullet_weak_is_said(
    features: Features, said: list[str]
) -> None:
    assert features.support is Support.WEAK
    assert doubts.of(Verdict(Support.WEAK, features)) == said


def test_nothing_is_said_against_what_is_supported() -> None:
    assert doubts.of(Verdict(Support.SUPPORTED, Features(0.7, 9))) == []


def test_what_no_source_says_is_called_that() -> None:
    assert doubts.of(Verdict(Support.UNSUPPORTED)) == ["no source says this"]
