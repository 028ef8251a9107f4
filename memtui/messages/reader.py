"""What is said between the reader of a session and its transcript."""

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from memtui.memory.events import Place
    from memtui.recall.conversation import About, Measure, News, Stretch
    from memtui.widgets.turn_lines import Laid, Look
    from memtui.widgets.turn_view import Spot


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
        stretch: "Stretch",
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
