"""What surrounds a message of Claude Code: when, in which session, by which helper."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath

from memtui.memory import events
from memtui.sources.claude import kinds as kinds
from memtui.sources.claude.sessions import Sessions
from memtui.sources.records import Refused, ahead, text_of, time_of

_ROOTS = 2000
"""How many records of subagents are remembered, to find whose a later one is."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """When a message was said, in which session, and by which helper."""

    line: int
    at: datetime
    session_id: str
    uuid: str
    subagent: str


class Envelopes:
    """The envelopes of one file, whose sessions are met as they are read."""

    def __init__(
        self, path: PurePath, now: datetime, sessions: Sessions, roots: object
    ) -> None:
        """Go on where an earlier reading ended.

        Args:
            path: The file.
            now: The time, to refuse what claims to come from the future.
            sessions: Told of every session that a record is of.
            roots: What ``roots`` was then.
        """
        self._path, self._now, self._sessions = path, now, sessions
        self.is_subagents = path.parent.name == "subagents"
        """Whether the file is of a folder of subagents."""
        self.roots: dict[str, str] = dict(roots) if isinstance(roots, dict) else {}
        """Of which helper each record is, by the record's own name."""

    def of(self, line: int, fields: dict[str, object]) -> Envelope | Refused:
        """What surrounds a record, or why nothing can be made of it."""
        at = time_of(fields.get("timestamp"))
        session = text_of(fields.get("sessionId"))
        if at is None:
            reason = "no timestamp" if "timestamp" not in fields else "a bad timestamp"
            return Refused(reason, line)
        if events.is_too_late(at, self._now):
            return ahead(at, line)
        if self.is_subagents and session.startswith("agent-"):
            session = self._path.parent.parent.name
        if not session.strip():
            return Refused("no session id", line)
        uuid = text_of(fields.get("uuid"))
        copied = kinds.forked_from(fields)
        self._sessions.meet(session, uuid, fields, at, forked_from=copied)
        subagent = self._subagent(uuid, fields)
        return Envelope(line, at, copied or session, uuid, subagent)

    def _subagent(self, uuid: str, fields: dict[str, object]) -> str:
        """Which helper a record belongs to: by its file, its name or its root."""
        if self.is_subagents:
            return self._path.stem.removeprefix("agent-")
        if not fields.get("isSidechain"):
            return ""
        named = text_of(fields.get("agentId"))
        if named:
            return named
        parent = text_of(fields.get("parentUuid"))
        self.roots[uuid] = self.roots.get(parent, uuid[:8] or "sidechain")
        if len(self.roots) > _ROOTS:
            del self.roots[next(iter(self.roots))]
        return self.roots[uuid]
