"""Titles: what a segment is called in the table of contents."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from memtui.model import events
from memtui.model.events import Event, EventType
from memtui.summarize import extractive
from memtui.text import titles

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
            "Plenty of warnings in the console",
        ),
        (
            'Change the default report mode to "json"',
            'Change the default report mode to "json"',
        ),
        (
            "1. Duplicate rows in the ferry timetable",
            "Duplicate rows in the ferry timetable",
        ),
    ],
)
def test_a_title_is_short_and_specific(request_text: str, expected: str) -> None:
    assert title(("user", request_text)) == expected


def test_a_long_title_ends_where_it_is_still_true() -> None:
    request = (
        "The abort listener awaits the cleanup of every socket which can cause "
        "unhandled rejections and leaks"
    )
    assert (
        titles.shorten_title(request)
        == "The abort listener awaits the cleanup of every socket"
    )


def test_a_title_is_not_cut_before_what_would_turn_its_meaning() -> None:
    request = (
        "Never delete the archived timetable files of the ferries in winter "
        "without asking the harbour office first"
    )
    assert titles.shorten_title(request).endswith("…")


@pytest.mark.parametrize(
    ("open_ended", "expected"),
    [
        ('Rename the ferry importer to "time', "Rename the ferry importer to"),
        ("Read the `config", "Read the config"),
        ("Sign all the ferry binaries (with a…", "Sign all the ferry binaries…"),
        ("A list (of two)", "A list (of two)"),
        ("harbours)", "harbours"),
    ],
)
def test_no_title_leaves_a_quote_or_bracket_open(
    open_ended: str, expected: str
) -> None:
    assert titles.drop_unbalanced(open_ended) == expected


def test_chatter_gives_way_to_what_is_asked_after_it() -> None:
    assert (
        title(
            ("user", "ahhhh. now i've got it. main is now fixed"),
            ("user", "how's it going?"),
            ("user", "now write the harbour report"),
        )
        == "Write the harbour report"
    )


def test_a_commit_names_the_work_better_than_a_request_that_only_points() -> None:
    assert (
        title(
            ("user", "this should be hidden in cloud mode"),
            ("Bash", "Bash: git commit\n[main 1a2b3c4] Hide the cost in cloud mode"),
        )
        == "Hide the cost in cloud mode"
    )


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
    return " ".join(claim.text for claim in extractive.summarize_segment(run).bullets)


def test_a_quiet_commit_is_told_by_the_message_it_was_given() -> None:
    assert committed("ok 1 file changed").endswith("Committed “Round invoices once”")


def test_a_commit_that_was_refused_is_not_told_as_made() -> None:
    assert "Committed" not in committed("hook failed", is_error="true")
    assert "Committed" not in committed("nothing to commit, working tree clean")


def test_a_late_request_does_not_name_the_long_work_before_it() -> None:
    heading = "## Plan-first import pipeline\n\nIt reads, plans and writes."
    assert (
        title(
            *[("Edit", f"Edit: /app/step{at}.py\nok") for at in range(8)],
            ("assistant", heading),
            ("user", "Translate the error messages too"),
        )
        == "Plan-first import pipeline"
    )


def test_a_segment_that_says_nothing_is_named_after_what_it_continues() -> None:
    before = talk(("user", "Import the timetable of the northern harbours"))
    after = talk(("user", "continue"))
    assert (
        extractive.summarize_segment(after, before).title
        == "Import the timetable of the northern harbours"
    )


def test_a_segment_that_continues_is_named_after_its_own_work_if_it_has_any() -> None:
    before = talk(("user", "Import the timetable of the northern harbours"))
    after = talk(
        ("user", "continue"),
        ("assistant", "### Step 4: Rewrite the tide table parser\n\nDone."),
    )
    assert (
        extractive.summarize_segment(after, before).title
        == "Rewrite the tide table parser"
    )


def test_a_lone_word_is_quoted_as_such() -> None:
    assert title(("user", "continue")) == "“Continue”"
