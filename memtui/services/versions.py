"""The versions of a node: its history, and each of them whole."""

from collections.abc import Sequence
from datetime import datetime, tzinfo

from memtui.errors import MemtuiError
from memtui.model.events import to_ms
from memtui.model.nodes import TocHistory, TocNode, TocVersion
from memtui.store import database, nodes, versions


def history(node_id: str) -> TocHistory | None:
    """All versions of a node, the latest first; None for an unknown node."""
    with database.connection():
        name = nodes.resolve_id(node_id)
        found = nodes.get_entries([name])
        if not found:
            return None
        return TocHistory(
            found[0], versions.get_requested_at(name), tuple(nodes.list_versions(name))
        )


def edition(node_id: str, version: int) -> TocNode | None:
    """Any version of a node with its bullets; None if there is no such version."""
    with database.connection():
        return nodes.get_version(nodes.resolve_id(node_id), version)


def is_refused(node_id: str) -> bool:
    """Whether a model's version of a node was rejected."""
    with database.connection():
        return versions.has_rejected(nodes.resolve_id(node_id))


class Rejected(MemtuiError):
    """A version was rejected: whoever wants it all the same must say so."""

    def __init__(self, edition: TocVersion) -> None:
        """Say why it was."""
        self.edition = edition
        super().__init__(f"version {edition.version} was rejected: {edition.rejection}")


class NotPinned(MemtuiError):
    """No version of a node is pinned, so that none could be let go."""

    def __init__(self, name: str, shown: TocVersion) -> None:
        """Say of which node, and what is shown of it."""
        self.shown = shown
        super().__init__(f"no version of {name} is pinned: the newest is shown")


def pin(
    node_id: str,
    version: int | None,
    zone: tzinfo,
    now: datetime,
    *,
    even_rejected: bool = False,
) -> TocVersion:
    """Show a version of a node, whatever comes after it.

    Args:
        node_id: The node.
        version: The version; the one that is shown when None.
        zone: The store's time zone.
        now: The time.
        even_rejected: Whether it is wanted even if it was rejected.

    Returns:
        What is shown now.

    Raises:
        MemtuiError: There is no such node or version.
        Rejected: It was rejected, and that is not wanted.
    """
    with database.transaction():
        name = nodes.resolve_id(node_id)
        editions = _editions(name)
        chosen = _chosen(name, editions, version)
        if chosen.rejection and not even_rejected:
            raise Rejected(chosen)
        versions.pin(name, chosen.version, zone, to_ms(now))
        return _shown(nodes.list_versions(name))


def unpin(node_id: str, zone: tzinfo, now: datetime) -> TocVersion:
    """Show the newest version of a node that was not rejected, now and from now on.

    Args:
        node_id: The node.
        zone: The store's time zone.
        now: The time.

    Returns:
        What is shown now.

    Raises:
        MemtuiError: There is no such node, or it has no version.
        NotPinned: None is pinned.
    """
    with database.transaction():
        name = nodes.resolve_id(node_id)
        shown = _shown(_editions(name))
        if not shown.is_pinned:
            raise NotPinned(name, shown)
        versions.unpin(name, zone, to_ms(now))
        return _shown(nodes.list_versions(name))


def ask(node_id: str, now: datetime) -> TocVersion:
    """Ask for a new version by a model, before all that nobody asked for.

    Args:
        node_id: The node.
        now: The time.

    Returns:
        What is shown until then.

    Raises:
        MemtuiError: There is no such node, or it has no version yet.
    """
    with database.transaction():
        name = nodes.resolve_id(node_id)
        shown = _shown(_editions(name))
        versions.request(name, to_ms(now))
        return shown


def _unknown(node_id: str) -> MemtuiError:
    return MemtuiError(f"there is no node {node_id}; see the years: memtui show")


def _editions(name: str) -> list[TocVersion]:
    """The versions of a node, of which there is at least one."""
    if not nodes.get_entries([name]):
        raise _unknown(name)
    found = nodes.list_versions(name)
    if not any(one.is_shown for one in found):
        raise MemtuiError(
            f"{name} has no version yet: it is summarised by itself, as soon as a"
            " memtui works"
        )
    return found


def _shown(editions: Sequence[TocVersion]) -> TocVersion:
    return next(one for one in editions if one.is_shown)


def _chosen(
    name: str, editions: Sequence[TocVersion], version: int | None
) -> TocVersion:
    if version is None:
        return _shown(editions)
    for one in editions:
        if one.version == version:
            return one
    raise MemtuiError(
        f"{name} has no version {version}: it has {numbers(editions)}; they are listed"
        f" by memtui versions {name}"
    )


def numbers(editions: Sequence[TocVersion]) -> str:
    """Which versions there are: ``version 3 alone``, ``versions 1 to 4``.

    Args:
        editions: The versions, at least one, in any order.
    """
    known = sorted(one.version for one in editions)
    first, last = known[0], known[-1]
    if first == last:
        return f"version {first} alone"
    if last - first + 1 == len(known):
        return f"versions {first} to {last}"
    return f"versions {', '.join(map(str, known[:-1]))} and {last}"
