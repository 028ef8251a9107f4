"""The tool ``route``: answers a question by its time, by its words, or by the years.

A question that names a time is answered by the nodes of that time, one that names
something by what matches its words, one that names both by what matches within the
time, one about what is left open by a list of that, and any other by the years.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING

from memtui.model import citations
from memtui.model.audit import ClaimRow
from memtui.model.filters import ALL, EVERYTHING, Scope
from memtui.model.hit import Hit, Hits, score_band
from memtui.model.nodes import TocEntry
from memtui.search import query as search_query
from memtui.search.query import (
    Query,
    note_earlier_starts,
    parse_with_dates,
    restrict_to_periods,
)
from memtui.search.quotes import QuoteResult
from memtui.services import browse, points
from memtui.text import analyzer, date_format
from memtui.tools import formatting
from memtui.tools.formatting import LineWriter
from memtui.tools.replies import Item, Reply
from memtui.tools.search import (
    describe_quotes,
    find_in_tools,
    list_unknown,
    nothing_found,
    order_items,
    search_notes,
)
from memtui.tools.toc import MAX_CHILDREN

if TYPE_CHECKING:
    from memtui.workspace import Workspace


class Strategy(StrEnum):
    """A way to answer a question."""

    TIME = "time"
    """By the nodes of a time."""
    WORDS = "words"
    """By what matches its words."""
    TIME_AND_WORDS = "time and words"
    """By what matches its words within a time."""
    YEARS = "years"
    """By the years, to be read from the top."""
    LEFT_OPEN = "left open"
    """By what sessions left open."""


TIME_SCORE = 0.9
"""The score of an answer by a time with stored events."""

MISS_SCORE = 0.2
"""The score where nothing of the time is stored; and the highest score of matches that
are of another time."""

TOP_SCORE = 0.3


def route(
    workspace: "Workspace",
    question: str,
    *,
    limit: int = 16,
    scope: Scope = ALL,
) -> Reply:
    """Answer a question by the strategy that fits it, and say which that is."""
    zone = workspace.zone
    question = search_query.read_question(question)
    if _ASKS_WHAT_IS_OPEN.search(question):
        return _list_left_open(workspace, question, scope, limit)
    filters = replace(EVERYTHING, scope=scope)
    parsed = parse_with_dates(question, workspace.now(), zone, filters)
    # Filters of the question hold for browsing too.
    scope, unknown_notes = browse.resolve_scope(parsed.filters.scope)
    strategy, why = choose_strategy(parsed)
    by_period = {
        period: browse.list_covering(period.start, period.end, zone, scope)
        for period in parsed.periods
    }
    covering = [node for nodes in by_period.values() for node in nodes]
    nodes = [*{node.node_id: node for node in covering}.values()]
    quoted = QuoteResult(Hits(question))
    in_tools: Sequence[Hit] = ()
    note: list[str] = []
    if strategy in (Strategy.WORDS, Strategy.TIME_AND_WORDS):
        quoted = _search(workspace, question, parsed, limit, scope)
        in_tools, note = find_in_tools(
            workspace,
            question,
            quoted.quotes,
            limit,
            replace(EVERYTHING, scope=scope),
            quoted.unknown,
        )
    times = [quote.at for quote in quoted.quotes]
    elsewhere = []
    if parsed.periods and times and not any(map(parsed.covers, times)):
        named = " and ".join(
            period.label.partition(":")[0] for period in parsed.periods
        )
        lead_in = f"Nothing of {named} matches; these" if nodes else "These"
        elsewhere = [f"{lead_in} are of other times."]
    score = _score(strategy, nodes, quoted, is_elsewhere=bool(elsewhere))
    score = max([score, *(hit.score for hit in in_tools)])
    if not nodes and not (strategy is Strategy.WORDS and score >= TOP_SCORE):
        nodes = browse.list_children(limit=MAX_CHILDREN, scope=scope)
    items = describe_quotes(quoted.quotes)
    items += formatting.nodes(nodes[:limit], zone, scope)
    understood = [
        {"text": period.label, "is_met": bool(nodes)}
        for period, nodes in by_period.items()
    ]
    missing = unknown_notes or [
        f"Nothing is stored for {period['text']}."
        for period in understood
        if not period["is_met"]
    ]
    missing += [] if unknown_notes else list_unknown(quoted.unknown)
    starts = [node.start_time for node in covering]
    missing += note_earlier_starts(parsed.periods, starts)
    # The times are in the head.
    search_remarks = search_notes(replace(quoted.sessions, dates=()))
    notes = [*note, *missing, *elsewhere, *search_remarks]
    if not (notes or items or in_tools):
        notes = [nothing_found()]
    return _reply(
        workspace,
        strategy,
        why,
        score,
        items,
        notes,
        understood,
        quoted.unknown,
        formatting.quotes(in_tools),
    )


def _reply(
    workspace: "Workspace",
    strategy: Strategy,
    why: str,
    score: float,
    items: Sequence[Item],
    notes: Sequence[str],
    understood: Sequence[Item] = (),
    unknown_words: Sequence[str] = (),
    tool_items: Sequence[Item] = (),
) -> Reply:
    band, score = score_band(score), round(score, 2)
    head: Item = {
        "way": strategy.value,
        "why": why,
        "score": score,
        "band": band.value,
        "advice": band.advice,
        "understood": [*understood],
        "unknown_words": [*unknown_words],
    }
    lines = LineWriter(workspace.zone)
    return Reply(
        {"answers": items, "tool_output": tool_items},
        lambda item: lines.hit(item) if "score" in item else lines.node(item),
        head,
        [f"{strategy.value}: {why} {band.value} ({score:.2f}): {band.advice}"],
        notes,
        order=order_items(items, tool_items),
    )


_ASKS_WHAT_IS_OPEN = re.compile(
    r"\b(?:left (?:open|to do|undone)|still (?:open|to do)|unfinished|what remains"
    r"|open (?:work|tasks|points|ends)|remains? to be done)\b",
    re.IGNORECASE,
)

_OPEN_WORDS = re.compile(
    r"\b(?:left|open|undone|unfinished|remains?|tasks?|todos?|points|ends)\b",
    re.IGNORECASE,
)

_NAME = re.compile(r"[\w.\-]*\w")


def _list_left_open(
    workspace: "Workspace", question: str, scope: Scope, limit: int
) -> Reply:
    """List what sessions left open, and no later one finished.

    A project, a time and a topic that the question names are respected.
    """
    zone = workspace.zone
    dated = parse_with_dates(question, workspace.now(), zone)
    words = _OPEN_WORDS.sub(" ", dated.text)
    parsed = search_query.parse(words, zone, replace(EVERYTHING, scope=scope))
    scope, unknown_notes = browse.resolve_scope(parsed.filters.scope)
    for name in () if scope.project else _NAME.findall(words):
        named, is_unknown = browse.resolve_scope(Scope(scope.agent, name))
        if not is_unknown:
            scope = named
    project = {*analyzer.terms(scope.project)}
    topic = [w for w in parsed.words if w.is_specific and not w.matches(project)]
    items: list[Item] = []
    items_about_topic: list[Item] = []
    for row in points.list_left_open(scope):
        is_then = not dated.periods or dated.covers(row.at)
        if row.later or not is_then:
            continue
        items.append(_describe_open(row))
        terms = {*analyzer.terms(f"{row.session_name}\n{row.text}")}
        if any(word.matches(terms) for word in topic):
            items_about_topic.append(items[-1])
    is_elsewhere = bool(topic and items and not items_about_topic)
    items = items_about_topic or items
    not_found = f"In none of them: {', '.join(word.text for word in topic)}."
    of = f" of {scope}" if scope.is_narrow else ""
    time = "; ".join(period.label for period in dated.periods)
    why = f"It asks what sessions{of} left open{time and f' ({time})'}."
    notes = [*unknown_notes, *([not_found] if is_elsewhere else [])]
    if not (notes or items):
        notes = [f"Nothing was left open{of}{' then' if time else ''}."]
    score = MISS_SCORE if is_elsewhere or not items else TIME_SCORE
    return _reply(workspace, Strategy.LEFT_OPEN, why, score, items[:limit], notes)


def _describe_open(row: ClaimRow) -> Item:
    return {
        "id": citations.cite_event(row.event_id),
        **formatting.score(0.0, is_recent=True),
        "at": date_format.iso_utc(row.at),
        "session": row.node_id,
        "session_name": row.session_name,
        "snippet": f"{row.kind}: {row.text}",
    }


def choose_strategy(parsed: Query) -> tuple[Strategy, str]:
    """Choose how a question is answered, and say why."""
    specific = [word.text for word in parsed.words if word.is_specific]
    named = list(dict.fromkeys([*parsed.phrases, *specific]))
    words = ", ".join(named[:5])
    time = "; ".join(period.label for period in parsed.periods)
    if parsed.periods and named:
        return Strategy.TIME_AND_WORDS, f"It names a time ({time}) and terms: {words}."
    if parsed.periods:
        return Strategy.TIME, f"It names a time: {time}."
    if named:
        return Strategy.WORDS, f"It names specific terms: {words}."
    return Strategy.YEARS, "It names neither a time nor a specific term."


def _search(
    workspace: "Workspace", question: str, parsed: Query, limit: int, scope: Scope
) -> QuoteResult:
    """Find quotes; only of the question's time if it has some."""
    everything = replace(EVERYTHING, scope=scope)
    find = partial(workspace.quotes.find, limit=limit)
    if not parsed.periods:
        return find(question, filters=everything)
    within = restrict_to_periods(everything, parsed.periods)
    quoted = find(parsed.text, filters=within)
    quotes = tuple(quote for quote in quoted.quotes if parsed.covers(quote.at))
    if quotes:
        return replace(quoted, quotes=quotes)
    return find(parsed.text, filters=everything)


def _score(
    strategy: Strategy,
    nodes: Sequence[TocEntry],
    quoted: QuoteResult,
    *,
    is_elsewhere: bool,
) -> float:
    """Return how likely the answer is among the results, from 0 to 1: the score of the
    best hit."""
    if strategy is Strategy.YEARS:
        return TOP_SCORE
    if strategy is Strategy.TIME:
        return TIME_SCORE if nodes else MISS_SCORE
    best = max((quote.score for quote in quoted.quotes), default=0.0)
    return min(best, MISS_SCORE) if is_elsewhere else best
