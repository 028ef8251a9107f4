"""OpenCode's older store: a folder of JSON files for sessions, messages and parts.

``storage/session/<project>/<session>.json`` is what is read; its messages lie in
``storage/message/<session>`` and their parts in ``storage/part/<message>``.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from memtui.memory.events import to_ms
from memtui.sources import lines
from memtui.sources.opencode.parts import Message, Part
from memtui.sources.opencode.sessions import Row, Sessions, object_of
from memtui.sources.records import Cursor, Reading, Refused, text_of, time_of

_PARENTS = 20
"""How many sessions up a helper's parents are looked for."""


def fits(path: Path) -> bool:
    """Whether a file is a session of such a folder."""
    if path.suffix != ".json" or path.parent.parent.name != "session":
        return False
    fields = object_of(path.read_bytes()) or {}
    return "id" in fields and bool({"projectID", "directory", "time"} & fields.keys())


def beside(path: Path) -> Iterator[Path]:
    """What changes when a session goes on."""
    messages = path.parents[2] / "message" / path.stem
    yield messages
    if messages.is_dir() and (latest := max(messages.glob("*.json"), default=None)):
        yield latest
        yield path.parents[2] / "part" / latest.stem


def read(path: Path, start: Cursor | None, now: datetime) -> Iterator[Reading]:
    """Read one session, all of it; what was given before is not given again."""
    raw = path.read_bytes()
    fields = object_of(raw)
    sessions = Sessions(now, start.state if start else {}, remembered=None)
    if fields is None:
        yield Refused("not a JSON object")
    else:
        folder = _Folder(path.parents[2])
        row = folder.row(path, fields)
        sessions.know([row, *folder.above(row)])
        for message in folder.messages(row.name):
            yield from sessions.take(message)
        yield from sessions.rest(0)
    yield Cursor(len(raw), state=sessions.state(), is_held=sessions.is_held)


@dataclass(slots=True)
class _Folder:
    storage: Path
    _loose: dict[str, list[Path]] | None = None

    def row(self, path: Path, fields: dict[str, object]) -> Row:
        """The session of a file."""
        time = fields.get("time")
        created = time.get("created") if isinstance(time, dict) else None
        project = text_of(fields.get("projectID"))
        held = _object(self.storage / "project" / f"{_name(project)}.json")
        return Row(
            name=text_of(fields.get("id")) or path.stem,
            parent=text_of(fields.get("parentID")),
            directory=text_of(fields.get("directory")),
            title=text_of(fields.get("title")),
            worktree=text_of((held or {}).get("worktree")),
            created=created,
        )

    def above(self, row: Row) -> Iterator[Row]:
        """The sessions that started a helper's, nearest first."""
        for _ in range(_PARENTS):
            if not row.parent:
                return
            name = _name(row.parent)
            files = sorted((self.storage / "session").glob(f"*/{name}.json"))
            fields = _object(files[0]) if files else None
            if not fields:
                return
            row = self.row(files[0], fields)
            # Only the session that was asked for is told of.
            yield replace(row, changed_ms=-1)

    def messages(self, session: str) -> Iterator[Message]:
        """The messages of a session, in their order."""
        for file in sorted((self.storage / "message" / _name(session)).glob("*.json")):
            fields = _object(file)
            name = text_of((fields or {}).get("id")) or file.stem
            parts = [self._part(part) for part in self._files(name)]
            changed_ms = max(map(_latest_ms, (fields, *(p.fields for p in parts))))
            yield Message(name, session, fields, parts, changed_ms=changed_ms)

    def _files(self, message: str) -> list[Path]:
        folder = self.storage / "part" / _name(message)
        if folder.is_dir():
            return sorted(folder.glob("*.json"))
        if self._loose is None:
            self._loose = {}
            for file in sorted((self.storage / "part").glob("*.json")):
                whose = text_of((_object(file) or {}).get("messageID"))
                self._loose.setdefault(whose, []).append(file)
        return self._loose.get(message, [])

    def _part(self, file: Path) -> Part:
        fields = _object(file)
        return Part(text_of((fields or {}).get("id")) or file.stem, fields)


def _object(file: Path) -> dict[str, object] | None:
    try:
        return object_of(lines.regular(file).read_bytes())
    except (OSError, ValueError):
        return None


def _name(said: str) -> str:
    """A name as that of one file, whatever it holds."""
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in said) or "_"


def _latest_ms(fields: dict[str, object] | None) -> int:
    """The latest time that a message or a part tells of itself."""
    found: list[object] = []
    for held in (fields, (fields or {}).get("state")):
        time = held.get("time") if isinstance(held, dict) else None
        found += time.values() if isinstance(time, dict) else []
    return max((to_ms(at) for at in map(time_of, found) if at), default=0)
