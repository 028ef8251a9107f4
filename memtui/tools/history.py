"""Tools that search what the agents' tools did: by file, and by error.

A change to a file is returned with the request that led to it and the agent's report on
it; an error with the next success of the call that failed.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from memtui.model import citations, tool_calls
from memtui.model.events import Event, EventRole
from memtui.store import conversations, database, sessions
from memtui.store import events as store_events
from memtui.store.conversations import Matches
from memtui.text import analyzer, date_format
from memtui.tools.formatting import LineWriter, one_line
from memtui.tools.replies import Item, Reply, cut

if TYPE_CHECKING:
    from memtui.workspace import Workspace

MAX_CALLS = 400
"""The number of calls or errors read, the newest first."""

FOLLOWING_EVENTS = 400
"""The number of events after an error that are searched for a success."""

REPORT_MESSAGES = 30
"""The number of messages after a change that are searched for the agent's report on
it."""

CHANGES_SHOWN = 5
COMMAND_CHARS = 160
TEXT_CHARS = 300
REPLACED_CHARS = 80

NO_FILE = "No tool call names that file. A part of its path is enough."
NOT_READ = "A matching event cannot be read."
NO_ERROR = (
    "This error is in no tool's result and in no message. A shorter part of it, without"
    " paths and numbers, finds more."
)

_VARYING = re.compile(
    r"0x[0-9a-fA-F]+|(?:/[\w.@~+-]+)+/|[A-Za-z]:\\\S+\\|(?<![A-Za-z]-)\b\d[\d.,:]*\b"
    r"|\b[0-9a-f]{7,}\b"
)
"""Parts of an error that differ each time: addresses, folders, numbers, hashes."""

_COMMAND_START = re.compile(r"(?:cd \S+ *(?:&&|;) *)*")
_COMMAND_END = re.compile(r"\s*(?:[|;]|&&|\d?>).*", re.DOTALL)
"""What may differ in another run of a command: its folder, and where it writes."""

_FRAME = re.compile(r"\s*(?:File \"|at |Traceback|\^|~|[-=]{3,})|\s+\S")
"""Lines of a traceback without the error's message."""

NO_MATCHES = Matches([], has_damaged=False)

MIN_ERROR_CHARS = 6
MIN_CODE_CHARS = 4
"""An error as short as a code, such as E0308, must occur with its numbers."""


def search_file(workspace: "Workspace", path: str, *, limit: int = 10) -> Reply:
    """List what was done to a file and why, newest first: an item for each request."""
    items: list[Item] = []
    with database.connection():
        name = path.strip()
        whole = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", re.IGNORECASE)
        found = conversations.find_by_tool_input(name, MAX_CALLS)
        calls = [
            (number, call)
            for number, call in found.events
            if name and whole.search(call.metadata.get("tool_input", ""))
        ]
        for number, (request, some) in _by_request(calls)[: limit + 1]:
            items.append(_describe_changes(number, request, some, name))
    none = NOT_READ if found.has_damaged else NO_FILE
    return _reply(workspace, "changes", items, limit, none)


def _describe_changes(
    number: int, request: Event | None, calls: Sequence[Event], path: str
) -> Item:
    """Describe what was done to a file for a request: calls, the newest first."""
    changes = [_describe_call(call, path) for call in calls[:CHANGES_SHOWN][::-1]]
    subject = " ".join([request.text if request else "", *changes])
    report = _report(number, calls[0], subject)
    item = _describe_events(number, calls) | {
        "changes": changes,
        "outcome": cut(one_line(report.text), TEXT_CHARS) if report else "",
        "outcome_id": citations.cite_event(report.event_id) if report else "",
    }
    if request:
        item["request"] = cut(one_line(request.text), TEXT_CHARS)
        item["request_id"] = citations.cite_event(request.event_id)
    return item


def _reply(
    workspace: "Workspace", name: str, items: Sequence[Item], limit: int, none: str
) -> Reply:
    return Reply(
        name,
        items[:limit],
        LineWriter(workspace.zone).work,
        notes=() if items else (none,),
        has_more=len(items) > limit,
        more_hint="a larger limit gives more",
    )


def _by_request(
    calls: Sequence[tuple[int, Event]],
) -> list[tuple[int, tuple[Event | None, list[Event]]]]:
    """Group the calls that change something by the request before them, newest first.

    Where none changes anything, all calls are taken.
    """
    changing = [pair for pair in calls if _is_change(pair[1])]
    found: dict[tuple[int, str], tuple[Event | None, list[Event]]] = {}
    for number, call in changing or calls:
        request = _request(number, call)
        key = number, request.event_id if request else ""
        found.setdefault(key, (request, []))[1].append(call)
    return [(number, group) for (number, _), group in found.items()]


def _request(number: int, call: Event) -> Event | None:
    """Return the user's message that a call follows."""
    found = conversations.find_prompt(number, call.subagent, call.position, -1)
    return store_events.get([found[2]]).get(found[2]) if found else None


def _report(number: int, event: Event, subject: str) -> Event | None:
    """Return the agent's message on a subject after an event: the one with most of its
    words, the last of several, before the user's next message."""
    subject_terms = set(analyzer.query_terms(subject))
    report, most = None, 0
    for message in conversations.list_messages_after(number, event, REPORT_MESSAGES):
        if message.role is EventRole.USER:
            break
        shared = len(subject_terms.intersection(analyzer.terms(message.text)))
        if shared >= most:
            report, most = message, shared
    return report


def _is_change(call: Event) -> bool:
    verb = tool_calls.tool_verb(call.metadata.get("tool_name", ""))
    return verb in tool_calls.CHANGING


def _describe_events(number: int, events: Sequence[Event]) -> Item:
    """Describe events of a session, of which the first is cited."""
    session = sessions.get_many([number])[number]
    return {
        "id": citations.cite_event(events[0].event_id),
        "at": date_format.iso_utc(events[0].timestamp),
        "session": f"{session.agent}:{session.session_id}",
        "title": one_line(session.title),
        "count": len(events),
    }


def _describe_call(call: Event, path: str) -> str:
    """Describe a call in one line: its first line, and what it changed in a file."""
    text = one_line(call.text.partition("\n")[0])
    tool = call.metadata.get("tool_name", "")
    for edit in tool_calls.parse_edits(tool, call.metadata.get("tool_input", "")):
        is_shown = edit.old or edit.new or edit.is_deletion
        if is_shown and path.lower() in edit.path.lower():
            old, new = (cut(one_line(t), REPLACED_CHARS) for t in (edit.old, edit.new))
            where = f"{tool}: {edit.path}" if tool_calls.PATCH in text else text
            change = "deleted" if edit.is_deletion else f"“{old}” became “{new}”"
            text = f"{cut(where, TEXT_CHARS)}: {change}"
            break
    failed = " (failed)" if call.is_failed else ""
    return f"{cut(text, TEXT_CHARS + 2 * REPLACED_CHARS)}{failed}"


def search_error(workspace: "Workspace", error: str, *, limit: int = 5) -> Reply:
    """List where an error occurred before: an item for each session.

    Those with the same numbers and paths come first, each kind newest first.
    """
    line = _error_line(error)
    parts = _constant_parts(line)
    with database.connection():
        exact, similar = _find_line(line), _find_parts(parts)
        same, near = _by_session(exact.events), _by_session(similar.events)
        found = [(number, events, [line]) for number, events in same.items()]
        found += [(n, events, parts) for n, events in near.items() if n not in same]
        items = [_occurrence(*one) for one in found[: limit + 1]]
    none = NOT_READ if exact.has_damaged or similar.has_damaged else NO_ERROR
    return _reply(workspace, "occurrences", items, limit, none)


def _by_session(found: Iterable[tuple[int, Event]]) -> dict[int, list[Event]]:
    events: dict[int, list[Event]] = {}
    for number, event in found:
        events.setdefault(number, []).append(event)
    return events


def _find_parts(parts: Sequence[str]) -> Matches:
    return conversations.find_texts(parts, MAX_CALLS) if parts else NO_MATCHES


def _find_line(line: str) -> Matches:
    """Return the results and messages with a line as it is, not within a word."""
    if sum(map(str.isalnum, line)) < MIN_CODE_CHARS:
        return NO_MATCHES
    before, after = (r"\b" if char.isalnum() else "" for char in (line[0], line[-1]))
    whole = re.compile(f"{before}{re.escape(line)}{after}", re.IGNORECASE)
    found = conversations.find_texts([line], MAX_CALLS)
    matching = [one for one in found.events if whole.search(one[1].text)]
    return found._replace(events=matching)


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


def _occurrence(number: int, events: Sequence[Event], pattern: Sequence[str]) -> Item:
    """Describe the occurrences of an error in one session, which are newest first."""
    event = min(events, key=lambda one: _rank(one, pattern))
    item = _describe_events(number, [event, *events[1:]])
    item |= {"error": _best_line(event.text, pattern), "call": "", "result": ""}
    if event.is_tool_call:
        success = _find_success(number, event, pattern)
        item["call"] = _describe_command(event)
        item["result"] = "no later success"
        if success:
            item["result"] = f"succeeded: {_describe_command(success)}"
            item["result_id"] = citations.cite_event(success.event_id)
    return item


def _find_success(number: int, error: Event, pattern: Sequence[str]) -> Event | None:
    """Return the next call that is the same as one with an error, and succeeded."""
    following = conversations.list_after(
        number, error.subagent, error.position, FOLLOWING_EVENTS
    )
    call = _call_key(error)
    return next(
        (
            event
            for event in following
            if event.is_tool_call
            and not event.is_failed
            and _call_key(event) == call
            and not _has_parts(event.text, pattern)
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


def _describe_command(call: Event) -> str:
    return cut(one_line(call.text.partition("\n")[0]), COMMAND_CHARS)


def _rank(event: Event, pattern: Sequence[str]) -> int:
    """Return how well an event shows where an error occurred: 0 is best."""
    output = event.text.partition("\n")[2]
    if event.is_tool_call and _has_parts(output, pattern):
        if event.is_failed:
            return 0
        if tool_calls.tool_verb(event.metadata.get("tool_name", "")) == "Ran":
            return 1
    return 2 if event.role is EventRole.USER else 3


def _has_parts(text: str, parts: Sequence[str]) -> bool:
    """Return whether a text has the parts of an error in their order."""
    place, folded = 0, text.lower()
    for part in parts:
        found = folded.find(part.lower(), place)
        if found < 0:
            return False
        place = found + len(part)
    return True


def _best_line(text: str, pattern: Sequence[str]) -> str:
    """Return the first of the lines that have most parts of an error."""
    parts = [part.lower() for part in pattern]

    def count_parts(line: str) -> int:
        folded = line.lower()
        return sum(part in folded for part in parts)

    best = max(text.splitlines(), key=count_parts, default="")
    start = max(0, text.lower().find(parts[0]) - TEXT_CHARS // 3)
    return cut(one_line(best if count_parts(best) else text[start:]), TEXT_CHARS)
