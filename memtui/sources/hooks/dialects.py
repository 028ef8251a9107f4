"""The dialects of hook payloads: each is put into the words of Claude Code's.

A dialect is told by the fields it has, not by who is said to speak it; a field that is
there in both keeps what the common word says.
"""

import json
from collections.abc import Mapping

from memtui.sources.records import text_of

Fields = dict[str, object]

_COPILOT = {
    "sessionId": "session_id",
    "transcriptPath": "transcript_path",
    "toolName": "tool_name",
    "toolArgs": "tool_input",
    "toolResult": "tool_response",
    "tool_result": "tool_response",
    "agentId": "agent_id",
    "agentType": "agent_type",
    "agentName": "agent_type",
    "response": "last_assistant_message",
}
"""GitHub Copilot's words, and the one it keeps when it speaks Claude Code's."""

_TEXTS = ("textResultForLlm", "text_result_for_llm")
_VERDICTS = ("resultType", "result_type")


def common(fields: Mapping[str, object]) -> Fields:
    """A payload in the common words."""
    said = dict(fields)
    for theirs, ours in _COPILOT.items():
        if theirs in said and said.get(ours) in (None, ""):
            said[ours] = said[theirs]
    if "toolArgs" in said:
        said["tool_input"] = _from_json(said["tool_input"])
    answer = said.get("tool_response")
    if isinstance(answer, dict):
        _copilot_answer(said, answer)
        _gemini_answer(said, answer)
    return said


def _from_json(given: object) -> object:
    """What a JSON text stands for; anything else as it is."""
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return given


def _copilot_answer(said: Fields, answer: Fields) -> None:
    text = next((answer[name] for name in _TEXTS if name in answer), None)
    if text is None:
        return
    verdict = next((answer[name] for name in _VERDICTS if name in answer), "success")
    said["tool_response"] = text
    if verdict != "success" and not said.get("error"):
        said["error"] = text_of(text) or text_of(verdict)


def _gemini_answer(said: Fields, answer: Fields) -> None:
    if "llmContent" not in answer:
        return
    if answer.get("error") and not said.get("error"):
        error = answer["error"]
        is_told = isinstance(error, dict) and error.get("message")
        said["error"] = error["message"] if is_told else error  # type: ignore[index]
    parts = answer["llmContent"]
    said["tool_response"] = "\n".join(
        text_of(part.get("text", part) if isinstance(part, dict) else part)
        for part in (parts if isinstance(parts, list) else [parts])
    )
