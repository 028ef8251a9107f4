"""Summaries without a model, of segments and of nodes."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.model import events
from memtui.model.calendar import TocLevel
from memtui.model.events import Event, EventRole, EventType
from memtui.model.nodes import BULLET_CHARS, BULLET_COUNTS, FACTS, BulletKind
from memtui.model.sessions import Segment
from memtui.summarize import extractive, rollup
from memtui.summarize.summarizer import ExtractiveSummarizer
from memtui.text import prose, titles

START = datetime(2024, 1, 15, 9, tzinfo=UTC)
TICKED = re.compile(r"`[^`]*`")
DEBRIS = re.compile(r"\*\*|^#|^[-*|>] |```|</?[a-z-]+>|\[Request interrupted|API Error")


def make(kind: EventType, text: str, at: int, **metadata: str) -> Event:
    return events.make(
        agent="claude-code",
        session_id="s1",
        timestamp=START + timedelta(minutes=at),
        event_type=kind,
        text=text,
        source_key=str(at),
        metadata=metadata,
    )


def talk(*turns: tuple[str, str]) -> list[Event]:
    """Events of (who, text): user, assistant, tool or broken (a tool that failed)."""
    kinds = {"user": EventType.USER_MESSAGE, "assistant": EventType.ASSISTANT_MESSAGE}
    run = []
    for at, (who, text) in enumerate(turns):
        kind = kinds.get(who, EventType.TOOL_RESULT)
        metadata = {} if who in kinds else {"tool_name": text.partition(":")[0]}
        if who == "broken":
            metadata["is_error"] = "true"
        if text.startswith("Edit: "):
            metadata["tool_input"] = EDIT
        run.append(make(kind, text, at, **metadata))
    return run


EDIT = json.dumps(
    {"file_path": "/a/router.py", "old_string": "a", "new_string": "b\nc"}
)
SESSION = talk(
    ("user", "Hi! Please fix the redirect: the login page stays blank after it."),
    ("assistant", "You're absolutely right! Let me check the router."),
    ("tool", "Read: /home/me/app/src/router.py\ndef redirect(): ..."),
    ("broken", "Bash: pytest tests/router\n== 1 failed in 0.1s =="),
    ("tool", "Edit: /a/router.py\nupdated"),
    ("tool", "Bash: pytest tests/unit\n== 12 passed in 0.1s =="),
    (
        "assistant",
        "Perfect!\n\n## Summary\n\n**Root cause:** the redirect dropped the session "
        "cookie, because it was set only for another domain."
        "\n\n```python\nx = 1\n```\n\n"
        "- I decided to set the cookie once, in `src/router.py`.\n"
        "- The OAuth callback still fails on Safari.\n\nLet me know if you need more!",
    ),
)


def bullets(run: list[Event]) -> list[str]:
    return [claim.text for claim in extractive.summarize_segment(run).bullets]


def test_the_title_is_what_was_asked() -> None:
    assert (
        extractive.summarize_segment(SESSION).title
        == "Fix the redirect: the login page stays blank after it"
    )


def test_a_summary_is_the_card_of_the_segment() -> None:
    found = extractive.summarize_segment(SESSION).bullets
    assert [(one.kind, one.text, one.refs) for one in found] == [
        (
            BulletKind.ASKED,
            "Please fix the redirect: the login page stays blank after it.",
            (0,),
        ),
        (
            BulletKind.OUTCOME,
            "Root cause: the redirect dropped the session cookie, because it was set"
            " only for another domain.",
            (6,),
        ),
        (
            BulletKind.DECISION,
            "I decided to set the cookie once, in `src/router.py`.",
            (6,),
        ),
        (BulletKind.LEFT_OPEN, "The OAuth callback still fails on Safari.", (6,)),
        (BulletKind.TESTS, "1 failed → 12 passed", (3, 5)),
        (BulletKind.FILES, "router.py +2 −1", (4,)),
        (BulletKind.STATE, "open", (6,)),
    ]


def test_a_commit_names_work_that_nobody_described() -> None:
    run = talk(
        ("user", "commit"),
        ("tool", "Bash: git commit -m x\n[main 1a2b3c4] fix: keep the session cookie"),
    )
    summary = extractive.summarize_segment(run)
    assert summary.title == "Keep the session cookie"
    assert (BulletKind.COMMIT, "fix: keep the session cookie") in [
        (one.kind, one.text) for one in summary.bullets
    ]


@pytest.mark.parametrize(
    ("request_text", "title"),
    [
        (
            "Implement the following plan:\n\n# Plan: Make `evaluate` the default "
            "CLI subcommand\n\n## Context\n\nIt is the only one.",
            "Make `evaluate` the default CLI subcommand",
        ),
        ("can you please add retries to the uploader?", "Add retries to the uploader"),
        ("ok, now rename the invoices table", "Rename the invoices table"),
        ("帮我修复登录页面的错误", "帮我修复登录页面的错误"),
        (
            "Bitte behebe den Fehler beim Hochladen großer Dateien.",
            "Behebe den Fehler beim Hochladen großer Dateien",
        ),
    ],
)
def test_a_title_is_the_request_without_polite_phrases(
    request_text: str, title: str
) -> None:
    assert extractive.summarize_segment(talk(("user", request_text))).title == title


@pytest.mark.parametrize("poor", ["continue", "yes", "commit", "go on", "ok thanks!"])
def test_a_vague_request_is_replaced_by_the_work_done(poor: str) -> None:
    run = talk(
        ("user", poor),
        ("assistant", "The invoice totals are now rounded once, in the ledger."),
    )
    assert extractive.summarize_segment(run).title.startswith(
        "The invoice totals are now rounded"
    )


def test_a_long_title_is_cut_at_a_word() -> None:
    request = "Rewrite the " + "extraordinarily configurable " * 10 + "exporter"
    title = extractive.summarize_segment(talk(("user", request))).title
    assert len(title) <= titles.TITLE_CHARS
    assert title.endswith(("extraordinarily…", "configurable…"))


def test_injected_text_is_never_quoted() -> None:
    shown = "<system-reminder>The todo list is empty now.</system-reminder>"
    caveat = make(EventType.USER_MESSAGE, "Caveat: the platypus said so.", 9)
    run = [
        *talk(("user", f"Why does the cache expire too early? {shown}")),
        events.make(
            agent="claude-code",
            session_id="s1",
            timestamp=START + timedelta(minutes=1),
            event_type=EventType.USER_MESSAGE,
            role=EventRole.SYSTEM,
            text="The zebra was summarized before.",
            source_key="z",
        ),
        caveat,
        make(EventType.USER_MESSAGE, "[Request interrupted by user]", 10),
        make(EventType.ASSISTANT_MESSAGE, "API Error: 500 overloaded", 11),
    ]
    summary = extractive.summarize_segment(run)
    everything = " ".join([summary.title, *bullets(run)])
    for word in ("todo", "zebra", "platypus", "interrupted", "API Error"):
        assert word not in everything


def test_text_cut_twice_has_one_ellipsis() -> None:
    for limit in range(2, 40):
        assert "……" not in prose.shorten(
            "Tree view for the context tab…; agents", limit
        )


def test_code_tables_and_diagrams_are_left_out() -> None:
    text = (
        "Intro stands.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n├── src\n└── tests\n\n"
        "```\nhidden()\n```\n\nconst x = {\n\nOutro stands."
    )
    assert [one.text for one in prose.message_sentences(text)] == [
        "Intro stands.",
        "Outro stands.",
    ]


def test_wrapped_lines_are_joined_and_list_items_are_not() -> None:
    text = (
        "The first line of a paragraph that was wrapped by an editor\ngoes on here. "
        "Then e.g. this.\n- one\n- [x] two **bold** `a*b*c`"
    )
    assert [one.text for one in prose.message_sentences(text)] == [
        "The first line of a paragraph that was wrapped by an editor goes on here.",
        "Then e.g. this.",
        "one",
        "two bold `a*b*c`",
    ]


@pytest.mark.parametrize("text", ["ok", "?", "…", "```", "{}", "<a>", "修"])
def test_almost_empty_segments_get_a_title_and_a_bullet(text: str) -> None:
    summary = extractive.summarize_segment(talk(("user", text)))
    assert summary.title
    assert summary.bullets[0].text


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["user", "assistant", "tool", "broken"]),
            st.text(min_size=1, max_size=400),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_any_conversation_can_be_summarized(turns: list[tuple[str, str]]) -> None:
    try:
        run = talk(*turns)
    except events.EventRefused:
        return
    summary = extractive.summarize_segment(run)
    statements = [one for one in summary.bullets if one.kind not in FACTS]
    assert len(statements) <= BULLET_COUNTS[TocLevel.SEGMENT][1]
    assert len(summary.title) <= titles.TITLE_CHARS
    for claim in summary.bullets:
        assert claim.text
        assert len(claim.text) <= BULLET_CHARS
        assert claim.refs
        assert all(0 <= ref < len(run) for ref in claim.refs)
    assert summary == extractive.summarize_segment(run)


def test_a_message_of_emoji_alone_is_the_title() -> None:
    found = extractive.summarize_segment([make(EventType.USER_MESSAGE, "🙂🙂", 0)])
    assert found.title == "🙂🙂"


def test_the_extractive_summarizer_implements_the_protocol() -> None:
    summarizer = ExtractiveSummarizer()
    assert summarizer.identity == "extractive-12"
    segment = Segment("x", tuple(SESSION))
    assert summarizer.summarize_segment(segment) == extractive.summarize_segment(
        SESSION
    )
    assert summarizer.summarize_children(TocLevel.DAY, []) == rollup.summarize_children(
        TocLevel.DAY, []
    )


SHARED = Path(__file__).parents[3] / "shared" / "data" / "claude_code"


def spoken(path: Path) -> Iterator[str]:
    """The texts of a transcript."""
    for line in path.read_text("utf-8").splitlines():
        record = json.loads(line) if line.startswith("{") else {}
        message = record.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else [content]:
            text = block.get("text") if isinstance(block, dict) else block
            if isinstance(text, str):
                yield text


@pytest.mark.skipif(not SHARED.is_dir(), reason="the real transcripts are not here")
def test_no_real_message_leaves_markup_in_a_sentence() -> None:
    found = [
        sentence.text
        for path in sorted(SHARED.glob("*/*.jsonl"))
        for text in spoken(path)
        for sentence in prose.message_sentences(text)
    ]
    assert len(found) > 1000
    assert [text for text in found if DEBRIS.search(TICKED.sub("", text))] == []


@pytest.mark.parametrize("part", ["e.g. A ", "1s ", "<a ", "```\n", "[x](", "a\n", "("])
def test_an_absurd_message_does_not_hang(part: str) -> None:
    run = talk(("user", "Fix the parser."), ("assistant", part * 100_000))
    extractive.summarize_segment(run)
