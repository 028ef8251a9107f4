"""Each sentence once: a wide node repeats what the nodes under it say."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from memtui.memory import calendar
from memtui.memory.hits import Hit, HitKind
from memtui.memory.toc import TocLevel

_DEPTH = {level: depth for depth, level in enumerate(TocLevel)}


def told_once(hits: Sequence[Hit]) -> Iterator[tuple[Hit, list[str]]]:
    """Hits without those that only repeat one of a node under them.

    The one that stays is the narrowest, which is where the sentence comes from. It
    stands in the place of the best of them, with its score.

    Args:
        hits: The best first.

    Yields:
        Each hit, and the levels of those that are left out for it, the narrowest first.
    """
    leaders: dict[int, int] = {}
    by_depth = sorted(range(len(hits)), key=lambda at: (-_DEPTH[hits[at].level], at))
    narrow: dict[str, list[int]] = {}
    for at in by_depth:
        hit = hits[at]
        same = narrow.setdefault(hit.snippet.text, [])
        is_told = hit.kind is HitKind.NODE and bool(hit.snippet.text)
        above = (one for one in same if hit.node_id in _way(hits[one]))
        leader = next(above, at) if is_told else at
        leaders[at] = leader
        if leader == at and is_told:
            same.append(at)
    groups: dict[int, list[int]] = {}
    for at in range(len(hits)):
        groups.setdefault(leaders[at], []).append(at)
    for leader, mine in groups.items():
        others = sorted((one for one in mine if one != leader), key=by_depth.index)
        levels = dict.fromkeys(hits[one].level.value for one in others)
        yield replace(hits[leader], score=hits[mine[0]].score), [*levels]


def _way(hit: Hit) -> list[str]:
    try:
        return calendar.path(hit.node_id)
    except ValueError:
        return []
