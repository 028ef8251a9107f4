"""A session as Markdown: all that was said in it, in one file that anything reads.

It is written as it is read, a stretch at a time, however long it is.
"""

import re
from collections.abc import Iterator
from datetime import tzinfo
from pathlib import Path

from memtui.model.events import BOUNDARIES, Event, EventRole
from memtui.services import conversation
from memtui.services.conversation import About, TurnRange, Whose
from memtui.store import backup
from memtui.text import date_format

NAME_CHARS = 60
"""How long the part of a file's name is that comes from the title, in characters."""


_FENCE = re.compile(r"`{3,}|~{3,}")


def name(about: About, zone: tzinfo) -> str:
    """What a file of this session is called: its day and its title."""
    one = about.session
    words = re.findall(r"\w+", one.title.lower())
    said = "-".join(words)[:NAME_CHARS].strip("-") or one.session_id[:8]
    return f"{one.created_at.astimezone(zone):%Y-%m-%d}-{said}.md"


def write(whose: Whose, zone: tzinfo, file: Path, *, may_replace: bool) -> None:
    """Write a conversation into a file; nothing is left of it where that fails.

    Raises:
        StoreError: It cannot be written, or exists and may not be replaced.
        Forgotten: The session is not kept any more.
    """
    with (
        backup.replacement(file, may_replace=may_replace) as draft,
        draft.open("w", encoding="utf-8", errors="replace") as opened,
    ):
        for line in lines(whose, zone):
            opened.write(f"{line}\n")
        opened.flush()


def lines(whose: Whose, zone: tzinfo) -> Iterator[str]:
    """The lines of a conversation."""
    yield from _head(conversation.about(whose), whose, zone)
    day = ""
    for event in _events(whose):
        at = event.timestamp.astimezone(zone)
        if (on := date_format.day(at.date())) != day:
            day = on
            yield from ("", f"## {day}")
        yield from ("", *_told(event, f"{at:%H:%M}"))


def _head(about: About, whose: Whose, zone: tzinfo) -> Iterator[str]:
    one = about.session
    yield f"# {' '.join(one.title.split()) or '(without a title)'}"
    yield ""
    began = one.created_at.astimezone(zone)
    rows = (
        ("agent", one.agent),
        ("project", one.project),
        ("folder", one.cwd),
        ("session", one.session_id),
        ("subagent", whose.subagent),
        ("started", f"{date_format.moment(began, zone)} {began:%Z}"),
    )
    yield from (f"- {name}: {said}" for name, said in rows if said)


def _events(whose: Whose) -> Iterator[Event]:
    stretch: TurnRange = conversation.beginning(whose)
    while stretch.turns:
        yield from (turn.event for turn in stretch.turns)
        if stretch.is_last:
            return
        stretch = conversation.after(whose, stretch.turns[-1].place)


def _told(event: Event, time: str) -> Iterator[str]:
    text = event.text.strip("\n")
    if event.role is EventRole.TOOL:
        call, _, answer = text.partition("\n")
        yield f"**{time} tool** {_code(call)}"
        if answer.strip():
            fence = _fence(answer)
            yield from ("", fence, answer.strip("\n"), fence)
        return
    speaker = {EventRole.USER: "you", EventRole.ASSISTANT: event.agent or "agent"}
    yield f"**{time} {speaker.get(event.role, 'note')}**"
    if text:
        yield from ("", text)
    elif event.event_type in BOUNDARIES:
        yield from ("", f"*{event.event_type.value.replace('_', ' ')}*")


def _code(text: str) -> str:
    ticks = "`" * (max((len(t) for t in re.findall("`+", text)), default=0) + 1)
    apart = " " if len(ticks) > 1 else ""
    return f"{ticks}{apart}{text}{apart}{ticks}"


def _fence(text: str) -> str:
    """A fence that nothing in the text ends."""
    longest = max((len(found) for found in _FENCE.findall(text)), default=2)
    return "`" * (longest + 1)
