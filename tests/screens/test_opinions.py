"""The audit asks a model about a claim, and stays usable while it does."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from memtui.store import database
from memtui.summarize.ollama import models
from memtui.tui.screens.contents import ContentsScreen
from memtui.tui.widgets.panes import PaneTitle
from memtui.workspace import Workspace
from tests import model_versions
from tests.pilots import AppOf, Compare, Settle, notices, press, steps
from tests.screens.test_audit import DAY, claim_shown, list_of, rulings
from tests.stub import faults
from tests.stub.server import Pace, Stub, run_stub

WORDS = "Amounts are stored in cents"
DAYS = ["toc:day:2024-01-15", "toc:day:2024-02-06", DAY]
SAID = faults.saying(json.dumps({"words": WORDS, "answer": "partly"}))


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    monkeypatch.setattr(models, "machine_memory", lambda: 64 * 2**30)
    with run_stub() as stub:
        stub.always(SAID)
        yield stub


@pytest.fixture
def asking(full_workspace: Workspace, stub: Stub) -> Workspace:
    """A workspace with a model, and days with a weak line each."""
    full_workspace.settings = replace(
        full_workspace.settings, summaries_provider="ollama", summaries_url=stub.url
    )
    for day in DAYS:
        weak = f"{day[-2:]} sessions in payments.py"
        model_versions.add_model_version(day, "One", with_weak=weak)
    return full_workspace


def answers() -> list[tuple[str, str]]:
    with database.connection():
        return [*database.fetch("SELECT text, reason FROM judgements ORDER BY id")]


async def test_one_key_asks_once_and_shows_the_answer(
    asking: Workspace, stub: Stub, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(asking)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "home", "A")
        stub.pace = Pace(load_s=1.0)
        await pilot.press("c", "c", "c")
        title = app.screen.query_one("#detail-pane PaneTitle", PaneTitle)
        assert title.info == "asking the model about 1 claim"
        # The screen goes on meanwhile.
        await pilot.press("down", "a", "home")
        await settle(pilot)
        assert len(rulings()) == 1
        assert title.info == ""
        assert "qwen3:4b: partly" in claim_shown(pilot)
        assert len(stub.chats()) == 1
        assert list_of(pilot).current is not None


async def test_second_question_says_what_was_answered(
    asking: Workspace, stub: Stub, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(asking)
    stub.always(faults.saying("{"))
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "home", "A", "c")
        assert notices(app) == []
        await press(pilot, settle, "c")
        (notice,) = notices(app)
        assert "already: no usable answer" in notice
        assert len(stub.chats()) == 1


async def test_weak_claims_are_asked_about_until_stopped(
    asking: Workspace, stub: Stub, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(asking)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "home", "A")
        title = app.screen.query_one("#detail-pane PaneTitle", PaneTitle)
        stub.script(SAID, faults.stalled(1))
        await pilot.press("C")
        request = stub.wait_for(2)
        await pilot.pause()
        assert title.info == "asking the model about 2 claims"
        await pilot.press("C")
        assert title.info == "asking the model about 1 claim"
        await press(pilot, settle, "escape", "A")
        assert request.is_abandoned.wait(10)
        assert len(answers()) == 1
        # What was answered is not asked again.
        await press(pilot, settle, "C")
        assert len(answers()) == 3 and {*answers()} == {
            (f"{day[-2:]} sessions in payments.py", "partly") for day in DAYS
        }
        assert len(stub.chats()) == 4 and notices(app) == []


async def test_without_a_weak_claim_the_key_says_so(
    asking: Workspace, stub: Stub, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(asking)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "home", "A", *"aaaC")
        assert notices(app) == ["There is no such claim to ask the model about."]
        assert stub.chats() == []


async def test_leaving_the_audit_ends_the_request(
    asking: Workspace, stub: Stub, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(asking)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "home", "A")
        stub.always(faults.stalled(1))
        await pilot.press("c")
        request = stub.wait_for(1)
        await press(pilot, settle, "escape")
        assert isinstance(app.screen, ContentsScreen)
        assert request.is_abandoned.wait(10)
        assert answers() == [] and notices(app) == []


async def test_without_a_model_the_key_says_what_to_do(
    asking: Workspace, stub: Stub, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(asking)
    stub.close()
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "home", "A", "c")
        (notice,) = notices(app)
        assert "try: start Ollama" in notice
        asking.settings = replace(asking.settings, summaries_provider="extractive")
        await press(pilot, settle, "c")
        assert "with auto, a model is used" in notices(app)[1]
        stub.start()


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
def test_picture_of_an_opinion(
    asking: Workspace,
    app_of: AppOf,
    snap_compare: Compare,
    settle: Settle,
    size: tuple[int, int],
) -> None:
    run = steps(settle, "home", "A", "c")
    assert snap_compare(app_of(asking), terminal_size=size, run_before=run)
