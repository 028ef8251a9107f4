"""The line of a page that says what the replies took."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from textual.widgets import Static

from memtui.paths import in_home
from memtui.settings import Settings
from memtui.tui.widgets.toc_tree import TocTree
from memtui.workspace import Workspace
from tests.capture.test_usage import claude_prompt, claude_reply, import_paths, write
from tests.pilots import AppOf, Settle, press

MILLION = 1_000_000


@pytest.mark.parametrize("has_price", [False, True])
async def test_pages_show_tokens_cost_and_time(
    tmp_path: Path, settings: Settings, app_of: AppOf, settle: Settle, has_price: bool
) -> None:
    if has_price:
        settings = replace(settings, prices_models=("opus 1 2 3 4",))
    minute = timedelta(minutes=1).total_seconds()
    for day, name in enumerate(("s1", "s2")):
        start = 24 * 60 * minute * day
        records = [
            claude_prompt(start, name),
            claude_reply(start + 2 * minute, f"{name}-m1", (MILLION, 0, 0, 0), name),
        ]
        write(tmp_path / "files" / f"{name}.jsonl", records)
    workspace = Workspace(in_home(tmp_path / "home"), settings)
    import_paths(workspace, tmp_path / "files")
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    cost = (
        {"one": ", $1.00", "both": ", $2.00"}
        if has_price
        else dict.fromkeys(("one", "both"), "")
    )
    async with app_of(workspace).run_test(size=(160, 40)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "home")
        rows = pilot.app.screen.query_one(TocTree)
        lines: dict[str, list[str]] = {}
        for _ in range(rows.last_line + 1):
            row = rows.current
            head = str(pilot.app.screen.query_one("#head", Static).visual)
            assert row is not None
            kind = row.node_id.split(":")[1]
            lines[kind] = [line for line in head.splitlines() if "active" in line]
            await press(pilot, settle, "down")
    workspace.stop()
    assert lines["segment"] == [f"1.0 M in{cost['one']}, 2m active"]
    assert lines["day"] == lines["segment"]
    # The year, its month and its week share a row.
    assert [f"2.0 M in{cost['both']}, 4m active"] in lines.values()
