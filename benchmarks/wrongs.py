"""Sentences made wrong in one thing, so that nobody said them as they then stand.

Each way gives None where a sentence has nothing that it could change.
"""

import random
import re

_PATH = re.compile(r"(?<![\w./:-])((?:[\w.@-]+/)+)([\w-]+\.[a-z]{1,4})(?![\w/])")
_NUMBER = re.compile(r"(?<![\w.#/\-])\d+(?:\.\d+)?(?=(?:ms|s|k|[MG]B|x|%)?(?![\w/\-]))")
_UNIT = re.compile(r"(?P<number>(?<![\w.#/\-])\d+(?:\.\d+)?)(?P<gap> ?)(?P<unit>%|\w+)")
_SPELLED = re.compile(r"\b(?:two|three|four|five|six|seven|eight|nine|ten)\b", re.I)
_SPELT = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_VERB = re.compile(
    r"\b(?:is|are|was|were|will|can|should|has|have|had|must|would|could|does|did)\b"
    r"(?!['’])(?! (?:not|no|never)\b)"
)

UNITS = {
    "ms": "s",
    "s": "min",
    "seconds": "minutes",
    "minutes": "hours",
    "hours": "days",
    "days": "weeks",
    "weeks": "months",
    "KB": "MB",
    "MB": "GB",
    "%": " points",
    "lines": "files",
    "tests": "errors",
    "test": "error",
    "errors": "warnings",
    "warnings": "tests",
    "files": "tests",
    "commits": "branches",
    "issues": "tests",
    "steps": "files",
    "characters": "lines",
    "times": "days",
    "phases": "files",
    "prompts": "phases",
    "new": "old",
    "concurrent": "idle",
}
"""What a number counts, and what it is made to count."""

DIRECTORIES = ("legacy", "vendor", "billing", "old/core", "internal", "third_party")

INVENTED = (
    "and the nightly deployment to Frankfurt failed",
    "because the customer complained",
    "and the license was renewed for another year",
    "so that the sales team could present it on Friday",
    "and Maria from accounting approved it",
    "after the warehouse burned down",
    "which cost the company its largest contract",
    "and a penetration test found nothing",
    "because the old supplier went bankrupt",
    "and the press was informed by telephone",
)
"""Clauses that no transcript says; eight words at most, as a model would add them."""

NEARLY = ("hardly", "almost", "nearly", "barely", "scarcely")


def moved(text: str, chance: random.Random) -> str | None:
    """A path in another directory: one of its own changed, or all of them."""
    found = list(_PATH.finditer(text))
    if not found:
        return None
    path, other = chance.choice(found), chance.choice(DIRECTORIES)
    above = path[1].rstrip("/").split("/")
    if chance.random() < 0.5 and len(above) > 1:
        above[chance.randrange(len(above))] = other
    else:
        above = [other]
    return f"{text[: path.start()]}{'/'.join(above)}/{path[2]}{text[path.end() :]}"


def exchanged(text: str, chance: random.Random) -> str | None:
    """Two different numbers exchanged."""
    found = list(_NUMBER.finditer(text))
    pairs = [(one, two) for one in found for two in found if one.start() < two.start()]
    pairs = [(one, two) for one, two in pairs if one[0] != two[0]]
    if not pairs:
        return None
    one, two = chance.choice(pairs)
    between = text[one.end() : two.start()]
    return text[: one.start()] + two[0] + between + one[0] + text[two.end() :]


def recounted(text: str, chance: random.Random) -> str | None:
    """A number of something else: "14 tests" made "14 errors", seconds minutes."""
    found = [one for one in _UNIT.finditer(text) if one["unit"] in UNITS]
    if not found:
        return None
    one = chance.choice(found)
    other = one["gap"] + UNITS[one["unit"]]
    return text[: one.start()] + one["number"] + other + text[one.end() :]


def respelled(text: str, chance: random.Random) -> str | None:
    """A number written out, made another."""
    found = list(_SPELLED.finditer(text))
    if not found:
        return None
    one = chance.choice(found)
    other = chance.choice([word for word in _SPELT if word != one[0].lower()])
    return text[: one.start()] + other + text[one.end() :]


def added_to(text: str, chance: random.Random) -> str:
    """The same with a clause that nobody said."""
    clause = chance.choice(INVENTED)
    comma = "," if clause.startswith(("and", "which")) else ""
    return f"{text.rstrip('.')}{comma} {clause}"


def halved(text: str, other: str) -> str | None:
    """The first half of one sentence, and the second of another."""
    first, second = text.split(), other.split()
    if len(first) < 6 or len(second) < 6:
        return None
    return " ".join(first[: len(first) // 2] + second[len(second) // 2 :])


def nearly(text: str, chance: random.Random) -> str | None:
    """What is so, told as what hardly or nearly is."""
    found = list(_VERB.finditer(text))
    if not found:
        return None
    verb = chance.choice(found)
    return f"{text[: verb.end()]} {chance.choice(NEARLY)}{text[verb.end() :]}"
