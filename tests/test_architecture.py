"""What the import graph promises, proven in a fresh interpreter."""

import subprocess
import sys

import pytest

FRONT = ("textual", "rich")
HEAVY = ("whoosh", "httpx", "ollama", "tiktoken", "ulid", "markdown_it", "cronsim")
"""What is not on the way to the first screen."""


def loaded(code: str) -> set[str]:
    """The modules a fresh interpreter has after running some code."""
    told = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(told.stdout.split())


@pytest.mark.parametrize(
    "module",
    [
        "memory.extracts.extract",
        "store.toc",
        "sources",
        "summarize.summarizer",
        "summarize.ollama.summarizer",
        "search.node_index",
        "stages.works",
        "recall.browse",
        "curate.forget",
        "house",
    ],
)
def test_the_back_of_the_house_runs_without_a_screen(module: str) -> None:
    assert loaded(f"import memtui.{module}").isdisjoint(FRONT)


def test_the_hook_loads_nothing_of_the_house() -> None:
    others = {
        name
        for name in loaded("import memtui.hook")
        if name.startswith("memtui") and name not in ("memtui", "memtui.hook")
    }
    assert others == set()


def test_help_loads_neither_store_nor_screen() -> None:
    assert loaded("import memtui.cli.main").isdisjoint({*FRONT, *HEAVY, "peewee"})


def test_the_way_to_the_first_screen_is_free_of_what_it_does_not_need() -> None:
    assert loaded("import memtui.workspace, memtui.tui.app").isdisjoint(HEAVY)


def test_a_model_is_at_hand_without_what_asks_it() -> None:
    assert loaded("import memtui.summarize.ollama.summarizer").isdisjoint(HEAVY)


def test_a_server_that_nobody_asked_yet_has_loaded_nothing_of_the_memory() -> None:
    asked = ("house", "store", "recall", "curate", "sources", "stages", "search")
    known = loaded("import memtui.cli.mcp, memtui.agents.api, memtui.agents.api")
    assert known.isdisjoint({"peewee", *HEAVY, *(f"memtui.{one}" for one in asked)})
