"""What the rows of a search show of sessions: their names, their outcomes, and how many
more of their messages match."""

import json
from dataclasses import replace

import pytest

from memtui.model import calendar
from memtui.model.events import Event, EventRole
from memtui.model.hit import Hit
from memtui.model.nodes import BulletKind, node_text
from memtui.model.sessions import NO_WORK, Session, SessionWork, WorkState
from memtui.services import browse, conversation, sessions
from memtui.services.conversation import ConversationKey
from memtui.services.forget import Forget
from memtui.store.tombstones import TombstoneKind
from memtui.summarize import rollup
from memtui.tools import sessions as agent_sessions
from memtui.workspace import Workspace
from tests.message_factory import AT, make_message, name_session, store_messages

ASSISTANT = EventRole.ASSISTANT


def find(workspace: Workspace, query: str) -> dict[str, Hit]:
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    hits = workspace.search.find(query).hits
    return {hit.session_id: hit for hit in hits}


def segments_of(session: Session) -> list[str]:
    card = sessions.read_card(session.agent, session.session_id)
    return [segment.node_id for segment in card.segments]


def test_hits_have_the_name_and_outcome_of_the_session(
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
    assert hit.at.hour == 12 and hit.session is not None
    assert hit.session.work.name == "Add a mutex around the token refresh."
    assert hit.session.work.outcome == "All walrus tests pass now."
    assert hit.session.work.state == WorkState.ANSWERED
    name_session("s1", title="A plan for walruses")
    hit = find(workspace, "walrus")["s1"]
    assert hit.session and hit.session.work.name == "A plan for walruses"
    key = ("claude-code", "s1")
    about = conversation.get_info(ConversationKey(*key))
    assert about.session.title == "A plan for walruses"
    assert sessions.read_card("codex", "none").session is None


def test_a_session_has_the_same_name_everywhere(
    full_workspace: Workspace,
) -> None:
    for session in sessions.list_sessions().sessions:
        key = (session.agent, session.session_id)
        work = sessions.read_card(*key).work
        assert session.title == work.name != ""
        card = sessions.read_card(*key)
        assert card.work == work
        assert all(bullet.grip_ids for bullet in card.bullets)
        hits = full_workspace.search.find(f"session:{session.session_id}").hits
        assert {hit.session.work for hit in hits if hit.session} == {work}
        meta = agent_sessions.get_session_meta(full_workspace, session.session_id)
        assert meta.head["title"] == work.name
        days = {calendar.path(name)[-2] for name in segments_of(session)}
        for day in days:
            (row,) = [
                item
                for item in browse.list_day_sessions(day)
                if item.session.session_id == key[1]
            ]
            node, page = browse.get_node(day), browse.get_day_session_node(row)
            assert node is not None and page is not None
            names = [item.session.work.name for item in browse.list_day_sessions(day)]
            assert {*node.headline.split(rollup.SEPARATOR)} <= {*names}
            assert row.session.work == work and page.headline == work.name
            (bullet,) = [item for item in node.bullets if item.session_id == key[1]]
            text = bullet.text.removeprefix(f"{session.project}: ")
            assert text.startswith(work.name)
            assert bullet.grip_ids


def test_a_session_that_goes_on_is_named_alike_on_each_of_its_days(
    workspace: Workspace,
) -> None:
    store_messages(
        make_message("Move the walrus index to SQLite.", 0),
        make_message("The schema is written.", 60, role=ASSISTANT),
        make_message("Go on with the walrus import.", 86_400),
        make_message("All 312 walruses are imported.", 86_460, role=ASSISTANT),
    )
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    outcome = "All 312 walruses are imported."
    days = {"2025-03-14": "The schema is written; ", "2025-03-15": ""}
    for day, own_reply in days.items():
        (row,) = browse.list_day_sessions(f"toc:day:{day}")
        node = browse.get_node(f"toc:day:{day}")
        assert node is not None
        assert (
            row.session.work.name == node.headline == "Move the walrus index to SQLite."
        )
        assert row.session.work.outcome == outcome
        (bullet,) = node.bullets
        assert bullet.text == f"{node.headline} — {own_reply}{outcome}"
        page = browse.get_day_session_node(row)
        assert page is not None and page.counts.messages == 4
        assert len(row.segments) == 1
    later = browse.get_node(row.segments[0].node_id)
    assert later is not None and later.title == "Go on with the walrus import."


def test_a_new_message_changes_all_days_of_its_session(workspace: Workspace) -> None:
    store_messages(
        make_message("Move the walrus index to SQLite.", 0),
        make_message("The schema is written.", 60, role=ASSISTANT),
    )
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    store_messages(make_message("It is moved.", 86_400, role=ASSISTANT))
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    first = browse.get_node("toc:day:2025-03-14")
    assert first is not None and "It is moved." in first.bullets[0].text


def ran(command: str, output: str, at: int) -> Event:
    """Make an event of a command that an agent ran."""
    event = make_message(f"Bash: {command}\n{output}", at, role=EventRole.TOOL)
    tool_input = json.dumps({"command": command})
    return replace(event, metadata={"tool_name": "Bash", "tool_input": tool_input})


def test_lines_of_a_segment_that_do_not_fit_are_named_and_kept(
    workspace: Workspace,
) -> None:
    store_messages(
        make_message("Count the quokkas.", 0),
        ran("sed -i s/a/b/ quokkas.py", "", 10),
        ran("pytest", "== 38 passed in 1.20s ==", 20),
        ran("git commit -m 'Count quokkas'", "[main 1a2b3c4] Count quokkas", 30),
        ran("gh pr create --title 'Quokkas'", "https://github.com/o/r/pull/12", 40),
        make_message("All quokkas are counted.", 50, role=ASSISTANT),
    )
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    (entry,) = browse.list_children("toc:day:2025-03-14")
    node = browse.get_node(entry.node_id)
    assert node is not None and len(node.bullets) == 5
    assert (node.bullets[4].kind, node.bullets[4].text) == (
        BulletKind.MORE,
        "and 2 more: tests, files",
    )
    assert [bullet.kind for bullet in node.further] == [
        BulletKind.TESTS,
        BulletKind.FILES,
    ]


@pytest.mark.parametrize("forgotten", ["commit", "message"])
def test_forgetting_an_event_removes_its_words_from_all_days_of_its_session(
    workspace: Workspace, forgotten: str
) -> None:
    command = "git commit -m 'Count the quokkas'"
    commit = ran(command, "[main 1a2b3c4] Count the quokkas", 60)
    last = make_message("The quokkas are counted.", 172_860, role=ASSISTANT)
    store_messages(
        make_message("Count the animals of the island.", 0),
        commit,
        make_message("Go on.", 86_400),
        make_message("Going on.", 86_460, role=ASSISTANT),
        make_message("What came of it?", 172_800),
        last,
    )
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    nodes = ["toc:year:2025"]
    nodes += [f"toc:day:2025-03-{day}" for day in (14, 15, 16)]

    def read_all() -> list[str]:
        stored_nodes = [browse.get_node(name) for name in nodes]
        texts = [node_text(node) for node in stored_nodes if node is not None]
        assert len(texts) == len(nodes)
        card = sessions.read_card("claude-code", "s1")
        return [*texts, repr(card.work), repr(card.bullets)]

    assert all("Count the quokkas" in text for text in read_all()[:5])
    assert all("quokkas are counted" in text for text in read_all()[1:5])
    event = {"commit": commit, "message": last}[forgotten]
    words = {"commit": "Count the quokkas", "message": "quokkas are counted"}
    Forget(workspace.paths, workspace.zone, lambda: AT).run(
        TombstoneKind.EVENT, [event.event_id]
    )
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    assert not any(words[forgotten] in text for text in read_all())
    name = sessions.read_card("claude-code", "s1").work.name
    assert (
        name
        == {
            "commit": "Count the animals of the island.",
            "message": "Count the quokkas",
        }[forgotten]
    )


def test_a_session_without_summary_has_none(workspace: Workspace) -> None:
    store_messages(make_message("A walrus."))
    (hit,) = workspace.search.find("walrus").hits
    assert hit.session is not None
    assert hit.session.work == NO_WORK == SessionWork()


def test_other_messages_with_the_specific_words_are_counted(
    workspace: Workspace,
) -> None:
    said = [make_message(f"SOME_FLAG is set in file {n}.", n) for n in range(40)]
    said.append(make_message("why did we choose SOME_FLAG", 50))
    said += [make_message("we chose a walrus", 60 + n) for n in range(5)]
    said.append(make_message("SOME_FLAG once", 70, session="s2"))
    said += [make_message("we chose it", 80 + n, session="s2") for n in range(3)]
    store_messages(*said)
    hits = find(workspace, "why did we choose SOME_FLAG")
    assert hits["s1"].snippet.text == "why did we choose SOME_FLAG"
    assert {name: hit.more for name, hit in hits.items()} == {"s1": 40, "s2": 0}
    # Conditions hold for the others, too; the index cannot check the order of words.
    assert find(workspace, "SOME_FLAG -choose")["s1"].more == 39
    assert find(workspace, "SOME_FLAG role:assistant") == {}
    assert find(workspace, '"SOME_FLAG is"')["s1"].more == 0
    messages = workspace.message_search.find("SOME_FLAG", one_per_session=True).hits
    assert {hit.session_id: hit.more for hit in messages} == {"s1": 40, "s2": 0}
    assert not any(hit.more for hit in workspace.message_search.find("SOME_FLAG").hits)
