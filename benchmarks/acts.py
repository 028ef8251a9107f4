"""Bullets that tell a deed which a segment's calls did, or did not do.

They are made of the calls themselves, by their tools' names and the file or command
they were given, with no help of the rule that is measured.
"""

import random
import re
from collections.abc import Iterator, Sequence

from memtui.model.events import Event, EventType
from memtui.text.prose import message_sentences

EACH = 4
"""How many bullets of one kind a segment gives at most."""

_TOOLS = {
    "edited": ("Edit", "MultiEdit", "edit"),
    "wrote": ("Write", "create"),
    "read": ("Read", "view"),
    "ran": ("Bash", "bash", "exec_command"),
}
_PLAIN = re.compile(
    r"(?:npm|bun|pnpm|npx|go|make|cargo|pytest|bunx)(?: [\w:./-]+){1,4}"
)
_MENTIONED = re.compile(r"`((?:npm|bun|make|go|npx|bunx|pytest)(?: [\w:./-]+){1,4})`")


def made(events: Sequence[Event], chance: random.Random) -> Iterator[tuple[str, str]]:
    """The bullets of one segment, each with its class."""
    done = _done(events)
    changed = done["edited"] | done["wrote"]
    said = _said(events)
    yield from _all("true deed", "Edited {}", done["edited"] - done["wrote"], chance)
    yield from _all("true deed", "Wrote {}", done["wrote"] - done["edited"], chance)
    yield from _all("true deed", "Ran {}", done["ran"], chance)
    only_read = done["read"] - changed
    for form in ("Edited {}", "Wrote {}", "The assistant deleted {}"):
        yield from _all("false deed: changed what was read", form, only_read, chance)
    told = " ".join(event.text for event in events if event.is_message)
    tools = " ".join(event.text for event in events if not event.is_message)
    mentioned = {one for one in _MENTIONED.findall(told) if one not in tools}
    yield from _all("false deed: ran what was named", "Ran {}", mentioned, chance)
    for command in _some(done["passed"] - done["failed"], chance):
        about = f": {chance.choice(said)}" if said and chance.random() < 0.5 else ""
        yield "false deed: what passed failed", f"{command} failed{about}"
    for sentence in _some(set(said), chance):
        yield "false deed: committed what was said", f"Committed “{sentence}”"


def _all(
    kind: str, form: str, things: set[str], chance: random.Random
) -> Iterator[tuple[str, str]]:
    for thing in _some(things, chance):
        yield kind, form.format(thing)


def _some(things: set[str], chance: random.Random) -> list[str]:
    return chance.sample(sorted(things), min(EACH, len(things)))


def _done(events: Sequence[Event]) -> dict[str, set[str]]:
    """The files and commands by what was done with them."""
    found: dict[str, set[str]] = {one: set() for one in (*_TOOLS, "passed", "failed")}
    for event in events:
        if event.event_type is not EventType.TOOL_RESULT:
            continue
        first = event.text.partition("\n")[0].partition(": ")[2].strip()
        is_error = event.metadata.get("is_error") == "true"
        for verb, tools in _TOOLS.items():
            if event.metadata.get("tool_name") not in tools:
                continue
            if verb != "ran":
                found[verb].update({first.rpartition("/")[2]} - {""})
            elif _PLAIN.fullmatch(first):
                found["ran"].add(first)
                found["failed" if is_error or _fails(event) else "passed"].add(first)
    return found


def _fails(event: Event) -> bool:
    return re.search(r"(?i)error|fail|exited with code [1-9]", event.text) is not None


def _said(events: Sequence[Event]) -> list[str]:
    """Short sentences of the assistant's that no tool was given."""
    tools = " ".join(event.text for event in events if not event.is_message)
    return [
        part.text
        for event in events
        if event.is_message and event.role.value == "assistant"
        for part in message_sentences(event.text)
        if 20 < len(part.text) < 120 and part.text not in tools
    ]
