"""``memtui audit`` finds every damage, and names it."""

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memtui.model.events import EventRole
from memtui.model.judgements import Ruling
from memtui.paths import in_home
from memtui.search.message_index import MessageIndex
from memtui.search.node_index import NodeIndex, node_documents
from memtui.services import judging
from memtui.store import database, nodes, versions
from memtui.store.events import SessionTexts
from memtui.workspace import Workspace
from tests.cli_runner import json_data, run_memtui
from tests.conftest import NOW, OWN
from tests.message_factory import make_message, store_messages

SESSION = "claude-code:shop-1"
DAY = "toc:day:2024-01-15"
OUTCOME = "The session now slides"


def find_damages(home: Path, *scope: str) -> list[dict[str, Any]]:
    """Return the damages that the command names, after checking its exit code."""
    database.close()
    for code in (0, 1):
        with suppress(AssertionError):
            printed = run_memtui(home, "audit", *scope, "--json", code=code).stdout
            damages: list[dict[str, Any]] = json_data(printed)["damages"]
            assert bool(damages) == bool(code)
            return damages
    raise AssertionError("the command failed")


def judge(workspace: Workspace, line: str, ruling: Ruling, **details: Any) -> None:
    judging.judge(*judging.find_line(SESSION, line), ruling, NOW, **details)
    assert workspace.pipeline.run_until_idle(lambda _: None) == []


@pytest.fixture
def home(full_workspace: Workspace, tmp_path: Path) -> Path:
    """A home with three judgements: accepted, rejected, corrected."""
    judge(full_workspace, OUTCOME, Ruling.ACCEPTED)
    judge(full_workspace, OUTCOME, Ruling.REJECTED)
    judge(full_workspace, "asked: ", Ruling.ACCEPTED, reason="said so")
    full_workspace.stop()
    return tmp_path / "home"


@pytest.fixture
def execute(home: Path) -> Callable[..., list[tuple[Any, ...]]]:
    """Changes the store by force."""

    def execute(sql: str, *values: object) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(home / "memory.db")) as opened, opened:
            rows = opened.execute("SELECT name FROM sqlite_master WHERE type='trigger'")
            for (name,) in rows.fetchall():
                opened.execute(f"DROP TRIGGER {name}")
            return opened.execute(sql, values).fetchall()

    return execute


USED = (
    "(SELECT l.grip_id FROM bullet_grips l JOIN bullets b ON b.id = l.bullet_id"
    " JOIN nodes n ON n.latest_id = b.version_id WHERE n.level = '{}'"
    " ORDER BY l.grip_id LIMIT 1)"
)
BULLET = (
    "(SELECT b.id FROM bullets b JOIN nodes n ON n.latest_id = b.version_id"
    f" WHERE n.node_id = '{DAY}' LIMIT 1)"
)
SEGMENT = (
    "(SELECT g.id FROM segments g JOIN sessions s ON s.id = g.session_id"
    " WHERE s.name = 'shop-1')"
)
BELOW = "it was deleted, but not what is below it"
COUNTS = "it does not show the version that counts"
FOLLOWS = "its name, state, outcome or open ends are not those of its facts"
VERDICTS = (
    "verdict = '{'",
    "verdict = '[]'",
    """verdict = '{"spans": ["x"]}'""",
    """verdict = '{"missing": 5}'""",
)
VERSIONS = (
    "keywords = '{'",
    """keywords = '{"a": 1}'""",
    "keywords = '[1]'",
    """keywords = '["ab", ["a"]]'""",
    "generation = '[]'",
    """generation = '{"other": 1}'""",
    "agents = '{'",
    "projects = '5'",
    "child_ids = '{'",
)
SHOWN = f"(SELECT latest_id FROM nodes WHERE node_id = '{DAY}')"


@pytest.mark.parametrize(
    ("sql", "subject", "message"),
    [
        *(
            (
                "UPDATE events SET text = text || ' not' WHERE id ="
                f" (SELECT min(id) FROM events WHERE type = '{kind}')",
                "message",
                "it was changed",
            )
            for kind in ("user_message", "tool_result")
        ),
        (
            "DELETE FROM events WHERE id = (SELECT start_event_id FROM grips"
            f" WHERE id = {USED.format('segment')})",
            "source",
            "a message of it is not stored",
        ),
        (
            "DELETE FROM events WHERE id = (SELECT max(id) FROM events"
            " WHERE id NOT IN (SELECT start_event_id FROM grips))",
            "session",
            "messages of it were deleted",
        ),
        (
            "UPDATE grips SET excerpt = substr(excerpt, 1, 8)"
            f" WHERE id = {USED.format('segment')}",
            "source",
            "it was changed",
        ),
        (
            f"UPDATE grips SET excerpt = 'Walrus' WHERE id = {USED.format('segment')}",
            "source",
            "the message does not say what it quotes",
        ),
        (
            f"DELETE FROM grips WHERE id = {USED.format('segment')}",
            "source",
            "it was deleted, and this line needs it",
        ),
        (
            "UPDATE grips SET end_event_id = (SELECT max(id) FROM events)"
            f" WHERE id = {USED.format('segment')}",
            "source",
            "its messages are of two sessions",
        ),
        (
            f"DELETE FROM bullet_grips WHERE bullet_id = {BULLET}",
            "version",
            "it, a line of it or the source of a line was changed",
        ),
        (
            f"DELETE FROM bullet_grips WHERE bullet_id = {BULLET}",
            "line",
            "it has no source",
        ),
        (
            f"UPDATE bullets SET text = 'Walruses' WHERE id = {BULLET}",
            "version",
            "it, a line of it or the source of a line was changed",
        ),
        (
            f"DELETE FROM bullets WHERE id = {BULLET}",
            "version",
            "it, a line of it or the source of a line was changed",
        ),
        (
            f"UPDATE node_versions SET headline = 'Walruses' WHERE id = {SHOWN}",
            "version",
            "it, a line of it or the source of a line was changed",
        ),
        (
            "UPDATE bullet_grips SET grip_id = (SELECT id FROM grips"
            f" WHERE node_id LIKE '%2024-02%' LIMIT 1) WHERE bullet_id = {BULLET}",
            "line",
            "this source leads to no segment below it",
        ),
        (
            f"DELETE FROM node_versions WHERE id = {SHOWN}",
            "node",
            "the version that is shown was deleted",
        ),
        (
            f"DELETE FROM node_versions WHERE id = {SHOWN}",
            "version",
            "it was deleted, but not its lines",
        ),
        (
            "UPDATE judgements SET ruling = 'accepted' WHERE id = 2",
            "judgement",
            "it was changed",
        ),
        *(
            (f"DELETE FROM judgements WHERE id = {n}", "judgement", "it was deleted")
            for n in (1, 2, 3)
        ),
        (
            "UPDATE sessions SET outcome = (SELECT text FROM judgements WHERE id = 2)"
            " WHERE name = 'shop-1'",
            "session",
            "it was rejected, but is shown",
        ),
        (
            "UPDATE sessions SET work = json_set(work, '$.name_event_id', '01X')"
            " WHERE name = 'shop-1'",
            "session",
            "this message of it is not stored",
        ),
        (
            "UPDATE bullets SET verdict = json_set(verdict, '$.spans[0][3]', 'x')"
            " WHERE id = (SELECT min(b.id) FROM bullets b JOIN nodes n"
            " ON n.latest_id = b.version_id"
            " WHERE json_extract(verdict, '$.spans') NOTNULL)",
            "line",
            "this message does not say any more what it is based on",
        ),
        *(
            (
                f"UPDATE {table} SET {damage} WHERE id = {row}",
                "version",
                "it, a line of it or the source of a line was changed",
            )
            for table, row, damages in (
                ("bullets", BULLET, VERDICTS),
                ("node_versions", SHOWN, VERSIONS),
            )
            for damage in damages
        ),
        *(
            (
                f"UPDATE judgements SET {column} = '{value}' WHERE id = 2",
                "judgement",
                "it was changed",
            )
            for column in ("grip_ids", "event_ids")
            for value in ("[", "5", "{}", "[1]")
        ),
        *(
            (f"DELETE FROM nodes WHERE node_id = '{name}'", "node", BELOW)
            for name in (DAY, "toc:week:2024-W03", "toc:month:2024-01", "toc:year:2024")
        ),
        (
            f"DELETE FROM nodes WHERE node_id = {SEGMENT}",
            "node",
            "it was deleted, but not its versions",
        ),
        *(
            (
                f"UPDATE nodes SET latest_id = {row} WHERE node_id = {node}",
                "node",
                COUNTS,
            )
            for node in (SEGMENT, f"'{DAY}'")
            for row in (
                "NULL",
                f"(SELECT min(id) FROM node_versions WHERE node_id = {node})",
            )
        ),
        (
            "UPDATE nodes SET is_pinned = 1, latest_id = (SELECT id FROM node_versions"
            f" WHERE node_id <> '{DAY}') WHERE node_id = '{DAY}'",
            "node",
            COUNTS,
        ),
        *(
            (f"UPDATE sessions SET {change} WHERE name = 'shop-1'", "session", FOLLOWS)
            for change in (
                "outcome = 'Walruses'",
                "state = 'open'",
                "work_name = 'Walruses'",
                "work = '{'",
                "work = '[]'",
                """work = '{"left_open": ["x"]}'""",
                """work = '{"left_open": [{"text": "x", "event_id": "y"}]}'""",
            )
        ),
        *(
            (
                f"UPDATE segments SET facts = '{facts}' WHERE id = {SEGMENT}",
                "session",
                FOLLOWS,
            )
            for facts in ("{", "[]", '{"commits": [1]}', '{"commits": ["x"]}')
        ),
        (
            "DELETE FROM sessions WHERE name = 'shop-1'",
            "session",
            "it was deleted, but not its messages",
        ),
    ],
)
def test_damage_is_named(
    sql: str,
    subject: str,
    message: str,
    home: Path,
    execute: Callable[..., list[tuple[Any, ...]]],
) -> None:
    assert find_damages(home) == []
    execute(sql)
    damages = find_damages(home)
    named = [d for d in damages if (d["subject"], d["message"]) == (subject, message)]
    assert named, damages
    assert all(damage["ids"] and damage["remedy"] for damage in named)
    assert message in run_memtui(home, "audit", code=1).stdout


def test_commands_go_on_with_what_cannot_be_read(
    home: Path, execute: Callable[..., list[tuple[Any, ...]]]
) -> None:
    for number, verdict in enumerate(VERDICTS):
        execute(f"UPDATE bullets SET {verdict} WHERE id % {len(VERDICTS)} = {number}")
    for number, version in enumerate(VERSIONS):
        rows = f"id % {len(VERSIONS)} = {number}"
        execute(f"UPDATE node_versions SET {version} WHERE {rows}")
    execute("UPDATE judgements SET grip_ids = '[', event_ids = '5'")
    execute("UPDATE segments SET facts = '{' WHERE rowid % 2")
    execute("""UPDATE sessions SET work = '{"left_open": ["x"]}' WHERE id % 2""")
    for words in (
        *(("show", DAY), ("sessions",), ("toc",), ("open",), ("decisions",)),
        *(("session", SESSION), ("search", "session basket"), ("report", "2024-01")),
        *(("reindex",), ("judge", SESSION, "asked: ", "--undo"), ("handover", SESSION)),
    ):
        run_memtui(home, *words)
    output = run_memtui(home, "audit", code=1).stdout
    assert all(f"{name} " in output for name in ("version", "judgement", "session"))


def test_rebuilding_indexes_mends_no_node(
    home: Path, execute: Callable[..., list[tuple[Any, ...]]]
) -> None:
    execute(f"UPDATE nodes SET latest_id = NULL WHERE node_id = '{DAY}'")
    run_memtui(home, "reindex")
    (damage,) = find_damages(home, DAY)
    assert (damage["ids"], damage["message"]) == ([DAY], COUNTS)


def test_deleted_judgements_are_numbered(
    home: Path, execute: Callable[..., list[tuple[Any, ...]]]
) -> None:
    execute("DELETE FROM judgements WHERE id < 3")
    (damage,) = find_damages(home)
    assert damage["ids"] == ["1 to 2"]
    assert "it was deleted: 1 to 2" in run_memtui(home, "doctor", code=1).stdout


def test_rejected_line_in_an_index_is_named(home: Path) -> None:
    workspace = Workspace(in_home(home), OWN)
    with database.connection():
        pages = nodes.get_many(nodes.list_ids())
        (page,) = [page for page in pages if any(b.is_rejected for b in page.withheld)]
        (rejected,) = page.withheld
        bullets = (*page.bullets, replace(rejected, judgement=None))
        segment = replace(page, bullets=bullets, withheld=())
        grips = versions.get_grips(rejected.grip_ids).values()
    index = NodeIndex(workspace.paths.index)
    index.update(list(node_documents(segment, grips)), [segment.node_id])
    index.close()
    workspace.stop()
    damages = find_damages(home)
    assert {damage["subject"] for damage in damages} == {"node index"}
    assert {damage["message"] for damage in damages} == {
        "the index does not have what is shown of it",
        "the index has it, although it is not shown",
    }
    assert all(segment.node_id in damage["ids"][0] for damage in damages)
    run_memtui(home, "reindex")
    assert find_damages(home) == []


def test_other_words_of_a_session_in_an_index_are_named(home: Path) -> None:
    index = MessageIndex(in_home(home).message_index)
    index.set_session_texts([SessionTexts(1, "", "", f"{OUTCOME} on each request")])
    (damage,) = find_damages(home)
    assert (damage["subject"], damage["ids"]) == ("message index", ["1"])


def test_message_that_is_in_one_place_only_is_named(
    home: Path, execute: Callable[..., list[tuple[Any, ...]]]
) -> None:
    with closing(sqlite3.connect(in_home(home).message_index)) as opened, opened:
        opened.execute(
            "UPDATE messages SET event = '01X' WHERE event ="
            " (SELECT min(event) FROM messages WHERE role = 0)"
        )
    damages = find_damages(home)
    assert [damage["message"] for damage in damages] == [
        "it is not indexed",
        "the index has it, although it is not stored",
    ]
    assert damages[1]["ids"] == ["01X"]


def test_what_waits_to_be_indexed_is_no_damage(home: Path) -> None:
    workspace = Workspace(in_home(home), OWN)
    judging.judge(*judging.find_line(SESSION, "asked: "), Ruling.REJECTED, NOW)
    workspace.stop()
    assert find_damages(home) == []
    output = run_memtui(home, "audit").stdout
    assert "not indexed yet" in output


def test_line_of_two_segments_is_indexed_without_it_in_both(
    workspace: Workspace,
) -> None:
    for day in (0, 9):
        at_s = day * 86_400
        asked = make_message("Grease the wheel of the mill.", at_s)
        reply = make_message(f"Greased {day}.", at_s + 1, role=EventRole.ASSISTANT)
        store_messages(asked, reply)
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    with database.connection():
        name = min(n for n in nodes.list_ids() if n.startswith("toc:segment"))
    judging.judge(*judging.find_line(name, "Grease the"), Ruling.REJECTED, NOW)
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    workspace.stop()
    assert find_damages(workspace.paths.store.parent) == []


def test_scope_narrows_damages_and_totals(
    home: Path, execute: Callable[..., list[tuple[Any, ...]]]
) -> None:
    execute(f"UPDATE bullets SET text = 'Walruses' WHERE id = {BULLET}")
    assert find_damages(home, DAY)
    assert find_damages(home, "2024-01")
    assert not find_damages(home, SESSION)
    assert not find_damages(home, "2024-02")
    assert find_damages(home, "--project", "shop")
    assert not find_damages(home, "--agent", "codex")


def test_share_of_supported_claims_decides_the_exit_code(home: Path) -> None:
    answer = json_data(run_memtui(home, "audit", SESSION, "--json").stdout)
    totals, percent = answer["totals"], answer["supported_percent"]
    assert 0 < totals["supported"] < totals["total"]
    assert totals["ruling"] == {"accepted": 1, "rejected": 1}
    assert percent == 100 * totals["supported"] / totals["total"]
    run_memtui(home, "audit", SESSION, "--fail-under", str(int(percent)))
    output = run_memtui(home, "audit", SESSION, "--fail-under", "100", code=1).stdout
    assert "That is less than 100 %." in output
    run_memtui(home, "audit", "--fail-under", "101", code=2)
    refused = run_memtui(home, "audit", "shop-1", code=2)
    assert "no session AGENT:SESSION" in refused.stderr


@pytest.mark.parametrize(
    "name",
    [
        "toc:year:1999",
        "1999",
        "toc:segment:1999-01-01:ABC",
        "toc:segment:2024-01-15:ABC",
        "toc:nothing",
        "claude-code:nobody",
    ],
)
def test_name_of_which_nothing_is_stored_is_refused(home: Path, name: str) -> None:
    output = run_memtui(home, "audit", name, "--fail-under", "100", code=1)
    assert "nothing is stored of" in output.stderr and output.stdout == ""


def test_real_transcripts_are_resolved(shared: Path, workspace: Workspace) -> None:
    folders = [shared / name for name in ("claude_code", "codex", "copilot_cli")]
    for _ in workspace.pipeline.importer().run(folders):
        pass
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    workspace.stop()
    answer = json_data(
        run_memtui(workspace.paths.store.parent, "audit", "--json").stdout
    )
    assert answer["lines"] == answer["resolved"] > 100
