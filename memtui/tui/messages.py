"""What is said in the tree of contents, and by it."""

from enum import Enum, auto
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from datetime import date

    from memtui.model.events import EventPosition
    from memtui.model.nodes import TocEntry
    from memtui.model.scope import Scope
    from memtui.model.setting import SettingEntry
    from memtui.model.verdicts import Verdict
    from memtui.pipeline.progress import Progress
    from memtui.tui.widgets.transcript_view import TranscriptPosition


class TocLoaded(Message):
    """The tree of contents shows rows that have been read."""


class NodeLoaded(Message):
    """The page shows a node that has been read, or that there is none."""


class LoadFailed(Message):
    """A part of the contents could not be read."""


class NodeHighlighted(Message):
    """The cursor of the contents is on a node."""

    def __init__(self, line: "TocEntry") -> None:
        super().__init__()
        self.line = line


class NodeSelected(Message):
    """A node of the contents is to be read."""


class NodeRevealed(Message):
    """The contents have been opened down to a node, and the cursor is on it."""

    def __init__(self, node_id: str) -> None:
        super().__init__()
        self.node_id = node_id


class DayHighlighted(Message):
    """The cursor is on another day."""

    def __init__(self, day: "date") -> None:
        super().__init__()
        self.day = day


class DaySelected(Message):
    """The day the cursor is on is to be opened."""


class YearsScrolled(Message):
    """Other years are in sight, which may have to be read."""


class ProgressReported(Message, bubble=False):
    """A worker has done something, failed at something, or found nothing to do.

    It does not bubble: the app hands it down to its screens.
    """

    def __init__(self, progress: "Progress") -> None:
        super().__init__()
        self.progress = progress


class ScopeChanged(Message, bubble=False):
    """The whole app shows another part of the memory from now on.

    It does not bubble: the app hands it down to its screens.
    """

    def __init__(self, scope: "Scope") -> None:
        super().__init__()
        self.scope = scope


class SourceRequested(Message):
    """A bullet is pointed at, and one of its grips; no grip where it has none.

    Or a message that was found: then an event is named, and what of it is to be marked.
    """

    def __init__(
        self,
        grip_id: str,
        place: int,
        among: int,
        why_none: str,
        verdict: "Verdict | None" = None,
        *,
        bullet: int = 0,
        event_id: str = "",
        excerpt: str = "",
    ) -> None:
        super().__init__()
        self.grip_id, self.place, self.among = grip_id, place, among
        self.why_none = why_none
        self.verdict, self.bullet = verdict, bullet
        self.event_id, self.excerpt = event_id, excerpt


class SourceSelected(Message):
    """The source of a bullet is to be read."""


class PaneLeft(Message):
    """The reader wants to leave a pane for the one it was reached from."""


class MoreRequested(Message):
    """The end of what is listed is near, and there is more."""


class TurnsPosition(Enum):
    """Which part of a conversation is to be read."""

    BEGINNING = auto()
    END = auto()
    AROUND = auto()
    """A place, or a rank where no place is known."""
    BEFORE = auto()
    """A place, to be put before what is there."""
    AFTER = auto()
    """A place, to be put behind what is there."""


class TurnsRequested(Message):
    """Some of the conversation is to be read."""

    def __init__(
        self,
        where: TurnsPosition,
        place: "EventPosition | None" = None,
        rank: int = 0,
        *,
        number: int = 0,
        followed_from: "EventPosition | None" = None,
        spot: "TranscriptPosition | None" = None,
    ) -> None:
        """Say which.

        Args:
            where: Which part.
            place: A place in it.
            rank: How many turns stand before it, where no place is known.
            number: Which of the jumps it is; those before the last do not count.
            followed_from: The place the cursor must still be at when it is read.
            spot: What is to be seen then as it was.
        """
        super().__init__()
        self.where, self.place, self.rank = where, place, rank
        self.number, self.followed_from, self.spot = number, followed_from, spot

    @property
    def is_jump(self) -> bool:
        """Whether it is shown in place of what is there."""
        return self.where not in (TurnsPosition.BEFORE, TurnsPosition.AFTER)


class FindRequested(Message):
    """Words are to be looked for in the whole conversation; none are found nowhere."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words = words


class TranscriptResized(Message):
    """The transcript is wider or narrower than it was laid out for."""


class TurnSelected(Message):
    """Enter was pressed on a turn."""


class TurnHighlighted(Message):
    """The cursor of the transcript is on another turn."""


class SessionsRequested(Message):
    """Lines of the list are in sight that have not been read."""

    def __init__(self, offset: int, limit: int) -> None:
        super().__init__()
        self.offset, self.limit = offset, limit


class SessionRequested(Message):
    """A session is to be read, or a subagent of it: at an event, if one is named."""

    def __init__(
        self, agent: str, session_id: str, event_id: str = "", *, subagent: str = ""
    ) -> None:
        super().__init__()
        self.agent, self.session_id, self.event_id = agent, session_id, event_id
        self.subagent = subagent


class NodeRequested(Message):
    """A node is to be seen in the contents."""

    def __init__(self, node_id: str) -> None:
        super().__init__()
        self.node_id = node_id


class SettingChanged(Message):
    """A setting has been changed for good."""

    def __init__(self, entry: "SettingEntry") -> None:
        super().__init__()
        self.entry = entry
