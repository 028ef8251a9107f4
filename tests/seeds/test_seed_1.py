"""The rows of seed 1, the domain model."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import peewee
import pytest

from memtui.capture.formats import hooks
from memtui.capture.formats.base import InvalidRecord
from memtui.errors import SettingsError
from memtui.model import calendar, citations, events
from memtui.model.calendar import TocLevel
from memtui.model.events import Event, EventRefused, EventRole, EventType
from memtui.model.filters import Scope
from memtui.model.jobs import Job, JobSchedule
from memtui.model.nodes import DraftBullet
from memtui.paths import in_home
from memtui.services import browse, conversation
from memtui.services import versions as node_versions
from memtui.settings import Settings, load
from memtui.store import database, queues, versions
from memtui.store import events as store_events
from memtui.store import nodes as store_nodes
from memtui.summarize.grounding import checks
from memtui.summarize.grounding.passages import Evidence
from memtui.text import dates
from memtui.tools import changes, http_server, replies, sessions, toc
from memtui.tools.table import TOOLS, ToolRunner
from memtui.workspace import Workspace, model_options
from tests.cli_runner import json_data, run_memtui
from tests.conftest import HISTORY
from tests.message_factory import make_message, store_messages
from tests.model_versions import AT as MADE_AT
from tests.model_versions import add_model_version
from tests.tables import (
    BulletGripRow,
    BulletRow,
    CheckpointRow,
    EventRow,
    GripRow,
    NodeRow,
    OutboxRow,
    SegmentRow,
    VersionRow,
)

AT = datetime(2024, 1, 29, 15, 0, tzinfo=UTC)


def make_event(**fields: Any) -> Event:
    """Make an event, by default a message of the user."""
    given: dict[str, Any] = {
        "agent": "claude-code",
        "session_id": "s1",
        "timestamp": AT,
        "event_type": EventType.USER_MESSAGE,
        "text": "Read the config file",
        "source_key": "",
    }
    return events.make(**given | fields)


def test_s1_01_and_13_events_are_never_changed_or_deleted(
    full_workspace: Workspace,
) -> None:
    changed = pytest.raises(peewee.IntegrityError, match="events are never changed")
    with changed, database.transaction():
        EventRow.update(text="rewritten").execute()
    deleted = pytest.raises(peewee.IntegrityError, match="only deleted by forgetting")
    with deleted, database.transaction():
        EventRow.delete().execute()


def test_s1_02_and_60_every_statement_leads_to_events_of_its_session(
    full_workspace: Workspace,
) -> None:
    with database.connection():
        links = list(
            BulletGripRow.select(
                GripRow.start_event_id, GripRow.end_event_id, GripRow.node_id
            )
            .join(GripRow, on=BulletGripRow.grip_id == GripRow.id)
            .dicts()
        )
        bullets = BulletRow.select().where(~BulletRow.is_withheld).count()
        for link in links:
            session = SegmentRow.get_by_id(link["node_id"]).session_id
            for name in ("start_event_id", "end_event_id"):
                assert EventRow.get_by_id(link[name]).session_id == session
    assert len(links) >= bullets > 20


def test_s1_03_an_event_id_is_a_ulid_with_the_source_timestamp() -> None:
    event = make_event()
    assert len(event.event_id) == 26 and events.is_event_id(event.event_id)
    assert events.timestamp_ms_of_id(event.event_id) == event.timestamp_ms
    assert event.timestamp_ms == 1_706_540_400_000


def test_s1_03_the_same_event_has_the_same_id() -> None:
    assert make_event().event_id == make_event().event_id


@pytest.mark.parametrize(
    "other",
    [
        {"agent": "codex"},
        {"session_id": "s2"},
        {"event_type": EventType.ASSISTANT_MESSAGE},
        {"text": "Read another file"},
        {"source_key": "record-1"},
        {"timestamp": AT + timedelta(milliseconds=1)},
    ],
)
def test_s1_03_another_event_has_another_id(other: Mapping[str, Any]) -> None:
    assert make_event(**other).event_id != make_event().event_id


def test_s1_03_an_exported_event_is_the_same_event_elsewhere(
    full_workspace: Workspace, tmp_path: Path
) -> None:
    run = run_memtui(full_workspace.paths.store.parent, "export", "--events")
    file = tmp_path / "events.jsonl"
    file.write_text(run.stdout, "utf-8")
    other = tmp_path / "other"
    run_memtui(other, "import", str(file))
    again = run_memtui(other, "export", "--events").stdout

    def ids(text: str) -> list[str]:
        rows = map(json.loads, text.splitlines())
        return [row["id"] for row in rows if "id" in row]

    assert ids(again) == ids(run.stdout) and len(ids(again)) == 44


def test_s1_04_a_session_groups_the_events_of_one_conversation(
    workspace: Workspace,
) -> None:
    store_messages(
        make_message("One.", 0, session="a"),
        make_message("Two.", 1, session="b"),
        make_message("Three.", 2, session="a"),
    )
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    texts = [
        [item["text"] for item in sessions.list_messages(workspace, name).items]
        for name in ("a", "b")
    ]
    assert texts == [["One.", "Three."], ["Two."]]
    (day,) = browse.list_children("toc:week:2025-W11")
    assert len(browse.list_children(day.node_id)) == 2


def test_s1_04_a_session_knows_the_times_of_its_first_and_last_event(
    full_workspace: Workspace,
) -> None:
    facts = sessions.get_session_meta(full_workspace, "shop-2").head
    assert facts["created_at"] == "2024-01-18T10:00:00.000Z"
    assert facts["updated_at"] == "2024-01-18T10:10:50.000Z"
    assert facts["message_count"] == 5


def test_s1_05_events_have_the_time_of_their_source(
    workspace: Workspace, tmp_path: Path
) -> None:
    # Imported today, and out of order.
    lines = [json.loads(line) for line in HISTORY.read_text("utf-8").splitlines()]
    file = tmp_path / "events.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in reversed(lines)))
    list(workspace.pipeline.importer().run([file]))
    with database.connection():
        times = sorted((row.at_ms, row.text) for row in EventRow.select())
    assert times == sorted(
        (events.to_ms(datetime.fromisoformat(line["timestamp"])), line["text"])
        for line in lines
    )
    items = sessions.list_messages(workspace, "shop-2", limit=50).items
    assert [item["at"] for item in items] == sorted(item["at"] for item in items)


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("session_start", "system"),
        ("user_message", "user"),
        ("assistant_message", "assistant"),
        ("tool_result", "tool"),
        ("assistant_stop", "assistant"),
        ("subagent_start", "system"),
        ("subagent_stop", "system"),
        ("session_end", "system"),
    ],
)
def test_s1_06_07_47_and_48_each_type_of_event_has_its_typical_role(
    name: str, role: str
) -> None:
    assert make_event(event_type=EventType(name)).role is EventRole(role)
    assert len(EventType) == 8 and len(EventRole) == 4


@pytest.mark.parametrize(
    "name",
    [
        "session_start",
        "session_end",
        "assistant_stop",
        "subagent_start",
        "subagent_stop",
    ],
)
def test_s1_08_the_text_of_a_boundary_may_be_empty(name: str) -> None:
    assert make_event(event_type=EventType(name), text="").text == ""


@pytest.mark.parametrize("name", ["user_message", "assistant_message", "tool_result"])
def test_s1_08_the_text_of_a_message_may_not_be_empty(name: str) -> None:
    with pytest.raises(EventRefused, match=f"a {name} without text"):
        make_event(event_type=EventType(name), text=" ")


def test_s1_09_the_metadata_of_a_hooks_event_is_kept() -> None:
    payload = {
        "session_id": "s1",
        "event_type": "UserPromptSubmit",
        "content": "Fix the cart",
        "timestamp": "2025-03-14T10:00:00Z",
        "metadata": {"ticket": "SHOP-7", "tries": 2},
    }
    at = datetime(2025, 3, 14, 10, tzinfo=UTC)
    event, _ = hooks.read(json.dumps(payload).encode(), received_at=at, now=at)
    assert isinstance(event, Event)
    assert event.metadata == {"ticket": "SHOP-7", "tries": "2"}


@pytest.mark.parametrize(
    ("text", "is_valid"),
    [
        ("01HN4QXKN6YWXVKZ3JMHP4BCDE", True),
        ("01ARZ3NDEKTSV4RRFFQ69G5FAV", True),
        # Samples of the documents: I and L are not in the alphabet, 24 are too few.
        ("01HN5RYLM7ZAXWLY4KNIQ5CDEF", False),
        ("01HRMF8K2X3YNPQRSTUVWXYZ", False),
        ("01hn4qxkn6ywxvkz3jmhp4bcde", False),
        ("81HN4QXKN6YWXVKZ3JMHP4BCDE", False),
        ("", False),
    ],
)
def test_s1_10_event_ids_are_checked_strictly(text: str, is_valid: bool) -> None:
    assert events.is_event_id(text) is is_valid


@pytest.mark.parametrize(("minutes", "is_taken"), [(0, True), (5, True), (5.1, False)])
def test_s1_11_a_timestamp_in_the_future_is_not_taken(
    minutes: float, is_taken: bool
) -> None:
    at = AT + timedelta(minutes=minutes)
    payload = {"session_id": "s1", "event_type": "UserPromptSubmit", "content": "Hi"}
    payload["timestamp"] = at.isoformat()
    first = next(hooks.read(json.dumps(payload).encode(), received_at=AT, now=AT))
    assert isinstance(first, Event if is_taken else InvalidRecord)


@pytest.mark.parametrize("name", ["", "  "])
def test_s1_12_the_session_id_may_not_be_empty(name: str) -> None:
    with pytest.raises(EventRefused, match="no session id"):
        make_event(session_id=name)


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ("toc:week:2026-05", "toc:week:2026-W05"),
        ("toc:week:2026:05", "toc:week:2026-W05"),
        ("toc:month:2024:01", "toc:month:2024-01"),
        ("toc:day:2024:01:15", "toc:day:2024-01-15"),
    ],
)
def test_s1_14_older_forms_of_ids_are_accepted_as_input(
    given: str, canonical: str
) -> None:
    assert calendar.canonical(given) == canonical


@pytest.mark.parametrize(
    "text",
    [
        "",
        "toc",
        "toc:decade:2020",
        "toc:month:2024-13",
        "toc:day:2024-02-30",
        "toc:week:2024-W54",
        "grip:1706540400000:test123",
    ],
)
def test_s1_14_what_is_no_id_of_a_node_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        calendar.period(text)


LEVEL_VECTORS = [
    ("year", None, "month", "toc:year:2024", "2024"),
    ("month", "year", "week", "toc:month:2024-01", "January 2024"),
    ("week", "month", "day", "toc:week:2024-W03", "Week of January 15–21, 2024"),
    ("day", "week", "segment", "toc:day:2024-01-15", "Monday, January 15, 2024"),
    ("segment", "day", None, "toc:segment:2024-01-15:abc123", ""),
]


@pytest.mark.parametrize(("name", "above", "below", "node_id", "title"), LEVEL_VECTORS)
def test_s1_15_16_50_and_51_a_level_has_a_parent_a_child_and_its_form_of_id(
    name: str, above: str | None, below: str | None, node_id: str, title: str
) -> None:
    level = TocLevel(name)
    assert level.parent() == above and level.child() == below
    assert calendar.period(node_id).level is level
    assert calendar.canonical(node_id) == node_id
    assert calendar.title(node_id) == title
    parent = calendar.parent_id(node_id)
    assert (calendar.period(parent).level if parent else None) == above


@pytest.mark.parametrize(
    ("day", "hours"), [("2024-03-31", 23), ("2024-10-27", 25), ("2024-01-15", 24)]
)
def test_s1_17_a_day_is_as_long_as_the_clocks_make_it(day: str, hours: int) -> None:
    start, end = calendar.bounds(f"toc:day:{day}", ZoneInfo("Europe/Berlin"))
    assert end - start == timedelta(hours=hours)


def test_s1_17_a_segment_over_midnight_belongs_to_the_day_it_starts_in(
    workspace: Workspace,
) -> None:
    begun = datetime(2025, 3, 14, 23, 50, tzinfo=UTC)
    for minute, role in ((0, EventRole.USER), (20, EventRole.ASSISTANT)):
        said = make_message("The night build of the crane.", minute, role=role)
        at = begun + timedelta(minutes=minute)
        store_messages(replace(said, timestamp=at))
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    (day,) = browse.list_children("toc:week:2025-W11")
    assert day.node_id == "toc:day:2025-03-14"
    (segment,) = browse.list_children(day.node_id)
    assert segment.end_time.day == 15


def test_s1_17_the_zone_of_a_store_is_fixed_when_it_is_made(tmp_path: Path) -> None:
    home = tmp_path / "home"
    run_memtui(home, "--set", "store.time_zone=Asia/Tokyo", "import", str(HISTORY))
    output = run_memtui(home, "--set", "store.time_zone=UTC", "show", "--json").stdout
    assert json_data(output)
    # 19:30 in UTC is the next day in Tokyo.
    week = run_memtui(home, "show", "toc:week:2024-W04", "--json").stdout
    assert json_data(week)["child_node_ids"] == ["toc:day:2024-01-23"]


def test_s1_18_19_and_20_a_node_has_bullets_keywords_and_children(
    full_workspace: Workspace,
) -> None:
    data = replies.write_data(toc.get_node(full_workspace, "toc:week:2024-W03"))
    assert data["child_node_ids"] == ["toc:day:2024-01-18", "toc:day:2024-01-15"]
    assert {"JWT", "SESSION_TTL"} <= set(data["keywords"])
    assert "JWT tokens" in data["bullets"][0]["text"] and data["bullets"][0]["grip_ids"]
    days = [browse.get_node(name) for name in data["child_node_ids"]]
    grip_ids = {
        grip_id
        for day in days
        if day
        for bullet in day.bullets
        for grip_id in bullet.grip_ids
    }
    for bullet in data["bullets"]:
        for cited in bullet["grip_ids"]:
            assert any(grip_id.startswith(cited) for grip_id in grip_ids)


def test_s1_21_22_and_23_the_versions_of_a_node_count_up(
    full_workspace: Workspace,
) -> None:
    day = "toc:day:2024-01-18"
    for headline in ("Tokens", "Tokens are refreshed"):
        add_model_version(day, headline)
    with database.connection():
        listed = store_nodes.list_versions(day)
        node = store_nodes.get(day)
        made = [store_nodes.get_version(day, number) for number in (1, 2, 3)]
    assert [version.version for version in listed] == [3, 2, 1]
    assert node is not None and node.version == 3
    headlines = [version.headline for version in made if version]
    assert headlines[1:] == ["Tokens", "Tokens are refreshed"]
    # Each has the time when it was made.
    assert [version.created_at for version in listed[:2]] == [MADE_AT, MADE_AT]
    assert listed[2].created_at != MADE_AT


def test_s1_24_the_latest_version_is_the_one_that_is_shown(
    full_workspace: Workspace,
) -> None:
    day = "toc:day:2024-01-18"
    made = add_model_version(day, "Tokens are refreshed")
    assert made.version == 2
    node = browse.get_node(day)
    assert node is not None and node.headline == "Tokens are refreshed"
    with database.connection():
        latest = VersionRow.get_by_id(NodeRow.get_by_id(day).latest_id)
    assert (latest.node_id, latest.version) == (day, 2)
    # A rejected version is kept, and not shown.
    assert add_model_version(day, "Lies", rejected="it lies").version == 3
    node = browse.get_node(day)
    assert node is not None and node.headline == "Tokens are refreshed"


def test_s1_25_versions_are_never_changed(full_workspace: Workspace) -> None:
    changed = pytest.raises(peewee.IntegrityError, match="versions are never changed")
    with changed, database.transaction():
        VersionRow.update(title="rewritten").execute()


def test_s1_26_a_version_is_read_by_its_number(full_workspace: Workspace) -> None:
    day = "toc:day:2024-01-18"
    first = node_versions.get_version(day, 1)
    add_model_version(day, "Tokens are refreshed")
    assert node_versions.get_version(day, 1) == first
    second = node_versions.get_version(day, 2)
    assert second is not None and second.headline == "Tokens are refreshed"
    assert node_versions.get_version(day, 3) is None
    replaced = pytest.raises(peewee.IntegrityError, match="versions are never replaced")
    with replaced, database.transaction():
        VersionRow.insert(
            **{**VersionRow.select().dicts().first(), "id": 10_000}
        ).execute()


def test_s1_27_a_grips_id_follows_from_its_content() -> None:
    event = make_event()
    grip_id = citations.grip_id("toc:segment:x", "A bullet", event)
    assert re.fullmatch(r"grip:1706540400000:[0-9a-f]{16}", grip_id)
    assert grip_id == citations.grip_id("toc:segment:x", "A bullet", event)
    assert grip_id != citations.grip_id("toc:segment:x", "Another bullet", event)
    assert grip_id != citations.grip_id("toc:segment:y", "A bullet", event)
    other = make_event(text="Said in the same moment.")
    assert grip_id != citations.grip_id("toc:segment:x", "A bullet", other)


def test_s1_28_and_30_a_grip_has_words_and_time_of_its_first_event(
    full_workspace: Workspace,
) -> None:
    with database.connection():
        assert GripRow.select().count() > 10
        for row in GripRow.select():
            spanned = [
                EventRow.get_by_id(name)
                for name in (row.start_event_id, row.end_event_id)
            ]
            assert any(row.excerpt in event.text for event in spanned)
            assert row.at_ms == spanned[0].at_ms
            assert row.id.startswith(f"grip:{row.at_ms}:")


def test_s1_29_grips_are_never_changed_or_deleted(full_workspace: Workspace) -> None:
    changed = pytest.raises(peewee.IntegrityError, match="grips are never changed")
    with changed, database.transaction():
        GripRow.update(excerpt="rewritten").execute()
    deleted = pytest.raises(peewee.IntegrityError, match="only deleted by forgetting")
    with deleted, database.transaction():
        GripRow.delete().execute()
    replaced = pytest.raises(peewee.IntegrityError, match="grips are never replaced")
    with replaced, database.transaction():
        GripRow.replace(
            **{**GripRow.select().dicts().first(), "excerpt": "x"}
        ).execute()
    for table in ("bullet_grips", "bullets"):
        deleted = pytest.raises(peewee.IntegrityError, match="versions are only delet")
        with deleted, database.transaction():
            database.execute(f"DELETE FROM {table}")


def test_s1_31_32_and_61_a_grip_says_what_made_it_and_for_which_node(
    full_workspace: Workspace,
) -> None:
    with database.connection():
        assert GripRow.select().count() > 10
        for row in GripRow.select():
            assert row.source == "segment_summarizer"
            assert row.node_id.startswith("toc:segment:")
            assert row.start_event_id <= row.end_event_id


def test_s1_33_the_example_of_a_bullet_is_linked_to_the_thanks() -> None:
    said = [
        ("user", "Can you explain Rust's ownership model?"),
        ("assistant", "Each value has one owner, so no garbage collector is needed."),
        ("user", "Thanks, that clarifies memory safety!"),
    ]
    talk = [
        make_message(text, 60 * n, role=EventRole(role))
        for n, (role, text) in enumerate(said)
    ]
    draft = DraftBullet("User asked about Rust memory safety")
    (bullet,) = checks.ground_bullets([draft], Evidence(talk))
    assert bullet.excerpt == "Thanks, that clarifies memory safety!"
    assert bullet.last == talk[2] and not bullet.verdict.objection


def test_s1_34_and_37_a_segments_time_is_that_of_its_own_events(
    full_workspace: Workspace,
) -> None:
    for day in ("2024-01-15", "2024-01-18"):
        for entry in browse.list_children(f"toc:day:{day}"):
            first = entry.node_id.rpartition(":")[2]
            assert events.timestamp_ms_of_id(first) == events.to_ms(entry.start_time)
            assert entry.node_id.startswith(f"toc:segment:{day}:")


def test_s1_35_36_and_38_overlap_is_context_and_not_counted(
    workspace: Workspace,
) -> None:
    talk = [
        make_message("Polish the harbour crane."),
        make_message("I polish it.", 60, role=EventRole.ASSISTANT),
        make_message("Now polish the winch, too.", 120),
        make_message("Both are done.", 240, role=EventRole.ASSISTANT),
    ]
    talk[1] = replace(talk[1], tokens=2_500)
    talk[2] = replace(talk[2], tokens=10)
    talk[3] = replace(talk[3], tokens=2_500)
    store_messages(*talk)
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    with database.connection():
        first, last = SegmentRow.select().order_by(SegmentRow.start_ms)
    assert (first.events, first.tokens) == (3, 2_510)
    assert (last.events, last.tokens) == (1, 2_500)
    assert last.first_event_id == last.last_event_id == talk[3].event_id
    assert last.start_ms == talk[3].timestamp_ms
    # It has no request of its own: what was asked before names it.
    node = browse.get_node(last.id)
    assert node is not None and node.title.endswith("(continued)")
    assert "polish the winch" in node.title
    with database.connection():
        for bullet in node.bullets:
            for grip_id in bullet.grip_ids:
                row = GripRow.get_by_id(grip_id)
                assert row.start_event_id == row.end_event_id == talk[3].event_id


def test_s1_36_a_boundary_alone_makes_no_segment(workspace: Workspace) -> None:
    start = make_event(event_type=EventType.SESSION_START, text="")
    end = make_event(event_type=EventType.SESSION_END, text="")
    store_messages(start, end)
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    assert browse.list_children() == []


def test_s1_36_events_of_subagents_are_kept_but_make_no_segments(
    workspace: Workspace,
) -> None:
    store_messages(
        make_message("Polish the harbour crane.", 0),
        make_message("Feed the walrus.", 5, subagent="a1"),
        make_message("All is polished.", 9, role=EventRole.ASSISTANT),
    )
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    (day,) = browse.list_children("toc:week:2025-W11")
    (segment,) = browse.list_children(day.node_id)
    node = browse.get_node(segment.node_id)
    assert node is not None and node.counts.subagent_events == 1
    assert not any("walrus" in bullet.text for bullet in node.bullets)
    (hit,) = workspace.message_search.find("walrus").hits
    assert hit.event is not None and hit.event.subagent == "a1"


@pytest.mark.parametrize(
    ("pause_min", "words", "expected"),
    [(29, 10, 1), (30, 10, 1), (31, 10, 2), (1, 3_000, 2)],
)
def test_s1_39_40_and_41_a_pause_or_too_many_tokens_end_a_segment(
    workspace: Workspace, tmp_path: Path, pause_min: int, words: int, expected: int
) -> None:
    file = tmp_path / "events.jsonl"
    lines = [
        {
            "session_id": "s1",
            "role": "user",
            "text": f"Polish the crane {number}. " + "word " * words,
            "timestamp": f"2025-03-14T10:{pause_min * number:02}:00Z",
        }
        for number in range(2)
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    list(workspace.pipeline.importer().run([file]))
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    assert len(browse.list_children("toc:day:2025-03-14")) == expected


def test_s1_42_43_and_44_an_event_and_its_outbox_rows_are_written_together(
    workspace: Workspace,
) -> None:
    with pytest.raises(ZeroDivisionError), database.transaction():
        store_events.add([make_event()], route="hook")
        raise ZeroDivisionError
    with database.connection():
        assert not EventRow.select().count() and not queues.count_rows()
    with database.transaction():
        store_events.add([make_event()], route="hook")
    with database.connection():
        actions = {row.action for row in queues.count_rows_by_action()}
    assert {"index_event", "update_toc"} <= actions


def test_s1_45_and_46_pending_work_is_done_after_a_restart(
    workspace: Workspace, settings: Settings
) -> None:
    store_messages(make_message("Where is the harbour crane?"))
    with database.connection():
        assert queues.count_rows()
    workspace.stop()
    again = Workspace(workspace.paths, settings)
    assert again.pipeline.run_until_idle(lambda _: None) == []
    with database.connection():
        assert not queues.count_rows()
    assert again.message_search.find("harbour crane").hits
    again.stop()


def test_s1_49_the_events_of_a_session_are_kept_in_their_order(
    workspace: Workspace,
) -> None:
    lifecycle: list[tuple[str, dict[str, Any], str, str]] = [
        ("SessionStart", {}, "session_start", "system"),
        (
            "UserPromptSubmit",
            {"prompt": "Read the config file"},
            "user_message",
            "user",
        ),
        (
            "PostToolUse",
            {
                "tool_name": "Read",
                "tool_input": {"file_path": "/app/config.toml"},
                "tool_response": "port = 80",
            },
            "tool_result",
            "tool",
        ),
        ("Stop", {"content": "Here's the config..."}, "assistant_message", "assistant"),
        ("UserPromptSubmit", {"prompt": "Thanks!"}, "user_message", "user"),
        ("SessionEnd", {}, "session_end", "system"),
    ]
    new = workspace.paths.spool / "new"
    new.mkdir(parents=True)
    for number, (name, fields, _, _) in enumerate(lifecycle):
        payload = {"session_id": "s1", "hook_event_name": name, **fields}
        payload["timestamp"] = f"2025-03-14T10:00:{number:02}Z"
        (new / f"{number}.json").write_text(json.dumps(payload))
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    with database.connection():
        rows = EventRow.select().order_by(EventRow.at_ms, EventRow.ordinal)
        stored = [(row.type, row.role) for row in rows if row.type != "assistant_stop"]
        texts = [row.text for row in rows if row.type == "tool_result"]
    assert stored == [(event_type, role) for *_, event_type, role in lifecycle]
    assert texts == ["Read: /app/config.toml\nport = 80"]


WEEK_VECTORS = [
    ("2024-12-30", "2025-W01", "2025-01", "2025"),
    ("2021-01-01", "2020-W53", "2020-12", "2020"),
    ("2024-09-30", "2024-W40", "2024-10", "2024"),
    ("2026-02-01", "2026-W05", "2026-01", "2026"),
    ("2024-01-15", "2024-W03", "2024-01", "2024"),
]


@pytest.mark.parametrize(("day", "week", "month", "year"), WEEK_VECTORS)
def test_s1_51_a_week_belongs_to_the_month_and_year_of_its_thursday(
    day: str, week: str, month: str, year: str
) -> None:
    ids = [f"toc:day:{day}"]
    while (parent := calendar.parent_id(ids[-1])) is not None:
        ids.append(parent)
    assert ids[1:] == [f"toc:week:{week}", f"toc:month:{month}", f"toc:year:{year}"]


def test_s1_52_and_56_the_way_down_ends_at_a_segment_with_its_events(
    full_workspace: Workspace,
) -> None:
    path = [browse.list_children()[0]]
    while children := browse.list_children(path[-1].node_id):
        path.append(children[-1])
    levels = [entry.level.value for entry in path]
    assert levels == ["year", "month", "week", "day", "segment"]
    segment = browse.get_node(path[-1].node_id)
    assert segment is not None and segment.counts.events == 11
    data = replies.write_data(toc.get_node(full_workspace, segment.node_id))
    cited = data["bullets"][0]["grip_ids"][0]
    excerpt = sessions.expand_grip(full_workspace, cited).lists["excerpt"]
    assert excerpt[0]["text"].startswith("Sessions time out after ten minutes")


def test_s1_53_and_68_the_years_are_the_root(full_workspace: Workspace) -> None:
    years = ["toc:year:2024", "toc:year:2023"]
    assert [entry.node_id for entry in browse.list_children()] == years
    for reply in (toc.get_toc_root(full_workspace), toc.browse_toc(full_workspace)):
        assert [item["node_id"] for item in reply.items] == years


def test_s1_54_a_node_is_got_by_its_id_or_not_at_all(full_workspace: Workspace) -> None:
    node = browse.get_node("toc:day:2024-01-15")
    assert node is not None and node.title == "Monday, January 15, 2024"
    assert browse.get_node("toc:day:1999-01-01") is None
    unknown = toc.get_node(full_workspace, "toc:day:1999-01-01")
    assert not unknown.items and unknown.notes == (toc.NO_NODE,)


def test_s1_55_children_are_browsed_page_by_page(full_workspace: Workspace) -> None:
    node_ids, token, calls = list[str](), "", 0
    while True:
        page = toc.browse_toc(full_workspace, "toc:month:2024-01", limit=1, token=token)
        node_ids += [item["node_id"] for item in page.items]
        assert page.next_page is not None
        place = page.next_page(len(page.items))
        calls += 1
        if not place["has_more"]:
            break
        token = place["continuation_token"]
    assert place["continuation_token"] is None
    assert node_ids == ["toc:week:2024-W04", "toc:week:2024-W03"] and calls == 2


def test_s1_57_58_and_59_an_excerpt_has_the_events_of_its_session_around_it(
    workspace: Workspace,
) -> None:
    said = [
        ("user", "I'm having trouble with authentication"),
        ("assistant", "What error are you seeing?"),
        ("user", "JWT token expired error"),
        ("assistant", "That's a common issue..."),
        ("user", "How do I refresh the token?"),
        ("assistant", "Call the refresh endpoint"),
        ("user", "That worked, thanks!"),
        ("assistant", "Great! Let me know..."),
    ]
    messages = [
        make_message(text, 60 * n, role=EventRole(role))
        for n, (role, text) in enumerate(said)
    ]
    beside = make_message("Another talk.", 190, session="s2")
    store_messages(*messages, beside)
    first, last = messages[2], messages[5]
    with database.transaction():
        grip = citations.Grip(
            citations.grip_id("toc:segment:x", "Token refresh", first),
            "How do I refresh the token?",
            first.event_id,
            last.event_id,
            first.timestamp,
            "segment_summarizer",
        )
        versions.add_grips([grip])
    expansion = conversation.expand(grip.grip_id, before=2, after=2)

    def texts(group: tuple[Event, ...]) -> list[str]:
        return [event.text for event in group]

    assert texts(expansion.events_before) == [text for _, text in said[:2]]
    assert texts(expansion.excerpt_events) == [text for _, text in said[2:6]]
    assert texts(expansion.events_after) == [text for _, text in said[6:]]


@pytest.mark.parametrize("name", ["events", "grips", "node_versions", "outbox"])
def test_s1_62_the_store_has_a_table_for_each_kind_of_data(
    workspace: Workspace, name: str
) -> None:
    with database.connection():
        tables = set(database.db.get_tables())
    assert name in tables and {"nodes", "checkpoints"} <= tables


def test_s1_63_the_order_of_ids_is_the_order_of_times() -> None:
    times = [AT + timedelta(milliseconds=n * n) for n in range(50)]
    ids = [make_event(timestamp=at, text=f"word {at}").event_id for at in times]
    assert ids == sorted(ids)


@pytest.mark.parametrize(
    "interval",
    [
        "2024-01-18 10:02-10:04",
        "2024-01-18T10:02:00Z/2024-01-18T10:04:00Z",
        "1705572120000-1705572240000",
    ],
)
def test_s1_64_a_range_of_times_is_read(interval: str) -> None:
    now = datetime(2024, 1, 20, tzinfo=UTC)
    (period,) = dates.read_exact(interval, now, UTC)
    assert period.start == datetime(2024, 1, 18, 10, 2, tzinfo=UTC)
    assert period.end is not None
    assert period.end.replace(microsecond=0) == datetime(2024, 1, 18, 10, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    ("when", "count"),
    [
        ("2024-01-15", 11),
        ("between 10:02 and 10:06 on 18 January 2024", 2),
        ("2024-01-18", 16),
        ("2024-01-16", 0),
    ],
)
def test_s1_64_events_are_read_by_a_range_of_times(
    full_workspace: Workspace, when: str, count: int
) -> None:
    reply = sessions.get_events(full_workspace, when, limit=50)
    assert len(reply.items) == count
    times = [item["at"] for item in reply.items]
    assert times == sorted(times)


def test_s1_65_the_keys_of_the_outbox_never_restart(workspace: Workspace) -> None:
    with database.transaction():
        queues.add_nodes(["toc:year:2024"], 0)
        (last,) = [row.id for row in OutboxRow.select()]
        queues.delete_rows([last])
        assert not queues.count_rows()
        queues.add_nodes(["toc:year:2024"], 0)
        (row,) = OutboxRow.select()
    assert row.id > last


def test_s1_66_a_job_has_one_checkpoint_under_its_name(
    full_workspace: Workspace,
) -> None:
    def names() -> list[str]:
        with database.connection():
            return sorted(row.job_name for row in CheckpointRow.select())

    jobs = ["rollup_day", "rollup_month", "rollup_week", "rollup_year"]
    assert names() == jobs
    store_messages(make_message("Polish the harbour crane."))
    assert full_workspace.pipeline.run_until_idle(lambda _: None) == []
    assert names() == jobs


def test_s1_67_an_ingested_event_is_answered_with_its_id(workspace: Workspace) -> None:
    output: dict[str, Any] = {
        "session": "mcp:s1",
        "event_type": "user_message",
        "text": "Feed the walrus.",
        "timestamp": "2024-02-20T10:00:00+00:00",
        "metadata": {"ticket": "ZOO-7"},
    }
    first = changes.ingest_event(workspace, **output).head
    assert first["created"] is True
    # Known while it waits in the spool, and once it is stored.
    assert changes.ingest_event(workspace, **output).head | {"created": True} == first
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    again = changes.ingest_event(workspace, **output).head
    assert (again["event_id"], again["created"]) == (first["event_id"], False)
    with database.connection():
        (event,) = store_events.get([first["event_id"]]).values()
    assert event.metadata["ticket"] == "ZOO-7"
    assert first["timestamp"] == "2024-02-20T10:00:00.000Z"


def test_s1_67_a_known_event_is_answered_with_its_own_time(
    workspace: Workspace,
) -> None:
    event: dict[str, Any] = {
        "session": "mcp:s1",
        "event_type": "user_message",
        "text": "Feed the walrus.",
        "message_id": "walrus-1",
    }
    times = [f"2024-02-20T10:0{minute}:00.000Z" for minute in range(3)]
    first = changes.ingest_event(workspace, **event, timestamp=times[0]).head
    waiting = changes.ingest_event(workspace, **event, timestamp=times[1]).head
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    stored = changes.ingest_event(workspace, **event, timestamp=times[2]).head
    assert waiting == stored == first | {"created": False}


def test_s1_69_programs_read_events_and_excerpts(full_workspace: Workspace) -> None:
    def call(name: str, **arguments: object) -> dict[str, Any]:
        tool = next(candidate for candidate in TOOLS if candidate.name == name)
        reply = tool.run(full_workspace, tool.check(arguments))
        return dict(replies.write_data(reply))

    listed = call("get_events", when="2024-01-18", limit=50)["events"]
    assert len(listed) == 16 and listed[0]["role"] == "user"
    expanded = call("expand_grip", grip_id=listed[2]["id"], before=1, after=1)
    names = {name: expanded[name][0]["id"] for name in ("before", "excerpt", "after")}
    assert list(names.values()) == [event["id"] for event in listed[1:4]]


def test_s1_71_times_are_exact_and_in_utc(full_workspace: Workspace) -> None:
    session = sessions.list_sessions(full_workspace, limit=1).items[0]
    (event,) = sessions.get_events(full_workspace, "15 January 2024", limit=1).items
    for time in (session["created_at"], session["updated_at"], event["at"]):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", time)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"event_type": "unspecified"}, "event_type must be one of"),
        ({"event_type": ""}, "event_type"),
        ({"event_type": "user_message", "timestamp": "soon"}, "timestamp"),
        ({"event_type": "user_message", "role": "robot"}, "no 'role' here"),
        ({"event_type": "user_message", "metadata": "x"}, "metadata"),
    ],
)
def test_s1_72_an_event_of_no_type_is_refused(
    workspace: Workspace, fields: dict[str, Any], reason: str
) -> None:
    tool = next(candidate for candidate in TOOLS if candidate.name == "ingest_event")
    event = {"session": "mcp:s1", "text": "Feed the walrus."} | fields
    answer = ToolRunner(lambda: workspace).call(tool, event)
    assert answer.error is not None and reason in answer.text
    # Optional fields may be left out.
    answer = ToolRunner(lambda: workspace).call(
        tool, {"session": "mcp:s1", "event_type": "user_message", "text": "Hi."}
    )
    assert answer.error is None


def test_s1_73_jobs_can_be_paused_and_resumed(workspace: Workspace) -> None:
    def paused() -> set[str]:
        jobs = changes.scheduler_status(workspace).items
        return {job["job"] for job in jobs if job["is_paused"]}

    assert paused() == set()
    changes.scheduler_pause(workspace, jobs=["rollup_day"])
    assert paused() == {"rollup_day"}
    changes.scheduler_resume(workspace, jobs=["rollup_day"])
    assert paused() == set()


def test_s1_74_the_store_is_the_file_of_the_setting(tmp_path: Path) -> None:
    file = tmp_path / "elsewhere" / "store.db"
    setting = ("--set", f"store.path={file}")
    home = tmp_path / "home"
    run_memtui(home, *setting, "import", str(HISTORY))
    assert file.is_file() and not (home / "memory.db").exists()
    assert json_data(run_memtui(home, *setting, "sessions", "--json").stdout)[
        "sessions"
    ]
    without = run_memtui(home, "sessions", "--json", code=1)
    assert "there is no store" in without.stderr


def test_s1_75_and_76_programs_are_served_at_a_port_of_this_machine_alone(
    full_workspace: Workspace, tmp_path: Path
) -> None:
    # The seed serves the network at port 50051.
    server = http_server.create(ToolRunner(lambda: full_workspace), 0, "key")
    host, port = server.server_address[:2]
    server.server_close()
    assert host == "127.0.0.1" and port
    assert "default 8765" in run_memtui(tmp_path / "home", "serve", "--help").stdout


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("store.mode", "unified"),
        ("log.level", "info"),
        ("summaries.provider", "auto"),
        ("summaries.url", "http://127.0.0.1:11434"),
        ("segments.max_gap_min", 30.0),
        ("segments.max_tokens", 4000),
        ("segments.overlap_min", 5.0),
        ("segments.overlap_tokens", 500),
        ("jobs.day", "0 1 * * *"),
        ("jobs.week", "0 2 * * 0"),
        ("jobs.month", "0 3 1 * *"),
    ],
)
def test_s1_77_and_79_built_in_values_are_those_of_the_documents(
    name: str, value: object
) -> None:
    assert Settings().value(name) == value


def test_s1_78_an_agent_is_a_name_to_filter_by(full_workspace: Workspace) -> None:
    reply = sessions.list_sessions(full_workspace, scope=Scope(agent="codex"))
    assert [item["id"] for item in reply.items] == ["codex:grep-1"]
    scoped = toc.get_toc_root(full_workspace, scope=Scope(agent="codex"))
    assert [item["node_id"] for item in scoped.items] == ["toc:year:2024"]


SETTING_SOURCES = ["built in", "default file", "given file", "environment", "command"]


@pytest.mark.parametrize("highest", range(len(SETTING_SOURCES)))
def test_s1_80_to_83_settings_have_an_order_of_precedence(
    highest: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    default, given = tmp_path / "config.toml", tmp_path / "other.toml"
    if highest >= 1:
        default.write_text('[log]\nlevel = "debug"\n')
    if highest >= 2:
        given.write_text('[log]\nlevel = "warning"\n')
    if highest >= 3:
        monkeypatch.setenv("MEMTUI_LOG__LEVEL", "error")
    loaded = load(
        default,
        config_file=given if highest >= 2 else None,
        assignments=["log.level=info"] if highest >= 4 else [],
    )
    assert loaded.log_level == ["info", "debug", "warning", "error", "info"][highest]
    where = ["default", str(default), str(given), "MEMTUI_LOG__LEVEL", "command line"]
    assert loaded.origin("log.level").startswith(where[highest])


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('[log]\nlevle = "info"\n', "log.levle"),
        ('[log]\nlevel = "loud"\n', "log.level"),
        ("[segments]\nmax_tokens = 0\n", "segments.max_tokens"),
        ('[jobs]\nday = "never"\n', "jobs.day"),
    ],
)
def test_s1_82_a_wrong_setting_names_the_file_and_the_key(
    text: str, named: str, tmp_path: Path
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    with pytest.raises(SettingsError) as error:
        load(file, config_file=None, assignments=[])
    assert str(file) in str(error.value) and named in str(error.value)


@pytest.mark.parametrize("provider", ["openai", "anthropic", "local"])
def test_s1_84_and_85_no_provider_in_the_cloud_can_be_chosen(
    provider: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match="auto, ollama, extractive"):
        load(tmp_path / "none", assignments=[f"summaries.provider={provider}"])
    with pytest.raises(SettingsError, match="there is no setting"):
        load(tmp_path / "none", assignments=["summaries.api_key=secret"])


def test_s1_86_the_model_is_a_setting(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[summaries]\nprovider = "ollama"\nmodel = "qwen3:4b"\n')
    settings = load(file, config_file=None, assignments=[])
    assert (settings.summaries_provider, settings.summaries_model) == (
        "ollama",
        "qwen3:4b",
    )
    assert model_options(settings).model == "qwen3:4b"
    # Without it one of those that are installed is used.
    assert Settings().summaries_model == ""


def test_s1_87_projects_share_nothing_in_separate_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, file, names = tmp_path / "home", tmp_path / "both.jsonl", ("a", "b")
    lines = []
    for name in names:
        (tmp_path / name / ".git").mkdir(parents=True)
        line = {"session_id": f"session-{name}", "role": "user", "text": "Go on."}
        line |= {"timestamp": "2025-03-14T10:00:00Z", "cwd": str(tmp_path / name)}
        lines.append(json.dumps(line))
    file.write_text("\n".join(lines) + "\n")

    def run(name: str, *words: str) -> str:
        monkeypatch.chdir(tmp_path / name)
        return run_memtui(home, "--set", "store.mode=separate", *words).stdout

    for name in names:
        run(name, "import", str(file))
    lists = [json_data(run(name, "sessions", "--json"))["sessions"] for name in names]
    ids = [
        [session["id"].rpartition(":")[2] for session in sessions] for sessions in lists
    ]
    assert ids == [["session-a"], ["session-b"]]


def test_s1_88_one_store_holds_all_projects_and_agents_by_default(
    full_workspace: Workspace,
) -> None:
    projects = {
        item["project"] for item in sessions.list_sessions(full_workspace).items
    }
    assert projects == {"shop", "logsift", "notes"}
    text = json.dumps(
        replies.write_data(
            toc.get_toc_root(full_workspace, scope=Scope(project="notes"))
        )
    )
    assert "toc:year:2023" in text and "toc:year:2024" not in text


@pytest.mark.parametrize(
    ("cron", "expected"),
    [
        ("0 0 1 * * *", "2024-01-31T01:00:00"),
        ("0 0 2 * * 0", "2024-02-04T02:00:00"),
        ("0 0 3 1 * *", "2024-02-01T03:00:00"),
        ("30 15 1 * * *", "2024-01-31T01:15:30"),
    ],
)
def test_s1_89_schedules_have_six_fields(
    cron: str, expected: str, tmp_path: Path
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f'[jobs]\nday = "{cron}"\n')
    settings = load(file, config_file=None, assignments=[])
    schedule = JobSchedule(Job.DAY, settings.jobs_day, UTC, 0, "a")
    at = datetime(2024, 1, 30, 12, tzinfo=UTC)
    assert schedule.next_run(at) == datetime.fromisoformat(f"{expected}+00:00")
    assert schedule.is_due(at, schedule.next_run(at))


def test_s1_90_an_older_version_can_be_shown_again(full_workspace: Workspace) -> None:
    day, now = "toc:day:2024-01-18", datetime(2024, 3, 1, tzinfo=UTC)
    before = browse.get_node(day)
    add_model_version(day, "Tokens are refreshed")
    assert before is not None and before.version == 1
    node_versions.pin(day, 1, UTC, now)
    node = browse.get_node(day)
    assert node is not None
    assert (node.version, node.bullets) == (1, before.bullets)
    assert node.is_pinned
    node_versions.unpin(day, UTC, now)
    node = browse.get_node(day)
    assert node is not None and node.version == 2


def test_s1_91_a_time_is_read_without_reading_all_events(
    full_workspace: Workspace,
) -> None:
    # Rows are found by an index of the times, not by a scan.
    statements: list[str] = []
    with database.connection():
        database.db.connection().set_trace_callback(statements.append)
        reply = sessions.get_events(full_workspace, "2024-01-18", limit=50)
        database.db.connection().set_trace_callback(None)
        reads = [text for text in statements if "FROM events" in text]
        plans = [
            detail
            for text in reads
            for *_, detail in database.db.execute_sql(f"EXPLAIN QUERY PLAN {text}")
        ]
    assert len(reply.items) == 16
    assert plans[0].startswith("SEARCH e ") and plans[0].endswith("(id>? AND id<?)")


def test_s1_92_the_order_of_arrival_does_not_matter(
    tmp_path: Path, settings: Settings
) -> None:
    lines = HISTORY.read_text("utf-8").splitlines()
    trees = []
    for number, ordered_lines in enumerate((lines, lines[::-1])):
        file = tmp_path / f"{number}.jsonl"
        file.write_text("\n".join(ordered_lines) + "\n", "utf-8")
        workspace = Workspace(in_home(tmp_path / f"home{number}"), settings)
        list(workspace.pipeline.importer().run([file]))
        assert workspace.pipeline.run_until_idle(lambda _: None) == []
        with database.connection():
            nodes = [store_nodes.get(name) for name in store_nodes.list_ids()]
            trees.append(
                [(node.node_id, node.headline, node.bullets) for node in nodes if node]
            )
        workspace.stop()
    assert trees[0] == trees[1] and len(trees[0]) > 10
