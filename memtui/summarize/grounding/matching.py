"""Holding: a bullet, or a piece of one, against the passage that says most of it."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from memtui.model.verdicts import (
    SourceQuote,
    Support,
    Verdict,
    VerdictFeatures,
    hash_quote,
)
from memtui.summarize.grounding import details, negation
from memtui.text.passages import Passage, Passages

_WORSE = tuple(Support)


def worst(found: Collection[Support]) -> Support:
    """The worst of some verdicts."""
    return max(found, key=_WORSE.index)


def is_as_good(one: Verdict, other: Verdict) -> bool:
    """Whether a verdict is no worse than another."""
    return _WORSE.index(one.support) <= _WORSE.index(other.support)


def by_passage(
    text: str, source: Passages, places: Collection[int] | None = None
) -> Verdict:
    """The verdict on a text by its best passage.

    Args:
        text: What is looked for.
        source: Where.
        places: The texts that may hold it; any if None.
    """
    passage = source.best(text, places)
    if passage is None:
        hard = details.of(text)
        return Verdict(Support.UNSUPPORTED, VerdictFeatures(hard=hard, missing=hard))
    features = _features(text, passage, source)
    return Verdict(
        support=features.support,
        features=features,
        matched=tuple(sorted(passage.held)),
        quotes=(_quote(passage, source.text(passage)),),
    )


def joined(parts: Sequence[Verdict]) -> Verdict:
    """The verdict on a bullet of pieces that stand apart: that on the worst of them."""
    every = [part.features for part in parts]
    terms = sum(one.terms for one in every)
    covered = sum(one.covered * one.terms for one in every) / (terms or 1)
    return Verdict(
        support=worst([part.support for part in parts]),
        features=VerdictFeatures(
            covered=covered,
            terms=terms,
            hard=tuple(token for one in every for token in one.hard),
            missing=tuple(token for one in every for token in one.missing),
            negation_differs=any(one.negation_differs for one in every),
            opposites=tuple(pair for one in every for pair in one.opposites),
        ),
        matched=tuple(dict.fromkeys(term for part in parts for term in part.matched)),
        quotes=tuple(dict.fromkeys(quote for part in parts for quote in part.quotes)),
    )


def _features(text: str, passage: Passage, source: Passages) -> VerdictFeatures:
    quoted, hard = source.text(passage), details.of(text)
    sentences = source.sentences(passage)
    features = VerdictFeatures(
        covered=passage.covered,
        terms=len(source.weights(text)),
        hard=hard,
        missing=details.missing(text, hard, sentences, passage.held, source.paths),
        negation_differs=negation.is_negated_otherwise(text, quoted),
        opposites=negation.opposites(text, quoted),
    )
    if features.support is not Support.SUPPORTED:
        return features
    added = negation.overstated(text, quoted) or details.unsaid(text, passage.held)
    return replace(features, missing=added) if added else features


def _quote(passage: Passage, quoted: str) -> SourceQuote:
    return SourceQuote(passage.place, passage.start, passage.end, hash_quote(quoted))
