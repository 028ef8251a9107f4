"""Measure how often a bullet is anchored where people say it belongs.

Each sentence of QMSum's human summaries of specific queries is anchored in its meeting.
It counts as right if the anchored turn is in the annotated range, and as wrong without
an anchor. Grips are given by ``ground_bullets``, not if too little is found;
``nearest_anchors`` never declines, and is compared with other ways that never do. Every
second meeting is held out. Turns are used with and without the speaker's name. LoCoMo's
facts are anchored among the turns of their session, and are right only at the turn they
are from. Run it from the checkout:

    python -m benchmarks.grips
"""

import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from memtui.model.events import Event, EventRole, EventType
from memtui.model.nodes import DraftBullet
from memtui.summarize.grounding import anchors, checks
from memtui.summarize.grounding.passages import Evidence
from memtui.text import analyzer

DATA = Path(__file__).parents[2] / "shared" / "data"
QMSUM = DATA / "summaries" / "qmsum"
LOCOMO = DATA / "retrieval" / "locomo"
WINDOW = 2
"""Number of turns on either side in a window of five."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+")

MAX_SHORT_WORD = 3
"""Words with at most this many letters are no key terms."""

_WORD = re.compile(r"\w+")

Place = tuple[int, int] | None
"""The start of the range where a bullet is anchored, and the turn shown; or None."""

Way = Callable[[Sequence[DraftBullet], Sequence[str]], list[Place]]


@dataclass(frozen=True, slots=True)
class Asked:
    """The bullets of one summary, and the turns they are taken from."""

    claims: list[DraftBullet]
    spans: list[list[list[int]]]
    """For each bullet the spans of turns that are right."""
    turns: list[str]
    is_held_out: bool


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a file."""
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _turns(session: dict[str, Any], *, are_named: bool = True) -> list[str]:
    return [
        f"{turn['speaker']}: {turn['text'].strip()}" if are_named else turn["text"]
        for turn in session["turns"]
    ]


def meetings(*, are_named: bool = True) -> list[Asked]:
    """Return QMSum's specific queries with the sentences of their summaries.

    Args:
        are_named: Whether the speaker's name precedes each turn.
    """
    sessions = {
        row["session_id"]: _turns(row, are_named=are_named)
        for row in rows(QMSUM / "sessions.jsonl")
    }
    held_out = list(sessions)[1::2]
    sentences = []
    for row in rows(QMSUM / "queries.jsonl"):
        texts = _SENTENCE.split(row["reference_summary"])
        claims = [DraftBullet(text) for text in texts if len(text.split()) > 3]
        if row["kind"] == "specific" and claims:
            name = row["session_id"]
            spans = [row["relevant_spans"]] * len(claims)
            sentences.append(Asked(claims, spans, sessions[name], name in held_out))
    return sentences


def facts() -> list[Asked]:
    """Return LoCoMo's facts by session, each with the turn it was taken from."""
    sessions = {row["session_id"]: row for row in rows(LOCOMO / "sessions.jsonl")}
    by_session: dict[str, list[dict[str, Any]]] = {}
    for row in rows(LOCOMO / "observations.jsonl"):
        by_session.setdefault(row["session_id"], []).append(row)
    observed_facts = []
    for name, observed in by_session.items():
        at = {turn["turn_id"]: i for i, turn in enumerate(sessions[name]["turns"])}
        spans = [
            [[at[turn], at[turn]] for turn in row["evidence_turn_ids"] if turn in at]
            for row in observed
        ]
        claims = [DraftBullet(row["text"]) for row in observed]
        observed_facts.append(
            Asked(claims, spans, _turns(sessions[name]), is_held_out=True)
        )
    return observed_facts


def shared_word_ranges(
    claims: Sequence[DraftBullet], turns: Sequence[str], bridged: int = 0
) -> list[Place]:
    """Return the range of turns with the most words in common, as in seed 0.

    Args:
        claims: The bullets.
        turns: What they are taken from.
        bridged: Number of turns without a common word that do not end a range.
    """
    held = [_key_terms(turn) for turn in turns]
    return [_best_range(_key_terms(claim.text), held, bridged) for claim in claims]


def _key_terms(text: str) -> frozenset[str]:
    words: list[str] = _WORD.findall(text.lower())
    return frozenset(word for word in words if len(word) > MAX_SHORT_WORD)


def _best_range(
    claimed: frozenset[str], held: Sequence[frozenset[str]], bridged: int
) -> Place:
    best, most, start, score, last = None, 0, 0, 0, -1
    for at, terms in enumerate(held):
        shared = len(claimed & terms)
        if not shared:
            continue
        if at - last > bridged + 1 or not score:
            start, score = at, 0
        score, last = score + shared, at
        if score > most:
            best, most = (start, at), score
    return best


def shared_word_starts(
    claims: Sequence[DraftBullet], turns: Sequence[str]
) -> list[Place]:
    """Return the first turn of each range."""
    return [
        (place[0], place[0]) if place else None
        for place in shared_word_ranges(claims, turns)
    ]


def rank_by_bm25(
    window: int, claims: Sequence[DraftBullet], turns: Sequence[str]
) -> list[Place]:
    """Rank single turns by BM25, and windows around them if ``window`` is not 0."""
    counts = [Counter(analyzer.terms(turn)) for turn in turns]
    around = [
        sum(counts[max(0, at - window) : at + window + 1], Counter[str]())
        for at in range(len(counts))
    ]
    places: list[Place] = []
    for claim in claims:
        terms = set(analyzer.terms(claim.text))
        scores = _bm25(terms, counts, counts)
        if window:
            near = _bm25(terms, around, counts)
            most, most_near = max(scores), max(near)
            scores = [
                s / (most or 1.0) + n / (most_near or 1.0) if s else 0.0
                for s, n in zip(scores, near, strict=True)
            ]
        best = max(range(len(scores)), key=scores.__getitem__)
        places.append((best, best) if scores[best] else None)
    return places


def _bm25(
    terms: set[str], texts: Sequence[Counter[str]], turns: Sequence[Counter[str]]
) -> list[float]:
    lengths = [text.total() for text in texts]
    rarity = {
        term: analyzer.inverse_document_frequency(
            len(turns), sum(term in turn for turn in turns)
        )
        for term in terms
    }
    damping = anchors.length_norms(lengths, anchors.TEXT_B)
    return [
        sum(
            rarity[term] * text[term] / (text[term] + damp)
            for term in terms & set(text)
        )
        for text, damp in zip(texts, damping, strict=True)
    ]


def ours(claims: Sequence[DraftBullet], turns: Sequence[str]) -> list[Place]:
    """Return the nearest anchors, however little is found."""
    return [
        (place.start, place.best) if place else None
        for place in anchors.nearest_anchors(claims, _evidence(turns))
    ]


def one_by_one(claims: Sequence[DraftBullet], turns: Sequence[str]) -> list[Place]:
    """Return the nearest anchor of each bullet without its neighbours."""
    evidence = _evidence(turns)
    places = [anchors.nearest_anchors([claim], evidence)[0] for claim in claims]
    return [(place.start, place.best) if place else None for place in places]


def gripped(claims: Sequence[DraftBullet], turns: Sequence[str]) -> list[Place]:
    """Return the places of grips."""
    evidence = _evidence(turns)
    places = evidence.places
    return [
        (places[bullet.first.event_id], places[bullet.best.event_id])
        if bullet.first and bullet.best
        else None
        for bullet in checks.ground_bullets(claims, evidence)
    ]


@lru_cache(maxsize=1)
def _index(turns: tuple[str, ...]) -> Evidence:
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    return Evidence(
        [
            Event(
                event_id=f"{at:026}",
                session_id="meeting",
                timestamp=begin + timedelta(minutes=at),
                event_type=EventType.USER_MESSAGE,
                role=EventRole.USER,
                text=text,
            )
            for at, text in enumerate(turns)
        ]
    )


def _evidence(turns: Sequence[str]) -> Evidence:
    return _index(tuple(turns))


WAYS: dict[str, Way] = {
    "seed 0, where its range starts": shared_word_starts,
    "BM25, single turns": lambda claims, turns: rank_by_bm25(0, claims, turns),
    "BM25, turn + window of five": lambda claims, turns: rank_by_bm25(
        WINDOW, claims, turns
    ),
    "nearest, each bullet alone": one_by_one,
    "nearest, a summary's bullets": ours,
    "grips as they are given": gripped,
}


def main() -> int:
    """Print the figures."""
    if not QMSUM.is_dir():
        print(f"no data at {QMSUM}", file=sys.stderr)
        return 1
    asked, bare = meetings(), meetings(are_named=False)
    sentences = sum(len(question.claims) for question in asked)
    print(f"QMSum: {sentences} sentences, right of all")
    print(f"{'':34}{'all':>7}{'tuned':>7}{'held':>7}{'no names':>10}{'ms':>7}")
    for name, way in WAYS.items():
        _tell(name, way, asked, bare)
    for bridged in (0, 1, 2, 3):
        _tell_seed_ranges(asked, bridged)
    for name, questions in (("with speakers' names", asked), ("without", bare)):
        _tell_supported(name, questions)
    if LOCOMO.is_dir():
        observed = facts()
        claims = sum(len(fact.claims) for fact in observed)
        print(f"LoCoMo: {claims} facts, on the very turn")
        for name, way in WAYS.items():
            _tell(name, way, observed)
    return 0


def _tell(
    name: str, way: Way, asked: Sequence[Asked], bare: Sequence[Asked] = ()
) -> None:
    began = time.process_time()
    right = _right(way, asked)
    took_ms = 1000 * (time.process_time() - began) / len(right)
    tuned = [good for is_held_out, good in right if not is_held_out]
    held = [good for is_held_out, good in right if is_held_out]
    shares = "".join(map(_share, (tuned + held, tuned, held)))
    unnamed = _share([good for _, good in _right(way, bare)])
    print(f"  {name:32}{shares}{unnamed:>10}{took_ms:7.2f}")


def _right(way: Way, asked: Sequence[Asked]) -> list[tuple[bool, bool]]:
    """For each sentence whether it is held out, and whether its place is right."""
    return [
        (question.is_held_out, _is_right(anchor, spans))
        for question in asked
        for anchor, spans in zip(
            way(question.claims, question.turns), question.spans, strict=True
        )
    ]


def _share(right: Sequence[bool]) -> str:
    return f"{sum(right) / len(right):7.3f}" if right else f"{'–':>7}"


def _is_right(place: Place, spans: list[list[int]]) -> bool:
    """Return whether the place lies in a marked span."""
    return place is not None and any(start <= place[1] <= end for start, end in spans)


def _tell_seed_ranges(asked: Sequence[Asked], bridged: int) -> None:
    """Print the length of the ranges of shared words, and the share of right turns."""
    lengths = inside = of_all = 0
    for question in asked:
        for place, spans in zip(
            shared_word_ranges(question.claims, question.turns, bridged),
            question.spans,
            strict=True,
        ):
            of_all += 1
            if place is not None:
                start, end = place
                lengths += end - start + 1
                inside += sum(
                    _is_right((at, at), spans) for at in range(start, end + 1)
                )
    print(
        f"  seed 0's ranges over {bridged} turns without a word in common:"
        f" {lengths / of_all:.1f} turns, {inside / lengths:.3f} right"
    )


def _tell_supported(name: str, asked: Sequence[Asked]) -> None:
    """Print the share of sentences that get a grip, and of those in the wrong
    meeting."""
    chance = random.Random(0)
    bullets = supported = right = foreign = 0
    for question in asked:
        places = gripped(question.claims, question.turns)
        bullets += len(places)
        supported += sum(anchor is not None for anchor in places)
        right += sum(map(_is_right, places, question.spans))
        other = chance.choice([two for two in asked if two.turns != question.turns])
        foreign += sum(
            anchor is not None for anchor in gripped(question.claims, other.turns)
        )
    print(
        f"  grips {name}: given {supported / bullets:.3f}, right of these"
        f" {right / supported:.3f}, right of all {right / bullets:.3f};"
        f" given in another meeting {foreign / bullets:.3f}"
    )


if __name__ == "__main__":
    sys.exit(main())
