"""Codex's tool calls and results, in every shape that rollouts have had.

A result has the output, how the call ended, and the lines that a patch changed.
``codex`` pairs a call with its result; ``base.ToolCall`` becomes the event.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from memtui.capture.formats.base import (
    MAX_PATCHED_FILES,
    Fields,
    as_object,
    as_objects,
    as_text,
    count_diff_lines,
    count_lines,
    first_text,
    parse_json,
    placeholder,
    result_text,
)
from memtui.capture.formats.endings import read_ending, read_fields
from memtui.model.tool_calls import Ending, decide_ending
from memtui.text.stopwords import word_set

AGENT = "codex"

CALLS = word_set(
    """function_call custom_tool_call local_shell_call tool_search_call tool_call
    mcp_call"""
)
"""Items that call a tool; the result follows."""

RESULTS = word_set(
    """function_call_output custom_tool_call_output local_shell_call_output
    tool_search_output function_result tool_result mcp_tool_call_output"""
)

COMPLETE_CALLS = {
    # Events; mostly the items hold the same call.
    "exec_command_end": "exec_command_end",
    "patch_apply_end": "patch_apply_end",
    "mcp_tool_call_end": "mcp_tool_call_end",
    "dynamic_tool_call_response": "dynamic_tool_call_response",
    "image_generation_end": "image_generation_end",
    "view_image_tool_call": "view_image_tool_call",
    "web_search_end": "web_search_end",
    # Items.
    "web_search_call": "web_search_end",
    "image_generation_call": "image_generation_end",
    # Completed items of newer rollouts.
    "CommandExecution": "exec_command_end",
    "FileChange": "patch_apply_end",
    "McpToolCall": "mcp_tool_call_end",
    "CollabAgentToolCall": "collab_agent_call",
    "DynamicToolCall": "dynamic_tool_call_response",
    "ImageGeneration": "image_generation_end",
    "ImageView": "view_image_tool_call",
    "WebSearch": "web_search_end",
    "Extension": "web_search_end",
}
"""Records that hold both call and result, and the event whose fields they have."""

UNKNOWN_IMAGE = "[image]"

_MAX_ADDRESS_CHARS = 300
"""A longer address of an image is its bytes."""

_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_IMAGE_TAG = re.compile(r"<image(?: name=[^<>]*)?>|</image>")


class CompleteCall(NamedTuple):
    """A tool call and its result."""

    tool_name: str
    tool_input: object
    result: str
    ending: Ending = Ending()
    lines: str = ""
    """The lines that a patch changed, a file on each line."""


def call_key(fields: Fields) -> str:
    return first_text(fields, "call_id", "id", "event_id")


def snake_case(name: str) -> str:
    """Return a name in snake_case: ``exitCode`` as ``exit_code``."""
    return _CAPITAL.sub("_", name).lower()


def parse_call(fields: Fields) -> tuple[str, object]:
    kind, function = as_text(fields.get("type")), as_object(fields.get("function"))
    name = first_text(fields, "name") or first_text(function, "name")
    namespace = as_text(fields.get("namespace"))
    if namespace.startswith("mcp__"):
        name = f"{namespace.rstrip('_')}__{name}"
    if kind == "local_shell_call":
        return name or "shell", fields.get("action")
    if kind == "tool_search_call":
        return name or "tool_search", fields.get("arguments")
    if kind == "custom_tool_call":
        return name, fields.get("input")
    return name, parse_json(fields.get("arguments", fields.get("input")))


def parse_result(tool_name: str, fields: Fields) -> tuple[str, Ending]:
    """Return the output of a call, and how it ended."""
    if isinstance(tools := fields.get("tools"), list):
        names = (as_text(tool.get("name")) for tool in as_objects(tools))
        return "\n".join(names), decide_ending(status=fields.get("status"))
    output = fields.get("output", fields.get("result"))
    value = parse_json(output)
    # JSON text may be Codex's own wrapping or what a program printed.
    is_wrapping = isinstance(value, Mapping) and (
        value is output
        or ("output" in value and isinstance(value.get("metadata"), Mapping))
    )
    if is_wrapping and isinstance(value, Mapping):
        text, stated = _structured_text(value), read_fields(value)
    else:
        text, stated = _text(output), read_fields(fields)
    return text, read_ending(AGENT, tool_name, text, **stated)


def _structured_text(fields: Fields) -> str:
    if "text" in fields:
        return content_text(fields)
    for name in ("output", "content"):
        if name in fields:
            return _text(fields[name])
    return _output(fields) if "stdout" in fields else as_text(fields)


def parse_complete_call(kind: str, fields: Fields) -> CompleteCall:
    """Parse a record that holds both call and result, by its COMPLETE_CALLS value."""
    ending = decide_ending(**read_fields(fields))
    if kind == "exec_command_end":
        text = first_text(fields, "aggregated_output", "formatted_output")
        command = _only(fields, "command")
        return CompleteCall("shell", command, text or _output(fields), ending)
    if kind == "patch_apply_end":
        paths = {"path": [path for path, _, _ in _changes(fields)]}
        lines = count_patched_lines(fields)
        return CompleteCall("apply_patch", paths, _output(fields), ending, lines)
    if kind == "mcp_tool_call_end":
        return _parse_mcp_call(fields, ending)
    if kind == "dynamic_tool_call_response":
        text = _text(fields.get("content_items") or fields.get("error"))
        name = as_text(fields.get("tool"))
        return CompleteCall(name, fields.get("arguments"), text, ending)
    if kind == "collab_agent_call":
        name = snake_case(as_text(fields.get("tool")))
        prompt = _only(fields, "prompt")
        states = as_text(fields.get("agents_states") or None)
        return CompleteCall(name, prompt, states, ending)
    if kind == "view_image_tool_call":
        return CompleteCall("view_image", _only(fields, "path"), "", ending)
    if kind == "web_search_end":
        return _parse_web_search(fields, ending)
    return _parse_image_generation(fields, ending)


def count_patched_lines(fields: Fields) -> str:
    """Return the lines that a patch changed in each file: "+12 -3 src/a.py"."""
    counts: list[str] = []
    for path, kind, change in _changes(fields):
        if diff := change.get("unified_diff"):
            count = count_diff_lines(diff)
        else:
            mark = "-" if kind == "delete" else "+"
            content = as_text(change.get("content")).splitlines()
            count = count_lines(mark for _ in content)
        counts.append(f"{count} {path}" if count else f"+0 -0 {path}")
    return "\n".join(counts)


def _changes(fields: Fields) -> Iterator[tuple[str, str, Fields]]:
    """Yield the path that each changed file has now, the kind of change, its fields."""
    changes = fields.get("changes")
    paths = (as_text(change.get("path")) for change in as_objects(changes))
    listed = zip(paths, as_objects(changes), strict=True)
    for path, value in list(as_object(changes).items() or listed)[:MAX_PATCHED_FILES]:
        change = as_object(value)
        if "kind" in change:
            # {"path": …, "kind": {"type": "update", "move_path": …}, "diff": …}
            kind = change["kind"]
            kinds = as_object(kind) or {"type": kind}
            change = {"unified_diff": change.get("diff"), **kinds}
        elif "type" not in change:
            # {path: {"update": {"unified_diff": …}}}
            kind = next(iter(change), "")
            change = {**as_object(change.get(kind)), "type": kind}
        moved = as_text(change.get("move_path"))
        yield moved or path, as_text(change.get("type")), change


def _parse_web_search(fields: Fields, ending: Ending) -> CompleteCall:
    inner = as_object(fields.get("action")) or fields
    query = {
        name: inner[name]
        for name in ("query", "queries", "url", "pattern")
        if inner.get(name)
    } or _only(fields, "query")
    lines = [
        " ".join(filter(None, (as_text(page.get("title")), as_text(page.get("url")))))
        for page in as_objects(fields.get("results"))
    ]
    return CompleteCall("web_search", query, "\n".join(filter(None, lines)), ending)


def _parse_image_generation(fields: Fields, ending: Ending) -> CompleteCall:
    path, data = as_text(fields.get("saved_path")), fields.get("result")
    image = path or (f"data:image,{data}" if isinstance(data, str) else None)
    prompt = {"prompt": as_text(fields.get("revised_prompt"))}
    return CompleteCall("image_generation", prompt, image_placeholder(image), ending)


def _parse_mcp_call(fields: Fields, ending: Ending) -> CompleteCall:
    call = as_object(fields.get("invocation")) or fields
    names = as_text(call.get("server")), as_text(call.get("tool"))
    name, arguments = ".".join(filter(None, names)), call.get("arguments")
    result = fields.get("result")
    if not isinstance(result, Mapping):
        error = fields.get("error")
        result = {"Err": result or as_object(error).get("message", error)}
    value = result.get("Ok", result if "content" in result else None)
    if isinstance(value, Mapping):
        text = result_text(value.get("content"))
        if value.get("isError") is True:
            ending = decide_ending(has_failed=True)
        return CompleteCall(name, arguments, text, ending)
    text, failed = as_text(result.get("Err")), decide_ending(has_failed=True)
    return CompleteCall(name, arguments, text, failed)


def _only(fields: Fields, name: str) -> dict[str, object]:
    return {name: fields[name]} if fields.get(name) else {}


def _output(fields: Fields) -> str:
    texts: Iterable[str] = (as_text(fields.get(n)) for n in ("stdout", "stderr"))
    return "\n".join(text.rstrip("\n") for text in texts if text.strip())


def _text(value: object) -> str:
    return content_text(value) if isinstance(value, list) else as_text(value)


def content_text(content: object) -> str:
    return join_parts([text for text, _ in content_parts(content)])


def content_parts(content: object) -> Iterator[tuple[str, bool]]:
    """Yield the texts of a content, each with whether it is an image's placeholder."""
    if isinstance(content, str):
        yield content, False
        return
    if isinstance(content, dict):
        content = [content]
    for block in content if isinstance(content, list) else ():
        if isinstance(block, str):
            yield block, False
        elif isinstance(block, dict):
            kind, url = block.get("type"), block.get("image_url", block.get("imageUrl"))
            # What was spoken has a transcript.
            spoken = first_text(block, "text", "transcript")
            text, *more = _IMAGE_TAG.split(spoken)
            if more:
                text = "".join(map(str.strip, (text, *more)))
            if text.strip():
                yield text, False
            if url or kind in ("input_image", "image", "inputImage"):
                yield image_placeholder(url or block.get("data")), True


def image_placeholder(value: object) -> str:
    """Return an image's placeholder: type and size, or its address; not its bytes."""
    if isinstance(value, dict):
        value = value.get("url") or value.get("path")
    url = as_text(value)
    head, comma, data = url.partition(",")
    if url.startswith("data:") and comma:
        media_type = head.removeprefix("data:").partition(";")[0]
        return placeholder("image", media_type, data)
    is_address = len(url) <= _MAX_ADDRESS_CHARS and not url.startswith("data:")
    return f"[image: {url}]" if url and is_address else UNKNOWN_IMAGE


def join_parts(parts: Iterable[str]) -> str:
    """Join texts by blank lines, without empty ones and surrounding newlines."""
    return "\n\n".join(part.strip("\n") for part in parts if part.strip())
