"""Tools that search what the agents' tools did: by file, and by error.

A change to a file is returned with the request that led to it and the agent's report on
it; an error with the changes that followed it, the first later success of the call that
failed, and the report.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from memtui.agents.formatting import LineWriter, one_line
from memtui.agents.replies import Item, Reply, cut
from memtui.model import citations, tool_calls
from memtui.model.events import Event, EventRole
from memtui.model.quantities import plural
from memtui.services import session_outcomes
from memtui.store import conversations, database, sessions
from memtui.store import events as store_events
from memtui.store.conversations import Matches
from memtui.summarize import fixes, tool_actions
from memtui.text import analyzer, date_format

if TYPE_CHECKING:
    from memtui.workspace import Workspace

MAX_CALLS = 400
"""The number of calls or errors read, the newest first."""

FOLLOWING_EVENTS = 400
"""The number of events after an error that are searched for its fix."""

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
            shown = some[:CHANGES_SHOWN][::-1]
            subject = request.text if request else ""
            item = _describe(number, some, shown, subject, name)
            if request:
                item["request"] = cut(one_line(request.text), TEXT_CHARS)
                item["request_id"] = citations.cite_event(request.event_id)
            items.append(item)
    none = NOT_READ if found.has_damaged else NO_FILE
    return _reply(workspace, "changes", items, limit, none)


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
    wanted = set(analyzer.query_terms(subject))
    report, most = None, 0
    for message in conversations.list_messages_after(number, event, REPORT_MESSAGES):
        if message.role is EventRole.USER:
            break
        shared = len(wanted.intersection(analyzer.terms(message.text)))
        if shared >= most:
            report, most = message, shared
    return report


def _is_change(call: Event) -> bool:
    verb = tool_calls.tool_verb(call.metadata.get("tool_name", ""))
    return verb in tool_calls.CHANGING


def _describe(
    number: int,
    events: Sequence[Event],
    changes: Sequence[Event],
    subject: str,
    path: str = "",
    *,
    last: Event | None = None,
) -> Item:
    """Describe events of a session, newest first, with changes and the report on them.

    The subject is an error, or what was requested. With a path only the changes to this
    file are described. The report is looked for after the last change, or the event
    given as the last one.
    """
    event = events[0]
    session = sessions.get_many([number])[number]
    work = session_outcomes.read_one(session.agent, session.session_id)
    described = [_describe_call(call, path) for call in changes]
    report = _report(
        number, last or [event, *changes][-1], " ".join([subject, *described])
    )
    return {
        "id": citations.cite_event(event.event_id),
        "at": date_format.iso_utc(event.timestamp),
        "session": f"{session.agent}:{session.session_id}",
        "title": one_line(work.name or session.title),
        "count": len(events),
        "changes": described,
        "outcome": cut(one_line(report.text), TEXT_CHARS) if report else "",
        "outcome_id": citations.cite_event(report.event_id) if report else "",
    }


def _describe_call(call: Event, path: str) -> str:
    """Describe a call in one line: its first line, and what it changed in a file."""
    if steps := fixes.changing_steps(call):
        command = cut("; ".join(map(fixes.describe_command, steps)), COMMAND_CHARS)
        return f"{call.metadata['tool_name']}: {command}"
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
    named = [line for line in messages if tool_actions.mentions_error(line)]
    return (named or messages or [""])[-1 if "Traceback" in error else 0].strip()


def _constant_parts(line: str) -> list[str]:
    """Return the parts of an error that are the same each time it occurs, in order."""
    parts = [part.strip(" \t'\"`:()[]<>,") for part in _VARYING.split(line)]
    parts = [part for part in parts if any(map(str.isalnum, part))]
    return parts if sum(map(len, parts)) >= MIN_ERROR_CHARS else []


def _occurrence(number: int, events: Sequence[Event], pattern: Sequence[str]) -> Item:
    """Describe the occurrences of an error in one session, which are newest first."""
    event = min(events, key=lambda one: _rank(one, pattern))
    following = conversations.list_after(
        number, event.subagent, event.position, FOLLOWING_EVENTS
    )
    fix = fixes.find_fix(event, following, lambda text: _has_parts(text, pattern))
    error, shown = _best_line(event.text, pattern), fix.changes[:CHANGES_SHOWN]
    item = _describe(number, [event, *events[1:]], shown, error, last=fix.last)
    result, shows_it = _describe_result(event, fix)
    return item | {
        "error": error,
        "call": _describe_command(event) if event.is_tool_call else "",
        "result": result,
        "result_id": citations.cite_event(shows_it.event_id) if shows_it else "",
        "more_changes": len(fix.changes) - len(shown),
    }


def _describe_result(error: Event, fix: fixes.Fix) -> tuple[str, Event | None]:
    """Say whether a call that failed succeeded later; with the event that shows it."""
    if fix.has_succeeded:
        return f"succeeded: {_describe_command(fix.reruns[-1])}", fix.reruns[-1]
    if not fix.can_rerun:
        return "", None
    if tool_actions.has_passed(error):
        return "the call itself did not fail", None
    if fix.is_gone:
        is_failed = fix.reruns[-1].is_failed
        what = "with another error" if is_failed else "without this error"
        return f"run again {what}", fix.reruns[-1]
    if fix.reruns:
        times = plural(len(fix.reruns), "time")
        return f"no later success, run again {times}", fix.reruns[-1]
    return "not run again", None


def _describe_command(call: Event) -> str:
    first = call.text.partition("\n")[0]
    if tool_actions.is_command(call):
        command = tool_actions.whole_command(call)
        first = f"{call.metadata['tool_name']}: {fixes.describe_command(command)}"
    return cut(one_line(first), COMMAND_CHARS)


def _rank(event: Event, pattern: Sequence[str]) -> int:
    """Return how well an event shows where an error occurred: 0 is best."""
    is_output = event.is_tool_call and _has_parts(
        event.text.partition("\n")[2], pattern
    )
    if is_output and event.is_failed:
        return 0
    if is_output and tool_actions.is_command(event):
        return 2 if tool_actions.has_succeeded(event) else 1
    return 3 if event.role is EventRole.USER else 4


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
    wanted = [part.lower() for part in pattern]

    def count_parts(line: str) -> int:
        folded = line.lower()
        return sum(part in folded for part in wanted)

    best = max(text.splitlines(), key=count_parts, default="")
    start = max(0, text.lower().find(wanted[0]) - TEXT_CHARS // 3)
    return cut(one_line(best if count_parts(best) else text[start:]), TEXT_CHARS)
