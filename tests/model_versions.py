"""Add versions of nodes to a store as a model would, without a model."""

from dataclasses import replace
from datetime import UTC, datetime

from memtui.model.events import content_hash, to_ms
from memtui.model.nodes import Bullet, BulletKind, GenerationStats, TocNode
from memtui.model.verdicts import (
    EventQuote,
    Objection,
    Support,
    Verdict,
    VerdictFeatures,
)
from memtui.store import database, nodes, versions
from tests.tables import NodeRow

MODEL = "qwen3:4b"
DIGEST = "2bfd38a7daafc0ffee"
AT = datetime(2024, 2, 20, 3, 30, tzinfo=UTC)
"""The time at which the versions are made."""

STATS = GenerationStats(
    model=MODEL,
    digest=DIGEST,
    server="0.12.3",
    prompt="1",
    requests=1,
    prompt_tokens=1204,
    reply_tokens=310,
    total_ms=12_400,
)


def weak_bullet(text: str, node: TocNode) -> Bullet:
    """Make a weak bullet: the source lacks a name and a number."""
    features = VerdictFeatures(0.5, 8, ("payments.py", "42"), ("payments.py", "42"))
    verdict = Verdict(Support.WEAK, features, ("session",), spans=_spans(node))
    return Bullet(text, node.bullets[0].grip_ids, verdict)


def _spans(node: TocNode) -> tuple[EventQuote, ...]:
    return node.bullets[0].verdict.spans


def unsupported_bullet(text: str) -> Bullet:
    """Make a bullet that no source supports, which is withheld."""
    features, objection = VerdictFeatures(0.1, 6), Objection.NO_SOURCE
    return Bullet(
        text,
        (),
        Verdict(Support.UNSUPPORTED, features, is_by_model=True, objection=objection),
    )


def add_model_version(
    node_id: str,
    headline: str,
    *,
    rejected: str = "",
    held: tuple[Bullet, ...] = (),
    with_weak: str = "",
) -> TocNode:
    """Add a model's version of a node, which is shown unless it is rejected.

    Args:
        node_id: The node.
        headline: The headline; the bullets are three supported ones of the shown one.
        rejected: The reason, if it is rejected.
        held: The withheld bullets.
        with_weak: The text of a weak bullet, which comes first.
    """
    with database.transaction():
        before = nodes.get(node_id)
        assert before is not None
        sound = [
            replace(bullet, kind=BulletKind.NOTE)
            for bullet in before.bullets
            if bullet.support is Support.SUPPORTED
        ]
        bullets = tuple(sound[:3])
        if with_weak:
            bullets = (weak_bullet(with_weak, before), *bullets)
        node = replace(
            before,
            headline=headline,
            bullets=bullets,
            withheld=held,
            summarizer=f"ollama-1 {MODEL} {DIGEST[:12]}",
            input_hash=content_hash(MODEL, headline, before.input_hash),
            generation=STATS,
            rejection=rejected,
        )
        versions.add_from_model(node, to_ms(AT))
        NodeRow.update(needs_model=False).where(NodeRow.node_id == node_id).execute()
        latest = nodes.list_versions(node_id)[0]
        made = nodes.get_version(node_id, latest.version)
    assert made is not None
    return made
