"""``forget`` and ``redact``: what a person takes out of the memory."""

import argparse
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, tzinfo

from memtui.cli import output
from memtui.cli import work as cli_work
from memtui.errors import MemtuiError, UsageError
from memtui.services import forget as services_forget
from memtui.services.forget import Forget, ForgetResult, TraceFiles
from memtui.services.redact import Redaction, RedactionResult
from memtui.store import cursors, database, tombstones
from memtui.store.tombstones import Tombstone, TombstoneKind
from memtui.text import date_format, vocabulary
from memtui.workspace import Workspace

BUSY = (
    "another memtui works this store: quit the app, or end memtui work or import, and"
    " run this again"
)

TITLE_CHARS = 60
"""How much of a title is shown of what is to go."""


def run(house: Workspace, given: argparse.Namespace) -> int:
    """Run one of the commands that change what is kept."""
    if given.command == "redact":
        return redact(house, is_dry_run=given.dry_run, as_json=given.json)
    if given.list:
        return forgotten(house, as_json=given.json)
    if not given.kind or not given.subjects:
        raise UsageError(
            "name what to forget: memtui forget event ID… | session NAME… |"
            " project NAME… | before DATE"
        )
    if given.undo:
        return remember(house, given.kind, given.subjects)
    return forget(
        house,
        given.kind,
        given.subjects,
        is_dry_run=given.dry_run,
        is_agreed=given.yes,
        as_json=given.json,
    )


def forget(
    house: Workspace,
    kind: str,
    words: Sequence[str],
    *,
    is_dry_run: bool,
    is_agreed: bool,
    as_json: bool,
) -> int:
    """Forget events, sessions, projects, or all before a date."""
    what = TombstoneKind(kind)
    work = Forget(places_of(house), house.paths.spool, house.zone, _now)
    if not is_dry_run:
        claim(house)
    if is_dry_run or not is_agreed:
        found = work.preview(what, words)
        if is_dry_run:
            _say(found, "would be forgotten", as_json=as_json)
            return 0
        told = [*_told(found, "would be forgotten"), *_titles(found)]
        refused = output.may(told, "Forget it for good?")
        if refused is not None:
            return refused
    found = work.run(what, words)
    errors = cli_work.digest(house) or []
    _say(found, "forgotten", as_json=as_json, errors=errors)
    return 1 if errors else 0


def remember(house: Workspace, kind: str, words: Sequence[str]) -> int:
    """Let what was forgotten be imported again."""
    with database.transaction():
        stones = services_forget.resolve_forgotten(
            TombstoneKind(kind), words, house.zone
        )
        for stone in stones:
            if not tombstones.remove(stone):
                raise MemtuiError(f"{stone.subject or words[0]} was not forgotten")
        tombstones.remove_pending(stones)
        cursors.delete_all()
    output.print_lines(
        ["Noted: memtui import brings it back, where its files still lie."]
    )
    return 0


def claim(house: Workspace) -> None:
    """Take the right to work the store.

    Raises:
        MemtuiError: Another memtui has it.
    """
    if not house.pipeline.claim.acquire():
        raise MemtuiError(BUSY)


def places_of(house: Workspace) -> TraceFiles:
    """Where this house leaves traces."""
    return TraceFiles(house.paths.index, house.paths.message_index, house.paths.log)


def redact(house: Workspace, *, is_dry_run: bool, as_json: bool) -> int:
    """Take the secrets out of what is kept."""
    if not is_dry_run:
        claim(house)
    counter = vocabulary.load_counter(house.paths.vocabulary)
    work = Redaction(places_of(house), house.paths.spool, house.zone, counter, _now)
    found = work.run(is_dry_run=is_dry_run)
    errors = [] if is_dry_run else cli_work.digest(house) or []
    if as_json:
        said = output.to_plain(found)
        told = {"is_done": not is_dry_run, "errors": [str(error) for error in errors]}
        output.as_json(said | told)
    else:
        done = "would be taken out" if is_dry_run else "taken out"
        output.print_lines([*_secrets(found, done), *(f"error: {e}" for e in errors)])
    return 1 if errors else 0


def _secrets(found: RedactionResult, done: str) -> list[str]:
    if found.forgotten:
        gone = output.plural(found.forgotten, "event")
        left = [f"A forgetting that was broken off is done now: {gone} forgotten."]
    else:
        left = []
    if not found.kinds:
        return [*left, "No secret was found."]
    total = output.plural(sum(found.kinds.values()), "secret")
    places = (
        (found.events, "event", ""),
        (found.thoughts, "thought", ""),
        (found.titles, "title", ""),
        (found.states, "note on files read", "notes on files read"),
        (found.hook_files, "hook file", ""),
    )
    held = ", ".join(output.plural(*place) for place in places if place[0])
    kinds = sorted(found.kinds.items(), key=lambda item: (-item[1], item[0]))
    return [*left, f"{total} {done} of {held}:"] + [
        f"{n:>8,}  {kind}" for kind, n in kinds
    ]


def _now() -> datetime:
    return datetime.now(UTC)


def _say(
    found: ForgetResult, done: str, *, as_json: bool, errors: Sequence[Exception] = ()
) -> None:
    if as_json:
        said = output.to_plain(found)
        said["is_done"] = done == "forgotten"
        said["errors"] = [str(error) for error in errors]
        output.as_json(said)
    else:
        named = [] if done == "forgotten" else _titles(found)
        told = [*_told(found, done), *named]
        output.print_lines([*told, *(f"error: {error}" for error in errors)])


def _told(found: ForgetResult, done: str) -> list[str]:
    counts = found.counts
    parts = [
        output.plural(counts.events, "event"),
        output.plural(counts.messages, "message") + " among them",
        output.plural(counts.thoughts, "thought"),
        output.plural(counts.sessions, "whole session"),
        output.plural(found.hook_files, "hook file"),
    ]
    again = (
        f"{output.plural(found.segments, 'segment')} and"
        f" {output.plural(found.nodes, 'node')} above them are made anew from what"
        " remains, or go with it."
    )
    return [f"{', '.join(parts)}: {done}.", again]


def _titles(found: ForgetResult) -> Iterator[str]:
    """What the sessions are called that go, or of which something goes."""
    for title, folder in found.titles:
        said = " ".join(title.split())
        short = said if len(said) <= TITLE_CHARS else f"{said[: TITLE_CHARS - 1]}…"
        yield f"  {short}  ({folder})" if folder else f"  {short}"
    if rest := found.sessions - len(found.titles):
        yield f"  and {rest:,} more"


def forgotten(house: Workspace, *, as_json: bool) -> int:
    """List what was forgotten and does not come back."""
    with database.connection():
        stones = tombstones.list_all()
    if as_json:
        output.as_json([{"stone": stone, "at": at} for stone, at in stones])
        return 0
    if not stones:
        output.print_lines(["Nothing was forgotten."])
    output.print_lines(
        f"{date_format.moment(at, house.zone):<21}  {stone.kind:<8}"
        f" {named(stone, house.zone)}"
        for stone, at in stones
    )
    return 0


def named(stone: Tombstone, zone: tzinfo) -> str:
    """What was forgotten, as a person names it."""
    if stone.kind is TombstoneKind.BEFORE:
        return f"{datetime.fromtimestamp(stone.at_ms / 1000, zone):%Y-%m-%d}"
    return f"{stone.agent}:{stone.subject}" if stone.agent else stone.subject
