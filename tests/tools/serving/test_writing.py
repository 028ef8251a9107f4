"""The MCP tools that change something."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memtui.errors import MemtuiError
from memtui.model.judgements import Ruling
from memtui.search.query import find_session
from memtui.services import judging, sessions
from memtui.services.forget import Forget
from memtui.store import database
from memtui.store.tombstones import TombstoneKind
from memtui.tools import routing
from memtui.tools.table import TOOLS, ToolRunner
from memtui.workspace import Workspace
from tests.cli_runner import run_memtui
from tests.tables import EventRow
from tests.tools.serving.conftest import GOLDEN, list_tools, serve

AT = "2024-02-20T10:00:00+00:00"


class Caller:
    """Calls tools in this process."""

    def __init__(self, workspace: Workspace) -> None:
        self._runner = ToolRunner(lambda: workspace)
        self.workspace = workspace

    def call(self, name: str, **arguments: object) -> str:
        tool = next(tool for tool in TOOLS if tool.name == name)
        answer = self._runner.call(tool, arguments)
        assert answer.error is None, answer
        return answer.text

    def fail(self, name: str, **arguments: object) -> str:
        tool = next(tool for tool in TOOLS if tool.name == name)
        answer = self._runner.call(tool, arguments)
        assert answer.error
        return answer.text

    def work(self) -> None:
        assert self.workspace.pipeline.run_until_idle(lambda _: None) == []


@pytest.fixture
def caller(full_workspace: Workspace) -> Caller:
    return Caller(full_workspace)


def find_session_id(text: str) -> str:
    match = re.search(r"session: (\S+)", text)
    assert match
    return match[1]


def list_texts() -> list[str]:
    with database.connection():
        rows = EventRow.select(EventRow.text).order_by(EventRow.id).tuples()
        return [text for (text,) in rows]


def test_created_session_is_filled_and_found(caller: Caller) -> None:
    answer = caller.call(
        "new_session", title="A walrus plan", cwd="/home/ada/zoo", timestamp=AT
    )
    assert "when memtui next runs" in answer
    session = find_session_id(answer)
    assert session.startswith("mcp:")
    for _ in range(2):
        caller.call(
            "append_message",
            session=session,
            role="user",
            text="The walrus wants herring; token ghp_"
            + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
            timestamp=AT,
        )
    caller.call(
        "ingest_event",
        session=session,
        event_type="tool_result",
        text="ok",
        tool_name="Feed",
        timestamp=AT,
    )
    caller.work()
    (kept,) = [text for text in list_texts() if "walrus wants" in text]
    assert "ghp_" not in kept
    facts = sessions.get_details(*find_session(session))
    assert facts.session.title == "A walrus plan"
    assert facts.session.message_count == 1
    assert "herring" in caller.call("search_sessions", query="herring")
    answer = caller.call("get_events", when="20 February 2024", session=session)
    assert "system: (session start)" in answer


def test_message_sent_again_with_its_id_is_stored_once(
    caller: Caller,
) -> None:
    session = find_session_id(caller.call("new_session"))

    def say(name: str, text: str) -> None:
        message = {"session": session, "role": "user", "text": text}
        # Each is asked of a server that has just been started.
        Caller(caller.workspace).call("append_message", **message, message_id=name)
        tool = message | {"event_type": "tool_result", "tool_use_id": name}
        del tool["role"]
        Caller(caller.workspace).call("ingest_event", **tool)

    say("one", "The walrus agrees.")
    say("one", "The walrus agrees.")
    caller.work()
    say("one", "The walrus agrees.")
    say("two", "The walrus agrees.")
    say("two", "The walrus disagrees.")
    caller.work()
    for start in ("", "tool\n"):
        assert list_texts().count(f"{start}The walrus agrees.") == 2
        assert list_texts().count(f"{start}The walrus disagrees.") == 1
    facts = sessions.get_details(*find_session(session))
    assert facts.session.message_count == 3


def test_session_is_found_by_title_and_summary(caller: Caller) -> None:
    answer = caller.call("search_sessions", query="platypus")
    assert "shop-1" not in answer and "In no message: platypus." in answer
    caller.call("set_session_summary", session="shop-1", summary="About a platypus.")
    caller.call("set_session_title", session="shop-1", title="An ornithorhynchus")
    caller.work()
    facts = sessions.get_details(*find_session("shop-1"))
    assert facts.session.title == "An ornithorhynchus"
    assert facts.session.summary == "About a platypus."
    assert "platypus" in caller.call("get_session_meta", session="shop-1")
    for word in ("platypus", "ornithorhynchus"):
        assert "shop-1" in caller.call("search_sessions", query=word)
        for tool in ("search_sessions", "search_memory"):
            answer = caller.call(tool, query=word)
            (line,) = re.findall(r"^\d\.\d\d (?:evt|toc):.*$", answer, re.MULTILINE)
            assert float(line[:4]) >= 0.8
            assert word in answer.partition(line[5:9])[2]
        routed = routing.route(caller.workspace, word)
        assert routed.head["band"] == "excellent"
        answer = caller.call("retrieve_memory", query=word)
        assert re.search(r"score: (?:1\.00|0\.[89])", answer)
        assert word in answer
        (cite,) = re.findall(r"\[((?:evt|grip):[\w:]+)\]", answer)
        assert "EXCERPT" in caller.call("expand_grip", grip_id=cite)


def test_created_session_can_be_named_before_it_is_stored(caller: Caller) -> None:
    answer = caller.call("new_session", timestamp=AT)
    assert "Quoted from past conversations" not in answer
    session = find_session_id(answer)
    caller.call("set_session_title", session=session, title="An aardvark")
    caller.call(
        "append_message", session=session, role="user", text="Ants", timestamp=AT
    )
    caller.work()
    assert sessions.get_details(*find_session(session)).session.title == "An aardvark"


def test_jobs_are_paused_resumed_and_requested(caller: Caller) -> None:
    assert "rollup_day: paused" in caller.call("scheduler_pause", jobs=["rollup_day"])
    assert "rollup_day: paused" in caller.call("scheduler_status")
    assert "paused" not in caller.call("scheduler_resume")
    assert "requested" in caller.call("scheduler_run_now", jobs="rollup_week")
    assert "jobs must be one of" in caller.fail("scheduler_pause", jobs=["lunch"])


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("append_message", {"role": "system"}, "role must be one of user, assistant"),
        ("append_message", {"text": " "}, "text is empty"),
        ("append_message", {"text": "\x07\x1b[31m"}, "text is empty"),
        ("append_message", {"timestamp": "now"}, "timestamp must be ISO 8601"),
        ("append_message", {"timestamp": "2999-01-01"}, "is in the future"),
        ("append_message", {"timestamp": "1960-01-01"}, "is before 2000"),
        ("append_message", {"session": "a b"}, "usage: 'a b' names no session"),
        ("append_message", {"session": "codex:"}, "has up to 100 letters, digits"),
        ("append_message", {"session": "a/../b"}, "has up to 100 letters, digits"),
        ("append_message", {"session": "a b"}, "Hint: see them: list_sessions()"),
        ("append_message", {"message_id": "x" * 201}, "more than 200 characters"),
    ],
)
def test_invalid_events_are_refused_with_the_reason(
    workspace: Workspace, tool: str, arguments: dict[str, object], says: str
) -> None:
    usual: dict[str, object] = {"session": "mcp:s1", "role": "user", "text": "x"}
    caller = Caller(workspace)
    assert says in caller.fail(tool, **usual | arguments)
    assert caller.fail("ingest_event", session="mcp:s1", event_type="user_message")
    assert not list((workspace.paths.spool / "new").glob("*"))


def test_incomplete_session_ids_are_refused(
    caller: Caller,
) -> None:
    for name in ("walrus-1", "walrus-2", "seal-1"):
        answer = caller.call(
            "append_message", session=f"mcp:{name}", role="user", text="Herring."
        )
        assert "Added to a new session of that name" in answer
    caller.work()
    message = {"role": "user", "text": "More."}
    answer = caller.fail("append_message", session="mcp:walrus", **message)
    assert "any of 2" in answer
    assert "Hint: give one of these in full" in answer
    assert "is incomplete" in caller.fail(
        "append_message", session="mcp:seal", **message
    )
    answer = caller.call("append_message", session="mcp:walrus-1", **message)
    assert "begins with it" not in answer


def test_only_the_first_event_is_reported_to_start_a_session(
    caller: Caller,
) -> None:
    event = {"event_type": "user_message", "text": "Herring."}
    is_new, before = "Added to a new session of that name", len(list_texts())
    assert is_new in caller.call("ingest_event", session="mcp:s1", **event)
    for text in ("More.", "And more."):
        again = event | {"text": text}
        answer = caller.call("ingest_event", session="mcp:s1", **again)
        assert "Added." in answer and is_new not in answer
    message = {"role": "assistant", "text": "Here it is."}
    assert is_new not in caller.call("append_message", session="mcp:s1", **message)
    # The same name of another agent is another session.
    assert is_new in caller.call("ingest_event", session="codex:s1", **event)
    caller.work()
    assert is_new not in caller.call("ingest_event", session="mcp:s1", **event)
    assert len(list_texts()) == before + 5


def test_unknown_session_gets_no_title(workspace: Workspace) -> None:
    caller = Caller(workspace)
    answer = caller.fail("set_session_title", session="mcp:s1", title="x")
    assert "no session" in answer
    assert "list_sessions()" in answer
    answer = caller.fail("set_session_title", session="mcp:s1", title="x" * 201)
    assert "usage: title has more than 200 characters" in answer
    answer = caller.fail("set_session_summary", session="mcp:s1", summary="x" * 2_001)
    assert "summary has more than 2,000 characters" in answer
    with pytest.raises(MemtuiError):
        find_session("mcp:s1")


def test_line_is_judged_by_an_agent(caller: Caller) -> None:
    line, session = "The session now slides", "claude-code:shop-1"
    answer = caller.call("judge_line", node_id=session, line=line, ruling="rejected")
    assert "The line is rejected" in answer
    page = answer.partition("node_id: ")[2].split()[0]
    caller.work()
    assert line not in caller.call("get_session_meta", session=session)
    fields = {"node_id": page, "line": line, "ruling": "undone"}
    assert "The judgement is taken back" in caller.call("judge_line", **fields)
    caller.work()
    assert line in caller.call("get_session_meta", session=session)
    # What a person has said stays.
    judged = judging.find_line(session, line)
    judgement = judging.judge(*judged, Ruling.REJECTED, datetime.now(UTC))
    for ruling in ("accepted", "undone"):
        answer = caller.fail("judge_line", **{**fields, "ruling": ruling})
        assert "a person has said that this line is rejected" in answer
    judging.undo(judgement, datetime.now(UTC))
    assert "nobody has judged" in caller.fail("judge_line", **fields)


def test_events_added_over_mcp_are_stored_by_the_pipeline(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    with serve(home, "--allow-write", "--tools=all") as agent:
        tools = list_tools(agent)
        if not GOLDEN.exists():
            GOLDEN.write_text(json.dumps(tools, indent=1) + "\n", "utf-8")
        assert tools == json.loads(GOLDEN.read_text("utf-8"))
        assert [tool["name"] for tool in tools] == [tool.name for tool in TOOLS]
        assert "walrus" not in agent.ask("teleport", query="walrus")
        session = find_session_id(agent.ask("new_session"))
        for role in ("user", "assistant"):
            text = f"The {role} says that the walrus eats herring at noon."
            agent.ask("append_message", session=session, role=role, text=text)
        agent.ask("ingest_event", session=session, event_type="session_end")
        run_memtui(home, "work", "--until-idle")
        for tool in ("teleport", "search_sessions", "search_memory"):
            assert "walrus" in agent.ask(tool, query="herring")


def test_forgetting_a_session_removes_its_summary(caller: Caller) -> None:
    caller.call("set_session_summary", session="shop-1", summary="About a platypus.")
    caller.work()
    workspace = caller.workspace
    details = sessions.get_details(*find_session("shop-1"))
    first = sessions.list_messages(details, limit=1).turns[0].event
    forget = Forget(workspace.paths, workspace.zone, lambda: datetime.now(UTC))
    forget.run(TombstoneKind.EVENT, [first.event_id])
    caller.work()
    assert sessions.get_details(*find_session("shop-1")).session.summary == ""
    assert "shop-1" not in caller.call("search_sessions", query="platypus")
