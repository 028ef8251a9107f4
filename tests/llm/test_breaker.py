import pytest

from memtui.llm.breaker import Allowance, Breaker, Record
from memtui.llm.faults import (
    BadReply,
    Busy,
    Cancelled,
    CutOff,
    Fault,
    Offline,
    OutOfMemory,
    Overflow,
    Resting,
    ServerFault,
    Stalled,
    TooLong,
)


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_server_that_is_not_there_is_left_alone_at_once(clock: Clock) -> None:
    breaker = Breaker(clock)
    breaker.check()
    breaker.failed(Offline("nobody"))
    with pytest.raises(Resting) as caught:
        breaker.check()
    assert caught.value.retry_s == 60


def test_three_faults_in_a_row_open_it_whatever_their_kind(clock: Clock) -> None:
    breaker = Breaker(clock)
    breaker.failed(Stalled(""))
    breaker.failed(CutOff(""))
    assert breaker.wait_s() == 0
    breaker.failed(ServerFault(""))
    assert breaker.wait_s() == 60


def test_a_success_between_them_starts_the_count_anew(clock: Clock) -> None:
    breaker = Breaker(clock)
    breaker.failed(Stalled(""))
    breaker.failed(Stalled(""))
    breaker.succeeded()
    breaker.failed(Stalled(""))
    assert breaker.wait_s() == 0


@pytest.mark.parametrize("fault", [BadReply(""), Overflow(""), TooLong("")])
def test_a_fault_that_is_not_the_servers_shows_that_it_is_well(
    clock: Clock, fault: Fault
) -> None:
    breaker = Breaker(clock)
    for _ in range(3):
        breaker.failed(Stalled(""))
        breaker.failed(Stalled(""))
        breaker.failed(fault)
    assert breaker.wait_s() == 0


def test_memory_counts_twice(clock: Clock) -> None:
    breaker = Breaker(clock)
    breaker.failed(OutOfMemory(""))
    assert breaker.wait_s() == 0
    breaker.failed(OutOfMemory(""))
    assert breaker.wait_s() == 60


@pytest.mark.parametrize("fault", [Busy(""), BadReply(""), Cancelled("")])
def test_some_faults_are_not_the_servers(clock: Clock, fault: Fault) -> None:
    breaker = Breaker(clock)
    for _ in range(9):
        breaker.failed(fault)
    assert breaker.wait_s() == 0


def test_it_stays_open_twice_as_long_each_time_up_to_half_an_hour(
    clock: Clock,
) -> None:
    breaker = Breaker(clock)
    waits = []
    for _ in range(7):
        breaker.failed(Offline(""))
        waits.append(breaker.wait_s())
        clock.now += waits[-1]
        breaker.check()
    assert waits == [60, 120, 240, 480, 960, 1800, 1800]
    breaker.succeeded()
    breaker.failed(Offline(""))
    assert breaker.wait_s() == 60


def test_a_model_is_poor_when_half_of_its_last_replies_were_bad() -> None:
    record = Record()
    for _ in range(4):
        record.add("a", BadReply(""))
        record.add("a", None)
        record.add("b", Stalled(""))
    assert record.poor == set()
    record.add("a", BadReply(""))
    assert record.poor == {"a"}
    for _ in range(10):
        record.add("a", None)
    assert record.poor == set()


def test_a_server_that_is_seen_again_is_asked_at_once(clock: Clock) -> None:
    breaker = Breaker(clock)
    breaker.failed(Offline(""))
    breaker.seen()
    assert breaker.wait_s() == 0
    for _ in range(3):
        breaker.failed(Stalled(""))
    breaker.seen()
    assert breaker.wait_s() == 60


def test_minutes_come_back_an_hour_after_they_were_used(clock: Clock) -> None:
    allowance = Allowance(10, clock)
    allowance.spend(400)
    assert allowance.wait_s() == 0
    clock.now += 600
    allowance.spend(300)
    assert allowance.wait_s() == 3000
    with pytest.raises(Resting):
        allowance.check()
    clock.now += 3000
    allowance.check()
