"""Asks a model for its opinion: whether the source of a claim says it.

An opinion is stored beside the verdict and the judgements, and changes neither.
"""

from datetime import datetime
from itertools import takewhile

from memtui.errors import MemtuiError
from memtui.model.audit import ClaimRow
from memtui.model.events import to_ms
from memtui.model.judgements import Judgement, Ruling
from memtui.services import audit, conversation
from memtui.services.audit import ClaimDetails
from memtui.store import database, judgements
from memtui.summarize.ollama.record import PromptRecord, claim_record
from memtui.summarize.ollama.summarizer import Ollama


def ask(row: ClaimRow, model: Ollama, now: datetime) -> str:
    """Ask a model about a claim, which may take minutes, and store what it says.

    Returns:
        "", or what it has answered before: it would answer the same again.

    Raises:
        MemtuiError: Nothing is stored; the message says why, and what to do.
    """
    claim, asked = _read(row)
    if not asked.lines:
        raise MemtuiError("this claim has no source that a model could be asked about")
    health = model.health()  # It chooses the model.
    if not health.is_ready:
        raise MemtuiError(health.summary)
    if before := _find_answer(claim, model.identity):
        return before
    answer, words = model.check_claim(asked)
    opinion = Judgement(
        claim.claim,
        Ruling.OPINION,
        words=words,
        event_ids=tuple(name for line in asked.lines for name in line.event_ids),
        reason=answer,
        author=model.identity,
    )
    with database.transaction():
        _, current = _read(row)
        if not {*asked.all_lines} <= {*current.all_lines}:
            raise MemtuiError("the claim or its source was changed meanwhile")
        judgements.add(opinion, to_ms(now))
    return ""


_CHANGING = frozenset((Ruling.CORRECTED, Ruling.MOVED, Ruling.UNDONE, Ruling.FORGOTTEN))
"""After these a claim may have another wording or another source."""


def _find_answer(claim: ClaimDetails, identity: str) -> str:
    """Return what a model has answered about a claim as it is now; "" if nothing."""
    unchanged = takewhile(lambda past: past.ruling not in _CHANGING, claim.history)
    return next((past.reason for past in unchanged if past.author == identity), "")


def _read(row: ClaimRow) -> tuple[ClaimDetails, PromptRecord]:
    claim = audit.find_claim(row)
    cited = claim.bullet.grip_ids or (claim.event_id,)
    sources = [conversation.expand(name) for name in cited]
    return claim, claim_record(claim.bullet.text, sources)
