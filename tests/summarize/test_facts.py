"""Facts: what calls did, and what was asked and answered."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from memtui.model import events
from memtui.model.events import Event, EventRole, EventType
from memtui.model.work import EndKind, FileChange, join_facts
from memtui.summarize.facts import count_changed_lines, count_tests, read_facts

AT = datetime(2026, 8, 1, 9, tzinfo=UTC)
SECONDS = count()


def made(what: EventType, text: str, agent: str = "claude-code", **more: str) -> Event:
    """An event, a second after the last one."""
    subagent, role = more.pop("subagent", ""), more.pop("role", "")
    return events.make(
        agent=agent,
        session_id="s1",
        timestamp=AT + timedelta(seconds=(number := next(SECONDS))),
        event_type=what,
        text=text,
        source_key=str(number),
        role=EventRole(role) if role else None,
        metadata=more,
        subagent=subagent,
    )


def user(text: str, **more: str) -> Event:
    return made(EventType.USER_MESSAGE, text, **more)


def agent(text: str, **more: str) -> Event:
    return made(EventType.ASSISTANT_MESSAGE, text, **more)


def call(
    tool: str, given: Mapping[str, object] | str, result: str = "", **more: str
) -> Event:
    tool_input = given if isinstance(given, str) else json.dumps(given)
    return made(
        EventType.TOOL_RESULT,
        f"{tool}: …\n{result}",
        tool_name=tool,
        tool_input=tool_input,
        **more,
    )


def bash(command: str, result: str = "", **more: str) -> Event:
    return call("Bash", {"command": command}, result, **more)


ANSWER = "[main abc1234] Fix it\n 2 files changed, 20 insertions(+), 4 deletions(-)"


# Answers


def ask(tool: str, question: str, result: str, **more: str) -> Event:
    return call(tool, {"questions": [{"question": question}]}, result, **more)


@pytest.mark.parametrize(
    "tool", ["AskUserQuestion", "request_user_input", "ask_user", "question"]
)
def test_what_the_user_answered_is_a_fact(tool: str) -> None:
    event = ask(tool, "Which one?", '"Which one?"="The second". Go on.')
    (answer,) = read_facts([event]).answers
    assert (answer.question, answer.text) == ("Which one?", "The second")
    assert answer.event_id == event.event_id


def test_a_question_that_the_user_refused_or_that_failed_has_no_answer() -> None:
    answered = '"Which one?"="The second".'
    events = [
        ask("AskUserQuestion", "Which one?", "The user doesn't want to proceed."),
        ask("AskUserQuestion", "Which one?", answered, call_end="failed"),
        call("mcp__wiki__ask_question", {"question": "Which one?"}, answered),
    ]
    assert not read_facts(events).answers


# Commits


def test_the_answer_of_git_gives_subject_hash_branch_and_lines() -> None:
    (commit,) = read_facts([bash("git commit -m 'Fix it'", ANSWER)]).commits
    assert (commit.subject, commit.hash) == ("Fix it", "abc1234")
    assert (commit.branch, commit.lines) == ("main", 24)


@pytest.mark.parametrize(
    "command",
    [
        'cd app && git add -A && git commit -m "Fix it" && git log --oneline -3',
        "git -C app -c user.name=Ada commit -am 'Fix it'",
        "git commit --message='Fix it' | tail -1",
        "git commit -q -mFix\\ it",
        "GIT_EDITOR=true sudo git commit -m 'Fix it'",
        "git commit -m \"$(cat <<'EOF'\nFix it\n\nIt said \"no\" and 'yes'.\nEOF\n)\"",
        "git commit -F - <<EOF\nFix it\n\nbody\nEOF",
        "cat <<'EOF' | git commit -F -\nFix it\nEOF",
        "bash -lc \"git add . && git commit -m 'Fix it'\"",
        "(cd app; git commit -m 'Fix it')",
        "git commit -m 'Fix it' -m 'Because it was broken.'",
    ],
)
@pytest.mark.parametrize("result", ["", ANSWER])
def test_a_commit_is_found_in_any_command_with_or_without_an_answer(
    command: str, result: str
) -> None:
    (commit,) = read_facts([bash(command, result)]).commits
    assert commit.subject == "Fix it"


@pytest.mark.parametrize(
    ("command", "result"),
    [
        ("git commit -m 'Fix it' && git status -s", "?? cart.py"),
        ("git commit -m 'Fix it' | tail -1", " create mode 100644 cart.py"),
        ("git commit -m 'Fix it' 2>&1 | tail -1", " 1 file changed, 1 deletion(-)"),
        ("git commit -qm 'Fix it'; git log --oneline", "abc1234 Fix it"),
        ("git commit -m 'Fix it' > commit.log; cat VERSION", "1.2"),
    ],
)
def test_a_commit_that_succeeded_needs_no_answer(command: str, result: str) -> None:
    (commit,) = read_facts([bash(command, result)]).commits
    assert commit.subject == "Fix it"


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("shell", {"command": ["bash", "-lc", "git commit -m 'Fix it'"]}),
        ("shell", {"command": ["git", "commit", "-m", "Fix it"]}),
        ("exec_command", {"cmd": "git commit -m 'Fix it'"}),
        ("run_shell_command", {"command": "git commit -m 'Fix it'"}),
        ("bash", {"command": "git commit -m 'Fix it'"}),
        ("powershell", {"command": 'git commit -m "Fix it"'}),
    ],
)
def test_every_agent_commits(tool: str, given: Mapping[str, object]) -> None:
    (commit,) = read_facts([call(tool, given)]).commits
    assert commit.subject == "Fix it"


@pytest.mark.parametrize(
    ("command", "result", "call_end"),
    [
        ("git commit -m 'Fix it'", "Exit code 1\nlint failed", "failed"),
        ("git commit -m 'Fix it'", "nothing to commit, working tree clean", ""),
        ("git commit -m 'Fix it'; true", "pre-commit hook failed", ""),
        ("git commit -m 'Fix it'; echo rc=$?", "lint: 3 problems\nrc=1", ""),
        ("git commit -m 'Fix it' 2>&1 | tail -2", "lint: 3 problems", ""),
        ("git commit -m 'Fix it' && git push; date", "exited with code 1", ""),
        ("git commit -m 'Fix it'", "The user doesn't want to proceed", "failed"),
        ("echo 'git commit -m hello; world'", "git commit -m hello; world", ""),
        ("echo git commit -m hello", ANSWER, ""),
        ("cat > commit.sh <<'EOF'\ngit commit -m hello\nEOF", "", ""),
        ("git log -3", ANSWER, ""),
        ("grep -rn 'git commit -m' README.md", ANSWER, ""),
        ("git commit --dry-run -m 'Fix it'", "", ""),
        ("git revert --abort", "", ""),
        ("git diff --cached --quiet || git commit -m 'Fix it'", "", ""),
        ('git commit -m "$MESSAGE"', "", ""),
        ("cd $(mktemp -d) && git init -q && git commit -qm 'Try it'", "", ""),
        ("ls # git commit -m hello", "", ""),
        ("git commit-tree -m hello HEAD", "", ""),
    ],
)
def test_what_is_no_commit(command: str, result: str, call_end: str) -> None:
    assert not read_facts([bash(command, result, call_end=call_end)]).commits


def test_a_commit_to_a_temporary_repository_is_left_out() -> None:
    command = "cd /tmp/try && git init -q && git commit --allow-empty -m 'Try it'"
    assert not read_facts([bash(command)]).commits


def test_a_broken_off_call_made_no_commit() -> None:
    event = bash("git commit -m 'Fix it'", call_end="unfinished")
    facts = read_facts([event])
    assert (facts.commits, facts.end) == ((), EndKind.CALL)


def test_a_commit_counts_if_a_later_command_of_the_chain_fails() -> None:
    event = bash("git commit -m 'Fix it' && git push", ANSWER, call_end="failed")
    facts = read_facts([event])
    assert len(facts.commits) == 1
    assert not facts.pushes


@pytest.mark.parametrize(
    ("command", "is_commit"),
    [
        ("git commit -m 'Fix it'", False),
        ("cd shop && git commit -m 'Fix it'", False),
        ("git commit -m 'Fix it' && git push", True),
    ],
)
def test_commit_whose_own_exit_status_is_an_error_was_not_made(
    command: str, *, is_commit: bool
) -> None:
    event = bash(command, ANSWER, call_end="failed", exit_status="1")
    assert bool(read_facts([event]).commits) == is_commit


def test_amended_commit_counts_once() -> None:
    first = bash("git commit -m 'Fix it'", ANSWER)
    other = bash("git commit --amend --no-edit", ANSWER.replace("abc1234", "def5678"))
    (commit,) = read_facts([first, other]).commits
    assert commit.hash == "def5678"
    (joined,) = join_facts([read_facts([first]), read_facts([other])]).commits
    assert joined == commit


def test_an_amended_commit_replaces_no_commit_of_an_earlier_part() -> None:
    earlier = bash("git commit -m 'Begin'")
    told = [bash("git commit -m 'Fix it'"), bash("git commit --amend -m 'Fix it all'")]
    joined = join_facts([read_facts([earlier]), read_facts(told)])
    assert [c.subject for c in joined.commits] == ["Begin", "Fix it all"]
    assert joined.commits == read_facts([earlier, *told]).commits


@pytest.mark.parametrize(
    ("commands", "subjects"),
    [
        (["git commit -m a && git reset --hard HEAD~1"], []),
        (["git commit -m a", "git commit -m b", "git reset -q HEAD^"], ["a"]),
        (["git commit -m a", "git commit -m b", "git reset @~2 2>&1"], []),
        (["git commit -m a", "git commit -m b", "git reset HEAD^^"], []),
        (["git commit -m a; git reset --soft HEAD~; git commit -m b"], ["b"]),
        (["git commit -m a", "git reset --hard HEAD~9"], []),
        (["git commit -m a", "git reset --hard", "git reset HEAD"], ["a"]),
        (["git commit -m a", "git reset HEAD~1 -- prices.py"], ["a"]),
        (["git commit -m a", "make || git reset --hard HEAD~1"], ["a"]),
        (["git commit -m a", "git switch b && git reset --hard HEAD~1"], ["a"]),
        (["git commit -m a", "git commit", "git reset --hard HEAD~1"], ["a"]),
    ],
)
def test_a_commit_that_is_undone_is_left_out(
    commands: list[str], subjects: list[str]
) -> None:
    commits = read_facts([bash(command) for command in commands]).commits
    assert [commit.subject for commit in commits] == subjects


def test_all_commits_of_a_command_are_found() -> None:
    result = "[main abc1234] One\n 1 file changed, 1 insertion(+)\n[main abc1235] Two"
    commits = read_facts([bash("for f in a b; do git commit -m $f; done", result)])
    assert [(c.subject, c.lines) for c in commits.commits] == [("One", 1), ("Two", 0)]


@pytest.mark.parametrize(
    "command",
    [
        "git commit -m 'Fix it'; cat notes.txt",
        "cat notes.txt; git commit -F - <<EOF\nFix it\n\nbody\nEOF",
        "git add . && git commit; cat notes.txt",
        'git commit -m "Fix $WHAT"; cat notes.txt',
    ],
)
def test_what_other_programs_print_is_no_commit(command: str) -> None:
    notes = "[main 9999999] Words of a file\n 1 file changed, 900 insertions(+)"
    event = bash(command, f"{ANSWER}\n{notes}\n{ANSWER}")
    (commit,) = read_facts([event]).commits
    assert (commit.subject, commit.hash, commit.lines) == ("Fix it", "abc1234", 24)
    (commit,) = read_facts([bash("git commit -qm 'Fix it'; cat notes", notes)]).commits
    assert (commit.subject, commit.hash, commit.lines) == ("Fix it", "", 0)


def test_what_a_command_shows_is_not_what_git_answers() -> None:
    script = "git commit -F - <<EOF\nFix it\n\n[main 9999999] No answer\nEOF"
    event = made(
        EventType.TOOL_RESULT,
        f"{script}\n{ANSWER}",
        tool_name="Bash",
        tool_input=json.dumps({"command": script}),
    )
    assert [c.subject for c in read_facts([event]).commits] == ["Fix it"]


def test_a_commit_is_found_anywhere_in_a_long_output() -> None:
    noise = "checked\n" * 2_000
    (commit,) = read_facts(
        [bash("git commit -m 'Fix it'", f"{noise}{ANSWER}\n{noise}")]
    ).commits
    assert (commit.hash, commit.lines) == ("abc1234", 24)


@pytest.mark.parametrize(
    ("command", "answers"),
    [
        ("git commit -m 'Fix\nit' -m body", ["Fix it"]),
        ("git commit -m $'Fix it\\n\\nbody'", ["Fix it"]),
        ("git commit -m @'\nFix it\n\nbody\n'@", ["Fix it"]),
        ("git commit --fixup HEAD~1", ["fixup! Fix it"]),
        ("git revert -m 1 HEAD~2..HEAD", ['Revert "Two"', 'Revert "One"']),
        ("git commit -m Two; git commit", ["One", "Two"]),
        ('ls | while read f; do git commit -m "Add $f"; done', ["Add a", "Add b"]),
        ('add() { git commit -m "Add $1"; }; add a; add b', ["Add a", "Add b"]),
    ],
)
def test_every_answer_that_fits_a_command_is_a_commit(
    command: str, answers: list[str]
) -> None:
    result = "\n".join(f"[main abc123{n}] {text}" for n, text in enumerate(answers))
    commits = read_facts([bash(command, result)]).commits
    assert [commit.subject for commit in commits] == answers


@pytest.mark.parametrize(
    ("result", "tool", "given"),
    [
        ("Process running with session ID 4711", "write_stdin", {"session_id": 4711}),
        ("Script running with cell ID 4711\nOutput:\n", "wait", {"cell_id": "4711"}),
        (
            "<command with shellId: build-1 is still running after 30 seconds.>",
            "read_powershell",
            {"shellId": "build-1"},
        ),
        (
            "Command did not complete within its 120s timeout and was moved to the"
            " background (ID: b1). You will be notified.",
            "TaskOutput",
            {"task_id": "b1"},
        ),
    ],
)
def test_a_command_that_goes_on_running_commits_when_it_is_waited_for(
    result: str, tool: str, given: Mapping[str, object]
) -> None:
    begun = call("exec_command", {"cmd": "git commit -m 'Fix it'"}, result)
    waited = call(tool, given, ANSWER)
    assert not read_facts([begun]).commits
    (commit,) = read_facts([begun, waited]).commits
    assert commit.event_id == waited.event_id


def test_aider_commits_its_own_changes_after_those_of_the_user() -> None:
    note = "Commit 1234567 Save\nCommit 7654321 feat: Add greeting"
    asked = user("Add a greeting", agent="aider")
    answered = agent("Here it is.", agent="aider")
    edited = made(EventType.TOOL_RESULT, f"aider\n{note}", "aider", tool_name="aider")
    (commit,) = read_facts([asked, answered, edited]).commits
    assert (commit.subject, commit.hash) == ("feat: Add greeting", "7654321")
    assert not read_facts([asked, edited]).commits


# Publishing

PUSHED = "To github.com:ada/shop.git\n   abc1234..def5678  main -> main"
NEW_TAG = " * [new tag]         v1 -> v1"


@pytest.mark.parametrize(
    ("command", "result", "call_end", "branches"),
    [
        ("git push", PUSHED, "", ["main"]),
        ("git push -q origin main", "", "", ["git push -q origin main"]),
        ("git push && make", PUSHED, "failed", ["main"]),
        ("git push", " ! [rejected] main -> main (fetch first)", "", []),
        ("git push", "error: failed to push some refs", "failed", []),
        ("git push origin --delete old", "", "", []),
        ("git push origin :old", " - [deleted] old", "", []),
        ("gh repo create shop --source . --push", "", "", ["gh repo create shop…"]),
        ("echo git push", "", "", []),
        ("git push", "Everything up-to-date", "", []),
        ("git push --tags 2>&1", NEW_TAG, "", []),
        ("git push origin --tags", "", "", []),
        ("git push origin v1", NEW_TAG, "", []),
        ("git push origin tag v1", "", "", []),
        ("git push --tags origin main", f"{PUSHED}\n{NEW_TAG}", "", ["main"]),
        ("git push --follow-tags", f"{PUSHED}\n{NEW_TAG}", "", ["main"]),
        ("git push && git push --tags", f"{PUSHED}\n{NEW_TAG}", "", ["main"]),
    ],
)
def test_pushes(command: str, result: str, call_end: str, branches: list[str]) -> None:
    pushes = read_facts([bash(command, result, call_end=call_end)]).pushes
    assert len(pushes) == len(branches)
    assert all(p.text[:15] == b[:15] for p, b in zip(pushes, branches, strict=True))


def test_a_pull_request_has_a_title_and_a_number() -> None:
    url = "https://github.com/ada/shop/pull/12"
    (request,) = read_facts(
        [bash('gh pr create --title "Round prices" --body "…"', url)]
    ).pull_requests
    assert (request.title, request.number) == ("Round prices", 12)
    assert not read_facts(
        [bash("gh pr create --title x", url, call_end="failed")]
    ).merges
    assert not read_facts([bash("gh pr view 12", url)]).pull_requests


def test_the_last_pull_request_that_a_command_names_is_the_one_it_opened() -> None:
    link = "https://github.com/ada/shop/pull/"
    result = f"Warning: see {link}5\n{link}9"
    (request,) = read_facts([bash("gh pr create --fill", result)]).pull_requests
    assert request.number == 9
    output = f"a pull request for this branch already exists: {link}5"
    assert not read_facts([bash("gh pr create || true", output)]).pull_requests
    trial = bash("gh pr create --fill --dry-run", result)
    assert not read_facts([trial]).pull_requests
    given = {"title": "Round prices"}
    answer = f'{{"number": 9, "html_url": "{link}9", "milestone": {{"number": 1}}}}'
    event = call("mcp__github__create_pull_request", given, answer)
    (request,) = read_facts([event]).pull_requests
    assert (request.title, request.number) == ("Round prices", 9)


@pytest.mark.parametrize(
    ("command", "result", "is_merged"),
    [
        ("gh pr merge 12 --squash --delete-branch", "", True),
        ("gh pr merge 12 --auto", "", False),
        ("git checkout main && git merge feature", "Fast-forward", True),
        ("git merge origin/main", "Merge made by 'ort'", False),
        ("git merge feature", "Already up to date.", False),
        ("git merge feature | cat", "CONFLICT (content): prices.py", False),
        ("git merge --abort", "", False),
    ],
)
def test_merges(command: str, result: str, is_merged: bool) -> None:
    assert bool(read_facts([bash(command, result)]).merges) is is_merged


# Tests


@pytest.mark.parametrize(
    ("output", "counts"),
    [
        ("=== 2 failed, 5 passed, 1 skipped in 0.12s ===", (5, 2)),
        ("===== 3 passed, 1 error in 0.10s =====", (3, 1)),
        ("5 passed, 1 warning", (5, 0)),
        ("Tests:       34 failed, 169 skipped, 660 passed, 863 total", (660, 34)),
        (
            " Test Files  1 failed | 3 passed (4)\n      Tests  2 failed | 9 passed",
            (9, 2),
        ),
        ("test result: ok. 5 passed; 0 failed; 1 ignored\n" * 2, (10, 0)),
        (" 1219 pass\n 1 fail\n 16 errors\n3 expect() calls", (1219, 1)),
        ("# tests 4\n# pass 3\n# fail 1", (3, 1)),
        ("ℹ pass 3\nℹ fail 0", (3, 0)),
        ("  12 passing (3s)\n  1 failing", (12, 1)),
        ("  1 failed\n    [chromium] a.spec.ts\n  12 passed (5.0s)", (12, 1)),
        ("Ran 12 tests in 0.1s\n\nOK", (12, 0)),
        ("Ran 12 tests in 0.1s\n\nFAILED (failures=1, errors=2)", (9, 3)),
        (
            "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time: 1 s\n"
            "[ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1",
            (2, 2),
        ),
        ("12 tests completed, 1 failed", (11, 1)),
        ("12 examples, 1 failure, 2 pending", (9, 1)),
        ("12 runs, 30 assertions, 1 failures, 0 errors, 0 skips", (11, 1)),
        ("OK (12 tests, 30 assertions)", (12, 0)),
        ("Tests: 12, Assertions: 30, Failures: 1.", (11, 1)),
        (
            "Passed!  - Failed:     0, Passed:    12, Skipped:     0, Total:    12",
            (12, 0),
        ),
        ("Total tests: 13\n     Passed: 12\n     Failed: 1", (12, 1)),
        ("ok | 12 passed | 1 failed (10ms)", (12, 1)),
        (
            "     Summary [   0.1s] 12 tests run: 11 passed, 1 failed, 0 skipped",
            (11, 1),
        ),
        ("--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.01s)\nFAIL\tshop\t0.2s", (1, 1)),
        ("ok  \tshop/prices\t0.2s\nok  \tshop/cart\t(cached)", (2, 0)),
        ("Results: 739 passed, 0 failed, 739 total", (739, 0)),
    ],
)
def test_the_summaries_of_test_runners_are_counted(
    output: str, counts: tuple[int, int]
) -> None:
    assert count_tests(f"collecting …\n\n{output}\n") == counts


@pytest.mark.parametrize(
    "output",
    [
        "",
        "All checks passed!",
        "Passed 3 arguments to f",
        "It failed.",
        "3 tests failed",
    ],
)
def test_output_without_a_summary_counts_nothing(output: str) -> None:
    assert count_tests(output) is None


def test_counts_that_are_only_looked_at_are_no_test_run() -> None:
    looked_at = [
        bash("cat results.log", "5 passed in 0.1s"),
        bash("gh run view --log | grep passed", "5 passed in 0.1s"),
    ]
    assert not read_facts(looked_at).test_runs
    run = bash("cd app && uv run pytest -q 2>&1 | tail -3", "5 passed in 0.1s")
    (tested,) = read_facts([run]).test_runs
    assert (tested.passed, tested.command) == (5, "uv run pytest -q")


# Files


def test_the_agents_own_counts_are_exact() -> None:
    given = {"file_path": "a.py", "old_string": "x", "new_string": "y"}
    (change,) = read_facts([call("Edit", given, "ok", lines="+12 -3")]).files
    assert (change.path, change.added, change.removed) == ("a.py", 12, 3)
    patch = call("apply_patch", {"path": ["a", "b"]}, lines="+1 -2 src/a b\n+0 -5 c")
    assert [(f.path, f.added, f.removed) for f in read_facts([patch]).files] == [
        ("src/a b", 1, 2),
        ("c", 0, 5),
    ]


def changes(*called: Event) -> list[tuple[str, int, int]]:
    return [(f.path, f.added, f.removed) for f in read_facts(called).files]


def test_lines_are_compared_without_counts() -> None:
    edits = [{"old_string": "a\nb", "new_string": "a\nc\nd"}, {"new_string": "e"}]
    assert changes(call("MultiEdit", {"file_path": "a.py", "edits": edits})) == [
        ("a.py", 3, 1)
    ]
    patch = (
        "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n+z\n context\n"
        "*** Add File: b.py\n+new\n*** End Patch"
    )
    assert changes(call("apply_patch", patch)) == [("a.py", 2, 1), ("b.py", 1, 0)]


def test_a_file_that_is_written_again_is_compared_with_what_was_written() -> None:
    first = call("Write", {"file_path": "a.py", "content": "a\nb\nc"})
    second = call("Write", {"file_path": "a.py", "content": "a\nc\nd"})
    assert changes(first, second) == [("a.py", 3, 0), ("a.py", 1, 1)]


def test_a_failed_edit_changes_nothing() -> None:
    given = {"file_path": "a.py", "old_string": "x", "new_string": "y"}
    refused = "<tool_use_error>String to replace not found</tool_use_error>"
    assert not changes(call("Edit", given, refused, call_end="failed"))
    assert not changes(call("Read", {"file_path": "a.py"}, "x"))


@pytest.mark.parametrize(
    ("command", "changed"),
    [
        ("sed -i 's/x/y/' src/a.py b.py", [("src/a.py", 0), ("b.py", 0)]),
        ("sed -i '' -e s/x/y/ -e s/y/z/ a.py", [("a.py", 0)]),
        ("cd app && sed -Ei.bak 's/x|i/y/' a.py", [("app/a.py", 0)]),
        ("perl -pi -e 's/x/y/' ./a.py", [("a.py", 0)]),
        ("perl -ne 'print' a.py", []),
        (
            "make 2>err.txt | tee -a out.txt; echo x >> a.py",
            [("out.txt", 0), ("a.py", 0)],
        ),
        ("mv a.py b.py && git mv -f c.md docs/", [("b.py", 0), ("docs/c.md", 0)]),
        (
            "cp a.py b.py lib && mv old new && cp -r a b.d",
            [("lib/a.py", 0), ("lib/b.py", 0)],
        ),
        ("test -f x || echo y > a.py; if b; then c; echo > a.py; fi", []),
        ("[[ 1 > 2 ]]; echo a > /dev/null; echo b >&2; cd /tmp && echo c > d", []),
        ("echo 'a > b' \"c > d\"; ls > $OUT; cd $X && echo > a.py", []),
        (r"cd 'C:\app' && echo > a.py && type b > NUL", [("C:/app/a.py", 0)]),
        ("cat > src/a.py <<'EOF'\nx\ny\nEOF", [("src/a.py", 2)]),
        ("cat <<EOF >>a.py\nx\nEOF", [("a.py", 1)]),
        ("tee a.py <<EOF\nx\nEOF", [("a.py", 1)]),
        ("cat > /tmp/a.py <<EOF\nx\nEOF", []),
        ("sed -n 's/x/y/p' a.py", []),
        ("sed -i s/x/y/ $(git ls-files) *.py", []),
        ("cat <<EOF | psql\nselect 1\nEOF", []),
    ],
)
def test_files_that_a_command_edits_are_changed(
    command: str, changed: list[tuple[str, int]]
) -> None:
    assert [(path, added) for path, added, _ in changes(bash(command))] == changed
    assert not changes(bash(command, call_end="failed"))


def test_long_texts_are_compared_quickly() -> None:
    old = "\n".join(map(str, range(20_000)))
    assert count_changed_lines(old, f"{old}\nmore") == (1, 0)
    assert count_changed_lines(f"x\n{old}", f"{old}\ny") == (1, 1)
    moved = "\n".join(map(str, [*range(100, 1_500), *range(100)]))
    assert count_changed_lines("\n".join(map(str, range(1_500))), moved) == (0, 0)
    ends = ["\n".join(f"}}\n{mark}{n}" for n in range(199)) for mark in "xy"]
    assert count_changed_lines(*ends) == (199, 199)


# Failed commands and tasks


def test_a_failed_chain_is_named_whole_as_any_of_it_may_have_failed() -> None:
    chain = bash("cd app && npm ci && npm test | tail -3", call_end="failed")
    (failed,) = read_facts([chain]).failed_commands
    assert failed.text == "npm ci && npm test"


def test_failed_command_is_named_as_it_was_run() -> None:
    failed = bash("CI=1 rtk bun run test > log.txt", "no", call_end="failed")
    passed = bash("bun run test", "1 pass\n0 fail\n")
    facts = read_facts([failed, passed])
    assert [line.text for line in facts.failed_commands] == ["rtk bun run test"]
    assert [run.command for run in facts.test_runs] == ["bun run test"]


def test_failed_commands_are_those_that_do_something() -> None:
    failed = [
        bash("npm test 2>&1 | tail -5", "Exit code 1", call_end="failed"),
        bash("grep -rn nothing src", "Exit code 1", call_end="failed"),
        bash("make", "The user doesn't want to proceed", call_end="failed"),
        bash("make all", "Output\nExit code: 2"),
    ]
    commands = [line.text for line in read_facts(failed).failed_commands]
    assert commands == ["npm test"]


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        (
            "TodoWrite",
            {
                "todos": [
                    {"content": "Test it", "status": "pending"},
                    {"content": "Write it", "status": "completed"},
                ]
            },
        ),
        ("update_plan", {"plan": [{"step": "Test it", "status": "in_progress"}]}),
        ("write_todos", {"todos": [{"description": "Test it", "status": "pending"}]}),
        ("todowrite", {"todos": [{"content": "Test it", "status": "pending"}]}),
    ],
)
def test_the_unfinished_items_of_a_list_are_open(
    tool: str, given: Mapping[str, object]
) -> None:
    (task,) = read_facts([call(tool, given)]).open_tasks or ()
    assert task.text == "Test it"


def test_the_last_list_counts() -> None:
    first = call("TodoWrite", {"todos": [{"content": "a", "status": "pending"}]})
    last = call("TodoWrite", {"todos": [{"content": "a", "status": "completed"}]})
    whole = read_facts([first, last, last])
    assert whole.open_tasks == ()
    assert [(task.text, task.event_id) for task in whole.done_tasks] == [
        ("a", last.event_id)
    ]
    assert join_facts(map(read_facts, ([first], [last]))).open_tasks == ()
    assert read_facts([user("Hello")]).open_tasks is None


def test_tasks_that_are_changed_one_by_one_are_joined() -> None:
    created = [
        call("TaskCreate", {"subject": text}, f"Task #{number} created: {text}")
        for number, text in enumerate(("Write it", "Test it", "Ship it"), 1)
    ]
    closed = [
        call("TaskUpdate", {"taskId": "1", "status": "completed"}),
        call("TaskUpdate", {"taskId": "2", "status": "in_progress"}),
        call("TaskUpdate", {"taskId": "3", "status": "deleted"}),
    ]
    for whole in (
        read_facts([*created, *closed]),
        join_facts([read_facts(created), read_facts(closed)]),
        join_facts(read_facts([event]) for event in (*created, *closed)),
    ):
        assert [task.text for task in whole.open_tasks or ()] == ["Test it"]
        assert [task.number for task in whole.done_tasks] == ["1", "3"]


# Messages


def test_requests_count_the_events_up_to_the_next_one() -> None:
    talk = [
        agent("Welcome."),
        user("# Fix **it**\n```\ncode\n```\nplease"),
        bash("ls"),
        agent("Done."),
        user("Thanks"),
    ]
    facts = read_facts(talk)
    assert [(r.text, r.events) for r in facts.requests] == [
        ("Fix it\nplease", 3),
        ("Thanks", 1),
    ]
    assert facts.events_before == 1
    assert facts.reply and facts.reply.text == "Done."
    parts = [read_facts(talk[at : at + 2]) for at in range(0, len(talk), 2)]
    assert join_facts(parts) == facts


def test_events_of_subagents_are_left_out_unless_there_are_no_others() -> None:
    inner = bash("git commit -m 'Fix it'", ANSWER, subagent="reviewer")
    assert not read_facts([user("Review it"), inner]).commits
    assert read_facts([inner]).commits


@pytest.mark.parametrize(
    ("last", "end"),
    [
        (agent("Fixed."), EndKind.REPLY),
        (agent("Fixed. Shall I **push** it?**"), EndKind.QUESTION),
        (agent("要我提交吗？"), EndKind.QUESTION),
        (agent("هل أستمر؟"), EndKind.QUESTION),
        (user("And the tests"), EndKind.REQUEST),
        (bash("ls"), EndKind.CALL),
        (user("[stop]", role="system", kind="interruption"), EndKind.INTERRUPTED),
        (user("overloaded", role="system", kind="error"), EndKind.ERROR),
        (agent("API Error: 529", kind="api_error"), EndKind.ERROR),
    ],
)
def test_the_end_is_the_last_event_that_says_something(
    last: Event, end: EndKind
) -> None:
    later = user("/cost", role="system", kind="command")
    listed = call("TodoWrite", {"todos": []})
    stop = made(EventType.ASSISTANT_STOP, "")
    facts = read_facts([user("Fix it"), last, stop, later, listed])
    assert (facts.end, facts.end_event_id) == (end, last.event_id)


def test_unanswered_message_is_kept() -> None:
    assert read_facts([user("Fix *it*")]).end_text == "Fix it"


def test_nothing_is_no_fact() -> None:
    facts = read_facts([])
    assert facts == join_facts([])
    assert facts.end is EndKind.NOTHING


@pytest.mark.parametrize(
    "text",
    [
        "\0\x01�",
        "`" * 50_000,
        "[" * 50_000,
        "**a" * 20_000,
        "git commit -m " + "'" * 9_999,
        "<<a\n" * 10_000,
        "cat <<EOF\n" * 3_000,
        "x" * 3_000_000,
        "\n" * 100_000,
        "-" * 100_000,
        "🎉" * 10_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_any_text_is_read_quickly(text: str) -> None:
    begun = datetime.now(UTC)
    told = [user(f"a{text}"), bash(text, text), call("Edit", text, text)]
    facts = read_facts([*told, agent(f"a{text}")])
    assert len(facts.requests[0].text) <= 500
    assert datetime.now(UTC) - begun < timedelta(seconds=2)


def test_a_change_names_the_event_that_made_it() -> None:
    event = call("Write", {"file_path": "a.py", "content": "a"})
    assert read_facts([event]).files == (FileChange("a.py", 1, 0, event.event_id),)


def test_script_does_nothing_but_by_its_calls() -> None:
    script = 'const r = await tools.exec_command({cmd: "git commit -m Fix"}); text(r)'
    failed = call("exec", json.dumps(script), "Script failed\n", call_end="failed")
    assert not read_facts([failed]).failed_commands
    patching = "tools.apply_patch(`*** Begin Patch\n*** Add File: a.py\n+x\n`)"
    assert not read_facts([call("exec", json.dumps(patching), "ok")]).files
    typed = call("exec", {"command": "make"}, "no", call_end="failed")
    assert [line.text for line in read_facts([typed]).failed_commands] == ["make"]


def test_patch_changes_the_file_under_its_new_name() -> None:
    patch = (
        "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@\n-x\n+y\n"
        "*** End Patch"
    )
    (change,) = read_facts([call("apply_patch", json.dumps(patch))]).files
    assert (change.path, change.added, change.removed) == ("b.py", 1, 1)
