"""Bullets with known answers, made of sentences somebody really wrote.

A sentence is kept as it is, reworded lightly, or reworded as a whole by rules; or one
thing in it is made wrong: an identifier, a number, or what it says altogether.
"""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memtui.model.events import Event
from memtui.text import analyzer
from memtui.text.prose import message_sentences

FEWEST_TERMS, MOST_CHARS, FEWEST_CHARS = 5, 240, 30
"""What makes a sentence a possible bullet: enough to say, and short enough."""

ENUMERATOR = 6
"""A number among the first characters is a list's, and no claim."""

_OTHERWISE = """
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
SYNONYMS: dict[str, str] = dict(re.findall(r"(\S+)=(\S+)", _OTHERWISE))
"""Words and what an honest writer might say instead, usual abbreviations among them."""

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
class Base:
    """A sentence and the place of the event it stands in."""

    text: str
    place: int


def bases(events: Sequence[Event], chance: random.Random, most: int) -> list[Base]:
    """Some sentences of a segment's messages, in their order."""
    found = {
        part.text: Base(part.text, at)
        for at, event in enumerate(events)
        if event.is_message
        for part in message_sentences(event.text)
        if FEWEST_CHARS <= len(part.text) <= MOST_CHARS
        and len(analyzer.query_terms(part.text)) >= FEWEST_TERMS
        and not part.is_heading
        and not part.text.endswith(("?", ":"))
    }
    every = list(found.values())
    taken = chance.sample(every, min(most, len(every)))
    return sorted(taken, key=lambda one: one.place)


def planted(text: str, chance: random.Random) -> str:
    """The same sentence, as a summary would word it: lightly changed."""
    told = _told(text)
    if chance.random() < 0.5:
        told = _ARTICLE.sub("", told)
    known = [word[0] for word in _WORD.finditer(told) if word[0].lower() in SYNONYMS]
    if known:
        told = _exchanged(told, {chance.choice(known)})
    return _sentence(told)


def paraphrased(text: str, chance: random.Random) -> str:
    """The same said otherwise: all known words exchanged, clauses turned round."""
    told = _told(text)
    told = _ADVERB.sub("", _ARTICLE.sub("", told))
    told = _exchanged(told, None)
    cuts = list(_CLAUSES.finditer(told))
    if cuts:
        cut = chance.choice(cuts)
        told = f"{told[cut.end() :].rstrip(' .')}, {told[: cut.start()]}"
    return _sentence(told)


def _told(text: str) -> str:
    """What somebody said, told by another: without a lead and an aside."""
    bare = _LEAD.sub("", text.replace("’", "'"), count=1)
    short = _TAIL.sub("", bare)
    if len(analyzer.query_terms(short)) < FEWEST_TERMS:
        short = bare
    return _WORD.sub(lambda word: _SPOKEN.get(word[0], word[0]), short)


def _exchanged(text: str, only: set[str] | None) -> str:
    def other(word: re.Match[str]) -> str:
        if only is not None and word[0] not in only:
            return word[0]
        return SYNONYMS.get(word[0].lower(), word[0]).replace("_", " ")

    return _WORD.sub(other, text)


def _sentence(text: str) -> str:
    bare = " ".join(text.split()).strip(" ,;:–—-")
    return bare[:1].upper() + bare[1:]


def names(texts: Sequence[str]) -> list[str]:
    """The identifiers, paths and flags in some texts, each once."""
    return list(dict.fromkeys(one for text in texts for one in _NAME.findall(text)))


def swapped(text: str, chance: random.Random, others: Sequence[str]) -> str | None:
    """The same with another identifier; None if there is none to exchange."""
    found = [one for one in _NAME.finditer(text) if len(one[0]) > 3]
    if not found:
        return None
    old = chance.choice(found)
    rest = text[: old.start()] + text[old.end() :]
    if len(analyzer.query_terms(rest)) < FEWEST_TERMS:
        return None
    kind = _kind(old[0])
    held = text.lower()
    fitting = [one for one in others if _kind(one) == kind and one.lower() not in held]
    if not fitting:
        return None
    return text[: old.start()] + chance.choice(fitting) + text[old.end() :]


def _kind(name: str) -> str:
    if name.startswith("--"):
        return "flag"
    if "/" in name:
        return "path"
    return "dotted" if "." in name else "word"


def renumbered(text: str, chance: random.Random) -> str | None:
    """The same with another number; None if there is none."""
    found = [one for one in _NUMBER.finditer(text) if one.start() > ENUMERATOR]
    if not found:
        return None
    old = chance.choice(found)
    value = float(old[0])
    changed: list[Callable[[float], float]] = [
        lambda n: n + 1,
        lambda n: n - 1 if n > 1 else n + 2,
        lambda n: n * 2 or 3,
        lambda n: n * 10 or 10,
        lambda n: n + 7,
    ]
    new = chance.choice(changed)(value)
    shown = str(int(new)) if "." not in old[0] else f"{new:g}"
    told = text[: old.start()] + shown + text[old.end() :]
    return None if shown in _NUMBER.findall(text) else told


def negated(text: str, chance: random.Random) -> str | None:
    """The same with a negation put in; None if there is no verb to deny."""
    if found := list(_AUXILIARY.finditer(text)):
        verb = chance.choice(found)
        no = "nicht" if verb[0] in _GERMAN else chance.choice(["not", "not", "never"])
        return f"{text[: verb.end()]} {no}{text[verb.end() :]}"
    if found := list(_VERB.finditer(text)):
        verb = chance.choice(found)
        plain = verb[0].removesuffix("es" if verb[0] == "passes" else "s")
        no = chance.choice(["does not", "no longer", "never"])
        said = verb[0] if no == "no longer" else plain if no == "does not" else verb[0]
        return f"{text[: verb.start()]}{no} {said}{text[verb.end() :]}"
    return None


_GERMAN = {"ist", "sind", "war", "wird", "wurde", "kann", "hat", "muss", "soll"}
