"""The parts that tests of the app share: types of fixtures, and keys to press."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from textual.app import App
from textual.pilot import Pilot

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


async def press(pilot: Pilot[str | MemtuiError], settle: Settle, *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


def steps(settle: Settle, *keys: str, told: PipelineProgress | None = None) -> Run:
    """Return what opens the app, reports progress and presses keys."""

    async def run(pilot: Pilot[str | MemtuiError]) -> None:
        await settle(pilot)
        if told is not None:
            pilot.app.post_message(ProgressReported(told))
        await press(pilot, settle, *keys)

    return run


def notices(app: MemtuiApp) -> list[str]:
    return [notice.message for notice in app._notifications]
