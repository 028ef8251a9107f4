"""Pages and reports as Markdown, and this as HTML.

Lines cite their sources by number: "A mutex serialises them [1] [2]". They are listed
at the end, each with its session, its time, its id and a quote. What is withheld, and
versions that are not shown, are left out.
"""

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo

from memtui.errors import UsageError
from memtui.model import calendar, citations
from memtui.model.calendar import TocLevel
from memtui.model.events import clean, remove_tag_characters
from memtui.model.filters import ALL, Scope
from memtui.model.nodes import Bullet, BulletKind, DaySession, DraftBullet, TocNode
from memtui.model.quantities import plural
from memtui.model.sessions import PeriodWork
from memtui.model.verdicts import SUPPORTED, Support
from memtui.search.query import find_session
from memtui.services import browse, conversation
from memtui.store import (
    database,
    events,
    judgements,
    nodes,
    segments,
    sessions,
    versions,
    work,
)
from memtui.summarize import card, rollup
from memtui.text import date_format, dates
from memtui.text.plain import shorten

TITLE_CHARS, QUOTE_CHARS = 60, 200  # The most that is shown of a source.

_VERDICTS = {Support.WEAK: " (weak)", Support.UNSUPPORTED: " (no source)"}


class MarkdownWriter:
    """Writes stored text, which never becomes markup, and numbers its sources."""

    def __init__(self, title: str) -> None:
        self._parts = [f"# {escape_markdown(title)}"]
        self._numbers: dict[str, int] = {}

    def add(self, text: str, prefix: str = "") -> None:
        """Add a heading, or a paragraph, if the text is not empty."""
        self._parts += [prefix + escape_markdown(text)] if text else []

    def add_list(self, bullets: Iterable[Bullet]) -> None:
        """Add bullets, with their verdicts unless they are supported."""
        items = []
        for bullet in bullets:
            names = bullet.grip_ids
            marks = [self._numbers.setdefault(n, len(self._numbers) + 1) for n in names]
            text = escape_markdown(bullet.text) + _VERDICTS.get(bullet.support, "")
            items.append(" ".join(["-", text, *(f"[{mark}]" for mark in marks)]))
        self._parts += ["\n".join(items)] if items else []

    def finish(self, zone: tzinfo, footer: str = "") -> str:
        """Add the sources, and return all of it."""
        self.add("Sources" if self._numbers else "", "## ")
        self._parts += _list_sources(self._numbers, zone)
        self.add(footer, "---\n\n")
        return "\n\n".join(self._parts)


def _list_sources(numbers: Mapping[str, int], zone: tzinfo) -> Iterator[str]:
    """Yield the sources, which are grips or events, with their numbers."""
    with database.connection():
        grips = versions.get_grips(numbers)
        event_ids = {name: name for name in numbers}
        event_ids |= {name: grip.event_id_start for name, grip in grips.items()}
        messages = events.get(event_ids.values())
        for name, number in numbers.items():
            text, event = "no longer stored", messages.get(event_ids[name])
            if event and (session := sessions.get(event.agent, event.session_id)):
                title = shorten(session.title, TITLE_CHARS)
                at = date_format.moment(event.timestamp, zone)
                text = f"{title} ({session.full_name}), {at}, {cite(name)}"
                quote = grips[name].excerpt if name in grips else event.text
                text = f"{text}: “{shorten(quote, QUOTE_CHARS)}”"
            yield f"[{number}] {escape_markdown(text)}"


def cite(source_id: str) -> str:
    """Return the citation of a grip or an event."""
    is_grip = source_id.startswith("grip:")
    return (citations.cite_grip if is_grip else citations.cite_event)(source_id)


_INLINE_MARKUP = re.compile(
    r"[\\`*\[\]<>~|]|&(?=[#\w])|(?<!\w)_|_(?!\w)|:(?=//)|(?<=www)\.", re.IGNORECASE
)
"""What begins or ends markup within a line, or makes a link of an address."""

_BLOCK_MARKUP = re.compile(r"^(?:(?=[#+=-])|(\d{1,9})(?=[.)]))")
"""What makes the beginning of a line a heading, an item of a list or a rule."""


def escape_markdown(text: str) -> str:
    """Return a text in one line, in which nothing is markup."""
    line = " ".join(remove_tag_characters(clean(text)).split())
    return _BLOCK_MARKUP.sub(r"\1\\", _INLINE_MARKUP.sub(r"\\\g<0>", line))


_HTML = """\
<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>{}</title>
<style>body {{ font: 16px/1.5 sans-serif; max-width: 46rem; margin: auto }}</style>
{}</html>
"""


def to_html(title: str, markdown: str) -> str:
    """Return a page of HTML, without scripts and references to anything."""
    from markdown_it import MarkdownIt  # rarely needed

    parser = MarkdownIt("commonmark", {"html": False})
    parser.disable(["link", "image", "autolink", "reference"])
    return _HTML.format(html.escape(title), parser.render(markdown))


# Pages


def read_page(name: str, scope: Scope = ALL) -> TocNode:
    """Return the page of a node, or of a session ``[agent:]id``.

    Raises:
        MemtuiError: There is no such session or node, or it is not summarized yet.
    """
    if name.startswith("toc:"):
        page = browse.get_node(name, scope)
    else:
        key = conversation.ConversationKey(*find_session(name))
        session = conversation.get_info(key).session
        page = browse.get_day_session_node(DaySession("", session, ()))
    if page is None:
        raise UsageError(f"there is no summary of {name} yet")
    return page


def describe_page(node: TocNode, zone: tzinfo) -> str:
    """Return when and where the work of a page was done, or its headline."""
    if node.level is not TocLevel.SEGMENT:
        return node.headline
    start, end = node.start_time.astimezone(zone), node.end_time.astimezone(zone)
    facts = (*node.agents, *node.projects, node.work_state)
    return " · ".join(filter(None, (date_format.hours(start, end), *facts)))


def write_page(node: TocNode, zone: tzinfo) -> str:
    writer = MarkdownWriter(node.title)
    writer.add(describe_page(node, zone))
    writer.add_list(replace(b, text=b.labelled) for b in node.bullets)
    return writer.finish(zone)


# Reports

_HEADINGS = {
    "Done": (BulletKind.WORK,),
    "Decided": (BulletKind.DECISION,),
    "Committed": (BulletKind.COMMIT, BulletKind.PULL_REQUEST),
    "Left open": (BulletKind.LEFT_OPEN,),
    "Added by hand": (BulletKind.ADDED,),
}
"""The headings below a project, and the kinds of bullets under each."""


def find_period(text: str, now: datetime, zone: tzinfo) -> str:
    """Return the node of "last week", "2026-11", "yesterday", or of its id.

    Raises:
        UsageError: It is no node's period.
    """
    whole = dates.read_whole(text, now, zone)
    try:
        return calendar.canonical(dates.whole_node(whole, zone) if whole else text)
    except ValueError:
        message = f"{text!r} is no past day, week, month or year"
        raise UsageError(message) from None


def make_report(node_id: str, zone: tzinfo, scope: Scope = ALL) -> tuple[str, str]:
    """Return the title of the report of a period, and all of it as Markdown."""
    withheld: list[Bullet] = []
    bullets: dict[str, list[Bullet]] = {}
    weights: Counter[str] = Counter()
    with database.connection():
        works = work.list_period_works(calendar.day_range(node_id), scope)
        for row in works:
            weights[row.project] += row.weight
            of_project = bullets.setdefault(row.project, [])
            of_project += _list_bullets(row, withheld)
    title = " · ".join(filter(None, (calendar.title(node_id), str(scope))))
    writer = MarkdownWriter(title)
    writer.add("" if works else "There are no conversations of this time.")
    for project, _ in weights.most_common():
        writer.add(project or "Without a project", "## ")
        for heading, kinds in _HEADINGS.items():
            listed = [bullet for bullet in bullets[project] if bullet.kind in kinds]
            writer.add(heading if listed else "", "### ")
            writer.add_list(listed)
    every = [bullet for listed in bullets.values() for bullet in listed]
    totals = describe_totals(len(works), every, withheld) if works else ""
    return title, writer.finish(zone, totals)


def _list_bullets(row: PeriodWork, withheld: list[Bullet]) -> Iterator[Bullet]:
    """Yield what a session did on its days, and what it has left open now."""
    number = sessions.get_number(row.agent, row.session_id) or 0
    segment_ids = [
        name
        for name in segments.list_ids(number)
        if calendar.day_range(name)[0] in row.days
    ]
    facts = work.read_facts(number, segment_ids)
    first, last = (calendar.period(row.days[at]).first for at in (0, -1))
    done = rollup.session_bullet(row, with_project=False)
    drafts = [
        replace(done, text=f"{date_format.days(first, last)}: {done.text}"),
        *card.list_commits(facts.commits),
        *card.list_pull_requests(facts),
    ]
    for line in row.work.left_open:
        text = f"{line.text} ({row.work.name})"
        drafts.append(DraftBullet(text, (line.event_id,), BulletKind.LEFT_OPEN))
    grips = work.find_grips(name for draft in drafts for name in draft.event_ids)
    lines = [
        Bullet(
            draft.text,
            tuple(grips.get(name, name) for name in draft.event_ids),
            SUPPORTED,
            draft.kind,
        )
        for draft in drafts
    ]
    yield from judgements.judge_lines(lines, work.read_judgements(number))
    for node in nodes.get_many(segment_ids):
        withheld += node.withheld
        for bullet in (*node.bullets, *node.further):
            if bullet.kind in (BulletKind.DECISION, BulletKind.ADDED):
                yield bullet


def describe_totals(
    sessions: int, bullets: Sequence[Bullet], withheld: Sequence[Bullet]
) -> str:
    """Return the totals at the end of a report."""
    counts = Counter(bullet.support for bullet in bullets)
    return (
        f"{plural(sessions, 'session')} · {plural(len(bullets), 'bullet')}:"
        f" {counts[Support.SUPPORTED]} ✓ supported, {counts[Support.WEAK]} weak,"
        f" {counts[Support.UNSUPPORTED]} without a source · {len(withheld)} withheld"
    )
