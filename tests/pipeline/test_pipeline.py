import json
import os
import random
import shutil
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memtui.cli.output import to_plain
from memtui.model.calendar import TocLevel
from memtui.model.events import Event
from memtui.model.nodes import BulletKind, DraftBullet, NodeStatus, Summary
from memtui.model.sessions import PeriodWork
from memtui.model.work import Facts
from memtui.paths import in_home
from memtui.pipeline import summarization
from memtui.pipeline.config import PipelineConfig
from memtui.pipeline.pipeline import Pipeline
from memtui.pipeline.progress import PipelineProgress
from memtui.search import message_index
from memtui.services import browse, sessions, status
from memtui.services.quarantine import QuarantineService
from memtui.settings import Settings
from memtui.store import (
    database,
    events,
    jobs,
    meta,
    nodes,
    queues,
    schema,
    segments,
    sources,
    work,
)
from memtui.summarize.segmenter import SegmentRules
from memtui.summarize.summarizer import ExtractiveSummarizer
from memtui.text.tokens import ESTIMATING_COUNTER
from memtui.workspace import Workspace
from tests.tables import EventRow, VersionRow

START = datetime(2025, 3, 14, 10, 0, tzinfo=UTC)
HISTORY = Path(__file__).parents[1] / "data" / "history.jsonl"


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = START + timedelta(days=30)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pipeline(workspace: Workspace, clock: Clock) -> Pipeline:
    return made(workspace, clock)


def made(
    workspace: Workspace, clock: Callable[[], datetime], **changes: Any
) -> Pipeline:
    given: dict[str, Any] = {
        "spool": workspace.paths.spool,
        "node_index": workspace.paths.index,
        "message_index": workspace.paths.message_index,
        "lock_file": workspace.paths.worker_lock,
        "zone": workspace.zone,
        "rules": SegmentRules(),
        "counter": ESTIMATING_COUNTER,
        "summarizer": ExtractiveSummarizer(),
        "clock": clock,
        "agent": "agent",
    }
    return Pipeline(PipelineConfig(**{**given, **changes}))


def line(after_s: float, text: str, session: str = "s1", **fields: Any) -> str:
    at = START + timedelta(seconds=after_s)
    record = {
        "session_id": session,
        "timestamp": at.isoformat(),
        "role": "user",
        "text": text,
        "project": "ferry",
        "key": f"{session}-{after_s}",
    }
    return json.dumps({**record, **fields})


def import_file(
    pipeline: Pipeline, folder: Path, name: str, lines: Sequence[str]
) -> None:
    file = folder / f"{name}.jsonl"
    file.write_text("\n".join(lines) + "\n")
    for _ in pipeline.importer().run([file]):
        pass


def settle(pipeline: Pipeline) -> None:
    assert pipeline.run_until_idle(lambda _: None) == []


def tree() -> dict[str, Any]:
    nodes: dict[str, Any] = {}
    waiting = [line.node_id for line in browse.list_children()]
    while waiting:
        name = waiting.pop()
        said = to_plain(browse.get_node(name))
        nodes[name] = {
            k: v for k, v in said.items() if k not in ("created_at", "version")
        }
        waiting += [line.node_id for line in browse.list_children(name)]
    return nodes


def versions() -> int:
    with database.connection():
        return int(VersionRow.select().count())


@pytest.mark.full
def test_the_tree_does_not_depend_on_the_order_of_arrival(
    tmp_path: Path, settings: Settings, clock: Clock
) -> None:
    lines = HISTORY.read_text().splitlines()
    trees = []
    for seed in range(4):
        order = list(lines)
        random.Random(seed).shuffle(order)
        workspace = Workspace(in_home(tmp_path / f"home-{seed}"), settings)
        pipeline = made(workspace, clock)
        for place in range(0, len(order), 7):
            import_file(pipeline, tmp_path, f"{seed}-{place}", order[place : place + 7])
            settle(pipeline)
        trees.append(tree())
        workspace.stop()
    assert len(trees[0]) == 20
    assert all(other == trees[0] for other in trees)


def test_a_bulk_import_makes_every_node_once(pipeline: Pipeline) -> None:
    for _ in pipeline.importer().run([HISTORY]):
        pass
    settle(pipeline)
    assert versions() == len(tree())


def test_nothing_new_makes_no_new_version(pipeline: Pipeline, tmp_path: Path) -> None:
    import_file(pipeline, tmp_path, "one", [line(0, "Fix the ferry importer")])
    settle(pipeline)
    before = versions()
    import_file(pipeline, tmp_path, "two", [line(0, "Fix the ferry importer")])
    with database.transaction():
        queues.add_rollups(["toc:day:2025-03-14"], UTC)
    settle(pipeline)
    assert versions() == before


def test_a_late_event_changes_its_own_ancestors_alone(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    import_file(pipeline, tmp_path, "march", [line(0, "Fix the ferry importer")])
    import_file(pipeline, tmp_path, "may", [line(60 * 86400, "Paint the quay", "s2")])
    clock = pipeline._config.clock
    assert isinstance(clock, Clock)
    clock.now = START + timedelta(days=90)
    import_file(pipeline, tmp_path, "may", [line(60 * 86400, "Paint the quay", "s2")])
    settle(pipeline)
    before = tree()
    import_file(
        pipeline, tmp_path, "late", [line(86400, "Where are the tickets?", "s3")]
    )
    settle(pipeline)
    after = tree()
    changed = {name for name in after if after[name] != before.get(name)}
    assert {name for name in changed if "segment" not in name} == {
        "toc:year:2025",
        "toc:month:2025-03",
        "toc:week:2025-W11",
        "toc:day:2025-03-15",
    }


def test_a_late_event_joins_two_segments(pipeline: Pipeline, tmp_path: Path) -> None:
    import_file(
        pipeline, tmp_path, "one", [line(0, "First half"), line(2400, "Second half")]
    )
    settle(pipeline)
    assert len(browse.list_children("toc:day:2025-03-14")) == 2
    import_file(pipeline, tmp_path, "two", [line(1200, "The middle")])
    settle(pipeline)
    (only,) = browse.list_children("toc:day:2025-03-14")
    assert only.counts.messages == 3


def test_a_segment_is_live_until_a_silence_closes_it(
    pipeline: Pipeline, tmp_path: Path, clock: Clock
) -> None:
    clock.now = START + timedelta(minutes=5)
    import_file(pipeline, tmp_path, "one", [line(0, "Fix the ferry importer")])
    settle(pipeline)
    (live,) = browse.list_children("toc:day:2025-03-14")
    assert (live.is_live, live.status) == (True, NodeStatus.PROVISIONAL)
    assert all(year.is_live for year in browse.list_children())

    clock.now = START + timedelta(minutes=31)
    settle(pipeline)
    (closed,) = browse.list_children("toc:day:2025-03-14")
    assert (closed.is_live, closed.status) == (False, NodeStatus.CURRENT)
    assert not any(year.is_live for year in browse.list_children())


def test_a_message_of_a_live_session_is_on_its_page_after_one_round(
    pipeline: Pipeline, tmp_path: Path, clock: Clock
) -> None:
    clock.now = START + timedelta(minutes=5)
    import_file(pipeline, tmp_path, "0", [line(0, "Fix the ferry importer")])
    settle(pipeline)
    for number in range(1, 9):
        role = "user" if number % 2 else "assistant"
        text = f"Message number {number}"
        import_file(pipeline, tmp_path, f"{number}", [line(number, text, role=role)])
        for _, step in pipeline._stages():
            while step():
                pass
        (row,) = browse.list_day_sessions("toc:day:2025-03-14")
        page = browse.get_day_session_node(row)
        assert row.is_live and page is not None
        outcome = "" if number == 1 else f"Message number {number - number % 2}"
        assert row.session.work.outcome == outcome
        assert row.session.work.state == ("open" if number % 2 else "answered")
        outcomes = [b.text for b in page.bullets if b.kind is BulletKind.OUTCOME]
        assert outcomes == ([outcome] if outcome else [])
        assert page.counts.messages == number + 1
    with database.connection():
        (latest,) = nodes.list_versions(row.segments[0].node_id)
    assert latest.version == 9, "the versions in between are replaced"


def test_subagents_are_kept_and_counted_but_not_cut(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    helper = [line(n, f"Helper {n}", subagent="a1") for n in range(1, 5)]
    import_file(pipeline, tmp_path, "one", [line(0, "Send helpers"), *helper])
    settle(pipeline)
    (segment,) = browse.list_children("toc:day:2025-03-14")
    assert (segment.counts.events, segment.counts.subagent_events) == (1, 4)
    assert status.read_stats().events == 5


def test_a_setting_gives_subagents_segments(
    workspace: Workspace, tmp_path: Path, clock: Clock
) -> None:
    pipeline = made(workspace, clock, with_subagents=True)
    import_file(
        pipeline, tmp_path, "one", [line(0, "Send"), line(1, "Helper", subagent="a1")]
    )
    settle(pipeline)
    assert browse.list_children()[0].counts.events == 2


def test_number_of_queued_steps_falls_with_each_segment(
    pipeline: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtui.pipeline.summarization.SEGMENTS_AT_ONCE", 1)
    monkeypatch.setattr("memtui.pipeline.progress.REPORT_S", 0.0)
    lines = [line(at, "Fix the ferry importer", f"s{at}") for at in range(8)]
    import_file(pipeline, tmp_path, "one", lines)
    reports: list[PipelineProgress] = []
    pipeline.run_until_idle(reports.append)
    # With the first of a day comes the work on all that it is part of.
    queued = [report.queued for report in reports if report.stage == "summarize"][2:]
    assert len(queued) == 6 and queued == sorted({*queued}, reverse=True)
    assert reports[-1].queued == 0


class Poisoned(ExtractiveSummarizer):
    """A summarizer that fails on some segments."""

    is_ill = True

    def summarize_events(
        self, events: Sequence[Event], facts: Facts, **others: Any
    ) -> Summary:
        if self.is_ill and "poison" in events[0].text:
            raise RuntimeError("cannot read this")
        return super().summarize_events(events, facts, **others)


def test_failing_segment_is_retried_and_blocks_nothing(
    workspace: Workspace, tmp_path: Path, clock: Clock
) -> None:
    summarizer = Poisoned()
    pipeline = made(workspace, clock, summarizer=summarizer)
    lines = [line(0, "poison"), line(5, "Fix the ferry importer", "s2")]
    import_file(pipeline, tmp_path, "one", lines)
    pipeline.run_until_idle(lambda _: None)
    assert len(browse.list_children("toc:day:2025-03-14")) == 1
    assert status.read_stats().pending == 1

    summarizer.is_ill = False
    settle(pipeline)
    assert len(browse.list_children("toc:day:2025-03-14")) == 1
    clock.now += timedelta(minutes=2)
    settle(pipeline)
    assert len(browse.list_children("toc:day:2025-03-14")) == 2


def test_a_long_session_is_described_once_its_segments_are_summarized(
    pipeline: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    described: list[int] = []
    read, count = work.read_facts, 5 * summarization.SEGMENTS_AT_ONCE

    def counted(session_number: int) -> Facts:
        facts = read(session_number)
        described.append(len(facts.requests))
        return facts

    monkeypatch.setattr(work, "read_facts", counted)
    asked = [line(hour * 3_600, f"Fix pier {hour}") for hour in range(count)]
    import_file(pipeline, tmp_path, "one", asked)
    settle(pipeline)
    assert described == [count]


def test_a_session_is_described_if_its_last_segment_fails(
    workspace: Workspace, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summarization, "SEGMENTS_AT_ONCE", 1)
    pipeline = made(workspace, clock, summarizer=Poisoned())
    texts = ("Fix the ferry importer", "Fix the pier", "poison")
    told = [line(hour * 3_600, text) for hour, text in enumerate(texts)]
    reply = line(3_700, "The pier is fixed", role="assistant")
    import_file(pipeline, tmp_path, "one", [*told, reply])
    pipeline.run_until_idle(lambda _: None)
    assert sessions.read_card("agent", "s1").work.outcome == "The pier is fixed"


class Renewed(ExtractiveSummarizer):
    """The same summarizer with another identity."""

    @property
    def identity(self) -> str:
        return "extractive-later"


def test_summaries_by_other_rules_are_made_again(
    workspace: Workspace, tmp_path: Path, clock: Clock
) -> None:
    pipeline = made(workspace, clock)
    import_file(pipeline, tmp_path, "one", [line(0, "Fix the ferry importer")])
    settle(pipeline)
    day = browse.get_node("toc:day:2025-03-14")
    settle(made(workspace, clock))
    assert browse.get_node("toc:day:2025-03-14") == day
    settle(made(workspace, clock, summarizer=Renewed()))
    after = browse.get_node("toc:day:2025-03-14")
    assert day is not None and after is not None
    assert (after.version, after.summarizer) == (day.version + 1, "extractive-later")


class Rambling(ExtractiveSummarizer):
    """A summarizer whose drafts have control characters and line breaks."""

    def summarize_events(
        self, events: Sequence[Event], facts: Facts, **others: Any
    ) -> Summary:
        return Summary(
            title="\x1b[31mRed\x1b[0m\ntitle",
            bullets=(
                DraftBullet("nobody said anything like this"),
                DraftBullet(" \n "),
            ),
            keywords=("a\x00b", "", "a\x00b"),
        )

    def summarize_children(
        self,
        level: TocLevel,
        works: Sequence[PeriodWork],
        *,
        attempt: int = 0,
    ) -> Summary:
        return Summary("Week", (DraftBullet("made up"),), ())


def test_drafts_of_all_summarizers_pass_the_same_checks(
    workspace: Workspace, tmp_path: Path, clock: Clock
) -> None:
    pipeline = made(workspace, clock, summarizer=Rambling())
    import_file(pipeline, tmp_path, "one", [line(0, "Fix the ferry importer")])
    settle(pipeline)
    (segment,) = browse.list_children("toc:day:2025-03-14")
    node = browse.get_node(segment.node_id)
    assert node is not None
    assert (node.title, node.keyword_texts) == ("Red title", ("ferry", "importer"))
    assert [(b.text, b.has_support) for b in node.bullets] == [
        ("nobody said anything like this", False)
    ]


def test_unreadable_segment_holds_up_no_other(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    import_file(
        pipeline, tmp_path, "one", [line(0, "Fix the ferry importer", session="a")]
    )
    import_file(pipeline, tmp_path, "two", [line(90, "Paint the quay", session="b")])
    settle(pipeline)
    with schema.unlocked():
        first = EventRow.select().order_by(EventRow.id).first()
        EventRow.update(metadata="{").where(EventRow.id == first.id).execute()
    with database.transaction():
        segments.request_all_summaries()
    assert pipeline.run_until_idle(lambda _: None) == []
    assert len(browse.list_children("toc:day:2025-03-14")) == 2


def test_parents_keep_their_calendar_titles(pipeline: Pipeline) -> None:
    for _ in pipeline.importer().run([HISTORY]):
        pass
    settle(pipeline)
    day = browse.get_node("toc:day:2024-01-18")
    assert day is not None
    assert day.title == "Thursday, January 18, 2024"
    assert day.headline != day.title
    assert 1 <= len(day.bullets) <= 8
    with database.connection():
        done = jobs.get_checkpoint("rollup_day")
    assert done is not None
    assert done.processed_count == 5


def test_an_import_reads_a_file_again_only_when_it_has_grown(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    import_file(pipeline, tmp_path, "one", [line(0, "First")])
    importer = pipeline.importer()
    for _ in importer.run([tmp_path / "one.jsonl"]):
        pass
    assert (importer.progress.unchanged, importer.progress.created) == (1, 0)
    with (tmp_path / "one.jsonl").open("a") as file:
        file.write(line(5, "Second") + "\n")
    importer = pipeline.importer()
    for _ in importer.run([tmp_path / "one.jsonl"]):
        pass
    assert (importer.progress.created, importer.progress.already_stored) == (1, 0)


def test_damaged_lines_are_counted_once_however_often_a_file_is_read(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    import_file(pipeline, tmp_path, "one", [line(0, "First"), "{damaged"])
    import_file(
        pipeline, tmp_path, "one", [line(0, "First"), "{damaged", line(3, "Second")]
    )
    with database.connection():
        (problem,) = sources.list_damaged()
    assert (problem.reason, problem.line, problem.count) == ("not valid JSON", 2, 1)


def test_missing_index_is_rebuilt(
    workspace: Workspace, pipeline: Pipeline, tmp_path: Path, clock: Clock
) -> None:
    import_file(pipeline, tmp_path, "one", [line(0, "Fix the ferry importer")])
    settle(pipeline)
    assert workspace.teleport.find("ferry").hits
    shutil.rmtree(workspace.paths.index)
    workspace.teleport.close()
    answer = workspace.teleport.find("ferry")
    assert answer.hits
    assert "missing" in answer.notes[0]
    settle(made(workspace, clock))
    answer = workspace.teleport.find("ferry")
    assert answer.hits
    assert answer.notes == ()


def test_index_of_another_store_is_rebuilt(
    workspace: Workspace, pipeline: Pipeline, tmp_path: Path, clock: Clock
) -> None:
    import_file(pipeline, tmp_path, "one", [line(0, "Fix the ferry importer")])
    settle(pipeline)
    with database.transaction():
        meta.write(meta.NODE_INDEX, "another")
    settle(made(workspace, clock))
    with database.connection():
        assert meta.read(meta.NODE_INDEX) != "another"
    assert workspace.teleport.find("ferry").hits


def test_process_without_the_lock_sees_changed_nodes(
    workspace: Workspace, pipeline: Pipeline, tmp_path: Path, clock: Clock
) -> None:
    other = made(workspace, clock)
    assert pipeline.lock.acquire()
    waits, saw = threading.Event(), threading.Event()

    def report(progress: PipelineProgress) -> None:
        assert not progress.is_active
        waits.set()
        if "toc:year:2025" in progress.changed:
            saw.set()

    other.start(report)
    assert waits.wait(10)
    import_file(pipeline, tmp_path, "one", [line(0, "Fix the ferry importer")])
    settle(pipeline)
    assert saw.wait(10)
    other.stop(wait_s=5)
    pipeline.lock.release()


def test_odd_characters_are_accepted_anywhere(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    odd = "\ud800\x00\x1b[31mé"
    record = line(0, "Fix the ferry", agent=odd, project=odd, subagent="", title=odd)
    other = json.dumps({"type": odd, "sessionId": odd, "session_id": 1, "role": odd})
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    transcript = {
        "type": "user",
        "sessionId": odd,
        "uuid": odd,
        "timestamp": START.isoformat(),
        "cwd": odd,
        "message": {"content": f"{odd} in a transcript"},
    }
    import_file(pipeline, folder, "claude", [json.dumps(transcript)])
    import_file(
        pipeline,
        folder,
        "odd",
        [record, other, line(1, odd, session=odd, metadata={odd: odd})],
    )
    new = pipeline._config.spool / "new"
    payload = {"hook_event_name": odd, "session_id": "s", "prompt": "x"}
    pipeline._config.spool.joinpath("new").mkdir(parents=True, exist_ok=True)
    (new / os.fsdecode(b"caf\xe9.json")).write_text(json.dumps(payload))
    settle(pipeline)
    assert status.read_stats().messages == 3
    assert status.read_stats().skipped == 2
    assert browse.list_children()[0].projects == ("ferry", "\ufffdé")


def test_broken_index_is_rebuilt(
    workspace: Workspace, pipeline: Pipeline, tmp_path: Path, clock: Clock
) -> None:
    import_file(pipeline, tmp_path, "one", [line(0, "Fix the ferry importer")])
    settle(pipeline)
    workspace.teleport.close()
    for file in workspace.paths.index.glob("*.seg"):
        file.write_bytes(b"damaged" * 1000)
    assert "damaged" in workspace.teleport.find("ferry importer").notes[0]
    settle(made(workspace, clock))
    answer = workspace.teleport.find("ferry importer")
    assert (bool(answer.hits), answer.notes) == (True, ())


def test_index_deleted_meanwhile_is_rebuilt(
    workspace: Workspace, pipeline: Pipeline, tmp_path: Path
) -> None:
    import_file(pipeline, tmp_path, "one", [line(0, "Fix the ferry importer")])
    settle(pipeline)
    shutil.rmtree(workspace.paths.index)
    settle(pipeline)
    assert workspace.teleport.find("ferry").hits


def test_a_folder_that_holds_other_files_is_left_alone(
    workspace: Workspace, pipeline: Pipeline, tmp_path: Path
) -> None:
    workspace.paths.index.mkdir()
    precious = workspace.paths.index / "mine.txt"
    precious.write_text("precious")
    import_file(pipeline, tmp_path, "one", [line(0, "Fix the ferry importer")])
    (error,) = pipeline.run_until_idle(lambda _: None)
    assert "holds other files" in str(error)
    assert precious.read_text() == "precious"


def test_unreadable_hook_file_holds_up_no_other(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = pipeline._config.spool / "new"
    new.mkdir(parents=True, exist_ok=True)
    for number, prompt in enumerate(["before", "poison", "after"]):
        payload = {"hook_event_name": "UserPromptSubmit", "session_id": "s"}
        at = START.isoformat()
        said = f"{prompt} the ferry"
        content = json.dumps({**payload, "prompt": said, "timestamp": at})
        (new / f"{number}.json").write_text(content)
    os.mkfifo(new / "9.json")
    keep = events.add

    def add(batch: Sequence[Event], **more: Any) -> events.AddResult:
        if any("poison" in event.text for event in batch):
            raise RuntimeError("no such luck")
        return keep(batch, **more)

    monkeypatch.setattr(events, "add", add)
    settle(pipeline)
    entries = QuarantineService(pipeline._config.spool).page().entries
    assert {entry.reason for entry in entries} == {
        "cannot be stored: RuntimeError: no such luck",
        "not a regular file",
    }
    assert status.read_stats().messages == 2
    assert not list(new.iterdir())


def test_file_that_raises_does_not_stop_an_import(
    pipeline: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text(line(0, name, session=name) + "\n")
    keep = events.add

    def add(batch: Sequence[Event], **more: Any) -> events.AddResult:
        if any(event.session_id == "a" for event in batch):
            raise RuntimeError("no such luck")
        return keep(batch, **more)

    monkeypatch.setattr(events, "add", add)
    importer = pipeline.importer()
    for _ in importer.run([tmp_path]):
        pass
    assert (importer.progress.created, importer.progress.unreadable) == (1, 1)


@pytest.mark.full
def test_time_and_project_do_not_depend_on_the_order_of_arrival(
    tmp_path: Path, settings: Settings, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Messages are found by the term of their project, as with many sessions.
    monkeypatch.setattr(message_index, "MAX_LISTED_SESSIONS", 0)
    lines = [
        line(0, "Where is the quay?", project="", key="a"),
        line(0, "By the harbour.", role="assistant", project="", key="b"),
        line(0, "Bash: ls\nquay", event_type="tool_result", project="", key="c"),
        line(5000, "Paint it", project="ferry", key="d"),
        line(5000, "Then sail", project="", key="e"),
        line(9000, "Somewhere else", project="harbour", key="f"),
    ]
    trees = []
    for seed in range(6):
        order = list(lines)
        random.Random(seed).shuffle(order)
        workspace = Workspace(in_home(tmp_path / f"home-{seed}"), settings)
        pipeline = made(workspace, clock)
        for place, number in enumerate(order):
            import_file(pipeline, tmp_path, f"{seed}-{place}", [number])
            settle(pipeline)
        trees.append(tree())
        for query, count in (
            ("harbour project:ferry", 1),
            ("harbour project:harbour", 0),
        ):
            assert len(workspace.message_search.find(query).hits) == count
        workspace.stop()
    assert trees[0]["toc:year:2025"]["projects"] == ["ferry"]
    assert all(other == trees[0] for other in trees)
