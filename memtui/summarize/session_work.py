"""Describe the work of a session, or of its part on a day, by its segments' summaries.

Each summary says what was so when its segment ended: where several say something of the
same kind, the last one counts.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from memtui.model.calendar import TocLevel
from memtui.model.nodes import BULLET_COUNTS, Bullet, BulletKind, TocNode
from memtui.model.sessions import WorkState

CONTINUED = " (continued)"
"""The end of a title that names the request of an earlier segment."""

COMMIT_EFFORT, FILES_EFFORT = 15.0, 5.0
"""The effort of a commit, and of changing files in a segment, in messages."""

LARGE_SHARE = 0.3
"""Work is large if it has this share of the effort of the largest."""

MAX_DECISIONS, MAX_FILES = 4, 6
"""The number of decisions and of changed files that are listed."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A changed file, with the lines added and removed, as far as calls show them."""

    path: str
    added: int = 0
    removed: int = 0

    def __add__(self, other: "FileChange") -> "FileChange":
        """Return both changes of a file as one."""
        added, removed = self.added + other.added, self.removed + other.removed
        return FileChange(self.path, added, removed)

    def __str__(self) -> str:
        """Return the name of the file and the number of lines."""
        added = f" +{self.added}" if self.added else ""
        removed = f" −{self.removed}" if self.removed else ""
        return f"{file_name(self.path)}{added}{removed}"


def file_name(path: str) -> str:
    """Return the last part of a path."""
    return path.replace("\\", "/").rpartition("/")[2]


def list_files(changes: Sequence[FileChange], unnamed: int = 0) -> str:
    """Return the first changes in a line, and how many others there are."""
    parts = [str(change) for change in changes[:MAX_FILES]]
    more = unnamed + max(0, len(changes) - MAX_FILES)
    return ", ".join([*parts, f"{more} more"] if more else parts)


_ACTION_LINE = re.compile(
    r"(?:Ran|Searched for) [^.]*|(?:Wrote|Edited|Read) [^\s,]*\.[^\s,]*(?:[,;…].*)?$"
    r"|[\w.-]+ failed: "
)

_FINISHED = (WorkState.DONE, WorkState.PUSHED, WorkState.MERGED, WorkState.FAILED)
_FILE = re.compile(r"(.+?)(?: \+(\d+))?(?: −(\d+))?")
_MORE_FILES = re.compile(r"(\d+) more")


def is_action_line(text: str) -> bool:
    """Return whether a text was composed from calls, not quoted."""
    return _ACTION_LINE.match(text) is not None


def names_work(name: str) -> bool:
    """Return whether a name says what was done: no small talk, remark or call."""
    from memtui.text import orders  # not needed at the start

    return not (is_action_line(name) or orders.is_remark(name) or is_empty(name))


def is_empty(name: str) -> bool:
    """Return whether a name is small talk or a single word that is no order."""
    from memtui.text import analyzer, orders  # not needed at the start

    least = 1 if orders.is_order(name) else 2
    is_short = analyzer.count_content_words(name) < least
    return is_short or orders.is_small_talk(name) is not None


def choose_name(titles: Sequence[str], messages: Sequence[int]) -> str:
    """Return the title of a session's segments that names its work best; "" for none.

    It is the first order, wish or problem, else the first of the best other kind. One
    with few of the messages counts only if no work with many has one. Segments with the
    same title are one piece of work.

    Args:
        titles: The titles, oldest first.
        messages: The number of messages of each segment.
    """
    counts: dict[str, int] = {}
    for title, count in zip(titles, messages, strict=True):
        if name := title.removesuffix(CONTINUED):
            counts[name] = counts.get(name, 0) + count
    if len(counts) < 2:
        return next(iter(counts), "")
    from memtui.text.orders import TitleKind, find_kind  # not needed at the start

    def rank(name: str) -> TitleKind:
        return max(find_kind(name), TitleKind.STATEMENT)

    least = LARGE_SHARE * max(counts.values())
    named = sorted(filter(names_work, counts), key=rank)
    large = [name for name in named if counts[name] >= least]
    if large and rank(large[0]) is TitleKind.STATEMENT:
        return large[0]
    return named[0] if named else max(counts, key=counts.__getitem__)


def find_last_state(states: Sequence[str]) -> int:
    """Return the index of the state that counts; -1 if there is none.

    It is the last one, but an answer after the work was finished changes nothing.
    """
    last = len(states) - 1
    if last < 0 or states[last] != WorkState.ANSWERED:
        return last
    finished = (at for at, state in enumerate(states) if state in _FINISHED)
    return max(finished, default=last)


_COMMIT_TYPE = re.compile(
    r"^(?:build|chore|ci|docs|feat|fix|perf|refactor|style|tests?)(?:\([^)]*\))?!?: +"
)


def strip_commit_type(subject: str) -> str:
    """Remove the type and scope from the subject of a commit."""
    rest = _COMMIT_TYPE.sub("", subject, count=1)
    return rest if rest == subject else rest[:1].upper() + rest[1:]


def sum_effort(messages: int, commits: int, *, changes_files: bool) -> float:
    """Return an amount of work, in messages."""
    return messages + COMMIT_EFFORT * commits + FILES_EFFORT * changes_files


def measure_effort(segment: TocNode) -> float:
    """Return the amount of work of a segment, in messages."""
    kinds = [one.kind for one in segment.bullets]
    return sum_effort(
        segment.counts.messages,
        kinds.count(BulletKind.COMMIT),
        changes_files=BulletKind.FILES in kinds,
    )


def find_last_large(states: Sequence[str], efforts: Sequence[float]) -> int:
    """Return the index of the last large piece of work; -1 if there is none.

    An answer to a question after the work does not count.
    """
    work = [at for at, state in enumerate(states) if state != WorkState.ANSWERED]
    counted = work or range(len(states))
    least = LARGE_SHARE * max((efforts[at] for at in counted), default=0.0)
    return max((at for at in counted if efforts[at] >= least), default=-1)


def find_outcome(segments: Sequence[TocNode]) -> Bullet | None:
    """Return the outcome of the last large segment that has one.

    The last commit stands in for the outcome of a segment without one.
    """
    found: list[tuple[Bullet, str, float]] = []
    for segment in segments:
        kinds = {one.kind: one for one in segment.bullets}
        state = kinds.get(BulletKind.STATE)
        if outcome := kinds.get(BulletKind.OUTCOME) or kinds.get(BulletKind.COMMIT):
            known = state.text if state else ""
            found.append((outcome, known, measure_effort(segment)))
    last = find_last_large([one[1] for one in found], [one[2] for one in found])
    return found[last][0] if found else None


def merge_cards(segments: Sequence[TocNode]) -> tuple[Bullet, ...]:
    """Return the card of a session, in the order of a segment's card.

    Args:
        segments: Its segments, oldest first.
    """
    found: dict[BulletKind, list[Bullet]] = {kind: [] for kind in BulletKind}
    for segment in segments:
        for bullet in segment.bullets:
            found[bullet.kind].append(bullet)
    states = found[BulletKind.STATE]
    at = find_last_state([bullet.text for bullet in states])
    state = states[at : at + 1] if states else []
    outcome = find_outcome(segments)
    statements = [
        *found[BulletKind.ASKED][:1],
        *_distinct(found[BulletKind.NOTE]),
        *([outcome] if outcome and outcome.kind is BulletKind.OUTCOME else []),
        *_standing(found[BulletKind.DECISION])[-MAX_DECISIONS:],
        *_distinct(_left_open(segments, state)),
    ]
    room = max(0, BULLET_COUNTS[TocLevel.SEGMENT][1] - len(statements))
    files = found[BulletKind.FILES]
    return (
        *statements,
        *islice(_distinct(found[BulletKind.QUOTE]), room),
        *_distinct(found[BulletKind.COMMIT]),
        *_distinct(found[BulletKind.PULL_REQUEST]),
        *found[BulletKind.TESTS][-1:],
        *found[BulletKind.COMMANDS][-1:],
        *([_merge_files(files)] if files else []),
        *state,
    )


def _distinct(bullets: Iterable[Bullet]) -> Iterator[Bullet]:
    seen: set[str] = set()
    for bullet in bullets:
        if bullet.text not in seen:
            seen.add(bullet.text)
            yield bullet


def _standing(decisions: Sequence[Bullet]) -> list[Bullet]:
    """Return the decisions that no later one revokes."""
    from memtui.text.cues import revokes  # not needed at the start

    distinct = list(_distinct(decisions))
    return [
        one
        for at, one in enumerate(distinct, 1)
        if not any(revokes(later.text, one.text) for later in distinct[at:])
    ]


def _left_open(
    segments: Sequence[TocNode], state: Sequence[Bullet]
) -> Iterator[Bullet]:
    """Yield what was left open when the session reached its state, and later."""
    reached = not state
    for segment in segments:
        reached = reached or any(bullet is state[0] for bullet in segment.bullets)
        for bullet in segment.bullets:
            if reached and bullet.kind is BulletKind.LEFT_OPEN:
                yield bullet


def _merge_files(bullets: Sequence[Bullet]) -> Bullet:
    """Add up the changes of each file; the most changed files first."""
    if len(bullets) == 1:
        return bullets[0]
    changes: dict[str, FileChange] = {}
    more = 0
    for part in (part for bullet in bullets for part in bullet.text.split(", ")):
        if unnamed := _MORE_FILES.fullmatch(part):
            more += int(unnamed[1])
        elif change := _FILE.fullmatch(part):
            name, added, removed = change.groups(default="0")
            before = changes.get(name, FileChange(name))
            changes[name] = before + FileChange(name, int(added), int(removed))
    ranked = sorted(changes.values(), key=lambda one: -(one.added + one.removed))
    text = list_files(ranked, more)
    grips = dict.fromkeys(name for bullet in bullets for name in bullet.grip_ids)
    return replace(bullets[-1], text=text, grip_ids=tuple(grips))
