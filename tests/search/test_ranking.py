"""Results of queries on the node index: forms, filters and order."""

from datetime import UTC

import pytest

from memtui.model.calendar import TocLevel
from memtui.search import node_index, node_scoring
from memtui.search import query as search_query
from memtui.search.node_index import NodeIndex, filter_token
from memtui.search.node_scoring import NodeField
from tests.search.documents import document, find, find_ids, score, search

# Forms


def test_word_as_typed_ranks_before_other_forms(
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
        score(index, "connection ", "exact") * node_scoring.STEMMED
    )


def test_complete_identifier_ranks_before_its_parts(index: NodeIndex) -> None:
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


def test_most_frequent_completions_are_looked_up(index: NodeIndex) -> None:
    words = [f"zebra{letter}" for letter in "bcfghjkmnpqtvwz"]
    frequent = [document(f"often{i}", "the zebrax ran") for i in range(9)]
    index.update([*frequent, *(document(word, word) for word in words)], [])
    matches = find_ids(index, "zebr")
    assert {*matches} >= {document.node_id for document in frequent}
    assert len(matches) == len(frequent) + node_scoring.MAX_COMPLETIONS - 1


def test_whole_word_comes_before_its_completions(index: NodeIndex) -> None:
    index.update([document("long", "tokenizer"), document("short", "token")], [])
    assert find_ids(index, "token") == ["short", "long"]
    assert find_ids(index, "token ") == ["short"]
    assert find_ids(index, "token* x ") == ["short", "long"]


# Conditions


def test_filters_select_documents(index: NodeIndex) -> None:
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
    expected = {
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
    for filters, names in expected.items():
        assert sorted(find_ids(index, f"{filters} ferry ")) == sorted(names), filters


def test_filters_hold_after_an_update(index: NodeIndex) -> None:
    index.update([document("a", "ferry"), document("b", "ferry", day=1)], [])
    assert sorted(find_ids(index, "after:2025-03-10 ferry")) == ["a", "b"]
    index.update([document("c", "ferry", day=1)], ["b"])
    assert sorted(find_ids(index, "after:2025-03-10 ferry")) == ["a", "c"]
    assert find_ids(index, "after:2025-03-11 ferry") == ["c"]


def test_only_listed_nodes_are_searched(index: NodeIndex) -> None:
    index.update([document(name, "ferry") for name in "abc"], [])
    query = search_query.parse("ferry", UTC)
    matches = search(index, query, 9, among=["b", "x"])
    assert [match.node_id for match in matches] == ["b"]
    assert not search(index, query, 9, among=[])


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
def test_excluded_words_are_left_out(index: NodeIndex, query: str, names: str) -> None:
    texts = {"a": "ferry harbour", "b": "ferry harbours harbourmaster", "c": "ferry"}
    index.update([document(name, text) for name, text in texts.items()], [])
    assert "".join(sorted(find_ids(index, query))) == names


def test_all_words_of_a_phrase_are_required(index: NodeIndex) -> None:
    texts = {"a": "red ferry", "b": "ferry", "c": "the ferry was painted red"}
    index.update([document(name, text) for name, text in texts.items()], [])
    assert sorted(find_ids(index, '"red ferry"')) == ["a", "c"]
    assert sorted(find_ids(index, '"red ferry"', is_exact=False)) == ["a", "b", "c"]


# Order


def test_equal_matches_are_ordered_latest_first(index: NodeIndex) -> None:
    index.update([document(f"n{i}", "ferry", day=i % 7) for i in range(40)], [])
    first = find_ids(index, "ferry", 10)
    assert first == find_ids(index, "ferry", 10) == find_ids(index, "ferry", 40)[:10]
    assert first == [f"n{i}" for i in range(39, 29, -1)]


def test_wide_node_opens_its_best_segment(
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
        opens = {match.node_id: match.opens for match in find(index, query)}
        assert opens["week"] == "both"
        assert opens["next"] == "better"
        assert opens["wide"] == "wide"
        assert opens.get("both", "both") == "both"
