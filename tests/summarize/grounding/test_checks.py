"""Verdicts on what a model wrote, and the exact reasons to withhold it."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import handwritten
from memtui.model.events import Event, EventRole, EventType
from memtui.model.nodes import DraftBullet
from memtui.model.verdicts import Objection, Support
from memtui.model.work import Commit, Facts, Line, PullRequest
from memtui.summarize.grounding import checks
from memtui.summarize.grounding.checks import ALL_RULES, GroundedBullet, Rule
from memtui.summarize.grounding.passages import Evidence, TextIndex

START = datetime(2024, 1, 15, 9, tzinfo=UTC)
USER, ASSISTANT, TOOL = EventRole.USER, EventRole.ASSISTANT, EventRole.TOOL
TYPES = {
    USER: EventType.USER_MESSAGE,
    ASSISTANT: EventType.ASSISTANT_MESSAGE,
    TOOL: EventType.TOOL_RESULT,
}
TALK = (
    (USER, "The login page shows a blank screen. Ask Paul for the certificate."),
    (ASSISTANT, "src/router.py drops the session cookie in 3 of 12 tests."),
    (TOOL, "Bash: pytest tests/router\n1,290 passed in 9 minutes"),
    (USER, "Should we stop the nightly import job?"),
    (ASSISTANT, "`Ledger.total` rounds the sum once. I did not rename the report."),
    (USER, "Greta needs the report in the Frankfurt office, Paul can wait."),
)


def conversation(talk: tuple[tuple[EventRole, str], ...] = TALK) -> list[Event]:
    return [
        Event(
            event_id=f"{at:026}",
            session_id="s1",
            timestamp=START + timedelta(minutes=at),
            event_type=TYPES[role],
            role=role,
            text=text,
            agent="codex",
        )
        for at, (role, text) in enumerate(talk)
    ]


def ground(
    *texts: str, facts: Facts | None = None, lines: tuple[Line, ...] = ()
) -> list[GroundedBullet]:
    evidence = Evidence(conversation(), lines, facts or Facts())
    return checks.ground_bullets(list(map(DraftBullet, texts)), evidence)


@pytest.mark.parametrize(
    "text",
    [
        "The session cookie is dropped by src/router.py in 3 of 12 tests",
        "Dropped session cookies in three of twelve tests (router.py)",
        "1290 tests passed in nine minutes",
        "The user said that the login page shows a blank screen",
        "Ledger.total rounds the sum once; the login page shows a blank screen",
    ],
)
def test_what_was_said_is_supported(text: str) -> None:
    (grounded,) = ground(text)
    assert grounded.verdict.support is Support.SUPPORTED, grounded.verdict
    assert grounded.verdict.is_by_model
    assert grounded.best is not None
    assert grounded.excerpt in grounded.best.text
    span = grounded.verdict.spans[0]
    assert span.matches(
        next(e.text for e in conversation() if e.event_id == span.event_id)
    )


@pytest.mark.parametrize(
    ("text", "missing", "rule"),
    [
        ("src/router.py drops the session cookie in 9 of 12 tests", "9", Rule.NUMBERS),
        ("The session cookie is dropped, Ledger.total", "Ledger.total", Rule.NAMES),
        (
            "src/router.py drops the cookie in 3 of 12 minutes",
            "12 minutes",
            Rule.COUNTED,
        ),
        ("src/router.py drops the session cookie in 12 of 3 tests", "3", Rule.COUNTED),
        ("Paul needs the report in the office", "Paul", Rule.OTHER_NAME),
        (
            "src/router.py drops the session cookie in 3 of 12 tests, which cost the"
            " largest contract",
            "which cost the largest contract",
            Rule.INVENTED,
        ),
        ("Miguel wants a report in the Frankfurt office", "Miguel", Rule.INITIAL),
    ],
)
def test_what_is_missing_is_named(text: str, missing: str, rule: Rule) -> None:
    index = Evidence(conversation())
    features = checks.check_text(text, index).features
    assert any(name.startswith(missing) for name in features.missing), features
    features = checks.check_text(text, index, rules=ALL_RULES - {rule}).features
    assert not any(name.startswith(missing) for name in features.missing), features


@pytest.mark.parametrize(
    ("text", "conflict", "rule"),
    [
        ("The nightly import job was stopped", checks.NOT_DONE, Rule.PLANNED),
        ("The assistant renamed the report", checks.NEGATED, Rule.NEGATION),
        ("Ledger.total does not round once", checks.NEGATED, Rule.NEGATION),
        (
            "The assistant asked Paul for the certificate",
            checks.OTHER_SPEAKER,
            Rule.SPEAKER,
        ),
    ],
)
def test_what_the_wording_contradicts_is_weak(
    text: str, conflict: str, rule: Rule
) -> None:
    index = Evidence(conversation())
    verdict = checks.check_text(text, index)
    assert verdict.support is Support.WEAK
    assert conflict in verdict.features.conflicts
    verdict = checks.check_text(text, index, rules=ALL_RULES - {rule})
    assert conflict not in verdict.features.conflicts


@pytest.mark.parametrize(
    ("text", "objection", "words"),
    [
        ("The login page was blank for 47 days", Objection.NUMBER, ("47 days",)),
        ("The login page is blank since 2.5.1", Objection.NUMBER, ("2.5.1",)),
        ("The login page is in src/login.py", Objection.NAME, ("src/login.py",)),
        ("The login page uses getUserName", Objection.NAME, ("getUserName",)),
        ("The login page was shown to Ingrid", Objection.NAME, ("Ingrid",)),
        (
            "lib/src/admin/router.py is blank",
            Objection.NAME,
            ("lib/src/admin/router.py",),
        ),
        ("The router was merged", Objection.AGAINST_FACTS, ("merged",)),
        ("The", Objection.EMPTY, ()),
        ("The page is blank for a GREAT many", Objection.NAME, ("GREAT",)),
        # None of these is nowhere:
        ("The login page was blank five times", Objection.NONE, ()),
        ("1290 tests of app/src/router.py pass", Objection.NONE, ()),
        ("ledger_total rounds, as the report says", Objection.NONE, ()),
        ("Blank Login Page After Redirecting To Dashboard", Objection.NONE, ()),
        ("The page is to be merged", Objection.NONE, ()),
        ("The page was not merged", Objection.NONE, ()),
    ],
)
def test_only_exact_reasons_withhold_a_line(
    text: str, objection: Objection, words: tuple[str, ...]
) -> None:
    assert checks.find_objection(text, Evidence(conversation())) == (objection, words)


@pytest.mark.parametrize(
    ("facts", "said", "text", "is_withheld"),
    [
        (Facts(), "Please merge the branch.", "The branch was merged", True),
        (Facts(), "I merged the branch.", "The branch was merged", False),
        (Facts(merges=(Line("#7", "e"),)), "Well.", "The branch was merged", False),
        (Facts(commits=(Commit("Fix", "e"),)), "x", "The branch was pushed", True),
        (Facts(commits=(Commit("Fix", "e"),)), "x", "The fix was committed", False),
        (Facts(pull_requests=(PullRequest("Fix", "e"),)), "x", "Pushed the fix", False),
        (Facts(), "Should it be deployed today?", "It was deployed today", True),
        (Facts(), "It has been deployed.", "It was deployed today", False),
    ],
)
def test_deeds_are_shown_by_facts_or_words(
    facts: Facts, said: str, text: str, is_withheld: bool
) -> None:
    evidence = Evidence(conversation(((ASSISTANT, said),)), facts=facts)
    objection, _ = checks.find_objection(text, evidence)
    assert (objection is Objection.AGAINST_FACTS) is is_withheld


def test_a_line_that_denies_an_earlier_one_does_not_repeat_it() -> None:
    plain, same, denied = ground(
        "Ledger.total rounds the sum once",
        "Ledger.total rounds the sum once",
        "Ledger.total does not round the sum once",
    )
    assert plain.verdict.objection is Objection.NONE
    assert same.verdict.objection is Objection.REPEATED
    assert denied.verdict.objection is Objection.NONE
    assert denied.verdict.features.conflicts == (checks.NEGATED,)


def test_withheld_lines_are_unsupported_and_say_why() -> None:
    kept, other, again, far = ground(
        "src/router.py drops the session cookie in 3 of 12 tests",
        "src/router.py drops the session cookie in 99 tests",
        "The session cookie is dropped by src/router.py in tests",
        "Elephants migrate towards distant rivers",
    )
    assert kept.verdict.objection is Objection.NONE
    assert other.verdict.features.missing == ("99 tests",)
    assert again.verdict.objection is Objection.REPEATED
    assert far.verdict.objection is Objection.NO_SOURCE
    for bullet in (other, again, far):
        assert bullet.verdict.support is Support.UNSUPPORTED
    assert (far.first, far.best, far.excerpt) == (None, None, "")


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("The user asked the assistant to fix the login page", "Fix the login page"),
        ("In this session, the login page was fixed", "The login page was fixed"),
        ("The assistant then rewrote the login page", "Rewrote the login page"),
        (
            "The assistant is slow on login pages",
            "The assistant is slow on login pages",
        ),
        ("The user asked whether login works", "The user asked whether login works"),
        ("The assistant fixed", "The assistant fixed"),
    ],
)
def test_a_narrating_opening_is_cut_off(text: str, cut: str) -> None:
    assert checks.cut_narration(text) == cut


def test_a_line_is_moved_to_the_event_that_says_it() -> None:
    events = conversation()
    draft = DraftBullet("Ledger.total rounds once", (events[0].event_id,))
    (grounded,) = checks.ground_bullets([draft], Evidence(events))
    assert grounded.best is events[4]
    assert grounded.verdict.is_repaired


def test_the_lines_of_a_roll_up_are_checked_against_those_below() -> None:
    lines = ["Faster import: 3 of 12 files are read once", "Login: the cookie is kept"]
    drafts = [
        "The cookie is kept at login",
        "40 files are read once",
        "Login cookie kept",
    ]
    grounded = checks.ground_lines(list(map(DraftBullet, drafts)), lines)
    assert grounded[0].support is Support.SUPPORTED
    assert [quote.index for quote in grounded[0].quotes] == [1]
    assert grounded[1].objection is Objection.NUMBER
    assert grounded[2].objection is Objection.REPEATED


@given(st.lists(st.text(max_size=80), max_size=4), st.text(max_size=80))
def test_any_text_has_a_verdict(texts: list[str], bullet: str) -> None:
    checks.check_text(bullet, TextIndex(texts))
    checks.find_objection(bullet, TextIndex(texts))
    checks.cut_narration(bullet)


def test_verdicts_on_bullets_written_by_hand_do_not_become_worse() -> None:
    judged = list(handwritten.verdicts())
    false = [verdict.support for bullet, verdict in judged if not bullet.is_true]
    true = [verdict for bullet, verdict in judged if bullet.is_true]
    assert len(false) == len(true) == 250
    assert false.count(Support.SUPPORTED) <= 0.29 * len(false)
    supported = [verdict for verdict in true if verdict.support is Support.SUPPORTED]
    assert len(supported) >= 0.50 * len(true)
    assert sum(bool(verdict.objection) for verdict in true) <= 0.02 * len(true)
