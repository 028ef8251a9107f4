"""Lists the claims of summaries for an audit, the worst first, and counts them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Any

from memtui.errors import MemtuiError
from memtui.model import calendar
from memtui.model.audit import AuditQuery, ClaimCount, ClaimGroup, ClaimRow
from memtui.model.calendar import TocLevel
from memtui.model.events import to_ms
from memtui.model.judgements import Claim, Judgement, Ruling
from memtui.model.nodes import DAY_SESSION_PREFIX, Bullet, BulletKind, TocNode
from memtui.model.sessions import Session
from memtui.model.verdicts import SUPPORTED
from memtui.store import audit as store_audit
from memtui.store import database, judgements, nodes, segments, sessions, work

PAGE_SIZE = 500
"""The claims that are listed at once."""


@dataclass(frozen=True, slots=True)
class AuditTotals:
    """The numbers of claims."""

    counts: Sequence[ClaimCount]

    def sum_by(self, name: str) -> Counter[Any]:
        """Return the claims by a field of ``ClaimCount``, if it is set."""
        totals = Counter[Any]()
        for row in self.counts:
            if (value := getattr(row, name)) not in ("", None):
                totals[value] += row.count
        return totals

    @property
    def total(self) -> int:
        return sum(row.count for row in self.counts)

    @property
    def judged(self) -> int:
        return self.sum_by("ruling").total()

    @property
    def supported(self) -> int:
        """The claims that are supported, unless rejected, or that were accepted."""
        good = ClaimGroup.BY_MODEL, ClaimGroup.FACT
        return sum(
            row.count
            for row in self.counts
            if (row.ruling or row.group in good) and row.ruling is not Ruling.REJECTED
        )

    @property
    def supported_percent(self) -> float:
        return 100 * self.supported / self.total if self.total else 100.0


@dataclass(frozen=True, slots=True)
class ClaimDetails:
    """A claim with what is shown beside it."""

    bullet: Bullet
    claim: Claim
    page: str
    """The page on which it is judged."""
    title: str
    """The name of its session, or the title of its period."""
    model: str
    event_id: str
    """The event that shows it, if it has no grip."""
    history: tuple[Judgement, ...]
    """All that was said of it, the latest first."""


def narrow(query: AuditQuery, name: str, zone: tzinfo) -> AuditQuery:
    """Return a query of the claims of a node and below it, or of a session.

    Raises:
        MemtuiError: There is no node and no session of that name.
    """
    with database.connection():
        name = nodes.resolve_id(name)
        try:
            is_segment = calendar.period(name).level is TocLevel.SEGMENT
        except ValueError:
            agent, _, session_id = _session_name(name).partition(":")
            if sessions.get_number(agent, session_id) is None:
                raise MemtuiError(f"there is no node and no session {name}") from None
            return replace(query, session=f"{agent}:{session_id}")
        if is_segment:
            subject = judgements.find_subjects([name])[name]
            return replace(query, session=subject)
    start, end = calendar.bounds(name, zone)
    return replace(query, start_ms=to_ms(start), end_ms=to_ms(end))


def _session_name(name: str) -> str:
    """Return ``agent:id`` of the page of a session of a day."""
    if not name.startswith(DAY_SESSION_PREFIX):
        return name
    return name.removeprefix(DAY_SESSION_PREFIX).partition(":")[2].replace("/", ":", 1)


def list_claims(query: AuditQuery, limit: int) -> list[ClaimRow]:
    """Return claims: those without a judgement first, the worst first."""
    with database.connection():
        return store_audit.list_claims(query, limit)


def count_claims(query: AuditQuery) -> AuditTotals:
    with database.connection():
        return AuditTotals(store_audit.count_claims(query))


def read_claim(row: ClaimRow) -> ClaimDetails | None:
    """Return a claim with its bullet; None if it does not exist any more."""
    with database.connection():
        node = _find_node(row)
        session = _find_session(row)
        page, subject = row.node_id, row.node_id
        if node is None:
            page = f"{DAY_SESSION_PREFIX}:{row.node_id.replace(':', '/', 1)}"
        else:
            subject = judgements.find_subjects([node.node_id])[node.node_id]
        claim = Claim(subject, row.kind, row.text)
        history = judgements.list_history(claim)
        bullet, event_id = _find_bullet(row, claim, node, session, history)
        if bullet is None:
            return None
        return ClaimDetails(
            bullet,
            claim,
            page,
            title=session.title if session else node.title if node else "",
            model=node.generation.model if node else "",
            event_id=event_id,
            history=tuple(history),
        )


def find_claim(row: ClaimRow) -> ClaimDetails:
    """Return a claim with its bullet.

    Raises:
        MemtuiError: It does not exist any more.
    """
    if claim := read_claim(row):
        return claim
    raise MemtuiError("this claim does not exist any more")


def _find_node(row: ClaimRow) -> TocNode | None:
    if row.group is ClaimGroup.REJECTED_VERSION:
        return nodes.get_version(row.node_id, row.version)
    return nodes.get(row.node_id)


def _find_session(row: ClaimRow) -> Session | None:
    numbers = set(segments.get_sessions([row.node_id]).values())
    if not numbers:
        number = sessions.get_number(*row.node_id.split(":", 1))
        numbers = set() if number is None else {number}
    return next(iter(sessions.get_many(numbers).values()), None)


def _find_bullet(
    row: ClaimRow,
    claim: Claim,
    node: TocNode | None,
    session: Session | None,
    history: Sequence[Judgement],
) -> tuple[Bullet | None, str]:
    """Return the bullet of a claim, and an event that shows it."""
    if node is not None:
        every = (*node.bullets, *node.further, *node.withheld)
        for bullet in every:
            if (bullet.kind, bullet.claim_text) == (row.kind, row.text):
                return bullet, ""
    judgement = judgements.find(claim)
    if node is not None:
        # It is only on the page of the session, or not any more on this one.
        return (judgements.make_bullet(judgement) if judgement else None), ""
    if session is None:
        return None, ""
    sources = {line.text: line.event_id for line in session.work.left_open}
    if row.kind == BulletKind.STATE:
        sources = {row.text: session.work.state_event_id}
    text = judgement.text if judgement else row.text
    # One that was rejected until now is not in the work of the session yet.
    judged = [judgement, *history] if judgement else history
    event_ids = (event_id for before in judged for event_id in before.event_ids)
    event_id = sources.get(text) or next(event_ids, "")
    grips = work.find_grips([event_id])
    return Bullet(
        text,
        tuple(grips.values()),
        SUPPORTED,
        BulletKind(row.kind),
        session.project,
        session.session_id,
        judgement,
    ), event_id
