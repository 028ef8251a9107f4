"""The lines that a call changed, as its agent recorded them."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memtui.capture import formats
from memtui.capture.formats.base import count_diff_lines, count_edit_lines
from memtui.model.events import Event

AT = "2026-08-01T09:00:00.000Z"
PATCH = [{"lines": [" a", "-b", "+c", "+d", "\\ No newline at end of file"]}]
DIFF = "--- a.py\n+++ a.py\n@@ -1,2 +1,3 @@\n a\n---b\n+c\n+d\n"
EDIT = {"file_path": "/home/ada/a.py", "old_string": "b", "new_string": "c\nd"}


def read(path: Path, records: list[Mapping[str, Any]]) -> list[Event]:
    """Return the calls in a transcript."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(json.dumps, records)), "utf-8")
    source = formats.detect_format(path)
    assert source
    items = source.read(path, None, agent=source.name, now=datetime.now(UTC))
    return [item for item in items if isinstance(item, Event) and item.is_tool_call]


@pytest.mark.parametrize(
    ("result", "lines"),
    [
        ({"structuredPatch": PATCH}, "+2 -1"),
        ({"structuredPatch": [*PATCH, {"lines": ["-e"]}]}, "+2 -2"),
        ({"type": "create", "structuredPatch": [], "content": "a\nb\n"}, "+2 -0"),
        ({"type": "update", "structuredPatch": []}, ""),
        ("Error: String to replace not found", ""),
        (None, ""),
    ],
)
def test_claude_code_records_a_patch(result: object, lines: str) -> None:
    assert count_edit_lines(result) == lines


def test_a_unified_diff_is_counted_without_its_head() -> None:
    assert count_diff_lines(DIFF) == "+2 -1"
    assert count_diff_lines("no diff") == ""
    assert count_diff_lines({"a": 1}) == ""


def test_transcripts_of_claude_code_keep_the_counts(tmp_path: Path) -> None:
    def record(kind: str, uuid: str, **block: object) -> dict[str, Any]:
        message = {"role": kind, "content": [block]}
        fields = {"type": kind, "uuid": uuid, "sessionId": "s1", "timestamp": AT}
        return {**fields, "message": message}

    asked = record("assistant", "1", type="tool_use", id="t1", name="Edit", input=EDIT)
    answered = record("user", "2", type="tool_result", tool_use_id="t1", content="ok")
    answered["toolUseResult"] = {"structuredPatch": PATCH}
    (call,) = read(tmp_path / "s1.jsonl", [asked, answered])
    assert call.metadata["lines"] == "+2 -1"


def test_rollouts_of_codex_keep_the_counts_of_each_file(tmp_path: Path) -> None:
    def record(kind: str, **payload: object) -> dict[str, Any]:
        return {"timestamp": AT, "type": kind, "payload": payload}

    changes = {
        "/home/ada/a.py": {"type": "update", "unified_diff": DIFF},
        "/home/ada/b.py": {"type": "add", "content": "a\nb\n"},
        "/home/ada/c.py": {"delete": {"content": "a\n"}},
    }
    patch = {"type": "custom_tool_call", "name": "apply_patch", "input": "patch"}
    (call,) = read(
        tmp_path / "rollout.jsonl",
        [
            record("session_meta", id="s1", timestamp=AT),
            record("response_item", call_id="c1", **patch),
            record("event_msg", type="patch_apply_end", call_id="c1", changes=changes),
            record(
                "response_item", type="custom_tool_call_output", call_id="c1", output=""
            ),
        ],
    )
    assert call.metadata["lines"].splitlines() == [
        "+2 -1 /home/ada/a.py",
        "+2 -0 /home/ada/b.py",
        "+0 -1 /home/ada/c.py",
    ]
    assert call.metadata["tool_input"] == '"patch"'
