"""Verdicts are stored as JSON; those of earlier rules can be read."""

from memtui.model.verdicts import (
    EventQuote,
    Objection,
    Support,
    Verdict,
    VerdictFeatures,
)
from memtui.store import versions


def test_a_verdict_is_read_as_it_was_stored() -> None:
    verdict = Verdict(
        Support.UNSUPPORTED,
        VerdictFeatures(0.5, 7, ("9 months", "a.py"), ("9 months",), ("negated",)),
        ("cooki",),
        spans=(EventQuote("e1", 2, 9, "hash"),),
        is_repaired=True,
        is_by_model=True,
        objection=Objection.NUMBER,
    )
    stored = versions.verdict_to_json(verdict)
    assert versions.verdict_from_json("unsupported", stored) == verdict
    assert versions.verdict_to_json(Verdict(Support.WEAK)) == "{}"
