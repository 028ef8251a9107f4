"""Make bullets with known verdicts from real segments.

A sentence that somebody wrote is kept, reworded lightly or paraphrased by rules; or
one thing in it is made wrong, so that nobody said it; or it is checked against another
segment.
"""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.transcripts import Stretch
from memtui.model.events import Event
from memtui.model.nodes import DraftBullet
from memtui.summarize.grounding.anchors import EventIndex
from memtui.summarize.grounding.passages import Evidence, TextIndex
from memtui.text import analyzer, plain, sentences

MIN_TERMS, MAX_CHARS, MIN_CHARS = 5, 240, 30
"""A sentence needs this many terms, and a length between these, to become a bullet."""

LIST_NUMBER_CHARS = 6
"""A number within the first characters is that of a list item."""

_SYNONYM_LIST = """
    add=introduce adds=introduces added=introduced adding=introducing
    remove=drop removes=drops removed=dropped removing=dropping delete=erase
    deleted=erased create=make creates=makes created=made creating=making
    fix=repair fixes=repairs fixed=repaired fixing=repairing update=revise
    updates=revises updated=revised updating=revising change=alter changes=alterations
    changed=altered use=employ uses=employs used=employed using=employing
    check=verify checks=verifies checked=verified checking=verifying show=display
    shows=displays showing=displaying shown=displayed error=failure errors=failures
    issue=problem issues=problems bug=defect bugs=defects need=require needs=requires
    needed=required find=locate found=located finding=locating run=execute
    runs=executes running=executing start=begin starts=begins started=began
    implement=build implements=builds implemented=built implementing=building
    ensure=guarantee ensures=guarantees get=obtain gets=obtains getting=obtaining
    set=configure correct=right correctly=properly current=present currently=presently
    new=fresh old=former large=big small=little fast=quick multiple=several
    complete=finished completed=finished simple=plain entire=whole proper=suitable
    successfully=well better=superior main=principal different=distinct
    include=contain includes=contains including=containing allow=let allows=lets
    provide=supply provides=supplies provided=supplied support=handle
    supports=handles explain=describe explains=describes return=yield returns=yields
    returned=yielded want=wish wants=wishes look=appear looks=appears work=function
    works=functions working=functioning make=render makes=renders keep=retain
    keeps=retains kept=retained call=invoke calls=invokes called=invoked
    required=mandatory key=essential important=significant missing=absent
    instead=rather also=too because=since before=ahead_of after=following
    directory=dir repository=repo configuration=config documentation=docs
    database=db environment=env function=fn functions=fns parameter=param
    parameters=params argument=arg arguments=args application=app
    authentication=auth implementation=impl development=dev production=prod
    dependencies=deps message=msg messages=msgs
    ändern=anpassen geändert=angepasst hinzugefügt=ergänzt entfernt=gelöscht
    Fehler=Problem behoben=gelöst erstellt=angelegt
"""
SYNONYMS: dict[str, str] = dict(re.findall(r"(\S+)=(\S+)", _SYNONYM_LIST))
"""Words and possible replacements, including common abbreviations."""

_SPOKEN = {
    "I'm": "the assistant is",
    "I've": "the assistant has",
    "I'll": "the assistant will",
    "I": "the assistant",
    "we": "they",
    "We": "They",
    "my": "its",
    "your": "the user's",
    "you": "the user",
    "don't": "do not",
    "doesn't": "does not",
    "isn't": "is not",
    "can't": "cannot",
    "it's": "it is",
    "It's": "It is",
    "is": "was",
    "are": "were",
    "has": "had",
    "will": "would",
    "can": "could",
}
_LEAD = re.compile(
    r"^(?:(?:(?:now|so|ok(?:ay)?|great|perfect|good|next|then|and|but|also|yes|no|first"
    r"|finally|actually|basically),?\s+)+|(?:let me|i need to|i want to|please)\s+)",
    re.IGNORECASE,
)
_TAIL = re.compile(r"(?: [—–] |, (?:which|so that|so|including)\s|\s\().{8,}$")
_ARTICLE = re.compile(r"\b(?:the|an|a) (?=\w)")
_ADVERB = re.compile(r"\b(?:[a-z]{3,}ly|very|just|really|now|already|still|also) ")
_WORD = re.compile(r"(?<![\w./\-`])[A-Za-zÄÖÜäöüß']+(?![\w/\-`]|\.\w)")
_CLAUSES = re.compile(r", (?:and |but )?|; | because | so that | when | while | and ")
_NAME = re.compile(
    r"(?<![\w./:<\-])(?:\w[\w.\-]*/\w[\w./\-]*\w|\w+(?:[._]\w+)+|[a-z]+[A-Z]\w+"
    r"|[A-Z][a-z0-9]+[A-Z]\w*|--[a-z][\w\-]+)(?![\w/:])"
)
_NUMBER = re.compile(
    r"(?<![\w.#/\-:])\d+(?:\.\d+)?"
    r"(?=(?:ms|s|m|h|[kKmMgG][bB]|px|x|%)?(?![\w/\-:%]|\.\d))"
)
_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|will|can|should|has|have|had|must|would|could|does|did|ist"
    r"|sind|war|wird|wurde|kann|hat|muss|soll)\b"
    r"(?!['’])(?! (?:not|no|never|nicht|kein)\b)"
)
_VERB = re.compile(
    r"\b(?P<is>works|passes|fails|uses|needs|supports|returns|shows|runs|handles|adds"
    r"|contains|includes|requires|provides|allows|exists|matches|creates|makes|takes"
    r"|gets|keeps|calls|sets|reads|writes|loads|stores|checks|causes|breaks)\b"
)


@dataclass(frozen=True, slots=True)
class SourceSentence:
    """A sentence and the index of its event."""

    text: str
    place: int


MIN_LETTERS = 0.75
"""The least share of letters in a line of words; others are code, figures or logs."""

_CODE_END = re.compile(r"[{}();,]$")


def split_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a message, without markup, code and tables."""
    for line in plain.plain_lines(text):
        letters = sum(map(str.isalpha, line)) / len(line.replace(" ", ""))
        if letters >= MIN_LETTERS and not _CODE_END.search(line):
            for start, end in sentences.sentence_spans(line):
                yield line[start:end]


def source_sentences(
    events: Sequence[Event], chance: random.Random, most: int
) -> list[SourceSentence]:
    """Return some sentences of a segment's messages in order."""
    by_text = {
        text: SourceSentence(text, at)
        for at, event in enumerate(events)
        if event.is_message
        for text in split_sentences(event.text)
        if MIN_CHARS <= len(text) <= MAX_CHARS
        and len(analyzer.query_terms(text)) >= MIN_TERMS
        and not text.endswith(("?", ":"))
    }
    every = list(by_text.values())
    taken = chance.sample(every, min(most, len(every)))
    return sorted(taken, key=lambda bullet: bullet.place)


def reword(text: str, chance: random.Random) -> str:
    """Reword a sentence lightly, as a summary would."""
    changed = _in_third_person(text)
    if chance.random() < 0.5:
        changed = _ARTICLE.sub("", changed)
    synonyms = [
        word[0] for word in _WORD.finditer(changed) if word[0].lower() in SYNONYMS
    ]
    if synonyms:
        changed = _replace_synonyms(changed, {chance.choice(synonyms)})
    return _sentence(changed)


def paraphrase(text: str, chance: random.Random) -> str:
    """Replace all known words, drop adverbs, and swap clauses."""
    changed = _in_third_person(text)
    changed = _ADVERB.sub("", _ARTICLE.sub("", changed))
    changed = _replace_synonyms(changed, None)
    cuts = list(_CLAUSES.finditer(changed))
    if cuts:
        cut = chance.choice(cuts)
        changed = f"{changed[cut.end() :].rstrip(' .')}, {changed[: cut.start()]}"
    return _sentence(changed)


def _in_third_person(text: str) -> str:
    """Retell a sentence in the third person, without lead and aside."""
    bare = _LEAD.sub("", text.replace("’", "'"), count=1)
    short = _TAIL.sub("", bare)
    if len(analyzer.query_terms(short)) < MIN_TERMS:
        short = bare
    return _WORD.sub(lambda word: _SPOKEN.get(word[0], word[0]), short)


def _replace_synonyms(text: str, only: set[str] | None) -> str:
    def other(word: re.Match[str]) -> str:
        if only is not None and word[0] not in only:
            return word[0]
        return SYNONYMS.get(word[0].lower(), word[0]).replace("_", " ")

    return _WORD.sub(other, text)


def _sentence(text: str) -> str:
    bare = " ".join(text.split()).strip(" ,;:–—-")
    return bare[:1].upper() + bare[1:]


def find_names(texts: Sequence[str]) -> list[str]:
    """Return the identifiers, paths and flags in some texts, without duplicates."""
    return list(dict.fromkeys(name for text in texts for name in _NAME.findall(text)))


def swap_identifier(
    text: str, chance: random.Random, others: Sequence[str]
) -> str | None:
    """Replace an identifier by another; None if there is none."""
    matches = [match for match in _NAME.finditer(text) if len(match[0]) > 3]
    if not matches:
        return None
    old = chance.choice(matches)
    remainder = text[: old.start()] + text[old.end() :]
    if len(analyzer.query_terms(remainder)) < MIN_TERMS:
        return None
    kind = _kind(old[0])
    held = text.lower()
    fitting = [
        other for other in others if _kind(other) == kind and other.lower() not in held
    ]
    if not fitting:
        return None
    return text[: old.start()] + chance.choice(fitting) + text[old.end() :]


def _kind(name: str) -> str:
    if name.startswith("--"):
        return "flag"
    if "/" in name:
        return "path"
    return "dotted" if "." in name else "word"


def change_number(text: str, chance: random.Random) -> str | None:
    """Change a number; None if there is none."""
    matches = [
        match for match in _NUMBER.finditer(text) if match.start() > LIST_NUMBER_CHARS
    ]
    if not matches:
        return None
    old = chance.choice(matches)
    value = float(old[0])
    changed: list[Callable[[float], float]] = [
        lambda n: n + 1,
        lambda n: n - 1 if n > 1 else n + 2,
        lambda n: n * 2 or 3,
        lambda n: n * 10 or 10,
        lambda n: n + 7,
    ]
    new = chance.choice(changed)(value)
    digits = str(int(new)) if "." not in old[0] else f"{new:g}"
    result = text[: old.start()] + digits + text[old.end() :]
    return None if digits in _NUMBER.findall(text) else result


def negate(text: str, chance: random.Random) -> str | None:
    """Insert a negation; None if there is no verb."""
    if matches := list(_AUXILIARY.finditer(text)):
        verb = chance.choice(matches)
        no = "nicht" if verb[0] in _GERMAN else chance.choice(["not", "not", "never"])
        return f"{text[: verb.end()]} {no}{text[verb.end() :]}"
    if matches := list(_VERB.finditer(text)):
        verb = chance.choice(matches)
        plain = verb[0].removesuffix("es" if verb[0] == "passes" else "s")
        no = chance.choice(["does not", "no longer", "never"])
        said = verb[0] if no == "no longer" else plain if no == "does not" else verb[0]
        return f"{text[: verb.start()]}{no} {said}{text[verb.end() :]}"
    return None


_GERMAN = {"ist", "sind", "war", "wird", "wurde", "kann", "hat", "muss", "soll"}


_PATH = re.compile(r"(?<![\w./:-])((?:[\w.@-]+/)+)([\w-]+\.[a-z]{1,4})(?![\w/])")
_PLAIN_NUMBER = re.compile(
    r"(?<![\w.#/\-])\d+(?:\.\d+)?(?=(?:ms|s|k|[MG]B|x|%)?(?![\w/\-]))"
)
_UNIT = re.compile(r"(?P<number>(?<![\w.#/\-])\d+(?:\.\d+)?)(?P<gap> ?)(?P<unit>%|\w+)")
_NUMBER_WORD = re.compile(r"\b(?:two|three|four|five|six|seven|eight|nine|ten)\b", re.I)
_NUMBER_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_AUXILIARY_VERB = re.compile(
    r"\b(?:is|are|was|were|will|can|should|has|have|had|must|would|could|does|did)\b"
    r"(?!['’])(?! (?:not|no|never)\b)"
)

UNITS = {
    "ms": "s",
    "s": "min",
    "seconds": "minutes",
    "minutes": "hours",
    "hours": "days",
    "days": "weeks",
    "weeks": "months",
    "KB": "MB",
    "MB": "GB",
    "%": " points",
    "lines": "files",
    "tests": "errors",
    "test": "error",
    "errors": "warnings",
    "warnings": "tests",
    "files": "tests",
    "commits": "branches",
    "issues": "tests",
    "steps": "files",
    "characters": "lines",
    "times": "days",
    "phases": "files",
    "prompts": "phases",
    "new": "old",
    "concurrent": "idle",
}
"""Units and counted nouns, and what they are replaced by."""

DIRECTORIES = ("legacy", "vendor", "billing", "old/core", "internal", "third_party")

INVENTED_CLAUSES = (
    "and the nightly deployment to Frankfurt failed",
    "because the customer complained",
    "and the license was renewed for another year",
    "so that the sales team could present it on Friday",
    "and Maria from accounting approved it",
    "after the warehouse burned down",
    "which cost the company its largest contract",
    "and a penetration test found nothing",
    "because the old supplier went bankrupt",
    "and the press was informed by telephone",
)
"""Clauses that no transcript contains."""

NEAR_DENIALS = ("hardly", "almost", "nearly", "barely", "scarcely")


def change_directory(text: str, chance: random.Random) -> str | None:
    """Change one or all directories of a path; None if there is none."""
    matches = list(_PATH.finditer(text))
    if not matches:
        return None
    path, other = chance.choice(matches), chance.choice(DIRECTORIES)
    above = path[1].rstrip("/").split("/")
    if chance.random() < 0.5 and len(above) > 1:
        above[chance.randrange(len(above))] = other
    else:
        above = [other]
    return f"{text[: path.start()]}{'/'.join(above)}/{path[2]}{text[path.end() :]}"


def exchange_numbers(text: str, chance: random.Random) -> str | None:
    """Exchange two different numbers; None if there are not two."""
    matches = list(_PLAIN_NUMBER.finditer(text))
    pairs = [
        (first, two)
        for first in matches
        for two in matches
        if first.start() < two.start()
    ]
    pairs = [(first, two) for first, two in pairs if first[0] != two[0]]
    if not pairs:
        return None
    first, two = chance.choice(pairs)
    between = text[first.end() : two.start()]
    return text[: first.start()] + two[0] + between + first[0] + text[two.end() :]


def change_unit(text: str, chance: random.Random) -> str | None:
    """Change what a number counts: "14 tests" to "14 errors"; None if unknown."""
    matches = [unit for unit in _UNIT.finditer(text) if unit["unit"] in UNITS]
    if not matches:
        return None
    unit = chance.choice(matches)
    other = unit["gap"] + UNITS[unit["unit"]]
    return text[: unit.start()] + unit["number"] + other + text[unit.end() :]


def change_number_word(text: str, chance: random.Random) -> str | None:
    """Change a number word; None if there is none."""
    matches = list(_NUMBER_WORD.finditer(text))
    if not matches:
        return None
    old = chance.choice(matches)
    other = chance.choice([word for word in _NUMBER_WORDS if word != old[0].lower()])
    return text[: old.start()] + other + text[old.end() :]


def add_clause(text: str, chance: random.Random) -> str:
    """Add an invented clause."""
    clause = chance.choice(INVENTED_CLAUSES)
    comma = "," if clause.startswith(("and", "which")) else ""
    return f"{text.rstrip('.')}{comma} {clause}"


def join_halves(text: str, other: str) -> str | None:
    """Join the first half of one sentence and the second half of another."""
    first, second = text.split(), other.split()
    if len(first) < 6 or len(second) < 6:
        return None
    return " ".join(first[: len(first) // 2] + second[len(second) // 2 :])


def deny_nearly(text: str, chance: random.Random) -> str | None:
    """Insert "hardly" or "nearly" after an auxiliary; None if there is none."""
    matches = list(_AUXILIARY_VERB.finditer(text))
    if not matches:
        return None
    verb = chance.choice(matches)
    return f"{text[: verb.end()]} {chance.choice(NEAR_DENIALS)}{text[verb.end() :]}"


SENTENCES_PER_SEGMENT = 40
"""The most sentences of a segment that become bullets."""

_NO_WORD = re.compile(r"\W+")


@dataclass(slots=True)
class Source:
    """A segment's texts, prepared once."""

    stretch: Stretch
    evidence: Evidence
    bare: str
    """All letters and digits, to find sentences regardless of punctuation."""
    names: list[str]

    def event_id(self, sentence: SourceSentence) -> str:
        return self.stretch.events[sentence.place].event_id


class BulletMaker:
    """Makes bullets of all classes from all segments."""

    def __init__(self, stretches: Sequence[Stretch], chance: random.Random) -> None:
        self.sources = [
            Source(
                stretch,
                Evidence(stretch.events),
                _bare(" ".join(stretch.texts)),
                find_names(stretch.texts),
            )
            for stretch in stretches
        ]
        index = TextIndex([" ".join(stretch.texts) for stretch in stretches])
        self._all = EventIndex(index.term_counts, index.text_lengths)
        self._names = [name for source in self.sources for name in source.names]
        self._chance = chance
        self._further = random.Random(1)

    def bullets_of(self, source: Source) -> Iterator[tuple[str, DraftBullet, Source]]:
        """Yield the bullets of one segment: class, bullet, and the source to check
        against."""
        for base in source_sentences(
            source.stretch.events, self._chance, SENTENCES_PER_SEGMENT
        ):
            forms = {
                "verbatim": base.text,
                "reworded": reword(base.text, self._chance),
                "paraphrased": paraphrase(base.text, self._chance),
            }
            for kind, text in forms.items():
                yield kind, DraftBullet(text, (source.event_id(base),)), source
            yield from self._two_sentences(base, forms["reworded"], source)
            start = self._chance.choice([base.text, forms["reworded"]])
            for kind, changed in self._changed(start, source):
                yield kind, DraftBullet(changed, (source.event_id(base),)), source
            yield from self._wrong_source(base.text, [*forms.values()], source)
            yield from self._wrong(base, forms["reworded"], source)

    def _two_sentences(
        self, base: SourceSentence, text: str, source: Source
    ) -> Iterator[tuple[str, DraftBullet, Source]]:
        """Yield a bullet of two sentences from different events."""
        others = [
            other
            for other in source_sentences(source.stretch.events, self._chance, 2)
            if other.place != base.place
        ]
        for other in others[:1]:
            said = reword(other.text, self._chance).rstrip(".")
            joint = self._chance.choice(["; ", ", and ", " and "])
            joined = f"{text.rstrip('.')}{joint}{said[0].lower()}{said[1:]}"
            yield (
                "two sentences in one",
                DraftBullet(joined, (source.event_id(base), source.event_id(other))),
                source,
            )

    def _wrong(
        self, base: SourceSentence, reworded: str, source: Source
    ) -> Iterator[tuple[str, DraftBullet, Source]]:
        """Yield bullets with typical errors of models."""
        chance = self._further
        text = chance.choice([base.text, reworded])
        others = [
            other.text
            for other in source_sentences(source.stretch.events, chance, 2)
            if other.place != base.place
        ]
        wrong = {
            "directory changed": change_directory(text, chance),
            "two numbers exchanged": exchange_numbers(text, chance),
            "unit or counted noun changed": change_unit(text, chance),
            "number word changed": change_number_word(text, chance),
            "near-denial": deny_nearly(text, chance),
            "invented clause": add_clause(text, chance),
            "joined halves": join_halves(text, others[0]) if others else None,
        }
        for kind, made in wrong.items():
            if made:
                yield kind, DraftBullet(made, (source.event_id(base),)), source

    def _changed(self, text: str, source: Source) -> Iterator[tuple[str, str]]:
        others = self._chance.choice([source.names, self._names])
        wrong = {
            "swapped identifier": swap_identifier(text, self._chance, others),
            "changed number": change_number(text, self._chance),
            "inserted negation": negate(text, self._chance),
        }
        yield from ((kind, made) for kind, made in wrong.items() if made)

    def _wrong_source(
        self, base: str, forms: Sequence[str], source: Source
    ) -> Iterator[tuple[str, DraftBullet, Source]]:
        """Yield a bullet with segments that do not contain its sentence."""
        text = self._chance.choice(forms)
        said = {_bare(base), _bare(text)}
        wrong = [
            (at, other)
            for at, other in enumerate(self.sources)
            if other is not source and not any(line in other.bare for line in said)
        ]
        yield "random wrong segment", DraftBullet(text), self._chance.choice(wrong)[1]
        scores = self._all.scores(text)
        elsewhere = [
            pair for pair in wrong if pair[1].stretch.session != source.stretch.session
        ]
        for kind, candidates in (
            ("nearest segment of another session", elsewhere),
            ("nearest other segment", wrong),
        ):
            nearest = max(candidates, key=lambda pair: scores.get(pair[0], 0.0))
            yield kind, DraftBullet(text), nearest[1]


def _bare(text: str) -> str:
    return _NO_WORD.sub("", text).lower()
