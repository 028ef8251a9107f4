"""Keywords: the words to find a node by, as a reader would write them.

A word weighs by how often it is said, how rare such words are in general, and how
much like a name it looks: a file, a function, a package, an error. What a model
proposes counts as far as it was really said. A parent's keywords are chosen among its
children's alone, so that each leads down to where it was said (decisions §5).
"""

import errno
import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memtui.model.events import Event, EventRole, clean
from memtui.model.nodes import MAX_KEYWORDS, TocLevel
from memtui.model.segments import counted_text
from memtui.model.summaries import ORIGIN_RANK, Keyword, KeywordOrigin
from memtui.text import analyzer, stopwords
from memtui.text.stopwords import STOP_WORDS

_ENDS = (
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
    rf"[\w\-.]*\w\.(?:{_ENDS})|(?:Docker|Container|Make|Gem|Just|Proc|Jenkins)file"
    r"|\.(?:env|git\w+|\w+rc|\w+ignore|editorconfig)(?:\.\w+)?"
)

_FRAMEWORK = re.compile(
    r"(?:node|next|nuxt|vue|react|three|express|commander|d3|discord|chart|p5|alpine"
    r"|ember|backbone|angular|nest|socket\.io)\.js|asp\.net",
    re.IGNORECASE,
)

_CODES = frozenset(errno.errorcode.values()) | {
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
"""A word of several humps."""

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
    """A word's origin.

    Args:
        word: As it is shown.
        used: What the texts around it tell, as ``of`` gives it.
    """
    told = used.get(analyzer.fold(word), KeywordOrigin.FREQUENCY)
    return min(_by_shape(word), told, key=ORIGIN_RANK.__getitem__)


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
    """The names and codes of the errors that a text tells of."""
    return list(filter(_is_error, _ERROR.findall(text)))


def _is_error(like: str) -> bool:
    """Whether what is written like an error is one: ``EPERM`` is, ``ENTIRE`` is not."""
    return like in _CODES or not (like.isupper() and like.isalpha())


def origins_from_usage(texts: Iterable[str]) -> dict[str, KeywordOrigin]:
    """What texts tell of their words by how they are used there, by the folded word."""
    found: dict[str, KeywordOrigin] = {}
    for text in texts:
        if "`" in text:
            found.update(
                (_folded(name), KeywordOrigin.NAME) for name in _TICKED.findall(text)
            )
    for text in texts:
        if "(" in text:
            called = filter(_is_called, _CALLED.findall(text))
            names = (*called, *_DEFINED.findall(text))
            found.update((_folded(name), KeywordOrigin.FUNCTION) for name in names)
    for text in texts:
        found.update((_folded(name), KeywordOrigin.PACKAGE) for name in _packages(text))
    return found


def _folded(name: str) -> str:
    return analyzer.fold(name.rpartition("/")[2] if name[:1] != "@" else name)


def _is_called(name: str) -> bool:
    """Whether a name before a bracket is a function's, not a word's with an aside."""
    return name[0].islower() or "_" in name or bool(CAMEL.fullmatch(name))


def _packages(text: str) -> Iterable[str]:
    if "import" in text or "require" in text or "use " in text:
        for pattern in _IMPORTED:
            for found in pattern.findall(text):
                name = found if isinstance(found, str) else found[0] or found[1]
                yield from _package(name)
    for told in _INSTALLED.findall(text):
        for name in told.split():
            if name[0] == "-":
                continue
            if analyzer.fold(name) in STOP_WORDS or not _PACKAGE.match(name):
                break
            yield from _package(name)


def _package(said: str) -> Iterable[str]:
    """The name of a package without its version, its host or what is taken of it."""
    if match := _PACKAGE.match(said):
        name = match[1].rstrip(".")
        first, _, rest = name.partition("/")
        if name[0] == "@":
            yield name
        elif rest and "." in first:
            yield name.rpartition("/")[2]
        elif first:
            yield first


SHORTEST = 3
"""A keyword of plain letters has at least this many."""

LONGEST = 40
"""A longer word is not a keyword but a path, an address or a blob."""

LONGEST_RUN = 8
"""The same for a script without blanks: a longer run is a clause."""

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
_STARTS = re.compile(r"(?:\A|[.!?:]\s|\n)\W{0,6}[A-Z][a-z]+(?=[\s,:])")
_ADDRESS = re.compile(r"\w+://|@.*\.|^www\.|.*\.(?:com|org|io|net|dev)$")


def keyword_source(event: Event) -> str:
    """What of an event can give keywords: of a tool, the call and the errors' names.

    A capital at the start of a sentence does not make a name. Neither the name of a
    tool nor that of an option or a key in its call says what it was called for.
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
    """The words that could be keywords; a path gives its last part."""
    for chunk in analyzer.words(text):
        if name := _name(chunk):
            yield name
        elif not chunk.isascii():
            yield from _clauses(chunk)


@lru_cache(maxsize=analyzer.WORD_CACHE_SIZE)
def _name(chunk: str) -> str:
    """The name a word or a path gives; an empty string for what is none."""
    if len(chunk) > analyzer.MAX_WORD_CHARS or _ADDRESS.search(chunk):
        return ""
    if _SCOPED.fullmatch(chunk):
        return chunk
    last = normalize(chunk.rpartition("/")[2])
    if _DOTFILE.fullmatch(last):
        return last
    name = _OWN.sub("", _APOSTROPHE_S.sub("", last.strip("_-.'’@#")), count=1)
    return "" if not name or _is_junk(name) else name


def is_keyword_phrase(phrase: str) -> bool:
    """Whether a phrase holds a word that could be a keyword, and is no longer."""
    return len(phrase) <= LONGEST and any(
        _name(chunk) or analyzer.is_unspaced(chunk) for chunk in analyzer.words(phrase)
    )


@lru_cache(maxsize=analyzer.WORD_CACHE_SIZE)
def _clauses(run: str) -> tuple[str, ...]:
    """The words that the small words of Chinese and Japanese leave of a run."""
    if not analyzer.is_unspaced(run):
        return ()
    parts = stopwords.HAN_FUNCTION_WORDS.split(unicodedata.normalize("NFC", run))
    return tuple(part for part in parts if 2 <= len(part) <= LONGEST_RUN)


def normalize(word: str) -> str:
    """A word in the one form that it is kept in."""
    if word.isascii():
        return word
    return unicodedata.normalize("NFC", word).replace("’", "'")


def _is_junk(name: str) -> bool:
    if len(name) > LONGEST or _HEX.fullmatch(name) or _JUNK.fullmatch(name):
        return True
    if _BLOB.fullmatch(name) and not CAMEL.fullmatch(name):
        return True
    folded = analyzer.fold(name)
    if folded in stopwords.STOP_WORDS or folded in stopwords.GENERIC_WORDS:
        return True
    if _CONTRACTED.fullmatch(name) or analyzer.is_unspaced(name):
        return True
    return len(name) < SHORTEST and name.isascii()


ROLE_WEIGHT = {
    EventRole.USER: 3.0,
    EventRole.ASSISTANT: 2.0,
    EventRole.TOOL: 0.6,
    EventRole.SYSTEM: 0.0,
}
"""What a mention counts by who made it."""

IN_A_CALL = 0.25
"""What a word counts in a tool's call that looks like no name there: ``log``."""

SATURATION = 6.0
"""How many mentions, weighted, come to half of what mentions can give."""

LIKENESS = {
    KeywordOrigin.ERROR: 2.0,
    KeywordOrigin.FILE: 1.8,
    KeywordOrigin.FUNCTION: 1.75,
    KeywordOrigin.PACKAGE: 1.75,
}
"""What a word of an origin tells; of the other origins it follows from its shape."""

PROPOSED = 1.5
"""What a model's first keyword gains; the later ones less and less."""

OFTEN = 0.5
"""What it counts that a child says a word often, against telling what sort it is."""

DAMPING = 4
"""The keyword in this place, counted from none, counts half of the first one."""


@dataclass(frozen=True, slots=True)
class WordWeights:
    """The words of a segment that could be keywords, by their roots."""

    weights: Mapping[str, float]
    shown: Mapping[str, str]
    origins: Mapping[str, KeywordOrigin]


def segment_keywords(
    events: Sequence[Event],
    proposed: Sequence[str] = (),
    weighed: WordWeights | None = None,
) -> tuple[Keyword, ...]:
    """The keywords of a segment, weightiest first.

    Args:
        events: The events of the segment, the overlap left out.
        proposed: What a model would call it by, the best first; what nobody said in
            the segment is left out. It gives a word its origin where nothing better
            does.
        weighed: What ``weigh`` tells of the events, where that is known already.
    """
    told = weighed or weigh_words(events)
    found = {
        root: Keyword(told.shown[root], told.origins[root], weight)
        for root, weight in told.weights.items()
        if weight > 0
    }
    for place, phrase in enumerate(_said(proposed, events) if proposed else ()):
        root, gain = _root(phrase), PROPOSED * _damped(place)
        mine = found.get(root)
        origin = mine.origin if mine else classify_origin(phrase, {})
        parts = [told.weights.get(part, 0.0) for part in analyzer.query_terms(phrase)]
        weight = mine.weight if mine else max(parts, default=0.0) / 2
        found[root] = Keyword(
            mine.word if mine else phrase,
            min(origin, KeywordOrigin.MODEL, key=ORIGIN_RANK.__getitem__),
            weight + gain,
        )
    return _best(found, MAX_KEYWORDS[TocLevel.SEGMENT])


def parent_keywords(
    level: TocLevel,
    children: Iterable[Sequence[Keyword]],
    proposed: Sequence[str] = (),
) -> tuple[Keyword, ...]:
    """The keywords of a parent, chosen among its children's alone (decisions §5).

    A keyword weighs by what it weighs in each child, however it is written there; a
    busy child counts more than a quiet one, but only by the root of how much more. Its
    origin is the one with most weight, said often counting least.

    Args:
        level: The parent's level, which sets how many there are.
        children: The keywords of each child, weightiest first.
        proposed: What a model would call the parent by; what no child has is left out.
    """
    weight: dict[str, float] = defaultdict(float)
    forms: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    kinds: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for row in children:
        divided = math.sqrt(max((one.weight for one in row), default=0.0)) or 1.0
        for one in row:
            folded, mine = analyzer.fold(one.word), one.weight / divided
            weight[folded] += mine
            forms[folded][one.word] += mine
            share = OFTEN if one.origin is KeywordOrigin.FREQUENCY else 1.0
            kinds[folded][one.origin] += mine * share
    top = max(weight.values(), default=0.0)
    for place, phrase in enumerate(proposed):
        if (folded := analyzer.fold(normalize(phrase))) in weight:
            weight[folded] += top * _damped(place) / 2
    found = {
        folded: Keyword(
            _heaviest(forms[folded]), KeywordOrigin(_heaviest(kinds[folded])), mine
        )
        for folded, mine in weight.items()
    }
    return _best(found, MAX_KEYWORDS[level])


def keywords_from_words(ranked: Sequence[str]) -> tuple[Keyword, ...]:
    """Keywords of which only the words and their order are known."""
    return tuple(
        Keyword(word, classify_origin(word, {}), round(_damped(place), 3))
        for place, word in enumerate(ranked)
    )


def _heaviest(weights: Mapping[str, float]) -> str:
    return min(weights, key=lambda key: (-weights[key], key))


def _damped(place: int) -> float:
    return 1 / (1 + place / DAMPING)


def weigh_words(events: Sequence[Event]) -> WordWeights:
    """What each root weighs, the form to show it in, and where it comes from."""
    said: dict[str, float] = defaultdict(float)
    spread: dict[str, int] = defaultdict(int)
    forms: dict[str, dict[str, int]] = {}
    texts = []
    tools = {analyzer.fold(event.metadata.get("tool_name", "")) for event in events}
    for event in events:
        weight = ROLE_WEIGHT[event.role]
        if not weight:
            continue
        texts.append(text := keyword_source(event))
        for name, count in Counter(candidate_words(text)).items():
            if analyzer.fold(name) in tools:
                continue
            root = _root(name)
            is_plain = event.role is EventRole.TOOL and not _looks_named(name)
            said[root] += weight * min(count, 3) * (IN_A_CALL if is_plain else 1.0)
            spread[root] += 1
            written = forms.setdefault(root, {})
            written[name] = written.get(name, 0) + count
    used = origins_from_usage(texts)
    shown = {root: _shown(written) for root, written in forms.items()}
    kinds = {root: classify_origin(name, used) for root, name in shown.items()}
    weighed = {
        root: _often(said[root], spread[root]) * _likeness(shown[root], kinds[root])
        for root in said
    }
    return WordWeights(weighed, shown, kinds)


@lru_cache(maxsize=analyzer.WORD_CACHE_SIZE)
def _root(name: str) -> str:
    needed = analyzer.query_terms(name)
    return needed[0] if len(needed) == 1 else analyzer.fold(name)


def _often(said: float, spread: int) -> float:
    """How much mentions tell: saturating, more where many events make them."""
    return said / (said + SATURATION) * (1 + 0.15 * min(spread, 5))


def _likeness(name: str, origin: KeywordOrigin) -> float:
    """How much like a name a word looks; plain short words least."""
    if told := LIKENESS.get(origin):
        return told
    if CAMEL.fullmatch(name) or "_" in name or "::" in name:
        return 1.7
    if "-" in name or name.isupper() or any(map(str.isdigit, name)):
        return 1.4
    if not name.isascii():
        return 1.2
    return 1.2 if name[0].isupper() else 0.6 + 0.08 * min(len(name), 10)


@lru_cache(maxsize=analyzer.WORD_CACHE_SIZE)
def _looks_named(name: str) -> bool:
    return classify_origin(name, {}) is not KeywordOrigin.FREQUENCY


def _shown(forms: Mapping[str, int]) -> str:
    """The form to show: a name as it is written, a plain word in lower case."""
    if len(forms) == 1:
        return next(iter(forms))
    name = min(forms, key=lambda form: (-forms[form], form))
    lower = name.lower()
    if name.istitle() and forms.get(lower, 0) >= forms[name]:
        return lower
    return name


def _said(proposed: Sequence[str], events: Sequence[Event]) -> Iterator[str]:
    """Those of a model's words that one event holds whole, and that tell something."""
    held = [set(analyzer.terms(counted_text(e))) for e in events if ROLE_WEIGHT[e.role]]
    for phrase in proposed:
        line = " ".join(normalize(clean(phrase)).split())
        needed = set(analyzer.query_terms(line))
        if is_keyword_phrase(line) and any(needed <= have for have in held):
            yield line


def _best(found: Mapping[str, Keyword], limit: int) -> tuple[Keyword, ...]:
    """The weightiest that do not say again what a better one says."""
    kept: list[Keyword] = []
    held: set[str] = set()
    ranked = sorted(found, key=lambda root: (-found[root].weight, root))
    for keyword in (found[root] for root in ranked):
        terms = set(analyzer.query_terms(keyword.word))
        folded = analyzer.fold(keyword.word)
        says_again = (
            terms and terms <= held and keyword.origin is not KeywordOrigin.FILE
        )
        if folded in held or says_again:
            continue
        rounded = Keyword(keyword.word, keyword.origin, round(keyword.weight, 3))
        kept.append(rounded)
        held |= terms | {folded}
        if len(kept) == limit:
            break
    return tuple(kept)
