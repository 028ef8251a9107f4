"""``sessions`` and ``session``: which there are, and what was said in one."""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import tzinfo

from memtui.agents import formatting, replies
from memtui.agents.replies import Plain, Reply
from memtui.cli import ask, output
from memtui.cli.show import event_lines
from memtui.model.events import Thought
from memtui.model.scope import Scope
from memtui.model.sessions import Session
from memtui.search import resolve_filters
from memtui.services import sessions
from memtui.services.sessions import Facts, Listed, Page
from memtui.text import date_format
from memtui.text.fencing import line as neutral
from memtui.workspace import Workspace

TITLE_CHARS = 60
"""How much of a title stands in a list, in characters."""


THOUGHT_CHARS = 1000
"""How much of one thought is printed, in characters."""


ABOUT_CHARS = 200
"""How much of each line on a session programs are told, in characters."""


def show_all(house: Workspace, given: argparse.Namespace) -> int:
    """Print a page of the sessions."""
    of, span = Scope(given.agent, given.project), _span(given)

    def reply() -> Reply:
        return house.asking.list_sessions(of=of, **span)

    return ask.answer(house, given, reply, lambda: _listed(of, span, house.zone))


def _span(given: argparse.Namespace) -> dict[str, int]:
    return {"offset": given.offset, "limit": given.limit}


def _listed(of: Scope, span: dict[str, int], zone: tzinfo) -> Iterable[str]:
    found = sessions.listed(agent=of.agent, project=of.project, **span)
    if found.sessions:
        return _list(found, zone)
    if found.total:
        return [f"There are {found.total:,} sessions, no more."]
    return [f"No session is of {of}."]


def _list(found: Listed, zone: tzinfo) -> Iterator[str]:
    for one in found.sessions:
        messages = output.plural(one.message_count, "message")
        about = [
            date_format.moment(one.updated_at, zone),
            one.agent,
            one.project,
            messages,
        ]
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


def show(house: Workspace, given: argparse.Namespace) -> int:
    """Print what is known of a session, and a page of what was said."""
    try:
        named = resolve_filters.find(given.session)
    except resolve_filters.NotOne as error:
        # That there is none, or more than one, is an answer as well.
        said = str(error).splitlines()
        return ask.answer(house, given, lambda: _no_session(said), lambda: said)
    known = sessions.facts(*named)

    def page() -> Iterator[str]:
        yield from _facts(known, house.zone)
        what = "events" if given.all else "messages"
        yield from _page(_said(known, given), what, house.zone)

    return ask.answer(house, given, lambda: _reply(house, known, given), page)


def _no_session(said: list[str]) -> Reply:
    return Reply("messages", (), str, notes=[neutral(line) for line in said])


def _said(known: Facts, given: argparse.Namespace) -> Page:
    return sessions.page(
        known,
        subagent=given.subagent,
        is_all=given.all,
        with_thoughts=given.thoughts,
        **_span(given),
    )


def _reply(house: Workspace, known: Facts, given: argparse.Namespace) -> Reply:
    """What is known of a session before what was said in it."""
    named = f"{known.session.agent}:{known.session.session_id}"
    about = house.asking.get_session_meta(named)
    page = house.asking.list_messages(
        named, subagent=given.subagent, is_all=given.all, **_span(given)
    )
    told = [replies.cut(one["text"], ABOUT_CHARS) for one in about.items]
    helpers = [neutral(helper.name) for helper in known.subagents]
    head = {"session": about.head, "about": told, "subagents": helpers}
    lead = [*about.lead, *(f"- {one}" for one in told)]
    lead += [f"subagents: {', '.join(helpers)}"] if helpers else []
    items = page.items
    if given.thoughts:
        items = _with_thoughts(items, _said(known, given))
    return replace(page, items=items, line=_line, head=head, lead=lead)


def _with_thoughts(items: Sequence[Plain], page: Page) -> list[Plain]:
    """Messages with what was thought before each of them."""
    thoughts, told = list(page.thoughts), []
    for item, event in zip(items, page.events, strict=False):
        before = []
        while thoughts and thoughts[0].at <= event.timestamp:
            said = replies.cut(thoughts.pop(0).text, THOUGHT_CHARS)
            before.append(neutral(said))
        told.append(item | {"thoughts": before} if before else item)
    return told


def _line(told: Plain) -> str:
    thoughts = [f"~ {said}" for said in told.get("thoughts", ())]
    return "\n".join([*thoughts, formatting.dated_event_line(told)])


def _facts(known: Facts, zone: tzinfo) -> Iterator[str]:
    one = known.session
    yield one.title or "(without a title)"
    yield from (f"{name:<10} {said}" for name, said in _rows(known, one, zone) if said)
    for helper in known.subagents:
        said = [helper.kind, helper.task, output.plural(helper.events, "event")]
        told = " · ".join(part for part in said if part)
        by = f" · started by {helper.started_by}" if helper.started_by else ""
        yield f"{'subagent':<10} {helper.name}: {told}{by}"
    for place, line in enumerate(known.summary):
        yield f"{'' if place else 'about':<10} {line}"
    if (more := known.segments - len(known.summary)) > 0 and known.summary:
        yield f"{'':<10} and {output.plural(more, 'segment')} more"
    yield ""


def _rows(known: Facts, one: Session, zone: tzinfo) -> list[tuple[str, str]]:
    forked = ""
    if one.forked_from:
        shared = output.plural(known.shared_messages, "message")
        forked = f"{one.agent}:{one.forked_from}, with which it shares {shared}"
    messages = output.plural(one.message_count, "message")
    return [
        ("session", f"{one.agent}:{one.session_id}"),
        ("project", one.project),
        ("root", one.root),
        ("folder", one.cwd),
        ("branch", one.branch),
        ("model", one.model),
        ("summary", " ".join(one.summary.split())),
        ("made by", one.created_by),
        ("began", date_format.moment(one.created_at, zone)),
        ("last heard", date_format.moment(one.updated_at, zone)),
        ("length", f"{messages}, {output.plural(known.events, 'event')}"),
        ("goes on", forked),
    ]


def _page(page: Page, what: str, zone: tzinfo) -> Iterator[str]:
    thoughts = list(page.thoughts)
    day = ""
    for event in page.events:
        on = date_format.day(event.timestamp.astimezone(zone).date())
        if on != day:
            day = on
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
    yield f"~ {date_format.clock(thought.at, zone)} {'thought':<9} {text}"
