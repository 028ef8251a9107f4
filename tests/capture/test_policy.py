"""Which events are stored, and how they are changed before."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memtui.capture.formats.base import (
    Cursor,
    InvalidRecord,
    ParsedItem,
    PendingRecord,
    SkippedRecord,
)
from memtui.capture.policy import (
    OTHER_PROJECT,
    CapturePolicy,
    Exclusions,
    IngestFilter,
)
from memtui.model import events
from memtui.model.events import Event, EventType
from memtui.model.sessions import SessionMetadata, SubagentMetadata
from memtui.store import database, tombstones
from memtui.store.tombstones import Tombstone, TombstoneKind
from memtui.workspace import Workspace

AT = datetime(2025, 3, 14, 10, tzinfo=UTC)
KEY = "sk-ant-api03-" + "Zq7" * 30 + "AA"
"""What looks like a key of Anthropic's; it opens nothing."""

EVERYTHING = CapturePolicy()


@pytest.fixture
def open_store(workspace: Workspace) -> Iterator[Workspace]:
    with database.connection():
        yield workspace


def facts(**more: Any) -> SessionMetadata:
    shown: dict[str, Any] = {"cwd": "/home/ada/shop", "at": AT} | more
    return SessionMetadata("claude-code", "s1", **shown)


def said(text: str, **metadata: str) -> Event:
    return events.make(
        agent="claude-code",
        session_id="s1",
        timestamp=AT,
        event_type=EventType.USER_MESSAGE,
        text=text,
        source_key="u1",
        metadata=metadata,
    )


def through(gate: IngestFilter, *readings: ParsedItem) -> list[ParsedItem]:
    return list(gate.filter_items(readings))


def test_secrets_are_taken_out_wherever_they_stand(open_store: Workspace) -> None:
    gate = IngestFilter(EVERYTHING)
    thought = events.make_thought(
        agent="claude-code", session_id="s1", at=AT, text=f"use {KEY}", key="u2"
    )
    shown = through(
        gate,
        facts(title=f"Why is {KEY} refused?"),
        said(f"My key is {KEY}.", tool_input=json.dumps({"env": f"A={KEY}"})),
        thought,
        SubagentMetadata("claude-code", "s1", "a1", task=f"try {KEY}"),
        Cursor(1, 1, "", {"context": {"facts": {"branch": f"A={KEY}"}}}),
    )
    assert KEY not in repr(shown)
    assert repr(shown).count("[redacted: anthropic key]") == 6
    assert gate.take_redactions() == {"anthropic key": 5}
    assert gate.take_redactions() == {}


def test_secrets_of_events_count_when_the_events_are_created(
    open_store: Workspace,
) -> None:
    gate, event = IngestFilter(EVERYTHING), said(f"My key is {KEY}.")
    through(gate, event)
    assert gate.take_redactions(created=[]) == {}
    through(gate, event)
    assert gate.take_redactions(created=[event.event_id]) == {"anthropic key": 1}


def test_what_holds_no_secret_passes_as_it_is(open_store: Workspace) -> None:
    event = said("Fix the cart", tool_use_id="toolu_01", note="nothing")
    refused = InvalidRecord("not valid JSON", 3)
    assert through(IngestFilter(EVERYTHING), event, refused) == [event, refused]


def test_a_session_is_given_its_project(open_store: Workspace) -> None:
    (shown,) = through(IngestFilter(EVERYTHING), facts())
    assert isinstance(shown, SessionMetadata)
    assert shown.project == "shop"
    (named,) = through(IngestFilter(EVERYTHING), facts(project="The Shop"))
    assert isinstance(named, SessionMetadata)
    assert named.project == "The Shop"


@pytest.mark.parametrize(
    ("rules", "path", "reason"),
    [
        (("shop",), "", "excluded by shop"),
        (("/home/ada/*",), "", "excluded by /home/ada/*"),
        (("*/diary/*",), "/srv/diary/s1.jsonl", "excluded by */diary/*"),
    ],
)
def test_what_is_excluded_is_left_and_counted(
    open_store: Workspace, rules: tuple[str, ...], path: str, reason: str
) -> None:
    gate = IngestFilter(CapturePolicy(Exclusions(rules)), path)
    assert through(gate, facts(), said("hello")) == [SkippedRecord(reason)]


def test_a_memory_of_one_project_leaves_the_others(open_store: Workspace) -> None:
    gate = IngestFilter(CapturePolicy(only_root="/home/ada/ferry"))
    assert through(gate, facts(), said("hello")) == [SkippedRecord(OTHER_PROJECT)]
    mine = facts(cwd="/home/ada/ferry/src", root="/home/ada/ferry")
    assert len(through(gate, mine, said("hello"))) == 2


def test_a_forgotten_project_does_not_come_back(
    open_store: Workspace, tmp_path: Path
) -> None:
    with database.transaction():
        tombstones.add([Tombstone(TombstoneKind.PROJECT, "/srv/shop")], 1)
        tombstones.add([Tombstone(TombstoneKind.PROJECT, "ferry")], 2)
    gate = IngestFilter(EVERYTHING)
    for gone in (facts(cwd="/srv/shop"), facts(cwd="", project="ferry")):
        shown = through(gate, gone, said("hello"))
        assert shown == [SkippedRecord("of a project that was forgotten")]
    assert gate.forgotten_count == 2
    for other in (facts(cwd="/home/ada/shop"), facts(cwd="/home/ada/ferry")):
        assert len(through(IngestFilter(EVERYTHING), other, said("hello"))) == 2


def test_facts_without_a_folder_do_not_let_a_left_session_in(
    open_store: Workspace,
) -> None:
    gate = IngestFilter(CapturePolicy(Exclusions(("shop",))))
    shown = through(gate, facts(), facts(cwd="", title="More"), said("hello"))
    assert shown == [SkippedRecord("excluded by shop")]


TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
GITHUB = "[redacted: github token]"


def test_sessions_and_subagents_are_shown_without_secrets(
    open_store: Workspace,
) -> None:
    names = ("branch", "model", "created_by", "title", "project")
    shown = through(
        IngestFilter(EVERYTHING),
        facts(**dict.fromkeys(names, TOKEN), cwd=f"/srv/{TOKEN}", root=f"/srv/{TOKEN}"),
        SubagentMetadata(
            "claude-code", "s1", TOKEN, kind=TOKEN, tool_use_id=TOKEN, task=TOKEN
        ),
        replace(said("hello"), subagent=TOKEN),
        SkippedRecord(f"unknown record type {TOKEN!r}", 4),
        PendingRecord(f"a call of {TOKEN}", 5),
    )
    assert TOKEN not in repr(shown)
    assert shown[0] == facts(
        **dict.fromkeys(names, GITHUB), cwd=f"/srv/{GITHUB}", root=f"/srv/{GITHUB}"
    )
    assert shown[1] == SubagentMetadata("claude-code", "s1", *[GITHUB] * 4)
    assert isinstance(shown[2], Event)
    assert shown[2].subagent == GITHUB
    assert shown[3:] == [
        SkippedRecord(f"unknown record type '{GITHUB}'", 4),
        PendingRecord(f"a call of {GITHUB}", 5),
    ]


def test_what_metadata_says_goes_by_its_name_and_ids_stay(
    open_store: Workspace,
) -> None:
    kept = {
        "message_id": "msg_01XoAhqg1dVSkLs8a9QpyMsP",
        "tool_use_id": "toolu_01Hs3nVd9k2Lq7Tz5Wb4Xc6R",
        "request": "0193f2ab-7c1d-7e21-9f10-8a2b3c4d5e6f",
        "source": "startup",
        "input_tokens": "14203",
    }
    event = said("hello", **kept, password="Qw9PN5LbYZTM", kind=TOKEN)
    (shown,) = through(IngestFilter(EVERYTHING), event)
    assert isinstance(shown, Event)
    assert shown.metadata == {
        **kept,
        "password": "[redacted: password]",
        "kind": GITHUB,
    }


def test_a_reason_is_shown_without_its_secrets(open_store: Workspace) -> None:
    key = "sk-ant-api03-" + "a1B2c3D4e5" * 9 + "AA"
    gate = IngestFilter(EVERYTHING)
    (shown,) = through(gate, InvalidRecord(f"unknown hook event {key!r}", 3))
    assert shown == InvalidRecord("unknown hook event '[redacted: anthropic key]'", 3)
    assert gate.take_redactions() == {"anthropic key": 1}


def test_a_payload_says_whether_it_may_be_stored(
    open_store: Workspace,
) -> None:
    shop = {"session_id": "s1", "cwd": "/home/ada/shop"}
    gate = IngestFilter(CapturePolicy(Exclusions(("shop",))))
    assert gate.why_not_quarantined(shop) == "excluded by shop"
    assert (
        gate.why_not_quarantined({"session_id": "s1", "cwd": "/home/ada/ferry"}) == ""
    )
    assert gate.why_not_quarantined({"prompt": "of nobody"}) == ""
    assert (
        IngestFilter(CapturePolicy(only_root="/srv")).why_not_quarantined(shop)
        == OTHER_PROJECT
    )
    with database.transaction():
        tombstones.add([Tombstone(TombstoneKind.SESSION, "s1", "codex")], 1)
    gate = IngestFilter(EVERYTHING)
    assert gate.why_not_quarantined(shop) == "of a session that was forgotten"
    assert (
        gate.why_not_quarantined({"sessionId": "s1"})
        == "of a session that was forgotten"
    )
