"""The terms of sessions stay few, and are deleted with their sessions."""

import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from memtui import store
from memtui.store import database, segments
from memtui.store.database import db
from memtui.store.schema import SessionRow
from memtui.store.segments import SegmentRange, SegmentTerms
from memtui.summarize import keywords

AUTH = (
    "token refresh session cookie redirect router login expiry middleware oauth scope"
    " claim"
)
BILLING = (
    "invoice ledger rounding tax currency refund receipt discount customer quarter"
    " balance payment"
)


@pytest.fixture(autouse=True)
def _store(tmp_path: Path) -> None:
    store.open_at(tmp_path / "memory.db", time_zone="UTC")


def began(number: int, at_s: int) -> None:
    SessionRow.insert(
        id=number,
        agent="codex",
        name=f"s{number}",
        created_ms=at_s * 1000,
        updated_ms=at_s * 1000,
    ).execute()


def add(terms: list[SegmentTerms]) -> None:
    segments.add_terms(
        terms,
        keywords.surprise_score,
        keywords.MAX_SESSIONS_PER_TERM,
    )


def told(name: str, number: int, text: str) -> SegmentTerms:
    """A segment that is kept, with the terms it would be compared by."""
    stretch = SegmentRange(name, number, "a" * 26, "b" * 26, 1, 2, 1, 1, 1, 0, False)
    segments.save([stretch])
    return SegmentTerms(name, number, dict.fromkeys(text.split(), 1.0))


def weighed(name: str, number: int, text: str) -> float:
    add([told(name, number, text)])
    return segments.get_surprise([name])[name]


def rows() -> set[tuple[int, int, int, int]]:
    return set(db.execute_sql("SELECT * FROM terms").fetchall())


def test_what_an_earlier_session_said_surprises_nobody() -> None:
    with database.transaction():
        for number in (1, 2, 3):
            began(number, number * 100)
        assert weighed("a", 1, AUTH) == 1.0
        assert weighed("b", 2, AUTH) == 0.0
        assert weighed("c", 3, BILLING) == 1.0


def test_a_session_is_held_against_those_that_began_before_it() -> None:
    with database.transaction():
        began(1, 900)
        began(2, 100)
        began(3, 1000)
        assert weighed("late", 1, AUTH) == 1.0
        assert weighed("early", 2, AUTH) == 1.0
        assert weighed("late", 1, AUTH) == 0.0
        assert weighed("last", 3, AUTH) == 0.0


def test_what_a_session_said_itself_does_not_count() -> None:
    with database.transaction():
        began(1, 100)
        assert weighed("a", 1, AUTH) == weighed("b", 1, AUTH) == 1.0


def test_segments_given_together_are_weighed_one_after_the_other() -> None:
    with database.transaction():
        began(1, 100)
        began(2, 200)
        add([told("a", 1, AUTH), told("b", 2, AUTH)])
        assert segments.get_surprise(["a", "b"]) == {"a": 1.0, "b": 0.0}


def test_a_rewritten_segment_has_only_its_new_text() -> None:
    with database.transaction():
        began(1, 100)
        began(2, 200)
        weighed("a", 1, BILLING)
        weighed("a", 1, AUTH)
        assert weighed("b", 2, BILLING) == 1.0
        assert weighed("b", 2, AUTH) == 0.0


def test_a_segment_that_grows_keeps_its_figure_until_it_is_weighed_anew() -> None:
    with database.transaction():
        began(1, 100)
        weighed("a", 1, AUTH)
        before = rows()
        told("a", 1, AUTH)
        assert segments.get_surprise(["a"]) == {"a": 1.0}
        assert rows() == before


def test_nothing_of_a_removed_segment_stays() -> None:
    with database.transaction():
        began(1, 100)
        began(2, 200)
        weighed("a", 1, AUTH)
        weighed("b", 1, AUTH)
        segments.delete(["a"])
        assert weighed("c", 2, AUTH) == 0.0
        segments.delete(["b"])
        assert weighed("c", 2, AUTH) == 1.0
        segments.delete(["c"])
        assert rows() == set()


def test_a_term_that_very_many_sessions_hold_weighs_as_little_as_it_should() -> None:
    most = keywords.MAX_SESSIONS_PER_TERM + 40
    with database.transaction():
        for number in range(1, most + 2):
            began(number, number * 100)
        everyday = "alpha beta gamma delta epsilon zeta"
        for number in range(1, most + 1):
            add([told(f"s{number}", number, everyday)])
        mixed = weighed("last", most + 1, f"{everyday} {BILLING}")
        alone = weighed("last", most + 1, BILLING)
    assert alone - mixed < 0.02


def test_a_session_whose_first_events_come_late_leaves_nothing_behind() -> None:
    with database.transaction():
        began(1, 500)
        weighed("a", 1, AUTH)
        weighed("b", 1, AUTH)
        SessionRow.update(created_ms=100_000).where(SessionRow.id == 1).execute()
        weighed("a", 1, AUTH)
        segments.delete(["a", "b"])
        assert rows() == set()


def test_whatever_comes_and_goes_the_terms_are_those_of_what_is_there() -> None:
    some = random.Random(7)
    words = [*AUTH.split(), *BILLING.split()]
    there: dict[str, tuple[int, str]] = {}
    with database.transaction():
        for number in range(1, 5):
            began(number, number * 100)
        for _ in range(200):
            name = f"seg{some.randrange(12)}"
            if some.random() < 0.3:
                segments.delete([name])
                there.pop(name, None)
                continue
            number = there[name][0] if name in there else some.randrange(1, 5)
            text = " ".join(some.sample(words, some.randrange(0, 8)))
            add([told(name, number, text)])
            there[name] = (number, text)
        assert counted(rows()) == sum(len(text.split()) for _, text in there.values())
        assert spoken(rows()) == {
            (number, len({*said}))
            for number, said in by_session(there.values()).items()
            if said
        }


def counted(kept: Iterable[tuple[int, int, int, int]]) -> int:
    return sum(row[3] for row in kept)


def spoken(kept: Iterable[tuple[int, int, int, int]]) -> set[tuple[int, int]]:
    """How many terms each session has."""
    return set(Counter(row[2] for row in kept).items())


def by_session(there: Iterable[tuple[int, str]]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for number, text in there:
        found.setdefault(number, []).extend(text.split())
    return found
