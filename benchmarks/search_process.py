"""Run the search in messages in a process of its own, to be measured.

``rebuild HOME`` rebuilds its index, ``open HOME QUERY`` runs one query first, ``ask
HOME QUERY…`` runs several, and ``follow HOME`` keeps the index up to date until its
input ends. Figures are printed as JSON.
"""

import json
import select
import sys
import time
from collections.abc import Callable
from functools import partialmethod
from pathlib import Path
from typing import Any

BEGUN_S = time.perf_counter()

from benchmarks import session_search  # noqa: E402 - the time that this takes is measured
from memtui import store  # noqa: E402
from memtui.paths import Paths, in_home  # noqa: E402
from memtui.search.message_index import MessageIndex  # noqa: E402
from memtui.store import database  # noqa: E402
from memtui.text import analyzer  # noqa: E402

IMPORTED_S = time.perf_counter()

PAUSE_S = 0.01
"""How long to wait when there is nothing to index."""


class Clocked:
    """A function that adds up how long its calls take."""

    def __init__(self, function: Callable[..., Any]) -> None:
        """Take the function."""
        self._function, self.taken_s = function, 0.0

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Call it."""
        began_s = time.perf_counter()
        try:
            return self._function(*args, **named)
        finally:
            self.taken_s += time.perf_counter() - began_s


def rebuild(paths: Paths) -> dict[str, float]:
    """Rebuild the index; return the seconds that took, in all and for its parts."""
    from memtui.pipeline.pipeline import MessageIndexer

    analyzed, added = Clocked(analyzer.term_text), Clocked(MessageIndex.add_older)
    analyzer.term_text = analyzed
    MessageIndex.add_older = partialmethod(added)  # type: ignore[assignment]
    index = MessageIndex(paths.message_index)
    index.delete()
    indexer = MessageIndexer(index)
    began_s = time.perf_counter()
    with database.connection():
        while indexer.step():
            pass
    return {
        "whole_s": time.perf_counter() - began_s,
        "words_s": analyzed.taken_s,
        "sqlite_s": added.taken_s - analyzed.taken_s,
        "messages": index.status().messages,
    }


def run_first(paths: Paths, query: str) -> dict[str, float]:
    """Run one query; return the milliseconds it took, and those of the imports."""
    began_s = time.perf_counter()
    with database.connection():
        session_search.finder(paths)(query)
    return {
        "imported_ms": (IMPORTED_S - BEGUN_S) * 1000,
        "opened_ms": (time.perf_counter() - began_s) * 1000,
    }


def run_all(paths: Paths, queries: list[str]) -> dict[str, float]:
    """Run some queries."""
    with database.connection():
        find = session_search.finder(paths)
        for query in queries:
            find(query)
    return {}


def follow(paths: Paths) -> dict[str, float]:
    """Keep the index up to date until the input ends."""
    from memtui.pipeline.pipeline import MessageIndexer

    indexer = MessageIndexer(MessageIndex(paths.message_index))
    with database.connection():
        while indexer.step():
            pass
        print("ready", flush=True)
        while True:
            pause_s = 0.0 if indexer.step() else PAUSE_S
            if select.select([sys.stdin], [], [], pause_s)[0]:
                return {}


def main() -> None:
    """Run the task of the command line and print the figures."""
    task, home, *queries = sys.argv[1:]
    paths = in_home(Path(home))
    store.open_at(paths.store)
    tasks = {
        "rebuild": lambda: rebuild(paths),
        "open": lambda: run_first(paths, queries[0]),
        "ask": lambda: run_all(paths, queries),
        "follow": lambda: follow(paths),
    }
    print(json.dumps(tasks[task]()))


if __name__ == "__main__":
    main()
