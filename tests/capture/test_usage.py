"""The tokens and costs that transcripts state are counted once, however they come."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memtui.model.usage import KINDS
from memtui.paths import in_home
from memtui.services import usage
from memtui.services.forget import Forget, undo
from memtui.settings import Settings
from memtui.store import database
from memtui.store.tombstones import TombstoneKind
from memtui.workspace import Workspace
from tests.tables import EventRow, UsageRow

AT = datetime(2026, 3, 14, 10, tzinfo=UTC)

Record = dict[str, Any]

FIELDS = ("input_tokens", "output_tokens")
CACHE_FIELDS = ("cache_read_input_tokens", "cache_creation_input_tokens")


def clock(second: float) -> str:
    return (AT + timedelta(seconds=second)).isoformat().replace("+00:00", "Z")


def claude_prompt(second: float, session: str = "s1", **fields: Any) -> Record:
    about = {
        "uuid": f"{session}-{second}",
        "sessionId": session,
        "cwd": "/home/ada/shop",
    }
    message = {"content": f"Prompt at {second} in {session}"}
    shape = {"type": "user", "timestamp": clock(second), "message": message}
    return {**about, **shape, **fields}


def claude_reply(
    second: float,
    message_id: str,
    tokens: tuple[int, int, int, int] = (10, 20, 300, 40),
    session: str = "s1",
    **fields: Any,
) -> Record:
    stated = dict(zip((*FIELDS, *CACHE_FIELDS), tokens, strict=True))
    block = {"type": "text", "text": f"Block {second} of {message_id}"}
    message = {"id": message_id, "model": "opus", "content": [block], "usage": stated}
    shape = {"type": "assistant", "message": message}
    return {**claude_prompt(second, session), **shape, **fields}


def codex_record(second: float, kind: str, name: str, **payload: Any) -> Record:
    fields = {"type": name, **payload} if name else payload
    return {"timestamp": clock(second), "type": kind, "payload": fields}


def codex_tokens(
    second: float, totals: tuple[int, ...], last: tuple[int, ...] = ()
) -> Record:
    names = ("input_tokens", "cached_input_tokens", "output_tokens")
    info = {
        "total_token_usage": dict(zip(names, totals, strict=True)),
        "last_token_usage": dict(zip(names, last or totals, strict=True)),
    }
    return codex_record(second, "event_msg", "token_count", info=info)


def codex_start(session: str = "c1", **fields: Any) -> list[Record]:
    words = [{"type": "input_text", "text": f"Why is the cart empty, {session}?"}]
    return [
        codex_record(0, "session_meta", "", id=session, cwd="/home/ada/shop", **fields),
        codex_record(1, "turn_context", "", turn_id="t1", model="gpt-5"),
        codex_record(2, "response_item", "message", role="user", content=words),
    ]


def write(file: Path, records: Iterable[Record]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return file


def import_paths(workspace: Workspace, *paths: Path) -> None:
    for _ in workspace.pipeline.importer().run(paths):
        pass


def totals(workspace: Workspace, by: str = "session") -> dict[str, list[int | None]]:
    rows = usage.read(by, workspace.settings, UTC)
    return {row.name: list(row.tokens.values()) for row in rows}


def forget(workspace: Workspace, kind: TombstoneKind, *words: str) -> None:
    Forget(workspace.paths, workspace.zone, lambda: datetime.now(UTC)).run(kind, words)


def test_message_with_several_blocks_counts_once(
    workspace: Workspace, tmp_path: Path
) -> None:
    records = [
        claude_prompt(0),
        claude_reply(1, "m1", (10, 1, 300, 40)),
        claude_reply(2, "m1", (10, 25, 300, 40)),
        claude_reply(3, "m2", (5, 6, 7, 8)),
    ]
    import_paths(workspace, write(tmp_path / "s1.jsonl", records))
    assert totals(workspace) == {"claude-code:s1": [15, 31, 307, 48]}
    assert totals(workspace, "model") == {"opus": [15, 31, 307, 48]}


@pytest.mark.parametrize("size", [1, 2, 3])
def test_usage_is_the_same_in_pieces_and_read_twice(
    workspace: Workspace, tmp_path: Path, size: int
) -> None:
    claude = [claude_prompt(0)]
    claude += [claude_reply(n, f"m{n // 3}", (n, n, n, n)) for n in range(1, 10)]
    codex = codex_start()
    codex += [codex_tokens(n, (100 * n, 40 * n, n), (100, 40, 1)) for n in range(1, 10)]
    for file, records in (
        (tmp_path / "s1.jsonl", claude),
        (tmp_path / "rollout-c1.jsonl", codex),
    ):
        for end in range(size, len(records) + size, size):
            import_paths(workspace, write(file, records[:end]))
        import_paths(workspace, write(tmp_path / "copy" / file.name, records))
    # The last block of each of four messages has the largest numbers.
    tokens = 2 + 5 + 8 + 9
    assert totals(workspace) == {
        "claude-code:s1": [tokens] * 4,
        "codex:c1": [9 * 60, 9, 9 * 40, None],
    }


@pytest.mark.parametrize("is_copy_first", [False, True])
def test_reply_in_a_resumed_session_counts_with_the_first_session(
    workspace: Workspace, tmp_path: Path, is_copy_first: bool
) -> None:
    def session(name: str) -> list[Record]:
        shared = [claude_prompt(0), claude_reply(1, "m1")]
        return [{**record, "sessionId": name} for record in shared]

    original = [*session("s1"), claude_reply(2, "m2", session="s1")]
    resumed = [*session("s2"), claude_reply(60, "m3", session="s2")]
    files = [
        write(tmp_path / "s1.jsonl", original),
        write(tmp_path / "s2.jsonl", resumed),
    ]
    for file in reversed(files) if is_copy_first else files:
        import_paths(workspace, file)
    assert totals(workspace) == {
        "claude-code:s1": [20, 40, 600, 80],
        "claude-code:s2": [10, 20, 300, 40],
    }


def test_replies_of_two_sessions_with_one_short_id_both_count(
    workspace: Workspace, tmp_path: Path
) -> None:
    for second, name in enumerate(("s1", "s2")):
        records = [
            claude_prompt(second, name),
            claude_reply(second + 1, "m1", session=name),
        ]
        import_paths(workspace, write(tmp_path / f"{name}.jsonl", records))
    assert totals(workspace, "") == {"": [20, 40, 600, 80]}


def test_subagents_count_with_their_session(
    workspace: Workspace, tmp_path: Path
) -> None:
    folder = tmp_path / "projects" / "-home-ada-shop"
    write(folder / "s1.jsonl", [claude_prompt(0), claude_reply(1, "m1")])
    work = [claude_prompt(2), claude_reply(3, "m2", isSidechain=True, agentId="a1")]
    write(folder / "s1" / "subagents" / "agent-a1.jsonl", work)
    import_paths(workspace, folder)
    assert totals(workspace) == {"claude-code:s1": [20, 40, 600, 80]}


def test_codex_totals_that_repeat_or_begin_again_count_once(
    workspace: Workspace, tmp_path: Path
) -> None:
    records = [
        *codex_start(),
        codex_tokens(3, (100, 60, 5)),
        codex_tokens(4, (100, 60, 5)),
        codex_tokens(5, (250, 160, 9), (150, 100, 4)),
        codex_tokens(6, (0, 0, 0)),
        codex_tokens(7, (30, 0, 2)),
    ]
    records.append(codex_record(9, "event_msg", "token_count", info=None))
    import_paths(workspace, write(tmp_path / "rollout-c1.jsonl", records))
    assert totals(workspace) == {"codex:c1": [90 + 30, 11, 160, None]}


def test_codex_fork_counts_only_its_own_replies(
    workspace: Workspace, tmp_path: Path
) -> None:
    original = [*codex_start(), codex_tokens(3, (100, 60, 5))]
    fork = [
        *codex_start("c2", forked_from_id="c1", timestamp=clock(0))[:1],
        *({**record, "timestamp": clock(0)} for record in original),
        codex_tokens(60, (160, 60, 8), (60, 0, 3)),
    ]
    import_paths(workspace, write(tmp_path / "rollout-c1.jsonl", original))
    import_paths(workspace, write(tmp_path / "rollout-c2.jsonl", fork))
    assert totals(workspace, "") == {"": [40 + 60, 8, 60, None]}


def gemini_session() -> Record:
    stated = {"input": 100, "output": 7, "cached": 60, "thoughts": 3, "tool": 5}
    prompt = {"id": "1", "type": "user", "content": "Why?", "timestamp": clock(1)}
    reply = {"id": "2", "type": "gemini", "content": "So.", "timestamp": clock(2)}
    messages = [prompt, {**reply, "model": "gemini-3", "tokens": stated}]
    return {"sessionId": "g1", "startTime": clock(0), "messages": messages}


def test_gemini_session_that_is_written_again_counts_once(
    workspace: Workspace, tmp_path: Path
) -> None:
    file = tmp_path / "session-1.json"
    session = gemini_session()
    file.write_text(json.dumps(session))
    import_paths(workspace, file)
    session["messages"][1]["id"] = "other"
    file.write_text(json.dumps(session))
    import_paths(workspace, file)
    assert totals(workspace) == {"gemini-cli:g1": [45, 10, 60, None]}


def opencode_database(file: Path) -> Path:
    tokens = {"input": 4, "output": 5, "reasoning": 2, "cache": {"read": 6, "write": 7}}
    at_ms = int(AT.timestamp() * 1000)
    message = {
        "role": "assistant",
        "modelID": "sonnet",
        "time": {"created": at_ms, "completed": at_ms},
        "tokens": tokens,
        "cost": 0.25,
    }
    with closing(sqlite3.connect(file)) as made, made:
        made.execute("CREATE TABLE session (id, directory, time_created, time_updated)")
        made.execute(
            "INSERT INTO session VALUES ('o1', '/home/ada/shop', ?, ?)", (at_ms,) * 2
        )
        made.execute(
            "CREATE TABLE message (id, session_id, time_created, time_updated, data)"
        )
        row = "m1", "o1", at_ms, at_ms, json.dumps(message)
        made.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", row)
        made.execute("CREATE TABLE part (id, message_id, time_updated, data)")
        part = json.dumps({"type": "text", "text": "Found it."})
        made.execute("INSERT INTO part VALUES ('p1', 'm1', ?, ?)", (at_ms, part))
    return file


def test_opencode_states_its_own_cost(workspace: Workspace, tmp_path: Path) -> None:
    import_paths(workspace, opencode_database(tmp_path / "opencode.db"))
    (row,) = usage.read("session", workspace.settings, UTC)
    assert list(row.tokens.values()) == [4, 7, 6, 7]
    line = usage.describe(row)
    assert line.startswith("4 in, 7 out, 6 read from cache, 7 written to cache, $0.25")


def copilot_record(second: float, kind: str, **data: Any) -> Record:
    about = {"id": f"e{second}", "timestamp": clock(second), "parentId": None}
    return {"type": kind, "data": data, **about}


@pytest.mark.parametrize(
    ("has_end", "expected"),
    [(True, [200, 50, 800, 0]), (False, [None, None, None, None])],
)
def test_copilot_states_totals_at_the_end(
    workspace: Workspace, tmp_path: Path, has_end: bool, expected: list[int | None]
) -> None:
    said = {"model": "gpt", "content": "Found it.", "outputTokens": 30}
    stated = {"inputTokens": 1000, "outputTokens": 50, "cacheReadTokens": 800}
    metrics = {"gpt": {"usage": {**stated, "cacheWriteTokens": 0}}}
    records = [
        copilot_record(0, "session.start", sessionId="p1", context={"cwd": "/shop"}),
        copilot_record(1, "user.message", content="Why?"),
        copilot_record(2, "assistant.message", messageId="m1", **said),
    ]
    file = tmp_path / "p1" / "events.jsonl"
    import_paths(workspace, write(file, records))
    if has_end:
        records.append(copilot_record(3, "session.shutdown", modelMetrics=metrics))
        import_paths(workspace, write(file, records))
    assert totals(workspace) == {"copilot-cli:p1": expected}


@pytest.mark.parametrize(
    "stated",
    [
        None,
        "many",
        {"input_tokens": "10", "output_tokens": -3},
        {"input_tokens": True, "output_tokens": 1.5},
        {"input_tokens": 10**30, "output_tokens": None},
        {"input_tokens": 0, "output_tokens": 0},
    ],
)
def test_invalid_and_empty_numbers_are_not_stated(
    workspace: Workspace, tmp_path: Path, stated: object
) -> None:
    reply = claude_reply(1, "m1", costUSD=float("nan"))
    reply["message"]["usage"] = stated
    import_paths(workspace, write(tmp_path / "s1.jsonl", [claude_prompt(0), reply]))
    (row,) = usage.read("session", workspace.settings, UTC)
    line = usage.describe(row)
    assert line == "tokens not stated, <1m active"
    assert count_rows() == 0


@pytest.fixture
def two_sessions(workspace: Workspace, tmp_path: Path) -> Iterator[Workspace]:
    """A session, and one that continues it in another file."""
    original = [claude_prompt(0), claude_reply(1, "m1")]
    copies = [{**record, "sessionId": "s2"} for record in original]
    later = [claude_prompt(3600, "s2"), claude_reply(3601, "m2", session="s2")]
    write(tmp_path / "files" / "s1.jsonl", original)
    write(tmp_path / "files" / "s2.jsonl", [*copies, *later])
    import_paths(workspace, tmp_path / "files")
    yield workspace


def count_rows() -> int:
    with database.connection():
        return int(UsageRow.select().count())


def test_forgotten_session_leaves_no_usage(
    two_sessions: Workspace, tmp_path: Path
) -> None:
    forget(two_sessions, TombstoneKind.SESSION, "s1")
    assert totals(two_sessions) == {"claude-code:s2": [10, 20, 300, 40]}
    assert count_rows() == 1
    import_paths(two_sessions, write(tmp_path / "again.jsonl", [claude_reply(1, "m1")]))
    copy = claude_reply(1, "m1", session="s3")
    import_paths(
        two_sessions, write(tmp_path / "s3.jsonl", [claude_prompt(9, "s3"), copy])
    )
    assert count_rows() == 1


def test_forgotten_message_takes_the_usage_of_its_reply_along(
    workspace: Workspace, tmp_path: Path
) -> None:
    thought = claude_reply(1, "m1", (10, 1, 300, 40))
    thought["message"]["content"] = [{"type": "thinking", "thinking": "Hm."}]
    records = [
        claude_prompt(0),
        *(thought, claude_reply(2, "m1")),
        *(claude_prompt(3), claude_reply(4, "m2")),
    ]
    file = write(tmp_path / "s1.jsonl", records)
    import_paths(workspace, file)
    said = [*codex_start(), codex_tokens(4, (100, 60, 5))]
    answer = [{"type": "output_text", "text": "It is not."}]
    said[3:3] = [
        codex_record(3, "response_item", "message", role="assistant", content=answer)
    ]
    rollout = write(tmp_path / "rollout-c1.jsonl", said)
    import_paths(workspace, rollout)
    with database.connection():
        prompt, message, other = (
            EventRow.get(EventRow.text == text).id
            for text in ("Prompt at 0 in s1", "Block 2 of m1", "It is not.")
        )
    forget(workspace, TombstoneKind.EVENT, prompt)
    assert count_rows() == 3
    forget(workspace, TombstoneKind.EVENT, message)
    forget(workspace, TombstoneKind.EVENT, other)
    import_paths(workspace, write(tmp_path / "again" / file.name, records))
    import_paths(workspace, write(tmp_path / "again" / rollout.name, said))
    assert totals(workspace, "") == {"": [10, 20, 300, 40]}


def test_undone_forgetting_brings_the_usage_back(
    two_sessions: Workspace, tmp_path: Path
) -> None:
    forget(two_sessions, TombstoneKind.SESSION, "s1")
    undo(TombstoneKind.SESSION, ["s1"], two_sessions.zone)
    import_paths(two_sessions, tmp_path / "files")
    assert totals(two_sessions, "") == {"": [20, 40, 600, 80]}


def test_forgotten_copy_leaves_the_usage_of_the_original(
    two_sessions: Workspace,
) -> None:
    forget(two_sessions, TombstoneKind.SESSION, "s2")
    assert totals(two_sessions) == {"claude-code:s1": [10, 20, 300, 40]}
    assert count_rows() == 1


def test_forgotten_project_and_time_leave_no_usage(two_sessions: Workspace) -> None:
    forget(two_sessions, TombstoneKind.BEFORE, "2026-03-14")
    assert count_rows() == 3
    forget(two_sessions, TombstoneKind.BEFORE, "2026-03-15")
    assert count_rows() == 0


def test_forgotten_project_leaves_no_usage(
    two_sessions: Workspace, tmp_path: Path
) -> None:
    forget(two_sessions, TombstoneKind.PROJECT, "shop")
    assert count_rows() == 0
    import_paths(two_sessions, write(tmp_path / "again.jsonl", [claude_reply(1, "m1")]))
    assert count_rows() == 0


def test_excluded_project_has_no_usage(tmp_path: Path, settings: Settings) -> None:
    settings = replace(settings, capture_exclude=("shop",))
    workspace = Workspace(in_home(tmp_path / "home"), settings)
    import_paths(
        workspace,
        write(tmp_path / "s1.jsonl", [claude_prompt(0), claude_reply(1, "m1")]),
    )
    assert count_rows() == 0
    workspace.stop()


# Real transcripts, beside a count of their raw records


def count_claude(folder: Path) -> dict[str, list[int]]:
    by_message: dict[str, dict[str, list[int]]] = {}
    for file in sorted(folder.rglob("*.jsonl")):
        for line in file.read_text(errors="replace").split("\n"):
            record = json.loads(line) if line.startswith("{") else {}
            session, progress = record.get("sessionId"), record.get("data") or {}
            if record.get("type") == "progress":
                record = progress.get("message") or {}
            if record.get("type") != "assistant":
                continue
            message = record["message"]
            stated = message.get("usage") or {}
            counts = [stated.get(name) or 0 for name in (*FIELDS, *CACHE_FIELDS)]
            messages = by_message.setdefault(f"claude-code:{session}", {})
            name = message.get("id") or record["uuid"]
            before = messages.get(name, [0] * len(KINDS))
            messages[name] = list(map(max, before, counts))
    return {
        session: [sum(counts) for counts in zip(*messages.values(), strict=True)]
        for session, messages in by_message.items()
    }


def count_codex(folder: Path) -> dict[str, list[int]]:
    sums = {}
    for file in folder.rglob("*.jsonl"):
        payloads = [
            json.loads(line)["payload"] for line in file.read_text().splitlines()
        ]
        infos = [p["info"] for p in payloads if p.get("type") == "token_count"]
        last = [info for info in infos if info][-1]["total_token_usage"]
        cached = last["cached_input_tokens"]
        counts = [last["input_tokens"] - cached, last["output_tokens"], cached, 0]
        sums[f"codex:{file.stem}"] = counts
    return sums


def test_usage_of_real_transcripts_is_that_of_their_records(
    workspace: Workspace, shared: Path
) -> None:
    import_paths(workspace, shared / "claude_code", shared / "codex")
    expected = count_claude(shared / "claude_code") | count_codex(shared / "codex")
    counted = {
        name: [count or 0 for count in tokens]
        for name, tokens in totals(workspace).items()
        if any(tokens)
    }
    assert len(expected) > 30
    assert counted == {name: counts for name, counts in expected.items() if any(counts)}
