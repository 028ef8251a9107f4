"""Whole folders of transcripts, one file after the other."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from memtui import sources
from memtui.stages.files import Files, Imported
from memtui.store import database


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
                yield from self._files.take(file)
                self.imported.files += 1
                self.imported.bytes_read = 0
                yield self.imported


__all__ = ["Import", "Imported"]
