"""Forgetting: what a person wants gone is gone, with all that was made from it.

What is forgotten is noted first, so that nothing brings it back; then it is deleted
from the hooks directory and, in one transaction, from the store; then its traces are
removed: the index, the log, the room that deleted rows leave. Ended anywhere, it is
taken up again by the next forgetting, and by whoever removes traces.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, tzinfo
from pathlib import Path
from typing import Any

from memtui.capture import projects, quarantine
from memtui.capture import spool as capture_spool
from memtui.capture.formats import hooks
from memtui.capture.formats.base import (
    HOOK,
    InvalidRecord,
    ParsedItem,
    as_text,
    parse_time,
)
from memtui.capture.spool import Spool, SpoolFile, SpoolRecord
from memtui.errors import MemtuiError, StoreError
from memtui.model.events import Event, clean, is_event_id, to_ms
from memtui.model.sessions import SessionMetadata, project_folder
from memtui.search.message_index import MessageIndex
from memtui.search.node_index import NodeIndex
from memtui.store import (
    backup,
    cursors,
    database,
    deletion,
    fingerprints,
    meta,
    problems,
    schema,
    tombstones,
)
from memtui.store import sessions as store_sessions
from memtui.store.deletion import DeletionCounts
from memtui.store.tombstones import Tombstone, TombstoneKind
from memtui.text import secrets

LEAST_CHARS = 6
"""A shorter text is found anywhere."""


MOST_CHARS = 40
"""How much of a text's beginning is looked for: a damaged record may lack its end."""


def of(kind: TombstoneKind, stones: Sequence[Tombstone]) -> list[bytes]:
    """The byte strings by which what is chosen can be found in damaged records."""
    texts: set[str] = set()
    if kind is TombstoneKind.EVENT:
        texts.update(_of_events())
    else:
        texts.update(
            stone.subject for stone in stones if stone.kind is TombstoneKind.SESSION
        )
        texts.update(deletion.list_session_names())
    plain = {text.strip()[:MOST_CHARS] for text in texts}
    if kind is TombstoneKind.PROJECT:
        # Another project's folder may begin alike.
        plain |= deletion.list_folders()
    return sorted({form for text in plain for form in _forms(text)})


def _forms(text: str) -> Iterator[bytes]:
    if len(text) < LEAST_CHARS:
        return
    for written in (text, json.dumps(text)[1:-1], _unescaped(text)):
        yield written.encode("utf-8", "replace")


def _unescaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _of_events() -> Iterator[str]:
    for text, metadata in deletion.list_texts():
        yield text
        # A tool's text says its call in our words: the record has its input and answer.
        yield text.partition("\n")[2]
        given = json.loads(metadata) if metadata else {}
        try:
            yield from _strings(json.loads(given.get("tool_input", "null")))
        except ValueError:
            yield given["tool_input"]


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str) and len(value) > MOST_CHARS // 2:
        yield value
    elif isinstance(value, dict):
        for held in value.values():
            yield from _strings(held)
    elif isinstance(value, list):
        for held in value:
            yield from _strings(held)


PROBLEMS = "hooks"
"""The name under which problems with hook files are counted."""


@dataclass(frozen=True, slots=True)
class Covered:
    """What a forgetting takes, as far as the hooks directory can tell."""

    stones: Sequence[Tombstone]
    needles: Sequence[bytes]
    """What damaged records are known by."""

    @property
    def before_ms(self) -> int:
        """Before when all is forgotten, in milliseconds."""
        return max(
            (s.at_ms for s in self.stones if s.kind is TombstoneKind.BEFORE), default=0
        )

    @property
    def named(self) -> frozenset[tuple[str, str]]:
        """The sessions that are forgotten, by agent and name."""
        stones = (s for s in self.stones if s.kind is TombstoneKind.SESSION)
        return frozenset((s.agent, s.subject) for s in stones)

    @property
    def sessions(self) -> frozenset[str]:
        """The names of the sessions that are forgotten."""
        return frozenset(name for _, name in self.named)


def delete(spool: Spool, covered: Covered, *, is_tried: bool = False) -> int:
    """Delete what is forgotten; inside a transaction that knows the tombstones.

    Args:
        spool: The hooks directory.
        covered: What is forgotten.
        is_tried: Only count.

    Returns:
        How many files held some of it.
    """
    count = 0
    for box, letter in spool.all_files():
        held = capture_spool.split_records(letter.raw)
        kept = [piece for piece in held if not _is_forgotten(piece, letter, covered)]
        if len(kept) == len(held):
            continue
        count += 1
        if is_tried:
            continue
        for reason in spool.reasons(box, letter.name):
            problems.subtract(PROBLEMS, reason)
        if kept:
            raw = capture_spool.join_records(kept)
            spool.rewrite(box, letter, raw, list(_reasons(raw, letter)))
        else:
            spool.remove(box, letter.name)
    return count


def _is_forgotten(piece: SpoolRecord, letter: SpoolFile, covered: Covered) -> bool:
    if piece.fields is None:
        received_ms = to_ms(letter.received_at)
        return received_ms < covered.before_ms or _holds(piece, covered)
    readings = list(_readings(piece.raw, letter))
    told = [secrets.redact_event(r)[0] for r in readings if isinstance(r, Event)]
    if told:
        spared = tombstones.filter_events(
            told,
            route=HOOK
        )
        facts = (r for r in readings if isinstance(r, SessionMetadata))
        return not spared or any(_is_of_project(f.cwd) for f in facts)
    said = hooks.normalize_fields(piece.fields)
    at = parse_time(said.get("timestamp")) or letter.received_at
    return (
        to_ms(at) < covered.before_ms
        or clean(as_text(said.get("session_id"))) in covered.sessions
        or _is_of_project(as_text(said.get("cwd")))
        or _holds(piece, covered)
    )


def _holds(piece: SpoolRecord, covered: Covered) -> bool:
    return any(needle in piece.raw for needle in covered.needles)


def _is_of_project(cwd: str) -> bool:
    place = projects.locate_project(clean(cwd))
    return tombstones.covers_project(place.project, project_folder(place.root, cwd))


def _readings(raw: bytes, letter: SpoolFile) -> Iterator[ParsedItem]:
    return hooks.read(
        raw,
        received_at=letter.received_at,
        now=_ALWAYS,
        agent=letter.agent,
        event=letter.event,
    )


_ALWAYS = datetime(9999, 1, 1, tzinfo=UTC)
"""No time is later: what was quarantined for its time is looked at too."""


def _reasons(raw: bytes, letter: SpoolFile) -> Iterator[str]:
    for reading in _readings(raw, letter):
        if isinstance(reading, InvalidRecord):
            yield f"line {reading.line}: {quarantine.reason(reading)}"


SUGGESTED = 5
"""How many sessions are named whose names begin as a person said."""


def named(
    kind: TombstoneKind, words: Sequence[str], zone: tzinfo, now_ms: int
) -> list[Tombstone]:
    """The tombstones for what a person named; inside a connection.

    Args:
        kind: What they want forgotten: events, sessions, projects, or all before a
            date.
        words: Their ids, names, or the one date.
        zone: The store's time zone, whose midnight a date means.
        now_ms: The time, in milliseconds.

    Raises:
        MemtuiError: One of them names nothing that is known, or more than one project.
    """
    if kind is TombstoneKind.BEFORE:
        stone = _before(words, zone)
        if stone.at_ms > now_ms:
            raise MemtuiError(
                f"{words[0]} is still to come: what is forgotten before a day never"
                " comes back, so nothing new would be kept until then"
            )
        return [stone]
    found = {stone: None for word in words for stone in _of(kind, clean(word))}
    return list(found)


def noted(kind: TombstoneKind, words: Sequence[str], zone: tzinfo) -> list[Tombstone]:
    """The tombstones of what a person once forgot and names again; as ``named``."""
    if kind is TombstoneKind.BEFORE:
        return [_before(words, zone)]
    found: dict[Tombstone, None] = {}
    for word in map(clean, words):
        called = [word.rstrip("/")] if kind is TombstoneKind.PROJECT else []
        if called and not project_folder(word):
            called = tombstones.find_projects(word)
            _refuse_several(word, called)
        if called and tombstones.exists(Tombstone(kind, called[0])):
            found[Tombstone(kind, called[0])] = None
        else:
            found |= dict.fromkeys(_of(kind, word))
    return list(found)


def _before(words: Sequence[str], zone: tzinfo) -> Tombstone:
    if len(words) != 1:
        raise MemtuiError("name one date: memtui forget before 2024-01-31")
    return Tombstone(TombstoneKind.BEFORE, at_ms=_midnight(words[0], zone))


def _of(kind: TombstoneKind, word: str) -> Iterator[Tombstone]:
    if kind is TombstoneKind.SESSION:
        yield from _sessions(word)
        return
    if kind is TombstoneKind.EVENT and not is_event_id(word):
        raise MemtuiError(
            f"{word!r} is not the id of an event; memtui expand GRIP --json shows ids"
        )
    if kind is TombstoneKind.PROJECT and not project_folder(word):
        yield from _projects(word)
        return
    stone = Tombstone(kind, word.rstrip("/"))
    deletion.clear()
    deletion.select([stone])
    if deletion.is_empty() and not tombstones.exists(stone):
        raise MemtuiError(f"there is no {kind} {word!r}")
    yield stone


def _projects(word: str) -> Iterator[Tombstone]:
    """A project by its name: its folder, if one alone has that name."""
    found = deletion.list_project_folders(word) or tombstones.find_projects(word)
    _refuse_several(word, [folder for folder in found if folder])
    if not found:
        raise MemtuiError(f"there is no project {word!r}")
    yield from (Tombstone(TombstoneKind.PROJECT, folder or word) for folder in found)


def _refuse_several(word: str, folders: Sequence[str]) -> None:
    if len(folders) > 1:
        raise MemtuiError(
            f"{len(folders)} projects are called {word!r}; name the folder of the one"
            f" you mean: {', '.join(folders)}"
        )


def _sessions(word: str) -> Iterator[Tombstone]:
    agents = store_sessions.find_agents(word) or tombstones.find_agents(word)
    if agents:
        yield from (Tombstone(TombstoneKind.SESSION, word, agent) for agent in agents)
        return
    agent, colon, name = word.partition(":")
    if not (colon and agent and name):
        alike = [
            ":".join(key)
            for key in store_sessions.find_by_name(word, "", is_prefix=True)[:SUGGESTED]
        ]
        raise MemtuiError(
            f"there is no session {word!r}; "
            + (
                f"these begin so: {', '.join(alike)}"
                if alike
                else "with its agent before it (AGENT:NAME) even one that is not stored"
                " can be forgotten"
            )
        )
    yield Tombstone(TombstoneKind.SESSION, name, agent)


def _midnight(word: str, zone: tzinfo) -> int:
    try:
        at = datetime.combine(date.fromisoformat(word), time(), zone)
    except ValueError:
        raise MemtuiError(f"{word!r} is not a date, as in 2024-01-31") from None
    return to_ms(at.astimezone(UTC))


write_over = deletion.overwrite_deleted


@contextmanager
def writing(*, is_undone: bool = False, durable: bool = False) -> Iterator[None]:
    """A transaction; of one that is undone nothing stays."""
    try:
        with database.transaction(durable=durable):
            yield
            if is_undone:
                raise _Undone
    except _Undone:
        return


class _Undone(Exception):
    """Nothing is to stay."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where traces are left."""

    index: Path
    messages: Path
    log: Path


def remove(places: Places) -> None:
    """Remove them all; what was left for another time is removed too.

    Raises:
        MemtuiError: Something is in use or cannot be written; it can be tried again.
    """
    NodeIndex(places.index).delete()
    MessageIndex(places.messages).remove()
    try:
        for earlier in places.log.parent.glob(f"{places.log.name}.*"):
            earlier.unlink()
        if places.log.exists():
            with places.log.open("r+b") as log:
                log.truncate()
    except OSError as error:
        raise StoreError(f"{places.log}: {error.strerror}") from error
    backup.discard_restore(database.path())
    deletion.vacuum()
    with database.transaction():
        meta.set_needs_cleanup(False)


SHOWN = 5
"""How many of the sessions that go are named."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a forgetting takes."""

    kept: DeletionCounts
    """What it takes of what is kept."""
    segments: int
    nodes: int
    """How many segments and nodes above them are deleted and, where something of them
    remains, made anew."""
    hook_files: int
    """How many files of the hooks directory hold some of it."""
    sessions: int
    """How many sessions it takes something of."""
    titles: tuple[tuple[str, str], ...]
    """What the latest of these are called, each with its folder."""


class Forget:
    """Forgets, in one store."""

    def __init__(
        self,
        places: Places,
        spool: Path,
        zone: tzinfo,
        clock: Callable[[], datetime],
    ) -> None:
        """Remember where everything lies; nobody else may work the store meanwhile.

        Args:
            places: Where traces are left.
            spool: The hooks directory.
            zone: The store's time zone.
            clock: The time, aware.
        """
        self._places, self._spool = places, Spool(spool)
        self._zone, self._clock = zone, clock

    def tried(self, kind: TombstoneKind, words: Sequence[str]) -> Forgotten:
        """Say what would be forgotten; nothing changes."""
        with writing(is_undone=True):
            covered = self._note(kind, self._named(kind, words))
            return self._found(covered, is_tried=True)

    def run(self, kind: TombstoneKind, words: Sequence[str]) -> Forgotten:
        """Forget what a person named.

        Args:
            kind: Events, sessions, projects, or all before a date.
            words: Their ids, names, or the one date.

        Raises:
            MemtuiError: A word names nothing that is known, or something cannot be
                deleted.
        """
        self.finish()
        with database.connection():
            with database.transaction(durable=True):
                stones = self._named(kind, words)
                covered = self._note(kind, stones)
                tombstones.set_pending(kind, stones)
                meta.set_needs_cleanup(True)
            found = self._delete(covered)
        remove(self._places)
        return found

    def finish(self) -> Forgotten | None:
        """Take up what was noted and not deleted, since it was broken off.

        Returns:
            What it took; None if there was nothing.

        Raises:
            MemtuiError: Something cannot be deleted.
        """
        with database.connection():
            left = tombstones.get_pending()
            if left is None:
                return None
            with database.transaction(durable=True):
                covered = self._note(*left)
                meta.set_needs_cleanup(True)
            found = self._delete(covered)
        remove(self._places)
        return found

    def _delete(self, covered: Covered) -> Forgotten:
        """Delete what is chosen and noted."""
        with _written_over():
            found = self._found(covered, is_tried=False)
            deletion.delete_derived(self._zone, self._now_ms())
            told = deletion.list_source_sessions() | covered.named
            deletion.delete()
            for path in cursors.delete_of_sessions(told):
                problems.clear(path)
            meta.reset_indexes()
            tombstones.clear_pending()
        return found

    def _now_ms(self) -> int:
        return to_ms(self._clock())

    def _named(self, kind: TombstoneKind, words: Sequence[str]) -> list[Tombstone]:
        return named(kind, words, self._zone, self._now_ms())

    def _note(self, kind: TombstoneKind, stones: Sequence[Tombstone]) -> Covered:
        """Note what is forgotten, with all by which it would be known again."""
        moment = max(self._now_ms(), tombstones.latest_ms() + 1)
        noted: list[Tombstone] = []
        for place, stone in enumerate(stones):
            deletion.clear()
            deletion.select([stone])
            found = [stone, *deletion.list_tombstones(kind)]
            at_ms = tombstones.get_created_ms(stone)
            tombstones.add(found, moment + place if at_ms is None else at_ms)
            noted += found
        deletion.clear()
        deletion.select(stones)
        return Covered(noted, of(kind, noted))

    def _found(self, covered: Covered, *, is_tried: bool) -> Forgotten:
        segments, nodes = deletion.find_derived()
        files = delete(self._spool, covered, is_tried=is_tried)
        titles, sessions = deletion.list_session_titles(SHOWN)
        about = tuple((title, folder) for title, folder in titles)
        return Forgotten(deletion.count(), segments, nodes, files, sessions, about)


@contextmanager
def _written_over() -> Iterator[None]:
    """A transaction in which events may be deleted, and what is deleted is erased."""
    write_over()
    with schema.unlocked_events():
        yield
