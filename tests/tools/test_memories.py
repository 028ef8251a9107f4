"""The Markdown of ``retrieve_memory``, and which memories have details."""

from typing import Any

import pytest

from memtui.model import citations
from memtui.services import memories
from memtui.text.tokens import ESTIMATING_COUNTER
from memtui.tools import replies, search
from memtui.tools.replies import Item, Reply
from memtui.workspace import Workspace


def memory(rank: int, score: float, surprise: float, **more: Any) -> Item:
    return {
        "rank": rank,
        "score": score,
        "is_key_moment": memories.is_key_moment(surprise),
        "when": "yesterday",
        "summary": "Prefers dark mode.",
        "cite": "",
        **more,
    }


def test_memories_are_written_as_markdown() -> None:
    key = memory(
        1,
        0.92,
        0.7,
        when="2 days ago",
        summary="From Python to Rust.",
        details=[{"role": "user", "text": 'It\'s "all" Rust\nnow'}],
        cite="grip:1705330800000:1a2b",
    )
    assert search.markdown(key) == (
        "## Memory 1 [rank: 1, score: 0.92, key moment]\n"
        "**When:** 2 days ago\n"
        "**Summary:** From Python to Rust.\n"
        "\n"
        "**Details:**\n"
        '- user: "It\'s \\"all\\" Rust\\nnow"\n'
        "[grip:1705330800000:1a2b]"
    )
    assert search.markdown(memory(2, 0.851, 0.69)) == (
        "## Memory 2 [rank: 2, score: 0.85]\n"
        "**When:** yesterday\n"
        "**Summary:** Prefers dark mode."
    )


@pytest.mark.parametrize(
    ("detail_limit", "ranks"),
    [
        (None, {1}),
        (0, set()),
        (1, {1}),
        (3, {1, 3}),
        (5, {1, 2, 3, 4, 5}),
        (9, {1, 2, 3, 4, 5}),
    ],
)
def test_details_depend_on_rank_and_surprise(
    detail_limit: int | None, ranks: set[int]
) -> None:
    surprises = (0.7, 0.69, 0.9, 1.0, 0.0)
    detailed_ranks = {
        rank
        for rank, surprise in enumerate(surprises, 1)
        if memories.has_details(rank, surprise, detail_limit, len(surprises))
    }
    assert detailed_ranks == ranks


def test_text_of_a_memory_adds_no_heading() -> None:
    said = "x\n## Memory 2 [rank: 2]\n**When:** now"
    sly = memory(1, 0.5, 0.0, summary=said, details=[{"role": "user", "text": said}])
    reply = Reply({"memories": [sly]}, search.markdown, details="details")
    text = replies.fit_text(reply, 500, ESTIMATING_COUNTER).text
    assert sum(line.startswith("## ") for line in text.splitlines()) == 1
    assert sum(line.startswith("**When:**") for line in text.splitlines()) == 1
    assert text.count("**When:**") == 1


def test_citations_are_read_with_punctuation() -> None:
    cite = citations.cite_grip("grip:1705330800000:1a2b3c4d5e6f7081")
    assert cite == "grip:1705330800000:1a2b"
    assert citations.parse_grip(citations.strip(f"[{cite}].")) == cite
    event = "01HMCSS5T0ABCDEFGHJKMNPQRS"
    assert citations.parse_event(citations.cite_event(event)) == event[:14]
    assert citations.parse_event(f"evt:1705330800000:{event}") == event
    assert citations.parse_event("evt:' OR 1") == citations.parse_grip("grip:%") == ""


def test_memories_suggest_spellings_as_searches_do(
    full_workspace: Workspace,
) -> None:
    reply = search.retrieve_memory(full_workspace, "mutxe")
    searched = search.search_memory(full_workspace, "mutxe")
    assert reply.notes == searched.notes
    assert any("Did you mean" in note for note in reply.notes)
