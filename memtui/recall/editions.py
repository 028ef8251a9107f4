"""Editions: the versions of a node as replies that fit any budget."""

from dataclasses import replace
from datetime import tzinfo

from memtui.errors import MemtuiError
from memtui.memory.replies import Plain, Reply
from memtui.memory.replies.fencing import line as neutral
from memtui.memory.toc import TocEdition
from memtui.recall import itemising, versions
from memtui.recall.walks import NO_NODE, Walks

NO_VERSION = "Not summarised yet: that happens by itself, as soon as a memtui works."


class Editions(Walks):
    """Answers what is asked of a node's versions, beside what is shown of it."""

    def list_versions(self, node_id: str) -> Reply:
        """The versions of a node, the latest first."""
        found = versions.history(node_id)
        if found is None:
            return Reply("versions", (), edition_line, notes=(NO_NODE,))
        notes = [] if found.editions else [NO_VERSION]
        if found.asked_at:
            at = itemising.clock(found.asked_at, self._zone)
            notes.append(f"A new one was asked for at {at} and is not made yet.")
        told = [edition(one, self._zone) for one in found.editions]
        node = self._node(found.line)
        lead = (itemising.node_line(node),)
        return Reply("versions", told, edition_line, {"node": node}, lead, notes)

    def get_version(self, node_id: str, version: int) -> Reply:
        """A version of a node, whole, whether it is shown or not.

        Raises:
            MemtuiError: There is no such node or version.
        """
        found = versions.edition(node_id, version)
        if found is None:
            raise MemtuiError(
                f"{node_id} has no version {version}; see those there are: memtui"
                f" versions {node_id}"
            )
        why = f", rejected: {neutral(found.rejected)}" if found.rejected else ""
        return replace(self.told_of(found), notes=(f"Version {version}{why}.",))


def edition(one: TocEdition, zone: tzinfo) -> Plain:
    """A version of a list."""
    told: Plain = {
        "version": one.version,
        "at": itemising.clock(one.created_at, zone),
        "by": neutral(one.facts.model or one.summarizer),
        "headline": neutral(one.headline),
        "supported": one.supported,
        "weak": one.weak,
        "unsupported": one.unsupported,
    }
    told |= {"is_shown": True} if one.is_shown else {}
    told |= {"is_pinned": True} if one.is_pinned else {}
    return told | ({"rejected": neutral(one.rejected)} if one.rejected else {})


def edition_line(told: Plain) -> str:
    """The same as a line."""
    stands = ["pinned" if "is_pinned" in told else "shown"] * ("is_shown" in told)
    stands += [f"rejected: {told['rejected']}"] if "rejected" in told else []
    stands += [f"{told[name]} {name}" for name in ("supported", "weak", "unsupported")]
    said = f"version {told['version']} {told['at']} {told['by']}"
    return f"{said} ({'; '.join(stands)}): {told['headline']}"
