"""Titles of segments."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from memtui.model import events
from memtui.model.events import Event, EventType
from memtui.model.nodes import BulletKind
from memtui.summarize import extractive

START = datetime(2024, 1, 15, 9, tzinfo=UTC)
KINDS = {"user": EventType.USER_MESSAGE, "assistant": EventType.ASSISTANT_MESSAGE}


def talk(*turns: tuple[str, str]) -> list[Event]:
    """Events of (who, text); whoever is neither person nor assistant is a tool."""
    return [
        events.make(
            agent="claude-code",
            session_id="s1",
            timestamp=START + timedelta(minutes=at),
            event_type=KINDS.get(who, EventType.TOOL_RESULT),
            text=text,
            source_key=str(at),
            metadata={} if who in KINDS else {"tool_name": who},
        )
        for at, (who, text) in enumerate(turns)
    ]


def title(*turns: tuple[str, str]) -> str:
    return extractive.summarize_segment(talk(*turns)).title


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        (
            "review https://github.com/octo/ferry-api/issues/365 incl comments",
            "Review ferry-api #365 incl comments",
        ),
        (
            "Read https://example.org/guides/caching.html and add an ETag header",
            "Read example.org and add an ETag header",
        ),
        (
            "use the apple container instead of docker. it works the same way",
            "Use the apple container instead of docker",
        ),
        ("can we rebase the ferry branch, please?", "Rebase the ferry branch"),
        ("re-running a day doubles its rows", "Re-running a day doubles its rows"),
        ("csv export times out for accounting", "CSV export times out for accounting"),
        (
            "test_order_expiry fails once a day",
            "test_order_expiry fails once a day",
        ),
        (
            "it seems to work but I've plenty of warnings in the console: arning: "
            "Encountered two children with the same key, so one is left out",
            "I've plenty of warnings in the console",
        ),
        (
            'Change the default report mode to "json"',
            'Change the default report mode to "json"',
        ),
        (
            "/chore I want you to write the harbour handbook for the new crew",
            "Write the harbour handbook for the new crew",
        ),
        (
            "/implement specs/active/2025-11-06-upload-of-timetables.md",
            "Implement 2025-11-06-upload-of-timetables.md",
        ),
        (
            "the mooring list is cut off [Image #1] at the bottom",
            "The mooring list is cut off at the bottom",
        ),
        (
            "let's use the tide tables of 2026 (and why were they left out?)",
            "Use the tide tables of 2026 (and why were they left out?)",
        ),
        (
            "Ok I installed the update and logged in but the tide chart is still empty",
            "The tide chart is still empty",
        ),
        (
            "The base structure of the ferry app is provided. Draw a diagram of the "
            "booking services.",
            "Draw a diagram of the booking services",
        ),
        (
            "Please look at this guide I'm trying to follow and get it going. Starting "
            "it fails: \n\nSign up\n\nTop highlight of the harbour magazine",
            "Look at this guide I'm trying to follow and get it going",
        ),
        (
            "NORTH_HARBOUR.xlsx\n\nThese sheets have wrong names. Rename all sheets of "
            "the northern harbours.",
            "Rename all sheets of the northern harbours",
        ),
        (
            "Take a look at this summary of my chat and try to solve why the ferry mod "
            "is not loaded by the game",
            "Solve why the ferry mod is not loaded by the game",
        ),
        (
            "PS C:\\harbour> ferry gui\nferry: The term 'ferry' is not recognized",
            "Ferry gui ferry: The term 'ferry' is not recognized",
        ),
        (
            "it sure looks like the ferries read another timetable "
            "than ours. this is from the run: build-and-test\n"
            "Finding the timetable to read\nSetting up the ferry",
            "The ferries read another timetable than ours",
        ),
        (
            "I've run the import and now got these logs ending with a lock issue: "
            "[Harbour] north: waiting for the lock of the timetable",
            "Got these logs ending with a lock issue",
        ),
        (
            "We're now getting this ferry error:\n\n## Error Message\nModule "
            "harbour.js was instantiated because it was required from quay.js.",
            "We're now getting this ferry error",
        ),
        (
            "we just got the shipment for the summer fair. can you write a note that "
            "asks parents to help with the packets?",
            "Write a note that asks parents to help with the packets",
        ),
        (
            "okay, the ferries sail as before and you see their scripts what we want "
            "to do now is use the simulator to test the northern harbour",
            "Use the simulator to test the northern harbour",
        ),
        (
            "The harbour report of this winter lists the ferries by the number of the "
            "passengers that the northern islands sent",
            "The harbour report of this winter lists the ferries by the number…",
        ),
        (
            "mail the harbour report to ada@example.org when the ferries are in",
            "Mail the harbour report to ada@example.org when the ferries are in",
        ),
        (
            "os dados das marés não estão sendo salvos",
            "Os dados das marés não estão sendo salvos",
        ),
        (
            "ok now - [ ] **Harbour agent** (`agents/harbour.md`)\n  - Berths",
            "Harbour agent (`agents/harbour.md`)",
        ),
        (
            "1. Duplicate rows in the ferry timetable",
            "Duplicate rows in the ferry timetable",
        ),
    ],
)
def test_a_title_is_short_and_specific(request_text: str, expected: str) -> None:
    assert title(("user", request_text)) == expected


def test_a_number_in_pasted_output_is_no_issue() -> None:
    request = "The ferry build fails [Image #3]: " + "step done\n" * 40 + "see #15"
    assert title(("user", request)) == "The ferry build fails"


def test_work_without_a_request_is_named_by_its_outcome() -> None:
    assert (
        title(
            ("Write", "Write: /app/ratelimit.py\nok"),
            ("assistant", "I've successfully implemented rate limits for bookings."),
        )
        == "Implemented rate limits for bookings"
    )


def test_an_announcement_of_the_agent_is_no_title() -> None:
    run = talk(("user", "continue"), ("assistant", "I'll look at it."))
    assert extractive.summarize_segment(run).title == "continue"


def test_small_talk_is_skipped_for_the_request_after_it() -> None:
    assert (
        title(
            ("user", "ahhhh. now i've got it. main is now fixed"),
            ("user", "how's it going?"),
            ("user", "now write the harbour report"),
        )
        == "Write the harbour report"
    )


def test_a_commit_is_a_better_title_than_a_vague_request() -> None:
    assert (
        title(
            ("user", "this should be hidden in cloud mode"),
            ("Bash", "Bash: git commit\n[main 1a2b3c4] Hide the cost in cloud mode"),
        )
        == "Hide the cost in cloud mode"
    )


@pytest.mark.parametrize(
    "first", ["What is the port of the ferry server?", "Read the plan of the harbour"]
)
def test_a_question_or_a_preparation_gives_way_to_work(first: str) -> None:
    order = ("user", "Scan the harbour code for unused functions")
    commit = ("Bash", "Bash: git commit\n[main 1a2b3c4] refactor: drop unused berths")
    assert title(("user", first)) == first
    assert title(("user", first), order) == order[1]
    assert title(("user", first), commit) == "Drop unused berths"


def test_of_several_questions_the_one_that_took_most_work_is_the_title() -> None:
    second = "Did you test the login of the ferry with a browser?"
    calls = [("Bash", "Bash: ls\na.py")] * 4
    turns = [("user", "Which port does the ferry server use?"), ("user", second)]
    assert title(*turns, *calls, ("user", "Which browser do you use here?")) == second


def test_a_request_that_took_little_work_is_not_the_title() -> None:
    small = ("user", "Update my name in the settings of git")
    order = ("user", "Scan the harbour code for unused functions")
    calls = [("Bash", "Bash: ls\na.py")] * 19
    assert title(small, ("Bash", "Bash: git config"), order, *calls) == order[1]
    assert title(small, ("Bash", "Bash: git config"), order) == small[1]


def test_of_several_commits_the_main_one_is_the_title() -> None:
    commits = [
        ("Bash", f"Bash: git commit\n[main 1a2b3c4] {subject}")
        for subject in ("docs: list the berths", "Add berths to the harbour", "Typo")
    ]
    assert title(("user", "go on"), *commits) == "Add berths to the harbour"


def committed(answer: str, **metadata: str) -> str:
    command = (
        "git commit -m \"$(cat <<'EOF'\nRound invoices once\n\nLong story.\nEOF\n)\""
    )
    call = events.make(
        agent="claude-code",
        session_id="s1",
        timestamp=START,
        event_type=EventType.TOOL_RESULT,
        text=f"Bash: {' '.join(command.split())}\n{answer}",
        source_key="c",
        metadata={
            "tool_name": "Bash",
            "tool_input": json.dumps({"command": command}),
            **metadata,
        },
    )
    run = [*talk(("user", "Move the tide tables to another folder")), call]
    bullets = extractive.summarize_segment(run).bullets
    return " ".join(one.text for one in bullets if one.kind is BulletKind.COMMIT)


def test_a_quiet_commit_is_described_by_its_message() -> None:
    assert "Round invoices once" in committed("ok 1 file changed")


def test_a_failed_commit_is_not_listed_as_made() -> None:
    assert committed("hook failed", is_error="true") == ""
    assert committed("nothing to commit, working tree clean") == ""


def test_a_late_request_does_not_name_the_continued_work_before_it() -> None:
    before = talk(("user", "Import the timetable of the northern harbours"))
    edits = [("Edit", f"Edit: /app/step{at}.py\nok") for at in range(8)]
    after = talk(*edits, ("user", "Translate the error messages too"))
    assert (
        extractive.summarize_segment(after, before).title
        == "Import the timetable of the northern harbours (continued)"
    )
    assert (
        extractive.summarize_segment(after).title == "Translate the error messages too"
    )


def test_a_vague_segment_is_named_after_the_request_it_continues() -> None:
    before = talk(("user", "Import the timetable of the northern harbours"))
    after = talk(
        ("user", "continue"),
        ("assistant", "### Step 4: Rewrite the tide table parser\n\nDone."),
    )
    assert (
        extractive.summarize_segment(after, before).title
        == "Import the timetable of the northern harbours (continued)"
    )


def test_a_segment_does_not_continue_a_question_about_earlier_work() -> None:
    request = ("user", "Import the timetable of the northern harbours")
    question = ("user", "Does the parser accept tide tables of other harbours?")
    edits = talk(("Edit", "Edit: /app/tide.py\nok"))
    title = extractive.summarize_segment(edits, talk(question, request)).title
    assert title == "Import the timetable of the northern harbours (continued)"
    title = extractive.summarize_segment(edits, talk(question)).title
    assert title.startswith("Does the parser accept tide tables")


def test_a_continued_segment_is_named_after_its_commit() -> None:
    before = talk(("user", "Import the timetable of the northern harbours"))
    after = talk(
        ("user", "commit"),
        ("Bash", "Bash: git commit\n[main 1a2b3c4] Read gzip timetables"),
    )
    assert extractive.summarize_segment(after, before).title == "Read gzip timetables"


def test_the_agents_own_title_comes_first() -> None:
    run = talk(("user", "Import the timetable of the northern harbours"))
    assert extractive.summarize_segment(run, (), "Harbours").title == "Harbours"


def test_the_number_of_an_issue_is_part_of_the_title() -> None:
    request = "Import the timetables of the northern harbours. See issue 42."
    assert title(("user", request)) == (
        "Import the timetables of the northern harbours (#42)"
    )


def test_calls_are_named_without_comments_and_redacted_values() -> None:
    command = "# Look for the ferries first\nREDACTED HARBOUR=1 ferry list --all"
    call = events.make(
        agent="claude-code",
        session_id="s1",
        timestamp=START,
        event_type=EventType.TOOL_RESULT,
        text=f"Bash: {' '.join(command.split())}\nnorth",
        source_key="c",
        metadata={
            "tool_name": "Bash",
            "tool_input": json.dumps({"command": command}),
        },
    )
    run = [*talk(("assistant", "Let me look.")), call]
    assert extractive.summarize_segment(run).title == "Ran ferry list --all"
