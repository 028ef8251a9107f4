"""Redaction removes the secrets from what was stored by older rules.

New content is redacted before it is stored. The store is read in batches, and the
position is saved: if the process ends, the next run continues there.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from functools import partial

from memtui.capture.spool import DRAFTS_FOLDER, Spool, redact_file
from memtui.model.events import Event, counted_text, to_ms
from memtui.paths import Paths
from memtui.redaction import RULES_VERSION, redact, redact_event, redact_json
from memtui.services.forget import remove_traces, rolled_back
from memtui.store import database, deletion, events, meta, redaction, schema, sources
from memtui.text.tokens import TokenCounter

MIN_DRAFT_AGE = timedelta(minutes=1)
"""A hook may still be writing to a younger draft."""

BATCH_SIZE = 500
"""The number of events, or thoughts, read in one transaction."""


@dataclass(slots=True)
class RedactionResult:
    """The secrets removed, and the amount of text searched."""

    kinds: Counter[str] = field(default_factory=Counter)
    """The number of secrets of each kind."""
    events: int = 0
    thoughts: int = 0
    titles: int = 0
    """Sessions and subagents whose titles, tasks or metadata had a secret."""
    states: int = 0
    """Saved states of file readers, and reasons of skipped records."""
    hook_files: int = 0
    names: Counter[str] = field(default_factory=Counter)
    """The number of names of agents, sessions and files with a secret, which stays."""


class Redaction:
    def __init__(
        self,
        paths: Paths,
        zone: tzinfo,
        counter: TokenCounter,
        clock: Callable[[], datetime],
    ) -> None:
        """Create the service; no other process may use the store at the same time."""
        self._paths, self._zone, self._spool = paths, zone, Spool(paths.spool)
        self._counter, self._clock = counter, clock
        self._result, self._is_dry_run = RedactionResult(), False

    def run(self, *, is_dry_run: bool = False) -> RedactionResult:
        """Remove all secrets.

        Raises:
            MemtuiError: Something is in use or cannot be written; what was done stays,
                and another run does the rest.
        """
        self._result, self._is_dry_run = RedactionResult(), is_dry_run
        with database.connection():
            deletion.enable_secure_delete()
            self._redact_events()
            self._redact_thoughts()
            self._redact_others()
            self._check_names()
            needs_cleanup = meta.needs_cleanup()
        if needs_cleanup and not is_dry_run:
            remove_traces(self._paths)
        if not is_dry_run:
            with database.transaction():
                meta.set_redaction_version(RULES_VERSION)
        return self._result

    def _redact_events(self) -> None:
        last = "" if self._is_dry_run else _saved_position()
        while batch := events.read_after(last, BATCH_SIZE):
            kinds = Counter[str]()
            changed = list(self._find_changed(batch, kinds))
            self._result.events += len(changed)
            self._result.kinds += kinds
            last = batch[-1].event_id
            if not self._is_dry_run:
                with database.transaction():
                    if changed:
                        names = [event.event_id for event in changed]
                        deletion.select_events("id", names)
                        self._delete_derived()
                        redaction.replace_events(changed)
                    self._count(kinds)
                    meta.write(meta.REDACTION_POSITION, f"{RULES_VERSION} {last}")

    def _find_changed(
        self, batch: Sequence[Event], kinds: Counter[str]
    ) -> Iterator[Event]:
        for event in batch:
            redacted, secret_kinds = redact_event(event)
            if secret_kinds:
                kinds.update(secret_kinds)
                tokens = self._counter.count(counted_text(redacted))
                name = self._counter.name
                yield replace(redacted, tokens=tokens, token_counter=name)

    def _delete_derived(self) -> None:
        """Delete what was made from the selected events, and have it made again."""
        deletion.find_derived()
        with schema.unlocked():
            deletion.delete_derived(self._zone, to_ms(self._clock()))

    def _redact_thoughts(self) -> None:
        last = ""
        while batch := events.read_thoughts_after(last, BATCH_SIZE):
            kinds = Counter[str]()
            changed = {
                name: replace(thought, text=text)
                for name, thought in batch
                if (text := _redact(kinds, thought.text)) != thought.text
            }
            self._result.thoughts += len(changed)
            self._result.kinds += kinds
            last, _ = batch[-1]
            if changed and not self._is_dry_run:
                with database.transaction():
                    redaction.replace_thoughts(changed)
                    self._count(kinds)

    def _redact_others(self) -> None:
        """Redact titles, tasks, states of file readers, and hook files."""
        kinds = Counter[str]()
        result = self._result
        with rolled_back() if self._is_dry_run else database.transaction():
            changed = redaction.redact_sessions(partial(_redact, kinds))
            if changed and not self._is_dry_run:
                # Versions repeat the title and the project of a session.
                deletion.select_events("session_id", changed)
                self._delete_derived()
            result.titles += len(changed)
            result.titles += redaction.redact_subagents(partial(_redact, kinds))
            result.states += redaction.redact_cursors(partial(_redact_all, kinds))
            result.states += redaction.redact_problems(partial(_redact, kinds))
            self._count(kinds)
        result.hook_files, in_spool = redact_spool(
            self._spool, self._clock(), is_dry_run=self._is_dry_run
        )
        result.kinds += kinds + in_spool
        if in_spool and not self._is_dry_run:
            with database.transaction():
                self._count(in_spool)

    def _check_names(self) -> None:
        names = set(redaction.list_kept_names())
        names |= {("file", file.name) for _, file in self._spool.all_files()}
        kinds = (kind for kind, name in names if redact(name).kinds)
        self._result.names.update(kinds)

    def _count(self, kinds: Counter[str]) -> None:
        """Count removed secrets, and have their traces removed."""
        if kinds:
            sources.add_redactions(kinds, to_ms(self._clock()))
            meta.request_cleanup()


def redact_spool(
    spool: Spool, now: datetime, *, is_dry_run: bool = False
) -> tuple[int, Counter[str]]:
    """Remove the secrets from all hook files.

    Young drafts are left to the hook that writes them.

    Returns:
        The number of files with a secret, and of secrets of each kind.
    """
    count, all_kinds = 0, Counter[str]()
    for folder, file in spool.all_files():
        if folder == DRAFTS_FOLDER and now - file.received_at < MIN_DRAFT_AGE:
            continue
        raw, secret_kinds = redact_file(file.raw)
        kinds = Counter(secret_kinds)
        reasons = [redact(line) for line in spool.reason_lines(folder, file.name)]
        for reason in reasons:
            kinds.update(reason.kinds)
        if not kinds:
            continue
        count += 1
        all_kinds += kinds
        if not is_dry_run:
            spool.rewrite(folder, file, raw, [reason.text for reason in reasons])
    return count, all_kinds


def _saved_position() -> str:
    """Return the last event checked by the current rules; "" to start again."""
    version, _, last = meta.read(meta.REDACTION_POSITION).partition(" ")
    return last if version == str(RULES_VERSION) else ""


def _redact(kinds: Counter[str], text: str) -> str:
    redacted = redact(text)
    kinds.update(redacted.kinds)
    return redacted.text


def _redact_all(kinds: Counter[str], value: object) -> object:
    redacted, secret_kinds = redact_json(value)
    kinds.update(secret_kinds)
    return redacted
