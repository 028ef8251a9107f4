"""The record of a session or a period, which a model reads.

It has numbered lines, grouped in turns: a request with what came of it, or the sessions
of a project. It is divided only between turns. Commands and their output are left out;
the facts say what they did.

Hidden characters and secrets are removed from all text, and control tokens are split.
"""

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol, TypeVar

from memtui import redaction
from memtui.model.calendar import TocLevel
from memtui.model.citations import Expansion
from memtui.model.events import Event, EventRole, clean
from memtui.model.quantities import plural
from memtui.model.sessions import PeriodWork
from memtui.model.work import EndKind, Facts, FileChange, TestRun
from memtui.text import plain, sentences

REQUEST_CHARS, REPLY_CHARS, LAST_REPLY_CHARS = 500, 700, 2000
"""The maximum length of a message of the user, of the agent's last message before the
next request, and of its last one of all."""

BLOCK_LINES = 3
"""The number of lines that are kept of a block of code or a table."""

FACT_CHARS = 160
"""The maximum length of a line of facts, except for paths."""

MAX_COMMITS, MAX_TEST_RUNS, MAX_FILES, MAX_FAILED, MAX_TASKS = 12, 2, 8, 3, 6
"""The maximum number of facts of a kind in a turn: the last ones, and the files with
the largest changes."""

MAX_SESSIONS = 40
"""The maximum number of sessions in the record of a period: the largest ones."""

READ_CHARS = 20_000
"""Only this much of a message is read."""


@dataclass(frozen=True, slots=True)
class RecordLine:
    """A numbered line, or several with the same number if the text has more."""

    who: str
    """The speaker, or the kind of the fact."""
    text: str
    event_ids: tuple[str, ...] = ()
    project: str = ""
    is_context: bool = False
    """True if it has no number, since it is not to be summarized."""


@dataclass(frozen=True, slots=True)
class RecordTurn:
    """Lines that belong together."""

    lines: tuple[RecordLine, ...]
    size: int = 0
    """The number of events or messages that it stands for."""


@dataclass(frozen=True, slots=True)
class PromptRecord:
    """All that is given to a model for one summary, or a part of it."""

    turns: tuple[RecordTurn, ...]
    level: TocLevel = TocLevel.SEGMENT
    """The level of the period; ``SEGMENT`` for a session."""
    is_claim: bool = False
    """True if its first line is a claim, and the others are its source."""

    @property
    def is_session(self) -> bool:
        return self.level is TocLevel.SEGMENT

    @property
    def all_lines(self) -> Iterator[RecordLine]:
        return chain.from_iterable(turn.lines for turn in self.turns)

    @property
    def lines(self) -> tuple[RecordLine, ...]:
        """The numbered lines; the first has the number 1."""
        return tuple(line for line in self.all_lines if not line.is_context)

    @property
    def projects(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(line.project for line in self.lines))

    @property
    def size(self) -> int:
        return sum(turn.size for turn in self.turns)

    @property
    def text(self) -> str:
        """The lines as the model reads them, each with its number and speaker."""
        rows, number = [], 0
        for line in self.all_lines:
            number += not line.is_context
            prefix = f"{'-' if line.is_context else number}|{line.who}| "
            texts = map(str.strip, line.text.splitlines())
            rows += [prefix + text for text in texts if text]
        return "\n".join(rows)

    @property
    def fence(self) -> str:
        """A word that the record does not contain; equal records have equal fences."""
        text, fence = self.text, ""
        while not fence or fence in text:
            digest = hashlib.blake2b((fence + text).encode(), digest_size=6)
            fence = f"LOG-{digest.hexdigest()}"
        return fence


# Sessions


def session_record(events: Sequence[Event], facts: Facts) -> PromptRecord:
    """Return the record of consecutive events of a session.

    Args:
        events: The events, oldest first.
        facts: What they show.
    """
    groups = _split_at_requests(events)
    has_reply = [any(map(_is_reply, group)) for group in groups]
    last_reply = max((i for i, has in enumerate(has_reply) if has), default=-1)
    turns = []
    for index, group in enumerate(groups):
        limit = LAST_REPLY_CHARS if index == last_reply else REPLY_CHARS
        order = {event.event_id: place for place, event in enumerate(group)}
        fact_lines = _fact_lines(facts, order.keys())
        lines = [
            *_message_lines(group, limit),
            *sorted(fact_lines, key=lambda line: order[line.event_ids[-1]]),
        ]
        if index == len(groups) - 1 and facts.end in _ENDINGS:
            end_ids = (facts.end_event_id,) if facts.end_event_id else ()
            lines.append(RecordLine("end", _ENDINGS[facts.end], end_ids))
        if lines:
            turns.append(RecordTurn(tuple(lines), len(group)))
    return PromptRecord(tuple(turns))


_ENDINGS = {
    EndKind.CALL: "The session stops in the middle of the work; its end is not shown.",
    EndKind.REQUEST: "The last message was not answered.",
    EndKind.INTERRUPTED: "The user stopped the agent.",
    EndKind.ERROR: "The agent's model failed.",
}
"""The sentences on a session that does not end with a message of the agent."""


def _is_request(event: Event) -> bool:
    return event.is_message and event.role is EventRole.USER


def _is_reply(event: Event) -> bool:
    is_error = event.metadata.get("kind") == "api_error"
    return event.is_message and event.role is EventRole.ASSISTANT and not is_error


def _split_at_requests(events: Sequence[Event]) -> list[list[Event]]:
    """Return the events before the first request, and those of each request."""
    groups: list[list[Event]] = [[]]
    for event in events:
        if _is_request(event):
            groups.append([])
        groups[-1].append(event)
    return [group for group in groups if group]


def _message_lines(group: Sequence[Event], reply_chars: int) -> Iterator[RecordLine]:
    """Yield the request of a turn, the last reply to it, and an interruption."""
    replies = [event for event in group if _is_reply(event)]
    if _is_request(group[0]):
        yield from _message_line("user", group[0], REQUEST_CHARS)
    if replies:
        yield from _message_line("agent", replies[-1], reply_chars)
    for event in group:
        if event.metadata.get("kind") == "interruption":
            text = "The user stopped the agent here."
            yield RecordLine("interrupted", text, (event.event_id,))


def _message_line(who: str, event: Event, limit: int) -> Iterator[RecordLine]:
    text = _shorten_blocks(sanitize(event.text[:READ_CHARS]))
    if text := shorten_to_sentences(text, limit, " […]"):
        yield RecordLine(who, text, (event.event_id,))


def shorten_to_sentences(text: str, limit: int, mark: str = "") -> str:
    """Shorten a text at the end of a sentence or line, else at a word."""
    if len(text) <= limit:
        return text
    ends = [end for _, end in sentences.sentence_spans(text[:limit])][:-1]
    ends = [end for end in ends if not _ITEM_NUMBER.search(text, 0, end)]
    if ends and ends[-1] >= limit // 2:
        return text[: ends[-1]].rstrip() + mark
    return plain.shorten(text, limit)


_ITEM_NUMBER = re.compile(r"(?:^|\s)\d+\.\Z")

_FENCE_MARK = re.compile(r"\s*(?:```|~~~)")
_TABLE_ROW = re.compile(r"\s*\|.*\|\s*$")
_TABLE_RULE = re.compile(r"[\s|:+-]+$")


def _shorten_blocks(text: str) -> str:
    """Keep the first lines of each block of code and of each table."""
    lines, length, is_code = [], 0, False
    for raw_line in text.splitlines():
        line = " ".join(raw_line.split())
        if _FENCE_MARK.match(line):
            is_code, length = not is_code, 0
            continue
        if not line or (_TABLE_RULE.match(line) and "|" in line):
            continue
        length = length + 1 if is_code or _TABLE_ROW.match(line) else 0
        if length <= BLOCK_LINES:
            lines.append(line)
        elif length == BLOCK_LINES + 1:
            lines.append("[…]")
    return "\n".join(lines)


# Facts


class _Fact(Protocol):
    @property
    def event_id(self) -> str: ...


AnyFact = TypeVar("AnyFact", bound=_Fact)


def _fact_lines(facts: Facts, event_ids: Collection[str]) -> Iterator[RecordLine]:
    """Yield the lines of the facts that some events show: those of a turn."""

    def select(items: Iterable[AnyFact]) -> list[AnyFact]:
        return [item for item in items if item.event_id in event_ids]

    for commit in select(facts.commits)[-MAX_COMMITS:]:
        branch = f" (on {commit.branch})" if commit.branch else ""
        text = f"{commit.hash[:9]} {commit.subject}{branch}"
        yield _fact_line("commit", text, commit)
    for pull_request in select(facts.pull_requests):
        number = f"#{pull_request.number} " if pull_request.number else ""
        yield _fact_line("pull-request", f"{number}{pull_request.title}", pull_request)
    for push in select(facts.pushes):
        yield _fact_line("pushed", push.text or "yes", push)
    for merge in select(facts.merges):
        yield _fact_line("merged", merge.text or "yes", merge)
    runs = select(facts.test_runs)
    yield from _distinct(_fact_line("tests", _describe_run(run), run) for run in runs)[
        -MAX_TEST_RUNS:
    ]
    if changes := select(facts.files):
        yield _file_line(changes)
    failures = select(facts.failed_commands)
    yield from _distinct(_fact_line("failed", fail.text, fail) for fail in failures)[
        -MAX_FAILED:
    ]
    for task in select(facts.open_tasks or ())[:MAX_TASKS]:
        yield _fact_line("to-do", task.text, task)


def _file_line(changes: Sequence[FileChange]) -> RecordLine:
    """Return a line with the files that changed most."""
    sums: dict[str, tuple[int, int]] = {}
    for change in changes:
        added, removed = sums.get(change.path, (0, 0))
        sums[change.path] = added + change.added, removed + change.removed
    largest = sorted(sums.items(), key=lambda item: -sum(item[1]))
    texts = [
        f"{path} +{added} −{removed}" for path, (added, removed) in largest[:MAX_FILES]
    ]
    if len(largest) > MAX_FILES:
        texts.append(f"and {len(largest) - MAX_FILES} more")
    event_ids = dict.fromkeys(change.event_id for change in changes)
    return RecordLine("files", sanitize(", ".join(texts)), tuple(event_ids))


def _describe_run(run: TestRun) -> str:
    failed = f", {run.failed} failed" if run.failed else ""
    command = f": {run.command}" if run.command else ""
    return f"{run.passed} passed{failed}{command}"


def _distinct(lines: Iterable[RecordLine]) -> list[RecordLine]:
    """Return the last one of lines with the same text."""
    last: dict[str, RecordLine] = {}
    for line in lines:
        last.pop(line.text, None)
        last[line.text] = line
    return [*last.values()]


def _fact_line(who: str, text: str, fact: _Fact) -> RecordLine:
    line = plain.shorten(" ".join(sanitize(text).split()), FACT_CHARS)
    return RecordLine(who, line, (fact.event_id,))


# Periods


def period_record(level: TocLevel, works: Sequence[PeriodWork]) -> PromptRecord:
    """Return the record of a period: its largest sessions, project by project.

    Args:
        level: The level of the period.
        works: The work of each session in it, oldest first.
    """
    by_weight = sorted(works, key=lambda work: -work.weight)
    named = [work for work in by_weight if work.work.name]
    chosen = {id(work) for work in named[:MAX_SESSIONS]}
    by_project: dict[str, list[PeriodWork]] = {}
    for work in works:
        by_project.setdefault(work.project, []).append(work)
    turns = []
    for project, group in by_project.items():
        lines = [_session_line(work) for work in group if id(work) in chosen]
        if lines:
            total = RecordLine("project", _total(project, group), is_context=True)
            weight = sum(work.weight for work in group)
            turns.append(RecordTurn((total, *lines), weight))
    return PromptRecord(tuple(sorted(turns, key=lambda turn: -turn.size)), level)


def _session_line(work: PeriodWork) -> RecordLine:
    card = work.work
    outcome = f" — {card.outcome}" if card.outcome else ""
    figures = (card.state, plural(work.messages, "message"), _count_commits([work]))
    text = f"{card.name}{outcome} ({', '.join(filter(None, figures))})"
    line = " ".join(sanitize(text).split())
    return RecordLine("session", line, card.event_ids, work.project)


def _total(project: str, group: Sequence[PeriodWork]) -> str:
    """Return the name of a project with the amount of work on it."""
    days = len({day for work in group for day in work.days})
    figures = (
        plural(len(group), "session"),
        plural(days, "day") if days else "",
        plural(sum(work.messages for work in group), "message"),
        _count_commits(group),
    )
    name = " ".join(sanitize(project).split()) or "no project"
    return f"{name}: {', '.join(filter(None, figures))}"


def _count_commits(group: Sequence[PeriodWork]) -> str:
    commits = sum(work.commits for work in group)
    return plural(commits, "commit") if commits else ""


# Claims

SOURCE_CHARS = 1000
"""The maximum length of an event of a source."""


def claim_record(claim: str, sources: Sequence[Expansion]) -> PromptRecord:
    """Return the record of a claim and its sources, with the events around them."""
    around = [("", e) for s in sources for e in (*s.events_before, *s.events_after)]
    cited = [(s.grip.excerpt, e) for s in sources if s.grip for e in s.excerpt_events]
    lines = {
        "": RecordLine("claim", " ".join(sanitize(claim).split()), is_context=True)
    }
    for excerpt, event in around + cited:
        begin = max(0, event.text.find(excerpt) - SOURCE_CHARS // 2)
        if text := sanitize(event.text[begin : begin + SOURCE_CHARS]):
            who = "agent" if event.role is EventRole.ASSISTANT else event.role.value
            lines[event.event_id] = RecordLine(who, text, (event.event_id,))
    turn = RecordTurn(tuple(line for _, line in sorted(lines.items())))
    return PromptRecord((turn,), is_claim=True)


# Text


_HIDDEN_CHARS = re.compile(
    "[\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufff0-\ufffb\U000e0000-\U000e0fff]"
)

_CONTROL_TOKENS = re.compile(
    r"<(?=\||[/ ]*[｜▁]|\w+\||<sys>|</sys>|0x[0-9a-f]{2}>)"
    r"|<(?=/?(?:s|bos|eos|pad|unk|sys|think|thinking|tools?|tool_calls?|tool_response"
    r"|(?:start|end)_of_\w+|im_start|im_end|eot_id|fim_\w+|unused\d+"
    r"|user|assistant|system|human)>)"
    r"|\[(?=/?(?:inst|system_prompt|available_tools|tool_calls|tool_results|img)\])",
    re.IGNORECASE,
)

_LINE_ENDS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def sanitize(text: str) -> str:
    """Remove hidden characters, split control tokens and redact secrets.

    Secrets are redacted again since hidden characters can have concealed one.
    """
    visible = _HIDDEN_CHARS.sub("", clean(_LINE_ENDS.sub("\n", text)))
    split = _CONTROL_TOKENS.sub(r"\g<0> ", redaction.redact(visible).text).strip()
    return split.encode(errors="replace").decode()
