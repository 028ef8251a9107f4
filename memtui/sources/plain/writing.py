"""The plain format's lines, as memtui writes them: all that its reader understands.

``plain`` reads them; what is empty is left out.
"""

import json
from typing import Any

from memtui.memory.events import Event
from memtui.memory.sessions import Helper, SessionFacts
from memtui.memory.thoughts import Thought

SESSION, SUBAGENT, THOUGHT = "session", "subagent", "thought"
"""What a line may be that is no event, as its ``record`` says."""

_NOT_GUESSED = frozenset({"tokens", "ordinal"})
"""Numbers that are said even where they are nothing."""


def line(told: SessionFacts | Event | Helper | Thought) -> str:
    """One line, with its end."""
    return f"{json.dumps(fields(told), ensure_ascii=False)}\n"


def fields(told: SessionFacts | Event | Helper | Thought) -> dict[str, Any]:
    """What a line says."""
    match told:
        case SessionFacts():
            said = _session(told)
        case Helper():
            said = _subagent(told)
        case Thought():
            said = _thought(told)
        case Event():
            said = _event(told)
    return {name: v for name, v in said.items() if v or name in _NOT_GUESSED}


def _session(facts: SessionFacts) -> dict[str, Any]:
    return {
        "record": SESSION,
        "session_id": facts.session_id,
        "agent": facts.agent,
        "timestamp": facts.at.isoformat() if facts.at else "",
        "project": facts.project,
        "cwd": facts.cwd,
        "root": facts.root,
        "branch": facts.branch,
        "model": facts.model,
        "title": facts.title,
        "summary": facts.summary,
        "created_by": facts.created_by,
        "forked_from": facts.forked_from,
    }


def _subagent(helper: Helper) -> dict[str, Any]:
    return {
        "record": SUBAGENT,
        "session_id": helper.session_id,
        "agent": helper.agent,
        "subagent": helper.subagent,
        "kind": helper.kind,
        "started_by": helper.started_by,
        "task": helper.task,
    }


def _thought(thought: Thought) -> dict[str, Any]:
    return {
        "record": THOUGHT,
        "session_id": thought.session_id,
        "timestamp": thought.at.isoformat(),
        "text": thought.text,
        "agent": thought.agent,
        "subagent": thought.subagent,
        "id": thought.thought_id,
    }


def _event(event: Event) -> dict[str, Any]:
    said: dict[str, Any] = {
        "session_id": event.session_id,
        "timestamp": event.timestamp.isoformat(),
        "event_type": event.event_type.value,
        "role": event.role.value,
        "text": event.text,
        "agent": event.agent,
        "subagent": event.subagent,
        "metadata": dict(event.metadata),
        "id": event.event_id,
        "ordinal": event.ordinal,
        "tokens": event.tokens,
        "counter": event.counter,
    }
    if kept := event.kept:
        said["route"] = kept.route
        said["origin"] = kept.origin.hex() if kept.origin else ""
        said["told"] = [
            {"id": one.event_id, "route": one.route}
            | ({"session_id": one.session_id} if one.session_id else {})
            for one in kept.told
        ]
    return said
