"""How what the model does is put into words, each time in several lengths.

A number is as wide as the largest it can become, so that a line does not jump while it
grows.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from memtui.memory.summarizers import Condition, Doing, Phase
from memtui.widgets import wording

if TYPE_CHECKING:
    from memtui.memory.summarizers import Health
    from memtui.stages.progress import Model

PHASES = {
    Phase.WAITING: "waiting",
    Phase.LOADING: "loading",
    Phase.READING: "reading",
    Phase.WRITING: "writing",
    Phase.AUDITING: "checking",
}
"""What a model does, as the reader would say it."""

USUAL_TOKENS = 700
"""How long a reply can become where that is not known yet, in tokens."""

NAME_CELLS = 20
"""How long a model's name is at most; longer ones are cut."""

WANTED = {
    Condition.OFFLINE: (
        "✗ no Ollama answers: start it, or install it from ollama.com",
        "✗ no Ollama answers: memtui doctor",
    ),
    Condition.REFUSED: ("✗ the model may not be asked: memtui doctor",),
    Condition.UNWELL: ("✗ the model is unwell: memtui doctor",),
}
"""What is said where a model was asked for and there is none."""

GONE = {
    Condition.OFFLINE: "Ollama does not answer any more",
    Condition.MODEL_MISSING: "the model is gone",
    Condition.REFUSED: "the model may not be asked any more: memtui doctor",
    Condition.UNWELL: "the model is unwell: memtui doctor",
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
    most = model.doing.most or USUAL_TOKENS
    doing = replace(model.doing, phase=Phase.WRITING, written=most, most=most)
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


def _measured(word: str, doing: Doing) -> str:
    if doing.phase is not Phase.WRITING or not doing.most:
        return word
    most = wording.count(doing.most)
    return f"{word} {wording.count(doing.written).rjust(len(most))} of {most}"


def _left(count: int) -> str:
    return f" · {wording.count(count)} to go" if count else ""


def _at_rest(model: "Model", health: "Health | None") -> list[str]:
    """Why nothing is written; nothing while nothing is to be."""
    is_tired = health is not None and health.condition is Condition.RESTING
    if health is not None and model.is_missed and not (is_tired and model.paused):
        return _away(model, health)
    return [f"paused{_left(model.paused)}", "paused"] if model.paused else []


def _away(model: "Model", health: "Health") -> list[str]:
    """Why a model cannot be asked that should be there."""
    if health.condition is Condition.RESTING:
        until = f" until {model.until:%H:%M}" if model.until else ""
        rest, left = f"resting{until}", _left(model.waiting)
        return [f"{_name(health.model)}: {rest}{left}", rest + left, rest, "resting"]
    is_told = health.condition in (Condition.REFUSED, Condition.UNWELL) and health.says
    reasons = [f"{health.says}: memtui doctor", health.says] if is_told else []
    if not model.is_wanted:
        said = [*reasons, GONE[health.condition]]
    elif health.condition is Condition.MODEL_MISSING:
        said = [f"✗ {health.says}: {health.cure}", f"✗ no model: {health.cure}"]
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
