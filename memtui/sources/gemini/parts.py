"""The parts of a Gemini CLI message, as text."""

from collections.abc import Mapping

from memtui.sources import blocks
from memtui.sources.records import text_of

_INJECTED = {
    "<session_context>": "context",
    "This is the Gemini CLI. We are setting up the context": "context",
    "<state_snapshot>": "compact_summary",
    "<hook_context>": "hook",
    "I ran the following shell command:": "shell",
    "System: Please continue.": "reminder",
    "Please continue.": "reminder",
}
"""How what the program says in the person's name begins, and what it is."""


def injected(text: str) -> str:
    """What a "user" message is when the person did not write it; "" when they did."""
    start = text.lstrip()
    found = (kind for begins, kind in _INJECTED.items() if start.startswith(begins))
    return next(found, "")


def text(fields: Mapping[str, object]) -> str:
    """The readable text of a message's content; a placeholder for each file."""
    content = fields.get("content") or fields.get("parts")
    parts = content if isinstance(content, list) else [content]
    found = (_part(part) for part in parts)
    return "\n\n".join(part for part in found if part.strip())


def _part(part: object) -> str:
    if not isinstance(part, dict):
        return text_of(part) if isinstance(part, str) else ""
    if part.get("thought") or "functionCall" in part or "functionResponse" in part:
        return ""
    for name in ("inlineData", "fileData"):
        if isinstance(part.get(name), dict):
            return _file(part[name])
    for name in ("executableCode", "codeExecutionResult"):
        held = part.get(name)
        if isinstance(held, dict):
            return text_of(held.get("code") or held.get("output"))
    return text_of(part.get("text"))


def _file(held: dict[str, object]) -> str:
    mime = text_of(held.get("mimeType")) or "unknown type"
    kind = "image" if mime.startswith("image/") else "document"
    source = {"media_type": mime, "data": held.get("data")}
    return blocks.placeholder({"type": kind, "source": source})


def thoughts(fields: Mapping[str, object]) -> list[object]:
    """What the model thought: told beside the message, or among its parts."""
    told = fields.get("thoughts")
    content = fields.get("content")
    among = [
        part.get("text")
        for part in (content if isinstance(content, list) else ())
        if isinstance(part, dict) and part.get("thought")
    ]
    return [*(told if isinstance(told, list) else ()), *among]


def holds_answers(fields: Mapping[str, object]) -> bool:
    """Whether a message repeats what tools answered, for the model."""
    content = fields.get("content")
    return isinstance(content, list) and any(
        isinstance(part, dict) and "functionResponse" in part for part in content
    )


def answer(told: dict[str, object]) -> str:
    """What a tool answered: as the model was told it, else as it was shown."""
    result = told.get("result")
    parts = result if isinstance(result, list) else [result]
    texts = [_answer_part(part) for part in parts]
    return "\n".join(filter(None, texts)) or text_of(told.get("resultDisplay"))


def _answer_part(part: object) -> str:
    if not isinstance(part, dict):
        return text_of(part)
    held = part.get("functionResponse")
    response = held.get("response") if isinstance(held, dict) else None
    if not isinstance(response, dict):
        return _part(part)
    told = response.get("output", response.get("error"))
    return text_of(response if told is None else told)
