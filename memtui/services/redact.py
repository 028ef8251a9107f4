"""Taking secrets out of what is kept already, by the rules of today.

What comes in is redacted before it is stored; this is for what was stored by older
rules, or before there were any. It goes through the store in batches and notes how far
it has come: ended anywhere, it goes on from there.
"""

from collections import Counter as Tally
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

from memtui.capture import quarantine
from memtui.capture.spool import DRAFTS_FOLDER, Spool
from memtui.model.events import Event, to_ms
from memtui.model.segments import counted_text
from memtui.services import forget
from memtui.services.forget import Forget
from memtui.store import archive, database, deletion, meta, problems, redaction
from memtui.text import secrets
from memtui.text.tokens import Counter

WRITTEN_FOR = timedelta(minutes=1)
"""How long a hook may take to write its file; nobody touches a draft before."""


def clean(
    spool: Spool, now: datetime, *, is_tried: bool = False
) -> tuple[int, Tally[str]]:
    """Take the secrets out of all files.

    Args:
        spool: The hooks directory.
        now: The time: a draft that may still be written to is left to its hook.
        is_tried: Only count.

    Returns:
        How many files held a secret, and how many secrets of each kind there were.
    """
    count, all_kinds = 0, Tally[str]()
    for box, letter in spool.all_files():
        if box == DRAFTS_FOLDER and now - letter.received_at < WRITTEN_FOR:
            continue
        raw, found = quarantine.redact_file(letter.raw)
        kinds = Tally(found)
        said = [secrets.redact(line) for line in spool.reason_lines(box, letter.name)]
        for line in said:
            kinds.update(line.kinds)
        if not kinds:
            continue
        count += 1
        all_kinds += kinds
        if not is_tried:
            spool.rewrite(box, letter, raw, [line.text for line in said])
    return count, all_kinds


AT_ONCE = 500
"""How many events, or thoughts, one transaction looks at."""


@dataclass(slots=True)
class Redacted:
    """What was taken out, and of how much."""

    kinds: Tally[str] = field(default_factory=Tally)
    """How many secrets of each kind."""
    events: int = 0
    thoughts: int = 0
    titles: int = 0
    """Sessions and subagents of which something was told that held one."""
    readings: int = 0
    """Files whose readers remember what they read, and reasons for what they left."""
    hook_files: int = 0
    forgotten: int = 0
    """Events of a forgetting that was broken off, and is done now."""


class Redact:
    """Takes secrets out of one store."""

    def __init__(
        self,
        places: forget.Places,
        spool: Path,
        zone: tzinfo,
        counter: Counter,
        clock: Callable[[], datetime],
    ) -> None:
        """Remember where everything lies; nobody else may work the store meanwhile.

        Args:
            places: Where traces are left.
            spool: The hooks directory.
            zone: The store's time zone.
            counter: How the tokens of changed events are counted.
            clock: The time, aware.
        """
        self._places, self._folder, self._zone = places, spool, zone
        self._spool = Spool(spool)
        self._counter, self._clock = counter, clock
        self._done, self._is_tried = Redacted(), False

    def run(self, *, is_tried: bool = False) -> Redacted:
        """Take out all secrets.

        Args:
            is_tried: Only look, and count; nothing changes.

        Raises:
            MemtuiError: Something is in use or cannot be written; what was done stays,
                and the rest can be done by another run.
        """
        self._done, self._is_tried = Redacted(), is_tried
        if not is_tried:
            self._finish()
        with database.connection():
            forget.write_over()
            self._events()
            self._thoughts()
            self._rest()
            is_due = meta.needs_cleanup()
        if is_due and not is_tried:
            forget.remove(self._places)
        if not is_tried:
            with database.transaction():
                meta.set_redaction_version(secrets.RULES_VERSION)
        return self._done

    def _finish(self) -> None:
        """Do what a forgetting left to be done: only then are its traces all of it."""
        left = Forget(self._places, self._folder, self._zone, self._clock).finish()
        self._done.forgotten = left.kept.events if left else 0

    def _events(self) -> None:
        last = "" if self._is_tried else _left_at()
        while batch := archive.read_events_after(last, AT_ONCE):
            kinds: Tally[str] = Tally()
            changed = list(self._changed(batch, kinds))
            self._done.events += len(changed)
            self._done.kinds += kinds
            last = batch[-1].event_id
            if not self._is_tried:
                with database.transaction():
                    if changed:
                        self._put(changed)
                    self._count(kinds)
                    meta.set_redaction_position(f"{secrets.RULES_VERSION} {last}")

    def _changed(self, batch: Sequence[Event], kinds: Tally[str]) -> Iterator[Event]:
        """The events that held a secret, without it."""
        for event in batch:
            cleaned, found = secrets.redact_event(event)
            if found:
                kinds.update(found)
                tokens = self._counter.count(counted_text(cleaned))
                yield replace(cleaned, tokens=tokens, token_counter=self._counter.name)

    def _put(self, changed: Sequence[Event]) -> None:
        """Put changed events in place, and have all that was made of them made anew."""
        deletion.clear()
        deletion.select_events([event.event_id for event in changed])
        deletion.find_derived()
        deletion.delete_derived(self._zone, to_ms(self._clock()))
        archive.replace(changed)

    def _thoughts(self) -> None:
        last = ""
        while batch := redaction.list_thoughts_after(last, AT_ONCE):
            kinds: Tally[str] = Tally()
            cleaned = [(name, text, _clean(text, kinds)) for name, text in batch]
            changed = [(name, new) for name, old, new in cleaned if new != old]
            self._done.thoughts += len(changed)
            self._done.kinds += kinds
            last = batch[-1][0]
            if changed and not self._is_tried:
                with database.transaction():
                    redaction.update_thoughts(changed)
                    self._count(kinds)

    def _rest(self) -> None:
        """What is little: titles, tasks, what readers remember, the hooks directory."""
        kinds: Tally[str] = Tally()
        done = self._done
        with forget.writing(is_undone=self._is_tried):
            done.titles += redaction.redact_sessions(lambda text: _clean(text, kinds))
            done.titles += redaction.redact_subagents(lambda text: _clean(text, kinds))
            done.readings += redaction.redact_cursors(lambda held: _all(held, kinds))
            done.readings += redaction.redact_problems(lambda text: _clean(text, kinds))
            self._count(kinds)
        done.hook_files, others = clean(
            self._spool, self._clock(), is_tried=self._is_tried
        )
        done.kinds += kinds + others
        if others and not self._is_tried:
            with database.transaction():
                self._count(others)

    def _count(self, kinds: Tally[str]) -> None:
        """Count what is taken out, whose traces are then to be removed."""
        if kinds:
            problems.add_redactions(kinds, to_ms(self._clock()))
            meta.set_needs_cleanup(True)
            meta.reset_indexes()


def _left_at() -> str:
    """The last event that was looked at by these rules, if not all were yet."""
    version, _, last = meta.redaction_position().partition(" ")
    return last if version == str(secrets.RULES_VERSION) else ""


def _clean(text: str, kinds: Tally[str]) -> str:
    redacted = secrets.redact(text)
    kinds.update(redacted.kinds)
    return redacted.text


def _all(held: object, kinds: Tally[str]) -> object:
    cleaned, found = secrets.redact_strings(held)
    kinds.update(found)
    return cleaned
