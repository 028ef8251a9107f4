"""summaries → table of contents: dirty nodes are rolled up, the narrowest first.

A level is begun when nothing below it waits, so that however many segments arrive,
each node above them is made once. A bullet inherits the grips of the children's
bullets it was made from.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, tzinfo

from memtui.llm import Summarizer
from memtui.memory import calendar, hashes
from memtui.memory.events import from_ms, to_ms
from memtui.memory.summaries import Claim, sane
from memtui.memory.toc import KEYWORDS, Bullet, Status, Tally, TocLevel, TocNode
from memtui.stages.failures import attempted, retry_ms
from memtui.store import checkpoints, database, dirty, outbox, segments, toc, versions

NODES_AT_ONCE = 20
"""How many nodes one step rolls up."""

UPWARDS = (TocLevel.DAY, TocLevel.WEEK, TocLevel.MONTH, TocLevel.YEAR)


class RollUp:
    """Rolls children's summaries up into their parent's."""

    def __init__(
        self, summarizer: Summarizer, zone: tzinfo, clock: Callable[[], datetime]
    ) -> None:
        """Remember who summarises."""
        self._summarizer, self._zone, self._clock = summarizer, zone, clock
        self.changed: set[str] = set()
        """Nodes that have changed since somebody last emptied this set."""

    def step(self) -> int:
        """Roll up a batch of nodes of the lowest dirty level; how many were tried."""
        now_ms = to_ms(self._clock())
        with database.connected():
            if segments.waiting(now_ms, 1) or outbox.touched_sessions(1):
                return 0
            for level in UPWARDS:
                if names := dirty.of_level(level, now_ms, NODES_AT_ONCE):
                    break
            else:
                return 0
        errors = [error for name in names if (error := self._tried(name, now_ms))]
        self.changed.update(names)
        if errors:
            raise RollUpFailed(level.value) from errors[-1]
        return len(names)

    def _tried(self, name: str, now_ms: int) -> Exception | None:
        result = attempted(lambda: self._roll_up(name, now_ms))
        if not isinstance(result, Exception):
            return None
        with database.writing():
            dirty.failed(name, retry_ms(dirty.attempts(name), now_ms))
        return result

    def _roll_up(self, name: str, now_ms: int) -> None:
        with database.connected():
            ids = toc.child_ids(name)
            children = [c for c in toc.nodes(ids) if c.status is not Status.PENDING]
            is_live = bool(toc.live_among(ids))
            before = toc.node(name)
        if not children:
            self._keep(None, name, now_ms, is_live=False)
            return
        digest = _hash(self._summarizer.identity, children, is_live=is_live)
        if before and before.input_hash == digest:
            with database.writing():
                dirty.settled(name, is_live=is_live)
            return
        self._keep(self._node(name, children, digest, is_live), name, now_ms, is_live)

    def _node(
        self, name: str, children: Sequence[TocNode], digest: str, is_live: bool
    ) -> TocNode:
        level = calendar.period(name).level
        summary = sane(self._summarizer.summarize_children(level, children))
        start, end = calendar.bounds(name, self._zone)
        return TocNode(
            node_id=name,
            level=level,
            title=calendar.title(name),
            start_time=start,
            end_time=end,
            bullets=_inherit(summary.bullets, children),
            keywords=summary.keywords[: KEYWORDS[level]],
            child_node_ids=tuple(child.node_id for child in children),
            headline=summary.title,
            status=Status.PROVISIONAL if is_live else Status.CURRENT,
            summarizer=self._summarizer.identity,
            input_hash=digest,
            tally=_sum(child.tally for child in children),
            agents=_all(child.agents for child in children),
            projects=_all(child.projects for child in children),
        )

    def _keep(
        self, node: TocNode | None, name: str, now_ms: int, is_live: bool
    ) -> None:
        with database.writing():
            if node:
                versions.put([(node, is_live)], now_ms)
            else:
                toc.retire([name])
            outbox.announce([name], now_ms)
            if above := calendar.parent_id(name):
                dirty.mark([above], self._zone)
                self.changed.add(above)
            self._checkpoint(name, now_ms)

    def _checkpoint(self, name: str, now_ms: int) -> None:
        level = calendar.period(name).level
        job = f"rollup_{level}"
        before = checkpoints.get(job)
        checkpoints.put(
            checkpoints.Checkpoint(
                job_name=job,
                level=level,
                last_processed_time=calendar.bounds(name, self._zone)[1],
                processed_count=(before.processed_count if before else 0) + 1,
                created_at=from_ms(now_ms),
            )
        )


class RollUpFailed(Exception):
    """A node could not be rolled up; it is tried again later."""


def _inherit(
    claims: Sequence[Claim], children: Sequence[TocNode]
) -> tuple[Bullet, ...]:
    """Bullets with the grips of the children's bullets they name."""
    row = [bullet for child in children for bullet in child.bullets]
    return tuple(
        Bullet(
            claim.text,
            tuple(
                dict.fromkeys(
                    name
                    for place in claim.refs
                    if 0 <= place < len(row)
                    for name in row[place].grip_ids
                )
            ),
        )
        for claim in claims
    )


def _sum(tallies: Iterable[Tally]) -> Tally:
    rows = list(tallies)
    return Tally(
        segments=sum(row.segments for row in rows),
        events=sum(row.events for row in rows),
        messages=sum(row.messages for row in rows),
        subagent_events=sum(row.subagent_events for row in rows),
    )


def _all(names: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(sorted({name for some in names for name in some}))


def _hash(identity: str, children: Sequence[TocNode], *, is_live: bool) -> str:
    made_of = (f"{child.node_id} {child.input_hash}" for child in children)
    return hashes.of(identity, str(is_live), *made_of)
