"""Filters: what of the memory a search looks through, and how a person types that."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time, tzinfo
from enum import StrEnum

from memtui.model.events import EventRole
from memtui.model.nodes import TocLevel
from memtui.model.scope import ALL, Scope
from memtui.model.verdicts import Support


class SummaryMaker(StrEnum):
    """Who wrote a version."""

    MODEL = "model"
    EXTRACTIVE = "extractive"


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions that all hold; an empty one leaves nothing out."""

    scope: Scope = ALL
    """Whose work."""
    session: str = ""
    """A session's id, or as much of its beginning as is known."""
    role: EventRole | None = None
    """Who said it: of messages alone."""
    levels: frozenset[TocLevel] = frozenset()
    """Of nodes and their grips alone."""
    support: frozenset[Support] = frozenset()
    """How well the source supports at least one of a node's bullets."""
    maker: SummaryMaker | None = None
    """Who summarised: of nodes and their grips alone."""
    since: datetime | None = None
    """Nothing that ended before; aware."""
    until: datetime | None = None
    """Nothing that began then or later; aware."""
    with_subagents: bool = True
    """Whether what a session's subagents said is looked through too."""

    @property
    def needs_nodes(self) -> bool:
        """Whether only what is summarised can pass them."""
        return bool(self.levels or self.support or self.maker)


EVERYTHING = Filters()
"""The whole memory."""

_DAY = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:T(\d\d):(\d\d))?)?)?")


@dataclass(frozen=True, slots=True)
class FilterField:
    """One filter a person can type."""

    description: str
    """What stands behind its colon, as a sentence says it."""
    read: Callable[[Filters, str, tzinfo], Filters]
    values: tuple[str, ...] = ()
    """What can stand there, where that is known."""


def _agent(filters: Filters, value: str, _: tzinfo) -> Filters:
    return replace(filters, scope=replace(filters.scope, agent=value))


def _project(filters: Filters, value: str, _: tzinfo) -> Filters:
    return replace(filters, scope=replace(filters.scope, project=value))


def _keyword(filters: Filters, value: str, _: tzinfo) -> Filters:
    return replace(filters, scope=replace(filters.scope, keyword=value))


def _session(filters: Filters, value: str, _: tzinfo) -> Filters:
    return replace(filters, session=value)


def _role(filters: Filters, value: str, _: tzinfo) -> Filters:
    return replace(filters, role=EventRole(value.lower()))


def _level(filters: Filters, value: str, _: tzinfo) -> Filters:
    chosen = {TocLevel(level) for level in value.lower().split(",")}
    return replace(filters, levels=frozenset(chosen))


def _has(filters: Filters, value: str, _: tzinfo) -> Filters:
    chosen = {Support(support) for support in value.lower().split(",")}
    return replace(filters, support=frozenset(chosen))


def _by(filters: Filters, value: str, _: tzinfo) -> Filters:
    return replace(filters, maker=SummaryMaker(value.lower()))


def _after(filters: Filters, value: str, zone: tzinfo) -> Filters:
    return replace(filters, since=_day(value, zone))


def _before(filters: Filters, value: str, zone: tzinfo) -> Filters:
    return replace(filters, until=_day(value, zone))


def _day(value: str, zone: tzinfo) -> datetime:
    """The first moment of a year, a month or a day; or a minute of a day.

    Raises:
        ValueError: It is none of these.
    """
    found = _DAY.fullmatch(value)
    if not found:
        raise ValueError(value)
    year, month, day = (int(part or 1) for part in found.groups()[:3])
    hour, minute = (int(part or 0) for part in found.groups()[3:])
    return datetime.combine(date(year, month, day), time(hour, minute), zone)


def _values(kind: type[StrEnum]) -> tuple[str, ...]:
    return tuple(one.value for one in kind)


_DATE = "a date, or words for one (2025, 2025-03-14, yesterday, last week)"

FILTER_FIELDS: Mapping[str, FilterField] = {
    "agent": FilterField("an agent's name", _agent),
    "project": FilterField("a project's name", _project),
    "keyword": FilterField("a keyword, as the pages show them", _keyword),
    "session": FilterField("a session's id, or its beginning", _session),
    "role": FilterField(" or ".join(_values(EventRole)), _role, _values(EventRole)),
    "level": FilterField(
        "levels: " + ", ".join(_values(TocLevel)), _level, _values(TocLevel)
    ),
    "has": FilterField(
        "a verdict: " + ", ".join(_values(Support)), _has, _values(Support)
    ),
    "by": FilterField("model or extractive", _by, _values(SummaryMaker)),
    "after": FilterField(_DATE, _after),
    "before": FilterField(_DATE, _before),
}
"""The filters that can be typed, by their names."""
