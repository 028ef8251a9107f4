"""Acts: what each event of a source did, as far as its call tells.

A bullet that says a file was edited or a command run is held against these: that the
name stands somewhere is no deed.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from memtui.model.events import Event, EventType
from memtui.model.segments import counted_text
from memtui.model.verdicts import (
    SourceQuote,
    Support,
    Verdict,
    VerdictFeatures,
    hash_quote,
)
from memtui.summarize import tool_actions
from memtui.summarize.grounding import details, matching, negation
from memtui.text import analyzer
from memtui.text.passages import PASSAGE_CHARS, Passage, PassageIndex
from memtui.text.stopwords import STOP_WORDS

_CLEAN = re.compile(
    r"\b(?:0|no|zero|without(?: any)?) (?:\w+ )?(?:error|fail|warning)\w*"
    r"|\b(?:error|fail|warning)\w*[:=] ?0\b",
    re.IGNORECASE,
)

_WENT_WELL = re.compile(
    r"\b(?:pass(?:ed)?|succeeded|success(?:ful(?:ly)?)?|finished|completed?|done|ok)\b",
    re.IGNORECASE,
)

_HIDES = re.compile(r"(?<!\|)\|(?!\|)|;|\|\| *(?:true|:)")
"""A command line that ends well though a part of it may have failed."""


@dataclass(frozen=True, slots=True)
class Action:
    """What one event did."""

    place: int
    verb: str
    """As a line of deeds says it: Edited, Wrote, Ran, Read or Searched for; "" for
    a call that tells nothing, and for what is no call at all."""
    call: str
    """The call as the first line of the event gives it."""
    text: str
    is_call: bool
    is_failed: bool
    is_unsure: bool = False
    """Whether it may have failed: its text tells neither."""
    event: Event | None = None


class EventPassages(PassageIndex):
    """The texts of events, which know what they did."""

    def __init__(self, events: Sequence[Event]) -> None:
        super().__init__([counted_text(event) for event in events])
        self.events = events


@lru_cache(maxsize=2)
def find_actions(source: PassageIndex) -> Sequence[Action]:
    """The acts of a source, remembered for the next bullet.

    Of a ``Record`` its events tell; of any other texts their heads ("Edit: notes.ts")
    and, of a failure, their wording.
    """
    if isinstance(source, EventPassages):
        return [_of_event(at, event) for at, event in enumerate(source.events)]
    return [_of_text(at, text) for at, text in enumerate(source.texts)]


def made_commit(act: Action, subject: str) -> bool:
    """Whether an act made a commit of a subject, which may be cut."""
    if not act.is_call or "commit" not in act.text:
        return False
    if act.event is not None:
        made = tool_actions.commit_subjects(act.event)
    else:
        made = tool_actions.commit_subjects_in(act.text, act.call, is_error=False)
        if not made and tool_actions.is_commit_call(act.text) and subject in act.call:
            return True
    wanted = analyzer.query_terms(subject)
    return any(set(analyzer.terms(one)).issuperset(wanted) for one in made)


def _of_text(at: int, text: str) -> Action:
    call = text.partition("\n")[0]
    name, colon, _ = call.partition(":")
    verb = tool_actions.tool_verb(name.strip()) if colon else ""
    wrong = tool_actions.error_line(text) if verb == "Ran" else ""
    bare = _CLEAN.sub("", wrong)
    is_failed = tool_actions.mentions_error(bare)
    is_unsure = bool(wrong) and bare == wrong and not _WENT_WELL.search(text)
    return Action(at, verb, call, text, bool(verb), is_failed, is_unsure)


def _of_event(at: int, event: Event) -> Action:
    text = counted_text(event)
    call = text.partition("\n")[0]
    is_call = event.event_type is EventType.TOOL_RESULT
    name = event.metadata.get("tool_name") or call.partition(":")[0].strip()
    verb = tool_actions.tool_verb(name) if is_call else ""
    is_failed = is_call and event.metadata.get("is_error") == "true"
    if verb == "Ran" and _HIDES.search(call):
        is_failed = is_failed or tool_actions.mentions_error(
            _CLEAN.sub("", tool_actions.error_line(text))
        )
    return Action(at, verb, call, text, is_call, is_failed, event=event)


_WHO = (
    r"(?:(?:(?:the )?(?:assistant|user|agent|ai)|i|we|they|it)"
    r"(?: has| have| had| then| also)* )?"
)

APART = re.compile(r"; |(?<=[.!?]) (?=[A-Z])")

DONE = re.compile(
    rf"{_WHO}(?P<verb>edited|wrote|ran|read|searched for|changed|updated|modified"
    r"|patched|created|executed|deleted|removed) (?P<things>.+)",
    re.IGNORECASE | re.DOTALL,
)

FAILED = re.compile(
    r"(?P<thing>[\w ./:\-@=+~*%#]+?) failed(?:: (?P<wrong>.+)|[.!]?$)", re.DOTALL
)

COMMITTED = re.compile(rf"{_WHO}committed (?=“)", re.IGNORECASE)
SUBJECT = re.compile("“([^”]+)(?:”|$)")

KINDS = {
    "changed": "edited",
    "updated": "edited",
    "modified": "edited",
    "patched": "edited",
    "created": "wrote",
    "executed": "ran",
    "deleted": "deleted",
    "removed": "deleted",
}
"""Verbs that speak of a deed only before the bare name of a file or a command."""

DID = {
    "edited": {"Edited", "Wrote"},
    "wrote": {"Wrote"},
    "ran": {"Ran"},
    "read": {"Read", "Ran", "Searched for"},
    "searched for": {"Searched for", "Ran"},
    "deleted": set(),
}

_WRITING = re.compile(
    r"\bsed -i|\btee\b|[^-=0-9]>>? ?[\w./~\"']|\bpatch\b|\bprettier\b"
)

_DELETING = re.compile(r"\b(?:rm|unlink|del|trash|mv)\b|-delete\b")

DOING = {"edited": _WRITING, "wrote": _WRITING, "deleted": _DELETING}
"""Commands that change files or do away with them."""

SAYS = {
    kind: re.compile(rf"\b(?:{latin})\b|{han}", re.IGNORECASE)
    for kind, latin, han in (
        (
            "edited",
            "edited|changed|updated|modified|patched|adjusted|rewrote|fixed|extended"
            "|refactored|renamed|geändert|angepasst|bearbeitet",
            "修改了|编辑了|更新了",
        ),
        (
            "wrote",
            "wrote|written|created|added|geschrieben|erstellt|angelegt",
            "创建了",
        ),
        ("ran", "ran|re-?ran|executed|ausgeführt", "运行了"),
        ("read", "read|reviewed|inspected|looked at|opened|gelesen", "读了"),
        ("searched for", "searched|looked for|grepped|gesucht", "搜索了"),
        ("committed", "committed|committet", "提交了"),
        ("deleted", "deleted|removed|dropped|gelöscht|entfernt", "删除了"),
        ("failed", r"fail\w*|broke\w*|crash\w*|errors?|fehlgeschlagen", "失败"),
    )
}

MORE = re.compile(
    r" (?:and|und|to|with|in|for|so|which|that|on|from|after|before|again|because|but"
    r"|by|as|at|via|using|until) "
)

CUT = "…"

COMMANDS = ("go", "just", "do", "yes")
"""Small words that are commands as well."""

FILES = ("edited", "wrote", "read", "deleted")


@dataclass(frozen=True, slots=True)
class _Source:
    """What is looked into: all of a source, or some places of it."""

    passages: PassageIndex
    every: Sequence[Action]
    places: Collection[int] | None

    def calls(self, kind: str) -> Iterator[Action]:
        """The calls that did something of a kind and may prove it."""
        for act in self.every:
            if self.places is not None and act.place not in self.places:
                continue
            if act.verb in DID[kind]:
                if act.verb == "Ran" or not act.is_failed:
                    yield act
            elif act.verb == "Ran" and kind in DOING and DOING[kind].search(act.call):
                yield act

    def sayings(self, kind: str, wanted: Collection[str]) -> Iterator[Passage]:
        """Where somebody says plainly that something with these terms was done."""
        said = {act.place for act in self.every if not act.is_call}
        if self.places is not None:
            said.intersection_update(self.places)
        for passage in self.passages.holding(wanted, said):
            if _says(kind, self.passages.text(passage), wanted):
                yield passage


def check_action_claims(
    text: str, source: PassageIndex, places: Collection[int] | None = None
) -> Verdict | None:
    """The verdict on a bullet that tells deeds; None of any other.

    Args:
        text: The bullet.
        source: What it is held against.
        places: The texts that may prove it; any if None.
    """
    if COMMITTED.match(text):
        return _commits(text, _Source(source, find_actions(source), places))
    failed, done = FAILED.match(text), DONE.match(text)
    if failed and not _is_prose(failed["thing"]):
        told = failed["thing"], failed["wrong"] or ""
        return _failure(text, *told, _Source(source, find_actions(source), places))
    if done and _is_deed(done):
        return _deeds(text, _Source(source, find_actions(source), places))
    return None


def _is_deed(done: re.Match[str]) -> bool:
    """Whether a verb is one of deeds: some are only before a bare name."""
    kind, things = done["verb"].lower(), done["things"]
    if kind in DID:
        return True
    bare = things.rstrip(".")
    return kind == "executed" or (" " not in bare and bool(details.find_details(bare)))


def _is_prose(thing: str) -> bool:
    first = analyzer.fold(thing.split(" ", 1)[0])
    return first in STOP_WORDS and first not in COMMANDS


def _deeds(text: str, source: _Source) -> Verdict:
    found: list[Verdict] = []
    for part in filter(str.strip, text.split("; ")):
        done = DONE.match(part)
        if done is None:
            found.append(_worded(part, source))
            continue
        verb = done["verb"]
        kind = KINDS.get(verb.lower(), verb.lower())
        proved, is_worded = _proofs(kind, verb, done["things"], source)
        found += proved
        if is_worded:
            found.append(_done_somewhere(kind, verb, part, source))
    return matching.combine(found)


def _proofs(
    kind: str, verb: str, told: str, source: _Source
) -> tuple[list[Verdict], bool]:
    """A verdict on each thing that a deed is told of; whether more is told of it."""
    found: list[Verdict] = []
    is_worded = False
    for piece in dict.fromkeys(told.rstrip(".").split(", ")):
        piece = piece.removesuffix(CUT).strip()
        if not piece:
            continue
        if proof := _proved(kind, piece, source):
            found.append(proof)
            continue
        named = _named(kind, piece)
        first = MORE.split(piece)[0]
        is_worded = is_worded or named != [piece] or first != piece
        for thing in [first] if named == [piece] else named:
            proof = _proved(kind, thing, source)
            found.append(proof or _unproved(verb, thing, source))
    return found, is_worded or not found


def _named(kind: str, piece: str) -> list[str]:
    """The files or the command that a piece of a line of deeds names."""
    bare = re.sub("^(?:and|und) ", "", piece)
    if kind in FILES and " " in bare:
        return [
            one
            for one in MORE.split(bare)
            if " " not in one.strip("`") and details.find_details(one)
        ]
    return [] if _is_prose(bare) or " " in bare != piece else [bare]


def _proved(kind: str, thing: str, source: _Source) -> Verdict | None:
    """The call that did it; else where somebody says that it was done."""
    wanted = analyzer.query_terms(thing)
    for act in source.calls(kind):
        if _names(act.call, thing, wanted, is_file=kind in FILES):
            return _shown(act, thing)
    passage = next(source.sayings(kind, wanted), None)
    if passage is None:
        return None
    text = source.passages.text(passage)
    quote = SourceQuote(
        passage.text_index, passage.start, passage.end, hash_quote(text)
    )
    return _sure(thing, quote)


def _names(call: str, thing: str, wanted: Sequence[str], *, is_file: bool) -> bool:
    """Whether a call names a thing, as it stands or at least all of its words."""
    if thing in call and re.search(rf"(?<![\w.\-]){re.escape(thing)}(?![\w\-])", call):
        return True
    held = set(analyzer.terms(call))
    last = analyzer.fold(thing.strip("`").rpartition("/")[2])
    return held.issuperset(wanted) and (not is_file or last in held)


def _shown(act: Action, thing: str) -> Verdict:
    quoted = act.call[:PASSAGE_CHARS]
    return _sure(thing, SourceQuote(act.place, 0, len(quoted), hash_quote(quoted)))


def _sure(thing: str, quote: SourceQuote) -> Verdict:
    wanted = tuple(analyzer.query_terms(thing))
    features = VerdictFeatures(1.0, len(wanted), details.find_details(thing))
    return Verdict(Support.SUPPORTED, features, wanted, (quote,))


def _worded(text: str, source: _Source) -> Verdict:
    return matching.match_passage(text, source.passages, source.places)


def _unproved(verb: str, text: str, source: _Source) -> Verdict:
    """The verdict on what is only named: weak at best, for its verb is missing."""
    return _lacking(verb, _worded(text, source))


def _lacking(verb: str, found: Verdict) -> Verdict:
    missing = (verb, *found.features.missing)
    features = replace(found.features, missing=missing)
    support = matching.worst([found.support, Support.WEAK])
    return replace(found, support=support, features=features)


def _done_somewhere(kind: str, verb: str, text: str, source: _Source) -> Verdict:
    """The verdict on a deed told in prose, if anything of its kind was done or told."""
    found = _worded(text, source)
    if any(source.calls(kind)):
        return found
    quoted = (source.passages.texts[q.index][q.start : q.end] for q in found.quotes)
    if any(SAYS[kind].search(one) for one in quoted):
        return found
    return _lacking(verb, found)


def _says(kind: str, text: str, wanted: Collection[str]) -> bool:
    return any(
        SAYS[kind].search(clause)
        and not negation.has_negation(clause)
        and set(analyzer.terms(clause)).issuperset(wanted)
        for clause in APART.split(text)
    )


def _failure(text: str, thing: str, wrong: str, source: _Source) -> Verdict | None:
    wanted = analyzer.query_terms(thing)
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
    there = matching.match_passage(wrong, source.passages, places)
    found = {quote.index for quote in there.quotes}
    shown = next((act for act in failed if act.place in found), failed[0])
    proved = matching.combine([_shown(shown, thing), there])
    otherwise = _told_to_fail(text, wanted, source)
    return proved if matching.is_as_good(proved, otherwise) else otherwise


def _may_have_failed(act: Action, wrong: str, source: _Source) -> bool:
    """Whether a run of which nothing else tells ends in the very line."""
    if not act.is_unsure or act.is_failed or not _may(act, source):
        return False
    return set(analyzer.terms(tool_actions.error_line(act.text))).issuperset(
        analyzer.query_terms(wrong)
    )


def _may(act: Action, source: _Source) -> bool:
    return source.places is None or act.place in source.places


def _told_to_fail(text: str, wanted: Sequence[str], source: _Source) -> Verdict:
    """The verdict on a failure by what somebody says of it."""
    found = _worded(text, source)
    if found.support is not Support.SUPPORTED:
        return found
    for quote in found.quotes:
        quoted = source.passages.texts[quote.index][quote.start : quote.end]
        is_call = source.every[quote.index].is_call
        tells = not is_call and SAYS["failed"].search(quoted)
        if tells and set(analyzer.terms(quoted)).issuperset(wanted):
            return found
    return _lacking("failed", found)


def _commits(text: str, source: _Source) -> Verdict:
    subjects = [one.removesuffix(CUT).strip() for one in SUBJECT.findall(text)]
    found = [_committed(one, source) for one in subjects if one]
    rest = COMMITTED.sub("", SUBJECT.sub("", text)).strip(" ;,.…")
    if len(analyzer.query_terms(rest)) > 1:
        found.append(_worded(rest, source))
    return matching.combine(found) if found else _unproved("committed", text, source)


def _committed(subject: str, source: _Source) -> Verdict:
    wanted = analyzer.query_terms(subject)
    for act in source.every:
        if _may(act, source) and made_commit(act, subject):
            held = matching.match_passage(subject, source.passages, {act.place})
            return _sure(subject, held.quotes[0]) if held.quotes else held
    passage = next(source.sayings("committed", wanted), None)
    if passage is None or SAYS["committed"].search(subject):
        return _unproved("committed", subject, source)
    quoted = source.passages.text(passage)
    quote = SourceQuote(
        passage.text_index, passage.start, passage.end, hash_quote(quoted)
    )
    return _sure(subject, quote)
