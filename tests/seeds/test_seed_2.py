"""The rows of seed 2, sessions and their search."""

import re
from functools import partial

from memtui.agents import changes, replies, search
from memtui.agents import sessions as agents_sessions
from memtui.model.events import EventRole
from memtui.model.sessions import SessionMetadata
from memtui.store import database, sessions
from memtui.store.schema import SessionRow
from memtui.text.tokens import ESTIMATING_COUNTER
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


def test_s2_06_a_long_message_is_read_to_its_end(house: Workspace) -> None:
    words = " ".join(f"word{number}" for number in range(4_000))
    store_messages(make_message(words), make_message("Short.", 9))
    page = agents_sessions.list_messages(house, "s1")
    # With room enough it is whole.
    fitted = replies.fit_text(page, 20_000, ESTIMATING_COUNTER)
    assert words in fitted.text and "left out" not in fitted.text
    # Else the answer says what is missing, and how to get it.
    text = replies.fit_text(page, 500, ESTIMATING_COUNTER).text
    assert "Short." in text
    found = re.search(r"\[…\+(\d+) text_offset=(\d+)\]", text)
    assert found and int(found[1]) + int(found[2]) == len(words)
    assert "expand_grip EVENT_ID before=0 after=0, with this text_offset" in text
    data = replies.fit_json(page, 500, ESTIMATING_COUNTER, lambda data: data).text
    assert '"truncated":true' in data
    # Followed from page to page, it is read without a gap.
    alone = partial(agents_sessions.list_messages, house, "s1", limit=1)
    cited = partial(
        agents_sessions.expand_grip, house, page.items[0]["id"], before=0, after=0
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


def test_s2_07_08_and_11_a_session_is_told_with_its_facts(house: Workspace) -> None:
    changes.new_session(house, title="A walrus plan", agent="bot", sender="ada")
    assert house.pipeline.run_until_idle(lambda _: None) == []
    (listed,) = agents_sessions.list_sessions(house).items
    changes.set_session_summary(house, listed["id"], "About herring.")
    assert house.pipeline.run_until_idle(lambda _: None) == []
    reply = agents_sessions.get_session_meta(house, listed["id"])
    facts = replies.write_data(reply)
    assert (facts["agent"], facts["created_by"]) == ("bot", "ada")
    assert facts["summary"] == "About herring." and facts["about"] == []
    assert facts["title"] == "A walrus plan" and facts["message_count"] == 0
    assert facts["created_at"].endswith("Z") and facts["updated_at"].endswith("Z")
    assert "summary: About herring." in replies.write_text(reply)


def test_s2_38_39_41_and_42_a_session_hit_has_the_fields_of_the_seed(
    house: Workspace,
) -> None:
    store_messages(
        make_message("Feed the walrus. " + "So it is said. " * 200, 1),
        make_message("I feed it.", 2, role=EventRole.ASSISTANT),
        make_message("fed", 3, role=EventRole.TOOL, tool="Feed"),
        make_message("Done.", 4, role=EventRole.ASSISTANT),
    )
    index_messages(house)
    (hit,) = search.search_sessions(house, "feed walrus").items[:1]
    assert hit["msg_idx"] == 0
    assert hit["meta"].keys() == {"title", "created_at", "updated_at", "message_count"}
    assert hit["meta"]["message_count"] == 3
    match, answer, *_ = hit["window"]
    assert match["is_match"] and match["truncated"] and not answer["truncated"]
    assert len(match["snippet"].encode()) <= 1_024
    assert answer["tool_name"] == "Feed"
    assert "assistant (Feed): " in replies.write_text(
        search.search_sessions(house, "feed walrus")
    )
