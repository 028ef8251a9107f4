"""What is said between widgets, screens and the app.

Workers post these from their threads; handlers change what is on the screen.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from memtui.agents.changes import Change
    from memtui.agents.installations import Installation
    from memtui.app import House
    from memtui.curate.quarantine import Dropped, Outcome, Page, Retried
    from memtui.curate.refusals import Shown
    from memtui.house import History
    from memtui.memory.grips import Expansion
    from memtui.memory.toc import TocHistory, TocLine, TocNode
    from memtui.memory.verdicts import Verdict
    from memtui.stages.progress import Progress
    from memtui.widgets.found_lines import Landing, Sheet, View


class HouseOpened(Message):
    """The store is open, and the first screen can be shown."""

    def __init__(self, house: "House") -> None:
        super().__init__()
        self.house = house


class WorkReported(Message, bubble=False):
    """A worker has done something, failed at something, or found nothing to do.

    It does not bubble: the app hands it down to its screens.
    """

    def __init__(self, progress: "Progress") -> None:
        super().__init__()
        self.progress = progress


class LookedInside(Message):
    """The store has been asked whether anything is kept."""

    def __init__(self, is_empty: bool) -> None:
        super().__init__()
        self.is_empty = is_empty


class HistoriesFound(Message):
    """This machine has been searched for what agents keep."""

    def __init__(self, histories: "Sequence[History]") -> None:
        super().__init__()
        self.histories = histories


class HooksFound(Message):
    """It is known how it stands with the hooks of each agent."""

    def __init__(self, installations: "Sequence[Installation]") -> None:
        super().__init__()
        self.installations = installations


class ChangePlanned(Message):
    """It is known what would become of an agent's settings."""

    def __init__(self, change: "Change") -> None:
        super().__init__()
        self.change = change


class ChangeWritten(Message):
    """An agent's settings have been changed; how it stands now."""

    def __init__(self, agent: str, installations: "Sequence[Installation]") -> None:
        super().__init__()
        self.agent, self.installations = agent, installations


class QuarantineRead(Message):
    """Some of what could not be taken has been read, and what became of retries."""

    def __init__(self, page: "Page", outcomes: "Sequence[Outcome]") -> None:
        super().__init__()
        self.page, self.outcomes = page, outcomes


class MoreWanted(Message):
    """The end of what is listed is near, and there is more."""


class RefusalRead(Message):
    """One thing that could not be taken has been read, with what it says."""

    def __init__(self, shown: "Shown") -> None:
        super().__init__()
        self.shown = shown


class RetryMade(Message):
    """Some of what could not be taken is being tried again."""

    def __init__(self, retried: "Retried") -> None:
        super().__init__()
        self.retried = retried


class DropMade(Message):
    """Some of what could not be taken has been dropped."""

    def __init__(self, dropped: "Dropped") -> None:
        super().__init__()
        self.dropped = dropped


class PageRead(Message):
    """Lines under a node of the contents have been read; no node means the years."""

    def __init__(self, node_id: str, offset: int, lines: "Sequence[TocLine]") -> None:
        super().__init__()
        self.node_id, self.offset, self.lines = node_id, offset, lines


class PathRead(Message):
    """The way down to a node is known; empty when the node is not kept."""

    def __init__(self, node_id: str, path: Sequence[str]) -> None:
        super().__init__()
        self.node_id, self.path = node_id, path


class BranchesRead(Message):
    """Lines that may have changed have been read again, and whole open branches."""

    def __init__(
        self, lines: "Sequence[TocLine]", branches: "dict[str, Sequence[TocLine]]"
    ) -> None:
        super().__init__()
        self.lines, self.branches = lines, branches


class NodePointedAt(Message):
    """The cursor of the contents is on a node."""

    def __init__(self, line: "TocLine") -> None:
        super().__init__()
        self.line = line


class NodeOpened(Message):
    """A node of the contents is to be read."""


class Revealed(Message):
    """The contents have been opened down to a node, and the cursor is on it."""

    def __init__(self, node_id: str) -> None:
        super().__init__()
        self.node_id = node_id


class NodeRead(Message):
    """A node has been read whole; none when it is not kept."""

    def __init__(
        self, node_id: str, node: "TocNode | None", *, is_refused: bool = False
    ) -> None:
        """Say what was read.

        Args:
            node_id: Of which node.
            node: The node.
            is_refused: Whether a model's version of it was rejected.
        """
        super().__init__()
        self.node_id, self.node, self.is_refused = node_id, node, is_refused


class HistoryRead(Message):
    """All versions of a node are known; none when it is not kept."""

    def __init__(self, history: "TocHistory | None") -> None:
        super().__init__()
        self.history = history


class EditionRead(Message):
    """A version of a node has been read whole; none when it is not kept."""

    def __init__(self, version: int, node: "TocNode | None") -> None:
        super().__init__()
        self.version, self.node = version, node


class VersionChosen(Message):
    """It was noted what a person wants to see of a node."""

    def __init__(self, said: str) -> None:
        super().__init__()
        self.said = said


class QuotesRead(Message):
    """The excerpts behind a bullet have been read, in the order of its grips."""

    def __init__(self, node_id: str, bullet: int, quotes: Sequence[str]) -> None:
        super().__init__()
        self.node_id, self.bullet, self.quotes = node_id, bullet, quotes


class SourceWanted(Message):
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
        event_id: str = "",
        excerpt: str = "",
    ) -> None:
        super().__init__()
        self.grip_id, self.place, self.among = grip_id, place, among
        self.why_none = why_none
        self.verdict = verdict
        self.event_id, self.excerpt = event_id, excerpt


class SourceOpened(Message):
    """The source of a bullet is to be read."""


class SourceRead(Message):
    """A grip or a message has been opened: its events and those around them."""

    def __init__(self, wanted: SourceWanted, expansion: "Expansion") -> None:
        super().__init__()
        self.wanted, self.expansion = wanted, expansion


class WentBack(Message):
    """The reader wants to leave a pane for the one it was reached from."""


class PeerFound(Message):
    """The node beside a node is known; an empty id at either end of the list."""

    def __init__(self, node_id: str, step: int) -> None:
        super().__init__()
        self.node_id, self.step = node_id, step


class Answered(Message):
    """A search has answered what was asked."""

    def __init__(self, view: "View", asked: str, sheet: "Sheet") -> None:
        super().__init__()
        self.view, self.asked, self.sheet = view, asked, sheet


class LandingFound(Message):
    """It is known which node something is opened at; an empty id where none is yet."""

    def __init__(self, landing: "Landing", node_id: str) -> None:
        super().__init__()
        self.landing, self.node_id = landing, node_id
