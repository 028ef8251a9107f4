"""Windows: messages that answer with what was said around them, as agents read them.

What stands around several of them is told once.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import tzinfo

from memtui.memory.found import MessageHit, Said
from memtui.memory.replies import Plain, citations
from memtui.memory.replies.fencing import line as neutral
from memtui.recall.itemising import LEAD_CHARS, TEXT_CHARS, clock, named, score, short


def message_hit(
    one: MessageHit, zone: tzinfo, *, around: int, is_listed: bool = False
) -> Plain:
    """A message that answers, with so many characters of each one beside it."""
    match = one.match
    told: Plain = {
        "id": citations.of_event(one.event_id) if one.event_id else "",
        "score": None if is_listed else round(one.score, 2),
        "session": named(one.session.agent, one.session.session_id),
        "at": clock(match.at if match else one.session.created_at, zone),
        "title": neutral(one.session.title)[:LEAD_CHARS],
        "window": [
            _said(said, TEXT_CHARS if said.is_match else around)
            for said in one.window
            if said.is_match or around
        ],
    }
    if match is None:
        told["snippet"] = neutral(one.about.text)
    return told


def message_hits(
    several: Sequence[MessageHit],
    zone: tzinfo,
    *,
    around: int,
    is_listed: bool = False,
) -> list[Plain]:
    """Messages that answer; what stands around several of them is told once.

    A message that was told whole beside an earlier one is marked there, with its id.

    Args:
        several: The best first.
        zone: The calendar's.
        around: How much of each message beside one is told, in characters.
        is_listed: Whether no word was looked for: then none has a score.
    """
    told: list[Plain] = []
    known: dict[str, Plain] = {}
    for one in several:
        match, before = one.match, known.get(one.event_id)
        if match and before and before["text"] == short(neutral(match.snippet.text)):
            before |= {"is_match": True, "id": citations.of_event(one.event_id)}
            continue
        new = [it for it in one.window if it.is_match or it.event_id not in known]
        item = message_hit(
            replace(one, window=tuple(new)), zone, around=around, is_listed=is_listed
        )
        given = [said for said in new if said.is_match or around]
        known |= {
            it.event_id: said for it, said in zip(given, item["window"], strict=True)
        }
        told.append(item)
    return told


def _said(one: Said, most: int) -> Plain:
    told: Plain = {"msg_idx": one.msg_idx, "role": one.role.value}
    told["text"] = short(neutral(one.snippet.text), most)
    return told | ({"is_match": True} if one.is_match else {})


def message_hit_line(told: Plain) -> str:
    """The same as lines."""
    head = f"{score(told)}{told['id']} {told['at']} {told['session']}"
    said = [f"  {_by(one)}: {one['text']}" for one in told["window"]]
    title, about = told["title"], told.get("snippet", "")
    named = title if about in title else f"{title} | {about}"
    return "\n".join([head, *(said or [f"  {named}"])])


def _by(said: Plain) -> str:
    """Who said it; of a further message that answers also what opens it."""
    return f"{said['id']} {said['role']}" if "id" in said else str(said["role"])
