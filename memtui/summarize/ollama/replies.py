"""Replies: parsing what a model wrote into a summary.

A reply that was cut keeps its whole objects. Whether the words are supported by their
source is checked by the caller.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from memtui.model.events import clean
from memtui.model.nodes import BULLET_CHARS, BulletKind, DraftBullet, Summary
from memtui.summarize.ollama import prompts
from memtui.summarize.ollama.errors import InvalidReplyError
from memtui.summarize.ollama.record import PromptRecord, shorten_to_sentences
from memtui.text import sentences

READ_CHARS = 40_000
"""The number of characters of a reply that are read."""


def parse_reply(text: str, record: PromptRecord) -> Summary:
    """Parse a reply to the prompt with a record.

    A thought before the JSON is ignored.

    Raises:
        InvalidReplyError: It has no JSON, it says nothing, or it is quoted from the
            record: an instruction in it was obeyed.
    """
    return _Reader(record).read(_parse(text, record))


def _parse(text: str, record: PromptRecord) -> dict[str, Any]:
    answer = _THOUGHT.sub("", text[:READ_CHARS]).strip()
    if not answer:
        raise InvalidReplyError("an empty reply")
    if "".join(answer.split()) in "".join(record.text.split()):
        raise InvalidReplyError("the reply is what the record itself asks for")
    value = _parse_object(answer)
    if value is None:
        raise InvalidReplyError("the reply is no JSON")
    return value


def parse_answer(text: str, record: PromptRecord) -> tuple[str, str]:
    """Return the answer about a claim, and the words of its source that decide.

    Words that the source does not have are left out.
    """
    try:
        value = _parse(text, record)
    except InvalidReplyError:
        return prompts.NO_ANSWER, ""
    answer, words = str(value.get("answer")), str(value.get("words"))
    if answer not in prompts.ANSWERS:
        return prompts.NO_ANSWER, ""
    words = " ".join(words.split())
    is_quoted = any(words in " ".join(line.text.split()) for line in record.lines)
    return answer, sentences.truncate(words, prompts.QUOTE_CHARS) if is_quoted else ""


class _Reader:
    """Reads the objects of one reply."""

    def __init__(self, record: PromptRecord) -> None:
        self._record, self._lines = record, record.lines
        self._fence = record.fence
        self._bullets: dict[tuple[BulletKind, str], DraftBullet] = {}

    def read(self, value: dict[str, Any]) -> Summary:
        if self._record.is_session:
            for goal in _objects(value.get("goals")):
                self._read_goal(goal)
            title = self._text(value.get("title"), prompts.TITLE_CHARS)
        else:
            for line in _objects(value.get("projects")):
                self._read_project(line)
            title = self._text(value.get("headline"), prompts.HEADLINE_CHARS)
        bullets = tuple(self._bullets.values())
        if not title and not bullets:
            raise InvalidReplyError("the reply says nothing")
        if not title:
            works = (bullet.work for bullet in bullets if bullet.work)
            title = next(works, bullets[0].text)
        words = (
            self._text(word, prompts.MAX_KEYWORD_CHARS)
            for word in _list(value.get("keywords"))
        )
        keywords = tuple(dict.fromkeys(filter(None, words)))
        return Summary(title, bullets, keywords[: prompts.MAX_KEYWORDS])

    def _read_goal(self, goal: dict[str, Any]) -> None:
        """Add the outcome of a goal, its choices and what is open."""
        work = self._text(goal.get("title"), prompts.TITLE_CHARS)
        event_ids = self._event_ids(goal)
        outcome = self._text(goal.get("outcome"), BULLET_CHARS)
        if not _NOT_SHOWN.match(outcome):
            self._add(DraftBullet(outcome, event_ids, BulletKind.OUTCOME, work=work))
        kinds = {"choices": BulletKind.DECISION, "open": BulletKind.LEFT_OPEN}
        for field, kind in kinds.items():
            for item in _objects(goal.get(field)):
                text = self._text(item.get("text"), BULLET_CHARS)
                item_ids = self._event_ids(item) or event_ids
                self._add(DraftBullet(text, item_ids, kind, work=work))

    def _read_project(self, line: dict[str, Any]) -> None:
        text = self._text(line.get("text"), BULLET_CHARS)
        projects = [self._lines[ref - 1].project for ref in self._refs(line)]
        project = projects[0] if projects and len(self._record.projects) > 1 else ""
        text = text.removeprefix(f"{project}: ") if project else text
        self._add(DraftBullet(text, self._event_ids(line), project=project))

    def _add(self, bullet: DraftBullet) -> None:
        """Add a bullet, unless it says nothing, or the reply said it already."""
        if bullet.text:
            self._bullets.setdefault((bullet.kind, bullet.text.casefold()), bullet)

    def _refs(self, value: dict[str, Any]) -> list[int]:
        """Return the numbers of lines that an object refers to."""
        numbers = (_number(ref) for ref in _list(value.get("refs")))
        return [number for number in numbers if 1 <= number <= len(self._lines)]

    def _event_ids(self, value: dict[str, Any]) -> tuple[str, ...]:
        lines = (self._lines[ref - 1] for ref in self._refs(value))
        return tuple(dict.fromkeys(name for line in lines for name in line.event_ids))

    def _text(self, value: object, limit: int) -> str:
        """Return a text as one line; "" if it repeats the prompt's own fences."""
        if not isinstance(value, str) or self._fence in value:
            return ""
        return shorten_to_sentences(" ".join(clean(value).split()).strip("…"), limit)


_NOT_SHOWN = re.compile(rf"\W*{prompts.NOT_SHOWN}\b.{{0,30}}$", re.IGNORECASE)

_THOUGHT = re.compile(
    r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)|\A.*</think(?:ing)?>(?=\s*\{)",
    re.DOTALL,
)
"""A thought before the answer: it may lack its beginning, or its end if it was cut."""

_decoder = json.JSONDecoder(strict=False)


def _parse_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object in a reply; of one that was cut, its whole objects."""
    begin = text.find("{")
    if begin < 0:
        return None
    for part in (text[begin:], _closed(text[begin:])):
        try:
            value, _ = _decoder.raw_decode(part)
        except (ValueError, RecursionError):
            continue
        return value if isinstance(value, dict) else None
    return None


_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\Z)|[{}\[\]]', re.DOTALL)


def _closed(text: str) -> str:
    """Return a cut object up to the end of its last whole object, and closed."""
    brackets: list[str] = []
    closed = ""
    for token in _TOKENS.finditer(text):
        if token[0] in "{[":
            brackets.append("}" if token[0] == "{" else "]")
        elif token[0] in "}]":
            if not brackets or brackets.pop() != token[0]:
                break
            if token[0] == "}":
                closed = text[: token.end()] + "".join(reversed(brackets))
    return closed


def _objects(value: object) -> Iterator[dict[str, Any]]:
    return (item for item in _list(value) if isinstance(item, dict))


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _number(value: object) -> int:
    """Return a whole number; 0 for anything else."""
    if isinstance(value, str) and re.fullmatch(r"\d{1,6}", value.strip(), re.ASCII):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
