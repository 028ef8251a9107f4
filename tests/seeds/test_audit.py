"""The rows of the audit: what verdicts catch and let pass (A1, A2, A4, A5)."""

from dataclasses import replace

import pytest

from memtui.model.events import Event, EventRole
from memtui.model.nodes import BulletKind, DraftBullet, GenerationStats, Summary
from memtui.model.verdicts import Support
from memtui.summarize import acceptance, extractive
from memtui.summarize.acceptance import GroundedSummary
from memtui.summarize.grounding import claims
from tests.message_factory import make_message

USER, ASSISTANT = EventRole.USER, EventRole.ASSISTANT

CONVERSATION = [
    (USER, "The sessions must be cached. Please use Redis for it."),
    (
        ASSISTANT,
        "I added Redis as the session cache and raised the timeout. Carmen reviewed the"
        " change before it was merged.",
    ),
    (USER, "Was the migration 0042_sessions applied?"),
    (
        ASSISTANT,
        "No, the migration 0042_sessions failed because the table exists. The build on"
        " Jenkins failed twice, so I moved it to Buildkite.",
    ),
]


def list_events() -> list[Event]:
    return [
        make_message(text, 60 * at, role=role)
        for at, (role, text) in enumerate(CONVERSATION)
    ]


def check(bullet: str) -> Support:
    (verdict,) = claims.check_against_events([DraftBullet(bullet)], list_events())
    return verdict.support


@pytest.mark.parametrize(
    "bullet",
    [
        "Memcached was added as the session cache.",
        "The session cache uses Memcached.",
        "Postgres is the session cache.",
        "The sessions are cached in Postgres.",
        "The change was reviewed by Miguel.",
        "Redis was added as the session cache, reviewed by Miguel.",
        "Miguel reviewed the change before it was merged.",
        "Redis was added by Carmen.",
        "Travis failed twice, so the build was moved to Buildkite.",
        "The build was moved from Buildkite to Jenkins.",
        "The build was moved to Jenkins.",
        "The user added Redis as the session cache.",
        "Redis was not added as the session cache.",
        "The migration 0042_sessions was applied successfully.",
        "The migration 0043_sessions failed because the table exists.",
        "The build on Jenkins failed three times.",
        "The change was merged before Carmen reviewed it.",
    ],
)
def test_a1_a_false_bullet_is_not_supported(bullet: str) -> None:
    assert check(bullet) is not Support.SUPPORTED


@pytest.mark.parametrize(
    "bullet",
    [
        "Redis was added as the session cache.",
        "The session cache uses Redis.",
        "Caching of sessions with Redis",
        "The sessions are cached in Redis, and the timeout was increased.",
        "Carmen reviewed the change before the merge.",
        "Reviewed by Carmen before the merge",
        "The build was moved from Jenkins to Buildkite.",
        "Build moved to Buildkite after it failed twice on Jenkins",
        "Migration 0042_sessions failed, as the table exists already.",
    ],
)
def test_a2_a_true_paraphrase_is_supported(bullet: str) -> None:
    assert check(bullet) is Support.SUPPORTED


@pytest.mark.parametrize(
    ("source", "bullet", "is_true"),
    [
        ("Let me change all the labels.", "All the labels were changed.", False),
        (
            "I'll inspect the failed run and workflow, then patch the release path.",
            "The release path of the workflow was patched.",
            False,
        ),
        ("I am checking the docs and scripts.", "Docs and scripts were checked.", True),
        (
            "The user wants all of these to say close on this page.",
            "All pages say close.",
            False,
        ),
        (
            "The badge was removed from all rows of the list.",
            "The badge was removed from all rows of the list but the first.",
            False,
        ),
        (
            "The badge of the list was removed from all rows.",
            "Rows of the list no longer have a badge.",
            True,
        ),
        (
            "The wrapper still executes the generated hook.",
            "The wrapper no longer executes the generated hook.",
            False,
        ),
        (
            '`FileRow` uses "Browse" while `ItemRow` uses "Display".',
            'ItemRow uses "Browse" while FileRow uses "Display".',
            False,
        ),
        (
            "The change is committed to the main branch here.",
            "The change was pushed to the main branch.",
            False,
        ),
        (
            "Cost is displayed at lines 582-593 without a check.",
            "Lines 582 to 593 display the cost without a check.",
            True,
        ),
    ],
)
def test_a1_and_a2_what_is_planned_excepted_removed_or_paired(
    source: str, bullet: str, is_true: bool
) -> None:
    events = [make_message(source, role=ASSISTANT)]
    (verdict,) = claims.check_against_events([DraftBullet(bullet)], events)
    assert (verdict.support is Support.SUPPORTED) is is_true


def fill(*bullets: DraftBullet) -> GroundedSummary:
    """Ground a model's draft and add what it lacks, as the pipeline does."""
    events = list_events()
    written = Summary("Session cache", bullets, generation=GenerationStats("model"))
    extract = acceptance.ground_segment(
        extractive.summarize_segment(events), events, node_id="n"
    )
    return acceptance.ground_segment(written, events, node_id="n").with_extract(extract)


ASKED = DraftBullet("Cache the sessions in Redis.", (0,), BulletKind.ASKED)
OUTCOME = DraftBullet("Redis was added as the session cache.", (1,), BulletKind.OUTCOME)


def test_a4_a_weak_line_of_a_model_does_not_replace_that_of_the_extract() -> None:
    claim = "The migration 0042_sessions was applied successfully."
    false = replace(OUTCOME, text=claim)
    found = fill(ASKED, false)
    assert claim not in [one.text for one in found.bullets]
    assert claim in [one.text for one in found.withheld]
    assert OUTCOME.text in [one.text for one in fill(ASKED, OUTCOME).bullets]


def test_a5_a_version_with_mostly_weak_lines_is_rejected() -> None:
    weak = [
        replace(OUTCOME, text=text, kind=kind)
        for text, kind in (
            ("Memcached was added as the session cache.", BulletKind.OUTCOME),
            ("Miguel reviewed the change before it was merged.", BulletKind.DECISION),
            ("Postgres is the session cache.", BulletKind.LEFT_OPEN),
        )
    ]
    assert fill(ASKED, *weak).rejection
    assert not fill(ASKED, OUTCOME).rejection
