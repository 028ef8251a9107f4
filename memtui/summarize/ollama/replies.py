"""Replies: parsing what a model wrote into a draft.

A bullet without refs is dropped, so that a reply cut anywhere never gives a claim
without a source. Whatever is written, the result is a draft or an
``InvalidReplyError``.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from memtui.model.events import clean
from memtui.model.summaries import BULLET_CHARS, TITLE_CHARS, DraftBullet, Summary
from memtui.summarize.ollama.errors import InvalidReplyError
from memtui.summarize.ollama.prompts import MAX_KEYWORD_CHARS, MAX_KEYWORDS, PromptInput
from memtui.text.prose import shorten_to_sentences

READ_CHARS = 40_000
"""The number of characters of a reply that are read."""

LEAST_CHARS = 3
"""The shortest bullet."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A draft as it was parsed."""

    summary: Summary
    left_out: int = 0
    """The number of bullets that could not be used."""
    surprise: float | None = None
    """The surprise of the log, 0 to 1; None if the reply lacks it."""


@dataclass(frozen=True, slots=True)
class _Fields:
    """The fields of a reply, before they are checked."""

    bullets: Sequence[tuple[Sequence[int], str]]
    title: str = ""
    keywords: Sequence[str] = ()
    surprise: float | None = None


def parse_reply(text: str, log: PromptInput, *, is_whole: bool = True) -> Reply:
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
    fields = _parse_json(shown) or _parse_cut_json(shown) or _parse_list(shown, whole)
    if fields is None:
        raise InvalidReplyError(
            "the reply is no summary" if shown.strip() else "an empty reply"
        )
    fence = log.fence
    claims = _distinct(_claims(fields, log, fence))[: log.bullets[1]]
    if not claims:
        raise InvalidReplyError("no bullet of the reply names a place in the log")
    title = _line(fields.title, fence) or claims[0].text
    words = (_line(word, fence) for word in fields.keywords)
    keywords = dict.fromkeys(w for w in words if 0 < len(w) <= MAX_KEYWORD_CHARS)
    summary = Summary(
        shorten_to_sentences(title, TITLE_CHARS),
        claims,
        tuple(keywords)[:MAX_KEYWORDS],
    )
    return Reply(summary, len(fields.bullets) - len(claims), fields.surprise)


def join_parts(parts: Sequence[Summary], most: int) -> Summary:
    """Join the summaries of a log's parts, without changing a word.

    Args:
        parts: The summaries, in order.
        most: How many bullets to keep: the first ones of each part.
    """
    row = [
        (rank, index, claim)
        for index, part in enumerate(parts)
        for rank, claim in enumerate(part.bullets)
    ]
    ranked = sorted(row, key=lambda one: one[:2])
    best = sorted(ranked[:most], key=lambda one: (one[1], one[0]))
    words = dict.fromkeys(word for part in parts for word in part.keywords)
    bullets = _distinct(claim for *_, claim in best)
    return Summary(parts[0].title, bullets, tuple(words)[:MAX_KEYWORDS])


def _is_quoted(text: str, log: PromptInput) -> bool:
    """Return True if a reply is in the log word for word, but for white space."""
    reply = "".join(text.split())
    return bool(reply) and reply in "".join(
        "".join(turn.text.split()) for turn in log.turns
    )


def _claims(fields: _Fields, log: PromptInput, fence: str) -> Iterator[DraftBullet]:
    """Return the bullets whose refs are turns of the log, with their positions."""
    for refs, text in fields.bullets:
        shown = _line(text, fence)
        turns = [log.turns[ref - 1] for ref in refs if 1 <= ref <= len(log.turns)]
        found = sorted({index for turn in turns for index in turn.positions})
        if len(shown) >= LEAST_CHARS and found:
            yield DraftBullet(shorten_to_sentences(shown, BULLET_CHARS), tuple(found))


def _distinct(claims: Iterable[DraftBullet]) -> tuple[DraftBullet, ...]:
    """Merge claims with the same words into one with all their refs."""
    found: dict[str, DraftBullet] = {}
    for claim in claims:
        key = claim.text.rstrip(" .…!;").casefold()
        first = found.get(key, claim)
        refs = tuple(sorted({*first.refs, *claim.refs}))
        found[key] = DraftBullet(first.text, refs)
    return tuple(found.values())


def _line(text: str, fence: str) -> str:
    """Return a text as one line; "" if it repeats the prompt's own fences."""
    return "" if fence in text else " ".join(clean(text).split())


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


def _parse_json(text: str) -> _Fields | None:
    """Return the first object in a text that has bullets."""
    for brace in re.finditer(r"\{(?=\s*\")", text):
        value, _ = _decoded(text, brace.start())
        if isinstance(value, dict) and isinstance(value.get("bullets"), list):
            return _Fields(
                [found for one in value["bullets"] if (found := _bullet(one))],
                _text(value.get("title")),
                [_text(word) for word in _list(value.get("keywords"))],
                _share(value.get("surprise")),
            )
    return None


_BULLETS = re.compile(r'"bullets"\s*:\s*\[')


def _share(value: object) -> float | None:
    """Return a number from 0 to 1; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1 else None


def _parse_cut_json(text: str) -> _Fields | None:
    """Return the whole bullets of an object that breaks off."""
    head = _BULLETS.search(text)
    if head is None:
        return None
    at, found = head.end(), []
    while value := _decoded(text, at := _skipped(text, at)):
        one, end = value
        if end == at:
            break
        if bullet := _bullet(one):
            found.append(bullet)
        at = end
    return _Fields(found)


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


def _parse_list(text: str, is_whole: bool) -> _Fields | None:
    """Return a list whose lines name their refs in brackets."""
    rows = text.splitlines(keepends=True)
    if rows and not is_whole and not rows[-1].endswith("\n"):
        rows.pop()
    heads: dict[str, str] = {}
    found: list[tuple[list[int], str]] = []
    for row in map(str.strip, rows):
        if head := _HEAD.fullmatch(row):
            heads.setdefault(head[1].lower()[:3], head[2].strip("* "))
        elif item := _ITEM.fullmatch(row):
            line = item[1]
            if refs := _FIRST.match(line) or _LAST.search(line):
                words = line[: refs.start()] + line[refs.end() :]
                found.append((_numbers(refs[1]), words))
    if not found:
        return None
    keywords = re.split(r"\s*[,;]\s*", heads.get("key", ""))
    return _Fields(found, heads.get("tit", ""), keywords)


def _numbers(text: str) -> list[int]:
    """Return the numbers of ``3, 5`` and of ``3-5``."""
    found: list[int] = []
    for part in re.split(r"[,;]", text):
        first, *last = (int(n) for n in re.findall(r"\d+", part))
        found += range(first, min(last[0], first + 9) + 1) if last else [first]
    return found


# Scripts

SCRIPT_CHARS = 20_000
"""The number of characters of a text read to find its scripts."""

SCRIPT_LETTERS = {"latin": 20}
"""The number of letters that show that a reply is in a script; 10 if it is not
listed. Commands and paths are in Latin letters whatever the language."""

MOSTLY = 0.6
"""A reply is in the script of this share of its letters."""

PRESENT = 0.08
"""A log with this share of letters in a script may be summarized in it."""


def is_in_other_script(reply: str, log: str) -> bool:
    """Return True if a reply is plainly in a script that its log does not use.

    Languages of the same script are not told apart.
    """
    found, expected = _scripts(reply), _scripts(log)
    for script, count in found.most_common(1):
        is_plain = count >= max(SCRIPT_LETTERS.get(script, 10), MOSTLY * found.total())
        return is_plain and 0 < expected.total() * PRESENT > expected[script]
    return False


def _scripts(text: str) -> Counter[str]:
    """Count the letters of a text by their script."""
    letters = (char for char in text[:SCRIPT_CHARS] if char.isalpha())
    return Counter(script for char in letters if (script := _script(char)))


@lru_cache(4096)
def _script(char: str) -> str:
    """Return the first word of a letter's Unicode name, which names its script."""
    if char.isascii():
        return "latin"
    name = unicodedata.name(char, "").split(" ")[0].split("-")[0].lower()
    return "kana" if name in ("hiragana", "katakana") else name
