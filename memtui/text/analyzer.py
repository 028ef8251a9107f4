"""Words: the one analyser, for what is indexed, what is asked and what is marked.

A text is cut into chunks: a word, a compound (``token_refresh``, ``src/auth.rs``,
``std::vec``, ``#123``, ``v1.2.3``) or a run of a script written without blanks. Each
chunk gives terms: itself as it stands, its parts, and the stem of each; a run of
Chinese, Japanese, Korean or Thai gives its pairs of characters. The same chunk gives
the same terms wherever it is met, so that text and query always meet.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from memtui.text.stemmer import stem, word_prefixes
from memtui.text.stopwords import STOP_WORDS

MAX_TEXT_CHARS = 400_000
"""How much of a text is read, in characters; what follows is not looked at."""

MAX_WORD_CHARS = 160
"""How much of one chunk is read: what is longer is not a word but a blob."""

PATH_SUFFIXES = 4
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
class WordPart:
    """A stretch of a chunk and the terms it gives, the loosest one last."""

    start: int
    end: int
    terms: tuple[str, ...]
    is_joined: bool = False
    """Whether its own humps follow it as pieces."""


def words(text: str) -> list[str]:
    """A text's words and compounds as they are written, in their order."""
    read = blank_redactions(text[:MAX_TEXT_CHARS])
    return word_pattern(read).findall(read)


def is_unspaced(chunk: str) -> bool:
    """Whether a chunk is a run of a script that is written without blanks."""
    return not chunk.isascii() and bool(_IS_UNSPACED.match(chunk))


def blank_redactions(text: str) -> str:
    """A text with blanks for the marks of what was redacted: nobody said those."""
    if "[redacted: " not in text:
        return text
    return _MARK.sub(lambda mark: " " * len(mark.group()), text)


def word_pattern(text: str) -> re.Pattern[str]:
    """ASCII's pattern is four times as fast; signs like "…" leave it right."""
    if text.isascii():
        return _ASCII_CHUNKS
    rare = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)
    is_foreign = _BEYOND_ASCII.search(rare.decode("utf-8", "surrogatepass"))
    return _CHUNKS if is_foreign else _ASCII_CHUNKS


def last_part(chunk: str) -> str:
    """The last of the words a chunk is made of, as it stands there: ``name``."""
    cut = chunk[:MAX_WORD_CHARS]
    found = bigrams(cut) if _IS_UNSPACED.match(cut) else split_parts(cut)
    return found[-1].terms[0] if found else fold(cut)


def split_word(chunk: str) -> tuple[WordPart, ...]:
    """A chunk as it stands, the ends of a path, and the parts it is made of."""
    if _IS_UNSPACED.match(chunk):
        singles = (
            WordPart(at, at + 1, (fold(char),))
            for at, char in enumerate(chunk)
            if len(chunk) > 1 and _IS_HAN.match(char)
        )
        return (*bigrams(chunk), *singles)
    made = split_parts(chunk)
    if len(made) == 1 and made[0].end - made[0].start == len(chunk):
        return made
    size = len(chunk)
    whole = _APOSTROPHE_S.sub("", fold(chunk)).replace("’", "'")
    found = [WordPart(0, size, _forms(whole) if len(made) == 1 else (whole,))]
    cuts = [at + 1 for at, char in enumerate(chunk) if char == "/"]
    found += [
        WordPart(at, size, (fold(chunk[at:]),)) for at in cuts[1 - PATH_SUFFIXES :]
    ]
    if chunk[0] in "#@" or (chunk[0] in "vV" and chunk[1:2].isdigit()):
        found.append(WordPart(1, size, (fold(chunk[1:]),)))
    return (*found, *(part for part in made if len(part.terms[0]) > 1))


def split_parts(chunk: str) -> tuple[WordPart, ...]:
    """The words a chunk is made of, humps and numbers apart."""
    if chunk.isalpha() and chunk.isascii() and chunk[1:].islower():
        return (WordPart(0, len(chunk), _forms(chunk.lower())),)
    found = []
    for word in _PART.finditer(chunk):
        start, text = word.start(), word.group()
        humps = list(_HUMPS.finditer(text)) if text.isascii() else []
        if len(humps) > 1 and "'" not in text:
            found.append(WordPart(start, word.end(), (fold(text),), is_joined=True))
            found += [
                WordPart(
                    start + hump.start(), start + hump.end(), _forms(fold(hump[0]))
                )
                for hump in humps
            ]
        else:
            plain = _APOSTROPHE_S.sub("", fold(text)).replace("’", "'")
            found.append(WordPart(start, word.end(), _forms(plain)))
    return tuple(found)


def bigrams(run: str) -> tuple[WordPart, ...]:
    """A run of a script without blanks, two characters at a time."""
    if len(run) == 1:
        return (WordPart(0, 1, (fold(run),)),)
    return tuple(
        WordPart(at, at + 2, (fold(run[at : at + 2]),)) for at in range(len(run) - 1)
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


WORD_CACHE_SIZE = 65_536
"""How many chunks' terms are remembered: words come back far more often than not."""

PHRASE_CHARS = 600
"""Up to this length, in characters, a text is a phrase: a title, a sentence."""

PHRASE_CACHE_SIZE = 4_096
"""How many phrases' needed terms are remembered: each is weighed several times."""

PATTERN_CACHE_SIZE = 512
"""Of how many questions it is remembered how the words begin that may answer them."""

PREFILTER_CACHE_SIZE, PREFILTER_WORDS = 16, 8_192
"""Of how many questions it is remembered which words may answer them, and of how many
words each."""

SPLIT_CACHE_SIZE = 1_024
"""How many chunks that hold what was asked for are remembered with their pieces."""


def terms(text: str) -> list[str]:
    """The terms of a text in their order, for an index and for a query alike.

    Stop words are left out; of a text of stop words alone they are all there is.

    Args:
        text: Any string; only its first ``chunks.CAP_CHARS`` characters are read.
    """
    found = words(text)
    kept = list(chain.from_iterable(map(_TERMS.__getitem__, found)))
    return kept or [fold(chunk) for chunk in found]


def query_terms(text: str) -> list[str]:
    """The terms a text must hold to answer a query: for each word its loosest form.

    ``running`` asks for ``run``, which every text with a form of it has among its
    ``terms``; ``getUserName`` asks for ``get``, ``user`` and ``name``. Unlike
    ``terms`` this holds nothing twice.

    Args:
        text: What a person typed.
    """
    of = _needed_by_phrase if len(text) <= PHRASE_CHARS else _needed_by
    return list(of(text))


def matching_terms(
    text: str, whole: Collection[str], begun: Collection[str]
) -> set[str]:
    """The terms of a text that are among some, or that begin as one of others does.

    The words that cannot have such a term are not looked at more closely: that is most
    of them, and a text is read twenty times as fast.

    Args:
        text: Any string.
        whole: Terms.
        begun: How terms begin.
    """
    likely = term_prefilter([*whole, *begun])
    found = [chunk for chunk in words(text) if likely(chunk)]
    held = set(chain.from_iterable(map(_TERMS.__getitem__, found)))
    if found and not held:
        held = set(terms(text))
    told = held.intersection(whole)
    if starts := tuple(begun):
        told.update(term for term in held if term.startswith(starts))
    return told


def term_prefilter(wanted: Iterable[str]) -> Callable[[str], object]:
    """Tells of a chunk whether it may give terms that begin so, at little cost.

    Args:
        wanted: Terms, or how they begin.
    """
    return _may_give(frozenset(wanted)).__getitem__


class _Likely(dict[str, bool]):
    """Which chunks may answer a question: each is looked at once."""

    def __init__(self, wanted: frozenset[str]) -> None:
        self._search = _heads_of(wanted)

    def __missing__(self, chunk: str) -> bool:
        if len(self) >= PREFILTER_WORDS:
            self.clear()
        found = self[chunk] = bool(self._search(chunk))
        return found


_may_give = lru_cache(maxsize=PREFILTER_CACHE_SIZE)(_Likely)


@lru_cache(maxsize=PATTERN_CACHE_SIZE)
def _heads_of(wanted: frozenset[str]) -> Callable[[str], object]:
    starts = sorted({head for start in wanted for head in word_prefixes(start)})
    said = "|".join(map(re.escape, starts)) or r"(?!)"
    return re.compile(rf"[^\x00-\x7f]|{said}", re.IGNORECASE).search


def find_spans(
    text: str, wanted: Collection[str], begun: Collection[str] = ()
) -> list[tuple[int, int]]:
    """Where a text holds one of the wanted terms, to mark it in a snippet.

    Args:
        text: What is shown.
        wanted: Terms, as ``terms`` gives them for the query.
        begun: How terms begin that are wanted too.

    Returns:
        Offsets (start, end) in their order, touching ones joined.
    """
    sought = frozenset(wanted)
    if not (sought or begun):
        return []
    joined: list[tuple[int, int]] = []
    for start, end in sorted(_matching(text, sought, tuple(begun))):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _needed_by(text: str) -> tuple[str, ...]:
    found = words(text)
    kept = dict.fromkeys(chain.from_iterable(map(_NEEDED.__getitem__, found)))
    return tuple(kept or dict.fromkeys(fold(chunk) for chunk in found))


_needed_by_phrase = lru_cache(maxsize=PHRASE_CACHE_SIZE)(_needed_by)


def _matching(
    text: str, sought: frozenset[str], starts: tuple[str, ...]
) -> Iterator[tuple[int, int]]:
    read = blank_redactions(text[:MAX_TEXT_CHARS])
    # What is looked up tells at once which chunks are worth cutting apart.
    is_telling = sought.isdisjoint(STOP_WORDS)
    likely = term_prefilter([*sought, *starts])
    for match in word_pattern(read).finditer(read):
        chunk, start = match.group(), match.start()
        if is_telling and not (likely(chunk) and _has(_TERMS[chunk], sought, starts)):
            continue
        whole = fold(chunk)
        if whole in sought or (whole.startswith(starts) and whole in _TERMS[chunk]):
            yield start, match.end()
            continue
        for piece in _cut_apart(chunk[:MAX_WORD_CHARS]):
            if _has(piece.terms, sought, starts):
                yield start + piece.start, start + piece.end


def _has(
    terms: tuple[str, ...], sought: frozenset[str], starts: tuple[str, ...]
) -> bool:
    """Whether there are terms that are sought, or that begin so and are looked up."""
    return not sought.isdisjoint(terms) or (
        bool(starts)
        and any(term.startswith(starts) and term not in STOP_WORDS for term in terms)
    )


def word_terms(chunk: str) -> tuple[str, ...]:
    """The terms of one chunk; none of a stop word."""
    return _TERMS[chunk]


def is_indexed(chunk: str) -> bool:
    """Whether a chunk is looked up: it is no stop word."""
    return bool(_TERMS[chunk])


class _Remembered(dict[str, tuple[str, ...]]):
    """What chunks give, worked out once; when there are too many, all are forgotten.

    It is asked for every word of every text, half as long as an ``lru_cache`` would be.
    """

    def __init__(self, work_out: Callable[[str], tuple[str, ...]]) -> None:
        self._work_out = work_out

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        if len(self) >= WORD_CACHE_SIZE:
            self.clear()
        found = self[chunk] = self._work_out(chunk)
        return found


def _terms(chunk: str) -> tuple[str, ...]:
    """The terms of a chunk; none for a stop word."""
    chunk = chunk[:MAX_WORD_CHARS]
    pieces = split_word(chunk)
    if len(pieces) == 1 and pieces[0].terms[0] in STOP_WORDS:
        return ()
    return tuple(
        dict.fromkeys(
            term
            for piece in pieces
            for term in piece.terms
            if piece.terms[0] not in STOP_WORDS
        )
    )


def _needed(chunk: str) -> tuple[str, ...]:
    chunk = chunk[:MAX_WORD_CHARS]
    if is_unspaced(chunk):
        return tuple(piece.terms[-1] for piece in bigrams(chunk))
    leaves = split_parts(chunk)
    inner = [leaf for leaf in leaves if not leaf.is_joined]
    words = [leaf.terms[0] for leaf in inner]
    if chunk[0] == "#" or chunk[-1] in "+#" or all(word.isdigit() for word in words):
        return _terms(chunk)[:1]
    alone = len(inner) == 1 and inner[0].end - inner[0].start == len(chunk)
    if not alone and min(map(len, words)) == 1:
        return _terms(chunk)[:1]
    return _loosest(inner) or _terms(chunk)[:1]


_TERMS, _NEEDED = _Remembered(_terms), _Remembered(_needed)


def _loosest(pieces: Collection[WordPart]) -> tuple[str, ...]:
    return tuple(
        piece.terms[-1] for piece in pieces if piece.terms[0] not in STOP_WORDS
    )


_cut_apart = lru_cache(maxsize=SPLIT_CACHE_SIZE)(split_word)
