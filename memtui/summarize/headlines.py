"""Compose the headline of a day or a longer period of the names of its work."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from memtui.model.quantities import plural
from memtui.model.summaries import HEADLINE_CHARS
from memtui.summarize import session_work
from memtui.text import titles

SEPARATOR = "; "
"""Between the names of pieces of work."""

MIN_NAME_CHARS = 40
"""A name is not cut shorter than this to make room for another one."""

LIST_CHARS = 40
"""The room that is left to the names of projects whose work is not named."""

WORK_SHARE = 0.05
"""Work with a smaller share of the effort of the project's largest is not named."""


class NamedWork(NamedTuple):
    """A piece of work by the names of its parts, the largest first."""

    project: str
    names: Sequence[str]
    effort: float


def compose(works: Sequence[NamedWork], project_share: float) -> str:
    """Name the main work of each large project, then further work as far as it fits.

    Args:
        works: The best first.
        project_share: The share of the effort of the largest project that a large one
            has at least.
    """
    efforts: dict[str, float] = {}
    for work in works:
        efforts[work.project] = efforts.get(work.project, 0.0) + work.effort
    projects = sorted(efforts, key=lambda one: -efforts[one])
    named = _choose(works)
    main = {one.project: one.names[0] for one in reversed(named)}
    ranked = [one for one in projects if one in main]
    least = project_share * max((efforts[one] for one in ranked), default=0.0)
    headline = _Headline(projects)
    headline.add_main({one: main[one] for one in ranked if efforts[one] >= least})
    headline.add_further(
        [
            *((one.project, one.names[0]) for one in named),
            *((one.project, name) for one in named for name in one.names[1:]),
        ]
    )
    headline.add_small([(one, main[one]) for one in ranked])
    return str(headline)


def _choose(works: Sequence[NamedWork]) -> list[NamedWork]:
    """Return works of different names that say something, without small ones."""
    distinct = [*{one.names[0]: one for one in reversed(works)}.values()][::-1]
    telling = [one for one in distinct if _says_enough(one.names[0])] or distinct[:1]
    largest = {one.project: one.effort for one in reversed(telling)}
    return [one for one in telling if one.effort >= WORK_SHARE * largest[one.project]]


def _says_enough(name: str) -> bool:
    return titles.is_informative(name) and not session_work.is_action_line(name)


@dataclass(slots=True)
class _Headline:
    """The names of work on each project, while they are chosen."""

    projects: Sequence[str]
    """The largest first."""
    names: dict[str, list[str]] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the names, and as many of the other projects as fit."""
        text = _join(self.names)
        others = self._others(self.names)
        for more in range(len(others)):
            if len(text + (listed := _list(others, more))) <= HEADLINE_CHARS:
                return text + listed
        count = f"{SEPARATOR}{plural(len(others), 'more project')}" if others else ""
        return text + count

    def add_main(self, names: Mapping[str, str]) -> None:
        """Add a name for each of the first projects, the longest ones cut if needed."""
        for count in range(len(names), 0, -1):
            chosen = dict([*names.items()][:count])
            cut = {one: [name[:MIN_NAME_CHARS]] for one, name in chosen.items()}
            if self._room(cut) >= 0 or count == 1:
                room = self._room({one: [""] for one in chosen})
                limit = _share_out(room, [*map(len, chosen.values())])
                self.names = {
                    one: [titles.shorten_title(name, limit)]
                    for one, name in chosen.items()
                }
                return

    def add_further(self, names: Sequence[tuple[str, str]]) -> None:
        """Add names for the same projects, the last one cut if needed."""
        for project, name in names:
            mine = self.names.get(project, [])
            if mine and not any(name.startswith(one.rstrip("…")) for one in mine):
                room = self._room(self.names) - len(SEPARATOR)
                if room < min(len(name), MIN_NAME_CHARS):
                    return
                mine.append(titles.shorten_title(name, room))

    def add_small(self, names: Sequence[tuple[str, str]]) -> None:
        """Add names for further projects as long as there is room."""
        for project, name in names:
            more = {**self.names, project: [name]}
            if project not in self.names:
                if self._room(more) < 0:
                    return
                self.names = more

    def _room(self, names: Mapping[str, Sequence[str]]) -> int:
        """Return the room beside some names and a list of other projects."""
        listed = _list(self._others(names), 0)
        return HEADLINE_CHARS - len(_join(names)) - min(LIST_CHARS, len(listed))

    def _others(self, names: Mapping[str, Sequence[str]]) -> list[str]:
        return [one for one in self.projects if one and one not in names]


def _share_out(room: int, lengths: Sequence[int]) -> int:
    """Return the length to which the longest texts are cut so that all fit."""
    for count, length in enumerate(sorted(lengths)):
        share = room // (len(lengths) - count)
        if length > share:
            return max(share, 1)
        room -= length
    return max(lengths)


def _join(names: Mapping[str, Sequence[str]]) -> str:
    """Join the names of each project after its own; those without a project first."""
    return SEPARATOR.join(
        f"{project}: {SEPARATOR.join(names[project])}"
        if project
        else SEPARATOR.join(names[project])
        for project in sorted(names, key=bool)
    )


def _list(projects: Sequence[str], more: int) -> str:
    """Name all but the last of some projects, and say how many more there are."""
    if not projects:
        return ""
    count = f" and {more} more" if more else ""
    return f"{SEPARATOR}also {', '.join(projects[: len(projects) - more])}{count}"
