"""Who summarises with a model, by what the settings want."""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from memtui.errors import StoreError
from memtui.llm import Summarizer
from memtui.llm.breaker import Spent
from memtui.llm.looking import Wishes
from memtui.llm.ollama import Ollama
from memtui.llm.probing import Capability, Mode
from memtui.llm.prompts import Log
from memtui.llm.transport import Deadlines
from memtui.memory import vouching
from memtui.memory.summaries import Summary
from memtui.memory.summarizers import Doing
from memtui.settings import Settings, models
from memtui.store import database, facts


def ollama(settings: Settings, tell: Callable[[Doing], None]) -> Summarizer:
    """A model of Ollama that remembers in the store what holds for its next process.

    That is how models are asked, and when one worked without a graphics card.

    Args:
        settings: What is wanted of it.
        tell: Told how far a summary has come, on the thread that asks.
    """
    with database.connected():
        known = [Capability(s, d, Mode(mode)) for s, d, mode in facts.capabilities()]
        spent = [(time.time() - at / 1000, took) for at, took in facts.spent()]
    return Ollama(
        wishes(settings),
        report=tell,
        known=known,
        learned=_keep,
        spent=spent,
        spend=_keep_spent,
        accept=_why_not,
    )


def wishes(settings: Settings) -> Wishes:
    """What is wanted of Ollama."""

    def value(name: str) -> Any:
        return settings.held[f"summaries.{name}"].value

    return Wishes(
        url=value("url"),
        allowed_hosts=value("allowed_hosts"),
        model=value("model"),
        window_tokens=value("window_tokens"),
        keep_alive=models.keep_alive(value("keep_alive")),
        cpu_minutes=value("cpu_minutes"),
        deadlines=Deadlines(
            connect_s=value("connect_s"),
            load_s=value("load_s"),
            first_s=value("first_token_s"),
            idle_s=value("idle_s"),
            total_s=value("total_s"),
        ),
    )


def _keep(found: Capability) -> None:
    with database.writing():
        facts.add_capability(found.server, found.digest, found.mode.value)


def _keep_spent(spent: Spent) -> None:
    now = time.time()
    rows = [(round((now - ago) * 1000), round(took, 3)) for ago, took in spent]
    # It is told while a request ends, which may be why it ends; it is known here too.
    with suppress(StoreError), database.writing():
        facts.set_spent(rows)


def _why_not(draft: Summary, log: Log) -> str:
    return vouching.why_not(draft, [turn.text for turn in log.turns])
