"""``memtui audit``: checks that all lines of summaries lead to what is stored.

The checks only read. What is not indexed yet is counted, and is no damage.
"""

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product

from memtui.model import calendar
from memtui.model.audit import AuditQuery, Damage
from memtui.model.judgements import Judgement
from memtui.model.nodes import Bullet
from memtui.paths import Paths
from memtui.search import message_index, node_index
from memtui.search.message_index import MessageIndex
from memtui.search.node_index import NodeIndex
from memtui.services import audit
from memtui.services.audit import AuditTotals
from memtui.services.sessions import read_card
from memtui.store import (
    database,
    events,
    integrity,
    judgements,
    meta,
    nodes,
    queues,
    segments,
    sessions,
    versions,
    work,
)
from memtui.summarize import card
from memtui.summarize.grounding import checks
from memtui.summarize.sessions import describe

PAGE_SIZE = 200
"""The nodes, or sessions, that are read at once."""

MESSAGES_AT_ONCE = 20_000

WRITE_TIME_S = 2.0
"""The time in which a running memtui brings an index up to date."""

NODES, MESSAGES = "node index", "message index"

REINDEX = "memtui reindex"


@dataclass(frozen=True, slots=True)
class IntegrityReport:
    """The result of an audit."""

    totals: AuditTotals
    lines: int
    """The lines that are shown."""
    resolved: int
    """Those of them that lead to stored events."""
    waiting: int
    """The number of nodes, sessions and events that are not indexed yet."""
    damages: Sequence[Damage]


@dataclass(frozen=True, slots=True)
class Audit:
    """A check of claims, and of the indexes."""

    query: AuditQuery
    paths: Paths
    with_tools: bool
    """True if the texts of tool calls are indexed."""

    def run(self, *, has_worker: bool) -> IntegrityReport:
        """Run all checks.

        Args:
            has_worker: Whether a running memtui may be changing the indexes.
        """
        with database.snapshot():
            integrity.select(self.query)
            damages = [
                *integrity.check(),
                *integrity.check_versions(),
                *_check_hidden(),
                *_check_works(),
            ]
            broken = {damage.ids[0] for damage in damages if damage.subject == "source"}
            lines, resolved = integrity.count_lines(broken)
            of_indexes = list(self._check_indexes()) if self.query.is_whole else []
            waiting = queues.count_unindexed()
            totals = audit.count_claims(self.query)
        if of_indexes and has_worker:
            time.sleep(WRITE_TIME_S)
            with database.snapshot():
                again = set(self._check_indexes())
            of_indexes = [damage for damage in of_indexes if damage in again]
        return IntegrityReport(
            totals, lines, resolved, waiting, [*damages, *of_indexes]
        )

    def _check_indexes(self) -> Iterator[Damage]:
        """Compare the indexes with the nodes, sessions and messages of the store."""
        of_nodes = NodeIndex(self.paths.index)
        messages = MessageIndex(self.paths.message_index, with_tools=self.with_tools)
        waiting = {name for _, name in queues.list_unindexed_nodes(-1)}
        numbers = {number for _, number in queues.list_unindexed_sessions(-1)}
        # Those of nodes wait for these.
        numbers.update(segments.get_sessions(waiting).values())
        waiting.update(map(str, numbers))
        for index, subject, key in (
            (of_nodes, NODES, meta.NODE_INDEX),
            (messages, MESSAGES, meta.MESSAGE_INDEX),
        ):
            name = meta.read(key)
            if name and index.name() != name:
                message = "it is missing, damaged or of another store"
                yield Damage(subject, (), message, REINDEX)
            elif name and index is of_nodes:
                hashes = of_nodes.read(lambda reader: reader.hash_documents())
                yield from _compare(NODES, hashes, _hash_nodes(), waiting)
            elif name:
                hashes = messages.hash_sessions()
                yield from _compare(MESSAGES, hashes, _hash_sessions(), waiting)
                yield from _check_messages(messages)
        of_nodes.close()


def _compare(
    subject: str,
    indexed: dict[str, int],
    expected: Iterable[tuple[str, int]],
    waiting: Collection[str],
) -> Iterator[Damage]:
    """Compare the hashes of entries, whose ids begin with a node or a session."""
    for key, terms_hash in expected:
        if indexed.pop(key, None) != terms_hash and key.split()[0] not in waiting:
            message = "the index does not have what is shown of it"
            yield Damage(subject, (key,), message, REINDEX)
    for key in indexed:
        if key.split()[0] not in waiting:
            message = "the index has it, although it is not shown"
            yield Damage(subject, (key,), message, REINDEX)


def _hash_nodes() -> Iterator[tuple[str, int]]:
    names = nodes.list_ids()
    for start in range(0, len(names), PAGE_SIZE):
        for node in nodes.get_many(names[start : start + PAGE_SIZE]):
            grips = versions.list_indexed_grips(node)
            for document in node_index.node_documents(node, grips):
                yield document.key, node_index.hash_terms(document)


def _hash_sessions() -> Iterator[tuple[str, int]]:
    numbers = events.list_session_numbers()
    for start in range(0, len(numbers), PAGE_SIZE):
        for texts in events.read_session_texts(numbers[start : start + PAGE_SIZE]):
            yield str(texts.session), message_index.hash_terms(texts)


def _check_messages(index: MessageIndex) -> Iterator[Damage]:
    """Compare the ids of messages; of calls only some are indexed."""
    status, waiting = index.status(), queues.list_unindexed_events(-1)
    last, end = "", "~"  # "~" follows all ids.
    while last != end:
        page = dict(index.list_events(last, MESSAGES_AT_ONCE))
        first, last = last, max(page) if len(page) == MESSAGES_AT_ONCE else end
        stored = integrity.list_messages(first, last)
        for event_id in stored.keys() - page.keys():
            is_older = not status.is_complete and event_id < (status.oldest_id or end)
            row = stored[event_id]
            if not is_older and not any(r.first <= row <= r.last for r in waiting):
                yield Damage(MESSAGES, (event_id,), "it is not indexed", REINDEX)
        unknown = page.keys() - stored.keys()
        unknown -= database.existing_keys("events", (n for n in unknown if page[n]))
        for event_id in unknown if not waiting else ():
            message = "the index has it, although it is not stored"
            yield Damage(MESSAGES, (event_id,), message, REINDEX)


def _check_works() -> Iterator[Damage]:
    """Check that the name, state, outcome and open ends of sessions follow from the
    facts that are stored with their segments."""
    if meta.read(meta.SUMMARY_RULES) != f"{card.IDENTITY} {checks.VERSION}":
        return  # They were made by other rules, and are made again.
    numbers = integrity.list_described()
    for start in range(0, len(numbers), PAGE_SIZE):
        page = sessions.get_many(numbers[start : start + PAGE_SIZE])
        for number, session in page.items():
            if not work.is_saved(number, describe(number, session)):
                message = (
                    "its name, state, outcome or open ends are not those of its facts"
                )
                remedy = integrity.REMEDIES["restore"]
                yield Damage("session", (session.full_name,), message, remedy)


def _check_hidden() -> Iterator[Damage]:
    """Check that what was rejected is on no page and on no card, also as a part of a
    line."""
    by_subject: dict[str, list[Judgement]] = {}
    for judgement in integrity.list_hidden():
        by_subject.setdefault(judgement.claim.subject, []).append(judgement)
    for subject, hidden in by_subject.items():
        pages = {judgement.node_id for judgement in hidden}
        bullets: dict[str, Sequence[Bullet]] = {}
        if not subject.startswith("toc:"):
            card = read_card(*subject.split(":", 1))
            bullets[subject] = card.bullets
            pages |= {
                above for s in card.segments for above in calendar.path(s.node_id)
            }
        for page in nodes.get_many(sorted(pages)):
            bullets[page.node_id] = (*page.bullets, *page.further)
        events = judgements.find_fact_events(chain(*bullets.values()), hidden)
        for place, of_place in bullets.items():
            for bullet, judgement in product(of_place, hidden):
                claim = bullet.kind, bullet.claim_text
                is_same = place in (subject, judgement.node_id) and claim == (
                    judgement.claim.kind,
                    judgement.claim.text,
                )
                if is_same or judgements.repeats(bullet, judgement, events):
                    message = "it was rejected, but is shown"
                    ids = place, *claim
                    yield Damage("line", ids, message, integrity.REMEDIES["work"])
