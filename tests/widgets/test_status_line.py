"""The line at the top: the space for the stages and for the model."""

from dataclasses import replace

import pytest

from memtui.errors import DISK_FULL
from memtui.model.jobs import ModelCondition, ModelHealth, ModelPhase, ModelProgress
from memtui.pipeline.progress import ModelStatus, PipelineProgress
from memtui.tui.app import MemtuiApp
from memtui.tui.messages import ProgressReported
from memtui.tui.widgets import status_line
from memtui.tui.widgets.status_line import StatusLine
from tests.pilots import Settle

READY = ModelStatus().with_health(ModelHealth(ModelCondition.READY, model="qwen3:4b"))
WRITING = replace(
    READY,
    node_id="toc:day:2025-03-10",
    pending=214,
    progress=ModelProgress(ModelPhase.WRITING, 2, 3, written=120, limit=700),
)

WRITING_TEXT = "qwen3:4b: part 2 of 3, writing 120 of 700 · 214 to go"


@pytest.mark.parametrize(
    ("progress", "words"),
    [
        (
            PipelineProgress("", model=WRITING),
            WRITING_TEXT,
        ),
        (
            PipelineProgress("index", queued=12, model=WRITING),
            f"● indexing · 12 queued · {WRITING_TEXT}",
        ),
        (
            PipelineProgress("", skipped=6, model=WRITING),
            f"6 lines skipped (Q) · {WRITING_TEXT}",
        ),
        (
            PipelineProgress("segment", queued=1234, skipped=6, model=WRITING),
            f"● segmenting · 1,234 queued · 6 lines skipped (Q) · {WRITING_TEXT}",
        ),
        (
            PipelineProgress("import", 3, total=20, skipped=6, model=WRITING),
            f"● importing 3 of 20 · 6 lines skipped (Q) · {WRITING_TEXT}",
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
        (PipelineProgress(""), "idle"),
        (PipelineProgress("summarize", 3, 12), "● summarizing · 12 queued"),
        (PipelineProgress("", skipped=2), "idle · 2 lines skipped (Q)"),
        (
            PipelineProgress("", failing=(("messages", "ouch"),)),
            "✗ indexing messages: ouch",
        ),
        (PipelineProgress("index", error=f"{DISK_FULL} (/home)"), f"✗ {DISK_FULL}"),
        (PipelineProgress("import", 5, total=5), "idle"),
    ],
)
def test_background_work_is_described(progress: PipelineProgress, words: str) -> None:
    assert status_line.describe_work(progress).plain == words


def test_missing_requested_model_is_reported_with_the_work() -> None:
    away = ModelStatus(is_requested=True).with_health(
        ModelHealth(ModelCondition.OFFLINE)
    )
    text = "✗ Ollama does not answer: start it, or install it from ollama.com"
    idle, indexing = PipelineProgress(""), PipelineProgress("index", queued=12)
    assert status_line.describe_work(replace(idle, model=away)).plain == text
    assert status_line.describe_work(replace(indexing, model=away)).plain == (
        f"● indexing · 12 queued · {text}"
    )


async def test_line_is_cut_at_its_end(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        line = app.screen.query_one(StatusLine)
        progress = PipelineProgress("index", queued=12, skipped=6, model=WRITING)
        app.post_message(ProgressReported(progress))
        while "qwen3" not in line.work.plain:
            await pilot.pause()
        text = line.render().plain
        assert text.startswith("memtui   ● indexing · 12 queued · 6 lines skipped (Q)")
        assert text.endswith("…") and len(text) == line.size.width == 78


async def test_short_change_beside_a_model_is_not_shown(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test() as pilot:
        await settle(pilot)
        line = app.screen.query_one(StatusLine)
        app.post_message(ProgressReported(PipelineProgress("", model=WRITING)))
        while "qwen3" not in line.work.plain:
            await pilot.pause()
        text = line.work.plain
        app.post_message(
            ProgressReported(PipelineProgress("index", queued=3, model=WRITING))
        )
        app.post_message(ProgressReported(PipelineProgress("", model=READY)))
        app.post_message(ProgressReported(PipelineProgress("", model=WRITING)))
        await settle(pilot)
        assert line.work.plain == text
        app.post_message(ProgressReported(PipelineProgress("", model=READY)))
        while line.work.plain == text:
            await pilot.pause()
        assert line.work.plain == "idle"
