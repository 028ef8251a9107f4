import os
import re
import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.capture.formats import aider
from memtui.capture.formats.base import (
    Cursor,
    InvalidRecord,
    ParsedItem,
    PendingRecord,
    SkippedRecord,
)
from memtui.model.events import Event, EventRole, EventType
from memtui.model.sessions import SessionMetadata
from memtui.summarize.facts import read_facts

NOW = datetime(2027, 1, 1, tzinfo=UTC)
WRITTEN = datetime(2026, 11, 20, tzinfo=UTC)
"""The time at which the histories of the tests were last written."""

SOON = WRITTEN + timedelta(seconds=1)

HEADER = "# aider chat started at 2025-10-23 17:04:56\n\n"
LAUNCH = """> Aider v0.86.1  
> Main model: gemini/gemini-2.5-pro with diff-fenced edit format  
> Git repo: .git with 360 files  
> Repo-map: using 4096 tokens, auto refresh  
"""
TALK = """
#### Why does the cart  
####   
#### lose items?  

The cart is `None`.

#### A heading of the answer

> a quotation
Fixed in `cart.py`:

```python
#### no prompt
x = 1
```

> Tokens: 1.2k sent, 300 received. Cost: $0.01 message, $0.02 session.  
> Applied edit to cart.py  
> Commit 1a2b3c4 fix: keep the cart  

#### /run pytest -q  
> ..F  
>  
> https://example.org  

#### /ask is it done?  

Not yet.

"""


def write_file(folder: Path, text: str | bytes) -> Path:
    file = folder / "shop" / ".aider.chat.history.md"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.utime(file, (WRITTEN.timestamp(),) * 2)
    return file


def read_items(
    file: Path, start: Cursor | None = None, now: datetime = NOW
) -> list[ParsedItem]:
    return list(aider.FORMAT.read(file, start, agent="x", now=now))


def read_events(folder: Path, text: str) -> list[Event]:
    return [r for r in read_items(write_file(folder, text)) if isinstance(r, Event)]


def last_cursor(items: list[ParsedItem]) -> Cursor:
    return next(r for r in reversed(items) if isinstance(r, Cursor))


def test_a_history_is_read_in_its_order(tmp_path: Path) -> None:
    items = read_events(tmp_path, HEADER + LAUNCH + TALK)
    answer = TALK.split("lose items?  \n\n")[1].split("\n\n> Tokens")[0]
    assert [(e.event_type, e.role, e.text) for e in items] == [
        (
            EventType.USER_MESSAGE,
            EventRole.USER,
            "Why does the cart\n\nlose items?",
        ),
        (EventType.ASSISTANT_MESSAGE, EventRole.ASSISTANT, answer),
        (
            EventType.TOOL_RESULT,
            EventRole.TOOL,
            "edit: cart.py\nApplied edit to cart.py",
        ),
        (
            EventType.TOOL_RESULT,
            EventRole.TOOL,
            "aider\nCommit 1a2b3c4 fix: keep the cart",
        ),
        (EventType.USER_MESSAGE, EventRole.SYSTEM, "/run pytest -q"),
        (
            EventType.TOOL_RESULT,
            EventRole.TOOL,
            "aider: /run pytest -q\n..F\nhttps://example.org",
        ),
        (EventType.USER_MESSAGE, EventRole.USER, "/ask is it done?"),
        (EventType.ASSISTANT_MESSAGE, EventRole.ASSISTANT, "Not yet."),
    ]


def test_further_lines_of_the_first_command_are_no_answer(tmp_path: Path) -> None:
    launch = "> aider --message Fix the cart.\nIt loses items.\n\nAdd a test.  \n\n"
    items = read_events(
        tmp_path, HEADER + launch + "#### Fix the cart.  \n\nFixed it.\n\n"
    )
    texts = [event.text for event in items if event.is_message]
    assert texts == ["Fix the cart.", "Fixed it."]


def test_edit_and_commit_are_in_the_summary(tmp_path: Path) -> None:
    facts = read_facts(read_events(tmp_path, HEADER + LAUNCH + TALK))
    assert [change.path for change in facts.files] == ["cart.py"]
    (commit,) = facts.commits
    assert (commit.subject, commit.hash) == ("fix: keep the cart", "1a2b3c4")


def test_a_session_is_known_by_its_header_and_folder(tmp_path: Path) -> None:
    file = write_file(tmp_path, HEADER + LAUNCH + TALK)
    items = read_items(file)
    facts = [r for r in items if isinstance(r, SessionMetadata)]
    at = datetime(2025, 10, 23, 17, 4, 56).astimezone()
    assert (
        facts[0]
        == facts[-1]
        == SessionMetadata(
            "aider",
            "2025-10-23T17-04-56-shop",
            cwd=str(file.parent),
            model="gemini/gemini-2.5-pro",
            at=at,
        )
    )
    first = next(i for i, r in enumerate(items) if isinstance(r, Event))
    assert isinstance(items[first - 1], SessionMetadata)


def test_events_keep_their_order_by_the_millisecond(tmp_path: Path) -> None:
    items = read_events(tmp_path, HEADER + TALK)
    begun = datetime(2025, 10, 23, 17, 4, 56).astimezone()
    milliseconds = [(e.timestamp - begun) / timedelta(milliseconds=1) for e in items]
    assert milliseconds == [e.ordinal for e in items] == list(range(1, 9))
    assert sorted(e.event_id for e in items) == [e.event_id for e in items]


def test_sessions_started_in_one_second_lose_no_events(tmp_path: Path) -> None:
    items = read_events(tmp_path, (HEADER + "\n#### go  \n\nDone.\n\n") * 2)
    assert [e.text for e in items] == ["go", "Done."] * 2
    assert len({e.event_id for e in items}) == 4


def test_consecutive_prompts_are_separate_events(tmp_path: Path) -> None:
    items = read_events(tmp_path, HEADER + "\n#### one  \n\n#### two  \n")
    assert [e.text for e in items] == ["one", "two"]


@pytest.mark.parametrize(
    ("prompt", "role"),
    [
        ("/add a.py", EventRole.SYSTEM),
        ("/ask", EventRole.SYSTEM),
        ("!ls", EventRole.SYSTEM),
        ("/ask why?", EventRole.USER),
        ("/tmp/log is full, why?", EventRole.USER),
    ],
)
def test_command_to_aider_has_the_role_system(
    tmp_path: Path, prompt: str, role: EventRole
) -> None:
    (event,) = read_events(tmp_path, f"{HEADER}\n#### {prompt}  \n")
    assert event.role is role
    kind = "command" if role is EventRole.SYSTEM else None
    assert event.metadata.get("kind") == kind


def test_an_edit_that_failed_is_marked(tmp_path: Path) -> None:
    failed = "> The LLM did not conform to the edit format.  \n"
    items = read_events(tmp_path, f"{HEADER}\n#### go  \n\nSo.\n\n{failed}")
    assert items[-1].metadata["call_end"] == "failed"


def test_histories_of_windows_are_read_alike(tmp_path: Path) -> None:
    text = HEADER + LAUNCH + TALK
    items = read_events(tmp_path, text)
    assert read_events(tmp_path, text.replace("\n", "\r\n")) == items


def test_lines_without_marks_are_classified_by_their_beginnings(
    tmp_path: Path,
) -> None:
    text = "#### go\n\nSo:\n```\n> quoted\n```\n> Applied edit to a.py\n"
    items = read_events(tmp_path, HEADER + text)
    assert [e.text for e in items] == [
        "go",
        "So:\n```\n> quoted\n```",
        "edit: a.py\nApplied edit to a.py",
    ]


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("", "no session it belongs to"),
        ("# aider chat started at noon\n", "a bad timestamp"),
        ("# aider chat started at 2031-01-01 00:00:00\n", "a timestamp in the future"),
    ],
)
def test_text_before_the_first_session_is_invalid(
    tmp_path: Path, header: str, reason: str
) -> None:
    items = read_items(write_file(tmp_path, f"{header}#### go  \n"))
    assert InvalidRecord(reason, 1 + bool(header)) in items
    assert not [r for r in items if isinstance(r, Event)]


def test_last_block_is_held_while_the_file_changes(tmp_path: Path) -> None:
    file = write_file(tmp_path, HEADER + "\n#### go  \n\nI am\nabout")
    early = read_items(file, now=SOON)
    cursor = last_cursor(early)
    assert [r.text for r in early if isinstance(r, Event)] == ["go"]
    assert PendingRecord("the last line is cut off", 7) in early
    assert cursor.needs_reread
    late = read_items(file, cursor)
    assert [r.text for r in late if isinstance(r, Event)] == ["I am\nabout"]
    assert not last_cursor(late).needs_reread


@given(st.lists(st.integers(min_value=1, max_value=300), max_size=25))
def test_reading_in_pieces_gives_the_same_items(sizes: list[int]) -> None:
    raw = (HEADER + LAUNCH + TALK + HEADER.replace("56", "57") + TALK).encode()
    with tempfile.TemporaryDirectory() as folder:
        whole = read_items(write_file(Path(folder), raw))
        pieces: list[ParsedItem] = []
        cursor, end = None, 0
        for size in [*sizes, len(raw)]:
            end += size
            items = read_items(write_file(Path(folder), raw[:end]), cursor, SOON)
            cursor = last_cursor(items)
            pieces += items
        pieces += read_items(write_file(Path(folder), raw), cursor)
    kept = Event | SkippedRecord | InvalidRecord
    assert [r for r in pieces if isinstance(r, kept)] == [
        r for r in whole if isinstance(r, kept)
    ]


def test_every_line_of_real_histories_is_stored_or_counted(shared: Path) -> None:
    files = [
        *shared.glob("aider/*/.aider.chat.history.md"),
        shared / "fixtures_other/deja-vu/registry/aider/.aider.chat.history.md",
    ]
    for file in files:
        text = file.read_text()
        items = read_items(file)
        events = [r for r in items if isinstance(r, Event)]
        prompts = re.findall(r"^(?:(?<=\n\n)|\A)#### .*", text, re.MULTILINE)
        kinds = Counter(e.event_type for e in events)
        assert kinds[EventType.USER_MESSAGE] == len(prompts) > 0
        by_person = [p for p in prompts if not re.match(r"#### /add", p)]
        assert sum(e.role is EventRole.USER for e in events) == len(by_person)
        noted = Counter(r.reason for r in items if isinstance(r, SkippedRecord))
        assert noted["header"] == text.count("# aider chat started at")
        own = re.findall(r"^> .*\S.*", text, re.MULTILINE)
        done = [e for e in events if e.event_type is EventType.TOOL_RESULT]
        assert noted["notice"] + sum(e.text.count("\n") for e in done) == len(own)
        assert not [r for r in items if isinstance(r, InvalidRecord)]


pieces = st.sampled_from(
    [
        HEADER,
        "#### go  \n",
        "#### \n",
        "####\n",
        "> did  \n",
        ">\n",
        "\n",
        "words\n",
        "```\n",
        "# aider chat started at never\n",
        "/run",
        "\r",
        "\0",
    ]
)


@given(st.lists(pieces, max_size=12).map("".join))
def test_every_word_is_in_an_event_or_counted(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        items = read_items(write_file(Path(folder), text))
    stored_text = " ".join(r.text for r in items if isinstance(r, Event))
    if not [r for r in items if isinstance(r, InvalidRecord)]:
        assert stored_text.count("words") == text.count("words")
        assert stored_text.count("go") == text.count("#### go")


@given(st.binary(max_size=200), st.booleans())
def test_no_bytes_raise(raw: bytes, is_begun: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = write_file(Path(folder), HEADER.encode() * is_begun + raw)
        items = read_items(file)
        assert isinstance(read_items(file, last_cursor(items))[-1], Cursor)
