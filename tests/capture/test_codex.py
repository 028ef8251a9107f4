import json
import random
import tempfile
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from memtui.capture import formats
from memtui.capture.formats import codex, codex_tool_calls, jsonl
from memtui.capture.formats.base import (
    Cursor,
    InvalidRecord,
    ParsedItem,
    PendingRecord,
    SkippedRecord,
)
from memtui.model.events import Event, EventRole, EventType, Thought
from memtui.model.sessions import SessionMetadata, SubagentMetadata
from memtui.model.tool_calls import CallEnd
from memtui.text.stopwords import word_set
from memtui.workspace import Workspace
from tests.capture import corpora

NOW = datetime(2027, 1, 1, tzinfo=UTC)
OWN = "01990000-0000-7000-8000-00000000000a"
PARENT = "01980000-0000-7000-8000-00000000000b"
OLD_TURN = "01985000-0000-7000-8000-000000000001"
OWN_TURN = "01990000-1000-7000-8000-000000000002"
DIFF = "@@ -1 +1,2 @@\n-a\n+b\n+c\n"


def camel_case(name: str) -> str:
    first, *words = codex_tool_calls.snake_case(name).split("_")
    return first + "".join(map(str.capitalize, words))


def line(kind: str, second: float, /, **payload: Any) -> dict[str, Any]:
    at = f"2025-09-01T10:00:{second:06.3f}Z"
    return {"timestamp": at, "type": kind, "payload": payload}


def meta(second: float = 0, **fields: Any) -> dict[str, Any]:
    about = {"id": OWN, "cwd": "/home/ada/shop", "originator": "codex-tui"}
    return line("session_meta", second, **(about | fields))


def item(second: float, kind: str, **fields: Any) -> dict[str, Any]:
    return line("response_item", second, type=kind, **fields)


def event(second: float, kind: str, /, **fields: Any) -> dict[str, Any]:
    return line("event_msg", second, type=kind, **fields)


def prompt(second: float, *texts: str) -> dict[str, Any]:
    blocks = [{"type": "input_text", "text": text} for text in texts]
    return item(second, "message", role="user", content=blocks)


def reply(second: float, text: str) -> dict[str, Any]:
    blocks = [{"type": "output_text", "text": text}]
    return item(second, "message", role="assistant", content=blocks)


def call(second: float, key: str, **given: Any) -> dict[str, Any]:
    fields = {"name": "shell", "call_id": key, "arguments": json.dumps(given)}
    return item(second, "function_call", **fields)


def answer(second: float, key: str, output: object) -> dict[str, Any]:
    return item(second, "function_call_output", call_id=key, output=output)


def read(*records: object, name: str = "rollout.jsonl") -> list[ParsedItem]:
    return read_bytes("".join(json.dumps(r) + "\n" for r in records).encode(), name)


def read_bytes(raw: bytes, name: str = "rollout.jsonl") -> list[ParsedItem]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, name)
        file.write_bytes(raw)
        readings = codex.FORMAT.read(file, None, agent="", now=NOW)
        return [reading for reading in readings if not isinstance(reading, Cursor)]


def read_events(*records: object, name: str = "rollout.jsonl") -> list[Event]:
    return [r for r in read(*records, name=name) if isinstance(r, Event)]


def texts(*records: object) -> list[str]:
    return [event.text for event in read_events(*records)]


ITEM, EVENT = reply(2, "Fixed."), event(2, "agent_message", message="Fixed.")
ASKED = prompt(1, "Fix it"), event(1, "user_message", message="Fix it")


@pytest.mark.parametrize("kept", [(ITEM,), (EVENT,), (ITEM, EVENT), (EVENT, ITEM)])
@pytest.mark.parametrize("asked", [ASKED[:1], ASKED[1:], ASKED, ASKED[::-1]])
def test_a_message_is_stored_once_from_any_source(
    asked: tuple[Any, ...], kept: tuple[Any, ...]
) -> None:
    events = read_events(meta(), *asked, *kept)
    assert [(e.event_type, e.role, e.text) for e in events] == [
        (EventType.USER_MESSAGE, EventRole.USER, "Fix it"),
        (EventType.ASSISTANT_MESSAGE, EventRole.ASSISTANT, "Fixed."),
    ]


def test_completed_items_repeat_messages() -> None:
    content = [{"type": "Text", "text": "Fixed."}]
    third = {"type": "AgentMessage", "id": "m1", "content": content}
    assert texts(meta(), EVENT, event(2, "item_completed", item=third), ITEM) == [
        "Fixed."
    ]


def test_equal_messages_at_two_times_are_two() -> None:
    again = prompt(3, "yes"), event(3, "user_message", message="yes")
    once = prompt(1, "yes"), event(1, "user_message", message="yes")
    assert texts(meta(), *once, *again) == ["yes", "yes"]
    assert texts(meta(), once[0], again[0]) == ["yes", "yes"]


def test_last_message_of_a_turn_is_used_if_there_is_no_other() -> None:
    done = event(3, "task_complete", last_agent_message="Fixed.")
    assert texts(meta(), prompt(1, "Fix it"), done) == ["Fix it", "Fixed."]
    assert texts(meta(), prompt(1, "Fix it"), ITEM, done) == ["Fix it", "Fixed."]


def test_a_plan_is_a_message_of_its_own() -> None:
    both = reply(2, "Here it is.\n<proposed_plan>\n1. Look\n</proposed_plan>")
    plan = event(3, "item_completed", item={"type": "Plan", "text": "1. Look"})
    short = event(2, "agent_message", message="Here it is.")
    for records in ((both, plan, short), (short, plan, both), (plan, both)):
        events = read_events(meta(), *records)
        assert {e.text for e in events} == {"Here it is.", "1. Look"}
        assert [e.metadata.get("kind") for e in events if "1." in e.text] == ["plan"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("# AGENTS.md instructions for /home\n<INSTRUCTIONS>", "instructions"),
        ("<user_instructions>be brief</user_instructions>", "instructions"),
        ("<environment_context><cwd>/x</cwd></environment_context>", "environment"),
        ("<turn_aborted>\nThe user interrupted", "interruption"),
        ("<skill>\n<name>x</name>", "skill"),
        ("<user_action>\n<context>User initiated a review", "review"),
        ("<user_shell_command>ls</user_shell_command>", "command"),
    ],
)
def test_texts_of_the_program_have_the_role_system(text: str, kind: str) -> None:
    said, asked = read_events(meta(), prompt(1, text, "Fix it"))
    assert (said.role, said.metadata["kind"], said.text) == (
        EventRole.SYSTEM,
        kind,
        text,
    )
    assert (asked.role, asked.text) == (EventRole.USER, "Fix it")


def test_context_added_by_an_editor_is_separated() -> None:
    before = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py"
    (said,) = read_events(
        meta(), prompt(1, f"{before}\n\n## My request for Codex:\nFix it")
    )
    assert said.text == "Fix it"
    assert said.metadata["added"].startswith(before)


def test_an_image_is_shown_as_type_and_size() -> None:
    url = "data:image/png;base64," + "A" * 8192
    blocks = [
        {"type": "input_text", "text": "<image name=[Image #1]>"},
        {"type": "input_image", "image_url": url},
        {"type": "input_text", "text": "</image>"},
        {"type": "input_text", "text": "look"},
    ]
    asked = item(1, "message", role="user", content=blocks)
    twin = event(1, "user_message", message="look", local_images=["/tmp/a.png"])
    assert texts(meta(), asked, twin) == ["[image: image/png, 6 kB]\n\nlook"]
    assert texts(meta(), twin, asked) == ["look\n\n[image: /tmp/a.png]"]


def test_call_and_result_are_one_event() -> None:
    (done,) = read_events(
        meta(), call(1, "c1", command=["ls", "-a"]), answer(2, "c1", "a.py")
    )
    assert (done.event_type, done.text) == (
        EventType.TOOL_RESULT,
        "shell: ls -a\na.py",
    )
    assert done.timestamp.second == 2
    assert done.metadata["tool_use_id"] == "c1"


@pytest.mark.parametrize(
    "output",
    [
        "Chunk ID: 1\nProcess exited with code 2\nOutput:\nno such file",
        "Chunk ID: 1\nProcess exited with code -1\nOutput:\nno such file",
        '{"output": "no such file", "metadata": {"exit_code": 2}}',
        {"content": "no such file", "success": False},
        {"content": "no such file", "exitCode": 2},
        [{"type": "input_text", "text": "Exit code: 2\nno such file"}],
    ],
)
def test_failed_call_is_marked(output: object) -> None:
    (done,) = read_events(meta(), call(1, "c1", cmd="cat x"), answer(2, "c1", output))
    assert done.metadata["call_end"] == "failed"
    assert done.text.endswith("no such file")


def test_json_printed_by_a_program_is_unchanged() -> None:
    printed = '{"content": "x", "output": "y"}'
    assert texts(meta(), call(1, "c1", cmd="cat x"), answer(2, "c1", printed)) == [
        f"shell: cat x\n{printed}"
    ]


def test_event_with_call_and_result_is_read_without_an_item() -> None:
    ended = {"call_id": "c1", "command": ["ls"], "stdout": "a", "exit_code": 1}
    (alone,) = read_events(meta(), event(2, "exec_command_end", **ended))
    assert (alone.text, alone.ending) == (
        "shell: ls\na",
        "failed with exit status 1",
    )
    items = call(1, "c1", command=["ls"]), answer(3, "c1", "a")
    end = event(2, "exec_command_end", **ended)
    assert len(read_events(meta(), items[0], end, items[1])) == 1
    assert len(read_events(meta(), *items, end)) == 1


@pytest.mark.parametrize("status", [0, 3])
@pytest.mark.parametrize("is_later_turn", [False, True])
@pytest.mark.parametrize("kind", ["exec_command_end", "item_completed"])
def test_end_of_a_command_in_the_background_is_read(
    kind: str, status: int, *, is_later_turn: bool
) -> None:
    given = {"command": ["git", "push"], "exit_code": status, "stdout": "pushed"}
    running = "Wall time: 10 seconds\nProcess running with session ID 7\nOutput:\n"
    end = event(20, kind, call_id="c1", **given)
    if kind == "item_completed":
        done = {"type": "CommandExecution", "id": "c1", "status": "completed"}
        end = event(20, kind, item={**done, **given})
    turns = [event(12, "task_complete"), event(13, "task_started", turn_id="t2")]
    events = read_events(
        meta(),
        call(1, "c1", command=["git", "push"]),
        answer(11, "c1", running),
        *(turns if is_later_turn else ()),
        end,
        end,
    )
    returned, ended = events
    assert returned.call_end is CallEnd.BACKGROUND
    assert ended.metadata["exit_status"] == str(status)
    assert ended.text == "shell: git push\npushed"
    assert returned.event_id != ended.event_id


def test_an_aborted_turn_ends_its_calls() -> None:
    events = read_events(
        meta(),
        call(1, "c1", command=["sleep"]),
        prompt(2, "<turn_aborted>\nby the user"),
        event(2, "turn_aborted", reason="interrupted"),
    )
    broken = [e for e in events if e.is_unfinished]
    assert [(e.text, e.timestamp.second) for e in broken] == [("shell: sleep", 1)]
    assert [e.metadata["kind"] for e in events if e not in broken] == ["interruption"]


def test_compaction_starts_the_session_again() -> None:
    readings = read_events(meta(), event(1, "context_compacted"), line("compacted", 1))
    assert [(e.event_type, e.metadata["source"]) for e in readings] == [
        (EventType.SESSION_START, "compact")
    ]


def test_thoughts_are_stored_separately_and_once() -> None:
    summary = [{"type": "summary_text", "text": "**Looking**"}]
    readings = read(
        meta(),
        event(1, "agent_reasoning", text="**Looking**"),
        item(1, "reasoning", summary=summary, encrypted_content="x"),
        item(2, "reasoning", summary=[], encrypted_content="x"),
    )
    assert [r.text for r in readings if isinstance(r, Thought)] == ["**Looking**"]
    assert SkippedRecord("response_item/reasoning, encrypted", 4) in readings


def test_session_metadata_precedes_the_first_event() -> None:
    first, *_, last = [
        r
        for r in read(
            meta(git={"branch": "main"}),
            line("turn_context", 1, model="gpt-5.5"),
            prompt(1, "Fix it"),
            event(2, "thread_name_updated", thread_name="The cart"),
        )
        if isinstance(r, SessionMetadata | Event)
    ]
    assert isinstance(first, SessionMetadata)
    assert last == SessionMetadata(
        agent="codex",
        session_id=OWN,
        cwd="/home/ada/shop",
        branch="main",
        title="The cart",
        model="gpt-5.5",
        at=datetime(2025, 9, 1, 10, tzinfo=UTC),
        created_by="codex-tui",
        title_at=datetime(2025, 9, 1, 10, 0, 2, tzinfo=UTC),
        is_title_given=True,
    )


def test_names_of_sessions_are_read_from_the_index(tmp_path: Path) -> None:
    names = [
        ("s1", "Later", "2025-09-02T10:00:00Z"),
        ("s1", "Earlier", "2025-09-01T10:00:00Z"),
        ("s2", "Two\n lines", "2025-09-01T10:00:00Z"),
        ("s3", "", "2025-09-01T10:00:00Z"),
        ("s3", "Without a time", None),
    ]
    file = tmp_path / codex.INDEX
    file.write_text(
        "".join(
            json.dumps({"id": name, "thread_name": title, "updated_at": at}) + "\n"
            for name, title, at in names
        )
    )
    assert formats.detect_format(file) is codex.FORMAT
    assert not codex.FORMAT.has_session(file)
    readings = list(codex.FORMAT.read(file, None, agent="", now=NOW))
    named = [r for r in readings if isinstance(r, SessionMetadata)]
    titles = [(r.session_id, r.title, str(r.title_at)[:10]) for r in named]
    assert titles == [
        ("s1", "Later", "2025-09-02"),
        ("s2", "Two lines", "2025-09-01"),
        ("s3", "", "2025-09-01"),
    ]
    assert [r.line for r in readings if isinstance(r, InvalidRecord)] == [5]


COPIED = (
    meta(0.01, id=PARENT),
    event(0.02, "task_started", turn_id=OLD_TURN),
    prompt(0.02, "An old question"),
    reply(0.03, "An old answer"),
)


@pytest.mark.parametrize("forked", [{"forked_from_id": PARENT}, {}])
@pytest.mark.parametrize(
    "turn",
    [
        [event(0.05, "task_started", turn_id=OWN_TURN), prompt(0.06, "A new one")],
        [line("turn_context", 0.05, turn_id=OWN_TURN), prompt(0.06, "A new one")],
        [meta(0.05), prompt(0.06, "A new one")],
        [prompt(9, "A new one")],
    ],
    ids=["a turn begins", "a turn's context", "its own head again", "a silence"],
)
def test_copied_events_have_the_source_ids_of_the_original(
    forked: dict[str, Any], turn: list[Any]
) -> None:
    original = read_events(meta(id=PARENT), *COPIED[1:], *turn)
    readings = read(meta(**forked), *COPIED, *turn)
    *copied, own = [r for r in readings if isinstance(r, Event)]
    assert [e.source_id for e in copied] == [e.source_id for e in original[:-1]]
    assert [e.text for e in copied] == ["An old question", "An old answer"]
    assert own.text == "A new one"
    facts = [r for r in readings if isinstance(r, SessionMetadata)]
    assert (facts[-1].session_id, facts[-1].forked_from) == (OWN, PARENT)


def test_an_old_turn_after_a_pause_is_still_a_copy() -> None:
    late = event(9, "task_started", turn_id=OLD_TURN), prompt(9, "Old, too")
    original = read_events(meta(id=PARENT), *COPIED[1:], *late)
    copied = read_events(meta(forked_from_id=PARENT), *COPIED, *late)
    assert [e.source_id for e in copied] == [e.source_id for e in original]


def test_same_text_after_a_fork_is_another_message() -> None:
    original = read_events(meta(id=PARENT), *COPIED[2:], prompt(8, "Go on"))
    fork = read_events(
        meta(forked_from_id=PARENT), COPIED[0], *COPIED[2:], prompt(9, "Go on")
    )
    names = [event.source_id for event in original]
    assert [event.source_id for event in fork[:2]] == names[:2]
    assert fork[2].source_id not in names


def test_repeated_texts_in_a_copy_keep_their_number() -> None:
    again = [prompt(0.02, "Go on"), reply(0.02, "Done"), reply(0.02, "Done")] * 2
    fork = read_events(meta(forked_from_id=PARENT), COPIED[0], *again)
    assert len({event.event_id for event in fork}) == 6
    assert len({event.source_id for event in fork}) == 6


def test_records_copied_by_a_subagent_are_skipped() -> None:
    about: dict[str, Any] = {
        "source": {"subagent": {"thread_spawn": {"parent_thread_id": PARENT}}}
    }
    assert texts(meta(forked_from_id=PARENT, **about), *COPIED) == []


def test_a_subagent_belongs_to_its_parents_session() -> None:
    spawn = {"parent_thread_id": PARENT, "agent_role": "explorer", "depth": 1}
    readings = read(meta(source={"subagent": {"thread_spawn": spawn}}), prompt(1, "Go"))
    (asked,) = [r for r in readings if isinstance(r, Event)]
    assert (asked.session_id, asked.subagent) == (PARENT, OWN)
    assert SubagentMetadata("codex", PARENT, OWN, "explorer") in readings
    facts = [r for r in readings if isinstance(r, SessionMetadata)]
    assert {(f.session_id, f.model, f.title, f.created_by) for f in facts} == {
        (PARENT, "", "", "")
    }


def test_session_meta_of_the_parent_does_not_end_a_copy() -> None:
    spawn = {"parent_thread_id": PARENT}
    own = meta(source={"subagent": {"thread_spawn": spawn}})
    assert texts(own, meta(0, id=PARENT), prompt(0, "Go")) == ["Go"]


def test_a_subagent_is_linked_to_its_call() -> None:
    spawned = {"call_id": "c1", "new_thread_id": "t2", "new_agent_role": "explorer"}
    ended = event(1, "collab_agent_spawn_end", prompt="Look\naround", **spawned)
    helper = SubagentMetadata("codex", OWN, "t2", "explorer", "c1", "Look around")
    assert helper in read(meta(), ended)


def test_oldest_rollouts_use_the_time_of_their_header() -> None:
    head = {"id": "s1", "timestamp": "2025-05-01T10:00:00Z", "instructions": None}
    blocks = [{"type": "input_text", "text": "Fix it"}]
    events = read_events(
        head,
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": blocks},
        {"type": "message", "role": "assistant", "content": "Fixed."},
    )
    assert [(e.session_id, e.text) for e in events] == [
        ("s1", "Fix it"),
        ("s1", "Fixed."),
    ]
    assert [e.position for e in events] == sorted(e.position for e in events)


@pytest.mark.parametrize("kind", sorted(codex_tool_calls.RESULTS))
def test_every_result_is_read_from_the_oldest_rollouts(kind: str) -> None:
    head = {"id": "s1", "timestamp": "2025-05-01T10:00:00Z", "instructions": None}
    action = {"type": "exec", "command": ["npm", "test"]}
    call = {"type": "local_shell_call", "call_id": "c1", "action": action}
    output = json.dumps({"output": "FAIL", "metadata": {"exit_code": 1}})
    result = {"type": kind, "call_id": "c1", "output": output}
    (event,) = read_events(head, call, result)
    assert event.ending == "failed with exit status 1"


def test_rollout_whose_header_is_torn_has_the_folder_of_its_turns() -> None:
    turn = line("turn_context", 1, turn_id="t1", cwd="/home/ada/kiosk")
    raw = json.dumps(meta())[:80] + "".join(
        f"{json.dumps(record)}\n" for record in (turn, prompt(2, "Fix it"))
    )
    items = read_bytes(raw.encode(), f"rollout-2025-09-01T10-00-00-{OWN}.jsonl")
    first = next(item for item in items if isinstance(item, SessionMetadata))
    assert (first.session_id, first.cwd) == (OWN, "/home/ada/kiosk")
    # That of the header counts, if there is one.
    whole = [*read(meta(), turn, prompt(2, "Fix it"))]
    folders = {item.cwd for item in whole if isinstance(item, SessionMetadata)}
    assert folders == {meta()["payload"]["cwd"]}


def test_rollout_without_header_is_named_by_its_file() -> None:
    name = f"rollout-2025-09-01T10-00-00-{OWN}.jsonl"
    assert [e.session_id for e in read_events(prompt(1, "Fix it"), name=name)] == [OWN]


@pytest.mark.parametrize(
    ("damaged", "said"),
    [
        ({"payload": {}}, InvalidRecord("a record without type", 2)),
        ({**prompt(1, "x"), "timestamp": None}, InvalidRecord("no timestamp", 2)),
        ({**prompt(1, "x"), "timestamp": "soon"}, InvalidRecord("a bad timestamp", 2)),
        (
            {**prompt(1, "x"), "timestamp": "2031-01-01T00:00:00Z"},
            InvalidRecord("a timestamp in the future", 2),
        ),
        (line("hologram", 1), SkippedRecord("hologram", 2)),
        (
            event(1, "hologram"),
            SkippedRecord("event_msg/hologram", 2),
        ),
        (event(1, "token_count"), SkippedRecord("event_msg/token_count", 2)),
    ],
)
def test_skipped_records_are_counted_by_type(damaged: object, said: ParsedItem) -> None:
    assert said in read(meta(), damaged)


Lasting = Callable[[list[ParsedItem]], object]
InPieces = Callable[[Any, Path, int], list[ParsedItem]]


def rollouts(shared: Path) -> list[Path]:
    others = ("session_index.jsonl", "history.jsonl")
    items = [f for f in shared.rglob("*.jsonl") if f.name not in others and is_codex(f)]
    assert len(items) >= 13
    return items


def is_codex(file: Path) -> bool:
    return codex.FORMAT.matches_content(file, jsonl.read_head(file, formats.HEAD_LINES))


def test_real_rollouts_in_pieces_give_the_same_items(
    shared: Path, read_in_pieces: InPieces, comparable: Lasting
) -> None:
    for seed, file in enumerate(rollouts(shared)):
        whole = list(codex.FORMAT.read(file, None, agent="", now=NOW))
        for more in range(4):
            pieces = read_in_pieces(codex.FORMAT, file, 100 * seed + more)
            assert comparable(pieces) == comparable(whole), file


def test_every_message_of_real_rollouts_is_read_once(shared: Path) -> None:
    files = list((shared / "codex" / "agentv").glob("*.jsonl"))
    assert files
    for file in files:
        items, twins = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for raw in file.read_text().splitlines():
            payload = json.loads(raw)["payload"]
            kind, role = payload.get("type"), payload.get("role")
            if kind == "message" and role in ("user", "assistant"):
                text = payload["content"][0]["text"]
                if not text.startswith("# AGENTS.md"):
                    items[role, text] += 1
            elif kind in ("user_message", "agent_message"):
                who = "user" if kind == "user_message" else "assistant"
                twins[who, payload["message"]] += 1
        readings = codex.FORMAT.read(file, None, agent="", now=NOW)
        messages = [r for r in readings if isinstance(r, Event) and r.is_message]
        got = Counter((str(e.role), e.text) for e in messages)
        assert got == twins == items
        assert sum(got.values()) >= 10


def test_every_record_of_real_rollouts_is_stored_or_counted(shared: Path) -> None:
    for file in rollouts(shared):
        assert list_uncounted(file.read_bytes()) == [], file


def list_uncounted(raw: bytes) -> list[str]:
    """Return the records that yield nothing and belong to no call."""
    spoken = set()
    for reading in read_bytes(raw):
        if isinstance(reading, SkippedRecord | InvalidRecord | PendingRecord):
            spoken.add(reading.line)
        elif isinstance(reading, Event):
            spoken.add(reading.ordinal // 100)
    return [
        text[:200]
        for number, text in enumerate(raw.decode().split("\n"), 1)
        if text.strip() and number not in spoken and not is_waiting_or_thought(text)
    ]


def is_waiting_or_thought(text: str) -> bool:
    fields = json.loads(text)
    payload = fields.get("payload")
    kinds = [fields.get("type")]
    if isinstance(payload, dict):
        item = payload.get("item")
        kinds += [
            payload.get("type"),
            item.get("type") if isinstance(item, dict) else "",
        ]
    names = [str(kind) for kind in kinds]
    return any(k in codex_tool_calls.CALLS or "reasoning" in k.lower() for k in names)


KEYS = sorted(
    word_set(
        """type text content id image_url url output metadata exit_code subagent error
item thread_spawn parent_thread_id Ok Err tools call_id role message summary arguments
input name action results query invocation result changes turn_id session_id
forked_from_id source thread_source git timestamp images encrypted_content"""
    )
)
"""Fields of records, at any depth."""

OTHER_KINDS = (
    *("turn_context", "thread_name_updated", "collab_agent_spawn_end"),
    "item_completed",
)

kinds_told = st.sampled_from(sorted({*codex.READ_KINDS, *OTHER_KINDS}))
values = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(
        ["", "x", "user", "assistant", OWN, OLD_TURN, "{", '{"output":1}']
    )
    | st.text(max_size=5)
)
objects = st.dictionaries(st.sampled_from(KEYS), values | kinds_told, max_size=4)
nested = values | objects | st.lists(values | objects, max_size=3)
payloads = st.builds(
    lambda kind, fields: {**fields, "type": kind},
    kinds_told | values,
    st.dictionaries(st.sampled_from(KEYS), nested, max_size=7),
)
records = st.builds(
    lambda kind, payload, at: {"type": kind, "payload": payload, "timestamp": at},
    st.sampled_from(sorted(codex.ENVELOPES)) | kinds_told | values,
    payloads | nested,
    st.just("2025-09-01T10:00:00Z") | values,
) | st.builds(lambda fields: {"timestamp": "2025-09-01T10:00:00Z", **fields}, payloads)


@given(st.lists(records, max_size=6))
def test_every_record_is_stored_or_counted(given: list[dict[str, Any]]) -> None:
    raw = "".join(json.dumps(record) + "\n" for record in given).encode()
    assert list_uncounted(raw) == []


@given(st.binary(max_size=200))
def test_no_bytes_raise(raw: bytes) -> None:
    read_bytes(raw)


def test_a_real_rollout_cut_anywhere_is_read(shared: Path) -> None:
    raw = (shared / "fixtures_other/funes/codex_session.jsonl").read_bytes()
    for end in range(0, len(raw), 17):
        read_bytes(raw[:end])


def test_files_of_each_agent_are_recognized(shared: Path) -> None:
    folders = {"codex": codex.FORMAT, "copilot": formats.FORMATS_BY_NAME["copilot-cli"]}
    files = corpora.real_files(shared)
    assert len(files) > 100
    for file in files:
        head = jsonl.read_head(file, formats.HEAD_LINES)
        place = str(file.relative_to(shared))
        for name, source in folders.items():
            is_its = name in place
            assert source.matches_content(file, head) == is_its, (place, name)
            if is_its:
                assert formats.detect_format(file) is source


def test_a_line_read_before_it_was_ended_is_counted_once(tmp_path: Path) -> None:
    growing = tmp_path / "rollout.jsonl"
    growing.write_text(json.dumps(meta()))
    *_, cursor = codex.FORMAT.read(growing, None, agent="", now=NOW)
    assert isinstance(cursor, Cursor)
    growing.write_text(f"{json.dumps(meta())}\n{json.dumps(event(1, 'token_count'))}\n")
    readings = codex.FORMAT.read(growing, cursor, agent="", now=NOW)
    assert SkippedRecord("event_msg/token_count", 2) in list(readings)


def test_copies_of_prompts_and_results_are_counted() -> None:
    said = [{"type": "input_text", "text": "Fix the cart: now!"}]
    call = {"name": "shell", "arguments": '{"command": ["ls"]}', "call_id": "c1"}
    end = {"call_id": "c1", "command": ["ls"], "exit_code": 0, "stdout": "cart.py"}
    readings = read(
        meta(),
        item(1, "message", role="user", content=said),
        event(1, "user_message", message="Fix the cart now"),
        item(2, "function_call", **call),
        item(3, "function_call_output", call_id="c1", output="cart.py"),
        event(3, "exec_command_end", **end),
        item(4, "function_call", **{**call, "call_id": "c2"}),
        item(5, "function_call_output", call_id="c2", output="cart.p"),
        event(5, "exec_command_end", **{**end, "call_id": "c2"}),
    )
    skipped = [entry.reason for entry in readings if isinstance(entry, SkippedRecord)]
    assert skipped[1:] == [
        "event_msg/user_message, a copy or empty",
        "event_msg/exec_command_end, a copy or empty",
        "event_msg/exec_command_end, a copy or empty",
    ]


def test_compressed_rollouts_are_read(tmp_path: Path, workspace: Workspace) -> None:
    records = meta(), *ASKED, ITEM
    raw = "".join(json.dumps(record) + "\n" for record in records).encode()
    plain = tmp_path / "sessions" / f"rollout-2025-09-01T10-00-00-{OWN}.jsonl"
    plain.parent.mkdir()
    plain.write_bytes(raw)
    list(workspace.pipeline.importer().run([plain.parent]))
    packed = plain.with_name(f"{plain.name}.zst")
    packed.write_bytes(zstandard.compress(raw))
    plain.unlink()
    importer = workspace.pipeline.importer()
    list(importer.run([plain.parent]))
    progress = importer.progress
    assert (progress.files, progress.created, progress.already_stored) == (1, 0, 2)
    assert [e.text for e in read_events_of(packed)] == ["Fix it", "Fixed."]
    packed.write_bytes(b"no rollout at all")
    with pytest.raises(OSError, match="damaged"):
        read_events_of(packed)


def test_a_compressed_rollout_that_is_cut_off_is_a_problem(tmp_path: Path) -> None:
    records = meta(), *ASKED, ITEM
    raw = "\n".join(map(json.dumps, records)).encode()
    packed = tmp_path / f"rollout-2025-09-01T10-00-00-{OWN}.jsonl.zst"
    packed.write_bytes(zstandard.compress(raw[:-20]))
    readings = list(codex.FORMAT.read(packed, None, agent="", now=NOW))
    assert InvalidRecord("the last line is cut off", len(records)) in readings


def test_rollout_before_the_damage_of_a_compressed_one_is_read(tmp_path: Path) -> None:
    letters = random.Random(7)
    texts = [f"{n}: {letters.randbytes(9000).hex()}" for n in range(60)]
    records = meta(), *(prompt(n % 60, text) for n, text in enumerate(texts))
    raw = "".join(f"{json.dumps(record)}\n" for record in records).encode()
    packed = bytearray(zstandard.compress(raw))
    packed[len(packed) // 2 :] = b"\xff" * 300_000
    file = tmp_path / f"rollout-2025-09-01T10-00-00-{OWN}.jsonl.zst"
    file.write_bytes(packed)
    items = list(codex.FORMAT.read(file, None, agent="", now=NOW))
    read_texts = [item.text for item in items if isinstance(item, Event)]
    assert read_texts and read_texts == texts[: len(read_texts)]
    reasons = [item.reason for item in items if isinstance(item, InvalidRecord)]
    assert any(reason.startswith("damaged: ") for reason in reasons)


def read_events_of(file: Path) -> list[Event]:
    items = codex.FORMAT.read(file, None, agent="", now=NOW)
    return [event for event in items if isinstance(event, Event)]


def test_the_summary_of_a_compaction_is_stored_from_any_source() -> None:
    told_of = event(1, "context_compacted"), line("compacted", 2, message="So far.")
    assert "So far." in texts(meta(), *told_of)
    assert texts(meta(), *told_of[::-1]) == ["So far."]


def test_text_of_an_editor_alone_is_stored() -> None:
    opened = "<ide_opened_file>a.py</ide_opened_file>"
    (item,) = read_events(meta(), prompt(1, opened))
    assert (item.text, item.role, item.metadata["kind"]) == (
        opened,
        EventRole.SYSTEM,
        "reminder",
    )
    (both,) = read_events(meta(), prompt(1, opened, "Fix it"))[1:]
    assert (both.text, both.role) == ("Fix it", EventRole.USER)


def test_goal_and_review_are_read_once() -> None:
    goal = {"objective": "All prices are right"}
    review = "One problem: the total is not rounded."
    output = {"overall_explanation": review}
    assert texts(
        meta(),
        event(1, "thread_goal_updated", goal=goal | {"status": "active"}),
        event(2, "exited_review_mode", review_output=output),
        reply(2, review),
        event(3, "thread_goal_updated", goal=goal | {"status": "complete"}),
        event(4, "thread_goal_updated", goal={"objective": "Another"}),
    ) == ["Goal: All prices are right", review, "Goal: Another"]


def test_spoken_words_are_a_prompt() -> None:
    spoken = {"type": "input_audio", "transcript": "Round the prices"}
    said = line("realtime_item", 1, type="message", role="user", content=[spoken])
    (event,) = read_events(meta(), said)
    assert (event.role, event.text) == (EventRole.USER, "Round the prices")


def test_call_that_starts_a_subagent_names_its_task() -> None:
    item = {
        "type": "CollabAgentToolCall",
        "id": "c1",
        "tool": "spawn_agent",
        "status": "completed",
        "receiver_thread_ids": ["s2"],
        "prompt": "Check the table",
    }
    items = read(meta(), event(1, "item_completed", item=item))
    (subagent,) = [item for item in items if isinstance(item, SubagentMetadata)]
    named = subagent.subagent, subagent.tool_use_id, subagent.task
    assert named == ("s2", "c1", "Check the table")
    assert [e.text for e in items if isinstance(e, Event)] == [
        "spawn_agent: Check the table"
    ]


@pytest.mark.parametrize(
    "names",
    [str, lambda name: codex_tool_calls.snake_case(name), camel_case],
    ids=["as written", "snake_case", "camelCase"],
)
def test_completed_items_are_read_with_names_of_any_kind(
    names: Callable[[str], str],
) -> None:
    def completed(second: float, kind: str, /, **fields: Any) -> dict[str, Any]:
        named = {names(name): value for name, value in fields.items()}
        item = {"type": names(kind), "id": f"c{second}", **named}
        return event(second, "item_completed", item=item)

    output = [{"type": "inputText", "text": "no such price"}]
    items = read(
        meta(),
        completed(
            1,
            "CommandExecution",
            command=["make"],
            exit_code=2,
            aggregated_output="b is wrong",
        ),
        completed(
            2, "DynamicToolCall", tool="look", success=False, contentItems=output
        ),
        completed(
            3, "CollabAgentToolCall", tool="spawnAgent", receiverThreadIds=["t2"]
        ),
        completed(4, "SubAgentActivity", kind="started", agentThreadId="t3"),
    )
    events = [item for item in items if isinstance(item, Event)]
    assert [(event.text, event.call_end.value) for event in events] == [
        ("shell: make\nb is wrong", "failed"),
        ("look\nno such price", "failed"),
        ("spawn_agent", "unknown"),
    ]
    assert [item for item in items if isinstance(item, SubagentMetadata)] == [
        SubagentMetadata("codex", OWN, "t2", tool_use_id="c3"),
        SubagentMetadata("codex", OWN, "t3", tool_use_id="c4"),
    ]


def test_subagent_that_is_written_to_keeps_its_call() -> None:
    activity = {"event_id": "c7", "agent_thread_id": "t2"}
    started = event(1, "sub_agent_activity", kind="started", **activity)
    written = event(2, "sub_agent_activity", kind="interacted", **activity)
    subagent = SubagentMetadata("codex", OWN, "t2", tool_use_id="c7")
    assert subagent in read(meta(), started)
    assert not any(isinstance(i, SubagentMetadata) for i in read(meta(), written))


@pytest.mark.parametrize(
    "changes",
    [
        {"a.py": {"type": "update", "unified_diff": DIFF, "move_path": "b.py"}},
        {"a.py": {"update": {"unified_diff": DIFF, "move_path": "b.py"}}},
        [
            {
                "path": "a.py",
                "kind": {"type": "update", "move_path": "b.py"},
                "diff": DIFF,
            }
        ],
    ],
)
def test_changes_of_a_renamed_file_are_those_of_its_new_name(changes: object) -> None:
    ended = event(1, "patch_apply_end", call_id="c1", success=True, changes=changes)
    (patch,) = read_events(meta(), ended)
    assert patch.metadata["lines"] == "+2 -1 b.py"
    assert patch.text == "apply_patch: b.py"


def test_failed_web_search_and_the_error_of_a_server_are_read() -> None:
    search = item(1, "web_search_call", status="failed", action={"query": "prices"})
    error = {"message": "no such table"}
    call = {"type": "McpToolCall", "id": "c2", "server": "db", "tool": "query"}
    failed = event(2, "item_completed", item={**call, "error": error})
    events = read_events(meta(), search, failed)
    assert [(event.text, event.is_failed) for event in events] == [
        ("web_search: prices", True),
        ("db.query\nno such table", True),
    ]


def test_call_of_a_server_has_the_name_of_the_server() -> None:
    given = item(1, "function_call", call_id="c1", name="query", arguments="{}")
    given["payload"]["namespace"] = "mcp__db__"
    (done,) = read_events(meta(), given, answer(2, "c1", "one row"))
    assert done.metadata["tool_name"] == "mcp__db__query"


def test_what_agents_write_to_each_other_is_stored_once_in_every_shape() -> None:
    letter: dict[str, Any] = {"author": "/root/worker", "recipient": "/root"}
    letter |= {"content": "The cart is fine.", "trigger_turn": False}
    blocks = [{"type": "input_text", "text": "The cart is fine."}]
    shapes = [
        [line("inter_agent_communication", 2, **letter)],
        [item(2, "agent_message", author="/root/worker", content=blocks)],
        [reply(2, json.dumps(letter))],
        [event(2, "agent_message", message=json.dumps(letter))],
    ]
    for shape in (*shapes, [*shapes[0], *shapes[1]]):
        (said,) = read_events(meta(), *shape)
        about = said.role, said.text, said.metadata["kind"]
        text = "/root/worker: The cart is fine."
        assert about == (EventRole.SYSTEM, text, "agent")
    # An answer in JSON is an answer.
    (said,) = read_events(meta(), reply(2, '{"content": "fine"}'))
    assert said.role is EventRole.ASSISTANT
