"""``quarantine``: what could not be taken, to look at, to try again, or to drop."""

import argparse
from collections.abc import Iterator, Sequence
from datetime import tzinfo

from memtui.cli import output, work
from memtui.errors import UsageError
from memtui.services.quarantine import (
    DropResult,
    EntryKind,
    QuarantineContent,
    QuarantineEntry,
    QuarantinePage,
    RetryOutcome,
    RetryResult,
    RetryState,
)
from memtui.text import date_format
from memtui.workspace import Workspace

MOST_REASONS = 3
"""How many reasons of one file stand in the list."""

_KB = 1000


def run(house: Workspace, given: argparse.Namespace) -> int:
    """Do what was asked for."""
    action, *names = given.words or ["list"]
    if action == "list" and not names:
        return show_all(house, given.offset, given.limit, as_json=given.json)
    if action == "show" and names:
        return show(house, names, as_json=given.json)
    if action == "retry" and bool(names) != given.all:
        return retry(house, names or None, as_json=given.json)
    if action == "drop" and bool(names) != given.all:
        return drop(house, names or None, given)
    if action == "list":
        raise UsageError(
            "list takes no names: memtui quarantine list names all there is, and"
            " memtui quarantine show NAME… shows some of it"
        )
    if action in ("show", "retry", "drop") and not (names and given.all):
        every = "" if action == "show" else ", or --all"
        raise UsageError(
            f"say what to {action}: memtui quarantine {action} NAME…{every};"
            " memtui quarantine list names all there is"
        )
    raise UsageError(
        "say what to do: memtui quarantine list | show NAME… | retry NAME…|--all |"
        " drop NAME…|--all"
    )


def show_all(house: Workspace, offset: int, limit: int, *, as_json: bool) -> int:
    """Print a page of what could not be taken."""
    page = house.quarantine.page(offset, limit)
    if as_json:
        output.as_json(page)
    elif page.entries:
        output.print_lines(_list(page, house.zone))
    elif page.total:
        output.print_lines([f"There are {page.total:,} entries, no more."])
    else:
        output.print_lines(["Nothing lies here: all that came could be taken."])
    return 0


def _list(page: QuarantinePage, zone: tzinfo) -> Iterator[str]:
    for entry in page.entries:
        yield entry.name
        yield f"    {_about(entry, zone)}"
        if entry.file:
            yield f"    {_place(entry)}"
        yield from (f"    {reason}" for reason in entry.reasons[:MOST_REASONS])
        if (more := len(entry.reasons) - MOST_REASONS) > 0:
            yield f"    and {output.plural(more, 'more reason')}"
    last = page.offset + len(page.entries)
    if page.offset or last < page.total:
        ahead = f"; more: --offset {last}" if last < page.total else ""
        yield ""
        yield f"{page.offset + 1:,} to {last:,} of {page.total:,} entries{ahead}"


def _about(entry: QuarantineEntry, zone: tzinfo) -> str:
    how_much = _size(entry.size)
    if entry.kind is EntryKind.TRANSCRIPT:
        how_much = output.plural(entry.count, "record")
    agent = entry.agent or "agent not named"
    said = [date_format.moment(entry.at, zone), agent, entry.event, how_much]
    return " · ".join(part for part in said if part)


def _place(entry: QuarantineEntry) -> str:
    return f"{entry.file}:{entry.line}" if entry.line else entry.file


def _size(size: int) -> str:
    if size < _KB:
        return output.plural(size, "byte")
    if size < _KB * _KB:
        return f"{size / _KB:,.1f} kB"
    return f"{size / _KB / _KB:,.1f} MB"


def show(house: Workspace, names: Sequence[str], *, as_json: bool) -> int:
    """Print what was named with all it says, without its secrets."""
    shown = [house.quarantine.show(name) for name in names]
    if as_json:
        output.as_json(shown)
        return 0
    for place, one in enumerate(shown):
        output.print_lines([""] * bool(place))
        output.print_lines(_whole(one, house.zone))
    return 0


def _whole(shown: QuarantineContent, zone: tzinfo) -> Iterator[str]:
    entry = shown.entry
    yield entry.name
    yield _about(entry, zone)
    if entry.file:
        latest = "the latest of them on " if entry.count > 1 and entry.line else ""
        yield f"{latest}{_place(entry)}"
    yield from entry.reasons
    yield ""
    yield shown.text or shown.note


def retry(house: Workspace, names: Sequence[str] | None, *, as_json: bool) -> int:
    """Try again what was named, and say what became of it."""
    tried = house.quarantine.retry(names)
    for _ in house.pipeline.importer().run(tried.files):
        pass
    errors = _digest(house)
    outcomes = house.quarantine.outcomes(tried.names)
    if as_json:
        said = {"outcomes": outcomes, "problems": tried.problems}
        output.as_json({**said, "errors": [str(error) for error in errors or ()]})
    else:
        output.print_lines(_became(tried, outcomes, is_ours=errors is not None))
        output.print_lines(f"error: {error}" for error in errors or ())
    is_well = not tried.problems and not errors
    refused = any(one.state is RetryState.REFUSED for one in outcomes)
    return 0 if is_well and not refused else 1


def _digest(house: Workspace) -> list[Exception] | None:
    """Take what waits; None if another memtui does it."""
    if not house.pipeline.claim.acquire():
        return None
    return work.digest(house)


def _became(
    tried: RetryResult, outcomes: Sequence[RetryOutcome], *, is_ours: bool
) -> Iterator[str]:
    if not outcomes and not tried.problems:
        yield "Nothing lies here: there was nothing to try again."
    said = {became: [o for o in outcomes if o.state is became] for became in RetryState}
    if taken := said[RetryState.TAKEN]:
        yield f"{output.plural(len(taken), 'entry', 'entries')} taken."
    if waiting := said[RetryState.WAITING]:
        number = output.plural(len(waiting), "file")
        them = "it" if len(waiting) == 1 else "them"
        why = f"the memtui that works this store takes {them} next"
        yield f"{number} put back: {why if not is_ours else 'for another memory'}."
    if refused := said[RetryState.REFUSED]:
        number = output.plural(len(refused), "entry", "entries")
        yield f"{number} refused again:"
    for one in refused:
        yield f"    {one.name}"
        yield from (f"        {reason}" for reason in one.reasons[:MOST_REASONS])
    yield from (f"error: {why}" for why in tried.problems)


def drop(
    house: Workspace, names: Sequence[str] | None, given: argparse.Namespace
) -> int:
    """Drop what was named, once that is agreed to."""
    meant = house.quarantine.count(names)
    if not meant.files and not meant.notes:
        _say(meant, "dropped", as_json=given.json)
        return 0
    if given.dry_run:
        _say(meant, "would be dropped", as_json=given.json)
        return 0
    if not given.yes:
        asked = output.may(_told(meant, "would be dropped"), "Drop it for good?")
        if asked is not None:
            return asked
    dropped = house.quarantine.drop(names)
    if house.pipeline.claim.acquire():
        house.pipeline.recount()
        house.pipeline.claim.release()
    _say(dropped, "dropped", as_json=given.json)
    return 1 if dropped.problems else 0


def _say(dropped: DropResult, done: str, *, as_json: bool) -> None:
    if as_json:
        said: dict[str, object] = output.to_plain(dropped)
        output.as_json({**said, "is_done": done == "dropped"})
    else:
        output.print_lines(_told(dropped, done))


def _told(dropped: DropResult, done: str) -> Iterator[str]:
    if not dropped.files and not dropped.notes and not dropped.problems:
        yield "Nothing lies here: there was nothing to drop."
    if dropped.files:
        yield f"{output.plural(dropped.files, 'hook file')} {done}."
    if dropped.notes:
        notes = output.plural(dropped.notes, "note")
        yield f"{notes} on transcripts {done}; the transcripts stay as they are."
    yield from (f"error: {why}" for why in dropped.problems)
