"""All tools, in the order agents are shown them."""

from memtui.agents.serving import reading, writing
from memtui.agents.serving.tools import Tool

TOOLS: tuple[Tool, ...] = (
    *reading.FINDING,
    *reading.WALKING,
    *reading.CONVERSATIONS,
    *reading.JOBS,
    *writing.TOOLS,
)
"""Every tool, whether it only reads or writes too."""


def offered(*, with_writing: bool) -> tuple[Tool, ...]:
    """The tools that are offered.

    Args:
        with_writing: Whether those that change something are among them.
    """
    return tuple(one for one in TOOLS if with_writing or not one.is_writing)
