"""Days and longer periods by a model, beside the pieces of work of the extract."""

import json
from collections.abc import Sequence

import pytest

from memtui.model.calendar import TocLevel
from memtui.model.nodes import (
    HEADLINE_CHARS,
    BulletKind,
    DraftBullet,
    GenerationStats,
    Summary,
    TocNode,
)
from memtui.summarize import acceptance, rollup
from memtui.summarize.acceptance import GroundedSummary
from memtui.summarize.ollama import prompts, replies
from tests.summarize.test_rollup import bullet, node, segment

STATS = GenerationStats("qwen3:4b")
DAY = (
    segment(0, "Round invoices once", "Ledger.total rounds each invoice once."),
    segment(1, "Read gzip timetables", "Ferry timetables load from gzip files."),
    segment(2, "Sort search results", "Results are sorted by the date of sale."),
)
DAYS = (
    node(
        TocLevel.DAY,
        0,
        "Round invoices once",
        bullet(BulletKind.WORK, "Round invoices once (done)", "a", "shop", 20),
        bullet(BulletKind.WORK, "Read gzip timetables (open)", "b", "shop", 10),
    ),
)
ROUNDED = "Round invoices once: Ledger.total rounds each invoice."
SOURCE = "Ferry timetables load from gzip files."


def fill(
    level: TocLevel, children: Sequence[TocNode], title: str, *lines: str
) -> GroundedSummary:
    """Ground a model's list and add what it lacks, as the pipeline does."""
    bullets = tuple(DraftBullet(one, (0,)) for one in lines)
    drafted = Summary(title, bullets, generation=STATS)
    extract = rollup.summarize_children(level, children)
    found = acceptance.ground_parent(drafted, children, lambda _: ())
    return found.with_extract(acceptance.ground_parent(extract, children, lambda _: ()))


def test_a_line_that_repeats_a_piece_of_work_is_withheld() -> None:
    found = fill(TocLevel.DAY, DAY, "Invoices and timetables", ROUNDED)
    assert [one.text for one in found.withheld] == [ROUNDED]
    assert [one.verdict.objection for one in found.withheld] == ["repetition"]
    assert {one.kind for one in found.bullets} == {BulletKind.WORK}
    assert len(found.bullets) == len(DAY)


def test_a_line_that_repeats_an_outcome_is_withheld_whatever_the_work_is_called() -> (
    None
):
    outcome = "Removed the ferry plugin by deleting its folder."
    day = (segment(0, "Remove the plugin, it is not needed", outcome),)
    found = fill(TocLevel.DAY, day, "Remove the plugin", outcome)
    assert [one.verdict.objection for one in found.withheld] == ["repetition"]


def test_a_list_that_says_no_more_than_the_extract_is_rejected() -> None:
    own = rollup.summarize_children(TocLevel.DAY, DAY).title
    assert "no more" in fill(TocLevel.DAY, DAY, own, ROUNDED).rejection
    assert fill(TocLevel.DAY, DAY, "Invoices and timetables", ROUNDED).rejection == ""


def test_a_headline_may_be_longer_than_a_title() -> None:
    log = prompts.children_log(TocLevel.WEEK, DAYS)
    title = "Round invoices once; read gzip timetables of all harbours; sort results"
    title += " by date of sale"
    said = {"bullets": [{"refs": [1], "text": ROUNDED}], "title": title}
    assert replies.parse_reply(json.dumps(said), log).summary.title == title
    title_schema = prompts.reply_schema(log)["properties"]["title"]
    assert title_schema["maxLength"] == HEADLINE_CHARS


def test_a_weak_line_is_withheld_where_the_work_is_listed() -> None:
    mixed = "Ferry timetables load from gzip files of 37 harbours."
    found = fill(TocLevel.DAY, DAY, "Gzip timetables", mixed)
    assert [one.verdict.objection for one in found.withheld] == ["weak"]
    assert "weak" in found.rejection


@pytest.mark.parametrize(
    "title",
    [
        "Round invoices once; read gzip timetables",
        "Round invoices once and read gzip timetables",
        "Round invoices once, read gzip timetables and sort search results",
    ],
)
def test_each_piece_of_work_in_a_headline_is_checked_by_itself(title: str) -> None:
    assert fill(TocLevel.DAY, DAY, title, SOURCE).title == title


def test_a_headline_with_work_of_no_child_is_rejected() -> None:
    title = "Round invoices once; repair the lighthouse"
    found = fill(TocLevel.DAY, DAY, title, SOURCE)
    assert "lighthouse" not in found.title
    assert found.title == rollup.summarize_children(TocLevel.DAY, DAY).title


def test_a_headline_names_the_projects_that_the_extract_names() -> None:
    own = "shop: Round invoices once; Read gzip timetables"
    assert fill(TocLevel.WEEK, DAYS, "Round invoices once", SOURCE).title == own
    named = "Shop: read gzip timetables; round invoices once"
    assert fill(TocLevel.WEEK, DAYS, named, SOURCE).title == named


def test_the_model_reads_the_project_of_each_piece_of_work() -> None:
    log = prompts.children_log(TocLevel.WEEK, DAYS)
    assert [turn.text for turn in log.turns] == [
        "shop: Round invoices once (done)",
        "shop: Read gzip timetables (open)",
    ]


def test_a_line_that_begins_with_a_project_belongs_to_it() -> None:
    line = "shop: Ferry timetables load from gzip files."
    days = (*DAYS, node(TocLevel.DAY, 24, "Gzip", bullet(BulletKind.NOTE, SOURCE)))
    found = fill(TocLevel.WEEK, days, "Gzip timetables", line)
    assert [
        (one.text, one.project) for one in found.bullets if one.kind is BulletKind.NOTE
    ] == [(line, "shop")]


def test_the_headline_of_a_long_period_names_the_work_of_all_its_parts() -> None:
    line = (DraftBullet(SOURCE, (0,)),)
    parts = [Summary("Round invoices", line), Summary("Sort search results", line)]
    assert replies.join_parts(parts, 5).title == "Round invoices; Sort search results"
    long = [Summary(f"{name} " * 12, line) for name in ("Invoices", "Timetables")]
    assert len(replies.join_parts(long, 5).title) <= HEADLINE_CHARS


def test_the_title_of_a_card_in_parts_is_that_of_the_first() -> None:
    card = (DraftBullet(SOURCE, (0,), BulletKind.OUTCOME),)
    parts = [Summary("Round invoices", card), Summary("Sort search results", card)]
    assert replies.join_parts(parts, 5).title == "Round invoices"
