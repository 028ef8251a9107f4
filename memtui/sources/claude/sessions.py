"""What Claude Code's transcripts tell of their sessions, beside what was said."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from memtui.memory import events
from memtui.memory.sessions import Helper, SessionFacts
from memtui.sources.claude import kinds as kinds
from memtui.sources.records import Reading, text_of, time_of

AGENT = "claude-code"

SYNTHETIC = "<synthetic>"
"""The model of what no model wrote."""

LEAVES = 500
"""How many records are remembered, for titles that name a session by its last one."""


@dataclass(slots=True)
class _Facts:
    cwd: str = ""
    branch: str = ""
    title: str = ""
    model: str = ""
    at: str = ""
    created_by: str = ""
    forked_from: str = ""


_NEEDED = ("cwd", "at", "forked_from")
"""What must be known of a session whose project may have been forgotten."""


def bare(state: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The state of a transcript's cursor without words; None while words wait."""
    if state.get("calls") or state.get("held"):
        return None
    told = state.get("sessions", {})
    facts = {
        name: {field: about[field] for field in _NEEDED if field in about}
        for name, about in told.get("facts", {}).items()
    }
    return {**state, "sessions": {**told, "facts": facts, "summaries": {}}}


class Sessions:
    """The sessions of one transcript, as far as it has been read."""

    def __init__(self, state: object = None) -> None:
        """Go on with what an earlier reading knew."""
        kept = state if isinstance(state, Mapping) else {}
        self._facts = {name: _Facts(**told) for name, told in _of(kept, "facts")}
        self._of_record: dict[str, str] = dict(_of(kept, "leaves"))
        self._summaries: dict[str, str] = dict(_of(kept, "summaries"))
        self._met: set[str] = set()

    def state(self) -> Mapping[str, object]:
        """What another reading must know of them."""
        leaves: dict[str, str] = {}
        for uuid, session in self._of_record.items():
            leaves = {u: s for u, s in leaves.items() if s != session} | {uuid: session}
        facts = {name: asdict(told) for name, told in self._facts.items()}
        return {"facts": facts, "leaves": leaves, "summaries": self._summaries}

    def meet(
        self,
        session: str,
        uuid: str,
        fields: dict[str, object],
        at: datetime,
        *,
        forked_from: str = "",
    ) -> None:
        """Learn from the envelope of a message.

        Args:
            session: Which session it belongs to.
            uuid: The record's own name.
            fields: The record.
            at: Its time: the earliest word on a session's folder counts.
            forked_from: The session this is a copy of; it is met too.
        """
        if forked_from:
            self.meet(forked_from, "", fields, at)
        if uuid:
            self._of_record.pop(uuid, None)
            self._of_record[uuid] = session
            if len(self._of_record) > LEAVES:
                del self._of_record[next(iter(self._of_record))]
        facts = self._facts.setdefault(session, _Facts())
        facts.forked_from = forked_from or facts.forked_from
        cwd = text_of(fields.get("cwd"))
        if cwd and (not facts.at or at < datetime.fromisoformat(facts.at)):
            facts.cwd, facts.at = cwd, at.isoformat()
        facts.branch = text_of(fields.get("gitBranch")) or facts.branch
        facts.created_by = facts.created_by or text_of(fields.get("entrypoint"))
        message = fields.get("message")
        model = text_of(message.get("model")) if isinstance(message, dict) else ""
        if model and model != SYNTHETIC:
            facts.model = model

    def name(self, fields: dict[str, object]) -> None:
        """Learn from a record that gives a session its title."""
        kind = str(fields["type"])
        title = " ".join(events.clean(text_of(fields.get(kinds.TITLES[kind]))).split())
        if kind == "summary":
            self._summaries[text_of(fields.get("leafUuid"))] = title
        elif session := text_of(fields.get("sessionId")):
            self._facts.setdefault(session, _Facts()).title = title

    def introduced(self, session: str) -> Iterator[SessionFacts]:
        """Tell of a session once: its project must be known with its first event."""
        if session not in self._met:
            self._met.add(session)
            yield self._told(session)

    def all(self) -> Iterator[SessionFacts]:
        """Tell of every session what is known at the end."""
        for leaf, title in self._summaries.items():
            session = self._of_record.get(leaf)
            if session and not self._facts[session].title:
                self._facts[session].title = title
        return map(self._told, self._facts)

    def helper(self, path: Path) -> Iterator[Reading]:
        """Tell of the subagent whose file this is, by the note that lies beside it."""
        try:
            note = json.loads(path.with_suffix(".meta.json").read_text("utf-8"))
        except (OSError, ValueError):
            note = {}
        about = note if isinstance(note, dict) else {}
        for session in self._facts:
            yield Helper(
                agent=AGENT,
                session_id=session,
                subagent=path.stem.removeprefix("agent-"),
                kind=text_of(about.get("agentType")),
                started_by=text_of(about.get("toolUseId")),
                task=text_of(about.get("description")),
            )

    def _told(self, session: str) -> SessionFacts:
        facts = self._facts[session]
        return SessionFacts(
            agent=AGENT,
            session_id=session,
            cwd=facts.cwd,
            branch=facts.branch,
            title=facts.title,
            model=facts.model,
            at=time_of(facts.at),
            created_by=facts.created_by,
            forked_from=facts.forked_from,
        )


def _of(state: Mapping[str, object], name: str) -> list[tuple[str, Any]]:
    kept = state.get(name)
    return list(kept.items()) if isinstance(kept, Mapping) else []
