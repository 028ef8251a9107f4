"""Measure verdicts on bullets written by hand, half of them false.

``handwritten_bullets.jsonl`` has 50 short conversations with ten bullets each, as a
careful or a careless author would write them. The rules were tuned on the first twelve;
twelve were held out, and used afterwards. Six were written after that. The last twenty
are by another author and more difficult. The last 26, by later authors, were not read
when rules were made; only their totals were seen. Run it from the checkout:

    python -m benchmarks.handwritten [--list tuning|"held out"]
"""

import json
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memtui.model.events import Event, EventRole, EventType
from memtui.model.nodes import DraftBullet
from memtui.model.verdicts import Objection, Support, Verdict
from memtui.summarize.grounding import checks
from memtui.summarize.grounding.checks import ALL_RULES, Rule
from memtui.summarize.grounding.passages import Evidence

FILE = Path(__file__).with_name("handwritten_bullets.jsonl")
PARTS = ("tuning", "held out", "later", "fresh")
LATER = PARTS[2:]
"""Those of which only totals were seen when rules were made."""
TYPES = {
    "user": EventType.USER_MESSAGE,
    "assistant": EventType.ASSISTANT_MESSAGE,
    "tool": EventType.TOOL_RESULT,
    "system": EventType.USER_MESSAGE,
}


@dataclass(frozen=True, slots=True)
class JudgedBullet:
    """A bullet with its known answer."""

    source: str
    half: str
    kind: str
    text: str
    is_true: bool


def conversations() -> Iterator[tuple[list[Event], list[JudgedBullet]]]:
    """Yield the conversations with their bullets."""
    for line in FILE.read_text("utf-8").splitlines():
        held = json.loads(line)
        handwritten = [
            JudgedBullet(held["source"], held["half"], **fields)
            for fields in held["bullets"]
        ]
        yield list(_events(held["events"])), handwritten


def _events(records: Sequence[dict[str, str]]) -> Iterator[Event]:
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    for at, record in enumerate(records):
        metadata = {"tool_name": record["tool"]} if "tool" in record else {}
        if record.get("is_error"):
            metadata["call_end"] = "failed"
        yield Event(
            event_id=f"{at:026}",
            session_id="judged",
            timestamp=begin + timedelta(minutes=at),
            event_type=TYPES[record["role"]],
            role=EventRole(record["role"]),
            text=record["text"],
            metadata=metadata,
        )


def verdicts(
    rules: Collection[Rule] = ALL_RULES,
) -> Iterator[tuple[JudgedBullet, Verdict]]:
    """Yield all bullets with their verdicts, each bullet judged by itself."""
    for events, handwritten in conversations():
        evidence = Evidence(events)
        for bullet in handwritten:
            draft = DraftBullet(bullet.text)
            (grounded,) = checks.ground_bullets([draft], evidence, rules)
            yield bullet, grounded.verdict


def table_lines() -> Iterator[str]:
    """Yield the shares of verdicts by label, half and kind."""
    began = time.process_time()
    judged = list(verdicts())
    took_ms = 1000 * (time.process_time() - began) / len(judged)
    yield f"{'bullets written by hand':36}{'n':>5}" + "".join(
        f"{support:>13}" for support in Support
    )
    for half in PARTS:
        for is_true in (False, True):
            group = [
                (bullet, verdict)
                for bullet, verdict in judged
                if bullet.half == half and bullet.is_true is is_true
            ]
            label = "true" if is_true else "false"
            yield _line(f"{half}, {label}", [verdict for _, verdict in group])
            for kind in sorted({bullet.kind for bullet, _ in group}):
                yield _line(
                    f"  {kind}",
                    [verdict for bullet, verdict in group if bullet.kind == kind],
                )
    for is_true in (False, True):
        label = "true" if is_true else "false"
        by_later_authors = [
            verdict
            for bullet, verdict in judged
            if bullet.half in LATER and bullet.is_true is is_true
        ]
        yield _line(f"by later authors, {label}", by_later_authors)
    withheld = Counter(
        verdict.objection for bullet, verdict in judged if bullet.is_true
    )
    del withheld[Objection.NONE]
    reasons = ", ".join(f"{why}: {count}" for why, count in withheld.items())
    yield f"withheld of {len(judged) // 2} true ones: {reasons or 'none'}"
    yield f"{took_ms:.2f} ms a bullet"


def _line(name: str, verdicts: Sequence[Verdict]) -> str:
    counts = Counter(verdict.support for verdict in verdicts)
    shares = "".join(f"{counts[support] / len(verdicts):13.3f}" for support in Support)
    return f"{name:36}{len(verdicts):5}{shares}"


def main() -> int:
    """Print the table, or all bullets of a half whose verdict is not the best."""
    if sys.argv[1:2] != ["--list"]:
        print("\n".join(table_lines()))
        return 0
    for bullet, verdict in verdicts():
        is_good = (verdict.support is Support.SUPPORTED) is bullet.is_true
        if bullet.half == sys.argv[2] and not is_good:
            features = verdict.features
            print(
                f"{'TRUE ' if bullet.is_true else 'FALSE'} {verdict.support:11}"
                f" {features.covered:.2f} {bullet.source} {bullet.kind}: {bullet.text}"
                f" | {features.missing} {features.conflicts} {verdict.objection}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
