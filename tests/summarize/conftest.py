"""Segments to summarize, and a stub of Ollama's server."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memtui.model import events
from memtui.model.events import Event, EventType
from memtui.model.jobs import ModelProgress
from memtui.model.nodes import Summary
from memtui.model.work import Facts
from memtui.summarize.ollama import models
from memtui.summarize.ollama.models import ModelOptions
from memtui.summarize.ollama.summarizer import Callbacks, Ollama
from tests.stub.server import Stub, run_stub

AT = datetime(2026, 8, 1, 9, tzinfo=UTC)

KINDS = {
    "user": EventType.USER_MESSAGE,
    "assistant": EventType.ASSISTANT_MESSAGE,
    "tool": EventType.TOOL_RESULT,
    "start": EventType.SESSION_START,
}

TALK = (
    ("user", "The login page fails with error 500 since v2.3.1, please fix it."),
    ("tool", "Bash: pytest tests/test_login.py\n1 failed: KeyError: 'session_id'"),
    ("assistant", "The cause is in src/auth/token.py: the cookie is read before set."),
    ("tool", "Edit: src/auth/token.py"),
    ("assistant", "Fixed: token.py sets session_id first; all 42 tests pass now."),
)
"""A short conversation with names, numbers and paths in it."""


def make_events(
    talk: Sequence[tuple[str, str]], after_min: int = 0
) -> tuple[Event, ...]:
    """Return the events of a conversation."""
    return tuple(
        events.make(
            agent="claude-code",
            session_id="s1",
            timestamp=AT + timedelta(minutes=after_min, seconds=place),
            event_type=KINDS[who],
            text=text,
            source_key=f"{after_min}-{place}",
        )
        for place, (who, text) in enumerate(talk)
    )


@pytest.fixture
def stub() -> Iterator[Stub]:
    """A server with one ordinary model."""
    with run_stub() as stub:
        yield stub


@pytest.fixture(autouse=True)
def _much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests do not depend on the memory of the machine."""
    monkeypatch.setattr(models, "machine_memory", lambda: 64 * 2**30)


PATIENT_S = 10.0
"""A timeout that is long enough for a slow machine."""

HASTY_S = 0.5
"""A timeout that a test can wait for."""


@dataclass
class Asker:
    """Creates summarizers that do not wait, and stores what they report."""

    url: str
    slept: list[float] = field(default_factory=list)
    reported: list[ModelProgress] = field(default_factory=list)
    now: float = 1000.0

    async def sleep(self, seconds: float) -> None:
        """Store the requested wait."""
        self.slept.append(seconds)

    def clock(self) -> float:
        """Return a time that only tests change."""
        return self.now

    def ollama(self, options: ModelOptions | None = None, **more: object) -> Ollama:
        """Create a summarizer."""
        callbacks: dict[str, Any] = {
            "report": self.reported.append,
            "clock": self.clock,
            "sleep": self.sleep,
            **more,
        }
        options = options or ModelOptions(self.url, timeout_s=PATIENT_S)
        return Ollama(options, Callbacks(**callbacks))

    def summarize(self, *talk: tuple[str, str], attempt: int = 0) -> Summary:
        """Summarize a conversation with a new summarizer."""
        return summarize(self.ollama(), *talk, attempt=attempt)


def summarize(
    ollama: Ollama,
    *talk: tuple[str, str],
    facts: Facts = Facts(),  # noqa: B008
    attempt: int = 0,
) -> Summary:
    """Summarize a conversation, by default the short one."""
    return ollama.summarize_events(make_events(talk or TALK), facts, attempt=attempt)


@pytest.fixture
def asker(stub: Stub) -> Asker:
    """Creates summarizers that use the ordinary server."""
    return Asker(stub.url)
