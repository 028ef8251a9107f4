from collections.abc import Sequence
from datetime import UTC, date

from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.filters import ALL, Scope
from memtui.model.nodes import NodeStatus, TocEntry
from memtui.services import browse
from memtui.store import database
from memtui.workspace import Workspace
from tests.tables import NodeRow


def list_entries(names: Sequence[str], scope: Scope = ALL) -> list[TocEntry]:
    """Return the entries of some nodes, as their parents list them."""
    return [
        line
        for name in names
        for line in browse.list_children(calendar.parent_id(name) or "", scope=scope)
        if line.node_id == name
    ]


def test_years_are_listed_newest_first(full_workspace: Workspace) -> None:
    assert [line.title for line in browse.list_children()] == ["2024", "2023"]


def test_children_are_paged_newest_first(full_workspace: Workspace) -> None:
    whole = browse.list_children("toc:year:2024")
    assert [line.node_id for line in whole] == [
        "toc:month:2024-02",
        "toc:month:2024-01",
    ]
    pages = [browse.list_children("toc:year:2024", offset=n, limit=1) for n in range(3)]
    assert [line for page in pages for line in page] == whole


def test_a_path_begins_with_the_year(full_workspace: Workspace) -> None:
    segment = browse.list_children("toc:day:2024-01-18")[0].node_id
    levels = [line.level for line in list_entries(browse.get_path(segment))]
    assert levels == list(TocLevel)


def test_unknown_nodes_are_not_found(full_workspace: Workspace) -> None:
    for name in ("toc:day:1999-01-01", "nonsense", "toc:day:2024-99-99", ""):
        assert browse.get_node(name) is None
        assert browse.get_path(name) == []
        assert not name or browse.list_children(name) == []


def test_an_older_form_of_an_id_is_found(full_workspace: Workspace) -> None:
    node = browse.get_node("toc:week:2024-03")
    assert node is not None
    assert node.title == "Week of January 15–21, 2024"


def test_a_segment_has_its_agent_project_and_counts(
    full_workspace: Workspace,
) -> None:
    line = browse.list_children("toc:day:2024-01-22")[0]
    assert (line.agents, line.projects) == (("codex",), ("logsift",))
    assert (line.counts.messages, line.counts.events) == (4, 7)


def test_brackets_in_a_message_are_kept_as_text(full_workspace: Workspace) -> None:
    node = browse.get_node(browse.list_children("toc:day:2023-12-11")[0].node_id)
    assert node is not None
    said = " ".join(bullet.text for bullet in node.bullets)
    assert "list[int]" in said


def test_a_pending_node_has_the_counts_of_its_segments(
    full_workspace: Workspace,
) -> None:
    names = ["toc:year:2024", "toc:month:2024-01", "toc:day:2024-01-18"]
    codex = Scope(agent="codex")
    all_of, parts = list_entries(names), list_entries(names, codex)
    january = date(2024, 1, 18)
    day = browse.list_days(UTC)[january]
    with database.transaction():
        NodeRow.update(latest=None).where(NodeRow.node_id << names).execute()
    waiting = list_entries(names)
    assert {line.status for line in waiting} == {NodeStatus.PENDING}
    assert [x.counts for x in waiting] == [x.counts for x in all_of]
    assert [x.counts for x in list_entries(names, codex)] == [x.counts for x in parts]
    assert browse.list_children()[0].counts == all_of[0].counts
    page = browse.get_node(names[0])
    assert page is not None and page.counts == all_of[0].counts
    pending = browse.list_days(UTC)[january]
    assert pending.status is NodeStatus.PENDING and pending.counts == day.counts
