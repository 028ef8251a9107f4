"""The terms of sessions stay few, and are deleted with their sessions."""

import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from memtui import store
from memtui.services import memories
from memtui.store import database, segments
from memtui.store.database import db
from memtui.store.segments import SegmentRange, SegmentTerms
from memtui.summarize import keywords
from tests.tables import SessionRow

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


def add_session(number: int, at_s: int) -> None:
    SessionRow.insert(
        id=number,
        agent="codex",
        name=f"s{number}",
        created_ms=at_s * 1000,
        updated_ms=at_s * 1000,
    ).execute()


def make_terms(name: str, number: int, text: str) -> SegmentTerms:
    """A segment that is kept, with the terms it would be compared by."""
    stretch = SegmentRange(name, number, "a" * 26, "b" * 26, 1, 2, 1, 1, 1, 0, False)
    segments.save([stretch])
    return SegmentTerms(name, number, dict.fromkeys(text.split(), 1.0))


def score(name: str, number: int, text: str) -> float:
    segments.add_terms([make_terms(name, number, text)])
    return get_score(name)


def get_score(name: str) -> float:
    score = memories.get_surprise(name)
    assert score is not None
    return score


def rows() -> set[tuple[int, int, int, int]]:
    return set(db.execute_sql("SELECT * FROM terms").fetchall())


def test_terms_of_an_earlier_session_are_no_surprise() -> None:
    with database.transaction():
        for number in (1, 2, 3):
            add_session(number, number * 100)
        assert score("a", 1, AUTH) == 1.0
        assert score("b", 2, AUTH) == 0.0
        assert score("c", 3, BILLING) == 1.0


def test_a_session_is_compared_with_those_that_began_before_it() -> None:
    with database.transaction():
        add_session(1, 900)
        add_session(2, 100)
        add_session(3, 1000)
        assert score("late", 1, AUTH) == 1.0
        assert score("early", 2, AUTH) == 1.0
        assert get_score("late") == 0.0
        assert score("last", 3, AUTH) == 0.0


def test_a_session_is_not_compared_with_itself() -> None:
    with database.transaction():
        add_session(1, 100)
        assert score("a", 1, AUTH) == score("b", 1, AUTH) == 1.0


def test_session_that_turns_out_to_be_earlier_is_compared_as_such() -> None:
    with database.transaction():
        add_session(1, 300)
        add_session(2, 200)
        assert score("a", 1, AUTH) == score("a2", 1, BILLING) == 1.0
        assert score("b", 2, AUTH) == score("b2", 2, BILLING) == 1.0
        assert (get_score("a"), get_score("b")) == (0.0, 1.0)
        SessionRow.update(created_ms=100_000).where(SessionRow.id == 1).execute()
        segments.update_starts([1])
        assert (get_score("a"), get_score("b")) == (1.0, 0.0)
        assert (get_score("a2"), get_score("b2")) == (1.0, 0.0)


def test_a_rewritten_segment_has_only_its_new_text() -> None:
    with database.transaction():
        add_session(1, 100)
        add_session(2, 200)
        score("a", 1, BILLING)
        score("a", 1, AUTH)
        assert score("b", 2, BILLING) == 1.0
        assert score("b", 2, AUTH) == 0.0


def test_a_growing_segment_keeps_its_score_until_it_is_scored_again() -> None:
    with database.transaction():
        add_session(1, 100)
        score("a", 1, AUTH)
        before = rows()
        make_terms("a", 1, AUTH)
        assert get_score("a") == 1.0
        assert rows() == before


def test_a_removed_segment_leaves_no_terms() -> None:
    with database.transaction():
        add_session(1, 100)
        add_session(2, 200)
        score("a", 1, AUTH)
        score("b", 1, AUTH)
        segments.delete(["a"])
        assert score("c", 2, AUTH) == 0.0
        segments.delete(["b"])
        assert score("c", 2, AUTH) == 1.0
        segments.delete(["c"])
        assert rows() == set()


def test_a_very_frequent_term_weighs_little() -> None:
    most = keywords.MAX_SESSIONS_PER_TERM + 40
    with database.transaction():
        for number in range(1, most + 2):
            add_session(number, number * 100)
        everyday = "alpha beta gamma delta epsilon zeta"
        for number in range(1, most + 1):
            segments.add_terms([make_terms(f"s{number}", number, everyday)])
        mixed = score("last", most + 1, f"{everyday} {BILLING}")
        alone = score("last", most + 1, BILLING)
    assert alone - mixed < 0.02


def test_terms_are_deleted_after_their_session_got_another_start() -> None:
    with database.transaction():
        add_session(1, 500)
        score("a", 1, AUTH)
        score("b", 1, AUTH)
        SessionRow.update(created_ms=100_000).where(SessionRow.id == 1).execute()
        score("a", 1, AUTH)
        segments.delete(["a", "b"])
        assert rows() == set()


def test_terms_are_those_of_the_stored_segments_after_any_changes() -> None:
    chance = random.Random(7)
    words = [*AUTH.split(), *BILLING.split()]
    there: dict[str, tuple[int, str]] = {}
    with database.transaction():
        for number in range(1, 5):
            add_session(number, number * 100)
        for _ in range(200):
            name = f"seg{chance.randrange(12)}"
            if chance.random() < 0.3:
                segments.delete([name])
                there.pop(name, None)
                continue
            number = there[name][0] if name in there else chance.randrange(1, 5)
            text = " ".join(chance.sample(words, chance.randrange(0, 8)))
            segments.add_terms([make_terms(name, number, text)])
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
    terms: dict[int, list[str]] = {}
    for number, text in there:
        terms.setdefault(number, []).extend(text.split())
    return terms
