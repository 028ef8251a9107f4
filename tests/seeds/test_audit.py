"""The rows of the audit: what verdicts catch and let pass (A1, A2)."""

from collections.abc import Sequence

import pytest

from memtui.model.events import Event, EventRole
from memtui.model.nodes import DraftBullet
from memtui.model.verdicts import Support
from memtui.summarize.grounding import checks
from memtui.summarize.grounding.passages import Evidence
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


def check(text: str, events: Sequence[Event]) -> Support:
    """Return the verdict on a model's line."""
    (bullet,) = checks.ground_bullets([DraftBullet(text)], Evidence(events))
    return bullet.verdict.support


@pytest.mark.parametrize(
    "bullet",
    [
        "The session cache uses Memcached.",
        "Postgres is the session cache.",
        "The sessions are cached in Postgres.",
        "The change was reviewed by Miguel.",
        "Redis was added as the session cache, reviewed by Miguel.",
        "Miguel reviewed the change before it was merged.",
        "Travis failed twice, so the build was moved to Buildkite.",
        "Redis was not added as the session cache.",
        "The migration 0042_sessions was applied successfully.",
        "The migration 0043_sessions failed because the table exists.",
        "The build on Jenkins failed three times.",
        "The change was merged before Carmen reviewed it.",
    ],
)
def test_a1_a_false_bullet_is_not_supported(bullet: str) -> None:
    assert check(bullet, list_events()) is not Support.SUPPORTED


@pytest.mark.parametrize(
    "bullet",
    [
        "Redis was added as the session cache.",
        "The session cache uses Redis.",
        "The sessions are cached in Redis, and the timeout was increased.",
        "Carmen reviewed the change before the merge.",
        "Reviewed by Carmen before the merge",
        "The build was moved from Jenkins to Buildkite.",
        "Build moved to Buildkite after it failed twice on Jenkins",
        "Migration 0042_sessions failed, as the table exists already.",
    ],
)
def test_a2_a_true_paraphrase_is_supported(bullet: str) -> None:
    assert check(bullet, list_events()) is Support.SUPPORTED


@pytest.mark.parametrize(
    ("source", "bullet", "is_true"),
    [
        ("Let me change all the labels.", "All the labels were changed.", False),
        ("I am checking the docs and scripts.", "Docs and scripts were checked.", True),
        (
            "The wrapper still executes the generated hook.",
            "The wrapper no longer executes the generated hook.",
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
def test_a1_and_a2_what_is_planned_kept_or_pushed(
    source: str, bullet: str, is_true: bool
) -> None:
    events = [make_message(source, role=ASSISTANT)]
    assert (check(bullet, events) is Support.SUPPORTED) is is_true
