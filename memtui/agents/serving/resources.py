"""Nodes and grips as resources: ``memtui://toc/day/2025-03-14``, ``memtui://grip/…``."""

from memtui.agents.serving import contents
from memtui.agents.serving.answers import Answer
from memtui.agents.serving.memory import Memory
from memtui.agents.serving.tools import Unknown, line_of
from memtui.memory import calendar
from memtui.recall import browse
from memtui.recall.expand import AFTER, BEFORE

SCHEME = "memtui://"

ROOT = f"{SCHEME}toc"
"""The years."""

MIME = "text/markdown"

TEMPLATES = (
    (
        "node",
        f"{SCHEME}toc/{{level}}/{{name}}",
        "A year (2025), month (2025-03), week (2025-W11) or day (2025-03-14).",
    ),
    (
        "segment",
        f"{SCHEME}toc/segment/{{day}}/{{ulid}}",
        "A stretch of one session.",
    ),
    ("grip", f"{SCHEME}grip/{{ms}}/{{hash}}", "The words behind a citation."),
)
"""Each: a name, a template, what it is."""

MOST_TOKENS = 2_000
"""The budget of a resource: a reader cannot give one."""


def uri_of(name: str) -> str:
    """Where a node or grip is found, by its id."""
    return SCHEME + name.replace(":", "/")


def read(memory: Memory, uri: str) -> Answer:
    """What a resource says.

    Raises:
        Unknown: There is none of that name.
    """
    name = uri.removeprefix(SCHEME).strip("/").replace("/", ":")
    if uri.startswith(SCHEME) and name == "toc":
        return contents.root(memory, {})
    if uri.startswith(SCHEME) and name.startswith("grip:"):
        given = {"grip_id": name, "before": BEFORE, "after": AFTER}
        found = contents.expand(memory, given)
        if found.items:
            return found
    if uri.startswith(SCHEME) and _is_node(name):
        return contents.get(memory, {"node_id": name})
    raise Unknown(f"there is no resource {line_of(uri)}; {ROOT} lists the years")


def roots(memory: Memory) -> list[tuple[str, str]]:
    """The years as (URI, title)."""
    return [(uri_of(one.node_id), one.title) for one in browse.years()]


def _is_node(name: str) -> bool:
    try:
        calendar.canonical(name)
    except ValueError:
        return False
    return True
