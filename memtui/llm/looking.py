"""Looking: which server answers, which of its models summarises, and in what window."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from memtui.llm import budgets, models
from memtui.llm.faults import PULL, ModelMissing, Refused
from memtui.llm.models import Model
from memtui.llm.transport import Deadlines, Transport


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a person wants of Ollama."""

    url: str
    allowed_hosts: tuple[str, ...] = ()
    """Other machines that may be sent what was said."""
    model: str = ""
    """Its name; "" to choose."""
    window_tokens: int = 0
    """0 to choose."""
    keep_alive: str = "5m"
    """How long the model stays loaded, as Ollama writes it."""
    cpu_minutes: float = 60.0
    """How many minutes of an hour it may work without a graphics card."""
    deadlines: Deadlines = field(default_factory=Deadlines)


@dataclass(frozen=True, slots=True)
class Found:
    """A server and the model that summarises."""

    server: str
    model: Model
    window: int
    others: tuple[Model, ...] = ()
    """All that it has."""


async def look(
    transport: Transport,
    wishes: Wishes,
    windows: dict[str, int],
    avoided: Collection[str] = (),
) -> Found:
    """Look at a server.

    Args:
        transport: The connection to it.
        wishes: What is wanted.
        windows: The window of each model asked before, by its digest; kept, since
            another one would load the model anew.
        avoided: Names of models that are not to be chosen.

    Raises:
        Fault: Nobody answers, or there is no model that may summarise.
    """
    version = str((await transport.get("/api/version")).get("version", ""))
    tags, ps = await transport.get("/api/tags"), await transport.get("/api/ps")
    listed, tried = models.listed(tags, ps), set(avoided)
    while True:
        chosen = models.choose(listed, wishes.model, tried)
        shown = models.shown(
            chosen,
            await transport.post(
                "/api/show", {"model": chosen.name}, transport.deadlines.answer_s
            ),
        )
        window = windows.get(shown.digest) or models.window(shown, wishes.window_tokens)
        reason = models.objection(shown) or _too_small(window)
        if not reason:
            return Found(version, shown, window, tuple(listed))
        if shown.is_remote:
            raise Refused(f"{chosen.name} cannot summarise: {reason}")
        if wishes.model:
            said = f"{chosen.name} cannot summarise: {reason}"
            raise ModelMissing(said, f"{PULL}, and name that in summaries.model")
        tried.add(chosen.name)
        listed = [one for one in listed if one.name not in tried]


def _too_small(window: int) -> str:
    if budgets.is_large_enough(window):
        return ""
    return f"its window of {window} tokens is too small"


def loaded(found: Found) -> Found:
    """What was found, once the model is loaded in its window."""
    model = replace(found.model, is_loaded=True, loaded_window=found.window)
    return replace(found, model=model)
