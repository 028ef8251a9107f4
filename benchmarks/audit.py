"""What the audit says of bullets with known answers.

Bullets are made of the real transcripts' sentences (``benchmarks/bullets.py``) and held
against the segment they are from, or a wrong one. Sessions are split in two by their
name: the rule was set on one half, the other is held out. LoCoMo's facts, written by a
model and checked by people, and more by others (``benchmarks/written.py``) show how it
does on wording that no rule of ours made. Run it from the checkout:

    python -m benchmarks.audit
"""

import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchmarks import bullets, grips, transcripts, written
from benchmarks.transcripts import Stretch
from memtui.memory import audit, extract, places
from memtui.memory.fits import Fits
from memtui.memory.passages import Passages
from memtui.memory.summaries import Claim
from memtui.memory.verdicts import Support, Verdict

EACH = 40
"""How many sentences of a segment become bullets at most."""

AIMS = {
    "verbatim": 0.97,
    "extractive summariser's own": 0.97,
    "planted true": 0.90,
    "paraphrased": 0.55,
    "swapped identifier": -0.03,
    "changed number": -0.08,
    "inserted negation": -0.10,
    "random wrong segment": -0.01,
    "nearest segment of another session": -0.08,
    "nearest other segment": -0.08,
}
"""What share should show as supported: at least, or below zero at most."""

_NO_WORD = re.compile(r"\W+")


@dataclass(slots=True)
class Source:
    """A segment's texts, prepared once."""

    stretch: Stretch
    passages: Passages
    bare: str
    """All its letters and digits in a row: to find whether it holds a sentence."""
    names: list[str]


@dataclass(slots=True)
class Table:
    """Verdicts counted by class and half."""

    rows: dict[str, dict[bool, Counter[Support]]] = field(default_factory=dict)

    def add(self, kind: str, is_held_out: bool, verdict: Verdict) -> None:
        """Count one verdict."""
        halves = self.rows.setdefault(kind, {False: Counter(), True: Counter()})
        halves[is_held_out][verdict.support] += 1

    def lines(self) -> Iterator[str]:
        """The table as it is printed."""
        head = "".join(f"{support:>13}" for support in Support)
        yield f"{'':36}{'n':>6}{head}{'n':>8}{head}{'aim':>8}"
        for kind, halves in self.rows.items():
            tuned, held = _shares(halves[False]), _shares(halves[True])
            yield f"{kind:36}{tuned}  {held}{_aim(kind):>8}"


def _shares(counts: Counter[Support]) -> str:
    every = counts.total()
    if not every:
        return f"{0:6}" + f"{'–':>13}" * len(Support)
    return f"{every:6}" + "".join(f"{counts[one] / every:13.3f}" for one in Support)


def _aim(kind: str) -> str:
    aim = AIMS.get(kind, 0.0)
    return "" if not aim else f"≥ {aim:.0%}" if aim > 0 else f"≤ {-aim:.0%}"


class Planter:
    """Makes the bullets of every class out of all segments."""

    def __init__(self, stretches: Sequence[Stretch], chance: random.Random) -> None:
        self.sources = [
            Source(
                one,
                Passages(one.texts),
                _bare(" ".join(one.texts)),
                bullets.names(one.texts),
            )
            for one in stretches
        ]
        self._all = Fits([" ".join(one.texts) for one in stretches])
        self._names = [name for source in self.sources for name in source.names]
        self._chance = chance

    def made(self, source: Source) -> Iterator[tuple[str, Claim, Source]]:
        """The bullets of one segment: class, bullet and what it is held against."""
        for base in bullets.bases(source.stretch.events, self._chance, EACH):
            forms = {
                "verbatim": base.text,
                "planted true": bullets.planted(base.text, self._chance),
                "paraphrased": bullets.paraphrased(base.text, self._chance),
            }
            for kind, text in forms.items():
                yield kind, Claim(text, (base.place,)), source
            yield from self._two(base, forms["planted true"], source)
            start = self._chance.choice([base.text, forms["planted true"]])
            for kind, changed in self._changed(start, source):
                yield kind, Claim(changed, (base.place,)), source
            yield from self._misplaced(base.text, [*forms.values()], source)

    def _two(
        self, base: bullets.Base, text: str, source: Source
    ) -> Iterator[tuple[str, Claim, Source]]:
        """One bullet of two sentences that stand in different events."""
        others = [
            other
            for other in bullets.bases(source.stretch.events, self._chance, 2)
            if other.place != base.place
        ]
        for other in others[:1]:
            said = bullets.planted(other.text, self._chance).rstrip(".")
            joint = self._chance.choice(["; ", ", and ", " and "])
            joined = f"{text.rstrip('.')}{joint}{said[0].lower()}{said[1:]}"
            yield (
                "two sentences in one",
                Claim(joined, (base.place, other.place)),
                source,
            )

    def _changed(self, text: str, source: Source) -> Iterator[tuple[str, str]]:
        others = self._chance.choice([source.names, self._names])
        wrong = {
            "swapped identifier": bullets.swapped(text, self._chance, others),
            "changed number": bullets.renumbered(text, self._chance),
            "inserted negation": bullets.negated(text, self._chance),
        }
        yield from ((kind, made) for kind, made in wrong.items() if made)

    def _misplaced(
        self, base: str, forms: Sequence[str], source: Source
    ) -> Iterator[tuple[str, Claim, Source]]:
        """A bullet held against segments that do not hold its sentence."""
        text = self._chance.choice(forms)
        said = {_bare(base), _bare(text)}
        wrong = [
            (at, one)
            for at, one in enumerate(self.sources)
            if one is not source and not any(line in one.bare for line in said)
        ]
        yield "random wrong segment", Claim(text), self._chance.choice(wrong)[1]
        scores = self._all.scores(text)
        elsewhere = [
            pair for pair in wrong if pair[1].stretch.session != source.stretch.session
        ]
        for kind, some in (
            ("nearest segment of another session", elsewhere),
            ("nearest other segment", wrong),
        ):
            nearest = max(some, key=lambda pair: scores.get(pair[0], 0.0))
            yield kind, Claim(text), nearest[1]


def _bare(text: str) -> str:
    return _NO_WORD.sub("", text).lower()


def main() -> int:
    """Print the tables."""
    if not transcripts.DATA.is_dir():
        print(f"no data at {transcripts.DATA}", file=sys.stderr)
        return 1
    stretches = transcripts.stretches()
    _tell_data(stretches)
    table = Table()
    planter = Planter(stretches, random.Random(0))
    for source in planter.sources:
        half = source.stretch.is_held_out
        for kind, claim, held_against in planter.made(source):
            (verdict,) = audit.of_texts([claim], held_against.passages)
            table.add(kind, half, verdict)
        own = extract.summarize(source.stretch.events).bullets
        for verdict in audit.of_texts(own, source.passages):
            table.add("extractive summariser's own", half, verdict)
    for row in _written_by_others(stretches):
        table.add(*row)
    print("\n".join(table.lines()))
    _tell_time(stretches)
    return 0


def _tell_data(stretches: Sequence[Stretch]) -> None:
    for name, half in (("dev", False), ("held out", True)):
        some = [one for one in stretches if one.is_held_out is half]
        print(
            f"{name}: {len(some)} segments, {len({s.session for s in some})} sessions"
        )
    agents = Counter(one.agent for one in stretches).most_common()
    told = ", ".join(f"{agent} {count}" for agent, count in agents)
    print(f"by {told}; first dev, then held out")


def _written_by_others(
    stretches: Sequence[Stretch],
) -> Iterator[tuple[str, bool, Verdict]]:
    """Verdicts on what others wrote, against what it is about and the next best."""
    for one in written.commits(stretches):
        verdict = _verdict(one.claims[0], Passages(one.turns))
        yield "commit's subject, its segment", one.is_held_out, verdict
    for name, asked in (
        ("LoCoMo fact", grips.facts()),
        ("QMSum sentence", written.meetings()),
        ("Entire sentence", written.sessions(stretches)),
    ):
        sources = [Passages(one.turns) for one in asked]
        near = Fits(["\n".join(one.turns) for one in asked])
        for at, one in enumerate(asked):
            for claim in one.claims:
                scores = near.scores(claim.text)
                wrong = (other for other in range(len(asked)) if other != at)
                nearest = max(wrong, key=lambda other: scores.get(other, 0.0))
                half = one.is_held_out
                yield f"{name}, its own", half, _verdict(claim, sources[at])
                yield f"{name}, nearest other", half, _verdict(claim, sources[nearest])


def _verdict(claim: Claim, source: Passages) -> Verdict:
    return audit.of_texts([claim], source)[0]


def _tell_time(stretches: Sequence[Stretch]) -> None:
    """What anchoring and auditing a segment's bullets cost, preparing included."""
    told = [(one, extract.summarize(one.events).bullets) for one in stretches]
    began = time.process_time()
    for one, claims in told:
        places.find(claims, Fits(one.texts))
        audit.of_events(claims, one.events)
    took_ms = 1000 * (time.process_time() - began)
    count = sum(len(claims) for _, claims in told)
    print(f"{took_ms / count:.2f} ms a bullet, anchoring and preparing included")


if __name__ == "__main__":
    sys.exit(main())
