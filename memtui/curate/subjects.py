"""What a person named, turned into what is to be forgotten."""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, tzinfo

from memtui.errors import MemtuiError
from memtui.memory.events import clean, is_event_id, to_ms
from memtui.memory.sessions import folder_of
from memtui.store import choice, sessions, tombstones
from memtui.store.tombstones import Kind, Tombstone

SUGGESTED = 5
"""How many sessions are named whose names begin as a person said."""


def named(
    kind: Kind, words: Sequence[str], zone: tzinfo, now_ms: int
) -> list[Tombstone]:
    """The tombstones for what a person named; inside a connection.

    Args:
        kind: What they want forgotten: events, sessions, projects, or all before a
            date.
        words: Their ids, names, or the one date.
        zone: The store's time zone, whose midnight a date means.
        now_ms: The time, in milliseconds.

    Raises:
        MemtuiError: One of them names nothing that is known, or more than one project.
    """
    if kind is Kind.BEFORE:
        stone = _before(words, zone)
        if stone.at_ms > now_ms:
            raise MemtuiError(
                f"{words[0]} is still to come: what is forgotten before a day never"
                " comes back, so nothing new would be kept until then"
            )
        return [stone]
    found = {stone: None for word in words for stone in _of(kind, clean(word))}
    return list(found)


def noted(kind: Kind, words: Sequence[str], zone: tzinfo) -> list[Tombstone]:
    """The tombstones of what a person once forgot and names again; as ``named``."""
    if kind is Kind.BEFORE:
        return [_before(words, zone)]
    found: dict[Tombstone, None] = {}
    for word in map(clean, words):
        called = [word.rstrip("/")] if kind is Kind.PROJECT else []
        if called and not folder_of(word):
            called = tombstones.projects_called(word)
            _refuse_several(word, called)
        if called and tombstones.has(Tombstone(kind, called[0])):
            found[Tombstone(kind, called[0])] = None
        else:
            found |= dict.fromkeys(_of(kind, word))
    return list(found)


def _before(words: Sequence[str], zone: tzinfo) -> Tombstone:
    if len(words) != 1:
        raise MemtuiError("name one date: memtui forget before 2024-01-31")
    return Tombstone(Kind.BEFORE, at_ms=_midnight(words[0], zone))


def _of(kind: Kind, word: str) -> Iterator[Tombstone]:
    if kind is Kind.SESSION:
        yield from _sessions(word)
        return
    if kind is Kind.EVENT and not is_event_id(word):
        raise MemtuiError(
            f"{word!r} is not the id of an event; memtui expand GRIP --json shows ids"
        )
    if kind is Kind.PROJECT and not folder_of(word):
        yield from _projects(word)
        return
    stone = Tombstone(kind, word.rstrip("/"))
    choice.clear()
    choice.take([stone])
    if not choice.is_anything() and not tombstones.has(stone):
        raise MemtuiError(f"there is no {kind} {word!r}")
    yield stone


def _projects(word: str) -> Iterator[Tombstone]:
    """A project by its name: its folder, if one alone has that name."""
    found = choice.folders_called(word) or tombstones.projects_called(word)
    _refuse_several(word, [folder for folder in found if folder])
    if not found:
        raise MemtuiError(f"there is no project {word!r}")
    yield from (Tombstone(Kind.PROJECT, folder or word) for folder in found)


def _refuse_several(word: str, folders: Sequence[str]) -> None:
    if len(folders) > 1:
        raise MemtuiError(
            f"{len(folders)} projects are called {word!r}; name the folder of the one"
            f" you mean: {', '.join(folders)}"
        )


def _sessions(word: str) -> Iterator[Tombstone]:
    agents = sessions.agents_of(word) or tombstones.agents_of(word)
    if agents:
        yield from (Tombstone(Kind.SESSION, word, agent) for agent in agents)
        return
    agent, colon, name = word.partition(":")
    if not (colon and agent and name):
        alike = [":".join(one) for one in sessions.beginning(word, SUGGESTED)]
        raise MemtuiError(
            f"there is no session {word!r}; "
            + (
                f"these begin so: {', '.join(alike)}"
                if alike
                else "with its agent before it (AGENT:NAME) even one that is not stored"
                " can be forgotten"
            )
        )
    yield Tombstone(Kind.SESSION, name, agent)


def _midnight(word: str, zone: tzinfo) -> int:
    try:
        at = datetime.combine(date.fromisoformat(word), time(), zone)
    except ValueError:
        raise MemtuiError(f"{word!r} is not a date, as in 2024-01-31") from None
    return to_ms(at.astimezone(UTC))
