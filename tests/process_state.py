"""What a process keeps from one test to the next, and how each test finds it as it was.

A test may change any of this, by itself or by a command that it runs in this process.
"""

import gc
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from memtui.capture import projects
from memtui.store import database
from memtui.tui import garbage

MODULE_GLOBALS = ((garbage, "_is_reduced"), (database, "_open_file"))
"""What memtui's modules set anew while they run, beside the one database."""

LOGGERS = ("", "watchfiles")
"""The loggers whose levels a command sets."""

PYTEST_VARIABLE = "PYTEST_CURRENT_TEST"
"""Told in the environment by pytest itself."""


GC_THRESHOLDS = 200_000, 20, 20
"""How seldom Python looks for garbage: as it usually does takes a sixth of the time."""


def prepare_process() -> None:
    """Make this process, and all that it begins, fit for tests."""
    # Else each of the hundreds of processes that are begun would compile all anew.
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # What runs behind ignores an interrupt, and so would all that it begins.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.set_threshold(*GC_THRESHOLDS)


@contextmanager
def restored_state() -> Iterator[None]:
    """Put back afterwards all that belongs to the process."""
    found = [(put_back, look()) for look, put_back in _STATE]
    store = database.db.database, dict(database.db.connect_params)
    pragmas = list(database.db._pragmas)
    try:
        yield
    finally:
        close_store()
        database.db.init(store[0], pragmas=pragmas, **store[1])
        projects.locate_project.cache_clear()
        for put_back, what in found:
            put_back(what)


def close_store() -> None:
    """Have no store open, whatever a fixture that many tests share has opened."""
    database.close()
    database.db.init(None)


def _mask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _set_environment(found: Mapping[str, str]) -> None:
    for name in {*os.environ, *found} - {PYTEST_VARIABLE}:
        if name not in found:
            del os.environ[name]
        elif os.environ.get(name) != found[name]:
            os.environ[name] = found[name]


def _handlers() -> dict[int, Any]:
    return {number: signal.getsignal(number) for number in signal.valid_signals()}


def _set_handlers(found: Mapping[int, Any]) -> None:
    for number, handler in found.items():
        if signal.getsignal(number) is not handler:
            signal.signal(number, handler)


def _logging() -> tuple[bool, list[logging.Handler], list[int]]:
    levels = [logging.getLogger(name).level for name in LOGGERS]
    return logging.raiseExceptions, list(logging.getLogger().handlers), levels


def _set_logging(found: tuple[bool, list[logging.Handler], list[int]]) -> None:
    logging.raiseExceptions, handlers, levels = found
    root = logging.getLogger()
    for handler in [one for one in root.handlers if one not in handlers]:
        root.removeHandler(handler)
        handler.close()
    for name, level in zip(LOGGERS, levels, strict=True):
        logging.getLogger(name).setLevel(level)


def _module_globals() -> list[tuple[ModuleType, str, Any]]:
    return [(module, name, getattr(module, name)) for module, name in MODULE_GLOBALS]


def _set_module_globals(found: list[tuple[ModuleType, str, Any]]) -> None:
    for module, name, value in found:
        setattr(module, name, value)


def _set_path(found: list[str]) -> None:
    sys.path[:] = found


_STATE: tuple[tuple[Callable[[], Any], Callable[[Any], object]], ...] = (
    (_mask, os.umask),
    (os.getcwd, os.chdir),
    (lambda: dict(os.environ), _set_environment),
    (lambda: list(sys.path), _set_path),
    (gc.get_threshold, lambda found: gc.set_threshold(*found)),
    (_handlers, _set_handlers),
    (_logging, _set_logging),
    (_module_globals, _set_module_globals),
)
"""How each is looked at, and how it is put back."""
