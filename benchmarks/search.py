"""Measure the speed of the search in messages, compared with other engines.

It measures, on generated conversations in a store of their own: rebuilding the index,
the first query of a process, queries of all kinds, and the cost of one more message
while the index follows. Each query runs in turns with the other engines, once without
being measured and then a few times; the median counts. Run it from the checkout:

    python -m benchmarks.search [--big] [--messages N…] [--folder FOLDER]
"""

import argparse
import gc
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks import append, conversations, engines, questions, session_search
from benchmarks.engines import Rival
from benchmarks.processes import CACHE, Run, machine, run
from benchmarks.tail import took_ms
from memtui import store
from memtui.paths import Paths
from memtui.search.message_index import MessageIndex
from memtui.store import database

MESSAGES, BIG = 100_000, 1_000_000
"""How many messages are searched; the second with ``--big`` as well."""

ROUNDS = 3
"""How often each query runs; the medians count."""

BUSY = ", processor"
"""The suffix of processor times, which do not depend on the load. The ratios are of
these."""

WARMED = 20
"""About how many queries run before it is measured."""

OPENED = 11
"""How many processes run a first query; the medians count."""

FOUND = 30
"""How many messages are searched for as soon as they are stored."""

FIRST = "cache error handling"
"""The first query."""

TEXTS = 300
"""From about how many messages phrases are taken."""

MB = 1_000_000

Taken = dict[str, list[float]]


def alone(does: str, paths: Paths, *given: str) -> Run:
    """Do something in a process of its own."""
    home = str(paths.store.parent)
    return run([sys.executable, "-m", "benchmarks.search_process", does, home, *given])


def share(taken: Sequence[float], of: float) -> float:
    """The time within which this share of them was done."""
    ordered = sorted(taken)
    return ordered[min(len(ordered) - 1, int(of * len(ordered)))]


def texts(every: int = 1) -> Iterator[tuple[int, str]]:
    """All that was said, or one of so many messages, with the numbers of their rows."""
    sql = "SELECT rowid, text FROM events WHERE rowid % ? = 0"
    with database.connection():
        yield from database.db.execute_sql(sql, (every,))


def show_store(paths: Paths) -> None:
    """Print what is searched."""
    index = MessageIndex(paths.message_index)
    counted = "SELECT count(*), sum(length(text)) FROM events"
    with database.connection():
        messages, chars = database.db.execute_sql(counted).fetchone()
        (sessions,) = database.db.execute_sql(
            "SELECT count(*) FROM sessions"
        ).fetchone()
    print(
        f"\n{messages:,} messages of {chars / messages:.0f} characters in {sessions:,}"
        f" sessions; store {paths.store.stat().st_size / MB:,.0f} MB,"
        f" index of messages {index.path.stat().st_size / MB:,.0f} MB"
    )


def show_rebuilt(paths: Paths) -> None:
    """Rebuild the index, and print what that took."""
    done = alone("rebuild", paths)
    result = json.loads(done.output)
    whole_s = result["whole_s"]
    reading = 1 - (result["words_s"] + result["sqlite_s"]) / whole_s
    print(
        f"rebuilt      {result['messages'] / whole_s:9,.0f} messages/s:"
        f" {result['words_s'] / whole_s:.0%} words, {result['sqlite_s'] / whole_s:.0%}"
        f" SQLite, {reading:.0%} reading; {done.peak_bytes / MB:,.0f} MB at its peak"
    )


def show_opened(paths: Paths) -> None:
    """Print what the first query of a process takes."""
    replies = [json.loads(alone("open", paths, FIRST).output) for _ in range(OPENED)]
    opened = [reply["opened_ms"] for reply in replies]
    imported = median(reply["imported_ms"] for reply in replies)
    print(
        f"first asked  {median(opened):9.1f} ms ({min(opened):.1f} to"
        f" {max(opened):.1f}), after imports of {imported:.0f} ms"
    )


def time_queries(
    paths: Paths, others: Sequence[Rival], by_kind: dict[str, list[str]], turns: int
) -> dict[str, Taken]:
    """Return the milliseconds that each query took each engine, by kind."""
    searches = {"memtui": session_search.finder(paths)} | {
        other.name: other.find for other in others
    }
    every = [
        (kind, question) for kind, queries in by_kind.items() for question in queries
    ]
    rounds = {
        name + what: [[0.0] * turns for _ in every]
        for name in searches
        for what in ("", BUSY)
    }
    # Garbage collection must not be part of what is measured.
    gc.collect()
    gc.freeze()
    with database.connection():
        for _, question in every[:: max(1, len(every) // WARMED)]:
            searches["memtui"](question)
        for turn in range(turns):
            for at, (_, question) in enumerate(every):
                for name, find in searches.items():
                    busy_s = time.process_time()
                    rounds[name][at][turn] = took_ms(partial(find, question))
                    busy_ms = (time.process_time() - busy_s) * 1000
                    rounds[name + BUSY][at][turn] = busy_ms
    gc.unfreeze()
    return {
        kind: {
            name: [
                median(each)
                for (of, _), each in zip(every, taken, strict=True)
                if of == kind
            ]
            for name, taken in rounds.items()
        }
        for kind in by_kind
    }


def show_times(taken: dict[str, Taken], others: Sequence[Rival]) -> None:
    """Print what queries took, by kind and in all, and the ratios."""
    count = sum(len(each["memtui"]) for each in taken.values())
    print(f"{count} questions, ms            p50      p95      p99      max")
    for kind, each in taken.items():
        print(figures(kind, each["memtui"]))
    every = {
        name + what: [ms for each in taken.values() for ms in each[name + what]]
        for name in ("memtui", *(other.name for other in others))
        for what in ("", BUSY)
    }
    for name, all_ms in every.items():
        print(figures(name.replace("memtui", "all of them"), all_ms))
    for other in others:
        mine, its = every[f"memtui{BUSY}"], every[f"{other.name}{BUSY}"]
        ratios = ", ".join(
            f"{share(mine, of) / share(its, of):.2f} x at p{of * 100:.0f}"
            for of in (0.5, 0.95, 0.99)
        )
        rate = f", filled with {other.rate:,.0f} messages/s" if other.rate else ""
        print(f"  beside {other.name}: {ratios}; {other.size / MB:,.0f} MB{rate}")


def figures(name: str, taken: Sequence[float]) -> str:
    """A line of a table."""
    shares = "".join(f"{share(taken, of):9.2f}" for of in (0.5, 0.95, 0.99))
    return f"  {name:<24}{shares}{max(taken):9.2f}"


def show_appended(paths: Paths, runs: int) -> None:
    """Print what one more message costs, and how soon it is found."""
    with append.copied(paths) as copy:
        taken = append.measure(copy, runs)
        found_ms = append.found_ms(copy, min(runs, FOUND))
    print("one more message, ms       p50      p95      p99      max")
    for way, each in taken.items():
        print(figures(way, each))
    bare = taken["without the index"]
    for way, each in list(taken.items())[1:]:
        more = [share(each, of) - share(bare, of) for of in (0.5, 0.99)]
        print(f"  {way} adds {more[0]:.2f} at p50, {more[1]:.2f} at p99")
    print(figures("stored until found", found_ms))


def measure(
    paths: Paths,
    messages: int,
    *,
    each: int,
    runs: int,
    rounds: int = ROUNDS,
    is_kept: bool = False,
) -> None:
    """Measure everything on one store and print it.

    Args:
        paths: Where it lies.
        messages: How many messages it holds.
        each: How many questions of a kind.
        runs: How many messages are kept in each way.
        rounds: How often each question is asked.
        is_kept: Whether an index that is there is used.
    """
    if not (is_kept and paths.message_index.exists()):
        show_rebuilt(paths)
    store.open_at(paths.store)
    show_store(paths)
    show_opened(paths)
    sample = [text for _, text in texts(max(1, messages // TEXTS))]
    by_kind = questions.of(sample, each)
    folder = paths.store.parent
    rivals = (
        engines.plain(folder, messages, texts),
        engines.tantivy(folder, messages, texts),
    )
    others = [other for other in rivals if other]
    if len(others) < len(rivals):
        print("tantivy is not installed: it is not measured")
    show_times(time_queries(paths, others, by_kind, rounds), others)
    used = alone(
        "ask", paths, *(query for queries in by_kind.values() for query in queries[:5])
    )
    print(f"memory       {used.peak_bytes / MB:9,.0f} MB at its peak, mapped files too")
    show_appended(paths, runs)
    database.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, nargs="+", default=[MESSAGES])
    parser.add_argument("--big", action="store_true", help="a million messages as well")
    parser.add_argument("--folder", type=Path, default=CACHE, help="where stores stay")
    parser.add_argument("--keep", action="store_true", help="keep the index")
    parser.add_argument("--each", type=int, default=questions.EACH)
    parser.add_argument("--runs", type=int, default=append.RUNS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args()
    print(
        f"{machine()}; {datetime.now(UTC):%Y-%m-%d}; "
        f"{os.getloadavg()[0]:.1f} at work before"
    )
    for messages in [*given.messages, *([BIG] if given.big else [])]:
        measure(
            conversations.home(given.folder, messages),
            messages,
            each=given.each,
            runs=given.runs,
            rounds=given.rounds,
            is_kept=given.keep,
        )


if __name__ == "__main__":
    main()
