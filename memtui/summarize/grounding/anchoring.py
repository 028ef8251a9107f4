"""Places: where in a run of events a bullet stands.

A bullet stands where its words do. Among places that hold them about as well it stands
where it says itself, else near the bullets next to it, since neighbours in a summary
come from neighbouring turns. A bullet that strings pieces together stands where its
pieces do.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memtui.model.events import Event
from memtui.model.grips import Grip, grip_id
from memtui.model.segments import counted_text
from memtui.model.summaries import DraftBullet
from memtui.text.passages import NeighbourIndex
from memtui.text.prose import best_excerpt

EXTEND_SHARE = 0.8
"""An adjacent event joins the place from this share of the best score on."""

SUPPORT_SHARE = 0.3
"""Below this share of the bullet's weighted terms it stands nowhere."""

PIECE_SHARE = 0.5
"""The same for a piece of a bullet that only its pieces support."""

MOST = 3
"""How many places a bullet that strings pieces together has: those of the pieces that
tell most. Four more edits of the same files add nothing to follow."""

CITED_SHARE = 0.8
"""From this share of the best score on, an event that the bullet cites is its place."""

OPEN_SHARE = 0.7
"""From this share on, the bullets nearby decide between places, if none is cited."""

NEIGHBOURS = (1.0, 0.5)
"""What the bullets one and two before and after it count."""

REACH = 6
"""How many events away from a bullet's own place its neighbours may stand."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where a bullet, or a piece of it, stands: its best event and the range."""

    piece: str
    best: int
    start: int
    end: int
    covered: float
    """The share of the piece's weight that the range holds: 0 to 1."""


def find_anchors(
    claims: Sequence[DraftBullet], fits: NeighbourIndex
) -> list[tuple[Anchor, ...]]:
    """Find where each bullet of a summary stands.

    Args:
        claims: The bullets in their order; their ``refs`` decide between places that
            fit about as well.
        fits: The texts of the events.

    Returns:
        For each claim its places: none when too little of it is said anywhere, several
        for a claim whose pieces stand apart.
    """
    return [
        _supported(told, claim.refs, whole, fits)
        for claim, told, whole in zip(
            claims, map(_told, claims), nearest_anchors(claims, fits), strict=True
        )
    ]


def nearest_anchors(
    claims: Sequence[DraftBullet], fits: NeighbourIndex
) -> list[Anchor | None]:
    """The place that fits each whole bullet best, however little of it is said there.

    Args:
        claims: The bullets in their order.
        fits: The texts of the events.

    Returns:
        None for a bullet of which no event holds a word.
    """
    told = [_told(claim) for claim in claims]
    scores = [fits.scores(text) for text in told]
    return [
        _place(text, claim.refs, fits, scores[at], _around(scores, at))
        for at, (text, claim) in enumerate(zip(told, claims, strict=True))
    ]


_OUR_VERBS = re.compile(
    r"(^|; )(?:wrote|edited|ran|read|searched for|committed) (?=\S)", re.IGNORECASE
)
"""How a bullet tells a deed: a word of the bullet's own, that no call's text holds."""


def _told(claim: DraftBullet) -> str:
    return _OUR_VERBS.sub(r"\1", claim.text)


def _around(
    scores: Sequence[Mapping[int, float]], at: int
) -> list[tuple[float, Mapping[int, float]]]:
    """The scores of the bullets beside one, each with what it counts."""
    return [
        (share, scores[place])
        for away, share in enumerate(NEIGHBOURS, start=1)
        for place in (at - away, at + away)
        if 0 <= place < len(scores)
    ]


def _supported(
    told: str, refs: Sequence[int], whole: Anchor | None, fits: NeighbourIndex
) -> tuple[Anchor, ...]:
    if whole is not None and whole.covered < SUPPORT_SHARE:
        whole = None
    if ";" not in told and whole is not None:
        return (whole,)
    found: dict[int, Anchor] = {}
    pieces = _pieces(told)
    for piece in pieces if len(pieces) > 1 else ():
        place = _place(piece, refs, fits, fits.scores(piece))
        if place is not None and place.covered >= PIECE_SHARE:
            found.setdefault(place.start, place)
    if whole is not None and len(found) < 2:
        return (whole,)
    weights = {start: fits.weight(place.piece) for start, place in found.items()}
    if sum(weights.values()) < SUPPORT_SHARE * fits.weight(told):
        return ()
    best = sorted(weights, key=lambda start: -weights[start])[:MOST]
    return tuple(place for start, place in found.items() if start in best)


def _pieces(bullet: str) -> list[str]:
    """What a bullet strings together: "Edited a.py, b.py; ran pytest"."""
    return [
        piece.strip()
        for part in bullet.split("; ")
        for piece in part.split(", ")
        if piece.strip()
    ]


def _place(
    text: str,
    refs: Sequence[int],
    fits: NeighbourIndex,
    scores: Mapping[int, float],
    around: Sequence[tuple[float, Mapping[int, float]]] = (),
) -> Anchor | None:
    if not scores:
        return None
    most = max(scores.values())
    cited = {at for at in refs if scores.get(at, 0.0) >= CITED_SHARE * most}
    fitting = {
        at: round(scores[at] + (0.0 if cited else _nearby(around, at)), 6)
        for at in cited or scores
        if scores[at] >= OPEN_SHARE * most
    }
    best = max(fitting, key=lambda at: (fitting[at], -at))
    limit = EXTEND_SHARE * scores[best]
    start = end = best
    while scores.get(start - 1, 0.0) >= limit:
        start -= 1
    while scores.get(end + 1, 0.0) >= limit:
        end += 1
    return Anchor(text, best, start, end, fits.covered(text, start, end))


def _nearby(around: Sequence[tuple[float, Mapping[int, float]]], at: int) -> float:
    """How well the bullets beside one fit near an event."""
    reach = range(at - REACH, at + REACH + 1)
    return sum(
        share * max(scores.get(place, 0.0) for place in reach)
        for share, scores in around
    )


def create_grips(
    claims: Sequence[DraftBullet], events: Sequence[Event], *, node_id: str, source: str
) -> list[tuple[Grip, ...]]:
    """Find what each bullet rests on.

    Args:
        claims: The bullets of one node; their ``refs`` decide between events that fit
            about as well.
        events: The events of its segment in their order, the overlap left out.
        node_id: The node the grips belong to.
        source: The process that asks.

    Returns:
        For each claim its grips: none for an unsupported one, several for a claim
        whose pieces stand in different places.
    """
    fits = NeighbourIndex([counted_text(event) for event in events])
    return [
        tuple(
            Grip(
                grip_id=grip_id(node_id, claim.text, events[place.start]),
                excerpt=best_excerpt(
                    counted_text(events[place.best]), fits.weights(place.piece)
                ),
                event_id_start=events[place.start].event_id,
                event_id_end=events[place.end].event_id,
                timestamp=events[place.best].timestamp,
                source=source,
                toc_node_id=node_id,
            )
            for place in found
        )
        for claim, found in zip(claims, find_anchors(claims, fits), strict=True)
    ]
