"""What is said in the tree of contents, and by it."""

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from datetime import date

    from memtui.integrations.hooks import Change, Installation
    from memtui.model.activity import Part
    from memtui.model.calendar import Span, Year
    from memtui.model.events import Place
    from memtui.model.grips import Expansion
    from memtui.model.nodes import TocHistory, TocLine, TocNode
    from memtui.model.scope import Scope
    from memtui.model.sessions import History
    from memtui.model.setting import Entry, SettingsSheet
    from memtui.model.verdicts import Verdict
    from memtui.pipeline.progress import Progress
    from memtui.services.browse import Branches, Parts
    from memtui.services.conversation import About, Measure, News, TurnRange
    from memtui.services.quarantine import Dropped, Outcome, Page, Retried, Shown
    from memtui.services.sessions import SessionRange
    from memtui.services.status import Work
    from memtui.tui.widgets.results import Landing, ResultSheet, View
    from memtui.tui.widgets.turn_lines import Laid, Look
    from memtui.tui.widgets.turn_view import Spot
    from memtui.workspace import WorkspaceProtocol


class PageRead(Message):
    """Lines under a node of the contents have been read; no node means the years."""

    def __init__(
        self, node_id: str, offset: int, lines: "Sequence[TocLine]", of: "Scope"
    ) -> None:
        super().__init__()
        self.node_id, self.offset, self.lines, self.of = node_id, offset, lines, of


class NotRead(Message):
    """Something of the contents could not be read."""


class PathRead(Message):
    """The way down to a node is known; empty when the node is not kept."""

    def __init__(self, node_id: str, path: Sequence[str]) -> None:
        super().__init__()
        self.node_id, self.path = node_id, path


class BranchesRead(Message):
    """Lines that may have changed have been read again, and whole open branches."""

    def __init__(
        self,
        lines: "Sequence[TocLine]",
        branches: "dict[str, Sequence[TocLine]]",
        of: "Scope",
    ) -> None:
        super().__init__()
        self.lines, self.branches, self.of = lines, branches, of


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


class PeerFound(Message):
    """The node beside a node is known; an empty id at either end of the list."""

    def __init__(self, node_id: str, step: int) -> None:
        super().__init__()
        self.node_id, self.step = node_id, step


class AllRead(Message):
    """All that is below a node has been read, or as much of it as is reasonable."""

    def __init__(self, node_id: str, branches: "Branches", of: "Scope") -> None:
        super().__init__()
        self.node_id, self.branches, self.of = node_id, branches, of


class DaysRead(Message):
    """Years have been read, and between which days anything is kept."""

    def __init__(
        self,
        span: "Span | None",
        years: "Sequence[Year]",
        counts: Sequence[int],
        *,
        is_again: bool = False,
    ) -> None:
        super().__init__()
        self.span, self.years, self.counts = span, years, counts
        self.is_again = is_again
        """Whether they were read before, and have changed since."""


class DayPointedAt(Message):
    """The cursor is on another day."""

    def __init__(self, day: "date") -> None:
        super().__init__()
        self.day = day


class DayChosen(Message):
    """The day the cursor is on is to be opened."""


class YearsShown(Message):
    """Other years are in sight, which may have to be read."""


class NearestFound(Message):
    """The node that lies nearest to a wanted one has been looked for."""

    def __init__(self, wanted: str, found: str) -> None:
        super().__init__()
        self.wanted, self.found = wanted, found


class Answered(Message):
    """A search has answered what was asked."""

    def __init__(self, view: "View", asked: str, sheet: "ResultSheet") -> None:
        super().__init__()
        self.view, self.asked, self.sheet = view, asked, sheet


class LandingFound(Message):
    """It is known which node something is opened at; an empty id where none is yet."""

    def __init__(self, landing: "Landing", node_id: str) -> None:
        super().__init__()
        self.landing, self.node_id = landing, node_id


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


class HouseOpened(Message):
    """The store is open, and the first screen can be shown."""

    def __init__(self, house: "WorkspaceProtocol") -> None:
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


class WorkSeen(Message):
    """What waits and how the jobs stand has been read."""

    def __init__(self, work: "Work") -> None:
        super().__init__()
        self.work = work


class JobSteered(Message):
    """A job was paused, resumed or asked for."""

    def __init__(self, said: str) -> None:
        super().__init__()
        self.said = said


class Narrowed(Message, bubble=False):
    """The whole app shows another part of the memory from now on.

    It does not bubble: the app hands it down to its screens.
    """

    def __init__(self, scope: "Scope") -> None:
        super().__init__()
        self.scope = scope


class PartsRead(Message):
    """The parts that one can choose among are known."""

    def __init__(self, parts: "Parts") -> None:
        super().__init__()
        self.parts = parts


class NodeRead(Message):
    """A node has been read whole; none when it is not kept."""

    def __init__(
        self,
        node_id: str,
        of: "Scope",
        part: "Part | None",
        *,
        is_refused: bool = False,
    ) -> None:
        """Say what was read.

        Args:
            node_id: Of which node.
            of: What part of the memory was shown.
            part: What that has of the node.
            is_refused: Whether a model's version of it was rejected.
        """
        super().__init__()
        self.node_id, self.of, self.part = node_id, of, part
        self.is_refused = is_refused


class NodeCosted(Message):
    """It is known how many tokens a node takes as text."""

    def __init__(self, node: "TocNode", tokens: int) -> None:
        super().__init__()
        self.node, self.tokens = node, tokens


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
        bullet: int = 0,
        event_id: str = "",
        excerpt: str = "",
    ) -> None:
        super().__init__()
        self.grip_id, self.place, self.among = grip_id, place, among
        self.why_none = why_none
        self.verdict, self.bullet = verdict, bullet
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


class Where(Enum):
    """Which part of a conversation is to be read."""

    BEGINNING = auto()
    END = auto()
    AROUND = auto()
    """A place, or a rank where no place is known."""
    BEFORE = auto()
    """A place, to be put before what is there."""
    AFTER = auto()
    """A place, to be put behind what is there."""


class TurnsWanted(Message):
    """Some of the conversation is to be read."""

    def __init__(
        self,
        where: Where,
        place: "Place | None" = None,
        rank: int = 0,
        *,
        number: int = 0,
        followed_from: "Place | None" = None,
        spot: "Spot | None" = None,
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
        return self.where not in (Where.BEFORE, Where.AFTER)


class TurnsRead(Message):
    """Some of the conversation has been read, and is laid out as it was to look."""

    def __init__(
        self,
        wanted: TurnsWanted,
        stretch: "TurnRange",
        laid: "Sequence[Laid]",
        look: "Look",
        unfolded: frozenset[str],
    ) -> None:
        super().__init__()
        self.wanted, self.stretch, self.laid, self.look = wanted, stretch, laid, look
        self.unfolded = unfolded
        """Which events were to be unfolded."""


class NewsRead(Message):
    """It is known what has changed; nothing when there is no news."""

    def __init__(
        self, edition: int, news: "News | None", laid: "Sequence[Laid]", look: "Look"
    ) -> None:
        """Say what has.

        Args:
            edition: Of which edition of what is shown.
            news: What has changed.
            laid: Its turns laid out.
            look: How they were to look.
        """
        super().__init__()
        self.edition, self.news, self.laid, self.look = edition, news, laid, look


class TurnsLaid(Message):
    """Turns have been laid out anew, by their events' ids."""

    def __init__(self, laid: "Mapping[str, Laid]", look: "Look") -> None:
        super().__init__()
        self.laid, self.look = laid, look


class Measured(Message):
    """It is known how long the conversation is, and how much stands before a place."""

    def __init__(self, place: "Place | None", measure: "Measure") -> None:
        super().__init__()
        self.place, self.measure = place, measure


class AboutRead(Message):
    """What is known of the session has been read."""

    def __init__(self, about: "About") -> None:
        super().__init__()
        self.about = about


class QuestionFound(Message):
    """The next thing a person said is known, or that there is none."""

    def __init__(self, place: "Place | None", step: int) -> None:
        super().__init__()
        self.place, self.step = place, step


class WordsAsked(Message):
    """Words are to be looked for in the whole conversation; none are found nowhere."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words = words


class WordsFound(Message):
    """The whole conversation has been looked through for some words."""

    def __init__(self, words: str, places: "Sequence[Place]") -> None:
        super().__init__()
        self.words, self.places = words, places


class ViewResized(Message):
    """The transcript is wider or narrower than it was laid out for."""


class TurnOpened(Message):
    """Enter was pressed on a turn."""


class CursorMoved(Message):
    """The cursor of the transcript is on another turn."""


class PlaceFound(Message):
    """The node that a turn belongs to is known; an empty id where there is none."""

    def __init__(self, node_id: str) -> None:
        super().__init__()
        self.node_id = node_id


class RunLookedAt(Message):
    """It is known why a command cannot be run here; an empty text where it can."""

    def __init__(self, why_not: str, *, is_gone: bool) -> None:
        """Say so.

        Args:
            why_not: Why; "" where it can.
            is_gone: Whether the folder it is run in is not there any more.
        """
        super().__init__()
        self.why_not, self.is_gone = why_not, is_gone


class FileLookedAt(Message):
    """It is known whether a file can be written."""

    def __init__(self, named: str, file: str, why_not: str, *, is_there: bool) -> None:
        """Say so.

        Args:
            named: What was typed.
            file: The file that is meant, with its whole path.
            why_not: Why it cannot be written; "" where it can.
            is_there: Whether it is there already.
        """
        super().__init__()
        self.named, self.file, self.why_not = named, file, why_not
        self.is_there = is_there


class Exported(Message):
    """The session has been written into a file, to be kept or to be looked at."""

    def __init__(self, file: str, *, to_edit: bool) -> None:
        super().__init__()
        self.file, self.to_edit = file, to_edit


class StretchRead(Message):
    """Some of the list has been read."""

    def __init__(
        self, stretch: "SessionRange", *, is_anew: bool, shift: int = 0
    ) -> None:
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


class SettingsRead(Message):
    """All settings have been read."""

    def __init__(self, sheet: "SettingsSheet") -> None:
        super().__init__()
        self.sheet = sheet


class SettingWritten(Message):
    """A setting has been changed for good."""

    def __init__(self, entry: "Entry") -> None:
        super().__init__()
        self.entry = entry


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
