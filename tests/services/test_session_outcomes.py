"""What the rows of a search show of sessions: their names, their outcomes, and how many
more of their messages match."""

from memtui.model.events import EventRole
from memtui.model.hits import CombinedHit
from memtui.model.sessions import NO_WORK, SessionWork
from memtui.services import browse, conversation, session_outcomes
from memtui.services.conversation import ConversationKey
from memtui.workspace import Workspace
from tests.message_factory import make_message, name_session, store_messages

ASSISTANT = EventRole.ASSISTANT


def find(workspace: Workspace, query: str) -> dict[str, CombinedHit]:
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    hits = session_outcomes.add_work(workspace.search.find(query).hits)
    return {hit.session_id: hit for hit in hits}


def test_a_session_has_the_name_and_the_outcome_of_all_its_segments(
    workspace: Workspace,
) -> None:
    late = 7_200
    store_messages(
        make_message("Add a mutex around the token refresh.", 0),
        make_message("Added the mutex around the refresh.", 60, role=ASSISTANT),
        make_message("Does the walrus test pass?", late),
        make_message("All walrus tests pass now.", late + 60, role=ASSISTANT),
    )
    hit = find(workspace, "walrus")["s1"]
    assert hit.at.hour == 12
    assert hit.work.name == "Add a mutex around the token refresh"
    assert hit.work.state == "done"
    assert hit.work.outcome == "Added the mutex around the refresh."
    day = browse.get_node(f"toc:day:{hit.at:%Y-%m-%d}")
    assert day and day.bullets[0].text == f"{hit.work.name} (done)"
    name_session("s1", title="A plan for walruses")
    assert find(workspace, "walrus")["s1"].work.name == "A plan for walruses"
    key = ("claude-code", "s1")
    about = conversation.get_info(ConversationKey(*key))
    assert about.session.title == "A plan for walruses"
    assert session_outcomes.read_work([key, ("codex", "none")]).keys() == {key}
    # Another outcome replaces one that repeats the name.
    name_session("s1", title="Added the mutex around the refresh.")
    assert find(workspace, "walrus")["s1"].work.outcome == "All walrus tests pass now."


def test_a_session_without_summary_has_none(workspace: Workspace) -> None:
    store_messages(make_message("A walrus."))
    (hit,) = session_outcomes.add_work(workspace.search.find("walrus").hits)
    assert hit.work is NO_WORK == SessionWork()


def test_other_messages_with_the_specific_words_are_counted(
    workspace: Workspace,
) -> None:
    said = [make_message(f"SOME_FLAG is set in file {n}.", n) for n in range(40)]
    said.append(make_message("why did we choose SOME_FLAG", 50))
    said += [make_message("we chose a walrus", 60 + n) for n in range(5)]
    said.append(make_message("SOME_FLAG once", 70, session="s2"))
    said += [make_message("we chose it", 80 + n, session="s2") for n in range(3)]
    store_messages(*said)
    found = find(workspace, "why did we choose SOME_FLAG")
    assert found["s1"].snippet.text == "why did we choose SOME_FLAG"
    assert {name: hit.more for name, hit in found.items()} == {"s1": 40, "s2": 0}
    # Conditions hold for the others, too; the index cannot check the order of words.
    assert find(workspace, "SOME_FLAG -choose")["s1"].more == 39
    assert find(workspace, "SOME_FLAG role:assistant") == {}
    assert find(workspace, '"SOME_FLAG is"')["s1"].more == 0
    messages = workspace.message_search.find("SOME_FLAG", one_per_session=True).hits
    assert {hit.session.session_id: hit.more for hit in messages} == {"s1": 40, "s2": 0}
    assert not any(hit.more for hit in workspace.message_search.find("SOME_FLAG").hits)
