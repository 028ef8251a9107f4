import pytest

from memtui.errors import AmbiguousError
from memtui.model import citations
from memtui.model.citations import Expansion
from memtui.services import browse
from memtui.services.conversation import expand, read_sources
from memtui.store import database
from memtui.workspace import Workspace


@pytest.fixture
def grip_ids(full_workspace: Workspace) -> list[str]:
    """Every grip of the day the token refresh was written."""
    day = browse.get_node("toc:day:2024-01-18")
    assert day is not None
    return [grip_id for bullet in day.bullets for grip_id in bullet.grip_ids]


def test_an_excerpt_is_in_its_own_events(grip_ids: list[str]) -> None:
    assert grip_ids
    for grip_id in grip_ids:
        expansion = expand(grip_id)
        assert expansion.grip is not None
        texts = [event.text for event in expansion.excerpt_events]
        assert any(expansion.grip.excerpt in text for text in texts)


def test_events_around_a_grip_are_of_its_session_and_in_order(
    grip_ids: list[str],
) -> None:
    for grip_id in grip_ids:
        expansion = expand(grip_id)
        row = (
            expansion.events_before + expansion.excerpt_events + expansion.events_after
        )
        assert [e.position for e in row] == sorted(e.position for e in row)
        assert len({event.event_id for event in row}) == len(row)
        assert {event.session_id for event in row} == {expansion.session.session_id}  # type: ignore[union-attr]


@pytest.mark.parametrize("around", [0, 1, 3, 50])
def test_no_more_events_around_a_grip_than_requested(
    grip_ids: list[str], around: int
) -> None:
    for grip_id in grip_ids:
        expansion = expand(grip_id, before=around, after=around)
        assert expansion.excerpt_events
        assert len(expansion.events_before) <= around
        assert len(expansion.events_after) <= around


def test_the_nearest_events_around_a_grip_are_returned(grip_ids: list[str]) -> None:
    expansions = [expand(grip_id, before=1, after=1) for grip_id in grip_ids]
    more = [expand(grip_id, before=3, after=3) for grip_id in grip_ids]
    for few, many in zip(expansions, more, strict=True):
        assert few.events_before == many.events_before[-1:]
        assert few.events_after == many.events_after[:1]


def test_an_unknown_grip_expands_to_nothing(full_workspace: Workspace) -> None:
    assert expand("grip:0:nothing") == Expansion()


def test_an_ambiguous_citation_is_reported_with_candidates(
    grip_ids: list[str],
) -> None:
    grip = expand(grip_ids[0]).grip
    assert grip is not None
    segment = grip.toc_node_id or ""
    event = expand(grip_ids[0]).excerpt_events[0].event_id
    for short in ("grip:1", citations.cite_event(event)[:7]):
        with pytest.raises(
            AmbiguousError, match=f"(?s){short}' could be any of .*{short}"
        ):
            expand(short)
    with pytest.raises(AmbiguousError, match=r"any of .* segments"):
        browse.get_node(segment[: len("toc:segment:2024-01-18:")])
    for grip_id in grip_ids:
        expansion = expand(citations.cite_grip(grip_id))
        assert expansion.grip == expand(grip_id).grip
    assert expand(citations.cite_event(event)).excerpt_events[0].event_id == event
    assert browse.get_node(citations.cite_node(segment)) is not None
    assert expand("evt:00000") == Expansion()


def test_sources_are_read_like_what_grips_expand_to(grip_ids: list[str]) -> None:
    sources = read_sources([*grip_ids, "grip:1:none"])
    assert sources.keys() == set(grip_ids)
    for name, source in sources.items():
        expansion = expand(name)
        assert expansion.grip is not None
        assert (source.excerpt, source.at) == (
            expansion.grip.excerpt,
            expansion.grip.timestamp,
        )
        assert source.session == expansion.session
        assert source.text == expansion.excerpt_events[0].text


def test_quote_of_a_damaged_event_stays(grip_ids: list[str]) -> None:
    before = read_sources(grip_ids[:1])[grip_ids[0]]
    event_id = expand(grip_ids[0]).excerpt_events[0].event_id
    with database.transaction():
        database.db.execute_sql("DROP TRIGGER events_no_update")
        sql = "UPDATE events SET type = 'damaged' WHERE id = ?"
        database.db.execute_sql(sql, (event_id,))
    (source,) = read_sources([grip_ids[0]]).values()
    assert source.excerpt == before.excerpt and not source.text
    assert read_sources([event_id])[event_id].excerpt == ""
