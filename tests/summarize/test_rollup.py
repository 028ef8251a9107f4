"""Headlines over several projects, and bullets that are clear without context."""

from datetime import UTC, datetime, timedelta

import pytest

from memtui.model.nodes import BULLET_COUNTS, Bullet, NodeCounts, TocLevel, TocNode
from memtui.model.verdicts import SUPPORTED
from memtui.summarize import rollup
from memtui.text import titles

START = datetime(2024, 1, 15, 9, tzinfo=UTC)


def node(
    at: int, headline: str, *said: str, projects: tuple[str, ...] = (), size: int = 10
) -> TocNode:
    return TocNode(
        node_id=f"toc:segment:2024-01-15:{at}",
        level=TocLevel.SEGMENT,
        title=headline,
        start_time=START + timedelta(hours=at),
        end_time=START + timedelta(hours=at, minutes=30),
        bullets=tuple(Bullet(text, (f"grip:{at}:x",), SUPPORTED) for text in said),
        headline=headline,
        projects=projects,
        counts=NodeCounts(segments=1, events=size),
    )


def headline(level: TocLevel, *children: TocNode) -> str:
    return rollup.make_headline(level, children)


def test_a_headline_of_several_projects_names_them() -> None:
    assert (
        headline(
            TocLevel.DAY,
            node(0, "Round invoices once", projects=("shop",)),
            node(1, "Read gzip files", projects=("tide",)),
        )
        == "shop: Round invoices once; tide: Read gzip files"
    )


def test_a_headline_of_one_project_does_not_repeat_its_name() -> None:
    found = headline(
        TocLevel.DAY,
        node(0, "Round invoices once", projects=("shop",)),
        node(1, "Rotate session cookies", projects=("shop",)),
    )
    assert found == "Round invoices once; Rotate session cookies"


def test_the_parent_parses_projects_from_headlines() -> None:
    both = ("shop", "tide")
    found = headline(
        TocLevel.WEEK,
        node(
            0,
            "shop: Round invoices once; tide: Read gzip files",
            projects=("shop", "tide"),
        ),
        node(1, "Rotate session cookies", projects=("shop",)),
    )
    assert found.count("shop: ") == found.count("tide: ") == 1
    assert set(both) <= {part.partition(": ")[0] for part in found.split("; ")}


@pytest.mark.parametrize(
    "poor",
    ["Did the rerun finish? totals?", "This should be hidden now", "Check the tests"],
)
def test_a_poor_headline_is_not_rolled_up(poor: str) -> None:
    found = headline(
        TocLevel.YEAR,
        node(0, "Predict storm surges from wind"),
        node(1, poor),
        node(2, "Cap the page size of the listing"),
        node(3, "Import the harbour archive"),
    )
    assert poor not in found


def test_a_years_headline_combines_several_months() -> None:
    months = ["Predict storm surges", "Import the archive", "Rotate session cookies"]
    found = headline(TocLevel.YEAR, *(node(at, one) for at, one in enumerate(months)))
    assert found == "; ".join(months)


def test_a_headline_is_limited_and_deterministic() -> None:
    children = [
        node(at, f"Rewrite the {name} exporter with every option there ever was")
        for at, name in enumerate(["ledger", "router", "mailer", "queue", "search"])
    ]
    found = headline(TocLevel.MONTH, *children)
    assert 0 < len(found) <= rollup.HEADLINE_CHARS
    assert found == headline(TocLevel.MONTH, *children)


def test_bullets_that_need_context_are_not_rolled_up() -> None:
    lasting = [
        "The invoice total is now rounded once, in Ledger.total.",
        "Session cookies lacked SameSite, so logins failed on Safari.",
        "The harbour import skips stations without two neighbours.",
        "A BufWriter of 64 kB prints templates four times as fast.",
        "The nightly stock sync was replaced by supplier pushes.",
        "Tide peaks are fitted by a parabola over five readings.",
    ]
    passing = [
        "This removes the second copy.",
        "All tests pass.",
        "Should I go on with the rest?",
        "The changelog has been updated.",
        "Either of the two, as you like.",
    ]
    children = [
        node(at, one.partition(" ")[2][:30], one, passing[at % len(passing)])
        for at, one in enumerate(lasting)
    ]
    found = [
        claim.text
        for claim in rollup.summarize_children(TocLevel.YEAR, children).bullets
    ]
    assert len(found) == BULLET_COUNTS[TocLevel.YEAR][1]
    assert not set(found) & set(passing)


def test_a_node_without_informative_headlines_uses_its_best_bullet() -> None:
    children = [node(0, "Ok", "The queue drains before each deploy of the harbour.")]
    found = rollup.summarize_children(TocLevel.DAY, children).title
    assert found == titles.tidy_title(children[0].bullets[0].text)
