"""OpenCode's messages, wherever they lie: a message and its parts, as readings.

A message is given once, when it is finished: OpenCode marks an assistant's message as
completed, and writes all parts of a prompt at once. What is still being written is held
back. What changes in a message afterwards changes nothing of what was given.

A fork is a copy under new names: its messages keep their times and their words, and by
these they are known.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from memtui.capture.formats import base
from memtui.capture.formats.base import (
    InvalidRecord,
    ParsedItem,
    PendingRecord,
    SkippedRecord,
    ahead,
    as_text,
    parse_time,
)
from memtui.capture.formats.jsonl import TOO_DEEP
from memtui.model import events
from memtui.model.events import EventRefused, EventRole, EventType
from memtui.model.sessions import SessionMetadata, SubagentMetadata

PATIENCE = timedelta(seconds=20)
"""How long after the last word of a prompt its parts are waited for."""


ABANDONED = timedelta(hours=1)
"""How long after its last change an uncompleted message is given as it is."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a message; its fields are None where they are no JSON object."""

    name: str
    fields: dict[str, object] | None

    @property
    def kind(self) -> str:
        """What part it is: a ``text``, a ``tool``, a ``file`` and so on."""
        return as_text((self.fields or {}).get("type"))


@dataclass(frozen=True, slots=True)
class Message:
    """A message with its parts, in their order."""

    name: str
    session_id: str
    fields: dict[str, object] | None
    parts: list[Part]
    created: object = None
    """When it was made, in milliseconds, if its fields do not say so."""
    changed_ms: int = 0
    """When it or a part of it was written last."""

    @property
    def at(self) -> datetime | None:
        """When it was made."""
        made = inner(self.fields, "time").get("created")
        return parse_time(self.created if made is None else made)

    def is_finished(self, now: datetime) -> bool:
        """Whether nothing more of it is awaited."""
        fields = self.fields
        silence_ms = events.to_ms(now) - self.changed_ms
        if fields is None or silence_ms > ABANDONED / timedelta(milliseconds=1):
            return True
        if self.is_prompt:
            return silence_ms > PATIENCE / timedelta(milliseconds=1)
        return bool(inner(fields, "time").get("completed") or fields.get("error"))

    @property
    def is_prompt(self) -> bool:
        """Whether it will be whole a little later, though nothing should change."""
        return (self.fields or {}).get("role") != "assistant"


def file(fields: Mapping[str, object]) -> str:
    """What stands for a file: its type, name and size, never its bytes."""
    mime = as_text(fields.get("mime")) or "unknown type"
    url = as_text(fields.get("url"))
    size = ""
    if url.startswith("data:"):
        size = f"{len(url.partition(',')[2]) * 3 // 4 // 1024 or 1} kB"
    about = (mime, as_text(fields.get("filename")), size)
    kind = "image" if mime.startswith("image/") else "file"
    return f"[{kind}: {', '.join(filter(None, about))}]"


def joined(texts: list[str]) -> str:
    """Texts as one, without those that say nothing."""
    return "\n\n".join(text for text in texts if text.strip())


def inner(fields: Mapping[str, object] | None, name: str) -> Mapping[str, object]:
    """An object within an object; an empty one where it is missing or no object."""
    held = (fields or {}).get(name)
    return held if isinstance(held, dict) else {}


AGENT = "opencode"


_ENDED = frozenset({"completed", "success", "error"})
"""The states of a call that has its answer."""


_LEFT = frozenset({"step-start", "step-finish", "patch", "snapshot", "agent", "retry"})
"""Parts that say nothing of the conversation."""


_ABORTED = "MessageAbortedError"


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose message it is: a session's, or a helper's of a session."""

    session_id: str
    subagent: str = ""


@dataclass(slots=True)
class _Told:
    """One message, being told."""

    message: Message
    owner: Owner
    at: datetime
    now: datetime
    fields: dict[str, object] = field(default_factory=dict)
    number: int = 0


def read(message: Message, owner: Owner, now: datetime) -> Iterator[ParsedItem]:
    """Tell one message: its events and thoughts, and what of it was not taken."""
    fields, at = message.fields, message.at
    role = as_text((fields or {}).get("role"))
    refusal: ParsedItem | None = None
    if fields is None:
        refusal = InvalidRecord("not a JSON object")
    elif not role:
        refusal = InvalidRecord("a record without type")
    elif role not in ("user", "assistant"):
        refusal = SkippedRecord(f"unknown record type {role}")
    elif at is None:
        known = inner(fields, "time").get("created", message.created) is not None
        refusal = InvalidRecord("a bad timestamp" if known else "no timestamp")
    elif events.is_in_future(at, now):
        refusal = ahead(at)
    if refusal or fields is None or at is None:
        yield from [refusal or InvalidRecord("no timestamp")] * (1 + len(message.parts))
        return
    told = _Told(message, owner, at, now, fields)
    yield from (_user if role == "user" else _assistant)(told)
    for part in message.parts:
        told.number += 1
        yield from _other(told, part)


def _user(told: _Told) -> Iterator[ParsedItem]:
    said: dict[str, list[str]] = {"": [], "synthetic": [], "subtask": []}
    for part in told.message.parts:
        fields = part.fields or {}
        if part.kind == "text":
            is_injected = fields.get("synthetic") or fields.get("ignored")
            kind = "synthetic" if is_injected else ""
            said[kind].append(as_text(fields.get("text")))
        elif part.kind == "file":
            said[""].append(file(fields))
        elif part.kind == "subtask":
            said["subtask"].append(as_text(fields.get("prompt")))
    is_empty = True
    for kind, texts in said.items():
        text = joined(texts)
        if text:
            role = EventRole.SYSTEM if kind else EventRole.USER
            about = {"kind": kind} if kind else {}
            key = ":".join(filter(None, (told.message.name, kind)))
            event_type = EventType.USER_MESSAGE
            yield _event(told, told.at, event_type, text, role, about, key=key)
            is_empty = False
    if is_empty:
        yield SkippedRecord("a message without text")


def _assistant(told: _Told) -> Iterator[ParsedItem]:
    texts, at = [], None
    for part in told.message.parts:
        fields = part.fields or {}
        if part.kind == "text":
            texts.append(as_text(fields.get("text")))
            began = inner(fields, "time").get("start")
            at = at or (parse_time(began) if texts[-1].strip() else None)
        elif part.kind == "file":
            texts.append(file(fields))
    error, text = inner(told.fields, "error"), joined(texts)
    about = _trouble(error)
    event_type, role = EventType.ASSISTANT_MESSAGE, EventRole.ASSISTANT
    if told.fields.get("summary") is True:
        # What the agent wrote for itself when the conversation grew too long.
        event_type, role = EventType.USER_MESSAGE, EventRole.SYSTEM
        about = {"kind": "compact_summary"} | about
    if not text and error and error.get("name") != _ABORTED:
        text = about.pop("error", "")
        about["kind"] = "api_error"
    if text:
        yield _event(told, at or told.at, event_type, text, role, about)
    else:
        yield SkippedRecord("a message without text")


def _trouble(error: Mapping[str, object]) -> dict[str, str]:
    """What went wrong with a message, as metadata."""
    if not error:
        return {}
    if error.get("name") == _ABORTED:
        return {"is_broken_off": "true"}
    said = as_text(inner(error, "data").get("message")) or as_text(error.get("name"))
    return {"is_error": "true", "error": said or "an error"}


def _other(told: _Told, part: Part) -> Iterator[ParsedItem]:
    """What a part is beside the text of its message."""
    kind, fields = part.kind, part.fields
    if fields is None:
        yield InvalidRecord("not a JSON object")
    elif kind == "tool":
        yield from _tool(told, part, fields)
    elif kind == "reasoning":
        yield _thought(told, part, fields)
    elif kind == "compaction":
        event_type, role = EventType.SESSION_START, EventRole.SYSTEM
        about = {"source": "compact"}
        yield _event(told, told.at, event_type, "", role, about, key=part.name)
    elif kind in _LEFT:
        yield SkippedRecord(kind)
    elif not kind:
        yield InvalidRecord("a part without type")
    elif kind not in ("text", "file", "subtask"):
        yield SkippedRecord(f"unknown record type {kind}")


def _tool(told: _Told, part: Part, fields: dict[str, object]) -> Iterator[ParsedItem]:
    state = inner(fields, "state")
    given, times = state.get("input"), inner(state, "time")
    began = parse_time(times.get("start")) or told.at
    status = as_text(state.get("status"))
    at = parse_time(times.get("end")) or began
    key, name = as_text(fields.get("callID")), as_text(fields.get("tool"))
    call = base.call(key or part.name, name, given)
    is_error = status == "error"
    answer = as_text(state.get("error") if is_error else state.get("output"))
    files = state.get("attachments")
    shown = (
        [file(f) for f in files if isinstance(f, dict)]
        if isinstance(files, list)
        else []
    )
    metadata = call.metadata(
        is_error="true" if is_error else "",
        is_broken_off="" if status in _ENDED else "true",
    )
    if events.is_in_future(at, told.now):
        yield ahead(at)
        return
    text = call.text(joined([answer, *shown]))
    event_type, role = EventType.TOOL_RESULT, EventRole.TOOL
    yield _event(told, at, event_type, text, role, metadata, key=call.key)
    helper = as_text(inner(state, "metadata").get("sessionId"))
    if name == "task" and helper:
        yield SubagentMetadata(
            agent=AGENT,
            session_id=told.owner.session_id,
            subagent=helper,
            kind=as_text(inner(state, "input").get("subagent_type")),
            tool_use_id=call.key,
            task=as_text(inner(state, "input").get("description")),
        )


def _thought(told: _Told, part: Part, fields: dict[str, object]) -> ParsedItem:
    text = as_text(fields.get("text"))
    at = parse_time(inner(fields, "time").get("start")) or told.at
    if not text.strip():
        return SkippedRecord("thinking that says nothing")
    if events.is_in_future(at, told.now):
        return ahead(at)
    try:
        return events.make_thought(
            agent=AGENT,
            session_id=told.owner.session_id,
            at=at,
            text=text,
            key=part.name,
            subagent=told.owner.subagent,
        )
    except EventRefused as refusal:
        return InvalidRecord(str(refusal))


def _event(
    told: _Told,
    at: datetime,
    event_type: EventType,
    text: str,
    role: EventRole,
    metadata: dict[str, str],
    *,
    key: str = "",
) -> ParsedItem:
    if events.is_in_future(at, told.now):
        return ahead(at)
    try:
        return events.make(
            agent=AGENT,
            session_id=told.owner.session_id,
            timestamp=at,
            event_type=event_type,
            text=text,
            source_key=key or told.message.name,
            role=role,
            metadata=metadata,
            subagent=told.owner.subagent,
            ordinal=told.number,
            source_id=_origin(told, at, role, text),
        )
    except EventRefused as refusal:
        return InvalidRecord(str(refusal))


def _origin(told: _Told, at: datetime, role: EventRole, text: str) -> str:
    """What a message and its copies in forks have in common."""
    times = (str(events.to_ms(one)) for one in (told.at, at))
    raw = "\x1f".join((*times, role, text)).encode("utf-8", "replace")
    return hashlib.blake2b(raw, digest_size=16).hexdigest()


REMEMBERED = 1000
"""How many given messages are remembered, the latest: one that changes much later is
given again, which changes nothing since its events keep their ids."""


_UNTITLED = re.compile(r"(?:New|Child) session - \d{4}-\d\d-\d\dT.*")
"""The title of a session that has none yet."""


_HELPERS_TITLE = re.compile(r"(.*) \(@(\S+) subagent\)")


@dataclass(frozen=True, slots=True)
class Row:
    """One session, as OpenCode tells it."""

    name: str
    parent: str = ""
    directory: str = ""
    title: str = ""
    agent: str = ""
    model: str = ""
    worktree: str = ""
    created: object = None
    changed_ms: int = 0


class Sessions:
    """The sessions of one database or folder, and what was given of them."""

    def __init__(
        self,
        now: datetime,
        state: Mapping[str, object],
        *,
        remembered: int | None = REMEMBERED,
    ) -> None:
        """Go on with what an earlier reading gave and held back.

        Args:
            now: The time.
            state: What the earlier reading said of itself.
            remembered: How many given messages are remembered; None for all.
        """
        self._now, self._remembered = now, remembered
        given, held = state.get("given"), state.get("held")
        self._given = dict.fromkeys(map(str, given if isinstance(given, list) else ()))
        self._held = dict.fromkeys(map(str, held if isinstance(held, list) else ()))
        self._prompts: set[str] = set()
        self._rows: dict[str, Row] = {}
        self._models: dict[str, str] = {}
        self._met: set[str] = set()

    @property
    def held(self) -> list[str]:
        """The messages that were not finished when they were read."""
        return list(self._held)

    @property
    def is_held(self) -> bool:
        """Whether a message will be finished soon, though nothing should change."""
        return bool(self._prompts & self._held.keys())

    def state(self) -> dict[str, object]:
        """What another reading must know of them."""
        given = (
            list(self._given)[-self._remembered :]
            if self._remembered
            else [*self._given]
        )
        return {"given": given, "held": self.held}

    def know(self, rows: Iterable[Row]) -> None:
        """Learn which sessions there are now."""
        self._rows = {row.name: row for row in rows}

    def take(self, message: Message) -> Iterator[ParsedItem]:
        """Read a message, unless it was given before or is not finished."""
        if message.name in self._given:
            return
        if not message.is_finished(self._now):
            self._held[message.name] = None
            if message.is_prompt:
                self._prompts.add(message.name)
            return
        self._held.pop(message.name, None)
        self._given[message.name] = None
        self._learn(message)
        yield from self._introduced(message.session_id)
        try:
            yield from read(message, self._owner(message), self._now)
        except RecursionError:
            yield InvalidRecord(TOO_DEEP)

    def gone(self, names: Iterable[str]) -> None:
        """Forget messages that were held back and are not there any more."""
        for name in names:
            self._held.pop(name, None)

    def rest(self, since_ms: int) -> Iterator[ParsedItem]:
        """Say what is still being written, and what is known of each session.

        Args:
            since_ms: Sessions that changed since then are told of, and those met.
        """
        for _ in self._held:
            yield PendingRecord("a message that is still being written")
        for row in self._rows.values():
            if row.changed_ms >= since_ms or row.name in self._met:
                yield from self._told(row)

    def _learn(self, message: Message) -> None:
        fields = message.fields or {}
        held = fields.get("model")
        within = held.get("modelID") if isinstance(held, dict) else None
        model = as_text(fields.get("modelID") or within)
        if model:
            self._models[message.session_id] = model

    def _owner(self, message: Message) -> Owner:
        """The session a message is kept in: that of the person, not a helper's own."""
        top = self._top(message.session_id)
        return Owner(top, message.session_id if top != message.session_id else "")

    def _top(self, name: str) -> str:
        seen = {name}
        while row := self._rows.get(name):
            if not row.parent or row.parent in seen:
                break
            name = row.parent
            seen.add(name)
        return name

    def _introduced(self, name: str) -> Iterator[ParsedItem]:
        """Tell of a session once: its folder must be known with its first event."""
        row = self._rows.get(name)
        if row and name not in self._met:
            self._met.add(name)
            yield from self._told(row)

    def _told(self, row: Row) -> Iterator[ParsedItem]:
        top = self._top(row.name)
        title = "" if _UNTITLED.fullmatch(row.title) else " ".join(row.title.split())
        if top == row.name or top not in self._rows:
            is_own = top == row.name
            yield SessionMetadata(
                agent=AGENT,
                session_id=top,
                cwd=row.directory,
                root="" if row.worktree == "/" else row.worktree,
                title=title if is_own else "",
                model=(self._models.get(top) or row.model) if is_own else "",
                at=parse_time(row.created),
            )
        if top != row.name:
            named = _HELPERS_TITLE.fullmatch(title)
            yield SubagentMetadata(
                agent=AGENT,
                session_id=top,
                subagent=row.name,
                kind=row.agent or (named.group(2) if named else ""),
                task=named.group(1) if named else title,
            )


def object_of(raw: object) -> dict[str, object] | None:
    """The JSON object of a text; None if it is none."""
    try:
        found = json.loads(raw, strict=False) if isinstance(raw, str | bytes) else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
