"""Versions of nodes: each with its bullets and their grips, never changed.

Provisional versions are deleted when a later one replaces them: a live session makes
one of each node above it every few seconds.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict
from datetime import datetime, tzinfo
from typing import Any

from memtui.model import calendar
from memtui.model.citations import Grip
from memtui.model.events import from_ms, to_ms
from memtui.model.nodes import Bullet, GenerationStats, NodeStatus, TocNode
from memtui.model.verdicts import (
    EventQuote,
    Objection,
    Support,
    Verdict,
    VerdictFeatures,
)
from memtui.store import queues, segments
from memtui.store.database import (
    IN_JSON,
    db,
    execute,
    existing_keys,
    fetch,
    fetch_column,
    fetch_value,
    insert,
    next_id,
)
from memtui.store.digests import digest
from memtui.store.schema import unlocked

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
        "names_and_numbers": features.names_and_numbers,
        "missing": features.missing,
        "conflicts": features.conflicts,
        "matched": verdict.matched,
        "spans": [(s.event_id, s.start, s.end, s.text_hash) for s in verdict.spans],
        "repaired": verdict.is_repaired,
        "model": verdict.is_by_model,
        "objection": verdict.objection,
    }
    present = {name: value for name, value in fields.items() if value}
    return json.dumps(present, ensure_ascii=False, separators=(",", ":"))


def verdict_from_json(support: str, stored: str) -> Verdict:
    fields = json.loads(stored)
    return Verdict(
        support=Support(support),
        features=VerdictFeatures(
            covered=fields.get("covered", 0.0),
            terms=fields.get("terms", 0),
            names_and_numbers=tuple(fields.get("names_and_numbers", ())),
            missing=tuple(fields.get("missing", ())),
            conflicts=tuple(fields.get("conflicts", ())),
        ),
        matched=tuple(fields.get("matched", ())),
        spans=tuple(EventQuote(*columns) for columns in fields.get("spans", ())),
        is_repaired=fields.get("repaired", False),
        is_by_model=fields.get("model", False),
        objection=Objection(fields.get("objection", "")),
    )


_SHOW = (
    "INSERT INTO nodes (node_id, level, parent_id, start_ms, latest_id, is_live,"
    " needs_model, is_dirty, attempts, retry_ms, is_pinned, is_outdated,"
    " model_attempts, model_retry_ms, requested_ms)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, 0, 0, 0)"
    " ON CONFLICT (node_id) DO UPDATE SET parent_id = excluded.parent_id,"
    " start_ms = excluded.start_ms, is_dirty = 0, is_live = excluded.is_live,"
    " attempts = 0, retry_ms = 0, is_outdated = is_pinned,"
    " latest_id = CASE WHEN is_pinned THEN latest_id ELSE excluded.latest_id END,"
    " needs_model = excluded.needs_model, model_attempts = 0, model_retry_ms = 0"
)
"""Shows a version of a node, unless one is pinned; a request for another one stays."""


def add(nodes: Sequence[TocNode], now_ms: int) -> None:
    """Add an extractive version of each node and show it, unless one is pinned.

    Its number and its time of creation are set here. A provisional node contains an
    open segment; others need a version by a model from then on.
    """
    rows = _insert(nodes, now_ms)
    values = [
        (
            node.node_id,
            node.level.value,
            calendar.parent_id(node.node_id),
            to_ms(node.start_time),
            row,
            node.status is NodeStatus.PROVISIONAL,
            node.status is not NodeStatus.PROVISIONAL,
        )
        for row, node in zip(rows, nodes, strict=True)
    ]
    db.connection().executemany(_SHOW, values)
    if rows:
        _delete_replaced([node.node_id for node in nodes], first_row=rows[0])


def _delete_replaced(node_ids: Sequence[str], first_row: int) -> None:
    """Delete the provisional versions of nodes before a row that are not shown.

    The grips stay: they may have been cited.
    """
    replaced = fetch_column(
        "SELECT v.id FROM node_versions v JOIN nodes n ON n.node_id = v.node_id"
        f" WHERE v.node_id {IN_JSON} AND v.id < ? AND v.status = 'provisional'"
        " AND NOT v.is_by_model AND v.id <> n.latest_id",
        json.dumps(node_ids),
        first_row,
    )
    bullets = f"SELECT id FROM bullets WHERE version_id {IN_JSON}"
    if not replaced:
        return
    with unlocked():
        for sql in (
            f"DELETE FROM bullet_grips WHERE bullet_id IN ({bullets})",
            f"DELETE FROM bullets WHERE version_id {IN_JSON}",
            f"DELETE FROM node_versions WHERE id {IN_JSON}",
        ):
            execute(sql, json.dumps(replaced))


def add_from_model(node: TocNode, now_ms: int) -> bool:
    """Add a model's version; return whether it is shown: not rejected, none pinned."""
    (row,) = _insert([node], now_ms)
    return False if node.rejection else set_latest(node.node_id, row)


def set_latest(node_id: str, row: int) -> bool:
    """Show a version unless one is pinned; return whether it is shown now."""
    sql = "UPDATE nodes SET latest_id = ? WHERE node_id = ? AND NOT is_pinned"
    return bool(execute(sql, row, node_id))


def show_extracts(node_ids: Collection[str]) -> list[str]:
    """Show the latest extracts of nodes in place of a model's versions.

    Return the nodes that change; pinned versions stay.
    """
    rows = fetch(
        "SELECT v.node_id, max(v.id) FROM node_versions v"
        " JOIN nodes n ON n.node_id = v.node_id"
        " JOIN node_versions shown ON shown.id = n.latest_id AND shown.is_by_model"
        f" WHERE v.node_id {IN_JSON} AND NOT v.is_by_model GROUP BY v.node_id",
        json.dumps(list(node_ids)),
    )
    return [node_id for node_id, row in rows if set_latest(node_id, row)]


def get_input_hashes(node_ids: Sequence[str]) -> dict[str, str]:
    """Return the input hashes of the latest extractive versions of nodes."""
    rows = fetch(
        # SQLite takes the hash from the row with the maximum.
        "SELECT v.node_id, v.input_hash, max(v.version) FROM node_versions v"
        " JOIN nodes n ON n.node_id = v.node_id AND n.latest_id IS NOT NULL"
        f" WHERE v.node_id {IN_JSON} AND NOT v.is_by_model GROUP BY v.node_id",
        json.dumps(list(node_ids)),
    )
    return {name: input_hash for name, input_hash, _ in rows}


def find_from_model(
    node_ids: Sequence[str], input_hash: str
) -> list[tuple[str, int, str]]:
    """Return id, key and rejection of a model's versions from the same input."""
    return fetch(
        # SQLite takes the rejection from the row with the maximum.
        "SELECT node_id, max(id), rejection FROM node_versions"
        f" WHERE node_id {IN_JSON} AND is_by_model AND input_hash = ? GROUP BY node_id",
        json.dumps(list(node_ids)),
        input_hash,
    )


def latest_id() -> int:
    return next_id("node_versions") - 1


def list_since(version_id: int) -> tuple[int, list[str]]:
    """Return the nodes with later versions than one, and the key of the last one."""
    sql = "SELECT id, node_id FROM node_versions WHERE id > ? ORDER BY id LIMIT ?"
    rows = fetch(sql, version_id, PAGE_ROWS)
    return (rows[-1][0] if rows else version_id), [name for _, name in rows]


def has_rejected(node_id: str) -> bool:
    is_rejected = "node_id = ? AND is_by_model AND rejection <> ''"
    return bool(fetch(f"SELECT 1 FROM node_versions WHERE {is_rejected}", node_id))


def _insert(nodes: Sequence[TocNode], now_ms: int) -> list[int]:
    """Insert versions with their bullets; return their keys."""
    names = [node.node_id for node in nodes]
    last = dict(
        fetch(
            "SELECT node_id, max(version) FROM node_versions"
            f" WHERE node_id {IN_JSON} GROUP BY node_id",
            json.dumps(names),
        )
    )
    keyed = list(enumerate(nodes, start=next_id("node_versions")))
    bullets, links = _make_bullet_rows(keyed)
    rows = [
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
                [(keyword.word, keyword.weight) for keyword in node.keywords]
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
            "rejection": node.rejection,
            "session_title": node.session_title,
            "generation": _generation_to_json(node.generation),
        }
        for row, node in keyed
    ]
    digests = digest_versions([tuple(row.values()) for row in rows], bullets, links)
    insert(
        "node_versions",
        [
            {**row, "digest": digests[number]}
            for row, (number, _) in zip(rows, keyed, strict=True)
        ],
    )
    insert("bullets", bullets)
    insert("bullet_grips", links)
    return [row for row, _ in keyed]


def digest_versions(
    rows: Sequence[tuple[Any, ...]],
    bullets: Sequence[tuple[Any, ...]],
    links: Sequence[tuple[Any, ...]],
) -> dict[int, bytes]:
    """Return a digest of each version, by its key: of its row, bullets and links.

    All rows are in the order of their keys, which come first.
    """
    linked: dict[int, list[tuple[Any, ...]]] = {}
    for number, *link in links:
        linked.setdefault(number, []).append(tuple(link))
    contents: dict[int, list[object]] = {}
    for number, version, *bullet in bullets:
        contents.setdefault(version, []).append([*bullet, *linked.get(number, ())])
    return {row[0]: digest([*row, *contents.get(row[0], ())]) for row in rows}


def _generation_to_json(generation: GenerationStats) -> str:
    """Return the measurements that are not empty."""
    return json.dumps({n: value for n, value in asdict(generation).items() if value})


def _count(bullets: Sequence[Bullet], support: Support) -> int:
    return sum(bullet.support is support for bullet in bullets)


def _make_bullet_rows(
    versions: Sequence[tuple[int, TocNode]],
) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    """Return the rows of the bullets of versions, and of the grips of these."""
    number = next_id("bullets")
    bullets: list[tuple[object, ...]] = []
    links: list[tuple[object, ...]] = []
    for version, node in versions:
        every = (*node.bullets, *node.further, *node.withheld)
        for position, bullet in enumerate(every):
            row = (
                number,
                version,
                position,
                bullet.text,
                bullet.verdict.support.value,
                int(position >= len(node.bullets)),
                verdict_to_json(bullet.verdict),
                bullet.kind.value,
                bullet.project,
                bullet.session_id,
            )
            bullets.append(row)
            grips = enumerate(bullet.grip_ids)
            links += [(number, index, grip_id) for index, grip_id in grips]
            number += 1
    return bullets, links


def _to_json(values: Sequence[object]) -> str:
    return json.dumps(list(values), ensure_ascii=False)


def pin(node_id: str, version: int, zone: tzinfo, now_ms: int) -> bool:
    """Show a version of a node, whatever comes after it; return whether it exists."""
    sql = "SELECT id FROM node_versions WHERE node_id = ? AND version = ?"
    row = fetch_value(sql, node_id, version)
    if row is None:
        return False
    later = "node_id = ? AND version > ? AND NOT is_by_model"
    sql = f"SELECT 1 FROM node_versions WHERE {later} LIMIT 1"
    is_outdated = bool(fetch(sql, node_id, version))
    return _set_pinned(
        node_id, row, zone, now_ms, is_pinned=True, is_outdated=is_outdated
    )


def unpin(node_id: str, zone: tzinfo, now_ms: int) -> bool:
    """Show the newest version of a node that was not rejected, if any, from now on."""
    newest = fetch_value(
        "SELECT max(id) FROM node_versions WHERE node_id = ? AND rejection = ''",
        node_id,
    )
    if newest is None:
        return False
    return _set_pinned(
        node_id, newest, zone, now_ms, is_pinned=False, is_outdated=False
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
    changes = "latest_id = ?, is_pinned = ?, is_outdated = ?"
    sql = f"UPDATE nodes SET {changes} WHERE node_id = ?"
    if not execute(sql, row, is_pinned, is_outdated, node_id):
        return False
    queues.add_nodes([node_id], now_ms)
    queues.add_rollups(calendar.rolled_into(node_id), zone)
    # A model's title of the session may be shown now, or no longer.
    segments.request_summaries([node_id])
    return True


def request(node_id: str, now_ms: int) -> bool:
    """Request a version by a model, if the node exists; it keeps its first place."""
    changed = execute(
        "UPDATE nodes SET needs_model = 1, model_attempts = 0, model_retry_ms = 0,"
        " requested_ms = CASE requested_ms WHEN 0 THEN ? ELSE requested_ms END"
        " WHERE node_id = ?",
        now_ms,
        node_id,
    )
    if changed:
        queues.add_nodes([node_id], now_ms)
    return bool(changed)


def get_requested_at(node_id: str) -> datetime | None:
    """Return when a new version was requested that is not made yet; None if none."""
    sql = "SELECT requested_ms FROM nodes WHERE node_id = ?"
    at_ms = fetch_value(sql, node_id)
    return from_ms(at_ms) if at_ms else None


# Grips: each is stored once, under an id that follows from its content


def add_grips(grips: Sequence[Grip]) -> None:
    """Add the grips that are new."""
    by_id = {grip.grip_id: grip for grip in grips}
    existing = existing_keys("grips", by_id)
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
        for grip in by_id.values()
        if grip.grip_id not in existing
    ]
    insert("grips", [(*row, digest(row)) for row in rows])


def get_grips(grip_ids: Iterable[str]) -> dict[str, Grip]:
    rows = fetch(
        "SELECT id, excerpt, start_event_id, end_event_id, at_ms, source, node_id"
        f" FROM grips WHERE id {IN_JSON} ORDER BY id",
        json.dumps(list(grip_ids)),
    )
    return {
        name: Grip(name, excerpt, start, end, from_ms(at_ms), source, node_id or None)
        for name, excerpt, start, end, at_ms, source, node_id in rows
    }


def list_grips(node_id: str) -> list[Grip]:
    """Return the grips made for a node that its shown version uses."""
    sql = f"SELECT DISTINCT g.id {_SHOWN_GRIPS} WHERE n.node_id = ?"
    return [*get_grips(fetch_column(sql, node_id)).values()]


def list_indexed_grips(node: TocNode) -> list[Grip]:
    """Return the grips made for a node, except those of rejected lines alone."""
    displayed = {name for bullet in node.bullets for name in bullet.grip_ids}
    rejected = {
        grip_id
        for bullet in node.withheld
        if bullet.is_rejected
        for grip_id in bullet.grip_ids
    }
    grips = list_grips(node.node_id)
    return [grip for grip in grips if grip.grip_id not in rejected - displayed]


def count_grips() -> int:
    return int(fetch_value(f"SELECT count(DISTINCT g.id) {_SHOWN_GRIPS}"))
