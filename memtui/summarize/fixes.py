"""Find what was done about an error: the changes after it, and a later success.

The call that failed may look different when it succeeds: ``rtk npm test 2>&1`` and
``npm test`` are the same command. So is one with other options, or with fewer
arguments, since it covers more; one with more arguments proves nothing.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from memtui.model import tool_calls
from memtui.model.events import Event, EventRole
from memtui.summarize import tool_actions
from memtui.text.prose import shorten
from memtui.text.stopwords import word_set

_HEREDOC = re.compile(
    r"<<-?\s*(['\"]?)(?P<end>\w+)\1(?P<rest>[^\n]*)\n(?P<body>.*?)(?:(?<=\n)|\n)"
    r"\s*(?P=end)\b",
    re.DOTALL,
)
_HASH = re.compile(r"…[0-9a-f]{8}")
_QUOTED = re.compile(r"\"(?:\\.|[^\"\\])*\"|'[^']*'", re.DOTALL)
_STEP_END = re.compile(r"&&|\|\||;|\n")
_PIPE = re.compile(r"\|&?")
_REDIRECTION = re.compile(r"(?<!\S)(?:\d|&)?>>?\s*(?:&\d|\S+)|(?<!<)<\s*\S+|&\s*$")
_WORD = re.compile(rf"(?:{_QUOTED.pattern}|\\.|[^\s\"'])+", re.DOTALL)
_VERSION = re.compile(r"(?<=\w)(?:@[\w.^~-]+|[=~<>]=.*)$")

_PREFIXES = word_set("sudo time nohup rtk command env npx bunx uvx exec timeout xargs")
_ALIASES = {
    "python3": "python",
    "pip3": "pip",
    "docker-compose": "docker",
    "i": "install",
}
_CODE_OPTIONS = word_set("-c -e --eval")
_NARROWS = re.compile(r"-\S*(?:test|filter|grep|pattern|name)\S*=", re.IGNORECASE)
_EVERYTHING = word_set(". ./... -- run compose")
"""Words that do not limit what a command does."""

_GIT_ALONE = word_set("commit push pull fetch rebase merge stash")
"""Commands of git that are the same whatever their arguments."""

_NOT_DONE = word_set("--abort --skip --quit --dry-run --help --version")

_SIDE_STEPS = word_set(
    """cat cd echo exit export head jq ls mkdir printf pwd set sleep sort source tail
    tee test true unset wc which"""
) | {"git add", "git diff", "git status"}
"""Programs that are run beside the one that a command is for."""

_READING_PROGRAMS = word_set(
    "awk cat echo find grep head jq ls printf rg sed tail test wc which"
)
_READING_WORDS = word_set(
    """blame diff list log show status view --dry-run --get --get-all --help --list
    --version"""
)
_CHANGING_PROGRAMS = word_set(
    """chgrp chmod chown cp createdb crontab direnv dropdb export fuser kill killall
    launchctl ln mkdir mv patch pkill rm rmdir source ssh-add ssh-keygen tar tee touch
    unset unzip xattr"""
)
_CHANGING_WORDS = word_set(
    """add am apply checkout cherry ci clean clone codegen commit config create delete
    deploy disable down drop edit enable fetch fix fmt format get init install kill link
    login makemigrations merge migrate mv prune pull push rebase reload remove rename
    reset restart restore revert rm rmi seed start stash stop submodule switch sync tag
    tidy uninstall unlink up update upgrade use write"""
)
"""Subcommands, parts of the names of scripts, and options that change something."""

_LEADING_WORDS = 3
"""How many words after the name of a program are searched for these."""

QUOTED_CHARS = 60

_WRITES_FILE = re.compile(r"(?<![\d&>])>>?\s*(?!&|/dev/)[\w./~$\"'-]+")
_EDITS_FILE = re.compile(r"(?:sed|perl)\s+(?:\S+\s+)*?-\w*i")


@dataclass(frozen=True, slots=True)
class Fix:
    """The events that followed an error."""

    changes: Sequence[Event]
    """The calls that changed something, and attempts that failed in another way.

    Those until the success; without one, until the next request.
    """
    last: Event
    """The last of these, or the success, before the next request; else the error."""
    reruns: Sequence[Event]
    """The calls that ran again what had failed: the last one succeeded if any did."""
    has_succeeded: bool
    """The last of these succeeded."""
    is_gone: bool
    """The last of these does not have the error."""
    can_rerun: bool
    """The error is the result of a call that is recognized when it is run again."""


def find_fix(
    error: Event, following: Iterable[Event], has_error: Callable[[str], bool]
) -> Fix:
    """Return what the events after an error did about it.

    A call whose output has the error did not succeed.
    """
    wanted = _identify(error)
    missing = set(wanted)
    changes: list[Event] = []
    reruns: list[Event] = []
    until_request: int | None = None
    is_gone = False
    for event in following:
        if event.role is EventRole.USER and changes and until_request is None:
            until_request = len(changes)
        if not event.is_tool_call or tool_actions.was_refused(event):
            continue
        calls = _identify(event)
        again = {one for one in wanted if any(call.covers(one) for call in calls)}
        has_no_error = tool_actions.has_passed(event) or not has_error(event.text)
        if has_no_error and tool_actions.has_succeeded(event):
            missing -= again
        is_rerun = bool(wanted) and again == wanted
        if again and (is_rerun or not missing):
            reruns.append(event)
            is_gone = has_no_error
            if not missing:
                break
        is_other_attempt = is_rerun and is_gone and _command(event) != _command(error)
        if is_change(event) or is_other_attempt:
            changes.append(event)
    has_succeeded = bool(wanted) and not missing
    in_turn = changes[:until_request]
    last = reruns[-1] if has_succeeded and until_request is None else None
    return Fix(
        changes=changes if has_succeeded else in_turn,
        last=last or [error, *in_turn][-1],
        reruns=reruns,
        has_succeeded=has_succeeded,
        is_gone=is_gone,
        can_rerun=bool(wanted),
    )


def _command(call: Event) -> str:
    return call.text.partition("\n")[0]


@dataclass(frozen=True, slots=True)
class _Call:
    """A call without what may differ when it is run again."""

    name: str
    subcommand: str
    words: frozenset[str]

    def covers(self, other: "_Call") -> bool:
        """Return whether this call does all that another one does."""
        is_whole = not self.words and re.search(r"[./]", other.subcommand) is not None
        return (
            self.name == other.name
            and (self.subcommand == other.subcommand or is_whole)
            and self.words <= other.words
        )


def _identify(event: Event) -> set[_Call]:
    """Return what a call does; nothing if it only read something, and did not fail."""
    name, given = (event.metadata.get(key, "") for key in ("tool_name", "tool_input"))
    if tool_actions.is_command(event):
        words = [one for step in _steps(event) for one in _programs(step)]
        main = [one for one in words if not _SIDE_STEPS & {one[0], " ".join(one[:2])}]
        main = main or words[:1]
        return {_identify_command(one) for one in main if not _NOT_DONE & set(one)}
    verb = tool_calls.tool_verb(name)
    if not name or name == event.agent or (verb in _READING and not event.is_failed):
        return set()
    places = tool_calls.named_places(given)
    if not places and not name.startswith("mcp__"):
        return set()
    called = "Edited" if verb in tool_calls.CHANGING else name
    return {_Call(called, "", frozenset(places))}


_READING = ("Read", "Searched for")


def _identify_command(words: Sequence[str]) -> _Call:
    name, *rest = words
    objects: list[str] = []
    option = ""
    for word in rest:
        is_text = word[0] in "\"'" and len(word.split()) > 1
        is_message = is_text and option and option not in _CODE_OPTIONS
        if _NARROWS.match(word) or not (word.startswith("-") or is_message):
            objects.append(_VERSION.sub("", word.strip("\"'")))
        option = word if word.startswith("-") else ""
    objects = [_ALIASES.get(word, word) for word in objects if word not in _EVERYTHING]
    if name == "git" and objects and objects[0] in _GIT_ALONE:
        del objects[1:]
    return _Call(name, objects[0] if objects else "", frozenset(objects))


def _steps(event: Event) -> list[str]:
    """Return the pipelines that a command consists of, in order.

    The body of a here-document is replaced by a hash.
    """

    def replace(found: re.Match[str]) -> str:
        digest = hashlib.blake2b(found["body"].encode(), digest_size=4).hexdigest()
        return f"…{digest}{found['rest']}"

    command = tool_actions.whole_command(event)[: tool_actions.COMMAND_READ_CHARS]
    plain = _HEREDOC.sub(replace, command).replace("\\\n", " ")
    steps = _split_unquoted(plain, _STEP_END)
    return [one for one in steps if not one.startswith("#")]


def _split_unquoted(text: str, separator: re.Pattern[str]) -> list[str]:
    """Split a text at a separator that is not within quotes."""
    held: list[str] = []

    def hold(found: re.Match[str]) -> str:
        held.append(found[0])
        return f"\0{len(held) - 1}\0"

    parts = [one.strip() for one in separator.split(_QUOTED.sub(hold, text))]
    return [
        re.sub("\0(\\d+)\0", lambda found: held[int(found[1])], one)
        for one in parts
        if one
    ]


def _programs(step: str) -> list[list[str]]:
    """Return the words of each program in a pipeline, from its name on."""
    return list(filter(None, map(_split_words, _split_unquoted(step, _PIPE))))


def _split_words(step: str) -> list[str]:
    words = _WORD.findall(_REDIRECTION.sub(" ", tool_actions.without_directory(step)))
    while words and (words[0] in _PREFIXES or re.match(r"-|\w+=", words[0])):
        del words[: 2 if words[0] == "timeout" else 1]
    if words[1:2] == ["-m"] and re.fullmatch(r"(?:.*/)?python[\d.]*", words[0]):
        del words[:2]
    if words:
        program = words[0].rpartition("/")[2]
        words[0] = _ALIASES.get(program, program)
    return words


def is_change(event: Event) -> bool:
    """Return whether a call changed something: files, packages, settings."""
    if event.is_failed:
        return False
    verb = tool_calls.tool_verb(event.metadata.get("tool_name", ""))
    return verb in tool_calls.CHANGING or bool(changing_steps(event))


def changing_steps(event: Event) -> list[str]:
    """Return the commands of a call that change something, as they were entered."""
    if not tool_actions.is_command(event):
        return []
    return [
        step
        for step in _steps(event)
        if _WRITES_FILE.search(_QUOTED.sub("", step))
        or _EDITS_FILE.match(step)
        or any(map(_changes, _programs(step)))
    ]


def _changes(words: Sequence[str]) -> bool:
    program, *rest = words
    names = [word for word in rest if not re.search(r"^-|[./\"']", word)]
    leading = {*names[:_LEADING_WORDS], *(one for one in rest if one.startswith("-"))}
    if program in _READING_PROGRAMS or leading & _READING_WORDS:
        return False
    parts = {part for word in leading for part in re.split(r"[:_-]+", word)}
    return program in _CHANGING_PROGRAMS or bool(_CHANGING_WORDS & parts)


def describe_command(command: str) -> str:
    """Return a command in one line, with long texts in quotes shortened."""
    command = tool_actions.without_comment(command)
    plain = _HEREDOC.sub("…", command[: tool_actions.COMMAND_READ_CHARS])
    plain = _HASH.sub("…", _QUOTED.sub(_shorten_quoted, plain))
    return " ".join(plain.split())


def _shorten_quoted(found: re.Match[str]) -> str:
    quote, text = found[0][0], found[0][1:-1]
    return f"{quote}{shorten(text, QUOTED_CHARS)}{quote}"
