"""Judge by its wording what a sentence is worth in a summary."""

import re

from memtui.text.stopwords import STOP_WORDS

is_announcement = re.compile(
    r"(?:(?:now|ok(?:ay)?|and|but|first|next|then|so|also),?\s+)*"
    r"(?:let(?:'|’)?s?\s+(?:me|us|see|check|start|test|try|go|now|create|look|run|fix"
    r"|continue|also|add|build|identify|implement|make|move|update|verify|write)\b"
    r"|(?:to\s\w+\s[^.;:]{0,300},\s)?(?:i|we)(?:(?:'|’)?ll\s|\s+will\s)|the\s+goal\s+is\s+to\s|i(?:'|’)m\s+(?:now\s+)?\w+ing\s|i\s+(?:now\s+)?(?:need|want)\s+to\s"
    r"|i\s+(?:can\s+)?(?:now\s+)?(?:see|have(?!\s+(?:not|never|\w{2,}ed)\b)|understand)\b"
    r"|now\s+i\s|now\s+(?!it\b|all\b"
    r"|works?\b|that\b|passes\b)\w+\s|i\s+should\s"
    r"|going\s+to\s|time\s+to\s"
    r"|(?:adding|building|checking|copying|creating|fixing|implementing|installing"
    r"|looking|migrating|moving|reading|removing|running|spawning|starting|testing|trying"
    r"|updating|using|writing)\b"
    r"(?!.*\b(?:is|are|was|were|did|does|shows?|fails?|gives?|takes?|works?)\b)"
    r"|(?:сейчас|сначала|давайте)\s|я\s+(?:сначала|сейчас)\s|начну\s|приступаю)"
    r"|(?:好的?[，,]\s*)?我(?:先|来|现在|会|将|要)|让我|接下来|正在|首先|.*겠습니다\W*$",
    re.IGNORECASE,
).match
"""Matches the announcement of an action: "Let me check the tests."."""

is_pleasantry = re.compile(
    r"(?:(?:ah+|oh|hm+|wow)\b|you(?:'|’)re\s+(?:absolutely\s+)?right"
    r"|perfect|great|excellent|awesome|good\s*[,–—]|good\s+(?:"
    r"question|catch|point|idea|news|call)|nice|sure|of\s+course|absolutely|got\s+it"
    r"|understood|thanks?|thank\s+you|sorry|i\s+apologi[sz]e|my\s+apologies|here(?:'|’)s"
    r"|here\s+(?:is|are)|hello|hi\b|hey|done\s*[.!]?$|yes\s*[,.!]?$|no\s*[,.!]?$|ok(?:ay)?"
    r"\s*[,.!]?$|ready\s+to|try\s+(?:it|again|running)|feel\s+free|happy\s+to"
    r"|all\s+(?:good|set|done)|working\s+tree\s+is|commit(?:ted)?\s+(?:created\s+)?success"
    r"|great\s+work|well\s+done|you(?:['’]re|\s+are)\s+(?:\d+\s?%\s+|\w+ly\s+)*right\b"
    r"|(?:this|that)(?:'|’|\si)s\s+(?:(?:an?|really|very)\s+)*"
    r"(?:excellent|fair|good|great|helpful|interesting|nice|useful|valid)\b"
    r"|dobr[ae]\s+(?:intuicja|obserwacja|pytanie)|(?:gute|berechtigte)\s+frage"
    r"|guter\s+(?:punkt|einwand)|(?:bonne|excellente)\s+(?:idée|question|remarque)"
    r"|(?:buena|boa|ótima|excelente)\s+(?:ide[ai]a?|observación|pergunta|pregunta|solu[cç]\w+)"
    r"|(?:хороший|отличный)\s+вопрос|好问题|好主意|太好了|重大发现|我?发现(?:了)?问题了?\W*$"
    r"|does\s+(?:this|that)|is\s+there\s+anything"
    r"|found\s+(?:it|(?:the\s+)?(?:key\s+)?(?:info\w*|issue|problem|bug|cause))\W?$"
    r"|todos\s+have|if\s+you\s+need\s+specific\s+details|i\s+hope"
    r"|(?:would|do|should|can|could|shall|what\s+would|how\s+would|which\s+would|want)\s+"
    r"(?:you|i|me)\b.*\?$|want\s+me\s+to|let\s+me\s+know|please\s+(?:let|provide|proceed|confirm))",
    re.IGNORECASE,
).match
"""Matches polite phrases without content: "You're absolutely right!"."""

is_offer = re.compile(
    r"\b(?:would you like|want me to|shall i|should i|do you want|let me know|feel free"
    r"|if you(?:'d| would)? (?:like|want|prefer)|i can (?:also )?\w+|happy to)\b"
    r"|если хотите|дайте знать|хотите,? чтобы|如果你(?:需要|愿意|想)|需要我|请告诉我"
    r"|要不要我|是否需要我|(?:如果)?需要的话",
    re.IGNORECASE,
).search
"""Matches a sentence that offers further work."""

is_retraction = re.compile(
    r"(?:no[,.] (?:wait|not|don.t|that)|scratch (?:that|the)\b|never ?mind"
    r"|on second thought|forget (?:that|it|what i)"
    r"|forget (?:about )?(?:the )?[\w.+#-]+(?: [\w.+#-]+)?\s*(?:[,;.!–—]|$)"
    r"|wait,? (?:no|don.t)|correction\b|that was wrong"
    r"|actually,? (?:no|not|don.t|let.s (?:not|use|go)|we (?:should|need|have)"
    r"|i.d rather)|i (?:was|am) wrong"
    r"|(?:(?:wait|ok(?:ay)?|sorry|hmm?),? )?i(?:'ve| have)? (?:changed my mind"
    r"|reconsidered)"
    r"|(?:please )?(?:revert|undo|roll back) (?:that|this|it|the)"
    r"|(?:нет, )?(?:я )?передумала?\b|(?:нет, )?не надо\b"
    r"|我改变主意|还是(?:不要|不用|别))",
    re.IGNORECASE,
).match
"""Matches the beginning of a sentence that retracts the statement before it."""

gives_up = re.compile(
    r"\W*(?:(?:ok(?:ay)?|well|so|no|hm+|sorry|please|let'?s|then|bitte|nein|нет)\b\W*)*"
    r"(?:never ?mind|forget (?:it|about it|that)|stopp?\s*(?:[,.!]|$)"
    r"|stop (?:it|this|that|here|now)\b|cancel (?:it|this|that)\b|cancel\s*(?:[,.!]|$)"
    r"|(?:i|we) give up|(?:i|we)(?:'m| am|'re| are) giving up"
    r"|(?:just )?leave it (?:be\b|as (?:it is|is)\b)|abort\s*(?:[,.!]|$)"
    r"|abort (?:it|this|that|the (?:deploy\w*|rollout|release|migration|build|run))\b"
    r"|(?:undo|revert|scrap|park|shelve|abandon|discard|drop|roll back|throw away)"
    r" (?:it|this|that|everything|all of it|all that|the whole thing)"
    r"(?=\s*(?:[,.;!:–—]|$|please|again|for now|and|then|too|now|completely))"
    r"|roll (?:it|this|that) back|close it(?=\s*(?:[,.;!]|$))"
    r"|(?:das|es) (?:verwerfen|lassen|vergessen) wir"
    r"|wir (?:verwerfen|lassen) (?:das|es)\b"
    r"|verwirf (?:das|es|alles)|vergiss (?:das|es)|lass (?:das|es)(?: sein|\W*$)"
    r"|brich (?:das )?ab\b|abbrechen\b|ich gebe auf|wir geben auf"
    r"|mach (?:das|es|alles) (?:wieder )?rückgängig"
    r"|стоп\b|отбой\b|забудь\b|отмени(?:те|м)?\W*(?:это|всё|все)?\s*(?:[,.!]|$)"
    r"|откати(?:те|м)?\b|сдаюсь\b|бросаем\b|(?:оставим|отложим|откладываем) это\b)",
    re.IGNORECASE,
).match
"""Matches the beginning of a sentence that gives work up: "Undo that, please."."""

is_farewell = re.compile(
    r"\W*(?:(?:ok(?:ay)?|well|so|sorry|thanks?|danke|спасибо)\b\W*)*"
    r"(?:i (?:have|need|'ve got) to (?:leave|go|run|stop)(?: now)?"
    r"\W*(?:$|we\b|let's\b)|(?:that's|this is) (?:it|all|enough) for (?:today|now)"
    r"|see you\b|bye\b|good ?night|(?:we|i|let's)(?:'ll| will)? (?:continue|go on)"
    r" (?:tomorrow|next|later|on \w+day)"
    r"|ich muss (?:los|weg|gehen)\b|(?:wir|ich) machen? (?:morgen|nächste|später) "
    r"|bis (?:morgen|dann|bald)\b|tschüss\b|feierabend\b"
    r"|мне пора\b|до (?:завтра|встречи)\b|на сегодня (?:всё|все|хватит)"
    r"|продолжим (?:завтра|позже|потом|на следующей))",
    re.IGNORECASE,
).match
"""Matches the beginning of a sentence that only ends a conversation for now."""

_REPLACES = re.compile(
    r"\b(?:(?:we|i) no longer|reverted|(?:was|were) (?:rolled back|undone)"
    r"|changed (?:my|our) minds?"
    r"|(?:we|i) (?:dropped|abandoned|gave up on|decided against|moved away from"
    r"|switched (?:away )?from|replaced)"
    r"|rolled back|turned out (?:to be )?wrong|is wrong after all)\b"
    r"|^(?:dropped|abandoned|gave up on|decided against)\b",
    re.IGNORECASE,
)

_DECIDES = re.compile(
    r"\b(?:decid\w+|decision|chos\w+|choose|opted|agreed|instead\s+of|rather\s+than"
    r"|recommend\w*|went\s+with|switched\s+to|trade-?off|conclu\w+|approach|strategy"
    r"|prefer\w*|beschlossen|entschieden|决定|选择|采用)\b|决定|选择|采用",
)

_FIXES = re.compile(
    r"\b(?:fix(?:ed|es)?|resolv\w+|solved|root\s+cause|caused\s+by|because|the\s+(?:bug"
    r"|problem|issue|cause|fix)\s+(?:is|was)|turned\s+out|works?\s+now|now\s+works?"
    r"|pass(?:es|ed|ing)?|implemented|added|created|updated|replaced|refactored|removed"
    r"|renamed|extracted|moved|migrated|committed|pushed|merged|released|behoben"
    r"|gelöst|repariert|geändert|hinzugefügt)\b|修复|解决|完成|原因|实现|添加",
)

_FAILS = re.compile(
    r"\b(?:fail\w*|error\w*|broken|crash\w*|bug|regression|does(?:n't|\s+not)\s+work"
    r"|still\s+(?:fails?|broken|not)|exception|timeout|timed\s+out|missing|wrong|can(?:'t"
    r"|not)|unable|blocked|fehl\w*|kaputt|fehlgeschlagen)\b|失败|错误|报错|问题",
)

_OPEN = re.compile(
    r"\b(?:todo|remaining|remains|next\s+steps?|follow-?up|not\s+yet|still\s+need\w*|open"
    r"\s+(?:question|point|issue)|later|pending|blocked\s+on|limitation|caveat|offen"
    r"|noch\s+nicht)\b|待办|尚未|还没",
)

_PLACE = re.compile(
    r"[\w\-]+/[\w./\-]+|\b[\w\-]+\.(?:py|ts|tsx|js|jsx|rs|go|md|json|toml|ya?ml|css|html"
    r"|sh|sql|java|rb|c|h|cpp|vue|svelte)\b|`[^`]+`|#\d+|\b\d+\s+(?:tests?|files?|of)\b"
)

is_generic_heading = re.compile(
    r"(?:[\d.]+\s*)?(?:context|overview|summary|verification|files?\b.*|changes|goal|steps?"
    r"|background|notes?|plan|approach|implementation|testing|tests?|conclusion|what\b.*"
    r"|next steps?|key\b.*|problem|solution|usage|details|requirements|example.*"
    r"|results?|phase \d+.*|step \d+.*)\s*:?$",
    re.IGNORECASE,
).match
"""Matches a heading that names a part of a document, not its subject."""

_LOG_BEGINS = re.compile(
    r"\[?\d+[:\-/T]\d[\d:.,T\-/Z]*\s|\[(?:[A-Z]\w+|debug|info|warn\w*|error)\]"
    r"|\w+: \w+:[\w-]+$"
    r"|#?\d+[\d. ]*\s(?:npm|error|warn\w*|info)\b"
    r"|/\w+/|From \S+$|Tip: |\w+@\d|> \w|Visit https?:|error: script"
    r"|Traceback \("
    r"|File \"[^\"]+\", line \d|(?:\w+\.)*\w+(?:Error|Exception): "
)

_LOG_CONTAINS = (
    re.compile(
        r"@ [\w.\-]+\.js:\d|\.(?:\.\.$|\w{1,4}:\d+:\d+\b)|✓.*✓"
        r"|h(?<!\wh)ttps?://\S+$"
    ),
    re.compile(r"\w (?:err!|error) <|exited with code|(?i:\bready in \d)|reached · /"),
    re.compile(r"\dm?s\b.*\dm?s\b"),
    re.compile(r"\b[\da-f]{12,}\b"),
)
"""Separate patterns, since each is several times as fast as one for all."""

is_role = re.compile(
    r"(?:(?:please )?(?:you are|you're|act as|behave as|imagine (?:that )?you are"
    r"|du bist|tu es|eres) (?:an?|the|my|our|ein\w*|une?|l[ae]|l(?=['’]))\b"
    r"|you (?:always|never|only|prefer|value|care|speak|specialize) "
    r"|agis en tant qu(?:e |['’])"
    r"|(?:please )?(?:always |only )?(?:answer|respond|reply)"
    r" (?:always |only )?in \w+\W*$"
    r"|(?:please )?think step by step\b(?: and be (?:concise|brief|terse))?\W*$"
    r"|use (?:a )?chain[- ]of[- ]thought(?: reasoning)?(?:,? and think out loud)?\W*$"
    r"|(?:please )?be (?:concise|brief|terse)\W*$"
    r"|(?:please |remember,? )*keep (?:it|them|(?:your |the )?(?:answers?|replies"
    r"|responses?)) (?:short|brief|concise|simple)\b"
    r"|(?:please )?(?:ignore|skip) \S+\W*$"
    r"|(?:but )?first,? (?:please )?(?:read|check|look|review|go through) "
    r"|you (?:write|give) (?:\w+ ){0,2}(?:answers|replies|responses)\b"
    r"|(?:bitte )?antworte(?:n sie)? (?:bitte |immer |stets |nur )*(?:auf|kurz|knapp)\b"
    r"|(?:всегда )?отвечай(?:те)? (?:всегда |только )?(?:на|по|кратко)\b"
    r"|(?:ты|вы)\s*(?:[—–-]\s*)?(?:опытн|эксперт|старш|senior|ведущ)\w*"
    r"|(?:представь|действуй|выступи)\w*[, ]+(?:как |что ты |в роли )"
    r"|(?:请)?(?:你是|扮演|假设你是)(?:一[个名位])?)[^,，:：]*$",
    re.IGNORECASE,
).match
"""Matches a sentence that only tells the agent how to work: its role, its style, or
what to read first."""

starts_with_reference = re.compile(
    r"(?:these|this|that|it|they|those|all|our|here|there|previously|now|also|both)\b",
    re.IGNORECASE,
).match
"""Matches a sentence that starts with a word such as "this" or "it"."""


def is_log_line(sentence: str) -> bool:
    if _LOG_BEGINS.match(sentence) or any(
        one.search(sentence) for one in _LOG_CONTAINS
    ):
        return True
    # Many words with few distinct ones are a table or a log.
    words = [word for word in sentence.split() if word.lower() not in STOP_WORDS]
    return len(words) >= 12 and len(set(words)) < 0.65 * len(words)


def takes_back(sentence: str) -> bool:
    return bool(is_retraction(sentence) or _REPLACES.search(sentence))


_AGAINST = re.compile(
    r"(?:\b(?:no(?! longer)|not|never|instead of|rather than|without|drop(?:ped)?"
    r"|away from|replac(?:e|ed|ing)|remov(?:e|ed|ing)|revert(?:ed)?|don't use|не|без"
    r"|вместо|statt|kein\w*"
    r"|(?:forget(?: about)?|scratch|never ?mind(?= the))(?! (?:that|it|this|what)\b))"
    r"\s+(?:the |using |use |an? )*|不用|不要|而不是)"
    r"([\w.\-]*\w)",
    re.IGNORECASE,
)
_GIVEN_UP = re.compile(
    r"([\w.\-]*\w)(?: \w+)? (?:was|were|is|are|has been|have been)(?: being)?"
    r" (?:dropped|retired|removed|replaced|abandoned|rejected|ruled out)\b"
)
_WORD = re.compile(r"\w[\w.\-]*\w|\d")


def revokes(later: str, earlier: str) -> bool:
    """Return whether a sentence decides against what an earlier one decided for.

    It names a word of it after "no" or "instead of", or it retracts something and
    shares a word. A word in lower case is only a name where something is retracted.
    """
    chosen = _words(earlier) - {name.lower() for name in _AGAINST.findall(earlier)}
    is_retracting = takes_back(later)
    if against := _AGAINST.findall(later) + _GIVEN_UP.findall(later):
        names = {one.lower() for one in against if is_retracting or one != one.lower()}
        return not chosen.isdisjoint(names)
    return is_retracting and not chosen.isdisjoint(_words(later))


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)} - STOP_WORDS


is_agent_error = re.compile(
    r"(?:(?:Failed to authenticate\. |Please run /login\W+)?API Error|Error: \d{3}\b"
    r"|litellm\."
    r"|\w+Exception - litellm"
    r"|(?:the |your )?(?:API|model|server)\b[^.]{0,40}\b(?:rate.limit\w*|overloaded)"
    r"|retrying in \d|your limit will reset|(?:claude |codex )?(?:ai )?usage limit"
    r"|(?:\w+-hour|weekly|session|context)"
    r" limit reached|(?:/upgrade )?to increase your usage"
    r"|you(?:'ve| have) (?:hit|reached) your (?:\w+ )?limit|credit balance is too low"
    r"|prompt is too long"
    r"|(?:connection|request) (?:error|timed out)\b|stream disconnected)",
    re.IGNORECASE,
).match
"""Matches the report of an agent that its model did not answer."""


def wording_score(sentence: str) -> float:
    """Return what the wording adds to a sentence's score: -1 to 0.6."""
    lower = sentence.lower()
    cues = (_DECIDES, 0.15), (_FIXES, 0.15), (_FAILS, 0.12), (_OPEN, 0.1), (_PLACE, 0.1)
    score = sum(bonus for cue, bonus in cues if cue.search(lower))
    if is_pleasantry(sentence):
        score -= 1.2
    elif is_announcement(sentence):
        score -= 0.9
    if is_log_line(sentence):
        score -= 0.5
    if sentence.endswith((":", "：")):
        score -= 0.5
    elif sentence[-1:].isalnum() and sentence.count(" ") < 5:
        score -= 0.12  # A fragment of a list.
    if sentence.count("`") > 6 or sentence.count("(") > 4:
        score -= 0.2
    return score
