"""What is read of an index: no more than is needed, and never more than is said."""

from datetime import UTC
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memtui.search import gathering, scoring, terms
from memtui.search import query as search_query
from memtui.search.index import NodeIndex
from tests.search.told import document, find, found, many, name


@pytest.mark.parametrize(
    "query",
    ["file test ", f"{name(5)} file test code ", "code ", f"{name(12)} q", "fi te co"],
)
def test_less_work_finds_the_same(
    index: NodeIndex, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be among the best is left out, and nothing else."""
    everything = many(1200)
    for start in range(0, 1200, 300):
        index.put(everything[start : start + 300], [])
    whole = [(m.target_id, m.score) for m in find(index, query, 2000).matches]
    monkeypatch.setattr(gathering, "WORTH_ASKING", 10)
    few = find(index, query, 15)
    assert few.skipped_terms == ()
    expected = [value for _, value in whole[:15]]
    assert [match.score for match in few.matches] == pytest.approx(expected)


def test_more_than_is_to_be_read_is_said_to_be_left_out(
    index: NodeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.put(many(600), [])
    monkeypatch.setattr(gathering, "WORTH_ASKING", 10)
    monkeypatch.setattr(gathering, "POSTINGS", 100)
    alone = find(index, "test ", 200)
    assert alone.skipped_terms == ("test",)
    assert len(alone.matches) == 100
    assert {m.target_id for m in alone.matches} <= {f"n{i:04}" for i in range(450, 600)}
    assert find(index, "test ", 200) == alone
    rare = find(index, f"{name(5)} test ", 200)
    assert rare.skipped_terms == ("test",)
    assert all(int(m.target_id[1:]) % 97 == 5 for m in rare.matches)
    assert find(index, f"{name(5)} {name(6)} ", 200).skipped_terms == ()


def test_a_score_is_what_the_document_itself_gives(index: NodeIndex) -> None:
    everything = many(200)
    index.put(everything, [])
    asked = search_query.read(f"{name(7)} file te", UTC)
    units = index.units(asked)
    assert [unit.term for unit in units] == [name(7), "file", "te"]
    for match in index.find(asked, 500).matches:
        of = next(one for one in everything if one.target_id == match.target_id)
        own = scoring.score(units, scoring.fits(of.said, of.level))
        assert match.score == pytest.approx(own, rel=1e-5)
    assert len(units) <= terms.TERMS


def test_small_pieces_are_merged_and_large_ones_left(
    index: NodeIndex, tmp_path: Path
) -> None:
    folder = tmp_path / "index"
    index.put(many(100), [])
    for i in range(60):
        index.put([document(f"x{i}", f"ferry number{i}")], [f"n{i:04}", f"x{i - 1}"])
        assert len(list(folder.glob("*.seg"))) <= 12
    assert found(index, "ferry") == ["x59"]
    assert index.count() == 41
    assert len(found(index, f"{name(70)} {name(71)} {name(72)} ")) == 3
    assert not list(folder.glob("*.tmp"))


@settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(st.sampled_from(['"', "-", "*", ":", "agent:", "after:2025", "評審", " "]))
    .flatmap(lambda signs: st.tuples(st.just(signs), st.text(max_size=30)))
    .map(lambda told: "".join(told[0]) + told[1])
)
def test_any_string_is_answered_in_order(index: NodeIndex, query: str) -> None:
    if not index.count():
        index.put(many(30), [])
    asked = search_query.read(query, UTC)
    answered = index.find(asked, 10).matches
    values = [match.score for match in answered]
    assert values == sorted(values, reverse=True)
    assert all(0 < value < 1 for value in values)
    assert isinstance(index.suggestion(asked, has_few=True), str)
