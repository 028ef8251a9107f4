"""The audit: claims are listed with their sources, and judged by one key each."""

from datetime import UTC
from threading import Event

import pytest
from textual.content import Content
from textual.pilot import Pilot
from textual.widgets import Static

from memtui.errors import MemtuiError
from memtui.model.audit import AuditQuery
from memtui.model.judgements import Claim, Ruling
from memtui.model.nodes import Bullet
from memtui.model.verdicts import Support, Verdict, VerdictFeatures
from memtui.services import audit, browse, coverage, judging
from memtui.services.audit import ClaimDetails
from memtui.services.outline import read_outline
from memtui.store import database, judgements
from memtui.store.coverage import Counts
from memtui.tui.app import MemtuiApp
from memtui.tui.screens.audit import AuditScreen, ClaimList, draw_claim
from memtui.tui.screens.dialogs import ChoiceScreen
from memtui.tui.screens.reader import ReaderScreen
from memtui.tui.widgets.panes import PaneTitle
from memtui.tui.widgets.source_pane import SourcePane
from memtui.workspace import Workspace
from tests import model_versions
from tests.conftest import NOW
from tests.pilots import AppOf, Compare, Settle, notices, press, steps

SIZES = [(80, 24), (120, 36), (200, 60)]
DAY = "toc:day:2024-01-18"


@pytest.fixture
def audited(full_workspace: Workspace) -> Workspace:
    """A day has a weak and a withheld line of a model."""
    held = (model_versions.unsupported_bullet("The moon was counted"),)
    model_versions.add_model_version(
        DAY, "One", held=held, with_weak="42 sessions in payments.py"
    )
    return full_workspace


def list_of(pilot: Pilot[str | MemtuiError]) -> ClaimList:
    return pilot.app.screen.query_one(ClaimList)


def rulings() -> list[tuple[str, Ruling, str]]:
    with database.connection():
        rows = judgements.list_current("1")
    return [(row.claim.text, row.ruling, row.words) for row in reversed(rows)]


def claim_shown(pilot: Pilot[str | MemtuiError]) -> str:
    visual = pilot.app.screen.query_one("#claim", Static).visual
    assert isinstance(visual, Content)
    return visual.plain


@pytest.mark.journey
async def test_claims_are_judged_by_one_key_each(
    audited: Workspace, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(audited)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "home", "A")
        claims = list_of(pilot)
        texts = [row.text for row in claims.items.values()]
        # The worst come first.
        assert texts[:2] == ["The moon was counted", "42 sessions in payments.py"]
        total = len(texts)
        title = app.screen.query_one("#list-pane PaneTitle", PaneTitle)
        assert title.info.startswith(f"0 of {total} judged")
        await press(pilot, settle, "x")
        assert "payments.py" in claim_shown(pilot)
        await press(pilot, settle, *"aaaa")
        assert title.info.startswith(f"5 of {total} judged")
        assert [ruling for _, ruling, _ in reversed(rulings())] == [
            Ruling.REJECTED,
            *[Ruling.ACCEPTED] * 4,
        ]
        # What was judged last is taken back, and is selected again.
        await press(pilot, settle, "u")
        assert len(rulings()) == 4
        assert claims.current is not None and claims.current.text == texts[4]


async def test_fifty_claims_take_fifty_keys(
    audited: Workspace, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(audited)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "s", "A", "escape", "escape", "A")
        claims = list_of(pilot)
        number = min(50, len(claims.items))
        for _ in range(number):
            await pilot.press("a")
        await settle(pilot)
        assert len(rulings()) == number


async def test_fast_keys_judge_one_claim_each(
    audited: Workspace, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(audited)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "home", "A")
        texts = [row.text for row in list_of(pilot).items.values()]
        with database.transaction():
            # No judgement can be stored meanwhile.
            await pilot.press(*"xaxa")
        await settle(pilot)
        judged = [Ruling.REJECTED, Ruling.ACCEPTED] * 2
        expected = [
            (text, ruling, "") for text, ruling in zip(texts, judged, strict=False)
        ]
        assert rulings() == expected[::-1]
        with database.transaction():
            await pilot.press(*"xu")
        await settle(pilot)
        assert rulings() == expected[::-1]
        # A dialog is about the claim for which it was opened.
        await press(pilot, settle, "home", "down")
        await pilot.press("m", "down")
        await settle(pilot)
        await press(pilot, settle, "enter")
        assert rulings()[0][:2] == (texts[1], Ruling.MOVED)


async def test_more_claims_are_listed_at_the_end_of_the_list(
    audited: Workspace,
    app_of: AppOf,
    settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(audit, "PAGE_SIZE", 3)
    query = audit.narrow(AuditQuery(), "toc:year:2024", audited.zone)
    expected = [row.text for row in audit.list_claims(query, 500)]
    app = app_of(audited)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "home", "A")
        claims = list_of(pilot)
        assert len(claims.items) == 3
        await press(pilot, settle, *"aaaa")
        assert len(rulings()) == 4
        for _ in expected:
            await press(pilot, settle, "end")
        assert [row.text for row in claims.items.values()] == expected


async def test_claims_are_counted_once_at_a_time(
    audited: Workspace,
    app_of: AppOf,
    settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    running: list[int] = []
    most: list[int] = []
    may_end = Event()
    may_end.set()

    def count_slowly(query: AuditQuery) -> Counts:
        running.append(1)
        most.append(len(running))
        assert may_end.wait(30)
        running.pop()
        return count(query)

    count = coverage.count
    monkeypatch.setattr(coverage, "count", count_slowly)
    app = app_of(audited)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "home", "A")
        before = len(most)
        may_end.clear()
        await pilot.press(*"aaaaaa")
        while len(rulings()) < 6:
            await pilot.pause(0.01)
        may_end.set()
        await settle(pilot)
        title = app.screen.query_one("#list-pane PaneTitle", PaneTitle)
        assert title.info.startswith("6 of ")
        assert max(most[before:]) == 1 and len(most) - before < 6


async def test_line_is_corrected_and_reason_given(
    audited: Workspace, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(audited)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "home", "A", "E")
        await press(pilot, settle, "ctrl+u", *"Moons", "enter")
        assert rulings() == [("The moon was counted", Ruling.CORRECTED, "Moons")]
        await press(pilot, settle, "home", "x", "home", "x", *"no moon", "enter")
        with database.connection():
            (judgement,) = judgements.list_current("1")
        assert (judgement.ruling, judgement.reason) == (Ruling.REJECTED, "no moon")
        node = browse.get_node(DAY)
        assert node is not None
        assert not any("Moons" in bullet.text for bullet in node.bullets)


async def test_filter_lists_claims_of_a_kind(
    audited: Workspace, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(audited)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "home", "A", "K")
        assert isinstance(app.screen, ChoiceScreen)
        await press(pilot, settle, "down", "down", "enter")
        assert [row.text for row in list_of(pilot).items.values()] == [
            "42 sessions in payments.py"
        ]
        title = app.screen.query_one("#list-pane PaneTitle", PaneTitle)
        assert title.title.endswith(" · weak")


async def test_fact_leads_to_what_shows_it(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "s", "A")
        assert claim_shown(pilot).startswith("state: done")
        source = app.screen.query_one(SourcePane)
        (event,) = source.expansion.excerpt_events
        assert event.event_type == "tool_result"
        await press(pilot, settle, "enter")
        assert isinstance(app.screen, ReaderScreen)


async def test_another_message_becomes_the_source(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "s", "A", "down", "m", "enter")
        ((_, ruling, _),) = rulings()
        assert ruling is Ruling.MOVED


async def test_audit_leads_to_what_no_bullet_cites(
    audited: Workspace, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(audited)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "s", "A")
        shares = str(app.screen.query_one("#coverage", Static).visual)
        session = app.screen
        assert isinstance(session, AuditScreen) and session.selected_session
        outline = read_outline(session.selected_session)
        await press(pilot, settle, "p")
        assert isinstance(app.screen, ReaderScreen)
        assert app.screen.view.cursor == outline.uncited[0][1]
        await press(pilot, settle, "B", "enter", "escape")
        assert isinstance(app.screen, AuditScreen)
        await press(pilot, settle, "K", "enter")
        after = str(app.screen.query_one("#coverage", Static).visual)
        assert shares.startswith("cited: ") and after.startswith("cited: ")
        assert after != shares


async def test_sources_of_a_claim_come_in_turn(app: MemtuiApp, settle: Settle) -> None:
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "home", "A")
        source = app.screen.query_one(SourcePane)
        claims = list_of(pilot)
        for _ in claims.items:
            await press(pilot, settle, "down")
            if source.query_one(PaneTitle).title.endswith(" of 2"):
                break
        titles = []
        for _ in range(3):
            titles.append(source.query_one(PaneTitle).title)
            await press(pilot, settle, "n")
        assert titles[0] == titles[2] != titles[1]


async def test_empty_audit_says_what_to_do(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(workspace)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "escape", "A")
        assert isinstance(app.screen, AuditScreen)
        await press(pilot, settle, "a", "x", "u", "m", "E", "R")
        assert "Nothing to audit" in str(
            app.screen.query_one("#nothing", Static).visual
        )


@pytest.mark.parametrize("size", SIZES)
def test_audit_picture(
    audited: Workspace,
    app_of: AppOf,
    snap_compare: Compare,
    settle: Settle,
    size: tuple[int, int],
) -> None:
    run = steps(settle, "home", "A", "x")
    assert snap_compare(app_of(audited), terminal_size=size, run_before=run)


def test_missing_number_is_underlined_at_each_place_but_not_within_another() -> None:
    features = VerdictFeatures(missing=("2",))
    verdict = Verdict(Support.WEAK, features)
    bullet = Bullet("Start 1200 parts: 2 of 2", ("g",), verdict)
    claim = Claim("s", "outcome", bullet.text)
    details = ClaimDetails(bullet, claim, "s", "Mill", "", "", ())
    spans = draw_claim(details, UTC, NOW).spans
    starts = [span.start for span in spans if "underline" in str(span.style)]
    assert starts == [18, 23]


async def test_damaged_json_does_not_stop_the_app(
    audited: Workspace, app_of: AppOf, settle: Settle
) -> None:
    with database.transaction():
        segment = "(SELECT min(node_id) FROM nodes WHERE level = 'segment')"
        shown = f"(SELECT latest_id FROM nodes WHERE node_id = {segment})"
        (line,) = judging.read_page(segment_id(segment)).bullets[:1]
        judging.judge(segment_id(segment), line, Ruling.ACCEPTED, NOW)
        for trigger in database.fetch_column(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ):
            database.execute(f"DROP TRIGGER {trigger}")
        for sql in (
            f"UPDATE bullets SET verdict = '{{' WHERE version_id = {shown}",
            f"UPDATE node_versions SET keywords = '[1]' WHERE id = {shown}",
            "UPDATE judgements SET grip_ids = '[', event_ids = '5'",
            "UPDATE segments SET facts = '{'",
            "UPDATE sessions SET work = '[]'",
        ):
            assert database.execute(sql)
    app = app_of(audited)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "end", "enter", "enter", "enter", "enter", "home")
        await press(pilot, settle, "A", "down", "up", "u", "escape", "L", "L", "escape")
        assert notices(app) == []


def segment_id(sql: str) -> str:
    with database.connection():
        return str(database.fetch_value(f"SELECT {sql}"))
