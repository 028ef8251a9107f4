"""The rows of seed 2, sessions and their search."""

from memtui.agents import changes
from memtui.store import database
from memtui.store.schema import SessionRow
from memtui.workspace import Workspace


def test_s2_02_a_session_keeps_who_began_it(house: Workspace) -> None:
    changes.new_session(house, agent="bot", sender="ada")
    assert house.pipeline.run_until_idle(lambda _: None) == []
    with database.connection():
        (row,) = SessionRow.select().where(SessionRow.agent == "bot")
    assert row.created_by == "ada"
