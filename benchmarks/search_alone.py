"""What the search of messages does in a process of its own, to be measured there.

``rebuild HOME`` makes its index anew, ``open HOME QUESTION`` asks one question first
thing, ``ask HOME QUESTION…`` asks some, ``follow HOME`` keeps the index in step until
its input ends. Figures are printed as JSON.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

BEGUN_S = time.perf_counter()

from benchmarks import asking  # noqa: E402 - what is measured is the time this takes
from memtui import store  # noqa: E402
from memtui.paths import Paths, in_home  # noqa: E402
from memtui.search import message_index  # noqa: E402
from memtui.store import database  # noqa: E402
from memtui.text import analyzer  # noqa: E402

IMPORTED_S = time.perf_counter()

REST_S = 0.01
"""How long to rest when there is nothing to index, in seconds."""


class Clocked:
    """A function, and how long it took in all."""

    def __init__(self, done: Callable[..., Any]) -> None:
        """Remember it."""
        self._done, self.taken_s = done, 0.0

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Do it."""
        began_s = time.perf_counter()
        try:
            return self._done(*given, **named)
        finally:
            self.taken_s += time.perf_counter() - began_s


def rebuild(paths: Paths) -> dict[str, float]:
    """Make the index anew; the seconds it took, its words' and its writing's."""
    from memtui.pipeline.indexers import MessageIndexer
    from memtui.search.message_index import MessageIndex

    pass

    analysed, written = Clocked(analyzer.terms), Clocked(message_index.put)
    # As the stage calls them, so that it need not know that it is measured.
    analyzer.terms, message_index.put = analysed, written
    index = MessageIndex(paths.message_index)
    index.delete()
    listen = MessageIndexer(index)
    began_s = time.perf_counter()
    with database.connection():
        while listen.step():
            pass
    return {
        "whole_s": time.perf_counter() - began_s,
        "words_s": analysed.taken_s,
        "sqlite_s": written.taken_s,
        "messages": index.count(),
    }


def opened(paths: Paths, question: str) -> dict[str, float]:
    """Ask a first question; the milliseconds it took, and what was imported for it."""
    began_s = time.perf_counter()
    with database.connection():
        asking.finder(paths)(question)
    return {
        "imported_ms": (IMPORTED_S - BEGUN_S) * 1000,
        "opened_ms": (time.perf_counter() - began_s) * 1000,
    }


def ask(paths: Paths, questions: list[str]) -> dict[str, float]:
    """Ask some questions."""
    with database.connection():
        find = asking.finder(paths)
        for question in questions:
            find(question)
    return {}


def follow(paths: Paths) -> dict[str, float]:
    """Keep the index in step until the input ends."""
    import select

    from memtui.pipeline.indexers import MessageIndexer
    from memtui.search.message_index import MessageIndex

    pass

    listen = MessageIndexer(MessageIndex(paths.message_index))
    with database.connection():
        while listen.step():
            pass
        print("ready", flush=True)
        while True:
            rest_s = 0.0 if listen.step() else REST_S
            if select.select([sys.stdin], [], [], rest_s)[0]:
                return {}


def main() -> None:
    """Do what is asked for and print what it took."""
    does, home, *given = sys.argv[1:]
    paths = in_home(Path(home))
    store.open_at(paths.store)
    told = {
        "rebuild": lambda: rebuild(paths),
        "open": lambda: opened(paths, given[0]),
        "ask": lambda: ask(paths, given),
        "follow": lambda: follow(paths),
    }
    print(json.dumps(told[does]()))


if __name__ == "__main__":
    main()
