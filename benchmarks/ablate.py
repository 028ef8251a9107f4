"""Measure what each rule is worth on sets that were not used to make it.

Each rule is switched off by name, and all verdicts are made again. A rule is worth the
difference in right verdicts; it lives only if that is more than one standard error on a
set, and no set loses as much by it. Run it from the checkout:

    python -m benchmarks.ablate [family]
"""

import math
import random
import statistics
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks import generated_bullets, handwritten, transcripts
from memtui.model.verdicts import Support
from memtui.summarize.grounding import checks
from memtui.summarize.grounding.checks import Rule

Judge = Callable[[Collection[str]], Sequence[bool]]
"""Takes the names of the rules to apply; returns whether each result is right."""


@dataclass(frozen=True, slots=True)
class Family:
    """Rules that decide the same thing, and the sets that they are judged with."""

    rules: tuple[str, ...]
    sets: Mapping[str, Callable[[], Judge]]
    """By name; each is prepared when it is needed."""


def judge_handwritten() -> Judge:
    """Judge verdicts on bullets by later authors, which no rule was made from."""

    def judge(names: Collection[str]) -> list[bool]:
        return [
            (verdict.support is Support.SUPPORTED) is bullet.is_true
            for bullet, verdict in handwritten.verdicts(_rules(names))
            if bullet.half in handwritten.LATER
        ]

    return judge


FALSE_KINDS = (
    "swapped identifier",
    "directory changed",
    "changed number",
    "number word changed",
    "two numbers exchanged",
    "unit or counted noun changed",
    "inserted negation",
    "near-denial",
    "invented clause",
    "joined halves",
)
TRUE_KINDS = ("verbatim", "reworded", "paraphrased", "two sentences in one")


def judge_generated() -> Judge:
    """Judge verdicts on bullets made from the sessions that are held out."""
    stretches = [stretch for stretch in transcripts.stretches() if stretch.is_held_out]
    maker = generated_bullets.BulletMaker(stretches, random.Random(0))
    bullets = [
        (kind in TRUE_KINDS, draft, source.evidence)
        for source_text in maker.sources
        for kind, draft, source in maker.bullets_of(source_text)
        if kind in TRUE_KINDS + FALSE_KINDS
    ]

    def judge(names: Collection[str]) -> list[bool]:
        rules = _rules(names)
        results = []
        for is_true, draft, evidence in bullets:
            (grounded,) = checks.ground_bullets([draft], evidence, rules)
            is_supported = grounded.verdict.support is Support.SUPPORTED
            results.append(is_supported is is_true)
        return results

    return judge


def _rules(names: Collection[str]) -> frozenset[Rule]:
    return frozenset(rule for rule in Rule if rule in names)


FAMILIES = {
    "verdicts": Family(
        tuple(Rule),
        {
            "written by hand, later authors": judge_handwritten,
            "made from held-out sessions": judge_generated,
        },
    ),
}
"""All rules that can be switched off; those of other decisions are added here."""


def ablate(rules: Sequence[str], judge: Judge) -> Iterator[str]:
    """Yield a line for each rule: what it is worth, with one standard error."""
    whole = judge(rules)
    yield f"  {'all rules':32}{_share(whole)}  of {len(whole)}"
    for rule in rules:
        without = judge([name for name in rules if name != rule])
        gains = [had - has for had, has in zip(whole, without, strict=True)]
        worth = statistics.fmean(gains)
        error = statistics.stdev(gains) / math.sqrt(len(gains))
        mark = "+" if worth > error else "−" if worth < -error else "0"
        yield f"  − {rule:30}{_share(without)}  {worth:+.4f} ± {error:.4f}  {mark}"
    yield f"  {'none':32}{_share(judge(()))}"


def _share(right: Sequence[bool]) -> str:
    return f"{statistics.fmean(right):8.3f}"


def main() -> int:
    """Print the worth of each rule of a family, or of all."""
    for name in sys.argv[1:] or FAMILIES:
        family = FAMILIES[name]
        for title, prepare in family.sets.items():
            print(f"{name}: {title}")
            for line in ablate(family.rules, prepare()):
                print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
