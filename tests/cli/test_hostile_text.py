"""Control characters and secrets in any field reach neither terminal nor disk."""

import json
import re
from pathlib import Path
from typing import Any

from tests.cli_runner import run_memtui

CONTROLS = (
    "\x1b]52;c;ZXZpbA==\x07\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\"
    "\x1b[31mred\x1b[2J\x9b31m\x9d52;c;AA\x9c\u202eback\u2066x\u2069\U000e0041\r\x08\x7f"
)
KEYS = ("AKIA2J4XQ7WPLM3NRT5V", "ghp_16C7e42F292c6912E7710c838347Ae178B4a")
TEXT = f"{CONTROLS}<script>alert(1)</script>[bold]mark[/] {KEYS[0]} {KEYS[1]}"
DISTURBING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)
COMMANDS = [
    ("sessions",),
    ("stats",),
    ("doctor",),
    ("quarantine", "list"),
    ("quarantine", "show", "1.json"),
    ("search", "mark"),
    ("call", "list_sessions"),
    ("call", "get_toc_root"),
    ("call", "retrieve_memory", "query=mark"),
    ("call", "browse_toc", "when=2025-03-14"),
    ("call", "search_file", "path=shop"),
]


def record(number: int, **fields: Any) -> str:
    common = {
        "type": "user" if number % 2 else "assistant",
        "uuid": f"u{number}",
        "sessionId": "s1",
        "timestamp": f"2025-03-14T10:{number:02}:00Z",
        "cwd": f"/home/ada/shop {TEXT}",
        "gitBranch": f"branch {TEXT}",
    }
    return json.dumps(common | fields) + "\n"


def write_hostile_files(home: Path, folder: Path) -> None:
    command = {"command": f"git commit -m 'Round prices {TEXT}'"}
    call = {"type": "tool_use", "id": "t1", "name": f"Bash{TEXT}", "input": command}
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": f"[main 1a2] {TEXT}",
    }
    folder.mkdir()
    (folder / "s1.jsonl").write_text(
        record(1, message={"content": f"Fix it {TEXT}"})
        + record(2, message={"model": TEXT, "content": [call]})
        + record(3, message={"content": [result]})
        + record(4, message={"content": [{"type": "text", "text": f"Done {TEXT}"}]})
        + record(5, type=f"sermon {TEXT}", text=f"words {TEXT}")
        + record(6, type="custom-title", customTitle=f"Title {TEXT}")
        + json.dumps({"type": "summary", "summary": TEXT, "leafUuid": "u4"})
        + f"\n{{broken {TEXT}\n"
    )
    new = home / "spool" / "new"
    new.mkdir(parents=True)
    payloads = [
        {"hook_event_name": "UserPromptSubmit", "prompt": TEXT, "cwd": f"/x/{TEXT}"},
        {"hook_event_name": f"Novelty{TEXT}", "prompt": TEXT},
    ]
    for number, payload in enumerate(payloads):
        text = json.dumps({"session_id": f"h{number}", **payload})
        (new / f"{number}.json").write_text(text)


def test_nothing_disturbing_is_printed_and_no_secret_is_kept(
    tmp_path: Path,
) -> None:
    home, folder = tmp_path / "home", tmp_path / "project"
    write_hostile_files(home, folder)
    outputs = [run_memtui(home, "import", str(folder)).stdout]
    assert "sermon" in outputs[0]
    run_memtui(home, "work", "--until-idle")
    outputs += [
        run_memtui(home, *command, *options, code=command == ("doctor",)).stdout
        for command in COMMANDS
        for options in ((), ("--json",))
    ]
    for output in outputs:
        assert not DISTURBING.search(output)
        assert not any(key in output for key in KEYS)
    files = [path for path in home.rglob("*") if path.is_file()]
    for path in files:
        content = path.read_bytes()
        assert not any(key.encode() in content for key in KEYS), path
    listed = run_memtui(home, "sessions").stdout.splitlines()
    assert len(listed) == 2
