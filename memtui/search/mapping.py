"""Mapping: a piece's file is read at once, or where it lies once much is held.

Whoosh maps it too, and then copies each part of it into memory as it is opened, which
takes 100 ms and 180 MB with 150,000 documents.
"""

import io
import threading
import weakref
from typing import Any

from whoosh.codec.whoosh3 import W3Segment
from whoosh.filedb.compound import CompoundStorage
from whoosh.filedb.structfile import BufferFile, StructFile

HELD_BYTES = 64_000_000
"""So many bytes of pieces' files are held in memory, in all."""


class _Room:
    """How much of that is left to this process; its threads all take of it."""

    def __init__(self) -> None:
        self._lock, self._taken = threading.Lock(), 0

    def take(self, count: int) -> bool:
        """Take so many bytes, if there are as many."""
        with self._lock:
            fits = self._taken + count <= HELD_BYTES
            self._taken += count if fits else 0
        return fits

    def give(self, count: int) -> None:
        """Give as many back."""
        with self._lock:
            self._taken -= count


_room = _Room()


class Segment(W3Segment):  # type: ignore[misc] # Whoosh has no hints
    """A piece as Whoosh describes it, whose file is opened our way."""

    def open_compound_file(self, storage: Any) -> "_Mapped":
        """Open the file that all its parts lie in."""
        file = storage.open_file(self.make_filename(self.COMPOUND_EXT))
        try:
            return _Mapped(file, use_mmap=storage.supports_mmap).held()
        except BaseException:
            file.close()
            raise


class _Mapped(CompoundStorage):  # type: ignore[misc] # Whoosh has no hints
    _source: Any

    def held(self) -> "_Mapped":
        """Itself, its file read into memory if there is room for it.

        A file that somebody cuts short while it is mapped ends the process.
        """
        mapped: Any = self._source
        if mapped and _room.take(len(mapped)):
            self._source = bytes(mapped)
            # Not when it is closed: somebody may still read a part of it then.
            weakref.finalize(self, _room.give, len(mapped))
            mapped.close()
        return self

    def close(self) -> None:
        """Let go of the file."""
        if isinstance(self._source, bytes):
            self._source = None
        super().close()

    def open_file(self, name: str, *given: Any, **named: Any) -> Any:
        if self.is_closed or not self._source:
            return super().open_file(name, *given, **named)
        start, length = self.range(name)
        return _Part(memoryview(self._source)[start : start + length], name)


class _Part(BufferFile):  # type: ignore[misc] # Whoosh has no hints
    def __init__(self, view: memoryview, name: str) -> None:
        StructFile.__init__(self, _View(view), name=name)
        self._buf = view
        self.is_real = False


class _View(io.RawIOBase):
    """A stretch of memory, read as a file is."""

    def __init__(self, view: memoryview) -> None:
        self._view, self._at = view, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_CUR: self._at, io.SEEK_END: len(self._view)}.get(whence, 0)
        self._at = base + offset
        return self._at

    def readinto(self, into: Any) -> int:
        found = self._view[self._at : self._at + len(into)]
        into[: len(found)] = found
        self._at += len(found)
        return len(found)
