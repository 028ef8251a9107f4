"""``backup``, ``restore`` and ``export``: the store as one file."""

import os
import shlex
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, tzinfo
from pathlib import Path

from memtui import workspace
from memtui.cli import output, work
from memtui.cli.command import Context, Parser, add_dry_run
from memtui.errors import MemtuiError, StoreError
from memtui.model.quantities import plural
from memtui.paths import Paths
from memtui.pipeline.worker import WorkerLock
from memtui.redaction import RULES_VERSION
from memtui.services import export
from memtui.store import backup, database
from memtui.store.backup import StoreInfo
from memtui.text import date_format

STANDARD_OUTPUT = Path("-")


def add_options(parser: Parser, command: str) -> None:
    if command == "export":
        parser.add_argument(
            "--events",
            nargs="?",
            type=Path,
            const=STANDARD_OUTPUT,
            required=True,
            metavar="FILE",
            help="every event, session, subagent and thought; - or nothing: standard"
            " output",
        )
    else:
        parser.add_argument("file", type=Path, metavar="FILE")
    if command == "restore":
        add_dry_run(parser)
    else:
        parser.flag("--force", "overwrite an existing file")


def run(args: Namespace, context: Context) -> int:
    if args.command == "restore":
        return _restore(args, context)
    with context.workspace():
        if args.command == "backup":
            return _backup(args)
        if args.events == STANDARD_OUTPUT:
            export.write_events(sys.stdout)
            return 0
        return _export(args)


def _backup(args: Namespace) -> int:
    info = backup.create(args.file, may_replace=args.force)
    size = args.file.stat().st_size
    data = {**_file_data(args.file, info), "bytes": size}
    line = f"Copied to {args.file}: {_describe(info)}, {size / 1e6:,.1f} MB."
    return output.print_result(args, data, [line])


def _export(args: Namespace) -> int:
    counts = export.export_events(args.events, may_replace=args.force)
    size = args.events.stat().st_size
    data = {"file": args.events.absolute(), "bytes": size, "records": counts}
    records = ", ".join(plural(n, name) for name, n in counts.items())
    line = f"Written to {args.events}: {records or 'nothing'}, {size / 1e6:,.1f} MB."
    return output.print_result(args, data, [line])


def _describe(info: StoreInfo) -> str:
    parts = f"{plural(info.events, 'event')} in {plural(info.sessions, 'session')}"
    if not info.last_at:
        return parts
    return f"{parts}, the last of {date_format.moment(info.last_at, UTC)} UTC"


def _file_data(file: Path, info: StoreInfo) -> dict[str, object]:
    return {
        "file": file.absolute(),
        "sessions": info.sessions,
        "events": info.events,
        "last_at": info.last_at,
    }


def _restore(args: Namespace, context: Context) -> int:
    os.umask(0o077)
    _, paths = workspace.resolve_paths(context.paths, context.settings)
    if args.dry_run:
        backup.check(args.file)
        info = backup.read_info(args.file)
        data = _file_data(args.file, info) | {"is_done": False}
        lines = _comparison(args.file, info, *_read_store(paths.store))
        return output.print_result(args, data, lines)
    with _worker_lock(paths):
        info = backup.read_info(args.file)
        before, damage = _read_store(paths.store)
        if not args.yes and (damage or (before and before.events)):
            lines = _comparison(args.file, info, before, damage)
            note = "All of it is replaced; memtui backup copies it first."
            if not output.confirm([*lines, note], "Replace it?"):
                return 0
        draft = backup.prepare_restore(args.file, paths.store)
        backup.restore(draft, paths.store)
    with context.workspace(create=True) as opened:
        errors = work.run_pipeline(opened) or []
        commands = _cleanup_commands(info, before, opened.zone)
    data = _file_data(args.file, info) | {"is_done": True, "to_do": commands}
    lines = [f"Restored from {args.file}: {_describe(info)}."]
    if commands:
        lines.append("To delete again what the backup brought back:")
    lines += [f"    {command}" for command in commands]
    return output.print_result(args, data, lines, errors=errors)


def _read_store(file: Path) -> tuple[StoreInfo | None, str]:
    """Return what is in the store, if there is one, and why it cannot be read."""
    try:
        return (backup.read_info(file) if file.exists() else None), ""
    except StoreError as error:
        return None, str(error)


def _comparison(
    file: Path, info: StoreInfo, before: StoreInfo | None, damage: str
) -> list[str]:
    lines = [f"{file}: {_describe(info)}."]
    if damage:
        lines.append(f"The store now cannot be read: {damage}.")
    elif before:
        lines.append(f"The store now: {_describe(before)}.")
    return lines


def _cleanup_commands(
    info: StoreInfo, before: StoreInfo | None, zone: tzinfo
) -> list[str]:
    """Return the commands that delete forgotten data that the backup restored."""
    back = before.forgotten - info.forgotten if before else ()
    names = [(tombstone.kind, shlex.quote(tombstone.name(zone))) for tombstone in back]
    commands = [f"memtui forget {kind} {name}" for kind, name in sorted(names)]
    if info.redaction_version < RULES_VERSION:
        commands.append("memtui redact")
    return commands


@contextmanager
def _worker_lock(paths: Paths) -> Iterator[None]:
    """Keep other processes from the store, and delete drafts at the end."""
    with database.translate_file_errors(paths.store):
        paths.make_folders()
    lock = WorkerLock(paths.worker_lock)
    if not lock.acquire():
        raise MemtuiError(work.BUSY)
    try:
        yield
    finally:
        backup.discard_restore(paths.store)
        lock.release()
