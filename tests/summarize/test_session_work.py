"""The name, the state and the merged card of a session with several segments."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from memtui.model.calendar import TocLevel
from memtui.model.nodes import Bullet, BulletKind, TocNode
from memtui.model.sessions import WorkState
from memtui.summarize import session_work

AT = datetime(2026, 2, 10, 9, tzinfo=UTC)


def bullet(kind: BulletKind, text: str, *grips: str) -> Bullet:
    return Bullet(text, grips or (f"grip:{text}",), kind=kind)


def segment(*bullets: Bullet) -> TocNode:
    return TocNode("toc:segment:x", TocLevel.SEGMENT, "", AT, AT, bullets=bullets)


def card(*segments: TocNode) -> list[tuple[str, str]]:
    return [(one.kind.value, one.text) for one in session_work.merge_cards(segments)]


def test_a_session_is_named_by_its_first_segment_that_names_work() -> None:
    def name(titles: Sequence[str], *counts: int) -> str:
        return session_work.choose_name(titles, counts or [1] * len(titles))

    assert name([]) == ""
    assert name(["Log in with a passkey (continued)"]) == "Log in with a passkey"
    assert name(["Ran npm test", "Fix the login form"]) == "Fix the login form"
    assert name(["Ran npm test", "Edited a.py"]) == "Ran npm test"
    assert name(["The build is running", "Fix the login form"]) == "Fix the login form"
    assert name(["Continue", "Fix the login form"]) == "Fix the login form"
    assert name(["Is it up?", "Fix the login form"]) == "Fix the login form"
    assert name(["Read the plan", "Fix the login form"]) == "Fix the login form"
    assert name(["The login should be short", "Fix it"]) == "The login should be short"
    # Work with few of the messages counts only if no larger work has a good name.
    several = [
        "Add a changelog",
        "Fix the login form",
        "Fix the login form (continued)",
    ]
    assert name(several, 4, 8, 8) == "Fix the login form"
    assert name(several, 4, 8, 3) == "Add a changelog"
    assert name(["Add a changelog", "Ran npm test"], 2, 20) == "Add a changelog"
    assert name(["Add a changelog", "Is it up?"], 2, 20) == "Add a changelog"
    assert name(["Ran npm test", "Edited a.py"], 2, 20) == "Edited a.py"


def test_the_outcome_is_of_the_last_large_segment() -> None:
    large = [WorkState.DONE, WorkState.DONE]
    assert session_work.find_last_large(large, [20.0, 12.0]) == 1
    assert session_work.find_last_large(large, [20.0, 2.0]) == 0
    answered = [WorkState.DONE, WorkState.ANSWERED]
    assert session_work.find_last_large(answered, [3.0, 9.0]) == 0
    assert session_work.find_last_large([WorkState.ANSWERED], [1.0]) == 0
    assert session_work.find_last_large([], []) == -1


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        ("fix(release): harden the publishing", "Harden the publishing"),
        ("feat!: drop the old format", "Drop the old format"),
        ("Fix the login: it failed", "Fix the login: it failed"),
    ],
)
def test_the_type_of_a_commit_is_no_part_of_an_outcome(subject: str, text: str) -> None:
    assert session_work.strip_commit_type(subject) == text


@pytest.mark.parametrize(
    ("states", "counts"),
    [
        ([], -1),
        (["open"], 0),
        (["open", "done"], 1),
        (["pushed", "answered"], 0),
        (["done", "pushed", "answered", "answered"], 1),
        (["open", "answered"], 1),
        (["done", "failed", "answered"], 1),
        (["pushed", "open"], 1),
    ],
)
def test_the_last_state_counts_but_an_answer_leaves_finished_work_finished(
    states: list[str], counts: int
) -> None:
    assert session_work.find_last_state(states) == counts


def test_a_card_has_the_first_request_and_the_last_outcome_and_tests() -> None:
    merged = card(
        segment(
            bullet(BulletKind.ASKED, "Fix the login"),
            bullet(BulletKind.OUTCOME, "Found the race"),
            bullet(BulletKind.DECISION, "Use a mutex"),
            bullet(BulletKind.COMMIT, "fix: add a mutex"),
            bullet(BulletKind.TESTS, "4 failed"),
            bullet(BulletKind.STATE, "done"),
        ),
        segment(
            bullet(BulletKind.ASKED, "And push it"),
            bullet(BulletKind.OUTCOME, "The mutex serialises refreshes"),
            bullet(BulletKind.DECISION, "Use a mutex"),
            bullet(BulletKind.COMMIT, "test: cover two tabs"),
            bullet(BulletKind.TESTS, "all pass"),
            bullet(BulletKind.STATE, "pushed"),
        ),
    )
    assert merged == [
        ("asked", "Fix the login"),
        ("outcome", "The mutex serialises refreshes"),
        ("decided", "Use a mutex"),
        ("commit", "fix: add a mutex"),
        ("commit", "test: cover two tabs"),
        ("tests", "all pass"),
        ("state", "pushed"),
    ]


def test_what_was_left_open_before_the_work_reached_its_state_is_open_no_more() -> None:
    early = segment(
        bullet(BulletKind.LEFT_OPEN, "Commit it"), bullet(BulletKind.STATE, "open")
    )
    late = segment(
        bullet(BulletKind.LEFT_OPEN, "The mobile client"),
        bullet(BulletKind.STATE, "pushed"),
    )
    answer = segment(bullet(BulletKind.STATE, "answered"))
    assert card(early, late, answer) == [
        ("left open", "The mobile client"),
        ("state", "pushed"),
    ]
    assert card(late, early)[0] == ("left open", "Commit it")


def test_changes_of_a_file_are_added_up_with_the_grips_of_all() -> None:
    first = segment(bullet(BulletKind.FILES, "a.py +3 −1, b.py, 2 more", "g1", "g2"))
    second = segment(bullet(BulletKind.FILES, "b.py +9, a.py −4", "g2", "g3"))
    (merged,) = session_work.merge_cards([first, second])
    assert merged.text == "b.py +9, a.py +3 −5, 2 more"
    assert merged.grip_ids == ("g1", "g2", "g3")
    many = ", ".join(f"f{number}.py +{number}" for number in range(1, 7))
    rest = segment(bullet(BulletKind.FILES, "g1.py +90, g2.py +80"))
    (merged,) = session_work.merge_cards(
        [segment(bullet(BulletKind.FILES, many)), rest]
    )
    assert merged.text == (
        "g1.py +90, g2.py +80, f6.py +6, f5.py +5, f4.py +4, f3.py +3, 2 more"
    )


def test_quotations_fill_a_thin_card_and_the_words_of_a_model_stay() -> None:
    quotes = [bullet(BulletKind.QUOTE, f"Said {number}") for number in range(4)]
    asked = bullet(BulletKind.ASKED, "Why?")
    assert len(card(segment(asked, *quotes), segment(*quotes))) == 5
    notes = [bullet(BulletKind.NOTE, f"Note {number}") for number in range(6)]
    merged = card(segment(asked, *notes), segment(notes[0], *quotes))
    assert [text for kind, text in merged if not kind] == [one.text for one in notes]
    assert not any(kind == "quote" for kind, _ in merged)


def test_a_decision_that_a_later_segment_revokes_is_not_on_the_card() -> None:
    first = bullet(BulletKind.DECISION, "Use SQLite, because it is atomic.")
    later = bullet(BulletKind.DECISION, "Use JSON instead of SQLite, because of vi.")
    merged = card(segment(first), segment(later))
    assert [text for kind, text in merged if kind == "decided"] == [later.text]
    assert len(card(segment(later), segment(first))) == 2
