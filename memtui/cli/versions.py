"""``versions``, ``pin``, ``unpin`` and ``anew``: which version of a node is shown."""

import argparse
from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from typing import Any

from memtui import workspace
from memtui.cli import output
from memtui.errors import MemtuiError, UsageError
from memtui.model.nodes import NodeStatus, TocHistory, TocNode, TocVersion
from memtui.model.summaries import GenerationStats
from memtui.services import versions
from memtui.text import date_format, fencing
from memtui.workspace import Workspace

DIGEST_CHARS = 12
"""How much of a model's digest is printed."""


def run(house: Workspace, given: argparse.Namespace) -> int:
    """Do what was asked for."""
    if given.command == "versions":
        return show(house, given.node_id, as_json=given.json)
    if given.command == "pin":
        wish = {"even_rejected": given.even_rejected}
        return pin(house, given.node_id, given.number, **wish, as_json=given.json)
    if given.command == "unpin":
        return unpin(house, given.node_id, as_json=given.json)
    return anew(house, given.node_id, as_json=given.json)


def _history(node_id: str) -> TocHistory:
    found = versions.get_history(node_id)
    if found is None:
        raise MemtuiError(f"there is no node {node_id}; see the years: memtui show")
    return found


def edition(node_id: str | None, version: int) -> TocNode:
    """A version of a node, whole.

    Raises:
        MemtuiError: There is no such node or version.
    """
    if not node_id:
        raise UsageError("say of which node: memtui show NODE_ID --version N")
    found = versions.get_version(node_id, version)
    if found is None:
        editions = _history(node_id).versions
        has = (
            f"it has {versions.describe_numbers(editions)}"
            if editions
            else "it has none yet"
        )
        raise MemtuiError(f"{node_id} has no version {version}: {has}")
    return found


def show(house: Workspace, node_id: str, *, as_json: bool) -> int:
    """Print the versions of a node, the latest first."""
    found = _history(node_id)
    if as_json:
        notice = {"notice": fencing.NOTICE}
        told = {"node": found.entry, **_asked(found), "versions": _plain(found)}
        output.as_json(notice | told)
    else:
        promise = workspace.describe_turn(
            house.settings, workspace.has_active_worker(house.paths)
        )
        output.print_lines(_list(found, house.zone, promise))
    return 0


def _plain(found: TocHistory) -> list[dict[str, Any]]:
    return [
        {**output.to_plain(one), "unsupported": one.unsupported}
        for one in found.versions
    ]


def _asked(found: TocHistory) -> dict[str, datetime | None]:
    return {"asked_at": found.requested_at}


def _list(found: TocHistory, zone: tzinfo, promise: str) -> Iterator[str]:
    yield found.entry.title
    if not found.versions:
        yield "Not summarised yet: that happens by itself, as soon as a memtui works."
    for one in found.versions:
        about = [
            f"{one.version:>3}",
            f"{date_format.moment(one.created_at, zone):<21}",
            who(one),
            counts(one),
            "; ".join(standing(one, found.entry.status)),
        ]
        yield "  ".join(filter(None, [*about, cost(one.generation)]))
    if found.requested_at:
        at = date_format.moment(found.requested_at, zone)
        yield f"A new one was asked for at {at} and is not made yet. {promise}"


def who(one: TocVersion) -> str:
    """Who wrote a version: ``extractive-2``, ``qwen3:4b 2bfd38a7daaf``."""
    facts = one.generation
    return (
        f"{facts.model} {facts.digest[:DIGEST_CHARS]}"
        if facts.model
        else (one.summarizer)
    )


def counts(one: TocVersion) -> str:
    """What its audit found: ``4 supported, 1 weak, 0 unsupported``."""
    return f"{one.supported} supported, {one.weak} weak, {one.unsupported} unsupported"


def standing(one: TocVersion, status: NodeStatus) -> Iterator[str]:
    """How a version stands: shown, pinned, stale, rejected and why."""
    if one.is_shown:
        yield "pinned" if one.is_pinned else "shown"
        if status is NodeStatus.STALE:
            yield "stale"
        elif status is NodeStatus.PROVISIONAL:
            yield "provisional"
    if one.rejection:
        yield f"rejected: {one.rejection}"


def cost(facts: GenerationStats) -> str:
    """What it took: ``1,204 + 310 tokens, 12.4 s``; "" where no model was asked."""
    if not facts.model:
        return ""
    tokens = f"{facts.prompt_tokens:,} + {facts.reply_tokens:,} tokens"
    return f"{tokens}, {facts.total_ms / 1000:.1f} s"


def pin(
    house: Workspace,
    node_id: str,
    version: int | None,
    *,
    even_rejected: bool,
    as_json: bool,
) -> int:
    """Show one version of a node, whatever comes after it."""
    wish = {"even_rejected": even_rejected}
    try:
        shown = versions.pin(node_id, version, house.zone, datetime.now(UTC), **wish)
    except versions.VersionRejectedError as reason:
        again = f"memtui pin {node_id} {reason.version.version} --even-rejected"
        raise MemtuiError(f"{reason}; to show it all the same: {again}") from None
    notes = [
        f"Version {shown.version} is pinned: it is shown, whatever comes after it."
    ]
    if shown.rejection:
        notes.append(f"It was rejected: {shown.rejection}.")
    found = _history(node_id)
    if found.entry.status is NodeStatus.STALE:
        notes.append("It is out of date: something has changed since it was made.")
    return _done(found, notes, as_json=as_json)


def unpin(house: Workspace, node_id: str, *, as_json: bool) -> int:
    """Show the newest version of a node again."""
    shown = versions.unpin(node_id, house.zone, datetime.now(UTC))
    said = f"Version {shown.version}, the newest, is shown, and what comes after it."
    return _done(_history(node_id), [said], as_json=as_json)


def anew(house: Workspace, node_id: str, *, as_json: bool) -> int:
    """Ask for a new version by a model, and say who will do it."""
    shown = versions.request(node_id, datetime.now(UTC))
    notes = ["A new version is asked for."]
    notes.append(
        workspace.describe_turn(
            house.settings, workspace.has_active_worker(house.paths)
        )
    )
    if shown.is_pinned:
        notes.append(
            f"Version {shown.version} is pinned, so it is shown none the less."
        )
    return _done(_history(node_id), notes, as_json=as_json)


def _done(found: TocHistory, notes: list[str], *, as_json: bool) -> int:
    """Say what was done."""
    if as_json:
        said = {"node": found.entry, **_asked(found), "shown": found.shown}
        output.as_json({**said, "note": " ".join(notes)})
    else:
        output.print_lines(notes)
    return 0
