"""Describe what tools did in a segment in one line.

"Edited notes.ts, formatter.ts; ran npm test" is composed from the calls, so that
grounding finds each part again in the event of its call.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memtui.model.events import Event, EventType
from memtui.model.sessions import TOOL_CHARS
from memtui.text.prose import count_letters, shorten, strip_markup

MAX_NAMED = 4
"""The most files or commands named for one verb."""

COMMAND_CHARS = 48
"""Commands are shortened to this many characters."""

COMMAND_READ_CHARS = 4_000
"""Only this much of a command is searched for a commit message."""

WORD_CHARS = 28
"""Only the last part of the path is shown of a longer word of a command."""

FAILURE_CHARS = 200
"""Error lines are shortened to this many characters."""

_EDITS = re.compile(
    r"(?:multi_?|notebook_?|str_replace\w*|apply_?)?(?:edit|patch|replace)", re.I
)

_WRITES = re.compile(r"write|write_?file|create|create_?file", re.I)
_READS = re.compile(r"read|read_?file|view|notebookread|cat", re.I)

_SHELLS = re.compile(
    r"bash|shell|exec\w*|run_?(?:shell_?)?command|local_shell|terminal", re.I
)

_SEARCHES = re.compile(r"grep|glob|search\w*|websearch|web_search", re.I)

_VERBS = {
    "Ran": _SHELLS,
    "Searched for": _SEARCHES,
    "Edited": _EDITS,
    "Wrote": _WRITES,
    "Read": _READS,
}

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

_COMMIT = re.compile(r"^\[[^\]\n]+ [0-9a-f]{7,}\] (.+)$", re.MULTILINE)

_MESSAGE = re.compile(
    r"\bgit\b[^\n]*?\bcommit\b[^\n]*?\s(?:-\w*m|--message)[= ]?\s*"
    r"(?:\"\$\(cat <<-?\s*['\"]?(\w+)['\"]?\s*\n\s*(?P<here>[^\n]+)"
    r"|\"(?P<double>[^\"$\n]+)|'(?P<single>[^'\n]+))"
)

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

_UNINFORMATIVE = re.compile(
    r"(?:exit code\s*:?\s*\d+|.*exited with code \d+|\[Request.*|.*[│╷╵].*|error:?"
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
        if event.event_type is not EventType.TOOL_RESULT:
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
    for at, event in enumerate(events):
        if event.event_type is not EventType.TOOL_RESULT:
            continue
        text = event.text[:TOOL_CHARS]
        if "commit" in text or "git revert" in text:
            for subject in commit_subjects(event):
                found.setdefault(subject, CardLine(subject, (at,)))
    return list(found.values())


def commit_subjects(event: Event) -> list[str]:
    """Return the subjects of the commits an event made."""
    text = event.text[:TOOL_CHARS]
    return commit_subjects_in(text, whole_command(event), is_error=event.is_failed)


def commit_subjects_in(text: str, command: str, *, is_error: bool) -> list[str]:
    """Return the subjects git printed; else those passed to it, unless it failed."""
    answered = _COMMIT.findall(text)
    if not answered and not is_error and not _REFUSED.search(text):
        return list(_commit_messages(command))
    return list(filter(None, map(strip_markup, answered)))


def is_commit_call(text: str) -> bool:
    """Return whether a call made a commit, according to its text."""
    call, _, answer = text.partition("\n")
    return bool(_COMMITTING.search(call)) and not _REFUSED.search(answer)


def _commit_messages(command: str) -> Iterator[str]:
    """Yield the subjects a command passes to git."""
    for one in _MESSAGE.finditer(command[:COMMAND_READ_CHARS]):
        subject = strip_markup(one["here"] or one["double"] or one["single"])
        if subject and not subject.endswith(":"):
            yield subject


def whole_command(event: Event) -> str:
    """Return a command as entered, with all lines."""
    try:
        given = json.loads(event.metadata.get("tool_input", ""))
    except ValueError:
        given = None
    command = given.get("command") if isinstance(given, dict) else given
    return command if isinstance(command, str) else event.text.partition("\n")[0]


def _parse_call(event: Event) -> tuple[str, str]:
    """Return the verb and object of a tool call; empty strings if unknown."""
    first = event.text[:TOOL_CHARS].partition("\n")[0]
    called, _, after = first.partition(":")
    name = event.metadata.get("tool_name") or called.strip()
    subject = after.strip()
    match verb := tool_verb(name):
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


@lru_cache(maxsize=1_024)
def tool_verb(name: str) -> str:
    """Return what a tool does by its name ("Edited", "Ran" …); "" if unknown."""
    for verb, pattern in _VERBS.items():
        if pattern.fullmatch(name):
            return verb
    return ""


def _file_name(path: str) -> str:
    return re.split(r"[\s(]", path.replace("\\", "/").rstrip("/").rpartition("/")[2])[0]


def short_command(line: str) -> str:
    """Return the informative part of a command; "" for one that only looks around."""
    led = _COMMAND_PREFIX.match(line)
    bare = _QUOTED.sub(
        "", _COMMAND_SUFFIX.sub("", line[led.end() :] if led else line)
    ).strip()
    bare = _OTHER_DIRECTORY.sub(r"\1", bare)
    if _ROUTINE_COMMAND.match(bare) or len(bare) < 2:
        return ""
    words = [
        _file_name(word) if word.startswith("/") or len(word) > WORD_CHARS else word
        for word in bare.split()
    ]
    if _ROUTINE_COMMAND.match(words[0]):
        return ""
    return shorten(" ".join(words).replace(", ", ","), COMMAND_CHARS).rstrip("…")


def error_line(text: str) -> str:
    """Return the line that says what failed; "" for mistakes of the agent itself."""
    response = text.partition("\n")[2][: 4 * TOOL_CHARS]
    if _AGENT_MISTAKE.match(response):
        return ""
    lines = [strip_markup(line) for line in response.splitlines()]
    informative = [line for line in lines if _is_words(line)]
    error = next(filter(_ERROR.search, informative), "")
    line = error or next(iter(informative), "")
    return shorten(_PATH.sub(lambda path: _file_name(path[0]), line), FAILURE_CHARS)


def mentions_error(line: str) -> bool:
    """Return whether a line mentions an error."""
    return _ERROR.search(line) is not None


def _is_words(line: str) -> bool:
    """Return whether a line of output is text rather than a rule, a gauge or a
    prompt."""
    return count_letters(line) > max(
        5, len(line) // 3
    ) and not _UNINFORMATIVE.fullmatch(line)
