"""Common words, and scores of whole queries."""

from hypothesis import given
from hypothesis import strategies as st

from memtui.search.node_index import NodeIndex
from tests.conftest import often
from tests.search.documents import (
    document,
    find,
    find_ids,
    make_documents,
    make_word,
    suggest,
)


def test_common_word_finds_all_its_documents(index: NodeIndex) -> None:
    everything = make_documents(600)
    for start in range(0, 600, 150):
        index.update(everything[start : start + 150], [])
    with_test = {f"n{i:04}" for i in range(600) if i % 5}
    assert {*find_ids(index, "test ", 600)} == with_test
    rare = {f"n{i:04}" for i in range(600) if i % 97 == 5}
    assert {*find_ids(index, f"{make_word(5)} test ", 600)} == with_test | rare


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
