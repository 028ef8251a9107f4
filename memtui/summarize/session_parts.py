"""Divide the work of a session on a day into parts, and name these.

A commit ends a part, which is the work since the commit before it. Work that is not
committed is divided by requests. Parts with similar names are one.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memtui.model.nodes import Bullet, TocNode
from memtui.model.summaries import BulletKind
from memtui.summarize import session_work
from memtui.text import analyzer, cues, stopwords, titles
from memtui.text.titles import MIN_CONTENT_WORDS, MIN_REQUEST_WORDS

COMMIT_EFFORT, FILES_EFFORT = 15.0, 5.0
"""The effort of a commit, and of changing files in a segment, in messages."""

SAME_SHARE = 0.5
"""Two parts are similar if they have this share of their words or files in common."""

MAIN_SHARE = 0.5
"""Of similar parts the first is named that has this share of the effort of the largest;
likewise of the requests of a part."""

NAMED_SHARE = 0.15
"""A part with a smaller share of the effort of the largest is not named."""


_NUMBER = re.compile(r"\d+")

NAMED_FILES = 2
"""A part without a request is named by at most this many of its files, too."""


@dataclass(slots=True, eq=False)
class _WorkPart:
    """A part of a session's work."""

    name: str
    effort: float
    terms: set[str]
    """The content words of the name."""
    files: set[str]
    """The names of the files that it changes."""

    def has_name_like(self, other: "_WorkPart") -> bool:
        """Return whether the names share words, and do not differ in their numbers."""
        own, others = (set(_NUMBER.findall(one.name)) for one in (self, other))
        has_other_number = own and others and own.isdisjoint(others)
        return not has_other_number and _overlap(self.terms, other.terms)

    def is_near(self, other: "_WorkPart") -> bool:
        """Return whether both are the same, or change the same files."""
        return self is other or _overlap(self.files, other.files)


def measure_effort(segment: TocNode) -> float:
    """Return the amount of work of a segment, in messages."""
    kinds = [one.kind for one in segment.bullets]
    return (
        segment.counts.messages
        + COMMIT_EFFORT * kinds.count(BulletKind.COMMIT)
        + FILES_EFFORT * (BulletKind.FILES in kinds)
    )


def name_parts(segments: Sequence[TocNode]) -> list[str]:
    """Return the names of the large parts of a session's work, the main one first.

    One part of each group that changes the same files comes before the others, so that
    the first names say most of the session.

    Args:
        segments: The segments, oldest first; at least one.
    """
    parts = left = _find_parts(segments)
    near = {one: [*filter(one.is_near, parts)] for one in parts}
    groups: list[list[_WorkPart]] = []
    while left:
        found = ([other for other in near[one] if other in left] for one in left)
        groups.append(max(found, key=_total))
        left = [one for one in left if one not in groups[-1]]
    least = NAMED_SHARE * _total(groups[0])
    ranked = [_first_large(group) for group in groups if _total(group) >= least]
    least = NAMED_SHARE * max(one.effort for one in parts)
    large = [one for one in parts if one.effort >= least]
    ranked += sorted(large, key=lambda one: -one.effort)
    names = list(dict.fromkeys(one.name for one in ranked))
    return [*filter(session_work.names_work, names)] or names[:1]


def _total(parts: Sequence[_WorkPart]) -> float:
    return sum(one.effort for one in parts)


def _first_large(parts: Sequence[_WorkPart]) -> _WorkPart:
    least = MAIN_SHARE * max(one.effort for one in parts)
    return next(one for one in parts if one.effort >= least)


def _overlap(one: set[str], other: set[str]) -> bool:
    least = SAME_SHARE * min(len(one), len(other))
    return least > 0 and len(one & other) >= least


def _find_parts(segments: Sequence[TocNode]) -> list[_WorkPart]:
    """Return the parts of a session in order, those with similar names as one."""
    parts: list[_WorkPart] = []
    for stretch in _divide(segments):
        name = _name(stretch)
        part = _WorkPart(
            name,
            sum(map(measure_effort, stretch)),
            _content_terms(name),
            {name for segment in stretch for name in _list_files(segment)},
        )
        same = [*filter(part.has_name_like, parts)]
        if not same and _goes_on(stretch):
            same = parts
        if same:
            same[-1].effort += part.effort
            same[-1].files |= part.files
        else:
            parts.append(part)
    return parts


def _divide(segments: Sequence[TocNode]) -> Iterator[Sequence[TocNode]]:
    """Yield the segments up to each commit, then those of each further request."""
    start = 0
    for end, segment in enumerate(segments, 1):
        if _select(BulletKind.COMMIT, [segment]):
            yield segments[start:end]
            start = end
    yield from _group_by_request(segments[start:]).values()


def _goes_on(stretch: Sequence[TocNode]) -> bool:
    """Return whether segments go on with an earlier request, and commit nothing."""
    title = stretch[0].headline
    is_new = not title.endswith(session_work.CONTINUED)
    has_commit = bool(_select(BulletKind.COMMIT, stretch))
    return not has_commit and not (is_new and session_work.names_work(title))


def _group_by_request(segments: Sequence[TocNode]) -> dict[str, list[TocNode]]:
    """Return the segments of each request, by its title."""
    groups: dict[str, list[TocNode]] = {}
    last = ""
    for segment in segments:
        title = segment.headline.removesuffix(session_work.CONTINUED)
        if last and title not in groups and not session_work.names_work(title):
            title = last
        groups.setdefault(title, []).append(segment)
        last = title
    return groups


def _select(kind: BulletKind, segments: Sequence[TocNode]) -> list[Bullet]:
    return [one for segment in segments for one in segment.bullets if one.kind is kind]


def _list_files(segment: TocNode) -> Iterator[str]:
    for bullet in _select(BulletKind.FILES, [segment]):
        for change in bullet.text.split(", "):
            name = change.partition(" +")[0].partition(" −")[0]
            if not name.endswith(" more"):
                yield name


def _name(stretch: Sequence[TocNode]) -> str:
    """Name a part by its main request, its first commit or its outcome.

    A commit says what was done if the request does not: if it is a question or a
    remark, or if the work went another way.
    """
    groups = _group_by_request(stretch)
    efforts = {
        title: sum(map(measure_effort, found)) for title, found in groups.items()
    }
    least = MAIN_SHARE * max(efforts.values())
    title = next(one for one, effort in efforts.items() if effort >= least)
    commits = [
        titles.tidy_title(one.text) for one in _select(BulletKind.COMMIT, stretch)
    ]
    counts = {one: analyzer.count_content_words(one) for one in (title, *commits)}
    subject = next((one for one in commits if counts[one] >= MIN_CONTENT_WORDS), "")
    outcomes = _select(BulletKind.OUTCOME, stretch)
    if subject:
        is_main = efforts[title] >= MAIN_SHARE * sum(efforts.values())
        is_done = (is_main and cues.is_order(title)) or bool(
            _content_terms(title) & _content_terms(subject)
        )
        says_less = counts[title] < min(counts[subject], MIN_REQUEST_WORDS)
        if (
            title in commits
            or title.endswith(("?", "？"))
            or not session_work.names_work(title)
            or cues.has_vague_subject(title)
            or says_less
            or (not is_done and counts[subject] >= MIN_REQUEST_WORDS)
        ):
            title = subject
    elif session_work.is_action_line(title) and outcomes:
        files = [name for segment in stretch for name in _list_files(segment)]
        title = titles.tidy_title(outcomes[-1].text)
        if files:
            title += f" ({', '.join(dict.fromkeys(files[:NAMED_FILES]))})"
    return title.replace(" — ", ": ").replace("; ", ", ")


def _content_terms(text: str) -> set[str]:
    return set(analyzer.query_terms(text)) - stopwords.VAGUE_STEMS
