"""Explanations of real verdicts."""

import pytest

from memtui.model.nodes import Bullet, DraftBullet
from memtui.model.verdicts import (
    SUPPORTED,
    UNCHECKED,
    Support,
    Verdict,
    VerdictFeatures,
)
from memtui.services import versions
from memtui.summarize.grounding import claims
from memtui.summarize.grounding.passages import PassageIndex
from memtui.tui import format

TALK = [
    "I read src/router.py. The redirect drops the session cookie in 3 of 12 tests.",
    "Invoices: totals are rounded twice. `Ledger.total` rounds once more at the end.",
    "The cache is enabled by default and does not need `REDIS_URL` any longer.",
    "Nothing was deployed today, the staging server is down until Monday.",
]


def bullet(text: str, *refs: int) -> Bullet:
    verdict = claims.check_bullet(DraftBullet(text, refs), PassageIndex(TALK))
    return Bullet(text, ("grip:1:a",) if verdict.quotes else (), verdict)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("The redirect drops the session cookie in 3 of 12 tests.", ""),
        (
            "The redirect drops the session cookie in 5 of 12 tests.",
            "weak: not in the source: “5”",
        ),
        (
            "src/login.py drops the session cookie in 7 of 19 tests, says the redirect",
            "weak: not in the source: “src/login.py”, “7” and 1 more",
        ),
        (
            "The redirect does not drop the session cookie.",
            "weak: negated differently in the source",
        ),
        (
            "The cache needs REDIS_URL.",
            "weak: negated in the source",
        ),
        (
            "The cache is disabled by default.",
            "weak: the source says the opposite of “disabled”",
        ),
        (
            "Redirects drop cookies whenever somebody logs in.",
            "weak: 49 % of its wording is in the source",
        ),
        (
            "Redirects drop the session cookies twice.",
            "weak: not in the source: “twice”",
        ),
        (
            "Kubernetes pods restart whenever Kafka lags behind the redirect.",
            "unsupported: only 13 % of its wording is in the source",
        ),
        ("Invoices.", "weak: too short to check"),
        ("Edited src/router.py", "weak: not in the source: “Edited”"),
        (
            "The redirect drops the session cookie in 3 of 12 tests because Anna"
            " complained.",
            "weak: not in the source: “Anna” and “complained”",
        ),
        ("Kubernetes pods restart.", "unsupported: nothing like it is in the source"),
    ],
)
def test_the_explanation_names_the_reason(text: str, why: str) -> None:
    assert versions.explain_verdict(bullet(text)) == why


def test_a_moved_bullet_is_explained_even_if_supported() -> None:
    moved = bullet("Totals are rounded twice in invoices.", 3)
    assert moved.support is Support.SUPPORTED
    assert versions.explain_verdict(moved) == versions.MOVED


@pytest.mark.parametrize(
    ("support", "why"),
    [
        (Support.SUPPORTED, ""),
        (Support.WEAK, "weak: not all of it is in the source"),
        (Support.UNSUPPORTED, "unsupported: part of it is not in the source"),
    ],
)
def test_a_verdict_worse_than_its_features_is_explained(
    support: Support, why: str
) -> None:
    found = Verdict(support, VerdictFeatures(covered=0.9, terms=8))
    assert (
        versions.explain_verdict(Bullet("Cookies were lost.", ("grip:1:a",), found))
        == why
    )


def test_without_a_grip_a_bullet_is_unsupported() -> None:
    assert versions.explain_verdict(Bullet("It was so.", (), SUPPORTED)).startswith(
        "unsupported: "
    )


def test_supported_bullets_are_counted() -> None:
    weak = Bullet("b", ("grip:1:b",), Verdict(Support.WEAK))
    rows = (Bullet("a", ("grip:1:a",), SUPPORTED), weak, Bullet("c", (), UNCHECKED))
    assert format.support_counts(rows) == "1 of 3 bullets supported, 1 weak"
    assert format.support_counts(rows[:1]) == "1 of 1 bullet supported"
    assert format.support_counts(()) == ""
