"""Claimed actions are checked against tool calls."""

from datetime import UTC, datetime, timedelta

import pytest

from memtui.model import events
from memtui.model.events import Event, EventType
from memtui.model.nodes import DraftBullet
from memtui.model.verdicts import Support, Verdict
from memtui.summarize.grounding import claims
from memtui.summarize.grounding.passages import PassageIndex

TEXTS = [
    "Please do not touch schema.sql, and never run npm publish; read migrations.py.",
    "I looked at migrations.py and schema.sql without changing anything.",
    "The user asked whether to commit “Drop the users table”; I refused and left it.",
    "Bash: npm run build\nbuild finished without errors in 12 seconds, 0 warnings",
    "Read: /repo/src/schema.sql\ncreate table users",
    "Edit: /repo/src/ledger.py\nupdated",
    "Write: /repo/docs/notes.md\ncreated",
    "Bash: cd /repo && go test ./...\nERROR: ledger_test.go: totals differ",
    'Bash: git commit -m "Round totals once"\n[main 1a2b3c4] Round totals once',
    "I updated invoices.py so that it rounds once. npm ci is run by the server.",
    "The nightly job failed: the disk of the build server is full.",
]


def verdict(bullet: str, *refs: int) -> Verdict:
    return claims.check_bullet(DraftBullet(bullet, refs), PassageIndex(TEXTS))


@pytest.mark.parametrize(
    ("bullet", "verb"),
    [
        ("Edited schema.sql", "Edited"),
        ("Changed schema.sql", "Changed"),
        ("Deleted schema.sql", "Deleted"),
        ("The assistant edited schema.sql", "edited"),
        ("Edited ledger.py, schema.sql", "Edited"),
        ("Edited ledger.py and schema.sql", "Edited"),
        ("Wrote migrations.py", "Wrote"),
        ("Wrote ledger.py", "Wrote"),
        ("Edited ledger.py; ran npm publish", "ran"),
        ("Ran npm publish", "Ran"),
        ("Ran npm ci", "Ran"),
        ("npm run build failed", "failed"),
        (
            "npm run build failed: build finished without errors in 12 seconds",
            "failed",
        ),
        ("Committed “Drop the users table”", "committed"),
        ("The assistant committed “Drop the users table”", "committed"),
        ("Committed “Round totals once”; “Drop the users table”", "committed"),
    ],
)
def test_naming_a_file_does_not_prove_an_action(bullet: str, verb: str) -> None:
    found = verdict(bullet)
    assert found.support is Support.WEAK
    assert verb in found.features.missing


@pytest.mark.parametrize("places", [(3,), (0, 1), (4,), ()])
def test_citing_another_event_does_not_prove_an_action(places: tuple[int, ...]) -> None:
    for bullet in ("Edited schema.sql", "npm run build failed: 12 seconds"):
        assert verdict(bullet, *places).support is not Support.SUPPORTED


@pytest.mark.parametrize(
    ("bullet", "places"),
    [
        ("Edited ledger.py", {5}),
        ("Edited src/ledger.py, notes.md; ran npm run build", {3, 5, 6}),
        ("Wrote notes.md", {6}),
        ("Created docs/notes.md", {6}),
        ("Ran npm run build", {3}),
        ("The assistant ran npm run build.", {3}),
        ("Read schema.sql", {4}),
        ("Edited invoices.py", {9}),
        ("go test ./... failed", {7}),
        ("go test ./... failed: ERROR: ledger_test.go: totals differ", {7}),
        ("nightly job failed: the disk of the build server is full", {10}),
        ("Committed “Round totals once”", {8}),
        ("Ran go test and the totals in ledger_test.go differ", {7}),
    ],
)
def test_actions_done_or_stated_are_supported(bullet: str, places: set[int]) -> None:
    found = verdict(bullet)
    assert found.support is Support.SUPPORTED, found.features
    assert {quote.index for quote in found.quotes} == places


def test_a_failure_needs_the_error_its_run_ended_with() -> None:
    bullet = "npm run build failed: I updated invoices.py so that it rounds once"
    assert verdict(bullet).support is not Support.SUPPORTED
    bullet = "go test failed: I updated invoices.py so that it rounds once"
    assert verdict(bullet).support is not Support.SUPPORTED


def run(*calls: tuple[str, str, bool]) -> list[Event]:
    return [
        events.make(
            agent="claude-code",
            session_id="s1",
            timestamp=datetime(2024, 1, 15, 9, tzinfo=UTC) + timedelta(minutes=at),
            event_type=EventType.TOOL_RESULT if tool else EventType.ASSISTANT_MESSAGE,
            text=text,
            metadata={"tool_name": tool} | ({"is_error": "true"} if wrong else {}),
            source_key=str(at),
        )
        for at, (tool, text, wrong) in enumerate(calls)
    ]


def of_events(bullet: str, shown: list[Event]) -> Support:
    return claims.check_against_events([DraftBullet(bullet)], shown)[0].support


def test_failure_of_an_event_follows_from_its_metadata() -> None:
    passed = run(("Bash", "Bash: npm test\nhandles errors: fatal error shown", False))
    failed = run(("Bash", "Bash: npm test\n3 of 12 do not hold", True))
    assert of_events("npm test failed", passed) is Support.WEAK
    assert of_events("npm test failed", failed) is Support.SUPPORTED
    assert of_events("npm test failed: 3 of 12 do not hold", failed) is (
        Support.SUPPORTED
    )


def test_a_pipe_does_not_hide_a_failure() -> None:
    piped = run(("Bash", "Bash: npm test | tail -5\nerror: no such script", False))
    assert of_events("npm test failed", piped) is Support.SUPPORTED


def test_a_failed_edit_does_not_prove_an_edit() -> None:
    refused = run(("Edit", "Edit: /repo/a.py\nString to replace not found", True))
    assert of_events("Edited a.py", refused) is Support.WEAK


def test_a_message_that_looks_like_a_tool_call_is_not_one() -> None:
    said = run(("", "Edit: /repo/a.py\nupdated", False))
    assert of_events("Edited a.py", said) is Support.WEAK


def test_a_command_can_prove_an_edit_or_a_deletion() -> None:
    shown = run(("Bash", "Bash: sed -i s/a/b/ conf.toml && rm old.toml\n", False))
    assert of_events("Edited conf.toml", shown) is Support.SUPPORTED
    assert of_events("Deleted old.toml", shown) is Support.SUPPORTED
    assert of_events("Wrote new.toml", shown) is not Support.SUPPORTED
