"""Read what calls did, and what was asked and answered, from the events of a session.

A fact is what a call did that ran and succeeded: a commit, a push, a changed file. What
a message claims is none, and what a program printed is only one if the command was to
do it.
"""

import json
import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memtui.model import tool_calls
from memtui.model.events import Event, EventRole, EventType
from memtui.model.work import (
    Commit,
    EndKind,
    Facts,
    FileChange,
    Line,
    PullRequest,
    Request,
    Task,
    TestRun,
    UserAnswer,
)
from memtui.summarize.answers import find_answers
from memtui.summarize.shell import SimpleCommand, join_path, split_commands
from memtui.text.plain import (
    plain_beginning,
    plain_lines,
    shorten,
    shorten_addresses,
)
from memtui.text.stopwords import word_set

REQUEST_CHARS = 500
"""Requests are shortened to this many characters."""

REPLY_CHARS = 300
"""Replies are shortened to this many characters."""

COMMAND_CHARS = 48
"""Commands are shortened to this many characters."""

OUTPUT_CHARS = 6_000
"""Only this much of the beginning and of the end of a call's output is read."""

ENDING_CHARS = 600
"""Only this much of the end of a message is searched for a question."""


def read_facts(events: Sequence[Event]) -> Facts:
    """Return what the events of a segment or session show.

    Those of subagents are left out, unless there are no others.
    """
    reader = _FactsReader()
    for event in [event for event in events if not event.subagent] or events:
        reader.read(event)
    return reader.facts()


class _FactsReader:
    def __init__(self) -> None:
        self._requests: list[Line] = []
        self._counts = [0]
        """The numbers of events before the first request, and after each one."""
        self._reply: Event | None = None
        self._answers: list[UserAnswer] = []
        self._commits: list[Commit] = []
        self._undoable = 0
        """The number of last commits that a reset of the branch would undo."""
        self._pull_requests: list[PullRequest] = []
        self._pushes: list[Line] = []
        self._merges: list[Line] = []
        self._test_runs: list[TestRun] = []
        self._files: list[FileChange] = []
        self._failed: list[Line] = []
        self._tasks: dict[str, Task] | None = None
        """The open items of the to-do list, by their numbers or texts."""
        self._done_tasks: dict[str, Task] = {}
        """The finished items, by their numbers or texts."""
        self._end = EndKind.NOTHING
        self._end_event: Event | None = None
        self._running: dict[str, list[SimpleCommand]] = {}
        """The commands that went on running, by the ids of their shells."""
        self._written: dict[str, str] = {}
        """The contents of files that were written, by their paths."""
        self._before: Event | None = None
        self._unfinished: Event | None = None
        """The first call without an end after the last message."""

    def facts(self) -> Facts:
        last, reply = self._end_event, self._reply
        if self._end is EndKind.CALL:
            last = self._unfinished or last
        return Facts(
            requests=tuple(
                Request(request.text, request.event_id, count)
                for request, count in zip(self._requests, self._counts[1:], strict=True)
            ),
            events_before=self._counts[0],
            reply=Line(plain_beginning(reply.text, REPLY_CHARS), reply.event_id)
            if reply
            else None,
            answers=tuple(self._answers),
            commits=tuple(self._commits),
            pull_requests=tuple(self._pull_requests),
            pushes=tuple(self._pushes),
            merges=tuple(self._merges),
            test_runs=tuple(self._test_runs),
            files=tuple(self._files),
            failed_commands=tuple(self._failed),
            open_tasks=None if self._tasks is None else tuple(self._tasks.values()),
            done_tasks=tuple(self._done_tasks.values()),
            end=self._end,
            end_event_id=last.event_id if last else "",
            end_text=self._end_text(last),
        )

    def _end_text(self, last: Event | None) -> str:
        if last and self._end is EndKind.CALL and last.is_unfinished:
            return shorten(last.text.partition("\n")[0], REPLY_CHARS)
        if last and self._end is EndKind.REQUEST:
            return plain_beginning(last.text, REPLY_CHARS)
        return ""

    def read(self, event: Event) -> None:
        is_request = (
            event.event_type is EventType.USER_MESSAGE and event.role is EventRole.USER
        )
        if is_request:
            text = shorten("\n".join(_first_lines(event.text)), REQUEST_CHARS)
            self._requests.append(Line(text, event.event_id))
            self._counts.append(0)
        self._counts[-1] += 1
        name = event.metadata.get("tool_name", "")
        if (end := _find_end(event)) and _bare_name(name) not in _TASK_TOOLS:
            self._end, self._end_event = end, event
            if end is not EndKind.CALL:
                self._unfinished = None
            elif event.is_unfinished and not self._unfinished:
                self._unfinished = event
        if end in (EndKind.REPLY, EndKind.QUESTION):
            self._reply = event
        elif event.is_tool_call and not event.is_unfinished:
            self._read_call(event)
        self._before = event

    def _read_call(self, event: Event) -> None:
        name = event.metadata.get("tool_name", "")
        whole = _find_output(event)
        output = whole[:OUTPUT_CHARS]
        if len(whole) > OUTPUT_CHARS:
            tail = max(OUTPUT_CHARS, len(whole) - OUTPUT_CHARS)
            output = f"{output}\n{whole[tail:]}"
        is_script = event.metadata.get("tool_input", "").startswith('"')
        if _NOT_RUN.match(output) or (name == _SCRIPT_TOOL and is_script):
            return
        if event.agent == "aider" and name == "aider":
            self._read_aider_note(event, output)
            return
        has_failed = event.is_failed
        if tool_calls.is_command(name):
            self._read_command(event, output, has_failed=has_failed)
        if has_failed:
            return
        bare_name = _bare_name(name)
        if bare_name in _TASK_TOOLS:
            self._read_tasks(event, _parse_input(event), output)
        elif bare_name in _ASKING_TOOLS:
            self._answers += [
                UserAnswer(answer, event.event_id, question)
                for question, answer in find_answers(_parse_input(event), whole)
            ]
        elif bare_name == "createpullrequest":
            title = _parse_input(event).get("title")
            self._add_pull_request(event, title, _find_pull_requests(output)[:1])
        elif bare_name == "mergepullrequest":
            self._merges.append(Line("merge pull request", event.event_id))
        elif not output.startswith("Error"):
            self._files += self._find_changes(event, name)

    # Commands

    def _read_command(self, event: Event, output: str, *, has_failed: bool) -> None:
        given = _parse_input(event)
        if event.metadata.get("tool_name") in tool_calls.WAITING_TOOLS:
            names = (given[field] for field in _SHELL_IDS if field in given)
            commands = self._running.pop(str(next(names, "")), [])
        else:
            commands = list(split_commands(_find_command(given, event)))
        if running := _STILL_RUNNING.search(output):
            self._running[running[1]] = commands
        if running or event.call_end is tool_calls.CallEnd.BACKGROUND:
            return
        doing = [command for command in commands if command.program not in _LOOKING]
        publishing = [command for command in doing if command.program in _PUBLISHING]
        typed = event.metadata.get("tool_input", "")
        is_trial = "mktemp" in typed or ("git init" in typed and "/tmp/" in typed)
        if publishing and not is_trial:
            whole = _find_output(event)
            self._read_commits(event, commands, whole, has_failed=has_failed)
            for command in publishing:
                self._read_publication(event, command, output, has_failed=has_failed)
        if not (has_failed or is_trial):
            for command in commands:
                for path, added in _find_shell_edits(command):
                    change = FileChange(path, added, 0, event.event_id)
                    self._files.append(change)
        testing = [command for command in doing if command.program not in _PUBLISHING]
        if testing and (counts := count_tests(output)):
            runners = (run for run in testing if "test" in " ".join(run.words))
            runner = _describe(next(runners, testing[-1]))
            run = TestRun(*counts, event.event_id, runner)
            self._test_runs.append(run)
        if has_failed and doing:
            # Which command of a chain failed is not known.
            chain = shorten(" && ".join(map(_describe, doing)), COMMAND_CHARS)
            self._failed.append(Line(chain, event.event_id))

    def _read_commits(
        self,
        event: Event,
        commands: Sequence[SimpleCommand],
        output: str,
        *,
        has_failed: bool,
    ) -> None:
        """Add the commits of a command line, and remove those that it undoes."""
        read = 0
        made = _find_commits(event, commands, output, has_failed=has_failed)
        for number, commit in made:
            self._undo_commits(commands[read:number], has_failed=has_failed)
            read = max(read, number)
            self._add_commit(commit)
        self._undo_commits(commands[read:], has_failed=has_failed)

    def _add_commit(self, commit: Commit) -> None:
        if not commit.subject:
            self._undoable = 0
            return
        if not commit.is_amended:
            self._undoable += 1
        elif self._commits:
            is_amended = self._commits.pop().is_amended
            commit = replace(commit, is_amended=is_amended)
        self._commits.append(commit)

    def _undo_commits(
        self, commands: Sequence[SimpleCommand], *, has_failed: bool
    ) -> None:
        """Remove the commits that ``git reset`` surely took back from the branch."""
        for command in commands:
            git = _git(command)
            count = min(_count_undone(git), self._undoable)
            if _MOVING.intersection(git[:1]) or (
                count and (has_failed or command.is_conditional)
            ):
                self._undoable = 0
            elif count:
                del self._commits[-count:]
                self._undoable -= count

    def _read_aider_note(self, event: Event, output: str) -> None:
        """Add the commit of Aider's own changes; those of the user come before."""
        is_user = self._before and self._before.event_type is EventType.USER_MESSAGE
        notes = _AIDER_COMMIT.findall(output)
        if notes and not is_user:
            digest, subject = notes[-1]
            self._add_commit(Commit(_clean_subject(subject), event.event_id, digest))

    def _read_publication(
        self, event: Event, command: SimpleCommand, output: str, *, has_failed: bool
    ) -> None:
        """Add the pushes, pull requests and merges of a command."""
        words, git = command.words[1:], _git(command)
        kind = words[:2] if command.program in ("gh", "glab") else ()
        if git[:1] == ["push"] and _pushes_work(git, output):
            refs = _PUSHED.findall(output)
            if refs or not (has_failed or _PUSH_REFUSED.search(output)):
                push = Line(refs[-1] if refs else _describe(command), event.event_id)
                self._pushes += [] if push in self._pushes[-1:] else [push]
        if has_failed:
            return
        if kind == ("repo", "create") and "--push" in words:
            self._pushes.append(Line(_describe(command), event.event_id))
        elif kind in (("pr", "create"), ("mr", "create")):
            title = _find_option(words, "-t", "--title")
            is_new = "already exists" not in output
            if is_new and not _NOT_OPENING.intersection(words):
                self._add_pull_request(event, title, _find_pull_requests(output)[-1:])
        elif _merges_branch(git, output) or (
            kind in (("pr", "merge"), ("mr", "merge"))
            and not _NOT_MERGING.intersection(words)
        ):
            self._merges.append(Line(_describe(command), event.event_id))

    def _add_pull_request(
        self, event: Event, title: object, numbers: Sequence[int]
    ) -> None:
        text = _clean_subject(title) if isinstance(title, str) else ""
        self._pull_requests += [
            PullRequest(text, event.event_id, number) for number in numbers
        ]

    # Files and tasks

    def _find_changes(self, event: Event, name: str) -> Iterator[FileChange]:
        """Yield the files that a call changed, by the counts that came with it."""
        edits = tool_calls.parse_edits(name, event.metadata.get("tool_input", ""))
        counts = _LINE_COUNT.findall(event.metadata.get("lines", ""))
        if counts and counts[0][2]:
            for added, removed, path in counts:
                yield FileChange(path, int(added), int(removed), event.event_id)
            return
        is_whole = tool_calls.tool_verb(name) == "Wrote"
        changes: dict[str, tuple[int, int]] = {}
        for edit in edits:
            old = self._written.get(edit.path, "") if is_whole else edit.old
            if is_whole:
                self._written[edit.path] = edit.new
            added, removed = count_changed_lines(old, edit.new)
            before = changes.get(edit.path, (0, 0))
            changes[edit.path] = before[0] + added, before[1] + removed
        if counts and len(changes) == 1:
            changes = dict.fromkeys(changes, (int(counts[0][0]), int(counts[0][1])))
        for path, lines in changes.items():
            if path:
                yield FileChange(path, *lines, event.event_id)

    def _read_tasks(
        self, event: Event, given: Mapping[str, object], output: str
    ) -> None:
        """Read a list of tasks, or a change of one."""
        if number := _TASK_NUMBER.search(output) if "subject" in given else None:
            task = Task(str(given["subject"]), event.event_id, number[1])
            self._tasks = {**(self._tasks or {}), number[1]: task}
        elif "taskId" in given:
            if str(given.get("status")) in _CLOSED:
                closed = str(given["taskId"])
                self._tasks = self._tasks or {}
                opened = self._tasks.pop(closed, None)
                text = opened.text if opened else ""
                done = Task(text, event.event_id, closed)
                self._done_tasks.setdefault(closed, done)
        else:
            lists = (given.get(name) for name in ("todos", "plan", "todoList"))
            items = next((items for items in lists if isinstance(items, list)), None)
            if items is not None:
                self._tasks = {}
                for text, is_done in filter(None, map(_read_item, items)):
                    task = Task(text, event.event_id)
                    if is_done:
                        self._done_tasks.setdefault(text, task)
                    else:
                        self._tasks[text] = task


_NOT_RUN = re.compile(
    r"(?:Error: )?(?:<tool_use_error>|\[?Request interrupted|The user doesn't want"
    r"|Claude requested permissions"
    r"|[^\n]{0,80}\b(?:rejected|aborted|denied|declined) by (?:the )?user\b)"
)
"""The text in place of the output of a call that the user or the agent refused."""

_STILL_RUNNING = re.compile(
    r"(?:Command running in background with ID:|backgrounded by user with ID:"
    r"|was moved to the background \(ID:|Process running with session ID"
    r"|Script running with cell ID"
    r"|<command with (?:shell|session)Id:"
    r"|<command started in (?:detached )?background with (?:shell|session)Id:)"
    r" ([\w-]+)"
)

_SHELL_IDS = (*("session_id", "bash_id", "task_id", "shellId", "sessionId", "cell_id"),)
_COMMAND_FIELDS = ("command", "cmd", "CommandLine", "script")

_SCRIPT_TOOL = "exec"
"""Codex's tool that runs a script, given as a text; its calls are events as well."""

_LOOKING = word_set(
    """cat cd echo printf grep egrep rg ag head tail sed awk ls find fd wc sort uniq tee
    less more jq yq curl wget diff pwd which type test [ true false sleep export set
    source . mkdir cut tr xargs ps pgrep kill tree stat file date env"""
)
"""Programs that look at something, or show it: they neither fail nor test anything."""

_PUBLISHING = word_set("git git.exe gh glab")


def _bare_name(tool_name: str) -> str:
    """Return the name of a tool without its server, underscores and capitals."""
    return tool_name.rpartition("__")[2].replace("_", "").lower()


def _find_output(event: Event) -> str:
    """Return the text of a call's event after the line that shows the call."""
    return event.text.partition("\n")[2]


def _parse_input(event: Event) -> dict[str, object]:
    text = event.metadata.get("tool_input", "")
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        given = text
    return given if isinstance(given, dict) else {"command": given}


def _find_command(given: Mapping[str, object], event: Event) -> str | list[str]:
    """Return a command line, or a program and its arguments."""
    value = next((given[name] for name in _COMMAND_FIELDS if given.get(name)), "")
    if isinstance(value, list):
        return list(map(str, value))
    return str(value) or event.text.partition("\n")[0].partition(": ")[2]


def _describe(command: SimpleCommand) -> str:
    """Return a command in a line, without redirections and Git's own options."""
    words = [*command.runner, command.program, *(_git(command) or command.words[1:])]
    line = " ".join(f'"{word}"' if " " in word else word for word in words)
    return shorten(shorten_addresses(" ".join(line.split())), COMMAND_CHARS)


def _find_option(words: Sequence[str], *names: str) -> str:
    """Return the value of an option: ``--title text``, ``--title=text``."""
    for word, value in zip(words, [*words[1:], ""], strict=True):
        if word in names:
            return value
        if word.startswith("--") and word.partition("=")[0] in names:
            return word.partition("=")[2]
    return ""


# Git

_COMMIT_ANSWER = re.compile(
    r"^\[([^\]\n]+?) (?:\(root-commit\) )?([0-9a-f]{7,40})\] (.+)$", re.MULTILINE
)
_EXPANSION = re.compile(r"[$`\\]")
"""Characters by which a program gets another text than the command has."""
_PARAMETER = re.compile(r"\$\{?[\d@*]")
_BLANK_LINE = re.compile(r"\n\s*\n")
_AIDER_COMMIT = re.compile(r"^Commit ([0-9a-f]{7,40}) (.+)$", re.MULTILINE)
_STAT = re.compile(
    r"\b\d+ files? changed(?:, (\d+) insertions?\(\+\))?(?:, (\d+) deletions?\(-\))?"
)
_COMMIT_REFUSED = re.compile(
    r"nothing (?:added )?to commit|no changes added|^(?:fatal|error): |hook .*fail"
    r"|Aborting commit",
    re.MULTILINE | re.IGNORECASE,
)
_COMMITTED = re.compile(
    rf"{_STAT.pattern}|^ (?:create|delete|rename|copy|rewrite|mode change) ",
    re.MULTILINE,
)
"""The lines that Git prints after the subject of a commit."""
_QUIET = re.compile(r"-[a-zA-Z]*q|--quiet")
_PUSHED = re.compile(
    r"^ (?:[ +] [0-9a-f]+\.{2,3}[0-9a-f]+|\* \[new (?!tag)[a-z]+\]) +\S+ -> (\S+)",
    re.MULTILINE,
)
_NEW_TAG = re.compile(r"^ \* \[new tag\] +\S+ -> (\S+)", re.MULTILINE)
_PUSH_REFUSED = re.compile(
    r"\[(?:remote )?rejected\]|^error: |^fatal: |^Everything up-to-date", re.MULTILINE
)
_PULL_REQUEST = re.compile(r"/(?:pull|merge_requests)/(\d+)|\"number\": ?(\d+)")

_GIT_VALUES = word_set("-C -c --git-dir --work-tree --namespace")
_NOT_COMMITTING = word_set("--dry-run --help -h --abort --quit --skip --no-commit")
_BEFORE_HEAD = re.compile(r"(?:HEAD|@)(?:~(\d{0,3})|([~^]+))")
_MOVING = word_set("checkout switch merge pull rebase cherry-pick am")
"""Git's commands after which the last commit may be another one."""
_NOT_PUSHING = word_set("--dry-run -n --delete -d --help -h")
_NOT_OPENING = word_set("--dry-run --help -h")
_NOT_MERGING = word_set("--auto --disable-auto --help -h")
_TRUNKS = word_set("main master trunk develop dev HEAD")


def _git(command: SimpleCommand) -> list[str]:
    """Return the arguments of a Git command from its subcommand on; else []."""
    words = list(command.words[1:])
    if command.program.removesuffix(".exe") != "git":
        return []
    while words and words[0].startswith("-"):
        del words[: 2 if words[0] in _GIT_VALUES else 1]
    return words


def _find_commits(
    event: Event, commands: Sequence[SimpleCommand], output: str, *, has_failed: bool
) -> Iterator[tuple[int, Commit]]:
    """Yield the commits that Git confirms, else those that the commands ask for.

    Each comes with the number of its command; its subject is "" if it is not known.
    Other programs may print text that looks like an answer of Git: it has to fit a
    command that is not answered yet.
    """
    asked = [
        _AskedCommit.read(commands, number)
        for number, command in enumerate(commands)
        if (words := _git(command))[:1] in (["commit"], ["revert"])
        and not _NOT_COMMITTING.intersection(words)
    ]
    if event.metadata.get("exit_status", "0") not in ("", "0"):
        # The exit status is that of the last command that ran.
        asked = [commit for commit in asked if commit.number < len(commands) - 1]
    if not asked:
        return
    waiting, is_answered = list(asked), False
    answers = list(_COMMIT_ANSWER.finditer(output))
    ends = [*(answer.start() for answer in answers), len(output)][1:]
    for answer, end in zip(answers, ends, strict=True):
        branch, digest, subject = answer.groups()
        fitting = [commit for commit in waiting if commit.fits(subject)]
        if not fitting:
            continue
        commit = max(fitting, key=lambda commit: len(commit.beginning))
        if not commit.is_repeated:
            waiting.remove(commit)
        is_answered = True
        stat = output[answer.end() : end]
        yield (
            commit.number,
            Commit(
                _clean_subject(subject),
                event.event_id,
                digest,
                "" if " " in branch else branch,
                _count_stat(stat[:OUTPUT_CHARS]),
                commit.is_amended,
            ),
        )
    if is_answered or has_failed or _COMMIT_REFUSED.search(output):
        return
    lines = _count_stat(output) if len(asked) == 1 and not answers else 0
    for commit in asked:
        is_certain = not commands[commit.number].is_conditional
        if output.strip() and _is_masked(commands, commit.number):
            is_certain = is_certain and bool(_COMMITTED.search(output))
        subject = commit.subject if is_certain else ""
        made = Commit(
            subject, event.event_id, lines=lines, is_amended=commit.is_amended
        )
        yield commit.number, made


def _is_masked(commands: Sequence[SimpleCommand], number: int) -> bool:
    """Return whether a commit may have failed in a command line that succeeded.

    Git answers such a commit where it can be read, unless it was told not to.
    """
    commit = commands[number]
    if commit.outputs or any(map(_QUIET.match, commit.words)):
        return False
    return not all(command.is_after_success for command in commands[number + 1 :])


def _count_undone(git: Sequence[str]) -> int:
    """Return how many commits ``git reset HEAD~2`` and the like undo."""
    words = [word for word in git if not word.startswith("-")]
    before = _BEFORE_HEAD.fullmatch(words[1]) if len(words) == 2 else None
    if words[:1] != ["reset"] or before is None:
        return 0
    return int(before[1] or 1) if before[1] is not None else len(before[2])


@dataclass(frozen=True, slots=True)
class _AskedCommit:
    """The commit that a ``git commit`` or ``git revert`` asks for."""

    number: int
    """The number of its command."""
    subject: str = ""
    """The first line of the message; "" if the command does not show it."""
    beginnings: tuple[str, ...] = ("",)
    """The possible beginnings of the subject, up to what the shell puts in."""
    is_whole: bool = False
    """Nothing comes after the beginnings."""
    is_repeated: bool = False
    """It may make several commits: in a loop or a function, or by a revert."""
    is_amended: bool = False

    @classmethod
    def read(cls, commands: Sequence[SimpleCommand], number: int) -> "_AskedCommit":
        words = _git(commands[number])
        if words[0] == "revert":
            return cls(number, beginnings=('Revert "', 'Reapply "'), is_repeated=True)
        before = commands[number - 1].input if number else ""
        message = _find_message(words, commands[number].input or before)
        message = message.removeprefix("@\n").strip()
        if any(word.startswith(("--fixup", "--squash")) for word in words):
            message = ""
        line, paragraph = message.partition("\n")[0], _BLANK_LINE.split(message)[0]
        subjects = [_clean(text) for text in (line, paragraph)]
        later = commands[number + 1 :]
        return cls(
            number,
            _clean_subject(line),
            tuple(_EXPANSION.split(text)[0] for text in subjects),
            bool(message) and not _EXPANSION.search(paragraph),
            any(command.program == "done" for command in later)
            or _PARAMETER.search(line) is not None,
            "--amend" in words,
        )

    @property
    def beginning(self) -> str:
        return self.beginnings[0]

    def fits(self, subject: str) -> bool:
        """Return whether Git may answer this command with a subject."""
        printed = _clean(subject)
        if self.is_whole:
            return printed in self.beginnings
        return printed.startswith(self.beginnings)


def _find_message(words: Sequence[str], standard_input: str) -> str:
    """Return the message that is passed to ``git commit``."""
    for word, value in zip(words, [*words[1:], ""], strict=True):
        is_short = word.startswith("-") and not word.startswith("--")
        if word == "--message" or (is_short and word.endswith("m")):
            return value
        if word.startswith("--message=") or word.startswith("-m"):
            return word.removeprefix("--message=").removeprefix("-m")
        if word in ("-F-", "--file=-") or (word in ("-F", "--file") and value == "-"):
            return standard_input
    return ""


def _clean(subject: str) -> str:
    return " ".join(subject.split())[:REQUEST_CHARS]


def _clean_subject(subject: str) -> str:
    """Return a subject in a line; "" if the shell would put something in its place."""
    line = _clean(subject)
    return "" if line.startswith(("$", "`")) else line


def _count_stat(output: str) -> int:
    """Return the number of lines that Git says a commit adds and removes."""
    stat = _STAT.search(output)
    return sum(int(count or 0) for count in stat.groups()) if stat else 0


def _pushes_work(git: Sequence[str], output: str) -> bool:
    """Return whether a ``git push`` is for more than tags and deletions."""
    _, *refs = [word for word in git[1:] if not word.startswith("-")] or [""]
    is_deletion = any(ref.startswith(":") for ref in refs)
    if is_deletion or _NOT_PUSHING.intersection(git):
        return False
    if refs[:1] == ["tag"] or ("--tags" in git and not refs):
        return False
    tags = set(_NEW_TAG.findall(output))
    return not refs or not all(
        ref in tags or ref.startswith("refs/tags/") for ref in refs
    )


def _find_pull_requests(output: str) -> list[int]:
    """Return the numbers of pull requests that an output names."""
    return [int(link or number) for link, number in _PULL_REQUEST.findall(output)]


def _merges_branch(git: Sequence[str], output: str) -> bool:
    """Return whether a Git command merged a branch other than the main one."""
    if git[:1] != ["merge"] or "CONFLICT" in output or "up to date" in output:
        return False
    names = [word for word in git[1:] if not word.startswith("-")]
    return bool(names) and names[0].rpartition("/")[2] not in _TRUNKS


# Tests

_TEST_SUMMARY = re.compile(
    r"^[ \t]*+(?:"
    # pytest, Playwright
    r"=*[ ]?(?=\d+ (?:(?:passed|failed|skipped)\b|errors? in ))\d+ \w+(?:, \d+ \w+)*"
    r"(?: in [\d.:]+.*|(?: \([^)\n]*\))?[ =]*+)"
    # Jest, Vitest, Pest, PHPUnit
    r"|Tests:?[ \t]+(?=.*\d (?:passed|failed)|\d+, Assertions).*"
    r"|OK \(\d+ tests?,.*"
    # Cargo, nextest, Deno
    r"|test result: .*|Summary \[.*|(?:ok|FAILED) \| \d.*"
    # Node, Bun, Mocha
    r"|[#ℹ] (?:pass|fail) \d+|\d+ (?:pass|fail)(?:ing)?\b(?: \([^)\n]*\))?"
    # Maven, Gradle, RSpec, Minitest, ExUnit
    r"|(?:\[\w+\] )?Tests run: \d+,.*Skipped: \d+"
    r"|\d+ (?:tests completed|examples?|runs|(?:doc)?tests?), .*\d fail(?:ed|ures?).*"
    # unittest, .NET and others
    r"|Ran \d+ tests? in .*|FAILED \((?:failures|errors).*"
    r"|[^\w\n]*Results?: .*\d passed.*|(?:Pass|Fail)ed! +- .*|(?:Pass|Fail)ed: +\d+"
    r")[ \t]*$",
    re.MULTILINE,
)
_TEST_COUNT = re.compile(r"(\d+) ([A-Za-z]+)|([A-Za-z]+)[:=]? *(\d+)\b(?! [A-Za-z])")
_GO_RESULT = re.compile(
    r"^(?:[ \t]*--- (PASS|FAIL): |(ok|FAIL)[ \t]+\S+[ \t]+(?:[\d.]+s|\())", re.MULTILINE
)
_COUNTED = {
    **dict.fromkeys(word_set("pass passed passing"), "passed"),
    **dict.fromkeys(
        word_set("fail failed failing failure failures error errors"), "failed"
    ),
    **dict.fromkeys(word_set("test tests run runs example examples"), "total"),
    **dict.fromkeys(word_set("skip skips skipped pending ignored"), "skipped"),
}


def count_tests(output: str) -> tuple[int, int] | None:
    """Return how many tests passed and failed, by the summaries that runners print."""
    passed = failed = 0
    for summary in _TEST_SUMMARY.finditer(output):
        counts = dict.fromkeys(("passed", "failed", "total", "skipped"), 0)
        line = summary[0].strip()
        for number, word, label, value in _TEST_COUNT.findall(line):
            if kind := _COUNTED.get((word or label).lower()):
                counts[kind] += int(number or value)
        is_unittest = line.startswith("FAILED (")  # The line before has the total.
        others = counts["total"] - counts["skipped"]
        if not counts["passed"] and (counts["total"] or is_unittest):
            passed += others - counts["failed"]
        passed, failed = passed + counts["passed"], failed + counts["failed"]
    if not (passed or failed):
        results = _GO_RESULT.findall(output)
        tests = [test for test, _ in results if test]
        results = tests or [package for _, package in results]
        failed = results.count("FAIL")
        passed = len(results) - failed
    return (max(passed, 0), failed) if passed or failed else None


# Files and tasks

_NO_PROJECT_FILE = re.compile(
    r"(?:/private)?/(?:tmp|dev|var)/|-|nul$|.*[$*?`{\[<>|\n]", re.IGNORECASE
)
"""A temporary file, a device, an option, or a path that the shell completes."""

_COMPARING = word_set("[ [[ test")
_STREAM_EDITORS = word_set("sed gsed perl")
_IN_PLACE = re.compile(r"--in-place|-[0a-zA-Z]*i")
_SCRIPT_OPTION = re.compile(r"--expression$|-[0a-zA-Z]*e$")
_MOVING_FILES = word_set("mv cp")

_LINE_COUNT = re.compile(r"^\+(\d+) -(\d+)(?: (.+))?$", re.MULTILINE)


def _find_shell_edits(command: SimpleCommand) -> Iterator[tuple[str, int]]:
    """Yield the files that a command writes, as far as the command line names them.

    Each comes with the number of lines it got, if they are in a here-document.
    """
    if command.is_conditional or command.program in _COMPARING:
        return
    lines = len(command.input.splitlines())
    is_tee = command.program == "tee"
    names = {
        **dict.fromkeys(_find_targets(command), lines if is_tee else 0),
        **dict.fromkeys(command.outputs, lines if command.program == "cat" else 0),
    }
    for name, added in names.items():
        path = posixpath.normpath(join_path(command.folder, name).replace("\\", "/"))
        if name and not (_NO_PROJECT_FILE.match(name) or _NO_PROJECT_FILE.match(path)):
            yield path, added


def _find_targets(command: SimpleCommand) -> list[str]:
    """Return the files that are written to because they are arguments of a command."""
    git = _git(command)
    words = git[1:] if git[:1] == ["mv"] else command.words[1:]
    options = [word for word in words if word.startswith("-")]
    names = [word for word in words if word and not word.startswith("-")]
    if command.program == "tee":
        return names
    if command.program in _STREAM_EDITORS and any(map(_IN_PLACE.match, options)):
        scripts = sum(map(bool, map(_SCRIPT_OPTION.match, options)))
        return names[max(1, scripts) :]
    if (command.program in _MOVING_FILES or git[:1] == ["mv"]) and len(names) > 1:
        *moved, target = names
        if not {"-t", "-r", "-R", "-a", "-d"}.intersection(options):
            return _find_moved(moved, target)
    return []


def _find_moved(moved: Sequence[str], target: str) -> list[str]:
    """Return the new paths of moved files; not those of what may be a folder."""
    names = [target]
    if target.endswith("/") or target in (".", "..") or len(moved) > 1:
        names = [posixpath.join(target, posixpath.basename(path)) for path in moved]
    return [name for name in names if posixpath.splitext(name)[1]]


def count_changed_lines(old: str, new: str) -> tuple[int, int]:
    """Return how many lines a text has that another has not, and the reverse.

    Lines that only moved are not counted.
    """
    before, after = Counter(old.splitlines()), Counter(new.splitlines())
    return (after - before).total(), (before - after).total()


_TASK_TOOLS = word_set(
    """todowrite updateplan writetodos updatetodo managetodolist taskcreate
    taskupdate"""
)
"""The tools with which agents keep their to-do lists, without underscores."""

_ASKING_TOOLS = word_set("askuserquestion requestuserinput askuser question")
"""The tools with which agents ask the user, without underscores."""

_TASK_NUMBER = re.compile(r"#(\d+)")
_CLOSED = word_set("completed complete done cancelled canceled deleted")
_ITEM_TEXTS = ("content", "step", "description", "title", "text")


def _read_item(item: object) -> tuple[str, bool] | None:
    """Return the text of an item of a to-do list, and whether it is finished."""
    if not isinstance(item, dict):
        return None
    texts = (item[name] for name in _ITEM_TEXTS if isinstance(item.get(name), str))
    text = next(texts, "").strip()
    return (text, str(item.get("status")) in _CLOSED) if text else None


# Messages

_ERROR_KINDS = word_set("error api_error api_refusal")
_QUESTION_MARKS = ("?", "？", "؟")
_CLOSING_MARKS = " \t\n*_`~\"'”’»)]}>"


def _find_end(event: Event) -> EndKind | None:
    """Return what the event is if it is the last one; None if it says nothing."""
    kind = event.metadata.get("kind", "")
    if event.is_tool_call:  # Aider's calls are what came of its last reply.
        return None if event.agent == "aider" else EndKind.CALL
    if event.event_type is EventType.ASSISTANT_MESSAGE:
        if kind in _ERROR_KINDS:
            return EndKind.ERROR
        ending = event.text[-ENDING_CHARS:].rstrip(_CLOSING_MARKS)
        is_question = ending.endswith(_QUESTION_MARKS)
        return EndKind.QUESTION if is_question else EndKind.REPLY
    if event.event_type is not EventType.USER_MESSAGE:
        return None
    if event.role is EventRole.USER:
        return EndKind.REQUEST
    if kind in _ERROR_KINDS:
        return EndKind.ERROR
    return EndKind.INTERRUPTED if kind == "interruption" else None


def _first_lines(text: str) -> Iterator[str]:
    """Yield the lines of a message that are read as a request; its words if none."""
    length = 0
    for line in plain_lines(text):
        yield line
        length += len(line) + 1
        if length > REQUEST_CHARS:
            return
    if not length:
        yield plain_beginning(text, REQUEST_CHARS)
