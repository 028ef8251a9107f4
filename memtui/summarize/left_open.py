"""Find what a piece of work left open, as far as messages or calls show it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from memtui.model.quantities import plural
from memtui.model.sessions import WorkState
from memtui.summarize import tool_actions
from memtui.summarize.session_work import file_name
from memtui.summarize.tool_actions import CardLine, file_changes
from memtui.summarize.work_events import (
    INTERRUPTED,
    LINE_CHARS,
    NOTHING_LEFT,
    POLITE_QUESTION,
    PROBLEMS,
    REPORT_WORDS,
    REQUEST_CHARS,
    RESULT,
    UNRELATED,
    WANTS_COMMIT,
    WANTS_PUSH,
    WorkEvents,
    asks,
    ends_turn,
    find_closing_reports,
    find_failed_push,
    find_interrupted_request,
    find_real_requests,
    find_remaining_changes,
    is_given_up,
    request_line,
)
from memtui.text import analyzer, cues, titles
from memtui.text.prose import (
    Sentence,
    shorten,
    shorten_to_sentences,
    strip_markup,
)

MAX_LEFT_OPEN = 5
"""The maximum number of lines about open work."""

MAX_FILES_NAMED = 4
"""The maximum number of files in a line about what was not committed."""

_CONDITION = re.compile(r"\W*(?:if|once you|unless|in case|falls|si|если)\b|如果", re.I)

_LEFT = re.compile(
    r"\b(?:still (?:needs?|needed|to|has to|have to|must|open|remain\w*|un\w+ed)"
    r"|remain(?:s|ing)? (?:to|un\w+ed|open|incomplete|missing)|remains?(?=\W*$)"
    r"|remaining (?:work|steps?|tasks?|issues?|items?|problems?)"
    r"|not yet|(?:not|n't)\b[^.;]{1,60}\byet|yet to|to-?do|next steps?|follow-?ups?"
    r"|(?<!n['’]t )(?<!not )(?<!no )needs? (?:to be|another|more"
    r"|a (?:follow-?up|decision|review))|out of scope"
    r"|for later|left for (?:you|another|the next)"
    r"|you(?:'ll| will)? (?:still )?(?:need|have) to|later on|only queued"
    r"|(?:is|are|still|remains?|currently) pending|pending(?= (?:on|until)\b|:)"
    r"|(?:don't|do not) forget to|remember to"
    r"|must (?:still |first )?be (?:added|set|done|configured|updated|migrated|created"
    r"|installed|enabled|approved|granted|renewed)"
    r"|still missing|(?:but|and) not (?:yet )?(?:pushed|committed|tested|deployed)"
    r"|please \w+ .{1,60}\b(?:yourself|by hand|manually)"
    r"|stays? (?:modified|uncommitted)"
    r"|(?:is|are|was|were|been) (?:still )?not (?:pushed|committed|tested|run|done"
    r"|verified|checked|covered|included|fixed|published|updated|deployed|migrated)"
    r"|(?:is|are|was|were|remains?) (?:still )?(?:untested|unverified|uncommitted"
    r"|unfinished|unresolved|incomplete|missing|stale)"
    r"|(?:did|have|has|could)(?:n't| not) (?:\w+ )?(?:test|run|push|commit|verif"
    r"|check|fix|reproduc|confirm|publish|try|tried|deploy|updat|migrat|finish|complet|appl|merg)"
    r"\w*|can(?:'t|not) (?:test|verify|confirm)"
    r"|left (?:open|alone|untouched|as is)|what(?:'s| is) left|will need"
    r"|i (?:have )?skipped|needs? (?:a )?manual|you should (?:also|still)"
    r"|остал(?:ось|ись|ся)|оста[её]тся \w+ть(?:ся)?|ещ[её] не|предстоит|не успел\w*"
    r"|пока не \w+н[аоы]?"
    r"|нужно (?:ещ[её]|будет)|не (?:проверен|протестирован|обновл)\w*"
    r"|не (?:удалось|смогл?[аи]?) (?:про\w+|тест\w+|зап\w+|обнов\w+|исправ\w+)ть"
    r"|nicht (?:getestet|geprüft|aktualisiert)|noch (?:nicht|offen|zu \w+en)"
    r"|(?:wird|werden|ist|sind) noch (?!einmal\b|mal\b|immer\b)\w+"
    r"|fehl(?:t|en)(?=\W*$)|nicht (?:committet|gepusht|eingecheckt)"
    r"|ich brauche (?:von dir|noch)|пока нет|ещ[её] нет"
    r"|fehlt noch|steht noch aus|muss noch|müssen noch"
    r"|reste(?:nt)? à|pas encore|il faut encore|falta\w* (?:por )?\w+[aei]r|pendientes?"
    r"|no (?:he|hemos|pude|pudimos) (?:podido )?(?:prob|verific|actualiz|ejecut)\w+"
    r"|todavía no|aún no|ainda não|não (?:\w+ )?(?:test|verifi|atualiz)\w+"
    r"|pozostało|nie \w+no jeszcze|jeszcze nie)\b"
    r"|^(?:remaining|left to do|tomorrow|known (?:issues?|limitations?)|not done"
    r"|missing|(?:noch )?offen|nächste schritte|morgen|не сделано"
    r"|осталось|завтра|дальше)\s*:"
    r"|^not (?:tested|verified|checked|covered|implemented|deployed|run|pushed)\b"
    r"|待办|待完成|尚未|还没|还需要?|仍需|仍然需要|(?:没有|未)(?:测试|验证|完成|提交|更新)|需要手动"
    r"|まだ|未(?:実装|対応|テスト|確認)|아직|남아 있",
    re.IGNORECASE,
)

_CONDITIONAL_CLAUSE = re.compile(
    r"\b(?:when(?:ever)?|if|unless|in case)\b[^,;:.]*", re.IGNORECASE
)
"""A clause that says in which case something holds: "when the key is missing"."""

_OPEN_HEADING = re.compile(
    r"\b(?:next steps?|remaining|left|to-?do|open|follow-?ups?|still"
    r"|not (?:done|covered)|what you need|tomorrow|missing"
    r"|known (?:issues?|limitations?)|nächste schritte|(?:noch )?offen\w*|zu tun"
    r"|es fehlt"
    r"|не сделано|осталось|следующие шаги|дальше|prochaines étapes|próximos pasos)\b",
    re.IGNORECASE,
)

_OPEN_LEAD = re.compile(r"\byou (?:should|(?:still )?need to|must|have to)\W*:$", re.I)
"""Introduces a list of what the user is to do."""

_PUT_OFF = re.compile(
    r"\b(?:(?:we|i|let's)\b.{0,40}\b(?:tomorrow|next (?:week|time|month|sprint)|later"
    r"|another day|on \w+day)|(?:wir|ich)\b.{0,40}\b(?:nächste\w* (?:woche|mal)|morgen"
    r"|später)"
    r"|(?:завтра|потом|позже|на следующей неделе) (?:мы |я )?\w+(?:ем|им|ю|у))\b",
    re.IGNORECASE,
)
"""A sentence of the user that puts something off."""

_FINISHED = re.compile(
    r"\b(?:all|now|already)\b.*\b(?:completed?|done|resolved|fixed)\W*$", re.IGNORECASE
)

_CHECKS_HEADING = re.compile(
    r"^#+ *(?:\d+[.)] *)?(?:verif\w*|test(?:ing| plan)?|how to test|validation|checks?)"
    r"\b.*$",
    re.IGNORECASE | re.MULTILINE,
)

_NEXT_HEADING = re.compile(r"^#+ ", re.MULTILINE)

_CHECK_BY_HAND = re.compile(r"\s*(manual(?:ly)?\b.+)", re.IGNORECASE)

_CHECK = re.compile(r"\s*(?:[-*]|\d+[.)])\s+(?:\[ \]\s*)?(.+)")

_COMMENTED_COMMAND = re.compile(r"([\w./-]+ [^#]*?)\s+#\s*(.+)")

_TICKED = re.compile(r"`([^`]+ [^`]+)`")

_BY_HAND = re.compile(
    r"\b(?:manual(?:ly)?|visual(?:ly)?|in the browser|by hand|open the app|network tab"
    r"|inspect|confirm in|real repo\w*)\b",
    re.IGNORECASE,
)


def find_left_open(
    work: WorkEvents, commits: Sequence[CardLine], state: CardLine
) -> list[CardLine]:
    """Return what remains to be done, as far as messages or calls show it."""
    lines = (
        *_unanswered(work),
        *filter(None, [find_failed_push(work)]),
        *_put_off(work),
        *_latest_on_topics(_said_to_be_open(work)),
        *_not_committed(work, commits, state),
        *_not_checked(work, state),
    )
    distinct = {line.text: line for line in reversed(lines)}
    return [one for one in lines if distinct.pop(one.text, None)][:MAX_LEFT_OPEN]


def _unanswered(work: WorkEvents) -> Iterator[CardLine]:
    """Yield the last request or question, if it was not answered."""
    if (cut := find_interrupted_request(work)) >= 0:
        line = f"Interrupted: {request_line(work, cut)}"
        yield CardLine(shorten_to_sentences(line, LINE_CHARS), (cut,))
    if work.last in work.requests and work.count_content_words(work.last):
        text = work.events[work.last].text
        if not (INTERRUPTED.match(text) or is_given_up(work, work.last)):
            line = f"Not answered: {request_line(work, work.last)}"
            yield CardLine(shorten_to_sentences(line, LINE_CHARS), (work.last,))
    parts = work.sentences.get(work.last, [])
    if work.last in work.replies and parts and asks(parts[-1].text):
        question = parts[-1].text
        if not POLITE_QUESTION.search(question):
            line = shorten(f"Not answered: {question}", LINE_CHARS)
            yield CardLine(line, (work.last,))


_GIT = re.compile(r"(?:cd \S+ && )?git ")


def _not_committed(
    work: WorkEvents, commits: Sequence[CardLine], state: CardLine
) -> Iterator[CardLine]:
    """Yield a commit or push that was asked for in vain, and changes left out."""
    (shown,) = state.refs
    if state.text == WorkState.OPEN and shown in work.requests:
        start = work.events[shown].text[:REQUEST_CHARS]
        if WANTS_PUSH.match(start):
            yield CardLine("The push that was asked for was not made", state.refs)
        elif WANTS_COMMIT.match(start):
            yield CardLine("The commit that was asked for was not made", state.refs)
    last_commit = commits[-1].refs[-1] if commits else -1
    later = {
        file_name(path): at
        for path, at in find_remaining_changes(work, last_commit).items()
        if not path.startswith("/tmp/")
    }
    closing = work.sentences[work.last] if work.last in work.replies else []
    if any(_NAMED_COMMIT.search(one.text) for one in closing):
        later = {}
    uses_git = work.is_in_repository or any(map(_GIT.match, work.commands))
    if later and (commits or (state.text == WorkState.DONE and uses_git)):
        names = ", ".join(islice(later, MAX_FILES_NAMED))
        refs = tuple(sorted(set(later.values())))
        count = plural(len(later), "changed file")
        verb = "is" if len(later) == 1 else "are"
        yield CardLine(f"{count} {verb} not committed: {names}", refs)
        return
    latest = [at for at in reversed(work.calls) if commits and at >= last_commit]
    for at in latest:
        if left := tool_actions.modified_files(work.events[at].text):
            names = ", ".join(islice(dict.fromkeys(left), MAX_FILES_NAMED))
            yield CardLine(f"Left out of the commit: {names}", (at,))
            break
    for at in latest:
        if tool_actions.was_pushed(work.events[at]):
            return
        if ahead := tool_actions.commits_ahead(work.events[at].text):
            yield CardLine(f"Not pushed: {ahead}", (at,))
            return


_NAMED_COMMIT = re.compile(
    r"\bcommit\w*\b\W[^.]{0,20}?\b(?=\w*\d)[0-9a-f]{7,40}\b", re.I
)


_TOPIC = re.compile(r"[\w./-]+(?: [\w./-]+){0,3}:(?= )")


def _latest_on_topics(lines: Iterable[CardLine]) -> list[CardLine]:
    """Return lines without those that a later one on the same topic replaces.

    A topic is named before a colon: "lint: two warnings are left".
    """
    latest: dict[str, CardLine] = {}
    for line in lines:
        topic = _TOPIC.match(line.text)
        key = (topic[0] if topic else line.text).lower()
        latest.pop(key, None)
        latest[key] = line
    return list(latest.values())


def _said_to_be_open(work: WorkEvents) -> Iterator[CardLine]:
    """Yield what the closing messages say remains to be done, lists of it first."""
    changes = [one for one in work.calls if file_changes(work.events[one])]
    mentioned: list[CardLine] = []
    for at in sorted(find_closing_reports(work)):
        if _is_worked_on_after(work, at):
            continue
        if not ends_turn(work, at) and any(one > at for one in changes):
            continue
        sentences = work.sentences[at]
        for one, is_listed in zip(sentences, find_open_items(sentences), strict=True):
            if (
                one.is_heading
                or (is_listed and one.is_nested)
                or (_leads_in(one) and not is_listed)
                or cues.is_offer(one.text)
                or asks(one.text)
                or UNRELATED.search(one.text)
                or _CONDITION.match(one.text)
                or _FINISHED.search(one.text)
                or NOTHING_LEFT.search(one.text)
                or cues.is_pleasantry(one.text)
                or cues.is_announcement(one.text)
            ):
                continue
            line = shorten_to_sentences(one.text.rstrip(":"), LINE_CHARS)
            if not analyzer.count_content_words(line):
                continue
            if is_listed and not RESULT.match(one.text):
                yield CardLine(line, (at,))
                continue
            stated = _CONDITIONAL_CLAUSE.sub("", one.text)
            if _LEFT.search(stated) or PROBLEMS.search(stated):
                mentioned.append(CardLine(line, (at,)))
    yield from mentioned


def find_open_items(sentences: Sequence[Sentence]) -> Iterator[bool]:
    """Tell for each sentence of a message whether it is listed as open work."""
    is_open_section = False
    for one in sentences:
        is_listed = is_open_section and one.is_item
        if one.is_heading or (_leads_in(one) and not is_listed):
            opens = _OPEN_HEADING.search(one.text) or _OPEN_LEAD.search(one.text)
            is_open_section = opens is not None
        yield is_listed


def _leads_in(one: Sentence) -> bool:
    is_short = len(one.text) < 60 or _OPEN_LEAD.search(one.text) is not None
    return one.text.endswith(":") and is_short


def _is_worked_on_after(work: WorkEvents, reply: int) -> bool:
    """Return whether calls follow a later request that is more than "commit"."""
    for at in (one for one in work.requests if one > reply):
        text = work.events[at].text[:REQUEST_CHARS]
        if WANTS_COMMIT.match(text) or WANTS_PUSH.match(text):
            continue
        if any(one > at for one in work.calls):
            return True
    return False


def _put_off(work: WorkEvents) -> Iterator[CardLine]:
    """Yield what the user's last message puts off, if no work followed."""
    at = max(find_real_requests(work), default=-1)
    if at < 0 or any(one > at for one in work.calls) or work.last == at:
        return
    if any(
        work.count_content_words(one) >= REPORT_WORDS
        for one in work.replies
        if one > at
    ):
        return  # The agent answered a question.
    for text in (one.text for one in work.sentences[at]):
        words = analyzer.count_content_words(text)
        if (
            _PUT_OFF.search(text)
            and not asks(text)
            and words >= titles.MIN_REQUEST_WORDS
        ):
            yield CardLine(shorten_to_sentences(text, LINE_CHARS), (at,))


def _not_checked(work: WorkEvents, state: CardLine) -> Iterator[CardLine]:
    """Yield the checks that a plan asks for and that no call did.

    The commands of open work will be run at its end.
    """
    is_open = state.text == WorkState.OPEN
    commands = work.commands
    for at in work.requests:
        for check in _planned_checks(work.events[at].text):
            line = strip_markup(check)
            named = _TICKED.findall(check)
            if _BY_HAND.search(line):
                text = f"Not checked: {line.rstrip(':')}"
                yield CardLine(shorten(text, LINE_CHARS), (at,))
            elif is_open and check.startswith("`"):
                continue
            elif named and not any(_was_run(one, commands) for one in named):
                yield CardLine(shorten(f"Not run: {line}", LINE_CHARS), (at,))


def _planned_checks(plan: str) -> Iterator[str]:
    """Yield the steps of the last section of a plan about its verification."""
    headings = list(_CHECKS_HEADING.finditer(plan))
    if not headings:
        return
    section = _NEXT_HEADING.split(plan[headings[-1].end() :], maxsplit=1)[0]
    for row in section.splitlines():
        if item := _CHECK.match(row) or _CHECK_BY_HAND.match(row):
            yield item[1]
        elif step := _COMMENTED_COMMAND.match(row):
            yield f"{step[2]} (`{step[1].strip()}`)"


def _was_run(command: str, run: Sequence[str]) -> bool:
    """Return whether a command was run, perhaps with other options or in a folder."""
    words = command.split()
    parts = (command, " ".join(words[:3]), " ".join(words[-2:]))
    return any(part in line for line in run for part in parts)
