"""Prompts in the histories of agents, with and without transcripts."""

import json
from datetime import datetime, timedelta
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from memtui.capture import formats
from memtui.capture.formats.base import HOOK
from memtui.capture.ingest import TranscriptReader
from memtui.capture.policy import CapturePolicy, Exclusions
from memtui.model.events import EventRole, EventType, make
from memtui.store import database, events, sessions
from memtui.store.database import fetch
from memtui.text.tokens import ESTIMATING_COUNTER
from memtui.workspace import Workspace
from tests.capture.conftest import READ_AT
from tests.capture.corpora import AT

PROMPTS = ["Fix the cart", "[Pasted text #1 +2 lines] explain this", "continue"]
TEXTS = ["Fix the cart", "one\ntwo explain this", "continue"]


def claude_history(folder: Path) -> Path:
    pasted = {"1": {"id": 1, "type": "text", "content": "one\ntwo"}}
    file = folder / "claude-history.jsonl"
    lines = [
        {"display": text, "pastedContents": pasted, "project": "/home/ada/shop"}
        | {"timestamp": milliseconds(number), "sessionId": "s1"}
        for number, text in enumerate(["/compact ", *PROMPTS])
    ]
    return write(file, lines)


def claude_transcript(folder: Path) -> Path:
    lines = [
        {"type": "user", "uuid": f"u{number}", "sessionId": "s1"}
        | {"cwd": "/home/ada/shop", "timestamp": (at(number)).isoformat()}
        | {"message": {"role": "user", "content": text}}
        for number, text in enumerate(TEXTS, 1)
    ]
    return write(folder / "s1.jsonl", lines)


def codex_history(folder: Path) -> Path:
    lines = [
        {"session_id": "s1", "ts": milliseconds(number) // 1000, "text": text}
        for number, text in enumerate(TEXTS, 1)
    ]
    return write(folder / "codex-history.jsonl", lines)


def codex_transcript(folder: Path) -> Path:
    meta = {"id": "s1", "cwd": "/home/ada/shop"}
    lines: list[dict[str, Any]] = [
        {"timestamp": at(0).isoformat(), "type": "session_meta", "payload": meta}
    ]
    for number, text in enumerate(TEXTS, 1):
        content = [{"type": "input_text", "text": text}]
        payload = {"type": "message", "role": "user", "content": content}
        time = at(number).isoformat()
        lines.append({"timestamp": time, "type": "response_item", "payload": payload})
    return write(folder / "rollout-2026-03-14T10-00-00-s1.jsonl", lines)


def gemini_history(folder: Path) -> Path:
    records = [
        {"sessionId": "s1", "messageId": number, "type": "user", "message": text}
        | {"timestamp": at(number).isoformat()}
        for number, text in enumerate(["/quit", *TEXTS])
    ]
    file = folder / "tmp" / "shop" / "logs.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(records, indent=2))
    return file


def gemini_transcript(folder: Path) -> Path:
    messages = [
        {"id": f"m{number}", "type": "user", "content": text}
        | {"timestamp": at(number).isoformat()}
        for number, text in enumerate(TEXTS, 1)
    ]
    document = {"sessionId": "s1", "projectHash": "p", "messages": messages}
    file = folder / "tmp" / "shop" / "chats" / "session-1.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document))
    return file


def at(number: int) -> datetime:
    return AT + timedelta(minutes=number)


def milliseconds(number: int) -> int:
    return int(at(number).timestamp() * 1000)


def write(file: Path, lines: list[dict[str, Any]]) -> Path:
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return file


def import_file(file: Path, *excluded: str) -> TranscriptReader:
    reader = TranscriptReader(
        agent="own",
        counter=ESTIMATING_COUNTER,
        clock=lambda: READ_AT,
        policy=CapturePolicy(Exclusions(excluded)),
    )
    list(reader.run([file]))
    assert not reader.progress.unreadable and not reader.progress.invalid
    return reader


def add_hooks(agent: str) -> None:
    made = [
        make(
            agent=agent,
            session_id="s1",
            timestamp=at(number) + timedelta(seconds=2),
            event_type=EventType.USER_MESSAGE,
            text=text,
            source_key="",
            role=EventRole.USER,
        )
        for number, text in enumerate(TEXTS, 1)
    ]
    with database.connection(), database.transaction():
        events.add(made, route=HOOK)


FILES = {
    "claude-code": (claude_history, claude_transcript),
    "codex": (codex_history, codex_transcript),
    "gemini-cli": (gemini_history, gemini_transcript),
}


@pytest.mark.parametrize("order", permutations(("history", "transcript", "hooks")))
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("agent", FILES)
def test_each_prompt_is_stored_once_in_any_order(
    agent: str,
    count: int,
    order: tuple[str, ...],
    workspace: Workspace,
    tmp_path: Path,
) -> None:
    history, transcript = FILES[agent]
    for source in order[:count]:
        if source == "hooks":
            add_hooks(agent)
        else:
            make_file = history if source == "history" else transcript
            import_file(make_file(tmp_path))
    with database.connection():
        sql = "SELECT text FROM events WHERE type = 'user_message' ORDER BY at_ms"
        assert [text for (text,) in fetch(sql)] == TEXTS
        session = sessions.get(agent, "s1")
        assert session is not None and session.message_count == 3


def test_prompts_of_gemini_are_found_in_its_folder_alone(tmp_path: Path) -> None:
    file = gemini_history(tmp_path)
    other = tmp_path / "shop" / "logs.json"
    other.parent.mkdir()
    other.write_text("[1, 2]")
    assert formats.find_files(tmp_path) == [file]
    assert formats.sort_sessions("gemini-cli", [tmp_path]) == (0, [other])


@pytest.mark.parametrize(
    ("digest", "is_read"),
    [("abcd0123abcd0123", True), ("0000000000000000", False), ("../outside", False)],
)
@pytest.mark.parametrize("is_link", [False, True])
def test_long_pasted_text_is_read_from_its_own_file(
    workspace: Workspace, tmp_path: Path, digest: str, *, is_read: bool, is_link: bool
) -> None:
    folder = tmp_path / "paste-cache"
    folder.mkdir()
    (tmp_path / "outside.txt").write_text("one\ntwo")
    pasted_file = folder / "abcd0123abcd0123.txt"
    if is_link:
        pasted_file.symlink_to(tmp_path / "outside.txt")
    else:
        pasted_file.write_text("one\ntwo")
    file = claude_history(tmp_path)
    pasted = json.dumps({"id": 1, "type": "text", "contentHash": digest})
    whole = json.dumps({"id": 1, "type": "text", "content": "one\ntwo"})
    file.write_text(file.read_text().replace(whole, pasted))
    reader = import_file(file)
    is_missing = "a pasted text that is missing" in reader.progress.unread
    expected = TEXTS if is_read and not is_link else PROMPTS
    assert is_missing == (expected == PROMPTS)
    with database.connection():
        sql = "SELECT text FROM events WHERE type = 'user_message' ORDER BY at_ms"
        assert [text for (text,) in fetch(sql)] == expected


def test_prompts_of_an_unknown_project_are_not_stored_with_exclusions(
    workspace: Workspace, tmp_path: Path
) -> None:
    for make_file in (claude_history, codex_history):
        import_file(make_file(tmp_path), "shop")
        with database.connection():
            assert not fetch("SELECT id FROM events")
    import_file(codex_transcript(tmp_path), "other")
    (tmp_path / "later").mkdir()
    reader = import_file(codex_history(tmp_path / "later"), "other")
    assert reader.progress.already_stored == 3


def test_command_for_the_shell_is_stored_once(
    workspace: Workspace, tmp_path: Path
) -> None:
    about = {"sessionId": "s1", "timestamp": milliseconds(1)}
    typed = about | {"display": "!git status", "project": "/home/ada/shop"}
    message = {"role": "user", "content": "<bash-input>git status</bash-input>"}
    sent = {"type": "user", "uuid": "u1", "cwd": "/home/ada/shop", "message": message}
    import_file(write(tmp_path / "history.jsonl", [typed]))
    at_once = {"timestamp": at(1).isoformat()}
    import_file(write(tmp_path / "s1.jsonl", [about | sent | at_once]))
    with database.connection():
        assert fetch("SELECT text, role FROM events") == [
            ("<bash-input>git status</bash-input>", "system")
        ]


def test_prompt_that_waited_in_the_queue_is_stored_once(
    workspace: Workspace, tmp_path: Path
) -> None:
    record = {"display": "continue", "project": "/home/ada/shop", "sessionId": "s1"}
    line = record | {"timestamp": milliseconds(3) - 3_600_000}
    import_file(write(tmp_path / "history.jsonl", [line]))
    import_file(claude_transcript(tmp_path))
    with database.connection():
        assert len(fetch("SELECT id FROM events")) == 3


IMAGE = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
SENT = {
    "picture": (
        "[Image #1] what is wrong",
        [{"type": "image", "source": IMAGE}, {"type": "text", "text": "what is wrong"}],
        "[image: image/png, 1 kB]\n\nwhat is wrong",
    ),
    "picture alone": (
        "[Image #1]",
        [{"type": "text", "text": "[Image #1]"}, {"type": "image", "source": IMAGE}],
        "[Image #1]\n\n[image: image/png, 1 kB]",
    ),
    "pasted text that is missing": (
        "[Pasted text #1 +18 lines]",
        "eighteen lines of a log",
        "eighteen lines of a log",
    ),
    "command for the shell": (
        "! git status",
        "<bash-input> git status</bash-input>",
        "<bash-input> git status</bash-input>",
    ),
    "command for the model": (
        "/review fix the cart",
        "<command-message>review</command-message>\n<command-name>/review"
        "</command-name>\n<command-args>fix the cart</command-args>",
        "/review fix the cart",
    ),
    "command for the program": (
        "/model opus",
        "<command-name>/model</command-name>\n<command-message>model"
        "</command-message>\n<command-args>opus</command-args>",
        "/model opus",
    ),
}
"""What was typed, what the transcript has of it, and what is stored."""


@pytest.mark.parametrize("order", permutations(("typed", "sent")))
@pytest.mark.parametrize("name", SENT)
def test_prompt_that_was_sent_in_another_shape_is_stored_once(
    name: str, order: tuple[str, ...], workspace: Workspace, tmp_path: Path
) -> None:
    display, content, stored = SENT[name]
    about = {"sessionId": "s1", "timestamp": milliseconds(1)}
    before = {"timestamp": milliseconds(1) - 80}
    history = [about | before | {"display": display, "project": "/home/ada/shop"}]
    message = {"role": "user", "content": content}
    sent = {"type": "user", "uuid": "u1", "cwd": "/home/ada/shop", "message": message}
    transcript = [about | sent | {"timestamp": at(1).isoformat()}]
    for source in order:
        lines = history if source == "typed" else transcript
        import_file(write(tmp_path / f"{source}.jsonl", lines))
    with database.connection():
        assert fetch("SELECT text FROM events") == [(stored,)]


def test_command_with_arguments_is_a_message_without_a_transcript(
    workspace: Workspace, tmp_path: Path
) -> None:
    record = {"display": "/review fix the cart", "project": "/home/ada/shop"}
    about = {"sessionId": "s1", "timestamp": milliseconds(1)}
    import_file(write(tmp_path / "history.jsonl", [about | record]))
    with database.connection():
        session = sessions.get("claude-code", "s1")
    assert session is not None and session.message_count == 1


def test_prompts_of_older_versions_are_counted_and_no_damage(
    workspace: Workspace, tmp_path: Path
) -> None:
    about = {"project": "/home/ada/shop", "timestamp": milliseconds(1)}
    records = [about | {"display": "fix the cart"}, about | {"display": "/init"}]
    reader = import_file(write(tmp_path / "history.jsonl", records))
    assert reader.progress.unread == {"a prompt of an unknown session": (2, 3)}


@pytest.mark.parametrize("order", permutations(("typed", "sent")))
def test_prompt_that_a_history_has_twice_is_stored_once(
    order: tuple[str, ...], workspace: Workspace, tmp_path: Path
) -> None:
    record = {"project": "/home/ada/shop", "sessionId": "s1", "display": TEXTS[0]}
    history = [
        record | {"timestamp": milliseconds(1) + late} for late in (-9000, -8000)
    ]
    for source in order:
        if source == "typed":
            import_file(write(tmp_path / "history.jsonl", history))
        else:
            import_file(claude_transcript(tmp_path))
    with database.connection():
        sql = "SELECT text FROM events ORDER BY at_ms"
        assert [text for (text,) in fetch(sql)] == TEXTS


@pytest.mark.parametrize("order", permutations(("typed", "sent")))
def test_other_prompt_of_a_history_stays_beside_the_transcript(
    order: tuple[str, ...], workspace: Workspace, tmp_path: Path
) -> None:
    record: dict[str, Any] = {"project": "/home/ada/shop", "sessionId": "s1"}
    record |= {"display": "never sent"}
    said = record | {"timestamp": milliseconds(1), "display": TEXTS[0]}
    history = [said, record | {"timestamp": milliseconds(1) + 600}]
    for source in order:
        if source == "typed":
            import_file(write(tmp_path / "history.jsonl", history))
        else:
            import_file(claude_transcript(tmp_path))
    with database.connection():
        sql = "SELECT text FROM events ORDER BY at_ms"
        texts = [text for (text,) in fetch(sql)]
    assert texts == [TEXTS[0], "never sent", *TEXTS[1:]]
