"""Cards: the state of the work, its facts, and what is left open."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from memtui.model import events
from memtui.model.events import Event, EventRole, EventType
from memtui.model.sessions import WorkState
from memtui.summarize.extractive import Card, make_card
from memtui.summarize.results import find_statements
from memtui.summarize.tool_actions import CardLine
from memtui.summarize.work_events import WorkEvents, read_work

START = datetime(2024, 1, 15, 9, tzinfo=UTC)
Call = tuple[str, str, dict[str, str]]
KINDS = {
    "user": EventType.USER_MESSAGE,
    "system": EventType.USER_MESSAGE,
    "assistant": EventType.ASSISTANT_MESSAGE,
}
REPORT = "Fixed the rounding: Ledger.total now adds cents and rounds only once."


def event(at: int, who: str, text: str, **metadata: str) -> Event:
    return events.make(
        agent="claude-code",
        session_id="s1",
        timestamp=START + timedelta(minutes=at),
        event_type=KINDS.get(who, EventType.TOOL_RESULT),
        text=text,
        source_key=str(at),
        role=EventRole.SYSTEM if who == "system" else None,
        metadata=metadata,
    )


def shell(
    command: str, output: str, **metadata: str
) -> tuple[str, str, dict[str, str]]:
    """Return a command as a turn."""
    given = {"tool_name": "Bash", "tool_input": json.dumps({"command": command})}
    return "tool", f"Bash: {' '.join(command.split())}\n{output}", given | metadata


def edit(path: str, old: str, new: str) -> Call:
    fields = {"file_path": path, "old_string": old, "new_string": new}
    given = {"tool_name": "Edit", "tool_input": json.dumps(fields)}
    return "tool", f"Edit: {path}\nThe file has been updated.", given


COMMIT = shell("git commit -m x", "[main 1a2b3c4] Round invoices once\n 1 file changed")
PUSH = shell("git push", "To github.com:octo/shop.git\n   1a2b..3c4d  main -> main")
EDIT = edit("/app/ledger.py", "a\nb\nc", "a\nx\ny\nc")
ASK = ("user", "Round the invoice totals only once, in the ledger.")
SAY = ("assistant", REPORT)

Turn = tuple[str, str] | Call


def work_of(*turns: Turn) -> WorkEvents:
    made = []
    for at, (who, text, *more) in enumerate(turns):
        metadata = more[0] if more else {}
        made.append(event(at, who, text, **metadata))
    return read_work(made)


def card(*turns: Turn) -> Card:
    return make_card(work_of(*turns))


@pytest.mark.parametrize(
    ("turns", "state"),
    [
        ([ASK, SAY], WorkState.DONE),
        ([ASK, ("assistant", "The ledger rounds once.")], WorkState.ANSWERED),
        ([ASK, EDIT, SAY], WorkState.DONE),
        ([ASK, EDIT, COMMIT, SAY], WorkState.DONE),
        ([ASK, EDIT, COMMIT, PUSH, SAY], WorkState.PUSHED),
        ([ASK, EDIT, PUSH, COMMIT, SAY], WorkState.DONE),
        ([ASK, EDIT, shell("gh pr merge 7", "Merged"), SAY], WorkState.MERGED),
        ([ASK, EDIT], WorkState.OPEN),
        ([ASK, EDIT, SAY, ("user", "commit"), SAY], WorkState.OPEN),
        ([ASK, EDIT, SAY, ("user", "Now the receipts, too")], WorkState.OPEN),
        ([ASK, EDIT, ("assistant", "Let me run the tests.")], WorkState.OPEN),
        (
            [ASK, EDIT, ("assistant", "The receipts could not fix: still failing.")],
            WorkState.OPEN,
        ),
        (
            [ASK, EDIT, ("user", "[Request interrupted by user]")],
            WorkState.ABANDONED,
        ),
        ([ASK, SAY, ("user", "never mind")], WorkState.ABANDONED),
    ],
)
def test_the_state_is_derived_from_calls_and_closing_words(
    turns: list[Turn], state: WorkState
) -> None:
    assert card(*turns).state.text == state


def test_a_refused_push_is_left_open_until_one_succeeds() -> None:
    refused = shell("git push", "! [rejected] main -> main (fetch first)")
    found = card(ASK, EDIT, COMMIT, refused, SAY)
    assert found.state.text == WorkState.OPEN
    assert texts(found.left_open) == [
        "The push failed: ! [rejected] main -> main (fetch first)"
    ]
    assert found.left_open[0].refs == (3,)
    again = card(ASK, EDIT, COMMIT, refused, PUSH, SAY)
    assert again.state.text == WorkState.PUSHED
    assert not again.left_open


def test_a_claim_that_contradicts_the_last_test_run_is_not_shown() -> None:
    failed = shell("pytest -q", "1 failed, 30 passed in 1s")
    claim = ("assistant", "All 31 tests of the ledger pass after the rounding fix.")
    found = card(ASK, EDIT, failed, claim)
    assert found.state.text == WorkState.FAILED
    assert found.outcome is None


def test_a_push_that_was_asked_for_and_not_made_is_left_open() -> None:
    found = card(ASK, EDIT, COMMIT, SAY, ("user", "please push"), SAY)
    assert found.state.text == WorkState.OPEN
    assert found.left_open[0].text == "The push that was asked for was not made"
    assert found.left_open[0].refs == (4,)


def test_a_push_that_was_made_before_is_not_left_open() -> None:
    already = ("assistant", "The rounding is already committed and pushed.")
    found = card(ASK, EDIT, COMMIT, SAY, ("user", "commit and push"), already)
    assert found.state.text == WorkState.DONE
    assert found.left_open == ()


@pytest.mark.parametrize(
    ("output", "counts"),
    [
        ("== 2 failed, 5 passed in 0.12s ==", "2 failed, 5 passed"),
        ("1219 pass\n0 fail\nRan 1219 tests", "1,219 passed"),
        ("Tests:  34 failed, 169 skipped, 660 passed", "34 failed, 660 passed"),
        ("test result: ok. 7 passed; 0 failed; 0 ignored", "7 passed"),
        ("  12 passing (3s)\n  1 failing", "1 failed, 12 passed"),
        ("Tests run: 9, Failures: 1, Errors: 2, Skipped: 0", "3 failed, 6 passed"),
        ("✅ 12 tests run, 12 passed", "12 passed"),
        ("Results: 739 passed, 2 failed, 741 total", "2 failed, 739 passed"),
    ],
)
def test_test_runs_are_counted(output: str, counts: str) -> None:
    found = card(ASK, shell("run the tests", output), SAY).tests
    assert found is not None
    assert (found.text, found.refs) == (counts, (1,))


def test_tests_are_shown_before_and_after() -> None:
    before = shell("pytest", "== 3 failed, 9 passed in 1.2s ==")
    after = shell("pytest", "== 12 passed in 1.1s ==")
    found = card(ASK, before, EDIT, after, SAY).tests
    assert found is not None
    assert (found.text, found.refs) == ("3 failed, 9 passed → 12 passed", (1, 3))


@pytest.mark.parametrize(
    ("outputs", "counts"),
    [
        (["== 90 passed in 9s ==", "== 2 passed in 1s =="], "90 passed"),
        (["== 90 passed in 9s ==", "== 91 passed in 9s =="], "91 passed"),
        (
            ["== 90 passed in 9s ==", "== 1 failed, 1 passed in 1s =="],
            "1 failed, 1 passed",
        ),
        (
            ["== 2 failed, 88 passed in 9s ==", "== 2 passed in 1s =="],
            "2 failed, 88 passed → 2 passed",
        ),
    ],
)
def test_a_later_run_of_a_few_tests_that_pass_says_less(
    outputs: list[str], counts: str
) -> None:
    runs = [shell("pytest", output) for output in outputs]
    found = card(ASK, EDIT, *runs, SAY).tests
    assert found is not None
    assert found.text == counts


def test_output_without_a_test_run_counts_nothing() -> None:
    text = "3 passengers passed the gate in 2024"
    assert card(ASK, shell("cat gate.txt", text), SAY).tests is None


def test_changed_lines_are_counted_by_file() -> None:
    again = edit("/app/ledger.py", "k", "k\nl")
    patch = (
        "*** Begin Patch\n*** Update File: a/b.py\n+one\n+two\n-three\n*** End Patch"
    )
    patched = (
        "tool",
        "apply_patch: a/b.py\nDone",
        {"tool_name": "apply_patch", "tool_input": patch},
    )
    found = card(ASK, EDIT, again, patched, SAY).files
    assert [(str(change), at) for change, at in found] == [
        ("ledger.py +3 −1", 2),
        ("b.py +2 −1", 3),
    ]


def write(path: str, content: str) -> Call:
    fields = {"file_path": path, "content": content}
    given = {"tool_name": "Write", "tool_input": json.dumps(fields)}
    return "tool", f"Write: {path}\nThe file was written.", given


def test_a_file_that_is_written_again_is_counted_once() -> None:
    path = "/app/tax.py"
    first, last = write(path, "a\nb\nc"), write(path, "a\nb\nc\nd")
    changed = edit(path, "a", "x\ny")
    found = card(ASK, first, changed, last, SAY).files
    assert [(str(change), at) for change, at in found] == [("tax.py +4", 3)]
    found = card(ASK, first, last, changed, SAY).files
    assert [(str(change), at) for change, at in found] == [("tax.py +6 −1", 3)]


@pytest.mark.parametrize(
    ("prod", "turns", "title"),
    [
        ("continue", [EDIT], "Edited ledger.py"),
        ("Please continue from where you left off.", [EDIT], "Edited ledger.py"),
        ("ok, go ahead", [EDIT, SAY], REPORT.removesuffix(".")),
        ("continue with the receipts", [EDIT], "Continue with the receipts"),
    ],
)
def test_a_prod_does_not_name_work(prod: str, turns: list[Turn], title: str) -> None:
    assert card(("user", prod), *turns).title == title


def test_a_created_pull_request_is_no_commit() -> None:
    address = "https://github.com/octo/shop/pull/380"
    found = card(ASK, COMMIT, shell("gh pr create --fill", f"{address}\n"), SAY)
    assert [line.text for line in found.commits] == ["Round invoices once"]
    assert [line.text for line in found.pull_requests] == [f"#380 {address}"]


def test_changes_after_the_last_commit_are_left_open() -> None:
    found = card(ASK, EDIT, COMMIT, edit("/app/receipt.py", "a", "b"), SAY)
    assert [line.text for line in found.left_open] == [
        "1 changed file is not committed: receipt.py"
    ]


def test_files_left_out_of_the_commit_are_left_open() -> None:
    status = (
        "Changes not staged for commit:\n\tmodified:   .husky/x\n\tmodified:   a/b.ts"
    )
    found = card(ASK, EDIT, COMMIT, shell("git status", status), SAY)
    assert [line.text for line in found.left_open] == ["Left out of the commit: b.ts"]


PLAN = """Implement the following plan:

# Plan: Round invoices once

## Verification

- Run `make check all`
- Run `pytest tests/ledger`
- Visual check: open the invoice in the browser

## Notes

- Nothing here
"""


def test_checks_of_a_plan_that_nobody_made_are_left_open() -> None:
    run = shell("cd app && pytest tests/ledger -q", "ok")
    found = card(("user", PLAN), EDIT, run, SAY)
    assert found.title == "Round invoices once"
    assert [line.text for line in found.left_open] == [
        "Not run: Run `make check all`",
        "Not checked: Visual check: open the invoice in the browser",
    ]


def test_a_question_to_the_user_is_left_open_but_not_an_offer() -> None:
    asked = "The hook fails on other files. Should I commit with `--no-verify`?"
    (line,) = card(ASK, EDIT, ("assistant", asked)).left_open
    assert line.text == "Not answered: Should I commit with `--no-verify`?"
    offer = f"{REPORT} Would you like me to add more tests?"
    assert not card(ASK, EDIT, ("assistant", offer)).left_open


def test_what_the_closing_message_says_remains_is_left_open() -> None:
    closing = (
        f"{REPORT}\n\n## Next steps\n\n- Move the tax rates into the settings\n"
        "- Let me know if you want more!\n"
    )
    (line,) = card(ASK, EDIT, ("assistant", closing)).left_open
    assert line.text == "Move the tax rates into the settings"


def test_the_outcome_is_the_result_not_the_routine() -> None:
    closing = (
        "All tests pass and lint is clean. Here's a summary of the changes:\n\n"
        "- Added `Ledger.total()` (line 12), which rounds the cents once\n"
        "- Unrelated changes in the working tree were already there"
    )
    found = card(ASK, EDIT, ("assistant", closing)).outcome
    assert found is not None
    assert found.text == "Added `Ledger.total()`, which rounds the cents once"


def test_a_decision_is_quoted_with_its_reason() -> None:
    closing = (
        f"{REPORT} I chose integers instead of decimals because SQLite has no decimal"
        " type."
    )
    (line,) = card(ASK, EDIT, ("assistant", closing)).decisions
    assert line.text.startswith("I chose integers instead of decimals because")


def test_the_effect_of_the_changes_is_a_better_outcome_than_one_of_them() -> None:
    effect = "This stops the ledger from rounding every line of an invoice twice."
    report = f"Summary of the changes:\n\n- Added `decimal` to the imports\n\n{effect}"
    found = card(ASK, EDIT, ("assistant", report)).outcome
    assert found is not None and found.text == effect


def test_an_answer_about_the_work_is_not_its_outcome() -> None:
    question = ("user", "Which other ledgers still round the totals themselves?")
    answer = ("assistant", "The archive ledger rounds them in its export script.")
    outcome = card(ASK, EDIT, SAY, question, answer).outcome
    assert outcome is not None and outcome.text == REPORT


@pytest.mark.parametrize(
    "closing", ["Let me fix the remaining imports.", "Absolutely!", "`src/ledger.py`"]
)
def test_an_announcement_or_a_path_is_no_outcome(closing: str) -> None:
    made = card(ASK, EDIT, ("assistant", closing))
    assert made.outcome is None


def test_a_later_line_on_a_topic_replaces_the_earlier_one() -> None:
    lines = [
        "ledger hooks: still missing in the shell",
        "lint: two warnings of the ledger are not yet fixed",
        "ledger hooks: still missing, the package was not found",
    ]
    report = "\n".join(f"- {line}" for line in lines)
    made = card(ASK, EDIT, ("assistant", report))
    assert [line.text for line in made.left_open] == lines[1:]


def test_finished_items_are_not_left_open() -> None:
    report = (
        "All todo items are now completed.\n\n## What is left\n\n"
        "- Fixed the rounding of the ledger\n- The archive ledger rounds twice"
    )
    made = card(ASK, EDIT, ("assistant", report))
    assert [line.text for line in made.left_open] == ["The archive ledger rounds twice"]


def test_a_subject_without_words_is_no_commit() -> None:
    assert not card(ASK, shell('git commit -m "fix: "', "done")).commits
    assert not card(ASK, shell("git rebase", "[detached HEAD 1a2b3c4] fix:")).commits


def test_a_progress_note_is_no_outcome() -> None:
    note = "I'm checking which of the ledgers the workflow has already rebuilt."
    details = "Archive, export, payroll, budget and tax reports share its new helper."
    report = f"{REPORT} {details}"
    outcome = card(ASK, EDIT, ("assistant", report), ("assistant", note)).outcome
    assert outcome is not None and outcome.text == REPORT


def test_pasted_output_is_no_part_of_what_was_asked() -> None:
    sentence = "The ledger fails to build in the container."
    request = (
        f"{sentence}\n2024-01-15 09:00:00 step 1 of 9\n2024-01-15 09:00:01 step 2 of 9"
    )
    asked = card(("user", request), SAY).asked
    assert asked is not None and asked.text == sentence


def test_a_plan_is_asked_for_by_the_problem_that_it_solves() -> None:
    plan = (
        "Implement the following plan:\n\n# Round invoices once\n\n## Context\n\n"
        "Totals differ by a cent between the ledger and the invoice.\n\n## Steps\n\n"
        "- Change the ledger"
    )
    asked = card(("user", plan), SAY).asked
    assert asked is not None
    assert asked.text.startswith("Totals differ by a cent between the ledger")


def test_changes_without_a_commit_are_left_open_where_git_is_used() -> None:
    status = shell("git status", "Changes not staged for commit:")
    (line,) = card(ASK, EDIT, status, SAY).left_open
    assert line.text == "1 changed file is not committed: ledger.py"
    assert not card(ASK, EDIT, SAY).left_open


def test_commits_that_a_branch_is_ahead_by_are_left_open_until_a_push() -> None:
    ahead = "Your branch is ahead of 'origin/main' by 2 commits."
    status = shell("git status", f"On branch main\n{ahead}\n")
    (line,) = card(ASK, EDIT, COMMIT, status, SAY).left_open
    assert line.text == "Not pushed: the branch is ahead of 'origin/main' by 2 commits"
    assert not card(ASK, EDIT, COMMIT, status, PUSH, SAY).left_open


def texts(lines: tuple[CardLine, ...]) -> list[str]:
    return [line.text for line in lines]


@pytest.mark.parametrize(
    ("first", "last"),
    [
        (
            "OK, let's use SQLite because the kiosk can lose power.",
            "Wait, I changed my mind: no SQLite. Use a JSON file instead, "
            "because technicians must edit it.",
        ),
        (
            "Keep the Celery queue, since the reports need retries.",
            "We no longer need Celery. Use a thread because the reports are small now.",
        ),
    ],
)
def test_a_revoked_decision_is_not_listed(first: str, last: str) -> None:
    found = card(ASK, SAY, ("user", first), EDIT, SAY, ("user", last), EDIT, SAY)
    listed = " ".join(texts(found.decisions))
    assert first not in listed and "because" in listed and last[-20:] in listed


def test_a_comparison_alone_is_no_decision() -> None:
    for text in (
        "Called click(x, y) instead of browser_click(x, y).",
        "Fixed the display of invoices: content is a string rather than a wrapper.",
    ):
        assert card(ASK, EDIT, ("assistant", text), SAY).decisions == ()


def test_a_finding_between_calls_is_not_quoted_beside_a_result() -> None:
    note = "Found the totals of the invoices in the archive of the ledger."
    look = shell("ls archive", "totals.csv")
    work = work_of(ASK, ("assistant", note), look, EDIT, SAY)
    scores = {line.text: score for line, score in find_statements(work, "")}
    assert scores[note] <= 0 < scores[REPORT]


def test_an_item_that_says_what_was_done_is_the_outcome() -> None:
    note = ("assistant", "215 stale branches of the ledger on the server, none here.")
    done = ("assistant", "Done.\n\n- PR #7 merged into main; the rounding is live.")
    asked = ("user", "Merge 7 and delete all stale branches.")
    found = card(asked, note, shell("git push x -d y", "deleted"), done).outcome
    assert found is not None and found.text.startswith("PR #7 merged into main")


def test_a_setback_before_the_end_is_no_outcome() -> None:
    found = card(
        ("user", "Deploy the kiosk image to the staging device."),
        shell("scp image staging:", "scp: Connection refused", is_error="true"),
        (
            "assistant",
            "The copy to staging failed because the connection was refused. "
            "Should I try it over the VPN?",
        ),
        ("user", "yes please"),
        shell("vpn up && scp image staging:", "image 100%"),
        ("assistant", "The image is on the device. It was not rebooted yet."),
    )
    assert found.outcome and found.outcome.text == "The image is on the device."
    assert texts(found.left_open) == ["It was not rebooted yet."]


@pytest.mark.parametrize(
    "text",
    [
        "I have not updated the changelog yet.",
        "Windows line endings are still untested.",
        "The driver works, but I could not test it on real hardware.",
        "Осталось обновить документацию по формату накладных.",
        "还需要在支付页面上做手工测试。",
        "Die Migration der Bilder steht noch aus.",
        "La pantalla de pago queda pendiente.",
        "Not tested on Windows with the new ledger.",
        "I skipped the Safari tests of the receipts.",
        "What's left: the documentation of the receipts.",
        "The receipts will need the same change.",
        "Não testei os recibos no Windows.",
        "No he probado los recibos en Windows.",
        "Nie przetestowano jeszcze paragonów.",
        "Не удалось проверить чеки на реальном принтере.",
    ],
)
def test_what_is_left_open_is_found_in_other_words_and_languages(text: str) -> None:
    found = card(ASK, EDIT, ("assistant", f"{REPORT} {text}"))
    assert texts(found.left_open) == [text]
    assert found.outcome and text not in found.outcome.text


def test_an_unanswered_request_is_left_open() -> None:
    found = card(ASK, EDIT, SAY, ("user", "Also round the totals of the receipts."))
    assert found.state.text == WorkState.OPEN
    assert texts(found.left_open)[0] == (
        "Not answered: Also round the totals of the receipts."
    )


def test_the_reply_to_a_program_is_no_outcome() -> None:
    notice = (
        "system",
        "<task-notification>npm run build completed</task-notification>",
    )
    found = card(ASK, EDIT, SAY, notice, ("assistant", "The build finished."))
    assert found.outcome and found.outcome.text == REPORT


def test_a_role_is_not_what_was_asked() -> None:
    role = "You are a senior Python engineer with 20 years of experience."
    found = card(("user", role), ASK, EDIT, SAY)
    assert found.asked and found.asked.text == ASK[1]


def test_an_interruption_abandons_the_work() -> None:
    failed = shell("pytest -q", "3 failed, 40 passed in 2.10s")
    interruption = ("system", "[Request interrupted by user]")
    assert card(ASK, EDIT, failed, interruption).state.text == WorkState.ABANDONED


def test_a_last_run_that_failed_is_a_failure() -> None:
    failed = shell("pytest -q", "1 failed, 11 passed in 2.10s")
    report = ("assistant", "Postgres is used now; the thumbnail test fails.")
    assert card(ASK, EDIT, failed, report).state.text == WorkState.FAILED
    fixed = shell("pytest -q", "12 passed in 2.10s")
    assert card(ASK, EDIT, failed, EDIT, fixed, SAY).state.text == WorkState.DONE
    old = ("assistant", "The one failure is pre-existing.")
    assert card(ASK, EDIT, failed, old).state.text == WorkState.DONE


@pytest.mark.parametrize(
    "text",
    [
        "The API provider has rate limited you.",
        "You've hit your limit · resets 6am (Europe/Paris)",
        "Claude usage limit reached. Your limit will reset at 10pm.",
        "litellm.APIConnectionError: Connection timed out after 600 seconds.",
        "API Error: 529 overloaded",
    ],
)
def test_an_error_of_the_model_is_a_failure(text: str) -> None:
    found = card(ASK, ("assistant", text))
    assert found.state.text == WorkState.FAILED
    assert found.outcome is None


def test_an_error_of_the_model_after_work_leaves_it_open() -> None:
    error = ("assistant", "API Error: 529 overloaded")
    assert card(ASK, EDIT, SAY, ASK, error).state.text == WorkState.OPEN
    code = ("assistant", "```python\ntotal = round(sum(lines))\n```")
    assert card(ASK, EDIT, code).state.text == WorkState.DONE


def test_tests_in_quiet_mode_are_counted() -> None:
    found = card(ASK, EDIT, shell("pytest -q", "7 passed, 2 skipped"), SAY)
    assert found.tests and found.tests.text == "7 passed"


def test_a_short_status_shows_what_is_not_pushed() -> None:
    status = shell("git status -sb", "## main...origin/main [ahead 2]\n?? notes.md")
    found = card(ASK, EDIT, COMMIT, status, SAY)
    assert texts(found.left_open) == [
        "Not pushed: the branch is ahead of 'origin/main' by 2 commits"
    ]


def test_a_command_of_the_agent_is_not_what_was_asked() -> None:
    for command in ("/model openai/gpt-5.4", "/add src/app.py src/road.py", "/clear"):
        found = card(("user", command), ASK, EDIT, SAY)
        assert found.asked and found.asked.text == ASK[1]
    plain = ("user", "/fix the rounding of the invoices in the ledger")
    asked = card(plain, EDIT, SAY).asked
    assert asked and "rounding" in asked.text


@pytest.mark.parametrize(
    "text",
    [
        "Wait, I need to fix that import: the helper is in jobs.py.",
        "Wrong key name again.",
        "Line 103 uses time.Now() for the start of the period.",
        "Critical Issue #1: Fix Missing Authentication in the stream",
    ],
)
def test_thoughts_and_headings_are_no_outcome(text: str) -> None:
    found = card(ASK, EDIT, ("assistant", f"{text}\n\n{REPORT}"))
    assert found.outcome and found.outcome.text == REPORT


@pytest.mark.parametrize(
    "text",
    [
        "The chunks remain orphaned, so nothing is drawn.",
        "The total must be rounded by the printer.",
        "The server can't run without uvloop.",
        "If this still fails, the old folder must be added to the image.",
        "That's expected since the new route is not used yet.",
        "The limiter answers 429 when the bucket is missing.",
        "A default applies if the key is still missing.",
    ],
)
def test_a_description_is_not_left_open(text: str) -> None:
    assert card(ASK, EDIT, ("assistant", f"{REPORT} {text}")).left_open == ()


def test_a_deployment_is_done() -> None:
    ask = ("user", "Deploy the kiosk image to the staging device.")
    copied = shell("cd out && scp image staging:", "image 100%")
    say = ("assistant", "The image is on the staging device.")
    assert card(ask, copied, say).state.text == WorkState.DONE
    refused = shell("scp image staging:", "Connection refused", is_error="true")
    assert card(ask, refused, say).state.text == WorkState.ANSWERED


def test_a_request_that_got_no_reply_is_open() -> None:
    assert card(("user", "continue")).state.text == WorkState.OPEN


def test_an_explanation_is_no_decision() -> None:
    for text in (
        "The memo only breaks when the state changes since the callbacks are used.",
        "It was installed again because the app used the system's copy rather than it.",
        "This includes all that agents decide to run, such as scripts.",
    ):
        assert not card(ASK, ("assistant", f"{REPORT} {text}")).decisions


def test_an_unanswered_request_is_quoted_without_pasted_output() -> None:
    pasted = (
        "The receipts are rounded twice now, see the log.\n\n"
        "[12:01:07] receipts: rounded 12.345 to 12.35"
    )
    found = card(ASK, EDIT, SAY, ("user", pasted)).left_open
    text = "Not answered: The receipts are rounded twice now, see the log."
    assert [line.text for line in found] == [text]


def test_an_offer_in_french_is_not_left_open() -> None:
    offer = "Souhaitez-vous que je corrige aussi les reçus ?"
    assert not card(ASK, ("assistant", f"{REPORT}\n\n{offer}")).left_open


def test_files_of_the_same_name_are_listed_once() -> None:
    status = (
        "Changes not staged for commit:\n"
        "\tmodified:   a/index.js\n\tmodified:   b/index.js\n"
    )
    found = card(ASK, EDIT, COMMIT, shell("git status", status), SAY).left_open
    assert [line.text for line in found] == ["Left out of the commit: index.js"]


@pytest.mark.parametrize(
    "text",
    [
        '"We discuss decisions about rounding together before we change the ledger"',
        "All feedback of the reviewers is addressed now!",
        "We will add the setting to the ledger in the next step.",
        "The goal is to round the totals once in the ledger.",
        "Found the key info.",
        "You can review the rounding of the ledger on the server.",
        "Open http://localhost:9998 to see the rounding of the ledger.",
        "## Analysis Summary for ledger.py and Related Components",
        "Ready in 1546ms for the next request of the ledger",
        "File: app/ledger.py of the rounding service",
        "The rounding of the ledger is already set up.",
        "- app/ledger.py - Add a second rounding to the ledger",
    ],
)
def test_what_says_no_result_is_no_outcome(text: str) -> None:
    found = card(ASK, EDIT, COMMIT, ("assistant", text)).outcome
    assert found is not None
    assert found.text == "Round invoices once"


def test_notes_between_calls_give_way_to_the_report() -> None:
    note = "The receipts use the rounding of `Ledger.total` because it fixed a bug."
    who, edited, given = EDIT
    turns = [
        event(0, *ASK),
        event(1, "assistant", note),
        event(2, who, edited, **given),
        event(3, *SAY),
    ]
    scores = {line.text: score for line, score in find_statements(read_work(turns), "")}
    assert scores[note] <= 0.0 < scores[REPORT]


REVERTED = "I reverted the rounding; the archive needs exact cents."


@pytest.mark.parametrize(
    "command",
    [
        shell(
            "git revert --no-edit HEAD && git push",
            '[main 5e6f7a8] Revert "Round invoices once"\n 1 file changed',
        ),
        shell("git reset --hard HEAD~1", "HEAD is now at 0a1b2c3 Old"),
    ],
)
def test_a_reverted_commit_is_abandoned_work(command: Call) -> None:
    undo = ("user", "The archive cannot read it. Please revert.")
    found = card(ASK, EDIT, COMMIT, SAY, undo, command, ("assistant", REVERTED))
    assert found.state.text == WorkState.ABANDONED
    assert found.outcome and found.outcome.text == REVERTED
    again = shell("git commit -m x", "[main 2b3c4d5] Round twice\n 1 file changed")
    after = card(ASK, EDIT, COMMIT, SAY, undo, command, EDIT, again, SAY)
    assert after.state.text == WorkState.DONE


@pytest.mark.parametrize(
    "command", ["git checkout -- ledger.py", "git restore .", "git reset --hard"]
)
def test_discarded_changes_are_abandoned_work_and_not_left_open(command: str) -> None:
    undo = shell(command, "Updated 1 path from the index")
    reply = ("assistant", "I discarded the change of the ledger.")
    found = card(ASK, EDIT, undo, reply)
    assert found.state.text == WorkState.ABANDONED
    assert found.outcome and found.outcome.text == reply[1]
    assert not found.left_open


def test_work_of_which_only_a_part_is_discarded_is_done() -> None:
    undo = shell("git checkout -- receipt.py", "Updated 1 path from the index")
    found = card(ASK, EDIT, edit("/app/receipt.py", "a", "b"), undo, SAY)
    assert found.state.text == WorkState.DONE
    assert texts(found.left_open) == ["1 changed file is not committed: ledger.py"]


@pytest.mark.parametrize(
    "text",
    [
        "Stopp, das verwerfen wir. Das Archiv braucht genaue Beträge.",
        "I give up, park this.",
        "Undo that, the archive needs exact amounts.",
        "Откати изменения, архиву нужны точные суммы.",
    ],
)
def test_work_that_the_user_gives_up_is_abandoned(text: str) -> None:
    reply = ("assistant", "Understood, the ledger stays as it was before.")
    assert card(ASK, EDIT, SAY, ("user", text), reply).state.text == (
        WorkState.ABANDONED
    )
    assert card(ASK, EDIT, SAY, ("user", text), EDIT, SAY).state.text == WorkState.DONE


@pytest.mark.parametrize(
    "text",
    [
        "Stop the containers of the shop.",
        "Stop using decimals in the ledger.",
        "Drop this column from the table of invoices.",
        "Close it when the user presses Escape.",
    ],
)
def test_stopping_something_else_is_not_giving_up(text: str) -> None:
    reply = ("assistant", "That is so now, for all invoices.")
    found = card(("user", text), shell("docker stop shop", "shop"), reply)
    assert found.state.text == WorkState.ANSWERED


def test_a_pull_request_closed_without_a_merge_is_abandoned() -> None:
    made = shell("gh pr create --fill", "https://github.com/octo/shop/pull/70")
    closed = shell("gh pr close 70", "Closed pull request #70")
    reply = ("assistant", "PR #70 is closed without merging.")
    found = card(ASK, EDIT, made, SAY, closed, reply)
    assert found.state.text == WorkState.ABANDONED
    assert found.outcome and found.outcome.text == reply[1]


@pytest.mark.parametrize(
    "text",
    [
        "There are no remaining issues with the ledger.",
        "Nothing else is left to do in the ledger.",
        "В бухгалтерской книге больше ничего не осталось.",
    ],
)
def test_complete_work_leaves_nothing_open(text: str) -> None:
    found = card(ASK, EDIT, ("assistant", f"{REPORT} {text}"))
    assert (found.left_open, found.state.text) == ((), WorkState.DONE)


def test_a_proposal_of_the_user_with_a_reason_is_a_decision() -> None:
    text = "Let's use memcached for the receipts because the operators know it."
    found = card(ASK, EDIT, SAY, ("user", text), SAY).decisions
    assert [line.text for line in found] == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Remaining: the receipts of the archive use three digits.",
        "Left to do: round the receipts.",
        "What's left: update the docs and delete the alias.",
        "The change is committed locally but not pushed.",
        "Before the next attempt, the secret must be created on the server.",
        "I haven't applied it; please run terraform apply yourself.",
        "Known issue: old clients get a 404.",
        "Tomorrow: test with a hundred users.",
        "Belege ohne Datum werden noch übersprungen.",
        "Кнопка добавлена, но подтверждения пока нет.",
        "Не сделано: проверка схемы накладных.",
    ],
)
def test_what_remains_is_left_open_and_no_outcome(text: str) -> None:
    found = card(ASK, EDIT, COMMIT, ("assistant", f"{text}\n\n{REPORT}"))
    assert texts(found.left_open) == [text]
    assert found.outcome and found.outcome.text == REPORT


@pytest.mark.parametrize("heading", ["Nächste Schritte:", "Next steps:", "Не сделано:"])
def test_a_list_of_next_steps_is_left_open(heading: str) -> None:
    text = f"{REPORT}\n\n{heading}\n- Belege des Archivs runden\n- Export der Belege"
    found = card(ASK, EDIT, COMMIT, ("assistant", text))
    assert texts(found.left_open) == ["Belege des Archivs runden", "Export der Belege"]


def test_what_the_user_puts_off_is_left_open() -> None:
    later = "The mobile version is still missing, we'll do that next week."
    found = card(ASK, EDIT, COMMIT, SAY, ("user", later), ("assistant", "Noted."))
    assert texts(found.left_open) == [later]
    assert found.state.text == WorkState.DONE


def test_what_was_missing_before_a_later_request_is_not_left_open() -> None:
    missing = ("assistant", f"{REPORT} Still missing: a test.")
    run = shell("pytest -q", "12 passed in 1.1s")
    reply = ("assistant", "The test is in place.")
    found = card(ASK, EDIT, missing, ("user", "add the test"), EDIT, run, COMMIT, reply)
    assert not found.left_open
    found = card(ASK, EDIT, missing, ("user", "commit"), COMMIT, reply)
    assert texts(found.left_open) == ["Still missing: a test."]


def test_a_note_before_the_last_call_gives_way_to_the_report() -> None:
    note = "The reviewer thought that the fix rounds twice, but the comment is correct."
    report = "Comment pushed successfully.\n\n- Comments: data flow is clearer now"
    found = card(ASK, ("assistant", note), EDIT, ("assistant", report)).outcome
    assert found is not None
    assert found.text == "Comments: data flow is clearer now"


def test_the_number_of_a_finding_is_left_out() -> None:
    report = "**1. Rounding fixed** - `Ledger.total` rounds only once, at the end"
    found = card(ASK, EDIT, ("assistant", report)).outcome
    assert found is not None
    assert found.text.startswith("Rounding fixed")


@pytest.mark.parametrize(
    "command",
    [
        "./deploy.sh harbour 2.4.0",
        "kubectl rollout undo deployment/shop -n harbour",
        "cd infra && terraform apply -auto-approve",
        "restic -r /srv/nas backup /srv",
        "pg_upgrade -b old -B new",
        "twine upload dist/*",
        "npm publish --access public",
        "DATABASE=shop alembic upgrade head",
    ],
)
def test_a_successful_deployment_or_migration_is_done(command: str) -> None:
    ask = ("user", "Bring the new release of the shop to the harbour.")
    say = ("assistant", "The release is live in the harbour.")
    assert card(ask, shell(command, "done"), say).state.text == WorkState.DONE
    failed = shell(command, "error: refused", is_error="true")
    assert card(ask, failed, say).state.text == WorkState.ANSWERED


def test_a_request_of_the_agent_leaves_the_work_open() -> None:
    closing = "The ledger has two files. Please provide the one to round."
    assert card(ASK, ("assistant", closing)).state.text == WorkState.OPEN


def test_advice_of_the_agent_is_no_decision() -> None:
    advice = "Keep the ledger of invoices small, because auditors read every line."
    assert card(ASK, ("assistant", f"{REPORT} {advice}")).decisions == ()
    chosen = (
        "Keep the invoice ledger in files instead of tables, since auditors read it."
    )
    decisions = card(ASK, ("assistant", f"{REPORT} {chosen}")).decisions
    assert texts(decisions) == [chosen]


def test_a_question_after_a_failed_command_leaves_the_work_open() -> None:
    check = shell("pg_upgrade --check", "reg* data types: fatal", is_error="true")
    text = "The audit table uses a regclass column. Should I convert it to text?"
    found = card(ASK, check, ("assistant", text))
    assert found.state.text == WorkState.OPEN
    assert texts(found.left_open) == ["Not answered: Should I convert it to text?"]


def test_an_interrupted_request_is_left_open_and_earlier_ones_are_the_outcome() -> None:
    offline = ("user", "Can you also make the ledger work without a network?")
    plan = ("assistant", "That needs a service worker and a cache of 200 MB.")
    started = edit("/app/worker.ts", "a", "b")
    interruption = ("system", "[Request interrupted by user]")
    turns: list[Turn] = [ASK, EDIT, COMMIT, SAY, offline, plan, started, interruption]
    found = card(*turns)
    assert found.state.text == WorkState.ABANDONED
    assert found.outcome and found.outcome.text == REPORT
    assert texts(found.left_open)[0] == f"Interrupted: {offline[1]}"
    farewell = ("user", "I have to leave, we continue next week.")
    found = card(*turns, farewell)
    assert found.state.text == WorkState.OPEN
    assert texts(found.left_open) == [
        f"Interrupted: {offline[1]}",
        "1 changed file is not committed: worker.ts",
    ]


def test_a_farewell_is_no_request() -> None:
    for text in ("That's it for today, thanks!", "Bis morgen!", "Мне пора, до завтра."):
        found = card(ASK, EDIT, COMMIT, SAY, ("user", text))
        assert found.state.text == WorkState.DONE
        assert not found.left_open


@pytest.mark.parametrize(
    "text",
    [
        "Switch to NATS JetStream.",
        "Gut, dann gtfs-kit statt partridge.",
        "Нет, передумал. Используй PostgreSQL вместо файлов: серверов два.",
        "Use SVG circles instead, screen readers announce the emoji.",
    ],
)
def test_a_choice_of_the_user_between_two_things_is_a_decision(text: str) -> None:
    found = card(ASK, EDIT, SAY, ("user", text), EDIT, COMMIT, SAY)
    assert len(found.decisions) == 1 and texts(found.decisions)[0] in text
    assert not card(("user", text), EDIT, COMMIT, SAY).decisions


def test_what_was_dropped_later_is_no_decision() -> None:
    first = ("user", "Let's go with Redis streams, because Redis is already deployed.")
    last = "Redis streams were dropped because Redis is being retired in December."
    found = card(ASK, SAY, first, EDIT, COMMIT, ("assistant", f"{REPORT} {last}"))
    assert texts(found.decisions) == [last]


@pytest.mark.parametrize(
    "text",
    [
        "We chose integers over decimals because SQLite has no decimal type.",
        "Decision: totals are kept as cents, because SQLite has no decimal type.",
    ],
)
def test_a_decision_is_no_outcome(text: str) -> None:
    report = "The ledger counts cents."
    found = card(ASK, EDIT, ("assistant", f"{report} {text}"))
    assert found.outcome and found.outcome.text == report
    assert texts(found.decisions) == [text]
    assert card(ASK, EDIT, ("assistant", text)).outcome is None


@pytest.mark.parametrize(
    "text",
    [
        "Explain where the ledger loads the receipts later in the pipeline.",
        "List the receipts that we have to round tomorrow.",
        "Abort the transaction of the ledger if a receipt is missing.",
    ],
)
def test_a_request_about_later_or_aborting_is_answered(text: str) -> None:
    answer = (
        "The loader of the archive reads receipts, invoices, taxes, budgets, payroll,"
        " exports and reports from the folder of the customer at midnight."
    )
    found = card(ASK, SAY, ("user", text), ("assistant", answer))
    assert found.state.text == WorkState.ANSWERED
    assert not found.left_open


def test_an_offer_after_a_search_without_hits_leaves_nothing_open() -> None:
    search = shell("grep -rn rounding archive", "", is_error="true")
    offer = ("assistant", f"{REPORT} Would you like me to add a test?")
    assert card(ASK, EDIT, search, offer).state.text == WorkState.DONE


def test_a_commit_names_work_rather_than_a_remark() -> None:
    remark = ("user", "The build is running on the new machine now.")
    assert card(remark, EDIT, COMMIT, SAY).title == "Round invoices once"
    assert card(remark, SAY).title == "The build is running on the new machine now"
    assert card(remark, ASK, EDIT, COMMIT).title.startswith("Round the invoice totals")


def test_a_commit_names_work_rather_than_a_problem_or_a_cut_order() -> None:
    problem = ("user", "The totals of the invoices are wrong by a cent.")
    assert card(problem, EDIT, COMMIT, SAY).title == "Round invoices once"
    assert (
        card(problem, EDIT, SAY).title
        == "The totals of the invoices are wrong by a cent"
    )
    places = ", ".join(f"the ledger of the year {year}" for year in range(1990, 2000))
    order = ("user", f"Compare {places}")
    assert card(order, EDIT, SAY).title.startswith(
        "Compare the ledger of the year 1990"
    )
    assert card(order, EDIT, COMMIT, SAY).title == "Round invoices once"


@pytest.mark.parametrize(
    "step",
    [
        "I've analyzed the ledger and the receipts of the last two years.",
        "Based on my review, I have the content of all files of the ledger.",
        "Type `npm run ledger` and press Enter to see the totals of the ledger.",
    ],
)
def test_what_the_agent_looked_at_is_no_outcome(step: str) -> None:
    result = "The ledger rounds each tax of an invoice, then their sum."
    found = card(
        ("user", "Why is the ledger wrong?"), ("assistant", f"{step} {result}")
    )
    assert found.outcome is not None and found.outcome.text == result


def test_an_agent_words_a_request_that_says_little() -> None:
    problem = ("user", "The totals of the invoices are wrong agian.")
    restated = ("assistant", "I'll round the totals of all invoices in the ledger.")
    assert card(problem, restated, EDIT, SAY).title == (
        "Round the totals of all invoices in the ledger"
    )
    assert card(ASK, restated, EDIT, SAY).title == ASK[1][:-1]
    wish = ("user", "I want the totals of the invoices to be rounded only once.")
    assert card(wish, restated, EDIT, SAY).title == wish[1][:-1]


def test_a_request_that_was_interrupted_before_a_change_names_nothing() -> None:
    first = ("user", "Replace the printer driver of the office in the basement.")
    interruption = ("system", "[Request interrupted by user for tool use]")
    assert card(first, interruption, ASK, EDIT, SAY).title == ASK[1][:-1]
    assert card(first, EDIT, interruption, ASK, EDIT, SAY).title == first[1][:-1]
    go_on = ("user", "continue")
    assert card(first, interruption, go_on, EDIT, SAY).title == first[1][:-1]


def test_a_plan_names_the_work() -> None:
    problem = ("user", "The totals of the invoices are wrong by a cent.")
    plan = {"plan": "# Round the ledger once\n\n## Context\nTotals are wrong."}
    given = {"tool_name": "ExitPlanMode", "tool_input": json.dumps(plan)}
    proposal = ("tool", "ExitPlanMode: Round the ledger once", given)
    assert card(problem, proposal, EDIT, SAY).title == "Round the ledger once"
    wanted = ("user", "Implement this plan:\n\n# Arredondar os totais do caderno\n…")
    assert card(problem, SAY, wanted, EDIT, EDIT, EDIT, SAY).title == (
        "Arredondar os totais do caderno"
    )


def test_the_length_of_answers_is_effort() -> None:
    first = ("user", "Restart the server of the shop in the office.")
    long_answer = ("assistant", "The importer reads the receipts first. " * 100)
    second = ("user", "Describe how the importer reads the receipts of the shop.")
    assert card(first, SAY, second, SAY).title == first[1][:-1]
    assert card(first, SAY, second, long_answer).title == second[1][:-1]


def test_a_statement_that_leads_to_a_wish_names_the_work() -> None:
    situation = "The totals of the invoices are printed below the table."
    asked = ("user", f"{situation} Is there some way to print them above it?")
    later = ("user", "Read the ledger and the receipts of the last year first.")
    assert card(asked, SAY, later, EDIT, SAY).title == situation[:-1]


def test_a_change_that_only_the_agent_reports_is_done_and_the_outcome() -> None:
    explained = ("assistant", "Two requests may refresh at once. A mutex prevents it.")
    go_on = ("user", "Good, add it and run the tests.")
    added = ("assistant", "Added the mutex around the refresh call.")
    tests = shell("npm test", "Tests:  12 passed, 12 total")
    asked = ("user", "What about the race condition of the refresh tokens?")
    found = card(asked, explained, go_on, added, tests, ("user", "That worked!"))
    assert found.state.text == WorkState.DONE
    assert found.outcome is not None and found.outcome.text == added[1]


def test_a_request_that_is_replaced_does_not_name_the_work() -> None:
    first = ("user", "Let's start with the speed of the rounding in the ledger.")
    replaced = (
        "Actually, I am not worried about speed. Map out how invoices are totalled."
    )
    found = card(first, EDIT, SAY, ("user", replaced), EDIT, SAY)
    assert found.title == "Map out how invoices are totalled"


def test_a_commit_whose_subject_comes_from_standard_input_is_found() -> None:
    command = "git add -A && git commit -q -F - <<'EOF'\nRound once\n\nText\nEOF"
    assert texts(card(ASK, EDIT, shell(command, ""), SAY).commits) == ["Round once"]


def test_a_repository_that_is_created_and_pushed_is_pushed() -> None:
    create = shell("gh repo create shop --private --source=. --push", "✓ Created")
    assert card(ASK, EDIT, COMMIT, create, SAY).state.text == WorkState.PUSHED


@pytest.mark.parametrize(
    "text",
    [
        'Done — reads "the ledger rounds only once, see the paragraph before".',
        "5-hour limit reached ∙ resets 10pm",
        "/upgrade to increase your usage limit.",
    ],
)
def test_a_quotation_or_a_limit_is_no_outcome(text: str) -> None:
    found = card(ASK, EDIT, ("assistant", text)).outcome
    assert found is None or found.text not in text


def test_a_merge_does_not_name_the_work() -> None:
    remark = ("user", "The build is running on the new machine now.")
    merge = shell("git merge x", "[main 2b3c4d5] Merge branch 'rounding'")
    assert card(remark, COMMIT, merge, SAY).title == "Round invoices once"


def test_the_number_of_an_issue_is_explained_by_the_outcome() -> None:
    asked = ("user", "Please fix https://github.com/octo/shop/issues/7")
    closing = "The fix ensures that the ledger rounds only once."
    found = card(asked, EDIT, ("assistant", closing))
    assert found.title == "Fix shop #7: the ledger rounds only once"
    other = ("assistant", "Fixed: the API returned each invoice of the ledger twice.")
    assert card(asked, EDIT, other).title.startswith("Fix shop #7: Fixed: the API")


def test_an_order_that_is_answered_by_a_question_is_open() -> None:
    question = ("assistant", "There are two ledgers. Which one do you mean?")
    assert card(ASK, question).state.text == WorkState.OPEN
    asked = ("user", "Which ledger rounds the totals?")
    assert card(asked, question).state.text == WorkState.ANSWERED


def test_a_message_that_was_sent_unfinished_does_not_name_the_work() -> None:
    start = "Round the totals of all invoices"
    whole = f"{start} that are older than a year"
    assert card(("user", start), ("user", whole), EDIT, SAY).title == whole
    assert card(("user", start), EDIT, SAY).title == start


def test_work_after_a_compaction_is_named_by_the_request_in_the_recap() -> None:
    recap = "This session is being continued.\nAll user messages:\n"
    turns = [("system", f'{recap}- "Round the totals of all invoices once"')]
    found = card(*turns, ("user", "continue"), EDIT, SAY)
    assert found.title == "Round the totals of all invoices once (continued)"


def test_a_part_of_earlier_work_is_named_by_what_it_achieved() -> None:
    earlier = [event(0, *ASK)]
    for said, title in (
        (
            REPORT,
            "Fixed the rounding: Ledger.total now adds cents and rounds only once",
        ),
        ("Found one more gap in the rounding.", f"{ASK[1][:-1]} (continued)"),
    ):
        work = read_work([event(1, *EDIT[:2], **EDIT[2]), event(2, "assistant", said)])
        assert make_card(work, earlier).title == title


def test_a_bare_command_of_the_agent_names_nothing() -> None:
    found = card(
        ("user", "/model openai/gpt-5.4"), ("user", "/ask what is delta?"), SAY
    )
    assert found.title == "What is delta?"


NPM_TEST_FAILED = "npm test (failed: FAIL a.test.ts)"
DOCKER_FAILED = "Error: Exit code 1\nCreating network\nERROR: java:8-jre: not found"


@pytest.mark.parametrize(
    ("calls", "line"),
    [
        ([shell("npm run build", "built in 2 s")], "npm run build (ok)"),
        ([shell("# once\nA=b npm run build", "built")], "npm run build (ok)"),
        ([shell("npm test", "FAIL a.test.ts", is_error="true")], NPM_TEST_FAILED),
        (
            [
                shell("npm test", "FAIL a.test.ts", is_error="true"),
                shell("npm run build", "built"),
                shell("npm test", "Tests: 3 passed, 3 total"),
            ],
            "npm run build (ok)",
        ),
        (
            [shell("docker compose up", DOCKER_FAILED, is_error="true")],
            "docker compose up (failed: ERROR: java:8-jre: not found)",
        ),
        (
            [
                shell("npm run lint", "1 warning"),
                shell("npm run build", "x.ts: error TS1005", is_error="true"),
                shell("cd /app && npm run build", "built in 2 s"),
            ],
            "npm run lint (ok); npm run build (ok)",
        ),
        (
            [shell("npm publish", "error: 403 Forbidden", is_error="true")],
            "npm publish (failed: error: 403 Forbidden)",
        ),
        (
            [
                shell(
                    "bun run lint",
                    "Chunk ID: ef36e7\nWall time: 1.4 seconds\n"
                    "Process exited with code 1\nOriginal token count: 15\nOutput:\n"
                    "x.ts: unused variable total",
                    is_error="true",
                )
            ],
            "bun run lint (failed: x.ts: unused variable total)",
        ),
        (
            [shell("npm ci && npm run build 2>&1 | tail -3", "0 errors")],
            "npm ci (ok); npm run build (ok)",
        ),
    ],
)
def test_builds_and_deployments_are_listed_with_their_last_result(
    calls: list[Turn], line: str
) -> None:
    found = card(ASK, *calls, SAY).commands
    assert found is not None and found.text == line


@pytest.mark.parametrize(
    "call",
    [
        shell("npm ci && npm run build", "error: no disk space", is_error="true"),
        shell("ls dist && npm run build", "ls: dist: not found", is_error="true"),
        shell("npm run build | tail -3", "error: no disk space"),
        shell("npm run build; npm run lint", "done"),
        shell("npm run build || true", "done"),
        shell("npm run build", "Command running in background with ID: b1"),
        shell("npm run test", "Tests: 3 passed, 3 total"),
        shell("mvn package", "[ERROR] no such goal\nBUILD FAILURE"),
        shell("ls build", "main.js"),
        COMMIT,
    ],
)
def test_commands_without_a_certain_result_are_not_listed(call: Turn) -> None:
    assert card(ASK, call, SAY).commands is None


def test_the_commands_of_a_plan_are_left_open_when_the_work_is_done() -> None:
    plan = (
        "Implement the following plan:\n# Plan: Round\n## Verification\n- `make lint`\n"
    )
    line = "Not run: `make lint`"
    assert line in texts(card(("user", plan), EDIT, COMMIT, SAY).left_open)
    assert line not in texts(card(("user", plan), EDIT).left_open)


@pytest.mark.parametrize(
    "closing",
    [
        "If the rounding still fails, we can round the totals by hand in the archive.",
        "Spawning a subagent that rounds the totals of the archive.",
    ],
)
def test_conditions_and_announcements_are_no_outcome(closing: str) -> None:
    found = card(ASK, EDIT, COMMIT, ("assistant", closing)).outcome
    assert found is not None and found.text == "Round invoices once"


def test_a_guess_is_no_outcome_beside_a_result() -> None:
    guess = "The rounding of the archive was likely wrong because of the old totals."
    found = card(ASK, EDIT, ("assistant", f"{guess} {REPORT}")).outcome
    assert found is not None and found.text == REPORT


def test_a_copied_terminal_is_not_what_was_asked_beside_a_request() -> None:
    copied = (
        "user",
        "➜ shop git:(main) ✗ git push origin main\nerror: no prek.toml found",
    )
    found = card(copied, SAY, ASK, SAY).asked
    assert found is not None and found.text == ASK[1]
    found = card(copied, SAY).asked
    assert found is not None and found.text.startswith("shop git")


NEXT_STEPS = """All invoices are rounded once now.

### Next Steps

1. **Manual testing** - Compare the printed receipts:
   - `/receipts/daily` with two currencies
   - `/receipts/weekly` with refunds
2. **Pull request** - Open it once the receipts are right:
"""


def test_all_items_of_the_next_steps_are_left_open_but_no_details() -> None:
    made = card(ASK, EDIT, ("assistant", NEXT_STEPS))
    assert texts(made.left_open) == [
        "Manual testing - Compare the printed receipts",
        "Pull request - Open it once the receipts are right",
    ]
    assert made.outcome and made.outcome.text == "All invoices are rounded once now."


def test_a_list_of_what_the_user_should_do_is_no_outcome() -> None:
    closing = (
        "The ledger rounds once. Before the release you should:\n\n"
        "- Added receipts: print two of them\n- Fixed amounts: compare them\n"
    )
    made = card(ASK, EDIT, ("assistant", closing))
    assert made.outcome and made.outcome.text == "The ledger rounds once."


def test_a_note_before_a_change_leaves_nothing_open() -> None:
    note = (
        "The ledger and the receipts have the same sums. The ledger rounds each line,"
        " which might not be ideal for invoices that no customer has received yet and"
        " for refunds that are not yet booked.\n\nThe sums become explicit:"
    )
    assert not card(ASK, EDIT, ("assistant", note), EDIT, SAY).left_open


def test_a_heading_that_states_nothing_is_no_outcome() -> None:
    closing = (
        "## Rounding Report - Ledger\n\n- Total: adds cents\n- Receipt: adds cents"
    )
    made = card(ASK, EDIT, ("assistant", closing))
    assert made.outcome and "Report" not in made.outcome.text


def test_the_commit_that_a_message_names_is_no_outcome() -> None:
    closing = (
        "Done. Changes committed.\n\n**Commit:** `1a2b3c4` - Round invoices once\n\n"
        "The ledger now enhances the sums of invoices.\n"
    )
    made = card(ASK, EDIT, COMMIT, ("assistant", closing))
    assert made.outcome
    assert made.outcome.text == "The ledger now enhances the sums of invoices."


def test_the_subject_of_a_commit_says_more_than_one_of_many_changes() -> None:
    closing = "- [ledger.py](app/ledger.py) - Enhanced the sums of invoices\n"
    made = card(ASK, EDIT, COMMIT, ("assistant", closing))
    assert made.outcome and made.outcome.text == "Round invoices once"


def test_a_noun_that_is_also_a_verb_may_begin_an_outcome() -> None:
    closing = "Refresh tokens of the ledger are rotated now."
    rest = "The receipts are as they were. No other file has changed."
    made = card(ASK, EDIT, COMMIT, ("assistant", f"{closing} {rest}"))
    assert made.outcome and made.outcome.text == closing


def test_what_will_be_done_is_no_outcome() -> None:
    closing = (
        "To round the totals of the ledger once, I will change `Ledger.total` in two"
        " places.\n\nThe receipts were rounded before they were added."
    )
    made = card(ASK, EDIT, ("assistant", closing))
    assert made.outcome
    assert made.outcome.text == "The receipts were rounded before they were added."


def test_a_problem_described_with_instead_of_is_no_decision() -> None:
    problem = "When I open the ledger instead of the total, I am sent to the receipts."
    assert not card(ASK, EDIT, SAY, ("user", problem), EDIT, SAY).decisions


def test_pending_as_a_name_leaves_nothing_open() -> None:
    closing = "Added a timer in `page.tsx` that silently refreshes pending actions."
    assert not card(ASK, EDIT, ("assistant", closing)).left_open
    closing = "The ledger rounds once. The review of the receipts is still pending."
    assert len(card(ASK, EDIT, ("assistant", closing)).left_open) == 1


def test_an_outcome_may_introduce_a_list() -> None:
    closing = (
        "Done — converted the header of the ledger to a list, so each item is a"
        " line:\n\n"
        "- **Application:** Ledger of the shop\n- **Period:** 2 to 4 June\n"
    )
    made = card(ASK, EDIT, ("assistant", closing))
    assert made.outcome
    assert made.outcome.text == (
        "converted the header of the ledger to a list, so each item is a line"
    )


def test_what_was_before_is_no_outcome() -> None:
    closing = "Before: yes, the ledger added cents.\n\nThe ledger rounds once."
    made = card(ASK, EDIT, ("assistant", closing))
    assert made.outcome and made.outcome.text == "The ledger rounds once."


def test_a_result_that_also_says_that_the_tests_pass_is_an_outcome() -> None:
    closing = (
        "All twelve ledgers round once, and the build and the tests pass.\n\n"
        "## Ledger\n\nThe receipts of May were left as they are.\n"
    )
    made = card(ASK, EDIT, ("assistant", closing))
    assert made.outcome and made.outcome.text.startswith("All twelve ledgers")


@pytest.mark.parametrize(
    ("closing", "outcome"),
    [
        (
            "### Amounts are real; totals are estimated\n\nThe report was fixed.",
            "Amounts are real; totals are estimated",
        ),
        (
            "## Overview\n\n- Open the ledger\n\nThe receipts were fixed in May.",
            "The receipts were fixed in May.",
        ),
    ],
)
def test_the_outcome_of_a_question_is_how_its_answer_begins(
    closing: str, outcome: str
) -> None:
    question = ("user", "What would a merge of the ledger look like?")
    made = card(question, ("assistant", closing))
    assert made.state.text == WorkState.ANSWERED
    assert made.outcome and made.outcome.text == outcome


def test_committed_in_chinese_is_no_outcome_and_an_offer_leaves_nothing_open() -> None:
    first = "已按方案 A 修复：账本只舍入一次，收据同步更新。"
    rest = "收据的旧数字保持不变。"
    last = "已提交并推送。\n\n- `make ledger`\n\n要不要我顺手整理剩余改动？"
    made = card(
        ("user", "账本的总额需要只舍入一次"),
        EDIT,
        ("assistant", f"{first}{rest}"),
        ("user", "提交推送"),
        COMMIT,
        PUSH,
        ("assistant", last),
    )
    assert made.state.text == WorkState.PUSHED
    assert made.outcome and made.outcome.text == first
    assert not made.left_open


def test_a_question_after_a_push_does_not_leave_work_open() -> None:
    closing = "Committed with --no-verify. Which ledger should come next?"
    made = card(ASK, EDIT, COMMIT, PUSH, ("assistant", closing))
    assert made.state.text == WorkState.PUSHED


def test_deciding_later_is_no_decision() -> None:
    plan = "先做账本内的分层重构，再决定是否拆分账本的包结构。"
    assert not card(("user", "评价这个方案"), ("assistant", plan)).decisions


SHELL = shell("ls", "ledger.py")
FINDING = "The receipts in `ledger.py` were rounded twice because of a missing flag."


def test_the_closing_message_of_a_turn_gives_the_outcome() -> None:
    closing = "All confirmed.\n\n- Receipts and totals agree in every ledger"
    found = card(ASK, EDIT, ("assistant", FINDING), SHELL, ("assistant", closing))
    assert found.outcome
    assert found.outcome.text == "Receipts and totals agree in every ledger"
    # There may be no closing message.
    found = card(ASK, EDIT, ("assistant", FINDING), SHELL)
    assert found.outcome and found.outcome.text == FINDING


@pytest.mark.parametrize(
    ("request_text", "result"),
    [
        (ASK[1], "I've completed the review of the ledger and its receipts."),
        (ASK[1], "We've written a check of the ledger's totals."),
        (ASK[1], "The new ledger of the shop is live!"),
        (ASK[1], "Swapped the rounding over to whole cents."),
        (
            "Runde die Rechnungen nur einmal",
            "Die Rundung der Rechnungen wurde erfolgreich umgestellt.",
        ),
        (
            "Corrija o arredondamento das faturas",
            "Implementado o arredondamento das faturas.",
        ),
        ("请修复发票总额的四舍五入", "已修复发票总额的四舍五入问题。"),
    ],
)
def test_what_was_completed_is_the_outcome_before_its_details(
    request_text: str, result: str
) -> None:
    detail = "`rounding.py:12` fails with an error if the `scale` is missing."
    report = f"{result}\n\n{detail}\n\n- {FINDING}"
    found = card(("user", request_text), EDIT, ("assistant", report))
    assert found.outcome and found.outcome.text == result


def test_a_cause_after_fixed_is_the_outcome() -> None:
    cause = "The issue was that the ledger swapped cents and totals."
    closing = f"Fixed!\n\n{cause}\n\nThe receipts keep the old numbers of the ledger."
    found = card(ASK, EDIT, ("assistant", closing))
    assert found.outcome and found.outcome.text == cause


def test_quotations_boxes_code_and_options_are_no_outcome() -> None:
    rule = "─" * 40
    closing = (
        f"`★ Insight {rule}`\nThe ledger uses its own key format.\n`{rule}`\n\n"
        "> The totals of the ledger must be exact.\n\n"
        "ledger.total(str(cents), scale)\n\n"
        "The cents come from one of:\n- The ledger's cache of totals\n\n"
        "Receipts and totals agree."
    )
    found = card(ASK, EDIT, ("assistant", closing))
    assert found.outcome and found.outcome.text == "Receipts and totals agree."


def test_a_short_last_answer_does_not_replace_a_long_one() -> None:
    answer = "The ledger rounds every receipt before it adds the cents to its total."
    turns: list[Turn] = [
        ("user", "Where does the ledger round its totals?"),
        ("assistant", f"{answer} It then rounds again in the invoice, which is wrong."),
        ("user", "How do I leave this program?"),
        ("assistant", "Ctrl+D leaves the program."),
    ]
    found = card(*turns)
    assert found.state.text == WorkState.ANSWERED
    assert found.outcome and found.outcome.text == answer
    # Calls show that it was more than a question.
    found = card(*turns[:3], SHELL, turns[3])
    assert found.outcome and found.outcome.text == turns[3][1]


@pytest.mark.parametrize(
    "text",
    ["It keeps showing up", "still the same error", "Geht nicht.", "还是不对"],
)
def test_a_last_complaint_leaves_the_work_open(text: str) -> None:
    answer = ("assistant", "The error comes from the cache of the receipts.")
    found = card(ASK, EDIT, SAY, ("user", text), answer)
    assert found.state.text == WorkState.OPEN
    assert card(ASK, EDIT, SAY, ("user", text), EDIT, SAY).state.text == WorkState.DONE


def test_watching_after_a_push_does_not_leave_the_work_open() -> None:
    watch = shell("gh run watch 7", "Test and build in 40s")
    piped = shell(
        "npm ci | tail -3 && git push 2>&1 | tail", "1a2b..3c4d  main -> main"
    )
    note = ("assistant", "Let me watch the run.")
    assert card(ASK, EDIT, COMMIT, piped, watch).state.text == WorkState.PUSHED
    assert card(ASK, EDIT, COMMIT, PUSH, note).state.text == WorkState.PUSHED
    assert card(ASK, EDIT, COMMIT, PUSH, EDIT, watch).state.text == WorkState.OPEN
    more = ("user", "Now round the receipts of the shop, too.")
    assert card(ASK, EDIT, COMMIT, PUSH, SAY, more, SHELL).state.text == WorkState.OPEN


def test_an_interruption_after_finished_work_does_not_undo_it() -> None:
    cut: list[Turn] = [("user", "Where are the receipts of March kept?"), SHELL]
    cut.append(("system", "[Request interrupted by user]"))
    found = card(ASK, EDIT, SAY, *cut)
    assert found.state.text == WorkState.DONE
    assert (
        texts(found.left_open)[0]
        == "Interrupted: Where are the receipts of March kept?"
    )
    assert card(ASK, SAY, EDIT, *cut[:1], EDIT, *cut[1:]).state.text == (
        WorkState.ABANDONED
    )


def test_removed_files_are_neither_changed_nor_left_open() -> None:
    probe = edit("/app/probe.py", "a", "b")
    found = card(ASK, EDIT, COMMIT, EDIT, probe, shell("rm -f probe.py", ""), SAY)
    assert [change.path for change, _ in found.files] == ["/app/ledger.py"]
    assert texts(found.left_open) == ["1 changed file is not committed: ledger.py"]


def test_what_a_closing_message_calls_committed_is_not_left_open() -> None:
    closing = f"{REPORT}\n\n- Commit: `f6e86220 fix: round once`"
    found = card(ASK, EDIT, COMMIT, EDIT, ("assistant", closing))
    assert not found.left_open


def test_what_need_not_be_done_is_not_left_open() -> None:
    for closing in (
        "The ledger is rounded. The receipts don't need to be rounded again.",
        "The ledger rounds. Once you use cents, you still have to add the receipts.",
    ):
        assert not card(ASK, EDIT, ("assistant", closing)).left_open


def test_praise_and_proposals_are_not_quoted() -> None:
    for text in (
        "This is a great design for the ledger and its receipts.",
        "Now let's write tests for the new ledger and its receipts.",
        "But first, let's identify where the ledger rounds its receipts.",
    ):
        work = work_of(ASK, ("assistant", f"{text}\n\n{REPORT}"), EDIT, SAY)
        assert text not in [
            line.text for line, score in find_statements(work, "") if score > 0
        ]


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("sed -i '' '/cost: 0/d' src/ledger.py && git diff", ["ledger.py"]),
        ('sed -i -e "s/cent/cents/" a/one.py two.py; ls', ["one.py", "two.py"]),
        ("cat > src/receipts.py <<'EOF'\nprint(1)\nEOF", ["receipts.py"]),
        ("echo 1 && tee -a notes.md << EOF\none\nEOF", ["notes.md"]),
        ("cat <<'EOF' > Makefile\nall:\nEOF", ["Makefile"]),
        (
            "sed --in-place -E s/a/b/ ./one.py; sed -n -i.bak s/a/b/ two.py",
            ["one.py", "two.py"],
        ),
        ("cat > /var/folders/7x/check.py <<'EOF'\nprint(1)\nEOF", []),
        ("cd /var/folders/7x && cat > check.py <<'EOF'\nprint(1)\nEOF", []),
        ("python cat.py <<EOF\n1\nEOF", []),
        ("cat notes.md <<< one", []),
        ("git commit -m \"Use sed -i 's/a/b/' x.py\"", []),
        ("sed -n 1,20p src/ledger.py", []),
        ("cat src/ledger.py", []),
    ],
)
def test_files_that_a_shell_command_edits_are_changes(
    command: str, names: list[str]
) -> None:
    found = card(ASK, shell(command, ""), ("assistant", "What is next?"))
    assert [str(change) for change, _ in found.files] == names


def test_a_file_that_a_tool_and_a_command_change_is_listed_once() -> None:
    turns = (
        edit("/app/src/ledger.py", "a", "b"),
        shell("sed -i s/b/c/ src/ledger.py", ""),
    )
    for changes in (turns, turns[::-1]):
        found = card(ASK, *changes, ("assistant", "What is next?"))
        assert [str(change) for change, _ in found.files] == ["ledger.py +1 −1"]
