"""The agents whose conversations are captured: from where, and whether watched."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from memtui.capture import formats
from memtui.files import walk_files
from memtui.paths import transcript_folders
from memtui.settings import AGENTS, CHOSEN, EVERY, Settings
from memtui.store import database, meta, sources
from memtui.store.sources import HOOKS, SourceActivity

FOLDERS = "folders"
"""The name of the entry for ``capture.folders``."""


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
    by_transcript: SourceActivity | None = None
    by_hook: SourceActivity | None = None
    is_undecided: bool = False
    """It is not watched because the user has not been asked yet."""


def list_sources(settings: Settings, *, has_store: bool = True) -> list[CaptureSource]:
    """Return all agents, and the further folders if there are any."""
    activity: list[SourceActivity] = []
    chosen: Collection[str] | None = None
    if has_store:
        with database.connection():
            activity, chosen = sources.list_activity(), meta.watched_sources()
    listed = []
    for name in AGENTS:
        places = transcript_folders().get(name, ())
        is_watched, reason = False, "its files must be named in capture.folders"
        if places:
            is_watched, reason = _watch_state(name, settings, chosen)
        own = [row for row in activity if row.agent == name]
        is_asked = CHOSEN in settings.capture_sources
        listed.append(
            CaptureSource(
                name=name,
                title=agent_title(name),
                places=tuple(places),
                files=_count_files(name, places),
                is_watched=is_watched,
                reason=reason,
                by_transcript=_latest([row for row in own if row.source != HOOKS]),
                by_hook=_latest([row for row in own if row.source == HOOKS]),
                is_undecided=not is_watched and is_asked and chosen is None,
            )
        )
    if folders := tuple(settings.watched_folders):
        files, reason = _count_files("", folders), "capture.folders names them"
        listed.append(
            CaptureSource(FOLDERS, "Other folders", folders, files, True, reason)
        )
    return listed


def agent_title(name: str) -> str:
    """Return the name of an agent as it calls itself."""
    return formats.FORMATS_BY_NAME[name].title


def _watch_state(
    name: str, settings: Settings, chosen: Collection[str] | None
) -> tuple[bool, str]:
    """Return whether an agent's transcripts are watched, and why."""
    setting = f"capture.sources ({settings.origin('capture.sources')})"
    if EVERY in settings.capture_sources:
        return True, f"{setting} says all"
    if name in settings.capture_sources:
        return True, f"{setting} names it"
    if CHOSEN not in settings.capture_sources:
        return False, f"{setting} does not name it"
    if chosen is None:
        return False, "you have not been asked yet"
    if name in chosen:
        return True, "you agreed"
    return False, "you did not agree"


def _latest(activity: Collection[SourceActivity]) -> SourceActivity | None:
    return max(activity, key=lambda row: row.last_event_at, default=None)


def _count_files(name: str, places: Collection[Path]) -> int:
    files = (file for place in places for file in walk_files(place))
    sources = ((file, formats.format_for_path(file, name)) for file in files)
    return sum(source.has_session(file) for file, source in sources if source)
