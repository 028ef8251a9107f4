"""Importing real transcripts, if there are any on this machine."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memtui.model.nodes import TocNode
from memtui.services import browse
from memtui.services.conversation import expand
from memtui.store import database, versions
from memtui.text import analyzer
from memtui.workspace import Workspace
from tests.tables import EventRow

NOT_THE_PERSON = (
    "Summarize this part of a conversation in",
    "<command-",
    "<local-command-",
    "<bash-",
    "<task-notification",
    "Caveat: The messages below were generated",
    "[Request interrupted by user",
    "This session is being continued from a previous conversation",
)


@pytest.fixture
def transcripts(shared: Path) -> Path:
    return shared / "claude_code"


@pytest.fixture
def imported_workspace(workspace: Workspace, transcripts: Path) -> Workspace:
    """A workspace that has imported all of them."""
    for _ in workspace.pipeline.importer().run([transcripts]):
        pass
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    return workspace


def records(folder: Path) -> Iterator[dict[str, Any]]:
    for file in sorted(folder.rglob("*.jsonl")):
        for line in file.read_text(errors="replace").splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict):
                yield record
                nested = record.get("data")
                if isinstance(nested, dict) and nested.get("type") == "agent_progress":
                    yield {"sessionId": record["sessionId"], **nested["message"]}


def message_text(record: dict[str, Any]) -> str:
    """Return the text that the user or the assistant wrote in a record."""
    message = record.get("message")
    if record.get("type") not in ("user", "assistant") or not isinstance(message, dict):
        return ""
    if record.get("isMeta") or record.get("isCompactSummary"):
        return ""
    content = message.get("content")
    blocks = [content] if isinstance(content, str) else content or []
    texts = [b if isinstance(b, str) else b.get("text", "") for b in blocks]
    text = "\n".join(text for text in texts if text.strip())
    is_person = record["type"] == "user"
    return "" if is_person and text.startswith(NOT_THE_PERSON) else text


def letters(text: str) -> str:
    return "".join(c for c in text if c.isalnum())


def test_every_message_is_in_the_store_once(
    imported_workspace: Workspace, transcripts: Path
) -> None:
    expected: Counter[tuple[str, str, str]] = Counter()
    seen = set()
    for record in records(transcripts):
        key = record.get("sessionId"), record.get("uuid"), record.get("timestamp")
        if (text := letters(message_text(record))) and record.get("timestamp"):
            if key not in seen:
                expected[record["sessionId"], record["type"], text] += 1
            seen.add(key)
    for record in records(transcripts):
        typed = str(record.get("content", ""))
        # Most queued prompts are recorded again when they are delivered.
        if record.get("operation") == "enqueue" and not typed.startswith(("{", "/")):
            key = record["sessionId"], "user", letters(typed)
            expected[key] = max(expected[key], 1)
    assert sum(expected.values()) > 700

    got: Counter[tuple[str, str, str]] = Counter()
    with database.connection():
        rows = EventRow.select().where(EventRow.type.endswith("_message"))
        for row in rows:
            if row.role in ("user", "assistant"):
                text = row.text
                while (start := text.rfind("[image: ")) >= 0:
                    text = text[:start] + text[text.index("]", start) + 1 :]
                kind = row.type.removesuffix("_message")
                got[row.session.name, kind, letters(text)] += 1
    assert got == expected


def nodes() -> Iterator[TocNode]:
    waiting = [line.node_id for line in browse.list_children()]
    while waiting:
        node = browse.get_node(waiting.pop())
        assert node is not None
        yield node
        waiting += [line.node_id for line in browse.list_children(node.node_id)]


def test_every_grip_of_every_level_expands_to_its_excerpt(
    imported_workspace: Workspace,
) -> None:
    levels: Counter[str] = Counter()
    for node in nodes():
        assert node.headline
        for bullet in node.bullets:
            assert bullet.text
            levels[node.level] += bullet.has_support
            for grip_id in bullet.grip_ids:
                expansion = expand(grip_id)
                assert expansion.grip is not None
                texts = [event.text for event in expansion.excerpt_events]
                assert any(expansion.grip.excerpt in text for text in texts)
                others = expansion.events_before + expansion.events_after
                sessions = {
                    event.session_id for event in expansion.excerpt_events + others
                }
                assert len(sessions) == 1
    assert set(levels) == {"year", "month", "week", "day", "segment"}
    assert all(levels.values())


def test_a_parents_bullets_and_keywords_come_from_its_children(
    imported_workspace: Workspace,
) -> None:
    by_id = {node.node_id: node for node in nodes()}
    for node in by_id.values():
        if not node.child_node_ids:
            continue
        children = [by_id[name] for name in node.child_node_ids]
        grip_ids = {name for bullet in node.bullets for name in bullet.grip_ids}
        with database.connection():
            grips = versions.get_grips(grip_ids)
        assert grips.keys() == grip_ids
        assert all(grip.toc_node_id in by_id for grip in grips.values())
        assert set(node.keyword_texts) <= {
            word for child in children for word in child.keyword_texts
        }
        assert node.counts.segments == sum(child.counts.segments for child in children)


def test_words_of_every_session_are_no_keywords(
    imported_workspace: Workspace,
) -> None:
    with database.connection():
        metadata = [m for (m,) in EventRow.select(EventRow.metadata).tuples() if m]
    tools = {analyzer.fold(json.loads(line).get("tool_name", "")) for line in metadata}
    assert {"taskupdate", "glob"} <= tools
    for node in nodes():
        for keyword in node.keywords:
            assert analyzer.fold(keyword.word) not in tools
            assert "'" not in keyword.word
            assert "’" not in keyword.word


def test_hooks_and_transcript_of_one_session_are_one_session(
    workspace: Workspace, shared: Path
) -> None:
    name = "8664c04e-75fa-497d-ac11-57d69997e3ec"
    stream = shared / "hook_sessions" / f"attio-mcp-server__{name}.jsonl"
    new = workspace.paths.spool / "new"
    new.mkdir()
    for number, line in enumerate(stream.read_text().splitlines()):
        record = json.loads(line)
        payload = {**record["payload"], "timestamp": record["received_at"]}
        (new / f"{number:06}.json").write_text(json.dumps(payload))
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    with database.connection():
        by_hooks = EventRow.select().where(EventRow.route == "hook").count()
    for _ in workspace.pipeline.importer().run(
        [shared / "claude_code" / "attio-mcp-server"]
    ):
        pass
    with database.connection():
        prompts = [
            row.text
            for row in EventRow.select().where(
                EventRow.type == "user_message", EventRow.role == "user"
            )
            if row.session.name == name
        ]
    assert by_hooks > 30
    assert len(prompts) == len(set(prompts)) == 3
