"""Match a bullet, or a part of one, with the passage that contains most of it.

A path, an identifier, a flag or a number has only one meaning, so it is compared as
written, and the passage must say it of the same thing.

Bullets of one node are compared with each other, too. Two contradict each other if they
share most of their words, and one negates what the other says, says the opposite,
exchanges two things, gives another value, or takes it back. Counts that change with the
work (tests, files, commits) are no contradiction.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations, groupby

from memtui.model.events import EventRole
from memtui.model.nodes import Bullet, BulletKind
from memtui.model.verdicts import (
    SUPPORTED_SHARE,
    Support,
    Verdict,
    VerdictFeatures,
    worst,
)
from memtui.summarize.grounding import conflicts, negation, numbers
from memtui.summarize.grounding.passages import Passage, PassageIndex
from memtui.text import analyzer, cues
from memtui.text.analyzer import is_irregular, stem
from memtui.text.stopwords import ACRONYMS, NARRATION_STEMS, STOP_WORDS, word_set
from memtui.text.synonyms import SYNONYMS


def match_passage(
    text: str, source: PassageIndex, text_indexes: Collection[int] | None = None
) -> Verdict:
    """Return the verdict on a text by its best passage.

    Args:
        text: The text to look for.
        source: Where to look.
        text_indexes: The texts that may contain it; None for any.
    """
    passage = source.best_passage(text, text_indexes)
    if passage is None:
        details = find_details(text)
        return Verdict(
            Support.UNSUPPORTED,
            VerdictFeatures(names_and_numbers=details, missing=details),
        )
    features = _features(text, passage, source)
    return Verdict(
        support=features.support,
        features=features,
        matched=tuple(sorted(passage.matched)),
        quotes=(source.quote_of(passage),),
    )


def combine(parts: Sequence[Verdict]) -> Verdict:
    """Combine the verdicts on separate parts of a bullet; the worst one decides."""
    features = [part.features for part in parts]
    terms = sum(one.terms for one in features)
    covered = sum(one.covered * one.terms for one in features) / (terms or 1)
    return Verdict(
        support=worst([part.support for part in parts]),
        features=VerdictFeatures(
            covered=covered,
            terms=terms,
            names_and_numbers=tuple(
                token for one in features for token in one.names_and_numbers
            ),
            missing=tuple(token for one in features for token in one.missing),
            negation_differs=any(one.negation_differs for one in features),
            opposites=tuple(pair for one in features for pair in one.opposites),
            conflicts=tuple(
                dict.fromkeys(r for one in features for r in one.conflicts)
            ),
        ),
        matched=tuple(dict.fromkeys(term for part in parts for term in part.matched)),
        quotes=tuple(dict.fromkeys(quote for part in parts for quote in part.quotes)),
    )


def _conflicts(text: str, passage: Passage, source: PassageIndex) -> tuple[str, ...]:
    """Return how the passage contradicts a text, in words."""
    quoted, sentences = source.text_of(passage), source.sentences_of(passage)
    role = source.role_of(passage.text_index)
    is_user, is_call = role is EventRole.USER, role is EventRole.TOOL
    subject = conflicts.subject_word(text)
    asked = _question_before(passage, source)
    found = []
    is_carried_out = not is_user and source.is_followed_by_change(passage.text_index)
    if not is_carried_out and conflicts.tells_plan_as_done(
        text, sentences, is_by_user=is_user
    ):
        found.append(conflicts.NOT_DONE)
    if conflicts.claims_success(text) and (
        source.has_failed(analyzer.query_terms(text))
        or not (is_call or conflicts.tells_success(quoted))
    ):
        found.append(conflicts.NO_SUCCESS)
    if conflicts.pairs_names_otherwise(text, sentences, find_details(text)):
        found.append(conflicts.EXCHANGED)
    if conflicts.claims_new_action(text, quoted):
        found.append(conflicts.NEW_ACTION)
    if conflicts.exchanges_sides(text, quoted) or conflicts.misplaces_number(
        text, sentences
    ):
        found.append(conflicts.EXCHANGED)
    elif conflicts.tells_new_order(text, quoted):
        found.append(conflicts.NEW_ORDER)
    if (
        subject
        and subject not in passage.matched
        and source.contains(subject)
        and subject not in analyzer.terms(asked)
        and not conflicts.has_pronoun_subject(quoted)
        and not conflicts.is_in_first_person(quoted)
    ):
        found.append(conflicts.OTHER_SUBJECT)
    return tuple(found)


def _question_before(passage: Passage, source: PassageIndex) -> str:
    """Return the text before a passage if it ends with a question.

    An answer may leave out what the question names.
    """
    before = source.texts[passage.text_index - 1] if passage.text_index else ""
    return before if before.rstrip().endswith("?") else ""


_OBJECT_PRONOUN = re.compile(r"\b(?:it|him|them)\b")
_CAPITALIZED = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")


def _is_pronoun_for(name: str, quoted: str, source: PassageIndex, near: str) -> bool:
    """Return whether a pronoun of a quote may stand for a name said nearby."""
    if name in quoted or not _OBJECT_PRONOUN.search(quoted):
        return False
    if name.isalpha():
        is_known = name[0].isupper() and source.is_capitalized(name)
        return is_known and not _CAPITALIZED.search(quoted)
    is_number = bool(numbers.to_digits(name))
    others = (one for one in find_details(quoted) if not one.isalpha())
    return not is_number and name in near and not any(others)


def _is_asked(name: str, text: str, quoted: str, asked: str) -> bool:
    """Return whether a question names what its answer, a quote, may leave out."""
    if name in quoted or name not in asked or numbers.to_digits(name):
        return False
    others = set(find_details(f"x {quoted}")).difference(analyzer.words(text))
    return not any(one.isalpha() is name.isalpha() for one in others)


def _is_speaker(name: str, quoted: str, source: PassageIndex) -> bool:
    """Return whether a person may have written what is quoted, as "I"."""
    return (
        (name not in quoted or quoted.startswith(f"{name}:"))
        and source.is_capitalized(name)
        and conflicts.is_in_first_person(quoted)
    )


def _features(text: str, passage: Passage, source: PassageIndex) -> VerdictFeatures:
    quoted, details = source.text_of(passage), find_details(text)
    name = initial_name(text, source)
    if name and not _is_speaker(name, quoted, source):
        details = (name, *details)
    near = " ".join(source.texts[max(passage.text_index - 2, 0) :][:3])
    details = tuple(
        one for one in details if not _is_pronoun_for(one, quoted, source, near)
    )
    if asked := _question_before(passage, source):
        details = tuple(
            one for one in details if not _is_asked(one, text, quoted, asked)
        )
    missing = missing_details(text, details, passage, source)
    if missing:
        missing = _missing_nearby(text, missing, passage, source)
    features = VerdictFeatures(
        covered=passage.coverage,
        terms=len(source.term_weights(text)),
        names_and_numbers=details,
        missing=missing,
        negation_differs=negation.negation_differs(text, quoted),
        opposites=negation.find_opposites(text, quoted),
    )
    if features.covered < SUPPORTED_SHARE:
        return features
    added = negation.overstated_words(text, quoted) or unsupported_words(
        numbers.to_figures(text), passage.matched
    )
    return replace(
        features,
        missing=tuple(dict.fromkeys((*features.missing, *added))),
        conflicts=_conflicts(text, passage, source),
    )


# Names, numbers and words of the bullet's own

_TICKED = re.compile(r"`([^`\n]{1,80})`")
_QUOTED = re.compile(r"[\"“„]([^\"“”„\n]{1,40})[\"”“]")
_CAPITALIZED_WORD = re.compile(
    r"(?<=[a-z0-9,;)\]] )(?:[A-Z][a-z]+|[A-Z]{2,})(?![\w/-]|\.\w)"
)
_NAMED = re.compile(
    r"\b(?:named|called|types?|branch|bucket|table|folder|service|package|host|server"
    r"|label|tag|worktree)\s+([a-z\d]+(?:[-.]\w+)+)"
)
_GERMAN = re.compile(
    r"\b(?i:der|die|das|und|ist|nicht|wird|wurden?|im|den|dem|mit|für|ein|eine|alle|sind)\b"
)
_TITLE_SHARE = 0.5
"""With a larger share of capitalized words a text is a title, or German."""
_FLAG = re.compile(r"(?<![\w-])--([A-Za-z][\w\-]*)")
_JOINED = re.compile(r"\w(?:/|::|_|\.)\w|[@#]\w|^[./~]*/\w")
_HUMP = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_APOSTROPHE_S = re.compile("['’]s$")

Path = tuple[str, ...]
"""The folded parts of a path."""


@lru_cache(maxsize=analyzer.PHRASE_CACHE_SIZE)
def find_details(text: str) -> tuple[str, ...]:
    """Return the names and numbers of a text, without duplicates, in order.

    Args:
        text: A bullet; the number of a list item before it does not count.
    """
    code = {word for span in _TICKED.findall(text) for word in analyzer.words(span)}
    code.update(_FLAG.findall(text))
    code.update(word for span in _QUOTED.findall(text) for word in analyzer.words(span))
    code.update(_NAMED.findall(text))
    code.update(_capitalized(text))
    return tuple(
        dict.fromkeys(
            number or word
            for word in analyzer.words(numbers.separate_numbers(text))
            if (number := numbers.to_digits(word))
            or _is_name(word)
            or (word in code and _is_content_word(word))
        )
    )


def _capitalized(text: str) -> list[str]:
    """Return the capitalized words of a sentence that does not begin with them."""
    found = [
        one for one in _CAPITALIZED_WORD.findall(text) if one.lower() not in ACRONYMS
    ]
    if not found or _GERMAN.search(text):
        return []
    words = [one for one in analyzer.words(text)[1:] if len(one) > 3]
    capitals = sum(one[0].isupper() for one in words)
    return found if capitals <= _TITLE_SHARE * len(words) else []


_INITIAL = re.compile(r"([A-Z][a-z]+|[A-Z]{2,})(?= (?P<next>[a-z]+))")
_AUXILIARY = re.compile(
    r"(?:is|was|has|had|will|would|can|could|should|must|does|did|also)$"
)
_VERB_NEXT = re.compile(r"(?:\w+ed|\w+[^s]s|wants?)$")


def initial_name(text: str, source: PassageIndex) -> str:
    """Return the capitalized word that a bullet begins with if it is a name.

    A verb follows it, and the source has it capitalized within a sentence or not at
    all.
    """
    found = _INITIAL.match(text)
    if found is None or _GERMAN.search(text):
        return ""
    name = found[1]
    if not _content_terms(name) or name.lower() in ACRONYMS:
        return ""
    if name.endswith(("ing", "ly", "ion")):
        return ""
    following = found["next"]
    has_verb = bool(_AUXILIARY.match(following))
    if not name.endswith("ed"):
        has_verb = has_verb or bool(_VERB_NEXT.match(following))
        has_verb = has_verb or is_irregular(following)
    if not has_verb:
        return ""
    if source.is_capitalized(name):
        return name
    if numbers.to_digits(name):
        return ""
    is_absent = not any(map(source.contains, analyzer.query_terms(name)))
    return name if is_absent else ""


def missing_details(
    bullet: str, tokens: Sequence[str], passage: Passage, source: PassageIndex
) -> tuple[str, ...]:
    """Return the names and numbers that a passage does not say of the same thing.

    A name counts in a sentence with another term of the bullet: elsewhere it refers to
    something else. A path is also supported if the sentences contain only its end,
    unless another path of the source ends in the same name.

    Args:
        bullet: The bullet.
        tokens: Its names and numbers, from ``find_details``.
        passage: The passage it rests on.
        source: The source of the passage.
    """
    if not tokens:
        return ()
    sentences = source.sentences_of(passage)
    figures = {one.digits for one in numbers.find_numbers(bullet)}
    literal = {term for one in sentences for term in analyzer.terms(one)}
    unsaid = numbers.unsupported_numbers(bullet, sentences, literal & passage.matched)
    synonyms = (same for one in passage.matched for same in SYNONYMS.get(one, ()))
    shared = {*passage.matched, *synonyms}
    named = [(set(analyzer.terms(one)), _paths(one)) for one in sentences]
    others = _wrong_doers(bullet, sentences)
    words = {*tokens, *analyzer.words(bullet)}
    return tuple(
        token
        for token in tokens
        if (
            token in unsaid
            if token in figures
            else token in others
            or not _is_named(token, named, shared, source)
            or _is_of_another(token, words, sentences, _beside(token, bullet, shared))
        )
    )


NEARBY_TEXTS = 3
"""The number of texts before and after that of a passage that may add a name."""

MIN_NEARBY_TERMS = 2
"""A sentence that adds a name shares as many other terms with the bullet."""


def _missing_nearby(
    bullet: str, missing: Sequence[str], passage: Passage, source: PassageIndex
) -> tuple[str, ...]:
    """Return the missing details that no sentence nearby says of the same thing.

    A bullet may take a name or number from another message than the rest, unless the
    passage has another one.
    """
    words = analyzer.words(numbers.separate_numbers(bullet))
    in_passage = find_details(f"x {source.text_of(passage)}")
    details = set(in_passage).difference(numbers.to_digits(one) or one for one in words)
    roles = conflicts.speaker_roles(bullet)
    near = [
        one
        for one in source.sentences_near(passage, NEARBY_TEXTS, roles)
        if not one.rstrip().endswith("?")
    ]
    left = []
    for token in missing:
        is_number = bool(numbers.to_digits(token))
        rivals = [one for one in details if bool(numbers.to_digits(one)) is is_number]
        terms = set(analyzer.query_terms(_clause_with(token, bullet)))
        terms.difference_update(analyzer.query_terms(token))
        terms |= {same for one in terms for same in SYNONYMS.get(one, ())}
        related = [
            one
            for one in near
            if len(terms.intersection(analyzer.terms(one))) >= MIN_NEARBY_TERMS
        ]
        is_found = any(not _lacks(bullet, token, one, terms, source) for one in related)
        is_of_another = is_number and token in in_passage
        if rivals or is_of_another or not is_found:
            left.append(token)
    return tuple(left)


def _clause_with(token: str, bullet: str) -> str:
    return next((one for one in _CLAUSES.split(bullet) if token in one), bullet)


def _lacks(
    bullet: str, token: str, sentence: str, terms: set[str], source: PassageIndex
) -> bool:
    found = set(analyzer.terms(sentence))
    if numbers.to_digits(token):
        return token in numbers.unsupported_numbers(bullet, [sentence], found & terms)
    return not _is_named(token, [(found, _paths(sentence))], found & terms, source)


_DONE_BY = re.compile(r"\b(\w+) by ([A-Z][a-z]+)\b")


def _wrong_doers(bullet: str, sentences: Sequence[str]) -> set[str]:
    """Return the names of those who, by a bullet, did what a clause of the source says
    of somebody else: "added by Ada", where Ada reviewed it."""
    clauses = [
        analyzer.terms(clause)
        for one in sentences
        for clause in conflicts.split_at_subjects(one)
    ]
    found = set()
    for verb, name in _DONE_BY.findall(bullet):
        own, verbs = analyzer.query_terms(name), set(analyzer.query_terms(verb))
        verbs |= {same for one in verbs for same in SYNONYMS.get(one, ())}
        doing = [clause for clause in clauses if not verbs.isdisjoint(clause)]
        if doing and not any(set(own).issubset(clause) for clause in doing):
            found.add(name)
    return found


def _is_named(
    name: str,
    sentences: Sequence[tuple[set[str], list[Path]]],
    shared: Collection[str],
    source: PassageIndex,
) -> bool:
    own = analyzer.terms(name)
    others, path = set(shared).difference(own), _path(name)
    beside = [
        (terms, sentence_paths)
        for terms, sentence_paths in sentences
        if not others or not others.isdisjoint(terms) or terms.issubset(own)
    ]
    if len(path) < 2:
        return not own or any(own[0] in terms for terms, _ in beside)
    if any(
        _agree(path, one) and len(one) >= len(path)
        for _, sentence_paths in beside
        for one in sentence_paths
    ):
        return True
    last = path[-1]
    is_short = any(
        _agree(path, one) for _, sentence_paths in beside for one in sentence_paths
    ) or ("." in last and any(last in terms for terms, _ in beside))
    return is_short and all(
        _agree(path, _path(one)) for one in source.paths_ending_in(last)
    )


def _beside(name: str, bullet: str, shared: Collection[str]) -> set[str]:
    """Return the shared terms in the clause of a bullet that has a name."""
    for clause in conflicts.split_at_subjects(bullet):
        if name in clause:
            terms = analyzer.query_terms(clause)
            return {one for one in shared if one in terms} | {
                same for one in terms if one in shared for same in SYNONYMS.get(one, ())
            }
    return set(shared)


def _is_of_another(
    name: str,
    words: Collection[str],
    sentences: Sequence[str],
    shared: Collection[str],
) -> bool:
    """Return whether a name is in a separate clause, and another of its kind,
    which is not among the words of the bullet, in the clause that says what it says."""
    own = analyzer.terms(name)
    others = set(shared).difference(own)
    if not others or "/" in name or any(map(str.isdigit, name)):
        return False
    is_word = name.isalpha()
    clauses = [
        clause for one in sentences for clause in conflicts.split_at_subjects(one)
    ]
    counts = [len(others.intersection(analyzer.terms(one))) for one in clauses]
    mine = [at for at, one in enumerate(clauses) if own[0] in analyzer.terms(one)]
    here = max((counts[at] for at in mine), default=0)
    if not mine or here > 1:
        return False
    for at, clause in enumerate(clauses):
        if at in mine or counts[at] <= here:
            continue
        rivals = set(find_details(f"x {clause}")).difference(words)
        is_next = is_word and at < mine[0] and conflicts.has_pronoun_subject(clause)
        if is_next or any(
            one.isalpha() is is_word and not any(map(str.isdigit, one))
            for one in rivals
        ):
            return True
    return False


def _path(name: str) -> Path:
    bare = _APOSTROPHE_S.sub("", analyzer.fold(name))
    return tuple(part for part in bare.split("/") if part not in ("", ".", ".."))


def _paths(text: str) -> list[Path]:
    return [_path(word) for word in analyzer.words(text) if "/" in word]


def _agree(one: Path, other: Path) -> bool:
    """Return whether two paths have the same last parts, as far as both go."""
    both = min(len(one), len(other))
    return one[-both:] == other[-both:]


@lru_cache(maxsize=analyzer.WORD_CACHE_SIZE)
def _is_content_word(word: str) -> bool:
    return len(word) > 1 and analyzer.fold(word) not in STOP_WORDS


@lru_cache(maxsize=analyzer.WORD_CACHE_SIZE)
def _is_name(word: str) -> bool:
    word = _APOSTROPHE_S.sub("", word)
    if _JOINED.search(word) or _HUMP.search(word):
        return True
    return any(map(str.isdigit, word))


MIN_RUN_WORDS = 3
"""This many content words in a row that are not in the source are a claim of their
own."""

MIN_CLAUSE_WORDS = 2
"""A clause of this many content words is one, if none of them is in the source."""

MIN_CONTENT_WORDS = 2
"""A bullet with fewer content words and no name says too little to check."""

_CLAUSES = re.compile(
    r"[;:,，；—–(]\s*|\s(?:and|but|because|since|so that|in order to|due to|thanks to"
    r"|after|before|while|although|though|which|und|aber|weil|damit|denn|nachdem)\s"
    r"|因为|所以|但是|而且|以便"
)


_CAUSES = re.compile(r"\b(?:because|due to|thanks to|caused by)\b", re.IGNORECASE)


def unsupported_words(text: str, source_terms: Collection[str]) -> tuple[str, ...]:
    """Return the words of the longest part of a text that is not in its source.

    Args:
        text: A bullet, or a clause of one.
        source_terms: Its terms that the source contains.

    Returns:
        The content words of that part as written; none if it is too short to be a claim
        of its own.
    """
    if sum(
        term not in source_terms for term in analyzer.query_terms(text)
    ) < MIN_CLAUSE_WORDS and not _CAUSES.search(text):
        return ()
    found: list[tuple[str, ...]] = []
    all_words: list[tuple[str, bool]] = []
    for clause in _CLAUSES.split(text):
        clause_words = [
            (one, _is_in_source(one, source_terms)) for one in analyzer.words(clause)
        ]
        clause_words = [one for one in clause_words if _content_terms(one[0])]
        all_words += clause_words
        if clause_words and not any(is_found for _, is_found in clause_words):
            found.append(tuple(word for word, _ in clause_words))
    for cause in _CAUSES.split(text)[1:]:
        cause_words = [one for one in analyzer.words(cause) if _content_terms(one)]
        lacking = tuple(
            one for one in cause_words if not _is_in_source(one, source_terms)
        )
        if 2 * len(lacking) >= len(cause_words):
            found.append((*lacking, *cause_words)[: len(cause_words)])
    found = [one for one in found if _count_words(one) >= MIN_CLAUSE_WORDS]
    for is_found, run in groupby(all_words, key=lambda one: one[1]):
        run_words = tuple(word for word, _ in run)
        if not is_found and _count_words(run_words) >= MIN_RUN_WORDS:
            found.append(run_words)
    return max(found, key=len, default=())


def says_too_little(text: str) -> bool:
    """Return whether a bullet says too little to be checked."""
    count = sum(len(_content_terms(one)) > 0 for one in analyzer.words(text))
    if count >= MIN_CONTENT_WORDS or find_details(text):
        return False
    return not any(
        analyzer.is_unspaced(one) and len(one) > 3 for one in analyzer.words(text)
    )


def _count_words(words: Collection[str]) -> float:
    """Count words; characters of a script without spaces count half."""
    return sum(len(one) / 2 if analyzer.is_unspaced(one) else 1 for one in words)


def _is_in_source(word: str, source_terms: Collection[str]) -> bool:
    terms = _content_terms(word)
    return 2 * sum(term in source_terms for term in terms) >= len(terms)


@lru_cache(maxsize=analyzer.WORD_CACHE_SIZE)
def _content_terms(word: str) -> tuple[str, ...]:
    """Return the most general terms of a word; none for a stop word."""
    if analyzer.fold(word) in STOP_WORDS:
        return ()
    found = analyzer.query_terms(word)
    return () if NARRATION_STEMS.issuperset(found) else tuple(found)


# Contradictions between bullets

MIN_SHARED = 0.6
"""The share of the words of the shorter bullet that both must have, apart from those
that contradict each other."""

_REASON = re.compile(r",? (?:because|since|so that|due to)\b", re.IGNORECASE)
"""The beginning of a reason, which is not compared."""

_STATES = frozenset(
    stem(word)
    for word in word_set("""
    pass fail succeed success failure works broken enable enabled disable disabled
    add added remove removed delete deleted drop dropped create open close start stop
    allow deny block forbid accept reject include exclude keep install uninstall
    increase decrease reduce raise lower valid invalid true false correct incorrect
    wrong safe unsafe stable unstable fresh stale muted unmuted faster slower more less
    """)
)
"""Stems of words whose opposites contradict them: "before" and "after" do not."""

_DECISIONS = frozenset(
    map(stem, word_set("chose choose pick decide adopt use drop abandon revert"))
)
"""Stems of words for decisions and for taking them back."""

_STATEMENTS = (
    BulletKind.NOTE,
    BulletKind.QUOTE,
    BulletKind.OUTCOME,
    BulletKind.DECISION,
)
"""The kinds of bullets that state something that may be contradicted."""


def mark_contradictions(bullets: Sequence[Bullet]) -> tuple[Bullet, ...]:
    """Return bullets with those that contradict each other marked, the newest first.

    The place of the first of them is that of all.
    """
    rivals: dict[int, list[int]] = {}
    for one, other in combinations(range(len(bullets)), 2):
        if _may_contradict(bullets[one], bullets[other]) and contradicts(
            bullets[one].text, bullets[other].text
        ):
            rivals.setdefault(one, []).append(other)
            rivals.setdefault(other, []).append(one)
    if not rivals:
        return tuple(bullets)
    order: dict[int, None] = {}
    for at in range(len(bullets)):
        group = sorted(
            (at, *rivals.get(at, ())),
            key=lambda one: _last_event(bullets[one]),
            reverse=True,
        )
        order |= dict.fromkeys(group)
    return tuple(
        _contradicted(bullets[at], bullets[rivals[at][0]])
        if at in rivals
        else bullets[at]
        for at in order
    )


def contradicts(one: str, other: str) -> bool:
    """Return whether two bullets contradict each other."""
    pairs = negation.find_opposites(one, other)
    opposed = {word for pair in pairs for word in pair}
    if not opposed <= _STATES or _name_others(one, other):
        return False
    if opposed or cues.takes_back(one) or cues.takes_back(other):
        return _share_words(one, other, opposed, least=1)
    if not _share_words(one, other, set(), least=2):
        return False
    is_denied = negation.has_negation(one) is not negation.has_negation(other)
    return (
        (is_denied and negation.negation_differs(one, other))
        or conflicts.exchanges_sides(one, other)
        or _give_other_values(one, other)
    )


def _may_contradict(one: Bullet, other: Bullet) -> bool:
    """Return whether both are statements about the same project.

    Quotations of one message list different things.
    """
    is_stated = one.kind in _STATEMENTS and other.kind in _STATEMENTS
    return (
        is_stated
        and one.project == other.project
        and not _quote_one_message(one, other)
    )


def _quote_one_message(one: Bullet, other: Bullet) -> bool:
    quoted = [
        {span.event_id for span in bullet.verdict.spans} for bullet in (one, other)
    ]
    are_quotes = one.is_quote and other.is_quote
    return are_quotes and bool(quoted[0]) and quoted[0] == quoted[1]


def _last_event(bullet: Bullet) -> str:
    """Return the id of the last event that a bullet quotes; ids are in order."""
    return max((span.event_id for span in bullet.verdict.spans), default="")


def _contradicted(bullet: Bullet, other: Bullet) -> Bullet:
    return replace(bullet, verdict=replace(bullet.verdict, contradiction=other.text))


def _share_words(one: str, other: str, opposed: set[str], *, least: int) -> bool:
    words = [
        {
            term
            for term in analyzer.query_terms(_REASON.split(text)[0])
            if not term.isdigit()
        }
        - opposed
        - _DECISIONS
        for text in (one, other)
    ]
    shared = len(words[0] & words[1])
    return shared >= least and shared >= MIN_SHARED * min(map(len, words))


def _name_others(one: str, other: str) -> bool:
    """Return whether both bullets have names in code, and different ones."""
    named = [
        {name for name in find_details(text) if not name.isalnum()}
        for text in (one, other)
    ]
    return all(named) and named[0] != named[1]


def _give_other_values(one: str, other: str) -> bool:
    """Return whether two bullets give different values in the same unit or of the same
    label."""
    mine, others = _values(one), _values(other)
    return (
        len(mine) == len(others) == 1
        and mine != others
        and ({unit for unit, _ in mine} == {unit for unit, _ in others})
    )


def _values(text: str) -> set[tuple[str, str]]:
    units = set(numbers.UNITS.values())
    return {
        (number.label or number.after[0], number.digits)
        for number in numbers.find_numbers(text)
        if number.label or (number.after and number.after[0] in units)
    }
