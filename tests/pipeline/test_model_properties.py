"""Properties that hold for any cut, any fault and any cancellation."""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.model.jobs import Job, RunResult
from memtui.model.nodes import BulletKind, TocNode
from memtui.paths import in_home
from memtui.settings import Settings
from memtui.store import database
from memtui.summarize.ollama.models import ModelOptions
from memtui.workspace import Workspace
from tests.conftest import often
from tests.pipeline.model_bench import (
    DAY,
    MONDAY,
    Bench,
    make_conversation,
    make_records,
)
from tests.stub import faults, personas, wire
from tests.stub.handler import PIECE
from tests.stub.models import Model
from tests.stub.server import Stub, run_stub

pytestmark = [pytest.mark.full, pytest.mark.fuzz]

SHORT = (("user", "Rename the kiosk."), ("assistant", "It is shop.py now."))
REPLY = personas.reply([([n], text) for n, (_, text) in enumerate(SHORT, 1)])
"""What the honest persona replies to it."""


def import_many(bench: Bench, count: int) -> list[str]:
    """Import segments with the same text; return them, the newest first."""
    bench.import_records(
        *(make_records(MONDAY + timedelta(minutes=n), *SHORT) for n in range(count)),
    )
    return bench.segments()


def is_sound(node: TocNode) -> None:
    """Check that all lines of a segment are said in the short conversation."""
    texts = [text for _, text in SHORT]
    for bullet in node.bullets:
        is_said = any(bullet.text in text for text in texts)
        assert is_said or bullet.kind is BulletKind.WORK
        assert bullet.grip_ids
    assert node.bullets
    for part in node.headline.split("; "):
        assert any(part.lower() in text.lower() for text in texts)


# A reply that is cut


def test_reply_cut_at_any_byte_gives_whole_bullets_or_nothing(
    bench: Bench,
) -> None:
    cuts = range(len(REPLY.encode()))
    names = import_many(bench, len(cuts))
    models = 0
    with database.connection():
        for cut, name in zip(cuts, names, strict=True):
            bench.stub.always(faults.shortened(cut))
            assert bench.step() == 1
            assert bench.order[-1] == name and not bench.needs_version(name)
            node = bench.node(name)
            is_sound(node)
            models += node.is_by_model
            if not node.is_by_model:
                assert bench.history(name).versions[0].rejection
    assert len(REPLY) // 3 < models < len(cuts)
    bench.check_invariants()


def test_reply_cut_anywhere_keeps_earlier_commits(bench: Bench) -> None:
    import_many(bench, 2)
    assert bench.step() and bench.step()
    bench.run_stages()
    models = 0
    for cut in range(0, 200, 7):
        bench.stub.always(faults.shortened(cut))
        bench.request_version(DAY)
        assert bench.step() == 1
        node = bench.node(DAY)
        assert node.headline.startswith(SHORT[0][1]) and len(node.bullets) == 2
        assert all(bullet.grip_ids for bullet in node.bullets)
        models += not bench.history(DAY).versions[0].rejection
    assert models > 5
    bench.check_invariants()


def stream_bytes() -> int:
    """Return about how many bytes that reply has."""
    line = wire.line({"model": "qwen3:4b", "message": {"content": "x" * PIECE}})
    return len(line) * (len(REPLY) // PIECE + 4)


@pytest.mark.parametrize("times", [1, 3])
def test_stream_cut_anywhere_is_retried_or_changes_nothing(
    bench: Bench, times: int
) -> None:
    cuts = range(0, stream_bytes(), 67 * times)
    names = import_many(bench, len(cuts))
    for cut, name in zip(cuts, names, strict=True):
        bench.stub.script(*[faults.cut(cut)] * times)
        while bench.step() == 0:
            bench.clock.advance(minutes=1)
        node = bench.node(name)
        is_sound(node)
        assert (node.is_by_model, bench.needs_version(name)) == (times == 1, times == 3)
    bench.check_invariants()


# Any faults


@contextmanager
def opened(folder: Path, settings: Settings) -> Iterator[Bench]:
    workspace = Workspace(in_home(folder / "home"), settings)
    with run_stub(Model(), Model("gemma3:4b", family="gemma3")) as stub:
        yield Bench(workspace, stub, folder)
    workspace.stop()


PATHS = ("/api/version", "/api/tags", "/api/ps", "/api/show")

ANSWERS = st.sampled_from(
    [
        faults.BUSY,
        faults.MISSING,
        faults.CRASHED,
        faults.NO_MEMORY,
        faults.PROXY,
        faults.FORBIDDEN,
        faults.NOT_DONE,
        faults.redirect("http://10.0.0.9/"),
        faults.reset(-1),
        faults.refused(500, {"deep": ["er"]}),
        faults.Fault(body=b"[]"),
        faults.Fault(body=b'{"models": [{"name": 7}, 3], "model_info": []}'),
    ]
)
STREAMS = st.one_of(
    st.just(faults.GOOD),
    st.sampled_from(
        [
            faults.NO_THINKING,
            faults.BAD_FORMAT,
            faults.too_long(9000, 8192),
            faults.broken_off("out of memory", 1),
            faults.garbled(1),
            replace(faults.GOOD, remote_host="https://ollama.com:443"),
            replace(faults.GOOD, done_reason="load"),
        ]
    ),
    st.integers(0, 8).map(faults.reset),
    st.integers(0, 8).map(faults.ended),
    st.integers(0, 2).map(faults.stalled),
    st.integers(0, 1500).map(faults.cut),
    st.integers(0, 200).map(faults.shortened),
    st.text(max_size=40).map(faults.saying),
    st.text(max_size=20).map(lambda text: faults.saying(REPLY.replace("kiosk", text))),
    ANSWERS,
)
MOST_STEPS = 10
"""More steps than a server that works needs for an example's two segments."""

EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("/api/chat"), STREAMS),
        st.tuples(st.just("/api/chat"), STREAMS),
        st.tuples(st.sampled_from(PATHS), ANSWERS),
    ),
    max_size=12,
)


@pytest.fixture
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """One store and one server for many faults."""
    settings = Settings()
    with opened(tmp_path_factory.mktemp("faults"), settings) as bench:
        yield bench


@often(12)
@given(events=EVENTS)
def test_any_faults_end_with_a_version_and_an_intact_store(
    room: Bench, events: list[tuple[str, faults.Fault]]
) -> None:
    bench = room
    bench.clock.advance(days=1)
    # Each example is given the same chance, by which the index would name its files.
    random.seed(bench.clock().isoformat())
    at = bench.clock() - timedelta(days=400)
    bench.import_records(
        make_records(at, *make_conversation(1)),
        make_records(at + timedelta(hours=1), *make_conversation(2)),
    )
    day = f"toc:day:{at:%Y-%m-%d}"
    bench.options = ModelOptions(bench.stub.url, timeout_s=0.5)
    bench.start()
    for path, fault in events:
        bench.stub.script(fault, path=path)
    for _ in range(len(events) // 2 + 2):
        bench.step()
        bench.clock.advance(minutes=10)
    bench.check_invariants()
    for path in ("/api/chat", *PATHS):
        bench.stub.clear_script(path)
    bench.options = None  # a busy machine may take half a second for a good reply
    bench.start()
    bench.clock.advance(hours=7)
    steps = 0
    while bench.count_pending()["segment"]:
        bench.step()
        bench.clock.advance(minutes=10)
        steps += 1
        assert steps < MOST_STEPS
    bench.run_stages()
    bench.check_invariants()
    for name in bench.segments(day):
        newest = next(
            version for version in bench.history(name).versions if version.is_by_model
        )
        assert newest.rejection or bench.node(name).is_by_model
        assert not bench.needs_version(name)
    assert bench.node(day).bullets


# Calling off


def cancel_step(bench: Bench, stub: Stub, path: str = "/api/chat") -> None:
    """Cancel the next version while the reply to a request stalls."""
    before = len(stub.requests_for(path))

    def call() -> None:
        assert stub.wait_for(before + 1, path).is_stalled.wait(10)
        bench.improve.stop()

    thread = threading.Thread(target=call)
    thread.start()
    assert bench.step() == 0
    thread.join()
    bench.start()


LEFT_OUT = ("jobs", "job_runs")


def test_cancelling_at_any_chunk_changes_nothing(bench: Bench) -> None:
    (name,) = import_many(bench, 1)
    before = bench.dump(*LEFT_OUT)
    lines = -(-len(REPLY) // PIECE) + 1
    for line in range(-1, lines):
        bench.stub.script(faults.stalled(line))
        cancel_step(bench, bench.stub)
        assert bench.dump(*LEFT_OUT) == before
    runs = bench.runs(Job.SEGMENTS)
    assert {run.result for run in runs} == {RunResult.STOPPED}
    assert len(bench.stub.chats()) == lines + 1 == len(runs)
    assert bench.step() == 1
    assert bench.node(name).is_by_model
    bench.check_invariants()


def test_cancelling_a_day_changes_nothing(bench: Bench) -> None:
    import_many(bench, 2)
    while bench.step():
        pass
    assert DAY not in bench.order
    bench.run_stages()
    before = bench.dump(*LEFT_OUT)
    bench.stub.script(faults.stalled(3))
    cancel_step(bench, bench.stub)
    assert bench.order[-1] == DAY
    assert bench.dump(*LEFT_OUT) == before
    assert bench.runs(Job.DAY)[0].result is RunResult.STOPPED


@pytest.mark.parametrize("path", PATHS)
def test_cancelling_before_the_chat_changes_nothing(bench: Bench, path: str) -> None:
    (name,) = import_many(bench, 1)
    before = bench.dump(*LEFT_OUT)
    bench.stub.script(faults.stalled(-1), path=path)
    cancel_step(bench, bench.stub, path)
    assert bench.dump(*LEFT_OUT) == before
    assert bench.needs_version(name)
