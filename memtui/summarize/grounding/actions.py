"""Check bullets that claim actions against the tool calls of their source.

That a file was edited, a command was run, failed, or a commit was made must be shown by
a call, or stated by somebody in such words. That its name occurs is not enough.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from memtui.model.events import Event, EventRole, EventType
from memtui.model.sessions import counted_text
from memtui.model.verdicts import (
    SourceQuote,
    Support,
    Verdict,
    VerdictFeatures,
    hash_quote,
    is_as_good,
    worst,
)
from memtui.summarize import tool_actions
from memtui.summarize.grounding import details, matching, negation
from memtui.summarize.grounding.passages import PASSAGE_CHARS, Passage, PassageIndex
from memtui.text import analyzer
from memtui.text.stopwords import STOP_WORDS

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
    """The index of its text in the source."""
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


class EventPassages(PassageIndex):
    """A passage index over events, whose calls are known."""

    def __init__(self, events: Sequence[Event]) -> None:
        super().__init__([counted_text(event) for event in events])
        self.events = events

    def role_of(self, text_index: int) -> EventRole | None:
        return self.events[text_index].role

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
    verb = tool_actions.tool_verb(name.strip()) if colon else ""
    error = tool_actions.error_line(text) if verb == "Ran" else ""
    bare = _NO_ERRORS.sub("", error)
    is_failed = tool_actions.mentions_error(bare)
    is_unknown = bool(error) and bare == error and not _SUCCESS.search(text)
    return Action(at, verb, call, text, bool(verb), is_failed, is_unknown)


def _action_of_event(at: int, event: Event) -> Action:
    text = counted_text(event)
    call = text.partition("\n")[0]
    is_call = event.event_type is EventType.TOOL_RESULT
    name = event.metadata.get("tool_name") or call.partition(":")[0].strip()
    verb = tool_actions.tool_verb(name) if is_call else ""
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
    "edited": {"Edited", "Wrote"},
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

_COMMAND_WORDS = ("go", "just", "do", "yes")
"""Stop words that are commands, too."""

_FILE_KINDS = ("edited", "wrote", "read", "deleted")


@dataclass(frozen=True, slots=True)
class _Source:
    """The source, or some of its texts."""

    passages: PassageIndex
    text_indexes: Collection[int] | None

    @property
    def actions(self) -> Sequence[Action]:
        """Return the actions of all texts."""
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
    if failed and not _is_prose(failed["name"]):
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
    return kind == "executed" or (" " not in bare and bool(details.find_details(bare)))


def _is_prose(name: str) -> bool:
    first = analyzer.fold(name.split(" ", 1)[0])
    return first in STOP_WORDS and first not in _COMMAND_WORDS


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
            if " " not in one.strip("`") and details.find_details(one)
        ]
    return [] if _is_prose(bare) or " " in bare != part else [bare]


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
    features = VerdictFeatures(1.0, len(terms), details.find_details(name))
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
