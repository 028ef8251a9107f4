"""The hooks in an agent's settings: which are ours, put in, taken out.

Settings keep hooks under ``hooks``, by event. An event has a list of handlers, or of
groups that have a list of handlers each. Of a list that others wrote in only our own
handlers go; what became empty by that goes with them, and nothing else.
"""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from memtui.agents import json_text
from memtui.agents.json_text import NotJson, Part

HOOKS = "hooks"

_COMMANDS = ("memtui-hook", "memtui-hook.sh")
_FIELDS = ("command", "bash", "exec")
"""Where a handler says what to run."""
_VALUED = ("-W", "-X")
"""Python's options that the next word belongs to."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One handler of one event."""

    event: str
    handler: dict[str, object]
    is_grouped: bool
    """Whether the handler stands in a group, or in the event's own list."""

    @property
    def words(self) -> tuple[str, ...]:
        """What is run: a program and its arguments."""
        given = self.handler.get("args")
        if isinstance(given, list):
            return (_line(self.handler), *map(str, given))
        return ("/bin/sh", "-c", _line(self.handler))


def ours(text: str) -> list[Entry]:
    """The handlers of ours that a settings text holds.

    Raises:
        NotJson: It holds hooks twice.
    """
    return (
        []
        if not text
        else [
            Entry(event.key, inner.value, is_grouped=True)
            for event, element in _elements(text)
            for inner in _handlers(text, element)
            if isinstance(inner.value, dict) and is_ours(inner.value)
        ]
        + [
            Entry(event.key, element.value, is_grouped=False)
            for event, element in _elements(text)
            if isinstance(element.value, dict) and is_ours(element.value)
        ]
    )


def is_ours(handler: dict[str, object]) -> bool:
    """Whether a handler runs our hook and nothing else."""
    given = handler.get("args")
    words = _split(_line(handler))
    if isinstance(given, list):
        words = [_line(handler), *map(str, given)]
    if not words:
        return False
    program, rest = PurePath(words[0]).name, words[1:]
    if program in _COMMANDS:
        return True
    return program.startswith("python") and _is_hook(rest)


def _is_hook(words: Sequence[str]) -> bool:
    """Whether these arguments have Python run our hook, as a module or a script."""
    left = iter(words)
    for word in left:
        if not word.startswith("-"):
            return PurePath(word).parts[-2:] == ("memtui", "hook.py")
        if word.endswith("m"):
            return next(left, "") == "memtui.hook"
        if word.endswith("c"):
            return False
        if word in _VALUED:
            next(left, None)
    return False


def added(text: str, wanted: Sequence[Entry]) -> str:
    """The text with these handlers behind those that are there.

    Raises:
        NotJson: The settings have something else where hooks belong.
    """
    for entry in wanted:
        text = _with_list(text, entry.event)
        group = {HOOKS: [entry.handler]} if entry.is_grouped else entry.handler
        found = json_text.find(text, HOOKS, entry.event)
        assert found is not None
        text = json_text.append(text, found.at, group)
    return text


def removed(text: str) -> str:
    """The text without our handlers, and without what held nothing else."""
    while text and (shorter := _without_one(text)) is not None:
        text = shorter
    return text


def _with_list(text: str, event: str) -> str:
    held = json_text.find(text, HOOKS)
    if held is None:
        text = json_text.append(text, json_text.root(text), {}, HOOKS)
        held = json_text.find(text, HOOKS)
    assert held is not None
    if not isinstance(held.value, dict):
        raise NotJson(f"{_line_of(text, held)}: {HOOKS} is not an object")
    listed = json_text.find(text, HOOKS, event)
    if listed is None:
        return json_text.append(text, held.at, [], event)
    if not isinstance(listed.value, list):
        raise NotJson(f"{_line_of(text, listed)}: {HOOKS}.{event} is not a list")
    return text


def _without_one(text: str) -> str | None:
    """The text without the first handler of ours; None if there is none."""
    for event, element in _elements(text):
        for index, inner in enumerate(_handlers(text, element)):
            if isinstance(inner.value, dict) and is_ours(inner.value):
                return _cut_inner(text, event, element, index)
        if isinstance(element.value, dict) and is_ours(element.value):
            return _cut_element(text, event, element)
    return None


def _cut_inner(text: str, event: Part, element: Part, index: int) -> str:
    inner = next(p for p in json_text.parts(text, element.at) if p.key == HOOKS)
    assert isinstance(inner.value, list)
    if len(inner.value) == 1:
        return _cut_element(text, event, element)
    return json_text.cut(text, inner.at, index)


def _cut_element(text: str, event: Part, element: Part) -> str:
    held = json_text.parts(text, event.at)
    if len(held) > 1:
        return json_text.cut(text, event.at, _index(held, element))
    hooks = json_text.find(text, HOOKS)
    assert hooks is not None
    events = json_text.parts(text, hooks.at)
    if len(events) > 1:
        return json_text.cut(text, hooks.at, _index(events, event))
    root = json_text.root(text)
    return json_text.cut(text, root, _index(json_text.parts(text, root), hooks))


def _index(held: Sequence[Part], part: Part) -> int:
    return [one.start for one in held].index(part.start)


def _elements(text: str) -> Iterator[tuple[Part, Part]]:
    """Every event's list, with each of its elements."""
    hooks = json_text.find(text, HOOKS)
    if hooks is None or not isinstance(hooks.value, dict):
        return
    for event in json_text.parts(text, hooks.at):
        if isinstance(event.value, list):
            for element in json_text.parts(text, event.at):
                yield event, element


def _handlers(text: str, element: Part) -> list[Part]:
    """The handlers of a group; none of what is no group."""
    if not isinstance(element.value, dict):
        return []
    inner = [p for p in json_text.parts(text, element.at) if p.key == HOOKS]
    if len(inner) != 1 or not isinstance(inner[0].value, list):
        return []
    return json_text.parts(text, inner[0].at)


def _line(handler: dict[str, object]) -> str:
    said = next((handler[name] for name in _FIELDS if handler.get(name)), "")
    return said if isinstance(said, str) else ""


def _split(line: str) -> list[str]:
    """A shell's line as words; none if it does more than run one program."""
    try:
        reader = shlex.shlex(line, posix=True, punctuation_chars=True)
        reader.whitespace_split = True
        words = list(reader)
    except ValueError:
        return []
    return [] if any(set(word) <= set("();<>|&") for word in words if word) else words


def _line_of(text: str, part: Part) -> str:
    return f"line {text.count(chr(10), 0, part.start) + 1}"
