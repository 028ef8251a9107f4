"""Searching sessions: the matching messages and those around them."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.model.events import EventRole
from memtui.model.filters import Filters, Scope
from memtui.model.hit import MAX_HITS, SNIPPET_BYTES, WINDOW_MESSAGES, Hits
from memtui.search.message_index import MessageIndex as Index
from memtui.search.ranking import MessageRanker
from memtui.search.search import MessageSearch
from memtui.workspace import Workspace
from tests.conftest import often
from tests.message_factory import (
    AT,
    index_messages,
    make_message,
    name_session,
    store_messages,
)

ASSISTANT, SYSTEM, TOOL = EventRole.ASSISTANT, EventRole.SYSTEM, EventRole.TOOL


def texts(found: Hits) -> list[str]:
    return [hit.match.snippet.text if hit.match else "" for hit in found.hits]


def found(workspace: Workspace, query: str, **given: object) -> list[str]:
    return texts(workspace.message_search.find(query, **given))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("UserById", "I call getUserById in the router"),
        ("评审", "明天的评审会议改到下午"),
        ("gen-itgc", "重跑gen-itgc后再看"),
        ('can\'t open "a/b.py"', "It says: can't open a/b.py"),
        ("auth.rs", "See src/token/auth.rs"),
        ("vec", "A std::vec was meant"),
        ("#123", "That is #123, not #124"),
        ("v1.2.3", "Since v1.2.3 it fails"),
        ("E0502", "error[E0502]: cannot borrow"),
        ("3f2a9bc", "Reverted 3f2a9bc41d7e"),
        ("wrote", "Did they write that?"),
        ("retr*", "A retry is made"),
        ('"=> {"', "let f = () => { return 1 }"),
        ("ทดสอบ", "เรากำลังทดสอบระบบ"),
        ("café", "Meet me at the CAFE\u0301"),
    ],
)
def test_what_people_type_finds_what_was_said(
    workspace: Workspace, query: str, said: str
) -> None:
    store_messages(
        make_message("Nothing of the kind", 1),
        make_message(said, 2),
        make_message("Nor here", 3),
    )
    assert found(workspace, query) == [said], "before it is indexed"
    index_messages(workspace)
    assert found(workspace, query) == [said]


def test_what_was_stored_a_moment_ago_is_found_beside_what_is_indexed(
    workspace: Workspace,
) -> None:
    store_messages(make_message("The quay is closed", 1))
    index_messages(workspace)
    store_messages(make_message("Is the quay open?", 2))
    assert set(found(workspace, "quay")) == {"The quay is closed", "Is the quay open?"}
    assert index_messages(workspace) == 1
    assert len(found(workspace, "quay")) == 2


def test_one_hit_or_many_of_a_session(workspace: Workspace) -> None:
    store_messages(
        make_message("quay one", 1),
        make_message("quay two", 2),
        make_message("quay", 3, session="s2"),
    )
    index_messages(workspace)
    assert len(found(workspace, "quay")) == 3
    answer = workspace.message_search.find("quay", one_per_session=True)
    assert sorted(hit.session_id for hit in answer.hits) == ["s1", "s2"]


def test_a_window_keeps_its_bounds_and_the_message_itself(workspace: Workspace) -> None:
    shown = [make_message(f"word {n}", n) for n in range(60)]
    shown[30] = make_message("the quay", 30)
    store_messages(*shown)
    index_messages(workspace)
    (hit,) = workspace.message_search.find("quay", before=99, after=99).hits
    assert len(hit.window) == WINDOW_MESSAGES
    assert hit.window[15].is_match
    assert [said.msg_idx for said in hit.window] == list(range(15, 31))
    (hit,) = workspace.message_search.find("quay", before=2, after=99).hits
    assert [said.msg_idx for said in hit.window] == list(range(28, 44))
    (hit,) = workspace.message_search.find("quay", before=0, after=0).hits
    assert (hit.msg_idx, len(hit.window)) == (30, 1)


def test_a_long_message_is_cut_around_what_answers_on_a_character(
    workspace: Workspace,
) -> None:
    store_messages(make_message("é" * 3000 + " quay " + "é" * 3000, 1))
    index_messages(workspace)
    (hit,) = workspace.message_search.find("quay").hits
    assert hit.match is not None
    assert hit.match.is_truncated
    assert "quay" in hit.match.snippet.text
    assert len(hit.match.snippet.text.encode()) <= SNIPPET_BYTES


def test_never_more_than_twenty_hits(workspace: Workspace) -> None:
    store_messages(*(make_message(f"quay {n}", n, session=f"s{n}") for n in range(40)))
    index_messages(workspace)
    assert len(workspace.message_search.find("quay", limit=500).hits) == MAX_HITS
    assert len(workspace.message_search.find("quay", limit=3).hits) == 3


def test_filters_leave_out_what_they_say(workspace: Workspace) -> None:
    store_messages(
        make_message("quay one", 1),
        make_message("quay two", 2, role=ASSISTANT),
        make_message("quay three", 3, session="t1", agent="codex"),
        make_message("quay four", 4, subagent="helper"),
    )
    name_session("s1", project="shop")
    for is_indexed in (False, True):
        if is_indexed:
            index_messages(workspace)
        assert found(workspace, "quay agent:codex") == ["quay three"]
        assert found(workspace, "quay role:assistant") == ["quay two"]
        assert "quay three" not in found(workspace, "quay project:shop")
        assert found(workspace, "quay session:t") == ["quay three"]
        without = Filters(with_subagents=False)
        assert "quay four" not in found(workspace, "quay", filters=without)
        assert "quay four" in found(workspace, "quay")
        later = Filters(since=AT + timedelta(seconds=3))
        assert set(found(workspace, "quay", filters=later)) == {
            "quay three",
            "quay four",
        }
        earlier = replace(later, since=None, until=AT + timedelta(seconds=2))
        assert found(workspace, "quay", filters=earlier) == ["quay one"]
        none = Filters(scope=Scope("nobody", ""))
        assert found(workspace, "quay", filters=none) == []


def test_a_subagent_s_words_lead_to_the_session_that_started_it(
    workspace: Workspace,
) -> None:
    store_messages(
        make_message("Go and look", 1), make_message("quay", 2, subagent="helper")
    )
    index_messages(workspace)
    (hit,) = workspace.message_search.find("quay").hits
    assert hit.event is not None
    assert (hit.session_id, hit.event.subagent) == ("s1", "helper")
    assert [said.snippet.text for said in hit.window] == ["quay"]


def test_phrases_and_exclusions_are_held_to_the_letter(workspace: Workspace) -> None:
    store_messages(
        make_message("the quay is long", 1), make_message("a long, long quay", 2)
    )
    index_messages(workspace)
    assert found(workspace, '"quay is"') == ["the quay is long"]
    assert found(workspace, 'quay -"quay is"') == ["a long, long quay"]


def test_a_phrase_of_common_words_is_found_among_all_that_hold_them(
    workspace: Workspace,
) -> None:
    name_session("s2", title="A quay is a quay")
    store_messages(
        make_message("the quay is long", 1),
        *(make_message(f"is it a quay {n}", n, session="s2") for n in range(2, 4_000)),
    )
    index_messages(workspace)
    assert found(workspace, '"quay is long"') == ["the quay is long"]
    capped = workspace.message_search.find('"quay is"')
    assert capped.hits == (), "among the newest that hold its one telling word"
    assert "the newest 3,000" in capped.notes[0]


def test_very_common_words_search_the_newest_and_a_note_says_so(
    workspace: Workspace,
) -> None:
    store_messages(*(make_message(f"quay {n}", n) for n in range(3_100)))
    index_messages(workspace)
    answer = workspace.message_search.find("quay")
    assert "the newest 3,000" in answer.notes[0]
    assert len(answer.hits) == MAX_HITS


def test_tool_inputs_are_found_only_if_the_setting_is_on(
    workspace: Workspace,
) -> None:
    store_messages(
        make_message("Read the harbour file", 1),
        make_message("quay: 7", 2, role=TOOL, tool="Read"),
    )
    index_messages(workspace)
    assert found(workspace, "quay") == []
    assert len(found(workspace, "Read")) == 2
    store_messages(make_message("quay: 8", 3, role=TOOL, tool="Read"))
    talk = MessageSearch(
        MessageRanker(Index(workspace.paths.message_index, with_tools=True)),
        workspace.zone,
        lambda: AT,
    )
    assert texts(talk.find("quay")) == ["quay: 8"], "not indexed yet"
    index_messages(workspace, with_tools=True)
    assert set(texts(talk.find("quay"))) == {"quay: 7", "quay: 8"}


def test_a_session_is_found_by_its_title_alone_and_by_it_first(
    workspace: Workspace,
) -> None:
    opening = make_message("Where do ships land?", 2, session="s2")
    store_messages(make_message("Where do ships land?", 1), opening)
    name_session("s1", title="In the morning")
    name_session("s2", title="Harbour of ships")
    index_messages(workspace)
    (hit,) = workspace.message_search.find("harbour").hits
    assert (hit.session_id, hit.score, hit.window) == ("s2", 1.0, ())
    assert (hit.event_id, hit.snippet.text) == (opening.event_id, "Harbour of ships")
    first, *_ = workspace.message_search.find("ships land").hits
    assert first.session_id == "s2"


def test_what_a_person_said_goes_before_what_was_answered(workspace: Workspace) -> None:
    store_messages(
        make_message("quay", 1, role=ASSISTANT, session="a"),
        make_message("quay", 1, session="b"),
    )
    index_messages(workspace)
    first, _ = workspace.message_search.find("quay").hits
    assert first.session_id == "b"


def test_a_turn_that_used_a_tool_goes_before_one_that_did_not_and_names_it(
    workspace: Workspace,
) -> None:
    store_messages(
        make_message("quay", 1, role=ASSISTANT, session="a"),
        make_message("quay", 1, role=ASSISTANT, session="b"),
        make_message("ok", 2, role=TOOL, session="b", tool="Edit"),
    )
    index_messages(workspace)
    first, second = workspace.message_search.find("quay").hits
    assert first.session_id == "b"
    assert first.match is not None
    assert second.match is not None
    assert (first.match.tool_name, second.match.tool_name) == ("Edit", "")


def test_hits_of_the_time_in_a_question_come_first_and_it_is_shown(
    workspace: Workspace,
) -> None:
    store_messages(
        make_message("The quay is here", 1),
        make_message("The quay is there", 86_400 * 40),
    )
    index_messages(workspace)
    answer = workspace.message_search.find("quay on 14 March 2025")
    assert texts(answer)[0] == "The quay is here"
    (date,) = answer.dates
    assert "Fri 14 Mar 2025" in date and date.endswith("comes first.")
    (date,) = workspace.message_search.find("quay in May 2021").dates
    assert date.endswith("has nothing that answers.")


def test_counts_and_times_of_a_session_grow_with_it(workspace: Workspace) -> None:
    store_messages(make_message("quay", 1))
    index_messages(workspace)
    (hit,) = workspace.message_search.find("quay").hits
    store_messages(make_message("more", 60, role=ASSISTANT))
    (later,) = workspace.message_search.find("quay").hits
    first, second = hit.session, later.session
    assert first is not None and second is not None
    assert (first.message_count, second.message_count) == (1, 2)
    assert second.updated_at - first.updated_at == timedelta(seconds=59)


def test_the_newest_messages_are_read_without_an_index_and_a_note_says_so(
    workspace: Workspace,
) -> None:
    store_messages(make_message("quay", 1))
    index_messages(workspace)
    workspace.paths.message_index.write_bytes(b"no database at all" * 1000)
    answer = workspace.message_search.find("quay")
    assert texts(answer) == ["quay"]
    assert "damaged" in answer.notes[0]
    index_messages(workspace)
    answer = workspace.message_search.find("quay")
    assert (texts(answer), answer.notes) == (["quay"], ())
    Index(workspace.paths.message_index).delete()
    assert found(workspace, "quay") == ["quay"]


def test_what_was_typed_as_one_goes_before_its_parts_apart(
    workspace: Workspace,
) -> None:
    store_messages(
        make_message("see test_components now", 1, session="a"),
        make_message("run components_test now", 1, session="b"),
        make_message("npm, then run it, and check", 1, session="c"),
        make_message("type npm run check", 1, session="d"),
    )
    index_messages(workspace)
    assert found(workspace, "components_test")[0] == "run components_test now"
    assert found(workspace, "npm run check")[0] == "type npm run check"


def test_an_excluded_word_goes_however_many_hold_it(workspace: Workspace) -> None:
    store_messages(
        *(make_message(f"quay pier {n}", n) for n in range(2, 2_500)),
        make_message("a quay and nothing else of the kind at all", 1),
    )
    index_messages(workspace)
    assert found(workspace, "quay -pier") == [
        "a quay and nothing else of the kind at all"
    ]
    assert found(workspace, "quay -nothing -pier") == []


def test_a_stop_word_can_be_excluded_and_quoted(workspace: Workspace) -> None:
    store_messages(make_message("quay, that is", 1), make_message("quay, this was", 2))
    index_messages(workspace)
    assert found(workspace, "quay -this") == ["quay, that is"]
    assert found(workspace, '"that is"') == ["quay, that is"]


def test_a_phrase_without_words_finds_the_newest(workspace: Workspace) -> None:
    store_messages(*(make_message(f"a =-> {n}", n) for n in range(200)))
    index_messages(workspace)
    assert found(workspace, '"=->"', limit=3) == ["a =-> 199", "a =-> 198", "a =-> 197"]


def test_times_are_kept_to_the_millisecond(workspace: Workspace) -> None:
    store_messages(*(make_message(f"quay {n}", 59.999) for n in range(40)))
    edge = AT + timedelta(seconds=60)
    for is_indexed in (False, True):
        if is_indexed:
            index_messages(workspace)
        assert len(found(workspace, "quay", filters=Filters(until=edge))) == MAX_HITS
        assert found(workspace, "quay", filters=Filters(since=edge)) == []


def test_names_match_in_any_case_and_unknown_ones_are_reported(
    workspace: Workspace,
) -> None:
    store_messages(make_message("quay", 1))
    name_session("s1", project="Shop")
    index_messages(workspace)
    assert found(workspace, "quay project:shop agent:CLAUDE-code") == ["quay"]
    answer = workspace.message_search.find("quay project:ship")
    assert answer.hits == ()
    assert "Nothing is stored for the project “ship”." in answer.notes


def test_what_tools_answered_stays_aside_though_an_index_holds_it(
    workspace: Workspace,
) -> None:
    store_messages(
        make_message("Read the harbour file", 1),
        make_message("quay: 7", 2, role=TOOL, tool="Read"),
    )
    index_messages(workspace, with_tools=True)
    assert found(workspace, "quay") == []
    assert (
        "only the names of tools"
        in workspace.message_search.find("quay role:tool").notes[0]
    )


def test_a_message_has_the_same_number_in_every_window(workspace: Workspace) -> None:
    store_messages(
        make_message("first", 1),
        make_message("quay of machinery", 2, role=SYSTEM),
        make_message("second quay", 3),
        make_message("third quay", 4, role=ASSISTANT),
    )
    index_messages(workspace)
    numbers: dict[str, set[int]] = {}
    for hit in workspace.message_search.find("quay").hits:
        for said in hit.window:
            numbers.setdefault(said.snippet.text, set()).add(said.msg_idx)
    assert numbers["second quay"] == {1}
    assert numbers["third quay"] == {2}


def test_letters_that_folding_takes_apart_are_found(workspace: Workspace) -> None:
    store_messages(make_message("صلى ﷺ", 1))
    index_messages(workspace)
    answer = workspace.message_search.find("ﷺ")
    assert (texts(answer), answer.notes) == (["صلى ﷺ"], ())


def test_what_a_shell_hands_on_that_is_no_text_is_answered(
    workspace: Workspace,
) -> None:
    store_messages(make_message("quay", 1))
    index_messages(workspace)
    assert found(workspace, "quay \udcff") == ["quay"]
    assert found(workspace, "agent:\udcff quay") == []


def test_a_damaged_index_is_repaired_by_the_working_process(
    workspace: Workspace,
) -> None:
    store_messages(*(make_message(f"quay number {n}", n) for n in range(400)))
    index_messages(workspace)
    file = workspace.paths.message_index
    whole = bytearray(file.read_bytes())
    whole[8_192:] = b"\xff" * len(whole[8_192:])
    file.write_bytes(whole)
    assert len(workspace.message_search.find("quay").hits) == MAX_HITS, "from the store"
    index_messages(workspace)
    answer = workspace.message_search.find("quay")
    assert (len(answer.hits), answer.notes) == (MAX_HITS, ())


@pytest.mark.parametrize("query", ["", "   ", "the of and", "!?.,;", "level:day quay"])
def test_what_cannot_be_looked_up_gets_an_answer_or_a_hint(
    workspace: Workspace, query: str
) -> None:
    store_messages(make_message("quay", 1))
    index_messages(workspace)
    answer = workspace.message_search.find(query)
    assert answer.hits == ()
    assert answer.notes


@often(60)
@given(
    query=st.one_of(
        st.text(max_size=80),
        st.text(alphabet="ab*\"-:()^+NEARORNOT{}' \x00\u202e评🙂ال", max_size=40),
    )
)
def test_any_string_is_a_query(full_workspace: Workspace, query: str) -> None:
    assert full_workspace.message_search.find(query).took_ms >= 0
    assert full_workspace.search.find(query).took_ms >= 0


def test_a_session_is_named_as_answers_print_it(workspace: Workspace) -> None:
    store_messages(
        make_message("quay one", 1, session="s1"),
        make_message("quay two", 2, session="t1"),
        make_message("quay three", 3, session="t1", agent="codex"),
        make_message("quay four", 4, session="t2", agent="codex"),
    )
    index_messages(workspace)
    for session in ("codex:t1", "codex:t2", "s"):
        assert len(workspace.search.find(f"quay session:{session}").hits) == 1
        assert len(found(workspace, f"quay session:{session}")) == 1
        given = Filters(session=session)
        assert len(found(workspace, "quay", filters=given)) == 1
    mine = Filters(scope=Scope("codex", ""), session="t1")
    answer = workspace.message_search.find("quay", filters=mine)
    assert (texts(answer), answer.notes) == (["quay three"], ())
    for said, why in (("codex:x", "there is no session"), ("t1", "any of 2 sessions")):
        notes = workspace.search.find("quay", filters=Filters(session=said)).notes
        assert any(why in note for note in notes), notes


def test_a_complete_identifier_goes_before_its_parts_and_before_vague_words(
    workspace: Workspace,
) -> None:
    wanted = "We set SOME_FLAG since the old one broke"
    store_messages(
        make_message(wanted, 0, session="wanted", role=ASSISTANT),
        *(
            make_message(
                f"We choose a flag, and decide why to choose this flag {n}",
                n,
                session=f"other{n}",
            )
            for n in range(1, 60)
        ),
    )
    index_messages(workspace)
    for query in ("why did we choose SOME_FLAG", "SOME_FLAG", "decide on some_fl"):
        assert found(workspace, query)[0] == wanted, query
        assert workspace.search.find(query).hits[0].session_id == "wanted", query


def test_a_name_of_two_words_is_found_however_they_are_joined(
    workspace: Workspace,
) -> None:
    said = [
        "The token_store keeps it",
        "It is in src/token-store.ts",
        "TokenStore is a class",
        "Refresh the token, then store it",
        "my server runs SQL",
        "MySQL runs there",
    ]
    store_messages(
        *(make_message(text, n, session=f"s{n}") for n, text in enumerate(said))
    )
    index_messages(workspace)

    def found(query: str) -> set[str]:
        hits = workspace.message_search.find(query).hits
        return {hit.match.snippet.text for hit in hits if hit.match}

    assert (
        found("TokenStore") == found("TokenSto") == found("tokenstore") == {*said[:3]}
    )
    assert found("token_store") == found("token-store") >= {*said[:3]}
    assert found("MySQL") == found("my_sql ") - {said[4]} == {said[5]}
    hits = workspace.message_search.find("TokenStore").hits
    snippets = [hit.match.snippet for hit in hits if hit.match]
    marked = {one.text[start:end] for one in snippets for start, end in one.marks}
    assert marked == {"token_store", "token-store", "TokenStore"}
