"""The memory is the same in whatever order, in however many pieces, from wherever.

Forks, resumed sessions, copies of folders and hooks tell the same things again.
"""

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from memtui.house import House
from memtui.llm.extractive import Extractive
from memtui.memory.segments import Rules
from memtui.memory.tokens import ESTIMATED
from memtui.paths import in_home
from memtui.settings import Settings
from memtui.stages.works import Setup, Works

START = datetime(2025, 3, 14, 10, tzinfo=UTC)
LATER = START + timedelta(days=30)

TreeOf = Callable[[Path], dict[str, Any]]
Step = tuple[str, str]
"""A file's name, and what is appended to it."""


def record(number: int, said: str, session: str = "s1", **more: Any) -> str:
    """A line of a transcript: of the person when odd, else of the assistant."""
    kind = "user" if number % 2 else "assistant"
    fields = {
        "type": kind,
        "uuid": f"u{number}",
        "sessionId": session,
        "timestamp": (START + timedelta(minutes=number)).isoformat(),
        "cwd": "/home/ada/shop",
        "message": {
            "id": f"m{number}",
            "content": [{"type": "text", "text": said}],
            "stop_reason": "end_turn",
        },
    }
    return json.dumps(fields | more) + "\n"


def line(session: str, *numbers: int) -> str:
    """A session that says what has these numbers."""
    return "".join(
        record(n, f"Word {n} about the migration of table {n}", session)
        for n in numbers
    )


@contextmanager
def works_at(
    home: Path, settings: Settings, now: datetime = LATER
) -> Iterator[tuple[Works, list[datetime]]]:
    """The works of a home, and the clock they are handed."""
    clock = [now]
    house = House(in_home(home), settings)
    setup = Setup(
        spool=house.paths.spool,
        index=house.paths.index,
        claim=house.paths.claim,
        zone=house.zone,
        rules=Rules(),
        counter=ESTIMATED,
        summarizer=Extractive(),
        clock=lambda: clock[0],
        agent="agent",
    )
    try:
        yield Works(setup), clock
    finally:
        house.stop()


def bring(works: Works, *paths: Path) -> None:
    for _ in works.importer().run(paths):
        pass
    assert works.until_idle(lambda _: None) == []


def without_versions(tree: dict[str, Any]) -> dict[str, Any]:
    """How often a node was told depends on what came when; what it says must not."""
    for node in tree["nodes"].values():
        del node["version"]
    return tree


class Told:
    """Tells the same history in many ways, each into a home of its own."""

    def __init__(self, place: Path, settings: Settings, tree_of: TreeOf) -> None:
        self._place, self._settings, self._tree_of = place, settings, tree_of
        self._ways = 0

    def tree(self, steps: Sequence[Step]) -> dict[str, Any]:
        """What is kept after files have grown by these steps."""
        self._ways += 1
        home = self._place / f"home-{self._ways}"
        folder = self._place / f"way-{self._ways}" / "shop"
        folder.mkdir(parents=True)
        with works_at(home, self._settings) as (works, _):
            for name, more in steps:
                with (folder / name).open("a") as file:
                    file.write(more)
                bring(works, folder / name)
        return without_versions(self._tree_of(home))


@pytest.fixture
def told(tmp_path: Path, settings: Settings, tree_of: TreeOf) -> Told:
    return Told(tmp_path, settings, tree_of)


def cut(files: Mapping[str, str], dice: random.Random) -> list[Step]:
    """The files in pieces, in a random order that keeps each file's own."""
    left = {name: text.splitlines(keepends=True) for name, text in files.items()}
    steps = []
    while left:
        name = dice.choice(sorted(left))
        number = dice.randint(1, len(left[name]))
        steps.append((name, "".join(left[name][:number])))
        left[name] = left[name][number:]
        if not left[name]:
            del left[name]
    return steps


def marked(session: str, whose: str, *numbers: int) -> str:
    """Records that say which session they were copied from."""
    return "".join(
        record(
            n,
            f"Word {n} about the migration of table {n}",
            session,
            forkedFrom={"sessionId": whose, "messageUuid": f"u{n}"},
        )
        for n in numbers
    )


FORKS = {
    "one": {"a": line("s1", 1, 2, 3, 4, 9), "b": line("s2", 1, 2, 3, 4, 10)},
    "one that goes on before the original does": {
        "a": line("s1", 1, 2, 3, 4, 20),
        "b": line("s2", 1, 2, 3, 4, 10),
    },
    "one that says nothing of its own": {
        "a": line("s1", 1, 2, 3, 4, 9),
        "b": line("s2", 1, 2, 3),
    },
    "a whole session": {"a": line("s1", 1, 2, 3), "b": line("s2", 1, 2, 3)},
    "two of one": {
        "a": line("s1", 1, 2, 3, 4, 9),
        "b": line("s2", 1, 2, 3, 4, 10),
        "c": line("s3", 1, 2, 11),
    },
    "a chain": {
        "a": line("s1", 1, 2, 3, 4),
        "b": line("s2", 1, 2, 3, 4, 5, 6),
        "c": line("s3", 1, 2, 3, 4, 5, 6, 7, 8),
    },
    "one of a fork": {
        "a": line("s1", 1, 2, 3, 4, 21),
        "b": line("s2", 1, 2, 3, 4, 5, 6, 17),
        "c": line("s3", 1, 2, 3, 4, 5, 6, 9, 10),
    },
    "marked": {
        "a": line("s1", 1, 2, 3, 4, 9),
        "b": marked("s2", "s1", 1, 2, 3, 4) + line("s2", 10, 11),
    },
    "a marked chain": {
        "a": line("s1", 1, 2, 3, 4, 9),
        "b": marked("s2", "s1", 1, 2, 3, 4) + line("s2", 10, 11),
        "c": marked("s3", "s2", 1, 2, 3, 4, 10, 11) + line("s3", 12, 13),
    },
    "marked and unmarked": {
        "a": line("s1", 1, 2, 3, 4, 9),
        "b": marked("s2", "s1", 1, 2, 3, 4) + line("s2", 10, 11),
        "c": line("s3", 1, 2, 3, 4, 10, 11, 12, 13),
    },
    "all in one file": {
        "a": line("s1", 1, 2, 3, 9) + line("s2", 1, 2, 3, 10) + line("s3", 1, 2, 11),
        "b": line("s4", 1, 2, 3, 10, 15),
    },
}


@pytest.mark.parametrize("kind", FORKS)
def test_a_fork_is_the_same_in_whatever_order_it_comes(told: Told, kind: str) -> None:
    files = FORKS[kind]
    orders = [[(n, files[n]) for n in order] for order in permutations(files)]
    trees = [told.tree(steps) for steps in orders]
    assert len({name for name, _ in _words(trees[0])}) == len(_words(trees[0]))
    for other in trees[1:]:
        assert other == trees[0]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["one of a fork", "two of one", "a marked chain"])
def test_a_fork_is_the_same_however_it_grows(told: Told, kind: str, seed: int) -> None:
    whole = told.tree(list(FORKS[kind].items()))
    assert told.tree(cut(FORKS[kind], random.Random(seed))) == whole


def _words(tree: dict[str, Any]) -> list[tuple[str, str]]:
    return [(text, name) for name, text, _ in tree["events"]]
