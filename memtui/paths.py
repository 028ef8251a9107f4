"""The paths of settings, store, indexes, spool and log."""

import hashlib
import os
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

PRIVATE_FOLDER = 0o700
"""The mode of new folders: only their owner can read conversations."""


@dataclass(frozen=True, slots=True)
class Paths:
    """The files and folders of one store and its settings."""

    config: Path
    store: Path
    index: Path
    spool: Path
    log: Path
    vocabulary: Path

    def with_store_file(self, file: Path | None) -> "Paths":
        """Return these paths with another database file, and its index next to it."""
        if file is None:
            return self
        return replace(self, store=file, index=file.with_name(f"{file.name}-index"))

    def for_project(self, root: Path) -> "Paths":
        """Return these paths with the database and index of one project."""
        digest = hashlib.blake2b(os.fsencode(root), digest_size=4).hexdigest()
        name = re.sub(r"[^\w.-]+", "-", root.name) or "root"
        folder = self.store.parent / "projects" / f"{name}-{digest}"
        return replace(self, store=folder / "memory.db", index=folder / "index")

    @property
    def message_index(self) -> Path:
        """The file of the index of messages, next to the other index."""
        return self.index.with_name(f"{self.index.name}-messages.db")

    @property
    def worker_lock(self) -> Path:
        """The file locked by the process that runs the pipeline."""
        return self.store.with_name("work.lock")

    def make_folders(self) -> None:
        """Create missing folders, which only their owner can read."""
        for folder in (self.store.parent, self.spool, self.index.parent):
            folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)


def in_home(home: Path) -> Paths:
    """Return the paths within one folder, as for ``--home`` and ``MEMTUI_HOME``."""
    return _paths(home, home)


def find_paths(home: Path | None) -> Paths:
    """Return the paths in use: of ``--home``, of ``MEMTUI_HOME``, or the default.

    The default follows the XDG base directory specification.
    """
    if home is None and (named := os.environ.get("MEMTUI_HOME")):
        home = Path(named)
    if home:
        return in_home(home.expanduser().absolute())
    return _paths(
        _xdg("XDG_CONFIG_HOME", ".config") / "memtui",
        _xdg("XDG_DATA_HOME", ".local/share") / "memtui",
    )


def transcript_folders() -> dict[str, tuple[Path, ...]]:
    """Return where each agent keeps its transcripts on this machine.

    Aider is missing: its histories are in the folders that it works in.
    """
    opencode = _opencode_folder()
    databases = {opencode / "opencode.db", opencode_database()}
    with suppress(PermissionError):
        databases |= {*opencode.glob("opencode-*.db")}
    codex = _folder("CODEX_HOME", "~/.codex")
    return {
        "claude-code": _claude_places(),
        "codex": (
            *(codex / name for name in ("sessions", "archived_sessions")),
            codex / "session_index.jsonl",
            *_existing(codex / "history.jsonl"),
        ),
        "gemini-cli": (Path("~/.gemini/tmp").expanduser(),),
        "antigravity-cli": (Path("~/.gemini/antigravity-cli/brain").expanduser(),),
        "opencode": (*sorted(databases), opencode / "storage/session"),
        "copilot-cli": (Path("~/.copilot/session-state").expanduser(),),
    }


def opencode_database() -> Path:
    """Return the database that OpenCode uses: ``OPENCODE_DB`` may name another."""
    return _opencode_folder() / (os.environ.get("OPENCODE_DB") or "opencode.db")


def _opencode_folder() -> Path:
    return _xdg("XDG_DATA_HOME", ".local/share") / "opencode"


def _claude_places() -> tuple[Path, ...]:
    """Return where Claude Code's transcripts and prompts are, of all accounts.

    Those of Cowork are with the desktop app.
    """
    names = os.environ.get("CLAUDE_CONFIG_DIR", "").split(",")
    named = [Path(name.strip()).expanduser() for name in names if name.strip()]
    first, *others = named or (Path.home() / ".claude", Path.home() / ".config/claude")
    apps = (
        Path.home() / "Library/Application Support",
        _xdg("XDG_CONFIG_HOME", ".config"),
        Path(os.environ.get("APPDATA") or Path.home() / "AppData/Roaming"),
    )
    further = (
        *(folder / "projects" for folder in others),
        *(folder / "history.jsonl" for folder in (first, *others)),
        *(app / "Claude/local-agent-mode-sessions" for app in apps),
    )
    return first / "projects", *_existing(*further)


def _existing(*places: Path) -> tuple[Path, ...]:
    existing = []
    for place in dict.fromkeys(places):
        with suppress(PermissionError):
            existing += [place] if place.exists() else []
    return tuple(existing)


def _folder(variable: str, default: str) -> Path:
    return Path(os.environ.get(variable) or default).expanduser()


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


def _xdg(variable: str, default: str) -> Path:
    """Return a base directory; by the specification, a relative one is ignored."""
    named = Path(os.environ.get(variable, ""))
    return named if named.is_absolute() else Path.home() / default


def with_tilde(path: Path | str) -> str:
    """Return a path with ``~`` for the home folder."""
    home, given = Path.home(), Path(path)
    return f"~/{given.relative_to(home)}" if given.is_relative_to(home) else str(path)
