"""Compare the cards of sessions with reference cards written by hand.

The references (``shared/data/summaries/cards``) name the records that prove each line.
Set b is for testing alone: rules are not adjusted to it.
"""

import argparse
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memtui.capture import formats
from memtui.model.events import Event
from memtui.model.sessions import SessionMetadata
from memtui.summarize.extractive import Card, make_card
from memtui.summarize.tool_actions import CardLine
from memtui.summarize.work_events import read_work
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


def similarity(one: str, other: str) -> float:
    """Return the F1 of the terms that two texts share."""
    mine, theirs = set(analyzer.query_terms(one)), set(analyzer.query_terms(other))
    total = len(mine) + len(theirs)
    return 2 * len(mine & theirs) / total if total else 0.0


class Transcript:
    """The events of one session, and the records they come from."""

    def __init__(self, path: Path, session: str) -> None:
        source = formats.detect_format(path)
        assert source is not None
        self.title, self.branch, found = "", "", list[Event]()
        now = datetime.now(UTC)
        for item in source.read(path, None, agent=source.name, now=now):
            if isinstance(item, Event) and item.session_id == session:
                found.append(item)
            elif isinstance(item, SessionMetadata):
                self.title = item.title or self.title
                self.branch = item.branch or self.branch
        main = (event for event in found if not event.subagent)
        self.events = sorted(main, key=lambda event: event.position)
        self._lines = path.read_text("utf-8").splitlines()

    def records(self, refs: Iterable[int]) -> set[str]:
        """Return the ids and line numbers of the records behind some events."""
        return {name for at in refs for name in self._find(self.events[at])}

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


def compare(card: Card, wanted: Mapping[str, Any], of: Transcript, to: Result) -> None:
    """Compare a card with its reference."""
    to.titles.append(similarity(card.title, wanted["title"]))
    proof = {str(ref) for ref in wanted["outcome_refs"]}
    is_proven = bool(card.outcome and of.records(card.outcome.refs) & proof)
    to.add("outcome rests on a reference record", is_proven)
    to.add("state", card.state.text == wanted["state"])
    rows = wanted["left_open"]
    to.add(
        "left open, precision",
        *(any(_is_same(line, row, of) for row in rows) for line in card.left_open),
    )
    to.add(
        "left open, recall",
        *(any(_is_same(line, row, of) for line in card.left_open) for row in rows),
    )
    subjects = [line.text[:SUBJECT_CHARS] for line in card.commits]
    to.add(
        "commits",
        *(row["subject"][:SUBJECT_CHARS] in subjects for row in wanted["commits"]),
    )
    if re.search(r"\d+ pass", wanted["tests"] or ""):
        numbers = _numbers(card.tests.text if card.tests else "")
        to.add("tests", bool(numbers) and numbers <= _numbers(wanted["tests"]))
    poor = [row if isinstance(row, str) else row["text"] for row in _poor(wanted)]
    lines = [line.text for line in _statements(card)]
    to.add("lines not worth keeping", *(_contains(line, poor) for line in lines))


def _is_same(line: CardLine, row: Mapping[str, Any], of: Transcript) -> bool:
    likeness = similarity(line.text, row["text"])
    if likeness >= SAME_WORDING:
        return True
    proof = {str(ref) for ref in row["refs"]}
    return likeness >= SAME_RECORD_WORDING and bool(of.records(line.refs) & proof)


def _numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+", text.replace(",", "")))


def _poor(wanted: Mapping[str, Any]) -> Sequence[Any]:
    rows: Sequence[Any] = wanted["not_worth_keeping"]
    return rows


def _statements(card: Card) -> list[CardLine]:
    lines = (card.outcome, *card.decisions, *card.left_open)
    return [line for line in lines if line]


def _contains(line: str, sentences: Collection[str]) -> bool:
    return any(sentence[:60] in line for sentence in sentences)


def _print_card(card: Card, wanted: Mapping[str, Any]) -> None:
    print(f"\n{wanted['file']}")
    for label, mine, theirs in (
        ("title", card.title, wanted["title"]),
        ("outcome", card.outcome.text if card.outcome else "", wanted["outcome"]),
        ("state", card.state.text, wanted["state"]),
        ("tests", card.tests.text if card.tests else "", wanted["tests"]),
    ):
        print(f"  {label:9}{mine}\n{'':11}[{theirs}]")
    for line in card.left_open:
        print(f"  left open {line.text}")
    for row in wanted["left_open"]:
        print(f"{'':11}[{row['text']}]")


def main() -> None:
    """Print the comparison of each set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=["a", "b", "c"])
    parser.add_argument(
        "--agent-titles", action="store_true", help="use the agents' own titles"
    )
    parser.add_argument("--cards", action="store_true", help="print the cards, too")
    asked = parser.parse_args()
    if not CARDS.is_dir():
        parser.exit(0, f"{CARDS} is missing: there is nothing to compare with\n")
    for name in asked.sets:
        result = Result()
        text = (CARDS / f"cards-{name}.jsonl").read_text("utf-8")
        for wanted in map(json.loads, text.splitlines()):
            transcript = Transcript(DATA / wanted["file"], wanted["session"])
            title = transcript.title if asked.agent_titles else ""
            work = read_work(
                transcript.events, is_in_repository=bool(transcript.branch)
            )
            card = make_card(work, agent_title=title)
            compare(card, wanted, transcript, result)
            if asked.cards:
                _print_card(card, wanted)
        print(f"\nset {name}: {len(result.titles)} cards")
        average = sum(result.titles) / len(result.titles)
        print(f"  {'title, shared terms (F1)':38}{average:5.2f}")
        for kind, share in result.shares.items():
            print(f"  {kind:38} {share}")


if __name__ == "__main__":
    main()
