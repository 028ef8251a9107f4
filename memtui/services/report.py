"""Pages of sessions and periods, and reports of periods, as sections of documents.

What is withheld, versions that are not shown, and open ends that a later session
finished are left out.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import partial
from pathlib import Path

from memtui.errors import UsageError
from memtui.model import calendar, citations
from memtui.model.audit import AuditQuery, ClaimGroup
from memtui.model.calendar import TocLevel
from memtui.model.filters import ALL, Scope
from memtui.model.nodes import Bullet, BulletKind, DaySession, DraftBullet
from memtui.model.quantities import plural
from memtui.model.sessions import PeriodWork
from memtui.model.verdicts import SUPPORTED
from memtui.search.query import find_session
from memtui.services import audit, browse, conversation, judging, points
from memtui.services.audit import AuditTotals
from memtui.services.documents import (
    QUOTE_CHARS,
    Section,
    write_html,
    write_markdown,
)
from memtui.store import database, judgements, nodes, segments, sessions, work
from memtui.summarize import card, rollup
from memtui.text import date_format, dates
from memtui.text.plain import shorten

Finished = Collection[tuple[str, str]]
"""The sessions and the texts of open ends that were finished later."""

# Pages


def read_page(
    name: str, zone: tzinfo, scope: Scope = ALL, finished: Finished | None = None
) -> Section:
    """Return the page of a node, or of a session ``[agent:]id``.

    Args:
        finished: What ``points.read_finished`` returns, if it was read already.

    Raises:
        MemtuiError: There is no such session or node, or it is not summarized yet.
    """
    with database.connection():
        if name.startswith("toc:"):
            page = browse.get_node(name, scope)
        else:
            session = sessions.get(*find_session(name))
            row = DaySession("", session, ()) if session else None
            page = browse.get_day_session_node(row) if row else None
        if page is None:
            raise UsageError(f"there is no summary of {name} yet")
        subject = judging.find_subject(page.node_id)
    about = page.headline
    if page.level is TocLevel.SEGMENT:
        times = date_format.hours_in(zone, page.start_time, page.end_time)
        facts = times, *page.agents, *page.projects, page.work_state
        about = " · ".join(filter(None, facts))
    if finished is None:
        finished = points.read_finished()
    bullets = [
        replace(bullet, text=bullet.labelled)
        for bullet in page.bullets
        if not _is_finished(bullet, subject, finished)
    ]
    return Section(page.title, text=about, bullets=bullets)


def _is_finished(bullet: Bullet, subject: str, finished: Finished) -> bool:
    is_open_end = bullet.kind is BulletKind.LEFT_OPEN
    return is_open_end and (subject, bullet.claim_text) in finished


def read_pages(
    names: Iterable[str], zone: tzinfo, scope: Scope, most: int
) -> tuple[list[Section], int]:
    """Return the first pages of sessions, segments, sources and periods, and how many
    there are.

    The page of a source is that of its session, with the source first; a period has
    those of its sessions, the latest first.

    Raises:
        MemtuiError: As by ``read_page``, or there is no such source or period.
    """
    with database.connection():
        pages = [
            page for name in dict.fromkeys(names) for page in _list_pages(name, scope)
        ]
        read = partial(_read_page, zone=zone, finished=points.read_finished())
        return list(map(read, pages[:most])), len(pages)


def _read_page(name: str, zone: tzinfo, finished: Finished) -> Section:
    if name.startswith(("grip:", "evt:")):
        source = conversation.expand(name, before=0, after=0)
        if source.session is None or source.grip is None or not source.excerpt_events:
            raise UsageError(f"there is no source {name!r}")
        page = read_page(source.session.full_name, zone, finished=finished)
        source_id = source.grip.grip_id or source.grip.event_id_start
        quote = shorten(
            source.grip.excerpt or source.excerpt_events[0].text, QUOTE_CHARS
        )
        bullet = Bullet(f"chosen: {quote}", (source_id,), SUPPORTED)
        return page._replace(bullets=[bullet, *page.bullets])
    return read_page(name, zone, finished=finished)


def _list_pages(name: str, scope: Scope) -> list[str]:
    """Return the sessions of a period; else the name itself."""
    if not name.startswith("toc:") or name.startswith(citations.SEGMENT_PREFIX):
        return [name]
    try:
        works = work.list_period_works(calendar.day_range(name), scope)
    except ValueError:
        raise UsageError(f"there is no period {name!r}") from None
    if not works:
        of = f" in {scope}" if scope.is_narrow else ""
        raise UsageError(f"there is no summary of {name}{of}")
    return [f"{row.agent}:{row.session_id}" for row in reversed(works)]


# Reports

_HEADINGS = {
    "Worked on": (BulletKind.WORK,),
    "Decided": (BulletKind.DECISION,),
    "Committed": (BulletKind.COMMIT, BulletKind.PULL_REQUEST),
    "Left open": (BulletKind.LEFT_OPEN,),
    "Added by hand": (BulletKind.ADDED,),
    "Corrected by hand": (
        *(BulletKind.ASKED, BulletKind.OUTCOME),
        *(BulletKind.TESTS, BulletKind.FILES, BulletKind.FAILED),
    ),
}
"""The headings below a project, and the kinds of bullets under each."""


def find_period(text: str, now: datetime, zone: tzinfo) -> str:
    """Return the node of "last week", "2026-11", "yesterday", or of its id.

    Raises:
        UsageError: It is no node's period.
    """
    whole = dates.read_whole(text, now, zone)
    with suppress(ValueError):
        name = calendar.canonical(dates.whole_node(whole, zone) if whole else text)
        if not name.startswith(citations.SEGMENT_PREFIX):
            return name
    raise UsageError(f"{text!r} is no past day, week, month or year")


def make_report(
    node_id: str, zone: tzinfo, scope: Scope = ALL, *, as_html: bool = False
) -> str:
    """Return the report of a period, as Markdown or HTML."""
    bullets: dict[str, list[Bullet]] = {}
    weights: Counter[str] = Counter()
    with database.connection():
        works = work.list_period_works(calendar.day_range(node_id), scope)
        finished = points.read_finished()
        for row in works:
            weights[row.project] += row.weight
            of_project = bullets.setdefault(row.project, [])
            of_project += _list_bullets(row, finished)
    title = " · ".join(filter(None, (calendar.title(node_id), str(scope))))
    nothing = "" if works else "There are no conversations of this time."
    sections = [Section(title, text=nothing)]
    for project, _ in weights.most_common():
        sections.append(Section(project or "Without a project", 2))
        for heading, kinds in _HEADINGS.items():
            listed = [bullet for bullet in bullets[project] if bullet.kind in kinds]
            sections += [Section(heading, 3, bullets=listed)] if listed else []
    footer = ""
    if works:
        totals = audit.count_claims(audit.narrow(AuditQuery(scope), node_id, zone))
        footer = _describe_totals(len(works), totals)
    write = write_html if as_html else write_markdown
    return write(sections, zone, footer)


def _list_bullets(row: PeriodWork, finished: Finished) -> Iterator[Bullet]:
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
    drafts += (
        DraftBullet(line.text, (line.event_id,), BulletKind.LEFT_OPEN)
        for line in row.work.left_open
    )
    lines = work.link_lines(drafts, or_events=True)
    lines = judgements.judge_lines(lines, work.read_judgements(number))
    subject = f"{row.agent}:{row.session_id}"
    for line in lines:
        is_open_end = line.kind is BulletKind.LEFT_OPEN
        if not (line.is_rejected or _is_finished(line, subject, finished)):
            about = f" ({row.work.name})" if is_open_end else ""
            yield replace(line, text=line.text + about)
    for node in nodes.get_many(names):
        for bullet in (*node.bullets, *node.further):
            is_own = bullet.kind in (BulletKind.DECISION, BulletKind.ADDED)
            if is_own or judgements.is_beside(bullet, lines):
                yield bullet


def _describe_totals(sessions: int, totals: AuditTotals) -> str:
    """Return the totals at the end of a report: those of ``memtui audit``."""
    groups = totals.sum_by("group")
    return (
        f"{plural(sessions, 'session')} · {plural(totals.total, 'claim')} in summaries:"
        f" {totals.supported:,} ✓ supported, {groups[ClaimGroup.WEAK]:,} weak,"
        f" {groups[ClaimGroup.WITHHELD]:,} withheld · {totals.judged:,} judged"
    )


def is_html(file: Path) -> bool:
    """Return whether the name of a file is that of a page of HTML."""
    return file.suffix.lower() in (".html", ".htm")
