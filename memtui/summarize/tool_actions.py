"""Deeds: what tools did in a segment, as one line a person reads.

"Edited notes.ts, formatter.ts; ran npm test" is composed of the calls, so that each
of its pieces is found again in the event that did it.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memtui.model.events import Event, EventType
from memtui.model.segments import TOOL_CHARS
from memtui.text.prose import count_letters, shorten, strip_markup

NAMED = 4
"""How many files or commands are named before the rest is left out."""

COMMAND_CHARS = 48
"""How much of a command is shown, in characters."""

COMMAND_READ_CHARS = 4_000
"""How much of a command is searched for the message of a commit, in characters."""

WORD_CHARS = 28
"""A longer word of a command is shown by its last part."""

FAILURE_CHARS = 200
"""How much of what went wrong is shown, in characters."""

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

_LED = re.compile(
    r"(?:(?:cd\s+\S+|export\s+\S+|source\s+\S+|set\s+-\w+|\w+=\S*|sleep\s+\S+)\s*(?:&&|;)\s*"
    r"|(?:sudo|time|nohup|rtk|command|env|bash\s+-l?c|timeout\s+\S+|\w+=\S+)\s+)+"
)

_TAIL = re.compile(
    r"\s*(?:2>&1|>\s*/dev/null|2>\s*/dev/null|\|\||&&|;|\||<<|<\s|<$|>).*", re.DOTALL
)

_QUOTED = re.compile(r"\s+(?:-{1,2}\w[\w\-]*[ =])?[\"'$].*", re.DOTALL)

_ELSEWHERE = re.compile(
    r"^(git|make|npm|pnpm|yarn|bun|cargo) (?:-C|--prefix|--cwd) \S+"
)

_IDLE = re.compile(
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

_COMMITTING = re.compile(r"\bgit\b[^\n]*?\bcommit\b")

_REFUSED = re.compile(
    r"nothing to commit|no changes added|nothing added|not a git|fatal:|hook .*fail",
    re.I,
)

_PATH = re.compile(r"(?<![:/\w.])(?:/[\w.\-]+){3,}")

_WRONG = re.compile(
    r"\b(?:error|errors|failed|failure|exception|traceback|fatal|panic(?:ked)?|cannot"
    r"|not found|denied|undefined|✗|FAIL)\b|Error:|error\[",
    re.IGNORECASE,
)

_MINOR = re.compile(
    r"(?:<tool_use_error>|The user doesn't want|File has not been read"
    r"|String to replace"
    r"|Request interrupted|File does not exist|Found \d+ matches|.*InputValidationError"
    r"|<system-reminder>|Claude requested permissions|No such tool)",
    re.DOTALL,
)

_EMPTY = re.compile(
    r"(?:exit code\s*:?\s*\d+|.*exited with code \d+|\[Request.*|.*[│╷╵].*|error:?"
    r"|[>%].*|\$.*|\W*|npm (?:err!|error) code.*)$",
    re.I,
)

_COMPOSED = re.compile(
    r"(?:Wrote|Edited|Ran|Read|Searched for) [^.]*|[\w ./:\-]+ failed: "
)

_FAILED = re.compile(r"[\w ./:\-]+ failed: ")


@dataclass(frozen=True, slots=True)
class ActionLine:
    """One line and the places of the events it is composed of."""

    text: str
    refs: tuple[int, ...]


def summarize_calls(events: Sequence[Event]) -> ActionLine | None:
    """What was edited, written and run, in that order; what was read if nothing was."""
    groups: dict[str, dict[str, int]] = {}
    for at, event in enumerate(events):
        if event.event_type is not EventType.TOOL_RESULT:
            continue
        verb, thing = _call(event)
        is_failed = event.metadata.get("is_error") == "true"
        if thing and (verb == "Ran" or not is_failed):
            groups.setdefault(verb, {}).setdefault(thing, at)
    pieces: list[str] = []
    refs: list[int] = []
    verbs: tuple[str, ...] = ("Wrote", "Edited", "Ran")
    if not any(verb in groups for verb in verbs):
        verbs = ("Searched for", "Read")
    for verb in verbs:
        written = groups.get("Wrote", {}) if verb == "Edited" else {}
        all_things = [
            one for one in groups.get(verb, {}).items() if one[0] not in written
        ]
        things = all_things[:NAMED]
        if things:
            first = verb if not pieces else verb.lower()
            more = ", …" if len(all_things) > NAMED else ""
            pieces.append(f"{first} {', '.join(thing for thing, _ in things)}{more}")
            refs += [at for _, at in things]
    return ActionLine("; ".join(pieces), tuple(refs)) if pieces else None


def find_commits(events: Sequence[Event], *, are_made: bool = True) -> list[ActionLine]:
    """The subjects of the commits made, in their order; or of those that failed."""
    found: dict[str, ActionLine] = {}
    for at, event in enumerate(events):
        is_tool = event.event_type is EventType.TOOL_RESULT
        if is_tool and "commit" in event.text[:TOOL_CHARS]:
            for subject in commit_subjects(event) if are_made else _given(event):
                found.setdefault(subject, ActionLine(subject, (at,)))
    return list(found.values())


def commit_subjects(event: Event) -> list[str]:
    """The subjects of the commits an event made."""
    is_error = event.metadata.get("is_error") == "true"
    text = event.text[:TOOL_CHARS]
    return commit_subjects_in(text, _whole_command(event), is_error=is_error)


def commit_subjects_in(text: str, command: str, *, is_error: bool) -> list[str]:
    """The subjects git answered with; else those it was given, unless it refused."""
    answered = _COMMIT.findall(text)
    if not answered and not is_error and not _REFUSED.search(text):
        return list(_messages(command))
    return list(filter(None, map(strip_markup, answered)))


def is_commit_call(text: str) -> bool:
    """Whether a call commits and git did not refuse, as far as its text tells."""
    call, _, answer = text.partition("\n")
    return bool(_COMMITTING.search(call)) and not _REFUSED.search(answer)


def _given(event: Event) -> Iterator[str]:
    """The subjects a command gives to git."""
    return _messages(_whole_command(event))


def _messages(command: str) -> Iterator[str]:
    for one in _MESSAGE.finditer(command[:COMMAND_READ_CHARS]):
        if subject := strip_markup(one["here"] or one["double"] or one["single"]):
            yield subject


def _whole_command(event: Event) -> str:
    """A command as it was given, with its lines."""
    try:
        given = json.loads(event.metadata.get("tool_input", ""))
    except ValueError:
        given = None
    command = given.get("command") if isinstance(given, dict) else given
    return command if isinstance(command, str) else event.text.partition("\n")[0]


def find_failures(events: Sequence[Event]) -> list[ActionLine]:
    """The commands that failed and did not pass later, in their order."""
    found: dict[str, ActionLine] = {}
    for at, event in enumerate(events):
        if event.event_type is not EventType.TOOL_RESULT:
            continue
        verb, thing = _call(event)
        if verb != "Ran" or not thing:
            continue
        found.pop(thing, None)
        if event.metadata.get("is_error") == "true" and (
            said := error_line(event.text)
        ):
            found[thing] = ActionLine(f"{thing} failed: {said}", (at,))
    return list(found.values())


def _call(event: Event) -> tuple[str, str]:
    """What a tool call did and to what; an empty string where it tells nothing."""
    first = event.text[:TOOL_CHARS].partition("\n")[0]
    called, _, after = first.partition(":")
    name = event.metadata.get("tool_name") or called.strip()
    subject = after.strip()
    match done_by := tool_verb(name):
        case "Ran":
            return done_by, _command(subject)
        case "Searched for":
            return done_by, shorten(strip_markup(subject), COMMAND_CHARS)
        case "":
            return "", ""
        case _:
            return done_by, _file(subject)


@lru_cache(maxsize=1_024)
def tool_verb(name: str) -> str:
    """What a tool of a name does: "Edited", say; "" where that is not known."""
    for done_by, pattern in _VERBS.items():
        if pattern.fullmatch(name):
            return done_by
    return ""


def _file(path: str) -> str:
    return re.split(r"[\s(]", path.replace("\\", "/").rstrip("/").rpartition("/")[2])[0]


def _command(line: str) -> str:
    """The telling part of a command line; nothing of one that only looks around."""
    led = _LED.match(line)
    bare = _QUOTED.sub("", _TAIL.sub("", line[led.end() :] if led else line)).strip()
    bare = _ELSEWHERE.sub(r"\1", bare)
    if _IDLE.match(bare) or len(bare) < 2:
        return ""
    words = [
        _file(word) if word.startswith("/") or len(word) > WORD_CHARS else word
        for word in bare.split()
    ]
    if _IDLE.match(words[0]):
        return ""
    return shorten(" ".join(words).replace(", ", ","), COMMAND_CHARS).rstrip("…")


def error_line(text: str) -> str:
    """The line that says what went wrong; nothing of a slip of the agent's own."""
    response = text.partition("\n")[2][: 4 * TOOL_CHARS]
    if _MINOR.match(response):
        return ""
    lines = [strip_markup(line) for line in response.splitlines()]
    telling = [line for line in lines if _tells(line)]
    said = next(filter(_WRONG.search, telling), "")
    line = said or next(iter(telling), "")
    return shorten(_PATH.sub(lambda path: _file(path[0]), line), FAILURE_CHARS)


def mentions_error(line: str) -> bool:
    """Whether a line says that something went wrong."""
    return _WRONG.search(line) is not None


def _tells(line: str) -> bool:
    """Whether a line of output is words rather than a rule, a gauge or a prompt."""
    return count_letters(line) > max(5, len(line) // 3) and not _EMPTY.fullmatch(line)


def is_action_line(bullet: str) -> bool:
    """Whether a bullet is a line of deeds or of a failure, not somebody's words."""
    return _COMPOSED.match(bullet) is not None


def is_failure_line(bullet: str) -> bool:
    """Whether a bullet tells of a command that failed."""
    return _FAILED.match(bullet) is not None


def is_commit_line(bullet: str) -> bool:
    """Whether a bullet quotes the subjects of commits."""
    return bullet.startswith("Committed “")
