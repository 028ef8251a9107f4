"""Classify tool calls by their names, and read file edits from their inputs.

Each agent has its own names for tools and for the fields of their inputs.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
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

PATCH = "*** Begin Patch"
_PATCHED_FILE = re.compile(r"^\*\*\* (Update|Add|Delete) File: (.+)$", re.MULTILINE)

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
        old = "\n".join(line[1:] for line in lines if line.startswith("-"))
        new = "\n".join(line[1:] for line in lines if line.startswith("+"))
        yield FileEdit(path.strip(), old, new, is_deletion=verb == "Delete")
