"""Models: which of those on a server may summarise, and which one does.

Never one that runs elsewhere, none that cannot write or is too small to be trusted
with facts.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memtui.llm.faults import ModelMissing, Refused

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
"""Models known to summarise well, the first one found is taken."""


WINDOW_TOKENS = 8192
"""The window of a model that nobody else has loaded."""


LEAST_WINDOW_TOKENS = 2048
"""A window that somebody else loaded a model with is taken over from here on."""


SMALLEST_B, USUAL_B = 2.0, (3.0, 9.0)
"""Billions of parameters: fewer are not asked; between these, any model may be."""


INVENTS = ("phi4-mini", "ministral-3")
"""Models that invent too much on long texts (Vectara's leaderboard: 24 %)."""


EMBEDS = re.compile(r"embed|\bbge\b|bge-|minilm|rerank|arctic-embed", re.IGNORECASE)
"""Names of models that only turn texts into numbers."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model as the server tells of it."""

    name: str
    digest: str = ""
    size_b: float = 0.0
    """Billions of parameters; 0 if the server does not tell."""
    size_bytes: int = 0
    is_remote: bool = False
    """Whether it runs on another machine, the cloud's or any."""
    is_loaded: bool = False
    loaded_window: int = 0
    """The window it is loaded with; 0 if it is not."""
    on_cpu: bool = False
    """Whether it is loaded without any of a graphics card's memory."""
    capabilities: tuple[str, ...] = ()
    """What ``/api/show`` says it can; empty while not asked, and on old servers."""
    longest_window: int = 0
    """The most it was trained for; 0 while not asked."""

    @property
    def key(self) -> str:
        """What it is known by from one look to the next: pulled anew, it is another."""
        return self.digest or self.name

    @property
    def thinks(self) -> bool:
        """Whether it can think before it writes."""
        return "thinking" in self.capabilities

    @property
    def thinks_always(self) -> bool:
        """Whether its thinking can only be made shorter."""
        return self.name.rpartition("/")[2].startswith("gpt-oss")


def listed(tags: Mapping[str, Any], ps: Mapping[str, Any]) -> list[Model]:
    """The models that ``/api/tags`` lists, with what ``/api/ps`` says is loaded."""
    running = {_name(one): one for one in _rows(ps)}
    return [_model(one, running.get(_name(one))) for one in _rows(tags) if _name(one)]


def runs_on_cpu(ps: Mapping[str, Any], name: str) -> bool:
    """Whether ``/api/ps`` lists a model as loaded without a graphics card."""
    running = (one for one in _rows(ps) if _name(one) == name)
    return any(not _count(one.get("size_vram")) for one in running)


def _rows(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows = answer.get("models")
    return (
        [one for one in rows if isinstance(one, dict)] if isinstance(rows, list) else []
    )


def _name(row: Mapping[str, Any]) -> str:
    return str(row.get("model") or row.get("name") or "")


def _model(row: Mapping[str, Any], running: Mapping[str, Any] | None) -> Model:
    name = _name(row)
    details = row.get("details")
    size = str(details.get("parameter_size", "")) if isinstance(details, dict) else ""
    window = _count(running.get("context_length")) if running else 0
    return Model(
        name=name,
        digest=str(row.get("digest") or ""),
        size_b=_billions(size),
        size_bytes=_count(row.get("size")),
        is_remote=_is_remote(row, name),
        is_loaded=running is not None,
        loaded_window=window,
        on_cpu=running is not None and not _count(running.get("size_vram")),
    )


def _is_remote(row: Mapping[str, Any], name: str) -> bool:
    named = row.get("remote_host") or row.get("remote_model")
    return bool(named) or name.endswith(("-cloud", ":cloud"))


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMBT])\s*", re.IGNORECASE)


_UNITS = {"K": 1e-6, "M": 1e-3, "B": 1.0, "T": 1e3}


def _billions(size: str) -> float:
    found = _SIZE.fullmatch(size)
    return float(found[1]) * _UNITS[found[2].upper()] if found else 0.0


def shown(model: Model, show: Mapping[str, Any]) -> Model:
    """A model with what ``/api/show`` tells of it."""
    told, info = show.get("capabilities"), show.get("model_info")
    facts = info if isinstance(info, dict) else {}
    family = facts.get("general.architecture", "")
    return replace(
        model,
        is_remote=model.is_remote or bool(show.get("remote_host")),
        capabilities=tuple(map(str, told)) if isinstance(told, list) else (),
        longest_window=_count(facts.get(f"{family}.context_length")),
    )


def objection(model: Model) -> str:
    """Why a model must never summarise; "" if it may."""
    name = model.name.rpartition("/")[2]
    if model.is_remote:
        return "it does not run on this machine"
    if EMBEDS.search(name):
        return "it only makes embeddings"
    if model.capabilities and "completion" not in model.capabilities:
        return "it does not write"
    if 0 < model.size_b < SMALLEST_B:
        return f"with {model.size_b:g}B parameters it is too small to be trusted"
    return ""


def choose(
    models: Sequence[Model], wanted: str = "", avoided: Collection[str] = ()
) -> Model:
    """The model that summarises.

    Args:
        models: What the server has.
        wanted: The model a person named; "" to choose.
        avoided: The keys of models that failed and are not to be chosen.

    Raises:
        ModelMissing: There is none that may, or not the one that was named.
        Refused: The one that was named must not.
    """
    if wanted:
        return _named(models, wanted)
    able = [
        one
        for one in models
        if not objection(one) and one.key not in avoided and not _invents(one)
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
    raise ModelMissing("Ollama has no model that summarises well")


def _named(models: Sequence[Model], wanted: str) -> Model:
    for model in models:
        if model.name in (wanted, f"{wanted}:latest"):
            if model.is_remote:
                raise Refused(f"{wanted} does not run on this machine")
            return model
    raise ModelMissing(f"Ollama does not have {wanted}", f"ollama pull {wanted}")


def _rank(model: Model) -> int:
    name = model.name.removeprefix("library/")
    for rank, known in enumerate(PREFERRED):
        if name == known or name.startswith(f"{known}-"):
            return rank
    return len(PREFERRED)


def _invents(model: Model) -> bool:
    return model.name.rpartition("/")[2].startswith(INVENTS)


def smaller(models: Sequence[Model], than: Model) -> list[Model]:
    """The models that need less memory than one, as far as the server tells."""
    return [one for one in models if 0 < one.size_bytes < than.size_bytes]


def window(model: Model, wanted: int = 0) -> int:
    """The one window a model is asked with: another one would load it anew.

    Args:
        model: The model, with what ``/api/show`` tells.
        wanted: The window a person named, in tokens; 0 to choose.
    """
    is_enough = model.loaded_window >= LEAST_WINDOW_TOKENS
    asked = wanted or (model.loaded_window if is_enough else WINDOW_TOKENS)
    return min(asked, model.longest_window or asked)
