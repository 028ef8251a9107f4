"""Particulars: the names and numbers of a bullet, which its source must say as well.

A path, an identifier, a flag or a figure means one thing only, so it is compared as it
stands; and it must be said of the same thing, not merely somewhere near.
"""

import re
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache

from memtui.memory import words
from memtui.memory.audit import figures
from memtui.memory.words import chunks
from memtui.memory.words.vocabulary import STOP_WORDS

_TICKED = re.compile(r"`([^`\n]{1,80})`")
_FLAG = re.compile(r"(?<![\w-])--([A-Za-z][\w\-]*)")
_JOINED = re.compile(r"\w(?:/|::|_|\.)\w|[@#]\w|^[./~]*/\w")
_HUMP = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_APOSTROPHE_S = re.compile("['’]s$")

Path = tuple[str, ...]
"""The parts of a path, folded."""


@lru_cache(maxsize=words.PHRASES)
def of(text: str) -> tuple[str, ...]:
    """The names and numbers of a text, each once, in their order.

    Args:
        text: A bullet. The number of a list entry before it is none of its own.
    """
    code = {chunk for span in _TICKED.findall(text) for chunk in chunks.of(span)}
    code.update(_FLAG.findall(text))
    return tuple(
        dict.fromkeys(
            number or chunk
            for chunk in chunks.of(figures.readable(text))
            if (number := figures.figure(chunk))
            or _is_name(chunk)
            or (chunk in code and _tells(chunk))
        )
    )


def missing(
    bullet: str,
    tokens: Sequence[str],
    sentences: Sequence[str],
    shared: Collection[str],
    paths: Callable[[str], Collection[str]],
) -> tuple[str, ...]:
    """The names and numbers of a bullet that its source does not say of the same thing.

    Args:
        bullet: The bullet.
        tokens: Its names and numbers, as ``of`` gives them.
        sentences: Those of the source that it rests on.
        shared: The bullet's terms that these hold. A name counts in a sentence that
            holds another of them: elsewhere it is said of something else.
        paths: The whole source's paths that end in a name. A path of which the
            sentences say only the end is held as long as none of these contradicts it.
    """
    if not tokens:
        return ()
    numbers = {one.figure for one in figures.of(bullet)}
    unsaid = figures.unsaid(bullet, sentences, shared)
    named = [(set(words.terms(one)), _paths(one)) for one in sentences]
    return tuple(
        token
        for token in tokens
        if (
            token in unsaid
            if token in numbers
            else not _is_named(token, named, shared, paths)
        )
    )


def _is_named(
    name: str,
    named: Sequence[tuple[set[str], list[Path]]],
    shared: Collection[str],
    paths: Callable[[str], Collection[str]],
) -> bool:
    own = words.terms(name)
    others, whole = set(shared).difference(own), _path(name)
    beside = [
        (terms, held)
        for terms, held in named
        if not others or not others.isdisjoint(terms) or terms.issubset(own)
    ]
    if len(whole) < 2:
        return not own or any(own[0] in terms for terms, _ in beside)
    if any(
        _agree(whole, one) and len(one) >= len(whole) for _, h in beside for one in h
    ):
        return True
    last = whole[-1]
    is_short = any(_agree(whole, one) for _, held in beside for one in held) or (
        "." in last and any(last in terms for terms, _ in beside)
    )
    return is_short and all(_agree(whole, _path(one)) for one in paths(last))


def _path(name: str) -> Path:
    bare = _APOSTROPHE_S.sub("", chunks.fold(name))
    return tuple(part for part in bare.split("/") if part not in ("", ".", ".."))


def _paths(text: str) -> list[Path]:
    return [_path(chunk) for chunk in chunks.of(text) if "/" in chunk]


def _agree(one: Path, other: Path) -> bool:
    """Whether two paths are the same from the end, as far as both go."""
    both = min(len(one), len(other))
    return one[-both:] == other[-both:]


def _tells(chunk: str) -> bool:
    return len(chunk) > 1 and _tells_any(chunk)


@lru_cache(maxsize=words.CACHED)
def _tells_any(chunk: str) -> bool:
    return chunks.fold(chunk) not in STOP_WORDS


@lru_cache(maxsize=words.CACHED)
def _is_name(chunk: str) -> bool:
    chunk = _APOSTROPHE_S.sub("", chunk)
    if _JOINED.search(chunk) or _HUMP.search(chunk):
        return True
    return any(map(str.isdigit, chunk))
