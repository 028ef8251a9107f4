from dataclasses import replace
from datetime import UTC, datetime, timedelta

from rich.cells import cell_len
from textual.content import Content

from memtui.model.citations import Expansion, Grip
from memtui.model.events import Event, EventType, make
from memtui.model.nodes import DraftBullet
from memtui.model.verdicts import Verdict
from memtui.summarize.grounding import checks
from memtui.summarize.grounding.passages import Evidence
from memtui.tui.widgets.source_pane import (
    MATCHED,
    TEXT_CHANGED,
    UNREADABLE,
    SourceExcerpt,
    find_excerpt,
)
from memtui.tui.widgets.turn_rendering import (
    EXCERPT_CHARS,
    GUTTER,
    MARGIN,
    MARKED,
    TextExcerpt,
    cut_excerpt,
)

NOW = datetime(2024, 1, 20, 12, tzinfo=UTC)
AT = datetime(2024, 1, 18, 10, tzinfo=UTC)


def event(text: str, minute: int, type_: EventType = EventType.USER_MESSAGE) -> Event:
    return make(
        agent="claude-code",
        session_id="s",
        timestamp=AT + timedelta(minutes=minute),
        event_type=type_,
        text=text,
        source_key=f"{minute}",
    )


def lines(
    text: str, width: int, before: tuple[Event, ...] = ()
) -> tuple[list[str], int]:
    own = event(text, 5)
    grip = Grip("grip:1", text[:20], own.event_id, own.event_id, own.timestamp, "test")
    expansion = Expansion(grip, None, before, (own,), ())
    page = SourceExcerpt(expansion, UTC, NOW)
    return page.lay_out(width).plain.split("\n"), page.evidence_lines(width)[1]


def test_every_line_of_the_evidence_has_the_bar_and_no_other_has() -> None:
    shown, at = lines("[/b] word " * 30, 80, before=(event("earlier", 1),))
    assert shown[at].startswith("▌ 10:05 you")
    assert {line[0] for line in shown[at:]} == {"▌", "┃"}
    assert not any(line[0] in "▌┃" for line in shown[:at])
    assert "[/b] word" in shown[at]


def test_the_marked_words_are_what_is_brought_into_sight() -> None:
    own = event("word " * 200 + "HERE it is", 5)
    grip = Grip("grip:1", "HERE it is", own.event_id, own.event_id, AT, "test")
    page = SourceExcerpt(Expansion(grip, None, (), (own,), ()), UTC, NOW)
    laid, at = page.lay_out(80), page.evidence_lines(80)[1]
    assert "HERE" in laid.plain.split("\n")[at]
    assert at > 5
    head = page.evidence_lines(80)[0]
    assert laid.plain.split("\n")[head].startswith("┃ 10:05 you")


def test_no_line_is_wider_than_the_pane() -> None:
    for width in (20, 63, 64, 120):
        shown, _ = lines("a wörd 言葉 " * 40, width)
        assert max(map(cell_len, shown)) <= width


def test_a_narrow_pane_shows_the_speaker_above_the_text() -> None:
    shown, at = lines("Do it.", 40)
    assert shown[at - 1 : at + 1] == ["┃ 10:05 you", "▌ Do it."]


def test_a_monstrous_event_says_how_much_more_there_is() -> None:
    shown, _ = lines("x" * 49_000_000, 80)
    assert shown[-1].endswith("… 49 MB more")
    assert len(shown) < 100


def test_a_tools_text_around_the_evidence_is_kept_short() -> None:
    tool = event("\n".join("abcdefghij"), 1, EventType.TOOL_RESULT)
    shown, at = lines("Do it.", 80, before=(tool,))
    assert [line.strip()[-1] for line in shown[1:6]] == [*"abcde"]
    assert shown[6].strip() == "… 10 characters more"
    assert at == 7


def test_a_new_day_is_announced() -> None:
    shown, _ = lines("Do it.", 80, before=(event("earlier", -1440),))
    assert shown[0].strip() == "Wed 17 Jan 2024 · 3 days ago"
    assert "Thu 18 Jan 2024 · 2 days ago" in shown[2]


def test_a_source_that_cannot_be_read_leaves_its_place_between_its_neighbors() -> None:
    grip = Grip("grip:1", "a quote", "damaged", "damaged", AT, "test")
    around = Expansion(grip, None, (event("earlier", 1),), (), (event("later", 9),))
    page = SourceExcerpt(around, UTC, NOW)
    found = page.lay_out(80).plain.split("\n")
    assert [line.strip() for line in found[1:]] == [
        "10:01 you      earlier",
        UNREADABLE,
        "10:09 you      later",
    ]
    assert page.evidence_lines(80) == (2, 2)


def verify(text: str, *events: Event) -> Verdict:
    """Return the verdict on a model's line."""
    (bullet,) = checks.ground_bullets([DraftBullet(text)], Evidence(events))
    return bullet.verdict


def audited(bullet: str, *events: Event) -> tuple[list[Content], int]:
    """The lines of a source as they are drawn for a bullet, at 80 columns."""
    verdict = verify(bullet, *events)
    ends = events[0].event_id, events[-1].event_id
    grip = Grip("grip:1", events[0].text[:20], *ends, AT, "test")
    page = SourceExcerpt(Expansion(grip, None, (), events, ()), UTC, NOW, verdict)
    laid, at = page.lay_out(80), page.evidence_lines(80)[1]
    return laid.split("\n"), at


def styled(lines: list[Content], style: str) -> str:
    """All that is drawn in a style, the lines put together again."""
    spans = [(line, s) for line in lines for s in line.spans if s.style == style]
    pieces = (line.plain[span.start : span.end].strip() for line, span in spans)
    return " ".join(piece for piece in pieces if piece)


def test_what_the_audit_quoted_is_marked_and_no_more_of_the_event() -> None:
    text = "\n\nLook here. The redirect drops the session cookie. Something else then."
    shown, _ = audited("The redirect dropped cookies", event(text, 5))
    assert styled(shown, MARKED) == "The redirect drops the session cookie."
    assert styled(shown, MATCHED) == "redirect drops cookie"


def test_only_quoted_lines_have_a_broad_bar() -> None:
    text = "First this.\nThe redirect drops the session cookie.\nThen that."
    shown, _ = audited("The redirect dropped cookies", event(text, 5))
    assert [line.plain[0] for line in shown[1:]] == ["┃", "▌", "┃"]


def test_each_event_that_is_quoted_is_marked() -> None:
    said = ("The redirect drops the session cookie.", "The ledger rounds totals twice.")
    messages = (event(text, 5 + at) for at, text in enumerate(said))
    text = "The redirect drops the session cookie; the ledger rounds totals twice."
    shown, _ = audited(text, *messages)
    assert styled(shown, MARKED) == " ".join(said)


def test_a_quote_deep_in_a_long_event_is_what_is_brought_into_sight() -> None:
    text = f"{'Nothing of it. ' * 2000}The redirect drops cookies.{' Nor here.' * 2000}"
    shown, at = audited("The redirect drops cookies.", event(text, 5))
    assert "redirect" in " ".join(line.plain for line in shown[at : at + 2])
    assert shown[at].plain.startswith("▌")
    assert "kB before" in shown[1].plain


def test_a_changed_text_has_no_marks_and_says_so() -> None:
    said = event("The redirect drops the session cookie.", 5)
    verdict = verify("The redirect drops cookies", said)
    changed = replace(said, text="The [redacted: password] drops the session cookie.")
    grip = Grip("grip:1", "drops the session", said.event_id, said.event_id, AT, "test")
    page = SourceExcerpt(Expansion(grip, None, (), (changed,), ()), UTC, NOW, verdict)
    laid = page.lay_out(100)
    assert TEXT_CHANGED in laid.plain
    assert "[redacted: password] drops" in laid.plain
    assert not styled(laid.split("\n"), MARKED)


def test_where_the_audit_quoted_none_of_the_events_the_excerpt_is_marked() -> None:
    elsewhere = event("The redirect drops the session cookie.", 1)
    verdict = verify("The redirect drops cookies", elsewhere)
    own = event("Something was said. It is this. And more.", 5)
    grip = Grip("grip:1", "It is this.", own.event_id, own.event_id, AT, "test")
    page = SourceExcerpt(Expansion(grip, None, (), (own,), ()), UTC, NOW, verdict)
    laid = page.lay_out(80)
    assert styled(laid.split("\n"), MARKED) == "It is this."


def test_markdown_is_styled_without_moving_characters() -> None:
    said = "## Plan\n**Fixed** the `mutex` in\n```py\nx = 1\n```\nand **more"
    own = event(said, 5)
    at = said.index("`mutex`")
    grip = Grip("grip:1", "`mutex` in", own.event_id, own.event_id, AT, "test")
    page = SourceExcerpt(Expansion(grip, None, (), (own,), ()), UTC, NOW)
    laid = page.lay_out(200)
    text = "\n".join(line[MARGIN + GUTTER :] for line in laid.plain.split("\n")[1:])
    assert text == said
    marked = [laid.plain[s.start : s.end] for s in laid.spans if s.style == MARKED]
    assert marked == [said[at : at + len("`mutex` in")]]
    bold = {laid.plain[s.start : s.end] for s in laid.spans if s.style == "bold"}
    assert {"## Plan", "**Fixed**"} <= bold
    tabbed = SourceExcerpt(
        Expansion(grip, None, (), (event("a\t`mutex` in", 5),), ()), UTC, NOW
    )
    assert "\t" in tabbed.expansion.excerpt_events[0].text
    assert any(s.style == MARKED for s in tabbed.lay_out(200).spans)


def test_a_verbatim_excerpt_is_found() -> None:
    text = "First this. Then a mutex was added. Then that."
    start, end = find_excerpt(text, "Then a mutex was added.") or (0, 0)
    assert text[start:end] == "Then a mutex was added."


def test_an_excerpt_is_found_across_other_line_breaks() -> None:
    text = "Then a\n  mutex was\tadded."
    assert find_excerpt(text, "a mutex was added") == (5, len(text) - 1)


def test_an_excerpt_that_is_not_there_marks_nothing() -> None:
    assert find_excerpt("Something else", "a mutex") is None
    assert find_excerpt("Something else", " … ") is None


def test_a_text_at_the_limit_is_whole_and_one_over_it_is_cut() -> None:
    assert cut_excerpt("x" * 10, None, 10) == TextExcerpt("x" * 10)
    cut = cut_excerpt("x" * 11, None, 10)
    assert (len(cut.text), cut.left_before, cut.left_after) == (10, 0, 1)


def test_a_mark_deep_in_a_monstrous_text_is_shown_with_what_is_around() -> None:
    text = "a" * 3_000_000 + "HERE" + "b" * 3_000_000
    piece = cut_excerpt(text, (3_000_000, 3_000_004))
    assert len(piece.text) == EXCERPT_CHARS
    start = 3_000_000 - piece.left_before
    assert piece.text[start : start + 4] == "HERE"
    assert piece.left_before + len(piece.text) + piece.left_after == len(text)
