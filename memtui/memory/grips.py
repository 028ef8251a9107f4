"""A grip: the link from a bullet to the events that say it.

A bullet is anchored by its wording (decisions §6): an event scores by how well it and
the two events on either side of it hold the bullet's terms, rare terms weighing more.
What too little of the source says gets no grip, and shows as unsupported.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memtui.memory.events import Event
from memtui.memory.excerpts import excerpt
from memtui.memory.fits import Fits
from memtui.memory.segments import counted_text
from memtui.memory.sessions import Session
from memtui.memory.summaries import Claim

EXTEND_SHARE = 0.8
"""An adjacent event joins the grip from this share of the best score on."""

SUPPORT_SHARE = 0.3
"""Below this share of the bullet's weighted terms there is no grip."""

PIECE_SHARE = 0.5
"""The same for a piece of a bullet that only its pieces support."""

MOST = 3
"""How many grips a bullet that strings pieces together gets: those of the pieces that
tell most. Four more edits of the same files add nothing to follow."""

ID_BYTES = 8
"""How long the hash in a grip's id is, in bytes."""


@dataclass(frozen=True, slots=True)
class Grip:
    """An excerpt, verbatim, and the events it stands in (seed 1)."""

    grip_id: str
    excerpt: str
    event_id_start: str
    event_id_end: str
    timestamp: datetime
    source: str
    """Which process made it: ``segment_summarizer``, ``day_rollup``."""
    toc_node_id: str | None = None


@dataclass(frozen=True, slots=True)
class Expansion:
    """A grip with its events and those around them; all empty for an unknown grip."""

    grip: Grip | None = None
    session: Session | None = None
    events_before: tuple[Event, ...] = ()
    excerpt_events: tuple[Event, ...] = ()
    events_after: tuple[Event, ...] = ()


def anchor(
    claims: Sequence[Claim], events: Sequence[Event], *, node_id: str, source: str
) -> list[tuple[Grip, ...]]:
    """Find what each bullet rests on.

    Args:
        claims: The bullets of one node; their ``refs`` only break ties.
        events: The events of its segment in their order, the overlap left out.
        node_id: The node the grips belong to.
        source: The process that asks.

    Returns:
        For each claim its grips: none for an unsupported one, several for a claim
        whose pieces stand in different places.
    """
    fits = Fits([counted_text(event) for event in events])
    return [
        tuple(
            Grip(
                grip_id=grip_id(node_id, claim.text, events[place.start]),
                excerpt=excerpt(
                    counted_text(events[place.best]), fits.weights(place.piece)
                ),
                event_id_start=events[place.start].event_id,
                event_id_end=events[place.end].event_id,
                timestamp=events[place.best].timestamp,
                source=source,
                toc_node_id=node_id,
            )
            for place in _places(claim, fits)
        )
        for claim in claims
    ]


def grip_id(node_id: str, bullet: str, start: Event) -> str:
    """The id a grip has whenever it is made again (decisions §6)."""
    named = "\x1f".join((node_id, bullet, start.event_id)).encode("utf-8", "replace")
    digest = hashlib.blake2b(named, digest_size=ID_BYTES).hexdigest()
    return f"grip:{start.timestamp_ms}:{digest}"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a bullet, or a piece of it, stands: its best event and the range."""

    piece: str
    best: int
    start: int
    end: int


_OUR_VERBS = re.compile(
    r"(^|; )(?:wrote|edited|ran|read|searched for|committed) (?=\S)", re.IGNORECASE
)
"""How a bullet tells a deed: a word of the bullet's own, that no call's text holds."""


def _places(claim: Claim, fits: Fits) -> list[_Place]:
    told = _OUR_VERBS.sub(r"\1", claim.text)
    whole = _place(told, claim.refs, fits, SUPPORT_SHARE)
    if ";" not in told and whole is not None:
        return [whole]
    found: dict[int, _Place] = {}
    pieces = _pieces(told)
    for piece in pieces if len(pieces) > 1 else ():
        place = _place(piece, claim.refs, fits, PIECE_SHARE)
        if place is not None:
            found.setdefault(place.start, place)
    if whole is not None and len(found) < 2:
        return [whole]
    weights = {start: fits.weight(place.piece) for start, place in found.items()}
    if sum(weights.values()) < SUPPORT_SHARE * fits.weight(told):
        return []
    best = sorted(weights, key=lambda start: -weights[start])[:MOST]
    return [place for start, place in found.items() if start in best]


def _pieces(bullet: str) -> list[str]:
    """What a bullet strings together: "Edited a.py, b.py; ran pytest"."""
    return [
        piece.strip()
        for part in bullet.split("; ")
        for piece in part.split(", ")
        if piece.strip()
    ]


def _place(text: str, refs: Sequence[int], fits: Fits, share: float) -> _Place | None:
    scores = fits.scores(text)
    if not scores:
        return None
    best = max(scores, key=lambda at: (round(scores[at], 6), at in refs, -at))
    limit = EXTEND_SHARE * scores[best]
    start = end = best
    while scores.get(start - 1, 0.0) >= limit:
        start -= 1
    while scores.get(end + 1, 0.0) >= limit:
        end += 1
    if fits.covered(text, start, end) < share:
        return None
    return _Place(text, best, start, end)
