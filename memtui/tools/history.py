"""Tools that search what the agents' tools did: by file, and by error."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtui.model import citations, tool_calls
from memtui.model.events import Event
from memtui.model.sessions import Session
from memtui.services import tool_history
from memtui.services.tool_history import ErrorOccurrences, FileChanges
from memtui.text import date_format
from memtui.tools.formatting import LineWriter, one_line
from memtui.tools.replies import Item, Reply, cut

if TYPE_CHECKING:
    from memtui.workspace import Workspace

CHANGES_LISTED = 5
COMMAND_CHARS = 160
TEXT_CHARS = 300
REPLACED_CHARS = 80

NO_FILE = "No tool call names that file. A part of its path is enough."
NOT_READ = "A matching event cannot be read."
NO_ERROR = (
    "This error is in no tool's result and in no message. A shorter part of it, without"
    " paths and numbers, finds more."
)


def search_file(workspace: "Workspace", path: str, *, limit: int = 10) -> Reply:
    """List what was done to a file and why, newest first: an item for each request."""
    result = tool_history.find_file_changes(path, limit + 1)
    items = [_describe_changes(changes, path.strip()) for changes in result.results]
    nothing = NOT_READ if result.has_damaged else NO_FILE
    return _reply(workspace, "changes", items, limit, nothing)


def search_error(workspace: "Workspace", error: str, *, limit: int = 5) -> Reply:
    """List where an error occurred before: an item for each session."""
    result = tool_history.find_error(error, limit + 1)
    items = list(map(_describe_error, result.results))
    nothing = NOT_READ if result.has_damaged else NO_ERROR
    return _reply(workspace, "occurrences", items, limit, nothing)


def _reply(
    workspace: "Workspace", name: str, items: Sequence[Item], limit: int, nothing: str
) -> Reply:
    return Reply(
        {name: items[:limit]},
        LineWriter(workspace.zone).work,
        notes=() if items else (nothing,),
        has_more=len(items) > limit,
        more_hint="a larger limit gives more",
    )


def _describe_events(event: Event, count: int, session: Session) -> Item:
    return {
        "id": citations.cite_event(event.event_id),
        "at": date_format.iso_utc(event.timestamp),
        "session": session.full_name,
        "title": one_line(session.title),
        "count": count,
    }


def _describe_changes(changes: FileChanges, path: str) -> Item:
    calls, request, report = changes.calls, changes.request, changes.report
    item = _describe_events(calls[0], len(calls), changes.session)
    item["changes"] = [
        _describe_change(call, path) for call in calls[:CHANGES_LISTED][::-1]
    ]
    item["outcome"] = cut(one_line(report.text), TEXT_CHARS) if report else ""
    item["outcome_id"] = citations.cite_event(report.event_id) if report else ""
    if request:
        item["request"] = cut(one_line(request.text), TEXT_CHARS)
        item["request_id"] = citations.cite_event(request.event_id)
    return item


def _describe_change(call: Event, path: str) -> str:
    """Describe a call in one line: its first line, and what it changed in a file."""
    text = one_line(call.text.partition("\n")[0])
    tool = call.metadata.get("tool_name", "")
    for edit in tool_calls.parse_edits(tool, call.metadata.get("tool_input", "")):
        has_change = edit.old or edit.new or edit.is_deletion
        if has_change and path.lower() in edit.path.lower():
            old, new = (cut(one_line(t), REPLACED_CHARS) for t in (edit.old, edit.new))
            where = f"{tool}: {edit.path}" if tool_calls.PATCH in text else text
            change = "deleted" if edit.is_deletion else f"“{old}” became “{new}”"
            text = f"{cut(where, TEXT_CHARS)}: {change}"
            break
    ending = f" ({call.ending})" if call.ending else ""
    return f"{cut(text, TEXT_CHARS + 2 * REPLACED_CHARS)}{ending}"


def _describe_error(occurrences: ErrorOccurrences) -> Item:
    event, success = occurrences.event, occurrences.success
    item = _describe_events(event, occurrences.count, occurrences.session)
    item |= {"error": cut(one_line(occurrences.line), TEXT_CHARS)}
    item |= {"call": "", "result": ""}
    if event.is_tool_call:
        item["call"] = _describe_command(event)
        item["result"] = "no later success"
    if success:
        item["result"] = f"succeeded: {_describe_command(success)}"
        item["result_id"] = citations.cite_event(success.event_id)
    return item


def _describe_command(call: Event) -> str:
    return cut(one_line(call.text.partition("\n")[0]), COMMAND_CHARS)
