"""Notices changed files, so that not all of them have to be checked all the time.

What it reports is a hint: it may miss a change, and where the file system reports none,
it says so. The folders themselves are the truth.
"""

import logging
import os
import threading
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

log = logging.getLogger(__name__)

UNREPORTED_FILESYSTEMS = (
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
"""Prefixes of file system types that do not report changes made elsewhere."""

MOUNTS = Path("/proc/self/mounts")


class FileWatcher:
    """Watches folders on a thread of its own."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self._folders: frozenset[Path] = frozenset()
        self._changed: set[Path] = set()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self.polling_reason = "nothing is watched yet"
        """The reason that files must be checked; "" while changes are reported."""

    def watch(self, folders: Collection[Path]) -> bool:
        """Watch these folders, as far as they exist, and no others.

        Returns True if a new watch begins: changes in the next moment are not reported.
        """
        wanted = frozenset(folder for folder in folders if folder.exists())
        if wanted == self._folders:
            return False
        self.stop()
        self._folders, self._stop = wanted, threading.Event()
        reasons = map(polling_reason, sorted(wanted))
        self.polling_reason = next(filter(None, reasons), "")
        if wanted and not self.polling_reason:
            arguments = (wanted, self._stop)
            threading.Thread(
                target=self._run, args=arguments, name="watch", daemon=True
            ).start()
        return True

    def take_changes(self) -> set[Path]:
        with self._lock:
            changed, self._changed = self._changed, set()
        return changed

    def stop(self) -> None:
        self._stop.set()
        self._folders = frozenset()

    def _run(self, folders: frozenset[Path], stop: threading.Event) -> None:
        from watchfiles import watch

        try:
            for changes in watch(
                *folders,
                watch_filter=None,
                debounce=100,
                step=10,
                stop_event=stop,
                raise_interrupt=False,
                ignore_permission_denied=True,
            ):
                with self._lock:
                    self._changed.update(Path(path) for _, path in changes)
                self._on_change()
        except Exception as error:  # whatever it is, checking always works
            if not stop.is_set():
                log.warning("files are checked instead of watched: %s", error)
                self.polling_reason = f"the system does not report changes: {error}"


def polling_reason(folder: Path) -> str:
    """Return why a folder's file system does not report changes; "" if it does."""
    try:
        mounts = MOUNTS.read_text("utf-8", "replace")
    except OSError:
        return ""
    kind = filesystem_of(folder, mounts)
    if kind.startswith(UNREPORTED_FILESYSTEMS):
        return f"{folder} is on {kind}, which does not report changes"
    return ""


def filesystem_of(folder: Path, mounts: str) -> str:
    """Return the type of the file system a folder is on, by Linux' list of mounts."""
    longest, kind = -1, ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        mount = Path(fields[1].replace("\\040", " "))
        if folder.is_relative_to(mount) and len(mount.parts) >= longest:
            longest, kind = len(mount.parts), fields[2]
    return kind


def walk_files(place: Path) -> Iterator[Path]:
    """Yield all regular files at a place: the file itself, or those of a folder.

    Links are followed; each real file comes once.
    """
    if place.is_file():
        yield place
        return
    folders = [(str(place), os.path.realpath(place))]
    folder_links: list[str] = []
    file_links: list[str] = []
    seen: set[str] = set()
    while folders or folder_links:
        if folders:
            folder, real = folders.pop()
        else:
            folder = folder_links.pop(0)
            real = os.path.realpath(folder)
        if real in seen:
            continue
        seen.add(real)
        for entry in _entries(folder):
            is_folder, is_file = _kind(entry)
            if entry.is_symlink():
                if is_folder:
                    folder_links.append(entry.path)
                elif is_file:
                    file_links.append(entry.path)
            elif is_folder:
                path = f"{real.rstrip(os.sep)}{os.sep}{entry.name}"
                folders.append((entry.path, path))
            elif is_file:
                yield Path(entry.path)
    known: set[str] = set()
    for link in file_links:
        real = os.path.realpath(link)
        folder = real.rpartition(os.sep)[0] or os.sep
        if real not in known and folder not in seen:
            known.add(real)
            yield Path(link)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _kind(entry: os.DirEntry[str]) -> tuple[bool, bool]:
    """Return whether an entry leads to a folder, and whether to a regular file."""
    try:
        return entry.is_dir(), entry.is_file()
    except OSError:
        return False, False
