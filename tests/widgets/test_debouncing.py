"""Values that change quickly are shown at most so often."""

from dataclasses import dataclass

import pytest

from memtui.tui.workers import REPLACED_AFTER_S, SHOWN_AFTER_S, Debouncer


@dataclass
class Clock:
    """A clock that is set by hand."""

    now: float = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def calm(clock: Clock) -> Debouncer[str]:
    """Words of which the first letter is the kind."""
    return Debouncer(lambda word: word[0], clock)


def test_the_first_is_shown_at_once(calm: Debouncer[str]) -> None:
    assert calm.put("a1") == 0
    assert calm.shown == "a1"


def test_numbers_go_on_at_once(calm: Debouncer[str]) -> None:
    calm.put("a1")
    assert calm.put("a2") == 0
    assert calm.shown == "a2"


def test_another_kind_is_shown_once_it_has_lasted(
    calm: Debouncer[str], clock: Clock
) -> None:
    calm.put("a1")
    assert calm.put("b1") == pytest.approx(SHOWN_AFTER_S)
    clock.now += SHOWN_AFTER_S - 0.01
    assert calm.put("b2") > 0
    assert calm.shown == "a1"
    clock.now += 0.02
    assert calm.again() == 0
    assert calm.shown == "b2"


def test_what_is_over_before_is_never_shown(calm: Debouncer[str], clock: Clock) -> None:
    calm.put("a1")
    calm.put("b1")
    clock.now += SHOWN_AFTER_S - 0.1
    assert calm.put("a2") == 0
    clock.now += SHOWN_AFTER_S
    assert calm.again() == 0
    assert calm.shown == "a2"
    assert calm.put("b2") == pytest.approx(SHOWN_AFTER_S)


def test_an_old_kind_is_not_kept_for_longer_than_said(
    calm: Debouncer[str], clock: Clock
) -> None:
    calm.put("a1")
    began = clock.now
    turn = 0
    while calm.shown == "a1":
        calm.put("bc"[turn % 2] + "1")
        turn, clock.now = turn + 1, clock.now + 0.05
    assert clock.now - began <= REPLACED_AFTER_S + 0.1


def test_what_must_be_seen_is_shown_at_once(calm: Debouncer[str]) -> None:
    calm.put("a1")
    assert calm.put("b1", at_once=True) == 0
    assert calm.shown == "b1"
