"""Versions of nodes: only ever added, each with its bullets and their grips."""

import json
from collections.abc import Sequence
from dataclasses import astuple
from datetime import datetime, tzinfo
from typing import Any

from peewee import fn

from memtui.model import calendar
from memtui.model.events import from_ms, to_ms
from memtui.model.nodes import Bullet, NodeStatus, TocNode
from memtui.model.summaries import Keyword
from memtui.model.verdicts import EventQuote, Support, Verdict, VerdictFeatures
from memtui.store import outbox, rollup_queue
from memtui.store.database import insert, next_id
from memtui.store.schema import (
    BulletGripRow,
    BulletRow,
    GenerationRow,
    NodeRow,
    VersionRow,
)
from memtui.summarize.grounding import claims


def verdict_to_json(verdict: Verdict) -> str:
    """A verdict's features, matched words and quotes; what is empty is left out."""
    features = verdict.features
    told: dict[str, Any] = {
        "covered": round(features.covered, 4),
        "terms": features.terms,
        "hard": features.hard,
        "missing": features.missing,
        "negated": features.negation_differs,
        "opposites": features.opposites,
        "matched": verdict.matched,
        "spans": [(s.event_id, s.start, s.end, s.text_hash) for s in verdict.spans],
        "repaired": verdict.is_repaired,
    }
    kept = {name: value for name, value in told.items() if value}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))


def verdict_from_json(support: str, kept: str) -> Verdict:
    """A verdict as it was kept."""
    told = json.loads(kept)
    return Verdict(
        support=Support(support),
        features=VerdictFeatures(
            covered=told.get("covered", 0.0),
            terms=told.get("terms", 0),
            hard=tuple(told.get("hard", ())),
            missing=tuple(told.get("missing", ())),
            negation_differs=told.get("negated", False),
            opposites=tuple((one, other) for one, other in told.get("opposites", ())),
        ),
        matched=tuple(told.get("matched", ())),
        spans=tuple(EventQuote(*one) for one in told.get("spans", ())),
        is_repaired=told.get("repaired", False),
    )


PAGE_ROWS = 1000
"""How many versions somebody who follows the tree is told of at once."""


def add(nodes: Sequence[tuple[TocNode, bool]], now_ms: int) -> None:
    """Add a version of each node, made at once from what there is, and show it.

    A pinned version stays the one that is shown. What is no longer going on wants a
    version by a model from then on.

    Args:
        nodes: Each node, and whether something in it is still going on. Versions and
            times of making are given here.
        now_ms: The time, in milliseconds.
    """
    names = [node.node_id for node, _ in nodes]
    pins, asked = _pinned(names), _asked(names)
    rows = _add([node for node, _ in nodes], now_ms)
    insert(
        NodeRow,
        [
            (
                node.node_id,
                node.level.value,
                calendar.parent_id(node.node_id),
                to_ms(node.start_time),
                pins.get(node.node_id, row),
                False,
                is_live,
                0,
                0,
                node.node_id in pins,
                node.node_id in pins,
                node.status is not NodeStatus.PROVISIONAL,
                0,
                0,
                asked.get(node.node_id, 0),
            )
            for row, (node, is_live) in zip(rows, nodes, strict=True)
        ],
        conflict="update",
    )


def add_from_model(node: TocNode, now_ms: int) -> bool:
    """Add a model's version of a node; show it unless it is rejected, or one is pinned.

    Args:
        node: The version; why it is rejected stands in it.
        now_ms: The time, in milliseconds.

    Returns:
        Whether it is the one that is shown now.
    """
    (row,) = _add([node], now_ms)
    return False if node.rejection else set_latest(node.node_id, row)


def set_latest(node_id: str, row: int) -> bool:
    """Show a version unless another one is pinned; whether it is shown now.

    Args:
        node_id: The node.
        row: The version's number in the store.
    """
    changed = NodeRow.update(latest=row).where(
        NodeRow.node_id == node_id, ~NodeRow.is_pinned
    )
    return bool(changed.execute())


def get_input_hashes(node_ids: Sequence[str]) -> dict[str, str]:
    """What the latest versions that no model wrote of nodes in the tree follow from."""
    shown = NodeRow.select(NodeRow.node_id).where(
        NodeRow.node_id.in_(list(node_ids)), NodeRow.latest.is_null(False)
    )
    rows = (
        VersionRow.select(
            VersionRow.node_id,
            # SQLite answers with the row that has the greatest version.
            VersionRow.input_hash,
            fn.MAX(VersionRow.version),
        )
        .where(VersionRow.node_id.in_(shown), ~VersionRow.is_by_model)
        .group_by(VersionRow.node_id)
    )
    return {name: hashed for name, hashed, _ in rows.tuples()}


def find_from_model(node_id: str, input_hash: str) -> tuple[int, str] | None:
    """A model's version of a node that was made from the same before.

    Returns:
        Its number in the store, and why it was rejected; None if there is none.
    """
    rows = VersionRow.select(VersionRow.id, VersionRow.rejection).where(
        VersionRow.node_id == node_id,
        VersionRow.is_by_model,
        VersionRow.input_hash == input_hash,
    )
    found = rows.order_by(VersionRow.version.desc()).tuples().first()
    return (int(found[0]), str(found[1])) if found else None


def latest_id() -> int:
    """The number of the latest version there is; 0 if there is none."""
    return next_id(VersionRow) - 1


def list_since(version: int) -> tuple[int, list[str]]:
    """The nodes that have a version later than one, and the latest version there is.

    Args:
        version: A number this function gave; 0 for all there are.
    """
    rows = (
        VersionRow.select(VersionRow.id, VersionRow.node_id)
        .where(VersionRow.id > version)
        .order_by(VersionRow.id)
        .limit(PAGE_ROWS)
        .tuples()
    )
    found = list(rows)
    return (found[-1][0] if found else version), [name for _, name in found]


def keywords_to_json(keywords: Sequence[Keyword]) -> str:
    """Keywords as a version keeps them: JSON of words, origins and weights."""
    return _json([(k.word, k.origin.value, k.weight) for k in keywords])


def _pinned(node_ids: Sequence[str]) -> dict[str, int]:
    """The numbers of the versions that are pinned among these nodes'."""
    rows = NodeRow.select(NodeRow.node_id, NodeRow.latest).where(
        NodeRow.node_id.in_(list(node_ids)), NodeRow.is_pinned
    )
    return dict(rows.tuples())


def _asked(node_ids: Sequence[str]) -> dict[str, int]:
    """When a person asked for another version of some of these nodes."""
    rows = NodeRow.select(NodeRow.node_id, NodeRow.requested_ms).where(
        NodeRow.node_id.in_(list(node_ids)), NodeRow.requested_ms > 0
    )
    return dict(rows.tuples())


def _add(nodes: Sequence[TocNode], now_ms: int) -> list[int]:
    """Add versions; their numbers in the store."""
    before = _last_versions([node.node_id for node in nodes])
    first = next_id(VersionRow)
    numbered = list(enumerate(nodes, start=first))
    insert(
        VersionRow,
        [
            _version(row, node, before.get(node.node_id, 0) + 1, now_ms)
            for row, node in numbered
        ],
    )
    made = [
        (row, *astuple(node.generation)) for row, node in numbered if node.is_by_model
    ]
    insert(GenerationRow, made)
    _put_bullets(numbered)
    return [row for row, _ in numbered]


def _last_versions(node_ids: Sequence[str]) -> dict[str, int]:
    rows = (
        VersionRow.select(VersionRow.node_id, fn.MAX(VersionRow.version))
        .where(VersionRow.node_id.in_(list(node_ids)))
        .group_by(VersionRow.node_id)
    )
    return dict(rows.tuples())


def _version(row: int, node: TocNode, version: int, now_ms: int) -> tuple[object, ...]:
    """A row of ``VersionRow``, its values in the order of the columns."""
    tally = node.counts
    return (
        row,
        node.node_id,
        version,
        node.level.value,
        node.title,
        node.headline,
        to_ms(node.start_time),
        to_ms(node.end_time),
        keywords_to_json(node.keywords),
        _json(node.child_node_ids),
        node.status.value,
        node.summarizer,
        node.input_hash,
        now_ms,
        tally.segments,
        tally.events,
        tally.messages,
        tally.subagent_events,
        len(node.bullets),
        sum(bullet.support is Support.SUPPORTED for bullet in node.bullets),
        _json(node.agents),
        _json(node.projects),
        node.is_by_model,
        sum(bullet.support is Support.WEAK for bullet in node.bullets),
        len(node.withheld),
        sum(one.verdict.is_repaired for one in (*node.bullets, *node.withheld)),
        claims.GROUNDING_VERSION,
        node.rejection,
    )


def has_rejected(node_id: str) -> bool:
    """Whether a model's version of a node was rejected."""
    rows = VersionRow.select().where(
        VersionRow.node_id == node_id,
        VersionRow.is_by_model,
        VersionRow.rejection != "",
    )
    return bool(rows.exists())


def _put_bullets(versions: Sequence[tuple[int, TocNode]]) -> None:
    number = next_id(BulletRow)
    bullets: list[tuple[object, ...]] = []
    links: list[tuple[object, ...]] = []
    for version, node in versions:
        for position, bullet in enumerate((*node.bullets, *node.withheld)):
            is_withheld = position >= len(node.bullets)
            bullets.append(_bullet(number, version, position, bullet, is_withheld))
            grips = enumerate(bullet.grip_ids)
            links += [(number, place, grip_id) for place, grip_id in grips]
            number += 1
    insert(BulletRow, bullets)
    insert(BulletGripRow, links)


def _bullet(
    number: int, version: int, position: int, bullet: Bullet, is_withheld: bool
) -> tuple[object, ...]:
    """A row of ``BulletRow``, its values in the order of the columns."""
    verdict = bullet.verdict
    told = (verdict.support.value, is_withheld, verdict_to_json(verdict))
    return (number, version, position, bullet.text, *told)


def _json(values: Sequence[object]) -> str:
    return json.dumps(list(values), ensure_ascii=False)


def pin(node_id: str, version: int, zone: tzinfo, now_ms: int) -> bool:
    """Show a version of a node, whatever comes after it.

    Args:
        node_id: The node.
        version: The version, as the node counts them.
        zone: The store's time zone.
        now_ms: The time, in milliseconds.

    Returns:
        Whether there is such a version.
    """
    mine = VersionRow.node_id == node_id
    row = VersionRow.get_or_none(mine, VersionRow.version == version)
    if row is None:
        return False
    later = VersionRow.select().where(
        mine, VersionRow.version > version, ~VersionRow.is_by_model
    )
    return _point(
        node_id, row.id, zone, now_ms, is_pinned=True, is_outdated=later.exists()
    )


def unpin(node_id: str, zone: tzinfo, now_ms: int) -> bool:
    """Show the newest version of a node that was not rejected, now and from now on.

    Args:
        node_id: The node.
        zone: The store's time zone.
        now_ms: The time, in milliseconds.

    Returns:
        Whether there is one.
    """
    rows = VersionRow.select(VersionRow.id).where(
        VersionRow.node_id == node_id, VersionRow.rejection == ""
    )
    newest = rows.order_by(VersionRow.version.desc()).first()
    if newest is None:
        return False
    return _point(node_id, newest.id, zone, now_ms, is_pinned=False, is_outdated=False)


def request(node_id: str, now_ms: int) -> bool:
    """Ask for a new version by a model; who asks twice keeps the first place.

    Args:
        node_id: The node.
        now_ms: The time, in milliseconds.

    Returns:
        Whether there is such a node.
    """
    changed = NodeRow.update(needs_model=True, model_attempts=0, model_retry_ms=0)
    if not changed.where(NodeRow.node_id == node_id).execute():
        return False
    asked = NodeRow.update(requested_ms=now_ms)
    asked.where(NodeRow.node_id == node_id, NodeRow.requested_ms == 0).execute()
    outbox.add_nodes([node_id], now_ms)
    return True


def get_requested_at(node_id: str) -> datetime | None:
    """When a new version was asked for that is not made yet; None if none was."""
    row = NodeRow.get_or_none(NodeRow.node_id == node_id)
    return from_ms(row.requested_ms) if row and row.requested_ms else None


def _point(
    node_id: str,
    row: int,
    zone: tzinfo,
    now_ms: int,
    *,
    is_pinned: bool,
    is_outdated: bool,
) -> bool:
    """Point to a version, and have all that shows the node follow."""
    changed = NodeRow.update(latest=row, is_pinned=is_pinned, is_outdated=is_outdated)
    if not changed.where(NodeRow.node_id == node_id).execute():
        return False
    outbox.add_nodes([node_id], now_ms)
    if above := calendar.parent_id(node_id):
        rollup_queue.add([above], zone)
    return True
