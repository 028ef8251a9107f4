"""Where config, store, index, spool and log live."""

import hashlib
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

PRIVATE_FOLDER = 0o700
"""The mode of every folder we make: conversations are nobody else's business."""


@dataclass(frozen=True, slots=True)
class Paths:
    """All places of one memtui."""

    config: Path
    store: Path
    index: Path
    spool: Path
    log: Path
    vocabulary: Path

    def with_store_file(self, file: Path | None) -> "Paths":
        """The same places, the database and its index at a place of their own."""
        if file is None:
            return self
        return replace(self, store=file, index=file.with_name(f"{file.name}-index"))

    def for_project(self, root: Path) -> "Paths":
        """The same places, the database and its index of one project's own.

        Args:
            root: The project's folder.
        """
        digest = hashlib.blake2b(os.fsencode(root), digest_size=4).hexdigest()
        name = re.sub(r"[^\w.-]+", "-", root.name) or "root"
        folder = self.store.parent / "projects" / f"{name}-{digest}"
        return replace(self, store=folder / "memory.db", index=folder / "index")

    @property
    def message_index(self) -> Path:
        """The file with the index of messages; it lies beside the other index."""
        return self.index.with_name(f"{self.index.name}-messages.db")

    @property
    def worker_lock(self) -> Path:
        """The file whose lock says who works the store."""
        return self.store.with_name("work.lock")

    @property
    def hook_backups(self) -> Path:
        """The folder of agents' settings as they were before our hooks came in."""
        return self.log.parent / "hooks"

    @property
    def server_backups(self) -> Path:
        """The folder of agents' settings as they were before our server came in."""
        return self.log.parent / "servers"

    def make_folders(self) -> None:
        """Make the folders that are missing, for their owner alone."""
        for folder in (self.store.parent, self.spool, self.index.parent):
            folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)


def in_home(home: Path) -> Paths:
    """Everything in one folder, as ``--home`` and ``MEMTUI_HOME`` ask for."""
    return _paths(home, home)


def default_paths() -> Paths:
    """The places the XDG base directory specification gives a person's programs."""
    return _paths(
        _xdg("XDG_CONFIG_HOME", ".config") / "memtui",
        _xdg("XDG_DATA_HOME", ".local/share") / "memtui",
    )


def find_paths(home: Path | None) -> Paths:
    """The places in use: the command line's, the environment's, else a person's."""
    if home is None and _is_set("MEMTUI_HOME"):
        home = Path(os.environ["MEMTUI_HOME"])
    return in_home(home.expanduser().absolute()) if home else default_paths()


def transcript_folders() -> dict[str, tuple[Path, ...]]:
    """Where each agent keeps its transcripts on this machine, by its source's name.

    Aider keeps them in the folders it works in, which a person has to name.
    """
    opencode = _xdg("XDG_DATA_HOME", ".local/share") / "opencode"
    return {
        "claude-code": (_set_or("CLAUDE_CONFIG_DIR", "~/.claude") / "projects",),
        "codex": (
            _set_or("CODEX_HOME", "~/.codex") / "sessions",
            _set_or("CODEX_HOME", "~/.codex") / "archived_sessions",
        ),
        "gemini-cli": (Path("~/.gemini/tmp").expanduser(),),
        "opencode": (opencode / "opencode.db", opencode / "storage/session"),
        "copilot-cli": (Path("~/.copilot/session-state").expanduser(),),
    }


def _set_or(variable: str, otherwise: str) -> Path:
    named = os.environ.get(variable) or otherwise
    return Path(named).expanduser()


def _paths(config: Path, data: Path) -> Paths:
    spool = os.environ.get("MEMTUI_SPOOL")
    return Paths(
        config=config / "config.toml",
        store=data / "memory.db",
        index=data / "index",
        spool=Path(spool).expanduser().absolute() if spool else data / "spool",
        log=data / "memtui.log",
        vocabulary=data / "tokens",
    )


def _xdg(name: str, otherwise: str) -> Path:
    """A base directory; a relative one is no base directory, the specification says."""
    named = Path(os.environ.get(name, ""))
    return named if named.is_absolute() else Path.home() / otherwise


def _is_set(name: str) -> bool:
    return bool(os.environ.get(name))
