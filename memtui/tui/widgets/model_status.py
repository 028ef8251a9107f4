"""How what the model does is put into words, each time in several lengths.

A number is as wide as the largest it can become, so that a line does not jump while it
grows.
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
    from memtui.pipeline.progress import Model
    from memtui.services.status import Work


PHASES = {
    ModelPhase.WAITING: "waiting",
    ModelPhase.LOADING: "loading",
    ModelPhase.READING: "reading",
    ModelPhase.WRITING: "writing",
    ModelPhase.AUDITING: "checking",
}
"""What a model does, as the reader would say it."""


USUAL_TOKENS = 700
"""How long a reply can become where that is not known yet, in tokens."""


NAME_CELLS = 20
"""How long a model's name is at most; longer ones are cut."""


WANTED = {
    ModelCondition.OFFLINE: (
        "✗ no Ollama answers: start it, or install it from ollama.com",
        "✗ no Ollama answers: memtui doctor",
    ),
    ModelCondition.REFUSED: ("✗ the model may not be asked: memtui doctor",),
    ModelCondition.UNWELL: ("✗ the model is unwell: memtui doctor",),
}
"""What is said where a model was asked for and there is none."""


GONE = {
    ModelCondition.OFFLINE: "Ollama does not answer any more",
    ModelCondition.MODEL_MISSING: "the model is gone",
    ModelCondition.REFUSED: "the model may not be asked any more: memtui doctor",
    ModelCondition.UNWELL: "the model is unwell: memtui doctor",
}
"""What is said of a model that was there before."""


def fitting(model: "Model", room: int) -> str:
    """What a model does, in as many words as fit.

    What is chosen while it reads fits while it writes, too: nothing comes and goes.

    Args:
        model: The model.
        room: How many cells there are.
    """
    said, widest = forms(model), forms(_widest(model))
    for form, wide in zip(said, widest, strict=True):
        if max(len(form), len(wide)) <= room:
            return form
    return said[-1] if said and len(said[-1]) <= room else ""


def _widest(model: "Model") -> "Model":
    """The same, when it writes."""
    if model.doing is None:
        return model
    most = model.doing.limit or USUAL_TOKENS
    doing = replace(model.doing, phase=ModelPhase.WRITING, written=most, limit=most)
    return model.at(doing)


def forms(model: "Model") -> list[str]:
    """What a model does, the longest first; nothing while it rests."""
    health = model.health
    if health is None or model.doing is None:
        return _at_rest(model, health)
    name, doing = _name(health.model), model.doing
    word = PHASES[doing.phase]
    said, part, short = _measured(word, doing), "", ""
    if doing.parts > 1:
        part = f"part {doing.part} of {doing.parts}, "
        short = f" {doing.part}/{doing.parts}"
    left = _left(model.waiting) if model.waiting > 1 else ""
    return [
        f"{name}: {part}{said}{left}",
        f"{name}{short}: {said}{left}",
        f"{name}{short}: {said}",
        f"{name}: {word}",
    ]


def _measured(word: str, doing: ModelProgress) -> str:
    if doing.phase is not ModelPhase.WRITING or not doing.limit:
        return word
    most = format.number(doing.limit)
    return f"{word} {format.number(doing.written).rjust(len(most))} of {most}"


def _left(count: int) -> str:
    return f" · {format.number(count)} to go" if count else ""


def _at_rest(model: "Model", health: "ModelHealth | None") -> list[str]:
    """Why nothing is written; nothing while nothing is to be."""
    is_tired = health is not None and health.condition is ModelCondition.RESTING
    if health is not None and model.is_missed and not (is_tired and model.paused):
        return _away(model, health)
    return [f"paused{_left(model.paused)}", "paused"] if model.paused else []


def _away(model: "Model", health: "ModelHealth") -> list[str]:
    """Why a model cannot be asked that should be there."""
    if health.condition is ModelCondition.RESTING:
        until = f" until {model.until:%H:%M}" if model.until else ""
        rest, left = f"resting{until}", _left(model.waiting)
        return [f"{_name(health.model)}: {rest}{left}", rest + left, rest, "resting"]
    is_told = (
        health.condition in (ModelCondition.REFUSED, ModelCondition.UNWELL)
        and health.message
    )
    reasons = [f"{health.message}: memtui doctor", health.message] if is_told else []
    if not model.is_wanted:
        said = [*reasons, GONE[health.condition]]
    elif health.condition is ModelCondition.MODEL_MISSING:
        said = [f"✗ {health.message}: {health.remedy}", f"✗ no model: {health.remedy}"]
    else:
        said = [*(f"✗ {why}" for why in reasons), *WANTED[health.condition]]
    said.append(said[-1].partition(":")[0])
    return [one for at, one in enumerate(said) if len(one) < _shortest(said[:at])]


def _shortest(said: Sequence[str]) -> float:
    return min(map(len, said), default=math.inf)


def _name(model: str) -> str:
    """A model's name without the place it was pulled from."""
    name = model.rpartition("/")[2] or "model"
    return name if len(name) <= NAME_CELLS else f"{name[: NAME_CELLS - 1]}…"


CURES = {
    ModelCondition.OFFLINE: "Ollama is not running: start it with “ollama serve”",
    ModelCondition.REFUSED: "The model may not be asked: see “memtui doctor”",
}
"""What is said where a cure is known to be the same for all."""


LOOKED_FOR = "memtui looks for it again by itself; x on one of the jobs looks now."


NEVER = "No model is asked, see above: summaries quote what was said instead."


LATER = (
    "It waits until a model can be asked, see above. Meanwhile summaries quote what was"
    " said."
)
"""What is said of a job for which there is no model."""


def explain_missing_model(state: "Model | None", note: str, work: "Work | None") -> str:
    """What a job lacks for want of a model, in a sentence; "" if it lacks none.

    Args:
        state: What was reported of it; None where another memtui works.
        note: Why none is asked; "" if one is.
        work: What was read; it tells how another memtui has found the model.
    """
    if note:
        return NEVER
    found = work.found if work else None
    health = state.health if state is not None else None
    condition = health.condition if health else (found.condition if found else None)
    is_there = condition in (None, ModelCondition.READY, ModelCondition.RESTING)
    return "" if is_there else LATER


def describe_model(
    state: "Model | None", note: str, work: "Work | None", now: datetime
) -> Content:
    """How the model is, with its cure, and what it does now.

    Args:
        state: What was reported of it; None where another memtui works.
        note: Why none is asked; "" if one is.
        work: What was read; it tells how another memtui has found the model.
        now: The time.
    """
    if note:
        return Content(note)
    if state is None or state.health is None:
        found = work.found if work else None
        if found is None:
            return Content("Nobody has looked for a model yet.")
        health = ModelHealth(found.condition, found.says)
        seen = f" (looked at {date_format.age(found.at, now)})"
        is_ready = Content("✓ A model can be asked.")
        how = is_ready if health.is_ready else _health(health, paused=0)
        return how + Content.styled(seen, "$context")
    if not state.node_id:
        how = _health(state.health, paused=state.paused)
        if state.health.condition in (
            ModelCondition.OFFLINE,
            ModelCondition.MODEL_MISSING,
        ):
            how += Content.styled(f"\n  {LOOKED_FOR}", "$context")
        return how
    return _call(state, now)


def _health(health: ModelHealth, *, paused: int) -> Content:
    if health.is_ready:
        name = health.model or "The model"
        rest = f"{format.quantity(paused, 'segment')} paused" if paused else "at rest"
        return Content(f"✓ {name} is there, {rest}.")
    if health.condition is ModelCondition.RESTING:
        return Content(f"{_sentence(health.message or 'It rests')}.")
    says = CURES.get(health.condition) or _sentence(
        health.message or "No model answers"
    )
    cure = health.remedy
    if health.condition is ModelCondition.MODEL_MISSING:
        cure = f"“{cure or 'ollama pull qwen3:4b'}”"
    end = "." if health.condition in CURES or not cure else f": {cure}"
    return Content.styled(f"✗ {says}{end}", "$error")


def _sentence(says: str) -> str:
    return says[:1].upper() + says[1:].rstrip(".")


def _call(state: "Model", now: datetime) -> Content:
    """The call that goes on, in two lines: which node; how far, and since when.

    What grows stands in the second: what is below does not jump while it does.
    """
    assert state.health is not None
    doing, model = state.doing, state.health.model or "The model"
    which, how = [f"● {model}", of_node(state.node_id)], []
    if state.waiting > 1:
        which.append(f"{state.waiting:,} to go")
    if doing is not None:
        part = f"part {doing.part} of {doing.parts}, " if doing.parts > 1 else ""
        said = f"{part}{PHASES[doing.phase]}"
        if doing.written:
            of = f" of at most {doing.limit:,}" if doing.limit else ""
            said += f" {format.quantity(doing.written, 'token')}{of}"
        how.append(said)
    if state.began_at is not None:
        how.append(f"for {date_format.duration(now - state.began_at)}")
    return Content("\n  ").join(Content(" · ".join(one)) for one in (which, how))


def of_node(node_id: str) -> str:
    """A node as a sentence names it."""
    here = calendar.period(node_id)
    if here.level is TocLevel.SEGMENT:
        return f"a segment of {date_format.day(here.first)}"
    if here.level is TocLevel.DAY:
        return date_format.day(here.first)
    return calendar.title(node_id)
