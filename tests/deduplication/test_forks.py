"""Forks and resumed sessions: each message once, in any order of arrival."""

import random
from itertools import permutations
from pathlib import Path

import pytest

from memtui.paths import in_home
from memtui.settings import Settings
from memtui.store import database
from memtui.workspace import Workspace
from tests.deduplication.deliveries import (
    HistoryDelivery,
    TreeOf,
    marked,
    rollout,
    session_records,
    shuffled_pieces,
    without_versions,
)

FORKS = {
    "one": {
        "a": session_records("s1", 1, 2, 3, 4, 9),
        "b": session_records("s2", 1, 2, 3, 4, 10),
    },
    "one that goes on before the original does": {
        "a": session_records("s1", 1, 2, 3, 4, 20),
        "b": session_records("s2", 1, 2, 3, 4, 10),
    },
    "one that says nothing of its own": {
        "a": session_records("s1", 1, 2, 3, 4, 9),
        "b": session_records("s2", 1, 2, 3),
    },
    "a whole session": {
        "a": session_records("s1", 1, 2, 3),
        "b": session_records("s2", 1, 2, 3),
    },
    "two of one": {
        "a": session_records("s1", 1, 2, 3, 4, 9),
        "b": session_records("s2", 1, 2, 3, 4, 10),
        "c": session_records("s3", 1, 2, 11),
    },
    "a chain": {
        "a": session_records("s1", 1, 2, 3, 4),
        "b": session_records("s2", 1, 2, 3, 4, 5, 6),
        "c": session_records("s3", 1, 2, 3, 4, 5, 6, 7, 8),
    },
    "one of a fork": {
        "a": session_records("s1", 1, 2, 3, 4, 21),
        "b": session_records("s2", 1, 2, 3, 4, 5, 6, 17),
        "c": session_records("s3", 1, 2, 3, 4, 5, 6, 9, 10),
    },
    "marked": {
        "a": session_records("s1", 1, 2, 3, 4, 9),
        "b": marked("s2", "s1", 1, 2, 3, 4) + session_records("s2", 10, 11),
    },
    "a marked chain": {
        "a": session_records("s1", 1, 2, 3, 4, 9),
        "b": marked("s2", "s1", 1, 2, 3, 4) + session_records("s2", 10, 11),
        "c": marked("s3", "s2", 1, 2, 3, 4, 10, 11) + session_records("s3", 12, 13),
    },
    "marked and unmarked": {
        "a": session_records("s1", 1, 2, 3, 4, 9),
        "b": marked("s2", "s1", 1, 2, 3, 4) + session_records("s2", 10, 11),
        "c": session_records("s3", 1, 2, 3, 4, 10, 11, 12, 13),
    },
    "all in one file": {
        "a": session_records("s1", 1, 2, 3, 9)
        + session_records("s2", 1, 2, 3, 10)
        + session_records("s3", 1, 2, 11),
        "b": session_records("s4", 1, 2, 3, 10, 15),
    },
}


@pytest.mark.parametrize("kind", FORKS)
@pytest.mark.full
def test_fork_is_the_same_in_any_order(delivery: HistoryDelivery, kind: str) -> None:
    files = FORKS[kind]
    orders = [[(n, files[n]) for n in order] for order in permutations(files)]
    trees = [delivery.after_steps(steps) for steps in orders]
    said = [text for _, text, _ in trees[0]["events"]]
    assert len(said) == len(set(said))
    for other in trees[1:]:
        assert other == trees[0]


ROLLOUTS = {
    "a.jsonl": rollout("a", [("a", 1, 1), ("a", 2, 3), ("a", 3, 20)]),
    "b.jsonl": rollout("b", [("a", 1, 9), ("a", 2, 9), ("b", 3, 11)]),
    "c.jsonl": rollout("c", [("a", 1, 15), ("c", 2, 16)]),
}


@pytest.mark.parametrize("names", [("b",), ("a", "b"), ("b", "c"), ("a", "b", "c")])
@pytest.mark.full
def test_fork_of_codex_is_the_same_in_any_order(
    delivery: HistoryDelivery, names: tuple[str, ...]
) -> None:
    files = [(f"{name}.jsonl", ROLLOUTS[f"{name}.jsonl"]) for name in names]
    trees = [delivery.after_steps(list(order)) for order in permutations(files)]
    said = [text for _, text, _ in trees[0]["events"]]
    assert len(said) == len(set(said))
    turns = {("a", 1), ("a", 2), ("b", 3), *({("c", 2)} if "c" in names else ())}
    turns |= {("a", 3)} if "a" in names else set()
    assert len(said) == 2 * len(turns)
    for other in trees[1:]:
        assert other == trees[0]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["one of a fork", "two of one", "a marked chain"])
@pytest.mark.full
def test_a_fork_is_the_same_however_it_grows(
    delivery: HistoryDelivery, kind: str, seed: int
) -> None:
    whole = delivery.after_steps(list(FORKS[kind].items()))
    assert (
        delivery.after_steps(shuffled_pieces(FORKS[kind], random.Random(seed))) == whole
    )


def work_of_going_on(home: Path, settings: Settings, shared: int) -> int:
    """Count SQLite's instructions for one more message of a fork that shares many."""
    folder = home / "projects"
    folder.mkdir(parents=True)
    words = range(1, shared + 1)
    (folder / "a.jsonl").write_text(session_records("s1", *words, shared + 1))
    (folder / "b.jsonl").write_text(session_records("s2", *words, shared + 2))
    workspace = Workspace(in_home(home), settings)
    assert list(workspace.pipeline.importer().run([folder]))
    with (folder / "b.jsonl").open("a") as fork:
        fork.write(session_records("s2", shared + 3))
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    with database.connection():
        database.db.connection().set_progress_handler(count, 10)
        importer = workspace.pipeline.importer()
        assert list(importer.run([folder / "b.jsonl"]))
        assert importer.progress.created == 1
        database.db.connection().set_progress_handler(None, 0)
    workspace.stop()
    return steps


def test_continuing_a_fork_does_not_depend_on_its_shared_part(
    tmp_path: Path, settings: Settings
) -> None:
    little = work_of_going_on(tmp_path / "little", settings, 20)
    much = work_of_going_on(tmp_path / "much", settings, 800)
    assert little <= much < 2 * little


def test_interrupted_fork_is_assigned_when_reading_continues(
    tmp_path: Path,
    settings: Settings,
    delivery: HistoryDelivery,
    tree_of: TreeOf,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = {
        "b": session_records("s2", 1, 2, 3, 4, 10),
        "a": session_records("s1", 1, 2, 3, 4, 9),
    }
    whole = delivery.after_steps([*first.items(), ("b", session_records("s2", 12))])
    monkeypatch.setattr("memtui.capture.ingest.EVENTS_AT_ONCE", 2)
    folder = tmp_path / "shop"
    folder.mkdir()
    workspace = Workspace(in_home(tmp_path / "home"), settings)
    (folder / "b").write_text(first["b"])
    assert list(workspace.pipeline.importer().run([folder / "b"]))
    (folder / "a").write_text(first["a"])
    reading = workspace.pipeline.importer().run([folder / "a"])
    next(reading), next(reading)
    del reading
    with (folder / "b").open("a") as fork:
        fork.write(session_records("s2", 12))
    for name in "ab":
        assert list(workspace.pipeline.importer().run([folder / name]))
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    workspace.stop()
    assert without_versions(tree_of(tmp_path / "home")) == whole


def test_exports_of_a_session_and_its_fork_are_joined_alike_in_both_orders(
    delivery: HistoryDelivery,
) -> None:
    exports = {
        f"export-{name}.jsonl": delivery.export_after([(f"{name}.jsonl", records)])
        for name, records in FORKS["one"].items()
    }
    whole = delivery.after_steps([*exports.items()])
    assert delivery.after_steps([*reversed(exports.items())]) == whole
