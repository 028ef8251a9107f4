"""Texts on the language model: what it does, and why it cannot be used.

Those for the status line come in several lengths. A growing number is padded to its
largest width, so that the line does not jump.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.model import calendar
from memtui.model.model_state import (
    ModelCondition,
    ModelHealth,
    ModelPhase,
    ModelProgress,
)
from memtui.model.nodes import TocLevel
from memtui.text import date_format
from memtui.tui import format

if TYPE_CHECKING:
    from memtui.pipeline.progress import ModelStatus
    from memtui.services.jobs import WorkStatus

PHASES = {
    ModelPhase.WAITING: "waiting",
    ModelPhase.LOADING: "loading",
    ModelPhase.READING: "reading",
    ModelPhase.WRITING: "writing",
    ModelPhase.CHECKING: "checking",
}

USUAL_TOKENS = 700
"""The assumed limit of a reply while it is not known, in tokens."""

MAX_NAME = 20
"""The most cells of a model's name."""

UNAVAILABLE = {
    ModelCondition.OFFLINE: (
        "Ollama does not answer: start it, or install it from ollama.com",
        "Ollama does not answer: memtui doctor",
    ),
    ModelCondition.REFUSED: ("the model is not allowed: memtui doctor",),
    ModelCondition.FAULTY: ("the model does not work: memtui doctor",),
}

REMEDIES = {
    ModelCondition.OFFLINE: "Ollama is not running: start it with “ollama serve”",
    ModelCondition.REFUSED: "The model is not allowed: see “memtui doctor”",
}

LOOKED_FOR = "memtui will check again; x on a job checks now."
NO_MODEL = "No model is used (see above): summaries are extracts."

WAITS_FOR_MODEL = (
    "This waits until a model is available (see above). Until then, summaries are"
    " extracts."
)


# The status line


def fit_activity(model: "ModelStatus", room: int) -> str:
    """Return the longest description of a model's activity that fits.

    A text is chosen only if it fits for the whole call, so that nothing comes and goes.
    """
    texts, widest = describe_activity(model), describe_activity(_at_its_widest(model))
    for text, wide in zip(texts, widest, strict=True):
        if max(len(text), len(wide)) <= room:
            return text
    return texts[-1] if texts and len(texts[-1]) <= room else ""


def _at_its_widest(model: "ModelStatus") -> "ModelStatus":
    if model.progress is None:
        return model
    limit = model.progress.limit or USUAL_TOKENS
    doing = replace(
        model.progress, phase=ModelPhase.WRITING, written=limit, limit=limit
    )
    return model.with_progress(doing)


def describe_activity(model: "ModelStatus") -> list[str]:
    """Return texts on what a model does, the longest first; none while it is idle."""
    health = model.health
    if health is None or model.progress is None:
        return _describe_idle(model, health)
    name, doing = _short_name(health.model), model.progress
    phase = PHASES[doing.phase]
    progress, part, short = _with_tokens(phase, doing), "", ""
    if doing.parts > 1:
        part = f"part {doing.part} of {doing.parts}, "
        short = f" {doing.part}/{doing.parts}"
    left = _left(model.pending) if model.pending > 1 else ""
    return [
        f"{name}: {part}{progress}{left}",
        f"{name}{short}: {progress}{left}",
        f"{name}{short}: {progress}",
        f"{name}: {phase}",
    ]


def _with_tokens(phase: str, doing: ModelProgress) -> str:
    if doing.phase is not ModelPhase.WRITING or not doing.limit:
        return phase
    limit = format.number(doing.limit)
    return f"{phase} {format.number(doing.written).rjust(len(limit))} of {limit}"


def _left(count: int) -> str:
    return f" · {format.number(count)} to go" if count else ""


def _describe_idle(model: "ModelStatus", health: ModelHealth | None) -> list[str]:
    is_resting = health is not None and health.condition is ModelCondition.RESTING
    if (
        health is not None
        and model.is_missing
        and not (is_resting and model.held_segments)
    ):
        return _describe_unavailable(model, health)
    return (
        [f"paused{_left(model.held_segments)}", "paused"] if model.held_segments else []
    )


def _describe_unavailable(model: "ModelStatus", health: ModelHealth) -> list[str]:
    condition, message = health.condition, health.message
    if condition is ModelCondition.RESTING:
        until = f" until {model.paused_until:%H:%M}" if model.paused_until else ""
        rest, left = f"resting{until}", _left(model.pending)
        name = _short_name(health.model)
        return [f"{name}: {rest}{left}", rest + left, rest, "resting"]
    texts: list[str] = []
    if condition is ModelCondition.MODEL_MISSING:
        texts += [f"{message}: {health.remedy}", f"no model: {health.remedy}"]
    elif condition is not ModelCondition.OFFLINE and message:
        texts += [f"{message}: memtui doctor", message]
    texts += UNAVAILABLE.get(condition, ())
    # Without a model configured, the lack of one is no error.
    texts = [f"✗ {text}" if model.is_requested else text for text in texts]
    texts.append(texts[-1].partition(":")[0])
    return [text for at, text in enumerate(texts) if len(text) < _shortest(texts[:at])]


def _shortest(texts: Sequence[str]) -> float:
    return min(map(len, texts), default=math.inf)


def _short_name(model: str) -> str:
    """Return a model's name without its registry."""
    name = model.rpartition("/")[2] or "model"
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…"


# The jobs screen


def explain_missing_model(
    model: "ModelStatus | None", reason: str, work: "WorkStatus | None"
) -> str:
    """Return why a job has no model, in a sentence; "" if it has one.

    Args:
        model: The state of the model; None where another process works.
        reason: Why no model is used at all; "" if one is.
        work: The state of the jobs, with the model that another process has found.
    """
    if reason:
        return NO_MODEL
    found = work.model if work else None
    health = model.health if model is not None else None
    condition = health.condition if health else (found.condition if found else None)
    is_there = condition in (None, ModelCondition.READY, ModelCondition.RESTING)
    return "" if is_there else WAITS_FOR_MODEL


def describe_model(
    model: "ModelStatus | None", reason: str, work: "WorkStatus | None", now: datetime
) -> Content:
    """Describe the state of the model, what to do about it, and what it does now.

    Args:
        model: The state of the model; None where another process works.
        reason: Why no model is used at all; "" if one is.
        work: The state of the jobs, with the model that another process has found.
        now: The current time.
    """
    if reason:
        return Content(reason)
    if model is None or model.health is None:
        found = work.model if work else None
        if found is None:
            return Content("No model has been looked for yet.")
        health = ModelHealth(found.condition, found.message)
        checked = f" (checked {date_format.age(found.checked_at, now)})"
        text = Content("✓ A model is available.")
        if not health.is_ready:
            text = _describe_health(health, paused=0)
        return text + Content.styled(checked, "$context")
    if not model.node_id:
        text = _describe_health(model.health, paused=model.held_segments)
        missing = (ModelCondition.OFFLINE, ModelCondition.MODEL_MISSING)
        if model.health.condition in missing:
            text += Content.styled(f"\n  {LOOKED_FOR}", "$context")
        return text
    return _describe_call(model, now)


def _describe_health(health: ModelHealth, *, paused: int) -> Content:
    if health.is_ready:
        name = health.model or "The model"
        state = f"{format.quantity(paused, 'segment')} paused" if paused else "idle"
        return Content(f"✓ {name} is available, {state}.")
    if health.condition is ModelCondition.RESTING:
        return Content(f"{_sentence(health.message or 'The model is resting')}.")
    text = REMEDIES.get(health.condition)
    remedy = "" if text else health.remedy
    if health.condition is ModelCondition.MODEL_MISSING:
        remedy = f"“{remedy or 'ollama pull qwen3:4b'}”"
    text = text or _sentence(health.message or "No model answers")
    return Content.styled(f"✗ {text}{f': {remedy}' if remedy else '.'}", "$error")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".")


def _describe_call(model: "ModelStatus", now: datetime) -> Content:
    """Describe a call in two lines: its node, then its progress, which grows."""
    assert model.health is not None
    doing = model.progress
    first = [f"● {model.health.model or 'The model'}", _node_name(model.node_id)]
    second = []
    if model.pending > 1:
        first.append(f"{format.number(model.pending)} to go")
    if doing is not None:
        part = f"part {doing.part} of {doing.parts}, " if doing.parts > 1 else ""
        text = f"{part}{PHASES[doing.phase]}"
        if doing.written:
            limit = f" of at most {format.number(doing.limit)}" if doing.limit else ""
            text += f" {format.quantity(doing.written, 'token')}{limit}"
        second.append(text)
    if model.started_at is not None:
        second.append(f"for {date_format.duration(now - model.started_at)}")
    return Content("\n  ").join(Content(" · ".join(line)) for line in (first, second))


def _node_name(node_id: str) -> str:
    period = calendar.period(node_id)
    if period.level is TocLevel.SEGMENT:
        return f"a segment of {date_format.day(period.first)}"
    if period.level is TocLevel.DAY:
        return date_format.day(period.first)
    return calendar.title(node_id)
