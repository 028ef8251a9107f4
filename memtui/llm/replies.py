"""Replies: what a model wrote, read as a draft, or the reason why it is none.

A bullet without its refs is no bullet, so that a reply cut anywhere never gives a
claim that stands on nothing. Whatever is written, the answer is a draft or a
``BadReply``.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memtui.llm.faults import BadReply
from memtui.llm.prompts import KEYWORDS, WORD_CHARS, Log
from memtui.model.events import clean
from memtui.model.summaries import (
    BULLET_CHARS,
    TITLE_CHARS,
    DraftBullet,
    Summary,
    shorten,
)

READ_CHARS = 40_000
"""How much of a reply is looked at."""


LEAST_CHARS = 3
"""A shorter bullet says nothing."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A draft, and how many of its bullets could not be used."""

    summary: Summary
    left_out: int = 0
    surprise: float | None = None
    """How surprising it says the log is: 0 to 1; None if it does not say."""


@dataclass(frozen=True, slots=True)
class _Said:
    bullets: Sequence[tuple[Sequence[int], str]]
    title: str = ""
    keywords: Sequence[str] = ()
    surprise: float | None = None


def read(text: str, log: Log, *, is_whole: bool = True) -> Reply:
    """Read a reply to what was asked about a log.

    Args:
        text: What the model wrote: JSON, JSON in prose, or a list.
        log: What it was asked about; refs become the places of its turns.
        is_whole: Whether the model was done; if not, only bullets that are whole
            count, and a last line without its end does not.

    Raises:
        BadReply: No bullet can be read, none names a place in the log, or the whole
            reply stands there: somebody wants it said.
    """
    shown = _without_thoughts(text[:READ_CHARS])
    if _is_told(shown, log):
        raise BadReply("the reply is what the log itself asks for")
    whole = is_whole and len(text) <= READ_CHARS
    said = _of_json(shown) or _salvaged(shown) or _of_list(shown, whole)
    if said is None:
        raise BadReply("the reply is no summary" if shown.strip() else "an empty reply")
    fence = log.fence
    kept = _distinct(_claims(said, log, fence))[: log.bullets[1]]
    if not kept:
        raise BadReply("no bullet of the reply names a place in the log")
    title = _line(said.title, fence) or kept[0].text
    words = (_line(word, fence) for word in said.keywords)
    keywords = dict.fromkeys(w for w in words if 0 < len(w) <= WORD_CHARS)
    summary = Summary(shorten(title, TITLE_CHARS), kept, tuple(keywords)[:KEYWORDS])
    return Reply(summary, len(said.bullets) - len(kept), said.surprise)


def joined(parts: Sequence[Summary], most: int) -> Summary:
    """The summaries of a log's parts as one, without a word changed.

    Args:
        parts: In their order.
        most: How many bullets to keep: the first ones of each part.
    """
    row = [
        (rank, place, claim)
        for place, part in enumerate(parts)
        for rank, claim in enumerate(part.bullets)
    ]
    ranked = sorted(row, key=lambda one: one[:2])
    kept = sorted(ranked[:most], key=lambda one: (one[1], one[0]))
    words = dict.fromkeys(word for part in parts for word in part.keywords)
    bullets = _distinct(claim for *_, claim in kept)
    return Summary(parts[0].title, bullets, tuple(words)[:KEYWORDS])


def _is_told(text: str, log: Log) -> bool:
    """Whether a reply stands in the log as it is, but for white space."""
    reply = "".join(text.split())
    return bool(reply) and reply in "".join(
        "".join(turn.text.split()) for turn in log.turns
    )


def _claims(said: _Said, log: Log, fence: str) -> Iterator[DraftBullet]:
    """The bullets whose refs are turns of the log, with the places of these."""
    for refs, text in said.bullets:
        shown = _line(text, fence)
        turns = [log.turns[ref - 1] for ref in refs if 1 <= ref <= len(log.turns)]
        places = sorted({place for turn in turns for place in turn.places})
        if len(shown) >= LEAST_CHARS and places:
            yield DraftBullet(shorten(shown, BULLET_CHARS), tuple(places))


def _distinct(claims: Iterable[DraftBullet]) -> tuple[DraftBullet, ...]:
    """Claims whose words differ: what is said twice is one, with all its places."""
    found: dict[str, DraftBullet] = {}
    for claim in claims:
        key = claim.text.rstrip(" .…!;").casefold()
        first = found.get(key, claim)
        places = tuple(sorted({*first.refs, *claim.refs}))
        found[key] = DraftBullet(first.text, places)
    return tuple(found.values())


def _line(text: str, fence: str) -> str:
    """A text as one line; "" if it repeats the prompt's own fences."""
    return "" if fence in text else " ".join(clean(text).split())


_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)


def _without_thoughts(text: str) -> str:
    """What was meant to be read; an unclosed thought goes on to the end."""
    if "</think" in text and "<think" not in text:
        return text.rpartition("</think")[2].partition(">")[2]
    return _THOUGHTS.sub("", text)


_decoder = json.JSONDecoder(strict=False)


def _decoded(text: str, at: int) -> tuple[Any, int]:
    """The JSON value at a place and where it ends; None where there is none."""
    try:
        return _decoder.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, at


def _of_json(text: str) -> _Said | None:
    """The first object in a text that has bullets."""
    for found in re.finditer(r"\{(?=\s*\")", text):
        value, _ = _decoded(text, found.start())
        if isinstance(value, dict) and isinstance(value.get("bullets"), list):
            return _Said(
                [read for one in value["bullets"] if (read := _bullet(one))],
                _text(value.get("title")),
                [_text(word) for word in _list(value.get("keywords"))],
                _share(value.get("surprise")),
            )
    return None


_BULLETS = re.compile(r'"bullets"\s*:\s*\[')


def _share(value: object) -> float | None:
    """A number from 0 to 1; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1 else None


def _salvaged(text: str) -> _Said | None:
    """The whole bullets of an object that breaks off."""
    head = _BULLETS.search(text)
    if head is None:
        return None
    at, found = head.end(), []
    while value := _decoded(text, at := _skipped(text, at)):
        one, end = value
        if end == at:
            break
        if read := _bullet(one):
            found.append(read)
        at = end
    return _Said(found)


def _skipped(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n,":
        at += 1
    return at


def _bullet(value: object) -> tuple[list[int], str] | None:
    if not isinstance(value, dict):
        return None
    refs = value.get("refs", value.get("ref"))
    numbers = [n for ref in _list(refs) if (n := _number(ref)) is not None]
    return numbers, _text(value.get("text"))


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _number(value: object) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"\d{1,6}", value.strip(), re.ASCII):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


_ITEM = re.compile(r"\s*(?:[-*•–]|\d{1,3}[.)])\s+(.*)")


_NAMED = r"[\[(]\s*(?:(?:refs?|lines?):?\s*)?(\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*)\s*[\])]"


_FIRST = re.compile(rf"{_NAMED}[\s:.–-]*", re.IGNORECASE)


_LAST = re.compile(rf"[\s:–-]*{_NAMED}\W*$", re.IGNORECASE)


_HEAD = re.compile(r"\W*(title|titel|keywords?)\W*:\W*(.+)", re.IGNORECASE)


def _of_list(text: str, is_whole: bool) -> _Said | None:
    """A list whose lines name their refs in brackets."""
    rows = text.splitlines(keepends=True)
    if rows and not is_whole and not rows[-1].endswith("\n"):
        rows.pop()
    heads: dict[str, str] = {}
    found: list[tuple[list[int], str]] = []
    for row in map(str.strip, rows):
        if head := _HEAD.fullmatch(row):
            heads.setdefault(head[1].lower()[:3], head[2].strip("* "))
        elif item := _ITEM.fullmatch(row):
            said = item[1]
            if refs := _FIRST.match(said) or _LAST.search(said):
                words = said[: refs.start()] + said[refs.end() :]
                found.append((_numbers(refs[1]), words))
    if not found:
        return None
    keywords = re.split(r"\s*[,;]\s*", heads.get("key", ""))
    return _Said(found, heads.get("tit", ""), keywords)


def _numbers(text: str) -> list[int]:
    """The numbers of ``3, 5`` and of ``3-5``."""
    found: list[int] = []
    for part in re.split(r"[,;]", text):
        first, *last = (int(n) for n in re.findall(r"\d+", part))
        found += range(first, min(last[0], first + 9) + 1) if last else [first]
    return found
