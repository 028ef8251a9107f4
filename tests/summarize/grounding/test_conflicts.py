"""Bullets whose words are in the source, which says otherwise."""

from dataclasses import replace

import pytest

from memtui.model.events import Event, EventRole
from memtui.model.summaries import DraftBullet
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
            "The bilge is to be emptied before the tank is sealed.",
            "The tank is to be sealed before the bilge is emptied.",
        ),
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
        ("All buoys were cleaned.", "All buoys except the red one were cleaned."),
        ("The bell was hung.", "The bell still has to be hung."),
    ],
)
def test_the_words_are_there_but_say_otherwise(false: str, true: str) -> None:
    wrong = verdict(false, TALK)
    assert wrong.support is Support.WEAK, wrong.features
    right = verdict(true, TALK)
    assert not right.features.is_contradicted, right.features


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
