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
    QuarantineContent,
    QuarantineEntry,
    QuarantinePage,
)
from memtui.text import date_format

if TYPE_CHECKING:
    from memtui.workspace import Workspace


def add_options(parser: Parser, command: str) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        default="list",
        choices=ACTIONS,
        help="list the entries (the default); show their content; retry to store it;"
        " drop it for good",
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="entries, as they are listed"
    )
    parser.flag("--all", "retry or drop all")
    add_dry_run(parser)
    add_paging(parser, "entries")


def run(args: Namespace, context: Context) -> int:
    _check(args)
    # Hooks may have left something before there is a store.
    with context.workspace(create=context.paths.spool.exists()) as workspace:
        return ACTIONS[args.action](args, workspace)


def _check(args: Namespace) -> None:
    """Raise UsageError if an action is not given the names that it takes."""
    action, names = args.action, args.names
    if action == "list":
        if names:
            raise UsageError(
                "list takes no names; to print some entries:"
                " memtui quarantine show NAME…"
            )
    elif names and args.all:
        raise UsageError(f"{action} takes names or --all, not both")
    elif not names and (action == "show" or not args.all):
        every = "" if action == "show" else ", or --all"
        raise UsageError(
            f"name the entries: memtui quarantine {action} NAME…{every};"
            " memtui quarantine list prints their names"
        )


def _list(args: Namespace, workspace: "Workspace") -> int:
    page = workspace.quarantine.page(args.offset, args.limit)
    return output.print_result(args, page, _page_lines(page, workspace.zone))


def _page_lines(page: QuarantinePage, zone: tzinfo) -> Iterator[str]:
    if not page.total:
        yield "Empty: no input was skipped."
    elif not page.entries:
        yield f"There are only {page.total:,} entries."
    for entry in page.entries:
        yield from _entry_lines(entry, zone, "    ")
    last = page.offset + len(page.entries)
    if len(page.entries) < page.total:
        more = f"; more: --offset {last}" if last < page.total else ""
        yield ""
        yield f"{page.offset + 1:,} to {last:,} of {page.total:,} entries{more}"


def _entry_lines(entry: QuarantineEntry, zone: tzinfo, indent: str) -> Iterator[str]:
    yield entry.name
    when, amount = date_format.moment(entry.at, zone), plural(entry.count, "record")
    yield f"{indent}{when} · {amount}"
    yield f"{indent}{entry.place}"
    yield f"{indent}{entry.reason}"


def _show(args: Namespace, workspace: "Workspace") -> int:
    contents = [workspace.quarantine.show(name) for name in args.names]
    return output.print_result(args, contents, _shown_lines(contents, workspace.zone))


def _shown_lines(contents: Sequence[QuarantineContent], zone: tzinfo) -> Iterator[str]:
    for number, content in enumerate(contents):
        if number:
            yield ""
        yield from _entry_lines(content.entry, zone, "")
        yield ""
        yield content.text or content.note


def _retry(args: Namespace, workspace: "Workspace") -> int:
    if args.dry_run:
        count = workspace.quarantine.count(args.names or None)
        lines = [f"{plural(count, 'entry', 'entries')} would be retried."]
        return output.print_result(args, {"count": count, "is_done": False}, lines)
    result = workspace.retry_skipped(args.names or None)
    errors = work.run_pipeline(workspace)
    skipped = workspace.quarantine.find(result.names)
    lines = [f"{plural(len(result.names), 'entry', 'entries')} retried."]
    if errors is None:
        lines.append("The memtui that is running stores what hooks have written.")
    if skipped:
        lines.append(f"{plural(len(skipped), 'entry', 'entries')} skipped again:")
    for entry in skipped:
        lines += [f"    {entry.name}", f"        {entry.place}: {entry.reason}"]
    lines += [f"error: {problem}" for problem in result.problems]
    data = {
        "retried": result.names,
        "skipped_again": skipped,
        "problems": result.problems,
    }
    code = 1 if skipped or result.problems else 0
    return output.print_result(args, data, lines, code=code, errors=errors or ())


def _drop(args: Namespace, workspace: "Workspace") -> int:
    names = args.names or None
    count = workspace.quarantine.count(names)
    entries = plural(count, "entry", "entries")
    lines = [f"{entries} would be dropped; transcripts are not changed."]
    if args.dry_run:
        return output.print_result(args, {"count": count, "is_done": False}, lines)
    if not args.yes and not output.confirm(lines, "Drop it for good?"):
        return 0
    dropped = workspace.quarantine.drop(names)
    lines = [f"{plural(dropped.count, 'entry', 'entries')} dropped."]
    lines += [f"error: {problem}" for problem in dropped.problems]
    data = output.to_plain(dropped) | {"is_done": True}
    code = 1 if dropped.problems else 0
    return output.print_result(args, data, lines, code=code)


ACTIONS = {"list": _list, "show": _show, "retry": _retry, "drop": _drop}
