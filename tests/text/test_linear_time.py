"""Functions on text take linear time: twice the text takes about twice the time.

All public functions of these packages are tried that need a text and otherwise only
plain values, and those listed here. A regular expression that takes quadratic time
takes sixteen times as long for four times the text.
"""

import gc
import importlib
import inspect
import json
import pkgutil
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import memtui.capture.formats
import memtui.model
import memtui.redaction
import memtui.search
import memtui.summarize
import memtui.text
from memtui.capture.formats import aider, claude_code, hooks
from memtui.errors import MemtuiError
from memtui.model import events
from memtui.model.events import Event, EventRole, EventType
from memtui.services import export
from memtui.summarize import card, keywords
from memtui.summarize.facts import read_facts
from memtui.tools import formatting
from memtui.tui import format
from memtui.tui.widgets import turn_rendering

AT = datetime(2026, 3, 14, tzinfo=UTC)
PACKAGES = (
    memtui.capture.formats,
    memtui.model,
    memtui.redaction,
    memtui.search,
    memtui.summarize,
    memtui.text,
)
MODULES = (export, format, formatting, turn_rendering)

CHARS = 6_000
GROWTH = 4
MAX_RATIO, TOLERANCE_S = 8.0, 0.02
"""Between the ratios of linear and of quadratic time, for any processor."""

TRIES = 5

REPEATED = [
    *"aA1_-([{<\"'`→*#|=:;,.!?@&~/\\%$中éا\u0301\u202e \t\n",
    *("a ", "aA ", "a. ", "1, ", "1. ", "*a ", "_a ", "# ", "&& ", "; "),
    *("a\n", "> \n", "- \n", "# \n", "```\n", "~~~\n", "|a|\n", "1.\n"),
    *("aA", "a.", "a/", "../", "a-", "a=", "a@", "a:b@", "1:", "0x", "2024-01-"),
    *("**a", "`a`", "[a](", "![", "</a", "<a b=", "&amp;", "[file: ", "$(", '\\"'),
    *("\x1b[", "\x1b]8;;", "https://a", "password=", "Bearer ", "eyJ.", "ghp_"),
    *("monday ", "👩\u200d", "ａ", "a'b"),
]
HOSTILE = [
    # A beginning, and what is repeated after it.
    *(("", chars) for chars in REPEATED),
    ("```\n", "a"),
    ("<system-reminder>", "a "),
    ("-----BEGIN PRIVATE KEY-----\n", "a"),
    ("password: ", "a1"),
    ("a = ", " "),
    ("1 passed", " "),
    ("1 tests, ", "1"),
    ('git commit -m "', "a "),
    ("cd a && ", "a; "),
    ('{"a": "', '\\"'),
    ("https://", "a."),
    ("a\n", " "),
]


def make_event(text: str, role: EventRole, **metadata: str) -> Event:
    types = {
        EventRole.USER: EventType.USER_MESSAGE,
        EventRole.ASSISTANT: EventType.ASSISTANT_MESSAGE,
        EventRole.TOOL: EventType.TOOL_RESULT,
    }
    return events.make(
        agent="claude-code",
        session_id="s1",
        timestamp=AT,
        event_type=types[role],
        text=text or "-",
        source_key="1",
        role=role,
        metadata=metadata,
    )


def make_call(command: str, output: str) -> Event:
    return make_event(
        f"Bash: {command}\n{output}",
        EventRole.TOOL,
        tool_name="Bash",
        tool_input=json.dumps({"command": command}),
    )


def read_talk(text: str) -> object:
    """Read what a session says and what came of it."""
    talk = [
        make_event(text, EventRole.USER),
        make_event(text, EventRole.ASSISTANT),
        make_call("make test", text),
    ]
    keywords.segment_keywords(talk)
    return card.describe_session(read_facts(talk))


def read_command(text: str) -> object:
    return read_facts([make_call(text, "ok")])


def read_hook(text: str) -> object:
    payload = {"session_id": "s1", "hook_event_name": "UserPromptSubmit"}
    raw = json.dumps(payload | {"prompt": text}).encode()
    return list(hooks.read(raw, received_at=AT, now=AT))


def read_damaged_hook(text: str) -> object:
    return list(hooks.read(text.encode("utf-8", "replace"), received_at=AT, now=AT))


def read_aider(text: str) -> object:
    with tempfile.NamedTemporaryFile("w", errors="replace") as file:
        file.write(f"# aider chat started at 2026-03-13 10:00:00\n\n{text}")
        file.flush()
        return list(aider.FORMAT.read(Path(file.name), None, agent="", now=AT))


def read_prompt_line(text: str) -> object:
    """Read a damaged line, and a prompt with the text."""
    content = {"role": "user", "content": text}
    fields = {"type": "user", "uuid": "1", "sessionId": "s1", "message": content}
    line = json.dumps(fields | {"timestamp": "2026-03-13T10:00:00Z"})
    with tempfile.NamedTemporaryFile("w", errors="replace") as file:
        file.write(f"{text}\n{line}\n")
        file.flush()
        return list(claude_code.FORMAT.read(Path(file.name), None, agent="", now=AT))


def fingerprint(text: str) -> object:
    return events.fingerprint(make_event(text, EventRole.USER))


EXAMPLES: dict[object, object] = {
    str: "a",
    int: 80,
    float: 1.0,
    bool: False,
    datetime: AT,
    tzinfo: UTC,
}
"""The values of further parameters, by their types."""

EXCLUDED = {
    "memtui.search.node_index.neighbours",  # It is asked about short words only.
    "memtui.search.query.find_session",  # It reads the store.
}

Function = Callable[[str], object]


def find_functions() -> Iterator[tuple[str, Function]]:
    """Yield the public functions that need a text first, with their names."""
    for package in PACKAGES:
        for module_info in pkgutil.walk_packages(
            package.__path__, f"{package.__name__}."
        ):
            yield from functions_of(importlib.import_module(module_info.name))
        yield from functions_of(package)
    for module in MODULES:
        yield from functions_of(module)
    yield from (
        (function.__name__, function)
        for function in (
            *(read_talk, read_command, read_hook, read_damaged_hook),
            *(read_aider, read_prompt_line, fingerprint),
        )
    )


def functions_of(module: ModuleType) -> Iterator[tuple[str, Function]]:
    for name, member in vars(module).items():
        function = inspect.unwrap(member) if callable(member) else None
        if not inspect.isfunction(function) or name.startswith("_"):
            continue
        if function.__module__ != module.__name__:
            continue
        parameters = list(inspect.signature(function).parameters.values())
        required = [
            parameter
            for parameter in parameters[1:]
            if parameter.default is parameter.empty
            and parameter.kind is not parameter.VAR_KEYWORD
            and parameter.kind is not parameter.VAR_POSITIONAL
        ]
        types = [parameter.annotation for parameter in (*parameters[:1], *required)]
        if types[:1] == [str] and EXAMPLES.keys() >= set(types):
            values = {p.name: EXAMPLES[p.annotation] for p in required}
            call = call_with(function, parameters[0].name, values)
            yield f"{module.__name__}.{name}", call


def call_with(function: Any, first: str, values: dict[str, object]) -> Function:
    def call(text: str) -> object:
        arguments = {first: text} | values
        positional = [
            arguments.pop(parameter.name)
            for parameter in inspect.signature(function).parameters.values()
            if parameter.kind is not parameter.KEYWORD_ONLY
            and parameter.name in arguments
        ]
        result = function(*positional, **arguments)
        return list(result) if isinstance(result, Iterator) else result

    return call


FUNCTIONS = {
    name: function for name, function in find_functions() if name not in EXCLUDED
}


def measure_s(function: Function, text: str) -> float:
    begun_s = time.thread_time()
    # The text need not be valid.
    with suppress(ValueError, LookupError, RecursionError, MemtuiError):
        function(text)
    return time.thread_time() - begun_s


@pytest.mark.full
@pytest.mark.parametrize("name", FUNCTIONS)
def test_time_grows_as_the_text(name: str) -> None:
    gc.disable()
    try:
        slow = [
            (beginning, chars)
            for beginning, chars in HOSTILE
            if not is_linear(FUNCTIONS[name], beginning, chars)
        ]
    finally:
        gc.enable()
    assert slow == []


def is_linear(function: Function, beginning: str, chars: str) -> bool:
    """Return whether a function takes linear time in one of some tries."""
    for number in range(TRIES):
        # Caches do not know this text yet.
        text = f"{beginning}{chars * (CHARS // len(chars))}"
        long_text = f"{beginning}{chars * (CHARS * GROWTH // len(chars))}"
        limit_s = MAX_RATIO * measure_s(function, f"{text} {number}") + TOLERANCE_S
        if measure_s(function, f"{long_text} {number}") <= limit_s:
            return True
    return False


def test_quadratic_time_is_noticed() -> None:
    def search_from_each_place(text: str) -> object:
        return re.findall("a*b", text)

    assert not is_linear(search_from_each_place, "", "a")
    assert is_linear(sorted, "", "a")
    assert len(FUNCTIONS) > 100
