import json
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.capture import formats
from memtui.capture.formats import opencode
from memtui.capture.formats.base import (
    Cursor,
    FileReplaced,
    InvalidRecord,
    ParsedItem,
    PendingRecord,
    SkippedRecord,
)
from memtui.model.events import Event, EventRole, EventType, Thought, to_ms
from memtui.model.sessions import SessionMetadata, SubagentMetadata
from memtui.paths import transcript_folders
from tests.conftest import often

NOW = datetime(2026, 11, 21, tzinfo=UTC)
START = to_ms(datetime(2026, 3, 14, 10, tzinfo=UTC))

SCHEMA = """
CREATE TABLE project (id text PRIMARY KEY, worktree text NOT NULL, vcs text, name text,
  time_created integer NOT NULL, time_updated integer NOT NULL, sandboxes text);
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, workspace_id text,
  parent_id text, slug text NOT NULL, directory text NOT NULL, path text,
  title text NOT NULL, version text NOT NULL, share_url text,
  summary_additions integer, summary_deletions integer, summary_files integer,
  summary_diffs text, cost real DEFAULT 0 NOT NULL, revert text, permission text,
  agent text, model text, time_created integer NOT NULL,
  time_updated integer NOT NULL, time_compacting integer, time_archived integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL
  REFERENCES session(id) ON DELETE CASCADE, time_created integer NOT NULL,
  time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL
  REFERENCES message(id) ON DELETE CASCADE, session_id text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX message_session_idx ON message (session_id, time_created, id);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
"""


class Agent:
    """Writes to a database as OpenCode does, on one open connection."""

    def __init__(self, path: Path, *, journal: str = "WAL") -> None:
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.execute(f"PRAGMA journal_mode = {journal}")
        self.db.executescript(SCHEMA)
        row = ("p", "/home/ada/shop", START, START, "[]")
        self.put("project", "id worktree time_created time_updated sandboxes", *row)

    def put(self, table: str, names: str, *row: object) -> None:
        marks = ", ".join("?" * len(row))
        columns = ", ".join(names.split())
        self.db.execute(
            f"INSERT OR REPLACE INTO {table} ({columns}) VALUES ({marks})", row
        )

    def session(self, name: str = "s1", **more: Any) -> None:
        defaults = {
            "id": name,
            "project_id": "p",
            "slug": name,
            "directory": "/home/ada/shop/web",
            "title": "The cart",
            "version": "1.3.17",
            "time_created": START,
            "time_updated": START,
        } | more
        self.put("session", " ".join(defaults), *defaults.values())

    def message(self, number: int, role: str, session: str = "s1", **more: Any) -> str:
        name, at = f"msg_{number:04}", START + number * 1000
        fields = {"role": role, "time": {"created": at}} | more
        if role == "assistant" and "time" not in more:
            fields["time"] = {"created": at, "completed": at + 900}
        names = "id session_id time_created time_updated data"
        self.put("message", names, name, session, at, at, json.dumps(fields))
        return name

    def part(self, number: int, kind: str, key: str = "a", **fields: Any) -> None:
        message, at = f"msg_{number:04}", START + number * 1000
        names = "id message_id session_id time_created time_updated data"
        raw = json.dumps({"type": kind} | fields)
        self.put("part", names, f"prt_{number:04}{key}", message, "s1", at, at, raw)

    def tool(self, number: int, key: str = "b", **state: Any) -> None:
        at = START + number * 1000
        defaults = {
            "status": "completed",
            "input": {"command": "pytest -q"},
            "output": "3 passed",
            "time": {"start": at + 100, "end": at + 500},
        }
        about = {"callID": f"call_{number}{key}", "tool": "bash"}
        self.part(number, "tool", key, state=defaults | state, **about)

    def says(self, number: int, role: str, text: str, **more: Any) -> None:
        self.message(number, role, **more)
        self.part(number, "text", text=text)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "opencode.db"


@pytest.fixture
def agent(path: Path) -> Iterator[Agent]:
    agent = Agent(path)
    with closing(agent.db):
        agent.session()
        yield agent


def read_items(
    path: Path, start: Cursor | None = None, now: datetime = NOW
) -> list[ParsedItem]:
    return list(opencode.FORMAT.read(path, start, agent="x", now=now))


def read_events(path: Path) -> list[Event]:
    return [r for r in read_items(path) if isinstance(r, Event)]


def last_cursor(items: list[ParsedItem]) -> Cursor:
    return next(r for r in reversed(items) if isinstance(r, Cursor))


def soon(number: int) -> datetime:
    return datetime.fromtimestamp(START / 1000 + number + 1, UTC)


def test_database_in_use_is_read(agent: Agent, path: Path) -> None:
    agent.says(1, "user", "Run the tests")
    agent.says(2, "assistant", "I run them.")
    agent.tool(2)
    agent.part(2, "reasoning", "c", text="Which ones?", time={"start": START})
    agent.part(2, "step-start", "d")
    items = read_items(path)
    events = [r for r in items if isinstance(r, Event)]
    assert [(e.event_type, e.role, e.text) for e in events] == [
        (EventType.USER_MESSAGE, EventRole.USER, "Run the tests"),
        (EventType.ASSISTANT_MESSAGE, EventRole.ASSISTANT, "I run them."),
        (EventType.TOOL_RESULT, EventRole.TOOL, "bash: pytest -q\n3 passed"),
    ]
    assert events[2].timestamp_ms == START + 2500
    assert [r.text for r in items if isinstance(r, Thought)] == ["Which ones?"]
    assert SkippedRecord("step-start") in items


@pytest.mark.parametrize(
    "state",
    [
        {"metadata": {"exit": 0, "outputPath": "/home/ada/tool-output/tool_1"}},
        {"outputPaths": ["/home/ada/tool-output/tool_1"]},
    ],
)
def test_large_result_is_read_from_its_own_file(
    agent: Agent, path: Path, state: dict[str, Any]
) -> None:
    agent.message(2, "assistant")
    agent.tool(2, output="the beginning", **state)
    (event, *others) = (i for i in read_items(path) if isinstance(i, Event))
    assert event.text.endswith("\nthe beginning")
    (path.parent / "tool-output").mkdir()
    (path.parent / "tool-output/tool_1").write_text("all of it")
    (event,) = (i for i in read_items(path) if isinstance(i, Event))
    assert event.text.endswith("\nall of it") and not others


def test_session_metadata_comes_before_the_first_event(
    agent: Agent, path: Path
) -> None:
    agent.says(1, "user", "hi", model={"providerID": "x", "modelID": "glm"})
    items = read_items(path)
    facts = [r for r in items if isinstance(r, SessionMetadata)]
    assert isinstance(items[0], SessionMetadata)
    assert facts[-1] == SessionMetadata(
        "opencode",
        "s1",
        cwd="/home/ada/shop/web",
        root="/home/ada/shop",
        title="The cart",
        model="glm",
        at=datetime(2026, 3, 14, 10, tzinfo=UTC),
        facts_at=datetime(2026, 3, 14, 10, tzinfo=UTC),
    )


@pytest.mark.parametrize("is_listed", [False, True])
def test_session_without_folder_has_that_of_its_messages(
    agent: Agent, path: Path, is_listed: bool
) -> None:
    if is_listed:
        agent.session("s2", directory="")
    folders = {"cwd": "/home/ada/kiosk/src", "root": "/home/ada/kiosk"}
    agent.says(1, "user", "Why?", session="s2")
    agent.says(2, "assistant", "Because.", session="s2", path=folders)
    agent.db.commit()
    *_, last = (
        item
        for item in read_items(path)
        if isinstance(item, SessionMetadata) and item.session_id == "s2"
    )
    assert (last.cwd, last.root) == (folders["cwd"], folders["root"])


def test_title_of_an_older_export_does_not_replace_that_of_the_database(
    agent: Agent, path: Path
) -> None:
    agent.session(time_updated=START + 9000)
    agent.says(1, "user", "Why?")
    agent.db.commit()
    times = {"created": START, "updated": START + 5000}
    info = {"id": "s1", "title": "Older", "time": times}
    export = path.with_name("opencode-session-s1.json")
    export.write_text(json.dumps({"info": info, "messages": []}))
    facts_at = {
        file: {r.facts_at for r in read_items(file) if isinstance(r, SessionMetadata)}
        for file in (path, export)
    }
    assert facts_at == {path: {soon(8)}, export: {soon(4)}}


def test_messages_of_a_subagent_belong_to_its_session(agent: Agent, path: Path) -> None:
    agent.session("s2", parent_id="s1", title="Look around (@explore subagent)")
    agent.session("s3", parent_id="s2", title="Deeper")
    agent.says(1, "user", "Look", session="s2")
    agent.says(2, "user", "Deeper", session="s3")
    task = {"subagent_type": "explore", "description": "Look around"}
    agent.message(3, "assistant")
    agent.tool(3, input=task, metadata={"sessionId": "s2"})
    agent.db.execute("UPDATE part SET data = replace(data, '\"bash\"', '\"task\"')")
    items = read_items(path)
    events = [r for r in items if isinstance(r, Event)]
    assert [(e.session_id, e.subagent) for e in events] == [
        ("s1", "s2"),
        ("s1", "s3"),
        ("s1", ""),
    ]
    assert (
        SubagentMetadata("opencode", "s1", "s2", "explore", "", "Look around") in items
    )
    assert (
        SubagentMetadata("opencode", "s1", "s2", "explore", "call_3b", "Look around")
        in items
    )
    assert {r.session_id for r in items if isinstance(r, SessionMetadata)} == {"s1"}


def test_text_added_to_a_prompt_is_separated(agent: Agent, path: Path) -> None:
    agent.says(1, "user", "Explain a.py")
    agent.part(1, "text", "b", text="the file's text", synthetic=True)
    url = f"data:image/png;base64,{'A' * 4096}"
    agent.part(1, "file", "c", mime="image/png", filename="a.png", url=url)
    items = read_events(path)
    assert [(e.role, e.text) for e in items] == [
        (EventRole.USER, "Explain a.py\n\n[image: image/png, a.png, 3 kB]"),
        (EventRole.SYSTEM, "the file's text"),
    ]


def test_compaction_summary_has_the_role_system(agent: Agent, path: Path) -> None:
    agent.message(1, "user")
    agent.part(1, "compaction", auto=True)
    agent.says(2, "assistant", "So far…", summary=True)
    items = read_events(path)
    assert items[0].event_type is EventType.SESSION_START
    assert (items[1].role, items[1].metadata["kind"]) == (
        EventRole.SYSTEM,
        "compact_summary",
    )


def test_errors_are_reported(agent: Agent, path: Path) -> None:
    agent.message(
        1, "assistant", error={"name": "APIError", "data": {"message": "429"}}
    )
    agent.message(2, "assistant")
    agent.tool(2, status="error", error="no such file")
    failed, call = read_events(path)
    assert (failed.text, failed.metadata["kind"]) == ("429", "api_error")
    assert call.text == "bash: pytest -q\nno such file"
    assert failed.metadata["is_error"] == "true"
    assert call.metadata["call_end"] == "failed"


def test_a_message_is_held_back_until_it_is_finished(agent: Agent, path: Path) -> None:
    agent.says(1, "user", "go")
    agent.says(2, "assistant", "I am", time={"created": START + 2000})
    early = read_items(path, now=soon(3))
    awaited = PendingRecord("a message that is still being written")
    assert early.count(awaited) == 2
    assert not [r for r in early if isinstance(r, Event)]
    cursor = last_cursor(early)
    assert cursor.needs_reread
    agent.part(2, "text", text="I am done.")
    agent.message(2, "assistant")
    late = read_items(path, cursor, soon(60))
    assert [r.text for r in late if isinstance(r, Event)] == ["go", "I am done."]
    assert not last_cursor(late).needs_reread


def test_abandoned_message_is_stored_unfinished(agent: Agent, path: Path) -> None:
    agent.message(2, "assistant", time={"created": START})
    agent.tool(2, status="running", output=None, time={"start": START})
    early = read_items(path, now=soon(3000))
    assert not [r for r in early if isinstance(r, Event)]
    (event,) = [r for r in read_items(path, last_cursor(early)) if isinstance(r, Event)]
    assert event.metadata["call_end"] == "unfinished"


def test_messages_are_yielded_once(agent: Agent, path: Path) -> None:
    agent.says(1, "user", "go")
    cursor = last_cursor(read_items(path))
    agent.says(1, "user", "go!", summary={"title": "Going"})
    agent.says(2, "user", "more")
    items = read_items(path, cursor)
    assert [r.text for r in items if isinstance(r, Event)] == ["more"]


def test_reading_in_pieces_gives_the_same_items(agent: Agent, path: Path) -> None:
    pieces: list[ParsedItem] = []
    cursor = None
    for number in range(1, 40, 3):
        steps = (
            lambda n=number: agent.message(n, "user"),
            lambda n=number: agent.part(n, "text", text=f"prompt {n}"),
            lambda n=number: agent.message(
                n + 1, "assistant", time={"created": START + n * 1000}
            ),
            lambda n=number: agent.part(n + 1, "text", text=f"I do {n}"),
            lambda n=number: agent.tool(n + 1, status="running"),
            lambda n=number: agent.tool(n + 1),
            lambda n=number: agent.message(n + 1, "assistant"),
        )
        for step in steps:
            step()
            items = read_items(path, cursor, soon(number + 1))
            cursor = last_cursor(items)
            cursor = Cursor(cursor.offset, state=json.loads(json.dumps(cursor.state)))
            pieces += [r for r in items if isinstance(r, Event)]
    pieces += [r for r in read_items(path, cursor) if isinstance(r, Event)]
    whole = read_events(path)
    assert len(pieces) == len(whole) == 39
    assert {e.event_id: e for e in pieces if isinstance(e, Event)} == {
        e.event_id: e for e in whole
    }


def test_copied_events_have_the_source_ids_of_the_original(
    agent: Agent, path: Path
) -> None:
    times = {"created": START + 2000, "completed": START + 2900}
    for number, session in ((1, "s1"), (101, "s2")):
        agent.session(session)
        first = {"time": {"created": START + 1000}}
        agent.says(number, "user", "Run the tests", session=session, **first)
        second = number + 1
        agent.says(second, "assistant", "I run them.", session=session, time=times)
        began = {"start": START + 2100, "end": START + 2500}
        agent.tool(second, time=began)
        agent.says(number + 2, "user", "Go on", session=session)
    items = read_events(path)
    names = {s: [e.source_id for e in items if e.session_id == s] for s in ("s1", "s2")}
    assert len({*names["s1"]}) == len({*names["s2"]}) == 4
    assert len({*names["s1"]} & {*names["s2"]}) == 3


def test_message_with_an_earlier_time_is_read(agent: Agent, path: Path) -> None:
    agent.session("s2")
    agent.says(5000, "user", "Before the clock was set back")
    agent.says(5001, "user", "In another session", session="s2")
    items = read_items(path)
    agent.says(1, "user", "After it was set back")
    items = read_items(path, last_cursor(items))
    assert [e.text for e in items if isinstance(e, Event)] == ["After it was set back"]
    agent.session("s3")
    agent.says(2, "user", "From a session that was restored", session="s3")
    items = read_items(path, last_cursor(items))
    late = [(e.session_id, e.text) for e in items if isinstance(e, Event)]
    assert late == [("s3", "From a session that was restored")]
    items = read_items(path, last_cursor(items))
    assert not [e for e in items if isinstance(e, Event)]


def test_continued_session_is_not_read_from_its_start(agent: Agent, path: Path) -> None:
    for number in (1, 2, 200):
        agent.says(number, "user", f"Word {number}")
    items = read_items(path)
    agent.db.execute("DELETE FROM part WHERE message_id = 'msg_0001'")
    agent.says(500, "user", "Word 500")
    cursor = last_cursor(items)
    forgetful = Cursor(cursor.offset, state={**cursor.state, "yielded": []})
    items = read_items(path, forgetful)
    again = [e.text for e in items if isinstance(e, Event)]
    assert again == ["Word 200", "Word 500"]


def test_long_history_has_several_cursors(agent: Agent, path: Path) -> None:
    agent.db.execute("BEGIN")
    for number in range(1, 451):
        agent.says(number, "user", f"prompt {number}")
    agent.db.execute("COMMIT")
    items = read_items(path)
    assert sum(isinstance(r, Event) for r in items) == 450
    first = next(i for i, r in enumerate(items) if isinstance(r, Cursor))
    cursor = items[first]
    assert isinstance(cursor, Cursor)
    later = [r for r in read_items(path, cursor) if isinstance(r, Event)]
    given = [r for r in items[:first] if isinstance(r, Event)]
    assert given + later == [r for r in items if isinstance(r, Event)]


def test_reading_leaves_no_files_and_no_lock(path: Path) -> None:
    with closing(Agent(path).db):
        pass
    before = {file.name for file in path.parent.iterdir()}
    assert before == {"opencode.db"}
    read_items(path)
    assert {file.name for file in path.parent.iterdir()} == before


def test_the_agent_can_write_while_it_is_read(agent: Agent, path: Path) -> None:
    agent.says(1, "user", "go")
    agent.db.execute("PRAGMA busy_timeout = 0")
    reading = opencode.FORMAT.read(path, None, agent="x", now=NOW)
    for _ in reading:
        agent.says(2, "user", "more")
        agent.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert [e.text for e in read_events(path)] == ["go", "more"]


def test_the_write_ahead_log_belongs_to_the_database(agent: Agent, path: Path) -> None:
    agent.says(1, "user", "go")
    (beside,) = opencode.FORMAT.related_files(path)
    assert beside.stat().st_size > 0


def test_locked_database_is_reported(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opencode, "_LOCK_TIMEOUT_S", 0.01)
    agent = Agent(path, journal="DELETE")
    with closing(agent.db):
        agent.db.execute("BEGIN EXCLUSIVE")
        agent.session()
        agent.db.execute("PRAGMA cache_spill = 1")
        path.with_name("opencode.db-journal").touch()
        with pytest.raises(OSError, match="the database is locked by another program"):
            read_items(path)


def test_damaged_database_is_reported(path: Path) -> None:
    agent = Agent(path)
    agent.session()
    agent.says(1, "user", "go")
    agent.db.close()
    raw = path.read_bytes()
    path.write_bytes(raw[:100] + b"\xff" * 2000 + raw[2100:])
    assert opencode.FORMAT.matches_content(path, [])
    with pytest.raises(OSError, match="the database is damaged"):
        read_items(path)


def test_older_database_is_read_from_its_start(agent: Agent, path: Path) -> None:
    agent.says(1, "user", "go")
    agent.says(90, "user", "later")
    cursor = last_cursor(read_items(path))
    agent.db.execute("DELETE FROM message WHERE id = 'msg_0090'")
    items = read_items(path, cursor)
    assert isinstance(items[0], FileReplaced)
    assert [r.text for r in items if isinstance(r, Event)] == ["go"]


@pytest.mark.parametrize(
    ("data", "reading"),
    [
        ("{", InvalidRecord("not a JSON object")),
        ("[]", InvalidRecord("not a JSON object")),
        ("{}", InvalidRecord("a record without type")),
        ('{"role": "poet"}', SkippedRecord("poet")),
        (
            '{"role": "user", "time": {"created": "x"}}',
            InvalidRecord("a bad timestamp"),
        ),
        (
            '{"role": "user", "time": {"created": 99999999999999}}',
            InvalidRecord("a timestamp in the future"),
        ),
        ('{"role": "user"}', SkippedRecord("a message without text")),
    ],
)
def test_skipped_records_are_counted_by_type(
    agent: Agent, path: Path, data: str, reading: ParsedItem
) -> None:
    row = ("m", "s1", START, START, data)
    agent.put("message", "id session_id time_created time_updated data", *row)
    assert reading in read_items(path)


@pytest.mark.parametrize(
    ("data", "reading"),
    [
        ("}", InvalidRecord("not a JSON object")),
        ("{}", InvalidRecord("a part without type")),
        ('{"type": "poem"}', SkippedRecord("poem")),
        (
            '{"type": "reasoning", "text": ""}',
            SkippedRecord("thinking without text"),
        ),
    ],
)
def test_skipped_parts_are_counted_by_type(
    agent: Agent, path: Path, data: str, reading: ParsedItem
) -> None:
    agent.says(1, "user", "go")
    row = ("prt_z", "msg_0001", "s1", START, START, data)
    names = "id message_id session_id time_created time_updated data"
    agent.put("part", names, *row)
    assert reading in read_items(path)
    agent.db.execute("DELETE FROM message")
    assert read_items(path).count(InvalidRecord("a part without its message")) == 2


SCHEMA_2 = """
CREATE TABLE session_v2 (id text PRIMARY KEY, project_id text NOT NULL, parent_id text,
  fork_session_id text, slug text NOT NULL, directory text NOT NULL, title text,
  version text NOT NULL, agent text, model text, time_created integer NOT NULL,
  time_updated integer NOT NULL);
CREATE TABLE session_message (id text PRIMARY KEY, session_id text NOT NULL,
  type text NOT NULL, seq integer NOT NULL, time_created integer NOT NULL,
  time_updated integer NOT NULL, data text NOT NULL);
"""

MESSAGES_2: list[tuple[str, dict[str, Any]]] = [
    ("model-switched", {"model": {"id": "glm", "providerID": "x"}}),
    (
        "user",
        {"text": "Run the tests", "files": [{"uri": "data:x,AAAA", "mime": "a/b"}]},
    ),
    ("synthetic", {"text": "The file was changed."}),
    ("system", {"text": "Today is Monday."}),
    ("skill", {"skill": "tdd", "name": "tdd", "text": "Write a test first."}),
    (
        "assistant",
        {
            "agent": "build",
            "model": {"id": "glm", "providerID": "x"},
            "content": [
                {"type": "reasoning", "text": "Which ones?"},
                {"type": "text", "text": "I run them."},
                {
                    "type": "tool",
                    "id": "call_1",
                    "name": "bash",
                    "state": {
                        "status": "completed",
                        "input": {"command": "pytest -q"},
                        "content": [{"type": "text", "text": "3 passed"}],
                    },
                    "time": {"created": START + 5100, "completed": START + 5200},
                },
                {
                    "type": "tool",
                    "id": "call_2",
                    "name": "read",
                    "state": {
                        "status": "error",
                        "input": {"path": "a.py"},
                        "error": {"type": "unknown", "message": "no such file"},
                    },
                    "time": {"created": START + 5300, "completed": START + 5400},
                },
            ],
        },
    ),
    ("shell", {"shellID": "sh_1", "command": "ls", "output": {"output": "a.py b.py"}}),
    (
        "compaction",
        {"status": "completed", "reason": "auto", "summary": "We ran the tests."},
    ),
    ("assistant", {"error": {"type": "api", "message": "429"}, "content": []}),
    ("idle", {"outcome": "succeeded"}),
]


def version_2(agent: Agent, session: str = "s2") -> None:
    """Add a session as version 2 stores it."""
    if not agent.db.execute("SELECT 1 FROM pragma_table_info('session_v2')").fetchone():
        agent.db.executescript(SCHEMA_2)
    names = "id project_id slug directory title version model time_created time_updated"
    about = ("p", session, "/home/ada/shop", "The tests", "2.0.3", '{"id": "glm"}')
    agent.put("session_v2", names, session, *about, START, START + 99)
    columns = "id session_id type seq time_created time_updated data"
    for number, (kind, fields) in enumerate(MESSAGES_2):
        at = START + number * 1000
        data = json.dumps({"time": {"created": at, "completed": at + 900}} | fields)
        row = f"{session}_{number}", session, kind, number, at, at, data
        agent.put("session_message", columns, *row)


EVENTS_2 = [
    (EventType.USER_MESSAGE, EventRole.USER, "Run the tests\n\n[file: a/b, 1 kB]"),
    (EventType.USER_MESSAGE, EventRole.SYSTEM, "The file was changed."),
    (EventType.USER_MESSAGE, EventRole.SYSTEM, "Today is Monday."),
    (EventType.USER_MESSAGE, EventRole.SYSTEM, "Write a test first."),
    (EventType.ASSISTANT_MESSAGE, EventRole.ASSISTANT, "I run them."),
    (EventType.TOOL_RESULT, EventRole.TOOL, "bash: pytest -q\n3 passed"),
    (EventType.TOOL_RESULT, EventRole.TOOL, "read: a.py\nno such file"),
    (EventType.TOOL_RESULT, EventRole.TOOL, "shell: ls\na.py b.py"),
    (EventType.USER_MESSAGE, EventRole.SYSTEM, "We ran the tests."),
    (EventType.SESSION_START, EventRole.SYSTEM, ""),
    (EventType.ASSISTANT_MESSAGE, EventRole.ASSISTANT, "429"),
]


def test_sessions_of_version_2_are_read(agent: Agent, path: Path) -> None:
    version_2(agent)
    agent.says(1, "user", "Of version 1")
    items = read_items(path)
    events = [r for r in items if isinstance(r, Event)]
    new = [(e.event_type, e.role, e.text) for e in events if e.session_id == "s2"]
    skipped = [r.reason for r in items if isinstance(r, SkippedRecord)]
    assert sorted(new) == sorted(EVENTS_2)
    assert [e.text for e in events if e.session_id == "s1"] == ["Of version 1"]
    assert [r.text for r in items if isinstance(r, Thought)] == ["Which ones?"]
    facts = {r.session_id: r for r in items if isinstance(r, SessionMetadata)}
    assert (facts["s2"].title, facts["s2"].model) == ("The tests", "glm")
    assert {*skipped} == {"model-switched", "idle", "a message without text"}
    again = read_items(path, last_cursor(items))
    assert not [r for r in again if isinstance(r, Event)]


def test_messages_of_version_2_are_read_beside_sessions_of_version_1(
    agent: Agent, path: Path
) -> None:
    agent.says(1, "user", "An old prompt")
    version_2(agent, "s1")
    agent.db.execute("DROP TABLE session_v2")
    texts = {item.text for item in read_items(path) if isinstance(item, Event)}
    assert {"An old prompt", "I run them."} <= texts


@pytest.mark.parametrize("copied", [0, 1, 4])
def test_messages_that_were_not_copied_to_version_2_are_read(
    agent: Agent, path: Path, copied: int
) -> None:
    version_2(agent)
    agent.db.execute("DELETE FROM session_message")
    agent.session("s2")
    texts = [f"prompt {number}" for number in range(4)]
    for number, text in enumerate(texts):
        agent.says(number, "user", text, session="s2")
    rows = agent.db.execute("SELECT id, time_created FROM message ORDER BY id")
    columns = "id session_id type seq time_created time_updated data"
    for number, (name, at) in enumerate(rows.fetchall()[:copied]):
        data = json.dumps({"text": texts[number], "time": {"created": at}})
        agent.put("session_message", columns, name, "s2", "user", number, at, at, data)
    before = read_items(path, now=soon(60))
    assert sorted(r.text for r in before if isinstance(r, Event)) == texts


@pytest.mark.parametrize(
    "copied", ['{"content": []}', '{"content": [{"type": "text", "text": "I"}]}', "{"]
)
def test_message_that_was_copied_in_part_is_read_from_the_first_table(
    agent: Agent, path: Path, copied: str
) -> None:
    version_2(agent)
    agent.db.execute("DELETE FROM session_message")
    agent.message(1, "assistant")
    agent.part(1, "text", text="I run them.")
    agent.tool(1, metadata={"exit": 1})
    columns = "id session_id type seq time_created time_updated data"
    row = "msg_0001", "s1", "assistant", 0, START, START, copied
    agent.put("session_message", columns, *row)
    events = {event.text: event.is_failed for event in read_events(path)}
    assert events == {"I run them.": False, "bash: pytest -q\n3 passed": True}


def test_message_that_went_on_after_it_was_copied_is_read_from_the_new_table(
    agent: Agent, path: Path
) -> None:
    version_2(agent)
    agent.db.execute("DELETE FROM session_message")
    agent.says(1, "assistant", "I run")
    columns = "id session_id type seq time_created time_updated data"
    at, content = START + 1000, [{"type": "text", "text": "I run them."}]
    data = json.dumps({"content": content, "time": {"created": at, "completed": at}})
    row = "msg_0001", "s1", "assistant", 0, at, at, data
    agent.put("session_message", columns, *row)
    assert [event.text for event in read_events(path)] == ["I run them."]


@pytest.mark.parametrize(
    ("ending", "is_failed"),
    [
        ({"status": "exited", "exit": 0}, False),
        ({"status": "exited", "exit": 2}, True),
        ({"exit": 2}, True),
        ({"status": "timeout"}, True),
        ({"status": "killed"}, True),
    ],
)
def test_command_of_the_user_that_failed_is_failed(
    agent: Agent, path: Path, ending: dict[str, object], *, is_failed: bool
) -> None:
    version_2(agent)
    agent.db.execute("DELETE FROM session_message")
    columns = "id session_id type seq time_created time_updated data"
    times = {"time": {"created": START, "completed": START + 9}}
    data = json.dumps({"command": "npm test", "output": "", **times, **ending})
    row = "msg_0001", "s2", "shell", 0, START, START, data
    agent.put("session_message", columns, *row)
    assert [event.is_failed for event in read_events(path)] == [is_failed]


def test_database_is_found_by_channel_and_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "person" / ".local" / "share" / "opencode"
    folder.mkdir(parents=True)
    for name in ("opencode-stable.db", "opencode-local.db", "opencode-local.db-wal"):
        (folder / name).touch()
    names = "opencode-local.db", "opencode-stable.db", "opencode.db"
    storage = folder / "storage" / "session"
    databases = tuple(folder / name for name in names)
    assert transcript_folders()["opencode"] == (*databases, storage)
    for own in (tmp_path / "mine.sqlite", folder / "mine.sqlite"):
        name = own.name if own.parent == folder else str(own)
        monkeypatch.setenv("OPENCODE_DB", name)
        assert own in transcript_folders()["opencode"]
        assert formats.format_for_path(own, opencode.AGENT) is opencode.FORMAT


def test_a_message_of_version_2_is_held_back_until_it_is_finished(
    agent: Agent, path: Path
) -> None:
    version_2(agent)
    agent.db.execute("DELETE FROM session_message WHERE seq > 0")
    columns = "id session_id type seq time_created time_updated data"
    fields = {"time": {"created": START}, "content": [{"type": "text", "text": "I"}]}
    row = "m1", "s2", "assistant", 1, START, START, json.dumps(fields)
    agent.put("session_message", columns, *row)
    early = read_items(path, now=soon(3))
    assert not [r for r in early if isinstance(r, Event)]
    fields = {
        "time": {"created": START, "completed": START + 2000},
        "content": [{"type": "text", "text": "I am done."}],
    }
    row = "m1", "s2", "assistant", 1, START, START + 2000, json.dumps(fields)
    agent.put("session_message", columns, *row)
    late = read_items(path, last_cursor(early), soon(5))
    assert [r.text for r in late if isinstance(r, Event)] == ["I am done."]


def test_messages_after_an_unfinished_one_are_read(agent: Agent, path: Path) -> None:
    agent.message(1, "assistant", time={"created": START + 1000})
    for number in range(2, 300):
        agent.says(number, "user", f"prompt {number}")
    early = read_items(path, now=soon(400))
    assert sum(isinstance(r, Event) for r in early) == 298
    agent.message(1, "assistant")
    agent.part(1, "text", text="At last.")
    late = read_items(path, last_cursor(early), soon(400))
    assert [r.text for r in late if isinstance(r, Event)] == ["At last."]


def test_exported_sessions_are_read(tmp_path: Path) -> None:
    info = {"id": "s1", "title": "The tests", "directory": "/home/ada/shop"}
    first = [
        {
            "info": {"id": "m1", "role": "user", "time": {"created": START}},
            "parts": [{"id": "p1", "type": "text", "text": "Run the tests"}],
        }
    ]
    second = [
        {"id": f"m{number}", "type": kind}
        | {"time": {"created": START, "completed": START}}
        | fields
        for number, (kind, fields) in enumerate(MESSAGES_2)
    ]
    for name, messages, texts in (
        ("session.json", first, ["Run the tests"]),
        ("opencode-session-s1.json", second, [text for _, _, text in EVENTS_2]),
    ):
        file = tmp_path / name
        about = info | {"time": {"created": START}}
        file.write_text(json.dumps({"info": about, "messages": messages}, indent=2))
        assert formats.detect_format(file) is opencode.FORMAT
        assert file in formats.find_files(tmp_path)
        items = read_items(file)
        events = [r for r in items if isinstance(r, Event)]
        assert sorted(e.text for e in events) == sorted(texts)
        facts = [r for r in items if isinstance(r, SessionMetadata)]
        assert (facts[0].title, facts[0].cwd) == ("The tests", "/home/ada/shop")
        again = read_items(file, last_cursor(items))
        assert not [r for r in again if isinstance(r, Event)]


def test_other_databases_do_not_match(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as database:
        database.execute("CREATE TABLE message (id)")
    assert not opencode.FORMAT.matches_content(other, [])


def test_every_message_of_the_older_folders_is_stored(shared: Path) -> None:
    folder = shared / "fixtures_other/agent-sessions/stage0/agents/opencode"
    files = sorted(folder.glob("*/session/*/*.json"))
    assert len(files) == 3
    for file in files:
        assert opencode.FORMAT.matches_content(file, [])
        items = read_items(file)
        events = [r for r in items if isinstance(r, Event)]
        storage = file.parents[2]
        messages = [
            json.loads(m.read_text())
            for m in (storage / "message" / file.stem.removeprefix("ses_")).iterdir()
        ]
        parts = [
            json.loads(p.read_text()) | {"messageID": p.parent.name}
            if p.parent.name != "part"
            else json.loads(p.read_text())
            for p in (storage / "part").rglob("*.json")
        ]
        for role in ("user", "assistant"):
            names = {m["id"] for m in messages if m["role"] == role}
            said = {p["messageID"] for p in parts if p["type"] == "text"} & names
            assert sum(e.role == role for e in events) == len(said)
        names = {m["id"] for m in messages}
        calls = [p for p in parts if p["type"] == "tool" and p["messageID"] in names]
        assert Counter(e.role for e in events)[EventRole.TOOL] == len(calls)
        cursor = last_cursor(items)
        assert not [r for r in read_items(file, cursor) if isinstance(r, Event)]


texts = [
    *("{", "[]", "{}", "\xff", '{"id": 3}', '{"role": 1}'),
    '{"id": "s", "time": 7, "parentID": "s"}',
    '{"messageID": "m", "type": []}',
    '{"id": "m", "role": "user", "time": {"created": 1}}',
]


@given(st.lists(st.sampled_from(texts), min_size=3, max_size=3))
def test_no_file_of_the_older_folders_raises(texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        storage = Path(folder)
        files = [storage / "session/p/s.json", storage / "message/s/m.json"]
        for file, text in zip([*files, storage / "part/m/t.json"], texts, strict=True):
            file.parent.mkdir(parents=True)
            file.write_text(text, "latin-1")
        opencode.FORMAT.matches_content(files[0], [])
        assert all(map(Path, opencode.FORMAT.related_files(files[0])))
        items = read_items(files[0])
        assert isinstance(read_items(files[0], last_cursor(items))[-1], Cursor)


fields = st.dictionaries(
    st.sampled_from(["role", "type", "time", "text", "state", "created", "error"])
    | st.sampled_from(["completed", "callID", "tool", "input", "url", "mime", "name"]),
    st.sampled_from(["user", "assistant", "text", "tool", "file", "", "\ud800"])
    | st.none()
    | st.integers()
    | st.floats()
    | st.dictionaries(
        st.sampled_from(["created", "start", "end", "time", "output", "status"]),
        st.integers() | st.sampled_from(["completed", "x", None]),
        max_size=3,
    ),
    max_size=7,
).map(json.dumps)
cells = fields | st.sampled_from([None, "{", b"\xff\xfe", 7, "[]", START, -1, 2**62])


@often(60)
@given(
    st.lists(st.tuples(cells, cells, cells), max_size=3),
    st.lists(st.tuples(cells, cells, cells), max_size=3),
)
def test_no_cell_raises(
    messages: list[tuple[object, ...]], parts: list[tuple[object, ...]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "opencode.db"
        with closing(sqlite3.connect(path)) as db:
            db.execute("CREATE TABLE session (id, parent_id, time_updated, title)")
            db.execute("INSERT INTO session VALUES ('s', 's', ?, ?)", (None, b"\xff"))
            db.execute("CREATE TABLE message (id, session_id, time_updated, data)")
            db.execute("CREATE TABLE part (id, message_id, data)")
            for number, (updated, session, data) in enumerate(messages):
                row = (f"m{number}", session, updated, data)
                db.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
            for name, _, data in parts:
                db.execute("INSERT INTO part VALUES (?, 'm0', ?)", (name, data))
            db.commit()
        items = read_items(path)
        accounts = sum(
            isinstance(
                r, Event | Thought | SkippedRecord | InvalidRecord | PendingRecord
            )
            for r in items
        )
        assert accounts >= len(messages)
        read_items(path, last_cursor(items))


@pytest.mark.parametrize("missing", ["session", "message", "part", "project"])
def test_missing_table_is_no_error(agent: Agent, path: Path, missing: str) -> None:
    agent.says(1, "user", "go")
    agent.db.execute("PRAGMA foreign_keys = OFF")
    agent.db.execute(f"DROP TABLE {missing}")
    assert isinstance(read_items(path)[-1], Cursor)


@often(40)
@given(st.binary(max_size=200), st.integers(min_value=0, max_value=40_000))
def test_any_bytes_are_read_or_reported(raw: bytes, at: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "opencode.db"
        agent = Agent(path)
        agent.session()
        agent.says(1, "user", "go")
        agent.db.close()
        whole = path.read_bytes()
        path.write_bytes(whole[:at] + raw + whole[at + len(raw) :])
        opencode.FORMAT.matches_content(path, [])
        try:
            items = read_items(path)
        except OSError as error:
            assert error.strerror
        else:
            assert isinstance(items[-1], Cursor)


@pytest.mark.parametrize("version", [1, 2])
def test_text_added_by_an_editor_is_not_in_prompts_and_titles(
    version: int, agent: Agent, path: Path
) -> None:
    added = "<ide_opened_file>The user opened a.py.</ide_opened_file>"
    if version == 1:
        agent.session(title=f"{added}\nThe tests")
        agent.says(1, "user", f"{added}\nRun the tests")
    else:
        agent.db.execute("DELETE FROM session")
        version_2(agent)
        agent.db.execute("DELETE FROM session_message WHERE type != 'user'")
        fields = {"time": {"created": START}, "text": f"{added}\nRun the tests"}
        data = json.dumps(fields)
        agent.db.execute("UPDATE session_message SET data = ?", (data,))
        agent.db.execute("UPDATE session_v2 SET title = ?", (f"{added}\nThe tests",))
    items = read_items(path)
    (event,) = (item for item in items if isinstance(item, Event))
    assert (event.text, event.role) == ("Run the tests", EventRole.USER)
    assert event.metadata == {"added": added}
    titles = {item.title for item in items if isinstance(item, SessionMetadata)}
    assert titles == {"The tests"}
