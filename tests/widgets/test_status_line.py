"""The line at the top: the space for the stages and for the model."""

import pytest

from memtui.model.jobs import ModelCondition, ModelHealth, ModelPhase, ModelProgress
from memtui.pipeline.progress import ModelStatus, PipelineProgress
from memtui.tui.app import MemtuiApp
from memtui.tui.messages import ProgressReported
from memtui.tui.widgets import status_line
from memtui.tui.widgets.status_line import StatusLine
from tests.pilots import Settle

READY = ModelStatus().with_health(ModelHealth(ModelCondition.READY, model="qwen3:4b"))
WRITING = READY.working_on("toc:day:2025-03-10", 214).with_progress(
    ModelProgress(ModelPhase.WRITING, 2, 3, written=120, limit=700)
)

ROOM = 80 - len("memtui") - status_line.GAP


def said(progress: PipelineProgress, room: int = ROOM) -> str:
    return status_line.describe_work(progress, room).plain


@pytest.mark.parametrize(
    ("progress", "words"),
    [
        (
            PipelineProgress("", model=WRITING),
            "qwen3:4b: part 2 of 3, writing 120 of 700 · 214 to go",
        ),
        (
            PipelineProgress("index", queued=12, model=WRITING),
            "● indexing · 12 queued · qwen3:4b: writing",
        ),
        (
            PipelineProgress("", skipped=6, model=WRITING),
            "qwen3:4b: writing · 6 lines skipped (Q)",
        ),
        (
            PipelineProgress("segment", queued=1234, skipped=6, model=WRITING),
            "● segmenting · 1,234 queued · qwen3:4b: writing · 6 lines skipped (Q)",
        ),
        (
            PipelineProgress("import", 3, total=20, skipped=6, model=WRITING),
            "● importing 3 of 20 · qwen3:4b: writing · 6 lines skipped (Q)",
        ),
        (
            PipelineProgress("index", error="no room", model=WRITING),
            "✗ indexing: no room",
        ),
        (
            PipelineProgress("", is_active=False, model=WRITING),
            status_line.OTHER_PROCESS,
        ),
        (
            PipelineProgress(
                "", is_active=False, error="the memory is gone", is_store_gone=True
            ),
            "✗ the memory is gone",
        ),
        (PipelineProgress("", model=READY), "idle"),
    ],
)
def test_at_80_columns_it_says_what_there_is_room_for(
    progress: PipelineProgress, words: str
) -> None:
    assert said(progress) == words
    assert len(words) <= ROOM


def test_where_there_is_room_all_is_said() -> None:
    progress = PipelineProgress("index", queued=12, skipped=6, model=WRITING)
    assert said(progress, 111) == (
        "● indexing · 12 queued · qwen3:4b: part 2 of 3, writing 120 of 700"
        " · 214 to go · 6 lines skipped (Q)"
    )


def test_a_missing_requested_model_is_reported_with_the_work() -> None:
    away = ModelStatus(is_requested=True).with_health(
        ModelHealth(ModelCondition.OFFLINE)
    )
    assert said(PipelineProgress("", model=away)) == (
        "✗ Ollama does not answer: start it, or install it from ollama.com"
    )
    assert said(PipelineProgress("index", queued=12, model=away)) == (
        "● indexing · 12 queued · ✗ Ollama does not answer: memtui doctor"
    )


@pytest.mark.parametrize("width", [80, 120])
async def test_the_line_says_as_much_as_fits(
    app: MemtuiApp, settle: Settle, width: int
) -> None:
    async with app.run_test(size=(width, 24)) as pilot:
        await settle(pilot)
        line = app.screen.query_one(StatusLine)
        app.post_message(
            ProgressReported(PipelineProgress("", skipped=6, model=WRITING))
        )
        while "qwen3" not in line.work.plain:
            await pilot.pause()
        assert ("part 2 of 3" in line.work.plain) == (width == 120)
        await pilot.resize_terminal(120, 24)
        await settle(pilot)
        assert "part 2 of 3" in line.work.plain


async def test_beside_a_model_a_short_blip_is_not_shown(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test() as pilot:
        await settle(pilot)
        line = app.screen.query_one(StatusLine)
        app.post_message(ProgressReported(PipelineProgress("", model=WRITING)))
        while "qwen3" not in line.work.plain:
            await pilot.pause()
        seen = line.work.plain
        app.post_message(
            ProgressReported(PipelineProgress("index", queued=3, model=WRITING))
        )
        app.post_message(ProgressReported(PipelineProgress("", model=READY)))
        app.post_message(ProgressReported(PipelineProgress("", model=WRITING)))
        await settle(pilot)
        assert line.work.plain == seen
        app.post_message(ProgressReported(PipelineProgress("", model=READY)))
        while line.work.plain == seen:
            await pilot.pause()
        assert line.work.plain == "idle"
