"""Versions of nodes: only ever added, each with its bullets and their grips."""

import json
from collections.abc import Sequence

from peewee import fn

from memtui.memory import calendar
from memtui.memory.events import to_ms
from memtui.memory.origins import Keyword
from memtui.memory.toc import Bullet, TocNode
from memtui.store.database import insert, next_id
from memtui.store.tables import BulletGripRow, BulletRow, NodeRow, VersionRow

AT_ONCE = 1000
"""How many versions somebody who follows the tree is told of at once."""


def put(nodes: Sequence[tuple[TocNode, bool]], now_ms: int) -> None:
    """Add a version of each node and make it the latest.

    Args:
        nodes: Each node, and whether something in it is still going on. Versions and
            times of making are given here.
        now_ms: The time, in milliseconds.
    """
    before = _last_versions([node.node_id for node, _ in nodes])
    first = next_id(VersionRow)
    numbered = [(first + place, *entry) for place, entry in enumerate(nodes)]
    insert(
        VersionRow,
        [
            _version(row, node, before.get(node.node_id, 0) + 1, now_ms)
            for row, node, _ in numbered
        ],
    )
    _put_bullets([(row, node.bullets) for row, node, _ in numbered])
    insert(
        NodeRow,
        [
            (
                node.node_id,
                node.level.value,
                calendar.parent_id(node.node_id),
                to_ms(node.start_time),
                row,
                False,
                is_live,
                0,
                0,
            )
            for row, node, is_live in numbered
        ],
        conflict="update",
    )


def input_hashes(node_ids: Sequence[str]) -> dict[str, str]:
    """What the latest versions of these nodes were made from."""
    rows = (
        NodeRow.select(NodeRow.node_id, VersionRow.input_hash)
        .join(VersionRow)
        .where(NodeRow.node_id.in_(list(node_ids)))
    )
    return dict(rows.tuples())


def last() -> int:
    """The number of the latest version there is; 0 if there is none."""
    return next_id(VersionRow) - 1


def since(version: int) -> tuple[int, list[str]]:
    """The nodes that have a version later than one, and the latest version there is.

    Args:
        version: A number this function gave; 0 for all there are.
    """
    rows = (
        VersionRow.select(VersionRow.id, VersionRow.node_id)
        .where(VersionRow.id > version)
        .order_by(VersionRow.id)
        .limit(AT_ONCE)
        .tuples()
    )
    found = list(rows)
    return (found[-1][0] if found else version), [name for _, name in found]


def stored(keywords: Sequence[Keyword]) -> str:
    """Keywords as a version keeps them: JSON of words, origins and weights."""
    return _json([(k.word, k.origin.value, k.weight) for k in keywords])


def _last_versions(node_ids: Sequence[str]) -> dict[str, int]:
    rows = (
        VersionRow.select(VersionRow.node_id, fn.MAX(VersionRow.version))
        .where(VersionRow.node_id.in_(list(node_ids)))
        .group_by(VersionRow.node_id)
    )
    return dict(rows.tuples())


def _version(row: int, node: TocNode, version: int, now_ms: int) -> tuple[object, ...]:
    """A row of ``VersionRow``, its values in the order of the columns."""
    tally = node.tally
    return (
        row,
        node.node_id,
        version,
        node.level.value,
        node.title,
        node.headline,
        to_ms(node.start_time),
        to_ms(node.end_time),
        stored(node.keywords),
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
        sum(bullet.is_supported for bullet in node.bullets),
        _json(node.agents),
        _json(node.projects),
    )


def _put_bullets(versions: Sequence[tuple[int, Sequence[Bullet]]]) -> None:
    number = next_id(BulletRow)
    bullets: list[tuple[object, ...]] = []
    links: list[tuple[object, ...]] = []
    for version, row in versions:
        for position, bullet in enumerate(row):
            bullets.append((number, version, position, bullet.text))
            grips = enumerate(bullet.grip_ids)
            links += [(number, place, grip_id) for place, grip_id in grips]
            number += 1
    insert(BulletRow, bullets)
    insert(BulletGripRow, links)


def _json(values: Sequence[object]) -> str:
    return json.dumps(list(values), ensure_ascii=False)
