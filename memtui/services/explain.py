"""Explain in one line why a bullet is weak or unsupported.

Explanations are only about wording, not about whether a bullet is true. Modules of
grounding are imported when needed, since the app starts faster without them.
"""

from collections.abc import Iterator, Sequence

from memtui.model.nodes import Bullet
from memtui.model.verdicts import SUPPORTED_SHARE, WEAK_SHARE, Support, VerdictFeatures
from memtui.text import analyzer

MAX_REASONS = 2
"""The most reasons, and the most names, that are given."""

MOVED = "linked to a better source than the one it cited"


def explain_verdict(bullet: Bullet) -> str:
    """Explain why a bullet is weak, not accepted or was moved to another source.

    Returns:
        A line; "" for a supported bullet with the source it cited.
    """
    if bullet.verdict.objection:
        return f"not accepted: {bullet.verdict.objection}"
    features = bullet.verdict.features
    moved = (MOVED,) if bullet.verdict.is_repaired and bullet.has_support else ()
    match bullet.support:
        case Support.SUPPORTED:
            return "".join(moved)
        case Support.WEAK:
            from memtui.summarize.grounding import matching

            reasons = [*_list_weaknesses(bullet)][:MAX_REASONS]
            if not reasons and matching.says_too_little(bullet.text):
                reasons = ["too short to check"]
            reasons = reasons or ["not all of it is in the source"]
            return f"weak: {'; '.join((*reasons, *moved))}"
        case _:
            reason = "part of it is not in the source"
            if not features.covered:
                reason = "nothing like it is in the source"
            elif features.covered < WEAK_SHARE:
                reason = f"only {_percent(features)} of its wording is in the source"
            return f"unsupported: {reason}"


def explain_contradiction(bullet: Bullet) -> str:
    """Name the bullet of the same node that contradicts one; "" if there is none."""
    other = bullet.verdict.contradiction
    return f"contradicts “{other}”" if other else ""


def _list_weaknesses(bullet: Bullet) -> Iterator[str]:
    """Yield what the source lacks or contradicts, the clearest first."""
    from memtui.summarize.grounding import negation

    features = bullet.verdict.features
    if features.missing:
        yield f"not in the source: {_names(bullet.text, features.missing)}"
    if features.negation_differs:
        if negation.has_negation(bullet.text):
            yield "negated differently in the source"
        else:
            yield "negated in the source"
    if features.opposites:
        word = _word_of_stem(bullet.text, features.opposites[0][0])
        yield f"the source says the opposite of “{word}”"
    yield from features.conflicts
    if features.covered < SUPPORTED_SHARE:
        yield f"{_percent(features)} of its wording is in the source"


def _percent(features: VerdictFeatures) -> str:
    return f"{int(features.covered * 100)} %"


def _names(text: str, tokens: Sequence[str]) -> str:
    shown = [f"“{_as_in_text(text, token)}”" for token in tokens[:MAX_REASONS]]
    if more := len(tokens) - len(shown):
        return f"{', '.join(shown)} and {more} more"
    return " and ".join(shown)


def _as_in_text(text: str, token: str) -> str:
    """Return a name or number as the text writes it; numbers are stored as digits."""
    if token in text:
        return token
    from memtui.summarize.grounding import numbers

    for word in analyzer.words(numbers.separate_numbers(text)):
        if numbers.to_digits(word) == token:
            return word
    return token


def _word_of_stem(text: str, stem: str) -> str:
    found = analyzer.find_spans(text, {stem})
    return text[slice(*found[0])] if found else stem
