"""Runs the commands that need the store. Their modules are imported when they run."""

import argparse
from typing import TYPE_CHECKING

from memtui.cli import grammar

if TYPE_CHECKING:
    from memtui.workspace import Workspace


READING = ("show", "sessions", "session", "expand", "stats", "search", *grammar.ASKING)
"""The commands that only read."""

MAKING = ("import", "work")
"""The commands that make a store where there is none."""


def makes_store(given: argparse.Namespace, *, has_spool: bool) -> bool:
    """Tell whether a command makes a store where there is none.

    Args:
        given: The command line.
        has_spool: Hooks have left events, which may be in quarantine.
    """
    if given.command == "quarantine":
        return has_spool
    if given.command == "call":
        from memtui.cli import ask

        return ask.find_tool(given.tool).is_writing
    is_agreeing = given.command == "sources" and given.action is not None
    return given.command in MAKING or is_agreeing


def works_without_store(given: argparse.Namespace) -> bool:
    """Tell whether a command has an answer though there is no store."""
    return given.command in (*READING, "sources")


def run(given: argparse.Namespace, workspace: "Workspace") -> int:
    """Run a command on the workspace, and close it; return the exit code."""
    try:
        return _run(given, workspace)
    finally:
        workspace.stop()


def _run(given: argparse.Namespace, workspace: "Workspace") -> int:
    command = given.command
    if command in ("show", "expand", "stats"):
        from memtui.cli import show

        if command == "stats":
            return show.stats(workspace, as_json=given.json)
        run = show.expand if command == "expand" else show.show
        return run(workspace, given)
    if command in ("session", "sessions"):
        from memtui.cli import sessions

        run = sessions.show if command == "session" else sessions.show_all
        return run(workspace, given)
    if command == "search":
        from memtui.cli import search

        return search.run(workspace, given)
    if command in grammar.ASKING:
        from memtui.cli import ask

        return ask.run(workspace, given)
    if command in ("import", "work", "reindex"):
        return _work(given, workspace)
    if command in grammar.CURATING:
        from memtui.cli import forget

        return forget.run(workspace, given)
    if command in grammar.VERSIONING:
        from memtui.cli import versions

        return versions.run(workspace, given)
    if command in grammar.COPYING:
        from memtui.cli import backup

        return backup.run(workspace, given)
    if command == "jobs":
        from memtui.cli import jobs

        return jobs.run(workspace, given)
    if command == "quarantine":
        from memtui.cli import quarantine

        return quarantine.run(workspace, given)
    return _sources(given, workspace)


def _work(given: argparse.Namespace, workspace: "Workspace") -> int:
    from memtui.cli import work

    if given.command == "import":
        return work.bring_in(workspace, given.paths, as_json=given.json)
    if given.command == "work":
        return work.work(workspace, until_idle=given.until_idle, as_json=given.json)
    return work.reindex(workspace)


def _sources(given: argparse.Namespace, workspace: "Workspace") -> int:
    from memtui.cli import sources

    if given.action is None:
        return sources.show(workspace, as_json=given.json)
    is_watched = given.action == "watch"
    return sources.agree(
        workspace, given.names, is_watched=is_watched, as_json=given.json
    )
