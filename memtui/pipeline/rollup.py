"""Roll summaries up into the table of contents.

Days are summarized from their segments, weeks and months from their days, years from
their months.

A roll-up starts when no segment is pending, so that each node above is made once
however many segments arrive. While segments keep arriving it starts now and then.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, tzinfo

from memtui.model import calendar
from memtui.model.events import from_ms, to_ms
from memtui.model.nodes import TocLevel
from memtui.pipeline import summarization
from memtui.pipeline.summarization import NewVersion
from memtui.pipeline.worker import ChangedNodes, try_item
from memtui.store import database, jobs, nodes, outbox, rollup_queue, segments, versions
from memtui.summarize.summarizer import Summarizer

NODES_AT_ONCE = 20
"""Nodes per step."""

PATIENCE_S = 10.0
"""Seconds to wait for pending segments."""

MAX_SHARE = 10
"""While segments keep arriving, roll-ups take at most 1/MAX_SHARE of the time."""

UPWARDS = (TocLevel.DAY, TocLevel.WEEK, TocLevel.MONTH, TocLevel.YEAR)


class RollupStage:
    """Makes the summaries of nodes from those of their parts."""

    def __init__(
        self,
        summarizer: Summarizer,
        zone: tzinfo,
        clock: Callable[[], datetime],
        is_more_read: Callable[[], bool] = lambda: False,
    ) -> None:
        self._summarizer, self._zone, self._clock = summarizer, zone, clock
        self._is_more_read = is_more_read
        self._walk: Iterator[Sequence[str]] | None = None
        self._waiting_since_s: float | None = None
        self._spent_s = 0.0
        self.changed = ChangedNodes()

    def step(self) -> int:
        """Roll up a batch of nodes of one level; return how many were tried."""
        begun_s = time.monotonic()
        now_ms = to_ms(self._clock())
        if not (names := self._next(now_ms, begun_s)):
            return 0
        errors = [error for name in names if (error := self._try_roll_up(name, now_ms))]
        self.changed.update(names)
        self._spent_s += time.monotonic() - begun_s
        if errors:
            raise RollupFailedError(calendar.period(names[0]).level.value) from errors[
                -1
            ]
        return len(names)

    def _next(self, now_ms: int, now_s: float) -> Sequence[str]:
        """Return the next batch of nodes; empty if there is none."""
        if self._walk and (names := next(self._walk, ())):
            return names
        self._walk = None
        if not self._can_start(now_ms, now_s):
            return ()
        self._walk, self._waiting_since_s, self._spent_s = self._walk_up(), None, 0.0
        return next(self._walk, ())

    def _can_start(self, now_ms: int, now_s: float) -> bool:
        """Return whether nothing more is pending, or has been for too long."""
        with database.connection():
            if not any(rollup_queue.list_due(level, now_ms, 1) for level in UPWARDS):
                return False
            is_quiet = not (
                self._is_more_read()
                or segments.list_pending(now_ms, 1)
                or outbox.list_changed_sessions(1)
            )
        if self._waiting_since_s is None:
            self._waiting_since_s = now_s
        patience_s = max(PATIENCE_S, self._spent_s * MAX_SHARE)
        return is_quiet or now_s - self._waiting_since_s >= patience_s

    def _walk_up(self) -> Iterator[Sequence[str]]:
        """Yield the queued nodes, level by level from the days up."""
        for level in UPWARDS:
            after_ms: int | None = None
            while True:
                now_ms = to_ms(self._clock())
                with database.connection():
                    names = rollup_queue.list_due(
                        level, now_ms, NODES_AT_ONCE, after_ms=after_ms
                    )
                if not names:
                    break
                after_ms = to_ms(calendar.bounds(names[-1], self._zone)[0])
                yield names

    def _try_roll_up(self, name: str, now_ms: int) -> Exception | None:
        result = try_item(lambda: self._roll_up(name, now_ms))
        if not isinstance(result, Exception):
            return None
        with database.transaction():
            rollup_queue.set_failed(name, now_ms)
        return result

    def _roll_up(self, name: str, now_ms: int) -> None:
        with database.connection():
            work = summarization.read_parent_work(name, self._zone)
            before = versions.get_input_hashes([name])
        if not work.children:
            self._save(None, name, now_ms)
            return
        identity = self._summarizer.identity
        digest = work.input_hash(identity)
        if before.get(name) == digest:
            with database.transaction():
                rollup_queue.set_done(name, is_live=work.is_live)
            return
        draft = work.draft(self._summarizer)
        self._save(work.make_version(draft, identity, digest), name, now_ms)

    def _save(self, made: NewVersion | None, name: str, now_ms: int) -> None:
        with database.transaction():
            if made:
                versions.add([(made.node, made.is_live)], now_ms)
            else:
                nodes.delete([name])
            outbox.add_nodes([name], now_ms)
            above = calendar.rolled_into(name)
            rollup_queue.add(above, self._zone)
            self.changed.update(above)
            self._checkpoint(name, now_ms)

    def _checkpoint(self, name: str, now_ms: int) -> None:
        level = calendar.period(name).level
        job = f"rollup_{level}"
        before = jobs.get_checkpoint(job)
        jobs.save_checkpoint(
            jobs.Checkpoint(
                job_name=job,
                level=level,
                last_processed_time=calendar.bounds(name, self._zone)[1],
                processed_count=(before.processed_count if before else 0) + 1,
                created_at=from_ms(now_ms),
            )
        )


class RollupFailedError(Exception):
    """A node could not be rolled up; it will be tried again."""
