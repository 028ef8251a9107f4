"""Pages and reports as Markdown, and these as HTML.

Lines cite their sources by number: "A mutex serialises them [1] [2]". They are listed
at the end, each with its session, its time, its id and a quote. What is withheld, and
versions that are not shown, are left out.
"""

import html
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import NamedTuple

from memtui.errors import UsageError
from memtui.model import calendar, citations
from memtui.model.audit import AuditQuery, ClaimGroup
from memtui.model.calendar import TocLevel
from memtui.model.citations import Expansion
from memtui.model.filters import ALL, Scope
from memtui.model.nodes import Bullet, BulletKind, DaySession, DraftBullet
from memtui.model.quantities import plural
from memtui.model.sessions import PeriodWork
from memtui.model.verdicts import SUPPORTED, Support
from memtui.search.query import find_session
from memtui.services import audit, browse, conversation
from memtui.services.audit import AuditTotals
from memtui.store import database, judgements, nodes, segments, sessions, work
from memtui.summarize import card, rollup
from memtui.text import date_format, dates, markdown
from memtui.text.plain import shorten

QUOTE_CHARS = 200
"""The most that is quoted of a source."""


class Section(NamedTuple):
    """A part of a document: a heading, a paragraph and bullets."""

    heading: str
    level: int = 1
    """The level of the heading, from 1."""
    text: str = ""
    bullets: Sequence[Bullet] = ()


def write(sections: Sequence[Section], zone: tzinfo, footer: str = "") -> str:
    """Return a document as Markdown, with its sources, which are grips or events."""
    parts, numbers = list[str](), dict[str, int]()
    for section in sections:
        parts.append(markdown.heading(section.heading, section.level))
        parts.append(markdown.escape(section.text))
        items = []
        for bullet in section.bullets:
            names = bullet.grip_ids
            marks = [numbers.setdefault(name, len(numbers) + 1) for name in names]
            items.append(markdown.list_item(describe(bullet), marks))
        parts.append("\n".join(items))
    parts.append("## Sources" if numbers else "")
    with database.connection():
        for name, number in numbers.items():
            text = "no longer stored"
            source = conversation.expand(name, before=0, after=0)
            if source.grip and source.excerpt_events:
                quote, at = _quote(source), source.grip.timestamp
                text = markdown.quotation(quote, source.session, at, name, zone)
            parts.append(f"[{number}] {markdown.escape(text)}")
    parts.append(f"---\n\n{markdown.escape(footer)}" if footer else "")
    return "\n\n".join(filter(None, parts))


def _quote(source: Expansion) -> str:
    """Return the beginning of what a grip quotes, or else of its first event."""
    excerpt = source.grip.excerpt if source.grip else ""
    texts = excerpt, *(event.text for event in source.excerpt_events)
    return shorten(next(filter(None, texts), ""), QUOTE_CHARS)


_VERDICTS = {Support.WEAK: " (weak)", Support.UNSUPPORTED: " (no source)"}


def describe(bullet: Bullet) -> str:
    """Return the text of a bullet, with its verdict unless it is supported."""
    return bullet.text + _VERDICTS.get(bullet.support, "")


_HTML = """\
<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>{}</title>
<style>body {{ font: 16px/1.5 sans-serif; max-width: 46rem; margin: auto }}</style>
{}</html>
"""


def to_html(title: str, text: str) -> str:
    """Return Markdown as a page of HTML, without scripts, links and images."""
    from markdown_it import MarkdownIt  # rarely needed

    parser = MarkdownIt("commonmark", {"html": False})
    parser.disable(["link", "image", "autolink", "reference"])
    return _HTML.format(html.escape(title), parser.render(text))


# Pages


def read_page(name: str, zone: tzinfo, scope: Scope = ALL) -> Section:
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
    about = page.headline
    if page.level is TocLevel.SEGMENT:
        start, end = page.start_time.astimezone(zone), page.end_time.astimezone(zone)
        facts = date_format.hours(start, end), *page.agents, *page.projects
        about = " · ".join(filter(None, (*facts, page.work_state)))
    bullets = [replace(bullet, text=bullet.labelled) for bullet in page.bullets]
    return Section(page.title, text=about, bullets=bullets)


def read_pages(name: str, zone: tzinfo, scope: Scope = ALL) -> Iterator[Section]:
    """Yield the page of a session or a segment; of a source that of its session, with
    the source first; of a period those of its sessions, the latest first.

    Raises:
        MemtuiError: As by ``read_page``, or there is no such source.
    """
    if name.startswith(("grip:", "evt:")):
        source = conversation.expand(name, before=0, after=0)
        if source.session is None or source.grip is None:
            raise UsageError(f"there is no source {name!r}")
        page = read_page(source.session.full_name, zone)
        source_id = source.grip.grip_id or source.grip.event_id_start
        bullet = Bullet(f"chosen: {_quote(source)}", (source_id,), SUPPORTED)
        yield page._replace(bullets=[bullet, *page.bullets])
    elif not name.startswith("toc:") or name.startswith(citations.SEGMENT_PREFIX):
        yield read_page(name, zone)
    else:
        read_page(name, zone, scope)
        with database.connection():
            works = work.list_period_works(calendar.day_range(name), scope)
        for row in reversed(works):
            yield read_page(f"{row.agent}:{row.session_id}", zone)


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


def make_report(
    node_id: str, zone: tzinfo, scope: Scope = ALL, *, as_html: bool = False
) -> str:
    """Return the report of a period, as Markdown or HTML."""
    bullets: dict[str, list[Bullet]] = {}
    weights: Counter[str] = Counter()
    with database.connection():
        works = work.list_period_works(calendar.day_range(node_id), scope)
        for row in works:
            weights[row.project] += row.weight
            of_project = bullets.setdefault(row.project, [])
            of_project += _list_bullets(row)
    title = " · ".join(filter(None, (calendar.title(node_id), str(scope))))
    nothing = "" if works else "There are no conversations of this time."
    sections = [Section(title, text=nothing)]
    for project, _ in weights.most_common():
        sections.append(Section(project or "Without a project", 2))
        for heading, kinds in _HEADINGS.items():
            listed = [bullet for bullet in bullets[project] if bullet.kind in kinds]
            sections += [Section(heading, 3, bullets=listed)] if listed else []
    totals = audit.count_claims(audit.narrow(AuditQuery(scope), node_id, zone))
    footer = describe_totals(len(works), totals) if works else ""
    text = write(sections, zone, footer)
    return to_html(title, text) if as_html else text


def _list_bullets(row: PeriodWork) -> Iterator[Bullet]:
    """Yield what a session did on its days, and what it has left open now."""
    number = sessions.get_number(row.agent, row.session_id) or 0
    names = segments.list_ids(number)
    names = [name for name in names if calendar.day_range(name)[0] in row.days]
    facts = work.read_facts(number, names)
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
    lines = work.link_lines(drafts, or_events=True)
    yield from judgements.judge_lines(lines, work.read_judgements(number))
    for node in nodes.get_many(names):
        for bullet in (*node.bullets, *node.further):
            if bullet.kind in (BulletKind.DECISION, BulletKind.ADDED):
                yield bullet


def describe_totals(sessions: int, totals: AuditTotals) -> str:
    """Return the totals at the end of a report: those of ``memtui audit``."""
    groups = totals.sum_by("group")
    return (
        f"{plural(sessions, 'session')} · {plural(totals.total, 'claim')}:"
        f" {totals.supported:,} ✓ supported, {groups[ClaimGroup.WEAK]:,} weak,"
        f" {groups[ClaimGroup.WITHHELD]:,} withheld · {totals.judged:,} judged"
    )
