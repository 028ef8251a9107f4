"""What sessions left open and later ones finished, and what was decided."""

import json
import re
from dataclasses import replace
from datetime import UTC, timedelta
from pathlib import Path

import pytest

from memtui.model.events import Event, EventRole
from memtui.model.filters import ALL, Scope
from memtui.model.judgements import Ruling
from memtui.model.nodes import BulletKind
from memtui.model.verdicts import Support
from memtui.services import audit, judging, points, report
from memtui.services.sessions import read_card
from memtui.tools import handover
from memtui.tools import points as tool
from memtui.workspace import Workspace
from tests.cli_runner import json_data, run_memtui
from tests.conftest import NOW
from tests.message_factory import AT, make_message, name_session, store_messages
from tests.services.test_report import add_decisions, ran

PROMPT = "Count the quokkas of the island"
HOUR = 3600
S1 = ("claude-code", "s1")


def said(text: str, at: int, session: str, *, by_agent: bool = False) -> Event:
    role = EventRole.ASSISTANT if by_agent else EventRole.USER
    return make_message(text, at, session=session, role=role)


def called(tool: str, given: object, at: int, session: str, output: str = "") -> Event:
    event = make_message(f"{tool}\n{output}", at, role=EventRole.TOOL, session=session)
    metadata = {"tool_name": tool, "tool_input": json.dumps(given)}
    return replace(event, metadata=metadata)


def listed(at: int, session: str, **tasks: str) -> Event:
    items = [{"content": text, "status": state} for text, state in tasks.items()]
    return called("TodoWrite", {"todos": items}, at, session)


def run_of_tests(output: str, at: int, session: str) -> Event:
    return replace(ran("pytest tests", output, at), session_id=session)


def kept(workspace: Workspace, *events: Event, project: str = "zoo") -> None:
    """Store events as those of a project, and summarize them."""
    store_messages(*events)
    for session in {event.session_id for event in events}:
        name_session(session, project=project)
    run_pipeline(workspace)


def run_pipeline(workspace: Workspace) -> None:
    assert workspace.pipeline.run_until_idle(lambda _: None) == []


def left_open(scope: Scope = ALL) -> list[tuple[str, str, str]]:
    """Return what is open: text, session, and the session that finished it."""
    return [
        (row.text, row.node_id[-2:], row.later.session[-2:] if row.later else "")
        for row in points.list_left_open(scope)
    ]


FIRST = [
    said(PROMPT, 0, "s1"),
    said("I start.", 1, "s1", by_agent=True),
    listed(2, "s1", Write="pending", Read="completed", Ship="in_progress"),
    said("Half of it is done.", 3, "s1", by_agent=True),
]


def test_reports_and_packs_leave_out_what_a_later_session_finished(
    workspace: Workspace,
) -> None:
    later = [said("Go on", HOUR, "s2"), listed(HOUR + 1, "s2", Write="completed")]
    kept(workspace, *FIRST, *later, said("Done.", HOUR + 2, "s2", by_agent=True))
    year = f"toc:year:{AT.year}"
    texts = [
        report.make_report(year, UTC),
        handover.make_pack(workspace, ["s1"]).text,
        handover.make_pack(workspace, [year]).text,
        handover.make_pack(workspace, [read_card(*S1).segments[0].node_id]).text,
    ]
    for text in texts:
        assert not re.search(r"\bWrite\b", text)
    assert all("Ship" in text for text in texts[:3])


def test_finished_task_is_struck_off_with_its_session(workspace: Workspace) -> None:
    later = [said("Go on", HOUR, "s2"), listed(HOUR + 1, "s2", Write="completed")]
    kept(workspace, *FIRST, *later, said("Done.", HOUR + 2, "s2", by_agent=True))
    assert left_open() == [("Write", "s1", "s2"), ("Ship", "s1", "")]


@pytest.mark.parametrize("order", [("s1", "s2"), ("s2", "s1")])
def test_order_of_import_does_not_order_the_list(
    workspace: Workspace, order: tuple[str, str]
) -> None:
    for session in order:
        kept(
            workspace,
            said(f"{PROMPT} {session}", 0, session),
            listed(1, session, **{f"Write {session}": "pending"}),
            said(f"Half of {session} is done.", 2, session, by_agent=True),
        )
    assert [session for _, session, _ in left_open()] == ["s1", "s2"]


def test_task_of_an_earlier_part_is_finished_by_its_number(
    workspace: Workspace,
) -> None:
    given = {"subject": "Write"}
    days = 30 * HOUR
    kept(
        workspace,
        *FIRST,
        said("Write it", HOUR, "s2"),
        called("TaskCreate", given, HOUR + 1, "s2", "Task #7 created"),
        said("Later.", HOUR + 2, "s2", by_agent=True),
        said("Now", days, "s2"),
        called("TaskUpdate", {"taskId": "7", "status": "completed"}, days + 1, "s2"),
        said("Written.", days + 2, "s2", by_agent=True),
    )
    assert left_open() == [("Write", "s1", "s2"), ("Ship", "s1", "")]


@pytest.mark.parametrize(
    ("project", "at"), [("park", HOUR), ("zoo", -HOUR)], ids=["other", "earlier"]
)
def test_other_project_or_earlier_session_finishes_nothing(
    workspace: Workspace, project: str, at: int
) -> None:
    kept(workspace, *FIRST)
    kept(workspace, listed(at, "s2", Write="completed"), project=project)
    assert [row for row in left_open() if row[2]] == []


def test_passing_tests_strike_off_failed_ones(workspace: Workspace) -> None:
    kept(
        workspace,
        said(PROMPT, 0, "s1"),
        run_of_tests("= 2 failed, 7 passed in 1s =", 1, "s1"),
        said("Two fail.", 2, "s1", by_agent=True),
        said("Fix the tests", HOUR, "s2"),
        run_of_tests("= 9 passed in 1s =", HOUR + 1, "s2"),
        said("Fixed.", HOUR + 2, "s2", by_agent=True),
    )
    assert left_open() == [("Tests: 7 passed, 2 failed (pytest tests)", "s1", "s2")]


def test_repeated_prompt_is_listed_once_until_it_is_answered(
    workspace: Workspace,
) -> None:
    kept(workspace, said(PROMPT, 0, "s1"), said(PROMPT, HOUR, "s2"))
    text = f"Not answered: {PROMPT}"
    assert left_open() == [(text, "s2", "")]
    kept(
        workspace,
        said(PROMPT, 2 * HOUR, "s3"),
        said("There are nine.", 2 * HOUR + 1, "s3", by_agent=True),
    )
    assert left_open() == [(text, "s2", "s3")]


def test_session_that_goes_on_has_left_nothing_open(workspace: Workspace) -> None:
    recent = (workspace.now() - timedelta(minutes=1) - AT).total_seconds()
    kept(workspace, make_message(PROMPT, recent))
    assert left_open() == []


def test_done_and_dismissed_lines_are_gone_everywhere_until_undone(
    workspace: Workspace,
) -> None:
    second = [replace_session(event) for event in FIRST]
    kept(workspace, *FIRST, *second)
    write, ship = points.list_left_open()
    assert [row.node_id[-2:] for row in write.earlier] == ["s1"]
    for row, ruling in ((write, Ruling.DONE), (ship, Ruling.REJECTED)):
        for claim in map(audit.find_claim, (row, *row.earlier)):
            judging.judge(claim.page, claim.bullet, ruling, NOW)
    # At once, and after the pipeline has decided on their sessions again.
    assert left_open() == []
    run_pipeline(workspace)
    assert left_open() == []
    for session in ("s1", "s2"):
        kinds = [bullet.kind for bullet in read_card("claude-code", session).bullets]
        assert BulletKind.LEFT_OPEN not in kinds
    for row in (write, *write.earlier):
        judgement = audit.find_claim(row).bullet.judgement
        assert judgement is not None
        judging.undo(judgement, NOW)
    run_pipeline(workspace)
    assert left_open() == [("Write", "s2", "")]


def replace_session(event: Event) -> Event:
    """Return a copy of an event in another session, an hour later."""
    made = make_message(event.text, HOUR, role=event.role, session="s2")
    at = event.timestamp + timedelta(hours=1)
    return replace(
        made, event_type=event.event_type, metadata=event.metadata, timestamp=at
    )


def test_scope_narrows_the_list(workspace: Workspace) -> None:
    kept(workspace, said(PROMPT, 0, "s1"))
    assert len(left_open(Scope(project="zoo"))) == 1
    assert left_open(Scope(project="park")) == left_open(Scope("codex")) == []


def test_decisions_are_those_of_shown_versions(full_workspace: Workspace) -> None:
    def texts(scope: Scope = ALL) -> list[str]:
        return [row.words or row.text for row in points.list_decisions(scope)]

    assert texts() == []
    add_decisions(
        dict.fromkeys(("Orders are in Postgres.", "No cache"), Support.SUPPORTED)
    )
    rows = points.list_decisions()
    assert {row.text for row in rows} == {"Orders are in Postgres.", "No cache"}
    assert all(row.session_name and row.project for row in rows)
    assert texts(Scope(project="nobody")) == []
    by_text = {row.text: audit.find_claim(row) for row in rows}
    cache, orders = by_text["No cache"], by_text["Orders are in Postgres."]
    judging.judge(cache.page, cache.bullet, Ruling.REJECTED, NOW)
    judging.judge(
        orders.page, orders.bullet, Ruling.CORRECTED, NOW, words="Orders are in MySQL."
    )
    assert texts() == ["Orders are in MySQL."]


def test_commands_and_tool_list_points(workspace: Workspace, tmp_path: Path) -> None:
    later = said("Written.", HOUR + 2, "s2", by_agent=True)
    kept(workspace, *FIRST, listed(HOUR, "s2", Write="completed"), later)
    *_, note = tool.list_points(workspace, offset=99).notes
    assert note == "The offset is past the end: there are 1 lines."
    reply = tool.list_points(workspace, limit=1)
    (item,) = reply.items
    assert (item["text"], item["session_name"]) == ("Ship", PROMPT)
    assert reply.notes == ["Later sessions finished 1 more."]
    workspace.stop()
    home = tmp_path / "home"
    assert f"Ship | {PROMPT} · zoo" in run_memtui(home, "open").stdout
    data = json_data(run_memtui(home, "open", "--project", "zoo", "--json").stdout)
    assert (data["total"], data["points"][0]["id"]) == (1, item["id"])
    empty = run_memtui(home, "decisions").stdout
    assert "No decisions are stored" in empty
    assert (
        "Nothing is stored for the project"
        in run_memtui(home, "open", "--project", "x").stdout
    )
