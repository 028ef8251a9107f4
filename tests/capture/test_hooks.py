import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import settings as running
from hypothesis import strategies as st

from memtui.capture.formats import hooks
from memtui.capture.formats.base import InvalidRecord, SkippedRecord
from memtui.model.events import Event, EventRole, EventType
from memtui.model.sessions import SessionMetadata
from memtui.store import database, sessions
from memtui.workspace import Workspace

AT = datetime(2025, 3, 14, 10, 0, tzinfo=UTC)
NOW = datetime(2025, 3, 14, 10, 1, tzinfo=UTC)


def read(payload: object, agent: str = "", event: str = "") -> list[object]:
    raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return list(hooks.read(raw, received_at=AT, now=NOW, agent=agent, event=event))


def read_events(payload: object, agent: str = "", event: str = "") -> list[Event]:
    items = read(payload, agent, event)
    return [reading for reading in items if isinstance(reading, Event)]


def claude(name: str, **fields: Any) -> dict[str, Any]:
    base = {
        "session_id": "s1",
        "transcript_path": "/home/ada/.claude/projects/-home-ada-shop/s1.jsonl",
        "cwd": "/home/ada/shop",
        "hook_event_name": name,
    }
    return {**base, **fields}


def test_a_prompt_takes_the_time_its_file_was_written() -> None:
    (event,) = read_events(claude("UserPromptSubmit", prompt="Fix the cart"))
    assert (event.event_type, event.text) == (EventType.USER_MESSAGE, "Fix the cart")
    assert (event.agent, event.timestamp) == ("claude-code", AT)


def test_tool_input_and_result_are_stored() -> None:
    (event,) = read_events(
        claude(
            "PostToolUse",
            tool_name="Bash",
            tool_input={"command": "pytest -q"},
            tool_response={"stdout": "2 passed", "stderr": ""},
            tool_use_id="t1",
        )
    )
    assert event.text == "Bash: pytest -q\n2 passed"
    assert event.metadata["tool_input"] == '{"command":"pytest -q"}'


def test_a_tool_that_failed_is_marked() -> None:
    (event,) = read_events(
        claude("PostToolUseFailure", tool_name="Bash", tool_input={}, error="exit 2")
    )
    assert event.text.endswith("exit 2")
    assert event.metadata["call_end"] == "failed"


def test_stop_is_the_last_message_and_a_boundary() -> None:
    kinds = [
        e.event_type
        for e in read_events(claude("Stop", last_assistant_message="Done."))
    ]
    assert kinds == [EventType.ASSISTANT_MESSAGE, EventType.ASSISTANT_STOP]
    assert [e.event_type for e in read_events(claude("Stop"))] == [
        EventType.ASSISTANT_STOP
    ]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("SessionStart", EventType.SESSION_START),
        ("SessionEnd", EventType.SESSION_END),
        ("SubagentStart", EventType.SUBAGENT_START),
        ("SubagentStop", EventType.SUBAGENT_STOP),
    ],
)
def test_boundaries_keep_their_names(name: str, kind: EventType) -> None:
    (event,) = read_events(claude(name))
    assert (event.event_type, event.role) == (kind, EventRole.SYSTEM)


def test_payload_without_object_is_one_invalid_record() -> None:
    noise = b"\x00\xff{ not\n[1, 2\nnothing at all\n{}!\n" * 1000
    assert list(hooks.read(noise, received_at=NOW, now=NOW)) == [
        InvalidRecord("not valid JSON", 1)
    ]


def test_last_message_of_a_subagent_belongs_to_it() -> None:
    about = {"agent_id": "a1", "last_assistant_message": "I found it"}
    said, ended = read_events(claude("SubagentStop", **about))
    assert (said.event_type, said.text) == (EventType.ASSISTANT_MESSAGE, "I found it")
    assert (said.role, said.subagent) == (EventRole.ASSISTANT, "a1")
    assert (ended.event_type, ended.text) == (EventType.SUBAGENT_STOP, "")
    assert (ended.subagent, ended.metadata["agent_id"]) == ("", "a1")


def test_last_message_of_an_unnamed_subagent_is_in_its_stop() -> None:
    (ended,) = read_events(claude("SubagentStop", last_assistant_message="I found it"))
    assert (ended.event_type, ended.text) == (EventType.SUBAGENT_STOP, "I found it")


@pytest.mark.parametrize("name", ["PreToolUse", "Notification", "PreCompact"])
def test_events_without_content_are_skipped(name: str) -> None:
    assert read(claude(name, message="waiting")) == [SkippedRecord(f"hook {name}", 1)]


def test_session_info_is_no_event() -> None:
    said = claude("SessionInfo", title="The cart", summary="Why it empties")
    assert read_events(said) == []
    facts = [first for first in read(said) if isinstance(first, SessionMetadata)]
    assert (facts[0].title, facts[0].summary) == ("The cart", "Why it empties")


@pytest.mark.parametrize(
    ("folder", "agent"),
    [
        (".codex/sessions", "codex"),
        (".gemini/tmp/p/chats", "gemini-cli"),
        (".gemini/antigravity-cli/brain/s1/.system_generated/logs", "antigravity-cli"),
        (".copilot/session-state/s1", "copilot-cli"),
        (".claude/projects/p", "claude-code"),
    ],
)
def test_folder_of_the_transcript_says_which_agent_ran_the_hook(
    folder: str, agent: str
) -> None:
    path = f"/home/ada/{folder}/transcript.jsonl"
    (event,) = read_events(
        claude("UserPromptSubmit", prompt="Hi", transcript_path=path)
    )
    assert event.agent == agent


def test_title_that_the_session_has_in_its_agent_is_known() -> None:
    started = {"session_id": "s1", "hook_event_name": "SessionStart"}
    items = read(started | {"session_title": "Slow prices"})
    (facts,) = (item for item in items if isinstance(item, SessionMetadata))
    assert (facts.title, facts.is_title_given) == ("Slow prices", False)


def test_an_unknown_event_is_never_a_message() -> None:
    payload = claude("SomethingNew", prompt="looks like a prompt")
    assert read(payload) == [InvalidRecord("unknown hook event 'SomethingNew'", 1)]


def test_fields_of_memory_clients_are_read() -> None:
    payload = {
        "session_id": "s2",
        "event_type": "UserPromptSubmit",
        "content": "How do I implement JWT authentication?",
        "timestamp": "2025-03-14T09:58:00Z",
    }
    (event,) = read_events(payload)
    assert event.text == "How do I implement JWT authentication?"
    assert event.timestamp == datetime(2025, 3, 14, 9, 58, tzinfo=UTC)


def test_hooks_of_other_agents_are_recognized() -> None:
    codex = claude(
        "UserPromptSubmit", prompt="hi", transcript_path="/h/.codex/sessions/r.jsonl"
    )
    gemini = claude(
        "BeforeAgent", prompt="hi", transcript_path="/h/.gemini/tmp/x/chats/s.json"
    )
    assert [e.agent for e in read_events(codex) + read_events(gemini)] == [
        "codex",
        "gemini-cli",
    ]


@pytest.mark.parametrize("shape", ["single", "pretty", "row", "array", "lines"])
def test_every_shape_of_a_payload_is_read(shape: str) -> None:
    first = claude("UserPromptSubmit", prompt="one")
    two = claude("UserPromptSubmit", prompt="two")
    both = ["one", "two"]
    raw, expected = {
        "single": (json.dumps(first), ["one"]),
        "pretty": (json.dumps(first, indent=2), ["one"]),
        "row": (f"{json.dumps(first, indent=1)}\n{json.dumps(two, indent=1)}", both),
        "array": (json.dumps([first, two]), both),
        "lines": (f"{json.dumps(first)}\n{json.dumps(two)}\n", both),
    }[shape]
    assert [event.text for event in read_events(raw.encode())] == expected


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"", "an empty file"),
        (b"{", "not valid JSON"),
        (b"[1]", "not a JSON object"),
        ({"session_id": "s"}, "no event name"),
        (claude("UserPromptSubmit", prompt="x", session_id=" "), "no session id"),
        (
            claude("UserPromptSubmit", prompt="x", session_id="a\n</memory>"),
            "the session id is more than a line",
        ),
        (
            claude("SessionInfo", title="x", agent="ev\nil"),
            "the agent's name is more than a line",
        ),
        (claude("UserPromptSubmit", prompt=""), "a user_message without text"),
        (
            claude("Stop", timestamp="2025-03-14T10:07:00Z"),
            "a timestamp in the future",
        ),
    ],
)
def test_invalid_payload_is_reported_with_its_reason(
    payload: object, reason: str
) -> None:
    assert [r.reason for r in read(payload) if isinstance(r, InvalidRecord)] == [reason]
    assert read_events(payload) == []


def test_session_has_its_project() -> None:
    readings = read(claude("SessionStart", model="opus"))
    facts = [reading for reading in readings if isinstance(reading, SessionMetadata)]
    assert [(f.cwd, f.model) for f in facts] == [("/home/ada/shop", "opus")]


def test_every_real_payload_is_read(shared: Path) -> None:
    lines = [
        line
        for file in sorted((shared / "hooks").rglob("*.jsonl"))
        for line in file.read_bytes().splitlines()
    ]
    assert len(lines) > 100
    for line in lines:
        readings = read(line)
        assert readings
        assert [r for r in readings if isinstance(r, InvalidRecord)] == [], line[:200]


NAMES = st.sampled_from(
    [
        *("session_id", "sessionId", "hook_event_name", "event_type", "timestamp"),
        *("prompt", "content", "response", "last_assistant_message", "model", "error"),
        *("tool_name", "toolName", "tool_input", "toolArgs", "tool_response"),
        *("toolResult", "tool_result", "llmContent", "textResultForLlm", "resultType"),
        *("cwd", "transcript_path", "agent", "agent_id"),
    ]
)
WORDS = st.sampled_from(
    [
        *("s", "Stop", "PostToolUse", "UserPromptSubmit", "postToolUse", "AfterTool"),
        *("SubagentStop", "SessionEnd", "PreCompact", "\ud800", "", "\x00\x1b[31m"),
        *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2025-03-14"),
        *("/h/.copilot/session-state/x", "{", "[" * 2000, "1e999"),
    ]
)
VALUES = st.recursive(
    WORDS | st.text(max_size=5) | st.integers() | st.floats() | st.booleans(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(NAMES | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)
PAYLOADS = st.dictionaries(NAMES, VALUES, max_size=9)
AGENTS = st.sampled_from(["", "copilot-cli", "gemini-cli"])
EVENTS = st.sampled_from(["", "postToolUse", "agentStop", "userPromptSubmitted"])


@running(deadline=None)
@given(st.lists(PAYLOADS, min_size=1, max_size=3), AGENTS, EVENTS)
@example([{"timestamp": "0001-01-01T00:00:00+14:00", "cwd": "/"}], "copilot-cli", "")
def test_every_record_of_a_payload_is_stored_or_counted(
    payloads: list[dict[str, object]], agent: str, event: str
) -> None:
    for raw in (
        json.dumps(payloads),
        json.dumps(payloads, indent=1),
        "\n".join(map(json.dumps, payloads)),
    ):
        lines = [record.line for record in hooks.parse_payload(raw.encode())]
        assert len(lines) == len(payloads)
        for first in payloads:
            assert read(first, agent, event)
        readings = read(raw.encode(), agent, event)
        quiet = [r for r in readings if isinstance(r, InvalidRecord | SkippedRecord)]
        assert {r.line for r in quiet} <= set(lines)
        alone = [read(first, agent, event) for first in payloads]
        assert len(readings) == sum(map(len, alone))


@pytest.mark.parametrize("depth", [*range(300, 1000, 10), 100_000])
def test_deeply_nested_payload_is_reported(depth: int) -> None:
    deep = b"[" * depth + b"]" * depth
    raw = b'{"session_id":"s","hook_event_name":"PostToolUse","tool_input":%s}' % deep
    assert read(raw)


@running(deadline=None)
@given(st.binary(max_size=100))
@example(b"\xff\xfe{\x00}\x00")
@example(b'{"hook_event_name": "Stop", "session_id": "s", "timestamp": 1e400}')
@example(
    b'{"hook_event_name": "Stop", "session_id": "s", "timestamp": %s}' % (b"9" * 5000)
)
def test_no_bytes_raise(raw: bytes) -> None:
    assert read(raw)


def test_the_summary_of_a_compaction_is_kept() -> None:
    summary = "The cart is emptied after checkout."
    (event,) = read_events(
        claude("PostCompact", trigger="auto", compact_summary=summary)
    )
    assert (event.event_type, event.text) == (EventType.SESSION_START, summary)
    assert event.metadata == {"source": "compact", "trigger": "auto"}
    assert read(claude("PostCompact")) != read(claude("Stop"))
    assert read_events(claude("PostCompact")) == []


@pytest.mark.parametrize(
    ("prompt", "text", "kind", "added"),
    [
        (
            "<ide_selection>cart = {}</ide_selection>\nFix it",
            "Fix it",
            "",
            "<ide_selection>cart = {}</ide_selection>",
        ),
        (
            '<teammate-message teammate_id="lead">Go</teammate-message>',
            '<teammate-message teammate_id="lead">Go</teammate-message>',
            "teammate",
            "",
        ),
        (
            "<system-reminder>Be brief</system-reminder>",
            "<system-reminder>Be brief</system-reminder>",
            "reminder",
            "",
        ),
    ],
)
def test_text_added_to_a_prompt_is_separated(
    prompt: str, text: str, kind: str, added: str
) -> None:
    (event,) = read_events(claude("UserPromptSubmit", prompt=prompt))
    role = EventRole.SYSTEM if kind else EventRole.USER
    assert (event.text, event.role) == (text, role)
    assert event.metadata.get("kind", "") == kind
    assert event.metadata.get("added", "") == added


def test_the_summary_of_a_compaction_becomes_that_of_the_session(
    workspace: Workspace,
) -> None:
    new = workspace.paths.spool / "new"
    new.mkdir(parents=True)
    summary = "The cart is emptied after checkout."
    payloads = (
        claude("UserPromptSubmit", prompt="Fix the cart"),
        claude("PostCompact", compact_summary=f"<summary>{summary}</summary>"),
    )
    for number, payload in enumerate(payloads):
        (new / f"{number}.json").write_text(json.dumps(payload))
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    with database.connection():
        items = sessions.get("claude-code", "s1")
    assert items and items.summary == summary


@pytest.mark.parametrize("cwd", [["/home/ada/shop"], {"path": "/x"}, 7, None])
def test_folder_that_is_no_text_is_ignored(cwd: object) -> None:
    items = read(claude("UserPromptSubmit", prompt="Fix the cart") | {"cwd": cwd})
    facts = [first for first in items if isinstance(first, SessionMetadata)]
    assert [first.cwd for first in facts] == [""]


def test_results_of_calls_with_one_id_are_all_stored(workspace: Workspace) -> None:
    folder = workspace.paths.spool / "new"
    folder.mkdir(parents=True)
    for number, minute in enumerate((1, 2, 2, 1)):
        payload = {
            "hook_event_name": "PostToolUse",
            "session_id": "s1",
            "timestamp": AT.isoformat(),
            "tool_name": "Bash",
            "tool_use_id": "call_1",
            "tool_input": {"command": "date"},
            "tool_response": {"stdout": f"10:0{minute}"},
        }
        file = folder / f"{number}.1.a.json"
        file.write_text(json.dumps(payload))
        if number in (1, 3):
            assert workspace.pipeline.run_until_idle(lambda _: None) == []
    with database.connection():
        (session,) = sessions.list_rows()
        assert session["event_count"] == 2
