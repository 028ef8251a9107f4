"""The agents whose conversations are captured: from where, and whether watched."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from memtui.capture import formats, watcher
from memtui.store import cursors, database, meta
from memtui.store.cursors import SourceActivity

HOOKS = "hooks"
"""The name under which the store counts what came from hooks."""

FOLDERS = "folders"
"""The name of the entry for ``capture.folders``."""


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """The settings about watching."""

    is_everyone: bool
    """Every agent's transcripts are watched."""
    is_asked: bool
    """The agents that the user chose when asked are watched."""
    named: Collection[str]
    """The agents that the setting names."""
    origin: str
    """The source of the setting."""
    folders: Collection[Path] = ()
    """Further files and folders that are watched."""


@dataclass(frozen=True, slots=True)
class CaptureSource:
    """One agent, or the further folders."""

    name: str
    title: str
    places: tuple[Path, ...]
    """The folders of its transcripts, which may not exist."""
    files: int
    is_watched: bool
    reason: str
    """The reason that it is watched, or not."""
    by_transcript: SourceActivity | None
    by_hook: SourceActivity | None
    is_undecided: bool = False
    """It is not watched because the user has not been asked yet."""


def list_sources(
    places: Mapping[str, Collection[Path]],
    names: Collection[str],
    settings: WatchSettings,
    *,
    is_kept: bool = True,
) -> list[CaptureSource]:
    """Return the agents of these names, and the further folders if there are any.

    Args:
        places: The folders of each agent's transcripts on this machine.
        names: The agents.
        settings: What the settings say.
        is_kept: Whether there is a store.
    """
    activity: list[SourceActivity] = []
    chosen: Collection[str] | None = None
    if is_kept:
        with database.connection():
            activity, chosen = cursors.list_activity(), meta.watched_sources()
    sources = [
        _agent_source(name, tuple(places.get(name, ())), activity, settings, chosen)
        for name in names
    ]
    if settings.folders:
        folders = tuple(settings.folders)
        files = sum(_count_files("", place) for place in folders)
        reason = "capture.folders names them"
        sources.append(
            CaptureSource(
                FOLDERS, "Other folders", folders, files, True, reason, None, None
            )
        )
    return sources


def _agent_source(
    name: str,
    places: tuple[Path, ...],
    activity: Collection[SourceActivity],
    settings: WatchSettings,
    chosen: Collection[str] | None,
) -> CaptureSource:
    own = [one for one in activity if one.agent == name]
    is_watched, reason = False, "its files must be named in capture.folders"
    if places:
        is_watched, reason = _watch_state(name, settings, chosen)
    return CaptureSource(
        name=name,
        title=formats.FORMATS_BY_NAME[name].title,
        places=places,
        files=sum(_count_files(name, place) for place in places),
        is_watched=is_watched,
        reason=reason,
        by_transcript=_latest([one for one in own if one.source != HOOKS]),
        by_hook=_latest([one for one in own if one.source == HOOKS]),
        is_undecided=not is_watched and settings.is_asked and chosen is None,
    )


def _watch_state(
    name: str, settings: WatchSettings, chosen: Collection[str] | None
) -> tuple[bool, str]:
    """Return whether an agent's transcripts are watched, and why."""
    setting = f"capture.sources ({settings.origin})"
    if settings.is_everyone:
        return True, f"{setting} says all"
    if name in settings.named:
        return True, f"{setting} names it"
    if not settings.is_asked:
        return False, f"{setting} does not name it"
    if chosen is None:
        return False, "you have not been asked yet"
    if name in chosen:
        return True, "you agreed"
    return False, "you did not agree"


def _latest(activity: Collection[SourceActivity]) -> SourceActivity | None:
    return max(activity, key=lambda one: one.last_event_at, default=None)


def _count_files(name: str, place: Path) -> int:
    return sum(
        formats.format_for_path(file, name) is not None
        for file in watcher.walk_files(place)
    )
