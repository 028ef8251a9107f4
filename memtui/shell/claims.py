"""Bullets with their verdicts, as ``show`` prints them for people and for programs."""

from collections.abc import Iterable, Iterator

from memtui.memory.audit import reasons
from memtui.memory.replies import Plain
from memtui.memory.replies.fencing import line as neutral
from memtui.memory.toc import Bullet, TocNode
from memtui.memory.verdicts import Support
from memtui.recall import itemising
from memtui.shell import output

MARKS = {Support.SUPPORTED: "✓", Support.WEAK: "~", Support.UNSUPPORTED: "✗"}


def lines(bullet: Bullet) -> Iterator[str]:
    """A bullet behind its mark, why it has that, and its grips."""
    yield f"{MARKS[bullet.support]} {bullet.text}"
    if why := reasons.of(bullet):
        yield f"    {why}"
    for grip_id in bullet.grip_ids:
        yield f"    {grip_id}"


def parts(node: TocNode) -> list[Plain]:
    """A version's bullets, then what is withheld, with what their audit found."""
    told = [_told(bullet) for bullet in node.bullets]
    return told + [_told(bullet) | {"is_withheld": True} for bullet in node.withheld]


def _told(bullet: Bullet) -> Plain:
    verdict, features = bullet.verdict, bullet.verdict.features
    return itemising.bullet(bullet) | {
        "covered": features.covered,
        "terms": features.terms,
        "hard": _neutral(features.hard),
        "missing": _neutral(features.missing),
        "negated": features.is_negated_otherwise,
        "opposites": [_neutral(pair) for pair in features.opposites],
        "matched": _neutral(verdict.matched),
        "quotes": output.plain(verdict.spans),
        "repaired": verdict.is_repaired,
    }


def _neutral(said: Iterable[str]) -> list[str]:
    return [neutral(word) for word in said]
