import json

import pytest

from memtui.model.tool_calls import FileEdit, parse_edits, tool_verb


@pytest.mark.parametrize(
    ("name", "verb"),
    [
        ("Edit", "Edited"),
        ("MultiEdit", "Edited"),
        ("NotebookEdit", "Edited"),
        ("apply_patch", "Edited"),
        ("str_replace_based_edit_tool", "Edited"),
        ("replace", "Edited"),
        ("replace_in_file", "Edited"),
        ("replace_file_content", "Edited"),
        ("multi_replace_string_in_file", "Edited"),
        ("insert_edit_into_file", "Edited"),
        ("search_replace", "Edited"),
        ("apply_diff", "Edited"),
        ("Write", "Wrote"),
        ("write_to_file", "Wrote"),
        ("create_file", "Wrote"),
        ("Bash", "Ran"),
        ("PowerShell", "Ran"),
        ("run_terminal_cmd", "Ran"),
        ("run_in_terminal", "Ran"),
        ("shell_command", "Ran"),
        ("read_many_files", "Read"),
        ("view_file", "Read"),
        ("grep_search", "Searched for"),
        ("google_web_search", "Searched for"),
        ("mcp__shop__edit_record", "Edited"),
        ("credit", ""),
        ("TodoWrite", ""),
        ("", ""),
    ],
)
def test_the_name_of_a_tool_says_what_it_does(name: str, verb: str) -> None:
    assert tool_verb(name) == verb


PATCH = """*** Begin Patch
*** Update File: a.py
@@
 same
-x = 1
+x = 2
*** Add File: b.py
+y = 3
*** End Patch"""


@pytest.mark.parametrize(
    ("name", "given", "edits"),
    [
        pytest.param(
            "Edit",
            {"file_path": "a.py", "old_string": "x", "new_string": "y"},
            [FileEdit("a.py", "x", "y")],
            id="Claude Code",
        ),
        pytest.param(
            "MultiEdit",
            {
                "file_path": "a.py",
                "edits": [
                    {"old_string": "1", "new_string": "2"},
                    {"old_string": "3", "new_string": "4"},
                ],
            },
            [FileEdit("a.py", "1", "2"), FileEdit("a.py", "3", "4")],
            id="several edits",
        ),
        pytest.param(
            "edit",
            {"filePath": "a.py", "oldString": "x", "newString": "y"},
            [FileEdit("a.py", "x", "y")],
            id="OpenCode",
        ),
        pytest.param(
            "write",
            {"filePath": "a.py", "content": "y"},
            [FileEdit("a.py", "", "y")],
            id="a whole file",
        ),
        pytest.param(
            "edit",
            {"path": "a.py", "old_str": "x", "new_str": "y"},
            [FileEdit("a.py", "x", "y")],
            id="Copilot",
        ),
        pytest.param(
            "replace_file_content",
            {
                "TargetFile": "a.py",
                "ReplacementChunks": [{"TargetContent": "x", "ReplacementContent": ""}],
            },
            [FileEdit("a.py", "x", "")],
            id="Antigravity",
        ),
        pytest.param(
            "edit", {"file_path": "a.py"}, [FileEdit("a.py")], id="without its text"
        ),
        pytest.param(
            "str_replace_editor", {"command": "view", "path": "a.py"}, [], id="a view"
        ),
        pytest.param(
            "shell",
            {"command": ["apply_patch", PATCH]},
            [FileEdit("a.py", "x = 1", "x = 2"), FileEdit("b.py", "", "y = 3")],
            id="a patch in a command",
        ),
        pytest.param("Bash", {"command": "ls", "path": "a.py"}, [], id="no edit"),
        pytest.param("edit", ["a.py"], [], id="a list"),
    ],
)
def test_edits_are_read_from_the_inputs_of_all_agents(
    name: str, given: object, edits: list[FileEdit]
) -> None:
    assert parse_edits(name, json.dumps(given)) == edits


def test_a_patch_is_read_from_damaged_json() -> None:
    damaged = json.dumps({"input": PATCH})[:-12]
    assert [edit.path for edit in parse_edits("apply_patch", damaged)] == [
        "a.py",
        "b.py",
    ]


def test_an_edit_in_damaged_json_is_unknown() -> None:
    assert parse_edits("Edit", '{"file_path": "a.p') == []


def test_a_deeply_nested_patch_is_read() -> None:
    nested = "[" * 900 + json.dumps(PATCH) + "]" * 900
    edits = parse_edits("apply_patch", nested)
    assert [edit.path for edit in edits] == ["a.py", "b.py"]
