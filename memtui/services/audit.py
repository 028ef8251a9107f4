"""Lists the claims of summaries for an audit, the worst first, and counts them."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Any

from memtui.errors import MemtuiError
from memtui.model import calendar, citations
from memtui.model.audit import AuditQuery, ClaimCount, ClaimGroup, ClaimRow
from memtui.model.events import to_ms
from memtui.model.judgements import Claim, Judgement, Ruling
from memtui.model.nodes import Bullet
from memtui.services import judging
from memtui.store import audit as store_audit
from memtui.store import database, judgements, nodes, segments, sessions

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
    """The event that shows it, if it is known."""
    history: tuple[Judgement, ...]
    """All that was said of it, the latest first."""


def narrow(query: AuditQuery, name: str, zone: tzinfo) -> AuditQuery:
    """Return a query of the claims of a node and below it, or of a session.

    Raises:
        MemtuiError: There is no node and no session of that name.
    """
    with database.connection():
        subject = judging.find_subject(nodes.resolve_id(name))
        agent, _, session_id = subject.partition(":")
        if sessions.get_number(agent, session_id) is not None:
            return replace(query, session=subject)
        with suppress(ValueError):
            start, end = map(to_ms, calendar.bounds(subject, zone))
            is_segment = subject.startswith(citations.SEGMENT_PREFIX)
            parts = [] if is_segment else segments.list_overlapping(start, end)
            if parts or nodes.is_stored(subject):
                return replace(query, start_ms=start, end_ms=end)
        raise MemtuiError(
            f"nothing is stored of {name}: there is no such node or session"
        )


def list_claims(query: AuditQuery, limit: int) -> list[ClaimRow]:
    """Return claims: those without a judgement first, the worst first."""
    with database.connection():
        return store_audit.list_claims(query, limit)


def count_claims(query: AuditQuery) -> AuditTotals:
    with database.connection():
        return AuditTotals(store_audit.count_claims(query))


def read_claim(row: ClaimRow) -> ClaimDetails | None:
    """Return a claim with its bullet; None if it does not exist any more."""
    version = row.version if row.group is ClaimGroup.REJECTED_VERSION else 0
    with database.connection():
        try:
            page = judging.read_page(row.node_id, version)
        except MemtuiError:
            return None
        claim = Claim(page.subject, row.kind, row.text)
        history = tuple(judgements.list_history(claim))
        bullet = page.find(claim)
        if bullet is None:
            # It is on the page of its session alone, or not any more, or not yet again.
            current = judgements.find(claim)
            said = (
                [current] if current else [past for past in history if past.event_ids]
            )
            if not said:
                return None
            bullet = replace(judgements.make_bullet(said[0]), judgement=current)
        bullet = replace(bullet, project=bullet.project or page.project)
        about = page.node_id, page.title, page.model, row.event_id
        return ClaimDetails(bullet, claim, *about, history)


def find_claim(row: ClaimRow) -> ClaimDetails:
    """Return a claim with its bullet.

    Raises:
        MemtuiError: It does not exist any more.
    """
    if claim := read_claim(row):
        return claim
    raise MemtuiError("this claim does not exist any more")
