"""spool → events: what hooks left is stored, then deleted where it lay."""

import logging
import time
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from memtui.capture import projects, quarantine
from memtui.capture.formats import hooks
from memtui.capture.formats.base import (
    HOOK,
    Cursor,
    InvalidRecord,
    ParsedItem,
    PendingRecord,
    SkippedRecord,
    as_text,
)
from memtui.capture.policy import Exclusions
from memtui.capture.quarantine import InvalidPart, Quarantine
from memtui.capture.spool import Spool, SpoolFile
from memtui.errors import SpoolError, StoreError
from memtui.model.events import Event, Thought, clean, to_ms
from memtui.model.segments import counted_text
from memtui.model.sessions import SessionMetadata, SubagentMetadata, project_folder
from memtui.store import (
    cursors,
    database,
    meta,
    owners,
    problems,
    segments,
    sessions,
    tombstones,
)
from memtui.store import events as store_events
from memtui.store.problems import ProblemCount, ProblemKind
from memtui.text import secrets
from memtui.text.tokens import TokenCounter

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

ABOUT_HELPERS = ("kind", "tool_use_id", "subagent", "task")
"""What is told so of a subagent."""

OTHER_PROJECT = "of another project, whose memory is kept apart"
"""Why a session is left out of a store that keeps one project alone."""

FORGOTTEN = "of a project that was forgotten"
"""Why a session is left out that a person does not want back."""


@dataclass(frozen=True, slots=True)
class CapturePolicy:
    """Whose conversations are kept."""

    exclusions: Exclusions = field(default_factory=lambda: Exclusions(()))
    only_root: str = ""
    """The one repository or folder whose sessions are kept; "" to keep all."""


class IngestFilter:
    """Lets the readings of one file pass."""

    def __init__(self, admission: CapturePolicy, path: str = "") -> None:
        """Remember the rules.

        Args:
            admission: Whose conversations are kept.
            path: The file the readings are from, for the rules on paths.
        """
        self._admission, self._path = admission, path
        self._why_not: dict[tuple[str, str], str] = {}
        self.redaction_counts: Tally[str] = Tally()
        """How many secrets were taken out, by kind, since this was last cleared."""
        self.has_forgotten = False
        """Whether something came by that a person had forgotten."""
        self.forgotten_count = 0
        """How many events were left out for that, since this was last cleared."""

    def filter_items(self, readings: Iterable[ParsedItem]) -> Iterator[ParsedItem]:
        """Let readings pass, changed where they must be; inside a connection."""
        for reading in readings:
            if isinstance(reading, SessionMetadata):
                yield from self._facts(reading)
            elif isinstance(reading, Event | Thought | SubagentMetadata):
                reason = self._why_not.get((reading.agent, reading.session_id))
                if reason and not isinstance(reading, SubagentMetadata):
                    self.forgotten_count += reason == FORGOTTEN and isinstance(
                        reading, Event
                    )
                    yield SkippedRecord(reason)
                elif not reason:
                    yield self._clean(reading)
            elif isinstance(reading, Cursor):
                state = self._strings(reading.state)
                yield replace(reading, state=state)
            elif isinstance(reading, InvalidRecord | SkippedRecord | PendingRecord):
                reason = self._text(reading.reason)
                is_same = reason is reading.reason
                yield reading if is_same else replace(reading, reason=reason)
            else:
                yield reading

    def payload_reason(self, payload: Mapping[str, object]) -> str:
        """Why nothing of a hook's payload is kept, not even put aside; "" if it may be.

        Args:
            payload: One that could not be taken; it may say of which project it is.
        """
        said = hooks.normalize_fields(payload)
        session_id, cwd = (clean(as_text(said.get(n))) for n in ("session_id", "cwd"))
        if session_id and tombstones.find_agents(session_id):
            return "of a session that was forgotten"
        if not cwd:
            return ""
        place = projects.locate_project(cwd)
        return self._reason(
            SessionMetadata("", session_id, cwd, place.project, root=place.root)
        )

    def store_redaction_counts(self, now_ms: int) -> None:
        """Store how many secrets were taken out; inside a transaction."""
        problems.add_redactions(self.redaction_counts, now_ms)
        self.redaction_counts.clear()

    def _facts(self, facts: SessionMetadata) -> Iterator[SessionMetadata]:
        place = projects.locate_project(clean(facts.cwd), clean(facts.root))
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

    def _reason(self, facts: SessionMetadata) -> str:
        """Why a session is left out; "" if it is kept."""
        only = self._admission.only_root
        if only and only not in (facts.root, facts.cwd.rstrip("/")):
            return OTHER_PROJECT
        if rule := self._admission.exclusions.rule_for(
            project=facts.project, cwd=facts.cwd, root=facts.root, path=self._path
        ):
            return f"excluded by {rule}"
        if tombstones.covers_project(
            facts.project, project_folder(facts.root, facts.cwd)
        ):
            self.has_forgotten = True
            return FORGOTTEN
        return ""

    def _clean(
        self, reading: Event | Thought | SubagentMetadata
    ) -> Event | Thought | SubagentMetadata:
        if isinstance(reading, SubagentMetadata):
            said = {name: self._text(getattr(reading, name)) for name in ABOUT_HELPERS}
            return replace(reading, **said)
        if isinstance(reading, Thought):
            text, name = self._text(reading.text), self._name(reading.subagent)
            if text is reading.text and name == reading.subagent:
                return reading
            return replace(reading, text=text, subagent=name)
        event, kinds = secrets.redact_event(reading)
        self.redaction_counts.update(kinds)
        if event.subagent and (name := self._name(event.subagent)) != event.subagent:
            event = replace(event, subagent=name)
        return event

    def _name(self, name: str) -> str:
        return secrets.redact_cached(name).text if name else name

    def _text(self, text: str) -> str:
        redacted = secrets.redact(text)
        self.redaction_counts.update(redacted.kinds)
        return redacted.text

    def _strings(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        # What waits is counted when it is stored as an event.
        cleaned, _ = secrets.redact_json(state)
        return tombstones.remove_titles(cleaned) if isinstance(cleaned, dict) else {}


log = logging.getLogger(__name__)

FILES_AT_ONCE = 200
"""How many spool files one transaction takes."""

BYTES_AT_ONCE = 32 * 1024 * 1024
"""How much of them one transaction takes, unless one file alone is larger."""

DRAFTS_S = 60.0
"""How often drafts are looked for that killed hooks have left, in seconds."""

ABANDONED = timedelta(minutes=10)
"""How long after its last word a draft's hook has surely been killed."""

SOURCE = "hooks"
"""The name under which problems with spool files are counted."""


@dataclass(frozen=True, slots=True)
class _Taken:
    """What one file held."""

    name: str
    events: tuple[Event, ...] = ()
    thoughts: tuple[Thought, ...] = ()
    facts: tuple[SessionMetadata, ...] = ()
    refused: tuple[InvalidRecord, ...] = ()
    left: tuple[SkippedRecord, ...] = ()
    redacted: Mapping[str, int] = field(default_factory=dict)
    remnant: InvalidPart | None = None
    """What is put aside of it, where some is refused; none where it cannot be read."""

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is all for a memory of another project."""
        return bool(self.left) and all(
            left.reason == OTHER_PROJECT for left in self.left
        )


class SpoolIngester:
    """Takes files from the spool."""

    def __init__(
        self,
        spool: Spool,
        counter: TokenCounter,
        clock: Callable[[], datetime],
        admission: CapturePolicy,
    ) -> None:
        """Remember where files come from, how tokens are counted, and what is kept."""
        self._spool, self._counter, self._clock = spool, counter, clock
        self._admission = admission
        self._elsewhere: set[str] = set()
        self._next_drafts_s = 0.0
        self._is_counted = False

    def step(self) -> int:
        """Take a batch of files; how many were taken."""
        if not self._is_counted:
            self.recount()
        self._take_up_drafts()
        names = [name for name in self._spool.names() if name not in self._elsewhere]
        with database.connection():
            taken = list(self._read(names[:FILES_AT_ONCE]))
        # What is for another project's memory is left lying for it.
        self._elsewhere.update(file.name for file in taken if file.is_elsewhere)
        taken = [file for file in taken if not file.is_elsewhere]
        try:
            self._keep(taken)
        except StoreError:
            raise
        except Exception:
            log.exception("a batch of hook files could not be kept; taken one by one")
            taken = [self._kept_alone(file) for file in taken]
        # Should one of them not be moved, it will be counted again.
        self._is_counted = False
        for file in taken:
            self._tidy(file)
        self._is_counted = True
        return len(taken)

    def _tidy(self, file: _Taken) -> None:
        """Take a file that was kept out of the others' way."""
        if not file.refused:
            self._spool.delete(file.name)
        elif file.remnant:
            raw = file.remnant.raw if file.remnant.is_changed else None
            self._spool.quarantine(file.name, file.remnant.reasons, raw)
        else:
            reasons = [f"line {r.line}: {quarantine.reason(r)}" for r in file.refused]
            self._spool.quarantine(file.name, reasons)

    def recount(self) -> None:
        """Count what lies in the quarantine: whoever was killed counted otherwise."""
        box = Quarantine(self._spool.folder)
        box.delete_stray_reasons()
        there = Tally(
            reason for file in box.files() for reason in box.counted_reasons(file)
        )
        with database.connection(), database.transaction():
            counted = Tally(problems.get_damaged(SOURCE))
            more = (there - counted).items()
            counts = [
                ProblemCount(reason, ProblemKind.DAMAGED, 0, number)
                for reason, number in more
            ]
            problems.add(SOURCE, counts, to_ms(self._clock()))
            for reason, number in (counted - there).items():
                problems.subtract(SOURCE, reason, number)
        self._is_counted = True

    def _take_up_drafts(self) -> None:
        """Now and then: see to what killed hooks have left."""
        now_s = time.monotonic()
        if now_s >= self._next_drafts_s:
            self._next_drafts_s = now_s + DRAFTS_S
            self._spool.recover_drafts(self._clock() - ABANDONED)

    def _kept_alone(self, file: _Taken) -> _Taken:
        """Keep one file, or refuse it: it must not hold up those behind it."""
        try:
            self._keep([file])
        except StoreError:
            raise
        except Exception as error:
            reason = InvalidRecord(f"cannot be kept: {type(error).__name__}: {error}")
            file = self._whole(file.name, reason)
            self._keep([file])
        return file

    def _whole(self, name: str, refused: InvalidRecord) -> _Taken:
        """A file of which nothing is taken."""
        said = replace(refused, reason=quarantine.reason(refused))
        try:
            letter = self._spool.read(name)
        except SpoolError:
            letter = None
        if letter is None:
            return _Taken(name, refused=(said,))
        raw, kinds = quarantine.redact_file(letter.raw)
        remnant = InvalidPart(raw, raw != letter.raw, (said,), kinds=kinds)
        return _Taken(name, refused=(said,), redacted=Tally(kinds), remnant=remnant)

    def _keep(self, taken: Sequence[_Taken]) -> None:
        if not taken:
            return
        told = count_tokens((e for file in taken for e in file.events), self._counter)
        now_ms = to_ms(self._clock())
        with database.transaction(durable=True):
            added = store_events.add(told, route=HOOK)
            new = set(added.created)
            cursors.add_activity(SOURCE, [e for e in told if e.event_id in new], now_ms)
            # What somebody kept who was killed is not counted again.
            before = meta.stored_hook_files()
            for file in taken:
                store_events.add_thoughts(file.thoughts)
                store_session_metadata(file.facts)
                problems.add(SOURCE, _faults(file), now_ms)
                if file.name not in before:
                    problems.add_redactions(file.redacted, now_ms)
                    problems.add(SOURCE, _left(file), now_ms)
            meta.set_stored_hook_files(file.name for file in taken)
            owners.update()

    def _read(self, names: Sequence[str]) -> Iterator[_Taken]:
        size = 0
        for name in names:
            try:
                letter = self._spool.read(name)
            except SpoolError as error:
                reason = InvalidRecord(str(error))
                yield _Taken(name, refused=(reason,))
                continue
            if letter is None:
                continue
            yield self._taken(letter)
            size += len(letter.raw)
            if size > BYTES_AT_ONCE:
                return

    def _taken(self, letter: SpoolFile) -> _Taken:
        now = self._clock()
        given = hooks.read(
            letter.raw,
            received_at=letter.received_at,
            now=now,
            agent=letter.agent,
            event=letter.event,
        )
        gate = IngestFilter(self._admission)
        # Whose a session is must be known before its events can pass.
        in_order = sorted(given, key=lambda r: not isinstance(r, SessionMetadata))
        taken = _sorted(letter.name, list(gate.filter_items(in_order)))
        taken = replace(taken, redacted=gate.redaction_counts)
        if not taken.refused:
            return taken
        remnant = quarantine.extract_invalid(letter, now, gate.payload_reason)
        return replace(
            taken,
            refused=remnant.refused,
            left=taken.left + remnant.left,
            redacted=gate.redaction_counts + Tally(remnant.kinds),
            remnant=remnant,
        )


def _faults(file: _Taken) -> Iterator[ProblemCount]:
    for refused in file.refused:
        yield ProblemCount(refused.reason, ProblemKind.DAMAGED, refused.line, 1)


def _left(file: _Taken) -> Iterator[ProblemCount]:
    for left in file.left:
        yield ProblemCount(left.reason, ProblemKind.SKIPPED, left.line, 1)


def _sorted(name: str, readings: Sequence[ParsedItem]) -> _Taken:
    return _Taken(
        name,
        events=tuple(r for r in readings if isinstance(r, Event)),
        thoughts=tuple(r for r in readings if isinstance(r, Thought)),
        facts=tuple(r for r in readings if isinstance(r, SessionMetadata)),
        refused=tuple(r for r in readings if isinstance(r, InvalidRecord)),
        left=tuple(r for r in readings if isinstance(r, SkippedRecord)),
    )


def count_tokens(told: Iterable[Event], counter: TokenCounter) -> list[Event]:
    """Events with their tokens, counted once and for all; by another memory, maybe."""
    return [
        event
        if event.token_counter
        else replace(
            event, tokens=counter.count(counted_text(event)), token_counter=counter.name
        )
        for event in told
    ]


def store_session_metadata(facts: Iterable[SessionMetadata]) -> None:
    """Keep what was told of sessions; one that changes projects is told of anew."""
    for told in facts:
        moved = sessions.update_metadata(told)
        if moved is not None:
            segments.request_session_summaries(moved)
