"""The messages that widgets, screens and the app send each other."""

from enum import Enum, auto
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from datetime import date

    from memtui.model.events import EventPosition
    from memtui.model.nodes import TocEntry
    from memtui.model.scope import Scope
    from memtui.model.verdicts import Verdict
    from memtui.pipeline.progress import PipelineProgress
    from memtui.settings_file import SettingEntry
    from memtui.tui.widgets.transcript_view import TranscriptPosition


class TocLoaded(Message):
    """The tree shows rows that were loaded."""


class NodeLoaded(Message):
    """The page shows a node that was loaded, or that there is none."""


class LoadFailed(Message):
    """A part of the contents could not be loaded."""


class NodeHighlighted(Message):
    """The cursor of the tree has moved to a node."""

    def __init__(self, line: "TocEntry") -> None:
        super().__init__()
        self.line = line


class NodeSelected(Message):
    """The highlighted node of the tree should be opened."""


class NodeRevealed(Message):
    """The tree is expanded down to a node, and the cursor is on it."""

    def __init__(self, node_id: str) -> None:
        super().__init__()
        self.node_id = node_id


class DayHighlighted(Message):
    """The cursor of the calendar has moved to another day."""

    def __init__(self, day: "date") -> None:
        super().__init__()
        self.day = day


class DaySelected(Message):
    """The highlighted day should be opened."""


class YearsScrolled(Message):
    """Other years are visible, which may have to be loaded."""


class ProgressReported(Message, bubble=False):
    """The pipeline reports progress; the app passes this on to its screens."""

    def __init__(self, progress: "PipelineProgress") -> None:
        super().__init__()
        self.progress = progress


class ScopeChanged(Message, bubble=False):
    """Another part of the memory is shown; the app passes this on to its screens."""

    def __init__(self, scope: "Scope") -> None:
        super().__init__()
        self.scope = scope


class SourceRequested(Message):
    """A source should be shown: a grip of a bullet, or a message that was found.

    A bullet without a grip has ``why_none``; a message has an event and an excerpt to
    mark.
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
    """The source of the highlighted bullet should be opened."""


class PaneLeft(Message):
    """The focus should go back to the previous pane."""


class MoreRequested(Message):
    """The cursor is near the end of a list that can load more."""


class TurnsPosition(Enum):
    """Which turns of a conversation should be loaded."""

    BEGINNING = auto()
    END = auto()
    AROUND = auto()
    """Around a place, or around a rank."""
    BEFORE = auto()
    """Before a place, to be added at the top."""
    AFTER = auto()
    """After a place, to be added at the end."""


class TurnsRequested(Message):
    """Turns of the conversation should be loaded."""

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
        """Make a request.

        Args:
            where: Which turns.
            place: The place that `where` refers to.
            rank: The number of turns before it, if the place is not known.
            number: The number of the jump; only the last one is carried out.
            followed_from: Where the cursor must still be when the turns are shown.
            spot: The position to restore then.
        """
        super().__init__()
        self.where, self.place, self.rank = where, place, rank
        self.number, self.followed_from, self.spot = number, followed_from, spot

    @property
    def is_jump(self) -> bool:
        """Whether the turns replace those that are shown."""
        return self.where not in (TurnsPosition.BEFORE, TurnsPosition.AFTER)


class FindRequested(Message):
    """Words should be found in the whole conversation; empty to find nothing."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words = words


class TranscriptResized(Message):
    """The width of the transcript has changed."""


class TurnSelected(Message):
    """The highlighted turn should be opened."""


class TurnHighlighted(Message):
    """The cursor of the transcript has moved to another turn."""


class SessionsRequested(Message):
    """Rows of the list are visible that are not loaded."""

    def __init__(self, offset: int, limit: int) -> None:
        super().__init__()
        self.offset, self.limit = offset, limit


class SessionRequested(Message):
    """A session or one of its subagents should be opened, perhaps at an event."""

    def __init__(
        self, agent: str, session_id: str, event_id: str = "", *, subagent: str = ""
    ) -> None:
        super().__init__()
        self.agent, self.session_id, self.event_id = agent, session_id, event_id
        self.subagent = subagent


class NodeRequested(Message):
    """A node should be shown in the contents."""

    def __init__(self, node_id: str) -> None:
        super().__init__()
        self.node_id = node_id


class SettingChanged(Message):
    """A setting was saved."""

    def __init__(self, entry: "SettingEntry") -> None:
        super().__init__()
        self.entry = entry
