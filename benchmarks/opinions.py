"""Measure how often a model's second opinions on handwritten bullets are right.

A model is asked, as the audit asks it, whether the source of a bullet says it. "yes" is
right for a true bullet, "partly" and "no" for a false one. The same bullets are judged
by wording, where "supported" is right for a true one. Bullets without a source are left
out. Those by later authors come first, in an order that does not depend on labels. Run
it from the checkout; answers are added to a file, and those in it are not asked again:

    python -m benchmarks.opinions FILE [--url URL] [--model NAME] [--count 500]
"""

import argparse
import json
import math
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import handwritten
from benchmarks.handwritten import JudgedBullet
from memtui.model.citations import CONTEXT_EVENTS, Expansion, Grip
from memtui.model.events import Event
from memtui.model.nodes import DraftBullet
from memtui.model.verdicts import Support
from memtui.summarize.grounding import checks
from memtui.summarize.grounding.checks import GroundedBullet
from memtui.summarize.grounding.passages import Evidence
from memtui.summarize.ollama import record
from memtui.summarize.ollama.models import ModelOptions
from memtui.summarize.ollama.prompts import ANSWERS, NO_ANSWER
from memtui.summarize.ollama.record import PromptRecord
from memtui.summarize.ollama.summarizer import Ollama


def list_claims() -> list[tuple[JudgedBullet, Support, PromptRecord]]:
    """Return the bullets that have a source, with their verdicts and records."""
    claims = []
    for events, bullets in handwritten.conversations():
        evidence = Evidence(events)
        for bullet in bullets:
            drafts = [DraftBullet(bullet.text)]
            (grounded,) = checks.ground_bullets(drafts, evidence)
            if source := _expand(grounded, events):
                asked = record.claim_record(bullet.text, [source])
                claims.append((bullet, grounded.verdict.support, asked))
    random.Random(0).shuffle(claims)
    return sorted(claims, key=lambda claim: claim[0].half not in handwritten.LATER)


def _expand(bullet: GroundedBullet, events: Sequence[Event]) -> Expansion | None:
    if bullet.first is None or bullet.last is None:
        return None
    names = bullet.first.event_id, bullet.last.event_id
    first, last = events.index(bullet.first), events.index(bullet.last)
    return Expansion(
        Grip("", bullet.excerpt, *names, bullet.first.timestamp, ""),
        events_before=tuple(events[max(0, first - CONTEXT_EVENTS) : first]),
        excerpt_events=tuple(events[first : last + 1]),
        events_after=tuple(events[last + 1 : last + 1 + CONTEXT_EVENTS]),
    )


def describe(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the table of answers by verdict and label, and the agreement."""
    heads = [f"{support} {label}" for label in ("true", "false") for support in Support]
    yield f"{'':18}" + "".join(f"{head:>18}" for head in heads)
    counts = Counter((row["answer"], row["is_true"], row["verdict"]) for row in rows)
    for answer in (*ANSWERS, NO_ANSWER):
        cells = [
            counts[answer, is_true, s] for is_true in (True, False) for s in Support
        ]
        yield f"{answer:18}" + "".join(f"{cell:18}" for cell in cells)
    pairs = [
        (
            (row["answer"] == "yes") is row["is_true"],
            (row["verdict"] == Support.SUPPORTED) is row["is_true"],
        )
        for row in rows
    ]
    yield f"{len(rows)} bullets, {sum(row['is_true'] for row in rows)} of them true"
    yield _share("right opinions", [by_model for by_model, _ in pairs])
    yield _share("right verdicts by wording", [by_wording for _, by_wording in pairs])
    yield _share("difference", [model - wording for model, wording in pairs])
    yield _share("both say the same", [model == wording for model, wording in pairs])
    yield _share("words of the source quoted", [bool(row["words"]) for row in rows])


def _share(name: str, values: Sequence[float]) -> str:
    """Return a mean with its standard error."""
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / len(values)
    return f"{name:30}{mean:6.3f} ± {math.sqrt(variance / len(values)):.3f}"


def main() -> int:
    """Ask the model about the bullets, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--url", default="http://127.0.0.1:11434")
    parser.add_argument("--model", default="")
    parser.add_argument("--count", type=int, default=500)
    args = parser.parse_args()
    ollama = Ollama(ModelOptions(args.url, model=args.model))
    claims = list_claims()[: args.count]
    args.file.touch()
    answered = args.file.read_text("utf-8").splitlines()
    for bullet, verdict, asked in claims[len(answered) :]:
        answer, words = ollama.check_claim(asked)
        row = {
            "text": bullet.text,
            "is_true": bullet.is_true,
            "verdict": verdict,
            "answer": answer,
            "words": words,
            "model": ollama.identity,
        }
        with args.file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
    rows = [json.loads(line) for line in args.file.read_text("utf-8").splitlines()]
    print("\n".join(describe(rows[: args.count])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
