"""``teleport``: jumping to nodes and grips by words, and why one was found."""

import argparse
from collections.abc import Iterator
from datetime import tzinfo
from typing import Any

from memtui.house import House
from memtui.memory.hits import Answer, Hit
from memtui.memory.scopes import Scope
from memtui.memory.whys import Why, WhyTerm
from memtui.shell import output

Reasons = dict[str, Why | None]
"""Why each hit has its score; empty where nobody asked."""


def run(house: House, given: argparse.Namespace) -> int:
    """Print the hits of a query."""
    of = Scope(given.agent, given.project)
    query = " ".join(given.query)
    recent = given.recent
    answer = house.teleport.find(
        query, limit=given.limit, of=of, is_recent_first=recent
    )
    reasons: Reasons = {}
    if given.why:
        for hit in answer.hits:
            reasons[hit.target_id] = house.teleport.why(
                query, hit.target_id, of=of, is_recent_first=recent
            )
    if given.json:
        output.as_page(_plain(answer, reasons), "hits")
    else:
        output.lines(_lines(answer, reasons, of, house.zone))
    return 0


def _plain(answer: Answer, reasons: Reasons) -> dict[str, Any]:
    return {
        "query": answer.query,
        "hits": [_hit(hit, reasons) for hit in answer.hits],
        "suggestion": answer.suggestion,
        "note": answer.note,
        "hints": answer.hints,
        "took_ms": answer.took_ms,
    }


def _hit(hit: Hit, reasons: Reasons) -> dict[str, Any]:
    why = reasons.get(hit.target_id)
    told = {"why": output.plain(why) | {"share": why.share}} if why else {}
    return {
        "kind": hit.kind,
        "id": hit.target_id,
        "node_id": hit.node_id,
        "leads_to": hit.leads_to,
        "level": hit.level,
        "title": hit.title,
        "at": hit.at,
        "score": hit.score,
        "band": hit.band,
        "advice": hit.band.advice,
        "snippet": hit.snippet,
        "project": hit.project,
        **told,
    }


def _lines(answer: Answer, reasons: Reasons, of: Scope, zone: tzinfo) -> Iterator[str]:
    yield from filter(None, (answer.note, *answer.hints))
    if not answer.hits and not answer.hints:
        where = f"Nothing of {of}" if of.is_narrow else "Nothing"
        yield f"{where} holds {answer.query!r}. Fewer or shorter words find more."
    if answer.suggestion:
        yield f"Did you mean: {answer.suggestion}"
    for hit in answer.hits:
        when = output.date(hit.at, zone)
        yield f"{hit.score:.2f} {hit.band:<9}  {when}  {hit.title}  [{hit.level}]"
        yield f"      {output.mark(hit.snippet.text, hit.snippet.marks)}"
        leads = hit.leads_to if hit.leads_to != hit.target_id else ""
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
