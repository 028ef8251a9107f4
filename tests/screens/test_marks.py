"""Verdicts on the page of a node, beside its bullets and in their sources."""

from datetime import UTC

import pytest
from textual.content import Content
from textual.pilot import Pilot
from textual.widgets import Input, Static

from memtui.errors import MemtuiError
from memtui.model.nodes import TocNode
from memtui.pipeline.progress import PipelineProgress
from memtui.services import browse, versions
from memtui.store import database, schema
from memtui.tui.app import MemtuiApp
from memtui.tui.messages import ProgressReported
from memtui.tui.screens.search import SearchScreen
from memtui.tui.widgets import source_pane
from memtui.tui.widgets.node_page import BulletList
from memtui.tui.widgets.panes import PaneTitle
from memtui.tui.widgets.source_pane import SourceExcerpt, SourcePane
from memtui.tui.widgets.text_block import Paragraph
from memtui.tui.widgets.toc_tree import TocTree
from memtui.tui.widgets.turn_rendering import MARKED
from tests.conftest import NOW
from tests.pilots import Compare, Settle, steps
from tests.screens.conftest import CLAIMS, DAY, MODEL, Author
from tests.screens.test_search import wait_for_results
from tests.tables import EventRow, NodeRow

TO_THE_SEGMENT = ["g", *DAY.rpartition(":")[2], "enter", "*", "down"]
TO_THE_PAGE = [*TO_THE_SEGMENT, "enter"]
SIZE = (120, 40)
SIZES = [(80, 24), SIZE, (200, 60)]


def rows(pilot: Pilot[str | MemtuiError]) -> list[str]:
    """The bullets and what stands under them, as they are drawn."""
    bullets = pilot.app.screen.query_one(BulletList)
    visuals = [option.prompt for option in bullets.options]
    return [
        visual.lay_out(100).plain for visual in visuals if isinstance(visual, Paragraph)
    ]


def head(pilot: Pilot[str | MemtuiError]) -> str:
    return str(pilot.app.screen.query_one("#head", Static).visual)


def source(pilot: Pilot[str | MemtuiError]) -> Content:
    visual = pilot.app.screen.query_one("#transcript", Static).visual
    assert isinstance(visual, SourceExcerpt)
    return visual.lay_out(80)


def marked(text: Content) -> str:
    spans = [span for span in text.spans if span.style == MARKED]
    return " ".join(text.plain[span.start : span.end] for span in spans)


@pytest.mark.journey
async def test_bullets_have_marks_and_the_selected_one_its_reason(
    app: MemtuiApp, checked_segment: TocNode, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await steps(settle, *TO_THE_PAGE)(pilot)
        marks = [row[0] for row in rows(pilot)]
        assert marks[:3] == ["✓", "~", "~"] and {*marks[3:]} == {" "}
        assert not any("weak:" in row for row in rows(pilot))
        await steps(settle, "down")(pilot)
        assert "weak: not there: 600 seconds" in rows(pilot)[1]
        await steps(settle, "down")(pilot)
        assert "weak:" not in rows(pilot)[1]
        assert "weak: negated differently" in rows(pilot)[2]


async def test_expanded_bullet_keeps_its_reason(
    app: MemtuiApp, checked_segment: TocNode, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await steps(settle, *TO_THE_PAGE, "down", "space", "up")(pilot)
        assert "weak: not there: 600 seconds" in rows(pilot)[1]
        assert rows(pilot)[2].strip().startswith("“")


async def test_reason_at_the_bottom_is_visible(
    app: MemtuiApp, checked_segment: TocNode, settle: Settle
) -> None:
    async with app.run_test(size=(80, 16)) as pilot:
        await steps(settle, *TO_THE_PAGE, "down", "down")(pilot)
        bullets = pilot.app.screen.query_one(BulletList)
        height = bullets.scrollable_content_region.height
        visible = "".join(bullets.render_line(y).text for y in range(height))
        assert "weak: negated differently" in visible


async def test_u_shows_and_hides_withheld_lines(
    app: MemtuiApp, checked_segment: TocNode, settle: Settle
) -> None:
    (claim,) = checked_segment.withheld
    async with app.run_test(size=SIZE) as pilot:
        await steps(settle, *TO_THE_SEGMENT)(pilot)
        assert "1 line of the model withheld (u: show)" in (rows(pilot)[-1].strip())
        assert not any("Frankfurt" in row for row in rows(pilot))
        await steps(settle, "u")(pilot)
        bullets = pilot.app.screen.query_one(BulletList)
        assert bullets.current == (len(checked_segment.bullets), -1)
        assert rows(pilot)[-1].startswith(f"✗ {claim.text[:40]}")
        assert "withheld: a name that is nowhere in the session" in rows(pilot)[-1]
        await steps(settle, "u")(pilot)
        assert bullets.current == (len(checked_segment.bullets) - 1, -1)
        assert not any("Frankfurt" in row for row in rows(pilot))


async def test_footer_has_u_only_with_hidden_lines(
    app: MemtuiApp, checked_segment: TocNode, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await steps(settle, *TO_THE_PAGE)(pilot)
        assert pilot.app.screen.active_bindings["u"].binding.show
        pilot.app.screen.query_one(BulletList).clear()
        assert not pilot.app.screen.active_bindings["u"].binding.show


@pytest.mark.parametrize("verdict", ["weak", "unsupported"])
async def test_search_for_a_verdict_leads_to_the_bullet(
    checked_segment: TocNode, app: MemtuiApp, settle: Settle, verdict: str
) -> None:
    judged = [
        bullet.text
        for bullet in (*checked_segment.bullets, *checked_segment.withheld)
        if bullet.support.value == verdict and bullet.is_checked
    ]
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        await pilot.press("slash")
        app.screen.query_one(Input).value = f"has:{verdict} by:model"
        await wait_for_results(pilot, settle)
        assert isinstance(pilot.app.screen, SearchScreen)
        texts = [hit.snippet.text for hit in pilot.app.screen.hits.hits]
        assert judged and {*judged} <= {*texts}
        await pilot.press(*["down"] * texts.index(judged[-1]))
        await pilot.press("enter")
        await settle(pilot)
        bullets = pilot.app.screen.query_one(BulletList)
        assert bullets.current is not None
        assert bullets.bullets[bullets.current[0]].text == judged[-1]


async def test_withheld_lines_are_hidden_on_the_next_page(
    app: MemtuiApp, checked_segment: TocNode, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await steps(settle, *TO_THE_SEGMENT, "u", "up", "down")(pilot)
        assert not any("Frankfurt" in row for row in rows(pilot))


async def test_page_without_hidden_lines_does_not_mention_them(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await steps(settle, *TO_THE_PAGE)(pilot)
        assert not any("hidden" in row for row in rows(pilot))
        before = rows(pilot)
        await steps(settle, "u")(pilot)
        assert rows(pilot) == before
        (notice,) = pilot.app._notifications
        assert notice.message == "Nothing is hidden on this page."


async def test_head_shows_author_and_verdicts(
    app: MemtuiApp, checked_segment: TocNode, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await steps(settle, *TO_THE_SEGMENT)(pilot)
        assert f"written by {MODEL} · 1 of 3 bullets supported, 2 weak" in head(pilot)
        await steps(settle, "left")(pilot)
        assert "extract · cited: " in head(pilot)


@pytest.mark.parametrize(
    ("is_outdated", "words"),
    [(False, "pinned"), (True, "pinned, out of date")],
)
async def test_head_says_that_a_version_is_pinned(
    app: MemtuiApp,
    checked_segment: TocNode,
    settle: Settle,
    is_outdated: bool,
    words: str,
) -> None:
    with database.transaction():
        pinned = NodeRow.update(is_pinned=True, is_outdated=is_outdated)
        pinned.where(NodeRow.node_id == checked_segment.node_id).execute()
    async with app.run_test(size=SIZE) as pilot:
        await steps(settle, *TO_THE_SEGMENT)(pilot)
        grounds = head(pilot).split("\n")[2]
        assert words in grounds.split(" · ")


async def test_pinned_rejected_version_shows_the_reason(
    app: MemtuiApp, model: Author, settle: Settle
) -> None:
    (line,) = browse.list_children(DAY)
    model.writes(line.node_id, "Move frankfurt_cluster.py", CLAIMS[3:])
    pinned = versions.pin(line.node_id, 2, UTC, NOW, even_rejected=True)
    assert pinned.rejection
    async with app.run_test(size=SIZE) as pilot:
        await steps(settle, *TO_THE_SEGMENT)(pilot)
        assert f"pinned · rejected: {pinned.rejection}" in head(pilot)
        assert "2 lines of the model withheld" in rows(pilot)[-1]
        await steps(settle, "u")(pilot)
        assert [row[0] for row in rows(pilot)][-3:] == [" ", "✗", "✗"]
        await steps(settle, "u")(pilot)
        assert not any(row.startswith("✗") for row in rows(pilot))


async def test_deleted_page_has_no_hidden_lines(
    app: MemtuiApp,
    checked_segment: TocNode,
    settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await steps(settle, *TO_THE_SEGMENT)(pilot)
        monkeypatch.setattr(browse, "get_node", lambda *_: None)
        changed = frozenset({checked_segment.node_id})
        app.post_message(
            ProgressReported(PipelineProgress("summarize", changed=changed))
        )
        await settle(pilot)
        await steps(settle, "u")(pilot)
        assert "no longer in the contents" in head(pilot)
        assert rows(pilot) == []


async def test_quoted_text_is_marked_in_the_source(
    app: MemtuiApp, checked_segment: TocNode, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await steps(settle, *TO_THE_PAGE, "down")(pilot)
        quoted = "The session now slides: every request renews it for an hour."
        assert " ".join(marked(source(pilot)).split()) == quoted


async def test_changed_source_is_reported(
    app: MemtuiApp, checked_segment: TocNode, settle: Settle
) -> None:
    (span,) = checked_segment.bullets[0].verdict.spans
    with schema.unlocked():
        changed = EventRow.update(text="The timeout is [redacted: password].")
        changed.where(EventRow.id == span.event_id).execute()
    async with app.run_test(size=SIZE) as pilot:
        await steps(settle, *TO_THE_PAGE)(pilot)
        assert source_pane.TEXT_CHANGED in source(pilot).plain
        assert not marked(source(pilot))


async def test_claim_without_source_shows_none(
    app: MemtuiApp, checked_segment: TocNode, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await steps(settle, *TO_THE_PAGE, "u")(pilot)
        pane = pilot.app.screen.query_one(SourcePane)
        assert not pane.expansion.excerpt_events
        text = pilot.app.screen.query_one("#transcript", Static)
        assert "Nothing was found in the conversation that supports this bullet" in str(
            text.visual
        )


async def test_unsupported_bullet_shows_closest_words(
    app: MemtuiApp, model: Author, settle: Settle
) -> None:
    (line,) = browse.list_children(DAY)
    claim = "Wrote ledger.py; ran pytest -q tests/test_sessions.py, git push"
    model.writes(line.node_id, "Sliding sessions", [CLAIMS[0], claim])
    async with app.run_test(size=SIZE) as pilot:
        await steps(settle, *TO_THE_PAGE, "u")(pilot)
        assert rows(pilot)[-1].split("\n")[0].endswith("closest words 1 ▸")
        title = pilot.app.screen.query_one("#source PaneTitle", PaneTitle)
        count = len(pilot.app.screen.query_one(BulletList).bullets)
        assert title.title == f"Bullet {count}, closest words 1 of 1"
        assert marked(source(pilot)) == "Bash: pytest -q tests/test_sessions.py"


async def test_shown_withheld_lines_stay_after_an_update(
    app: MemtuiApp, checked_segment: TocNode, model: Author, settle: Settle
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await steps(settle, *TO_THE_PAGE, "u")(pilot)
        other = "Every warehouse in Hamburg burned down in the great fire."
        model.writes(checked_segment.node_id, "Sliding sessions", [*CLAIMS[:2], other])
        changed = frozenset({checked_segment.node_id})
        app.post_message(
            ProgressReported(PipelineProgress("summarize", changed=changed))
        )
        await settle(pilot)
        assert rows(pilot)[-1].startswith(f"✗ {other}")
        assert [row[0] for row in rows(pilot)].count("✗") == 1


async def test_stale_node_is_marked_in_the_contents(
    app: MemtuiApp, settle: Settle
) -> None:
    (year,) = [line for line in browse.list_children() if line.title == "2023"]
    with database.transaction():
        NodeRow.update(is_dirty=True).where(NodeRow.node_id == year.node_id).execute()
    async with app.run_test(size=SIZE) as pilot:
        await steps(settle)(pilot)
        tree = pilot.app.screen.query_one(TocTree)
        rows = [tree.render_line(at).text for at in range(tree.last_line + 1)]
        stale = [row for row in rows if row.rstrip().endswith("…")]
        assert len(stale) == 1 and "2023" in stale[0]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize(
    "keys", [["down"], ["u"], ["enter"]], ids=["weak", "withheld", "quoted"]
)
@pytest.mark.journey(only="quoted-(120, 40)")
def test_pictures_of_what_a_model_wrote(
    app: MemtuiApp,
    checked_segment: TocNode,
    settle: Settle,
    snap_compare: Compare,
    keys: list[str],
    size: tuple[int, int],
) -> None:
    run = steps(settle, *TO_THE_PAGE, *keys)
    assert snap_compare(app, terminal_size=size, run_before=run)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_pictures_where_all_is_supported(
    app: MemtuiApp, settle: Settle, snap_compare: Compare, size: tuple[int, int]
) -> None:
    run = steps(settle, *TO_THE_PAGE)
    assert snap_compare(app, terminal_size=size, run_before=run)
