"""Folders that are imported again, copied, continued and merged."""

import os
import shutil
from pathlib import Path

import pytest

from tests.deduplication.deliveries import HistoryDelivery, record, session_records
from tests.deduplication.test_forks import FORKS
from tests.deduplication.test_hooks import TRANSCRIPT


def copied(folder: Path, to: Path) -> Path:
    shutil.copytree(folder, to)
    return to


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    """A folder of projects of Claude Code."""
    shop = tmp_path / "projects" / "-home-ada-shop"
    (shop / "s1" / "subagents").mkdir(parents=True)
    (shop / "s1.jsonl").write_text(TRANSCRIPT)
    (shop / "s2.jsonl").write_text(FORKS["one"]["b"])
    (shop / "s1" / "subagents" / "agent-1.jsonl").write_text(
        record(30, "Count the tables of the migration", isSidechain=True, agentId="1")
    )
    return tmp_path / "projects"


def test_repeated_import_stores_events_once(
    projects: Path, delivery: HistoryDelivery, tmp_path: Path
) -> None:
    once = delivery.after_imports(projects)
    for file in projects.rglob("*.jsonl"):
        os.utime(file, (1, 1))
    assert delivery.after_imports(projects, projects) == once
    assert delivery.after_imports(projects, copied(projects, tmp_path / "copy")) == once


def test_copied_and_continued_folder_adds_only_new_events(
    projects: Path, delivery: HistoryDelivery, tmp_path: Path
) -> None:
    before = copied(projects, tmp_path / "before")
    with (projects / "-home-ada-shop" / "s1.jsonl").open("a") as file:
        file.write(session_records("s1", 11, 12))
    later = delivery.after_imports(projects)
    assert (
        delivery.after_imports(before, projects)
        == delivery.after_imports(projects, before)
        == later
    )


def test_folders_of_two_machines_are_merged(
    projects: Path, delivery: HistoryDelivery, tmp_path: Path
) -> None:
    other = copied(projects, tmp_path / "other")
    mine, theirs = (folder / "-home-ada-shop" for folder in (projects, other))
    (mine / "s3.jsonl").write_text(session_records("s3", 40, 41, 42))
    (theirs / "s4.jsonl").write_text(
        session_records("s4", 41, 43) + session_records("s1", 50)
    )
    merged = tmp_path / "merged"
    copied(projects, merged)
    shutil.copytree(other, merged / "theirs")
    trees = [
        delivery.after_imports(merged),
        delivery.after_imports(projects, other),
        delivery.after_imports(other, projects),
    ]
    names = set(trees[0]["sessions"])
    assert names == {"s1", "s2", "s3", "s4"}
    assert trees[1] == trees[0]
    assert trees[2] == trees[0]
