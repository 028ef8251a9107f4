"""``sources``: whose conversations come in here, and whose transcripts are watched."""

from argparse import Namespace
from collections.abc import Iterator, Sequence
from datetime import tzinfo

from memtui.cli import output
from memtui.cli.arguments import Parser
from memtui.cli.context import Context
from memtui.errors import UsageError
from memtui.paths import transcript_folders
from memtui.services import capture_sources
from memtui.services.capture_sources import CaptureSource, WatchSettings
from memtui.settings import AGENTS, CHOSEN, EVERY, Settings
from memtui.store.cursors import SourceActivity
from memtui.text import date_format
from memtui.workspace import Workspace


def wish_of(settings: Settings) -> WatchSettings:
    """What the settings say of watching."""
    return WatchSettings(
        is_everyone=EVERY in settings.capture_sources,
        is_asked=CHOSEN in settings.capture_sources,
        named=settings.capture_sources,
        origin=settings.origin("capture.sources"),
        folders=settings.watched_folders,
    )


def look(settings: Settings, *, is_kept: bool = True) -> list[CaptureSource]:
    """Every agent that can be heard of, as it is now.

    Args:
        settings: What is said there of watching.
        is_kept: Whether there is a store that could tell of them.
    """
    wish = wish_of(settings)
    return capture_sources.list_sources(
        transcript_folders(), AGENTS, wish, is_kept=is_kept
    )


def add_options(parser: Parser, command: str) -> None:
    """Add the options of ``sources``."""
    parser.add_argument("action", nargs="?", choices=("watch", "unwatch"))
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="agents as they are listed, or all"
    )


def run(args: Namespace, context: Context) -> int:
    """List the agents, or choose those whose transcripts are watched."""
    is_change = args.action is not None
    with context.workspace(create=is_change, or_empty=True) as workspace:
        if not is_change:
            return show(workspace, as_json=args.json)
        is_watched = args.action == "watch"
        return agree(workspace, args.names, is_watched=is_watched, as_json=args.json)


def show(house: Workspace, *, as_json: bool) -> int:
    """Print each agent: where its transcripts lie, and whether they are watched."""
    found = look(house.settings)
    if as_json:
        return output.print_json({"sources": found})
    for one in found:
        output.print_lines(_told(one, house.zone))
    return 0


def _told(one: CaptureSource, zone: tzinfo) -> Iterator[str]:
    mark = "✓" if one.is_watched else " "
    said = "watched" if one.is_watched else "not watched"
    yield f"{mark} {one.title:<18} {said}: {one.why}"
    for place in one.places:
        lacks = "" if place.exists() else " (not there)"
        yield f"    {output.with_tilde(place)}{lacks}"
    heard = ((one.by_transcript, "transcripts"), (one.by_hook, "hooks"))
    last = [f"by {way} {_when(seen, zone)}" for seen, way in heard if seen]
    files = output.plural(one.files, "transcript")
    said = f"last heard {', '.join(last)}" if last else "nothing heard yet"
    yield f"    {files} · {said}"


def _when(seen: SourceActivity, zone: tzinfo) -> str:
    return date_format.moment(seen.last_event_at, zone)


def agree(
    house: Workspace, names: Sequence[str], *, is_watched: bool, as_json: bool
) -> int:
    """Remember whose transcripts are to be watched, or no longer are."""
    chosen = _chosen(names)
    house.set_watched(chosen, watched=is_watched)
    found = [one for one in look(house.settings) if one.name in chosen]
    note = _overridden(found, is_watched)
    if as_json:
        return output.print_json({"sources": found, "note": note})
    for one in found:
        said = "watched" if one.is_watched else "not watched"
        output.print_lines([f"{one.title}: {said} ({one.why})."])
    if note:
        output.print_lines([note])
    elif is_watched:
        output.print_lines(
            ["What they hold already is read by the next memtui that works."]
        )
    return 0


def _chosen(names: Sequence[str]) -> list[str]:
    """The agents that are meant.

    Raises:
        UsageError: None is, or one that is not known or has no place of its own.
    """
    placed = [name for name in AGENTS if name in transcript_folders()]
    if not names:
        raise UsageError(f"name the agents, or say all: {', '.join(placed)}")
    for name in names:
        if name == "aider":
            raise UsageError(
                "Aider's histories lie in the folders it works in: name those in the"
                " setting capture.folders"
            )
        if name not in (*placed, EVERY):
            raise UsageError(f"no agent is called {name!r}: {', '.join(placed)}")
    return placed if EVERY in names else list(dict.fromkeys(names))


def _overridden(found: Sequence[CaptureSource], is_watched: bool) -> str:
    """What to say where the settings have it otherwise; "" where they do not."""
    others = [one.title for one in found if one.is_watched != is_watched]
    if not others:
        return ""
    return (
        f"Remembered, but the settings go before it for {', '.join(others)}:"
        " see capture.sources in memtui config show."
    )
