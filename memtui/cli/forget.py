"""``forget`` and ``redact``: delete content and secrets for good."""

from argparse import Namespace
from collections.abc import Iterator
from datetime import tzinfo
from typing import TYPE_CHECKING

from memtui.cli import output, work
from memtui.cli.command import Context, Parser, add_dry_run
from memtui.errors import UsageError
from memtui.model.quantities import plural
from memtui.services import forget
from memtui.services.forget import Forget, ForgetResult
from memtui.services.redact import Redaction, RedactionResult
from memtui.store import tombstones
from memtui.store.tombstones import TombstoneKind
from memtui.text import date_format
from memtui.tools import replies

if TYPE_CHECKING:
    from memtui.workspace import Workspace

TITLE_CHARS = 60
"""The maximum length of a session's title."""


def add_options(parser: Parser, command: str) -> None:
    if command == "redact":
        add_dry_run(parser, with_yes=False)
        return
    parser.add_argument(
        "kind",
        nargs="?",
        choices=[kind.value for kind in tombstones.NAMED],
        help="what to forget",
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="ids or citations (evt:…) of events, [AGENT:]SESSION names, names or"
        " folders of projects, or the date before which everything is forgotten",
    )
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--list", action="store_true", help="list what was forgotten so far"
    )
    instead.add_argument(
        "--undo",
        action="store_true",
        help="allow what was forgotten to be imported again",
    )
    add_dry_run(parser)


def run(args: Namespace, context: Context) -> int:
    with context.workspace() as workspace:
        if args.command == "redact":
            return _redact(args, workspace)
        if args.list:
            return _list_forgotten(args, workspace.zone)
        if not args.kind or not args.names:
            raise UsageError(
                "name what to forget: memtui forget event ID… | session NAME… |"
                " project NAME… | before DATE"
            )
        if args.undo:
            forget.undo(TombstoneKind(args.kind), args.names, workspace.zone)
            done = "memtui import brings it back, if its files still exist."
            data = {"is_done": True, "note": done}
            return output.print_result(args, data, [f"Done: {done}"])
        return _forget(args, workspace)


def _forget(args: Namespace, workspace: "Workspace") -> int:
    kind = TombstoneKind(args.kind)
    service = Forget(workspace.paths, workspace.zone, workspace.now)
    if args.dry_run:
        result, errors = service.preview(kind, args.names), list[Exception]()
    else:
        work.lock(workspace)
        if not args.yes:
            summary = _result_lines(service.preview(kind, args.names), is_done=False)
            if not output.confirm(summary, "Forget it for good?"):
                return 0
        result = service.run(kind, args.names)
        errors = work.run_pipeline(workspace) or []
    lines = _result_lines(result, is_done=not args.dry_run)
    data = output.to_plain(result) | {"is_done": not args.dry_run}
    return output.print_result(args, data, lines, errors=errors)


def _result_lines(result: ForgetResult, *, is_done: bool) -> Iterator[str]:
    if result.had_traces:
        yield "The traces of a deletion that was interrupted are removed, too."
    counts = result.counts
    parts = [
        plural(counts.events, "event"),
        plural(counts.messages, "message") + " among them",
        plural(counts.thoughts, "thought"),
        plural(counts.sessions, "whole session"),
        plural(result.hook_files, "hook file"),
    ]
    yield f"{', '.join(parts)}: {'forgotten' if is_done else 'would be forgotten'}."
    yield (
        f"{plural(result.segments, 'segment')} and"
        f" {plural(result.nodes, 'node')} above them are written again from"
        " what remains, or deleted too."
    )
    for name, count in result.forks:
        yield (
            f"{plural(count, 'event')} of it {'stay' if count > 1 else 'stays'} in"
            f" another session that has the same: memtui forget session {name}"
        )
    if is_done:
        return
    for title, folder in result.titles:
        text = replies.cut(" ".join(title.split()), TITLE_CHARS)
        yield f"  {text}  ({folder})" if folder else f"  {text}"
    if more := result.sessions - len(result.titles):
        yield f"  and {more:,} more"


def _list_forgotten(args: Namespace, zone: tzinfo) -> int:
    forgotten = forget.list_forgotten()
    data = [{"tombstone": tombstone, "at": at} for tombstone, at in forgotten]
    lines = [
        f"{date_format.moment(at, zone):<21}  {item.kind:<8} {item.name(zone)}"
        for item, at in forgotten
    ]
    return output.print_result(args, data, lines or ["Nothing was forgotten."])


def _redact(args: Namespace, workspace: "Workspace") -> int:
    if not args.dry_run:
        work.lock(workspace)
    service = Redaction(
        workspace.paths, workspace.zone, workspace.counter, workspace.now
    )
    result = service.run(is_dry_run=args.dry_run)
    errors = [] if args.dry_run else work.run_pipeline(workspace) or []
    lines = _redaction_lines(result, is_done=not args.dry_run)
    data = output.to_plain(result) | {"is_done": not args.dry_run}
    return output.print_result(args, data, lines, errors=errors)


def _redaction_lines(result: RedactionResult, *, is_done: bool) -> Iterator[str]:
    if not result.kinds:
        yield "No secret was found."
    else:
        yield from _removed_lines(result, is_done=is_done)
    if result.names:
        names = ", ".join(plural(n, kind) for kind, n in sorted(result.names.items()))
        yield (
            f"A secret stays in the names of {names}: rename the files and import them"
            " again, and forget the sessions."
        )


def _removed_lines(result: RedactionResult, *, is_done: bool) -> Iterator[str]:
    total = plural(sum(result.kinds.values()), "secret")
    places = (
        (result.events, "event", ""),
        (result.thoughts, "thought", ""),
        (result.titles, "title", ""),
        (result.states, "reading state", ""),
        (result.hook_files, "hook file", ""),
    )
    found_in = ", ".join(plural(*place) for place in places if place[0])
    yield f"{total} {'removed' if is_done else 'would be removed'} from {found_in}:"
    for kind, count in sorted(
        result.kinds.items(), key=lambda item: (-item[1], item[0])
    ):
        yield f"{count:>8,}  {kind}"
