"""The messages that widgets, screens and the app send each other."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from memtui.model.filters import Scope
    from memtui.model.verdicts import Verdict
    from memtui.pipeline.progress import PipelineProgress
    from memtui.settings_file import SettingEntry


class TocLoaded(Message):
    """The tree shows rows that were loaded."""


class NodeLoaded(Message):
    """The page shows a node that was loaded, or that there is none."""


class LoadFailed(Message):
    """A part of the contents could not be loaded."""


class NodeHighlighted(Message):
    """The cursor of the tree has moved to a node."""


class NodeSelected(Message):
    """The highlighted node of the tree should be opened."""


class DayHighlighted(Message):
    """The cursor of the calendar has moved to another day."""


class DaySelected(Message):
    """The highlighted day should be opened."""


@dataclass(eq=False, repr=False)
class ProgressReported(Message, bubble=False):
    """The pipeline reports progress; the app passes this on to its screens."""

    progress: "PipelineProgress"


@dataclass(eq=False, repr=False)
class ScopeChanged(Message, bubble=False):
    """Another scope is shown; the app passes this on to its screens."""

    scope: "Scope"


@dataclass(eq=False, repr=False)
class SourceRequested(Message):
    """A source should be shown: a grip of a bullet, or a message that was found.

    A bullet without a grip has ``why_none``; a message has an event and an excerpt to
    mark.
    """

    why_none: str = ""
    grip_id: str = ""
    number: int = 0
    """The number of the grip among those of the bullet."""
    total: int = 0
    verdict: "Verdict | None" = None
    node_id: str = ""
    bullet: int = 0
    """The number of the bullet in the node."""
    event_id: str = ""
    excerpt: str = ""


class SourceSelected(Message):
    """The source of the highlighted bullet should be opened."""


class LeavePane(Message):
    """The focus should go back to the previous pane."""


class WordsFound(Message):
    """Words were found in the conversation, or it could not be searched."""


class TurnSelected(Message):
    """The highlighted turn should be opened."""


class TurnHighlighted(Message):
    """The cursor of the transcript has moved to another turn."""


class SessionHighlighted(Message):
    """The cursor of the list of sessions is on another session."""


@dataclass(eq=False, repr=False)
class SessionsRequested(Message):
    """Rows of the list are visible that are not loaded."""

    offset: int
    limit: int


TextSpan = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SourceMarks:
    """The spans to mark in the shown text of an event."""

    quoted: tuple[TextSpan, ...] = ()
    matched: tuple[TextSpan, ...] = ()
    """The words of the bullet within the quoted spans."""
    has_changed: bool = False
    """True if the text is no longer the one that was quoted."""


@dataclass(eq=False, repr=False)
class SessionRequested(Message):
    """A session or one of its subagents should be opened, perhaps at an event."""

    agent: str
    session_id: str
    event_id: str = ""
    subagent: str = ""
    quotes: Mapping[str, SourceMarks] = field(default_factory=dict)
    """The marks in events, by their ids."""


@dataclass(eq=False, repr=False)
class NodeRequested(Message):
    """A node should be shown in the contents."""

    node_id: str


@dataclass(eq=False, repr=False)
class SettingChanged(Message):
    """A setting was saved."""

    entry: "SettingEntry"
