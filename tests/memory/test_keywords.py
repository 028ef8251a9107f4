"""Keywords: the words to find a segment by."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from memtui.memory import events, keywords
from memtui.memory.events import Event, EventType
from memtui.memory.toc import KEYWORDS, TocLevel

START = datetime(2024, 1, 15, 9, tzinfo=UTC)


def said(text: str, at: int = 0, kind: EventType = EventType.USER_MESSAGE) -> Event:
    return events.make(
        agent="claude-code",
        session_id="s1",
        timestamp=START + timedelta(seconds=at),
        event_type=kind,
        text=text or "-",
        key=str(at),
    )


def test_names_stand_before_plain_words() -> None:
    found = keywords.of_events(
        [said("The redirect in src/auth/session.py raises a KeyError in loadToken")]
    )
    assert set(found[:3]) == {"session.py", "KeyError", "loadToken"}


def test_forms_of_a_word_give_one_keyword() -> None:
    found = keywords.of_events([said("cache caching caches cached redis")])
    assert len([word for word in found if word.startswith("cach")]) == 1


def test_hashes_addresses_and_numbers_are_no_keywords() -> None:
    found = keywords.of_events(
        [
            said(
                "https://example.com/x 3f2b9c1d8e7a 12345 "
                "123e4567-e89b-12d3-a456-426614174000 10:45:12 webhook"
            )
        ]
    )
    assert found == ("webhook",)


def test_a_tools_response_gives_the_names_of_errors_alone() -> None:
    call = said(
        "Bash: pytest\nbanana banana banana ValueError: no banana",
        kind=EventType.TOOL_RESULT,
    )
    found = keywords.of_events([call])
    assert "ValueError" in found
    assert "banana" not in found


def test_a_capital_at_the_start_of_a_sentence_makes_no_name() -> None:
    texts = ["Wrapping the handler in Sentry.", "- Wrapping it again for Sentry."]
    found = keywords.of_events([said(text, at) for at, text in enumerate(texts)])
    assert set(found) == {"wrapping", "handler", "Sentry"}


def test_a_parent_takes_its_keywords_from_its_children() -> None:
    children = [["redis", "cache"], ["cache", "oauth"], ["tokens"]]
    found = keywords.of_children(TocLevel.DAY, children)
    assert found[0] == "cache"
    assert set(found) == {"redis", "cache", "oauth", "tokens"}


def test_a_keyword_of_two_children_counts_twice_however_it_is_written() -> None:
    children = [["redis", "Prisma"], ["oauth", "prisma"]]
    assert keywords.of_children(TocLevel.DAY, children)[0] == "Prisma"


def test_a_month_has_fewer_keywords_than_a_week() -> None:
    children = [[f"word{chr(97 + n)}x" for n in range(20)]]
    counts = [
        len(keywords.of_children(level, children))
        for level in (TocLevel.WEEK, TocLevel.MONTH)
    ]
    assert counts == [KEYWORDS[TocLevel.WEEK], KEYWORDS[TocLevel.MONTH]]


@given(st.lists(st.text(max_size=200), min_size=1, max_size=5))
def test_any_text_gives_few_keywords_and_the_same_again(texts: list[str]) -> None:
    run = []
    for at, text in enumerate(texts):
        try:
            run.append(said(text, at))
        except events.EventRefused:
            continue
    found = keywords.of_events(run)
    assert len(found) <= KEYWORDS[TocLevel.SEGMENT]
    assert found == keywords.of_events(run)


@given(st.lists(st.lists(st.text(max_size=20), max_size=12), max_size=6))
def test_a_parent_never_invents_a_keyword(children: list[list[str]]) -> None:
    found = keywords.of_children(TocLevel.YEAR, children)
    assert set(found) <= {word for child in children for word in child}
