"""Which modules are imported with which, checked in a fresh interpreter."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import memtui.pipeline

FRONT = ("textual", "rich")
HEAVY = ("whoosh", "httpx", "ollama", "tiktoken", "ulid", "markdown_it", "cronsim")
"""What is not on the way to the first screen."""

PIPELINE = sorted(Path(memtui.pipeline.__path__[0]).glob("*.py"))


def loaded(code: str) -> set[str]:
    """The modules a fresh interpreter has after running some code."""
    process = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(process.stdout.split())


@pytest.mark.parametrize(
    "module",
    [
        "tools.routing",
        "capture.formats",
        "pipeline.pipeline",
        "search.teleport",
        "services.forget",
        "store.nodes",
        "summarize.ollama.summarizer",
        "workspace",
    ],
)
def test_all_below_the_app_runs_without_textual(module: str) -> None:
    assert loaded(f"import memtui.{module}").isdisjoint(FRONT)


def test_the_hook_imports_nothing_of_memtui() -> None:
    others = {
        name
        for name in loaded("import memtui.hook")
        if name.startswith("memtui") and name not in ("memtui", "memtui.hook")
    }
    assert others == set()


def test_help_imports_no_store_and_no_screen() -> None:
    assert loaded("import memtui.cli.main").isdisjoint({*FRONT, *HEAVY, "peewee"})


def test_the_way_to_the_first_screen_is_free_of_what_it_does_not_need() -> None:
    assert loaded("import memtui.workspace, memtui.tui.app").isdisjoint(HEAVY)


def test_a_model_is_at_hand_without_what_asks_it() -> None:
    assert loaded("import memtui.summarize.ollama.summarizer").isdisjoint(HEAVY)


@pytest.mark.parametrize("file", PIPELINE, ids=lambda file: file.stem)
def test_types_of_the_pipeline_are_imported_like_all_else(file: Path) -> None:
    """The contract on the order of these modules does not see other imports."""
    names = [
        node.module or ""
        for block in ast.walk(ast.parse(file.read_text()))
        if isinstance(block, ast.If)
        for node in ast.walk(block)
        if isinstance(node, ast.ImportFrom)
    ]
    assert not [name for name in names if name.startswith("memtui.pipeline")]


def test_the_mcp_server_starts_without_importing_the_store() -> None:
    asked = ("workspace", "store", "services", "capture", "pipeline", "search")
    modules = loaded("import memtui.cli.servers, memtui.tools.table")
    assert modules.isdisjoint({"peewee", *HEAVY, *(f"memtui.{name}" for name in asked)})
