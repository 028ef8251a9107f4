"""Stems of English words, which are compared, never shown.

They come from the first steps of Porter's algorithm (M. F. Porter, "An algorithm for
suffix stripping", 1980): plurals, -ed and -ing, a final y, and common derivations.
Irregular forms get the stem of their base form.
"""

import re

MIN_STEMMED_LETTERS = 4
"""Shorter words are their own stem."""

_VOWEL = re.compile("[aeiouy]")
_MEASURE = re.compile("[aeiouy]+[^aeiouy]+")
_ENGLISH = re.compile("[a-z]+")
_SHORT_ROOT = re.compile("[^aeiouy][aeiouy][^aeiouywx]$")
"""Matches a root that ends in consonant, vowel, consonant, like "hop"."""

_DERIVED = (
    ("ization", "ize"),
    ("isation", "ize"),
    ("ational", "ate"),
    ("fulness", "ful"),
    ("iveness", "ive"),
    ("ousness", "ous"),
    ("ication", "ic"),
    ("ations", "ate"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("ement", "e"),
    ("ments", ""),
    ("ment", ""),
    ("ness", ""),
    ("tion", "t"),
    ("sion", "s"),
    ("bly", "ble"),
    ("ally", "al"),
    ("ily", "y"),
    ("ly", ""),
    ("ise", "ize"),
)
"""Suffixes and their replacements; the first match is used."""

_ENDINGS = tuple(ending for ending, _ in _DERIVED)

_IRREGULAR_FORMS = """
    became:become began:begin begun:begin bent:bend bought:buy bound:bind
    broke:break broken:break brought:bring built:build burnt:burn came:come
    caught:catch chose:choose chosen:choose crept:creep dealt:deal drank:drink
    drawn:draw dreamt:dream drew:draw driven:drive drove:drive dug:dig eaten:eat
    ate:eat fallen:fall fed:feed fell:fall felt:feel fled:flee flew:fly flown:fly
    forbidden:forbid forgot:forget forgotten:forget fought:fight found:find
    froze:freeze frozen:freeze gave:give given:give gone:go went:go grew:grow
    grown:grow heard:hear held:hold hid:hide hidden:hide hung:hang kept:keep
    knew:know known:know laid:lay learnt:learn led:lead lent:lend lost:lose
    made:make meant:mean met:meet paid:pay ran:run rang:ring ridden:ride rode:ride
    said:say sang:sing sank:sink sat:sit saw:see seen:see sent:send shaken:shake
    shook:shake shot:shoot shown:show shrank:shrink slept:sleep slid:slide
    sold:sell sought:seek spent:spend spoke:speak spoken:speak sprang:spring
    stole:steal stolen:steal stood:stand struck:strike stuck:stick sung:sing
    swam:swim swept:sweep taken:take taught:teach thought:think threw:throw
    thrown:throw told:tell took:take tore:tear torn:tear understood:understand
    woke:wake woken:wake won:win wore:wear worn:wear written:write wrote:write
    children:child criteria:criterion feet:foot indices:index matrices:matrix
    men:man mice:mouse people:person teeth:tooth vertices:vertex women:woman
"""

_IRREGULAR = dict(re.findall(r"(\w+):(\w+)", _IRREGULAR_FORMS))
"""Irregular forms and their base forms; forms that are common words themselves ("left",
"rose") are not included."""


def word_prefixes(start: str) -> set[str]:
    """Return prefixes such that every folded word whose stem starts this way has one.

    Rules only remove letters from the end of a word and replace others, except for the
    last letter of the stem; irregular forms differ by more.
    """
    if not _ENGLISH.fullmatch(start):
        return {start}
    irregular = {form for form, root in _ROOTS.items() if root.startswith(start)}
    return {start[: max(2, len(start) - 1)]} | irregular


def form_prefix(word: str) -> str:
    """Return the beginning that a folded word has in common with its other forms.

    It is for words without a stem of their own, such as Russian ones: forms differ in
    their last two letters.
    """
    return word[: max(MIN_STEMMED_LETTERS - 1, len(word) - 2)]


def is_irregular(word: str) -> bool:
    """Return whether a folded word is an irregular form: "wrote", "men"."""
    return word in _IRREGULAR


def stem(word: str) -> str:
    """Return the stem of a folded, lower-case word.

    Anything but plain English letters is its own stem.
    """
    word = _IRREGULAR.get(word, word)
    if len(word) < MIN_STEMMED_LETTERS or not _ENGLISH.fullmatch(word):
        return word
    word = _without_inflection(_singular(word))
    if word.endswith(_ENDINGS):
        word = _without_derivation(word)
    if word.endswith("y") and _VOWEL.search(word[:-1]):
        return word[:-1] + "i"
    if word.endswith("e") and len(word) > MIN_STEMMED_LETTERS:
        return word[:-1]
    return word


def _singular(word: str) -> str:
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_inflection(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        root = word.removesuffix(ending)
        if root != word and len(root) > 1 and _VOWEL.search(root):
            return _restored(root)
    return word


def _without_derivation(word: str) -> str:
    ending, origin = next(pair for pair in _DERIVED if word.endswith(pair[0]))
    root = word.removesuffix(ending)
    return root + origin if _measure(root) > 0 and len(root) > 2 else word


def _restored(root: str) -> str:
    """Restore the ending of a root that was cut off before -ed or -ing."""
    if root.endswith(("at", "bl", "iz", "is")) and len(root) > 2:
        return root + "e"
    if root[-1] == root[-2] and root[-1] not in "aeioulsz":
        return root[:-1]
    return root + "e" if _measure(root) == 1 and _SHORT_ROOT.search(root) else root


def _measure(root: str) -> int:
    return len(_MEASURE.findall(root))


_ROOTS = {form: stem(form) for form in _IRREGULAR}
