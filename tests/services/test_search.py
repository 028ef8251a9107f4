"""Searching everything: one ranking over messages, nodes, grips and titles."""

from memtui.model.events import EventRole
from memtui.store import database, nodes
from memtui.workspace import Workspace
from tests.message_factory import index_messages, make_message, store_messages


def test_a_moment_leads_to_its_message_and_to_its_segment(
    full_workspace: Workspace,
) -> None:
    first, *_ = full_workspace.search.find("mutex tabs").hits
    assert "mutex" in first.snippet.text.lower()
    assert first.role and first.event_id
    with database.connection():
        node = nodes.get(first.node_id)
    assert node is not None
    assert first.title == node.headline
    assert node.start_time <= first.at <= node.end_time
    assert 0 < first.score <= 1
    assert not first.is_unsummarized


def test_each_session_answers_once_the_best_first(full_workspace: Workspace) -> None:
    found = full_workspace.search.find("sessions").hits
    sessions = [(hit.agent, hit.session_id) for hit in found]
    assert len(sessions) == len(set(sessions)) > 1
    assert full_workspace.search.find("sessions", limit=1).hits == found[:1]


def test_what_no_summary_holds_is_found_and_marked_so(
    full_workspace: Workspace,
) -> None:
    store_messages(
        make_message("Shall we?", 1, session="new"),
        make_message(
            "A zeppelin, an aside", 2, role=EventRole.ASSISTANT, session="new"
        ),
    )
    (hit,) = full_workspace.search.find("zeppelin").hits
    assert hit.is_unsummarized
    assert hit.role is EventRole.ASSISTANT
    assert hit.node_id == "", "no segment yet"
    assert hit.title == "Shall we?"


def test_filters_of_nodes_ask_summaries_alone_and_of_messages_messages_alone(
    full_workspace: Workspace,
) -> None:
    for hit in full_workspace.search.find("token level:segment").hits:
        assert hit.role is None
    found = full_workspace.search.find("token role:user").hits
    assert found
    for hit in found:
        assert hit.grip_id == ""
        assert hit.role is EventRole.USER


def test_a_time_in_the_question_comes_first(full_workspace: Workspace) -> None:
    plain = full_workspace.search.find("token").hits
    latest = max(plain, key=lambda hit: hit.at)
    asked = f"token on {latest.at:%Y-%m-%d}"
    found = full_workspace.search.find(asked)
    assert found.hits[0].session_id == latest.session_id
    (time,) = found.times
    assert time.has_hits


def test_the_score_that_is_shown_falls_as_the_order_does(
    full_workspace: Workspace,
) -> None:
    for query in ("session timeout", "token refresh tabs", "export parquet"):
        scores = [hit.score for hit in full_workspace.search.find(query).hits]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)


def test_a_misspelt_word_is_put_right(full_workspace: Workspace) -> None:
    assert full_workspace.search.find("mutxe tabs ").suggestion == "mutex tabs "


def test_a_suggestion_keeps_the_time_that_was_typed(full_workspace: Workspace) -> None:
    found = full_workspace.search.find("mutxe tabs in January 2024")
    assert found.suggestion == "mutex tabs in January 2024"


def test_a_word_that_messages_hold_is_not_misspelt(full_workspace: Workspace) -> None:
    store_messages(make_message("The mutxe is a fish", 1, session="new"))
    assert full_workspace.search.find("mutxe").suggestion == ""


def test_both_indexes_broken_it_reads_the_store_and_says_so(
    full_workspace: Workspace,
) -> None:
    workspace = full_workspace
    workspace.teleport.close()
    workspace.paths.message_index.write_bytes(b"garbled")
    for path in workspace.paths.index.iterdir():
        path.write_bytes(b"garbled")
    found = workspace.search.find("mutex")
    assert found.hits
    assert len(found.notes) == 2
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    workspace.teleport.close()
    again = workspace.search.find("mutex")
    assert again.hits
    assert again.notes == ()


def test_an_empty_question_is_reported(workspace: Workspace) -> None:
    for query in ("", "  ", "!!"):
        found = workspace.search.find(query)
        assert found.hits == ()
        assert found.notes
    index_messages(workspace)
    assert workspace.search.find("zyxw").hits == ()
