"""Nodes and grips as resources: ``memtui://toc/day/2025-03-14``, ``memtui://grip/…``."""

from memtui.agents.serving.memory import Memory
from memtui.errors import MemtuiError
from memtui.memory.replies import Reply
from memtui.memory.replies.fencing import line

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
"""The budget of a resource: who reads one cannot give any."""

_NAME_CHARS = 80
"""How much of an unknown name is given back, in characters."""


class NoResource(MemtuiError):
    """There is no resource of a name."""


def uri_of(name: str) -> str:
    """Where a node or grip is found, by its id."""
    return SCHEME + name.replace(":", "/")


def read(memory: Memory, uri: str) -> Reply:
    """What a resource says.

    Raises:
        NoResource: There is none of that name.
    """
    name = uri.removeprefix(SCHEME).strip("/").replace("/", ":")
    kind = name.partition(":")[0] if uri.startswith(SCHEME) else ""
    if name == "toc" and kind:
        return memory.asking.get_toc_root()
    found = None
    if kind == "toc":
        found = memory.asking.get_node(name)
    elif kind == "grip":
        found = memory.asking.expand_grip(name)
    if found is None or not (found.items or found.lead):
        said = line(uri)[:_NAME_CHARS]
        raise NoResource(f"there is no resource {said!r}; {ROOT} lists the years")
    return found


def roots() -> list[tuple[str, str]]:
    """The years as (URI, title)."""
    from memtui.recall import browse  # noqa: PLC0415 - the store: not before it is asked

    return [(uri_of(one.node_id), one.title) for one in browse.years()]
