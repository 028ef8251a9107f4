"""Bullets of every class, made of the sentences of real segments.

Each comes with its class and with what it is held against: the segment it is from, or
one that does not hold it.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks import bullets, wrongs
from benchmarks.transcripts import Stretch
from memtui.model.summaries import DraftBullet
from memtui.summarize.grounding.anchoring import NeighbourIndex
from memtui.summarize.grounding.passages import PassageIndex

EACH = 40
"""How many sentences of a segment become bullets at most."""

_NO_WORD = re.compile(r"\W+")


@dataclass(slots=True)
class Source:
    """A segment's texts, prepared once."""

    stretch: Stretch
    passages: PassageIndex
    bare: str
    """All its letters and digits in a row: to find whether it holds a sentence."""
    names: list[str]


class Planter:
    """Makes the bullets of every class out of all segments."""

    def __init__(self, stretches: Sequence[Stretch], chance: random.Random) -> None:
        self.sources = [
            Source(
                one,
                PassageIndex(one.texts),
                _bare(" ".join(one.texts)),
                bullets.names(one.texts),
            )
            for one in stretches
        ]
        self._all = NeighbourIndex([" ".join(one.texts) for one in stretches])
        self._names = [name for source in self.sources for name in source.names]
        self._chance = chance
        self._further = random.Random(1)

    def made(self, source: Source) -> Iterator[tuple[str, DraftBullet, Source]]:
        """The bullets of one segment: class, bullet and what it is held against."""
        for base in bullets.bases(source.stretch.events, self._chance, EACH):
            forms = {
                "verbatim": base.text,
                "planted true": bullets.planted(base.text, self._chance),
                "paraphrased": bullets.paraphrased(base.text, self._chance),
            }
            for kind, text in forms.items():
                yield kind, DraftBullet(text, (base.place,)), source
            yield from self._two(base, forms["planted true"], source)
            start = self._chance.choice([base.text, forms["planted true"]])
            for kind, changed in self._changed(start, source):
                yield kind, DraftBullet(changed, (base.place,)), source
            yield from self._misplaced(base.text, [*forms.values()], source)
            yield from self._wronged(base, forms["planted true"], source)

    def _two(
        self, base: bullets.Base, text: str, source: Source
    ) -> Iterator[tuple[str, DraftBullet, Source]]:
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
                DraftBullet(joined, (base.place, other.place)),
                source,
            )

    def _wronged(
        self, base: bullets.Base, told: str, source: Source
    ) -> Iterator[tuple[str, DraftBullet, Source]]:
        """What a model gets wrong: a part of what is said, or more than is said."""
        chance = self._further
        text = chance.choice([base.text, told])
        others = [
            other.text
            for other in bullets.bases(source.stretch.events, chance, 2)
            if other.place != base.place
        ]
        wrong = {
            "directory changed": wrongs.moved(text, chance),
            "two numbers exchanged": wrongs.exchanged(text, chance),
            "unit or counted noun changed": wrongs.recounted(text, chance),
            "number word changed": wrongs.respelled(text, chance),
            "near-denial": wrongs.nearly(text, chance),
            "invented clause": wrongs.added_to(text, chance),
            "joined halves": wrongs.halved(text, others[0]) if others else None,
        }
        for kind, made in wrong.items():
            if made:
                yield kind, DraftBullet(made, (base.place,)), source

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
    ) -> Iterator[tuple[str, DraftBullet, Source]]:
        """A bullet held against segments that do not hold its sentence."""
        text = self._chance.choice(forms)
        said = {_bare(base), _bare(text)}
        wrong = [
            (at, one)
            for at, one in enumerate(self.sources)
            if one is not source and not any(line in one.bare for line in said)
        ]
        yield "random wrong segment", DraftBullet(text), self._chance.choice(wrong)[1]
        scores = self._all.scores(text)
        elsewhere = [
            pair for pair in wrong if pair[1].stretch.session != source.stretch.session
        ]
        for kind, some in (
            ("nearest segment of another session", elsewhere),
            ("nearest other segment", wrong),
        ):
            nearest = max(some, key=lambda pair: scores.get(pair[0], 0.0))
            yield kind, DraftBullet(text), nearest[1]


def _bare(text: str) -> str:
    return _NO_WORD.sub("", text).lower()
