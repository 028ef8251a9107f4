"""Bullets are anchored at the events that say them."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.model import events
from memtui.model.events import Event, EventType
from memtui.model.nodes import DraftBullet
from memtui.model.work import Line
from memtui.summarize.grounding import anchors
from memtui.summarize.grounding.anchors import Anchor
from memtui.summarize.grounding.passages import Evidence

START = datetime(2024, 1, 15, 9, tzinfo=UTC)
TALK = (
    "The login page shows a blank screen after the redirect.",
    "I looked at the router. The redirect drops the session cookie.",
    "Edit: src/router.py\nupdated",
    "Bash: pytest tests/router\n12 passed in 0.4s",
    "Now the invoices: totals are rounded twice. Round them once, in the ledger.",
    "Edit: src/ledger.py\nupdated",
    "Rounding happens in Ledger.total alone now, and the report agrees.",
)


def conversation(*texts: str) -> list[Event]:
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


def anchor(
    *bullets: str, texts: tuple[str, ...] = TALK, cited: int | None = None
) -> list[Anchor | None]:
    run = conversation(*texts)
    event_ids = () if cited is None else (run[cited].event_id,)
    drafts = [DraftBullet(bullet, event_ids) for bullet in bullets]
    return anchors.nearest_anchors(drafts, Evidence(run))


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
    (anchored,) = anchor(bullet)
    assert anchored is not None
    assert anchored.start <= place <= anchored.end


@pytest.mark.parametrize(
    "bullet",
    ["Kubernetes autoscaling was configured for staging", "", "cookie " + "x y z " * 9],
)
def test_a_bullet_whose_words_are_nowhere_has_no_anchor(bullet: str) -> None:
    assert anchor(bullet, texts=("alpha bravo", "other words")) == [None]


def test_the_range_extends_to_neighbours_that_fit_as_well() -> None:
    texts = ("zero", "rotate the keys nightly", "rotate the keys nightly", "nothing")
    (anchored,) = anchor("keys rotate nightly", texts=texts)
    assert anchored is not None
    assert (anchored.start, anchored.end) == (1, 2)


@pytest.mark.parametrize("place", [0, 4])
def test_cited_events_decide_between_equals(place: int) -> None:
    texts = ("deploy the canary", "one two", "four five", "one two")
    (anchored,) = anchor(
        "deploy the canary", texts=(*texts, "deploy the canary"), cited=place
    )
    assert anchored is not None
    assert anchored.best == place


def test_neighbours_decide_between_equals() -> None:
    far = tuple(f"filler number {place} of many" for place in range(12))
    texts = ("deploy the canary", *far, "rotate keys at noon", "deploy the canary")
    places = anchor("Keys rotate at noon", "The canary was deployed", texts=texts)
    assert places[1] is not None
    assert places[1].best == len(texts) - 1


def test_a_further_line_counts_at_its_event() -> None:
    run = conversation("Bash: ./release.sh", "done")
    lines = [Line("tagged v1.2.0 on branch stable", run[0].event_id)]
    evidence = Evidence(run, lines)
    (anchored,) = anchors.nearest_anchors(
        [DraftBullet("Tagged v1.2.0 on stable")], evidence
    )
    assert anchored is not None
    assert (anchored.best, anchored.coverage) == (0, 1.0)


def test_nothing_has_no_anchors() -> None:
    assert anchors.nearest_anchors([], Evidence(conversation(*TALK))) == []
    assert anchors.nearest_anchors([DraftBullet("x")], Evidence([])) == [None]


@given(st.lists(st.text(max_size=60), min_size=1, max_size=8), st.text())
def test_anchors_are_within_the_events(texts: list[str], bullet: str) -> None:
    run = conversation(*(f"x {text}" for text in texts))
    (anchored,) = anchors.nearest_anchors([DraftBullet(bullet)], Evidence(run))
    if anchored is not None:
        assert 0 <= anchored.start <= anchored.best <= anchored.end < len(run)
        assert 0 <= anchored.coverage <= 1
