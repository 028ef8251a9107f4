"""Summarize a day, week, month or year from the work of its sessions.

A day has a bullet for each session, a longer period one for each project. The names and
outcomes are those of the sessions (see ``card``): nothing is worded here.
"""

from collections.abc import Iterator, Sequence

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
from memtui.text.plain import shorten

SEPARATOR = "; "

MIN_OUTCOME_CHARS = 30
"""An outcome that would be cut shorter than this is left out."""

MAX_SOURCES = 5
"""The most sessions that a bullet of a project is linked to."""


def summarize_period(level: TocLevel, works: Sequence[PeriodWork]) -> Summary:
    """Summarize a period.

    Args:
        level: Its level.
        works: The work of its sessions in the period, the oldest first.
    """
    most = BULLET_COUNTS[level][1]
    bullets = list_sessions if level is TocLevel.DAY else _list_projects
    return Summary(make_headline(works), tuple(bullets(works, most)))


def make_headline(works: Sequence[PeriodWork]) -> str:
    """Return the names of sessions, those of most work first, as far as they fit."""
    return _join_names(works, HEADLINE_CHARS)


def _join_names(works: Sequence[PeriodWork], room: int) -> str:
    names = dict.fromkeys(work.work.name for work in rank(works) if work.work.name)
    line = ""
    for name in names:
        longer = f"{line}{SEPARATOR}{name}" if line else shorten(name, room)
        if len(longer) <= room:
            line = longer
    return line


def rank(works: Sequence[PeriodWork]) -> list[PeriodWork]:
    """Return the sessions of most work first."""
    return sorted(works, key=lambda work: (-work.weight, work.start_ms))


def list_sessions(works: Sequence[PeriodWork], most: int) -> Iterator[DraftBullet]:
    """Yield a bullet for each session, at most so many; the oldest first."""
    largest = rank(works)
    if len(works) > most:
        largest = largest[: most - 1]
    with_project = len({work.project for work in works}) > 1
    for work in works:
        if work in largest:
            yield _session_bullet(work, with_project=with_project)
    if others := [work for work in works if work not in largest]:
        text = f"and {plural(len(others), 'more session')}"
        yield DraftBullet(text, _list_sources(others), BulletKind.MORE)


def _session_bullet(work: PeriodWork, *, with_project: bool) -> DraftBullet:
    """Return "project: name — outcome (state)"."""
    prefix = f"{work.project}: " if with_project and work.project else ""
    state = work.work.state
    ending = "" if state in ("", WorkState.ANSWERED) else f" ({state})"
    room = BULLET_CHARS - len(prefix) - len(ending)
    name, outcome = work.work.name, work.work.outcome
    line = shorten(name, room)
    outcome_room = room - len(line) - 3
    is_named_by_it = outcome.startswith(name.removesuffix("…"))
    if outcome and not is_named_by_it and outcome_room >= MIN_OUTCOME_CHARS:
        line += f" — {shorten(outcome, outcome_room)}"
    return DraftBullet(
        f"{prefix}{line}{ending}",
        work.work.event_ids,
        BulletKind.WORK,
        work.project,
        work.session_id,
    )


def _list_projects(works: Sequence[PeriodWork], most: int) -> Iterator[DraftBullet]:
    """Yield a bullet for each project, that of most work first."""
    by_project: dict[str, list[PeriodWork]] = {}
    for work in works:
        by_project.setdefault(work.project, []).append(work)
    projects = sorted(
        by_project, key=lambda name: -sum(work.weight for work in by_project[name])
    )
    listed = projects if len(projects) <= most else projects[: most - 1]
    for project in listed:
        yield _project_bullet(project, by_project[project])
    if others := projects[len(listed) :]:
        works = [work for project in others for work in by_project[project]]
        text = f"and {plural(len(others), 'more project')}"
        yield DraftBullet(text, _list_sources(works), BulletKind.MORE)


def _project_bullet(project: str, works: Sequence[PeriodWork]) -> DraftBullet:
    """Return "12 sessions on 5 days, 8 commits: name; name; …"."""
    days = {day for work in works for day in work.days}
    commits = sum(work.commits for work in works)
    counts = plural(len(works), "session")
    counts += f" on {len(days)} days" if len(days) > 1 else ""
    counts += f", {plural(commits, 'commit')}" if commits else ""
    # The label of the bullet is the project.
    room = BULLET_CHARS - len(project) - len(counts) - 4
    names = _join_names(works, room)
    return DraftBullet(
        f"{counts}: {names}" if names else counts,
        _list_sources(works),
        BulletKind.PROJECT,
        project,
    )


def _list_sources(works: Sequence[PeriodWork]) -> tuple[str, ...]:
    """Return the events of the sessions of most work."""
    event_ids = (
        event_id
        for work in rank(works)[:MAX_SOURCES]
        for event_id in work.work.event_ids
    )
    return tuple(dict.fromkeys(event_ids))
