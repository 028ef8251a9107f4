"""The computer that agents are configured on; tests replace it."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Machine:
    """A user's home folder and environment, and the hook that agents are to run."""

    home: Path
    environment: Mapping[str, str]
    python: str
    """The interpreter that runs the hook."""
    hook: Path
    """The hook's file: it runs without finding any package."""
    backups: Path
    """The folder of the copies of settings files from before a change."""
    spool: Path | None = None
    """The folder where the hook writes events; None for the hook's default."""
    project: Path | None = None
    """The project whose settings are changed; None for the user's own."""

    def folder(self, variable: str, default: str) -> Path:
        """Return the folder that a variable names, else one in the home folder."""
        value = self.environment.get(variable)
        if not value:
            return self.home / default
        if value.startswith("~/"):
            return self.home / value[2:]
        return Path(value)

    def has_program(self, name: str) -> bool:
        path = self.environment.get("PATH", "")
        return shutil.which(name, path=path) is not None

    def hook_command(self, *arguments: str) -> list[str]:
        """Return the command that an agent is to run.

        ``-I -S`` ignore the environment and the site's packages: that is faster, and
        what is broken there cannot break the hook.
        """
        spool = ["--spool", str(self.spool)] if self.spool else []
        return [self.python, "-I", "-S", str(self.hook), *spool, *arguments]


def find_project_root(folder: Path) -> Path:
    """Return the root of the repository that a folder is in, else the folder.

    A worktree is a project of its own: agents read their settings there.
    """
    folders = (one for one in (folder, *folder.parents) if (one / ".git").exists())
    return next(folders, folder)
