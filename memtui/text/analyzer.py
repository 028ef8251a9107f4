"""Split text into words and terms: the one analyzer for indexes, queries and
highlighting.

A word is a plain word, a compound (``token_refresh``, ``src/auth.rs``, ``std::vec``,
``#123``, ``v1.2.3``) or a run of a script written without spaces. Each word gives
terms: itself, its parts, and the stem of each. A run of Chinese, Japanese, Korean or
Thai gives its pairs of characters. The same word always gives the same terms, so that
text and query match.

The weights of terms, at the end, are those of BM25, as far as rankings have them in
common.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import NamedTuple, TypeVar

from memtui.text.stems import stem, word_prefixes
from memtui.text.stopwords import STOP_WORDS

MAX_TEXT_CHARS = 400_000
"""Only this much of a text is read."""

MAX_WORD_CHARS = 160
"""Only this much of a word is read: a longer one is a blob, not a word."""

_UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Khmer
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3130-\u318f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\uff66-\uffdc\U0001b000-\U0001b16f\U00020000-\U0003fffd"
)

_COMBINING = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u064b-\u065f\u0900-\u0dff\u20d0-\u20ff"
)

_LETTERS = rf"(?:[^\W{_UNSPACED}]|[{_COMBINING}])"
_JOIN = r"(?:://|::|[./@'’\-])"
_JOINS = dict.fromkeys(map(ord, "_-"))


@cache
def _words_pattern() -> re.Pattern[str]:
    # Compiled when first used, as the two below: together they take 9 ms.
    return re.compile(
        rf"[{_UNSPACED}]+|[Cc]\+\+|[CcFf]\#(?!\w)"
        rf"|[\#@.]?{_LETTERS}+(?:{_JOIN}[\#@._]?{_LETTERS}+)*"
    )


@cache
def _unspaced_pattern() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]")


@cache
def _han_pattern() -> re.Pattern[str]:
    return re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]")


_ASCII_PARTS = r"(?:(?:://|::|[./@'\-])[#@._]?\w+)*"

_ASCII_WORDS = re.compile(
    rf"[#@.A-Za-z0-9_](?:\w+{_ASCII_PARTS}|(?<=[Cc])\+\+|(?<=[CcFf])#(?!\w)"
    rf"|(?<=\w){_ASCII_PARTS})",
    re.ASCII,
)

_ASCII = bytes(range(128))
_BEYOND_ASCII = re.compile(rf"[^\W\x00-\x7f]|[’{_COMBINING}{_UNSPACED}]")
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PLURAL_ACRONYM = re.compile(r"[A-Z]{2,}s")
_WORD_PART = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_APOSTROPHE_S = re.compile(r"['’]s$")
_REDACTION = re.compile(r"\[redacted: [\w /.-]{1,40}\]")
_ACCENTS = re.compile("[\u0300-\u036f]")


class WordPart(NamedTuple):
    """A part of a word and its terms, the most general one last."""

    start: int
    end: int
    terms: tuple[str, ...]
    is_compound: bool = False
    """True if its own parts (``get``, ``Name`` of ``getName``) follow it."""
    is_name: bool = False
    """True if a query requires it as a whole: ``GitHub`` is neither Git nor a hub."""


def words(text: str) -> list[str]:
    """Return the words and compounds of a text as written, in order."""
    read = blank_redactions(text[:MAX_TEXT_CHARS])
    return word_pattern(read).findall(read)


def is_unspaced(word: str) -> bool:
    return not word.isascii() and bool(_unspaced_pattern().match(word))


def blank_redactions(text: str) -> str:
    """Replace the marks of redacted secrets by spaces."""
    if "[redacted: " not in text:
        return text
    return _REDACTION.sub(lambda mark: " " * len(mark.group()), text)


def word_pattern(text: str) -> re.Pattern[str]:
    """Return the pattern for a text; that for ASCII is four times as fast.

    Non-ASCII punctuation such as "…" does not need the slower pattern.
    """
    if text.isascii():
        return _ASCII_WORDS
    rare = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)
    is_foreign = _BEYOND_ASCII.search(rare.decode("utf-8", "surrogatepass"))
    return _words_pattern() if is_foreign else _ASCII_WORDS


def find_word(text: str, word: str) -> Iterator[tuple[int, int]]:
    """Yield where a text has a word or a number, in either case, but not as a part of a
    longer one."""
    before, after = rf"(?<!{_LETTERS})(?<!\d[.,])", rf"(?!{_LETTERS})(?![.,]\d)"
    pattern = f"{before}{re.escape(word)}{after}"
    for match in re.finditer(pattern, text, re.IGNORECASE):
        yield match.span()


def last_part(word: str) -> str:
    """Return the last part of a word: ``name`` of ``user_name``."""
    cut = word[:MAX_WORD_CHARS]
    parts = bigrams(cut) if is_unspaced(cut) else _required_parts(cut)
    return parts[-1].terms[0] if parts else fold(cut)


def split_word(word: str) -> tuple[WordPart, ...]:
    """Return a word, the suffixes of a path, and the parts it consists of."""
    if is_unspaced(word):
        singles = (
            WordPart(at, at + 1, (fold(char),))
            for at, char in enumerate(word)
            if len(word) > 1 and _han_pattern().match(char)
        )
        return (*bigrams(word), *singles)
    own = split_parts(word)
    if len(own) == 1 and own[0].end - own[0].start == len(word):
        return own
    size = len(word)
    whole = _APOSTROPHE_S.sub("", fold(word)).replace("’", "'")
    pairs = [*_join_pairs(word, own)]
    forms = _forms(whole) if len(own) == 1 else (whole,)
    if len(own) == 2 and pairs and pairs[0].end - pairs[0].start == size:
        # In place of the word as written: another term would make the text longer.
        forms, pairs = pairs[0].terms[-1:], []
    parts = [WordPart(0, size, forms)]
    # ``a/b/c.py`` also gives ``b/c.py`` and ``c.py``.
    cuts = [at + 1 for at, char in enumerate(word) if char == "/"]
    parts += [WordPart(at, size, (fold(word[at:]),)) for at in cuts[-3:]]
    if word[0] in "#@" or (word[0] in "vV" and word[1:2].isdigit()):
        parts.append(WordPart(1, size, (fold(word[1:]),)))
    parts += pairs
    return (*parts, *(part for part in own if len(part.terms[0]) > 1))


def _join_pairs(word: str, parts: Sequence[WordPart]) -> Iterator[WordPart]:
    """Yield pairs of parts as one name: ``TokenStore`` of ``useTokenStore``, of
    ``token_store`` and of ``token-store.ts``, but none of "state-of-the-art"."""
    is_prose = len(parts) > 2 and word.replace("-", "").isalpha()
    joins = {"_"} if is_prose else {"_", "-"}
    for first, second in pairwise(part for part in parts if not part.is_compound):
        left, right = word[first.start : first.end], word[second.start : second.end]
        has_letters = left.isalpha() and right.isalpha()
        if first.end == second.start or (
            has_letters and word[first.end : second.start] in joins
        ):
            yield WordPart(first.start, second.end, _forms(fold(left + right)))


def split_parts(word: str) -> tuple[WordPart, ...]:
    """Return the parts of a word; camel case and numbers are split."""
    if _is_plain(word):
        return (WordPart(0, len(word), _forms(word.lower())),)
    parts = []
    for match in _WORD_PART.finditer(word):
        start, text = match.start(), match.group()
        if _is_plain(text):
            parts.append(WordPart(start, match.end(), _forms(text.lower())))
            continue
        if _PLURAL_ACRONYM.fullmatch(text):
            folded = text.lower()
            parts.append(WordPart(start, match.end(), (folded, folded[:-1])))
            continue
        humps = list(_HUMPS.finditer(text)) if text.isascii() else []
        if len(humps) > 1 and "'" not in text:
            is_name = (
                len(humps) == 2
                and text.isalpha()
                and text[0].isupper()
                and min(len(part[0]) for part in humps) > 1
            )
            forms = _forms(fold(text))
            parts.append(WordPart(start, match.end(), forms, True, is_name))
            parts += [
                WordPart(
                    start + part.start(), start + part.end(), _forms(fold(part[0]))
                )
                for part in humps
            ]
        else:
            plain = _APOSTROPHE_S.sub("", fold(text)).replace("’", "'")
            parts.append(WordPart(start, match.end(), _forms(plain)))
    return tuple(parts)


def _required_parts(word: str) -> list[WordPart]:
    """Return the parts that a query requires: names whole, other compounds in parts."""
    required, end = [], 0
    for part in split_parts(word):
        if part.is_name:
            end = part.end
        elif part.is_compound or part.start < end:
            continue
        required.append(part)
    return required


def _is_plain(word: str) -> bool:
    """Return whether a word is one part: English letters, only the first a capital."""
    return word.isalpha() and word.isascii() and word[1:].islower()


def bigrams(run: str) -> tuple[WordPart, ...]:
    if len(run) == 1:
        return (WordPart(0, 1, (fold(run),)),)
    return tuple(
        WordPart(at, at + 2, (fold(run[at : at + 2]),)) for at in range(len(run) - 1)
    )


def _forms(word: str) -> tuple[str, ...]:
    """Return a folded word, the same without accents, and its stem."""
    if not word.isascii():
        split = unicodedata.normalize("NFD", word)
        bare = unicodedata.normalize("NFC", _ACCENTS.sub("", split))
        return tuple(dict.fromkeys((word, bare, stem(bare))))
    root = stem(word)
    return (word,) if root == word else (word, root)


def fold(word: str) -> str:
    """Normalize a word for comparison: compatible characters unified, lower case."""
    if word.isascii():
        return word.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).casefold())


WORD_CACHE_SIZE, PHRASE_CACHE_SIZE = 65_536, 4_096
"""Number of words and of phrases for which a result is cached."""

TERM_CACHE_SIZE = 262_144
"""Number of words cached with their terms as one text. With half as many, indexing
100,000 messages takes half as long again."""

PHRASE_CHARS = 600
"""A text up to this length (a title, a sentence) is cached as a whole."""


def terms(text: str) -> list[str]:
    """Return the terms of a text in order, for indexes and queries alike.

    Stop words are left out, unless there is nothing else. Only the first
    ``MAX_TEXT_CHARS`` characters are read.
    """
    found_words = words(text)
    result = list(chain.from_iterable(map(_TERMS.__getitem__, found_words)))
    return result or [fold(word) for word in found_words]


def term_text(text: str) -> str:
    """Return the ``terms`` of a text, each followed by a space.

    For an index, which takes them as one text: faster than joining them.
    """
    found_words = words(text)
    result = "".join(map(_TERM_TEXTS.__getitem__, found_words))
    return result or "".join([f"{fold(word)} " for word in found_words])


def query_terms(text: str) -> list[str]:
    """Return the terms a text must contain to match a query, without duplicates.

    For each word this is its most general form: ``running`` gives ``run``, which is
    among the ``terms`` of every text with a form of it; ``getUserName`` gives ``get``,
    ``user`` and ``name``. A name such as ``GitHub`` is required as a whole.
    """
    find = _phrase_query_terms if len(text) <= PHRASE_CHARS else _find_query_terms
    return list(find(text))


def matching_terms(
    text: str, sought: Collection[str], prefixes: Collection[str]
) -> set[str]:
    """Return the terms of a text that are sought, or start with a sought prefix.

    Words that cannot give such a term are skipped early, which makes this twenty times
    as fast as ``terms``.
    """
    likely = term_prefilter([*sought, *prefixes])
    likely_words = [word for word in words(text) if likely(word)]
    found_terms = set(chain.from_iterable(map(_TERMS.__getitem__, likely_words)))
    if likely_words and not found_terms:
        found_terms = set(terms(text))
    matching = found_terms.intersection(sought)
    if starts := tuple(prefixes):
        matching.update(term for term in found_terms if term.startswith(starts))
    return matching


def term_prefilter(prefixes: Iterable[str]) -> Callable[[str], object]:
    """Return a cheap test of whether a word may give terms with these prefixes."""
    return _prefilter(frozenset(prefixes)).__getitem__


_Made = TypeVar("_Made")


class _WordCache(dict[str, _Made]):
    """A cache of what words give; when full, what was not used lately is dropped.

    A plain dictionary, since it is used for every word of every text and ``lru_cache``
    takes twice as long. The words used before it was last full are in a second one.
    """

    def __init__(self, work_out: Callable[[str], _Made], size: int) -> None:
        self._work_out, self._size = work_out, size // 2
        self._earlier: dict[str, _Made] = {}

    def __missing__(self, word: str) -> _Made:
        if len(self) >= self._size:
            self._earlier = dict(self)
            self.clear()
        try:
            value = self._earlier[word]
        except KeyError:
            value = self._work_out(word)
        self[word] = value
        return value


@lru_cache(64)
def _prefilter(prefixes: frozenset[str]) -> _WordCache[object]:
    starts = sorted({head for start in prefixes for head in word_prefixes(start)})
    alternatives = "|".join(map(re.escape, starts)) or r"(?!)"
    likely = re.compile(rf"[^\x00-\x7f]|{alternatives}", re.IGNORECASE)
    # "tokenstore" is a term of "token_store", too.
    return _WordCache(
        lambda word: likely.search(word) or likely.search(word.translate(_JOINS)), 8_192
    )


def find_spans(
    text: str, terms: Collection[str], prefixes: Collection[str] = ()
) -> list[tuple[int, int]]:
    """Return the spans of some terms, or of those with a prefix, in order.

    Adjacent ones are merged.
    """
    term_set = frozenset(terms)
    if not (term_set or prefixes):
        return []
    joined: list[tuple[int, int]] = []
    for start, end in sorted(_find_matches(text, term_set, tuple(prefixes))):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _find_query_terms(text: str) -> tuple[str, ...]:
    found_words = words(text)
    result = dict.fromkeys(
        chain.from_iterable(map(_QUERY_TERMS.__getitem__, found_words))
    )
    return tuple(result or dict.fromkeys(fold(word) for word in found_words))


_phrase_query_terms = lru_cache(PHRASE_CACHE_SIZE)(_find_query_terms)


def _find_matches(
    text: str, sought: frozenset[str], starts: tuple[str, ...]
) -> Iterator[tuple[int, int]]:
    read = blank_redactions(text[:MAX_TEXT_CHARS])
    # The terms to find show at once which chunks are worth splitting.
    is_specific = sought.isdisjoint(STOP_WORDS)
    likely = term_prefilter([*sought, *starts])
    for match in word_pattern(read).finditer(read):
        word, start = match.group(), match.start()
        if is_specific and not (
            likely(word) and _has_match(_TERMS[word], sought, starts)
        ):
            continue
        whole = fold(word)
        if whole in sought or (whole.startswith(starts) and whole in _TERMS[word]):
            yield start, match.end()
            continue
        for part in _split_match(word[:MAX_WORD_CHARS]):
            if _has_match(part.terms, sought, starts):
                yield start + part.start, start + part.end


_split_match = lru_cache(PHRASE_CACHE_SIZE)(split_word)


def _has_match(
    terms: tuple[str, ...], sought: frozenset[str], starts: tuple[str, ...]
) -> bool:
    """Return whether a term is wanted, or is indexed and starts with a wanted
    prefix."""
    return not sought.isdisjoint(terms) or (
        bool(starts)
        and any(term.startswith(starts) and term not in STOP_WORDS for term in terms)
    )


def word_terms(word: str) -> tuple[str, ...]:
    return _TERMS[word]


def is_indexed(word: str) -> bool:
    return bool(_TERMS[word])


def _terms(word: str) -> tuple[str, ...]:
    word = word[:MAX_WORD_CHARS]
    if _is_plain(word):  # as most words are: the rest takes three times as long
        lowered = word.lower()
        return () if lowered in STOP_WORDS else _forms(lowered)
    parts = split_word(word)
    if len(parts) == 1 and parts[0].terms[0] in STOP_WORDS:
        return ()
    return tuple(
        dict.fromkeys(
            term
            for part in parts
            for term in part.terms
            if part.terms[0] not in STOP_WORDS
        )
    )


def _word_query_terms(word: str) -> tuple[str, ...]:
    word = word[:MAX_WORD_CHARS]
    if is_unspaced(word):
        return tuple(part.terms[-1] for part in bigrams(word))
    inner = _required_parts(word)
    forms = [leaf.terms[0] for leaf in inner]
    if word[0] == "#" or word[-1] in "+#" or all(form.isdigit() for form in forms):
        return _terms(word)[:1]
    alone = len(inner) == 1 and inner[0].end - inner[0].start == len(word)
    if not alone and min(map(len, forms)) == 1:
        return _terms(word)[:1]
    required = [part.terms[-1] for part in inner if part.terms[0] not in STOP_WORDS]
    return tuple(required) or _terms(word)[:1]


def _term_text(word: str) -> str:
    return "".join([f"{term} " for term in _terms(word)])


_TERMS = _WordCache(_terms, WORD_CACHE_SIZE)
_TERM_TEXTS = _WordCache(_term_text, TERM_CACHE_SIZE)
_QUERY_TERMS = _WordCache(_word_query_terms, WORD_CACHE_SIZE)


# Weights of terms

BM25_K1 = 1.2
"""The higher it is, the more repeated occurrences of a term count."""


def inverse_document_frequency(documents: float, containing: float) -> float:
    """Return a term's weight, above 0, from how many of all documents contain it."""
    others = max(documents - containing, 0)
    return math.log(1 + (others + 0.5) / (containing + 0.5))
