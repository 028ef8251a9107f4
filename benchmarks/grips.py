"""How often a bullet is anchored where people say it belongs.

Reads QMSum's human summaries (``../shared/data/summaries/qmsum``): each sentence of a
specific query's summary is anchored in its meeting, and counts as right when the
anchored event lies inside the span the annotators marked. Run it from the checkout:

    python -m benchmarks.grips
"""

import json
import random
import re
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memtui.memory import events, grips
from memtui.memory.events import Event, EventType
from memtui.memory.summaries import Claim

QMSUM = Path(__file__).parents[2] / "shared" / "data" / "summaries" / "qmsum"
START = datetime(2024, 1, 15, 9, tzinfo=UTC)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def rows(name: str) -> Iterator[dict[str, Any]]:
    """The records of one of the data set's files."""
    with (QMSUM / name).open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def meeting(session: dict[str, Any]) -> list[Event]:
    """A meeting's turns as events."""
    return [
        events.make(
            agent="meeting",
            session_id=session["session_id"],
            timestamp=START + timedelta(seconds=at),
            event_type=EventType.USER_MESSAGE,
            text=f"{turn['speaker']}: {turn['text'].strip()}",
            key=turn["turn_id"],
        )
        for at, turn in enumerate(session["turns"])
    ]


def main() -> int:
    """Print the figures."""
    if not QMSUM.is_dir():
        print(f"no data at {QMSUM}", file=sys.stderr)
        return 1
    meetings = {row["session_id"]: meeting(row) for row in rows("sessions.jsonl")}
    asked: dict[str, list[tuple[Claim, list[list[int]]]]] = {}
    for row in rows("queries.jsonl"):
        if row["kind"] == "specific":
            asked.setdefault(row["session_id"], []).extend(
                (Claim(text), row["relevant_spans"])
                for text in _SENTENCE.split(row["reference_summary"])
                if len(text.split()) > 3
            )
    bullets = sum(map(len, asked.values()))
    began = time.perf_counter()
    found = [
        (grip[0], spans, meetings[name])
        for name, claims in asked.items()
        for grip, (_, spans) in zip(
            anchored([claim for claim, _ in claims], meetings[name]),
            claims,
            strict=True,
        )
        if grip
    ]
    took_s = time.perf_counter() - began
    right = sum(is_inside(grip, spans, turns) for grip, spans, turns in found)
    print(f"bullets     {bullets}")
    print(f"supported   {len(found) / bullets:.3f}")
    print(f"right       {right / len(found):.3f} of the supported")
    print(f"time        {1000 * took_s / bullets:.2f} ms a bullet, preparing included")
    print(f"foreign     {_foreign(asked, meetings) / bullets:.3f} of another meeting")
    return 0


def anchored(claims: list[Claim], turns: list[Event]) -> list[tuple[grips.Grip, ...]]:
    """The grips of some claims in one meeting."""
    return grips.anchor(claims, turns, node_id="meeting", source="benchmark")


def is_inside(grip: grips.Grip, spans: list[list[int]], turns: list[Event]) -> bool:
    """Whether the best event, whose time the grip has, lies in a marked span."""
    at = next(i for i, turn in enumerate(turns) if turn.timestamp == grip.timestamp)
    return any(start <= at <= end for start, end in spans)


def _foreign(
    asked: dict[str, list[tuple[Claim, list[list[int]]]]],
    meetings: dict[str, list[Event]],
) -> int:
    """How many bullets find support in a meeting they do not speak of."""
    chance = random.Random(0)
    return sum(
        bool(grip)
        for name, claims in asked.items()
        for grip in anchored(
            [claim for claim, _ in claims],
            meetings[chance.choice([other for other in meetings if other != name])],
        )
    )


if __name__ == "__main__":
    sys.exit(main())
