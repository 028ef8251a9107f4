"""Summarize a day, week, month or year from its children.

A day lists its pieces of work: one per session, by name, outcome and state. A longer
period lists its projects, each with its counts and its most important pieces of work.
Nothing is reworded, so that each line keeps the grips of the lines below.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memtui.model.calendar import TocLevel
from memtui.model.nodes import BULLET_COUNTS, Bullet, TocNode
from memtui.model.quantities import plural
from memtui.model.sessions import WorkState
from memtui.model.summaries import (
    BULLET_CHARS,
    HEADLINE_CHARS,
    NO_TOTALS,
    BulletKind,
    DraftBullet,
    ProjectTotals,
    Summary,
)
from memtui.summarize import headlines, session_parts, session_work
from memtui.summarize.headlines import SEPARATOR, WORK_SHARE, NamedWork
from memtui.text import analyzer, cues, prose, stopwords

IDENTITY = "extractive-8"
"""The name and version of the rules of extracts. Raise the version if a rule changes,
so that stored nodes are rolled up again."""

MAX_PROJECTS = 6
"""The maximum number of projects of a period."""

MIN_WORKS, MAX_WORKS = 3, 7
"""The number of pieces of work of a project in a period, if it has so many."""

PROJECT_SHARE = 0.1
"""Above a day, a headline names the work on a project with at least this share of the
effort on the largest."""

STATE_EFFORT, LATER_EFFORT = 10.0, 10.0
"""The effort of work that was pushed or merged, and of work that later work refers to,
in messages."""

SAME_NAME = 0.6
"""The share of its terms that a name has in common with a similar one."""

MAX_OVERLAP = 0.7
"""An outcome that shares more of its terms with the name of the work is left out."""

OUTCOME = " — "
"""Between the name and the outcome of a piece of work."""

_STATE = re.compile(rf" \((?:{'|'.join(WorkState)})\)$")

MIN_OUTCOME_CHARS = 30
"""An outcome that would be cut shorter than this is left out."""


@dataclass(slots=True)
class _Work:
    """A piece of work, collected from several nodes."""

    project: str
    session_id: str
    names: list[str]
    """The names of its parts, the largest first."""
    outcome: str
    ending: str
    """Its state in parentheses, or ""."""
    effort: float = 0.0
    refs: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The names of its parts, as far as they fit into a headline."""
        names, room = self.names[:1], HEADLINE_CHARS - len(self.names[0])
        for name in self.names[1:]:
            room -= len(SEPARATOR) + len(name)
            if room >= 0:
                names.append(name)
        return SEPARATOR.join(names)

    def describe(self, limit: int) -> str:
        """Return its name, and its outcome if that says more and has room."""
        room = limit - len(self.name) - len(OUTCOME)
        terms = set(analyzer.query_terms(self.outcome)) - stopwords.VAGUE_STEMS
        known = set(analyzer.query_terms(self.name))
        says_again = self.outcome.startswith(self.names[-1].rstrip("…"))
        says_again = says_again or len(terms & known) >= MAX_OVERLAP * len(terms)
        if not self.outcome or says_again or room < MIN_OUTCOME_CHARS:
            return self.name
        outcome = prose.shorten_to_sentences(self.outcome, room)
        return f"{self.name}{OUTCOME}{outcome}"


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
        works = _works_of_periods(children)
        if level in (TocLevel.MONTH, TocLevel.YEAR):
            works = [replace(one, outcome="") for one in works]
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
    nodes = [segment for _, segment in segments]
    rows = [
        (at, bullet)
        for place, segment in segments
        for at, bullet in enumerate(segment.bullets, place)
    ]
    states = [row for row in rows if row[1].kind is BulletKind.STATE]
    outcomes = session_work.find_outcomes(nodes)
    best = [row for row in rows if row[1] in outcomes]
    if not best or best[-1][1].kind is BulletKind.COMMIT:
        best = [row for row in rows if row[1].kind is BulletKind.DECISION] or best
    last = session_work.find_last_state([bullet.text for _, bullet in states])
    state = states[last][1].text if states else ""
    return _Work(
        nodes[0].projects[0] if nodes[0].projects else "",
        nodes[0].bullets[0].session_id if nodes[0].bullets else "",
        session_parts.name_parts(nodes),
        best[-1][1].text if best else "",
        f" ({state})" if state not in ("", WorkState.ANSWERED) else "",
        _weigh(sum(map(session_parts.measure_effort, nodes)), state),
        [at for at, _ in (*(best or rows)[-1:], *states[-1:])],
    )


def _weigh(effort: float, state: str) -> float:
    """Return the effort of work, more if it was published, less if it was given up."""
    if state in (WorkState.PUSHED, WorkState.MERGED):
        return effort + STATE_EFFORT
    return effort / 2 if state == WorkState.ABANDONED else effort


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
    room = BULLET_CHARS - len(prefix) - len(work.ending)
    return DraftBullet(
        f"{prefix}{work.describe(room)}{work.ending}",
        tuple(work.refs),
        BulletKind.WORK,
        work.project,
        work.session_id,
        work.effort,
    )


def _works_of_periods(children: Sequence[TocNode]) -> list[_Work]:
    """Collect the pieces of work of days or longer periods; the latest outcome counts.

    Sessions with the same name are one piece of work. Those whose name says nothing are
    left out if there are others.
    """
    works: dict[tuple[str, str], _Work] = {}
    keys: dict[str, tuple[str, str]] = {}
    largest: dict[tuple[str, str], float] = {}
    bullets = (bullet for child in children for bullet in child.bullets)
    for at, bullet in enumerate(bullets):
        if bullet.kind is not BulletKind.WORK:
            continue
        names, outcome, ending = _split_line(bullet)
        key = keys.setdefault(bullet.session_id or str(at), (bullet.project, names[0]))
        work = works.setdefault(key, _Work(bullet.project, "", names, "", ""))
        if bullet.effort > largest.get(key, -1.0):
            largest[key] = bullet.effort
            names, work.names = work.names, names
        work.names = list(dict.fromkeys([*work.names, *names]))
        work.session_id, work.outcome, work.ending = bullet.session_id, outcome, ending
        work.effort += bullet.effort
        work.refs = [*work.refs, at][-3:]
    found = list(works.values())
    _add_later_references(found)
    return [one for one in found if analyzer.count_content_words(one.name)] or found


def _split_line(bullet: Bullet) -> tuple[list[str], str, str]:
    """Return the names, the outcome and the state of a piece of work."""
    line = bullet.text.removeprefix(f"{bullet.project}: ")
    state = _STATE.search(line)
    ending = state[0] if state else ""
    name, _, outcome = line.removesuffix(ending).partition(OUTCOME)
    return name.split(SEPARATOR), outcome, ending


def _add_later_references(works: Sequence[_Work]) -> None:
    """Raise the effort of work that later work on the project refers to by its name."""
    terms = [set(analyzer.query_terms(work.name)) for work in works]
    for at, work in enumerate(works):
        for later, other in enumerate(works[at + 1 :], at + 1):
            shared = len(terms[at] & terms[later])
            is_similar = shared and shared >= SAME_NAME * len(terms[at])
            if is_similar and other.project == work.project:
                work.effort += LATER_EFFORT
                break


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
        works, key=lambda one: (not session_work.names_work(one.names[0]), -one.effort)
    )


def _share_out(projects: Sequence[str], works: Sequence[_Work], room: int) -> set[int]:
    """Choose the largest works: some of each project, then the largest of the rest."""
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
    """Name the main work, and its projects unless all the work of a day is on one.

    If a day has one piece of work, the outcome is added where the request is no order:
    a question, or a description of a problem.
    """
    is_day = level is TocLevel.DAY
    has_one = is_day and len({one.project for one in works}) < 2
    text = headlines.compose(
        [
            NamedWork("" if has_one else one.project, one.names, one.effort)
            for one in _rank(works)
        ],
        WORK_SHARE if is_day else PROJECT_SHARE,
    )
    only = next((one for one in works if is_day and one.names == [text]), None)
    if only is None or cues.is_order(text):
        return text
    return only.describe(HEADLINE_CHARS)
