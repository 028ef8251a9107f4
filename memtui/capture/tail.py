"""Watched transcripts: reading continues as the files grow.

A watcher reports changed files, and those are read first: they are being written now.
It may miss some, and some file systems report none: all files are checked now and then,
more often without a watcher.
"""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

from memtui.capture import formats
from memtui.capture.formats.base import HOLD_TIME
from memtui.capture.ingest import TranscriptReader
from memtui.errors import StoreError
from memtui.files import walk_files
from memtui.model.events import clean, to_ms
from memtui.store import database, meta, sources
from memtui.store.sources import FileStamp, read_stamp

log = logging.getLogger(__name__)

CHECK_INTERVAL_S = 2.0
"""The interval between checks of all files when changes are not reported."""

WATCHED_CHECK_INTERVAL_S = 30.0

STEP_S = 0.25
"""The longest time that one step reads, unless one transaction takes longer."""

FILES_PER_STEP = 20
"""The most files that a step reads: as many sessions as the next stage segments."""

CHECK_PAUSE_FACTOR = 50
"""The pause after a check, as a multiple of the time that it took."""

UNREPORTED_FILESYSTEMS = (
    *("9p", "afs", "ceph", "cifs", "drvfs", "fuse", "glusterfs", "lustre", "nfs"),
    *("prl_fs", "smb", "vboxsf", "virtiofs"),
)
"""Prefixes of file system types that do not report changes made elsewhere."""

MOUNTS = Path("/proc/self/mounts")


class FileWatcher:
    """Watches folders on its own thread."""

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
        existing = frozenset(folder for folder in folders if folder.exists())
        if existing == self._folders:
            return False
        self.stop()
        self._folders, self._stop = existing, threading.Event()
        reasons = map(polling_reason, sorted(existing))
        self.polling_reason = next(filter(None, reasons), "")
        if existing and not self.polling_reason:
            arguments = (existing, self._stop)
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
        except Exception as error:  # polling works on every file system
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
    longest, kind = -1, ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        mount = Path(fields[1].replace("\\040", " "))
        if folder.is_relative_to(mount) and len(mount.parts) >= longest:
            longest, kind = len(mount.parts), fields[2]
    return kind


class Tail:
    """Reads the watched files on."""

    def __init__(
        self,
        reader: TranscriptReader,
        folders: Callable[[], Mapping[str, Collection[Path]]],
        clock: Callable[[], datetime],
    ) -> None:
        """Create a reader of what ``folders`` returns, which the user may change.

        These are files and folders, by the name of their format or under "" for any.
        """
        self._reader, self._folders, self._clock = reader, folders, clock
        self._watcher: FileWatcher | None = None
        self._other_folders: tuple[Path, ...] = ()
        self._queue: OrderedDict[Path, None] = OrderedDict()
        self._reading: Iterator[object] | None = None
        self._file = Path()
        self._next_quick_check_s = self._next_full_check_s = 0.0
        self._is_watching = False

    def use_watcher(self, watcher: FileWatcher, *other_folders: Path) -> None:
        """Get changes from a watcher, which watches other folders as well."""
        self._watcher, self._other_folders = watcher, other_folders

    @property
    def is_behind(self) -> bool:
        return self._reading is not None or bool(self._queue)

    def step(self) -> int:
        until_s = time.monotonic() + STEP_S
        for path in reversed(list(self._reported_changes())):
            self._put_first(path)
        if not self.is_behind:
            self._queue.update(dict.fromkeys(self._find_changes()))
        done = 0
        while self.is_behind and done < FILES_PER_STEP:
            self._read()
            done += 1
            if time.monotonic() >= until_s:
                break
        return done

    def _put_first(self, path: Path) -> None:
        self._queue[path] = None
        self._queue.move_to_end(path, last=False)

    def _read(self) -> None:
        if self._reading is None:
            self._file, _ = self._queue.popitem(last=False)
            self._reading = self._reader.read_file(self._file)
        reading, self._reading = self._reading, None
        try:
            if next(reading, None) is not None:
                self._reading = reading
        except StoreError:
            self._put_first(self._file)
            raise

    def _reported_changes(self) -> Iterator[Path]:
        if self._watcher and (changed := self._watcher.take_changes()):
            for name, places in self._folders().items():
                for path in sorted(changed):
                    is_inside = any(path.is_relative_to(place) for place in places)
                    if not is_inside or not formats.format_for_path(path, name):
                        continue
                    if path.is_file():
                        yield path

    def _find_changes(self) -> Iterator[Path]:
        """Yield files that have changed, as often as they are to be checked."""
        now_s = time.monotonic()
        if now_s >= self._next_quick_check_s:
            self._next_quick_check_s = now_s + CHECK_INTERVAL_S
            yield from self._quick_check()
        if now_s >= self._next_full_check_s:
            yield from self.find_changed_files()
            took_s = time.monotonic() - now_s
            is_watching = self._is_watching
            interval_s = WATCHED_CHECK_INTERVAL_S if is_watching else CHECK_INTERVAL_S
            self._next_full_check_s = now_s + max(
                interval_s, took_s * CHECK_PAUSE_FACTOR
            )

    def _quick_check(self) -> Iterator[Path]:
        """Yield files that hold something back, and changed files named one by one."""
        with database.connection():
            now = self._clock()
            pending = sources.list_pending_files(to_ms(now - HOLD_TIME), to_ms(now))
        yield from filter(Path.is_file, map(Path, pending))
        for name, places in self._folders().items():
            for place in filter(Path.is_file, places):
                with database.connection():
                    stamps = sources.get_stamps(clean(str(place.resolve())))
                yield from self._changed(name, [place.resolve()], stamps)

    def find_changed_files(self) -> Iterator[Path]:
        folders = self._folders()
        self._update_watcher({place for places in folders.values() for place in places})
        for name, places in folders.items():
            for place in filter(Path.is_dir, places):
                folder = place.resolve()
                with database.connection():
                    stamps = sources.get_stamps(clean(str(folder)))
                yield from self._changed(name, walk_files(folder), stamps)

    def _update_watcher(self, places: set[Path]) -> None:
        """Have these places watched, and store whether that works."""
        if self._watcher is None:
            self._is_watching = False
            return
        is_new = self._watcher.watch(places.union(self._other_folders))
        reason = self._watcher.polling_reason
        with database.connection():
            if meta.read(meta.POLLING_REASON) != reason:
                meta.write(meta.POLLING_REASON, reason)
        # What changes while a watch begins is not reported.
        self._is_watching = not is_new and not reason

    def _changed(
        self, name: str, files: Iterable[Path], stamps: Mapping[str, FileStamp]
    ) -> Iterator[Path]:
        for file in files:
            if source := formats.format_for_path(file, name):
                try:
                    stamp = read_stamp(file, source.related_files(file))
                except OSError:
                    continue
                if sources.find_stamp(stamps, file) != stamp:
                    yield file
