"""The project of a folder: its repository, whose worktrees count as one project.

For a folder that is in no repository, or not on this machine, the path decides.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from memtui.files import read_small_file

_WORKTREE = re.compile(r"^(.+?)/(?:\.claude/|\.git/)?\.?worktrees/[^/]+(?:/|$)")
"""The folders in which agents and users put worktrees within a repository."""


@dataclass(frozen=True, slots=True)
class ProjectLocation:
    """The repository and project of a folder."""

    root: str
    """The folder of the repository, or ""."""
    project: str


@lru_cache(maxsize=4096)
def locate_project(cwd: str, root: str = "") -> ProjectLocation:
    """Return the repository and project of a working directory.

    Args:
        cwd: The directory that the agent reported; it may not exist here.
        root: The repository's folder, if the agent reported it.
    """
    path = _slashed(root or cwd)
    found = _main_worktree(root) or _repository(cwd) or _slashed(root)
    if not found and (inside := _WORKTREE.match(path)):
        found = inside.group(1)
    return ProjectLocation(found, (found or path).rpartition("/")[2])


def _slashed(path: str) -> str:
    return path.replace("\\", "/").rstrip("/")


def _repository(cwd: str) -> str:
    """Return the repository that a folder is in, or ""."""
    here = Path(cwd)
    if not cwd or not here.is_absolute():
        return ""
    for folder in (here, *here.parents):
        if found := _main_worktree(str(folder)):
            return found
    return ""


def _main_worktree(folder: str) -> str:
    """Return the repository whose work tree starts at a folder, or ""."""
    if not folder:
        return ""
    mark = Path(folder, ".git")
    try:
        if mark.is_dir():
            return _slashed(folder)
        # A worktree's .git is a file: gitdir: /repository/.git/worktrees/name
        text = read_small_file(mark).decode("utf-8", "replace")
        named = text.strip().removeprefix("gitdir:")
    except (OSError, ValueError):
        return ""
    home, found, _ = _slashed(named.strip()).partition("/.git/worktrees/")
    return home if found else _slashed(folder)
