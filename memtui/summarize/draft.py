"""Ground a draft summary: give each bullet its grips and its verdict.

Drafts of all summarizers pass here. Bullets of a model that the source does not support
are withheld: stored, but neither shown nor rolled up.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memtui.model.citations import Grip
from memtui.model.events import Event
from memtui.model.nodes import Bullet, TocNode
from memtui.model.sessions import WorkState, counted_text
from memtui.model.summaries import (
    CARD,
    BulletKind,
    DraftBullet,
    Summary,
)
from memtui.model.verdicts import (
    EventQuote,
    Support,
    Verdict,
    VerdictFeatures,
    hash_quote,
)
from memtui.summarize import acceptance
from memtui.summarize.acceptance import Objection, SourceTexts
from memtui.summarize.grounding import anchoring, claims
from memtui.summarize.grounding.claims import ChildBullet, EventPassages
from memtui.summarize.grounding.passages import PassageIndex
from memtui.summarize.rollup import create_bullet, join_bullets
from memtui.summarize.session_work import CONTINUED
from memtui.text import analyzer, prose

EventReader = Callable[[Sequence[str]], Sequence[Event]]
"""Reads the events behind some grips, in order."""


@dataclass(frozen=True, slots=True)
class GroundedSummary:
    """A summary with verdicts and grips."""

    title: str
    """The draft's title; "" if it is a model's that was not accepted."""
    bullets: tuple[Bullet, ...]
    withheld: tuple[Bullet, ...] = ()
    grips: tuple[Grip, ...] = ()
    """The new grips; inherited ones exist already."""
    rejection: str = ""
    """Why a model's draft is not shown; "" if it is."""

    def with_extract(self, extract: "GroundedSummary") -> "GroundedSummary":
        """Return a model's summary with what it lacks of an extract.

        These are the facts, and the fields of a card that were not written or not
        accepted; beside a plain list of bullets only the facts and the pieces of work.
        A weak bullet, or one that repeats a line of the extract, is withheld if the
        extract has that field or lists the work.
        """
        lines = [one for one in extract.bullets if one.kind is not BulletKind.QUOTE]
        if any(one.kind is BulletKind.NOTE for one in self.bullets):
            lines = [one for one in lines if one.kind not in CARD]
        is_open = any(
            one.kind is BulletKind.STATE and one.text in UNFINISHED for one in lines
        )
        known = {one.kind for one in lines if one.kind in CARD}
        works = [one for one in lines if one.kind is BulletKind.WORK]
        known |= {BulletKind.NOTE} if works else set()
        own, withheld = list(self.bullets), list(self.withheld)

        def withhold(bullet: Bullet, objection: Objection) -> None:
            own.remove(bullet)
            withheld.append(_with_objection(bullet, objection))

        for one in self.bullets:
            is_outcome = is_open and one.kind is BulletKind.OUTCOME
            if is_outcome and acceptance.claims_completion(one.text):
                withhold(one, Objection.TOO_SURE)
        written = (*own, *withheld)
        for one in tuple(own):
            if one.support is Support.WEAK and one.kind in known:
                withhold(one, Objection.WEAK)
        for one in tuple(own):
            missing = known - {bullet.kind for bullet in own}
            texts = [line.text for line in lines if line.kind in missing]
            for line in works:
                texts += [f"{line.project}: {line.text}", line.text.partition(" — ")[2]]
            if acceptance.is_repetition(one.text, texts):
                withhold(one, Objection.REPETITION)
        kinds = {one.kind for one in own}
        bullets = [*own, *(line for line in lines if line.kind not in kinds)]
        title = self._title_beside(extract.title, works)
        says_more = title != extract.title or BulletKind.NOTE in kinds or not works
        names_work = bool(self.title) and extract.title.endswith(CONTINUED)
        return replace(
            self,
            title=title,
            rejection=acceptance.find_rejection(written, names_work=names_work)
            or ("" if says_more else "it says no more than the extract"),
            bullets=tuple(sorted(bullets, key=_card_order)),
            withheld=tuple(withheld),
            grips=(*self.grips, *extract.grips),
        )

    def _title_beside(self, extract_title: str, works: Sequence[Bullet]) -> str:
        """Return the extract's title if there is no other, or only it names the
        projects."""
        named = {one.project for one in works if f"{one.project}: " in extract_title}
        title = self.title.casefold()
        are_named = all(project.casefold() in title for project in named)
        return self.title if title and are_named else extract_title


def _with_objection(bullet: Bullet, objection: Objection) -> Bullet:
    verdict = replace(bullet.verdict, objection=objection, is_of_model=True)
    return replace(bullet, verdict=verdict)


UNFINISHED = (WorkState.OPEN, WorkState.FAILED, WorkState.ABANDONED)

_ORDER = (
    BulletKind.ASKED,
    BulletKind.OUTCOME,
    BulletKind.NOTE,
    BulletKind.DECISION,
    BulletKind.LEFT_OPEN,
)


def _card_order(bullet: Bullet) -> int:
    return _ORDER.index(bullet.kind) if bullet.kind in _ORDER else len(_ORDER)


def ground_segment(
    draft: Summary, events: Sequence[Event], *, node_id: str
) -> GroundedSummary:
    """Ground a segment's draft in its events.

    Args:
        draft: The draft; ``refs`` are indexes into ``events``.
        events: The events of the segment in order, without the overlap.
        node_id: The segment.
    """
    if not draft.generation.model:
        return _ground_extract(draft, events, node_id)
    passages = EventPassages(events)
    anchored = anchoring.create_grips(draft.bullets, events, node_id)
    indexes = {event.event_id: at for at, event in enumerate(events)}
    new_grips: list[Grip] = []
    bullets = []
    for claim, grips in zip(draft.bullets, anchored, strict=True):
        cited_indexes = [at for grip in grips for at in _range(grip, indexes)]
        verdict = _check_at_grips(claim, cited_indexes, passages)
        quotes = {one.index: one for one in reversed(verdict.quotes)}
        if verdict.support is not Support.UNSUPPORTED and quotes.keys().isdisjoint(
            cited_indexes
        ):
            for at, quote in quotes.items():
                quoted = passages.quoted_text(quote).strip()
                excerpt = prose.truncate(quoted, prose.EXCERPT_CHARS)
                grips += (
                    anchoring.create_grip(claim.text, events[at], excerpt, node_id),
                )
        new_grips += grips
        grip_ids = tuple(dict.fromkeys(grip.grip_id for grip in grips))
        verdict = claims.with_event_quotes(verdict, events)
        bullets.append(create_bullet(claim, grip_ids, verdict))
    texts = [(event.role.value, counted_text(event)) for event in events]
    source_texts = SourceTexts(texts)
    title = acceptance.accept_title(draft.title, [draft.title], passages, source_texts)
    return _accept(title, draft, bullets, new_grips, source_texts)


def _ground_extract(
    draft: Summary, events: Sequence[Event], node_id: str
) -> GroundedSummary:
    """Ground bullets that were taken from known events: these are their grips."""
    grips: dict[str, Grip] = {}
    bullets = []
    for claim in draft.bullets:
        weights = dict.fromkeys(analyzer.query_terms(claim.text), 1.0)
        mine = [
            anchoring.create_grip(
                claim.text,
                events[at],
                prose.best_excerpt(events[at].text, weights),
                node_id,
            )
            for at in claim.refs
            if 0 <= at < len(events)
        ]
        grips |= {grip.grip_id: grip for grip in mine}
        terms = tuple(sorted(weights))
        verdict = Verdict(
            Support.SUPPORTED,
            VerdictFeatures(1.0, len(terms)),
            terms,
            spans=tuple(_quotes(claim, events, weights)),
        )
        bullets.append(
            create_bullet(claim, tuple(grip.grip_id for grip in mine), verdict)
        )
    return GroundedSummary(draft.title, tuple(bullets), grips=tuple(grips.values()))


def _quotes(
    claim: DraftBullet, events: Sequence[Event], weights: Mapping[str, float]
) -> Iterator[EventQuote]:
    """Yield the bullet in its events, or the sentence that is nearest to it."""
    for at in (one for one in claim.refs if 0 <= one < len(events)):
        text = events[at].text
        quoted = claim.text if claim.text in text else prose.best_excerpt(text, weights)
        start = text.find(quoted)
        if quoted and start >= 0:
            event_id, end = events[at].event_id, start + len(quoted)
            yield EventQuote(event_id, start, end, hash_quote(quoted))


def ground_parent(
    draft: Summary, children: Sequence[TocNode], read_events: EventReader
) -> GroundedSummary:
    """Ground a parent's draft in its children's bullets and their events.

    Each bullet inherits the grips of the children's bullets it rests on.

    Args:
        draft: The draft; ``refs`` are indexes into all children's bullets in a row.
        children: The children, oldest first.
        read_events: Reads events; called only if a model reworded bullets.
    """
    row = [bullet for child in children for bullet in child.bullets]
    if not draft.generation.model:
        return GroundedSummary(draft.title, join_bullets(draft, row))
    below = [
        ChildBullet(one.text, one.verdict, tuple(read_events(one.grip_ids)))
        for one in row
    ]
    bullets = []
    projects = {project for child in children for project in child.projects}
    drafted = [_with_project(one, projects) for one in draft.bullets]
    plain = [
        replace(one, text=one.text.removeprefix(f"{one.project}: ")) for one in drafted
    ]
    verdicts = claims.check_against_children(plain, below)
    for claim, verdict in zip(drafted, verdicts, strict=True):
        rests_on = {one.index for one in verdict.quotes} or {
            at for at in claim.refs if 0 <= at < len(row)
        }
        grip_ids = (name for at in sorted(rests_on) for name in row[at].grip_ids)
        bullets.append(create_bullet(claim, tuple(dict.fromkeys(grip_ids)), verdict))
    texts = [one.text for one in row] + [child.headline for child in children]
    source_texts = SourceTexts([("note", text) for text in texts])
    passages = PassageIndex([*texts, *projects])
    parts = _HEADLINE_SEPARATOR.split(draft.title)
    title = acceptance.accept_title(draft.title, parts, passages, source_texts)
    return _accept(title, draft, bullets, (), source_texts)


_HEADLINE_SEPARATOR = re.compile(r"; |, and | and |, |: ")
"""The separator of the pieces of work in a headline: each is checked by itself."""


def _with_project(claim: DraftBullet, projects: Collection[str]) -> DraftBullet:
    """Return a bullet with the project that it begins with."""
    begun = (one for one in projects if claim.text.startswith(f"{one}: "))
    return replace(claim, project=next(begun, ""))


def _accept(
    title: str,
    draft: Summary,
    bullets: Sequence[Bullet],
    new_grips: Sequence[Grip],
    source: SourceTexts,
) -> GroundedSummary:
    """Return a model's summary; the bullets that are not accepted are withheld."""
    objections = acceptance.list_objections(draft.bullets, source)
    judged = list(map(_with_objection, bullets, objections))
    return GroundedSummary(
        title,
        tuple(one for one in judged if acceptance.is_kept(one)),
        tuple(one for one in judged if not acceptance.is_kept(one)),
        tuple(new_grips),
    )


def _range(grip: Grip, places: dict[str, int]) -> range:
    return range(places[grip.event_id_start], places[grip.event_id_end] + 1)


def _check_at_grips(
    claim: DraftBullet, text_indexes: Sequence[int], source: PassageIndex
) -> Verdict:
    """Return the verdict on a claim, quoting where its grips are unless worse there."""
    verdict = claims.check_bullet(claim, source)
    if text_indexes and not {one.index for one in verdict.quotes} <= {*text_indexes}:
        there = claims.check_bullet(
            DraftBullet(claim.text, tuple(text_indexes)), source
        )
        return replace(there, is_repaired=verdict.is_repaired)
    return verdict
