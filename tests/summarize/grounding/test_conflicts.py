"""Bullets whose words are in the source, which says otherwise."""

from dataclasses import replace

import pytest

from memtui.model.events import Event, EventRole
from memtui.model.nodes import DraftBullet
from memtui.model.verdicts import Support, Verdict
from memtui.summarize.grounding import claims
from tests.message_factory import make_message

USER, ASSISTANT = EventRole.USER, EventRole.ASSISTANT


def events(*said: tuple[EventRole, str]) -> list[Event]:
    return [make_message(text, at, role=role) for at, (role, text) in enumerate(said)]


def verdict(bullet: str, source: list[Event]) -> Verdict:
    (found,) = claims.check_against_events([DraftBullet(bullet)], source)
    return found


TALK = events(
    (
        USER,
        "Should we move the wharf timetable to Tuesday? Raise the harbour fee, too.",
    ),
    (ASSISTANT, "I repainted the lighthouse and sorted the ropes. Ines wrote the log."),
    (ASSISTANT, "I would check whether the crane was repaired. I'll oil the winch."),
    (ASSISTANT, "Olga will steer the ferry, and Piet only if she is ill."),
    (USER, "The jetty takes 30 boats. The quay takes 12 boats."),
    (ASSISTANT, "I replaced the rope with a chain. Paint the deck, then oil the mast."),
    (ASSISTANT, "All buoys but the red one were cleaned. The bell is not hung yet."),
    (USER, "Empty the bilge first, but leave the hatch, and seal the tank before."),
    (ASSISTANT, "Dora left the pier. We will visit her again in April."),
    (ASSISTANT, "The anchor chain was measured; the anchor winch was greased."),
    (ASSISTANT, "I started the sonar calibration on the trawler."),
    (ASSISTANT, "All pumps run except pump_7."),
    (ASSISTANT, "The map was published to the harbour; the lagoon is next week."),
)


@pytest.mark.parametrize(
    ("false", "true"),
    [
        (
            "The wharf timetable was moved to Tuesday.",
            "The user asked whether to move the wharf timetable to Tuesday.",
        ),
        ("The harbour fee was raised.", "The user asked to raise the harbour fee."),
        ("The crane was repaired.", "The assistant would check the crane's repair."),
        ("The winch was oiled.", "The assistant will oil the winch."),
        (
            "The user repainted the lighthouse and sorted the ropes.",
            "The assistant repainted the lighthouse and sorted the ropes.",
        ),
        ("The assistant wrote the log.", "Ines wrote the log."),
        ("Piet will steer the ferry.", "Olga will steer the ferry."),
        ("Marta will steer the ferry.", "Olga steers the ferry."),
        ("The jetty takes 12 boats.", "The quay takes 12 boats."),
        ("The chain was replaced with a rope.", "A chain replaced the rope."),
        ("The mast was oiled, then the deck was painted.", "Paint the deck first."),
        (
            "Dora was interviewed again in April.",
            "Dora will be visited again in April.",
        ),
        (
            "The anchor chain was measured after the anchor winch was greased.",
            "The anchor chain was measured and the anchor winch greased.",
        ),
        (
            "The sonar calibration on the trawler works.",
            "The sonar calibration on the trawler was started.",
        ),
        ("pump_7 runs.", "All pumps but pump_7 run."),
        (
            "The map was published to the lagoon.",
            "The map was published to the harbour.",
        ),
        ("All buoys were cleaned.", "All buoys except the red one were cleaned."),
        ("The bell was hung.", "The bell still has to be hung."),
    ],
)
def test_the_words_are_there_but_say_otherwise(false: str, true: str) -> None:
    wrong = verdict(false, TALK)
    assert wrong.support is Support.WEAK, wrong.features
    right = verdict(true, TALK)
    assert not right.features.has_mismatch, right.features


CI = events(
    (USER, "How can we cache node modules in CI? Explain how the rate limiter works."),
    (ASSISTANT, "You can cache node modules in CI with actions/cache."),
    (ASSISTANT, "You would set LIMIT_PARTNER in config/limits.yaml to raise it."),
    (ASSISTANT, "I replaced the two uses of Dom.render by createRoot."),
    (ASSISTANT, "The build fails in Chart.tsx. A stored theme wins over the system's."),
    (ASSISTANT, "Now the build succeeds. The cron settings stay as they were."),
    (ASSISTANT, "The sieve works by crossing out the multiples of each prime."),
)


@pytest.mark.parametrize(
    ("false", "true"),
    [
        ("Cached node modules in CI.", "Node modules can be cached in CI."),
        ("The rate limiter is now done.", "The user asked about the rate limiter."),
        ("The rate limiter works.", "Asked how the rate limiter works."),
        (
            "createRoot was replaced by Dom.render.",
            "Dom.render was replaced by createRoot.",
        ),
        (
            "The system's theme takes precedence over a stored one.",
            "A stored theme takes precedence over the system's.",
        ),
        ("The cron settings were changed.", "The cron settings stay."),
        (
            "The sieve of the multiples works now.",
            "The sieve crosses out the multiples of each prime.",
        ),
    ],
)
def test_what_is_only_explained_is_not_supported(false: str, true: str) -> None:
    assert verdict(false, CI).support is not Support.SUPPORTED
    assert verdict(true, CI).support is Support.SUPPORTED


REPLICA = events(
    (USER, "The nightly export crashes with a KeyError since we upgraded pandas."),
    (ASSISTANT, "It allows 100 requests a minute. I changed export_rows()."),
    (ASSISTANT, "The tests are untouched; four snapshots there will need an update."),
    (ASSISTANT, "I upgraded react and react-dom to 19.0.0 and dropped three shims."),
    (ASSISTANT, "I verified in Chrome and Firefox that the flicker is gone."),
    (USER, "Is the lag of Redis a problem with Postgres locks?"),
    (ASSISTANT, "No, the load is at 4 % CPU, and I replaced the lock by a row lock."),
    (USER, "Then mail-02 is next; upgrade it at the weekend."),
)


@pytest.mark.parametrize(
    "true",
    [
        "The nightly export crashed with a KeyError after the pandas upgrade.",
        "It allows 100 requests per minute.",
        "Four snapshots need an update.",
        "React and react-dom were upgraded to 19.0.0.",
        "The flicker is gone in Chrome and Firefox.",
        "The Postgres lock was replaced by a row lock.",
    ],
)
def test_what_the_source_says_in_other_words_is_supported(true: str) -> None:
    assert verdict(true, REPLICA).support is Support.SUPPORTED


def test_a_pronoun_may_stand_for_an_identifier() -> None:
    source = events(
        (USER, "Which of the hosts, mail-02 or web-01, is on Debian 9?"),
        (ASSISTANT, "mail-02, because of rsync."),
        (USER, "Let's upgrade it at the weekend. Greta will be on call."),
    )
    shown = "At the weekend mail-02 will be upgraded, with Greta on call."
    assert verdict(shown, source).support is Support.SUPPORTED


def test_success_is_not_supported_by_a_call_that_failed() -> None:
    call = "Bash: cargo bench harbour\nran for 3 s"
    run = make_message(call, role=EventRole.TOOL, tool="Bash")
    failed = replace(run, metadata={**run.metadata, "is_error": "true"})
    later = make_message(call, 1, role=EventRole.TOOL, tool="Bash")
    claim = "cargo bench harbour passed."
    assert verdict(claim, [failed]).support is Support.WEAK
    assert not verdict(claim, [failed, later]).features.conflicts


@pytest.mark.parametrize(
    ("said", "bullet"),
    [
        ("The reader needs four files.", "The reader requires 4 files."),
        ("All 1,274 boats returned.", "All 1274 boats returned."),
        ("The pump ran for 48 hours.", "The pump ran for forty-eight hours."),
        (
            "We lowered the sail after the storm.",
            "After the storm the sail was lowered.",
        ),
        ("I deleted the old charts.", "The old charts were removed."),
        ("The rudder broke in the storm.", "The storm broke the rudder."),
        ("The gate works; the lock fails.", "The lock fails while the gate works."),
    ],
)
def test_other_words_for_the_same_are_supported(said: str, bullet: str) -> None:
    found = verdict(bullet, events((ASSISTANT, said)))
    assert found.support is Support.SUPPORTED, found.features


def test_a_title_in_capitals_names_nobody() -> None:
    found = verdict("Lighthouse Repainted And Ropes Sorted", TALK)
    assert found.support is Support.SUPPORTED, found.features
