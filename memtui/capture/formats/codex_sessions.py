"""Whose a Codex rollout is: its session, its parent's, and what it copied from another.

A fork begins with its own ``session_meta`` and then repeats the records of the session
it was forked from, stamped anew with the time of the fork. Turns keep their names, and
these are UUIDs that tell their time: what comes before the first turn begun after the
fork's own id was made is a copy.

Most of what is said has no name of its own, so it is named by its turn and its words:
the original and the copy then have one name, and the store sees that they are one. A
turn without a name is known by its number, and by whose it is.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from memtui.capture.formats.base import ParsedItem, as_text, parse_time, unique
from memtui.model.events import Event, EventRole, EventType, clean, event_id, to_ms
from memtui.model.sessions import SessionMetadata, SubagentMetadata

AGENT = "codex"


COPIED_WITHIN_MS = 1000
"""A copy is written in one go: after a longer silence it is over."""


_TURNS = ("task_started", "turn_started", "turn_context")


Fields = Mapping[str, object]


_NEEDED = ("cwd", "at", "forked_from")
"""What must be known of a session whose project may have been forgotten."""


def bare(state: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The state of a rollout's cursor without words; None while words wait."""
    if state.get("calls", {}).get("waiting"):
        return None
    thread = state.get("thread", {})
    about = {k: v for k, v in thread.get("about", {}).items() if k in _NEEDED}
    return {**state, "thread": {**thread, "about": about}}


@dataclass(slots=True)
class Thread:
    """One rollout's session, and where in a copy of another the reading is."""

    own: str = ""
    """The rollout's own id."""
    parent: str = ""
    """The session whose subagent it is."""
    kind: str = ""
    """What sort of subagent."""
    forked_from: str = ""
    is_copy: bool = False
    """Whether what is read now was copied from the session it was forked from."""
    made_ms: int = 0
    """When the rollout's own id was made."""
    last_ms: int = 0
    """The time of the last record that was copied."""
    about: dict[str, str] = field(default_factory=dict)
    """The fields of ``SessionFacts``."""
    is_told: bool = False
    root: str = ""
    """Whose the records are that are copied now."""
    turn: str = ""
    """The name of the turn that is read."""
    number: int = 0
    """How many prompts were told."""
    said: dict[str, int] = field(default_factory=dict)
    """How often each thing was said in this turn."""

    @classmethod
    def of(cls, state: object) -> "Thread":
        """Go on with what an earlier reading knew."""
        return cls(**state) if isinstance(state, dict) else cls()

    def state(self) -> dict[str, object]:
        """What another reading must know of it."""
        return asdict(self) | {"is_told": False}

    @property
    def session_id(self) -> str:
        """The session its events belong to."""
        return self.parent or self.own

    @property
    def subagent(self) -> str:
        """The helper of that session its events belong to."""
        return self.own if self.parent or self.kind else ""

    def open(self, meta: Fields, at: datetime | None) -> None:
        """Learn from a ``session_meta``: the first is the rollout's own.

        Args:
            meta: What it says.
            at: When it was written.
        """
        named = clean(as_text(meta.get("id") or meta.get("session_id"))).strip()
        begun = parse_time(meta.get("timestamp")) or at
        if not self.own and named:
            self._begin(named, meta, begun, at)
        elif named == self.own:
            self.is_copy = False
            self._turn_to("")
        elif named and not self.forked_from and not self.subagent:
            self.forked_from = self.about["forked_from"] = named
            self.is_copy = True
        if self.is_copy:
            self.root = named if named != self.own else self.forked_from

    def _begin(
        self, own: str, meta: Fields, begun: datetime | None, at: datetime | None
    ) -> None:
        self.own = own
        self._parentage(meta)
        self.forked_from = clean(as_text(meta.get("forked_from_id")))
        self.is_copy = bool(self.forked_from)
        self.made_ms = _made_ms(own) or (to_ms(begun) if begun else 0)
        self.last_ms = to_ms(at) if at else self.made_ms
        git = meta.get("git")
        branch = git.get("branch") if isinstance(git, Mapping) else ""
        source = meta.get("source")
        told = {
            "cwd": as_text(meta.get("cwd")),
            "branch": as_text(branch),
            "created_by": as_text(meta.get("originator"))
            or (source if isinstance(source, str) else ""),
            "forked_from": "" if self.subagent else self.forked_from,
            "at": begun.isoformat() if begun else "",
        }
        self.about |= {name: value for name, value in told.items() if value}

    def _parentage(self, meta: Fields) -> None:
        source = meta.get("source")
        spawned = source.get("subagent") if isinstance(source, Mapping) else None
        about = spawned.get("thread_spawn") if isinstance(spawned, Mapping) else None
        spawn: Fields = about if isinstance(about, Mapping) else {}
        if not spawned and meta.get("thread_source") != "subagent":
            return
        root = as_text(meta.get("session_id"))
        parent = as_text(spawn.get("parent_thread_id") or meta.get("parent_thread_id"))
        self.parent = clean(root if root and root != self.own else parent)
        kinds = (
            *(spawn.get(name) or meta.get(name) for name in _KINDS),
            spawned.get("other") if isinstance(spawned, Mapping) else spawned,
        )
        self.kind = next((clean(k) for k in kinds if isinstance(k, str) and k), "agent")

    def passes(self, kind: str, payload: Fields, at: datetime | None) -> bool:
        """Whether a record is the rollout's own, not a copy.

        Args:
            kind: The record's type, the payload's where that says more.
            payload: What it holds.
            at: When it was written.
        """
        turn = unique(as_text(payload.get("turn_id"))) if kind in _TURNS else ""
        if turn:
            self._turn_to(turn)
        if not self.forked_from:
            return True
        if turn_ms := _made_ms(turn):
            self.is_copy = turn_ms < self.made_ms
        elif self.is_copy and at:
            at_ms = to_ms(at)
            self.is_copy = at_ms - self.last_ms <= COPIED_WITHIN_MS
            if not self.is_copy and not turn:
                self._turn_to("")
        if self.is_copy and at:
            self.last_ms = max(self.last_ms, to_ms(at))
        return not self.is_copy

    def _turn_to(self, turn: str) -> None:
        if turn != self.turn:
            self.turn, self.said = turn, {}

    def named(self, event: Event) -> Event:
        """An event with a name that its copies in forks have as well."""
        if event.event_type is EventType.USER_MESSAGE and event.role is EventRole.USER:
            self.number += 1
            if not self.turn:
                self.said = {}
        if event.source_id:
            return event
        what = _hash(event.event_type, event.text)
        self.said[what] = self.said.get(what, 0) + 1
        whose = self.root if self.is_copy else self.own
        turn = self.turn or f"{whose}/{self.number}"
        origin = f"{turn}/{what}/{self.said[what]}"
        if not self.is_copy:
            return replace(event, source_id=origin)
        # Copies of the same words have the same time: they need names of their own.
        about = event.agent, event.session_id, event.event_type, origin
        name = event_id(*about, event.timestamp)
        return replace(event, source_id=origin, event_id=name)

    def learn(self, name: str, told: object) -> None:
        """Learn the latest word on one of the session's facts."""
        if text := " ".join(clean(as_text(told)).split()):
            self.about[name] = text

    def introduced(self) -> Iterator[ParsedItem]:
        """Tell of the session once, before its first event."""
        if not self.is_told:
            self.is_told = True
            yield from self.facts()

    def facts(self) -> Iterator[ParsedItem]:
        """Tell what is known of the session; of a subagent's, who it is."""
        if not self.session_id:
            return
        about = dict(self.about)
        at = parse_time(about.pop("at", None))
        if self.subagent:
            yield SubagentMetadata(AGENT, self.session_id, self.subagent, self.kind)
            about = {name: about[name] for name in ("cwd", "branch") if name in about}
        yield SessionMetadata(AGENT, self.session_id, at=at, **about)


_KINDS = ("agent_role", "agent_nickname")
"""What says the sort of a subagent, the most telling first."""


def _hash(*parts: str) -> str:
    raw = "\x1f".join(parts).encode("utf-8", "replace")
    return hashlib.blake2b(raw, digest_size=8).hexdigest()


def _made_ms(name: str) -> int:
    """When a UUID of version 7 was made; 0 for any other name."""
    try:
        uuid = UUID(name)
    except ValueError:
        return 0
    return uuid.int >> 80 if uuid.version == 7 else 0
