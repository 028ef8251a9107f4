"""Summarize a day, week, month or year from the work of its sessions.

A day has a bullet for each session, a longer period one for each project. The names and
outcomes are those of the sessions (see ``card``): nothing is worded here.
"""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from memtui.model.calendar import TocLevel
from memtui.model.nodes import (
    BULLET_CHARS,
    BULLET_COUNTS,
    HEADLINE_CHARS,
    BulletKind,
    DraftBullet,
    Summary,
)
from memtui.model.quantities import plural
from memtui.model.sessions import PeriodWork, WorkState
from memtui.model.work import Line
from memtui.text.plain import shorten

SEPARATOR = "; "

MIN_OUTCOME_CHARS = 30
"""An outcome that would be cut shorter than this is left out."""

MAX_SOURCES = 5
"""The most sessions that a bullet of a project is linked to."""

_Item = TypeVar("_Item")


def summarize_period(level: TocLevel, works: Sequence[PeriodWork]) -> Summary:
    """Summarize a period.

    Args:
        level: Its level.
        works: The work of its sessions in the period, the oldest first.
    """
    most = BULLET_COUNTS[level][1]
    bullets = list_sessions if level is TocLevel.DAY else _list_projects
    return Summary(make_headline(works), tuple(bullets(works, most)))


def make_headline(works: Sequence[PeriodWork], room: int = HEADLINE_CHARS) -> str:
    """Return the names of sessions, those of most work first, as far as they fit."""
    names = dict.fromkeys(work.work.name for work in _rank(works) if work.work.name)
    line = ""
    for name in names:
        longer = f"{line}{SEPARATOR}{name}" if line else shorten(name, room)
        if len(longer) <= room:
            line = longer
    return line


def _rank(works: Sequence[PeriodWork]) -> list[PeriodWork]:
    """Return the sessions of most work first."""
    return sorted(works, key=lambda work: (-work.weight, work.start_ms))


def list_sessions(works: Sequence[PeriodWork], most: int) -> Iterator[DraftBullet]:
    """Yield a bullet for each session, at most so many; the oldest first."""
    largest, others = _split(_rank(works), most)
    with_project = len({work.project for work in works}) > 1
    for work in works:
        if work in largest:
            yield session_bullet(work, with_project=with_project)
    if others:
        yield _more_bullet(plural(len(others), "more session"), others)


def _split(ranked: list[_Item], most: int) -> tuple[list[_Item], list[_Item]]:
    """Return what is listed, and the others, which take one line of the list."""
    length = most if len(ranked) <= most else most - 1
    return ranked[:length], ranked[length:]


def _more_bullet(what: str, works: Sequence[PeriodWork]) -> DraftBullet:
    return DraftBullet(f"and {what}", _list_sources(works), BulletKind.MORE)


def session_bullet(work: PeriodWork, *, with_project: bool) -> DraftBullet:
    """Return "project: name — outcome (state)"."""
    prefix = f"{work.project}: " if with_project and work.project else ""
    state = work.work.state
    ending = "" if state in (None, WorkState.ANSWERED) else f" ({state})"
    room = BULLET_CHARS - len(prefix) - len(ending)
    name, outcome = work.work.name, work.work.outcome
    line = shorten(name, room)
    outcome_room = room - len(line) - 3
    is_named_by_it = outcome.startswith(name.removesuffix("…"))
    earlier: list[Line] = []
    if outcome and not is_named_by_it and outcome_room >= MIN_OUTCOME_CHARS:
        outcome = shorten(outcome, outcome_room)
        earlier = _list_earlier(work, outcome_room - len(outcome))
        texts = [*(reply.text.rstrip(".") for reply in earlier), outcome]
        line += f" — {SEPARATOR.join(texts)}"
    event_ids = (*work.event_ids, *(reply.event_id for reply in earlier))
    return DraftBullet(
        f"{prefix}{line}{ending}",
        event_ids,
        BulletKind.WORK,
        work.project,
        work.session_id,
    )


def _list_earlier(work: PeriodWork, room: int) -> list[Line]:
    """Return the latest replies of a day before the outcome, as far as they fit."""
    earlier: list[Line] = []
    for reply in reversed(work.replies):
        if reply.event_id != work.work.outcome_event_id:
            room -= len(reply.text) + len(SEPARATOR)
            if room < 0:
                break
            earlier.insert(0, reply)
    return earlier


def _list_projects(works: Sequence[PeriodWork], most: int) -> Iterator[DraftBullet]:
    """Yield a bullet for each project, that of most work first; at most so many."""
    by_project: dict[str, list[PeriodWork]] = {}
    for work in works:
        by_project.setdefault(work.project, []).append(work)
    ranked = sorted(
        by_project, key=lambda name: -sum(work.weight for work in by_project[name])
    )
    largest, others = _split(ranked, most)
    for project in largest:
        yield _project_bullet(project, by_project[project])
    if others:
        other_works = [work for project in others for work in by_project[project]]
        yield _more_bullet(plural(len(others), "more project"), other_works)


def _project_bullet(project: str, works: Sequence[PeriodWork]) -> DraftBullet:
    """Return "12 sessions on 5 days, 8 commits: name; name; …"."""
    days = {day for work in works for day in work.days}
    commits = sum(work.commits for work in works)
    counts = plural(len(works), "session")
    counts += f" on {len(days)} days" if len(days) > 1 else ""
    counts += f", {plural(commits, 'commit')}" if commits else ""
    # The label of the bullet is the project.
    room = BULLET_CHARS - len(project) - len(counts) - 4
    names = make_headline(works, room)
    return DraftBullet(
        f"{counts}: {names}" if names else counts,
        _list_sources(works),
        BulletKind.PROJECT,
        project,
    )


def _list_sources(works: Sequence[PeriodWork]) -> tuple[str, ...]:
    """Return the events of the sessions of most work."""
    event_ids = (
        event_id for work in _rank(works)[:MAX_SOURCES] for event_id in work.event_ids
    )
    return tuple(dict.fromkeys(event_ids))
