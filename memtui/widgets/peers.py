"""The node beside a node: of its level, across the branches it stands in."""

from collections.abc import Iterator

from memtui.memory.scopes import ALL, Scope
from memtui.recall import browse


def peer(node_id: str, step: int, of: Scope = ALL) -> str:
    """The id of the next node of a level, or of the one before.

    Args:
        node_id: Where to start.
        step: 1 for down the list, back in time; -1 for up the list.
        of: The part of the memory that is shown.

    Returns:
        The id, or an empty string at either end of the list.
    """
    path = browse.path(node_id)
    for depth in range(len(path) - 1, -1, -1):
        siblings = [*_under(path[depth - 1] if depth else "", of)]
        place = siblings.index(path[depth]) + step if path[depth] in siblings else -1
        if 0 <= place < len(siblings):
            return _down(siblings[place], len(path) - 1 - depth, step, of)
    return ""


def _down(node_id: str, levels: int, step: int, of: Scope) -> str:
    for _ in range(levels):
        under = [*_under(node_id, of)]
        if not under:
            break
        node_id = under[0] if step > 0 else under[-1]
    return node_id


def _under(node_id: str, of: Scope) -> Iterator[str]:
    offset = 0
    while True:
        lines = (
            browse.children(node_id, offset=offset, of=of)
            if node_id
            else browse.years(offset=offset, of=of)
        )
        yield from (line.node_id for line in lines)
        if len(lines) < browse.PAGE:
            return
        offset += browse.PAGE
