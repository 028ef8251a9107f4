"""Titles: one short line that says what a segment was about."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from memtui.text import analyzer, cues, prose, stopwords
from memtui.text.prose import Sentence, shorten

TITLE_CHARS = 80
"""The most characters of a title or headline."""

REQUEST_SENTENCES = 9
"""How many sentences of a request are looked at."""

MIN_CONTENT_WORDS = 2
"""A title holds at least this many words that tell something."""

MIN_TITLE_CHARS = 20
"""A title is not cut shorter than this for the sake of ending well."""

SURE, LIKELY, UNSURE, SLIGHT = 1.0, 0.9, 0.7, 0.3
"""How good a title a request makes: it stands by itself, points at something but says
much, points at something and says little, or hardly tells anything."""

MANY_CONTENT_WORDS = 4
"""So many telling words say what a title is about, whatever else it points at."""

MIN_CHARS_BEFORE_AND = 30
"""The least characters of a title that is cut before an "and"."""

_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "「": "」"}

_ASKING = re.compile(
    r"(?:(?:ok(?:ay)?|so|hey|hi|hello|well|now|and|also|alright|actually|yes|yeah|great"
    r"|cool|perfect|good|nice|thanks?|please|pls|just|then|next|first|basically|hmm+|oh+"
    r"|ah+|wait|sorry|sure|no(?!\s+\w)|ultrathink|think hard(?:er)?|let's see|i think"
    r"|i guess|i was wondering if|lately|quick (?:idea|question)"
    r"|(?:it |this |that )?(?:seems?|looks?|appears?)(?: to(?: be)?)?"
    r" (?:work\w*|good|fine|ok(?:ay)?) but"
    r"|(?:can|could|would|will|do) (?:you|we|u|i)(?: please| now| also| maybe| mind)*"
    r"|i(?:'d| would)? (?:like|want|need)(?: you| us)? (?:to|for you to)"
    r"|(?:help|tell|show) me(?: to)?"
    r"|(?:you|we) (?:should|can|need to|must|have to)(?! not)"
    r"|your (?:task|job|goal) is to|(?:it )?seems?(?: that)?"
    r"|let's|let us|let me|i'll|i will|i(?:'ve| have)(?: now| successfully| got)+"
    r"|i(?:'ve| have)(?= (?:plenty|lots?|many|some|a |an |two|three))|i see(?! \w+ing)"
    r"|go ahead and|try to|make sure (?:to|that))"
    r"\b[\s,.!:;\-–—]*)+",
    re.IGNORECASE,
)

_LABEL = re.compile(
    r"(?:(?:implementation )?plan|task|goal|feature|fix|bug|issue|summary"
    r"|feat|docs|chore|refactor|test|tests|perf|style|ci|build|title|subject|todo"
    r"|objective|request|context|intent|step \d+|phase \d+|bug fixed|root cause"
    r"|the (?:fix|issue|problem|cause|solution)|\d+\.)(?:\([\w\-]+\))?!?"
    r"(?:\s*[:：]\s*|\s+[\-–—]\s+)",
    re.IGNORECASE,
)

_WHERE = re.compile(r"(?:in|at|on) \S+ around lines? [\d \-–to]+,?\s+", re.IGNORECASE)

_POLITE = re.compile(
    r"[\s,]+(?:please|pls|thanks?|thank you|thx|asap)[\s.!?]*$", re.IGNORECASE
)

_AGENT = re.compile(
    r"[\s,.]*\b(?:(?:use|using|with|via)\s+)?@agent-[\w\-]+|\bultrathink\s+",
    re.IGNORECASE,
)

_TICKET = re.compile(
    r"https?://[\w.]+/[^/\s]+/([\w.\-]+)/(?:-/)?(?:issues|pull|merge_requests)/(\d+)\S*"
)

_ADDRESS = re.compile(r"https?://(?:www\.)?([\w.\-]+\w)[^\s,)]*")

_CLAUSE_ENDS = re.compile(
    r"[.!?;](?:(?<=\w\w.)|(?<=[)\]\"'`%].))"
    r"(?<!e\.g.)(?<!i\.e.)(?<! vs.)(?<!etc.)(?:(?<=;)|(?<!;)[.!?]*)\s+"
)

_ENDINGS = (
    re.compile(r"(?:[;:]|\s[–—\-])\s"),
    re.compile(
        r",?\s(?=(?:because|since|which|so that|so|but|while|when|where|whereas|using"
        r"|creating|causing|including|leading|making|ending|especially)\b)"
        r"|,\s(?=(?:on|in|with|at|maybe|as|if|to|from)\b)"
    ),
)
"""Where a long title may end and still be true: the first kind is the better."""

_AND = re.compile(r"\sand\s")

_POINTS = re.compile(
    r"\b(?:it|them|these|those)\b|\b(?:this|that)(?: \w+)?\W*$", re.IGNORECASE
)

_NUMBER = re.compile(r"^\d{1,2}[.)]\s+(?=\D)")
_PAIRED = re.compile(r"\b(?:both|between|either)\b", re.IGNORECASE)
_GUESSES = re.compile(r"(?:looks? like|maybe|perhaps|error\b|not sure)", re.IGNORECASE)
_REMNANT = re.compile(r":\s\S{1,4}$")


@dataclass(frozen=True, slots=True)
class RequestTitle:
    """The title a request gives, and how far it can be relied on."""

    title: str
    worth: float


def title_from_request(sentences: Iterable[Sentence]) -> RequestTitle | None:
    """The title a request gives; None where it gives none."""
    parts = list(islice(sentences, REQUEST_SENTENCES))
    best: RequestTitle | None = None
    for sentence in parts:
        text = sentence.text
        leads_in = text.endswith((":", "：")) and len(parts) > 1
        is_dull = sentence.is_heading and cues.is_generic_heading(text)
        if leads_in or is_dull or cues.is_log_line(text):
            continue
        for title in _of_clauses(text):
            found = RequestTitle(title, _worth(title))
            if found.worth == SURE:
                return found
            if found.worth and (best is None or found.worth > best.worth):
                best = found
    return best


def _of_clauses(text: str) -> Iterator[str]:
    """The first clauses of a sentence, a terse one together with what follows it."""
    run = ""
    for clause in split_clauses(text):
        if cues.is_small_talk(clause):
            run = ""
            continue
        run = f"{run} {clause}" if run else clause
        title = tidy_title(run)
        yield title
        if count_content_words(title) >= MIN_CONTENT_WORDS:
            run = ""


def split_clauses(sentence: str) -> list[str]:
    """A sentence cut at full stops that no capital follows, as people type them."""
    found: list[str] = []
    start = 0
    for end in _CLAUSE_ENDS.finditer(sentence):
        found.append(sentence[start : end.end()].strip())
        start = end.end()
    return [part for part in (*found, sentence[start:].strip()) if part]


def _worth(title: str) -> float:
    tells = count_content_words(title)
    if tells < MIN_CONTENT_WORDS:
        return SLIGHT if tells else 0.0
    if _GUESSES.match(title):
        return UNSURE
    if cues.starts_with_reference(title):
        return LIKELY if tells >= MANY_CONTENT_WORDS else UNSURE
    few = MANY_CONTENT_WORDS if title.endswith("?") else MIN_CONTENT_WORDS + 1
    return UNSURE if tells < few and _POINTS.search(title) else SURE


def tidy_title(text: str) -> str:
    """A sentence as a title: without what only asks, labels or ends it."""
    bare = asked = _NUMBER.sub("", _addressed(text.strip()), count=1)
    for pattern in (_ASKING, _LABEL, _WHERE):
        led = pattern.match(bare)
        if led and count_content_words(bare[led.end() :]) >= min(
            MIN_CONTENT_WORDS, count_content_words(bare)
        ):
            bare = bare[led.end() :].strip()
    bare = _REMNANT.sub("", _POLITE.sub("", bare))
    bare = bare.strip(" \t*_–—:;,").lstrip("-")
    bare = bare.rstrip(".。!！;" if bare == asked else ".。!！?？;")
    if bare[:1] in _QUOTES and bare[-1:] == _QUOTES[bare[:1]] and len(bare) > 1:
        bare = bare[1:-1]
    return _headed(shorten_title(bare))


def strip_label(text: str) -> str:
    """A heading without what only numbers or labels it: "Step 2: "."""
    return _LABEL.sub("", text, count=1)


def _addressed(text: str) -> str:
    """A text with short names for addresses, and without calls for a helper."""
    if "@agent-" in text or "ultrathink" in text:
        text = _AGENT.sub("", text)
    if "://" not in text:
        return text
    return _ADDRESS.sub(r"\1", _TICKET.sub(r"\1 #\2", text))


def _headed(text: str) -> str:
    """A title with a capital, unless its first word is somebody's name for a thing."""
    first = text.partition(" ")[0]
    bare = first.rstrip(".,:;!?")
    if bare in stopwords.ACRONYMS:
        return bare.upper() + text[len(bare) :]
    if text[:1].islower() and bare.replace("'", "").replace("-", "").isalpha():
        return text if bare[1:] != bare[1:].lower() else text[0].upper() + text[1:]
    return text


def shorten_title(text: str, limit: int = TITLE_CHARS) -> str:
    """A text of at most ``limit`` characters, whole wherever a part of it is."""
    if len(text) > limit:
        text = _ended(text, limit) or shorten(text, limit)
    return drop_unbalanced(text)


def _ended(text: str, limit: int) -> str:
    """The longest beginning that says something true by itself; else nothing."""
    for pattern in _ENDINGS:
        places = list(_up_to(pattern, text, limit))
        for before, place in reversed(list(zip([0, *places], places, strict=False))):
            head = text[:place].rstrip(" ,")
            is_scrap = before and text[before:place].count(" ") < MIN_CONTENT_WORDS
            fits = MIN_TITLE_CHARS <= len(head) <= limit
            if fits and not is_scrap and count_content_words(head) > MIN_CONTENT_WORDS:
                return head
    for end in reversed(list(_AND.finditer(text, 0, limit + 1))):
        head = text[: end.start()]
        is_pair = "," in head or _PAIRED.search(head)
        if (
            len(head) > MIN_CHARS_BEFORE_AND
            and not is_pair
            and count_content_words(head) > MIN_CONTENT_WORDS
        ):
            return head
    return ""


def _up_to(pattern: re.Pattern[str], text: str, limit: int) -> Iterator[int]:
    """Where a pattern is met, as long as no more than a limit stands before it."""
    for found in pattern.finditer(text):
        if len(text[: found.start()].rstrip(" ,")) > limit:
            return
        yield found.start()


def drop_unbalanced(text: str) -> str:
    """A text without a quote or bracket of which only one half is there."""
    cut = "…" if text.endswith("…") else ""
    bare = text.removesuffix("…")
    for mark in ('"', "`"):
        if bare.count(mark) % 2:
            bare = _without(bare, bare.rindex(mark))
    for opening, closing in ("()", "[]", "“”"):
        if bare.count(opening) > bare.count(closing):
            bare = _without(bare, bare.rindex(opening))
        elif bare.count(opening) < bare.count(closing) and bare.endswith(closing):
            bare = bare[:-1]
    return bare.rstrip(" ,;:(-–—") + cut


def _without(text: str, place: int) -> str:
    """A text that ends before an unclosed mark, or lacks it if too little is left."""
    if place >= MIN_TITLE_CHARS:
        return text[:place]
    return text[:place] + text[place + 1 :]


def count_content_words(text: str) -> int:
    """How many different words of a text tell what it is about.

    A pair of Chinese or Japanese characters counts half, since two make a word.
    """
    found = {
        term for term in analyzer.query_terms(text) if term not in stopwords.VAGUE_STEMS
    }
    found -= stopwords.STOP_WORDS
    latin = sum(term.isascii() for term in found if len(term) > 1)
    return latin + (len(found) - sum(term.isascii() for term in found) + 1) // 2


SESSION_TEXT_CHARS = 4_000
"""How much of what was said is read."""

SESSION_TITLE_CHARS = 200
"""How long the line is at most where it is shown as it was said."""

_MARK = re.compile(r"\[(?:image|file|document)\b[^\]\n]*\]", re.IGNORECASE)
_COMMAND = re.compile(r"/[\w:.-]+")


def session_title(text: str) -> str:
    """The line that stands for what was said; "" where there is none.

    Args:
        text: What a person said.
    """
    read = _MARK.sub(" ", text[:SESSION_TEXT_CHARS])
    sentences = prose.message_sentences(read)
    request = title_from_request(sentences)
    is_good = request is not None and request.worth >= LIKELY
    if request is not None and is_good and not request.title.endswith("…"):
        return request.title
    return "" if prose.is_continuation(read) else _first(read)


def is_informative(line: str) -> bool:
    """Whether such a line says what a session was about."""
    if _COMMAND.fullmatch(line):
        return False
    told = count_content_words(line)
    return told > (1 if cues.is_pleasantry(line) else 0)


def _first(text: str) -> str:
    """The first line that does not only lead in, as it was said."""
    lines = [prose.strip_markup(line.lstrip("# ")) for line in text.split("\n")]
    found = [line for line in lines if line]
    led_to = [line for line in found if not line.endswith((":", "："))]
    line = next(iter(led_to or found), "")
    return prose.shorten(line.rstrip(" :："), SESSION_TITLE_CHARS)
