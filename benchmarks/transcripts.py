"""Read the segments of the real transcripts beside the checkout.

The files of every agent are read as in an import, each session once. The name of a
session alone decides which half it is in.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from memtui.capture import formats
from memtui.errors import SourceError
from memtui.model.events import Event, counted_text
from memtui.summarize import segmenter
from memtui.summarize.segmenter import SegmentRules
from memtui.text.tokens import estimate

DATA = Path(__file__).parents[2] / "shared" / "data"
FOLDERS = ("aider", "claude_code", "codex", "copilot_cli", "hook_sessions")
SYNTHETIC = {"claude-code-log", "claude-code-transcripts"}
"""Folders of hand-made files: too small to tell anything."""

NOW = datetime(2027, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A segment of a real session."""

    agent: str
    session: str
    is_held_out: bool
    events: tuple[Event, ...]
    texts: tuple[str, ...]
    """What of the events counts, in their order."""


def stretches() -> list[Stretch]:
    """All segments, sessions in a fixed order."""
    by_session: dict[tuple[str, str], dict[str, Event]] = {}
    for folder in FOLDERS:
        for path in sorted((DATA / folder).rglob("*")):
            if path.is_file() and not SYNTHETIC & set(path.parts):
                for event in _events(path):
                    name = event.agent, event.session_id
                    by_session.setdefault(name, {}).setdefault(event.event_id, event)
    return [
        stretch
        for (agent, session), events in sorted(by_session.items())
        for stretch in _cut(
            agent, session, sorted(events.values(), key=lambda e: e.position)
        )
    ]


def is_held_out(session: str) -> bool:
    """Whether a session is in the half that nothing was tuned on."""
    return hashlib.blake2b(session.encode(), digest_size=1).digest()[0] % 2 == 1


def _events(path: Path) -> Iterator[Event]:
    try:
        source = formats.detect_format(path)
    except SourceError:
        return
    if source is not None:
        for reading in source.read(path, None, agent=source.name, now=NOW):
            if isinstance(reading, Event) and not reading.subagent:
                yield replace(reading, tokens=estimate(counted_text(reading)))


def _cut(agent: str, session: str, events: Sequence[Event]) -> Iterator[Stretch]:
    for run in segmenter.split_events(events, SegmentRules()):
        texts = tuple(map(counted_text, run))
        yield Stretch(agent, session, is_held_out(session), tuple(run), texts)
