"""Gemini CLI's sessions: a JSON document, or one JSON object a line.

They lie in ``~/.gemini/tmp/<project>/chats/session-*.json`` or ``.jsonl``; a subagent's
in a folder beside them, named by the session that started it. The lines are a log of
what became of the conversation: a message is written again, whole, when it gets its
calls or their answers, and ``$set`` may tell all messages anew. Each message, call and
thought is given once, as it was when it was first whole. ``$rewindTo`` takes messages
out of the model's sight; they were said, so they stay.

The project is known by a hash of its path alone, unless a ``.project_root`` file beside
``chats`` or one of the session's folders, which must have that hash, tells the path.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path, PurePath

from memtui.memory.sessions import Helper, SessionFacts
from memtui.sources import lines
from memtui.sources.gemini.events import AGENT, Place
from memtui.sources.gemini.messages import Messages
from memtui.sources.records import (
    Awaited,
    Cursor,
    Left,
    Reading,
    Record,
    Refused,
    Restarted,
    text_of,
    time_of,
)
from memtui.sources.source import TRANSCRIPT, Source

_HEADER = frozenset({"projectHash", "startTime", "lastUpdated"})
"""What tells a session's header, beside its id, from other formats' records."""


def _may_be(path: PurePath) -> bool:
    if path.suffix not in (".json", ".jsonl"):
        return False
    return path.name.startswith("session-") or "chats" in path.parts[-3:-1]


def fits(path: Path, head: Sequence[Record]) -> bool:
    """Whether a file holds a session of Gemini CLI."""
    if any(_is_header(record.fields) for record in head):
        return True
    return path.suffix == ".json" and _is_header(_document(path) or {})


def _is_header(fields: Mapping[str, object]) -> bool:
    return (
        isinstance(fields.get("sessionId"), str)
        and bool(_HEADER & fields.keys())
        and "type" not in fields
    )


def _document(path: Path) -> dict[str, object] | None:
    """The JSON object a file is; None if it is none, or not whole."""
    if path.stat().st_size > lines.MAX_RECORD_BYTES:
        return None
    return _object(path.read_bytes())


def _object(raw: bytes) -> dict[str, object] | None:
    try:
        found = json.loads(raw.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def read(
    path: Path, start: Cursor | None, *, agent: str, now: datetime
) -> Iterator[Reading]:
    """Read one session; see ``memtui.sources.source.Read``."""
    make = partial(_Session, path, now)
    if path.suffix == ".json":
        return _whole(path, start, make)
    return lines.read(path, start, make)


SOURCE = Source(AGENT, "Gemini CLI", TRANSCRIPT, _may_be, fits, read)


def _whole(
    path: Path, start: Cursor | None, make: lines.MakeReader
) -> Iterator[Reading]:
    """Read a document, all of it whenever it has changed."""
    size = path.stat().st_size
    if size > lines.MAX_RECORD_BYTES:
        limit = f"{lines.MAX_RECORD_BYTES // 1024**2} MB"
        yield Refused(f"a document longer than {limit}", 1)
        yield Cursor(size)
        return
    raw = path.read_bytes()
    print_ = hashlib.blake2b(raw, digest_size=16).hexdigest()
    if start and start.fingerprint == print_:
        yield start
        return
    if start and start.offset:
        yield Restarted("the document was written anew")
    found = _object(raw)
    if found is not None:
        reader = make({})
        yield from reader.take(Record(1, found))
        yield from reader.rest()
    elif raw.strip().endswith((b"}", b"]")):
        yield Refused("not a session's document", 1)
    elif raw.strip():
        yield Awaited("the document is cut off", 1)
    yield Cursor(len(raw), raw.count(b"\n"), print_)


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the header and its updates say."""

    session: str = ""
    hash: str = ""
    started: str = ""
    kind: str = ""
    title: str = ""
    cwd: str = ""


class _Session:
    """Reads the records of one session."""

    def __init__(self, path: Path, now: datetime, state: Mapping[str, object]) -> None:
        self._path, self._now = path, now
        kept = state.get("facts")
        self._facts = _Facts(**kept) if isinstance(kept, dict) else _Facts()
        self._messages = Messages(now, state.get("messages"))
        self._is_introduced = False

    def take(self, record: Record) -> Iterator[Reading]:
        """Read one record: a header, a message, an update or a rewinding."""
        fields, line = record.fields, record.line
        if "$rewindTo" in fields:
            yield Left("$rewindTo", line)
        elif "$set" in fields:
            update = fields["$set"]
            if isinstance(update, dict):
                yield from self._learn(update)
                yield from self._snapshot(update, line)
                yield Left("$set", line)
            else:
                yield Refused("a $set that is no object", line)
        elif "sessionId" in fields and "type" not in fields:
            yield from self._learn(fields)
            yield from self._snapshot(fields, line)
            yield Left("header", line)
        else:
            yield from self._message(fields, line)

    def rest(self) -> Iterator[Reading]:
        """Say which calls have no answer yet, and what is known of the session."""
        yield from self._messages.given_up(is_last=self._path.suffix == ".json")
        yield from self._messages.awaited()
        if self._facts.session:
            yield from self._helper()
            yield self._told()

    @property
    def is_held(self) -> bool:
        """Whether a reply is held back because more of it may come."""
        return self._messages.is_held

    def state(self) -> Mapping[str, object]:
        """What another reading must know to go on."""
        facts = {name: getattr(self._facts, name) for name in _Facts.__slots__}
        return {"facts": facts, "messages": self._messages.state()}

    def _learn(self, fields: dict[str, object]) -> Iterator[Reading]:
        """Learn what a header or an update tells; another session begins with it."""
        session = text_of(fields.get("sessionId")).strip()
        if self._facts.session and session not in ("", self._facts.session):
            yield self._told()
            self._facts, self._is_introduced = _Facts(), False
        known = {
            "session": session,
            "hash": text_of(fields.get("projectHash")),
            "started": text_of(fields.get("startTime")),
            "kind": text_of(fields.get("kind")),
            "title": " ".join(text_of(fields.get("summary")).split()),
        }
        told = {name: value for name, value in known.items() if value}
        self._facts = replace(self._facts, **told)
        cwd = self._facts.cwd or self._root() or self._folder(fields.get("directories"))
        self._facts = replace(self._facts, cwd=cwd)

    def _root(self) -> str:
        """The path in the note that newer versions leave beside their chats."""
        for folder in self._path.parents[1:3]:
            try:
                return (folder / ".project_root").read_text("utf-8").strip()
            except (OSError, ValueError):
                continue
        return ""

    def _folder(self, folders: object) -> str:
        """The one of the session's folders that has the project's hash."""
        for folder in folders if isinstance(folders, list) else ():
            named = text_of(folder).encode("utf-8", "replace")
            if hashlib.sha256(named).hexdigest() == self._facts.hash:
                return text_of(folder)
        return ""

    @property
    def _is_subagents(self) -> bool:
        return (
            self._facts.kind == "subagent" and self._path.parent.parent.name == "chats"
        )

    def _place(self, line: int) -> Place:
        if self._is_subagents:
            return Place(self._path.parent.name, self._facts.session, line)
        return Place(self._facts.session, "", line)

    def _snapshot(self, fields: dict[str, object], line: int) -> Iterator[Reading]:
        """Read messages that are told together, maybe anew."""
        told = fields.get("messages")
        if not isinstance(told, list):
            return
        self._messages.meet_again(told)
        for message in told:
            if isinstance(message, dict):
                yield from self._message(message, line)
            else:
                yield Refused("not a JSON object", line)

    def _message(self, fields: dict[str, object], line: int) -> Iterator[Reading]:
        if self._facts.session and not self._is_introduced:
            self._is_introduced = True
            yield self._told()
        try:
            yield from self._messages.take(fields, self._place(line))
        except RecursionError:
            yield Refused(lines.TOO_DEEP, line)

    def _helper(self) -> Iterator[Reading]:
        if self._is_subagents:
            place = self._place(0)
            yield Helper(AGENT, place.session_id, place.subagent)

    def _told(self) -> SessionFacts:
        facts = self._facts
        return SessionFacts(
            agent=AGENT,
            session_id=self._place(0).session_id,
            cwd=facts.cwd,
            title="" if self._is_subagents else facts.title,
            model="" if self._is_subagents else self._messages.model,
            at=time_of(facts.started),
        )
