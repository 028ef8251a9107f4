"""transcripts → events, as they are written: files that grow are read on.

A watch tells which files have changed; now and then all are looked at, since a watch
may miss some, and more often where there is none. What the watch tells of is read
before what else waits: it is being written now.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

from memtui.capture import formats, watcher
from memtui.capture.formats.base import HOLD_TIME
from memtui.capture.transcripts import TranscriptReader
from memtui.capture.watcher import FileWatcher
from memtui.errors import StoreError
from memtui.model.events import clean, to_ms
from memtui.store import cursors, database, meta
from memtui.store.cursors import FileStamp, read_stamp

LOOK_S = 2.0
"""How often all files are looked at when nothing tells of changes, in seconds."""

WATCHED_LOOK_S = 30.0
"""How often that is done when something does, in seconds."""

READ_S = 0.25
"""How long one step reads, unless one transaction takes longer, in seconds."""

FILES_AT_ONCE = 20
"""How many files it reads at most: no more sessions than the next stage cuts."""

LOOK_SHARE = 50
"""Looking takes at most one part in this many of the time, however many files."""


class Tail:
    """Reads the watched files on."""

    def __init__(
        self,
        files: TranscriptReader,
        folders: Callable[[], Mapping[str, Collection[Path]]],
        clock: Callable[[], datetime],
    ) -> None:
        """Remember what is watched.

        Args:
            files: What reads them.
            folders: The folders and files to watch, by the name of their source or
                under "" for any; asked again and again, since a person may change it.
            clock: The time, aware.
        """
        self._files, self._folders, self._clock = files, folders, clock
        self._watch: FileWatcher | None = None
        self._beside: tuple[Path, ...] = ()
        self._queue: OrderedDict[Path, None] = OrderedDict()
        self._reading: Iterator[object] | None = None
        self._file = Path()
        self._next_glance_s = self._next_look_s = 0.0
        self._is_told = False

    def watch(self, watch: FileWatcher, *beside: Path) -> None:
        """Be told of changes from now on.

        Args:
            watch: What tells of them.
            beside: Folders to watch for others.
        """
        self._watch, self._beside = watch, beside

    @property
    def is_behind(self) -> bool:
        """Whether it is known that more is to be read."""
        return self._reading is not None or bool(self._queue)

    def step(self) -> int:
        """Read for a moment; how many times something was read, 0 when all is."""
        until_s = time.monotonic() + READ_S
        for path in reversed(list(self._told())):
            self._first(path)
        if not self.is_behind:
            self._queue.update(dict.fromkeys(self._changed()))
        done = 0
        while self.is_behind and done < FILES_AT_ONCE:
            self._read()
            done += 1
            if time.monotonic() >= until_s:
                break
        return done

    def _first(self, path: Path) -> None:
        """Read this file before all others that wait."""
        self._queue[path] = None
        self._queue.move_to_end(path, last=False)

    def _read(self) -> None:
        """Read one transaction's worth."""
        if self._reading is None:
            self._file, _ = self._queue.popitem(last=False)
            self._reading = self._files.read_file(self._file)
        reading, self._reading = self._reading, None
        try:
            if next(reading, None) is not None:
                self._reading = reading
        except StoreError:
            self._first(self._file)
            raise

    def _changed(self) -> Iterator[Path]:
        """Files that are found to have changed, or may have."""
        now_s = time.monotonic()
        if now_s >= self._next_glance_s:
            self._next_glance_s = now_s + LOOK_S
            yield from self._glance()
        if now_s >= self._next_look_s:
            yield from self.look()
            took_s = time.monotonic() - now_s
            often_s = WATCHED_LOOK_S if self._is_told else LOOK_S
            self._next_look_s = now_s + max(often_s, took_s * LOOK_SHARE)

    def _told(self) -> Iterator[Path]:
        """Those that the watch tells of."""
        if self._watch and (told := self._watch.take_changes()):
            for name, places in self._folders().items():
                for path in sorted(told):
                    inside = any(path.is_relative_to(place) for place in places)
                    if (
                        inside
                        and formats.format_for_path(path, name)
                        and path.is_file()
                    ):
                        yield path

    def _glance(self) -> Iterator[Path]:
        """Files that hold something back, and those that are watched by themselves."""
        with database.connection():
            held = cursors.list_pending(to_ms(self._clock() - HOLD_TIME))
        yield from filter(Path.is_file, map(Path, held))
        for name, places in self._folders().items():
            for place in filter(Path.is_file, places):
                with database.connection():
                    known = cursors.get_stamp(clean(str(place.resolve())))
                yield from self._unlike(name, [place.resolve()], known)

    def look(self) -> Iterator[Path]:
        """All watched files that look different from when they were read."""
        folders = self._folders()
        every = {place for some in folders.values() for place in some}
        self._is_told = self._is_followed(every)
        for name, places in folders.items():
            for place in filter(Path.is_dir, places):
                whole = place.resolve()
                with database.connection():
                    known = cursors.get_stamps(clean(str(whole)))
                yield from self._unlike(name, watcher.walk_files(whole), known)

    def _is_followed(self, places: set[Path]) -> bool:
        """Have these places watched; whether all their changes are told by now."""
        if self._watch is None:
            return False
        begins = self._watch.watch(places.union(self._beside))
        with database.connection():
            if meta.polling_reason() != self._watch.polling_reason:
                meta.set_polling_reason(self._watch.polling_reason)
        return not begins and not self._watch.polling_reason

    def _unlike(
        self, name: str, files: Iterable[Path], known: Mapping[str, FileStamp]
    ) -> Iterator[Path]:
        for file in files:
            if source := formats.format_for_path(file, name):
                try:
                    look = read_stamp(file, source.related_files(file))
                except OSError:
                    continue
                if cursors.find_stamp(known, file) != look:
                    yield file
