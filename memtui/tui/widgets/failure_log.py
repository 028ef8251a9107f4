"""The recent failures of background stages, shown above the list of skipped input."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.errors import DISK_FULL
from memtui.text import date_format
from memtui.tui.widgets.status_line import activity_name

if TYPE_CHECKING:
    from memtui.pipeline.progress import PipelineProgress

MAX_FAILURES = 3
RETRIES_ITSELF = "memtui retries by itself; nothing is lost. Details are in memtui.log."


@dataclass(frozen=True, slots=True)
class StageFailure:
    """A failure of one stage."""

    stage: str
    error: str
    since: datetime
    until: datetime | None = None
    """When the stage worked again; None while it fails."""


class FailureLog:
    """Collects failures from progress reports."""

    def __init__(self) -> None:
        self._failures: tuple[StageFailure, ...] = ()

    def record(self, progress: "PipelineProgress", now: datetime) -> None:
        """Add the failures of a report; there is one per failing stage."""
        failing = dict(progress.failing)
        if progress.error:
            failing.setdefault(progress.stage, progress.error)
        ended, ongoing = [], []
        for failure in self._failures:
            error = failing.get(failure.stage)
            # Only an import reports on imports.
            is_reported = failure.stage != "import" or progress.stage == "import"
            if failure.until is not None:
                ended.append(failure)
            elif error or not is_reported:
                ongoing.append(replace(failure, error=error or failure.error))
            else:
                ended.append(replace(failure, until=now))
        stages = {failure.stage for failure in ongoing}
        ongoing += [
            StageFailure(stage, error, now)
            for stage, error in failing.items()
            if stage not in stages
        ]
        room = max(0, MAX_FAILURES - len(ongoing))
        self._failures = (*ended[max(0, len(ended) - room) :], *ongoing)

    def describe(self, zone: tzinfo) -> Content:
        """Describe the failures, the newest first; stages with one error are merged."""
        groups: dict[tuple[str, bool], list[StageFailure]] = {}
        for failure in reversed(self._failures):
            # Every store reports a full disk with its own path.
            error = DISK_FULL if failure.error.startswith(DISK_FULL) else failure.error
            groups.setdefault((error, failure.until is None), []).append(failure)
        return Content("\n").join(_describe(group, zone) for group in groups.values())


def _describe(group: Sequence[StageFailure], zone: tzinfo) -> Content:
    names = ", ".join(dict.fromkeys(activity_name(one.stage) for one in group))
    since = date_format.clock(min(one.since for one in group), zone)
    error = group[0].error
    ends = [one.until for one in group if one.until is not None]
    if not ends:
        text = f"✗ Failing since {since}, {names}: {error}."
        return Content.assemble((text, "$error"), f" {RETRIES_ITSELF}")
    until = date_format.clock(max(ends), zone)
    text = f"  Failed from {since} to {until}, {names}: {error}."
    return Content.styled(text, "$context")
