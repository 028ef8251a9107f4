"""The screen of skipped input: showing, retrying and dismissing entries."""

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from memtui.errors import MemtuiError
from memtui.model.events import to_ms
from memtui.pipeline.progress import PipelineProgress
from memtui.store import database, sources
from memtui.tui.app import MemtuiApp
from memtui.tui.messages import ProgressReported
from memtui.tui.screens.contents import ContentsScreen
from memtui.tui.screens.quarantine import (
    DismissScreen,
    QuarantineList,
    QuarantineScreen,
)
from memtui.tui.widgets.panes import PaneTitle
from memtui.tui.widgets.status_line import RETRIES_ITSELF, StatusLine
from memtui.workspace import Workspace
from tests.pilots import AppOf, Compare, Settle, notices, steps
from tests.screens import help_text

AT = datetime(2024, 2, 29, 10, tzinfo=UTC)
KEY = "sk-ant-api03-" + "a1B2c3D4e5" * 9 + "AA"
FILE = "/home/ada/.claude/projects/-home-ada-shop/4f2a6c1e-session.jsonl"

LEFT = {
    "1709.1.0a1a.codex.Stop.json": (0, b'{"session_id": "4f2a", "last_assistant_me'),
    "1709.2.0a1b.json": (
        60,
        {
            "session_id": "4f2a",
            "hook_event_name": "Novelty",
            "transcript_path": "/home/ada/.gemini/tmp/chats/session.json",
            "prompt": f"Use {KEY} for [bold]now[/], \x1b[31mred\x07 and list[int]",
        },
    ),
    "1709.3.0a1c.json": (
        120,
        {
            "session_id": "4f2a",
            "hook_event_name": "UserPromptSubmit",
            "prompt": "The lighthouse must be counted.\n" * 40,
            "timestamp": "2999-01-01T00:00:00Z",
        },
    ),
    "1709.4.0a1d.json": (180, b""),
}


def leave(workspace: Workspace, name: str, said: object, *, at_s: float = 0) -> None:
    """Have a hook leave a file, and have it taken or refused."""
    file = workspace.paths.spool / "new" / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(said if isinstance(said, bytes) else json.dumps(said).encode())
    at_s += AT.timestamp()
    os.utime(file, (at_s, at_s))


@pytest.fixture
def refusing(full_workspace: Workspace) -> Workspace:
    """The full workspace, with skipped hook files and a skipped transcript."""
    for name, (later_s, said) in LEFT.items():
        leave(full_workspace, name, said, at_s=later_s)
    assert full_workspace.pipeline.run_until_idle(lambda _: None) == []
    with database.transaction():
        counts = [
            sources.ProblemCount("not valid JSON", sources.ProblemKind.DAMAGED, 57, 12)
        ]
        sources.add_problems(FILE, counts, to_ms(AT) + 500_000)
    return full_workspace


@pytest.fixture
def refused(refusing: Workspace, app_of: AppOf) -> MemtuiApp:
    return app_of(refusing)


def entries(app: MemtuiApp) -> QuarantineList:
    return app.screen.query_one(QuarantineList)


def names(app: MemtuiApp) -> list[str]:
    return [*entries(app).items]


def said(app: MemtuiApp) -> str:
    return str(app.screen.query_one("#details", Static).visual)


async def opened(pilot: Pilot[str | MemtuiError], settle: Settle) -> None:
    await settle(pilot)
    await pilot.press("Q")
    await settle(pilot)


async def until(
    pilot: Pilot[str | MemtuiError], settle: Settle, is_so: Callable[[], bool]
) -> None:
    """Wait for what a thread of the workspace does."""
    while not is_so():
        await settle(pilot)


async def test_the_newest_is_shown_first_with_its_reason(
    refused: MemtuiApp, settle: Settle
) -> None:
    async with refused.run_test() as pilot:
        await opened(pilot, settle)
        assert isinstance(refused.screen, QuarantineScreen)
        assert names(refused)[1:] == sorted(LEFT, reverse=True)
        assert f"{FILE}:57\nnot valid JSON" in said(refused)
        assert "The file no longer exists." in said(refused)
        await pilot.press("down")
        await settle(pilot)
        assert said(refused).endswith("an empty file\n\nThe file is empty.")


async def test_what_is_shown_is_plain_text_without_secrets(
    refused: MemtuiApp, settle: Settle
) -> None:
    async with refused.run_test() as pilot:
        await opened(pilot, settle)
        await pilot.press(*["down"] * 3)
        await settle(pilot)
        shown = said(refused)
        assert "Use [redacted: anthropic key] for [bold]now[/]" in shown
        assert "list[int]" in shown and KEY not in shown
        assert "\x1b" not in shown and "\x07" not in shown


async def test_what_one_says_is_read_page_by_page(
    refused: MemtuiApp, settle: Settle
) -> None:
    async with refused.run_test(size=(80, 24)) as pilot:
        await opened(pilot, settle)
        await pilot.press("down", "down", "enter")
        await settle(pilot)
        pane = refused.screen.query_one("#detail-pane DetailPane")
        assert pane.has_focus
        await pilot.press("pagedown")
        assert pane.scroll_y > 0
        await pilot.press("escape")
        assert entries(refused).has_focus
        await pilot.press("tab")
        assert pane.has_focus
        await pilot.press("shift+tab", "escape")
        await settle(pilot)
        assert isinstance(refused.screen, ContentsScreen)


@pytest.mark.journey
async def test_what_is_tried_again_is_taken_or_comes_back(
    refused: MemtuiApp, refusing: Workspace, settle: Settle
) -> None:
    async with refused.run_test() as pilot:
        await opened(pilot, settle)
        await pilot.press(*["down"] * 3)
        (refusing.paths.spool / "bad" / "1709.3.0a1c.json").write_text(
            '{"session_id": "4f2a", "hook_event_name": "Stop"}'
        )
        await pilot.press("t")
        await until(pilot, settle, lambda: len(names(refused)) == 4)
        assert "1709.2.0a1b.json" not in names(refused)
        assert notices(refused) == []
        await pilot.press("T")
        await until(pilot, settle, lambda: len(names(refused)) == 1)
        assert refusing.pipeline.run_until_idle(lambda _: None) == []
        refused.post_message(ProgressReported(PipelineProgress("")))
        await until(pilot, settle, lambda: len(notices(refused)) > 1)
        assert notices(refused) == [
            f"{FILE}: no longer exists",
            "3 refused again, 1 taken.",
        ]
        assert names(refused)[1:] == [
            "1709.4.0a1d.json",
            "1709.2.0a1b.json",
            "1709.1.0a1a.codex.Stop.json",
        ]


@pytest.mark.journey
async def test_nothing_is_dropped_before_it_is_agreed_to(
    refused: MemtuiApp, refusing: Workspace, settle: Settle
) -> None:
    bad = refusing.paths.spool / "bad"
    async with refused.run_test() as pilot:
        await opened(pilot, settle)
        await pilot.press("down", "D")
        await settle(pilot)
        assert isinstance(refused.screen, DismissScreen)
        question = str(refused.screen.query_one("#question", Static).visual)
        assert question.startswith("Delete this hook file for good (0 bytes)?")
        await pilot.press("escape")
        await settle(pilot)
        assert len(list(bad.iterdir())) == 8
        await pilot.press("D", "y")
        await settle(pilot)
        assert not (bad / "1709.4.0a1d.json").exists()
        assert notices(refused) == ["1 entry dismissed."]
        assert len(names(refused)) == 4
        await pilot.press("home", "delete", "y")
        await settle(pilot)
        assert len(names(refused)) == 3
        await pilot.press("D", "a")
        await settle(pilot)
        assert list(bad.iterdir()) == []
        assert refused.screen.has_class("-empty")
        assert refused.screen.query_one("#nothing").display
        await pilot.press("t", "T", "D", "enter")
        await settle(pilot)
        assert isinstance(refused.screen, QuarantineScreen)


async def test_the_status_line_shows_counts_to_readers_too(
    refused: MemtuiApp, settle: Settle
) -> None:
    async with refused.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        refused.post_message(
            ProgressReported(PipelineProgress("", skipped=16, is_active=False))
        )
        await settle(pilot)
        work = refused.screen.query_one(StatusLine).work.plain
        assert work == "another memtui is running · 16 lines skipped (Q)"
        await pilot.press("Q")
        await settle(pilot)
        work = refused.screen.query_one(StatusLine).work.plain
        assert work == "another memtui is running"


async def test_a_failing_stage_reports_what_it_cannot_do(
    refused: MemtuiApp, settle: Settle
) -> None:
    def told() -> list[str]:
        line = refused.screen.query_one("#failures", Static)
        return str(line.visual).split("\n") if line.display else []

    async with refused.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        refused.post_message(
            ProgressReported(PipelineProgress("index", error="the disk is full"))
        )
        await opened(pilot, settle)
        assert told() == ["✗ indexing: the disk is full.", RETRIES_ITSELF]
        refused.post_message(ProgressReported(PipelineProgress("ingest", 1)))
        await settle(pilot)
        assert told() == []


async def test_a_failed_import_is_reported_once(
    refused: MemtuiApp, settle: Settle
) -> None:
    async with refused.run_test() as pilot:
        await settle(pilot)
        failed = PipelineProgress("import", error="it [b]broke[/] off")
        for told in (failed, PipelineProgress("ingest", 1), failed):
            refused.post_message(ProgressReported(told))
        await settle(pilot)
        assert notices(refused) == ["importing: it [b]broke[/] off"]


async def test_what_is_refused_meanwhile_comes_into_the_list(
    refused: MemtuiApp, refusing: Workspace, settle: Settle
) -> None:
    async with refused.run_test() as pilot:
        await opened(pilot, settle)
        await pilot.press("down", "down")
        await settle(pilot)
        before = entries(refused).current
        leave(refusing, "1710.json", b"{", at_s=400)
        assert refusing.pipeline.run_until_idle(lambda _: None) == []
        refused.post_message(ProgressReported(PipelineProgress("")))
        await until(pilot, settle, lambda: "1710.json" in names(refused))
        assert entries(refused).current == before
        assert entries(refused).highlighted == 3


async def test_the_latest_of_ten_thousand_are_listed(
    full_workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    bad = full_workspace.paths.spool / "bad"
    for number in range(10_000):
        file = bad / f"{number:05}.json"
        file.write_bytes(b'{"half')
        os.utime(file, (AT.timestamp() + number,) * 2)
    app = app_of(full_workspace)
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        title = app.screen.query_one("#list-pane PaneTitle", PaneTitle)
        assert str(title.info) == "the latest 200 of 10,000 entries"
        assert names(app) == [f"{9_999 - at:05}.json" for at in range(200)]


async def test_the_help_lists_the_keys(refused: MemtuiApp, settle: Settle) -> None:
    async with refused.run_test(size=(120, 80)) as pilot:
        await opened(pilot, settle)
        await pilot.press("question_mark")
        await settle(pilot)
        assert {"t", "T", "D del", "Q", "esc", "tab"} <= {*help_text.keys(refused)}


async def test_the_palette_opens_it(refused: MemtuiApp, settle: Settle) -> None:
    async with refused.run_test() as pilot:
        await settle(pilot)
        await pilot.press("ctrl+p", *"skipped")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(refused.screen, QuarantineScreen)
        await pilot.press("Q")
        await settle(pilot)
        assert len(refused.screen_stack) == 3


async def test_what_cannot_be_read_says_why(
    refused: MemtuiApp,
    refusing: Workspace,
    settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(QuarantineScreen, "RELOAD_INTERVAL_S", 60.0)
    async with refused.run_test() as pilot:
        await opened(pilot, settle)
        (refusing.paths.spool / "bad" / "1709.4.0a1d.json").unlink()
        await pilot.press("down")
        await settle(pilot)
        assert "✗ nothing in the quarantine is called" in said(refused)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=str)
@pytest.mark.parametrize(
    "keys",
    [("Q",), ("Q", "down", "down", "down"), ("Q", "down", "down", "D")],
    ids=["transcript", "hook", "drop"],
)
@pytest.mark.journey(only="hook-(120, 40)")
def test_pictures(
    refused: MemtuiApp,
    settle: Settle,
    snap_compare: Compare,
    size: tuple[int, int],
    keys: tuple[str, ...],
) -> None:
    run = steps(settle, *keys, progress=PipelineProgress("", skipped=16))
    assert snap_compare(refused, terminal_size=size, run_before=run)


def test_picture_of_nothing(
    app: MemtuiApp, settle: Settle, snap_compare: Compare
) -> None:
    async def run(pilot: Pilot[str | MemtuiError]) -> None:
        await opened(pilot, settle)

    assert snap_compare(app, terminal_size=(80, 24), run_before=run)
