"""Ground a draft; decide which bullets of a model are kept, and which version is shown.

Drafts of all summarizers pass here. Each bullet gets its grips and its verdict. Bullets
of a model that the source does not support are withheld: stored, but neither shown nor
rolled up.

A bullet of a model is withheld, too, for the first ``Objection`` to it. Of a bullet of
several sentences, those that narrate or offer are left out. The title must be free of
objections, too.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice

from memtui.model.calendar import TocLevel
from memtui.model.citations import Grip
from memtui.model.events import Event, EventRole
from memtui.model.nodes import (
    BULLET_COUNTS,
    WORDED_FIELDS,
    Bullet,
    BulletKind,
    DraftBullet,
    Summary,
    TocNode,
)
from memtui.model.sessions import WorkState, counted_text
from memtui.model.verdicts import (
    EventQuote,
    Support,
    Verdict,
    VerdictFeatures,
    hash_quote,
)
from memtui.summarize.grounding import anchoring, claims, negation
from memtui.summarize.grounding.claims import ChildBullet, EventPassages
from memtui.summarize.grounding.passages import PassageIndex
from memtui.summarize.rollup import create_bullet, join_bullets
from memtui.summarize.session_work import CONTINUED
from memtui.text import analyzer, cues, orders, prose, titles
from memtui.text.orders import TitleKind


class Objection(StrEnum):
    """A reason to withhold a bullet or to reject a title, in the order of the search.

    ``UNSUPPORTED`` follows from the verdict. ``GroundedSummary.with_extract`` finds
    ``TOO_SURE``, ``OVERTAKEN``, ``WEAK`` and further repetitions, by comparing a bullet
    with the extract.
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
    NO_RESULT = "no result"
    """It is an outcome that only says what was looked at, which files were written, or
    that all is committed."""
    COPIED_LINE = "copied line"
    """It is a command, a line of a program's output, or code."""
    SWAPPED_ROLES = "swapped roles"
    """It is a request that is not the user's, or a result or open point that only the
    user named."""
    UNSUPPORTED = "unsupported"
    """The source does not contain its wording, see ``grounding``."""
    TOO_SURE = "too sure"
    """It says that work is done which the extract found open or abandoned."""
    OVERTAKEN = "overtaken"
    """It only says that nothing is committed, and the segment has a commit."""
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
    if bullet.kind is BulletKind.OUTCOME and has_no_result(text):
        return Objection.NO_RESULT
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
        if found.support is Support.UNSUPPORTED or found.features.has_mismatch:
            return ""
    return "" if find_title_objection(title, source) else title


def check_draft(
    draft: Summary, texts: Sequence[tuple[str, str]], *, may_add_title: bool = False
) -> str:
    """Return why a draft will be rejected; "" if it may be accepted.

    Args:
        draft: What a model wrote.
        texts: What it was shown; each text comes with its role.
        may_add_title: Whether a good title and request may suffice; the title of the
            extract decides.
    """
    source = SourceTexts(texts)
    whole = " ".join(one.text for one in draft.bullets)
    is_translated = prose.is_translated(whole, source.spoken)
    if is_translated or prose.is_in_other_script(whole, source.spoken):
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
    adds_title = bool(title) and (is_continued or may_add_title)
    return find_rejection(bullets, adds_title=adds_title)


def is_kept(bullet: Bullet) -> bool:
    """Return whether a model's bullet is shown, provided that its version is."""
    return bullet.has_support and not bullet.verdict.objection


def find_rejection(bullets: Sequence[Bullet], *, adds_title: bool = False) -> str:
    """Return why a model's version is not better than the extract; "" if it is.

    It is better if it says what came of the work: the outcome is kept and supported,
    and at least half of its bullets are kept. A list needs only one supported bullet.
    It is better, too, if it says what was asked and names the work where the title of
    the extract is unclear.

    Args:
        bullets: All bullets that the model wrote.
        adds_title: Whether its title was accepted, and that of the extract is unclear.
    """
    if not bullets:
        return "no bullet was written"
    requests = [one for one in bullets if one.kind is BulletKind.ASKED]
    if adds_title and any(map(is_kept, requests)):
        return ""
    withheld = [one for one in bullets if not is_kept(one)]
    results = [
        one for one in bullets if one.kind in (BulletKind.OUTCOME, BulletKind.NOTE)
    ]
    if not any(is_kept(one) and one.support is Support.SUPPORTED for one in results):
        return f"it has no result that the source supports: {_describe(results)}"
    if 2 * len(withheld) > len(bullets):
        objections = [
            one.verdict.objection or Objection.UNSUPPORTED for one in withheld
        ]
        reasons = ", ".join(dict.fromkeys(objections))
        return f"{len(withheld)} of {len(bullets)} bullets were withheld: {reasons}"
    return ""


def _describe(bullets: Sequence[Bullet]) -> str:
    """Return why the first of some bullets does not count."""
    if not bullets:
        return "none was written"
    return bullets[0].verdict.objection or bullets[0].support.value


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


_NO_RESULT = re.compile(
    r"[^.,;]{0,60}\b(?:was|were|(?:has|have) been) (?:also |all )?(?:analy[sz]ed"
    r"|checked|examined|explored|inspected|reviewed)\b"
    r"(?!.*\b(?:are|bugs?|causes?|fixe[ds]|is|now)\b)"
    r"|(?:all )?(?:the )?(?:\w+ )?(?:changes|files|work) (?:(?:was|were|are|is) )?"
    r"(?:now )?(?:committed|pushed)(?: to \S+)?\W*$"
    r"|(?=.*\w\.\w{1,5}\b)[\w ,./`-]{0,80} (?:was|were|(?:has|have) been)"
    r" (?:successfully )?(?:created|removed|updated|written)(?: successfully)?"
    r"(?: at: \S+)?\W*$",
    re.IGNORECASE,
)


def has_no_result(text: str) -> bool:
    """Return whether each sentence only says what was looked at, which files were
    written, or that all is committed."""
    return all(map(_NO_RESULT.match, prose.split_paragraph(text)))


_DONE = re.compile(
    r"\b(?:resolved|fixed|solved|completed?|successful(?:ly)?|done|works? (?:now|again)"
    r"|now works?|(?:is|are|was|were) (?:now )?(?:added|configured|created|deployed"
    r"|implemented|installed|published|saved|updated))\b"
    r"|исправлен|решен|готово|已修复|已解决|已完成",
    re.IGNORECASE,
)


_UNCOMMITTED = re.compile(
    r"(?:nothing|no (?:changes?|files?|work))\b[^.]{0,12}\bcommitted\b"
    r"|\bnot (?:yet )?committed\b",
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
    if _COMMAND.match(text) or cues.is_log_line(text) or cues.is_agent_error(text):
        return True
    if "```" in text or len(_CODE_MARKS.findall(text)) >= 2:
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


# Grounding

EventReader = Callable[[Sequence[str]], Sequence[Event]]
"""Reads the events behind some grips, in order."""


@dataclass(frozen=True, slots=True)
class GroundedSummary:
    """A summary with verdicts and grips."""

    title: str
    """The draft's title; "" if it is a model's that was not accepted."""
    bullets: tuple[Bullet, ...]
    withheld: tuple[Bullet, ...] = ()
    grips: tuple[Grip, ...] = ()
    """The new grips; inherited ones exist already."""
    rejection: str = ""
    """Why a model's draft is not shown; "" if it is."""

    def with_extract(self, extract: "GroundedSummary") -> "GroundedSummary":
        """Return a model's summary with what it lacks of an extract.

        These are the facts, the fields of a card that were not written or not accepted,
        and, as quotes, the extract's outcome and quotes if they say something else and
        there is room; beside a plain list of bullets only the facts and the pieces of
        work.
        A weak bullet, or one that repeats a line of the extract, is withheld if the
        extract has that field or lists the work.
        """
        lines = [one for one in extract.bullets if one.kind is not BulletKind.QUOTE]
        if any(one.kind is BulletKind.NOTE for one in self.bullets):
            lines = [one for one in lines if one.kind not in WORDED_FIELDS]
        is_open = any(
            one.kind is BulletKind.STATE and one.text in UNFINISHED for one in lines
        )
        known = {one.kind for one in lines if one.kind in WORDED_FIELDS}
        works = [one for one in lines if one.kind is BulletKind.WORK]
        known |= {BulletKind.NOTE} if works else set()
        own, withheld = list(self.bullets), list(self.withheld)

        def withhold(bullet: Bullet, objection: Objection) -> None:
            own.remove(bullet)
            withheld.append(_with_objection(bullet, objection))

        is_committed = _is_committed(lines)
        for one in self.bullets:
            is_outcome = is_open and one.kind is BulletKind.OUTCOME
            if is_outcome and claims_completion(one.text):
                withhold(one, Objection.TOO_SURE)
            elif is_committed and one.kind in _ENDINGS:
                if rest := _drop_uncommitted(one.text):
                    own[own.index(one)] = replace(one, text=rest)
                else:
                    withhold(one, Objection.OVERTAKEN)
        written = (*own, *withheld)
        for one in tuple(own):
            if one.support is Support.WEAK and one.kind in known:
                withhold(one, Objection.WEAK)
        for one in tuple(own):
            missing = known - {bullet.kind for bullet in own}
            texts = [line.text for line in lines if line.kind in missing]
            for line in works:
                texts += [f"{line.project}: {line.text}", line.text.partition(" — ")[2]]
            if is_repetition(one.text, texts):
                withhold(one, Objection.REPETITION)
        kinds = {one.kind for one in own}
        bullets = [*own, *(line for line in lines if line.kind not in kinds)]
        if BulletKind.NOTE not in kinds:
            bullets += _find_further_quotes(extract.bullets, bullets)
        title = self._title_beside(extract.title, works)
        says_more = title != extract.title or BulletKind.NOTE in kinds or not works
        adds_title = title != extract.title and not _is_clear_request(extract.title)
        return replace(
            self,
            title=title,
            rejection=find_rejection(written, adds_title=adds_title)
            or ("" if says_more else "it says no more than the extract"),
            bullets=tuple(sorted(bullets, key=_card_order)),
            withheld=tuple(withheld),
            grips=(*self.grips, *extract.grips),
        )

    def _title_beside(self, extract_title: str, works: Sequence[Bullet]) -> str:
        """Return the extract's title if there is no other, if only it names the
        projects, or if it is a request that says more."""
        if not works and _is_clear_request(extract_title):
            count = analyzer.count_content_words
            if count(self.title) < count(extract_title):
                return extract_title
        named = {one.project for one in works if f"{one.project}: " in extract_title}
        title = self.title.casefold()
        are_named = all(project.casefold() in title for project in named)
        return self.title if title and are_named else extract_title


_ENDINGS = (BulletKind.OUTCOME, BulletKind.LEFT_OPEN)
"""The fields that describe the end of a segment."""


def _is_committed(lines: Sequence[Bullet]) -> bool:
    """Return whether an extract has a commit and no changes that are not committed."""
    has_commit = any(one.kind is BulletKind.COMMIT for one in lines)
    return has_commit and not any(_UNCOMMITTED.search(one.text) for one in lines)


def _drop_uncommitted(text: str) -> str:
    """Return a text without the sentences that say that nothing is committed."""
    if not _UNCOMMITTED.search(text):
        return text
    sentences = prose.split_paragraph(text)
    return " ".join(one for one in sentences if not _UNCOMMITTED.search(one))


def _find_further_quotes(
    extract: Sequence[Bullet], bullets: Sequence[Bullet]
) -> Iterator[Bullet]:
    """Return the quotes and the outcome of an extract that say something else than some
    bullets, as quotes, as many as there is room for."""
    texts = [one.text for one in bullets if one.kind in WORDED_FIELDS]
    room = BULLET_COUNTS[TocLevel.SEGMENT][1] - len(texts)
    quotes = (
        replace(one, kind=BulletKind.QUOTE)
        for one in extract
        if one.kind in (BulletKind.OUTCOME, BulletKind.QUOTE)
    )
    new = (one for one in quotes if not is_repetition(one.text, texts))
    return islice(new, max(0, room))


def _is_clear_request(title: str) -> bool:
    """Return whether a title is a whole order, wish or problem."""
    kind = orders.find_kind(title)
    is_wish = kind is TitleKind.STATEMENT and orders.states_need(title)
    is_whole = not title.endswith(("…", CONTINUED))
    return is_whole and (kind is TitleKind.ORDER or is_wish)


def _with_objection(bullet: Bullet, objection: Objection) -> Bullet:
    verdict = replace(bullet.verdict, objection=objection, is_by_model=True)
    return replace(bullet, verdict=verdict)


UNFINISHED = (WorkState.OPEN, WorkState.FAILED, WorkState.ABANDONED)

_CARD_ORDER = (
    BulletKind.ASKED,
    BulletKind.OUTCOME,
    BulletKind.NOTE,
    BulletKind.DECISION,
    BulletKind.LEFT_OPEN,
    BulletKind.QUOTE,
)


def _card_order(bullet: Bullet) -> int:
    return (
        _CARD_ORDER.index(bullet.kind)
        if bullet.kind in _CARD_ORDER
        else len(_CARD_ORDER)
    )


def ground_segment(
    draft: Summary, events: Sequence[Event], *, node_id: str
) -> GroundedSummary:
    """Ground a segment's draft in its events.

    Args:
        draft: The draft; ``refs`` are indexes into ``events``.
        events: The events of the segment in order, without the overlap.
        node_id: The segment.
    """
    if not draft.generation.model:
        return _ground_extract(draft, events, node_id)
    passages = EventPassages(events)
    anchored = anchoring.create_grips(draft.bullets, events, node_id)
    indexes = {event.event_id: at for at, event in enumerate(events)}
    new_grips: list[Grip] = []
    bullets = []
    for claim, grips in zip(draft.bullets, anchored, strict=True):
        cited_indexes = [at for grip in grips for at in _event_range(grip, indexes)]
        verdict = _check_at_grips(claim, cited_indexes, passages)
        quotes = {one.index: one for one in reversed(verdict.quotes)}
        if verdict.support is not Support.UNSUPPORTED and quotes.keys().isdisjoint(
            cited_indexes
        ):
            for at, quote in quotes.items():
                quoted = passages.quoted_text(quote).strip()
                excerpt = prose.truncate(quoted, prose.EXCERPT_CHARS)
                grips += (
                    anchoring.create_grip(claim.text, events[at], excerpt, node_id),
                )
        new_grips += grips
        grip_ids = tuple(dict.fromkeys(grip.grip_id for grip in grips))
        verdict = claims.with_event_quotes(verdict, events)
        bullets.append(create_bullet(claim, grip_ids, verdict))
    texts = [(event.role.value, counted_text(event)) for event in events]
    source_texts = SourceTexts(texts)
    title = accept_title(draft.title, [draft.title], passages, source_texts)
    return _accept(title, draft, bullets, new_grips, source_texts)


def _ground_extract(
    draft: Summary, events: Sequence[Event], node_id: str
) -> GroundedSummary:
    """Ground bullets that were taken from known events: these are their grips."""
    grips: dict[str, Grip] = {}
    bullets = []
    for claim in draft.bullets:
        weights = dict.fromkeys(analyzer.query_terms(claim.text), 1.0)
        mine = [
            anchoring.create_grip(
                claim.text,
                events[at],
                prose.best_excerpt(events[at].text, weights),
                node_id,
            )
            for at in claim.refs
            if 0 <= at < len(events)
        ]
        grips |= {grip.grip_id: grip for grip in mine}
        terms = tuple(sorted(weights))
        verdict = Verdict(
            Support.SUPPORTED,
            VerdictFeatures(1.0, len(terms)),
            terms,
            spans=tuple(_find_quotes(claim, events, weights)),
        )
        bullets.append(
            create_bullet(claim, tuple(grip.grip_id for grip in mine), verdict)
        )
    return GroundedSummary(draft.title, tuple(bullets), grips=tuple(grips.values()))


def _find_quotes(
    claim: DraftBullet, events: Sequence[Event], weights: Mapping[str, float]
) -> Iterator[EventQuote]:
    """Yield the bullet in its events, or the sentence that is nearest to it."""
    for at in (one for one in claim.refs if 0 <= one < len(events)):
        text = events[at].text
        quoted = claim.text if claim.text in text else prose.best_excerpt(text, weights)
        start = text.find(quoted)
        if quoted and start >= 0:
            event_id, end = events[at].event_id, start + len(quoted)
            yield EventQuote(event_id, start, end, hash_quote(quoted))


def ground_parent(
    draft: Summary, children: Sequence[TocNode], read_events: EventReader
) -> GroundedSummary:
    """Ground a parent's draft in its children's bullets and their events.

    Each bullet inherits the grips of the children's bullets it rests on.

    Args:
        draft: The draft; ``refs`` are indexes into all children's bullets in a row.
        children: The children, oldest first.
        read_events: Reads events; called only if a model reworded bullets.
    """
    row = [bullet for child in children for bullet in child.bullets]
    if not draft.generation.model:
        return GroundedSummary(draft.title, join_bullets(draft, row))
    below = [
        ChildBullet(one.text, one.verdict, tuple(read_events(one.grip_ids)))
        for one in row
    ]
    bullets = []
    projects = {project for child in children for project in child.projects}
    drafted = [_with_project(one, projects) for one in draft.bullets]
    plain = [
        replace(one, text=one.text.removeprefix(f"{one.project}: ")) for one in drafted
    ]
    verdicts = claims.check_against_children(plain, below)
    for claim, verdict in zip(drafted, verdicts, strict=True):
        rests_on = {one.index for one in verdict.quotes} or {
            at for at in claim.refs if 0 <= at < len(row)
        }
        grip_ids = (name for at in sorted(rests_on) for name in row[at].grip_ids)
        bullets.append(create_bullet(claim, tuple(dict.fromkeys(grip_ids)), verdict))
    texts = [one.text for one in row] + [child.headline for child in children]
    source_texts = SourceTexts([("note", text) for text in texts])
    passages = PassageIndex([*texts, *projects])
    parts = _HEADLINE_SEPARATOR.split(draft.title)
    title = accept_title(draft.title, parts, passages, source_texts)
    return _accept(title, draft, bullets, (), source_texts)


_HEADLINE_SEPARATOR = re.compile(r"; |, and | and |, |: ")
"""The separator of the pieces of work in a headline: each is checked by itself."""


def _with_project(claim: DraftBullet, projects: Collection[str]) -> DraftBullet:
    """Return a bullet with the project that it begins with."""
    begun = (one for one in projects if claim.text.startswith(f"{one}: "))
    return replace(claim, project=next(begun, ""))


def _accept(
    title: str,
    draft: Summary,
    bullets: Sequence[Bullet],
    new_grips: Sequence[Grip],
    source: SourceTexts,
) -> GroundedSummary:
    """Return a model's summary; the bullets that are not accepted are withheld."""
    objections = list_objections(draft.bullets, source)
    judged = list(map(_with_objection, bullets, objections))
    return GroundedSummary(
        title,
        tuple(one for one in judged if is_kept(one)),
        tuple(one for one in judged if not is_kept(one)),
        tuple(new_grips),
    )


def _event_range(grip: Grip, places: dict[str, int]) -> range:
    return range(places[grip.event_id_start], places[grip.event_id_end] + 1)


def _check_at_grips(
    claim: DraftBullet, text_indexes: Sequence[int], source: PassageIndex
) -> Verdict:
    """Return the verdict on a claim, quoting where its grips are unless worse there."""
    verdict = claims.check_bullet(claim, source)
    if text_indexes and not {one.index for one in verdict.quotes} <= {*text_indexes}:
        there = claims.check_bullet(
            DraftBullet(claim.text, tuple(text_indexes)), source
        )
        return replace(there, is_repaired=verdict.is_repaired)
    return verdict
