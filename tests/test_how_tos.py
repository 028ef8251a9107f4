"""The how-tos of docs/architecture.md, with the code that they print."""

import re
import sys
import types
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memtui.capture import formats
from memtui.capture.formats.base import InvalidRecord, SourceFormat
from memtui.model.events import Event
from memtui.model.work import Facts
from memtui.tools import table
from memtui.tui.app import MemtuiApp
from memtui.workspace import Workspace
from tests.message_factory import make_message
from tests.pilots import Settle

DOCUMENT = Path(__file__).parents[1] / "docs" / "architecture.md"
NOW = datetime(2026, 3, 1, tzinfo=UTC)
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(title: str) -> list[str]:
    """Return the code in the section with a title."""
    sections = DOCUMENT.read_text(encoding="utf-8").split("\n## ")
    section = next(section for section in sections if section.startswith(title))
    return [code for _, code in _BLOCK.findall(section)]


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Iterator[types.ModuleType]:
    """A module that can be imported, for code that is run in it."""
    made = types.ModuleType("memtui_how_to")
    monkeypatch.setitem(sys.modules, made.__name__, made)
    yield made


def run(code: str, module: types.ModuleType) -> types.ModuleType:
    exec(compile(code, str(DOCUMENT), "exec"), module.__dict__)
    return module


def test_a_source_format(
    module: types.ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (code,) = blocks("How to add a source format")
    chatlog: SourceFormat = run(code, module).FORMAT
    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, chatlog))
    path = tmp_path / "log.jsonl"
    path.write_text(
        '{"chat": "c", "at": "2026-02-01T10:00:00Z", "from": "me", "body": "Oil it"}\n'
        '{"chat": "c", "at": "2026-02-01T10:01:00Z", "from": "cat", "body": "Miaow"}\n'
    )
    assert formats.detect_format(path) is chatlog
    items = list(chatlog.read(path, None, agent="chatlog", now=NOW))
    texts = [(item.text, item.session_id) for item in items if isinstance(item, Event)]
    assert texts == [("Oil it", "c")]
    reasons = [item.reason for item in items if isinstance(item, InvalidRecord)]
    assert reasons == ["an unknown sender"]


async def test_a_screen(
    module: types.ModuleType,
    app: MemtuiApp,
    settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen, style, _, action = blocks("How to add a screen")
    run(screen, module).StatisticsScreen.CSS = style
    monkeypatch.setitem(sys.modules, "memtui.tui.screens.statistics", module)
    names: dict[str, Any] = {}
    exec("class Actions:\n" + action, names)
    shows = names["Actions"].action_show_statistics
    monkeypatch.setattr(MemtuiApp, "action_show_statistics", shows, raising=False)
    async with app.run_test() as pilot:
        await settle(pilot)
        await pilot.app.run_action("show_statistics")
        await settle(pilot)
        assert type(pilot.app.screen).__name__ == "StatisticsScreen"
        text = pilot.app.screen.query_one("#statistics").render()
        assert "sessions," in str(text)


def test_a_tool(
    module: types.ModuleType,
    full_workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code, row = blocks("How to add a tool")
    run(code, module)
    monkeypatch.setitem(sys.modules, "memtui.tools.counts", module)
    (tool,) = eval(row, {"_tool": table._tool})
    answer = table.ToolRunner(lambda: full_workspace).call(tool, {"limit": 1})
    lines = [line for line in answer.text.splitlines() if " messages" in line]
    assert len(lines) == 1 and lines[0].startswith("shop: ")
    assert "a larger limit gives more" in answer.text


def test_a_summarizer(module: types.ModuleType) -> None:
    (code,) = blocks("How to add a summarizer")
    summarizer = run(code, module).FirstLinesSummarizer()
    events = (make_message("\nOil the wheel\nand rest"), make_message("Done", 60))
    summary = summarizer.summarize_events(events, Facts())
    assert summary.title == "Oil the wheel"
    assert [bullet.text for bullet in summary.bullets] == ["Oil the wheel", "Done"]
