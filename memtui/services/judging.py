"""Judges the lines of summaries: accepts, rejects or corrects them, and takes it back.

A judgement is about the line of a session or of a period, whatever version has it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memtui.errors import MemtuiError, UsageError
from memtui.model.citations import Grip, grip_id
from memtui.model.events import Event, plain_line, to_ms
from memtui.model.judgements import PERSON, Claim, Judgement, Ruling
from memtui.model.nodes import (
    BULLET_CHARS,
    DAY_SESSION_PREFIX,
    FACTS,
    Bullet,
    BulletKind,
)
from memtui.model.sessions import Session, WorkState
from memtui.model.verdicts import SUPPORTED
from memtui.redaction import redact
from memtui.services import conversation
from memtui.services.sessions import read_card
from memtui.store import (
    conversations,
    database,
    events,
    judgements,
    nodes,
    queues,
    segments,
    sessions,
    versions,
    work,
)
from memtui.text import analyzer
from memtui.text.plain import shorten
from memtui.text.sentences import EXCERPT_CHARS, truncate

_COMPOSED = frozenset((BulletKind.WORK, BulletKind.PROJECT, BulletKind.MORE))
"""Kinds of lines that only repeat others, which can be judged themselves, unless a
model worded them."""

SOURCE = "person"
"""The process that made a grip which a person chose, recorded with it."""

MAX_REASON_CHARS = 200


def judge(
    node_id: str,
    bullet: Bullet,
    ruling: Ruling,
    now: datetime,
    *,
    words: str = "",
    event_id: str = "",
    reason: str = "",
    author: str = PERSON,
) -> Judgement:
    """Judge a line; what is made from it is made again.

    Args:
        node_id: The node on whose page it is: a period, a segment, or a session of a
            day.
        bullet: The line, or for ``ADDED`` a new one.
        ruling: What is said of it.
        now: The time.
        words: The other wording, if it is corrected.
        event_id: The other source, if it is moved, or a source of a new one; or its
            citation.
        reason: Why.
        author: Who says it.

    Raises:
        MemtuiError: It is no line to be judged, its source is not stored any more, or
            an agent would overrule a person.
    """
    if bullet.kind in _COMPOSED and not bullet.verdict.is_by_model:
        raise UsageError("this line repeats other lines; judge them on their own page")
    if bullet.kind is BulletKind.TITLE:
        raise UsageError("this is a title; rename the session instead")
    words = clean_line(words, BULLET_CHARS)
    reason = clean_line(reason, MAX_REASON_CHARS)
    if ruling is Ruling.CORRECTED and not words:
        raise UsageError("a correction needs another wording")
    is_state = bullet.kind is BulletKind.STATE
    if ruling is Ruling.CORRECTED and is_state and words not in list(WorkState):
        raise UsageError(f"a state is one of {', '.join(WorkState)}")
    with database.transaction():
        grips = versions.get_grips(bullet.grip_ids)
        holder, subject = _find_place(node_id, grips)
        claim = Claim(subject, bullet.kind, bullet.claim_text)
        before = judgements.find(claim)
        # A part of it may have been rejected.
        _check_author(before or bullet.judgement, author)
        sources = list(grips.values())
        if event_id:
            grip = _make_grip(holder, bullet.text, event_id)
            versions.add_grips([grip])
            others = grips if ruling is Ruling.ADDED else {}
            grips = {**others, grip.grip_id: grip}
            sources.insert(0, grip)
        elif ruling is Ruling.MOVED:
            raise UsageError("another source is needed")
        if before and not words:
            words = before.words
        event_ids = dict.fromkeys(
            (
                *(grip.event_id_start for grip in sources),
                *(grip.event_id_end for grip in sources),
                *_list_events(node_id, holder, claim),
            )
        )
        judgement = Judgement(
            claim,
            ruling,
            words=words,
            grip_ids=tuple(grips),
            event_ids=tuple(event_ids),
            node_id=holder,
            is_by_model=bullet.verdict.is_by_model,
            reason=reason,
            author=author,
            at=now,
        )
        number = judgements.add(judgement, to_ms(now))
        _request_updates(judgement, now)
    return replace(judgement, number=number)


def undo(judgement: Judgement, now: datetime, *, author: str = PERSON) -> None:
    """Take a judgement back; the one before it counts again.

    Raises:
        MemtuiError: It does not count any more, or an agent would overrule a person.
    """
    with database.transaction():
        claim = judgement.claim
        current = judgements.find(claim)
        if current is None or current.number != judgement.number:
            raise MemtuiError("this judgement does not count any more")
        _check_author(judgement, author)
        undone = Judgement(claim, Ruling.UNDONE, author=author, at=now)
        judgements.add(undone, to_ms(now), undoes=judgement.number)
        _request_updates(judgement, now)


def undo_line(
    name: str, wording: str, now: datetime, *, author: str = PERSON
) -> tuple[str, Bullet]:
    """Take back what was said of a line, also of one that its page lacks by now.

    Returns:
        What ``find_line`` returns.

    Raises:
        MemtuiError: Nobody has judged such a line, there are several, or an agent would
            overrule a person.
    """
    page = read_page(name)
    of_session = page.node_id.startswith(DAY_SESSION_PREFIX)
    with database.connection():
        by_text = judgements.read([page.subject]).get(page.subject, {})
        gone = [
            judgements.make_bullet(judgement)
            for judgement in by_text.values()
            if (of_session or judgement.node_id == page.node_id)
            and page.find(judgement.claim) is None
        ]
    # That of a line of which a part was rejected has no number.
    judged = [b for b in page.bullets if b.judgement and b.judgement.number]
    bullet = _choose_line((*judged, *gone), name, wording)
    if bullet is None or bullet.judgement is None:
        raise MemtuiError(f"nobody has judged a line of {name} that begins so")
    undo(bullet.judgement, now, author=author)
    return page.node_id, bullet


def _check_author(before: Judgement | None, author: str) -> None:
    """Check that no agent takes back or replaces what a person said.

    Raises:
        MemtuiError: It would.
    """
    if before and before.author == PERSON and author != PERSON:
        raise MemtuiError(
            f"a person has said that this line is {before.ruling}, and only a person"
            " can change that: in the audit of memtui, or with memtui judge"
        )


def _list_events(page: str, node_id: str, claim: Claim) -> Sequence[str]:
    """Return the events that a line of a page was judged with before, or else those of
    the facts that it joins."""
    for past in judgements.list_history(claim):
        if past.event_ids and past.ruling is not Ruling.OPINION:
            return past.event_ids
    number = segments.get_sessions([node_id]).get(node_id)
    if number is None:
        return []
    names = None if page.startswith(DAY_SESSION_PREFIX) else [node_id]
    facts = work.read_facts(number, names)
    return judgements.list_fact_events(claim.kind, claim.text, facts)


@dataclass(frozen=True, slots=True)
class Page:
    """A node or a session, with all of its lines, also those that are withheld."""

    node_id: str
    subject: str
    """That of claims of its lines."""
    title: str
    """The name of its session, or the title of its period."""
    project: str
    """That of its session; "" for a period."""
    model: str
    """The model that wrote it; "" for none."""
    bullets: tuple[Bullet, ...]

    def find(self, claim: Claim) -> Bullet | None:
        key = claim.kind, claim.text
        return next((b for b in self.bullets if (b.kind, b.claim_text) == key), None)


def read_page(name: str, version: int = 0) -> Page:
    """Return the page of a node, by default with the version that is shown, or of a
    session as ``agent:id`` or by the id of its page.

    Raises:
        MemtuiError: It is not stored.
    """
    with database.connection():
        name = nodes.resolve_id(name)
        if name.startswith(DAY_SESSION_PREFIX):
            name = find_subject(name)
        node = nodes.get_version(name, version) if version else nodes.get(name)
        if node is not None:
            bullets = (*node.bullets, *node.further, *node.withheld)
            numbers = segments.get_sessions([name]).values()
            about = next(iter(sessions.get_many(set(numbers)).values()), None)
            model = node.generation.model
            if about is None:
                return Page(name, name, node.title, "", model, bullets)
            names = about.full_name, about.title, about.project
            return Page(name, *names, model, bullets)
        agent, _, session_id = name.partition(":")
        card = read_card(agent, session_id)
        if card.session is None:
            raise MemtuiError(f"there is no node and no session {name}")
        page = f"{DAY_SESSION_PREFIX}:{agent}/{session_id}"
        bullets = (*card.bullets, *_list_states(card.session), *card.withheld)
        names = name, card.session.title, card.session.project
        return Page(page, *names, "", bullets)


def find_subject(page: str) -> str:
    """Return the subject of the lines of a page: its session, or the period itself."""
    if page.startswith(DAY_SESSION_PREFIX):
        name = page.removeprefix(DAY_SESSION_PREFIX).partition(":")[2]
        return name.replace("/", ":", 1)
    return judgements.find_subjects([page])[page]


def _list_states(session: Session) -> list[Bullet]:
    """Return the state of a session as a line, if it has one."""
    if session.work.state is None:
        return []
    grips = tuple(work.find_grips([session.work.state_event_id]).values())
    about = session.project, session.session_id
    state = Bullet(session.work.state, grips, SUPPORTED, BulletKind.STATE, *about)
    by_text = judgements.read([session.full_name]).get(session.full_name, {})
    return judgements.judge_lines([state], by_text)


def find_line(name: str, wording: str) -> tuple[str, Bullet]:
    """Return the id of a node or of the page of a session, and a line of it.

    Args:
        name: A node, or a session as ``agent:id``.
        wording: How the line begins.

    Raises:
        MemtuiError: There is no such line, or there are several.
    """
    page = read_page(name)
    bullet = _choose_line(page.bullets, name, wording)
    if bullet is None:
        raise UsageError(f"no line begins with {wording!r} in {name}")
    return page.node_id, bullet


def _choose_line(bullets: Sequence[Bullet], name: str, wording: str) -> Bullet | None:
    """Return the line that begins so; of several the whole line, or one that is shown.

    Raises:
        UsageError: There are still several.
    """
    words = " ".join(wording.split())
    for field in ("text", "claim_text", "labelled"):
        matches = [b for b in bullets if words and getattr(b, field).startswith(words)]
        exact = [b for b in matches if getattr(b, field) == words]
        displayed = [b for b in matches if not b.is_withheld]
        for narrowed in (exact, displayed, matches):
            if len(narrowed) == 1:
                return narrowed[0]
        if matches:
            listed = "; ".join(repr(bullet.labelled) for bullet in matches[:MAX_LISTED])
            raise UsageError(f"several lines begin with {words!r} in {name}: {listed}")
    return None


MAX_LISTED = 5
"""The most lines that are named if several begin alike."""

MAX_SOURCES = 20

MAX_READ = 5_000
"""The most events of a session that are looked through."""


def list_sources(page: str, bullet: Bullet) -> list[Event]:
    """Return the events that share most words with a line.

    They are those of its session, or of the sessions that a line of a period cites.
    """
    with database.connection():
        grips = versions.get_grips(bullet.grip_ids)
        cited = {grip.event_id_start for grip in grips.values()}
        _, subject = _find_place(page, grips)
        agent, _, session_id = subject.partition(":")
        number = sessions.get_number(agent, session_id)
        locations = conversations.locate(cited).values()
        numbers = {e.number for e in locations} if number is None else {number}
        every = [
            event
            for key, session in sessions.get_many(numbers).items()
            for event in events.between(
                key, to_ms(session.created_at), to_ms(session.updated_at)
            )[-MAX_READ:]
        ]
    terms = set(analyzer.query_terms(bullet.text))
    scored = [
        (len(terms.intersection(analyzer.terms(event.text))), event)
        for event in every
        if event.event_id not in cited and event.text
    ]
    best = sorted(scored, key=lambda pair: -pair[0])[:MAX_SOURCES]
    return [event for score, event in best if score]


def clean_line(text: str, limit: int) -> str:
    """Return a typed text as a line, without secrets."""
    return shorten(redact(plain_line(text)).text, limit)


def _find_place(node_id: str, grips: dict[str, Grip]) -> tuple[str, str]:
    """Return the segment or the period that a line belongs to, and its subject."""
    subject = find_subject(node_id)
    if not node_id.startswith(DAY_SESSION_PREFIX):
        return node_id, subject
    number = sessions.get_number(*subject.split(":", 1))
    holders = [grip.toc_node_id for grip in grips.values() if grip.toc_node_id]
    if number is not None:
        holders += segments.list_ids(number)[-1:]
    if not holders:
        raise MemtuiError("its session is not summarized yet")
    return holders[0], subject


def _make_grip(node_id: str, text: str, event_id: str) -> Grip:
    """Return a grip to an event that a person chose, by its id or its citation."""
    event_id = conversation.find_cited_event(event_id) or event_id
    event = events.get([event_id]).get(event_id)
    if event is None:
        raise MemtuiError(f"the message {event_id} is not stored")
    return Grip(
        grip_id=grip_id(node_id, text, event),
        excerpt=truncate(event.text.strip(), EXCERPT_CHARS),
        event_id_start=event_id,
        event_id_end=event_id,
        timestamp=event.timestamp,
        source=SOURCE,
        toc_node_id=node_id,
    )


def _request_updates(judgement: Judgement, now: datetime) -> None:
    """Have made again what a judgement may change."""
    node_id, claim = judgement.node_id, judgement.claim
    number = sessions.get_number(*claim.subject.split(":", 1))
    names = [node_id] if number is None else segments.list_ids(number)
    # The name, state and outcome of its session are decided again, and what has changed
    # is rolled up. Other segments may have the same facts, or say the same.
    kinds = {*FACTS, BulletKind.OUTCOME, BulletKind.DECISION}
    is_fact = claim.kind in kinds
    segments.request_summaries(names if is_fact or node_id not in names else [node_id])
    queues.add_nodes(names, to_ms(now))
