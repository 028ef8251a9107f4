"""Stages that failed: what, since when, and what happens now, as long as it is news."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.errors import NO_ROOM

if TYPE_CHECKING:
    from memtui.stages.progress import Progress

KEPT = 3
"""How many failures are remembered."""

NOW = "memtui tries again by itself; nothing is lost. More of it stands in memtui.log."
THEN = "it has worked since"


@dataclass(frozen=True, slots=True)
class Failure:
    """What one stage could not do."""

    stage: str
    error: str
    since: datetime
    until: datetime | None = None
    """When work went on; None while it does not."""


class Failures:
    """The last of them, as the reports tell."""

    def __init__(self) -> None:
        self.known: tuple[Failure, ...] = ()

    def note(self, progress: "Progress", now: datetime) -> None:
        """Take a report; of a stage that fails, whatever it says, there is one."""
        failing = dict(progress.failing)
        if progress.error:
            failing.setdefault(progress.stage, progress.error)
        self.known = tuple(_now(one, progress, failing, now) for one in self.known)
        are_on = {one.stage for one in self.known if one.until is None}
        new = [Failure(*told, now) for told in failing.items() if told[0] not in are_on]
        over = [one for one in self.known if one.until is not None]
        on = [one for one in self.known if one.until is None] + new
        least = max(0, KEPT - len(on))
        self.known = (*over[max(0, len(over) - least) :], *on)

    def told(self, zone: tzinfo) -> Content:
        """The newest first; stages that fail alike are told of together."""
        alike: dict[tuple[str, bool], list[Failure]] = {}
        for one in reversed(self.known):
            # Of a full disk each store tells with its own name.
            error = NO_ROOM if one.error.startswith(NO_ROOM) else one.error
            alike.setdefault((error, one.until is None), []).append(one)
        return Content("\n").join(_told(some, zone) for some in alike.values())


def _now(
    one: Failure, progress: "Progress", failing: dict[str, str], now: datetime
) -> Failure:
    """What is known of a failure after a report; only an import tells of imports."""
    if one.until is not None:
        return one
    if error := failing.get(one.stage):
        return replace(one, error=error)
    is_over = one.stage != "import" or progress.stage == "import"
    return replace(one, until=now) if is_over else one


def _told(some: Sequence[Failure], zone: tzinfo) -> Content:
    from memtui.widgets import wording  # noqa: PLC0415 - the app's start knows no words
    from memtui.widgets.status_line import DOING  # noqa: PLC0415

    stages = dict.fromkeys(DOING.get(one.stage, "working") for one in some)
    doing = ", ".join(stages)
    since = wording.clock(min(one.since for one in some), zone)
    error, ends = some[0].error, [one.until for one in some if one.until is not None]
    if not ends:
        what = f"✗ Failing since {since}, {doing}: {error}."
        return Content.assemble((what, "$error"), f" {NOW}")
    until = wording.clock(max(ends), zone)
    said = f"  Failed at {since}, {doing}: {error}; {THEN}, from {until} on."
    return Content.styled(said, "$context")
