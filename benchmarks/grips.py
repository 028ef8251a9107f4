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
            text=turn["text"].strip() or "-",
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
    asked = [row for row in rows("queries.jsonl") if row["kind"] == "specific"]
    bullets = [
        (row, Claim(text))
        for row in asked
        for text in _SENTENCE.split(row["reference_summary"])
        if len(text.split()) > 3
    ]
    right = supported = spread = 0
    began = time.perf_counter()
    for row, claim in bullets:
        spans = row["relevant_spans"]
        turns = meetings[row["session_id"]]
        places = {turn.event_id: at for at, turn in enumerate(turns)}
        found = grips.anchor([claim], turns, node_id="n", source="benchmark")[0]
        if not found:
            continue
        supported += 1
        start, end = places[found[0].event_id_start], places[found[0].event_id_end]
        spread += end - start + 1
        right += any(a <= (start + end) // 2 <= b for a, b in spans)
    took_s = time.perf_counter() - began
    print(f"bullets     {len(bullets)}")
    print(f"supported   {supported / len(bullets):.2f}")
    print(f"right       {right / supported:.3f} of the supported")
    print(f"range       {spread / supported:.1f} events")
    print(
        f"time        {1000 * took_s / len(bullets):.2f} ms a bullet with its meeting"
    )
    _print_foreign(bullets, meetings)
    return 0


def _print_foreign(
    bullets: list[tuple[dict[str, Any], Claim]], meetings: dict[str, list[Event]]
) -> None:
    """How many bullets find support in a meeting they do not speak of."""
    chance = random.Random(0)
    fooled = 0
    for row, claim in bullets:
        others = [name for name in sorted(meetings) if name != row["session_id"]]
        turns = meetings[chance.choice(others)]
        fooled += bool(grips.anchor([claim], turns, node_id="n", source="b")[0])
    print(f"foreign     {fooled / len(bullets):.2f} supported by the wrong meeting")


if __name__ == "__main__":
    sys.exit(main())
