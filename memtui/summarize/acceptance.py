"""Decide which bullets of a model's draft are kept, and whether its version is shown.

A bullet is dropped for the first ``Objection`` to it. Of a bullet of several sentences,
those that narrate or offer are left out. The title must be free of objections, too.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from enum import StrEnum

from memtui.model.events import EventRole
from memtui.model.nodes import Bullet
from memtui.model.summaries import BulletKind, DraftBullet, Summary
from memtui.model.verdicts import Support
from memtui.summarize.grounding import claims, negation
from memtui.summarize.grounding.passages import PassageIndex
from memtui.text import analyzer, cues, prose, titles


class Objection(StrEnum):
    """A reason to drop a bullet or a title, in the order in which they are looked for.

    ``draft`` finds the last two, by comparing a bullet with the extract.
    """

    NONE = ""
    PLACEHOLDER = "placeholder"
    """It says nothing."""
    REPETITION = "repetition"
    """Another field says the same."""
    OTHER_SCRIPT = "other script"
    """The log is written in another script."""
    NARRATION = "narration"
    """It tells who said or ran what, or what comes next."""
    NO_SUBJECT = "no subject"
    """It is a title that names only a kind of text."""
    OFFER = "offer"
    """It offers further work, or is only polite."""
    PLAN = "plan"
    """It is an outcome that only says what should be done."""
    COPIED_LINE = "copied line"
    """It is a command, a line of a program's output, or code."""
    SWAPPED_ROLES = "swapped roles"
    """It is a request that is not the user's, or a result or open point that only the
    user named."""
    UNSUPPORTED = "unsupported"
    """The source does not contain its wording, see ``grounding``."""
    TOO_SURE = "too sure"
    """It says that work is done which the extract found open or abandoned."""
    WEAK = "weak"
    """The source contains only a part of it, and the extract has that field."""


MAX_OVERLAP = 0.8
"""A bullet that shares more of its terms with an earlier one repeats it."""


class SourceTexts:
    """The texts that a draft was made from, by who said them."""

    def __init__(self, texts: Sequence[tuple[str, str]]) -> None:
        """Sort texts by their roles; each comes with its role."""
        tools = [text for role, text in texts if role == EventRole.TOOL]
        spoken = [(role, text) for role, text in texts if role != EventRole.TOOL]
        user = [text for role, text in spoken if role == EventRole.USER]
        others = [text for role, text in spoken if role != EventRole.USER]
        self.spoken = "\n".join(text for _, text in spoken)
        self.ends_with_user = bool(spoken) and spoken[-1][0] == EventRole.USER
        self.by_user = PassageIndex(user)
        self.by_others = PassageIndex([*others, *tools])
        self.tool_lines = {
            squeeze(line) for text in tools for line in text.splitlines()
        }


def trim(text: str) -> str:
    """Return a bullet without its sentences that narrate or offer, unless all do."""
    sentences = prose.split_paragraph(text)
    kept = [
        one
        for one in sentences
        if not is_narration(one) and not _is_offer_or_polite(one)
    ]
    return " ".join(kept) if 0 < len(kept) < len(sentences) else text


def list_objections(
    bullets: Sequence[DraftBullet], source: SourceTexts
) -> list[Objection]:
    """Return the objection to each bullet, without looking for its support."""
    found: list[Objection] = []
    kept: list[str] = []
    for one in bullets:
        found.append(_find_objection(one, kept, source))
        if not found[-1]:
            kept.append(one.text)
    return found


def _find_objection(
    bullet: DraftBullet, kept: Sequence[str], source: SourceTexts
) -> Objection:
    text = bullet.text
    if is_placeholder(text):
        return Objection.PLACEHOLDER
    if is_repetition(text, kept):
        return Objection.REPETITION
    if prose.is_in_other_script(text, source.spoken):
        return Objection.OTHER_SCRIPT
    if is_narration(text):
        return Objection.NARRATION
    if bullet.kind is not BulletKind.ASKED and _is_offer_or_polite(text):
        return Objection.OFFER
    if bullet.kind is BulletKind.OUTCOME and is_plan(text):
        return Objection.PLAN
    if is_copied_line(text, source.tool_lines):
        return Objection.COPIED_LINE
    if _has_swapped_roles(bullet, source):
        return Objection.SWAPPED_ROLES
    return Objection.NONE


def find_title_objection(title: str, source: SourceTexts) -> Objection:
    if is_placeholder(title):
        return Objection.PLACEHOLDER
    if prose.is_in_other_script(title, source.spoken):
        return Objection.OTHER_SCRIPT
    if is_narration(title):
        return Objection.NARRATION
    return Objection.NONE if has_subject(title) else Objection.NO_SUBJECT


def accept_title(
    title: str, parts: Sequence[str], passages: PassageIndex, source: SourceTexts
) -> str:
    """Return a model's title; "" if there is an objection to it, or the source
    contradicts one of its parts."""
    for part in parts:
        found = claims.check_bullet(DraftBullet(part), passages)
        if found.support is Support.UNSUPPORTED or found.features.is_contradicted:
            return ""
    return "" if find_title_objection(title, source) else title


def check_draft(draft: Summary, texts: Sequence[tuple[str, str]]) -> str:
    """Return why a draft will be rejected; "" if it may be accepted.

    Args:
        draft: What a model wrote.
        texts: What it was shown; each text comes with its role.
    """
    source = SourceTexts(texts)
    whole = " ".join(one.text for one in draft.bullets)
    if prose.is_in_other_script(whole, source.spoken):
        return "the reply is in another language than the log"
    passages = PassageIndex([text for _, text in texts])
    objections = list_objections(draft.bullets, source)
    bullets = []
    for one, objection in zip(draft.bullets, objections, strict=True):
        verdict = claims.check_bullet(DraftBullet(one.text), passages)
        verdict = replace(verdict, objection=objection)
        bullets.append(Bullet(one.text, ("",), verdict, one.kind))
    is_continued = all(role != EventRole.USER for role, _ in texts)
    title = accept_title(draft.title, [draft.title], passages, source)
    return find_rejection(bullets, names_work=is_continued and bool(title))


def is_kept(bullet: Bullet) -> bool:
    """Return whether a model's bullet is shown, provided that its version is."""
    return bullet.has_support and not bullet.verdict.objection


def find_rejection(bullets: Sequence[Bullet], *, names_work: bool = False) -> str:
    """Return why a model's version is not better than the extract; "" if it is.

    It is better if it says what was asked and what came of it: both are kept, the
    outcome is supported, and at least half of its bullets are kept. A list needs only
    one supported bullet. It is better, too, if it says what was asked where the extract
    can only name an earlier request.

    Args:
        bullets: All bullets that the model wrote.
        names_work: Whether its title was accepted, and the extract has none of its own.
    """
    if not bullets:
        return "no bullet was written"
    requests = [one for one in bullets if one.kind is BulletKind.ASKED]
    says_asked = any(map(is_kept, requests))
    if names_work and says_asked:
        return ""
    dropped = [one for one in bullets if not is_kept(one)]
    results = [
        one for one in bullets if one.kind in (BulletKind.OUTCOME, BulletKind.NOTE)
    ]
    if not any(is_kept(one) and one.support is Support.SUPPORTED for one in results):
        return f"it has no result that the source supports: {_describe(results)}"
    if any(one.kind is BulletKind.OUTCOME for one in results) and not says_asked:
        return f"it does not say what was asked: {_describe(requests)}"
    if 2 * len(dropped) > len(bullets):
        objections = [one.verdict.objection or Objection.UNSUPPORTED for one in dropped]
        reasons = ", ".join(dict.fromkeys(objections))
        return f"{len(dropped)} of {len(bullets)} bullets were dropped: {reasons}"
    return ""


def _describe(dropped: Sequence[Bullet]) -> str:
    """Return why the first of some bullets is not shown."""
    if not dropped:
        return "none was written"
    return dropped[0].verdict.objection or dropped[0].support.value


_NOTHING = re.compile(
    r"\W*(?:none|n/?a|nothing|unknown|unclear|null|empty|tbd"
    r"|not (?:specified|applicable|mentioned|available|provided)"
    r"|(?:there (?:is|are|was|were) )?(?:no|nothing)\b.{0,30}"
    r"\b(?:decisions?|decided|choices?|left|open|remains?|remaining|pending|mentioned"
    r"|specified|outcome|result|questions?|issues?|further)\b.{0,40})?\W*",
    re.IGNORECASE,
)

_PROMPT_ECHO = re.compile(
    r"(?:what (?:was|is|were) (?:wanted|asked|decided|done|left|the)"
    r"|the (?:result|task|work|outcome|answer|request)\b.{0,12}"
    r"\b(?:is|was|at the end|in the end|of the log)\b.{0,24}$)",
    re.IGNORECASE,
)


def is_placeholder(text: str) -> bool:
    """Return whether a bullet says nothing."""
    return bool(
        not squeeze(text) or _NOTHING.fullmatch(text) or _PROMPT_ECHO.match(text)
    )


def squeeze(text: str) -> str:
    """Return the letters and digits of a text, to compare it with others."""
    return "".join(re.findall(r"\w+", text)).casefold()


def is_repetition(text: str, kept: Sequence[str]) -> bool:
    """Return whether a bullet says what one of some others says."""
    terms, is_negated = set(analyzer.query_terms(text)), negation.has_negation(text)
    return bool(terms) and any(
        len(terms & set(analyzer.query_terms(other))) > MAX_OVERLAP * len(terms)
        and negation.has_negation(other) is is_negated
        for other in kept
    )


_ADVERB = (
    r"(?:initially|first|then|next|finally|later|after that|in the end|here|so|now"
    r"|(?:in|during) (?:this|the) (?:session|conversation|log|chat|discussion))"
)
_PERSON = (
    r"(?:the |an? |this )?(?:users?|assistant|developer|agent|ai|bot|model|claude|codex"
    r"|copilot|chatgpt|human|person)"
)
_ACTS = (
    r"(?:was|were|is|are|has|had|have|will|would|can|could|did|does|then|also|\w+ed"
    r"|asks|wants|needs|requests|says|tells|mentions|runs|reads|edits|creates|fixes|adds"
    r"|checks|tries|explains|suggests|provides|confirms|decides|starts|uses|ran|made"
    r"|wrote|told|said|began|found|gave|went|saw|got|let|read|put|chose|built|sent)"
)
_DOCUMENT = (
    r"(?:the |this )(?:conversation|session|discussion|dialogue|chat|log|text|work)"
)
_TELLS = (
    r"(?:(?:was|is|were) )?(?:mainly |mostly |all )?(?:about|focus\w*|involv\w*"
    r"|cover\w*|contain\w*|describ\w*|discuss\w*|start\w*|began|end(?:ed|s)|show(?:ed|s)"
    r"|includ\w*|consist\w*|revolv\w*|conclud\w*|was to)"
)
_NARRATION = re.compile(
    rf"\W*(?:{_ADVERB},? )*(?:{_PERSON}(?: and the \w+)?,? (?:\w+ly )?{_ACTS}\b"
    rf"|{_DOCUMENT} {_TELLS}\b|(?:i|we)(?:['’]\w+)? "
    r"|it (?:was|is) (?:asked|requested|said)\b"
    r"|(?:пользователь|ассистент|разработчик) |я |(?:用户|助手|开发者|我们?))",
    re.IGNORECASE,
)


_ANNOUNCEMENT = re.compile(
    r"\W*(?:(?:now|ok(?:ay)?|and|first|next|then|so|also),? )*(?:let(?:['’]s| me| us)\b"
    r"|(?:going|need|time) to\b|now (?:i|we)\b|(?:checking|looking at|reading) the\b"
    r"|сейчас |теперь я |接下来|现在我|让我)",
    re.IGNORECASE,
)


def is_narration(text: str) -> bool:
    """Return whether a bullet tells who did what, or announces what comes next."""
    return bool(_NARRATION.match(text) or _ANNOUNCEMENT.match(text))


def _is_offer_or_polite(text: str) -> bool:
    """Return whether a bullet offers work or is polite."""
    return bool(cues.is_offer(text) or cues.is_pleasantry(text))


_PLAN = re.compile(
    r"\b(?:should|must|needs? to|ha(?:s|ve) to)\b|\bto be \w+ed\b", re.IGNORECASE
)


def is_plan(text: str) -> bool:
    """Return whether each sentence of a text says what should be done."""
    return all(map(_PLAN.search, prose.split_paragraph(text)))


_DONE = re.compile(
    r"\b(?:resolved|fixed|solved|completed?|successful(?:ly)?|done|works? (?:now|again)"
    r"|now works?)\b|исправлен|решен|готово|已修复|已解决|已完成",
    re.IGNORECASE,
)


def claims_completion(text: str) -> bool:
    """Return whether a bullet says that work is done, without a negation."""
    return bool(_DONE.search(text)) and not negation.has_negation(text)


_TOOL_NAME = (
    r"bash|shell|read|write|edit|multiedit|grep|glob|ls|task|todowrite|webfetch|websearch"
    r"|notebookedit|exec_command|apply_patch|str_replace\w*|view"
)
_COMMAND = re.compile(
    rf"\W*(?:(?:{_TOOL_NAME}): |(?:[$>%]|❯|➜) |(?:cd|git|npm|npx|bun|pnpm|yarn|pip|uv"
    r"|python3?|pytest|cargo|go|make|docker|kubectl|sed|cat|grep|rg|ls|mkdir|rm|cp|mv"
    r"|curl|rtk|gh|sudo|node) [-\w./ ]+$)",
    re.IGNORECASE,
)
_CODE_MARKS = re.compile(
    r"\{(?:\s|$)|(?:^|\s)\}|;$|=>|\(\)\s*[{:;]|</?\w+>"
    r"|^\s*(?:import|from|def|const) "
)


def is_copied_line(text: str, tool_lines: Collection[str] = ()) -> bool:
    """Return whether a bullet is a command, a line of output, or code."""
    if _COMMAND.match(text) or cues.is_log_line(text):
        return True
    if len(_CODE_MARKS.findall(text)) >= 2:
        return True
    return squeeze(text) in tool_lines


_REQUESTED = re.compile(
    r"\b(?:assistant|agent|ai|model) (?:asked|requested|wanted|told|instructed)\b",
    re.IGNORECASE,
)


def _has_swapped_roles(bullet: DraftBullet, source: SourceTexts) -> bool:
    """Return whether a request is not the user's, or only the user's words support a
    result or an open point that the agent replied to."""
    if _REQUESTED.search(bullet.text):
        return True
    if not source.by_user.texts:
        return False
    plain = DraftBullet(bullet.text)
    by_user = claims.check_bullet(plain, source.by_user).support
    by_others = claims.check_bullet(plain, source.by_others).support
    match bullet.kind:
        case BulletKind.ASKED:
            return by_user is Support.UNSUPPORTED
        case BulletKind.OUTCOME:
            return by_others is Support.UNSUPPORTED
        case BulletKind.LEFT_OPEN:
            is_only_by_user = (
                by_user is Support.SUPPORTED and by_others is not Support.SUPPORTED
            )
            return is_only_by_user and not source.ends_with_user
        case _:
            return False


def has_subject(title: str) -> bool:
    """Return whether a title names a subject, not a kind of text."""
    return (
        analyzer.count_content_words(title) >= titles.MIN_CONTENT_WORDS
        and not cues.is_generic_heading(title)
        and not _GENERIC_TITLE.fullmatch(title)
    )


_GENERIC_TITLE = re.compile(
    r"\W*(?:(?:work|code|session|conversation|project|task|log|status|progress|development"
    r"|software|implementation|update|changes?|summary|report|overview|review|discussion"
    r"|analysis|improvements?|of|the|on|a|and|for|with|assistant|user|coding)\W*)+",
    re.IGNORECASE,
)
