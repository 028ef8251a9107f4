"""Tells which files have changed, so that nobody needs to look at all of them.

What it tells is a hint and no more: it may miss a change, and where the system tells of
none it says so. The folders themselves are the truth.
"""

import logging
import os
import threading
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

log = logging.getLogger(__name__)

GATHER_MS = 100
"""How long changes are gathered before they are told, in milliseconds."""

STEP_MS = 10
"""A pause between changes that ends the gathering, in milliseconds."""

UNTOLD = (
    "9p",
    "afs",
    "ceph",
    "cifs",
    "drvfs",
    "fuse",
    "glusterfs",
    "lustre",
    "nfs",
    "prl_fs",
    "smb",
    "vboxsf",
    "virtiofs",
)
"""How the types of file systems begin that do not tell of changes made elsewhere."""

MOUNTS = Path("/proc/self/mounts")


class FileWatcher:
    """Watches folders, on a thread of its own."""

    def __init__(self, wake: Callable[[], None]) -> None:
        """Remember whom to wake when something has changed."""
        self._wake = wake
        self._folders: frozenset[Path] = frozenset()
        self._changed: set[Path] = set()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self.polling_reason = "nothing is watched yet"
        """Why changes are found by looking alone; "" while they are told."""

    def watch(self, folders: Collection[Path]) -> bool:
        """Watch these folders, those that exist, and no others.

        Returns:
            Whether watching begins anew: what changes in the next moment is not told.
        """
        wanted = frozenset(folder for folder in folders if folder.exists())
        if wanted == self._folders:
            return False
        self.stop()
        self._folders, self._stop = wanted, threading.Event()
        self.polling_reason = next(
            filter(None, map(polling_reason, sorted(wanted))), ""
        )
        if wanted and not self.polling_reason:
            arguments = (wanted, self._stop)
            threading.Thread(
                target=self._run, args=arguments, name="watch", daemon=True
            ).start()
        return True

    def take_changes(self) -> set[Path]:
        """What has changed since this was last asked."""
        with self._lock:
            changed, self._changed = self._changed, set()
        return changed

    def stop(self) -> None:
        """Watch no more."""
        self._stop.set()
        self._folders = frozenset()

    def _run(self, folders: frozenset[Path], stop: threading.Event) -> None:
        from watchfiles import watch

        try:
            for changes in watch(
                *folders,
                watch_filter=None,
                debounce=GATHER_MS,
                step=STEP_MS,
                stop_event=stop,
                raise_interrupt=False,
                ignore_permission_denied=True,
            ):
                with self._lock:
                    self._changed.update(Path(path) for _, path in changes)
                self._wake()
        except Exception as error:  # whatever it is: looking always works
            if not stop.is_set():
                log.warning("changes are found by looking: %s", error)
                self.polling_reason = f"the system does not tell of changes: {error}"


def polling_reason(folder: Path) -> str:
    """Why a folder's file system does not tell of changes; "" if it does."""
    try:
        mounts = MOUNTS.read_text("utf-8", "replace")
    except OSError:
        return ""
    kind = filesystem_of(folder, mounts)
    if kind.startswith(UNTOLD):
        return f"{folder} is on {kind}, which does not tell of changes"
    return ""


def filesystem_of(folder: Path, mounts: str) -> str:
    """The type of the file system a folder is on.

    Args:
        folder: An absolute path.
        mounts: The mounts, as Linux lists them in ``/proc/self/mounts``.
    """
    best, kind = -1, ""
    for line in mounts.splitlines():
        place = line.split(" ")
        if len(place) < 3:
            continue
        where = Path(place[1].replace("\\040", " "))
        if folder.is_relative_to(where) and len(where.parts) >= best:
            best, kind = len(where.parts), place[2]
    return kind


def walk_files(place: Path) -> Iterator[Path]:
    """All regular files at a place: the file itself, or those of a folder."""
    if place.is_file():
        yield place
        return
    folders = [(str(place), os.path.realpath(place))]
    links: list[str] = []
    loose: list[str] = []
    seen: set[str] = set()
    while folders or links:
        folder, real = folders.pop() if folders else _led_by(links.pop(0))
        if real in seen:
            continue
        seen.add(real)
        for entry in _entries(folder):
            kind = _kind(entry)
            if kind and entry.is_symlink():
                (links if kind == "folder" else loose).append(entry.path)
            elif kind == "folder":
                folders.append(
                    (entry.path, f"{real.rstrip(os.sep)}{os.sep}{entry.name}")
                )
            elif kind:
                yield Path(entry.path)
    yield from _loose(loose, seen)


def _led_by(link: str) -> tuple[str, str]:
    return link, os.path.realpath(link)


def _loose(links: list[str], seen: set[str]) -> Iterator[Path]:
    """Links to files that lie in none of the folders that were seen."""
    known: set[str] = set()
    for link in links:
        real = os.path.realpath(link)
        if real not in known and (real.rpartition(os.sep)[0] or os.sep) not in seen:
            known.add(real)
            yield Path(link)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _kind(entry: os.DirEntry[str]) -> str:
    try:
        return "folder" if entry.is_dir() else "file" if entry.is_file() else ""
    except OSError:
        return ""
