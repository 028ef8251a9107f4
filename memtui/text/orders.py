"""Distinguish orders, questions, remarks and small talk by their wording.

This is apart from ``cues``, which takes long to import: the first screen needs it.
"""

import re
from enum import IntEnum

from memtui.text.stopwords import word_set

is_small_talk = re.compile(
    r"\W*(?:(?:a+h+|o+h+|h?m+|uh+|wow|ok(?:ay)?|yes|yep|no|nope|wait|sorry|thanks?"
    r"(?: you)?|great|nice|cool|good(?: (?:morning|afternoon|evening))?|perfect|right"
    r"|sure|done|hi|hey|hello|wth|wtf|hallo|guten (?:tag|morgen)|привет|спасибо"
    r"|здравствуйте|доброе утро|добрый (?:день|вечер)|你好|您好|谢谢)\b\W*)*"
    r"(?:(?:and |so |now )*(?:i(?:'ve| have)?(?: now)? (?:see|got it|get it|understand)"
    r"|(?:it|this|that|everything|all)(?:'s| is)? (?:now )?"
    r"(?:works?|working|fixed|good|done)"
    r"|(?:it |this |that )?(?:seems?|looks?|appears?)(?: to(?: be)?)?"
    r" (?:work\w*|good|fine|ok(?:ay)?)"
    r"|how(?:'s| is| are) (?:it|you|things)(?: going)?|what's next|go (?:on|ahead)"
    r"|(?:please )?(?:continue|proceed|resume|keep (?:going|working)|carry on)"
    r"(?: please| (?:(?:with )?(?:it|that|this)|working|from where you left off))?"
    r"|(?:bitte )?mach(?:en sie)? (?:bitte )?weiter|продолжай(?:те)?"
    r"|let'?s (?:do\w?|try|use) (?:it|that|this)|you decide|up to you)"
    r"(?: now| again| then)*)?\W*",
    re.IGNORECASE,
).fullmatch
"""Matches a clause without content: "ah, now it works", "how's it going?"."""

BASE_VERBS = word_set(
    """
    access adapt add adjust adopt align allow analyse analyze annotate apply
    archive ask assert assign attach audit automate avoid back bring build bump
    cache calculate call cancel change check choose clarify clean clear clone close
    collect combine commit compare compile complete compute configure connect
    consider containerize continue convert copy correct cover create cut debug
    decide define delete deploy deprecate describe design detect determine develop
    diagnose dig disable discuss display dockerize document downgrade download
    draft draw drop dump edit eliminate embed emit employ enable encode enforce
    enhance enrich ensure estimate evaluate examine exclude execute expand explain
    explore export expose extend extract fetch figure fill filter find finish fix
    flatten focus follow force format generate get give go grab group guard handle
    harden help hide highlight identify ignore implement import improve include
    incorporate increase infer initialise initialize inject inline insert inspect
    install integrate introduce investigate iterate join keep label launch lay
    learn leave limit link lint list load log look lower make map mark measure
    mention merge migrate minify mock modernise modernize modify move name
    normalize notify open optimise optimize order organise organize outline output
    override package parameterize parse pass patch pin plan point polish populate
    port prepare present prevent print prioritise prioritize process produce
    profile proofread propagate propose provide prune publish pull push put query
    raise read rearrange rebase rebrand rebuild recalculate recommend reconcile
    reconsider record recreate redeploy redesign redirect redo reduce refactor
    refine reformat refresh regenerate register reimplement reinstall release
    reload relocate remove rename render reorder reorganise reorganize repair
    repeat rephrase replace report reposition reproduce require rerun research
    reset resize resolve restart restore restructure rethink retry return reuse
    revert review revise rewire rework rewrite roll rotate round run sanitize save
    scaffold scale scan scrape search select send separate serve set share shorten
    show shrink simplify skip solve sort spawn speed split squash stabilise
    stabilize standardise standardize start stop store stream strip style
    substitute suggest summarise summarize support suppress swap switch sync tag
    take talk teach tell test think throttle tidy tighten toggle trace track transform
    translate trigger trim truncate try tune turn tweak unblock understand undo
    unify uninstall unpack unzip update upgrade upload use utilize validate verify
    view visualise visualize walk warn watch wire work wrap write
    """
)

FIRST_WORD = re.compile(
    r"(?:(?:please|also|now|just|maybe|in \S*\w[./]\w\S*) )*([a-z]+)\b", re.IGNORECASE
)
"""The first word of an order, after a place: "in src/app.py, rename …"."""

_IS_STATEMENT = re.compile(
    r"\b(?:is|are|was|were|am|has|have|had|seems?|feels?|looks?)\b|\w(?:'|’)(?:s|m|re|ve)\b",
    re.IGNORECASE,
)
_WANTS = re.compile(
    r"\?|\b(?:should|need(?:s|ed)?|must|want|wish|please|can|could|let'?s|would|cannot"
    r"|why|how|not?|nothing|without|never|again|still|too|only|error|fail\w*|wrong|bad"
    r"|broken|bug\w*|missing|crash\w*|warnings?|slow\w*|stuck|hangs?|flaky|leaks?"
    r"|truncated|clipped|blank|unreadable|disappear\w*|frozen|outdated|incorrect|invalid"
    r"|corrupt\w*|denied|refused|timed out"
    r"|problem|trying|unable|(?<!the )issues?|trouble|difficult\w*|confus\w*|ugly"
    r"|instead|more|less|inconsisten\w*|unused|duplicated?)\b|n['’]t\b|[^\0-\x7f\W_]",
    re.IGNORECASE,
)


_PREPARES = word_set(
    """
    check explore familiarize figure give investigate list load look navigate open
    read run see show study talk tell think understand
    """
)
"""The verbs of orders that often only prepare the work: "read the design first"."""

_FURTHER_VERB = re.compile(r"\b(?:and|then|to) (?:then |also )?([a-z]+)\b", re.I)
_VAGUE_OBJECT = re.compile(
    r"\w+ (?:(?:the )?(?:changes?|files?) in )?(?:(?:it|that|them)\b"
    r"|(?:this|these|those)\b(?! \w{2,} (?:at|by|for|from|in|into|of|on|to|with)\b)"
    r"|\d+(?= (?:in|into|to|on|from|as|and|with|first)\b|\W*$))",
    re.IGNORECASE,
)
_CONTRADICTS = re.compile(r"but\b", re.IGNORECASE)
"""Begins an objection to what was said before."""

_COMMITS = re.compile(
    r"(?:git )?(?:commit|push)(?=\s*(?:[^\w\s]|$)|\s(?:and|it|this|that|these|those"
    r"|them|all|everything|to|now|again|please|with|as"
    r"|(?:the |my |our |your )?(?:changes?|commits?|branch|code))\b)"
    r"|merge (?:remote-tracking )?(?:branch|pull request) ['#]",
    re.IGNORECASE,
)
_NAMES_TICKET = re.compile(r"(?<!color )(?<!colour )#\d")

_GUESSED = re.compile(r",? (?:i (?:think|guess|believe|suppose)|imo|imho)\W*$", re.I)
_WISHES = re.compile(
    r"\?|\b(?:should|need(?:s|ed)?|must|want|wish|please|could|let'?s|would)\b", re.I
)

_UNNAMED = "(?:some|every|no)thing|it|this|that|these|those|there"
_UNNAMED_SUBJECT = re.compile(
    rf"(?:{_UNNAMED})\b|.*\b(?:do|does|build|make|create) something\b", re.IGNORECASE
)
_VAGUE_SUBJECT = re.compile(rf"(?:{_UNNAMED}|we|you|i)\b", re.IGNORECASE)


def is_order(title: str) -> bool:
    verb = FIRST_WORD.match(title)
    return verb is not None and verb[1].lower() in BASE_VERBS


def is_remark(title: str) -> bool:
    """Return whether a title only states something: no request, question or problem."""
    if is_order(title) or not _IS_STATEMENT.search(title):
        return False
    wishes = _WISHES if _GUESSED.search(title) else _WANTS
    return not wishes.search(title)


def states_need(title: str) -> bool:
    """Return whether a title asks for something, or states a problem."""
    return _WANTS.search(title) is not None


def wishes(text: str) -> bool:
    """Return whether a text asks for something."""
    return _WISHES.search(text) is not None


class TitleKind(IntEnum):
    """The kinds of titles, those that name work best first."""

    ORDER = 0
    STATEMENT = 1
    """A wish or a problem."""
    PREPARATION = 2
    QUESTION = 3
    """Or a statement that is cut, or does not say what it is about."""
    REMARK = 4


def find_kind(title: str) -> TitleKind:
    """Return the kind of request that a title was made from."""
    if _NAMES_TICKET.search(title):
        return TitleKind.ORDER
    if _COMMITS.match(title) or _CONTRADICTS.match(title):
        return TitleKind.REMARK
    if is_order(title):
        return TitleKind.PREPARATION if _only_prepares(title) else TitleKind.ORDER
    if title.rstrip().endswith(("?", "？")):
        return TitleKind.QUESTION
    if is_remark(title):
        return TitleKind.REMARK
    is_unclear = title.endswith("…") or _UNNAMED_SUBJECT.match(title)
    return TitleKind.QUESTION if is_unclear else TitleKind.STATEMENT


def _only_prepares(order: str) -> bool:
    """Return whether an order does not say what is to be done, or to what."""
    verb = FIRST_WORD.match(order)
    if verb is None or verb[1].lower() not in _PREPARES:
        return has_vague_object(order)
    further = {one.lower() for one in _FURTHER_VERB.findall(order, verb.end())}
    return further.isdisjoint(BASE_VERBS - _PREPARES)


def has_vague_object(title: str) -> bool:
    """Return whether a title is an order like "Call it main.py"."""
    return is_order(title) and _VAGUE_OBJECT.match(title) is not None


def has_vague_subject(title: str) -> bool:
    """Return whether a title does not say what it is about: "Something broke"."""
    return _VAGUE_SUBJECT.match(title) is not None
