"""Origins: which agents' conversations come in here, from where, and when last."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from memtui.capture import formats, watcher
from memtui.store import cursors, database, meta
from memtui.store.cursors import SourceActivity

HOOKS = "hooks"
"""The source that hooks are, whoever's they are."""

FOLDERS = "folders"
"""The name of what a person named beside the agents' own places."""


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """What the settings say of watching."""

    is_everyone: bool
    """Whether every agent's transcripts are watched."""
    is_asked: bool
    """Whether those are that a person agreed to."""
    named: Collection[str]
    """The agents that are named, whoever agreed."""
    origin: str
    """Where that is said."""
    folders: Collection[Path] = ()
    """Further files and folders that are watched."""


@dataclass(frozen=True, slots=True)
class CaptureSource:
    """One agent, and what is known of hearing it."""

    name: str
    title: str
    places: tuple[Path, ...]
    """Where its transcripts lie, or would."""
    files: int
    """How many there are."""
    is_watched: bool
    why: str
    """Why it is watched, or why not."""
    by_transcript: SourceActivity | None
    by_hook: SourceActivity | None
    is_undecided: bool = False
    """Whether it is not watched because nobody was asked yet."""


def list_sources(
    places: Mapping[str, Collection[Path]],
    names: Collection[str],
    wish: WatchSettings,
    *,
    is_kept: bool = True,
) -> list[CaptureSource]:
    """Every agent of these names, and the folders a person named.

    Args:
        places: Where each agent keeps its transcripts on this machine.
        names: The agents, in the order wanted.
        wish: What the settings say.
        is_kept: Whether there is a store that could tell of them.
    """
    heard, agreed = list[SourceActivity](), None
    if is_kept:
        with database.connection():
            heard, agreed = cursors.list_activity(), meta.watched_sources()
    found = [_origin(name, tuple(places.get(name, ())), heard) for name in names]
    told = [_watched(one, wish, agreed) for one in found]
    if wish.folders:
        told.append(_folders(tuple(wish.folders)))
    return told


def _origin(
    name: str, places: tuple[Path, ...], heard: Collection[SourceActivity]
) -> CaptureSource:
    mine = [one for one in heard if one.agent == name]
    by_hook = [one for one in mine if one.source == HOOKS]
    by_transcript = [one for one in mine if one.source != HOOKS]
    return CaptureSource(
        name=name,
        title=formats.FORMATS_BY_NAME[name].title,
        places=places,
        files=sum(_count(name, place) for place in places),
        is_watched=False,
        why="",
        by_transcript=_latest(by_transcript),
        by_hook=_latest(by_hook),
    )


def _latest(some: Collection[SourceActivity]) -> SourceActivity | None:
    return max(some, key=lambda one: one.last_event_at, default=None)


def _count(name: str, place: Path) -> int:
    return sum(
        formats.format_for_path(file, name) is not None
        for file in watcher.walk_files(place)
    )


def _watched(
    one: CaptureSource, wish: WatchSettings, agreed: Collection[str] | None
) -> CaptureSource:
    is_watched, why = _why(one, wish, agreed)
    is_undecided = not is_watched and wish.is_asked and agreed is None
    return CaptureSource(
        one.name,
        one.title,
        one.places,
        one.files,
        is_watched,
        why,
        one.by_transcript,
        one.by_hook,
        is_undecided,
    )


def _why(
    one: CaptureSource, wish: WatchSettings, agreed: Collection[str] | None
) -> tuple[bool, str]:
    """Whether an agent's transcripts are watched, and why."""
    said = f"capture.sources ({wish.origin})"
    if not one.places:
        return False, "its files must be named in capture.folders"
    if wish.is_everyone:
        return True, f"{said} says all"
    if one.name in wish.named:
        return True, f"{said} names it"
    if not wish.is_asked:
        return False, f"{said} does not name it"
    if agreed is None:
        return False, "nobody was asked yet"
    if one.name in agreed:
        return True, "you agreed"
    return False, "you did not agree"


def _folders(places: tuple[Path, ...]) -> CaptureSource:
    files = sum(_count("", place) for place in places)
    why = "capture.folders names them"
    return CaptureSource(FOLDERS, "Other folders", places, files, True, why, None, None)
