"""Forgetting and redaction: what the user wants gone is deleted for good.

Forgotten content is deleted with everything made from it. Tombstones are written first,
so that nothing brings the content back; then it is deleted from the spool and, in one
transaction, from the store; then its traces are removed: the indexes, the log, the free
pages of the database. If the process ends in between, the next command that forgets or
removes traces continues. What is removed is decided in ``store.deletion``,
``delete_from_spool`` and ``remove_traces``.

A redaction removes the secrets from what was stored by older rules; new content is
redacted before it is stored. It reads the store in batches and saves its position: if
the process ends, the next run continues there.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import partial
from typing import Any

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
    DRAFTS_FOLDER,
    Spool,
    SpoolFile,
    SpoolRecord,
    join_records,
    reason_line,
    redact_file,
    split_records,
)
from memtui.errors import MemtuiError, StoreError
from memtui.model.events import Event, clean, is_event_id, to_ms
from memtui.model.sessions import SessionMetadata, counted_text, project_folder
from memtui.paths import Paths
from memtui.redaction import redact as secrets
from memtui.search.message_index import MessageIndex
from memtui.search.node_index import NodeIndex
from memtui.store import (
    backup,
    database,
    deletion,
    events,
    meta,
    schema,
    sessions,
    sources,
    tombstones,
)
from memtui.store.deletion import DeletionCounts
from memtui.store.tombstones import Tombstone, TombstoneKind
from memtui.text.tokens import TokenCounter

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
    finished: int | None = None
    """The number of events left by an interrupted forgetting, which was finished
    first; None if there was none."""


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
            matcher = self._add_tombstones(
                kind, resolve(kind, words, self._zone, to_ms(self._clock()))
            )
            hook_files = delete_from_spool(self._spool, matcher, is_dry_run=True)
            return _describe_selected(hook_files)

    def run(self, kind: TombstoneKind, words: Sequence[str]) -> ForgetResult:
        """Forget what the user names.

        Raises:
            MemtuiError: A word names nothing, or something cannot be deleted.
        """
        with database.connection():
            was_interrupted = meta.needs_cleanup()
        finished = self.finish()
        with database.connection():
            with database.transaction(durable=True):
                named = resolve(kind, words, self._zone, to_ms(self._clock()))
                matcher = self._add_tombstones(kind, named)
                deletion.set_pending(kind, named)
                meta.set_needs_cleanup(True)
            forgotten = self._delete(matcher)
        remove_traces(self._paths)
        events = finished.counts.events if finished else 0
        return replace(forgotten, finished=events if was_interrupted else None)

    def finish(self) -> ForgetResult | None:
        """Continue a forgetting that was interrupted.

        Returns:
            The deleted content; None if there was nothing to do.

        Raises:
            MemtuiError: Something cannot be deleted.
        """
        with database.connection():
            pending = deletion.get_pending()
            if pending is None:
                return None
            with database.transaction(durable=True):
                matcher = self._add_tombstones(*pending)
                meta.set_needs_cleanup(True)
            forgotten = self._delete(matcher)
        remove_traces(self._paths)
        return forgotten

    def _delete(self, matcher: "SpoolMatcher") -> ForgetResult:
        deletion.enable_secure_delete()
        with schema.unlocked_events():
            hook_files = delete_from_spool(self._spool, matcher, is_dry_run=False)
            forgotten = _describe_selected(hook_files)
            deletion.delete_derived(self._zone, to_ms(self._clock()))
            keys = deletion.list_source_sessions() | matcher.sessions
            deletion.delete_selected()
            for path in sources.delete_cursors_of_sessions(keys):
                sources.clear_problems(path)
            meta.reset_indexes()
            deletion.clear_pending()
        return forgotten

    def _add_tombstones(
        self, kind: TombstoneKind, named: Sequence[Tombstone]
    ) -> "SpoolMatcher":
        """Add tombstones with the hashes of what they cover.

        All of that is selected for deletion afterwards.
        """
        now_ms = max(to_ms(self._clock()), tombstones.latest_ms() + 1)
        added: list[Tombstone] = []
        for index, tombstone in enumerate(named):
            deletion.select_for_deletion([tombstone])
            group = [tombstone, *deletion.list_tombstones(kind)]
            created_ms = tombstones.get_created_ms(tombstone)
            tombstones.add(group, now_ms + index if created_ms is None else created_ms)
            added += group
        deletion.select_for_deletion(named)
        return SpoolMatcher(added, _list_needles(kind, added))


def _describe_selected(hook_files: int) -> ForgetResult:
    segments, nodes = deletion.find_derived()
    titles, sessions = deletion.list_session_titles(MAX_TITLES)
    return ForgetResult(
        counts=deletion.count(),
        segments=segments,
        nodes=nodes,
        hook_files=hook_files,
        sessions=sessions,
        titles=tuple(titles),
        forks=tuple(deletion.list_forks()),
    )


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
    deletion.vacuum()
    with database.transaction():
        meta.set_needs_cleanup(False)


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
        events = [secrets.redact_event(i)[0] for i in items if isinstance(i, Event)]
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
        for reason in spool.reasons(folder, file.name):
            sources.subtract_problems(sources.HOOKS, reason)
        if remaining:
            raw = join_records(remaining)
            spool.rewrite(folder, file, raw, list(_list_reasons(raw, file)))
        else:
            spool.remove(folder, file.name)
    return count


def _list_reasons(raw: bytes, file: SpoolFile) -> Iterator[str]:
    for item in _parse(raw, file):
        if isinstance(item, InvalidRecord):
            yield reason_line(item)


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
    found = {t: None for word in words for t in _resolve_word(kind, clean(word))}
    return list(found)


def undo(kind: TombstoneKind, words: Sequence[str], zone: tzinfo) -> None:
    """Remove tombstones, so that the content can be imported again.

    Raises:
        MemtuiError: Some of it was not forgotten.
    """
    with database.transaction():
        forgotten = resolve_forgotten(kind, words, zone)
        for tombstone in forgotten:
            if not tombstones.remove(tombstone):
                raise MemtuiError(f"{tombstone.subject or words[0]} was not forgotten")
        if pending := deletion.get_pending():
            rest = [one for one in pending[1] if one not in forgotten]
            deletion.set_pending(pending[0], rest)
        sources.delete_all_cursors()


def resolve_forgotten(
    kind: TombstoneKind, words: Sequence[str], zone: tzinfo
) -> list[Tombstone]:
    """Return the tombstones of what the user has forgotten and names again."""
    if kind is TombstoneKind.BEFORE:
        return [_resolve_date(words, zone)]
    found: dict[Tombstone, None] = {}
    for word in map(clean, words):
        subject = word.rstrip("/")
        if kind is TombstoneKind.PROJECT and not project_folder(word):
            forgotten = tombstones.find_projects(word)
            _check_unique(word, forgotten)
            subject = forgotten[0] if forgotten else ""
        tombstone = Tombstone(kind, subject)
        is_known = kind is TombstoneKind.PROJECT and tombstones.exists(tombstone)
        found |= dict.fromkeys([tombstone] if is_known else _resolve_word(kind, word))
    return list(found)


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
        raise MemtuiError(
            f"{word!r} is not the id of an event; memtui expand GRIP --json shows ids"
        )
    if kind is TombstoneKind.PROJECT and not project_folder(word):
        yield from _resolve_project(word)
        return
    tombstone = Tombstone(kind, word.rstrip("/"))
    deletion.select_for_deletion([tombstone])
    if deletion.is_nothing_selected() and not tombstones.exists(tombstone):
        raise MemtuiError(f"there is no {kind} {word!r}")
    yield tombstone


def _resolve_project(name: str) -> Iterator[Tombstone]:
    """Find a project by its name: its folder, if only one folder has that name."""
    found = deletion.list_project_folders(name) or tombstones.find_projects(name)
    _check_unique(name, [folder for folder in found if folder])
    if not found:
        raise MemtuiError(f"there is no project {name!r}")
    yield from (Tombstone(TombstoneKind.PROJECT, folder or name) for folder in found)


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


# Redact

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
    forgotten: int = 0
    """Events of an interrupted forgetting, which was finished first."""


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
        if not is_dry_run:
            # Finish an interrupted forgetting, so that the traces removed are all.
            finished = Forget(self._paths, self._zone, self._clock).finish()
            self._result.forgotten = finished.counts.events if finished else 0
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
                meta.set_redaction_version(secrets.RULES_VERSION)
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
                        self._replace_events(changed)
                    self._count(kinds)
                    meta.write(
                        meta.REDACTION_POSITION, f"{secrets.RULES_VERSION} {last}"
                    )

    def _find_changed(
        self, batch: Sequence[Event], kinds: Counter[str]
    ) -> Iterator[Event]:
        for event in batch:
            redacted, found = secrets.redact_event(event)
            if found:
                kinds.update(found)
                tokens = self._counter.count(counted_text(redacted))
                name = self._counter.name
                yield replace(redacted, tokens=tokens, token_counter=name)

    def _replace_events(self, changed: Sequence[Event]) -> None:
        """Replace events, and have all that was made from them made again."""
        deletion.select_events([event.event_id for event in changed])
        self._delete_derived()
        events.replace_events(changed)

    def _delete_derived(self) -> None:
        """Delete what was made from the selected events, and have it made again."""
        deletion.find_derived()
        with schema.unlocked_events():
            deletion.delete_derived(self._zone, to_ms(self._clock()))

    def _redact_thoughts(self) -> None:
        last = ""
        while batch := events.read_thoughts_after(last, BATCH_SIZE):
            kinds = Counter[str]()
            texts = [(name, text, _redact(kinds, text)) for name, text in batch]
            changed = [(name, new) for name, old, new in texts if new != old]
            self._result.thoughts += len(changed)
            self._result.kinds += kinds
            last = batch[-1][0]
            if changed and not self._is_dry_run:
                with database.transaction():
                    events.update_thoughts(changed)
                    self._count(kinds)

    def _redact_others(self) -> None:
        """Redact titles, tasks, states of file readers, and hook files."""
        kinds = Counter[str]()
        result = self._result
        with rolled_back() if self._is_dry_run else database.transaction():
            changed = deletion.redact_sessions(partial(_redact, kinds))
            if changed and not self._is_dry_run:
                # Versions repeat the title and the project of a session.
                deletion.select_sessions(changed)
                self._delete_derived()
            result.titles += len(changed)
            result.titles += deletion.redact_subagents(partial(_redact, kinds))
            result.states += deletion.redact_cursors(partial(_redact_all, kinds))
            result.states += deletion.redact_problems(partial(_redact, kinds))
            self._count(kinds)
        result.hook_files, in_spool = redact_spool(
            self._spool, self._clock(), is_dry_run=self._is_dry_run
        )
        result.kinds += kinds + in_spool
        if in_spool and not self._is_dry_run:
            with database.transaction():
                self._count(in_spool)

    def _check_names(self) -> None:
        names = set(deletion.list_kept_names())
        names |= {("file", file.name) for _, file in self._spool.all_files()}
        found = (kind for kind, name in names if secrets.redact(name).kinds)
        self._result.names.update(found)

    def _count(self, kinds: Counter[str]) -> None:
        """Count removed secrets, and have their traces removed."""
        if kinds:
            sources.add_redactions(kinds, to_ms(self._clock()))
            meta.set_needs_cleanup(True)
            meta.reset_indexes()


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
        raw, found = redact_file(file.raw)
        kinds = Counter(found)
        reasons = [
            secrets.redact(line) for line in spool.reason_lines(folder, file.name)
        ]
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
    return last if version == str(secrets.RULES_VERSION) else ""


def _redact(kinds: Counter[str], text: str) -> str:
    redacted = secrets.redact(text)
    kinds.update(redacted.kinds)
    return redacted.text


def _redact_all(kinds: Counter[str], value: object) -> object:
    redacted, found = secrets.redact_json(value)
    kinds.update(found)
    return redacted
