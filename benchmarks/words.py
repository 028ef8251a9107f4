"""Compare names, outcomes and states of sessions with reference cards written by hand.

The references (``shared/data/summaries/cards``) name the records that prove each line.
Set b is for testing alone: rules are not adjusted to it.
"""

import argparse
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memtui.capture import formats
from memtui.model.events import Event
from memtui.model.sessions import SessionMetadata, SessionWork
from memtui.model.work import Facts, Line
from memtui.summarize import card
from memtui.summarize.facts import read_facts
from memtui.text import analyzer

DATA = Path(__file__).parents[2] / "shared" / "data"
CARDS = DATA / "summaries" / "cards"

SAME_WORDING, SAME_RECORD_WORDING = 0.3, 0.12
"""The similarity from which two lines about open work are the same, and from which they
are if they also rest on the same record."""

SUBJECT_CHARS = 40
"""Subjects of commits are compared up to this length."""

_IDS = re.compile(
    r'"(?:tool_use_id|call_id|toolCallId|uuid|id|messageId)":\s*"([^"]+)"'
)


def similarity(text: str, other: str) -> float:
    """Return the F1 of the terms that two texts share."""
    mine, theirs = set(analyzer.query_terms(text)), set(analyzer.query_terms(other))
    total = len(mine) + len(theirs)
    return 2 * len(mine & theirs) / total if total else 0.0


class Transcript:
    """The events of one session, and the records they come from."""

    def __init__(self, path: Path, session: str) -> None:
        source = formats.detect_format(path)
        assert source is not None
        self.title, main = "", list[Event]()
        now = datetime.now(UTC)
        for item in source.read(path, None, agent=source.name, now=now):
            if isinstance(item, Event) and item.session_id == session:
                main += [item] if not item.subagent else []
            elif isinstance(item, SessionMetadata):
                self.title = item.title or self.title
        self.events = sorted(main, key=lambda event: event.position)
        self._by_id = {event.event_id: event for event in main}
        self._lines = path.read_text("utf-8").splitlines()

    def records(self, event_ids: Iterable[str]) -> set[str]:
        """Return the ids and line numbers of the records behind some events."""
        events = (self._by_id[name] for name in event_ids if name in self._by_id)
        return {name for event in events for name in self._find(event)}

    def _find(self, event: Event) -> Iterator[str]:
        names = {event.source_id, event.metadata.get("tool_use_id", "")} - {""}
        start = json.dumps(event.text.strip()[:50], ensure_ascii=False)[1:-1]
        for number, line in enumerate(self._lines, 1):
            if (start and start in line) or any(name in line for name in names):
                yield str(number)
                yield from _IDS.findall(line)


@dataclass
class Share:
    """How many of some items are right."""

    right: int = 0
    total: int = 0

    def add(self, *results: bool) -> None:
        """Count results."""
        self.right += sum(results)
        self.total += len(results)

    def __str__(self) -> str:
        """Return the share in percent, and the counts."""
        share = f"{self.right / self.total:4.0%}" if self.total else "   –"
        return f"{share} ({self.right}/{self.total})"


@dataclass
class Result:
    """The comparison of a set of cards."""

    titles: list[float] = field(default_factory=list)
    shares: dict[str, Share] = field(default_factory=dict)

    def add(self, name: str, *results: bool) -> None:
        """Count results of one kind."""
        self.shares.setdefault(name, Share()).add(*results)


def compare(
    work: SessionWork,
    facts: Facts,
    reference: Mapping[str, Any],
    transcript: Transcript,
    result: Result,
) -> None:
    """Compare what is said of a session with its reference."""
    result.titles.append(similarity(work.name, reference["title"]))
    proof = {str(ref) for ref in reference["outcome_refs"]}
    is_proven = bool(transcript.records([work.outcome_event_id]) & proof)
    result.add("outcome is from a reference record", is_proven)
    result.add("state", work.state == reference["state"])
    rows = reference["left_open"]
    same = [
        [_is_same(line, row, transcript) for row in rows] for line in work.left_open
    ]
    result.add("left open, precision", *map(any, same))
    result.add("left open, recall", *(any(row) for row in zip(*same, strict=True)))
    if not same:
        result.add("left open, recall", *(False for _ in rows))
    subjects = [commit.subject[:SUBJECT_CHARS] for commit in facts.commits]
    result.add(
        "commits",
        *(row["subject"][:SUBJECT_CHARS] in subjects for row in reference["commits"]),
    )
    if re.search(r"\d+ pass", reference["tests"] or ""):
        counts = {
            str(count)
            for run in facts.test_runs
            for count in (run.passed, run.failed)
            if count
        }
        numbers = set(re.findall(r"\d+", reference["tests"].replace(",", "")))
        result.add("tests", bool(counts & numbers))


def _is_same(line: Line, row: Mapping[str, Any], transcript: Transcript) -> bool:
    likeness = similarity(line.text, row["text"])
    if likeness >= SAME_WORDING:
        return True
    proof = {str(ref) for ref in row["refs"]}
    records = transcript.records([line.event_id])
    return likeness >= SAME_RECORD_WORDING and bool(records & proof)


def _print_work(work: SessionWork, reference: Mapping[str, Any]) -> None:
    print(f"\n{reference['file']}")
    for label, own, expected in (
        ("name", work.name, reference["title"]),
        ("outcome", work.outcome, reference["outcome"]),
        ("state", work.state, reference["state"]),
    ):
        print(f"  {label:9}{own}\n{'':11}[{expected}]")
    for line in work.left_open:
        print(f"  left open {line.text}")
    for row in reference["left_open"]:
        print(f"{'':11}[{row['text']}]")


def main() -> None:
    """Print the comparison of each set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=["a", "b", "c"])
    parser.add_argument(
        "--agent-titles", action="store_true", help="use the agents' own titles"
    )
    parser.add_argument("--cards", action="store_true", help="print the cards, too")
    args = parser.parse_args()
    if not CARDS.is_dir():
        parser.exit(0, f"{CARDS} is missing: there is nothing to compare with\n")
    for name in args.sets:
        result = Result()
        text = (CARDS / f"cards-{name}.jsonl").read_text("utf-8")
        for reference in map(json.loads, text.splitlines()):
            transcript = Transcript(DATA / reference["file"], reference["session"])
            facts = read_facts(transcript.events)
            work = card.describe_session(
                facts, agent_title=transcript.title if args.agent_titles else ""
            )
            compare(work, facts, reference, transcript, result)
            if args.cards:
                _print_work(work, reference)
        print(f"\nset {name}: {len(result.titles)} sessions")
        average = sum(result.titles) / len(result.titles)
        print(f"  {'name, shared terms (F1)':38}{average:5.2f}")
        for kind, share in result.shares.items():
            print(f"  {kind:38} {share}")


if __name__ == "__main__":
    main()
