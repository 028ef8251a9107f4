"""Reports of failed stages."""

from datetime import UTC, datetime, timedelta

from memtui.errors import DISK_FULL
from memtui.pipeline.progress import PipelineProgress
from memtui.tui.widgets.status_line import FailureLog

NOW = datetime(2026, 3, 1, 6, 19, tzinfo=UTC)


def test_of_a_full_disk_all_stages_are_told_in_one_sentence() -> None:
    failures, full = FailureLog(), f"{DISK_FULL} (/srv/memory"
    failing = ("index", f"{full}/index)"), ("messages", f"{full})")
    failures.record(PipelineProgress("summarize", error=f"{full})"), NOW)
    told = PipelineProgress("index", failing=(("summarize", f"{full})"), *failing))
    failures.record(told, NOW + timedelta(minutes=1))
    said = str(failures.describe(UTC))
    assert said.startswith("✗ Failing since 06:19, indexing messages, indexing, summ")
    assert said.count(DISK_FULL) == 1 and said.count("\n") == 0
    failures.record(PipelineProgress("index"), NOW + timedelta(minutes=2))
    assert str(failures.describe(UTC)).count(DISK_FULL) == 1
