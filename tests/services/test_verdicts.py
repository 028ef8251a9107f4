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
from memtui.summarize.grounding import checks
from memtui.summarize.grounding.passages import Evidence
from memtui.tui import format
from tests.message_factory import make_message

TALK = [
    "I read src/router.py. The redirect drops the session cookie in 3 of 12 tests.",
    "Invoices: totals are rounded twice. `Ledger.total` rounds once more at the end.",
    "The cache is enabled by default and does not need `REDIS_URL` any longer.",
    "Nothing was deployed today, the staging server is down until Monday.",
]


def make_bullet(*texts: str) -> Bullet:
    """Return the last of a model's lines as it is checked."""
    messages = [make_message(text, number) for number, text in enumerate(TALK)]
    drafts = [DraftBullet(text) for text in texts]
    last = checks.ground_bullets(drafts, Evidence(messages))[-1]
    return Bullet(last.draft.text, ("grip:1:a",) if last.best else (), last.verdict)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("The redirect drops the session cookie in 3 of 12 tests.", ""),
        (
            "The redirect drops the session cookie in 5 of 12 tests.",
            "withheld: a number that is nowhere in the session: 5",
        ),
        (
            "handler.py drops the session cookie in 12 tests.",
            "withheld: a name that is nowhere in the session: handler.py",
        ),
        ("The redirect does not drop the session cookie.", "weak: negated differently"),
        ("The cache needs REDIS_URL.", "weak: negated differently"),
        (
            "Pushed the router.",
            "withheld: against the facts: not committed, pushed or merged",
        ),
        ("Kubernetes pods restart.", "withheld: no source"),
        ("It was so.", "withheld: says nothing"),
    ],
)
def test_the_explanation_names_the_reason(text: str, why: str) -> None:
    assert versions.explain_verdict(make_bullet(text)) == why


def test_a_repeated_line_is_withheld() -> None:
    text = "The cache is enabled by default."
    assert versions.explain_verdict(make_bullet(text, text)) == "withheld: said twice"


def test_a_weak_line_names_what_is_missing() -> None:
    features = VerdictFeatures(0.5, 8, missing=("a.py", "b.py", "7", "9"))
    bullet = Bullet("It was so.", ("grip:1:a",), Verdict(Support.WEAK, features))
    assert versions.explain_verdict(bullet) == (
        "weak: not there: a.py, b.py, 7 and 1 more; 50 % of its wording is in one"
        " passage"
    )


def test_supported_bullets_are_counted() -> None:
    weak = Bullet("b", ("grip:1:b",), Verdict(Support.WEAK))
    rows = (Bullet("a", ("grip:1:a",), SUPPORTED), weak, Bullet("c", (), UNCHECKED))
    assert format.support_counts(rows) == "1 of 3 bullets supported, 1 weak"
    assert format.support_counts(rows[:1]) == "1 of 1 bullet supported"
    assert format.support_counts(()) == ""
