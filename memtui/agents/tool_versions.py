"""Choosing: which version of a node is shown, noted in the store."""

from memtui.agents.replies import Reply
from memtui.agents.tool import Given, Memory
from memtui.errors import MemtuiError
from memtui.model.nodes import TocVersion
from memtui.services import versions


def summarise_again(memory: Memory, given: Given) -> Reply:
    """Ask a model for a new version of a node."""
    shown = versions.ask(given["node_id"], memory.now())
    return _chosen(shown, f"A new version is asked for. {memory.promise()}")


def accept(memory: Memory, given: Given) -> Reply:
    """Show a version, whatever comes after it."""
    told = given["node_id"], given["version"], memory.zone, memory.now()
    try:
        shown = versions.pin(*told, even_rejected=given["even_rejected"])
    except versions.Rejected as error:
        raise MemtuiError(
            f"{error}; even_rejected=true shows it all the same"
        ) from None
    return _chosen(shown, "It is shown from now on, whatever comes after it.")


def release(memory: Memory, given: Given) -> Reply:
    """Show the newest version again."""
    try:
        shown = versions.unpin(given["node_id"], memory.zone, memory.now())
    except versions.NotPinned as error:
        return _chosen(error.shown, "None was pinned: the newest is shown.")
    return _chosen(shown, "The newest is shown, and what comes after it.")


def _chosen(shown: TocVersion, done: str) -> Reply:
    told = {"version": shown.version, "is_pinned": shown.is_pinned}
    lead = (f"version {shown.version} shown",)
    return Reply("done", (), str, told, lead, (done,), is_quoted=False)
