"""Check whether the wording of a bullet is found in its source.

A bullet is **unsupported** if too little of its weighted wording is in any one passage
of its source. It is **weak** if not enough is, if a name or number is missing, if only
one side is negated or the source says the opposite, if a clause is not in the source,
or if it says too little to check. Otherwise it is **supported**. Claimed actions must
have happened. A verdict is about wording found in the source, never about truth.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from memtui.model.events import Event
from memtui.model.summaries import DraftBullet
from memtui.model.verdicts import (
    SUPPORTED,
    EventQuote,
    SourceQuote,
    Support,
    Verdict,
    VerdictFeatures,
    hash_quote,
    is_as_good,
    worst,
)
from memtui.summarize.grounding import actions, conflicts, details, matching
from memtui.summarize.grounding.actions import EventPassages
from memtui.summarize.grounding.passages import PassageIndex
from memtui.text import analyzer

GROUNDING_VERSION = "audit-6"
"""Summaries checked by another version of these rules are made again."""

MIN_CLAUSE_TERMS = 4
"""A clause with fewer terms is not checked by itself."""

_CLAUSE_SEPARATORS = (
    re.compile(r"[;；。]\s*(?=\S)|(?<=[.!?])\s+"),
    re.compile(r", (?:and|but|und|aber) |，(?=\S)"),
    re.compile(r" (?:and|but|und|aber) "),
)
"""Separators between the clauses of a bullet; the first match is used."""


@dataclass(frozen=True, slots=True)
class ChildBullet:
    """A child's bullet, as the source of its parent's."""

    text: str
    verdict: Verdict = SUPPORTED
    """Its own verdict."""
    events: tuple[Event, ...] = ()
    """The events behind its grips; needed only for reworded bullets."""


def check_against_events(
    claims: Sequence[DraftBullet], events: Sequence[Event]
) -> list[Verdict]:
    """Check a segment's bullets.

    Args:
        claims: The bullets; their ``refs`` are indexes into ``events``.
        events: The events of the segment in order, without the overlap.

    Returns:
        A verdict for each; its quotes refer to indexes of the events.
    """
    source = EventPassages(events)
    return [with_event_quotes(check_bullet(one, source), events) for one in claims]


def with_event_quotes(verdict: Verdict, events: Sequence[Event]) -> Verdict:
    """Return a verdict with its quotes as spans of these events."""
    spans = (
        EventQuote(events[one.index].event_id, one.start, one.end, one.text_hash)
        for one in verdict.quotes
    )
    return replace(verdict, spans=tuple(spans))


def check_against_children(
    claims: Sequence[DraftBullet], below: Sequence[ChildBullet]
) -> list[Verdict]:
    """Check a parent's bullets against its children's, and against the events behind
    these.

    Args:
        claims: The parent's bullets; their ``refs`` are indexes into ``below``.
        below: The children's bullets in a row.

    Returns:
        For each the worst of three verdicts: against the children's bullets, which it
        quotes; that of these bullets; and against the events behind their grips. A
        bullet identical to a child's keeps its verdict.
    """
    index_of_text = {one.text: at for at, one in reversed([*enumerate(below)])}
    row: PassageIndex | None = None
    found: list[Verdict] = []
    for claim in claims:
        if claim.text in index_of_text:
            refs = (at for at in claim.refs if 0 <= at < len(below))
            cited = (at for at in refs if below[at].text == claim.text)
            found.append(
                _inherit_verdict(below, next(cited, index_of_text[claim.text]))
            )
        else:
            row = row or PassageIndex([one.text for one in below])
            found.append(_check_reworded(claim, row, below))
    return found


def _inherit_verdict(below: Sequence[ChildBullet], at: int) -> Verdict:
    text = below[at].text
    quote = SourceQuote(at, 0, len(text), hash_quote(text))
    return replace(below[at].verdict, quotes=(quote,), is_repaired=False)


def _check_reworded(
    claim: DraftBullet, row: PassageIndex, below: Sequence[ChildBullet]
) -> Verdict:
    verdict = check_bullet(claim, row)
    rests_on = [below[place] for place in sorted({q.index for q in verdict.quotes})]
    supports = [verdict.support, *(one.verdict.support for one in rests_on)]
    event_quotes = [span for one in rests_on for span in one.verdict.spans]
    leaves = list({e.event_id: e for one in rests_on for e in one.events}.values())
    if leaves:
        (in_events,) = check_against_events([DraftBullet(claim.text)], leaves)
        supports.append(in_events.support)
        event_quotes = list(in_events.spans) or event_quotes
    support = worst(supports)
    return replace(verdict, support=support, spans=tuple(dict.fromkeys(event_quotes)))


def check_bullet(claim: DraftBullet, source: PassageIndex) -> Verdict:
    """Check a bullet against texts; its ``refs`` are indexes into these."""
    anywhere = _check_anywhere(claim.text, source)
    cited = {at for at in claim.refs if 0 <= at < len(source.texts)}
    if not cited or {quote.index for quote in anywhere.quotes} <= cited:
        return anywhere
    there = _check_text(claim.text, source, cited)
    if is_as_good(there, anywhere):
        return there
    return replace(anywhere, is_repaired=True)


@lru_cache(maxsize=1)
def _check_anywhere(text: str, source: PassageIndex) -> Verdict:
    """Cached for the next claim with this text and other ``refs``."""
    return _check_text(text, source, None)


def _check_text(
    text: str, source: PassageIndex, text_indexes: Collection[int] | None
) -> Verdict:
    """Check a text against what its subject said and did, else against anybody's."""
    roles = conflicts.speaker_roles(text)
    found = _check_said(text, source, text_indexes)
    is_plan = conflicts.NOT_DONE in found.features.conflicts
    if found.support is Support.UNSUPPORTED or (roles is None and not is_plan):
        return found
    quoted_indexes = {quote.index for quote in found.quotes}
    places = range(len(source.texts)) if text_indexes is None else text_indexes
    by_subject = {
        at
        for at in places
        if roles is None or (role := source.role_of(at)) is None or role in roles
    }
    if is_plan:
        by_subject -= quoted_indexes
    if not quoted_indexes <= by_subject:
        there = _check_said(text, source, by_subject)
        if there.support is Support.SUPPORTED:
            return there
    elif not conflicts.has_other_subject(
        text, " ".join(map(source.quoted_text, found.quotes))
    ):
        return found
    if roles is None:
        return found
    reasons = (*found.features.conflicts, conflicts.OTHER_SPEAKER)
    features = replace(found.features, conflicts=reasons)
    return replace(found, support=Support.WEAK, features=features)


def _check_said(
    text: str, source: PassageIndex, text_indexes: Collection[int] | None
) -> Verdict:
    proved = actions.check_action_claims(text, source, text_indexes)
    if proved is not None:
        is_sure = proved.support is Support.SUPPORTED
        return (
            proved if is_sure else _check_verbatim(text, source, text_indexes) or proved
        )
    found = _check_wording(text, source, text_indexes)
    if found.support is Support.SUPPORTED and details.says_too_little(text):
        return replace(found, support=Support.WEAK)
    return found


def _check_wording(
    text: str, source: PassageIndex, text_indexes: Collection[int] | None
) -> Verdict:
    as_whole = matching.match_passage(text, source, text_indexes)
    if as_whole.support is Support.SUPPORTED:
        return as_whole
    if verbatim := _check_verbatim(text, source, text_indexes):
        return verbatim
    parts = _split_clauses(text)
    if len(parts) > 1:
        by_clause = matching.combine(
            [matching.match_passage(part, source, text_indexes) for part in parts]
        )
        if by_clause.support is Support.SUPPORTED:
            return by_clause
    return as_whole


def _check_verbatim(
    text: str, source: PassageIndex, text_indexes: Collection[int] | None
) -> Verdict | None:
    """Return the verdict on a bullet that occurs verbatim in its source."""
    found = source.find_verbatim(text, text_indexes)
    if found is None:
        return None
    place, start, end = found
    matched = analyzer.terms(text)
    features = VerdictFeatures(1.0, len(set(matched)), details.find_details(text))
    quote = source.quote(place, start, end)
    return Verdict(features.support, features, tuple(sorted(set(matched))), (quote,))


def _split_clauses(text: str) -> list[str]:
    """Return the clauses of a bullet that may rest on different passages."""
    for cut in _CLAUSE_SEPARATORS:
        parts = cut.split(text)
        if len(parts) > 1:
            break
    else:
        return []
    if any(len(analyzer.query_terms(part)) < MIN_CLAUSE_TERMS for part in parts):
        return []
    return parts
