"""Searches what the agents' tools did: by file, and by error.

A change to a file is returned with the request that led to it and the agent's report on
it; an error with the next success of the call that failed.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from memtui.model import tool_calls
from memtui.model.events import Event, EventRole
from memtui.model.sessions import Session
from memtui.model.tool_calls import CallEnd
from memtui.store import conversations, database, sessions
from memtui.summarize.facts import read_facts

MAX_CALLS = 400
"""The number of calls or errors read, the newest first."""

FOLLOWING_EVENTS = 400
"""The number of events after an error that are searched for a success."""

REPORT_MESSAGES = 30
"""The number of messages after a change that are searched for the agent's report."""

MIN_ERROR_CHARS = 6
MIN_CODE_CHARS = 4
"""An error as short as a code, such as E0308, must occur with its numbers."""

MIN_PART_CHARS = 12
"""A part of an error as long as this is searched for on its own."""

_VARYING = re.compile(
    r"0x[0-9a-fA-F]+|(?:/[\w.@~+-]+)+/|[A-Za-z]:\\\S+\\|(?<![A-Za-z]-)\b\d[\d.,:]*\b"
    r"|\b[0-9a-f]{7,}\b|(?<!\w)(?:'[^'\n]+'|\"[^\"\n]+\"|`[^`\n]+`)(?!\w)"
    r"|[“‘«][^”’»\n]+[”’»]"
)
"""Parts of an error that differ each time: addresses, folders, numbers, hashes, and
names in quotation marks."""

_COMMAND_START = re.compile(r"(?:cd \S+ *(?:&&|;) *)*")
_COMMAND_END = re.compile(r"\s*(?:[|;]|&&|\d?>).*", re.DOTALL)
"""The end of a command that may differ in another run: the file it writes to."""

_FRAME = re.compile(r"\s*(?:File \"|at |Traceback|\^|~|[-=]{3,})|\s+\S")
"""Lines of a traceback without the error's message."""


@dataclass(frozen=True, slots=True)
class FileChanges:
    """The calls that changed a file for one request."""

    session: Session
    request: Event | None
    calls: Sequence[Event]
    """The newest first."""
    report: Event | None
    """The agent's last message before the user's next one."""


@dataclass(frozen=True, slots=True)
class ErrorOccurrences:
    """The events of one session that have an error."""

    session: Session
    event: Event
    """The one that shows best where it occurred."""
    count: int
    line: str
    """The line of its text that has most of the error."""
    success: Event | None
    """The next call that is the same, and succeeded."""


ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class SearchResult(Generic[ResultT]):
    results: Sequence[ResultT]
    has_damaged: bool
    """A matching event cannot be read."""


def find_file_changes(path: str, limit: int) -> SearchResult[FileChanges]:
    """Return what was done to a file, newest first, at most ``limit`` requests.

    The path may be the end of one. If no call changed the file, all calls that name it
    are taken.
    """
    name = path.strip()
    whole = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", re.IGNORECASE)
    with database.connection():
        matches = conversations.find_by_tool_input(name, MAX_CALLS)
        calls = [
            (number, call)
            for number, call in matches.events
            if name and whole.search(call.metadata.get("tool_input", ""))
        ]
        changing = [
            (number, call)
            for number, call in calls
            if tool_calls.tool_verb(call.metadata.get("tool_name", ""))
            in tool_calls.CHANGING
            or any(whole.search(change.path) for change in read_facts([call]).files)
        ]
        groups: dict[tuple[int, str], tuple[Event | None, list[Event]]] = {}
        for number, call in changing or calls:
            request = conversations.last_prompt_before(number, call)
            key = number, request.event_id if request else ""
            groups.setdefault(key, (request, []))[1].append(call)
        changes = []
        for (number, _), (request, own) in [*groups.items()][:limit]:
            report = _find_report(number, own[0])
            session = sessions.get_many([number])[number]
            changes.append(FileChanges(session, request, own, report))
    return SearchResult(changes, matches.has_damaged)


def _find_report(number: int, call: Event) -> Event | None:
    report = None
    for message in conversations.list_messages_after(number, call, REPORT_MESSAGES):
        if message.role is EventRole.USER:
            break
        report = message
    return report


def find_error(text: str, limit: int) -> SearchResult[ErrorOccurrences]:
    """Return where an error occurred, an entry for each session.

    Those with the same numbers and names come first, each kind newest first. If there
    is none, those with the longest part of it are returned.
    """
    line = _error_line(text)
    parts = _constant_parts(line)
    if not parts and sum(map(str.isalnum, line)) < MIN_CODE_CHARS:
        return SearchResult((), has_damaged=False)
    before, after = (r"\b" if char.isalnum() else "" for char in (line[0], line[-1]))
    exact = re.compile(f"{before}{re.escape(line)}{after}", re.IGNORECASE)
    with database.connection():
        matches = conversations.find_texts(parts or [line], MAX_CALLS)
        same = [pair for pair in matches.events if exact.search(pair[1].text)]
        groups: dict[int, tuple[Sequence[str], list[Event]]] = {}
        # With other numbers the result of a call that succeeded is no error.
        alike = [pair for pair in matches.events if pair[1].call_end is not CallEnd.OK]
        candidates = [([line], same), (parts, alike if parts else [])]
        longest = max(parts, key=len, default="")
        if not matches.events and len(parts) > 1 and len(longest) >= MIN_PART_CHARS:
            matches = conversations.find_texts([longest], MAX_CALLS)
            candidates.append(([longest], matches.events))
        for pattern, pairs in candidates:
            for number, occurrences in _group_by_session(pairs).items():
                groups.setdefault(number, (pattern, occurrences))
        results = [
            _describe_error(number, occurrences, pattern)
            for number, (pattern, occurrences) in [*groups.items()][:limit]
        ]
    return SearchResult(results, matches.has_damaged)


def _group_by_session(pairs: Iterable[tuple[int, Event]]) -> dict[int, list[Event]]:
    groups: dict[int, list[Event]] = {}
    for number, event in pairs:
        groups.setdefault(number, []).append(event)
    return groups


def _error_line(error: str) -> str:
    """Return the line with an error's message: the last one of a traceback, else the
    first that mentions an error."""
    lines = [line for line in error.splitlines() if line.strip()]
    messages = [line for line in lines if not _FRAME.match(line)] or lines
    named = [line for line in messages if "error" in line.lower()]
    return (named or messages or [""])[-1 if "Traceback" in error else 0].strip()


def _constant_parts(line: str) -> list[str]:
    """Return the parts of an error that are the same each time it occurs, in order."""
    parts = [part.strip(" \t'\"`:()[]<>,") for part in _VARYING.split(line)]
    parts = [part for part in parts if any(map(str.isalnum, part))]
    return parts if sum(map(len, parts)) >= MIN_ERROR_CHARS else []


def _describe_error(
    number: int, occurrences: Sequence[Event], parts: Sequence[str]
) -> ErrorOccurrences:
    """Describe the events of a session with an error, which are newest first."""

    def rank(event: Event) -> int:
        """Return how well an event shows where the error occurred: 0 is best."""
        output = event.text.partition("\n")[2]
        if event.is_tool_call and _has_parts(output, parts):
            return 0 if event.is_failed else 1
        return 2

    event = min(occurrences, key=rank)
    return ErrorOccurrences(
        sessions.get_many([number])[number],
        event,
        len(occurrences),
        _best_line(event.text, parts),
        _find_success(number, event, parts) if event.is_tool_call else None,
    )


def _find_success(number: int, error: Event, parts: Sequence[str]) -> Event | None:
    following = conversations.list_after(
        number, error.subagent, error.position, FOLLOWING_EVENTS
    )
    call = _call_key(error)
    return next(
        (
            event
            for event in following
            if event.is_tool_call
            and not (event.is_failed or event.is_unfinished)
            and _call_key(event) == call
            and not _has_parts(event.text, parts)
        ),
        None,
    )


def _call_key(event: Event) -> tuple[str, str]:
    """Return what a call has in common with another run of it."""
    tool, _, call = event.text.partition("\n")[0].partition(": ")
    tool = event.metadata.get("tool_name", tool)
    if tool_calls.tool_verb(tool) == "Ran":
        call = _COMMAND_END.sub("", _COMMAND_START.sub("", call, count=1))
    return tool, " ".join(call.split())


def _has_parts(text: str, parts: Sequence[str]) -> bool:
    """Return whether a text has the parts of an error in their order."""
    place, folded = 0, text.lower()
    for part in parts:
        start = folded.find(part.lower(), place)
        if start < 0:
            return False
        place = start + len(part)
    return True


def _best_line(text: str, parts: Sequence[str]) -> str:
    """Return the first of the lines that have most parts of an error."""
    folded_parts = [part.lower() for part in parts]

    def count_parts(line: str) -> int:
        folded = line.lower()
        return sum(part in folded for part in folded_parts)

    return max(text.splitlines(), key=count_parts, default="")
