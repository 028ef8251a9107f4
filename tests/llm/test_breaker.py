import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.llm.breaker import AHEAD, Allowance, Breaker, Record, Spent
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
from memtui.llm.models import Model


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


def test_a_model_is_poor_when_half_of_its_last_replies_were_bad(clock: Clock) -> None:
    record, one, other = Record(clock), Model("a"), Model("b")
    for _ in range(4):
        record.add(one, BadReply(""))
        record.add(one, None)
        record.add(other, Stalled(""))
    assert record.poor == set()
    record.add(one, BadReply(""))
    assert record.poor == {"a"}
    for _ in range(10):
        record.add(one, None)
    assert record.poor == set()


def test_a_poor_model_gets_one_try_after_six_hours(clock: Clock) -> None:
    record, model = Record(clock), Model("a")
    for _ in range(5):
        record.add(model, BadReply(""))
    assert record.wait_s("a") == 6 * 3600
    clock.now += 6 * 3600 - 1
    assert record.poor == {"a"}
    clock.now += 1
    assert record.poor == set()
    record.add(model, BadReply(""))
    assert record.wait_s("a") == 6 * 3600
    clock.now += 6 * 3600
    record.add(model, None)
    assert record.poor == set()


def test_a_model_that_was_pulled_anew_has_no_record(clock: Clock) -> None:
    record = Record(clock)
    for _ in range(5):
        record.add(Model("a", digest="old"), BadReply(""))
    assert record.poor == {"old"}
    assert record.wait_s(Model("a", digest="new").key) == 0


def test_a_server_that_is_seen_again_is_asked_at_once(clock: Clock) -> None:
    breaker = Breaker(clock)
    breaker.failed(Offline(""))
    breaker.seen()
    assert breaker.wait_s() == 0
    for _ in range(3):
        breaker.failed(Stalled(""))
    breaker.seen()
    assert breaker.wait_s() == 60


def test_a_server_that_is_missed_is_looked_for_less_and_less_often(
    clock: Clock,
) -> None:
    breaker = Breaker(clock)
    waits = []
    for _ in range(8):
        waits.append(breaker.missed())
        assert breaker.missed() == waits[-1]
        clock.now += waits[-1]
    assert waits == [30, 60, 120, 240, 480, 600, 600, 600]
    breaker.seen()
    assert breaker.missed() == 30


def test_without_minutes_nothing_may_ever_work(clock: Clock) -> None:
    with pytest.raises(Resting, match="cpu_minutes"):
        Allowance(0, clock).check()


def test_what_is_overdrawn_is_held_against_the_next_hours(clock: Clock) -> None:
    allowance = Allowance(1, clock)
    allowance.spend(150)
    assert allowance.wait_s() == 2 * 3600
    clock.now += 2 * 3600
    allowance.check()
    allowance.spend(30)
    assert allowance.wait_s() == 3600


@given(
    st.floats(0.1, 60),
    st.lists(st.tuples(st.floats(0, 4000), st.floats(0, 900)), max_size=30),
)
def test_no_more_is_worked_in_the_long_run_than_is_allowed(
    minutes: float, work: list[tuple[float, float]]
) -> None:
    clock, worked, last = Clock(), 0.0, 0.0
    allowance = Allowance(minutes, clock)
    began = clock.now
    for pause, took in work:
        clock.now += pause
        clock.now += min(allowance.wait_s(), 4000)
        if allowance.wait_s():
            continue
        clock.now += took
        allowance.spend(took)
        worked, last = worked + took, took
    hours = (clock.now - began) // 3600 + 1
    overdrawn = max(0.0, last - (AHEAD - 1) * minutes * 60) * len(work)
    assert worked - last <= hours * minutes * 60 + overdrawn + 1e-6


def test_what_was_spent_is_remembered_by_another_process(clock: Clock) -> None:
    told: list[Spent] = []
    allowance = Allowance(5, clock, told.append)
    allowance.spend(400)
    assert told == [[(0.0, 300), (-3600.0, 100)]]
    later = Allowance(5, clock)
    later.remember((ago + 600, seconds) for ago, seconds in told[-1])
    assert later.wait_s() == 3000


def test_what_a_clock_that_was_wrong_left_behind_is_forgotten(clock: Clock) -> None:
    allowance = Allowance(5, clock)
    allowance.remember([(-30 * 24 * 3600, 900.0)])
    allowance.check()


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
