"""The reader: opens at any event of a session of any length, and stays there."""

import json
import threading
from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input, Static

from memtui.errors import MemtuiError
from memtui.model.citations import cite_event
from memtui.model.events import Event, EventPosition, EventRole, EventType, make
from memtui.model.events import make_thought as thought
from memtui.model.sessions import SubagentMetadata
from memtui.pipeline.progress import PipelineProgress
from memtui.services import conversation, resume
from memtui.services.conversation import ConversationKey, Turn
from memtui.services.outline import read_outline
from memtui.services.resume import ResumeCommand
from memtui.store import database, schema, sessions
from memtui.store import events as store_events
from memtui.tui.app import MemtuiApp
from memtui.tui.messages import ProgressReported, SessionRequested, SourceMarks
from memtui.tui.screens.contents import ContentsScreen
from memtui.tui.screens.dialogs import ExportScreen, ResumeScreen
from memtui.tui.screens.reader import CITED, ReaderScreen
from memtui.tui.screens.sessions import SessionsScreen
from memtui.tui.widgets import turn_rendering
from memtui.tui.widgets.panes import PaneTitle
from memtui.tui.widgets.transcript_view import CURSOR_MARK, TranscriptView
from memtui.workspace import Workspace
from tests.message_factory import make_message, store_messages
from tests.pilots import AppOf, Compare, Settle, footer_keys, notices, press
from tests.screens import long_session
from tests.tables import EventRow

ASSISTANT = EventRole.ASSISTANT
MILL = ConversationKey("codex", "mill")
SHOP = "shop-1"


def view(app: App[str | MemtuiError]) -> TranscriptView:
    return app.screen.query_one(TranscriptView)


def lines(app: MemtuiApp) -> list[str]:
    """What stands on the screen, without the marks at its left."""
    return [line[len(CURSOR_MARK) :].rstrip() for line in marked_lines(app)]


def marked_lines(app: MemtuiApp) -> list[str]:
    transcript = view(app)
    return [transcript.render_line(y).text for y in range(transcript.size.height)]


def current_event(app: MemtuiApp) -> Event:
    turn = view(app).current
    assert turn is not None
    return turn.event


def text_of(app: MemtuiApp, name: str) -> str:
    return str(app.screen.query_one(name, Static).visual)


async def open_session(
    pilot: Pilot[str | MemtuiError],
    settle: Settle,
    event_id: str = "",
    whose: ConversationKey = MILL,
) -> None:
    await settle(pilot)
    request = SessionRequested(whose.agent, whose.session_id, event_id)
    pilot.app.post_message(request)
    await settle(pilot)
    assert isinstance(pilot.app.screen, ReaderScreen)


async def type_words(
    pilot: Pilot[str | MemtuiError], settle: Settle, words: str, *then: str
) -> None:
    await pilot.press(*words)
    await press(pilot, settle, *then or ("end",))


def event_at(rank: int) -> str:
    return conversation.get_info(MILL).positions[rank][2]


async def test_long_session_is_opened_by_reading_a_part(
    workspace: Workspace, app_of: AppOf, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    long_session.store_session(50_000)
    read = 0
    get = store_events.get

    def count(event_ids: Iterable[str]) -> dict[str, Event]:
        nonlocal read
        by_id = get(event_ids)
        read += len(by_id)
        return by_id

    monkeypatch.setattr(store_events, "get", count)
    app = app_of(workspace)
    async with app.run_test(size=(120, 40)) as pilot:
        for rank in (0, 25_000, 49_999):
            read = 0
            await open_session(pilot, settle, event_at(rank))
            assert read <= 250
            assert current_event(app).ordinal == rank
            window = view(app).buffer
            at = view(app).cursor_index
            assert at is not None and window.start + at == rank
            await press(pilot, settle, "escape")
        read = 0
        await open_session(pilot, settle)
        assert current_event(app).ordinal == 0
        await press(pilot, settle, "end")
        assert current_event(app).ordinal == 49_999
        await press(pilot, settle, "home")
        assert current_event(app).ordinal == 0
        transcript = view(app)
        transcript.scroll_to(y=transcript.virtual_size.height // 2, animate=False)
        await settle(pilot)
        await press(pilot, settle, "down")
        assert 24_000 < current_event(app).ordinal < 26_000
        assert read <= 1_000


async def test_loading_more_turns_moves_nothing_visible(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    long_session.store_session(1_400)
    app = app_of(workspace)
    async with app.run_test(size=(90, 30)) as pilot:
        await open_session(pilot, settle, event_at(500))
        transcript = view(app)
        for by in [-25] * 12 + [25] * 26:
            before = lines(app)
            transcript.scroll_to(y=transcript.scroll_offset.y + by, animate=False)
            await settle(pilot)
            after = lines(app)
            assert after[25:] == before[:-25] if by < 0 else after[:-25] == before[25:]
        assert len(transcript.buffer.turns) <= 600
        window = transcript.buffer
        top = window.turns[window.nearest(transcript.scroll_offset.y)]
        await pilot.resize_terminal(70, 30)
        await settle(pilot)
        assert window.turns[window.nearest(transcript.scroll_offset.y)] == top


@pytest.mark.parametrize("damage", ["at_ms = 'x'", "at_ms = -1 << 62", "id = x'00'"])
async def test_messages_without_a_place_are_left_out(
    workspace: Workspace, app_of: AppOf, settle: Settle, damage: str
) -> None:
    long_session.store_session(20)
    event_id = event_at(10)
    with schema.unlocked():
        database.db.execute_sql(f"UPDATE events SET {damage} WHERE ordinal = 10")
    app = app_of(workspace)
    async with app.run_test(size=(90, 30)) as pilot:
        await open_session(pilot, settle, event_id)
        assert current_event(app).ordinal == 0
        await type_words(pilot, settle, "/Question 10", "enter")
        assert text_of(app, "#matches") == "no match"
        ordinals = [turn.event.ordinal for turn in view(app).buffer.turns]
        assert ordinals == [*range(10), *range(11, 20)]
        assert not notices(app)


async def test_unreadable_messages_are_left_out(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    long_session.store_session(400)
    damaged = {0, 205, 399}
    with schema.unlocked():
        row = EventRow.update(type="?").where(EventRow.ordinal.in_(damaged))
        assert row.execute() == len(damaged)
    app = app_of(workspace)
    async with app.run_test(size=(90, 30)) as pilot:
        await open_session(pilot, settle, event_at(205))
        assert current_event(app).ordinal == 206
        await press(pilot, settle, "up")
        assert current_event(app).ordinal == 204
        for key, ordinal in (("home", 1), ("end", 398)):
            await press(pilot, settle, key)
            assert current_event(app).ordinal == ordinal
        long_session.store_session(402, since=400)
        await report_progress(pilot, settle)
        assert current_event(app).ordinal == 401


async def test_new_messages_are_followed_only_at_the_end(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    long_session.store_session(200)
    app = app_of(workspace)
    async with app.run_test(size=(90, 30)) as pilot:
        await open_session(pilot, settle, event_at(199))
        assert current_event(app).ordinal == 199
        app.screen._has_reloaded_recently = False  # type: ignore[attr-defined]
        long_session.store_session(203, since=200)
        app.post_message(ProgressReported(PipelineProgress("")))
        while len(view(app).buffer.turns) and current_event(app).ordinal < 202:
            await settle(pilot)
        await press(pilot, settle, "up", "up")
        before, at = lines(app), current_event(app).ordinal
        app.screen._has_reloaded_recently = False  # type: ignore[attr-defined]
        long_session.store_session(206, since=203)
        app.post_message(ProgressReported(PipelineProgress("")))
        while view(app).buffer.turns[-1].event.ordinal < 205:
            await settle(pilot)
        assert (lines(app), current_event(app).ordinal) == (before, at)


async def report_progress(pilot: Pilot[str | MemtuiError], settle: Settle) -> None:
    """Have it said that something was taken in, and looked for."""
    assert isinstance(pilot.app.screen, ReaderScreen)
    pilot.app.screen._has_reloaded_recently = False
    pilot.app.post_message(ProgressReported(PipelineProgress("")))
    await settle(pilot)


async def test_burst_of_messages_is_followed_to_its_end(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    long_session.store_session(100)
    app = app_of(workspace)
    async with app.run_test(size=(90, 30)) as pilot:
        await open_session(pilot, settle, event_at(99))
        for count in (160, 700, 701):
            long_session.store_session(
                count, since=view(app).buffer.turns[-1].event.ordinal + 1
            )
            await report_progress(pilot, settle)
            assert current_event(app).ordinal == count - 1
            assert view(app).is_at_end
        transcript = view(app)
        transcript.scroll_to(y=transcript.scroll_offset.y - 60, animate=False)
        await settle(pilot)
        before = lines(app)
        long_session.store_session(900, since=701)
        await report_progress(pilot, settle)
        assert lines(app) == before, "the cursor was at the end, the reader was not"
        assert current_event(app).ordinal == 700
        seen = {turn.event.ordinal for turn in transcript.buffer.turns}
        while max(seen) < 899:
            transcript.scroll_to(y=transcript.scroll_offset.y + 25, animate=False)
            await settle(pilot)
            seen |= {turn.event.ordinal for turn in transcript.buffer.turns}
        assert seen >= {*range(640, 900)}


async def test_late_messages_are_inserted_in_order(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    late = {*range(7), 150, *range(190, 197)}
    long_session.store_session(200, but=late)
    app = app_of(workspace)
    async with app.run_test(size=(90, 30)) as pilot:
        await open_session(pilot, settle, event_at(165))
        for ordinal, comes in ((172, {150, 190, 194}), (20, {0, 3, 195})):
            view(app).go_to(place_of(app, ordinal))
            await settle(pilot)
            before = lines(app)
            long_session.store_session(200, but={*range(200)} - comes)
            late -= comes
            await report_progress(pilot, settle)
            assert (current_event(app).ordinal, lines(app)) == (ordinal, before)
            ordinals = [turn.event.ordinal for turn in view(app).buffer.turns]
            run = range(ordinals[0], ordinals[-1] + 1)
            assert comes & {*run} and ordinals == [at for at in run if at not in late]
            await press(pilot, settle, "home")
        assert current_event(app).ordinal == 0


def place_of(app: MemtuiApp, ordinal: int) -> EventPosition:
    (turn,) = (t for t in view(app).buffer.turns if t.event.ordinal == ordinal)
    return turn.position


async def test_last_of_several_quick_jumps_counts(
    workspace: Workspace, app_of: AppOf, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    long_session.store_session(3_000)
    app = app_of(workspace)
    async with app.run_test(size=(90, 30)) as pilot:
        await open_session(pilot, settle, event_at(1_500))
        newer = threading.Event()
        read = conversation.read_turns

        def slowly(
            whose: ConversationKey,
            positions: Sequence[EventPosition],
            start: int,
            end: int,
        ) -> tuple[Turn, ...]:
            if end == len(positions):
                newer.wait()
            return read(whose, positions, start, end)

        monkeypatch.setattr(conversation, "read_turns", slowly)
        await pilot.press("home", "end", "home")
        while current_event(app).ordinal:
            await pilot.pause()
        newer.set()
        await settle(pilot)
        assert current_event(app).ordinal == 0 and view(app).scroll_offset.y == 0


async def test_tool_calls_and_thinking_can_be_expanded(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    long_session.store_session(40)
    output = {"agent": "codex", "session_id": "mill"}
    at = long_session.START + long_session.STEP
    with database.transaction():
        store_events.add_thoughts(
            [thought(**output, at=at, text="The [b]stone[/] is worn.")]
        )
    app = app_of(workspace)
    async with app.run_test(size=(120, 40)) as pilot:
        await open_session(pilot, settle, event_at(3))
        title = app.screen.query_one(PaneTitle)
        assert title.title == "Grinding [b]grain[/b]"
        assert title.info.endswith("t: show thinking (1)")
        text = "\n".join(lines(app))
        assert "▸ Edit: mill_3.py  +2 −1" in text
        assert "wheel 3" not in text and "stone" not in text
        await press(pilot, settle, "space")
        text = "\n".join(lines(app))
        for line in ("▾ Edit: mill_3.py  +2 −1", "− b", "+ d", "wheel 3"):
            assert line in text
        await press(pilot, settle, "enter", "t")
        text = "\n".join(lines(app))
        assert "wheel 3" not in text and "thinking The [b]stone[/] is worn." in text
        await press(pilot, settle, "t", "up", "space")
        assert notices(app) == ["This message is shown whole."]


async def test_call_opens_its_subagent(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    long_session.store_session(20)
    helper = SubagentMetadata(
        "codex", "mill", "helper-1", "Explore", "call-3", "Look around"
    )
    with database.transaction():
        columns = [row.name for row in database.db.get_columns("events")]
        mine = {"id": "'S' || substr(id, 2)", "subagent": "'helper-1'"}
        asked = ", ".join(mine.get(name, name) for name in columns)
        database.db.execute_sql(
            f"INSERT INTO events ({', '.join(columns)}) SELECT {asked} FROM events"
            " WHERE ordinal < 4"
        )
        sessions.update_subagents([helper])
    app = app_of(workspace)
    async with app.run_test(size=(120, 40)) as pilot:
        await open_session(pilot, settle, event_at(3))
        assert any("enter: open subagent" in line for line in lines(app))
        await press(pilot, settle, "enter")
        title = app.screen.query_one(PaneTitle)
        assert title.title == "subagent helper-1 of Grinding [b]grain[/b]"
        turns = view(app).buffer.turns
        assert [turn.event.subagent for turn in turns] == ["helper-1"] * 4
        for key in ("escape", "backspace"):
            await press(pilot, settle, key)
            assert current_event(app).ordinal == 3 and not current_event(app).subagent
            await press(pilot, settle, "enter")
            assert current_event(app).subagent == "helper-1"
        await press(pilot, settle, "escape")
        await press(pilot, settle, "space")
        assert any("wheel 3" in line for line in lines(app)), "space unfolds it"


async def test_call_opens_the_subagent_that_got_its_prompt(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    """Without an id of the call, the first message tells which subagent it started."""
    prompt = "Count the wheels of the mill."
    call = {"tool_name": "Task", "tool_input": json.dumps({"prompt": prompt})}
    at = long_session.START + long_session.STEP
    long_session.store_session(20)
    new = partial(make, agent="codex", session_id="mill")
    with database.transaction():
        store_events.add(
            [
                new(
                    timestamp=at + timedelta(seconds=9),
                    event_type=EventType.TOOL_RESULT,
                    text="Task: count\nFour.",
                    source_key="call",
                    metadata=call,
                ),
                new(
                    timestamp=at + timedelta(seconds=1),
                    event_type=EventType.USER_MESSAGE,
                    text=prompt,
                    source_key="prompt",
                    subagent="helper-2",
                ),
            ],
            route="jsonl",
        )
    app = app_of(workspace)
    async with app.run_test(size=(120, 40)) as pilot:
        await open_session(pilot, settle, event_at(2))
        assert "Task" in current_event(app).text
        await press(pilot, settle, "enter")
        assert app.screen.query_one(PaneTitle).title.startswith("subagent helper-2")
        assert current_event(app).text == prompt
        await press(pilot, settle, "escape")
        assert "Task" in current_event(app).text


LONG = "\n\n".join(f"Sack {number} was ground today." for number in range(2_000))


async def test_long_message_is_expanded_in_place(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    long_session.store_session(5, texts={1: LONG})
    app = app_of(workspace)
    async with app.run_test(size=(120, 40)) as pilot:
        await open_session(pilot, settle, event_at(1))
        rendered = view(app).buffer.rendered[1].lines
        assert any("kB more (space shows all)" in line.plain for line in rendered)
        await press(pilot, settle, "space")
        rendered = view(app).buffer.rendered[1].lines
        assert any("Sack 1999 was ground" in line.plain for line in rendered)
        await press(pilot, settle, "space")
        rendered = view(app).buffer.rendered[1].lines
        assert any("kB more" in line.plain for line in rendered)


@pytest.mark.parametrize("ordinal", [1, 3], ids=["message", "tool output"])
async def test_quote_is_marked_in_the_session(
    workspace: Workspace, app_of: AppOf, settle: Settle, ordinal: int
) -> None:
    text = f"Edit: mill.py\n\n{LONG}"
    long_session.store_session(5, texts={ordinal: text})
    quote = "Sack 1500 was ground"
    start = text.index(quote)
    marks = SourceMarks(((start, start + len(quote)),), ((start + 5, start + 9),))
    app = app_of(workspace)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        name = event_at(ordinal)
        request = SessionRequested("codex", "mill", name, quotes={name: marks})
        app.post_message(request)
        await settle(pilot)
        (line,) = [
            line
            for line in view(app).buffer.rendered[ordinal].lines
            if turn_rendering.has_style(line, turn_rendering.MARKED)
        ]
        assert quote in line.plain
        for _ in range(20):  # the session scrolls once its lines are laid out
            if any(quote in line for line in lines(app)):
                break
            await pilot.pause(0.05)
        assert any(quote in line for line in lines(app)), "it is in view"
        marked = {line.plain[s.start : s.end]: s.style for s in line.spans}
        assert marked["1500"] == turn_rendering.FOUND
        await press(pilot, settle, "space")
        assert any(CURSOR_MARK in line for line in marked_lines(app)), "it is in view"


async def test_markdown_is_rendered_or_shown_as_written(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    text = "## Plan\n- **Grind** the `grain`"
    long_session.store_session(5, texts={1: text})
    app = app_of(workspace)

    def drawn() -> str:
        return "\n".join(line.plain for line in view(app).buffer.rendered[1].lines)

    async with app.run_test(size=(120, 40)) as pilot:
        await open_session(pilot, settle, event_at(1))
        assert "• Grind the grain" in drawn()
        await press(pilot, settle, "f")
        assert "## Plan" in drawn() and "- **Grind** the `grain`" in drawn()
        await press(pilot, settle, "f")
        await type_words(pilot, settle, "/grind** the", "enter")
        rendered = view(app).buffer.rendered[1]
        assert "• Grind the grain" in drawn() and rendered.found_lines
        await press(pilot, settle, "escape")
        await type_words(pilot, settle, "/**", "enter")
        assert "**Grind**" in drawn(), "the match is visible"


async def test_brackets_go_to_prompts(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    long_session.store_session(400)
    app = app_of(workspace)
    async with app.run_test(size=(90, 30)) as pilot:
        await open_session(pilot, settle, event_at(202))
        await press(pilot, settle, "right_square_bracket")
        assert current_event(app).ordinal == 205
        await press(pilot, settle, *["left_square_bracket"] * 2)
        assert current_event(app).ordinal == 195
        await press(pilot, settle, "end", *["right_square_bracket"] * 2)
        assert notices(app)[-1] == "This is your last prompt."


async def test_outline_leads_to_prompts(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    long_session.store_session(400)
    app = app_of(workspace)
    async with app.run_test(size=(120, 40)) as pilot:
        await open_session(pilot, settle, event_at(202))
        title = app.screen.query_one(PaneTitle)
        assert title.info.startswith("prompt 41 of 80 · ")
        await press(pilot, settle, "O", "down", "enter")
        assert current_event(app).ordinal == 205
        assert title.info.startswith("prompt 42 of 80 · ")
        await press(pilot, settle, "O", "O", "end", "enter")
        assert current_event(app).ordinal == 395
        await press(pilot, settle, "O", "O", "escape")
        assert view(app).has_focus and not app.screen.has_class("-outline")


async def test_card_is_shown_or_hidden(
    full_workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    app = app_of(full_workspace)
    key = ConversationKey("claude-code", SHOP)
    async with app.run_test(size=(80, 24)) as pilot:
        await open_session(pilot, settle, whose=key)
        card = app.screen.query_one("#card", Static)
        assert card.size.height == 2 and "prompts" in text_of(app, "#card")
        await press(pilot, settle, "end")
        here, height = current_event(app), view(app).size.height
        await press(pilot, settle, "d")
        assert view(app).size.height == height + 2
        await press(pilot, settle, "d")
        assert view(app).size.height == height
        assert current_event(app) == here
        assert any(CURSOR_MARK in line for line in marked_lines(app)), "it is in view"


async def test_column_beside_the_scrollbar_shows_where_matches_are(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    long_session.store_session(3_000)
    app = app_of(workspace)

    def marked_rows() -> list[int]:
        rows = marked_lines(app)
        return [number for number, row in enumerate(rows) if row.endswith("━")]

    async with app.run_test(size=(120, 43)) as pilot:
        await open_session(pilot, settle)
        assert marked_rows() == []
        await type_words(pilot, settle, "/Question 2995", "enter")
        height = view(app).size.height
        assert marked_rows() == [height - 1]
        await type_words(pilot, settle, "/", "ctrl+u", *"Question 1500", "enter")
        (row,) = marked_rows()
        assert abs(row - height // 2) <= 1
        await press(pilot, settle, "escape")
        assert marked_rows() == []


async def test_words_are_found_in_the_whole_session(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    long_session.store_session(3_000)
    app = app_of(workspace)
    async with app.run_test(size=(120, 40)) as pilot:
        await open_session(pilot, settle)
        await type_words(pilot, settle, "/WHEEL 249", "enter")
        assert current_event(app).ordinal == 249
        assert text_of(app, "#matches") == "1 of 5 · n next · p previous"
        here = view(app)
        rows = [here.render_line(y).text for y in range(here.size.height)]
        assert any("wheel 249" in row for row in rows), "unfolded, and in sight"
        await press(pilot, settle, "space")
        assert not any("wheel 249" in line for line in lines(app)), "folded again"
        assert isinstance(app.screen, ReaderScreen)
        for _ in range(2):  # The second before the first match is loaded.
            app.screen.action_next_match()
        await settle(pilot)
        assert current_event(app).ordinal == 2_494
        await press(pilot, settle, *"nnn")
        assert notices(app) == ["This is the last match."]
        await press(pilot, settle, "N", "p", "p", "p")
        assert current_event(app).ordinal == 249
        await press(pilot, settle, "escape", "n")
        assert notices(app)[-1] == "Press / to find words first."
        await type_words(pilot, settle, "/100%", "enter")
        assert text_of(app, "#matches") == "no match"
        await press(pilot, settle, "n")
        assert notices(app)[-1] == "No match in this session."
        await press(pilot, settle, "escape", "escape")
        assert isinstance(app.screen, ContentsScreen)


async def test_search_while_typing_and_escape_returns(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    long_session.store_session(3_000)
    app = app_of(workspace)
    async with app.run_test(size=(120, 40)) as pilot:
        await open_session(pilot, settle, event_at(1_000))
        await type_words(pilot, settle, "/wheel 249")
        output = "2 of 5 · enter keep · esc back"
        assert (current_event(app).ordinal, text_of(app, "#matches")) == (2_493, output)
        await press(pilot, settle, "8")
        assert current_event(app).ordinal == 2_498
        await press(pilot, settle, "x")
        assert text_of(app, "#matches") == "no match"
        assert current_event(app).ordinal == 1_000
        await press(pilot, settle, *["backspace"] * 2)
        assert current_event(app).ordinal == 2_493
        await press(pilot, settle, "escape")
        assert current_event(app).ordinal == 1_000
        await type_words(pilot, settle, "/wheel 249", "enter")
        assert text_of(app, "#matches") == "2 of 5 · n next · p previous"
        await press(pilot, settle, "n", "escape")
        assert current_event(app).ordinal == 2_494, "enter keeps the place"


async def test_transcript_has_focus_after_a_search(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    long_session.store_session(30)
    app = app_of(workspace)
    async with app.run_test(size=(120, 40)) as pilot:
        await open_session(pilot, settle)
        await press(pilot, settle, "slash")
        keys = footer_keys(app)
        assert "enter" in keys and "esc" in keys and "/" not in keys
        await pilot.press(*"wheel", "slash", "2", "enter", "n", "n")
        await settle(pilot)
        assert app.screen.query_one(Input).value == "wheel/2"
        assert app.focused is view(app)
        await pilot.press("slash", "x", "escape", "t")
        await settle(pilot)
        assert app.screen.query_one(Input).value == ""
        assert notices(app)[-1] == "This session has no thinking."


async def test_words_typed_during_a_search_are_searched_next(
    workspace: Workspace, app_of: AppOf, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    long_session.store_session(500)
    app = app_of(workspace)
    async with app.run_test(size=(120, 40)) as pilot:
        await open_session(pilot, settle)
        asked: list[str] = []
        go_on = threading.Event()
        look = conversation.find_text

        def slowly(whose: ConversationKey, words: str) -> Sequence[EventPosition]:
            asked.append(words)
            go_on.wait()
            if words == "wheel 49":
                raise MemtuiError("the memory is away")
            return look(whose, words)

        monkeypatch.setattr(conversation, "find_text", slowly)
        await pilot.press(*"/wheel 49", "enter", "n")
        while text_of(app, "#matches") != "searching…":
            await pilot.pause()
        assert notices(app) == ["Searching…"]
        assert (asked, current_event(app).ordinal) == (["w"], 0)
        go_on.set()
        await settle(pilot)
        assert asked == ["w", "wheel 49"]
        assert text_of(app, "#matches") == "search failed"
        await type_words(pilot, settle, "/wheel 48", "enter")
        assert asked[-1] == "wheel 48" and current_event(app).ordinal == 48
        await press(pilot, settle, "slash", "backspace")
        assert current_event(app).ordinal == 48
        await press(pilot, settle, "enter", "n")
        assert notices(app)[-1] == "Press / to find words first."


@pytest.mark.journey
async def test_session_leads_to_its_place_in_the_contents(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await press(pilot, settle, "s", "down", "enter")
        assert isinstance(app.screen, ReaderScreen)
        session = current_event(app).session_id
        await press(pilot, settle, "escape")
        assert isinstance(app.screen, SessionsScreen)
        await press(pilot, settle, "enter", "down", "down", "b")
        assert isinstance(app.screen, ContentsScreen)
        await press(pilot, settle, "tab", "tab", "enter")
        assert isinstance(app.screen, ReaderScreen)
        assert current_event(app).session_id == session
        await press(pilot, settle, "Y")
        assert cite_event(current_event(app).event_id) in app.clipboard
        assert len(notices(app)) == 1
        await press(pilot, settle, "escape")
        assert isinstance(app.screen, ContentsScreen)
        assert app.focused is app.screen.query_one("#source DetailPane")


@pytest.mark.journey
async def test_resume_command_is_shown_first(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    async with app.run_test() as pilot:
        await open_session(pilot, settle, whose=ConversationKey("claude-code", SHOP))
        await press(pilot, settle, "r")
        assert isinstance(app.screen, ResumeScreen)
        question = text_of(app, "#question")
        assert question == (
            "claude is not installed on this machine.\n\nclaude --resume shop-1"
        )
        await press(pilot, settle, "y", "enter")
        assert isinstance(app.screen, ResumeScreen)
        await press(pilot, settle, "c")
        assert isinstance(app.screen, ReaderScreen)
        assert app.clipboard == "claude --resume shop-1"
        program = tmp_path / "claude"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        await press(pilot, settle, "r")
        assert text_of(app, "#question").startswith("Run this now?")
        assert footer_keys(app)[0] == "enter"
        await press(pilot, settle, "enter")
        assert notices(app)[-1].startswith("This terminal does not support")


async def test_copied_resume_command_has_no_missing_folder(
    app: MemtuiApp, settle: Settle, tmp_path: Path
) -> None:
    gone = str(tmp_path / "gone")
    async with app.run_test() as pilot:
        await settle(pilot)
        command = ResumeCommand(("sh", "--resume", "x"), gone)
        app.push_screen(ResumeScreen(resume.check(command)))
        await settle(pilot)
        question = text_of(app, "#question")
        assert question.startswith(f"The folder {gone} does not exist any more.")
        assert question.endswith("\n\nsh --resume x")
        await press(pilot, settle, "c")
        assert app.clipboard == "sh --resume x"


async def test_slow_disk_does_not_block_resume_or_export(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, looked = threading.Event(), threading.Event()

    def hang(path: Path) -> bool:
        looked.set()
        return answers.wait(20) and False

    async with app.run_test() as pilot:
        await open_session(pilot, settle, whose=ConversationKey("claude-code", SHOP))
        monkeypatch.setattr("shutil.which", lambda program: hang(Path(program)))
        await pilot.press("r")
        assert looked.wait(5)
        assert isinstance(app.screen, ReaderScreen), "not before it is known"
        answers.set()
        await settle(pilot)
        assert isinstance(app.screen, ResumeScreen)
        await press(pilot, settle, "escape", "e")
        answers.clear()
        looked.clear()
        monkeypatch.setattr(Path, "is_dir", hang)
        await pilot.press("enter")
        assert looked.wait(5)
        assert isinstance(app.screen, ExportScreen)
        await pilot.press("escape")
        assert isinstance(app.screen, ReaderScreen)
        answers.set()
        await settle(pilot)


@pytest.mark.journey
async def test_export_asks_before_replacing_a_file(
    app: MemtuiApp, settle: Settle, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    async with app.run_test() as pilot:
        await open_session(pilot, settle, whose=ConversationKey("claude-code", SHOP))
        await press(pilot, settle, "e")
        assert isinstance(app.screen, ExportScreen)
        assert ".md" in app.screen.query_one(Input).render_line(0).text
        await press(pilot, settle, "enter")
        (file,) = tmp_path.glob("2024-01-15-*.md")
        assert "**09:02 you**" in file.read_text()
        assert notices(app) == [str(file)]
        file.write_text("mine")
        await press(pilot, settle, "e", "enter")
        assert text_of(app, "#how").startswith("This file exists.")
        await press(pilot, settle, "escape")
        assert file.read_text() == "mine"
        await press(pilot, settle, "e", "enter", "enter")
        assert "SESSION_TTL" in file.read_text()
        await press(pilot, settle, "o")
        assert notices(app)[-1].startswith("No editor is set. ")
        monkeypatch.setenv("EDITOR", "vim 'unbalanced")
        await press(pilot, settle, "o")
        assert notices(app)[-1].startswith("No editor is set. ")
        for name in ("~no-such-person/x.md", "x" * 300):
            await press(pilot, settle, "e")
            app.screen.query_one(Input).value = name
            await press(pilot, settle, "enter")
            assert text_of(app, "#how").startswith("This file cannot be written")
            await press(pilot, settle, "escape")


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("/usr/bin/nvim -R", ["/usr/bin/nvim", "-R", "+{line}", "{file}"]),
        ("code --wait", ["code", "--wait", "--goto", "{file}:{line}"]),
        ("other", ["other", "{file}"]),
    ],
)
async def test_editor_opens_at_the_selected_message(
    app: MemtuiApp,
    settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    command: str,
    arguments: list[str],
) -> None:
    commands: list[list[str]] = []
    monkeypatch.setenv("VISUAL", command)
    monkeypatch.setattr("tempfile.mkdtemp", lambda **_: str(tmp_path))
    monkeypatch.setattr(
        "memtui.tui.terminal.run", lambda _, argv, folder: commands.append([*argv])
    )
    async with app.run_test() as pilot:
        await open_session(pilot, settle, whose=ConversationKey("claude-code", SHOP))
        await press(pilot, settle, "end", "up", "up", "o")
        screen = app.screen
        assert isinstance(screen, ReaderScreen) and screen.view.current
        first = screen.view.current.event.text.splitlines()[0]
        (file,) = tmp_path.glob("*.md")
        lines = file.read_text().splitlines()
        (at,) = (number for number, line in enumerate(lines, 1) if first in line)
        # Its time and speaker stand above it.
        expected = [part.format(line=at - 2, file=file) for part in arguments]
        assert commands == [expected]
        assert lines[at - 3].startswith("**09:0")


async def test_forgotten_session_is_reported(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    long_session.store_session(300)
    app = app_of(workspace)
    async with app.run_test() as pilot:
        await open_session(pilot, settle)
        forget_mill()
        await press(pilot, settle, "end")
        assert text_of(app, "#nothing").startswith("This session has been deleted")
        await press(pilot, settle, "t", "y", "b", "space", "escape")
        assert isinstance(app.screen, ContentsScreen)


def forget_mill() -> None:
    """Have the session gone, as forgetting it leaves the store."""
    with database.transaction():
        database.db.execute_sql("INSERT INTO events_unlocked (id) VALUES (1)")
        database.db.execute_sql("DELETE FROM events")
        database.db.execute_sql("DELETE FROM sessions")
        database.db.execute_sql("DELETE FROM events_unlocked")


async def test_unreadable_session_is_reported_with_advice(
    workspace: Workspace, app_of: AppOf, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    long_session.store_session(10)

    def broken(*_: object) -> EventPosition:
        raise OSError("the disk is full")

    monkeypatch.setattr(conversation, "get_info", broken)
    app = app_of(workspace)
    async with app.run_test() as pilot:
        await open_session(pilot, settle)
        words = text_of(app, "#nothing")
        assert words.startswith("✗ This session could not be read: the disk is full")


def test_reading_around_a_place_uses_the_index(workspace: Workspace) -> None:
    asked = (
        "EXPLAIN QUERY PLAN SELECT id FROM events WHERE session_id = 1"
        " AND subagent = '' AND (at_ms, ordinal, id) < (5, 6, 'x')"
        " ORDER BY at_ms DESC, ordinal DESC, id DESC LIMIT 60"
    )
    with database.connection():
        plan = [row[3] for row in database.db.execute_sql(asked).fetchall()]
    assert len(plan) == 1 and "(at_ms,ordinal,id)<" in plan[0]


@pytest.mark.journey
async def test_messages_that_no_bullet_cites_become_bullets(
    workspace: Workspace, app_of: AppOf, settle: Settle
) -> None:
    key = ConversationKey("claude-code", "s1")
    store_messages(
        *(make_message(f"Count flock {at} of **owls**.", at) for at in range(4)),
        *(make_message(f"Flock {at}.", 9 + at, role=ASSISTANT) for at in range(3)),
    )
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    before = read_outline(key)
    assert [is_other for is_other, _ in before.uncited] == [False] * 3 + [True] * 2
    app = app_of(workspace)
    async with app.run_test(size=(120, 40)) as pilot:
        await open_session(pilot, settle, whose=key)
        await press(pilot, settle, "home", "p")
        assert view(app).cursor == before.uncited[0][1]
        title = app.screen.query_one(PaneTitle)
        assert title.info.startswith(f"not cited 1 of {len(before.uncited)} · ")
        await press(pilot, settle, "p")
        text, place = current_event(app).text, view(app).cursor
        assert place == before.uncited[1][1]
        await press(pilot, settle, "B")
        proposed = app.screen.query_one(Input).value
        assert (proposed, text) == (
            "Count flock 2 of owls.",
            "Count flock 2 of **owls**.",
        )
        await press(pilot, settle, "enter")
        assert place in view(app).marks[CITED]
        assert not title.info.startswith("not cited")
        texts = [bullet.text for bullet in read_outline(key).card.bullets]
        assert proposed in texts
        await press(pilot, settle, "p")
        assert view(app).cursor == before.uncited[2][1]
        total = len(before.uncited) - 1
        assert title.info.startswith(f"not cited 2 of {total} · ")
        # The last one is said to be it, and from elsewhere the first comes again.
        await press(pilot, settle, *"p" * total)
        assert notices(app)[-1] == "This is the last message that no bullet cites."
        await press(pilot, settle, "end", "p")
        assert view(app).cursor == before.uncited[0][1]


async def test_key_of_uncited_parts_is_that_of_matches_while_searching(
    app: MemtuiApp, settle: Settle
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        shop = ConversationKey("claude-code", SHOP)
        await open_session(pilot, settle, whose=shop)
        await press(pilot, settle, "slash", *"session", "enter", "n")
        second = view(app).cursor
        await press(pilot, settle, "p")
        first = view(app).cursor
        assert first and second and first < second
        await press(pilot, settle, "n")
        assert view(app).cursor == second


@pytest.mark.parametrize(
    ("size", "what"),
    [((80, 24), "read"), ((120, 40), "found"), ((200, 60), "read")],
    ids=str,
)
@pytest.mark.journey(only="(120, 40)-found")
def test_pictures(
    workspace: Workspace,
    app_of: AppOf,
    settle: Settle,
    snap_compare: Compare,
    size: tuple[int, int],
    what: str,
) -> None:
    long_session.store_session(400)

    async def run(pilot: Pilot[str | MemtuiError]) -> None:
        await open_session(pilot, settle, event_at(203))
        await press(pilot, settle, "space")
        if what == "found":
            await press(pilot, settle, "slash", *"ground", "enter", "n")

    assert snap_compare(app_of(workspace), terminal_size=size, run_before=run)


def test_picture_of_the_demo(
    full_workspace: Workspace,
    app_of: AppOf,
    settle: Settle,
    snap_compare: Compare,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(full_workspace, "is_demo", True)

    async def run(pilot: Pilot[str | MemtuiError]) -> None:
        await settle(pilot)
        await press(pilot, settle, "s", "enter")

    assert snap_compare(app_of(full_workspace), terminal_size=(120, 40), run_before=run)
