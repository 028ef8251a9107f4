"""Judgements about the lines of summaries, and lines as they are judged.

Versions stay as they were made: a judgement is applied whenever one is read. Facts of a
session that were rejected are left out before its name, state and outcome are decided.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from memtui.model.events import from_ms
from memtui.model.judgements import HIDING, Claim, Judgement, Ruling
from memtui.model.nodes import Bullet, BulletKind, TocNode
from memtui.model.sessions import SessionWork, WorkState
from memtui.model.verdicts import SUPPORTED
from memtui.model.work import Facts, Line
from memtui.store import json_columns
from memtui.store.database import (
    IN_JSON,
    execute,
    fetch,
    fetch_column,
    fetch_dicts,
    fetch_value,
    insert,
    next_id,
)
from memtui.store.digests import with_digest
from memtui.text import analyzer

ByText = Mapping[tuple[str, str], Judgement]
"""The judgements about the claims of a subject, by kind and text."""

NO_EVENTS: Mapping[str, str] = {}

_COLUMNS = (
    "id, subject, kind, text, ruling, words, grip_ids, event_ids, node_id, is_by_model,"
    " reason, author, at_ms, undoes"
)


def subject_of_node(node_id: str) -> str:
    """Return the SQL expression of the subject of the lines of a node: its session if
    it is a segment."""
    return (
        "coalesce((SELECT s.agent || ':' || s.name FROM segments g JOIN sessions s"
        f" ON s.id = g.session_id WHERE g.id = {node_id}), {node_id})"
    )


# Reading and adding


def add(judgement: Judgement, now_ms: int, *, undoes: int | None = None) -> int:
    """Add a judgement; return its number."""
    claim, number = judgement.claim, next_id("judgements")
    if judgement.ruling is Ruling.OPINION:
        undoes = number  # It never counts.
    row = {
        "id": number,
        "subject": claim.subject,
        "kind": str(claim.kind),
        "text": claim.text,
        "ruling": judgement.ruling.value,
        "words": judgement.words,
        "grip_ids": json.dumps(judgement.grip_ids),
        "event_ids": json.dumps(judgement.event_ids),
        "node_id": judgement.node_id,
        "is_by_model": judgement.is_by_model,
        "reason": judgement.reason,
        "author": judgement.author,
        "at_ms": now_ms,
        "undoes": undoes,
    }
    insert("judgements", [with_digest(row)])
    return number


def is_empty() -> bool:
    """Return whether nothing was ever judged."""
    return not fetch_value("SELECT 1 FROM judgements LIMIT 1")


def read(subjects: Collection[str]) -> dict[str, ByText]:
    """Return the judgements that count about the claims of some subjects."""
    by_subject: dict[str, dict[tuple[str, str], Judgement]] = {}
    for judgement in list_current(f"subject {IN_JSON}", json.dumps(sorted(subjects))):
        claim = judgement.claim
        by_subject.setdefault(claim.subject, {})[claim.kind, claim.text] = judgement
    return dict(by_subject)


def list_current(condition: str, *values: object) -> list[Judgement]:
    """Return the judgements that count, of those with a condition, oldest first."""
    sql = f"SELECT {_COLUMNS} FROM current_judgements WHERE {condition} ORDER BY id"
    return list(map(_to_judgement, fetch_dicts(sql, *values)))


_OF_CLAIM = "subject = ? AND kind = ? AND text = ?"


def find(claim: Claim) -> Judgement | None:
    """Return the judgement that counts about a claim."""
    matches = list_current(_OF_CLAIM, claim.subject, str(claim.kind), claim.text)
    return next(iter(matches), None)


def list_history(claim: Claim) -> list[Judgement]:
    """Return all that was ever said of a claim, the latest first."""
    rows = fetch_dicts(
        f"SELECT {_COLUMNS} FROM judgements WHERE {_OF_CLAIM} ORDER BY id DESC",
        claim.subject,
        str(claim.kind),
        claim.text,
    )
    return list(map(_to_judgement, rows))


def _to_judgement(row: Mapping[str, Any]) -> Judgement:
    return Judgement(
        claim=Claim(row["subject"], row["kind"], row["text"]),
        ruling=Ruling(row["ruling"]),
        words=row["words"],
        grip_ids=json_columns.read_names(row["grip_ids"]),
        event_ids=json_columns.read_names(row["event_ids"]),
        node_id=row["node_id"],
        is_by_model=bool(row["is_by_model"]),
        reason=row["reason"],
        author=row["author"],
        at=from_ms(row["at_ms"]),
        number=row["id"],
    )


# Lines as they are judged


def find_subjects(node_ids: Sequence[str]) -> dict[str, str]:
    """Return the subject of the lines of each node."""
    sql = f"SELECT value, {subject_of_node('value')} FROM json_each(?)"
    return dict(fetch(sql, json.dumps(list(node_ids))))


def judge_nodes(nodes: Sequence[TocNode], *, with_kept: bool) -> list[TocNode]:
    """Return nodes with their lines as they are judged.

    Args:
        nodes: The versions to judge.
        with_kept: True to add the lines that stay although a version lacks them.
    """
    if is_empty():
        return list(nodes)
    subjects = find_subjects([node.node_id for node in nodes])
    # A pinned day may say what came of sessions although that was rejected.
    of_works = {
        node.node_id: [
            f"{agent}:{bullet.session_id}"
            for agent in node.agents
            for bullet in node.bullets
            if bullet.kind is BulletKind.WORK
        ]
        for node in nodes
    }
    by_subject = read({*subjects.values(), *chain.from_iterable(of_works.values())})
    events = find_fact_events(
        (b for node in nodes for b in (*node.bullets, *node.further)),
        chain.from_iterable(by_text.values() for by_text in by_subject.values()),
    )
    judged = []
    for node in nodes:
        by_text: dict[tuple[str, str], Judgement] = {}
        for subject in (*of_works[node.node_id], subjects[node.node_id]):
            by_text.update(by_subject.get(subject, {}))
        judged.append(_judge_node(node, by_text, events, with_kept=with_kept))
    return judged


def _judge_node(
    node: TocNode, by_text: ByText, events: Mapping[str, str], *, with_kept: bool
) -> TocNode:
    bullets = judge_lines(node.bullets, by_text, events)
    further = judge_lines(node.further, by_text, events)
    withheld = judge_lines(node.withheld, by_text)
    listed = [bullet for bullet in (*bullets, *withheld) if not bullet.is_withheld]
    hidden = [b for b in (*bullets, *further, *withheld) if b.is_withheld]
    further = [bullet for bullet in further if not bullet.is_withheld]
    if with_kept:
        present = {(b.kind, b.claim_text) for b in (*listed, *further, *hidden)}
        of_node = {
            key: judgement
            for key, judgement in by_text.items()
            if judgement.node_id == node.node_id and key not in present
        }
        missing = list_missing(of_node, node, (*listed, *further))
        listed += [bullet for bullet in missing if not bullet.is_withheld]
        hidden += [bullet for bullet in missing if bullet.is_withheld]
    return replace(
        node, bullets=tuple(listed), further=tuple(further), withheld=tuple(hidden)
    )


def judge_lines(
    bullets: Iterable[Bullet], by_text: ByText, events: Mapping[str, str] = NO_EVENTS
) -> list[Bullet]:
    """Return lines with the judgements about them.

    Args:
        bullets: The lines.
        by_text: The judgements about the claims of their subject.
        events: The events of grips of lines that may name rejected facts.
    """
    # A corrected fact has the other wording where it is taken from.
    worded = {(j.claim.kind, j.words): j for j in by_text.values() if j.words}
    hiding = [judgement for judgement in by_text.values() if judgement.ruling in HIDING]
    judged = []
    for bullet in bullets:
        key = bullet.kind, bullet.text
        judgement = by_text.get(key) or worded.get(key)
        if judgement is None:
            judgement = _find_part(bullet, hiding, events)
        if judgement:
            grip_ids = judgement.grip_ids or bullet.grip_ids
            text = judgement.text
            bullet = replace(bullet, text=text, grip_ids=grip_ids, judgement=judgement)
        judged.append(bullet)
    return judged


def _find_part(
    bullet: Bullet, hiding: Iterable[Judgement], events: Mapping[str, str]
) -> Judgement | None:
    """Return a judgement about a line that names something else which was rejected."""
    for judgement in hiding:
        if repeats(bullet, judgement, events):
            claim = Claim(judgement.claim.subject, bullet.kind, bullet.text)
            reason = "a part of it was rejected"
            return replace(
                judgement, claim=claim, words="", grip_ids=(), reason=reason, number=0
            )
    return None


def list_missing(
    by_text: ByText, node: TocNode, present: Sequence[Bullet]
) -> list[Bullet]:
    """Return judged lines that a node lacks: rejected ones, and those that stay.

    A model's line and one that a person worded stay; facts are those that its events
    show.

    Args:
        by_text: The judgements about claims that the node lacks.
        node: The node.
        present: Its lines.
    """
    return [
        make_bullet(judgement, node.projects[0] if node.projects else "")
        for (kind, _), judgement in by_text.items()
        if judgement.ruling in HIDING
        or (judgement.is_by_model or kind == BulletKind.ADDED)
        or (is_worded(judgement) and not has_words(present, judgement))
    ]


_DECIDED_AGAIN = frozenset((BulletKind.STATE, BulletKind.LEFT_OPEN))
"""Kinds that later events change; ``judge_work`` corrects them."""


def is_worded(judgement: Judgement) -> bool:
    """Return whether a line stays as a person worded it."""
    is_shown = judgement.ruling not in HIDING
    has_kind = judgement.claim.kind not in _DECIDED_AGAIN
    return is_shown and has_kind and bool(judgement.words)


def has_words(bullets: Iterable[Bullet], judgement: Judgement) -> bool:
    """Return whether a line of the same kind has the words of a correction."""
    kind, words = judgement.claim.kind, judgement.words
    of_kind = (bullet.text for bullet in bullets if bullet.kind == kind)
    return any(words in (text, *text.split("; ")) for text in of_kind)


def is_beside(bullet: Bullet, lines: Sequence[Bullet]) -> bool:
    """Return whether a line of a segment was worded by a person, and lines about its
    session do not have it. These have each commit and each pull request by itself."""
    judgement = bullet.judgement
    if judgement is None or not is_worded(judgement) or bullet.kind in CORRECTED:
        return False
    is_repeated = any(repeats(line, judgement, NO_EVENTS) for line in lines)
    return not (is_repeated or has_words(lines, judgement))


def make_bullet(judgement: Judgement, project: str = "") -> Bullet:
    """Return the line that a judgement is about, whatever page has it."""
    return Bullet(
        text=judgement.text,
        grip_ids=judgement.grip_ids,
        verdict=replace(SUPPORTED, is_by_model=judgement.is_by_model),
        kind=BulletKind(judgement.claim.kind),
        project=project,
        session_id=_session_id(judgement),
        judgement=judgement,
    )


def _session_id(judgement: Judgement) -> str:
    """Return the session of a claim; "" if it is a line of a period."""
    agent, _, session_id = judgement.claim.subject.partition(":")
    return "" if agent == "toc" else session_id


# Facts as they are judged

_ITEMS = {
    BulletKind.DECISION: ("answers", "question"),
    BulletKind.COMMIT: ("commits", "subject"),
    BulletKind.PULL_REQUEST: ("pull_requests", "title"),
    BulletKind.TESTS: ("test_runs", ""),
    BulletKind.FAILED: ("failed_commands", ""),
    BulletKind.FILES: ("files", ""),
}
"""Where facts of a kind are, and their text, by which those of one call differ; "" if
a line has all facts of a call."""

_NAME_CHARS = 40
"""So much of the text of a fact tells which it is; lines may shorten it."""


def list_fact_events(kind: str, text: str, facts: Facts) -> list[str]:
    """Return the events of the facts that a line joins, whatever grips it has.

    Args:
        kind: That of the line.
        text: The line.
        facts: Those of its page.
    """
    if kind not in _ITEMS or kind == BulletKind.TESTS:
        return []  # A line about tests is about one run.
    field, name = _ITEMS[BulletKind(kind)]
    return [
        item.event_id
        for item in getattr(facts, field)
        if not name or getattr(item, name)[:_NAME_CHARS] in text
    ]


def find_fact_events(
    bullets: Iterable[Bullet], judgements: Iterable[Judgement]
) -> dict[str, str]:
    """Return the events of the grips of lines that may name rejected facts."""
    kinds = {j.claim.kind for j in judgements if j.ruling in HIDING} & _ITEMS.keys()
    if not kinds:
        return {}
    grip_ids = {name for b in bullets if b.kind in kinds for name in b.grip_ids}
    sql = f"SELECT id, start_event_id FROM grips WHERE id {IN_JSON}"
    return dict(fetch(sql, json.dumps(sorted(grip_ids))))


def repeats(bullet: Bullet, judgement: Judgement, events: Mapping[str, str]) -> bool:
    """Return whether a line of another wording says what a judgement is about.

    It is a line with some of the same facts, or a line about a session with its
    outcome.

    Args:
        bullet: The line.
        judgement: One about the same session.
        events: The events of the grips of lines with facts.
    """
    kind, claimed = judgement.claim.kind, judgement.claim.text
    if bullet.kind is BulletKind.WORK and kind == BulletKind.OUTCOME:
        if _session_id(judgement) != bullet.session_id:
            return False
        outcomes = {claimed, judgement.words} - {""}
        return any(_says(bullet.text, outcome) for outcome in outcomes)
    is_fact = bullet.kind in _ITEMS and not bullet.verdict.is_by_model
    if not is_fact or judgement.is_by_model or bullet.kind != kind:
        return False
    event_ids = {events[name] for name in bullet.grip_ids if name in events}
    if event_ids.isdisjoint(judgement.event_ids):
        return False
    _, name = _ITEMS[bullet.kind]
    parts = bullet.text.split("; ") if name else [""]
    return any(part[:_NAME_CHARS] in _all_words(judgement) for part in parts)


_SEPARATOR = re.compile("^|: | — |; ")
"""What is before a name and an outcome: "project: name — an earlier reply; the outcome
(done)"."""


def _says(line: str, outcome: str) -> bool:
    """Return whether a line about a session has an outcome, or the beginning of it."""
    for separator in _SEPARATOR.finditer(line):
        text = line[separator.end() :]
        cut, mark, _ = text.partition("…")
        if _begins_with(text, outcome) or (mark and cut and outcome.startswith(cut)):
            return True
    return False


def _begins_with(text: str, words: str) -> bool:
    """Return whether a text begins with some words, which may be shortened."""
    return bool(re.match(rf"{re.escape(words.rstrip(' .…'))}(?!\w)", text))


def _all_words(judgement: Judgement) -> str:
    """Return a claim in its own wording and in that of a correction."""
    return f"{judgement.claim.text}\n{judgement.words}"


def judge_facts(facts: Facts, by_text: ByText) -> Facts:
    """Return facts without those that were rejected, and with corrected ones."""
    for (kind, _), judgement in by_text.items():
        is_hidden, reply = judgement.ruling in HIDING, facts.reply
        if kind == BulletKind.OUTCOME and reply:
            if _is_about_reply(judgement, reply):
                if is_hidden:
                    facts = replace(facts, reply=None)
                elif judgement.words:
                    corrected = replace(reply, text=judgement.words)
                    facts = replace(facts, reply=corrected)
        elif kind in _ITEMS and (is_hidden or judgement.words):
            field, name = _ITEMS[BulletKind(kind)]
            items = getattr(facts, field)
            if is_hidden:
                items = _leave_out(items, name, judgement)
            elif kind in CORRECTED:
                items = (_correct(item, name, judgement) for item in items)
            changes: dict[str, Any] = {field: tuple(items)}
            facts = replace(facts, **changes)
    return facts


def _is_about_reply(judgement: Judgement, reply: Line) -> bool:
    """Return whether a claim about an outcome is the agent's last message.

    The line of a model is if the message begins with the same words.
    """
    claimed = judgement.claim.text
    if not judgement.is_by_model:
        return reply.event_id in judgement.event_ids or reply.text == claimed
    return _begins_with(reply.text, claimed)


def _leave_out(items: Iterable[Any], name: str, judgement: Judgement) -> Iterator[Any]:
    """Yield facts without those of a rejected claim."""
    event_ids, words = set(judgement.event_ids), _all_words(judgement)
    for item in items:
        is_named = not name or getattr(item, name)[:_NAME_CHARS] in words
        if item.event_id not in event_ids or not is_named:
            yield item


CORRECTED = frozenset((BulletKind.COMMIT, BulletKind.PULL_REQUEST))
"""Kinds of facts that have one text each, which is the line."""


def _correct(item: Any, name: str, judgement: Judgement) -> Any:
    """Return a fact with the words of a correction if its line is the claim."""
    label = (
        f"#{item.number} " if judgement.claim.kind == BulletKind.PULL_REQUEST else ""
    )
    claimed, text = judgement.claim.text, f"{label}{getattr(item, name)}"
    is_shortened = claimed.endswith("…") and text.startswith(claimed[:-1])
    if item.event_id in judgement.event_ids and (text == claimed or is_shortened):
        return replace(item, **{name: judgement.words.removeprefix(label)})
    return item


_STATES = frozenset(WorkState)


def judge_work(work: SessionWork, by_text: ByText) -> SessionWork:
    """Return the work of a session with its state and open ends as they are judged."""
    state = by_text.get((BulletKind.STATE, work.state or ""))
    if state and state.ruling in HIDING:
        work = replace(work, state=None, state_event_id="")
    elif state:
        work = replace(
            work,
            state=WorkState(state.words) if state.words in _STATES else work.state,
            state_event_id=_first_source(state, work.state_event_id),
        )
    left_open = []
    for line in work.left_open:
        judgement = by_text.get((BulletKind.LEFT_OPEN, line.text))
        if judgement is None:
            left_open.append(line)
        elif judgement.ruling not in HIDING:
            event_id = _first_source(judgement, line.event_id)
            left_open.append(replace(line, text=judgement.text, event_id=event_id))
    return replace(work, left_open=tuple(left_open))


def _first_source(judgement: Judgement, event_id: str) -> str:
    """Return the event that a judged line is linked to, else the one given."""
    return next(iter(judgement.event_ids), event_id)


# Forgetting

_BLANK = {
    "subject": "",
    "kind": "",
    "text": "",
    "ruling": Ruling.FORGOTTEN.value,
    "words": "",
    "grip_ids": "[]",
    "event_ids": "[]",
    "node_id": "",
    "is_by_model": False,
    "reason": "",
    "author": "",
}


def forget_selected() -> None:
    """Empty the judgements whose sources, or whose words, are about to be forgotten.

    The selection is that of ``deletion``, which must be unlocked. A judgement that
    keeps its sources stays unless it has a word that only forgotten events of its
    session have.
    """
    rows = fetch_dicts(
        f"SELECT {_COLUMNS} FROM judgements j WHERE ruling <> 'forgotten' AND (EXISTS"
        f" (SELECT 1 FROM json_each({json_columns.valid('j.event_ids')}) e"
        " JOIN selected d ON d.id = e.value)"
        " OR j.subject IN (SELECT s.agent || ':' || s.name FROM sessions s"
        " WHERE s.id IN (SELECT session FROM selected)"
        " OR s.id IN (SELECT id FROM selected_sessions)))"
    )
    if not rows:
        return
    gone_ids = set(fetch_column("SELECT id FROM selected"))
    texts = "SELECT text FROM events WHERE session_id IN (SELECT session FROM selected)"
    is_gone = "id IN (SELECT id FROM selected)"
    gone = _list_terms(fetch_column(f"{texts} AND {is_gone}"))
    gone -= _list_terms(fetch_column(f"{texts} AND NOT {is_gone}"))
    for row in rows:
        event_ids = json_columns.read_names(row["event_ids"])
        words = _list_terms((row["text"], row["words"], row["reason"]))
        if not event_ids or not gone_ids.isdisjoint(event_ids) or words & gone:
            _empty(row)


def _list_terms(texts: Iterable[str]) -> set[str]:
    return {term for text in texts for term in analyzer.terms(text)}


def _empty(row: Mapping[str, Any]) -> None:
    changed = with_digest({**row, **_BLANK})
    columns = ", ".join(f"{name} = ?" for name in changed)
    execute(
        f"UPDATE judgements SET {columns} WHERE id = ?", *changed.values(), row["id"]
    )


IS_CITED = (
    "EXISTS (SELECT 1 FROM judgements j,"
    f" json_each({json_columns.valid('j.grip_ids')}) k"
    " WHERE k.value = grips.id)"
)
"""The condition of grips that judgements name."""
