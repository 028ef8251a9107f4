"""Whole folders of transcripts, one file after the other."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from memtui import sources
from memtui.errors import StoreBusy
from memtui.stages.files import Files, Imported
from memtui.store import database

PATIENCE_S = 120.0
"""How long work that has an end waits for a store that another process keeps locked."""


class Import:
    """Imports files and folders."""

    def __init__(self, files: Files) -> None:
        """Remember what reads them."""
        self._files = files

    @property
    def imported(self) -> Imported:
        """What has been done so far."""
        return self._files.imported

    def run(self, paths: Sequence[Path]) -> Iterator[Imported]:
        """Import files and folders.

        Yields:
            The state after each transaction.

        Raises:
            SourceError: A path does not exist.
        """
        with database.connected():
            for file in [file for path in paths for file in sources.files(path)]:
                yield from self._taken(file)
                self.imported.files += 1
                yield self.imported

    def _taken(self, file: Path) -> Iterator[Imported]:
        """Read one file, however long another process keeps the store to itself."""
        begun_s = time.monotonic()
        while True:
            try:
                for _ in self._files.take(file):
                    begun_s, self.imported.waits_for = time.monotonic(), ""
                    yield self.imported
            except StoreBusy as busy:
                if time.monotonic() - begun_s > PATIENCE_S:
                    raise
                self.imported.waits_for = str(busy)
                yield self.imported
            else:
                self.imported.waits_for = ""
                return


__all__ = ["Import", "Imported"]
