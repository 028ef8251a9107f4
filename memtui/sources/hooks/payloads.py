"""What a hook was handed, read: whose it is, of which event, session and time.

What a payload says of itself comes before what was said when its hook was installed.
Older Copilots name no session. What was said to them is kept all the same, as one
session for each folder and day: words that are refused cannot be had again.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from memtui.memory import events
from memtui.memory.sessions import SessionFacts
from memtui.sources.hooks import dialects
from memtui.sources.records import Record, text_of, time_of

Fields = dict[str, object]

COPILOT = "copilot-cli"

_AGENT_FOLDERS = {
    "/.codex/": "codex",
    "/.gemini/": "gemini-cli",
    "/.copilot/": COPILOT,
}
"""Whose hook it was, by where the transcript lies."""

_OTHERWISE = "claude-code"
"""Whose hook it was if nothing says so."""


@dataclass(frozen=True, slots=True)
class Payload:
    """One record of what a hook was handed."""

    name: str
    fields: Fields
    at: datetime
    agent: str
    session_id: str
    line: int

    def text(self, *names: str) -> str:
        """The first of these fields that says something."""
        return next(filter(None, (text_of(self.fields.get(n)) for n in names)), "")


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of a payload beside its own words."""

    received_at: datetime
    agent: str
    event: str


def of(record: Record, told: Told) -> Payload:
    """Read one record of what a hook was handed."""
    fields = dialects.common(record.fields)
    name = fields.get("hook_event_name") or fields.get("event_type") or told.event
    transcript = text_of(fields.get("transcript_path")).replace("\\", "/")
    agent = next((a for f, a in _AGENT_FOLDERS.items() if f in transcript), "")
    agent = text_of(fields.get("agent")) or agent or told.agent or _OTHERWISE
    at = time_of(fields.get("timestamp")) or told.received_at
    session_id = text_of(fields.get("session_id"))
    cwd = text_of(fields.get("cwd"))
    if agent == COPILOT and cwd and not session_id.strip():
        session_id = f"{at.astimezone(UTC):%Y-%m-%d} {cwd}"
    return Payload(
        name=events.clean(text_of(name)),
        fields=fields,
        at=at,
        agent=agent,
        session_id=session_id,
        line=record.line,
    )


def facts(payload: Payload) -> SessionFacts:
    """What a payload says of its session."""
    cwd = payload.text("cwd")
    return SessionFacts(
        agent=payload.agent,
        session_id=events.clean(payload.session_id),
        cwd=cwd,
        project="",
        model=payload.text("model"),
        at=payload.at,
    )
