"""What an agent may change where that was allowed, by the door all else comes in."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memtui.agents.api import TOOLS, Calls, Failed
from memtui.cli import forget as cli_forget
from memtui.cli.mcp import Served
from memtui.errors import MemtuiError
from memtui.search import resolve_filters
from memtui.services import sessions
from memtui.services.forget import Forget
from memtui.store import database
from memtui.store.schema import EventRow, VersionRow
from memtui.store.tombstones import TombstoneKind
from memtui.workspace import Workspace
from tests.agents.serving.conftest import GOLDEN, described, served
from tests.commanding import memtui

AT = "2024-02-20T10:00:00+00:00"
DAY = "toc:day:2024-01-15"


class Desk:
    """Calls the tools that change something, in this process."""

    def __init__(self, house: Workspace) -> None:
        self._calls = Calls(lambda: Served(house))
        self.house = house

    def do(self, tool: str, **told: object) -> str:
        answer = self._calls.call(next(one for one in TOOLS if one.name == tool), told)
        assert not isinstance(answer, Failed), answer
        return answer.text

    def fail(self, tool: str, **told: object) -> str:
        answer = self._calls.call(next(one for one in TOOLS if one.name == tool), told)
        assert isinstance(answer, Failed)
        return answer.text

    def work(self) -> None:
        assert self.house.pipeline.until_idle(lambda _: None) == []


@pytest.fixture
def desk(full_house: Workspace) -> Desk:
    return Desk(full_house)


def begun(text: str) -> str:
    found = re.search(r"session: (\S+)", text)
    assert found
    return found[1]


def texts() -> list[str]:
    with database.connection():
        rows = EventRow.select(EventRow.text).order_by(EventRow.id).tuples()
        return [text for (text,) in rows]


def test_a_session_is_begun_filled_and_found(desk: Desk) -> None:
    told = desk.do(
        "new_session", title="A walrus plan", cwd="/home/ada/zoo", timestamp=AT
    )
    assert "as soon as a memtui works" in told
    session = begun(told)
    assert session.startswith("mcp:")
    for _ in range(2):
        desk.do(
            "append_message",
            session=session,
            role="user",
            text="The walrus wants herring; token ghp_"
            + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
            timestamp=AT,
        )
    desk.do(
        "ingest_event",
        session=session,
        event_type="tool_result",
        text="ok",
        tool_name="Feed",
        timestamp=AT,
    )
    desk.work()
    (kept,) = [text for text in texts() if "walrus wants" in text]
    assert "ghp_" not in kept
    facts = sessions.facts(*resolve_filters.find(session))
    assert facts.session.title == "A walrus plan"
    assert facts.session.message_count == 1
    assert "herring" in desk.do("search_sessions", query="herring")
    told = desk.do("get_events", when="20 February 2024", session=session)
    assert "system: (session start)" in told


def test_what_is_sent_again_under_a_name_of_its_own_is_kept_once(desk: Desk) -> None:
    session = begun(desk.do("new_session"))

    def say(name: str, text: str) -> None:
        told = {"session": session, "role": "user", "text": text}
        # Each is asked of a server that has just been started.
        Desk(desk.house).do("append_message", **told, message_id=name)
        tool = told | {"event_type": "tool_result", "tool_use_id": name}
        del tool["role"]
        Desk(desk.house).do("ingest_event", **tool)

    say("one", "The walrus agrees.")
    say("one", "The walrus agrees.")
    desk.work()
    say("one", "The walrus agrees.")
    say("two", "The walrus agrees.")
    say("two", "The walrus disagrees.")
    desk.work()
    for start in ("", "tool\n"):
        assert texts().count(f"{start}The walrus agrees.") == 2
        assert texts().count(f"{start}The walrus disagrees.") == 1
    facts = sessions.facts(*resolve_filters.find(session))
    assert facts.session.message_count == 3


def test_a_title_and_a_summary_are_what_a_session_is_found_by(desk: Desk) -> None:
    assert "platypus" not in desk.do("search_sessions", query="platypus")
    desk.do("set_session_summary", session="shop-1", summary="About a platypus.")
    desk.do("set_session_title", session="shop-1", title="An ornithorhynchus")
    desk.work()
    facts = sessions.facts(*resolve_filters.find("shop-1"))
    assert facts.session.title == "An ornithorhynchus"
    assert facts.session.summary == "About a platypus."
    assert "platypus" in desk.do("get_session_meta", session="shop-1")
    for word in ("platypus", "ornithorhynchus"):
        assert "shop-1" in desk.do("search_sessions", query=word)
        for tool in ("search_sessions", "search_memory"):
            told = desk.do(tool, query=word)
            (line,) = [one for one in told.splitlines() if "evt:" in one]
            assert line.startswith("1.00 evt:")
            assert word in told.partition("evt:")[2]
        routed = routing.route(desk.house, word)
        assert (routed.head["band"], routed.items[0]["score"]) == ("excellent", 1.0)
        told = desk.do("retrieve_memory", query=word)
        assert "score: 1.00" in told
        assert word in told
        (cite,) = re.findall(r"\[(evt:\w+)\]", told)
        assert "> " in desk.do("expand_grip", grip_id=cite)


def test_versions_are_accepted_released_and_asked_for(desk: Desk) -> None:
    assert "version 1 shown" in desk.do("accept_version", node_id=DAY)
    assert "newest" in desk.do("release_version", node_id=DAY)
    assert "None was pinned" in desk.do("release_version", node_id=DAY)
    told = desk.fail("accept_version", node_id=DAY, version=9)
    assert "has no version 9" in told
    assert f'Hint: they are listed by list_versions(node_id="{DAY}")' in told
    assert "asked for" in desk.do("summarise_again", node_id=DAY)
    told = desk.fail("summarise_again", node_id="toc:day:1999-01-01")
    assert "no node" in told
    assert "get_toc_root()" in told


def test_versions_are_listed_read_and_accepted(desk: Desk) -> None:
    with database.transaction():
        row = VersionRow.get(VersionRow.node_id == DAY, VersionRow.version == 1)
        named = {"version": 2, "rejected": "it names a seal", "is_models": True}
        row = {**row.__data__, **named, "id": None}
        VersionRow.insert(row).execute()
    told = desk.do("list_versions", node_id=DAY)
    first, second = [one for one in told.splitlines() if one.startswith("version ")]
    assert first.startswith("version 2 ")
    assert "(rejected: it names a seal; " in first
    assert "(shown; " in second
    assert "Version 2, rejected: it names a seal." in desk.do(
        "get_node", node_id=DAY, version=2
    )
    told = desk.fail("accept_version", node_id=DAY, version=2)
    assert "even_rejected=true" in told
    desk.do("accept_version", node_id=DAY, version=2, even_rejected=True)
    assert "pinned" in desk.do("list_versions", node_id=DAY)
    assert "list_versions(" in desk.fail("get_node", node_id=DAY, version=9)
    assert "no such node" in desk.do("list_versions", node_id="toc:day:1999-01-01")


def test_a_session_that_was_just_begun_can_be_called_something(desk: Desk) -> None:
    told = desk.do("new_session", timestamp=AT)
    assert "Quoted from past conversations" not in told
    session = begun(told)
    desk.do("set_session_title", session=session, title="An aardvark")
    desk.do("append_message", session=session, role="user", text="Ants", timestamp=AT)
    desk.work()
    assert sessions.facts(*resolve_filters.find(session)).session.title == "An aardvark"


def test_jobs_are_paused_resumed_and_asked_for(desk: Desk) -> None:
    assert "rollup_day: paused" in desk.do("scheduler_pause", jobs=["rollup_day"])
    assert "rollup_day: paused" in desk.do("scheduler_status")
    assert "paused" not in desk.do("scheduler_resume")
    assert "asked for" in desk.do("scheduler_run_now", jobs="rollup_week")
    assert "jobs is one of" in desk.fail("scheduler_pause", jobs=["lunch"])


@pytest.mark.parametrize(
    ("tool", "told", "says"),
    [
        ("append_message", {"role": "system"}, "role is one of user, assistant"),
        ("append_message", {"text": " "}, "text is empty"),
        ("append_message", {"text": "\x07\x1b[31m"}, "text is empty"),
        ("append_message", {"timestamp": "now"}, "timestamp is none of ISO 8601"),
        ("append_message", {"timestamp": "2999-01-01"}, "lies in the future"),
        ("append_message", {"timestamp": "1960-01-01"}, "lies before 2000"),
        ("append_message", {"session": "a b"}, "bad_arguments: 'a b' names no session"),
        ("append_message", {"session": "codex:"}, "a letter or digit, then letters"),
        ("append_message", {"session": "a/../b"}, "a letter or digit, then letters"),
        ("append_message", {"session": "a b"}, "Hint: see them: list_sessions()"),
        ("append_message", {"message_id": "x" * 201}, "more than 200 characters"),
    ],
)
def test_what_cannot_be_kept_says_why(
    house: Workspace, tool: str, told: dict[str, object], says: str
) -> None:
    usual: dict[str, object] = {"session": "mcp:s1", "role": "user", "text": "x"}
    desk = Desk(house)
    assert says in desk.fail(tool, **usual | told)
    assert desk.fail("ingest_event", session="mcp:s1", event_type="user_message")
    assert not list((house.paths.spool / "new").glob("*"))


def test_a_message_never_goes_to_a_session_that_is_meant_by_half_a_name(
    desk: Desk,
) -> None:
    for name in ("walrus-1", "walrus-2", "seal-1"):
        told = desk.do(
            "append_message", session=f"mcp:{name}", role="user", text="Herring."
        )
        assert "a session of that name begins with it" in told
    desk.work()
    message = {"role": "user", "text": "More."}
    told = desk.fail("append_message", session="mcp:walrus", **message)
    assert "any of 2" in told
    assert "Hint: say one of these whole" in told
    assert "half a name" in desk.fail("append_message", session="mcp:seal", **message)
    told = desk.do("append_message", session="mcp:walrus-1", **message)
    assert "begins with it" not in told


def test_a_session_that_is_not_kept_has_no_title(house: Workspace) -> None:
    desk = Desk(house)
    told = desk.fail("set_session_title", session="mcp:s1", title="x")
    assert "no session" in told
    assert "list_sessions()" in told
    told = desk.fail("set_session_title", session="mcp:s1", title="x" * 201)
    assert "bad_arguments: title has more than 200 characters" in told
    told = desk.fail("set_session_summary", session="mcp:s1", summary="x" * 2_001)
    assert "summary has more than 2,000 characters" in told
    with pytest.raises(MemtuiError):
        resolve_filters.find("mcp:s1")


def test_it_is_allowed_over_the_protocol_and_shows_once_a_memtui_worked(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    with served(home, "--allow-write") as agent:
        told = described(agent)
        if not GOLDEN.exists():
            GOLDEN.write_text(json.dumps(told, indent=1) + "\n", "utf-8")
        assert told == json.loads(GOLDEN.read_text("utf-8"))
        assert [one["name"] for one in told] == [one.name for one in TOOLS]
        assert "walrus" not in agent.ask("teleport", query="walrus")
        session = begun(agent.ask("new_session"))
        for role in ("user", "assistant"):
            text = f"The {role} says that the walrus eats herring at noon."
            agent.ask("append_message", session=session, role=role, text=text)
        agent.ask("ingest_event", session=session, event_type="session_end")
        memtui(home, "work", "--until-idle")
        for tool in ("teleport", "search_sessions", "search_memory"):
            assert "walrus" in agent.ask(tool, query="herring")


def test_a_summary_goes_with_what_is_forgotten_of_its_session(desk: Desk) -> None:
    desk.do("set_session_summary", session="shop-1", summary="About a platypus.")
    desk.work()
    house = desk.house
    known = sessions.facts(*resolve_filters.find("shop-1"))
    first = sessions.page(known, limit=1).events[0]
    places = cli_forget.places_of(house)
    forget = Forget(places, house.paths.spool, house.zone, lambda: datetime.now(UTC))
    forget.run(TombstoneKind.EVENT, [first.event_id])
    desk.work()
    assert sessions.facts(*resolve_filters.find("shop-1")).session.summary == ""
    assert "shop-1" not in desk.do("search_sessions", query="platypus")
