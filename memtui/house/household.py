"""What the app needs of the house it opens: ``memtui.house.House`` has it all."""

from collections.abc import Callable, Mapping, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from memtui.curate.quarantine import Quarantine, Retried
    from memtui.house.workdesk import Desk as WorkDesk
    from memtui.memory.sessions import History
    from memtui.recall.search import Search
    from memtui.recall.talk import Talk
    from memtui.recall.teleport import Teleport
    from memtui.settings import Settings
    from memtui.stages.progress import Progress


class House(Protocol):
    """A memory that is open, and the work in it."""

    @property
    def search(self) -> "Search":
        """Who answers questions from everything there is."""

    @property
    def teleport(self) -> "Teleport":
        """Who answers questions from summaries."""

    @property
    def talk(self) -> "Talk":
        """Who answers questions from what was said in sessions."""

    def count_tokens(self, text: str) -> int:
        """How many tokens a text has; may take a while the first time."""

    @property
    def zone(self) -> tzinfo:
        """The store's time zone: all times are shown in it."""

    @property
    def is_demo(self) -> bool:
        """Whether this is the made-up memory."""

    @property
    def settings(self) -> "Settings":
        """What a person has settled."""

    def start(self, report: "Callable[[Progress], None]") -> None:
        """Start the workers, which report from their own threads."""

    def stop(self) -> None:
        """Ask the workers to end; does not wait for them."""

    @property
    def workdesk(self) -> "WorkDesk":
        """Who looks at the work behind, and steers the model's jobs."""

    @property
    def quarantine(self) -> "Quarantine":
        """What could not be taken."""

    def retry(
        self, names: "Sequence[str] | None", told: "Callable[[Retried], None]"
    ) -> None:
        """Try some of it again on a thread, or all; tells what is tried."""

    def histories(self) -> "Sequence[History]":
        """What agents keep on this machine; may take a while."""

    def looked_in(self) -> "Mapping[str, Sequence[Path]]":
        """Where they are looked for, by the agent's name."""

    def start_import(
        self,
        histories: "Sequence[History]",
        report: "Callable[[Progress], None]",
        *,
        is_watched: bool,
    ) -> None:
        """Import histories on a thread, and perhaps read them on as they grow."""
