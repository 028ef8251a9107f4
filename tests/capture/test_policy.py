"""Which events are stored, and how they are changed before."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memtui.capture.formats.base import (
    HOOK,
    Cursor,
    InvalidRecord,
    MessageTitle,
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
from memtui.model.sessions import SessionMetadata, SubagentMetadata, hash_folder
from memtui.store import database, sessions, tombstones
from memtui.store import events as store_events
from memtui.store.tombstones import Tombstone, TombstoneKind
from memtui.text.tokens import ESTIMATING_COUNTER
from memtui.workspace import Workspace

AT = datetime(2025, 3, 14, 10, tzinfo=UTC)
KEY = "sk-ant-api03-" + "Zq7" * 30 + "AA"
"""A text with the format of a key of Anthropic."""

EVERYTHING = CapturePolicy()


@pytest.fixture
def open_store(workspace: Workspace) -> Iterator[Workspace]:
    with database.connection():
        yield workspace


def make_session(**more: Any) -> SessionMetadata:
    values: dict[str, Any] = {"cwd": "/home/ada/shop", "at": AT} | more
    return SessionMetadata("claude-code", "s1", **values)


def make_event(text: str, **metadata: str) -> Event:
    return events.make(
        agent="claude-code",
        session_id="s1",
        timestamp=AT,
        event_type=EventType.USER_MESSAGE,
        text=text,
        source_key="u1",
        metadata=metadata,
    )


def filter_items(
    ingest_filter: IngestFilter, *readings: ParsedItem
) -> list[ParsedItem]:
    return list(ingest_filter.filter_items(readings))


def test_secrets_are_removed_from_all_items(open_store: Workspace) -> None:
    ingest_filter = IngestFilter(EVERYTHING)
    thought = events.make_thought(
        agent="claude-code", session_id="s1", at=AT, text=f"use {KEY}"
    )
    items = filter_items(
        ingest_filter,
        make_session(title=f"Why is {KEY} refused?"),
        make_event(f"My key is {KEY}.", tool_input=json.dumps({"env": f"A={KEY}"})),
        thought,
        SubagentMetadata("claude-code", "s1", "a1", task=f"try {KEY}"),
        Cursor(1, 1, "", {"context": {"facts": {"branch": f"A={KEY}"}}}),
    )
    assert KEY not in repr(items)
    assert repr(items).count("[redacted: anthropic key]") == 6
    assert ingest_filter.take_redactions() == {"anthropic key": 5}
    assert ingest_filter.take_redactions() == {}


def test_secrets_of_events_count_when_the_events_are_created(
    open_store: Workspace,
) -> None:
    ingest_filter, event = IngestFilter(EVERYTHING), make_event(f"My key is {KEY}.")
    filter_items(ingest_filter, event)
    assert ingest_filter.take_redactions(created=[]) == {}
    filter_items(ingest_filter, event)
    assert ingest_filter.take_redactions(created=[event.event_id]) == {
        "anthropic key": 1
    }


def test_items_without_secrets_are_unchanged(open_store: Workspace) -> None:
    event = make_event("Fix the cart", tool_use_id="toolu_01", note="nothing")
    refused = InvalidRecord("not valid JSON", 3)
    assert filter_items(IngestFilter(EVERYTHING), event, refused) == [event, refused]


def test_session_gets_its_project(open_store: Workspace) -> None:
    (items,) = filter_items(IngestFilter(EVERYTHING), make_session())
    assert isinstance(items, SessionMetadata)
    assert items.project == "shop"
    (named,) = filter_items(IngestFilter(EVERYTHING), make_session(project="The Shop"))
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
def test_excluded_session_is_skipped_and_counted(
    open_store: Workspace, rules: tuple[str, ...], path: str, reason: str
) -> None:
    ingest_filter = IngestFilter(CapturePolicy(Exclusions(rules)), path)
    assert filter_items(ingest_filter, make_session(), make_event("hello")) == [
        SkippedRecord(reason)
    ]


@pytest.mark.parametrize("rule", ["kiosk", "kiosk-2"])
def test_clone_is_excluded_by_its_own_name_and_that_of_its_origin(
    open_store: Workspace, rule: str
) -> None:
    clone = make_session(cwd="/home/ada/kiosk-2", project="kiosk")
    ingest_filter = IngestFilter(CapturePolicy(Exclusions((rule,))))
    assert filter_items(ingest_filter, clone, make_event("hello")) == [
        SkippedRecord(f"excluded by {rule}")
    ]


TRANSCRIPT = "/home/ada/.claude/projects/-home-ada-shop/s1.jsonl"


@pytest.mark.parametrize("rule", ["shop", "other"])
def test_events_wait_for_the_project_of_their_session(
    open_store: Workspace, rule: str
) -> None:
    queued, title = make_event("queued"), MessageTitle("claude-code", "u0", "The shop")
    unplaced = make_session(cwd="")
    kept = filter_items(
        IngestFilter(CapturePolicy(Exclusions((rule,))), "/home/ada/s1.jsonl"),
        *(unplaced, queued, title, make_session(), make_event("hello"), Cursor()),
    )
    *stored, cursor = kept
    assert isinstance(cursor, Cursor)
    if rule == "shop":
        assert stored == [SkippedRecord("excluded by shop")] * 2
    else:
        events_of = [item for item in stored if isinstance(item, Event)]
        assert events_of == [queued, make_event("hello")] and title in stored


def test_session_without_folder_is_judged_by_the_folder_of_its_transcript(
    open_store: Workspace,
) -> None:
    title = MessageTitle("claude-code", "u0", "The shop")
    items = make_session(cwd=""), make_event("hello"), title
    for rule, count in (("shop", 1), ("other", 3)):
        ingest_filter = IngestFilter(CapturePolicy(Exclusions((rule,))), TRANSCRIPT)
        kept = filter_items(ingest_filter, *items)
        assert len(kept) == count, kept
        assert (SkippedRecord("excluded by shop") in kept) == (rule == "shop")


@pytest.mark.parametrize(
    ("cwd", "is_excluded"),
    [("/tmp/scratch", True), ("/home/ada/foto-shop/src", False), ("", True)],
)
def test_subagent_elsewhere_is_judged_by_the_folder_of_its_transcript(
    open_store: Workspace, cwd: str, is_excluded: bool
) -> None:
    path = "/home/ada/.claude/projects/-home-ada-foto-shop/s1/subagents/agent-1.jsonl"
    ingest_filter = IngestFilter(CapturePolicy(Exclusions(("shop",))), path)
    kept = filter_items(ingest_filter, make_session(cwd=cwd), make_event("hello"))
    assert (kept == [SkippedRecord("excluded by shop")]) == is_excluded


def test_hook_without_folder_is_stored_with_exclusions_only_for_a_known_session(
    open_store: Workspace,
) -> None:
    policy = CapturePolicy(Exclusions(("shop",)))
    items = make_session(cwd=""), make_event("hello")
    skipped = SkippedRecord("of an unknown project")
    assert filter_items(IngestFilter(policy), *items) == [skipped]
    with database.transaction():
        sessions.update_metadata(make_session(cwd="/home/ada/ferry"))
        store_events.add([make_event("first")], route=HOOK, counter=ESTIMATING_COUNTER)
    assert make_event("hello") in filter_items(IngestFilter(policy), *items)


def test_text_longer_than_any_path_is_stored_as_no_folder(
    open_store: Workspace,
) -> None:
    rules = CapturePolicy(Exclusions(("clients/acme", "diary")))
    ingest_filter, long = IngestFilter(rules), "/a" * 100_000
    session, _ = filter_items(
        ingest_filter, make_session(cwd=long, root=long), make_event("hello")
    )
    assert session == make_session(cwd="")


def test_folder_in_an_export_is_not_looked_up_on_this_machine(
    open_store: Workspace, tmp_path: Path
) -> None:
    (tmp_path / ".git").mkdir()
    elsewhere = make_session(cwd=str(tmp_path / "kiosk"), project="kiosk")
    (here,) = filter_items(IngestFilter(EVERYTHING), elsewhere)
    assert here == replace(elsewhere, root=str(tmp_path))
    (exported,) = filter_items(IngestFilter(EVERYTHING, is_export=True), elsewhere)
    assert exported == elsewhere


def test_store_of_one_project_skips_others(open_store: Workspace) -> None:
    ingest_filter = IngestFilter(CapturePolicy(only_root="/home/ada/ferry"))
    assert filter_items(ingest_filter, make_session(), make_event("hello")) == [
        SkippedRecord(OTHER_PROJECT)
    ]
    mine = make_session(cwd="/home/ada/ferry/src", root="/home/ada/ferry")
    assert len(filter_items(ingest_filter, mine, make_event("hello"))) == 2


def test_a_forgotten_project_does_not_come_back(
    open_store: Workspace, tmp_path: Path
) -> None:
    with database.transaction():
        tombstones.add([Tombstone(TombstoneKind.PROJECT, "/srv/shop")], 1)
        tombstones.add([Tombstone(TombstoneKind.PROJECT, "ferry")], 2)
    ingest_filter = IngestFilter(EVERYTHING)
    for gone in (make_session(cwd="/srv/shop"), make_session(cwd="", project="ferry")):
        items = filter_items(ingest_filter, gone, make_event("hello"))
        assert items == [SkippedRecord("of a project that was forgotten")]
    assert ingest_filter.forgotten_count == 2
    for other in (
        make_session(cwd="/home/ada/shop"),
        make_session(cwd="/home/ada/ferry"),
    ):
        assert (
            len(filter_items(IngestFilter(EVERYTHING), other, make_event("hello"))) == 2
        )


def test_metadata_without_folder_does_not_include_a_session(
    open_store: Workspace,
) -> None:
    ingest_filter = IngestFilter(CapturePolicy(Exclusions(("shop",))))
    items = filter_items(
        ingest_filter,
        make_session(),
        make_session(cwd="", title="More"),
        make_event("hello"),
    )
    assert items == [SkippedRecord("excluded by shop")]


TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
GITHUB = "[redacted: github token]"


def test_secrets_are_removed_from_sessions_and_subagents(
    open_store: Workspace,
) -> None:
    names = ("branch", "model", "created_by", "title", "project")
    items = filter_items(
        IngestFilter(EVERYTHING),
        make_session(
            **dict.fromkeys(names, TOKEN), cwd=f"/srv/{TOKEN}", root=f"/srv/{TOKEN}"
        ),
        SubagentMetadata(
            "claude-code", "s1", TOKEN, kind=TOKEN, tool_use_id=TOKEN, task=TOKEN
        ),
        replace(make_event("hello"), subagent=TOKEN),
        SkippedRecord(f"unknown record type {TOKEN!r}", 4),
        PendingRecord(f"a call of {TOKEN}", 5),
    )
    assert TOKEN not in repr(items)
    assert items[0] == make_session(
        **dict.fromkeys(names, GITHUB), cwd=f"/srv/{GITHUB}", root=f"/srv/{GITHUB}"
    )
    assert items[1] == SubagentMetadata("claude-code", "s1", *[GITHUB] * 4)
    assert isinstance(items[2], Event)
    assert items[2].subagent == GITHUB
    assert items[3:] == [
        SkippedRecord(f"unknown record type '{GITHUB}'", 4),
        PendingRecord(f"a call of {GITHUB}", 5),
    ]


def test_metadata_is_redacted_by_name_and_ids_stay(
    open_store: Workspace,
) -> None:
    kept = {
        "message_id": "msg_01XoAhqg1dVSkLs8a9QpyMsP",
        "tool_use_id": "toolu_01Hs3nVd9k2Lq7Tz5Wb4Xc6R",
        "request": "0193f2ab-7c1d-7e21-9f10-8a2b3c4d5e6f",
        "source": "startup",
        "input_tokens": "14203",
    }
    event = make_event("hello", **kept, password="Qw9PN5LbYZTM", kind=TOKEN)
    (items,) = filter_items(IngestFilter(EVERYTHING), event)
    assert isinstance(items, Event)
    assert items.metadata == {
        **kept,
        "password": "[redacted: password]",
        "kind": GITHUB,
    }


def test_secrets_are_removed_from_reasons(open_store: Workspace) -> None:
    key = "sk-ant-api03-" + "a1B2c3D4e5" * 9 + "AA"
    ingest_filter = IngestFilter(EVERYTHING)
    (items,) = filter_items(
        ingest_filter, InvalidRecord(f"unknown hook event {key!r}", 3)
    )
    assert items == InvalidRecord("unknown hook event '[redacted: anthropic key]'", 3)
    assert ingest_filter.take_redactions() == {"anthropic key": 1}


def test_excluded_payload_is_not_quarantined(
    open_store: Workspace,
) -> None:
    shop = {"session_id": "s1", "cwd": "/home/ada/shop"}
    ingest_filter = IngestFilter(CapturePolicy(Exclusions(("shop",))))
    assert ingest_filter.why_not_quarantined(shop) == "excluded by shop"
    assert (
        ingest_filter.why_not_quarantined(
            {"session_id": "s1", "cwd": "/home/ada/ferry"}
        )
        == ""
    )
    assert ingest_filter.why_not_quarantined({"prompt": "of nobody"}) == ""
    assert (
        IngestFilter(CapturePolicy(only_root="/srv")).why_not_quarantined(shop)
        == OTHER_PROJECT
    )
    with database.transaction():
        tombstones.add([Tombstone(TombstoneKind.SESSION, "s1", "codex")], 1)
    ingest_filter = IngestFilter(EVERYTHING)
    assert ingest_filter.why_not_quarantined(shop) == "of a session that was forgotten"
    assert (
        ingest_filter.why_not_quarantined({"sessionId": "s1"})
        == "of a session that was forgotten"
    )


@pytest.mark.parametrize(
    ("pattern", "folder"),
    [
        ("/srv/private", "/srv/private"),
        ("kiosk", "/home/ada/git/kiosk"),
        ("clients/acme", "/home/ada/clients/acme"),
    ],
)
def test_session_with_only_the_hash_of_an_excluded_folder_is_left_out(
    pattern: str, folder: str, open_store: Workspace
) -> None:
    stored = filter_items(IngestFilter(EVERYTHING), make_event("hi"), make_session())
    with database.transaction():
        event, facts = stored
        assert isinstance(event, Event) and isinstance(facts, SessionMetadata)
        store_events.add([event], route=HOOK, counter=ESTIMATING_COUNTER)
        sessions.update_metadata(replace(facts, cwd="/home/ada/git/shop/src"))
    policy = CapturePolicy(Exclusions([pattern]))
    for place, is_stored in ((folder, False), (f"{folder}-2", True)):
        hashed = replace(
            make_session(cwd="", cwd_hash=hash_folder(place)), session_id="g1"
        )
        said = replace(make_event("a plan"), session_id="g1")
        items = filter_items(IngestFilter(policy, "/tmp/s.json"), hashed, said)
        expected = (
            [hashed, said] if is_stored else [SkippedRecord(f"excluded by {pattern}")]
        )
        assert items == expected


def test_long_type_of_a_record_is_cut(workspace: Workspace, tmp_path: Path) -> None:
    common = {"sessionId": "s1", "uuid": "u1", "timestamp": "2025-03-14T09:00:00Z"}
    file = tmp_path / "s1.jsonl"
    records: list[dict[str, object]] = [
        {"type": "user", "message": {"role": "user", "content": "Count the quokkas"}},
        {"type": "system", "subtype": "r" * 600, "content": "two words"},
    ]
    file.write_text("".join(f"{json.dumps(common | more)}\n" for more in records))
    importer = workspace.pipeline.importer()
    for _ in importer.run([file]):
        pass
    (kind,) = importer.progress.unread
    assert kind.startswith("system/rrr") and kind.endswith("…") and len(kind) == 60
