"""What Claude Code's transcripts tell of their sessions, beside what was said."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from memtui.memory import events
from memtui.memory.sessions import SessionFacts, project_of
from memtui.sources import claude_kinds as kinds
from memtui.sources.records import text_of

AGENT = "claude-code"

SYNTHETIC = "<synthetic>"
"""The model of what no model wrote."""


@dataclass(slots=True)
class _Facts:
    cwd: str = ""
    branch: str = ""
    title: str = ""
    model: str = ""
    at: datetime | None = None


class Sessions:
    """The sessions of one transcript, as far as it has been read."""

    def __init__(self) -> None:
        self._facts: dict[str, _Facts] = {}
        self._of_record: dict[str, str] = {}
        self._summaries: dict[str, str] = {}
        self._met: set[str] = set()

    def meet(
        self, session: str, uuid: str, fields: dict[str, object], at: datetime
    ) -> None:
        """Learn from the envelope of a message.

        Args:
            session: Which session it belongs to.
            uuid: The record's own name.
            fields: The record.
            at: Its time: the earliest word on a session's folder counts.
        """
        self._of_record[uuid] = session
        facts = self._facts.setdefault(session, _Facts())
        cwd = text_of(fields.get("cwd"))
        if cwd and (facts.at is None or at < facts.at):
            facts.cwd, facts.at = cwd, at
        facts.branch = text_of(fields.get("gitBranch")) or facts.branch
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
            if (session := self._of_record.get(leaf)) and not self._facts[
                session
            ].title:
                self._facts[session].title = title
        return map(self._told, self._facts)

    def _told(self, session: str) -> SessionFacts:
        facts = self._facts[session]
        return SessionFacts(
            agent=AGENT,
            session_id=session,
            cwd=facts.cwd,
            project=project_of(facts.cwd),
            branch=facts.branch,
            title=facts.title,
            model=facts.model,
            at=facts.at,
        )
