"""Verdicts are stored as JSON; those of earlier rules can be read."""

import json

import pytest

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


@pytest.mark.parametrize(
    ("support", "stored", "objection"),
    [
        ("unsupported", "narration", Objection.NO_SOURCE),
        ("weak", "weak", Objection.NONE),
        ("unsupported", "no source", Objection.NO_SOURCE),
        ("supported", "", Objection.NONE),
    ],
)
def test_verdicts_of_earlier_rules_can_be_read(
    support: str, stored: str, objection: Objection
) -> None:
    fields = {"opposites": [["a", "b"]], "negated": True, "objection": stored}
    verdict = versions.verdict_from_json(support, json.dumps(fields))
    assert verdict.objection is objection


def test_names_and_numbers_of_earlier_verdicts_can_be_read() -> None:
    verdict = versions.verdict_from_json("weak", '{"hard": ["a.py", "42"]}')
    assert verdict.features.names_and_numbers == ("a.py", "42")
