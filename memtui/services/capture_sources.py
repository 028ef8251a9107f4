"""The agents whose conversations are captured: from where, and whether watched."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from memtui.capture import formats
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
    """The number of its transcripts."""
    is_watched: bool
    reason: str
    by_transcript: SourceActivity | None = None
    by_hook: SourceActivity | None = None
    is_undecided: bool = False
    """It is not watched because the user has not been asked yet."""
    ignored: str = ""
    """The other files in its folders, of which nothing is kept."""


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
        files, ignored = formats.sort_sessions(name, places)
        is_asked = CHOSEN in settings.capture_sources
        listed.append(
            CaptureSource(
                name=name,
                title=agent_title(name),
                places=tuple(places),
                files=files,
                is_watched=is_watched,
                reason=reason,
                by_transcript=_latest([row for row in own if row.source != HOOKS]),
                by_hook=_latest([row for row in own if row.source == HOOKS]),
                is_undecided=not is_watched and is_asked and chosen is None,
                ignored=formats.describe_ignored(ignored),
            )
        )
    if folders := tuple(settings.watched_folders):
        files, ignored = formats.sort_sessions("", folders)
        listed.append(
            CaptureSource(
                name=FOLDERS,
                title="Other folders",
                places=folders,
                files=files,
                is_watched=True,
                reason="capture.folders names them",
                ignored=formats.describe_ignored(ignored),
            )
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
