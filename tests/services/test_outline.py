"""The outline of a session: what it lists, and where each entry is."""

from dataclasses import replace

import pytest

from memtui.errors import MemtuiError
from memtui.model.events import Event, EventRole
from memtui.services.conversation import ConversationKey, get_info
from memtui.services.outline import EntryKind, Outline, read_outline
from memtui.workspace import Workspace
from tests.message_factory import make_message, store_messages

KEY = ConversationKey("claude-code", "s1")
ASSISTANT, TOOL = EventRole.ASSISTANT, EventRole.TOOL


def call(text: str, at_s: float, **metadata: str) -> Event:
    event = make_message(text, at_s, role=TOOL, tool="Bash")
    return replace(event, metadata={**event.metadata, **metadata})


def list_entries(outline: Outline) -> list[tuple[str, str]]:
    return [(entry.kind.value, entry.text) for entry in outline.entries]


def test_outline_lists_prompts_failures_commits_and_subagents(
    workspace: Workspace,
) -> None:
    task = "Look for walruses everywhere"
    store_messages(
        make_message("# Plan\nCount the walruses.", 0),
        call("Bash: make test\nwalrus error", 10, call_end="failed"),
        call("Bash: make test\nfine", 20, call_end="ok"),
        make_message(task, 30, subagent="helper"),
        make_message("None.", 40, role=ASSISTANT, subagent="helper"),
        call("Task: Look\nNone.", 41, tool_input=f'{{"prompt": "{task}"}}'),
        make_message("Unknown to all calls", 50, subagent="lost"),
        call(
            "Bash: git commit\n[main 1a2b3c4] Count walruses",
            60,
            tool_input='{"command": "git commit -m \'Count walruses\'"}',
            call_end="ok",
        ),
        make_message("[b]Done?[/b]", 70),
        make_message("Yes.", 80, role=ASSISTANT),
    )
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    outline = read_outline(KEY)
    assert list_entries(outline) == [
        ("prompt", "# Plan Count the walruses."),
        ("failed call", "Bash: make test"),
        ("subagent", "Task: Look"),
        ("subagent", "lost"),
        ("commit", "Count walruses"),
        ("prompt", "[b]Done?[/b]"),
    ]
    positions = get_info(KEY).positions
    ranks = [positions.index(entry.position) for entry in outline.entries]
    assert ranks == [0, 1, 3, 3, 4, 5]
    assert outline.cited and set(outline.cited) <= set(positions)
    assert outline.card.bullets
    helper = read_outline(replace(KEY, subagent="helper"))
    assert list_entries(helper) == [(EntryKind.PROMPT, task)]
    assert not helper.cited


def test_damaged_calls_are_no_failures(workspace: Workspace) -> None:
    store_messages(make_message("Hello.", 0), call("Bash: ls", 10, call_end="{"))
    assert list_entries(read_outline(KEY)) == [("prompt", "Hello.")]


def test_outline_of_a_deleted_session_is_an_error(workspace: Workspace) -> None:
    with pytest.raises(MemtuiError, match="no longer stored"):
        read_outline(KEY)
