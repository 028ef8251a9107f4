"""Who will do what is asked of a model, and when: said wherever a person asks."""

from memtui.model_settings import EXTRACTIVE
from memtui.paths import Paths
from memtui.settings import Settings
from memtui.stages import claim


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
        return "A memtui that works begins within a second, or the next one that does."
    if is_worked:
        return "The memtui that works begins within a second of having time for it."
    return "No memtui works now: it is done when memtui next runs."


def no_model(settings: Settings) -> str:
    """Why no model is ever asked; "" if one is, where there is one."""
    held = settings.held["summaries.provider"]
    if held.value != EXTRACTIVE:
        return ""
    return (
        f"No model is asked while summaries.provider is {EXTRACTIVE} ({held.origin}):"
        " none of this runs till then."
    )
