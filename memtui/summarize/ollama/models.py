"""Models: which one of a server summarizes, in what window and in which output mode.

Never one that runs elsewhere, or that cannot write; a small one only if the settings
name it.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from memtui.summarize.ollama import prompts
from memtui.summarize.ollama.errors import PULL, ModelNotFoundError, RemoteModelError
from memtui.summarize.ollama.prompts import PromptInput, PromptTurn

if TYPE_CHECKING:
    from ollama import ListResponse, ProcessResponse, ShowResponse

    from memtui.summarize.ollama.client import Client


PREFERRED = (
    "qwen3:8b",
    "qwen3:4b",
    "gemma3:4b",
    "gemma3:12b",
    "llama3.1:8b",
    "gpt-oss:20b",
    "qwen2.5:7b",
    "llama3.2:3b",
)
"""Models known to summarize well; the first one found is taken."""

WINDOW_TOKENS = 8192
"""The window of a model that is not loaded yet."""

LEAST_WINDOW_TOKENS = 4096
"""The smallest window that is kept if another program loaded the model with it."""

SMALLEST_B, USUAL_B = 2.0, (3.0, 9.0)
"""Billions of parameters: smaller models are not chosen; between the second two, any
model may be."""

INVENTS = ("phi4-mini", "ministral-3")
"""Models that invent too much on long texts (Vectara's leaderboard: 24 %)."""

EMBEDDING = re.compile(r"embed|\bbge\b|bge-|minilm|rerank|arctic-embed", re.IGNORECASE)
"""Names of models that only make embeddings."""


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The settings of Ollama."""

    url: str
    allowed_hosts: tuple[str, ...] = ()
    """Other machines that may be sent the text of conversations."""
    model: str = ""
    """The model's name; "" to choose."""
    window_tokens: int = 0
    """0 to choose."""
    keep_alive: str | int = "5m"
    """The time for which the model stays loaded, as Ollama writes it; a number for
    seconds."""
    timeout_s: float = 300.0
    """For how long the server may be silent, in seconds."""

    @property
    def load_keep_alive(self) -> str | int:
        """Return how long a model stays that is only loaded: 0 would unload it."""
        is_kept = any(char in "123456789" for char in str(self.keep_alive))
        return self.keep_alive if is_kept else "1m"


@dataclass(frozen=True, slots=True)
class Model:
    """A model as the server describes it."""

    name: str
    digest: str = ""
    size_b: float = 0.0
    """Billions of parameters; 0 if unknown."""
    size_bytes: int = 0
    is_loaded: bool = False
    loaded_window: int = 0
    """The window it is loaded with; 0 if it is not."""
    on_cpu: bool = False
    """True if it is loaded without any of a graphics card's memory."""
    capabilities: tuple[str, ...] = ()
    """From ``/api/show``; empty before that, and on old servers."""
    longest_window: int = 0
    """The most it was trained for; 0 before ``/api/show``."""

    @property
    def key(self) -> str:
        """The digest, so that a model that is pulled again counts as another one."""
        return self.digest or self.name

    @property
    def can_think(self) -> bool:
        """True if it can think before it writes."""
        return "thinking" in self.capabilities

    @property
    def always_thinks(self) -> bool:
        """True if its thinking can only be made shorter."""
        return self.name.rpartition("/")[2].startswith("gpt-oss")


# Reading what the server says


def parse_models(listed: "ListResponse", running: "ProcessResponse") -> list[Model]:
    """Return the models that are installed, with how each is loaded."""
    loaded = {row.model or row.name or "": row for row in running.models}
    found = []
    for row in listed.models:
        if not row.model:
            continue
        process = loaded.get(row.model)
        size = (row.details and row.details.parameter_size) or ""
        found.append(
            Model(
                name=row.model,
                digest=row.digest or "",
                size_b=_billions(size),
                size_bytes=row.size or 0,
                is_loaded=process is not None,
                loaded_window=max((process and process.context_length) or 0, 0),
                on_cpu=process is not None and not process.size_vram,
            )
        )
    return found


_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMBT])\s*", re.IGNORECASE)
_UNITS = {"K": 1e-6, "M": 1e-3, "B": 1.0, "T": 1e3}


def _billions(size: str) -> float:
    found = _SIZE.fullmatch(size)
    return float(found[1]) * _UNITS[found[2].upper()] if found else 0.0


def with_details(model: Model, shown: "ShowResponse") -> Model:
    """Return a model with what ``/api/show`` says about it."""
    info = shown.modelinfo or {}
    family = info.get("general.architecture", "")
    longest = info.get(f"{family}.context_length")
    return replace(
        model,
        capabilities=tuple(shown.capabilities or ()),
        longest_window=longest if isinstance(longest, int) and longest > 0 else 0,
    )


# Choosing


def objection(model: Model) -> str:
    """Return why a model must never summarize; "" if it may."""
    name = model.name.rpartition("/")[2]
    if name.endswith(("-cloud", ":cloud")):
        return "it does not run on this machine"
    if EMBEDDING.search(name):
        return "it only makes embeddings"
    if model.capabilities and "completion" not in model.capabilities:
        return "it does not write"
    return ""


def size_warning(model: Model) -> str:
    """Return a warning about a model that is used though it is small; else ""."""
    if not _is_small(model):
        return ""
    return (
        f"{model.name} is small: with {model.size_b:g}B parameters, many of its"
        f" summaries are no better than extracts, and not shown; try: {PULL}"
    )


def _is_small(model: Model) -> bool:
    return 0 < model.size_b < SMALLEST_B


def choose(
    models: Sequence[Model], name: str = "", excluded: Collection[str] = ()
) -> Model:
    """Return the model that summarizes.

    Args:
        models: The models of the server.
        name: The model in the settings; "" to choose.
        excluded: The keys of models that failed and are not to be chosen.

    Raises:
        ModelNotFoundError: No model may be used, or the named one is missing.
        RemoteModelError: The one that was named does not run on this machine.
    """
    if name:
        return _named(models, name)
    able = [
        one
        for one in models
        if not objection(one)
        and not _is_small(one)
        and one.key not in excluded
        and not one.name.rpartition("/")[2].startswith(INVENTS)
    ]
    loaded = sorted((one for one in able if one.is_loaded), key=_rank)
    known = sorted((one for one in able if _rank(one) < len(PREFERRED)), key=_rank)
    usual = sorted(
        (one for one in able if USUAL_B[0] <= one.size_b <= USUAL_B[1]),
        key=lambda one: (one.size_b, one.name),
    )
    for found in (loaded, known, usual):
        if found:
            return found[0]
    raise ModelNotFoundError("Ollama has no model that summarizes well")


def _named(models: Sequence[Model], name: str) -> Model:
    for model in models:
        if model.name in (name, f"{name}:latest"):
            if model.name.endswith(("-cloud", ":cloud")):
                raise RemoteModelError(f"{name} does not run on this machine")
            return model
    raise ModelNotFoundError(f"Ollama does not have {name}", f"ollama pull {name}")


def _rank(model: Model) -> int:
    name = model.name.removeprefix("library/")
    for rank, known in enumerate(PREFERRED):
        if name == known or name.startswith(f"{known}-"):
            return rank
    return len(PREFERRED)


def smaller(models: Sequence[Model], than: Model) -> list[Model]:
    """Return the models that need less memory than one, as far as is known."""
    return [one for one in models if 0 < one.size_bytes < than.size_bytes]


def window(model: Model, setting: int = 0, last: int = 0) -> int:
    """Return the one window a model is asked with: another one would reload it.

    Args:
        model: The model, with what ``/api/show`` says.
        setting: The window in the settings, in tokens; 0 to choose.
        last: The window it was last asked in; 0 if unknown.
    """
    is_enough = model.loaded_window >= LEAST_WINDOW_TOKENS
    chosen = model.loaded_window if is_enough else last or WINDOW_TOKENS
    tokens = setting or chosen
    return min(tokens, model.longest_window or tokens)


# Discovery


@dataclass(frozen=True, slots=True)
class Discovery:
    """A server and the model that summarizes."""

    server: str
    """The server's version."""
    model: Model
    window: int
    models: tuple[Model, ...] = ()
    """All models that could be chosen."""


async def discover(
    client: "Client",
    options: ModelOptions,
    windows: Mapping[str, int],
    excluded: Collection[str] = (),
) -> Discovery:
    """Ask a server for its models, and choose one.

    Args:
        client: The connection to the server.
        options: The settings.
        windows: The window each model was last asked in, by its digest, for those that
            are not loaded: a loaded model is used in the window it has.
        excluded: The keys of models that are not to be chosen.

    Raises:
        OllamaError: No server answers, or there is no model that may summarize.
    """
    version = await client.version()
    found = parse_models(await client.models(), await client.running())
    tried = set(excluded)
    while True:
        model = choose(found, options.model, tried)
        try:
            model = with_details(model, await client.show(model.name))
        except RemoteModelError:
            if options.model:
                message = f"{model.name} does not run on this machine"
                raise RemoteModelError(message) from None
            reason = "it does not run on this machine"
        else:
            last = windows.get(model.digest, 0)
            tokens = window(model, options.window_tokens, last)
            reason = objection(model)
            if not reason and not prompts.is_window_usable(tokens):
                reason = f"its window of {tokens} tokens is too small"
            if not reason:
                return Discovery(version, model, tokens, tuple(found))
        if options.model:
            raise ModelNotFoundError(
                f"{model.name} cannot summarize: {reason}",
                f"{PULL}, and name that in summaries.model",
            )
        tried.add(model.key)
        found = [one for one in found if one.key not in tried]


# Output modes


class OutputMode(StrEnum):
    """A way to make a model keep to the schema of a reply.

    On some versions of Ollama a model that must not think is not held to a schema
    either; others support no schema at all. The mode is found out once for a version
    and a model, best first.
    """

    SCHEMA = "schema"
    """It does not think, and the server enforces the schema."""
    SCHEMA_THINKING = "schema-thinking"
    """It thinks, and the server enforces the schema."""
    LENIENT = "lenient"
    """The prompt shows the shape; nothing enforces it."""

    @property
    def has_schema(self) -> bool:
        """True if the server enforces the schema."""
        return self is not OutputMode.LENIENT


@dataclass(frozen=True, slots=True)
class Capability:
    """The output mode that was found out for a model on a server."""

    server: str
    digest: str
    mode: OutputMode


TEST_LOG = PromptInput(
    (
        PromptTurn(
            (0,), "user", "The nightly build is red since 9:40, please look at it."
        ),
        PromptTurn(
            (1,), "assistant", "Pinned numpy to 1.26 in setup.cfg; it is green again."
        ),
    ),
    bullets=(1, 2),
    period="day",
)
"""The log that a model summarizes to test its output mode."""


def output_modes(model: Model) -> Iterator[OutputMode]:
    """Return the output modes to try, best first."""
    if not model.always_thinks:
        yield OutputMode.SCHEMA
    if model.can_think or model.always_thinks:
        yield OutputMode.SCHEMA_THINKING
    yield OutputMode.LENIENT


def matches_schema(text: str) -> bool:
    """Return True if a reply to ``TEST_LOG`` matches the schema exactly."""
    try:
        bullets = json.loads(text)["bullets"]
        return bool(bullets) and all(
            isinstance(one["text"], str)
            and one["refs"]
            and all(isinstance(n, int) and 1 <= n <= 2 for n in one["refs"])
            for one in bullets
        )
    except (ValueError, RecursionError, KeyError, TypeError):
        return False


def think_option(model: Model, mode: OutputMode) -> bool | str | None:
    """Return the request's ``think``; None for a model that cannot think."""
    if model.always_thinks:
        return "low"
    return mode is OutputMode.SCHEMA_THINKING if model.can_think else None
