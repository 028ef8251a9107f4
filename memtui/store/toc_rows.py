"""Rows of the table of contents, as what they say: lines, nodes and editions."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from memtui.memory import calendar
from memtui.memory.events import from_ms
from memtui.memory.origins import Keyword, Origin
from memtui.memory.summaries import UNMEASURED, Facts
from memtui.memory.toc import (
    Bullet,
    Status,
    Tally,
    TocEdition,
    TocLevel,
    TocLine,
    TocNode,
)


def line(row: dict[str, Any]) -> TocLine:
    """A node as a line, whether it has a version or not."""
    return TocLine(
        node_id=row["node_id"],
        level=TocLevel(row["level"]),
        title=row["title"] or calendar.title(row["node_id"]),
        headline=row["headline"] or "",
        start_time=from_ms(row["start_ms"]),
        end_time=from_ms(row["end_ms"] or row["start_ms"]),
        status=_status(row),
        is_live=bool(row["is_live"]),
        tally=_tally(row),
        supported=row["supported"] or 0,
        weak=row["weak"] or 0,
        bullets=row["bullets"] or 0,
        is_models=bool(row["is_models"]),
        is_pinned=bool(row["is_pinned"]),
        agents=_strings(row["agents"]),
        projects=_strings(row["projects"]),
    )


def is_pinned(row: dict[str, Any]) -> bool:
    """Whether a version is the one that a person wants to see."""
    return row["latest"] == row["shown"] and bool(row["is_pinned"])


def edition(row: dict[str, Any], facts: Mapping[int, Facts]) -> TocEdition:
    """A version as an entry of the node's history."""
    return TocEdition(
        version=row["version"],
        headline=row["headline"],
        summarizer=row["summarizer"],
        created_at=from_ms(row["created_ms"]),
        supported=row["supported"],
        weak=row["weak"],
        bullets=row["bullets"],
        withheld=row["withheld"],
        rejected=row["rejected"],
        is_models=bool(row["is_models"]),
        is_shown=row["latest"] == row["shown"],
        is_pinned=is_pinned(row),
        facts=facts.get(row["latest"], UNMEASURED),
    )


def node(
    row: dict[str, Any],
    bullets: Sequence[tuple[Bullet, bool]],
    facts: Mapping[int, Facts],
) -> TocNode:
    """A node with its bullets, and what was measured while its version was made."""
    told = line(row)
    return TocNode(
        node_id=told.node_id,
        level=told.level,
        title=told.title,
        start_time=told.start_time,
        end_time=told.end_time,
        bullets=tuple(one for one, is_withheld in bullets if not is_withheld),
        withheld=tuple(one for one, is_withheld in bullets if is_withheld),
        keywords=_keywords(row["keywords"]),
        child_node_ids=_strings(row["children"]),
        version=row["version"] or 0,
        created_at=from_ms(row["created_ms"]) if row["created_ms"] else None,
        headline=told.headline,
        status=told.status,
        summarizer=row["summarizer"] or "",
        input_hash=row["input_hash"] or "",
        tally=told.tally,
        agents=told.agents,
        projects=told.projects,
        facts=facts.get(row["latest"], UNMEASURED),
        rejected=row["rejected"] or "",
        is_pinned=told.is_pinned,
    )


def _status(row: dict[str, Any]) -> Status:
    if row["latest"] is None:
        return Status.PENDING
    # What a person pinned is not waiting for a model.
    is_waiting = row["is_models"] and row["wants_model"] and not row["is_pinned"]
    if row["is_dirty"] or row["is_behind"] or is_waiting:
        return Status.STALE
    return Status(row["status"])


def _tally(row: dict[str, Any]) -> Tally:
    return Tally(
        segments=row["segments"] or 0,
        events=row["events"] or 0,
        messages=row["messages"] or 0,
        subagent_events=row["subagent_events"] or 0,
    )


def _strings(stored: str | None) -> tuple[str, ...]:
    return tuple(json.loads(stored)) if stored else ()


def _keywords(stored: str | None) -> tuple[Keyword, ...]:
    rows = json.loads(stored) if stored else ()
    return tuple(Keyword(word, Origin(origin), weight) for word, origin, weight in rows)
