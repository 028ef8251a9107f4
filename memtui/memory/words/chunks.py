"""Chunks: what a text is cut into, and the pieces each of them gives.

A chunk is a word, a compound (``token_refresh``, ``src/auth.rs``, ``std::vec``,
``#123``, ``v1.2.3``) or a run of a script written without blanks.
"""

import re
import unicodedata
from dataclasses import dataclass

from memtui.memory.words.stems import stem

CAP_CHARS = 400_000
"""How much of a text is read, in characters; what follows is not looked at."""

CHUNK_CHARS = 160
"""How much of one chunk is read: what is longer is not a word but a blob."""

PATH_ENDS = 4
"""How many ends of a path are terms: ``a/b/c.py`` also gives ``b/c.py``, ``c.py``."""

_UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Khmer
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3130-\u318f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\uff66-\uffdc\U0001b000-\U0001b16f\U00020000-\U0003fffd"
)
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u064b-\u065f\u0900-\u0dff\u20d0-\u20ff"
)
_LETTERS = rf"(?:[^\W{_UNSPACED}]|[{_MARKS}])"
_JOIN = r"(?:://|::|[./@'’\-])"
_CHUNKS = re.compile(
    rf"[{_UNSPACED}]+"
    rf"|[Cc]\+\+|[CcFf]\#(?!\w)|[\#@.]?{_LETTERS}+(?:{_JOIN}[\#@._]?{_LETTERS}+)*"
)
_ASCII_PARTS = r"(?:(?:://|::|[./@'\-])[#@._]?\w+)*"
_ASCII_CHUNKS = re.compile(
    rf"[#@.A-Za-z0-9_](?:\w+{_ASCII_PARTS}|(?<=[Cc])\+\+|(?<=[CcFf])#(?!\w)"
    rf"|(?<=\w){_ASCII_PARTS})",
    re.ASCII,
)
_ASCII = bytes(range(128))
_BEYOND_ASCII = re.compile(rf"[^\W\x00-\x7f]|[’{_MARKS}{_UNSPACED}]")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_IS_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]")
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PART = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_APOSTROPHE_S = re.compile(r"['’]s$")
_MARK = re.compile(r"\[redacted: [\w /.-]{1,40}\]")
_ACCENTS = re.compile("[\u0300-\u036f]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a chunk and the terms it gives, the loosest one last."""

    start: int
    end: int
    terms: tuple[str, ...]
    is_joined: bool = False
    """Whether its own humps follow it as pieces."""


def of(text: str) -> list[str]:
    """A text's words and compounds as they are written, in their order."""
    read = without_marks(text[:CAP_CHARS])
    return pattern(read).findall(read)


def is_unspaced(chunk: str) -> bool:
    """Whether a chunk is a run of a script that is written without blanks."""
    return not chunk.isascii() and bool(_IS_UNSPACED.match(chunk))


def without_marks(text: str) -> str:
    """A text with blanks for the marks of what was redacted: nobody said those."""
    if "[redacted: " not in text:
        return text
    return _MARK.sub(lambda mark: " " * len(mark.group()), text)


def pattern(text: str) -> re.Pattern[str]:
    """ASCII's pattern is four times as fast; signs like "…" leave it right."""
    if text.isascii():
        return _ASCII_CHUNKS
    rare = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)
    is_foreign = _BEYOND_ASCII.search(rare.decode("utf-8", "surrogatepass"))
    return _CHUNKS if is_foreign else _ASCII_CHUNKS


def last_part(chunk: str) -> str:
    """The last of the words a chunk is made of, as it stands there: ``name``."""
    cut = chunk[:CHUNK_CHARS]
    found = pairs(cut) if _IS_UNSPACED.match(cut) else parts(cut)
    return found[-1].terms[0] if found else fold(cut)


def pieces(chunk: str) -> tuple[Piece, ...]:
    """A chunk as it stands, the ends of a path, and the parts it is made of."""
    if _IS_UNSPACED.match(chunk):
        singles = (
            Piece(at, at + 1, (fold(char),))
            for at, char in enumerate(chunk)
            if len(chunk) > 1 and _IS_HAN.match(char)
        )
        return (*pairs(chunk), *singles)
    made = parts(chunk)
    if len(made) == 1 and made[0].end - made[0].start == len(chunk):
        return made
    size = len(chunk)
    whole = _APOSTROPHE_S.sub("", fold(chunk)).replace("’", "'")
    found = [Piece(0, size, _forms(whole) if len(made) == 1 else (whole,))]
    cuts = [at + 1 for at, char in enumerate(chunk) if char == "/"]
    found += [Piece(at, size, (fold(chunk[at:]),)) for at in cuts[1 - PATH_ENDS :]]
    if chunk[0] in "#@" or (chunk[0] in "vV" and chunk[1:2].isdigit()):
        found.append(Piece(1, size, (fold(chunk[1:]),)))
    return (*found, *(part for part in made if len(part.terms[0]) > 1))


def parts(chunk: str) -> tuple[Piece, ...]:
    """The words a chunk is made of, humps and numbers apart."""
    if chunk.isalpha() and chunk.isascii() and chunk[1:].islower():
        return (Piece(0, len(chunk), _forms(chunk.lower())),)
    found = []
    for word in _PART.finditer(chunk):
        start, text = word.start(), word.group()
        humps = list(_HUMPS.finditer(text)) if text.isascii() else []
        if len(humps) > 1 and "'" not in text:
            found.append(Piece(start, word.end(), (fold(text),), is_joined=True))
            found += [
                Piece(start + hump.start(), start + hump.end(), _forms(fold(hump[0])))
                for hump in humps
            ]
        else:
            plain = _APOSTROPHE_S.sub("", fold(text)).replace("’", "'")
            found.append(Piece(start, word.end(), _forms(plain)))
    return tuple(found)


def pairs(run: str) -> tuple[Piece, ...]:
    """A run of a script without blanks, two characters at a time."""
    if len(run) == 1:
        return (Piece(0, 1, (fold(run),)),)
    return tuple(
        Piece(at, at + 2, (fold(run[at : at + 2]),)) for at in range(len(run) - 1)
    )


def _forms(word: str) -> tuple[str, ...]:
    """A folded word, then without accents, then its stem."""
    if not word.isascii():
        split = unicodedata.normalize("NFD", word)
        bare = unicodedata.normalize("NFC", _ACCENTS.sub("", split))
        return tuple(dict.fromkeys((word, bare, stem(bare))))
    root = stem(word)
    return (word,) if root == word else (word, root)


def fold(word: str) -> str:
    """A word as it is compared: compatible forms made one, without case."""
    if word.isascii():
        return word.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).casefold())
