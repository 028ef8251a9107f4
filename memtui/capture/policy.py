"""Exclusions: the projects and folders whose conversations are not to be kept."""

from collections.abc import Iterable, Iterator
from fnmatch import translate
from pathlib import PurePath
from re import IGNORECASE, Pattern, compile


class Exclusions:
    """Patterns of what is left out, in the order they are tried.

    A pattern without a slash is matched against a project's name, whatever its case.
    One with a slash is matched against a session's folders: the one it was started
    in, the one of its repository, and the place of its transcript; what covers a
    folder covers all below it. ``*`` stands for anything, a slash as well. A pattern
    that does not start at the root (``clients/acme``) is met anywhere in a path.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        """Take the patterns, a leading ``~`` already written out."""
        named = [pattern.strip() for pattern in patterns]
        self._rules = [(pattern, _rule(pattern)) for pattern in named if pattern]

    def __bool__(self) -> bool:
        return bool(self._rules)

    def rule_for(self, *, project: str, cwd: str, root: str, path: str = "") -> str:
        """The first pattern that covers a session, "" where none does.

        Args:
            project: The project's name.
            cwd: The folder the session was started in, "" if not known.
            root: The folder of its git repository, "" if there is none.
            path: The transcript's own file, "" where there is none.
        """
        folders = [*dict.fromkeys(_lineages(cwd, root, path))]
        for pattern, rule in self._rules:
            names = folders if "/" in pattern else [project] if project else []
            if any(map(rule.match, names)):
                return pattern
        return ""


def _rule(pattern: str) -> Pattern[str]:
    if "/" not in pattern:
        return compile(translate(pattern), IGNORECASE)
    below = pattern.rstrip("/") or "/"
    anywhere = below if below.startswith(("/", "*")) else f"*/{below}"
    return compile(translate(anywhere))


def _lineages(*paths: str) -> Iterator[str]:
    """Each path and every folder above it, so that a folder covers what is below."""
    for path in paths:
        if path:
            place = PurePath(path)
            yield place.as_posix()
            yield from (above.as_posix() for above in place.parents)
