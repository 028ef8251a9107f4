"""Measure how often verdicts on bullets with known answers are right.

Bullets are made from the sentences of real transcripts
(``benchmarks/generated_bullets.py``) and by hand in German and Chinese
(``benchmarks/other_languages.py``), and checked against the segment they are from or a
wrong one; others are written by hand for short conversations
(``benchmarks/handwritten.py``).
Sessions are divided in two by name: the rules were tuned on one half, the other is held
out. Commit subjects, LoCoMo's facts, QMSum's and Entire's summaries show how wording
that no rule here produced is judged. Run it from the checkout:

    python -m benchmarks.grounding
"""

import json
import random
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchmarks import (
    generated_bullets,
    grips,
    handwritten,
    other_languages,
    transcripts,
)
from benchmarks.generated_bullets import BulletMaker
from benchmarks.transcripts import Stretch
from memtui.model.nodes import DraftBullet
from memtui.model.verdicts import Support, Verdict
from memtui.summarize.grounding import checks
from memtui.summarize.grounding.anchors import EventIndex
from memtui.summarize.grounding.passages import Evidence, TextIndex

AIMS = {
    "verbatim": 0.97,
    "reworded": 0.90,
    "two sentences in one": 0.0,
    "paraphrased": 0.55,
    "commit's subject, its segment": 0.55,
    "German, true": 0.55,
    "Chinese, true": 0.55,
    "random wrong segment": -0.01,
    "nearest other segment": -0.08,
    "nearest segment of another session": -0.08,
    "swapped identifier": -0.03,
    "directory changed": -0.03,
    "changed number": -0.08,
    "number word changed": -0.08,
    "two numbers exchanged": -0.08,
    "unit or counted noun changed": -0.08,
    "inserted negation": -0.10,
    "near-denial": -0.10,
    "invented clause": -0.10,
    "joined halves": -0.10,
    "German, number or unit changed": -0.08,
    "German, name changed": -0.03,
    "German, denied or the opposite": -0.10,
    "Chinese, number or unit changed": -0.08,
    "Chinese, name changed": -0.03,
    "Chinese, denied or the opposite": -0.10,
}
"""The share of each class that should be supported: at least, or if negative at most; 0
for no aim."""


TRUE_KINDS = ("verbatim", "reworded", "paraphrased", "two sentences in one")
"""Classes of honest bullets, of which at most 1 in 50 may be withheld."""


@dataclass(slots=True)
class Table:
    """Verdicts counted by class and half."""

    rows: dict[str, dict[bool, Counter[Support]]] = field(default_factory=dict)

    def add(self, kind: str, is_held_out: bool, verdict: Verdict) -> None:
        """Count one verdict."""
        halves = self.rows.setdefault(kind, {False: Counter(), True: Counter()})
        halves[is_held_out][verdict.support] += 1

    def lines(self) -> Iterator[str]:
        """Yield the lines of the table."""
        head = "".join(f"{support[:9]:>10}" for support in Support)
        yield f"{'':36}{'n':>6}{head}{'n':>7}{head}{'both':>7}{'aim':>7}"
        for kind in sorted(self.rows, key=_place):
            halves = self.rows[kind]
            tuned, held = _shares(halves[False]), _shares(halves[True])
            every = halves[False] + halves[True]
            both = f"{every[Support.SUPPORTED] / every.total():7.3f}"
            yield f"{kind:36}{tuned} {held}{both}{_aim(kind):>7}"


def _place(kind: str) -> int:
    return [*AIMS, kind].index(kind)


def _shares(counts: Counter[Support]) -> str:
    every = counts.total()
    if not every:
        return f"{0:6}" + f"{'–':>10}" * len(Support)
    return f"{every:6}" + "".join(
        f"{counts[support] / every:10.3f}" for support in Support
    )


def _aim(kind: str) -> str:
    aim = AIMS.get(kind, 0.0)
    return "" if not aim else f"≥ {aim:.0%}" if aim > 0 else f"≤ {-aim:.0%}"


def main() -> int:
    """Print the tables."""
    if not transcripts.DATA.is_dir():
        print(f"no data at {transcripts.DATA}", file=sys.stderr)
        return 1
    stretches = transcripts.stretches()
    _tell_data(stretches)
    table = Table()
    maker = BulletMaker(stretches, random.Random(0))
    withheld: Counter[str] = Counter()
    for source in maker.sources:
        half = source.stretch.is_held_out
        for kind, claim, held_against in maker.bullets_of(source):
            verdict = _check(claim, held_against.evidence)
            table.add(kind, half, verdict)
            if kind in TRUE_KINDS and verdict.objection:
                withheld[f"{kind}: {verdict.objection}"] += 1
    for kind, (texts, said) in other_languages.BULLETS.items():
        index = TextIndex(texts)
        for text in said:
            table.add(kind, True, checks.check_text(text, index))
    for row in _written_by_others(stretches):
        table.add(*row)
    print("\n".join(table.lines()))
    print("withheld of the true ones:", dict(withheld) or "none")
    print("\n".join(handwritten.table_lines()))
    _tell_time(maker)
    return 0


def _check(draft: DraftBullet, evidence: Evidence) -> Verdict:
    (grounded,) = checks.ground_bullets([draft], evidence)
    return grounded.verdict


def _tell_data(stretches: Sequence[Stretch]) -> None:
    for name, half in (("dev", False), ("held out", True)):
        in_half = [stretch for stretch in stretches if stretch.is_held_out is half]
        sessions = {stretch.session for stretch in in_half}
        print(f"{name}: {len(in_half)} segments, {len(sessions)} sessions")
    agents = Counter(stretch.agent for stretch in stretches).most_common()
    counts = ", ".join(f"{agent} {count}" for agent, count in agents)
    print(f"by {counts}; first dev, then held out")


def _written_by_others(
    stretches: Sequence[Stretch],
) -> Iterator[tuple[str, bool, Verdict]]:
    """Yield verdicts on sentences by others, against their own source and the next
    best."""
    for subject in commit_subjects(stretches):
        verdict = checks.check_text(subject.claims[0].text, TextIndex(subject.turns))
        yield "commit's subject, its segment", subject.is_held_out, verdict
    for name, asked in (
        ("LoCoMo fact", grips.facts()),
        ("QMSum sentence", meeting_summaries()),
        ("Entire sentence", session_summaries(stretches)),
    ):
        sources = [TextIndex(subject.turns) for subject in asked]
        whole = TextIndex(["\n".join(subject.turns) for subject in asked])
        near = EventIndex(whole.term_counts, whole.text_lengths)
        for at, subject in enumerate(asked):
            for claim in subject.claims:
                scores = near.scores(claim.text)
                wrong = (other for other in range(len(asked)) if other != at)
                nearest = max(wrong, key=lambda other: scores.get(other, 0.0))
                half = subject.is_held_out
                verdict = checks.check_text(claim.text, sources[at])
                yield f"{name}, its own", half, verdict
                verdict = checks.check_text(claim.text, sources[nearest])
                yield f"{name}, nearest other", half, verdict


MIN_WORDS = 5
"""A field of fewer words is a name, not a sentence."""


def commit_subjects(stretches: Sequence[Stretch]) -> list[grips.Asked]:
    """Return commit subjects with the rest of their segment."""
    return [
        grips.Asked(
            [DraftBullet(subject)],
            [],
            ["" if subject in text else text for text in stretch.texts],
            stretch.is_held_out,
        )
        for stretch in stretches
        for text in stretch.texts
        for subject in _COMMITTED.findall(text)
    ]


_COMMITTED = re.compile(r"(?m)^\[[\w/.()\- ]+ [0-9a-f]{7,}\] (.+)")
"""What Git prints about a commit."""


def meeting_summaries() -> list[grips.Asked]:
    """Return QMSum's meetings with the sentences of all specific queries."""
    by_meeting: dict[str, grips.Asked] = {}
    for meeting in grips.meetings():
        key = "\n".join(meeting.turns)
        empty = grips.Asked([], [], meeting.turns, meeting.is_held_out)
        by_meeting.setdefault(key, empty).claims.extend(meeting.claims)
    return list(by_meeting.values())


def session_summaries(stretches: Sequence[Stretch]) -> list[grips.Asked]:
    """Return Entire's summaries of sessions, written by a model and not checked."""
    summaries = []
    for path in sorted((transcripts.DATA / "summaries" / "entire").rglob("*.json")):
        recorded = json.loads(path.read_text("utf-8"))
        of_it = [
            stretch
            for stretch in stretches
            if stretch.session == recorded["session_id"]
        ]
        texts = [text for stretch in of_it for text in stretch.texts]
        claims = [
            DraftBullet(part)
            for line in _summary_sentences(recorded["summary"])
            for part in generated_bullets.split_sentences(line)
        ]
        if texts:
            held_out = transcripts.is_held_out(recorded["session_id"])
            summaries.append(grips.Asked(claims, [], texts, held_out))
    return summaries


def _summary_sentences(value: object) -> Iterator[str]:
    """Yield the sentences among the fields of a summary."""
    if isinstance(value, str) and len(value.split()) >= MIN_WORDS:
        yield value
    elif isinstance(value, dict | list):
        for held in value.values() if isinstance(value, dict) else value:
            yield from _summary_sentences(held)


def _tell_time(maker: BulletMaker) -> None:
    """Print the time to anchor and check a bullet, and to index a segment."""
    index_ms: list[float] = []
    check_ms: list[float] = []
    for source in maker.sources:
        chance = random.Random(0)
        sentences = generated_bullets.source_sentences(source.stretch.events, chance, 8)
        drafts = [
            DraftBullet(generated_bullets.paraphrase(sentence.text, chance))
            for sentence in sentences
        ]
        began = time.process_time()
        evidence = Evidence(source.stretch.events)
        indexed = time.process_time()
        checks.ground_bullets(drafts, evidence)
        checked = time.process_time()
        index_ms.append(1000 * (indexed - began))
        check_ms.append(1000 * (checked - indexed) / max(len(drafts), 1))
    for name, took in (("indexing a segment", index_ms), ("a bullet", check_ms)):
        took.sort()
        late = took[int(0.95 * len(took))]
        print(
            f"{name}, ms: median {statistics.median(took):.2f},"
            f" p95 {late:.2f}, max {took[-1]:.2f}"
        )


if __name__ == "__main__":
    sys.exit(main())
