"""The outline: the best table of contents that a number of tokens holds.

It begins with the years and opens, line by line, what is worth most: what is recent
and what much was said in. A line is never shown without those above it.
"""

import heapq
import math
from collections.abc import Callable
from datetime import datetime, tzinfo

from memtui.agents import formatting, navigation, replies
from memtui.agents.replies import Plain, Reply, dumped
from memtui.model.nodes import TocEntry, TocLevel
from memtui.model.scope import ALL, Scope
from memtui.text.tokens import Counter

HALF_LIFE_DAYS = 30.0
"""After so many days a line is worth half, as seen from the newest."""


DEEPER = 0.8
"""What a line is worth against the one above it, of the same age and size."""


LINES = 600
"""How many lines an outline has at most."""


_DEPTH = {level: depth for depth, level in enumerate(TocLevel)}


def reply(
    zone: tzinfo,
    limit: int,
    counter: Counter,
    *,
    of: Scope = ALL,
    as_json: bool = False,
) -> Reply:
    """The table of contents as lines, each under its parent, newest first.

    Args:
        zone: The calendar's.
        limit: The budget in tokens.
        counter: Of tokens.
        of: Whose work.
        as_json: Whether it is told as JSON, where a line costs more.
    """
    limit = replies.clamped(limit) - (_ENVELOPE if as_json else _FRAME)
    years = navigation.get_toc_root(of=of)

    def price(line: TocEntry) -> int:
        told = _item(line, zone)
        said = f"{dumped(told)}," if as_json else f"{_line(told)}\n"
        return replies.cost(said, counter)

    chosen, is_all = _chosen(years, limit, price, of)
    items = [_item(line, zone) for line in _in_order(years, chosen)]
    how = "memtui browse NODE_ID, or a larger budget, opens more"
    notes = () if years else ("Nothing is kept yet.",)
    return Reply("lines", items, _line, notes=notes, how=how, ahead=not is_all)


Under = dict[str, list[TocEntry]]


def _chosen(
    years: list[TocEntry], limit: int, price: Callable[[TocEntry], int], of: Scope
) -> tuple[Under, bool]:
    """The lines that are worth most, by their parents' ids; and whether all are."""
    newest = max((one.end_time for one in years), default=None)
    under: Under = {"": []}
    spent = 0
    waiting: list[tuple[float, str, str, TocEntry]] = []
    for one in years:
        heapq.heappush(waiting, (-_worth(one, newest), one.node_id, "", one))
    count = 0
    while waiting and count < LINES:
        _, node_id, parent, one = heapq.heappop(waiting)
        spent, count = spent + price(one), count + 1
        if spent > limit and count > 1:
            return under, False
        under.setdefault(parent, []).append(one)
        if one.level is TocLevel.SEGMENT:
            continue
        page = navigation.browse_toc(node_id, limit=navigation.WIDE, of=of)
        for child in page.nodes:
            worth = _worth(child, newest)
            heapq.heappush(waiting, (-worth, child.node_id, node_id, child))
    return under, not waiting


_FRAME = 50
"""What the fence, the notice and the last line cost, in tokens."""


_ENVELOPE = 90
"""What stands around the lines in JSON costs, in tokens."""


def _worth(line: TocEntry, newest: datetime | None) -> float:
    days = (newest - line.end_time).total_seconds() / 86_400 if newest else 0.0
    recent = math.pow(0.5, max(days, 0.0) / HALF_LIFE_DAYS)
    dense = math.log1p(line.counts.messages)
    # A year is always worth more than what lies in it.
    depth = _DEPTH[line.level]
    first = 1.0 if depth else 10.0
    return first * (recent + 0.05) * dense * math.pow(DEEPER, depth)


def _in_order(years: list[TocEntry], under: Under) -> list[TocEntry]:
    told: list[TocEntry] = []

    def walk(parent: str) -> None:
        for one in sorted(
            under.get(parent, []), key=lambda line: line.start_time, reverse=True
        ):
            told.append(one)
            walk(one.node_id)

    walk("")
    return told


def _item(line: TocEntry, zone: tzinfo) -> Plain:
    return formatting.node(line, zone) | {"depth": _DEPTH[line.level]}


def _line(told: Plain) -> str:
    return "  " * int(told["depth"]) + formatting.node_line(told)
