"""Models: which one of a server summarizes, and in what window.

The loaded one, else the largest that fits into memory. Never one that runs elsewhere or
only makes embeddings; a small one only if the settings name it.
"""

import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memtui.summarize.ollama import prompts
from memtui.summarize.ollama.errors import (
    PULL,
    ModelNotFoundError,
    OldServerError,
    RemoteModelError,
)

if TYPE_CHECKING:
    from ollama import ListResponse, ProcessResponse, ShowResponse

    from memtui.summarize.ollama.client import Client


OLDEST_SERVER = (0, 5)
"""The first version of Ollama that holds a model to a JSON schema."""

UPDATE = "update Ollama (ollama.com/download)"
"""Advice if the server is too old."""

WINDOW_TOKENS = 8192
"""The window of a model that is not loaded yet."""

LEAST_WINDOW_TOKENS = 4096
"""The smallest window that is kept if another program loaded the model with it."""

SMALLEST_B = 3.0
"""Billions of parameters: smaller models are not chosen."""

MEMORY_SHARE = 0.8
"""The share of the memory that a model may fill."""

_EMBEDS = re.compile(r"embed|\bbge\b|bge-|minilm|rerank", re.IGNORECASE)
"""Names of models that only make embeddings: old servers do not tell."""

_ALWAYS_THINKS = re.compile(r"gpt-oss|think|reason", re.IGNORECASE)
"""Names of models that cannot be asked not to think."""

_THINKS_ANYWAY = re.compile(r"qwen3:4b(?!-instruct)", re.IGNORECASE)
"""Names of models that think although they are asked not to."""


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
    def base_name(self) -> str:
        """The name without the namespace or host before it."""
        return self.name.rpartition("/")[2]

    @property
    def key(self) -> str:
        """The digest, so that a model that is pulled again counts as another one."""
        return self.digest or self.name

    @property
    def always_thinks(self) -> bool:
        """True if it cannot be asked not to think."""
        return bool(_ALWAYS_THINKS.search(self.base_name))

    @property
    def is_small(self) -> bool:
        return 0 < self.size_b < SMALLEST_B

    @property
    def think_option(self) -> bool | str | None:
        """The request's ``think``; None for a model that cannot think."""
        if self.base_name.startswith("gpt-oss"):
            return "low"
        return False if "thinking" in self.capabilities else None


# Reading what the server says


def check_version(version: str) -> None:
    """Check that a server can hold a model to a schema.

    Raises:
        OldServerError: It is too old.
    """
    numbers = re.match(r"(\d+)\.(\d+)\.?(\d*)", version)
    parts = tuple(int(number or 0) for number in numbers.groups()) if numbers else ()
    # A server that was built from source has the version 0.0.0.
    if any(parts) and parts < OLDEST_SERVER:
        raise OldServerError(
            f"Ollama {version} cannot hold a model to a JSON schema, which takes"
            f" version {'.'.join(map(str, OLDEST_SERVER))} or newer"
        )


def parse_models(listed: "ListResponse", running: "ProcessResponse") -> list[Model]:
    """Return the models that are installed, with how each is loaded."""
    loaded = {row.model or row.name or "": row for row in running.models}
    models = []
    for row in listed.models:
        if not row.model:
            continue
        process = loaded.get(row.model)
        size = (row.details and row.details.parameter_size) or ""
        models.append(
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
    return models


_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMBT])\s*", re.IGNORECASE)
_UNITS = {"K": 1e-6, "M": 1e-3, "B": 1.0, "T": 1e3}


def _billions(size: str) -> float:
    match = _SIZE.fullmatch(size)
    return float(match[1]) * _UNITS[match[2].upper()] if match else 0.0


def with_details(model: Model, details: "ShowResponse") -> Model:
    """Return a model with what ``/api/show`` says about it."""
    info = details.modelinfo or {}
    family = info.get("general.architecture", "")
    longest = info.get(f"{family}.context_length")
    return replace(
        model,
        capabilities=tuple(details.capabilities or ()),
        longest_window=longest if isinstance(longest, int) and longest > 0 else 0,
    )


# Choosing


def machine_memory() -> int:
    """Return the memory of this machine in bytes; 0 if it is unknown."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0


def objection(model: Model) -> str:
    """Return why a model must never summarize; "" if it may."""
    if _is_remote(model):
        return "it does not run on this machine"
    if _EMBEDS.search(model.base_name):
        return "it only makes embeddings"
    if model.capabilities and "completion" not in model.capabilities:
        return "it does not write"
    return ""


def _is_remote(model: Model) -> bool:
    return model.name.endswith(("-cloud", ":cloud"))


def size_warning(model: Model) -> str:
    """Return a warning about a model that is used though it is small; else ""."""
    if not model.is_small:
        return ""
    return (
        f"{model.name} is small: with {model.size_b:g}B parameters, its summaries are"
        f" often wrong or no better than extracts; try: {PULL}"
    )


def choose(
    models: Sequence[Model],
    name: str = "",
    excluded: Collection[str] = (),
    memory_bytes: int = 0,
) -> Model:
    """Return the model that summarizes.

    One that is loaded comes first, as another one would replace it; then the largest,
    and last those that always think.

    Args:
        models: The models of the server.
        name: The model in the settings; "" to choose.
        excluded: The keys of models that failed and are not to be chosen.
        memory_bytes: The memory of the server's machine; 0 if unknown.

    Raises:
        ModelNotFoundError: No model may be used, or the named one is missing.
        RemoteModelError: The one that was named does not run on this machine.
    """
    if name:
        return _named(models, name)
    suitable = [
        model
        for model in models
        if not objection(model)
        and not model.is_small
        and model.key not in excluded
        and _fits(model, memory_bytes)
    ]
    if not suitable:
        raise ModelNotFoundError("Ollama has no model that summarizes well")
    return min(suitable, key=_rank)


def _rank(model: Model) -> tuple[bool, bool, float, str]:
    return (
        not model.is_loaded,
        model.always_thinks or bool(_THINKS_ANYWAY.match(model.name)),
        -(model.size_bytes or model.size_b),
        model.name,
    )


def _fits(model: Model, memory_bytes: int) -> bool:
    """Return whether a model fits into memory, as far as is known."""
    is_unknown = not memory_bytes or not model.size_bytes
    fits = model.size_bytes <= MEMORY_SHARE * memory_bytes
    return is_unknown or model.is_loaded or fits


def _named(models: Sequence[Model], name: str) -> Model:
    for model in models:
        if model.name in (name, f"{name}:latest"):
            if _is_remote(model):
                raise RemoteModelError(f"{name} does not run on this machine")
            return model
    raise ModelNotFoundError(f"Ollama does not have {name}", f"ollama pull {name}")


def smaller(models: Sequence[Model], than: Model) -> list[Model]:
    """Return the models that need less memory than one, as far as is known."""
    return [model for model in models if 0 < model.size_bytes < than.size_bytes]


def window(model: Model, setting: int = 0) -> int:
    """Return the window a model is asked with: another one would reload it.

    Args:
        model: The model, with what ``/api/show`` says.
        setting: The window in the settings, in tokens; 0 to choose.
    """
    is_enough = model.loaded_window >= LEAST_WINDOW_TOKENS
    tokens = setting or (model.loaded_window if is_enough else WINDOW_TOKENS)
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
    excluded: Collection[str] = (),
) -> Discovery:
    """Ask a server for its models, and choose one.

    Args:
        client: The connection to the server.
        options: The settings.
        excluded: The keys of models that are not to be chosen.

    Raises:
        OllamaError: No server answers, or there is no model that may summarize.
    """
    version = await client.version()
    check_version(version)
    installed = parse_models(await client.models(), await client.running())
    memory_bytes = machine_memory() if client.is_local else 0
    tried = set(excluded)
    while True:
        model = choose(installed, options.model, tried, memory_bytes)
        try:
            model = with_details(model, await client.show(model.name))
        except RemoteModelError:
            if options.model:
                message = f"{model.name} does not run on this machine"
                raise RemoteModelError(message) from None
            reason = "it does not run on this machine"
        else:
            tokens = window(model, options.window_tokens)
            reason = objection(model)
            if not reason and not prompts.is_window_usable(tokens):
                reason = f"its window of {tokens} tokens is too small"
            if not reason:
                return Discovery(version, model, tokens, tuple(installed))
        if options.model:
            raise ModelNotFoundError(
                f"{model.name} cannot summarize: {reason}",
                f"{PULL}, and name that in summaries.model",
            )
        tried.add(model.key)
        installed = [model for model in installed if model.key not in tried]
