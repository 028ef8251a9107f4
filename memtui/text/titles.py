"""Make short titles from requests and sentences."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from memtui.text import analyzer, cues, orders, prose, stopwords
from memtui.text.orders import BASE_VERBS, FIRST_WORD, is_order
from memtui.text.prose import Sentence, shorten

TITLE_CHARS = 96

SHORT_TITLE_CHARS = 80
"""A title that ends at a clause is at most this long."""

MIN_CONTENT_WORDS = 2
"""A title has at least this many content words."""

MIN_REQUEST_WORDS = 3
"""A request with fewer content words goes on with the work: "commit", "continue"."""

MIN_TITLE_CHARS = 20
"""A title is not cut shorter than this to end at a clause."""

SURE, LIKELY, UNSURE, SLIGHT = 1.0, 0.9, 0.7, 0.3
"""Scores of a request's title: it stands alone; refers to something but says much;
refers to something and says little; says hardly anything."""

SHORT_SENTENCES = 2
"""An order in a longer request does not only go on with the work."""

MAX_SENTENCES = 9
"""Only this many sentences of a request are considered for its title."""

MANY_CONTENT_WORDS = 4
"""With this many content words a title is clear despite a reference."""

MANY_WORDS = 8
"""An order with so many words does not only go on with the work, either."""

RESTATED_SENTENCES, RESTATED_CHARS = 2, 1_000
"""The agent repeats words of so much of a request in one of so many first sentences."""

_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "「": "」"}

_INTERJECTION = re.compile(
    r"(?:(?:hey|hi|hello)(?: (?:claude|there|again))?|ok(?:ay)?|so|well"
    r"|now(?: that [^,.;]{3,60}(?=,)|(?! that\b))"
    r"|and|also|alright|actually|yes|yeah|great|cool"
    r"|perfect|excellent|awesome|good|nice|k|thanks?(?: you)?|please|pls|just|then|next"
    r"|first|basically|the (?:issue|problem|bug) (?:is|was) that"
    r"|there(?:['’]s| is)(?: also)? (?:an?|another) (?:\w+ ){0,2}?(?:issue|problem|bug)"
    r" (?:where|of(?= (?:an?|the|my|our|users)\b))"
    r"|hmm+|oh+|ah+|wait|sorry|sure|no+(?=[,.!])|go(?: ahead)?(?=[,.!])|ultrathink"
    r"|think hard(?:er)?|let's see|(?:once|when|after) (?:that|this|it)(?:'?s| is) done"
    r"|[\w'’]+(?: [\w'’]+)?(?=, (?:can|could|would) you\b)|@[\w./-]*\w(?=\s)"
    r"|in this (?:project|repo(?:sitory)?|app)|hola|bonjour|salut|olá|por ?favor|tolong"
    r"|good (?:morning|afternoon|evening)|привет|здравствуйте|спасибо|пожалуйста|hallo"
    r"|use (?:a )?chain[- ]of[- ]thought(?: reasoning)?(?: to (?:completely )?\w+)?"
    r"(?=,)"
    r"|(?:а|и|ну)(?: теперь| ещё| еще)?|теперь|ладно|хорошо|und|jetzt|bitte"
    r"|你好|您好|谢谢|请问|lately|quick idea"
    r"|(?:(?:a|one|two|three|few|some|quick|another) ){0,2}que\w{2,5}ons?(?=\s?[-–—:,])"
    r"|it (?:sure |really |now )?(?:looks like|seems (?:like|that)|appears that)"
    r"|(?:it |this |that )?(?:seems?|looks?|appears?)(?: to(?: be)?)?"
    r" (?:work\w*|good|fine|ok(?:ay)?) but"
    r"|[^.!?;:\n]{0,60}?\b(?:works?|runs?|is|are) (?:perfectly|fine|well|great|good"
    r"|nicely)\b[^.!?;:\n]{0,60}?,? but"
    r"|(?:just )?to be (?:sure|clear|safe)(?=[,;:])|to (?:start|begin)(?: with)?(?=,)"
    r"|if (?:we|you) can(?=,)|if (?:it(?:'s| is) )?possible(?=,)"
    r"|(?:i|we)(?:'ve| have)? (?:just |now |already )*"
    r"(?:\w{3,}ed|ran|run|did|made|built)\b[^.!?;:\n]{0,80}?,? (?:but|and (?:now|then))"
    r"|['\"]?/\S+\.\w+['\"])"
    r"(?:\s*(?:[,.!:;–—，！。]+|--)(?:\s+|(?<=[–—，！。,!])|(?<=--))"
    r"|\s+(?:-\s+)?)(?=\S)",
    re.IGNORECASE,
)
"""A word that begins a sentence and adds nothing to it."""

_OPENING = re.compile(
    r"(?:(?:can|could|would|will|do) (?:you|we|u|i)(?! think\b)"
    r"(?: please| now| also| maybe| mind)*"
    r"|(?:kannst|könntest|würdest) du(?: bitte| mal| mir| jetzt| auch| noch)*"
    r"|(?:können|könnten|würden) sie(?: bitte| mir| jetzt| auch| noch)*"
    r"|(?:не )?(?:мог|могла|могли) бы (?:вы|ты)(?: пожалуйста)?"
    r"|(?:не )?(?:можешь|можете)(?: ли)?(?: ты| вы)?(?: пожалуйста)?"
    r"|(?:i|you|we) (?:may|might) need to|(?:i )?wanna"
    r"|i(?:'d| would)? (?:like|want|need)(?: (?:yo)?u| us)? (?:to|for you to)"
    r"(?: be able to)?"
    r"|it(?:'s| is) time (?:for (?:you|us) )?to"
    r"|it(?:'d| would) be \w+(?: if (?:you|we) could| to)"
    r"|(?:i'm|i am|we're|we are) trying to"
    r"|(?:help|tell|show) me(?: to)?"
    r"|(?:you|we) (?:should|can|need to|must|have to)"
    r"|[^.!?;:\n]{0,200}?\bwhat (?:i|we) (?:want|need) to do(?: now| next)? is(?: to)?"
    r"|take a look at [^.!?;:\n]{3,70}? and(?: try to)?"
    r"|(?:you are|you're|act as) an? [^.!?;:\n,]{3,80}?[,;.:]"
    r"|(?:puedes|podes|podés|podr[íi]as|pode(?:ria)?|peux-tu|pourrais-tu|pouvez-vous"
    r"|pourriez-vous)(?: por favor| s'il (?:te|vous) plaît)?"
    r"|(?:quiero|quisiera|necesito|me gustaría)(?=\s+\w+[aei]r(?:l[aeo]s?)?\b)"
    r"|(?:je (?:veux|voudrais|souhaite)|j['’]aimerais)(?=\s+\w+(?:er|ir|re)\b)"
    r"|(?:the )?thing (?:i|we|you) (?:need|want|have) (?:to do )?(?:is )?to"
    r"|your (?:task|job|goal) is to|let'?s|let us|let me|i'll|i will|i was wondering if"
    r"|(?:please )?go ahead and|try to|make sure to)\s+(?=\S)",
    re.IGNORECASE,
)
"""A request's polite opening. It goes only if a verb in its base form follows, so that
the meaning stays: not before "not", nor in "we should be using"."""

_CAN_YOU = re.compile(
    r"(?:and |but |so |please )?(?:can|could|would) you (?:please )?", re.IGNORECASE
)

_ASKED_LATER = re.compile(
    r"(?:rather than|instead of|since|given|because|now that|in order to|to)\b"
    r"[^.!?;:]*?, ((?:can|could|would) you .+)",
    re.IGNORECASE | re.DOTALL,
)
"""A question whose main clause comes last: "Rather than cards, can you show …"."""

_ASKS_ABROAD = re.compile(
    r"(?:k[aö]nn|würde)\w+ (?:du|sie)\b|[а-яё]|pued|pod|peux|pour|pouv|qui[es]|neces"
    r"|me gust|je |j['’]",
    re.IGNORECASE,
)
"""Matches the openings in other languages than English."""

_LABEL = re.compile(
    r"(?:(?:implementation )?plan|task|goal|feature|fix|bug|issue|summary"
    r"|feat|docs|chore|refactor|test|tests|perf|style|ci|build|title|subject|todo"
    r"|objective|objectif|tâche|aufgabe|ziel|задача|request|context|intent|step \d+"
    r"|phase \d+|bug fixed|root cause"
    r"|not working|broken|(?:more |the )?(?:\w+ )?feedback"
    r"|the (?:fix|issue|problem|cause|solution)|\d+\.)(?:\([\w\-]+\))?!?"
    r"(?:\s*[:：]\s*|\s+[\-–—]\s+)",
    re.IGNORECASE,
)

_WHERE = re.compile(
    r"(?:in|at|on) \S+ around lines? [\d \-–to]+,?\s+"
    r"|\S+\.\w+ (?:\(\d+\) )?\d[\d\-–]*:\s+",
    re.IGNORECASE,
)

_POLITE = re.compile(
    r"[\s,.;]+(?:please|pls|плз|пж|thanks?|thank you|thx|asap|(?<=, )(?:too|as well)"
    r"|(?:(?:can|could) you |please )+(?:fix|stop|solve|change) (?:it|this|that)"
    r"|(?:исправь\w*|почини\w*)?[, ]*пожалуйста)[\s.!?]*$"
    r"|[，。]\s*请?(?:帮我)?(?:修复|解决|处理)(?:一下)?(?:这个|该)?问题?[。！]?$",
    re.IGNORECASE,
)

_AGENT = re.compile(
    r"(?:^|[\s,.]+)(?:(?:use|using|with|via)\s+)?@agent-[\w\-]+|\bultrathink\s+",
    re.IGNORECASE,
)

_TICKET_ADDRESS = re.compile(
    r"https?://[\w.]+/[^/\s]+/([\w.\-]+)/(?:-/)?(?:issues|pull|merge_requests)/(\d+)\S*"
)

_REPOSITORY_ADDRESS = re.compile(
    r"https?://(?:www\.)?(?:github\.com|gitlab\.com|codeberg\.org|huggingface\.co)"
    r"/([\w.\-]+/[\w.\-]+?)(?:\.git)?(?![\w.\-])[^\s,)]*"
)

_ASIDE_ADDRESS = re.compile(r"[,:]\s*https?://[^\s,)]*")
_ADDRESS = re.compile(r"https?://(?:www\.)?([\w.\-]+\w)[^\s,)]*")
_PATH = re.compile(r"(?<![\w/])[@~]?/?(?:[\w.\-]+/){2,}([\w.\-]+\.\w+)")

_CLAUSE_ENDS = re.compile(
    r"[.!?;](?:(?<=\w\w.)|(?<=[A-Z] \d.)|(?<=[)\]\"'`%].)|(?<= \.))"
    r"(?<!\.\.\.)(?<!e\.g.)(?<!i\.e.)(?<! vs.)(?<!etc.)(?:(?<=;)|(?<!;)[.!?]*)\s+"
)

_ENDINGS = (
    re.compile(r"(?:[;:]|\s[–—\-]|\s:[/()])\s"),
    re.compile(
        r",?\s(?=(?:because|since|which|so that|such that|so|but|while|when|where"
        r"|whereas|using|creating|causing|including|leading|making|ending|especially)\b)"
        r"|,\s(?=(?:on|in|with|at|maybe|as|if|to|from|i|we|it|you|there|don'?t|do not"
        r"|please|what)\b)"
    ),
)
"""Places where a long title may end and still be true; the first kind is better."""

_PHRASE_ENDS = re.compile(
    r"\s(?=(?:based on|by|during|explaining|for|from|into|showing|that|through|to|via"
    r"|where|which|with(?:in)?)\b(?!['’]))"
)
"""Places where a long order may end, as its object is named before."""

_ASIDE = re.compile(r"\s\([^()]{20,}\)")
"""A remark that a long title leaves out."""

_AND = re.compile(r"\s(?:and|und|et)\s")
_AND_ABROAD = re.compile(r"\s(?:and|und|et|y|e|и)\s")

_LOOSE_END = re.compile(
    r"(?:,?\s(?:and|or|but|so|then|when|with(?:out)?|to|on|of|for|the|an?|in|at|by|as|is|are|was"
    r"|(?:that|which)(?:['’]s)?|your|my|our|its|before|after|until|while|if"
    r"|to (?:see|check) (?:what|if|whether|how|why)))+…?$",
    re.IGNORECASE,
)
"""Words at which no title ends."""

_SUBORDINATE = re.compile(r"\s(?:which|that|so that)\s.*")

_REFERENCE = re.compile(
    r"\b(?:it|them|these|those)\b|\b(?:this|that)(?: \w+)?\W*$", re.IGNORECASE
)

_ENDS_IN_REFERENCE = re.compile(r"\b(?:this|that|these|those)\W*$", re.IGNORECASE)

_CORRECTION = re.compile(r"(?:not|no|don['’]?t|do not)\b", re.IGNORECASE)
"""Begins a correction of the request before."""

_NUMBER = re.compile(r"^\d{1,2}[.)]\s+(?=\D)")
_HEADING_MARK = re.compile(r"(?:(?<=: )|(?<=：))#+\s+")
_PAIRED = re.compile(r"\b(?:both|between|either)\b", re.IGNORECASE)
_GUESS = re.compile(r"(?:looks? like|maybe|perhaps|error\b|not sure)", re.IGNORECASE)
_REMNANT = re.compile(r":\s(?:\S{1,4}$|[\[{<].*)")

_LEADS_TO = re.compile(
    r" (?:where|so that|that|which)(?:(?: (?:the )?\w+)? (?:can|should|must|will))?\W*$"
    r"| (?:with|using|by|like) (?:the following(?: \w+)?|this)\W*$"
    r"| (?:for|that says|saying|as follows|and (?:provide|include|do))\W*$"
)
"""The end of a sentence before a list."""

_SHOWS = re.compile(
    r"\b(?:errors?|warnings?|logs?|output|trace\w*|response|message|says)\W*$", re.I
)
"""Introduces the output of a program."""

_PREFACE = re.compile(
    r"(?:i|we)(?:['’]?ve| have| was| were)? just \w+|(?:i|we) (?:was|were) \w+ing\b"
    r"|(?:currently|right now|at the moment),? (?:what )?(?:i|we) (?:have|use)\b"
    r"|(?:i|we)(?:'ve| have|'m| am| was| were)? (?:now |also |already |recently )*"
    r"(?:able to\b|(?!notic|want|need|wonder|expect|observ|realiz|realis)\w{3,}ed\b"
    r"|(?:re)?(?:ran|made|built|wrote|written|did)|chosen|begun|run|moved on|went|got)"
    r"\b"
    r"|i have (?:an?|some|another|a few|two|several) (?:\w+ )?questions?\b"
    r"|.* (?:is|are) (?:provided|attached|below|here|as follows|in @\S+)\W*$",
    re.IGNORECASE,
)
"""Describes the state before the request; a later sentence may say what is wanted."""


_BUT = re.compile(r"^(?:but|however|unfortunately),?\s+", re.IGNORECASE)

_SITUATION = re.compile(
    r"i(?:'m|’m| am) not (?:worried|concerned|interested|talking) |"
    r"(?:i|we)(?:'m|’m| am|'re|’re| are) (?:in|on|at|working (?:on|in)|attempting) "
    r"|(?:i|we) have (?!to\b)(?!(?:\w+ ){0,3}(?:issue|problem|bug|error|question)s?\b)",
    re.IGNORECASE,
)
"""Describes where the user is or what there is; an order may follow."""

_PLEASE = re.compile(r"\bplease\b|^i(?:'d like| want| need) (?:you )?to\b", re.I)
_LETS = re.compile(r"(?:so |then |ok(?:ay)?,? )?let(?:(?:'|’)?s| us) ", re.IGNORECASE)

_PLAN = re.compile(r"^#+ *(?:implementation )?plan\b[:\s–—-]*(.+)$", re.I | re.M)
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
_PROPOSED_PLAN = re.compile(
    r"(?:<proposed_plan>\s*|\"plan\": ?\")#+ +"
    r"(?:(?:implementation )?plan(?: d[e'’] ?\w+)?\s*[:–—-]\s*)?(.+?)(?=\\n|\n|$)",
    re.IGNORECASE,
)
_IMPLEMENT = re.compile(
    r"\W*(?:please )?(?:implement|execute|follow|apply) (?:the|this) ", re.IGNORECASE
)
_AGENT_COMMAND = re.compile(r"\s*/([\w:-]+)(?=\s|$)")
_BARE_COMMAND = re.compile(r"\s*/[\w:-]+(?:\s+\S*[./]\S*)*\s*")
_TICKET = re.compile(
    r"\b(?:issues?|pull|pr|bug|ticket)\s*/?\s*#?(\d{1,6})\b"
    r"|(?<!\w)(?<!image )#(\d{1,6})\b(?!-)",
    re.IGNORECASE,
)
_CODE_BEGINS = re.compile(r"(?<=\w:)[ \t]+\S[^\n]{0,200}[{(\[][ \t]*$", re.M)
"""The first line of code that follows a request in the same line."""

_ERROR_MESSAGE = re.compile(
    r"\s*(?:#+ Error Type\n.{0,60}\n\s*#+ Error Message\s+"
    r"|(?:\[\w+\] )?(?:Internal server error|Uncaught \w+Error): )(.+)"
)
"""The error in a report that Next.js copies for a coding agent, or in a browser's or
server's log."""

_SHELL_COMMAND = re.compile(
    r"\s*(?:sudo )?(?:ssh(?:-\w+)?|scp|curl|wget|docker|kubectl|git|npm|npx|pnpm|yarn"
    r"|pip3?|python3?|node|brew|apt(?:-get)?|cd|ls|cat|chmod|make|source|export)"
    r"(?: +[\w./:@=~-]+)*"
    r" +(?:-{1,2}[a-zA-Z]\S*|\S+@\S+|[~.]?/\S*|\"?\$\w+\S*)(?: +[\w./:@=~-]+)*\s*"
)
"""A command that the user entered for the agent to run."""

_SHELL_PROMPT = re.compile(
    r"\s*(?:[╭╰]─+\S* |➜\s+(?:\S+ git:\(\S+\)(?: ✗)?)?|❯|[$%] "
    r"|Windows PowerShell\s|(?:\(\w+\) )?PS [A-Z]:[^>\n]*>"
    r"|[\w.-]+@[\w.-]+[:~ ](?:[^%$#\n]{0,60}[%$#] )?)\s*"
)

_BANNER = re.compile(
    r"\A\s*(?:Windows )?PowerShell\b.*?^(?=[^\n]{0,20}PS [A-Z]:)", re.S | re.M
)
"""What PowerShell prints when it starts."""

REQUEST_CHARS = 200
"""The start of a request names the issue that it is about."""

LOG_CHARS = 400
"""Words of the user before a log are among the first characters."""

PLAN_CHARS = 2_000
"""The start of a request contains the heading of the plan to implement."""


class RequestTitle(NamedTuple):
    """The title made from a request, and how good it is."""

    title: str
    score: float


def request_title(text: str) -> str:
    """Return the title of a request; "" if it does not name any work."""
    if plan := plan_name(text):
        return tidy_title(plan)
    if is_terminal_copy(text):
        return ""
    if error := _ERROR_MESSAGE.match(text[:REQUEST_CHARS]):
        return _capitalize(shorten_title(error[1]))
    sentences = prose.message_sentences(_CODE_BEGINS.sub("", _without_command(text)))
    found = title_from_request(sentences)
    if not found or found.score < LIKELY:
        return ""
    is_long = len(sentences) > SHORT_SENTENCES or sentences[0].text.endswith(":")
    is_long = is_long or len(text) > REQUEST_CHARS
    is_long = is_long or found.title.count(" ") >= MANY_WORDS
    needs_few = is_long and is_order(found.title)
    least = MIN_CONTENT_WORDS if needs_few else MIN_REQUEST_WORDS
    if analyzer.count_content_words(found.title) < least:
        return ""
    return _with_ticket(found.title, text[:REQUEST_CHARS])


_RESTATES = re.compile(
    r"(?:(?:sure|ok(?:ay)?|great|perfect|absolutely|certainly|understood|got it|good"
    r"|yes|right|alright|thanks?|of course|excellent|claro|perfeito|gut|gerne|natürlich"
    r"|alles klar|好的?)\b[^.!?:]{0,30}[,.!:：，。—–]\s*)?(?:now,? )?"
    r"(?:(?:i['’]ll|i will|i(?:['’]m| am) going to|let me|let['’]s|we['’]ll"
    r"|i(?:['’]m| am)(?= \w+ing\b)) (?:now |also |help (?:you )?(?:to )?|go ahead and"
    r" |\w+ly )*(?!start|begin|first|use |using |think|search|find |verif|confirm|see"
    r"|look|show|read|run|go |get |[^.!?]*\bfirst\b(?!,))"
    r"|(?P<abroad>ich werde (?:nun |jetzt |zuerst )?|vou |voy a |je vais "
    r"|我来|让我|我会|我将))"
    r"(?=\S)",
    re.IGNORECASE,
)
"""The beginning of a sentence in which the agent says what it is going to do."""

_STEPS = frozenset(
    {"collect", "compare", "examine", "fetch", "inspect", "pull", "search", "trace"}
)
"""The verbs of first steps, beside those that prepare work."""

_AND_VERB = re.compile(r"\band ([a-z]+)\b")

_READS = re.compile(
    r"\b(?:lesen|prüfen|ansehen|anschauen|untersuchen|ler|verificar|olhar|leer|revisar"
    r"|mirar|lire|vérifier|regarder)\b",
    re.IGNORECASE,
)


def restated_title(reply: str, request: str) -> str:
    """Return the title of the sentence in which an agent repeats a request; "" if none.

    The agent words it without what the user left out or mistyped: "I'll update the
    add-printer flow to start with the printer choice".
    """
    known = set(analyzer.query_terms(request[:RESTATED_CHARS]))
    for sentence in prose.message_sentences(reply)[:RESTATED_SENTENCES]:
        found = _RESTATES.match(sentence.text)
        if found is None or _READS.search(sentence.text):
            continue
        title = tidy_title(_to_base_form(sentence.text[found.end() :]))
        words = analyzer.count_content_words(title)
        if (
            words >= MANY_CONTENT_WORDS
            and (found["abroad"] or _is_work_order(title))
            and not title.endswith("…")
            and not _ENDS_IN_REFERENCE.search(title)
            and not known.isdisjoint(analyzer.query_terms(title))
        ):
            return title
    return ""


def _is_work_order(order: str) -> bool:
    """Return whether the agent's order to itself is no step that only prepares work."""
    verb = FIRST_WORD.match(order)
    is_step = verb is not None and verb[1].lower() in _STEPS
    joined = set(_AND_VERB.findall(order))
    is_step = is_step and joined.isdisjoint(BASE_VERBS - _STEPS)
    return not is_step and orders.find_kind(order) is orders.TitleKind.ORDER


def proposed_plan_name(text: str) -> str:
    """Return the name of the plan that an agent proposes; "" if it proposes none."""
    found = _PROPOSED_PLAN.search(text[:PLAN_CHARS])
    return tidy_title(prose.strip_markup(found[1])) if found else ""


def _to_base_form(text: str) -> str:
    """Turn "fixing the bug" into "fix the bug"."""
    first, _, rest = text.partition(" ")
    if not first.endswith("ing"):
        return text
    stem = first.lower().removesuffix("ing")
    forms = (stem, f"{stem}e", stem[:-1])
    return f"{next((one for one in forms if one in BASE_VERBS), first)} {rest}"


def _without_command(text: str) -> str:
    found = _AGENT_COMMAND.match(text)
    return text[found.end() :] if found and found[1] not in BASE_VERBS else text


def is_terminal_copy(text: str) -> bool:
    return bool(_SHELL_PROMPT.match(text) or _SHELL_COMMAND.fullmatch(text))


def is_command(text: str) -> bool:
    """Return whether a message is only a command of the agent: "/add src/app.py"."""
    return _BARE_COMMAND.fullmatch(text) is not None


def plan_name(text: str) -> str:
    """Return the name of the plan that a request contains; "" if it has none."""
    if not _IMPLEMENT.match(text[:REQUEST_CHARS]):
        return ""
    start = text[:PLAN_CHARS]
    found = _PLAN.search(start) or _HEADING.search(start)
    return prose.strip_markup(found[1]) if found else ""


_RECAP_LIST = re.compile(r"all user messages:\W*\n((?:[ \t]*[-*\d].*\n?)+)", re.I)
_RECAP_REQUEST = re.compile(
    r"^[ \t]*[-*\d][^\"“\n]*[\"“](.+?)[\"”](?:$|[ \t]+[-–—(].*$)", re.MULTILINE
)
_INLINE_PLAN = re.compile(r"\bplan: # (?:Plan: )?([^\[\n]+)", re.IGNORECASE)
_RECAP_GOAL = re.compile(r"<overall_goal>\s*(.+?)\s*</overall_goal>", re.DOTALL)


def recap_title(text: str) -> str:
    """Return the title of a request quoted in an agent's recap of a conversation."""
    quoted = _RECAP_GOAL.findall(text[:REQUEST_CHARS])
    if found := _RECAP_LIST.search(text):
        quoted += _RECAP_REQUEST.findall(found[1])
    for request in quoted:
        if plan := _INLINE_PLAN.search(request):
            return tidy_title(plan[1])
        best = title_from_request(prose.message_sentences(request))
        if best and best.score >= LIKELY:
            return best.title
    return ""


def _with_ticket(title: str, start: str) -> str:
    found = _TICKET.search(start)
    if not found or (number := found[1] or found[2]) in title:
        return title
    ending = f" (#{number})"
    return shorten_title(title, TITLE_CHARS - len(ending)) + ending


def plain_title(text: str) -> str:
    """Return the first sentence that says anything as a title; "" if none does."""
    for sentence in prose.message_sentences(_BANNER.sub("", text)):
        for title in _clause_titles(sentence.text):
            if analyzer.count_content_words(title):
                return title
    return ""


def title_from_request(sentences: Iterable[Sentence]) -> RequestTitle | None:
    """Return the title of a request; None if it has none."""
    parts = list(sentences)
    best: RequestTitle | None = None
    for sentence in parts[:MAX_SENTENCES]:
        text = _shorten_addresses(sentence.text)
        is_dull = sentence.is_heading and cues.is_generic_heading(text)
        if text.endswith((":", "：")) and len(parts) > 1:
            title = tidy_title(_BUT.sub("", _LEADS_TO.sub("", text)))
            is_new = best is None or best.score < LIKELY or _is_contrast(best, text)
            least = MIN_CONTENT_WORDS if is_order(title) else MIN_REQUEST_WORDS
            if is_new and analyzer.count_content_words(title) >= least:
                best = RequestTitle(title, LIKELY)
            if best and is_order(best.title):
                return best
            if best or _SHOWS.search(text):
                # What follows is pasted, perhaps with the request after it.
                return _last_order(parts) or best
            continue
        if cues.is_log_line(text):
            text = _before_log(text)
        if is_dull or not text:
            continue
        if best and _is_contrast(best, text):
            text, best = _BUT.sub("", text), None
        for title in _clause_titles(text):
            found = _score_request(title)
            if found.score == SURE:
                return (
                    _order_in(text, found)
                    or _order_after(found, parts[:MAX_SENTENCES])
                    or found
                )
            if found.score and (best is None or found.score > best.score):
                best = found
    return best


def _is_contrast(preface: RequestTitle, text: str) -> bool:
    """Return whether a sentence says "but" after one that only describes the state."""
    return bool(_PREFACE.match(preface.title) and _BUT.match(text))


def _before_log(text: str) -> str:
    """Return the words of the user before a long log that is pasted after them."""
    clauses = split_clauses(text[:LOG_CHARS])[:-1]
    is_log = len(text) <= LOG_CHARS or any(map(cues.is_log_line, clauses))
    return "" if is_log else " ".join(clauses)


def _score_request(title: str) -> RequestTitle:
    return RequestTitle(title, _title_score(title))


def _order_after(
    statement: RequestTitle, parts: Sequence[Sentence]
) -> RequestTitle | None:
    """Return the title of the order that follows a situation, a remark or a short
    statement.

    After a short statement it begins with "can you" or "let's", after a remark it may
    also say "please".
    """
    if is_order(statement.title):
        return None
    is_situation = _SITUATION.match(statement.title) is not None
    is_remark = orders.is_remark(statement.title)
    count = analyzer.count_content_words(statement.title)
    if not (is_situation or is_remark or count <= MANY_CONTENT_WORDS):
        return None
    written = takewhile(lambda one: not _is_pasted(one.text), parts)
    for clause in (part for one in written for part in split_clauses(one.text)):
        is_asked = _CAN_YOU.match(clause) is not None
        is_polite = is_remark and _PLEASE.search(clause)
        if is_asked or is_situation or is_polite or _LETS.match(clause):
            found = _score_request(tidy_title(clause))
            is_work = found.score == SURE and (is_asked or is_order(found.title))
            if is_work or is_asked:
                return found if is_work else None
    return None


def _is_pasted(text: str) -> bool:
    return text.endswith(":") or cues.is_log_line(text)


def _order_in(sentence: str, statement: RequestTitle) -> RequestTitle | None:
    """Return the title of the order that follows a statement or a condition."""
    if is_order(statement.title):
        return None
    clauses = sentence.split("; ")[1:]
    if asked := _ASKED_LATER.match(sentence):
        clauses.append(asked[1])
    for clause in clauses:
        found = _score_request(tidy_title(clause))
        if is_order(found.title) and found.score == SURE:
            return found
    return None


def _last_order(parts: Sequence[Sentence]) -> RequestTitle | None:
    found = _score_request(tidy_title(parts[-1].text))
    return found if is_order(found.title) and found.score >= LIKELY else None


def _clause_titles(text: str) -> Iterator[str]:
    """Yield titles of the first clauses of a sentence; a terse one includes the
    next."""
    run = ""
    for clause in split_clauses(text):
        if orders.is_small_talk(clause) or cues.is_role(clause):
            run = ""
            continue
        run = f"{run} {clause}" if run else clause
        title = tidy_title(run)
        yield title
        if analyzer.count_content_words(title) >= MIN_CONTENT_WORDS:
            run = ""


def split_clauses(sentence: str) -> list[str]:
    """Split a sentence also at full stops that no capital follows."""
    found: list[str] = []
    start = 0
    for end in _CLAUSE_ENDS.finditer(sentence):
        found.append(sentence[start : end.end()].strip())
        start = end.end()
    return [part for part in (*found, sentence[start:].strip()) if part]


def _title_score(title: str) -> float:
    count = analyzer.count_content_words(title)
    if count < MIN_CONTENT_WORDS:
        return SLIGHT if count else 0.0
    if _GUESS.match(title) or (title.isascii() and " " not in title):
        return UNSURE
    if _PREFACE.match(title):
        return LIKELY
    if _CORRECTION.match(title) and _REFERENCE.search(title):
        return UNSURE
    if cues.starts_with_reference(title):
        return LIKELY if count >= MANY_CONTENT_WORDS else UNSURE
    if orders.has_vague_object(title):
        return LIKELY
    few = MANY_CONTENT_WORDS if title.endswith("?") else MIN_CONTENT_WORDS + 1
    is_vague = count < few and _REFERENCE.search(_SUBORDINATE.sub("", title))
    return UNSURE if is_vague else SURE


def tidy_title(text: str) -> str:
    """Turn a sentence into a title: remove phrases that only ask, label or thank."""
    bare = _NUMBER.sub("", _shorten_addresses(text.strip()), count=1)
    if led := _SHELL_PROMPT.match(bare):
        bare = bare[led.end() :]
    if bare.startswith("/") and bare[1:].partition(" ")[0] in BASE_VERBS:
        bare = bare[1:]
    bare, is_asked = _strip_openings(bare)
    for pattern in (_LABEL, _WHERE):
        led = pattern.match(bare)
        if led and _says_enough(bare[led.end() :], bare):
            if led[0].startswith("Fix:") and not is_order(bare[led.end() :]):
                continue  # "Fix: The agent fails" does not state that it fails.
            bare = bare[led.end() :].strip()
    bare = _REMNANT.sub("", _POLITE.sub("", _HEADING_MARK.sub("", bare)))
    bare = bare.strip(" \t*_–—:;,\\").lstrip("-")
    bare = bare.rstrip(".。!！?？;" if is_asked else ".。!！;")
    if bare[:1] in _QUOTES and bare[-1:] == _QUOTES[bare[:1]] and len(bare) > 1:
        bare = bare[1:-1]
    return _capitalize(shorten_title(bare))


def _says_enough(rest: str, text: str) -> bool:
    """Return whether the rest of a text still says what it is about."""
    return analyzer.count_content_words(rest) >= min(
        MIN_CONTENT_WORDS, analyzer.count_content_words(text)
    )


def _strip_openings(text: str) -> tuple[str, bool]:
    """Remove what begins a request, and return whether it asked for something."""
    rest, is_asked = text, False
    while True:
        led, is_opening = _INTERJECTION.match(rest), False
        if led is None and (led := _OPENING.match(rest)):
            verb = FIRST_WORD.match(rest, led.end())
            if _ASKS_ABROAD.match(led[0]):
                pass  # The verb has other places and endings.
            elif verb is None or not _is_verb(verb[1].lower(), led[0]):
                led = None
            is_opening = led is not None
        if led is None or not _says_enough(rest[led.end() :], text):
            return rest, is_asked
        is_asked = is_asked or is_opening
        rest = rest[led.end() :]


def _is_verb(word: str, opening: str) -> bool:
    """Return whether a word after an opening is a verb in base form.

    After "can you" and "let's" any word with content is one.
    """
    is_asked = _CAN_YOU.fullmatch(opening) or _LETS.fullmatch(opening)
    return word in BASE_VERBS or bool(is_asked and word not in stopwords.STOP_WORDS)


def _shorten_addresses(text: str) -> str:
    """Shorten URLs and paths, and remove mentions of subagents."""
    if "@agent-" in text or "ultrathink" in text:
        text = _AGENT.sub("", text)
    if "/" not in text:
        return text
    if "://" in text:
        text = _ASIDE_ADDRESS.sub("", _TICKET_ADDRESS.sub(r"\1 #\2", text))
        text = _REPOSITORY_ADDRESS.sub(r"\1", text)
        text = _ADDRESS.sub(r"\1", text)
    return _PATH.sub(r"\1", text)


def _capitalize(text: str) -> str:
    """Capitalize a title, unless its first word is an identifier."""
    first = text.partition(" ")[0]
    bare = first.rstrip(".,:;!?")
    if bare in stopwords.ACRONYMS:
        return bare.upper() + text[len(bare) :]
    if text[:1].islower() and bare.replace("'", "").replace("-", "").isalpha():
        return text if bare[1:] != bare[1:].lower() else text[0].upper() + text[1:]
    return text


def shorten_title(text: str, limit: int = TITLE_CHARS) -> str:
    """Shorten a text to at most ``limit`` characters, preferably at the end of a
    clause."""
    short = min(limit, SHORT_TITLE_CHARS)
    if len(text) > short:
        text = _ASIDE.sub("", text)
    if len(text) > short:
        text = (
            _cut_at_clause(text, short)
            or (text if len(text) <= limit else "")
            or _cut_before_and(text, short)
            or _cut_at_clause(text, limit)
            or _cut_at_phrase(text, short)
            or f"{shorten(text, short).rstrip('…')}…"
        )
        text = _LOOSE_END.sub(lambda end: "…" * end[0].endswith("…"), text)
    return drop_unbalanced(text)


def _cut_at_clause(text: str, limit: int) -> str:
    """Return the longest beginning that makes sense by itself; "" if there is none."""
    for pattern in _ENDINGS:
        places = [
            found.start()
            for found in pattern.finditer(text)
            if len(text[: found.start()].rstrip(" ,")) <= limit
        ]
        for before, place in reversed(list(zip([0, *places], places, strict=False))):
            head = text[:place].rstrip(" ,")
            is_scrap = before and text[before:place].count(" ") < MIN_CONTENT_WORDS
            fits = MIN_TITLE_CHARS <= len(head) <= limit
            if (
                fits
                and not is_scrap
                and analyzer.count_content_words(head) > MIN_CONTENT_WORDS
            ):
                return head
    return ""


def _cut_before_and(text: str, limit: int) -> str:
    """Return the longest beginning before an "and"; "" if there is none."""
    joins = _AND if text.isascii() else _AND_ABROAD
    for end in reversed(list(joins.finditer(text, 0, limit + 1))):
        head = text[: end.start()]
        is_pair = "," in head or _PAIRED.search(head)
        if (
            len(head) > 30
            and not is_pair
            and analyzer.count_content_words(head) > MIN_CONTENT_WORDS
        ):
            return head
    return ""


def _cut_at_phrase(text: str, limit: int) -> str:
    """Return the longest beginning of an order that names its object; "" if none."""
    heads = [text[: end.start()] for end in _PHRASE_ENDS.finditer(text, 0, limit + 1)]
    for head in reversed(heads):
        words = analyzer.count_content_words(head)
        if is_order(text) and len(head) > 30 and words >= MANY_CONTENT_WORDS:
            return head
    return ""


def drop_unbalanced(text: str) -> str:
    """Remove unpaired quotes and brackets."""

    def drop_last(mark: str) -> str:
        """Cut the text before a mark, or remove it if too little would be left."""
        head, _, tail = bare.rpartition(mark)
        return head if len(head) >= MIN_TITLE_CHARS else head + tail

    cut = "…" if text.endswith("…") else ""
    bare = text.removesuffix("…")
    for mark in ('"', "`"):
        if bare.count(mark) % 2:
            bare = drop_last(mark)
    for opening, closing in ("()", "[]", "“”"):
        if bare.count(opening) > bare.count(closing):
            bare = drop_last(opening)
        elif bare.count(opening) < bare.count(closing) and bare.endswith(closing):
            bare = bare[:-1]
    return bare.rstrip(" ,;:(-–—") + cut


SESSION_TEXT_CHARS = 4_000
"""Only this much of the first prompt is read."""

_COMMAND = re.compile(r"/[\w:.-]+")


def session_title(text: str) -> str:
    """Return a title for a session from what its user wrote; "" if there is none."""
    read = text[:SESSION_TEXT_CHARS]
    if title := request_title(read) or plain_title(read):
        return title
    if prose.is_continuation(read):
        return ""
    lines = (prose.strip_markup(line.lstrip("# ")) for line in read.split("\n"))
    named = (line for line in lines if line and not line.startswith("["))
    return shorten(next(named, ""), TITLE_CHARS)


def is_informative(line: str) -> bool:
    least = 1 if cues.is_pleasantry(line) else 0
    return not _COMMAND.fullmatch(line) and analyzer.count_content_words(line) > least
