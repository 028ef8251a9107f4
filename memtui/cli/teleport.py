"""``teleport``: jumping to nodes and grips by words, and why one was found."""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from datetime import tzinfo

from memtui.agents import formatting
from memtui.agents.replies import Plain, Reply
from memtui.cli import ask, output
from memtui.memory.queries.whys import Why, WhyTerm
from memtui.model.hits import TeleportResult
from memtui.model.scope import Scope
from memtui.text import date_format
from memtui.text.fencing import line as neutral
from memtui.workspace import Workspace

Reasons = dict[str, Why | None]
"""Why each hit has its score; empty where nobody asked."""


def run(house: Workspace, given: argparse.Namespace) -> int:
    """Print the hits of a query."""
    of = Scope(given.agent, given.project)
    query = " ".join(given.query)
    wish = {"of": of, "is_recent_first": given.recent}

    def found() -> tuple[TeleportResult, Reasons]:
        told = house.teleport.find(query, limit=given.limit, **wish)
        names = [hit.target_id for hit in told.hits if given.why]
        return told, {name: house.teleport.why(query, name, **wish) for name in names}

    def reply() -> Reply:
        told = house.asking.teleport(query, limit=given.limit, **wish)
        return _with_reasons(told, *found()) if given.why else told

    return ask.answer(house, given, reply, lambda: _lines(*found(), of, house.zone))


def _with_reasons(reply: Reply, answer: TeleportResult, reasons: Reasons) -> Reply:
    """A reply whose hits tell what their scores are made of."""
    items = [
        {**item, "why": [neutral(line.strip()) for line in _why(why)]}
        if (why := reasons.get(hit.target_id))
        else item
        for item, hit in zip(reply.items, answer.hits, strict=False)
    ]
    return replace(reply, items=items, line=_reasoned_line)


def _reasoned_line(told: Plain) -> str:
    return "\n    ".join([formatting.hit_line(told), *told.get("why", ())])


def _lines(
    answer: TeleportResult, reasons: Reasons, of: Scope, zone: tzinfo
) -> Iterator[str]:
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
        yield f"      {output.mark(hit.snippet.text, hit.snippet.marks)}"
        leads = hit.landing_id if hit.landing_id != hit.target_id else ""
        yield f"      {hit.target_id}{f' → {leads}' if leads else ''}"
        if why := reasons.get(hit.target_id):
            yield from _why(why)


def _why(why: Why) -> Iterator[str]:
    for term in why.terms:
        yield f"      {_term(term)}"
    held = f"{why.held} of {len(why.terms)}"
    yield (
        f"      = {why.score:.3f}: what they add up to ÷ {why.bound:.2f}, the most"
        f" they could; × {why.share:.2f}, {held} there; × {why.prior:.2f} for a"
        f" {why.level}; × {why.recency:.2f} for its age"
    )


def _term(term: WhyTerm) -> str:
    if not term.parts:
        return f"{term.term}: not there (idf {term.idf:.2f})"
    form = "" if term.form == term.term else f" as {term.form} × {term.factor:.2f}"
    parts = ", ".join(
        f"{part.part} {part.count}× weighs {part.weight:.2f}" for part in term.parts
    )
    return (
        f"{term.term}{form}: idf {term.idf:.2f} × {term.fit:.2f} ({parts})"
        f" → {term.contribution:.3f}"
    )
