"""Words looked up in an index of messages: a real file, whatever was put into it."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.errors import SearchError
from memtui.search import message_index, message_scoring
from memtui.search.message_index import (
    EPOCH_MS,
    Bounds,
    Found,
    Kind,
    MatchQuery,
    MessageIndex,
    Said,
    number_at,
)

AT_MS = EPOCH_MS + 1_000_000_000
A_MINUTE_MS = 60_000


@pytest.fixture
def index(tmp_path: Path) -> MessageIndex:
    made = MessageIndex(tmp_path / "messages.db")
    made.create("one")
    return made


def one(
    number: int,
    terms: str,
    *,
    session: int = 1,
    at_ms: int | None = None,
    kind: Kind = Kind.USER,
    subagent: str = "",
    told_ids: tuple[bytes, ...] = (),
) -> Said:
    """A message whose event has a number, said so many minutes after the first."""
    return Said(
        event_id=number.to_bytes(16, "big"),
        session=session,
        subagent=subagent,
        at_ms=AT_MS + number * A_MINUTE_MS if at_ms is None else at_ms,
        kind=kind,
        terms=terms.split(),
        told_ids=told_ids,
    )


def found(index: MessageIndex, words: str, **bounds: object) -> list[int]:
    """The numbers of the events that hold any of these words, in their order."""
    with index.reading() as db:
        held = look_up(db, words, Bounds(**bounds)).held  # type: ignore[arg-type]
        places = message_index.places(db, held)
    return sorted(int.from_bytes(place.event, "big") for place in places)


def look_up(db: sqlite3.Connection, words: str, bounds: Bounds | None = None) -> Found:
    """Look words up; one that ends in a star may go on."""
    asked = [
        MatchQuery(word.rstrip("*"), word.rstrip("*") if word.endswith("*") else "")
        for word in words.split()
    ]
    return message_index.find(db, asked, bounds or Bounds())


def test_each_message_is_found_with_the_words_it_holds(index: MessageIndex) -> None:
    message_index.put(
        index, [one(1, "red green"), one(2, "green blue"), one(3, "white")], ()
    )
    with index.reading() as db:
        told = look_up(db, "green blue")
        places = message_index.places(db, told.held)
    by_event = {place.event[-1]: told.held[place.number] for place in places}
    assert by_event == {1: 0b01, 2: 0b11}
    assert (told.counts, told.common) == ([2, 1], [])
    assert (told.messages, told.size, told.threads) == (3, 5, 1)


def test_of_a_very_common_word_the_newest_are_found_and_that_is_told(
    index: MessageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_index, "CAP", 10)
    batch = [one(n, "usual rare" if n == 3 else "usual") for n in range(1, 31)]
    message_index.put(index, [*batch, *(one(n, "other") for n in range(31, 61))], ())
    assert found(index, "usual") == [*range(21, 31)]
    with index.reading() as db:
        told = look_up(db, "usual rare")
    assert (told.common, told.counts) == ([0], [30, 1])
    # What holds a rarer word is known to hold the common one as well, however old.
    assert found(index, "usual rare") == [3, *range(21, 31)]
    assert 0b11 in told.held.values()
    message_index.put(index, [], ())
    with index.reading() as db:
        assert look_up(db, "rare").common == []


def test_what_holds_all_of_several_common_words_is_found_however_old(
    index: MessageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_index, "CAP", 10)
    both = {2, 5}
    words = ["red blue" if n in both else ("red", "blue")[n % 2] for n in range(60)]
    message_index.put(index, [one(n, each) for n, each in enumerate(words)], ())
    with index.reading() as db:
        told = look_up(db, "red blue")
        places = message_index.places(db, told.held)
    assert told.common == [0, 1]
    assert {p.event[-1] for p in places if told.held[p.number] == 0b11} == both


def test_how_many_hold_a_very_common_word_is_told_by_samples(
    index: MessageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_index, "CAP", 10)
    monkeypatch.setattr(message_index, "COUNTED", 50)
    monkeypatch.setattr(message_index, "SAMPLED", 20)
    batch = [one(n, "usual" if n % 2 else "usual third") for n in range(600)]
    message_index.put(index, batch, ())
    with index.reading() as db:
        all_hold, half_hold = look_up(db, "usual third").counts
    assert all_hold == 600
    assert 250 <= half_hold <= 350


def test_the_best_are_found_however_many_hold_some_of_the_common_words(
    index: MessageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_index, "CAP", 10)
    monkeypatch.setattr(message_scoring, "WEIGHED", 5)
    monkeypatch.setattr(message_index, "WEIGHED", 5)
    words = ["red blue green", "red", "blue", "green", "red blue"]
    batch = [one(n, words[0] if n < 3 else words[1 + n % 4]) for n in range(300)]
    message_index.put(index, batch, ())
    with index.reading() as db:
        told = look_up(db, "red blue green")
        rarities = message_scoring.Corpus(told.counts, told.messages, 0, 0).rarities()
        best = message_scoring.likeliest(told.held, rarities)
        places = message_index.places(db, best)
    held = {place.event[-1]: told.held[place.number] for place in places}
    assert {event for event, words in held.items() if words == 0b111} == {0, 1, 2}
    assert sorted(held)[:3] == [0, 1, 2]
    assert len(held) == 5


def test_exactly_as_many_as_are_looked_at_are_no_common_word(
    index: MessageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_index, "CAP", 10)
    message_index.put(index, [one(n, "usual") for n in range(10)], ())
    with index.reading() as db:
        assert look_up(db, "usual").common == []
    message_index.put(index, [one(10, "usual")], ())
    with index.reading() as db:
        assert look_up(db, "usual").common == [0]


def test_filters_hold(index: MessageIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    message_index.put(
        index,
        [
            one(1, "word", session=1),
            one(2, "word", session=2),
            one(3, "word", session=2, kind=Kind.ASSISTANT),
            one(4, "word", session=2, subagent="explorer"),
            one(5, "word", session=3),
        ],
        (),
    )

    def check() -> None:
        assert found(index, "word") == [1, 2, 3, 4, 5]
        assert found(index, "word", sessions=frozenset([2])) == [2, 3, 4]
        assert found(index, "word", sessions=frozenset()) == []
        assert found(index, "word", kinds=frozenset([Kind.ASSISTANT])) == [3]
        assert found(index, "word", with_subagents=False) == [1, 2, 3, 5]
        first, last = (number_at(AT_MS + n * A_MINUTE_MS) for n in (2, 4))
        assert found(index, "word", first=first, last=last - 1) == [2, 3]
        mine = Bounds(sessions=frozenset([1, 2]), kinds=frozenset([Kind.USER]))
        with index.reading() as db:
            told = look_up(db, "word", mine)
        assert (told.messages, told.threads, len(told.held)) == (4, 3, 3)

    check()
    # However many sessions there are, and however common the word.
    monkeypatch.setattr(message_index, "LISTED", 0)
    check()
    monkeypatch.setattr(message_index, "NUMBERED", 0)
    check()


def test_filters_hold_for_very_common_words(
    index: MessageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_index, "CAP", 5)
    some = [one(n, "red blue", session=n % 3) for n in range(90)]
    message_index.put(index, some, ())
    for listed, numbered in ((400, 0), (0, 400), (0, 0)):
        monkeypatch.setattr(message_index, "LISTED", listed)
        monkeypatch.setattr(message_index, "NUMBERED", numbered)
        numbers = found(index, "red blue", sessions=frozenset([1]))
        assert numbers == [75 + 1, 79, 82, 85, 88]
        with index.reading() as db:
            told = look_up(db, "red", Bounds(sessions=frozenset([1])))
        assert (told.counts, told.common) == ([30], [0])


def test_a_message_that_is_forgotten_is_not_found(index: MessageIndex) -> None:
    message_index.put(index, [one(1, "secret word"), one(2, "word")], ())
    with index.reading() as db:
        (number,) = look_up(db, "secret").held
    # What is told under another id, known before as an event of its own, goes.
    message_index.put(index, [one(3, "word", told_ids=(one(1, "").event_id,))], ())
    assert found(index, "secret word") == [2, 3]
    with index.reading() as db:
        assert message_index.places(db, [number]) == []
    assert index.count() == 2


def test_an_event_moved_to_another_session_is_found_there_alone(
    index: MessageIndex,
) -> None:
    message_index.put(index, [one(1, "word", session=1), one(2, "word", session=1)], ())
    message_index.put(index, [one(1, "word", session=7)], ())
    assert found(index, "word", sessions=frozenset([1])) == [2]
    assert found(index, "word", sessions=frozenset([7])) == [1]
    assert found(index, "word") == [1, 2]
    assert index.count() == 2


def test_what_is_put_twice_is_there_once(index: MessageIndex) -> None:
    batch = [one(n, "word") for n in range(5)]
    message_index.put(index, batch, ())
    message_index.put(index, batch, ())
    assert found(index, "word") == [0, 1, 2, 3, 4]
    assert index.count() == 5


def test_any_number_of_messages_of_one_second_fit(index: MessageIndex) -> None:
    same = [one(n, "word", at_ms=AT_MS) for n in range(100)]
    after = one(100, "word", at_ms=AT_MS + 1_000)
    message_index.put(index, [after], ())
    for start in range(0, 100, 30):
        message_index.put(index, same[start : start + 30], ())
    assert found(index, "word") == [*range(101)]
    before_all = one(200, "word", at_ms=EPOCH_MS - 5_000)
    message_index.put(index, [before_all], ())
    assert 200 in found(index, "word")


@pytest.mark.parametrize("seed", range(5))
def test_places_are_in_order_whatever_order_messages_came_in(
    index: MessageIndex, seed: int
) -> None:
    dice = random.Random(seed)
    batch = [one(n, "word", session=n % 2) for n in range(40)]
    dice.shuffle(batch)
    while batch:
        count = dice.randint(1, 9)
        message_index.put(index, batch[:count], ())
        del batch[:count]
    for session in (0, 1):
        with index.reading() as db:
            held = look_up(db, "word", Bounds(sessions=frozenset([session]))).held
            places = sorted(message_index.places(db, held), key=lambda p: p.place)
            told = [place.event[-1] for place in places]
        assert told == [n for n in range(40) if n % 2 == session]
        assert len({place.place for place in places}) == len(places)


def test_a_word_that_may_go_on_finds_what_begins_so(index: MessageIndex) -> None:
    message_index.put(
        index, [one(1, "retry"), one(2, "retries"), one(3, "tree rot")], ()
    )
    assert found(index, "re*") == [1, 2]
    assert found(index, "retr*") == [1, 2]
    assert found(index, "retri*") == [2]
    assert found(index, "retr") == []
    # One letter alone is a word, not the beginning of one.
    assert found(index, "r*") == []


def test_however_many_words_begin_so_the_same_messages_are_found(
    index: MessageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["quay", "quays", "quayside quay", "quarry", "harbour quayage", "qua yside"]
    message_index.put(index, [one(n, each) for n, each in enumerate(words)], ())
    for spelt in (message_index.SPELT, 1):
        monkeypatch.setattr(message_index, "SPELT", spelt)
        assert found(index, "quay*") == [0, 1, 2, 4]
        assert found(index, "quaysi*") == [2]
        assert found(index, "quayz*") == []
        with index.reading() as db:
            word = MatchQuery("harbour", "quay")
            assert len(message_index.find(db, [word], Bounds()).held) == 4


@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=8))
def test_whatever_is_asked_is_no_error(
    tmp_path_factory: pytest.TempPathFactory, terms: list[str]
) -> None:
    index = MessageIndex(tmp_path_factory.mktemp("odd") / "messages.db")
    index.create("one")
    message_index.put(index, [one(1, "can't * ( ) a\"b NEAR AND c:d ^x -y")], ())
    asked = [MatchQuery(term, term if at % 2 else "") for at, term in enumerate(terms)]
    with index.reading() as db:
        told = message_index.find(db, asked, Bounds())
        message_index.calls(db, asked, Bounds())
    assert len(told.counts) == len(terms)


@pytest.mark.parametrize("term", ["can't", 'a"b', "NEAR", "(", "c:d", "^x", "-y"])
def test_odd_terms_are_found_as_they_stand(index: MessageIndex, term: str) -> None:
    message_index.put(
        index, [one(1, "can't * ( ) a\"b NEAR AND c:d ^x -y"), one(2, "ab")], ()
    )
    assert found(index, term) == [1]


KILLED = """
import sys
from pathlib import Path
from memtui.store import said
from memtui.search.message_index import Messages
from tests.store.test_postings import one

index = Messages(Path(sys.argv[1]))
for start in range(0, 100_000, 50):
    batch = [one(n, f"word w{n} w{n % 97}") for n in range(start, start + 50)]
    said.put(index, batch, (("looked", start + 50),))
    print(start + 50, flush=True)
"""


@pytest.mark.parametrize("batches", [1, 4, 9])
def test_a_kill_while_putting_leaves_the_index_sound(
    index: MessageIndex, batches: int
) -> None:
    argv = [sys.executable, "-c", KILLED, str(index.path)]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    told = [int(process.stdout.readline()) for _ in range(batches)]
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    done = index.filling().done
    assert done >= told[-1]
    assert index.count() == done
    assert found(index, f"w{told[-1] - 1}")[-1] == told[-1] - 1
    with closing(sqlite3.connect(index.path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        db.execute("INSERT INTO said (said) VALUES ('integrity-check')")
        rows = db.execute("SELECT count(*) FROM said WHERE said MATCH 'word'")
        assert rows.fetchone() == (done,)
    message_index.put(index, [one(done, "later")], ())
    assert found(index, "later") == [done]


def test_an_index_that_is_missing_or_none_says_so(tmp_path: Path) -> None:
    index = MessageIndex(tmp_path / "messages.db")
    with pytest.raises(SearchError, match="missing"):
        message_index.put(index, [one(1, "word")], ())
    index.path.write_bytes(b"no database, though as long as one " * 200)
    with pytest.raises(SearchError):
        found(index, "word")
