"""summaries → table of contents: dirty nodes are rolled up, the narrowest first.

It goes up from the days to the years once nothing below them waits, so that however
many segments arrive, each node above them is made once. Where they never cease to
arrive it goes up now and then.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, tzinfo

from memtui.model import calendar
from memtui.model.events import from_ms, to_ms
from memtui.model.nodes import TocLevel
from memtui.pipeline import summarization
from memtui.pipeline.retries import next_retry_ms, try_item
from memtui.pipeline.summarization import Made
from memtui.pipeline.worker import ChangedNodes
from memtui.store import database, jobs, nodes, outbox, rollup_queue, segments, versions
from memtui.summarize.summarizer import Summarizer

NODES_AT_ONCE = 20
"""How many nodes one step rolls up."""

PATIENCE_S = 10.0
"""How long it waits for what arrives to cease, in seconds."""

SHARE = 10
"""While more arrives, going up takes at most one part in this many of the time."""

UPWARDS = (TocLevel.DAY, TocLevel.WEEK, TocLevel.MONTH, TocLevel.YEAR)


class RollUp:
    """Rolls children's summaries up into their parent's."""

    def __init__(
        self,
        summarizer: Summarizer,
        zone: tzinfo,
        clock: Callable[[], datetime],
        is_more_read: Callable[[], bool] = lambda: False,
    ) -> None:
        """Remember who summarises.

        Args:
            summarizer: Who does.
            zone: The time zone whose days are meant.
            clock: The time, aware.
            is_more_read: Whether it is known that more events are coming.
        """
        self._summarizer, self._zone, self._clock = summarizer, zone, clock
        self._is_more_read = is_more_read
        self._upwards: Iterator[Sequence[str]] | None = None
        self._waits_since_s: float | None = None
        self._took_s = 0.0
        self.changed = ChangedNodes()

    def step(self) -> int:
        """Roll up a batch of dirty nodes of one level; how many were tried."""
        begun_s = time.monotonic()
        now_ms = to_ms(self._clock())
        if not (names := self._next(now_ms, begun_s)):
            return 0
        errors = [error for name in names if (error := self._tried(name, now_ms))]
        self.changed.update(names)
        self._took_s += time.monotonic() - begun_s
        if errors:
            raise RollUpFailed(calendar.period(names[0]).level.value) from errors[-1]
        return len(names)

    def _next(self, now_ms: int, now_s: float) -> Sequence[str]:
        """The next batch on the way up, or the first of another way; empty if none."""
        if self._upwards and (names := next(self._upwards, ())):
            return names
        self._upwards = None
        if not self._may_begin(now_ms, now_s):
            return ()
        self._upwards, self._waits_since_s, self._took_s = self._up(), None, 0.0
        return next(self._upwards, ())

    def _may_begin(self, now_ms: int, now_s: float) -> bool:
        """Whether to go up now: nothing more comes, or it was waited for too long."""
        with database.connection():
            if not any(rollup_queue.list_due(level, now_ms, 1) for level in UPWARDS):
                return False
            is_quiet = not (
                self._is_more_read()
                or segments.list_pending(now_ms, 1)
                or outbox.list_changed_sessions(1)
            )
        if self._waits_since_s is None:
            self._waits_since_s = now_s
        patience_s = max(PATIENCE_S, self._took_s * SHARE)
        return is_quiet or now_s - self._waits_since_s >= patience_s

    def _up(self) -> Iterator[Sequence[str]]:
        """What is dirty, level by level; what becomes so on the way waits its turn."""
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

    def _tried(self, name: str, now_ms: int) -> Exception | None:
        result = try_item(lambda: self._roll_up(name, now_ms))
        if not isinstance(result, Exception):
            return None
        with database.transaction():
            rollup_queue.set_failed(
                name, next_retry_ms(rollup_queue.count_attempts(name), now_ms)
            )
        return result

    def _roll_up(self, name: str, now_ms: int) -> None:
        with database.connection():
            work = summarization.parent(name, self._zone)
            before = versions.get_input_hashes([name])
        if not work.children:
            self._keep(None, name, now_ms)
            return
        identity = self._summarizer.identity
        digest = work.input_hash(identity)
        if before.get(name) == digest:
            with database.transaction():
                rollup_queue.set_done(name, is_live=work.is_live)
            return
        draft = work.draft(self._summarizer)
        self._keep(work.made(draft, identity, digest, draft.title), name, now_ms)

    def _keep(self, made: Made | None, name: str, now_ms: int) -> None:
        with database.transaction():
            if made:
                versions.add([(made.node, made.is_live)], now_ms)
            else:
                nodes.delete([name])
            outbox.add_nodes([name], now_ms)
            if above := calendar.parent_id(name):
                rollup_queue.add([above], self._zone)
                self.changed.update([above])
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


class RollUpFailed(Exception):
    """A node could not be rolled up; it is tried again later."""
