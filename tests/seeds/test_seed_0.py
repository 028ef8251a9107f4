"""The rows of seed 0, the guide to the table of contents."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from memtui.agents import replies, sessions, toc
from memtui.agents.api import TOOLS, ToolRunner
from memtui.model.nodes import TocLevel
from memtui.search import query_dates
from memtui.services import browse
from memtui.store import database
from memtui.store.schema import BulletRow
from memtui.text.tokens import estimate
from memtui.workspace import Workspace
from tests.cli_runner import json_data, run_memtui
from tests.conftest import HISTORY


def test_s0_31_a_day_ends_with_its_last_moment(full_house: Workspace) -> None:
    node = browse.get_node("toc:day:2024-01-15")
    assert node is not None
    assert (node.last_time - node.start_time) == timedelta(days=1, milliseconds=-1)
    assert f"{node.last_time:%H:%M:%S}" == "23:59:59"
    (entry, *_) = browse.list_children("toc:day:2024-01-15")
    segment = browse.get_node(entry.node_id)
    assert segment is not None and segment.level is TocLevel.SEGMENT
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


def agent_text(house: Workspace, tool: str, **arguments: object) -> str:
    """Return what an agent is answered within the default budget."""
    answer = ToolRunner(lambda: house).call(
        next(one for one in TOOLS if one.name == tool), arguments
    )
    assert answer.problem is None, answer
    return answer.text


def test_s0_19_children_are_shown_beside_bullets_in_the_default_budget(
    full_house: Workspace,
) -> None:
    for node_id, child in (
        ("toc:year:2024", "toc:month:2024-01"),
        ("toc:month:2024-01", "toc:week:2024-W03"),
        ("toc:week:2024-W03", "toc:day:2024-01-15"),
        ("toc:day:2024-01-15", "toc:segment:2024-01-15:"),
    ):
        text = agent_text(full_house, "get_node", node_id=node_id)
        assert child in text and "[grip:" in text, text


def test_s0_22_the_walk_from_the_years_to_the_words_takes_few_tokens(
    full_house: Workspace,
) -> None:
    texts = [agent_text(full_house, "get_toc_root")]
    for node_id in (
        "toc:year:2024",
        "toc:month:2024-01",
        "toc:week:2024-W03",
        "toc:day:2024-01-15",
    ):
        texts.append(agent_text(full_house, "get_node", node_id=node_id))
    grip = texts[-1].partition("[grip:")[2].partition("]")[0]
    texts.append(agent_text(full_house, "expand_grip", grip_id=f"grip:{grip}"))
    assert "EXCERPT" in texts[-1]
    assert sum(map(estimate, texts)) <= 1_500


def test_s0_25_and_31_a_node_has_exact_times(full_house: Workspace) -> None:
    node = replies.write_data(toc.get_node(full_house, "toc:day:2024-01-15"))
    assert node["start_time"] == "2024-01-15T00:00:00.000Z"
    assert node["end_time"] == "2024-01-15T23:59:59.999Z"


def test_s0_26_and_28_bullets_and_children_are_lists(full_house: Workspace) -> None:
    node = replies.write_data(toc.get_node(full_house, "toc:day:2024-01-15"))
    assert {"text", "grip_ids", "verdict"} <= node["bullets"][0].keys()
    assert node["bullets"][0]["verdict"] in {"supported", "weak", "unsupported"}
    assert node["child_node_ids"] == [one["node_id"] for one in node["children"]]
    assert len(node["child_node_ids"]) == 1


def test_s0_34_and_37_a_grip_names_its_events_in_reading_order(
    full_house: Workspace,
) -> None:
    node = toc.get_node(full_house, "toc:day:2024-01-15").items
    grip_ids = [name for one in node for name in one.get("grip_ids", ())]
    for grip_id in grip_ids:
        reply = sessions.expand_grip(full_house, grip_id)
        found = replies.write_data(reply)
        first, last = found["excerpt"][0], found["excerpt"][-1]
        assert found["grip"]["event_id_start"].startswith(first["id"][4:])
        assert found["grip"]["event_id_end"].startswith(last["id"][4:])
        told = [*found["before"], *found["excerpt"], *found["after"]]
        assert [one["at"] for one in told] == sorted(one["at"] for one in told)
        text = replies.fit_text(reply, 2_000, full_house.counter).text
        headings = [line for line in text.splitlines() if line.isupper()]
        assert headings == [
            name.upper() for name in ("before", "excerpt", "after") if found[name]
        ]


def test_s0_45_a_keyword_s_nodes_say_what_they_are(full_house: Workspace) -> None:
    text = agent_text(full_house, "browse_keyword", keyword="basket")
    assert "Sessions time out after ten minutes" in text
    assert "keywords: " in text


def test_a3_verdicts_are_in_the_text_that_agents_read(full_house: Workspace) -> None:
    said = BulletRow.text.contains("sliding window")
    for support, kind, mark in (
        ("weak", "", "~ "),
        ("supported", "", "✓ "),
        ("supported", "outcome", "“ "),
    ):
        with database.transaction():
            database.db.execute_sql("DROP TRIGGER IF EXISTS bullets_no_update")
            BulletRow.update(support=support, kind=kind).where(said).execute()
        for tool in ("teleport", "retrieve_memory"):
            text = agent_text(full_house, tool, query="sliding window refresh")
            assert f"{mark}Token refresh now uses a sliding window" in text, text
