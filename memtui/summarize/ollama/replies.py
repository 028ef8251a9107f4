"""Replies: parsing what a model wrote into a draft.

A bullet without refs is dropped, so that a reply cut anywhere never gives a claim
without a source. Whatever is written, the result is a draft or an
``InvalidReplyError``.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memtui.model.events import clean
from memtui.model.nodes import (
    BULLET_CHARS,
    HEADLINE_CHARS,
    BulletKind,
    DraftBullet,
    Summary,
)
from memtui.summarize import acceptance
from memtui.summarize.ollama.errors import InvalidReplyError
from memtui.summarize.ollama.prompts import (
    CARD_FIELDS,
    MAX_KEYWORD_CHARS,
    MAX_KEYWORDS,
    OWN_TEXTS,
    PromptInput,
)
from memtui.text.prose import shorten_to_sentences

READ_CHARS = 40_000
"""The number of characters of a reply that are read."""

LEAST_CHARS = 3
"""The shortest bullet."""


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """A draft as it was parsed; before it is checked, its refs are numbers of turns."""

    summary: Summary
    left_out: int = 0
    """The number of bullets that could not be used."""
    surprise: float | None = None
    """The surprise of the log, 0 to 1; None if the reply lacks it."""


def parse_reply(text: str, log: PromptInput, *, is_whole: bool = True) -> ParsedReply:
    """Parse a reply to the prompt about a log.

    Args:
        text: What the model wrote: JSON, JSON in prose, or a list.
        log: The log; refs become the positions of its turns.
        is_whole: Whether the model finished; if not, the last bullet is dropped
            unless it is whole.

    Raises:
        InvalidReplyError: No bullet can be read, none refers to the log, or the whole
            reply is quoted from the log: an instruction in it was obeyed.
    """
    shown = _without_thoughts(text[:READ_CHARS])
    if _is_quoted(shown, log):
        raise InvalidReplyError("the reply is what the log itself asks for")
    whole = is_whole and len(text) <= READ_CHARS
    raw = _parse_json(shown) or _parse_list(shown, whole)
    if raw is None:
        raise InvalidReplyError(
            "the reply is no summary" if shown.strip() else "an empty reply"
        )
    fence = log.fence
    written = raw.summary
    claims = _select(_distinct(_claims(written.bullets, log, fence)), log.bullets[1])
    if not claims:
        raise InvalidReplyError("no bullet of the reply names a place in the log")
    title = _sentence_line(written.title.strip() or claims[0].text, fence)
    words = (_line(word, fence) for word in written.keywords)
    keywords = dict.fromkeys(w for w in words if 0 < len(w) <= MAX_KEYWORD_CHARS)
    summary = Summary(
        shorten_to_sentences(title, log.title_chars),
        claims,
        tuple(keywords)[:MAX_KEYWORDS],
    )
    return ParsedReply(summary, len(written.bullets) - len(claims), raw.surprise)


def join_parts(parts: Sequence[Summary], most: int) -> Summary:
    """Join the summaries of a log's parts, without changing a word.

    Of several cards the first one says what was asked, and the last one what came of
    it and what is left open; the first names the work. Of several lists the first
    bullets count, and all are named.

    Args:
        parts: The summaries, in order.
        most: The maximum number of bullets of a list.
    """
    row = [
        (rank, index, claim)
        for index, part in enumerate(parts)
        for rank, claim in enumerate(part.bullets)
    ]
    best = sorted(sorted(row, key=lambda one: one[:2])[:most], key=lambda one: one[1])
    notes = [claim for *_, claim in best if claim.kind is BulletKind.NOTE]
    cards = [claim for *_, claim in row if claim.kind is not BulletKind.NOTE]
    last = [claim for claim in reversed(cards) if claim.kind in _FROM_LAST]
    first = [claim for claim in cards if claim.kind not in _FROM_LAST]
    words = dict.fromkeys(word for part in parts for word in part.keywords)
    bullets = _select(_distinct((*first, *last, *notes)), most)
    names = dict.fromkeys(part.title for part in parts if part.title)
    title = parts[0].title if cards else "; ".join(names)
    title = shorten_to_sentences(title, HEADLINE_CHARS)
    return Summary(title, bullets, tuple(words)[:MAX_KEYWORDS])


_FROM_LAST = (BulletKind.OUTCOME, BulletKind.LEFT_OPEN)
"""What the last part of a log knows best."""


def _select(claims: Sequence[DraftBullet], most: int) -> tuple[DraftBullet, ...]:
    """Return the first claims of each field, and ``most`` that belong to none."""
    limits = {kind: limit or 1 for kind, limit in CARD_FIELDS.values()}
    kinds = (*limits, BulletKind.NOTE)
    return tuple(
        claim
        for kind in kinds
        for claim in [one for one in claims if one.kind is kind][
            : limits.get(kind, most)
        ]
    )


def _is_quoted(text: str, log: PromptInput) -> bool:
    """Return True if a reply is in the log word for word, but for white space."""
    reply = "".join(text.split())
    return bool(reply) and reply in "".join(
        "".join(turn.text.split()) for turn in log.turns
    )


def _claims(
    bullets: Iterable[DraftBullet], log: PromptInput, fence: str
) -> Iterator[DraftBullet]:
    """Yield the bullets whose refs are numbers of turns, with the turns' positions."""
    for one in bullets:
        shown = _sentence_line(one.text, fence)
        turns = [log.turns[ref - 1] for ref in one.refs if 1 <= ref <= len(log.turns)]
        found = tuple(sorted({index for turn in turns for index in turn.positions}))
        if len(shown) >= LEAST_CHARS and found:
            text = shorten_to_sentences(acceptance.trim(shown), BULLET_CHARS)
            yield DraftBullet(text, found, one.kind)


def _distinct(claims: Iterable[DraftBullet]) -> tuple[DraftBullet, ...]:
    """Merge claims with the same words into one with all their refs."""
    found: dict[str, DraftBullet] = {}
    for claim in claims:
        key = claim.text.rstrip(" .…!;").casefold()
        first = found.get(key, claim)
        refs = tuple(sorted({*first.refs, *claim.refs}))
        found[key] = replace(first, refs=refs)
    return tuple(found.values())


def _line(text: str, fence: str) -> str:
    """Return a text as one line; "" if it repeats the prompt's own fences."""
    return "" if fence in text else " ".join(clean(text).split())


_OWN_TEXTS = tuple(map(acceptance.squeeze, OWN_TEXTS))


def _sentence_line(text: str, fence: str) -> str:
    """Return a sentence as one line; "" if it repeats the prompt."""
    squeezed = acceptance.squeeze(text)
    is_own = squeezed and any(squeezed in own for own in _OWN_TEXTS)
    return "" if is_own else _line(text, fence)


_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)


def _without_thoughts(text: str) -> str:
    """Remove thinking; an unclosed tag goes on to the end."""
    if "</think" in text and "<think" not in text:
        return text.rpartition("</think")[2].partition(">")[2]
    return _THOUGHTS.sub("", text)


_decoder = json.JSONDecoder(strict=False)


def _decoded(text: str, at: int) -> tuple[Any, int]:
    """Return the JSON value at an index and where it ends; None if there is none."""
    try:
        return _decoder.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, at


_FIELDS = (*CARD_FIELDS, "bullets", "title", "keywords", "surprise")
_FIELD = re.compile(rf'"({"|".join(_FIELDS)})"\s*:\s*')


def _parse_json(text: str) -> ParsedReply | None:
    """Return a reply as it was written, even one that breaks off.

    Of a field that occurs twice, the first counts.
    """
    values: dict[str, Any] = {}
    end = 0
    for field in _FIELD.finditer(text):
        if field.start() >= end:
            value, end = _read_value(text, field.end())
            values.setdefault(field[1], value)
    kinds = {name: kind for name, (kind, _) in CARD_FIELDS.items()}
    lists = {
        name: _list(values[name]) for name in (*kinds, "bullets") if name in values
    }
    if not lists:
        return None
    bullets = (
        _sentence(one, kinds.get(name, BulletKind.NOTE))
        for name, row in lists.items()
        for one in row
        if isinstance(one, dict)
    )
    keywords = (_text(word) for word in _list(values.get("keywords")))
    summary = Summary(_text(values.get("title")), tuple(bullets), tuple(keywords))
    return ParsedReply(summary, surprise=_share(values.get("surprise")))


def _read_value(text: str, at: int) -> tuple[Any, int]:
    """Return the value at an index, or the whole items of a list that breaks off."""
    value, end = _decoded(text, at)
    if end > at or text[at : at + 1] != "[":
        return value, end
    items = []
    at = _skipped(text, at + 1)
    while (decoded := _decoded(text, at))[1] > at:
        items.append(decoded[0])
        at = _skipped(text, decoded[1])
    return items, at


def _share(value: object) -> float | None:
    """Return a number from 0 to 1; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1 else None


def _skipped(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n,":
        at += 1
    return at


def _sentence(value: dict[str, Any], kind: BulletKind) -> DraftBullet:
    refs = value.get("refs", value.get("ref"))
    numbers = (n for ref in _list(refs) if (n := _number(ref)) is not None)
    return DraftBullet(_text(value.get("text")), tuple(numbers), kind)


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


def _parse_list(text: str, is_whole: bool) -> ParsedReply | None:
    """Return a list whose lines name their refs in brackets."""
    rows = text.splitlines(keepends=True)
    if rows and not is_whole and not rows[-1].endswith("\n"):
        rows.pop()
    heads: dict[str, str] = {}
    found: list[DraftBullet] = []
    for row in map(str.strip, rows):
        if head := _HEAD.fullmatch(row):
            heads.setdefault(head[1].lower()[:3], head[2].strip("* "))
        elif item := _ITEM.fullmatch(row):
            line = item[1]
            if refs := _FIRST.match(line) or _LAST.search(line):
                words = line[: refs.start()] + line[refs.end() :]
                found.append(DraftBullet(words, tuple(_numbers(refs[1]))))
    if not found:
        return None
    keywords = re.split(r"\s*[,;]\s*", heads.get("key", ""))
    return ParsedReply(Summary(heads.get("tit", ""), tuple(found), tuple(keywords)))


def _numbers(text: str) -> list[int]:
    """Return the numbers of ``3, 5`` and of ``3-5``."""
    found: list[int] = []
    for part in re.split(r"[,;]", text):
        first, *last = (int(n) for n in re.findall(r"\d+", part))
        found += range(first, min(last[0], first + 9) + 1) if last else [first]
    return found
