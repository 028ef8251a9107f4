"""Lines: what any of the searches found, each as the search bar shows it.

The three searches answer in words of their own; here they are made alike, so that a
row and the key that opens it do not ask which of them it was.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from memtui.model import calendar
from memtui.model import hits as model_hits
from memtui.model.hits import (
    NO_SNIPPET,
    CombinedHit,
    CombinedResult,
    Hit,
    HitKind,
    HitSource,
    MessageHit,
    MessageResult,
    Snippet,
    TeleportResult,
    WindowMessage,
)
from memtui.model.nodes import TocLevel
from memtui.text import analyzer
from memtui.tui import format

_DEPTH = {level: depth for depth, level in enumerate(TocLevel)}


def told_once(hits: Sequence[Hit]) -> Iterator[tuple[Hit, list[str]]]:
    """Hits without those that only repeat one of a node under them.

    The one that stays is the narrowest, which is where the sentence comes from. It
    stands in the place of the best of them, with its score.

    Args:
        hits: The best first.

    Yields:
        Each hit, and the levels of those that are left out for it, the narrowest first.
    """
    leaders: dict[int, int] = {}
    by_depth = sorted(range(len(hits)), key=lambda at: (-_DEPTH[hits[at].level], at))
    narrow: dict[str, list[int]] = {}
    for at in by_depth:
        hit = hits[at]
        same = narrow.setdefault(hit.snippet.text, [])
        is_told = hit.kind is HitKind.NODE and bool(hit.snippet.text)
        above = (one for one in same if hit.node_id in _way(hits[one]))
        leader = next(above, at) if is_told else at
        leaders[at] = leader
        if leader == at and is_told:
            same.append(at)
    groups: dict[int, list[int]] = {}
    for at in range(len(hits)):
        groups.setdefault(leaders[at], []).append(at)
    for leader, mine in groups.items():
        others = sorted((one for one in mine if one != leader), key=by_depth.index)
        levels = dict.fromkeys(hits[one].level.value for one in others)
        yield replace(hits[leader], score=hits[mine[0]].score), [*levels]


def _way(hit: Hit) -> list[str]:
    try:
        return calendar.path(hit.node_id)
    except ValueError:
        return []


SearchFunction = Callable[[str], TeleportResult | CombinedResult | MessageResult]
"""Who answers in one view what was typed; any string is legal."""


UNTITLED = "A session without a title"


LAYERS = {
    HitSource.MESSAGES: "messages",
    HitSource.NODES: "summaries",
    HitSource.GRIPS: "quotes",
    HitSource.TITLES: "title",
}
"""What the layers of the memory are called on the screen, in this order."""


LEAD = 80
"""How much of its line is marked before a word that matched, in characters."""


class SearchView(StrEnum):
    """What is looked through."""

    ALL = "all"
    SUMMARIES = "summaries"
    MESSAGES = "messages"


@dataclass(frozen=True, slots=True)
class JumpTarget:
    """Where a line leads."""

    node_id: str
    """The node of the contents; "" while it is not known."""
    at: datetime
    grip_id: str = ""
    """The source to open there, if any."""
    event_id: str = ""
    """The message to open there, if no source."""
    snippet: Snippet = NO_SNIPPET
    """What of the message was shown."""
    agent: str = ""
    session_id: str = ""

    @property
    def matched(self) -> tuple[str, ...]:
        """The terms that were marked, for ``words.spans`` to mark again."""
        marked = (self.snippet.text[start:end] for start, end in self.snippet.marks)
        return tuple(dict.fromkeys(t for one in marked for t in analyzer.terms(one)))

    @property
    def excerpt(self) -> str:
        """The line of the message in which a first word matched; "" if none did."""
        text, marks = self.snippet.text, self.snippet.marks
        if not marks:
            return ""
        start = text.rfind("\n", 0, marks[0][0]) + 1
        return text[max(start, marks[0][0] - LEAD) :].partition("\n")[0][: 3 * LEAD]


@dataclass(frozen=True, slots=True)
class ResultSnippet:
    """What somebody said, or a summary where nobody is named."""

    speaker: str
    snippet: Snippet


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One thing that was found."""

    at: datetime
    level: TocLevel | None
    """How long a stretch of time it is about; none for a single moment."""
    title: str
    band: str
    """How well it answers, in a word; "" where no word was looked for."""
    kind: str
    """What it is."""
    match: ResultSnippet | None
    """The words that answer."""
    target: JumpTarget
    before: ResultSnippet | None = None
    after: ResultSnippet | None = None
    details: tuple[str, ...] = ()
    """Whose work it is: project and agent."""
    layers: tuple[str, ...] = ()
    """What of the memory led to it."""
    is_unsummarized: bool = False


@dataclass(frozen=True, slots=True)
class SearchResults:
    """All that was found for one question, the best first."""

    results: tuple[SearchResult, ...] = ()
    notes: tuple[str, ...] = ()
    """What the reader should know, each a sentence."""
    suggestion: str = ""
    took_ms: float = 0.0
    times: tuple[str, ...] = ()
    """The times that were understood, each a sentence."""
    merged: tuple[int, int] = (0, 0)
    """The messages and the summaries of which one a session is shown."""
    is_recent: bool = False
    """Whether no word was looked for: these are the newest."""

    @property
    def is_incomplete(self) -> bool:
        """Whether an index is still being made, so that more may soon be found."""
        return any("index" in note for note in self.notes)


def to_results(found: TeleportResult | CombinedResult | MessageResult) -> SearchResults:
    """What one of the searches found."""
    sheet = replace(_sheet(found), is_recent=found.is_recent)
    if not found.is_recent:
        return sheet
    # Nothing was asked that they could answer well or badly.
    return replace(sheet, results=tuple(replace(x, band="") for x in sheet.results))


def _sheet(found: TeleportResult | CombinedResult | MessageResult) -> SearchResults:
    match found:
        case TeleportResult():
            return SearchResults(
                tuple(_of_hits(found.hits)),
                tuple(filter(None, (found.note, *found.hints))),
                found.suggestion,
                found.took_ms,
            )
        case CombinedResult():
            return SearchResults(
                tuple(map(_of_moment, found.hits)),
                found.notes,
                found.suggestion,
                found.took_ms,
                _times(found),
                (found.messages, found.summaries),
            )
        case MessageResult():
            return SearchResults(
                tuple(map(_of_message, found.hits)),
                found.notes,
                took_ms=found.took_ms,
                times=_times(found),
            )


def _times(found: CombinedResult | MessageResult) -> tuple[str, ...]:
    """The times that were understood, and what follows from each."""
    return tuple(map(str, found.times))


def _of_hits(hits: Sequence[Hit]) -> Iterator[SearchResult]:
    for hit, others in told_once(hits):
        line = _of_hit(hit)
        also = f"also in its {', '.join(others)}" if others else ""
        yield replace(line, details=tuple(filter(None, (*line.details, also))))


def _of_hit(hit: Hit) -> SearchResult:
    is_source = hit.kind is HitKind.GRIP
    return SearchResult(
        at=hit.at,
        level=None if is_source or hit.level is TocLevel.SEGMENT else hit.level,
        title=hit.title,
        band=hit.band.value,
        kind="source" if is_source else hit.level.value,
        match=ResultSnippet("", hit.snippet),
        target=JumpTarget(
            node_id=hit.landing_id or hit.node_id,
            at=hit.at,
            grip_id=hit.target_id if is_source else "",
        ),
        details=_named(hit.project),
    )


def _of_moment(moment: CombinedHit) -> SearchResult:
    is_said = moment.role is not None and bool(moment.event_id)
    level = TocLevel.SEGMENT
    if not moment.session_id:
        level = TocLevel(moment.node_id.split(":")[1])
    kind = "source" if moment.grip_id else level.value
    who = format.voice(moment.role, moment.agent) if moment.role else ""
    return SearchResult(
        at=moment.at,
        level=None if level is TocLevel.SEGMENT else level,
        title=moment.title or UNTITLED,
        band=moment.band.value,
        kind="message" if is_said else kind,
        match=ResultSnippet(who, moment.snippet),
        target=JumpTarget(
            node_id=moment.node_id,
            at=moment.at,
            grip_id="" if is_said else moment.grip_id,
            event_id=moment.event_id,
            snippet=moment.snippet if is_said else NO_SNIPPET,
            agent=moment.agent,
            session_id=moment.session_id,
        ),
        details=_named(moment.project, moment.agent, moment.subagent),
        layers=tuple(name for layer, name in LAYERS.items() if layer in moment.layers),
        is_unsummarized=moment.is_unsummarised,
    )


def _of_message(hit: MessageHit) -> SearchResult:
    session, said = hit.session, hit.match
    at = said.at if said else session.created_at
    before, after = _beside(hit.window)
    return SearchResult(
        at=at,
        level=None,
        title=session.title or UNTITLED,
        band=model_hits.score_band(hit.score).value,
        kind="message" if said else "session",
        match=_turn(said, session.agent) or ResultSnippet("", hit.about),
        target=JumpTarget(
            node_id="",
            at=at,
            event_id=hit.event_id,
            snippet=said.snippet if said else NO_SNIPPET,
            agent=session.agent,
            session_id=session.session_id,
        ),
        before=_turn(before, session.agent),
        after=_turn(after, session.agent),
        details=_named(session.project, session.agent, hit.subagent),
    )


def _beside(
    window: Sequence[WindowMessage],
) -> tuple[WindowMessage | None, WindowMessage | None]:
    """What was said just before the match, and just after it."""
    at = next((at for at, said in enumerate(window) if said.is_match), None)
    if at is None:
        return None, next(iter(window), None)
    after = window[at + 1] if at + 1 < len(window) else None
    return window[at - 1] if at else None, after


def _turn(said: WindowMessage | None, agent: str) -> ResultSnippet | None:
    return ResultSnippet(format.voice(said.role, agent), said.snippet) if said else None


def _named(project: str, agent: str = "", subagent: str = "") -> tuple[str, ...]:
    helper = f"subagent {subagent}" if subagent else ""
    return tuple(filter(None, (project, agent, helper)))
