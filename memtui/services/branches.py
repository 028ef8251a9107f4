"""Reads the branches of the contents: the rows below a year, a month, a week or a day.

A row is known by its node and by its parent: a week across two months has two rows. The
rows of a day are its sessions.
"""

import sys
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, tzinfo
from itertools import pairwise

from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.filters import Scope
from memtui.model.nodes import DAY_SESSION_PREFIX, DaySession, TocEntry
from memtui.services import browse, day_sessions
from memtui.store import database

NEAR_DAYS = 7
"""The days that are expanded first: the newest one and those before it."""

RowKey = tuple[str, str]
"""The ids of the parent of a row, "" for the years, and of the row itself."""

RowPath = tuple[RowKey, ...]
"""The keys from the root down to a row."""

YEARS: RowKey = ("", "")
"""The key of the root, above the years."""


NodeRow = TocEntry | DaySession


@dataclass(frozen=True, slots=True)
class LoadedBranches:
    """Branches of the contents, those further up first."""

    rows: Mapping[RowKey, Sequence[NodeRow]]
    near: Collection[RowKey] = ()
    """The branches to expand so that the newest days are visible, if asked for."""
    newest: RowKey | None = None
    """The row of the latest session, if asked for."""
    sessions: int | None = None
    """The number of sessions in all years; None if the years were not read."""
    is_all: bool = True
    """False where a limit left some out."""


@dataclass(slots=True)
class BranchReader:
    """Reads branches, each once."""

    scope: Scope
    zone: tzinfo
    found: dict[RowKey, Sequence[NodeRow]] = field(default_factory=dict)

    def read(self, key: RowKey) -> Sequence[NodeRow]:
        """Return the rows below a branch, newest first."""
        if key not in self.found:
            self.found[key] = self._read(*key)
        return self.found[key]

    def _read(self, parent_id: str, node_id: str) -> Sequence[NodeRow]:
        level = calendar.period(node_id).level if node_id else None
        if level is TocLevel.DAY:
            return day_sessions.list_sessions(node_id, self.scope)
        month_id = parent_id if level is TocLevel.WEEK else ""
        return browse.list_children(
            node_id,
            limit=sys.maxsize,
            scope=self.scope,
            month_id=month_id,
            make_headlines=False,
        )

    def complete(self, keys: Collection[RowKey]) -> Mapping[RowKey, Sequence[NodeRow]]:
        """Return the rows of branches, with all that is shown of them.

        Rows whose branch is among them are expanded, and may lack a headline then.
        """
        rows = {key: list(self.read(key)) for key in keys}
        places = [
            (key, at, row)
            for key, some in rows.items()
            for at, row in enumerate(some)
            if isinstance(row, TocEntry)
        ]
        entries = browse.add_activity([row for *_, row in places], self.scope)
        entries = day_sessions.add_session_counts(entries, self.zone, self.scope)
        for (key, at, _), entry in zip(places, entries, strict=True):
            is_expanded = (key[1], entry.node_id) in rows
            (rows[key][at],) = (
                [entry] if is_expanded else browse.add_headlines([entry], self.scope)
            )
        return rows

    def days(self, above: RowPath = (YEARS,)) -> Iterator[RowPath]:
        """Yield the keys from the root to each day, newest first."""
        for row in self.read(above[-1]):
            way = (*above, (above[-1][1], row.node_id))
            if isinstance(row, TocEntry) and row.level is not TocLevel.DAY:
                yield from self.days(way)
            else:
                yield way


def read_branches(
    scope: Scope,
    zone: tzinfo,
    keys: Collection[RowKey],
    near_rows: int = 0,
    *,
    is_first: bool = False,
) -> LoadedBranches:
    """Read branches, and those of the newest days.

    With all above them the newest days may take ``near_rows`` rows; 0 not to look for
    them. Look no further than ``NEAR_DAYS`` if ``is_first``, which takes less time.
    """
    reader = BranchReader(scope, zone)
    near: Collection[RowKey] = []
    newest: RowKey | None = None
    with database.connection():
        if near_rows:
            days = NEAR_DAYS if is_first else None
            near, newest = _find_near(reader, near_rows, days)
        found = reader.complete(dict.fromkeys((*near, *keys)))
        sessions = day_sessions.count_sessions(scope) if YEARS in found else None
    return LoadedBranches(found, near, newest, sessions)


def _find_near(
    reader: BranchReader, room: int, days: int | None
) -> tuple[Collection[RowKey], RowKey | None]:
    """Return the branches to expand for the newest days, and the latest session.

    They have at most ``room`` rows, unless the newest day has more. Only so many days
    before the newest one are looked at, or with None as many as fit.
    """
    near = {YEARS: None}
    latest: date | None = None
    newest: RowKey | None = None
    for way in reader.days():
        day_id = way[-1][1]
        day = calendar.period(day_id).first
        wanted = near | dict.fromkeys(way)
        if latest is None:
            latest = day
            sessions = reader.read(way[-1])
            newest = (day_id, sessions[0].node_id) if sessions else way[-1]
        else:
            is_late = days is not None and (latest - day).days >= days
            if is_late or sum(len(reader.read(key)) for key in wanted) > room:
                break
        near = wanted
    return list(near), newest


def read_below(key: RowKey, scope: Scope, zone: tzinfo, most: int) -> LoadedBranches:
    """Read all branches below a row, up to a number of rows; each as a whole."""
    reader = BranchReader(scope, zone)
    waiting, total = deque([key]), 0
    found: list[RowKey] = []
    while waiting:
        rows = reader.read(waiting[0])
        total += len(rows)
        if total > most:
            break
        found.append(waiting.popleft())
        waiting += [
            (found[-1][1], row.node_id) for row in rows if isinstance(row, TocEntry)
        ]
    return LoadedBranches(reader.complete(found), is_all=not waiting)


def find_sibling(
    path: Sequence[str], step: int, scope: Scope, zone: tzinfo
) -> Sequence[str]:
    """Return the path to the next older (1) or newer (-1) row of the same level.

    The row may be under another parent: the day before a Monday is in another week.

    Returns:
        The ids from the year down; empty if there is no such row.
    """
    reader = BranchReader(scope, zone)
    for depth in range(len(path) - 1, -1, -1):
        siblings = _child_ids(reader, path[:depth])
        at = siblings.index(path[depth]) + step if path[depth] in siblings else -1
        if 0 <= at < len(siblings):
            found = [*path[:depth], siblings[at]]
            while len(found) < len(path):
                children = _child_ids(reader, found)
                if not children:
                    break
                found.append(children[0] if step > 0 else children[-1])
            return found
    return ()


def _child_ids(reader: BranchReader, path: Sequence[str]) -> list[str]:
    *_, (parent_id, node_id) = [YEARS, *pairwise(("", *path))]
    if not node_id.startswith(DAY_SESSION_PREFIX):
        return [row.node_id for row in reader.read((parent_id, node_id))]
    sessions = reader.read((path[-3], parent_id))
    return [
        row.node_id
        for session in sessions
        if isinstance(session, DaySession) and session.node_id == node_id
        for row in session.rows
    ]
