"""The wording of the model's state."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memtui.model.jobs import ModelCondition, ModelHealth, ModelPhase, ModelProgress
from memtui.pipeline.progress import ModelStatus
from memtui.tui.widgets import status_line

NODE = "toc:day:2025-03-10"
READY = ModelHealth(ModelCondition.READY, model="qwen3:4b")


def working_model(
    doing: ModelProgress, waiting: int = 214, name: str = "qwen3:4b"
) -> ModelStatus:
    model = ModelStatus().with_health(ModelHealth(ModelCondition.READY, model=name))
    return replace(model, node_id=NODE, pending=waiting, progress=doing)


@pytest.mark.parametrize(
    ("doing", "words"),
    [
        (ModelProgress(ModelPhase.LOADING), "qwen3:4b: loading · 214 to go"),
        (ModelProgress(ModelPhase.READING), "qwen3:4b: reading · 214 to go"),
        (
            ModelProgress(ModelPhase.WRITING, written=120, limit=700),
            "qwen3:4b: writing 120 of 700 · 214 to go",
        ),
        (
            ModelProgress(ModelPhase.WRITING, 2, 3, written=7, limit=1400),
            "qwen3:4b: part 2 of 3, writing     7 of 1,400 · 214 to go",
        ),
        (ModelProgress(ModelPhase.CHECKING), "qwen3:4b: checking · 214 to go"),
        (ModelProgress(ModelPhase.WAITING), "qwen3:4b: waiting · 214 to go"),
    ],
)
def test_phase_of_the_model_is_described(doing: ModelProgress, words: str) -> None:
    assert status_line.describe_model(working_model(doing)) == words


def test_growing_numbers_keep_the_width() -> None:
    texts = [
        status_line.describe_model(
            working_model(ModelProgress(ModelPhase.WRITING, written=written, limit=700))
        )
        for written in (1, 10, 100, 700)
    ]
    assert {len(text) for text in texts} == {len(texts[0])}


def test_last_request_is_not_counted() -> None:
    doing = working_model(ModelProgress(ModelPhase.READING), waiting=1)
    assert status_line.describe_model(doing) == "qwen3:4b: reading"


def test_long_model_name_is_shortened() -> None:
    name = "hf.co/somebody/Llama-3.2-3B-Instruct-GGUF:Q4_K_M"
    doing = working_model(ModelProgress(ModelPhase.READING), name=name)
    assert status_line.describe_model(doing) == (
        "Llama-3.2-3B-Instru…: reading · 214 to go"
    )


def test_idle_model_shows_nothing() -> None:
    assert status_line.describe_model(ModelStatus()) == ""
    assert status_line.describe_model(ModelStatus().with_health(READY)) == ""


@pytest.mark.parametrize(
    "condition", [c for c in ModelCondition if c is not ModelCondition.READY]
)
def test_missing_model_is_reported_if_expected(
    condition: ModelCondition,
) -> None:
    away = ModelHealth(condition, "it is gone", "ollama pull qwen3:4b")
    assert status_line.describe_model(ModelStatus().with_health(away)) == ""
    requested = ModelStatus(is_requested=True).with_health(away)
    lost = ModelStatus().with_health(READY).with_health(away)
    is_error = condition is not ModelCondition.RESTING
    assert status_line.describe_model(requested).startswith("✗") == is_error
    text = status_line.describe_model(lost)
    assert text and not text.startswith("✗")


@pytest.mark.parametrize(
    ("health", "text"),
    [
        (
            ModelHealth(
                ModelCondition.MODEL_MISSING,
                "Ollama does not have x:4b",
                "ollama pull x:4b",
            ),
            "✗ Ollama does not have x:4b: ollama pull x:4b",
        ),
        (
            ModelHealth(ModelCondition.OFFLINE),
            "✗ Ollama does not answer: start it, or install it from ollama.com",
        ),
        (
            ModelHealth(ModelCondition.FAULTY, "the server answers nonsense"),
            "✗ the server answers nonsense: memtui doctor",
        ),
    ],
)
def test_missing_model_is_reported_with_advice(health: ModelHealth, text: str) -> None:
    requested = ModelStatus(is_requested=True).with_health(health)
    assert status_line.describe_model(requested) == text


RESTING = ModelHealth(ModelCondition.RESTING, "its minutes are used", model="qwen3:4b")
UNTIL = datetime(2025, 3, 10, 21, 34, tzinfo=UTC)


def test_resting_model_shows_time_and_pending_work() -> None:
    resting = replace(
        ModelStatus(was_ready=True).with_health(RESTING), paused_until=UNTIL, pending=16
    )
    assert status_line.describe_model(resting) == (
        "qwen3:4b: resting until 21:34 · 16 to go"
    )


@pytest.mark.parametrize("health", [None, READY, RESTING])
def test_paused_segments_are_counted(
    health: ModelHealth | None,
) -> None:
    model = ModelStatus(was_ready=True)
    paused = replace(model.with_health(health) if health else model, held_segments=29)
    assert status_line.describe_model(paused) == "paused · 29 to go"
    resumed = replace(paused, held_segments=0)
    assert "paused" not in status_line.describe_model(resumed)


def test_running_request_comes_before_paused_segments() -> None:
    paused = replace(working_model(ModelProgress(ModelPhase.READING)), held_segments=29)
    assert status_line.describe_model(paused).startswith("qwen3:4b: reading")
