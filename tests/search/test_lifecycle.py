"""The index survives kills, readers beside a writer, and damage."""

import os
import random
import re
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.errors import SearchError
from memtui.search.node_index import MARK, NodeIndex
from tests.search.documents import find_ids
from tests.search.killable_writers import document

KILLS = 20
CHECKOUT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of an empty index."""
    index = NodeIndex(tmp_path / "index")
    index.create("test")
    index.close()
    return tmp_path / "index"


@pytest.fixture
def writers(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Start the process that starts writers to the index."""
    command = [sys.executable, "-m", "tests.search.killable_writers", str(folder)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
        cwd=CHECKOUT,
    ) as process:
        yield process
        assert process.stdin
        process.stdin.close()


def test_index_is_created_where_a_process_was_killed_creating_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def die(*_: object, **__: object) -> None:
        raise Killed

    index = NodeIndex(tmp_path / "index")
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(Path, "replace", die)
        patch.setattr(Path, "unlink", die)
        index.create("killed")
    assert len(list(index._folder.iterdir())) == 1
    index.create("test")
    assert index.name() == "test"
    assert index.is_sound()


def begin(writers: subprocess.Popen[str], start: int, most: int) -> int:
    """Start a writer and return its process id."""
    assert writers.stdin
    assert writers.stdout
    writers.stdin.write(f"{start} {most}\n")
    word, number = writers.stdout.readline().split()
    assert word == "pid"
    return int(number)


def has_output(writers: subprocess.Popen[str], within_s: float) -> bool:
    """Return True if a writer prints something within a time."""
    assert writers.stdout
    return bool(select.select([writers.stdout], [], [], within_s)[0])


def find_ferries(index: NodeIndex) -> set[str]:
    return set(find_ids(index, "ferry ", 5000))


@pytest.mark.full
def test_index_survives_killed_writers(
    folder: Path, writers: subprocess.Popen[str]
) -> None:
    assert writers.stdout
    chance = random.Random(4)
    reader, done = NodeIndex(folder), 0
    for _ in range(KILLS):
        pid = begin(writers, done, 10**9)
        for _ in range(chance.randint(0, 3)):
            done = int(writers.stdout.readline().split()[1])
        has_output(writers, chance.uniform(0, 0.05))
        os.kill(pid, signal.SIGKILL)
        while (line := writers.stdout.readline().split()) != ["ended"]:
            done = int(line[1])
        committed = {f"n{number}" for number in range(done)}
        reopened = NodeIndex(folder)
        assert find_ferries(reopened) >= committed
        assert find_ferries(reader) >= committed
        reopened.close()
    assert done > KILLS / 2
    reader.close()
    last = NodeIndex(folder)
    last.update([document(10**6)], [])
    assert "n1000000" in find_ferries(last)
    last.close()


def test_reader_beside_a_writer_sees_each_commit(
    folder: Path, writers: subprocess.Popen[str]
) -> None:
    assert writers.stdout
    most = 60
    begin(writers, 0, most)
    reader, searches, output = NodeIndex(folder), 0, ""
    while not output.endswith("ended\n"):
        # Not readline: it may buffer lines that select does not see.
        while has_output(writers, 0):
            output += os.read(writers.stdout.fileno(), 4096).decode()
        done = [int(number) for number in re.findall(r"done (\d+)\n", output)]
        assert len(find_ferries(reader)) >= max(done, default=0)
        searches += 1
    assert find_ferries(reader) == {f"n{number}" for number in range(most)}
    assert searches > most / 4
    reader.close()


def test_deleted_index_is_an_error_at_once(
    folder: Path,
) -> None:
    index = NodeIndex(folder)
    index.update([document(1)], [])
    assert find_ferries(index) == {"n1"}
    shutil.rmtree(folder)
    with pytest.raises(SearchError, match="holds no index"):
        find_ferries(index)
    index.create("new")
    assert find_ferries(index) == set()
    index.update([document(2)], [])
    assert find_ferries(index) == {"n2"}
    index.close()


def test_reader_uses_an_index_created_by_another_process(
    folder: Path,
) -> None:
    reader, writer = NodeIndex(folder), NodeIndex(folder)
    writer.update([document(1)], [])
    assert find_ferries(reader) == {"n1"}
    writer.create("again")
    writer.update([document(2)], [])
    assert find_ferries(reader) == {"n2"}
    reader.close()
    writer.close()


def test_index_being_created_is_not_reported_as_damaged(folder: Path) -> None:
    writer, reader = NodeIndex(folder), NodeIndex(folder)
    mark = folder / MARK
    named = mark.read_bytes()
    mark.write_bytes(b"")  # as create() does first
    with pytest.raises(SearchError):
        find_ferries(reader)
    mark.write_bytes(named)
    assert not writer.is_suspect
    writer.update([document(1)], [])
    assert find_ferries(reader) == {"n1"}


def test_reader_reports_damage_to_the_indexer(folder: Path) -> None:
    writer, reader = NodeIndex(folder), NodeIndex(folder)
    writer.update([document(number) for number in range(300)], [])
    writer.close()
    assert not writer.is_suspect
    for file in folder.glob("*.seg"):
        file.write_bytes(b"\xff" * file.stat().st_size)
    with pytest.raises(SearchError):
        find_ferries(reader)
    assert writer.is_suspect
    writer.create("new")
    assert not writer.is_suspect
    writer.update([document(1)], [])
    assert find_ferries(reader) == {"n1"}
    reader.close()
    writer.close()
