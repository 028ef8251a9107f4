"""Summarize a segment by quoting it: its card as a title and bullets."""

from collections.abc import Iterator, Sequence

from memtui.model.events import Event
from memtui.model.nodes import BULLET_COUNTS, TocLevel
from memtui.model.summaries import BulletKind, DraftBullet, Summary
from memtui.summarize.cards import Card, best_sentences, make_card
from memtui.summarize.session_work import MAX_FILES, FileChange, list_files
from memtui.summarize.tool_actions import CardLine
from memtui.summarize.work_events import WorkEvents, read_work
from memtui.text import analyzer
from memtui.text.prose import shorten, strip_markup
from memtui.text.titles import TITLE_CHARS

MAX_COMMITS = 6
"""The number of commits of a segment that are listed."""

MAX_OVERLAP = 0.6
"""A sentence that shares more of its terms with another line adds nothing new."""

MIN_NOTE_SCORE = 0.2
"""A sentence with a lower score is only quoted where there are too few lines."""

EMPTY_TITLE = "Nothing was said"
"""The title of a segment without any text."""


def summarize_segment(
    events: Sequence[Event],
    earlier_prompts: Sequence[Event] = (),
    session_title: str = "",
    *,
    is_in_repository: bool = False,
) -> Summary:
    """Summarize a segment in its own words.

    Args:
        events: The events of the segment in order.
        earlier_prompts: The user's last messages before, the latest first.
        session_title: The agent's own title of the session, at its first segment.
        is_in_repository: Whether the session recorded a Git branch.

    Returns:
        A title and bullets; ``refs`` are indexes into ``events``.
    """
    work = read_work(events, is_in_repository=is_in_repository)
    card = make_card(work, earlier_prompts, session_title)
    statements = list(_statements(card))
    most = BULLET_COUNTS[TocLevel.SEGMENT][1]
    statements += _notes(work, statements, most)
    bullets = (*statements[:most], *_facts(card))
    return Summary(card.title or _first_line(events) or EMPTY_TITLE, bullets)


def _statements(card: Card) -> Iterator[DraftBullet]:
    """Yield what was asked, what came of it, what was decided and what is left."""
    if card.asked:
        yield _bullet(card.asked, BulletKind.ASKED)
    if card.outcome and card.outcome not in card.commits:
        yield _bullet(card.outcome, BulletKind.OUTCOME)
    room = max(3 - len(card.left_open), 1)
    new = [line for line in card.decisions if line != card.outcome]
    for line in new[:room]:
        yield _bullet(line, BulletKind.DECISION)
    for line in card.left_open:
        yield _bullet(line, BulletKind.LEFT_OPEN)


def _facts(card: Card) -> Iterator[DraftBullet]:
    """Yield what calls show: commits, tests, files and the state of the work."""
    for line in card.commits[-MAX_COMMITS:]:
        yield _bullet(line, BulletKind.COMMIT)
    for line in card.pull_requests:
        yield _bullet(line, BulletKind.PULL_REQUEST)
    if card.tests:
        yield _bullet(card.tests, BulletKind.TESTS)
    if card.commands:
        yield _bullet(card.commands, BulletKind.COMMANDS)
    if card.files:
        yield _bullet(_file_line(card.files), BulletKind.FILES)
    yield _bullet(card.state, BulletKind.STATE)


def _bullet(line: CardLine, kind: BulletKind) -> DraftBullet:
    return DraftBullet(line.text, line.refs, kind)


def _file_line(files: Sequence[tuple[FileChange, int]]) -> CardLine:
    refs = tuple(sorted({at for _, at in files[:MAX_FILES]}))
    return CardLine(list_files([change for change, _ in files]), refs)


def _notes(
    work: WorkEvents, statements: Sequence[DraftBullet], most: int
) -> list[DraftBullet]:
    """Return good sentences that say something new; a poor one if there is no other."""
    seen = [set(analyzer.query_terms(one.text)) for one in statements]
    found: list[DraftBullet] = []
    for line, score in best_sentences(work):
        count = len(seen)
        if count >= most or (count and score < MIN_NOTE_SCORE):
            break
        terms = set(analyzer.query_terms(line.text))
        if all(len(terms & other) <= MAX_OVERLAP * len(terms) for other in seen):
            found.append(_bullet(line, BulletKind.QUOTE))
            seen.append(terms)
    return found


def _first_line(events: Sequence[Event]) -> str:
    lines = (
        line
        for event in events
        if event.is_message
        for line in event.text[:400].split("\n")
    )
    named = (line for line in lines if not line.startswith("[["))
    return shorten(next(filter(None, map(strip_markup, named)), ""), TITLE_CHARS)
