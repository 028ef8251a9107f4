"""Digests: a node as plain text, as an agent is told it, to count what that costs.

A bullet stands with its mark where no source says it, and with the grip to open.
"""

from memtui.memory.toc import TocNode


def of_node(node: TocNode) -> str:
    """A node's own words, without what is withheld."""
    about = node.headline if node.headline != node.title else ""
    words, projects = ", ".join(node.words), ", ".join(node.projects)
    lines = [
        node.node_id,
        f"# {node.title}",
        about,
        f"keywords: {words}" if words else "",
        f"projects: {projects}" if projects else "",
    ]
    for bullet in node.bullets:
        doubt = "" if bullet.stands else " (no source says it)"
        grip = f" [{bullet.grip_ids[0]}]" if bullet.grip_ids else ""
        lines.append(f"* {' '.join(bullet.text.split())}{doubt}{grip}")
    return "\n".join(filter(None, lines))
