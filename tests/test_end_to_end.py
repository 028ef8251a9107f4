"""From a hook's file, and from a transcript, to a search hit and its source."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from memtui.model.calendar import TocLevel
from memtui.model.hit import Hits
from memtui.model.sessions import AgentHistory
from memtui.paths import in_home
from memtui.pipeline.progress import PipelineProgress
from memtui.services import browse, status
from memtui.services.conversation import expand
from memtui.settings import Settings
from memtui.workspace import Workspace

DEADLINE_S = 30.0
"""How long the loops may take before a test gives up, in seconds."""

PROMPT = "Why does the ferry timetable importer drop every crossing after midnight?"
REPLY = (
    "The importer compares departure times as strings, so 00:15 sorts before 23:50 and"
    " the crossing is taken for a duplicate. I compare full dates in timetable.py now."
)


def run_hook(workspace: Workspace, **payload: Any) -> None:
    """Do what an agent does: run the hook with a payload on its standard input."""
    given = {
        "session_id": "ferry-1",
        "transcript_path": "/home/ada/.claude/projects/-home-ada-ferry/ferry-1.jsonl",
        "cwd": "/home/ada/ferry",
        **payload,
    }
    process = subprocess.run(
        [sys.executable, "-m", "memtui.hook"],
        input=json.dumps(given).encode(),
        env={**os.environ, "MEMTUI_SPOOL": str(workspace.paths.spool)},
        capture_output=True,
        check=False,
    )
    assert (process.returncode, process.stdout, process.stderr) == (0, b"", b"")


class ReportWaiter:
    """Reports of the loops, to be waited for."""

    def __init__(self) -> None:
        self._news = threading.Condition()
        self._reports: list[PipelineProgress] = []

    def __call__(self, progress: PipelineProgress) -> None:
        with self._news:
            self._reports.append(progress)
            self._news.notify_all()

    def wait_until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds, looking again after each report."""
        end_s = time.monotonic() + DEADLINE_S
        with self._news:
            while not holds():
                left_s = end_s - time.monotonic()
                assert left_s > 0, f"not within {DEADLINE_S} s: {self._reports[-3:]}"
                self._news.wait(min(left_s, 0.2))


@contextmanager
def run_pipeline(workspace: Workspace) -> Iterator[ReportWaiter]:
    watched = ReportWaiter()
    workspace.start(watched)
    try:
        yield watched
    finally:
        workspace.pipeline.stop(wait_s=5)


def find(workspace: Workspace, query: str) -> Hits:
    return workspace.teleport.find(query)


def assert_leads_back(workspace: Workspace, query: str, words: str) -> None:
    """The best hit is a bullet; its grip leads to events that contain the words."""
    hit = find(workspace, query).hits[0]
    node = browse.get_node(hit.node_id)
    assert node is not None
    (bullet,) = (
        candidate for candidate in node.bullets if candidate.text == hit.snippet.text
    )
    expansion = expand(bullet.grip_ids[0])
    assert expansion.grip is not None
    texts = [event.text for event in expansion.excerpt_events]
    assert any(expansion.grip.excerpt in text for text in texts)
    assert any(words in text for text in texts)
    assert expansion.session is not None
    assert expansion.session.project == "ferry"


def test_a_hooks_file_becomes_a_hit_whose_grip_is_the_very_event(
    workspace: Workspace,
) -> None:
    run_hook(workspace, hook_event_name="UserPromptSubmit", prompt=PROMPT)
    with run_pipeline(workspace) as watched:
        run_hook(
            workspace,
            hook_event_name="PostToolUse",
            tool_name="Bash",
            tool_input={"command": "pytest tests/test_timetable.py"},
            tool_response={"stdout": "1 failed: test_after_midnight"},
        )
        run_hook(workspace, hook_event_name="Stop", last_assistant_message=REPLY)
        run_hook(workspace, hook_event_name="SessionEnd", reason="logout")
        watched.wait_until(lambda: bool(find(workspace, "crossing duplicate").hits))
        watched.wait_until(lambda: status.read_stats().pending == 0)

    assert_leads_back(workspace, "compares departure times", "00:15 sorts before 23:50")
    years = browse.list_children()
    day = browse.get_path(find(workspace, "crossing").hits[0].node_id)
    assert [line.level for line in years] == [TocLevel.YEAR]
    assert day[0] == years[0].node_id
    assert list(workspace.paths.spool.joinpath("new").iterdir()) == []


def test_a_transcript_becomes_a_hit_whose_grip_is_the_very_event(
    workspace: Workspace, tmp_path: Path
) -> None:
    def record(second: int, kind: str, content: object) -> str:
        return json.dumps(
            {
                "type": kind,
                "uuid": f"u{second}",
                "sessionId": "ferry-2",
                "cwd": "/home/ada/ferry",
                "timestamp": f"2025-03-14T10:00:{second:02}Z",
                "message": {"role": kind, "content": content},
            }
        )

    file = tmp_path / "projects" / "-home-ada-ferry" / "ferry-2.jsonl"
    file.parent.mkdir(parents=True)
    lines = [
        record(1, "user", PROMPT),
        record(9, "assistant", [{"type": "text", "text": REPLY}]),
    ]
    file.write_text("\n".join(lines) + "\n")
    with run_pipeline(workspace) as watched:
        history = AgentHistory("claude-code", file.parent.parent, 1)
        workspace.start_import([history], watched, is_watched=False)
        watched.wait_until(lambda: bool(find(workspace, "crossing duplicate").hits))
        watched.wait_until(lambda: status.read_stats().pending == 0)

    assert_leads_back(workspace, "compares departure times", "00:15 sorts before 23:50")
    assert [line.title for line in browse.list_children("toc:week:2025-W11")] == [
        "Friday, March 14, 2025"
    ]


def test_what_cannot_be_taken_is_quarantined_with_its_reason(
    workspace: Workspace,
) -> None:
    new, bad = workspace.paths.spool / "new", workspace.paths.spool / "bad"
    new.mkdir()
    (new / "1.json").write_bytes(b'{"session_id": "s", "hook_event_na')
    (new / "2.json").write_bytes(
        b'{"session_id": "s", "hook_event_name": "Novelty", "prompt": "x"}'
    )
    (new / "3.json").write_bytes(b"\xff\xfe\x00" * 10)
    run_hook(workspace, hook_event_name="UserPromptSubmit", prompt=PROMPT)
    with run_pipeline(workspace) as watched:
        watched.wait_until(lambda: status.read_stats().messages == 1)
        watched.wait_until(lambda: not list(new.iterdir()))

    assert sorted(f.name for f in bad.iterdir() if f.suffix == ".json") == [
        "1.json",
        "2.json",
        "3.json",
    ]
    reason = (bad / "2.json.reason").read_text()
    assert reason == "line 1: unknown hook event 'Novelty'\n"
    assert status.read_stats().skipped == 3


@pytest.mark.full
def test_a_monstrous_line_is_survived(workspace: Workspace) -> None:
    run_hook(workspace, hook_event_name="UserPromptSubmit", prompt="word " * 10_000_000)
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    assert status.read_stats().messages == 1
    assert status.read_stats().bullets >= 1


def test_a_configured_server_that_does_not_answer_is_reported(
    full_workspace: Workspace, tmp_path: Path
) -> None:
    full_workspace.stop()
    home = shutil.copytree(full_workspace.paths.store.parent, tmp_path / "named")
    settings = Settings(summaries_url="http://127.0.0.1:1")
    workspace = Workspace(in_home(Path(home)), settings)
    is_missed = threading.Event()

    def hear(progress: PipelineProgress) -> None:
        if progress.model.is_missing:
            is_missed.set()

    workspace.start(hear)
    try:
        assert is_missed.wait(DEADLINE_S)
    finally:
        workspace.stop()
