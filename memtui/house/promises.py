"""Who will do what is asked of a model, and when: said wherever a person asks."""

from memtui.memory.summarizers import Condition, Promise
from memtui.paths import Paths
from memtui.settings import Settings
from memtui.settings.models import EXTRACTIVE
from memtui.stages import claim
from memtui.stages.progress import Model, Progress

NEXT, AFTER = "It is next.", "It comes after the one being written."
"""When the app that works does it itself."""


def is_worked(places: Paths) -> bool | None:
    """Whether a memtui works this store; None on a system that does not tell."""
    holder = claim.holder(places.claim)
    return None if holder is None else bool(holder)


def told(settings: Settings, is_worked: bool | None) -> str:
    """Who will do what was asked for, and when.

    Args:
        settings: They say whether a model is asked at all.
        is_worked: Whether a memtui works this store; None if that is not known.
    """
    if note := no_model(settings):
        return note
    if is_worked is None:
        return "It comes next where a memtui is at work, or once one is."
    if is_worked:
        return "It comes next in the memtui that is at work."
    return "No memtui works now: it is done when memtui next runs."


def of_running(
    settings: Settings, progress: Progress | None, *, is_demo: bool = False
) -> Promise:
    """The same in the app, which works itself or sees that another memtui does.

    Args:
        settings: They say whether a model is asked at all.
        progress: What was last reported, if anything was.
        is_demo: Whether this is the made-up memory, for which none is asked.
    """
    if is_demo:
        return Promise("The demo asks no model.", is_kept=False)
    if note := no_model(settings):
        return Promise(note, is_kept=False)
    if progress is not None and not progress.is_ours:
        return Promise(told(settings, is_worked=True))
    model = progress.model if progress is not None else Model()
    health = model.health
    if health is None or health.is_ready:
        return Promise(AFTER if model.node_id else NEXT)
    why = f"{health.says[:1].upper()}{health.says[1:]}."
    return Promise(f"{why} {_CURES.get(health.condition, _WAIT)}", is_kept=False)


_WAIT = "It is tried again by itself."
_CURES = {
    Condition.OFFLINE: "Start Ollama (ollama serve); the rest goes by itself then.",
    Condition.MODEL_MISSING: "Once it is there, the rest goes by itself.",
    Condition.REFUSED: "Change that in the settings; see memtui config show.",
}
"""What to do when a model cannot be asked."""


def no_model(settings: Settings) -> str:
    """Why no model is ever asked; "" if one is, where there is one."""
    held = settings.held["summaries.provider"]
    if held.value != EXTRACTIVE:
        return ""
    return (
        f"No model is asked while summaries.provider is {EXTRACTIVE} ({held.origin});"
        " with auto one is, where there is one."
    )
