"""Verdicts on the bullets written by hand do not become worse."""

from benchmarks import handwritten
from memtui.model.verdicts import Support


def test_false_and_true_bullets_are_distinguished() -> None:
    found = [one for one in handwritten.verdicts() if one[0].half != "fresh"]
    false = [one.support for bullet, one in found if not bullet.is_true]
    true = [one.support for bullet, one in found if bullet.is_true]
    assert len(false) == len(true) == 150
    assert false.count(Support.SUPPORTED) <= 0.10 * len(false)
    assert true.count(Support.SUPPORTED) >= 0.65 * len(true)
    assert true.count(Support.UNSUPPORTED) <= 0.02 * len(true)
