"""A store, its stages and a stub of Ollama's server, run step by step."""

import json
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.jobs import Job, JobRun, JobSchedule, ModelProgress
from memtui.model.nodes import TocHistory, TocNode
from memtui.pipeline.config import PipelineConfig
from memtui.pipeline.model_worker import ModelWorker
from memtui.pipeline.pipeline import Pipeline
from memtui.pipeline.scheduler import JobScheduler
from memtui.services import browse, jobs, versions
from memtui.store import database, queues
from memtui.summarize.ollama.models import ModelOptions
from memtui.summarize.ollama.summarizer import Callbacks, Ollama
from memtui.summarize.segmenter import SegmentRules
from memtui.summarize.summarizer import ExtractiveSummarizer
from memtui.text.tokens import ESTIMATING_COUNTER
from memtui.workspace import Workspace
from tests.stub.server import Stub
from tests.tables import NodeRow

CRONS = {
    Job.DAY: "0 1 * * *",
    Job.WEEK: "0 2 * * 0",
    Job.MONTH: "0 3 1 * *",
    Job.YEAR: "0 4 1 1 *",
}
SCHEDULES = {job: JobSchedule(job, cron, UTC, 0, "a") for job, cron in CRONS.items()}
MONDAY = datetime(2025, 3, 10, 10, tzinfo=UTC)
"""The time of most test conversations, a Monday in week 11 of 2025."""

NOW = datetime(2025, 4, 20, 12, tzinfo=UTC)
"""The time of the tests, long after these conversations; a Sunday."""

DAY, WEEK = "toc:day:2025-03-10", "toc:week:2025-W11"
MONTH, YEAR = "toc:month:2025-03", "toc:year:2025"

HOUR = timedelta(hours=1)

PATIENT_S = 10.0
"""A timeout that is long enough for a slow machine."""

CONVERSATION = (
    ("user", "The ferry importer drops every crossing after 23:50, please fix it."),
    ("assistant", "Fixed in timetable.py: full dates are compared, 14 tests pass."),
)


def make_conversation(number: int) -> tuple[tuple[str, str], ...]:
    """Return a conversation that differs for each number."""
    quay, module = QUAYS[number % len(QUAYS)], MODULES[number % len(MODULES)]
    return (
        (
            "user",
            f"Boats of the {quay} quay are late, see {module}.py {number}.",
        ),
        ("assistant", f"Fixed in {module}.py: {quay} gets {30 + number} minutes."),
    )


QUAYS = ("northern", "southern", "eastern", "western", "upper", "lower", "old", "new")
MODULES = ("timetable", "harbour", "tickets", "weather", "crew", "tides", "fuel")


@dataclass
class Clock:
    """A clock that is set by hand."""

    now: datetime = NOW

    def __call__(self) -> datetime:
        return self.now

    def tick(self) -> float:
        """Return the time as monotonic seconds."""
        return (self.now - MONDAY).total_seconds()

    def advance(self, **more: float) -> None:
        """Move the clock forward."""
        self.now += timedelta(**more)


def make_records(
    at: datetime,
    *talk: tuple[str, str],
    session: str = "",
    ends: bool = True,
    project: str = "ferry",
) -> list[dict[str, Any]]:
    """Return the records of a conversation, a second apart, the session's end last."""
    name = session or f"s-{at.isoformat()}"
    rows = [
        ("user_message" if who == "user" else f"{who}_message", text)
        if who in ("user", "assistant")
        else ("tool_result", text)
        for who, text in talk or CONVERSATION
    ]
    return [
        {
            "session_id": name,
            "timestamp": (at + timedelta(seconds=place)).isoformat(),
            "event_type": kind,
            "text": text,
            "agent": "claude-code",
            "project": project,
            "key": f"{name}-{place}-{at.timestamp()}",
        }
        for place, (kind, text) in enumerate(
            [*rows, *([("session_end", "")] if ends else [])]
        )
    ]


@dataclass
class Bench:
    """A store whose stages and model worker run step by step."""

    workspace: Workspace
    stub: Stub
    folder: Path
    options: ModelOptions | None = None
    clock: Clock = field(default_factory=Clock)
    slept: list[float] = field(default_factory=list)
    seen: list[ModelProgress] = field(default_factory=list)
    """The reported progress of the model."""
    order: list[str] = field(default_factory=list)
    """The nodes that the model wrote, in order."""
    _files: int = 0

    def __post_init__(self) -> None:
        self.open()
        self.start()

    def open(self) -> None:
        """Create the stages, as another process would."""
        paths = self.workspace.paths
        self.pipeline = Pipeline(
            PipelineConfig(
                spool=paths.spool,
                node_index=paths.index,
                message_index=paths.message_index,
                lock_file=paths.worker_lock,
                zone=UTC,
                rules=SegmentRules(),
                counter=ESTIMATING_COUNTER,
                summarizer=ExtractiveSummarizer(),
                clock=self.clock,
                agent="agent",
            )
        )

    def start(self) -> None:
        """Create the model worker, as another process would."""
        self.schedule = JobScheduler(SCHEDULES)
        self.improve = ModelWorker(
            self._ollama,
            self.schedule,
            UTC,
            self.clock,
            self._note_node,
        )

    def _ollama(self, tell: Callable[[ModelProgress], None]) -> Ollama:
        options = self.options or ModelOptions(self.stub.url, timeout_s=PATIENT_S)
        self.ollama = Ollama(
            options,
            Callbacks(
                report=tell,
                clock=self.clock.tick,
                sleep=self._sleep,
            ),
        )
        return self.ollama

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.clock.advance(seconds=seconds)

    def _note_node(self) -> None:
        name, doing = self.improve.model.node_id, self.improve.model.progress
        if doing:
            self.seen.append(doing)
        if name and (not self.order or self.order[-1] != name):
            self.order.append(name)

    # Importing

    def import_records(self, *records: Iterable[dict[str, Any]]) -> None:
        """Import records, and let the stages make their extracts."""
        self._files += 1
        file = self.folder / f"brought-{self._files}.jsonl"
        lines = [
            json.dumps(record)
            for session_records in records
            for record in session_records
        ]
        file.write_text("\n".join(lines) + "\n")
        for _ in self.pipeline.importer().run([file]):
            pass
        self.run_stages()

    def run_stages(self) -> None:
        """Run the stages until they are idle."""
        assert self.pipeline.run_until_idle(lambda _: None) == []

    # Running the model

    def step(self) -> int:
        """Let the model write one version."""
        with database.connection():
            return self.improve.step()

    def run_model(self, rests: int = 4) -> list[str]:
        """Let the model write until it is idle; return the nodes it wrote."""
        before, empty = len(self.order), 0
        with database.connection():
            while empty < rests:
                if self.step():
                    empty = 0
                    continue
                empty += 1
                if empty == rests or queues.count_rollups():
                    self.run_stages()
        return self.order[before:]

    def request_version(self, name: str) -> None:
        """Request another version of a node."""
        versions.request(name, self.clock())

    # The state of the store

    def last_prompt(self, name: str) -> str:
        """Return the last prompt about a node of the same level."""
        level = calendar.period(name).level
        prompts = [
            str(request.body["messages"][-1]["content"])
            for request in self.stub.chats()
        ]
        heading = f"Sessions of a {level}"
        if level is TocLevel.SEGMENT:
            heading = "Record of a session"
        return next(text for text in reversed(prompts) if heading in text)

    def segments(self, day: str = DAY) -> list[str]:
        """Return the segments of a day, the newest first."""
        return [line.node_id for line in browse.list_children(day)]

    def node(self, name: str) -> TocNode:
        """Return the displayed version of a node."""
        node = browse.get_node(name)
        assert node is not None, name
        return node

    def history(self, name: str) -> TocHistory:
        """Return the versions of a node."""
        history = versions.get_history(name)
        assert history is not None, name
        return history

    def version(self, name: str, number: int) -> TocNode:
        """Return any version of a node."""
        node = versions.get_version(name, number)
        assert node is not None, (name, number)
        return node

    def needs_version(self, name: str) -> bool:
        """Return whether a node needs a version by a model."""
        with database.connection():
            return bool(NodeRow.get_by_id(name).needs_model)

    def retry_in_s(self, name: str) -> float:
        """Return in how many seconds a node is retried."""
        with database.connection():
            row = NodeRow.get_by_id(name)
            return float(row.model_retry_ms / 1000 - self.clock().timestamp())

    def count_pending(self) -> dict[str, int]:
        """Return how many nodes of each level need a version by a model."""
        with database.connection():
            return {level.value: queues.count_rewrites(level) for level in TocLevel}

    def runs(self, job: Job | None = None) -> list[JobRun]:
        """Return the runs of a job, the latest first."""
        return jobs.history(job, limit=500, has_worker=True)

    def dump(self, *without: str) -> dict[str, list[tuple[Any, ...]]]:
        """Return all rows of all tables but some, without the state of the model."""
        left_out = {*without, "sqlite_sequence"}
        with closing(sqlite3.connect(database.path())) as db:
            names = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            tables = [name for (name,) in names if name not in left_out]
            return {
                name: sorted(
                    (
                        row
                        for row in db.execute(f"SELECT * FROM {name}")
                        if name != "meta" or row[0] != "model"
                    ),
                    key=repr,
                )
                for name in tables
            }

    def check_invariants(self) -> None:
        """Check that the store is intact, and that lines of a model have grips."""
        with closing(sqlite3.connect(database.path())) as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert db.execute("PRAGMA foreign_key_check").fetchall() == []
            (pending,) = db.execute(
                "SELECT count(*) FROM nodes WHERE latest_id IS NULL"
            ).fetchone()
            (without,) = db.execute(WITHOUT_GRIP).fetchone()
            (rejected,) = db.execute(REJECTED).fetchone()
            (mute,) = db.execute(WITHOUT_BULLETS).fetchone()
        assert (pending, without, rejected, mute) == (0, 0, 0, 0)


WITHOUT_GRIP = """
SELECT count(*) FROM nodes n JOIN node_versions v ON v.id = n.latest_id
JOIN bullets b ON b.version_id = v.id
WHERE v.is_by_model AND NOT b.is_withheld AND (b.support = 'unsupported' OR NOT EXISTS (
  SELECT 1 FROM bullet_grips l JOIN grips g ON g.id = l.grip_id
  JOIN events e ON e.id = g.start_event_id WHERE l.bullet_id = b.id))
"""
REJECTED = """
SELECT count(*) FROM nodes n JOIN node_versions v ON v.id = n.latest_id
WHERE v.rejection <> ''
"""
WITHOUT_BULLETS = """
SELECT count(*) FROM nodes n JOIN node_versions v ON v.id = n.latest_id
WHERE NOT EXISTS (SELECT 1 FROM bullets b
                  WHERE b.version_id = v.id AND NOT b.is_withheld)
"""
