"""The notation the demo's conversations are written in, and how it is read.

A script is a text file of sessions. Lines before the first session are a comment::

    === day 12 09:14 larder claude-code
    you: what the person says, which may
    go on over several lines
    agent: what the assistant says
    Bash: pytest -q
    | what came back, every line behind a bar
    Edit failed: shop/cart.py
    | String to replace not found
    pause: 50

Days are workdays, counted from the first day of the three months. A word in front of
a colon is the person, the assistant, a pause in minutes, or one of ``TOOLS``. A date
is written relative to the session's own: ``{day-3}``, ``{month-1}``, ``{year}``.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, time, timedelta

TOOLS = {
    "Bash": "command",
    "Edit": "file_path",
    "Glob": "pattern",
    "Grep": "pattern",
    "Read": "file_path",
    "Write": "file_path",
    "shell": "command",
    "apply_patch": "path",
}
"""The tools that occur, and what each calls the argument behind the colon."""

_SESSION = re.compile(r"=== day (\d+) (\d\d):(\d\d) (\S+) (\S+)")
_TURN = re.compile(rf"(you|agent|pause|{'|'.join(TOOLS)})( failed)?: (.*)")
_DATE = re.compile(r"\{(day|month|year)(?:-(\d+))?\}")


@dataclass(slots=True)
class Turn:
    """One thing said or done."""

    who: str
    """``you``, ``agent``, ``pause`` or the name of a tool."""
    text: str
    """What was said, what the tool was called with, or the minutes of a pause."""
    response: list[str] = field(default_factory=list)
    is_error: bool = False

    @property
    def is_tool(self) -> bool:
        """Whether this is a call of a tool."""
        return self.who in TOOLS


@dataclass(slots=True)
class Script:
    """One session as it is written, not yet placed in the calendar."""

    workday: int
    starts: time
    project: str
    agent: str
    turns: list[Turn] = field(default_factory=list)


def read(text: str) -> Iterator[Script]:
    """Read the sessions of a script, in the order they are written.

    Raises:
        ValueError: A line is not in the notation; the message names its number.
    """
    script: Script | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if opening := _SESSION.fullmatch(line):
            if script:
                yield _trimmed(script)
            day, hour, minute, project, agent = opening.groups()
            script = Script(int(day), time(int(hour), int(minute)), project, agent)
        elif line.startswith("==="):
            raise ValueError(f"line {number} does not open a session: {line}")
        elif script:
            _add(script.turns, line, number)
    if script:
        yield _trimmed(script)


def _trimmed(script: Script) -> Script:
    """Without the blank lines that only part one turn or session from the next."""
    for turn in script.turns:
        turn.text = turn.text.strip()
    return script


def dated(text: str, day: date) -> str:
    """Put dates in the place of ``{day-3}`` and its like.

    Args:
        text: What was said on that day.
        day: The day it was said.
    """
    return _DATE.sub(lambda found: _date(found[1], int(found[2] or 0), day), text)


def _date(unit: str, back: int, day: date) -> str:
    if unit == "day":
        return (day - timedelta(days=back)).isoformat()
    if unit == "year":
        return str(day.year - back)
    months = day.year * 12 + day.month - 1 - back
    return f"{months // 12}-{months % 12 + 1:02}"


def _add(turns: list[Turn], line: str, number: int) -> None:
    if turn := _TURN.fullmatch(line):
        who, failed, text = turn.groups()
        turns.append(Turn(who, text, is_error=bool(failed)))
    elif line.startswith("|"):
        if not turns or not turns[-1].is_tool:
            raise ValueError(f"line {number} answers no tool: {line}")
        turns[-1].response.append(line[1:].removeprefix(" "))
    elif turns and not turns[-1].is_tool:
        turns[-1].text += f"\n{line}"
    elif line.strip():
        raise ValueError(f"line {number} belongs to nobody: {line}")
