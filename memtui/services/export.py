"""Exports: everything as JSON lines, or one conversation as Markdown.

Both are read and written in pages, so that a long one takes no more memory.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import tzinfo
from functools import cache
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, TextIO

from memtui.model.events import (
    BOUNDARIES,
    Event,
    EventRole,
    Thought,
    remove_tag_characters,
)
from memtui.model.sessions import Session, SessionMetadata, SubagentMetadata
from memtui.services import conversation
from memtui.services.conversation import ConversationInfo, ConversationKey
from memtui.store import backup, database, events
from memtui.text import markdown

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

PAGE_SIZE = 100  # The events of a conversation that are read at once.

# Everything as JSON lines

_RECORD_NAMES = {
    SessionMetadata: "session",
    Event: "event",
    SubagentMetadata: "subagent",
    Thought: "thought",
}


def export_events(file: Path, *, may_replace: bool) -> Counter[str]:
    """Write all records into a file; after an error there is no partial file.

    Returns the number of each kind: of sessions, events, subagents and thoughts.

    Raises:
        StoreError: It cannot be written, or exists and may not be replaced.
    """
    with (
        backup.replacement(file, may_replace=may_replace) as draft,
        draft.open("w", encoding="utf-8", errors="replace") as opened,
    ):
        return write_events(opened)


def write_events(opened: TextIO) -> Counter[str]:
    """Write all records as lines (docs/jsonl.md); return the number of each kind."""
    from memtui.capture.formats import plain  # imports all formats

    counts: Counter[str] = Counter()
    with database.connection():
        for record in events.read_all():
            opened.write(plain.to_line(record))
            counts[_RECORD_NAMES[type(record)]] += 1
        opened.flush()
    return counts


# A conversation as Markdown

MAX_PASSES = 5
"""The most times that Markdown is parsed again: without HTML more of it may be HTML."""


def file_name(session: Session, zone: tzinfo) -> str:
    """Return a file name for a session: its day and its title."""
    words = re.findall(r"\w+", session.title.lower())
    title = "-".join(words)[:60].strip("-") or session.session_id[:8]
    return f"{session.created_at.astimezone(zone):%Y-%m-%d}-{title}.md"


def write_lines(file: Path, lines: Iterable[str], *, may_replace: bool) -> None:
    """Write lines into a file; after an error there is no partial file.

    Raises:
        StoreError: It cannot be written, or exists and may not be replaced.
    """
    with (
        backup.replacement(file, may_replace=may_replace) as draft,
        draft.open("w", encoding="utf-8", errors="replace") as opened,
    ):
        for line in lines:
            opened.write(remove_tag_characters(f"{line}\n"))
        opened.flush()


def write_conversation(whose: ConversationKey, zone: tzinfo) -> Iterator[str]:
    """Yield the lines of a conversation as Markdown.

    Raises:
        ConversationGoneError: The session is not stored any more.
    """
    for _, line in list_lines(whose, zone):
        yield line


def list_lines(whose: ConversationKey, zone: tzinfo) -> Iterator[tuple[str, str]]:
    """Yield the lines of a conversation as Markdown, each with the id of its event.

    Raises:
        ConversationGoneError: The session is not stored any more.
    """
    about = conversation.get_info(whose)
    for line in _header(about, whose, zone):
        yield "", line
    day = ""
    for start in range(0, len(about.positions), PAGE_SIZE):
        end = start + PAGE_SIZE
        for turn in conversation.read_turns(whose, about.positions, start, end):
            at = turn.event.timestamp.astimezone(zone)
            if (event_day := f"{at:%A} {at.day} {at:%B %Y}") != day:
                day = event_day
                yield from (("", ""), ("", f"## {day}"))
            yield "", ""
            for line in _event_lines(turn.event, f"{at:%H:%M}"):
                yield turn.event.event_id, line


def _header(
    about: ConversationInfo, whose: ConversationKey, zone: tzinfo
) -> Iterator[str]:
    session = about.session
    yield from (markdown.heading(session.title, 1), "")
    started = session.created_at.astimezone(zone)
    rows = (
        ("agent", session.agent),
        ("project", session.project),
        ("folder", session.cwd),
        ("session", session.session_id),
        ("subagent", whose.subagent),
        ("started", f"{started:%Y-%m-%d %H:%M %Z}"),
    )
    yield from (f"- {name}: {markdown.escape(value)}" for name, value in rows if value)


def _event_lines(event: Event, time: str) -> Iterator[str]:
    text = event.text.strip("\n")
    if event.role is EventRole.TOOL:
        call, _, output = text.partition("\n")
        yield f"**{time} tool** {markdown.escape(call)}"
        if output.strip():
            yield from ("", _code(output.strip("\n")))
        return
    agent = markdown.escape(event.agent) or "agent"
    speaker = {EventRole.USER: "you", EventRole.ASSISTANT: agent}
    yield f"**{time} {speaker.get(event.role, 'note')}**"
    if text:
        yield from ("", neutralize_markdown(text))
    elif event.event_type in BOUNDARIES:
        yield from ("", f"*{event.event_type.value.replace('_', ' ')}*")


def _code(text: str) -> str:
    """Return a block of code, which no text can end."""
    return indent(text, " " * 4)


def neutralize_markdown(text: str) -> str:
    """Return Markdown without raw HTML and images, which a viewer would run and load.

    Both are shown as text; code stays as it is, and an open code block is closed.
    """
    lines = text.split("\n")
    for _ in range(MAX_PASSES):
        tokens = _parser().parse("\n".join(lines))
        unsafe = {
            line
            for token in tokens
            if _is_unsafe(token) and token.map
            for line in range(*token.map)
        }
        if not unsafe:
            break
        for line in unsafe & set(range(len(lines))):
            lines[line] = lines[line].replace("<", "&lt;").replace("![", "!\\[")
    else:
        return _code(text)
    neutral = "\n".join(lines)
    if tokens and tokens[-1].type == "fence":
        # Nothing after this text may end its last code block, or be part of it.
        after = _parser().parse(f"{neutral}\n\n-")
        if after[-1].type == "fence":
            neutral += f"\n{tokens[-1].markup}"
    return neutral


def _is_unsafe(token: "Token") -> bool:
    # Another text may define the address of an image that is none here.
    if token.type == "html_block" or (token.type == "inline" and "![" in token.content):
        return True
    return any(child.type == "html_inline" for child in token.children or ())


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # not needed to read a conversation

    return MarkdownIt("commonmark")
