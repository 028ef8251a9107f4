"""Classify tool calls by their names, decide how they ended, and read their edits.

Each agent has its own names for tools and for the fields of their inputs.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

_VERBS = {
    "Ran": re.compile(
        r"bash|shell(?:_command)?|exec\w*|local_shell|terminal|powershell|pwsh"
        r"|run_?(?:shell_?)?command|run_(?:in_)?terminal(?:_cmd)?",
        re.IGNORECASE,
    ),
    "Edited": re.compile(
        r"(?:multi_?|notebook_?|str_|search_(?:and_)?|insert_|apply_?)*"
        r"(?:edit|patch|replace)(?:or|_\w+)?|apply_?diff",
        re.IGNORECASE,
    ),
    "Searched for": re.compile(
        r"grep|glob|search\w*|find_by_name"
        r"|(?:web|google_web|grep|file|code|codebase|semantic)_?search",
        re.IGNORECASE,
    ),
    "Wrote": re.compile(
        r"write|create|(?:write|create|save)_?(?:to_?|new_?)?file", re.IGNORECASE
    ),
    "Read": re.compile(
        r"read|view|cat|notebook_?read|(?:read|view)_?(?:many_?)?files?", re.IGNORECASE
    ),
}

CHANGING = ("Edited", "Wrote")
"""The verbs of tools that change files."""

WAITING_TOOLS = frozenset(
    {
        *("write_stdin", "BashOutput", "TaskOutput", "read_bash", "write_bash"),
        *("read_powershell", "write_powershell", "wait"),
    }
)
"""Tools that return more output of a command that went on running."""

PATCH = "*** Begin Patch"
_PATCHED_FILE = re.compile(r"^\*\*\* (Update|Add|Delete) File: (.+)$", re.MULTILINE)

_MOVED_FILE = re.compile(r"\n\*\*\* Move to: (.+)$", re.MULTILINE)

_PATHS = ("file_path", "filePath", "path", "notebook_path", "target_file", "TargetFile")
_OLD_TEXTS = ("old_string", "oldString", "old_str", "TargetContent")
_NEW_TEXTS = (
    *("new_string", "newString", "new_str", "new_source", "ReplacementContent"),
    *("content", "file_text", "CodeContent"),
)
_PARTS = ("edits", "ReplacementChunks")


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A change of a file: the text that was replaced, and the text in its place."""

    path: str
    """"" if the call does not name it."""
    old: str = ""
    new: str = ""
    is_deletion: bool = False


@lru_cache(maxsize=1_024)
def tool_verb(name: str) -> str:
    """Return what a tool does by its name ("Edited", "Ran" …); "" if unknown.

    The name of an MCP server before it does not count: ``mcp__files__write_file``.
    """
    bare_name = name.rpartition("__")[2]
    for verb, pattern in _VERBS.items():
        if pattern.fullmatch(bare_name):
            return verb
    return ""


def is_command(name: str) -> bool:
    """Return whether a tool runs a command, or returns the output of one."""
    return tool_verb(name) == "Ran" or name in WAITING_TOOLS


class CallEnd(StrEnum):
    """The end of a call."""

    OK = "ok"
    FAILED = "failed"
    """It ended with an error or an exit status other than 0, was stopped or denied."""
    UNFINISHED = "unfinished"
    """It was started, and has no result yet."""
    CANCELLED = "cancelled"
    """It was broken off, as its result says."""
    BACKGROUND = "background"
    """It returned while its command went on running."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a call, with the exit status of its command if that is stated."""

    end: CallEnd = CallEnd.UNKNOWN
    exit_status: str = ""

    def metadata(self) -> dict[str, str]:
        """Return the metadata of the call's event."""
        end = "" if self.end is CallEnd.UNKNOWN else self.end.value
        return {"call_end": end, "exit_status": self.exit_status}


UNFINISHED = Ending(CallEnd.UNFINISHED)

_RUNNING = """started pending queued scheduled validating awaitingapproval waiting
generating running executing inprogress streaming"""

_STATUSES = {
    CallEnd.OK: "completed complete success succeeded done ok",
    CallEnd.FAILED: """failed failure error declined denied rejected blocked timeout
    timedout killed stopped terminated halted invalid""",
    CallEnd.UNFINISHED: f"unfinished {_RUNNING}",
    CallEnd.CANCELLED: "cancelled canceled aborted interrupted",
    CallEnd.BACKGROUND: "background",
}
_END_BY_STATUS = {
    word: end for end, words in _STATUSES.items() for word in words.split()
}
"""The end of a call by the word with which formats state it."""


def is_running(status: object) -> bool:
    """Return whether a format says that a call has not ended yet."""
    return _word(status) in _RUNNING.split()


def _word(status: object) -> str:
    text = status if isinstance(status, str) else ""
    return "".join(filter(str.isalpha, text)).lower()


def decide_ending(
    *,
    exit_status: object = None,
    status: object = None,
    has_failed: object = None,
) -> Ending:
    """Decide how a call ended from what its format states; None if it does not.

    Args:
        exit_status: The exit status of its command.
        status: A word for its state: ``completed``, ``timed_out``, ``InProgress``.
        has_failed: Whether it is marked as failed.
    """
    code = _parse_exit_status(exit_status)
    end = _END_BY_STATUS.get(_word(status), CallEnd.UNKNOWN)
    if end not in (CallEnd.UNFINISHED, CallEnd.CANCELLED):
        if has_failed is True or code not in ("", "0"):
            end = CallEnd.FAILED
        elif end is CallEnd.UNKNOWN and (has_failed is False or code):
            end = CallEnd.OK
    return Ending(end, code)


def _parse_exit_status(value: object) -> str:
    """Return an exit status as text; "" if it is none."""
    text = "" if isinstance(value, bool) else str(value).strip()
    return str(int(text)) if re.fullmatch(r"-?[0-9]{1,20}", text) else ""


def parse_edits(tool_name: str, tool_input: str) -> list[FileEdit]:
    """Return the edits that a call asked for; those of a patch file by file."""
    has_patch = PATCH in tool_input
    if not has_patch and tool_verb(tool_name) not in CHANGING:
        return []
    try:
        values = json.loads(tool_input)
    except (ValueError, RecursionError):
        values = tool_input.replace("\\n", "\n")
    if has_patch:
        patches = [text for text in _texts(values) if PATCH in text]
        return [edit for patch in patches for edit in _patched_files(patch)]
    if not isinstance(values, dict) or values.get("command") == "view":
        return []
    path = _first_text(values, _PATHS)
    parts = next((p for n in _PARTS if isinstance(p := values.get(n), list)), [values])
    return [
        FileEdit(path, _first_text(part, _OLD_TEXTS), _first_text(part, _NEW_TEXTS))
        for part in parts
        if isinstance(part, dict)
    ]


def _first_text(fields: Mapping[str, object], names: Iterable[str]) -> str:
    values = (fields.get(name) for name in names)
    return next((text for text in values if isinstance(text, str) and text), "")


def list_texts(tool_input: str) -> list[str]:
    """Return all strings in the input of a call."""
    try:
        return [*_texts(json.loads(tool_input))]
    except (ValueError, RecursionError):
        return []


def _texts(value: object) -> Iterator[str]:
    """Yield all strings in a JSON value, however deep it is nested."""
    pending = [value]
    for item in pending:  # The list grows while it is read.
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict | list):
            pending += item.values() if isinstance(item, dict) else item


def _patched_files(patch: str) -> Iterator[FileEdit]:
    sections = _PATCHED_FILE.split(patch)
    for verb, path, body in zip(
        sections[1::3], sections[2::3], sections[3::3], strict=True
    ):
        lines = body.splitlines()
        if moved := _MOVED_FILE.match(body):
            path = moved[1]
        old = "\n".join(line[1:] for line in lines if line.startswith("-"))
        new = "\n".join(line[1:] for line in lines if line.startswith("+"))
        yield FileEdit(path.strip(), old, new, is_deletion=verb == "Delete")
