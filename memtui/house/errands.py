"""What a house does once, on a thread of its own: an import, or another try."""

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.errors import MemtuiError
from memtui.memory.sessions import History
from memtui.stages.progress import Progress

if TYPE_CHECKING:
    from memtui.curate.quarantine import Quarantine, Retried
    from memtui.stages.works import Works

log = logging.getLogger(__name__)

Report = Callable[[Progress], None]


class Errands:
    """A house that is sent on errands."""

    @property
    def works(self) -> "Works":
        """The work behind, which digests what is brought."""
        raise NotImplementedError

    @property
    def quarantine(self) -> "Quarantine":
        """What could not be taken."""
        raise NotImplementedError

    def agree(self, names: Iterable[str], *, watched: bool = True) -> None:
        """Remember which agents' transcripts are to be read as they are written."""
        raise NotImplementedError

    def start_import(
        self, histories: Sequence[History], report: Report, *, is_watched: bool
    ) -> None:
        """Import histories on a thread of its own; the workers digest them meanwhile.

        Args:
            histories: What is imported.
            report: Told how far that is.
            is_watched: Whether they are read on as they grow, from then on.
        """
        folders = [one.folder for one in histories]
        agents = {one.agent for one in histories} if is_watched else set()
        thread = threading.Thread(
            target=self._import,
            args=(folders, agents, report),
            name="import",
            daemon=True,
        )
        thread.start()

    def _import(
        self, folders: Sequence[Path], agents: set[str], report: Report
    ) -> None:
        from memtui import sources  # noqa: PLC0415

        error = ""
        done = total = 0
        try:
            total = sum(len(sources.files(folder)) for folder in folders)
            for imported in self.works.importer().run(folders):
                done = imported.files
                report(self._importing(done, total, imported.waits_for))
            if agents:
                self.agree(agents)
        except Exception as reason:  # the thread's edge: nobody else would hear of it
            log.exception("the import stopped")
            error = str(reason) if isinstance(reason, MemtuiError) else repr(reason)
        report(self._importing(done, total, error))

    def retry(
        self, names: Sequence[str] | None, told: "Callable[[Retried], None]"
    ) -> None:
        """Try again what could not be taken, on a thread of its own.

        Args:
            names: What it is called in the quarantine; all of it when None.
            told: Told what is tried, once transcripts are read again; the workers
                take the hook files.
        """
        thread = threading.Thread(
            target=self._retry, args=(names, told), name="retry", daemon=True
        )
        thread.start()

    def _retry(
        self, names: Sequence[str] | None, told: "Callable[[Retried], None]"
    ) -> None:
        from memtui.curate.quarantine import Retried  # noqa: PLC0415

        tried = Retried((), (), ())
        why_not: tuple[str, ...] = ()
        try:
            tried = self.quarantine.retry(names)
            for _ in self.works.importer().run(tried.files):
                pass
        except Exception as reason:  # the thread's edge: nobody else would hear of it
            log.exception("what could not be taken could not be tried again")
            why_not = (str(reason) or repr(reason),)
        told(replace(tried, problems=tried.problems + why_not))

    def _importing(self, done: int, total: int, error: str = "") -> Progress:
        from memtui.stages.reporting import counts  # noqa: PLC0415

        queued, faults = counts()
        told = Progress("import", done, queued, faults, total=total, error=error)
        works = self.works
        return replace(
            told, is_ours=works.is_ours, failing=works.failing, model=works.model
        )
