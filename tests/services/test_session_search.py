"""Searching messages, with those around them."""

from dataclasses import replace
from datetime import UTC, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.model.events import EventRole
from memtui.model.filters import Filters, Scope
from memtui.model.hit import MAX_HITS, SNIPPET_BYTES, WINDOW_MESSAGES, Hits
from memtui.search.message_index import MessageIndex as Index
from memtui.search.ranking import MessageRanker
from memtui.search.search import MessageSearch
from memtui.services import tool_output
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


def texts(result: Hits) -> list[str]:
    return [hit.match.snippet.text if hit.match else "" for hit in result.hits]


def find_texts(workspace: Workspace, query: str, **options: object) -> list[str]:
    return texts(workspace.message_search.find(query, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "text"),
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
def test_query_finds_the_message(workspace: Workspace, query: str, text: str) -> None:
    store_messages(
        make_message("Nothing of the kind", 1),
        make_message(text, 2),
        make_message("Nor here", 3),
    )
    assert find_texts(workspace, query) == [text], "before it is indexed"
    index_messages(workspace)
    assert find_texts(workspace, query) == [text]


def test_unindexed_messages_are_found_beside_indexed_ones(
    workspace: Workspace,
) -> None:
    store_messages(make_message("The quay is closed", 1))
    index_messages(workspace)
    store_messages(make_message("Is the quay open?", 2))
    assert set(find_texts(workspace, "quay")) == {
        "The quay is closed",
        "Is the quay open?",
    }
    assert index_messages(workspace) == 1
    assert len(find_texts(workspace, "quay")) == 2


def test_one_hit_or_all_of_a_session(workspace: Workspace) -> None:
    store_messages(
        make_message("quay one", 1),
        make_message("quay two", 2),
        make_message("quay", 3, session="s2"),
    )
    index_messages(workspace)
    assert len(find_texts(workspace, "quay")) == 3
    result = workspace.message_search.find("quay", one_per_session=True)
    assert sorted(hit.session_id for hit in result.hits) == ["s1", "s2"]


def test_window_has_limits_and_keeps_the_match(workspace: Workspace) -> None:
    messages = [make_message(f"word {n}", n) for n in range(60)]
    messages[30] = make_message("the quay", 30)
    store_messages(*messages)
    index_messages(workspace)
    (hit,) = workspace.message_search.find("quay", before=99, after=99).hits
    assert len(hit.window) == WINDOW_MESSAGES
    assert hit.window[15].is_match
    assert [message.msg_idx for message in hit.window] == list(range(15, 31))
    (hit,) = workspace.message_search.find("quay", before=2, after=99).hits
    assert [message.msg_idx for message in hit.window] == list(range(28, 44))
    (hit,) = workspace.message_search.find("quay", before=0, after=0).hits
    assert (hit.msg_idx, len(hit.window)) == (30, 1)


def test_long_message_is_cut_around_the_match(
    workspace: Workspace,
) -> None:
    store_messages(make_message("é" * 3000 + " quay " + "é" * 3000, 1))
    index_messages(workspace)
    (hit,) = workspace.message_search.find("quay").hits
    assert hit.match is not None
    assert hit.match.is_truncated
    assert "quay" in hit.match.snippet.text
    assert len(hit.match.snippet.text.encode()) <= SNIPPET_BYTES


def test_there_are_at_most_twenty_hits(workspace: Workspace) -> None:
    store_messages(*(make_message(f"quay {n}", n, session=f"s{n}") for n in range(40)))
    index_messages(workspace)
    assert len(workspace.message_search.find("quay", limit=500).hits) == MAX_HITS
    assert len(workspace.message_search.find("quay", limit=3).hits) == 3


def test_filters_select_messages(workspace: Workspace) -> None:
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
        assert find_texts(workspace, "quay agent:codex") == ["quay three"]
        assert find_texts(workspace, "quay role:assistant") == ["quay two"]
        assert "quay three" not in find_texts(workspace, "quay project:shop")
        assert find_texts(workspace, "quay session:t") == ["quay three"]
        without = Filters(with_subagents=False)
        assert "quay four" not in find_texts(workspace, "quay", filters=without)
        assert "quay four" in find_texts(workspace, "quay")
        later = Filters(since=AT + timedelta(seconds=3))
        assert set(find_texts(workspace, "quay", filters=later)) == {
            "quay three",
            "quay four",
        }
        earlier = replace(later, since=None, until=AT + timedelta(seconds=2))
        assert find_texts(workspace, "quay", filters=earlier) == ["quay one"]
        none = Filters(scope=Scope("nobody", ""))
        assert find_texts(workspace, "quay", filters=none) == []


def test_message_of_a_subagent_leads_to_its_session(
    workspace: Workspace,
) -> None:
    store_messages(
        make_message("Go and look", 1), make_message("quay", 2, subagent="helper")
    )
    index_messages(workspace)
    (hit,) = workspace.message_search.find("quay").hits
    assert hit.event is not None
    assert (hit.session_id, hit.event.subagent) == ("s1", "helper")
    assert [message.snippet.text for message in hit.window] == ["quay"]


def test_phrases_are_required_and_excluded_exactly(workspace: Workspace) -> None:
    store_messages(
        make_message("the quay is long", 1), make_message("a long, long quay", 2)
    )
    index_messages(workspace)
    assert find_texts(workspace, '"quay is"') == ["the quay is long"]
    assert find_texts(workspace, 'quay -"quay is"') == ["a long, long quay"]


def test_phrase_of_common_words_is_found_in_older_messages(
    workspace: Workspace,
) -> None:
    name_session("s2", title="A quay is a quay")
    store_messages(
        make_message("the quay is long", 1),
        *(make_message(f"is it a quay {n}", n, session="s2") for n in range(2, 4_000)),
    )
    index_messages(workspace)
    assert find_texts(workspace, '"quay is long"') == ["the quay is long"]
    capped = workspace.message_search.find('"quay is"')
    assert capped.hits == (), "among the newest that hold its one telling word"
    assert "the newest 3,000" in capped.notes[0]


def test_common_word_searches_the_newest_messages_with_a_note(
    workspace: Workspace,
) -> None:
    store_messages(*(make_message(f"quay {n}", n) for n in range(3_100)))
    index_messages(workspace)
    result = workspace.message_search.find("quay")
    assert "the newest 3,000" in result.notes[0]
    assert len(result.hits) == MAX_HITS


def test_text_of_tools_is_found_only_with_the_setting(
    workspace: Workspace,
) -> None:
    store_messages(
        make_message("Read the harbour file", 1),
        make_message("quay: 7", 2, role=TOOL, tool="Read"),
    )
    index_messages(workspace)
    assert find_texts(workspace, "quay") == []
    assert len(find_texts(workspace, "Read")) == 2
    store_messages(make_message("quay: 8", 3, role=TOOL, tool="Read"))
    search = MessageSearch(
        MessageRanker(Index(workspace.paths.message_index, with_tools=True)),
        workspace.zone,
        lambda: AT,
    )
    assert texts(search.find("quay")) == ["quay: 8"], "not indexed yet"
    index_messages(workspace, with_tools=True)
    assert set(texts(search.find("quay"))) == {"quay: 7", "quay: 8"}


def test_session_is_found_by_its_title_alone(
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


def test_title_with_the_whole_query_raises_the_best_message_of_its_session(
    workspace: Workspace,
) -> None:
    store_messages(
        make_message("The ships came late", 1, role=ASSISTANT, session="s1"),
        make_message("The harbour has ships", 1, session="s2"),
        make_message("Nothing of the kind", 1, session="s3"),
    )
    name_session("s1", title="Harbour ships")
    index_messages(workspace)
    first, second = workspace.message_search.find("harbour ships").hits
    assert (first.session_id, second.session_id) == ("s1", "s2")
    assert first.match is not None


def test_message_of_the_user_comes_before_the_assistant(workspace: Workspace) -> None:
    store_messages(
        make_message("quay", 1, role=ASSISTANT, session="a"),
        make_message("quay", 1, session="b"),
    )
    index_messages(workspace)
    first, _ = workspace.message_search.find("quay").hits
    assert first.session_id == "b"


def test_turn_with_a_tool_comes_first_and_names_the_tool(
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


def test_hits_of_a_date_come_first_and_the_date_is_described(
    workspace: Workspace,
) -> None:
    store_messages(
        make_message("The quay is here", 1),
        make_message("The quay is there", 86_400 * 40),
    )
    index_messages(workspace)
    result = workspace.message_search.find("quay on 14 March 2025")
    assert texts(result)[0] == "The quay is here"
    (date,) = result.dates
    assert "Fri 14 Mar 2025" in date and date.endswith("comes first.")
    (date,) = workspace.message_search.find("quay in May 2021").dates
    assert date.endswith("has nothing that answers.")


def test_hit_has_the_current_counts_of_its_session(workspace: Workspace) -> None:
    store_messages(make_message("quay", 1))
    index_messages(workspace)
    (hit,) = workspace.message_search.find("quay").hits
    store_messages(make_message("more", 60, role=ASSISTANT))
    (later,) = workspace.message_search.find("quay").hits
    first, second = hit.session, later.session
    assert first is not None and second is not None
    assert (first.message_count, second.message_count) == (1, 2)
    assert second.updated_at - first.updated_at == timedelta(seconds=59)


def test_without_an_index_the_newest_messages_are_searched_with_a_note(
    workspace: Workspace,
) -> None:
    store_messages(make_message("quay", 1))
    index_messages(workspace)
    workspace.paths.message_index.write_bytes(b"no database at all" * 1000)
    result = workspace.message_search.find("quay")
    assert texts(result) == ["quay"]
    assert "damaged" in result.notes[0]
    index_messages(workspace)
    result = workspace.message_search.find("quay")
    assert (texts(result), result.notes) == (["quay"], ())
    Index(workspace.paths.message_index).delete()
    assert find_texts(workspace, "quay") == ["quay"]


def test_words_as_typed_come_before_their_parts(
    workspace: Workspace,
) -> None:
    store_messages(
        make_message("see test_components now", 1, session="a"),
        make_message("run components_test now", 1, session="b"),
        make_message("npm, then run it, and check", 1, session="c"),
        make_message("type npm run check", 1, session="d"),
    )
    index_messages(workspace)
    assert find_texts(workspace, "components_test")[0] == "run components_test now"
    assert find_texts(workspace, "npm run check")[0] == "type npm run check"


def test_excluded_word_in_most_messages_is_left_out(workspace: Workspace) -> None:
    store_messages(
        *(make_message(f"quay pier {n}", n) for n in range(2, 2_500)),
        make_message("a quay and nothing else of the kind at all", 1),
    )
    index_messages(workspace)
    assert find_texts(workspace, "quay -pier") == [
        "a quay and nothing else of the kind at all"
    ]
    assert find_texts(workspace, "quay -nothing -pier") == []


def test_stop_words_can_be_excluded_and_quoted(workspace: Workspace) -> None:
    store_messages(make_message("quay, that is", 1), make_message("quay, this was", 2))
    index_messages(workspace)
    assert find_texts(workspace, "quay -this") == ["quay, that is"]
    assert find_texts(workspace, '"that is"') == ["quay, that is"]


def test_phrase_without_words_searches_the_newest_messages(
    workspace: Workspace,
) -> None:
    store_messages(*(make_message(f"a =-> {n}", n) for n in range(200)))
    index_messages(workspace)
    assert find_texts(workspace, '"=->"', limit=3) == [
        "a =-> 199",
        "a =-> 198",
        "a =-> 197",
    ]


def test_time_filters_are_exact_to_the_millisecond(workspace: Workspace) -> None:
    store_messages(*(make_message(f"quay {n}", 59.999) for n in range(40)))
    edge = AT + timedelta(seconds=60)
    for is_indexed in (False, True):
        if is_indexed:
            index_messages(workspace)
        assert (
            len(find_texts(workspace, "quay", filters=Filters(until=edge))) == MAX_HITS
        )
        assert find_texts(workspace, "quay", filters=Filters(since=edge)) == []


def test_names_match_in_any_case_and_unknown_ones_are_reported(
    workspace: Workspace,
) -> None:
    store_messages(make_message("quay", 1))
    name_session("s1", project="Shop")
    index_messages(workspace)
    assert find_texts(workspace, "quay project:shop agent:CLAUDE-code") == ["quay"]
    result = workspace.message_search.find("quay project:ship")
    assert result.hits == ()
    assert "Nothing is stored for the project “ship”." in result.notes


def test_indexed_text_of_tools_is_not_found_without_the_setting(
    workspace: Workspace,
) -> None:
    store_messages(
        make_message("Read the harbour file", 1),
        make_message("quay: 7", 2, role=TOOL, tool="Read"),
    )
    index_messages(workspace, with_tools=True)
    assert find_texts(workspace, "quay") == []
    assert find_texts(workspace, "quay role:tool") == []
    assert len(tool_output.find("quay role:tool", AT, UTC).hits) == 1


def test_message_has_the_same_index_in_every_window(workspace: Workspace) -> None:
    store_messages(
        make_message("first", 1),
        make_message("quay of machinery", 2, role=SYSTEM),
        make_message("second quay", 3),
        make_message("third quay", 4, role=ASSISTANT),
    )
    index_messages(workspace)
    numbers: dict[str, set[int]] = {}
    for hit in workspace.message_search.find("quay").hits:
        for message in hit.window:
            numbers.setdefault(message.snippet.text, set()).add(message.msg_idx)
    assert numbers["second quay"] == {1}
    assert numbers["third quay"] == {2}


def test_letters_that_folding_splits_are_found(workspace: Workspace) -> None:
    store_messages(make_message("صلى ﷺ", 1))
    index_messages(workspace)
    result = workspace.message_search.find("ﷺ")
    assert (texts(result), result.notes) == (["صلى ﷺ"], ())


def test_invalid_bytes_from_a_shell_are_a_query(
    workspace: Workspace,
) -> None:
    store_messages(make_message("quay", 1))
    index_messages(workspace)
    assert find_texts(workspace, "quay \udcff") == ["quay"]
    assert find_texts(workspace, "agent:\udcff quay") == []


def test_damaged_index_is_rebuilt(
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
    result = workspace.message_search.find("quay")
    assert (len(result.hits), result.notes) == (MAX_HITS, ())


@pytest.mark.parametrize("query", ["", "   ", "the of and", "!?.,;", "level:day quay"])
def test_query_without_words_to_search_for_has_a_note(
    workspace: Workspace, query: str
) -> None:
    store_messages(make_message("quay", 1))
    index_messages(workspace)
    result = workspace.message_search.find(query)
    assert result.hits == ()
    assert result.notes


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


def test_session_filter_takes_names_as_they_are_printed(workspace: Workspace) -> None:
    store_messages(
        make_message("quay one", 1, session="s1"),
        make_message("quay two", 2, session="t1"),
        make_message("quay three", 3, session="t1", agent="codex"),
        make_message("quay four", 4, session="t2", agent="codex"),
    )
    index_messages(workspace)
    for session in ("codex:t1", "codex:t2", "s"):
        assert len(workspace.search.find(f"quay session:{session}").hits) == 1
        assert len(find_texts(workspace, f"quay session:{session}")) == 1
        given = Filters(session=session)
        assert len(find_texts(workspace, "quay", filters=given)) == 1
    mine = Filters(scope=Scope("codex", ""), session="t1")
    result = workspace.message_search.find("quay", filters=mine)
    assert (texts(result), result.notes) == (["quay three"], ())
    for message, why in (
        ("codex:x", "there is no session"),
        ("t1", "any of 2 sessions"),
    ):
        notes = workspace.search.find("quay", filters=Filters(session=message)).notes
        assert any(why in note for note in notes), notes


def test_complete_identifier_comes_before_its_parts_and_vague_words(
    workspace: Workspace,
) -> None:
    text = "We set SOME_FLAG since the old one broke"
    store_messages(
        make_message(text, 0, session="named", role=ASSISTANT),
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
        assert find_texts(workspace, query)[0] == text, query
        assert workspace.search.find(query).hits[0].session_id == "named", query


def test_name_of_two_words_is_found_however_they_are_joined(
    workspace: Workspace,
) -> None:
    message = [
        "The token_store keeps it",
        "It is in src/token-store.ts",
        "TokenStore is a class",
        "Refresh the token, then store it",
        "my server runs SQL",
        "MySQL runs there",
    ]
    store_messages(
        *(make_message(text, n, session=f"s{n}") for n, text in enumerate(message))
    )
    index_messages(workspace)

    def find(query: str) -> set[str]:
        hits = workspace.message_search.find(query).hits
        return {hit.match.snippet.text for hit in hits if hit.match}

    assert (
        find("TokenStore") == find("TokenSto") == find("tokenstore") == {*message[:3]}
    )
    assert find("token_store") == find("token-store") >= {*message[:3]}
    assert find("MySQL") == find("my_sql ") - {message[4]} == {message[5]}
    hits = workspace.message_search.find("TokenStore").hits
    snippets = [hit.match.snippet for hit in hits if hit.match]
    marked = {
        snippet.text[start:end] for snippet in snippets for start, end in snippet.marks
    }
    assert marked == {"token_store", "token-store", "TokenStore"}
