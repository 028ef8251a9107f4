"""Probing: how a model is held to the schema, found out once and remembered.

On some versions a model that must not think is not held to a schema either; others
know no schema at all. What is found holds for one server version and one model.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from memtui.llm import prompts
from memtui.llm.models import Model
from memtui.llm.prompts import Log, Turn


class Mode(StrEnum):
    """How a model is asked."""

    QUIET = "A"
    """It does not think, and keeps to the schema."""
    THINKING = "B"
    """It thinks, and keeps to the schema."""
    LENIENT = "C"
    """It is shown the shape and held to nothing."""

    @property
    def has_schema(self) -> bool:
        """Whether the server holds the model to the schema."""
        return self is not Mode.LENIENT


@dataclass(frozen=True, slots=True)
class Capability:
    """What was found out about a model on a server."""

    server: str
    digest: str
    mode: Mode


LOG = Log(
    (
        Turn((0,), "user", "The nightly build is red since 9:40, please look at it."),
        Turn(
            (1,), "assistant", "Pinned numpy to 1.26 in setup.cfg; it is green again."
        ),
    ),
    bullets=(1, 2),
)
"""What a model is asked about to see how it answers."""


def modes(model: Model) -> Iterator[Mode]:
    """The modes to try, the best one first."""
    if not model.thinks_always:
        yield Mode.QUIET
    if model.thinks or model.thinks_always:
        yield Mode.THINKING
    yield Mode.LENIENT


def keeps_shape(text: str) -> bool:
    """Whether a reply to the probe is what the schema wants, and nothing else."""
    try:
        value = json.loads(text)
        bullets = value["bullets"]
        return bool(bullets) and all(
            isinstance(one["text"], str)
            and one["refs"]
            and all(isinstance(n, int) and 1 <= n <= 2 for n in one["refs"])
            for one in bullets
        )
    except (ValueError, RecursionError, KeyError, TypeError):
        return False


def think(model: Model, mode: Mode) -> dict[str, Any]:
    """What the request says about thinking; nothing to a model that cannot."""
    if model.thinks_always:
        return {"think": "low"}
    return {"think": mode is Mode.THINKING} if model.thinks else {}


def body(
    model: Model, log: Log, mode: Mode, options: dict[str, Any], keep_alive: str | int
) -> dict[str, Any]:
    """A request for a summary.

    Never ``shift``, and ``truncate`` off: a prompt that does not fit must fail, since
    it would be cut from the front without a word.
    """
    schema = {"format": prompts.schema(log)} if mode.has_schema else {}
    return {
        "model": model.name,
        "messages": prompts.messages(log, with_schema=mode.has_schema),
        "stream": True,
        "truncate": False,
        "keep_alive": keep_alive,
        "options": options,
        **think(model, mode),
        **schema,
    }
