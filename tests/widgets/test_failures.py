"""The text on failing stages, above the list of skipped input."""

from memtui.errors import DISK_FULL
from memtui.pipeline.progress import PipelineProgress
from memtui.tui.widgets.status_line import RETRIES_ITSELF, describe_failures


def test_full_disk_is_reported_once() -> None:
    full = f"{DISK_FULL} (/srv/memory"
    failing = ("index", f"{full}/index)"), ("messages", f"{full})")
    progress = PipelineProgress("summarize", error=f"{full})", failing=failing)
    names = "indexing, indexing messages, summarizing"
    assert (
        str(describe_failures(progress)) == f"✗ {names}: {DISK_FULL}.\n{RETRIES_ITSELF}"
    )


def test_each_error_has_a_line_of_plain_text() -> None:
    failing = ("index", "no room"), ("rollup", "[b]no[/] node")
    assert str(describe_failures(PipelineProgress("ingest", failing=failing))) == (
        f"✗ indexing: no room.\n✗ rolling up: [b]no[/] node.\n{RETRIES_ITSELF}"
    )
    assert not describe_failures(PipelineProgress("ingest"))
