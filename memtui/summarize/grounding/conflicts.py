"""Find how a bullet contradicts its source although its words are in it.

It presents as done what was only asked or planned, or names somebody else as the doer.
It reports a success or an order that the source does not. Or it exchanges two things
around "instead of", "replaced by", "from … to" or "before", or says something about
another number.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memtui.model.events import EventRole
from memtui.summarize.grounding import negation, numbers
from memtui.text import analyzer
from memtui.text.analyzer import is_irregular, stem
from memtui.text.stopwords import NARRATION_STEMS, STOP_WORDS, word_set
from memtui.text.synonyms import COMMON_STEMS, SYNONYMS

NOT_DONE = "asked or planned, not done"
OTHER_SPEAKER = "said or done by somebody else"
OTHER_SUBJECT = "said of something else"
EXCHANGED = "the other way round in the source"
NO_SUCCESS = "a success that the source does not report"
NEW_ORDER = "an order that the source does not give"
NEW_ACTION = "an action that the source does not mention"

_SUCCEEDS = re.compile(
    r"\b(?:pass(?:e[sd])?|succe\w+|works?|worked|(?:is|are|was|were|been)"
    r"(?: now| all| both| already| finally| again)*"
    r" (?:clean|green|ok|fixed|done|applied|deployed|completed?|finished))\b",
    re.IGNORECASE,
)


def claims_success(bullet: str) -> bool:
    """Return whether a bullet says that something succeeded."""
    statement = _QUESTION.sub("", bullet)
    return bool(_SUCCEEDS.search(statement)) and not negation.has_negation(bullet)


_SUCCESS = re.compile(
    r"\b(?:pass\w*|succe\w+|works?(?! (?:by|as|like|via|through)\b)|worked|clean|green"
    r"|ok|okay|fine|done|appl(?:y|ied)|fixed|correct\w*|resolved|solved|deployed"
    r"|complet\w+|finish\w+|0 (?:errors|failures|failed))\b",
    re.IGNORECASE,
)


def tells_success(source: str) -> bool:
    """Return whether a clause of a source reports a success, and neither asks for it
    nor denies it."""
    return any(
        _SUCCESS.search(clause) and not negation.has_negation(clause)
        for clause in split_at_subjects(_QUESTION.sub("", source))
    )


_QUESTION = re.compile(
    r"(?<![^.!?\n])[^.!?\n]+\?|\b(?:how|whether|if|why)\b[^.!?;\n]*", re.IGNORECASE
)
"""A question, also an indirect one, and a condition: neither reports anything."""

_SPEAKER = re.compile(
    r"(?:the )?(?P<who>user|assistant|agent|ai)\b(?!['’]s?\b)(?! and\b)"
    r"(?! (?:was|were|is|has been) (?:asked|told|requested|instructed))",
    re.IGNORECASE,
)

_ROLES = {"user": frozenset({EventRole.USER, EventRole.SYSTEM})}
_OTHERS = frozenset({EventRole.ASSISTANT, EventRole.TOOL})


def speaker_roles(bullet: str) -> frozenset[EventRole] | None:
    """Return the roles of the events that may support a bullet by its subject.

    Returns:
        None if its subject is neither the user nor the assistant.
    """
    found = _SPEAKER.match(bullet)
    return _ROLES.get(found["who"].lower(), _OTHERS) if found else None


_REACH_WORDS = 4
"""Number of content words after a modal verb that it governs at most."""

_TOKEN = re.compile(
    r"[^\W_]+(?:['’\-][^\W_]+)*|[.;:!?](?=\s|$)|\n|(?<=\s)[-–—*•→](?=\s)"
)

_MODALS = word_set("""
    will 'll would could can should shall must may might let let's lets please want
    wants need needs before planned plans going later todo tomorrow cannot can't either
    """)
"""Words before a verb of something that has not happened, or not surely."""

_CONDITIONS = word_set("until once unless if whether")
"""Words before a clause of something that has not happened, or not surely."""

_NEW_CLAUSE = word_set("but since because although though which")

_AUXILIARIES = word_set("am be been being get gets have has had is are was were not")

_BEFORE_ADJECTIVES = word_set("the a an this these its their no being")
"""Words after which a participle does not say what happened: "the corrected bill"."""

_REQUESTS = frozenset(
    stem(word)
    for word in word_set("""
    add apply back build bump cancel change check clean close commit compare convert
    create cut delete deploy disable do drop edit enable file find fix give help hide
    implement install invite keep leave lower make merge migrate move open plan post
    publish push put raise rebase reduce release remove rename replace reset retry
    revert review rewrite rollback run save send set show split start stop store swap
    switch tag test try turn undo unmute update upgrade use write
    """)
)
"""Stems of verbs with which requests begin."""

_NO_DEED = frozenset(
    stem(word)
    for word in word_set("""
    want wish plan decide agree prefer choose propose recommend advise warn worry like
    need expect schedule intend suggest offer promise think consider believe know see
    say use get do have be make base call name
    """)
)
"""Stems of verbs that say what somebody thinks, or too general to compare."""


_ASKS = re.compile(
    r"\b(?:want|ask|request|propos|suggest|recommend|advis|plan|intend)\w*\b"
    r"|\b(?:would like|meant|to be)\b",
    re.IGNORECASE,
)
"""Words with which a bullet itself says that something is not done yet."""


_PLANS = re.compile(
    r"\b(?:will|later|todo|tomorrow|planned|plans? to|going to|should|could|would)\b"
    r"|['’]ll\b|\?\s*$",
    re.IGNORECASE,
)
"""Words for something that has not happened yet."""


@dataclass(frozen=True, slots=True)
class _Verb:
    """A word that may be a verb."""

    stem: str
    is_told: bool
    """True if its form says what happened: "pushed", "now pushes"."""
    is_done: bool
    """False if a modal verb, a request or a question governs it."""
    may_be_noun: bool
    """True if it may as well be a noun: "a patch"."""


def tells_plan_as_done(
    bullet: str, sentences: Sequence[str], *, is_by_user: bool
) -> bool:
    """Return whether a bullet presents as done what the source only plans.

    Args:
        bullet: The bullet.
        sentences: The sentences of the passage it rests on.
        is_by_user: True if these are the user's: imperatives are requests.
    """
    if _ASKS.search(bullet):
        return False
    claimed = {
        one.stem
        for one in _verbs(bullet, is_by_user=False)
        if one.is_told and one.is_done and one.stem not in _NO_DEED
    } - NARRATION_STEMS
    claimed -= negation.denied_stems(bullet)
    if not claimed:
        return False
    verbs = [verb for one in sentences for verb in _verbs(one, is_by_user=is_by_user)]
    done = {one.stem for one in verbs if one.is_done and not one.may_be_noun}
    undone = {one.stem for one in verbs if not one.is_done}
    same = {one: {one, *SYNONYMS.get(one, ())} for one in claimed}
    if any(one in undone and done.isdisjoint(same[one]) for one in claimed):
        return True
    stems = {one.stem for one in verbs}
    is_planned = any(map(_PLANS.search, sentences))
    return is_planned and all(stems.isdisjoint(one) for one in same.values())


_ACTIONS = frozenset(
    stem(word)
    for word in word_set("""
    approve cancel commit crash delete deploy detail fail fix hide install merge migrate
    patch publish push reject release remove repair replace revert send ship sign
    test verify
    """)
)
"""Stems of verbs of actions with consequences, which a source names."""

_FAILURES = frozenset({stem("fail"), stem("crash"), stem("reject")})
"""Those that a source may express with a "not"."""


def claims_new_action(bullet: str, source: str) -> bool:
    """Return whether a bullet claims an action with consequences, and the source has
    no such verb."""
    claimed = {
        one.stem
        for one in _verbs(bullet, is_by_user=False)
        if one.is_told and one.is_done and one.stem in _ACTIONS
    } - negation.denied_stems(bullet)
    if not claimed:
        return False
    stems = {one.stem for one in _verbs(source, is_by_user=False)}
    stems.update(analyzer.terms(source))
    if negation.has_negation(source):
        stems.update(_FAILURES)
    return any(stems.isdisjoint({one, *SYNONYMS.get(one, ())}) for one in claimed)


def pairs_names_otherwise(
    bullet: str, sentences: Sequence[str], names: Sequence[str]
) -> bool:
    """Return whether a clause of a bullet has two names of which each is in a clause of
    the source, but with another name of the bullet."""
    if len(names) < MIN_PAIRED_NAMES:
        return False
    clauses = [_names_in(one, names) for s in sentences for one in split_at_subjects(s)]
    together = {(a, b) for those in clauses for a in those for b in those}
    for part in split_at_subjects(bullet):
        mine = _names_in(part, names)
        for a in mine:
            others = {b for b in names if b not in mine and (a, b) in together}
            if others and any(b != a and (a, b) not in together for b in mine):
                return True
    return False


MIN_PAIRED_NAMES = 3
"""With fewer names nothing can be exchanged between two clauses."""


def _names_in(clause: str, names: Sequence[str]) -> set[str]:
    return {
        one for one in names if re.search(rf"(?<!\w){re.escape(one)}(?!\w)", clause)
    }


@lru_cache(maxsize=analyzer.PHRASE_CACHE_SIZE)
def _verbs(text: str, *, is_by_user: bool) -> tuple[_Verb, ...]:
    found: list[_Verb] = []
    is_question = text.rstrip().endswith("?")
    governed = 0
    starts = True
    is_open = is_listed = is_modal = False
    word = ""
    for token in _TOKEN.findall(text.replace("’", "'")):
        previous, word = word, token.lower()
        if not word[0].isalnum() or word in _NEW_CLAUSE:
            governed, starts, is_open, is_listed = 0, True, False, False
            is_modal = False
        elif word in _CONDITIONS and previous != "at":
            governed, is_open = _REACH_WORDS, True
        elif word in _MODALS or word.endswith("'ll"):
            governed, starts = _REACH_WORDS, word == "please"
            is_modal = True
        elif word == "so" and is_modal:
            governed = _REACH_WORDS
        elif word == "to" or (word == "then" and is_modal):
            governed, is_listed = max(governed, 1), True
        elif word in ("and", "or"):
            governed = max(governed, 1 if is_listed else 0)
        elif word not in STOP_WORDS:
            is_again = word.startswith("re") and is_irregular(word[2:])
            root = "re" + stem(word[2:]) if is_again else stem(word)
            if root.endswith(("ll", "y")):  # "cancelled", "try"
                root = root[:-1] + ("i" if root[-1] == "y" else "")
            is_past = word.endswith("ed") or is_again or is_irregular(word)
            if is_by_user and starts and not is_past and root in _REQUESTS:
                governed = _REACH_WORDS
            is_present = word.endswith("s") and root != word
            has_auxiliary = previous in _AUXILIARIES or previous.endswith("'s")
            is_free = is_present or (is_past and not has_auxiliary)
            is_going_on = previous in _AUXILIARIES or previous.endswith(("'m", "'re"))
            is_idea = starts and word.endswith("ing") and not is_going_on
            is_open_verb = is_question or is_open or is_idea
            is_done = not is_open_verb and (is_free or not governed)
            is_noun = not is_free and not is_past and not word.endswith("ing")
            is_told = is_past or (is_present and previous == "now")
            is_told &= previous not in _BEFORE_ADJECTIVES
            found.append(_Verb(root, is_told, is_done, is_noun))
            governed = max(governed - 1, 0)
            starts = False
    return tuple(found)


_SIDE_WORDS = 5
"""Number of content words compared on each side of "instead of" and the like."""

_LEFT = r"(?P<left>(?:[^.;:!?]|[.:](?=\w))+?)"
"""The words between two others, within a sentence."""

_DIRECTIONS = tuple(
    (is_swapped, re.compile(pattern, re.IGNORECASE))
    for is_swapped, pattern in (
        (False, r"\b(?:instead of|rather than|in place of|in favou?r over)\b"),
        (False, rf"\bprefer\w*\b{_LEFT}\b(?:to|over)\b"),
        (
            False,
            r"\btakes? (?:priority|precedence) over\b|\bwins? over\b"
            r"|\btakes? the place of\b",
        ),
        (
            True,
            rf"\b(?:replac|substitut|swapp)\w+\b{_LEFT}\b(?:by|with)\b",
        ),
        (True, r"\b(?:was|were|been) replaced (?:by|with)\b|→|->"),
        (
            True,
            r"\b(?:rename|change|switch|convert|move|merge|migrate|turn|advance)\w*\b"
            rf"(?: forward)?(?: from)?{_LEFT}\b(?:in)?to\b",
        ),
        (True, rf"\bfrom\b{_LEFT}\bto\b"),
        (False, r"\bbefore\b|, then\b|\band (?:only )?then\b"),
        (True, r"\bafter\b"),
    )
)

_BREAK = re.compile(r"[.;:!?](?=\s|$)|\n")


_DESTINATION = re.compile(
    r"\b(renam|chang|switch|convert|mov|merg|migrat|turn|deploy|publish|upload)\w*\b"
    r"[^.;:!?\n]{0,60}?"
    r"\b(?:in)?to (?:the |an? )?([\w.\-/]*\w)",
    re.IGNORECASE,
)


def _destinations(text: str) -> dict[str, set[str]]:
    """Return to what things were moved or changed, by the verb."""
    found: dict[str, set[str]] = {}
    for verb, name in _DESTINATION.findall(text):
        found.setdefault(verb.lower(), set()).add(name.lower())
    return found


def _goes_elsewhere(bullet: str, source: str) -> bool:
    """Return whether a bullet moves to one name of the source what it moves to
    another."""
    there = _destinations(source)
    return any(
        verb in there
        and names.isdisjoint(there[verb])
        and all(re.search(rf"\b{re.escape(one)}\b", source, re.I) for one in names)
        for verb, names in _destinations(bullet).items()
    )


def exchanges_sides(bullet: str, source: str) -> bool:
    """Return whether a bullet exchanges the sides of a change, a choice or an order."""
    return _goes_elsewhere(bullet, source) or any(
        (first - second) & (source_second - source_first)
        and (second - first) & (source_first - source_second)
        and len(second & (source_second - source_first))
        < len((second - first) & (source_first - source_second)) + 1
        for first, second in _sides(bullet)
        for source_first, source_second in _sides(source)
    )


_Sides = tuple[frozenset[str], frozenset[str]]


@lru_cache(maxsize=analyzer.PHRASE_CACHE_SIZE)
def _sides(text: str) -> tuple[_Sides, ...]:
    """Return the stems on the two sides of each change, choice or order: what is new,
    chosen or earlier comes first."""
    return tuple(_find_sides(text))


def _find_sides(text: str) -> Iterator[_Sides]:
    for is_swapped, pattern in _DIRECTIONS:
        for match in pattern.finditer(text):
            left = match.groupdict().get("left")
            if left is None:
                left = _BREAK.split(text[: match.start()])[-1]
            right = _BREAK.split(text[match.end() :], 1)[0]
            first = frozenset(analyzer.query_terms(left)[-_SIDE_WORDS:])
            second = frozenset(analyzer.query_terms(right)[:_SIDE_WORDS])
            if first and second:
                yield (second, first) if is_swapped else (first, second)


_IN_TIME = re.compile(r"\b(?:before|after|and then|once)\b", re.IGNORECASE)

_TIMES = re.compile(
    r"\b(?:before\w*|after\w*|since|then|first|once|until|earlier|later|finally|so"
    r"|next)\b",
    re.IGNORECASE,
)

MIN_SIDE_TERMS = 2
"""With fewer terms beside "before" or "after", a bullet says nothing of two things."""


def tells_new_order(bullet: str, source: str) -> bool:
    """Return whether a bullet gives an order of two things that the source does not."""
    found = _IN_TIME.search(bullet)
    if found is None:
        return False
    parts = bullet[: found.start()], bullet[found.end() :]
    if any(len(analyzer.query_terms(one)) < MIN_SIDE_TERMS for one in parts):
        return False
    return not _TIMES.search(source)


_CLAUSES = re.compile(
    r"[;—–]\s+"
    r"|(?:,\s|\s(?!and [A-Z]))(?:and|but|while|whereas|though|although|und|aber)\s"
    r"(?=[A-Z\"“`]|\w+ed\b)|,\s(?=[A-Z][a-z])"
    r"|\sand\s(?=[A-Z]\w+ (?:is|was|has|had|will|can|\w+(?:ed|s))\b)"
)


def split_at_subjects(sentence: str) -> list[str]:
    """Return the clauses of a sentence that may have subjects of their own."""
    return [part for part in _CLAUSES.split(sentence) if part and part.strip()]


_PARTS = re.compile(r"[,;]\s+|,?\s(?:and|but|while)\s")
_NO_NUMBER = re.compile(r"\b(?:none|nothing)\b", re.IGNORECASE)


def _split_at_numbers(sentence: str) -> list[str]:
    """Return the clauses of a sentence; its parts if each has a number of its own."""
    found: list[str] = []
    for clause in split_at_subjects(sentence):
        parts = _PARTS.split(clause)
        have_own = all(
            len(one.split()) > 2
            and (numbers.find_numbers(one) or _NO_NUMBER.search(one))
            for one in parts
        )
        found += parts if have_own else [clause]
    return found


def misplaces_number(bullet: str, sentences: Sequence[str]) -> bool:
    """Return whether a bullet says of a number what the source says of another one.

    What the source says of an earlier number may hold for a later one, too: "builds
    take 5 minutes, tests 3".
    """
    if not numbers.find_numbers(bullet):
        return False
    held = [
        (_digits(clause), set(analyzer.terms(clause)))
        for sentence in sentences
        for clause in _split_at_numbers(sentence)
    ]
    for part in _split_at_numbers(bullet):
        digits = _digits(part)
        places = [at for at, (those, _) in enumerate(held) if those & digits]
        if not places:
            continue
        said = set().union(*(held[at][1] for at in places))
        units = {word for one in numbers.find_numbers(part) for word in one.after[:1]}
        words = {one for one in analyzer.query_terms(part) if not one.isdigit()}
        for at, (those, terms) in enumerate(held):
            borrowed = (words & terms) - said - NARRATION_STEMS
            is_later = at > places[-1]
            has_own = bool(said & (words - terms - units))
            if borrowed and those and at not in places and (is_later or not has_own):
                return True
    return False


def _digits(text: str) -> set[str]:
    return {one.digits for one in numbers.find_numbers(text)}


def has_other_subject(bullet: str, source: str) -> bool:
    """Return whether somebody else named in the source did what the speaker did."""
    subject = _SPEAKER.match(bullet)
    if subject is None:
        return False
    after = analyzer.words(bullet[subject.end() :])
    verb = next((one for one in after if one.lower() not in STOP_WORDS), "")
    if not verb or stem(verb.lower()) in NARRATION_STEMS:
        return False
    doer = re.search(
        rf"\b((?:[Tt]he )?user|[A-Z][a-z]+) (?:has |had |also )?{re.escape(verb)}\b",
        source,
    )
    return (
        doer is not None
        and doer[1].lower() not in STOP_WORDS
        and doer[1].lower().removeprefix("the ") not in bullet.lower()
    )


_SUBJECT = re.compile(
    r"(?:(?:the|an?) [^\W\d_]+ (?=[^\W\d_]+ (?:is|was|has|had|now|will|can)\b)"
    r"|the |an? )?([^\W\d_]+)",
    re.IGNORECASE,
)
"""The first word of a subject, or the second of two before an auxiliary verb."""


def subject_word(bullet: str) -> str:
    """Return the stem of the word that a bullet begins with; "" if it says little."""
    found = _SUBJECT.match(bullet)
    word = analyzer.fold(found[1]) if found else ""
    if (
        not word
        or word in STOP_WORDS
        or numbers.to_digits(word)
        or is_irregular(word)
        or word.endswith(("ed", "ing", "ly"))
    ):
        return ""
    root = stem(word)
    return "" if root in NARRATION_STEMS | _NO_DEED | COMMON_STEMS else root


_PRONOUN = re.compile(
    r"(?:^|[,;.:(]\s|\b(?:and|but|so|because|since|if|when|as)\s)"
    r"(?:it|he|she|they|that|this|these|those|both|i|we)(?:['’]\w+)?\b",
    re.IGNORECASE,
)


_FIRST_PERSON = re.compile(r"\b(?:i|my|me|we|our|your?)\b", re.IGNORECASE)


def is_in_first_person(text: str) -> bool:
    """Return whether a text is about the persons who talk."""
    return bool(_FIRST_PERSON.search(text))


def has_pronoun_subject(text: str) -> bool:
    """Return whether a clause of a text has a pronoun as its subject."""
    return bool(_PRONOUN.search(text))
