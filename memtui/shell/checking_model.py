"""What ``doctor`` looks at of the model that the settings name.

The summariser itself is asked how it is, so that what is said here is what memtui goes
by. None is loaded, none writes, and nobody is asked that memtui would not ask.
"""

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memtui.memory.summarizers import Condition, Health
from memtui.settings import Settings
from memtui.settings.models import EXTRACTIVE, OLLAMA
from memtui.shell.diagnosing import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx

    from memtui.llm.looking import Wishes

PATIENCE_S = 2.0
"""How long to wait for all that a server answers, in seconds."""

OWN = "memtui's own summariser is used"
WISH = "to have summaries by a model: "


@dataclass(frozen=True, slots=True)
class Asked:
    """Who was asked to summarise, and how it is."""

    provider: str
    url: str
    health: Health | None = None
    """None if nobody is to be asked."""


def model(settings: Settings) -> tuple[Finding, Asked]:
    """How it stands with the model; the want of one is wrong only where it is set."""
    provider = str(settings.held["summaries.provider"].value)
    url = str(settings.held["summaries.url"].value)
    if provider == EXTRACTIVE:
        says = f"no model is asked (summaries.provider); {OWN}"
        return Finding("model", True, says), Asked(provider, url)
    from memtui.house import summarising  # noqa: PLC0415 - asyncio and more: 40 ms

    wishes = summarising.wishes(settings)
    health = _looked_at(wishes)
    says, cure = _said(health, wishes, settings)
    is_well = health.is_ready or provider != OLLAMA
    if not health.is_ready:
        says = f"{says}; {OWN}"
        cure = cure if provider == OLLAMA else f"{WISH}{cure}"
    return Finding("model", is_well, says, cure), Asked(provider, url, health)


def _looked_at(wishes: "Wishes") -> Health:
    """How the summariser is, as far as it says so in time."""
    from memtui.llm.ollama import Ollama  # noqa: PLC0415
    from memtui.llm.transport import through_ollama  # noqa: PLC0415

    def connect(url: str, options: "Mapping[str, Any]") -> "httpx.AsyncClient":
        client = through_ollama(url, options)
        timer.start()  # Only now: the import of Ollama's package is not its delay.
        return client

    def give_up() -> None:
        is_late.set()
        asked.cancel()

    connect_s = min(wishes.deadlines.connect_s, PATIENCE_S)
    deadlines = replace(wishes.deadlines, connect_s=connect_s)
    asked = Ollama(replace(wishes, deadlines=deadlines), connect=connect)
    is_late, timer = threading.Event(), threading.Timer(PATIENCE_S, give_up)
    timer.daemon = True
    health = asked.health()
    timer.cancel()
    if is_late.is_set() and not health.is_ready:
        says = f"{wishes.url} does not answer within {PATIENCE_S:g} s"
        return replace(health, condition=Condition.UNWELL, says=says)
    return health


def _said(health: Health, wishes: "Wishes", settings: Settings) -> tuple[str, str]:
    """What there is, and what to do."""
    match health.condition:
        case Condition.READY:
            return _ready(health, wishes), ""
        case Condition.OFFLINE:
            return f"no Ollama answers at {wishes.url}", health.cure
        case Condition.MODEL_MISSING:
            return health.says, health.cure
        case Condition.REFUSED:
            return health.says, _allowing(wishes, settings)
        case Condition.RESTING:
            origin = settings.held["summaries.cpu_minutes"].origin
            return health.says, f"set summaries.cpu_minutes above 0 ({origin})"
    return health.says, "see whether it is Ollama that answers there, and its own log"


def _ready(health: Health, wishes: "Wishes") -> str:
    runs = "on the CPU alone" if health.on_cpu else "on a graphics card"
    where = f"loaded, {runs}" if health.is_loaded else "not loaded now"
    return (
        f"{health.model}, {where}, with a window of {health.window_tokens:,} tokens;"
        f" Ollama {health.server} at {wishes.url}"
    )


def _allowing(wishes: "Wishes", settings: Settings) -> str:
    """Which setting keeps the server, or its model, from being asked."""
    from memtui.llm import hosts  # noqa: PLC0415
    from memtui.llm.faults import Refused  # noqa: PLC0415

    try:
        hosts.address(wishes.url, wishes.allowed_hosts)
    except Refused:
        origin = settings.held["summaries.url"].origin
        return (
            f"mend summaries.url ({origin}), or, if that machine may be sent what was"
            " said, name it in summaries.allowed_hosts"
        )
    if wishes.model:
        return "name a model of this machine in summaries.model"
    return "name a server that answers in summaries.url"
