"""Measure the cost of a keystroke in the node search, and of updating its index.

Every prefix of some queries of one to five words is searched, as if it were typed; a
quarter of the queries have only very common words. Documents are generated: segments,
days and grips whose words follow Zipf's law. Each size is measured in its own process.
A keystroke is the time from the typed text to ranked hits; reading these from the store
is measured separately, because it does not depend on the size. Run it from the
checkout:

    python -m benchmarks.teleport [--sizes 30000 150000] [--queries 200]
"""

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks import generate, zipf
from benchmarks.processes import CACHE, machine, run, size_of
from memtui.model.calendar import TocLevel
from memtui.paths import in_home
from memtui.search import node_index
from memtui.search import query as search_query
from memtui.search.node_index import (
    SEGMENT,
    Document,
    NodeIndex,
    NodeMatch,
    NodeReader,
    filter_token,
)
from memtui.search.node_scoring import FieldText, NodeField
from memtui.settings import Settings
from memtui.text import analyzer
from memtui.workspace import Workspace

SIZES = (30_000, 150_000)
"""How many documents."""

QUERIES = 200

BATCH = 2500
"""How many documents a commit takes while the index is made: those of 500 nodes."""

COMMON = 100
"""So many of the most frequent words, stop words among them, are very common."""

UPDATES = 25
OPENINGS = 10
"""How often each is done; the medians count."""

BEGIN = datetime(2023, 1, 2, tzinfo=UTC)
AGENTS = ("claude-code", "codex", "gemini")

Figures = dict[str, list[float]]
"""What was measured by its name, in the unit the name ends with."""


def generate_documents(rng: random.Random, count: int) -> Iterator[Document]:
    """Yield documents as a store has them: of ten, six segments, three grips, a day."""
    for number in range(count):
        at = BEGIN + timedelta(minutes=9 * number)
        name, kind = f"{number:06}", number % 10
        marks = [filter_token(node_index.AGENT, rng.choice(AGENTS))]
        if kind in (3, 6, 9):
            texts: tuple[FieldText, ...] = ((NodeField.EXCERPT, zipf.text(rng, 18)),)
            yield Document(
                f"s{name}",
                texts,
                filters=tuple(marks),
                start=at,
                end=at,
                grip_id=f"grip:{name}",
            )
            continue
        is_day = kind == 0
        level = TocLevel.DAY if is_day else TocLevel.SEGMENT
        marks += [
            filter_token(node_index.LEVEL, level),
            *([] if is_day else [SEGMENT]),
        ]
        texts = (
            (NodeField.TITLE, " ".join(zipf.words(rng, 8))),
            (NodeField.KEYWORDS, " ".join(zipf.words(rng, 8))),
            *((NodeField.BULLETS, zipf.text(rng, 10)) for _ in range(3)),
        )
        end = at + timedelta(minutes=1440 if is_day else 30)
        yield Document(name, texts, level, tuple(marks), at, end)


def generate_queries(rng: random.Random, count: int) -> list[str]:
    """Queries of one to five words; every fourth of very common words alone."""
    common = [word for word in zipf.ranked()[:COMMON] if analyzer.is_indexed(word)]
    return [
        " ".join(
            rng.choices(common, k=1 + number % 5)
            if number % 4 == 0
            else zipf.words(rng, 1 + number % 5)
        )
        for number in range(count)
    ]


def timed(act: Callable[[], object]) -> float:
    """Return how long something takes, in milliseconds."""
    begun = time.perf_counter()
    act()
    return (time.perf_counter() - begun) * 1000


def fill(index: NodeIndex, size: int) -> float:
    """Fill an index with a number of documents; return how many a second."""
    rng = random.Random(zipf.SEED)
    everything = list(generate_documents(rng, size))
    begun = time.perf_counter()
    for start in range(0, size, BATCH):
        index.update(everything[start : start + BATCH], [])
    return size / (time.perf_counter() - begun)


def find(index: NodeIndex, text: str, limit: int) -> Sequence[NodeMatch]:
    query = search_query.parse(text, UTC)
    return index.read(lambda reader: reader.search(query, limit))


def keystrokes(index: NodeIndex, queries: Sequence[str], behind: str = "") -> Figures:
    """What each keystroke costs.

    On a busy machine the processor's time says more than the clock's.
    """
    taken: Figures = {"ms": [], "processor ms": []}
    for query in queries:
        for end in range(1, len(query) + 1):
            text = behind + query[:end]
            begun, used = time.perf_counter(), time.thread_time()
            find(index, text, 50)
            taken["ms"].append((time.perf_counter() - begun) * 1000)
            taken["processor ms"].append((time.thread_time() - used) * 1000)
    return taken


def suggested(index: NodeIndex, rng: random.Random) -> list[float]:
    """What a suggestion for a misspelt word costs."""
    taken = []
    for word in zipf.words(rng, 200):
        at = rng.randrange(1, max(len(word) - 1, 2))
        wrong = search_query.parse(f"{word[:at]}q{word[at + 1 :]}x ", UTC)
        begun = time.perf_counter()
        index.read(partial(NodeReader.suggestion, query=wrong, has_few=True))
        taken.append((time.perf_counter() - begun) * 1000)
    return taken


def updated(index: NodeIndex, folder: Path) -> list[float]:
    """Return how long after the start of an update another reader finds it."""
    reader, taken = NodeIndex(folder), []
    reader.count()
    for number in range(UPDATES):
        name = f"{number * 10 + 1:06}"
        word = f"zeppelin{'abcdefghijklmnopqrstuvwxyz'[number]}x"
        texts = ((NodeField.TITLE, word), (NodeField.BULLETS, "quay ferry harbour"))
        changed = Document(name, texts)
        begun = time.perf_counter()
        index.update([changed], [name])
        matches = find(reader, f"{word} ", 5)
        taken.append((time.perf_counter() - begun) * 1000)
        assert [match.node_id for match in matches] == [name]
    reader.close()
    return taken


def measure(folder: Path, size: int, count: int) -> Figures:
    """All figures of one size, in this process."""
    shutil.rmtree(folder, ignore_errors=True)
    index = NodeIndex(folder)
    index.create("measured")
    taken: Figures = {"indexed a second": [fill(index, size)]}
    taken["size MB"] = [size_of(folder) / 1e6]
    index.close()
    taken["open ms"] = []
    for _ in range(OPENINGS):
        taken["open ms"].append(timed(index.count))
        index.close()
    queries = generate_queries(random.Random(5), count)
    keystroke_figures = keystrokes(index, queries)
    taken["keystroke ms"] = keystroke_figures["ms"]
    taken["of the processor ms"] = keystroke_figures["processor ms"]
    few = queries[: max(count // 10, 1)]
    taken["after: ms"] = keystrokes(index, few, "after:2023-06 ")["ms"]
    taken["suggestion ms"] = suggested(index, random.Random(6))
    taken["update ms"] = updated(index, folder)
    index.close()
    return taken


def reading(messages: int, count: int) -> list[float]:
    """Return what a whole answer takes in a small store, with snippets."""
    with tempfile.TemporaryDirectory() as place:
        generate.write(Path(place) / "transcripts", messages)
        settings = Settings(store_time_zone="UTC", summaries_provider="extractive")
        workspace = Workspace(in_home(Path(place) / "home"), settings)
        try:
            for _ in workspace.pipeline.importer().run([Path(place) / "transcripts"]):
                pass
            workspace.pipeline.run_until_idle(lambda _: None)
            queries = generate_queries(random.Random(7), count)
            return [
                workspace.teleport.find(query[:end]).took_ms
                for query in queries
                for end in range(1, len(query) + 1)
            ]
        finally:
            workspace.stop()


def row(name: str, values: Sequence[float]) -> str:
    """A line of the table: median, 95th, 99th and the most."""
    ordered = sorted(values)
    ranks = [
        ordered[min(int(len(ordered) * q), len(ordered) - 1)] for q in (0.95, 0.99)
    ]
    cells = [median(ordered), *ranks, ordered[-1]]
    return f"  {name:<22}" + "".join(f"{cell:>10.1f}" for cell in cells)


def main() -> None:
    """Measure each size in a process of its own, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--messages", type=int, default=3000)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    folder = CACHE / "teleport"
    if given.one:
        print(json.dumps(measure(folder, given.one, given.queries)))
        return
    print(machine())
    command = (sys.executable, "-m", "benchmarks.teleport", "--queries")
    for size in given.sizes:
        done = run((*command, str(given.queries), "--one", str(size)))
        print(f"{size:,} documents{'':<10}  median      95 %      99 %       max")
        for name, values in json.loads(done.output).items():
            print(row(name, values))
        print(row("peak memory MB", [done.peak_bytes / 1e6]))
    answers = reading(given.messages, max(given.queries // 10, 1))
    print(f"A whole answer in a store of {given.messages:,} messages, read and cut")
    print(row("keystroke ms", answers))


if __name__ == "__main__":
    main()
