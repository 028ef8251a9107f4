import pytest

from memtui.summarize.ollama.breaker import Breaker
from memtui.summarize.ollama.errors import (
    BusyError,
    CircuitOpenError,
    ContextOverflowError,
    IncompleteReplyError,
    InvalidReplyError,
    OfflineError,
    OllamaError,
    OutOfMemoryError,
    RequestCancelled,
    ServerError,
    StalledError,
)


class Clock:
    """A clock that only tests change."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_breaker_opens_at_once_if_no_server_answers(clock: Clock) -> None:
    breaker = Breaker(clock)
    breaker.check()
    breaker.record(OfflineError("nobody"))
    with pytest.raises(CircuitOpenError) as caught:
        breaker.check()
    assert caught.value.retry_s == 30


def test_breaker_opens_after_three_errors_of_any_kind(clock: Clock) -> None:
    breaker = Breaker(clock)
    breaker.record(StalledError(""))
    breaker.record(IncompleteReplyError(""))
    assert breaker.wait_s() == 0
    breaker.record(ServerError(""))
    assert breaker.wait_s() == 30


def test_success_restarts_the_count_of_errors(clock: Clock) -> None:
    breaker = Breaker(clock)
    breaker.record(StalledError(""))
    breaker.record(StalledError(""))
    breaker.reset()
    breaker.record(StalledError(""))
    assert breaker.wait_s() == 0


@pytest.mark.parametrize("fault", [InvalidReplyError(""), ContextOverflowError("")])
def test_error_of_the_model_shows_that_the_server_works(
    clock: Clock, fault: OllamaError
) -> None:
    breaker = Breaker(clock)
    for _ in range(3):
        breaker.record(StalledError(""))
        breaker.record(StalledError(""))
        breaker.record(fault)
    assert breaker.wait_s() == 0


def test_breaker_opens_after_two_errors_of_memory(clock: Clock) -> None:
    breaker = Breaker(clock)
    breaker.record(OutOfMemoryError(""))
    assert breaker.wait_s() == 0
    breaker.record(OutOfMemoryError(""))
    assert breaker.wait_s() == 30


@pytest.mark.parametrize(
    "fault", [BusyError(""), InvalidReplyError(""), RequestCancelled("")]
)
def test_errors_that_are_not_of_the_server_do_not_count(
    clock: Clock, fault: OllamaError
) -> None:
    breaker = Breaker(clock)
    for _ in range(9):
        breaker.record(fault)
    assert breaker.wait_s() == 0


def test_breaker_stays_open_twice_as_long_each_time_up_to_ten_minutes(
    clock: Clock,
) -> None:
    breaker = Breaker(clock)
    waits = []
    for _ in range(7):
        breaker.record(OfflineError(""))
        waits.append(breaker.wait_s())
        clock.now += waits[-1]
        breaker.check()
    assert waits == [30, 60, 120, 240, 480, 600, 600]
    breaker.reset()
    breaker.record(OfflineError(""))
    assert breaker.wait_s() == 30


def test_breaker_closes_if_an_offline_server_is_back(clock: Clock) -> None:
    breaker = Breaker(clock)
    breaker.record(OfflineError(""))
    breaker.note_online()
    assert breaker.wait_s() == 0
    for _ in range(3):
        breaker.record(StalledError(""))
    breaker.note_online()
    assert breaker.wait_s() == 30


def test_errors_while_the_breaker_is_open_do_not_count(clock: Clock) -> None:
    breaker = Breaker(clock)
    breaker.record(OfflineError(""))
    breaker.record(OfflineError(""))
    assert breaker.wait_s() == 30
