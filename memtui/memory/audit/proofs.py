"""Proofs: whether what a bullet says was done stands in a source as something done.

"Edited a.py; ran pytest" needs an edit of that file and a run of that command, "pytest
failed: 1 error" a run that failed, a commit's subject a commit. Somebody's own words
will do as well, if they say it with a verb of that kind and do not deny it; that the
file or the command is named will not.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from memtui.memory import deeds, words
from memtui.memory.audit import acts, contradictions, feats, holding, particulars
from memtui.memory.audit.acts import Act
from memtui.memory.passages import PASSAGE_CHARS, Passage, Passages
from memtui.memory.verdicts import Features, Quote, Support, Verdict, hashed
from memtui.memory.words import chunks
from memtui.memory.words.vocabulary import STOP_WORDS


@dataclass(frozen=True, slots=True)
class _Source:
    """What is looked into: all of a source, or some places of it."""

    passages: Passages
    every: Sequence[Act]
    places: Collection[int] | None

    def calls(self, kind: str) -> Iterator[Act]:
        """The calls that did something of a kind and may prove it."""
        for act in self.every:
            if self.places is not None and act.place not in self.places:
                continue
            if act.verb in feats.DID[kind]:
                if act.verb == "Ran" or not act.is_failed:
                    yield act
            elif (
                act.verb == "Ran"
                and kind in feats.DOING
                and feats.DOING[kind].search(act.call)
            ):
                yield act

    def sayings(self, kind: str, wanted: Collection[str]) -> Iterator[Passage]:
        """Where somebody says plainly that something with these terms was done."""
        said = {act.place for act in self.every if not act.is_call}
        if self.places is not None:
            said.intersection_update(self.places)
        for passage in self.passages.holding(wanted, said):
            if _says(kind, self.passages.text(passage), wanted):
                yield passage


def of(
    text: str, source: Passages, places: Collection[int] | None = None
) -> Verdict | None:
    """The verdict on a bullet that tells deeds; None of any other.

    Args:
        text: The bullet.
        source: What it is held against.
        places: The texts that may prove it; any if None.
    """
    if feats.COMMITTED.match(text):
        return _commits(text, _Source(source, acts.of(source), places))
    failed, done = feats.FAILED.match(text), feats.DONE.match(text)
    if failed and not _is_prose(failed["thing"]):
        told = failed["thing"], failed["wrong"] or ""
        return _failure(text, *told, _Source(source, acts.of(source), places))
    if done and _is_deed(done):
        return _deeds(text, _Source(source, acts.of(source), places))
    return None


def _is_deed(done: re.Match[str]) -> bool:
    """Whether a verb is one of deeds: some are only before a bare name."""
    kind, things = done["verb"].lower(), done["things"]
    if kind in feats.DID:
        return True
    bare = things.rstrip(".")
    return kind == "executed" or (" " not in bare and bool(particulars.of(bare)))


def _is_prose(thing: str) -> bool:
    first = chunks.fold(thing.split(" ", 1)[0])
    return first in STOP_WORDS and first not in feats.COMMANDS


def _deeds(text: str, source: _Source) -> Verdict:
    found: list[Verdict] = []
    for part in filter(str.strip, text.split("; ")):
        done = feats.DONE.match(part)
        if done is None:
            found.append(_worded(part, source))
            continue
        verb = done["verb"]
        kind = feats.KINDS.get(verb.lower(), verb.lower())
        proved, is_worded = _proofs(kind, verb, done["things"], source)
        found += proved
        if is_worded:
            found.append(_done_somewhere(kind, verb, part, source))
    return holding.joined(found)


def _proofs(
    kind: str, verb: str, told: str, source: _Source
) -> tuple[list[Verdict], bool]:
    """A verdict on each thing that a deed is told of; whether more is told of it."""
    found: list[Verdict] = []
    is_worded = False
    for piece in dict.fromkeys(told.rstrip(".").split(", ")):
        piece = piece.removesuffix(feats.CUT).strip()
        if not piece:
            continue
        if proof := _proved(kind, piece, source):
            found.append(proof)
            continue
        named = _named(kind, piece)
        first = feats.MORE.split(piece)[0]
        is_worded = is_worded or named != [piece] or first != piece
        for thing in [first] if named == [piece] else named:
            proof = _proved(kind, thing, source)
            found.append(proof or _unproved(verb, thing, source))
    return found, is_worded or not found


def _named(kind: str, piece: str) -> list[str]:
    """The files or the command that a piece of a line of deeds names."""
    bare = re.sub("^(?:and|und) ", "", piece)
    if kind in feats.FILES and " " in bare:
        return [
            one
            for one in feats.MORE.split(bare)
            if " " not in one.strip("`") and particulars.of(one)
        ]
    return [] if _is_prose(bare) or " " in bare != piece else [bare]


def _proved(kind: str, thing: str, source: _Source) -> Verdict | None:
    """The call that did it; else where somebody says that it was done."""
    wanted = words.needed(thing)
    for act in source.calls(kind):
        if _names(act.call, thing, wanted, is_file=kind in feats.FILES):
            return _shown(act, thing)
    passage = next(source.sayings(kind, wanted), None)
    if passage is None:
        return None
    text = source.passages.text(passage)
    quote = Quote(passage.place, passage.start, passage.end, hashed(text))
    return _sure(thing, quote)


def _names(call: str, thing: str, wanted: Sequence[str], *, is_file: bool) -> bool:
    """Whether a call names a thing, as it stands or at least all of its words."""
    if thing in call and re.search(rf"(?<![\w.\-]){re.escape(thing)}(?![\w\-])", call):
        return True
    held = set(words.terms(call))
    last = chunks.fold(thing.strip("`").rpartition("/")[2])
    return held.issuperset(wanted) and (not is_file or last in held)


def _shown(act: Act, thing: str) -> Verdict:
    quoted = act.call[:PASSAGE_CHARS]
    return _sure(thing, Quote(act.place, 0, len(quoted), hashed(quoted)))


def _sure(thing: str, quote: Quote) -> Verdict:
    wanted = tuple(words.needed(thing))
    features = Features(1.0, len(wanted), particulars.of(thing))
    return Verdict(Support.SUPPORTED, features, wanted, (quote,))


def _worded(text: str, source: _Source) -> Verdict:
    return holding.by_passage(text, source.passages, source.places)


def _unproved(verb: str, text: str, source: _Source) -> Verdict:
    """The verdict on what is only named: weak at best, for its verb is missing."""
    return _lacking(verb, _worded(text, source))


def _lacking(verb: str, found: Verdict) -> Verdict:
    missing = (verb, *found.features.missing)
    features = replace(found.features, missing=missing)
    support = holding.worst([found.support, Support.WEAK])
    return replace(found, support=support, features=features)


def _done_somewhere(kind: str, verb: str, text: str, source: _Source) -> Verdict:
    """The verdict on a deed told in prose, if anything of its kind was done or told."""
    found = _worded(text, source)
    if any(source.calls(kind)):
        return found
    quoted = (source.passages.texts[q.place][q.start : q.end] for q in found.quotes)
    if any(feats.SAYS[kind].search(one) for one in quoted):
        return found
    return _lacking(verb, found)


def _says(kind: str, text: str, wanted: Collection[str]) -> bool:
    return any(
        feats.SAYS[kind].search(clause)
        and not contradictions.denies(clause)
        and set(words.terms(clause)).issuperset(wanted)
        for clause in feats.APART.split(text)
    )


def _failure(text: str, thing: str, wrong: str, source: _Source) -> Verdict | None:
    wanted = words.needed(thing)
    runs = [
        act
        for act in source.every
        if act.verb == "Ran" and _names(act.call, thing, wanted, is_file=False)
    ]
    if not runs:
        return _told_to_fail(text, wanted, source) if wrong else None
    failed = [act for act in runs if act.is_failed and _may(act, source)]
    if wrong:
        failed += [act for act in runs if _may_have_failed(act, wrong, source)]
    if not failed:
        return _unproved("failed", text, source)
    if not wrong:
        return _shown(failed[0], thing)
    places = {act.place for act in failed}
    there = holding.by_passage(wrong, source.passages, places)
    found = {quote.place for quote in there.quotes}
    shown = next((act for act in failed if act.place in found), failed[0])
    proved = holding.joined([_shown(shown, thing), there])
    otherwise = _told_to_fail(text, wanted, source)
    return proved if holding.is_as_good(proved, otherwise) else otherwise


def _may_have_failed(act: Act, wrong: str, source: _Source) -> bool:
    """Whether a run of which nothing else tells ends in the very line."""
    if not act.is_unsure or act.is_failed or not _may(act, source):
        return False
    return set(words.terms(deeds.wrong(act.text))).issuperset(words.needed(wrong))


def _may(act: Act, source: _Source) -> bool:
    return source.places is None or act.place in source.places


def _told_to_fail(text: str, wanted: Sequence[str], source: _Source) -> Verdict:
    """The verdict on a failure by what somebody says of it."""
    found = _worded(text, source)
    if found.support is not Support.SUPPORTED:
        return found
    for quote in found.quotes:
        quoted = source.passages.texts[quote.place][quote.start : quote.end]
        is_call = source.every[quote.place].is_call
        tells = not is_call and feats.SAYS["failed"].search(quoted)
        if tells and set(words.terms(quoted)).issuperset(wanted):
            return found
    return _lacking("failed", found)


def _commits(text: str, source: _Source) -> Verdict:
    subjects = [
        one.removesuffix(feats.CUT).strip() for one in feats.SUBJECT.findall(text)
    ]
    found = [_committed(one, source) for one in subjects if one]
    rest = feats.COMMITTED.sub("", feats.SUBJECT.sub("", text)).strip(" ;,.…")
    if len(words.needed(rest)) > 1:
        found.append(_worded(rest, source))
    return holding.joined(found) if found else _unproved("committed", text, source)


def _committed(subject: str, source: _Source) -> Verdict:
    wanted = words.needed(subject)
    for act in source.every:
        if _may(act, source) and acts.commits(act, subject):
            held = holding.by_passage(subject, source.passages, {act.place})
            return _sure(subject, held.quotes[0]) if held.quotes else held
    passage = next(source.sayings("committed", wanted), None)
    if passage is None or feats.SAYS["committed"].search(subject):
        return _unproved("committed", subject, source)
    quoted = source.passages.text(passage)
    quote = Quote(passage.place, passage.start, passage.end, hashed(quoted))
    return _sure(subject, quote)
