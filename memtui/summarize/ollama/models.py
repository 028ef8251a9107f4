"""Models: which one of a server summarizes, and in what window.

The loaded one, else the largest that fits into memory. Never one that runs elsewhere or
does not write; a small one only if the settings name it.
"""

import math
import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from memtui.model.jobs import PULL
from memtui.summarize.ollama.errors import ModelNotFoundError, NotAllowedError

WINDOW_TOKENS = 8192
"""The window of a model that is not loaded yet."""

MIN_WINDOW_TOKENS = 4096
"""A smaller window has no room for a prompt and its reply."""

SMALLEST_B = 3.0
"""Billions of parameters: smaller models are not chosen."""

MEMORY_SHARE = 0.8
"""The share of the memory that a model may fill."""

NOT_LOCAL = "it does not run on this machine"


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


@dataclass(frozen=True, slots=True)
class Model:
    """A model as the server describes it."""

    name: str
    digest: str = ""
    size_b: float = 0.0
    """Billions of parameters; 0 if unknown."""
    size_bytes: int = 0
    is_remote: bool = False
    """True if it runs on another machine, such as Ollama's cloud."""
    is_loaded: bool = False
    loaded_window: int = 0
    """The window it is loaded with; 0 if it is not."""
    on_cpu: bool = False
    """True if it is loaded without any of a graphics card's memory."""
    capabilities: tuple[str, ...] = ()
    """From ``/api/show``; empty before that."""
    longest_window: int = 0
    """The most it was trained for; 0 before ``/api/show``."""

    @property
    def is_small(self) -> bool:
        return 0 < self.size_b < SMALLEST_B

    @property
    def can_think(self) -> bool:
        return "thinking" in self.capabilities

    @property
    def think_option(self) -> bool | str | None:
        """The request's ``think``; None for a model that cannot think."""
        if not self.can_think:
            return None
        # This one cannot be asked not to think.
        return "low" if self.name.rpartition("/")[2].startswith("gpt-oss") else False


# Reading what the server says

T = TypeVar("T", str, int, list[Any], dict[str, Any])


def read_field(fields: object, name: str, kind: type[T]) -> T:
    """Return a field of a server's answer; an empty value if it is of another kind."""
    value = fields.get(name) if isinstance(fields, dict) else None
    return value if isinstance(value, kind) else kind()


def parse_models(tags: object, running: object) -> list[Model]:
    """Return the models that are installed, with how each is loaded.

    Args:
        tags: The answer of ``/api/tags``.
        running: The answer of ``/api/ps``.
    """
    processes = {
        read_field(row, "model", str): row
        for row in read_field(running, "models", list)
    }
    models = []
    for row in read_field(tags, "models", list):
        name = read_field(row, "model", str)
        if not name:
            continue
        process = processes.get(name)
        video_bytes = read_field(process, "size_vram", int)
        size = read_field(read_field(row, "details", dict), "parameter_size", str)
        is_remote = bool(read_field(row, "remote_host", str))
        models.append(
            Model(
                name=name,
                digest=read_field(row, "digest", str),
                size_b=_billions(size),
                size_bytes=read_field(row, "size", int),
                is_remote=is_remote or name.endswith(("-cloud", ":cloud")),
                is_loaded=process is not None,
                loaded_window=max(read_field(process, "context_length", int), 0),
                on_cpu=process is not None and not video_bytes,
            )
        )
    return models


_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMBT])\s*", re.IGNORECASE)
_UNITS = {"K": 1e-6, "M": 1e-3, "B": 1.0, "T": 1e3}


def _billions(size: str) -> float:
    match = _SIZE.fullmatch(size)
    return float(match[1]) * _UNITS[match[2].upper()] if match else 0.0


def with_details(model: Model, details: object) -> Model:
    """Return a model with what ``/api/show`` says about it."""
    info = read_field(details, "model_info", dict)
    family = read_field(info, "general.architecture", str)
    capabilities = read_field(details, "capabilities", list)
    return replace(
        model,
        capabilities=tuple(name for name in capabilities if isinstance(name, str)),
        longest_window=max(read_field(info, f"{family}.context_length", int), 0),
    )


# Choosing


def machine_memory() -> int:
    """Return the memory of this machine in bytes; 0 if it is unknown."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0


def objection(model: Model, window: int) -> str:
    """Return why a model must not summarize in a window; "" if it may."""
    if model.is_remote:
        return NOT_LOCAL
    if model.capabilities and "completion" not in model.capabilities:
        return "it does not write"
    if window < MIN_WINDOW_TOKENS:
        return f"its window of {window} tokens is too small"
    return ""


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

    One that is loaded comes first, as another one would replace it; then the largest.

    Args:
        models: The models of the server.
        name: The model in the settings; "" to choose.
        excluded: The names of models that failed and are not to be chosen.
        memory_bytes: The memory of the server's machine; 0 if unknown.

    Raises:
        ModelNotFoundError: No model may be used, or the named one is missing.
        NotAllowedError: The one that was named does not run on this machine.
    """
    if name:
        return _find_named(models, name)
    most_bytes = MEMORY_SHARE * memory_bytes or math.inf
    suitable = [
        model
        for model in models
        if not (model.is_remote or model.is_small or model.name in excluded)
        and (model.is_loaded or model.size_bytes <= most_bytes)
    ]
    if not suitable:
        raise ModelNotFoundError("Ollama has no model that summarizes well")
    return min(
        suitable,
        key=lambda model: (
            not model.is_loaded,
            -(model.size_bytes or model.size_b),
            model.name,
        ),
    )


def _find_named(models: Sequence[Model], name: str) -> Model:
    for model in models:
        if model.name in (name, f"{name}:latest"):
            if model.is_remote:
                raise NotAllowedError(f"{name} cannot be used: {NOT_LOCAL}")
            return model
    raise ModelNotFoundError(
        f"Ollama does not have {name}", remedy=f"ollama pull {name}"
    )


def choose_window(model: Model, setting: int = 0) -> int:
    """Return the window a model is asked with: another one would reload it.

    Args:
        model: The model, with what ``/api/show`` says.
        setting: The window in the settings, in tokens; 0 to choose.
    """
    is_enough = model.loaded_window >= MIN_WINDOW_TOKENS
    tokens = setting or (model.loaded_window if is_enough else WINDOW_TOKENS)
    return min(tokens, model.longest_window or tokens)
