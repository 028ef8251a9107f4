"""Check whether the wording of a bullet is found in its source.

A bullet is **unsupported** if too little of its weighted wording is in any one passage
of its source. It is **weak** if not enough is, if a name or number is missing, if only
one side is negated or the source says the opposite, if a clause is not in the source,
or if it says too little to check. Otherwise it is **supported**. A verdict is about
wording found in the source, never about truth.

Claimed actions must have happened: that a file was edited, a command was run or failed,
or a commit was made must be shown by a call of a tool, or stated in such words. That
the name of the file or command occurs is not enough.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from memtui.model import tool_calls
from memtui.model.events import Event, EventRole
from memtui.model.nodes import DraftBullet
from memtui.model.sessions import counted_text
from memtui.model.verdicts import (
    SUPPORTED,
    EventQuote,
    SourceQuote,
    Support,
    Verdict,
    VerdictFeatures,
    hash_quote,
    is_as_good,
    worst,
)
from memtui.summarize import tool_actions
from memtui.summarize.grounding import conflicts, matching, negation
from memtui.summarize.grounding.passages import PASSAGE_CHARS, Passage, PassageIndex
from memtui.text import analyzer

GROUNDING_VERSION = "audit-10"
"""Summaries checked by another version of these rules are made again."""

MIN_CLAUSE_TERMS = 4
"""A clause with fewer terms is not checked by itself."""

_CLAUSE_SEPARATORS = (
    re.compile(r"[;；。]\s*(?=\S)|(?<=[.!?])\s+"),
    re.compile(r", (?:and|but|und|aber) |，(?=\S)"),
    re.compile(r" (?:and|but|und|aber) "),
)
"""Separators between the clauses of a bullet; the first match is used."""


@dataclass(frozen=True, slots=True)
class ChildBullet:
    """A child's bullet, as the source of its parent's."""

    text: str
    verdict: Verdict = SUPPORTED
    events: tuple[Event, ...] = ()
    """The events behind its grips; needed only for reworded bullets."""


def check_against_events(
    claims: Sequence[DraftBullet], events: Sequence[Event]
) -> list[Verdict]:
    """Check a segment's bullets.

    Args:
        claims: The bullets; their ``refs`` are indexes into ``events``.
        events: The events of the segment in order, without the overlap.

    Returns:
        A verdict for each; its quotes refer to indexes of the events.
    """
    source = EventPassages(events)
    return [with_event_quotes(check_bullet(one, source), events) for one in claims]


def with_event_quotes(verdict: Verdict, events: Sequence[Event]) -> Verdict:
    """Return a verdict with its quotes as spans of these events."""
    spans = (
        EventQuote(events[one.index].event_id, one.start, one.end, one.text_hash)
        for one in verdict.quotes
    )
    return replace(verdict, spans=tuple(spans))


def check_against_children(
    claims: Sequence[DraftBullet], below: Sequence[ChildBullet]
) -> list[Verdict]:
    """Check a parent's bullets against its children's, and against the events behind
    these.

    Args:
        claims: The parent's bullets; their ``refs`` are indexes into ``below``.
        below: The children's bullets in a row.

    Returns:
        For each the worst of three verdicts: against the children's bullets, which it
        quotes; that of these bullets; and against the events behind their grips. A
        bullet identical to a child's keeps its verdict.
    """
    index_of_text = {one.text: at for at, one in reversed([*enumerate(below)])}
    row: PassageIndex | None = None
    found: list[Verdict] = []
    for claim in claims:
        if claim.text in index_of_text:
            refs = (at for at in claim.refs if 0 <= at < len(below))
            cited = (at for at in refs if below[at].text == claim.text)
            found.append(
                _inherit_verdict(below, next(cited, index_of_text[claim.text]))
            )
        else:
            row = row or PassageIndex([one.text for one in below])
            found.append(_check_reworded(claim, row, below))
    return found


def _inherit_verdict(below: Sequence[ChildBullet], at: int) -> Verdict:
    text = below[at].text
    quote = SourceQuote(at, 0, len(text), hash_quote(text))
    return replace(below[at].verdict, quotes=(quote,), is_repaired=False)


def _check_reworded(
    claim: DraftBullet, row: PassageIndex, below: Sequence[ChildBullet]
) -> Verdict:
    verdict = check_bullet(claim, row)
    rests_on = [below[place] for place in sorted({q.index for q in verdict.quotes})]
    supports = [verdict.support, *(one.verdict.support for one in rests_on)]
    event_quotes = [span for one in rests_on for span in one.verdict.spans]
    leaves = list({e.event_id: e for one in rests_on for e in one.events}.values())
    if leaves:
        (in_events,) = check_against_events([DraftBullet(claim.text)], leaves)
        supports.append(in_events.support)
        event_quotes = list(in_events.spans) or event_quotes
    support = worst(supports)
    return replace(verdict, support=support, spans=tuple(dict.fromkeys(event_quotes)))


def check_bullet(claim: DraftBullet, source: PassageIndex) -> Verdict:
    """Check a bullet against texts; its ``refs`` are indexes into these."""
    anywhere = _check_anywhere(claim.text, source)
    cited = {at for at in claim.refs if 0 <= at < len(source.texts)}
    if not cited or {quote.index for quote in anywhere.quotes} <= cited:
        return anywhere
    there = _check_text(claim.text, source, cited)
    if is_as_good(there, anywhere):
        return there
    return replace(anywhere, is_repaired=True)


@lru_cache(maxsize=1)
def _check_anywhere(text: str, source: PassageIndex) -> Verdict:
    """Cached for the next claim with this text and other ``refs``."""
    return _check_text(text, source, None)


def _check_text(
    text: str, source: PassageIndex, text_indexes: Collection[int] | None
) -> Verdict:
    """Check a text against what its subject said and did, or else against all."""
    roles = conflicts.speaker_roles(text)
    found = _check_said(text, source, text_indexes)
    is_plan = conflicts.NOT_DONE in found.features.conflicts
    if found.support is Support.UNSUPPORTED or (roles is None and not is_plan):
        return found
    quoted_indexes = {quote.index for quote in found.quotes}
    places = range(len(source.texts)) if text_indexes is None else text_indexes
    by_subject = {
        at
        for at in places
        if roles is None or (role := source.role_of(at)) is None or role in roles
    }
    if is_plan:
        by_subject -= quoted_indexes
    if not quoted_indexes <= by_subject:
        there = _check_said(text, source, by_subject)
        if there.support is Support.SUPPORTED:
            return there
    elif not conflicts.has_other_subject(
        text, " ".join(map(source.quoted_text, found.quotes))
    ):
        return found
    if roles is None:
        return found
    reasons = (*found.features.conflicts, conflicts.OTHER_SPEAKER)
    features = replace(found.features, conflicts=reasons)
    return replace(found, support=Support.WEAK, features=features)


def _check_said(
    text: str, source: PassageIndex, text_indexes: Collection[int] | None
) -> Verdict:
    proved = check_action_claims(text, source, text_indexes)
    if proved is not None:
        is_sure = proved.support is Support.SUPPORTED
        return (
            proved if is_sure else _check_verbatim(text, source, text_indexes) or proved
        )
    found = _check_wording(text, source, text_indexes)
    if found.support is Support.SUPPORTED and matching.says_too_little(text):
        return replace(found, support=Support.WEAK)
    return found


def _check_wording(
    text: str, source: PassageIndex, text_indexes: Collection[int] | None
) -> Verdict:
    as_whole = matching.match_passage(text, source, text_indexes)
    if as_whole.support is Support.SUPPORTED:
        return as_whole
    if verbatim := _check_verbatim(text, source, text_indexes):
        return verbatim
    parts = _split_clauses(text)
    if len(parts) > 1:
        by_clause = matching.combine(
            [matching.match_passage(part, source, text_indexes) for part in parts]
        )
        if by_clause.support is Support.SUPPORTED:
            return by_clause
    return as_whole


def _check_verbatim(
    text: str, source: PassageIndex, text_indexes: Collection[int] | None
) -> Verdict | None:
    """Return the verdict on a bullet that occurs verbatim in its source."""
    found = source.find_verbatim(text, text_indexes)
    if found is None:
        return None
    place, start, end = found
    matched = analyzer.terms(text)
    features = VerdictFeatures(1.0, len(set(matched)), matching.find_details(text))
    quote = source.quote(place, start, end)
    return Verdict(features.support, features, tuple(sorted(set(matched))), (quote,))


def _split_clauses(text: str) -> list[str]:
    """Return the clauses of a bullet that may rest on different passages."""
    for cut in _CLAUSE_SEPARATORS:
        parts = cut.split(text)
        if len(parts) > 1:
            break
    else:
        return []
    if any(len(analyzer.query_terms(part)) < MIN_CLAUSE_TERMS for part in parts):
        return []
    return parts


# Actions

_NO_ERRORS = re.compile(
    r"\b(?:0|no|zero|without(?: any)?) (?:\w+ )?(?:error|fail|warning)\w*"
    r"|\b(?:error|fail|warning)\w*[:=] ?0\b",
    re.IGNORECASE,
)

_SUCCESS = re.compile(
    r"\b(?:pass(?:ed)?|succeeded|success(?:ful(?:ly)?)?|finished|completed?|done|ok)\b",
    re.IGNORECASE,
)

_HIDES_FAILURE = re.compile(r"(?<!\|)\|(?!\|)|;|\|\| *(?:true|:)")
"""A command line that succeeds although a part of it may have failed."""


@dataclass(frozen=True, slots=True)
class Action:
    """The action of one event."""

    text_index: int
    verb: str
    """"Edited", "Wrote", "Ran", "Read" or "Searched for"; "" if unknown or no call."""
    call: str
    """The first line of the event."""
    text: str
    is_call: bool
    is_failed: bool
    may_have_failed: bool = False
    """True if its text shows neither success nor failure."""
    event: Event | None = None


_AGREES = re.compile(
    r"(?:yes|ok(?:ay)?|sure|do (?:it|that|so)|go ahead|please do|sounds good)\b",
    re.IGNORECASE,
)


class EventPassages(PassageIndex):
    """A passage index over events, whose calls are known."""

    def __init__(self, events: Sequence[Event]) -> None:
        super().__init__([counted_text(event) for event in events])
        self.events = events

    def role_of(self, text_index: int) -> EventRole | None:
        return self.events[text_index].role

    def is_followed_by_change(self, text_index: int) -> bool:
        at = text_index + 1
        if at < len(self.texts) and _AGREES.match(self.texts[at]):
            at += 1
        return any(
            one.verb in tool_calls.CHANGING and not one.is_failed
            for one in find_actions(self)[at : at + 1]
        )

    def has_failed(self, terms: Collection[str]) -> bool:
        """Return whether the call that contains most of some terms has failed.

        A successful call that contains as many, and at least as late, counts instead.
        """
        most, result = 1, False
        for action in find_actions(self):
            if action.is_call and (action.is_failed or action.verb == "Ran"):
                count = len(set(analyzer.terms(action.call)).intersection(terms))
                if count > most or (count == most > 1):
                    most, result = count, action.is_failed
        return result


@lru_cache(maxsize=2)
def find_actions(source: PassageIndex) -> Sequence[Action]:
    """Return the actions of a source, cached for the next bullet.

    Without events they are recognized from the first lines ("Edit: notes.ts"), failures
    from the wording.
    """
    if isinstance(source, EventPassages):
        return [_action_of_event(at, event) for at, event in enumerate(source.events)]
    return [_action_of_text(at, text) for at, text in enumerate(source.texts)]


def made_commit(action: Action, subject: str) -> bool:
    """Return whether an action made a commit with this subject, which may be cut."""
    if not action.is_call or "commit" not in action.text:
        return False
    if action.event is not None:
        made = tool_actions.commit_subjects(action.event)
    else:
        made = tool_actions.commit_subjects_in(action.text, action.call, is_error=False)
        if (
            not made
            and tool_actions.is_commit_call(action.text)
            and subject in action.call
        ):
            return True
    terms = analyzer.query_terms(subject)
    return any(set(analyzer.terms(one)).issuperset(terms) for one in made)


def _action_of_text(at: int, text: str) -> Action:
    call = text.partition("\n")[0]
    name, colon, _ = call.partition(":")
    verb = tool_calls.tool_verb(name.strip()) if colon else ""
    error = tool_actions.error_line(text) if verb == "Ran" else ""
    bare = _NO_ERRORS.sub("", error)
    is_failed = tool_actions.mentions_error(bare)
    is_unknown = bool(error) and bare == error and not _SUCCESS.search(text)
    return Action(at, verb, call, text, bool(verb), is_failed, is_unknown)


def _action_of_event(at: int, event: Event) -> Action:
    text = counted_text(event)
    call = text.partition("\n")[0]
    is_call = event.is_tool_call
    name = event.metadata.get("tool_name") or call.partition(":")[0].strip()
    verb = tool_calls.tool_verb(name) if is_call else ""
    is_failed = is_call and event.is_failed
    if verb == "Ran" and _HIDES_FAILURE.search(call):
        is_failed = is_failed or tool_actions.mentions_error(
            _NO_ERRORS.sub("", tool_actions.error_line(text))
        )
    return Action(at, verb, call, text, is_call, is_failed, event=event)


_SUBJECT = (
    r"(?:(?:(?:the )?(?:assistant|user|agent|ai)|i|we|they|it)"
    r"(?: has| have| had| then| also)* )?"
)

_CLAUSE_END = re.compile(r"; |(?<=[.!?]) (?=[A-Z])")

_ACTION_CLAIM = re.compile(
    rf"{_SUBJECT}(?P<verb>edited|wrote|ran|read|searched for|changed|updated|modified"
    r"|patched|created|executed|deleted|removed) (?P<objects>.+)",
    re.IGNORECASE | re.DOTALL,
)

_FAILURE_CLAIM = re.compile(
    r"(?P<name>[\w ./:\-@=+~*%#]+?) failed(?:: (?P<error>.+)|[.!]?$)", re.DOTALL
)

_COMMIT_CLAIM = re.compile(rf"{_SUBJECT}committed (?=“)", re.IGNORECASE)
_COMMIT_SUBJECT = re.compile("“([^”]+)(?:”|$)")

_KIND_OF_VERB = {
    "changed": "edited",
    "updated": "edited",
    "modified": "edited",
    "patched": "edited",
    "created": "wrote",
    "executed": "ran",
    "deleted": "deleted",
    "removed": "deleted",
}
"""Verbs that claim an action only before the name of a file or a command."""

_PROVING_VERBS = {
    "edited": set(tool_calls.CHANGING),
    "wrote": {"Wrote"},
    "ran": {"Ran"},
    "read": {"Read", "Ran", "Searched for"},
    "searched for": {"Searched for", "Ran"},
    "deleted": set(),
}

_WRITING_COMMAND = re.compile(
    r"\bsed -i|\btee\b|[^-=0-9]>>? ?[\w./~\"']|\bpatch\b|\bprettier\b"
)

_DELETING_COMMAND = re.compile(r"\b(?:rm|unlink|del|trash|mv)\b|-delete\b")

_PROVING_COMMANDS = {
    "edited": _WRITING_COMMAND,
    "wrote": _WRITING_COMMAND,
    "deleted": _DELETING_COMMAND,
}
"""Commands that change or delete files."""

_STATEMENTS = {
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

_CONTINUATION = re.compile(
    r" (?:and|und|to|with|in|for|so|which|that|on|from|after|before|again|because|but"
    r"|by|as|at|via|using|until) "
)

_ELLIPSIS = "…"

_FILE_KINDS = ("edited", "wrote", "read", "deleted")


@dataclass(frozen=True, slots=True)
class _Source:
    """The source, or some of its texts."""

    passages: PassageIndex
    text_indexes: Collection[int] | None

    @property
    def actions(self) -> Sequence[Action]:
        return find_actions(self.passages)

    def includes(self, action: Action) -> bool:
        """Return whether an action is in the texts that may support the bullet."""
        return self.text_indexes is None or action.text_index in self.text_indexes

    def calls(self, kind: str) -> Iterator[Action]:
        """Yield the calls that may prove an action of this kind."""
        for action in self.actions:
            if not self.includes(action):
                continue
            if action.verb in _PROVING_VERBS[kind]:
                if action.verb == "Ran" or not action.is_failed:
                    yield action
            elif (
                action.verb == "Ran"
                and kind in _PROVING_COMMANDS
                and _PROVING_COMMANDS[kind].search(action.call)
            ):
                yield action

    def statements(self, kind: str, terms: Collection[str]) -> Iterator[Passage]:
        """Yield sentences in which somebody states that something with these terms was
        done."""
        texts = {
            action.text_index
            for action in self.actions
            if not action.is_call and self.includes(action)
        }
        for passage in self.passages.sentences_with(terms, texts):
            if _states(kind, self.passages.text_of(passage), terms):
                yield passage


def check_action_claims(
    text: str, source: PassageIndex, text_indexes: Collection[int] | None = None
) -> Verdict | None:
    """Return the verdict on a bullet that claims actions; None for any other.

    Args:
        text: The bullet.
        source: What it is checked against.
        text_indexes: The texts that may support it; None for any.
    """
    failed, done = _FAILURE_CLAIM.match(text), _ACTION_CLAIM.match(text)
    searched = partial(_Source, source, text_indexes=text_indexes)
    if _COMMIT_CLAIM.match(text):
        return _check_commits(text, searched())
    if failed:
        return _check_failure(text, failed["name"], failed["error"] or "", searched())
    if done and _is_action_claim(done):
        return _check_actions(text, searched())
    return None


def _is_action_claim(done: re.Match[str]) -> bool:
    """Return whether a match claims an action: some verbs do so only before a name."""
    kind, objects = done["verb"].lower(), done["objects"]
    if kind in _PROVING_VERBS:
        return True
    bare = objects.rstrip(".")
    return kind == "executed" or (" " not in bare and bool(matching.find_details(bare)))


def _check_actions(text: str, source: _Source) -> Verdict:
    found: list[Verdict] = []
    for part in filter(str.strip, text.split("; ")):
        done = _ACTION_CLAIM.match(part)
        if done is None:
            found.append(_match_wording(part, source))
            continue
        verb = done["verb"]
        kind = _KIND_OF_VERB.get(verb.lower(), verb.lower())
        proved, has_more_text = _check_objects(kind, verb, done["objects"], source)
        found += proved
        if has_more_text:
            found.append(_check_description(kind, verb, part, source))
    return matching.combine(found)


def _check_objects(
    kind: str, verb: str, objects: str, source: _Source
) -> tuple[list[Verdict], bool]:
    """Return a verdict for each object of an action, and whether there is more text."""
    found: list[Verdict] = []
    has_more_text = False
    for part in dict.fromkeys(objects.rstrip(".").split(", ")):
        part = part.removesuffix(_ELLIPSIS).strip()
        if not part:
            continue
        if proof := _find_proof(kind, part, source):
            found.append(proof)
            continue
        names = _named_objects(kind, part)
        first = _CONTINUATION.split(part)[0]
        has_more_text = has_more_text or names != [part] or first != part
        for name in [first] if names == [part] else names:
            proof = _find_proof(kind, name, source)
            found.append(proof or _only_named(verb, name, source))
    return found, has_more_text or not found


def _named_objects(kind: str, part: str) -> list[str]:
    """Return the files or the command that a part of an action line names."""
    bare = re.sub("^(?:and|und) ", "", part)
    if kind in _FILE_KINDS and " " in bare:
        return [
            one
            for one in _CONTINUATION.split(bare)
            if " " not in one.strip("`") and matching.find_details(one)
        ]
    return [] if " " in bare != part else [bare]


def _find_proof(kind: str, name: str, source: _Source) -> Verdict | None:
    """Return the call that did it, or else a statement that it was done."""
    terms = analyzer.query_terms(name)
    for action in source.calls(kind):
        if _is_named_by(action.call, name, terms, is_file=kind in _FILE_KINDS):
            return _supported_by_call(action, name)
    passage = next(source.statements(kind, terms), None)
    if passage is None:
        return None
    return _supported(name, source.passages.quote_of(passage))


def _is_named_by(call: str, name: str, terms: Sequence[str], *, is_file: bool) -> bool:
    """Return whether a call contains a name, or at least all of its words."""
    if name in call and re.search(rf"(?<![\w.\-]){re.escape(name)}(?![\w\-])", call):
        return True
    call_terms = set(analyzer.terms(call))
    last = analyzer.fold(name.strip("`").rpartition("/")[2])
    return call_terms.issuperset(terms) and (not is_file or last in call_terms)


def _supported_by_call(action: Action, name: str) -> Verdict:
    quoted = action.call[:PASSAGE_CHARS]
    quote = SourceQuote(action.text_index, 0, len(quoted), hash_quote(quoted))
    return _supported(name, quote)


def _supported(name: str, quote: SourceQuote) -> Verdict:
    terms = tuple(analyzer.query_terms(name))
    features = VerdictFeatures(1.0, len(terms), matching.find_details(name))
    return Verdict(Support.SUPPORTED, features, terms, (quote,))


def _match_wording(text: str, source: _Source) -> Verdict:
    return matching.match_passage(text, source.passages, source.text_indexes)


def _only_named(verb: str, text: str, source: _Source) -> Verdict:
    """Return the verdict on what is only named: weak at best, since its verb is
    missing."""
    return _without_verb(verb, _match_wording(text, source))


def _without_verb(verb: str, found: Verdict) -> Verdict:
    missing = (verb, *found.features.missing)
    features = replace(found.features, missing=missing)
    support = worst([found.support, Support.WEAK])
    return replace(found, support=support, features=features)


def _check_description(kind: str, verb: str, text: str, source: _Source) -> Verdict:
    """Return the verdict on an action in prose, if one of its kind occurs at all."""
    found = _match_wording(text, source)
    if any(source.calls(kind)):
        return found
    quoted = map(source.passages.quoted_text, found.quotes)
    if any(_STATEMENTS[kind].search(text) for text in quoted):
        return found
    return _without_verb(verb, found)


def _states(kind: str, text: str, terms: Collection[str]) -> bool:
    return any(
        _STATEMENTS[kind].search(clause)
        and not negation.has_negation(clause)
        and set(analyzer.terms(clause)).issuperset(terms)
        for clause in _CLAUSE_END.split(text)
    )


def _check_failure(text: str, name: str, error: str, source: _Source) -> Verdict | None:
    terms = analyzer.query_terms(name)
    runs = [
        action
        for action in source.actions
        if action.verb == "Ran"
        and _is_named_by(action.call, name, terms, is_file=False)
    ]
    if not runs:
        return _check_stated_failure(text, terms, source) if error else None
    failed = [action for action in runs if action.is_failed and source.includes(action)]
    if error:
        failed += [action for action in runs if _may_have_failed(action, error, source)]
    if not failed:
        return _only_named("failed", text, source)
    if not error:
        return _supported_by_call(failed[0], name)
    text_indexes = {action.text_index for action in failed}
    there = matching.match_passage(error, source.passages, text_indexes)
    found = {quote.index for quote in there.quotes}
    shown = next((action for action in failed if action.text_index in found), failed[0])
    proved = matching.combine([_supported_by_call(shown, name), there])
    otherwise = _check_stated_failure(text, terms, source)
    return proved if is_as_good(proved, otherwise) else otherwise


def _may_have_failed(action: Action, error: str, source: _Source) -> bool:
    """Return whether a run with unknown result ends in the claimed error."""
    if not action.may_have_failed or action.is_failed or not source.includes(action):
        return False
    return set(analyzer.terms(tool_actions.error_line(action.text))).issuperset(
        analyzer.query_terms(error)
    )


def _check_stated_failure(text: str, terms: Sequence[str], source: _Source) -> Verdict:
    """Return the verdict on a failure by statements about it."""
    found = _match_wording(text, source)
    if found.support is not Support.SUPPORTED:
        return found
    for quote in found.quotes:
        quoted = source.passages.quoted_text(quote)
        is_call = source.actions[quote.index].is_call
        is_statement = not is_call and _STATEMENTS["failed"].search(quoted)
        if is_statement and set(analyzer.terms(quoted)).issuperset(terms):
            return found
    return _without_verb("failed", found)


def _check_commits(text: str, source: _Source) -> Verdict:
    subjects = [
        one.removesuffix(_ELLIPSIS).strip() for one in _COMMIT_SUBJECT.findall(text)
    ]
    found = [_check_commit(one, source) for one in subjects if one]
    rest = _COMMIT_CLAIM.sub("", _COMMIT_SUBJECT.sub("", text)).strip(" ;,.…")
    if len(analyzer.query_terms(rest)) > 1:
        found.append(_match_wording(rest, source))
    return matching.combine(found) if found else _only_named("committed", text, source)


def _check_commit(subject: str, source: _Source) -> Verdict:
    terms = analyzer.query_terms(subject)
    for action in source.actions:
        if source.includes(action) and made_commit(action, subject):
            found = matching.match_passage(
                subject, source.passages, {action.text_index}
            )
            return _supported(subject, found.quotes[0]) if found.quotes else found
    passage = next(source.statements("committed", terms), None)
    if passage is None or _STATEMENTS["committed"].search(subject):
        return _only_named("committed", subject, source)
    return _supported(subject, source.passages.quote_of(passage))
