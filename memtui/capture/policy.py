"""Decide which conversations are stored and for which project, and take out secrets."""

import posixpath
import re
from collections import Counter as Tally
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import translate
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from memtui import redaction
from memtui.capture.formats import hooks
from memtui.capture.formats.base import (
    HISTORY,
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
from memtui.model.sessions import (
    SessionMetadata,
    SubagentMetadata,
    hash_folder,
    project_folder,
)
from memtui.model.usage import Usage
from memtui.store import sessions, tombstones

OTHER_PROJECT = "of another project, which has its own store"
"""The reason of sessions that a store for one project leaves out."""

FORGOTTEN = "of a project that was forgotten"

_UNKNOWN_PROJECT = "of an unknown project"

_SESSION_TEXTS = (
    *("branch", "created_by", "cwd", "model", "own_name", "project", "root"),
    *("summary", "title"),
)
"""The fields of a session that may contain secrets."""

_SUBAGENT_TEXTS = ("kind", "tool_use_id", "subagent", "task")
"""The fields of a subagent that may contain secrets."""


_OfSession = Event | Thought | SessionMetadata | SubagentMetadata | Usage


def _session_key(item: _OfSession) -> tuple[str, str]:
    # Events have clean ids; their session must be found by them.
    return clean(item.agent), clean(item.session_id)


def _redact_ids(item: ParsedItem) -> ParsedItem:
    """Return an item without secrets in the ids of sessions."""
    if not isinstance(item, _OfSession):
        return item
    session_id = redaction.redact_id(clean(item.session_id))
    if isinstance(item, SessionMetadata) and item.forked_from:
        forked_from = redaction.redact_id(clean(item.forked_from))
        return replace(item, session_id=session_id, forked_from=forked_from)
    return (
        item if session_id == item.session_id else replace(item, session_id=session_id)
    )


def _has_place(session: SessionMetadata) -> bool:
    return bool(session.cwd or session.root or session.project)


def _is_typed(item: _OfSession) -> bool:
    provenance = item.provenance if isinstance(item, Event) else None
    return provenance is not None and provenance.route == HISTORY


def _find_session_summary(event: Event) -> Iterator[SessionMetadata]:
    is_compaction = (
        event.metadata.get("kind") == "compact_summary"
        or event.metadata.get("source") == "compact"
    )
    summary = find_compaction_summary(event.text) if is_compaction else ""
    if summary and not event.subagent:
        yield SessionMetadata(event.agent, event.session_id, summary=summary)


_DRIVE = re.compile(r"[A-Za-z]:/")
"""The beginning of a path of Windows, in which case does not count."""


class Exclusions:
    """Patterns of projects and folders whose conversations are not stored.

    A pattern without a slash is compared with a project's name, ignoring case. One with
    a slash is compared with a session's folders: the one it was started in, its
    repository's, and its transcript's; a folder includes all below it. ``*`` stands for
    anything, including slashes. A pattern that does not start at the root
    (``clients/acme``) matches anywhere in a path. Backslashes are slashes.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        """Compile the patterns, in which a leading ``~`` is already expanded."""
        stripped = [pattern.strip() for pattern in patterns]
        self._rules = [(pattern, *_compile(pattern)) for pattern in stripped if pattern]
        self._encoded = [(pattern, _encode(pattern)) for pattern, *_ in self._rules]

    def __bool__(self) -> bool:
        return bool(self._rules)

    def rule_for(self, *, project: str, cwd: str, root: str, path: str = "") -> str:
        places = filter(None, (cwd, root, path))
        folders = [
            PurePosixPath(place.replace("\\", "/")).as_posix() for place in places
        ]
        for pattern, rule, is_folder in self._rules:
            names = folders if is_folder else [project] if project else []
            if any(map(rule.match, names)):
                return pattern
        return ""

    def list_folders(self, near: Iterable[str]) -> list[str]:
        """Return the folders that patterns name, relative ones near these folders."""
        places = {parent for folder in near for parent in _with_parents(folder)}
        return [
            posixpath.join(place, pattern)
            for pattern, *_ in self._rules
            for place in ("/", *sorted(places))
        ]

    def rule_for_transcript(self, path: str, cwd: str = "") -> str:
        """Return the pattern that covers what the folder of a transcript is called.

        Claude Code calls it after the session's folder, with a hyphen for every other
        character than letters and digits. So this may cover other folders, too. It does
        not count where the working directory is that folder: the directory does.
        """
        match = _CLAUDE_FOLDER.search(path.replace("\\", "/"))
        if not match or _hyphenate(cwd).lower().startswith(match[1].lower()):
            return ""
        covering = (pattern for pattern, rule in self._encoded if rule.match(match[1]))
        return next(covering, "")


_CLAUDE_FOLDER = re.compile(r"/projects/((?:[A-Za-z]-)?-[^/]+)/")


def _hyphenate(folder: str, kept: str = "") -> str:
    return re.sub(f"[^A-Za-z0-9{kept}]", "-", folder)


def _encode(pattern: str) -> re.Pattern[str]:
    """Return a pattern for what Claude Code calls folders of transcripts."""
    slashed = pattern.replace("\\", "/").rstrip("/")
    encoded = _hyphenate(slashed, kept="*?")
    is_anchored = slashed.startswith(("/", "*")) or _DRIVE.match(slashed)
    start = encoded if is_anchored else f"*-{encoded}"
    # Of a name, only hidden folders below count, where agents keep worktrees.
    below = f"{start}-*" if "/" in slashed else f"{start}--*"
    return re.compile(f"{translate(start)}|{translate(below)}", re.IGNORECASE)


def _compile(pattern: str) -> tuple[re.Pattern[str], bool]:
    """Return a pattern as a regular expression, and whether it is one of folders."""
    slashed = pattern.replace("\\", "/")
    if "/" not in slashed:
        return re.compile(translate(pattern), re.IGNORECASE), False
    has_drive = _DRIVE.match(slashed)
    is_anchored = slashed.startswith(("/", "*")) or has_drive
    folder = slashed.rstrip("/") if is_anchored else f"*/{slashed.rstrip('/')}"
    flags = re.IGNORECASE if has_drive else 0
    # Agents may name a folder by a link to it, or by where the link leads.
    real = posixpath.realpath(folder) if folder.startswith("/") else folder
    folders = dict.fromkeys((folder, real))
    rules = (f"{translate(name)}|{translate(f'{name}/*')}" for name in folders)
    return re.compile("|".join(rules), flags), True


@dataclass(frozen=True, slots=True)
class CapturePolicy:
    exclusions: Exclusions = field(default_factory=lambda: Exclusions(()))
    only_root: str = ""


@dataclass(frozen=True, slots=True)
class ProjectLocation:
    """The repository and project of a folder."""

    root: str
    project: str


MAX_TYPE_CHARS = 60
"""The most characters that are shown of the type of a record that is not stored."""


class IngestFilter:
    """Applies the policy to the items of one file, and takes out secrets.

    Used inside a database connection.
    """

    def __init__(
        self, policy: CapturePolicy, path: str = "", *, is_export: bool = False
    ) -> None:
        """Create a filter for the file at a path.

        The projects in an export of memtui stay as they are: their folders may be those
        of another machine.
        """
        self._policy, self._path, self._is_export = policy, path, is_export
        self._reasons: dict[tuple[str, str], str] = {}
        """The reason for leaving out each session of which something is known about
        its project; "" if it is stored."""
        self._folders_by_hash: dict[str, str] = {}
        """The known folders; "" for the hash of another one."""
        self._redactions: Tally[str] = Tally()
        self._event_redactions: dict[str, Tally[str]] = {}
        self.forgotten_count = 0
        """The number of events left out for that; the caller resets it."""

    def filter_items(self, items: Iterable[ParsedItem]) -> Iterator[ParsedItem]:
        """Yield the items to store, and in place of others why they are left out."""
        items = map(self._find_folder, map(_redact_ids, items))
        is_limited = self._policy.exclusions or self._policy.only_root
        for item in self._wait_for_projects(items) if is_limited else items:
            if isinstance(item, SessionMetadata):
                yield from self._filter_session(item)
            elif isinstance(item, Event | Thought | SubagentMetadata | Usage):
                if not (reason := self._reasons.get(_session_key(item))):
                    redacted = self._redact(item)
                    yield redacted
                    if isinstance(redacted, Event):
                        yield from _find_session_summary(redacted)
                elif isinstance(item, Event | Thought):
                    is_event = isinstance(item, Event)
                    self.forgotten_count += reason == FORGOTTEN and is_event
                    yield SkippedRecord(reason)
            elif isinstance(item, MessageTitle):
                # Its session, of which a message is named, was in this folder.
                is_excluded = any(self._reasons.values()) or (
                    not self._reasons
                    and self._policy.exclusions.rule_for_transcript(self._path)
                )
                if not is_excluded:
                    yield replace(item, title=self._redact_text(item.title))
            elif isinstance(item, Cursor):
                # Its secrets are counted when they are stored with a session.
                state, _ = redaction.redact_json(item.state)
                yield replace(item, state=as_object(state))
            elif isinstance(item, InvalidRecord | SkippedRecord | PendingRecord):
                reason = self._redact_text(item.reason)
                if isinstance(item, SkippedRecord) and len(reason) > MAX_TYPE_CHARS:
                    reason = f"{reason[: MAX_TYPE_CHARS - 1]}…"
                is_same = reason is item.reason
                yield item if is_same else replace(item, reason=reason)
            else:
                yield item

    def why_not_quarantined(self, payload: Mapping[str, object]) -> str:
        """Return why an invalid hook payload is not even quarantined, or ""."""
        fields = hooks.normalize_fields(payload)
        session_id, cwd = (clean(as_text(fields.get(n))) for n in ("session_id", "cwd"))
        session_id = redaction.redact_id(session_id)
        if session_id and tombstones.find_agents(session_id):
            return "of a session that was forgotten"
        if not cwd:
            return ""
        place = locate_project(cwd)
        return self._session_reason(
            SessionMetadata(
                "", session_id, _as_folder(cwd), place.project, root=place.root
            ),
            place,
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
        session = self._locate(session)
        if not self._reasons.get(_session_key(session)):
            yield replace(session, **self._redact_fields(session, _SESSION_TEXTS))

    def _find_folder(self, item: ParsedItem) -> ParsedItem:
        """Return an item with the session's folder, if that keeps it out of the store.

        Only the hash of the folder is given. It is looked for among the folders of
        stored sessions, those that patterns name, and those of these names beside or
        above the former. What is stored does not depend on other sessions.
        """
        if not isinstance(item, SessionMetadata) or item.cwd or not item.cwd_hash:
            return item
        if item.cwd_hash not in self._folders_by_hash:
            folders = [*sessions.list_folders(), str(Path.home())]
            folders += self._policy.exclusions.list_folders(folders)
            self._folders_by_hash = {hash_folder(folder): folder for folder in folders}
            self._folders_by_hash.setdefault(item.cwd_hash, "")
        if not (folder := self._folders_by_hash[item.cwd_hash]):
            return item
        place = locate_project(folder)
        session = replace(item, cwd=folder, root=place.root, project=place.project)
        return session if self._session_reason(session, place) else item

    def _locate(self, session: SessionMetadata) -> SessionMetadata:
        """Return a session with its project, and decide whether it is stored."""
        cwd, root = _as_folder(clean(session.cwd)), _as_folder(clean(session.root))
        if self._is_export and session.project:
            place = ProjectLocation(root, session.project)
        else:
            place = locate_project(cwd, root)
        project, has_place = (
            clean(session.project or place.project),
            _has_place(session),
        )
        session = replace(session, cwd=cwd, root=clean(place.root), project=project)
        key = _session_key(session)
        if cwd or (has_place and key not in self._reasons):
            self._reasons[key] = self._session_reason(session, place)
        return session

    def _session_reason(self, session: SessionMetadata, place: ProjectLocation) -> str:
        only = self._policy.only_root
        if only and only not in (session.root, session.cwd.rstrip("/")):
            return OTHER_PROJECT
        # A clone may have another name than its origin.
        for project in dict.fromkeys((session.project, place.project)):
            if rule := self._policy.exclusions.rule_for(
                project=project, cwd=session.cwd, root=session.root, path=self._path
            ):
                return f"excluded by {rule}"
        # A subagent may work elsewhere than the session it belongs to.
        if rule := self._policy.exclusions.rule_for_transcript(self._path, session.cwd):
            return f"excluded by {rule}"
        folder = project_folder(session.root, session.cwd)
        if tombstones.covers_project(session.project, folder):
            return FORGOTTEN
        return ""

    def _wait_for_projects(self, items: Iterable[ParsedItem]) -> Iterator[ParsedItem]:
        """Yield what belongs to a session after what tells its project.

        That may be a later record. The first cursor after an item, or the end, ends the
        waiting: then only what is known of the session elsewhere can decide.
        """
        waiting: dict[tuple[str, str], list[_OfSession]] = {}
        titles: list[MessageTitle] = []
        for item in items:
            if isinstance(item, MessageTitle):
                titles.append(item)
                continue
            if isinstance(item, _OfSession):
                key = _session_key(item)
                if isinstance(item, SessionMetadata) and _has_place(item):
                    self._locate(item)
                    yield from waiting.pop(key, ())
                if key not in self._reasons:
                    waiting.setdefault(key, []).append(item)
                    continue
            elif isinstance(item, Cursor):
                yield from self._stop_waiting(waiting)
                yield from titles
                titles.clear()
            yield item
        yield from self._stop_waiting(waiting)
        yield from titles

    def _stop_waiting(
        self, waiting: dict[tuple[str, str], list[_OfSession]]
    ) -> Iterator[_OfSession]:
        for key, items in waiting.items():
            if sessions.get_number(*key) is None:
                unknown = SessionMetadata(*key), ProjectLocation("", "")
                reason = self._session_reason(*unknown)
                # A transcript may have no folder; a hook or a prompt of a history
                # that names none may be of any project.
                is_transcript = self._path and not any(map(_is_typed, items))
                default = "" if is_transcript else _UNKNOWN_PROJECT
                self._reasons[key] = reason or default
            yield from items
        waiting.clear()

    def _redact(
        self, item: Event | Thought | SubagentMetadata | Usage
    ) -> Event | Thought | SubagentMetadata | Usage:
        if isinstance(item, Usage):
            return replace(item, model=self._redact_text(item.model))
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

PATH_MAX = 4096
"""No path of a folder is longer, in bytes: a longer text names none."""

_AT_REPOSITORY = (
    "**/{repo}/.*/worktrees/*",  # .git, .claude, .gemini
    "**/{repo}/.worktrees/*",
    "**/{repo}/.trees/*",
    "**/{repo}/worktrees/*",
    "**/{repo}/.conductor/*",
    "**/{repo}-worktrees/*",
    "**/{repo}_worktrees/*",
    "**/{repo}.worktrees/*",
)
"""The folders of worktrees in their repository or beside it."""

_ELSEWHERE = (
    "~/.codex/worktrees/*/{repo}",
    "~/.*/worktrees/{repo}",  # .cursor, .claude, .superset
    "~/.*/*-worktrees/{repo}",  # .roborev/ci-worktrees
    "**/worktrees/github.com/*/{repo}",
    "**/worktrees/github/github.com/*/{repo}",
    "~/.worktrees/{repo}",
    "~/worktrees/{repo}",
    "**/.claude-worktrees/{repo}",
    "**/conductor/workspaces/{repo}",
    "**/vibe-kanban/worktrees/*/{repo}",
)
"""The folders of the worktrees of all repositories: only the name is known."""

_HOMES = (
    r"(?:[A-Za-z]:|(?:/(?!home/|Users/)[^/]*){0,3})/(?:home|Users)/[^/]+"
    r"|/root|(?:[A-Za-z]:|/mnt/[a-z])?"
)
"""The home folders of users of any machine, below at most three folders; at last, the
root of a drive or a container::

    C:/Users/ada    /mnt/c/Users/ada    /var/home/ada    //wsl.localhost/Ubuntu/home/ada
"""

_BESIDE = re.compile(r"/\.?worktrees/([^/]+)/")
"""The worktrees of several repositories, in a folder that is none itself."""


@lru_cache(maxsize=4096)
def locate_project(cwd: str, root: str = "") -> ProjectLocation:
    """Return the repository and project of a working directory.

    The directory may not exist here. ``root`` is what the agent takes for its
    repository, if it says so.
    """
    cwd, root = _slashed(_as_folder(cwd)), _slashed(_as_folder(root))
    path = root or cwd
    repository, is_elsewhere = _repository_of_worktree(path)
    for folder in (root, *_with_parents(cwd)):
        # What is above a worktree's folder is no repository of it.
        if len(folder) >= len(repository) and (main := _main_worktree(folder)):
            return ProjectLocation(main, _project_name(main))
    if not repository:
        return ProjectLocation(root, _project_name(path))
    if is_elsewhere:
        return ProjectLocation(repository, _project_name(repository))
    place = locate_project(repository)
    if place.root:
        return place
    beside = _BESIDE.match(path, len(repository))
    if beside and posixpath.isdir(repository):
        return ProjectLocation(path[: beside.end() - 1], beside[1])
    return ProjectLocation(repository, place.project)


def _as_folder(path: str) -> str:
    """Return a path, or "" if it is too long to be one.

    Windows' mark of paths that may be long is left out.
    """
    path = path.removeprefix("\\\\?\\")
    return path if len(path.encode("utf-8", "replace")) <= PATH_MAX else ""


def _slashed(path: str) -> str:
    return path.replace("\\", "/").rstrip("/")


def _project_name(folder: str) -> str:
    name = folder.rpartition("/")[2]
    return name.removesuffix(".git") or name


def _with_parents(folder: str) -> Iterator[str]:
    while folder.startswith("/"):
        yield folder
        folder = folder.rpartition("/")[0]


def _repository_of_worktree(path: str) -> tuple[str, bool]:
    """Return the repository of a worktree's folder, judged by its path alone.

    And whether it is elsewhere: then this is only where its worktrees are.
    """
    elsewhere, at_repository = _worktree_shapes(str(Path.home()))
    if shape := elsewhere.match(path):
        return shape.group(shape.lastindex or 0), True
    if shape := at_repository.match(path):
        return shape.group(shape.lastindex or 0), False
    return "", False


@lru_cache(maxsize=1)
def _worktree_shapes(home: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of ``_ELSEWHERE`` and ``_AT_REPOSITORY``.

    The one group that matches is the path up to the repository's name.
    """
    homes = f"(?:{re.escape(home.rstrip('/'))}|{_HOMES})"
    parts = {"~": homes, "**/": "(?:.*?/)?", "*": "[^/]+"}

    def write(shape: str) -> str:
        words = re.split(r"(~|\*\*/|\*)", shape)
        return "".join(parts.get(word) or re.escape(word) for word in words)

    def compile_shapes(shapes: Iterable[str]) -> re.Pattern[str]:
        halves = (shape.split("{repo}") for shape in shapes)
        patterns = (f"({write(a)}[^/]+?){write(b)}" for a, b in halves)
        return re.compile(f"(?:{'|'.join(patterns)})(?:/|$)")

    return compile_shapes(_ELSEWHERE), compile_shapes(_AT_REPOSITORY)


def _main_worktree(folder: str) -> str:
    """Return the repository whose main folder, or whose worktree, a folder is."""
    if not folder.startswith("/"):
        return ""
    mark = f"{folder}/.git"  # a Path takes long to make of a long text
    if posixpath.isdir(mark):
        is_link = posixpath.islink(folder)
        return posixpath.realpath(folder) if is_link else folder
    if not posixpath.isfile(mark):
        return ""
    try:
        # A worktree's .git is a file: gitdir: /repository/.git/worktrees/name
        text = read_small_file(Path(mark)).decode("utf-8", "replace")
    except OSError:
        return ""
    named = _slashed(text.strip().removeprefix("gitdir:").strip())
    if _DRIVE.match(named):  # It was made in Windows, and is read in its Linux.
        named = f"/mnt/{named[0].lower()}{named[2:]}"
    git_folder = posixpath.normpath(posixpath.join(folder, named))
    common, mark_of_worktree, name = git_folder.rpartition("/worktrees/")
    if not mark_of_worktree or "/" in name:
        return folder  # a submodule, or a repository with its data elsewhere
    # A submodule's data is in the repository it belongs to, below its own path.
    outer, is_submodule, path = common.partition("/.git/modules/")
    if is_submodule:
        return f"{outer}/{path}"
    # A bare repository is kiosk.git, or hidden in its project: kiosk/.bare
    above, _, own_name = common.rpartition("/")
    return above if own_name.startswith(".") else common
