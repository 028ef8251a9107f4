"""Doubts: what speaks against a bullet, in words a reader can weigh."""

from collections.abc import Iterator, Sequence

from memtui.memory.verdicts import SUPPORTED_SHARE, Support, Verdict

NO_SOURCE = "no source says this"

SHOWN = 5
"""How many of a bullet's words are named."""


def of(verdict: Verdict) -> list[str]:
    """What speaks against a bullet; nothing against one that is supported.

    Args:
        verdict: What its audit found.
    """
    if verdict.support is Support.UNSUPPORTED:
        return [NO_SOURCE]
    return list(_weak(verdict)) if verdict.support is Support.WEAK else []


def _weak(verdict: Verdict) -> Iterator[str]:
    features = verdict.features
    if features.missing:
        yield f"not in the source: {_some(features.missing)}"
    for mine, other in features.opposites[:SHOWN]:
        yield f"the source says “{other}”, not “{mine}”"
    if features.is_negated_otherwise:
        yield "the source says “not” where this does not, or the other way round"
    if features.covered < SUPPORTED_SHARE:
        yield f"{features.covered:.0%} of its wording is in the source"


def _some(words: Sequence[str]) -> str:
    more = f" and {len(words) - SHOWN} more" if len(words) > SHOWN else ""
    return ", ".join(words[:SHOWN]) + more
