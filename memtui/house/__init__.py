"""The whole house, put together for one set of places and settings.

This is where the clock, the disk and the summariser come from; every room behind is
handed what it needs.
"""

import threading
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, tzinfo
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from memtui import store
from memtui.house import settling
from memtui.house.errands import Errands, Report
from memtui.memory.sessions import History
from memtui.paths import Paths, transcripts
from memtui.recall.teleport import Teleport
from memtui.settings import ASKED, BUILT_IN, EVERY, Settings
from memtui.settings.models import EXTRACTIVE, OLLAMA
from memtui.store import database, facts

if TYPE_CHECKING:
    from memtui.curate.quarantine import Quarantine
    from memtui.house.workdesk import Desk as WorkDesk
    from memtui.llm import Summarizer
    from memtui.memory.schedules import Plan
    from memtui.memory.summarizers import Doing
    from memtui.memory.tokens import Counter
    from memtui.recall.asking import Asking
    from memtui.recall.hearing import Ears
    from memtui.recall.search import Search
    from memtui.recall.talk import Talk
    from memtui.stages.works import Setup, Works
    from memtui.store.messages import Messages


class House(Errands):
    """One memtui: its store, its work, its search."""

    def __init__(
        self, paths: Paths, settings: Settings, *, is_demo: bool = False
    ) -> None:
        """Open the store, making it where it is missing.

        Raises:
            MemtuiError: It cannot be opened; the message says why.
        """
        self.project, paths = settling.settled(paths, settings, is_demo=is_demo)
        with database.files_said_plainly(paths.store):
            paths.make()
        zone = settings.time_zone or settling.machine_zone()
        store.open_at(paths.store, time_zone=zone)
        self.paths, self.settings, self.is_demo = paths, settings, is_demo
        self.zone: tzinfo = settling.zone()
        self.teleport = Teleport(paths.index, self.zone, _now)
        self._works: Works | None = None
        self._making, self._starting = threading.Lock(), threading.Lock()
        self._is_stopped = False

    @property
    def works(self) -> "Works":
        """The work behind, put together when it is first asked for.

        It brings Whoosh and the summariser with it (90 ms), which the first screen
        does without.
        """
        # The workers' thread and an import's may both be the first to ask.
        with self._making:
            if self._works is None:
                from memtui.stages.works import Works  # noqa: PLC0415

                self._works = Works(self._setup())
            return self._works

    def count_tokens(self, text: str) -> int:
        """How many tokens a text has; may take a while the first time."""
        return self.counter.count(text)

    @cached_property
    def search(self) -> "Search":
        """Who answers questions from everything there is."""
        from memtui.recall.search import Search  # noqa: PLC0415 - not before it is asked

        return Search(self.teleport, self._ears, self.zone, _now)

    @cached_property
    def talk(self) -> "Talk":
        """Who answers questions from what was said in sessions."""
        from memtui.recall.talk import Talk  # noqa: PLC0415

        return Talk(self._ears, self.zone, _now)

    @cached_property
    def asking(self) -> "Asking":
        """Who answers agents, within any budget."""
        from memtui.recall.asking import Asking  # noqa: PLC0415
        from memtui.recall.finders import Finders  # noqa: PLC0415
        from memtui.recall.quoting import Quoting  # noqa: PLC0415

        quoting = Quoting(self.search, self._ears, self.zone, _now)
        return Asking(Finders(self.teleport, quoting, self.talk, self.zone, _now))

    @cached_property
    def counter(self) -> "Counter":
        """By what tokens are counted."""
        from memtui.house import tokenizer  # noqa: PLC0415

        return tokenizer.counter(self.paths.vocabulary)

    @cached_property
    def _ears(self) -> "Ears":
        from memtui.recall.hearing import Ears  # noqa: PLC0415

        return Ears(self._messages, with_tools=self.settings.with_tools)

    @cached_property
    def _messages(self) -> "Messages":
        from memtui.store.messages import Messages  # noqa: PLC0415

        return Messages(self.paths.messages, is_kept=True)

    @property
    def quarantine(self) -> "Quarantine":
        """What could not be taken."""
        from memtui.curate.quarantine import Quarantine  # noqa: PLC0415 - seldom asked

        return Quarantine(self.paths.spool)

    @property
    def workdesk(self) -> "WorkDesk":
        """Who looks at the work behind, and steers the model's jobs."""
        from memtui.house.workdesk import Desk  # noqa: PLC0415 - seldom asked

        return Desk(self.paths, self.settings, lambda: self.plan, _now)

    @property
    def plan(self) -> "Plan":
        """When the model's jobs are due."""
        from memtui.house import scheduling  # noqa: PLC0415 - not on the way to a screen

        return scheduling.plan(self.settings, self.zone, self.paths.store)

    def _setup(self) -> "Setup":
        from memtui.llm.extractive import Extractive  # noqa: PLC0415
        from memtui.memory.exclusions import Exclusions  # noqa: PLC0415
        from memtui.memory.segments import Rules  # noqa: PLC0415
        from memtui.stages.gate import Admission  # noqa: PLC0415
        from memtui.stages.works import Setup  # noqa: PLC0415

        settings = self.settings
        return Setup(
            spool=self.paths.spool,
            index=self.paths.index,
            messages=self.paths.messages,
            claim=self.paths.claim,
            zone=self.zone,
            rules=Rules(
                silence_s=settings.silence_min * 60,
                limit_tokens=settings.limit_tokens,
                overlap_s=settings.overlap_min * 60,
                overlap_tokens=settings.overlap_tokens,
            ),
            counter=self.counter,
            summarizer=Extractive(),
            clock=_now,
            agent=settings.agent,
            with_subagents=settings.with_subagents,
            with_tools=settings.with_tools,
            admission=Admission(Exclusions(settings.exclude), self.project),
            watched=self.watched,
            model=None if self.asks_nobody else self._summarizer,
            is_model_wanted=self._wants_model,
            plan=self.plan,
        )

    @property
    def asks_nobody(self) -> bool:
        """Whether no model is ever asked."""
        return self.is_demo or self._provider == EXTRACTIVE

    @property
    def _wants_model(self) -> bool:
        """Whether a person said that there is to be one, or which, or where."""
        named = (self.settings.held[f"summaries.{name}"] for name in ("model", "url"))
        is_named = any(held.origin != BUILT_IN for held in named)
        return is_named or self._provider == OLLAMA

    @property
    def _provider(self) -> str:
        return str(self.settings.held["summaries.provider"].value)

    def _summarizer(self, tell: "Callable[[Doing], None]") -> "Summarizer":
        from memtui.house import summarising  # noqa: PLC0415 - asyncio and more: 40 ms

        return summarising.ollama(self.settings, tell)

    def start(self, report: Report) -> None:
        """Start the workers; reports come from their threads.

        They are put together on a thread too: that takes longer than a frame.
        """
        thread = threading.Thread(
            target=self._start, args=(report,), name="start", daemon=True
        )
        thread.start()

    def _start(self, report: Report) -> None:
        works = self.works
        with self._starting:
            if not self._is_stopped:
                works.start(report)

    def stop(self) -> None:
        """Stop the workers after what they are doing now."""
        with self._starting:
            self._is_stopped = True
            if self._works is not None:
                self._works.stop()
        self.teleport.close()
        if "_messages" in self.__dict__:
            self._messages.close()
        database.close()

    def histories(self) -> list[History]:
        """The histories of agents found on this machine."""
        from memtui import sources  # noqa: PLC0415 - what reads formats: 30 ms

        return sources.histories(transcripts())

    def looked_in(self) -> dict[str, tuple[Path, ...]]:
        """Where they are looked for, by the agent's name."""
        return transcripts()

    def watched(self) -> dict[str, tuple[Path, ...]]:
        """The places of transcripts that are read as they are written."""
        if self.is_demo:
            return {}
        settings, places = self.settings, transcripts()
        with database.connected():
            agreed = facts.watched() or ()
        names = set(settings.sources) | (
            set(agreed) if ASKED in settings.sources else set()
        )
        everyone = EVERY in names
        chosen = {n: some for n, some in places.items() if everyone or n in names}
        return {"": settings.folders, **chosen}

    def agree(self, names: Iterable[str], *, watched: bool = True) -> None:
        """Remember which agents' transcripts are to be read as they are written.

        Args:
            names: The agents.
            watched: Whether they are, from now on.
        """
        with database.writing():
            before = set(facts.watched() or ())
            facts.set_watched(before | {*names} if watched else before - {*names})


def _now() -> datetime:
    return datetime.now(UTC)


__all__ = ["History", "House"]
