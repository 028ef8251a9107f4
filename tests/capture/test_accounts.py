"""Where the transcripts of Claude Code are, of several accounts and of Cowork."""

import json
from pathlib import Path

import pytest

from memtui.capture.formats import claude_code
from memtui.model.sessions import SessionMetadata
from memtui.paths import transcript_folders
from tests.capture import corpora
from tests.capture.conftest import READ_AT


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


def test_all_accounts_are_looked_for(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("work", "private", ".config/claude"):
        (home / name / "projects").mkdir(parents=True)
    (home / "private/history.jsonl").touch()
    places = transcript_folders()["claude-code"]
    assert places == (home / ".claude/projects", home / ".config/claude/projects")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", f"~/work, {home / 'private'},~/missing")
    assert transcript_folders()["claude-code"] == (
        *(home / "work/projects", home / "private/projects"),
        home / "private/history.jsonl",
    )


def test_session_of_cowork_has_its_title_and_folder(home: Path) -> None:
    app = home / ".config/Claude/local-agent-mode-sessions"
    folder = app / "org/acc/local_1/.claude/projects/-sessions-x"
    folder.mkdir(parents=True)
    assert app in transcript_folders()["claude-code"]
    file = folder / "s1.jsonl"
    lines = (f"{json.dumps(fields)}\n" for fields in corpora.claude())
    file.write_text("".join(lines))
    about = {"title": "Invoices by month", "userSelectedFolders": ["/Users/ada/Bills"]}
    described = app / "org/acc/local_1.json"
    described.write_text(json.dumps(about))
    assert list(claude_code.FORMAT.related_files(file)) == [described]
    items = claude_code.FORMAT.read(file, None, agent="", now=READ_AT)
    facts = [item for item in items if isinstance(item, SessionMetadata)]
    assert {(f.cwd, f.title) for f in facts if f.session_id == "s1"} == {
        ("/Users/ada/Bills", "Invoices by month")
    }
