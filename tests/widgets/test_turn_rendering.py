"""Turns of a conversation as text, above all edits."""

import json
from dataclasses import replace

import pytest
from textual.content import Content

from memtui.model.events import Event, EventRole
from memtui.tui.widgets.turn_rendering import (
    count_changes,
    mark_words,
    render_diff,
    render_markdown,
)
from tests.message_factory import make_message


def edit(given: str) -> Event:
    event = make_message("Edited.", role=EventRole.TOOL, tool="Edit")
    return replace(event, metadata={"tool_name": "Edit", "tool_input": given})


def of(old: str, new: str) -> Event:
    return edit(json.dumps({"old_string": old, "new_string": new}))


def test_lines_that_stay_are_context_and_are_not_counted() -> None:
    event = of("dist\nbuild", "dist\nbuild\n.env")
    changed = render_diff(event)
    assert changed is not None
    assert changed.plain == "  dist\n  build\n+ .env"
    assert count_changes(event) == "+1 −0"


def test_very_long_edits_are_shown_without_comparing_their_lines() -> None:
    many = "\n".join(map(str, range(1000)))
    assert count_changes(of(many, many)) == "+1000 −1000"


@pytest.mark.parametrize("given", ['{"old_string":' + "[" * 20_000, '{"old_string"'])
def test_a_call_that_cannot_be_read_has_no_edits(given: str) -> None:
    assert render_diff(edit(given)) is None
    assert count_changes(edit(given)) == ""


def test_every_place_of_some_words_is_marked() -> None:
    marked = mark_words(Content("Grain, grain and GRAIN."), "grain", "bold")
    assert [(span.start, span.end) for span in marked.spans] == [
        (0, 5),
        (7, 12),
        (17, 22),
    ]


def test_what_is_stressed_is_bold_and_stars_within_code_stress_nothing() -> None:
    said = render_markdown("Pass `**one` and `**other`, **`never`** both, **ever**.")
    bold = {
        said.plain[one.start : one.end] for one in said.spans if one.style == "bold"
    }
    assert bold == {"**`never`**", "**ever**"}
