"""Secrets in the ids of sessions, from where they enter to every file of the store."""

import json
from pathlib import Path
from typing import Any

from memtui.redaction import redact, redact_id, redact_json
from tests.cli_runner import run_memtui

LETTERS = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
TOKEN = f"ghp_{LETTERS}"
OTHER = f"ghp_{LETTERS[::-1]}"


def test_secret_ids_are_told_apart_and_stay_as_they_are_when_redacted_again() -> None:
    first, second = redact_id(f"run-{TOKEN}"), redact_id(f"run-{OTHER}")
    assert first != second and redact_id(f"run-{TOKEN}") == first
    for marked in (first, second):
        assert marked.startswith("run-[redacted: github token] ")
        assert redact_id(marked) == redact(marked).text == marked
    plain = "019eb187-f422-7f30-8018-4fcd25eb355f"
    assert redact_id(plain) == plain


def test_payloads_and_positions_have_the_same_ids() -> None:
    given = {"session_id": TOKEN, "sessionId": OTHER, "prompt": TOKEN, "own_id": 7}
    redacted, kinds = redact_json({"payload": given})
    assert redacted == {
        "payload": {
            "session_id": redact_id(TOKEN),
            "sessionId": redact_id(OTHER),
            "prompt": "[redacted: github token]",
            "own_id": 7,
        }
    }
    assert kinds == ("github token",) * 3


def codex(kind: str, **payload: Any) -> str:
    record = {"timestamp": "2026-03-20T10:00:00Z", "type": kind, "payload": payload}
    return f"{json.dumps(record)}\n"


def test_no_file_of_the_store_has_the_secret_in_an_id(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "history"
    folder.mkdir()
    plain = [
        {"session_id": name, "role": "user", "text": "hello", "timestamp": at}
        for name in (TOKEN, OTHER)
        for at in ("2026-03-20T09:00:00Z", "a wrong time")
    ]
    (folder / "plain.jsonl").write_text("\n".join(map(json.dumps, plain)))
    rollout = folder / "rollout.jsonl"
    rollout.write_text(
        codex("session_meta", id=TOKEN, cwd="/srv/shop", forked_from_id=OTHER)
        + codex("event_msg", type="user_message", message="one")
        + codex("event_msg", type="task_complete")
    )
    spool = home / "spool" / "new"
    spool.mkdir(parents=True)
    payload = {"cwd": "/srv/shop", "session_id": TOKEN, "prompt": "by a hook"}
    for name in ("UserPromptSubmit", "NoSuchEvent"):
        named = {**payload, "hook_event_name": name}
        (spool / f"{name}.json").write_text(json.dumps(named))
    run_memtui(home, "import", str(folder))
    with rollout.open("a") as opened:
        # The position that reading goes on from has the id, too.
        opened.write(codex("event_msg", type="user_message", message="two"))
    run_memtui(home, "import", str(folder))
    export = tmp_path / "export.jsonl"
    run_memtui(home, "export", "--events", str(export))
    messages: dict[tuple[str, str], list[str]] = {}
    for item in map(json.loads, export.read_text().splitlines()):
        if item.get("event_type") == "user_message":
            key = item["agent"], item["session_id"]
            messages.setdefault(key, []).append(item["text"])
    assert messages == {
        ("agent", redact_id(TOKEN)): ["hello"],
        ("agent", redact_id(OTHER)): ["hello"],
        ("codex", redact_id(TOKEN)): ["one", "two"],
        ("claude-code", redact_id(TOKEN)): ["by a hook"],
    }
    files = [file for file in (*home.rglob("*"), export) if file.is_file()]
    assert any(file.parent.name == "bad" for file in files)
    for file in files:
        content = file.read_bytes()
        assert not any(name.encode() in content for name in (TOKEN, OTHER)), file
