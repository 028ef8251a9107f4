"""Summarize a scope's share of days, weeks, months and years when they are read.

The summaries are made of the scope's segments as the stored ones are, though never by a
model, and are not stored. Grips and verdicts are read for the bullets of the result
alone.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memtui.model import calendar
from memtui.model.calendar import DayRange, TocLevel
from memtui.model.filters import Scope
from memtui.model.nodes import (
    HEADLINE_CHARS,
    NO_STATS,
    NO_TOTALS,
    Bullet,
    BulletKind,
    DraftBullet,
    NodeCounts,
    NodeStatus,
    ProjectTotals,
    Summary,
    TocNode,
)
from memtui.store import nodes, scoped_nodes
from memtui.summarize import keywords, rollup

DaySegments = Mapping[str, Sequence[TocNode]]
"""Segments, oldest first, by the ids of their days."""

BulletPlace = tuple[str, int]
"""The id of a segment, and the index of one of its bullets."""


@dataclass(frozen=True, slots=True)
class ScopeSummary:
    """The summary of a node, made of segments of a scope."""

    node: TocNode
    """Its bullets have no grips yet."""
    places: tuple[tuple[BulletPlace, ...], ...]
    """For each bullet those that it is composed of."""


def summarize_node(stored: TocNode, scope: Scope) -> TocNode:
    """Summarize a day, week, month or year only from the segments of a scope."""
    days = calendar.day_range(stored.node_id)
    segments = scoped_nodes.read_segments(scope, days)
    made = _summarize(stored.node_id, segments)
    return replace(
        stored,
        bullets=_ground(made) if made else (),
        withheld=(),
        keywords=made.node.keywords if made else (),
        headline=made.node.headline if made else "",
        status=NodeStatus.CURRENT,
        summarizer=rollup.IDENTITY,
        input_hash="",
        counts=made.node.counts if made else NodeCounts(),
        agents=made.node.agents if made else (),
        projects=made.node.projects if made else (),
        generation=NO_STATS,
        rejection="",
        is_pinned=False,
    )


def read_headline(node_id: str, scope: Scope, days: DayRange) -> str:
    """Return the headline of a scope's share in some days of a node; "" if none."""
    made = _summarize(node_id, scoped_nodes.read_segments(scope, days))
    return made.node.headline if made else ""


def read_headlines(scope: Scope, days: DayRange) -> dict[str, str]:
    """Return the headlines of a scope's share in each of some days, by the day's id."""
    segments = scoped_nodes.read_segments(scope, days)
    return {
        day_id: _summarize_day(day_id, found).node.headline
        for day_id, found in segments.items()
    }


def _summarize(node_id: str, segments: DaySegments) -> ScopeSummary | None:
    """Summarize a node from segments of its days; None if there are none."""
    if not segments:
        return None
    level = calendar.period(node_id).level
    days = {name: _summarize_day(name, found) for name, found in segments.items()}
    if level is TocLevel.DAY:
        return days[node_id]
    if level is not TocLevel.YEAR:
        return _combine(node_id, [*days.values()], _count_work(segments))
    months = [
        _combine(
            month_id,
            [days[name] for name in names],
            _count_work({name: segments[name] for name in names}),
        )
        for month_id, names in _group_by_month(days).items()
    ]
    return _combine(node_id, months, _count_work(segments))


def _summarize_day(day_id: str, segments: Sequence[TocNode]) -> ScopeSummary:
    leaves = [
        ScopeSummary(
            segment,
            tuple(((segment.node_id, at),) for at in range(len(segment.bullets))),
        )
        for segment in segments
    ]
    return _combine(day_id, leaves, NO_TOTALS)


def _group_by_month(days: Iterable[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for day_id in days:
        month_id = calendar.ancestor_id(day_id, TocLevel.MONTH)
        groups.setdefault(month_id, []).append(day_id)
    return groups


def _combine(
    node_id: str,
    parts: Sequence[ScopeSummary],
    totals: Mapping[str, ProjectTotals],
) -> ScopeSummary:
    level = calendar.period(node_id).level
    children = [part.node for part in parts]
    made = rollup.sanitize_draft(
        rollup.summarize_children(level, children, totals), HEADLINE_CHARS
    )
    row = [places for part in parts for places in part.places]
    bullets = (
        Bullet(
            one.text,
            kind=one.kind,
            project=one.project,
            session_id=one.session_id,
            effort=one.effort,
        )
        for one in made.bullets
    )
    node = replace(
        children[0],
        node_id=node_id,
        level=level,
        bullets=tuple(bullets),
        keywords=keywords.parent_keywords(level, [one.keywords for one in children]),
        headline=made.title,
        counts=sum((one.counts for one in children), NodeCounts()),
        agents=_join(one.agents for one in children),
        projects=_join(one.projects for one in children),
    )
    places = (
        tuple(dict.fromkeys(place for at in one.refs for place in row[at]))
        for one in made.bullets
    )
    return ScopeSummary(node, tuple(places))


def _join(names: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(sorted({name for some in names for name in some}))


def _count_work(segments: DaySegments) -> dict[str, ProjectTotals]:
    """Count the work on each project.

    Each segment has one bullet with the state of its work, and one for each commit.
    """
    sessions: dict[str, set[str]] = {}
    days: dict[str, set[str]] = {}
    commits: Counter[str] = Counter()
    for day_id, found in segments.items():
        for bullet in (bullet for segment in found for bullet in segment.bullets):
            project = bullet.project
            if bullet.kind is BulletKind.STATE:
                sessions.setdefault(project, set()).add(bullet.session_id)
            elif bullet.kind is BulletKind.COMMIT:
                commits[project] += 1
            else:
                continue
            days.setdefault(project, set()).add(day_id)
    return {
        project: ProjectTotals(
            len(sessions.get(project, ())), len(days_of_project), commits[project]
        )
        for project, days_of_project in days.items()
    }


def _ground(made: ScopeSummary) -> tuple[Bullet, ...]:
    """Return the bullets with the grips and the verdicts of those of the segments."""
    names = sorted({name for places in made.places for name, _ in places})
    segments = nodes.get_many(names)
    indexes: dict[BulletPlace, int] = {}
    for segment in segments:
        for at in range(len(segment.bullets)):
            indexes[segment.node_id, at] = len(indexes)
    drafts = (
        DraftBullet(
            one.text,
            tuple(indexes[place] for place in places if place in indexes),
            one.kind,
            one.project,
            one.session_id,
            one.effort,
        )
        for one, places in zip(made.node.bullets, made.places, strict=True)
    )
    summary = Summary(made.node.headline, tuple(drafts))
    row = [bullet for segment in segments for bullet in segment.bullets]
    return rollup.join_bullets(summary, row)
