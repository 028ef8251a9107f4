"""Three made-up months of one developer's work, to look around in.

Robin works on the backend of a grocery shop (``larder``), on a pipeline of tide gauge
readings (``tidewater``) and in the evenings on a log tool (``windrow``). The
conversations lie beside this file, one script a project, in the notation that
``scripts`` describes. They are placed so that the last one was held yesterday.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, uuid5
from zlib import crc32

from memtui.demo import model
from memtui.model.events import EventType
from memtui.model.tool_calls import CallEnd

if TYPE_CHECKING:
    from memtui.workspace import Workspace

TOOLS = {
    "AskUserQuestion": "question",
    "Bash": "command",
    "Edit": "file_path",
    "Glob": "pattern",
    "Grep": "pattern",
    "Read": "file_path",
    "TaskCreate": "subject",
    "Write": "file_path",
    "shell": "command",
    "apply_patch": "path",
}
"""The tools that occur, and what each calls the argument behind the colon."""

_SESSION = re.compile(r"=== day (\d+) (\d\d):(\d\d) (\S+) (\S+)")
_TURN = re.compile(rf"(you|agent|pause|{'|'.join(TOOLS)})( failed)?: (.*)")
_DATE = re.compile(r"\{(day|month|year)(?:-(\d+))?\}")


@dataclass(slots=True)
class DemoTurn:
    """One thing said or done."""

    who: str
    """``you``, ``agent``, ``pause`` or the name of a tool."""
    text: str
    """The message, the input of the tool, or the minutes of a pause."""
    response: list[str] = field(default_factory=list)
    is_error: bool = False


@dataclass(slots=True)
class Script:
    """One session as it is written, not yet placed in the calendar."""

    workday: int
    starts: time
    project: str
    agent: str
    turns: list[DemoTurn] = field(default_factory=list)


def read(text: str) -> list[Script]:
    """Read the sessions of a script, in the order they are written.

    Raises:
        ValueError: A line is not in the notation; the message names its number.
    """
    scripts: list[Script] = []
    for number, line in enumerate(text.splitlines(), start=1):
        last = scripts[-1].turns[-1] if scripts and scripts[-1].turns else None
        if opening := _SESSION.fullmatch(line):
            day, hour, minute, project, agent = opening.groups()
            starts = time(int(hour), int(minute))
            scripts.append(Script(int(day), starts, project, agent))
        elif scripts and (turn := _TURN.fullmatch(line)):
            who, failed, text = turn.groups()
            scripts[-1].turns.append(DemoTurn(who, text, is_error=bool(failed)))
        elif last and last.who in TOOLS and line.startswith("|"):
            last.response.append(line[1:].removeprefix(" "))
        elif last and last.who not in TOOLS and line[:1] not in ("|", "="):
            last.text += f"\n{line}"
        elif line.strip() and (scripts or line.startswith("=")):
            raise ValueError(f"line {number} is not in the notation: {line}")
    for script in scripts:
        for said in script.turns:
            said.text = said.text.strip()  # Blank lines part turns and sessions.
    return scripts


def dated(text: str, day: date) -> str:
    """Replace placeholders such as ``{day-3}`` with dates.

    Args:
        text: The text with placeholders.
        day: The day of the text.
    """

    def replace(match: re.Match[str]) -> str:
        unit, back = match[1], int(match[2] or 0)
        if unit == "day":
            return (day - timedelta(days=back)).isoformat()
        if unit == "year":
            return str(day.year - back)
        months = day.year * 12 + day.month - 1 - back
        return f"{months // 12}-{months % 12 + 1:02}"

    return _DATE.sub(replace, text)


LAST_WORKDAY = 65
"""The number of the scripts' last day: it becomes yesterday."""

SATURDAY = 5
"""The first day of a week that is no workday, as ``date.weekday`` counts."""

THINKING_S = (20, 200)
"""The time the person takes to answer, in seconds: the minimum, and the range above
it."""

RUNNING_S = (1, 25)
"""The time a tool takes, in seconds: the minimum, and the range above it."""

CHARS_PER_S = 60
"""The speed at which the assistant writes."""


def write(folder: Path, *, today: date, zone: tzinfo) -> list[Path]:
    """Write the demo's sessions as files that can be imported.

    Each file is one session, each of its lines one event. The same day and zone give
    the same bytes.

    Args:
        folder: Where the files go; made when missing.
        today: The day the last session was held before.
        zone: Where the developer lives.

    Returns:
        The files, by name, which is the order in which the sessions were held.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for source in Path(__file__).parent.glob("*.txt"):
        for script in read(source.read_text(encoding="utf-8")):
            day = _date_of(script.workday, today)
            starts = datetime.combine(day, script.starts, zone)
            path = folder / f"{starts:%Y-%m-%d-%H%M}-{script.project}.jsonl"
            events = _events(script, starts, path.stem)
            lines = [json.dumps(event, ensure_ascii=False) for event in events]
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            paths.append(path)
    return sorted(paths)


def _date_of(workday: int, today: date) -> date:
    """Return the date of a workday; the last one is yesterday, whatever day that is."""
    day = today - timedelta(days=1)
    for _ in range(LAST_WORKDAY - workday):
        day -= timedelta(days=1)
        while day.weekday() >= SATURDAY:
            day -= timedelta(days=1)
    return day


def _events(script: Script, starts: datetime, name: str) -> Iterator[dict[str, object]]:
    """Yield the events of a session as the import reads them, oldest first."""
    session_id, day = str(uuid5(NAMESPACE_URL, f"memtui:{name}")), starts.date()

    def event(
        number: int, event_type: EventType, text: str, metadata: dict[str, str]
    ) -> dict[str, object]:
        return {
            "session_id": session_id,
            "timestamp": at.astimezone(starts.tzinfo).isoformat(),
            "event_type": event_type,
            "text": dated(text, day),
            "agent": script.agent,
            "project": script.project,
            "key": f"{number:03}",
            "metadata": {key: dated(value, day) for key, value in metadata.items()},
        }

    # Counted in UTC: a session may be held while the clocks are changed.
    at = starts.astimezone(UTC)
    home = {"cwd": f"/home/robin/{script.project}"}
    yield event(0, EventType.SESSION_START, "", home)
    last = 0
    for number, turn in enumerate(script.turns, start=1):
        if turn.who == "pause":
            at += timedelta(minutes=int(turn.text))
            continue
        at += timedelta(seconds=_pace_s(script, number, turn))
        yield event(number, *_said(turn))
        last = number
    at += timedelta(seconds=THINKING_S[0])
    yield event(last + 1, EventType.SESSION_END, "", {})


def _said(turn: DemoTurn) -> tuple[EventType, str, dict[str, str]]:
    if turn.who == "you":
        return EventType.USER_MESSAGE, turn.text, {}
    if turn.who == "agent":
        return EventType.ASSISTANT_MESSAGE, turn.text, {}
    metadata = {
        "tool_name": turn.who,
        "tool_input": json.dumps({TOOLS[turn.who]: turn.text}, ensure_ascii=False),
    }
    if turn.is_error:
        metadata["call_end"] = CallEnd.FAILED.value
    text = "\n".join([f"{turn.who}: {turn.text}", *turn.response])
    return EventType.TOOL_RESULT, text, metadata


def _pace_s(script: Script, number: int, turn: DemoTurn) -> float:
    """Return how long after the turn before it this one came, in seconds."""
    if turn.who == "agent":
        return 2 + len(turn.text) / CHARS_PER_S
    least, more = RUNNING_S if turn.who in TOOLS else THINKING_S
    # Uneven as people are, and the same each time.
    seed = f"{script.project} {script.workday} {script.starts} {number}"
    return least + crc32(seed.encode()) % (more * 1000) / 1000


def fill(workspace: "Workspace") -> None:
    """Import the made-up history into an empty store and run the pipeline."""
    folder = workspace.paths.store.parent / "history"
    write(folder, today=datetime.now(workspace.zone).date(), zone=workspace.zone)
    pipeline = workspace.pipeline
    for _ in pipeline.importer().run([folder]):
        pass
    pipeline.lock.acquire()
    pipeline.run_until_idle(lambda _: None)
    for query, title, lines in model.DRAFTS:
        for hit in workspace.search.find(query, limit=1).hits:
            workspace.write_version(hit.opens, model.ScriptedModel(title, lines))
    pipeline.run_until_idle(lambda _: None)
