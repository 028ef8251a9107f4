"""Bullets of one node that contradict each other."""

from dataclasses import replace

import pytest

from memtui.model.nodes import Bullet, BulletKind
from memtui.model.verdicts import EventQuote, Support, Verdict
from memtui.services import versions
from memtui.summarize.grounding import matching


def bullet(text: str, event: int = 0, project: str = "") -> Bullet:
    spans = (EventQuote(f"{event:026}", 0, 1, ""),)
    verdict = Verdict(Support.SUPPORTED, spans=spans)
    return Bullet(text, ("grip:1",), verdict, BulletKind.NOTE, project)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Tests pass", "Tests fail"),
        ("Timeout is 30 s", "Timeout is 60 s"),
        ("The server listens on port 8080", "The server listens on port 9090"),
        ("Chose Redis", "Dropped Redis for Memcached"),
        (
            "We chose Redis for the sessions because it runs already.",
            "We decided against Redis for the sessions because its license changed.",
        ),
        ("The cache is enabled", "The cache is not enabled"),
        ("The cache is enabled.", "The cache is disabled."),
        ("Added a login page", "Removed the login page"),
        ("Replaced Redis with Postgres", "Replaced Postgres with Redis"),
    ],
)
def test_bullets_that_contradict_each_other(one: str, other: str) -> None:
    assert matching.contradicts(one, other)
    assert matching.contradicts(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("All 12 tests pass", "All 14 tests pass"),
        ("Added tests for login", "Removed dead code"),
        ("Ran pytest: 12 passed", "Tests fail on Windows"),
        ("The export works now", "The import fails on Windows"),
        ("Fixed the login timeout of 30 s", "Added a session timeout of 60 s"),
        ("The migration is not run yet", "The migration guide was written"),
        ("Added an index on item.kind", "Removed the index on item.price"),
        ("The upload fails before login", "The upload works after login"),
    ],
)
def test_other_bullets_do_not(one: str, other: str) -> None:
    assert not matching.contradicts(one, other)
    assert not matching.contradicts(other, one)


def test_the_newest_comes_first_in_the_place_of_the_first() -> None:
    before = [
        bullet("The export is done", 1),
        bullet("Tests pass", 2),
        bullet("The docs are online", 3),
        bullet("Tests fail", 9),
    ]
    after = matching.mark_contradictions(before)
    assert [one.text for one in after] == [
        "The export is done",
        "Tests fail",
        "Tests pass",
        "The docs are online",
    ]
    reasons = [versions.explain_contradiction(one) for one in after]
    assert reasons == ["", "contradicts “Tests pass”", "contradicts “Tests fail”", ""]


def test_bullets_of_different_projects_do_not_contradict_each_other() -> None:
    before = (bullet("Tests pass", 1, "shop"), bullet("Tests fail", 2, "ferry"))
    assert matching.mark_contradictions(before) == before


def test_quotations_of_one_message_do_not_contradict_each_other() -> None:
    removed, added = (
        replace(bullet(text, 1), kind=BulletKind.QUOTE)
        for text in ("Removed the login page", "Added a login page")
    )
    assert matching.mark_contradictions((removed, added)) == (removed, added)
    later = replace(bullet(added.text, 2), kind=BulletKind.QUOTE)
    found = matching.mark_contradictions((removed, later))
    assert all(one.verdict.contradiction for one in found)
