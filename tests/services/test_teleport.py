"""Teleport: searching nodes and grips."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from memtui.model.hit import HitKind
from memtui.workspace import Workspace


def titles(workspace: Workspace, query: str) -> list[str]:
    return [hit.title for hit in workspace.teleport.find(query).hits]


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("mutex tabs", "mutex"),
        ("redirect_uri_mismatch", "redirect_uri_mismatch"),
        ("memchr", "memchr"),
        ("memch", "memchr"),
        ("评审", "评审"),
        ("OAUTH_REDIRECT_URI https", "https"),
        ("customers migration", "migration"),
    ],
)
def test_words_find_the_texts_that_have_them(
    full_workspace: Workspace, query: str, word: str
) -> None:
    hits = full_workspace.teleport.find(query).hits
    # Of each conversation a segment, its day and a quote may be hits.
    best: dict[str, str] = {}
    for hit in hits:
        best.setdefault(hit.opens, hit.snippet.text.lower())
    assert any(word.lower() in text for text in [*best.values()][:3])


def test_matching_words_are_marked(full_workspace: Workspace) -> None:
    hit = full_workspace.teleport.find("mutex").hits[0]
    marked = {hit.snippet.text[a:b].lower() for a, b in hit.snippet.marks}
    assert marked == {"mutex"}


def test_grips_and_nodes_are_found(
    full_workspace: Workspace,
) -> None:
    hits = full_workspace.teleport.find("token refresh").hits
    assert {hit.kind for hit in hits} == {HitKind.NODE, HitKind.GRIP}
    scores = [hit.score for hit in hits]
    assert all(0 < score <= 1 for score in scores)


def test_more_words_score_higher(full_workspace: Workspace) -> None:
    whole = full_workspace.teleport.find("sliding window").hits[0].score
    partly = full_workspace.teleport.find("sliding zeppelin").hits[0].score
    assert whole > partly


@hypothesis_settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(query=st.text(max_size=40))
def test_any_string_is_a_query(full_workspace: Workspace, query: str) -> None:
    assert full_workspace.teleport.find(query).query == query


@pytest.mark.parametrize(
    "query",
    ["", "   ", "the of and", "'\"([{*?~^:\\/", "NOT AND OR", "x" * 10_000, "🚀"],
)
def test_odd_queries_are_answered(full_workspace: Workspace, query: str) -> None:
    assert isinstance(titles(full_workspace, query), list)


def test_phrase_is_found_word_for_word(full_workspace: Workspace) -> None:
    assert full_workspace.teleport.find('"sliding window"').hits
    assert full_workspace.teleport.find('"window sliding"').hits == ()
    assert full_workspace.teleport.find("window sliding").hits


def test_word_with_a_star_is_a_prefix_anywhere(
    full_workspace: Workspace,
) -> None:
    assert full_workspace.teleport.find("mut* tabs ").hits[0].score > 0
    best = full_workspace.teleport.find("migrat* postgres ").hits[0]
    assert "migrat" in best.snippet.text.lower()


def test_search_works_on_another_thread(full_workspace: Workspace) -> None:
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(full_workspace.teleport.find, "mutex zeppelin").result()
    assert answer.hits
    assert answer.notes == ()
