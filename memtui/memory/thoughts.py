"""A thought: what a model wrote for itself before it answered.

Thoughts are kept apart from events: they are read beside the conversation, and neither
summarised nor searched.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from memtui.memory.events import EARLIEST, EventRefused, clean, event_id


@dataclass(frozen=True, slots=True)
class Thought:
    """One stretch of a model's thinking."""

    thought_id: str
    agent: str
    session_id: str
    at: datetime
    text: str
    subagent: str = ""


def make(
    *,
    agent: str,
    session_id: str,
    at: datetime,
    text: str,
    key: str,
    subagent: str = "",
) -> Thought:
    """Make a thought with the id that what it is gives it.

    Args:
        agent: The program the conversation was held with.
        session_id: The agent's own name of the session.
        at: The source's time; must be aware.
        text: What was thought.
        key: What the source calls it; the text serves where it is empty.
        subagent: The helper whose thought it is, if any.

    Raises:
        EventRefused: The session is not named, nothing was thought, or the time is
            before the year 2000.
    """
    name, said, who = clean(session_id), clean(text), clean(agent)
    if not name.strip():
        raise EventRefused("no session id")
    if not said.strip():
        raise EventRefused("a thought without text")
    if at < EARLIEST:
        raise EventRefused(f"the timestamp {at:%Y-%m-%d} is before 2000")
    at = at.astimezone(UTC)
    return Thought(
        thought_id=event_id(who, name, "thought", key or said, at),
        agent=who,
        session_id=name,
        at=at,
        text=said,
        subagent=clean(subagent),
    )
