"""Finding the files of a folder, whatever it contains."""

import os
from pathlib import Path

import pytest

from memtui import files
from memtui.capture import formats
from memtui.capture.formats import jsonl
from memtui.errors import SourceError


def items(place: Path) -> list[str]:
    return sorted(str(file.relative_to(place)) for file in files.walk_files(place))


def test_links_lead_to_other_folders_and_files(tmp_path: Path) -> None:
    root, other = tmp_path / "root", tmp_path / "other"
    for folder in (root / "a", other / "deep"):
        folder.mkdir(parents=True)
    for file in (root / "a" / "1", other / "deep" / "2", tmp_path / "3"):
        file.touch()
    (root / "linked").symlink_to(other)
    (root / "file").symlink_to(tmp_path / "3")
    assert items(root) == ["a/1", "file", "linked/deep/2"]


def test_each_file_is_found_once_despite_link_loops(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "1").touch()
    (tmp_path / "a" / "b" / "up").symlink_to(tmp_path)
    (tmp_path / "0").symlink_to(tmp_path / "a")
    (tmp_path / "again").symlink_to(tmp_path / "a" / "b" / "1")
    (tmp_path / "self").symlink_to("self")
    (tmp_path / "gone").symlink_to("nowhere")
    assert items(tmp_path) == ["a/b/1"]


def test_a_pipe_is_never_opened(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    (tmp_path / "link.jsonl").symlink_to(pipe)
    assert items(tmp_path) == []
    assert formats.find_files(tmp_path) == []
    for path in (pipe, tmp_path / "link.jsonl"):
        with pytest.raises(OSError, match="not a regular file"):
            jsonl.read_head(path, 1)
        with pytest.raises(SourceError, match="not a regular file"):
            formats.detect_format(path)


MESSAGES = ", ".join(
    f'{{"info": {{"id": "m{number}", "sessionID": "s"}}, "parts": []}}'
    for number in range(50)
)


def test_json_files_of_a_folder_are_judged_by_the_fields_at_both_ends(
    tmp_path: Path,
) -> None:
    texts = {
        "export.json": '{\n  "info": {\n    "id": "ses_1"\n  },\n  "messages": []\n}',
        "reversed.json": f'{{"messages": [{MESSAGES}], "info": {{"id": "ses_2"}}}}',
        "chat.json": '{"sessionId": "s1", "projectHash": "ab", "messages": []}',
        "Kopie (1).json": '\ufeff{"kind": "main", "startTime": "2025-03-14",\r\n'
        f'"messages": [{MESSAGES}], "sessionId": "s2"}}',
        "package.json": '{"name": "shop", "info": {"id": 1}}',
        "process.json": '{"pid": 1, "sessionId": "s1", "startedAt": 1}',
        "empty.json": "",
        "list.json": "[]",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    assert items(tmp_path) == sorted(texts)
    found = formats.find_files(tmp_path)
    names = ["Kopie (1).json", "chat.json", "export.json", "reversed.json"]
    assert [file.name for file in found] == names
    agents = [source.name for source in map(formats.detect_format, found) if source]
    assert agents == ["gemini-cli", "gemini-cli", "opencode", "opencode"]


def test_files_that_nothing_is_kept_of_are_listed(tmp_path: Path) -> None:
    names = {
        "s1.jsonl": True,
        "s1/tool-results/b1.txt": None,
        "s1/subagents/agent-1.jsonl": True,
        "s1/subagents/agent-1.meta.json": None,
        "local_1.json": None,
        "workspace.yaml": None,
        "opencode.db-wal": None,
        "storage/message/ses_1/msg_1.json": None,
        "storage/part/msg_1/prt_1.json": None,
        "notes.txt": False,
        "picture.png": False,
    }
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "local_1").mkdir()  # the folder of a session of Cowork
    to_import, ignored = formats.sort_files(tmp_path)
    assert {str(file.relative_to(tmp_path)) for file in to_import} == {
        name for name in names if names[name]
    }
    assert {file.name for file in ignored} == {"notes.txt", "picture.png"}
    assert formats.sort_sessions("claude-code", [tmp_path]) == (2, ignored)
    (tmp_path / "notes.txt").write_text("x" * 1500)
    said = formats.describe_ignored(ignored)
    assert said == "2 other files, 1.5 kB: 1 .txt, 1 .png"
    assert formats.describe_ignored([]) == ""
