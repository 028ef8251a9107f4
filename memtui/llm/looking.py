"""Looking: which server answers, which of its models summarises, and in what window."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memtui.llm import budgets, models
from memtui.llm.faults import PULL, ModelMissing, Refused
from memtui.llm.models import Model
from memtui.llm.transport import Deadlines, Transport

KEPT_TO_LOAD = "1m"
"""How long a model is kept at first that is not to be kept: until it is asked."""


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
    keep_alive: str | int = "5m"
    """How long the model stays loaded, as Ollama writes it; a number for seconds."""
    cpu_minutes: float = 15.0
    """How many minutes of an hour it may work without a graphics card."""
    deadlines: Deadlines = field(default_factory=Deadlines)

    @property
    def loads_for(self) -> str | int:
        """How long a model stays that is only loaded: what it runs on is looked at."""
        is_kept = any(char in "123456789" for char in str(self.keep_alive))
        return self.keep_alive if is_kept else KEPT_TO_LOAD


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
    windows: Mapping[str, int],
    avoided: Collection[str] = (),
    poor: Collection[str] = (),
) -> Found:
    """Look at a server.

    Args:
        transport: The connection to it.
        wishes: What is wanted.
        windows: The window each model was last asked in, by its digest, for those
            that are not loaded: what is loaded is taken as it is.
        avoided: The keys of models that are not to be chosen.
        poor: The keys of those that are, if there is no other.

    Raises:
        Fault: Nobody answers, or there is no model that may summarise.
    """
    version = str((await transport.get("/api/version")).get("version", ""))
    tags, ps = await transport.get("/api/tags"), await transport.get("/api/ps")
    listed, tried = models.listed(tags, ps), set(avoided)
    while True:
        chosen = _chosen(listed, wishes.model, tried, poor)
        shown = models.shown(
            chosen,
            await transport.post(
                "/api/show", {"model": chosen.name}, transport.deadlines.answer_s
            ),
        )
        window = _window(shown, wishes.window_tokens, windows)
        reason = models.objection(shown) or _too_small(window)
        if not reason:
            return Found(version, shown, window, tuple(listed))
        if shown.is_remote:
            raise Refused(f"{chosen.name} cannot summarise: {reason}")
        if wishes.model:
            said = f"{chosen.name} cannot summarise: {reason}"
            raise ModelMissing(said, f"{PULL}, and name that in summaries.model")
        tried.add(chosen.key)
        listed = [one for one in listed if one.key not in tried]


def _chosen(
    listed: Sequence[Model], wanted: str, tried: Collection[str], poor: Collection[str]
) -> Model:
    try:
        return models.choose(listed, wanted, {*tried, *poor})
    except ModelMissing:
        return models.choose(listed, wanted, tried)


def _window(shown: Model, wanted: int, windows: Mapping[str, int]) -> int:
    """The window it is loaded with, unless that is too small or another is wanted."""
    loaded = shown.loaded_window >= models.LEAST_WINDOW_TOKENS
    known = 0 if wanted or loaded else windows.get(shown.digest, 0)
    return known or models.window(shown, wanted)


def _too_small(window: int) -> str:
    if budgets.is_large_enough(window):
        return ""
    return f"its window of {window} tokens is too small"


async def loaded(transport: Transport, found: Found) -> Found:
    """What was found, now that the model is loaded in its window, and on what it runs.

    Raises:
        Fault: The server does not say.
    """
    ps = await transport.get("/api/ps")
    model = replace(
        found.model,
        is_loaded=True,
        loaded_window=found.window,
        on_cpu=models.runs_on_cpu(ps, found.model.name),
    )
    return replace(found, model=model)
