"""Measure the delays of an event loop, with a task that tries to run all the time.

The time that the loop's own thread computes meanwhile is measured, too; the rest of a
delay is caused by other threads or programs.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

TICK_S = 0.005
"""How often it wants to run, in seconds."""


@dataclass
class Stalls:
    """How late it was, in milliseconds, and for how many of them the loop computed."""

    late_ms: list[float] = field(default_factory=list)
    own_ms: list[float] = field(default_factory=list)
    took_ms: list[float] = field(default_factory=list)
    """How long each of the things took that were done meanwhile."""

    def row(self) -> str:
        """Median, 99th of hundred and the most of them."""
        late = sorted(self.late_ms)
        cells = (
            late[len(late) // 2],
            late[min(int(len(late) * 0.99), len(late) - 1)],
            late[-1],
            max(self.own_ms),
            sum(self.took_ms) / len(self.took_ms),
        )
        return "".join(f"{cell:>9.1f}" for cell in cells)


@asynccontextmanager
async def watched(stalls: Stalls) -> AsyncIterator[None]:
    """Note all delays while something is done."""
    ticking = asyncio.create_task(_tick(stalls))
    begun_s = time.perf_counter()
    try:
        yield
    finally:
        await asyncio.sleep(TICK_S)  # a delay that is under way is noted too
        stalls.took_ms.append((time.perf_counter() - begun_s) * 1000)
        ticking.cancel()


async def _tick(stalls: Stalls) -> None:
    while True:
        due_s, used_s = time.perf_counter() + TICK_S, time.thread_time()
        await asyncio.sleep(TICK_S)
        stalls.late_ms.append((time.perf_counter() - due_s) * 1000)
        stalls.own_ms.append((time.thread_time() - used_s) * 1000)
