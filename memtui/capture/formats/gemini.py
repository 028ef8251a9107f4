"""Gemini CLI's sessions: a JSON document, or one JSON object a line.

The files are ``~/.gemini/tmp/<project>/chats/session-*.json`` or ``.jsonl``; a
subagent's are in a folder beside them, named by the session that started it. The lines
are a log: a message is written again, complete, when it gets its calls or their
results, and ``$set`` may write all messages again. Each message, call and thought is
yielded once, when it is complete. ``$rewindTo`` hides messages from the model, but
they stay in the store. ``logs.json`` beside ``chats`` has the prompts of all sessions
of the project as they were typed.

The project is only known by a hash of its path, unless a ``.project_root`` file beside
``chats`` gives the path, or one of the session's folders or of those in Gemini's
``projects.json`` has that hash.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path, PurePath

from memtui.capture.formats import jsonl, saved_results
from memtui.capture.formats.base import (
    HOLD_TIME,
    Cursor,
    Fields,
    FileReplaced,
    InvalidRecord,
    ParsedItem,
    PendingRecord,
    Position,
    Record,
    SkippedRecord,
    Source,
    SourceFormat,
    State,
    ToolCall,
    as_object,
    as_objects,
    as_text,
    count_diff_lines,
    count_words,
    join_texts,
    parse_time,
    placeholder,
)
from memtui.capture.formats.endings import read_ending, unwrapped, without_output
from memtui.capture.formats.jsonl import SessionReader
from memtui.capture.formats.prompts import parse_prompt
from memtui.files import read_small_file
from memtui.model import events
from memtui.model.events import Event, EventRefused, EventRole, EventType, content_hash
from memtui.model.sessions import SubagentMetadata, hash_folder
from memtui.model.tool_calls import UNFINISHED

AGENT = "gemini-cli"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)

_HEADER_FIELDS = frozenset({"projectHash", "startTime", "lastUpdated"})
"""The fields, besides the id, that only a session's header has."""

_ASSISTANT_TYPES = frozenset({"gemini", "model"})

_MESSAGE_KINDS = frozenset({"user", "error", "gemini"})
"""The prefixes of the keys of yielded messages.

Calls have ``c``, unfinished ones ``u``, thoughts ``t``."""

_COMPLETE_STATES = frozenset({"success", "error", "cancelled"})

_STABLE_FIELDS = ("name", "args", "subject", "description", "text")
"""The fields of a call or a thought that stay the same when it is written again."""

_REMINDERS = ("System: Please continue.", "Please continue.")
"""Messages of the program to a model that stopped without an answer."""


TYPED = "logs.json"
"""The file of a project with the prompts of its sessions."""

_COMMAND = re.compile(r"/[a-z][\w:-]*")
"""A typed command without anything of the user's."""

_HASH = re.compile(r"[0-9a-f]{64}")

RESULTS = "tool-outputs"
"""The folder of a project with large results of tools."""


class GeminiFormat(SourceFormat):
    name, title = AGENT, "Gemini CLI"

    def matches_path(self, path: PurePath) -> bool:
        if path.suffix not in (".json", ".jsonl"):
            return False
        if path.name == TYPED:
            return "tmp" in path.parts[-3:-2]
        return path.name.startswith("session-") or "chats" in path.parts[-3:-1]

    def has_session(self, path: PurePath) -> bool:
        return path.name != TYPED and self.matches_path(path)

    def is_beside(self, path: PurePath) -> bool:
        return RESULTS in path.parts[-3:-1]

    def matches_names(self, names: frozenset[str]) -> bool:
        return "sessionId" in names and len({"messages", *_HEADER_FIELDS} & names) > 1

    def matches_content(self, path: Path, head: Sequence[Record]) -> bool:
        if any(_is_header(record.fields) for record in head):
            return True
        # The header may be torn.
        if self.matches_path(path) and any(_is_message(r.fields) for r in head):
            return True
        if path.suffix != ".json" or path.stat().st_size > jsonl.MAX_RECORD_BYTES:
            return False
        raw = path.read_bytes()
        document, _ = jsonl.parse_document(raw)
        return _is_header(document or {}) or bool(_parse_typed(raw))

    def read(
        self, path: Path, start: Cursor | None, *, agent: str, now: datetime
    ) -> Iterator[ParsedItem]:
        make_reader = partial(_SessionReader, Source(path, AGENT, now))
        if path.suffix == ".json":
            return _read_document(path, start, make_reader)
        return jsonl.read_lines(path, start, make_reader, jsonl.JsonParser(_is_record))


FORMAT = GeminiFormat()


def _is_header(fields: Fields) -> bool:
    return (
        isinstance(fields.get("sessionId"), str)
        and bool(_HEADER_FIELDS & fields.keys())
        and "type" not in fields
    )


def _is_message(fields: Fields) -> bool:
    return {"id", "timestamp", "type", "content"} <= fields.keys()


def _is_record(fields: Fields) -> bool:
    is_update = bool({"$set", "$rewindTo"} & fields.keys())
    is_message = {"id", "timestamp", "type"} <= fields.keys()
    return is_message or is_update or _is_header(fields)


def _parse_typed(raw: bytes) -> list[dict[str, object]]:
    """Return the prompts in a list of them; empty for any other document."""
    try:
        value = json.loads(raw.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError):
        return []
    return [fields for fields in as_objects(value) if _is_typed(fields)]


def _is_typed(fields: Fields) -> bool:
    return {"sessionId", "messageId", "message", "timestamp"} <= fields.keys()


def _read_document(
    path: Path, start: Cursor | None, make_reader: jsonl.MakeReader
) -> Iterator[ParsedItem]:
    size = path.stat().st_size
    if size > jsonl.MAX_RECORD_BYTES:
        limit = f"{jsonl.MAX_RECORD_BYTES // 1024**2} MB"
        yield InvalidRecord(f"a document longer than {limit}", 1)
        yield Cursor(size)
        return
    raw = path.read_bytes()
    fingerprint = hashlib.blake2b(raw, digest_size=16).hexdigest()
    if start and start.fingerprint == fingerprint:
        yield start
        return
    if start and start.offset:
        yield FileReplaced("the document was written again")
    document, problem = jsonl.parse_document(raw)
    records = _parse_typed(raw) if document is None else [document]
    if records:
        if problem:
            yield PendingRecord(problem, raw.count(b"\n") + 1)
        reader = make_reader({})
        for number, record in enumerate(records, 1):
            yield from jsonl.read_one(reader, Record(number, record))
        yield from reader.finish()
    elif raw.strip().endswith((b"}", b"]")):
        yield InvalidRecord("not a session's document", 1)
    elif raw.strip():
        yield PendingRecord(jsonl.CUT_OFF, 1)
    yield Cursor(len(raw), raw.count(b"\n"), fingerprint)


class _SessionReader(SessionReader):
    def __init__(self, source: Source, context: State) -> None:
        super().__init__(source, context)
        names = (folder.name for folder in source.path.parents)
        self._folder_hash = next(filter(_HASH.fullmatch, names), "")
        """The hash of the project, if older versions called its folder by it."""
        self._hash: str = context.get("hash", self._folder_hash)
        self._kind: str = context.get("kind", "")
        self._number: int = context.get("number", 0)
        self._yielded: dict[str, str] = {}
        """A hash of the text of each item that was yielded or held, by its key."""
        self._held: Event | None = None
        """A reply that may be written again with more text."""
        self._held_id = ""
        self._renamed: set[str] = set()
        """Hashes of messages that a snapshot repeats under new ids."""
        self._is_waiting = False
        """The message being read is held, or one of its calls is pending."""

    @property
    def is_open(self) -> bool:
        # Any message may be written again.
        return bool(self._yielded) or super().is_open

    @property
    def holds_text(self) -> bool:
        return self._held is not None

    def context(self) -> State:
        own = {"hash": self._hash, "kind": self._kind, "number": self._number}
        return {**super().context(), **own}

    def finish(self) -> Iterator[ParsedItem]:
        """Yield a held reply if it will not be continued, and the facts."""
        is_complete = self.path.suffix == ".json"
        if self._held and (is_complete or self.now - self._held.timestamp > HOLD_TIME):
            yield from self._pop_held()
        session_id, subagent = self._conversation
        if subagent and session_id:
            yield SubagentMetadata(AGENT, session_id, subagent)
        yield from super().finish()

    def facts_so_far(self) -> Iterator[ParsedItem]:
        session_id, subagent = self._conversation
        facts = dict(self.facts)
        if subagent:
            facts = {name: facts.get(name, "") for name in ("at", "cwd", "cwd_hash")}
        if self.session_id:
            yield self.make_metadata(session_id, facts)

    def read_record(self, record: Record) -> Iterator[ParsedItem]:
        fields, line = record.fields, record.line
        if _is_typed(fields):
            yield from self._typed_prompt(fields, line)
        elif "$rewindTo" in fields:
            yield SkippedRecord("$rewindTo", line)
        elif "$set" in fields:
            update = fields["$set"]
            if isinstance(update, dict):
                yield from self._header(update, line)
                yield SkippedRecord("$set", line, is_stored_elsewhere=True)
            else:
                yield InvalidRecord("a $set that is not an object", line)
        elif "sessionId" in fields and "type" not in fields:
            yield from self._header(fields, line)
            yield SkippedRecord("header", line, is_stored_elsewhere=True)
        else:
            yield from self._message(fields, line)

    def _header(self, fields: dict[str, object], line: int) -> Iterator[ParsedItem]:
        session = as_text(fields.get("sessionId")).strip()
        if self.session_id and session not in ("", self.session_id):
            yield from self.facts_so_far()
            self.facts, self._hash, self._kind = {}, self._folder_hash, ""
            self._is_introduced = False
        self.session_id = session or self.session_id
        self._hash = as_text(fields.get("projectHash")) or self._hash
        self._kind = as_text(fields.get("kind")) or self._kind
        self.learn("at", fields.get("startTime"))
        self.learn("title", fields.get("summary"))
        self.learn("cwd_hash", self._hash)
        if "cwd" not in self.facts:
            folders = fields.get("directories")
            folders = folders if isinstance(folders, list) else []
            self.learn("cwd", self._project_root() or self._find_folder(folders))
        messages = fields.get("messages")
        if not isinstance(messages, list):
            return
        self._prepare_snapshot(messages)
        for message in messages:
            if isinstance(message, dict):
                yield from self._message(message, line)
            else:
                yield InvalidRecord("not a JSON object", line)

    def _typed_prompt(self, fields: Fields, line: int) -> Iterator[ParsedItem]:
        at = self.builder.parse_time(fields["timestamp"])
        yield from self._header({"sessionId": fields["sessionId"]}, line)
        yield from self.introduce()
        text = as_text(fields["message"]).strip()
        if not text or _COMMAND.fullmatch(text):
            yield SkippedRecord("a command in the history", line)
        else:
            yield self.builder.typed_prompt(Position(line, at, self.session_id), text)

    def _project_root(self) -> str:
        """Return the path in the file that newer versions write beside the chats."""
        for folder in self.path.parents[:3]:
            try:
                return (folder / ".project_root").read_text("utf-8").strip()
            except (OSError, ValueError):
                continue
        return ""

    def _find_folder(self, folders: Sequence[object]) -> str:
        """Return the folder with the session's hash, of these and of known projects."""
        for folder in self.path.parents[2:5]:
            with suppress(OSError, ValueError, RecursionError):
                fields = as_object(
                    json.loads(read_small_file(folder / "projects.json"))
                )
                folders = [*folders, *as_object(fields.get("projects"))]
        texts = map(as_text, folders)
        return next((path for path in texts if hash_folder(path) == self._hash), "")

    @property
    def _conversation(self) -> tuple[str, str]:
        """The session and the subagent that messages belong to."""
        # Only the header names the kind, and it may be torn.
        is_subagent = self._kind in ("subagent", "")
        if is_subagent and self.path.parent.parent.name == "chats":
            return self.path.parent.name, self.session_id
        return self.session_id, ""

    def _prepare_snapshot(self, messages: list[object]) -> None:
        """Find out which earlier messages a list of messages may repeat with new ids.

        A message is an earlier one if the same text was read under an id that is not
        in the list; otherwise it is a second message with the same text.
        """
        ids = {as_text(message.get("id")) for message in as_objects(messages)}
        self._renamed = set()
        for key, digest in self._yielded.items():
            kind, _, name = key.partition(":")
            if kind in _MESSAGE_KINDS and name not in ids:
                self._renamed.add(digest)

    def _message(self, fields: dict[str, object], line: int) -> Iterator[ParsedItem]:
        if self.session_id:
            yield from self.introduce()
        message_id = as_text(fields.get("id"))
        yield from self._pop_held(unless_id=message_id)
        kind = fields.get("type") or fields.get("role")
        if not isinstance(kind, str):
            yield InvalidRecord("a record without type", line)
        elif kind not in _ASSISTANT_TYPES and kind not in ("user", "error"):
            yield SkippedRecord(kind, line, count_words(fields))
        else:
            if not self.session_id:  # The header is torn.
                self.session_id = self.path.stem
                self.learn("cwd", self._project_root() or self._find_folder([]))
                self.learn("cwd_hash", self._hash)
                yield from self.introduce()
            try:
                at = self.builder.parse_time(fields.get("timestamp"))
                position = Position(line, at, *self._conversation, message_id)
                yield from self._read_kind(position, fields, kind)
                # Without an id: the reply may be written again under another one.
                model, stated = fields.get("model"), fields.get("tokens")
                yield from self.builder.usage(position, "", model, stated)
            except EventRefused as error:
                yield InvalidRecord.refused(error, line)
            except RecursionError:
                yield InvalidRecord(jsonl.TOO_DEEP, line)

    def _read_kind(
        self, position: Position, fields: dict[str, object], kind: str
    ) -> Iterator[ParsedItem]:
        self._is_waiting, is_empty = False, True
        read = {"user": self._user, "error": self._error}.get(kind, self._assistant)
        for item in read(position, fields):
            # A prompt ends the calls before it, which are no part of it.
            is_call = isinstance(item, Event) and item.is_tool_call
            is_empty = is_empty and is_call and kind == "user"
            yield item
        if is_empty and not self._is_waiting:
            reason = "a repeated message"
            yield SkippedRecord(reason, position.line, is_stored_elsewhere=True)

    def _error(
        self, position: Position, fields: dict[str, object]
    ) -> Iterator[ParsedItem]:
        text, metadata = _message_text(fields), {"kind": "error", "is_error": "true"}
        return self._text(position, text, EventRole.SYSTEM, "error", metadata)

    def _user(
        self, position: Position, fields: dict[str, object]
    ) -> Iterator[ParsedItem]:
        displayed = _message_text({"content": fields.get("displayContent")})
        text = displayed or _message_text(fields)
        if not text and any("functionResponse" in p for p in _parts(fields)):
            reason = "results recorded with their calls"
            yield SkippedRecord(reason, position.line, is_stored_elsewhere=True)
            return
        kind = "reminder" if text in _REMINDERS else None
        prompt = parse_prompt(text, kind, AGENT)
        if not prompt.kind:
            # The user wrote again: calls without a result will get none.
            conversation = position.session_id, position.subagent
            calls = self.calls.pop_conversation(*conversation)
            self._yielded |= {f"u:{call.key}": "" for call in calls}
            yield from self.unfinished_calls(calls)
        yield from self._text(
            position, prompt.text, prompt.role, "user", prompt.metadata
        )

    def _assistant(
        self, position: Position, fields: dict[str, object]
    ) -> Iterator[ParsedItem]:
        if self._conversation[1] == "":
            self.learn("model", fields.get("model"))
        for index, thought in enumerate(_thoughts(fields)):
            yield from self._thought(position, index, thought)
        text = _message_text(fields)
        if text:
            yield from self._text(position, text, EventRole.ASSISTANT, "gemini", {})
        calls = fields.get("toolCalls")
        for index, call in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(call, dict):
                yield from self._call(position, index, call)
            else:
                yield InvalidRecord("a call that is not an object", position.line)
        if not text and not calls and not fields.get("thoughts"):
            yield SkippedRecord("an empty message", position.line)

    def _text(
        self,
        position: Position,
        text: str,
        role: EventRole,
        kind: str,
        metadata: dict[str, str],
    ) -> Iterator[ParsedItem]:
        digest = content_hash(kind, text)
        key = f"{kind}:{position.key or digest}"
        before = self._yielded.get(key)
        self._yielded[key] = digest
        if before is not None:
            is_extended = kind == "gemini" and self._extend_held(position.key, text)
            if before != digest and not is_extended:
                reason = "a repeated message with other text"
                yield SkippedRecord(reason, position.line)
            return
        if digest in self._renamed:
            return
        is_prompt = kind == "user"
        event_type = (
            EventType.USER_MESSAGE if is_prompt else EventType.ASSISTANT_MESSAGE
        )
        event = self._event(position, event_type, text, role, metadata)
        self._is_waiting = kind == "gemini"
        is_whole = kind != "gemini" or not position.key
        if (
            isinstance(event, InvalidRecord)
            or is_whole
            or event.event_id in self.yielded_at_end
        ):
            yield event
        else:
            self._held, self._held_id = event, position.key

    def _extend_held(self, message_id: str, text: str) -> bool:
        text = events.clean(text)
        if self._held is None or message_id != self._held_id:
            return False
        if len(text) <= len(self._held.text):
            return False
        self._held = replace(self._held, text=text)
        return True

    def _pop_held(self, *, unless_id: str = "") -> Iterator[Event]:
        if self._held and not (unless_id and unless_id == self._held_id):
            event, self._held = self._held, None
            yield event

    def _thought(
        self, position: Position, index: int, thought: object
    ) -> Iterator[ParsedItem]:
        key = _part_key(position, index, thought)
        if f"t:{key}" in self._yielded:
            return
        self._yielded[f"t:{key}"] = ""
        fields = thought if isinstance(thought, dict) else {"description": thought}
        parts = as_text(fields.get("subject")), as_text(fields.get("description"))
        text = "\n".join(part for part in parts if part.strip())
        at = parse_time(fields.get("timestamp")) or position.at
        if not text:
            yield SkippedRecord("thinking without text", position.line)
            return
        key = key if position.key else ""
        yield self.builder.thought(replace(position, at=at), text)

    def _call(
        self, position: Position, index: int, fields: dict[str, object]
    ) -> Iterator[ParsedItem]:
        key = as_text(fields.get("id")) or _part_key(position, index, fields)
        if f"c:{key}" in self._yielded:
            return
        at = parse_time(fields.get("timestamp")) or position.at
        position = replace(position, at=at)
        name, status = as_text(fields.get("name")), as_text(fields.get("status"))
        call = ToolCall.make(key, name, fields.get("args"), position)
        if status not in _COMPLETE_STATES and fields.get("result") is None:
            if f"u:{key}" not in self._yielded:
                self._is_waiting = self._is_waiting or key not in self.calls
                self.calls.replace(call)
            return
        self.calls.pop(key)
        diff = as_object(fields.get("resultDisplay")).get("fileDiff")
        result = _result(fields)
        stated = without_output(result, fields.get("resultDisplay"))
        ending = read_ending(AGENT, name, stated, status=status)
        call = replace(call, lines=count_diff_lines(diff), ending=ending)
        self._yielded[f"c:{key}"] = ""
        if path := saved_results.find_path(result):
            result, omitted = self._saved_result(path, result, position.line)
            yield from omitted
        yield self._tool_result(position, call, result)

    def _saved_result(
        self, path: str, part: str, line: int
    ) -> tuple[str, list[SkippedRecord]]:
        """Return a large result from its file, in a folder of its session.

        Older versions have it in one folder with those of all sessions.
        """
        name, session = saved_results.file_name(path), f"session-{self.session_id}"
        places = Path(RESULTS, session, name), Path(RESULTS, name), Path(name)
        folders = self.path.absolute().parents
        for chats in (folder for folder in folders if folder.name == "chats"):
            whole, omitted = saved_results.read_whole(chats.parent, places, part, line)
            return unwrapped(whole), omitted
        return part, [saved_results.missing(part, line)]

    def unfinished_event(self, call: ToolCall, number: int) -> ParsedItem:
        assert call.position
        return self._tool_result(call.position, replace(call, ending=UNFINISHED), "")

    def _tool_result(
        self, position: Position, call: ToolCall, result: str
    ) -> ParsedItem:
        return self._event(
            position,
            EventType.TOOL_RESULT,
            call.text(result),
            EventRole.TOOL,
            call.metadata(),
            key=call.event_key,
        )

    def _event(
        self,
        position: Position,
        event_type: EventType,
        text: str,
        role: EventRole,
        metadata: dict[str, str],
        *,
        key: str | None = None,
    ) -> Event | InvalidRecord:
        self._number += 1
        message_id, source_id = position.key, ""
        key = message_id if key is None else key
        if _UUID.fullmatch(message_id):
            source_id = "/".join(dict.fromkeys((message_id, key)))
        return self.builder.event(
            position,
            event_type,
            text,
            role=role,
            key=key,
            source_id=source_id,
            ordinal=self._number,
            **metadata,
        )


def _part_key(position: Position, index: int, part: object) -> str:
    """Return the key of a call or a thought of a message.

    Without a message id, it is made of what stays the same in the part.
    """
    if position.key:
        return f"{position.key}:{index}"
    fields = part if isinstance(part, dict) else {"text": part}
    stable = {name: fields[name] for name in _STABLE_FIELDS if name in fields}
    return f"{content_hash(as_text(stable))}:{index}"


def _message_text(fields: Fields) -> str:
    content = fields.get("content") or fields.get("parts")
    return join_texts(map(_part_text, _as_list(content)))


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _part_text(part: object) -> str:
    if not isinstance(part, dict):
        return part if isinstance(part, str) else ""
    if part.get("thought") or "functionCall" in part or "functionResponse" in part:
        return ""
    for name in ("inlineData", "fileData"):
        if isinstance(file := part.get(name), dict):
            media_type = as_text(file.get("mimeType"))
            kind = "image" if media_type.startswith("image/") else "document"
            return placeholder(kind, media_type, file.get("data"))
    for name in ("executableCode", "codeExecutionResult"):
        if isinstance(code := part.get(name), dict):
            return as_text(code.get("code") or code.get("output"))
    return as_text(part.get("text"))


def _parts(fields: Fields) -> list[dict[str, object]]:
    return as_objects(fields.get("content"))


def _thoughts(fields: Fields) -> list[object]:
    beside = fields.get("thoughts")
    among = [part.get("text") for part in _parts(fields) if part.get("thought")]
    return [*(beside if isinstance(beside, list) else ()), *among]


def _result(fields: dict[str, object]) -> str:
    """Return a tool's result as the model got it, else as the user saw it."""
    texts = map(_result_part, _as_list(fields.get("result")))
    return "\n".join(filter(None, texts)) or as_text(fields.get("resultDisplay"))


def _result_part(part: object) -> str:
    if not isinstance(part, dict):
        return as_text(part)
    response = as_object(part.get("functionResponse")).get("response")
    if not isinstance(response, dict):
        return _part_text(part)
    output = response.get("output", response.get("error"))
    return unwrapped(as_text(response if output is None else output))
