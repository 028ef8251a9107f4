"""Summarize a day, week, month or year from its children.

A day lists its pieces of work: one per session, by name, outcome and state. A longer
period lists its projects, each with its counts and its most important pieces of work.
Nothing is reworded, so that each line keeps the grips of the lines below.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memtui.model.calendar import TocLevel
from memtui.model.nodes import BULLET_COUNTS, TocNode
from memtui.model.quantities import plural
from memtui.model.summaries import (
    BULLET_CHARS,
    HEADLINE_CHARS,
    NO_TOTALS,
    BulletKind,
    DraftBullet,
    ProjectTotals,
    Summary,
)
from memtui.summarize import session_work
from memtui.text import analyzer, prose, titles

IDENTITY = "extractive-4"
"""The name and version of the rules of extracts, by which summaries are rolled up."""

HEADLINE_PARTS = 3
"""The maximum number of pieces of work that a headline names."""

MAX_PROJECTS = 6
"""The maximum number of projects of a period."""

MIN_WORKS, MAX_WORKS = 3, 7
"""The number of pieces of work of a project in a period, if it has so many."""

WORK_SHARE = 0.05
"""Work with a smaller share of the effort of the project's largest is no main work."""

MAX_FURTHER_CHARS = 30
"""The maximum length of the further projects that a headline lists by name."""

HEADLINE_SHARE = 0.1
"""A headline leaves out work with a smaller share of the effort of the largest."""

COMMIT_EFFORT, STATE_EFFORT, LATER_EFFORT = 15.0, 10.0, 10.0
"""The effort of a commit, of work that was pushed or merged, and of each later piece
of work with a similar name, in messages."""

SAME_NAME = 0.6
"""The share of its terms that a name has in common with a similar one."""

OTHER_NAME = 0.3
"""A name that shares fewer of its terms with another one is about something else."""

MAX_OVERLAP = 0.7
"""An outcome that shares more of its terms with the name of the work is left out."""

_STATE = re.compile(r" \((?:done|pushed|merged|open|failed|abandoned)\)$")

MIN_OUTCOME_CHARS = 30
"""An outcome that would be cut shorter than this is left out."""


@dataclass(slots=True)
class _Work:
    """A piece of work, collected from several nodes."""

    project: str
    session_id: str
    name: str
    line: str
    effort: float = 0.0
    refs: list[int] = field(default_factory=list)
    parts: tuple[str, ...] = ()
    """The names of its further parts, the largest first."""


def summarize_children(
    level: TocLevel,
    children: Sequence[TocNode],
    totals: Mapping[str, ProjectTotals] = NO_TOTALS,
) -> Summary:
    """Summarize a node from its children.

    Args:
        level: The node's level.
        children: Its children, oldest first.
        totals: The work on each project in the node's period.

    Returns:
        A headline and bullets; ``refs`` are indexes into all children's bullets in a
        row.
    """
    if level is TocLevel.DAY:
        works = _works_of_segments(children)
        bullets = _day_bullets(works)
    else:
        works = _works_of_periods(level, children)
        bullets = _project_bullets(level, works, totals)
    return Summary(_headline(level, works), tuple(bullets))


def _works_of_segments(segments: Sequence[TocNode]) -> list[_Work]:
    """Collect the pieces of work of segments: one for each session."""
    groups: dict[str, list[tuple[int, TocNode]]] = {}
    place = 0
    for segment in segments:
        session = segment.bullets[0].session_id if segment.bullets else ""
        groups.setdefault(session or segment.node_id, []).append((place, segment))
        place += len(segment.bullets)
    return [_work_of_session(group) for group in groups.values()]


def _work_of_session(segments: Sequence[tuple[int, TocNode]]) -> _Work:
    """Describe the work of a session on a day by its segments.

    Args:
        segments: Each with the index of its first bullet among the day's.
    """
    first = segments[0][1]
    name = session_work.choose_name([one.headline for _, one in segments])
    name = name.replace(" — ", ": ")
    project = first.projects[0] if first.projects else ""
    session = first.bullets[0].session_id if first.bullets else ""
    rows = [
        (at, bullet)
        for place, segment in segments
        for at, bullet in enumerate(segment.bullets, place)
    ]
    states = [row for row in rows if row[1].kind is BulletKind.STATE]
    outcomes = session_work.find_outcomes([one for _, one in segments])
    best = [row for row in rows if row[1] in outcomes]
    last = session_work.find_last_state([bullet.text for _, bullet in states])
    state = states[last][1].text if states else ""
    ending = f" ({state})" if state not in ("", session_work.ANSWERED) else ""
    return _Work(
        project,
        session,
        name,
        _work_line(name, best[-1][1].text if best else "", ending),
        sum(_effort(one) for _, one in segments)
        + STATE_EFFORT * (state in ("pushed", "merged")),
        [at for at, _ in (*(best or rows)[-1:], *states[-1:])],
        tuple(_further_names(name, [one for _, one in segments])),
    )


def _effort(segment: TocNode) -> float:
    commits = sum(one.kind is BulletKind.COMMIT for one in segment.bullets)
    return segment.counts.messages + COMMIT_EFFORT * commits


def _further_names(name: str, segments: Sequence[TocNode]) -> Iterator[str]:
    """Yield what else the segments of a session are named by, the largest first."""
    seen = [set(analyzer.query_terms(name))]
    for segment in sorted(segments, key=lambda one: -_effort(one)):
        title = segment.headline
        terms = set(analyzer.query_terms(title))
        is_new = all(len(terms & other) < OTHER_NAME * len(terms) for other in seen)
        if is_new and session_work.names_work(title):
            seen.append(terms)
            yield title


def _work_line(name: str, outcome: str, ending: str) -> str:
    room = BULLET_CHARS - len(name) - len(ending) - 3
    terms, known = set(analyzer.query_terms(outcome)), set(analyzer.query_terms(name))
    says_again = len(terms & known) >= MAX_OVERLAP * len(terms)
    if not outcome or says_again or room < MIN_OUTCOME_CHARS:
        return f"{name}{ending}"
    return f"{name} — {prose.shorten_to_sentences(outcome, room)}{ending}"


def _day_bullets(works: Sequence[_Work]) -> Iterator[DraftBullet]:
    most = BULLET_COUNTS[TocLevel.DAY][1]
    largest = sorted(works, key=lambda one: -one.effort)[:most]
    are_many = len({one.project for one in works}) > 1
    for work in works:
        if work in largest:
            yield _work_bullet(work, are_many=are_many)


def _work_bullet(work: _Work, *, are_many: bool) -> DraftBullet:
    """Return the bullet of a piece of work, with its project if there are several.

    Below a bullet of its project, it does not repeat the name.
    """
    prefix = f"{work.project}: " if are_many and work.project else ""
    return DraftBullet(
        f"{prefix}{work.line}",
        tuple(work.refs),
        BulletKind.WORK,
        work.project,
        work.session_id,
        work.effort,
    )


def _works_of_periods(level: TocLevel, children: Sequence[TocNode]) -> list[_Work]:
    """Collect the pieces of work of days or longer periods; the latest line counts.

    Sessions with the same name are one piece of work. Those whose name says nothing are
    left out if there are others.
    """
    works: dict[tuple[str, str], _Work] = {}
    keys: dict[str, tuple[str, str]] = {}
    bullets = (bullet for child in children for bullet in child.bullets)
    for at, bullet in enumerate(bullets):
        if bullet.kind is not BulletKind.WORK:
            continue
        text = bullet.text.removeprefix(f"{bullet.project}: ")
        short = _without_outcome(text)
        name = _STATE.sub("", short)
        key = keys.setdefault(bullet.session_id or str(at), (bullet.project, name))
        work = works.setdefault(key, _Work(bullet.project, bullet.session_id, "", ""))
        work.name, work.session_id = name, bullet.session_id
        is_wide = level in (TocLevel.MONTH, TocLevel.YEAR)
        work.line = short if is_wide else text
        work.effort += bullet.effort
        work.refs = [*work.refs, at][-3:]
    found = list(works.values())
    _add_later_references(found)
    return [one for one in found if analyzer.count_content_words(one.name)] or found


def _add_later_references(works: Sequence[_Work]) -> None:
    """Raise the effort of work that later work on the project refers to by its name."""
    terms = [set(analyzer.query_terms(work.name)) for work in works]
    for at, work in enumerate(works):
        for later, other in enumerate(works[at + 1 :], at + 1):
            shared = len(terms[at] & terms[later])
            is_similar = shared and shared >= SAME_NAME * len(terms[at])
            if is_similar and other.project == work.project:
                work.effort += LATER_EFFORT


def _without_outcome(line: str) -> str:
    """Return the name and the state of a piece of work."""
    name, dash, rest = line.partition(" — ")
    if not dash:
        return line
    state = _STATE.search(rest)
    return f"{name}{state[0]}" if state else name


def _project_bullets(
    level: TocLevel, works: Sequence[_Work], totals: Mapping[str, ProjectTotals]
) -> Iterator[DraftBullet]:
    """Yield each project with its most important pieces of work, largest first."""
    efforts: dict[str, float] = {}
    for work in works:
        efforts[work.project] = efforts.get(work.project, 0.0) + work.effort
    projects = sorted(efforts, key=lambda one: -efforts[one])[:MAX_PROJECTS]
    shown = _share_out(projects, works, BULLET_COUNTS[level][1])
    for project in projects:
        mine = [one for one in works if one.project == project and id(one) in shown]
        refs = tuple(ref for one in mine for ref in one.refs)[:3]
        counts = _count_words(totals.get(project))
        if counts:
            yield DraftBullet(counts, refs, BulletKind.PROJECT, project, "", 0.0)
        for one in mine:
            yield _work_bullet(one, are_many=len(efforts) > 1 and not counts)


def _rank(works: Sequence[_Work]) -> list[_Work]:
    """Return the works that a name describes first, the largest of them first."""
    return sorted(
        works, key=lambda one: (not session_work.names_work(one.name), -one.effort)
    )


def _share_out(projects: Sequence[str], works: Sequence[_Work], room: int) -> set[int]:
    """Choose the largest works: some of each project, then whatever is largest."""
    largest: dict[str, float] = {}
    for work in works:
        largest[work.project] = max(work.effort, largest.get(work.project, 0.0))
    main = [one for one in works if one.effort >= WORK_SHARE * largest[one.project]]
    ranked = _rank(main)
    chosen: list[_Work] = []
    for project in projects:
        chosen += [one for one in ranked if one.project == project][:MIN_WORKS]
    for work in ranked:
        mine = sum(one.project == work.project for one in chosen)
        is_new = work.project in projects and work not in chosen
        if len(chosen) < room and is_new and mine < MAX_WORKS:
            chosen.append(work)
    return {id(one) for one in chosen}


def _count_words(totals: ProjectTotals | None) -> str:
    if totals is None:
        return ""
    sessions = plural(totals.sessions, "session")
    days = f" on {totals.days} days" if totals.days > 1 else ""
    commits = f", {plural(totals.commits, 'commit')}" if totals.commits else ""
    return f"{sessions}{days}{commits}"


def _headline(level: TocLevel, works: Sequence[_Work]) -> str:
    """Name the largest pieces of work, one of each project before further ones.

    The projects are named, too, unless all the work of a day is on one.
    """
    ranked = _rank(works)
    if level is TocLevel.DAY and len({one.project for one in works}) < 2:
        ranked = [replace(one, project="") for one in ranked]
    least = HEADLINE_SHARE * max((one.effort for one in ranked[:1]), default=0.0)
    large = [one for one in ranked if one.effort >= least]
    first = {one.project: one for one in reversed(large)}
    large.sort(key=lambda one: first[one.project] is not one)
    projects = dict.fromkeys(one.project for one in ranked if one.project)
    parts = _headline_parts(large, HEADLINE_CHARS)
    if others := [one for one in projects if one not in parts]:
        room = HEADLINE_CHARS - len(_further_projects(others))
        parts = _headline_parts(large, room)
        others = [one for one in projects if one not in parts]
    names = _list_parts(parts)
    ending = _further_projects(others)
    if len(large) == 1:
        names += _fitting(large[0].parts, HEADLINE_CHARS - len(names[0] + ending))
    return "; ".join(names) + ending


def _fitting(names: Sequence[str], room: int) -> Iterator[str]:
    """Yield the first names that fit into a headline after another one."""
    for name in names[: HEADLINE_PARTS - 1]:
        room -= len("; ") + len(name)
        if room < 0:
            return
        yield name


def _further_projects(names: Sequence[str]) -> str:
    """Return the end of a headline that does not name the work on some projects."""
    listed = f"; also {', '.join(names)}"
    if names and len(listed) > MAX_FURTHER_CHARS:
        return f"; {plural(len(names), 'more project')}"
    return listed if names else ""


def _headline_parts(works: Sequence[_Work], room: int) -> dict[str, list[str]]:
    """Return the names that fit into a headline, by project.

    If not even two fit as they are, both are shortened.
    """
    parts: dict[str, list[str]] = {}
    left = room
    for work in works:
        names = parts.get(work.project, [])
        part = _headline_part(work, room, names)
        if (not parts or len(part) <= left) and part not in names:
            parts[work.project] = [*names, part]
            left -= len(part) + len("; ")
        if len(_list_parts(parts)) == HEADLINE_PARTS:
            break
    if len(works) < 2 or len(_list_parts(parts)) > 1:
        return parts
    one, two = works[:2]
    above = [""] if one.project == two.project else []
    share = max(room // 2, room - len(_headline_part(two, room, above))) - len("; ")
    first = _headline_part(one, share, [])
    second = _headline_part(two, room - len(first) - len("; "), above)
    parts = {one.project: [first]}
    return parts | {two.project: [*parts.get(two.project, []), second]}


def _headline_part(work: _Work, limit: int, above: Sequence[str]) -> str:
    """Return the shortened name of a piece of work, after its project if that is new.

    Args:
        work: The piece of work.
        limit: The maximum length.
        above: The names of the project so far.
    """
    prefix = f"{work.project}: " if work.project and not above else ""
    return prefix + titles.shorten_title(work.name, max(limit - len(prefix), 1))


def _list_parts(parts: Mapping[str, Sequence[str]]) -> list[str]:
    return [name for names in parts.values() for name in names]
