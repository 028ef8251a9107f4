"""The sessions of a day, and the branches that open the contents."""

from dataclasses import replace
from datetime import UTC

import pytest

from memtui.model.filters import ALL, Scope
from memtui.model.nodes import DaySession, NodeStatus, TocEntry
from memtui.search.query import STARTS_BEFORE
from memtui.services import browse, conversation, sessions
from memtui.services.browse import YEARS, LoadedBranches, RowKey
from memtui.store import database
from memtui.tools import replies, toc
from memtui.workspace import Workspace
from tests.message_factory import make_message, name_session, store_messages
from tests.tables import NodeRow

DAY = "toc:day:2025-03-14"
HOUR = 3_600.0
NAME = "Fix the login form of the shop"
TWO = "toc:session:2025-03-14:claude-code/two"


@pytest.fixture
def busy(workspace: Workspace) -> Workspace:
    """A day with a session of two segments, one of one, and a day before."""
    store_messages(
        make_message("Fix the login form of the shop", 0, session="two"),
        make_message("Fix the tests of the login form", 5 * HOUR, session="two"),
        make_message("Export the invoices as PDF", HOUR, session="one"),
        make_message("Export the orders as CSV", -20 * HOUR, session="one"),
    )
    name_session("two", project="shop")
    name_session("one", project="billing")
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    return workspace


def rows_of(key: RowKey, loaded: LoadedBranches) -> list[str]:
    return [row.node_id for row in loaded.rows[key]]


def test_segments_of_a_session_are_one_row_of_their_day(busy: Workspace) -> None:
    single, two = browse.list_day_sessions(DAY)
    assert (single.session.session_id, two.session.session_id) == ("one", "two")
    assert single.only_segment is not None and two.only_segment is None
    assert [segment.start_time.hour for segment in two.segments] == [15, 10]
    assert two.session.work.name == two.segments[-1].headline == NAME
    assert (two.session.agent, two.session.project, two.node_id) == (
        "claude-code",
        "shop",
        TWO,
    )
    assert two.session.work.state and two.start_time.hour == 10 and not two.is_live
    listed = {entry.node_id for entry in browse.list_children(DAY)}
    assert {
        entry.node_id for single in (single, two) for entry in single.segments
    } == listed


def test_the_outline_has_the_sessions_of_a_day(busy: Workspace) -> None:
    reply = toc.outline(busy, None, scope=Scope(project="shop"))
    *_, day, session, later, first = reply.items
    assert day["node_id"] == DAY
    assert session["session"] == "claude-code:two" and session["segments"] == 2
    assert [item["depth"] for item in (session, later, first)] == [4, 5, 5]
    lines = replies.write_text(reply).splitlines()
    assert lines[-3].strip() == f"claude-code:two (2) 10:00 {NAME} ({session['state']})"
    only = toc.outline(busy, None, scope=Scope(project="billing")).items[4]
    assert only["level"] == "segment" and only["state"], "a session of one segment"


def test_lists_of_nodes_count_sessions_and_not_segments(busy: Workspace) -> None:
    counts = {
        item["node_id"]: (item["sessions"], item["segments"])
        for item in toc.outline(busy, None).items
        if "sessions" in item
    }
    assert counts[DAY] == (2, 3)
    (month,) = toc.browse_toc(busy, "toc:year:2025").items
    assert (month["node_id"], month["sessions"]) == ("toc:month:2025-03", 2)
    assert counts[month["node_id"]] == (2, 4)
    only = toc.browse_toc(busy, "toc:year:2025", scope=Scope(project="billing")).items[
        0
    ]
    assert only["sessions"] == 1
    line = replies.write_text(toc.get_node(busy, "toc:year:2025")).splitlines()[-1]
    assert line.startswith("toc:month:2025-03 (2) ")


def test_a_day_without_starts_lists_work_from_the_day_before(
    workspace: Workspace,
) -> None:
    store_messages(
        make_message("Migrate the photo index", 13.9 * HOUR, session="night"),
        make_message("It is migrated.", 14.1 * HOUR, session="night"),
    )
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    (segment,) = browse.list_children(DAY)
    reply = toc.get_node(workspace, "toc:day:2025-03-15")
    assert reply.notes == (STARTS_BEFORE,)
    (item,) = reply.items
    assert segment.node_id.startswith(item["node_id"])
    later = toc.get_node(workspace, "toc:day:2025-03-16")
    assert (later.items, later.notes) == ([], (toc.NO_NODE,))


def test_a_scope_lists_only_its_sessions(busy: Workspace) -> None:
    (session,) = browse.list_day_sessions(DAY, Scope(project="billing"))
    assert session.session.session_id == "one"
    assert browse.list_day_sessions(DAY, Scope(agent="codex")) == []
    assert browse.list_day_sessions("toc:day:1999-01-01") == []


def test_a_session_of_several_segments_has_one_card_with_the_grips_of_all(
    busy: Workspace,
) -> None:
    session = browse.list_day_sessions(DAY)[1]
    node = browse.get_day_session_node(session)
    stored = [browse.get_node(entry.node_id) for entry in session.segments]
    parts = [part for part in stored if part is not None]
    assert node is not None and len(parts) == 2
    assert (node.node_id, node.headline) == (TWO, session.session.work.name)
    assert node.counts.segments == 2
    assert node.counts.messages == sum(part.counts.messages for part in parts)
    assert node.bullets and all(bullet.grip_ids for bullet in node.bullets)
    grip_ids = [grip for bullet in node.bullets for grip in bullet.grip_ids]
    grips = [conversation.expand(grip_id).grip for grip_id in grip_ids]
    assert {grip.toc_node_id for grip in grips if grip} <= {
        entry.node_id for entry in session.segments
    }
    assert (node.start_time.hour, node.end_time.hour) == (10, 15)
    with database.transaction():
        NodeRow.update(is_dirty=True).where(
            NodeRow.node_id == session.segments[0].node_id
        ).execute()
    stale = browse.get_day_session_node(session)
    assert stale is not None and stale.status is NodeStatus.STALE
    unknown = replace(session.segments[0], node_id="toc:segment:2025-03-14:nothing")
    other = replace(session.session, agent="codex", session_id="x")
    gone = DaySession(DAY, other, (unknown,))
    assert browse.get_day_session_node(gone) is None


def test_a_path_has_the_session_between_day_and_segment(busy: Workspace) -> None:
    session = browse.list_day_sessions(DAY)[1]
    segment = session.segments[0].node_id
    way = [
        "toc:year:2025",
        "toc:month:2025-03",
        "toc:week:2025-W11",
        DAY,
        TWO,
        segment,
    ]
    assert browse.get_path_with_session(segment) == way
    assert browse.get_path_with_session(TWO) == way[:-1]
    assert browse.get_path_with_session(DAY) == way[:-2]
    for unknown in ("toc:session:1999-01-01:codex/x", "toc:day:1999-01-01", ""):
        assert browse.get_path_with_session(unknown) == []


def test_sessions_are_counted_once_in_each_period(busy: Workspace) -> None:
    assert browse.count_day_sessions() == 2
    assert browse.count_day_sessions(Scope(project="billing")) == 1
    assert browse.count_day_sessions(Scope(keyword="invoices")) == 1
    assert browse.count_day_sessions(Scope(project="shop", keyword="invoices")) == 0
    (week,) = browse.list_children("toc:month:2025-03")
    days = browse.list_children(week.node_id)
    counted = browse.add_session_counts([week, *days], UTC)
    assert [entry.sessions for entry in counted] == [2, 2, 1]
    counted = browse.add_session_counts(days, UTC, Scope(project="shop"))
    assert [entry.sessions for entry in counted] == [1, 0]


def test_a_week_across_two_months_counts_the_sessions_of_each_month(
    workspace: Workspace,
) -> None:
    day = 24 * HOUR
    store_messages(
        make_message("Paint the quay", 17 * day, session="march"),
        make_message("Paint the pier", 18 * day, session="april"),
        make_message("Paint the boat", 18 * day + 5 * HOUR, session="april"),
    )
    workspace.pipeline.run_until_idle(lambda _: None)
    loaded = browse.read_branches(ALL, UTC, {YEARS}, near_rows=30)
    week = "toc:week:2025-W14"
    rows = {
        month: loaded.rows["toc:year:2025", month]
        for month in ("toc:month:2025-04", "toc:month:2025-03")
    }
    for month, (row,) in rows.items():
        assert isinstance(row, TocEntry)
        (above,) = row.above
        assert (above.node_id, above.month_id, row.sessions) == (week, month, 1)
    assert rows_of(("toc:month:2025-03", week), loaded) == ["toc:day:2025-03-31"]
    assert rows_of(("toc:month:2025-04", week), loaded) == ["toc:day:2025-04-01"]


def test_the_contents_open_at_the_newest_days_as_far_as_they_fit(
    busy: Workspace,
) -> None:
    loaded = browse.read_branches(ALL, UTC, {YEARS}, near_rows=30)
    before = "toc:day:2025-03-13"
    week = "toc:week:2025-W11"
    assert list(loaded.near)[-2:] == [(week, DAY), (week, before)]
    assert loaded.newest == (DAY, "toc:session:2025-03-14:claude-code/one")
    assert loaded.sessions == 2
    small = browse.read_branches(ALL, UTC, {YEARS}, near_rows=6)
    assert list(small.near)[-1] == (week, DAY)
    plain = browse.read_branches(ALL, UTC, {YEARS})
    assert plain.near == [] and plain.newest is None and [*plain.rows] == [YEARS]
    none = browse.read_branches(Scope(agent="codex"), UTC, {YEARS}, near_rows=30)
    assert none.rows == {YEARS: []} and none.newest is None and none.sessions == 0


def test_older_days_are_expanded_while_they_fit(workspace: Workspace) -> None:
    day = 24 * HOUR
    store_messages(
        make_message("Paint the quay", 0, session="old"),
        make_message("Paint the pier", 40 * day, session="new"),
    )
    workspace.pipeline.run_until_idle(lambda _: None)

    def days_of(rows: int, *, is_first: bool = False) -> list[str]:
        loaded = browse.read_branches(
            ALL, UTC, {YEARS}, near_rows=rows, is_first=is_first
        )
        ids = [name for _, name in loaded.near]
        return [name for name in ids if name.startswith("toc:day:")]

    newest, older = days_of(30)
    assert newest > older
    assert days_of(9) == [newest, older]
    assert days_of(8) == [newest]
    assert days_of(30, is_first=True) == [newest]


def rows_of_day(scope: Scope = ALL) -> list[tuple[str, list[str]]]:
    """Return the sessions of the rows of the day, each with those it stands for."""
    key = "toc:week:2025-W11", DAY
    loaded = browse.read_branches(scope, UTC, [key])
    rows = [row for row in loaded.rows[key] if isinstance(row, DaySession)]
    return [
        (row.session.session_id, [other.session.session_id for other in row.alike])
        for row in rows
    ]


def test_sessions_that_look_the_same_share_a_row(workspace: Workspace) -> None:
    prompt = "Respond with exactly PASS"
    store_messages(
        *(make_message(prompt, n * HOUR, session=f"s{n}") for n in range(4)),
        make_message("Export the invoices as PDF", HOUR + 60, session="between"),
        make_message(prompt, -20 * HOUR, session="day-before"),
        make_message(prompt, 2 * HOUR + 60, session="other-agent", agent="codex"),
        make_message(prompt, 2 * HOUR + 90, session="other-project"),
    )
    name_session("other-project", project="shop")
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    others: list[tuple[str, list[str]]]
    others = [("other-project", []), ("other-agent", []), ("between", [])]
    assert rows_of_day() == [("s3", ["s2", "s1", "s0"]), *others]
    # Siblings: from one that shares the row to the next, to the row, and on.
    *above, latest = browse.get_path_with_session(
        "toc:session:2025-03-14:claude-code/s3"
    )

    def sibling(name: str, step: int) -> str:
        node_id = f"toc:session:2025-03-14:claude-code/{name}"
        path = [*above, *([latest] if name != "s3" else []), node_id]
        return browse.find_sibling(path, step, ALL, UTC)[-1].rpartition("/")[2]

    assert [sibling("s2", 1), sibling("s2", -1)] == ["s1", "s3"]
    assert [sibling("s0", 1), sibling("s3", 1)] == ["other-project"] * 2
    # A session with a name of its own looks different.
    sessions.rename("claude-code", "s2", "The run that failed", UTC)
    assert rows_of_day() == [
        ("s3", ["s1", "s0"]), *others[:2], ("s2", []), *others[2:],
    ]  # fmt: skip
    # Agents are told of each.
    assert len(browse.list_day_sessions(DAY)) == 7


def test_same_title_of_different_prompts_is_no_shared_row(
    workspace: Workspace,
) -> None:
    texts = [f"Review this patch: {'the same words ' * 200}{n}" for n in range(2)]
    store_messages(
        *(make_message(text, n, session=f"s{n}") for n, text in enumerate(texts))
    )
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    assert len({row.session.title for row in browse.list_day_sessions(DAY)}) == 1
    assert rows_of_day() == [("s1", []), ("s0", [])]


def test_siblings_of_a_session_and_of_a_segment_are_of_its_level(
    busy: Workspace,
) -> None:
    single, two = browse.list_day_sessions(DAY)
    path = browse.get_path_with_session(two.node_id)
    assert browse.find_sibling(path, -1, ALL, UTC) == [*path[:-1], single.node_id]
    older = browse.find_sibling(path, 1, ALL, UTC)
    assert older[-1] == "toc:session:2025-03-13:claude-code/one"
    assert browse.find_sibling(older, 1, ALL, UTC) == ()
    late, early = (entry.node_id for entry in two.segments)
    assert browse.find_sibling([*path, late], 1, ALL, UTC) == [*path, early]
    # A session with one segment has no row below it.
    assert browse.find_sibling([*path, early], 1, ALL, UTC) == older
