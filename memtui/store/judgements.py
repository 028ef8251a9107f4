"""Judgements about the lines of summaries, and lines as they are judged.

Versions stay as they were made: a judgement is applied whenever one is read. Facts of a
session that were rejected are left out before its name, state and outcome are decided.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import chain
from typing import Any

from memtui.model.calendar import TocLevel
from memtui.model.events import from_ms
from memtui.model.judgements import HIDING, Claim, Judgement, Ruling
from memtui.model.nodes import Bullet, BulletKind, TocNode
from memtui.model.sessions import SessionWork, WorkState
from memtui.model.verdicts import SUPPORTED
from memtui.model.work import Facts, Line
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

_COLUMNS = (
    "id, subject, kind, text, ruling, words, grip_ids, event_ids, node_id, is_by_model,"
    " reason, author, at_ms, undoes"
)

_SESSION_OF = (
    "(SELECT s.agent || ':' || s.name FROM segments g JOIN sessions s"
    " ON s.id = g.session_id WHERE g.id = {node_id})"
)


def shown_text(subject: str) -> str:
    """Return the SQL expression of the text of a bullet ``b`` as it is judged.

    It is empty for one that is not shown any more.

    Args:
        subject: The expression of the subject of its claim.
    """
    hiding = ", ".join(f"'{ruling}'" for ruling in sorted(HIDING))
    return (
        f"coalesce((SELECT CASE WHEN j.ruling IN ({hiding}) THEN ''"
        " ELSE coalesce(nullif(j.words, ''), b.text) END FROM current_judgements j"
        f" WHERE j.subject = {subject} AND j.kind = b.kind AND j.text = b.text),"
        " b.text)"
    )


def subject_of_node(node_id: str) -> str:
    """Return the SQL expression of the subject of the lines of a node."""
    return f"coalesce({_SESSION_OF.format(node_id=node_id)}, {node_id})"


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
    rows = fetch_dicts(
        f"SELECT {_COLUMNS} FROM current_judgements WHERE subject {IN_JSON}"
        " ORDER BY id",
        json.dumps(sorted(subjects)),
    )
    by_subject: dict[str, dict[tuple[str, str], Judgement]] = {}
    for row in rows:
        claim_key = row["kind"], row["text"]
        by_subject.setdefault(row["subject"], {})[claim_key] = _to_judgement(row)
    return dict(by_subject)


def list_history(claim: Claim) -> list[Judgement]:
    """Return all that was ever said of a claim, the latest first."""
    rows = fetch_dicts(
        f"SELECT {_COLUMNS} FROM judgements WHERE subject = ? AND kind = ?"
        " AND text = ? ORDER BY id DESC",
        claim.subject,
        str(claim.kind),
        claim.text,
    )
    return list(map(_to_judgement, rows))


def list_current() -> list[Judgement]:
    """Return the judgements that count, the latest first."""
    sql = f"SELECT {_COLUMNS} FROM current_judgements ORDER BY id DESC"
    return list(map(_to_judgement, fetch_dicts(sql)))


def _to_judgement(row: Mapping[str, Any]) -> Judgement:
    return Judgement(
        claim=Claim(row["subject"], row["kind"], row["text"]),
        ruling=Ruling(row["ruling"]),
        words=row["words"],
        grip_ids=tuple(json.loads(row["grip_ids"])),
        event_ids=tuple(json.loads(row["event_ids"])),
        node_id=row["node_id"],
        is_by_model=bool(row["is_by_model"]),
        reason=row["reason"],
        author=row["author"],
        at=from_ms(row["at_ms"]),
        number=row["id"],
    )


# Lines as they are judged


def find_subjects(node_ids: Sequence[str]) -> dict[str, str]:
    """Return the subject of the lines of each node: its session if it is a segment."""
    sessions = fetch(
        "SELECT g.id, s.agent || ':' || s.name FROM segments g"
        f" JOIN sessions s ON s.id = g.session_id WHERE g.id {IN_JSON}",
        json.dumps(list(node_ids)),
    )
    return {node_id: node_id for node_id in node_ids} | dict(sessions)


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
    judged = []
    for node in nodes:
        by_text: dict[tuple[str, str], Judgement] = {}
        for subject in (*of_works[node.node_id], subjects[node.node_id]):
            by_text.update(by_subject.get(subject, {}))
        judged.append(_judge_node(node, by_text, with_kept=with_kept))
    return judged


def _judge_node(node: TocNode, by_text: ByText, *, with_kept: bool) -> TocNode:
    bullets = judge_lines(node.bullets, by_text)
    further = judge_lines(node.further, by_text)
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
        missing = list_missing(of_node, node)
        listed += [bullet for bullet in missing if not bullet.is_withheld]
        hidden += [bullet for bullet in missing if bullet.is_withheld]
    return replace(
        node, bullets=tuple(listed), further=tuple(further), withheld=tuple(hidden)
    )


def judge_lines(bullets: Iterable[Bullet], by_text: ByText) -> list[Bullet]:
    """Return lines with the judgements about them."""
    # A corrected fact has the other wording where it is taken from.
    worded = {(j.claim.kind, j.words): j for j in by_text.values() if j.words}
    judged = []
    for bullet in bullets:
        key = bullet.kind, bullet.text
        if judgement := by_text.get(key) or worded.get(key):
            grip_ids = judgement.grip_ids or bullet.grip_ids
            text = judgement.text
            bullet = replace(bullet, text=text, grip_ids=grip_ids, judgement=judgement)
        elif _is_part_hidden(bullet, by_text):
            bullet = replace(bullet, judgement=_PARTLY_REJECTED)
        judged.append(bullet)
    return judged


_JOINED = frozenset((BulletKind.COMMIT, BulletKind.PULL_REQUEST))
"""Kinds of which a segment has all in one line."""

_OUTCOME_CHARS = 20
"""So much of an outcome is in the line about its session, if any of it."""

_PARTLY_REJECTED = Judgement(
    Claim("", "", ""), Ruling.REJECTED, reason="a part of it was rejected"
)


def _is_part_hidden(bullet: Bullet, by_text: ByText) -> bool:
    """Return whether a line names something that was rejected by itself."""
    if bullet.kind is BulletKind.WORK:
        return any(
            judgement.ruling in HIDING
            and kind == BulletKind.OUTCOME
            and _session_id(judgement) == bullet.session_id
            and f" — {text[:_OUTCOME_CHARS]}" in bullet.text
            for (kind, text), judgement in by_text.items()
        )
    return bullet.kind in _JOINED and any(
        by_text[bullet.kind, part].ruling in HIDING
        for part in bullet.text.split("; ")
        if (bullet.kind, part) in by_text
    )


def list_missing(by_text: ByText, node: TocNode) -> list[Bullet]:
    """Return judged lines that a node lacks: rejected ones, and those that stay.

    A person's and a model's lines stay; facts are those that its events show.
    """
    return [
        Bullet(
            text=judgement.text,
            grip_ids=judgement.grip_ids,
            verdict=replace(SUPPORTED, is_by_model=judgement.is_by_model),
            kind=BulletKind(kind),
            project=node.projects[0] if node.projects else "",
            session_id=_session_id(judgement) if _is_segment(node) else "",
            judgement=judgement,
        )
        for (kind, _), judgement in by_text.items()
        if judgement.ruling in HIDING
        or (judgement.is_by_model or kind == BulletKind.ADDED)
    ]


def _is_segment(node: TocNode) -> bool:
    return node.level is TocLevel.SEGMENT


def _session_id(judgement: Judgement) -> str:
    return judgement.claim.subject.partition(":")[2]


# Facts as they are judged

_ITEMS = {
    BulletKind.DECISION: ("answers", "question"),
    BulletKind.COMMIT: ("commits", "subject"),
    BulletKind.PULL_REQUEST: ("pull_requests", "title"),
    BulletKind.TESTS: ("test_runs", ""),
    BulletKind.FAILED: ("failed_commands", "text"),
}
"""The list of facts of a kind, and the field of their text; "" if their event tells
which it is."""


def judge_facts(facts: Facts, by_text: ByText) -> Facts:
    """Return facts without those that were rejected, and with corrected ones."""
    for (kind, claimed), judgement in by_text.items():
        is_hidden = judgement.ruling in HIDING
        if kind == BulletKind.OUTCOME and facts.reply:
            event_id = facts.reply.event_id
            is_meant = event_id in judgement.event_ids or facts.reply.text == claimed
            if is_meant and not judgement.is_by_model:
                reply = Line(judgement.words, event_id) if judgement.words else None
                if is_hidden or reply:
                    facts = replace(facts, reply=reply)
        elif is_hidden and kind in _ITEMS:
            field, text_name = _ITEMS[BulletKind(kind)]
            items = tuple(
                item
                for item in getattr(facts, field)
                if item.event_id not in judgement.event_ids
                or (text_name and getattr(item, text_name)[:40] not in claimed)
            )
            changes: dict[str, Any] = {field: items}
            facts = replace(facts, **changes)
    return facts


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


def hash_facts(by_text: ByText, event_ids: AbstractSet[str]) -> str:
    """Return the numbers of the judgements that change the facts of some events."""
    kinds = {*_ITEMS, BulletKind.OUTCOME}
    return " ".join(
        str(judgement.number)
        for (kind, _), judgement in by_text.items()
        if kind in kinds
        and (judgement.ruling in HIDING or judgement.words)
        and not judgement.is_by_model
        and not event_ids.isdisjoint(judgement.event_ids)
    )


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
        " (SELECT 1 FROM json_each(j.event_ids) e JOIN selected d ON d.id = e.value)"
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
        event_ids = json.loads(row["event_ids"])
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


def list_outcomes() -> dict[str, str]:
    """Return the judged last messages of sessions, "" for a rejected one.

    They are listed by their events, and by subject and text, as in ``codex:s1 Done.``,
    since another message may say the same.
    """
    hiding = json.dumps(sorted(HIDING))
    rows = fetch(
        f"SELECT e.value, CASE WHEN ruling {IN_JSON} THEN '' ELSE words END"
        " FROM current_judgements j, json_each(json_insert(j.event_ids, '$[#]',"
        " j.subject || ' ' || j.text)) e WHERE j.kind = 'outcome'"
        f" AND NOT j.is_by_model AND (j.words <> '' OR ruling {IN_JSON})",
        hiding,
        hiding,
    )
    return dict(rows)


IS_CITED = (
    "EXISTS (SELECT 1 FROM judgements j, json_each(j.grip_ids) k"
    " WHERE k.value = grips.id)"
)
"""The condition of grips that judgements name."""
