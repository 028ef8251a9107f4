"""The demo's three months, as they are written to disk."""

import json
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from memtui import demo
from memtui.demo import model
from memtui.model import events
from memtui.model.verdicts import Support
from memtui.services import browse, points, versions
from memtui.workspace import Workspace

ZONE = ZoneInfo("Europe/Lisbon")
TODAY = date(2026, 11, 20)
FIELDS = {
    "session_id",
    "timestamp",
    "event_type",
    "text",
    "agent",
    "project",
    "key",
    "metadata",
}


def written(folder: Path, today: date = TODAY) -> list[list[dict[str, Any]]]:
    """The records of every session, by file."""
    paths = demo.write(folder, today=today, zone=ZONE)
    return [
        [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for path in paths
    ]


def at(record: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(record["timestamp"])


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> list[list[dict[str, Any]]]:
    return written(tmp_path_factory.mktemp("demo"))


def test_every_record_keeps_the_rules_of_an_event(
    sessions: list[list[dict[str, Any]]],
) -> None:
    ids = set()
    total = 0
    for records in sessions:
        for record in records:
            assert set(record) == FIELDS
            made = events.make(
                agent=record["agent"],
                session_id=record["session_id"],
                timestamp=at(record),
                event_type=events.EventType(record["event_type"]),
                text=record["text"],
                source_key=record["key"],
                metadata=record["metadata"],
            )
            assert made.text == record["text"]
            assert all(isinstance(value, str) for value in record["metadata"].values())
            ids.add(made.event_id)
            total += 1
    assert len(ids) == total


def test_it_is_three_months_of_three_projects_with_two_agents(
    sessions: list[list[dict[str, Any]]],
) -> None:
    span = at(sessions[-1][-1]) - at(sessions[0][0])
    assert timedelta(weeks=12) <= span <= timedelta(weeks=14)
    assert 55 <= len(sessions) <= 70
    assert 900 <= sum(map(len, sessions)) <= 1300
    projects = Counter(records[0]["project"] for records in sessions)
    assert len(projects) == 3
    assert min(projects.values()) >= 12
    agents = Counter(records[0]["agent"] for records in sessions)
    assert set(agents) == {"claude-code", "codex"}
    assert agents["claude-code"] > agents["codex"] >= 5


def test_a_session_is_one_conversation(sessions: list[list[dict[str, Any]]]) -> None:
    names = set()
    for records in sessions:
        same = {(r["session_id"], r["agent"], r["project"]) for r in records}
        assert len(same) == 1
        names |= same
        assert [r["key"] for r in records] == sorted({r["key"] for r in records})
        assert 8 <= len(records) <= 30
        assert all(at(a) < at(b) for a, b in pairwise(records))
    assert len(names) == len(sessions)


def test_sessions_of_a_day_do_not_overlap(
    sessions: list[list[dict[str, Any]]],
) -> None:
    for earlier, later in pairwise(sessions):
        assert at(earlier[-1]) < at(later[0]), later[0]["timestamp"]


def test_tools_name_their_call_and_some_fail(
    sessions: list[list[dict[str, Any]]],
) -> None:
    results = [
        r
        for records in sessions
        for r in records
        if r["metadata"].keys() >= {"tool_name"}
    ]
    for record in results:
        assert record["event_type"] == "tool_result"
        (argument,) = json.loads(record["metadata"]["tool_input"]).values()
        call = f"{record['metadata']['tool_name']}: {argument}"
        assert record["text"].splitlines()[0] == call
    failed = [r for r in results if r["metadata"].get("call_end") == "failed"]
    assert 0.03 < len(failed) / len(results) < 0.4


def test_nothing_is_said_twice(sessions: list[list[dict[str, Any]]]) -> None:
    said = Counter(
        record["text"]
        for records in sessions
        for record in records
        if record["event_type"] in {"user_message", "assistant_message"}
    )
    assert [text for text, times in said.items() if times > 1] == []


@pytest.mark.parametrize("days", range(7))
def test_it_ends_yesterday_and_rests_at_weekends(days: int, tmp_path: Path) -> None:
    today = TODAY + timedelta(days=days)
    sessions = written(tmp_path, today)
    dates = [at(records[0]).date() for records in sessions]
    assert at(sessions[-1][-1]).date() == today - timedelta(days=1)
    earlier = [day for day in dates if day != dates[-1]]
    assert all(day.weekday() < 5 for day in earlier)
    assert max(b - a for a, b in pairwise(dates)) >= timedelta(days=8)
    midnight = datetime.combine(today, datetime.min.time(), ZONE)
    assert all(at(r) < midnight for records in sessions for r in records)


def test_the_same_day_gives_the_same_files(tmp_path: Path) -> None:
    first = demo.write(tmp_path / "a", today=TODAY, zone=ZONE)
    again = demo.write(tmp_path / "b", today=TODAY, zone=ZONE)
    assert [p.name for p in first] == [p.name for p in again]
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in again]


def test_another_day_shows_other_sessions(tmp_path: Path) -> None:
    first = written(tmp_path / "a")
    later = written(tmp_path / "b", TODAY + timedelta(days=1))
    assert {r[0]["session_id"] for r in first}.isdisjoint(
        r[0]["session_id"] for r in later
    )


def test_it_can_be_written_in_a_zone_without_summer(tmp_path: Path) -> None:
    paths = demo.write(tmp_path, today=TODAY, zone=UTC)
    assert all("+00:00" in path.read_text("utf-8") for path in paths)


def test_a_script_is_read_as_its_notation_says() -> None:
    (script,) = demo.read(
        "a comment\n"
        "=== day 3 09:05 larder codex\n"
        "you: look at this\n"
        "\n"
        "and that\n"
        "shell failed: cat x\n"
        "| no such file\n"
        "|\n"
        "|   indented\n"
        "agent: done: all of it\n"
    )
    assert (script.workday, script.project, script.agent) == (3, "larder", "codex")
    assert [(t.who, t.text, t.response, t.is_error) for t in script.turns] == [
        ("you", "look at this\n\nand that", [], False),
        ("shell", "cat x", ["no such file", "", "  indented"], True),
        ("agent", "done: all of it", [], False),
    ]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("{day}", "2026-01-03"),
        ("from {day-3} on", "from 2025-12-31 on"),
        ("{month} {month-1} {month-13}", "2026-01 2025-12 2024-12"),
        ("31.02.{year}", "31.02.2026"),
        ("/orders/{id} {day+1}", "/orders/{id} {day+1}"),
    ],
)
def test_dates_are_relative_to_the_session(written: str, read: str) -> None:
    assert demo.dated(written, date(2026, 1, 3)) == read


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("=== day one\n", 1),
        ("=== day 1 09:00 a b\n| bar\n", 2),
        ("=== day 1 09:00 a b\nyou: x\n| bar\n", 3),
        ("=== day 1 09:00 a b\nyou: x\n=== day\n", 3),
        ("=== day 1 09:00 a b\nBash: x\nloose\n", 3),
    ],
)
def test_a_slip_in_a_script_is_named(text: str, line: int) -> None:
    with pytest.raises(ValueError, match=f"line {line} is not in the notation"):
        demo.read(text)


def test_some_lines_are_those_of_a_model_and_not_all_are_true(
    workspace: Workspace,
) -> None:
    demo.fill(workspace)
    (pushes,) = workspace.search.find(model.PUSHES, limit=1).hits
    node = browse.get_node(pushes.opens)
    assert node is not None and node.is_by_model
    judged = [bullet for bullet in (*node.bullets, *node.withheld) if bullet.is_checked]
    assert {bullet.support for bullet in judged} == {*Support}
    assert [bullet.is_withheld for bullet in judged].count(True) == 1
    history = versions.get_history(pushes.opens)
    assert history is not None and len(history.versions) == 3
    (checkout,) = workspace.search.find(model.CHECKOUT, limit=1).hits
    history = versions.get_history(checkout.opens)
    assert history is not None
    rejected, extract = history.versions
    assert rejected.rejection and history.displayed == extract


def test_few_sessions_leave_something_open_and_some_have_decisions(
    workspace: Workspace,
) -> None:
    demo.fill(workspace)
    kinds = [row.text.partition(":")[0] for row in points.list_left_open()]
    task = "Write to the nine customers who live outside the area"
    assert kinds == ["Not answered", task, "Tests"]
    assert len(points.list_decisions()) == 2
