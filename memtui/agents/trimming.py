"""Trimming: what is answered of memtui itself, as much of its lists as a budget holds.

Items go whole from the end, those of the last list first, and what an item can do
without (``SPARES``) before any; what was left out is counted, and the budget that holds
all of it is named.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memtui.agents import replies
from memtui.text.tokens import Counter

SPARES = ("diff", "facts")
"""The fields of an item whose contents it can do without."""


Wrap = Callable[[Any, str], Mapping[str, Any]]
"""Puts data, and what was left out of it, into what is printed."""


def fitted(data: Any, limit: int, counter: Counter, wrap: Wrap) -> tuple[Any, str]:
    """A value with as much of its lists as fits, and what was left out of it.

    An object says so itself; of a list, and of a table, it is told beside it.

    Args:
        data: What is answered, in JSON's own types.
        limit: The budget in tokens.
        counter: Of tokens.
        wrap: Puts the data into what is printed: the budget is of all of it.
    """
    whole = replies.cost(replies.dumped(wrap(data, "")), counter)
    lists = {name: one for name, one in _named(data).items() if isinstance(one, list)}
    count = sum(map(len, lists.values()))
    count += sum(_spared(lists, name) for name in SPARES)
    is_table = isinstance(data, dict) and all(
        isinstance(o, dict) for o in data.values()
    )
    if whole <= limit or not (count or is_table):
        return data, ""
    all_of_it = f"--max-tokens {round(whole, -2) + 100} gives all"

    def rows(kept: int, _: int | None) -> tuple[Any, str]:
        return dict([*data.items()][:kept]), f"{len(data) - kept} left out: {all_of_it}"

    def made(kept: int, width: int | None) -> tuple[Any, str]:
        told = replies.brief(_kept(lists, kept), width)
        left = f"{_left(lists, told)}: {all_of_it}"
        if isinstance(data, list):
            return told[""], left
        return replies.brief(data, width) | told | {"left_out": left}, ""

    some, most = (rows, len(data)) if is_table else (made, count)
    found = replies.fit(
        lambda *kept: replies.dumped(wrap(*some(*kept))), most, limit, counter
    )
    return some(found.kept, found.width)


def lines(told: Sequence[str], limit: int, counter: Counter) -> list[str]:
    """As many of some lines as fit, and how many there are besides."""
    whole = replies.cost("\n".join(told), counter)

    def kept(count: int) -> list[str]:
        rest = len(told) - count
        more = (
            f"({rest} lines left out: --max-tokens {round(whole, -2) + 100} gives all)"
        )
        return [*told[:count], *([more] if rest else [])]

    found = replies.fit(
        lambda count, _: "\n".join(kept(count)), len(told), limit, counter
    )
    return kept(found.kept)


def _named(data: Any) -> dict[str, Any]:
    return data if isinstance(data, dict) else {"": data}


def _kept(lists: Mapping[str, list[Any]], kept: int) -> dict[str, list[Any]]:
    """The lists with so many parts: whole items, then what these can do without."""
    told: dict[str, list[Any]] = {}
    for name, one in lists.items():
        told[name] = one[: max(0, kept)]
        kept -= len(one)
    for one in told.values():
        for at, item in enumerate(one):
            for name in SPARES:
                some = _parts(item, name)
                if some > max(0, kept):
                    one[at] = one[at] | {name: _first(item[name], kept)}
                kept -= some
    return told


def _first(some: Any, kept: int) -> Any:
    """As much of a list; of an object all or nothing."""
    return some[: max(0, kept)] if isinstance(some, list) else {}


def _parts(item: Any, name: str) -> int:
    """Of how many parts a field of an item is: an object is one."""
    some = item.get(name) if isinstance(item, dict) else None
    return len(some) if isinstance(some, list) else int(bool(some))


def _spared(lists: Mapping[str, list[Any]], name: str) -> int:
    return sum(_parts(item, name) for one in lists.values() for item in one)


def _left(lists: Mapping[str, list[Any]], told: Mapping[str, list[Any]]) -> str:
    gone = {name: len(one) - len(told[name]) for name, one in lists.items()}
    parts = [f"{count} {name}".strip() for name, count in gone.items() if count]
    spared = {one: _spared(lists, one) - _spared(told, one) for one in SPARES}
    parts += [f"{count} of {name}" for name, count in spared.items() if count]
    return f"{', '.join(parts)} left out"
