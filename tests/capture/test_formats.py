import json
import time
from pathlib import Path
from typing import Any

import pytest

from memtui.capture import formats
from memtui.capture.formats import hooks, jsonl, prompts
from memtui.capture.formats.base import Record
from memtui.errors import SourceError
from memtui.store import database, sources
from memtui.workspace import Workspace
from tests.cli_runner import run_memtui

FOLDERS = {
    "aider": ["aider", "fixtures_other/deja-vu/registry/aider"],
    "gemini-cli": [
        "fixtures_other/deja-vu/registry/gemini",
        "fixtures_other/agent-sessions/stage0/agents/gemini",
    ],
    "opencode": ["fixtures_other/agent-sessions/stage0/agents/opencode"],
    "claude-code": [
        "claude_code",
        "fixtures_other/deja-vu/registry/claude-code",
        "fixtures_other/agent-sessions/stage0/agents/claude",
    ],
    "codex": ["codex", "fixtures_other/agent-sessions/stage0/agents/codex"],
    "copilot": ["copilot_cli", "fixtures_other/agent-sessions/stage0/agents/copilot"],
}
"""The folders of the real files of each agent."""

NO_SESSIONS = {"schema_drift.json", "agent-a0ad4f44468bdf20d.meta.json"}
"""Files of no format."""


def find_formats(file: Path) -> set[str]:
    head = jsonl.read_head(file, formats.HEAD_LINES)
    return {
        source.name for source in formats.FORMATS if source.matches_content(file, head)
    }


def is_session(agent: str, file: Path) -> bool:
    if file.name in NO_SESSIONS or not file.is_file():
        return False
    if agent == "opencode":
        return file.parent.parent.name == "session"
    return file.suffix in (".jsonl", ".json", ".md")


@pytest.mark.parametrize("agent", ["aider", "gemini-cli", "opencode"])
def test_paths_match_only_their_own_format(agent: str, shared: Path) -> None:
    items = [file for name in FOLDERS[agent] for file in (shared / name).rglob("*")]
    files = [file for file in items if is_session(agent, file)]
    assert files
    for file in files:
        assert find_formats(file) == {agent}, file


@pytest.mark.parametrize("agent", ["claude-code", "codex", "copilot"])
def test_files_of_other_agents_do_not_match(agent: str, shared: Path) -> None:
    items = [file for name in FOLDERS[agent] for file in (shared / name).rglob("*")]
    files = [file for file in items if file.is_file()][:150]
    assert files
    mine = {"aider", "gemini-cli", "opencode"}
    for file in files:
        assert not find_formats(file) & mine, file


def test_file_of_a_part_is_not_a_session(shared: Path) -> None:
    folder = shared / FOLDERS["opencode"][0]
    parts = list(folder.glob("*/part/**/*.json"))
    messages = list(folder.glob("*/message/*/*.json"))
    assert parts and messages
    for file in parts + messages:
        assert find_formats(file) == set()


def test_header_of_gemini_is_not_claude_code(tmp_path: Path) -> None:
    header = {"sessionId": "s", "startTime": "2026-07-17T09:00:00Z"}
    file = tmp_path / "s.jsonl"
    file.write_text(json.dumps(header) + "\n")
    assert find_formats(file) == {"gemini-cli"}
    record = Record(1, {"sessionId": "s", "type": "brand-new"})
    assert formats.FORMATS_BY_NAME["claude-code"].matches_content(file, [record])


@pytest.mark.parametrize(
    "folder",
    [
        *(f"agent-sessions/stage0/agents/{n}" for n in ("cursor", "droid", "grok")),
        *(f"agent-sessions/stage0/agents/{n}" for n in ("kimi", "pi", "qwen")),
        *(f"deja-vu/registry/{n}" for n in ("cursor", "goose", "grok", "pi", "qwen")),
    ],
)
def test_files_of_unsupported_agents_match_no_format(folder: str, shared: Path) -> None:
    files = [f for f in (shared / "fixtures_other" / folder).rglob("*") if f.is_file()]
    assert files
    for file in files:
        assert find_formats(file) == set(), file
        with pytest.raises(SourceError, match="has an unknown format"):
            formats.detect_format(file)


def test_many_objects_on_one_line_are_read_in_linear_time() -> None:
    def measure_s(number: int) -> float:
        raw = json.dumps({"text": "x" * 100}).encode() * number
        started = time.process_time()
        assert sum(1 for _ in jsonl.parse_line(raw, 1)) == number
        assert len(hooks.split_payload(raw)) == number
        return time.process_time() - started

    # Quadratic reading would take a hundred times as long, not ten.
    assert measure_s(30_000) < 40 * max(measure_s(3_000), 0.005)


CLAUDE_SESSION = {"sessionId": "s1", "timestamp": "2025-03-14T10:00:00Z"}
HOLOGRAM = "three words here and a few more"
SOURCES_WITH_AN_UNKNOWN_TYPE: dict[str, list[dict[str, Any]]] = {
    "s1.jsonl": [
        {**CLAUDE_SESSION, "type": "user", "uuid": "u1", "message": {"content": "Hi"}},
        {**CLAUDE_SESSION, "type": "hologram", "uuid": "u2", "body": [HOLOGRAM]},
    ],
    "rollout-x.jsonl": [
        {
            "timestamp": "2025-03-14T10:00:00Z",
            "type": "session_meta",
            "payload": {"id": "s2"},
        },
        {
            "timestamp": "2025-03-14T10:00:01Z",
            "type": "event_msg",
            "payload": {"type": "hologram", "body": HOLOGRAM},
        },
    ],
    "session-state/s3/events.jsonl": [
        {"type": "session.start", "id": "e1", "data": {}, "timestamp": "2025-03-14"},
        {"type": "session.hologram", "id": "e2", "data": {"body": HOLOGRAM}},
    ],
    "session-4.jsonl": [
        {"sessionId": "s4", "projectHash": "p", "startTime": "2025-03-14T10:00:00Z"},
        {"id": "m1", "type": "hologram", "content": HOLOGRAM},
    ],
    "plain.jsonl": [
        {"session_id": "s5", "record": "hologram", "text": HOLOGRAM},
    ],
}


@pytest.mark.parametrize("name", SOURCES_WITH_AN_UNKNOWN_TYPE)
def test_the_words_of_an_unknown_type_are_counted(
    name: str, workspace: Workspace, tmp_path: Path
) -> None:
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    records = SOURCES_WITH_AN_UNKNOWN_TYPE[name]
    file.write_text("".join(json.dumps(item) + "\n" for item in records))
    importer = workspace.pipeline.importer()
    list(importer.run([file]))
    (unread,) = importer.progress.unread.items()
    assert "hologram" in unread[0] and unread[1] == (1, 7)
    with database.connection():
        assert sources.list_unread_types() == [(unread[0], 1, 7)]


def test_an_import_says_what_it_did_not_store(tmp_path: Path) -> None:
    file = tmp_path / "s1.jsonl"
    records = SOURCES_WITH_AN_UNKNOWN_TYPE["s1.jsonl"]
    file.write_text("".join(json.dumps(item) + "\n" for item in records))
    said = run_memtui(tmp_path / "home", "import", str(file)).stdout
    assert "7 words in records that memtui does not store:" in said
    assert "  hologram: 7 words in 1 record" in said


def test_a_file_read_by_an_older_version_is_read_again(
    workspace: Workspace, tmp_path: Path
) -> None:
    file = tmp_path / "rollout-x.jsonl"
    head, _ = SOURCES_WITH_AN_UNKNOWN_TYPE["rollout-x.jsonl"]
    said = {"type": "user_message", "message": "Hi"}
    prompt = {"timestamp": "2025-03-14T10:00:01Z", "type": "event_msg", "payload": said}
    file.write_text(f"{json.dumps(head)}\n{json.dumps(prompt)}\n")
    importer = workspace.pipeline.importer()
    list(importer.run([file]))
    with database.connection():
        old = json.dumps({"thread": {"own_id": "s2"}, "recent": [["a", 1, []]]})
        database.db.execute_sql("UPDATE cursors SET state = ?", (old,))
    more = {**prompt, "payload": {**said, "message": "And?"}}
    file.write_text(f"{file.read_text()}{json.dumps(more)}\n")
    list(importer.run([file]))
    progress = importer.progress
    assert (progress.created, progress.already_stored, progress.unreadable) == (2, 1, 0)


@pytest.mark.parametrize("element", ["<ide_selection>", "<ide_selection ", "<proposed"])
def test_elements_that_are_never_closed_take_linear_time(element: str) -> None:
    started = time.process_time()
    text = element * 50_000
    assert prompts.split_prompt(text) == (text, "")
    assert time.process_time() - started < 5
