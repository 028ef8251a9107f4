"""Reads what sessions are called and what came of them, for lists, hits and pages."""

from collections.abc import Collection
from dataclasses import dataclass

from memtui.model.nodes import Bullet, BulletKind, TocNode
from memtui.model.sessions import NO_WORK, SessionWork
from memtui.store import database, nodes, segments, work
from memtui.store.sessions import SessionKey, get_number
from memtui.summarize import card


def read_work(keys: Collection[SessionKey]) -> dict[SessionKey, SessionWork]:
    """Return the work of sessions that have a summary, by agent and id."""
    with database.connection():
        return work.read_work(set(keys))


def read_one(agent: str, session_id: str) -> SessionWork:
    """Return the work of a session; empty if it has no summary."""
    return read_work([(agent, session_id)]).get((agent, session_id), NO_WORK)


@dataclass(frozen=True, slots=True)
class SessionCard:
    """What is known of a session, with the grips of each line."""

    work: SessionWork
    bullets: tuple[Bullet, ...]
    withheld: tuple[Bullet, ...]
    """Lines of a model that are not shown."""
    segments: tuple[TocNode, ...]
    """Its segments, the oldest first."""


def read_card(agent: str, session_id: str) -> SessionCard:
    """Return the card of a session; empty if it has no summary.

    A model's lines take the place of what was asked, and of the last message unless
    that came later.
    """
    with database.connection():
        number = get_number(agent, session_id)
        if number is None:
            return SessionCard(NO_WORK, (), (), ())
        parts = nodes.get_many(segments.list_ids(number))
        described = read_one(agent, session_id)
        lines = card.list_session_lines(work.read_facts(number), described)
        bullets = work.link_lines(lines)
    by_model = [
        bullet
        for part in parts
        for bullet in (*part.bullets, *part.further)
        if bullet.verdict.is_by_model
    ]
    if by_model:
        replaced = {BulletKind.ASKED}
        if parts[-1].is_by_model:
            replaced.add(BulletKind.OUTCOME)
        bullets = [*by_model, *(b for b in bullets if b.kind not in replaced)]
    return SessionCard(
        described,
        tuple(bullets),
        tuple(bullet for part in parts for bullet in part.withheld),
        tuple(parts),
    )
