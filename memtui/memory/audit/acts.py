"""Acts: what each event of a source did, as far as its call tells.

A bullet that says a file was edited or a command run is held against these: that the
name stands somewhere is no deed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from memtui.memory import deeds, words
from memtui.memory.events import Event, EventType
from memtui.memory.passages import Passages
from memtui.memory.segments import counted_text

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
class Act:
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


class Record(Passages):
    """The texts of events, which know what they did."""

    def __init__(self, events: Sequence[Event]) -> None:
        super().__init__([counted_text(event) for event in events])
        self.events = events


@lru_cache(maxsize=2)
def of(source: Passages) -> Sequence[Act]:
    """The acts of a source, remembered for the next bullet.

    Of a ``Record`` its events tell; of any other texts their heads ("Edit: notes.ts")
    and, of a failure, their wording.
    """
    if isinstance(source, Record):
        return [_of_event(at, event) for at, event in enumerate(source.events)]
    return [_of_text(at, text) for at, text in enumerate(source.texts)]


def commits(act: Act, subject: str) -> bool:
    """Whether an act made a commit of a subject, which may be cut."""
    if not act.is_call or "commit" not in act.text:
        return False
    if act.event is not None:
        made = deeds.subjects(act.event)
    else:
        made = deeds.subjects_in(act.text, act.call, is_error=False)
        if not made and deeds.is_commit_call(act.text) and subject in act.call:
            return True
    wanted = words.needed(subject)
    return any(set(words.terms(one)).issuperset(wanted) for one in made)


def _of_text(at: int, text: str) -> Act:
    call = text.partition("\n")[0]
    name, colon, _ = call.partition(":")
    verb = deeds.verb(name.strip()) if colon else ""
    wrong = deeds.wrong(text) if verb == "Ran" else ""
    bare = _CLEAN.sub("", wrong)
    is_failed = deeds.is_wrong(bare)
    is_unsure = bool(wrong) and bare == wrong and not _WENT_WELL.search(text)
    return Act(at, verb, call, text, bool(verb), is_failed, is_unsure)


def _of_event(at: int, event: Event) -> Act:
    text = counted_text(event)
    call = text.partition("\n")[0]
    is_call = event.event_type is EventType.TOOL_RESULT
    name = event.metadata.get("tool_name") or call.partition(":")[0].strip()
    verb = deeds.verb(name) if is_call else ""
    is_failed = is_call and event.metadata.get("is_error") == "true"
    if verb == "Ran" and _HIDES.search(call):
        is_failed = is_failed or deeds.is_wrong(_CLEAN.sub("", deeds.wrong(text)))
    return Act(at, verb, call, text, is_call, is_failed, event=event)
