"""What a turn says as it is shown: code in colours, edits as their changes.

Text from outside is ``Content`` throughout; nothing in it is markup.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

from textual.content import Content, Span
from textual.highlight import highlight

from memtui.model.events import Event
from memtui.tui import format

FENCE = re.compile(r" {0,3}(```+|~~~+)\s*([\w+#.-]*)")
"""A line that begins or ends a stretch of code."""


HEADING = re.compile(r"#{1,6} \S")


INLINE = re.compile(r"`[^`\n]+`")


BOLD = re.compile(r"\*\*(?=\S)[^*\n]+(?<=\S)\*\*")


COLOURED = 20_000
"""The longest stretch of code that is coloured, in characters."""


TAB = 4
"""How far apart the stops of tabs are, in cells."""


PATCH = "*** Begin Patch"
"""What a patch begins with."""


Edit = tuple[list[str], list[str]]
"""The lines an edit took out, and those it put in."""


CODE = "$accent"


INKS = {"+ ": "$success", "− ": "$error", "  ": "$context"}
"""The colours of the lines of an edit, by their signs."""


COMPARED = 250_000
"""Lines are told apart up to so many pairs of old ones and new ones."""


def prose(text: str) -> Content:
    """A message: its code in colours, its headings and what it stresses bold.

    Not a character is taken away, but that tabs become spaces.
    """
    return Content("\n").join(_parts(text.expandtabs(TAB)))


def _parts(text: str) -> Iterator[Content]:
    code: list[str] = []
    fence = language = ""
    for line in text.split("\n"):
        found = FENCE.match(line)
        if not fence and found:
            fence, language = found[1], found[2]
            yield Content.styled(line, "$context")
        elif fence and found and found[1].startswith(fence) and not found[2]:
            yield from _code(code, language)
            yield Content.styled(line, "$context")
            fence, code = "", []
        elif fence:
            code.append(line)
        else:
            yield _line(line)
    yield from _code(code, language)


def _line(line: str) -> Content:
    content = Content(line)
    if heading := HEADING.match(line):
        return content.stylize("bold").stylize("$context", 0, heading.end() - 1)
    code = [found.span() for found in INLINE.finditer(line)]
    for found in BOLD.finditer(line):
        start, end = found.span()
        if any(first < sign < last for first, last in code for sign in (start, end)):
            continue  # Two arguments of code: `**one` and `**other`.
        # What makes it bold is part of what was said, and stays: dim.
        content = content.stylize("bold", start, end)
        for sign in (start, end - 2):
            content = content.stylize("not bold $context", sign, sign + 2)
    for first, last in code:
        content = content.stylize(CODE, first, last)
    return content


def _code(lines: list[str], language: str) -> Iterator[Content]:
    if lines:
        text = "\n".join(lines)
        is_known = language and len(text) <= COLOURED
        yield _coloured(text, language.lower()) if is_known else Content(text)


@lru_cache(maxsize=256)
def _coloured(code: str, language: str) -> Content:
    # A carriage return or form feed would be taken for the end of a line.
    if code.splitlines() != code.split("\n"):
        return Content(code)
    return highlight(code, language=language)


def call(event: Event) -> str:
    """A tool call, or a note of the agent's own, in its first line."""
    return format.said(event).partition("\n")[0].expandtabs(TAB).strip()


def answer(event: Event) -> str:
    """All that comes after the first line."""
    return format.said(event).partition("\n")[2].expandtabs(TAB).strip("\n")


def edits(event: Event) -> list[Edit]:
    """What an edit took out and put in, as far as its call tells: lines for lines."""
    given = event.metadata.get("tool_input", "")
    if not any(sign in given for sign in ('"old_string"', PATCH, '"content"')):
        return []
    try:
        told = json.loads(given)
    except (ValueError, RecursionError):
        return []
    if PATCH in given:
        return _patched(told)
    if not isinstance(told, dict):
        return []
    if event.metadata.get("tool_name") == "Write":
        told = {"old_string": "", "new_string": told.get("content")}
    several = told.get("edits")
    found = [_edit(one) for one in several] if isinstance(several, list) else []
    return [one for one in (*found, _edit(told)) if one is not None]


def _edit(told: Any) -> Edit | None:
    if not isinstance(told, dict):
        return None
    old, new = told.get("old_string"), told.get("new_string")
    if not isinstance(old, str) or not isinstance(new, str):
        return None
    return old.split("\n") if old else [], new.split("\n") if new else []


def _patched(told: Any) -> list[Edit]:
    """The lines of a patch, wherever in the call it stands."""
    found = [told] if isinstance(told, str) else []
    if isinstance(told, dict):
        for value in told.values():
            found += value if isinstance(value, list) else [value]
    texts = [one for one in found if isinstance(one, str) and PATCH in one]
    lines = [line for text in texts for line in text.split("\n")]
    old = [line[1:] for line in lines if line.startswith("-")]
    new = [line[1:] for line in lines if line.startswith("+")]
    return [(old, new)] if old or new else []


def change(event: Event) -> str:
    """How many lines an edit put in and took out: "+18 −3"; "" for what is none."""
    signs = Counter(sign for edit in edits(event) for sign, _ in _compared(*edit))
    added, taken = signs["+ "], signs["− "]
    return f"+{added} −{taken}" if added or taken else ""


def _compared(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The lines of both, each with its sign; very many are not told apart."""
    if len(old) * len(new) > COMPARED:
        yield from (("− ", line) for line in old)
        yield from (("+ ", line) for line in new)
        return
    same = SequenceMatcher(None, old, new, autojunk=False)
    for _, start, end, first, last in same.get_opcodes():
        if old[start:end] == new[first:last]:
            yield from (("  ", line) for line in old[start:end])
            continue
        yield from (("− ", line) for line in old[start:end])
        yield from (("+ ", line) for line in new[first:last])


def changed(event: Event) -> Content | None:
    """The lines of an edit, with the signs of what it took out and put in, or None."""
    lines = [
        Content.styled(f"{sign}{line.expandtabs(TAB)}", INKS[sign])
        for edit in edits(event)
        for sign, line in _compared(*edit)
    ]
    return Content("\n").join(lines) if lines else None


def marked(content: Content, words: str, style: str) -> Content:
    """The same with every occurrence of some words marked, in any case."""
    if not words:
        return content
    found = re.finditer(re.escape(words), content.plain, re.IGNORECASE)
    return content.add_spans([Span(*one.span(), style) for one in found])
