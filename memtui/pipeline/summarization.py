"""Summarize segments, describe their sessions, and roll up days and longer periods.

An extract is made for each segment at once. What its session is called and what came
of it is decided again as soon as no segment of it is pending.
"""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import tzinfo
from functools import partial

from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.events import from_ms, to_ms
from memtui.model.work import Facts
from memtui.pipeline.config import PipelineConfig
from memtui.pipeline.progress import ChangedNodes
from memtui.pipeline.versions import (
    NewVersion,
    SegmentInput,
    read_parent_input,
    read_segment_input,
)
from memtui.pipeline.worker import try_item
from memtui.store import (
    database,
    jobs,
    judgements,
    meta,
    nodes,
    queues,
    segments,
    sessions,
    versions,
    work,
)
from memtui.summarize.facts import read_facts
from memtui.summarize.grounding import checks
from memtui.summarize.sessions import describe


def update_sessions(numbers: Collection[int], zone: tzinfo) -> None:
    """Decide again what sessions are called and what came of them."""
    for number, session in sessions.get_many(numbers).items():
        work.save_work(number, describe(number, session), zone)


SEGMENTS_AT_ONCE = 20


class SummaryStage:
    """Summarizes pending segments, and describes their sessions."""

    def __init__(self, config: PipelineConfig, changed: ChangedNodes) -> None:
        self._summarizer = config.summarizer
        self._zone, self._clock, self._changed = config.zone, config.clock, changed
        self._is_renewed = False

    def step(self) -> int:
        """Summarize a batch of segments; return how many were tried."""
        if not self._is_renewed:
            self._request_outdated()
        now_ms = to_ms(self._clock())
        with database.connection():
            waiting = segments.list_pending(now_ms, SEGMENTS_AT_ONCE)
            session_rows = sessions.get_many(
                {bounds.session_number for bounds in waiting}
            )
            inputs = [
                (bounds, read_segment_input(bounds, session_rows)) for bounds in waiting
            ]
        if not inputs:
            return 0
        new_versions: list[NewVersion] = []
        facts: dict[str, Facts] = {}
        done = [bounds for bounds, item in inputs if item is None]
        failed: list[tuple[SegmentInput, Exception]] = []
        for item in (item for _, item in inputs if item):
            result = try_item(partial(self._make, item))
            if isinstance(result, Exception):
                failed.append((item, result))
            else:
                version, facts[item.name] = result
                new_versions.append(version)
                done.append(item.range)
        with database.transaction():
            self._save(new_versions, now_ms)
            work.save_facts(facts)
            segments.set_summarized(done)
            for item, _ in failed:
                segments.set_failed(item.name, now_ms)
            # An update reads the facts of all segments. The last pending one brings it
            # about even if this process ends before.
            numbers = {
                bounds.session_number
                for bounds in waiting
                if not segments.has_pending(bounds.session_number, now_ms)
            }
            update_sessions(numbers, self._zone)
            self._mark_parents([bounds.segment_id for bounds in waiting])
        if failed:
            item, error = failed[-1]
            message = f"{item.name} cannot be summarized: {error}"
            raise SummaryFailedError(message) from error
        return len(inputs)

    def _request_outdated(self) -> None:
        """At the start, request summaries again that were made by other rules."""
        rules = f"{self._summarizer.identity} {checks.VERSION}"
        with database.connection():
            if meta.read(meta.SUMMARY_RULES) != rules:
                with database.transaction():
                    segments.request_all_summaries()
                    queues.add_all_rollups()
                    meta.write(meta.SUMMARY_RULES, rules)
        self._is_renewed = True

    def _make(self, item: SegmentInput) -> tuple[NewVersion, Facts]:
        facts = judgements.judge_facts(read_facts(item.events), item.judgements)
        draft = self._summarizer.summarize_events(
            item.events, facts, earlier_request=item.earlier_request
        )
        return item.make_version(draft, facts, self._summarizer.identity), facts

    def _save(self, new_versions: Sequence[NewVersion], now_ms: int) -> None:
        before = versions.get_input_hashes(
            [version.node.node_id for version in new_versions]
        )
        changed = []
        for version in new_versions:
            name = version.node.node_id
            if before.get(name) == version.node.input_hash:
                queues.set_rolled_up(name)
            else:
                changed.append(version)
        versions.add_grips([grip for version in changed for grip in version.grips])
        versions.add([version.node for version in changed], now_ms)
        queues.add_nodes([version.node.node_id for version in changed], now_ms)

    def _mark_parents(self, names: Sequence[str]) -> None:
        days = {str(calendar.parent_id(name)) for name in names}
        queues.add_rollups(days, self._zone)
        self._changed.update(
            names, (ancestor for day in days for ancestor in calendar.path(day))
        )


class SummaryFailedError(Exception):
    """A segment could not be summarized; it will be tried again."""


# Roll-ups: days are summarized from their segments, weeks and months from their days,
# years from their months. They start when no segment is pending, so that each node is
# made once however many segments arrive; while segments keep arriving, now and then.

NODES_AT_ONCE = 20

PATIENCE_S = 10.0
"""Seconds to wait for pending segments."""

MAX_SHARE = 10
"""While segments keep arriving, roll-ups take at most 1/MAX_SHARE of the time."""

UPWARDS = (TocLevel.DAY, TocLevel.WEEK, TocLevel.MONTH, TocLevel.YEAR)


class RollupStage:
    """Makes the summaries of nodes from those of their parts."""

    def __init__(
        self,
        config: PipelineConfig,
        changed: ChangedNodes,
        *,
        is_more_read: Callable[[], bool],
    ) -> None:
        self._summarizer, self._zone = config.summarizer, config.zone
        self._clock, self._changed = config.clock, changed
        self._is_more_read = is_more_read
        self._walk: Iterator[Sequence[str]] | None = None
        self._waiting_since_s: float | None = None
        self._spent_s = 0.0

    def step(self) -> int:
        """Roll up a batch of nodes of one level; return how many were tried."""
        begun_s = time.monotonic()
        now_ms = to_ms(self._clock())
        if not (names := self._next(now_ms, begun_s)):
            return 0
        errors = {
            name: error for name in names if (error := self._try_roll_up(name, now_ms))
        }
        self._changed.update(names)
        self._spent_s += time.monotonic() - begun_s
        if errors:
            name, error = errors.popitem()
            raise RollupFailedError(f"{name} cannot be rolled up: {error}") from error
        return len(names)

    def _next(self, now_ms: int, now_s: float) -> Sequence[str]:
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
            if not any(queues.list_due_rollups(level, now_ms, 1) for level in UPWARDS):
                return False
            is_quiet = not (
                self._is_more_read()
                or segments.list_pending(now_ms, 1)
                or queues.list_changed_sessions(1)
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
                    names = queues.list_due_rollups(
                        level, now_ms, NODES_AT_ONCE, after_ms=after_ms
                    )
                if not names:
                    break
                after_ms = to_ms(calendar.bounds(names[-1], self._zone)[0])
                yield names

    def _try_roll_up(self, name: str, now_ms: int) -> Exception | None:
        error = try_item(lambda: self._roll_up(name, now_ms))
        if error:
            with database.transaction():
                queues.set_rollup_failed(name, now_ms)
        return error

    def _roll_up(self, name: str, now_ms: int) -> None:
        with database.connection():
            source = read_parent_input(name, self._zone)
            before = versions.get_input_hashes([name])
        if not source.children:
            self._save(None, name, now_ms)
            return
        identity = self._summarizer.identity
        digest = source.input_hash(identity)
        if before.get(name) == digest:
            with database.transaction():
                queues.set_rolled_up(name)
            return
        draft = source.draft(self._summarizer)
        with database.connection():
            version = source.make_version(draft, identity, digest)
        self._save(version, name, now_ms)

    def _save(self, version: NewVersion | None, name: str, now_ms: int) -> None:
        with database.transaction():
            if version:
                versions.add([version.node], now_ms)
            else:
                nodes.delete([name])
            queues.add_nodes([name], now_ms)
            above = calendar.rolled_into(name)
            queues.add_rollups(above, self._zone)
            self._changed.update(above)
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
