"""What the replies of models took: tokens, their cost, and the time of the work."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from typing import Any

from memtui.model.events import from_ms, to_ms
from memtui.model.quantities import short_count
from memtui.model.usage import KINDS, find_cost
from memtui.settings import Settings
from memtui.store import database, sessions, usage
from memtui.store.usage import QUARTER_MS, UsageSum
from memtui.text import date_format

_WORDS = ("in", "out", "read from cache", "written to cache")


Bounds = Sequence[datetime | None]


@dataclass(slots=True)
class UsageTotal:
    name: str = ""
    """Of a session: ``agent:id``."""
    title: str = ""
    tokens: dict[str, int | None] = field(default_factory=lambda: dict.fromkeys(KINDS))
    """None for a kind that no source states."""
    costs: dict[str, float] = field(default_factory=dict)
    """The cost in each currency; sources state it in dollars."""
    without_cost: list[str] = field(default_factory=list)
    """The models that have no price, where the source does not state the cost."""
    active_ms: int | None = None
    """The time that the sessions were active; None where models are summed up."""

    def add(self, part: UsageSum, settings: Settings) -> None:
        _, model, cost, counts = part
        for kind, count in zip(KINDS, counts, strict=True):
            if count is not None:
                self.tokens[kind] = count + (self.tokens[kind] or 0)
        currency = "$"
        if cost is None:
            currency = settings.prices_currency
            cost = find_cost(model, counts, settings.price_list)
        if cost is not None:
            self.costs[currency] = cost + self.costs.get(currency, 0)
        elif model not in self.without_cost:
            self.without_cost.append(model)

    def __str__(self) -> str:
        """Return it in a line: "1.2 M in, 38 k out, $3.10, 2h 28m active"."""
        pairs = zip(self.tokens.values(), _WORDS, strict=True)
        parts = [f"{short_count(count)} {word}" for count, word in pairs if count]
        parts = parts or ["tokens not stated"]
        for currency, cost in self.costs.items():
            space = " " if currency.isalpha() else ""
            parts.append(f"{currency}{space}{cost:,.2f}")
        if self.costs and self.without_cost:
            parts.append(f"no price of {', '.join(self.without_cost)}")
        if self.active_ms is not None:
            active = timedelta(milliseconds=self.active_ms)
            parts.append(f"{date_format.duration(active)} active")
        return ", ".join(parts)


def read(
    by: str,
    settings: Settings,
    zone: tzinfo,
    *,
    session: tuple[str, str] | None = None,
    project: str = "",
    bounds: Bounds = (None, None),
) -> list[UsageTotal]:
    """Sum up usage by session, day, project or model, or all of it for "".

    The bounds are the first time and the one after the last. Sessions and days are in
    the order of time, others in that of their names.
    """
    with database.connection():
        sums, active = usage.list_sums(
            by,
            session=sessions.get_number(*session) if session else None,
            project=project,
            bounds=[to_ms(at) if at else None for at in bounds],
        )
        numbers = {part[0] for part in sums} | set(active)
        by_number = sessions.get_many(numbers) if by == "session" else {}
    totals = {} if by else {"": UsageTotal()}

    def total_of(group: Any) -> UsageTotal:
        name, title = str(group), ""
        if by == "day":
            day = from_ms(int(group) * QUARTER_MS).astimezone(zone)
            name = f"{day:%Y-%m-%d}"
        elif by == "session":
            name, title = by_number[group].full_name, by_number[group].title
        return totals.setdefault(name, UsageTotal(name, title))

    for part in sums:
        total_of(part[0]).add(part, settings)
    for group, ms in active.items() if by != "model" else ():
        total = total_of(group)
        total.active_ms = ms + (total.active_ms or 0)
    if by == "session":
        began = {s.full_name: s.created_at for s in by_number.values()}
        return sorted(totals.values(), key=lambda total: began[total.name])
    return sorted(totals.values(), key=lambda total: total.name)
