"""Wording: what nodes say in words, without what it rests on."""

import json
from collections.abc import Sequence

from memtui.memory import calendar
from memtui.store.database import db

_KEYWORDS = (
    "SELECT n.node_id, v.keywords FROM toc_latest n"
    " JOIN toc_versions v ON v.id = n.latest_id WHERE n.node_id IN ({})"
)
_BULLETS = (
    "SELECT n.node_id, b.text FROM toc_latest n"
    " JOIN bullets b ON b.version_id = n.latest_id"
    " WHERE n.node_id IN ({}) AND NOT b.is_withheld ORDER BY b.version_id, b.position"
)

_WHOLE = (
    "SELECT n.node_id, v.title, v.headline, v.keywords, ("
    "SELECT group_concat(text, char(10)) FROM ("
    "SELECT b.text FROM bullets b WHERE b.version_id = n.latest_id"
    " AND NOT b.is_withheld ORDER BY b.position))"
    " FROM toc_latest n LEFT JOIN toc_versions v ON v.id = n.latest_id"
    " WHERE n.node_id IN (SELECT value FROM json_each(?))"
)

Worded = tuple[list[str], list[str]]
"""A node's keywords and its bullets."""


def of(node_ids: Sequence[str]) -> dict[str, Worded]:
    """What the nodes with a version say; reading them whole takes three times as long.

    Args:
        node_ids: Of nodes; the unknown ones are left out.
    """
    marks = ", ".join("?" * len(node_ids))
    rows = db.execute_sql(_KEYWORDS.format(marks), node_ids).fetchall()
    found: dict[str, Worded] = {
        name: ([word for word, *_ in json.loads(kept)], []) for name, kept in rows
    }
    for name, text in db.execute_sql(_BULLETS.format(marks), node_ids).fetchall():
        found[name][1].append(text)
    return found


def whole(node_ids: Sequence[str]) -> dict[str, str]:
    """All that nodes say, as one text each; the unknown ones are left out."""
    rows = db.execute_sql(_WHOLE, (json.dumps(node_ids),)).fetchall()
    return {name: _joined(name, *said) for name, *said in rows}


def _joined(
    name: str, title: str, headline: str, keywords: str, bullets: str | None
) -> str:
    words = " ".join(word for word, *_ in json.loads(keywords or "[]"))
    told = [title or calendar.title(name), headline or "", words]
    return "\n".join([*told, bullets] if bullets is not None else told)
