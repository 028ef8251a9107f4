"""Bullets with their verdicts, as ``show`` prints them for people and for programs."""

from collections.abc import Iterator
from typing import Any

from memtui.memory import reasons
from memtui.memory.toc import Bullet, TocNode
from memtui.memory.verdicts import Support
from memtui.shell import output

MARKS = {Support.SUPPORTED: "✓", Support.WEAK: "~", Support.UNSUPPORTED: "✗"}


def lines(bullet: Bullet) -> Iterator[str]:
    """A bullet behind its mark, why it has that, and its grips."""
    yield f"{MARKS[bullet.support]} {bullet.text}"
    if why := reasons.of(bullet):
        yield f"    {why}"
    for grip_id in bullet.grip_ids:
        yield f"    {grip_id}"


def as_plain(node: TocNode | None) -> dict[str, Any] | None:
    """A node in JSON's own types, its bullets each with what its audit found."""
    if node is None:
        return None
    told: dict[str, Any] = output.plain(node)
    for name, bullets in (("bullets", node.bullets), ("withheld", node.withheld)):
        told[name] = [_told(bullet) for bullet in bullets]
    told["is_models"] = node.is_models
    return told


def _told(bullet: Bullet) -> dict[str, Any]:
    verdict, features = bullet.verdict, bullet.verdict.features
    return {
        "text": bullet.text,
        "grip_ids": list(bullet.grip_ids),
        "support": bullet.support.value,
        "covered": features.covered,
        "terms": features.terms,
        "hard": list(features.hard),
        "missing": list(features.missing),
        "negated": features.is_negated_otherwise,
        "opposites": output.plain(features.opposites),
        "matched": list(verdict.matched),
        "quotes": output.plain(verdict.spans),
        "repaired": verdict.is_repaired,
    }
