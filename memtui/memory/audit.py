"""Audit: whether the wording of a bullet is found in what it cites.

A bullet is **unsupported** when too little of its weighted wording stands in any one
passage of its source; **weak** when much does but not enough, or when a name or a
number is missing there, a "not" stands on one side alone, or an opposite is said;
else **supported**. That is wording found in the source, never truth.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from memtui.memory import contradictions, deeds, particulars, words
from memtui.memory.events import Event
from memtui.memory.passages import Passage, Passages
from memtui.memory.segments import counted_text
from memtui.memory.summaries import Claim
from memtui.memory.verdicts import (
    SAID,
    Features,
    Quote,
    Span,
    Support,
    Verdict,
    hashed,
)

RULE = "audit-1"
"""The name to record with verdicts: other limits or features, another name."""

PART_TERMS = 4
"""Fewer terms are no clause that could be looked for alone."""

_CUTS = (
    re.compile(r"[;；。]\s*(?=\S)|(?<=[.!?])\s+"),
    re.compile(r", (?:and|but|und|aber) |，(?=\S)"),
    re.compile(r" (?:and|but|und|aber) "),
)
"""Where a bullet of several clauses is cut, the plainest cut first."""

_WORSE = tuple(Support)


@dataclass(frozen=True, slots=True)
class Below:
    """A child's bullet, as its parent's are held against it."""

    text: str
    verdict: Verdict = SAID
    """What its own audit found."""
    leaves: tuple[Event, ...] = ()
    """The events behind its grips; needed only for bullets that word it otherwise."""


def of_events(claims: Sequence[Claim], events: Sequence[Event]) -> list[Verdict]:
    """Audit a segment's bullets.

    Args:
        claims: The bullets; their ``refs`` are places in ``events``.
        events: The events of the segment in their order, the overlap left out.

    Returns:
        A verdict for each; the places of its quotes are those of the events.
    """
    source = Passages([counted_text(event) for event in events])
    return [spanned(one, events) for one in of_texts(claims, source)]


def spanned(verdict: Verdict, events: Sequence[Event]) -> Verdict:
    """A verdict with its quotes as stretches of these events, its source."""
    spans = (
        Span(events[one.place].event_id, one.start, one.end, one.text_hash)
        for one in verdict.quotes
    )
    return replace(verdict, spans=tuple(spans))


def of_texts(claims: Sequence[Claim], source: Passages) -> list[Verdict]:
    """Audit bullets against any texts, their ``refs`` being places in these."""
    return [_audited(claim, source) for claim in claims]


def of_children(claims: Sequence[Claim], below: Sequence[Below]) -> list[Verdict]:
    """Audit a parent's bullets: against its children's, and against what these cite.

    Args:
        claims: The parent's bullets; their ``refs`` are places in ``below``.
        below: The children's bullets in a row.

    Returns:
        For each the worst of three verdicts: against the children's bullets, where its
        quotes are; that on those it rests on; and against the events behind their
        grips, if there are any. One that is a child's word for word keeps its verdict.
    """
    said = {one.text: at for at, one in reversed([*enumerate(below)])}
    row: Passages | None = None
    found: list[Verdict] = []
    for claim in claims:
        if claim.text in said:
            cited = (at for at in claim.refs if _says(below, at, claim.text))
            found.append(_taken_over(below, next(cited, said[claim.text])))
        else:
            row = row or Passages([one.text for one in below])
            found.append(_reworded(claim, row, below))
    return found


def _says(below: Sequence[Below], at: int, text: str) -> bool:
    return 0 <= at < len(below) and below[at].text == text


def _taken_over(below: Sequence[Below], at: int) -> Verdict:
    text = below[at].text
    quote = Quote(at, 0, len(text), hashed(text))
    return replace(below[at].verdict, quotes=(quote,), is_repaired=False)


def _reworded(claim: Claim, row: Passages, below: Sequence[Below]) -> Verdict:
    verdict = _audited(claim, row)
    rests_on = [below[place] for place in sorted({q.place for q in verdict.quotes})]
    found = [verdict.support, *(one.verdict.support for one in rests_on)]
    spans = [span for one in rests_on for span in one.verdict.spans]
    leaves = list({e.event_id: e for one in rests_on for e in one.leaves}.values())
    if leaves:
        (held,) = of_events([Claim(claim.text)], leaves)
        found.append(held.support)
        spans = list(held.spans) or spans
    support = max(found, key=_WORSE.index)
    return replace(verdict, support=support, spans=tuple(dict.fromkeys(spans)))


def _audited(claim: Claim, source: Passages) -> Verdict:
    anywhere = _anywhere(claim.text, source)
    cited = {at for at in claim.refs if 0 <= at < len(source.texts)}
    if not cited or {quote.place for quote in anywhere.quotes} <= cited:
        return anywhere
    there = _verdict(claim.text, source, cited)
    if _WORSE.index(there.support) <= _WORSE.index(anywhere.support):
        return there
    return replace(anywhere, is_repaired=True)


@lru_cache(maxsize=1)
def _anywhere(text: str, source: Passages) -> Verdict:
    """Remembered for whoever asks again of a claim, citing other places."""
    return _verdict(text, source, None)


def _verdict(text: str, source: Passages, places: Collection[int] | None) -> Verdict:
    whole = _held_by(text, source, places)
    if whole.support is Support.SUPPORTED:
        return whole
    if quoted := source.verbatim(text, places):
        return _quoted(text, source, *quoted)
    if pieces := deeds.pieces(text):
        return _joined([_held_by(piece, source, places) for piece in pieces])
    parts = _parts(text)
    if len(parts) > 1:
        joined = _joined([_held_by(part, source, places) for part in parts])
        if joined.support is Support.SUPPORTED:
            return joined
    return whole


def _parts(text: str) -> list[str]:
    """The clauses of a bullet that could each rest on a passage of its own."""
    for cut in _CUTS:
        parts = cut.split(text)
        if len(parts) > 1:
            break
    else:
        return []
    if any(len(words.needed(part)) < PART_TERMS for part in parts):
        return []
    return parts


def _joined(parts: Sequence[Verdict]) -> Verdict:
    """The verdict on a bullet of pieces that stand apart: that on the worst of them."""
    every = [part.features for part in parts]
    terms = sum(one.terms for one in every)
    covered = sum(one.covered * one.terms for one in every) / (terms or 1)
    return Verdict(
        support=max((part.support for part in parts), key=_WORSE.index),
        features=Features(
            covered=covered,
            terms=terms,
            hard=tuple(token for one in every for token in one.hard),
            missing=tuple(token for one in every for token in one.missing),
            is_negated_otherwise=any(one.is_negated_otherwise for one in every),
            opposites=tuple(pair for one in every for pair in one.opposites),
        ),
        matched=tuple(dict.fromkeys(term for part in parts for term in part.matched)),
        quotes=tuple(dict.fromkeys(quote for part in parts for quote in part.quotes)),
    )


def _held_by(text: str, source: Passages, places: Collection[int] | None) -> Verdict:
    passage = source.best(text, places)
    if passage is None:
        hard = particulars.of(text)
        return Verdict(Support.UNSUPPORTED, Features(hard=hard, missing=hard))
    features = _features(text, passage, source)
    return Verdict(
        support=features.support,
        features=features,
        matched=tuple(sorted(passage.held)),
        quotes=(_quote(passage, source.text(passage)),),
    )


def _quoted(text: str, source: Passages, place: int, start: int, end: int) -> Verdict:
    """The verdict on a bullet that stands word for word in its source."""
    matched = words.terms(text)
    told = Features(1.0, len(set(matched)), particulars.of(text))
    quote = Quote(place, start, end, hashed(source.texts[place][start:end]))
    return Verdict(told.support, told, tuple(sorted(set(matched))), (quote,))


def _features(text: str, passage: Passage, source: Passages) -> Features:
    quoted, hard = source.text(passage), particulars.of(text)
    sentences = source.sentences(passage)
    return Features(
        covered=passage.covered,
        terms=len(source.weights(text)),
        hard=hard,
        missing=particulars.missing(text, hard, sentences, passage.held, source.paths),
        is_negated_otherwise=contradictions.is_negated_otherwise(text, quoted),
        opposites=contradictions.opposites(text, quoted),
    )


def _quote(passage: Passage, quoted: str) -> Quote:
    return Quote(passage.place, passage.start, passage.end, hashed(quoted))
