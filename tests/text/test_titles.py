"""The line that stands for a session to which its agent gave no title."""

import pytest

from memtui.text import titles


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (
            "Implement the following plan:\n\n# Plan: Tree view of the list\n\n## Why",
            "Tree view of the list",
        ),
        (
            "Implement the following plan:\n\n# Keep the mill wheel turning\n\n## Why",
            "Keep the mill wheel turning",
        ),
        (
            "Here is the task:\n- grind the grain without heating it\n- sweep",
            "Grind the grain without heating it",
        ),
        (
            "hello! can you explain how the mill race works?",
            "Explain how the mill race works",
        ),
        (
            "this should be hidden in mill mode :\n\n[image: image/png, 28 kB]",
            "this should be hidden in mill mode",
        ),
        ("List the files", "List the files"),
        ("continue", "continue"),
        ("<command-name>/clear</command-name>", "/clear"),
        ("This session is being continued from a previous conversation.", ""),
        ("[image: image/png, 28 kB]", ""),
        ("", ""),
    ],
)
def test_it_says_what_was_asked_for(said: str, line: str) -> None:
    assert titles.session_title(said) == line


def test_it_is_one_line_of_bounded_length() -> None:
    line = titles.session_title("{" + "grain mill " * 5_000 + "\nsecond")
    assert "\n" not in line and len(line) <= titles.SESSION_TITLE_CHARS


@pytest.mark.parametrize("line", ["continue", "ok", "hi there!", "/clear", "Step 1"])
def test_a_prod_a_greeting_or_a_bare_command_tells_nothing(line: str) -> None:
    assert not titles.is_informative(line)


@pytest.mark.parametrize(
    "line", ["List files", "/review the mill race", "修复导入错误"]
)
def test_what_names_anything_tells(line: str) -> None:
    assert titles.is_informative(line)
