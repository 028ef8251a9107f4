"""Read what tool calls achieved: changed files, test runs, commits and pushes."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memtui.model.events import Event, EventType
from memtui.model.quantities import plural
from memtui.summarize import tool_actions
from memtui.summarize.session_work import FileChange, file_name

OUTPUT_CHARS = 40_000
"""Only the last part of a call's output is read."""


def is_command(event: Event) -> bool:
    """Return whether an event is a command in a shell."""
    name = event.metadata.get("tool_name", "")
    return tool_actions.tool_verb(name) == "Ran"


def _is_successful(event: Event, pattern: re.Pattern[str]) -> bool:
    """Return whether an event is a successful command that matches a pattern."""
    return (
        is_command(event)
        and not event.is_failed
        and pattern.search(tool_actions.whole_command(event)) is not None
    )


def _output(event: Event) -> str:
    return event.text.partition("\n")[2][-OUTPUT_CHARS:]


# Git and GitHub

_PUSH = re.compile(r"\bgit\b[^\n|;&]*?\bpush\b")
_PUSH_REFUSED = re.compile(
    r"\brejected\b|^error:|^fatal:|failed to push|pre-push.*fail", re.MULTILINE | re.I
)
_PUSHED = re.compile(r"^ *(?:\+ )?[0-9a-f]+\.\.+[0-9a-f]+ +\S+ -> ", re.MULTILINE)
_MERGE = re.compile(r"\bgh pr merge\b")
_CREATE_PULL = re.compile(r"\bgh pr create\b")
_CLOSE_PULL = re.compile(r"\bgh pr close\b")
_REVERT = re.compile(r"\bgit revert\b(?! --abort)|\bgit reset --hard \S*[~^]")
_DISCARD = re.compile(
    r"\bgit (?:reset --hard|(?:checkout|restore)(?P<options> [^;&|\n]+))"
)
_CREATE = re.compile(r"\bgh (?:issue|pr|release) (?:create|edit|comment|close)\b")
_DEPLOY = re.compile(
    r"(?:^|[;&|\n] *)(?:sudo )?(?:\w+=\S* )*(?:scp|rsync"
    r"|(?:(?:ba)?sh )?\S*\b(?:deploy|release|publish|migrate|restore|rollback)"
    r"\.(?:sh|py)"
    r"|(?:make|just|task|(?:npm|pnpm|yarn|bun) run) (?:deploy|release|publish|migrate)"
    r"|kubectl (?:apply|create|delete|scale|set|rollout (?:undo|restart))"
    r"|helm (?:install|upgrade|rollback)|(?:terraform|tofu) (?:apply|destroy)"
    r"|ansible-playbook(?![^;&|\n]*--check)|nixos-rebuild switch"
    r"|systemctl (?:restart|reload|enable|start|stop)"
    r"|docker push|docker[ -]compose (?:[^;&|\n]* )?up"
    r"|(?:npm|pnpm|yarn|cargo|poetry|uv) publish|twine upload"
    r"|(?:vercel|fly|flyctl|netlify|firebase|wrangler|serverless) deploy"
    r"|pg_restore|pg_upgrade(?![^;&|\n]*--check)"
    r"|restic (?:[^;&|\n]* )?(?:backup|restore)"
    r"|borg (?:create|extract)|alembic (?:up|down)grade"
    r"|python\d? \S*manage\.py migrate|(?:npx )?prisma migrate deploy)\b"
)
_PULL_ADDRESS = re.compile(r"https?://\S+?/pull/(\d+)")


def was_pushed(event: Event) -> bool:
    """Return whether a call pushed commits."""
    return _is_successful(event, _PUSH) and not _PUSH_REFUSED.search(_output(event))


def push_error(event: Event) -> str:
    """Return the line that says why a push failed; "" if it did not fail."""
    if not (is_command(event) and _PUSH.search(tool_actions.whole_command(event))):
        return ""
    output = _output(event)
    refused = _PUSH_REFUSED.search(output)
    if not refused or _PUSHED.search(output):
        return ""
    start = output.rfind("\n", 0, refused.start()) + 1
    return " ".join(output[start:].partition("\n")[0].split())


def was_merged(event: Event) -> bool:
    """Return whether a call merged a pull request."""
    return _is_successful(event, _MERGE)


def was_closed(event: Event) -> bool:
    """Return whether a call closed a pull request without merging it."""
    return _is_successful(event, _CLOSE_PULL)


def was_reverted(event: Event) -> bool:
    """Return whether a call reverted commits."""
    return _is_successful(event, _REVERT)


def find_discarded(event: Event, paths: Collection[str]) -> set[str]:
    """Return the files whose uncommitted changes a call discarded."""
    found: set[str] = set()
    if not paths or not _is_successful(event, _DISCARD):
        return found
    for command in _DISCARD.finditer(tool_actions.whole_command(event)):
        if not command["options"]:  # git reset --hard
            return set(paths)
        words = command["options"].split()
        if "-b" in words or "--staged" in words:
            continue
        for name in words:
            place = name.strip("\"'").removeprefix("./").rstrip("/")
            found |= {
                path
                for path in paths
                if place == "." or (place and f"/{place}/" in f"/{path}/")
            }
    return found


def has_created(event: Event) -> bool:
    """Return whether a call created or changed something on GitHub."""
    return _is_successful(event, _CREATE)


def was_deployed(event: Event) -> bool:
    """Return whether a call deployed, published, migrated or restored something."""
    return _is_successful(event, _DEPLOY)


def created_pull_request(event: Event) -> str:
    """Return the number and address of a pull request that a call created, or ""."""
    if not _is_successful(event, _CREATE_PULL):
        return ""
    found = _PULL_ADDRESS.search(_output(event))
    return f"#{found[1]} {found[0]}" if found else ""


_NOT_STAGED = re.compile(r"^Changes not staged for commit:", re.MULTILINE)
_MODIFIED = re.compile(r"^\s*modified: +(\S.*?)\s*$", re.MULTILINE)
_HIDDEN = re.compile(r"(?:^|/)\.")


def modified_files(text: str) -> list[str]:
    """Return the files that ``git status`` lists as modified, without hidden ones."""
    place = _NOT_STAGED.search(text)
    if not place:
        return []
    names = (found[1] for found in _MODIFIED.finditer(text, place.end()))
    return [file_name(name) for name in names if not _HIDDEN.search(name)]


_AHEAD = re.compile(
    r"^Your branch is ahead of '(?P<long>[^']+)' by (?P<count>\d+) commits?"
    r"|^\W*[\w./\-]+\.\.\.(?P<short>[\w./\-]+) \[ahead (?P<ahead>\d+)",
    re.MULTILINE,
)


def commits_ahead(text: str) -> str:
    """Return how far ``git status`` says that the branch is ahead; "" if it is not."""
    found = _AHEAD.search(text)
    if not found:
        return ""
    count = int(found["count"] or found["ahead"])
    upstream = found["long"] or found["short"]
    return f"the branch is ahead of '{upstream}' by {plural(count, 'commit')}"


# Tests


@dataclass(frozen=True, slots=True)
class TestCounts:
    """The numbers of tests that passed and failed in a run."""

    passed: int
    failed: int

    def __str__(self) -> str:
        """Return the counts in words."""
        parts = ((self.failed, "failed"), (self.passed, "passed"))
        return ", ".join(f"{count:,} {word}" for count, word in parts if count)


_COUNTS = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        # pytest: "2 failed, 5 passed, 1 skipped in 0.12s", in quiet mode without time
        r"^=* ?(?=\d+ (?:passed|failed))(?:(?P<failed>\d+) failed)?,? ?"
        r"(?:(?P<passed>\d+) passed)?(?:.* in [\d.:]+|(?:, \d+ \w+)*\s*$)",
        # Jest and Vitest: "Tests:  34 failed, 169 skipped, 660 passed"
        r"^\s*Tests:?\s+(?:(?P<failed>\d+) failed[,| ]+)?(?:\d+ \w+[,| ]+)*?"
        r"(?P<passed>\d+) passed",
        # Cargo: "test result: ok. 5 passed; 0 failed"
        r"test result: \w+\. (?P<passed>\d+) passed; (?P<failed>\d+) failed",
        # Bun and Node: "1219 pass" and "0 fail" on lines of their own
        r"^\s*(?:# )?(?P<passed>\d+) pass\b[^\n]*\n(?:[^\n]*\n)??\s*(?:# )?"
        r"(?P<failed>\d+) fail",
        # Mocha: "12 passing (3s)", "1 failing"
        r"^\s*(?P<passed>\d+) passing\b(?:[^\n]*\n\s*(?P<failed>\d+) failing)?",
    )
)


def count_tests(event: Event) -> TestCounts | None:
    """Return the last counts in the output of a command; None if there are none."""
    if not is_command(event):
        return None
    last: tuple[int, TestCounts] | None = None
    for pattern in _COUNTS:
        for found in pattern.finditer(_output(event)):
            counts = found.groupdict()
            passed, failed = int(counts["passed"] or 0), int(counts["failed"] or 0)
            if (passed or failed) and (last is None or found.start() > last[0]):
                last = found.start(), TestCounts(passed, failed)
    return last[1] if last else None


# Other commands

_STEP_END = re.compile(r"\s*&&\s*")
_CANNOT_FAIL = re.compile(r"(?:cd|export|set|echo)\b")
_UNSURE_STATUS = re.compile(r"[|;\n]|<<|\bnohup\b|&\s*$")
"""Parts of a command whose exit status is not that of its first program."""

_PIPED_TO_READ = re.compile(r"(?: 2>&1)? *\| *(?:tail|head|cat)\b[^|;&\n]*$")
_IN_BACKGROUND = re.compile(r"Command running in background|Process running")
_NO_ERRORS = re.compile(r"\b(?:0|no) (?:errors?|failures?|failed)\b", re.IGNORECASE)

_BUILDS = re.compile(
    r"(?:npm|pnpm|yarn|bun)\s(?:run\s)?(?:\S*(?:build|lint|check|compile|format|install"
    r"|bundle|audit|migrat|generate)\S*|ci\b)"
    r"|(?:npx|bunx|uvx)\s|tsc\b|eslint\b|biome\b|prettier\b|vite\b|webpack\b"
    r"|(?:ruff|mypy|pyright|flake8|black)\b"
    r"|(?:pip3?|uv|poetry|bundle|composer|brew|apt(?:-get)?)\s(?:\S+ )?"
    r"(?:install|sync|add)\b"
    r"|(?:c?make|ninja|gradle|\./gradlew|mvn|dotnet|xcodebuild)\b"
    r"|cargo\s(?:build|check|clippy|fmt|run)|go\s(?:build|vet|mod|generate|install)"
    r"|golangci-lint\b|nix\b|(?:docker|podman)\s(?:build|compose|run)|terraform\b"
    r"|kubectl\b|helm\b|ansible\S*"
)
"""Commands that build, check, install or deploy."""


def command_results(event: Event) -> Iterator[tuple[str, str]]:
    """Yield the builds, checks and deployments of a call, each with its result.

    The result is "ok", or "failed" and the line that says why. Those whose result is
    not certain are left out: a failed one of several, or one in the background.
    """
    if not is_command(event) or count_tests(event):
        return
    output = _output(event)
    command, piped = _PIPED_TO_READ.subn("", tool_actions.whole_command(event).strip())
    if _IN_BACKGROUND.match(output) or _UNSURE_STATUS.search(command):
        return
    steps = [one for one in _STEP_END.split(command) if not _CANNOT_FAIL.match(one)]
    result = "ok"
    if event.is_failed:
        if len(steps) > 1:
            return
        why = tool_actions.error_line(event.text)
        result = f"failed: {why}" if why else "failed"
    elif piped and tool_actions.mentions_error(_NO_ERRORS.sub("", output)):
        return
    for step in map(tool_actions.short_command, steps):
        if _BUILDS.match(step) or _DEPLOY.match(step):
            yield step, result


# Files


_PATCHED_FILE = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)
_PATH_FIELDS = ("file_path", "path", "notebook_path")
_OLD_FIELDS = ("old_string", "old_str")
_NEW_FIELDS = ("new_string", "new_str", "content", "file_text")


def file_changes(event: Event) -> list[FileChange]:
    """Return the files that a call changed."""
    if event.event_type is not EventType.TOOL_RESULT or event.is_failed:
        return []
    given = event.metadata.get("tool_input", "")
    if "*** Begin Patch" in given:
        return list(_patched_files(given))
    name = event.metadata.get("tool_name", "")
    if tool_actions.tool_verb(name) not in ("Edited", "Wrote"):
        return []
    if _output(event).startswith(("<tool_use_error>", "Error")):
        return []
    try:
        fields = json.loads(given)
    except ValueError:
        return []
    path = _first_text(fields, _PATH_FIELDS) if isinstance(fields, dict) else ""
    return [_count_lines(path, fields)] if path else []


def _first_text(fields: Mapping[str, Any], names: Iterable[str]) -> str:
    values = (fields.get(name) for name in names)
    return next((one for one in values if isinstance(one, str) and one), "")


def _count_lines(path: str, fields: Mapping[str, Any]) -> FileChange:
    edits = fields.get("edits")
    added = removed = 0
    for edit in edits if isinstance(edits, list) else [fields]:
        if isinstance(edit, dict):
            old = _first_text(edit, _OLD_FIELDS).splitlines()
            new = _first_text(edit, _NEW_FIELDS).splitlines()
            shared = _count_shared(old, new)
            added += len(new) - shared
            removed += len(old) - shared
    return FileChange(path, added, removed)


def _count_shared(old: Sequence[str], new: Sequence[str]) -> int:
    """Return how many lines two texts share at their start and end."""
    most = min(len(old), len(new))
    head = 0
    while head < most and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < most - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head + tail


def _patched_files(patch: str) -> Iterator[FileChange]:
    """Yield the files of a patch; in JSON its line ends are escaped."""
    text = patch if "\n" in patch else patch.replace("\\n", "\n")
    parts = _PATCHED_FILE.split(text)
    for path, body in zip(parts[1::2], parts[2::2], strict=False):
        lines = body.splitlines()
        added = sum(line.startswith("+") for line in lines)
        removed = sum(line.startswith("-") for line in lines)
        yield FileChange(path.strip(), added, removed)
