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

PAYLOADS = {
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


def write_payload(
    workspace: Workspace, name: str, payload: object, *, at_s: float = 0
) -> None:
    """Have a hook leave a file, and have it stored or skipped."""
    file = workspace.paths.spool / "new" / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(
        payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    )
    at_s += AT.timestamp()
    os.utime(file, (at_s, at_s))


@pytest.fixture
def skipping_workspace(full_workspace: Workspace) -> Workspace:
    """The full workspace, with skipped hook files and a skipped transcript."""
    for name, (later_s, payload) in PAYLOADS.items():
        write_payload(full_workspace, name, payload, at_s=later_s)
    assert full_workspace.pipeline.run_until_idle(lambda _: None) == []
    with database.transaction():
        counts = [
            sources.ProblemCount("not valid JSON", sources.ProblemKind.DAMAGED, 57, 12)
        ]
        sources.add_problems(FILE, counts, to_ms(AT) + 500_000)
    return full_workspace


@pytest.fixture
def app_with_skipped(skipping_workspace: Workspace, app_of: AppOf) -> MemtuiApp:
    return app_of(skipping_workspace)


def entries(app: MemtuiApp) -> QuarantineList:
    return app.screen.query_one(QuarantineList)


def names(app: MemtuiApp) -> list[str]:
    return [*entries(app).items]


def details_of(app: MemtuiApp) -> str:
    return str(app.screen.query_one("#details", Static).visual)


async def open_screen(pilot: Pilot[str | MemtuiError], settle: Settle) -> None:
    await settle(pilot)
    await pilot.press("Q")
    await settle(pilot)


async def wait_until(
    pilot: Pilot[str | MemtuiError], settle: Settle, condition: Callable[[], bool]
) -> None:
    """Wait for what a thread of the workspace does."""
    while not condition():
        await settle(pilot)


async def test_the_latest_is_shown_first_with_its_reason(
    app_with_skipped: MemtuiApp, settle: Settle
) -> None:
    async with app_with_skipped.run_test() as pilot:
        await open_screen(pilot, settle)
        assert isinstance(app_with_skipped.screen, QuarantineScreen)
        assert names(app_with_skipped)[1:] == sorted(PAYLOADS, reverse=True)
        assert "57\nnot valid JSON" in details_of(app_with_skipped)
        assert "The file no longer exists." in details_of(app_with_skipped)
        await pilot.press("down")
        await settle(pilot)
        assert details_of(app_with_skipped).endswith(
            "an empty file\n\nThe file is empty."
        )


async def test_shown_text_is_plain_and_has_no_secrets(
    app_with_skipped: MemtuiApp, settle: Settle
) -> None:
    async with app_with_skipped.run_test() as pilot:
        await open_screen(pilot, settle)
        await pilot.press(*["down"] * 3)
        await settle(pilot)
        text = details_of(app_with_skipped)
        assert "Use [redacted: anthropic key] for [bold]now[/]" in text
        assert "list[int]" in text and KEY not in text
        assert "\x1b" not in text and "\x07" not in text


async def test_details_are_scrolled_by_pages(
    app_with_skipped: MemtuiApp, settle: Settle
) -> None:
    async with app_with_skipped.run_test(size=(80, 24)) as pilot:
        await open_screen(pilot, settle)
        await pilot.press("down", "down", "enter")
        await settle(pilot)
        pane = app_with_skipped.screen.query_one("#detail-pane DetailPane")
        assert pane.has_focus
        await pilot.press("pagedown")
        assert pane.scroll_y > 0
        await pilot.press("escape")
        assert entries(app_with_skipped).has_focus
        await pilot.press("tab")
        assert pane.has_focus
        await pilot.press("shift+tab", "escape")
        await settle(pilot)
        assert isinstance(app_with_skipped.screen, ContentsScreen)


@pytest.mark.journey
async def test_retried_entries_are_stored_or_listed_again(
    app_with_skipped: MemtuiApp, skipping_workspace: Workspace, settle: Settle
) -> None:
    async with app_with_skipped.run_test() as pilot:
        await open_screen(pilot, settle)
        await pilot.press(*["down"] * 3)
        (skipping_workspace.paths.spool / "bad" / "1709.3.0a1c.json").write_text(
            '{"session_id": "4f2a", "hook_event_name": "Stop"}'
        )
        await pilot.press("t")
        await wait_until(pilot, settle, lambda: len(names(app_with_skipped)) == 4)
        assert "1709.2.0a1b.json" not in names(app_with_skipped)
        await pilot.press("a")
        await wait_until(pilot, settle, lambda: len(names(app_with_skipped)) == 1)
        assert notices(app_with_skipped) == [
            "1 entry retried: what is skipped again is listed again.",
            "3 entries retried: what is skipped again is listed again.",
            f"{FILE}: no longer exists",
        ]
        assert skipping_workspace.pipeline.run_until_idle(lambda _: None) == []
        app_with_skipped.post_message(ProgressReported(PipelineProgress("")))
        await wait_until(pilot, settle, lambda: len(names(app_with_skipped)) == 4)
        assert names(app_with_skipped)[1:] == [
            "1709.4.0a1d.json",
            "1709.2.0a1b.json",
            "1709.1.0a1a.codex.Stop.json",
        ]


@pytest.mark.journey
async def test_dismissing_needs_a_confirmation(
    app_with_skipped: MemtuiApp, skipping_workspace: Workspace, settle: Settle
) -> None:
    bad = skipping_workspace.paths.spool / "bad"
    async with app_with_skipped.run_test() as pilot:
        await open_screen(pilot, settle)
        await pilot.press("down", "D")
        await settle(pilot)
        assert isinstance(app_with_skipped.screen, DismissScreen)
        question = str(app_with_skipped.screen.query_one("#question", Static).visual)
        assert question.startswith("Delete this hook file for good?")
        await pilot.press("escape")
        await settle(pilot)
        assert len(list(bad.iterdir())) == 8
        await pilot.press("D", "enter")
        await settle(pilot)
        assert not (bad / "1709.4.0a1d.json").exists()
        assert notices(app_with_skipped) == ["1 entry dismissed."]
        assert len(names(app_with_skipped)) == 4
        await pilot.press("home", "delete", "y")
        await settle(pilot)
        assert len(names(app_with_skipped)) == 3
        await pilot.press("D", "a")
        await settle(pilot)
        assert list(bad.iterdir()) == []
        assert app_with_skipped.screen.has_class("-empty")
        assert app_with_skipped.screen.query_one("#nothing").display
        await pilot.press("t", "a", "D", "enter")
        await settle(pilot)
        assert isinstance(app_with_skipped.screen, QuarantineScreen)


async def test_the_status_line_shows_the_count_to_readers_too(
    app_with_skipped: MemtuiApp, settle: Settle
) -> None:
    async with app_with_skipped.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app_with_skipped.post_message(
            ProgressReported(PipelineProgress("", skipped=16, is_active=False))
        )
        await settle(pilot)
        work = app_with_skipped.screen.query_one(StatusLine).work.plain
        assert work == "another memtui is running · 16 lines skipped (Q)"
        await pilot.press("Q")
        await settle(pilot)
        work = app_with_skipped.screen.query_one(StatusLine).work.plain
        assert work == "another memtui is running"


async def test_a_failing_stage_is_shown_above_the_list(
    app_with_skipped: MemtuiApp, settle: Settle
) -> None:
    def failure_lines() -> list[str]:
        line = app_with_skipped.screen.query_one("#failures", Static)
        return str(line.visual).split("\n") if line.display else []

    async with app_with_skipped.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        app_with_skipped.post_message(
            ProgressReported(PipelineProgress("index", error="the disk is full"))
        )
        await open_screen(pilot, settle)
        assert failure_lines() == ["✗ indexing: the disk is full.", RETRIES_ITSELF]
        app_with_skipped.post_message(ProgressReported(PipelineProgress("ingest", 1)))
        await settle(pilot)
        assert failure_lines() == []


async def test_a_failed_import_is_reported_once(
    app_with_skipped: MemtuiApp, settle: Settle
) -> None:
    async with app_with_skipped.run_test() as pilot:
        await settle(pilot)
        failed = PipelineProgress("import", error="it [b]broke[/] off")
        for progress in (failed, PipelineProgress("ingest", 1), failed):
            app_with_skipped.post_message(ProgressReported(progress))
        await settle(pilot)
        assert notices(app_with_skipped) == ["importing: it [b]broke[/] off"]


async def test_input_skipped_meanwhile_appears_in_the_list(
    app_with_skipped: MemtuiApp, skipping_workspace: Workspace, settle: Settle
) -> None:
    async with app_with_skipped.run_test() as pilot:
        await open_screen(pilot, settle)
        await pilot.press("down", "down")
        await settle(pilot)
        before = entries(app_with_skipped).current
        write_payload(skipping_workspace, "1710.json", b"{", at_s=400)
        assert skipping_workspace.pipeline.run_until_idle(lambda _: None) == []
        app_with_skipped.post_message(ProgressReported(PipelineProgress("")))
        await wait_until(pilot, settle, lambda: "1710.json" in names(app_with_skipped))
        assert entries(app_with_skipped).current == before
        assert entries(app_with_skipped).highlighted == 3


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
        await open_screen(pilot, settle)
        title = app.screen.query_one("#list-pane PaneTitle", PaneTitle)
        assert str(title.info) == "the latest 200 of 10,000 entries"
        assert names(app) == [f"{9_999 - at:05}.json" for at in range(200)]


async def test_the_help_lists_the_keys(
    app_with_skipped: MemtuiApp, settle: Settle
) -> None:
    async with app_with_skipped.run_test(size=(120, 80)) as pilot:
        await open_screen(pilot, settle)
        await pilot.press("question_mark")
        await settle(pilot)
        assert {"t", "a", "D del", "Q", "esc", "tab"} <= {
            *help_text.keys(app_with_skipped)
        }


async def test_the_palette_opens_it(
    app_with_skipped: MemtuiApp, settle: Settle
) -> None:
    async with app_with_skipped.run_test() as pilot:
        await settle(pilot)
        await pilot.press("ctrl+p", *"skipped")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(app_with_skipped.screen, QuarantineScreen)
        await pilot.press("Q")
        await settle(pilot)
        assert len(app_with_skipped.screen_stack) == 3


async def test_an_entry_that_is_gone_shows_an_error(
    app_with_skipped: MemtuiApp,
    skipping_workspace: Workspace,
    settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(QuarantineScreen, "RELOAD_INTERVAL_S", 60.0)
    async with app_with_skipped.run_test() as pilot:
        await open_screen(pilot, settle)
        (skipping_workspace.paths.spool / "bad" / "1709.4.0a1d.json").unlink()
        await pilot.press("down")
        await settle(pilot)
        assert "✗ nothing in the quarantine is called" in details_of(app_with_skipped)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=str)
@pytest.mark.parametrize(
    "keys",
    [("Q",), ("Q", "down", "down", "down"), ("Q", "down", "down", "D")],
    ids=["transcript", "hook", "drop"],
)
@pytest.mark.journey(only="hook-(120, 40)")
def test_pictures(
    app_with_skipped: MemtuiApp,
    settle: Settle,
    snap_compare: Compare,
    size: tuple[int, int],
    keys: tuple[str, ...],
) -> None:
    run = steps(settle, *keys, progress=PipelineProgress("", skipped=16))
    assert snap_compare(app_with_skipped, terminal_size=size, run_before=run)


def test_picture_of_nothing(
    app: MemtuiApp, settle: Settle, snap_compare: Compare
) -> None:
    async def run(pilot: Pilot[str | MemtuiError]) -> None:
        await open_screen(pilot, settle)

    assert snap_compare(app, terminal_size=(80, 24), run_before=run)
