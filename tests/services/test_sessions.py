"""Sessions: the list, finding one by a part of its id, and pages of messages."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memtui.errors import MemtuiError
from memtui.model import events
from memtui.model.events import Event, EventType
from memtui.model.filters import Scope
from memtui.model.nodes import BulletKind
from memtui.model.sessions import UNTITLED, SessionOrder, SubagentMetadata, WorkState
from memtui.search.query import find_session
from memtui.services import sessions
from memtui.services.sessions import SessionQuery
from memtui.store import database, source_copies
from memtui.store import events as store_events
from memtui.store import sessions as store_sessions
from memtui.store.database import db
from memtui.tools import replies
from memtui.tools import sessions as agents_sessions
from memtui.workspace import Workspace

AT = datetime(2025, 3, 14, 10, tzinfo=UTC)
TURN = (
    EventType.USER_MESSAGE,
    EventType.TOOL_RESULT,
    EventType.TOOL_RESULT,
    EventType.ASSISTANT_MESSAGE,
)


def said(
    number: int,
    session: str = "s1",
    *,
    agent: str = "claude-code",
    subagent: str = "",
    origin: str = "",
) -> Event:
    return events.make(
        agent=agent,
        session_id=session,
        timestamp=AT + timedelta(seconds=number),
        event_type=TURN[number % 4],
        text=f"number {number}",
        source_key=f"{subagent}{number}",
        subagent=subagent,
        source_id=origin,
    )


def keep(*batch: Event) -> store_events.AddResult:
    with database.transaction():
        return store_events.add(batch, route="transcript")


def facts(asked: str) -> sessions.SessionDetails:
    return sessions.get_details(*find_session(asked))


def texts(page: sessions.MessagePage) -> list[str]:
    return [turn.event.text.removeprefix("number ") for turn in page.turns]


def test_the_latest_session_comes_first(full_workspace: Workspace) -> None:
    page = sessions.list_sessions()
    assert page.total == len(page.sessions) == 6
    times = [session.updated_at for session in page.sessions]
    assert times == sorted(times, reverse=True)


def test_sessions_are_paged(full_workspace: Workspace) -> None:
    whole = sessions.list_sessions().sessions
    pages = [sessions.list_sessions(offset=n, limit=2) for n in (0, 2, 4, 6)]
    assert tuple(session for page in pages for session in page.sessions) == whole
    assert {page.total for page in pages} == {6}


def test_sessions_of_one_agent_or_one_project(full_workspace: Workspace) -> None:
    for session in sessions.list_sessions(agent="codex").sessions:
        assert session.agent == "codex"
    both = sessions.list_sessions(agent="claude-code", project="shop")
    assert both.total == len(both.sessions) > 0
    assert {(o.agent, o.project) for o in both.sessions} == {("claude-code", "shop")}
    assert sessions.list_sessions(agent="nobody").sessions == ()


@pytest.mark.parametrize(
    "asked", ["shop-1", "claude-code:shop-1", "claude-code:shop-1"]
)
def test_a_session_is_found_by_its_id(full_workspace: Workspace, asked: str) -> None:
    assert find_session(asked) == ("claude-code", "shop-1")


def test_a_unique_beginning_of_an_id_is_enough(
    workspace: Workspace,
) -> None:
    keep(said(0, "a1b2"), said(0, "a1c3"), said(0, "z9"))
    assert find_session("z") == ("claude-code", "z9")
    assert find_session("claude-code:a1b") == ("claude-code", "a1b2")


def test_a_complete_id_wins_over_ids_that_begin_with_it(workspace: Workspace) -> None:
    keep(said(0, "a1"), said(0, "a1b2"))
    assert find_session("a1") == ("claude-code", "a1")


def test_an_ambiguous_id_is_reported_with_all_candidates(
    workspace: Workspace,
) -> None:
    keep(said(0, "a1b2"), said(0, "a1c3"))
    with pytest.raises(MemtuiError, match=r"claude-code:a1b2\n.*claude-code:a1c3"):
        find_session("a1")


def test_an_id_of_two_agents_must_be_given_with_the_agent(workspace: Workspace) -> None:
    keep(said(0, "s1"), said(0, "s1", agent="codex"))
    with pytest.raises(MemtuiError, match="any of 2 sessions"):
        find_session("s1")
    assert find_session("codex:s1") == ("codex", "s1")


def test_only_some_of_many_candidates_are_listed(workspace: Workspace) -> None:
    keep(*(said(0, f"a{number:03}") for number in range(100)))
    with pytest.raises(MemtuiError, match="and 95 more"):
        find_session("a")


@pytest.mark.parametrize("asked", ["", ":", "claude-code:", "nobody:s1", "%", "s1_"])
def test_an_unknown_session_is_reported(workspace: Workspace, asked: str) -> None:
    keep(said(0, "s1"))
    with pytest.raises(MemtuiError, match="there is no session"):
        find_session(asked)


def test_messages_are_read_by_offset_and_limit(workspace: Workspace) -> None:
    keep(*(said(number) for number in range(20)))
    details = facts("s1")
    whole = sessions.list_messages(details)
    assert texts(whole) == ["0", "3", "4", "7", "8", "11", "12", "15", "16", "19"]
    assert texts(sessions.list_messages(details, offset=3, limit=2)) == ["7", "8"]
    assert sessions.list_messages(details, offset=3, limit=2).total == 10
    assert texts(sessions.list_messages(details, offset=10)) == []


def test_tool_results_are_listed_on_request(workspace: Workspace) -> None:
    keep(*(said(number) for number in range(20)))
    page = sessions.list_messages(facts("s1"), offset=1, limit=4, all_events=True)
    assert (texts(page), page.total) == (["1", "2", "3", "4"], 20)


def test_a_subagents_conversation_is_read_by_its_name(workspace: Workspace) -> None:
    keep(*(said(n) for n in range(8)), *(said(n, subagent="a7") for n in range(4)))
    helper = SubagentMetadata(
        "claude-code", "s1", "a7", "Explore", "toolu_1", "Find the cart"
    )
    with database.transaction():
        store_sessions.update_subagents([helper])
    details = facts("s1")
    (subagent,) = details.subagents
    assert (subagent.name, subagent.kind, subagent.task, subagent.tool_use_id) == (
        "a7",
        "Explore",
        "Find the cart",
        "toolu_1",
    )
    assert (subagent.events, subagent.messages, details.events) == (4, 2, 8)
    page = sessions.list_messages(details, subagent="a7")
    assert (texts(page), page.total) == (["0", "3"], 2)
    assert len(sessions.list_messages(details, all_events=True).turns) == 8
    with pytest.raises(MemtuiError, match="no subagent 'b': a7"):
        sessions.list_messages(details, subagent="b")


def test_a_subagent_without_metadata_is_listed_by_its_events(
    workspace: Workspace,
) -> None:
    keep(said(0), said(3, subagent="a7"))
    (subagent,) = facts("s1").subagents
    assert (subagent.name, subagent.kind, subagent.events) == ("a7", "", 1)


def test_thoughts_are_listed_before_the_event_that_follows(
    workspace: Workspace,
) -> None:
    keep(*(said(number) for number in range(8)))
    with database.transaction():
        store_events.add_thoughts(
            events.make_thought(
                agent="claude-code",
                session_id="s1",
                at=AT + timedelta(seconds=second),
                text=f"before {second}",
                subagent=subagent,
            )
            for second, subagent in ((2, ""), (2.5, "a7"), (3.5, ""), (6, ""))
        )
    details = facts("s1")

    def read(offset: int, limit: int) -> list[str]:
        page = sessions.list_messages(
            details, offset=offset, limit=limit, with_thoughts=True
        )
        return [thought.text for turn in page.turns for thought in turn.thoughts]

    assert read(0, 50) == ["before 2", "before 3.5", "before 6"]
    assert read(1, 1) == ["before 2"]
    assert read(2, 2) == ["before 3.5", "before 6"]
    assert not any(turn.thoughts for turn in sessions.list_messages(details).turns)


def test_a_fork_shows_how_much_it_shares(workspace: Workspace) -> None:
    keep(*(said(number, origin=f"o{number}") for number in range(8)))
    copies = [said(number, "s2", origin=f"o{number}") for number in range(8)]
    keep(*copies, said(12, "s2", origin="own"))
    with database.transaction():
        source_copies.update_owners()
    details = facts("s2")
    assert details.session.forked_from == "s1"
    assert details.shared_messages == 4
    assert facts("s1").shared_messages == 0


def test_a_fork_is_listed_once_it_has_a_message_of_its_own(
    workspace: Workspace,
) -> None:
    def listed() -> list[str]:
        listing = SessionQuery()
        page, around = sessions.list_sessions(), sessions.list_range(listing, 0, 9)
        assert page.total == around.total == len(page.sessions)
        assert {*page.sessions} == {*around.sessions}
        place = sessions.list_around(listing, facts("s2").session, 0, 9).selected
        names = [session.session_id for session in around.sessions]
        assert names[place:][:1] == ["s2"] if place is not None else "s2" not in names
        return names

    keep(*(said(number, origin=f"o{number}") for number in range(8)))
    keep(*(said(number, "s2", origin=f"o{number}") for number in range(8)))
    with database.transaction():
        source_copies.update_owners()
    assert listed() == ["s1"]
    data = replies.write_data(agents_sessions.list_messages(workspace, "s2"))
    assert "All messages are those of the session" in data["notes"][0]
    assert "s1" in data["notes"][0]
    keep(said(12, "s2", origin="own"))
    assert {*listed()} == {"s1", "s2"}


def test_a_session_has_a_card_with_grips_for_each_line(
    full_workspace: Workspace,
) -> None:
    details = facts("shop-1")
    assert details.card.segments
    kinds = [bullet.kind for bullet in details.card.bullets]
    assert kinds[:2] == [BulletKind.ASKED, BulletKind.OUTCOME]
    assert details.session.work.state == WorkState.DONE
    assert details.card.bullets[1].text == details.session.work.outcome
    assert all(bullet.grip_ids for bullet in details.card.bullets)


@contextmanager
def counting() -> Iterator[dict[str, int]]:
    """Count the rows that come out of the database, and the steps it takes."""
    counts = {"rows": 0, "steps": 0}

    def row(_: object, values: tuple[Any, ...]) -> tuple[Any, ...]:
        counts["rows"] += 1
        return values

    def step() -> int:
        counts["steps"] += 1
        return 0

    with database.connection():
        connection = db.connection()
        connection.row_factory = row
        connection.set_progress_handler(step, 100)
        yield counts
        connection.set_progress_handler(None, 0)
        connection.row_factory = None


def fill(session: str, length: int) -> None:
    for start in range(0, length, 2000):
        keep(*(said(number, session) for number in range(start, start + 2000)))


def test_a_page_of_a_long_session_reads_as_much_as_one_of_a_short_session(
    workspace: Workspace,
) -> None:
    fill("short", 2000)
    fill("long", 20_000)
    plans = {}
    for name in ("short", "long"):
        details = facts(name)
        with counting() as counts:
            page = sessions.list_messages(
                details, offset=100, limit=50, with_thoughts=True
            )
        assert len(page.turns) == 50
        plans[name] = counts
    assert plans["long"] == plans["short"]
    assert plans["long"]["rows"] < 3 * 50 + 10


def test_the_last_page_of_a_long_session_reads_one_page_of_rows(
    workspace: Workspace,
) -> None:
    fill("long", 20_000)
    with counting() as counts:
        page = sessions.list_messages(facts("long"), offset=9950, limit=50)
    assert texts(page)[-1] == "19999"
    assert counts["rows"] < 3 * 50 + 20


@pytest.mark.parametrize(
    ("typed", "words", "scope"),
    [
        ("state:done", [], Scope(state="done")),
        ("State:d jwt", ["jwt"], Scope(state="done")),
        ("state:done,op", [], Scope(state="done,open")),
        ("agent:CODEX project:shop", [], Scope(agent="codex", project="shop")),
        ("project:sho", ["sho"], Scope()),
        ("state: -- std::vec", ["--", "std::vec"], Scope()),
        ("keyword:postgres", [], Scope(keyword="postgres")),
    ],
)
def test_list_knows_the_filters_of_a_search(
    full_workspace: Workspace, typed: str, words: list[str], scope: Scope
) -> None:
    filtered = sessions.list_range(SessionQuery(words=tuple(typed.split())), 0, 99)
    plain = sessions.list_range(SessionQuery(words=tuple(words), of=scope), 0, 99)
    assert filtered.sessions == plain.sessions
    assert filtered.total == plain.total
    around = sessions.list_around(filtered.query, None, 0, 99)
    assert around.sessions == plain.sessions


def test_unknown_state_matches_no_session(full_workspace: Workspace) -> None:
    assert sessions.list_range(SessionQuery(words=("state:zzz",)), 0, 9).total == 0
    done = sessions.list_range(SessionQuery(words=("state:done",)), 0, 9)
    assert 0 < done.total < done.stored


def test_session_without_a_prompt_has_a_title(workspace: Workspace) -> None:
    boundary = events.make(
        agent="codex",
        session_id="s1",
        timestamp=AT,
        event_type=EventType.SESSION_START,
        text="",
        source_key="u1",
    )
    keep(boundary)
    (session,) = sessions.list_sessions().sessions
    assert session.title == UNTITLED
    for words, total in ((("untitled",), 1), (("other",), 0)):
        query = SessionQuery(SessionOrder.TITLE, words)
        assert sessions.list_range(query, 0, 9).total == total
