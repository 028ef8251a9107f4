"""Searching everything: the best hit of each session."""

from dataclasses import replace

from memtui.model.events import EventRole
from memtui.model.hit import HitKind
from memtui.model.sessions import SessionWork
from memtui.search import ranking
from memtui.store import database, nodes, sessions, work
from memtui.workspace import Workspace
from tests.message_factory import (
    index_messages,
    make_message,
    name_session,
    store_messages,
)

ASSISTANT = EventRole.ASSISTANT


def test_message_leads_to_its_segment(full_workspace: Workspace) -> None:
    first, *_ = full_workspace.search.find("mutex tabs").hits
    assert "mutex" in first.snippet.text.lower()
    assert first.kind is HitKind.MESSAGE and first.event_id
    with database.connection():
        node = nodes.get(first.node_id)
    assert node is not None
    assert first.title == node.headline
    assert node.start_time <= first.at <= node.end_time
    assert 0 < first.score <= 1


def test_each_session_has_one_hit_best_first(full_workspace: Workspace) -> None:
    hits = full_workspace.search.find("sessions").hits
    keys = [hit.session_key for hit in hits]
    assert len(keys) == len(set(keys)) > 1
    assert full_workspace.search.find("sessions", limit=1).hits == hits[:1]


def test_many_matches_of_a_session_do_not_hide_other_sessions(
    workspace: Workspace,
) -> None:
    store_messages(
        *(make_message(f"quay {n}", n) for n in range(200)),
        *(make_message(f"the quay of {n}", n, session=f"t{n}") for n in range(15)),
    )
    index_messages(workspace)
    assert len(workspace.search.find("quay").hits) == 16


def test_words_in_no_summary_are_found(full_workspace: Workspace) -> None:
    store_messages(
        make_message("Shall we?", 1, session="new"),
        make_message("A zeppelin, an aside", 2, role=ASSISTANT, session="new"),
    )
    (hit,) = full_workspace.search.find("zeppelin").hits
    assert hit.event is not None and hit.event.role is ASSISTANT
    assert hit.node_id == "", "no segment yet"
    assert hit.title == "Shall we?"


def test_session_is_found_by_its_displayed_name_first(workspace: Workspace) -> None:
    """Also if its words are in no message of the session."""
    others = [
        make_message(f"Which lighthouse has a keeper? {n}", n, session=f"other{n}")
        for n in range(30)
    ]
    store_messages(
        make_message("Please look at the logs.", 1, session="named"),
        make_message("The lamp is broken.", 2, role=ASSISTANT, session="named"),
        *others,
    )
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    with database.transaction():
        number = sessions.get_number("claude-code", "named")
        assert number is not None
        name = SessionWork("Repair the lighthouse keeper's beacon")
        work.save_work(number, name, workspace.zone)
    index_messages(workspace)
    first, *_ = workspace.search.find("Repair the lighthouse keeper's beacon").hits
    assert first.session_id == "named" and first.kind is HitKind.SESSION
    assert first.snippet.text == name.name
    assert first.score > 0.8


def test_session_is_found_by_a_bullet_and_opens_its_segment(
    workspace: Workspace,
) -> None:
    command = '{"command": "git commit -m \'Feed the quokkas\'"}'
    commit = make_message(
        "Bash: git commit -m 'Feed the quokkas'\n[main 1a2b3c4] Feed the quokkas",
        60,
        role=EventRole.TOOL,
        tool="Bash",
    )
    commit = replace(commit, metadata={"tool_name": "Bash", "tool_input": command})
    store_messages(
        make_message("Do it now, please.", 0),
        commit,
        make_message("Done.", 120, role=ASSISTANT),
    )
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    (hit,) = workspace.search.find("quokkas").hits
    assert hit.kind is HitKind.SESSION and "quokkas" in hit.snippet.text
    assert hit.node_id.startswith("toc:segment:") and hit.opens == hit.node_id


def test_filters_of_nodes_search_nodes_and_filters_of_messages_messages(
    full_workspace: Workspace,
) -> None:
    hits = full_workspace.search.find("token level:segment").hits
    assert hits
    for hit in hits:
        assert hit.kind in (HitKind.NODE, HitKind.GRIP)
    hits = full_workspace.search.find("token role:user").hits
    assert hits
    for hit in hits:
        assert hit.grip_id == ""
        assert hit.event is not None and hit.event.role is EventRole.USER


def test_hits_of_a_date_in_the_question_come_first(full_workspace: Workspace) -> None:
    hits = full_workspace.search.find("token").hits
    latest = max(hits, key=lambda hit: hit.at)
    result = full_workspace.search.find(f"token on {latest.at:%Y-%m-%d}")
    assert result.hits[0].session_id == latest.session_id
    (date,) = result.dates
    assert date.endswith("comes first.")


def test_scores_fall(full_workspace: Workspace) -> None:
    for query in ("session timeout", "token refresh tabs", "export parquet"):
        scores = [hit.score for hit in full_workspace.search.find(query).hits]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)


def test_unknown_word_suggests_spelling(full_workspace: Workspace) -> None:
    assert full_workspace.search.find("mutxe tabs ").suggestion == "mutex tabs "


def test_word_of_a_message_is_not_corrected(full_workspace: Workspace) -> None:
    # It is in no summary yet, and "mutex" is in one.
    store_messages(make_message("It mutes the tabs.", session="zoo"))
    assert full_workspace.search.find("mutes tokne").suggestion == "mutes token"


def test_suggestion_keeps_the_date(full_workspace: Workspace) -> None:
    result = full_workspace.search.find("mutxe tabs in January 2024")
    assert result.suggestion == "mutex tabs in January 2024"


def test_word_in_a_message_is_not_corrected(full_workspace: Workspace) -> None:
    store_messages(make_message("The mutxe is a fish", 1, session="new"))
    assert full_workspace.search.find("mutxe").suggestion == ""


def test_broken_indexes_are_replaced_by_the_store_with_a_note(
    full_workspace: Workspace,
) -> None:
    workspace = full_workspace
    workspace.teleport.close()
    workspace.paths.message_index.write_bytes(b"garbled")
    for path in workspace.paths.index.iterdir():
        path.write_bytes(b"garbled")
    result = workspace.search.find("mutex")
    assert result.hits
    assert result.notes == (ranking.DAMAGED,)
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    workspace.teleport.close()
    result = workspace.search.find("mutex")
    assert result.hits
    assert result.notes == ()


def test_query_without_a_word_has_a_note(workspace: Workspace) -> None:
    for query in ("", "  ", "!!"):
        result = workspace.search.find(query)
        assert result.hits == ()
        assert result.notes
    index_messages(workspace)
    assert workspace.search.find("zyxw").hits == ()


def test_title_of_an_agent_is_searched_beside_the_displayed_name(
    workspace: Workspace,
) -> None:
    store_messages(make_message("Where do ships land?", 1))
    name_session("s1", title="Harbour of ferries")
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    (hit,) = workspace.search.find("ferries").hits
    assert hit.kind is HitKind.SESSION
