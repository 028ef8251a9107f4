import queue
import threading

from memtui.errors import StoreGoneError
from memtui.pipeline.progress import StepResult
from memtui.pipeline.worker import Worker


def test_a_failing_stage_does_not_stop_the_others() -> None:
    reports: list[StepResult] = []

    def broken() -> int:
        raise OSError("no room")

    loop = Worker([("ingest", broken), ("index", lambda: 3)], reports.append)
    assert loop.run_round() == 3
    assert [(r.stage, r.done, type(r.error).__name__) for r in reports] == [
        ("ingest", 0, "OSError"),
        ("index", 3, "NoneType"),
    ]


def test_stage_recovers_once_it_tried_and_did_not_fail() -> None:
    fails, earlier = [True, False, False], [1, 1, 0]
    reports: list[StepResult] = []

    def step() -> int:
        if fails.pop(0):
            raise OSError("no room")
        return 0

    loop = Worker([("ingest", lambda: earlier.pop(0)), ("index", step)], reports.append)
    results = []
    for _ in range(3):
        loop.run_round()
        results.append([(r.stage, bool(r.error)) for r in reports])
        reports.clear()
    assert results == [
        [("ingest", False), ("index", True)],
        [("ingest", False)],
        [("index", False)],
    ]


def test_worker_without_permission_does_nothing() -> None:
    asked = threading.Event()
    worked = threading.Event()

    def may_work() -> bool:
        asked.set()
        return False

    def step() -> int:
        worked.set()
        return 1

    loop = Worker([("ingest", step)], lambda _: None, may_work)
    loop.start()
    assert asked.wait(5)
    loop.stop(wait_s=5)
    assert not worked.is_set()


def test_worker_survives_a_failing_report() -> None:
    again = threading.Event()
    failed: list[int] = []

    def report(_: StepResult) -> None:
        if not failed:
            failed.append(1)
            raise RuntimeError("the screen is gone")
        again.set()

    loop = Worker([("ingest", lambda: 1)], report)
    loop.start()
    assert again.wait(10)
    loop.stop(wait_s=5)


def test_exit_function_is_called_last_on_the_workers_thread() -> None:
    calls: list[tuple[str, str]] = []
    stepped = threading.Event()

    def step() -> int:
        calls.append(("step", threading.current_thread().name))
        stepped.set()
        return 0

    def leave() -> None:
        calls.append(("leave", threading.current_thread().name))
        raise RuntimeError("nobody minds any more")

    loop = Worker([("model", step)], lambda _: None, on_exit=leave)
    loop.start()
    assert stepped.wait(10)
    loop.stop(wait_s=10)
    assert calls[-1] == ("leave", "stages")
    assert [what for what, _ in calls].count("leave") == 1


def test_worker_reports_a_missing_store_and_its_return() -> None:
    results: queue.Queue[StepResult] = queue.Queue()
    is_away = threading.Event()

    def may_work() -> bool:
        if is_away.is_set():
            raise StoreGoneError("it is gone")
        return True

    loop = Worker([("ingest", lambda: 0)], results.put, may_work, idle_waits_s=(0.01,))
    loop.start()
    assert results.get(timeout=5).error is None
    is_away.set()
    assert isinstance(results.get(timeout=5).error, StoreGoneError)
    is_away.clear()
    assert results.get(timeout=5).error is None, "though there is nothing to do"
    loop.stop(wait_s=5)
