"""The versions of a node: its history, pins, requests for new ones, and its verdicts.

A verdict is explained in one line. Explanations are only about wording, not about
whether a bullet is true.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo

from memtui.errors import MemtuiError
from memtui.model.events import to_ms
from memtui.model.judgements import PERSON
from memtui.model.nodes import (
    Bullet,
    GenerationStats,
    NodeStatus,
    TocHistory,
    TocNode,
    TocVersion,
)
from memtui.model.quantities import plural
from memtui.model.verdicts import (
    SUPPORTED_SHARE,
    Objection,
    Support,
    VerdictFeatures,
)
from memtui.store import database, nodes, versions


class VersionRejectedError(MemtuiError):
    """A version was rejected; pinning it must be confirmed."""

    def __init__(self, version: TocVersion) -> None:
        self.version = version
        super().__init__(f"version {version.version} was rejected: {version.rejection}")


def get_history(node_id: str) -> TocHistory | None:
    """Return all versions of a node, the latest first; None for an unknown node."""
    with database.connection():
        node_id = nodes.resolve_id(node_id)
        entries = nodes.get_entries([node_id])
        if not entries:
            return None
        requested_at = versions.get_requested_at(node_id)
        return TocHistory(entries[0], requested_at, tuple(nodes.list_versions(node_id)))


def find_history(node_id: str) -> TocHistory:
    """Return all versions of a node, the latest first.

    Raises:
        MemtuiError: There is no such node.
    """
    history = get_history(node_id)
    if history is None:
        raise MemtuiError(f"there is no node {node_id}; see the years: memtui show")
    return history


def find_version(node_id: str, number: int) -> TocNode:
    """Return a version of a node with its bullets.

    Raises:
        MemtuiError: There is no such node or version.
    """
    node = get_version(node_id, number)
    if node is None:
        raise _unknown_version(node_id, find_history(node_id), number)
    return node


def _unknown_version(node_id: str, history: TocHistory, number: int) -> MemtuiError:
    numbers = sorted(version.version for version in history.versions)
    listed = ", ".join(map(str, numbers)) or "none yet"
    return MemtuiError(f"{node_id} has no version {number}: it has {listed}")


def get_version(node_id: str, version: int) -> TocNode | None:
    """Return a version of a node with its bullets; None if it does not exist."""
    with database.connection():
        return nodes.get_version(nodes.resolve_id(node_id), version)


def has_rejected(node_id: str) -> bool:
    with database.connection():
        return versions.has_rejected(nodes.resolve_id(node_id))


def pin(
    node_id: str,
    version: int | None,
    zone: tzinfo,
    now: datetime,
    *,
    even_rejected: bool = False,
) -> TocVersion:
    """Show a version of a node, whatever comes after it; by default the one shown now.

    Returns:
        The version that is shown now.

    Raises:
        MemtuiError: There is no such node or version.
        VersionRejectedError: It was rejected, and that is not accepted.
    """
    with database.transaction():
        node_id = nodes.resolve_id(node_id)
        history = find_history(node_id)
        selected = _find_shown(history)
        if version is not None:
            selected = _select(history, version)
        if selected.rejection and not even_rejected:
            raise VersionRejectedError(selected)
        versions.pin(node_id, selected.version, zone, to_ms(now))
        return _find_shown(find_history(node_id))


def unpin(node_id: str, zone: tzinfo, now: datetime) -> TocVersion:
    """Show the newest version of a node that was not rejected, now and from now on.

    Returns:
        The version that is shown now.

    Raises:
        MemtuiError: There is no such node, or no version of it is pinned.
    """
    with database.transaction():
        node_id = nodes.resolve_id(node_id)
        displayed = _find_shown(find_history(node_id))
        if not displayed.is_pinned:
            raise MemtuiError(f"no version of {node_id} is pinned: the newest is shown")
        versions.unpin(node_id, zone, to_ms(now))
        return _find_shown(find_history(node_id))


def request(node_id: str, now: datetime) -> TocVersion:
    """Request a new version by a model, before all that were not requested.

    Returns:
        The version that is shown until then.

    Raises:
        MemtuiError: There is no such node, or it has no version yet.
    """
    with database.transaction():
        node_id = nodes.resolve_id(node_id)
        displayed = _find_shown(find_history(node_id))
        versions.request(node_id, to_ms(now))
        return displayed


def _find_shown(history: TocHistory) -> TocVersion:
    """Return the version that is shown.

    Raises:
        MemtuiError: There is no version yet.
    """
    if history.displayed is None:
        raise MemtuiError(
            f"{history.entry.node_id} has no version yet: it is summarized"
            " automatically, as soon as memtui runs"
        )
    return history.displayed


def _select(history: TocHistory, number: int) -> TocVersion:
    for version in history.versions:
        if version.version == number:
            return version
    raise _unknown_version(history.entry.node_id, history, number)


DIGEST_CHARS = 12
"""The shown length of a model's digest."""


def describe_author(version: TocVersion) -> str:
    """Return the model that wrote a version, or that it is an extract."""
    model = version.generation
    if not model.model:
        return f"extract ({version.summarizer})"
    return f"{model.model} {model.digest[:DIGEST_CHARS]}".strip()


def describe_states(version: TocVersion, status: NodeStatus) -> str:
    """Return whether a version is shown or pinned, and whether it will change."""
    if not version.is_shown:
        return ""
    state = "pinned" if version.is_pinned else "shown"
    if status is NodeStatus.STALE:
        return f"{state}, out of date"
    return f"{state}, provisional" if status is NodeStatus.PROVISIONAL else state


def describe_cost(stats: GenerationStats) -> str:
    """Return how many tokens and how much time a model took; "" for an extract."""
    if not stats.model:
        return ""
    read = plural(stats.prompt_tokens, "token")
    seconds = stats.total_ms / 1000
    return f"{read} read, {stats.reply_tokens:,} written, {seconds:.1f} s"


# Verdicts

MAX_REASONS = 3
"""The most reasons, and the most names, that are given."""

MOVED = "linked to a better source than the one it cited"


def explain_verdict(bullet: Bullet) -> str:
    """Explain why a bullet is weak or withheld, was moved to another source, or judged.

    Returns:
        A line; "" for a supported bullet with the source it cited.
    """
    features = bullet.verdict.features
    if judgement := bullet.judgement:
        reason = f": {judgement.reason}" if judgement.reason else ""
        author = "you" if judgement.author == PERSON else f"the {judgement.author}"
        return f"{judgement.ruling} by {author}{reason}"
    if objection := bullet.verdict.objection:
        named = objection in (Objection.NUMBER, Objection.NAME)
        words = f": {_list_words(features.missing)}" if named else ""
        return f"withheld: {objection}{words}"
    moved = (MOVED,) if bullet.verdict.is_repaired and bullet.has_support else ()
    match bullet.support:
        case Support.SUPPORTED:
            return "".join(moved)
        case Support.WEAK:
            reasons = [*_list_weaknesses(features)][:MAX_REASONS]
            reasons = reasons or ["not all of it is in the source"]
            return f"weak: {'; '.join((*reasons, *moved))}"
        case _:
            return "unsupported: nothing like it is in the source"


def _list_weaknesses(features: VerdictFeatures) -> Iterator[str]:
    """Yield what the source lacks or says otherwise, the clearest first."""
    if features.missing:
        yield f"not there: {_list_words(features.missing)}"
    yield from features.conflicts
    if features.covered < SUPPORTED_SHARE:
        yield f"{int(features.covered * 100)} % of its wording is in one passage"


def _list_words(words: Sequence[str]) -> str:
    listed = ", ".join(words[:MAX_REASONS])
    more = len(words) - MAX_REASONS
    return f"{listed} and {more} more" if more > 0 else listed
