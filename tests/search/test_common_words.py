"""Common words, and scores of whole queries."""

from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.search import node_index, node_scoring
from memtui.search import query as search_query
from memtui.search.node_index import NodeIndex
from tests.conftest import often
from tests.search.documents import (
    document,
    find,
    find_ids,
    find_skipped,
    make_documents,
    make_word,
    score_document,
    search,
    suggest,
)


def test_common_word_finds_nothing_more_beside_a_rare_one(
    index: NodeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = make_documents(600)
    for start in range(0, 600, 150):
        index.update(everything[start : start + 150], [])
    monkeypatch.setattr(node_index, "MAX_POSTINGS", 100)
    query = f"{make_word(5)} test "
    assert find_skipped(index, query) == {"test"}
    alone = find_ids(index, f"{make_word(5)} ", 200)
    assert {*find_ids(index, query, 200)} == {*alone}
    assert find_skipped(index, f"{make_word(5)} {make_word(6)} ") == set()


def test_common_word_alone_finds_the_newest_documents(
    index: NodeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = make_documents(600)
    for start in range(0, 600, 150):
        index.update(everything[start : start + 150], [])
    monkeypatch.setattr(node_index, "MAX_POSTINGS", 100)
    assert find_skipped(index, "test ") == {"test"}
    newest = {f"n{i:04}" for i in range(450, 600) if i % 5}
    assert {*find_ids(index, "test ", 500)} == newest


def test_score_follows_from_the_document_alone(index: NodeIndex) -> None:
    documents = {document.node_id: document for document in make_documents(200)}
    index.update([*documents.values()], [])
    query = search_query.parse(f"{make_word(7)} file te", UTC)
    terms = index.read(
        lambda reader: node_scoring.weighted_terms(
            query, reader.size, reader.frequencies, reader._complete
        )
    )
    matches, _ = search(index, query, 500)
    assert [term.term for term in terms] == [make_word(7), "file", "te"]
    assert len(matches) == 186
    for match in matches:
        source = documents[match.node_id]
        weights = node_scoring.term_weights(source.texts, source.level)
        expected = score_document(terms, weights)
        assert match.score == pytest.approx(expected, rel=1e-5)


def test_words_of_replaced_documents_are_not_found(index: NodeIndex) -> None:
    index.update(make_documents(100), [])
    for i in range(60):
        index.update([document(f"x{i}", f"ferry number{i}")], [f"n{i:04}", f"x{i - 1}"])
    assert find_ids(index, "ferry") == ["x59"]
    assert index.count() == 41
    assert (
        len(find_ids(index, f"{make_word(70)} {make_word(71)} {make_word(72)} ")) == 3
    )


@often(80)
@given(
    st.lists(st.sampled_from(['"', "-", "*", ":", "agent:", "after:2025", "評審", " "]))
    .flatmap(lambda signs: st.tuples(st.just(signs), st.text(max_size=30)))
    .map(lambda parts: "".join(parts[0]) + parts[1])
)
def test_any_string_is_answered_in_order(index: NodeIndex, query: str) -> None:
    if not index.count():
        index.update(make_documents(30), [])
    scores = [match.score for match in find(index, query, 10)]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score < 1 for score in scores)
    assert isinstance(suggest(index, query, has_few=True), str)
