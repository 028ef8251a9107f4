"""The payloads of hooks of Copilot, Gemini and Codex."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from memtui.capture.formats import hooks
from memtui.capture.formats.base import InvalidRecord, SkippedRecord
from memtui.model.events import Event, EventType
from memtui.model.sessions import SessionMetadata

AT = datetime(2025, 3, 14, 10, 0, tzinfo=UTC)
NOW = datetime(2025, 3, 14, 10, 1, tzinfo=UTC)


def read(payload: object, agent: str = "", event: str = "") -> list[object]:
    raw = json.dumps(payload).encode()
    return list(hooks.read(raw, received_at=AT, now=NOW, agent=agent, event=event))


def read_events(payload: object, agent: str = "", event: str = "") -> list[Event]:
    items = read(payload, agent, event)
    return [reading for reading in items if isinstance(reading, Event)]


def claude(name: str, **fields: Any) -> dict[str, Any]:
    return {"session_id": "s1", "cwd": "/shop", "hook_event_name": name, **fields}


def copilot(**fields: Any) -> dict[str, Any]:
    """Return a payload of Copilot, which names neither agent nor event."""
    return {"timestamp": 1_741_946_340_000, "cwd": "/home/ada/shop", **fields}


def test_arguments_name_agent_and_event() -> None:
    (event,) = read_events(
        copilot(sessionId="c1", prompt="Fix the cart"),
        "copilot-cli",
        "userPromptSubmitted",
    )
    assert (event.agent, event.session_id) == ("copilot-cli", "c1")
    assert (event.event_type, event.text) == (EventType.USER_MESSAGE, "Fix the cart")
    assert event.timestamp == datetime(2025, 3, 14, 9, 59, tzinfo=UTC)


def test_payload_overrides_arguments() -> None:
    theirs = claude("Stop", transcript_path="/h/.codex/sessions/r.jsonl")
    (event,) = read_events(theirs, "gemini-cli", "BeforeAgent")
    assert (event.agent, event.event_type) == ("codex", EventType.ASSISTANT_STOP)


def test_events_without_session_belong_to_folder_and_day() -> None:
    said = copilot(prompt="Fix the cart")
    (event,) = read_events(said, "copilot-cli", "userPromptSubmitted")
    assert event.session_id == "2025-03-14 /home/ada/shop"
    nowhere = {"timestamp": said["timestamp"], "prompt": "Fix the cart"}
    refused = [InvalidRecord("no session id", 1)]
    assert read(nowhere, "copilot-cli", "userPromptSubmitted") == refused
    assert read(said, "codex", "UserPromptSubmit") == refused


@pytest.mark.parametrize(
    "said",
    [
        {
            "toolName": "bash",
            "toolArgs": '{"command": "npm test"}',
            "toolResult": {"resultType": "success", "textResultForLlm": "2 passed"},
        },
        {
            "toolName": "bash",
            "toolArgs": {"command": "npm test"},
            "toolResult": {"resultType": "success", "textResultForLlm": "2 passed"},
        },
        {
            "hook_event_name": "PostToolUse",
            "tool_name": "bash",
            "tool_input": {"command": "npm test"},
            "tool_result": {
                "result_type": "success",
                "text_result_for_llm": "2 passed",
            },
        },
    ],
    ids=["older", "newer", "in Claude Code's words"],
)
def test_copilots_tools_are_read(said: dict[str, Any]) -> None:
    (event,) = read_events(
        copilot(sessionId="c1", **said), "copilot-cli", "postToolUse"
    )
    assert event.text == "bash: npm test\n2 passed"
    assert event.metadata["tool_input"] == '{"command":"npm test"}'
    assert not event.ending


def test_copilots_failures_are_marked() -> None:
    answer = {"resultType": "failure", "textResultForLlm": "exit 2"}
    said = copilot(sessionId="c1", toolName="bash", toolArgs="{", toolResult=answer)
    (event,) = read_events(said, "copilot-cli", "postToolUse")
    assert event.text == "bash: {\nexit 2"
    assert event.metadata["call_end"] == "failed"
    failed = copilot(sessionId="c1", toolName="bash", toolArgs="", error="no such tool")
    (event,) = read_events(failed, "copilot-cli", "postToolUseFailure")
    assert (event.text, event.ending) == ("bash\nno such tool", "failed")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("sessionStart", EventType.SESSION_START),
        ("sessionEnd", EventType.SESSION_END),
        ("agentStop", EventType.ASSISTANT_STOP),
        ("subagentStop", EventType.SUBAGENT_STOP),
    ],
)
def test_copilots_boundaries_keep_their_meaning(name: str, kind: EventType) -> None:
    said = copilot(sessionId="c1", agentId="a1", agentName="explore")
    (event,) = read_events(said, "copilot-cli", name)
    assert event.event_type is kind
    assert read(copilot(sessionId="c1", error={}), "copilot-cli", "errorOccurred") == [
        SkippedRecord("hook errorOccurred", 1)
    ]


def gemini(name: str, **fields: Any) -> dict[str, Any]:
    base = claude(name, timestamp="2025-03-14T09:59:00.000Z")
    return {**base, "transcript_path": "/h/.gemini/tmp/x/chats/s.json", **fields}


def test_geminis_turn_is_a_prompt_and_its_answer() -> None:
    asked = gemini("BeforeAgent", prompt="Why?")
    answered = gemini("AfterAgent", prompt="Why?", prompt_response="Because.")
    assert [
        (e.agent, e.event_type.value, e.text) for e in read_events([asked, answered])
    ] == [
        ("gemini-cli", "user_message", "Why?"),
        ("gemini-cli", "assistant_message", "Because."),
        ("gemini-cli", "assistant_stop", ""),
    ]
    assert read(gemini("BeforeToolSelection")) == [
        SkippedRecord("hook BeforeToolSelection", 1)
    ]


@pytest.mark.parametrize(
    ("answer", "text", "is_failed"),
    [
        ({"llmContent": "2 passed", "returnDisplay": "ok"}, "2 passed", False),
        ({"llmContent": [{"text": "2"}, {"text": "passed"}]}, "2\npassed", False),
        ({"llmContent": "", "error": {"message": "denied"}}, "denied", True),
        ({"llmContent": "", "error": "denied"}, "denied", True),
    ],
)
def test_geminis_tools_are_read(answer: object, text: str, is_failed: bool) -> None:
    said = gemini(
        "AfterTool",
        tool_name="run_shell_command",
        tool_input={"command": "pytest"},
        tool_response=answer,
    )
    (event,) = read_events(said)
    assert event.text == f"run_shell_command: pytest\n{text}"
    assert event.is_failed is is_failed


def test_fields_of_codex_may_be_null() -> None:
    said = claude(
        "Stop", transcript_path=None, last_assistant_message=None, turn_id="1"
    )
    (event,) = read_events(said, "codex")
    assert (event.agent, event.event_type) == ("codex", EventType.ASSISTANT_STOP)


def cursor(name: str, **fields: Any) -> dict[str, Any]:
    """Return a payload of Cursor, which also runs Claude Code's hooks."""
    about: dict[str, Any] = {"conversation_id": "c1", "generation_id": "g1"}
    about |= {
        "hook_event_name": name,
        "cursor_version": "2026.09.02",
        "workspace_roots": ["/home/ada/shop"],
    }
    return {**about, "transcript_path": None, "cwd": "", **fields}


def test_cursors_turn_is_read() -> None:
    output = json.dumps({"output": "1 failed", "exitCode": 1})
    call = {"tool_name": "Shell", "tool_input": {"command": "make"}}
    denied = {"error_message": "denied", "failure_type": "permission_denied"}
    said = [
        cursor("beforeSubmitPrompt", prompt="Fix the cart"),
        cursor("beforeShellExecution", command="make"),
        cursor("postToolUse", **call, tool_output=output),
        cursor("postToolUseFailure", **call, **denied),
        cursor("afterAgentThought", text="I wonder"),
        cursor("afterAgentResponse", text="Fixed."),
        cursor("stop", status="completed"),
    ]
    raw = b"\xef\xbb\xbf" + json.dumps(said).encode()
    items = list(hooks.read(raw, received_at=AT, now=NOW))
    assert not [item for item in items if isinstance(item, InvalidRecord)]
    events = [item for item in items if isinstance(item, Event)]
    assert [(e.agent, e.session_id, e.text, e.ending) for e in events] == [
        ("cursor", "c1", "Fix the cart", ""),
        ("cursor", "c1", "Shell: make\n1 failed", "failed with exit status 1"),
        ("cursor", "c1", "Shell: make\ndenied", "failed"),
        ("cursor", "c1", "Fixed.", ""),
        ("cursor", "c1", "", ""),
    ]
    (facts, *_) = [item for item in items if isinstance(item, SessionMetadata)]
    assert facts.cwd == "/home/ada/shop"


def test_names_in_camel_case_are_read() -> None:
    folder = "/home/ada/.config/Code/User/abc/GitHub.copilot-chat/transcripts"
    about = {"sessionId": "v1", "transcriptPath": f"{folder}/v1.jsonl", "cwd": "/shop"}
    said = [
        {**about, "hookEventName": "UserPromptSubmit", "prompt": "Fix the cart"},
        {**about, "hookEventName": "stop", "lastAssistantMessage": "Fixed."},
    ]
    assert [(e.agent, e.session_id, e.text) for e in read_events(said)] == [
        ("copilot-cli", "v1", "Fix the cart"),
        ("copilot-cli", "v1", "Fixed."),
        ("copilot-cli", "v1", ""),
    ]


def test_what_only_one_agent_sends_shows_the_agent() -> None:
    (event,) = read_events(claude("BeforeAgent", prompt="Why?", transcript_path=""))
    assert event.agent == "gemini-cli"
    (event,) = read_events(claude("sessionStart", cursor_version="2.4.1"))
    assert event.agent == "cursor"
