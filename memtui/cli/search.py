"""``search`` and ``search-sessions``: finding moments and messages from a shell."""

import argparse
from collections.abc import Iterator, Sequence
from datetime import tzinfo

from memtui.agents.replies import Reply
from memtui.cli import ask, output
from memtui.model.events import EventRole
from memtui.model.filters import Filters
from memtui.model.hits import (
    CombinedHit,
    CombinedResult,
    MessageHit,
    MessageResult,
    ReadDate,
)
from memtui.model.scope import Scope
from memtui.text import date_format
from memtui.workspace import Workspace

LINE_CHARS = 200
"""How much of a message is printed, in characters."""


def run(house: Workspace, given: argparse.Namespace) -> int:
    """Print what answers a query, from everything that is kept."""
    query, limit, filters = " ".join(given.query), given.limit, _filters(given)

    def page() -> Iterator[str]:
        found = house.search.find(query, limit=limit, filters=filters)
        return _moments(found, filters.scope, house.zone)

    def reply() -> Reply:
        return house.asking.search_memory(query, limit=limit, filters=filters)

    return ask.answer(house, given, reply, page)


def run_sessions(house: Workspace, given: argparse.Namespace) -> int:
    """Print the messages that answer a query, each with what was said around it."""
    filters = _filters(given)
    wish = {"limit": given.limit, "is_one_each": given.one_each, "filters": filters}
    wish |= {"before": given.context_before, "after": given.context_after}
    query = " ".join(given.query)

    def page() -> Iterator[str]:
        return _messages(
            house.session_search.find(query, **wish), filters.scope, house.zone
        )

    def reply() -> Reply:
        return house.asking.search_sessions(query, **wish)

    return ask.answer(house, given, reply, page)


def _filters(given: argparse.Namespace) -> Filters:
    return Filters(
        scope=Scope(given.agent, given.project),
        session=given.session,
        role=EventRole(given.role) if given.role else None,
        with_subagents=not given.no_subagents,
    )


def _head(
    query: str, notes: Sequence[str], times: Sequence[ReadDate], of: Scope, count: int
) -> Iterator[str]:
    """What is to be known before what was found."""
    yield from notes
    yield from map(str, times)
    if not count and (of.is_narrow or not notes):
        where = f"Nothing of {of}" if of.is_narrow else "Nothing"
        yield f"{where} holds {query!r}. Fewer or shorter words find more."


def _moments(found: CombinedResult, of: Scope, zone: tzinfo) -> Iterator[str]:
    yield from _head(found.query, found.notes, found.times, of, len(found.hits))
    if found.suggestion:
        yield f"Did you mean: {found.suggestion}"
    for hit in found.hits:
        fit = "" if found.is_recent else f"{hit.score:.2f} {hit.band:<9}  "
        yield f"{fit}{date_format.moment(hit.at, zone):<21}  {hit.title}"
        said = output.mark_matches(hit.snippet.text, hit.snippet.marks)
        yield f"      {f'{hit.role}: ' if hit.role else ''}{said}"
        yield f"      {_where(hit)}"


def _where(hit: CombinedHit) -> str:
    """Where a moment lies, and what led to it."""
    by = ", ".join(sorted(hit.layers))
    session = f"{hit.agent}:{hit.session_id}" if hit.session_id else ""
    told = [session, hit.project, hit.node_id, f"by {by}"]
    told += ["not in any summary"] if hit.is_unsummarised else []
    return " · ".join(filter(None, told))


def _messages(found: MessageResult, of: Scope, zone: tzinfo) -> Iterator[str]:
    yield from _head(found.query, found.notes, found.times, of, len(found.hits))
    for hit in found.hits:
        yield _titled(hit) if found.is_recent else f"{hit.score:.2f}  {_titled(hit)}"
        if hit.match is None and hit.about.text != hit.session.title:
            yield f"      {output.mark_matches(hit.about.text, hit.about.marks)}"
        for said in hit.window:
            when = date_format.moment(said.at, zone)
            text = output.mark_matches(said.snippet.text, said.snippet.marks)
            bar = "┃" if said.is_match else " "
            line = " ".join(text.split())[:LINE_CHARS]
            yield f"    {bar} {said.msg_idx:>4}  {when:<21}  {said.role:<9}  {line}"


def _titled(hit: MessageHit) -> str:
    session = hit.session
    told = [f"{session.agent}:{session.session_id}", hit.subagent, session.project]
    return " · ".join(filter(None, [*told, session.title]))
