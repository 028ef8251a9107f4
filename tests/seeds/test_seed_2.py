"""The rows of seed 2, sessions and their search."""

import json
import re
import subprocess
import sys
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from memtui import hook
from memtui.model.events import EventRole
from memtui.model.filters import Scope
from memtui.model.hit import MAX_HITS, SNIPPET_BYTES, WINDOW_MESSAGES
from memtui.model.sessions import SessionMetadata
from memtui.pipeline.pipeline import MessageIndexer
from memtui.search import weights
from memtui.search.message_index import MessageIndex
from memtui.store import database, queues, sessions
from memtui.text.tokens import ESTIMATING_COUNTER
from memtui.tools import changes, replies, search
from memtui.tools import sessions as agents_sessions
from memtui.tools.table import TOOLS, ToolRunner, available_tools
from memtui.workspace import Workspace
from tests.cli_runner import json_data, run_memtui
from tests.conftest import HISTORY
from tests.message_factory import AT, index_messages, make_message, store_messages
from tests.tables import SessionRow


def take_in(workspace: Workspace) -> None:
    assert workspace.pipeline.run_until_idle(lambda _: None) == []


def put_hook(workspace: Workspace, **payload: object) -> None:
    """Leave a hook's payload in the spool."""
    folder = workspace.paths.spool / "new"
    folder.mkdir(parents=True, exist_ok=True)
    at = f"{len(list(folder.iterdir())):04}.json"
    (folder / at).write_text(json.dumps(payload))


def test_s2_01_a_new_session_is_stored_at_once(workspace: Workspace) -> None:
    name = changes.new_session(workspace, agent="bot").head["session"]
    take_in(workspace)
    (listed,) = agents_sessions.list_sessions(workspace).items
    assert listed["id"] == name and listed["message_count"] == 0


def test_s2_01_each_new_session_is_another_one(workspace: Workspace) -> None:
    names = {changes.new_session(workspace).head["session"] for _ in range(3)}
    take_in(workspace)
    session_ids = {
        item["id"] for item in agents_sessions.list_sessions(workspace).items
    }
    assert session_ids == names and len(names) == 3


def test_s2_02_a_session_keeps_who_began_it(workspace: Workspace) -> None:
    changes.new_session(workspace, agent="bot", sender="ada")
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    with database.connection():
        (row,) = SessionRow.select().where(SessionRow.agent == "bot")
    assert row.created_by == "ada"


def test_s2_03_a_message_is_appended_and_found_at_once(workspace: Workspace) -> None:
    name = changes.new_session(workspace).head["session"]
    changes.append_message(workspace, name, "user", "Polish the harbour crane.")
    take_in(workspace)
    (message,) = agents_sessions.list_messages(workspace, name).items
    assert (message["role"], message["text"]) == ("user", "Polish the harbour crane.")
    assert workspace.message_search.find("harbour crane").hits


def test_s2_03_a_message_sent_again_is_stored_once(workspace: Workspace) -> None:
    name = changes.new_session(workspace).head["session"]
    for _ in range(2):
        changes.append_message(workspace, name, "user", "Polish it.", message_id="m1")
        take_in(workspace)
    assert len(agents_sessions.list_messages(workspace, name).items) == 1


def test_s2_04_a_message_is_found_before_it_is_indexed(workspace: Workspace) -> None:
    store_messages(make_message("Feed the walrus."))
    index_messages(workspace)
    store_messages(make_message("Polish the harbour crane.", 9))
    hits = workspace.message_search.find("harbour crane").hits
    assert [hit.msg_idx for hit in hits] == [1]


def test_s2_05_sessions_are_listed_page_by_page_without_messages(
    workspace: Workspace,
) -> None:
    store_messages(*(make_message("secret word", n, session=f"s{n}") for n in range(5)))
    pages = [
        agents_sessions.list_sessions(workspace, offset=offset, limit=2)
        for offset in (0, 2, 4)
    ]
    names = [[item["id"] for item in page.items] for page in pages]
    assert [len(page) for page in names] == [2, 2, 1]
    assert len({name for page in names for name in page}) == 5
    facts = {key for page in pages for item in page.items for key in item}
    assert facts.isdisjoint({"messages", "text", "window"})


def test_s2_05_sessions_can_be_filtered_by_project(full_workspace: Workspace) -> None:
    rows = agents_sessions.list_sessions(
        full_workspace, scope=Scope(project="shop")
    ).items
    assert {row["project"] for row in rows} == {"shop"} and len(rows) == 4
    everywhere = full_workspace.message_search.find("log").hits
    hits = full_workspace.message_search.find("log project:logsift").hits
    assert len(everywhere) > len(hits) > 1
    assert {hit.session and hit.session.project for hit in hits} == {"logsift"}


def test_s2_05_a_message_of_an_old_session_moves_it_to_the_top(
    workspace: Workspace,
) -> None:
    store_messages(
        make_message("One.", 0, session="a"), make_message("Two.", 60, session="b")
    )

    def names() -> list[str]:
        rows = agents_sessions.list_sessions(workspace).items
        return [row["id"].rpartition(":")[2] for row in rows]

    assert names() == ["b", "a"]
    store_messages(make_message("Three.", 120, session="a"))
    assert names() == ["a", "b"]


def test_s2_06_a_long_message_is_read_to_its_end(workspace: Workspace) -> None:
    words = " ".join(f"word{number}" for number in range(4_000))
    store_messages(make_message(words), make_message("Short.", 9))
    page = agents_sessions.list_messages(workspace, "s1")
    # With room enough it is whole.
    fitted = replies.fit_text(page, 20_000, ESTIMATING_COUNTER)
    assert words in fitted.text and " more: " not in fitted.text
    # Else the answer says what is missing, and how to get it.
    text = replies.fit_text(page, 500, ESTIMATING_COUNTER).text
    assert "Short." in text
    match = re.search(r"\[…\+(\d+) text_offset=(\d+)\]", text)
    assert match and int(match[1]) + int(match[2]) == len(words)
    assert "expand_grip ID before=0 after=0, with this text_offset" in text
    data = replies.fit_json(page, 500, ESTIMATING_COUNTER, lambda data: data).text
    assert '"truncated":true' in data
    # Followed from page to page, it is read without a gap.
    alone = partial(agents_sessions.list_messages, workspace, "s1", limit=1)
    cited = partial(
        agents_sessions.expand_grip, workspace, page.items[0]["id"], before=0, after=0
    )
    for read in (alone, cited):
        at, parts = 0, []
        while True:
            text = replies.fit_text(
                read(text_offset=at), 2_000, ESTIMATING_COUNTER
            ).text
            parts += re.findall(r"\bword\d+", text.partition("user: ")[2])
            left = re.search(r"text_offset=(\d+)\]", text)
            if not left:
                break
            assert int(left[1]) > at
            at = int(left[1])
        assert " ".join(parts) == words


def test_s2_06_a_message_keeps_the_lines_of_its_code(workspace: Workspace) -> None:
    code = "\n".join(
        f"def word{number}():\n    return {number}" for number in range(400)
    )
    store_messages(make_message(f"It is:\n\n{code}\n</memory 000000>"))
    parts, at = [], 0
    while True:
        page = agents_sessions.list_messages(workspace, "s1", limit=1, text_offset=at)
        text = replies.fit_text(page, 2_000, ESTIMATING_COUNTER).text
        first, *lines = text.partition("user: ")[2].split("\n")
        # The further lines of a message are indented: none can pass for the answer's.
        own = [line for line in lines if line.startswith("    ")]
        parts.append("\n".join([first, *(line[4:] for line in own)]))
        left = re.search(r"(.*) \[…\+\d+ text_offset=(\d+)\]", parts[-1], re.S)
        if not left:
            break
        parts[-1], at = left[1].removesuffix("…"), int(left[2])
    assert len(parts) >= 3
    assert "".join(parts) == f"It is:\n\n{code}\n‹/memory 000000>"


def test_s2_06_messages_are_listed_page_by_page(workspace: Workspace) -> None:
    store_messages(*(make_message(f"word {n}", n) for n in range(7)))
    pages = []
    for offset in range(0, 9, 3):
        page = agents_sessions.list_messages(workspace, "s1", offset=offset, limit=3)
        pages.append([item["text"] for item in page.items])
    assert [len(page) for page in pages] == [3, 3, 1]
    assert [text for page in pages for text in page] == [f"word {n}" for n in range(7)]


def test_s2_07_08_and_11_a_session_has_its_metadata(workspace: Workspace) -> None:
    changes.new_session(workspace, title="A walrus plan", agent="bot", sender="ada")
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    (listed,) = agents_sessions.list_sessions(workspace).items
    changes.set_session_summary(workspace, listed["id"], "About herring.")
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    reply = agents_sessions.get_session_meta(workspace, listed["id"])
    facts = replies.write_data(reply)
    assert (facts["agent"], facts["created_by"]) == ("bot", "ada")
    assert facts["summary"] == "About herring." and facts["card"] == []
    assert facts["title"] == "A walrus plan" and facts["message_count"] == 0
    assert facts["created_at"].endswith("Z") and facts["updated_at"].endswith("Z")
    assert "summary: About herring." in replies.write_text(reply)


def test_s2_07_nothing_of_an_unknown_session_is_given(workspace: Workspace) -> None:
    for reply in (
        agents_sessions.list_messages(workspace, "nobody"),
        agents_sessions.get_session_meta(workspace, "nobody"),
    ):
        assert not reply.items and reply.notes


def test_s2_09_13_and_14_every_appended_message_updates_time_and_count(
    workspace: Workspace,
) -> None:
    seen = []
    for number in range(3):
        store_messages(make_message(f"word {number}", 60 * number))
        with database.connection():
            session = sessions.get("claude-code", "s1")
        assert session is not None
        seen.append(
            (
                session.message_count,
                session.updated_at,
                session.created_at,
                session.agent,
            )
        )
    assert [count for count, *_ in seen] == [1, 2, 3]
    assert [at for _, at, *_ in seen] == [AT + timedelta(minutes=n) for n in range(3)]
    assert {(created, agent) for *_, created, agent in seen} == {(AT, "claude-code")}


def test_s2_10_what_a_session_was_created_with_does_not_change(
    workspace: Workspace,
) -> None:
    name = changes.new_session(workspace, agent="bot", sender="ada").head["session"]
    take_in(workspace)
    before = agents_sessions.get_session_meta(workspace, name).head
    changes.append_message(workspace, name, "user", "Polish the harbour crane.")
    changes.set_session_title(workspace, name, "Crane works")
    changes.set_session_summary(workspace, name, "The crane was polished.")
    take_in(workspace)
    after = agents_sessions.get_session_meta(workspace, name).head
    assert after["title"] == "Crane works" and after["message_count"] == 1
    for field in ("agent", "created_by", "created_at"):
        assert after[field] == before[field], field


def test_s2_12_titles_are_empty_until_a_client_sets_one(workspace: Workspace) -> None:
    store_messages(make_message("Polish the harbour crane."))
    take_in(workspace)
    with database.connection():
        before = sessions.get("claude-code", "s1")
    changes.set_session_title(workspace, "claude-code:s1", "Crane works")
    take_in(workspace)
    with database.connection():
        after = sessions.get("claude-code", "s1")
    assert before is not None and (before.agent_title, before.summary) == ("", "")
    assert after is not None and after.title == "Crane works"


def test_s2_15_agents_write_the_title_and_the_summary_alone(
    workspace: Workspace,
) -> None:
    store_messages(make_message("Polish the harbour crane."))
    take_in(workspace)
    fields = {
        parameter.name
        for tool in TOOLS
        if tool.is_writing
        for parameter in tool.parameters
    }
    assert {"title", "summary"} <= fields
    assert not fields & {"created_at", "created_by", "updated_at", "message_count"}
    name = changes.new_session(workspace, agent="bot", sender="ada").head["session"]
    take_in(workspace)
    put_hook(
        workspace,
        agent="bot",
        session_id=name.partition(":")[2],
        hook_event_name="UserPromptSubmit",
        prompt="Grease it.",
        message_count=99,
        created_by="eve",
    )
    take_in(workspace)
    meta = agents_sessions.get_session_meta(workspace, name).head
    assert (meta["message_count"], meta["created_by"]) == (1, "ada")


def test_s2_16_and_20_there_are_two_searches_and_no_topics() -> None:
    names = {tool.name for tool in TOOLS}
    assert {"search_memory", "search_sessions"} <= names
    assert not any("topic" in name for name in names)


def test_s2_17_18_and_63_lines_of_older_and_newer_programs_mix(
    workspace: Workspace, tmp_path: Path
) -> None:
    line = {"session_id": "s1", "timestamp": "2025-03-14T10:00:00Z", "role": "user"}
    lines = [
        # Fields that were removed, unknown fields, and none but what is needed.
        line | {"text": "One.", "topic": "cranes", "uptime_secs": 7},
        line | {"text": "Two.", "deep": {"er": 1}, "timestamp": "2025-03-14T10:01:00Z"},
        line | {"text": "Three.", "timestamp": "2025-03-14T10:02:00Z"},
    ]
    file = tmp_path / "old.jsonl"
    file.write_text("".join(json.dumps(fields) + "\n" for fields in lines))
    list(workspace.pipeline.importer().run([file]))
    take_in(workspace)
    (session,) = agents_sessions.list_sessions(workspace).items
    assert session["message_count"] == 3
    page = agents_sessions.list_messages(workspace, session["id"])
    assert [item["text"] for item in page.items] == ["One.", "Two.", "Three."]
    meta = replies.write_data(
        agents_sessions.get_session_meta(workspace, session["id"])
    )
    assert not {"topic", "uptime_secs"} & meta.keys()


def test_s2_19_memory_is_searched_beside_sessions(full_workspace: Workspace) -> None:
    memory = search.search_memory(full_workspace, "sliding window refresh")
    hits = search.search_sessions(full_workspace, "sliding window refresh")
    assert memory.items and hits.items
    assert all(item["id"].startswith("evt:") for item in memory.items)
    assert all("window" in item for item in hits.items)
    assert "window" not in {key for item in memory.items for key in item}
    assert "Token refresh now uses a sliding window" in replies.write_text(memory)


def test_s2_21_58_and_59_nothing_is_put_into_an_agent(workspace: Workspace) -> None:
    # The later proposal removed compaction and titles that nobody asked for.
    payloads = (
        {"hook_event_name": "SessionStart", "source": "compact"},
        {"hook_event_name": "PreCompact", "trigger": "auto"},
        {"hook_event_name": "UserPromptSubmit", "prompt": "Polish the crane."},
    )
    for payload in payloads:
        spool = str(workspace.paths.spool)
        ended = subprocess.run(
            [sys.executable, "-I", hook.__file__, "--spool", spool],
            input=json.dumps({"session_id": "s1"} | payload).encode(),
            capture_output=True,
            check=False,
        )
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    take_in(workspace)
    with database.connection():
        (session,) = SessionRow.select()
    assert (session.title, session.summary) == ("", "")


def test_s2_22_a_compaction_gives_the_session_its_summary(workspace: Workspace) -> None:
    store_messages(make_message("Polish the harbour crane.", session="c1"))
    summary = "The walrus enclosure was painted green."
    common = {"session_id": "c1", "timestamp": "2025-03-14T10:05:00Z"}
    put_hook(
        workspace, hook_event_name="PostCompact", compact_summary=summary, **common
    )
    take_in(workspace)
    with database.connection():
        session = sessions.get("claude-code", "c1")
    assert session is not None and session.summary == summary
    (hit,) = workspace.message_search.find("walrus enclosure", limit=1).hits
    assert hit.session_id == "c1"


def test_s2_23_and_28_a_session_is_resumed_by_its_title(workspace: Workspace) -> None:
    name = changes.new_session(workspace, title="Crane works").head["session"]
    changes.append_message(workspace, name, "user", "Polish it.")
    take_in(workspace)
    (hit,) = search.search_sessions(workspace, "crane works").items
    assert (hit["meta"]["title"], hit["session"]) == ("Crane works", name)
    changes.append_message(workspace, hit["session"], "user", "Grease it.")
    take_in(workspace)
    items = agents_sessions.list_messages(workspace, name).items
    assert [item["text"] for item in items] == ["Polish it.", "Grease it."]


def test_s2_24_messages_go_to_the_session_that_the_client_names(
    workspace: Workspace,
) -> None:
    names = [changes.new_session(workspace).head["session"] for _ in range(2)]
    for name, text in zip(names, ("The crane.", "The walrus."), strict=True):
        changes.append_message(workspace, name, "user", text)
    take_in(workspace)
    messages = [agents_sessions.list_messages(workspace, name).items for name in names]
    texts = [[item["text"] for item in items] for items in messages]
    assert texts == [["The crane."], ["The walrus."]]


def test_s2_25_a_clear_begins_another_session(workspace: Workspace) -> None:
    common = {"hook_event_name": "UserPromptSubmit"}
    for number, session in enumerate(("before", "after")):
        put_hook(
            workspace,
            **common,
            session_id=session,
            prompt=f"Crane {number}.",
            timestamp=f"2025-03-14T10:0{number}:00Z",
        )
    take_in(workspace)
    names = [item["id"] for item in agents_sessions.list_sessions(workspace).items]
    assert names == ["claude-code:after", "claude-code:before"]


def test_s2_26_writing_tools_are_only_offered_where_allowed() -> None:
    reading = available_tools(with_writing=False)
    writing = available_tools(with_writing=True)
    assert {"append_message", "new_session"} <= writing.keys() - reading.keys()
    assert {"search_sessions", "list_messages"} <= reading.keys()


@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        ("append_message", {"session": "mcp:s1", "role": "user"}, "text"),
        (
            "append_message",
            {"session": "mcp:s1", "role": "robot", "text": "x"},
            "role",
        ),
        ("new_session", {"agent": "a b"}, "agent"),
        ("search_sessions", {"query": " "}, "query"),
        ("list_messages", {"session": "s1", "limit": 0}, "limit"),
        ("get_session_meta", {}, "session"),
    ],
)
def test_s2_27_a_wrong_call_says_which_argument_is_wrong(
    workspace: Workspace, tool: str, arguments: dict[str, object], reason: str
) -> None:
    (definition,) = (candidate for candidate in TOOLS if candidate.name == tool)
    answer = ToolRunner(lambda: workspace).call(definition, arguments)
    assert answer.error is not None and answer.error.code == "usage"
    assert reason in answer.error.message


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("crane role:user", ["user", "user"]),
        ("crane role:assistant", ["assistant"]),
        ("crane session:s2", ["user"]),
        ("crane agent:codex", []),
        ("crane before:2025-03-14", []),
        ("crane after:2025-03-14", ["user", "assistant", "user"]),
    ],
)
def test_s2_29_sessions_are_searched_with_filters(
    workspace: Workspace, words: str, expected: list[str]
) -> None:
    store_messages(
        make_message("The crane.", 0),
        make_message("The crane it is.", 1, role=EventRole.ASSISTANT),
        make_message("A crane of another session.", 2, session="s2"),
    )
    index_messages(workspace)
    hits = workspace.message_search.find(words).hits
    roles = sorted(hit.event.role.value for hit in hits if hit.event)
    assert roles == sorted(expected)


def test_s2_30_sessions_are_searched_with_four_messages_before_and_after(
    workspace: Workspace,
) -> None:
    store_messages(*(make_message(f"word {n}", n) for n in range(20)))
    store_messages(make_message("harbour", 10.5))
    index_messages(workspace)
    (hit,) = search.search_sessions(workspace, "harbour").items
    assert [message.get("is_match", False) for message in hit["window"]].index(
        True
    ) == 4
    assert len(hit["window"]) == 9


def test_s2_31_the_index_is_rebuilt_from_the_store(tmp_path: Path) -> None:
    home = tmp_path / "home"
    run_memtui(home, "import", str(HISTORY))
    index = home / "index-messages.db"
    before = json_data(run_memtui(home, "search", "basket", "--json").stdout)
    index.unlink()
    run_memtui(home, "reindex")
    after = json_data(run_memtui(home, "search", "basket", "--json").stdout)
    assert index.exists() and before["hits"]
    assert [hit["id"] for hit in after["hits"]] == [hit["id"] for hit in before["hits"]]


def test_s2_31_an_index_that_is_damaged_is_replaced_by_the_store(
    workspace: Workspace,
) -> None:
    store_messages(make_message("Polish the harbour crane."))
    index_messages(workspace)
    workspace.paths.message_index.write_bytes(b"no database")
    answer = workspace.message_search.find("harbour crane")
    assert answer.hits and any("index" in note for note in answer.notes)


def test_s2_32_names_of_tools_are_searched_but_not_their_text(
    workspace: Workspace,
) -> None:
    store_messages(
        make_message("Go on."),
        make_message("hunter2 is it", 1, role=EventRole.TOOL, tool="Unlock"),
    )
    index_messages(workspace)
    assert not workspace.message_search.find("hunter2").hits
    assert workspace.message_search.find("Unlock").hits


@pytest.mark.parametrize(
    "query",
    ["", "AND", "NEAR(", '"', "harb*", "harbour-crane", "x:y", "(", "it's", "\\", "%"],
)
def test_s2_32_any_text_is_a_valid_query(full_workspace: Workspace, query: str) -> None:
    full_workspace.message_search.find(query)
    full_workspace.teleport.find(query)
    full_workspace.search.find(query)
    assert isinstance(search.search_sessions(full_workspace, query).items, list)


@pytest.mark.parametrize(
    "words", ["AND", "NEAR(", '"', "(", "\\", "%", "x:y", "*", "--", "it's", "[/b]"]
)
def test_s2_32_punctuation_beside_a_word_does_not_hide_it(
    workspace: Workspace, words: str
) -> None:
    store_messages(make_message(f"Polish the harbour crane {words} now."))
    take_in(workspace)
    for query in (f"harbour {words}", f"{words} harbour"):
        assert workspace.message_search.find(query).hits, query
        assert workspace.teleport.find(query).hits, query


@pytest.mark.parametrize(
    ("query", "is_found"),
    [
        ("harb*", True),
        ('"harbour crane"', True),
        ('"crane harbour"', False),
        ("crane harbour", True),
        ("harbour -crane", False),
    ],
)
def test_s2_32_prefixes_and_phrases_work(
    workspace: Workspace, query: str, is_found: bool
) -> None:
    store_messages(make_message("Polish the harbour crane."))
    index_messages(workspace)
    assert bool(workspace.message_search.find(query).hits) is is_found


def test_s2_33_a_summary_weighs_more_than_a_title_and_that_more_than_messages(
    workspace: Workspace,
) -> None:
    said = {"user": EventRole.USER, "assistant": EventRole.ASSISTANT}
    for number, session in enumerate(["assistant", "user", "title", "summary"]):
        text = "harbour crane" if session in said else "something else altogether"
        role = said.get(session, EventRole.USER)
        store_messages(make_message(text, number, role=role, session=session))
    with database.transaction():
        for facts in (
            SessionMetadata("claude-code", "title", title="harbour crane"),
            SessionMetadata("claude-code", "summary", summary="harbour crane"),
        ):
            sessions.update_metadata(facts)
    index_messages(workspace)
    hits = workspace.message_search.find("harbour crane").hits
    names = [hit.session_id for hit in hits]
    assert names == ["summary", "title", "user", "assistant"]
    scores = [hit.score for hit in hits]
    assert scores == sorted(set(scores), reverse=True)


def test_s2_33_34_and_37_the_other_weights_are_those_of_the_proposal() -> None:
    values = weights.SESSION_SUMMARY, weights.SESSION_TITLE, weights.TOOL_TURN
    assert values == (3.0, 2.0, 1.3)


def test_s2_33_a_session_with_a_summary_is_above_one_without(
    workspace: Workspace,
) -> None:
    for session in ("without", "with"):
        store_messages(make_message("Polish the harbour crane.", session=session))
    with database.transaction():
        sessions.update_metadata(
            SessionMetadata("claude-code", "with", summary="The harbour crane.")
        )
    index_messages(workspace)
    hits = workspace.message_search.find("harbour crane").hits
    assert [hit.session_id for hit in hits] == ["with", "without"]


@pytest.mark.parametrize(
    ("title", "summary"), [("harbour crane", ""), ("", "harbour crane")]
)
def test_s2_33_title_or_summary_boost_the_sessions_messages(
    workspace: Workspace, title: str, summary: str
) -> None:
    for session in ("plain", "named"):
        store_messages(make_message("Move the harbour crane.", session=session))
    with database.transaction():
        sessions.update_metadata(
            SessionMetadata("claude-code", "named", title=title, summary=summary)
        )
    index_messages(workspace)
    first, second = workspace.message_search.find("harbour crane").hits
    assert (first.session_id, first.msg_idx) == ("named", 0)
    assert first.score > second.score


@pytest.mark.parametrize("field", ["title", "summary"])
def test_s2_34_a_session_is_found_by_its_title_or_summary_alone(
    workspace: Workspace, field: str
) -> None:
    store_messages(make_message("Something else altogether."))
    with database.transaction():
        sessions.update_metadata(
            SessionMetadata(
                "claude-code",
                "s1",
                title="The harbour crane" if field == "title" else "",
                summary="The harbour crane" if field == "summary" else "",
            )
        )
    index_messages(workspace)
    (hit,) = workspace.message_search.find("harbour crane").hits
    assert hit.session_id == "s1" and hit.msg_idx == -1
    assert "harbour crane" in hit.snippet.text


@pytest.mark.parametrize(
    ("role", "weight"), [("user", 1.5), ("assistant", 1.0), ("tool", 1.0)]
)
def test_s2_35_and_36_a_message_weighs_by_its_role(role: str, weight: float) -> None:
    assert weights.ROLE_WEIGHTS[EventRole(role)] == weight


def test_s2_37_a_turn_that_used_tools_weighs_more(workspace: Workspace) -> None:
    said = partial(make_message, "The crane is polished.", role=EventRole.ASSISTANT)
    plain, turn = said(20, session="plain"), said(10, session="turn")
    store_messages(
        make_message("Go on.", 0, session="plain"),
        plain,
        make_message("Go on.", 0, session="turn"),
        turn,
        make_message("ok", 11, role=EventRole.TOOL, session="turn", tool="Bash"),
    )
    index_messages(workspace)
    hits = workspace.message_search.find("polished crane").hits
    assert [hit.session_id for hit in hits] == ["turn", "plain"]
    assert hits[0].score > hits[1].score


def test_s2_38_39_41_and_42_a_session_hit_has_the_fields_of_the_seed(
    workspace: Workspace,
) -> None:
    store_messages(
        make_message("Feed the walrus. " + "So it is said. " * 200, 1),
        make_message("I feed it.", 2, role=EventRole.ASSISTANT),
        make_message("fed", 3, role=EventRole.TOOL, tool="Feed"),
        make_message("Done.", 4, role=EventRole.ASSISTANT),
    )
    index_messages(workspace)
    (hit,) = search.search_sessions(workspace, "feed walrus").items[:1]
    assert hit["msg_idx"] == 0
    assert hit["meta"].keys() == {"title", "created_at", "updated_at", "message_count"}
    assert hit["meta"]["message_count"] == 3
    match, answer, *_ = hit["window"]
    assert match["is_match"] and match["truncated"] and not answer["truncated"]
    assert len(match["snippet"].encode()) <= 1_024
    assert answer["tool_name"] == "Feed"
    assert "assistant (Feed): " in replies.write_text(
        search.search_sessions(workspace, "feed walrus")
    )


def test_s2_38_a_hit_has_the_index_of_its_message_in_the_session(
    workspace: Workspace,
) -> None:
    store_messages(*(make_message(f"word {n}", n) for n in range(6)))
    store_messages(make_message("harbour", 3.5))
    index_messages(workspace)
    (hit,) = workspace.message_search.find("harbour", before=1, after=1).hits
    assert hit.msg_idx == 4
    assert [message.msg_idx for message in hit.window] == [3, 4, 5]
    page = agents_sessions.list_messages(workspace, "s1", offset=hit.msg_idx, limit=1)
    assert [item["text"] for item in page.items] == ["harbour"]


def test_s2_38_scores_are_between_0_and_1_and_fall(workspace: Workspace) -> None:
    for number in range(6):
        text = f"harbour {'filler ' * 9 * number}"
        store_messages(make_message(text, number, session=f"s{number}"))
    index_messages(workspace)
    scores = [hit.score for hit in workspace.message_search.find("harbour").hits]
    assert scores == sorted(scores, reverse=True) and len(scores) == 6
    assert all(0 < score <= 1 for score in scores)


def test_s2_40_a_window_never_holds_messages_of_another_session(
    workspace: Workspace,
) -> None:
    store_messages(
        *(make_message(f"word {n}", n, session=f"s{n % 2}") for n in range(12)),
        make_message("harbour", 5.5, session="s0"),
    )
    index_messages(workspace)
    (hit,) = workspace.message_search.find("harbour").hits
    texts = [message.snippet.text for message in hit.window]
    assert "harbour" in texts
    assert all(int(text[5:]) % 2 == 0 for text in texts if text != "harbour")


@pytest.mark.parametrize("letter", ["a", "é", "語", "😀"])
def test_s2_43_a_snippet_has_1024_bytes_at_most_and_whole_characters(
    workspace: Workspace, letter: str
) -> None:
    store_messages(make_message(f"harbour {letter * 3_000}"), make_message("End.", 5))
    index_messages(workspace)
    (hit,) = workspace.message_search.find("harbour").hits
    assert hit.match is not None and hit.match.is_truncated
    size = len(hit.match.snippet.text.encode())
    assert SNIPPET_BYTES - 4 < size <= SNIPPET_BYTES == 1_024
    assert hit.match.snippet.text.strip(letter) == "harbour "
    assert not hit.window[1].is_truncated


def test_s2_43_the_snippet_of_a_far_match_holds_the_match(workspace: Workspace) -> None:
    store_messages(make_message("filler " * 1_000 + "harbour crane"))
    index_messages(workspace)
    (hit,) = workspace.message_search.find("harbour").hits
    assert hit.match is not None and "harbour" in hit.match.snippet.text
    marked = [hit.match.snippet.text[a:b] for a, b in hit.match.snippet.marks]
    assert marked == ["harbour"]


WINDOW_VECTORS = [
    # before, after, items before the match, items after it
    (4, 4, 4, 4),
    (0, 0, 0, 0),
    (1, 2, 1, 2),
    (15, 15, 15, 0),
    (30, 30, 15, 0),
    (10, 10, 10, 5),
    (0, 30, 0, 15),
]


@pytest.mark.parametrize(("before", "after", "above", "below"), WINDOW_VECTORS)
def test_s2_44_a_window_keeps_the_match_and_has_16_items_at_most(
    workspace: Workspace, before: int, after: int, above: int, below: int
) -> None:
    store_messages(*(make_message(f"word {n}", n) for n in range(40)))
    store_messages(make_message("harbour", 20.5))
    index_messages(workspace)
    (hit,) = workspace.message_search.find("harbour", before=before, after=after).hits
    place = [message.is_match for message in hit.window].index(True)
    assert (place, len(hit.window) - place - 1) == (above, below)
    assert len(hit.window) <= WINDOW_MESSAGES == 16


def test_s2_45_a_query_has_20_hits_at_most(workspace: Workspace) -> None:
    store_messages(
        *(make_message(f"harbour {n}", n, session=f"s{n}") for n in range(30))
    )
    index_messages(workspace)
    assert (
        len(workspace.message_search.find("harbour", limit=500).hits) == MAX_HITS == 20
    )
    assert len(workspace.message_search.find("harbour", limit=3).hits) == 3


def test_s2_45_all_hits_fit_the_budget(workspace: Workspace) -> None:
    text = "harbour " + "filler " * 400
    store_messages(*(make_message(text, n, session=f"s{n}") for n in range(30)))
    index_messages(workspace)
    reply = search.search_sessions(workspace, "harbour")
    assert len(reply.items) == 20
    for budget in (200, 1_000):
        fitted = replies.fit_text(reply, budget, ESTIMATING_COUNTER).text
        assert ESTIMATING_COUNTER.count(fitted) <= budget


def test_s2_46_and_55_no_tool_reads_a_whole_session_or_deletes_one() -> None:
    names = {tool.name for tool in TOOLS}
    assert {"list_messages", "get_session_meta", "new_session"} <= names
    assert not {"read_session", "load_session", "delete_session"} & names
    (browse,) = (tool for tool in TOOLS if tool.name == "list_messages")
    assert {"offset", "limit"} <= {parameter.name for parameter in browse.parameters}


def test_s2_47_and_48_a_search_of_many_messages_finds_each(
    workspace: Workspace,
) -> None:
    # The benchmark measures the 50 ms that the seed allows for 100,000 messages.
    store_messages(
        *(
            make_message(
                f"crane{n % 997} is beside quay{n % 89} and winch{n % 13}.",
                n,
                session=f"s{n % 50}",
            )
            for n in range(20_000)
        )
    )
    index_messages(workspace)
    for number in range(30):
        hits = workspace.message_search.find(f"crane{number} winch").hits
        assert hits
        assert all(f"crane{number} " in hit.snippet.text for hit in hits)


def test_s2_49_and_50_a_message_is_indexed_without_the_others(
    workspace: Workspace,
) -> None:
    store_messages(*(make_message(f"crane {n}", n) for n in range(3_000)))
    index_messages(workspace)
    store_messages(make_message("walrus", 9_000))
    with database.connection():
        (waiting,) = queues.list_unindexed_events(10)
    assert waiting.first == waiting.last
    assert index_messages(workspace) == 1
    (hit,) = workspace.message_search.find("walrus").hits
    assert hit.msg_idx == 3_000


def test_s2_51_and_52_the_index_of_many_messages_is_rebuilt(
    workspace: Workspace,
) -> None:
    # The benchmark measures the 20 seconds that the seed allows for 100,000.
    store_messages(
        *(make_message(f"crane {n}", n, session=f"s{n % 100}") for n in range(5_000))
    )
    index_messages(workspace)
    workspace.paths.message_index.unlink()
    workspace.pipeline.reindex()
    index_messages(workspace)
    for number in (0, 2_500, 4_999):
        assert workspace.message_search.find(f'"crane {number}"').hits


def test_s2_53_and_54_what_is_new_is_found_while_the_index_is_rebuilt(
    workspace: Workspace,
) -> None:
    store_messages(*(make_message(f"crane {n}", n) for n in range(3_000)))
    stage = MessageIndexer(
        MessageIndex(workspace.paths.message_index, with_tools=False)
    )
    assert stage.step()
    store_messages(make_message("Feed the walrus.", 9_000))
    with database.connection():
        assert queues.count_rows("index_event")
    (hit,) = workspace.message_search.find("walrus").hits
    assert hit.msg_idx == 3_000
    while stage.step():
        pass
    with database.connection():
        assert not queues.count_rows("index_event")
    assert len(workspace.message_search.find('"crane 17"').hits) == 1


def test_s2_56_and_57_a_forgotten_session_is_in_no_index(tmp_path: Path) -> None:
    home = tmp_path / "home"
    run_memtui(home, "import", str(HISTORY))
    assert "memchr" in run_memtui(home, "search", "memchr").stdout
    run_memtui(home, "forget", "session", "grep-1", "--yes")
    for _ in range(2):
        assert not json_data(run_memtui(home, "search", "memchr", "--json").stdout)[
            "hits"
        ]
        listed = json_data(run_memtui(home, "sessions", "--json").stdout)["sessions"]
        assert len(listed) == 5 and "grep-1" not in str(listed)
        for file in (home / "index-messages.db", home / "memory.db"):
            assert b"memchr" not in file.read_bytes()
        run_memtui(home, "reindex")


def test_s2_60_a_search_needs_no_network(
    full_workspace: Workspace, connected: list[tuple[object, ...]]
) -> None:
    assert search.search_sessions(full_workspace, "sliding window").items
    assert search.search_memory(full_workspace, "sliding window").items
    assert connected == []


def test_s2_61_the_two_searches_are_two_tools() -> None:
    described = {tool.name: tool for tool in TOOLS}
    assert "recall" not in described
    sessions_parameters = {p.name for p in described["search_sessions"].parameters}
    memory_parameters = {p.name for p in described["search_memory"].parameters}
    assert sessions_parameters - memory_parameters == {"before", "after"}


def test_s2_62_a_session_is_rewritten_by_its_client_alone(workspace: Workspace) -> None:
    for session in ("without", "with"):
        store_messages(make_message("Polish the harbour crane.", session=session))
    index_messages(workspace)
    first = [hit.session_id for hit in workspace.message_search.find("crane").hits]
    summary = "All about the crane."
    changes.set_session_summary(workspace, f"claude-code:{first[1]}", summary)
    take_in(workspace)
    hits = workspace.message_search.find("crane").hits
    assert [hit.session_id for hit in hits] == first[::-1]
