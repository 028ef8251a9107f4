"""The rows of seed 0, the guide to the table of contents."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from memtui.model.nodes import TocLevel
from memtui.search import query_dates
from memtui.services import browse
from memtui.workspace import Workspace
from tests.cli_runner import json_data, run_memtui
from tests.conftest import HISTORY


def test_s0_31_a_day_ends_with_its_last_moment(full_house: Workspace) -> None:
    node = browse.get_node("toc:day:2024-01-15")
    assert node is not None
    assert (node.last_time - node.start_time) == timedelta(days=1, milliseconds=-1)
    assert f"{node.last_time:%H:%M:%S}" == "23:59:59"
    (segment, *_) = browse.list_children("toc:day:2024-01-15")
    assert segment.level is TocLevel.SEGMENT
    assert segment.last_time == segment.end_time


def test_s0_68_jobs_show_their_checkpoints(tmp_path: Path) -> None:
    home = tmp_path / "home"
    run_memtui(home, "import", str(HISTORY))
    jobs = json_data(run_memtui(home, "jobs", "--json").stdout)["jobs"]
    checkpoints = {one["job"]: one["rolled_up"] for one in jobs}
    assert checkpoints["segments"] is None
    day = checkpoints["rollup_day"]
    assert (day["level"], day["processed_count"]) == ("day", 5)
    assert day["last_processed_time"].startswith("2024-02-0")
    assert "5 roll-ups" in run_memtui(home, "jobs").stdout


def test_s0_42_months_are_searched_by_their_calendar_days(
    full_house: Workspace,
) -> None:
    # The weeks of January 2024 are those from 1 to 28 January.
    def found(query: str) -> set[str]:
        hits = full_house.teleport.find(query, limit=500).hits
        return {hit.node_id for hit in hits if hit.level is TocLevel.MONTH}

    assert found("token level:month") == {"toc:month:2024-01"}
    assert found("token after:2024-01-29 level:month") == {"toc:month:2024-01"}
    assert found("token after:2024-02 level:month") == set()
    assert found("token before:2024-01-02 level:month") == {"toc:month:2024-01"}
    assert found("token before:2024 level:month") == set()


def test_s0_43_the_3pm_meeting_is_a_time() -> None:
    now = datetime(2024, 1, 18, 20, tzinfo=UTC)
    dated = query_dates.parse("what did we decide in the 3pm meeting", now, UTC)
    (period,) = dated.periods
    assert period.start == datetime(2024, 1, 18, 14, 30, tzinfo=UTC)
    assert period.end == datetime(2024, 1, 18, 15, 30, tzinfo=UTC)
    assert dated.words == "what did we decide meeting"
    assert not query_dates.parse("the job that runs at 3pm", now, UTC).periods
