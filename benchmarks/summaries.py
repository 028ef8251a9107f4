"""Measure how much of human summaries the extractive summaries contain.

Each summary is compared with the beginning of its text and with random sentences, all
cut to the same length. The figure is the share of the reference's stems, weighted by
their rarity in all texts of the set. References are LoCoMo's summaries of sessions,
QMSum's of whole meetings, and Entire's of sessions of coding agents; the bullets of all
segments of a text are taken together. Run it from the checkout:

    python -m benchmarks.summaries
"""

import json
import math
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from benchmarks import grips, transcripts
from memtui.model import events
from memtui.model.events import Event, EventType
from memtui.summarize import extractive, segmenter
from memtui.summarize.segmenter import SegmentRules
from memtui.text import analyzer, prose
from memtui.text.tokens import estimate

_NOISE, _BEFORE_MARK = re.compile(r"\{\w+\}"), re.compile(r" (?=[.,?!])")
"""What a transcriber put in, and the blanks before marks."""

START = datetime(2024, 1, 15, 9, tzinfo=UTC)
DRAWN = 20
"""How many random summaries of each text are drawn."""


@dataclass(frozen=True, slots=True)
class Task:
    """A text in segments, and what somebody wrote about it."""

    segments: list[list[Event]]
    reference: str


def talk(name: str, turns: Sequence[dict[str, str]]) -> list[list[Event]]:
    """Return the segments of a conversation; who speaks first is the user."""
    shown = [
        events.make(
            agent="talk",
            session_id=name,
            timestamp=START + timedelta(seconds=at),
            event_type=(
                EventType.USER_MESSAGE
                if turn["speaker"] == turns[0]["speaker"]
                else EventType.ASSISTANT_MESSAGE
            ),
            text=_BEFORE_MARK.sub("", _NOISE.sub("", turn["text"])).strip() or "…",
            source_key=str(at),
        )
        for at, turn in enumerate(turns)
    ]
    counted = [replace(event, tokens=estimate(event.text)) for event in shown]
    return segmenter.split_events(counted, SegmentRules())


def locomo() -> Iterator[Task]:
    """LoCoMo's sessions."""
    shown = grips.rows(grips.LOCOMO / "sessions.jsonl")
    turns = {row["session_id"]: row["turns"] for row in shown}
    for row in grips.rows(grips.LOCOMO / "session_summaries.jsonl"):
        name = row["session_id"]
        yield Task(talk(name, turns[name]), row["summary"])


def meetings() -> Iterator[Task]:
    """QMSum's meetings."""
    shown = grips.rows(grips.QMSUM / "sessions.jsonl")
    turns = {row["session_id"]: row["turns"] for row in shown}
    for row in grips.rows(grips.QMSUM / "queries.jsonl"):
        if row["kind"] == "general":
            name = row["session_id"]
            yield Task(talk(name, turns[name]), row["reference_summary"])


def sessions() -> Iterator[Task]:
    """Return sessions of coding agents."""
    kept = transcripts.stretches()
    for path in sorted((transcripts.DATA / "summaries" / "entire").rglob("*.json")):
        shown = json.loads(path.read_text("utf-8"))
        runs = [list(one.events) for one in kept if one.session == shown["session_id"]]
        if runs:
            yield Task(runs, " ".join(_texts(shown["summary"])))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for held in value.values() if isinstance(value, dict) else value:
            yield from _texts(held)


Summarize = Callable[[list[Event], int], list[str]]


def ours(run: list[Event], _: int) -> list[str]:
    """Return the bullets of the extractive summary."""
    return [claim.text for claim in extractive.summarize_segment(run).bullets]


def lead(run: list[Event], chars: int) -> list[str]:
    """Return the first sentences."""
    return _cut(_said(run), chars)


def drawn(run: list[Event], chars: int) -> list[str]:
    """Return random sentences, different ones each time."""
    every = _said(run)
    return _cut(_CHANCE.sample(every, len(every)), chars)


_CHANCE = random.Random(0)


def _said(run: list[Event]) -> list[str]:
    return [
        part.text
        for event in run
        if event.is_message
        for part in prose.message_sentences(event.text)
    ]


def _cut(shown: Sequence[str], chars: int) -> list[str]:
    """Return as many sentences as fit, the last one shortened."""
    kept: list[str] = []
    for one in shown:
        left = chars - sum(map(len, kept))
        if left <= 0:
            break
        kept.append(one[:left])
    return kept


def main() -> int:
    """Print the figures."""
    if not grips.QMSUM.is_dir():
        print(f"no data at {grips.QMSUM}", file=sys.stderr)
        return 1
    print(f"{'':28}{'n':>5}{'ours':>8}{'lead':>8}{'random':>8}{'chars':>8}")
    for name, tasks in (
        ("LoCoMo sessions", list(locomo())),
        ("QMSum meetings", list(meetings())),
        ("agents' sessions (Entire)", list(sessions())),
    ):
        _tell(name, tasks)
    runs = [list(one.events) for one in transcripts.stretches()]
    began = time.process_time()
    for run in runs:
        extractive.summarize_segment(run)
    took_ms = 1000 * (time.process_time() - began)
    print(f"{took_ms / len(runs):.1f} ms a segment, over {len(runs)} real ones")
    return 0


def _tell(name: str, tasks: Sequence[Task]) -> None:
    holding = Counter(
        term for task in tasks for term in set(analyzer.terms(_whole(task)))
    )
    weight = {
        term: analyzer.inverse_document_frequency(len(tasks), count)
        for term, count in holding.items()
    }
    shares = [_shares(task, weight) for task in tasks]
    *means, chars = (sum(column) / len(tasks) for column in zip(*shares, strict=True))
    shown = "".join(f"{mean:8.3f}" for mean in means)
    print(f"{name:28}{len(tasks):5}{shown}{chars:8.0f}")


def _whole(task: Task) -> str:
    return "\n".join(event.text for run in task.segments for event in run)


def _shares(task: Task, weight: dict[str, float]) -> tuple[float, float, float, float]:
    """Return the share of the reference's stems that each way contains."""
    wanted = {
        term: weight[term]
        for term in analyzer.query_terms(task.reference)
        if term in weight
    }
    made = [ours(run, 0) for run in task.segments]
    sizes = [sum(map(len, shown)) for shown in made]

    def share(way: Summarize) -> float:
        shown = [
            part
            for run, chars in zip(task.segments, sizes, strict=True)
            for part in way(run, chars)
        ]
        held = set(analyzer.terms("\n".join(shown)))
        return sum(w for term, w in wanted.items() if term in held) / math.fsum(
            wanted.values()
        )

    random_share = sum(share(drawn) for _ in range(DRAWN)) / DRAWN
    return share(ours), share(lead), random_share, sum(sizes)


if __name__ == "__main__":
    sys.exit(main())
