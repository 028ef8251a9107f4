"""``teleport``: jump to nodes and grips by words."""

import argparse
from collections.abc import Iterator
from datetime import tzinfo

from memtui.agents.replies import Reply
from memtui.cli import ask, output
from memtui.model.hits import TeleportResult
from memtui.model.scope import Scope
from memtui.text import date_format
from memtui.workspace import Workspace


def run(house: Workspace, given: argparse.Namespace) -> int:
    """Print the hits of a query."""
    of = Scope(given.agent, given.project)
    query = " ".join(given.query)
    wish = {"of": of, "is_recent_first": given.recent}

    def reply() -> Reply:
        return house.asking.teleport(query, limit=given.limit, **wish)

    def lines() -> Iterator[str]:
        found = house.teleport.find(query, limit=given.limit, **wish)
        return _lines(found, of, house.zone)

    return ask.answer(house, given, reply, lines)


def _lines(answer: TeleportResult, of: Scope, zone: tzinfo) -> Iterator[str]:
    yield from filter(None, (answer.note, *answer.hints))
    if not answer.hits and not answer.hints:
        where = f"Nothing of {of}" if of.is_narrow else "Nothing"
        yield f"{where} holds {answer.query!r}. Fewer or shorter words find more."
    if answer.suggestion:
        yield f"Did you mean: {answer.suggestion}"
    for hit in answer.hits:
        when = date_format.moment(hit.at, zone)
        fit = "" if answer.is_recent else f"{hit.score:.2f} {hit.band:<9}  "
        yield f"{fit}{when:<21}  {hit.title}  [{hit.level}]"
        yield f"      {output.mark_matches(hit.snippet.text, hit.snippet.marks)}"
        leads = hit.landing_id if hit.landing_id != hit.target_id else ""
        yield f"      {hit.target_id}{f' → {leads}' if leads else ''}"
