"""Why a bullet has the mark it has, in a line that a newcomer understands.

What is said is about wording alone: whether a bullet is true nobody has looked at.
"""

from collections.abc import Iterator, Sequence

from memtui.model.nodes import Bullet
from memtui.model.verdicts import SUPPORTED_SHARE, WEAK_SHARE, Support, VerdictFeatures
from memtui.text import analyzer

MOST = 2
"""The most that is said of one bullet, and the most names that are listed."""

MOVED = "moved to a better source than the one it named"


def explain_verdict(bullet: Bullet) -> str:
    """Why it is weak or unsupported, or rests elsewhere than it named; "" for neither.

    Args:
        bullet: A bullet with what its audit found.
    """
    moved = (MOVED,) if bullet.verdict.is_repaired and bullet.has_support else ()
    match bullet.support:
        case Support.SUPPORTED:
            return "".join(moved)
        case Support.WEAK:
            told = [*_against(bullet), *_too_little(bullet.verdict.features)][:MOST]
            told = told or [_otherwise(bullet)]
            return f"weak: {'; '.join((*told, *moved))}"
        case _:
            return f"unsupported: {_nothing(bullet.verdict.features)}"


def _against(bullet: Bullet) -> Iterator[str]:
    """What speaks against it, the plainest first."""
    from memtui.summarize.grounding import negation

    features = bullet.verdict.features
    if features.missing:
        yield f"the source says it without {_names(bullet.text, features.missing)}"
    if features.negation_differs:
        if negation.has_negation(bullet.text):
            yield "the source says it without this “not”, or with another"
        else:
            yield "the source says it with a “not”"
    if features.opposites:
        word = _as_written(bullet.text, features.opposites[0][0])
        yield f"the source says the opposite of “{word}”"


def _otherwise(bullet: Bullet) -> str:
    from memtui.summarize.grounding import details

    if details.says_too_little(bullet.text):
        return "it says too little to be looked for"
    return "not all of it is in the source"


def _too_little(features: VerdictFeatures) -> Iterator[str]:
    if features.covered < SUPPORTED_SHARE:
        yield f"{_percent(features)} of its wording is in the source"


def _nothing(features: VerdictFeatures) -> str:
    if not features.covered:
        return "the source says nothing of it"
    if features.covered < WEAK_SHARE:
        return f"only {_percent(features)} of its wording is in the source"
    return "a part of it is not in the source"


def _percent(features: VerdictFeatures) -> str:
    return f"{int(features.covered * 100)} %"


def _names(text: str, tokens: Sequence[str]) -> str:
    shown = [f"“{_spelled(text, token)}”" for token in tokens[:MOST]]
    if more := len(tokens) - len(shown):
        return f"{', '.join(shown)} and {more} more"
    return " and ".join(shown)


def _spelled(text: str, token: str) -> str:
    """A name or number as a text writes it; numbers are kept as figures."""
    if token in text:
        return token
    from memtui.summarize.grounding import numbers

    for chunk in analyzer.words(numbers.separate_numbers(text)):
        if numbers.to_digits(chunk) == token:
            return chunk
    return token


def _as_written(text: str, stem: str) -> str:
    """A word of a text as it stands there; opposites are kept as stems."""
    found = analyzer.find_spans(text, {stem})
    return text[slice(*found[0])] if found else stem
