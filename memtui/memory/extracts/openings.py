"""Openings: the line that stands for a session to which its agent gave no title.

It is what a person asked for. What only leads in ("Implement the following plan:"), a
greeting or a bare prod ("continue") says nothing of it; what follows them does.
"""

import re

from memtui.memory.extracts import cues, prose, titles

READ_CHARS = 4_000
"""How much of what was said is read."""

LINE_CHARS = 200
"""How long the line is at most where it is shown as it was said."""

_MARK = re.compile(r"\[(?:image|file|document)\b[^\]\n]*\]", re.IGNORECASE)
_COMMAND = re.compile(r"/[\w:.-]+")


def of(text: str) -> str:
    """The line that stands for what was said; "" where there is none.

    Args:
        text: What a person said.
    """
    read = _MARK.sub(" ", text[:READ_CHARS])
    sentences = prose.sentences(read)
    request = titles.of_request(sentences)
    is_good = request is not None and request.worth >= titles.LIKELY
    if request is not None and is_good and not request.title.endswith("…"):
        return request.title
    return "" if prose.is_carried_over(read) else _first(read)


def tells(line: str) -> bool:
    """Whether such a line says what a session was about."""
    if _COMMAND.fullmatch(line):
        return False
    told = titles.telling(line)
    return told > (1 if cues.pleases(line) else 0)


def _first(text: str) -> str:
    """The first line that does not only lead in, as it was said."""
    lines = [prose.plain(line.lstrip("# ")) for line in text.split("\n")]
    found = [line for line in lines if line]
    led_to = [line for line in found if not line.endswith((":", "："))]
    line = next(iter(led_to or found), "")
    return prose.shorten(line.rstrip(" :："), LINE_CHARS)
