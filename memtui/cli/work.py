"""``import``, ``work`` and ``reindex``: run the pipeline without the app; and
``sources``: list the captured agents, and choose whose transcripts are watched."""

import sys
import threading
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, tzinfo
from pathlib import Path

from memtui.capture import formats
from memtui.capture.ingest import ImportProgress
from memtui.cli import output
from memtui.cli.command import Context, Parser
from memtui.errors import MemtuiError, SourceError, UsageError
from memtui.model.quantities import plural
from memtui.paths import transcript_folders, with_tilde
from memtui.pipeline.progress import PipelineProgress
from memtui.services import status
from memtui.services.capture_sources import CaptureSource, list_sources
from memtui.settings import EVERY
from memtui.text import date_format
from memtui.workspace import Workspace

MAX_UNREAD = 5

MAX_KIND_CHARS = 20
"""The longest file name ending that is shown."""

ShowProgress = Callable[[str, int, int], None]
"""Shows what is being done, how much of it is done, and of how much."""


def add_options(parser: Parser, command: str) -> None:
    if command == "import":
        parser.add_argument(
            "paths",
            nargs="*",
            type=_path,
            metavar="PATH",
            help="transcripts, or folders of them; default: those of every agent found",
        )
    elif command == "work":
        parser.flag("--until-idle", "end when only work for the model is left")
    elif command == "sources":
        parser.add_argument("action", nargs="?", choices=("watch", "unwatch"))
        parser.add_argument(
            "names", nargs="*", metavar="NAME", help="agents as they are listed, or all"
        )


def _path(text: str) -> Path:
    if not text:
        raise ArgumentTypeError("a path is empty")
    return Path(text)


def run(args: Namespace, context: Context) -> int:
    if args.command == "sources":
        return _run_sources(args, context)
    if args.command == "import":
        files, ignored, problems = _find_files(args.paths)
        with context.workspace(create=True) as workspace:
            return _import(args, workspace, files, ignored, problems)
    with context.workspace(create=args.command == "work") as workspace:
        return _work(args, workspace)


def lock(workspace: Workspace) -> None:
    """Take the worker lock, so that no other process works on the store."""
    if not workspace.pipeline.lock.acquire():
        raise MemtuiError(BUSY)


BUSY = (
    "another memtui is running on this store: quit the app, or stop memtui work or"
    " import, and try again"
)


def run_pipeline(
    workspace: Workspace, show: ShowProgress | None = None
) -> list[Exception] | None:
    """Run the pipeline until it is idle.

    Returns:
        The errors of its stages; None if another process runs the pipeline.
    """
    if not workspace.pipeline.lock.acquire():
        return None
    try:
        return workspace.pipeline.run_until_idle(_reporter(show or (lambda *_: None)))
    finally:
        workspace.pipeline.lock.release()


def _reporter(show: ShowProgress) -> Callable[[PipelineProgress], None]:
    most = 1

    def report(progress: PipelineProgress) -> None:
        nonlocal most
        most = max(most, progress.queued)
        idle = "" if progress.queued else "done"
        show(status.ACTIVITIES.get(progress.stage, idle), most - progress.queued, most)

    return report


@contextmanager
def _progress_bar(*, as_json: bool) -> Iterator[ShowProgress]:
    """Show a progress bar, if standard error is a terminal."""
    if as_json or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True)) as bar:
        task = bar.add_task("")

        def show(text: str, done: int, total: int) -> None:
            bar.update(task, description=text, completed=done, total=total)

        yield show


def _find_files(
    paths: Sequence[Path],
) -> tuple[list[Path], list[Path], list[str]]:
    """Return the files at the paths, or of every agent found; and what is wrong.

    The files that nothing is kept of are returned second.

    Raises:
        MemtuiError: There are none at all, or all of them are empty.
    """
    if not paths:
        folders = [path for paths in transcript_folders().values() for path in paths]
        existing = [path for path in folders if path.exists()]
        sorted_files = [formats.sort_files(path) for path in existing]
        if files := [file for to_import, _ in sorted_files for file in to_import]:
            return files, [file for _, others in sorted_files for file in others], []
        raise MemtuiError(
            "no agent's transcripts were found here; name files: memtui import PATH…"
        )
    files_to_read, ignored, problems = list[Path](), list[Path](), list[str]()
    for path in paths:
        try:
            files, others = formats.sort_files(path)
        except SourceError as error:
            problems.append(str(error))
            continue
        files_to_read += files
        ignored += others
        if not files:
            problems.append(f"no conversations were found in {path}")
        elif not any(map(_has_content, files)):
            problems.append(f"there is nothing in {path}")
    if len(problems) == len(paths):
        raise MemtuiError("; ".join(problems))
    return files_to_read, ignored, problems


def _has_content(file: Path) -> bool:
    try:
        return file.stat().st_size > 0
    except OSError:
        return True  # the importer says why it cannot be read


def _import(
    args: Namespace,
    workspace: Workspace,
    files: list[Path],
    ignored: list[Path],
    problems: Sequence[str],
) -> int:
    with _progress_bar(as_json=args.json) as show:
        importer = workspace.pipeline.importer()
        for imported in importer.run(files):
            text = imported.waiting_reason or f"{imported.created:,} events stored"
            show(text, imported.files, len(files))
        errors = run_pipeline(workspace, show)
    imported = importer.progress
    lines = [
        *_import_lines(imported, is_elsewhere=errors is None),
    ]
    if description := formats.describe_ignored(ignored):
        lines.append(f"Kept nothing of {description}.")
    code, problems = int(imported.unreadable > 0), [*problems, *(errors or ())]
    data = {"imported": imported, "ignored": list(map(str, ignored))}
    return output.print_result(args, data, lines, code=code, errors=problems)


def _import_lines(imported: ImportProgress, *, is_elsewhere: bool) -> Iterator[str]:
    yield (
        f"{plural(imported.files - imported.unreadable, 'file')} read"
        f" ({imported.unchanged:,} unchanged since last time):"
        f" {plural(imported.created, 'new event')},"
        f" {imported.already_stored:,} already stored."
    )
    if imported.forgotten:
        events = plural(imported.forgotten, "event")
        yield f"{events} stayed forgotten."
    if imported.unreadable:
        yield f"{plural(imported.unreadable, 'file')} could not be read:"
        yield from (f"    {file}" for file in imported.unreadable_files)
        if (more := imported.unreadable - len(imported.unreadable_files)) > 0:
            yield f"    and {more:,} more"
    if imported.invalid:
        records = plural(imported.invalid, "record")
        yield f"{records} skipped; the reasons: memtui quarantine."
    if imported.unread:
        words = sum(words for _, words in imported.unread.values())
        yield f"{plural(words, 'word')} in records that memtui does not store:"
        unread = sorted(imported.unread.items(), key=lambda pair: -pair[1][1])
        for reason, (count, words) in unread[:MAX_UNREAD]:
            yield f"  {reason}: {plural(words, 'word')} in {plural(count, 'record')}"
        if len(unread) > MAX_UNREAD:
            yield f"  and {plural(len(unread) - MAX_UNREAD, 'more type')}"
    if is_elsewhere:
        yield "Another memtui is running on this store and does the rest."
    elif waiting := status.read_stats().pending:
        yield f"{plural(waiting, 'item')} of work waiting for another try."


def _work(args: Namespace, workspace: Workspace) -> int:
    lock(workspace)
    if args.command == "reindex":
        workspace.pipeline.reindex()
    elif not args.until_idle:
        return _work_forever(workspace)
    with _progress_bar(as_json=args.json) as show:
        errors = run_pipeline(workspace, show) or []
    waiting = 0 if workspace.uses_no_model else status.count_waiting_for_model()
    nodes = plural(waiting, "node")
    note = (
        f"{nodes} waiting for the model: the app, or memtui work without"
        " --until-idle, asks it."
    )
    data, lines = {"waiting_for_model": waiting}, [note] if waiting else []
    return output.print_result(args, data, lines, errors=errors)


def _work_forever(workspace: Workspace) -> int:
    print("memtui is working; stop it with ctrl+c", file=sys.stderr)
    with _progress_bar(as_json=False) as show:
        show_progress = _reporter(show)

        def report(progress: PipelineProgress) -> None:
            show_progress(progress)
            if progress.error:
                print(f"memtui: {progress.error}", file=sys.stderr)

        workspace.start(report)
        threading.Event().wait()
    return 0


def _run_sources(args: Namespace, context: Context) -> int:
    if args.action is None and not context.has_store():
        return _print_sources(args, list_sources(context.settings, has_store=False))
    with context.workspace(create=args.action is not None) as workspace:
        if args.action is None:
            sources = list_sources(workspace.settings)
            return _print_sources(args, sources, workspace.zone)
        return _set_watched(args, workspace, is_watched=args.action == "watch")


def _print_sources(
    args: Namespace, sources: Sequence[CaptureSource], zone: tzinfo = UTC
) -> int:
    lines = (line for source in sources for line in _source_lines(source, zone))
    return output.print_result(args, {"sources": sources}, lines)


def _source_lines(source: CaptureSource, zone: tzinfo) -> Iterator[str]:
    mark = "✓" if source.is_watched else " "
    yield f"{mark} {source.title:<18} {_state(source)}: {source.reason}"
    for place in source.places:
        missing = "" if place.exists() else " (does not exist)"
        yield f"    {with_tilde(place)}{missing}"
    activities = ((source.by_transcript, "transcripts"), (source.by_hook, "hooks"))
    latest = [
        f"from {name} {date_format.moment(activity.last_event_at, zone)}"
        for activity, name in activities
        if activity
    ]
    files = plural(source.files, "transcript")
    events = f"last event {', '.join(latest)}" if latest else "no events yet"
    yield f"    {files} · {events}"
    if source.ignored:
        yield f"    nothing is kept of {source.ignored}"


def _state(source: CaptureSource) -> str:
    return "watched" if source.is_watched else "not watched"


def _set_watched(args: Namespace, workspace: Workspace, *, is_watched: bool) -> int:
    chosen = _parse_names(args.names)
    workspace.set_watched(chosen, watched=is_watched)
    sources = [
        source for source in list_sources(workspace.settings) if source.name in chosen
    ]
    note = _override_note(sources, is_watched)
    lines = [
        f"{source.title}: {_state(source)} ({source.reason})." for source in sources
    ]
    if note:
        lines.append(note)
    elif is_watched:
        lines.append("Existing transcripts are read when memtui runs next.")
    return output.print_result(args, {"sources": sources, "note": note}, lines)


def _parse_names(names: Sequence[str]) -> list[str]:
    with_folder = list(transcript_folders())
    if not names:
        raise UsageError(f"name the agents, or say all: {', '.join(with_folder)}")
    for name in names:
        if name == "aider":
            raise UsageError(
                "Aider's histories are in the folders it works in: name those in the"
                " setting capture.folders"
            )
        if name not in (*with_folder, EVERY):
            raise UsageError(f"no agent is called {name!r}: {', '.join(with_folder)}")
    return with_folder if EVERY in names else list(dict.fromkeys(names))


def _override_note(sources: Sequence[CaptureSource], is_watched: bool) -> str:
    """Return what to say if the settings override the choice, or ""."""
    others = [source.title for source in sources if source.is_watched != is_watched]
    if not others:
        return ""
    return (
        f"Stored, but the settings override it for {', '.join(others)}:"
        " see capture.sources in memtui config show."
    )
