"""The quarantine: what could not be taken, to look at, to try again, or to drop.

Hook files lie in it; transcripts are their agents' own and are only named. Whatever is
asked for is looked up in the list, so that a name is never taken for a path.
"""

import hashlib
import heapq
import json
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import islice
from pathlib import Path

from memtui.capture import quarantine
from memtui.capture import spool as capture_spool
from memtui.capture.formats import hooks
from memtui.capture.quarantine import UNKNOWN, Quarantine, QuarantinedFile
from memtui.capture.spool import Spool
from memtui.errors import MemtuiError, SpoolError
from memtui.model.events import clean, to_ms
from memtui.services.forget import PROBLEMS
from memtui.store import cursors, database
from memtui.store import problems as store_problems
from memtui.store.problems import Problem, ProblemKind
from memtui.text import secrets

GLANCE_BYTES = 64 * 1024
"""How much of a file is read to say whose it is."""


MARGIN_BYTES = 4096
"""How much more is read than shown, so that no secret is cut in two."""


MOST_CHARS = 40
"""How long an agent's or event's name may be."""


NOWHERE = "line 0: "
"""What stands before a reason that is no line's."""


_PREFIX = "fault-"


_WHOLE_DOCUMENTS = frozenset({".db", ".json", ".sqlite"})
"""Files whose records stand on no line of their own."""


class EntryKind(StrEnum):
    """What could not be taken."""

    HOOK = "hook"
    """A hook's file, which lies in the quarantine."""
    TRANSCRIPT = "transcript"
    """Records of a transcript, which stays where its agent keeps it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that could not be taken."""

    name: str
    """What it is called in the list: no path."""
    kind: EntryKind
    at: datetime
    """When the hook left it; of a transcript, when the last record was noticed."""
    agent: str
    event: str
    file: str
    """The transcript; empty for a hook's file."""
    line: int
    """The line of the latest of the records, from 1; 0 where there are no lines."""
    count: int
    """How many records."""
    size: int
    """In bytes, of a hook's file."""
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """One of them with what it says."""

    entry: Entry
    text: str
    """Without secrets and control characters; empty where there is nothing to show."""
    is_cut: bool
    """Whether there is more of it."""
    note: str
    """Why there is nothing to show; else empty."""


def of_hook(found: QuarantinedFile, box: Quarantine) -> Entry:
    """A hook's file in the list."""
    letter = found.letter
    said = letter.agent, letter.event
    if found.is_regular and found.size <= GLANCE_BYTES:
        with suppress(SpoolError):
            said = hooks.sender(box.read(found), agent=said[0], event=said[1])
    reasons = box.reasons(found) or [UNKNOWN]
    return Entry(
        name=found.name,
        kind=EntryKind.HOOK,
        at=found.received_at,
        agent=_word(said[0]),
        event=_word(said[1]),
        file="",
        line=0,
        count=len(reasons),
        size=found.size if found.is_regular else 0,
        reasons=tuple(_plain(reason).removeprefix(NOWHERE) for reason in reasons),
    )


def of_fault(fault: Problem, agent: str) -> Entry:
    """Records of a transcript in the list."""
    return Entry(
        name=name_of(fault),
        kind=EntryKind.TRANSCRIPT,
        at=fault.last_at,
        agent=agent,
        event="",
        file=fault.source,
        line=fault.line,
        count=fault.count,
        size=0,
        reasons=(_plain(fault.reason),),
    )


def name_of(fault: Problem) -> str:
    """What records of a transcript that fail for one reason are called."""
    named = f"{fault.source}\x1f{fault.reason}".encode("utf-8", "replace")
    return _PREFIX + hashlib.blake2b(named, digest_size=5).hexdigest()


def content(
    found: QuarantinedFile, box: Quarantine, limit: int | None
) -> tuple[str, bool, str]:
    """What a hook's file says: the text, whether it is cut, or why there is none.

    Args:
        found: The file.
        box: Where it lies.
        limit: How many bytes to read of it; all when None.
    """
    most = None if limit is None else limit + MARGIN_BYTES
    try:
        raw = box.read(found, most)
    except SpoolError as error:
        return "", False, f"It cannot be read: {error}."
    if not raw:
        return "", False, "The file is empty."
    return *_legible(raw, limit), ""


def line(file: Path, number: int, limit: int | None) -> tuple[str, bool, str]:
    """What a line of a transcript says now, as ``content`` tells it."""
    if not number or file.suffix in _WHOLE_DOCUMENTS:
        return "", False, "The record stands on no line of its own."
    most = -1 if limit is None else limit + MARGIN_BYTES
    try:
        if not file.is_file():
            return "", False, "The file is not there any more."
        with file.open("rb") as opened:
            for _ in islice(opened, number - 1):
                pass
            raw = opened.readline(most)
    except OSError as error:
        return "", False, f"It cannot be read: {error.strerror}."
    if not raw.strip():
        return "", False, "The file has nothing on this line any more."
    return *_legible(raw, limit), ""


def _legible(raw: bytes, limit: int | None) -> tuple[str, bool]:
    cleaned, _ = quarantine.redact_file(raw)
    text = "\n".join(_parts(cleaned)).strip("\n")
    if limit is None or len(raw) <= limit:
        return text, False
    return text[:limit], True


def _parts(raw: bytes) -> Iterator[str]:
    """The text of every piece, records one field a line."""
    for piece in capture_spool.split_records(raw):
        if piece.fields is not None:
            try:
                yield clean(json.dumps(piece.fields, ensure_ascii=False, indent=2))
                continue
            except RecursionError:
                pass
        yield clean(quarantine.decode(piece.raw))


def _word(said: str) -> str:
    return " ".join(_plain(said).split())[:MOST_CHARS]


def _plain(said: str) -> str:
    return secrets.redact(clean(said)).text


FILES_AT_ONCE = 200
"""How many files are moved or deleted before they are counted no more."""


Held = QuarantinedFile | Problem
"""A hook's file, or records of a transcript."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some of what could not be taken, the newest first."""

    entries: tuple[Entry, ...]
    offset: int
    total: int
    """How many entries there are: hook files, and faults of transcripts."""
    records: int
    """How many records of both could not be taken: a fault may have many."""


@dataclass(frozen=True, slots=True)
class Retried:
    """What is to be tried again."""

    names: tuple[str, ...]
    """What it is called in the list."""
    files: tuple[Path, ...]
    """The transcripts to be read again from their start."""
    problems: tuple[str, ...]
    """Why the others are not."""


class Became(StrEnum):
    """What became of something that was tried again."""

    TAKEN = "taken"
    REFUSED = "refused again"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one of them, and why."""

    name: str
    became: Became
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dropped:
    """What was dropped."""

    files: int
    """Hook files that were deleted."""
    notes: int
    """Transcripts' faults that are not noted any more."""
    problems: tuple[str, ...]
    """Why others were not."""


class QuarantineService:
    """What one memtui could not take."""

    def __init__(self, spool: Path) -> None:
        """Remember the hooks directory."""
        self._box, self._spool = quarantine.Quarantine(spool), Spool(spool)

    def page(self, offset: int = 0, limit: int = 50) -> Page:
        """Some of what could not be taken, the newest first."""
        files: list[Held] = [*self._box.files()]
        with database.connection():
            noted: list[Held] = [*_faults(offset + limit)]
            total = len(files) + store_problems.count_rows(
                ProblemKind.FAULT, besides=PROBLEMS
            )
            merged = heapq.merge(files, noted, key=_at_ms, reverse=True)
            found = list(islice(merged, offset, offset + limit))
            entries = tuple(self._entries(found))
            return Page(entries, offset, total, store_problems.count_damaged())

    def show(self, name: str, limit: int | None = None) -> Shown:
        """One of them with what it says.

        Args:
            name: What it is called in the list.
            limit: How much of it to read, in bytes; all when None.

        Raises:
            MemtuiError: Nothing is called so.
        """
        with database.connection():
            (held,) = self._named([name])
            (entry,) = self._entries([held])
        if isinstance(held, QuarantinedFile):
            return Shown(entry, *content(held, self._box, limit))
        return Shown(entry, *line(Path(held.source), held.line, limit))

    def retry(self, names: Sequence[str] | None = None) -> Retried:
        """Have hook files taken again, and transcripts read from their start.

        Args:
            names: What they are called in the list; all when None.

        Raises:
            MemtuiError: Nothing is called so; then nothing is done.
        """
        with database.connection():
            held = self._named(names)
        files = {h.source: Path(h.source) for h in held if isinstance(h, Problem)}
        there = {source for source, file in files.items() if file.is_file()}
        done, why_not = self._move(held, self._box.retry)
        given = [h for h in held if isinstance(h, Problem)]
        why_not += [f"{s}: is not there any more" for s in files if s not in there]
        with database.transaction():
            cursors.delete(sorted(there))
        done += [name_of(one) for one in given if one.source in there]
        return Retried(
            tuple(done), tuple(files[s] for s in sorted(there)), tuple(why_not)
        )

    def outcomes(self, names: Iterable[str]) -> list[Outcome]:
        """What became of what was tried again, once it was."""
        # In this order: what is refused meanwhile is found in one place at least.
        waiting = set(self._spool.names())
        with database.connection():
            bad = self._all()
        return [_outcome(name, bad.get(name), self._box, waiting) for name in names]

    def count(self, names: Sequence[str] | None = None) -> Dropped:
        """What ``drop`` would drop."""
        with database.connection():
            held = self._named(names)
        files = sum(isinstance(one, QuarantinedFile) for one in held)
        return Dropped(files, len(held) - files, ())

    def drop(self, names: Sequence[str] | None = None) -> Dropped:
        """Delete hook files, and note faults of transcripts no more.

        Args:
            names: What they are called in the list; all when None.

        Raises:
            MemtuiError: Nothing is called so; then nothing is done.
        """
        with database.connection():
            held = self._named(names)
        done, why_not = self._move(held, self._box.delete)
        noted = [one for one in held if isinstance(one, Problem)]
        with database.transaction():
            for one in noted:
                store_problems.subtract(one.source, one.reason, one.count)
        return Dropped(len(done), len(noted), tuple(why_not))

    def _move(
        self, held: Sequence[Held], move: Callable[[QuarantinedFile], None]
    ) -> tuple[list[str], list[str]]:
        """Move or delete hook files; what was, and why others were not."""
        done: list[str] = []
        why_not: list[str] = []
        files = [one for one in held if isinstance(one, QuarantinedFile)]
        for start in range(0, len(files), FILES_AT_ONCE):
            gone: Tally[str] = Tally()
            for file in files[start : start + FILES_AT_ONCE]:
                reasons = self._box.counted_reasons(file)
                try:
                    move(file)
                except SpoolError as error:
                    why_not.append(str(error))
                    continue
                done.append(file.name)
                gone.update(reasons)
            with database.transaction():
                for reason, count in gone.items():
                    store_problems.subtract(PROBLEMS, reason, count)
        return done, why_not

    def _named(self, names: Sequence[str] | None) -> list[Held]:
        every = self._all()
        if names is None:
            return list(every.values())
        for name in names:
            if name not in every:
                raise MemtuiError(
                    f"nothing in the quarantine is called {name!r};"
                    " memtui quarantine list names all there is"
                )
        return [every[name] for name in dict.fromkeys(names)]

    def _all(self) -> dict[str, Held]:
        noted: dict[str, Held] = {name_of(one): one for one in _faults(None)}
        return noted | {file.name: file for file in self._box.files()}

    def _entries(self, held: Sequence[Held]) -> Iterator[Entry]:
        sources = (one.source for one in held if isinstance(one, Problem))
        agents = cursors.get_formats(sources)
        for one in held:
            if isinstance(one, QuarantinedFile):
                yield of_hook(one, self._box)
            else:
                yield of_fault(one, agents.get(one.source, ""))


def _faults(limit: int | None) -> list[Problem]:
    return store_problems.list_latest(limit, kind=ProblemKind.FAULT, besides=PROBLEMS)


def _at_ms(held: Held) -> int:
    return to_ms(
        held.received_at if isinstance(held, QuarantinedFile) else held.last_at
    )


def _outcome(
    name: str, held: Held | None, box: quarantine.Quarantine, waiting: set[str]
) -> Outcome:
    if isinstance(held, QuarantinedFile):
        return Outcome(name, Became.REFUSED, tuple(box.reasons(held)))
    if held is not None:
        where = f"line {held.line}: " if held.line else ""
        return Outcome(name, Became.REFUSED, (f"{where}{held.reason}",))
    return Outcome(name, Became.WAITING if name in waiting else Became.TAKEN)
