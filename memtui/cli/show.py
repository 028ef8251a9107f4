"""``show``, ``expand`` and ``stats``: asking the memory from a shell."""

import argparse
from collections.abc import Iterable, Iterator
from datetime import tzinfo

from memtui.agents import formatting, navigation
from memtui.agents.replies import Plain, Reply
from memtui.cli import ask, output, versions
from memtui.model.events import Event
from memtui.model.grips import Expansion
from memtui.model.nodes import Bullet, NodeStatus, TocEntry, TocLevel, TocNode
from memtui.model.scope import Scope
from memtui.model.verdicts import Support
from memtui.services import browse, status
from memtui.services.sources import expand as expanded
from memtui.summarize.grounding import explain
from memtui.text import date_format
from memtui.text.fencing import line as neutral
from memtui.workspace import Workspace

MARKS = {Support.SUPPORTED: "✓", Support.WEAK: "~", Support.UNSUPPORTED: "✗"}


def lines(bullet: Bullet) -> Iterator[str]:
    """A bullet behind its mark, why it has that, and its grips."""
    yield f"{MARKS[bullet.support]} {bullet.text}"
    if why := explain.of(bullet):
        yield f"    {why}"
    for grip_id in bullet.grip_ids:
        yield f"    {grip_id}"


def parts(node: TocNode) -> list[Plain]:
    """A version's bullets, then what is withheld, with what their audit found."""
    told = [_told(bullet) for bullet in node.bullets]
    return told + [_told(bullet) | {"is_withheld": True} for bullet in node.withheld]


def _told(bullet: Bullet) -> Plain:
    verdict, features = bullet.verdict, bullet.verdict.features
    return formatting.bullet(bullet) | {
        "covered": features.covered,
        "terms": features.terms,
        "hard": _neutral(features.hard),
        "missing": _neutral(features.missing),
        "negated": features.negation_differs,
        "opposites": [_neutral(pair) for pair in features.opposites],
        "matched": _neutral(verdict.matched),
        "quotes": output.to_plain(verdict.spans),
        "repaired": verdict.is_repaired,
    }


def _neutral(said: Iterable[str]) -> list[str]:
    return [neutral(word) for word in said]


EVENT_CHARS = 2000
"""How much of one event is printed, in characters."""


_TOLD = (NodeStatus.PENDING, NodeStatus.STALE)
"""What is said of how a node stands; all else is as one expects."""


def show(house: Workspace, given: argparse.Namespace) -> int:
    """Print a node and its children, or the years; those of an agent or a project."""
    node_id, of = given.node_id, Scope(given.agent, given.project)
    if given.number is not None:
        return _show_version(house, given)

    def reply() -> Reply:
        asking = house.asking
        return (
            asking.get_node(node_id, of=of) if node_id else asking.get_toc_root(of=of)
        )

    return ask.answer(house, given, reply, lambda: _shown(node_id, of, house.zone))


def _shown(node_id: str | None, of: Scope, zone: tzinfo) -> Iterator[str]:
    part = navigation.part(node_id, of) if node_id else None
    node = part.node if part else None
    if node_id and node is None:
        yield f"There is no node {node_id}. See the years: memtui show"
        return
    children = browse.children(node.node_id, of=of) if node else browse.years(of=of)
    yield from _page(node, children, zone)
    if part and part.hidden_bullets:
        yield navigation.LEFT_OUT.format(of, part.hidden_bullets)
    if of.is_narrow and not children:
        yield f"Nothing here is of {of}."


def _show_version(house: Workspace, given: argparse.Namespace) -> int:
    """Print a version of a node, whichever is shown."""
    node = versions.edition(given.node_id, given.number)
    made = list(_made(node, house.zone))

    def reply() -> Reply:
        about = house.asking.told_of(node)
        head = about.head | {
            "made": [neutral(line) for line in made],
            "is_models": node.is_by_model,
            "is_pinned": node.is_pinned,
            "rejected": neutral(node.rejection),
            "facts": output.to_plain(node.generation),
        }
        lead = [*about.lead, *head["made"]]
        return Reply("parts", parts(node), _part, head, lead)

    return ask.answer(
        house, given, reply, lambda: [*made, *_page(node, [], house.zone)]
    )


def _part(told: Plain) -> str:
    withheld = " (withheld)" if "is_withheld" in told else ""
    return f"{formatting.bullet_line(told)}{withheld}"


def _page(
    node: TocNode | None, children: list[TocEntry], zone: tzinfo
) -> Iterator[str]:
    if node:
        yield node.title
        if node.headline != node.title:
            yield node.headline
        if node.level is TocLevel.SEGMENT:
            span = f"{date_format.moment(node.start_time, zone)} – "
            yield f"{span}{date_format.clock(node.end_time, zone)} · {_of(node)}"
        if node.keywords:
            yield " · ".join(node.words)
        if node.is_pinned:
            yield _pinned(node)
        if node.bullets:
            yield ""
        for bullet in node.bullets:
            yield from lines(bullet)
        if node.withheld:
            yield ""
            yield "Withheld, since no source says it:"
        for bullet in node.withheld:
            yield from lines(bullet)
        if children:
            yield ""
    for line in children:
        yield _line(line, zone)


def _of(node: TocNode) -> str:
    messages = output.plural(node.counts.messages, "message")
    return " · ".join([*node.projects, *node.agents, messages])


def _pinned(node: TocNode) -> str:
    said = f"Version {node.version} is pinned"
    is_old = node.status is NodeStatus.STALE
    return f"{said}; something has changed since." if is_old else f"{said}."


def _made(node: TocNode, zone: tzinfo) -> Iterator[str]:
    """Which version of a node this is, by whom, and why it is not shown."""
    by = node.generation.model or node.summarizer
    at = f", {date_format.moment(node.created_at, zone)}" if node.created_at else ""
    yield f"Version {node.version}, by {by}{at}"
    if node.rejection:
        yield f"Rejected: {node.rejection}"


def _line(line: TocEntry, zone: tzinfo) -> str:
    live = "● " if line.is_live else ""
    if line.level is TocLevel.SEGMENT:
        name = f"{date_format.clock(line.start_time, zone)}  {live}{line.headline}"
        return f"{line.node_id}  {name}{_mark(line)}"
    count = output.plural(line.counts.segments, "segment")
    said = f": {line.headline}" if line.headline else ""
    title = f"{live}{line.title}{said} ({count}){_mark(line)}"
    return f"{line.node_id}  {title}"


def _mark(line: TocEntry) -> str:
    """How a node stands where that is not the last word."""
    told = ["pinned"] if line.is_pinned else []
    told += [line.status.value] if line.status in _TOLD else []
    return f" ({', '.join(told)})" if told else ""


def expand(house: Workspace, given: argparse.Namespace) -> int:
    """Print a grip's events and those around them."""
    around = {"before": given.before, "after": given.after}

    def reply() -> Reply:
        return house.asking.expand_grip(given.grip_id, **around)

    def page() -> Iterable[str]:
        found = expanded(given.grip_id, **around)
        if found.grip is None:
            return [f"There is no grip {given.grip_id}."]
        return _expansion(found, house.zone)

    return ask.answer(house, given, reply, page)


def _expansion(found: Expansion, zone: tzinfo) -> Iterator[str]:
    assert found.grip is not None
    if found.session:
        about = [found.session.agent, found.session.project, found.session.session_id]
        yield " · ".join(part for part in about if part)
    yield f"“{found.grip.excerpt}”"
    yield ""
    for event in found.events_before:
        yield from event_lines(event, " ", zone)
    for event in found.excerpt_events:
        yield from event_lines(event, "┃", zone)
    for event in found.events_after:
        yield from event_lines(event, " ", zone)


def event_lines(event: Event, bar: str, zone: tzinfo) -> Iterator[str]:
    """An event as lines, each behind a bar; of a long one the beginning."""
    text = event.text
    if len(text) > EVENT_CHARS:
        text = f"{text[:EVENT_CHARS]}… ({len(text) - EVENT_CHARS:,} characters more)"
    first, *others = text.splitlines() or [str(event.event_type)]
    yield f"{bar} {date_format.clock(event.timestamp, zone)} {event.role:<9} {first}"
    for line in others:
        yield f"{bar} {'':15} {line}"


def stats(house: Workspace, *, as_json: bool) -> int:
    """Print how much is kept."""
    kept = status.read_stats()
    if as_json:
        output.as_json(kept)
        return 0
    span = "nothing yet"
    if kept.first_at and kept.last_at:
        zone = house.zone
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
