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
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path, PurePath

from memtui.capture.formats import base, jsonl
from memtui.capture.formats.base import (
    TRANSCRIPT,
    Call,
    Cursor,
    FileReplaced,
    InvalidRecord,
    ParsedItem,
    PendingRecord,
    Record,
    SkippedRecord,
    SourceFormat,
    Waiting,
    ahead,
    as_text,
    parse_time,
)
from memtui.capture.formats.claude_code import PATIENCE, event_of, fields_of
from memtui.model import events, hashing
from memtui.model.events import Event, EventRefused, EventRole, EventType, from_ms
from memtui.model.sessions import SessionMetadata, SubagentMetadata

AGENT = "gemini-cli"


_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


_TELLING = ("name", "args", "subject", "description", "text")
"""What of a call or a thought stays the same when it is told again."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message stands."""

    session_id: str
    subagent: str
    line: int


@dataclass(frozen=True, slots=True)
class Message:
    """A message whose time is known."""

    place: Place
    name: str
    at: datetime
    fields: dict[str, object]


class Events:
    """Makes the events of one session."""

    def __init__(self, now: datetime, number: int) -> None:
        """Go on after the last one that was made before.

        Args:
            now: The time, to refuse what claims to come from the future.
            number: How many were made.
        """
        self._now = now
        self.number = number

    def make(
        self,
        message: Message,
        event_type: EventType,
        text: str,
        role: EventRole,
        metadata: dict[str, str],
        *,
        key: str,
    ) -> Event | InvalidRecord:
        """An event of a message's, or why there can be none."""
        self.number += 1
        origin = ""
        if _UUID.fullmatch(message.name):
            origin = "/".join(dict.fromkeys((message.name, key)))
        try:
            return events.make(
                agent=AGENT,
                session_id=message.place.session_id,
                timestamp=message.at,
                event_type=event_type,
                text=text,
                source_key=key,
                role=role,
                metadata=metadata,
                subagent=message.place.subagent,
                ordinal=self.number,
                source_id=origin,
            )
        except EventRefused as refusal:
            return InvalidRecord(str(refusal), message.place.line)

    def thought(self, message: Message, told: object, key: str) -> ParsedItem:
        """What was thought before a message was said."""
        fields = told if isinstance(told, dict) else {"description": told}
        parts = as_text(fields.get("subject")), as_text(fields.get("description"))
        text = "\n".join(part for part in parts if part.strip())
        at = parse_time(fields.get("timestamp")) or message.at
        if not text.strip() or events.is_in_future(at, self._now):
            return SkippedRecord("thinking that says nothing", message.place.line)
        try:
            return events.make_thought(
                agent=AGENT,
                session_id=message.place.session_id,
                at=at,
                text=text,
                key=key if message.name else "",
                subagent=message.place.subagent,
            )
        except EventRefused as refusal:
            return InvalidRecord(str(refusal), message.place.line)


def named(message: Message, told: object) -> str:
    """A message's name; of one without, what tells a piece of it from those of others.

    Args:
        message: The message.
        told: The piece: a thought, or a call before it has its answer.
    """
    if message.name:
        return message.name
    known = told if isinstance(told, dict) else {"text": told}
    what = {name: known.get(name) for name in _TELLING if name in known}
    return hashing.content_hash(as_text(what))


class Held:
    """The reply that is held back, if any."""

    def __init__(self, state: object = None) -> None:
        """Go on with what an earlier reading held back."""
        self._event: Event | None = None
        self._name = ""
        for kept in state if isinstance(state, list) else ():
            self._event, self._name = event_of(kept), as_text(kept.get("name"))

    @property
    def is_full(self) -> bool:
        """Whether a reply is held back."""
        return self._event is not None

    def state(self) -> list[dict[str, object]]:
        """What another reading must know of it."""
        return [fields_of(self._event) | {"name": self._name}] if self._event else []

    def add(self, said: Event | InvalidRecord, name: str) -> Iterator[ParsedItem]:
        """Hold a reply back; one without a name is never told again."""
        if isinstance(said, InvalidRecord) or not name:
            yield said
        else:
            self._event, self._name = said, name

    def grow(self, name: str, text: str) -> bool:
        """Whether a reply's longer telling took the place of the one that is held."""
        if self._event is None or name != self._name:
            return False
        if len(text) <= len(self._event.text):
            return False
        self._event = replace(self._event, text=text)
        return True

    def ended(self, *, unless: str = "") -> Iterator[Event]:
        """Give the reply, if it is not the one of this name."""
        if self._event and not (unless and unless == self._name):
            event, self._event = self._event, None
            yield event

    def given_up(self, now: datetime, *, is_last: bool) -> Iterator[Event]:
        """Give the reply if it was waited for long enough, or nothing can follow."""
        if self._event and (is_last or now - self._event.timestamp > PATIENCE):
            yield from self.ended()


_INJECTED = {
    "<session_context>": "context",
    "This is the Gemini CLI. We are setting up the context": "context",
    "<state_snapshot>": "compact_summary",
    "<hook_context>": "hook",
    "I ran the following shell command:": "shell",
    "System: Please continue.": "reminder",
    "Please continue.": "reminder",
}
"""How what the program says in the person's name begins, and what it is."""


def injected(text: str) -> str:
    """What a "user" message is when the person did not write it; "" when they did."""
    start = text.lstrip()
    found = (kind for begins, kind in _INJECTED.items() if start.startswith(begins))
    return next(found, "")


def text(fields: Mapping[str, object]) -> str:
    """The readable text of a message's content; a placeholder for each file."""
    content = fields.get("content") or fields.get("parts")
    parts = content if isinstance(content, list) else [content]
    found = (_part(part) for part in parts)
    return "\n\n".join(part for part in found if part.strip())


def _part(part: object) -> str:
    if not isinstance(part, dict):
        return as_text(part) if isinstance(part, str) else ""
    if part.get("thought") or "functionCall" in part or "functionResponse" in part:
        return ""
    for name in ("inlineData", "fileData"):
        if isinstance(part.get(name), dict):
            return _file(part[name])
    for name in ("executableCode", "codeExecutionResult"):
        held = part.get(name)
        if isinstance(held, dict):
            return as_text(held.get("code") or held.get("output"))
    return as_text(part.get("text"))


def _file(held: dict[str, object]) -> str:
    mime = as_text(held.get("mimeType")) or "unknown type"
    kind = "image" if mime.startswith("image/") else "document"
    source = {"media_type": mime, "data": held.get("data")}
    return base.placeholder({"type": kind, "source": source})


def thoughts(fields: Mapping[str, object]) -> list[object]:
    """What the model thought: told beside the message, or among its parts."""
    told = fields.get("thoughts")
    content = fields.get("content")
    among = [
        part.get("text")
        for part in (content if isinstance(content, list) else ())
        if isinstance(part, dict) and part.get("thought")
    ]
    return [*(told if isinstance(told, list) else ()), *among]


def holds_answers(fields: Mapping[str, object]) -> bool:
    """Whether a message repeats what tools answered, for the model."""
    content = fields.get("content")
    return isinstance(content, list) and any(
        isinstance(part, dict) and "functionResponse" in part for part in content
    )


def answer(told: dict[str, object]) -> str:
    """What a tool answered: as the model was told it, else as it was shown."""
    result = told.get("result")
    parts = result if isinstance(result, list) else [result]
    texts = [_answer_part(part) for part in parts]
    return "\n".join(filter(None, texts)) or as_text(told.get("resultDisplay"))


def _answer_part(part: object) -> str:
    if not isinstance(part, dict):
        return as_text(part)
    held = part.get("functionResponse")
    response = held.get("response") if isinstance(held, dict) else None
    if not isinstance(response, dict):
        return _part(part)
    told = response.get("output", response.get("error"))
    return as_text(response if told is None else told)


_ASSISTANTS = frozenset({"gemini", "model"})


_NOTICES = frozenset({"info", "warning"})


_TELLERS = frozenset({"user", "error", "gemini"})
"""How the names of given messages begin; those of calls with ``c``, thoughts ``t``."""


_ENDED = frozenset({"success", "error", "cancelled"})
"""The states of a call that has its answer."""


REMEMBERED = 2000
"""How many given pieces are remembered, the latest: one that is told again much later
is given again, which changes nothing since its event keeps its id."""


class Messages:
    """The messages of one session, as far as they have been read."""

    def __init__(self, now: datetime, state: object = None) -> None:
        """Go on with what an earlier reading gave."""
        kept = state if isinstance(state, Mapping) else {}
        self._now = now
        self._given: dict[str, str] = dict(kept.get("given", {}))
        self._waiting = Waiting(kept.get("calls"))
        self._events = Events(now, int(kept.get("number", 0)))
        self._twins: set[str] = set()
        self._held = Held(kept.get("held"))
        self._has_begun = False
        self.model = as_text(kept.get("model"))

    def state(self) -> Mapping[str, object]:
        """What another reading must know of them."""
        return {
            "given": dict([*self._given.items()][-REMEMBERED:]),
            "calls": self._waiting.state(),
            "number": self._events.number,
            "held": self._held.state(),
            "model": self.model,
        }

    def awaited(self) -> Iterator[ParsedItem]:
        """Say which calls have no answer yet."""
        return self._waiting.awaited()

    @property
    def is_held(self) -> bool:
        """Whether a reply is held back because more of it may come."""
        return self._held.is_full

    def given_up(self, *, is_last: bool) -> Iterator[ParsedItem]:
        """Give the reply that was waited for long enough, or that nothing follows."""
        return self._held.given_up(self._now, is_last=is_last)

    def meet_again(self, told: list[object]) -> None:
        """Prepare for messages told together: which are old ones with new names.

        A message is an old one if the same was said before under a name that is not
        among these; otherwise the same was said twice.
        """
        names = {as_text(m.get("id")) for m in told if isinstance(m, dict)}
        told_before = ((key.partition(":"), said) for key, said in self._given.items())
        self._twins = {
            said
            for (kind, _, name), said in told_before
            if kind in _TELLERS and name not in names
        }

    def take(self, fields: dict[str, object], place: Place) -> Iterator[ParsedItem]:
        """Read one message."""
        yield from self._held.ended(unless=as_text(fields.get("id")))
        kind = fields.get("type") or fields.get("role")
        if not isinstance(kind, str):
            yield InvalidRecord("a record without type", place.line)
            return
        if kind in _NOTICES:
            yield SkippedRecord(kind, place.line)
            return
        if kind not in _ASSISTANTS and kind not in ("user", "error"):
            yield SkippedRecord(f"unknown record type {kind}", place.line)
            return
        at = parse_time(fields.get("timestamp"))
        if at is None:
            known = "timestamp" in fields
            yield InvalidRecord(
                "a bad timestamp" if known else "no timestamp", place.line
            )
        elif events.is_in_future(at, self._now):
            yield ahead(at, place.line)
        else:
            message = Message(place, as_text(fields.get("id")), at, fields)
            self._has_begun = False
            found = list(self._pieces(message, kind))
            if not found and not self._has_begun:
                found = [SkippedRecord("a message told again", place.line)]
            yield from found

    def _pieces(self, message: Message, kind: str) -> Iterator[ParsedItem]:
        if kind == "user":
            yield from self._user(message)
        elif kind == "error":
            about = {"kind": "error", "is_error": "true"}
            said = text(message.fields)
            yield from self._said(message, said, EventRole.SYSTEM, about, kind)
        else:
            yield from self._gemini(message)

    def _user(self, message: Message) -> Iterator[ParsedItem]:
        full = text(message.fields)
        said = text({"content": message.fields.get("displayContent")}) or full
        kind = injected(said)
        role = EventRole.SYSTEM if kind else EventRole.USER
        about = {"kind": kind} if kind else {}
        place = message.place
        if not said and holds_answers(message.fields):
            yield SkippedRecord("answers told with their calls", place.line)
            return
        if role is EventRole.USER:
            yield from self._unanswered(message)
        yield from self._said(message, said, role, about, "user")

    def _gemini(self, message: Message) -> Iterator[ParsedItem]:
        fields, line = message.fields, message.place.line
        self.model = as_text(fields.get("model")) or self.model
        for index, thought in enumerate(thoughts(fields)):
            yield from self._thought(message, index, thought)
        said = text(fields)
        if said:
            yield from self._said(message, said, EventRole.ASSISTANT, {}, "gemini")
        calls = fields.get("toolCalls")
        for index, call in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(call, dict):
                key = as_text(call.get("id")) or f"{named(message, call)}:{index}"
                yield from self._call(message, call, key)
            else:
                yield InvalidRecord("a call that is no object", line)
        if not said and not calls and not fields.get("thoughts"):
            yield SkippedRecord("an empty message", line)

    def _said(
        self,
        message: Message,
        text: str,
        role: EventRole,
        about: dict[str, str],
        kind: str,
    ) -> Iterator[ParsedItem]:
        said = hashing.content_hash(kind, text)
        given = f"{kind}:{message.name or said}"
        if given in self._given:
            yield from self._again(message, text, said, given)
            return
        if said in self._twins:
            self._given[given] = said
            return
        event_type = (
            EventType.USER_MESSAGE if kind == "user" else EventType.ASSISTANT_MESSAGE
        )
        self._given[given] = said
        event = self._events.make(
            message, event_type, text, role, about, key=message.name
        )
        if kind == "gemini":
            yield from self._held.add(event, message.name)
            self._has_begun = True
        else:
            yield event

    def _again(
        self, message: Message, text: str, said: str, given: str
    ) -> Iterator[ParsedItem]:
        """A message that was told before: its words may have changed since."""
        if self._given[given] == said:
            return
        self._given[given] = said
        is_held = given.startswith("gemini:")
        if not (is_held and self._held.grow(message.name, events.clean(text))):
            yield SkippedRecord(
                "a message told again in other words", message.place.line
            )

    def _thought(
        self, message: Message, index: int, told: object
    ) -> Iterator[ParsedItem]:
        key = f"{named(message, told)}:{index}"
        if f"t:{key}" in self._given:
            return
        self._given[f"t:{key}"] = ""
        yield self._events.thought(message, told, key)

    def _call(
        self, message: Message, told: dict[str, object], key: str
    ) -> Iterator[ParsedItem]:
        place = message.place
        if f"c:{key}" in self._given:
            return
        at = parse_time(told.get("timestamp")) or message.at
        status = as_text(told.get("status"))
        call = base.call(
            key,
            as_text(told.get("name")),
            told.get("args"),
            session_id=place.session_id,
            subagent=place.subagent,
            uuid=message.name,
            line=place.line,
            at_ms=events.to_ms(at),
        )
        if status not in _ENDED and told.get("result") is None:
            self._has_begun = not self._waiting.has(key) or self._has_begun
            self._waiting.add(call)
            return
        self._waiting.answered(key)
        about = {
            "is_error": "true" if status == "error" else "",
            "is_broken_off": "true" if status == "cancelled" else "",
        }
        yield self._answered(call, answer(told), at, place, about)

    def _unanswered(self, message: Message) -> Iterator[ParsedItem]:
        """The person spoke again: calls that are still open have no answer."""
        place = message.place
        for call in self._waiting.broken_off(place.session_id, place.subagent):
            at = from_ms(call.at_ms)
            yield self._answered(call, "", at, place, {"is_broken_off": "true"})

    def _answered(
        self, call: Call, answer: str, at: datetime, place: Place, about: dict[str, str]
    ) -> ParsedItem:
        self._given[f"c:{call.key}"] = ""
        if events.is_in_future(at, self._now):
            return ahead(at, place.line)
        message = Message(place, call.uuid, at, {})
        said, told = call.text(answer), call.metadata(**about)
        kind, role = EventType.TOOL_RESULT, EventRole.TOOL
        return self._events.make(message, kind, said, role, told, key=call.key)


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
    if path.stat().st_size > jsonl.MAX_RECORD_BYTES:
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
) -> Iterator[ParsedItem]:
    """Read one session; see ``memtui.sources.source.Read``."""
    make = partial(_Session, path, now)
    if path.suffix == ".json":
        return _whole(path, start, make)
    return jsonl.read(path, start, make)


SOURCE = SourceFormat(AGENT, "Gemini CLI", TRANSCRIPT, _may_be, fits, read)


def _whole(
    path: Path, start: Cursor | None, make: jsonl.MakeReader
) -> Iterator[ParsedItem]:
    """Read a document, all of it whenever it has changed."""
    size = path.stat().st_size
    if size > jsonl.MAX_RECORD_BYTES:
        limit = f"{jsonl.MAX_RECORD_BYTES // 1024**2} MB"
        yield InvalidRecord(f"a document longer than {limit}", 1)
        yield Cursor(size)
        return
    raw = path.read_bytes()
    print_ = hashlib.blake2b(raw, digest_size=16).hexdigest()
    if start and start.fingerprint == print_:
        yield start
        return
    if start and start.offset:
        yield FileReplaced("the document was written anew")
    found = _object(raw)
    if found is not None:
        reader = make({})
        yield from reader.take(Record(1, found))
        yield from reader.rest()
    elif raw.strip().endswith((b"}", b"]")):
        yield InvalidRecord("not a session's document", 1)
    elif raw.strip():
        yield PendingRecord("the document is cut off", 1)
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

    def take(self, record: Record) -> Iterator[ParsedItem]:
        """Read one record: a header, a message, an update or a rewinding."""
        fields, line = record.fields, record.line
        if "$rewindTo" in fields:
            yield SkippedRecord("$rewindTo", line)
        elif "$set" in fields:
            update = fields["$set"]
            if isinstance(update, dict):
                yield from self._learn(update)
                yield from self._snapshot(update, line)
                yield SkippedRecord("$set", line)
            else:
                yield InvalidRecord("a $set that is no object", line)
        elif "sessionId" in fields and "type" not in fields:
            yield from self._learn(fields)
            yield from self._snapshot(fields, line)
            yield SkippedRecord("header", line)
        else:
            yield from self._message(fields, line)

    def rest(self) -> Iterator[ParsedItem]:
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

    def _learn(self, fields: dict[str, object]) -> Iterator[ParsedItem]:
        """Learn what a header or an update tells; another session begins with it."""
        session = as_text(fields.get("sessionId")).strip()
        if self._facts.session and session not in ("", self._facts.session):
            yield self._told()
            self._facts, self._is_introduced = _Facts(), False
        known = {
            "session": session,
            "hash": as_text(fields.get("projectHash")),
            "started": as_text(fields.get("startTime")),
            "kind": as_text(fields.get("kind")),
            "title": " ".join(as_text(fields.get("summary")).split()),
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
            named = as_text(folder).encode("utf-8", "replace")
            if hashlib.sha256(named).hexdigest() == self._facts.hash:
                return as_text(folder)
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

    def _snapshot(self, fields: dict[str, object], line: int) -> Iterator[ParsedItem]:
        """Read messages that are told together, maybe anew."""
        told = fields.get("messages")
        if not isinstance(told, list):
            return
        self._messages.meet_again(told)
        for message in told:
            if isinstance(message, dict):
                yield from self._message(message, line)
            else:
                yield InvalidRecord("not a JSON object", line)

    def _message(self, fields: dict[str, object], line: int) -> Iterator[ParsedItem]:
        if self._facts.session and not self._is_introduced:
            self._is_introduced = True
            yield self._told()
        try:
            yield from self._messages.take(fields, self._place(line))
        except RecursionError:
            yield InvalidRecord(jsonl.TOO_DEEP, line)

    def _helper(self) -> Iterator[ParsedItem]:
        if self._is_subagents:
            place = self._place(0)
            yield SubagentMetadata(AGENT, place.session_id, place.subagent)

    def _told(self) -> SessionMetadata:
        facts = self._facts
        return SessionMetadata(
            agent=AGENT,
            session_id=self._place(0).session_id,
            cwd=facts.cwd,
            title="" if self._is_subagents else facts.title,
            model="" if self._is_subagents else self._messages.model,
            at=parse_time(facts.started),
        )
