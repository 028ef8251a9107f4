"""``import``, ``work`` and ``reindex``: the work behind, from a shell."""

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from memtui.capture import formats
from memtui.capture.transcripts import ImportProgress
from memtui.cli import output
from memtui.errors import MemtuiError
from memtui.model.nodes import TocLevel
from memtui.paths import transcript_folders
from memtui.pipeline.progress import Progress
from memtui.services import status
from memtui.store import database, rewrite_queue
from memtui.workspace import Workspace

STAGES = {
    "ingest": "taking hook files",
    "tail": "reading transcripts",
    "segment": "cutting segments",
    "summarize": "summarising",
    "rollup": "rolling up",
    "index": "indexing",
    "messages": "indexing messages",
}
"""What each stage does, in words."""

RESTING = "all is done that can be"
"""What is said while nothing waits."""


class Bar(Protocol):
    """Something that shows how far a long work is."""

    def show(self, said: str, done: int, total: int) -> None:
        """Show what is being done, how much of it is done, and of how much."""


class _Silent:
    def show(self, said: str, done: int, total: int) -> None:
        """Nobody is looking."""


class _Rich:
    """A bar on a terminal."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import Progress as Drawn

        self._drawn = Drawn(console=Console(stderr=True))
        self._task = self._drawn.add_task("")
        self._drawn.start()

    def show(self, said: str, done: int, total: int) -> None:
        self._drawn.update(self._task, description=said, completed=done, total=total)

    def close(self) -> None:
        self._drawn.stop()


@contextmanager
def _bar(*, as_json: bool = False) -> Iterator[Bar]:
    """A bar where a person looks on."""
    bar = _Rich() if sys.stderr.isatty() and not as_json else None
    try:
        yield bar or _Silent()
    finally:
        if bar:
            bar.close()


def bring_in(house: Workspace, paths: Sequence[Path], *, as_json: bool) -> int:
    """Import files and folders, then digest them unless another memtui does."""
    missing = [path for path in paths if not path.exists()]
    if missing:
        raise MemtuiError(f"{missing[0]} does not exist")
    found = [place for some in transcript_folders().values() for place in some]
    wanted = list(paths) or [place for place in found if place.exists()]
    if not wanted:
        raise MemtuiError(
            "no agent's transcripts were found here; name files: memtui import PATH…"
        )
    with _bar(as_json=as_json) as bar:
        imported = _store(house, wanted, bar)
        errors = _digest(house, bar)
    if as_json:
        output.as_json({"imported": imported, "errors": [str(e) for e in errors or ()]})
    else:
        output.print_lines(_report(imported, errors))
    return 1 if errors else 0


def _store(house: Workspace, paths: Sequence[Path], bar: Bar) -> ImportProgress:
    total = sum(len(formats.find_files(path)) for path in paths)
    importer = house.pipeline.importer()
    for imported in importer.run(paths):
        said = imported.waits_for or f"{imported.created:,} events stored"
        bar.show(said, imported.files, total)
    return importer.progress


def _digest(house: Workspace, bar: Bar) -> list[Exception] | None:
    """Do the work behind; None if another memtui does it."""
    if not house.pipeline.claim.acquire():
        return None
    try:
        return house.pipeline.until_idle(_teller(bar))
    finally:
        house.pipeline.claim.release()


def _teller(bar: Bar) -> Callable[[Progress], None]:
    """What shows the work as it goes on."""
    most = 1

    def tell(progress: Progress) -> None:
        nonlocal most
        most = max(most, progress.queued)
        said = STAGES.get(progress.stage, "" if progress.queued else RESTING)
        bar.show(said, most - progress.queued, most)

    return tell


def digest(house: Workspace) -> list[Exception] | None:
    """Do the work behind with nobody looking; None if another memtui does it."""
    return _digest(house, _Silent())


def _report(imported: ImportProgress, errors: list[Exception] | None) -> list[str]:
    files = output.plural(imported.files, "file")
    told = [
        f"{files} read ({imported.unchanged:,} unchanged since last time):"
        f" {output.plural(imported.created, 'new event')},"
        f" {imported.known:,} known already."
    ]
    if imported.forgotten:
        events = output.plural(imported.forgotten, "event")
        told.append(f"{events} of what was forgotten did not come back.")
    if imported.unreadable:
        told.append(f"{output.plural(imported.unreadable, 'file')} could not be read.")
    if imported.refused:
        refused = output.plural(imported.refused, "record")
        told.append(f"{refused} could not be taken: memtui quarantine says why.")
    if errors is None:
        told.append("Another memtui works this store: it digests what was stored.")
    told += [f"error: {error}" for error in errors or ()]
    if errors is not None and (waiting := status.read_stats().queued):
        told.append(f"{output.plural(waiting, 'piece')} of work wait for another try.")
    return told


def work(house: Workspace, *, until_idle: bool, as_json: bool) -> int:
    """Do the work behind without a screen."""
    if not house.pipeline.claim.acquire():
        raise MemtuiError("another memtui works this store already")
    if not until_idle:
        return _forever(house)
    with _bar(as_json=as_json) as bar:
        errors = _digest(house, bar) or []
    waiting = 0 if house.uses_no_model else _waiting_for_model()
    if as_json:
        said = [str(error) for error in errors]
        output.as_json({"errors": said, "waiting_for_model": waiting})
        return 1 if errors else 0
    output.print_lines(f"error: {error}" for error in errors)
    if waiting:
        number = output.plural(waiting, "node")
        told = "can have a summary by a model: memtui work, or the app, asks it."
        output.print_lines([f"{number} {told}"])
    return 1 if errors else 0


def _waiting_for_model() -> int:
    with database.connection():
        return sum(rewrite_queue.count(level) for level in TocLevel)


def _forever(house: Workspace) -> int:
    print("memtui works; stop it with ctrl+c", file=sys.stderr)
    with _bar() as bar:
        show = _teller(bar)

        def tell(progress: Progress) -> None:
            show(progress)
            if progress.error:
                print(f"memtui: {progress.error}", file=sys.stderr)

        house.start(tell)
        threading.Event().wait()
    return 0


def reindex(house: Workspace) -> int:
    """Make the index anew and fill it."""
    if not house.pipeline.claim.acquire():
        raise MemtuiError("another memtui works this store; stop it to reindex")
    house.pipeline.reindex()
    with _bar() as bar:
        errors = _digest(house, bar) or []
    output.print_lines(f"error: {error}" for error in errors)
    return 1 if errors else 0
