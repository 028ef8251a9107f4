"""What answers is quoted: many short places of the sessions that answer."""

from memtui.agents import replies, routing, search
from memtui.model.events import EventRole
from memtui.workspace import Workspace
from tests.talking import keep, line, listen

FILLING = "We went on to the shelves and counted all that stood there.\n"


def test_a_session_answers_with_all_its_places_the_telling_ones_first(
    full_house: Workspace,
) -> None:
    keep(
        line("Can you repair the zeppelin?", 1, session="new"),
        line(
            "Let me look at the zeppelin first.",
            2,
            role=EventRole.ASSISTANT,
            session="new",
        ),
        line(
            FILLING * 20 + "The zeppelin lost its gas through a torn seam.\n",
            3,
            role=EventRole.ASSISTANT,
            session="new",
        ),
    )
    listen(full_house)
    found = search.search_memory(full_house, "zeppelin gas").items
    texts = [one["snippet"] for one in found]
    assert "torn seam" in texts[0] and len(texts[0]) < 400
    assert any("Can you repair" in text for text in texts)
    assert sum("title" in one for one in found if one["score"] > 0.2) == 1


def test_a_question_is_followed_by_what_was_answered(full_house: Workspace) -> None:
    keep(
        line("Where is the zeppelin moored?", 1, session="new"),
        line("In Friedrichshafen.", 2, role=EventRole.ASSISTANT, session="new"),
    )
    listen(full_house)
    texts = [
        one["snippet"]
        for one in search.search_memory(full_house, "zeppelin moored").items
    ]
    assert texts[:2] == ["Where is the zeppelin moored?", "In Friedrichshafen."]


def test_what_was_said_twice_is_quoted_once(full_house: Workspace) -> None:
    keep(*(line("The zeppelin is grey.", at, session="new") for at in range(1, 5)))
    listen(full_house)
    found = search.search_memory(full_house, "zeppelin").items
    assert [one["snippet"] for one in found] == ["The zeppelin is grey."]


def test_a_route_tells_what_was_said_and_no_summary_twice(
    full_house: Workspace,
) -> None:
    found = routing.route(full_house, "mutex tabs")
    ids = [one["id"] for one in found.items]
    assert any(name.startswith("evt:") for name in ids)
    said = [one["snippet"] for one in found.items if not one["id"].startswith("evt:")]
    assert len(said) == len(set(said))
    text = replies.fit_text(found, 1_000, full_house.counter).text
    assert "mutex around the refresh" in text
