"""Vouching: a draft's claims with the sources and the verdicts they turn out to have.

Every summariser's draft passes here, whoever it is. What a model claims and no source
says is withheld: kept, but neither shown nor rolled up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from memtui.model import grips as model_grips
from memtui.model.events import Event
from memtui.model.grips import Grip
from memtui.model.nodes import Bullet, TocNode
from memtui.model.segments import counted_text
from memtui.model.summaries import DraftBullet, Summary
from memtui.model.verdicts import SourceQuote, Support, Verdict
from memtui.summarize.grounding import anchoring, claims
from memtui.summarize.grounding.actions import EventPassages
from memtui.summarize.grounding.claims import ChildBullet
from memtui.text import prose
from memtui.text.passages import PassageIndex

MIN_SUPPORTED_SHARE = 0.5
"""A model's summary of whose bullets fewer stand up to their sources is rejected."""

NO_BULLET = "no bullet was written"
NONE_SUPPORTED = "no bullet is supported by the source"

EventReader = Callable[[Sequence[str]], Sequence[Event]]
"""The events behind some grips, in their order."""


@dataclass(frozen=True, slots=True)
class GroundedSummary:
    """What has become of a draft."""

    title: str
    """The draft's, or "" if it is a model's and no source says it."""
    bullets: tuple[Bullet, ...]
    withheld: tuple[Bullet, ...] = ()
    grips: tuple[Grip, ...] = ()
    """Those that were made for it; inherited ones were made before."""

    @property
    def why_not(self) -> str:
        """Why a model's draft is not good enough to be shown; "" if it is."""
        return _why_not([one.support for one in (*self.bullets, *self.withheld)])


def rejection_reason(draft: Summary, texts: Sequence[str]) -> str:
    """Why a draft will not be good enough to be shown; "" if it may be.

    Args:
        draft: What a model wrote.
        texts: What it was shown.
    """
    found = claims.check_against_texts(
        [DraftBullet(one.text) for one in draft.bullets], PassageIndex(texts)
    )
    return _why_not([one.support for one in found])


def _why_not(found: Sequence[Support]) -> str:
    if not found:
        return NO_BULLET
    if Support.SUPPORTED not in found:
        return NONE_SUPPORTED
    missing = found.count(Support.UNSUPPORTED)
    if len(found) - missing < MIN_SUPPORTED_SHARE * len(found):
        return f"{missing} of {len(found)} bullets are not supported by the source"
    return ""


def ground_segment(
    draft: Summary, events: Sequence[Event], *, node_id: str, source: str
) -> GroundedSummary:
    """Hold a segment's draft against its events.

    Args:
        draft: The draft; the ``refs`` of its claims are places in ``events``.
        events: The events of the segment in their order, the overlap left out.
        node_id: The segment.
        source: The process that asks.
    """
    passages = EventPassages(events)
    anchored = anchoring.create_grips(
        draft.bullets, events, node_id=node_id, source=source
    )
    places = {event.event_id: at for at, event in enumerate(events)}
    made: list[Grip] = []
    bullets = []
    for claim, found in zip(draft.bullets, anchored, strict=True):
        held = [at for grip in found for at in _range(grip, places)]
        verdict = _held_there(claim, held, passages)
        quoted = {one.index: one for one in reversed(verdict.quotes)}
        if verdict.support is not Support.UNSUPPORTED and not {*held} & {*quoted}:
            named = partial(_quoting, claim, events, node_id=node_id, source=source)
            found = (*found, *map(named, quoted.values()))
        made += found
        names = tuple(dict.fromkeys(grip.grip_id for grip in found))
        bullets.append(
            Bullet(claim.text, names, claims.with_event_quotes(verdict, events))
        )
    title = _title(draft, passages)
    return _sorted(title, bullets, made, is_models=_is_models(draft))


def ground_parent(
    draft: Summary, children: Sequence[TocNode], leaves: EventReader
) -> GroundedSummary:
    """Hold a parent's draft against its children's bullets, and these against leaves.

    A bullet inherits the grips of the children's bullets it rests on.

    Args:
        draft: The draft; the ``refs`` of its claims are places in the row of all the
            children's bullets.
        children: The children, oldest first.
        leaves: Reads events; asked only if a model worded something anew.
    """
    row = [bullet for child in children for bullet in child.bullets]
    is_models = _is_models(draft)
    below = [
        ChildBullet(
            one.text, one.verdict, tuple(leaves(one.grip_ids)) if is_models else ()
        )
        for one in row
    ]
    bullets = []
    verdicts = claims.check_against_children(draft.bullets, below)
    for claim, verdict in zip(draft.bullets, verdicts, strict=True):
        rests_on = {one.index for one in verdict.quotes} or {
            at for at in claim.refs if 0 <= at < len(row)
        }
        names = (name for at in sorted(rests_on) for name in row[at].grip_ids)
        bullets.append(Bullet(claim.text, tuple(dict.fromkeys(names)), verdict))
    told = [one.text for one in row] + [child.headline for child in children]
    title = _title(draft, PassageIndex(told))
    return _sorted(title, bullets, (), is_models=is_models)


def _is_models(draft: Summary) -> bool:
    return bool(draft.generation.model)


def _sorted(
    title: str, bullets: Sequence[Bullet], made: Sequence[Grip], *, is_models: bool
) -> GroundedSummary:
    shown = [one for one in bullets if one.has_support or not is_models]
    withheld = [one for one in bullets if not one.has_support and is_models]
    return GroundedSummary(title, tuple(shown), tuple(withheld), tuple(made))


def _title(draft: Summary, source: PassageIndex) -> str:
    """A draft's title; of a model's only what nothing in the source speaks against."""
    if _is_models(draft):
        (verdict,) = claims.check_against_texts([DraftBullet(draft.title)], source)
        if verdict.support is Support.UNSUPPORTED or verdict.features.is_contradicted:
            return ""
    return draft.title


def _range(grip: Grip, places: dict[str, int]) -> range:
    return range(places[grip.event_id_start], places[grip.event_id_end] + 1)


def _held_there(
    claim: DraftBullet, held: Sequence[int], source: PassageIndex
) -> Verdict:
    """The verdict on a claim, quoting where its grips are unless that supports less."""
    (verdict,) = claims.check_against_texts([claim], source)
    if held and not {one.index for one in verdict.quotes} <= {*held}:
        (there,) = claims.check_against_texts(
            [DraftBullet(claim.text, tuple(held))], source
        )
        return replace(there, is_repaired=verdict.is_repaired)
    return verdict


def _quoting(
    claim: DraftBullet,
    events: Sequence[Event],
    quote: SourceQuote,
    *,
    node_id: str,
    source: str,
) -> Grip:
    """A grip for a quote, where the claim's others hold none of its quotes."""
    event = events[quote.index]
    said = counted_text(event)[quote.start : quote.end]
    return Grip(
        grip_id=model_grips.grip_id(node_id, claim.text, event),
        excerpt=prose.truncate(said.strip(), prose.EXCERPT_CHARS),
        event_id_start=event.event_id,
        event_id_end=event.event_id,
        timestamp=event.timestamp,
        source=source,
        toc_node_id=node_id,
    )
