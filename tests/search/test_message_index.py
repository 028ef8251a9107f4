"""The message index: what it returns, and what happens to its file."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.errors import SearchError
from memtui.model.events import EventRole, EventType, from_ms
from memtui.model.filters import EVERYTHING, Filters, Scope
from memtui.search import message_index
from memtui.search.message_index import (
    EPOCH_MS,
    Matches,
    MessageFilter,
    MessageIndex,
    QueryTerm,
)
from memtui.store.events import IndexableEvent, SessionTexts
from memtui.text import analyzer

AT_MS = EPOCH_MS + 1_000_000_000
A_MINUTE_MS = 60_000


@pytest.fixture(autouse=True)
def _without_analysis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Terms are separated by spaces."""
    monkeypatch.setattr(analyzer, "terms", str.split)
    monkeypatch.setattr(analyzer, "term_text", _term_text)


def _term_text(text: str) -> str:
    return "".join(f"{term} " for term in text.split())


@pytest.fixture
def index(tmp_path: Path) -> MessageIndex:
    empty_index = MessageIndex(tmp_path / "messages.db")
    empty_index.create("one")
    return empty_index


@pytest.fixture
def filled(index: MessageIndex) -> MessageIndex:
    """An index with two messages."""
    index.add([message(1, "quay"), message(2, "quay mole")])
    return index


def event_id(number: int) -> str:
    return f"{number:026}"


def message(
    number: int,
    text: str,
    *,
    session: int = 1,
    at_ms: int | None = None,
    role: EventRole = EventRole.USER,
    subagent: str = "",
    copies: tuple[int, ...] = (),
    agent: str = "codex",
    project: str = "",
) -> IndexableEvent:
    """Return a message at a number of minutes after the first."""
    return IndexableEvent(
        event_id=event_id(number),
        session=session,
        subagent=subagent,
        at_ms=AT_MS + number * A_MINUTE_MS if at_ms is None else at_ms,
        ordinal=0,
        type=EventType.USER_MESSAGE,
        role=role,
        text=text,
        copy_ids=tuple(map(event_id, copies)),
        agent=agent,
        project=project,
    )


def time(number: int) -> datetime:
    return from_ms(AT_MS + number * A_MINUTE_MS)


def search(
    index: MessageIndex, words: str, within: MessageFilter | None = None
) -> Matches:
    """Look words up; one that ends in a star is a prefix."""
    terms = [
        QueryTerm(word.rstrip("*"), word.rstrip("*") if word.endswith("*") else "")
        for word in words.split()
    ]
    return index.search(terms, within or MessageFilter())


def masks(matches: Matches) -> dict[int, int]:
    """Return which terms each message contains, by its number."""
    return {int(message.event_id): message.mask for message in matches.candidates}


def find(
    index: MessageIndex,
    words: str,
    sessions: frozenset[int] | None = None,
    filters: Filters = EVERYTHING,
) -> list[int]:
    """Return the numbers of the messages with any of these words, sorted."""
    return sorted(masks(search(index, words, MessageFilter(sessions, filters))))


# What is found


def test_matches_have_the_terms_they_contain(index: MessageIndex) -> None:
    index.add([message(1, "red green"), message(2, "green blue"), message(3, "white")])
    result = search(index, "green blue")
    assert masks(result) == {1: 0b01, 2: 0b11}
    assert (result.frequencies, result.common) == ([2, 1], [])
    assert (result.message_count, result.length, result.session_count) == (3, 5, 1)


def test_frequent_term_finds_the_newest_messages(
    index: MessageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_index, "MAX_PER_TERM", 10)
    usual = [message(n, "usual rare" if n == 3 else "usual") for n in range(1, 31)]
    index.add([*usual, *(message(n, "other") for n in range(31, 61))])
    assert find(index, "usual") == [*range(21, 31)]
    result = search(index, "usual rare")
    assert (result.common, result.frequencies) == (["usual"], [30, 1])
    assert (result.total, search(index, "usual").total) == (11, 10)
    # Older ones are found if they contain a rarer term too.
    assert find(index, "usual rare") == [3, *range(21, 31)]
    assert 0b11 in masks(result).values()
    assert search(index, "rare").common == []


def test_older_messages_with_all_frequent_terms_are_found(
    index: MessageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_index, "MAX_PER_TERM", 10)
    both = {2, 5}
    words = ["red blue" if n in both else ("red", "blue")[n % 2] for n in range(60)]
    index.add([message(n, each) for n, each in enumerate(words)])
    result = search(index, "red blue")
    assert result.common == ["red", "blue"]
    assert {n for n, mask in masks(result).items() if mask == 0b11} == both


def test_frequency_of_a_frequent_term_is_exact(
    index: MessageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_index, "MAX_PER_TERM", 10)
    words = ["usual", "usual third", "usual third thirds"]
    index.add([message(n, words[n % 3]) for n in range(60)])
    assert search(index, "usual third").frequencies == [60, 40]
    assert search(index, "third*").frequencies == [40]


def test_messages_with_the_most_terms_are_scored(
    index: MessageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_index, "MAX_PER_TERM", 10)
    monkeypatch.setattr(message_index, "MAX_SCORED", 5)
    words = ["red blue green", "red", "blue", "green", "red blue"]
    index.add([message(n, words[0] if n < 3 else words[1 + n % 4]) for n in range(300)])
    best = masks(search(index, "red blue green"))
    assert {number for number, mask in best.items() if mask == 0b111} == {0, 1, 2}
    assert len(best) == 5


def test_messages_with_the_rarest_terms_are_selected() -> None:
    masks = dict.fromkeys(range(message_index.MAX_SCORED + 500), 0b10) | {7: 0b01}
    selected = list(message_index.select(masks, [5.0, 1.0]))
    assert len(selected) == message_index.MAX_SCORED
    assert selected[:2] == [7, max(masks)], "the newest among equals"


def test_sessions_are_found_by_their_texts(index: MessageIndex) -> None:
    index.set_session_texts(
        [
            SessionTexts(1, "quay", "", ""),
            SessionTexts(2, "", "quay", ""),
            SessionTexts(3, "", "", "quay"),
            SessionTexts(4, "other", "other", "other"),
        ]
    )

    def find_sessions(sessions: frozenset[int] | None = None) -> list[int]:
        within = MessageFilter(sessions)
        matches = index.search([QueryTerm("quay")], within, with_sessions=True)
        return list(matches.sessions)

    assert find_sessions() == [2, 1, 3], "the summary weighs most, bullets least"
    assert find_sessions(frozenset([1, 4])) == [1]
    index.set_session_texts([SessionTexts(1, "mole", "", "")])
    assert find_sessions() == [2, 3]


def test_term_of_exactly_the_limit_is_not_common(
    index: MessageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_index, "MAX_PER_TERM", 10)
    index.add([message(n, "usual") for n in range(10)])
    assert search(index, "usual").common == []
    index.add([message(10, "usual")])
    assert search(index, "usual").common == ["usual"]


def test_filters_select_messages(
    index: MessageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_index, "MAX_ROWID_SHIFT", 0)
    index.add(
        [
            message(1, "word", session=1),
            message(2, "word", session=2),
            message(3, "word", session=2, role=EventRole.ASSISTANT),
            message(4, "word", session=2, subagent="explorer"),
            message(5, "word", session=3),
        ]
    )

    def check() -> None:
        assert find(index, "word") == [1, 2, 3, 4, 5]
        assert find(index, "word", sessions=frozenset([2])) == [2, 3, 4]
        assert find(index, "word", sessions=frozenset()) == []
        assert find(index, "word", filters=Filters(role=EventRole.ASSISTANT)) == [3]
        assert find(index, "word", filters=Filters(with_subagents=False)) == [
            1,
            2,
            3,
            5,
        ]
        assert find(index, "word", filters=Filters(since=time(2), until=time(4))) == [
            2,
            3,
        ]
        within = MessageFilter(frozenset([1, 2]), Filters(role=EventRole.USER))
        result = search(index, "word", within)
        counts = result.message_count, result.session_count, len(result.candidates)
        assert counts == (4, 2, 3)

    check()
    # However many sessions there are.
    monkeypatch.setattr(message_index, "MAX_LISTED_SESSIONS", 0)
    check()


def test_filters_hold_for_frequent_terms(
    index: MessageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_index, "MAX_PER_TERM", 5)
    index.add([message(n, "red blue", session=n % 3) for n in range(90)])
    for listed in (20, 0):
        monkeypatch.setattr(message_index, "MAX_LISTED_SESSIONS", listed)
        within = MessageFilter(sessions=frozenset([1]))
        result = search(index, "red", within)
        assert sorted(masks(result)) == [76, 79, 82, 85, 88]
        assert (result.frequencies, result.common) == ([30], ["red"])


def of_scope(agent: str = "", project: str = "") -> Filters:
    return Filters(scope=Scope(agent, project))


def test_messages_of_many_sessions_are_found_by_agent_and_project(
    index: MessageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_index, "MAX_LISTED_SESSIONS", 0)
    index.add(
        [
            message(1, "word", session=1, project="ferry"),
            message(2, "word", session=2, project="quay"),
            message(3, "word", session=3, project="ferry", agent="aider"),
        ]
    )
    every = frozenset([1, 2, 3])
    assert find(index, "word", every, of_scope(project="ferry")) == [1, 3]
    assert find(index, "word", every, of_scope("codex")) == [1, 2]
    assert find(index, "word", every, of_scope("aider", "ferry")) == [3]
    # Only some of the project's sessions, as with a second filter.
    assert find(index, "word", frozenset([1]), of_scope(project="ferry")) == [1]


def test_messages_are_found_in_the_project_that_they_moved_to(
    index: MessageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_index, "MAX_LISTED_SESSIONS", 0)
    for project in ("ferry", "quay"):
        index.add([message(n, "word", project=project) for n in (1, 2)])
    of = frozenset([1])
    assert find(index, "word", of, of_scope(project="quay")) == [1, 2]
    assert find(index, "word", of, of_scope(project="ferry")) == []
    assert index.status().messages == 2


def test_prefix_finds_terms_that_begin_so(index: MessageIndex) -> None:
    index.add([message(1, "retry"), message(2, "retries"), message(3, "tree rot")])
    assert find(index, "re*") == [1, 2]
    assert find(index, "retr*") == [1, 2]
    assert find(index, "retri*") == [2]
    assert find(index, "retr") == []
    # A single letter is a term, not a prefix.
    assert find(index, "r*") == []


def test_prefixes_of_any_length_find_the_same(index: MessageIndex) -> None:
    words = ["quay", "quays", "quayside quay", "quarry", "harbour quayage", "qua yside"]
    index.add([message(n, text) for n, text in enumerate(words)])
    assert find(index, "quay*") == [0, 1, 2, 4]
    assert find(index, "quaysi*") == [2]
    assert find(index, "quayz*") == []
    result = index.search([QueryTerm("harbour", "quay")], MessageFilter())
    assert len(result.candidates) == 4


@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=8))
def test_any_term_can_be_looked_up(
    tmp_path_factory: pytest.TempPathFactory, words: list[str]
) -> None:
    index = MessageIndex(tmp_path_factory.mktemp("odd") / "messages.db")
    index.create("one")
    index.add([message(1, "can't * ( ) a\"b NEAR AND c:d ^x -y")])
    terms = [QueryTerm(term, term if at % 2 else "") for at, term in enumerate(words)]
    result = index.search(terms, MessageFilter(), with_sessions=True)
    assert len(result.frequencies) == len(words)


@pytest.mark.parametrize("term", ["can't", 'a"b', "NEAR", "(", "c:d", "^x", "-y"])
def test_syntax_of_fts5_is_text(index: MessageIndex, term: str) -> None:
    index.add([message(1, "can't * ( ) a\"b NEAR AND c:d ^x -y"), message(2, "ab")])
    assert find(index, term) == [1]


# What is added


def test_indexed_copy_of_an_event_is_removed(
    index: MessageIndex,
) -> None:
    index.add([message(1, "secret word"), message(2, "word")])
    index.add([message(3, "word", copies=(1,))])
    assert find(index, "secret word") == [2, 3]
    assert index.status().messages == 2


def test_moved_event_is_found_in_its_new_session_only(
    index: MessageIndex,
) -> None:
    index.add([message(1, "word", session=1), message(2, "word", session=1)])
    index.add([message(1, "word", session=7)])
    assert find(index, "word", sessions=frozenset([1])) == [2]
    assert find(index, "word", sessions=frozenset([7])) == [1]
    assert find(index, "word") == [1, 2]
    assert index.status().messages == 2


def test_event_added_twice_is_indexed_once(index: MessageIndex) -> None:
    batch = [message(n, "word") for n in range(5)]
    index.add(batch)
    index.add(batch)
    assert find(index, "word") == [0, 1, 2, 3, 4]
    assert index.status().messages == 5


def test_many_messages_at_the_same_time_are_indexed(index: MessageIndex) -> None:
    same = [message(n, "word", at_ms=AT_MS) for n in range(100)]
    index.add([message(100, "word", at_ms=AT_MS + 1_000)])
    for start in range(0, 100, 30):
        index.add(same[start : start + 30])
    assert find(index, "word") == [*range(101)]
    index.add([message(200, "word", at_ms=EPOCH_MS - 5_000)])
    assert 200 in find(index, "word")


# The file


KILLED = """
import sys
from pathlib import Path
from memtui.search.message_index import MessageIndex
from memtui.text import analyzer
from tests.search.test_message_index import message

analyzer.term_text = "{} ".format
index = MessageIndex(Path(sys.argv[1]))
for start in range(0, 100_000, 50):
    batch = [message(n, f"word w{n} w{n % 97}") for n in range(start, start + 50)]
    index.add_older(batch)
    print(start + 50, flush=True)
"""


@pytest.mark.full
@pytest.mark.parametrize("batches", [1, 4, 9])
def test_killed_writer_leaves_the_index_sound(
    index: MessageIndex, batches: int
) -> None:
    argv = [sys.executable, "-c", KILLED, str(index.path)]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    printed = [int(process.stdout.readline()) for _ in range(batches)]
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    status = index.status()
    done = status.events_read
    assert done >= printed[-1]
    assert (status.messages, status.oldest_id) == (done, event_id(done - 1))
    assert find(index, f"w{printed[-1] - 1}")[-1] == printed[-1] - 1
    with closing(sqlite3.connect(index.path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        check = "INSERT INTO message_terms (message_terms) VALUES ('integrity-check')"
        db.execute(check)
        count = "SELECT count(*) FROM message_terms WHERE message_terms MATCH 'word'"
        assert db.execute(count).fetchone() == (done,)
    index.add([message(done, "later")])
    assert find(index, "later") == [done]


def test_missing_or_foreign_file_is_an_error(tmp_path: Path) -> None:
    index = MessageIndex(tmp_path / "messages.db")
    with pytest.raises(SearchError, match="missing"):
        index.add([message(1, "word")])
    index.path.write_bytes(b"no database, though as long as one " * 200)
    with pytest.raises(SearchError):
        find(index, "word")


def test_index_of_other_content_has_no_name(index: MessageIndex) -> None:
    assert index.name() == "one"
    assert MessageIndex(index.path, with_tools=True).name() == ""


# While the index changes


def test_search_does_not_see_messages_added_meanwhile(
    filled: MessageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    select = message_index.select

    def add_and_select(*args: object) -> dict[int, int]:
        filled.add([message(3, "quay", copies=(1,))])
        return select(*args)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(message_index, "select", add_and_select)
        assert find(filled, "quay") == [1, 2]
    assert find(filled, "quay") == [2, 3]


def test_rebuilt_index_replaces_the_old_one(
    filled: MessageIndex,
) -> None:
    assert find(filled, "quay") == [1, 2]
    other = MessageIndex(filled.path)
    other.create("two")
    other.add([message(7, "quay")])
    assert find(filled, "quay") == [7]
    assert filled.name() == "two"


def test_deleted_index_is_missing_until_it_is_replaced(
    filled: MessageIndex, tmp_path: Path
) -> None:
    assert find(filled, "quay") == [1, 2]
    other = MessageIndex(tmp_path / "other.db")
    other.create("other")
    other.add([message(5, "quay")])
    filled.delete()
    with pytest.raises(SearchError, match="missing"):
        find(filled, "quay")
    other.path.replace(filled.path)
    assert find(filled, "quay") == [5]


def test_damage_is_noticed_after_successful_searches(filled: MessageIndex) -> None:
    assert find(filled, "quay") == [1, 2]
    size = filled.path.stat().st_size
    filled.path.write_bytes(b"no database, though as long as one ".ljust(size, b"x"))
    with pytest.raises(SearchError):
        find(filled, "quay")
    assert filled.is_suspect
    filled.create("new")
    filled.add([message(9, "quay")])
    assert find(filled, "quay") == [9]
    assert not filled.is_suspect


def test_truncated_file_is_an_error(filled: MessageIndex) -> None:
    filled.add([message(n, f"quay w{n}") for n in range(3, 2_000)])
    assert find(filled, "w7 quay")
    with filled.path.open("r+b") as file:
        file.truncate(8_192)
    with pytest.raises(SearchError):
        find(filled, "w7 quay")


def test_threads_search_at_once(filled: MessageIndex) -> None:
    filled.add([message(n, f"w{n}") for n in range(100, 200)])
    errors: list[object] = []
    begin = threading.Barrier(4)

    def search_words(first: int) -> None:
        begin.wait()
        for n in range(first, 200, 4):
            result = find(filled, f"w{n}")
            if result != [n]:
                errors.append((n, result))

    threads = [threading.Thread(target=search_words, args=(100 + n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_connections_are_closed(filled: MessageIndex) -> None:
    with filled._reading() as used:
        pass
    with pytest.raises(SearchError, match="no such table"), filled._reading() as failed:
        failed.execute("SELECT * FROM elsewhere")
    for db in (used, failed):
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            db.execute("SELECT 1")
