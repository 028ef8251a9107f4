"""Describe what tools did in a segment, and read what came of it.

"Edited notes.ts, formatter.ts; ran npm test" is composed from the calls, so that
grounding finds each part again in the event of its call. The results are changed files,
test runs, commits and pushes.
"""

import json
import re
import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from memtui.model import tool_calls
from memtui.model.events import Event, EventType
from memtui.model.quantities import plural
from memtui.model.sessions import TOOL_CHARS
from memtui.summarize.session_work import FileChange, file_name
from memtui.text.prose import count_letters, shorten, strip_markup

MAX_NAMED = 4
"""The most files or commands named for one verb."""

COMMAND_CHARS = 48
"""Commands are shortened to this many characters."""

COMMAND_READ_CHARS = 4_000
"""Only this much of a command is searched for a commit message and for edits."""

WORD_CHARS = 28
"""Only the last part of the path is shown of a longer word of a command."""

FAILURE_CHARS = 200
"""Error lines are shortened to this many characters."""

_COMMAND_PREFIX = re.compile(
    r"(?:(?:cd\s+\S+|export\s+\S+|source\s+\S+|set\s+-\w+|\w+=\S*|sleep\s+\S+)\s*(?:&&|;)\s*"
    r"|(?:\[?REDACTED\]?|sudo|time|nohup|rtk|command|env|bash\s+-l?c|timeout\s+\S+|\w+=\S+)\s+)+"
)

_COMMAND_SUFFIX = re.compile(
    r"\s*(?:2>&1|>\s*/dev/null|2>\s*/dev/null|\|\||&&|;|\||<<|<\s|<$|>).*", re.DOTALL
)

_QUOTED = re.compile(r"\s+(?:-{1,2}\w[\w\-]*[ =])?[\"'$].*", re.DOTALL)

_OTHER_DIRECTORY = re.compile(
    r"^(git|make|npm|pnpm|yarn|bun|cargo) (?:-C|--prefix|--cwd) \S+"
)

_ROUTINE_COMMAND = re.compile(
    r"(?:ls|cat|cd|echo|pwd|find|grep|rg|head|tail|sed|awk|wc|which|sleep|ps|kill|pkill|true"
    r"|test|mkdir|chmod|touch|cp|mv|rm|tree|env|printf|sort|date|whoami|file|stat|jq|xargs"
    r"|git\s+(?:status|diff|log|show|add|branch|remote|rev-parse|stash|fetch|config|blame"
    r"|check-ignore|ls-files|reflog|commit))\b",
)

_COMMIT = re.compile(
    r"^(?:\[[^\]\n]+ [0-9a-f]{7,}\]|Commit [0-9a-f]{7,}) (.+)$", re.MULTILINE
)
"""The answer of git to a commit, or Aider's note on one."""

_MESSAGE = re.compile(
    r"\bgit\b[^\n]*?\bcommit\b[^\n]*?\s(?:-\w*m|--message)[= ]?\s*"
    r"(?:\"\$\(cat <<-?\s*['\"]?(\w+)['\"]?\s*\n\s*(?P<here>[^\n]+)"
    r"|\"(?P<double>[^\"$\n]+)|'(?P<single>[^'\n]+))"
    r"|\bgit\b[^\n]*?\bcommit\b[^\n]*?\s(?:-F|--file)[= ]?-\s*<<-?\s*['\"]?\w+['\"]?"
    r"\s*\n\s*(?P<input>[^\n]+)"
)

_SUBJECTS = ("here", "double", "single", "input")

_COMMITTING = re.compile(r"\bgit(?:\s+-{1,2}[\w-]+(?:[= ]\S+)?)*\s+commit\b(?!-)")

_REFUSED = re.compile(
    r"nothing to commit|no changes added|nothing added|not a git|fatal:|hook .*fail",
    re.I,
)

_PATH = re.compile(r"(?<![:/\w.])(?:/[\w.\-]+){3,}")

_ERROR = re.compile(
    r"\b(?:error|errors|failed|failure|exception|traceback|fatal|panic(?:ked)?|cannot"
    r"|not found|denied|undefined|✗|FAIL)\b|Error:|error\[",
    re.IGNORECASE,
)

_AGENT_MISTAKE = re.compile(
    r"(?:<tool_use_error>|The user doesn't want|File has not been read"
    r"|String to replace"
    r"|Request interrupted|File does not exist|Found \d+ matches|.*InputValidationError"
    r"|<system-reminder>|Claude requested permissions|No such tool)",
    re.DOTALL,
)

_REFUSED_BY_USER = re.compile(
    r"(?:Error: )?(?:The user doesn't want|\[?Request interrupted|Claude requested perm"
    r"|<tool_use_error>Sibling)"
)

_UNINFORMATIVE = re.compile(
    r"(?:exit code\s*:?\s*\d+|.*exited with code \d+|\[Request.*|.*[│╷╵].*|error:?"
    r"|(?:chunk id|wall time|original token count): .*|output:"
    r"|[>%].*|\$.*|\W*|npm (?:err!|error) code.*)$",
    re.I,
)


@dataclass(frozen=True, slots=True)
class CardLine:
    """A line and the indexes of the events it rests on."""

    text: str
    refs: tuple[int, ...]


def summarize_calls(events: Sequence[Event]) -> CardLine | None:
    """Return what was written, edited and run; what was read if nothing was."""
    groups: dict[str, dict[str, int]] = {}
    for at, event in enumerate(events):
        if not event.is_tool_call:
            continue
        verb, thing = _parse_call(event)
        if thing and (verb == "Ran" or not event.is_failed):
            groups.setdefault(verb, {}).setdefault(thing, at)
    parts: list[str] = []
    refs: list[int] = []
    verbs: tuple[str, ...] = ("Wrote", "Edited", "Ran")
    if not any(verb in groups for verb in verbs):
        verbs = ("Searched for", "Read")
    for verb in verbs:
        written = groups.get("Wrote", {}) if verb == "Edited" else {}
        all_things = [
            one for one in groups.get(verb, {}).items() if one[0] not in written
        ]
        things = all_things[:MAX_NAMED]
        if things:
            first = verb if not parts else verb.lower()
            more = ", …" if len(all_things) > MAX_NAMED else ""
            parts.append(f"{first} {', '.join(thing for thing, _ in things)}{more}")
            refs += [at for _, at in things]
    return CardLine("; ".join(parts), tuple(refs)) if parts else None


def find_commits(events: Sequence[Event]) -> list[CardLine]:
    """Return the subjects of the commits made, in order."""
    found: dict[str, CardLine] = {}
    has_replied = False
    for at, event in enumerate(events):
        has_replied = has_replied or event.event_type is EventType.ASSISTANT_MESSAGE
        if not event.is_tool_call:
            continue
        if event.agent == "aider" and not has_replied:
            continue  # Aider commits the user's own changes first.
        text = event.text[:TOOL_CHARS]
        if "commit" in text or "Commit" in text or "git revert" in text:
            for subject in commit_subjects(event):
                found.setdefault(subject, CardLine(subject, (at,)))
    return list(found.values())


def commit_subjects(event: Event) -> list[str]:
    text = event.text[:TOOL_CHARS]
    return commit_subjects_in(text, whole_command(event), is_error=event.is_failed)


def commit_subjects_in(text: str, command: str, *, is_error: bool) -> list[str]:
    """Return the subjects git printed; else those passed to it, unless it failed."""
    answered = _COMMIT.findall(text)
    if not answered and not is_error and not _REFUSED.search(text):
        return list(_commit_messages(command))
    subjects = map(strip_markup, answered)
    return [one for one in subjects if one and not one.endswith(":")]


def is_commit_call(text: str) -> bool:
    """Return whether a call made a commit, according to its text."""
    call, _, answer = text.partition("\n")
    if call == "aider":
        return _COMMIT.search(answer) is not None
    return bool(_COMMITTING.search(call)) and not _REFUSED.search(answer)


def _commit_messages(command: str) -> Iterator[str]:
    """Yield the subjects a command passes to git."""
    for one in _MESSAGE.finditer(command[:COMMAND_READ_CHARS]):
        subject = strip_markup(next(filter(None, map(one.group, _SUBJECTS))))
        if subject and not subject.endswith(":"):
            yield subject


def whole_command(event: Event) -> str:
    """Return a command as entered, with all lines."""
    try:
        given = json.loads(event.metadata.get("tool_input", ""))
    except ValueError:
        given = None
    command = given
    if isinstance(given, dict):
        names = ("command", "cmd", "CommandLine")
        command = next((given[name] for name in names if name in given), None)
    return command if isinstance(command, str) else event.text.partition("\n")[0]


def _parse_call(event: Event) -> tuple[str, str]:
    """Return the verb and object of a tool call; empty strings if unknown."""
    first = event.text[:TOOL_CHARS].partition("\n")[0]
    called, _, after = first.partition(":")
    name = event.metadata.get("tool_name") or called.strip()
    subject = after.strip()
    match verb := tool_calls.tool_verb(name):
        case "Ran":
            return verb, short_command(_first_command(event) or subject)
        case "Searched for":
            return verb, shorten(strip_markup(subject), COMMAND_CHARS)
        case "":
            return "", ""
        case _:
            return verb, _file_name(subject)


def _first_command(event: Event) -> str:
    """Return the first line of a command that is no comment, if its lines are known."""
    lines = whole_command(event).splitlines()
    if len(lines) == 1:
        return ""
    return next((one for one in lines if one.strip() and one.lstrip()[0] != "#"), "")


def _file_name(path: str) -> str:
    return re.split(r"[\s(]", path.replace("\\", "/").rstrip("/").rpartition("/")[2])[0]


def short_command(line: str) -> str:
    """Return the informative part of a command; "" for one that only looks around."""
    led = _COMMAND_PREFIX.match(line)
    bare = _QUOTED.sub(
        "", _COMMAND_SUFFIX.sub("", line[led.end() :] if led else line)
    ).strip()
    bare = without_directory(bare)
    if _ROUTINE_COMMAND.match(bare) or len(bare) < 2:
        return ""
    words = [
        _file_name(word) if word.startswith("/") or len(word) > WORD_CHARS else word
        for word in bare.split()
    ]
    if _ROUTINE_COMMAND.match(words[0]):
        return ""
    return shorten(" ".join(words).replace(", ", ","), COMMAND_CHARS).rstrip("…")


def without_directory(command: str) -> str:
    """Return a command without an option that names the directory it works in."""
    return _OTHER_DIRECTORY.sub(r"\1", command)


def without_comment(command: str) -> str:
    """Return a command without the comment before it."""
    return _LEADING_COMMENT.sub("", command)


def error_line(text: str) -> str:
    """Return the line that says what failed; "" for mistakes of the agent itself."""
    response = text.partition("\n")[2][: 4 * TOOL_CHARS]
    if _AGENT_MISTAKE.match(response):
        return ""
    response = response.removeprefix("Error: ")  # set before the output by the agent
    lines = [strip_markup(line) for line in response.splitlines()]
    informative = [line for line in lines if _is_words(line)]
    error = next(filter(_ERROR.search, informative), "")
    line = error or next(iter(informative), "")
    return shorten(_PATH.sub(lambda path: _file_name(path[0]), line), FAILURE_CHARS)


def mentions_error(line: str) -> bool:
    return _ERROR.search(line) is not None


def _is_words(line: str) -> bool:
    """Return whether a line of output is text rather than a rule, a gauge or a
    prompt."""
    return count_letters(line) > max(
        5, len(line) // 3
    ) and not _UNINFORMATIVE.fullmatch(line)


# Results

OUTPUT_CHARS = 40_000
"""Only the last part of a call's output is read."""


def is_command(event: Event) -> bool:
    name = event.metadata.get("tool_name", "")
    return tool_calls.tool_verb(name) == "Ran"


def _is_successful(event: Event, pattern: re.Pattern[str]) -> bool:
    """Return whether an event is a successful command that matches a pattern."""
    return (
        is_command(event)
        and not event.is_failed
        and pattern.search(whole_command(event)) is not None
    )


def has_succeeded(event: Event) -> bool:
    """Return whether a call did not fail, as far as its status and output show."""
    output = _output(event)
    if event.is_failed or output.startswith(("<tool_use_error>", "Error")):
        return False
    if not is_command(event) or has_passed(event):
        return True
    if count_tests(event) or _IN_BACKGROUND.match(output):
        return False
    command, piped = _PIPED_TO_READ.subn("", whole_command(event).strip())
    if piped or _UNSURE_STATUS.search(command):
        shown = _NO_ERRORS.sub("", _PROMPT_LINE.sub("", output))
        return not mentions_error(shown)
    return not _FAILURE.search(output)


def was_refused(event: Event) -> bool:
    """Return whether the user did not let a call run, or stopped it."""
    return _REFUSED_BY_USER.match(_output(event)) is not None


def has_passed(event: Event) -> bool:
    """Return whether a command made a commit, or ran tests of which none failed."""
    if event.is_failed or not is_command(event):
        return False
    counts = count_tests(event)
    return not counts.failed if counts else bool(_COMMIT.search(_output(event)))


def _output(event: Event) -> str:
    return event.text.partition("\n")[2][-OUTPUT_CHARS:]


# Git and GitHub

_PUSH = re.compile(r"\bgit\b[^\n|;&]*?\bpush\b")
_CREATE_AND_PUSH = re.compile(r"\bgh repo create\b[^\n|;&]*\s--push\b")
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
_REMOVE = re.compile(r"(?:^|[;&|\n] *)rm ([^;&|\n]+)")
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
    pushes = _is_successful(event, _PUSH) or _is_successful(event, _CREATE_AND_PUSH)
    return pushes and not _PUSH_REFUSED.search(_output(event))


def push_error(event: Event) -> str:
    """Return the line that says why a push failed; "" if it did not fail."""
    if not (is_command(event) and _PUSH.search(whole_command(event))):
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
    for command in _DISCARD.finditer(whole_command(event)):
        if not command["options"]:  # git reset --hard
            return set(paths)
        words = command["options"].split()
        if "-b" not in words and "--staged" not in words:
            found |= _find_named(words, paths)
    return found


def find_removed(event: Event, paths: Collection[str]) -> set[str]:
    """Return the files that a call removed with ``rm``."""
    if not paths or not _is_successful(event, _REMOVE):
        return set()
    words = " ".join(_REMOVE.findall(whole_command(event))).split()
    return _find_named([one for one in words if one != "."], paths)


def _find_named(words: Collection[str], paths: Collection[str]) -> set[str]:
    """Return the files that the arguments of a command name, or whose folder."""
    places = {word.strip("\"'").removeprefix("./").rstrip("/") for word in words}
    return {
        path
        for path in paths
        for place in places
        if place == "." or (place and f"/{place}/" in f"/{path}/")
    }


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
        # "Results: 739 passed, 0 failed, 739 total"
        r"^\W*Results?: (?P<passed>\d+) passed, (?P<failed>\d+) failed",
        # Maven: "Tests run: 5, Failures: 0, Errors: 5"; "12 tests run, 12 passed"
        r"Tests run: (?P<run>\d+), Failures: (?P<failed>\d+), Errors: (?P<errors>\d+)",
        r"^\D*\d+ tests run, (?P<passed>\d+) passed(?:, (?P<failed>\d+) failed)?",
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
            counts = {name: int(text or 0) for name, text in found.groupdict().items()}
            failed = counts["failed"] + counts.get("errors", 0)
            passed = counts["passed"] if "passed" in counts else counts["run"] - failed
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
_PROMPT_LINE = re.compile(r"^[$>] .*$", re.MULTILINE)
"""A command in the output of one that runs it."""

_NO_ERRORS = re.compile(r"\b(?:0|no) (?:errors?|failures?|failed)\b", re.IGNORECASE)
_FAILURE = re.compile(
    r"^(?:\[?ERR(?:OR)?!?\b|error: |FAIL(?:ED|URE)?\b|fatal:|Traceback)|\bBUILD FAIL"
    r"|\b[1-9]\d* (?:errors?|failed|failures?)\b",
    re.MULTILINE,
)
"""The output of a command that failed, whatever its status."""

_LEADING_COMMENT = re.compile(r"\A(?:\s*#[^\n]*\n)+")

_BUILDS = re.compile(
    r"(?:npm|pnpm|yarn|bun)\s(?:run\s)?(?:\S*(?:build|lint|check|compile|format|install"
    r"|bundle|audit|migrat|generate|test)\S*|ci\b)"
    r"|(?:npx|bunx|uvx)\s|tsc\b|eslint\b|biome\b|prettier\b|vite\b|webpack\b"
    r"|(?:ruff|mypy|pyright|flake8|black)\b"
    r"|(?:pip3?|uv|poetry|bundle|composer|brew|apt(?:-get)?)\s(?:\S+ )?"
    r"(?:install|sync|add)\b"
    r"|(?:c?make|ninja|gradle|\./gradlew|mvn|dotnet|xcodebuild)\b"
    r"|cargo\s(?:build|check|clippy|fmt|run|test)"
    r"|go\s(?:build|vet|mod|generate|install|test)"
    r"|(?:python3? -m )?(?:pytest|unittest)\b|jest\b|vitest\b|rspec\b|phpunit\b"
    r"|golangci-lint\b|nix\b|(?:docker|podman)\s(?:build|compose|run)|terraform\b"
    r"|kubectl\b|helm\b|ansible\S*"
)
"""Commands that build, check, test, install or deploy."""

_TESTS = re.compile(r"(?<!la)test|\bjest\b|\brspec\b|\bphpunit\b")


def is_test(command: str) -> bool:
    return _TESTS.search(command) is not None


def command_results(event: Event) -> Iterator[tuple[str, str]]:
    """Yield the builds, checks and deployments of a call, each with its result.

    Tests are among them where their output has no counts.

    The result is "ok", or "failed" and the line that says why. Those whose result is
    not certain are left out: a failed one of several, or one in the background.
    """
    if not is_command(event) or count_tests(event):
        return
    output = _output(event)
    command = without_comment(whole_command(event).strip())
    command, piped = _PIPED_TO_READ.subn("", command)
    if _IN_BACKGROUND.match(output) or _UNSURE_STATUS.search(command):
        return
    steps = [one for one in _STEP_END.split(command) if not _CANNOT_FAIL.match(one)]
    result = "ok"
    if event.is_failed:
        if len(steps) > 1:
            return
        why = error_line(event.text)
        result = f"failed: {why}" if why else "failed"
    elif _FAILURE.search(output) or (
        piped and mentions_error(_NO_ERRORS.sub("", output))
    ):
        return
    for step in map(short_command, steps):
        if _BUILDS.match(step) or _DEPLOY.match(step):
            yield step, result


# Files


_STEP = re.compile(r"&&|\|\||[;|\n]")
_HEREDOC = re.compile(
    r"(?:^|[;&|\n]) *(?:(?:cat *>{1,2}|tee(?: -a)?) *(?P<before>[\w./~@+-]+) *<<(?!<)"
    r"|cat *<<-? *['\"]?\w+['\"]? *(?:>{1,2}|\| *tee(?: -a)?) *(?P<after>[\w./~@+-]+))"
)
_TEMPORARY = re.compile(
    r"(?:/private)?/(?:tmp|var/folders|var/tmp|dev)/|.*\b(?:scratchpad|tmp)/"
)
_ENTERS = re.compile(r"cd +([\w./~@+-]+)")


def _find_shell_edits(event: Event) -> list[str]:
    """Return the files that a command edits with ``sed -i`` or writes from a heredoc.

    Temporary files are left out.
    """
    if not is_command(event):
        return []
    command = whole_command(event)[:COMMAND_READ_CHARS]
    entered = _ENTERS.match(command)
    if entered and _TEMPORARY.match(f"{entered[1]}/"):
        return []
    found: list[str] = []
    if "sed " in command:
        for step in _STEP.split(command):
            found += _find_edited(step)
    if "<<" in command:
        found += [one["before"] or one["after"] for one in _HEREDOC.finditer(command)]
    paths = (one.removeprefix("./") for one in found)
    return [one for one in paths if not _TEMPORARY.match(one)]


def _find_edited(step: str) -> list[str]:
    """Return the files that one command edits with ``sed -i``."""
    try:
        program, *words = shlex.split(step)
    except ValueError:
        return []
    is_in_place, has_script, given = False, False, []
    for before, word in zip(["", *words], words, strict=False):
        if before in ("-e", "--expression"):
            has_script = True
        elif word.startswith("-"):
            is_in_place |= word.startswith("--in-place") or (
                not word.startswith("--") and "i" in word.partition(".")[0]
            )
        elif word:
            given.append(word)
    return given[not has_script :] if program == "sed" and is_in_place else []


def file_changes(event: Event) -> list[FileChange]:
    """Return the files that a call changed, with the numbers of added and removed lines
    if the call shows them."""
    if not event.is_tool_call or event.is_failed:
        return []
    if _output(event).startswith(("<tool_use_error>", "Error")):
        return []
    found = {path: FileChange(path) for path in _find_shell_edits(event)}
    for edit in tool_calls.parse_edits(
        event.metadata.get("tool_name", ""), event.metadata.get("tool_input", "")
    ):
        if not edit.path:
            continue
        old, new = edit.old.splitlines(), edit.new.splitlines()
        shared = _count_shared(old, new)
        change = FileChange(edit.path, len(new) - shared, len(old) - shared)
        known = found.get(edit.path)
        found[edit.path] = known + change if known else change
    return list(found.values())


def find_same_file(path: str, paths: Collection[str]) -> str:
    """Return the one of some paths that names the same file as a path, else the path.

    Commands name files by relative paths, other tools by absolute ones.
    """
    if path in paths:
        return path
    if path.startswith("/"):
        return next((one for one in paths if path.endswith(f"/{one}")), path)
    return next(
        (one for one in paths if one.startswith("/") and one.endswith(f"/{path}")), path
    )


def writes_whole_file(event: Event) -> bool:
    """Return whether a call that changes a file replaces all that it contained."""
    return tool_calls.tool_verb(event.metadata.get("tool_name", "")) == "Wrote"


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
