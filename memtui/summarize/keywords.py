"""Choose keywords, the words by which a reader would look for a node; and score how
surprising a segment is.

A word's weight follows from how often it is mentioned, by whom, and how much it looks
like a name (a file, a function, a package, an error). Keywords proposed by a model
count if they occur in the source. A parent's keywords are chosen from its children's
only.

A segment is compared with the sessions before it. Its terms are weighted like keywords
and by how few earlier sessions contain them. Terms missing from the most similar
earlier session are surprising; terms that no earlier session contains are more so. 0 is
expected, 0.3 a small step, 0.7 a new subject, 1.0 unlike anything before.

The store indexes sessions by term. A segment is compared by its forty terms among the
sessions that started earlier, so the cost does not depend on the length of the history;
for very common terms the newest sessions and an estimated count suffice. A session
imported late changes what later ones are compared with; these keep their score until
they are summarized again.
"""

import errno
import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memtui.model.calendar import TocLevel
from memtui.model.events import Event, EventRole, clean
from memtui.model.nodes import MAX_KEYWORDS, ORIGIN_RANK, Keyword, KeywordOrigin
from memtui.model.sessions import counted_text
from memtui.text import analyzer, stopwords
from memtui.text.analyzer import inverse_document_frequency
from memtui.text.stopwords import STOP_WORDS

_EXTENSIONS = (
    "astro|avif|bash|bat|bib|bmp|c|cc|cfg|cjs|clj|cmake|cmd|conf|cpp|cs|css|csv|cts|cu"
    "|cxx|dart|db|diff|dll|dmg|doc|docx|el|env|erl|ex|exs|fish|gif|go|gradle|graphql"
    "|groovy|gz|h|hcl|hpp|hs|htm|html|ico|ini|ipynb|java|jpeg|jpg|js|json|json5|jsonc"
    "|jsonl|jsx|key|kt|kts|less|lock|lua|m|md|mdc|mdx|mjs|mk|ml|mov|mp3|mp4|mts|nix"
    "|parquet|patch|pdf|pem|php|pl|plist|plx|png|po|prisma|proto|ps1|psd|py|pyc|pyi|r"
    "|rake|rb|rs|rst|sass|scala|scss|sh|so|sol|spec|sql|sqlite|sqlite3|svelte|svg"
    "|swift|tar|tcss|templ|tex|tf|tgz|toml|ts|tsv|tsx|ttf|txt|vim|vue|wasm|wav|webm"
    "|webp|whl|woff2?|xlsx?|xml|xsd|ya?ml|zig|zip|zsh"
)

_FILE = re.compile(
    rf"[\w\-.]*\w\.(?:{_EXTENSIONS})|(?:Docker|Container|Make|Gem|Just|Proc|Jenkins)file"
    r"|\.(?:env|git\w+|\w+rc|\w+ignore|editorconfig)(?:\.\w+)?"
)

_FRAMEWORK = re.compile(
    r"(?:node|next|nuxt|vue|react|three|express|commander|d3|discord|chart|p5|alpine"
    r"|ember|backbone|angular|nest|socket\.io)\.js|asp\.net",
    re.IGNORECASE,
)

_ERROR_CODES = frozenset(errno.errorcode.values()) | {
    *("ENOTFOUND", "ERESOLVE", "ELIFECYCLE", "EINTEGRITY", "EUSAGE", "EBADENGINE"),
    *("SIGABRT", "SIGBUS", "SIGFPE", "SIGHUP", "SIGILL", "SIGINT", "SIGKILL"),
    *("SIGPIPE", "SIGQUIT", "SIGSEGV", "SIGTERM"),
}

_NO_ERROR = "(?:SHA|AES|RSA|RFC|ISO|ES|MD|UTF|GPT|PEP|GH|PR|CVE|RTX|IPV|MP|H|X|V|P)"

_ERROR = re.compile(
    r"\b(?:(?!No[A-Z])[A-Z]\w*(?:Error|Exception|Warning)"
    rf"|(?!{_NO_ERROR}\d)[A-Z]{{1,4}}\d{{3,5}}"
    r"|(?:E|SIG)[A-Z][A-Z0-9]{2,})\b"
)

CAMEL = re.compile(r"[a-z0-9]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*")
"""A word in camel case."""

_ABBREVIATION = re.compile("[b-df-hj-np-tv-xz]{3,5}")
"""A word without vowels, as "jwt"."""

_DOTTED = re.compile(r"\w+(?:(?:\.|::)\w+)+")
_TICKED = re.compile(r"`([^`\s]{1,60})`")

_CALLED = re.compile(
    r"(?<![\w@#$.\]/\-])((?:[A-Za-z_]\w*(?:\.|::|->))*[A-Za-z_]\w*)"
    r"\((?!e?s\)|[\w./, \-]*\)!?:\s)"
)

_DEFINED = re.compile(
    r"\b(?:def|func|fn|fun|function)\s+(?:\([^)\n]*\)\s*)?([A-Za-z_]\w*)\s*[(<\[]"
)

_INSTALLED = re.compile(
    r"\b(?:(?:pipx?3?|uv(?: pip)?|conda|poetry|apt(?:-get)?|brew|gem|dnf|npm|pnpm|yarn"
    r"|bun|cargo|go|composer)\s+(?:-\S+\s+)*(?:install|i|add|get|require)"
    r"|npx|bunx|uvx)((?:[ \t]+[^\s;&|`'\"(),]+){1,6})"
)

_IMPORTED = (
    re.compile(
        r"(?:^[\s>+]*|`)(?:from\s+([A-Za-z_]\w*)[\w.]*\s+import\b"
        r"|import\s+([A-Za-z_]\w*)(?:\.\w+)*(?=\s+as\b|\s*(?:,|`|;|$)))",
        re.MULTILINE,
    ),
    re.compile(
        r"(?:\bimport\b[^\n;'\"]{0,200}?\bfrom\s*|\brequire\(\s*|\bimport\s*\(?\s*)"
        r"['\"]([@\w][\w@./\-]*)['\"]"
    ),
    re.compile(r"^\s*use\s+([a-z_]\w*)::", re.MULTILINE),
)

_PACKAGE = re.compile(r"(@[\w\-]+/[\w.\-]+|[A-Za-z][\w.\-/]*)(?:[\[@=<>~^!].*)?$")


def classify_origin(word: str, used: Mapping[str, KeywordOrigin]) -> KeywordOrigin:
    """Return the origin of a word.

    Args:
        word: The word as shown.
        used: Origins known from usage, from ``origins_from_usage``.
    """
    by_usage = used.get(analyzer.fold(word), KeywordOrigin.FREQUENCY)
    return min(_by_shape(word), by_usage, key=ORIGIN_RANK.__getitem__)


@lru_cache(maxsize=analyzer.WORD_CACHE_SIZE)
def _by_shape(word: str) -> KeywordOrigin:
    if _ERROR.fullmatch(word) and _is_error(word):
        return KeywordOrigin.ERROR
    if _FRAMEWORK.fullmatch(word):
        return KeywordOrigin.PACKAGE
    if _FILE.fullmatch(word):
        return KeywordOrigin.FILE
    is_name = (
        word[:1].isupper()
        or word[:1] == "@"
        or "_" in word
        or any(map(str.isdigit, word))
        or CAMEL.fullmatch(word)
        or _DOTTED.fullmatch(word)
    )
    return KeywordOrigin.NAME if is_name else KeywordOrigin.FREQUENCY


def find_errors(text: str) -> list[str]:
    """Return the names and codes of errors in a text."""
    return list(filter(_is_error, _ERROR.findall(text)))


def _is_error(like: str) -> bool:
    """Return whether a match is an error: ``EPERM`` is, ``ENTIRE`` is not."""
    return like in _ERROR_CODES or not (like.isupper() and like.isalpha())


def origins_from_usage(texts: Iterable[str]) -> dict[str, KeywordOrigin]:
    """Return the origins of words by their use in some texts, by folded word."""
    found: dict[str, KeywordOrigin] = {}
    for text in texts:
        if "`" in text:
            found.update(
                (_fold_name(name), KeywordOrigin.NAME) for name in _TICKED.findall(text)
            )
    for text in texts:
        if "(" in text:
            called = filter(_is_called, _CALLED.findall(text))
            names = (*called, *_DEFINED.findall(text))
            found.update((_fold_name(name), KeywordOrigin.FUNCTION) for name in names)
    for text in texts:
        found.update(
            (_fold_name(name), KeywordOrigin.PACKAGE) for name in _packages(text)
        )
    return found


def _fold_name(name: str) -> str:
    return analyzer.fold(name.rpartition("/")[2] if name[:1] != "@" else name)


def _is_called(name: str) -> bool:
    """Return whether a name before a bracket is a function, not a word with an
    aside."""
    return name[0].islower() or "_" in name or bool(CAMEL.fullmatch(name))


def _packages(text: str) -> Iterable[str]:
    if "import" in text or "require" in text or "use " in text:
        for pattern in _IMPORTED:
            for found in pattern.findall(text):
                name = found if isinstance(found, str) else found[0] or found[1]
                yield from _package(name)
    for arguments in _INSTALLED.findall(text):
        for name in arguments.split():
            if name[0] == "-":
                continue
            if analyzer.fold(name) in STOP_WORDS or not _PACKAGE.match(name):
                break
            yield from _package(name)


def _package(mentions: str) -> Iterable[str]:
    """Yield the name of a package without version, host or subpath."""
    if match := _PACKAGE.match(mentions):
        name = match[1].rstrip(".")
        first, _, rest = name.partition("/")
        if name[0] == "@":
            yield name
        elif rest and "." in first:
            yield name.rpartition("/")[2]
        elif first:
            yield first


MIN_CHARS = 3
"""The minimum length of a keyword of plain letters."""

FIRST_SYLLABIC = "\u1100"
"""From this character on, a letter of most scripts is a syllable or a word."""

MAX_CHARS = 40
"""A longer word is a path, an address or a blob."""

MAX_RUN_CHARS = 8
"""The same for scripts without spaces, where a longer run is a clause."""

_HEX = re.compile(
    r"(?=[0-9a-f]*\d)[0-9a-f]{7,}|[0-9a-f]{8}-[0-9a-f]{4}-.*", re.IGNORECASE
)

_JUNK = re.compile(
    r"[\d.:,_/\-#+%]+|\d+(?:px|ms|kb|mb|gb|s|am|pm|m|h|d|x|rd|th|st|nd)|v?\d[\d.\-a-z]*"
    r"|toolu_.*|msg_.*|(?:\d{1,4}-)+\d+t.*",
    re.IGNORECASE,
)

_BLOB = re.compile(r"(?=.{16,})(?=(?:[^0-9]*[0-9]){4})[A-Za-z0-9_\-]+")
_APOSTROPHE_S = re.compile("['’]s$")
_CONTRACTED = re.compile("[a-z]+['’](?:d|ll|m|re|t|ve)", re.IGNORECASE)
_IN_CALL = re.compile(r"(?<!\S)--?[\w\-]+|\"\w+\"\s*:")
_OWN = re.compile(r"(?:this|self)\.(?=\w)")
_DOTFILE = re.compile(r"\.(?:env|git\w+|\w+rc|\w+ignore|editorconfig)(?:\.\w+)?")
_SCOPED = re.compile(r"@[\w\-]+/[\w.\-]+")
_STARTS = re.compile(
    r"(?:\A|[.!?:]\s|\n)\W{0,6}[A-ZÀ-ÖØ-ÞА-ЯЁ][a-zà-öø-ÿа-яё]+(?=[\s,:!?])"
)
_ADDRESS = re.compile(r"\w+://|@.*\.|^www\.|.*\.(?:com|org|io|net|dev)$")


def keyword_source(event: Event) -> str:
    """Return the part of an event that may give keywords: of tools, the call and error
    names.

    Capitals at the start of sentences are lowered. The names of tools, options and keys
    in a call are left out.
    """
    text = counted_text(event)
    if event.role is not EventRole.TOOL:
        return _STARTS.sub(lambda start: start[0].lower(), text)
    call, _, response = text.partition("\n")
    tool, _, given = call.partition(": ")
    served = tool.split("__")[1] if tool.startswith("mcp__") else ""
    errors = find_errors(response)
    return " ".join((served, _IN_CALL.sub("", given), *errors))


def candidate_words(text: str) -> Iterator[str]:
    """Yield words that may be keywords; a path gives its last part."""
    for word in analyzer.words(text):
        if name := _candidate_name(word):
            yield name
        elif not word.isascii():
            yield from _split_run(word)


@lru_cache(maxsize=analyzer.WORD_CACHE_SIZE)
def _candidate_name(word: str) -> str:
    """Return the name a word or path gives; "" for none."""
    if len(word) > analyzer.MAX_WORD_CHARS or _ADDRESS.search(word):
        return ""
    if _SCOPED.fullmatch(word):
        return word
    last = normalize(word.rpartition("/")[2])
    if _DOTFILE.fullmatch(last):
        return last
    name = _OWN.sub("", _APOSTROPHE_S.sub("", last.strip("_-.'’@#")), count=1)
    return "" if not name or _is_junk(name) else name


def is_keyword_phrase(phrase: str) -> bool:
    """Return whether a phrase is short and contains a possible keyword."""
    return len(phrase) <= MAX_CHARS and any(
        _candidate_name(word) or analyzer.is_unspaced(word)
        for word in analyzer.words(phrase)
    )


@lru_cache(maxsize=analyzer.WORD_CACHE_SIZE)
def _split_run(run: str) -> tuple[str, ...]:
    """Split a Chinese or Japanese run at its function words."""
    if not analyzer.is_unspaced(run):
        return ()
    parts = stopwords.HAN_FUNCTION_WORDS.split(unicodedata.normalize("NFC", run))
    return tuple(part for part in parts if 2 <= len(part) <= MAX_RUN_CHARS)


def normalize(word: str) -> str:
    """Return a word in the form in which it is stored."""
    if word.isascii():
        return word
    return unicodedata.normalize("NFC", word).replace("’", "'")


def _is_junk(name: str) -> bool:
    if len(name) > MAX_CHARS or _HEX.fullmatch(name) or _JUNK.fullmatch(name):
        return True
    if _BLOB.fullmatch(name) and not CAMEL.fullmatch(name):
        return True
    folded = analyzer.fold(name)
    if folded in stopwords.STOP_WORDS or folded in stopwords.GENERIC_WORDS:
        return True
    if _CONTRACTED.fullmatch(name) or analyzer.is_unspaced(name):
        return True
    return len(name) < MIN_CHARS and name[0] < FIRST_SYLLABIC


ROLE_WEIGHT = {
    EventRole.USER: 3.0,
    EventRole.ASSISTANT: 2.0,
    EventRole.TOOL: 0.6,
    EventRole.SYSTEM: 0.0,
}
"""The weight of a mention by role."""

PLAIN_CALL_WORD_WEIGHT = 0.25
"""The weight of a plain word in a tool call (``log``)."""

SATURATION = 6.0
"""The number of weighted mentions that gives half of the maximum weight."""

FUNCTION_WORD_RATE = 0.4
"""A plain word used more often than this in a sentence is a function word."""

MIN_SENTENCES = 10
"""The rate of words is known from this number of sentences on."""

_SENTENCE_ENDS = re.compile(r"[.!?:。！？\n]+")

ORIGIN_WEIGHT = {
    KeywordOrigin.ERROR: 2.0,
    KeywordOrigin.FILE: 1.8,
    KeywordOrigin.FUNCTION: 1.75,
    KeywordOrigin.PACKAGE: 1.75,
}
"""The weight of a word by origin; for others it follows from its spelling."""

PROPOSAL_GAIN = 1.5
"""The gain of a model's first keyword; later ones gain less."""

FREQUENCY_SHARE = 0.5
"""The weight of origin "frequency" against others, when children disagree."""

DAMPING = 4
"""The keyword of this rank, counted from 0, weighs half of the first one."""


@dataclass(frozen=True, slots=True)
class WordWeights:
    """Possible keywords of a segment, by stem."""

    weights: Mapping[str, float]
    forms: Mapping[str, str]
    origins: Mapping[str, KeywordOrigin]


def segment_keywords(
    events: Sequence[Event],
    proposed: Sequence[str] = (),
    weighed: WordWeights | None = None,
) -> tuple[Keyword, ...]:
    """Return the keywords of a segment, highest weight first.

    Args:
        events: The events of the segment, without the overlap.
        proposed: Keywords proposed by a model, best first; those that do not occur in
            the segment are left out.
        weighed: The result of ``weigh_words`` if known already.
    """
    words = weighed or weigh_words(events)
    found = {
        root: Keyword(words.forms[root], words.origins[root], weight)
        for root, weight in words.weights.items()
        if weight > 0
    }
    for place, phrase in enumerate(
        _grounded_proposals(proposed, events) if proposed else ()
    ):
        root, gain = _root_of(phrase), PROPOSAL_GAIN * _rank_weight(place)
        mine = found.get(root)
        origin = mine.origin if mine else classify_origin(phrase, {})
        parts = [words.weights.get(part, 0.0) for part in analyzer.query_terms(phrase)]
        weight = mine.weight if mine else max(parts, default=0.0) / 2
        found[root] = Keyword(
            mine.word if mine else phrase,
            min(origin, KeywordOrigin.MODEL, key=ORIGIN_RANK.__getitem__),
            weight + gain,
        )
    return _select_best(found, MAX_KEYWORDS[TocLevel.SEGMENT])


def parent_keywords(
    level: TocLevel,
    children: Iterable[Sequence[Keyword]],
    proposed: Sequence[str] = (),
) -> tuple[Keyword, ...]:
    """Return the keywords of a parent, chosen from its children's.

    Weights are normalized so that a busy child counts more than a quiet one, but only
    by the square root. A word that many children have says less about each of them. The
    origin is the one with most weight.

    Args:
        level: The parent's level, which determines the number of keywords.
        children: The keywords of each child, highest weight first.
        proposed: Keywords proposed by a model; those that no child has are left out.
    """
    weight: dict[str, float] = defaultdict(float)
    forms: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    kinds: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    rows = [row for row in children if row]
    holders = Counter(word for row in rows for word in {_fold(one) for one in row})
    for row in rows:
        divided = math.sqrt(max((one.weight for one in row), default=0.0)) or 1.0
        for one in row:
            folded = _fold(one)
            rarity = _rarity(level, one, holders[folded], len(rows))
            mine = one.weight / divided * rarity
            weight[folded] += mine
            forms[folded][one.word] += mine
            share = FREQUENCY_SHARE if one.origin is KeywordOrigin.FREQUENCY else 1.0
            kinds[folded][one.origin] += mine * share
    top = max(weight.values(), default=0.0)
    for place, phrase in enumerate(proposed):
        if (folded := analyzer.fold(normalize(phrase))) in weight:
            weight[folded] += top * _rank_weight(place) / 2
    found = {
        folded: Keyword(
            _heaviest(forms[folded]), KeywordOrigin(_heaviest(kinds[folded])), mine
        )
        for folded, mine in weight.items()
    }
    return _select_best(found, MAX_KEYWORDS[level])


def _fold(keyword: Keyword) -> str:
    return analyzer.fold(keyword.word)


def _rarity(level: TocLevel, keyword: Keyword, holders: int, children: int) -> float:
    """Return how much a keyword says about the children that have it, at most 1.

    A plain word that all days of a longer period have weighs in them together about as
    much as in one: such words would come first otherwise. Names say more.
    """
    rarity = math.log(1 + children / holders) / math.log(1 + children)
    if keyword.origin is not KeywordOrigin.FREQUENCY:
        return math.sqrt(rarity)
    return rarity if level is TocLevel.DAY else rarity**2


def _heaviest(weights: Mapping[str, float]) -> str:
    return min(weights, key=lambda key: (-weights[key], key))


def _rank_weight(place: int) -> float:
    return 1 / (1 + place / DAMPING)


def weigh_words(events: Sequence[Event]) -> WordWeights:
    """Return the weight, display form and origin of each possible keyword."""
    mentions: dict[str, float] = defaultdict(float)
    spread: dict[str, int] = defaultdict(int)
    forms: dict[str, dict[str, int]] = {}
    texts = []
    used_in_prose: Counter[str] = Counter()
    sentences = 0
    tools = {analyzer.fold(event.metadata.get("tool_name", "")) for event in events}
    for event in events:
        weight = ROLE_WEIGHT[event.role]
        if not weight:
            continue
        texts.append(text := keyword_source(event))
        is_prose = event.role is not EventRole.TOOL
        sentences += is_prose and 1 + len(_SENTENCE_ENDS.findall(text))
        for name, count in Counter(candidate_words(text)).items():
            if analyzer.fold(name) in tools:
                continue
            root = _root_of(name)
            is_plain = not is_prose and not _looks_like_name(name)
            mentions[root] += (
                weight * min(count, 3) * (PLAIN_CALL_WORD_WEIGHT if is_plain else 1.0)
            )
            spread[root] += 1
            used_in_prose[root] += is_prose and count
            written = forms.setdefault(root, {})
            written[name] = written.get(name, 0) + count
    used = origins_from_usage(texts)
    shown = {root: _display_form(written) for root, written in forms.items()}
    kinds = {root: classify_origin(name, used) for root, name in shown.items()}
    most = FUNCTION_WORD_RATE * max(sentences, MIN_SENTENCES)
    weighed = {
        root: _mention_weight(mentions[root], spread[root])
        * _name_weight(shown[root], kinds[root])
        for root in mentions
        if used_in_prose[root] <= most or kinds[root] is not KeywordOrigin.FREQUENCY
    }
    return WordWeights(weighed, shown, kinds)


@lru_cache(maxsize=analyzer.WORD_CACHE_SIZE)
def _root_of(name: str) -> str:
    needed = analyzer.query_terms(name)
    return needed[0] if len(needed) == 1 else analyzer.fold(name)


def _mention_weight(mentions: float, spread: int) -> float:
    """Return the weight of mentions: saturating, higher across many events."""
    return mentions / (mentions + SATURATION) * (1 + 0.15 * min(spread, 5))


def _name_weight(name: str, origin: KeywordOrigin) -> float:
    """Return how much a word looks like a name; short plain words least."""
    if weight := ORIGIN_WEIGHT.get(origin):
        return weight
    if CAMEL.fullmatch(name) or "_" in name or "::" in name:
        return 1.7
    if "-" in name or name.isupper() or any(map(str.isdigit, name)):
        return 1.4
    if _ABBREVIATION.fullmatch(name):
        return 1.4
    if analyzer.is_unspaced(name):
        return 1.2
    return 1.2 if name[0].isupper() else 0.6 + 0.08 * min(len(name), 10)


@lru_cache(maxsize=analyzer.WORD_CACHE_SIZE)
def _looks_like_name(name: str) -> bool:
    return classify_origin(name, {}) is not KeywordOrigin.FREQUENCY


def _display_form(forms: Mapping[str, int]) -> str:
    """Return the form to show: names as written, plain words in lower case."""
    if len(forms) == 1:
        return next(iter(forms))
    name = min(forms, key=lambda form: (-forms[form], form))
    lower = name.lower()
    if name.istitle() and forms.get(lower, 0) >= forms[name]:
        return lower
    return name


def _grounded_proposals(
    proposed: Sequence[str], events: Sequence[Event]
) -> Iterator[str]:
    """Yield the proposed keywords that occur in one event."""
    event_terms = [
        set(analyzer.terms(counted_text(e))) for e in events if ROLE_WEIGHT[e.role]
    ]
    for phrase in proposed:
        line = " ".join(normalize(clean(phrase)).split())
        phrase_terms = set(analyzer.query_terms(line))
        if is_keyword_phrase(line) and any(
            phrase_terms <= have for have in event_terms
        ):
            yield line


def _select_best(found: Mapping[str, Keyword], limit: int) -> tuple[Keyword, ...]:
    """Return the keywords of highest weight that do not repeat better ones."""
    selected: list[Keyword] = []
    covered: set[str] = set()
    ranked = sorted(found, key=lambda root: (-found[root].weight, root))
    for keyword in (found[root] for root in ranked):
        terms = set(analyzer.query_terms(keyword.word))
        folded = analyzer.fold(keyword.word)
        is_repetition = (
            terms and terms <= covered and keyword.origin is not KeywordOrigin.FILE
        )
        if folded in covered or is_repetition:
            continue
        rounded = Keyword(keyword.word, keyword.origin, round(keyword.weight, 3))
        selected.append(rounded)
        covered |= terms | {folded}
        if len(selected) == limit:
            break
    return tuple(selected)


# Surprise

TERMS_PER_SEGMENT = 40
"""Number of highest-weighted terms by which a segment is compared."""

FEW_TERMS = 12
"""A segment of fewer terms has a proportionally lower score."""

NEW_TERMS_WEIGHT = 0.3
"""The weight of terms that are new, against terms the most similar session lacks."""

SHARPNESS = 1.6
"""The exponent that gives work like the day before 0.3, and a new subject in a known
project 0.7."""

MAX_SESSIONS_PER_TERM = 100
"""The most sessions containing a term that need to be known individually."""


def surprise_terms(word_weights: Mapping[str, float]) -> dict[str, float]:
    """Return the terms of a segment by which it is compared, with their weights.

    Args:
        word_weights: The weights of its words by stem, from ``keywords.weigh_words``.
    """
    weights: dict[str, float] = defaultdict(float)
    for root, weight in word_weights.items():
        # A keyword in a script without spaces may be a clause, which rarely recurs.
        parts = [root] if root.isascii() else analyzer.query_terms(root)
        for part in parts:
            weights[part] += weight / len(parts)
    best = sorted(weights, key=lambda term: (-weights[term], term))
    return {
        term: weights[term] for term in best[:TERMS_PER_SEGMENT] if weights[term] > 0
    }


def surprise_score(
    term_weights: Mapping[str, float],
    holders: Mapping[str, Collection[int]],
    sessions: int,
    known_counts: Mapping[str, int] | None = None,
) -> float:
    """Return how surprising a segment is: 0 to 1.

    Args:
        term_weights: The segment's terms, from ``surprise_terms``.
        holders: For each term the numbers of the earlier sessions that contain it; a
            term without any may be left out.
        sessions: Number of earlier sessions.
        known_counts: Number of earlier sessions with a term of which ``holders`` has
            only some.
    """
    earlier = max(sessions, 1)
    counts = {term: len(holders.get(term, ())) for term in term_weights}
    counts |= dict(known_counts or {})
    weights = {
        term: weight
        * inverse_document_frequency(earlier, min(counts[term] or 1, earlier))
        for term, weight in term_weights.items()
    }
    total = sum(weights.values())
    if not total:
        return 0.0
    shared: dict[int, float] = defaultdict(float)
    for term, weight in weights.items():
        for session in holders.get(term, ()):
            shared[session] += weight
    difference = 1.0 - max(shared.values(), default=0.0) / total
    new = sum(w for term, w in weights.items() if not holders.get(term)) / total
    novelty = (1.0 - NEW_TERMS_WEIGHT) * difference + NEW_TERMS_WEIGHT * new
    completeness = min(1.0, len(term_weights) / FEW_TERMS)
    return round(math.pow(max(novelty, 0.0), SHARPNESS) * completeness, 3)
