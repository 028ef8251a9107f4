"""Settling: which memory is opened, and in which time zone it tells the time."""

from datetime import tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memtui.errors import StoreError
from memtui.paths import Paths
from memtui.settings import Settings
from memtui.store import database, facts


def settled(
    paths: Paths, settings: Settings, *, is_demo: bool = False
) -> tuple[str, Paths]:
    """The one project that is kept apart, if they are, and the places in use."""
    project = _project() if settings.is_separate and not is_demo else ""
    if project:
        paths = paths.of_project(Path(project))
    return project, paths.with_store(settings.store_path)


def _project() -> str:
    """The folder of the project memtui was started in: its repository's, or itself."""
    from memtui.sources import projects  # noqa: PLC0415 - only separate memories ask

    here = str(Path.cwd())
    return projects.place_of(here).root or here


def zone() -> tzinfo:
    """The time zone of the store that is open.

    Raises:
        StoreError: This machine does not know it.
    """
    with database.connected():
        name = facts.time_zone()
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise StoreError(
            f"this machine does not know the time zone {name!r}"
        ) from error


def machine_zone() -> str:
    """The time zone of this machine, or UTC where it has none by name."""
    try:
        linked = str(Path("/etc/localtime").readlink())
        name = linked.partition("zoneinfo/")[2]
        return ZoneInfo(name).key if name else "UTC"
    except (OSError, ValueError, ZoneInfoNotFoundError):
        return "UTC"
