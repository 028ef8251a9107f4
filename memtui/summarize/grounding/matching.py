"""Match a bullet, or a part of one, with the passage that contains most of it."""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from memtui.model.events import EventRole
from memtui.model.verdicts import (
    SUPPORTED_SHARE,
    Support,
    Verdict,
    VerdictFeatures,
    worst,
)
from memtui.summarize.grounding import conflicts, details, negation, numbers
from memtui.summarize.grounding.passages import Passage, PassageIndex
from memtui.text import analyzer


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
        hard = details.find_details(text)
        return Verdict(Support.UNSUPPORTED, VerdictFeatures(hard=hard, missing=hard))
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
            hard=tuple(token for one in features for token in one.hard),
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
    if conflicts.tells_plan_as_done(text, sentences, is_by_user=is_user):
        found.append(conflicts.NOT_DONE)
    if conflicts.claims_success(text) and (
        source.has_failed(analyzer.query_terms(text))
        or not (is_call or conflicts.tells_success(quoted))
    ):
        found.append(conflicts.NO_SUCCESS)
    if conflicts.is_no_longer_so(text, source.texts[passage.text_index + 1 :]):
        found.append(conflicts.NO_LONGER)
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


def _is_pronoun_for(name: str, quoted: str, source: PassageIndex) -> bool:
    """Return whether a pronoun of a quote may stand for a name said elsewhere."""
    if name in quoted or not _OBJECT_PRONOUN.search(quoted):
        return False
    if name.isalpha():
        is_known = name[0].isupper() and source.is_capitalized(name)
        return is_known and not _CAPITALIZED.search(quoted)
    is_number = bool(numbers.to_digits(name))
    others = (one for one in details.find_details(quoted) if not one.isalpha())
    return not is_number and source.contains(analyzer.fold(name)) and not any(others)


def _is_asked(name: str, text: str, quoted: str, asked: str) -> bool:
    """Return whether a question names what its answer, a quote, may leave out."""
    if name in quoted or name not in asked or numbers.to_digits(name):
        return False
    others = set(details.find_details(f"x {quoted}")).difference(analyzer.words(text))
    return not any(one.isalpha() is name.isalpha() for one in others)


def _is_speaker(name: str, quoted: str, source: PassageIndex) -> bool:
    """Return whether a person may have written what is quoted, as "I"."""
    return (
        (name not in quoted or quoted.startswith(f"{name}:"))
        and source.is_capitalized(name)
        and conflicts.is_in_first_person(quoted)
    )


def _features(text: str, passage: Passage, source: PassageIndex) -> VerdictFeatures:
    quoted, hard = source.text_of(passage), details.find_details(text)
    name = details.initial_name(text, source)
    if name and not _is_speaker(name, quoted, source):
        hard = (name, *hard)
    hard = tuple(one for one in hard if not _is_pronoun_for(one, quoted, source))
    if asked := _question_before(passage, source):
        hard = tuple(one for one in hard if not _is_asked(one, text, quoted, asked))
    features = VerdictFeatures(
        covered=passage.coverage,
        terms=len(source.term_weights(text)),
        hard=hard,
        missing=details.missing_details(text, hard, passage, source),
        negation_differs=negation.negation_differs(text, quoted),
        opposites=negation.find_opposites(text, quoted),
    )
    if features.covered < SUPPORTED_SHARE:
        return features
    added = negation.overstated_words(text, quoted) or details.unsupported_words(
        numbers.to_figures(text), passage.matched
    )
    return replace(
        features,
        missing=tuple(dict.fromkeys((*features.missing, *added))),
        conflicts=_conflicts(text, passage, source),
    )
