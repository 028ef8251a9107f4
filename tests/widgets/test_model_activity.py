"""The wording of the model's state."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memtui.model.jobs import ModelCondition, ModelHealth, ModelPhase, ModelProgress
from memtui.pipeline.progress import ModelStatus
from memtui.tui.widgets import status_line

NODE = "toc:day:2025-03-10"
READY = ModelHealth(ModelCondition.READY, model="qwen3:4b")


def at_work(
    doing: ModelProgress, waiting: int = 214, name: str = "qwen3:4b"
) -> ModelStatus:
    model = ModelStatus().with_health(ModelHealth(ModelCondition.READY, model=name))
    return model.working_on(NODE, waiting).with_progress(doing)


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
def test_it_is_said_what_the_model_does(doing: ModelProgress, words: str) -> None:
    long, short = status_line.describe_model(at_work(doing))
    assert long == words
    assert short == f"qwen3:4b: {doing.phase}"


def test_growing_numbers_do_not_make_it_wider() -> None:
    texts = [
        status_line.describe_model(
            at_work(ModelProgress(ModelPhase.WRITING, written=written, limit=700))
        )[0]
        for written in (1, 10, 100, 700)
    ]
    assert {len(text) for text in texts} == {len(texts[0])}


def test_the_last_one_is_not_counted() -> None:
    doing = at_work(ModelProgress(ModelPhase.READING), waiting=1)
    assert status_line.describe_model(doing)[0] == "qwen3:4b: reading"


def test_a_long_name_is_cut_and_where_it_comes_from_left_out() -> None:
    name = "hf.co/somebody/Llama-3.2-3B-Instruct-GGUF:Q4_K_M"
    doing = at_work(ModelProgress(ModelPhase.READING), name=name)
    assert status_line.describe_model(doing)[1] == "Llama-3.2-3B-Instru…: reading"


def test_an_idle_model_shows_nothing() -> None:
    assert status_line.describe_model(ModelStatus()) == ("", "")
    assert status_line.describe_model(ModelStatus().with_health(READY)) == ("", "")


@pytest.mark.parametrize(
    "condition", [c for c in ModelCondition if c is not ModelCondition.READY]
)
def test_a_missing_model_is_reported_if_one_is_expected(
    condition: ModelCondition,
) -> None:
    away = ModelHealth(condition, "it is gone", "ollama pull qwen3:4b")
    assert status_line.describe_model(ModelStatus().with_health(away)) == ("", "")
    wanted = status_line.describe_model(
        ModelStatus(is_requested=True).with_health(away)
    )
    had = status_line.describe_model(ModelStatus().with_health(READY).with_health(away))
    assert all((*wanted, *had))
    is_wrong = condition is not ModelCondition.RESTING
    assert wanted[0].startswith("✗") == is_wrong
    assert not had[0].startswith("✗")


@pytest.mark.parametrize(
    ("health", "texts"),
    [
        (
            ModelHealth(
                ModelCondition.MODEL_MISSING,
                "Ollama does not have x:4b",
                "ollama pull x:4b",
            ),
            (
                "✗ Ollama does not have x:4b: ollama pull x:4b",
                "✗ no model: ollama pull x:4b",
            ),
        ),
        (
            ModelHealth(ModelCondition.OFFLINE),
            (
                "✗ Ollama does not answer: start it, or install it from ollama.com",
                "✗ Ollama does not answer: memtui doctor",
            ),
        ),
        (
            ModelHealth(ModelCondition.FAULTY, "the server answers nonsense"),
            (
                "✗ the server answers nonsense: memtui doctor",
                "✗ the model does not work: memtui doctor",
            ),
        ),
    ],
)
def test_a_missing_model_is_reported_with_what_to_do(
    health: ModelHealth, texts: tuple[str, str]
) -> None:
    wanted = ModelStatus(is_requested=True).with_health(health)
    assert status_line.describe_model(wanted) == texts


RESTING = ModelHealth(ModelCondition.RESTING, "its minutes are used", model="qwen3:4b")
UNTIL = datetime(2025, 3, 10, 21, 34, tzinfo=UTC)


def test_a_pause_shows_its_length_and_the_pending_work() -> None:
    tired = replace(
        ModelStatus(was_ready=True).with_health(RESTING), paused_until=UNTIL, pending=16
    )
    assert status_line.describe_model(tired) == (
        "qwen3:4b: resting until 21:34 · 16 to go",
        "resting until 21:34",
    )


@pytest.mark.parametrize("health", [None, READY, RESTING])
def test_segments_that_a_person_wants_to_rest_are_counted(
    health: ModelHealth | None,
) -> None:
    model = ModelStatus(was_ready=True)
    paused = replace(model.with_health(health) if health else model, held_segments=29)
    assert status_line.describe_model(paused) == ("paused · 29 to go", "paused")
    assert status_line.describe_model(replace(paused, held_segments=0))[1] != "paused"


def test_what_is_written_meanwhile_comes_before_what_is_paused() -> None:
    paused = replace(at_work(ModelProgress(ModelPhase.READING)), held_segments=29)
    assert status_line.describe_model(paused)[0].startswith("qwen3:4b: reading")
