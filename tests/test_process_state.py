"""No test sees the changes of another one to their common process."""

import ast
import gc
import logging
import os
import signal
import sys
from pathlib import Path

import pytest

import memtui
from memtui.paths import in_home
from memtui.settings import Settings
from memtui.store import database
from memtui.workspace import Workspace
from tests import process_state

SOURCES = Path(memtui.__file__).parent


def look() -> dict[str, object]:
    mask = os.umask(0o077)
    os.umask(mask)
    return {
        "mask": mask,
        "folder": Path.cwd(),
        "environment": dict(os.environ),
        "path": list(sys.path),
        "signal": signal.getsignal(signal.SIGHUP),
        "looks": gc.get_threshold(),
        "log": (logging.raiseExceptions, list(logging.getLogger().handlers)),
        "level": (logging.getLogger().level, logging.getLogger("watchfiles").level),
        "opened": database._open_file,
    }


def spoil(folder: Path, settings: Settings) -> None:
    os.umask(0o011)
    os.chdir(folder)
    os.environ["HOME"] = "/nowhere"
    os.environ["MEMTUI_LOG__LEVEL"] = "debug"
    del os.environ["PATH"]
    sys.path.insert(0, "/nowhere")
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    gc.set_threshold(1)
    logging.raiseExceptions = False
    logging.getLogger().addHandler(logging.FileHandler(folder / "log"))
    logging.getLogger().setLevel(1)
    logging.getLogger("watchfiles").setLevel(1)
    Workspace(in_home(folder / "home"), settings).stop()


def test_whatever_a_test_does_to_its_process_is_undone(
    tmp_path: Path, settings: Settings
) -> None:
    before = look()
    with process_state.restored_state():
        spoil(tmp_path, settings)
        spoiled = look()
    assert [name for name in before if before[name] == spoiled[name]] == []
    assert look() == before


def test_no_test_asks_the_store_of_the_one_before(
    tmp_path: Path, settings: Settings
) -> None:
    with process_state.restored_state():
        Workspace(in_home(tmp_path / "home"), settings)
        with database.connection():
            assert not database.db.is_closed()
    assert database.db.is_closed() and database.db.database is None


@pytest.mark.full
def test_all_that_memtui_sets_anew_for_a_whole_process_is_known() -> None:
    reset_names = {
        (module.__name__, name) for module, name in process_state.MODULE_GLOBALS
    }
    assert {
        (_name_of(file), name)
        for file in SOURCES.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Global)
        for name in node.names
    } == reset_names


def _name_of(file: Path) -> str:
    return ".".join(file.relative_to(SOURCES.parent).with_suffix("").parts)
