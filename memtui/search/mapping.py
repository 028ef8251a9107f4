"""Mapping: where in a piece's file its parts lie, each read as far as it is asked for.

Whoosh maps it, and then copies each part of it into memory as it is opened, which takes
100 ms and 180 MB with 150,000 documents. A file that somebody cuts short while it is
mapped ends the process; one that is read says so.
"""

import io
import os
import weakref
from typing import Any

from whoosh.codec.whoosh3 import W3Segment
from whoosh.filedb.compound import CompoundStorage
from whoosh.filedb.structfile import BufferFile, StructFile


class Segment(W3Segment):  # type: ignore[misc] # Whoosh has no hints
    """A piece as Whoosh describes it, whose file is opened our way."""

    def open_compound_file(self, storage: Any) -> "_Compound":
        """Open the file that all its parts lie in."""
        file = storage.open_file(self.make_filename(self.COMPOUND_EXT))
        try:
            return _Compound(file)
        except BaseException:
            file.close()
            raise


class _Compound(CompoundStorage):  # type: ignore[misc] # Whoosh has no hints
    def __init__(self, file: Any) -> None:
        super().__init__(file, use_mmap=False)
        # Whoosh leaves some for the garbage collector to close.
        weakref.finalize(self, file.file.close)

    def slice(self, start: int, length: int) -> bytes:
        """A stretch of the file, all of it."""
        # A number kept from when the file was open may be another file's by now.
        found = os.pread(self._file.fileno(), length, start)
        if len(found) < length:
            raise EOFError("a piece of the index was cut short")
        return found

    def open_file(self, name: str, *given: Any, **named: Any) -> Any:
        if self.is_closed:
            return super().open_file(name, *given, **named)
        return _Part(_Slice(self, *self.range(name)), name)


class _Part(BufferFile):  # type: ignore[misc] # Whoosh has no hints
    def __init__(self, of: "_Slice", name: str) -> None:
        StructFile.__init__(self, io.BufferedReader(of), name=name)
        self._buf = of
        self.is_real = False


class _Slice(io.RawIOBase):
    """A stretch of an open file: read as a file of its own, or sliced as bytes are."""

    def __init__(self, of: _Compound, start: int, length: int) -> None:
        self._of, self._start, self._length, self._at = of, start, length, 0

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, wanted: slice) -> bytes:
        begin, end, _ = wanted.indices(self._length)
        return self._of.slice(self._start + begin, end - begin)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_CUR: self._at, io.SEEK_END: self._length}.get(whence, 0)
        self._at = base + offset
        return self._at

    def readinto(self, into: Any) -> int:
        found = self[self._at : self._at + len(into)]
        into[: len(found)] = found
        self._at += len(found)
        return len(found)
