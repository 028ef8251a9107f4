"""The lists of words that tell little."""


def _set(lines: str) -> frozenset[str]:
    return frozenset(lines.split())


STOP_WORDS = _set(
    """
    a about after again all also am an and any are aren't as at be because been
    before being both but by can can't cannot could couldn't did didn't do does
    doesn't doing don't down during each even every few for from further get gets
    getting go going got had has hasn't have haven't having he hello her here hers
    hey hi him his how i i'd i'll i'm i've if in into is isn't it it's its itself
    just let let's like lot many me more most much my myself no nor not now of off
    oh ok okay on once one only or other our ours out over own please really same
    she should shouldn't so some still such sure than thank thanks that that's the
    their theirs them then there there's these they they're thing things this those
    through to too uh um under until up upon us very was wasn't we we'll we're we've
    well were weren't what what's when where which while who whom whose why will
    with within without won't would wouldn't yeah yes yet you you'll you're you've
    your yours yourself der die das den dem des ein eine einen einem einer und oder
    aber nicht ist sind war ich du er wir ihr mit von zu im auf für bei auch noch
    dass es als wie wird le la les un une et ou est que qui dans pour sur pas ne ce
    il elle nous vous el los las una y o por para con del se lo
    """
)
"""Words that say nothing alone, in the languages people write in here."""

GENERIC = _set(
    """
    aber absolutely actually add added added. adding agent alle alles allow already
    another answer anything assistant async available await back based bash been
    better between big bin bit both build call called cannot case change changed
    changes check class claude clean clear close code com command commit complete
    completed const contain containing contains content contents context continue
    conversation correct could create created current currently dann data default
    details dev diese dieser dieses different directly directory dist documents
    doing don't done durch edit either else end ensure error errors especially etc
    everything exactly example excited exist existing exit expected export fail
    failed failing failures false feature few file file's files final finally find
    first fix fixed fixes follow following found full fully function github give
    given glob goes good great grep handle help here high home however http https
    i'll implement implementation implemented implementing import import: include
    including index info input instead interface issue issues item items kann key
    kind know können last later left less let's level lib likely line line: lines
    list long longer look looking low made main make makes making may maybe means
    message method might missing modified move multiple must müssen name need needed
    needs never new next nice node_modules non none note null number nur object
    often okay old one's open option order org others output overall part pass
    passed passing path per perfect perhaps place plan please point possible
    previous probably problem proceed project proper properly provide public put
    quick quite rather read ready real really remaining remove removed request
    required response result result: results return returns review right run running
    same save schon second section see sehr set setup several shall should show
    shows sich side sie similar simple since sind single size small someone
    something sometimes soon specific src standard start started state statement
    status stderr stdout step steps still string stuff success successfully
    successfully. such summarize summary sure system take task tasks tell test
    tested testing tests text therefore thing think though three time tmp tmp/ todo
    todos todowrite together tool top total toward true try turn two type types
    undefined under understand unless unter update updated updated. updated: updates
    updating use used user user's users uses using usr usually value values var
    various version wait want way webfetch wenn werden whether whole work working
    works would write writing written wrong wurde wurden www yet you're über
    """
)
"""Words too common among people who write programs to find anything by."""

VAGUE = _set(
    """
    find potenti
    add agree another apply approach ask bit chang chat check choic choose clean
    clear code commit complet confirm continu convers part sentenc correct creat
    debug delet do docu done edit error exactli execut file finish fix follow form
    give go good handl help implement instead issu job keep know last look main make
    messag need new next note number open option pass perfect perform plan point
    prepar problem proceed progress project pull push question read readi remov
    repeat reply request restart result resum retri review right rm run save see
    show skip start step still stop stuff suggest summar summari system tag task
    tell test think time try two type ultrathink understand undo unstag updat us
    user verify view wait want way weiter work write wrong yep yes
    """
)
"""Stems that do not tell what was worked on: a title wants others beside them."""

ACRONYMS = _set(
    """
    api ascii aws cd ci cli cpu cpus css csv db dns gb gpu gui html http https id ids
    ip ipv6 json jwt kb llm mb mcp ml os p95 p99 pdf pr prs qa ram sdk sql ssh ssl sso
    svg tls ttl tui ui url urls utc ux vat vm xml yaml
    """
)
"""Words that are written in capitals at the head of a title."""

NARRATION = _set(
    """
    answer ask assistant confirm convers discuss explain mention note repli request
    said sai suggest tell told user
    """
)
"""Stems with which a summary tells who said what: its own words, not the source's."""

NOTS = _set(
    """
    not never cannot without neither nor no none nothing nobody unable nicht nie niemals
    ohne weder nichts kein keine keinen keinem keiner keines
    """
)
"""Words that deny what follows them, beside those that end in "n't"."""
