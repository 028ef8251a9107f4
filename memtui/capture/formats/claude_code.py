"""Claude Code's transcripts: a file per session or subagent, a JSON object per line.

Text that the program wrote in the user's name (command wrappers, caveats, reminders,
compaction summaries) gets the role ``system`` and a ``kind``. A tool call and its
result become one event with the result's time; so do the records of one assistant
message. A sidechain is Claude Code's word for a subagent's records.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path, PurePath, PureWindowsPath
from typing import Any

from memtui.capture.formats import saved_results
from memtui.capture.formats.base import (
    HOLD_TIME,
    TRANSCRIPT,
    EventBuilder,
    Fields,
    InvalidRecord,
    MessageTitle,
    ParsedItem,
    Position,
    Record,
    SkippedRecord,
    Source,
    State,
    ToolCall,
    as_object,
    as_objects,
    as_text,
    count_edit_lines,
    count_words,
    first_text,
    join_texts,
    message_texts,
    parse_time,
    result_text,
    text_digest,
)
from memtui.capture.formats.endings import read_ending, read_flags
from memtui.capture.formats.jsonl import JsonLinesFormat, RecordReader
from memtui.capture.formats.prompts import (
    clean_title,
    find_system_kind,
    parse_prompt,
    split_messages,
    split_prompt,
)
from memtui.files import read_small_file
from memtui.model.events import (
    Event,
    EventRefused,
    EventType,
    Provenance,
    SourceCopy,
    clean,
    to_ms,
)
from memtui.model.sessions import SessionMetadata, SubagentMetadata
from memtui.text.stopwords import word_set

AGENT = "claude-code"

_OWN_TYPES = word_set(
    """agent-name atis-latch bridge-session file-history-snapshot frame-link last-prompt
    permission-mode pr-link queue-operation relocated worktree-state"""
)
"""Types of records that no other agent writes."""

_PLACE = ("cwd", "root", "at")

_NOTICES = frozenset({"away_summary", "local_command", "api_refusal", "error"})
"""The subtypes of system records that are part of a conversation."""

TITLE_FIELDS = {
    "custom-title": "customTitle",
    "ai-title": "aiTitle",
    "summary": "summary",
}
"""The types of records with the title of a session, and the field it is in."""

_GIVEN_TITLE = "custom-title"
"""The type of the one that the user gave."""

_BLOCK_TYPES = frozenset({"text", "image", "document", "tool_use", "tool_result"})

_SLASH_COMMAND = re.compile(
    r"\s*<command-message>[^<]*</command-message>\s*<command-name>/?([^<\s]+)"
    r"</command-name>(?:\s*<command-args>(.*)</command-args>)?\s*",
    re.DOTALL | re.IGNORECASE,
)
"""A command that is a prompt for the model. Commands for the program itself begin with
``<command-name>`` instead."""

_PROGRAM_COMMAND = re.compile(
    r"\s*<command-name>/?([^<\s]+)</command-name>\s*<command-message>[^<]*"
    r"</command-message>\s*<command-args>(?!\s*</)(.*)</command-args>\s*",
    re.DOTALL | re.IGNORECASE,
)
"""A command for the program that was typed with arguments."""

RESULTS = "tool-results"
"""The folder of a session, or of a subagent, with large results of tools."""

_SYNTHETIC_MODEL = "<synthetic>"

_REMEMBERED_MESSAGES = 20
"""The number of messages compared with a queued prompt recorded after them."""

_REPEATED_WITHIN = timedelta(days=1)
"""The time within which a message may repeat a prompt stored as it was typed."""

_QUEUE_TIME = timedelta(hours=1)
"""The longest time for which a prompt in the queue is held back."""

_IMAGE = re.compile(r"\[(?:image|document)(?:: [^\[\]\n]+)?\]")
"""A placeholder, which a queued prompt does not have."""

_SHELL_INPUT = re.compile(r"\A<bash-input>(.*)</bash-input>\Z", re.DOTALL)
"""The record of a shell command, which begins with an exclamation mark in the queue."""

_QUEUED_BY_PROGRAM = re.compile(r'(/[a-z][\w:-]*(?:\s|\Z))|\{"task_id":')
"""A queued command or notification. A command that is a prompt for the model is
recorded again."""


_BARE_COMMAND = re.compile(r"/[a-z][\w:-]*|exit|quit|:wq?!?|:q!?")
"""A typed command without anything of the user's."""

_PASTED = re.compile(r"\[(?:Pasted text|\.\.\.Truncated text) #(\d+)[^\[\]\n]*\]")
"""The placeholder of a longer text in a typed prompt."""

PASTED_TEXTS = "paste-cache"
"""The folder beside the history with long pasted texts, named by their digests."""

_DIGEST = re.compile(r"[0-9a-f]{8,64}")


def _is_qwen_record(fields: dict[str, object]) -> bool:
    message = fields.get("message")
    return "systemPayload" in fields or (
        isinstance(message, dict) and "parts" in message
    )


def _is_typed_prompt(fields: Fields) -> bool:
    """Return whether a record is a prompt in ``history.jsonl``, as it was typed."""
    return {"display", "timestamp"} <= fields.keys() and "type" not in fields


def _with_pasted_texts(fields: Fields, history: Path) -> tuple[str, bool]:
    """Return a typed prompt with what was pasted, and whether some of it is missing."""
    pasted, is_missing = as_object(fields.get("pastedContents")), False

    def replacement(match: re.Match[str]) -> str:
        nonlocal is_missing
        content = as_object(pasted.get(match[1]))
        text = content.get("content")
        if not isinstance(text, str):
            text = _read_pasted_text(history, as_text(content.get("contentHash")))
        is_missing |= text is None
        return match[0] if text is None else text

    text = _PASTED.sub(replacement, as_text(fields.get("display")))
    return text.strip(), is_missing


def _read_pasted_text(history: Path, digest: str) -> str | None:
    """Return a long pasted text from its own file; links are not followed."""
    if not _DIGEST.fullmatch(digest):
        return None
    try:
        file = history.parent.resolve() / PASTED_TEXTS / f"{digest}.txt"
        if file.resolve() != file:
            return None
        return read_small_file(file).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None


def _repeating_kind(fields: Fields) -> str:
    """Return the kind of a record that repeats what transcripts contain, or "".

    A workflow has a journal of its subagents, and Cowork an audit log of its sessions.
    """
    if fields.get("type") in ("started", "result") and "agentId" in fields:
        return f"journal/{fields['type']}"
    return (
        f"audit/{as_text(fields.get('type'))}" if "_audit_timestamp" in fields else ""
    )


def _is_thinking(block: dict[str, object]) -> bool:
    return "thinking" in str(block.get("type"))


def _declared_kind(fields: dict[str, object], text: str) -> str | None:
    """Return the kind of a user record whose fields say that a program wrote it.

    None if its text decides.
    """
    origin_kind = as_text(as_object(fields.get("origin")).get("kind"))
    if fields.get("isCompactSummary"):
        return "compact_summary"
    if origin_kind not in ("", "human"):
        return origin_kind
    # A member of a team of agents begins with the role that its leader gave it.
    is_role = fields.get("teamName") and fields.get("agentName")
    if is_role and not fields.get("parentUuid"):
        return "teammate"
    is_meta = fields.get("isMeta")
    return (find_system_kind(split_prompt(text)[0]) or "meta") if is_meta else None


def _slash_command(fields: dict[str, object], text: str) -> tuple[str, str | None]:
    """Return a command as it was typed, and its kind if the program ran it.

    Any other text is returned unchanged, and None: its kind is not decided.
    """
    kind = None
    match = None if fields.get("isMeta") else _SLASH_COMMAND.fullmatch(text)
    if not match and (match := _PROGRAM_COMMAND.fullmatch(text)):
        kind = "command"
    typed = f"/{match[1]} {(match[2] or '').strip()}".strip() if match else text
    return typed, kind


def _subagent_message(fields: dict[str, object]) -> dict[str, object]:
    """Return the complete subagent message in a progress record, or {}."""
    progress = as_object(fields.get("data"))
    message = as_object(progress.get("message"))
    is_message = message.get("type") in ("user", "assistant")
    if progress.get("type") != "agent_progress" or not is_message:
        return {}
    outer = {name: fields.get(name) for name in ("sessionId", "cwd", "timestamp")}
    agent = {"agentId": progress.get("agentId"), "isSidechain": True}
    return {**outer, **message, **agent}


def _queued_prompt(fields: dict[str, object]) -> dict[str, object]:
    """Return a prompt that the agent got while it worked, as a user record, or {}."""
    attachment = as_object(fields.get("attachment"))
    if attachment.get("type") != "queued_command":
        return {}
    message = {"content": attachment.get("prompt")}
    mode, origin = attachment.get("commandMode"), attachment.get("origin")
    if mode not in (None, "", "prompt"):
        origin = {"kind": mode}
    return {**fields, "type": "user", "message": message, "origin": origin}


def _cowork_file(path: Path) -> Path | None:
    """Return the file that Cowork writes beside the folder of a session's transcripts.

    They are in ``local_ID/.claude/projects``, and it is ``local_ID.json``.
    """
    for folder in path.parents:
        if folder.name == ".claude" and folder.parent.name.startswith("local_"):
            return folder.parent.with_name(f"{folder.parent.name}.json")
    return None


def _cowork_facts(path: Path) -> dict[str, str]:
    """Return the title and the folder of a session of Cowork.

    Its records name a folder of the virtual machine that it runs in.
    """
    if (file := _cowork_file(path)) is None:
        return {}
    try:
        fields = as_object(json.loads(read_small_file(file)))
    except (OSError, ValueError, RecursionError):
        return {}
    folders = fields.get("userSelectedFolders")
    folder = as_text(folders[0]) if isinstance(folders, list) and folders else ""
    facts = {"title": clean_title(as_text(fields.get("title"))), "cwd": folder}
    return {name: value for name, value in facts.items() if value}


SUBAGENTS = "subagents"
"""The folder of a session with the transcripts of its subagents."""


def _subagents_folder(path: Path) -> Path | None:
    """Return the folder of a session's subagents that a file is in, if it is in one.

    Those of a workflow are in ``subagents/workflows/<workflow>``.
    """
    folders = path.parents if path.name.startswith("agent-") else [path.parent]
    return next((folder for folder in folders if folder.name == SUBAGENTS), None)


def _is_journal(path: PurePath) -> bool:
    """Return whether a file is a workflow's journal, which repeats its transcripts."""
    return path.name == "journal.jsonl" and path.parent.parent.name == "workflows"


class _TranscriptReader(RecordReader):
    def __init__(self, source: Source, context: State) -> None:
        super().__init__(source, context)
        self.builder = EventBuilder(AGENT, source.now, has_unique_keys=True)
        self._subagents_folder = _subagents_folder(source.path)
        self._sessions = _Sessions(
            context.get("places", {}), _cowork_facts(source.path)
        )
        self._held = _HeldMessages()
        self._queue = _PromptQueue(context.get("messages", ()), self.yielded_at_end)
        self._sidechains: dict[str, str] = {}
        """The subagent of each record of a sidechain, if the file does not name it."""

    @property
    def is_open(self) -> bool:
        waiting = self.calls or self._queue.prompts or self._sidechains
        return bool(waiting) or self.holds_text

    @property
    def holds_text(self) -> bool:
        return bool(self._held.messages) or self._queue.holds_text

    def context(self) -> State:
        places, messages = self._sessions.places(), self._queue.messages
        return {"places": places, "messages": messages}

    def finish(self) -> Iterator[ParsedItem]:
        yield from self._held.pop_old(self.now)
        yield from self._queue.list_old(self.now)
        yield from self.calls_so_far()
        if self._subagents_folder:
            yield from self._subagent_metadata()
        yield from self._sessions.titles_by_message()
        yield from self.facts_so_far()

    def facts_so_far(self) -> Iterator[ParsedItem]:
        return self._sessions.all_metadata()

    def _subagent_metadata(self) -> Iterator[SubagentMetadata]:
        """Yield a subagent's metadata, from the ``.meta.json`` file beside its file."""
        try:
            file = self.path.with_suffix(".meta.json")
            fields = as_object(json.loads(read_small_file(file)))
        except (OSError, ValueError, RecursionError):
            fields = {}
        for session in self._sessions.ids():
            yield SubagentMetadata(
                agent=AGENT,
                session_id=session,
                subagent=self.path.stem.removeprefix("agent-"),
                kind=as_text(fields.get("agentType")),
                tool_use_id=as_text(fields.get("toolUseId")),
                task=as_text(fields.get("description")),
            )

    def read_record(self, record: Record) -> Iterator[ParsedItem]:
        line, fields = record.line, record.fields
        kind, subtype = fields.get("type"), as_text(fields.get("subtype"))
        if _is_typed_prompt(fields):
            yield from self._typed_prompt(line, fields)
        elif not isinstance(kind, str):
            yield InvalidRecord("a record without type", line)
        elif label := _repeating_kind(fields):
            yield SkippedRecord(label, line, is_stored_elsewhere=True)
        elif kind == "summary":
            is_read = self._sessions.add_summary(fields)
            yield SkippedRecord(kind, line, is_stored_elsewhere=is_read)
        elif kind in TITLE_FIELDS:
            self._sessions.add_title(fields)
            yield SkippedRecord(kind, line, is_stored_elsewhere=True)
        elif kind == "worktree-state":
            is_read = self._sessions.add_worktree(fields)
            yield SkippedRecord(kind, line, is_stored_elsewhere=is_read)
        elif kind in ("user", "assistant"):
            yield from self._message(line, fields)
        elif kind == "progress" and (message := _subagent_message(fields)):
            yield from self._message(line, message)
        elif kind == "attachment" and (prompt := _queued_prompt(fields)):
            yield from self._message(line, prompt)
        elif kind == "queue-operation":
            yield from self._queue_operation(line, fields)
        elif subtype == "compact_boundary" or (
            subtype in _NOTICES and fields.get("content")
        ):
            yield from self._notice(line, fields)
        else:
            inner = as_object(fields.get("attachment", fields.get("data")))
            subtype = subtype or as_text(inner.get("type"))
            yield SkippedRecord(f"{kind}/{subtype}" if subtype else kind, line)

    def _typed_prompt(
        self, line: int, fields: dict[str, object]
    ) -> Iterator[ParsedItem]:
        """Read a prompt in ``history.jsonl``, with the texts that were pasted."""
        if not fields.get("sessionId"):  # Older versions do not name it.
            yield SkippedRecord("a prompt of an unknown session", line)
            return
        text, missing = _with_pasted_texts(fields, self.path)
        position = self._position(line, {**fields, "cwd": fields.get("project")})
        yield from self._sessions.metadata_once(position.session_id)
        if not text or _BARE_COMMAND.fullmatch(text):
            yield SkippedRecord("a command in the history", line)
            return
        if missing:
            yield SkippedRecord("a pasted text that is missing", line)
        if text.startswith("!"):
            text = f"<bash-input>{text[1:]}</bash-input>"  # as in transcripts
        yield self.builder.typed_prompt(position, text)

    def _position(self, line: int, fields: dict[str, object]) -> Position:
        at = self.builder.parse_time(fields.get("timestamp"))
        session = as_text(fields.get("sessionId"))
        if self._subagents_folder and session.startswith("agent-"):
            session = self._subagents_folder.parent.name
        if not session.strip():
            raise EventRefused("no session id")
        uuid = as_text(fields.get("uuid"))
        source = as_text(as_object(fields.get("forkedFrom")).get("sessionId"))
        self._sessions.add_record(session, fields, at, forked_from=source)
        return Position(
            line, at, source or session, self._subagent_of(uuid, fields), uuid
        )

    def _subagent_of(self, uuid: str, fields: dict[str, object]) -> str:
        """Return a record's subagent: that of its file, its own or its parent's."""
        if self._subagents_folder:
            return self.path.stem.removeprefix("agent-")
        if not fields.get("isSidechain"):
            return ""
        if agent_id := as_text(fields.get("agentId")):
            return agent_id
        parent = as_text(fields.get("parentUuid"))
        self._sidechains[uuid] = self._sidechains.get(parent, uuid[:8] or "sidechain")
        return self._sidechains[uuid]

    def _message(self, line: int, fields: dict[str, object]) -> Iterator[ParsedItem]:
        position = self._position(line, fields)
        yield from self._sessions.metadata_once(position.session_id)
        message = fields.get("message")
        if not isinstance(message, dict) or "content" not in message:
            yield InvalidRecord("a message without content", line)
        elif fields["type"] == "user":
            yield from self._user(position, fields, message["content"])
        else:
            yield from self._assistant(position, fields, message)
            # Each record of a message states it.
            message_id = first_text(message, "id") or first_text(fields, "requestId")
            about = message_id, message.get("model"), message.get("usage")
            cost = fields.get("costUSD")
            yield from self.builder.usage(position, *about, cost=cost)

    def _user(
        self, position: Position, fields: dict[str, object], content: object
    ) -> Iterator[ParsedItem]:
        yield from self._held.pop(position)
        results = [b for b in as_objects(content) if b.get("type") == "tool_result"]
        # It repeats the result, if there is only one.
        structured = as_object(fields.get("toolUseResult")) if len(results) == 1 else {}
        for block in results:
            call = self.calls.pop(as_text(block.get("tool_use_id")))
            text = result_text(block.get("content"))
            path = saved_results.find_path(text)
            if path := path or as_text(structured.get("persistedOutputPath")):
                places = self._result_places(path, call.key)
                text, omitted = saved_results.read_whole(*places, text, position.line)
                yield from omitted
            stated = read_flags(structured)
            stated["has_failed"] = bool(block.get("is_error"))
            ending = read_ending(AGENT, call.tool_name, text, **stated)
            lines = count_edit_lines(structured)
            call = replace(call, lines=lines, ending=ending)
            yield self.builder.tool_result(position, call, text)
        yield from self._unknown_blocks(position, "user", content)
        text = join_texts(message_texts(content))
        if not text:
            if not results:
                yield SkippedRecord("a message without text", position.line)
            return
        text, kind = _slash_command(fields, text)
        kind = kind or _declared_kind(fields, text)
        for number, part in enumerate([text] if kind else split_messages(text)):
            if number and position.key:
                position = replace(position, key=f"{position.key}/{number}")
            event = self.builder.prompt(position, part, kind)
            if isinstance(event, InvalidRecord):
                yield event
                continue
            if event.metadata.get("kind") == "interruption":
                conversation = position.session_id, position.subagent
                calls = self.calls.pop_conversation(*conversation)
                yield from self.unfinished_calls(calls)
            yield from self._queue.match(event)

    def _result_places(self, path: str, key: str) -> tuple[Path, list[Path]]:
        """Return the folder of the project, and where in it a large result may be.

        Some files are named by the id of their call. A fork has results of the session
        that it is a copy of.
        """
        own = session = self.path.with_suffix("")
        if self._subagents_folder:
            session = self._subagents_folder.parent
        project = session.parent
        *_, other, folder_name, _ = ("", "", "", *PureWindowsPath(path).parts)
        folders = [session, own, *([project / other] if folder_name == RESULTS else [])]
        names = (saved_results.file_name(path), f"{key}.txt", f"{key}.json")
        return project, [
            folder.relative_to(project) / RESULTS / name
            for folder in dict.fromkeys(folders)
            for name in names
        ]

    def _queue_operation(
        self, line: int, fields: dict[str, object]
    ) -> Iterator[ParsedItem]:
        operation = as_text(fields.get("operation"))
        text = join_texts(message_texts(fields.get("content"))).strip()
        position = self._position(line, fields)
        if operation != "enqueue" or not text:
            taken = [self._queue.take(position, part) for part in split_messages(text)]
            reason = f"queue-operation/{operation}"
            yield SkippedRecord(reason, line, is_stored_elsewhere=all(taken))
            return
        yield from self._sessions.metadata_once(position.session_id)
        match = _QUEUED_BY_PROGRAM.match(text)
        kind = ("command" if match[1] else "notification") if match else None
        for part in split_messages(text):
            event = self.builder.prompt(position, part, kind)
            if isinstance(event, InvalidRecord):
                yield event
            elif not self._queue.add(event):
                reason = "a queued prompt, recorded twice"
                yield SkippedRecord(reason, line, is_stored_elsewhere=True)

    def _assistant(
        self, position: Position, fields: dict[str, object], message: dict[str, object]
    ) -> Iterator[ParsedItem]:
        content, message_id = message["content"], as_text(message.get("id"))
        yield from self._held.pop(position, unless_id=message_id)
        text = join_texts(message_texts(content))
        if text:
            event = self.builder.event(
                position,
                EventType.ASSISTANT_MESSAGE,
                text,
                message_id=message_id,
                kind="api_error" if fields.get("isApiErrorMessage") else "",
            )
            if (
                isinstance(event, InvalidRecord)
                or not message_id
                or event.event_id in self.yielded_at_end
            ):
                yield event
            else:
                self._held.add(event)
        is_empty = not text
        for block in as_objects(content):
            if block.get("type") == "tool_use":
                is_empty = False
                yield from self._call(position, block)
            elif _is_thinking(block):
                is_empty = False
                yield self._thinking(position, block)
        yield from self._unknown_blocks(position, "assistant", content)
        if is_empty:
            yield SkippedRecord("a message without text", position.line)
        if message.get("stop_reason"):
            yield from self._held.pop(position)

    def _unknown_blocks(
        self, position: Position, role: str, content: object
    ) -> Iterator[SkippedRecord]:
        for block in as_objects(content):
            kind = as_text(block.get("type"))
            if kind not in _BLOCK_TYPES and not _is_thinking(block):
                reason = f"{role}/{kind or 'block without a type'}"
                yield SkippedRecord(reason, position.line, count_words(block))

    def _call(
        self, position: Position, block: dict[str, object]
    ) -> Iterator[ParsedItem]:
        call = ToolCall.make(
            as_text(block.get("id")),
            as_text(block.get("name")),
            block.get("input"),
            position,
        )
        if replaced := self.calls.replace(call):
            yield from self.unfinished_calls([replaced])

    def _thinking(self, position: Position, block: dict[str, object]) -> ParsedItem:
        text = as_text(block.get("thinking"))
        if not text.strip():
            return SkippedRecord("thinking without text", position.line)
        return self.builder.thought(position, text)

    def _notice(self, line: int, fields: dict[str, object]) -> Iterator[ParsedItem]:
        position, kind = self._position(line, fields), as_text(fields["subtype"])
        yield from self._sessions.metadata_once(position.session_id)
        text = as_text(fields.get("content"))
        if kind == "compact_boundary":
            start = EventType.SESSION_START
            yield self.builder.event(position, start, text, source="compact")
        else:
            yield self.builder.system_message(position, text, kind)


class _HeldMessages:
    """Assistant messages that the next record may continue, one per conversation."""

    def __init__(self) -> None:
        self.messages: dict[tuple[str, str], Event] = {}

    def add(self, event: Event) -> None:
        """Hold a message, after the texts of it that are held already."""
        conversation = event.session_id, event.subagent
        if before := self.messages.get(conversation):
            text = event.text
            # A later record may repeat the text before it and continue it.
            if not text.startswith(before.text):
                text = f"{before.text}\n\n{text}"
            event = replace(before, text=text)
        self.messages[conversation] = event

    def pop(self, position: Position, *, unless_id: str = "") -> Iterator[Event]:
        conversation = position.session_id, position.subagent
        held = self.messages.get(conversation)
        # An empty id matches no held message.
        if held and held.metadata.get("message_id") != (unless_id or None):
            del self.messages[conversation]
            yield held

    def pop_old(self, now: datetime) -> Iterator[Event]:
        for conversation, held in list(self.messages.items()):
            if now - held.timestamp > HOLD_TIME:
                del self.messages[conversation]
                yield held


@dataclass(slots=True)
class _QueuedPrompt:
    event: Event
    left_at: datetime | None = None
    """The time at which it was taken from the queue; None while it is in it."""
    words: str = field(init=False)

    def __post_init__(self) -> None:
        self.words = _words(self.event.text)


class _PromptQueue:
    """Prompts typed while the agent was busy.

    Most are recorded again when the agent gets them, and that record counts. Those that
    are not are yielded as they were typed: a moment after they left the queue, or
    after an hour. A record that repeats such a prompt later is a copy of it.
    """

    def __init__(self, messages: Iterable[Sequence[Any]], yielded: set[str]) -> None:
        self.prompts: list[_QueuedPrompt] = []
        self.messages: list[tuple[str, int]] = [(text, at) for text, at in messages]
        """Hashes of the latest messages; and their times, or 0 if they were queued."""
        self._yielded = yielded
        """The ids of the prompts that were yielded as they were typed."""

    @property
    def holds_text(self) -> bool:
        return not all(map(self._is_yielded, self.prompts))

    def _is_yielded(self, prompt: _QueuedPrompt) -> bool:
        return prompt.event.event_id in self._yielded

    def add(self, event: Event) -> bool:
        """Add a prompt; return whether it is not recorded yet."""
        digest, at_ms = _digest(event), to_ms(event.timestamp)
        for number, (message, message_ms) in enumerate(self.messages):
            if message == digest and message_ms >= at_ms:
                before, after = self.messages[:number], self.messages[number + 1 :]
                self.messages = [*before, (digest, 0), *after]
                return False
        if any(prompt.event.event_id == event.event_id for prompt in self.prompts):
            return False
        self.prompts.append(_QueuedPrompt(event))
        return True

    def take(self, position: Position, text: str) -> bool:
        """Note that the first prompt of a session, or this one, left its queue.

        Returns True if the text is stored, or will be, with another record.
        """
        words = _words(clean(parse_prompt(text).text))
        queued = [
            prompt
            for prompt in self.prompts
            if prompt.event.session_id == position.session_id
        ]
        waiting = [prompt for prompt in queued if not prompt.left_at]
        taken = _find_repeated(waiting, words) if words else waiting[:1]
        for prompt in taken:
            prompt.left_at = position.at
        is_recorded = text_digest(position.session_id, words) in dict(self.messages)
        return is_recorded or bool(taken or _find_repeated(queued, words))

    def match(self, event: Event) -> Iterator[Event]:
        """Yield a message, or the queued prompts that it repeats."""
        if event.subagent:
            yield event
            return
        self._remove(
            prompt
            for prompt in self.prompts
            if self._is_yielded(prompt)
            and event.timestamp - prompt.event.timestamp >= _REPEATED_WITHIN
        )
        queued = [
            prompt
            for prompt in self.prompts
            if prompt.event.session_id == event.session_id
            and prompt.event.timestamp <= event.timestamp
        ]
        repeated = _find_repeated(queued, _words(event.text))
        self._remove(repeated)
        self._remember(event, 0 if repeated else to_ms(event.timestamp))
        if not any(map(self._is_yielded, repeated)):
            yield event
            return
        copy = SourceCopy(event.event_id, TRANSCRIPT)
        for prompt in repeated:
            if self._is_yielded(prompt):
                provenance = Provenance(TRANSCRIPT, copies=(copy,))
                yield replace(prompt.event, provenance=provenance)
            else:
                yield prompt.event

    def _remove(self, prompts: Iterable[_QueuedPrompt]) -> None:
        removed = list(prompts)
        self.prompts = [prompt for prompt in self.prompts if prompt not in removed]
        for prompt in removed:
            self._remember(prompt.event)

    def _remember(self, event: Event, at_ms: int = 0) -> None:
        message = _digest(event), at_ms
        self.messages = [*self.messages[1 - _REMEMBERED_MESSAGES :], message]

    def list_old(self, now: datetime) -> Iterator[Event]:
        """Yield the prompts that no record will repeat soon."""
        for prompt in self.prompts:
            if prompt.left_at:
                is_old = now - prompt.left_at > HOLD_TIME
            else:
                is_old = now - prompt.event.timestamp > _QUEUE_TIME
            if is_old:
                yield prompt.event


def _find_repeated(prompts: list[_QueuedPrompt], words: str) -> list[_QueuedPrompt]:
    """Return the queued prompts that a text repeats; it may join several."""
    queued = [prompt for prompt in prompts if prompt.words in words]
    for start in range(len(queued)):
        joined = ""
        for end, prompt in enumerate(queued[start:], start + 1):
            joined = f"{joined} {prompt.words}".strip()
            if joined == words:
                return queued[start:end]
            if not words.startswith(joined):
                break
    return []


def _digest(event: Event) -> str:
    return text_digest(event.session_id, _words(event.text))


def _words(text: str) -> str:
    """Return a text by which repetitions are recognized."""
    text = _SHELL_INPUT.sub(r"!\1", text)
    return " ".join(_IMAGE.sub(" ", text).split())


class _Sessions:
    """The folder, branch, title, model and origin of the sessions in a transcript."""

    def __init__(
        self, places: Mapping[str, Mapping[str, str]], certain: Mapping[str, str]
    ) -> None:
        """Continue with these places; what is certain counts more than the records."""
        self._certain = certain
        self._facts = {session: dict(place) for session, place in places.items()}
        self._announced: set[tuple[str, bool]] = set()
        self._summaries: dict[str, str] = {}
        """Titles by the uuid of the record that their session, which may be in another
        file, ended with."""

    def places(self) -> dict[str, dict[str, str]]:
        """Return the folders of each session, and since when they are known."""
        return {
            session: {name: facts[name] for name in _PLACE if name in facts}
            for session, facts in self._facts.items()
        }

    def ids(self) -> list[str]:
        return list(self._facts)

    def add_record(
        self,
        session: str,
        fields: dict[str, object],
        at: datetime,
        *,
        forked_from: str = "",
    ) -> None:
        """Add the facts in a message's record; the earliest decides on the folder."""
        if forked_from:
            self.add_record(forked_from, fields, at)
        facts = self._facts.setdefault(session, {})
        cwd, before = as_text(fields.get("cwd")), facts.get("at")
        if cwd and (not before or at < datetime.fromisoformat(before)):
            facts |= {"cwd": cwd, "at": at.isoformat()}
        model = as_text(as_object(fields.get("message")).get("model"))
        latest = {
            "forked_from": forked_from,
            "branch": as_text(fields.get("gitBranch")),
            "model": "" if model == _SYNTHETIC_MODEL else model,
        }
        facts |= {name: value for name, value in latest.items() if value}
        if creator := as_text(fields.get("entrypoint")):
            facts.setdefault("created_by", creator)

    def add_summary(self, fields: Fields) -> bool:
        """Add the title of a session, here or in another file; return whether it is
        one."""
        title = clean_title(as_text(fields.get("summary")))
        leaf = fields.get("leafUuid")
        if isinstance(leaf, str) and leaf and title:
            self._summaries[leaf] = title
            return True
        return False

    def titles_by_message(self) -> Iterator[MessageTitle]:
        for leaf, title in self._summaries.items():
            yield MessageTitle(AGENT, leaf, title)

    def add_title(self, fields: dict[str, object]) -> None:
        title = clean_title(as_text(fields.get(TITLE_FIELDS[str(fields["type"])])))
        is_given = fields["type"] == _GIVEN_TITLE
        if session := as_text(fields.get("sessionId")):
            facts = self._facts.setdefault(session, {})
            if is_given:
                facts["given_title"] = title
            elif title:
                facts["title"] = title

    def add_worktree(self, fields: Fields) -> bool:
        """Add the folder of which a session's worktree was made, if there is one."""
        worktree = as_object(fields.get("worktreeSession"))
        session, folder = as_text(fields.get("sessionId")), worktree.get("originalCwd")
        if session and isinstance(folder, str) and folder:
            self._facts.setdefault(session, {})["root"] = folder
            return True
        return False

    def metadata_once(self, session: str) -> Iterator[SessionMetadata]:
        """Yield a session's metadata at the first event, and at the first with its
        folder: events need the project."""
        metadata = self._metadata(session)
        key = session, bool(metadata.cwd)
        if key not in self._announced:
            self._announced.add(key)
            yield metadata

    def all_metadata(self) -> Iterator[SessionMetadata]:
        for session, facts in self._facts.items():
            if facts.get("given_title") == "":  # The user took it away.
                yield SessionMetadata(AGENT, session, is_title_given=True)
            yield self._metadata(session)

    def _metadata(self, session: str) -> SessionMetadata:
        facts: dict[str, Any] = dict(self._facts[session])
        at = parse_time(facts.pop("at", None))
        if given := facts.pop("given_title", ""):
            facts |= {"title": given, "is_title_given": True}
        facts |= self._certain
        return SessionMetadata(agent=AGENT, session_id=session, at=at, **facts)


def _is_record(fields: dict[str, object]) -> bool:
    kind, message = fields.get("type"), fields.get("message")
    if _is_typed_prompt(fields):
        return True
    if not isinstance(kind, str):
        return False
    if _repeating_kind(fields):
        return True
    if kind in ("user", "assistant"):
        return isinstance(message, dict) and "content" in message
    if kind in TITLE_FIELDS and TITLE_FIELDS[kind] in fields:
        return True
    # Claude Code's records have a uuid where other agents' have an id.
    return kind in _OWN_TYPES or ("sessionId" in fields and "id" not in fields)


class ClaudeCodeFormat(JsonLinesFormat):
    """Transcripts in ``~/.claude/projects/<folder>/<session>.jsonl``."""

    def matches_path(self, path: PurePath) -> bool:
        return super().matches_path(path) and not _is_journal(path)

    def is_beside(self, path: PurePath) -> bool:
        if path.parent.name == RESULTS:
            session = Path(path).parents[1]
            transcripts = (
                session.with_name(f"{session.name}.jsonl"),
                session / SUBAGENTS,
            )
            return any(place.exists() for place in transcripts)
        if path.match("local_*.json"):
            return Path(path).with_suffix("").is_dir()
        is_read = path.name.endswith(".meta.json") or path.parent.name == PASTED_TEXTS
        return is_read or _is_journal(path)

    def related_files(self, path: Path) -> Iterable[Path]:
        if _subagents_folder(path):
            yield path.with_suffix(".meta.json")
        if file := _cowork_file(path):
            yield file

    def matches_content(self, path: Path, head: Sequence[Record]) -> bool:
        is_qwen = any(_is_qwen_record(record.fields) for record in head)
        return not is_qwen and super().matches_content(path, head)


FORMAT = ClaudeCodeFormat(AGENT, "Claude Code", _is_record, _TranscriptReader)
