"""Uses: the origin of a word, told by its shape and by how it was said.

An error and a file show in their spelling. A function was called or defined, a package
imported or installed; a name is written like one, or stood alone between backticks.
What is none of these was said often, or a model thought of it.
"""

import errno
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from memtui.memory import words
from memtui.memory.origins import RANK, Origin
from memtui.memory.words import chunks
from memtui.memory.words.vocabulary import STOP_WORDS

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


def origin(word: str, used: Mapping[str, Origin]) -> Origin:
    """A word's origin.

    Args:
        word: As it is shown.
        used: What the texts around it tell, as ``of`` gives it.
    """
    told = used.get(chunks.fold(word), Origin.FREQUENCY)
    return min(_by_shape(word), told, key=RANK.__getitem__)


@lru_cache(maxsize=words.CACHED)
def _by_shape(word: str) -> Origin:
    if _ERROR.fullmatch(word) and _is_error(word):
        return Origin.ERROR
    if _FRAMEWORK.fullmatch(word):
        return Origin.PACKAGE
    if _FILE.fullmatch(word):
        return Origin.FILE
    is_name = (
        word[:1].isupper()
        or word[:1] == "@"
        or "_" in word
        or any(map(str.isdigit, word))
        or CAMEL.fullmatch(word)
        or _DOTTED.fullmatch(word)
    )
    return Origin.NAME if is_name else Origin.FREQUENCY


def errors(text: str) -> list[str]:
    """The names and codes of the errors that a text tells of."""
    return list(filter(_is_error, _ERROR.findall(text)))


def _is_error(like: str) -> bool:
    """Whether what is written like an error is one: ``EPERM`` is, ``ENTIRE`` is not."""
    return like in _CODES or not (like.isupper() and like.isalpha())


def of(texts: Iterable[str]) -> dict[str, Origin]:
    """What texts tell of their words by how they are used there, by the folded word."""
    found: dict[str, Origin] = {}
    for text in texts:
        if "`" in text:
            found.update((_folded(name), Origin.NAME) for name in _TICKED.findall(text))
    for text in texts:
        if "(" in text:
            called = filter(_is_called, _CALLED.findall(text))
            names = (*called, *_DEFINED.findall(text))
            found.update((_folded(name), Origin.FUNCTION) for name in names)
    for text in texts:
        found.update((_folded(name), Origin.PACKAGE) for name in _packages(text))
    return found


def _folded(name: str) -> str:
    return chunks.fold(name.rpartition("/")[2] if name[:1] != "@" else name)


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
            if chunks.fold(name) in STOP_WORDS or not _PACKAGE.match(name):
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
