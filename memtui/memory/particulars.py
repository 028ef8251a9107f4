"""Particulars: the names and numbers of a bullet, which its source must say as well.

A path, an identifier, a flag or a figure means one thing only, so it is compared as it
stands; and it must be said of the same thing, not merely somewhere near.
"""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache

from memtui.memory import words
from memtui.memory.vocabulary import STOP_WORDS

BESIDE = 3
"""How many telling words before and after a number are what it counts."""

_TICKED = re.compile(r"`([^`\n]{1,80})`")
_FLAG = re.compile(r"(?<![\w-])--([A-Za-z][\w\-]*)")
_ENUMERATED = re.compile(r"^\W{0,6}\d{1,2}[.)]\s")
_GROUPED = re.compile(r"(?<=\d)[,'’](?=\d{3}(?!\d))")
_FIGURE = re.compile(r"\d+(?:[./\-]\d+)*")
_JOINED = re.compile(r"\w(?:/|::|_|\.)\w|[@#]\w|^[./~]*/\w")
_HUMP = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_APOSTROPHE_S = re.compile("['’]s$")

_SPELLED = """
    two zwei twice; three drei; four vier; five fünf; six sechs; seven sieben
    eight acht; nine neun; ten zehn; eleven elf; twelve zwölf
"""
FIGURES = {
    word: str(number)
    for number, spelled in enumerate(re.split("[;\n]", _SPELLED.strip()), start=2)
    for word in spelled.split()
}
"""Numbers as people write them out; "one" is as often no number."""


@lru_cache(maxsize=words.PHRASES)
def of(text: str) -> tuple[str, ...]:
    """The names and numbers of a text, each once, in their order.

    Args:
        text: A bullet. The number of a list entry before it is none of its own.
    """
    code = {chunk for span in _TICKED.findall(text) for chunk in words.chunks(span)}
    code.update(_FLAG.findall(text))
    return tuple(
        dict.fromkeys(
            figure or chunk
            for chunk in words.chunks(_readable(text))
            if (figure := _figure(chunk))
            or _is_name(chunk)
            or (chunk in code and _tells(chunk))
        )
    )


def missing(
    bullet: str,
    tokens: Sequence[str],
    sentences: Sequence[str],
    shared: Collection[str],
) -> tuple[str, ...]:
    """The names and numbers of a bullet that its source does not say of the same thing.

    Args:
        bullet: The bullet.
        tokens: Its names and numbers, as ``of`` gives them.
        sentences: Those of the source that it rests on.
        shared: The bullet's terms that these hold. A name counts in a sentence that
            holds another of them, a number beside one that it stands beside in the
            bullet: elsewhere they are said of something else.
    """
    if not tokens:
        return ()
    told = _counted(bullet)
    counted = [_counted(one) for one in sentences] if told else []
    held = [set(words.terms(one)) for one in sentences]
    return tuple(
        token
        for token in tokens
        if not (
            _is_counted(told[token] & set(shared), token, counted)
            if token in told
            else _is_named(token, held, shared)
        )
    )


def _is_named(name: str, held: Sequence[set[str]], shared: Collection[str]) -> bool:
    own = words.terms(name)
    others, forms = set(shared).difference(own), own[:1]
    last = words.fold(name.rstrip("/").rpartition("/")[2])
    if "/" in name and "." in last:
        forms.append(last)
    return any(
        (not forms or not terms.isdisjoint(forms))
        and (not others or not others.isdisjoint(terms))
        for terms in held
    )


def _is_counted(
    beside: set[str], figure: str, counted: Sequence[dict[str, set[str]]]
) -> bool:
    return any(
        figure in one and (not beside or not beside.isdisjoint(one[figure]))
        for one in counted
    )


def _counted(text: str) -> dict[str, set[str]]:
    """The numbers of a text, each with the stems of the words beside it."""
    said = words.chunks(_readable(text))
    if not any(map(_figure, said)):
        return {}
    row = [chunk for chunk in said if _figure(chunk) or _tells_any(chunk)]
    found: dict[str, set[str]] = {}
    for at, chunk in enumerate(row):
        if figure := _figure(chunk):
            near = row[max(0, at - BESIDE) : at + BESIDE + 1]
            roots = (_root(one) for one in near if not _figure(one))
            found.setdefault(figure, set()).update(filter(None, roots))
    return found


def _readable(text: str) -> str:
    return _GROUPED.sub("", _ENUMERATED.sub("", text))


@lru_cache(maxsize=words.CACHED)
def _figure(chunk: str) -> str:
    """The number a word is, in figures; an empty string for any other word."""
    if _FIGURE.fullmatch(chunk):
        return chunk
    return FIGURES.get(words.fold(chunk), "")


def _tells(chunk: str) -> bool:
    return len(chunk) > 1 and _tells_any(chunk)


@lru_cache(maxsize=words.CACHED)
def _tells_any(chunk: str) -> bool:
    return words.fold(chunk) not in STOP_WORDS


@lru_cache(maxsize=words.CACHED)
def _root(chunk: str) -> str:
    return next(iter(words.needed(chunk)), "")


@lru_cache(maxsize=words.CACHED)
def _is_name(chunk: str) -> bool:
    chunk = _APOSTROPHE_S.sub("", chunk)
    if _JOINED.search(chunk) or _HUMP.search(chunk):
        return True
    return any(map(str.isdigit, chunk))
