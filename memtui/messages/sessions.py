"""What is said in the list of sessions, and by it."""

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from memtui.recall.listings import Stretch


class StretchRead(Message):
    """Some of the list has been read."""

    def __init__(self, stretch: "Stretch", *, is_anew: bool, shift: int = 0) -> None:
        """Say what was read.

        Args:
            stretch: Some of the list.
            is_anew: Whether all that was known of the list gives way to it.
            shift: How many lines further down the sessions stand now.
        """
        super().__init__()
        self.stretch, self.is_anew, self.shift = stretch, is_anew, shift


class StretchWanted(Message):
    """Lines of the list are in sight that have not been read."""

    def __init__(self, offset: int, limit: int) -> None:
        super().__init__()
        self.offset, self.limit = offset, limit


class SessionWanted(Message):
    """A session is to be read, or a subagent of it: at an event, if one is named."""

    def __init__(
        self, agent: str, session_id: str, event_id: str = "", *, subagent: str = ""
    ) -> None:
        super().__init__()
        self.agent, self.session_id, self.event_id = agent, session_id, event_id
        self.subagent = subagent


class NodeWanted(Message):
    """A node is to be seen in the contents."""

    def __init__(self, node_id: str) -> None:
        super().__init__()
        self.node_id = node_id
