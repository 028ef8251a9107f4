"""Segments to summarize, and a stub of Ollama's server."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memtui.model import events
from memtui.model.events import Event, EventType
from memtui.model.jobs import ModelProgress
from memtui.model.sessions import Segment
from memtui.summarize import acceptance
from memtui.summarize.ollama.models import Capability, ModelOptions
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


def told(talk: Sequence[tuple[str, str]], after_min: int = 0) -> tuple[Event, ...]:
    """Events of who said what."""
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


def segment_of(
    *talk: tuple[str, str], before: Sequence[tuple[str, str]] = ()
) -> Segment:
    """A segment of who said what; the short conversation if nothing is said."""
    return Segment(
        "toc:segment:2026-08-01:01",
        told(talk or TALK, 10),
        overlap_events=told(before),
    )


@pytest.fixture
def segment() -> Segment:
    """The short conversation."""
    return segment_of()


@pytest.fixture
def stub() -> Iterator[Stub]:
    """A server with one ordinary model."""
    with run_stub() as stub:
        yield stub


@pytest.fixture
def any_draft(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every draft is accepted: the test is about how it comes about."""
    monkeypatch.setattr(acceptance, "check_draft", lambda *_, **__: "")


PATIENT_S = 10.0
"""A timeout that no machine misses by being slow."""

HASTY_S = 0.5
"""A timeout that a test can wait for."""


@dataclass
class Asker:
    """A summarizer that waits for nothing, and what it told meanwhile."""

    url: str
    slept: list[float] = field(default_factory=list)
    told: list[ModelProgress] = field(default_factory=list)
    now: float = 1000.0

    async def sleep(self, seconds: float) -> None:
        """Remember how long it wanted to wait."""
        self.slept.append(seconds)

    def clock(self) -> float:
        """A clock that stands unless a test moves it."""
        return self.now

    def ollama(
        self,
        options: ModelOptions | None = None,
        known: Sequence[Capability] = (),
        **more: object,
    ) -> Ollama:
        """The summarizer."""
        callbacks: dict[str, Any] = {
            "report": self.told.append,
            "clock": self.clock,
            "sleep": self.sleep,
            "jitter": lambda: 1.0,
            **more,
        }
        options = options or ModelOptions(self.url, timeout_s=PATIENT_S)
        return Ollama(options, known, Callbacks(**callbacks))


@pytest.fixture
def asker(stub: Stub) -> Asker:
    """Asks the ordinary server."""
    return Asker(stub.url)
