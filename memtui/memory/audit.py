"""Audit: whether the wording of a bullet is found in what it cites.

A bullet is **unsupported** when too little of its weighted wording stands in any one
passage of its source; **weak** when much does but not enough, or when a name or a
number is missing there, a "not" stands on one side alone, or an opposite is said;
else **supported**. That is wording found in the source, never truth.
"""

import hashlib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from memtui.memory import contradictions, deeds, particulars, words
from memtui.memory.events import Event
from memtui.memory.passages import Passage, Passages
from memtui.memory.segments import counted_text
from memtui.memory.summaries import Claim

RULE = "audit-1"
"""The name to record with verdicts: other limits or features, another name."""

WEAK_SHARE = 0.35
"""Below this share of its weighted wording a bullet is unsupported."""

SUPPORTED_SHARE = 0.60
"""From this share on it is supported, if nothing speaks against it."""

HASH_BYTES = 16
"""How long the hash of a quoted text is, in bytes."""

PART_TERMS = 4
"""Fewer terms are no clause that could be looked for alone."""

_CUTS = (
    re.compile(r"[;；。]\s*(?=\S)|(?<=[.!?])\s+"),
    re.compile(r", (?:and|but|und|aber) |，(?=\S)"),
    re.compile(r" (?:and|but|und|aber) "),
)
"""Where a bullet of several clauses is cut, the plainest cut first."""


class Support(StrEnum):
    """How much of a bullet's wording its source holds."""

    SUPPORTED = "supported"
    WEAK = "weak"
    UNSUPPORTED = "unsupported"


_WORSE = tuple(Support)


@dataclass(frozen=True, slots=True)
class Features:
    """What a verdict follows from, kept so that its limits can be set anew."""

    covered: float = 0.0
    """The share of the bullet's weighted wording that the passage holds: 0 to 1."""
    terms: int = 0
    """How many terms the bullet has."""
    hard: tuple[str, ...] = ()
    """The bullet's names and numbers."""
    missing: tuple[str, ...] = ()
    """Those of them that the passage lacks."""
    is_negated_otherwise: bool = False
    opposites: tuple[tuple[str, str], ...] = ()
    """Words of the bullet, each with the opposite that the passage says instead."""

    @property
    def support(self) -> Support:
        """The verdict they give."""
        if self.covered < WEAK_SHARE:
            return Support.UNSUPPORTED
        is_against = self.missing or self.is_negated_otherwise or self.opposites
        if is_against or self.covered < SUPPORTED_SHARE:
            return Support.WEAK
        return Support.SUPPORTED


@dataclass(frozen=True, slots=True)
class Quote:
    """The stretch of the source that a bullet rests on."""

    place: int
    """Which of the texts it stands in."""
    start: int
    end: int
    """Offsets of characters in that text."""
    text_hash: str
    """BLAKE2b of the quoted text, which shows later that it still says the same."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the audit found of one bullet."""

    support: Support
    features: Features = Features()
    matched: tuple[str, ...] = ()
    """The bullet's terms that the source holds, for ``words.spans`` to mark."""
    quotes: tuple[Quote, ...] = ()
    """The closest wording there is: one passage, or one for each clause or deed; none
    when no word of the bullet is said."""
    is_repaired: bool = False
    """Whether another text supports it better than those it cites."""


@dataclass(frozen=True, slots=True)
class Below:
    """A child's bullet, as its parent's are held against it."""

    text: str
    support: Support = Support.SUPPORTED
    """What its own audit found."""
    leaves: tuple[str, ...] = ()
    """The texts of the events behind its grips."""


def of_events(claims: Sequence[Claim], events: Sequence[Event]) -> list[Verdict]:
    """Audit a segment's bullets.

    Args:
        claims: The bullets; their ``refs`` are places in ``events``.
        events: The events of the segment in their order, the overlap left out.

    Returns:
        A verdict for each; the places of its quotes are those of the events.
    """
    return of_texts(claims, Passages([counted_text(event) for event in events]))


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
        quotes are; that on those it rests on; and, unless it is one of them word for
        word, against the events behind their grips, if there are any.
    """
    told = of_texts(claims, Passages([one.text for one in below]))
    return [
        _with_leaves(claim.text, verdict, below)
        for claim, verdict in zip(claims, told, strict=True)
    ]


def _with_leaves(text: str, verdict: Verdict, below: Sequence[Below]) -> Verdict:
    rests_on = [below[place] for place in sorted({q.place for q in verdict.quotes})]
    leaves = [leaf for one in rests_on for leaf in one.leaves]
    found = [verdict.support, *(one.support for one in rests_on)]
    if leaves and all(one.text != text for one in rests_on):
        found.append(_audited(Claim(text), Passages(leaves)).support)
    return replace(verdict, support=max(found, key=_WORSE.index))


def _audited(claim: Claim, source: Passages) -> Verdict:
    anywhere = _verdict(claim.text, source, None)
    cited = {at for at in claim.refs if 0 <= at < len(source.texts)}
    if not cited or {quote.place for quote in anywhere.quotes} <= cited:
        return anywhere
    there = _verdict(claim.text, source, cited)
    if _WORSE.index(there.support) <= _WORSE.index(anywhere.support):
        return there
    return replace(anywhere, is_repaired=True)


def _verdict(text: str, source: Passages, places: Collection[int] | None) -> Verdict:
    whole = _held_by(text, source, places)
    if whole.support is Support.SUPPORTED:
        return whole
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


def _features(text: str, passage: Passage, source: Passages) -> Features:
    quoted, hard = source.text(passage), particulars.of(text)
    sentences = source.sentences(passage)
    return Features(
        covered=passage.covered,
        terms=len(source.weights(text)),
        hard=hard,
        missing=particulars.missing(text, hard, sentences, passage.held),
        is_negated_otherwise=contradictions.is_negated_otherwise(text, quoted),
        opposites=contradictions.opposites(text, quoted),
    )


def _quote(passage: Passage, quoted: str) -> Quote:
    digest = hashlib.blake2b(
        quoted.encode("utf-8", "replace"), digest_size=HASH_BYTES
    ).hexdigest()
    return Quote(passage.place, passage.start, passage.end, digest)
