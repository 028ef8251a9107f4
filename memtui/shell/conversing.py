"""``sessions`` and ``session``: which there are, and what was said in one."""

from collections.abc import Iterator
from datetime import tzinfo

from memtui.house import House
from memtui.memory.scopes import Scope
from memtui.memory.sessions import Session
from memtui.memory.thoughts import Thought
from memtui.recall import sessions
from memtui.recall.sessions import Facts, Listed, Page
from memtui.shell import output
from memtui.shell.reading import event_lines

TITLE_CHARS = 60
"""How much of a title stands in a list, in characters."""

THOUGHT_CHARS = 1000
"""How much of one thought is printed, in characters."""


def show_all(house: House, of: Scope, *, offset: int, limit: int, as_json: bool) -> int:
    """Print a page of the sessions."""
    found = sessions.listed(
        agent=of.agent, project=of.project, offset=offset, limit=limit
    )
    if as_json:
        output.as_page(found, "sessions")
    elif found.sessions:
        output.lines(_list(found, house.zone))
    elif found.total:
        output.lines([f"There are {found.total:,} sessions, no more."])
    elif of.is_narrow:
        output.lines([f"No session is of {of}."])
    else:
        output.lines(["Nothing kept yet. Bring past sessions in: memtui import"])
    return 0


def _list(found: Listed, zone: tzinfo) -> Iterator[str]:
    for one in found.sessions:
        messages = output.number_of(one.message_count, "message")
        about = [output.date(one.updated_at, zone), one.agent, one.project, messages]
        yield " · ".join(part for part in about if part)
        title = one.title or "(without a title)"
        if len(title) > TITLE_CHARS:
            title = f"{title[:TITLE_CHARS]}…"
        yield f"    {title}"
        yield f"    {one.agent}:{one.session_id}"
    yield from _more(found.offset, len(found.sessions), found.total, "sessions")


def _more(offset: int, shown: int, total: int, what: str) -> Iterator[str]:
    if offset or offset + shown < total:
        last = offset + shown
        ahead = f"; more: --offset {last}" if last < total else ""
        yield ""
        yield f"{offset + 1:,} to {last:,} of {total:,} {what}{ahead}"


def show(
    house: House,
    asked: str,
    *,
    offset: int,
    limit: int,
    subagent: str,
    is_all: bool,
    with_thoughts: bool,
    as_json: bool,
) -> int:
    """Print what is known of a session, and a page of what was said."""
    known = sessions.facts(*sessions.find(asked))
    page = sessions.page(
        known,
        offset=offset,
        limit=limit,
        subagent=subagent,
        is_all=is_all,
        with_thoughts=with_thoughts,
    )
    if as_json:
        output.as_page({"facts": known, **output.plain(page)}, "events")
        return 0
    output.lines(_facts(known, house.zone))
    what = "events" if is_all else "messages"
    output.lines(_page(page, what, house.zone))
    return 0


def _facts(known: Facts, zone: tzinfo) -> Iterator[str]:
    one = known.session
    yield one.title or "(without a title)"
    yield from (f"{name:<10} {said}" for name, said in _rows(known, one, zone) if said)
    for helper in known.subagents:
        said = [helper.kind, helper.task, output.number_of(helper.events, "event")]
        told = " · ".join(part for part in said if part)
        by = f" · started by {helper.started_by}" if helper.started_by else ""
        yield f"{'subagent':<10} {helper.name}: {told}{by}"
    for place, line in enumerate(known.summary):
        yield f"{'' if place else 'about':<10} {line}"
    if (more := known.segments - len(known.summary)) > 0 and known.summary:
        yield f"{'':<10} and {output.number_of(more, 'segment')} more"
    yield ""


def _rows(known: Facts, one: Session, zone: tzinfo) -> list[tuple[str, str]]:
    forked = ""
    if one.forked_from:
        shared = output.number_of(known.shared_messages, "message")
        forked = f"{one.agent}:{one.forked_from}, with which it shares {shared}"
    messages = output.number_of(one.message_count, "message")
    return [
        ("session", f"{one.agent}:{one.session_id}"),
        ("project", one.project),
        ("root", one.root),
        ("folder", one.cwd),
        ("branch", one.branch),
        ("model", one.model),
        ("summary", " ".join(one.summary.split())),
        ("made by", one.created_by),
        ("began", output.date(one.created_at, zone)),
        ("last heard", output.date(one.updated_at, zone)),
        ("length", f"{messages}, {output.number_of(known.events, 'event')}"),
        ("goes on", forked),
    ]


def _page(page: Page, what: str, zone: tzinfo) -> Iterator[str]:
    thoughts = list(page.thoughts)
    day = ""
    for event in page.events:
        if (date := output.date(event.timestamp, zone)[:10]) != day:
            day = date
            yield f"── {day}"
        while thoughts and thoughts[0].at <= event.timestamp:
            yield from _thought(thoughts.pop(0), zone)
        yield from event_lines(event, " ", zone)
    if not page.events:
        yield (
            f"There are {page.total:,} {what}, no more."
            if page.total
            else (f"No {what} are kept.")
        )
    else:
        yield from _more(page.offset, len(page.events), page.total, what)


def _thought(thought: Thought, zone: tzinfo) -> Iterator[str]:
    text = " ".join(thought.text.split())
    if len(text) > THOUGHT_CHARS:
        text = f"{text[:THOUGHT_CHARS]}…"
    yield f"~ {output.clock(thought.at, zone)} {'thought':<9} {text}"
