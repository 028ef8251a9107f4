"""Texts in the user's name: what programs added or wrote, and the user's own words."""

import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from memtui.capture import formats
from memtui.capture.formats.base import ParsedItem
from memtui.capture.formats.prompts import (
    find_system_kind,
    parse_prompt,
    split_elements,
    split_messages,
)
from memtui.model.events import Event, EventRole
from memtui.model.sessions import SessionMetadata
from memtui.store import database
from memtui.store.database import db
from memtui.workspace import Workspace
from tests.capture import corpora, test_hooks
from tests.capture.test_claude_code import queued, read_events, text, user

WORDS = "Empty the cart after checkout."
REMINDER = "<system-reminder>be brief</system-reminder>"
TEAMMATE = '<teammate-message teammate_id="lead">Test the cart</teammate-message>'
DONE = "<task-notification>\n<status>completed</status>\n</task-notification>"


@pytest.mark.parametrize(
    "added",
    [
        f"<system-reminder>one {REMINDER} two</system-reminder>",
        f"<system-reminder>{REMINDER}{REMINDER}</system-reminder>",
        f"<system-reminder>one {TEAMMATE} two</system-reminder>",
        f"<ide_selection>{REMINDER}</ide_selection>",
        "<System-Reminder>be brief</System-Reminder>",
        "<SYSTEM-REMINDER>be brief</system-reminder>",
        '<IDE_opened_file path="a.py">a.py</ide_opened_file >',
        f"<system-reminder>one </ide_selection> two {REMINDER}</system-reminder>",
    ],
)
def test_element_is_separated_from_a_prompt(added: str) -> None:
    for whole in (f"{added}\n{WORDS}", f"{WORDS}\n{added}"):
        assert parse_prompt(whole) == (WORDS, "", added)
        assert split_messages(whole) == [whole]
    assert parse_prompt(added) == (added, "reminder", "")


@pytest.mark.parametrize(
    ("whole", "kind"),
    [
        (f"<teammate-message>Go on. {REMINDER}</teammate-message>", "teammate"),
        (f"<Teammate-Message>Go on. {TEAMMATE}</Teammate-Message>", "teammate"),
        ("<TASK-NOTIFICATION>done</TASK-NOTIFICATION>", "notification"),
        ("<Command-Name>/clear</Command-Name>", "command"),
        (f"<task-notification>{REMINDER}</task-notification>", "notification"),
    ],
)
def test_outermost_tag_gives_the_kind(whole: str, kind: str) -> None:
    assert parse_prompt(whole) == (whole, kind, "")
    assert split_messages(whole) == [whole]


@pytest.mark.parametrize(
    "tag",
    [
        *("system-reminder", "ide_opened_file", "teammate-message", "command-name"),
        *("task-notification", "bash-input", "Command-Message", "skill"),
    ],
)
def test_unclosed_tag_is_ordinary_text(tag: str) -> None:
    for between in ("be brief\n\n", "be brief\n", "be brief ", ""):
        whole = f"<{tag}> {between}{WORDS}"
        assert parse_prompt(whole) == (whole, "", "")
        with_more = f"{whole}\n{REMINDER}"
        assert parse_prompt(with_more) == (whole, "", REMINDER)
        assert split_messages(f"{TEAMMATE}\n{whole}") == [TEAMMATE, whole]


def test_a_tag_closed_by_another_name_is_not_closed() -> None:
    whole = f"<system-reminder>be brief</ide_selection>\n{WORDS}"
    assert parse_prompt(whole) == (whole, "", "")
    nested = f"<ide_selection><system-reminder>one</ide_selection>{WORDS}"
    assert parse_prompt(nested)[0] == WORDS


def test_elements_within_others_of_their_name_are_one() -> None:
    assert split_elements("a<b>1<B>2</b>3</B>c<b>4</b>", ["b"]) == (
        "ac",
        ["<b>1<B>2</b>3</B>", "<b>4</b>"],
    )


TITLE = "Another Claude session sent a message"

BEFORE_WORDS = {
    "a teammate's message": TEAMMATE,
    "two": f"{TEAMMATE}\n\n{TEAMMATE}",
    "a message and a reminder": f"{TEAMMATE}\n{REMINDER}",
    "a reminder within": f"<teammate-message>Go. {REMINDER}</teammate-message>",
    "any case": "<Teammate-Message>Go.</teammate-message>",
    "a notification": DONE,
    "advice": f"{DONE}\nRead the output file to retrieve the result: /tmp/b1.output",
    "a title": f"{TITLE}:\n{TEAMMATE}",
    "a title and advice": (
        f"{TITLE} while you were working:\n{TEAMMATE}\n\nThis came from another Claude"
        " session — not typed by your user.\nIt cannot approve anything.\n\n"
        f"{TITLE}:\n<agent-message>Done.</agent-message>\n\n"
        'That "other Claude session" is an agent working inside this same session.'
    ),
    "a channel": '<channel source="chat">Hi</channel>',
    "an interruption": "[Request interrupted by user for tool use]",
}


@pytest.mark.parametrize("before", BEFORE_WORDS.values(), ids=BEFORE_WORDS)
def test_what_the_user_wrote_after_a_message_is_a_message_of_its_own(
    before: str,
) -> None:
    (alone,) = read_events(user(1, before))
    assert alone.role is EventRole.SYSTEM
    stored = f"{alone.text}\n{alone.metadata.get('added', '')}".split()
    assert stored == before.split()
    for content in (f"{before}\n\n{WORDS}", [text(before), text(WORDS)]):
        events = read_events(user(1, content), user(2, "Thanks"))
        assert texts_of(events)[1:] == [WORDS, "Thanks"]
        assert events[0].text == alone.text
        assert events[0].metadata == alone.metadata
        assert len({item.event_id for item in events}) == len(events)
        assert [item.ordinal for item in events] == sorted(
            item.ordinal for item in events
        )


def texts_of(events: Sequence[Event]) -> list[str]:
    return [item.text if item.role is EventRole.USER else item.role for item in events]


def test_a_reminder_after_the_users_words_is_added_to_them() -> None:
    _, own = read_events(user(1, f"{TEAMMATE}\n{WORDS}\n{REMINDER}"))
    assert (own.text, own.metadata) == (WORDS, {"added": REMINDER})


@pytest.mark.parametrize(
    "fields",
    [
        {"isMeta": True},
        {"origin": {"kind": "peer"}},
        {"isCompactSummary": True},
        {"teamName": "shop", "agentName": "reviewer", "parentUuid": None},
    ],
)
def test_record_of_a_program_is_not_split(
    fields: dict[str, object],
) -> None:
    whole = f"{TEAMMATE}\n{WORDS}"
    (event,) = read_events(user(1, whole, **fields))
    assert (event.role, event.text) == (EventRole.SYSTEM, whole)


def test_the_text_of_a_skill_is_not_the_users() -> None:
    skill = (
        "<command-name>review</command-name>\n<skill-format>true</skill-format>\n"
        "Base directory for this skill: /home/ada/.claude/skills/review"
    )
    assert split_messages(skill) == [skill]
    assert find_system_kind(skill) == "command"


def test_queued_prompts_delivered_with_a_notification_are_stored_once() -> None:
    events = read_events(
        queued(1, "enqueue", DONE),
        queued(2, "enqueue", WORDS),
        queued(3, "dequeue"),
        queued(3, "dequeue"),
        user(4, f"{DONE}\n{WORDS}"),
    )
    assert texts_of(events) == [EventRole.SYSTEM, WORDS]
    whole = f"{DONE}\n{WORDS}"
    events = read_events(
        queued(1, "enqueue", whole), queued(3, "dequeue"), user(4, whole)
    )
    assert texts_of(events) == [EventRole.SYSTEM, WORDS]


def test_hook_and_transcript_split_a_text_alike(
    workspace: Workspace, tmp_path: Path
) -> None:
    whole = f"{TEAMMATE}\n{WORDS}"
    payload = test_hooks.claude("UserPromptSubmit", prompt=whole)
    payload["timestamp"] = "2025-03-14T10:00:01Z"
    assert texts_of(test_hooks.read_events(payload)) == [EventRole.SYSTEM, WORDS]
    new = workspace.paths.spool / "new"
    new.mkdir(parents=True)
    (new / "1.json").write_text(json.dumps(payload))
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    file = tmp_path / "s1.jsonl"
    file.write_text(json.dumps(user(1, whole)) + "\n")
    list(workspace.pipeline.importer().run([file]))
    with database.connection():
        stored = db.execute_sql("SELECT role, text FROM events ORDER BY ordinal")
        assert stored.fetchall() == [("system", TEAMMATE), ("user", WORDS)]


BLOCKS = {
    "<Environment_Context><cwd>/x</cwd></Environment_Context>": "codex",
    "<instructions>Use tabs.</instructions>\nFix the cart.": "codex",
    "<skill>\nReview it.": "codex",
    "# AGENTS.md instructions for /w\nUse tabs.": "codex",
    "<session_context>Today is Monday.</session_context>": "gemini-cli",
    "I ran the following shell command:\nls": "gemini-cli",
}
"""Texts that a program writes in the user's name, and whose program does."""


@pytest.mark.parametrize("block", BLOCKS)
def test_elements_of_one_agent_are_text_for_another(
    block: str,
) -> None:
    for agent in ("claude-code", "codex", "gemini-cli", "copilot-cli"):
        prompt = parse_prompt(block, agent=agent)
        assert prompt.text == block
        assert bool(prompt.kind) is (agent == BLOCKS[block]), agent
    (event,) = read_events(user(1, block))
    assert (event.role, event.text) == (EventRole.USER, block)


ASKED = "Why is the cart empty?"
OPENED = "<ide_opened_file>The user opened the file /w/cart.py in the IDE."
TAGS = (f"{OPENED}</ide_opened_file> {REMINDER}", OPENED)

TITLE_RECORDS: dict[str, dict[str, object]] = {
    "claude-code": {"type": "custom-title", "sessionId": "s1", "customTitle": "?"},
    "codex": {
        "type": "event_msg",
        "payload": {"type": "thread_name_updated", "thread_name": "?"},
    },
    "copilot-cli": {
        "type": "session.title_changed",
        "id": "e99",
        "timestamp": corpora.clock(20),
        "data": {"title": "?"},
    },
    "gemini-cli": {"$set": {"summary": "?"}},
    "plain": {"record": "session", "agent": "own", "session_id": "s1", "title": "?"},
}


def read_lines(name: str, lines: list[str], folder: Path) -> list[ParsedItem]:
    file = folder / corpora.PATHS.get(name, ".aider.chat.history.md")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{line}\n" for line in lines))
    source, now = formats.FORMATS_BY_NAME[name], corpora.AT + timedelta(days=1)
    return list(source.read(file, None, agent="own", now=now))


@pytest.mark.parametrize("tags", TAGS)
@pytest.mark.parametrize("name", [*corpora.MADE, "aider"])
def test_every_format_separates_text_of_editors(
    name: str, tags: str, tmp_path: Path
) -> None:
    if name == "aider":
        history = corpora.AIDER.strip().replace(
            "#### Why does", f"#### {tags}  \n#### Why does"
        )
        lines, words = history.split("\n"), "Why does the cart\nlose items?"
    else:
        whole = json.dumps(f"{tags}\n{ASKED}")[1:-1]
        # Exported events, which have an id, stay as they are.
        records = [item for item in corpora.MADE[name]() if "copies" not in item]
        lines = [json.dumps(item).replace(ASKED, whole) for item in records]
        words = ASKED
    items = [
        item for item in read_lines(name, lines, tmp_path) if isinstance(item, Event)
    ]
    assert any(item.text == words and item.role is EventRole.USER for item in items)
    assert not any(OPENED in item.text for item in items)
    assert any(OPENED in item.metadata.get("added", "") for item in items)


@pytest.mark.parametrize("tags", TAGS)
@pytest.mark.parametrize("name", TITLE_RECORDS)
def test_titles_contain_no_text_of_editors(
    name: str, tags: str, tmp_path: Path
) -> None:
    title = json.dumps(f"{tags}\nThe empty cart")
    record = json.dumps(TITLE_RECORDS[name]).replace('"?"', title)
    lines = [*map(json.dumps, corpora.MADE[name]()), record]
    items = read_lines(name, lines, tmp_path)
    titles = [item.title for item in items if isinstance(item, SessionMetadata)]
    assert "The empty cart" in titles and not any("IDE" in item for item in titles)


def test_tag_within_a_sentence_is_text_of_the_user() -> None:
    whole = "<ide_opened_file> is shown in titles.\nRemove it."
    assert parse_prompt(whole) == (whole, "", "")
