"""Run the checks of doctor, and change what they look at."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memtui.pipeline.worker import PROC_LOCKS

Ask = Callable[..., Any]

NOBODY = 65534
"""Whom the superuser becomes, to be refused something."""


listing = pytest.mark.skipif(
    not PROC_LOCKS.exists(), reason="this system does not list who holds a lock"
)


def failed_findings(report: Any) -> dict[str, Any]:
    """What is wrong, by its name."""
    return {
        finding["name"]: finding
        for finding in report["findings"]
        if not finding["is_ok"]
    }


def get_finding(report: Any, name: str) -> Any:
    return next(finding for finding in report["findings"] if finding["name"] == name)


def get_findings(report: Any, name: str) -> list[Any]:
    return [finding for finding in report["findings"] if finding["name"] == name]


def store_file(home: Path) -> Path:
    return home / "memory.db"


@contextmanager
def open_database(home: Path) -> Iterator[sqlite3.Connection]:
    """The store as somebody has it who minds none of memtui's rules."""
    connection = sqlite3.connect(store_file(home))
    try:
        yield connection
        connection.commit()
    finally:
        connection.close()


def set_age(file: Path, age: timedelta) -> None:
    at_s = (datetime.now(UTC) - age).timestamp()
    os.utime(file, (at_s, at_s))
