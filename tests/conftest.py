"""Fixtures for all tests, and the folder of snapshots."""

import gc

# Loaded before a test becomes a user who may not read the folder of Python.
import logging.handlers  # noqa: F401
import os
import random
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import pytest_textual_snapshot
from hypothesis import HealthCheck
from hypothesis import settings as trying
from syrupy.location import PyTestLocation
from textual.pilot import Pilot
from textual.worker import WorkerError

from memtui.cli.output import to_plain
from memtui.errors import MemtuiError
from memtui.paths import in_home
from memtui.pipeline import summarization
from memtui.pipeline.progress import PipelineProgress
from memtui.services import browse, memories, status
from memtui.settings import Settings
from memtui.store import database
from memtui.tui.app import MemtuiApp
from memtui.workspace import Workspace
from tests import process_state
from tests.pilots import AppOf, Settle, wait_for_refresh
from tests.tables import EventRow, SegmentRow, SessionRow

TESTS = Path(__file__).parent
SNAPSHOTS = TESTS.parent / "snapshots"
HISTORY = TESTS / "data" / "history.jsonl"
"""Six sessions of three projects, from December 2023 to February 2024."""

NOW = datetime(2024, 3, 1, 12, tzinfo=UTC)
"""When the screens think it is: after the history."""

SHARED = TESTS.parent.parent / "shared" / "data"
"""Real transcripts, on the machines that have them."""


SLOW_IS_FINE: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow],
}
"""A busy machine is no reason to fail."""

os.environ["MEMTUI_SUMMARIES__PROVIDER"] = "extractive"
"""No test asks a model of this machine unless it says so."""

os.environ["COLORTERM"] = "truecolor"
"""The pictures have the colors of terminals with all of them."""

trying.register_profile("quick", max_examples=20, derandomize=True, **SLOW_IS_FINE)
trying.register_profile("full", max_examples=100, derandomize=True, **SLOW_IS_FINE)
trying.register_profile("short", max_examples=100, **SLOW_IS_FINE)
trying.register_profile("torture", max_examples=4000, **SLOW_IS_FINE)
trying.load_profile("quick")
"""The first two try the same examples in every run, so that a failure was caused by a
change; the others try new ones. The Makefile chooses."""


@pytest.fixture
def chance(request: pytest.FixtureRequest) -> random.Random:
    """Random choices, which ``--hypothesis-seed`` repeats."""
    return random.Random(request.config.getoption("--hypothesis-seed") or "20")


@pytest.fixture
def is_short(request: pytest.FixtureRequest) -> bool:
    """Return whether this is ``make torture-short``."""
    return bool(request.config.getoption("--hypothesis-profile") == "short")


def often(number: int) -> Callable[[Any], Any]:
    """Set how many examples a test tries; the number is that of ``make test-full``."""
    share = trying.default.max_examples if trying.default else 100
    slow = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
    return trying(
        max_examples=max(1, number * share // 100),
        deadline=None,
        suppress_health_check=slow,
    )


process_state.prepare_process()

NOT_THE_MEMORY = {"created_at"}
"""When a version was made differs from run to run; what it says must not."""

MATRIX = "capture matrix"
"""The property of a test that tells what of one kind of file was found and kept."""


class TopLevelSVG(pytest_textual_snapshot.SVGImageExtension):
    """Snapshots live in ``snapshots/``, one folder per test module.

    The path is spelled through the test's own folder because syrupy tells what a
    partial run owns by finding that folder in it.
    """

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        test = Path(test_location.filepath)
        module = test.relative_to(TESTS).with_suffix("")
        return str(test.parent / os.path.relpath(SNAPSHOTS, test.parent) / module)


pytest_textual_snapshot.SVGImageExtension = TopLevelSVG


@pytest.fixture(autouse=True)
def _surroundings_as_found() -> Iterator[None]:
    """No test finds what the one before it did to the process."""
    with process_state.restored_state():
        process_state.close_store()
        yield


@pytest.fixture(autouse=True)
def _own_surroundings(
    _surroundings_as_found: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No test reads or writes a person's own memory."""
    for name in [name for name in os.environ if name.startswith("MEMTUI_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    for name in ("CONFIG", "DATA", "CACHE"):
        monkeypatch.delenv(f"XDG_{name}_HOME", raising=False)
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)


@pytest.fixture(autouse=True)
def _patient_rollup(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make each level once, after all that arrives, however slow the machine is.

    Otherwise the same history has nodes of other versions where it took ten seconds.
    """
    monkeypatch.setattr(summarization, "PATIENCE_S", 600.0)


OWN = Settings(store_time_zone="UTC", summaries_provider="extractive")


@pytest.fixture
def settings() -> Settings:
    """Built-in settings, with a calendar that does not depend on the machine."""
    return OWN


@pytest.fixture
def workspace(tmp_path: Path, settings: Settings) -> Iterator[Workspace]:
    """A workspace with an empty store."""
    workspace = Workspace(in_home(tmp_path / "home"), settings)
    yield workspace
    workspace.stop()


@pytest.fixture(scope="session")
def digested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the history of ``tests/data``, summarized, rolled up and indexed.

    It is made once; whoever wants to live there takes a copy.
    """
    home = tmp_path_factory.mktemp("digested") / "home"
    workspace = Workspace(in_home(home), OWN)
    for _ in workspace.pipeline.importer().run([HISTORY]):
        pass
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    workspace.stop()
    return home


@pytest.fixture
def full_workspace(
    digested: Path, tmp_path: Path, settings: Settings
) -> Iterator[Workspace]:
    """A workspace with the history of ``tests/data``, summarized and indexed."""
    shutil.copytree(digested, tmp_path / "home")
    workspace = Workspace(in_home(tmp_path / "home"), settings)
    yield workspace
    workspace.stop()


@pytest.fixture
def shared() -> Path:
    """The folder of real transcripts; the test is skipped where there is none."""
    if not SHARED.is_dir():
        pytest.skip("no real transcripts beside the checkout (../shared/data)")
    return SHARED


@pytest.fixture
def app_of(monkeypatch: pytest.MonkeyPatch) -> AppOf:
    """Makes the app of a workspace whose workers rest and whose clock stands still."""

    def make(workspace: Workspace) -> MemtuiApp:
        monkeypatch.setattr(
            workspace, "start", lambda report: report(PipelineProgress(""))
        )
        return MemtuiApp(lambda: workspace, now=lambda: NOW)

    return make


@pytest.fixture
def app(full_workspace: Workspace, app_of: AppOf) -> MemtuiApp:
    """The app of the full workspace."""
    return app_of(full_workspace)


@pytest.fixture
def settle() -> Settle:
    """Waits until all that was asked for is read, and all that was read is shown."""

    async def settle(pilot: Pilot[str | MemtuiError]) -> None:
        while True:
            await wait_for_refresh(pilot)
            pending = [w for w in pilot.app.workers if not w.is_finished]
            if not pending:
                return
            for worker in pending:
                with suppress(WorkerError):
                    await worker.wait()

    return settle


@pytest.fixture
def capture_matrix(
    record_property: Callable[[str, object], None],
) -> Callable[..., None]:
    """Adds a row to the table of what was found and kept."""
    return lambda **row: record_property(MATRIX, row)


TreeOf = Callable[[Path], dict[str, Any]]


@pytest.fixture
def tree_of(settings: Settings) -> TreeOf:
    """Tells all that a home keeps, so that two of them can be compared."""

    def tree(home: Path) -> dict[str, Any]:
        workspace = Workspace(in_home(home), settings)
        try:
            return _events() | {"nodes": _nodes(), "hits": _hits(workspace)}
        finally:
            workspace.stop()

    return tree


def _events() -> dict[str, Any]:
    with database.connection():
        rows = EventRow.select().order_by(EventRow.id).dicts()
        events = [(row["id"], row["text"], row["tokens"]) for row in rows]
        # How it came, and when its facts were told, differs between deliveries.
        left_out = ("id", "routes", "fact_times")
        sessions = {
            row.pop("name"): {k: v for k, v in row.items() if k not in left_out}
            for row in SessionRow.select().dicts()
        }
        segments = SegmentRow.select().order_by(SegmentRow.id)
        facts = {row.id: row.facts for row in segments}
    return {
        "events": events,
        "sessions": sessions,
        "facts": facts,
        "surprise": {name: memories.get_surprise(name) for name in facts},
        "stats": to_plain(status.read_stats()),
    }


def _nodes() -> dict[str, Any]:
    """Every node with all it says."""
    nodes: dict[str, Any] = {}
    waiting = [line.node_id for line in browse.list_children()]
    while waiting:
        name = waiting.pop()
        said = to_plain(browse.get_node(name))
        nodes[name] = {k: v for k, v in said.items() if k not in NOT_THE_MEMORY}
        waiting += [line.node_id for line in browse.list_children(name)]
    return nodes


def _hits(workspace: Workspace) -> dict[str, list[str]]:
    """What is found, without scores: these shift with documents an index replaced."""
    return {
        query: sorted(
            hit.target_id for hit in workspace.teleport.find(query, limit=5000).hits
        )
        for query in ("timeout", "migration fails", "parquet")
    }


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what of each kind of file was found and kept."""
    stats = terminalreporter.stats
    reports = [
        report for kind in ("passed", "failed") for report in stats.get(kind, [])
    ]
    rows = [
        row
        for report in reports
        for name, row in report.user_properties
        if name == MATRIX
    ]
    if rows:
        terminalreporter.section("capture matrix: messages kept / found")
        table = [[*rows[0]], *([str(value) for value in row.values()] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        for line in table:
            cells = (cell.ljust(w) for cell, w in zip(line, widths, strict=True))
            terminalreporter.write_line("  ".join(cells).rstrip())


_connected: list[tuple[Any, ...]] = []


def _watch(event: str, args: tuple[Any, ...]) -> None:
    if event == "socket.connect":
        _connected.append(args[1])


sys.addaudithook(_watch)


@pytest.fixture
def connected() -> list[tuple[Any, ...]]:
    """The addresses that anything connects to during a test."""
    _connected.clear()
    return _connected


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: tests of screens and processes often wait."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(tryfirst=True)  # before tests are selected by their markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests into the full tier by their kind, and slow ones first.

    At the end, the slow ones would be all there is to wait for.
    """
    for item in items:
        if _is_full(item):
            item.add_marker("full")
    order = ("torture", "full")
    items.sort(
        key=lambda item: [item.get_closest_marker(name) is None for name in order]
    )


def _is_full(item: pytest.Item) -> bool:
    """Tell tests of screens and real transcripts, unless they are journeys."""
    if journey := item.get_closest_marker("journey"):
        only = journey.kwargs.get("only")
        return only is not None and not item.name.endswith(f"[{only}]")
    fixtures = getattr(item, "fixturenames", ())
    return (
        item.path.is_relative_to(TESTS / "screens")
        or "snap_compare" in fixtures
        or "shared" in fixtures
    )


def pytest_collection_finish() -> None:
    """What is loaded by now stays: nobody looks for garbage among it."""
    gc.freeze()
