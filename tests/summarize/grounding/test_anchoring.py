"""Bullets are anchored at the events that say them."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.model import events
from memtui.model.citations import Grip
from memtui.model.events import Event, EventType
from memtui.model.nodes import DraftBullet
from memtui.summarize.grounding import anchoring
from memtui.summarize.grounding.anchoring import NeighbourIndex
from memtui.text.prose import EXCERPT_CHARS

START = datetime(2024, 1, 15, 9, tzinfo=UTC)
TALK = [
    "The login page shows a blank screen after the redirect.",
    "I looked at the router. The redirect drops the session cookie.",
    "Edit: src/router.py\nupdated",
    "Bash: pytest tests/router\n12 passed in 0.4s",
    "Now the invoices: totals are rounded twice. Round them once, in the ledger.",
    "Edit: src/ledger.py\nupdated",
    "Rounding happens in Ledger.total alone now, and the report agrees.",
]


def conversation(texts: list[str]) -> list[Event]:
    return [
        events.make(
            agent="claude-code",
            session_id="s1",
            timestamp=START + timedelta(minutes=at),
            event_type=EventType.USER_MESSAGE,
            text=text,
            source_key=str(at),
        )
        for at, text in enumerate(texts)
    ]


def anchored(*bullets: str, texts: list[str] = TALK) -> list[tuple[Grip, ...]]:
    return anchoring.create_grips(
        [DraftBullet(bullet) for bullet in bullets],
        conversation(texts),
        "toc:segment:2024-01-15:x",
    )


@pytest.mark.parametrize(
    ("bullet", "place"),
    [
        ("The redirect lost the session cookie", 1),
        ("Invoice totals were being rounded two times", 4),
        ("Ledger.total is the only place that rounds", 6),
        ("All 12 router tests pass", 3),
    ],
)
def test_a_bullet_is_anchored_where_it_was_said(bullet: str, place: int) -> None:
    (grip,) = anchored(bullet)[0]
    assert grip.event_id_start == conversation(TALK)[place].event_id


def test_an_invented_bullet_gets_no_grip() -> None:
    assert anchored("Kubernetes autoscaling was configured for staging") == [()]


def test_coverage_below_the_limit_gives_no_grip() -> None:
    texts = ["alpha bravo charlie", "unrelated words here", "more filler text"]
    unknown = "zulu yankee xray whiskey victor uniform tango sierra romeo quebec"
    assert anchored(f"alpha {unknown}", texts=texts) == [()]
    assert anchored("alpha bravo charlie zulu", texts=texts) != [()]


def test_the_excerpt_is_the_sentence_that_says_it() -> None:
    (grip,) = anchored("The redirect drops the cookie of the session")[0]
    assert grip.excerpt == "The redirect drops the session cookie."


def test_a_long_sentence_is_cut_at_a_word() -> None:
    long = "prefix " * 60 + "the needle is here " + "suffix " * 60
    (grip,) = anchored("the needle here", texts=[long, "other things entirely"])[0]
    assert "needle" in grip.excerpt
    assert len(grip.excerpt) <= EXCERPT_CHARS
    assert set(grip.excerpt.split()) <= set(long.split())


def test_markup_around_a_sentence_is_left_out_of_the_excerpt() -> None:
    (grip,) = anchored("fixed cookie", texts=["## Result\n- **Fixed the cookie**"])[0]
    assert grip.excerpt == "Fixed the cookie"


def test_the_range_extends_to_neighbours_that_fit_as_well() -> None:
    texts = ["zero", "rotate the keys nightly", "rotate the keys nightly", "nothing"]
    (grip,) = anchored("keys rotate nightly", texts=texts)[0]
    run = conversation(texts)
    assert (grip.event_id_start, grip.event_id_end) == (
        run[1].event_id,
        run[2].event_id,
    )


def test_a_composed_bullet_gets_a_grip_for_each_part() -> None:
    found = anchored("Edited router.py, ledger.py; ran pytest tests/router")[0]
    run = conversation(TALK)
    assert {grip.event_id_start for grip in found} == {
        run[at].event_id for at in (2, 3, 5)
    }
    assert len({grip.grip_id for grip in found}) == 3


def test_a_bullet_of_many_parts_keeps_the_most_important_grips() -> None:
    files = [f"notes{place}.py" for place in range(6)]
    shown = [f"Edit: {file}\nupdated" for file in files]
    rare = "Bash: zeppelin hangar mooring\ndone"
    bullet = f"Edited {', '.join(files)}; ran zeppelin hangar mooring"
    found = anchored(bullet, texts=[*shown, rare])[0]
    run = conversation([*shown, rare])
    starts = [grip.event_id_start for grip in found]
    assert len(starts) == anchoring.MAX_ANCHORS
    assert run[6].event_id in starts
    assert starts == sorted(starts)


def test_refs_decide_between_equals() -> None:
    texts = [
        "deploy the canary",
        "one two three",
        "four five six",
        "one two three",
        "deploy the canary",
    ]
    run = conversation(texts)
    for place in (0, 4):
        (found,) = anchoring.create_grips(
            [DraftBullet("deploy the canary", (place,))], run, "n"
        )
        assert found[0].event_id_start == run[place].event_id


def test_grip_ids_contain_the_time_and_are_stable() -> None:
    first, again = anchored("The redirect lost the session cookie") * 2
    assert first == again
    at_ms = conversation(TALK)[1].timestamp_ms
    assert first[0].grip_id.startswith(f"grip:{at_ms}:")


def test_no_claims_or_no_events_give_no_grips() -> None:
    assert anchored() == []
    assert anchoring.create_grips([DraftBullet("x")], [], "n") == [()]


@given(st.lists(st.text(min_size=1, max_size=300), max_size=6), st.randoms())
def test_an_excerpt_is_always_verbatim(texts: list[str], chance: random.Random) -> None:
    run = []
    for text in texts:
        try:
            run += conversation([text])
        except events.EventRefused:
            continue
    claims = [DraftBullet(event.text[: chance.randint(1, 80)]) for event in run]
    claims += [DraftBullet(""), DraftBullet("; , ;")]
    found = anchoring.create_grips(claims, run, "n")
    assert len(found) == len(claims)
    for grip in (grip for bullet in found for grip in bullet):
        assert any(grip.excerpt in event.text for event in run)
        assert 0 < len(grip.excerpt) <= EXCERPT_CHARS
    assert found == anchoring.create_grips(claims, run, "n")


def test_an_action_line_is_anchored_at_its_calls() -> None:
    texts = [
        "We decided on Postgres. Write the migration for the orders table.",
        "Write: migrations/0007_orders.sql\nFile created successfully",
        'Bash: make migrate\nERROR: relation "customers" does not exist',
        "The migration fails; 0007_orders.sql needs 0006_customers first.",
        "Bash: make migrate\nApplied 0006_customers, 0007_orders",
    ]
    (found,) = anchored("Wrote 0007_orders.sql; ran make migrate", texts=texts)
    quoted = [grip.excerpt for grip in found]
    assert any("0007_orders.sql" in excerpt for excerpt in quoted)
    assert any("make migrate" in excerpt for excerpt in quoted)


FILLER = ["so we went on", "nothing of note", "and on it went", "well then"] * 3
LONG_TALK = [
    "The parser loses the last comma.",
    "We changed the approach.",
    *FILLER,
    "The lexer is slow on long strings: it copies each one.",
    "We changed the approach there.",
    "Buffers are shared now.",
]
EARLY, LATE = 1, len(LONG_TALK) - 2


def best_places(*bullets: str, texts: list[str] = LONG_TALK) -> list[int | None]:
    found = anchoring.nearest_anchors(
        [DraftBullet(bullet) for bullet in bullets], NeighbourIndex(texts)
    )
    return [place.best if place else None for place in found]


@pytest.mark.parametrize(
    ("beside", "place"),
    [("The parser lost a comma", EARLY), ("Sharing buffers", LATE)],
)
def test_between_two_places_the_one_near_the_adjacent_bullet_wins(
    beside: str, place: int
) -> None:
    assert best_places(beside, "The approach was changed")[1] == place


def test_neighbours_do_not_move_a_bullet_from_where_its_words_are() -> None:
    assert best_places("Sharing buffers", "The last comma is lost by the parser") == [
        len(LONG_TALK) - 1,
        0,
    ]


def test_a_cited_event_is_preferred_if_it_fits_about_as_well() -> None:
    fits = NeighbourIndex(LONG_TALK)
    for cited, place in ((LATE, LATE), (EARLY, EARLY), (0, EARLY)):
        (found,) = anchoring.nearest_anchors(
            [DraftBullet("We changed the approach", (cited,))], fits
        )
        assert found is not None
        assert found.best == place


def test_a_bullet_without_common_words_has_no_anchor() -> None:
    assert best_places("Kubernetes", "") == [None, None]


def test_an_anchor_has_the_coverage_of_its_bullet() -> None:
    whole, half, little = anchoring.nearest_anchors(
        [
            DraftBullet("buffers shared"),
            DraftBullet("buffers zeppelin"),
            DraftBullet("buffers a b c d e"),
        ],
        NeighbourIndex(LONG_TALK),
    )
    assert whole is not None
    assert half is not None
    assert little is not None
    assert whole.coverage == 1.0
    assert little.coverage < half.coverage < 0.55


@pytest.mark.parametrize(
    ("away", "place"),
    [(anchoring.NEIGHBOUR_EVENTS, 30), (anchoring.NEIGHBOUR_EVENTS + 1, 0)],
)
def test_adjacent_bullets_count_within_a_distance(away: int, place: int) -> None:
    texts = [f"filler{at}" for at in range(31)]
    texts[0] = texts[30] = "the approach was changed"
    texts[30 - away] = "buffers are shared"
    found = best_places("Changed the approach", "Shared buffers", texts=texts)
    assert found == [place, 30 - away]
