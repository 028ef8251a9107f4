"""Audit: whether the wording of a bullet is found in what it cites.

A bullet is **unsupported** when too little of its weighted wording stands in any one
passage of its source; **weak** when much does but not enough, or when a name or a
number is missing there, a "not" stands on one side alone, an opposite is said, a clause
of its own is not, or it says next to nothing; else **supported**. A deed has to be one
of the source's. That is wording found in the source, never truth.
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
)
from memtui.summarize.grounding import actions, details, matching
from memtui.summarize.grounding.actions import EventPassages
from memtui.text import analyzer
from memtui.text.passages import PassageIndex

GROUNDING_VERSION = "audit-3"
"""The name to record with verdicts: other limits or features, another name."""

PART_TERMS = 4
"""Fewer terms are no clause that could be looked for alone."""

_CUTS = (
    re.compile(r"[;；。]\s*(?=\S)|(?<=[.!?])\s+"),
    re.compile(r", (?:and|but|und|aber) |，(?=\S)"),
    re.compile(r" (?:and|but|und|aber) "),
)
"""Where a bullet of several clauses is cut, the plainest cut first."""


@dataclass(frozen=True, slots=True)
class ChildBullet:
    """A child's bullet, as its parent's are held against it."""

    text: str
    verdict: Verdict = SUPPORTED
    """What its own audit found."""
    leaves: tuple[Event, ...] = ()
    """The events behind its grips; needed only for bullets that word it otherwise."""


def check_against_events(
    claims: Sequence[DraftBullet], events: Sequence[Event]
) -> list[Verdict]:
    """Audit a segment's bullets.

    Args:
        claims: The bullets; their ``refs`` are places in ``events``.
        events: The events of the segment in their order, the overlap left out.

    Returns:
        A verdict for each; the places of its quotes are those of the events.
    """
    source = EventPassages(events)
    return [
        with_event_quotes(one, events) for one in check_against_texts(claims, source)
    ]


def with_event_quotes(verdict: Verdict, events: Sequence[Event]) -> Verdict:
    """A verdict with its quotes as stretches of these events, its source."""
    spans = (
        EventQuote(events[one.index].event_id, one.start, one.end, one.text_hash)
        for one in verdict.quotes
    )
    return replace(verdict, spans=tuple(spans))


def check_against_texts(
    claims: Sequence[DraftBullet], source: PassageIndex
) -> list[Verdict]:
    """Audit bullets against any texts, their ``refs`` being places in these."""
    return [_audited(claim, source) for claim in claims]


def check_against_children(
    claims: Sequence[DraftBullet], below: Sequence[ChildBullet]
) -> list[Verdict]:
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
    row: PassageIndex | None = None
    found: list[Verdict] = []
    for claim in claims:
        if claim.text in said:
            cited = (at for at in claim.refs if _says(below, at, claim.text))
            found.append(_taken_over(below, next(cited, said[claim.text])))
        else:
            row = row or PassageIndex([one.text for one in below])
            found.append(_reworded(claim, row, below))
    return found


def _says(below: Sequence[ChildBullet], at: int, text: str) -> bool:
    return 0 <= at < len(below) and below[at].text == text


def _taken_over(below: Sequence[ChildBullet], at: int) -> Verdict:
    text = below[at].text
    quote = SourceQuote(at, 0, len(text), hash_quote(text))
    return replace(below[at].verdict, quotes=(quote,), is_repaired=False)


def _reworded(
    claim: DraftBullet, row: PassageIndex, below: Sequence[ChildBullet]
) -> Verdict:
    verdict = _audited(claim, row)
    rests_on = [below[place] for place in sorted({q.index for q in verdict.quotes})]
    found = [verdict.support, *(one.verdict.support for one in rests_on)]
    spans = [span for one in rests_on for span in one.verdict.spans]
    leaves = list({e.event_id: e for one in rests_on for e in one.leaves}.values())
    if leaves:
        (held,) = check_against_events([DraftBullet(claim.text)], leaves)
        found.append(held.support)
        spans = list(held.spans) or spans
    support = matching.worst(found)
    return replace(verdict, support=support, spans=tuple(dict.fromkeys(spans)))


def _audited(claim: DraftBullet, source: PassageIndex) -> Verdict:
    anywhere = _anywhere(claim.text, source)
    cited = {at for at in claim.refs if 0 <= at < len(source.texts)}
    if not cited or {quote.index for quote in anywhere.quotes} <= cited:
        return anywhere
    there = _verdict(claim.text, source, cited)
    if matching.is_as_good(there, anywhere):
        return there
    return replace(anywhere, is_repaired=True)


@lru_cache(maxsize=1)
def _anywhere(text: str, source: PassageIndex) -> Verdict:
    """Remembered for whoever asks again of a claim, citing other places."""
    return _verdict(text, source, None)


def _verdict(
    text: str, source: PassageIndex, places: Collection[int] | None
) -> Verdict:
    proved = actions.check_action_claims(text, source, places)
    if proved is not None:
        is_sure = proved.support is Support.SUPPORTED
        return proved if is_sure else _quoted(text, source, places) or proved
    found = _by_wording(text, source, places)
    if found.support is Support.SUPPORTED and details.says_too_little(text):
        return replace(found, support=Support.WEAK)
    return found


def _by_wording(
    text: str, source: PassageIndex, places: Collection[int] | None
) -> Verdict:
    whole = matching.match_passage(text, source, places)
    if whole.support is Support.SUPPORTED:
        return whole
    if quoted := _quoted(text, source, places):
        return quoted
    parts = _parts(text)
    if len(parts) > 1:
        apart = matching.combine(
            [matching.match_passage(part, source, places) for part in parts]
        )
        if apart.support is Support.SUPPORTED:
            return apart
    return whole


def _quoted(
    text: str, source: PassageIndex, places: Collection[int] | None
) -> Verdict | None:
    """The verdict on a bullet that stands word for word in its source."""
    found = source.verbatim(text, places)
    if found is None:
        return None
    place, start, end = found
    matched = analyzer.terms(text)
    told = VerdictFeatures(1.0, len(set(matched)), details.find_details(text))
    quote = SourceQuote(place, start, end, hash_quote(source.texts[place][start:end]))
    return Verdict(told.support, told, tuple(sorted(set(matched))), (quote,))


def _parts(text: str) -> list[str]:
    """The clauses of a bullet that could each rest on a passage of its own."""
    for cut in _CUTS:
        parts = cut.split(text)
        if len(parts) > 1:
            break
    else:
        return []
    if any(len(analyzer.query_terms(part)) < PART_TERMS for part in parts):
        return []
    return parts
