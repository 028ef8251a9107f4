"""What the hooks directory still holds of what was forgotten: news, drafts, quarantine.

A record is told by the event it makes; one that makes none by the session it names, its
folder or its time; what cannot be read at all by the words it holds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from memtui.memory.events import Event, clean, to_ms
from memtui.memory.secrets import events as secret_events
from memtui.memory.sessions import SessionFacts, folder_of
from memtui.sources import hooks, pieces, projects, remnants
from memtui.sources.hooks import dialects
from memtui.sources.pieces import Piece
from memtui.sources.records import Reading, Refused, text_of, time_of
from memtui.sources.source import HOOK
from memtui.sources.spool import Letter, Spool
from memtui.store import marks, problems, tombstones
from memtui.store.tombstones import Kind, Tombstone

PROBLEMS = "hooks"
"""The name under which problems with hook files are counted."""


@dataclass(frozen=True, slots=True)
class Covered:
    """What a forgetting takes, as far as the hooks directory can tell."""

    stones: Sequence[Tombstone]
    needles: Sequence[bytes]
    """What damaged records are known by."""

    @property
    def before_ms(self) -> int:
        """Before when all is forgotten, in milliseconds."""
        return max((s.at_ms for s in self.stones if s.kind is Kind.BEFORE), default=0)

    @property
    def named(self) -> frozenset[tuple[str, str]]:
        """The sessions that are forgotten, by agent and name."""
        stones = (s for s in self.stones if s.kind is Kind.SESSION)
        return frozenset((s.agent, s.subject) for s in stones)

    @property
    def sessions(self) -> frozenset[str]:
        """The names of the sessions that are forgotten."""
        return frozenset(name for _, name in self.named)


def delete(spool: Spool, covered: Covered, *, is_tried: bool = False) -> int:
    """Delete what is forgotten; inside a transaction that knows the tombstones.

    Args:
        spool: The hooks directory.
        covered: What is forgotten.
        is_tried: Only count.

    Returns:
        How many files held some of it.
    """
    count = 0
    for box, letter in spool.everything():
        held = pieces.of(letter.raw)
        kept = [piece for piece in held if not _is_forgotten(piece, letter, covered)]
        if len(kept) == len(held):
            continue
        count += 1
        if is_tried:
            continue
        for reason in spool.reasons(box, letter.name):
            problems.take_back(PROBLEMS, reason)
        if kept:
            raw = pieces.joined(kept)
            spool.rewrite(box, letter, raw, list(_reasons(raw, letter)))
        else:
            spool.remove(box, letter.name)
    return count


def _is_forgotten(piece: Piece, letter: Letter, covered: Covered) -> bool:
    if piece.fields is None:
        received_ms = to_ms(letter.received_at)
        return received_ms < covered.before_ms or _holds(piece, covered)
    readings = list(_readings(piece.raw, letter))
    told = [secret_events.cleaned(r)[0] for r in readings if isinstance(r, Event)]
    if told:
        spared = tombstones.spared(
            told,
            route=HOOK,
            twin_of=marks.twin_of,
            origin_of=marks.origin_of,
        )
        facts = (r for r in readings if isinstance(r, SessionFacts))
        return not spared or any(_is_of_project(f.cwd) for f in facts)
    said = dialects.common(piece.fields)
    at = time_of(said.get("timestamp")) or letter.received_at
    return (
        to_ms(at) < covered.before_ms
        or clean(text_of(said.get("session_id"))) in covered.sessions
        or _is_of_project(text_of(said.get("cwd")))
        or _holds(piece, covered)
    )


def _holds(piece: Piece, covered: Covered) -> bool:
    return any(needle in piece.raw for needle in covered.needles)


def _is_of_project(cwd: str) -> bool:
    place = projects.place_of(clean(cwd))
    return tombstones.covers_project(place.project, folder_of(place.root, cwd))


def _readings(raw: bytes, letter: Letter) -> Iterator[Reading]:
    return hooks.read(
        raw,
        received_at=letter.received_at,
        now=_ALWAYS,
        agent=letter.agent,
        event=letter.event,
    )


_ALWAYS = datetime(9999, 1, 1, tzinfo=UTC)
"""No time is later: what was quarantined for its time is looked at too."""


def _reasons(raw: bytes, letter: Letter) -> Iterator[str]:
    for reading in _readings(raw, letter):
        if isinstance(reading, Refused):
            yield f"line {reading.line}: {remnants.reason(reading)}"
