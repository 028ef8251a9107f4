"""Measure the cost of storing a message while the message index follows the store.

Messages are stored one at a time, each in its own transaction, in turns: without an
outbox row, with an outbox row that nobody processes, and with the index following on a
thread or in another process.
"""

import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime, timedelta

from benchmarks import session_search
from benchmarks.processes import CHECKOUT, environment
from memtui import store
from memtui.model import events
from memtui.model.events import Event, EventType
from memtui.paths import Paths, in_home
from memtui.pipeline.pipeline import MessageIndexer
from memtui.search.message_index import MessageIndex
from memtui.store import database, queues
from memtui.store import events as store_events

RUNS = 400
"""How many messages are kept in each way."""

IN_TURN = 50
"""The number of messages before another way is measured."""

PAUSE_S = 0.005
"""The time until the next message is stored, in seconds."""

REST_S = 0.01
"""The time between updates of the index, in seconds."""

TEXT = "The retry of the upload waits twice as long each time, up to a minute. " * 6

NEVER_SAID = 900_000
"""The number of the first message that is looked for."""

AT = datetime(2026, 1, 20, 8, tzinfo=UTC)
"""When the first is said: after all that is kept."""


@contextmanager
def copied(paths: Paths) -> Iterator[Paths]:
    """The places of a copy of a store, opened."""
    home = paths.store.parent.with_suffix(".copy")
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(paths.store.parent, home)
    store.open_at(in_home(home).store)
    try:
        yield in_home(home)
    finally:
        database.close()
        shutil.rmtree(home)


def measure(paths: Paths, runs: int = RUNS) -> dict[str, list[float]]:
    """The milliseconds to keep a message, one by one, by what goes on behind."""
    ways: dict[str, Callable[[], AbstractContextManager[None]]] = {
        "without the index": silent,
        "index queued only": nullcontext,
        "index updated by a thread": lambda: on_thread(paths),
        "index updated by a process": lambda: by_process(paths),
    }
    taken: dict[str, list[float]] = {way: [] for way in ways}
    number = 0
    with database.connection():
        for _ in range(max(1, runs // IN_TURN)):
            for way, behind in ways.items():
                with behind():
                    for _ in range(min(runs, IN_TURN)):
                        taken[way].append(keep_ms(message(number)))
                        time.sleep(PAUSE_S)
                        number += 1
    return taken


def found_ms(paths: Paths, runs: int) -> list[float]:
    """The milliseconds to keep a message and find it, though it is not indexed yet.

    Raises:
        SystemExit: It is not found.
    """
    find = session_search.finder(paths)
    taken = []
    with database.connection():
        for number in range(NEVER_SAID, NEVER_SAID + runs):
            began_s = time.perf_counter()
            event = message(number, f"unheardof{number}")
            keep_ms(event)
            hits = find(f"unheardof{number}").hits
            taken.append((time.perf_counter() - began_s) * 1000)
            if not hits or hits[0].event_id != event.event_id:
                raise SystemExit("what was kept is not found")
    return taken


def message(number: int, said: str = TEXT) -> Event:
    """One more message."""
    return events.make(
        agent="claude-code",
        session_id="live",
        timestamp=AT + timedelta(seconds=number),
        event_type=EventType.ASSISTANT_MESSAGE,
        text=f"{number} {said}",
        source_key=f"live-{number}",
    )


def keep_ms(event: Event) -> float:
    """Keep a message; the milliseconds that took."""
    began_s = time.perf_counter()
    with database.transaction():
        store_events.add([event], route="hook")
    return (time.perf_counter() - began_s) * 1000


@contextmanager
def silent() -> Iterator[None]:
    """Nothing is said to the index of messages."""
    said = queues.add_events
    queues.add_events = lambda *_: None
    try:
        yield
    finally:
        queues.add_events = said


@contextmanager
def on_thread(paths: Paths) -> Iterator[None]:
    """The index is kept in step by a thread of this process."""
    ended = threading.Event()
    listen = MessageIndexer(MessageIndex(paths.message_index))

    def follow() -> None:
        with database.connection():
            while not ended.is_set():
                if not listen.step():
                    ended.wait(REST_S)

    while listen.step():
        pass
    thread = threading.Thread(target=follow)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextmanager
def by_process(paths: Paths) -> Iterator[None]:
    """The index is kept in step by another process."""
    home = str(paths.store.parent)
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.search_process", "follow", home],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=CHECKOUT,
        env=environment(),
    )
    assert process.stdout is not None
    try:
        process.stdout.readline()
        yield
    finally:
        process.communicate()
