"""The rows of seed 2, sessions and their search."""

from memtui.agents import changes, search
from memtui.model.events import EventRole
from memtui.model.sessions import SessionMetadata
from memtui.store import database, sessions
from memtui.store.schema import SessionRow
from memtui.workspace import Workspace
from tests.message_factory import index_messages, make_message, store_messages


def test_s2_02_a_session_keeps_who_began_it(house: Workspace) -> None:
    changes.new_session(house, agent="bot", sender="ada")
    assert house.pipeline.run_until_idle(lambda _: None) == []
    with database.connection():
        (row,) = SessionRow.select().where(SessionRow.agent == "bot")
    assert row.created_by == "ada"


def test_s2_33_a_summary_weighs_more_than_a_title_and_that_more_than_messages(
    house: Workspace,
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
    index_messages(house)
    hits = house.session_search.find("harbour crane").hits
    names = [hit.session.session_id for hit in hits]
    assert names == ["summary", "title", "user", "assistant"]
    scores = [hit.score for hit in hits]
    assert scores == sorted(set(scores), reverse=True)


def test_s2_30_sessions_are_searched_with_four_messages_before_and_after(
    house: Workspace,
) -> None:
    store_messages(*(make_message(f"word {n}", n) for n in range(20)))
    store_messages(make_message("harbour", 10.5))
    index_messages(house)
    (hit,) = search.search_sessions(house, "harbour").items
    assert [one.get("is_match", False) for one in hit["window"]].index(True) == 4
    assert len(hit["window"]) == 9
