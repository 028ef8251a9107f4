"""Which project a folder belongs to: its repository's, worktrees counted as one.

Where the folder is not on this machine, or in no repository, its path has to do.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_WORKTREE = re.compile(r"^(.+?)/(?:\.claude/|\.git/)?\.?worktrees/[^/]+(?:/|$)")
"""How agents and people name the folder of their worktrees within a repository."""


@dataclass(frozen=True, slots=True)
class ProjectLocation:
    """Where work was done."""

    root: str
    """The folder of the repository; "" if it is not known."""
    project: str
    """The name of the project."""


@lru_cache(maxsize=4096)
def locate_project(cwd: str, root: str = "") -> ProjectLocation:
    """The repository and the project of a working directory.

    Args:
        cwd: The directory, as the agent said it; it need not exist here.
        root: The repository's folder, where the agent said that too.
    """
    path = _slashed(root or cwd)
    found = _main_worktree(root) or _repository(cwd) or _slashed(root)
    if not found and (inside := _WORKTREE.match(path)):
        found = inside.group(1)
    return ProjectLocation(found, (found or path).rpartition("/")[2])


def _slashed(path: str) -> str:
    return path.replace("\\", "/").rstrip("/")


def _repository(cwd: str) -> str:
    """The nearest folder upwards that git knows; "" if there is none."""
    here = Path(cwd)
    if not cwd or not here.is_absolute():
        return ""
    for folder in (here, *here.parents):
        if found := _main_worktree(str(folder)):
            return found
    return ""


def _main_worktree(folder: str) -> str:
    """The folder of the repository whose work tree begins here; "" if none does."""
    if not folder:
        return ""
    mark = Path(folder, ".git")
    try:
        if mark.is_dir():
            return _slashed(folder)
        # A worktree's .git is a file: gitdir: /repository/.git/worktrees/name
        named = mark.read_text("utf-8", "replace").strip().removeprefix("gitdir:")
    except (OSError, ValueError):
        return ""
    home, found, _ = _slashed(named.strip()).partition("/.git/worktrees/")
    return home if found else _slashed(folder)
