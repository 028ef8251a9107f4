"""Check what a model wrote against its evidence.

A bullet is *supported* if all its names and numbers are in one passage, most of its
words are, too, and no rule contradicts it. Else it is *weak*, and the verdict names
what is missing. It is *unsupported*, and withheld, only for an exact reason: it has no
anchor, says nothing or says it twice, has a number or a name that is nowhere in the
session, or says that something was committed, pushed, merged, released or deployed
although nothing shows it. A verdict is about wording found in the source, never about
truth.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache, partial
from itertools import chain, islice

from memtui.model.events import Event, EventRole
from memtui.model.nodes import DraftBullet
from memtui.model.verdicts import (
    SUPPORTED_SHARE,
    Objection,
    Support,
    Verdict,
    VerdictFeatures,
    worst,
)
from memtui.model.work import Facts
from memtui.summarize.grounding import anchors
from memtui.summarize.grounding.anchors import MIN_COVERAGE, Anchor
from memtui.summarize.grounding.passages import (
    Evidence,
    Passage,
    TextIndex,
    to_figures,
    ungroup,
)
from memtui.text import analyzer
from memtui.text.sentences import best_excerpt
from memtui.text.stems import is_irregular, stem
from memtui.text.stopwords import (
    NARRATION_STEMS,
    NEGATIONS,
    STOP_WORDS,
    word_set,
)

VERSION = "audit-9"
"""Summaries checked by another version of these rules are made again."""


class Rule(StrEnum):
    """The rules of a verdict, which can be switched off one by one."""

    NUMBERS = "numbers"
    NAMES = "names"
    COUNTED = "number of something else"
    OTHER_NAME = "another name"
    INVENTED = "invented clause"
    INITIAL = "initial name"
    NEGATION = "negation"
    PLANNED = "planned told as done"
    SPEAKER = "who said it"
    CLAUSES = "clauses on passages of their own"


ALL_RULES = frozenset(Rule)

NOT_DONE = "planned, not done"
NEGATED = "negated differently"
OTHER_SPEAKER = "said by somebody else"

MAX_OVERLAP = 0.8
"""A bullet that shares more of its terms with an earlier one repeats it."""

MIN_INVENTED_TERMS = 3
"""A clause of this many words, none of which is anywhere, is invented."""

MAX_LOOKED_UP = 50
"""The number of sentences in which a number is looked up before the whole text."""

MIN_CLAUSE_TERMS = 4
"""A clause with fewer terms is not checked by itself."""


# Names and numbers


@dataclass(frozen=True, slots=True)
class Number:
    """A number and the words around it."""

    digits: str
    noun: str = ""
    """The word or unit after it, as written."""
    after: tuple[str, ...] = ()
    """The stems of the content words after it in its clause."""
    around: frozenset[str] = frozenset()
    """The word right before it, and the stems of the nearest content words."""

    def __str__(self) -> str:
        return f"{self.digits} {self.noun}".strip()


_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_./:-])[#v]?(?P<digits>\d+(?:[.:]\d+)*+)"
    r"(?P<unit>[a-zA-Z]{0,3}|%)(?![A-Za-z0-9_-])(?!/\w*[a-z])",
    re.ASCII,
)
_RATIO = re.compile(r"(?<![\w./-])(\d+)(?:/|[-–])(\d+)(?![\w./-])")
_HYPHENED = re.compile(r"(?<![\w./-])(\d+)-(?=[^\W\d]{2})")
NEAR_CHARS = 200
"""The words around a number are looked for among this many characters."""

_BREAK = re.compile(r"[.;:!?](?=\s|$)|[,()\n]")
_FLAG = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
_CAPITALIZED = re.compile(
    r"(?<=[a-z0-9,;)\]] )(?:[A-Z][a-z]+|[A-Z]{2,})(?![\w/-]|\.\w)"
)
_JOINED = re.compile(r"\w(?:/|::|_|\.)\w|[@#]\w|^[./~]*/\w")
_IS_PLAIN = re.compile(r"[a-z]+|[A-Za-z]+/[A-Za-z]+")
"""A word in code, or two words: "linting/formatting"; neither need be a name."""

_HUMP = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_APOSTROPHE_S = re.compile("['’]s$")
_GERMAN = re.compile(r"\b(?i:der|die|das|und|ist|nicht|wird|wurden?|für|eine?|sind)\b")
_TITLE_SHARE = 0.5
"""With a larger share of capitalized words a text is a title, or German."""


@lru_cache(maxsize=analyzer.PHRASE_CACHE_SIZE)
def find_numbers(text: str) -> tuple[Number, ...]:
    """Return the numbers of a text with the words around them."""
    text = to_figures(text)
    text = _HYPHENED.sub(r"\1 ", _RATIO.sub(r"\1 / \2", text))
    numbers = []
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        before = _BREAK.split(text[max(start - NEAR_CHARS, 0) : start])[-1].split()
        after = _BREAK.split(text[end : end + NEAR_CHARS], maxsplit=1)[0].split()
        if match["unit"]:
            after.insert(0, match["unit"])
        following, preceding = _content_stems(after), _content_stems(before)
        noun = after[0].strip("*_`") if _content_stems(after[:1]) else ""
        around = frozenset((*before[-1:], *preceding[-1:], *following[:1]))
        numbers.append(Number(match["digits"], noun, tuple(following[:2]), around))
    return tuple(numbers)


def _content_stems(words: Sequence[str]) -> list[str]:
    """Return the stems of the content words among some words."""
    folded = (analyzer.fold(word.strip("[]*_`\"'“”<>=~≈")) for word in words)
    return [
        stem(word)
        for word in folded
        if word and word not in STOP_WORDS and not analyzer.is_unspaced(word)
    ]


@lru_cache(maxsize=analyzer.PHRASE_CACHE_SIZE)
def find_names(text: str) -> tuple[str, ...]:
    """Return the paths, identifiers, flags and other names of a text, in order."""
    marked = {flag.lstrip("-") for flag in _FLAG.findall(text)}
    marked.update(_find_capitalized(text))
    words = (_APOSTROPHE_S.sub("", word) for word in analyzer.words(text))
    return tuple(
        dict.fromkeys(
            word
            for word in words
            if (_is_identifier(word) or (word in marked and word not in STOP_WORDS))
            and not _NUMBER.fullmatch(word)
            and not _RATIO.fullmatch(word)
        )
    )


def _is_identifier(word: str) -> bool:
    if word.lower() in ("e.g", "i.e") or analyzer.is_unspaced(word):
        return False
    if _JOINED.search(word) or _HUMP.search(word.removesuffix("s")):
        return True
    return any(map(str.isdigit, word)) and any(map(str.isalpha, word))


def _find_capitalized(text: str) -> list[str]:
    """Return the capitalized words of a sentence that does not begin with them."""
    names = _CAPITALIZED.findall(text)
    if not names or _GERMAN.search(text):
        return []
    words = [word for word in analyzer.words(text)[1:] if len(word) > 3]
    capitals = sum(word[0].isupper() for word in words)
    return names if capitals <= _TITLE_SHARE * len(words) else []


_INITIAL = re.compile(r"([A-Z][a-z]{2,}|[A-Z]{2,}) (?=([a-z]+))")
_VERB_AFTER = re.compile(
    r"(?:is|was|has|had|will|would|can|could|should|must|does|did|also|wants?|\w+ed"
    r"|\w+[^s]s)$"
)


def _initial_name(text: str, index: TextIndex) -> str:
    """Return the capitalized word that a bullet begins with if a verb follows it, and
    it is always capitalized in the source, or nowhere."""
    match = _INITIAL.match(text)
    if match is None or _GERMAN.search(text) or to_figures(match[1]) != match[1]:
        return ""
    name, following = match.groups()
    is_common = analyzer.fold(name) in STOP_WORDS | NARRATION_STEMS
    if is_common or name.endswith(("ing", "ly", "ion", "ed")):
        return ""
    if not _VERB_AFTER.match(following) and not is_irregular(following):
        return ""
    is_name = index.is_always_capitalized(name) or not _is_anywhere(name, index)
    return name if is_name else ""


# Where names and numbers are


def _is_anywhere(name: str, index: TextIndex) -> bool:
    """Return whether a name is somewhere in the source, in any case and writing."""
    text, lower = index.lower_text, analyzer.fold(name).strip("./~@#")
    stems = analyzer.query_terms(name)
    if lower in text or (len(stems) == 1 and index.contains(stems[0])):
        return True
    if "/" in lower:
        return _is_path_anywhere(lower, text)
    if "".join(filter(str.isalnum, lower)) in index.squeezed_text:
        return True
    first, _, last = lower.rpartition("-")
    return bool(first) and last.isalpha() and _is_anywhere(first, index)


def _is_path_anywhere(path: str, text: str) -> bool:
    """Return whether a path is in a text, or its end, unless the text has another path
    to that file."""
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    if "." not in parts[-1]:
        return all(part in text for part in parts)
    if any("/".join(parts[at:]) in text for at in range(1, len(parts) - 1)):
        return True
    return parts[-1] in text and f"/{parts[-1]}" not in text


def _is_number_anywhere(digits: str, index: TextIndex) -> bool:
    """Return whether a number is somewhere in the source, in figures or in words."""
    for _, sentence in islice(index.sentences_with(digits), MAX_LOOKED_UP):
        if any(number.digits == digits for number in find_numbers(sentence)):
            return True
    pattern = re.compile(rf"(?<![\w.,])[#v]?{re.escape(digits)}(?![.,]?\d)")
    return bool(pattern.search(index.lower_text))


def _find_missing_names(
    text: str, names: Sequence[str], sentences: Sequence[str], rules: Collection[Rule]
) -> Iterator[str]:
    """Yield the names that are not in a passage, or not where it says the same."""
    words = [word for sentence in sentences for word in analyzer.words(sentence)]
    terms = {term for word in words for term in analyzer.word_terms(word)}
    paths = [_path(word) for word in words if "/" in word]
    for name in names:
        if not _is_named(name, terms, paths) or (
            Rule.OTHER_NAME in rules and _is_of_another(name, text, sentences)
        ):
            yield name


def _is_named(
    name: str, terms: Collection[str], paths: Sequence[tuple[str, ...]]
) -> bool:
    path = _path(name)
    if len(path) < 2:
        own = analyzer.word_terms(name)
        return not own or own[0] in terms or analyzer.fold(name) in terms
    if any(path[-len(held) :] == held[-len(path) :] for held in paths):
        return True
    return path[-1] in terms and not any(held[-1] == path[-1] for held in paths)


def _path(name: str) -> tuple[str, ...]:
    parts = analyzer.fold(name).split("/")
    return tuple(part for part in parts if part not in ("", ".", "..", "~"))


def _find_missing_numbers(
    text: str, sentences: Sequence[str], rules: Collection[Rule]
) -> Iterator[str]:
    """Yield the numbers of a text that are not in a passage, or count something else
    there."""
    held = [number for sentence in sentences for number in find_numbers(sentence)]
    for number in find_numbers(text):
        same = [other for other in held if other.digits == number.digits]
        if not same:
            if Rule.NUMBERS in rules:
                yield str(number)
        elif Rule.COUNTED in rules and _counts_other(number, same, held, text):
            yield str(number)


def _counts_other(
    number: Number, same: Sequence[Number], held: Sequence[Number], text: str
) -> bool:
    """Return whether a passage says of another number what a text says of this one, or
    counts something else with it."""
    own = _content_stems(_BREAK.sub(" ", text).split())
    rivals = [other for other in held if other.digits != number.digits]

    def closeness(other: Number) -> int:
        return len(number.around & other.around)

    if max(map(closeness, rivals), default=0) > max(map(closeness, same)):
        return True
    return bool(number.after) and all(
        other.after and other.after[0] not in own and number.after[0] not in other.after
        for other in same
    )


_CLAUSE = re.compile(
    r"[,;:.!?()—–](?=\s|$)|\n"
    r"|\s(?:and|but|while|because|since|instead of|rather than|from|to|than|before"
    r"|after|not)\s"
)


def _is_of_another(name: str, text: str, sentences: Sequence[str]) -> bool:
    """Return whether a clause of a passage with another name, but without this one,
    has more words of the text's clause with this name."""
    folded = analyzer.fold(name)
    own = next((c for c in _CLAUSE.split(text) if folded in c.lower()), text)
    terms = set(analyzer.query_terms(own)).difference(analyzer.query_terms(name))
    here, elsewhere = -1, -1
    for clause in (part for sentence in sentences for part in _CLAUSE.split(sentence)):
        shared = len(terms.intersection(analyzer.terms(clause)))
        if folded in clause.lower():
            here = max(here, shared)
        elif shared > elsewhere and _has_rival(clause, name, text):
            elsewhere = shared
    return elsewhere > here >= 0


def _has_rival(clause: str, name: str, text: str) -> bool:
    """Return whether a clause has a name of the same kind that a text does not have."""
    return any(
        rival.isalpha() is name.isalpha() and rival not in text
        for rival in find_names(f"x {clause}")
    )


# Negations

_NOT = re.compile(
    r"(?P<not>\b(?:(?:fail|refus)\w{0,3} to|no longer|instead of|rather than|yet to"
    r"|still (?:ha(?:s|ve)|needs?) to"
    r"|(?:almost|nearly)(?! (?:all|every\w*|any\w*|no|half|twice|as|the|\d+)\b))\b)"
    r"|(?P<word>\w(?:\w|['’])*)|(?P<end>[,;:.!?()—–](?=\s|$)|\n)"
)


@lru_cache(maxsize=analyzer.PHRASE_CACHE_SIZE)
def _polarities(text: str) -> tuple[int, dict[str, frozenset[bool]]]:
    """Return the number of negations, and for each stem whether it is negated.

    The first content word after a "not" is negated; those after it may be.
    """
    negated: dict[str, frozenset[bool]] = {}
    count, since = 0, -1
    for match in _NOT.finditer(text.lower()):
        word = match["word"] or ""
        if match["end"]:
            since = -1
        elif match["not"] or word in NEGATIONS or word.endswith(("n't", "n’t")):
            count, since = count + 1, 0
        elif word not in STOP_WORDS:
            values = {since == 0, since >= 0}
            for term in analyzer.query_terms(word)[:1]:
                negated[term] = negated.get(term, frozenset()) | values
            since += since >= 0
    return count, negated


def has_negation(text: str) -> bool:
    return _polarities(text)[0] > 0


def _negation_differs(text: str, quoted: str) -> bool:
    """Return whether a text negates a word that a passage says plainly, or the other
    way round, or negates more often than the passage may."""
    count, own = _polarities(text)
    quoted_count, held = _polarities(quoted)
    if not count and not quoted_count:
        return False
    if count > quoted_count:
        return True
    return any(
        len(values) == len(held.get(term, ())) == 1 and values != held[term]
        for term, values in own.items()
    )


# Plans

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[.;:!?](?=\s|$)|\n")
_MODALS = word_set(
    """
    will would can could should shall must may might let let's please want wants need
    needs before planned plans going later todo tomorrow cannot can't until once unless
    if whether when
    """
)
"""Words before a verb of something that has not happened, or not surely."""

_AUXILIARIES = word_set("am be been being get gets getting is are was were not")

_REPORTS_PLAN = re.compile(
    r"\b(?:want|ask|request|propos|suggest|recommend|advis|plan|intend|should|will|must"
    r"|would|could|to be|has to|have to|needs? to)\w*\b",
    re.IGNORECASE,
)
"""Words with which a bullet itself says that something is not done yet."""


def _tells_plan_as_done(
    text: str, sentences: Sequence[str], *, is_by_user: bool
) -> bool:
    """Return whether a text tells as done what a passage only asks for or plans."""
    if _REPORTS_PLAN.search(text) or has_negation(text):
        return False
    told = {verb for verb, is_done, is_told in _verbs(text) if is_told and is_done}
    verbs = [
        pair
        for sentence in sentences
        for pair in _verbs(sentence, may_be_order=is_by_user)
    ]
    done = {verb for verb, is_done, _ in verbs if is_done}
    return any(verb in told and verb not in done for verb, _, _ in verbs)


@lru_cache(maxsize=analyzer.PHRASE_CACHE_SIZE)
def _verbs(
    text: str, *, may_be_order: bool = False
) -> tuple[tuple[str, bool, bool], ...]:
    """Return the content words of a text: each stem, whether it is told as done if it
    is a verb, and whether its form is that of something done."""
    verbs = []
    is_governed, is_first = False, True
    is_question = text.rstrip().endswith("?")
    previous = ""
    for match in _WORD.finditer(text.replace("’", "'")):
        word = match[0].lower()
        if not word[0].isalnum():
            is_governed, is_first = False, True
        elif word.endswith("'ll") or (word in _MODALS and previous != "at"):
            is_governed, is_first = True, word == "please"
        elif word == "to":
            is_governed = True
        elif word not in STOP_WORDS:
            is_past = _is_past(word)
            starts = is_first or previous in ("and", "then")
            is_order = may_be_order and starts and not is_past
            is_free = is_past and previous not in _AUXILIARIES | _MODALS
            is_told = is_past and previous not in ("the", "a", "an", "its", "their")
            is_done = not is_question and not is_order and (is_free or not is_governed)
            verbs.append((stem(word), is_done, is_told))
            is_governed = is_first = False
        previous = word
    return tuple(verbs)


def _is_past(word: str) -> bool:
    return word.endswith("ed") or is_irregular(word.removeprefix("re"))


# Verdicts

_SPEAKER = re.compile(
    r"(?:the )?(?P<who>user|assistant|agent|ai)(?: (?:also|then))?"
    r"(?! (?:was|were|is|has been) (?:asked|told|requested|instructed))"
    r" (?:\w+(?:ed|s)|had|will|would|ran|made|wrote|told|said|found|gave|chose|did)\b",
    re.IGNORECASE,
)
_BY_USER = frozenset({EventRole.USER, EventRole.SYSTEM, None})
_BY_OTHERS = frozenset({EventRole.ASSISTANT, EventRole.TOOL, None})


def _speaker_places(text: str, index: TextIndex) -> frozenset[int] | None:
    """Return the texts by the subject of a bullet; None if that is somebody else."""
    match = _SPEAKER.match(text)
    if match is None:
        return None
    roles = _BY_USER if match["who"].lower() == "user" else _BY_OTHERS
    return frozenset(at for at, role in enumerate(index.roles) if role in roles)


def check_text(
    text: str,
    index: TextIndex,
    preferred: Collection[int] = (),
    rules: Collection[Rule] = ALL_RULES,
) -> Verdict:
    """Return the verdict on a text by the passages that contain most of it.

    Args:
        text: A bullet, or anything else that is said of the source.
        index: The source.
        preferred: The texts that are quoted if others do not have more of it.
        rules: The rules to apply.
    """
    check = partial(_check_wording, text, index, preferred, rules)
    verdict, own_places = check(None), _speaker_places(text, index)
    if (
        Rule.SPEAKER not in rules
        or own_places is None
        or verdict.support is not Support.SUPPORTED
        or {quote.index for quote in verdict.quotes} <= own_places
    ):
        return verdict
    own = check(own_places)
    if own.support is Support.SUPPORTED:
        return own
    features = replace(verdict.features, conflicts=(OTHER_SPEAKER,))
    return replace(verdict, support=Support.WEAK, features=features)


def _names_and_numbers(text: str) -> tuple[str, ...]:
    return (*find_names(text), *dict.fromkeys(map(str, find_numbers(text))))


def _check_wording(
    text: str,
    index: TextIndex,
    preferred: Collection[int],
    rules: Collection[Rule],
    places: Collection[int] | None,
) -> Verdict:
    """Return the verdict on a text as a whole, or by its clauses if that is better."""

    def check(part: str) -> Verdict:
        passage = index.best_passage(part, places, preferred)
        return _check_passage(part, passage, index, rules)

    whole = check(text)
    parts = _split_clauses(text) if Rule.CLAUSES in rules else []
    if whole.support is Support.SUPPORTED or not parts:
        return whole
    by_clause = _join_verdicts(list(map(check, parts)))
    return by_clause if by_clause.support is Support.SUPPORTED else whole


def _check_passage(
    text: str, passage: Passage | None, index: TextIndex, rules: Collection[Rule]
) -> Verdict:
    names = find_names(text) if Rule.NAMES in rules else ()
    if Rule.INITIAL in rules and (initial := _initial_name(text, index)):
        names = (initial, *names)
    if passage is None:
        every = _names_and_numbers(text)
        features = VerdictFeatures(names_and_numbers=every, missing=every)
        return Verdict(Support.UNSUPPORTED, features)
    sentences = index.sentences_of(passage)
    missing = [
        *_find_missing_names(text, names, sentences, rules),
        *_find_missing_numbers(text, sentences, rules),
        *(_find_invented(text, index) if Rule.INVENTED in rules else ()),
    ]
    features = VerdictFeatures(
        covered=passage.coverage,
        terms=len(index.term_weights(text)),
        names_and_numbers=_names_and_numbers(text),
        missing=tuple(dict.fromkeys(missing)),
        conflicts=tuple(_find_conflicts(text, passage, index, rules)),
    )
    is_whole = not features.missing and not features.conflicts
    is_supported = is_whole and features.covered >= SUPPORTED_SHARE
    return Verdict(
        Support.SUPPORTED if is_supported else Support.WEAK,
        features,
        tuple(sorted(passage.matched)),
        (index.quote(passage.text_index, passage.start, passage.end),),
    )


def _find_invented(text: str, index: TextIndex) -> Iterator[str]:
    """Yield the clauses of a text none of whose words is anywhere in the source."""
    for clause in _CLAUSE.split(text):
        terms = set(analyzer.query_terms(clause)) - NARRATION_STEMS - STOP_WORDS
        if len(terms) >= MIN_INVENTED_TERMS and not any(map(index.contains, terms)):
            yield clause.strip()


def _find_conflicts(
    text: str, passage: Passage, index: TextIndex, rules: Collection[Rule]
) -> Iterator[str]:
    role = index.roles[passage.text_index]
    if Rule.PLANNED in rules and _tells_plan_as_done(
        text, index.sentences_of(passage), is_by_user=role is EventRole.USER
    ):
        yield NOT_DONE
    if Rule.NEGATION in rules and _negation_differs(text, index.text_of(passage)):
        yield NEGATED


def _join_verdicts(parts: Sequence[Verdict]) -> Verdict:
    """Join the verdicts on the clauses of a text; the worst one decides."""
    features = [part.features for part in parts]
    terms = sum(part.terms for part in features)
    joined = VerdictFeatures(
        sum(part.covered * part.terms for part in features) / (terms or 1),
        terms,
        tuple(chain.from_iterable(part.names_and_numbers for part in features)),
        tuple(chain.from_iterable(part.missing for part in features)),
        tuple(dict.fromkeys(chain.from_iterable(part.conflicts for part in features))),
    )
    return Verdict(
        worst([part.support for part in parts]),
        joined,
        tuple(dict.fromkeys(chain.from_iterable(part.matched for part in parts))),
        tuple(dict.fromkeys(chain.from_iterable(part.quotes for part in parts))),
    )


_CLAUSE_ENDS = (
    re.compile(r"[;；。]\s*(?=\S)|(?<=[.!?])\s+"),
    re.compile(r", (?:and|but) |，(?=\S)"),
    re.compile(r" (?:and|but) "),
)
"""Separators between the clauses of a bullet; the first that matches is used."""


def _split_clauses(text: str) -> list[str]:
    """Return the clauses of a bullet that may rest on different passages."""
    for pattern in _CLAUSE_ENDS:
        parts = pattern.split(text)
        if len(parts) > 1:
            is_long = all(
                len(analyzer.query_terms(part)) >= MIN_CLAUSE_TERMS for part in parts
            )
            return parts if is_long else []
    return []


# Objections

_DEEDS = {
    "commit": "commit",
    "push": "push",
    "merg": "merg",
    "releas": "releas publish tag",
    "publish": "publish releas",
    "deploi": "deploi ship live rollout releas",
}
"""Stems of verbs of deeds, and those that may show them in the source."""

_CALLED = frozenset(("commit", "push", "merg"))
"""Deeds that are facts: a call alone does not show that it succeeded."""


def find_objection(text: str, evidence: TextIndex) -> tuple[Objection, tuple[str, ...]]:
    """Return the exact reason to withhold a line or a title, and the words it is about.

    Args:
        text: What a model wrote.
        evidence: The session, or the lines it was written from.

    A number in words may have been counted, as in "two bugs", and is no reason.
    """
    if STOP_WORDS.issuperset(analyzer.query_terms(text)):
        return Objection.EMPTY, ()
    figures = {match["digits"] for match in _NUMBER.finditer(ungroup(text))} - {"1"}
    numbers = [
        str(number)
        for number in find_numbers(text)
        if number.digits in figures and not _is_number_anywhere(number.digits, evidence)
    ]
    if numbers:
        return Objection.NUMBER, tuple(dict.fromkeys(numbers))
    names = [
        name
        for name in find_names(text)
        if not _IS_PLAIN.fullmatch(name) and not _is_anywhere(name, evidence)
    ]
    if names:
        return Objection.NAME, tuple(names)
    deeds = tuple(dict.fromkeys(_find_false_deeds(text, evidence)))
    return (Objection.AGAINST_FACTS, deeds) if deeds else (Objection.NONE, ())


def find_title_objection(
    title: str, evidence: TextIndex
) -> tuple[Objection, tuple[str, ...]]:
    """Return the exact reason to withhold a title, which need not be in one passage."""
    objection, words = find_objection(title, evidence)
    if not objection and not _has_words(title, evidence):
        return Objection.NO_SOURCE, ()
    return objection, words


def _has_words(text: str, index: TextIndex) -> bool:
    """Return whether the source has some of the words of a text, wherever they are."""
    weights = index.term_weights(text)
    covered = sum(weight for term, weight in weights.items() if index.contains(term))
    return covered >= MIN_COVERAGE * sum(weights.values())


def _find_false_deeds(text: str, index: TextIndex) -> Iterator[str]:
    """Yield the deeds that a text claims as done and nothing in the source shows."""
    if has_negation(text) or _REPORTS_PLAN.search(text):
        return
    for verb, is_done, is_told in _verbs(text):
        if verb in _DEEDS and is_done and is_told and not _is_shown(verb, index):
            words = (word.lower() for word in analyzer.words(text))
            yield next(word for word in words if stem(word) == verb)


def _is_shown(deed: str, index: TextIndex) -> bool:
    """Return whether facts, calls or sentences of the source say that it was done."""
    facts = index.facts
    opened = facts.pull_requests or facts.merges or facts.pushes
    if {"commit": facts.commits or opened, "push": opened, "merg": facts.merges}.get(
        deed
    ):
        return True
    has_facts = facts != Facts()
    for term in _DEEDS[deed].split():
        for role, sentence in index.sentences_with(term):
            if role is EventRole.TOOL and not (has_facts and deed in _CALLED):
                return True
            if not has_negation(sentence) and any(
                verb == term and is_done for verb, is_done, _ in _verbs(sentence)
            ):
                return True
    return False


def _is_repetition(text: str, kept: Sequence[str]) -> bool:
    """Return whether a line says what an earlier one says."""
    terms, is_negated = set(analyzer.query_terms(text)), has_negation(text)
    tokens = {*find_names(text), *(number.digits for number in find_numbers(text))}
    return any(
        len(terms.intersection(analyzer.query_terms(other))) > MAX_OVERLAP * len(terms)
        and has_negation(other) is is_negated
        and tokens
        <= {*find_names(other), *(number.digits for number in find_numbers(other))}
        for other in kept
    )


_NARRATION = re.compile(
    r"(?:(?:in|during) (?:this|the) (?:session|conversation|chat|log),? *)?"
    r"(?:(?:the )?user (?:then |also |first |initially )?"
    r"(?:asked|requested|instructed|told|wanted)(?: (?:the |an? )?"
    r"(?:assistant|agent|ai|model))? to (?!know\b)"
    r"|(?:the )?(?:assistant|agent|ai)(?: then| also| has| successfully)* "
    r"(?!asked|needed|suggested|wanted)(?=(?P<verb>\w+)))?",
    re.IGNORECASE,
)


def cut_narration(text: str) -> str:
    """Return a line without an opening that tells who said or did it, if something
    remains."""
    match = _NARRATION.match(text)
    if match is None or (match["verb"] and not _is_past(match["verb"].lower())):
        return text
    remaining = text[match.end() :].strip()
    is_left = match[0] and len(remaining.split()) > 1
    return remaining[0].upper() + remaining[1:] if is_left else text


# Bullets


@dataclass(frozen=True, slots=True)
class GroundedBullet:
    """A bullet with its verdict and its anchor."""

    draft: DraftBullet
    """Perhaps without a narrating opening."""
    verdict: Verdict
    first: Event | None
    """The first event of the anchor; None without one, and so are the next two."""
    last: Event | None
    best: Event | None
    """The event that says it best."""
    excerpt: str
    """The best sentence of that event, verbatim."""


def ground_bullets(
    drafts: Sequence[DraftBullet],
    evidence: Evidence,
    rules: Collection[Rule] = ALL_RULES,
) -> list[GroundedBullet]:
    """Anchor and check the lines of a model.

    Args:
        drafts: The lines in order.
        evidence: The session.
        rules: The rules of the verdicts.
    """
    cut = [replace(draft, text=cut_narration(draft.text)) for draft in drafts]
    nearest = anchors.nearest_anchors(cut, evidence)
    kept: list[str] = []
    grounded = []
    for original, draft, anchor in zip(drafts, cut, nearest, strict=True):
        bullet = _ground_bullet(original, draft, anchor, evidence, kept, rules)
        if not bullet.verdict.objection:
            kept.append(draft.text)
        grounded.append(bullet)
    return grounded


def _ground_bullet(
    original: DraftBullet,
    draft: DraftBullet,
    anchor: Anchor | None,
    evidence: Evidence,
    kept: Sequence[str],
    rules: Collection[Rule],
) -> GroundedBullet:
    span = range(anchor.start, anchor.end + 1) if anchor is not None else range(0)
    verdict = check_text(original.text, evidence, span, rules)
    is_covered = verdict.features.covered >= MIN_COVERAGE
    is_anchored = anchor is not None and anchor.coverage >= MIN_COVERAGE
    has_source = is_anchored or is_covered
    verdict = _object(draft.text, verdict, evidence, kept, has_source=has_source)
    best = anchor.best if anchor is not None else None
    places = [evidence.event_place(quote.index) for quote in verdict.quotes]
    quoted = [place for place in places if place is not None]
    is_moved = not is_anchored or verdict.support is Support.SUPPORTED
    if is_moved and is_covered and quoted and not {*quoted} & {*span}:
        best, span = quoted[0], range(quoted[0], quoted[0] + 1)
    if best is None or not has_source:
        return GroundedBullet(draft, verdict, None, None, None, "")
    cited = {
        evidence.places[name] for name in draft.event_ids if name in evidence.places
    }
    spans = (evidence.event_quote(quote) for quote in verdict.quotes)
    verdict = replace(
        verdict,
        spans=tuple(filter(None, spans)),
        is_repaired=bool(cited) and cited.isdisjoint(span),
    )
    weights = evidence.term_weights(draft.text)
    excerpt = best_excerpt(evidence.texts[best], weights)
    events = evidence.events
    first, last = events[span[0]], events[span[-1]]
    return GroundedBullet(draft, verdict, first, last, events[best], excerpt)


def ground_lines(drafts: Sequence[DraftBullet], lines: Sequence[str]) -> list[Verdict]:
    """Check the lines of a roll-up against the lines of the sessions below it.

    Args:
        drafts: The lines in order.
        lines: Names, outcomes and states of sessions.

    Returns:
        A verdict for each; its quotes refer to ``lines``.
    """
    index = TextIndex(lines)
    kept: list[str] = []
    verdicts = []
    for draft in drafts:
        text = cut_narration(draft.text)
        verdict = check_text(draft.text, index)
        quotes = (quote for quote in verdict.quotes if quote.index < len(lines))
        verdict = replace(verdict, quotes=tuple(quotes))
        has_source = _has_words(text, index)
        verdict = _object(text, verdict, index, kept, has_source=has_source)
        if not verdict.objection:
            kept.append(text)
        verdicts.append(verdict)
    return verdicts


def _object(
    text: str,
    verdict: Verdict,
    index: TextIndex,
    kept: Sequence[str],
    *,
    has_source: bool,
) -> Verdict:
    """Return the verdict on the line of a model with the objection to it, if any."""
    objection, words = find_objection(text, index)
    if not objection and not has_source:
        objection = Objection.NO_SOURCE
    if not objection and _is_repetition(text, kept):
        objection = Objection.REPEATED
    verdict = replace(verdict, is_by_model=True, objection=objection)
    if not objection:
        return verdict
    features = replace(verdict.features, missing=words or verdict.features.missing)
    return replace(verdict, support=Support.UNSUPPORTED, features=features)
