"""Codex's tool calls: how they are made, and what the tools answered."""

import json
import re
from collections.abc import Iterable, Mapping

from memtui.capture.formats import base
from memtui.capture.formats.base import as_text
from memtui.capture.formats.codex_content import image, plain

Fields = Mapping[str, object]


_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)", re.MULTILINE)


_HEAD_CHARS = 400
"""How far into an answer the line with its exit code may stand."""


CALLS = frozenset(
    {
        "function_call",
        "custom_tool_call",
        "local_shell_call",
        "tool_search_call",
        "tool_call",
        "mcp_call",
    }
)
"""Items that call a tool and wait for its answer."""


ANSWERS = frozenset(
    {
        "function_call_output",
        "custom_tool_call_output",
        "local_shell_call_output",
        "tool_search_output",
        "function_result",
        "tool_result",
        "mcp_tool_call_output",
    }
)
"""Items that hold a tool's answer."""


WHOLE = frozenset({"web_search_call", "image_generation_call"})
"""Items that are call and answer in one."""


ENDS = frozenset(
    {
        "exec_command_end",
        "patch_apply_end",
        "mcp_tool_call_end",
        "dynamic_tool_call_response",
        "image_generation_end",
        "view_image_tool_call",
        "web_search_end",
    }
)
"""Events that tell of a call which the items mostly tell too."""


ITEMS = {
    "CommandExecution": "exec_command_end",
    "FileChange": "patch_apply_end",
    "McpToolCall": "mcp_tool_call_end",
    "DynamicToolCall": "dynamic_tool_call_response",
    "ImageGeneration": "image_generation_end",
    "ImageView": "view_image_tool_call",
    "WebSearch": "web_search_end",
    "Extension": "web_search_end",
}
"""Completed things of newer rollouts, and the event each of them is told like."""


def key(fields: Fields) -> str:
    """What a call is called by those who answer it."""
    return as_text(fields.get("call_id") or fields.get("id"))


def asked(fields: Fields) -> tuple[str, object]:
    """Which tool a call calls, and what it gives to it."""
    kind, function = as_text(fields.get("type")), fields.get("function")
    name = as_text(fields.get("name"))
    if isinstance(function, Mapping):
        name = name or as_text(function.get("name"))
    if kind == "local_shell_call":
        return name or "shell", fields.get("action")
    if kind == "tool_search_call":
        return name or "tool_search", fields.get("arguments")
    if kind == "custom_tool_call":
        return name, fields.get("input")
    return name, _json(fields.get("arguments", fields.get("input")))


def answered(fields: Fields) -> tuple[str, bool]:
    """What a tool answered, and whether it failed."""
    if isinstance(tools := fields.get("tools"), list):
        names = [as_text(t.get("name")) for t in tools if isinstance(t, dict)]
        return "\n".join(names), False
    told = fields.get("output", fields.get("result"))
    inner = _json(told)
    if isinstance(inner, Mapping) and (inner is told or _is_wrapped(inner)):
        return _structured(inner)
    text = plain(told) if isinstance(told, list) else as_text(told)
    found = _EXIT.search(text, 0, _HEAD_CHARS)
    return text, found is not None and int(found[1]) != 0


def _is_wrapped(told: Fields) -> bool:
    """Whether JSON text is Codex's own wrapping, not what a program printed."""
    return "output" in told and isinstance(told.get("metadata"), Mapping)


def _structured(told: Fields) -> tuple[str, bool]:
    """An answer that is an object: text and success, or output and exit code."""
    about = told.get("metadata")
    code = about.get("exit_code") if isinstance(about, Mapping) else None
    code = told.get("exit_code", told.get("exitCode", code))
    is_error = code not in (None, 0) or told.get("success") is False
    if "text" in told:
        return plain(told), is_error
    for name in ("output", "content"):
        if name in told:
            inner = told[name]
            return plain(inner) if isinstance(inner, list) else as_text(inner), is_error
    if "stdout" in told:
        return _lines(told.get("stdout"), told.get("stderr")), is_error
    return as_text(told), is_error


def ended(kind: str, fields: Fields) -> tuple[str, object, str, bool]:
    """What an event tells of a call: the tool, its input, its answer, its failure.

    Args:
        kind: One of ``ENDS``.
        fields: The event's fields.
    """
    failed = fields.get("success") is False or fields.get("status") in _FAILED
    if kind == "exec_command_end":
        said = fields.get("aggregated_output") or fields.get("formatted_output")
        text = as_text(said) or _lines(fields.get("stdout"), fields.get("stderr"))
        return (
            "shell",
            _only(fields, "command"),
            text,
            fields.get("exit_code") not in (None, 0),
        )
    if kind == "patch_apply_end":
        changes = fields.get("changes")
        paths = [*changes] if isinstance(changes, Mapping) else []
        return "apply_patch", {"path": paths}, _lines(*_std(fields)), failed
    if kind == "mcp_tool_call_end":
        return _mcp(fields, failed)
    if kind == "dynamic_tool_call_response":
        said = fields.get("content_items") or fields.get("error")
        text = plain(said) if isinstance(said, list) else as_text(said)
        return as_text(fields.get("tool")), fields.get("arguments"), text, failed
    if kind == "view_image_tool_call":
        return "view_image", _only(fields, "path"), "", failed
    if kind == "web_search_end":
        return searched(fields)
    return drawn(fields)


def searched(fields: Fields) -> tuple[str, object, str, bool]:
    """A search of the web, told like ``ended`` does."""
    action = fields.get("action")
    about = action if isinstance(action, Mapping) else fields
    given = {
        name: about[name]
        for name in ("query", "queries", "url", "pattern")
        if about.get(name)
    } or _only(fields, "query")
    found = fields.get("results")
    lines = [
        " ".join(filter(None, (as_text(one.get("title")), as_text(one.get("url")))))
        for one in (found if isinstance(found, list) else ())
        if isinstance(one, Mapping)
    ]
    return "web_search", given, "\n".join(filter(None, lines)), False


def drawn(fields: Fields) -> tuple[str, object, str, bool]:
    """An image that was made, told like ``ended`` does."""
    saved, made = as_text(fields.get("saved_path")), fields.get("result")
    shown = image(saved or (f"data:image,{made}" if isinstance(made, str) else None))
    return (
        "image_generation",
        {"prompt": as_text(fields.get("revised_prompt"))},
        shown,
        False,
    )


_FAILED = ("failed", "declined")


def _mcp(fields: Fields, failed: bool) -> tuple[str, object, str, bool]:
    asked = fields.get("invocation")
    about = asked if isinstance(asked, Mapping) else fields
    name = ".".join(
        filter(None, (as_text(about.get("server")), as_text(about.get("tool"))))
    )
    result = fields.get("result")
    told = (
        result
        if isinstance(result, Mapping)
        else {"Err": result or fields.get("error")}
    )
    good = told.get("Ok", told if "content" in told else None)
    if isinstance(good, Mapping):
        text = base.result_text(good.get("content"))
        return name, about.get("arguments"), text, failed or good.get("isError") is True
    return name, about.get("arguments"), as_text(told.get("Err")), True


def _std(fields: Fields) -> tuple[object, object]:
    return fields.get("stdout"), fields.get("stderr")


def _only(fields: Fields, name: str) -> dict[str, object]:
    return {name: fields[name]} if fields.get(name) else {}


def _lines(*said: object) -> str:
    texts: Iterable[str] = map(as_text, said)
    return "\n".join(text.rstrip("\n") for text in texts if text.strip())


def _json(text: object) -> object:
    """What JSON text says; the text itself where it is none."""
    if not isinstance(text, str) or not text.lstrip().startswith("{"):
        return text
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return text
