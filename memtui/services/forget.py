"""Forgetting: what the user wants gone is deleted for good.

``resolve`` returns what the user means as tombstones. One transaction adds them, so
that nothing brings the content back, and deletes what they cover from the store, with
everything made from it, and from the spool. If the process is killed before the end of
the transaction, nothing is forgotten. Then traces are removed: in the indexes, the log,
and the free pages of the database. If the process is killed before that, the next
command that forgets or redacts removes them.

What is deleted from the store is decided in ``store.deletion``, what is deleted from
the spool in ``SpoolMatcher``, and what is a trace in ``remove_traces``.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, tzinfo
from typing import Any

from memtui import redaction
from memtui.capture import policy
from memtui.capture.formats import hooks
from memtui.capture.formats.base import (
    HOOK,
    InvalidRecord,
    ParsedItem,
    as_text,
    parse_time,
)
from memtui.capture.spool import (
    Spool,
    SpoolFile,
    SpoolRecord,
    join_records,
    reason_line,
    split_records,
)
from memtui.errors import MemtuiError, StoreBusyError, StoreError
from memtui.model import citations
from memtui.model.events import Event, clean, is_event_id, to_ms
from memtui.model.sessions import SessionMetadata, project_folder
from memtui.paths import Paths
from memtui.search.message_index import MessageIndex
from memtui.search.node_index import NodeIndex
from memtui.store import (
    backup,
    database,
    deletion,
    meta,
    schema,
    sessions,
    sources,
    tombstones,
)
from memtui.store import events as store_events
from memtui.store.deletion import DeletionCounts
from memtui.store.tombstones import Tombstone, TombstoneKind

MIN_SEARCH_CHARS = 6
"""A shorter text is found anywhere."""

MAX_NEEDLE_CHARS = 40
"""The length of the beginning of a text that is searched for: a damaged record may
lack its end."""

MAX_SUGGESTIONS = 5

MAX_TITLES = 5

_DISTANT_FUTURE = datetime(9999, 1, 1, tzinfo=UTC)
"""A current time by which no record is too far in the future to be read."""


@dataclass(frozen=True, slots=True)
class ForgetResult:
    """The content that is deleted, or would be."""

    counts: DeletionCounts
    segments: int
    nodes: int
    """The number of segments, and nodes above them, that are deleted and, if some of
    their content remains, made again."""
    hook_files: int
    """The number of hook files that contain some of it."""
    sessions: int
    """The number of sessions that lose something."""
    titles: tuple[tuple[str, str], ...]
    """The titles of the latest of these, each with its folder."""
    forks: tuple[tuple[str, int], ...] = ()
    """Other sessions that keep events which the forgotten ones have too, and how many:
    the forgotten session was forked from them, or they from it."""
    had_traces: bool = False
    """True if an earlier deletion was interrupted, whose traces were removed, too."""


class Forget:
    def __init__(
        self, paths: Paths, zone: tzinfo, clock: Callable[[], datetime]
    ) -> None:
        """Create the service; no other process may use the store at the same time."""
        self._paths, self._spool = paths, Spool(paths.spool)
        self._zone, self._clock = zone, clock

    def preview(self, kind: TombstoneKind, words: Sequence[str]) -> ForgetResult:
        """Return what would be forgotten; nothing changes."""
        with rolled_back():
            return self._forget(kind, words, is_dry_run=True)

    def run(self, kind: TombstoneKind, words: Sequence[str]) -> ForgetResult:
        """Forget what the user names.

        Raises:
            MemtuiError: A word names nothing, or something cannot be deleted.
        """
        with database.connection():
            had_traces = meta.needs_cleanup()
            deletion.enable_secure_delete()
            with database.transaction(durable=True), schema.unlocked():
                result = self._forget(kind, words, is_dry_run=False)
        remove_traces(self._paths)
        return replace(result, had_traces=had_traces)

    def _forget(
        self, kind: TombstoneKind, words: Sequence[str], *, is_dry_run: bool
    ) -> ForgetResult:
        """Add tombstones, and delete what they cover; inside a transaction."""
        now_ms = to_ms(self._clock())
        named = resolve(kind, words, self._zone, now_ms)
        matcher = self._add_tombstones(kind, named)
        segments, nodes = deletion.find_derived()
        titles, session_count = deletion.list_session_titles(MAX_TITLES)
        result = ForgetResult(
            counts=deletion.count(),
            segments=segments,
            nodes=nodes,
            hook_files=0,
            sessions=session_count,
            titles=tuple(titles),
            forks=tuple(deletion.list_forks()),
        )
        if not is_dry_run:
            deletion.delete_derived(self._zone, now_ms)
            sessions_of_copies = deletion.list_source_sessions() | matcher.sessions
            deletion.delete_selected()
            for path in sources.delete_cursors_of_sessions(sessions_of_copies):
                sources.clear_problems(path)
            meta.request_cleanup()
        # Files are deleted last, when only the commit can still fail.
        hook_files = delete_from_spool(self._spool, matcher, is_dry_run=is_dry_run)
        return replace(result, hook_files=hook_files)

    def _add_tombstones(
        self, kind: TombstoneKind, named: Sequence[Tombstone]
    ) -> "SpoolMatcher":
        """Add tombstones with the hashes of what they cover.

        All of that is selected for deletion afterwards.
        """
        now_ms = max(to_ms(self._clock()), tombstones.latest_ms() + 1)
        added: list[Tombstone] = []
        for index, tombstone in enumerate(named):
            deletion.select([tombstone])
            group = [tombstone, *deletion.list_tombstones(kind)]
            created_ms = tombstones.get_created_ms(tombstone)
            tombstones.add(group, now_ms + index if created_ms is None else created_ms)
            added += group
        deletion.select(named)
        return SpoolMatcher(added, _list_needles(kind, added))


class _RollBack(Exception):
    """Rolls a transaction back."""


@contextmanager
def rolled_back() -> Iterator[None]:
    """Run in a transaction that is rolled back at the end."""
    try:
        with database.transaction():
            yield
            raise _RollBack
    except _RollBack:
        return


def remove_traces(paths: Paths) -> None:
    """Remove all traces of deleted content: in the indexes, the log and free pages.

    Raises:
        MemtuiError: Something is in use or cannot be written; it can be tried again.
    """
    NodeIndex(paths.index).delete()
    MessageIndex(paths.message_index).delete()
    try:
        for old_log in paths.log.parent.glob(f"{paths.log.name}.*"):
            old_log.unlink()
        if paths.log.exists():
            with paths.log.open("r+b") as log:
                log.truncate()
    except OSError as error:
        raise StoreError(f"{paths.log}: {error.strerror}") from error
    backup.discard_restore(database.path())
    if not deletion.vacuum():
        with database.transaction():
            meta.wait_for_readers()
        raise StoreBusyError(
            f"it is removed, but stays in the files of {database.path()} until the"
            " programs end that read it; end them and run this again"
        )
    with database.transaction():
        meta.set_cleaned_up()


class SpoolMatcher:
    """Finds forgotten content in the spool."""

    def __init__(self, added: Sequence[Tombstone], needles: Sequence[bytes]) -> None:
        """Look for what tombstones cover, and in damaged records for byte strings."""
        self._needles = needles
        dates = [t.at_ms for t in added if t.kind is TombstoneKind.BEFORE]
        self._before_ms = max(dates, default=0)
        sessions = [t for t in added if t.kind is TombstoneKind.SESSION]
        self.sessions = frozenset((t.agent, t.subject) for t in sessions)

    def matches(self, record: SpoolRecord, file: SpoolFile) -> bool:
        if record.fields is None:
            received_ms = to_ms(file.received_at)
            return received_ms < self._before_ms or self._has_needle(record)
        items = list(_parse(record.raw, file))
        events = [redaction.redact_event(i)[0] for i in items if isinstance(i, Event)]
        if events:
            metadata = [item for item in items if isinstance(item, SessionMetadata)]
            return not tombstones.filter_events(events, route=HOOK) or any(
                _is_in_project(item.cwd) for item in metadata
            )
        fields = hooks.normalize_fields(record.fields)
        at = parse_time(fields.get("timestamp")) or file.received_at
        session_id = clean(as_text(fields.get("session_id")))
        return (
            to_ms(at) < self._before_ms
            or session_id in {name for _, name in self.sessions}
            or _is_in_project(as_text(fields.get("cwd")))
            or self._has_needle(record)
        )

    def _has_needle(self, record: SpoolRecord) -> bool:
        return any(needle in record.raw for needle in self._needles)


def _is_in_project(cwd: str) -> bool:
    cwd = clean(cwd)
    place = policy.locate_project(cwd)
    return tombstones.covers_project(place.project, project_folder(place.root, cwd))


def _parse(raw: bytes, file: SpoolFile) -> Iterator[ParsedItem]:
    return hooks.read(
        raw,
        received_at=file.received_at,
        now=_DISTANT_FUTURE,
        agent=file.agent,
        event=file.event,
    )


def delete_from_spool(spool: Spool, matcher: SpoolMatcher, *, is_dry_run: bool) -> int:
    """Delete forgotten records from hook files; return the number of files.

    This must run in a transaction that sees the tombstones.
    """
    count = 0
    for folder, file in spool.all_files():
        records = split_records(file.raw)
        remaining = [r for r in records if not matcher.matches(r, file)]
        if len(remaining) == len(records):
            continue
        count += 1
        if is_dry_run:
            continue
        if remaining:
            raw = join_records(remaining)
            items = _parse(raw, file)
            invalid = [item for item in items if isinstance(item, InvalidRecord)]
            spool.rewrite(folder, file, raw, [reason_line(item) for item in invalid])
        else:
            spool.remove(folder, file.name)
    if count and not is_dry_run:
        sources.set_quarantined(spool.count_quarantined())
    return count


def _list_needles(kind: TombstoneKind, added: Sequence[Tombstone]) -> list[bytes]:
    """Return byte strings that identify the selected content in damaged records."""
    texts: set[str] = set()
    if kind is TombstoneKind.EVENT:
        texts.update(_list_event_texts())
    else:
        texts.update(t.subject for t in added if t.kind is TombstoneKind.SESSION)
        texts.update(name for _, name, _ in deletion.list_selected_sessions())
    needles = {text.strip()[:MAX_NEEDLE_CHARS] for text in texts}
    if kind is TombstoneKind.PROJECT:
        # Not shortened: another project's folder may begin alike.
        needles |= {
            folder for *_, folder in deletion.list_selected_sessions() if folder
        }
    return sorted({encoded for needle in needles for encoded in _encode(needle)})


def _encode(text: str) -> Iterator[bytes]:
    """Yield a text as it may be written in a record."""
    if len(text) < MIN_SEARCH_CHARS:
        return
    escaped = json.dumps(text)[1:-1]
    partly_escaped = json.dumps(text, ensure_ascii=False)[1:-1]
    for written in (text, escaped, partly_escaped):
        yield written.encode("utf-8", "replace")


def _list_event_texts() -> Iterator[str]:
    for text, metadata in deletion.list_texts():
        yield text
        # The first line of a tool call is made by memtui, from its input.
        yield text.partition("\n")[2]
        try:
            tool_input = json.loads(metadata or "{}").get("tool_input", "null")
        except ValueError:  # It is damaged.
            tool_input = metadata
        try:
            yield from _list_strings(json.loads(tool_input))
        except ValueError:
            yield tool_input


def _list_strings(value: Any) -> Iterator[str]:
    if isinstance(value, str) and len(value) > MAX_NEEDLE_CHARS // 2:
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _list_strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _list_strings(item)


def resolve(
    kind: TombstoneKind, words: Sequence[str], zone: tzinfo, now_ms: int
) -> list[Tombstone]:
    """Return the tombstones for what the user names; inside a connection.

    Raises:
        MemtuiError: A word names nothing, or more than one project.
    """
    if kind is TombstoneKind.BEFORE:
        tombstone = _resolve_date(words, zone)
        if tombstone.at_ms > now_ms:
            raise MemtuiError(
                f"{words[0]} is still to come: what is forgotten before a day never"
                " comes back, so nothing new would be kept until then"
            )
        return [tombstone]
    tombstones_of_words = {
        tombstone: None
        for word in words
        for tombstone in _resolve_word(kind, clean(word))
    }
    return list(tombstones_of_words)


def undo(kind: TombstoneKind, words: Sequence[str], zone: tzinfo) -> None:
    """Remove tombstones, so that the content can be imported again.

    It is named as ``list_forgotten`` does; the id of a session is enough, too, and the
    name of a project's folder.

    Raises:
        MemtuiError: Some of it was not forgotten, or several projects have the name.
    """
    with database.transaction():
        forgotten = [t for t, _ in tombstones.list_all() if t.kind is kind]
        for word in words:
            name = clean(word).rstrip("/")
            matching = [t for t in forgotten if name in _list_names(t, zone)]
            if not matching:
                raise MemtuiError(f"{word} was not forgotten")
            if kind is TombstoneKind.PROJECT:
                _check_unique(word, [tombstone.subject for tombstone in matching])
            for tombstone in matching:
                tombstones.remove(tombstone)
        sources.delete_all_cursors()


def _list_names(tombstone: Tombstone, zone: tzinfo) -> tuple[str, ...]:
    names = (tombstone.name(zone), tombstone.subject)
    if tombstone.kind is TombstoneKind.PROJECT:
        return (*names, tombstone.subject.rpartition("/")[2])
    return names


def list_forgotten() -> list[tuple[Tombstone, datetime]]:
    """Return all that the user forgot, as they named it, and when, the latest first."""
    with database.connection():
        return tombstones.list_all()


def _resolve_date(words: Sequence[str], zone: tzinfo) -> Tombstone:
    if len(words) != 1:
        raise MemtuiError("name one date: memtui forget before 2024-01-31")
    try:
        at = datetime.combine(date.fromisoformat(words[0]), time(), zone)
    except ValueError:
        raise MemtuiError(f"{words[0]!r} is not a date, as in 2024-01-31") from None
    return Tombstone(TombstoneKind.BEFORE, at_ms=to_ms(at.astimezone(UTC)))


def _resolve_word(kind: TombstoneKind, word: str) -> Iterator[Tombstone]:
    if kind is TombstoneKind.SESSION:
        yield from _resolve_session(word)
        return
    if kind is TombstoneKind.EVENT and not is_event_id(word):
        word = _resolve_citation(word)
    if kind is TombstoneKind.PROJECT and not project_folder(word):
        yield from _resolve_project(word)
        return
    tombstone = Tombstone(kind, word.rstrip("/"))
    deletion.select([tombstone])
    if deletion.is_nothing_selected() and not tombstones.exists(tombstone):
        raise MemtuiError(f"there is no {kind} {word!r}")
    yield tombstone


def _resolve_citation(word: str) -> str:
    """Return the id of the only event that a citation fits."""
    prefix = citations.parse_event(citations.strip(word))
    if not prefix:
        raise MemtuiError(
            f"{word!r} is not the id of an event; give that, its beginning after evt:,"
            " or what memtui search prints: evt:01HMCSS8X04CF3"
        )
    names = store_events.list_ids(prefix, MAX_SUGGESTIONS + 1)
    if not names:
        raise MemtuiError(f"there is no event {word!r}")
    if len(names) > 1:
        more = ", …" if len(names) > MAX_SUGGESTIONS else ""
        several = ", ".join(names[:MAX_SUGGESTIONS])
        raise MemtuiError(f"{word!r} fits several events: {several}{more}")
    return names[0]


def _resolve_project(name: str) -> Iterator[Tombstone]:
    """Find a project by its name: its folder, if only one folder has that name."""
    folders = deletion.list_project_folders(name) or tombstones.find_projects(name)
    _check_unique(name, [folder for folder in folders if folder])
    if not folders:
        raise MemtuiError(f"there is no project {name!r}")
    yield from (Tombstone(TombstoneKind.PROJECT, folder or name) for folder in folders)


def _check_unique(name: str, folders: Sequence[str]) -> None:
    if len(folders) > 1:
        raise MemtuiError(
            f"{len(folders)} projects are called {name!r}; name the folder of the one"
            f" you mean: {', '.join(folders)}"
        )


def _resolve_session(word: str) -> Iterator[Tombstone]:
    stored = [agent for agent, _ in sessions.find_by_name(word, "", is_prefix=False)]
    agents = stored or tombstones.find_agents(word)
    if agents:
        for agent in agents:
            yield Tombstone(TombstoneKind.SESSION, word, agent)
        return
    agent, colon, name = word.partition(":")
    if not (colon and agent and name):
        similar = sessions.find_by_name(word, "", is_prefix=True)[:MAX_SUGGESTIONS]
        advice = (
            "with its agent before it (AGENT:NAME) even one that is not stored can be"
            " forgotten"
        )
        if similar:
            advice = f"these begin like it: {', '.join(map(':'.join, similar))}"
        raise MemtuiError(f"there is no session {word!r}; {advice}")
    yield Tombstone(TombstoneKind.SESSION, name, agent)
