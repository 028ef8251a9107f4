"""The parts that tests of the app share: types of fixtures, and keys to press."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from textual.app import App
from textual.pilot import Pilot
from textual.widgets._footer import FooterKey

from memtui.errors import MemtuiError
from memtui.pipeline.progress import PipelineProgress
from memtui.tui.app import MemtuiApp
from memtui.tui.messages import ProgressReported
from memtui.workspace import Workspace

AppOf = Callable[[Workspace], MemtuiApp]
Run = Callable[[Pilot[str | MemtuiError]], Awaitable[None]]
Settle = Run
"""Waits until all that was asked for is shown."""


class Compare(Protocol):
    def __call__(
        self,
        app: App[str | MemtuiError],
        *,
        terminal_size: tuple[int, int],
        run_before: Run,
    ) -> bool: ...


async def wait_for_refresh(pilot: Pilot[str | MemtuiError]) -> None:
    """Wait until the screen is drawn and all that was to follow has been called.

    ``pilot.pause`` waits for messages, not for the callbacks of ``call_after_refresh``,
    which may ask for another refresh in turn.
    """
    await pilot.pause()
    for _ in range(3):
        refreshed = asyncio.Event()
        pilot.app.call_after_refresh(refreshed.set)
        while pilot.app.is_running and not refreshed.is_set():
            await asyncio.sleep(0.001)
    await pilot.pause()


async def press(pilot: Pilot[str | MemtuiError], settle: Settle, *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


def steps(settle: Settle, *keys: str, progress: PipelineProgress | None = None) -> Run:
    """Return what opens the app, reports progress and presses keys."""

    async def run(pilot: Pilot[str | MemtuiError]) -> None:
        await settle(pilot)
        if progress is not None:
            pilot.app.post_message(ProgressReported(progress))
        await press(pilot, settle, *keys)

    return run


def notices(app: MemtuiApp) -> list[str]:
    return [notice.message for notice in app._notifications]


def footer_keys(app: App[str | MemtuiError]) -> list[str]:
    """Return the keys in the footer, as they are displayed."""
    return [key.key_display for key in app.screen.query(FooterKey)]
