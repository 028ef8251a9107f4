"""Turns of a conversation as text, above all edits."""

import json
from dataclasses import replace

import pytest
from textual.content import Content

from memtui.model.events import Event, EventRole
from memtui.tui.widgets import markdown
from memtui.tui.widgets.turn_rendering import (
    count_changes,
    mark_words,
    render_diff,
)
from tests.message_factory import make_message


def edit(given: str) -> Event:
    event = make_message("Edited.", role=EventRole.TOOL, tool="Edit")
    return replace(event, metadata={"tool_name": "Edit", "tool_input": given})


def replacement(old: str, new: str) -> Event:
    return edit(json.dumps({"old_string": old, "new_string": new}))


def test_unchanged_lines_are_context() -> None:
    event = replacement("dist\nbuild", "dist\nbuild\n.env")
    changed = render_diff(event)
    assert changed is not None
    assert changed.plain == "  dist\n  build\n+ .env"
    assert count_changes(event) == "+1 −0"


def test_very_long_edits_are_not_compared() -> None:
    many = "\n".join(map(str, range(1000)))
    assert count_changes(replacement(many, many)) == "+1000 −1000"


@pytest.mark.parametrize("given", ['{"old_string":' + "[" * 20_000, '{"old_string"'])
def test_unreadable_call_has_no_edits(given: str) -> None:
    assert render_diff(edit(given)) is None
    assert count_changes(edit(given)) == ""


def test_all_occurrences_are_marked() -> None:
    marked = mark_words(Content("Grain, grain and GRAIN."), "grain", "bold")
    assert [(span.start, span.end) for span in marked.spans] == [
        (0, 5),
        (7, 12),
        (17, 22),
    ]


def test_blocks_of_code_are_listed_as_they_are() -> None:
    text = "Try:\n\n```sh\n  make\tall\n```\nor\n~~~\nmake one\n~~~\n````\n```\nopen"
    assert markdown.list_code(text) == ["  make\tall", "make one", "```\nopen"]
    assert markdown.list_code("no code") == []


def test_bold_markdown_outside_code() -> None:
    said = markdown.style("Pass `**one` and `**other`, **`never`** both, **ever**.")
    bold = {
        said.plain[span.start : span.end] for span in said.spans if span.style == "bold"
    }
    assert bold == {"**`never`**", "**ever**"}
