"""``quarantine``: list, show, retry and drop input that was skipped."""

from argparse import Namespace
from collections.abc import Iterator, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING

from memtui.cli import output, work
from memtui.cli.command import Context, Parser, add_dry_run, add_paging
from memtui.errors import UsageError
from memtui.model.quantities import plural
from memtui.services.quarantine import (
    DropResult,
    QuarantineContent,
    QuarantinePage,
    RetryOutcome,
    RetryResult,
    RetryState,
)
from memtui.text import date_format

if TYPE_CHECKING:
    from memtui.workspace import Workspace

MAX_REASONS = 3


def add_options(parser: Parser, command: str) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        default="list",
        choices=("list", "show", "retry", "drop"),
        help="list the entries (the default); show their content; retry to store it;"
        " drop it for good",
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="entries, as they are listed"
    )
    parser.add_argument("--all", action="store_true", help="retry or drop all")
    add_dry_run(parser)
    add_paging(parser, "entries")


def run(args: Namespace, context: Context) -> int:
    # Hooks may have left something before there is a store.
    with context.workspace(create=context.paths.spool.exists()) as workspace:
        action, names = args.action, args.names
        if action == "list" and not names:
            return _list_entries(args, workspace)
        if action == "show" and names:
            return _show(args, workspace, names)
        if action == "retry" and bool(names) != args.all:
            return _retry(args, workspace, names or None)
        if action == "drop" and bool(names) != args.all:
            return _drop(args, workspace, names or None)
    if action == "list":
        raise UsageError(
            "list takes no names; to print some entries: memtui quarantine show NAME…"
        )
    if names:
        raise UsageError(f"{action} takes names or --all, not both")
    every = "" if action == "show" else ", or --all"
    raise UsageError(
        f"name the entries: memtui quarantine {action} NAME…{every};"
        " memtui quarantine list prints their names"
    )


def _list_entries(args: Namespace, workspace: "Workspace") -> int:
    page = workspace.quarantine.page(args.offset, args.limit)
    return output.print_result(args, page, _page_lines(page, workspace.zone))


def _page_lines(page: QuarantinePage, zone: tzinfo) -> Iterator[str]:
    if not page.total:
        yield "Empty: no input was skipped."
    elif not page.entries:
        yield f"There are only {page.total:,} entries."
    for entry in page.entries:
        yield entry.name
        yield f"    {entry.describe(date_format.moment(entry.at, zone))}"
        if entry.file:
            yield f"    {entry.place}"
        yield from (f"    {reason}" for reason in entry.reasons[:MAX_REASONS])
        if (more := len(entry.reasons) - MAX_REASONS) > 0:
            yield f"    and {plural(more, 'more reason')}"
    last = page.offset + len(page.entries)
    if len(page.entries) < page.total:
        rest = f"; more: --offset {last}" if last < page.total else ""
        yield ""
        yield f"{page.offset + 1:,} to {last:,} of {page.total:,} entries{rest}"


def _show(args: Namespace, workspace: "Workspace", names: Sequence[str]) -> int:
    contents = [workspace.quarantine.show(name) for name in names]
    lines: list[str] = []
    for content in contents:
        lines += [""] if lines else []
        lines += _content_lines(content, workspace.zone)
    return output.print_result(args, contents, lines)


def _content_lines(content: QuarantineContent, zone: tzinfo) -> Iterator[str]:
    entry = content.entry
    yield entry.name
    yield entry.describe(date_format.moment(entry.at, zone))
    if entry.file:
        latest = "the latest on " if entry.count > 1 and entry.line else ""
        yield f"{latest}{entry.place}"
    yield from entry.reasons
    yield ""
    yield content.text or content.note


def _retry(args: Namespace, workspace: "Workspace", names: Sequence[str] | None) -> int:
    result = workspace.quarantine.retry(names)
    for _ in workspace.pipeline.importer().run(result.files):
        pass
    errors = work.run_pipeline(workspace)
    outcomes = workspace.quarantine.outcomes(result.names)
    is_refused = any(one.state is RetryState.REFUSED for one in outcomes)
    data = {"outcomes": outcomes, "problems": result.problems}
    lines = _retry_lines(result, outcomes, has_worker=errors is None)
    code = 1 if result.problems or is_refused else 0
    return output.print_result(args, data, lines, code=code, errors=errors or ())


def _retry_lines(
    result: RetryResult, outcomes: Sequence[RetryOutcome], *, has_worker: bool
) -> Iterator[str]:
    if not outcomes and not result.problems:
        yield "Empty: there is nothing to retry."
    by_state = {
        state: [one for one in outcomes if one.state is state] for state in RetryState
    }
    if taken := by_state[RetryState.TAKEN]:
        yield f"{plural(len(taken), 'entry', 'entries')} stored."
    if waiting := by_state[RetryState.WAITING]:
        files = plural(len(waiting), "file")
        where = "the memtui that is running" if has_worker else "another store"
        yield f"{files} put back for {where}."
    if refused := by_state[RetryState.REFUSED]:
        entries = plural(len(refused), "entry", "entries")
        yield f"{entries} skipped again:"
    for one in refused:
        yield f"    {one.name}"
        yield from (f"        {reason}" for reason in one.reasons[:MAX_REASONS])
    yield from (f"error: {problem}" for problem in result.problems)


def _drop(args: Namespace, workspace: "Workspace", names: Sequence[str] | None) -> int:
    preview = workspace.quarantine.count(names)
    is_nothing = not preview.files and not preview.notes
    if is_nothing or args.dry_run:
        return _print_dropped(args, preview, is_done=is_nothing)
    if not args.yes:
        lines = _drop_lines(preview, is_done=False)
        if not output.confirm(lines, "Drop it for good?"):
            return 0
    dropped = workspace.quarantine.drop(names)
    if workspace.pipeline.lock.acquire():
        workspace.pipeline.recount_skipped()
        workspace.pipeline.lock.release()
    return _print_dropped(args, dropped, is_done=True)


def _print_dropped(args: Namespace, dropped: DropResult, *, is_done: bool) -> int:
    code = 1 if dropped.problems else 0
    data = output.to_plain(dropped) | {"is_done": is_done}
    lines = _drop_lines(dropped, is_done=is_done)
    return output.print_result(args, data, lines, code=code)


def _drop_lines(dropped: DropResult, *, is_done: bool) -> Iterator[str]:
    done = "dropped" if is_done else "would be dropped"
    if not dropped.files and not dropped.notes and not dropped.problems:
        yield "Empty: there is nothing to drop."
    if dropped.files:
        yield f"{plural(dropped.files, 'hook file')} {done}."
    if dropped.notes:
        notes = plural(dropped.notes, "note")
        yield f"{notes} on transcripts {done}; the transcripts are not changed."
    yield from (f"error: {problem}" for problem in dropped.problems)
