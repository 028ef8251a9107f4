"""Stages that failed: what, since when, and what happens now, as long as it is news."""

from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from textual.content import Content

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
        """Take a report; the same failure, told again, is one."""
        last = self.known[-1] if self.known else None
        is_on = last is not None and last.until is None
        if last and is_on and progress.error != last.error:
            self.known = (*self.known[:-1], replace(last, until=now))
            is_on = False
        if progress.error and not is_on:
            new = Failure(progress.stage, progress.error, now)
            self.known = (*self.known, new)[-KEPT:]

    def told(self, zone: tzinfo) -> Content:
        """The newest first; empty if nothing failed."""
        return Content("\n").join(_told(one, zone) for one in reversed(self.known))


def _told(one: Failure, zone: tzinfo) -> Content:
    from memtui.widgets import wording  # noqa: PLC0415 - the app's start knows no words
    from memtui.widgets.status_line import DOING  # noqa: PLC0415

    doing, since = DOING.get(one.stage, "working"), wording.clock(one.since, zone)
    if one.until is None:
        what = f"✗ Failing since {since}, {doing}: {one.error}."
        return Content.assemble((what, "$error"), f" {NOW}")
    until = wording.clock(one.until, zone)
    said = f"  Failed at {since}, {doing}: {one.error}; {THEN}, from {until} on."
    return Content.styled(said, "$context")
