"""Common words, scores, and merged segments of the index."""

from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.search import node_index, scoring
from memtui.search import query as search_query
from memtui.search.node_index import NodeIndex
from tests.conftest import often
from tests.search.documents import (
    ask,
    document,
    find,
    find_ids,
    make_documents,
    make_word,
    score_document,
    suggest,
)


def test_beside_a_rare_word_a_common_one_finds_nothing_more(
    index: NodeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = make_documents(600)
    for start in range(0, 600, 150):
        index.update(everything[start : start + 150], [])
    monkeypatch.setattr(node_index, "MAX_POSTINGS", 100)
    rare = find(index, f"{make_word(5)} test ", 200)
    assert rare.skipped_terms == ("test",)
    alone = find(index, f"{make_word(5)} ", 200)
    assert {m.target_id for m in rare.matches} == {m.target_id for m in alone.matches}
    assert find(index, f"{make_word(5)} {make_word(6)} ", 200).skipped_terms == ()


def test_a_common_word_alone_is_looked_up_in_the_newest_documents(
    index: NodeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = make_documents(600)
    for start in range(0, 600, 150):
        index.update(everything[start : start + 150], [])
    monkeypatch.setattr(node_index, "MAX_POSTINGS", 100)
    alone = find(index, "test ", 500)
    assert alone.skipped_terms == ("test",)
    newest = {f"n{i:04}" for i in range(450, 600) if i % 5}
    assert {match.target_id for match in alone.matches} == newest


def test_a_score_is_what_the_document_itself_gives(index: NodeIndex) -> None:
    everything = make_documents(200)
    index.update(everything, [])
    asked = search_query.parse(f"{make_word(7)} file te", UTC)
    terms = index.read(
        lambda reader: scoring.weighted_terms(
            asked, reader.size, reader.frequencies, reader._complete
        )
    )
    matches = index.read(lambda reader: reader.search(asked, 500).matches)
    assert [term.term for term in terms] == [make_word(7), "file", "te"]
    assert len(matches) == 186
    for match in matches:
        of = next(one for one in everything if one.target_id == match.target_id)
        own = score_document(terms, scoring.term_weights(of.texts, of.level))
        assert match.score == pytest.approx(own, rel=1e-5)


def test_documents_come_and_go_with_their_words(index: NodeIndex) -> None:
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
    .map(lambda shown: "".join(shown[0]) + shown[1])
)
def test_any_string_is_answered_in_order(index: NodeIndex, query: str) -> None:
    if not index.count():
        index.update(make_documents(30), [])
    asked = search_query.parse(query, UTC)
    answered = ask(index, asked, 10).matches
    values = [match.score for match in answered]
    assert values == sorted(values, reverse=True)
    assert all(0 < value < 1 for value in values)
    assert isinstance(suggest(index, query, has_few=True), str)
