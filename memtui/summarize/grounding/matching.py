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
from memtui.text.passages import Passage, PassageIndex

_WORSE = tuple(Support)


def worst(found: Collection[Support]) -> Support:
    """The worst of some verdicts."""
    return max(found, key=_WORSE.index)


def is_as_good(one: Verdict, other: Verdict) -> bool:
    """Whether a verdict is no worse than another."""
    return _WORSE.index(one.support) <= _WORSE.index(other.support)


def match_passage(
    text: str, source: PassageIndex, places: Collection[int] | None = None
) -> Verdict:
    """The verdict on a text by its best passage.

    Args:
        text: What is looked for.
        source: Where.
        places: The texts that may hold it; any if None.
    """
    passage = source.best(text, places)
    if passage is None:
        hard = details.find_details(text)
        return Verdict(Support.UNSUPPORTED, VerdictFeatures(hard=hard, missing=hard))
    features = _features(text, passage, source)
    return Verdict(
        support=features.support,
        features=features,
        matched=tuple(sorted(passage.matched)),
        quotes=(_quote(passage, source.text(passage)),),
    )


def combine(parts: Sequence[Verdict]) -> Verdict:
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


def _features(text: str, passage: Passage, source: PassageIndex) -> VerdictFeatures:
    quoted, hard = source.text(passage), details.find_details(text)
    sentences = source.sentences(passage)
    features = VerdictFeatures(
        covered=passage.coverage,
        terms=len(source.weights(text)),
        hard=hard,
        missing=details.missing_details(
            text, hard, sentences, passage.matched, source.paths
        ),
        negation_differs=negation.negation_differs(text, quoted),
        opposites=negation.find_opposites(text, quoted),
    )
    if features.support is not Support.SUPPORTED:
        return features
    added = negation.overstated_words(text, quoted) or details.unsupported_words(
        text, passage.matched
    )
    return replace(features, missing=added) if added else features


def _quote(passage: Passage, quoted: str) -> SourceQuote:
    return SourceQuote(
        passage.text_index, passage.start, passage.end, hash_quote(quoted)
    )
