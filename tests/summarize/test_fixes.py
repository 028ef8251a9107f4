"""What was done about an error: changes after it, and a later success."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from memtui.model import events
from memtui.model.events import Event, EventType
from memtui.summarize import fixes

AT = datetime(2026, 3, 2, 10, tzinfo=UTC)
ERROR = "error: the pump is stuck"


def make_call(
    command: str, output: str = "ok", *, failed: bool = False, tool: str = "Bash"
) -> Event:
    field = "command" if tool == "Bash" else "file_path"
    metadata = {"tool_name": tool, "tool_input": json.dumps({field: command})}
    return events.make(
        agent="claude-code",
        session_id="zoo",
        timestamp=AT,
        event_type=EventType.TOOL_RESULT,
        text=f"{tool}: {' '.join(command.split())}\n{output}",
        source_key=command,
        metadata=metadata | ({"is_error": "true"} if failed else {}),
    )


def make_prompt(text: str) -> Event:
    return events.make(
        agent="claude-code",
        session_id="zoo",
        timestamp=AT + timedelta(seconds=1),
        event_type=EventType.USER_MESSAGE,
        text=text,
        source_key=text,
    )


def find_fix(failed: str, *following: Event) -> fixes.Fix:
    error = make_call(failed, ERROR, failed=True)
    return fixes.find_fix(error, following, lambda text: ERROR in text)


@pytest.mark.parametrize(
    ("failed", "again"),
    [
        ("npm test", "cd /zoo && npm test 2>&1 | tail -20"),
        ("rtk npm test", "npm test"),
        ("npm install", "npm install --legacy-peer-deps"),
        ("PORT=1 npm start", "PORT=2 npm start"),
        ("pytest tests/test_pump.py", ".venv/bin/python -m pytest"),
        ("go test ./pump/... -run TestFill", "go test ./pump/..."),
        ("git -C /zoo push", "git push -u origin main"),
        ("git add . && git rebase --continue", "git rebase --continue"),
        ('git commit -m "Fix the pump"', 'git add a && git commit -m "Fix all; done"'),
        ("pip install pump==1", "pip3 install pump==2 --user"),
        ("npm run build && npm test", "npm run build; npm test"),
        ("psql -c 'select 1'", "psql --quiet -c 'select 1'"),
        ("gh issue create --title 'A pump' -l bug", "gh issue create --title 'A tap'"),
        ("docker-compose up -d", "docker compose up -d"),
        ("python - <<'EOF'\nprint(1)\nEOF", "python3 - <<'END'\nprint(1)\nEND"),
    ],
)
def test_the_same_command_is_recognized(failed: str, again: str) -> None:
    assert find_fix(failed, make_call(again)).has_succeeded


@pytest.mark.parametrize(
    ("failed", "other"),
    [
        ("npm test", "npm test -- pump.test.ts"),
        ("npm test", "npm run build"),
        ("mvn test", "mvn test -Dtest=PumpTest"),
        ("go test ./pump/...", "go test ./tank/..."),
        ("python fill.py", "python drain.py"),
        ("git rebase main", "git rebase --abort"),
        ("git commit -m a", "echo git commit"),
        ("npm run build && npm test", "npm run build"),
        ("python -c 'import pump; pump.run()'", "python -c 'import tank; tank.run()'"),
        ("python - <<'EOF'\nprint(1)\nEOF", "python - <<'EOF'\nprint(2)\nEOF"),
    ],
)
def test_another_command_is_not(failed: str, other: str) -> None:
    fix = find_fix(failed, make_call(other))
    assert not fix.has_succeeded and not fix.reruns


@pytest.mark.parametrize(
    ("output", "has_succeeded"),
    [
        ("ok", True),
        (ERROR, False),
        ("3 failed, 5 passed in 0.12s", False),
        ("8 passed in 0.12s", True),
        (f"{ERROR}\n8 passed in 0.12s", True),
        ("$ check --fail-on-error\nNo problems, 0 errors", True),
        ("Found 2 errors.", False),
        ("Command running in background", False),
    ],
)
def test_a_success_shows_in_the_output(output: str, has_succeeded: bool) -> None:
    fix = find_fix("pytest", make_call("pytest 2>&1 | tail", output))
    assert fix.has_succeeded is has_succeeded


def test_a_call_of_another_tool_is_the_same_for_the_same_file() -> None:
    error = make_call("/zoo/pump.py", ERROR, failed=True, tool="Edit")
    other = make_call("/zoo/tank.py", tool="Edit")
    same = make_call("/zoo/pump.py", tool="Write")
    fix = fixes.find_fix(error, [other, same], lambda text: ERROR in text)
    assert (fix.has_succeeded, fix.reruns, fix.changes) == (True, [same], [other])
    quoted = make_call("/zoo/pump.py", ERROR, tool="Read")
    assert not fixes.find_fix(quoted, [quoted], lambda _: False).can_rerun


@pytest.mark.parametrize(
    ("command", "changing"),
    [
        (
            "cd /zoo && npm install pump 2>&1 | tail -5",
            ["npm install pump 2>&1 | tail -5"],
        ),
        ("ls; chmod +x fill.sh; cat fill.sh", ["chmod +x fill.sh"]),
        ("git rebase --abort", ["git rebase --abort"]),
        ("git status && git log --grep fix && git diff main", []),
        ("git config --get core.hooksPath; git stash list", []),
        ("sed -n '1,9p' .git/hooks/pre-push", []),
        ("sed -i 's/a/b/' pump.py", ["sed -i 's/a/b/' pump.py"]),
        ("lsof -ti:3000 | xargs kill -9", ["lsof -ti:3000 | xargs kill -9"]),
        ("echo DEPTH=2 > .env", ["echo DEPTH=2 > .env"]),
        ("grep 'a > b' pump.py 2>/dev/null", []),
        ("echo 'npm install' | cat", []),
        ("npx prisma migrate dev", ["npx prisma migrate dev"]),
        ("npm run lint:fix", ["npm run lint:fix"]),
        ("npm test; pytest -q; go vet ./...", []),
        ("export DEPTH=2", ["export DEPTH=2"]),
    ],
)
def test_commands_that_change_something(command: str, changing: list[str]) -> None:
    assert fixes.changing_steps(make_call(command)) == changing


def test_changes_end_with_the_success_or_the_next_request() -> None:
    install, commit = make_call("npm install pump"), make_call("git commit -m a")
    edit = make_call("/zoo/pump.py", tool="Edit")
    success, failure = (
        make_call("npm test"),
        make_call("npm test", "Error", failed=True),
    )
    request = make_prompt("Now feed the seals.")
    fix = find_fix("npm test", install, failure, edit, success, commit)
    assert (fix.changes, fix.last) == ([install, edit], success)
    fix = find_fix("npm test", install, request, edit)
    assert (fix.changes, fix.last) == ([install], install)
    fix = find_fix("npm test", install, request, edit, success)
    assert (fix.changes, fix.last) == ([install, edit], install)
    assert find_fix("npm test", make_call("ls")).changes == []


def test_an_attempt_that_failed_in_another_way_counts() -> None:
    attempt = make_call("git pull --no-rebase", "CONFLICT in pump.py", failed=True)
    fix = find_fix("git pull", attempt)
    assert (fix.has_succeeded, fix.is_gone) == (False, True)
    assert fix.changes == fix.reruns == [attempt]
    refused = make_call("git pull", "The user doesn't want to proceed", failed=True)
    assert find_fix("git pull", refused).reruns == []
    repeated = make_call("git pull --quiet", ERROR, failed=True)
    fix = find_fix("git pull", repeated)
    assert (fix.is_gone, fix.changes, fix.reruns) == (False, [], [repeated])


def test_a_command_is_described_in_one_line() -> None:
    text = "words " * 30
    command = (
        f"# Try it.\ngit commit -m \"$(cat <<'EOF'\n{text}\nEOF\n)\" --title '{text}'"
    )
    described = fixes.describe_command(command)
    assert described.startswith('git commit -m "$(cat … )" --title \'words words')
    assert len(described) < 120
