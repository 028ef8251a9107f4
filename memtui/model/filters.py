"""Scopes, and the filters of a search with how their typed values are parsed."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time, tzinfo
from enum import StrEnum
from typing import TypeVar

from memtui.model.calendar import TocLevel
from memtui.model.events import EventRole
from memtui.model.sessions import WorkState
from memtui.model.verdicts import Support


@dataclass(frozen=True, slots=True)
class Scope:
    """A filter by agent, project, keyword and state; an empty field filters nothing.

    A segment is in a scope if it is of the agent and the project, has the keyword, and
    its session ended in one of the states; a wider node is in it if a segment below it
    is.
    """

    agent: str = ""
    project: str = ""
    keyword: str = ""
    """In any case."""
    state: str = ""
    """A state of the work, or several: "open,failed"."""

    @property
    def is_narrow(self) -> bool:
        return bool(self.agent or self.project or self.keyword or self.state)

    @property
    def needs_segments(self) -> bool:
        """True if a wide node alone does not show whether it is in the scope."""
        return bool(self.keyword or self.state or (self.agent and self.project))

    def __str__(self) -> str:
        """Return its description: ``codex in shop``, ``open shop about “retries”``."""
        whose = " in ".join(part for part in (self.agent, self.project) if part)
        about = f"about “{self.keyword}”" if self.keyword else ""
        state = " or ".join(self.state.split(",")) if self.state else ""
        return " ".join(part for part in (state, whose, about) if part)


ALL = Scope()


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
    """True if events of subagents are searched as well."""

    @property
    def needs_nodes(self) -> bool:
        """True if only nodes and grips can match."""
        return bool(self.levels or self.support or self.summarizer_kind)


EVERYTHING = Filters()

_DATE_PATTERN = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:T(\d\d):(\d\d))?)?)?")


T = TypeVar("T", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class FilterField:
    """A filter that can be typed as ``name:value``."""

    description: str
    read: Callable[[Filters, str, tzinfo], Filters]
    values: tuple[str, ...] = ()
    """The possible values, if they are known."""


def _parse_start(value: str, zone: tzinfo) -> datetime:
    """Return the start of a year, month, day or minute given as an ISO date.

    Words like "yesterday" have been converted by ``search.query``.

    Raises:
        ValueError: The value is not a date.
    """
    match = _DATE_PATTERN.fullmatch(value)
    if not match:
        raise ValueError(value)
    year, month, day = (int(part or 1) for part in match.groups()[:3])
    hour, minute = (int(part or 0) for part in match.groups()[3:])
    return datetime.combine(date(year, month, day), time(hour, minute), zone)


def _parse_list(kind: type[T], value: str) -> frozenset[T]:
    return frozenset(kind(part) for part in value.lower().split(","))


def _parse_states(value: str) -> str:
    states = _parse_list(WorkState, value)
    return ",".join(state for state in WorkState if state in states)


def _values(kind: type[StrEnum]) -> tuple[str, ...]:
    return tuple(member.value for member in kind)


_DATE_DESCRIPTION = "a date, or words for one (2025-03-14, yesterday)"

FILTER_FIELDS: Mapping[str, FilterField] = {
    "agent": FilterField(
        "an agent's name", lambda f, v, _: replace(f, scope=replace(f.scope, agent=v))
    ),
    "project": FilterField(
        "a project's name",
        lambda f, v, _: replace(f, scope=replace(f.scope, project=v)),
    ),
    "keyword": FilterField(
        "a keyword, as shown on a node's page",
        lambda f, v, _: replace(f, scope=replace(f.scope, keyword=v)),
    ),
    "state": FilterField(
        ", ".join(_values(WorkState)),
        lambda f, v, _: replace(f, scope=replace(f.scope, state=_parse_states(v))),
        _values(WorkState),
    ),
    "session": FilterField(
        "a session's id, or its beginning", lambda f, v, _: replace(f, session=v)
    ),
    "role": FilterField(
        " or ".join(_values(EventRole)),
        lambda f, v, _: replace(f, role=EventRole(v.lower())),
        _values(EventRole),
    ),
    "level": FilterField(
        "levels: " + ", ".join(_values(TocLevel)),
        lambda f, v, _: replace(f, levels=_parse_list(TocLevel, v)),
        _values(TocLevel),
    ),
    "has": FilterField(
        "a verdict: " + ", ".join(_values(Support)),
        lambda f, v, _: replace(f, support=_parse_list(Support, v)),
        _values(Support),
    ),
    "by": FilterField(
        "model or extractive",
        lambda f, v, _: replace(f, summarizer_kind=SummarizerKind(v.lower())),
        _values(SummarizerKind),
    ),
    "after": FilterField(
        _DATE_DESCRIPTION, lambda f, v, zone: replace(f, since=_parse_start(v, zone))
    ),
    "before": FilterField(
        _DATE_DESCRIPTION, lambda f, v, zone: replace(f, until=_parse_start(v, zone))
    ),
}
