"""How the model is put into words where there is room: how it is, and its call."""

from datetime import datetime
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.memory import calendar
from memtui.memory.summarizers import Condition, Health
from memtui.memory.toc import TocLevel
from memtui.widgets import model_words, wording

if TYPE_CHECKING:
    from memtui.recall.works import Work
    from memtui.stages.progress import Model

CURES = {
    Condition.OFFLINE: "Ollama is not running: start it with “ollama serve”",
    Condition.REFUSED: "The model may not be asked: see “memtui doctor”",
}
"""What is said where a cure is known to be the same for all."""

LOOKED_FOR = "memtui looks for it again by itself; x on one of the jobs looks now."

NEVER = "No model is asked, see above: summaries quote what was said instead."
LATER = (
    "It waits until a model can be asked, see above. Meanwhile summaries quote what was"
    " said."
)
"""What is said of a job for which there is no model."""


def lack(state: "Model | None", note: str, work: "Work | None") -> str:
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
    is_there = condition in (None, Condition.READY, Condition.RESTING)
    return "" if is_there else LATER


def told(
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
        health = Health(found.condition, found.says)
        seen = f" (looked at {wording.ago(found.at, now)})"
        is_ready = Content("✓ A model can be asked.")
        how = is_ready if health.is_ready else _health(health, paused=0)
        return how + Content.styled(seen, "$context")
    if not state.node_id:
        how = _health(state.health, paused=state.paused)
        if state.health.condition in (Condition.OFFLINE, Condition.MODEL_MISSING):
            how += Content.styled(f"\n  {LOOKED_FOR}", "$context")
        return how
    return _call(state, now)


def _health(health: Health, *, paused: int) -> Content:
    if health.is_ready:
        name = health.model or "The model"
        rest = f"{wording.counted(paused, 'segment')} paused" if paused else "at rest"
        return Content(f"✓ {name} is there, {rest}.")
    if health.condition is Condition.RESTING:
        return Content(f"{_sentence(health.says or 'It rests')}.")
    says = CURES.get(health.condition) or _sentence(health.says or "No model answers")
    cure = health.cure
    if health.condition is Condition.MODEL_MISSING:
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
        said = f"{part}{model_words.PHASES[doing.phase]}"
        if doing.written:
            of = f" of at most {doing.most:,}" if doing.most else ""
            said += f" {wording.counted(doing.written, 'token')}{of}"
        how.append(said)
    if state.began_at is not None:
        seconds = (now - state.began_at).total_seconds()
        how.append(f"for {wording.took(max(0.0, seconds))}")
    return Content("\n  ").join(Content(" · ".join(one)) for one in (which, how))


def of_node(node_id: str) -> str:
    """A node as a sentence names it."""
    here = calendar.period(node_id)
    if here.level is TocLevel.SEGMENT:
        return f"a segment of {wording.short_day(here.first)}"
    if here.level is TocLevel.DAY:
        return wording.short_day(here.first)
    return calendar.title(node_id)
