from datetime import UTC, datetime, timedelta

from rich.cells import cell_len

from memtui.memory.events import Event, EventType, make
from memtui.memory.grips import Expansion, Grip
from memtui.widgets.transcript import Transcript

NOW = datetime(2024, 1, 20, 12, tzinfo=UTC)
AT = datetime(2024, 1, 18, 10, tzinfo=UTC)


def event(text: str, minute: int, type_: EventType = EventType.USER_MESSAGE) -> Event:
    return make(
        agent="claude-code",
        session_id="s",
        timestamp=AT + timedelta(minutes=minute),
        event_type=type_,
        text=text,
        key=f"{minute}",
    )


def lines(
    text: str, width: int, before: tuple[Event, ...] = ()
) -> tuple[list[str], int]:
    own = event(text, 5)
    grip = Grip("grip:1", text[:20], own.event_id, own.event_id, own.timestamp, "test")
    expansion = Expansion(grip, None, before, (own,), ())
    laid, at = Transcript(expansion, UTC, NOW).lay_out(width)
    return laid.plain.split("\n"), at


def test_every_line_of_the_evidence_has_the_bar_and_no_other_has() -> None:
    told, at = lines("[/b] word " * 30, 80, before=(event("earlier", 1),))
    assert told[at].startswith("┃ 10:05 you")
    assert all(line.startswith("┃") for line in told[at:])
    assert not any("┃" in line for line in told[:at])
    assert "[/b] word" in told[at]


def test_the_marked_words_are_what_is_brought_into_sight() -> None:
    own = event("word " * 200 + "HERE it is", 5)
    grip = Grip("grip:1", "HERE it is", own.event_id, own.event_id, AT, "test")
    page = Transcript(Expansion(grip, None, (), (own,), ()), UTC, NOW)
    laid, at = page.lay_out(80)
    assert "HERE" in laid.plain.split("\n")[at]
    assert at > 5


def test_no_line_is_wider_than_the_pane() -> None:
    for width in (20, 63, 64, 120):
        told, _ = lines("a wörd 言葉 " * 40, width)
        assert max(map(cell_len, told)) <= width


def test_in_a_slim_pane_the_speaker_stands_above_the_text() -> None:
    told, at = lines("Do it.", 40)
    assert told[at - 1 : at + 1] == ["┃ 10:05 you", "┃ Do it."]


def test_a_monstrous_event_says_how_much_more_there_is() -> None:
    told, _ = lines("x" * 49_000_000, 80)
    assert told[-1].endswith("… 49 MB more")
    assert len(told) < 100


def test_a_tools_text_around_the_evidence_is_kept_short() -> None:
    tool = event("\n".join("abcdefghij"), 1, EventType.TOOL_RESULT)
    told, at = lines("Do it.", 80, before=(tool,))
    assert [line.strip()[-1] for line in told[1:6]] == [*"abcde"]
    assert told[6].strip() == "… 10 characters more"
    assert at == 7


def test_a_new_day_is_announced() -> None:
    told, _ = lines("Do it.", 80, before=(event("earlier", -1440),))
    assert told[0].strip() == "Wed 17 January 2024 · 3 days ago"
    assert "Thu 18 January 2024 · 2 days ago" in told[2]
