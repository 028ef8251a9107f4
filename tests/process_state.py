"""Restore the state of the process after each test: environment, signals, store …

Tests change it themselves or through commands that they run in this process.
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

from memtui.capture import policy
from memtui.store import database

MODULE_GLOBALS = ((database, "_open_file"),)
"""The variables that memtui's modules set while they run, besides the database."""

LOGGERS = ("", "watchfiles")
"""The loggers whose levels commands set."""

PYTEST_VARIABLE = "PYTEST_CURRENT_TEST"
"""Set by pytest itself."""


GC_THRESHOLDS = 200_000, 20, 20
"""Thresholds of the garbage collector; the usual ones take a sixth of the time."""


def prepare_process() -> None:
    """Prepare this process, and those it starts, for tests."""
    # Otherwise each of hundreds of processes would compile all modules again.
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # Background jobs of a shell ignore interrupts, and so would their children.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.set_threshold(*GC_THRESHOLDS)


@contextmanager
def restored_state() -> Iterator[None]:
    """Restore the state of the process at the end."""
    saved = [(look, put_back, look()) for look, put_back in _STATE]
    store = database.db.database, dict(database.db.connect_params)
    pragmas = list(database.db._pragmas)
    try:
        yield
    finally:
        close_store()
        database.db.init(store[0], pragmas=pragmas, **store[1])
        policy.locate_project.cache_clear()
        for look, put_back, what in saved:
            # Another user may not go to the folder that this process is in.
            if look() != what:
                put_back(what)


def close_store() -> None:
    """Close the store, even if a shared fixture has opened it."""
    database.close()
    database.db.init(None)


def _mask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _set_environment(variables: Mapping[str, str]) -> None:
    for name in {*os.environ, *variables} - {PYTEST_VARIABLE}:
        if name not in variables:
            del os.environ[name]
        elif os.environ.get(name) != variables[name]:
            os.environ[name] = variables[name]


def _handlers() -> dict[int, Any]:
    return {number: signal.getsignal(number) for number in signal.valid_signals()}


def _set_handlers(handlers: Mapping[int, Any]) -> None:
    for number, handler in handlers.items():
        if signal.getsignal(number) is not handler:
            signal.signal(number, handler)


def _logging() -> tuple[bool, list[logging.Handler], list[int]]:
    levels = [logging.getLogger(name).level for name in LOGGERS]
    return logging.raiseExceptions, list(logging.getLogger().handlers), levels


def _set_logging(logging_state: tuple[bool, list[logging.Handler], list[int]]) -> None:
    logging.raiseExceptions, handlers, levels = logging_state
    root = logging.getLogger()
    for handler in [handler for handler in root.handlers if handler not in handlers]:
        root.removeHandler(handler)
        handler.close()
    for name, level in zip(LOGGERS, levels, strict=True):
        logging.getLogger(name).setLevel(level)


def _module_globals() -> list[tuple[ModuleType, str, Any]]:
    return [(module, name, getattr(module, name)) for module, name in MODULE_GLOBALS]


def _set_module_globals(module_globals: list[tuple[ModuleType, str, Any]]) -> None:
    for module, name, value in module_globals:
        setattr(module, name, value)


def _set_path(path: list[str]) -> None:
    sys.path[:] = path


_STATE: tuple[tuple[Callable[[], Any], Callable[[Any], object]], ...] = (
    (_mask, os.umask),
    (os.getcwd, os.chdir),
    (lambda: dict(os.environ), _set_environment),
    (lambda: list(sys.path), _set_path),
    (gc.get_threshold, lambda threshold: gc.set_threshold(*threshold)),
    (_handlers, _set_handlers),
    (_logging, _set_logging),
    (_module_globals, _set_module_globals),
)
"""A function that reads each part of the state, and one that restores it."""
