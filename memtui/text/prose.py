"""Extract the sentences of a message, without markup.

Code blocks, tables, diagrams and text injected by the agent are left out; headings,
list items and paragraphs give sentences that can be shown as they are. The end tells
the script of a text: Latin, Cyrillic, Chinese and others.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from memtui.text import analyzer

MESSAGE_CHARS = 20_000
"""Only this much of a message is read."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, ready to be shown."""

    text: str
    is_heading: bool = False
    is_item: bool = False
    """True if it starts a list item."""
    is_nested: bool = False
    """True if it starts an item of a list within a list."""
    is_quoted: bool = False
    """True if it is quoted: "> …"."""


_INJECTED_TAGS = (
    "system-reminder|command-[a-z]+|local-command-[a-z]+|bash-[a-z]+|task-notification"
    "|environment_context|user_instructions|ide_[a-z_]+|function_calls|user-prompt-[a-z-]+"
    "|pasted_content|post-tool-use-hook|thinking(?:-content-\\w+)?|INSTRUCTIONS|antml:[a-z_]+"
)

_INJECTED = re.compile(rf"<({_INJECTED_TAGS})\b[^>]*>.*?(?:</\1\b[^>]*>|\Z)", re.DOTALL)

_FENCE = re.compile(
    r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE
)

_BOX = re.compile(
    r"^`?★ [^\n]*─{5,}`?[ \t]*$.*?^`?─{5,}`?[ \t]*$", re.DOTALL | re.MULTILINE
)
"""A remark that Claude Code sets between rules: "★ Insight ─────"."""

_QUOTED = re.compile(r"\s*>\s")

_TAG = re.compile(r"</?[A-Za-z][\w:-]*(?:\s[^<>]*)?/?>")
_CLOSING_TAGS = re.compile(r"\s*(?:</[A-Za-z][\w.:-]*>\s*)+(?=\S)")
"""The end of pasted markup, before words of the user in the same line."""
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*\)")
_STRONG = re.compile(r"\*\*|~~")
_EMPHASIS = re.compile(r"(?<![\w*])[*_](?=\S)([^*_\n]+)(?<=\S)[*_](?![\w*])")
_TICKED = re.compile(r"(`[^`]+`)")
_STRONG_TICKED = re.compile(r"\*\*(`[^`*]+`)\*\*")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+")
_INNER_MARK = re.compile(r"\s(?:[-*] )?(?:\[ \]|#{2,6})\s")
"""A list item or heading that was pasted into a line."""
_ITEM = re.compile(r"\s*(?:[-*+•▪‣–—]|\d{1,3}[.)]|\(?[a-z]\))\s+(?:\[[ xX]?\]\s*)?")

_NUMBER = re.compile(r"\d{1,2}[.)]\s+(?=\D)")
"""The number of a heading, or of an item whose number is in bold type."""

_LEAD = re.compile(
    "^(?:[\\s>|\ufe0f\u200d\u2190-\u21ff\u2300-\u23ff\u2500-\u27bf\u2b00-\u2bff"
    "\U0001f000-\U0001faff]|[-=]>)+(?:[-*•]\\s+|\\d{1,2}[.)]\\s+)?"
)

_TRAIL = re.compile("[\\s\ufe0f\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]+$")

_BEGINS = re.compile(
    "\\s*(?:\\*\\*|[\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff])"
)

_CONTINUATION = re.compile(
    r"\s*(?:This session is being continued from|Caveat: The messages below)"
)

_ATTACHMENT = re.compile(r"\[(?:image|file|document|pasted)\b[^\]\n]*\]", re.IGNORECASE)
"""What an agent puts in the place of a picture, a file or a pasted text."""

_COMMAND = re.compile(
    r"\s*/[A-Za-z][\w:.-]*[ \t]+(?:&&[ \t]*)?(?=[^\s/]+[ \t]+\S+[ \t]+\S|[^\0-\x7f])"
)
"""A command before the request that it is given."""

_NOISE = re.compile(
    r"\s*(?:\[Request interrupted|API Error|Caveat: |Error: Exit code"
    r"|Base directory for this skill"
    r"|Co-Authored-By|🤖 Generated|Generated with \[Claude|No response requested"
    r"|Unknown slash command|Prompt is too long)",
    re.IGNORECASE,
)

_CODE_BEGINS = re.compile(
    r"\s*(?:[{}\[\]<$%❯│├└┌┐┘─]|@\w+(?:\(|$)"
    r"|(?:const|let|var)\s+[\w{\[][^.?!]*[=;]|class \w+[^.?!]*[:{(]$"
    r"|(?:async )?(?:def \w+\(|(?:function|fn|func)\b[^.?!]*\()"
    r"|(?:public|private) (?:static |final |class )*[\w<>\[\]]+ ?(?:\w+ ?)?[({;=]"
    r"|(?:if|for|while|await|return)\b ?(?:\(.*[){;:]$|\w[^ ]*\(.*\)[;:]?$|.*[;{]$)"
    r"|for \w+ in .*:$|import [\w.*]+(?: as \w+)?;?$|(?:import|export)\b.*[{}=;*]"
    r"|from [\w.@/'\"]+ import\b"
    r"|[\w.\"'-]+\s*[:=]\s*[\[{\"'\d]|//|/\*|\*/|--\w"
    r"|\d+[→:|]|at .*:\d+:\d+|\w+ ?\(.*\)\s*[;{]?$|(?:\w+\.)+\w+\(.*\)\s*[;{]?$)"
)

_CODE_HOLDS = re.compile(r"{\s*$|}\s*$|;\s*$|=>|&&|\|\||\\n.*\\n| --\w[\w-]*=")
_TERMINAL_LINE = re.compile(r" {3,}(?=[┃│├└┌╭╰])")
"""Where a line copied from a terminal begins that was padded to the width of it."""
_NO_LETTERS = bytes(at for at in range(128) if not chr(at).isalpha())
_BLANKS = re.compile(r"\s+")

# A capitalized heading may follow a full stop without a space: "the Miller.GOALS: …".
_END = re.compile(
    r"[.!?…。！？](?:(?<=[。！？])|(?<=[^\W\d_A-Z][.!?])(?=[A-ZÀ-Þ]{6,} ?:)"
    r"|(?<=[.!?…])[\"'”’)\]`]*\s+(?=[\"'“‘(\[`*]*[^\sa-z.,;:!?\-–—]))"
)

_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|vs|etc|cf|Dr|Mr|Mrs|z\.B|d\.h|bzw|ca|Nr)|^\d+)\.$"
)

_OPEN_END = re.compile(r"[.!?:。！？…]$")


def message_sentences(text: str) -> list[Sentence]:
    """Return the sentences of a message in order; only its start is read."""
    read = text[:MESSAGE_CHARS]
    if is_continuation(read):
        return []
    if "<" in read:
        read = _INJECTED.sub(" ", read)
    if "[" in read:
        read = _ATTACHMENT.sub(" ", read)
    if led := _COMMAND.match(read):
        read = read[led.end() :]
    if "   " in read:
        read = _TERMINAL_LINE.sub("\n", read)
    if "```" in read or "~~~" in read:
        read = _FENCE.sub("", read)
    if "★" in read:
        read = _BOX.sub("", read)
    return [
        replace(block, text=part, is_item=block.is_item and not place)
        for block in _blocks(read)
        for place, part in enumerate(split_paragraph(block.text))
    ]


def is_continuation(text: str) -> bool:
    """Return whether a text is an agent's own recap of an earlier session."""
    return _CONTINUATION.match(text) is not None


def split_paragraph(paragraph: str) -> list[str]:
    found: list[str] = []
    start = 0
    for end in _END.finditer(paragraph):
        part = paragraph[start : end.end()].strip()
        if part and not _ABBREVIATION.search(part[-12:]):
            found.append(part)
            start = end.end()
    found.append(paragraph[start:])
    trimmed = (_TRAIL.sub("", _LEAD.sub("", part)).strip() for part in found)
    return [part for part in trimmed if part]


def shorten(text: str, limit: int) -> str:
    """Shorten a text to at most ``limit`` characters at a word, marked with "…"."""
    if len(text) <= limit:
        return text
    head = text[:limit]
    cut = head.rfind(" ")
    return (head[:cut] if cut > limit // 2 else head[:-1]).rstrip(" ,;:.-–—(…") + "…"


_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？]")

_CLAUSE_END = re.compile(r"[,;:](?=\s)|\s[–—-](?=\s)|[，；：、]")


def shorten_to_sentences(line: str, limit: int) -> str:
    """Shorten a line to its first sentences, else to its first clauses or words.

    Sentences or clauses that fill less than two fifths of the limit are too short.
    """
    if len(line) <= limit:
        return line
    for pattern, ending in ((_SENTENCE_END, ""), (_CLAUSE_END, "…")):
        ends = list(pattern.finditer(line, 0, limit))
        if ends and ends[-1].end() >= 0.4 * limit:
            end = ends[-1].start() if ending else ends[-1].end()
            return f"{line[:end].rstrip()}{ending}"
    head, _, _ = line[: limit - 1].rpartition(" ")
    return f"{head or line[: limit - 1]}…"


def strip_markup(line: str) -> str:
    """Remove inline markup and repeated spaces; code between backticks is kept."""
    if "](" in line:
        line = _LINK.sub(r"\1", line)
    if any(mark in line for mark in "<*_~"):
        parts = _TICKED.split(_STRONG_TICKED.sub(r"\1", line))
        parts[::2] = [
            _EMPHASIS.sub(r"\1", _STRONG.sub("", _TAG.sub(" ", part)))
            for part in parts[::2]
        ]
        line = "".join(parts)
    if "[ ]" in line or "##" in line:
        line = _INNER_MARK.sub(" ", line)
    return _BLANKS.sub(" ", _LEAD.sub("", line)).strip(" |")


WRAP_CHARS = 60
"""A question after a shorter line is a sentence of its own."""


def _blocks(text: str) -> Iterator[Sentence]:
    """Yield headings, list items and paragraphs; wrapped lines are joined."""
    run = ""
    run_is_item = run_is_nested = run_is_quoted = False
    for line in text.split("\n"):
        line = _CLOSING_TAGS.sub("", line)
        heading = _HEADING.match(line)
        entry = None if heading else _ITEM.match(line)
        bare = strip_markup(
            line[heading.end() if heading else entry.end() if entry else 0 :]
        )
        begins = heading or entry or _BEGINS.match(line)
        if begins and (number := _NUMBER.match(bare)):
            bare = bare[number.end() :]
        goes_on = bool(run and bare and not begins and _wraps(run, bare))
        if goes_on and not _is_noise(line):
            run = f"{run} {bare}"
            continue
        if run:
            yield Sentence(run, False, run_is_item, run_is_nested, run_is_quoted)
            run = ""
        if not bare or _is_noise(line):
            continue
        if heading:
            yield Sentence(bare, is_heading=True)
        else:
            run, run_is_item = bare, begins is not None
            run_is_nested = entry is not None and line.startswith(("  ", "\t"))
            run_is_quoted = _QUOTED.match(line) is not None
    if run:
        yield Sentence(run, False, run_is_item, run_is_nested, run_is_quoted)


_ASKS = re.compile(r"(?:can|could|would) (?:you|we)\b|please\b", re.IGNORECASE)


def _wraps(run: str, following: str) -> bool:
    """Return whether a line continues in the following one."""
    if _OPEN_END.search(run) or (len(run) < WRAP_CHARS and _ASKS.match(following)):
        return False
    return len(run) > 40 or following[0].islower()


def _is_noise(line: str) -> bool:
    """Return whether a line is code, a table, a log or injected text, not prose."""
    if len(line) > 2_000 or _NOISE.match(line):
        return True
    if line.lstrip().startswith("|") or line.count("|") > 2:
        return True
    blanks = line.count(" ")
    if count_letters(line) < 0.5 * (len(line.strip()) - blanks):
        return True
    bare = line.replace("`", "")
    is_code = _CODE_BEGINS.match(bare) or _CODE_HOLDS.search(bare)
    return is_code is not None and not _ITEM.match(line)


def count_letters(text: str) -> int:
    if text.isascii():
        return len(text.encode().translate(None, _NO_LETTERS))
    return sum(map(str.isalpha, text))


EXCERPT_CHARS = 200

EXCERPT_SOURCE_CHARS = 40_000
"""Only this much of an event's text is searched for its best sentence."""

_SENTENCE_ENDS = re.compile(
    r"[.!?。！？\n](?:(?<=[.!?])[\"'”’)\]*_`]*\s+|(?<=[。！？])|(?<=\n)\n*)"
)

_MARKUP = re.compile(r"(?:[#>|*+•\-–—=~_`\s✅❌✓✗☐☑]+|\d+[.)]\s|\[[ xX]?\]\s)+")


def best_excerpt(text: str, weights: Mapping[str, float]) -> str:
    """Return the sentence of a text whose terms have the highest weight.

    It is at most ``EXCERPT_CHARS`` long, cut at a word.
    """
    best, best_score = "", -1.0
    for candidate in _candidates(text[:EXCERPT_SOURCE_CHARS]):
        found = set(analyzer.terms(candidate))
        score = sum(weight for term, weight in weights.items() if term in found)
        if score > best_score:
            best, best_score = candidate, score
    return best or truncate(text.strip(), EXCERPT_CHARS)


def truncate(text: str, limit: int) -> str:
    """Return the start of a text, cut at a word if possible."""
    if len(text) <= limit:
        return text
    head = text[: limit + 1]
    cut = max(head.rfind(" "), head.rfind("\n"), head.rfind("\t"))
    return head[:cut].rstrip() if cut > limit // 2 else head[:limit].rstrip()


def _candidates(text: str) -> Iterator[str]:
    """Yield the sentences of a text without surrounding markup, long ones in parts."""
    for start, end in sentence_spans(text):
        led = _MARKUP.match(text, start, end)
        if led is not None and led.end() < end:
            start = led.end()
        rest = text[start:end].rstrip(" \t|*`#_=~")
        while rest:
            part = truncate(rest, EXCERPT_CHARS)
            yield part
            rest = rest[max(len(part), 1) :].lstrip()


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the sentences and lines of a text start and end; none is empty."""
    start = 0
    for match in _SENTENCE_ENDS.finditer(text):
        end = match.start() + (match[0][0] != "\n")
        if end > start:
            yield start, end
        start = match.end()
    if start < len(text):
        yield start, len(text)


# Scripts

SCRIPT_CHARS = 20_000
"""The number of characters of a text that are read."""

MIN_SCRIPT_LETTERS = 10
"""A text with fewer letters is in no script in particular."""

MIN_SCRIPT_SHARE = 0.35
"""The share of a text's weight from which on a script other than Latin is its main
one: commands, names and paths are in Latin letters in every language."""

SYLLABLE_WEIGHT = 3
"""A character of a script without an alphabet counts as so many letters."""

_SYLLABIC = frozenset(("cjk", "kana", "hangul"))

_NO_LANGUAGE = re.compile(
    r"```.*?(?:```|\Z)|`[^`]*`|(?<!\w)-+\w[\w=-]*"
    r"|[\w./\\-]*[./_\\][\w./\\-]+|\w*\d\w*|[A-Za-z]+[a-z][A-Z]\w*",
    re.DOTALL | re.ASCII,
)
"""Code, paths, options and identifiers, which are in no language."""


def main_script(text: str) -> str:
    """Return the script that a text is mainly written in; "" if it is not clear."""
    words = {*_NO_LANGUAGE.sub(" ", text[:SCRIPT_CHARS]).split()}
    found = _count_letters(" ".join(words))
    if found.total() < MIN_SCRIPT_LETTERS:
        return ""
    others = Counter({name: n for name, n in found.items() if name != "latin"})
    for name, count in others.most_common(1):
        if count >= MIN_SCRIPT_SHARE * found.total():
            return "kana" if name == "cjk" and found["kana"] else name
    return "latin" if found["latin"] else ""


def is_in_other_script(text: str, source: str) -> bool:
    """Return True if a text is plainly in another script than its source.

    Languages of the same script are not distinguished.
    """
    found, expected = main_script(text), main_script(source)
    if (found, expected) == ("cjk", "kana"):
        return False
    return bool(found and expected) and found != expected


_ENGLISH_WORDS = re.compile(
    r"\b(?:an?|and|are|as|at|be|by|for|from|in|is|it|not|of|on|or|that|the|this|to|was"
    r"|which|with)\b"
)
"""The most frequent words of English."""

ENGLISH_SHARE, FOREIGN_SHARE = 0.15, 0.07
"""A text with at least, or less than, this share of these words is in English, or in
another language."""

MIN_WORDS, MIN_SOURCE_WORDS = 8, 40
"""The language of a text, and of its source, is not found from fewer words."""

MIN_ACCENTS = 0.005
"""Another language has at least this share of letters beyond ASCII."""


def is_translated(text: str, source: str) -> bool:
    """Return True if a text is plainly in English, and its source is not.

    English notes without articles have letters of ASCII alone.
    """
    start = source[:SCRIPT_CHARS]
    letters = sum(map(str.isalpha, start))
    accents = sum(one.isalpha() and not one.isascii() for one in start)
    count, share = _count_english(text)
    source_count, source_share = _count_english(start)
    return (
        accents >= MIN_ACCENTS * max(1, letters)
        and count >= MIN_WORDS
        and share >= ENGLISH_SHARE
        and source_count >= MIN_SOURCE_WORDS
        and source_share < FOREIGN_SHARE
    )


def _count_english(text: str) -> tuple[int, float]:
    """Return the number of words of a text, and the share of frequent English ones."""
    lower = _NO_LANGUAGE.sub(" ", text).lower()
    count = len(lower.split())
    return count, len(_ENGLISH_WORDS.findall(lower)) / max(1, count)


def _count_letters(text: str) -> Counter[str]:
    """Count the letters of a text by their script, each as long as a Latin one."""
    found: Counter[str] = Counter()
    for char in text:
        if char.isalpha() and (script := _script(char)):
            found[script] += SYLLABLE_WEIGHT if script in _SYLLABIC else 1
    return found


@lru_cache(4096)
def _script(char: str) -> str:
    """Return the first word of a letter's Unicode name, which names its script."""
    if char.isascii():
        return "latin"
    name = unicodedata.name(char, "").split(" ")[0].split("-")[0].lower()
    return "kana" if name in ("hiragana", "katakana") else name
