"""Decide which conversations are stored and for which project, and take out secrets."""

import re
from collections import Counter as Tally
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import translate
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any

from memtui import redaction
from memtui.capture.formats import hooks
from memtui.capture.formats.base import (
    Cursor,
    InvalidRecord,
    MessageTitle,
    ParsedItem,
    PendingRecord,
    SkippedRecord,
    as_object,
    as_text,
)
from memtui.capture.formats.prompts import find_compaction_summary
from memtui.files import read_small_file
from memtui.model.events import Event, Thought, clean
from memtui.model.sessions import SessionMetadata, SubagentMetadata, project_folder
from memtui.store import tombstones

OTHER_PROJECT = "of another project, which has its own store"
"""The reason of sessions that a store for one project leaves out."""

FORGOTTEN = "of a project that was forgotten"

_SESSION_TEXTS = (
    *("branch", "created_by", "cwd", "model", "own_name", "project", "root"),
    *("summary", "title"),
)
"""The fields of a session that may contain secrets."""

_SUBAGENT_TEXTS = ("kind", "tool_use_id", "subagent", "task")
"""The fields of a subagent that may contain secrets."""


def _find_session_summary(event: Event) -> Iterator[SessionMetadata]:
    is_compaction = (
        event.metadata.get("kind") == "compact_summary"
        or event.metadata.get("source") == "compact"
    )
    summary = find_compaction_summary(event.text) if is_compaction else ""
    if summary and not event.subagent:
        yield SessionMetadata(event.agent, event.session_id, summary=summary)


class Exclusions:
    """Patterns of projects and folders whose conversations are not stored.

    A pattern without a slash is compared with a project's name, ignoring case. One with
    a slash is compared with a session's folders: the one it was started in, its
    repository's, and its transcript's; a folder includes all below it. ``*`` stands for
    anything, including slashes. A pattern that does not start at the root
    (``clients/acme``) matches anywhere in a path.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        """Compile the patterns, in which a leading ``~`` is already expanded."""
        stripped = [pattern.strip() for pattern in patterns]
        self._rules = [(pattern, _compile(pattern)) for pattern in stripped if pattern]

    def __bool__(self) -> bool:
        return bool(self._rules)

    def rule_for(self, *, project: str, cwd: str, root: str, path: str = "") -> str:
        places = [PurePath(place) for place in (cwd, root, path) if place]
        paths = [folder for place in places for folder in (place, *place.parents)]
        folders = [folder.as_posix() for folder in dict.fromkeys(paths)]
        for pattern, rule in self._rules:
            names = folders if "/" in pattern else [project] if project else []
            if any(map(rule.match, names)):
                return pattern
        return ""


def _compile(pattern: str) -> re.Pattern[str]:
    if "/" not in pattern:
        return re.compile(translate(pattern), re.IGNORECASE)
    folder = pattern.rstrip("/") or "/"
    is_anchored = folder.startswith(("/", "*"))
    return re.compile(translate(folder if is_anchored else f"*/{folder}"))


@dataclass(frozen=True, slots=True)
class CapturePolicy:
    exclusions: Exclusions = field(default_factory=lambda: Exclusions(()))
    only_root: str = ""


class IngestFilter:
    """Applies the policy to the items of one file, and takes out secrets.

    Used inside a database connection.
    """

    def __init__(self, policy: CapturePolicy, path: str = "") -> None:
        self._policy, self._path = policy, path
        self._reasons: dict[tuple[str, str], str] = {}
        """The reason for leaving out each session; "" if it is stored."""
        self._redactions: Tally[str] = Tally()
        self._event_redactions: dict[str, Tally[str]] = {}
        self.forgotten_count = 0
        """The number of events left out for that; the caller resets it."""

    def filter_items(self, items: Iterable[ParsedItem]) -> Iterator[ParsedItem]:
        for item in items:
            if isinstance(item, SessionMetadata):
                yield from self._filter_session(item)
            elif isinstance(item, Event | Thought | SubagentMetadata):
                reason = self._reasons.get((item.agent, item.session_id))
                if not reason:
                    redacted = self._redact(item)
                    yield redacted
                    if isinstance(redacted, Event):
                        yield from _find_session_summary(redacted)
                elif not isinstance(item, SubagentMetadata):
                    is_event = isinstance(item, Event)
                    self.forgotten_count += reason == FORGOTTEN and is_event
                    yield SkippedRecord(reason)
            elif isinstance(item, MessageTitle):
                yield replace(item, title=self._redact_text(item.title))
            elif isinstance(item, Cursor):
                # Its secrets are counted when they are stored with a session.
                state, _ = redaction.redact_json(item.state)
                yield replace(item, state=as_object(state))
            elif isinstance(item, InvalidRecord | SkippedRecord | PendingRecord):
                reason = self._redact_text(item.reason)
                is_same = reason is item.reason
                yield item if is_same else replace(item, reason=reason)
            else:
                yield item

    def why_not_quarantined(self, payload: Mapping[str, object]) -> str:
        """Return why an invalid hook payload is not even quarantined, or ""."""
        fields = hooks.normalize_fields(payload)
        session_id, cwd = (clean(as_text(fields.get(n))) for n in ("session_id", "cwd"))
        if session_id and tombstones.find_agents(session_id):
            return "of a session that was forgotten"
        if not cwd:
            return ""
        place = locate_project(cwd)
        return self._session_reason(
            SessionMetadata("", session_id, cwd, place.project, root=place.root)
        )

    def take_redactions(self, created: Collection[str] | None = None) -> Tally[str]:
        """Return the number of secrets taken out since the last call, by kind.

        Of events, only those that were created count, if they are given: the others
        have been counted when they were stored.
        """
        counts, self._redactions = self._redactions, Tally()
        events, self._event_redactions = self._event_redactions, {}
        for event_id, kinds in events.items():
            if created is None or event_id in created:
                counts += kinds
        return counts

    def _filter_session(self, session: SessionMetadata) -> Iterator[SessionMetadata]:
        cwd = clean(session.cwd)
        place = locate_project(cwd, clean(session.root))
        project = clean(session.project or place.project)
        session = replace(session, cwd=cwd, root=clean(place.root), project=project)
        # Events have clean ids; their session must be found by them.
        key = clean(session.agent), clean(session.session_id)
        if key not in self._reasons or session.cwd:
            self._reasons[key] = self._session_reason(session)
        if not self._reasons[key]:
            yield replace(session, **self._redact_fields(session, _SESSION_TEXTS))

    def _session_reason(self, session: SessionMetadata) -> str:
        only = self._policy.only_root
        if only and only not in (session.root, session.cwd.rstrip("/")):
            return OTHER_PROJECT
        if rule := self._policy.exclusions.rule_for(
            project=session.project,
            cwd=session.cwd,
            root=session.root,
            path=self._path,
        ):
            return f"excluded by {rule}"
        folder = project_folder(session.root, session.cwd)
        if tombstones.covers_project(session.project, folder):
            return FORGOTTEN
        return ""

    def _redact(
        self, item: Event | Thought | SubagentMetadata
    ) -> Event | Thought | SubagentMetadata:
        if isinstance(item, SubagentMetadata):
            return replace(item, **self._redact_fields(item, _SUBAGENT_TEXTS))
        # Most items share few names of subagents.
        name = item.subagent and redaction.redact_cached(item.subagent).text
        if isinstance(item, Thought):
            text = self._redact_text(item.text)
            if text is item.text and name == item.subagent:
                return item
            return replace(item, text=text, subagent=name)
        event, kinds = redaction.redact_event(item)
        if kinds:
            self._event_redactions[event.event_id] = Tally(kinds)
        return event if name == event.subagent else replace(event, subagent=name)

    def _redact_fields(self, item: object, names: Iterable[str]) -> dict[str, Any]:
        return {name: self._redact_text(getattr(item, name)) for name in names}

    def _redact_text(self, text: str) -> str:
        redacted = redaction.redact(text)
        self._redactions.update(redacted.kinds)
        return redacted.text


# Projects. The project of a folder is its repository, whose worktrees count as one; for
# a folder that is in no repository, or not on this machine, the path decides.

_WORKTREE = re.compile(r"^(.+?)/(?:\.claude/|\.git/)?\.?worktrees/[^/]+(?:/|$)")
"""The folders in which agents and users put worktrees within a repository."""


@dataclass(frozen=True, slots=True)
class ProjectLocation:
    """The repository and project of a folder."""

    root: str
    project: str


@lru_cache(maxsize=4096)
def locate_project(cwd: str, root: str = "") -> ProjectLocation:
    """Return the repository and project of a working directory.

    The directory may not exist here. ``root`` is what the agent takes for its
    repository, if it says so.
    """
    path = _slashed(root or cwd)
    folder = _main_worktree(root) or _repository(cwd) or _slashed(root)
    if not folder and (inside := _WORKTREE.match(path)):
        folder = inside.group(1)
    return ProjectLocation(folder, (folder or path).rpartition("/")[2])


def _slashed(path: str) -> str:
    return path.replace("\\", "/").rstrip("/")


def _repository(cwd: str) -> str:
    here = Path(cwd)
    if not cwd or not here.is_absolute():
        return ""
    for folder in (here, *here.parents):
        if worktree := _main_worktree(str(folder)):
            return worktree
    return ""


def _main_worktree(folder: str) -> str:
    if not folder:
        return ""
    mark = Path(folder, ".git")
    try:
        if mark.is_dir():
            return _slashed(folder)
        # A worktree's .git is a file: gitdir: /repository/.git/worktrees/name
        text = read_small_file(mark).decode("utf-8", "replace")
        named = text.strip().removeprefix("gitdir:")
    except (OSError, ValueError):
        return ""
    home, mark_of_worktree, _ = _slashed(named.strip()).partition("/.git/worktrees/")
    return home if mark_of_worktree else _slashed(folder)
