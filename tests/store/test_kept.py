"""Connections kept from one question to the next: the file may change under them."""

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.errors import SearchError
from memtui.search import message_index
from memtui.search.message_index import MessageIndex
from memtui.store import connection_pool
from tests.store.test_postings import found, look_up, one


@pytest.fixture
def index(tmp_path: Path) -> Iterator[MessageIndex]:
    made = MessageIndex(tmp_path / "messages.db", is_kept=True)
    made.create("one")
    message_index.put(made, [one(1, "quay"), one(2, "quay mole")], ())
    yield made
    made.close()


def connection(index: MessageIndex) -> int:
    """Which connection answers now."""
    with index.reading() as db:
        return id(db)


def test_the_same_connection_answers_again_and_sees_what_came_since(
    index: MessageIndex,
) -> None:
    assert found(index, "quay") == [1, 2]
    first = connection(index)
    message_index.put(index, [one(3, "quay")], ())
    assert found(index, "quay") == [1, 2, 3]
    assert connection(index) == first


def test_one_view_does_not_change_while_others_write(index: MessageIndex) -> None:
    with index.reading() as db:
        assert len(look_up(db, "quay").held) == 2
        message_index.put(index, [one(3, "quay")], ())
        assert len(look_up(db, "quay").held) == 2
    assert found(index, "quay") == [1, 2, 3]


def test_an_index_that_is_made_anew_is_asked_instead_of_the_old_one(
    index: MessageIndex,
) -> None:
    assert found(index, "quay") == [1, 2]
    other = MessageIndex(index.path)
    other.create("two")
    message_index.put(other, [one(7, "quay")], ())
    assert found(index, "quay") == [7]
    assert index.name() == "two"
    # The old one took nothing with it that is the new one's.
    message_index.put(other, [one(8, "quay")], ())
    index.close()
    assert found(other, "quay") == [7, 8]


def test_an_index_that_is_deleted_is_missing_and_one_put_in_its_place_is_asked(
    index: MessageIndex, tmp_path: Path
) -> None:
    assert found(index, "quay") == [1, 2]
    beside = MessageIndex(tmp_path / "beside.db")
    beside.create("beside")
    message_index.put(beside, [one(5, "quay")], ())
    index.delete()
    with pytest.raises(SearchError, match="missing"):
        found(index, "quay")
    beside.path.replace(index.path)
    assert found(index, "quay") == [5]


def test_damage_is_noticed_though_it_was_read_before(index: MessageIndex) -> None:
    assert found(index, "quay") == [1, 2]
    index.close()
    again = MessageIndex(index.path, is_kept=True)
    assert found(again, "quay") == [1, 2]
    size = index.path.stat().st_size
    index.path.write_bytes(b"no database, though as long as one ".ljust(size, b"x"))
    with pytest.raises(SearchError):
        found(again, "quay")
    assert index.is_suspect
    again.create("anew")
    message_index.put(again, [one(9, "quay")], ())
    assert found(again, "quay") == [9]
    again.close()


def test_a_file_that_is_cut_short_ends_no_process(index: MessageIndex) -> None:
    message_index.put(index, [one(n, f"quay w{n}") for n in range(3, 2_000)], ())
    assert len(found(index, "quay")) == 1_999
    with index.path.open("r+b") as file:
        file.truncate(8_192)
    with pytest.raises(SearchError):
        found(index, "w7 quay")


def test_threads_ask_at_once_and_each_gets_its_own_answer(index: MessageIndex) -> None:
    message_index.put(index, [one(n, f"w{n}") for n in range(100, 200)], ())
    wrong: list[object] = []
    begin = threading.Barrier(4)

    def ask(first: int) -> None:
        begin.wait()
        for n in range(first, 200, 4):
            answer = found(index, f"w{n}")
            if answer != [n]:
                wrong.append((n, answer))

    threads = [threading.Thread(target=ask, args=(100 + at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_what_fails_is_not_asked_again_and_few_wait(index: MessageIndex) -> None:
    with pytest.raises(SearchError, match="no such table"), index.reading() as failed:
        failed.execute("SELECT * FROM elsewhere")
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        failed.execute("SELECT 1")
    views = [index.reading() for _ in range(connection_pool.MAX_IDLE + 2)]
    dbs = [view.__enter__() for view in views]
    for view in views:
        view.__exit__(None, None, None)
    assert len(dbs) == connection_pool.MAX_IDLE + 2
    closed = 0
    for db in dbs:
        try:
            db.execute("SELECT 1")
        except sqlite3.ProgrammingError:
            closed += 1
    assert closed == 2


def test_once_closed_it_answers_still_and_keeps_nothing_open(
    index: MessageIndex,
) -> None:
    index.close()
    with index.reading() as db:
        assert len(look_up(db, "quay").held) == 2
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        db.execute("SELECT 1")
