"""Cut sessions with new events into segments (events → segments).

Where a segment ends depends on nothing before its first event. So only the segments
from the one before the earliest new event on are cut again.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta, tzinfo

from memtui.model import calendar
from memtui.model.events import Event, to_ms
from memtui.store import database, events, nodes, outbox, rollup_queue, segments
from memtui.store.outbox import ChangedSession
from memtui.store.segments import SegmentRange
from memtui.summarize import segmenter
from memtui.summarize.segmenter import SegmentRules

SESSIONS_AT_ONCE = 20
"""Sessions per transaction."""


class SegmentationStage:
    """Cuts sessions into segments."""

    def __init__(
        self,
        rules: SegmentRules,
        zone: tzinfo,
        clock: Callable[[], datetime],
        *,
        with_subagents: bool = False,
    ) -> None:
        self._rules, self._zone, self._clock = rules, zone, clock
        self._with_subagents = with_subagents

    def step(self) -> int:
        """Cut a batch of sessions, close silent segments; return how many changed."""
        now = self._clock()
        silent = now - timedelta(seconds=self._rules.max_gap_s)
        with database.connection():
            if not outbox.list_changed_sessions(1) and not segments.has_silent(
                to_ms(silent)
            ):
                return 0
        with database.transaction():
            done = segments.close_silent(to_ms(silent))
            for touched in outbox.list_changed_sessions(SESSIONS_AT_ONCE):
                self._segment_session(touched, now)
                outbox.delete_session(touched)
                done += 1
        return done

    def _segment_session(self, session: ChangedSession, now: datetime) -> None:
        from_ms = segments.find_safe_start(session.number, session.start_ms)
        recent_events = events.outline(session.number, start_ms=from_ms)
        main = [
            event
            for event in recent_events
            if self._with_subagents or not event.subagent
        ]
        subagent_times = [
            event.timestamp_ms
            for event in recent_events
            if event.subagent and not self._with_subagents
        ]
        runs = segmenter.split_events(main, self._rules)
        new_segments = list(self._ranges(session.number, runs, subagent_times, now))
        before = {
            known.segment_id: known
            for known in segments.list_since(session.number, from_ms)
        }
        after = {known.segment_id for known in new_segments}
        gone = [name for name in before if name not in after]
        segments.delete(gone)
        nodes.delete(gone)
        changed = [
            known for known in new_segments if before.get(known.segment_id) != known
        ]
        segments.save(changed)
        # What comes before a segment names the work it continues: summarize again all
        # that follow the first change.
        starts = [one.start_ms for one in (*changed, *(before[name] for name in gone))]
        segments.request_summaries(
            one.segment_id
            for one in new_segments
            if starts and one.start_ms > min(starts)
        )
        outbox.add_nodes(gone, to_ms(now))
        rollup_queue.add({_day_of(name) for name in gone}, self._zone)

    def _ranges(
        self,
        number: int,
        runs: Sequence[Sequence[Event]],
        subagent_times: Sequence[int],
        now: datetime,
    ) -> Iterator[SegmentRange]:
        for place, run in enumerate(runs):
            is_last = place == len(runs) - 1
            first, last = run[0], run[-1]
            beyond = len(subagent_times)
            if not is_last:
                beyond = bisect_left(subagent_times, runs[place + 1][0].timestamp_ms)
            day = calendar.local_day(first.timestamp, self._zone)
            yield SegmentRange(
                segment_id=calendar.segment_id(day, first.event_id),
                number=number,
                first_id=first.event_id,
                last_id=last.event_id,
                start_ms=first.timestamp_ms,
                end_ms=last.timestamp_ms,
                tokens=sum(event.tokens for event in run),
                events=len(run),
                messages=sum(event.is_message for event in run),
                subagent_events=beyond
                - bisect_left(subagent_times, first.timestamp_ms),
                is_open=is_last and not segmenter.is_finished(run, now, self._rules),
            )


def _day_of(segment_id: str) -> str:
    return str(calendar.parent_id(segment_id))
