"""A store of an earlier version is opened, and what it shows is made anew."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memtui.model.nodes import BulletKind
from memtui.model.sessions import WorkState
from memtui.paths import in_home
from memtui.services import browse, sessions, versions
from memtui.settings import Settings
from memtui.store import database
from memtui.store.schema import TABLES
from memtui.summarize import card
from memtui.workspace import Workspace
from tests.conftest import TESTS

OLDER_STORE = TESTS / "data" / "older_store.sql"
"""Two sessions, a model's versions of a day and a week, and a pin on the week's first
version, as the version before facts and cards stored them."""

DAY, WEEK = "toc:day:2025-03-10", "toc:week:2025-W11"


@pytest.fixture
def workspace(tmp_path: Path, settings: Settings) -> Iterator[Workspace]:
    """A workspace with the store, before its first start."""
    paths = in_home(tmp_path / "home")
    paths.store.parent.mkdir(parents=True)
    with closing(sqlite3.connect(paths.store)) as db:
        db.executescript(OLDER_STORE.read_text())
    workspace = Workspace(paths, settings)
    yield workspace
    workspace.stop()


def start(workspace: Workspace) -> None:
    assert workspace.pipeline.run_until_idle(lambda _: None) == []


def test_columns_are_added_and_dropped(workspace: Workspace) -> None:
    with database.connection():
        for table in TABLES:
            meta = table._meta
            columns = {
                column.name for column in database.db.get_columns(meta.table_name)
            }
            assert columns == {field.column_name for field in meta.sorted_fields}


def test_an_older_store_is_shown_before_it_is_summarized_again(
    workspace: Workspace,
) -> None:
    day = browse.get_node(DAY)
    assert day is not None and day.headline == "Ferries after midnight are kept"
    assert day.generation.model and day.bullets
    assert {session.work.name for session in browse.list_day_sessions(DAY)} == {""}
    titles = [session.title for session in sessions.list_sessions().sessions]
    assert len(titles) == 2 and all(titles)
    for segment in browse.list_children(DAY):
        node = browse.get_node(segment.node_id)
        assert node is not None and BulletKind.STATE in {b.kind for b in node.bullets}


def test_summaries_are_made_again_at_the_next_start(workspace: Workspace) -> None:
    start(workspace)
    work = sessions.read_card("agent", "quay").work
    assert (work.name, work.state) == ("Compare full dates", WorkState.DONE)
    assert work.outcome == "All 48 tickets are in Danish."
    (row,) = browse.list_day_sessions(DAY)
    assert row.work == work
    for segment in row.segments:
        node = browse.get_node(segment.node_id)
        assert node is not None and node.summarizer == card.IDENTITY
        assert BulletKind.STATE not in {bullet.kind for bullet in node.bullets}
        assert all(bullet.grip_ids for bullet in node.bullets)
    day = browse.get_node(DAY)
    assert day is not None and day.headline == work.name
    made = day.version
    start(workspace)
    day = browse.get_node(DAY)
    assert day is not None and day.version == made


def test_versions_and_pins_of_an_older_store_stay(workspace: Workspace) -> None:
    before = versions.get_history(WEEK)
    start(workspace)
    after = versions.get_history(WEEK)
    assert before is not None and after is not None
    assert {version.version for version in before.versions} < {
        version.version for version in after.versions
    }
    assert after.displayed is not None and after.displayed.is_pinned
    assert after.displayed.version == 1
    of_model = versions.find_version(DAY, 2)
    assert of_model.headline == "Ferries after midnight are kept"
    assert of_model.generation.model and of_model.bullets[0].text == "42 ferries"
    for version in after.versions:
        assert versions.find_version(WEEK, version.version).bullets
