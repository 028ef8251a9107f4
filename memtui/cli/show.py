"""``show``, ``expand`` and ``stats``: prints a node, a source, and the counts."""

import argparse
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memtui.agents import formatting, sessions, toc
from memtui.agents.replies import Item, Reply
from memtui.cli import ask, output, versions
from memtui.model.nodes import Bullet
from memtui.services import status
from memtui.text import date_format
from memtui.workspace import Workspace


def show(workspace: Workspace, given: argparse.Namespace) -> int:
    """Print a node and its children, or the years."""
    scope = {"agent": given.agent, "project": given.project}
    if given.number is not None:
        reply = _version(workspace, given.node_id, given.number)
    elif given.node_id:
        reply = toc.get_node(workspace, given.node_id, **scope)
    else:
        reply = toc.get_toc_root(workspace, **scope)
    return ask.answer(workspace, given, reply)


def _version(workspace: Workspace, node_id: str | None, number: int) -> Reply:
    """Describe a version of a node, with what the verification of bullets found."""
    node = versions.edition(node_id, number)
    reply = toc.node_reply(workspace, node)
    by = node.generation.model or node.summarizer
    made = [f"Version {node.version}, by {by}"]
    if node.created_at:
        made[0] += f", {date_format.moment(node.created_at, workspace.zone)}"
    made += [f"Rejected: {node.rejection}"] if node.rejection else []
    head = {
        **reply.head,
        "made": made,
        "is_models": node.is_by_model,
        "is_pinned": node.is_pinned,
        "rejected": node.rejection,
        "facts": output.to_plain(node.generation),
    }
    items = [_verified(bullet) for bullet in node.bullets]
    items += [_verified(bullet) | {"is_withheld": True} for bullet in node.withheld]
    lead = [*reply.lead, *made]
    return replace(
        reply, items=items, line=_bullet_line, head=head, lead=lead, has_more=False
    )


def _verified(bullet: Bullet) -> Item:
    verdict, features = bullet.verdict, bullet.verdict.features
    return formatting.bullet(bullet) | {
        "covered": features.covered,
        "terms": features.terms,
        "hard": list(features.hard),
        "missing": list(features.missing),
        "negated": features.negation_differs,
        "opposites": [list(pair) for pair in features.opposites],
        "matched": list(verdict.matched),
        "quotes": output.to_plain(verdict.spans),
        "repaired": verdict.is_repaired,
    }


def _bullet_line(item: Mapping[str, Any]) -> str:
    withheld = " (withheld)" if "is_withheld" in item else ""
    return f"{formatting.bullet_line(dict(item))}{withheld}"


def expand(workspace: Workspace, given: argparse.Namespace) -> int:
    """Print the events behind a citation, and those around them."""
    reply = sessions.expand_grip(
        workspace, given.grip_id, before=given.before, after=given.after
    )
    if given.max_tokens is None:
        # In their order: nothing is left out from the end.
        items = sorted(reply.items, key=lambda item: int(item.get("place", 0)))
        reply = replace(reply, items=items)
    return ask.answer(workspace, given, reply)


def stats(workspace: Workspace, *, as_json: bool) -> int:
    """Print how much is kept."""
    kept = status.read_stats()
    if as_json:
        output.as_json(kept)
        return 0
    span = "nothing yet"
    if kept.first_at and kept.last_at:
        zone = workspace.zone
        first, last = (
            date_format.moment(kept.first_at, zone),
            date_format.moment(kept.last_at, zone),
        )
        span = f"{first} – {last}"
    rows = [
        ("sessions", f"{kept.sessions:,}"),
        ("messages", f"{kept.messages:,}"),
        ("events", f"{kept.events:,} ({kept.subagent_events:,} of subagents)"),
        ("segments", f"{kept.segments:,}"),
        ("nodes", f"{kept.nodes:,}"),
        ("bullets", f"{kept.bullets:,} ({kept.supported:,} with a source)"),
        ("grips", f"{kept.grips:,}"),
        ("waiting", f"{kept.queued:,}"),
        ("not taken", f"{kept.problems:,}"),
        ("span", span),
        *((f"agent {name}", f"{count:,} messages") for name, count in kept.agents),
        *(
            (f"project {name or '(none)'}", f"{count:,} messages")
            for name, count in kept.projects
        ),
    ]
    output.print_lines(f"{name:<28} {value}" for name, value in rows)
    return 0
