"""``sources``: list the captured agents, and choose whose transcripts are watched."""

from argparse import Namespace
from collections.abc import Iterator, Sequence
from datetime import tzinfo

from memtui.cli import output
from memtui.cli.command import Context, Parser
from memtui.errors import UsageError
from memtui.model.quantities import plural
from memtui.paths import transcript_folders, with_tilde
from memtui.services.capture_sources import CaptureSource, list_sources
from memtui.settings import EVERY
from memtui.text import date_format
from memtui.workspace import Workspace


def add_options(parser: Parser, command: str) -> None:
    parser.add_argument("action", nargs="?", choices=("watch", "unwatch"))
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="agents as they are listed, or all"
    )


def run(args: Namespace, context: Context) -> int:
    is_change = args.action is not None
    with context.workspace(create=is_change, or_empty=True) as workspace:
        if not is_change:
            sources = list_sources(workspace.settings)
            lines = (x for one in sources for x in _source_lines(one, workspace.zone))
            return output.print_result(args, {"sources": sources}, lines)
        return _set_watched(args, workspace, is_watched=args.action == "watch")


def _source_lines(one: CaptureSource, zone: tzinfo) -> Iterator[str]:
    mark = "✓" if one.is_watched else " "
    yield f"{mark} {one.title:<18} {_state(one)}: {one.reason}"
    for place in one.places:
        missing = "" if place.exists() else " (does not exist)"
        yield f"    {with_tilde(place)}{missing}"
    activity = ((one.by_transcript, "transcripts"), (one.by_hook, "hooks"))
    latest = [
        f"from {route} {date_format.moment(found.last_event_at, zone)}"
        for found, route in activity
        if found
    ]
    files = plural(one.files, "transcript")
    events = f"last event {', '.join(latest)}" if latest else "no events yet"
    yield f"    {files} · {events}"


def _state(one: CaptureSource) -> str:
    return "watched" if one.is_watched else "not watched"


def _set_watched(args: Namespace, workspace: Workspace, *, is_watched: bool) -> int:
    chosen = _parse_names(args.names)
    workspace.set_watched(chosen, watched=is_watched)
    sources = [one for one in list_sources(workspace.settings) if one.name in chosen]
    note = _override_note(sources, is_watched)
    lines = [f"{one.title}: {_state(one)} ({one.reason})." for one in sources]
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
    others = [one.title for one in sources if one.is_watched != is_watched]
    if not others:
        return ""
    return (
        f"Stored, but the settings override it for {', '.join(others)}:"
        " see capture.sources in memtui config show."
    )
