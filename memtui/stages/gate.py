"""What may come in, and how: every reading passes here before it is stored.

Projects are found, what a person excluded or forgot is left out, and secrets are taken
out of all that is kept.
"""

from collections import Counter as Tally
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from memtui.memory import secrets
from memtui.memory.events import Event, clean
from memtui.memory.exclusions import Exclusions
from memtui.memory.secrets import events as secret_events
from memtui.memory.sessions import Helper, SessionFacts, folder_of
from memtui.memory.thoughts import Thought
from memtui.sources import projects
from memtui.sources.hooks import dialects
from memtui.sources.records import Awaited, Cursor, Left, Reading, Refused, text_of
from memtui.store import forgotten_titles, redactions, tombstones

TELLING = (
    "branch",
    "created_by",
    "cwd",
    "model",
    "project",
    "root",
    "summary",
    "title",
)
"""What is told of a session in words that may hold a secret."""

ABOUT_HELPERS = ("kind", "started_by", "subagent", "task")
"""What is told so of a subagent."""

ELSEWHERE = "of another project, whose memory is kept apart"
"""Why a session is left out of a store that keeps one project alone."""

FORGOTTEN = "of a project that was forgotten"
"""Why a session is left out that a person does not want back."""


@dataclass(frozen=True, slots=True)
class Admission:
    """Whose conversations are kept."""

    exclusions: Exclusions = field(default_factory=lambda: Exclusions(()))
    only_root: str = ""
    """The one repository or folder whose sessions are kept; "" to keep all."""


class Gate:
    """Lets the readings of one file pass."""

    def __init__(self, admission: Admission, path: str = "") -> None:
        """Remember the rules.

        Args:
            admission: Whose conversations are kept.
            path: The file the readings are from, for the rules on paths.
        """
        self._admission, self._path = admission, path
        self._why_not: dict[tuple[str, str], str] = {}
        self.redacted: Tally[str] = Tally()
        """How many secrets were taken out, by kind, since this was last cleared."""
        self.has_forgotten = False
        """Whether something came by that a person had forgotten."""
        self.forgotten = 0
        """How many events were left out for that, since this was last cleared."""

    def through(self, readings: Iterable[Reading]) -> Iterator[Reading]:
        """Let readings pass, changed where they must be; inside a connection."""
        for reading in readings:
            if isinstance(reading, SessionFacts):
                yield from self._facts(reading)
            elif isinstance(reading, Event | Thought | Helper):
                reason = self._why_not.get((reading.agent, reading.session_id))
                if reason and not isinstance(reading, Helper):
                    self.forgotten += reason == FORGOTTEN and isinstance(reading, Event)
                    yield Left(reason)
                elif not reason:
                    yield self._clean(reading)
            elif isinstance(reading, Cursor):
                state = self._strings(reading.state)
                yield replace(reading, state=state)
            elif isinstance(reading, Refused | Left | Awaited):
                reason = self._text(reading.reason)
                is_same = reason is reading.reason
                yield reading if is_same else replace(reading, reason=reason)
            else:
                yield reading

    def why_nothing_of(self, payload: Mapping[str, object]) -> str:
        """Why nothing of a hook's payload is kept, not even put aside; "" if it may be.

        Args:
            payload: One that could not be taken; it may say of which project it is.
        """
        said = dialects.common(payload)
        session_id, cwd = (clean(text_of(said.get(n))) for n in ("session_id", "cwd"))
        if session_id and tombstones.agents_of(session_id):
            return "of a session that was forgotten"
        if not cwd:
            return ""
        place = projects.place_of(cwd)
        return self._reason(
            SessionFacts("", session_id, cwd, place.project, root=place.root)
        )

    def keep_count(self, now_ms: int) -> None:
        """Store how many secrets were taken out; inside a transaction."""
        redactions.count_up(self.redacted, now_ms)
        self.redacted.clear()

    def _facts(self, facts: SessionFacts) -> Iterator[SessionFacts]:
        place = projects.place_of(clean(facts.cwd), clean(facts.root))
        found = replace(
            facts, root=place.root, project=clean(facts.project) or place.project
        )
        # Events have clean names; what is said of their sessions must be found by them.
        key = clean(facts.agent), clean(facts.session_id)
        if tombstones.covers_session(*key):
            self.has_forgotten = True
        if key not in self._why_not or facts.cwd:
            self._why_not[key] = self._reason(found)
        if not self._why_not[key]:
            said: dict[str, Any] = {n: self._text(getattr(found, n)) for n in TELLING}
            yield replace(found, **said)

    def _reason(self, facts: SessionFacts) -> str:
        """Why a session is left out; "" if it is kept."""
        only = self._admission.only_root
        if only and only not in (facts.root, facts.cwd.rstrip("/")):
            return ELSEWHERE
        if rule := self._admission.exclusions.rule_for(
            project=facts.project, cwd=facts.cwd, root=facts.root, path=self._path
        ):
            return f"excluded by {rule}"
        if tombstones.covers_project(facts.project, folder_of(facts.root, facts.cwd)):
            self.has_forgotten = True
            return FORGOTTEN
        return ""

    def _clean(self, reading: Event | Thought | Helper) -> Event | Thought | Helper:
        if isinstance(reading, Helper):
            said = {name: self._text(getattr(reading, name)) for name in ABOUT_HELPERS}
            return replace(reading, **said)
        if isinstance(reading, Thought):
            text, name = self._text(reading.text), self._name(reading.subagent)
            if text is reading.text and name == reading.subagent:
                return reading
            return replace(reading, text=text, subagent=name)
        event, kinds = secret_events.cleaned(reading)
        self.redacted.update(kinds)
        if event.subagent and (name := self._name(event.subagent)) != event.subagent:
            event = replace(event, subagent=name)
        return event

    def _name(self, name: str) -> str:
        return secrets.redact_name(name).text if name else name

    def _text(self, text: str) -> str:
        redacted = secrets.redact(text)
        self.redacted.update(redacted.kinds)
        return redacted.text

    def _strings(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        # What waits is counted when it is stored as an event.
        cleaned, _ = secrets.redact_strings(state)
        return forgotten_titles.without(cleaned) if isinstance(cleaned, dict) else {}
