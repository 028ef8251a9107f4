"""The filters of a search, and how their typed values are parsed."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time, tzinfo
from enum import StrEnum

from memtui.model.events import EventRole
from memtui.model.nodes import TocLevel
from memtui.model.scope import ALL, Scope
from memtui.model.verdicts import Support


class SummarizerKind(StrEnum):
    """The kinds of summarizers."""

    MODEL = "model"
    EXTRACTIVE = "extractive"


@dataclass(frozen=True, slots=True)
class Filters:
    """The conditions of a search; an empty one matches everything."""

    scope: Scope = ALL
    session: str = ""
    """The id of a session, or the beginning of it."""
    role: EventRole | None = None
    """The role of messages."""
    levels: frozenset[TocLevel] = frozenset()
    """The levels of nodes and grips."""
    support: frozenset[Support] = frozenset()
    """A bullet of the node has one of these verdicts."""
    summarizer_kind: SummarizerKind | None = None
    """The kind of summarizer that wrote the node."""
    since: datetime | None = None
    """Only what ended at this time or later; timezone-aware."""
    until: datetime | None = None
    """Only what started before this time; timezone-aware."""
    with_subagents: bool = True
    """Whether events of subagents are searched as well."""

    @property
    def needs_nodes(self) -> bool:
        """Whether only nodes and grips can match."""
        return bool(self.levels or self.support or self.summarizer_kind)


EVERYTHING = Filters()

_DATE_PATTERN = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:T(\d\d):(\d\d))?)?)?")


@dataclass(frozen=True, slots=True)
class FilterField:
    """A filter that can be typed as ``name:value``."""

    description: str
    """A description of its value."""
    read: Callable[[Filters, str, tzinfo], Filters]
    values: tuple[str, ...] = ()
    """The possible values, if they are known."""


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
    values = {TocLevel(level) for level in value.lower().split(",")}
    return replace(filters, levels=frozenset(values))


def _has(filters: Filters, value: str, _: tzinfo) -> Filters:
    values = {Support(support) for support in value.lower().split(",")}
    return replace(filters, support=frozenset(values))


def _by(filters: Filters, value: str, _: tzinfo) -> Filters:
    return replace(filters, summarizer_kind=SummarizerKind(value.lower()))


def _after(filters: Filters, value: str, zone: tzinfo) -> Filters:
    return replace(filters, since=_parse_start(value, zone))


def _before(filters: Filters, value: str, zone: tzinfo) -> Filters:
    return replace(filters, until=_parse_start(value, zone))


def _parse_start(value: str, zone: tzinfo) -> datetime:
    """Return the start of a year, month, day or minute given as an ISO date.

    Words like "yesterday" have been converted by ``search.query_dates``.

    Raises:
        ValueError: The value is not such a date.
    """
    match = _DATE_PATTERN.fullmatch(value)
    if not match:
        raise ValueError(value)
    year, month, day = (int(part or 1) for part in match.groups()[:3])
    hour, minute = (int(part or 0) for part in match.groups()[3:])
    return datetime.combine(date(year, month, day), time(hour, minute), zone)


def _values(kind: type[StrEnum]) -> tuple[str, ...]:
    return tuple(one.value for one in kind)


_DATE_DESCRIPTION = "a date, or words for one (2025, 2025-03-14, yesterday, last week)"

FILTER_FIELDS: Mapping[str, FilterField] = {
    "agent": FilterField("an agent's name", _agent),
    "project": FilterField("a project's name", _project),
    "keyword": FilterField("a keyword, as shown on a node's page", _keyword),
    "session": FilterField("a session's id, or its beginning", _session),
    "role": FilterField(" or ".join(_values(EventRole)), _role, _values(EventRole)),
    "level": FilterField(
        "levels: " + ", ".join(_values(TocLevel)), _level, _values(TocLevel)
    ),
    "has": FilterField(
        "a verdict: " + ", ".join(_values(Support)), _has, _values(Support)
    ),
    "by": FilterField("model or extractive", _by, _values(SummarizerKind)),
    "after": FilterField(_DATE_DESCRIPTION, _after),
    "before": FilterField(_DATE_DESCRIPTION, _before),
}
"""The filters by name."""
