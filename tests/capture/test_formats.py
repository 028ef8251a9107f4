import json
from pathlib import Path

import pytest

from memtui.capture import formats
from memtui.capture.formats import jsonl
from memtui.capture.formats.base import Record
from memtui.errors import SourceError

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
"""Where the real files of each agent lie."""

NO_SESSIONS = {"schema_drift.json", "agent-a0ad4f44468bdf20d.meta.json"}
"""Files that name no session and belong to no format."""


def claimed_by(file: Path) -> set[str]:
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
def test_the_files_of_an_agent_are_its_own_alone(agent: str, shared: Path) -> None:
    found = [file for name in FOLDERS[agent] for file in (shared / name).rglob("*")]
    files = [file for file in found if is_session(agent, file)]
    assert files
    for file in files:
        assert claimed_by(file) == {agent}, file


@pytest.mark.parametrize("agent", ["claude-code", "codex", "copilot"])
def test_the_files_of_others_are_left_to_them(agent: str, shared: Path) -> None:
    found = [file for name in FOLDERS[agent] for file in (shared / name).rglob("*")]
    files = [file for file in found if file.is_file()][:150]
    assert files
    mine = {"aider", "gemini-cli", "opencode"}
    for file in files:
        assert not claimed_by(file) & mine, file


def test_a_parts_file_is_no_session(shared: Path) -> None:
    folder = shared / FOLDERS["opencode"][0]
    for file in [*folder.glob("*/part/**/*.json"), *folder.glob("*/message/*/*.json")]:
        assert claimed_by(file) == set()


def test_geminis_header_is_not_taken_for_claude_codes(tmp_path: Path) -> None:
    header = {"sessionId": "s", "startTime": "2026-07-17T09:00:00Z"}
    file = tmp_path / "s.jsonl"
    file.write_text(json.dumps(header) + "\n")
    assert claimed_by(file) == {"gemini-cli"}
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
def test_the_files_of_agents_nobody_reads_are_claimed_by_none(
    folder: str, shared: Path
) -> None:
    files = [f for f in (shared / "fixtures_other" / folder).rglob("*") if f.is_file()]
    assert files
    for file in files:
        assert claimed_by(file) == set(), file
        with pytest.raises(SourceError, match="has an unknown format"):
            formats.detect_format(file)
