"""Where everything is on this machine, as whoever installs hooks is told it."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


def project_of(folder: Path) -> Path:
    """The project a folder belongs to: the root of its repository, else itself.

    A worktree is a project of its own here: agents read their settings in it.
    """
    above = (one for one in (folder, *folder.parents) if (one / ".git").exists())
    return next(above, folder)


@dataclass(frozen=True, slots=True)
class Machine:
    """A person's home, their environment, and the hook that is to be run."""

    home: Path
    environment: Mapping[str, str]
    python: str
    """The interpreter that runs the hook."""
    hook: Path
    """The hook's own file: no package needs to be found for it to run."""
    backups: Path
    """Where copies of settings from before a change are kept."""
    spool: Path | None = None
    """Where the hook is to leave events; where it finds it by itself when None."""
    project: Path | None = None
    """The project whose settings are meant; the person's own when None."""

    def folder(self, variable: str, otherwise: str) -> Path:
        """A folder that a variable names, or else one in the home."""
        named = self.environment.get(variable)
        if not named:
            return self.home / otherwise
        if named.startswith("~/"):
            return self.home / named[2:]
        return Path(named)

    def has_program(self, name: str) -> bool:
        """Whether a program is on the path."""
        path = self.environment.get("PATH", "")
        return shutil.which(name, path=path) is not None

    def command(self, *more: str) -> list[str]:
        """What an agent is to run, and with which further words.

        ``-I -S``: neither the environment nor the site's packages are looked at, which
        is quicker and keeps what is broken there from the hook.
        """
        spool = ["--spool", str(self.spool)] if self.spool else []
        return [self.python, "-I", "-S", str(self.hook), *spool, *more]
