"""Versions of nodes: each with its bullets and their grips, never changed.

Provisional versions are deleted when a later one replaces them: a live session makes
one of each node above it every few seconds.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple
from datetime import datetime, tzinfo
from typing import Any

from peewee import fn

from memtui.model import calendar
from memtui.model.citations import Grip
from memtui.model.events import from_ms, to_ms
from memtui.model.nodes import Bullet, NodeStatus, TocNode
from memtui.model.verdicts import EventQuote, Support, Verdict, VerdictFeatures
from memtui.store import outbox, rollup_queue
from memtui.store.database import IN_JSON, fetch, fetch_value, insert, next_id
from memtui.store.schema import (
    BulletGripRow,
    BulletRow,
    GenerationRow,
    GripRow,
    NodeRow,
    VersionRow,
)

PAGE_ROWS = 1000


_SHOWN_GRIPS = (
    "FROM nodes n JOIN bullets b ON b.version_id = n.latest_id"
    " JOIN bullet_grips l ON l.bullet_id = b.id"
    " JOIN grips g ON g.id = l.grip_id AND g.node_id = n.node_id"
)
"""The grips of the versions shown, each with the node it was made for."""


def verdict_to_json(verdict: Verdict) -> str:
    """Return the parts of a verdict that are not empty."""
    features = verdict.features
    fields: dict[str, Any] = {
        "covered": round(features.covered, 4),
        "terms": features.terms,
        "hard": features.hard,
        "missing": features.missing,
        "negated": features.negation_differs,
        "opposites": features.opposites,
        "conflicts": features.conflicts,
        "matched": verdict.matched,
        "spans": [(s.event_id, s.start, s.end, s.text_hash) for s in verdict.spans],
        "repaired": verdict.is_repaired,
        "model": verdict.is_of_model,
        "objection": verdict.objection,
    }
    present = {name: value for name, value in fields.items() if value}
    return json.dumps(present, ensure_ascii=False, separators=(",", ":"))


def verdict_from_json(support: str, stored: str) -> Verdict:
    fields = json.loads(stored)
    opposites = fields.get("opposites", ())
    return Verdict(
        support=Support(support),
        features=VerdictFeatures(
            covered=fields.get("covered", 0.0),
            terms=fields.get("terms", 0),
            hard=tuple(fields.get("hard", ())),
            missing=tuple(fields.get("missing", ())),
            negation_differs=fields.get("negated", False),
            opposites=tuple((word, opposite) for word, opposite in opposites),
            conflicts=tuple(fields.get("conflicts", ())),
        ),
        matched=tuple(fields.get("matched", ())),
        spans=tuple(EventQuote(*columns) for columns in fields.get("spans", ())),
        is_repaired=fields.get("repaired", False),
        is_of_model=fields.get("model", False),
        objection=fields.get("objection", ""),
    )


def add(nodes: Sequence[tuple[TocNode, bool]], now_ms: int) -> None:
    """Add an extractive version of each node and show it, unless one is pinned.

    Each node comes with whether it contains an open segment; its number and its time of
    creation are set here. Finished nodes need a version by a model from then on.
    """
    names = [node.node_id for node, _ in nodes]
    rows = _insert([node for node, _ in nodes], now_ms)
    is_kept = NodeRow.is_pinned | (NodeRow.requested_ms > 0)
    found = NodeRow.select().where(NodeRow.node_id.in_(names), is_kept)
    before = {row.node_id: row for row in found}
    pinned = {name: row.latest_id for name, row in before.items() if row.is_pinned}
    requested = {name: row.requested_ms for name, row in before.items()}
    insert(
        NodeRow,
        [
            {
                "node_id": node.node_id,
                "level": node.level.value,
                "parent_id": calendar.parent_id(node.node_id),
                "start_ms": to_ms(node.start_time),
                "latest": pinned.get(node.node_id, row),
                "is_dirty": False,
                "is_live": is_live,
                "is_pinned": node.node_id in pinned,
                "is_outdated": node.node_id in pinned,
                "needs_model": node.status is not NodeStatus.PROVISIONAL,
                "requested_ms": requested.get(node.node_id, 0),
            }
            for row, (node, is_live) in zip(rows, nodes, strict=True)
        ],
        conflict="update",
    )
    _delete_replaced(names, first_row=rows[0] if rows else 0)


def _delete_replaced(node_ids: Sequence[str], first_row: int) -> None:
    """Delete the provisional versions of nodes before a row that are not shown.

    The grips stay: somebody may have cited them.
    """
    rows = fetch(
        "SELECT v.id FROM node_versions v JOIN nodes n ON n.node_id = v.node_id"
        f" WHERE v.node_id {IN_JSON} AND v.id < ? AND v.status = 'provisional'"
        " AND NOT v.is_by_model AND v.id <> n.latest_id",
        json.dumps(node_ids),
        first_row,
    )
    replaced = [row for (row,) in rows]
    if not replaced:
        return
    bullets = BulletRow.select(BulletRow.id).where(BulletRow.version.in_(replaced))
    BulletGripRow.delete().where(BulletGripRow.bullet.in_(bullets)).execute()
    BulletRow.delete().where(BulletRow.version.in_(replaced)).execute()
    VersionRow.delete().where(VersionRow.id.in_(replaced)).execute()


def add_from_model(node: TocNode, now_ms: int) -> bool:
    """Add a model's version and show it unless it is rejected or one is pinned.

    Returns:
        Whether it is shown now.
    """
    (row,) = _insert([node], now_ms)
    return False if node.rejection else set_latest(node.node_id, row)


def set_latest(node_id: str, row: int) -> bool:
    """Show a version unless one is pinned; return whether it is shown now."""
    changed = NodeRow.update(latest=row).where(
        NodeRow.node_id == node_id, ~NodeRow.is_pinned
    )
    return bool(changed.execute())


def get_input_hashes(node_ids: Sequence[str]) -> dict[str, str]:
    """Return the input hashes of the latest extractive versions of nodes."""
    shown = NodeRow.select(NodeRow.node_id).where(
        NodeRow.node_id.in_(list(node_ids)), NodeRow.latest.is_null(False)
    )
    rows = (
        VersionRow.select(
            VersionRow.node_id,
            # SQLite takes this from the row with the maximum.
            VersionRow.input_hash,
            fn.MAX(VersionRow.version),
        )
        .where(VersionRow.node_id.in_(shown), ~VersionRow.is_by_model)
        .group_by(VersionRow.node_id)
    )
    return {name: input_hash for name, input_hash, _ in rows.tuples()}


def find_from_model(node_id: str, input_hash: str) -> tuple[int, str] | None:
    """Find a model's version of a node made from the same input.

    Returns:
        Its key, and the reason of its rejection; None if there is none.
    """
    rows = VersionRow.select(VersionRow.id, VersionRow.rejection).where(
        VersionRow.node_id == node_id,
        VersionRow.is_by_model,
        VersionRow.input_hash == input_hash,
    )
    found = rows.order_by(VersionRow.version.desc()).tuples().first()
    return (int(found[0]), str(found[1])) if found else None


def latest_id() -> int:
    return next_id(VersionRow) - 1


def list_since(version_id: int) -> tuple[int, list[str]]:
    """Return the nodes with later versions than one, and the key of the last one."""
    rows = (
        VersionRow.select(VersionRow.id, VersionRow.node_id)
        .where(VersionRow.id > version_id)
        .order_by(VersionRow.id)
        .limit(PAGE_ROWS)
        .tuples()
    )
    found = list(rows)
    return (found[-1][0] if found else version_id), [name for _, name in found]


def has_rejected(node_id: str) -> bool:
    rows = VersionRow.select().where(
        VersionRow.node_id == node_id,
        VersionRow.is_by_model,
        VersionRow.rejection != "",
    )
    return bool(rows.exists())


def _insert(nodes: Sequence[TocNode], now_ms: int) -> list[int]:
    """Insert versions with their bullets; return their keys."""
    names = [node.node_id for node in nodes]
    rows = VersionRow.select(VersionRow.node_id, fn.MAX(VersionRow.version))
    own = rows.where(VersionRow.node_id.in_(names)).group_by(VersionRow.node_id)
    last = dict(own.tuples())
    keyed = list(enumerate(nodes, start=next_id(VersionRow)))
    insert(
        VersionRow,
        [
            {
                "id": row,
                "node_id": node.node_id,
                "version": last.get(node.node_id, 0) + 1,
                "level": node.level.value,
                "title": node.title,
                "headline": node.headline,
                "start_ms": to_ms(node.start_time),
                "end_ms": to_ms(node.end_time),
                "keywords": _to_json(
                    [(k.word, k.origin.value, k.weight) for k in node.keywords]
                ),
                "child_ids": _to_json(node.child_node_ids),
                "status": node.status.value,
                "summarizer": node.summarizer,
                "input_hash": node.input_hash,
                "created_ms": now_ms,
                **asdict(node.counts),
                "bullets": len(node.checked_bullets),
                "supported": _count(node.checked_bullets, Support.SUPPORTED),
                "agents": _to_json(node.agents),
                "projects": _to_json(node.projects),
                "is_by_model": node.is_by_model,
                "weak": _count(node.checked_bullets, Support.WEAK),
                "withheld": len(node.withheld),
                "repaired": sum(
                    b.verdict.is_repaired for b in (*node.bullets, *node.withheld)
                ),
                "rejection": node.rejection,
            }
            for row, node in keyed
        ],
    )
    stats = [
        (row, *astuple(node.generation)) for row, node in keyed if node.is_by_model
    ]
    insert(GenerationRow, stats)
    _insert_bullets(keyed)
    return [row for row, _ in keyed]


def _count(bullets: Sequence[Bullet], support: Support) -> int:
    return sum(bullet.support is support for bullet in bullets)


def _insert_bullets(versions: Sequence[tuple[int, TocNode]]) -> None:
    number = next_id(BulletRow)
    bullets: list[dict[str, object]] = []
    links: list[tuple[object, ...]] = []
    for version, node in versions:
        for position, bullet in enumerate((*node.bullets, *node.withheld)):
            row = {
                "id": number,
                "version": version,
                "position": position,
                "text": bullet.text,
                "support": bullet.verdict.support.value,
                "is_withheld": position >= len(node.bullets),
                "verdict": verdict_to_json(bullet.verdict),
                "kind": bullet.kind.value,
                "project": bullet.project,
                "session_id": bullet.session_id,
                "effort": bullet.effort,
            }
            bullets.append(row)
            grips = enumerate(bullet.grip_ids)
            links += [(number, index, grip_id) for index, grip_id in grips]
            number += 1
    insert(BulletRow, bullets)
    insert(BulletGripRow, links)


def _to_json(values: Sequence[object]) -> str:
    return json.dumps(list(values), ensure_ascii=False)


def pin(node_id: str, version: int, zone: tzinfo, now_ms: int) -> bool:
    """Show a version of a node, whatever comes after it.

    Returns:
        Whether there is such a version.
    """
    is_of_node = VersionRow.node_id == node_id
    row = VersionRow.get_or_none(is_of_node, VersionRow.version == version)
    if row is None:
        return False
    later = VersionRow.select().where(
        is_of_node, VersionRow.version > version, ~VersionRow.is_by_model
    )
    return _set_pinned(
        node_id, row.id, zone, now_ms, is_pinned=True, is_outdated=later.exists()
    )


def unpin(node_id: str, zone: tzinfo, now_ms: int) -> bool:
    """Show the newest version of a node that was not rejected, now and from now on.

    Returns:
        Whether there is one.
    """
    rows = VersionRow.select(VersionRow.id).where(
        VersionRow.node_id == node_id, VersionRow.rejection == ""
    )
    newest = rows.order_by(VersionRow.version.desc()).first()
    if newest is None:
        return False
    return _set_pinned(
        node_id, newest.id, zone, now_ms, is_pinned=False, is_outdated=False
    )


def _set_pinned(
    node_id: str,
    row: int,
    zone: tzinfo,
    now_ms: int,
    *,
    is_pinned: bool,
    is_outdated: bool,
) -> bool:
    changed = NodeRow.update(latest=row, is_pinned=is_pinned, is_outdated=is_outdated)
    if not changed.where(NodeRow.node_id == node_id).execute():
        return False
    outbox.add_nodes([node_id], now_ms)
    rollup_queue.add(calendar.rolled_into(node_id), zone)
    return True


def request(node_id: str, now_ms: int) -> bool:
    """Request a new version by a model; a repeated request keeps its first place.

    Returns:
        Whether there is such a node.
    """
    changed = NodeRow.update(needs_model=True, model_attempts=0, model_retry_ms=0)
    if not changed.where(NodeRow.node_id == node_id).execute():
        return False
    requested = NodeRow.update(requested_ms=now_ms)
    requested.where(NodeRow.node_id == node_id, NodeRow.requested_ms == 0).execute()
    outbox.add_nodes([node_id], now_ms)
    return True


def get_requested_at(node_id: str) -> datetime | None:
    """Return when a new version was requested that is not made yet; None if none."""
    row = NodeRow.get_or_none(NodeRow.node_id == node_id)
    return from_ms(row.requested_ms) if row and row.requested_ms else None


# Grips: each is stored once, under an id that follows from its content


def add_grips(grips: Sequence[Grip]) -> None:
    rows = [
        (
            grip.grip_id,
            grip.excerpt,
            grip.event_id_start,
            grip.event_id_end,
            to_ms(grip.timestamp),
            grip.source,
            grip.toc_node_id or "",
        )
        for grip in grips
    ]
    insert(GripRow, rows, conflict="nothing")


def get_grips(grip_ids: Iterable[str]) -> dict[str, Grip]:
    rows = GripRow.select().where(GripRow.id.in_(list(grip_ids)))
    return {row.id: _to_grip(row) for row in rows}


def list_grips(node_id: str) -> list[Grip]:
    """Return the grips made for a node that its shown version uses."""
    sql = f"SELECT DISTINCT g.id {_SHOWN_GRIPS} WHERE n.node_id = ?"
    names = [name for (name,) in fetch(sql, node_id)]
    rows = GripRow.select().where(GripRow.id.in_(names)).order_by(GripRow.id)
    return [_to_grip(row) for row in rows]


def count_grips() -> int:
    return int(fetch_value(f"SELECT count(DISTINCT g.id) {_SHOWN_GRIPS}"))


def _to_grip(row: GripRow) -> Grip:
    return Grip(
        grip_id=row.id,
        excerpt=row.excerpt,
        event_id_start=row.start_event_id,
        event_id_end=row.end_event_id,
        timestamp=from_ms(row.at_ms),
        source=row.source,
        toc_node_id=row.node_id or None,
    )
