"""Results of queries on an index: forms, filters and order."""

from datetime import UTC

import pytest

from memtui.model.calendar import TocLevel
from memtui.search import node_index, scoring
from memtui.search import query as search_query
from memtui.search.node_index import NodeIndex, filter_token
from memtui.search.scoring import NodeField
from tests.search.documents import ask, document, find, find_ids, score

# Forms


def test_a_verbatim_word_ranks_before_another_form(
    index: NodeIndex,
) -> None:
    index.update(
        [
            document("stem", "the ferry connects"),
            document("exact", "the ferry connection"),
            document("more", "the connected ferries"),
        ],
        [],
    )
    assert find_ids(index, "connection ")[0] == "exact"
    assert score(index, "connection ", "stem") == pytest.approx(
        score(index, "connection ", "exact") * scoring.STEMMED
    )


def test_a_complete_identifier_ranks_before_its_parts(index: NodeIndex) -> None:
    index.update(
        [
            document("parts", "the user got a name by id"),
            document("whole", "then getUserById fails"),
        ],
        [],
    )
    assert find_ids(index, "getUserById ") == ["whole", "parts"]
    assert "whole" in find_ids(index, "UserById ")
    assert find_ids(index, "getUserB") == ["whole"]


def test_the_commonest_ways_to_go_on_are_looked_up(index: NodeIndex) -> None:
    words = [f"zebra{letter}" for letter in "bcfghjkmnpqtvwz"]
    often = [document(f"often{i}", "the zebrax ran") for i in range(9)]
    index.update([*often, *(document(word, word) for word in words)], [])
    assert set(find_ids(index, "zebr")) >= {one.target_id for one in often}
    assert len(find(index, "zebr").matches) == len(often) + scoring.MAX_COMPLETIONS - 1


def test_a_finished_word_comes_before_one_that_goes_on(index: NodeIndex) -> None:
    index.update([document("long", "tokenizer"), document("short", "token")], [])
    assert find_ids(index, "token") == ["short", "long"]
    assert find_ids(index, "token ") == ["short"]
    assert find_ids(index, "token* x ") == ["short", "long"]


# Conditions


def test_filters_leave_out_what_is_not_asked_for(index: NodeIndex) -> None:
    agent, project = node_index.AGENT, node_index.PROJECT
    index.update(
        [
            document("a", "ferry", filters=[filter_token(agent, "codex")]),
            document("b", "ferry", filters=[filter_token(agent, "gemini")], day=1),
            document(
                "c", "ferry", filters=[filter_token(project, "shop, inc.")], day=2
            ),
            document("d", "ferry", level=TocLevel.DAY, day=2, days=1),
            document(
                "e", "ferry", filters=[filter_token(node_index.BY, "model")], day=40
            ),
        ],
        [],
    )
    asked = {
        "agent:codex": "a",
        "agent:code": "",
        'project:"shop, inc."': "c",
        "level:day": "d",
        "level:day,segment": "abcde",
        "level:week": "",
        "by:model": "e",
        "after:2025-03-12": "cde",
        "after:2025-04": "e",
        "before:2025-03-12": "ab",
        "before:2025-03-10": "",
        "after:2025-03-11 before:2025-03-12": "b",
        "agent:codex after:2025-03-11": "",
    }
    for said, names in asked.items():
        assert sorted(find_ids(index, f"{said} ferry ")) == sorted(names), said


def test_a_filter_holds_for_what_is_deleted_and_what_is_new(index: NodeIndex) -> None:
    index.update([document("a", "ferry"), document("b", "ferry", day=1)], [])
    assert sorted(find_ids(index, "after:2025-03-10 ferry")) == ["a", "b"]
    index.update([document("c", "ferry", day=1)], ["b"])
    assert sorted(find_ids(index, "after:2025-03-10 ferry")) == ["a", "c"]
    assert find_ids(index, "after:2025-03-11 ferry") == ["c"]


def test_only_the_nodes_that_are_named_are_found(index: NodeIndex) -> None:
    index.update([document(name, "ferry") for name in "abc"], [])
    asked = search_query.parse("ferry", UTC)
    some = ask(index, asked, 9, among=["b", "x"]).matches
    assert [match.target_id for match in some] == ["b"]
    assert ask(index, asked, 9, among=[]).matches == ()


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("ferry -harbour", "c"),
        ("ferry -harb*", "c"),
        ("ferry -harbourmaster", "ac"),
        ("ferry -zeppelin", "abc"),
        ("ferry -rf", "abc"),
    ],
)
def test_what_must_not_be_there_is_left_out(
    index: NodeIndex, query: str, names: str
) -> None:
    texts = {"a": "ferry harbour", "b": "ferry harbours harbourmaster", "c": "ferry"}
    index.update([document(name, text) for name, text in texts.items()], [])
    assert "".join(sorted(find_ids(index, query))) == names


def test_all_words_of_a_phrase_must_be_there(index: NodeIndex) -> None:
    texts = {"a": "red ferry", "b": "ferry", "c": "the ferry was painted red"}
    index.update([document(name, text) for name, text in texts.items()], [])
    assert sorted(find_ids(index, '"red ferry"')) == ["a", "c"]
    assert sorted(find_ids(index, '"red ferry"', is_exact=False)) == ["a", "b", "c"]


# Order


def test_equals_come_in_an_order_that_never_changes(index: NodeIndex) -> None:
    index.update([document(f"n{i}", "ferry", day=i % 7) for i in range(40)], [])
    first = find_ids(index, "ferry", 10)
    assert first == find_ids(index, "ferry", 10) == find_ids(index, "ferry", 40)[:10]
    assert first == [f"n{i}" for i in range(39, 29, -1)]


def test_a_wide_node_landing_id_the_segment_in_it_that_answers_best(
    index: NodeIndex,
) -> None:
    index.update(
        [
            document("week", "ferry quay", level=TocLevel.WEEK, days=7),
            document("next", "ferry quay", level=TocLevel.WEEK, day=7, days=7),
            document("first", "the ferry", day=0),
            document("both", "the ferry at the quay", day=3),
            document("better", "ferry quay", part=NodeField.TITLE, day=8),
            document("empty", "nothing of that", day=15),
            document("wide", "quay", level=TocLevel.DAY, day=15, days=1),
        ],
        [],
    )
    for query in ("ferry quay ", "level:week,day ferry quay "):
        leads = {m.target_id: m.landing_id for m in find(index, query).matches}
        assert leads["week"] == "both"
        assert leads["next"] == "better"
        assert leads["wide"] == "wide"
        assert leads.get("both", "both") == "both"
