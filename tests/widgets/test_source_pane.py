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
    TEXT_CHANGED,
    UNREADABLE,
    SourceExcerpt,
    find_excerpt,
)
from memtui.tui.widgets.turn_rendering import (
    EXCERPT_CHARS,
    FOUND,
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


def test_only_evidence_lines_have_a_bar() -> None:
    drawn, at = lines("[/b] word " * 30, 80, before=(event("earlier", 1),))
    assert drawn[at].startswith("▌ 10:05 you")
    assert {line[0] for line in drawn[at:]} == {"▌", "┃"}
    assert not any(line[0] in "▌┃" for line in drawn[:at])
    assert "[/b] word" in drawn[at]


def test_marked_words_are_scrolled_to() -> None:
    own = event("word " * 200 + "HERE it is", 5)
    grip = Grip("grip:1", "HERE it is", own.event_id, own.event_id, AT, "test")
    page = SourceExcerpt(Expansion(grip, None, (), (own,), ()), UTC, NOW)
    laid, at = page.lay_out(80), page.evidence_lines(80)[1]
    assert "HERE" in laid.plain.split("\n")[at]
    assert at > 5
    head = page.evidence_lines(80)[0]
    assert laid.plain.split("\n")[head].startswith("┃ 10:05 you")


def test_lines_fit_any_width() -> None:
    for width in (20, 63, 64, 120):
        drawn, _ = lines("a wörd 言葉 " * 40, width)
        assert max(map(cell_len, drawn)) <= width


def test_narrow_pane_has_the_speaker_above() -> None:
    drawn, at = lines("Do it.", 40)
    assert drawn[at - 1 : at + 1] == ["┃ 10:05 you", "▌ Do it."]


def test_huge_event_is_cut() -> None:
    drawn, _ = lines("x" * 49_000_000, 80)
    assert drawn[-1].endswith("… 49 MB more")
    assert len(drawn) < 100


def test_tool_output_in_the_context_is_short() -> None:
    tool = event("\n".join("abcdefghij"), 1, EventType.TOOL_RESULT)
    drawn, at = lines("Do it.", 80, before=(tool,))
    assert [line.strip()[-1] for line in drawn[1:6]] == [*"abcde"]
    assert drawn[6].strip() == "… 10 characters more"
    assert at == 7


def test_new_day_has_a_line() -> None:
    drawn, _ = lines("Do it.", 80, before=(event("earlier", -1440),))
    assert drawn[0].strip() == "Wed 17 Jan 2024 · 3 days ago"
    assert "Thu 18 Jan 2024 · 2 days ago" in drawn[2]


def test_unreadable_source_keeps_its_place() -> None:
    grip = Grip("grip:1", "a quote", "damaged", "damaged", AT, "test")
    around = Expansion(grip, None, (event("earlier", 1),), (), (event("later", 9),))
    page = SourceExcerpt(around, UTC, NOW)
    drawn_lines = page.lay_out(80).plain.split("\n")
    assert [line.strip() for line in drawn_lines[1:]] == [
        "10:01 you      earlier",
        UNREADABLE,
        "10:09 you      later",
    ]
    assert page.evidence_lines(80) == (2, 2)


def verify(text: str, *events: Event) -> Verdict:
    """Return the verdict on a model's line."""
    (bullet,) = checks.ground_bullets([DraftBullet(text)], Evidence(events))
    return bullet.verdict


def grounded_lines(bullet: str, *events: Event) -> tuple[list[Content], int]:
    """The lines of a source as they are drawn for a bullet, at 80 columns."""
    verdict = verify(bullet, *events)
    ends = events[0].event_id, events[-1].event_id
    grip = Grip("grip:1", events[0].text[:20], *ends, AT, "test")
    page = SourceExcerpt(Expansion(grip, None, (), events, ()), UTC, NOW, verdict)
    laid, at = page.lay_out(80), page.evidence_lines(80)[1]
    return laid.split("\n"), at


def styled_text(lines: list[Content], style: str) -> str:
    """All that is drawn in a style, the lines put together again."""
    spans = [(line, s) for line in lines for s in line.spans if s.style == style]
    pieces = (line.plain[span.start : span.end].strip() for line, span in spans)
    return " ".join(piece for piece in pieces if piece)


def test_only_quoted_text_is_marked() -> None:
    text = "\n\nLook here. The redirect drops the session cookie. Something else then."
    drawn, _ = grounded_lines("The redirect dropped cookies", event(text, 5))
    assert styled_text(drawn, MARKED) == "The redirect drops the session cookie."
    assert styled_text(drawn, FOUND) == "redirect drops cookie"


def test_only_quoted_lines_have_a_broad_bar() -> None:
    text = "First this.\nThe redirect drops the session cookie.\nThen that."
    drawn, _ = grounded_lines("The redirect dropped cookies", event(text, 5))
    assert [line.plain[0] for line in drawn[1:]] == ["┃", "▌", "┃"]


def test_every_quoted_event_is_marked() -> None:
    said = ("The redirect drops the session cookie.", "The ledger rounds totals twice.")
    messages = (event(text, 5 + at) for at, text in enumerate(said))
    text = "The redirect drops the session cookie; the ledger rounds totals twice."
    drawn, _ = grounded_lines(text, *messages)
    assert styled_text(drawn, MARKED) == " ".join(said)


def test_deep_quote_is_scrolled_to() -> None:
    text = f"{'Nothing of it. ' * 2000}The redirect drops cookies.{' Nor here.' * 2000}"
    drawn, at = grounded_lines("The redirect drops cookies.", event(text, 5))
    assert "redirect" in " ".join(line.plain for line in drawn[at : at + 2])
    assert drawn[at].plain.startswith("▌")
    assert "kB before" in drawn[1].plain


def test_changed_text_has_no_marks() -> None:
    said = event("The redirect drops the session cookie.", 5)
    verdict = verify("The redirect drops cookies", said)
    changed = replace(said, text="The [redacted: password] drops the session cookie.")
    grip = Grip("grip:1", "drops the session", said.event_id, said.event_id, AT, "test")
    page = SourceExcerpt(Expansion(grip, None, (), (changed,), ()), UTC, NOW, verdict)
    laid = page.lay_out(100)
    assert TEXT_CHANGED in laid.plain
    assert "[redacted: password] drops" in laid.plain
    assert not styled_text(laid.split("\n"), MARKED)


def test_without_quotes_the_excerpt_is_marked() -> None:
    elsewhere = event("The redirect drops the session cookie.", 1)
    verdict = verify("The redirect drops cookies", elsewhere)
    own = event("Something was said. It is this. And more.", 5)
    grip = Grip("grip:1", "It is this.", own.event_id, own.event_id, AT, "test")
    page = SourceExcerpt(Expansion(grip, None, (), (own,), ()), UTC, NOW, verdict)
    laid = page.lay_out(80)
    assert styled_text(laid.split("\n"), MARKED) == "It is this."


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
    spans = [span for span in laid.spans if str(span.style).startswith("bold")]
    bold = {laid.plain[span.start : span.end] for span in spans}
    assert {"## Plan", "**Fixed**"} <= bold
    tabbed = SourceExcerpt(
        Expansion(grip, None, (), (event("a\t`mutex` in", 5),), ()), UTC, NOW
    )
    assert "\t" in tabbed.expansion.excerpt_events[0].text
    assert any(s.style == MARKED for s in tabbed.lay_out(200).spans)


def test_verbatim_excerpt_is_located() -> None:
    text = "First this. Then a mutex was added. Then that."
    start, end = find_excerpt(text, "Then a mutex was added.") or (0, 0)
    assert text[start:end] == "Then a mutex was added."


def test_excerpt_is_located_despite_line_breaks() -> None:
    text = "Then a\n  mutex was\tadded."
    assert find_excerpt(text, "a mutex was added") == (5, len(text) - 1)


def test_missing_excerpt_is_not_located() -> None:
    assert find_excerpt("Something else", "a mutex") is None
    assert find_excerpt("Something else", " … ") is None


def test_text_is_cut_above_the_limit() -> None:
    assert cut_excerpt("x" * 10, None, 10) == TextExcerpt("x" * 10)
    cut = cut_excerpt("x" * 11, None, 10)
    assert (len(cut.text), cut.left_before, cut.left_after) == (10, 0, 1)


def test_deep_mark_of_a_huge_text_is_shown_with_context() -> None:
    text = "a" * 3_000_000 + "HERE" + "b" * 3_000_000
    piece = cut_excerpt(text, (3_000_000, 3_000_004))
    assert len(piece.text) == EXCERPT_CHARS
    start = 3_000_000 - piece.left_before
    assert piece.text[start : start + 4] == "HERE"
    assert piece.left_before + len(piece.text) + piece.left_after == len(text)
