"""The context of a command besides its options: paths, settings, and the workspace."""

import logging
import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from memtui.errors import MemtuiError, StoreError
from memtui.paths import Paths, find_paths, in_home

if TYPE_CHECKING:
    from memtui.settings import Settings
    from memtui.workspace import Workspace


LOG_BYTES = 1_000_000
"""The size at which the log is put aside, in place of the one before."""


class Context:
    def __init__(self, args: Namespace) -> None:
        """Find the paths; nothing is read or created yet."""
        self.paths: Paths = find_paths(args.home)
        named = os.environ.get("MEMTUI_CONFIG")
        self.config_file: Path | None = args.config or (Path(named) if named else None)
        self._assignments: list[str] = args.set

    @cached_property
    def settings(self) -> "Settings":
        """Read the settings; raises SettingsError."""
        return self.load_settings()

    def load_settings(self) -> "Settings":
        from memtui import settings

        return settings.load(
            self.paths.config,
            config_file=self.config_file,
            assignments=self._assignments,
        )

    def missing_store(self) -> Path | None:
        """Return the folder of the store if there is no store, but could be one."""
        from memtui import workspace

        _, paths = workspace.resolve_paths(self.paths, self.settings)
        folder = paths.store.parent
        try:
            existing = next(one for one in (folder, *folder.parents) if one.exists())
            is_possible = not paths.store.exists() and existing.is_dir()
        except OSError:
            return None
        return folder if is_possible else None

    def has_store(self) -> bool:
        """Return True if there is a store, or an error to be raised by opening it."""
        return self.missing_store() is None

    def has_damaged_store(self) -> bool:
        """Return whether doctor finds a damage in the store; takes a moment."""
        from memtui import workspace
        from memtui.store import backup, database, schema

        try:
            _, paths = workspace.resolve_paths(self.paths, self.settings)
            if backup.open_read_only(paths.store) != schema.VERSION:
                return False
            with database.connection():
                return bool(backup.find_damages())
        except MemtuiError:
            return False

    def open_workspace(self) -> "Workspace":
        """Open the store, or create it with files that only this user can read."""
        return open_workspace(self.paths, self.settings)

    @contextmanager
    def workspace(
        self, *, create: bool = False, or_empty: bool = False
    ) -> Iterator["Workspace"]:
        """Open the store and close it at the end.

        If there is no store, one is created, or an empty one is used and deleted at the
        end.

        Raises:
            StoreError: There is no store, or it cannot be opened.
        """
        with ExitStack() as stack:
            paths, settings = self.paths, self.settings
            if not create and (missing := self.missing_store()):
                message = (
                    f"there is no store in {missing} yet; memtui import creates it"
                )
                if not or_empty:
                    raise StoreError(message)
                print(f"memtui: {message}", file=sys.stderr)
                folder = TemporaryDirectory(prefix="memtui-empty-")
                paths = in_home(Path(stack.enter_context(folder)))
                settings = replace(settings, store_path="")
            opened = open_workspace(paths, settings)
            stack.callback(opened.stop)
            yield opened


def open_workspace(
    paths: Paths, settings: "Settings", *, is_demo: bool = False
) -> "Workspace":
    """Open a store and start the log."""
    from memtui.workspace import Workspace

    os.umask(0o077)
    opened = Workspace(paths, settings, is_demo=is_demo)
    start_log(paths.log, settings.log_level)
    return opened


def start_log(file: Path, level: str) -> None:
    from logging.handlers import RotatingFileHandler

    logging.raiseExceptions = False  # a full disk must not write over the screen
    # The file is opened by the first line: reading works on a read-only disk too.
    handler = RotatingFileHandler(file, maxBytes=LOG_BYTES, backupCount=1, delay=True)
    logging.basicConfig(
        handlers=[handler],
        level=level.upper(),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    logging.getLogger("watchfiles").setLevel(logging.WARNING)  # it logs every change
